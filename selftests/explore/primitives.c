// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Counters, references, RCU, the tables of handles, work, processes' numbers,
 * and user memory.
 */
#include <linux/poll.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "search.h"
#include "segment.h"
#include "world.h"

/* Far from any limit nobody can tell in which order they are counted. */
static void count_point(const atomic_t *v, int how, const struct place *here,
			const void *pc)
{
	if (scene->limit)
		point(DOING_COUNT, v, here);
	else
		use(DOING_COUNT, v, here);
	if (in_arena(v))
		segment_add(v, sizeof(*v), how, pc);
}

void x_atomic_set(atomic_t *v, int n, const struct place *here)
{
	count_point(v, ACCESS_MARKED | ACCESS_WRITES, here, __builtin_return_address(0));
	v->counter = n;
	let_go();
}

int x_atomic_read(const atomic_t *v, const struct place *here)
{
	count_point(v, ACCESS_MARKED, here, __builtin_return_address(0));
	return v->counter;
}

bool x_atomic_try_cmpxchg(atomic_t *v, int *old, int new,
			  const struct place *here)
{
	count_point(v, ACCESS_MARKED | ACCESS_WRITES, here, __builtin_return_address(0));
	if (v->counter != *old) {
		*old = v->counter;
		return false;
	}
	v->counter = new;
	let_go();
	return true;
}

int x_atomic_add(atomic_t *v, int n, const struct place *here)
{
	count_point(v, ACCESS_MARKED | ACCESS_WRITES, here, __builtin_return_address(0));
	v->counter += n;
	if (v->counter < 0)
		violated("C18", "%s:%d: %s fell below 0", here->file,
			 here->line, name_of(v));
	let_go();
	return v->counter;
}

/* A command's use of what the id stands for, which a removal waits for. */
static void count_users(const refcount_t *ref, int n)
{
	int i;

	for (i = 0; i < MAX_IDS; i++) {
		if (W.parts[i].alive && ref == &W.parts[i].id->users)
			ME->users += n;
	}
}

/* What is broken if it is used again: it may be dying, or its device gone. */
static const char *revival_clause(const refcount_t *ref)
{
	int i;

	for (i = 0; i < MAX_IDS; i++) {
		if (W.parts[i].alive && ref == &W.parts[i].id->users)
			return W.parts[i].dying ? "C17" : "C14";
	}
	return "C18";
}

/* The one that it takes for granted is not the actor's. */
static void count_users_put(const refcount_t *ref)
{
	if (ME->users > 0)
		count_users(ref, -1);
}

void x_ref_inc(refcount_t *ref, const struct place *here)
{
	/* One that is protected by a lock cannot be the last. */
	if (ME->spins)
		use(DOING_GET, ref, here);
	else
		point(DOING_GET, ref, here);
	if (ref->refs <= 0)
		violated(revival_clause(ref), "%s:%d: %s is raised from 0", here->file, here->line,
			 name_of(ref));
	ref->refs++;
	count_users(ref, 1);
}

bool x_ref_inc_not_zero(refcount_t *ref, const struct place *here)
{
	point(DOING_GET, ref, here);
	if (!ref->refs)
		return false;
	ref->refs++;
	return true;
}

bool x_ref_dec_and_test(refcount_t *ref, const struct place *here)
{
	point(DOING_PUT, ref, here);
	if (ref->refs <= 0)
		violated("C18", "%s:%d: %s falls below 0", here->file,
			 here->line, name_of(ref));
	count_users_put(ref);
	let_go();
	return !--ref->refs;
}

/*
 * RCU.  What is given to it goes as soon as those readers have left that were
 * there when it was given: who could still find it later is wrong.
 */

static void rcu_free(struct rcu_wait *wait)
{
	struct rcu_wait now = *wait;

	wait->readers = 0;
	wait->head = NULL;
	if (now.func)
		now.func(now.head);
	else
		kfree(now.p);
}

void x_rcu_read_lock(void)
{
	ME->rcu++;
}

void x_rcu_read_unlock(const struct place *here)
{
	int i;

	if (!ME->rcu--)
		violated("ORDER", "%s:%d leaves RCU twice", here->file,
			 here->line);
	if (ME->rcu)
		return;
	for (i = 0; i < MAX_RCU; i++) {
		if (!W.rcu[i].head)
			continue;
		W.rcu[i].readers &= ~(1 << W.running);
		if (!W.rcu[i].readers)
			rcu_free(&W.rcu[i]);
	}
}

void x_rcu(struct rcu_head *head, void (*func)(struct rcu_head *head),
	   const void *p, const struct place *here)
{
	struct rcu_wait *wait = W.rcu;
	int i;

	check_live(head, here);
	while (wait->head)
		wait++;
	if (wait == W.rcu + MAX_RCU)
		violated("EXPLORER", "too many wait for a grace period");
	*wait = (struct rcu_wait){ head, func, p, 0 };
	for (i = 0; i < MAX_ACTORS; i++) {
		if (W.actors[i].rcu)
			wait->readers |= 1 << i;
	}
	if (!wait->readers)
		rcu_free(wait);
}

void rcu_barrier(void)
{
	int i;

	for (i = 0; i < MAX_RCU; i++) {
		if (W.rcu[i].head)
			violated("C18", "something still waits for RCU at the end");
	}
}

/*
 * The tables.
 */

unsigned int x_processor(void)
{
	ME->processor = !ME->processor;
	return ME->processor;
}

int x_xa_alloc(struct xarray *xa, u32 *index, void *entry,
	       struct xa_limit limit, u32 *next, gfp_t gfp,
	       const struct place *here)
{
	u32 i = *next < limit.min ? limit.min : *next;

	if (gfp & __GFP_MAY_SLEEP)
		may_sleep("xa_alloc_cyclic()", here);
	if (W.nomem && point_fails(DOING_ALLOC, xa, here))
		return -ENOMEM;
	point(DOING_TABLE, xa, here);
	if (i >= X_SLOTS)
		violated("EXPLORER", "out of handles");
	xa->reserved |= 1u << i;
	xa->slot[i] = entry;
	*index = i;
	*next = i + 1;
	return 0;
}

void *x_xa_load(struct xarray *xa, unsigned long index,
		const struct place *here)
{
	point(DOING_TABLE, xa, here);
	return index < X_SLOTS ? xa->slot[index] : NULL;
}

void *x_xa_store(struct xarray *xa, unsigned long index, void *entry,
		 const struct place *here)
{
	void *old;

	point(DOING_TABLE, xa, here);
	if (!(xa->reserved & 1u << index))
		violated("C18", "%s:%d: handle %lu is not reserved", here->file,
			 here->line, index);
	old = xa->slot[index];
	xa->slot[index] = entry;
	if (!entry)
		xa->reserved &= ~(1u << index);
	let_go();
	return old;
}

void *x_xa_next(struct xarray *xa, unsigned long *index,
		const struct place *here)
{
	point(DOING_TABLE, xa, here);
	for (; *index < X_SLOTS; (*index)++) {
		if (xa->slot[*index])
			return xa->slot[*index];
	}
	return NULL;
}

bool xa_empty(const struct xarray *xa)
{
	return !xa->reserved;
}

/*
 * Work
 */

struct workqueue_struct *x_workqueue(void)
{
	return (struct workqueue_struct *)&W;
}

bool x_queue_work(struct work_struct *work, const struct place *here)
{
	int k;

	check_live(work, here);
	if (W.queue_gone)
		violated("C18", "%s:%d: work after the end of its queue",
			 here->file, here->line);
	for (k = FIRST_WORKER; k < MAX_ACTORS; k++) {
		if (!W.actors[k].work) {
			W.actors[k].work = work;
			let_go();
			return true;
		}
	}
	violated("EXPLORER", "too few workers");
}

void destroy_workqueue(struct workqueue_struct *queue)
{
	int k;

	for (k = FIRST_WORKER; k < MAX_ACTORS; k++) {
		if (W.actors[k].work)
			stand(DOING_JOIN, NULL, HERE, WANTS_END);
	}
	W.queue_gone = true;
}

/*
 * Processes' numbers: each actor is a process.
 */

struct pid *task_tgid(struct task_struct *task)
{
	return &W.pids[(struct actor *)task - W.actors];
}

struct pid *get_pid(struct pid *pid)
{
	if (pid)
		pid->refs++;
	return pid;
}

void put_pid(struct pid *pid)
{
	if (!pid)
		return;
	if (--pid->refs < 0)
		violated("C18", "a reference to a process is given back twice");
}

int pid_vnr(struct pid *pid)
{
	return pid ? pid - W.pids + 1 : 0;
}

/*
 * User memory: it may not be there, its page may take for ever to come, and
 * others go on meanwhile.
 */
unsigned long x_copy_to_user(void *to, const void *from, unsigned long n,
			     const struct place *here)
{
	may_sleep("user memory is touched", here);
	if (ME->users)
		violated("C06", "%s:%d touches user memory with a use count held",
			 here->file, here->line);
	if (ME->mutexes & ~(1 << RANK_READ))
		violated("C06", "%s:%d touches user memory with a mutex held that others need",
			 here->file, here->line);
	if (W.stuck && search_running) {
		if (point_fails(DOING_PAGE, from, here))
			stand(DOING_PAGE, from, here, WANTS_PAGE);
	} else {
		point(DOING_COPY, from, here);
	}
	if (W.faults && point_fails(DOING_COPY, from, here)) {
		account_not_copied(from);
		return n;
	}
	__tsan_read_range(from, n);
	memcpy(to, from, n);
	account_copied(from);
	return 0;
}
