/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * User interface of the rdma_ucmx module, /dev/infiniband/rdma_ucmx.
 *
 * An open file of the device is an event channel.  Commands are ioctls on it,
 * events are read from it with read(2), and poll(2) says whether there are
 * any.
 */
#ifndef RDMA_UCMX_H
#define RDMA_UCMX_H

#include <linux/ioctl.h>
#include <linux/types.h>

/**
 * DOC: General rules
 *
 * Every command takes a pointer to a struct whose first member, size, is set
 * by the caller to the size it knows.  A struct only ever grows at its end.
 * A smaller struct of an older caller is completed with zeros; a larger one of
 * a newer caller is accepted as long as what this kernel does not know is
 * zero.  What the kernel answers goes into the members named out_*, cut to the
 * caller's size.
 *
 * Points in time are nanoseconds of CLOCK_MONOTONIC, as clock_gettime(2) tells it
 * to the caller: that of the time namespace that the caller is in.
 *
 * An id is named by its handle, a number that is the same before and after a
 * migration and that means something only on the channel that owns the id.
 *
 * Meanings of errno that are the same for all commands:
 *
 *  - ENOTTY: unknown command
 *  - EFAULT: an address that cannot be read or written; nothing was done
 *  - EINVAL: the struct is too small, or a reserved member is not zero
 *  - E2BIG: the struct has a tail that this kernel does not know, not zero, or
 *    is larger than a page
 *  - EOPNOTSUPP: a flag that this kernel does not know, or what its rdma_cm
 *    does not have, see out_features of INFO
 *  - ENOENT: there is no such id on this channel
 *  - ENXIO: the id's device is gone; it can be migrated, read and destroyed
 *  - ENOMEM, ENOSPC: no memory, or a limit reached; nothing was done
 *  - EINTR: a signal arrived while waiting
 *
 * Whatever else rdma_cm answers is passed on.
 */

#define RDMA_UCMX_IOC_TYPE		0x1b
#define RDMA_UCMX_CMD_BASE		0x80

enum {
	RDMA_UCMX_CMD_INFO = RDMA_UCMX_CMD_BASE,
	RDMA_UCMX_CMD_CREATE_ID,
	RDMA_UCMX_CMD_DESTROY_ID,
	RDMA_UCMX_CMD_BIND_ADDR,
	RDMA_UCMX_CMD_RESOLVE_ADDR,
	RDMA_UCMX_CMD_RESOLVE_ROUTE,
	RDMA_UCMX_CMD_LISTEN,
	RDMA_UCMX_CMD_CONNECT,
	RDMA_UCMX_CMD_ACCEPT,
	RDMA_UCMX_CMD_REJECT,
	RDMA_UCMX_CMD_DISCONNECT,
	RDMA_UCMX_CMD_NOTIFY,
	RDMA_UCMX_CMD_QUERY,
	RDMA_UCMX_CMD_INIT_QP_ATTR,
	RDMA_UCMX_CMD_SET_OPTION,
	RDMA_UCMX_CMD_ACK_EVENTS,
	RDMA_UCMX_CMD_LIST_IDS,
	RDMA_UCMX_CMD_MIGRATE_ID,
	RDMA_UCMX_CMD_ADOPT_ID,
	RDMA_UCMX_CMD_SHUTDOWN,
	RDMA_UCMX_CMD_WRITE_EVENT,
	RDMA_UCMX_CMD_JOIN_MCAST,
	RDMA_UCMX_CMD_LEAVE_MCAST,
	RDMA_UCMX_CMD_GET_OPTION,
	RDMA_UCMX_CMD_READ_EVENTS,
	RDMA_UCMX_CMD_RESOLVE_IB_SERVICE,
};

#define RDMA_UCMX_IO(cmd)		_IO(RDMA_UCMX_IOC_TYPE, (cmd))
#define RDMA_UCMX_INFO			RDMA_UCMX_IO(RDMA_UCMX_CMD_INFO)
#define RDMA_UCMX_CREATE_ID		RDMA_UCMX_IO(RDMA_UCMX_CMD_CREATE_ID)
#define RDMA_UCMX_DESTROY_ID		RDMA_UCMX_IO(RDMA_UCMX_CMD_DESTROY_ID)
#define RDMA_UCMX_BIND_ADDR		RDMA_UCMX_IO(RDMA_UCMX_CMD_BIND_ADDR)
#define RDMA_UCMX_RESOLVE_ADDR		RDMA_UCMX_IO(RDMA_UCMX_CMD_RESOLVE_ADDR)
#define RDMA_UCMX_RESOLVE_ROUTE		RDMA_UCMX_IO(RDMA_UCMX_CMD_RESOLVE_ROUTE)
#define RDMA_UCMX_LISTEN		RDMA_UCMX_IO(RDMA_UCMX_CMD_LISTEN)
#define RDMA_UCMX_CONNECT		RDMA_UCMX_IO(RDMA_UCMX_CMD_CONNECT)
#define RDMA_UCMX_ACCEPT		RDMA_UCMX_IO(RDMA_UCMX_CMD_ACCEPT)
#define RDMA_UCMX_REJECT		RDMA_UCMX_IO(RDMA_UCMX_CMD_REJECT)
#define RDMA_UCMX_DISCONNECT		RDMA_UCMX_IO(RDMA_UCMX_CMD_DISCONNECT)
#define RDMA_UCMX_NOTIFY		RDMA_UCMX_IO(RDMA_UCMX_CMD_NOTIFY)
#define RDMA_UCMX_QUERY			RDMA_UCMX_IO(RDMA_UCMX_CMD_QUERY)
#define RDMA_UCMX_INIT_QP_ATTR		RDMA_UCMX_IO(RDMA_UCMX_CMD_INIT_QP_ATTR)
#define RDMA_UCMX_SET_OPTION		RDMA_UCMX_IO(RDMA_UCMX_CMD_SET_OPTION)
#define RDMA_UCMX_ACK_EVENTS		RDMA_UCMX_IO(RDMA_UCMX_CMD_ACK_EVENTS)
#define RDMA_UCMX_LIST_IDS		RDMA_UCMX_IO(RDMA_UCMX_CMD_LIST_IDS)
#define RDMA_UCMX_MIGRATE_ID		RDMA_UCMX_IO(RDMA_UCMX_CMD_MIGRATE_ID)
#define RDMA_UCMX_ADOPT_ID		RDMA_UCMX_IO(RDMA_UCMX_CMD_ADOPT_ID)
#define RDMA_UCMX_SHUTDOWN		RDMA_UCMX_IO(RDMA_UCMX_CMD_SHUTDOWN)
#define RDMA_UCMX_WRITE_EVENT		RDMA_UCMX_IO(RDMA_UCMX_CMD_WRITE_EVENT)
#define RDMA_UCMX_JOIN_MCAST		RDMA_UCMX_IO(RDMA_UCMX_CMD_JOIN_MCAST)
#define RDMA_UCMX_LEAVE_MCAST		RDMA_UCMX_IO(RDMA_UCMX_CMD_LEAVE_MCAST)
#define RDMA_UCMX_GET_OPTION		RDMA_UCMX_IO(RDMA_UCMX_CMD_GET_OPTION)
#define RDMA_UCMX_READ_EVENTS		RDMA_UCMX_IO(RDMA_UCMX_CMD_READ_EVENTS)
#define RDMA_UCMX_RESOLVE_IB_SERVICE	RDMA_UCMX_IO(RDMA_UCMX_CMD_RESOLVE_IB_SERVICE)

#define RDMA_UCMX_MAX_PRIVATE_DATA	256
#define RDMA_UCMX_MAX_PATHS		2
#define RDMA_UCMX_MAX_SERVICES		16
#define RDMA_UCMX_SERVICE_NAME_SIZE	64

/**
 * struct rdma_ucmx_addr - a socket address
 * @family: AF_INET, AF_INET6, AF_IB, or 0 for none
 * @data: the rest of the sockaddr_in, sockaddr_in6 or sockaddr_ib that @family
 *        calls for, then zeros
 *
 * Large enough for every family that rdma_cm knows, and laid out the same for
 * 32 and 64 bits.
 */
struct rdma_ucmx_addr {
	__u16 family;
	__u8  data[46];
} __attribute__((aligned(8)));

/**
 * struct rdma_ucmx_ece - enhanced connection establishment, see IBTA A17
 * @vendor_id: vendor of the options
 * @attr_mod: the options
 */
struct rdma_ucmx_ece {
	__u32 vendor_id;
	__u32 attr_mod;
};

/**
 * struct rdma_ucmx_conn_param - parameters of a connection
 * @qp_num: queue pair number
 * @qkey: queue key, of unconnected ids
 * @private_data: private data
 * @private_data_len: bytes of @private_data
 * @srq: whether the queue pair uses a shared receive queue
 * @responder_resources: RDMA reads that may be outstanding from the peer
 * @initiator_depth: RDMA reads that may be outstanding to the peer
 * @flow_control: whether hardware flow control is available
 * @retry_count: how often to retry on an error
 * @rnr_retry_count: how often to retry when the receiver is not ready
 * @valid: whether anything of this is meant; ACCEPT without it confirms a
 *         connection of the active side
 *
 * Layout of struct rdma_ucm_conn_param.
 */
struct rdma_ucmx_conn_param {
	__u32 qp_num;
	__u32 qkey;
	__u8  private_data[RDMA_UCMX_MAX_PRIVATE_DATA];
	__u8  private_data_len;
	__u8  srq;
	__u8  responder_resources;
	__u8  initiator_depth;
	__u8  flow_control;
	__u8  retry_count;
	__u8  rnr_retry_count;
	__u8  valid;
};

/**
 * struct rdma_ucmx_ah_attr - attributes of an address handle
 * @dgid: destination GID
 * @flow_label: flow label
 * @sgid_index: index of the source GID
 * @hop_limit: hop limit
 * @traffic_class: traffic class
 * @grh_reserved: zero
 * @dlid: destination LID
 * @sl: service level
 * @src_path_bits: source path bits
 * @static_rate: static rate
 * @is_global: whether the first six members hold
 * @port_num: port of the device
 * @reserved: zero
 *
 * Layout of struct ib_uverbs_ah_attr.
 */
struct rdma_ucmx_ah_attr {
	__u8  dgid[16];
	__u32 flow_label;
	__u8  sgid_index;
	__u8  hop_limit;
	__u8  traffic_class;
	__u8  grh_reserved;
	__u16 dlid;
	__u8  sl;
	__u8  src_path_bits;
	__u8  static_rate;
	__u8  is_global;
	__u8  port_num;
	__u8  reserved;
};

/**
 * struct rdma_ucmx_ud_param - parameters of unconnected communication
 * @qp_num: queue pair number of the peer
 * @qkey: queue key
 * @ah_attr: how to reach the peer
 * @private_data: private data
 * @private_data_len: bytes of @private_data
 * @reserved: zero
 *
 * Layout of struct rdma_ucm_ud_param.
 */
struct rdma_ucmx_ud_param {
	__u32 qp_num;
	__u32 qkey;
	struct rdma_ucmx_ah_attr ah_attr;
	__u8  private_data[RDMA_UCMX_MAX_PRIVATE_DATA];
	__u8  private_data_len;
	__u8  reserved[7];
};

/**
 * struct rdma_ucmx_route - where an id is and whom it talks to
 * @src_addr: own address
 * @dst_addr: address of the peer
 * @sgid: own GID, zero without a device
 * @dgid: GID of the peer, zero without a device
 * @node_guid: GUID of the device, network byte order, 0 without a device
 * @ibdev_index: index of the device, as in rdma netlink
 * @pkey: partition key, network byte order
 * @port_num: port of the device, 0 without one
 * @reserved: zero
 */
struct rdma_ucmx_route {
	struct rdma_ucmx_addr src_addr;
	struct rdma_ucmx_addr dst_addr;
	__u8  sgid[16];
	__u8  dgid[16];
	__aligned_u64 node_guid;
	__u32 ibdev_index;
	__u16 pkey;
	__u8  port_num;
	__u8  reserved;
};

/**
 * struct rdma_ucmx_path - a path record
 * @flags: IB_PATH_GMP, IB_PATH_PRIMARY, IB_PATH_ALTERNATE, ...
 * @reserved: zero
 * @path_rec: the record as in a management datagram, network byte order
 *
 * Layout of struct ib_path_rec_data.
 */
struct rdma_ucmx_path {
	__u32 flags;
	__u32 reserved;
	__u32 path_rec[16];
};

/**
 * struct rdma_ucmx_service - a service record, network byte order
 * @service_id: number of the service
 * @gid: GID of the port that has it
 * @pkey: partition key
 * @reserved: zero
 * @lease: seconds for which it holds
 * @key: key
 * @name: name of the service
 * @data: what the service says of itself
 *
 * Layout of struct ib_user_service_rec.
 */
struct rdma_ucmx_service {
	__aligned_u64 service_id;
	__u8  gid[16];
	__u16 pkey;
	__u8  reserved[2];
	__u32 lease;
	__u8  key[16];
	__u8  name[RDMA_UCMX_SERVICE_NAME_SIZE];
	__u8  data[64];
};

/**
 * struct rdma_ucmx_services - what comes before service records
 * @count: how many struct rdma_ucmx_service follow
 * @total: how many the subnet's administrator knows
 */
struct rdma_ucmx_services {
	__u32 count;
	__u32 total;
};

/**
 * struct rdma_ucmx_qp_attr - attributes for a queue pair transition
 *
 * Layout and meaning of struct ib_uverbs_qp_attr.
 */
struct rdma_ucmx_qp_attr {
	/* private: layout of another interface, described there */
	__u32 qp_attr_mask;
	__u32 qp_state;
	__u32 cur_qp_state;
	__u32 path_mtu;
	__u32 path_mig_state;
	__u32 qkey;
	__u32 rq_psn;
	__u32 sq_psn;
	__u32 dest_qp_num;
	__u32 qp_access_flags;
	struct rdma_ucmx_ah_attr ah_attr;
	struct rdma_ucmx_ah_attr alt_ah_attr;
	__u32 max_send_wr;
	__u32 max_recv_wr;
	__u32 max_send_sge;
	__u32 max_recv_sge;
	__u32 max_inline_data;
	__u16 pkey_index;
	__u16 alt_pkey_index;
	__u8  en_sqd_async_notify;
	__u8  sq_draining;
	__u8  max_rd_atomic;
	__u8  max_dest_rd_atomic;
	__u8  min_rnr_timer;
	__u8  port_num;
	__u8  timeout;
	__u8  retry_cnt;
	__u8  rnr_retry;
	__u8  alt_port_num;
	__u8  alt_timeout;
	__u8  reserved[5];
};

/*
 * What follows the head of an event record, in this order.  A reader skips to
 * the next record by the head's size, so that records can grow.
 */
#define RDMA_UCMX_EVENT_CONN	(1U << 0)	/* struct rdma_ucmx_conn_param */
#define RDMA_UCMX_EVENT_UD	(1U << 1)	/* struct rdma_ucmx_ud_param */
#define RDMA_UCMX_EVENT_ROUTE	(1U << 2)	/* struct rdma_ucmx_route */
#define RDMA_UCMX_EVENT_PATHS	(1U << 3)	/* struct rdma_ucmx_path[num_paths] */
#define RDMA_UCMX_EVENT_ARG	(1U << 4)	/* __u64, of a written event */
#define RDMA_UCMX_EVENT_SERVICES (1U << 5)	/* struct rdma_ucmx_services */

/*
 * Events that not every rdma_cm knows: the answers to RESOLVE_IB_SERVICE; those
 * that WRITE_EVENT raises, with the
 * numbers they have where it does, and that of an id that has arrived by a
 * migration that was to be announced.
 */
#define RDMA_UCMX_EVENT_TYPE_ADDRINFO_RESOLVED	16
#define RDMA_UCMX_EVENT_TYPE_ADDRINFO_ERROR	17
#define RDMA_UCMX_EVENT_TYPE_USER	18
#define RDMA_UCMX_EVENT_TYPE_INTERNAL	19
#define RDMA_UCMX_EVENT_TYPE_ARRIVED	128

/*
 * A read with a buffer of this size always has room for a record, and returns
 * as many as there are and fit.  A read with a smaller one returns one record,
 * or EINVAL if that does not fit.  READ_EVENTS is for any other number.
 */
#define RDMA_UCMX_READ_MIN	4096

/**
 * struct rdma_ucmx_event - head of an event record, as read(2) returns it
 * @size: bytes of the whole record, a multiple of 8
 * @event: what happened, enum rdma_cm_event_type
 * @status: zero, negative errno, or the reason of a rejection
 * @sections: RDMA_UCMX_EVENT_*, what follows the head
 * @seq: number of the event among those of the id it is acknowledged by,
 *       starting from 1
 * @id: handle of the id; with CONNECT_REQUEST that of the new one
 * @listen_id: with CONNECT_REQUEST handle of the listener, else 0
 * @cookie: cookie of @id, 0 with CONNECT_REQUEST
 * @listen_cookie: cookie of @listen_id, or of @group
 * @port_space: enum rdma_ucm_port_space of @id
 * @qp_type: enum ib_qp_type of @id
 * @num_paths: how many path records follow
 * @group: of a multicast event, number of the group among those of @id, else 0
 * @ece: ECE options of the peer
 *
 * A CONNECT_REQUEST is an event of the listener: it is acknowledged by
 * @listen_id and @seq.  Every other event is acknowledged by @id and @seq.
 */
struct rdma_ucmx_event {
	__u32 size;
	__u32 event;
	__s32 status;
	__u32 sections;
	__aligned_u64 seq;
	__u32 id;
	__u32 listen_id;
	__aligned_u64 cookie;
	__aligned_u64 listen_cookie;
	__u16 port_space;
	__u8  qp_type;
	__u8  num_paths;
	__u32 group;
	struct rdma_ucmx_ece ece;
};

/* Bits of out_features; a bit is never given another meaning. */
#define RDMA_UCMX_FEATURE_MIGRATE	(1ULL << 0)	/* MIGRATE_ID */
#define RDMA_UCMX_FEATURE_HAND_OVER	(1ULL << 1)	/* ANNOUNCE, ADOPT_ID */
#define RDMA_UCMX_FEATURE_SHUTDOWN	(1ULL << 2)	/* SHUTDOWN */
#define RDMA_UCMX_FEATURE_WRITE_EVENT	(1ULL << 3)	/* WRITE_EVENT */
#define RDMA_UCMX_FEATURE_MULTICAST	(1ULL << 4)	/* JOIN_MCAST, LEAVE_MCAST */
#define RDMA_UCMX_FEATURE_GET_OPTION	(1ULL << 5)	/* GET_OPTION */
#define RDMA_UCMX_FEATURE_READ_EVENTS	(1ULL << 6)	/* READ_EVENTS */
/* Of these the kernel's rdma_cm decides. */
#define RDMA_UCMX_FEATURE_MIN_RNR_TIMER	(1ULL << 7)	/* ..._OPTION_MIN_RNR_TIMER */
#define RDMA_UCMX_FEATURE_NODE_TYPE	(1ULL << 8)	/* ..._OPTION_NODE_TYPE */
#define RDMA_UCMX_FEATURE_IB_SERVICE	(1ULL << 9)	/* RESOLVE_IB_SERVICE */

/**
 * struct rdma_ucmx_info - ioctl(RDMA_UCMX_INFO)
 * @size: sizeof(struct rdma_ucmx_info)
 * @flags: zero
 * @out_features: RDMA_UCMX_FEATURE_*
 * @out_max_ids: limit of ids in all
 * @out_max_channel_ids: limit of ids of one channel, unread requests included
 * @out_max_backlog: limit of unread requests of one listener
 * @out_ids: ids of this channel, unread requests included
 * @out_pending: events that could be read from this channel now
 * @out_outstanding: events read from this channel and not yet acknowledged
 * @out_max_user_events: limit of events of one id that commands caused and that
 *                       were not acknowledged
 * @out_max_groups: limit of multicast groups of one id
 * @out_max_ids_per_user: limit of ids of all channels that one user opened, and
 *                        likewise of requests read there and not acknowledged
 * @out_ids_of_user: ids of all channels of the user who opened this one
 * @out_max_events_per_user: limit of events that commands caused on all channels
 *                           that one user opened, and of multicast groups there
 * @out_events_of_user: those on all channels of the user who opened this one
 *
 * What the module can do, and how this channel is.
 */
struct rdma_ucmx_info {
	__u32 size;
	__u32 flags;
	__aligned_u64 out_features;
	__u32 out_max_ids;
	__u32 out_max_channel_ids;
	__u32 out_max_backlog;
	__u32 out_ids;
	__u32 out_pending;
	__u32 out_outstanding;
	__u32 out_max_user_events;
	__u32 out_max_groups;
	__u32 out_max_ids_per_user;
	__u32 out_ids_of_user;
	__u32 out_max_events_per_user;
	__u32 out_events_of_user;
};

/**
 * struct rdma_ucmx_create_id - ioctl(RDMA_UCMX_CREATE_ID)
 * @size: sizeof(struct rdma_ucmx_create_id)
 * @flags: zero
 * @cookie: returned with every event of the id
 * @port_space: enum rdma_ucm_port_space
 * @qp_type: enum ib_qp_type; only meant with RDMA_PS_IB
 * @reserved: zero
 * @out_id: handle of the new id
 *
 * Create an id on this channel, in the caller's network namespace.
 * EINVAL: unknown port space.  ENOSPC: too many ids.
 */
struct rdma_ucmx_create_id {
	__u32 size;
	__u32 flags;
	__aligned_u64 cookie;
	__u16 port_space;
	__u8  qp_type;
	__u8  reserved;
	__u32 out_id;
};

/* Return EAGAIN where the command would wait, for acknowledgements mostly. */
#define RDMA_UCMX_NONBLOCK		(1U << 0)
/* MIGRATE_ID: give the id the cookie of the struct. */
#define RDMA_UCMX_SET_COOKIE		(1U << 1)
/* MIGRATE_ID: tell the target's reader, by an event ahead of all others. */
#define RDMA_UCMX_ANNOUNCE		(1U << 2)

/**
 * struct rdma_ucmx_destroy_id - ioctl(RDMA_UCMX_DESTROY_ID)
 * @size: sizeof(struct rdma_ucmx_destroy_id)
 * @id: handle of the id
 * @flags: RDMA_UCMX_NONBLOCK
 * @reserved: zero
 * @deadline: CLOCK_MONOTONIC nanoseconds until which to wait, 0 for ever
 * @held_seq: an unacknowledged event of @id in the caller's hand, or 0; it
 *            counts as acknowledged if and only if the call succeeds
 *
 * Destroy an id: its pending events and unread requests are dropped, a
 * migration of it ends, its port and connection are released; then wait until
 * its unacknowledged events are acknowledged.
 *
 * EAGAIN: events are unacknowledged, nothing changed.  EINTR, ETIMEDOUT: the
 * id stays dying, only ACK_EVENTS and DESTROY_ID (which goes on waiting) find
 * it, and it is gone with the last acknowledgement.  So a call that a signal
 * handler has restarted may find it gone: ENOENT.  EINVAL: @held_seq is not an
 * unacknowledged event of the id.
 *
 * RDMA_UCMX_NONBLOCK and @deadline are about acknowledgements.  Where rdma_cm has
 * to wait for a peer or a subnet manager to end what the id stands for, that is
 * waited for besides; only a signal ends it.
 */
struct rdma_ucmx_destroy_id {
	__u32 size;
	__u32 id;
	__u32 flags;
	__u32 reserved;
	__aligned_u64 deadline;
	__aligned_u64 held_seq;
};

/**
 * struct rdma_ucmx_bind_addr - ioctl(RDMA_UCMX_BIND_ADDR)
 * @size: sizeof(struct rdma_ucmx_bind_addr)
 * @id: handle of the id
 * @addr: local address
 *
 * As rdma_bind_addr(3).  EINVAL: family unknown, or the id is bound.
 * EADDRINUSE: the port is taken.  EADDRNOTAVAIL: not an address of this
 * machine.  ENODEV: no device has it.  EACCES: the port needs a privilege.
 */
struct rdma_ucmx_bind_addr {
	__u32 size;
	__u32 id;
	struct rdma_ucmx_addr addr;
};

/**
 * struct rdma_ucmx_resolve_addr - ioctl(RDMA_UCMX_RESOLVE_ADDR)
 * @size: sizeof(struct rdma_ucmx_resolve_addr)
 * @id: handle of the id
 * @timeout_ms: how long to try, in milliseconds
 * @reserved: zero
 * @src_addr: local address, or family 0
 * @dst_addr: address of the peer
 *
 * As rdma_resolve_addr(3).  Causes ADDR_RESOLVED or ADDR_ERROR.  EINVAL: family
 * unknown, or not in this state of the id.  ENETUNREACH: no way there.  Errors of
 * the local address are as with BIND_ADDR.  ENOSPC: too many events that commands
 * caused were not acknowledged.
 */
struct rdma_ucmx_resolve_addr {
	__u32 size;
	__u32 id;
	__u32 timeout_ms;
	__u32 reserved;
	struct rdma_ucmx_addr src_addr;
	struct rdma_ucmx_addr dst_addr;
};

/**
 * struct rdma_ucmx_resolve_route - ioctl(RDMA_UCMX_RESOLVE_ROUTE)
 * @size: sizeof(struct rdma_ucmx_resolve_route)
 * @id: handle of the id
 * @timeout_ms: how long to try, in milliseconds
 * @reserved: zero
 *
 * As rdma_resolve_route(3).  Causes ROUTE_RESOLVED or ROUTE_ERROR.  EINVAL: the
 * address is not resolved, or the route is.  ENOSPC: as with RESOLVE_ADDR.
 */
struct rdma_ucmx_resolve_route {
	__u32 size;
	__u32 id;
	__u32 timeout_ms;
	__u32 reserved;
};

/**
 * struct rdma_ucmx_listen - ioctl(RDMA_UCMX_LISTEN)
 * @size: sizeof(struct rdma_ucmx_listen)
 * @id: handle of the id
 * @backlog: unread requests that may queue up; 0 or too large a number stands
 *           for the limit
 * @reserved: zero
 *
 * As rdma_listen(3).  Causes a CONNECT_REQUEST for every request.  EINVAL: not in
 * this state of the id.  EADDRINUSE: another id is bound to the port.
 */
struct rdma_ucmx_listen {
	__u32 size;
	__u32 id;
	__u32 backlog;
	__u32 reserved;
};

/**
 * struct rdma_ucmx_connect - ioctl(RDMA_UCMX_CONNECT)
 * @size: sizeof(struct rdma_ucmx_connect)
 * @id: handle of the id
 * @conn_param: parameters, valid must be set
 * @ece: ECE options to offer
 *
 * As rdma_connect(3).  Causes CONNECT_RESPONSE, ESTABLISHED, CONNECT_ERROR,
 * UNREACHABLE or REJECTED.  EINVAL: the parameters are not valid, or the route is
 * not resolved.  ENOSPC: as with RESOLVE_ADDR.
 */
struct rdma_ucmx_connect {
	__u32 size;
	__u32 id;
	struct rdma_ucmx_conn_param conn_param;
	struct rdma_ucmx_ece ece;
};

/**
 * struct rdma_ucmx_accept - ioctl(RDMA_UCMX_ACCEPT)
 * @size: sizeof(struct rdma_ucmx_accept)
 * @id: handle of the id
 * @cookie: cookie that the id gets if it is the passive side's, was not
 *          adopted before, and the call succeeds
 * @conn_param: parameters; not valid on the active side
 * @ece: ECE options that were chosen
 *
 * As rdma_accept(3).  From a success on, the passive side's id is claimed: its
 * events are delivered, those that came before included.  EINVAL: there is no
 * request or response to accept.  ENOSPC: as with RESOLVE_ADDR, on the passive
 * side.  What rdma_cm fails to accept, for want of memory too, it has rejected.
 */
struct rdma_ucmx_accept {
	__u32 size;
	__u32 id;
	__aligned_u64 cookie;
	struct rdma_ucmx_conn_param conn_param;
	struct rdma_ucmx_ece ece;
};

/* Reasons of a rejection, IBTA 12.6.7.2. */
#define RDMA_UCMX_REJECT_CONSUMER	28
#define RDMA_UCMX_REJECT_ECE		35

/**
 * struct rdma_ucmx_reject - ioctl(RDMA_UCMX_REJECT)
 * @size: sizeof(struct rdma_ucmx_reject)
 * @id: handle of the id
 * @private_data_len: bytes of @private_data
 * @reason: RDMA_UCMX_REJECT_*, or 0 for RDMA_UCMX_REJECT_CONSUMER
 * @reserved: zero
 * @private_data: private data for the peer
 *
 * As rdma_reject(3).  EINVAL: any other reason, or there is no request or
 * response to reject.  If the connection manager has no memory for the answer it
 * forgets the request, ENOMEM: the id can only be destroyed, and the peer asks
 * again.
 */
struct rdma_ucmx_reject {
	__u32 size;
	__u32 id;
	__u8  private_data_len;
	__u8  reason;
	__u8  reserved[6];
	__u8  private_data[RDMA_UCMX_MAX_PRIVATE_DATA];
};

/**
 * struct rdma_ucmx_disconnect - ioctl(RDMA_UCMX_DISCONNECT)
 * @size: sizeof(struct rdma_ucmx_disconnect)
 * @id: handle of the id
 *
 * As rdma_disconnect(3).  EINVAL: there is no connection, nor an attempt at one.
 */
struct rdma_ucmx_disconnect {
	__u32 size;
	__u32 id;
};

/**
 * struct rdma_ucmx_notify - ioctl(RDMA_UCMX_NOTIFY)
 * @size: sizeof(struct rdma_ucmx_notify)
 * @id: handle of the id
 * @event: enum ib_event_type
 * @reserved: zero
 *
 * As rdma_notify(3).  EINVAL: there is no connection, nor an attempt at one; or
 * the event is IB_EVENT_PATH_MIG, of which rdma_cm must not hear.
 */
struct rdma_ucmx_notify {
	__u32 size;
	__u32 id;
	__u32 event;
	__u32 reserved;
};

/**
 * struct rdma_ucmx_query - ioctl(RDMA_UCMX_QUERY)
 * @size: sizeof(struct rdma_ucmx_query)
 * @id: handle of the id
 * @out_route: addresses, GIDs and device
 * @out_num_paths: how many of @out_paths there are
 * @out_reserved: zero
 * @out_paths: path records
 */
struct rdma_ucmx_query {
	__u32 size;
	__u32 id;
	struct rdma_ucmx_route out_route;
	__u32 out_num_paths;
	__u32 out_reserved;
	struct rdma_ucmx_path out_paths[RDMA_UCMX_MAX_PATHS];
};

/**
 * struct rdma_ucmx_init_qp_attr - ioctl(RDMA_UCMX_INIT_QP_ATTR)
 * @size: sizeof(struct rdma_ucmx_init_qp_attr)
 * @id: handle of the id
 * @qp_state: state to go to, enum ib_qp_state
 * @reserved: zero
 * @out_attr: attributes for ibv_modify_qp(3), with their mask
 *
 * As rdma_init_qp_attr(3).  EINVAL: unknown state, or no device.
 */
struct rdma_ucmx_init_qp_attr {
	__u32 size;
	__u32 id;
	__u32 qp_state;
	__u32 reserved;
	struct rdma_ucmx_qp_attr out_attr;
};

/*
 * Options at level RDMA_OPTION_ID beside those of librdmacm, each a byte.
 *
 * MIN_RNR_TIMER is how long a peer waits whose message finds no receive buffer,
 * in the encoding of IBTA, 0 to 31.  EINVAL: another value, or a queue pair that
 * is neither RC nor the target of XRC.
 *
 * NODE_TYPE leaves an id only devices of that type, RDMA_NODE_*: 1, which is
 * IB and RoCE, or 4, which is iWARP; 7 takes it back.  EALREADY: the id is bound.
 */
#define RDMA_UCMX_OPTION_MIN_RNR_TIMER	64
#define RDMA_UCMX_OPTION_NODE_TYPE	65

/**
 * struct rdma_ucmx_set_option - ioctl(RDMA_UCMX_SET_OPTION)
 * @size: sizeof(struct rdma_ucmx_set_option)
 * @id: handle of the id
 * @level: RDMA_OPTION_ID, or RDMA_OPTION_IB
 * @optname: RDMA_OPTION_ID_*, RDMA_UCMX_OPTION_*, or RDMA_OPTION_IB_PATH
 * @optval: address of the value
 * @optlen: bytes of the value
 * @reserved: zero
 *
 * As rdma_set_option(3).  ENOSYS: unknown level or name.  EINVAL: wrong
 * length, or not in this state of the id.  EOPNOTSUPP: the kernel does not have
 * this one of RDMA_UCMX_OPTION_*.
 *
 * RDMA_OPTION_IB_PATH stands for RESOLVE_ROUTE.  Its value is an array of struct
 * rdma_ucmx_path, of which the first counts whose flags are IB_PATH_GMP,
 * IB_PATH_PRIMARY and IB_PATH_BIDIRECTIONAL.  Causes ROUTE_RESOLVED.
 */
struct rdma_ucmx_set_option {
	__u32 size;
	__u32 id;
	__u32 level;
	__u32 optname;
	__aligned_u64 optval;
	__u32 optlen;
	__u32 reserved;
};

/**
 * struct rdma_ucmx_ack - an event to acknowledge
 * @id: handle of the id whose event it is
 * @reserved: zero
 * @seq: number of the event; 0 stands for all of the id that are unacknowledged when
 *	 the id is found, and for none that is read later
 */
struct rdma_ucmx_ack {
	__u32 id;
	__u32 reserved;
	__aligned_u64 seq;
};

/**
 * struct rdma_ucmx_ack_events - ioctl(RDMA_UCMX_ACK_EVENTS)
 * @size: sizeof(struct rdma_ucmx_ack_events)
 * @count: how many @acks there are, at least 1
 * @acks: address of an array of struct rdma_ucmx_ack
 *
 * Acknowledge events, in order, until one cannot be.  While an id is being
 * migrated its events can be acknowledged on the target, too.  Returns how
 * many were taken; if not even the first was, ENOENT (no such id here) or
 * EINVAL (not unacknowledged, or acknowledged already).
 */
struct rdma_ucmx_ack_events {
	__u32 size;
	__u32 count;
	__aligned_u64 acks;
};

#define RDMA_UCMX_ID_UNCLAIMED	(1U << 0)	/* a request's, not yet accepted */
#define RDMA_UCMX_ID_MIGRATING	(1U << 1)	/* being migrated */
#define RDMA_UCMX_ID_DYING	(1U << 2)	/* destroyed, but for acknowledgements */
#define RDMA_UCMX_ID_GONE	(1U << 3)	/* its device was removed */

/**
 * struct rdma_ucmx_id_info - what LIST_IDS says of an id
 * @id: handle
 * @state: RDMA_UCMX_ID_*
 * @pending: events that wait to be read
 * @outstanding: events that were read and not yet acknowledged
 * @unread: of a listener: requests not yet read
 * @oldest_reader: process that read the oldest unacknowledged event, in the
 *                 caller's pid namespace; 0 if there is none or it is not
 *                 visible
 * @oldest_time: CLOCK_MONOTONIC nanoseconds when that was
 * @oldest_seq: number of that event, 0 if there is none
 * @cookie: cookie
 */
struct rdma_ucmx_id_info {
	__u32 id;
	__u32 state;
	__u32 pending;
	__u32 outstanding;
	__u32 unread;
	__u32 oldest_reader;
	__aligned_u64 oldest_time;
	__aligned_u64 oldest_seq;
	__aligned_u64 cookie;
};

/**
 * struct rdma_ucmx_list_ids - ioctl(RDMA_UCMX_LIST_IDS)
 * @size: sizeof(struct rdma_ucmx_list_ids)
 * @first: only ids with this handle or a higher one
 * @count: how many entries @ids has room for, at least 1
 * @info_size: sizeof(struct rdma_ucmx_id_info) of the caller
 * @ids: address of an array of struct rdma_ucmx_id_info
 *
 * List this channel's ids by rising handle.  Returns how many were written;
 * fewer than @count means that there are no more.  EINVAL: @count or @info_size
 * is too small.  E2BIG: @info_size is larger than a page.
 */
struct rdma_ucmx_list_ids {
	__u32 size;
	__u32 first;
	__u32 count;
	__u32 info_size;
	__aligned_u64 ids;
};

/**
 * struct rdma_ucmx_migrate_id - ioctl(RDMA_UCMX_MIGRATE_ID)
 * @size: sizeof(struct rdma_ucmx_migrate_id)
 * @id: handle of the id, on this channel
 * @target_fd: the channel it goes to
 * @flags: RDMA_UCMX_NONBLOCK, RDMA_UCMX_SET_COOKIE, RDMA_UCMX_ANNOUNCE
 * @deadline: CLOCK_MONOTONIC nanoseconds until which to wait, 0 for ever
 * @held_seq: an unacknowledged event of @id in the caller's hand, or 0; it
 *            counts as acknowledged if and only if the call succeeds
 * @cookie: with RDMA_UCMX_SET_COOKIE, the id's cookie from now on; an id not
 *          yet accepted counts as accepted by it: its events are delivered;
 *          zero without
 *
 * Move an id and its pending events, of a listener its unread requests too, to
 * another channel, once none of its events is unacknowledged.  Either all of
 * it happens or nothing.
 *
 * With RDMA_UCMX_ANNOUNCE the target first gets an event of the type
 * RDMA_UCMX_EVENT_TYPE_ARRIVED, an event of the id like any other, that says
 * what a request says of its id: address, device, paths.  Its number is higher
 * than those of the events that come with the id.
 *
 * EBADF: @target_fd is not open.  EINVAL: it is no channel, @held_seq is not
 * an unacknowledged event of the id, or a @cookie comes without
 * RDMA_UCMX_SET_COOKIE.  EBUSY: another migration of the id is under way.
 * EAGAIN, ETIMEDOUT, EINTR: events are unacknowledged.  ECANCELED: the id was
 * destroyed meanwhile.  ENOSPC: the target is full.
 */
struct rdma_ucmx_migrate_id {
	__u32 size;
	__u32 id;
	__s32 target_fd;
	__u32 flags;
	__aligned_u64 deadline;
	__aligned_u64 held_seq;
	__aligned_u64 cookie;
};

/**
 * struct rdma_ucmx_adopt_id - ioctl(RDMA_UCMX_ADOPT_ID)
 * @size: sizeof(struct rdma_ucmx_adopt_id)
 * @id: handle of the id
 * @cookie: its cookie from now on
 *
 * Give an id another cookie.  An id not yet accepted counts as accepted by it:
 * its events are delivered.
 */
struct rdma_ucmx_adopt_id {
	__u32 size;
	__u32 id;
	__aligned_u64 cookie;
};

/**
 * struct rdma_ucmx_shutdown - ioctl(RDMA_UCMX_SHUTDOWN)
 * @size: sizeof(struct rdma_ucmx_shutdown)
 * @flags: zero
 *
 * From now on, and for good, every read of the channel fails with ESHUTDOWN,
 * those that wait included, and poll says so.  Ids can still be migrated away.
 */
struct rdma_ucmx_shutdown {
	__u32 size;
	__u32 flags;
};

/**
 * struct rdma_ucmx_write_event - ioctl(RDMA_UCMX_WRITE_EVENT)
 * @size: sizeof(struct rdma_ucmx_write_event)
 * @id: handle of the id
 * @event: RDMA_UCMX_EVENT_TYPE_USER or RDMA_UCMX_EVENT_TYPE_INTERNAL
 * @status: status of the event
 * @arg: returned with the event
 *
 * As rdma_write_cm_event(3).  EINVAL: another type.  ENOSPC: too many that
 * were not acknowledged.
 */
struct rdma_ucmx_write_event {
	__u32 size;
	__u32 id;
	__u32 event;
	__s32 status;
	__aligned_u64 arg;
};

/* Join states of JOIN_MCAST. */
#define RDMA_UCMX_JOIN_FULL_MEMBER		(1U << 0)
#define RDMA_UCMX_JOIN_SEND_ONLY_FULL_MEMBER	(1U << 1)

/**
 * struct rdma_ucmx_join_mcast - ioctl(RDMA_UCMX_JOIN_MCAST)
 * @size: sizeof(struct rdma_ucmx_join_mcast)
 * @id: handle of the id
 * @join_state: one of RDMA_UCMX_JOIN_*
 * @out_group: number of the group, among those of the id
 * @cookie: returned with every event of the group
 * @addr: address of the group
 *
 * As rdma_join_multicast_ex(3).  Causes MULTICAST_JOIN or MULTICAST_ERROR, of
 * the id and of the group.  EADDRINUSE: the id has joined it already.  EINVAL:
 * unknown family or join state, no device.  ENOSPC: too many groups
 * of the id, or groups and events of the user.
 */
struct rdma_ucmx_join_mcast {
	__u32 size;
	__u32 id;
	__u32 join_state;
	__u32 out_group;
	__aligned_u64 cookie;
	struct rdma_ucmx_addr addr;
};

/**
 * struct rdma_ucmx_leave_mcast - ioctl(RDMA_UCMX_LEAVE_MCAST)
 * @size: sizeof(struct rdma_ucmx_leave_mcast)
 * @id: handle of the id
 * @group: number of the group
 * @flags: RDMA_UCMX_NONBLOCK
 * @deadline: CLOCK_MONOTONIC nanoseconds until which to wait, 0 for ever
 * @held_seq: an unacknowledged event of @group in the caller's hand, or 0; it
 *            counts as acknowledged if and only if the call succeeds
 *
 * Leave a group: its pending events are dropped; then wait until its
 * unacknowledged events are acknowledged.  Errors as with DESTROY_ID: after
 * EINTR and ETIMEDOUT it has been left, and only LEAVE_MCAST, which goes on
 * waiting, finds it, until the last acknowledgement.
 */
struct rdma_ucmx_leave_mcast {
	__u32 size;
	__u32 id;
	__u32 group;
	__u32 flags;
	__aligned_u64 deadline;
	__aligned_u64 held_seq;
};

/**
 * struct rdma_ucmx_get_option - ioctl(RDMA_UCMX_GET_OPTION)
 * @size: sizeof(struct rdma_ucmx_get_option)
 * @id: handle of the id
 * @level: RDMA_OPTION_ID
 * @optname: RDMA_OPTION_ID_*, RDMA_UCMX_OPTION_*
 * @optval: address of room for the value
 * @optlen: bytes of that room
 * @out_optlen: bytes of the value
 *
 * The value that was set last.  ENODATA: it was never set, the kernel's choice
 * holds.  EINVAL: the room is too small.  ENOSYS: unknown level or name.
 */
struct rdma_ucmx_get_option {
	__u32 size;
	__u32 id;
	__u32 level;
	__u32 optname;
	__aligned_u64 optval;
	__u32 optlen;
	__u32 out_optlen;
};

/**
 * struct rdma_ucmx_read_events - ioctl(RDMA_UCMX_READ_EVENTS)
 * @size: sizeof(struct rdma_ucmx_read_events)
 * @count: how many records at most, at least 1
 * @buffer: address of room for them
 * @length: bytes of that room
 * @flags: RDMA_UCMX_NONBLOCK
 *
 * As read(2), but what limits the number of records is @count and not the size
 * of the buffer.  Returns how many were read; they follow each other in @buffer.
 * Errors as with read(2), if nothing was read: EAGAIN (there is no event, and
 * RDMA_UCMX_NONBLOCK or O_NONBLOCK is set), EINVAL (@count is 0 or @length too
 * small for the first), EINTR, ESHUTDOWN, EFAULT, ENOMEM.
 */
struct rdma_ucmx_read_events {
	__u32 size;
	__u32 count;
	__aligned_u64 buffer;
	__u32 length;
	__u32 flags;
};

/* What a service is looked for by: one of them, or both. */
#define RDMA_UCMX_SERVICE_ID	(1U << 0)
#define RDMA_UCMX_SERVICE_NAME	(1U << 1)

/**
 * struct rdma_ucmx_resolve_ib_service - ioctl(RDMA_UCMX_RESOLVE_IB_SERVICE)
 * @size: sizeof(struct rdma_ucmx_resolve_ib_service)
 * @id: handle of the id
 * @flags: RDMA_UCMX_SERVICE_*, at least one
 * @reserved: zero
 * @service_id: number of the service, host byte order; meant with
 *              RDMA_UCMX_SERVICE_ID
 * @name: name of the service, with a zero at its end; meant with
 *        RDMA_UCMX_SERVICE_NAME
 *
 * Ask the subnet's administrator who has a service.  Causes ADDRINFO_RESOLVED, with the
 * records, or ADDRINFO_ERROR.  The first who has it is the id's destination then, as if
 * RESOLVE_ADDR had found it: RESOLVE_ROUTE comes next.
 * EINVAL: nothing to look for, a name without an end, or the id is not bound to a
 * device, or to more than that.  EOPNOTSUPP: the device is not on a subnet with an
 * administrator, or the kernel cannot ask.  ENOSPC: as with RESOLVE_ADDR.
 */
struct rdma_ucmx_resolve_ib_service {
	__u32 size;
	__u32 id;
	__u32 flags;
	__u32 reserved;
	__aligned_u64 service_id;
	__u8  name[RDMA_UCMX_SERVICE_NAME_SIZE];
};

#endif /* RDMA_UCMX_H */
