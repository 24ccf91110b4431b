// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Which channel owns an id: a command is valid only there.
 *
 * The kernel decides at the commit of a migration, and this library learns of
 * it a moment later, or earlier in another thread by an event.  So a command
 * may be sent to a channel that the id has just left, and is answered ENOENT
 * there.  It is then sent to the others that come into question.  These are
 * id->channel and the targets of the migrations that are in the kernel:
 *
 *  - every migration is in id->moves from before its system call until after
 *    id->channel tells its result, both under id->lock;
 *  - so at any time the owner is one of these.
 *
 * A search that fails at all of them while none of this changed found an id
 * that does not exist, or one that is moved again and again under it.  It
 * waits in the second case until something changed: such a migration is about
 * to return.  id->version tells the changes.
 *
 * ENOENT may also be what rdma_cm says to a command.  The search must not wait
 * then, for the migration itself may wait for long.  So while there is one, a
 * channel that answers ENOENT is asked whether the id is there, and given the
 * command once more if it is: if the id was not there before, it is found now.
 * It cannot be gone again unless another migration began, which changes
 * id->version.
 *
 * What id->channel may be set to:
 *
 *  - a channel that an event of the id was read from, before the reader hands
 *    it out: unacknowledged, it keeps the id there;
 *  - the target of a migration that has succeeded, if id->channel was not set
 *    since it was issued.  If it was, who was last is not known, and the
 *    kernel is asked whether the id is there, with id->lock held: if it is
 *    moved on after that, that migration finds the same and asks in its turn.
 */
#include "cmx.h"

/* Called with id->lock held. */
static struct cmx_channel *candidate(struct cmx_id *id, unsigned int number)
{
	struct cmx_move *move = id->moves;

	if (!number)
		return id->channel;
	while (move && --number)
		move = move->next;
	return move ? move->target : NULL;
}

/* Called with id->lock held. */
static void wait_for_change(struct cmx_id *id, unsigned int version)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	id->waited = true;
	id->waiting++;
	while (id->moves && id->version == version)
		pthread_cond_wait(&id->moved, &id->lock);
	id->waiting--;
	pthread_setcancelstate(state, NULL);
}

/* Called with id->lock held. */
static struct cmx_channel *next_channel(struct cmx_walk *walk)
{
	struct cmx_id *id = walk->id;
	struct cmx_channel *channel;

	for (;;) {
		if (!walk->started || walk->version != id->version) {
			walk->started = true;
			walk->closed = false;
			walk->version = id->version;
			walk->next = 0;
		}
		channel = candidate(id, walk->next++);
		if (channel ? cmx_channel_use(channel) : !id->moves)
			return channel;
		if (channel)
			walk->closed = true;
		else
			wait_for_change(id, walk->version);
	}
}

/**
 * cmx_walk_next - find the next channel to try
 * @walk: the search, with only its id set at first
 *
 * Returns a channel to be given back with cmx_channel_unuse(), or NULL if there
 * is none left: cmx_walk_error() has the reason.
 */
struct cmx_channel *cmx_walk_next(struct cmx_walk *walk)
{
	struct cmx_channel *channel;

	pthread_mutex_lock(&walk->id->lock);
	channel = next_channel(walk);
	pthread_mutex_unlock(&walk->id->lock);
	return channel;
}

/**
 * cmx_walk_error - set errno after a search that found nothing
 * @walk: the search
 *
 * EBADF: the id's channel was destroyed.  ENOENT: there is no such id.
 * Returns -1.
 */
int cmx_walk_error(const struct cmx_walk *walk)
{
	return cmx_error(walk->closed ? EBADF : ENOENT);
}

static bool is_moving(const struct cmx_walk *walk)
{
	struct cmx_id *id = walk->id;
	bool moving;

	pthread_mutex_lock(&id->lock);
	moving = id->moves && walk->version == id->version;
	pthread_mutex_unlock(&id->lock);
	return moving;
}

/* Returns whether the search is over: the result and errno are the command's. */
static bool try_command(const struct cmx_walk *walk,
			const struct cmx_channel *channel,
			unsigned long request, void *argument, int *ret)
{
	uint32_t handle = atomic_load(&walk->id->handle);

	*ret = cmx_sys_command(channel->fd, request, argument);
	if (*ret >= 0 || errno != ENOENT)
		return true;
	if (!is_moving(walk) || !cmx_sys_owns(channel->fd, handle))
		return false;
	*ret = cmx_sys_command(channel->fd, request, argument);
	return *ret >= 0 || errno != ENOENT || is_moving(walk);
}

/**
 * cmx_id_last_command - send a command to the channel that owns an id
 * @id: the id; the caller has a reference
 * @request: RDMA_UCMX_*
 * @argument: its struct, complete
 *
 * As cmx_id_command().
 */
int cmx_id_last_command(struct cmx_id *id, unsigned long request,
			void *argument)
{
	struct cmx_walk walk = { .id = id };
	struct cmx_channel *channel;
	bool over = false;
	int ret = -1;

	while (!over) {
		channel = cmx_walk_next(&walk);
		if (!channel)
			return cmx_walk_error(&walk);
		over = try_command(&walk, channel, request, argument, &ret);
		cmx_channel_unuse(channel);
	}
	return ret;
}

/**
 * cmx_id_command - send a command to the channel that owns an id
 * @id: the id; the caller has a reference, or the user's pointer
 * @request: RDMA_UCMX_*
 * @argument: its struct, complete
 *
 * Returns what the kernel returns, or -1 and errno; EBADF if the id's channel
 * was destroyed.
 */
int cmx_id_command(struct cmx_id *id, unsigned long request, void *argument)
{
	int ret;

	cmx_id_get(id);
	ret = cmx_id_last_command(id, request, argument);
	cmx_id_put(id);
	return ret;
}

/* Called with id->lock held.  A search that knew the rest still does. */
static void changed(struct cmx_id *id, struct cmx_walk *walk)
{
	bool current = walk && walk->version == id->version;

	id->version++;
	if (current)
		walk->version = id->version;
	if (id->waiting)
		pthread_cond_broadcast(&id->moved);
}

/**
 * cmx_move_begin - find where to issue a migration, and announce it
 * @walk: the search, as with cmx_walk_next()
 * @move: the migration, with its target set; stays in use until
 *        cmx_move_end()
 *
 * Returns as cmx_walk_next(); without a channel nothing was announced.
 */
struct cmx_channel *cmx_move_begin(struct cmx_walk *walk, struct cmx_move *move)
{
	struct cmx_id *id = walk->id;
	struct cmx_move **last = &id->moves;
	struct cmx_channel *channel;

	pthread_mutex_lock(&id->lock);
	channel = next_channel(walk);
	if (channel) {
		while (*last)
			last = &(*last)->next;
		*last = move;
		move->next = NULL;
		move->owners = id->owners;
		changed(id, walk);
	}
	pthread_mutex_unlock(&id->lock);
	return channel;
}

/*
 * Called with id->lock held.  Counts even if the owner stays the same: a
 * migration that began before and ends after this must not undo it.  Returns
 * the channel whose reference is to be given back, or NULL.
 */
static struct cmx_channel *set_owner(struct cmx_id *id,
				     struct cmx_channel *channel)
{
	struct cmx_channel *old = id->channel;

	id->owners++;
	if (old == channel)
		return NULL;
	id->channel = cmx_channel_get(channel);
	id->id.channel = &channel->channel;
	return old;
}

/**
 * cmx_move_end - tell the result of a migration, after its system call
 * @walk: as with cmx_move_begin()
 * @move: the migration
 * @done: whether it succeeded
 */
void cmx_move_end(struct cmx_walk *walk, struct cmx_move *move, bool done)
{
	struct cmx_id *id = walk->id;
	struct cmx_move **link = &id->moves;
	struct cmx_channel *old = NULL;

	pthread_mutex_lock(&id->lock);
	while (*link != move)
		link = &(*link)->next;
	*link = move->next;
	if (done && (move->owners == id->owners ||
		     cmx_sys_owns(move->target->fd, atomic_load(&id->handle))))
		old = set_owner(id, move->target);
	move->synchronous = id->own_channel;
	changed(id, walk);
	pthread_mutex_unlock(&id->lock);
	if (old)
		cmx_channel_put(old);
}

/**
 * cmx_id_seen_on - note where an event of an id was read
 * @id: the id
 * @channel: the channel
 * @route: what the event says of the id's addresses, or NULL
 *
 * To be called while the event is unacknowledged.
 */
void cmx_id_seen_on(struct cmx_id *id, struct cmx_channel *channel,
		    const struct rdma_ucmx_route *route)
{
	struct cmx_channel *old;

	pthread_mutex_lock(&id->lock);
	if (route)
		cmx_record_put_route(id, route);
	old = set_owner(id, channel);
	if (old)
		changed(id, NULL);
	pthread_mutex_unlock(&id->lock);
	if (old)
		cmx_channel_put(old);
}
