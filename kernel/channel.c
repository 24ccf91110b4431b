// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Event channels: the memory of events, the queue, raising.
 *
 * Up comes an event from rdma_cm's callback (event.c), or is released by a
 * commit (move.c): it joins its id's list of pending events and, unless it is
 * held with the id, the queue of the channel that owns the id.  From there on
 * see read.c.
 *
 * Locking: channel->lock, a spinlock taken in process context only, decides
 * everything about the events of the ids that the channel owns.  Whoever
 * starts from an id finds that lock by ucmx_id_lock().  Order:
 *
 *	id->op_mutex > rdma_cm's handler mutex > channel->lock (two of them only
 *	in a commit, by address) > lock of the handle table, locks of the
 *	table of users and of their lines
 *	channel->read_mutex > channel->lock
 *
 * read_mutex is held while user memory is written, which can take for ever;
 * nothing but reading waits for it, and that interruptibly.  No lock that an
 * event handler needs is ever held there.
 *
 * Wake-ups are done under channel->lock: what is woken is protected by it, so
 * it cannot be freed under the wake-up.
 */
#include <linux/cred.h>
#include <linux/slab.h>

#include "channel.h"
#include "group.h"
#include "id.h"
#include "limit.h"
#include "trace.h"

/*
 * Events come in few sizes.  Caches of our own, so that memory can be seen,
 * validated and made to fail separately.
 */
static const size_t ucmx_event_sizes[] = {
	sizeof(struct rdma_ucmx_event) + sizeof(struct rdma_ucmx_route),
	UCMX_RECORD_PARAM,
	UCMX_RECORD_MAX - RDMA_UCMX_MAX_PATHS * sizeof(struct rdma_ucmx_path),
	UCMX_RECORD_MAX,
	UCMX_RECORD_SERVICES,
};

static const char *const ucmx_event_cache_names[] = {
	"ucmx_event_small", "ucmx_event_param", "ucmx_event_route",
	"ucmx_event_paths", "ucmx_event_services",
};

static struct kmem_cache *ucmx_event_caches[ARRAY_SIZE(ucmx_event_sizes)];

/**
 * ucmx_channel_core_init - make the caches for events
 *
 * Return: 0 or -ENOMEM.
 */
int ucmx_channel_core_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(ucmx_event_sizes); i++) {
		ucmx_event_caches[i] =
			kmem_cache_create_usercopy(ucmx_event_cache_names[i],
						   offsetof(struct ucmx_event, record) +
						   ucmx_event_sizes[i], 0, 0,
						   offsetof(struct ucmx_event, record),
						   ucmx_event_sizes[i], NULL);
		if (!ucmx_event_caches[i]) {
			ucmx_channel_core_exit();
			return -ENOMEM;
		}
	}
	return 0;
}

/**
 * ucmx_channel_core_exit - undo ucmx_channel_core_init()
 */
void ucmx_channel_core_exit(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(ucmx_event_caches); i++) {
		kmem_cache_destroy(ucmx_event_caches[i]);
		ucmx_event_caches[i] = NULL;
	}
}

static atomic_t ucmx_last_channel = ATOMIC_INIT(0);

/* How long closing waits for rdma_cm at most. */
#define UCMX_CLOSE_TIMEOUT	(10 * HZ)

static int ucmx_event_cache(size_t capacity)
{
	int i = 0;

	while (ucmx_event_sizes[i] < capacity)
		i++;
	return i;
}

/**
 * ucmx_event_alloc - allocate room for one event
 * @room: what it is for
 * @capacity: bytes of record that it must hold, at most UCMX_RECORD_SERVICES
 * @gfp: how to allocate
 *
 * Return: the event, with an empty record, or NULL.
 */
struct ucmx_event *ucmx_event_alloc(enum ucmx_room room, size_t capacity,
				    gfp_t gfp)
{
	int i = ucmx_event_cache(capacity);
	struct ucmx_event *event = kmem_cache_zalloc(ucmx_event_caches[i], gfp);

	if (!event)
		return NULL;
	INIT_LIST_HEAD(&event->of_id);
	INIT_LIST_HEAD(&event->queued);
	event->room = room;
	event->capacity = ucmx_event_sizes[i];
	return event;
}

/**
 * ucmx_event_free - free an event that is on no list
 * @event: the event, or NULL
 */
void ucmx_event_free(struct ucmx_event *event)
{
	if (!event)
		return;
	put_pid(event->reader);
	if (event->group)
		ucmx_group_put(event->group);
	if (event->payer)
		ucmx_user_uncharge_event(event->payer);
	kmem_cache_free(ucmx_event_caches[ucmx_event_cache(event->capacity)],
			event);
}

/**
 * ucmx_events_free - free a list of events
 * @events: linked by of_id, in no queue
 */
void ucmx_events_free(struct list_head *events)
{
	struct ucmx_event *event, *next;

	list_for_each_entry_safe(event, next, events, of_id) {
		list_del(&event->of_id);
		ucmx_event_free(event);
	}
}

/**
 * ucmx_channel_create - allocate a channel, for the user who asks
 *
 * Return: the channel with one reference, or NULL.
 */
struct ucmx_channel *ucmx_channel_create(void)
{
	struct ucmx_channel *channel;

	channel = kzalloc(sizeof(*channel), GFP_KERNEL_ACCOUNT);
	if (!channel)
		return NULL;
	channel->user = ucmx_user_get(current_euid());
	if (!channel->user) {
		kfree(channel);
		return NULL;
	}
	spin_lock_init(&channel->lock);
	channel->number = atomic_inc_return(&ucmx_last_channel);
	INIT_LIST_HEAD(&channel->events);
	INIT_LIST_HEAD(&channel->taken);
	INIT_LIST_HEAD(&channel->ids);
	init_waitqueue_head(&channel->wait);
	init_waitqueue_head(&channel->turn);
	mutex_init(&channel->read_mutex);
	atomic_set(&channel->n_closes, 0);
	atomic_set(&channel->n_ids, 0);
	refcount_set(&channel->ref, 1);
	return channel;
}

/**
 * ucmx_channel_close - the channel's file is gone
 * @channel: the channel
 * @wait: until what the ids stand for has come to its end, so that ports are free
 *	  again; but not for ever: the rest then goes on by itself
 *
 * Destroys all ids, their unacknowledged events included, and drops the file's
 * reference.
 */
void ucmx_channel_close(struct ucmx_channel *channel, bool wait)
{
	LIST_HEAD(events);
	LIST_HEAD(todo);
	struct ucmx_id *id;
	bool more;

	spin_lock(&channel->lock);
	channel->closed = true;
	list_splice_init(&channel->ids, &todo);
	while (!list_empty(&todo)) {
		id = list_first_entry(&todo, struct ucmx_id, of_channel);
		list_move_tail(&id->of_channel, &channel->ids);
		refcount_inc(&id->ref);
		ucmx_id_die(id, channel, &events);
		do {
			more = ucmx_id_settle_some(id, channel, id->turn);
			/* A listener may have had a thousand children. */
			spin_unlock(&channel->lock);
			ucmx_events_free(&events);
			cond_resched();
			spin_lock(&channel->lock);
		} while (more);
		ucmx_id_put(id);
	}
	spin_unlock(&channel->lock);
	if (wait)
		wait_event_timeout(channel->wait,
				   list_empty_careful(&channel->ids),
				   UCMX_CLOSE_TIMEOUT);
	ucmx_channel_put(channel);
}

/**
 * ucmx_channel_get - take a reference
 * @channel: the channel
 */
void ucmx_channel_get(struct ucmx_channel *channel)
{
	refcount_inc(&channel->ref);
}

/**
 * ucmx_channel_put - drop a reference; the last one frees after a grace period
 * @channel: the channel
 */
void ucmx_channel_put(struct ucmx_channel *channel)
{
	int i;

	if (!refcount_dec_and_test(&channel->ref))
		return;
	mutex_destroy(&channel->read_mutex);
	ucmx_user_put(channel->user);
	for (i = 0; i < UCMX_CLOSERS; i++)
		put_pid(channel->closers[i]);
	kfree_rcu(channel, rcu);
}

/**
 * ucmx_channel_lock_two - lock two channels, in the one order there is
 * @a: a channel
 * @b: another one, or the same
 */
void ucmx_channel_lock_two(struct ucmx_channel *a, struct ucmx_channel *b)
	__acquires(&a->lock) __acquires(&b->lock)
{
	if (a > b)
		swap(a, b);
	spin_lock(&a->lock);
	if (a != b)
		spin_lock_nested(&b->lock, SINGLE_DEPTH_NESTING);
	else
		__acquire(&b->lock);
}

/**
 * ucmx_channel_unlock_two - undo ucmx_channel_lock_two()
 * @a: a channel
 * @b: another one, or the same
 */
void ucmx_channel_unlock_two(struct ucmx_channel *a, struct ucmx_channel *b)
	__releases(&a->lock) __releases(&b->lock)
{
	spin_unlock(&a->lock);
	if (a != b)
		spin_unlock(&b->lock);
	else
		__release(&b->lock);
}

/**
 * ucmx_channel_queue - put an event at the tail of the queue
 * @channel: owner of the event's id; its lock is held
 * @event: pending, not queued
 *
 * Waking is the caller's, who knows how many events come at once.
 */
void ucmx_channel_queue(struct ucmx_channel *channel, struct ucmx_event *event)
{
	lockdep_assert_held(&channel->lock);
	list_add_tail(&event->queued, &channel->events);
	channel->n_pending++;
}

/**
 * ucmx_channel_unqueue - take an event out of the queue, if it is there
 * @channel: owner of the event's id; its lock is held
 * @event: pending
 */
void ucmx_channel_unqueue(struct ucmx_channel *channel,
			  struct ucmx_event *event)
{
	lockdep_assert_held(&channel->lock);
	if (list_empty(&event->queued))
		return;
	list_del_init(&event->queued);
	channel->n_pending--;
}

/**
 * ucmx_channel_wake - wake readers and pollers
 * @channel: the channel; its lock is held
 * @n: how many events came; as many of the exclusive waiters are woken
 */
void ucmx_channel_wake(struct ucmx_channel *channel, unsigned int n)
{
	lockdep_assert_held(&channel->lock);
	__wake_up(&channel->wait, TASK_INTERRUPTIBLE, n,
		  poll_to_key(EPOLLIN | EPOLLRDNORM));
}

/**
 * ucmx_id_caused_too_many - whether an id, or the user whose it is, is at the
 *			     limit of events that commands cause
 * @id: the id
 * @channel: its owner; the lock is held
 *
 * Return: true if no command may cause one more.
 */
bool ucmx_id_caused_too_many(const struct ucmx_id *id,
			     struct ucmx_channel *channel)
{
	return id->n_caused >= READ_ONCE(ucmx_max_user_events) ||
	       ucmx_channel_has_events(channel);
}

/**
 * ucmx_id_count_caused - an event that a command caused is raised
 * @id: the id
 * @channel: its owner; the lock is held
 * @event: the event; it counts until it is freed, wherever the id goes
 */
void ucmx_id_count_caused(struct ucmx_id *id, struct ucmx_channel *channel,
			  struct ucmx_event *event)
{
	lockdep_assert_held(&channel->lock);
	id->n_caused++;
	event->payer = ucmx_channel_charge_event(channel);
}

/* Add a new event to what is pending of its id, and deliver it if it may be. */
static void ucmx_event_append(struct ucmx_channel *channel, struct ucmx_id *id,
			      struct ucmx_event *event)
{
	lockdep_assert_held(&channel->lock);
	event->id = id;
	event->head.seq = ++id->seq;
	list_add_tail(&event->of_id, &id->pending);
	id->n_pending++;
	if (event->caused)
		ucmx_id_count_caused(id, channel, event);
	trace_ucmx_event_raise(channel, event);
	if (ucmx_id_delivers(id, event)) {
		ucmx_channel_queue(channel, event);
		ucmx_channel_wake(channel, 1);
	}
}

/**
 * ucmx_event_raise - an event has happened
 * @id: whose event
 * @event: on no list, with its record filled in; the call consumes it
 *
 * Return: 0, or -ENOENT if the id is dying or the event's group was left, and the
 * event was dropped.
 */
int ucmx_event_raise(struct ucmx_id *id, struct ucmx_event *event)
{
	struct ucmx_channel *channel = ucmx_id_lock(id);
	bool late = id->dying || ucmx_group_was_left(event);

	if (!late)
		ucmx_event_append(channel, id, event);
	spin_unlock(&channel->lock);
	if (late)
		ucmx_event_free(event);
	return late ? -ENOENT : 0;
}

/**
 * ucmx_event_write - a command raises an event
 * @channel: the channel that the command came in on
 * @id: whose event
 * @event: on no list, with its record filled in; the caller's after an error
 *
 * Return: 0, -ENOENT if the id is dying or has left the channel meanwhile, or
 * -ENOSPC if too many that commands caused were not acknowledged.
 */
int ucmx_event_write(struct ucmx_channel *channel, struct ucmx_id *id,
		     struct ucmx_event *event)
{
	struct ucmx_channel *owner = ucmx_id_lock(id);
	int err = 0;

	if (owner != channel || id->dying) {
		err = -ENOENT;
	} else if (ucmx_id_caused_too_many(id, owner)) {
		err = -ENOSPC;
	} else {
		event->caused = true;
		ucmx_event_append(owner, id, event);
	}
	spin_unlock(&owner->lock);
	return err;
}

/**
 * ucmx_request_raise - a connection request has arrived
 * @listener: the listener
 * @event: on no list, with its record filled in
 * @child: what ucmx_id_init() initialised, neither published nor aborted
 *
 * The child belongs to its listener until the request is read.
 *
 * Return: 0; -ENOENT if the listener is dying, -ENOSPC if its backlog or the
 * channel is full: then @event and @child are still the caller's.
 */
int ucmx_request_raise(struct ucmx_id *listener, struct ucmx_event *event,
		       struct ucmx_id *child)
{
	struct ucmx_channel *channel = ucmx_id_lock(listener);
	int err;

	err = ucmx_id_add_unread(listener, child, channel);
	if (!err) {
		event->child = child;
		ucmx_event_append(channel, listener, event);
	}
	spin_unlock(&channel->lock);
	return err;
}
