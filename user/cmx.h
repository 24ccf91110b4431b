/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * librdmacmx - what its files share.
 *
 * What a program calls is in calls.c and calls_cmx.c, which may log it (debug.c)
 * and go on to what does the work (names.h).
 *
 * Down: a public function fills in a command and gives it to cmx_id_command()
 * (owner.c), which finds the channel that owns the id and sends it there
 * (syscall.c).  Up: rdma_get_cm_event() (event.c) reads one record and
 * rdmax_get_cm_events() (batch.c) many; deliver.c finds the id by its cookie
 * (table.c), and record.c turns the one into the other's fields and into a
 * struct rdma_cm_event.
 *
 * Internal functions return 0, or -1 with errno, unless said otherwise.
 *
 * Locks, none of which is held while waiting for the kernel to finish
 * something: cmx_channel->adopt_lock, cmx_id->qp_lock, cmx_id->lock, the device
 * list's, in this order.  All but cmx_id->lock are held across calls of
 * libibverbs, and that one for multicast only.  The first two are held across
 * commands, too, that wait for no acknowledgement.
 */
#ifndef CMX_H
#define CMX_H

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <rdma/rdma_cma.h>
#include <rdma/rdma_cmx.h>
#include <rdma/rdma_ucmx.h>

#include "reading.h"

#define CMX_EXPORT __attribute__((visibility("default")))

/* Any record fits RDMA_UCMX_READ_MIN, and a buffer that is smaller gets one only. */
#define CMX_RECORD_MAX (RDMA_UCMX_READ_MIN - sizeof(uint64_t))

#define cmx_container(pointer, type, member) \
	((type *)((char *)(pointer) - offsetof(type, member)))

struct cmx_device;
struct cmx_group;
struct cmx_move;
struct cmx_slot;

/**
 * struct cmx_channel - an event channel
 * @channel: what the user sees
 * @fd: the same descriptor as in @channel, out of the user's reach
 * @self: its own address, as long as it is a channel of this library
 * @spare: an id allocated for the next connection request, or NULL
 * @unused: memory for the next event, or NULL
 * @refs: who may look at this memory: ids, and the users with one in all
 * @users: who may use @fd: the user and calls; the last one closes it
 * @reading: who reads it; the first one of a list
 * @lookers: who looks at the buffers of those
 * @adopt_lock: whoever adopts an id holds it
 * @destroyed: the user has given it up, and only calls use it
 * @next: next of this process' channels
 * @link: what points to this one
 */
struct cmx_channel {
	struct rdma_event_channel channel;
	int fd;
	struct cmx_channel *self;
	struct cmx_id *_Atomic spare;
	struct cmx_event *_Atomic unused;
	_Atomic unsigned int refs;
	_Atomic unsigned int users;
	struct cmx_reading reading;
	_Atomic unsigned int lookers;
	pthread_mutex_t adopt_lock;
	bool destroyed;
	struct cmx_channel *next;
	struct cmx_channel **link;
};

/**
 * struct cmx_endpoint - what an endpoint has beyond an id
 * @listens: it is there for requests, whose ids get queue pairs
 * @attr: of these queue pairs
 * @connect_len: bytes of @connect
 * @connect: private data that goes before the user's when it connects
 */
struct cmx_endpoint {
	bool listens;
	struct ibv_qp_init_attr attr;
	size_t connect_len;
	uint8_t connect[];
};

/**
 * struct cmx_id - an id
 * @id: what the user sees
 * @slot: its place in the table, holds the reference count
 * @cookie: names @slot and this use of it
 * @handle: the kernel's name of it, 0 before it has one
 * @lock: protects the next fourteen and what changes in @id while it is shared
 * @moved: signalled when @version changes
 * @channel: with a reference, as far as is known the channel that owns it
 * @own_channel: the channel that it has for itself in synchronous mode, or NULL
 * @groups: multicast groups that it joined
 * @last_group: number of the last of them
 * @addrinfo: what rdma_resolve_addrinfo() found, or NULL
 * @found: what is to be that when its event was read, or NULL
 * @resolving: number of what was begun, until it has failed or its result was taken; or 0
 * @by_service: that asks a subnet's administrator
 * @moves: migrations that are in the kernel, in the order they went there
 * @owners: counts how often it was found out who owns it
 * @version: counts changes of @channel and @moves
 * @waiting: threads that wait for @moved
 * @waited: there was one at some time
 * @device: device that @id.verbs belongs to, or NULL
 * @qp_lock: protects @id.qp against being destroyed while it is modified
 * @qp_locked: @qp_lock was held at some time
 * @local_ece: ECE options to offer or to answer with
 * @remote_ece: ECE options of the peer
 * @initiator_depth: RDMA reads that may be outstanding to the peer
 * @responder_resources: RDMA reads that may be outstanding from the peer
 * @connect_failed: a CONNECT_RESPONSE was already reported as CONNECT_ERROR
 * @established: the user was told that there is a connection
 * @over: the user was told that it has ended, or failed
 * @endpoint: what an endpoint has beyond an id, or NULL
 */
struct cmx_id {
	struct rdma_cm_id id;
	struct cmx_slot *slot;
	uint64_t cookie;
	_Atomic uint32_t handle;

	pthread_mutex_t lock;
	pthread_cond_t moved;
	struct cmx_channel *channel;
	struct cmx_channel *_Atomic own_channel;
	struct cmx_group *groups;
	uint64_t last_group;
	struct rdma_addrinfo *addrinfo;
	struct rdma_addrinfo *found;
	uint64_t resolving;
	bool by_service;
	struct cmx_move *moves;
	unsigned int owners;
	unsigned int version;
	unsigned int waiting;
	bool waited;
	struct cmx_device *device;

	pthread_mutex_t qp_lock;
	_Atomic bool qp_locked;
	struct ibv_ece local_ece;
	struct ibv_ece remote_ece;
	uint8_t initiator_depth;
	uint8_t responder_resources;
	_Atomic bool connect_failed;
	_Atomic bool established;
	_Atomic bool over;
	struct cmx_endpoint *endpoint;
};

/**
 * struct cmx_stranger - an id that this process does not know, as of its event
 * @handle: the kernel's name of it
 * @ps: port space
 * @qp_type: type of queue pair
 * @remote_ece: ECE options of the peer
 * @initiator_depth: of a request: RDMA reads that the peer has room for
 * @responder_resources: of a request: RDMA reads that the peer may send
 */
struct cmx_stranger {
	uint32_t handle;
	uint16_t ps;
	uint8_t qp_type;
	struct ibv_ece remote_ece;
	uint8_t initiator_depth;
	uint8_t responder_resources;
};

/**
 * struct cmx_event - an event in the user's hand
 * @event: what the user sees
 * @id: with a reference, the id that it is acknowledged by, or NULL if this
 *      process does not know it
 * @other: with a reference, the new id of a CONNECT_REQUEST, or NULL
 * @channel: with a reference, where it was read, or NULL if nobody has it in hand
 * @seq: the number it is acknowledged by, 0 if that is done
 * @group: number of the multicast group that it is of, or 0
 * @handle: the kernel's name of the id that it is acknowledged by
 * @stranger: what @event's id is to be made of, as long as that is NULL
 * @private_data: what @event's private_data points to
 */
struct cmx_event {
	struct rdma_cm_event event;
	struct cmx_id *id;
	struct cmx_id *other;
	struct cmx_channel *channel;
	uint64_t seq;
	uint64_t group;
	uint32_t handle;
	struct cmx_stranger stranger;
	uint8_t private_data[RDMA_UCMX_MAX_PRIVATE_DATA];
};

/**
 * struct cmx_record - an event record, taken apart
 * @head: its head
 * @conn: connection parameters, or NULL
 * @ud: parameters of unconnected communication, or NULL
 * @route: addresses and device, or NULL
 * @paths: @head->num_paths path records, or NULL
 * @arg: what the writer of the event gave, or NULL
 * @services: what a subnet's administrator said, with @services->count records, or NULL
 */
struct cmx_record {
	const struct rdma_ucmx_event *head;
	const struct rdma_ucmx_conn_param *conn;
	const struct rdma_ucmx_ud_param *ud;
	const struct rdma_ucmx_route *route;
	const struct rdma_ucmx_path *paths;
	const uint64_t *arg;
	const struct rdma_ucmx_services *services;
};

static inline struct cmx_id *cmx_id_of(struct rdma_cm_id *id)
{
	return cmx_container(id, struct cmx_id, id);
}

static inline struct cmx_channel *
cmx_channel_of(struct rdma_event_channel *channel)
{
	return cmx_container(channel, struct cmx_channel, channel);
}

static inline struct cmx_event *cmx_event_of(struct rdma_cm_event *event)
{
	return cmx_container(event, struct cmx_event, event);
}

static inline int cmx_error(int error)
{
	errno = error;
	return -1;
}

/*
 * Whether an event is the id's and for the user to acknowledge, or there is none.
 * The one in a synchronous id is acknowledged.
 */
static inline bool cmx_may_hold(const struct cmx_id *id,
				const struct rdma_cm_event *event)
{
	const struct cmx_event *own;

	if (!event)
		return true;
	own = cmx_container(event, struct cmx_event, event);
	return own->id == id && own->channel && own->seq;
}

static inline bool cmx_is_ud(const struct cmx_id *id)
{
	return id->id.qp_type == IBV_QPT_UD;
}

/* load.c */
void cmx_load_module(void);

/* syscall.c */
int cmx_sys_open(void);
void cmx_sys_close_on_exec(int fd);
void cmx_sys_close(int fd);
ssize_t cmx_sys_read(int fd, void *buffer, size_t size);
int cmx_sys_read_events(int fd, void *buffer, size_t size, unsigned int max);
int cmx_sys_command(int fd, unsigned long request, void *argument);
int cmx_sys_ack(int fd, uint32_t handle, uint64_t seq);
int cmx_sys_destroy(int fd, uint32_t handle);
bool cmx_sys_owns(int fd, uint32_t handle);
bool cmx_sys_id_info(int fd, uint32_t handle, struct rdma_ucmx_id_info *info);

/* channel.c */
struct cmx_channel *cmx_channel_get(struct cmx_channel *channel);
void cmx_channel_put(struct cmx_channel *channel);
bool cmx_channel_is_ours(const struct cmx_channel *channel);
bool cmx_channel_use(struct cmx_channel *channel);
void cmx_channel_unuse(struct cmx_channel *channel);
void cmx_channels_hold(void);
void cmx_channels_release(void);
void cmx_channels_forked(void);

/* table.c */
int cmx_table_add(struct cmx_id *id);
struct cmx_id *cmx_table_find(uint64_t cookie);
struct cmx_id *cmx_table_find_handle(uint32_t handle);
bool cmx_table_has(const struct cmx_id *id);
void cmx_table_get(struct cmx_id *id);
bool cmx_table_put(struct cmx_id *id);
void cmx_table_hold(void);
void cmx_table_release(void);

/* id.c */
struct cmx_id *cmx_id_alloc(void);
int cmx_id_create(struct cmx_channel *channel, void *context,
		  enum rdma_port_space ps, enum ibv_qp_type qp_type,
		  struct cmx_id **id);
void cmx_id_setup(struct cmx_id *id, struct cmx_channel *channel, void *context,
		  enum rdma_port_space ps, enum ibv_qp_type qp_type);
void cmx_id_get(struct cmx_id *id);
void cmx_id_put(struct cmx_id *id);

/* owner.c */
/**
 * struct cmx_walk - a search for the channel that owns an id
 * @id: the id
 * @version: of @id when the search began
 * @next: which of the candidates is next
 * @started: whether @version means something
 * @closed: whether a candidate turned out to be destroyed
 */
struct cmx_walk {
	struct cmx_id *id;
	unsigned int version;
	unsigned int next;
	bool started;
	bool closed;
};

/**
 * struct cmx_move - a migration that is in the kernel
 * @target: where the id goes
 * @next: the migration of the same id that came later
 * @owners: of the id when this began
 * @synchronous: whether the id was in synchronous mode when this ended
 */
struct cmx_move {
	struct cmx_channel *target;
	struct cmx_move *next;
	unsigned int owners;
	bool synchronous;
};

struct cmx_channel *cmx_walk_next(struct cmx_walk *walk);
int cmx_walk_error(const struct cmx_walk *walk);
int cmx_id_command(struct cmx_id *id, unsigned long request, void *argument);
int cmx_id_last_command(struct cmx_id *id, unsigned long request,
			void *argument);
struct cmx_channel *cmx_move_begin(struct cmx_walk *walk, struct cmx_move *move);
void cmx_move_end(struct cmx_walk *walk, struct cmx_move *move, bool done);
void cmx_id_seen_on(struct cmx_id *id, struct cmx_channel *channel,
		    const struct rdma_ucmx_route *route);

/* adopt.c */
void cmx_adopt_none(const struct cmx_event *event);

/* destroy.c */
bool cmx_is_time(const struct timespec *time);
uint64_t cmx_deadline(const struct timespec *deadline);

/* migrate.c */
int cmx_id_move(struct cmx_id *id, struct cmx_channel *target,
		struct rdma_ucmx_migrate_id *command, bool *synchronous);

/* deliver.c */
/**
 * struct cmx_delivery - what it takes to turn a record into an event
 * @channel: where the record was read
 * @event: the event to be, or NULL if it was handed out
 * @spare: an id for a connection request, or NULL if one took it
 * @own_channel: what that is to have for itself if the listener is
 *               synchronous, or NULL
 * @strangers: whether events of unknown ids are handed out
 * @seen: id of the event before, if that is unacknowledged, or NULL
 */
struct cmx_delivery {
	struct cmx_channel *channel;
	struct cmx_event *event;
	struct cmx_id *spare;
	struct cmx_channel *own_channel;
	bool strangers;
	struct cmx_id *seen;
};

enum { CMX_DELIVERED, CMX_PASSED_OVER };

int cmx_deliver(struct cmx_delivery *delivery, const struct cmx_record *record);
void cmx_ignore(int fd, const struct cmx_record *record);

/* event.c */
struct cmx_event *cmx_event_alloc(void);
void cmx_event_clear(struct cmx_event *event);
int cmx_event_get(struct cmx_channel *channel, struct cmx_channel *own_channel,
		  struct rdma_cm_event **event);
void cmx_event_settle(struct cmx_event *event);
void cmx_event_release(struct cmx_event *event);
void cmx_event_free(struct cmx_event *event);

/* batch.c */
void cmx_batches_hold(void);
void cmx_batches_release(void);

/* sync.c */
/**
 * enum cmx_operation - what a synchronous call waits for
 * @CMX_RESOLVE_ADDR: rdma_resolve_addr()
 * @CMX_RESOLVE_ROUTE: rdma_resolve_route(), or setting a path
 * @CMX_RESOLVE_ADDRINFO: rdma_resolve_addrinfo()
 * @CMX_CONNECT: rdma_connect()
 * @CMX_ACCEPT: rdma_accept()
 * @CMX_DISCONNECT: rdma_disconnect()
 * @CMX_JOIN: rdma_join_multicast()
 */
enum cmx_operation {
	CMX_RESOLVE_ADDR,
	CMX_RESOLVE_ROUTE,
	CMX_RESOLVE_ADDRINFO,
	CMX_CONNECT,
	CMX_ACCEPT,
	CMX_DISCONNECT,
	CMX_JOIN,
};

struct cmx_channel *cmx_sync_open(void);
void cmx_sync_close(struct cmx_channel *channel);
struct cmx_channel *cmx_sync_channel(struct cmx_id *id);
bool cmx_sync_is(struct cmx_id *id);
int cmx_sync_read(struct cmx_channel *channel, struct cmx_channel *own_channel,
		  struct rdma_cm_event **event);
void cmx_sync_switch(struct cmx_id *id, struct cmx_channel *target, bool sync);
void cmx_sync_leave(struct cmx_id *id);
int cmx_sync_adopt(struct cmx_id *child, struct cmx_channel *own_channel);
void cmx_sync_set_event(struct cmx_id *id, struct rdma_cm_event *event);
int cmx_sync_wait(struct cmx_id *id, struct cmx_channel *channel,
		  enum cmx_operation operation, uint64_t group);
int cmx_sync_command(struct cmx_id *id, unsigned long request, void *argument,
		     enum cmx_operation operation);

/* mcast.c */
int cmx_group_joined(struct cmx_event *event);
void cmx_group_context(struct cmx_event *event, uint32_t handle);
void cmx_group_lost(const struct cmx_event *event);
void cmx_groups_free(struct cmx_group *group);
void cmx_groups_detach(struct cmx_id *id);

/* resolve.c */
/* In the argument of an event of the library's own: the rest is a resolution's number. */
#define CMX_RESOLUTION (UINT64_C(1) << 63)

int cmx_write_event(struct cmx_id *id, uint32_t event, int status, uint64_t arg);
uint64_t cmx_addrinfo_begin(struct cmx_id *id, bool by_service);
void cmx_addrinfo_failed(struct cmx_id *id, uint64_t number);
bool cmx_addrinfo_named(struct cmx_id *id, uint64_t number, int status);
bool cmx_addrinfo_served(struct cmx_id *id, struct rdma_addrinfo *info);
int cmx_addrinfo_wait(struct cmx_id *id, struct cmx_channel *channel, uint64_t number);

/* service.c */
int cmx_service_resolve(struct cmx_id *id, const char *service);
struct rdma_addrinfo *cmx_service_list(const struct rdma_ucmx_services *services);
int cmx_service_find(const char *service, struct rdma_addrinfo **res);

/* record.c */
int cmx_record_parse(const void *buffer, size_t size,
		     struct cmx_record *record);
void cmx_record_params(const struct cmx_record *record,
		       struct cmx_event *event);
void cmx_record_ah_attr(const struct rdma_ucmx_ah_attr *source,
			struct ibv_ah_attr *attr);
void cmx_record_put_route(struct cmx_id *id, const struct rdma_ucmx_route *route);
int cmx_record_apply_route(struct cmx_id *id,
			   const struct rdma_ucmx_route *route);
int cmx_record_apply_paths(struct cmx_id *id,
			   const struct rdma_ucmx_path *paths, int count);

/* addr.c */
int cmx_addr_query(struct cmx_id *id);
socklen_t cmx_addr_length(const struct sockaddr *address);
int cmx_addr_put(const struct sockaddr *address, struct rdma_ucmx_addr *target);

/* device.c */
int cmx_device_attach(struct cmx_id *id, const struct rdma_ucmx_route *route);
void cmx_device_detach(struct cmx_id *id);
void cmx_device_gone(struct cmx_id *id);
void cmx_device_keep(struct cmx_id *id);
void cmx_devices_hold(void);
void cmx_devices_release(void);
struct ibv_xrcd *cmx_device_xrcd(struct cmx_id *id);
void cmx_device_limits(struct cmx_id *id, uint8_t *responder_resources,
		       uint8_t *initiator_depth);

/* cq.c */
int cmx_cqs_create(struct rdma_cm_id *id, uint32_t send_size,
		   uint32_t recv_size);
void cmx_cqs_destroy(struct rdma_cm_id *id);

/* qp.c */
int cmx_qp_lock(struct cmx_id *id);
void cmx_qp_unlock(struct cmx_id *id, int cancel_state);
int cmx_qp_connect(struct cmx_id *id, uint8_t responder_resources,
		   uint8_t initiator_depth);
int cmx_qp_to_error(struct cmx_id *id);
int cmx_qp_shut_down(struct cmx_id *id);

/* conn.c */
void cmx_conn_note(struct cmx_id *id, enum rdma_cm_event_type event);
int cmx_conn_established(struct cmx_id *id);
void cmx_conn_end(struct cmx_id *id);

#include "names.h"

#endif /* CMX_H */
