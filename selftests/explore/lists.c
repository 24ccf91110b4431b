// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The core's own lists, looked at whenever a channel is unlocked, which is
 * when what the lock protects must be in order: which events are where, and
 * that what has changed since the last time is a change that may be made.
 */
#include "search.h"
#include "world.h"

static bool i_do(enum op_kind kind)
{
	return ME->call && ME->call->kind == kind;
}

/* A migration that has not moved its id: it fails, or goes nowhere. */
static bool i_stay(int k)
{
	return i_do(OP_MIGRATE) && ME->call->id == k && !ME->moved;
}

static int desk_of(const struct ucmx_channel *channel)
{
	int c;

	for (c = 0; c < MAX_CHANNELS; c++) {
		if (W.desks[c].channel == channel)
			return c;
	}
	return -1;
}

static int part_index(const struct ucmx_id *id)
{
	int k;

	for (k = 0; k < MAX_IDS; k++) {
		if (W.parts[k].id == id)
			return k;
	}
	violated("C18", "an event belongs to no id");
}

static void follow(const void *p)
{
	CHECK("C18", p && is_live(p), "a list leads to memory that was freed");
}

static bool announces(const struct ucmx_event *event)
{
	return event->head.event == RDMA_UCMX_EVENT_TYPE_ARRIVED;
}

static bool should_be_queued(const struct ucmx_id *id,
			     const struct ucmx_event *event)
{
	return !id->listener && !id->migration && !id->dying &&
	       (id->claimed || event->urgent || announces(event));
}

static void check_queued(int k, const struct ucmx_event *event)
{
	const struct ucmx_id *id = W.parts[k].id;
	bool queued = !list_empty(&event->queued);
	int tag = event->head.status;

	if (queued == should_be_queued(id, event))
		return;
	CHECK("C07", !queued || !id->migration,
	      "event %d can be read while its id is migrated", tag);
	CHECK("C17", !queued || !id->dying,
	      "event %d can be read though its id is dying", tag);
	CHECK("C03", !queued, "event %d can be read though its id is unclaimed",
	      tag);
	violated(announces(event) ? "C16" : "C03",
		 "event %d is pending, but cannot be read", tag);
}

/* Oldest first, but for an announcement. */
static int check_pending(int k)
{
	struct ucmx_id *id = W.parts[k].id;
	struct ucmx_event *event;
	u64 last = 0;
	int n = 0;

	list_for_each_entry(event, &id->pending, of_id) {
		follow(event);
		CHECK("C18", n++ < MAX_TAGS, "a list without end");
		CHECK("C03", event->id == id, "an event is in the wrong list");
		check_queued(k, event);
		CHECK("C17", !event->group || !event->group->left,
		      "event %d is pending though its group was left",
		      event->head.status);
		if (announces(event))
			continue;
		CHECK(i_stay(k) || id->migration ? "C07" : "C02", event->head.seq > last,
		      "the events of %c are out of order", 'A' + k);
		last = event->head.seq;
	}
	CHECK("C03", n == id->n_pending, "%c has %d pending events and says %u",
	      'A' + k, n, id->n_pending);
	return n;
}

/* How many events keep an actor waiting. */
int lists_unheld(const struct actor *actor, int k)
{
	struct ucmx_event *event;
	u64 held = actor->held ? W.tags[actor->held].seq : 0;
	int n = 0;

	list_for_each_entry(event, &W.parts[k].id->outstanding, of_id) {
		follow(event);
		CHECK("C18", n < MAX_TAGS, "a list without end");
		n += event->head.seq != held || event->copying;
	}
	return n;
}

static int check_outstanding(int k)
{
	struct ucmx_id *id = W.parts[k].id;
	struct ucmx_event *event;
	u64 last = 0;
	int n = 0;

	list_for_each_entry(event, &id->outstanding, of_id) {
		follow(event);
		CHECK("C18", n++ < MAX_TAGS, "a list without end");
		CHECK("C03", event->id == id, "an event is in the wrong list");
		/* What is urgent may have overtaken others. */
		if (event->urgent)
			continue;
		CHECK("C05", event->head.seq > last,
		      "what is outstanding of %c is out of order", 'A' + k);
		last = event->head.seq;
	}
	CHECK("C05", n == id->n_outstanding,
	      "%c has %d outstanding events and says %u", 'A' + k, n,
	      id->n_outstanding);
	return n;
}

/* Fewer are outstanding than before: who may have done that. */
static void check_settled(int k, int c)
{
	const struct ucmx_id *id = W.parts[k].id;
	const struct op *call = ME->call;
	const struct ucmx_channel *mine;

	if (!call)
		return;
	mine = W.desks[call->channel].channel;
	switch (call->kind) {
	case OP_ACK:
	case OP_ACK_ALL:
	case OP_ACK_EVENT:
		/* What took effect goes on, also if a migration fails then. */
		CHECK(id->migration ? "C13" : "C01",
		      call->channel == c ||
		      (ME->takes_effect && call->id == k) ||
		      (id->migration && id->migration->target == mine),
		      "%s succeeds, but the id is on channel %d",
		      actor_name(W.running), c);
		break;
	case OP_MIGRATE:
		CHECK("C07", ME->held &&
		      (ME->moved || call->target == call->channel),
		      "%s has acknowledged an event and moved nothing",
		      actor_name(W.running));
		break;
	}
}

/* The id is on another channel than when it was last seen. */
static void check_moved(int k, int c, int outstanding)
{
	struct part *part = &W.parts[k];
	const struct op *call = ME->call;

	if (!part->owner) {
		CHECK("C10", !part->id->claimed == i_do(OP_READ) ||
		      part->id->dying || !i_do(OP_READ),
		      "%c is given a channel by %s", 'A' + k,
		      actor_name(W.running));
		CHECK("C10", part->id->dying || !call ||
		      call->kind != OP_READ || call->channel == c,
		      "%c was read on channel %d and is on %d", 'A' + k,
		      call->channel, c);
		return;
	}
	CHECK("C01", i_do(OP_MIGRATE) && call->id == k && call->target == c,
	      "%c is on channel %d, where nobody has moved it", 'A' + k, c);
	CHECK("C09", !outstanding, "%c is moved with events outstanding",
	      'A' + k);
	ME->moved = true;
	part->moves++;
	part->outstanding = 0;
	if (call->flags & ANNOUNCE) {
		W.tags[call->tag].state = TAG_RAISING | TAG_RAISED;
		W.tags[call->tag].id = k;
		W.tags[call->tag].announces = true;
		W.tags[call->tag].channel = c;
	}
}

static void check_dying(int k)
{
	struct part *part = &W.parts[k];
	struct ucmx_id *id = part->id;

	if (!part->dying && ME->call)
		part->killer = W.running + 1;
	CHECK("C01", part->dying || !i_do(OP_DESTROY) || ME->call->id != k ||
	      ME->call->channel + 1 == part->owner,
	      "%c is destroyed on a channel that it is not on", 'A' + k);
	part->dying = true;
	CHECK("C17", list_empty(&id->pending), "%c is dying with events pending",
	      'A' + k);
	CHECK("C17", list_empty(&id->room), "%c is dying and has room for events",
	      'A' + k);
	CHECK("C17", id->unpublished || !id->released || id->n_outstanding,
	      "%c has come to its end and can still be found", 'A' + k);
}

/* There is one migration at a time. */
static void check_migration(int k)
{
	struct part *part = &W.parts[k];
	const void *now = part->id->migration;

	CHECK("C12", !now || !part->migration || now == part->migration,
	      "%s migrates %c, which is being migrated", actor_name(W.running),
	      'A' + k);
	if (now && !part->migration)
		ME->froze = true;
	part->migration = now;
}

/* It is claimed, and gets a cookie, only by a command that says so. */
static void check_claimed(int k)
{
	struct part *part = &W.parts[k];
	const struct ucmx_id *id = part->id;
	bool mine = ME->call && ME->call->id == k;
	bool tidies = W.running == STAGE_HAND;
	bool moves = mine && i_do(OP_MIGRATE) && ME->call->flags & COOKIE;
	bool accepts = (mine && i_do(OP_ACCEPT)) || i_do(OP_USE_CHILD);
	bool adopts = (mine && i_do(OP_ADOPT)) || tidies;

	if (id->claimed != part->claimed)
		CHECK("C03", id->claimed && (moves || accepts || adopts),
		      "%c is %sclaimed now, by %s", 'A' + k,
		      id->claimed ? "" : "un", actor_name(W.running));
	if (id->cookie != part->cookie && (id->cookie || part->claimed)) {
		CHECK("C16", moves || adopts || (accepts && !part->claimed),
		      "%c has another cookie now, by %s", 'A' + k,
		      actor_name(W.running));
		CHECK("C17", !id->dying || accepts, "%c has another cookie though it is dying",
		      'A' + k);
		part->old_cookie = part->cookie;
		part->cookie = id->cookie;
	}
	part->claimed = id->claimed;
}

/* An id that was on the channel whose lock this is, and is on another one. */
static void check_departed(int k)
{
	const struct ucmx_id *id = W.parts[k].id;

	CHECK("C12", !id->dying, "%c is moved though it is dying", 'A' + k);
	CHECK("C09", list_empty(&id->outstanding),
	      "%c is moved with events outstanding", 'A' + k);
}

/* An id whose events this lock protects. */
static void check_id(int k, int c)
{
	struct part *part = &W.parts[k];
	struct ucmx_id *id = part->id;
	int outstanding;

	CHECK("C04", id->seq >= part->raised_seq,
	      "%c's events are numbered anew", 'A' + k);
	if (ME->call && ME->call->id == k && part->unpublished &&
	    !ME->takes_effect)
		ME->too_late = true;
	part->unpublished = id->unpublished;
	check_pending(k);
	outstanding = check_outstanding(k);
	counts_of(k);
	if (id->listener)
		return;
	check_migration(k);
	if (part->owner != c + 1)
		check_moved(k, c, outstanding);
	part->owner = c + 1;
	check_claimed(k);
	if (outstanding < part->outstanding)
		check_settled(k, c);
	part->outstanding = outstanding;
	acks_check(k, c);
	if (ME->call && ME->call->id == k) {
		ME->was_unheld = ME->unheld;
		ME->unheld = lists_unheld(ME, k);
	}
	if (id->dying)
		check_dying(k);
}

/*
 * The queue
 */

static int place_of(const struct desk *desk, int tag)
{
	int i;

	for (i = 0; i < desk->n; i++) {
		if (desk->queue[i] == tag)
			return i;
	}
	return -1;
}

/* What was not there before comes last, unless it is put back. */
static void check_arrival(int tag, int at, int k)
{
	bool put_back = i_do(OP_READ) && W.parts[k].owner;

	CHECK("C02", !put_back || !at,
	      "event %d could not be copied and is not put back first", tag);
}

/* Clause of the order being wrong, by what was being done. */
static const char *order_clause(void)
{
	if (i_do(OP_MIGRATE) && ME->call->channel == ME->call->target)
		return "C11";
	return "C02";
}

static int list_queue(struct ucmx_channel *channel, u8 *queue, u8 *ids)
{
	struct ucmx_event *event;
	int n = 0;

	list_for_each_entry(event, &channel->events, queued) {
		follow(event);
		CHECK("C18", n < MAX_TAGS, "a list without end");
		CHECK(i_do(OP_MIGRATE) ? "C09" : "C01",
		      event->id->channel == channel,
		      "event %d is queued on a channel that its id is not on",
		      event->head.status);
		CHECK("C17", !event->group || !event->group->left,
		      "event %d can be read though its group was left",
		      event->head.status);
		ids[n] = part_index(event->id);
		queue[n++] = event->head.status;
	}
	return n;
}

static void check_queue(int c)
{
	struct desk *desk = &W.desks[c];
	u8 queue[MAX_TAGS] = {}, ids[MAX_TAGS];
	int n = list_queue(desk->channel, queue, ids);
	int last = -1, i;
	bool arrivals = false;

	for (i = 0; i < n; i++) {
		int was = place_of(desk, queue[i]);

		if (was < 0) {
			check_arrival(queue[i], i, ids[i]);
			arrivals = arrivals || i || !i_do(OP_READ);
			continue;
		}
		CHECK(order_clause(), !arrivals && was > last,
		      "event %d is not where it was in the queue of channel %d",
		      queue[i], c);
		last = was;
	}
	CHECK("C03", n == desk->channel->n_pending,
	      "channel %d has %d events and says %u", c, n,
	      desk->channel->n_pending);
	desk->n = n;
	memcpy(desk->queue, queue, sizeof(queue));
}

static const struct ucmx_channel *protects(const struct ucmx_id *id)
{
	if (id->listener)
		return is_live(id->listener) ? id->listener->channel : NULL;
	return id->channel;
}

static u32 n_taken(const struct ucmx_channel *channel)
{
	struct ucmx_event *event;
	u32 n = 0;

	list_for_each_entry(event, &channel->taken, queued) {
		follow(event);
		CHECK("C18", n++ < MAX_TAGS, "a list without end");
	}
	return n;
}

void lists_check(const spinlock_t *lock)
{
	struct ucmx_channel *channel;
	u32 outstanding = 0, waiters = 0;
	int c, k;

	channel = container_of((spinlock_t *)lock, struct ucmx_channel, lock);
	c = desk_of(channel);
	if (c < 0)
		return;
	check_queue(c);
	for (k = 0; k < MAX_IDS; k++) {
		const struct ucmx_id *id = W.parts[k].id;

		if (!W.parts[k].alive)
			continue;
		if (W.parts[k].owner == c + 1 && id->channel != channel)
			check_departed(k);
		if (protects(id) != channel)
			continue;
		check_id(k, c);
		outstanding += id->n_outstanding;
		waiters += id->n_waiters;
	}
	CHECK("C05", waiters == channel->n_waiters,
	      "%u calls wait for ids of channel %d, which says %u", waiters, c,
	      channel->n_waiters);
	CHECK("C05", n_taken(channel) == channel->n_outstanding,
	      "channel %d has %d events taken and says %u", c,
	      n_taken(channel), channel->n_outstanding);
	CHECK(i_do(OP_MIGRATE) ? "C09" : "C05",
	      outstanding == channel->n_outstanding,
	      "%u events are outstanding on channel %d, which says %u",
	      outstanding, c, channel->n_outstanding);
}
