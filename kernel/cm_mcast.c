// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Commands: joining and leaving multicast groups.
 *
 * rdma_cm leaves by address, so an id joins an address once at a time.  Both
 * commands hold the id's command mutex while they talk to rdma_cm, so that it
 * and our list of groups agree.
 */
#include <rdma/ib_addr.h>

#include "clock.h"
#include "cm.h"
#include "group.h"
#include "ioctl.h"

static int ucmx_join_state(u32 join_state)
{
	switch (join_state) {
	case RDMA_UCMX_JOIN_FULL_MEMBER:
		return BIT(FULLMEMBER_JOIN);
	case RDMA_UCMX_JOIN_SEND_ONLY_FULL_MEMBER:
		return BIT(SENDONLY_FULLMEMBER_JOIN);
	default:
		return -EINVAL;
	}
}

/*
 * The group is the id's before rdma_cm hears of it, since the event may come
 * before the call returns.
 */
static int ucmx_join(struct ucmx_cm *cm, struct ucmx_group *group,
		     struct sockaddr_storage *addr, int join_state)
{
	int err = ucmx_group_add(&cm->id, group);

	if (err) {
		ucmx_group_put(group);
		return err;
	}
	cm->talks = true;
	err = rdma_join_multicast(cm->cm_id, (struct sockaddr *)addr, join_state,
				  (void *)(unsigned long)group->number);
	if (err)
		ucmx_group_remove(&cm->id, group);
	return err;
}

/**
 * ucmx_cmd_join_mcast - join a multicast group
 * @cmd: struct rdma_ucmx_join_mcast
 *
 * The group's number does not depend on the id, so it is answered before
 * anything is done.
 *
 * Return: 0 or an error, see the uAPI header.
 */
int ucmx_cmd_join_mcast(struct ucmx_cmd *cmd)
{
	struct rdma_ucmx_join_mcast *arg = cmd->arg;
	struct sockaddr_storage addr;
	struct ucmx_group *group;
	struct ucmx_cm *cm;
	int join_state, err;

	join_state = ucmx_join_state(arg->join_state);
	if (join_state < 0)
		return join_state;
	err = ucmx_get_addr(&addr, &arg->addr, false);
	if (err)
		return err;
	group = ucmx_cm_group(&arg->addr, arg->cookie);
	if (!group)
		return -ENOMEM;
	arg->out_group = group->number;
	err = ucmx_respond(cmd);
	if (err)
		goto put;
	cm = ucmx_cm_begin_device(cmd->channel, arg->id);
	if (IS_ERR(cm)) {
		err = PTR_ERR(cm);
		goto put;
	}
	err = ucmx_join(cm, group, &addr, join_state);
	ucmx_cm_end(cm);
	return err;

put:
	ucmx_group_put(group);
	return err;
}

/* Begin to leave; the id and the group are the caller's to wait with. */
static int ucmx_leave(struct ucmx_cmd *cmd, const struct ucmx_wait *wait,
		      struct ucmx_id **id, struct ucmx_group **group)
{
	struct rdma_ucmx_leave_mcast *arg = cmd->arg;
	struct sockaddr_storage addr;
	struct ucmx_cm *cm;
	int ret;

	cm = ucmx_cm_begin(cmd->channel, arg->id);
	if (IS_ERR(cm))
		return PTR_ERR(cm);
	ret = ucmx_group_leave(&cm->id, arg->group, wait, group);
	if (ret > 0) {
		ucmx_get_addr(&addr, &(*group)->addr, false);
		rdma_leave_multicast(cm->cm_id, (struct sockaddr *)&addr);
	}
	if (ret >= 0) {
		*id = &cm->id;
		refcount_inc(&cm->id.ref);
	}
	ucmx_cm_end(cm);
	return ret;
}

/**
 * ucmx_cmd_leave_mcast - leave a multicast group, or go on waiting for its end
 * @cmd: struct rdma_ucmx_leave_mcast
 *
 * Return: 0 or an error, see the uAPI header.
 */
int ucmx_cmd_leave_mcast(struct ucmx_cmd *cmd)
{
	struct rdma_ucmx_leave_mcast *arg = cmd->arg;
	struct ucmx_wait wait = {
		.nonblock = arg->flags & RDMA_UCMX_NONBLOCK,
		.deadline = ucmx_clock_deadline(arg->deadline),
		.held_seq = arg->held_seq,
	};
	struct ucmx_group *group;
	struct ucmx_id *id;
	int err;

	if (arg->flags & ~RDMA_UCMX_NONBLOCK)
		return -EOPNOTSUPP;
	err = ucmx_leave(cmd, &wait, &id, &group);
	if (err < 0)
		return err;
	err = ucmx_group_wait(id, group, &wait);
	ucmx_group_put(group);
	ucmx_id_put(id);
	return err;
}
