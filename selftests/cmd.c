// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The module's commands, see cmd.h.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>

#include "cmd.h"

int cmd_info(int fd, struct rdma_ucmx_info *info)
{
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	return ioctl(fd, RDMA_UCMX_INFO, info);
}

int cmd_create_id(int fd, __u16 port_space, __u64 cookie, __u32 *id)
{
	struct rdma_ucmx_create_id cmd = {
		.size = sizeof(cmd),
		.cookie = cookie,
		.port_space = port_space,
		.qp_type = QPT_RC,
	};
	int ret = ioctl(fd, RDMA_UCMX_CREATE_ID, &cmd);

	if (!ret)
		*id = cmd.out_id;
	return ret;
}

int cmd_destroy_id_opt(int fd, __u32 id, __u32 flags, __u64 deadline,
		       __u64 held_seq)
{
	struct rdma_ucmx_destroy_id cmd = {
		.size = sizeof(cmd),
		.id = id,
		.flags = flags,
		.deadline = deadline,
		.held_seq = held_seq,
	};

	return ioctl(fd, RDMA_UCMX_DESTROY_ID, &cmd);
}

int cmd_destroy_id(int fd, __u32 id)
{
	return cmd_destroy_id_opt(fd, id, 0, 0, 0);
}

int cmd_bind_addr(int fd, __u32 id, const struct rdma_ucmx_addr *addr)
{
	struct rdma_ucmx_bind_addr cmd = {
		.size = sizeof(cmd),
		.id = id,
		.addr = *addr,
	};

	return ioctl(fd, RDMA_UCMX_BIND_ADDR, &cmd);
}

int cmd_resolve_addr(int fd, __u32 id, const struct rdma_ucmx_addr *src,
		     const struct rdma_ucmx_addr *dst)
{
	struct rdma_ucmx_resolve_addr cmd = {
		.size = sizeof(cmd),
		.id = id,
		.timeout_ms = 10000,
		.dst_addr = *dst,
	};

	if (src)
		cmd.src_addr = *src;
	return ioctl(fd, RDMA_UCMX_RESOLVE_ADDR, &cmd);
}

int cmd_resolve_route(int fd, __u32 id)
{
	struct rdma_ucmx_resolve_route cmd = {
		.size = sizeof(cmd),
		.id = id,
		.timeout_ms = 10000,
	};

	return ioctl(fd, RDMA_UCMX_RESOLVE_ROUTE, &cmd);
}

int cmd_listen(int fd, __u32 id, __u32 backlog)
{
	struct rdma_ucmx_listen cmd = {
		.size = sizeof(cmd),
		.id = id,
		.backlog = backlog,
	};

	return ioctl(fd, RDMA_UCMX_LISTEN, &cmd);
}

int cmd_connect(int fd, __u32 id, const struct rdma_ucmx_conn_param *param)
{
	struct rdma_ucmx_connect cmd = {
		.size = sizeof(cmd),
		.id = id,
		.conn_param = *param,
	};

	return ioctl(fd, RDMA_UCMX_CONNECT, &cmd);
}

int cmd_accept(int fd, __u32 id, __u64 cookie,
	       const struct rdma_ucmx_conn_param *param)
{
	struct rdma_ucmx_accept cmd = {
		.size = sizeof(cmd),
		.id = id,
		.cookie = cookie,
	};

	if (param)
		cmd.conn_param = *param;
	return ioctl(fd, RDMA_UCMX_ACCEPT, &cmd);
}

int cmd_reject(int fd, __u32 id, __u8 reason, const void *data, __u8 len)
{
	struct rdma_ucmx_reject cmd = {
		.size = sizeof(cmd),
		.id = id,
		.private_data_len = len,
		.reason = reason,
	};

	memcpy(cmd.private_data, data, len);
	return ioctl(fd, RDMA_UCMX_REJECT, &cmd);
}

int cmd_disconnect(int fd, __u32 id)
{
	struct rdma_ucmx_disconnect cmd = {
		.size = sizeof(cmd),
		.id = id,
	};

	return ioctl(fd, RDMA_UCMX_DISCONNECT, &cmd);
}

int cmd_notify(int fd, __u32 id, __u32 event)
{
	struct rdma_ucmx_notify cmd = {
		.size = sizeof(cmd),
		.id = id,
		.event = event,
	};

	return ioctl(fd, RDMA_UCMX_NOTIFY, &cmd);
}

int cmd_query(int fd, __u32 id, struct rdma_ucmx_query *query)
{
	memset(query, 0, sizeof(*query));
	query->size = sizeof(*query);
	query->id = id;
	return ioctl(fd, RDMA_UCMX_QUERY, query);
}

int cmd_init_qp_attr(int fd, __u32 id, __u32 state,
		     struct rdma_ucmx_qp_attr *attr)
{
	struct rdma_ucmx_init_qp_attr cmd = {
		.size = sizeof(cmd),
		.id = id,
		.qp_state = state,
	};
	int ret = ioctl(fd, RDMA_UCMX_INIT_QP_ATTR, &cmd);

	*attr = cmd.out_attr;
	return ret;
}

int cmd_set_option(int fd, __u32 id, __u32 level, __u32 name, const void *value,
		   __u32 len)
{
	struct rdma_ucmx_set_option cmd = {
		.size = sizeof(cmd),
		.id = id,
		.level = level,
		.optname = name,
		.optval = (uintptr_t)value,
		.optlen = len,
	};

	return ioctl(fd, RDMA_UCMX_SET_OPTION, &cmd);
}

int cmd_read_events(int fd, void *buffer, __u32 length, __u32 count,
		    __u32 flags)
{
	struct rdma_ucmx_read_events cmd = {
		.size = sizeof(cmd),
		.count = count,
		.buffer = (uintptr_t)buffer,
		.length = length,
		.flags = flags,
	};

	return ioctl(fd, RDMA_UCMX_READ_EVENTS, &cmd);
}

int cmd_resolve_ib_service(int fd, __u32 id, __u32 flags, __u64 service_id,
			   const char *name)
{
	struct rdma_ucmx_resolve_ib_service cmd = {
		.size = sizeof(cmd),
		.id = id,
		.flags = flags,
		.service_id = service_id,
	};

	strncpy((char *)cmd.name, name, sizeof(cmd.name) - 1);
	return ioctl(fd, RDMA_UCMX_RESOLVE_IB_SERVICE, &cmd);
}

int cmd_ack_events(int fd, const struct rdma_ucmx_ack *acks, __u32 count)
{
	struct rdma_ucmx_ack_events cmd = {
		.size = sizeof(cmd),
		.count = count,
		.acks = (uintptr_t)acks,
	};

	return ioctl(fd, RDMA_UCMX_ACK_EVENTS, &cmd);
}

int cmd_ack(int fd, __u32 id, __u64 seq)
{
	struct rdma_ucmx_ack ack = { .id = id, .seq = seq };
	int ret = cmd_ack_events(fd, &ack, 1);

	if (ret == 0)
		errno = EPROTO;
	return ret == 1 ? 0 : -1;
}

int cmd_list_ids(int fd, __u32 first, struct rdma_ucmx_id_info *ids,
		 __u32 count)
{
	struct rdma_ucmx_list_ids cmd = {
		.size = sizeof(cmd),
		.first = first,
		.count = count,
		.info_size = sizeof(*ids),
		.ids = (uintptr_t)ids,
	};

	return ioctl(fd, RDMA_UCMX_LIST_IDS, &cmd);
}

int cmd_migrate_id_opt(int fd, __u32 id, int target_fd, __u32 flags,
		       __u64 deadline, __u64 held_seq)
{
	struct rdma_ucmx_migrate_id cmd = {
		.size = sizeof(cmd),
		.id = id,
		.target_fd = target_fd,
		.flags = flags,
		.deadline = deadline,
		.held_seq = held_seq,
	};

	return ioctl(fd, RDMA_UCMX_MIGRATE_ID, &cmd);
}

int cmd_migrate_id(int fd, __u32 id, int target_fd)
{
	return cmd_migrate_id_opt(fd, id, target_fd, 0, 0, 0);
}

int cmd_migrate_id_cookie(int fd, __u32 id, int target_fd, __u64 cookie)
{
	struct rdma_ucmx_migrate_id cmd = {
		.size = sizeof(cmd),
		.id = id,
		.target_fd = target_fd,
		.flags = RDMA_UCMX_SET_COOKIE,
		.cookie = cookie,
	};

	return ioctl(fd, RDMA_UCMX_MIGRATE_ID, &cmd);
}

int cmd_adopt_id(int fd, __u32 id, __u64 cookie)
{
	struct rdma_ucmx_adopt_id cmd = {
		.size = sizeof(cmd),
		.id = id,
		.cookie = cookie,
	};

	return ioctl(fd, RDMA_UCMX_ADOPT_ID, &cmd);
}

int cmd_shutdown(int fd)
{
	struct rdma_ucmx_shutdown cmd = { .size = sizeof(cmd) };

	return ioctl(fd, RDMA_UCMX_SHUTDOWN, &cmd);
}

int cmd_write_event(int fd, __u32 id, __u32 event, __s32 status, __u64 arg)
{
	struct rdma_ucmx_write_event cmd = {
		.size = sizeof(cmd),
		.id = id,
		.event = event,
		.status = status,
		.arg = arg,
	};

	return ioctl(fd, RDMA_UCMX_WRITE_EVENT, &cmd);
}

int cmd_join_mcast(int fd, __u32 id, const struct rdma_ucmx_addr *addr,
		   __u32 join_state, __u64 cookie, __u32 *group)
{
	struct rdma_ucmx_join_mcast cmd = {
		.size = sizeof(cmd),
		.id = id,
		.join_state = join_state,
		.cookie = cookie,
		.addr = *addr,
	};
	int ret = ioctl(fd, RDMA_UCMX_JOIN_MCAST, &cmd);

	if (!ret)
		*group = cmd.out_group;
	return ret;
}

int cmd_leave_mcast_opt(int fd, __u32 id, __u32 group, __u32 flags,
			__u64 deadline, __u64 held_seq)
{
	struct rdma_ucmx_leave_mcast cmd = {
		.size = sizeof(cmd),
		.id = id,
		.group = group,
		.flags = flags,
		.deadline = deadline,
		.held_seq = held_seq,
	};

	return ioctl(fd, RDMA_UCMX_LEAVE_MCAST, &cmd);
}

int cmd_leave_mcast(int fd, __u32 id, __u32 group)
{
	return cmd_leave_mcast_opt(fd, id, group, 0, 0, 0);
}

int cmd_get_option(int fd, __u32 id, __u32 level, __u32 name, void *value,
		   __u32 *len)
{
	struct rdma_ucmx_get_option cmd = {
		.size = sizeof(cmd),
		.id = id,
		.level = level,
		.optname = name,
		.optval = (uintptr_t)value,
		.optlen = *len,
	};
	int ret = ioctl(fd, RDMA_UCMX_GET_OPTION, &cmd);

	if (!ret)
		*len = cmd.out_optlen;
	return ret;
}
