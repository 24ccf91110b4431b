// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What a call that acknowledges must have done, looked at with the lists, whenever the
 * lock of the id's owner is given back: the one event, or in the end all that were
 * outstanding when it began with them.
 */
#include "search.h"
#include "world.h"

/* Its events may be acknowledged where this call is made. */
static bool takes_my_acks(const struct ucmx_id *id, int c)
{
	return ME->call->channel == c ||
	       (id->migration && id->migration->target ==
				 W.desks[ME->call->channel].channel);
}

/* What is outstanding, unless a copy's end will acknowledge it, as bits. */
static u32 unacknowledged(int k)
{
	struct ucmx_event *event;
	u32 tags = 0;

	list_for_each_entry(event, &W.parts[k].id->outstanding, of_id) {
		if (!event->copying || !event->acked)
			tags |= 1u << event->head.status;
	}
	return tags;
}

/* Whoever does it: what has gone once need not go again, should it come back. */
static void check_due(int k)
{
	u32 tags = unacknowledged(k);
	int i;

	for (i = 0; i < MAX_ACTORS; i++) {
		struct actor *actor = &W.actors[i];

		if (actor->due && actor->call->id == k)
			actor->due &= tags;
	}
}

/* All that is outstanding is acknowledged now, also what is being copied. */
static void share_all(int k)
{
	struct ucmx_event *event;
	int i;

	for (i = 1; i < MAX_TAGS; i++) {
		if (W.tags[i].id == k && W.tags[i].state & TAG_DELIVERED)
			W.tags[i].state |= TAG_ACKING | TAG_SHARED;
	}
	list_for_each_entry(event, &W.parts[k].id->outstanding, of_id)
		W.tags[event->head.status].state |= TAG_ACKING | TAG_SHARED;
	ME->takes_effect = true;
	ME->due = unacknowledged(k);
}

/* An acknowledgement that may be made has been made. */
static void check_acknowledged(int k, int c)
{
	const struct ucmx_id *id = W.parts[k].id;
	const struct op *call = ME->call;
	struct ucmx_event *event;

	if (!takes_my_acks(id, c))
		return;
	list_for_each_entry(event, &id->outstanding, of_id) {
		if (event->copying || event->head.status != call->tag)
			continue;
		violated(call->channel == c ? "C05" : "C13",
			 "%s leaves event %d outstanding",
			 actor_name(W.running), event->head.status);
	}
}

/* Channel @c, which owns id @k, is unlocked. */
void acks_check(int k, int c)
{
	const struct op *call = ME->call;

	check_due(k);
	if (!call || call->id != k)
		return;
	if (call->kind == OP_ACK_ALL && !ME->takes_effect && !ME->too_late &&
	    takes_my_acks(W.parts[k].id, c))
		share_all(k);
	if (call->kind == OP_ACK_EVENT)
		check_acknowledged(k, c);
}
