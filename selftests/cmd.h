/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The module's commands, one function each, and nothing on top: the result of
 * the ioctl, or -1 and errno.
 */
#ifndef SELFTESTS_CMD_H
#define SELFTESTS_CMD_H

#include <rdma/rdma_ucmx.h>

#define UCMX_DEVICE "/dev/infiniband/rdma_ucmx"

/* enum rdma_ucm_port_space and enum ib_qp_type, as far as they are used. */
#define PS_TCP 0x0106
#define PS_UDP 0x0111
#define QPT_RC 2

/* enum rdma_cm_event_type */
enum {
	EV_ADDR_RESOLVED,
	EV_ADDR_ERROR,
	EV_ROUTE_RESOLVED,
	EV_ROUTE_ERROR,
	EV_CONNECT_REQUEST,
	EV_CONNECT_RESPONSE,
	EV_CONNECT_ERROR,
	EV_UNREACHABLE,
	EV_REJECTED,
	EV_ESTABLISHED,
	EV_DISCONNECTED,
	EV_DEVICE_REMOVAL,
	EV_MULTICAST_JOIN,
	EV_MULTICAST_ERROR,
	EV_ADDR_CHANGE,
	EV_TIMEWAIT_EXIT,
	EV_USER = RDMA_UCMX_EVENT_TYPE_USER,
	EV_INTERNAL = RDMA_UCMX_EVENT_TYPE_INTERNAL,
	EV_ARRIVED = RDMA_UCMX_EVENT_TYPE_ARRIVED,
};

int cmd_info(int fd, struct rdma_ucmx_info *info);
int cmd_create_id(int fd, __u16 port_space, __u64 cookie, __u32 *id);
int cmd_destroy_id(int fd, __u32 id);
int cmd_destroy_id_opt(int fd, __u32 id, __u32 flags, __u64 deadline,
		       __u64 held_seq);
int cmd_bind_addr(int fd, __u32 id, const struct rdma_ucmx_addr *addr);
/* @src may be NULL. */
int cmd_resolve_addr(int fd, __u32 id, const struct rdma_ucmx_addr *src,
		     const struct rdma_ucmx_addr *dst);
int cmd_resolve_route(int fd, __u32 id);
int cmd_resolve_ib_service(int fd, __u32 id, __u32 flags, __u64 service_id,
			   const char *name);
int cmd_listen(int fd, __u32 id, __u32 backlog);
int cmd_connect(int fd, __u32 id, const struct rdma_ucmx_conn_param *param);
/* @param may be NULL: not valid, as on the active side. */
int cmd_accept(int fd, __u32 id, __u64 cookie,
	       const struct rdma_ucmx_conn_param *param);
int cmd_reject(int fd, __u32 id, __u8 reason, const void *data, __u8 len);
int cmd_disconnect(int fd, __u32 id);
int cmd_notify(int fd, __u32 id, __u32 event);
int cmd_query(int fd, __u32 id, struct rdma_ucmx_query *query);
int cmd_init_qp_attr(int fd, __u32 id, __u32 state,
		     struct rdma_ucmx_qp_attr *attr);
int cmd_set_option(int fd, __u32 id, __u32 level, __u32 name, const void *value,
		   __u32 len);
/* The number acknowledged. */
int cmd_read_events(int fd, void *buffer, __u32 length, __u32 count,
		    __u32 flags);
int cmd_ack_events(int fd, const struct rdma_ucmx_ack *acks, __u32 count);
/* 0 if it was acknowledged; @seq 0 stands for all of the id. */
int cmd_ack(int fd, __u32 id, __u64 seq);
/* The number listed. */
int cmd_list_ids(int fd, __u32 first, struct rdma_ucmx_id_info *ids,
		 __u32 count);
int cmd_migrate_id(int fd, __u32 id, int target_fd);
int cmd_migrate_id_opt(int fd, __u32 id, int target_fd, __u32 flags,
		       __u64 deadline, __u64 held_seq);
int cmd_migrate_id_cookie(int fd, __u32 id, int target_fd, __u64 cookie);
int cmd_adopt_id(int fd, __u32 id, __u64 cookie);
int cmd_shutdown(int fd);
int cmd_write_event(int fd, __u32 id, __u32 event, __s32 status, __u64 arg);
int cmd_join_mcast(int fd, __u32 id, const struct rdma_ucmx_addr *addr,
		   __u32 join_state, __u64 cookie, __u32 *group);
int cmd_leave_mcast(int fd, __u32 id, __u32 group);
int cmd_leave_mcast_opt(int fd, __u32 id, __u32 group, __u32 flags,
			__u64 deadline, __u64 held_seq);
/* @len: bytes of room, then of the value. */
int cmd_get_option(int fd, __u32 id, __u32 level, __u32 name, void *value,
		   __u32 *len);

#endif /* SELFTESTS_CMD_H */
