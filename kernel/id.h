/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Ids: the objects behind rdma_cm_ids, the table of their handles, and their
 * lives from creation to the last acknowledgement.  See id.c for the rules.
 */
#ifndef UCMX_ID_H
#define UCMX_ID_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "channel.h"

struct ucmx_id;
struct ucmx_user;

/**
 * struct ucmx_id_ops - what an id stands for
 * @release: end what the id stands for.  After it has returned no event is
 *	     raised any more.  Called once, from a work item or by who destroys
 *	     it, when nobody uses the id any more and no sooner than it is dying
 *	     or its device gone.  May sleep.
 * @waits_for_nobody: whether @release is soon done whatever others do, so that
 *		      who destroys the id need not leave it to the work item;
 *		      NULL if it never is.  Called when nobody uses the id, with
 *		      its owner's lock held.
 * @describe: fill in the record of the event that announces the id; called with
 *	      the command mutex held, may sleep
 * @free: give the memory back, after a grace period and in any context
 */
struct ucmx_id_ops {
	void (*release)(struct ucmx_id *id);
	bool (*waits_for_nobody)(struct ucmx_id *id);
	void (*describe)(struct ucmx_id *id, struct ucmx_event *event);
	void (*free)(struct ucmx_id *id);
};

/**
 * struct ucmx_migration - a migration under way, on the stack of its caller
 * @target: where the id goes
 * @promised: ids for which @target has promised room
 * @frozen: the id was frozen for it
 * @moved: the id was moved at once; whose it is since then is not known
 */
struct ucmx_migration {
	struct ucmx_channel *target;
	unsigned int promised;
	bool frozen;
	bool moved;
};

/**
 * struct ucmx_id - an id
 *
 * "Owner's lock" is the lock of the channel that owns the id; for an unread
 * child, that of the channel that owns its listener.  ucmx_id_lock() finds it.
 *
 * @channel: the owner, NULL for an unread child.  Changes under the owner's
 *	     lock (in a commit, both), may be looked at under RCU.
 * @listener: of an unread child, the listener; with a reference.  Changes under
 *	      the owner's lock, may be looked at under RCU.
 * @of_channel: in the channel's list of ids (owner's lock)
 * @ops: what it stands for
 * @handle: what user space calls it
 * @cookie: user space's own name for it (owner's lock)
 * @seq: number of the latest event (owner's lock)
 * @turn: of the event that was taken last (owner's lock)
 * @room: room for events to come (owner's lock)
 * @groups: multicast groups (owner's lock)
 * @pending: pending events, oldest first (owner's lock)
 * @outstanding: outstanding events, oldest first (owner's lock)
 * @by_seq: those of them that were taken when there were many (owner's lock)
 * @n_pending: events on @pending (owner's lock)
 * @n_outstanding: events on @outstanding (owner's lock)
 * @n_waiters: calls that wait for something of it (owner's lock)
 * @backlog: of a listener, unread children it may have (owner's lock)
 * @n_unread: unread children (owner's lock)
 * @n_caused: events that commands caused and that were not acknowledged
 *	      (owner's lock)
 * @n_groups: multicast groups, left ones that are waited for included
 *	      (owner's lock)
 * @migration: while it is frozen (owner's lock)
 * @claimed: events are delivered (owner's lock)
 * @dying: it was destroyed (owner's lock)
 * @gone: its device was removed (owner's lock)
 * @ended: the end has begun (owner's lock)
 * @released: the end has been reached (owner's lock)
 * @published: its handle names it; set once (owner's lock), looked at with RCU
 * @unpublished: its handle is free (owner's lock)
 * @wait: who waits for acknowledgements or for the end; woken under the owner's
 *	  lock
 * @op_mutex: one command at a time, outside of all other locks
 * @users: commands that use what the id stands for, and one until it is left to
 *	   the last of them to end that.  Not to be held over a wait or a user
 *	   copy.
 * @release_work: calls @ops->release
 * @payer: whose turn @release_work takes, from when the end is left to it
 * @in_line: in that user's line
 * @ref: memory; held by the handle, until @released, and by who looked it up
 * @rcu: for @ops->free
 */
struct ucmx_id {
	struct ucmx_channel *channel;
	struct ucmx_id *listener;
	struct list_head of_channel;
	const struct ucmx_id_ops *ops;
	u32 handle;
	u64 cookie;
	u64 seq;
	u64 turn;
	struct list_head room;
	struct list_head groups;
	struct list_head pending;
	struct list_head outstanding;
	struct rb_root by_seq;
	u32 n_pending;
	u32 n_outstanding;
	u32 n_waiters;
	u32 backlog;
	u32 n_unread;
	u32 n_caused;
	u32 n_groups;
	struct ucmx_migration *migration;
	bool claimed;
	bool dying;
	bool gone;
	bool ended;
	bool released;
	bool published;
	bool unpublished;
	wait_queue_head_t wait;
	struct mutex op_mutex;
	refcount_t users;
	struct work_struct release_work;
	struct ucmx_user *payer;
	struct list_head in_line;
	refcount_t ref;
	struct rcu_head rcu;
};

int ucmx_id_core_init(void);
void ucmx_id_core_exit(void);

/*
 * Creation: init, then publish or abort.  A request's child is handed to
 * ucmx_request_raise() instead of being published.
 */
int ucmx_id_init(struct ucmx_id *id, const struct ucmx_id_ops *ops, gfp_t gfp);
void ucmx_id_abort(struct ucmx_id *id);
void ucmx_id_publish(struct ucmx_id *id, struct ucmx_channel *channel,
		     u64 cookie);

/* An unread child: added to its listener, then adopted or orphaned. */
int ucmx_id_add_unread(struct ucmx_id *listener, struct ucmx_id *child,
		       struct ucmx_channel *channel);
void ucmx_id_adopt_unread(struct ucmx_id *child, struct ucmx_channel *channel);
void ucmx_id_orphan(struct ucmx_id *child, struct ucmx_channel *channel,
		    struct list_head *events);

/* Finding and using. */
struct ucmx_id *ucmx_id_get(u32 handle);
struct ucmx_id *ucmx_id_peek(u32 handle);
struct ucmx_id *ucmx_id_get_next(u32 first);
void ucmx_id_put(struct ucmx_id *id);
struct ucmx_channel *ucmx_id_lock(struct ucmx_id *id)
	__acquires(&id->channel->lock);
struct ucmx_id *ucmx_id_begin(struct ucmx_channel *channel, u32 handle);
void ucmx_id_end(struct ucmx_id *id);
bool ucmx_users_get(struct ucmx_id *id);
void ucmx_users_put(struct ucmx_id *id);
bool ucmx_id_end_here(struct ucmx_id *id);
void ucmx_id_release(struct ucmx_id *id);

/**
 * ucmx_id_find - look up an id, to look at it under one holding of its lock
 * @channel: the channel that the command came in on
 * @handle: the id's handle
 * @id: set to the id, or to NULL
 *
 * Without a reference: until ucmx_id_found() RCU keeps the id's memory and its
 * channel's.  Only as long as it is published does it keep them itself.
 *
 * Return: the channel that owns the id, or @channel if there is none; locked.
 */
static inline struct ucmx_channel *ucmx_id_find(struct ucmx_channel *channel,
						u32 handle,
						struct ucmx_id **id)
	__acquires(RCU) __acquires(&channel->lock)
{
	rcu_read_lock();
	*id = ucmx_id_peek(handle);
	if (*id)
		return ucmx_id_lock(*id);
	spin_lock(&channel->lock);
	return channel;
}

/**
 * ucmx_id_found - undo ucmx_id_find()
 * @owner: what that returned
 */
static inline void ucmx_id_found(struct ucmx_channel *owner)
	__releases(RCU) __releases(&owner->lock)
{
	spin_unlock(&owner->lock);
	rcu_read_unlock();
}

/* Room for events. */
u32 ucmx_rooms_there(struct ucmx_id *id);
int ucmx_rooms_add(struct ucmx_id *id, struct list_head *rooms);
int ucmx_room_make_unseen(struct ucmx_id *id, enum ucmx_room room,
			  size_t capacity, gfp_t gfp);
bool ucmx_id_caused_too_many(const struct ucmx_id *id,
			     struct ucmx_channel *channel);
void ucmx_id_count_caused(struct ucmx_id *id, struct ucmx_channel *channel,
			  struct ucmx_event *event);
void ucmx_room_drop(struct ucmx_id *id, enum ucmx_room room);
struct ucmx_event *ucmx_room_find(struct ucmx_id *id, enum ucmx_room room);
struct ucmx_event *ucmx_room_take(struct ucmx_id *id, enum ucmx_room room);

/* What changes in a life. */
u32 ucmx_id_set_backlog(struct ucmx_id *id, u32 backlog);
void ucmx_id_claim(struct ucmx_id *id, u64 cookie);
int ucmx_id_adopt(struct ucmx_channel *channel, struct ucmx_id *id, u64 cookie);
void ucmx_id_device_gone(struct ucmx_id *id);
void ucmx_id_die(struct ucmx_id *id, struct ucmx_channel *channel,
		 struct list_head *events);
void ucmx_id_drained(struct ucmx_id *id);

/* Which of its events are in the channel's queue. */
/**
 * ucmx_id_delivers - whether a pending event belongs into the queue now
 * @id: the id; its owner's lock is held
 * @event: an event of it
 *
 * Return: false while the event is held with the id.
 */
static inline bool ucmx_id_delivers(const struct ucmx_id *id,
				    const struct ucmx_event *event)
{
	return !id->listener && !id->migration && !id->dying &&
	       (id->claimed || event->urgent);
}

void ucmx_id_hold_back(struct ucmx_id *id, struct ucmx_channel *channel);
void ucmx_id_let_go(struct ucmx_id *id, struct ucmx_channel *channel);

/**
 * struct ucmx_wait - how a call waits for acknowledgements
 * @nonblock: not at all
 * @deadline: CLOCK_MONOTONIC until when, 0 for ever
 * @held_seq: an outstanding event that does not count, or 0
 */
struct ucmx_wait {
	bool nonblock;
	u64 deadline;
	u64 held_seq;
};

/**
 * ucmx_id_wake - have those who wait for something of an id look again
 * @id: the id; its owner's lock is held
 *
 * Whoever waits has looked under that lock, and counted itself.
 */
static inline void ucmx_id_wake(struct ucmx_id *id)
{
	if (id->n_waiters)
		wake_up_all(&id->wait);
}

typedef bool (*ucmx_wait_done_fn)(struct ucmx_id *id,
				  const struct ucmx_wait *wait);

int ucmx_wait_is_over(const struct ucmx_wait *wait);
u32 ucmx_id_unheld(struct ucmx_id *id, const struct ucmx_wait *wait);
int ucmx_id_wait(struct ucmx_id *id, const struct ucmx_wait *wait,
		 ucmx_wait_done_fn done);
int ucmx_id_destroy(struct ucmx_channel *channel, u32 handle,
		    const struct ucmx_wait *wait);
void ucmx_id_info(struct ucmx_id *id, struct rdma_ucmx_id_info *info);

/**
 * struct ucmx_move - what a migration is to do besides moving
 * @wait: how to wait
 * @set_cookie: give the id @cookie and claim it
 * @cookie: see @set_cookie
 * @announcement: an event that goes ahead of the id's others, or NULL; the
 *		  call consumes it if it succeeds
 */
struct ucmx_move {
	struct ucmx_wait wait;
	bool set_cookie;
	u64 cookie;
	struct ucmx_event *announcement;
};

int ucmx_id_migrate(struct ucmx_channel *source, u32 handle,
		    struct ucmx_channel *target, const struct ucmx_move *move);

#endif /* UCMX_ID_H */
