// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * An id's life: being claimed, losing its device, dying, and waiting for its
 * acknowledgements.
 *
 * For what "dying", "ended", "released" and "drained" mean see id.c, for the
 * locks channel.c.
 */
#include <linux/hrtimer.h>
#include <linux/sched/signal.h>

#include "channel.h"
#include "id.h"
#include "limit.h"
#include "trace.h"

/*
 * Delivering: which of an id's pending events are in its channel's queue
 */

/**
 * ucmx_id_hold_back - take an id's events out of the queue
 * @id: the id
 * @channel: its owner; the lock is held
 */
void ucmx_id_hold_back(struct ucmx_id *id, struct ucmx_channel *channel)
{
	struct ucmx_event *event;

	list_for_each_entry(event, &id->pending, of_id)
		ucmx_channel_unqueue(channel, event);
}

/**
 * ucmx_id_let_go - put an id's events, those that may be delivered and are not
 *		    yet, at the tail of the queue
 * @id: the id
 * @channel: its owner; the lock is held
 */
void ucmx_id_let_go(struct ucmx_id *id, struct ucmx_channel *channel)
{
	struct ucmx_event *event;
	unsigned int n = 0;

	list_for_each_entry(event, &id->pending, of_id) {
		if (list_empty(&event->queued) && ucmx_id_delivers(id, event)) {
			ucmx_channel_queue(channel, event);
			n++;
		}
	}
	if (n)
		ucmx_channel_wake(channel, n);
}

/**
 * ucmx_id_set_backlog - from now on requests are accepted
 * @id: the listener
 * @backlog: how many may be unread
 *
 * Return: what it was before.
 */
u32 ucmx_id_set_backlog(struct ucmx_id *id, u32 backlog)
{
	struct ucmx_channel *channel = ucmx_id_lock(id);

	swap(id->backlog, backlog);
	spin_unlock(&channel->lock);
	return backlog;
}

/**
 * ucmx_id_claim - deliver the events of a request's id from now on
 * @id: the id; nothing happens to one that is claimed
 * @cookie: its cookie
 */
void ucmx_id_claim(struct ucmx_id *id, u64 cookie)
{
	struct ucmx_channel *channel = ucmx_id_lock(id);

	if (!id->claimed) {
		id->cookie = cookie;
		id->claimed = true;
		ucmx_id_let_go(id, channel);
	}
	spin_unlock(&channel->lock);
}

/**
 * ucmx_id_adopt - give an id another cookie, and claim it
 * @channel: the channel that the command came in on
 * @id: the id
 * @cookie: its cookie
 *
 * Return: 0, or -ENOENT if the id is dying or has left the channel meanwhile.
 */
int ucmx_id_adopt(struct ucmx_channel *channel, struct ucmx_id *id, u64 cookie)
{
	struct ucmx_channel *owner = ucmx_id_lock(id);
	bool ours = owner == channel && !id->dying;

	if (ours) {
		id->cookie = cookie;
		id->claimed = true;
		ucmx_id_let_go(id, owner);
	}
	spin_unlock(&owner->lock);
	return ours ? 0 : -ENOENT;
}

/*
 * The end
 */

/* Give up what the id stands for, as soon as nobody uses it any more. */
static void ucmx_id_give_up(struct ucmx_id *id, struct ucmx_channel *channel)
{
	if (id->ended)
		return;
	id->ended = true;
	id->payer = ucmx_user_of(channel);
	ucmx_users_put(id);
}

/**
 * ucmx_id_device_gone - the id's device is being removed
 * @id: the id
 *
 * Context: the callback that says so.  Does not wait.
 */
void ucmx_id_device_gone(struct ucmx_id *id)
{
	struct ucmx_channel *channel = ucmx_id_lock(id);

	id->gone = true;
	ucmx_id_give_up(id, channel);
	spin_unlock(&channel->lock);
}

/**
 * ucmx_id_die - end an id, but for its outstanding events
 * @id: the id; nothing happens to one that is dying
 * @channel: its owner; the lock is held, and somebody's reference to @id
 * @events: list that gets its events, to be freed without the lock
 */
void ucmx_id_die(struct ucmx_id *id, struct ucmx_channel *channel,
		 struct list_head *events)
{
	struct ucmx_event *event;

	lockdep_assert_held(&channel->lock);
	if (id->dying)
		return;
	id->dying = true;
	trace_ucmx_id_destroy(channel, id);
	ucmx_id_hold_back(id, channel);
	list_for_each_entry(event, &id->pending, of_id) {
		if (event->child)
			ucmx_id_orphan(event->child, channel, events);
	}
	list_splice_tail_init(&id->pending, events);
	list_splice_tail_init(&id->room, events);
	id->n_pending = 0;
	ucmx_id_give_up(id, channel);
	ucmx_id_drained(id);
}

/*
 * Waiting
 */

/**
 * ucmx_id_unheld - count the outstanding events that a call waits for
 * @id: the id; its owner's lock is held
 * @wait: says which one the caller itself holds
 *
 * Return: how many there are besides that one.  Nobody holds an event that is
 * still being copied.
 */
u32 ucmx_id_unheld(struct ucmx_id *id, const struct ucmx_wait *wait)
{
	struct ucmx_event *held = NULL;

	if (wait->held_seq)
		held = ucmx_event_find_outstanding(id, wait->held_seq);
	return id->n_outstanding - (held && !held->copying);
}

/**
 * ucmx_wait_is_over - whether there is any point in waiting
 * @wait: how to wait
 *
 * Return: 0, or what to fail with: -EAGAIN, -ETIMEDOUT, -ERESTARTSYS.
 */
int ucmx_wait_is_over(const struct ucmx_wait *wait)
{
	if (wait->nonblock)
		return -EAGAIN;
	if (wait->deadline && ktime_get_ns() >= wait->deadline)
		return -ETIMEDOUT;
	return signal_pending(current) ? -ERESTARTSYS : 0;
}

/* Who looks and is going to look again is counted meanwhile, in *@waits, too. */
static bool ucmx_id_check(struct ucmx_id *id, const struct ucmx_wait *wait,
			  ucmx_wait_done_fn done, bool last, bool *waits)
{
	struct ucmx_channel *channel = ucmx_id_lock(id);
	bool is_done = done(id, wait);
	bool goes_on = !is_done && !last;

	if (goes_on && !*waits)
		trace_ucmx_drain_start(channel, id, wait->deadline);
	id->n_waiters += goes_on - *waits;
	channel->n_waiters += goes_on - *waits;
	*waits = goes_on;
	spin_unlock(&channel->lock);
	return is_done;
}

/**
 * ucmx_id_wait - wait for something to become true of an id
 * @id: the id
 * @wait: how to wait
 * @done: what for; called with the lock of the id's owner held
 *
 * Return: 0, -ETIMEDOUT, -ERESTARTSYS, or -EAGAIN.
 */
int ucmx_id_wait(struct ucmx_id *id, const struct ucmx_wait *wait,
		 ucmx_wait_done_fn done)
{
	ktime_t until = ns_to_ktime(min_t(u64, wait->deadline, KTIME_MAX));
	DEFINE_WAIT(entry);
	bool waits = false;
	ktime_t since = 0;
	int err;

	for (;;) {
		prepare_to_wait(&id->wait, &entry, TASK_INTERRUPTIBLE);
		err = ucmx_wait_is_over(wait);
		if (ucmx_id_check(id, wait, done, err, &waits))
			err = 0;
		else if (!err)
			since = since ?: ktime_get();
		if (!waits)
			break;
		schedule_hrtimeout(wait->deadline ? &until : NULL,
				   HRTIMER_MODE_ABS);
	}
	finish_wait(&id->wait, &entry);
	if (since)
		trace_ucmx_drain_end(id, since, err);
	return err;
}

static bool ucmx_id_is_drained(struct ucmx_id *id, const struct ucmx_wait *wait)
{
	return !ucmx_id_unheld(id, wait);
}

static bool ucmx_id_is_released(struct ucmx_id *id,
				const struct ucmx_wait *wait)
{
	return id->released;
}

/* What must hold before an id may die by a command. */
static int ucmx_id_may_die(struct ucmx_id *id, struct ucmx_channel *owner,
			   struct ucmx_channel *channel,
			   const struct ucmx_wait *wait)
{
	if (owner != channel || id->listener || id->unpublished)
		return -ENOENT;
	if (wait->held_seq && !ucmx_event_find_outstanding(id, wait->held_seq))
		return -EINVAL;
	if (wait->nonblock && ucmx_id_unheld(id, wait))
		return -EAGAIN;
	return 0;
}

/* Of a dying id: wait, then settle what the caller holds. */
static int ucmx_id_wait_end(struct ucmx_id *id, const struct ucmx_wait *wait)
{
	const struct ucmx_wait for_ever = {};
	struct ucmx_channel *channel;
	struct ucmx_event *held;
	int err;

	err = ucmx_id_wait(id, &for_ever, ucmx_id_is_released);
	if (!err)
		err = ucmx_id_wait(id, wait, ucmx_id_is_drained);
	if (err || !wait->held_seq)
		return err;
	channel = ucmx_id_lock(id);
	held = ucmx_event_find_outstanding(id, wait->held_seq);
	if (held)
		ucmx_event_settle(channel, held);
	spin_unlock(&channel->lock);
	return 0;
}

/**
 * ucmx_id_destroy - destroy an id, or go on waiting for its end
 * @channel: the channel that the command came in on
 * @handle: the id's handle
 * @wait: how to wait for acknowledgements.  The wait for what the id stands for
 *	  to end, if that waits for anybody, can only be interrupted.
 *
 * Return: 0; -ENOENT, -EINVAL (no such event is held), -EAGAIN: nothing
 * happened; -ETIMEDOUT, -ERESTARTSYS: it is dying.
 */
int ucmx_id_destroy(struct ucmx_channel *channel, u32 handle,
		    const struct ucmx_wait *wait)
{
	bool here = false, waits = false;
	struct ucmx_channel *owner;
	LIST_HEAD(events);
	struct ucmx_id *id;
	int err;

	owner = ucmx_id_find(channel, handle, &id);
	err = id ? ucmx_id_may_die(id, owner, channel, wait) : -ENOENT;
	if (!err) {
		here = ucmx_id_end_here(id);
		waits = !here || id->n_outstanding;
		/* What this call gives up has a reference until then. */
		if (waits)
			refcount_inc(&id->ref);
		ucmx_id_die(id, owner, &events);
	}
	ucmx_id_found(owner);
	ucmx_events_free(&events);
	if (here)
		ucmx_id_release(id);
	if (waits) {
		err = ucmx_id_wait_end(id, wait);
		ucmx_id_put(id);
	}
	return err;
}

/**
 * ucmx_id_info - describe an id
 * @id: the id; its owner's lock is held
 * @info: filled in
 */
void ucmx_id_info(struct ucmx_id *id, struct rdma_ucmx_id_info *info)
{
	struct ucmx_event *oldest;

	memset(info, 0, sizeof(*info));
	info->id = id->handle;
	info->state = (id->claimed ? 0 : RDMA_UCMX_ID_UNCLAIMED) |
		      (id->migration ? RDMA_UCMX_ID_MIGRATING : 0) |
		      (id->dying ? RDMA_UCMX_ID_DYING : 0) |
		      (id->gone ? RDMA_UCMX_ID_GONE : 0);
	info->pending = id->n_pending;
	info->outstanding = id->n_outstanding;
	info->unread = id->n_unread;
	info->cookie = id->cookie;
	oldest = list_first_entry_or_null(&id->outstanding, struct ucmx_event,
					  of_id);
	if (!oldest)
		return;
	info->oldest_reader = pid_vnr(oldest->reader);
	info->oldest_time = ktime_to_ns(oldest->taken);
	info->oldest_seq = oldest->head.seq;
}
