// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * All schedules, depth first, with the states saved at which there is a choice.
 *
 * What can be chosen: which actor goes on; whether what it is about to do
 * fails; that it gets a signal, that the clock has moved, that pages come.  To
 * interrupt
 * an actor that could go on is a preemption; the search is repeated with 0, 1,
 * 2 and so on of them, so that what needs few is found first.
 *
 * Signals and the clock matter only when somebody looks, or sleeps: so there
 * they are chosen, and need no points of their own.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>

#include "search.h"
#include "segment.h"
#include "state.h"
#include "steps.h"
#include "world.h"

#define MAX_DEPTH	3000
/* How many steps to look for a shorter schedule. */
#define MAX_SHORTEN	1000000
/* Without any choice: an endless loop. */
#define MAX_FORCED	2000

/**
 * struct node - a state at which there is a choice
 * @state: it
 * @depth: steps that led here
 * @budget: preemptions left
 * @n: choices
 * @next: the next one to try
 * @choices: they
 * @segments: what each of them touched
 */
struct node {
	size_t state;
	int depth;
	int budget;
	int n;
	int next;
	struct choice choices[MAX_CHOICES];
	struct segment *segments;
};

bool search_running, search_short;
bool search_fine, search_again, search_outcomes;
void (*search_progress)(const struct scenario *scenario, int bound,
			const struct result *result);

static struct result *result;
static sigjmp_buf ended;
static struct node *nodes;
static int n_nodes;
static struct choice steps[MAX_DEPTH];
static int n_steps;
static int depth_limit;

void violated(const char *clause, const char *format, ...)
{
	va_list args;

	result->clause = clause;
	va_start(args, format);
	vsnprintf(result->message, sizeof(result->message), format, args);
	va_end(args);
	siglongjmp(ended, 1);
}

static void on_fault(int signal)
{
	violated("C18", "memory that is not there is used (signal %d)", signal);
}

/* A pointer may lead anywhere, in a core that is wrong. */
static void catch_faults(void)
{
	static char stack[32768];
	const stack_t own = { .ss_sp = stack, .ss_size = sizeof(stack) };
	const struct sigaction action = {
		.sa_handler = on_fault,
		.sa_flags = SA_ONSTACK | SA_NODEFER,
	};

	sigaltstack(&own, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGFPE, &action, NULL);
}

/* What fails does so no more often than it may. */
static void take_from(enum doing what)
{
	switch (what) {
	case DOING_ALLOC:
		W.nomem--;
		break;
	case DOING_COPY:
		W.faults--;
		break;
	case DOING_PAGE:
		W.stuck--;
		break;
	case DOING_SIGNAL:
		W.signals--;
		break;
	default:
		break;
	}
}

static void step(struct choice choice)
{
	if (n_steps == MAX_DEPTH)
		violated("LOOP", "a schedule without end");
	steps[n_steps++] = choice;
	result->steps++;
	steps_say(choice);
	switch (choice.what) {
	case CHOOSE_FAIL:
		W.actors[choice.actor].failed = true;
		take_from(W.actors[choice.actor].doing);
		actor_resume(choice.actor);
		break;
	case CHOOSE_RUN:
		actor_resume(choice.actor);
		break;
	case CHOOSE_SIGNAL:
		W.actors[choice.actor].signal = true;
		W.signals--;
		actor_resume(choice.actor);
		break;
	case CHOOSE_CLOCK:
		if (W.now < W.actors[choice.actor].until)
			W.now = W.actors[choice.actor].until;
		actor_resume(choice.actor);
		break;
	case CHOOSE_PAGE:
		W.page_there = true;
		break;
	}
}

/*
 * At rest and at the end
 */

/* Whoever sleeps is woken to see whether it goes back to sleep. */
static void probe_sleepers(void)
{
	size_t state;
	int k;

	for (k = 1; k < MAX_ACTORS; k++) {
		if (W.actors[k].wants != WANTS_WAKE)
			continue;
		state = state_save();
		W.actors[k].probed = true;
		W.actors[k].task_state = TASK_RUNNING;
		do {
			actor_resume(k);
		} while (W.actors[k].wants != WANTS_WAKE && actor_can_run(k));
		state_restore(state);
		state_forget(state);
	}
}

static void at_rest(void)
{
	/* Here there is nobody who could go first. */
	search_running = false;
	account_at_rest();
	counts_at_rest();
	search_running = true;
	probe_sleepers();
}

/* The rest of run() goes round in a circle, and nobody else can go on. */
static void check_circle(const uint64_t *hashes, int n, uint64_t hash)
{
	while (n--) {
		if (hashes[n] == hash)
			violated("LOOP", "%s goes on and on, and comes to no end",
				 actor_name(W.running));
	}
}

/* Whether there is but one choice, whatever it costs. */
static bool nothing_to_choose(void)
{
	struct choice choices[MAX_CHOICES];
	int n = list_runs(choices, UNBOUNDED);

	list_interrupts(choices, &n, UNBOUNDED);
	return n == 1;
}

/* Everybody is sent home; then the stage hand tidies up. */
static void finish(void)
{
	struct choice choices[MAX_CHOICES];
	int k, n = 0;

	if (search_outcomes)
		outcome_note();
	steps_say_text("everybody is sent home, everything is read and closed");
	result->schedules++;
	W.ending = true;
	for (k = 1; k <= MAX_CAST; k++)
		W.actors[k].signal = true;
	for (k = 0; W.actors[STAGE_HAND].wants != WANTS_NO_MORE; k++) {
		if (!list_runs(choices, 0))
			violated("DEADLOCK", "at the end nobody can go on");
		if (k == MAX_DEPTH)
			violated("LOOP", "the end does not come");
		n = choices[0].actor;
		steps_say(choices[0]);
		actor_resume(n);
	}
	account_at_end();
	check_nothing_allocated();
}

/*
 * The search
 */

static struct node *push_node(const struct choice *choices, int n, int budget)
{
	struct node *node = &nodes[n_nodes++];

	node->state = state_save();
	node->depth = n_steps;
	node->budget = budget;
	node->n = n;
	node->next = 0;
	memcpy(node->choices, choices, n * sizeof(*choices));
	if (!node->segments)
		node->segments = calloc(MAX_CHOICES, sizeof(*node->segments));
	if (!node->segments)
		abort();
	return node;
}

/* Take a node's next choice; what is left of the budget. */
static int take_choice(struct node *node)
{
	struct choice choice = node->choices[node->next];
	int budget = node->budget;

	if (budget != UNBOUNDED)
		budget -= choice.cost;
	segment_start(&node->segments[node->next++]);
	step(choice);
	segment_now = NULL;
	return budget;
}

static void compare_segments(const struct node *node)
{
	int i, j;

	for (i = 0; i < node->n; i++) {
		for (j = i + 1; j < node->n; j++) {
			if (node->choices[i].actor == node->choices[j].actor ||
			    node->choices[i].what > CHOOSE_FAIL ||
			    node->choices[j].what > CHOOSE_FAIL)
				continue;
			segments_compare(&node->segments[i], &node->segments[j]);
		}
	}
}

/* Back to the last node that has something left to try. */
static struct node *pop_node(void)
{
	struct node *node;

	while (n_nodes) {
		node = &nodes[n_nodes - 1];
		if (node->next < node->n) {
			state_restore(node->state);
			n_steps = node->depth;
			return node;
		}
		compare_segments(node);
		state_forget(node->state);
		n_nodes--;
	}
	return NULL;
}

/*
 * Go on until there is a choice.  Return how many there are; 0 if this schedule
 * has come to its end, or to a state that was seen.
 */
static int run(struct choice *choices, int budget)
{
	static uint64_t hashes[MAX_FORCED + 1];
	int forced = 0, alone = 0, n;

	for (;;) {
		uint64_t hash;
		bool resting;

		if (n_steps > depth_limit)
			return 0;
		n = list_runs(choices, budget);
		resting = !n;
		if (resting)
			at_rest();
		list_interrupts(choices, &n, budget);
		if (!n && !W.page_there && scene->stuck)
			add_choice(choices, &n, CHOOSE_PAGE, 0, 0);
		if (!n) {
			finish();
			return 0;
		}
		hash = state_hash();
		/* How long it took matters only where short ones are wanted. */
		if (state_seen(hash, budget, depth_limit < MAX_DEPTH ? n_steps : 0) &&
		    !search_again) {
			check_circle(hashes + alone, forced - alone, hash);
			return 0;
		}
		if (n > 1)
			return n;
		hashes[forced] = hash;
		if (++forced > MAX_FORCED)
			violated("LOOP", "an endless loop");
		if (!budget && !nothing_to_choose())
			alone = forced;
		step(choices[0]);
	}
}

static bool search(int bound, uint64_t limit)
{
	struct choice choices[MAX_CHOICES];
	int budget = bound, n;
	struct node *node;

	states_clear();
	for (;;) {
		n = run(choices, budget);
		if (n_steps > result->depth)
			result->depth = n_steps;
		if (n)
			node = push_node(choices, n, budget);
		else
			node = pop_node();
		if (!node)
			return true;
		if (result->steps > limit)
			return false;
		if (!(result->steps & 0x3fff) && search_progress)
			search_progress(scene, bound, result);
		budget = take_choice(node);
	}
}

static size_t initial;

static void begin(const struct scenario *scenario)
{
	scene = scenario;
	nodes = calloc(MAX_DEPTH, sizeof(*nodes));
	if (!nodes)
		abort();
	catch_faults();
	search_running = false;
	W.now = TIME_0;
	stage_prepare();
	search_running = true;
	actors_start();
	initial = state_save();
}

/* From the beginning; false if @limit steps were not enough. */
static bool attempt(int bound, uint64_t limit)
{
	state_restore(initial);
	n_nodes = 0;
	n_steps = 0;
	segment_now = NULL;
	state_forget(initial);
	state_save();
	return search(bound, limit);
}

/* Look for the same with fewer steps, until there is none or it takes long. */
static void shorten(int bound)
{
	static struct choice shortest[MAX_DEPTH];
	struct result found = *result;
	volatile uint64_t limit = result->steps + MAX_SHORTEN;
	volatile int n;

	do {
		found = *result;
		n = n_steps;
		memcpy(shortest, steps, sizeof(steps));
		depth_limit = n - 1;
		result->clause = NULL;
		if (!sigsetjmp(ended, 1))
			attempt(bound, limit);
	} while (result->clause && result->steps < limit);
	*result = found;
	memcpy(steps, shortest, sizeof(steps));
	n_steps = n;
}

void explore(const struct scenario *scenario, int bound, uint64_t limit,
	     struct result *to)
{
	static volatile int b;

	result = to;
	depth_limit = MAX_DEPTH;
	if (sigsetjmp(ended, 1)) {
		if (search_running && search_short)
			shorten(b);
		steps_seed(result->seed, sizeof(result->seed), scene, steps,
			   n_steps);
		return;
	}
	begin(scenario);
	for (b = 0; b <= bound; b++) {
		attempt(b, UINT64_MAX);
		result->bound = b;
		result->states = states_count();
	}
	b = UNBOUNDED;
	if (limit && attempt(UNBOUNDED, result->steps + limit)) {
		result->bound = UNBOUNDED;
		result->states = states_count();
		return;
	}
	for (b = bound + 1; limit && attempt(b, result->steps + limit); b++) {
		result->bound = b;
		result->states = states_count();
	}
}

void replay(const struct scenario *scenario, const char *seed,
	    struct result *to)
{
	struct choice choices[MAX_CHOICES], choice;
	int n;

	result = to;
	depth_limit = MAX_DEPTH;
	if (sigsetjmp(ended, 1))
		return;
	begin(scenario);
	while (steps_parse(&seed, &choice)) {
		if (choice.what <= CHOOSE_FAIL && !actor_can_run(choice.actor))
			violated("EXPLORER", "the seed does not fit: %s cannot run",
				 actor_name(choice.actor));
		step(choice);
	}
	n = list_runs(choices, UNBOUNDED);
	if (n)
		return;
	at_rest();
	list_interrupts(choices, &n, UNBOUNDED);
	if (!n)
		finish();
}
