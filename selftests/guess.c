// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Handles that nobody was told, see guess.h.
 */
#define _GNU_SOURCE
#include <sched.h>

#include "cmd.h"
#include "guess.h"
#include "scene.h"

static int stay_on(int processor)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(processor, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

int guess_stay(void)
{
	int processor = sched_getcpu();

	return processor < 0 ? -1 : stay_on(processor);
}

/* Those that follow one that was given out on this processor. */
static int guess_on(int processor, int fd, struct guess *guess)
{
	__u32 id;

	if (stay_on(processor) || cmd_create_id(fd, PS_TCP, 0, &id) ||
	    cmd_destroy_id(fd, id))
		return -1;
	for (unsigned int i = 1; i <= GUESSES; i++)
		guess->handle[guess->n++] = id + i * GUESS_TABLES;
	return 0;
}

int guess_next(int fd, struct guess *guess)
{
	cpu_set_t before;
	int ret = 0;

	guess->n = 0;
	if (sched_getaffinity(0, sizeof(before), &before))
		return -1;
	for (int i = 0; !ret && i < GUESS_TABLES; i++) {
		if (CPU_ISSET(i, &before))
			ret = guess_on(i, fd, guess);
	}
	return sched_setaffinity(0, sizeof(before), &before) ? -1 : ret;
}

bool guess_has(const struct guess *guess, __u32 handle)
{
	for (unsigned int i = 0; i < guess->n; i++) {
		if (guess->handle[i] == handle)
			return true;
	}
	return false;
}
