// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The account: what calls may return, and which events readers get.  It knows
 * events by the tag that is in their record, and takes from the core only what
 * its interface says.
 *
 * An event counts as delivered when its copy has succeeded, and as acknowledged
 * when a call that does so has begun: what happens in between may be either.
 */
#include "search.h"
#include "steps.h"
#include "world.h"

static struct part *part_of(const struct op *op)
{
	return &W.parts[op->id];
}

/*
 * Calls
 */

static void begin_migration(const struct op *op)
{
	struct part *part = part_of(op);
	int k;

	if (!part->migrations++)
		return;
	for (k = 0; k < MAX_ACTORS; k++) {
		const struct op *call = W.actors[k].call;

		if (call && call->kind == OP_MIGRATE && call->id == op->id)
			W.actors[k].overlapped = true;
	}
}

/* What the call says that it holds, and then counts as acknowledged. */
static void hold(const struct op *op)
{
	ME->held = 0;
	ME->stale = false;
	if (op->flags & HELD && ME->n_read)
		ME->held = ME->read[ME->n_read - 1];
	else if (op->flags & HOLDING && W.tags[op->tag].state & TAG_DELIVERED)
		ME->held = op->tag;
	if (!ME->held)
		return;
	ME->stale = W.tags[ME->held].state & TAG_ACKED;
	account_ack(ME->held);
}

void account_begin(const struct op *op)
{
	ME->overlapped = false;
	ME->moved = false;
	ME->froze = false;
	ME->unheld = false;
	ME->was_unheld = false;
	ME->failed_copy = false;
	ME->no_memory = false;
	ME->copied = 0;
	ME->moves = part_of(op)->moves;
	ME->late = part_of(op)->dying;
	ME->early = part_of(op)->owner != op->channel + 1;
	ME->too_late = false;
	ME->takes_effect = false;
	ME->due = 0;
	if (op->kind == OP_MIGRATE)
		begin_migration(op);
	if (op->kind == OP_MIGRATE || op->kind == OP_DESTROY ||
	    op->kind == OP_LEAVE)
		hold(op);
}

static bool held_is_shared(void)
{
	return ME->held && W.tags[ME->held].state & TAG_SHARED;
}

/* The id may not have been found on the channel. */
static bool may_be_missing(const struct op *op)
{
	const struct part *part = part_of(op);

	return !part->given || ME->early || part->dying || part->moves != ME->moves ||
	       part->owner != op->channel + 1 ||
	       part->id->channel != W.desks[op->channel].channel;
}

static bool is_late(const struct op *op)
{
	return op->flags & PAST || (op->flags & BY_1 && W.now >= TIME_1) ||
	       (op->flags & BY_2 && W.now >= TIME_2);
}

/* What may end any call that waits for acknowledgements. */
static bool may_end_waiting(const struct op *op, long ret)
{
	/* After the look that gave up it looks once more, to undo. */
	bool unheld = ME->unheld || ME->was_unheld;

	switch (ret) {
	case -EAGAIN:
		return op->flags & NONBLOCK && unheld;
	case -ETIMEDOUT:
		return is_late(op) && unheld;
	case -ERESTARTSYS:
		/* For the announcement it waits for its turn, too. */
		return ME->signal && (unheld || op->flags & ANNOUNCE);
	case -EINVAL:
		return held_is_shared();
	default:
		return false;
	}
}

static void end_migration(const struct op *op, long ret)
{
	struct part *part = part_of(op);
	bool away = op->channel != op->target;

	part->migrations--;
	CHECK("C11", away || !ME->moved, "%s has moved the id",
	      actor_name(W.running));
	if (!ret) {
		CHECK("C07", !ME->stale, "%s returns 0, but nobody holds event %d",
		      actor_name(W.running), ME->held);
		CHECK("C17", !ME->late, "%s finds an id that is dying",
		      actor_name(W.running));
		CHECK("C16", !(op->flags & COOKIE) || !part->alive ||
		      part->claimed, "%s returns 0, but the id is unclaimed",
		      actor_name(W.running));
		CHECK("C09", ME->moved == away, "%s returns 0, but nothing was moved",
		      actor_name(W.running));
		return;
	}
	part->stayed = true;
	CHECK("C17", !ME->late || ret != -ECANCELED,
	      "%s finds an id that is dying", actor_name(W.running));
	CHECK("C02", !ME->froze || !(op->flags & (PAST | NONBLOCK)),
	      "%s cannot wait, but has moved events", actor_name(W.running));
	CHECK("C07", !ME->moved, "%s returns %ld, but the id was moved",
	      actor_name(W.running), ret);
	switch (ret) {
	case -EBUSY:
		CHECK("C12", ME->overlapped, "%s returns EBUSY, but nobody else migrates it",
		      actor_name(W.running));
		return;
	case -ECANCELED:
		CHECK("C12", part->dying, "%s returns ECANCELED, but the id was not destroyed",
		      actor_name(W.running));
		return;
	case -ENOENT:
		CHECK("C01", may_be_missing(op), "%s returns ENOENT, but the id is there",
		      actor_name(W.running));
		return;
	case -ENOSPC:
		CHECK("C10", (scene->limit || scene->limit_caused) &&
		      !(op->flags & FITS),
		      "%s returns ENOSPC, but there is room",
		      actor_name(W.running));
		return;
	case -EBADF:
		return;
	case -ENOMEM:
		CHECK("C03", scene->nomem, "%s returns ENOMEM",
		      actor_name(W.running));
		return;
	default:
		CHECK("C08", may_end_waiting(op, ret),
		      "%s returns %ld, for which there is no reason",
		      actor_name(W.running), ret);
	}
}

static void end_destroy(const struct op *op, long ret)
{
	struct part *part = part_of(op);
	bool mine = part->killer == W.running + 1;

	switch (ret) {
	case 0:
		CHECK("C17", part->dying, "%s returns 0, but the id lives",
		      actor_name(W.running));
		CHECK("C17", !ME->stale, "%s returns 0, but nobody holds event %d",
		      actor_name(W.running), ME->held);
		CHECK("C17", !part->alive || !part->id->n_outstanding,
		      "%s returns 0, but events are outstanding",
		      actor_name(W.running));
		CHECK("C17", part->released, "%s returns 0, but the id was not released",
		      actor_name(W.running));
		return;
	case -ENOENT:
		CHECK("C01", may_be_missing(op), "%s returns ENOENT, but the id is there",
		      actor_name(W.running));
		return;
	case -EAGAIN:
		CHECK("C17", !mine, "%s returns EAGAIN, but has destroyed the id",
		      actor_name(W.running));
		break;
	case -ERESTARTSYS:
		CHECK("C17", part->dying && ME->signal,
		      "%s returns %ld, for which there is no reason",
		      actor_name(W.running), ret);
		return;
	}
	CHECK("C17", may_end_waiting(op, ret),
	      "%s returns %ld, for which there is no reason",
	      actor_name(W.running), ret);
}

/*
 * It says what was true when it settled the first portion; the id may have moved on
 * or come to its end since.  What was outstanding then is not any more.
 */
static void end_ack_all(const struct op *op, long ret)
{
	const struct part *part = part_of(op);
	bool migrating = part->alive && part->id->migration;

	CHECK(migrating ? "C13" : "C01", ME->takes_effect || ret == -ENOENT,
	      "%s returns %ld for an id that %s", actor_name(W.running), ret,
	      ME->too_late ? "has come to its end" : "is not on the channel");
	CHECK("C05", !ME->takes_effect || !ret,
	      "%s returns %ld, but has acknowledged", actor_name(W.running), ret);
	CHECK("C05", !ME->due || !part->alive,
	      "%s returns 0 and leaves event %d outstanding",
	      actor_name(W.running), __builtin_ctz(ME->due | 1u << 31));
	ME->due = 0;
}

static void end_read(const struct op *op, long ret)
{
	const struct desk *desk = &W.desks[op->channel];
	bool reason = false;

	CHECK("C04", ret < 0 ? !ME->copied : ret == ME->copied,
	      "%s returns %ld, but %u bytes were copied", actor_name(W.running),
	      ret, ME->copied);
	if (ret > 0)
		return;
	switch (ret) {
	case -EAGAIN:
		reason = op->flags & NONBLOCK;
		break;
	case -ERESTARTSYS:
		reason = ME->signal;
		break;
	case -ESHUTDOWN:
		reason = desk->shut;
		break;
	case -EFAULT:
		reason = scene->faults;
		break;
	case -ENOMEM:
		reason = scene->nomem;
		break;
	}
	CHECK("C04", reason, "%s returns %ld, for which there is no reason",
	      actor_name(W.running), ret);
}

static void end_command(const struct op *op, long ret)
{
	switch (ret) {
	case 0:
		CHECK("C17", op->kind != OP_LEAVE || !ME->stale,
		      "%s returns 0, but nobody holds event %d",
		      actor_name(W.running), ME->held);
		return;
	case -ENOSPC:
		CHECK("C19", scene->limit_caused && !(op->flags & FITS),
		      "%s returns ENOSPC, but there is room",
		      actor_name(W.running));
		return;
	case -EADDRINUSE:
		CHECK("C17", op->kind == OP_JOIN, "%s returns EADDRINUSE",
		      actor_name(W.running));
		return;
	case -ENOENT:
		CHECK(part_of(op)->gone ? "C14" : "C12",
		      may_be_missing(op) ||
		      (op->kind == OP_LEAVE && W.group_left[op->target]),
		      "%s returns ENOENT, but the id is there",
		      actor_name(W.running));
		return;
	case -ENXIO:
		CHECK("C14", part_of(op)->gone, "%s returns ENXIO, but the device is there",
		      actor_name(W.running));
		return;
	case -ERESTARTSYS:
		CHECK("C12", ME->signal, "%s gives up without a signal",
		      actor_name(W.running));
		return;
	case -ENOMEM:
		CHECK("C03", scene->nomem, "%s returns ENOMEM",
		      actor_name(W.running));
		return;
	default:
		CHECK(op->kind == OP_LEAVE ? "C17" : "C12",
		      op->kind == OP_LEAVE && may_end_waiting(op, ret),
		      "%s returns %ld, for which there is no reason",
		      actor_name(W.running), ret);
	}
}

void account_end(long ret)
{
	const struct op *op = ME->call;

	switch (op->kind) {
	case OP_MIGRATE:
		end_migration(op, ret);
		break;
	case OP_DESTROY:
		end_destroy(op, ret);
		break;
	case OP_ACK_ALL:
		end_ack_all(op, ret);
		break;
	case OP_READ:
		end_read(op, ret);
		break;
	case OP_COMMAND:
	case OP_ACCEPT:
	case OP_ADOPT:
	case OP_WRITE:
	case OP_JOIN:
	case OP_LEAVE:
	case OP_ROOM:
	case OP_BACKLOG:
		end_command(op, ret);
		break;
	}
}
