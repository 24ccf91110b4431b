// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What things are called when a schedule is told.
 */
#include <stdio.h>

#include "search.h"
#include "world.h"

/* Several may be in one message. */
static char *scratch(void)
{
	static char lines[8][160];
	static int next;

	next = (next + 1) % 8;
	return lines[next];
}

static const struct {
	size_t at;
	const char *name;
} channel_fields[] = {
	{ offsetof(struct ucmx_channel, lock), "lock" },
	{ offsetof(struct ucmx_channel, wait), "wait" },
	{ offsetof(struct ucmx_channel, read_mutex), "read_mutex" },
	{ offsetof(struct ucmx_channel, n_ids), "n_ids" },
	{ offsetof(struct ucmx_channel, ref), "ref" },
	{ offsetof(struct ucmx_channel, events), "events" },
	{ offsetof(struct ucmx_channel, ids), "ids" },
}, id_fields[] = {
	{ offsetof(struct ucmx_id, channel), "channel" },
	{ offsetof(struct ucmx_id, listener), "listener" },
	{ offsetof(struct ucmx_id, wait), "wait" },
	{ offsetof(struct ucmx_id, op_mutex), "op_mutex" },
	{ offsetof(struct ucmx_id, users), "users" },
	{ offsetof(struct ucmx_id, ref), "ref" },
	{ offsetof(struct ucmx_id, migration), "migration" },
	{ offsetof(struct ucmx_id, pending), "pending" },
	{ offsetof(struct ucmx_id, outstanding), "outstanding" },
	{ offsetof(struct ucmx_id, room), "room" },
};

static const char *name_channel(int c, size_t at)
{
	char *s = scratch();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(channel_fields); i++) {
		if (channel_fields[i].at == at) {
			sprintf(s, "channel %d's %s", c, channel_fields[i].name);
			return s;
		}
	}
	sprintf(s, "channel %d (+%zu)", c, at);
	return s;
}

static const char *name_id(int k, size_t at)
{
	char *s = scratch();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(id_fields); i++) {
		if (id_fields[i].at == at) {
			sprintf(s, "id %c's %s", 'A' + k, id_fields[i].name);
			return s;
		}
	}
	sprintf(s, "id %c (+%zu)", 'A' + k, at);
	return s;
}

static bool within(const volatile void *p, const void *object, size_t size)
{
	return object && (const char *)p >= (const char *)object &&
	       (const char *)p < (const char *)object + size;
}

static const char *name_rest(const volatile void *p)
{
	char *s = scratch();
	int k;

	for (k = 0; k < MAX_ACTORS; k++) {
		if (within(p, arena[k], ARENA_SIZE)) {
			sprintf(s, "an object that %s allocated (+%zu)",
				actor_name(k), (const char *)p - arena[k]);
			return s;
		}
	}
	for (k = 0; k < MAX_IDS; k++) {
		if (within(p, &W.parts[k], sizeof(W.parts[k]))) {
			sprintf(s, "the handler mutex of %c", 'A' + k);
			return s;
		}
	}
	return "a variable of the core";
}

const char *name_of(const volatile void *p)
{
	int i;

	for (i = 0; i < MAX_CHANNELS; i++) {
		if (within(p, W.desks[i].channel, sizeof(struct ucmx_channel)))
			return name_channel(i, (const char *)p -
					    (const char *)W.desks[i].channel);
	}
	for (i = 0; i < MAX_IDS; i++) {
		if (within(p, W.parts[i].id, sizeof(struct ucmx_id)))
			return name_id(i, (const char *)p -
				       (const char *)W.parts[i].id);
	}
	return name_rest(p);
}

const char *words_of_op(const struct op *op)
{
	char *s = scratch(), id = 'A' + op->id;

	switch (op->kind) {
	case OP_RAISE:
	case OP_UNASKED:
		sprintf(s, "raise event %d of %c", op->tag, id);
		break;
	case OP_REQUEST:
		sprintf(s, "request %d for %c, child %c", op->tag, id,
			'A' + op->target);
		break;
	case OP_REMOVE:
		sprintf(s, "remove %c's device", id);
		break;
	case OP_READ:
		sprintf(s, "read channel %d%s", op->channel,
			op->flags & NONBLOCK ? " without blocking" : "");
		break;
	case OP_ACK:
		sprintf(s, "acknowledge on channel %d", op->channel);
		break;
	case OP_ACK_ALL:
		sprintf(s, "acknowledge all of %c on channel %d", id,
			op->channel);
		break;
	case OP_ACK_EVENT:
		sprintf(s, "acknowledge event %d of %c on channel %d", op->tag,
			id, op->channel);
		break;
	case OP_POLL:
		sprintf(s, "poll channel %d", op->channel);
		break;
	case OP_MIGRATE:
		sprintf(s, "migrate %c from %d to %d", id, op->channel,
			op->target);
		break;
	case OP_LIST:
		sprintf(s, "list the ids of channel %d", op->channel);
		break;
	case OP_ROOM:
		sprintf(s, "a command that may cause an event of %c", id);
		break;
	case OP_BACKLOG:
		sprintf(s, "listen on %c with %d unread", id, op->target);
		break;
	case OP_DESTROY:
		sprintf(s, "destroy %c on channel %d", id, op->channel);
		break;
	case OP_CLOSE:
		sprintf(s, "close channel %d", op->channel);
		break;
	case OP_USE_CHILD:
		sprintf(s, "use the child on channel %d", op->channel);
		break;
	case OP_ACCEPT:
	case OP_ADOPT:
	case OP_COMMAND:
		sprintf(s, "%s %c on channel %d",
			op->kind == OP_ACCEPT ? "accept" :
			op->kind == OP_ADOPT ? "adopt" : "a command for", id,
			op->channel);
		break;
	case OP_WRITE:
		sprintf(s, "write event %d of %c", op->tag, id);
		break;
	case OP_SHUT:
		sprintf(s, "shut channel %d down", op->channel);
		break;
	case OP_JOIN:
	case OP_LEAVE:
		sprintf(s, "%c %s group %d", id,
			op->kind == OP_JOIN ? "joins" : "leaves", op->target);
		break;
	case OP_GROUP_EVENT:
		sprintf(s, "raise event %d of %c's group %d", op->tag, id,
			op->target);
		break;
	default:
		return "prepare";
	}
	return s;
}

/* "b (migrate A from 0 to 1)" */
const char *actor_name(int k)
{
	char *s = scratch();

	if (k == STAGE_HAND)
		return "the stage hand";
	if (k >= FIRST_WORKER)
		sprintf(s, "worker %d", k - FIRST_WORKER);
	else if (W.actors[k].call)
		sprintf(s, "%c (%s)", 'a' + k - 1,
			words_of_op(W.actors[k].call));
	else
		sprintf(s, "%c", 'a' + k - 1);
	return s;
}

static const char *const doings[] = {
	[DOING_START] = "begins",
	[DOING_CALL] = "is at work in rdma_cm",
	[DOING_LOCK] = "locks",
	[DOING_MUTEX] = "takes",
	[DOING_TRYLOCK] = "tries to take",
	[DOING_UNLOCK] = "unlocks",
	[DOING_UNLOCK_MUTEX] = "lets go of",
	[DOING_LOOK] = "looks at",
	[DOING_SET] = "sets",
	[DOING_COUNT] = "counts",
	[DOING_GET] = "takes a reference,",
	[DOING_PUT] = "drops a reference,",
	[DOING_PREPARE] = "gets ready to sleep on",
	[DOING_FINISH] = "sleeps no more on",
	[DOING_SLEEP] = "wakes up",
	[DOING_ACCESS] = "uses",
	[DOING_WAKE] = "wakes who sleeps on",
	[DOING_TABLE] = "uses the table of handles",
	[DOING_ALLOC] = "allocates",
	[DOING_COPY] = "copies to user memory",
	[DOING_PAGE] = "copies to user memory, whose page may be missing",
	[DOING_WORK] = "begins to release an id",
	[DOING_JOIN] = "goes on",
	[DOING_SIGNAL] = "looks for a signal",
	[DOING_CLOCK] = "looks at the clock",
};

const char *words_of(const struct actor *actor)
{
	char *s = scratch();
	bool named = actor->on && actor->doing >= DOING_LOCK &&
		     actor->doing <= DOING_WAKE;

	if (actor->doing == DOING_MUTEX && actor->interruptible &&
	    *(const u8 *)actor->on)
		return "gives up waiting for a mutex";
	sprintf(s, "%s%s%s", doings[actor->doing], named ? " " : "",
		named ? name_of(actor->on) : "");
	return s;
}
