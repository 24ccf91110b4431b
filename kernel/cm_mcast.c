// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Commands: joining and leaving multicast groups.
 *
 * rdma_cm leaves by address, so an id joins an address once at a time.  Both
 * commands hold the id's command mutex while they talk to rdma_cm, so that it
 * and our list of groups agree.
 */
#include <rdma/ib_addr.h>

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
 * before the call returns; the answer is copied out before that.
 */
static int ucmx_join(struct ucmx_cmd *cmd, struct ucmx_cm *cm,
		     struct ucmx_group *group, int join_state)
{
	struct rdma_ucmx_join_mcast *arg = cmd->arg;
	struct sockaddr_storage addr;
	int err;

	err = ucmx_get_addr(&addr, &arg->addr, false);
	if (!err)
		err = ucmx_group_add(&cm->id, group);
	if (err)
		return err;
	arg->out_group = group->number;
	err = rdma_join_multicast(cm->cm_id, (struct sockaddr *)&addr,
				  join_state,
				  (void *)(unsigned long)group->number);
	if (err)
		ucmx_group_remove(&cm->id, group);
	return err;
}
