// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The migration core for the KUnit module: the very source of rdma_ucmx, which
 * has no other dependencies than the kernel's.
 *
 * What the core cannot be made to do from outside is replaced by functions of
 * fake.c: a kernel thread has no user memory, so copying to it copies to the
 * test's buffers, and can be told to fail or to take its time; the allocation
 * of an event can be told to fail, and events are counted.  Caches have names of
 * their own, since rdma_ucmx may be loaded.
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

#define kmem_cache_create_usercopy(name, size, align, flags, offset, usersize, ctor) \
	fake_cache_create(name, size, offset, usersize)
#define copy_to_user(to, from, n)	fake_copy_to_user(to, from, n)
#define kmem_cache_zalloc(cache, gfp)	fake_event_zalloc(cache, gfp)
#define kmem_cache_free(cache, event)	fake_event_free(cache, event)

#include "../channel.c"
#include "../read.c"
#include "../id.c"
#include "../life.c"
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
	return !xa_empty(&ucmx_handles);
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
