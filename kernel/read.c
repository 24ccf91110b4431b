// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Taking events from a channel: reading, putting back, acknowledging, poll.
 *
 * A reader waits without a lock, takes the read mutex, and for one event after
 * the other: moves it under the channel's lock from pending to outstanding,
 * copies it without the lock, and settles the outcome under the lock.  An event
 * whose copy failed is pending again, as the first of its id's; since the read
 * mutex is still held, nobody can have taken a later one.
 *
 * While an event is outstanding its id cannot change its owner, so the channel
 * that it was taken from is the one whose lock protects it.
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "channel.h"
#include "group.h"
#include "id.h"
#include "limit.h"
#include "trace.h"

/*
 * A kind that comes unasked, and more than once, needs room meanwhile; unless
 * there is some, from an earlier read that failed or from a command.
 */
static bool ucmx_event_wants_spare(const struct ucmx_event *event)
{
	if (event->group)
		return list_empty(&event->group->room);
	return event->room >= UCMX_ROOM_FIRST_UNASKED &&
	       event->room != UCMX_ROOM_NONE &&
	       event->room != UCMX_ROOM_DEVICE_REMOVAL &&
	       !ucmx_room_find(event->id, event->room);
}

/* Pending to outstanding; what is known only now goes into the record. */
static void ucmx_event_take(struct ucmx_channel *channel,
			    struct ucmx_event *event)
{
	struct ucmx_id *id = event->id;

	lockdep_assert_held(&channel->lock);
	list_move_tail(&event->queued, &channel->taken);
	list_move_tail(&event->of_id, &id->outstanding);
	ucmx_event_index(event);
	channel->n_pending--;
	id->n_pending--;
	id->n_outstanding++;
	channel->n_outstanding++;
	event->taken = ktime_get();
	event->turn = ++id->turn;
	event->reader = get_pid(task_tgid(current));
	event->copying = true;
	if (event->child) {
		event->head.id = event->child->handle;
		event->head.listen_id = id->handle;
		event->head.listen_cookie = id->cookie;
	} else {
		event->head.id = id->handle;
		event->head.cookie = id->cookie;
	}
	if (event->group) {
		event->head.group = event->group->number;
		event->head.listen_cookie = event->group->cookie;
		event->group->n_outstanding++;
	}
}

/*
 * Take the first event if its record fits into @len bytes: NULL if there is no
 * event, -ESHUTDOWN, -EINVAL if it does not fit, -EAGAIN if @spare must first be room for
 * *@need bytes.
 */
static struct ucmx_event *ucmx_channel_take(struct ucmx_channel *channel,
					    size_t len,
					    struct ucmx_event **spare,
					    size_t *need)
{
	struct ucmx_event *event;

	lockdep_assert_held(&channel->lock);
	if (channel->shut_down)
		return ERR_PTR(-ESHUTDOWN);
	event = list_first_entry_or_null(&channel->events, struct ucmx_event,
					 queued);
	if (!event)
		return NULL;
	if (event->head.size > len)
		return ERR_PTR(-EINVAL);
	if (ucmx_event_wants_spare(event)) {
		*need = event->capacity;
		if (!*spare || (*spare)->capacity < *need)
			return ERR_PTR(-EAGAIN);
		(*spare)->room = event->room;
		list_add_tail(&(*spare)->of_id,
			      event->group ? &event->group->room :
					     &event->id->room);
		*spare = NULL;
	}
	ucmx_event_take(channel, event);
	return event;
}

/* The copy succeeded: the reader knows the event, and the child it brings. */
static void ucmx_event_delivered(struct ucmx_channel *channel,
				 struct ucmx_event *event)
{
	lockdep_assert_held(&channel->lock);
	event->copying = false;
	trace_ucmx_event_deliver(channel, event);
	/* From now on somebody holds it, a caller who waits maybe. */
	ucmx_id_wake(event->id);
	if (event->child) {
		ucmx_id_adopt_unread(event->child, channel);
		event->child = NULL;
		event->request = true;
		ucmx_channel_charge_request(channel);
	}
	if (event->acked)
		ucmx_event_settle(channel, event);
}

/* The copy failed: pending again, first among its id's. */
static void ucmx_event_put_back(struct ucmx_channel *channel,
				struct ucmx_event *event,
				struct list_head *dropped)
{
	struct ucmx_id *id = event->id;

	lockdep_assert_held(&channel->lock);
	event->copying = false;
	event->acked = false;
	put_pid(event->reader);
	event->reader = NULL;
	list_del_init(&event->queued);
	ucmx_event_unindex(event);
	id->n_outstanding--;
	channel->n_outstanding--;
	ucmx_group_settled(event);
	if (id->dying || ucmx_group_was_left(event)) {
		list_move(&event->of_id, dropped);
		if (event->child)
			ucmx_id_orphan(event->child, channel, dropped);
	} else {
		list_move(&event->of_id, &id->pending);
		id->n_pending++;
		if (ucmx_id_delivers(id, event)) {
			list_add(&event->queued, &channel->events);
			channel->n_pending++;
			ucmx_channel_wake(channel, 1);
		}
	}
	ucmx_id_drained(id);
}

/* Take the next event; with the lock held, except while memory is allocated. */
static struct ucmx_event *ucmx_channel_take_next(struct ucmx_channel *channel,
						 size_t len,
						 struct ucmx_event **spare)
{
	struct ucmx_event *event;
	size_t need = 0;

	for (;;) {
		event = ucmx_channel_take(channel, len, spare, &need);
		if (event != ERR_PTR(-EAGAIN))
			return event;
		spin_unlock(&channel->lock);
		ucmx_event_free(*spare);
		*spare = ucmx_event_alloc(UCMX_ROOM_NONE, need,
					  GFP_KERNEL_ACCOUNT);
		spin_lock(&channel->lock);
		if (!*spare)
			return ERR_PTR(-ENOMEM);
	}
}

/*
 * As many events as are wanted, are there and fit.  They may come as fast as they
 * are read, and the buffer may be of any size: so a signal ends it, too.  Holds the
 * read mutex and nothing else over a copy; in between, one holding of the lock is
 * the end of an event and the beginning of the next.
 */
static int ucmx_channel_read_some(struct ucmx_channel *channel,
				  struct ucmx_read *read)
{
	struct ucmx_event *event, *spare = NULL;
	LIST_HEAD(dropped);
	int err = 0;
	u32 size;

	lockdep_assert_held(&channel->read_mutex);
	spin_lock(&channel->lock);
	do {
		event = ucmx_channel_take_next(channel, read->len - read->done,
					       &spare);
		if (IS_ERR_OR_NULL(event)) {
			err = PTR_ERR_OR_ZERO(event);
			break;
		}
		spin_unlock(&channel->lock);
		cond_resched();
		size = event->head.size;
		if (copy_to_user(read->buf + read->done, event->record, size))
			err = -EFAULT;
		spin_lock(&channel->lock);
		if (err) {
			ucmx_event_put_back(channel, event, &dropped);
			break;
		}
		ucmx_event_delivered(channel, event);
		read->done += size;
		read->count++;
	} while (read->count < read->max && !signal_pending(current) &&
		 read->len - read->done >= sizeof(struct rdma_ucmx_event));
	spin_unlock(&channel->lock);
	ucmx_event_free(spare);
	ucmx_events_free(&dropped);
	return read->count ? 0 : err;
}

/* Without the lock: whoever changes it wakes who waits. */
static bool ucmx_channel_readable(struct ucmx_channel *channel)
{
	return !list_empty(&channel->events) || READ_ONCE(channel->shut_down);
}

/* Whether the wait for one's turn to read is over. */
static bool ucmx_channel_try_read(struct ucmx_channel *channel, bool *locked)
{
	*locked = mutex_trylock(&channel->read_mutex);
	return *locked || READ_ONCE(channel->shut_down);
}

/*
 * A non-blocking reader does not wait for another one's copy.  It leaves word,
 * and is told when there is still something to read afterwards.  Whoever holds
 * the mutex looks for the word after it has let go; so trying again after
 * leaving it cannot miss.
 *
 * Who waits for a copy, which may take for ever, is told of a shutdown.
 */
static int ucmx_channel_lock_read(struct ucmx_channel *channel, bool nonblock)
{
	bool locked = false;

	if (READ_ONCE(channel->shut_down))
		return -ESHUTDOWN;
	if (!nonblock) {
		if (wait_event_interruptible_exclusive(channel->turn,
						       ucmx_channel_try_read(channel,
									     &locked)))
			return -ERESTARTSYS;
		return locked ? 0 : -ESHUTDOWN;
	}
	if (mutex_trylock(&channel->read_mutex))
		return 0;
	WRITE_ONCE(channel->contended, true);
	/* Pairs with ucmx_channel_unlock_read(): the word, then the try. */
	smp_mb();
	return mutex_trylock(&channel->read_mutex) ? 0 : -EAGAIN;
}

static void ucmx_channel_unlock_read(struct ucmx_channel *channel)
{
	mutex_unlock(&channel->read_mutex);
	/*
	 * Has a barrier, by which it is the mutex that was let go of first:
	 * whoever tries to take it has queued, or left word, before.
	 */
	if (wq_has_sleeper(&channel->turn))
		wake_up(&channel->turn);
	if (!READ_ONCE(channel->contended))
		return;
	spin_lock(&channel->lock);
	WRITE_ONCE(channel->contended, false);
	if (channel->n_pending)
		ucmx_channel_wake(channel, channel->n_pending);
	spin_unlock(&channel->lock);
}

/**
 * ucmx_channel_read_events - read so many events
 * @channel: the channel
 * @read: where to and how many; what was read
 * @nonblock: fail instead of waiting for an event
 *
 * Return: 0, or an error, after which nothing was read: -EINVAL if not even one
 * record fits, -EAGAIN, -ERESTARTSYS, -ESHUTDOWN, -EFAULT, or -ENOMEM.
 */
int ucmx_channel_read_events(struct ucmx_channel *channel,
			     struct ucmx_read *read, bool nonblock)
{
	int err;

	if (read->len < sizeof(struct rdma_ucmx_event))
		return -EINVAL;
	do {
		if (!nonblock &&
		    wait_event_interruptible(channel->wait,
					     ucmx_channel_readable(channel)))
			return -ERESTARTSYS;
		err = ucmx_channel_lock_read(channel, nonblock);
		if (err)
			return err;
		err = ucmx_channel_read_some(channel, read);
		ucmx_channel_unlock_read(channel);
	} while (!err && !read->count && !nonblock);
	return err ?: read->count ? 0 : -EAGAIN;
}

/**
 * ucmx_channel_read - read events
 * @channel: the channel
 * @buf: where to
 * @len: its size; below RDMA_UCMX_READ_MIN one event is read, else as many as
 *	 there are and fit
 * @nonblock: fail instead of waiting for an event
 *
 * Return: bytes read, or as ucmx_channel_read_events().
 */
ssize_t ucmx_channel_read(struct ucmx_channel *channel, char __user *buf,
			  size_t len, bool nonblock)
{
	struct ucmx_read read = {
		.buf = buf,
		.len = min_t(size_t, len, MAX_RW_COUNT),
		.max = len < RDMA_UCMX_READ_MIN ? 1 : U32_MAX,
	};
	int err = ucmx_channel_read_events(channel, &read, nonblock);

	return err ?: read.done;
}

/**
 * ucmx_channel_poll - what a read would find
 * @channel: the channel
 * @file: its file
 * @wait: as given to the poll method
 *
 * Return: the poll mask.
 */
__poll_t ucmx_channel_poll(struct ucmx_channel *channel, struct file *file,
			   poll_table *wait)
{
	__poll_t mask = 0;

	poll_wait(file, &channel->wait, wait);
	if (ucmx_channel_readable(channel))
		mask = EPOLLIN | EPOLLRDNORM;
	if (READ_ONCE(channel->shut_down))
		mask |= EPOLLHUP;
	return mask;
}

/**
 * ucmx_channel_shut_down - turn readers away for good
 * @channel: the channel
 */
void ucmx_channel_shut_down(struct ucmx_channel *channel)
{
	spin_lock(&channel->lock);
	WRITE_ONCE(channel->shut_down, true);
	wake_up_all(&channel->wait);
	wake_up_all(&channel->turn);
	spin_unlock(&channel->lock);
}

/*
 * Acknowledging
 */

/**
 * ucmx_event_settle - an outstanding event is acknowledged
 * @channel: owner of the event's id; its lock is held
 * @event: outstanding
 *
 * An event that is still being copied stays outstanding until that is done, or
 * the id could be elsewhere before its reader has returned.  The caller holds
 * a reference to the id, or RCU: this may have been what kept it.
 */
void ucmx_event_settle(struct ucmx_channel *channel, struct ucmx_event *event)
{
	struct ucmx_id *id = event->id;

	lockdep_assert_held(&channel->lock);
	if (event->copying) {
		event->acked = true;
		return;
	}
	trace_ucmx_event_ack(channel, event);
	list_del(&event->of_id);
	list_del(&event->queued);
	ucmx_event_unindex(event);
	id->n_outstanding--;
	channel->n_outstanding--;
	id->n_caused -= event->caused;
	if (event->request)
		ucmx_channel_uncharge_request(channel);
	ucmx_group_settled(event);
	ucmx_event_free(event);
	ucmx_id_drained(id);
}

/* Who may acknowledge: the owner, and where the id is on its way to. */
static bool ucmx_id_takes_acks(struct ucmx_id *id, struct ucmx_channel *owner,
			       struct ucmx_channel *channel)
{
	if (id->listener || id->unpublished)
		return false;
	return owner == channel ||
	       (id->migration && id->migration->target == channel);
}

/*
 * Those that are outstanding when the id is found, neither less nor more: they keep
 * it where it is, so it does not matter if a migration is given up after that, and
 * what is taken later is its reader's, here or elsewhere.
 */
static int ucmx_channel_ack_all(struct ucmx_channel *channel, u32 handle)
{
	struct ucmx_id *id = ucmx_id_get(handle);
	struct ucmx_channel *owner;
	int err = -ENOENT;
	u64 last = 0;
	bool more;

	if (!id)
		return err;
	do {
		owner = ucmx_id_lock(id);
		if (err && ucmx_id_takes_acks(id, owner, channel)) {
			last = id->turn;
			err = 0;
		}
		more = !err && ucmx_id_settle_some(id, owner, last);
		spin_unlock(&owner->lock);
		cond_resched();
	} while (more);
	ucmx_id_put(id);
	return err;
}

/**
 * ucmx_channel_ack - acknowledge one event or all events of an id
 * @channel: where it is acknowledged
 * @handle: the id's handle
 * @seq: number of the event, 0 for all
 *
 * Return: 0; -ENOENT if there is no such id here, -EINVAL if the event is not
 * outstanding.
 */
int ucmx_channel_ack(struct ucmx_channel *channel, u32 handle, u64 seq)
{
	struct ucmx_channel *owner;
	struct ucmx_event *event;
	struct ucmx_id *id;
	int err = 0;

	if (!seq)
		return ucmx_channel_ack_all(channel, handle);
	/* The id may go with this, but not its memory. */
	owner = ucmx_id_find(channel, handle, &id);
	if (!id || !ucmx_id_takes_acks(id, owner, channel)) {
		err = -ENOENT;
	} else {
		event = ucmx_event_find_outstanding(id, seq);
		if (event)
			ucmx_event_settle(owner, event);
		else
			err = -EINVAL;
	}
	ucmx_id_found(owner);
	return err;
}
