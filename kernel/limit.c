// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Limits of ids, so that no channel, and no user with however many of them,
 * keeps others from having any.  How many there are in all is counted in id.c.
 *
 * An id is charged to its channel and to the user who opened that, wherever the
 * descriptor went since.  A migration has its target promise room in the
 * channel; that may put the target's user over the limit, who then gets no new
 * ids: whoever opened a channel and gave it away has said yes to that.
 *
 * A request that was read is an event of its listener until it is acknowledged,
 * whatever became of the id that it brought.  So these are counted as well, and so
 * are events that commands cause: a thousand of each of a user's ids would be more
 * than most machines have memory.
 *
 * What ids stand for, if that may take its time, ends on one work queue: rdma_cm waits
 * there for the peer of an iWARP connection.  The queue has room for so many at a
 * time; each user has some of it, and what there is besides waits in a line of
 * that user's.  So nobody keeps others' ids, and devices, from going away.
 *
 * Locking: counts are atomic; the table of users, which only opening a channel
 * and giving up its last reference look at, and the lines have a lock each,
 * inside of all others.
 */
#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "channel.h"
#include "limit.h"

unsigned int ucmx_max_ids = 1 << 18;
unsigned int ucmx_max_ids_per_user = 3 << 16;
unsigned int ucmx_max_channel_ids = 1 << 17;
unsigned int ucmx_max_user_events = 1024;
unsigned int ucmx_max_events_per_user = 1 << 20;
unsigned int ucmx_max_groups = 1024;

/* How many ids of a user end at a time; see ucmx_id_core_init(). */
#define UCMX_MAX_ENDING	128

/**
 * struct ucmx_user - who opened channels
 * @of_table: in the table of users (ucmx_users_lock)
 * @uid: who it is
 * @n_ids: ids of all those channels, unread children included
 * @n_requests: requests that were read on those channels and not acknowledged
 * @n_events: events that commands on those channels caused, until they are freed,
 *	      and multicast groups that they joined
 * @n_ending: ids that end now; lowered under ucmx_ending_lock
 * @line: ids that are to end, then (ucmx_ending_lock)
 * @ref: one for each channel, for each id that ends, each such event and group
 */
struct ucmx_user {
	struct hlist_node of_table;
	kuid_t uid;
	atomic_t n_ids;
	atomic_t n_requests;
	atomic_t n_events;
	atomic_t n_ending;
	struct list_head line;
	refcount_t ref;
};

static DEFINE_HASHTABLE(ucmx_users, 6);
static DEFINE_SPINLOCK(ucmx_users_lock);
static DEFINE_SPINLOCK(ucmx_ending_lock);

static struct ucmx_user *ucmx_user_find(kuid_t uid)
{
	struct ucmx_user *user;

	lockdep_assert_held(&ucmx_users_lock);
	hash_for_each_possible(ucmx_users, user, of_table, __kuid_val(uid)) {
		if (uid_eq(user->uid, uid))
			return user;
	}
	return NULL;
}

/**
 * ucmx_user_get - find or make the account of a user
 * @uid: who
 *
 * Return: the account with a reference, or NULL if there is no memory.
 */
struct ucmx_user *ucmx_user_get(kuid_t uid)
{
	struct ucmx_user *new, *user;

	new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);
	if (!new)
		return NULL;
	new->uid = uid;
	atomic_set(&new->n_ids, 0);
	atomic_set(&new->n_requests, 0);
	atomic_set(&new->n_events, 0);
	atomic_set(&new->n_ending, 0);
	INIT_LIST_HEAD(&new->line);
	refcount_set(&new->ref, 1);
	spin_lock(&ucmx_users_lock);
	user = ucmx_user_find(uid);
	if (user)
		refcount_inc(&user->ref);
	else
		hash_add(ucmx_users, &new->of_table, __kuid_val(uid));
	spin_unlock(&ucmx_users_lock);
	if (!user)
		return new;
	kfree(new);
	return user;
}

/**
 * ucmx_user_put - drop a reference
 * @user: the account
 */
void ucmx_user_put(struct ucmx_user *user)
{
	bool last;

	/* No lock that others share, but for what may be the last one. */
	if (refcount_dec_not_one(&user->ref))
		return;
	spin_lock(&ucmx_users_lock);
	last = refcount_dec_and_test(&user->ref);
	if (last)
		hash_del(&user->of_table);
	spin_unlock(&ucmx_users_lock);
	if (!last)
		return;
	WARN_ON_ONCE(atomic_read(&user->n_ids) ||
		     atomic_read(&user->n_requests) ||
		     atomic_read(&user->n_events));
	kfree(user);
}

/**
 * ucmx_user_ids - how many ids a user has
 * @user: the account
 *
 * Return: ids of all channels that the user opened.
 */
u32 ucmx_user_ids(const struct ucmx_user *user)
{
	return atomic_read(&user->n_ids);
}

/**
 * ucmx_user_events - how many events a user has that commands caused
 * @user: the account
 *
 * Return: those of all channels that the user opened.
 */
u32 ucmx_user_events(const struct ucmx_user *user)
{
	return atomic_read(&user->n_events);
}

/**
 * ucmx_user_of - who is charged for a channel's ids
 * @channel: the channel
 *
 * Return: the account, with a reference.
 */
struct ucmx_user *ucmx_user_of(const struct ucmx_channel *channel)
{
	refcount_inc(&channel->user->ref);
	return channel->user;
}

static bool ucmx_count_up(atomic_t *count, unsigned int n, unsigned int limit)
{
	int old = atomic_read(count);

	/* Not above the limit for a moment: others would be refused for it. */
	do {
		if (n > limit || (unsigned int)old > limit - n)
			return false;
	} while (!atomic_try_cmpxchg(count, &old, old + n));
	return true;
}

/**
 * ucmx_user_begin_end - an id of a user's is to end
 * @user: the account
 * @entry: the id's, on no list
 *
 * Return: true if it may end right now; else ucmx_user_end_end() will say so.
 */
bool ucmx_user_begin_end(struct ucmx_user *user, struct list_head *entry)
{
	bool now = ucmx_count_up(&user->n_ending, 1, UCMX_MAX_ENDING);

	if (now)
		return true;
	/* While somebody stands in line there are as many as may be. */
	spin_lock(&ucmx_ending_lock);
	now = ucmx_count_up(&user->n_ending, 1, UCMX_MAX_ENDING);
	if (!now)
		list_add_tail(entry, &user->line);
	spin_unlock(&ucmx_ending_lock);
	return now;
}

/**
 * ucmx_user_end_end - an id of a user's has ended
 * @user: the account
 *
 * Return: the entry of the one that may end now, on no list, or NULL.
 */
struct list_head *ucmx_user_end_end(struct ucmx_user *user)
{
	struct list_head *next = NULL;

	spin_lock(&ucmx_ending_lock);
	if (list_empty(&user->line)) {
		atomic_dec(&user->n_ending);
	} else {
		next = user->line.next;
		list_del_init(next);
	}
	spin_unlock(&ucmx_ending_lock);
	return next;
}

/**
 * ucmx_channel_charge - count a new id
 * @channel: whose
 *
 * Return: whether there was room, in the channel and for its user.
 */
bool ucmx_channel_charge(struct ucmx_channel *channel)
{
	if (!ucmx_channel_promise(channel, 1))
		return false;
	if (ucmx_count_up(&channel->user->n_ids, 1,
			  READ_ONCE(ucmx_max_ids_per_user)))
		return true;
	ucmx_channel_unpromise(channel, 1);
	return false;
}

/**
 * ucmx_channel_uncharge - an id is gone
 * @channel: whose it was
 */
void ucmx_channel_uncharge(struct ucmx_channel *channel)
{
	ucmx_channel_unpromise(channel, 1);
	atomic_dec(&channel->user->n_ids);
}

/**
 * ucmx_channel_promise - keep room for ids that are on their way
 * @channel: where they are to go
 * @n: how many
 *
 * Return: whether there was room.
 */
bool ucmx_channel_promise(struct ucmx_channel *channel, unsigned int n)
{
	return ucmx_count_up(&channel->n_ids, n,
			     READ_ONCE(ucmx_max_channel_ids));
}

/**
 * ucmx_channel_unpromise - give room back that was promised
 * @channel: where they were to go
 * @n: how many
 */
void ucmx_channel_unpromise(struct ucmx_channel *channel, unsigned int n)
{
	atomic_sub(n, &channel->n_ids);
}

/**
 * ucmx_channel_fulfil - ids have come where room was promised for them
 * @target: where they are now
 * @source: where they were, and were charged
 * @n: how many
 */
void ucmx_channel_fulfil(struct ucmx_channel *target,
			 struct ucmx_channel *source, unsigned int n)
{
	ucmx_channel_unpromise(source, n);
	if (target->user == source->user)
		return;
	atomic_add(n, &target->user->n_ids);
	atomic_sub(n, &source->user->n_ids);
}

/**
 * ucmx_channel_has_requests - whether the user of a channel has as many requests
 *			       unacknowledged as may be
 * @channel: the channel
 *
 * Return: true if there must be no more.
 */
bool ucmx_channel_has_requests(struct ucmx_channel *channel)
{
	return (unsigned int)atomic_read(&channel->user->n_requests) >=
	       READ_ONCE(ucmx_max_ids_per_user);
}

/**
 * ucmx_channel_charge_request - count a request that was read
 * @channel: where
 */
void ucmx_channel_charge_request(struct ucmx_channel *channel)
{
	atomic_inc(&channel->user->n_requests);
}

/**
 * ucmx_channel_uncharge_request - a request was acknowledged
 * @channel: where it was read
 */
void ucmx_channel_uncharge_request(struct ucmx_channel *channel)
{
	atomic_dec(&channel->user->n_requests);
}

/**
 * ucmx_channel_has_events - whether the user of a channel has as many events that
 *			     commands caused as may be
 * @channel: the channel
 *
 * Return: true if there must be no more.
 */
bool ucmx_channel_has_events(struct ucmx_channel *channel)
{
	return ucmx_user_events(channel->user) >=
	       READ_ONCE(ucmx_max_events_per_user);
}

/**
 * ucmx_channel_charge_event - count an event that a command caused
 * @channel: where
 *
 * Return: the account, for ucmx_user_uncharge_event().
 */
struct ucmx_user *ucmx_channel_charge_event(struct ucmx_channel *channel)
{
	atomic_inc(&channel->user->n_events);
	return ucmx_user_of(channel);
}

/**
 * ucmx_user_uncharge_event - such an event is gone
 * @user: the account
 */
void ucmx_user_uncharge_event(struct ucmx_user *user)
{
	atomic_dec(&user->n_events);
	ucmx_user_put(user);
}
