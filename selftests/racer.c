// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Two threads that start each round together, see racer.h.
 */
#include <errno.h>
#include <string.h>

#include "racer.h"

static void *racer_main(void *arg)
{
	struct racer *racer = arg;

	for (;;) {
		pthread_barrier_wait(&racer->barrier);
		if (!racer->run)
			return NULL;
		errno = 0;
		racer->result = racer->run(racer->fd, racer->id);
		racer->error = errno;
		pthread_barrier_wait(&racer->barrier);
	}
}

int racer_start(struct racer *racer)
{
	memset(racer, 0, sizeof(*racer));
	return pthread_barrier_init(&racer->barrier, NULL, 2) ||
	       pthread_create(&racer->thread, NULL, racer_main, racer) ? -1 : 0;
}

int race(struct racer *racer, int fd, __u32 id,
	 int (*mine)(int fd, __u32 id), int (*its)(int fd, __u32 id))
{
	int result, error;

	racer->run = its;
	racer->fd = fd;
	racer->id = id;
	pthread_barrier_wait(&racer->barrier);
	errno = 0;
	result = mine(fd, id);
	error = errno;
	pthread_barrier_wait(&racer->barrier);
	errno = error;
	return result;
}

int racer_stop(struct racer *racer)
{
	racer->run = NULL;
	pthread_barrier_wait(&racer->barrier);
	return pthread_join(racer->thread, NULL);
}
