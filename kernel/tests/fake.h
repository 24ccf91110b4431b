/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the suites share: ids that stand for nothing, threads that call the
 * core and may block in it, buffers that take the place of user memory, and a
 * world for each test that ends them all and looks for what is left.
 *
 * A test speaks to the core by the functions of channel.h and id.h; it never
 * sleeps for a length of time, but until something has become true.
 */
#ifndef UCMX_FAKE_H
#define UCMX_FAKE_H

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/module.h>

#include "../channel.h"
#include "../group.h"
#include "../id.h"
#include "../limit.h"

/* Every expectation has its own place on the stack; there is enough of it. */
#pragma GCC diagnostic ignored "-Wframe-larger-than="

/**
 * struct fake_world - one test's channels, ids, buffers and threads
 * @test: the test
 * @source: a channel, closed at the end of the test
 * @target: another one
 * @live: ids that are not freed
 * @released: ids whose ops->release() was called
 * @wrong: ids that were released twice, or freed without
 * @described: announcements whose record was filled in
 * @on_describe: called meanwhile, or NULL
 * @objects: those that there were at the beginning
 * @stop: threads are to end
 * @slow_release: ops->release() waits for @slow
 * @slow_channel: that of the ids of this channel alone, unless NULL
 * @slow: see @slow_release
 * @quick_release: ids say that their release waits for nobody
 * @releaser: who called ops->release() last
 * @bufs: buffers
 * @threads: threads
 */
struct fake_world {
	struct kunit *test;
	struct ucmx_channel *source;
	struct ucmx_channel *target;
	atomic_t live;
	atomic_t released;
	atomic_t wrong;
	atomic_t described;
	void (*on_describe)(struct fake_world *world, struct ucmx_id *id);
	int objects;
	bool stop;
	bool slow_release;
	struct ucmx_channel *slow_channel;
	struct completion slow;
	bool quick_release;
	struct task_struct *releaser;
	struct list_head bufs;
	struct list_head threads;
};

/**
 * struct fake_buf - in place of user memory
 * @list: in a list of all there are
 * @of_world: in the world's list
 * @copies: copies to it that have begun
 * @hold_at: which copy is to wait in the middle, counted from 1; 0 for none
 * @fail_from: from which copy on they fail, counted from 1; 0 for never
 * @locks_held: how many locks the reader held when the copy @hold_at began
 * @held: completed when the copy @hold_at has begun
 * @go: lets it go on
 * @data: the memory
 */
struct fake_buf {
	struct list_head list;
	struct list_head of_world;
	unsigned int copies;
	unsigned int hold_at;
	unsigned int fail_from;
	int locks_held;
	struct completion held;
	struct completion go;
	char data[2 * RDMA_UCMX_READ_MIN] __aligned(8);
};

/**
 * struct fake_thread - a thread that calls the core
 * @of_world: in the world's list
 * @world: the world
 * @task: the thread
 * @done: it has returned @ret
 * @joined: and was waited for
 * @fn: what it does
 * @ret: what came out
 * @channel: for @fn, the channel that it calls
 * @target: for @fn, where it migrates to
 * @handle: for @fn, the id
 * @move: for @fn, how to migrate or destroy
 * @buf: for @fn, where it reads to
 * @len: for @fn, how much
 * @arg: for @fn, whatever else
 * @index: for @fn, which of several it is
 * @dice: for @fn, to be unpredictable in the same way each time
 */
struct fake_thread {
	struct list_head of_world;
	struct fake_world *world;
	struct task_struct *task;
	struct completion done;
	bool joined;
	long (*fn)(struct fake_thread *thread);
	long ret;
	struct ucmx_channel *channel;
	struct ucmx_channel *target;
	u32 handle;
	struct ucmx_move move;
	struct fake_buf *buf;
	size_t len;
	void *arg;
	int index;
	u64 dice;
};

/**
 * struct fake_cost - what the core has done for a thread
 * @task: the thread
 * @held: locks that it held before
 * @steps: entries of lists and of the table of handles that were visited or
 *	   changed, whoever did it
 * @locks: locks that the thread took
 * @n_locks: how many those are
 * @lookups: handles that it looked up
 * @held_in_lookup: locks that it held then, RCU included
 * @since: of the steps, those before the latest lock
 * @longest: most steps between two locks, so with one of them
 */
struct fake_cost {
	struct task_struct *task;
	int held;
	int steps;
	const void *locks[8];
	int n_locks;
	int lookups;
	int held_in_lookup;
	int since;
	int longest;
};

/**
 * struct fake_sleeper - somebody who waits for a channel, like a poller
 * @entry: in the channel's wait queue
 * @woken: how often he was woken
 */
struct fake_sleeper {
	struct wait_queue_entry entry;
	int woken;
};

/* core.c */
void fake_cost_begin(void);
struct fake_cost fake_cost_end(void);
int fake_suite_init(struct kunit_suite *suite);
void fake_suite_exit(struct kunit_suite *suite);
void fake_core_settle(void);
int fake_core_ids(void);
bool fake_core_has_handles(void);
bool fake_core_has_users(void);

/* In place of the kernel's, for the core. */
unsigned long fake_copy_to_user(void __user *to, const void *from,
				unsigned long n);
void *fake_event_zalloc(struct kmem_cache *cache, gfp_t gfp);
void fake_event_free(struct kmem_cache *cache, void *event);
void *fake_zalloc(size_t size, gfp_t gfp);
void fake_free(void *object);
void fake_free_rcu(struct rcu_head *rcu);
struct pid *fake_get_pid(struct pid *pid);
void fake_put_pid(struct pid *pid);
u64 fake_now(void);
/* How many allocations of events are to fail, from now on. */
extern atomic_t fake_failing_allocs;
/* Events, and groups, channels and users, that there are; references to pids. */
extern atomic_t fake_events;
extern atomic_t fake_objects;
extern atomic_t fake_pids;
/*
 * If set, the core looks at the clock so often in vain, and finds it late the
 * next time; but first the function is called.
 */
extern atomic_t fake_looks_until_late;
extern void (*fake_when_late)(void);

/* A world's begin and end. */
int fake_init(struct kunit *test);
void fake_exit(struct kunit *test);

/* Channels and ids. */
struct ucmx_channel *fake_channel(struct fake_world *world);
void fake_close(struct fake_world *world, struct ucmx_channel *channel);
struct ucmx_id *fake_id_unseen(struct fake_world *world);
struct ucmx_id *fake_id(struct fake_world *world, struct ucmx_channel *channel);
int fake_room(struct ucmx_id *id, enum ucmx_room room, size_t capacity);
struct ucmx_id *fake_listener(struct fake_world *world,
			      struct ucmx_channel *channel, u32 backlog);
u64 fake_cookie(u32 handle);
struct rdma_ucmx_id_info fake_info(struct ucmx_id *id);
bool fake_migrating(struct ucmx_id *id);

/* Events. */
struct ucmx_event *fake_event(struct fake_world *world, u32 what);
void fake_raise(struct fake_world *world, struct ucmx_id *id, u32 what);
void fake_raise_urgent(struct fake_world *world, struct ucmx_id *id, u32 what);
int fake_request_ref(struct fake_world *world, struct ucmx_id *listener,
		     u32 what, struct ucmx_id **child);
int fake_request(struct fake_world *world, struct ucmx_id *listener, u32 what,
		 struct ucmx_id **child);
ssize_t fake_read(struct ucmx_channel *channel, struct rdma_ucmx_event *event);
bool fake_readable(struct ucmx_channel *channel);
void fake_ack(struct fake_world *world, struct ucmx_channel *channel,
	      u32 handle, u64 seq);

/* Groups. */
struct ucmx_group *fake_group(struct fake_world *world, struct ucmx_id *id,
			      u32 address);
bool fake_group_event(struct fake_world *world, struct ucmx_id *id,
		      u32 number, u32 what);
int fake_more_objects(const struct fake_world *world);
int fake_leave(struct ucmx_id *id, u32 number, const struct ucmx_wait *wait);

/* Calls that must succeed and need not wait long. */
u64 fake_soon(void);
void fake_migrate(struct fake_world *world, struct ucmx_channel *source,
		  struct ucmx_id *id, struct ucmx_channel *target);
void fake_destroy(struct fake_world *world, struct ucmx_channel *channel,
		  u32 handle);

/* Scenes. */
struct ucmx_id *fake_busy_id(struct fake_world *world);
struct fake_thread *fake_start_waiting(struct fake_world *world,
				       struct ucmx_id *id,
				       struct ucmx_channel *target,
				       const struct ucmx_move *move);
struct fake_thread *fake_start_copy(struct fake_world *world,
				    struct ucmx_channel *channel, bool fails);
void fake_expect_events(struct fake_world *world, struct ucmx_channel *channel,
			struct ucmx_id *id, int first, int n);
void fake_expect_ids(struct fake_world *world, int source, int target);

/* Threads and buffers: threads.c. */
void fake_threads_end(struct fake_world *world);
struct fake_buf *fake_buf(struct fake_world *world);
struct fake_thread *fake_thread(struct fake_world *world,
				long (*fn)(struct fake_thread *thread));
void fake_go(struct fake_thread *thread);
struct fake_thread *fake_start_migrate(struct fake_world *world,
				       struct ucmx_channel *source, u32 handle,
				       struct ucmx_channel *target,
				       const struct ucmx_move *move);
struct fake_thread *fake_start_destroy(struct fake_world *world,
				       struct ucmx_channel *channel, u32 handle,
				       const struct ucmx_wait *wait);
struct fake_thread *fake_start_read(struct fake_world *world,
				    struct ucmx_channel *channel,
				    struct fake_buf *buf);
struct fake_thread *fake_start_read_len(struct fake_world *world,
					struct ucmx_channel *channel,
					struct fake_buf *buf, size_t len);
bool fake_sleeps(struct fake_thread *thread);
bool fake_done(struct fake_thread *thread);
void fake_signal(struct fake_thread *thread);
long fake_join(struct fake_thread *thread);

/* Sleepers: threads.c. */
void fake_sleeper_add(struct fake_sleeper *sleeper,
		      struct ucmx_channel *channel);
void fake_sleeper_remove(struct fake_sleeper *sleeper,
			 struct ucmx_channel *channel);

/* Wait until something is true; the test fails if it never is. */
#define FAKE_UNTIL(world, condition)					\
do {									\
	unsigned long __end = jiffies + 60 * HZ;			\
	bool __is;							\
									\
	while (!(__is = (condition)) && time_before(jiffies, __end))	\
		usleep_range(200, 1000);				\
	KUNIT_ASSERT_TRUE_MSG((world)->test, __is,			\
			      "never came true: %s", #condition);	\
} while (0)

/* The next event of a channel, read without waiting, is this one. */
#define FAKE_EXPECT_READ(world, channel, _handle, _what, _seq)		\
do {									\
	struct rdma_ucmx_event __event = {};				\
									\
	KUNIT_EXPECT_EQ((world)->test, (ssize_t)sizeof(__event),	\
			fake_read(channel, &__event));			\
	KUNIT_EXPECT_EQ((world)->test, (u32)(_handle), __event.id);	\
	KUNIT_EXPECT_EQ((world)->test, (u32)(_what), __event.event);	\
	KUNIT_EXPECT_EQ((world)->test, (u64)(_seq), __event.seq);	\
} while (0)

/* There is nothing to read on a channel. */
#define FAKE_EXPECT_EMPTY(world, channel)				\
do {									\
	struct rdma_ucmx_event __event;					\
									\
	KUNIT_EXPECT_FALSE((world)->test, fake_readable(channel));	\
	KUNIT_EXPECT_EQ((world)->test, (ssize_t)-EAGAIN,		\
			fake_read(channel, &__event));			\
} while (0)

/* A suite; its name is in the module's information, for who counts them. */
#define FAKE_SUITE(_name, _cases)					\
	static struct kunit_suite _name##_suite = {			\
		.name = #_name,						\
		.suite_init = fake_suite_init,				\
		.suite_exit = fake_suite_exit,				\
		.init = fake_init,					\
		.exit = fake_exit,					\
		.test_cases = _cases,					\
	};								\
	MODULE_INFO(kunit_suite, #_name);				\
	kunit_test_suite(_name##_suite)

#endif /* UCMX_FAKE_H */
