/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Handles that nobody was told. */
#ifndef SELFTESTS_GUESS_H
#define SELFTESTS_GUESS_H

#include <stdbool.h>
#include <linux/types.h>

/*
 * There are so many tables of handles, each for some processors, and handles of one
 * follow each other at this distance; see kernel/handle.c.
 */
#define GUESS_TABLES	8

/* So many handles of each. */
#define GUESSES		8

struct guess {
	__u32 handle[GUESS_TABLES * GUESSES];
	unsigned int n;
};

/*
 * guess_next - which handles will be given out next, on whichever processor
 *
 * Needs a channel on which it can create ids.  Returns 0, or -1.
 */
int guess_next(int fd, struct guess *guess);

/* Whether it is among them. */
bool guess_has(const struct guess *guess, __u32 handle);

/* Stay on the processor that this thread is on.  Returns 0, or -1. */
int guess_stay(void);

#endif /* SELFTESTS_GUESS_H */
