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
	OP_LIST,
	OP_ROOM,
	OP_BACKLOG,
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
#define FITS		(1 << 10)	/* there is room for it */
#define FAILS		(1 << 11)	/* rdma_cm says no */
#define HOLDING		(1 << 12)	/* holding an event that somebody else read */

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
/* Holding event @e, once somebody has read it. */
#define MIGRATE_HOLDING(i, c, t, e, ...) \
	{ OP_MIGRATE, i, c, t, e, HOLDING __VA_ARGS__ }
#define DESTROY_HOLDING(i, c, e) { OP_DESTROY, i, c, 0, e, HOLDING }
#define LEAVE_HOLDING(i, c, g, e) { OP_LEAVE, i, c, g, e, HOLDING }
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
#define JOIN(i, c, g, ...)	{ OP_JOIN, i, c, g, .flags = 0 __VA_ARGS__ }
#define GROUP_EVENT(i, g, t)	{ OP_GROUP_EVENT, i, .target = g, .tag = t }
#define LEAVE(i, c, g, ...)	{ OP_LEAVE, i, c, g, .flags = 0 __VA_ARGS__ }
/* Accept the child whose request the actor has read, where it was read. */
#define USE_CHILD(c)		{ OP_USE_CHILD, .channel = c }
/* List the ids of a channel. */
#define LIST(c)			{ OP_LIST, .channel = c }
/* Make room for an event that a command causes. */
#define ROOM(i, c, ...)		{ OP_ROOM, i, c, .flags = 0 __VA_ARGS__ }
/* Listen with another backlog. */
#define BACKLOG(i, c, n)	{ OP_BACKLOG, i, c, n }

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
 * @limit_user: likewise a user
 * @limit_all: likewise all together
 * @limit_caused: events of an id that commands caused
 * @quick: what an id stands for waits for nobody when it ends
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
	u8 limit_user;
	u8 limit_all;
	u8 limit_caused;
	bool quick;
	struct op prepare[MAX_PREPARE];
	struct cast cast[6];
};

extern const struct scenario scenarios[];
extern const int n_scenarios;
extern const struct scenario more_scenarios[];
extern const int n_more_scenarios;

#endif /* EXPLORE_SCENARIO_H */
