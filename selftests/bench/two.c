// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Whether two processors do more than one: how much faster two are at twice the
 * work.  By the clock, in a machine of two processors, and of several tries what each
 * took at best: whatever else goes on there can only make it take longer.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

#define TRIES 10
#define MIGRATIONS 20000
#define EVENTS 8000
#define EVENTS_OF_ONE 1000
#define CYCLES 2000

typedef int (*write_event_fn)(struct rdma_cm_id *id,
			      enum rdma_cm_event_type event, int status,
			      uint64_t arg);

/* The library of rdma-core 44 has no events of the user's own. */
static write_event_fn write_event;
static enum rdma_cm_event_type user_event = 18;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec * 1e-9;
}

/**
 * struct work - what one processor does
 * @go: does it
 * @processor: where
 * @channel: on which channel
 * @other: on which other one
 * @id: with which id
 * @n: how many times
 */
struct work {
	void *(*go)(void *work);
	int processor;
	struct rdma_event_channel *channel;
	struct rdma_event_channel *other;
	struct rdma_cm_id *id;
	unsigned int n;
};

/**
 * struct tries - how long it took, several times
 * @ratios: of one processor's time for all of the work to that of two
 * @one: the shortest of the one
 * @two: the shortest of the two
 */
struct tries {
	struct samples ratios;
	double one;
	double two;
};

static void try(struct tries *tries, double one, double two)
{
	sample(&tries->ratios, one / two);
	if (tries->ratios.n == 1 || one < tries->one)
		tries->one = one;
	if (tries->ratios.n == 1 || two < tries->two)
		tries->two = two;
}

static void stay_on(int processor)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(processor, &set);
	must(!sched_setaffinity(0, sizeof(set), &set), "sched_setaffinity");
}

static void *migrate(void *argument)
{
	struct work *work = argument;
	unsigned int i;

	stay_on(work->processor);
	for (i = 0; i < work->n; i++) {
		must(!rdma_migrate_id(work->id, work->other),
		     "rdma_migrate_id");
		must(!rdma_migrate_id(work->id, work->channel),
		     "rdma_migrate_id back");
	}
	return NULL;
}

static void *cycle(void *argument)
{
	struct work *work = argument;
	struct rdma_cm_id *id;
	unsigned int i;

	stay_on(work->processor);
	for (i = 0; i < work->n; i++) {
		ids_create(work->channel, &id, 1);
		must(!rdma_migrate_id(id, work->other), "rdma_migrate_id");
		ids_destroy(&id, 1);
	}
	return NULL;
}

static void *write_and_read(void *argument)
{
	struct work *work = argument;
	unsigned int i;

	stay_on(work->processor);
	for (i = 0; i < work->n; i++) {
		must(!write_event(work->id, user_event, 0, i),
		     "rdma_write_cm_event");
		event_take(work->channel, user_event);
	}
	return NULL;
}

static void *drain(void *argument)
{
	struct work *work = argument;

	stay_on(work->processor);
	events_take(work->channel, work->n, user_event);
	return NULL;
}

/* Seconds that it takes to do both, each in a thread. */
static double in_threads(struct work *work, unsigned int n)
{
	pthread_t threads[2];
	double start = now();
	unsigned int i;

	for (i = 0; i < n; i++)
		must(!pthread_create(&threads[i], NULL, work[i].go, &work[i]),
		     "pthread_create");
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return now() - start;
}

static void process(void *(*go)(void *work), int processor, unsigned int n,
		    const int *ready, const int *begin)
{
	struct work work = {
		.processor = processor,
		.channel = channel_new(),
		.other = channel_new(),
		.n = n,
	};
	char byte;

	ids_create(work.channel, &work.id, 1);
	must(write(ready[1], "", 1) == 1, "write");
	close(ready[1]);
	/* So that it does not wait for a parent that has gone. */
	close(begin[1]);
	must(read(begin[0], &byte, 1) == 1, "the word to begin");
	go(&work);
	_exit(0);
}

/* A process that failed has said why, one that was killed has not. */
static void process_end(void)
{
	int status;

	must(wait(&status) > 0, "wait");
	if (!status)
		return;
	if (WIFSIGNALED(status))
		fprintf(stderr, "bench: a process: %s\n",
			strsignal(WTERMSIG(status)));
	else
		fprintf(stderr, "bench: a process: exit status %d\n",
			WEXITSTATUS(status));
	exit(1);
}

/* All of them are ready, or one of them has ended and with it what it held open. */
static void processes_wait(int ready, unsigned int n)
{
	char byte;

	while (n--) {
		if (read(ready, &byte, 1) == 1)
			continue;
		process_end();
		must(false, "a process that did not begin");
	}
}

/* Seconds that @n processes take, each on a processor and with its channels. */
static double in_processes(void *(*go)(void *work), unsigned int n,
			   unsigned int times)
{
	int ready[2], begin[2];
	unsigned int i;
	double start;
	pid_t pid;

	must(!pipe(ready) && !pipe(begin), "pipe");
	for (i = 0; i < n; i++) {
		pid = fork();
		must(pid >= 0, "fork");
		if (!pid)
			process(go, i, times, ready, begin);
	}
	close(ready[1]);
	processes_wait(ready[0], n);
	start = now();
	for (i = 0; i < n; i++)
		must(write(begin[1], "", 1) == 1, "write");
	for (i = 0; i < n; i++)
		process_end();
	close(ready[0]);
	close(begin[0]);
	close(begin[1]);
	return now() - start;
}

/* So many times the work of one is done in the time of one. */
static void two_processes(const char *what, void *(*go)(void *work),
			  unsigned int times)
{
	struct tries tries = { 0 };
	double one;
	int i;

	for (i = 0; i < TRIES; i++) {
		one = in_processes(go, 1, times);
		try(&tries, 2 * one, in_processes(go, 2, times));
	}
	row_with(&tries.ratios, tries.one / tries.two, "two.processes_%s", what);
}

static void in_opposite_directions(void)
{
	struct rdma_event_channel *a = channel_new(), *b = channel_new();
	struct tries tries = { 0 };
	struct work work[] = {
		{ migrate, 0, a, b, .n = MIGRATIONS },
		{ migrate, 1, b, a, .n = MIGRATIONS },
	};
	double one;
	int i;

	ids_create(a, &work[0].id, 1);
	ids_create(b, &work[1].id, 1);
	for (i = 0; i < TRIES; i++) {
		one = in_threads(work, 1);
		try(&tries, 2 * one, in_threads(work, 2));
	}
	row_with(&tries.ratios, tries.one / tries.two, "two.migrators");
	ids_destroy(&work[0].id, 1);
	ids_destroy(&work[1].id, 1);
}

static void fill(struct rdma_cm_id **ids)
{
	unsigned int i;

	for (i = 0; i < EVENTS; i++)
		must(!write_event(ids[i / EVENTS_OF_ONE], user_event, 0, i),
		     "rdma_write_cm_event");
}

/* The same events, read by one or by two. */
static void from_one_channel(void)
{
	struct rdma_cm_id *ids[EVENTS / EVENTS_OF_ONE];
	struct rdma_event_channel *channel = channel_new();
	struct tries tries = { 0 };
	struct work one = { drain, 0, channel, .n = EVENTS };
	struct work two[] = {
		{ drain, 0, channel, .n = EVENTS / 2 },
		{ drain, 1, channel, .n = EVENTS / 2 },
	};
	double alone;
	int i;

	ids_create(channel, ids, EVENTS / EVENTS_OF_ONE);
	for (i = 0; i < TRIES; i++) {
		fill(ids);
		alone = in_threads(&one, 1);
		fill(ids);
		try(&tries, alone, in_threads(two, 2));
	}
	row_with(&tries.ratios, tries.one / tries.two, "two.readers");
	ids_destroy(ids, EVENTS / EVENTS_OF_ONE);
	rdma_destroy_event_channel(channel);
}

/* Once, for whoever looks at the locks meanwhile. */
void bench_own(void)
{
	const unsigned int n = wanted("BENCH_TIMES", 1000);

	write_event = dlsym(RTLD_DEFAULT, "rdma_write_cm_event");
	in_processes(migrate, 2, n);
	in_processes(cycle, 2, n);
	if (write_event)
		in_processes(write_and_read, 2, n);
}

void bench_two(void)
{
	must(sysconf(_SC_NPROCESSORS_ONLN) >= 2, "two processors");
	write_event = dlsym(RTLD_DEFAULT, "rdma_write_cm_event");
	two_processes("migrate", migrate, MIGRATIONS);
	two_processes("live", cycle, CYCLES);
	in_opposite_directions();
	if (!write_event)
		return;
	two_processes("events", write_and_read, MIGRATIONS);
	from_one_channel();
}
