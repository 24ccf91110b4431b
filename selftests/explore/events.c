// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The account of events, which are known by the tag in their record: which ones
 * readers get, and which can be acknowledged.
 *
 * An event counts as delivered when its copy has succeeded, and as acknowledged
 * when a call that does so has begun: what happens in between may be either.
 */
#include "search.h"
#include "world.h"

void account_raise(int tag, int id, int room)
{
	struct tag *t = &W.tags[tag];

	CHECK("EXPLORER", !t->state, "tag %d is used twice", tag);
	t->state = TAG_RAISING;
	t->id = id;
	t->room = room;
	if (ME->call->kind == OP_REQUEST)
		t->child = ME->call->target + 1;
}

/* There was no room: then the id is dying, or it merges with one like it. */
void account_merged(int id, int room)
{
	int i;

	if (W.parts[id].dying)
		return;
	for (i = 1; i < MAX_TAGS && room >= UCMX_ROOM_FIRST_UNASKED; i++) {
		const struct tag *t = &W.tags[i];

		if (t->state && t->id == id && t->room == room &&
		    !(t->state & TAG_DELIVERED))
			return;
	}
	violated("C03", "%s finds no room, and nothing that it could merge with",
		 actor_name(W.running));
}

void account_raised(int tag, u64 seq, int err)
{
	struct tag *t = &W.tags[tag];
	struct part *part = &W.parts[t->id];

	switch (err) {
	case 0:
		CHECK("C04", seq > part->raised_seq,
		      "event %d of %c has number %lu after %u", tag,
		      'A' + t->id, seq, part->raised_seq);
		part->raised_seq = seq;
		t->seq = seq;
		t->state |= TAG_RAISED;
		return;
	case -ENOENT:
		CHECK("C03", part->dying || t->room == UCMX_ROOM_GROUP ||
		      (ME->call->kind == OP_WRITE &&
		       part->owner != ME->call->channel + 1),
		      "event %d is refused, but its id lives", tag);
		break;
	case -ENOSPC:
		CHECK("C10", scene->limit || scene->limit_user ||
		      (scene->limit_caused && ME->call->kind == OP_WRITE) ||
		      part->id->n_unread >= part->id->backlog,
		      "event %d is refused, but there is room", tag);
		break;
	default:
		violated("C03", "raising event %d returns %d", tag, err);
	}
	t->state |= TAG_DROPPED;
}

/* n+1 is seen on a channel only when n was acknowledged that another one read. */
static void check_barrier(const struct tag *t, int c)
{
	int i;

	for (i = 1; i < MAX_TAGS; i++) {
		const struct tag *other = &W.tags[i];

		if (other->id == t->id && other->state & TAG_DELIVERED &&
		    !(other->state & TAG_ACKING) && other->channel != c)
			violated("C09", "event %d is read on channel %d, %d is outstanding on %d",
				 (int)(t - W.tags), c, i, other->channel);
	}
}

static void check_number(const struct tag *t, u64 seq)
{
	int i;

	for (i = 1; i < MAX_TAGS; i++) {
		const struct tag *other = &W.tags[i];

		CHECK("C04", other == t || other->id != t->id ||
		      !(other->state & TAG_RAISED) || other->seq != seq,
		      "events %d and %d have the same number", i,
		      (int)(t - W.tags));
	}
}

/* The receiver of an id is told of it before it gets an event of it. */
static void check_announced(const struct tag *t, int c)
{
	int i;

	for (i = 1; i < MAX_TAGS; i++) {
		const struct tag *other = &W.tags[i];

		CHECK("C16", other == t || other->id != t->id ||
		      other->state != (TAG_RAISING | TAG_RAISED) ||
		      !other->announces || other->channel != c,
		      "event %d is delivered before %d, which announces its id",
		      (int)(t - W.tags), i);
	}
}

static void check_record(const struct rdma_ucmx_event *head,
			 const struct tag *t)
{
	const struct part *part = &W.parts[t->id];

	CHECK("C16", head->event != RDMA_UCMX_EVENT_TYPE_ARRIVED ||
	      head->qp_type, "event %d announces an id and says nothing of it",
	      head->status);
	if (t->child) {
		CHECK("C04", head->listen_id == part->handle &&
		      head->id == W.parts[t->child - 1].handle,
		      "request %d names the wrong ids", head->status);
		return;
	}
	CHECK("C04", head->id == part->handle,
	      "event %d names the wrong id", head->status);
	CHECK("C04", head->cookie == part->cookie ||
	      head->cookie == part->id->cookie ||
	      (part->old_cookie && head->cookie == part->old_cookie),
	      "event %d has the cookie %llx", head->status, head->cookie);
}

void account_copied(const struct rdma_ucmx_event *head)
{
	int c = ME->call->channel, tag = head->status;
	struct part *part;
	struct tag *t;

	CHECK("C03", tag > 0 && tag < MAX_TAGS && W.tags[tag].state,
	      "an event that was never raised is delivered");
	t = &W.tags[tag];
	part = &W.parts[t->id];
	search_say("event %d of %c is delivered on channel %d", tag,
		   'A' + t->id, c);
	CHECK("C03", !(t->state & TAG_DELIVERED), "event %d is delivered twice",
	      tag);
	CHECK("C09", part->id->channel == W.desks[c].channel,
	      "event %d is delivered on channel %d, but its id is elsewhere",
	      tag, c);
	CHECK("C03", part->id->claimed || t->room == UCMX_ROOM_DEVICE_REMOVAL ||
	      head->event == RDMA_UCMX_EVENT_TYPE_ARRIVED,
	      "event %d is delivered, but its id is unclaimed", tag);
	check_record(head, t);
	check_number(t, head->seq);
	check_barrier(t, c);
	check_announced(t, c);
	if (head->event != RDMA_UCMX_EVENT_TYPE_ARRIVED &&
	    t->room != UCMX_ROOM_DEVICE_REMOVAL) {
		CHECK("C02", head->seq > part->last_seq,
		      "event %d has number %llu and comes after number %u", tag,
		      head->seq, part->last_seq);
		part->last_seq = head->seq;
	}
	t->seq = head->seq;
	t->state |= TAG_DELIVERED;
	t->channel = c;
	ME->read[ME->n_read++ % 8] = tag;
	ME->copied += head->size;
	outcome_tell(tag);
}

/*
 * A copy that fails: the event was never delivered, and what acknowledged it
 * meanwhile does not count.
 */
void account_not_copied(const struct rdma_ucmx_event *head)
{
	struct tag *t = &W.tags[head->status];

	t->state &= ~TAG_ACKED;
	t->state &= ~(TAG_ACKING | TAG_SHARED);
	t->state |= TAG_FAILED;
}

/*
 * Acknowledgements
 */

void account_ack(int tag)
{
	if (W.tags[tag].state & TAG_ACKING)
		W.tags[tag].state |= TAG_SHARED;
	W.tags[tag].state |= TAG_ACKING;
}

void account_acked(int tag, int c, int err)
{
	struct tag *t = &W.tags[tag];
	const struct part *part = &W.parts[t->id];

	search_say("acknowledging event %d returns %d", tag, err);
	outcome_tell(err);
	if (!err) {
		CHECK("C05", !(t->state & TAG_ACKED),
		      "event %d is acknowledged twice", tag);
		t->state |= TAG_ACKED;
		return;
	}
	CHECK(t->state & TAG_FAILED ? "C03" : "C05",
	      t->state & TAG_SHARED || part->dying ||
	      (err == -ENOENT && t->channel != c),
	      "event %d is outstanding, but acknowledging it returns %d", tag,
	      err);
}

/* Everything has been read. */
void account_at_end(void)
{
	int i;

	for (i = 1; i < MAX_TAGS; i++) {
		const struct tag *t = &W.tags[i];

		if (!(t->state & TAG_RAISED) || t->state & TAG_DELIVERED ||
		    W.parts[t->id].dying || t->room == UCMX_ROOM_GROUP ||
		    W.desks[W.parts[t->id].owner - 1].shut)
			continue;
		violated("C03", "event %d of %c was lost", i, 'A' + t->id);
	}
}
