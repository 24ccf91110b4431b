/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Making allocations and copies to and from user memory fail, one at a time,
 * by the kernel's fault injection.
 *
 * What can fail in a system call of this task the kernel counts ("fail-nth").
 * FAULTY(name, call) makes the first of it fail, then the second, and so on, as
 * often as the call fails for it.  A call that succeeds although something
 * failed goes on where it was the next time that its scene is played: scenes are
 * played until every call in them has met all that can fail in it.
 */
#ifndef SELFTESTS_FAULT_H
#define SELFTESTS_FAULT_H

#include <stdbool.h>
#include <sys/types.h>

#include "cmd.h"

/**
 * struct fault_spot - a call in a scene
 * @name: the command's; more may follow after a blank
 * @nth: what failed last
 * @failures: how often the call failed for it
 * @copies: how often of these with EFAULT
 * @nomem: how often of these for want of memory
 * @passed: nothing is left that could fail
 * @next: of all spots that were reached
 */
struct fault_spot {
	const char *name;
	unsigned int nth;
	unsigned int failures;
	unsigned int copies;
	unsigned int nomem;
	bool passed;
	struct fault_spot *next;
};

/* Switch fault injection on, and off: 0, or -1 and errno. */
int fault_begin(void);
int fault_end(void);

/* Channels whose counts and ids a call that fails must not change; or -1. */
void fault_watch(int fd, int other);

void fault_arm(struct fault_spot *spot);
bool fault_again(struct fault_spot *spot, bool repeat, int result);

#define FAULTY_CALL(what, repeat, call) ({				\
	static struct fault_spot _spot = { .name = what };		\
	int _got;							\
									\
	do {								\
		fault_arm(&_spot);					\
		_got = (call);						\
	} while (fault_again(&_spot, repeat, _got));			\
	_got;								\
})

/*
 * The result of @call when nothing in it fails any more, or when it succeeds
 * anyway.  After a failure nothing has changed, and so it is tried again.
 */
#define FAULTY(what, call) FAULTY_CALL(what, true, call)
/* The same for a call that may change something when it fails: not again. */
#define FAULTY_ONCE(what, call) FAULTY_CALL(what, false, call)

/* Whether something failed in the latest of these calls. */
extern bool fault_hit;

/* Of all spots: whether one has not met all; what came of it, in words. */
bool fault_left(void);
void fault_report(void);

/**
 * struct fault_sum - what was reported, also by other tests of this program
 * @nth: what failed
 * @copies: calls that failed with EFAULT
 * @nomem: calls that failed for want of memory
 * @passed: all calls met all that can fail in them
 */
struct fault_sum {
	unsigned int nth;
	unsigned int copies;
	unsigned int nomem;
	bool passed;
};

/* Of the calls of that name; of all if @name is NULL. */
void fault_sum(const char *name, struct fault_sum *sum);

/* The commands that the test programs have between them. */
#define FAULT_COMMANDS_ALONE						\
	"INFO", "CREATE_ID", "DESTROY_ID", "BIND_ADDR", "RESOLVE_ADDR",	\
	"RESOLVE_ROUTE", "QUERY", "INIT_QP_ATTR", "SET_OPTION",		\
	"ACK_EVENTS", "LIST_IDS", "MIGRATE_ID", "ADOPT_ID", "SHUTDOWN",	\
	"WRITE_EVENT", "JOIN_MCAST", "LEAVE_MCAST", "GET_OPTION",	\
	"READ_EVENTS"
#define FAULT_COMMANDS_OF_PEERS						\
	"LISTEN", "CONNECT", "ACCEPT", "REJECT", "DISCONNECT", "NOTIFY"

/*
 * Allocations of the module's own caches and of nodes of its table (for which the
 * debug kernel's command line allows it) fail when @bytes have been allocated:
 * @times of them.  They fail in this task, or where requests arrive: in kernel
 * threads that work off queues.
 */
enum fault_where { FAULT_HERE, FAULT_IN_WORKERS };
#define FAULT_FROM_NOW_ON 1000000

int fault_slab_arm(enum fault_where where, unsigned int bytes, int times);
int fault_slab_disarm(void);
/* How many are still to fail; -1 on error. */
int fault_slab_times(void);
/* The smallest object of these caches: from one allocation to the next. */
unsigned int fault_slab_step(void);

/* Set a switch of the kernel, named as in debugfs: 0, or -1 and errno. */
int fault_set(const char *name, const char *value);

#endif /* SELFTESTS_FAULT_H */
