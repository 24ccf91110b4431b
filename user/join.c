// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Joining multicast groups; what becomes of them is in mcast.c.
 *
 * A synchronous call waits for the group's event.  That does not come if another
 * thread leaves the group meanwhile; so the group says that it is awaited.
 */
#include <stdlib.h>

#include "mcast.h"

/* Its event may have been read, and the group left, before this returns. */
static int send_join(struct cmx_id *id, struct cmx_group *group)
{
	const uint64_t number = group->number;
	struct rdma_ucmx_join_mcast command = {
		.size = sizeof(command),
		.id = atomic_load(&id->handle),
		.join_state = group->send_only ?
				      RDMA_UCMX_JOIN_SEND_ONLY_FULL_MEMBER :
				      RDMA_UCMX_JOIN_FULL_MEMBER,
		.cookie = number,
		.addr = group->address,
	};

	if (cmx_id_command(id, RDMA_UCMX_JOIN_MCAST, &command) < 0)
		return -1;
	pthread_mutex_lock(&id->lock);
	group = cmx_group_find(id, number);
	if (group)
		group->handle = command.out_group;
	pthread_mutex_unlock(&id->lock);
	return 0;
}

/* Whoever leaves the group from now on need not tell. */
static void no_longer_awaited(struct cmx_id *id, uint64_t number)
{
	struct cmx_group *group;

	pthread_mutex_lock(&id->lock);
	group = cmx_group_find(id, number);
	if (group)
		group->awaited = false;
	pthread_mutex_unlock(&id->lock);
}

static int wait_for_event(struct cmx_id *id, struct cmx_channel *channel,
			  uint64_t number)
{
	int ret, saved;

	if (!channel)
		return 0;
	ret = cmx_sync_wait(id, channel, CMX_JOIN, number);
	saved = errno;
	no_longer_awaited(id, number);
	errno = saved;
	return ret;
}

static int join(struct cmx_id *id, const struct sockaddr *address,
		bool send_only, void *context)
{
	struct cmx_group *group = calloc(1, sizeof(*group));
	struct cmx_channel *channel;
	uint64_t number;
	int saved;

	if (!group)
		return -1;
	*group = (struct cmx_group){ .context = context, .send_only = send_only };
	if (cmx_addr_put(address, &group->address)) {
		free(group);
		return -1;
	}
	cmx_group_leave_lost(id, &group->address);
	channel = cmx_sync_channel(id);
	group->awaited = channel;
	cmx_group_add(id, group);
	number = group->number;
	if (send_join(id, group)) {
		saved = errno;
		cmx_channel_put(channel);
		cmx_group_remove(id, group);
		return cmx_error(saved);
	}
	return wait_for_event(id, channel, number);
}

/**
 * rdma_join_multicast - join a multicast group
 * @id: an unconnected id that is bound to a device
 * @addr: address of the group
 * @context: the user's, returned as private_data of the group's events
 *
 * As rdma_join_multicast(3).  MULTICAST_JOIN or MULTICAST_ERROR follows, which
 * a synchronous id waits for.  The id's queue pair, if it has one by then, is
 * attached to the group.
 *
 * errno: EINVAL (no address, family unknown, no device), EADDRINUSE (it has
 * joined it already, and has not got MULTICAST_ERROR), and of a synchronous id
 * ECANCELED (another thread left the group meanwhile) and as cmx_sync_wait().
 */
CMX_EXPORT int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr,
				   void *context)
{
	return join(cmx_id_of(id), addr, false, context);
}

/**
 * rdma_join_multicast_ex - join a multicast group, perhaps only to send
 * @id: an unconnected id that is bound to a device
 * @mc_join_attr: address of the group, and flags; both must be there
 * @context: the user's, returned as private_data of the group's events
 *
 * As rdma_join_multicast_ex(3).
 *
 * errno: ENOTSUP (unknown bit in the mask), EINVAL (address or flags missing,
 * unknown flag), and as rdma_join_multicast().
 */
CMX_EXPORT int
rdma_join_multicast_ex(struct rdma_cm_id *id,
		       struct rdma_cm_join_mc_attr_ex *mc_join_attr,
		       void *context)
{
	const uint32_t wanted = RDMA_CM_JOIN_MC_ATTR_ADDRESS |
				RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;

	if (mc_join_attr->comp_mask >= RDMA_CM_JOIN_MC_ATTR_RESERVED)
		return cmx_error(ENOTSUP);
	if (mc_join_attr->comp_mask != wanted ||
	    mc_join_attr->join_flags >= RDMA_MC_JOIN_FLAG_RESERVED)
		return cmx_error(EINVAL);
	return join(cmx_id_of(id), mc_join_attr->addr,
		    mc_join_attr->join_flags ==
			    RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER,
		    context);
}
