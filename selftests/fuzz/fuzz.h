/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A random walk over all that can be done with channels: what its parts share.
 *
 * walk_test.c starts walkers, threads of several processes, and sums up; steps.c
 * has what a walker may do; react.c what it does about an event, as a program
 * would; wrap.c stands between the commands and the kernel, counts, and makes
 * arguments wrong; world.c remembers what there is to act upon.
 *
 * Each step of each walker draws from a generator that is seeded by the run's
 * seed, the walker and the number of the step.  So a seed gives the same
 * sequence of steps again, whatever came of those before.
 */
#ifndef SELFTESTS_FUZZ_H
#define SELFTESTS_FUZZ_H

#include <stdatomic.h>

#include "../scene.h"

#define PROCESSES 3
#define THREADS 3
/* Channels that a process has at a time. */
#define SLOTS 6

/* What is counted: the commands by their number, and what there is besides. */
enum op {
	OP_COMMANDS = RDMA_UCMX_CMD_RESOLVE_IB_SERVICE - RDMA_UCMX_CMD_BASE + 1,
	OP_UNKNOWN = OP_COMMANDS,
	OP_OPEN,
	OP_READ,
	OP_POLL,
	OP_EPOLL,
	OP_DUP,
	OP_CLOSE,
	OP_SEND,
	OP_RECEIVE,
	OP_FORK,
	OP_KILL,
	OPS,
};

/* Larger than any errno that the kernel returns to user space. */
#define ERRNOS 134
#define EVENT_TYPES (EV_ARRIVED + 1)

struct tally {
	atomic_uint ok;
	atomic_uint errors[ERRNOS];
};

/* Where a walker is, for the report on one that comes to no end. */
struct walker {
	_Atomic pid_t tid;
	atomic_uint step;
	atomic_int op;
};

/* Shared by all processes. */
struct world {
	__u64 seed;
	_Atomic __u64 end;
	struct tally tallies[OPS];
	atomic_uint events[EVENT_TYPES];
	struct walker walkers[PROCESSES][THREADS];
	/* Handle above, number of its channel below. */
	_Atomic __u64 ids[48];
	/* Unacknowledged events: handle above, sequence number below. */
	_Atomic __u64 held[64];
	/* Handle above, number of the group below. */
	_Atomic __u64 groups[16];
	_Atomic __u16 ports[8];
	atomic_uint next_channel;
};

extern struct world *world;
extern const char *const op_names[OPS];

/* Of the calling thread; NULL in one that only looks after the others. */
struct thread {
	unsigned int process;
	unsigned int number;
	unsigned int step;
	__u64 random;
	struct walker *walker;
	pid_t child;
	/* Pages to write, two; one without access; one to read; much to write. */
	char *arena;
};

extern __thread struct thread *me;

#define PAGE 4096
#define ARENA_NONE (2 * PAGE)
#define ARENA_READ_ONLY (3 * PAGE)
#define ARENA_LARGE (4 * PAGE)
#define ARENA_LARGE_SIZE (512 * PAGE)
#define ARENA_SIZE (ARENA_LARGE + ARENA_LARGE_SIZE + PAGE)

/* Drawing. */
void seed_step(struct thread *thread);
__u64 draw64(void);
unsigned int draw(unsigned int n);
bool one_in(unsigned int n);
/* A deadline: none, past, or soon. */
__u64 draw_deadline(void);

/* Counting; each returns what it was given. */
int count(enum op op, int result);

/* What there is to act upon: see world.c. */
struct channel {
	int fd;
	__u32 number;
};

struct channel draw_channel(void);
void slot_set(unsigned int slot, struct channel channel);
struct channel slot_get(unsigned int slot);
void id_note(__u32 id, __u32 channel);
/* An id, and, mostly, the channel that it is on. */
__u32 draw_id(struct channel *channel);
void held_note(__u32 id, __u64 seq);
/* The sequence number of an unacknowledged event of this id, or 0. */
__u64 draw_held(__u32 id);
void port_note(__u16 port);
__u16 draw_port(void);
void group_note(__u32 id, __u32 group);
bool draw_group(__u32 *id, __u32 *group);

/* Channels on their way from process to process. */
int passing_open(void);
void passing_close(void);
void channel_send(void);
void channel_receive(void);

/* What the linker makes of ioctl() here and elsewhere (--wrap). */
int __real_ioctl(int fd, unsigned long request, void *arg);
int __wrap_ioctl(int fd, unsigned long request, ...);

/* One step of the calling walker; in the end, its child has to go. */
void step(void);
void end_child(void);
/* Read from a channel and do something about what was read. */
void read_events(struct channel channel);
void react(struct channel channel, const struct event *ev);
void join_group(struct channel channel, __u32 id);

#endif /* SELFTESTS_FUZZ_H */
