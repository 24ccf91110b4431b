// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Actors: threads of one process, each with a stack of its own, of which one
 * runs at a time until it comes to a point where another one could go first.
 *
 * An actor stands at such a point before each operation that others can see:
 * taking a lock, marked accesses, counters, sleeping, waking, the table,
 * allocations and copies.  Two things save points and lose nothing: giving a
 * lock back needs none, since whoever wants it can only go on at the next one;
 * and the first operation after taking a lock needs none besides the lock's,
 * since what others do in between could as well be done before it was taken.
 *
 * For plain accesses there are none where segment.c can see that they do not
 * race: where both are next at once.  What an actor has done at its last point
 * may just be what lets the other one go on, though (it gives back a lock, drops
 * a reference, says that something is there): then the first plain access after
 * that is a point.
 *
 * That this loses nothing is tried, too: see search_fine.
 */
#include "search.h"
#include "segment.h"
#include "world.h"

struct world W __attribute__((section("ucmx_world")));
char stacks[MAX_ACTORS][STACK_SIZE] __attribute__((aligned(64)));
const struct scenario *scene;

/* How much of the stack to clean. */
#define LEFT_OVER	512

static void *search_sp;

/* Save what a called function must keep, change the stack, restore. */
asm(".text\n"
".globl x_switch\n"
".type x_switch, @function\n"
"x_switch:\n\t"
"push %rbp\n\t"
"push %rbx\n\t"
"push %r12\n\t"
"push %r13\n\t"
"push %r14\n\t"
"push %r15\n\t"
"mov %rsp, (%rdi)\n\t"
"mov %rsi, %rsp\n\t"
"pop %r15\n\t"
"pop %r14\n\t"
"pop %r13\n\t"
"pop %r12\n\t"
"pop %rbx\n\t"
"pop %rbp\n\t"
"ret\n"
".size x_switch, . - x_switch\n");

static void actor_leave(void)
{
	segment_now = NULL;
	segment_accesses = 0;
	x_switch(&ME->sp, search_sp);
}

/* Let an actor run until it stands at a point. */
void actor_resume(int k)
{
	W.running = k;
	x_switch(&search_sp, W.actors[k].sp);
	/* What is left of functions that have returned makes states differ. */
	memset((char *)W.actors[k].sp - LEFT_OVER, 0, LEFT_OVER);
}

static void actor_main(void)
{
	int k = W.running;

	if (k >= FIRST_WORKER)
		worker_body(k);
	else if (k == STAGE_HAND)
		stage_tidy();
	else
		actor_body(k);
	ME->n_read = 0;
	memset(ME->read, 0, sizeof(ME->read));
	stand(DOING_JOIN, NULL, HERE, WANTS_NO_MORE);
	__builtin_trap();
}

/* Let every actor stand at its first point. */
void actors_start(void)
{
	void **top;
	int k;

	for (k = 0; k < MAX_ACTORS; k++) {
		top = (void **)(stacks[k] + STACK_SIZE) - 1;
		*top-- = NULL;
		*top = actor_main;
		W.actors[k].sp = top - 6;
		actor_resume(k);
	}
	W.running = STAGE_HAND;
}

/* Stand at a point until chosen. */
void stand(enum doing what, const volatile void *on, const struct place *here,
	   enum wants wants)
{
	struct actor *me = ME;

	me->doing = what;
	me->on = on;
	me->place = here;
	me->wants = wants;
	me->fresh = false;
	me->let_go = false;
	actor_leave();
	me->wants = WANTS_NOTHING;
	me->on = NULL;
}

/* While the stage hand prepares there is nobody else. */
static bool alone(void)
{
	return !search_running;
}

void point(enum doing what, const volatile void *on, const struct place *here)
{
	check_live(on, here);
	if (alone())
		return;
	if (ME->fresh && !search_fine)
		ME->fresh = false;
	else
		stand(what, on, here, WANTS_NOTHING);
	check_live(on, here);
}

void let_go(void)
{
	ME->let_go = !alone();
}

void use(enum doing what, const volatile void *on, const struct place *here)
{
	if (ME->let_go || search_fine)
		point(what, on, here);
	else
		check_live(on, here);
}

/* A plain access to what others may use, too. */
void point_access(const void *p, const void *pc)
{
	if (!ME->let_go && !(search_fine && !alone()))
		return;
	ME->pc = pc;
	stand(DOING_ACCESS, p, NULL, WANTS_NOTHING);
	ME->pc = NULL;
}

int point_fails(enum doing what, const volatile void *on,
		const struct place *here)
{
	int failed;

	if (alone())
		return 0;
	ME->fails = true;
	stand(what, on, here, WANTS_NOTHING);
	failed = ME->failed;
	ME->fails = false;
	ME->failed = false;
	return failed;
}

/* The same, but not a point where others could go first. */
int look_fails(enum doing what)
{
	int failed;

	ME->looks = true;
	failed = point_fails(what, NULL, HERE);
	ME->looks = false;
	return failed;
}

void may_sleep(const char *what, const struct place *here)
{
	if (ME->spins)
		violated("C06", "%s under a spinlock (%s:%d)", what,
			 here->file, here->line);
	if (ME->rcu)
		violated("C06", "%s within RCU (%s:%d)", what, here->file,
			 here->line);
}

/* Spinlocks and mutexes begin with who owns them. */
static bool can_take(const struct actor *actor)
{
	return !*(const volatile u8 *)actor->on;
}

bool actor_can_run(int k)
{
	const struct actor *actor = &W.actors[k];
	int i;

	switch (actor->wants) {
	case WANTS_NOTHING:
		return true;
	case WANTS_LOCK:
		return can_take(actor);
	case WANTS_MUTEX:
		return can_take(actor) ||
		       (actor->interruptible && actor->signal);
	case WANTS_WAKE:
		return sleep_is_over(actor);
	case WANTS_PAGE:
		return W.page_there;
	case WANTS_WORK:
		return actor->work;
	case WANTS_END:
		if (!W.ending)
			return false;
		for (i = 1; i < MAX_ACTORS; i++) {
			if (!actor_idle(i))
				return false;
		}
		return true;
	default:
		return false;
	}
}

/* It has nothing left to do. */
bool actor_idle(int k)
{
	const struct actor *actor = &W.actors[k];

	return actor->wants == WANTS_NO_MORE ||
	       (actor->wants == WANTS_WORK && !actor->work);
}

struct task_struct *x_current(void)
{
	return (struct task_struct *)ME;
}

void x_may_resched(const struct place *here)
{
	may_sleep("cond_resched()", here);
}

/* Forget what would make equal states differ. */
static void call_over(void)
{
	struct actor *me = ME;

	me->held = 0;
	me->stale = false;
	me->late = false;
	me->early = false;
	me->too_late = false;
	me->takes_effect = false;
	me->due = 0;
	me->overlapped = false;
	me->moved = false;
	me->froze = false;
	me->unheld = false;
	me->was_unheld = false;
	me->failed_copy = false;
	me->no_memory = false;
	me->interruptible = false;
	me->moves = 0;
	me->copied = 0;
}

/* A part of the scenario. */
void actor_body(int k)
{
	const struct cast *cast = &scene->cast[k - 1];

	if (!cast->steps[0].kind) {
		stand(DOING_JOIN, NULL, HERE, WANTS_NO_MORE);
		return;
	}
	stand(DOING_START, NULL, HERE, WANTS_NOTHING);
	/* The first thing that it does belongs to its beginning. */
	ME->fresh = true;
	while (ME->step < MAX_STEPS && cast->steps[ME->step].kind) {
		if (!W.ending)
			do_op(&cast->steps[ME->step]);
		ME->step++;
		call_over();
	}
}

/* One of the work queue's threads. */
void worker_body(int k)
{
	for (;;) {
		stand(DOING_WORK, NULL, HERE, WANTS_WORK);
		ME->work->func(ME->work);
		ME->work = NULL;
	}
}
