/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The state of a run, all that is saved and restored and compared: actors,
 * memory, the clock, and the account of ids and events that is kept beside the
 * core.  Besides this there are the core's own variables.
 *
 * Files: search.c tries the schedules, sched.c runs actors, lock.c, wait.c,
 * primitives.c and memory.c stand in for the kernel, calls.c, listing.c and ids.c
 * have what actors do; account.c, events.c, lists.c, acks.c, counts.c and rest.c check it,
 * outcome.c says what came out.
 */
#ifndef EXPLORE_WORLD_H
#define EXPLORE_WORLD_H

#include <linux/types.h>
#include <linux/mutex.h>
#include <linux/wait.h>

#include <channel.h>
#include <group.h>
#include <id.h>

#include "scenario.h"

/* A clause of the contract, unless it holds. */
#define CHECK(clause, condition, ...) do {				\
	if (!(condition))						\
		violated(clause, __VA_ARGS__);				\
} while (0)

/* The stage hand prepares and tidies up; then come a scenario's, then work. */
#define STAGE_HAND	0
#define MAX_CAST	6
#define FIRST_WORKER	(1 + MAX_CAST)
#define MAX_WORKERS	5
#define MAX_ACTORS	(FIRST_WORKER + MAX_WORKERS)
#define STACK_SIZE	16384

#define MAX_CHANNELS	3
#define MAX_IDS		5
#define MAX_TAGS	24
#define MAX_GROUPS	2

/* What keeps an actor from going on. */
enum wants {
	WANTS_NOTHING,
	WANTS_LOCK,
	WANTS_MUTEX,
	WANTS_WAKE,
	WANTS_PAGE,
	WANTS_WORK,
	WANTS_END,
	WANTS_NO_MORE,
};

/**
 * struct actor - a thread
 * @sp: its stack, while it does not run
 * @place: where it stands; NULL at a plain access
 * @pc: then, of what code
 * @on: what it is about to use
 * @doing: what it is about to do
 * @wants: what keeps it
 * @task_state: TASK_RUNNING or as what it sleeps
 * @fails: what it is about to do can go wrong
 * @looks: and that is all there is to choose
 * @failed: and it has been chosen that it does
 * @interruptible: a signal ends its waiting for a mutex
 * @signal: one is pending
 * @timed: it sleeps no longer than @until
 * @long_sleep: it sleeps no longer than anything happens
 * @fresh: it has just taken a lock and done nothing since, see point()
 * @let_go: see let_go()
 * @rcu: how deep in RCU
 * @spins: spinlocks held
 * @locks: those
 * @mutexes: bits of enum mutex_rank held
 * @users: use counts held
 * @processor: where it last reserved a handle
 * @probed: it was woken only to see whether it goes on waiting
 * @until: see @timed
 * @work: what a worker does
 * @call: operation of its part, NULL in between
 * @step: number of that
 * @held: tag of the event that the call says that it holds, or 0
 * @stale: which had been acknowledged before
 * @late: the id was dying before the call began
 * @early: the id was not yet known on the channel then
 * @too_late: when it was locked it had come to its end
 * @takes_effect: the call for all that is outstanding has settled its first portion
 * @due: tags of what was outstanding then and still is, as bits
 * @overlapped: another migration of the id was under way at the same time
 * @moved: its migration was committed
 * @unheld: what it waits for was outstanding when it last looked
 * @was_unheld: and the time before
 * @froze: its migration froze the id
 * @moves: how often the id had been moved when the call began
 * @failed_copy: the copy of an event has failed
 * @no_memory: an allocation has failed
 * @copied: bytes copied by this call
 * @told: what its calls returned, and which events they brought, as a hash
 * @n_read: how many events it has read
 * @read: their tags
 */
struct actor {
	void *sp;
	const struct place *place;
	const void *pc;
	const volatile void *on;
	u8 doing;
	u8 wants;
	u8 task_state;
	bool fails;
	bool looks;
	bool failed;
	bool interruptible;
	bool signal;
	bool timed;
	bool long_sleep;
	bool fresh;
	bool let_go;
	u8 rcu;
	u8 spins;
	u8 mutexes;
	int8_t users;
	bool processor;
	bool probed;
	const spinlock_t *locks[3];
	u64 until;
	struct work_struct *work;
	const struct op *call;
	u8 step;
	u8 held;
	bool stale;
	bool late;
	bool early;
	bool too_late;
	bool takes_effect;
	bool overlapped;
	bool moved;
	bool unheld;
	bool was_unheld;
	bool froze;
	bool failed_copy;
	bool no_memory;
	u8 moves;
	u32 due;
	u32 copied;
	u64 told;
	u8 n_read;
	u8 read[8];
};

/* What is known of an event, by its tag. */
enum {
	TAG_RAISING	= 1 << 0,	/* the call has begun */
	TAG_RAISED	= 1 << 1,	/* and succeeded */
	TAG_DROPPED	= 1 << 2,	/* or was told that it is too late */
	TAG_DELIVERED	= 1 << 3,	/* copied to a reader */
	TAG_ACKED	= 1 << 4,	/* acknowledged by a call that returned */
	TAG_ACKING	= 1 << 5,	/* a call to acknowledge it has begun */
	TAG_SHARED	= 1 << 6,	/* more than one call, or one for all */
	TAG_FAILED	= 1 << 7,	/* a copy of it has failed */
};

/**
 * struct tag - the account of an event
 * @state: TAG_
 * @id: whose
 * @child: the request's child, counted from 1
 * @announces: an id that was handed over to @channel
 * @seq: its number
 * @channel: where it was read
 * @room: of which kind
 */
struct tag {
	u8 state;
	u8 id;
	u8 child;
	bool announces;
	u8 seq;
	u8 channel;
	u8 room;
};

/**
 * struct part - the account of an id
 * @id: the core's; not to be followed unless @alive
 * @handler: rdma_cm's handler mutex
 * @internal: that of rdma_cm's internal ids, for a wildcard listener
 * @handle: its handle
 * @alive: the memory is there
 * @given: a channel or a listener has it
 * @released: ops->release() was called
 * @gone: its device was removed
 * @dying: it was seen dying
 * @owner: channel that owned it last, counted from 1
 * @outstanding: events outstanding when last seen
 * @raised_seq: number of the last event raised
 * @last_seq: number of the last event delivered
 * @migrations: calls under way
 * @moves: how often it was moved
 * @stayed: a migration of it has failed
 * @claimed: it was seen claimed
 * @unpublished: it was seen at its end
 * @killer: who ended it
 * @migration: the migration under way, when last seen
 * @cookie: its cookie
 * @old_cookie: and the one before, which an event may have that was just read
 */
struct part {
	struct ucmx_id *id;
	struct mutex handler;
	struct mutex internal;
	u32 handle;
	bool alive;
	bool given;
	bool released;
	bool gone;
	bool dying;
	u8 owner;
	u8 outstanding;
	u8 raised_seq;
	u8 last_seq;
	u8 migrations;
	u8 moves;
	bool stayed;
	bool claimed;
	bool unpublished;
	u8 killer;
	const void *migration;
	u64 cookie;
	u64 old_cookie;
};

/**
 * struct desk - an open file and its channel
 * @channel: the channel
 * @files: references of the file; the last one closes it
 * @open: the descriptor is there
 * @closed: ucmx_channel_close() was called
 * @shut: it was shut down
 * @n: how many events were queued when it was last seen
 * @queue: their tags
 */
struct desk {
	struct ucmx_channel *channel;
	u8 files;
	bool open;
	bool closed;
	bool shut;
	u8 n;
	u8 queue[MAX_TAGS];
};

struct pid {
	int refs;
};

/**
 * struct rcu_wait - something that is freed when readers have left
 * @head: what is called
 * @func: with this, if not NULL
 * @p: else this is freed
 * @readers: actors that may have seen it
 */
struct rcu_wait {
	struct rcu_head *head;
	void (*func)(struct rcu_head *head);
	const void *p;
	u16 readers;
};

#define MAX_RCU		8

struct world {
	struct actor actors[MAX_ACTORS];
	struct part parts[MAX_IDS];
	struct desk desks[MAX_CHANNELS];
	struct tag tags[MAX_TAGS];
	u32 group_numbers[MAX_GROUPS];
	bool group_joined[MAX_GROUPS];
	bool group_left[MAX_GROUPS];
	bool group_leaving[MAX_GROUPS];
	struct rcu_wait rcu[MAX_RCU];
	struct pid pids[MAX_ACTORS];
	u64 now;
	u8 running;
	u8 signals;
	u8 faults;
	u8 nomem;
	u8 stuck;
	u8 caches;
	bool queue_gone;
	bool page_there;
	bool ending;
	bool over;
	u16 arena_used[MAX_ACTORS];
};

extern struct world W;
extern const struct scenario *scene;

/* sched.c */
#define ME (&W.actors[W.running])
void x_switch(void **save, void *to);
void actors_start(void);
void actor_resume(int k);
bool actor_can_run(int k);
bool actor_idle(int k);
void stand(enum doing what, const volatile void *on, const struct place *here,
	   enum wants wants);
int look_fails(enum doing what);
void point_access(const void *p, const void *pc);
void actor_body(int k);
void worker_body(int k);
extern char stacks[MAX_ACTORS][STACK_SIZE];

/* memory.c */
void __tsan_init(void);
void __tsan_read_range(const void *p, size_t size);
void __tsan_write_range(const void *p, size_t size);
#define ARENA_SIZE	24576
#define GRANULE		16
extern char arena[MAX_ACTORS][ARENA_SIZE];
extern u8 granules[MAX_ACTORS][ARENA_SIZE / GRANULE];
void check_nothing_allocated(void);
bool is_live(const volatile void *p);
bool in_arena(const volatile void *p);

/* primitives.c */
void rcu_left(void);

/* wait.c */
bool sleep_is_over(const struct actor *actor);

/* words.c */
const char *name_of(const volatile void *p);
const char *actor_name(int k);
const char *words_of(const struct actor *actor);
const char *words_of_op(const struct op *op);

/* ids.c: ids that stand for nothing, and what rdma_cm does to them. */
struct ucmx_id *make_id(int k);
int give_room(struct ucmx_id *id, enum ucmx_room room);
void drop_id(int k);
void raise_event(const struct op *op);
void raise_unasked(const struct op *op);
void raise_request(const struct op *op);
void raise_of_group(const struct op *op);
void remove_device(const struct op *op);

/* stage.c: before and after. */
void stage_prepare(void);
void stage_tidy(void);

/* calls.c: what processes do. */
void do_op(const struct op *op);
void file_put(int c);
u64 deadline_of(const struct op *op);

/* account.c: what calls return. */
void account_begin(const struct op *op);
void account_end(long ret);

/* events.c: what readers get, and what is acknowledged. */
void account_raise(int tag, int id, int room);
void account_raised(int tag, u64 seq, int err);
void account_copied(const struct rdma_ucmx_event *head);
void account_not_copied(const struct rdma_ucmx_event *head);
void account_ack(int tag);
void account_acked(int tag, int c, int err);
void account_merged(int id, int room);
void account_at_end(void);

/* outcome.c: what can come out. */
void outcome_tell(long what);
void outcome_note(void);

/* rest.c: when nobody can go on. */
void account_overslept(const struct place *here) __attribute__((noreturn));
void account_at_rest(void);

/* lists.c: the core's lists, whenever a channel is unlocked. */
void lists_check(const spinlock_t *lock);
int lists_unheld(const struct actor *actor, int k);

/* acks.c: what acknowledgements have done by then. */
void acks_check(int k, int c);

/* counts.c: how many ids are charged to whom, and what ids count. */
void counts_at_rest(void);
void counts_of(int k);

/* listing.c: what a list of ids says. */
long call_list(const struct op *op, struct ucmx_channel *channel);

#endif /* EXPLORE_WORLD_H */
