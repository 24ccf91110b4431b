/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Two threads that start each round together.
 */
#ifndef SELFTESTS_RACER_H
#define SELFTESTS_RACER_H

#include <pthread.h>

#include <linux/types.h>

/* After a race: what the other one's call returned, and its errno. */
struct racer {
	pthread_barrier_t barrier;
	pthread_t thread;
	int (*run)(int fd, __u32 id);
	int fd;
	__u32 id;
	int result;
	int error;
};

int racer_start(struct racer *racer);
int racer_stop(struct racer *racer);
/* @mine here, @its there, at once; returns what @mine returned. */
int race(struct racer *racer, int fd, __u32 id,
	 int (*mine)(int fd, __u32 id), int (*its)(int fd, __u32 id));

#endif /* SELFTESTS_RACER_H */
