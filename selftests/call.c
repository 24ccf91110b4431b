// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A system call in a thread of its own, see call.h.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "call.h"

static void *call_main(void *arg)
{
	struct call *call = arg;

	call->tid = gettid();
	errno = 0;
	call->result = call->run(call);
	call->error = errno;
	call->returned = true;
	return NULL;
}

void call_start(struct call *call, int (*run)(struct call *call))
{
	call->run = run;
	call->tid = 0;
	call->returned = false;
	if (pthread_create(&call->thread, NULL, call_main, call)) {
		perror("# pthread_create");
		abort();
	}
	if (!wait_until(call->tid)) {
		fprintf(stderr, "# a thread does not start\n");
		abort();
	}
}

bool call_returned(struct call *call)
{
	return call->returned;
}

/* The task's state follows its name, which is in brackets. */
bool task_sleeps(pid_t task)
{
	char path[64], stat[256], *state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", task);
	file = fopen(path, "r");
	if (!file)
		return false;
	state = fgets(stat, sizeof(stat), file) ? strrchr(stat, ')') : NULL;
	fclose(file);
	return state && state[1] == ' ' && state[2] == 'S';
}

bool call_blocked(struct call *call)
{
	return task_sleeps(call->tid) && !call->returned;
}

int call_result(struct call *call)
{
	if (!wait_until(call_returned(call))) {
		fprintf(stderr, "# a call does not return\n");
		errno = ETIME;
		return -1;
	}
	pthread_join(call->thread, NULL);
	errno = call->error;
	return call->result;
}

void call_signal(struct call *call, int signal)
{
	pthread_kill(call->thread, signal);
}

int run_migrate(struct call *call)
{
	return cmd_migrate_id_opt(call->fd, call->id, call->target, call->flags,
				  call->deadline, call->held_seq);
}

int run_destroy(struct call *call)
{
	return cmd_destroy_id_opt(call->fd, call->id, call->flags,
				  call->deadline, call->held_seq);
}

int run_read(struct call *call)
{
	char record[RDMA_UCMX_READ_MIN - 1] __attribute__((aligned(8)));
	ssize_t size = read(call->fd, record, sizeof(record));

	if (size < 0)
		return -1;
	return event_parse(record, size, &call->event) == size ? 0 : -1;
}

/* 1 when there is something to read. */
int run_poll(struct call *call)
{
	struct pollfd pollfd = { .fd = call->fd, .events = POLLIN };

	return poll(&pollfd, 1, -1);
}

int run_epoll(struct call *call)
{
	struct epoll_event event;

	return epoll_wait(call->fd, &event, 1, -1);
}

int call_start_migrate(struct call *call, int fd, __u32 id, int target)
{
	call->fd = fd;
	call->id = id;
	call->target = target;
	call_start(call, run_migrate);
	if (wait_until(id_has_state(fd, id, RDMA_UCMX_ID_MIGRATING) ||
		       call_returned(call)) && !call_returned(call))
		return 0;
	fprintf(stderr, "# the migration does not wait\n");
	errno = EPROTO;
	return -1;
}

atomic_int signals_counted;

static void count_signal(int signal)
{
	(void)signal;
	signals_counted++;
}

void count_signals(int signal, int flags)
{
	struct sigaction action = { .sa_handler = count_signal, .sa_flags = flags };

	signals_counted = 0;
	sigaction(signal, &action, NULL);
}
