/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A system call in a thread of its own, for calls that block.
 */
#ifndef SELFTESTS_CALL_H
#define SELFTESTS_CALL_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "scene.h"

/*
 * @start returns when the thread runs; call_blocked() says whether it sleeps,
 * call_returned() whether the call has returned; call_result() waits for that
 * with patience and returns what it returned, with its errno; ETIME if it
 * does not return.
 */
struct call {
	int fd;
	__u32 id;
	int target;
	__u32 flags;
	__u64 deadline;
	__u64 held_seq;
	struct event event;
	int (*run)(struct call *call);
	pthread_t thread;
	_Atomic pid_t tid;
	atomic_bool returned;
	int result;
	int error;
};

/* Whether a process or thread sleeps, as in a system call that blocks. */
bool task_sleeps(pid_t task);

void call_start(struct call *call, int (*run)(struct call *call));
bool call_blocked(struct call *call);
bool call_returned(struct call *call);
int call_result(struct call *call);
/* A signal for the thread. */
void call_signal(struct call *call, int signal);

/* What may run; each uses the members it needs. */
int run_migrate(struct call *call);
int run_destroy(struct call *call);
int run_read(struct call *call);
int run_poll(struct call *call);
int run_epoll(struct call *call);	/* of an epoll instance, as fd */

/* A migration that is waiting: of @id from @fd to @target. */
int call_start_migrate(struct call *call, int fd, __u32 id, int target);

/* A handler for @signal that counts; @flags as SA_RESTART. */
void count_signals(int signal, int flags);
extern atomic_int signals_counted;

#endif /* SELFTESTS_CALL_H */
