// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Scenarios of listeners and their children, of device removal, of commands and
 * of groups; see scenarios.c.
 */
#include <linux/types.h>

#include "scenario.h"

const struct scenario more_scenarios[] = {
	{
		.name = "listener",
		.about = "a listener with an unread child is migrated and read",
		.channels = 2,
		.prepare = { LISTEN(A, 0, 2), REQUEST(A, B, 1) },
		.cast = {
			{ { MIGRATE(A, 0, 1) } },
			{ { READ(0), USE_CHILD(0), ACK(0) } },
			{ { READ(1), USE_CHILD(1), ACK(1) } },
		},
	}, {
		.name = "listener_request",
		.about = "a request arrives while its listener is migrated",
		.channels = 2,
		.prepare = { LISTEN(A, 0, 2), REQUEST(A, B, 1), REQUEST(A, C, 2),
			     READ(0) },
		.cast = {
			{ { MIGRATE(A, 0, 1) } },
			{ { REQUEST(A, D, 3) } },
			{ { ACK_EVENT(A, 1, 1) } },
			{ { READ(1), USE_CHILD(1), ACK(1) } },
		},
	}, {
		.name = "listener_copy_fails",
		.about = "the copy of a request fails while its listener is migrated",
		.channels = 2,
		.faults = 1,
		.prepare = { LISTEN(A, 0, 2), REQUEST(A, B, 1) },
		.cast = {
			{ { MIGRATE(A, 0, 1) } },
			{ { READ(0), USE_CHILD(0), ACK(0) } },
			{ { REQUEST(A, C, 2) } },
			{ { ACCEPT(B, 0) } },
		},
	}, {
		.name = "listener_destroy",
		.about = "a listener with an unread child is destroyed and migrated",
		.channels = 2,
		.faults = 1,
		.prepare = { LISTEN(A, 0, 2), REQUEST(A, B, 1) },
		.cast = {
			{ { DESTROY(A, 0) } },
			{ { MIGRATE(A, 0, 1) } },
			{ { READ(0), USE_CHILD(0), ACK(0) } },
			{ { REQUEST(A, C, 2) } },
		},
	}, {
		.name = "listener_close",
		.about = "the channel of a listener with an unread child is closed",
		.channels = 2,
		.prepare = { LISTEN(A, 0, 2), REQUEST(A, B, 1) },
		.cast = {
			{ { CLOSE(0) } },
			{ { MIGRATE(A, 0, 1) } },
			{ { REQUEST(A, C, 2) } },
			{ { UNASKED(B, 3) } },
		},
	}, {
		.name = "listener_close_target",
		.about = "where a listener is on its way to is closed",
		.channels = 2,
		.prepare = { LISTEN(A, 0, 2), REQUEST(A, B, 1) },
		.cast = {
			{ { CLOSE(1) } },
			{ { MIGRATE(A, 0, 1) } },
			{ { REQUEST(A, C, 2) } },
			{ { READ(0), USE_CHILD(0) } },
		},
	}, {
		.name = "listener_gives_up",
		.about = "the migration of a listener is given up",
		.channels = 2,
		.signals = 1,
		.prepare = { LISTEN(A, 0, 3), REQUEST(A, B, 1), REQUEST(A, C, 2),
			     READ(0) },
		.cast = {
			{ { MIGRATE(A, 0, 1, | BY_1) } },
			{ { REQUEST(A, D, 3) } },
			{ { READ(0), USE_CHILD(0) } },
			{ { READ(1) } },
		},
	}, {
		.name = "wildcard",
		.about = "two requests at once, under no lock of the listener's",
		.channels = 2,
		.prepare = { LISTEN(A, 0, 1), RAISE(A, 1) },
		.cast = {
			{ { REQUEST(A, B, 2) } },
			{ { REQUEST(A, C, 3) } },
			{ { MIGRATE(A, 0, 1) } },
			{ { RAISE(A, 4) } },
		},
	}, {
		.name = "no_room",
		.about = "requests, when the target of their listener is nearly full",
		.channels = 2,
		.limit = 3,
		.prepare = { LISTEN(A, 0, 5), NEW(B, 1), REQUEST(A, C, 1),
			     RAISE(A, 6) },
		.cast = {
			{ { MIGRATE(A, 0, 1) } },
			{ { REQUEST(A, D, 2) } },
			{ { MIGRATE(B, 1, 0) } },
			{ { READ(0), ACK(0) } },
		},
	}, {
		.name = "no_room_for_two",
		.about = "two migrations to where there is room for one",
		.channels = 3,
		.limit = 2,
		.prepare = { NEW(A, 0), NEW(B, 2), NEW(C, 1), RAISE(A, 1),
			     READ(0) },
		.cast = {
			{ { MIGRATE(A, 0, 1, | BY_1) } },
			{ { MIGRATE(B, 2, 1) } },
			{ { ACK_EVENT(A, 0, 1) } },
		},
	}, {
		.name = "room_for_one",
		.about = "one that does not fit keeps no other from where that fits",
		.channels = 3,
		.limit = 3,
		.prepare = { NEW(A, 2), LISTEN(B, 0, 2), REQUEST(B, C, 1),
			     NEW(D, 1), NEW(E, 1) },
		.cast = {
			{ { MIGRATE(B, 0, 1) } },
			{ { MIGRATE(A, 2, 1, | FITS) } },
		},
	}, {
		.name = "no_room_for_user",
		.about = "requests, when who opened the channel has all ids that may be",
		.channels = 2,
		.limit_user = 2,
		.prepare = { LISTEN(A, 0, 5), REQUEST(A, B, 1) },
		.cast = {
			{ { REQUEST(A, C, 2) } },
			{ { MIGRATE(A, 0, 1) } },
			{ { READ(0), DESTROY(B, 0), ACK(0) } },
		},
	}, {
		.name = "no_room_at_all",
		.about = "requests, when there are all ids that may be",
		.channels = 1,
		.limit_all = 2,
		.prepare = { LISTEN(A, 0, 5), REQUEST(A, B, 1) },
		.cast = {
			{ { REQUEST(A, C, 2) } },
			{ { REQUEST(A, D, 3) } },
			{ { READ(0), DESTROY(B, 0), ACK(0) } },
		},
	}, {
		.name = "too_many_caused",
		.about = "commands, when too many events of them are not acknowledged",
		.channels = 2,
		.limit_caused = 1,
		.prepare = { NEW(A, 0), WRITE(A, 0, 1) },
		.cast = {
			{ { WRITE(A, 0, 2), ROOM(A, 0) } },
			{ { HAND_OVER(A, 0, 1, 3) } },
			{ { READ(0), ACK(0), WRITE(A, 0, 4) } },
			{ { WRITE(A, 1, 5) } },
		},
	}, {
		.name = "listen_again",
		.about = "a listener gets another backlog while requests come",
		.channels = 2,
		.prepare = { LISTEN(A, 0, 1), REQUEST(A, B, 1) },
		.cast = {
			{ { BACKLOG(A, 0, 2) } },
			{ { REQUEST(A, C, 2) } },
			{ { MIGRATE(A, 0, 1) } },
			{ { READ(0), USE_CHILD(0), ACK(0) } },
		},
	}, {
		.name = "child",
		.about = "a child's events before and while it is claimed",
		.channels = 2,
		.prepare = { LISTEN(A, 0, 2), REQUEST(A, B, 1) },
		.cast = {
			{ { READ(0), USE_CHILD(0), READ(0), ACK(0) } },
			{ { UNASKED(B, 2) } },
			{ { MIGRATE(B, 0, 1, | COOKIE) } },
			{ { READ(1) } },
		},
	}, {
		.name = "child_removal",
		.about = "the device of an unread or unclaimed child is removed",
		.channels = 2,
		.prepare = { LISTEN(A, 0, 2), REQUEST(A, B, 1) },
		.cast = {
			{ { READ(0), READ(0), ACK(0) } },
			{ { UNASKED(B, 2) } },
			{ { REMOVE(B, 3) } },
			{ { MIGRATE(A, 0, 1) } },
		},
	}, {
		.name = "removal",
		.about = "the device is removed while a migration waits",
		.channels = 2,
		.prepare = { NEW(A, 0), RAISE(A, 1), RAISE(A, 2), READ(0) },
		.cast = {
			{ { MIGRATE(A, 0, 1) } },
			{ { REMOVE(A, 3) } },
			{ { COMMAND(A, 0) } },
			{ { READ(1) } },
		},
	}, {
		.name = "removal_page",
		.about = "the device is removed while a page is missing",
		.channels = 2,
		.stuck = 1,
		.prepare = { NEW(A, 0), RAISE(A, 1), RAISE(A, 2) },
		.cast = {
			{ { READ(0), ACK(0) } },
			{ { REMOVE(A, 3) } },
			{ { MIGRATE(A, 0, 1) } },
			{ { READ(0) } },
		},
	}, {
		.name = "removal_destroy",
		.about = "the device is removed while the id is destroyed or used",
		.channels = 1,
		.prepare = { NEW(A, 0), RAISE(A, 1), READ(0) },
		.cast = {
			{ { DESTROY(A, 0, | BY_1) } },
			{ { REMOVE(A, 2) } },
			{ { COMMAND(A, 0) } },
			{ { UNASKED(A, 3) } },
		},
	}, {
		.name = "commands",
		.about = "commands on both channels while the id is migrated",
		.channels = 2,
		.prepare = { NEW(A, 0), RAISE(A, 1), READ(0) },
		.cast = {
			{ { MIGRATE(A, 0, 1, | COOKIE) } },
			{ { WRITE(A, 0, 2) } },
			{ { COMMAND(A, 1) } },
			{ { ACK_EVENT(A, 0, 1) } },
		},
	}, {
		.name = "claim",
		.about = "a child is adopted, accepted, moved and destroyed at once",
		.channels = 2,
		.prepare = { LISTEN(A, 0, 2), REQUEST(A, B, 1), READ(0),
			     UNASKED(B, 2) },
		.cast = {
			{ { ADOPT(B, 0) } },
			{ { ACCEPT(B, 0) } },
			{ { MIGRATE(B, 0, 1, | COOKIE) } },
			{ { DESTROY(B, 0) } },
		},
	}, {
		.name = "room",
		.about = "commands make room for events of an id that goes or moves",
		.channels = 2,
		.prepare = { NEW(A, 0) },
		.cast = {
			{ { ROOM(A, 0, | FAILS) } },
			{ { ROOM(A, 0) } },
			{ { DESTROY(A, 0) } },
			{ { MIGRATE(A, 0, 1) } },
		},
	}, {
		.name = "hand_over_command",
		.about = "an announced migration while a command is at work, and signals",
		.channels = 2,
		.signals = 1,
		.prepare = { NEW(A, 0), RAISE(A, 1) },
		.cast = {
			{ { HAND_OVER(A, 0, 1, 5) } },
			{ { COMMAND(A, 0) } },
			{ { READ(1), ACK(1), LIST(1) } },
		},
	}, {
		.name = "list",
		.about = "ids are listed while they are moved, read and destroyed",
		.channels = 2,
		.prepare = { NEW(A, 0), NEW(B, 0), RAISE(A, 1), RAISE(B, 2),
			     READ(0) },
		.cast = {
			{ { LIST(0) } },
			{ { MIGRATE(B, 0, 1) } },
			{ { DESTROY(A, 0) } },
			{ { ACK_EVENT(A, 0, 1) } },
		},
	}, {
		.name = "list_closed",
		.about = "ids are listed while children come, and the channel goes",
		.channels = 2,
		.prepare = { LISTEN(A, 0, 2), REQUEST(A, B, 1) },
		.cast = {
			{ { LIST(0) } },
			{ { READ(0), DESTROY(A, 0, | BY_1) } },
			{ { CLOSE(0) } },
			{ { REMOVE(B, 2) } },
		},
	}, {
		.name = "commands_destroy",
		.about = "commands while the id is destroyed",
		.channels = 1,
		.signals = 1,
		.prepare = { NEW(A, 0), RAISE(A, 1) },
		.cast = {
			{ { DESTROY(A, 0, | RESTART) } },
			{ { COMMAND(A, 0), ADOPT(A, 0) } },
			{ { WRITE(A, 0, 2) } },
			{ { READ(0), ACK(0) } },
		},
	}, {
		.name = "unasked",
		.about = "what comes unasked, again and again, is read in between",
		.channels = 1,
		.nomem = 1,
		.faults = 1,
		.prepare = { NEW(A, 0), UNASKED(A, 1) },
		.cast = {
			{ { UNASKED(A, 2) } },
			{ { UNASKED(A, 3) } },
			{ { READ(0), ACK(0), READ(0) } },
		},
	}, {
		.name = "no_memory",
		.about = "a request for which there is no memory",
		.channels = 2,
		.nomem = 1,
		.prepare = { LISTEN(A, 0, 2), RAISE(A, 1) },
		.cast = {
			{ { REQUEST(A, B, 2) } },
			{ { MIGRATE(A, 0, 1) } },
			{ { READ(1), READ(1), USE_CHILD(1) } },
		},
	}, {
		.name = "group",
		.about = "a group is left while its events come, are read and move",
		.channels = 2,
		.prepare = { NEW(A, 0), JOIN(A, 0, 0), GROUP_EVENT(A, 0, 1) },
		.cast = {
			{ { LEAVE(A, 0, 0) } },
			{ { GROUP_EVENT(A, 0, 2) } },
			{ { READ(0), ACK(0) } },
			{ { MIGRATE(A, 0, 1) } },
		},
	}, {
		.name = "group_copy_fails",
		.about = "a group is left while the copy of its event fails",
		.channels = 1,
		.faults = 1,
		.prepare = { NEW(A, 0), JOIN(A, 0, 0), GROUP_EVENT(A, 0, 1) },
		.cast = {
			{ { READ(0), READ(0, | NONBLOCK), ACK(0) } },
			{ { LEAVE(A, 0, 0) } },
			{ { GROUP_EVENT(A, 0, 2) } },
		},
	}, {
		.name = "group_unasked",
		.about = "a group's events come again and again and are read in between",
		.channels = 2,
		.nomem = 1,
		.prepare = { NEW(A, 0), JOIN(A, 0, 0), GROUP_EVENT(A, 0, 1) },
		.cast = {
			{ { GROUP_EVENT(A, 0, 2), GROUP_EVENT(A, 0, 3) } },
			{ { READ(0), ACK(0), READ(0), ACK(0) } },
			{ { MIGRATE(A, 0, 1) } },
		},
	}, {
		.name = "group_join_fails",
		.about = "a join fails after its event has come",
		.channels = 1,
		.nomem = 1,
		.prepare = { NEW(A, 0), RAISE(A, 1) },
		.cast = {
			{ { JOIN(A, 0, 0, | FAILS) } },
			{ { GROUP_EVENT(A, 0, 2) } },
			{ { READ(0), READ(0, | NONBLOCK), ACK(0) } },
			{ { DESTROY(A, 0) } },
		},
	}, {
		.name = "group_joined_twice",
		.about = "two join one address, and one of them leaves",
		.channels = 2,
		.prepare = { NEW(A, 0), RAISE(A, 1) },
		.cast = {
			{ { JOIN(A, 0, 0), LEAVE(A, 0, 0) } },
			{ { JOIN(A, 0, 1) } },
			{ { GROUP_EVENT(A, 1, 2) } },
			{ { MIGRATE(A, 0, 1) } },
		},
	}, {
		.name = "group_held",
		.about = "who leaves a group holds its event, or gives up",
		.channels = 1,
		.signals = 1,
		.prepare = { NEW(A, 0), JOIN(A, 0, 0), GROUP_EVENT(A, 0, 1),
			     GROUP_EVENT(A, 0, 2) },
		.cast = {
			{ { READ(0), LEAVE(A, 0, 0, | HELD), ACK(0) } },
			{ { LEAVE(A, 0, 0, | BY_1), LEAVE(A, 0, 0, | NONBLOCK) } },
			{ { READ(0), ACK(0) } },
		},
	}, {
		.name = "group_held_shared",
		.about = "what who leaves a group holds is acknowledged by another one",
		.channels = 1,
		.prepare = { NEW(A, 0), JOIN(A, 0, 0), GROUP_EVENT(A, 0, 1),
			     READ(0) },
		.cast = {
			{ { LEAVE_HOLDING(A, 0, 0, 1) } },
			{ { ACK_EVENT(A, 0, 1) } },
			{ { GROUP_EVENT(A, 0, 2), READ(0, | NONBLOCK), ACK(0) } },
		},
	}, {
		.name = "group_destroyed",
		.about = "the id goes while its group is left by two",
		.channels = 1,
		.signals = 1,
		.prepare = { NEW(A, 0), JOIN(A, 0, 0), GROUP_EVENT(A, 0, 1) },
		.cast = {
			{ { READ(0), LEAVE(A, 0, 0, | HELD), ACK(0) } },
			{ { LEAVE(A, 0, 0) } },
			{ { DESTROY(A, 0) } },
		},
	}, {
		.name = "everything",
		.about = "migrate, read, raise, destroy and remove at once",
		.channels = 2,
		.prepare = { NEW(A, 0), RAISE(A, 1) },
		.cast = {
			{ { MIGRATE(A, 0, 1) } },
			{ { READ(0), ACK(0) } },
			{ { RAISE(A, 2) } },
			{ { DESTROY(A, 1) } },
			{ { REMOVE(A, 3) } },
		},
	},
};

const int n_more_scenarios = ARRAY_SIZE(more_scenarios);
