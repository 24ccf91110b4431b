// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Threads that call the core, the buffers that they read to, in place of user
 * memory, and pollers.
 *
 * Locking: fake_bufs_lock protects the list of buffers and how many copies each
 * has seen.  A thread's result is there once @done is completed.
 */
#include <linux/kthread.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "fake.h"

static DEFINE_SPINLOCK(fake_bufs_lock);
static LIST_HEAD(fake_bufs);

/* The buffer that holds @to, with one copy more; NULL if a test's own memory. */
static struct fake_buf *fake_buf_find(char *to, unsigned int *copy)
{
	struct fake_buf *buf;

	spin_lock(&fake_bufs_lock);
	list_for_each_entry(buf, &fake_bufs, list) {
		if (to >= buf->data && to < buf->data + sizeof(buf->data)) {
			*copy = ++buf->copies;
			spin_unlock(&fake_bufs_lock);
			return buf;
		}
	}
	spin_unlock(&fake_bufs_lock);
	return NULL;
}

/* In place of copy_to_user(); NULL is memory that cannot be written. */
unsigned long fake_copy_to_user(void __user *to, const void *from,
				unsigned long n)
{
	char *memory = (char __force *)to;
	struct fake_buf *buf;
	unsigned int copy;

	might_sleep();
	if (memory < (char *)PAGE_SIZE)
		return n;
	buf = fake_buf_find(memory, &copy);
	if (buf && copy == buf->hold_at) {
		buf->locks_held = lockdep_depth(current);
		complete(&buf->held);
		wait_for_completion(&buf->go);
	}
	if (buf && buf->fail_from && copy >= buf->fail_from)
		return n;
	memcpy(memory, from, n);
	return 0;
}

struct fake_buf *fake_buf(struct fake_world *world)
{
	struct fake_buf *buf = kzalloc(sizeof(*buf), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(world->test, buf);
	init_completion(&buf->held);
	init_completion(&buf->go);
	list_add(&buf->of_world, &world->bufs);
	spin_lock(&fake_bufs_lock);
	list_add(&buf->list, &fake_bufs);
	spin_unlock(&fake_bufs_lock);
	return buf;
}

static int fake_thread_main(void *data)
{
	struct fake_thread *thread = data;

	allow_signal(SIGUSR1);
	thread->ret = thread->fn(thread);
	complete_all(&thread->done);
	return 0;
}

/* A thread that does nothing before fake_go(). */
struct fake_thread *fake_thread(struct fake_world *world,
				long (*fn)(struct fake_thread *thread))
{
	struct fake_thread *thread = kzalloc(sizeof(*thread), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(world->test, thread);
	thread->world = world;
	thread->fn = fn;
	init_completion(&thread->done);
	thread->task = kthread_create(fake_thread_main, thread, "ucmx_fake");
	if (IS_ERR(thread->task)) {
		kfree(thread);
		KUNIT_ASSERT_TRUE_MSG(world->test, false, "no thread");
	}
	get_task_struct(thread->task);
	list_add_tail(&thread->of_world, &world->threads);
	return thread;
}

void fake_go(struct fake_thread *thread)
{
	wake_up_process(thread->task);
}

static long fake_do_migrate(struct fake_thread *thread)
{
	return ucmx_id_migrate(thread->channel, thread->handle, thread->target,
			       &thread->move);
}

struct fake_thread *fake_start_migrate(struct fake_world *world,
				       struct ucmx_channel *source, u32 handle,
				       struct ucmx_channel *target,
				       const struct ucmx_move *move)
{
	struct fake_thread *thread = fake_thread(world, fake_do_migrate);

	thread->channel = source;
	thread->handle = handle;
	thread->target = target;
	if (move)
		thread->move = *move;
	fake_go(thread);
	return thread;
}

static long fake_do_destroy(struct fake_thread *thread)
{
	return ucmx_id_destroy(thread->channel, thread->handle,
			       &thread->move.wait);
}

struct fake_thread *fake_start_destroy(struct fake_world *world,
				       struct ucmx_channel *channel, u32 handle,
				       const struct ucmx_wait *wait)
{
	struct fake_thread *thread = fake_thread(world, fake_do_destroy);

	thread->channel = channel;
	thread->handle = handle;
	if (wait)
		thread->move.wait = *wait;
	fake_go(thread);
	return thread;
}

static long fake_do_read(struct fake_thread *thread)
{
	return ucmx_channel_read(thread->channel,
				 (char __force __user *)thread->buf->data,
				 thread->len, false);
}

/* Read what fits into @len bytes, and wait for the first event of it. */
struct fake_thread *fake_start_read_len(struct fake_world *world,
					struct ucmx_channel *channel,
					struct fake_buf *buf, size_t len)
{
	struct fake_thread *thread = fake_thread(world, fake_do_read);

	thread->channel = channel;
	thread->buf = buf;
	thread->len = len;
	fake_go(thread);
	return thread;
}

/* Read one event, and wait for it. */
struct fake_thread *fake_start_read(struct fake_world *world,
				    struct ucmx_channel *channel,
				    struct fake_buf *buf)
{
	return fake_start_read_len(world, channel, buf,
				   sizeof(struct rdma_ucmx_event));
}

/* Whether the thread waits for something, and looked for it in vain before. */
bool fake_sleeps(struct fake_thread *thread)
{
	return READ_ONCE(thread->task->__state) == TASK_INTERRUPTIBLE &&
	       !READ_ONCE(thread->task->on_rq);
}

bool fake_done(struct fake_thread *thread)
{
	return completion_done(&thread->done);
}

void fake_signal(struct fake_thread *thread)
{
	send_sig(SIGUSR1, thread->task, 1);
}

static void fake_reap(struct fake_thread *thread)
{
	kthread_stop(thread->task);
	put_task_struct(thread->task);
	thread->joined = true;
}

/* What the thread's function returned. */
long fake_join(struct fake_thread *thread)
{
	struct kunit *test = thread->world->test;
	bool done = wait_for_completion_timeout(&thread->done, 60 * HZ);

	KUNIT_ASSERT_TRUE_MSG(test, done, "a thread does not return");
	fake_reap(thread);
	return thread->ret;
}

/* End all threads, however they are stuck. */
void fake_threads_end(struct fake_world *world)
{
	struct fake_thread *thread, *next_thread;
	struct fake_buf *buf, *next;

	WRITE_ONCE(world->stop, true);
	complete_all(&world->slow);
	list_for_each_entry(buf, &world->bufs, of_world)
		complete_all(&buf->go);
	list_for_each_entry_safe(thread, next_thread, &world->threads, of_world) {
		if (!thread->joined) {
			fake_go(thread);
			while (!wait_for_completion_timeout(&thread->done, HZ / 10))
				fake_signal(thread);
			fake_reap(thread);
		}
		list_del(&thread->of_world);
		kfree(thread);
	}
	list_for_each_entry_safe(buf, next, &world->bufs, of_world) {
		spin_lock(&fake_bufs_lock);
		list_del(&buf->list);
		spin_unlock(&fake_bufs_lock);
		list_del(&buf->of_world);
		kfree(buf);
	}
}

static int fake_sleeper_wake(struct wait_queue_entry *entry, unsigned int mode,
			     int flags, void *key)
{
	container_of(entry, struct fake_sleeper, entry)->woken++;
	return 1;
}

/* From now on somebody waits for the channel, exclusively. */
void fake_sleeper_add(struct fake_sleeper *sleeper,
		      struct ucmx_channel *channel)
{
	init_waitqueue_func_entry(&sleeper->entry, fake_sleeper_wake);
	sleeper->woken = 0;
	add_wait_queue_exclusive(&channel->wait, &sleeper->entry);
}

void fake_sleeper_remove(struct fake_sleeper *sleeper,
			 struct ucmx_channel *channel)
{
	remove_wait_queue(&channel->wait, &sleeper->entry);
}
