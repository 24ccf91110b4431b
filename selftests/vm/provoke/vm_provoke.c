// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * vm_provoke - do one wrong thing, for judge-test.
 *
 * Writing a KIND into its file in debugfs does it.  Some of what LKDTM has is
 * here too: Debian's kernel is built without it, and LKDTM has no leak and no
 * inversion.  Nothing of it is rdma_ucmx or rdma_ucm, so its reports count.
 *
 * The threads and locks are made to be wrong; nothing else needs protection.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

static noinline int provoke_warning(void)
{
	WARN(1, "provoked\n");
	return 0;
}

/* Nobody else allocates from it and so comes across spoilt poison before the judge does. */
static struct kmem_cache *provoke_cache;

/* KASAN sees the write; without it, the poison in the object is spoilt. */
static noinline int provoke_use_after_free(void)
{
	char *object = kmem_cache_alloc(provoke_cache, GFP_KERNEL);

	if (!object)
		return -ENOMEM;
	kmem_cache_free(provoke_cache, object);
	OPTIMIZER_HIDE_VAR(object);
	WRITE_ONCE(object[64], 1);
	return 0;
}

static noinline int provoke_sleep_in_atomic(void)
{
	preempt_disable();
	might_sleep();
	preempt_enable();
	return 0;
}

static DEFINE_MUTEX(provoke_first);
static DEFINE_MUTEX(provoke_second);

/* Never a deadlock, there is only one thread; the order is wrong all the same. */
static noinline int provoke_inversion(void)
{
	mutex_lock(&provoke_first);
	mutex_lock(&provoke_second);
	mutex_unlock(&provoke_second);
	mutex_unlock(&provoke_first);

	mutex_lock(&provoke_second);
	mutex_lock(&provoke_first);
	mutex_unlock(&provoke_first);
	mutex_unlock(&provoke_second);
	return 0;
}

/* Several: a stale copy of one address in some register or stack does not matter. */
static noinline int provoke_leak(void)
{
	int i;

	for (i = 0; i < 10; i++) {
		void *object = kmalloc(777, GFP_KERNEL);

		if (!object)
			return -ENOMEM;
		memset(object, 0x5a, 777);
		OPTIMIZER_HIDE_VAR(object);
	}
	return 0;
}

/* Long enough for a detector set to one second that looks every second. */
static noinline int provoke_hung_task(void)
{
	msleep(5000);
	return 0;
}

static int provoke_sleep_for_ever(void *unused)
{
	for (;;) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		schedule();
	}
	return 0;
}

static noinline int provoke_blocked_thread(void)
{
	return PTR_ERR_OR_ZERO(kthread_run(provoke_sleep_for_ever, NULL, "vm_blocked"));
}

static int provoke_shared;

static noinline int provoke_race_with(void *unused)
{
	while (!kthread_should_stop()) {
		provoke_shared++;
		cond_resched();
	}
	return 0;
}

/* KCSAN has to be lucky: hence for a while. */
static noinline int provoke_race(void)
{
	unsigned long end = jiffies + 5 * HZ;
	struct task_struct *other = kthread_run(provoke_race_with, NULL, "vm_race");

	if (IS_ERR(other))
		return PTR_ERR(other);
	while (time_before(jiffies, end)) {
		provoke_shared++;
		cond_resched();
	}
	return kthread_stop(other);
}

static noinline int provoke_oops(void)
{
	int *nowhere = NULL;

	OPTIMIZER_HIDE_VAR(nowhere);
	WRITE_ONCE(*nowhere, 1);
	return 0;
}

static const struct {
	const char *name;
	int (*provoke)(void);
} provocations[] = {
	{ "warning", provoke_warning },
	{ "use-after-free", provoke_use_after_free },
	{ "sleep-in-atomic", provoke_sleep_in_atomic },
	{ "inversion", provoke_inversion },
	{ "leak", provoke_leak },
	{ "hung-task", provoke_hung_task },
	{ "blocked-thread", provoke_blocked_thread },
	{ "race", provoke_race },
	{ "oops", provoke_oops },
};

static ssize_t provoke_write(struct file *file, const char __user *buffer,
			     size_t count, loff_t *position)
{
	char what[32] = "";
	int i, ret;

	if (count >= sizeof(what))
		return -EINVAL;
	if (copy_from_user(what, buffer, count))
		return -EFAULT;
	strim(what);
	for (i = 0; i < ARRAY_SIZE(provocations); i++) {
		if (strcmp(what, provocations[i].name))
			continue;
		ret = provocations[i].provoke();
		return ret ?: count;
	}
	return -EINVAL;
}

static const struct file_operations provoke_fops = {
	.owner = THIS_MODULE,
	.write = provoke_write,
};

static struct dentry *provoke_file;

static int __init vm_provoke_init(void)
{
	provoke_cache = kmem_cache_create("ucmx_provoke", 192, 0, 0, NULL);
	if (!provoke_cache)
		return -ENOMEM;
	provoke_file = debugfs_create_file("vm_provoke", 0200, NULL, NULL, &provoke_fops);
	if (IS_ERR(provoke_file))
		kmem_cache_destroy(provoke_cache);
	return PTR_ERR_OR_ZERO(provoke_file);
}
module_init(vm_provoke_init);

static void __exit vm_provoke_exit(void)
{
	debugfs_remove(provoke_file);
	kmem_cache_destroy(provoke_cache);
}
module_exit(vm_provoke_exit);

MODULE_DESCRIPTION("Provokes the reports that the judge of a virtual machine has to find");
MODULE_LICENSE("Dual BSD/GPL");
