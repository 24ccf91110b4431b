/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The steps of a schedule: as a seed that can be given back, and in words.
 */
#ifndef EXPLORE_STEPS_H
#define EXPLORE_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scenario;

enum choosing {
	CHOOSE_RUN,
	CHOOSE_FAIL,
	CHOOSE_SIGNAL,
	CHOOSE_CLOCK,
	CHOOSE_PAGE,
};

/**
 * struct choice - what comes next
 * @what: what happens
 * @actor: to whom
 * @cost: preemptions that this takes
 */
struct choice {
	uint8_t what;
	uint8_t actor;
	uint8_t cost;
};

#define MAX_CHOICES	32

/*
 * choices.c: who can go on, with so many preemptions left; and whose sleeping a
 * signal or the clock can end.  Both add to the list.
 */
void add_choice(struct choice *choices, int *n, enum choosing what, int actor,
		int cost);
int list_runs(struct choice *choices, int budget);
void list_interrupts(struct choice *choices, int *n, int budget);

/* Points in time: the beginning, the two deadlines, one that is past. */
#define TIME_PAST	500ull
#define TIME_0		1000ull
#define TIME_1		2000ull
#define TIME_2		3000ull

/* The seed "SCENARIO:STEPS" of a schedule. */
void steps_seed(char *to, size_t size, const struct scenario *scenario,
		const struct choice *steps, int n);
/* Take the next step from the text; false at its end. */
bool steps_parse(const char **text, struct choice *choice);

/* In a replay, say what comes next. */
extern bool steps_talk;
void steps_say(struct choice choice);
void steps_say_text(const char *text);

#endif /* EXPLORE_STEPS_H */
