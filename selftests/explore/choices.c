// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What can be chosen in a state.
 */
#include "search.h"
#include "steps.h"
#include "world.h"

void add_choice(struct choice *choices, int *n, enum choosing what, int actor,
		int cost)
{
	choices[(*n)++] = (struct choice){ what, actor, cost };
}

static void add_actor(struct choice *choices, int *n, int k, int cost)
{
	const struct actor *actor = &W.actors[k];

	add_choice(choices, n, CHOOSE_RUN, k, cost);
	if (actor->fails)
		add_choice(choices, n, CHOOSE_FAIL, k, cost);
}

/* A signal or the clock ends its sleeping, or its waiting for a mutex. */
static void add_interrupts(struct choice *choices, int *n, int k, int cost)
{
	const struct actor *actor = &W.actors[k];
	bool sleeps = actor->wants == WANTS_WAKE &&
		      actor->task_state == TASK_INTERRUPTIBLE;

	if (actor_can_run(k))
		return;
	if (W.signals && (sleeps || (actor->wants == WANTS_MUTEX &&
				     actor->interruptible)))
		add_choice(choices, n, CHOOSE_SIGNAL, k, cost);
	if (actor->wants == WANTS_WAKE && actor->timed)
		add_choice(choices, n, CHOOSE_CLOCK, k, cost);
}

/* Who just ran comes first: then it costs nothing to go on. */
int list_runs(struct choice *choices, int budget)
{
	bool on = actor_can_run(W.running);
	int n = 0, k;

	if (on)
		add_actor(choices, &n, W.running, 0);
	if (on && ME->looks)
		return n;
	for (k = 0; k < MAX_ACTORS; k++) {
		if (k != W.running && actor_can_run(k) && (!on || budget))
			add_actor(choices, &n, k, on);
	}
	return n;
}

void list_interrupts(struct choice *choices, int *n, int budget)
{
	bool on = actor_can_run(W.running);
	int k;

	if ((on && ME->looks) || (on && !budget))
		return;
	for (k = 1; k <= MAX_CAST; k++)
		add_interrupts(choices, n, k, on);
}
