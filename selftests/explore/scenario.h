/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How a scenario is written down: channels, what has happened before, and who
 * does what at once.  Documentation/testing.rst has an example.
 */
#ifndef EXPLORE_SCENARIO_H
#define EXPLORE_SCENARIO_H

#include <linux/types.h>

enum op_kind {
	OP_NONE,
	OP_NEW,
	OP_LISTEN,
	OP_RAISE,
	OP_UNASKED,
	OP_REQUEST,
	OP_REMOVE,
	OP_READ,
	OP_ACK,
	OP_ACK_ALL,
	OP_ACK_EVENT,
	OP_POLL,
	OP_MIGRATE,
	OP_DESTROY,
	OP_CLOSE,
	OP_COMMAND,
	OP_ACCEPT,
	OP_ADOPT,
	OP_WRITE,
	OP_SHUT,
	OP_JOIN,
	OP_GROUP_EVENT,
	OP_LEAVE,
	OP_USE_CHILD,
};

/* Flags of an operation. */
#define NONBLOCK	(1 << 0)
#define BATCH		(1 << 1)	/* a large buffer */
#define HELD		(1 << 2)	/* holding the event that was read last */
#define COOKIE		(1 << 3)	/* with a new cookie */
#define ANNOUNCE	(1 << 4)
#define RESTART		(1 << 5)	/* begin again after a signal */
#define BY_1		(1 << 6)	/* with the first deadline */
#define BY_2		(1 << 7)	/* with a later one */
#define PAST		(1 << 8)	/* with one that is past */
#define EDGE		(1 << 9)	/* told of by edge-triggered epoll */

/**
 * struct op - something that an actor does
 * @kind: what
 * @id: with which id
 * @channel: on which channel
 * @target: to which channel; of a request, the child
 * @tag: number of the event that it raises, 1 to MAX_TAGS - 1
 * @flags: how
 */
struct op {
	u8 kind;
	u8 id;
	u8 channel;
	u8 target;
	u8 tag;
	u16 flags;
};

/* Ids have letters. */
enum { A, B, C, D, E };

#define NEW(i, c)		{ OP_NEW, i, c }
#define LISTEN(i, c, backlog)	{ OP_LISTEN, i, c, backlog }
#define RAISE(i, t)		{ OP_RAISE, i, .tag = t }
#define UNASKED(i, t)		{ OP_UNASKED, i, .tag = t }
#define REQUEST(i, child, t)	{ OP_REQUEST, i, .target = child, .tag = t }
#define REMOVE(i, t)		{ OP_REMOVE, i, .tag = t }
#define READ(c, ...)		{ OP_READ, .channel = c, .flags = 0 __VA_ARGS__ }
/* What the actor has read, one after the other, on channel @c. */
#define ACK(c)			{ OP_ACK, .channel = c }
/* Whatever is outstanding of the id. */
#define ACK_ALL(i, c)		{ OP_ACK_ALL, i, c }
/* An event of the id that somebody else has read. */
#define ACK_EVENT(i, c, t)	{ OP_ACK_EVENT, i, c, .tag = t }
#define POLL(c)			{ OP_POLL, .channel = c }
#define MIGRATE(i, c, t, ...)	{ OP_MIGRATE, i, c, t, .flags = 0 __VA_ARGS__ }
/* Likewise, announced by event @e. */
#define HAND_OVER(i, c, t, e)	{ OP_MIGRATE, i, c, t, e, ANNOUNCE }
#define DESTROY(i, c, ...)	{ OP_DESTROY, i, c, .flags = 0 __VA_ARGS__ }
#define CLOSE(c)		{ OP_CLOSE, .channel = c }
#define COMMAND(i, c)		{ OP_COMMAND, i, c }
#define ACCEPT(i, c)		{ OP_ACCEPT, i, c }
#define ADOPT(i, c)		{ OP_ADOPT, i, c }
#define WRITE(i, c, t)		{ OP_WRITE, i, c, .tag = t }
#define SHUT(c)			{ OP_SHUT, .channel = c }
/* Groups are known by numbers from 0. */
#define JOIN(i, c, g)		{ OP_JOIN, i, c, g }
#define GROUP_EVENT(i, g, t)	{ OP_GROUP_EVENT, i, .target = g, .tag = t }
#define LEAVE(i, c, g, ...)	{ OP_LEAVE, i, c, g, .flags = 0 __VA_ARGS__ }
/* Accept the child whose request the actor has read, where it was read. */
#define USE_CHILD(c)		{ OP_USE_CHILD, .channel = c }

#define MAX_PREPARE	16
#define MAX_STEPS	4

/**
 * struct cast - an actor's part
 * @steps: what it does
 */
struct cast {
	struct op steps[MAX_STEPS];
};

/**
 * struct scenario - an initial state and actors
 * @name: its name
 * @about: what it is for
 * @channels: how many there are
 * @signals: how many signals may arrive
 * @faults: how many copies may fail
 * @nomem: how many allocations may fail
 * @stuck: how many copies may wait for their page until nothing else happens
 * @limit: ids that a channel may have, 0 for many
 * @prepare: what has happened before
 * @cast: who does what
 */
struct scenario {
	const char *name;
	const char *about;
	u8 channels;
	u8 signals;
	u8 faults;
	u8 nomem;
	u8 stuck;
	u8 limit;
	struct op prepare[MAX_PREPARE];
	struct cast cast[6];
};

extern const struct scenario scenarios[];
extern const int n_scenarios;
extern const struct scenario more_scenarios[];
extern const int n_more_scenarios;

#endif /* EXPLORE_SCENARIO_H */
