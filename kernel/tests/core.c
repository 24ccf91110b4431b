// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The migration core for the KUnit module: the very source of rdma_ucmx, which
 * has no other dependencies than the kernel's.
 *
 * What the core cannot be made to do from outside is replaced by functions of
 * fake.c: a kernel thread has no user memory, so copying to it copies to the
 * test's buffers, and can be told to fail or to take its time; the allocation
 * of an event can be told to fail, the clock to say that it is late.  Caches have
 * names of their own, since rdma_ucmx may be loaded.
 *
 * What the core allocates and refers to is counted, so that a test can see that
 * nothing is left; so are its steps, and the locks that it takes are noted, so
 * that a test can see what something costs without a clock.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "fake.h"

static struct kmem_cache *fake_cache_create(const char *name, unsigned int size,
					    unsigned int offset,
					    unsigned int usersize)
{
	char own[32];

	snprintf(own, sizeof(own), "kunit_%s", name);
	return kmem_cache_create_usercopy(own, size, 0, 0, offset, usersize,
					  NULL);
}

static struct fake_cost fake_cost;
static atomic_t fake_steps = ATOMIC_INIT(0);

/* What was done since the latest lock was taken. */
static void fake_measure(struct fake_cost *cost)
{
	int steps = atomic_read(&fake_steps);

	cost->longest = max(cost->longest, steps - cost->since);
	cost->since = steps;
}

/* From now on, count everybody's steps and note the locks of this thread. */
void fake_cost_begin(void)
{
	memset(&fake_cost, 0, sizeof(fake_cost));
	fake_cost.task = current;
	fake_cost.held = lockdep_depth(current);
	atomic_set(&fake_steps, 0);
}

/* What has been done since; who else is at work has to be waited for before. */
struct fake_cost fake_cost_end(void)
{
	struct fake_cost cost = fake_cost;

	fake_cost.task = NULL;
	cost.steps = atomic_read(&fake_steps);
	fake_measure(&cost);
	return cost;
}

/* One step: an entry of a list or of the table was visited or changed. */
static void fake_step(void)
{
	atomic_inc(&fake_steps);
}

static struct list_head *fake_step_from(void *entry, size_t member)
{
	fake_step();
	return entry + member;
}

static void fake_note_lock(const void *lock)
{
	int i;

	if (fake_cost.task != current)
		return;
	fake_measure(&fake_cost);
	for (i = 0; i < fake_cost.n_locks; i++) {
		if (fake_cost.locks[i] == lock)
			return;
	}
	if (i < ARRAY_SIZE(fake_cost.locks))
		fake_cost.locks[fake_cost.n_locks++] = lock;
}

/* A handle is looked up; RCU counts as a lock. */
static void fake_note_lookup(void)
{
	fake_step();
	if (fake_cost.task != current)
		return;
	fake_cost.lookups++;
	fake_cost.held_in_lookup = lockdep_depth(current) - fake_cost.held;
}

/* Some are functions, and some macros, by the kernel's version. */
#undef kmem_cache_create_usercopy
#define kmem_cache_create_usercopy(name, size, align, flags, offset, usersize, ctor) \
	fake_cache_create(name, size, offset, usersize)
#undef copy_to_user
#define copy_to_user(to, from, n)	fake_copy_to_user(to, from, n)
#undef kmem_cache_zalloc
#define kmem_cache_zalloc(cache, gfp)	fake_event_zalloc(cache, gfp)
#undef kmem_cache_free
#define kmem_cache_free(cache, event)	fake_event_free(cache, event)
#undef kzalloc
#define kzalloc(size, gfp)		fake_zalloc(size, gfp)
#undef kfree
#define kfree(object)			fake_free(object)
#undef kfree_rcu
#define kfree_rcu(object, ...)		call_rcu(&(object)->rcu, fake_free_rcu)
#undef get_pid
#define get_pid(pid)			fake_get_pid(pid)
#undef put_pid
#define put_pid(pid)			fake_put_pid(pid)
#undef ktime_get_ns
#define ktime_get_ns()			fake_now()

/* Loops over a list take each step by this one. */
#undef list_next_entry
#define list_next_entry(pos, member) \
	list_first_entry(fake_step_from(pos, offsetof(typeof(*(pos)), member)), \
			 typeof(*(pos)), member)
#define list_add(entry, head)		(fake_step(), list_add(entry, head))
#define list_add_tail(entry, head)	(fake_step(), list_add_tail(entry, head))
#define list_move(entry, head)		(fake_step(), list_move(entry, head))
#define list_move_tail(entry, head)	(fake_step(), list_move_tail(entry, head))
#define list_del(entry)			(fake_step(), list_del(entry))
#define list_del_init(entry)		(fake_step(), list_del_init(entry))
#define xa_load(xa, index)		(fake_note_lookup(), xa_load(xa, index))
#define xa_store(xa, index, entry, gfp)	(fake_step(), xa_store(xa, index, entry, gfp))
#define xa_erase(xa, index)		(fake_step(), xa_erase(xa, index))
#define xa_find(xa, at, max, mark)	(fake_step(), xa_find(xa, at, max, mark))
#define xa_find_after(xa, at, max, mark) \
	(fake_step(), xa_find_after(xa, at, max, mark))

#define spin_lock(lock)			(fake_note_lock(lock), spin_lock(lock))
#define spin_trylock(lock)		(fake_note_lock(lock), spin_trylock(lock))
#undef spin_lock_nested
#define spin_lock_nested(lock, subclass) \
do { \
	fake_note_lock(lock); \
	raw_spin_lock_nested(spinlock_check(lock), subclass); \
} while (0)
#undef mutex_lock_interruptible
#define mutex_lock_interruptible(lock) \
	(fake_note_lock(lock), mutex_lock_interruptible_nested(lock, 0))

/* No tracepoints: those of rdma_ucmx have the same names. */
#define UCMX_TRACE_H
#define trace_ucmx_id_create(channel, id)	do { } while (0)
#define trace_ucmx_id_destroy(channel, id)	do { } while (0)
#define trace_ucmx_id_end(channel, id)	do { } while (0)
#define trace_ucmx_event_raise(channel, event)	do { } while (0)
#define trace_ucmx_event_deliver(channel, event)	do { } while (0)
#define trace_ucmx_event_ack(channel, event)	do { } while (0)
#define trace_ucmx_migrate_freeze(source, target, id, err)	do { } while (0)
#define trace_ucmx_migrate_commit(source, target, id, err)	do { } while (0)
#define trace_ucmx_migrate_roll_back(source, target, id, err)	do { } while (0)
#define trace_ucmx_drain_start(channel, id, deadline)	do { } while (0)
#define trace_ucmx_drain_end(id, since, err)	do { } while (0)

#include "../channel.c"
#include "../read.c"
#include "../outstanding.c"
#include "../id.c"
#include "../handle.c"
#include "../life.c"
#include "../room.c"
#include "../move.c"
#include "../group.c"
#include "../limit.c"

/* Wait until what has been released is freed. */
void fake_core_settle(void)
{
	flush_workqueue(ucmx_wq);
	rcu_barrier();
}

int fake_core_ids(void)
{
	return atomic_read(&ucmx_n_ids);
}

bool fake_core_has_handles(void)
{
	return !ucmx_handles_empty();
}

bool fake_core_has_users(void)
{
	return !hash_empty(ucmx_users);
}

static char *fake_only;
module_param_named(only, fake_only, charp, 0444);
MODULE_PARM_DESC(only, "The one case to run; the others are skipped");

static void fake_case_skipped(struct kunit *test)
{
	kunit_skip(test, "not asked for");
}

int fake_suite_init(struct kunit_suite *suite)
{
	struct kunit_case *test_case;
	int err;

	kunit_suite_for_each_test_case(suite, test_case) {
		if (fake_only && strcmp(test_case->name, fake_only))
			test_case->run_case = fake_case_skipped;
	}
	err = ucmx_channel_core_init();
	if (err)
		return err;
	err = ucmx_id_core_init();
	if (err)
		ucmx_channel_core_exit();
	return err;
}

void fake_suite_exit(struct kunit_suite *suite)
{
	ucmx_id_core_exit();
	ucmx_channel_core_exit();
}

MODULE_DESCRIPTION("KUnit tests of rdma_ucmx's migration core");
MODULE_LICENSE("Dual BSD/GPL");
