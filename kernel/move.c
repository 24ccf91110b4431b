// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The migration of an id from one channel to another.
 *
 *  freeze: under the source's lock, the id's pending events leave the queue and
 *	    stay with the id, as do new ones.  Room on the target was reserved.
 *  drain:  wait, with no lock, until no event of the id is outstanding.
 *  commit: under both locks, the id changes owner and its events join the tail
 *	    of the target's queue.  Nothing can fail here.
 *
 * If the wait ends otherwise the id thaws: its events, those that came
 * meanwhile included, join the tail of the source's queue.  A call that cannot
 * wait finds out before it freezes, and moves nothing.
 *
 * If there is nothing to wait for, and nothing to announce, all of it is done in
 * one go with both locks, unless somebody else has the target's.
 *
 * The struct ucmx_migration is on the stack of the call; id->migration points
 * to it under the owner's lock and is cleared there before the call returns.
 * Only the call changes the owner of a frozen id, so the source's lock is the
 * owner's until the commit.  Both channels are pinned by their files.  No
 * reference that a device removal waits for is held.
 *
 * An unread child has no channel of its own and comes along with its listener.
 *
 * Cost: one step for each pending event of the id.
 */
#include "channel.h"
#include "id.h"
#include "limit.h"
#include "trace.h"

static bool ucmx_id_may_move(struct ucmx_id *id, const struct ucmx_wait *wait)
{
	return id->dying || !ucmx_id_unheld(id, wait);
}

/* Ahead of what is pending, though it has happened last. */
static void ucmx_move_announce(struct ucmx_id *id, struct ucmx_channel *owner,
			       struct ucmx_event *event)
{
	event->id = id;
	event->urgent = true;
	event->caused = true;
	event->head.seq = ++id->seq;
	list_add(&event->of_id, &id->pending);
	id->n_pending++;
	ucmx_id_count_caused(id, owner, event);
	trace_ucmx_event_raise(owner, event);
}

/*
 * The held event counts as acknowledged, the new cookie as a claim, and the
 * announcement is the first to be delivered.
 */
static void ucmx_move_finish(struct ucmx_id *id, struct ucmx_channel *owner,
			     const struct ucmx_move *move)
{
	struct ucmx_event *held;

	if (move->wait.held_seq) {
		held = ucmx_event_find_outstanding(id, move->wait.held_seq);
		if (held)
			ucmx_event_settle(owner, held);
	}
	if (move->set_cookie) {
		id->cookie = move->cookie;
		id->claimed = true;
	}
	if (move->announcement)
		ucmx_move_announce(id, owner, move->announcement);
}

static void ucmx_move_commit(struct ucmx_id *id, struct ucmx_channel *source,
			     struct ucmx_channel *target,
			     const struct ucmx_move *move)
{
	lockdep_assert_held(&source->lock);
	lockdep_assert_held(&target->lock);
	ucmx_move_finish(id, source, move);
	ucmx_channel_get(target);
	WRITE_ONCE(id->channel, target);
	list_move_tail(&id->of_channel, &target->ids);
	ucmx_channel_fulfil(target, source, 1 + id->n_unread);
	source->n_waiters -= id->n_waiters;
	target->n_waiters += id->n_waiters;
	id->migration = NULL;
	trace_ucmx_migrate_commit(source, target, id, 0);
	ucmx_id_let_go(id, target);
}

/* From the one queue to the tail of the other. */
static void ucmx_move_events(struct ucmx_id *id, struct ucmx_channel *source,
			     struct ucmx_channel *target)
{
	struct ucmx_event *event;
	unsigned int n = 0;

	list_for_each_entry(event, &id->pending, of_id) {
		if (list_empty(&event->queued))
			continue;
		list_move_tail(&event->queued, &target->events);
		n++;
	}
	source->n_pending -= n;
	target->n_pending += n;
	if (n)
		ucmx_channel_wake(target, n);
}

/*
 * When there is nothing to wait for and the target's lock is to be had, the three
 * steps are one.  In the wrong order one may try to take a lock, not wait for it.
 */
static bool ucmx_move_at_once(struct ucmx_id *id, struct ucmx_channel *source,
			      struct ucmx_channel *target,
			      const struct ucmx_move *move)
{
	lockdep_assert_held(&source->lock);
	if (source < target)
		spin_lock_nested(&target->lock, SINGLE_DEPTH_NESTING);
	else if (!spin_trylock(&target->lock))
		return false;
	/* With a claim others may be delivered, and all in their own order. */
	if (move->set_cookie && !id->claimed)
		ucmx_id_hold_back(id, source);
	else
		ucmx_move_events(id, source, target);
	ucmx_move_commit(id, source, target, move);
	spin_unlock(&target->lock);
	return true;
}

/*
 * Freeze @id, unless the call fails or has nothing to wait for and nowhere to
 * go, or is done at once: then id->migration stays NULL.
 */
static int ucmx_move_freeze(struct ucmx_id *id, struct ucmx_channel *source,
			    struct ucmx_migration *migration,
			    const struct ucmx_move *move)
{
	struct ucmx_channel *target = migration->target;
	const struct ucmx_wait *wait = &move->wait;
	u32 unheld;
	int err;

	lockdep_assert_held(&source->lock);
	if (id->migration)
		return -EBUSY;
	if (wait->held_seq && !ucmx_event_find_outstanding(id, wait->held_seq))
		return -EINVAL;
	if (move->announcement && ucmx_id_caused_too_many(id, source))
		return -ENOSPC;
	unheld = ucmx_id_unheld(id, wait);
	err = unheld ? ucmx_wait_is_over(wait) : 0;
	if (err)
		return err;
	if (target == source && !unheld && !move->announcement) {
		ucmx_move_finish(id, source, move);
		ucmx_id_let_go(id, source);
		return 0;
	}
	if (target != source) {
		migration->promised = 1 + id->n_unread;
		if (!ucmx_channel_promise(target, migration->promised))
			return -ENOSPC;
		migration->moved = !unheld && !move->announcement &&
				   ucmx_move_at_once(id, source, target, move);
		if (migration->moved)
			return 0;
	}
	migration->frozen = true;
	id->migration = migration;
	ucmx_id_hold_back(id, source);
	trace_ucmx_migrate_freeze(source, target, id, 0);
	return 0;
}

/* Back to where it was; also the end of a migration to the same channel. */
static void ucmx_move_thaw(struct ucmx_id *id, struct ucmx_channel *source,
			   struct ucmx_migration *migration)
{
	lockdep_assert_held(&source->lock);
	id->migration = NULL;
	ucmx_channel_unpromise(migration->target, migration->promised);
	ucmx_id_let_go(id, source);
}

/*
 * After the wait: @err says how it ended, the id whether it was destroyed.  An
 * acknowledgement that came after a wait that failed does not count any more:
 * the announcement was not described.
 */
static int ucmx_move_end(struct ucmx_id *id, struct ucmx_channel *source,
			 struct ucmx_migration *migration,
			 const struct ucmx_move *move, int err)
{
	struct ucmx_channel *target = migration->target;

	ucmx_channel_lock_two(source, target);
	if (id->dying)
		err = -ECANCELED;
	if (!err && target != source) {
		ucmx_move_commit(id, source, target, move);
	} else {
		if (!err)
			ucmx_move_finish(id, source, move);
		trace_ucmx_migrate_roll_back(source, target, id, err);
		ucmx_move_thaw(id, source, migration);
	}
	ucmx_channel_unlock_two(source, target);
	/* The id's own reference to where it was; the file still has one. */
	if (!err && target != source)
		ucmx_channel_put(source);
	return err;
}

/* Commands change what is described, so none may be at work meanwhile. */
static int ucmx_move_describe(struct ucmx_id *id, struct ucmx_event *event)
{
	if (mutex_lock_interruptible(&id->op_mutex))
		return -ERESTARTSYS;
	id->ops->describe(id, event);
	mutex_unlock(&id->op_mutex);
	return 0;
}

/**
 * ucmx_id_migrate - move an id and what is pending of it to another channel
 * @source: the channel that the command came in on; pinned by the caller
 * @handle: the id's handle
 * @target: the channel it goes to; pinned by the caller
 * @move: how to wait, and what else to do
 *
 * Return: 0; or, and then nothing happened: -ENOENT, -EBUSY, -EINVAL (no such
 * event is held), -ENOSPC (a limit), -EAGAIN, -ETIMEDOUT,
 * -ERESTARTSYS, -ECANCELED (the id was destroyed meanwhile).
 */
int ucmx_id_migrate(struct ucmx_channel *source, u32 handle,
		    struct ucmx_channel *target, const struct ucmx_move *move)
{
	struct ucmx_migration migration = { .target = target };
	struct ucmx_channel *owner;
	struct ucmx_id *id;
	int err;

	owner = ucmx_id_find(source, handle, &id);
	if (!id || owner != source || id->listener || id->dying)
		err = -ENOENT;
	else
		err = ucmx_move_freeze(id, source, &migration, move);
	if (migration.frozen)
		refcount_inc(&id->ref);
	ucmx_id_found(owner);
	if (migration.frozen) {
		err = ucmx_id_wait(id, &move->wait, ucmx_id_may_move);
		if (!err && move->announcement)
			err = ucmx_move_describe(id, move->announcement);
		err = ucmx_move_end(id, source, &migration, move, err);
		ucmx_id_put(id);
	}
	/* The id's own reference to where it was; the file still has one. */
	if (migration.moved)
		ucmx_channel_put(source);
	return err;
}
