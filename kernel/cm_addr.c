// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Commands: creating and destroying ids, addresses and routes.
 */
#include <rdma/ib_addr.h>

#include "clock.h"
#include "cm.h"
#include "compat.h"
#include "ioctl.h"
#include "limit.h"

/* The type of queue pair that a port space calls for. */
static int ucmx_qp_type(const struct rdma_ucmx_create_id *arg)
{
	switch (arg->port_space) {
	case RDMA_PS_TCP:
		return IB_QPT_RC;
	case RDMA_PS_UDP:
	case RDMA_PS_IPOIB:
		return IB_QPT_UD;
	case RDMA_PS_IB:
		return arg->qp_type;
	default:
		return -EINVAL;
	}
}

/**
 * ucmx_cmd_create_id - create an id
 * @cmd: struct rdma_ucmx_create_id
 *
 * The answer is copied out before the id can be seen, so that failing leaves
 * nothing.
 *
 * Return: 0 or an error, see the uAPI header.
 */
int ucmx_cmd_create_id(struct ucmx_cmd *cmd)
{
	struct rdma_ucmx_create_id *arg = cmd->arg;
	struct ucmx_cm *cm;
	int qp_type, err;

	if (arg->flags)
		return -EOPNOTSUPP;
	if (arg->reserved)
		return -EINVAL;
	qp_type = ucmx_qp_type(arg);
	if (qp_type < 0)
		return qp_type;
	if (!ucmx_channel_charge(cmd->channel))
		return -ENOSPC;
	cm = ucmx_cm_create(arg->port_space, qp_type);
	if (IS_ERR(cm)) {
		err = PTR_ERR(cm);
		goto uncharge;
	}
	arg->out_id = cm->id.handle;
	err = ucmx_respond(cmd);
	if (err)
		goto abort;
	ucmx_id_publish(&cm->id, cmd->channel, arg->cookie);
	return 0;

abort:
	ucmx_cm_abort(cm);
uncharge:
	ucmx_channel_uncharge(cmd->channel);
	return err;
}

/**
 * ucmx_cmd_destroy_id - destroy an id
 * @cmd: struct rdma_ucmx_destroy_id
 *
 * Return: 0 or an error, see the uAPI header.
 */
int ucmx_cmd_destroy_id(struct ucmx_cmd *cmd)
{
	struct rdma_ucmx_destroy_id *arg = cmd->arg;
	struct ucmx_wait wait = {
		.nonblock = arg->flags & RDMA_UCMX_NONBLOCK,
		.deadline = ucmx_clock_deadline(arg->deadline),
		.held_seq = arg->held_seq,
	};

	if (arg->flags & ~RDMA_UCMX_NONBLOCK)
		return -EOPNOTSUPP;
	if (arg->reserved)
		return -EINVAL;
	return ucmx_id_destroy(cmd->channel, arg->id, &wait);
}

/**
 * ucmx_get_addr - turn an address of the uAPI into the kernel's
 * @dst: filled in
 * @src: an address of a family that rdma_cm knows, with nothing behind it
 * @may_be_none: whether none, with nothing in it, will do
 *
 * Return: 0 or -EINVAL.
 */
int ucmx_get_addr(struct sockaddr_storage *dst,
		  const struct rdma_ucmx_addr *src, bool may_be_none)
{
	size_t size = 0;

	memcpy(dst, src, sizeof(*src));
	memset((void *)dst + sizeof(*src), 0, sizeof(*dst) - sizeof(*src));
	if (dst->ss_family || !may_be_none) {
		size = rdma_addr_size((struct sockaddr *)dst);
		if (!size)
			return -EINVAL;
	}
	if (memchr_inv((const void *)src + size, 0, sizeof(*src) - size))
		return -EINVAL;
	return 0;
}

/* An id with a device may lose it, or see its address change. */
#define UCMX_DEVICE_ROOMS	(BIT(UCMX_ROOM_DEVICE_REMOVAL) | \
				 BIT(UCMX_ROOM_ADDR_CHANGE))

/**
 * ucmx_cmd_bind_addr - bind an id to a local address
 * @cmd: struct rdma_ucmx_bind_addr
 *
 * Return: 0 or an error, see the uAPI header.
 */
int ucmx_cmd_bind_addr(struct ucmx_cmd *cmd)
{
	struct rdma_ucmx_bind_addr *arg = cmd->arg;
	struct sockaddr_storage addr;
	struct ucmx_cm *cm;
	int err;

	err = ucmx_get_addr(&addr, &arg->addr, false);
	if (err)
		return err;
	cm = ucmx_cm_begin(cmd->channel, arg->id);
	if (IS_ERR(cm))
		return PTR_ERR(cm);
	err = ucmx_cm_make_rooms(cm, UCMX_DEVICE_ROOMS);
	if (!err)
		err = rdma_bind_addr(cm->cm_id, (struct sockaddr *)&addr);
	ucmx_cm_end(cm);
	return err;
}

/**
 * ucmx_cmd_resolve_addr - resolve an address
 * @cmd: struct rdma_ucmx_resolve_addr
 *
 * Return: 0 or an error, see the uAPI header.
 */
int ucmx_cmd_resolve_addr(struct ucmx_cmd *cmd)
{
	struct rdma_ucmx_resolve_addr *arg = cmd->arg;
	struct sockaddr_storage src __uninitialized, dst __uninitialized;
	struct ucmx_cm *cm;
	int err;

	if (arg->reserved)
		return -EINVAL;
	err = ucmx_get_addr(&src, &arg->src_addr, true);
	if (!err)
		err = ucmx_get_addr(&dst, &arg->dst_addr, false);
	if (err)
		return err;
	cm = ucmx_cm_begin(cmd->channel, arg->id);
	if (IS_ERR(cm))
		return PTR_ERR(cm);
	err = ucmx_cm_make_rooms(cm, UCMX_DEVICE_ROOMS | BIT(UCMX_ROOM_ADDR));
	if (err)
		goto end;
	cm->resolves = true;
	err = rdma_resolve_addr(cm->cm_id,
				src.ss_family ? (struct sockaddr *)&src : NULL,
				(struct sockaddr *)&dst, arg->timeout_ms);
	if (err)
		ucmx_room_drop(&cm->id, UCMX_ROOM_ADDR);
end:
	ucmx_cm_end(cm);
	return err;
}

/**
 * ucmx_cmd_resolve_route - resolve a route
 * @cmd: struct rdma_ucmx_resolve_route
 *
 * From here on rdma_cm watches the neighbour and may find it unreachable.
 *
 * Return: 0 or an error, see the uAPI header.
 */
int ucmx_cmd_resolve_route(struct ucmx_cmd *cmd)
{
	struct rdma_ucmx_resolve_route *arg = cmd->arg;
	struct ucmx_cm *cm;
	int err;

	if (arg->reserved)
		return -EINVAL;
	cm = ucmx_cm_begin_device(cmd->channel, arg->id);
	if (IS_ERR(cm))
		return PTR_ERR(cm);
	err = ucmx_cm_make_rooms(cm, BIT(UCMX_ROOM_UNREACHABLE) |
				     BIT(UCMX_ROOM_ROUTE));
	if (err)
		goto end;
	cm->talks = true;
	err = rdma_resolve_route(cm->cm_id, arg->timeout_ms);
	if (err)
		ucmx_room_drop(&cm->id, UCMX_ROOM_ROUTE);
end:
	ucmx_cm_end(cm);
	return err;
}

/**
 * ucmx_cmd_resolve_ib_service - ask who has a service
 * @cmd: struct rdma_ucmx_resolve_ib_service
 *
 * Return: 0 or an error, see the uAPI header.
 */
int ucmx_cmd_resolve_ib_service(struct ucmx_cmd *cmd)
{
	struct rdma_ucmx_resolve_ib_service *arg = cmd->arg;
	struct ucmx_cm *cm;
	int err;

	if (arg->flags & ~(RDMA_UCMX_SERVICE_ID | RDMA_UCMX_SERVICE_NAME))
		return -EOPNOTSUPP;
	if (arg->reserved || !arg->flags ||
	    strnlen(arg->name, sizeof(arg->name)) == sizeof(arg->name))
		return -EINVAL;
	cm = ucmx_cm_begin_device(cmd->channel, arg->id);
	if (IS_ERR(cm))
		return PTR_ERR(cm);
	err = ucmx_cm_make_rooms(cm, BIT(UCMX_ROOM_ADDRINFO));
	if (err)
		goto end;
	cm->talks = true;
	err = ucmx_resolve_ib_service(cm->cm_id, arg);
	if (err)
		ucmx_room_drop(&cm->id, UCMX_ROOM_ADDRINFO);
end:
	ucmx_cm_end(cm);
	return err;
}
