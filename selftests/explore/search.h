/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The search for a schedule that breaks something.
 */
#ifndef EXPLORE_SEARCH_H
#define EXPLORE_SEARCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "scenario.h"

struct place;

#define UNBOUNDED	255

/**
 * struct result - what came out of exploring a scenario
 * @clause: the clause that is broken, or NULL
 * @message: how
 * @bound: preemptions up to which all schedules were tried; UNBOUNDED for all
 * @schedules: schedules tried to their end
 * @states: states seen
 * @steps: steps done
 * @depth: of the longest schedule
 * @seed: that finds it again
 */
struct result {
	const char *clause;
	char message[512];
	int bound;
	uint64_t schedules;
	uint64_t states;
	uint64_t steps;
	int depth;
	char seed[1024];
};

/* Whether what is found is made short. */
extern bool search_short;
/*
 * To see that nothing is lost by what saves work: each operation is a point, and
 * so is every access to what is shared; states that were seen are explored
 * again; what came out is listed.
 */
extern bool search_fine, search_again, search_outcomes;
/* Whether actors take turns. */
extern bool search_running;

/* A replay says something. */
void search_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/*
 * Try all schedules with up to @bound preemptions; then all there are, or with
 * more preemptions, as long as @limit steps are enough each time.
 */
void explore(const struct scenario *scenario, int bound, uint64_t limit,
	     struct result *result);
/* Do it again. */
void replay(const struct scenario *scenario, const char *seed,
	    struct result *result);
/* Called now and then. */
extern void (*search_progress)(const struct scenario *scenario, int bound,
			       const struct result *result);

#endif /* EXPLORE_SEARCH_H */
