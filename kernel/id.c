// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Ids: from being initialised to being freed, and who uses an id.  What happens
 * in between is in life.c, how they are found by their handles in handle.c.
 *
 * A handle is reserved when an id is initialised and published, by a flag, when
 * everybody may use it, by a create or when a request has been read.
 *
 * The end has three parts, which come in different orders:
 *
 *  - dying: the id was destroyed, or its channel closed.  No event of it is
 *    pending any more, none is raised, no command finds it.
 *  - ended, then released: what the id stands for is given up, because it is
 *    dying or because its device is gone.  Then ops->release() is called, after
 *    which no callback comes any more: by who destroys the id, if nobody uses it
 *    and the release waits for nobody; else the use count falls by one, and when
 *    the last command that uses the id is done, by a work item.  Nobody waits for
 *    the users, and nobody who is waited for by a device removal waits for a user
 *    of ours.
 *  - drained: the last outstanding event was acknowledged.
 *
 * An id that is dying, released and drained is unpublished, and its memory goes
 * with the last reference.  References are held by the handle until it is
 * unpublished, by the callbacks until it is released, and by who looked it up.
 * So who holds the lock of the owner of an id with an outstanding event, or of
 * a published id, can rely on its memory.
 *
 * For the locks see channel.c.
 */
#include <linux/slab.h>

#include "channel.h"
#include "group.h"
#include "handle.h"
#include "id.h"
#include "limit.h"
#include "trace.h"

static atomic_t ucmx_n_ids = ATOMIC_INIT(0);
static struct workqueue_struct *ucmx_wq;

/**
 * ucmx_id_core_init - make the work queue on which ids end
 *
 * Return: 0 or -ENOMEM.
 */
int ucmx_id_core_init(void)
{
	/* All that there may be, since each user has only some. */
	ucmx_wq = alloc_workqueue("rdma_ucmx", WQ_UNBOUND, WQ_MAX_ACTIVE);
	return ucmx_wq ? 0 : -ENOMEM;
}

/**
 * ucmx_id_core_exit - wait until all ids have ended and are freed
 */
void ucmx_id_core_exit(void)
{
	destroy_workqueue(ucmx_wq);
	rcu_barrier();
	WARN_ON(!ucmx_handles_empty());
}

/**
 * ucmx_users_get - begin to use what the id stands for, outside of a command
 * @id: the id
 *
 * Return: whether there still is something to use.
 */
bool ucmx_users_get(struct ucmx_id *id)
{
	struct ucmx_channel *channel = ucmx_id_lock(id);
	bool alive = !id->ended;

	if (alive)
		refcount_inc(&id->users);
	spin_unlock(&channel->lock);
	return alive;
}

/**
 * ucmx_users_put - one user less of what the id stands for
 * @id: the id
 *
 * Context: any; the end of it all happens in a work item.
 */
void ucmx_users_put(struct ucmx_id *id)
{
	if (refcount_dec_and_test(&id->users) &&
	    ucmx_user_begin_end(id->payer, &id->in_line))
		queue_work(ucmx_wq, &id->release_work);
}

/* What an id stood for has ended, and the next one of the same user may end. */
static void ucmx_id_end_next(struct ucmx_user *user)
{
	struct list_head *next = ucmx_user_end_end(user);

	if (next)
		queue_work(ucmx_wq, &list_entry(next, struct ucmx_id,
						in_line)->release_work);
	ucmx_user_put(user);
}

/**
 * ucmx_id_release - give up what an ended id stands for
 * @id: the id
 *
 * Drops the reference that the callbacks had.
 *
 * Context: the work item or, after ucmx_id_end_here(), a command.
 */
void ucmx_id_release(struct ucmx_id *id)
{
	struct ucmx_channel *channel;

	id->ops->release(id);
	if (id->payer)
		ucmx_id_end_next(id->payer);
	channel = ucmx_id_lock(id);
	id->released = true;
	ucmx_id_drained(id);
	spin_unlock(&channel->lock);
	ucmx_id_put(id);
}

static void ucmx_id_release_work(struct work_struct *work)
{
	ucmx_id_release(container_of(work, struct ucmx_id, release_work));
}

/**
 * ucmx_id_end_here - end an id that nobody uses and whose release waits for nobody
 * @id: the id; its owner's lock is held
 *
 * Under that lock nobody begins to use it, so there is no last user to be found out,
 * and who releases at once takes none of its user's turns.
 *
 * Return: whether it has ended; then the caller is the one to release it, without
 * the lock.
 */
bool ucmx_id_end_here(struct ucmx_id *id)
{
	if (id->ended || refcount_read(&id->users) != 1)
		return false;
	/* Pairs with the last user's put: what it did comes before the release. */
	smp_acquire__after_ctrl_dep();
	if (!id->ops->waits_for_nobody || !id->ops->waits_for_nobody(id))
		return false;
	id->ended = true;
	return true;
}

/**
 * ucmx_id_init - initialise an id and reserve its handle
 * @id: zeroed memory
 * @ops: what it stands for
 * @gfp: how to allocate the handle
 *
 * Return: 0, -ENOSPC if there are too many ids, or -ENOMEM.
 */
int ucmx_id_init(struct ucmx_id *id, const struct ucmx_id_ops *ops, gfp_t gfp)
{
	int err;

	if (atomic_inc_return(&ucmx_n_ids) > READ_ONCE(ucmx_max_ids)) {
		err = -ENOSPC;
		goto uncount;
	}
	err = ucmx_handle_reserve(id, gfp);
	if (err)
		goto uncount;
	id->ops = ops;
	INIT_LIST_HEAD(&id->of_channel);
	INIT_LIST_HEAD(&id->room);
	INIT_LIST_HEAD(&id->groups);
	INIT_LIST_HEAD(&id->pending);
	INIT_LIST_HEAD(&id->outstanding);
	id->by_seq = RB_ROOT;
	init_waitqueue_head(&id->wait);
	mutex_init(&id->op_mutex);
	refcount_set(&id->users, 1);
	INIT_WORK(&id->release_work, ucmx_id_release_work);
	INIT_LIST_HEAD(&id->in_line);
	refcount_set(&id->ref, 2);
	return 0;

uncount:
	atomic_dec(&ucmx_n_ids);
	return err;
}

static void ucmx_id_free_rcu(struct rcu_head *rcu)
{
	struct ucmx_id *id = container_of(rcu, struct ucmx_id, rcu);

	id->ops->free(id);
}

static void ucmx_id_free(struct ucmx_id *id)
{
	if (id->channel)
		ucmx_channel_put(id->channel);
	ucmx_events_free(&id->room);
	ucmx_groups_free(&id->groups);
	mutex_destroy(&id->op_mutex);
	call_rcu(&id->rcu, ucmx_id_free_rcu);
}

/**
 * ucmx_id_abort - undo ucmx_id_init() for an id that nobody has seen
 * @id: the id
 */
void ucmx_id_abort(struct ucmx_id *id)
{
	ucmx_handle_free(id->handle);
	atomic_dec(&ucmx_n_ids);
	ucmx_id_free(id);
}

static void ucmx_id_join(struct ucmx_id *id, struct ucmx_channel *channel)
{
	lockdep_assert_held(&channel->lock);
	ucmx_channel_get(channel);
	WRITE_ONCE(id->channel, channel);
	list_add_tail(&id->of_channel, &channel->ids);
}

/* From now on who looks the handle up finds the id, and all of it. */
static void ucmx_id_name(struct ucmx_id *id)
{
	/* Pairs with ucmx_id_is_published() of handle.c. */
	smp_store_release(&id->published, true);
}

/**
 * ucmx_id_publish - give a new id to a channel; from now on it can be used
 * @id: the id
 * @channel: the channel, which was charged for it
 * @cookie: its cookie
 */
void ucmx_id_publish(struct ucmx_id *id, struct ucmx_channel *channel,
		     u64 cookie)
{
	spin_lock(&channel->lock);
	id->cookie = cookie;
	id->claimed = true;
	ucmx_id_join(id, channel);
	ucmx_id_name(id);
	trace_ucmx_id_create(channel, id);
	spin_unlock(&channel->lock);
}

/* With its last duty done, an id loses its handle and its place. */
static void ucmx_id_unpublish(struct ucmx_id *id)
{
	struct ucmx_channel *channel = id->channel;

	lockdep_assert_held(&channel->lock);
	id->unpublished = true;
	trace_ucmx_id_end(channel, id);
	ucmx_handle_free(id->handle);
	atomic_dec(&ucmx_n_ids);
	list_del_init(&id->of_channel);
	ucmx_channel_uncharge(channel);
	if (channel->closed && list_empty(&channel->ids))
		wake_up_all(&channel->wait);
	ucmx_id_put(id);
}

/**
 * ucmx_id_drained - one thing less that an id's end waits for
 * @id: the id; its owner's lock is held.  This may have been what kept it.
 */
void ucmx_id_drained(struct ucmx_id *id)
{
	ucmx_id_wake(id);
	if (id->dying && id->released && !id->n_outstanding && !id->unpublished)
		ucmx_id_unpublish(id);
}

/*
 * Unread children
 */

/**
 * ucmx_id_add_unread - count and keep a request's child with its listener
 * @listener: the listener
 * @child: an initialised id
 * @channel: owner of @listener; its lock is held
 *
 * While the listener is being migrated its target must have room, too.
 *
 * Return: 0, -ENOENT if the listener is dying, or -ENOSPC.
 */
int ucmx_id_add_unread(struct ucmx_id *listener, struct ucmx_id *child,
		       struct ucmx_channel *channel)
{
	struct ucmx_migration *migration = listener->migration;

	lockdep_assert_held(&channel->lock);
	if (listener->dying)
		return -ENOENT;
	if (listener->n_unread >= listener->backlog ||
	    ucmx_channel_has_requests(channel))
		return -ENOSPC;
	if (!ucmx_channel_charge(channel))
		return -ENOSPC;
	if (migration && migration->target != channel) {
		if (!ucmx_channel_promise(migration->target, 1)) {
			ucmx_channel_uncharge(channel);
			return -ENOSPC;
		}
		migration->promised++;
	}
	refcount_inc(&listener->ref);
	WRITE_ONCE(child->listener, listener);
	listener->n_unread++;
	return 0;
}

/* The child gets a channel of its own; from now on that one's lock counts. */
static void ucmx_id_leave_listener(struct ucmx_id *child,
				   struct ucmx_channel *channel)
{
	struct ucmx_id *listener = child->listener;
	struct ucmx_migration *migration = listener->migration;

	lockdep_assert_held(&channel->lock);
	listener->n_unread--;
	if (migration && migration->target != channel) {
		migration->promised--;
		ucmx_channel_unpromise(migration->target, 1);
	}
	ucmx_id_join(child, channel);
	/* Pairs with ucmx_id_lock(): without a listener there is a channel. */
	smp_store_release(&child->listener, NULL);
	ucmx_id_put(listener);
}

/**
 * ucmx_id_adopt_unread - a request was read, its child can be used
 * @child: the child
 * @channel: where it was read; the lock is held, and an outstanding event of
 *	     the listener keeps that one
 */
void ucmx_id_adopt_unread(struct ucmx_id *child, struct ucmx_channel *channel)
{
	ucmx_id_leave_listener(child, channel);
	ucmx_id_name(child);
	trace_ucmx_id_create(channel, child);
	ucmx_id_let_go(child, channel);
}

/**
 * ucmx_id_orphan - a request will never be read, its child dies
 * @child: the child
 * @channel: owner of the listener; the lock is held, and a reference to the
 *	     listener
 * @events: list that gets the child's events, to be freed without the lock
 *
 * Its handle was reserved and is given back without anybody having seen it.
 */
void ucmx_id_orphan(struct ucmx_id *child, struct ucmx_channel *channel,
		    struct list_head *events)
{
	ucmx_id_leave_listener(child, channel);
	ucmx_id_die(child, channel, events);
}

/* Using. */

/**
 * ucmx_id_put - drop a reference
 * @id: the id
 */
void ucmx_id_put(struct ucmx_id *id)
{
	if (refcount_dec_and_test(&id->ref))
		ucmx_id_free(id);
}

/**
 * ucmx_id_lock - lock the channel that owns an id
 * @id: the id, with a reference or looked up under RCU, published or raised
 *
 * Read the owner, lock it, look again.  Neither the listener nor the channel
 * that is looked at can be freed under RCU, and once it is locked and still
 * the owner, the id keeps it.
 *
 * Return: the channel, locked.
 */
struct ucmx_channel *ucmx_id_lock(struct ucmx_id *id)
	__acquires(&id->channel->lock)
{
	struct ucmx_channel *channel;
	struct ucmx_id *listener;

	rcu_read_lock();
	for (;;) {
		/* Pairs with ucmx_id_leave_listener(). */
		listener = smp_load_acquire(&id->listener);
		channel = READ_ONCE((listener ?: id)->channel);
		spin_lock(&channel->lock);
		/* Should this be the wrong lock, they may change right now. */
		if (likely(READ_ONCE(id->listener) == listener &&
			   READ_ONCE((listener ?: id)->channel) == channel))
			break;
		spin_unlock(&channel->lock);
	}
	rcu_read_unlock();
	return channel;
}

/**
 * ucmx_id_begin - begin a command on an id
 * @channel: the channel that the command came in on
 * @handle: the id's handle
 *
 * Whether the id belongs to the channel is looked at with the id's command
 * mutex held, under the lock that decides it.
 *
 * Return: the id, for ucmx_id_end(); or -ENOENT, -ENXIO (its device is gone)
 * or -ERESTARTSYS as an error pointer.
 */
struct ucmx_id *ucmx_id_begin(struct ucmx_channel *channel, u32 handle)
{
	struct ucmx_id *id = ucmx_id_get(handle);
	struct ucmx_channel *owner;
	int err = 0;

	if (!id)
		return ERR_PTR(-ENOENT);
	/* Spares a stranger the mutex; decided is it below. */
	if (READ_ONCE(id->channel) != channel) {
		ucmx_id_put(id);
		return ERR_PTR(-ENOENT);
	}
	if (mutex_lock_interruptible(&id->op_mutex)) {
		ucmx_id_put(id);
		return ERR_PTR(-ERESTARTSYS);
	}
	owner = ucmx_id_lock(id);
	if (owner != channel || id->listener || id->dying)
		err = -ENOENT;
	else if (id->gone)
		err = -ENXIO;
	else
		refcount_inc(&id->users);
	spin_unlock(&owner->lock);
	if (!err)
		return id;
	mutex_unlock(&id->op_mutex);
	ucmx_id_put(id);
	return ERR_PTR(err);
}

/**
 * ucmx_id_end - end a command
 * @id: from ucmx_id_begin()
 */
void ucmx_id_end(struct ucmx_id *id)
{
	ucmx_users_put(id);
	mutex_unlock(&id->op_mutex);
	ucmx_id_put(id);
}
