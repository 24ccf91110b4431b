// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Scenarios of ids.  .prepare is what has happened before, one after the other; then
 * the actors of .cast begin, all at once, each with its own steps in order.
 */
#include <linux/types.h>

#include "scenario.h"

const struct scenario scenarios[] = {
	{
		.name = "two_migrations",
		.about = "two migrations of one id, to different channels",
		.channels = 3,
		.prepare = { NEW(A, 0), RAISE(A, 1), RAISE(A, 2), READ(0) },
		.cast = {
			{ { MIGRATE(A, 0, 1) } },
			{ { MIGRATE(A, 0, 2) } },
			{ { ACK_EVENT(A, 0, 1) } },
		},
	}, {
		.name = "crossing",
		.about = "two ids change places, with a reader on either channel",
		.channels = 2,
		.prepare = { NEW(A, 0), NEW(B, 1), RAISE(A, 1), RAISE(B, 2) },
		.cast = {
			{ { MIGRATE(A, 0, 1) } },
			{ { MIGRATE(B, 1, 0) } },
			{ { READ(0), ACK(0) } },
			{ { READ(1), ACK(1) } },
		},
	}, {
		.name = "read",
		.about = "readers of both channels while the id is migrated",
		.channels = 2,
		.prepare = { NEW(A, 0), RAISE(A, 1), RAISE(A, 2) },
		.cast = {
			{ { MIGRATE(A, 0, 1) } },
			{ { READ(0), ACK(0), READ(0), ACK(0) } },
			{ { READ(1), ACK(1), READ(1), ACK(1) } },
		},
	}, {
		.name = "read_fails",
		.about = "the copy of an event fails while its id is migrated",
		.channels = 2,
		.faults = 2,
		.prepare = { NEW(A, 0), NEW(B, 0), RAISE(A, 1), RAISE(A, 2),
			     RAISE(B, 3) },
		.cast = {
			{ { MIGRATE(A, 0, 1) } },
			{ { READ(0), ACK(0), READ(0), ACK(0) } },
			{ { ACK_ALL(A, 0) } },
		},
	}, {
		.name = "read_batch",
		.about = "a reader of many events, one of which cannot be copied",
		.channels = 2,
		.faults = 1,
		.prepare = { NEW(A, 0), RAISE(A, 1), RAISE(A, 2), NEW(B, 0),
			     RAISE(B, 3) },
		.cast = {
			{ { READ(0, | BATCH), ACK(0) } },
			{ { READ(0, | BATCH), ACK(0) } },
			{ { MIGRATE(A, 0, 1) } },
		},
	}, {
		.name = "acknowledge",
		.about = "acknowledging on both channels while a migration waits",
		.channels = 3,
		.prepare = { NEW(A, 0), RAISE(A, 1), RAISE(A, 2), RAISE(A, 3),
			     READ(0), READ(0) },
		.cast = {
			{ { MIGRATE(A, 0, 1) } },
			{ { ACK_EVENT(A, 0, 1) } },
			{ { ACK_EVENT(A, 1, 2), READ(1), ACK(1) } },
			{ { ACK_ALL(A, 2) } },
		},
	}, {
		.name = "acknowledge_twice",
		.about = "an event is acknowledged by two, in the middle of the copy",
		.channels = 2,
		.faults = 1,
		.prepare = { NEW(A, 0), RAISE(A, 1), RAISE(A, 2), READ(0) },
		.cast = {
			{ { ACK_EVENT(A, 0, 1), ACK_EVENT(A, 0, 2) } },
			{ { ACK_EVENT(A, 0, 1), ACK_EVENT(A, 0, 2) } },
			{ { READ(0), ACK(0) } },
		},
	}, {
		.name = "acknowledge_failing",
		.about = "an event is acknowledged while its copy fails",
		.channels = 1,
		.faults = 1,
		.prepare = { NEW(A, 0), RAISE(A, 1) },
		.cast = {
			{ { READ(0), READ(0, | NONBLOCK), ACK(0) } },
			{ { ACK_ALL(A, 0) } },
			{ { RAISE(A, 2) } },
		},
	}, {
		.name = "strangers",
		.about = "calls on a channel that the id is not on",
		.channels = 2,
		.prepare = { NEW(A, 0), RAISE(A, 1), READ(0) },
		.cast = {
			{ { ACK_ALL(A, 1) } },
			{ { DESTROY(A, 1), MIGRATE(A, 1, 0) } },
			{ { COMMAND(A, 1), COMMAND(A, 0) } },
			{ { ACK_EVENT(A, 0, 1) } },
		},
	}, {
		.name = "raise",
		.about = "events of two ids are raised while one of them is migrated",
		.channels = 2,
		.prepare = { NEW(A, 0), NEW(B, 0), RAISE(A, 1), READ(0) },
		.cast = {
			{ { MIGRATE(A, 0, 1) } },
			{ { RAISE(A, 2), RAISE(A, 3) } },
			{ { RAISE(B, 4), READ(0) } },
			{ { ACK_EVENT(A, 0, 1) } },
		},
	}, {
		.name = "destroy",
		.about = "a destroy meets a migration that waits",
		.channels = 2,
		.prepare = { NEW(A, 0), RAISE(A, 1), RAISE(A, 2), READ(0) },
		.cast = {
			{ { MIGRATE(A, 0, 1) } },
			{ { DESTROY(A, 0) } },
			{ { ACK_EVENT(A, 0, 1) } },
			{ { RAISE(A, 3) } },
		},
	}, {
		.name = "destroy_unacknowledged",
		.about = "a destroy ends a migration; nobody acknowledges",
		.channels = 2,
		.prepare = { NEW(A, 0), RAISE(A, 1), RAISE(A, 2), READ(0) },
		.cast = {
			{ { MIGRATE(A, 0, 1) } },
			{ { DESTROY(A, 0, | BY_1) } },
			{ { READ(1) } },
			{ { RAISE(A, 3) } },
		},
	}, {
		.name = "destroy_moved",
		.about = "a destroy on the target, as soon as the id is there",
		.channels = 2,
		.prepare = { NEW(A, 0), RAISE(A, 1) },
		.cast = {
			{ { MIGRATE(A, 0, 1) } },
			{ { DESTROY(A, 1) } },
			{ { READ(0), ACK(0) } },
			{ { READ(1), ACK(1) } },
		},
	}, {
		.name = "two_destroys",
		.about = "two destroys, one of which gives up and resumes",
		.channels = 2,
		.signals = 1,
		.prepare = { NEW(A, 0), RAISE(A, 1), READ(0) },
		.cast = {
			{ { DESTROY(A, 0, | RESTART) } },
			{ { DESTROY(A, 0, | BY_1), DESTROY(A, 0) } },
			{ { ACK_EVENT(A, 0, 1) } },
		},
	}, {
		.name = "quick_destroys",
		.about = "the same, and who destroys releases, unless a command is at work",
		.channels = 2,
		.quick = true,
		.prepare = { NEW(A, 0), RAISE(A, 1), READ(0) },
		.cast = {
			{ { DESTROY(A, 0, | BY_1) } },
			{ { DESTROY(A, 0) } },
			{ { COMMAND(A, 0), ACK_EVENT(A, 0, 1) } },
		},
	}, {
		.name = "quick_hand_over",
		.about = "an id with such an end is handed over, destroyed and removed",
		.channels = 2,
		.quick = true,
		.prepare = { NEW(A, 0), RAISE(A, 1) },
		.cast = {
			{ { HAND_OVER(A, 0, 1, 2) } },
			{ { DESTROY(A, 0) } },
			{ { REMOVE(A, 3) } },
		},
	}, {
		.name = "quick_ends",
		.about = "an id with such an end is destroyed, migrated, closed and removed",
		.channels = 2,
		.quick = true,
		.prepare = { NEW(A, 0) },
		.cast = {
			{ { DESTROY(A, 0) } },
			{ { MIGRATE(A, 0, 1) } },
			{ { CLOSE(0) } },
			{ { REMOVE(A, 1) } },
		},
	}, {
		.name = "destroy_nonblock",
		.about = "destroys that must not wait, or hold the event",
		.channels = 2,
		.prepare = { NEW(A, 0), RAISE(A, 1), RAISE(A, 2) },
		.cast = {
			{ { DESTROY(A, 0, | NONBLOCK) } },
			{ { READ(0), DESTROY(A, 0, | HELD), ACK(0) } },
			{ { ACK_ALL(A, 0) } },
		},
	}, {
		.name = "close_source",
		.about = "the source is closed while the id is migrated and read",
		.channels = 2,
		.prepare = { NEW(A, 0), NEW(B, 0), RAISE(A, 1), RAISE(B, 2) },
		.cast = {
			{ { CLOSE(0) } },
			{ { MIGRATE(A, 0, 1) } },
			{ { READ(0), ACK(0) } },
			{ { RAISE(A, 3) } },
		},
	}, {
		.name = "close_target",
		.about = "the target is closed while the id is on its way there",
		.channels = 2,
		.prepare = { NEW(A, 0), NEW(B, 1), RAISE(A, 1), RAISE(A, 2),
			     READ(0) },
		.cast = {
			{ { CLOSE(1) } },
			{ { MIGRATE(A, 0, 1) } },
			{ { ACK_EVENT(A, 0, 1) } },
			{ { RAISE(B, 3), RAISE(A, 4) } },
		},
	}, {
		.name = "close_both",
		.about = "both channels are closed, and the id destroyed",
		.channels = 2,
		.prepare = { NEW(A, 0), RAISE(A, 1) },
		.cast = {
			{ { MIGRATE(A, 0, 1) } },
			{ { CLOSE(1) } },
			{ { CLOSE(0) } },
			{ { DESTROY(A, 1) } },
			{ { ACK_ALL(A, 1) } },
		},
	}, {
		.name = "there_and_back",
		.about = "there and back again, while events come and are read",
		.channels = 2,
		.prepare = { NEW(A, 0), RAISE(A, 1) },
		.cast = {
			{ { MIGRATE(A, 0, 1), MIGRATE(A, 1, 0) } },
			{ { RAISE(A, 2) } },
			{ { READ(1), ACK(1) } },
			{ { READ(0), ACK(0) } },
		},
	}, {
		.name = "circle",
		.about = "three migrations that follow each other if they can",
		.channels = 3,
		.prepare = { NEW(A, 0), RAISE(A, 1) },
		.cast = {
			{ { MIGRATE(A, 0, 1) } },
			{ { MIGRATE(A, 1, 2) } },
			{ { MIGRATE(A, 2, 0) } },
			{ { RAISE(A, 2) } },
		},
	}, {
		.name = "same_channel",
		.about = "a migration to where the id is, with others' events around",
		.channels = 1,
		.signals = 1,
		.prepare = { NEW(A, 0), NEW(B, 0), RAISE(A, 1), RAISE(A, 2),
			     RAISE(B, 3), READ(0) },
		.cast = {
			{ { MIGRATE(A, 0, 0, | BY_1) } },
			{ { ACK_EVENT(A, 0, 1) } },
			{ { READ(0), ACK(0) } },
			{ { RAISE(A, 4) } },
		},
	}, {
		.name = "no_waiting",
		.about = "migrations that cannot wait must move nothing",
		.channels = 2,
		.signals = 1,
		.prepare = { NEW(A, 0), NEW(B, 0), RAISE(A, 1), RAISE(A, 2),
			     RAISE(B, 3), READ(0) },
		.cast = {
			{ { MIGRATE(A, 0, 1, | NONBLOCK) } },
			{ { MIGRATE(A, 0, 1, | PAST) } },
			{ { ACK_EVENT(A, 0, 1), MIGRATE(A, 0, 0, | PAST) } },
			{ { READ(0), ACK(0) } },
		},
	}, {
		.name = "signal",
		.about = "signals and deadlines at every point of a migration",
		.channels = 2,
		.signals = 2,
		.prepare = { NEW(A, 0), NEW(B, 0), RAISE(A, 1), RAISE(A, 2),
			     RAISE(B, 3), READ(0) },
		.cast = {
			{ { MIGRATE(A, 0, 1, | RESTART | BY_2) } },
			{ { READ(0), ACK(0) } },
			{ { ACK_EVENT(A, 1, 1) } },
			{ { RAISE(A, 4) } },
		},
	}, {
		.name = "deadline_reader",
		.about = "a reader sleeps; the migration before it gives up",
		.channels = 2,
		.prepare = { NEW(A, 0), RAISE(A, 1), RAISE(A, 2), READ(0) },
		.cast = {
			{ { MIGRATE(A, 0, 1, | BY_1) } },
			{ { READ(0), ACK(0) } },
			{ { MIGRATE(A, 0, 1, | BY_2) } },
			{ { READ(1) } },
		},
	}, {
		.name = "held",
		.about = "who migrates holds the event; others acknowledge it, too",
		.channels = 2,
		.signals = 1,
		.prepare = { NEW(A, 0), RAISE(A, 1), RAISE(A, 2) },
		.cast = {
			{ { READ(0), MIGRATE(A, 0, 1, | HELD), ACK(0) } },
			{ { READ(0), MIGRATE(A, 0, 1, | HELD), ACK(0) } },
			{ { RAISE(A, 3) } },
		},
	}, {
		.name = "held_shared",
		.about = "what a migration holds is acknowledged while it is copied",
		.channels = 2,
		.faults = 1,
		.prepare = { NEW(A, 0), RAISE(A, 1), RAISE(A, 2) },
		.cast = {
			{ { READ(0), MIGRATE(A, 0, 0, | HELD), ACK(0) } },
			{ { ACK_ALL(A, 0) } },
			{ { READ(0), ACK(0) } },
			{ { READ(1), ACK(1) } },
		},
	}, {
		.name = "held_by_another",
		.about = "what a migration holds is just being copied to another one",
		.channels = 2,
		.prepare = { NEW(A, 0), RAISE(A, 1), RAISE(A, 2) },
		.cast = {
			{ { READ(0) } },
			{ { MIGRATE_HOLDING(A, 0, 1, 1) } },
			{ { ACK_EVENT(A, 0, 1) } },
			{ { READ(1) } },
		},
	}, {
		.name = "held_no_more",
		.about = "what a destroy or a migration holds may be acknowledged before",
		.channels = 2,
		.prepare = { NEW(A, 0), RAISE(A, 1) },
		.cast = {
			{ { READ(0), ACK(0) } },
			{ { DESTROY_HOLDING(A, 0, 1) } },
			{ { MIGRATE_HOLDING(A, 0, 1, 1, | BY_1) } },
		},
	}, {
		.name = "hand_over",
		.about = "an announced migration with a new cookie",
		.channels = 2,
		.prepare = { NEW(A, 0), RAISE(A, 1), RAISE(A, 2), READ(0) },
		.cast = {
			{ { HAND_OVER(A, 0, 1, 5) } },
			{ { READ(1), ACK(1), READ(1), ACK(1) } },
			{ { ACK_EVENT(A, 1, 1) } },
			{ { REMOVE(A, 4) } },
		},
	}, {
		.name = "hand_over_child",
		.about = "a child that nobody has claimed is handed over",
		.channels = 2,
		.prepare = { LISTEN(A, 0, 2), REQUEST(A, B, 1), READ(0),
			     UNASKED(B, 2) },
		.cast = {
			{ { HAND_OVER(B, 0, 1, 5) } },
			{ { READ(1), ADOPT(B, 1), READ(1), ACK(1) } },
			{ { REMOVE(B, 3) } },
		},
	}, {
		.name = "hand_over_fails",
		.about = "an announced migration that is given up",
		.channels = 2,
		.signals = 1,
		.nomem = 1,
		.prepare = { NEW(A, 0), RAISE(A, 1), RAISE(A, 2), READ(0) },
		.cast = {
			{ { HAND_OVER(A, 0, 1, 5) } },
			{ { READ(1), ACK(1) } },
			{ { DESTROY(A, 0) } },
			{ { ACK_EVENT(A, 0, 1) } },
		},
	}, {
		.name = "poll",
		.about = "two that poll the target, each to be woken for an event",
		.channels = 2,
		.prepare = { NEW(A, 0), RAISE(A, 1), RAISE(A, 2), RAISE(A, 3),
			     READ(0) },
		.cast = {
			{ { MIGRATE(A, 0, 1) } },
			{ { POLL(1) } },
			{ { POLL(1) } },
			{ { ACK_EVENT(A, 0, 1) } },
		},
	}, {
		.name = "poll_raise",
		.about = "two that poll, each to be woken for an event, of two ids",
		.channels = 1,
		.prepare = { NEW(A, 0), NEW(B, 0) },
		.cast = {
			{ { POLL(0) } },
			{ { POLL(0) } },
			{ { RAISE(A, 1) } },
			{ { RAISE(B, 2) } },
		},
	}, {
		.name = "poll_contended",
		.about = "a reader that must not block meets another one's copy",
		.channels = 1,
		.faults = 1,
		.prepare = { NEW(A, 0), RAISE(A, 1) },
		.cast = {
			{ { READ(0) } },
			{ { READ(0, | NONBLOCK | EDGE), POLL(0) } },
			{ { RAISE(A, 2), RAISE(A, 3) } },
		},
	}, {
		.name = "shut_down_page",
		.about = "who waits behind a missing page is turned away, too",
		.channels = 1,
		.stuck = 1,
		.prepare = { NEW(A, 0), RAISE(A, 1), RAISE(A, 2) },
		.cast = {
			{ { READ(0) } },
			{ { READ(0) } },
			{ { SHUT(0) } },
		},
	}, {
		.name = "shut_down",
		.about = "readers are turned away for good",
		.channels = 2,
		.prepare = { NEW(A, 0), RAISE(A, 1) },
		.cast = {
			{ { SHUT(1) } },
			{ { READ(1) } },
			{ { READ(1), ACK(1) } },
			{ { MIGRATE(A, 0, 1) } },
			{ { POLL(1) } },
		},
	},
};

const int n_scenarios = ARRAY_SIZE(scenarios);
