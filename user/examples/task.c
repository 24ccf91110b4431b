// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Calls that may never return.
 *
 * Migrating and destroying an id wait for acknowledgements, and neither takes
 * a time-out.  Each such call gets a thread of its own, so that one which does
 * not come back is counted and does not take the program with it.
 */
#include <errno.h>
#include <stdlib.h>

#include "demo.h"

struct task {
	int (*run)(void *first, void *second);
	void *first, *second;
	bool done;
	int error;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t finished = PTHREAD_COND_INITIALIZER;

static void *run(void *arg)
{
	struct task *task = arg;
	int error = task->run(task->first, task->second);

	pthread_mutex_lock(&lock);
	task->error = error;
	task->done = true;
	pthread_cond_broadcast(&finished);
	pthread_mutex_unlock(&lock);
	return NULL;
}

/**
 * task_start - call a function that may not return
 * @function: called with @first and @second; returns 0 or an errno
 */
struct task *task_start(int (*function)(void *, void *), void *first,
			void *second)
{
	struct task *task = calloc(1, sizeof(*task));
	pthread_t thread;

	if (!task)
		die("out of memory");
	task->run = function;
	task->first = first;
	task->second = second;
	if (pthread_create(&thread, NULL, run, task))
		die("no thread");
	pthread_detach(thread);
	return task;
}

/**
 * task_finish - wait for a task, as long as the program has patience
 * @task: freed if it is through; else its thread still needs it
 * @error: what it returned
 *
 * Returns false if it did not return.
 */
bool task_finish(struct task *task, int *error)
{
	uint64_t end = now() + options.patience * 1000000ULL;
	struct timespec time = {
		.tv_sec = end / 1000000000,
		.tv_nsec = end % 1000000000,
	};
	bool done;
	int late = 0;

	pthread_mutex_lock(&lock);
	while (!task->done && !late)
		late = pthread_cond_clockwait(&finished, &lock, CLOCK_MONOTONIC,
					      &time);
	done = task->done;
	*error = task->error;
	pthread_mutex_unlock(&lock);
	if (done)
		free(task);
	return done;
}

static int run_move(void *first, void *second)
{
	struct end *end = first;
	struct reader *target = second;
	int error;

	error = rdma_migrate_id(end->id, target->channel) ? errno : 0;
	if (error)
		ledger_failed("rdma_migrate_id");
	ledger_move_end(end, error);
	return error;
}

/**
 * move_start - migrate an id to another reader's channel, in a task
 */
struct task *move_start(struct end *end, struct reader *target)
{
	ledger_move_begin(end, target);
	return task_start(run_move, end, target);
}

/**
 * move_finish - wait until an id has been migrated
 *
 * Returns false if it was not.
 */
bool move_finish(struct end *end, struct task *task)
{
	int error;

	if (task_finish(task, &error))
		return !error;
	pthread_mutex_lock(&ledger.lock);
	ledger.stuck++;
	/* The target's reader goes on, whatever became of the call. */
	end->moved = now();
	pthread_mutex_unlock(&ledger.lock);
	return false;
}

/**
 * move - migrate an id to another reader's channel
 */
bool move(struct end *end, struct reader *target)
{
	return move_finish(end, move_start(end, target));
}

static int run_destroy(void *first, void *second)
{
	struct rdma_cm_id *id = first;

	(void)second;
	if (id->qp)
		rdma_destroy_qp(id);
	return rdma_destroy_id(id) ? errno : 0;
}

/**
 * destroy - destroy an id, if there is one
 */
bool destroy(struct end *end)
{
	int error;

	if (!end->id)
		return true;
	if (task_finish(task_start(run_destroy, end->id, NULL), &error)) {
		errno = error;
		if (error)
			ledger_failed("rdma_destroy_id");
		return true;
	}
	pthread_mutex_lock(&ledger.lock);
	ledger.undestroyed++;
	pthread_mutex_unlock(&ledger.lock);
	return false;
}
