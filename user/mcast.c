// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Multicast groups of ids: from when they were joined (join.c) until they are left.
 *
 * A group has a number among those of its id: events name it by that, as the
 * cookie that the kernel hands back, so that one of a group that was left means
 * nothing.  It is in the id's list from before the kernel hears of it, since
 * the event may be read before the call returns, until it has been left.
 *
 * id->lock protects the list and what is in it; attaching and detaching the
 * queue pair happen under id->qp_lock besides, so that they do not overtake
 * each other.
 */
#include <stdlib.h>
#include <string.h>

#include "mcast.h"

/**
 * cmx_group_add - put a group into an id's list
 * @id: the id
 * @group: the group, which gets its number
 */
void cmx_group_add(struct cmx_id *id, struct cmx_group *group)
{
	pthread_mutex_lock(&id->lock);
	group->number = ++id->last_group;
	group->next = id->groups;
	id->groups = group;
	pthread_mutex_unlock(&id->lock);
}

/**
 * cmx_group_remove - take a group off an id's list, and free it
 * @id: the id
 * @group: the group
 */
void cmx_group_remove(struct cmx_id *id, struct cmx_group *group)
{
	struct cmx_group **link = &id->groups;

	pthread_mutex_lock(&id->lock);
	while (*link != group)
		link = &(*link)->next;
	*link = group->next;
	pthread_mutex_unlock(&id->lock);
	free(group);
}

/**
 * cmx_group_find - find a group by its number
 * @id: the id, with its lock held
 * @number: the number
 */
struct cmx_group *cmx_group_find(struct cmx_id *id, uint64_t number)
{
	struct cmx_group *group = id->groups;

	while (group && group->number != number)
		group = group->next;
	return group;
}

/**
 * cmx_groups_free - free what is left of an id's groups
 * @group: the first
 */
void cmx_groups_free(struct cmx_group *group)
{
	struct cmx_group *next;

	for (; group; group = next) {
		next = group->next;
		free(group);
	}
}

/**
 * cmx_group_context - put the user's context into an event
 * @event: the event of a group
 * @handle: the kernel's number of the group, which the joining thread may not
 *          have noted yet
 */
void cmx_group_context(struct cmx_event *event, uint32_t handle)
{
	struct cmx_id *id = event->id;
	struct cmx_group *group;

	pthread_mutex_lock(&id->lock);
	group = cmx_group_find(id, event->group);
	/* Whose id this was has numbered a group like that, too. */
	if (group && group->handle && group->handle != handle) {
		group = NULL;
		event->group = 0;
	}
	if (group)
		group->handle = handle;
	event->event.param.ud.private_data = group ? group->context : NULL;
	pthread_mutex_unlock(&id->lock);
}

/**
 * cmx_group_lost - note that a group is to be joined again if it is wanted
 * @event: the event that says so
 */
void cmx_group_lost(const struct cmx_event *event)
{
	struct cmx_group *group;

	pthread_mutex_lock(&event->id->lock);
	group = cmx_group_find(event->id, event->group);
	if (group)
		group->lost = true;
	pthread_mutex_unlock(&event->id->lock);
}

/* Called with the queue pair's lock held. */
static int attach(struct cmx_event *event)
{
	const struct ibv_ah_attr *ah = &event->event.param.ud.ah_attr;
	struct cmx_id *id = event->id;
	struct cmx_group *group;
	int ret = 0;

	pthread_mutex_lock(&id->lock);
	group = cmx_group_find(id, event->group);
	if (group && !group->leaving) {
		group->mgid = ah->grh.dgid;
		group->mlid = ah->dlid;
		if (id->id.qp && !group->send_only) {
			ret = ibv_attach_mcast(id->id.qp, &group->mgid,
					       group->mlid);
			group->attached = !ret;
		}
	}
	pthread_mutex_unlock(&id->lock);
	return ret > 0 ? cmx_error(ret) : ret;
}

/**
 * cmx_group_joined - have an id's queue pair receive from a group
 * @event: the event that says that the group was joined
 */
int cmx_group_joined(struct cmx_event *event)
{
	int state = cmx_qp_lock(event->id);
	int ret = attach(event);

	cmx_qp_unlock(event->id, state);
	return ret;
}

/*
 * The group to leave: one that is joined, else one that was left with events
 * unacknowledged, of which the waiting is gone on with.  Called with id->lock
 * held.
 */
static struct cmx_group *group_to_leave(struct cmx_id *id,
					const struct rdma_ucmx_addr *address)
{
	struct cmx_group *group, *left = NULL;

	for (group = id->groups; group; group = group->next) {
		if (group->busy || !group->handle ||
		    memcmp(&group->address, address, sizeof(*address)))
			continue;
		if (!group->leaving)
			return group;
		left = group;
	}
	return left;
}

static bool is_lost(const struct cmx_group *group)
{
	return group->lost && !group->leaving;
}

/*
 * Find the group and let nobody else leave it.  Called with the queue pair's
 * lock held.  @lost: it is only to be left if it was lost.
 */
static struct cmx_group *leave_begin(struct cmx_id *id,
				     const struct rdma_ucmx_addr *address,
				     bool lost)
{
	struct cmx_group *group;

	pthread_mutex_lock(&id->lock);
	group = group_to_leave(id, address);
	if (group && lost && !is_lost(group))
		group = NULL;
	if (group)
		group->busy = true;
	pthread_mutex_unlock(&id->lock);
	if (!group)
		errno = EADDRNOTAVAIL;
	return group;
}

/* Called with id->lock and the queue pair's lock held. */
static void detach_qp(struct cmx_id *id, struct cmx_group *group)
{
	if (group->attached && id->id.qp)
		ibv_detach_mcast(id->id.qp, &group->mgid, group->mlid);
	group->attached = false;
}

/**
 * cmx_groups_detach - have an id's queue pair receive from no group any more
 * @id: the id; the caller holds the queue pair's lock
 *
 * A queue pair cannot be destroyed before that.  The groups are not left.
 */
void cmx_groups_detach(struct cmx_id *id)
{
	struct cmx_group *group;

	pthread_mutex_lock(&id->lock);
	for (group = id->groups; group; group = group->next)
		detach_qp(id, group);
	pthread_mutex_unlock(&id->lock);
}

/* Receive nothing from it any more.  Called with the queue pair's lock held. */
static void detach(struct cmx_id *id, struct cmx_group *group)
{
	pthread_mutex_lock(&id->lock);
	group->leaving = true;
	detach_qp(id, group);
	pthread_mutex_unlock(&id->lock);
}

/*
 * No event of the group will come any more, for which a synchronous call of another
 * thread may wait: it is told by one that deliver.c makes MULTICAST_ERROR of.
 */
static void turn_joiner_away(struct cmx_id *id, struct cmx_group *group)
{
	bool awaited;

	pthread_mutex_lock(&id->lock);
	awaited = group->awaited;
	group->awaited = false;
	pthread_mutex_unlock(&id->lock);
	if (awaited)
		cmx_write_event(id, RDMA_UCMX_EVENT_TYPE_INTERNAL, -ECANCELED,
				group->number);
}

/* What was interrupted, or took too long, can be gone on with. */
static void leave_end(struct cmx_id *id, struct cmx_group *group, int ret)
{
	int saved = errno;

	if (!ret || errno != EAGAIN)
		turn_joiner_away(id, group);
	errno = saved;
	if (ret && (errno == EINTR || errno == ETIMEDOUT || errno == EAGAIN)) {
		pthread_mutex_lock(&id->lock);
		group->busy = false;
		pthread_mutex_unlock(&id->lock);
	} else {
		cmx_group_remove(id, group);
	}
	errno = saved;
}

/* The last acknowledgement after the group was left frees it, too. */
static int send_leave(struct cmx_id *id, struct cmx_group *group,
		      struct rdma_ucmx_leave_mcast *command)
{
	int ret;

	command->id = atomic_load(&id->handle);
	command->group = group->handle;
	ret = cmx_id_command(id, RDMA_UCMX_LEAVE_MCAST, command);
	if (ret && errno == ENOENT && group->left)
		return 0;
	if (ret && (errno == EINTR || errno == ETIMEDOUT))
		group->left = true;
	return ret;
}

/*
 * As long as it is not known whether the group will be left, its event must
 * not be delivered with the queue pair attached or not: the lock is held.
 */
static int leave_now(struct cmx_id *id, const struct rdma_ucmx_addr *address,
		     struct rdma_ucmx_leave_mcast *command)
{
	int state = cmx_qp_lock(id);
	struct cmx_group *group = leave_begin(id, address, false);
	int ret = -1;

	if (group) {
		ret = send_leave(id, group, command);
		if (!ret)
			detach(id, group);
		leave_end(id, group, ret);
	}
	cmx_qp_unlock(id, state);
	return ret;
}

/* @stubborn: no signal ends it. */
static int leave_waiting(struct cmx_id *id,
			 const struct rdma_ucmx_addr *address,
			 struct rdma_ucmx_leave_mcast *command, bool stubborn)
{
	int state = cmx_qp_lock(id);
	struct cmx_group *group = leave_begin(id, address, false);
	int ret;

	if (group)
		detach(id, group);
	cmx_qp_unlock(id, state);
	if (!group)
		return -1;
	do
		ret = send_leave(id, group, command);
	while (ret && errno == EINTR && stubborn);
	leave_end(id, group, ret);
	return ret;
}

static int leave(struct cmx_id *id, const struct sockaddr *addr,
		 struct rdma_ucmx_leave_mcast *command, bool stubborn)
{
	struct rdma_ucmx_addr address = { 0 };
	int ret;

	if (cmx_addr_put(addr, &address))
		return -1;
	cmx_id_get(id);
	ret = command->flags & RDMA_UCMX_NONBLOCK ?
		      leave_now(id, &address, command) :
		      leave_waiting(id, &address, command, stubborn);
	cmx_id_put(id);
	return ret;
}

/* See <rdma/rdma_cmx.h>. */
CMX_EXPORT int rdmax_leave_multicast(struct rdma_cm_id *id,
				     struct sockaddr *addr, int flags,
				     const struct timespec *deadline)
{
	struct rdma_ucmx_leave_mcast command = {
		.size = sizeof(command),
		.flags = flags & RDMAX_NONBLOCK ? RDMA_UCMX_NONBLOCK : 0,
	};

	if (flags & ~RDMAX_NONBLOCK)
		return cmx_error(EOPNOTSUPP);
	if (!id || !cmx_is_time(deadline))
		return cmx_error(EINVAL);
	if (!cmx_table_has(cmx_id_of(id)))
		return cmx_error(EXDEV);
	command.deadline = cmx_deadline(deadline);
	return leave(cmx_id_of(id), addr, &command, false);
}

/**
 * rdma_leave_multicast - leave a multicast group
 * @id: the id
 * @addr: address of the group
 *
 * As rdma_leave_multicast(3): waits until every event of the group that was
 * read is acknowledged, however long, and whatever signals come.  Its events
 * that were not read are dropped.
 *
 * errno: EINVAL (no address, family unknown), EADDRNOTAVAIL (it has not joined
 * it).
 */
CMX_EXPORT int rdma_leave_multicast(struct rdma_cm_id *id,
				    struct sockaddr *addr)
{
	struct rdma_ucmx_leave_mcast command = { .size = sizeof(command) };

	return leave(cmx_id_of(id), addr, &command, true);
}

/**
 * cmx_group_leave_lost - leave a group that is to be joined again
 * @id: the id
 * @address: address of the group, which may be joined or not
 *
 * One that was lost is still the id's, and an address is joined once.  The event
 * that told of it may be unacknowledged, which nobody waits for.
 */
void cmx_group_leave_lost(struct cmx_id *id, const struct rdma_ucmx_addr *address)
{
	struct rdma_ucmx_leave_mcast command = {
		.size = sizeof(command),
		.deadline = 1,
	};
	int state = cmx_qp_lock(id);
	struct cmx_group *group = leave_begin(id, address, true);

	if (group)
		detach(id, group);
	cmx_qp_unlock(id, state);
	if (!group)
		return;
	while (send_leave(id, group, &command) && errno == EINTR)
		;
	cmx_group_remove(id, group);
}
