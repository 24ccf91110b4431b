// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Multicast groups of an id: an event of a group is one of its id, too, and
 * both wait for it.
 *
 * A group is named by a number, and that number, never a pointer, is what
 * rdma_cm hands back in its callback: the group may have been left by then.  It
 * is protected by the lock of the id's owner, and goes along when the id is
 * migrated.
 *
 * It has room for two events: the one that says how joining went, and one that
 * may come unasked when the group is lost.  When one is read the room is made
 * anew, as with an id's.  An event that has left the room holds a reference.
 *
 * A thousand groups of each of a user's ids would be more than a machine has memory
 * for, here and in rdma_cm: so a group counts for its user as an event does.
 */
#include <linux/slab.h>

#include "channel.h"
#include "group.h"
#include "id.h"
#include "limit.h"

static atomic_t ucmx_last_group = ATOMIC_INIT(0);

/**
 * ucmx_group_alloc - allocate a group, with room for its events
 * @addr: its address
 * @cookie: its cookie
 * @capacity: bytes of its events' records
 *
 * Return: the group with one reference, or NULL.
 */
struct ucmx_group *ucmx_group_alloc(const struct rdma_ucmx_addr *addr,
				    u64 cookie, size_t capacity)
{
	struct ucmx_group *group = kzalloc(sizeof(*group), GFP_KERNEL_ACCOUNT);
	struct ucmx_event *event;
	int i;

	if (!group)
		return NULL;
	INIT_LIST_HEAD(&group->of_id);
	INIT_LIST_HEAD(&group->room);
	/* In a circle, without 0. */
	do {
		group->number = atomic_inc_return(&ucmx_last_group);
	} while (!group->number);
	group->addr = *addr;
	group->cookie = cookie;
	refcount_set(&group->ref, 1);
	for (i = 0; i < 2; i++) {
		event = ucmx_event_alloc(UCMX_ROOM_GROUP, capacity,
					 GFP_KERNEL_ACCOUNT);
		if (!event) {
			ucmx_group_put(group);
			return NULL;
		}
		list_add_tail(&event->of_id, &group->room);
	}
	return group;
}

/**
 * ucmx_group_put - drop a reference
 * @group: the group
 */
void ucmx_group_put(struct ucmx_group *group)
{
	if (!refcount_dec_and_test(&group->ref))
		return;
	ucmx_events_free(&group->room);
	if (group->payer)
		ucmx_user_uncharge_event(group->payer);
	kfree(group);
}

/**
 * ucmx_groups_free - the id is gone, and with it its groups
 * @groups: its list of groups
 */
void ucmx_groups_free(struct list_head *groups)
{
	struct ucmx_group *group, *next;

	list_for_each_entry_safe(group, next, groups, of_id) {
		list_del_init(&group->of_id);
		ucmx_group_put(group);
	}
}

static struct ucmx_group *ucmx_group_find(struct ucmx_id *id, u32 number)
{
	struct ucmx_group *group;

	list_for_each_entry(group, &id->groups, of_id) {
		if (group->number == number)
			return group;
	}
	return NULL;
}

static bool ucmx_group_joined(struct ucmx_id *id,
			      const struct rdma_ucmx_addr *addr)
{
	struct ucmx_group *group;

	list_for_each_entry(group, &id->groups, of_id) {
		if (!group->left && !memcmp(&group->addr, addr, sizeof(*addr)))
			return true;
	}
	return false;
}

static struct ucmx_event *ucmx_group_held(struct ucmx_id *id,
					  const struct ucmx_group *group,
					  const struct ucmx_wait *wait)
{
	struct ucmx_event *held;

	held = ucmx_event_find_outstanding(id, wait->held_seq);
	return held && held->group == group ? held : NULL;
}

/* Outstanding events of a group besides the one that the caller holds. */
static u32 ucmx_group_unheld(struct ucmx_id *id, const struct ucmx_group *group,
			     const struct ucmx_wait *wait)
{
	struct ucmx_event *held = NULL;

	if (wait->held_seq)
		held = ucmx_group_held(id, group, wait);
	return group->n_outstanding - (held && !held->copying);
}

/**
 * ucmx_group_add - give an id a group; from now on its events are delivered
 * @id: the id
 * @group: the group, whose reference is the id's from now on if that succeeds
 *
 * Return: 0, -ENOENT if the id is dying, -EADDRINUSE if it has joined a group
 * of that address: rdma_cm could not tell them apart; -ENOSPC if it has too
 * many, or its user.
 */
int ucmx_group_add(struct ucmx_id *id, struct ucmx_group *group)
{
	struct ucmx_channel *channel = ucmx_id_lock(id);
	int err = 0;

	if (id->dying)
		err = -ENOENT;
	else if (ucmx_group_joined(id, &group->addr))
		err = -EADDRINUSE;
	else if (id->n_groups >= READ_ONCE(ucmx_max_groups) ||
		 ucmx_channel_has_events(channel))
		err = -ENOSPC;

	if (!err) {
		list_add_tail(&group->of_id, &id->groups);
		id->n_groups++;
		group->payer = ucmx_channel_charge_event(channel);
	}
	spin_unlock(&channel->lock);
	return err;
}

/* A group that was left and has nothing outstanding needs no name any more. */
static void ucmx_group_finish(struct ucmx_id *id, struct ucmx_group *group)
{
	if (!group->left || group->n_outstanding || list_empty(&group->of_id))
		return;
	list_del_init(&group->of_id);
	id->n_groups--;
	ucmx_group_put(group);
}

/* Drop what is pending of a group. */
static void ucmx_group_drop_pending(struct ucmx_id *id,
				    struct ucmx_channel *channel,
				    struct ucmx_group *group,
				    struct list_head *dropped)
{
	struct ucmx_event *event, *next;

	lockdep_assert_held(&channel->lock);
	list_for_each_entry_safe(event, next, &id->pending, of_id) {
		if (event->group != group)
			continue;
		ucmx_channel_unqueue(channel, event);
		list_move_tail(&event->of_id, dropped);
		id->n_pending--;
	}
}

/**
 * ucmx_group_remove - undo ucmx_group_add() for a join that failed
 * @id: the id
 * @group: the group
 */
void ucmx_group_remove(struct ucmx_id *id, struct ucmx_group *group)
{
	struct ucmx_channel *channel = ucmx_id_lock(id);
	LIST_HEAD(dropped);

	group->left = true;
	ucmx_group_drop_pending(id, channel, group, &dropped);
	ucmx_group_finish(id, group);
	spin_unlock(&channel->lock);
	ucmx_events_free(&dropped);
}

/**
 * ucmx_group_take_room - take the room for an event of a group
 * @id: the id
 * @number: the group's number
 *
 * Return: the event, the caller's; NULL if the group was left or one like it is
 * pending, with which it merges.
 */
struct ucmx_event *ucmx_group_take_room(struct ucmx_id *id, u32 number)
{
	struct ucmx_channel *channel = ucmx_id_lock(id);
	struct ucmx_group *group = ucmx_group_find(id, number);
	struct ucmx_event *event = NULL;

	if (group && !group->left)
		event = list_first_entry_or_null(&group->room,
						 struct ucmx_event, of_id);
	if (event) {
		list_del_init(&event->of_id);
		event->group = group;
		refcount_inc(&group->ref);
	}
	spin_unlock(&channel->lock);
	return event;
}

/**
 * ucmx_group_leave - a group is being left: drop what is pending of it
 * @id: the id
 * @number: the group's number
 * @wait: how the call is going to wait
 * @group: gets the group, with a reference
 *
 * Return: 1 if it is left only now, and rdma_cm has to be told; 0 if it was
 * left before and is only waited for; -ENOENT, -EINVAL (no such event is held)
 * or -EAGAIN, and then nothing happened.
 */
int ucmx_group_leave(struct ucmx_id *id, u32 number,
		     const struct ucmx_wait *wait, struct ucmx_group **group)
{
	struct ucmx_channel *channel = ucmx_id_lock(id);
	struct ucmx_group *found = ucmx_group_find(id, number);
	LIST_HEAD(dropped);
	int ret;

	if (!found)
		ret = -ENOENT;
	else if (wait->held_seq && !ucmx_group_held(id, found, wait))
		ret = -EINVAL;
	else if (wait->nonblock && ucmx_group_unheld(id, found, wait))
		ret = -EAGAIN;
	else
		ret = !found->left;
	if (ret >= 0) {
		*group = found;
		refcount_inc(&found->ref);
		found->left = true;
		ucmx_group_drop_pending(id, channel, found, &dropped);
		ucmx_group_finish(id, found);
	}
	spin_unlock(&channel->lock);
	ucmx_events_free(&dropped);
	return ret;
}

/* What a wait is for, behind the struct ucmx_wait that says how. */
struct ucmx_group_wait {
	struct ucmx_wait wait;
	struct ucmx_group *group;
};

static bool ucmx_group_is_drained(struct ucmx_id *id,
				  const struct ucmx_wait *wait)
{
	struct ucmx_group *group =
		container_of(wait, struct ucmx_group_wait, wait)->group;

	return !ucmx_group_unheld(id, group, wait);
}

/**
 * ucmx_group_wait - wait for a group's unacknowledged events
 * @id: the id
 * @group: the group, which was left
 * @wait: how to wait
 *
 * Return: 0, -EAGAIN, -ETIMEDOUT or -ERESTARTSYS.
 */
int ucmx_group_wait(struct ucmx_id *id, struct ucmx_group *group,
		    const struct ucmx_wait *wait)
{
	struct ucmx_group_wait for_group = { .wait = *wait, .group = group };
	struct ucmx_channel *channel;
	struct ucmx_event *held;
	int err;

	err = ucmx_id_wait(id, &for_group.wait, ucmx_group_is_drained);
	if (err || !wait->held_seq)
		return err;
	channel = ucmx_id_lock(id);
	held = ucmx_group_held(id, group, wait);
	if (held)
		ucmx_event_settle(channel, held);
	spin_unlock(&channel->lock);
	return 0;
}

/**
 * ucmx_group_was_left - whether an event comes too late for its group
 * @event: the event; its owner's lock is held
 *
 * Return: true if it can only be dropped.
 */
bool ucmx_group_was_left(const struct ucmx_event *event)
{
	return event->group && event->group->left;
}

/**
 * ucmx_group_settled - an event, perhaps a group's, is outstanding no more
 * @event: was outstanding; its owner's lock is held
 */
void ucmx_group_settled(struct ucmx_event *event)
{
	if (!event->group)
		return;
	event->group->n_outstanding--;
	ucmx_group_finish(event->id, event->group);
}
