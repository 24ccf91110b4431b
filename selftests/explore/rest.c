// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * At rest, when nobody can go on: who may be waiting, and what must be over.
 */
#include "search.h"
#include "world.h"

static const struct part *part_of(const struct op *op)
{
	return &W.parts[op->id];
}

/* Why something can be read: it was moved here, it was to be, or it came. */
static const char *arrival_clause(int c)
{
	int i, k;

	for (i = 0; i < W.desks[c].n; i++) {
		k = W.tags[W.desks[c].queue[i]].id;
		if (W.parts[k].moves)
			return "C09";
		if (W.parts[k].stayed)
			return "C07";
	}
	return "C03";
}

/* It has gone on sleeping although what it waits for is there. */
void account_overslept(const struct place *here)
{
	const struct op *call = ME->call;
	const char *clause = "C17";

	if (!call)
		clause = "C18";
	else if (call->kind == OP_MIGRATE)
		clause = "C08";
	else if (call->kind == OP_READ || call->kind == OP_POLL)
		clause = arrival_clause(call->channel);
	violated(clause, "%s sleeps in %s() although what it waits for is there",
		 actor_name(W.running), here->func);
}

static bool behind_a_page(const struct actor *actor)
{
	const struct mutex *mutex = (const void *)actor->on;

	return mutex->rank == RANK_READ &&
	       W.actors[mutex->owner - 1].wants == WANTS_PAGE;
}

static void check_resting(int k)
{
	const struct actor *actor = &W.actors[k];

	CHECK("C14", k < FIRST_WORKER, "the release of an id waits for others");
	CHECK("DEADLOCK", actor->wants != WANTS_LOCK, "%s waits for a spinlock",
	      actor_name(k));
	CHECK("DEADLOCK", actor->wants != WANTS_MUTEX || behind_a_page(actor),
	      "%s waits for a mutex", actor_name(k));
	switch (actor->call ? actor->call->kind : OP_NONE) {
	case OP_REMOVE:
		violated("C14", "a device removal waits for others");
	case OP_RAISE:
	case OP_UNASKED:
	case OP_REQUEST:
	case OP_GROUP_EVENT:
		violated("C06", "an event handler waits for others");
	case OP_CLOSE:
		violated("C17", "closing a channel waits for others");
	case OP_MIGRATE:
		CHECK("C12", !part_of(actor->call)->dying,
		      "%s goes on waiting though the id is dying",
		      actor_name(k));
		CHECK("C08", lists_unheld(actor, actor->call->id),
		      "%s waits, but nothing is outstanding that others hold",
		      actor_name(k));
		break;
	case OP_READ:
	case OP_POLL:
		CHECK("C03", !W.desks[actor->call->channel].shut ||
		      actor->wants != WANTS_WAKE,
		      "%s goes on waiting though the channel is shut down",
		      actor_name(k));
		break;
	case OP_LIST:
		violated("C05", "a list of ids waits for others");
	case OP_ACK:
	case OP_ACK_ALL:
	case OP_ACK_EVENT:
		violated("C05", "acknowledging waits for others");
	}
}

void account_at_rest(void)
{
	int k;

	for (k = 1; k < MAX_ACTORS; k++) {
		if (!actor_idle(k))
			check_resting(k);
	}
	for (k = 0; k < MAX_IDS; k++) {
		const struct part *part = &W.parts[k];

		if (!part->alive || !part->given)
			continue;
		CHECK("C14", !part->gone || part->released,
		      "%c's device is gone, but it was not released", 'A' + k);
		CHECK("C17", !part->dying || part->released,
		      "%c is dying, but was not released", 'A' + k);
	}
}
