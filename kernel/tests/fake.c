// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Worlds, ids and events for the suites; for threads and buffers see threads.c.
 *
 * Locking: none of its own; tests call this from their one thread, and what
 * the core calls back touches atomic counters only.
 */
#include <linux/slab.h>

#include "fake.h"

/**
 * struct fake - an id that stands for nothing
 * @id: the core's
 * @world: where it is counted
 * @owned: a channel or a listener has it, so it must be released
 * @releases: how often it was
 */
struct fake {
	struct ucmx_id id;
	struct fake_world *world;
	bool owned;
	atomic_t releases;
};

static void fake_id_release(struct ucmx_id *id)
{
	struct fake *fake = container_of(id, struct fake, id);

	struct ucmx_channel *slow = fake->world->slow_channel;

	if (READ_ONCE(fake->world->slow_release) &&
	    (!slow || READ_ONCE(id->channel) == slow))
		wait_for_completion(&fake->world->slow);
	if (atomic_inc_return(&fake->releases) != 1)
		atomic_inc(&fake->world->wrong);
	WRITE_ONCE(fake->world->releaser, current);
	atomic_inc(&fake->world->released);
}

static bool fake_id_waits_for_nobody(struct ucmx_id *id)
{
	return READ_ONCE(container_of(id, struct fake, id)->world->quick_release);
}

/* What announces an id says nothing but that. */
static void fake_id_describe(struct ucmx_id *id, struct ucmx_event *event)
{
	struct fake_world *world = container_of(id, struct fake, id)->world;

	might_sleep();
	event->head.size = sizeof(event->head);
	event->head.event = RDMA_UCMX_EVENT_TYPE_ARRIVED;
	atomic_inc(&world->described);
	if (world->on_describe)
		world->on_describe(world, id);
}

static void fake_id_free(struct ucmx_id *id)
{
	struct fake *fake = container_of(id, struct fake, id);

	if (atomic_read(&fake->releases) != fake->owned)
		atomic_inc(&fake->world->wrong);
	atomic_dec(&fake->world->live);
	kfree(fake);
}

static const struct ucmx_id_ops fake_id_ops = {
	.release = fake_id_release,
	.waits_for_nobody = fake_id_waits_for_nobody,
	.describe = fake_id_describe,
	.free = fake_id_free,
};

/* An id that is neither published nor raised. */
struct ucmx_id *fake_id_unseen(struct fake_world *world)
{
	struct fake *fake = kzalloc(sizeof(*fake), GFP_KERNEL);
	int err;

	KUNIT_ASSERT_NOT_NULL(world->test, fake);
	fake->world = world;
	err = ucmx_id_init(&fake->id, &fake_id_ops, GFP_KERNEL);
	if (err)
		kfree(fake);
	KUNIT_ASSERT_EQ(world->test, 0, err);
	atomic_inc(&world->live);
	return &fake->id;
}

u64 fake_cookie(u32 handle)
{
	return 0xc00c1e0000000000 + handle;
}

struct ucmx_id *fake_id(struct fake_world *world, struct ucmx_channel *channel)
{
	struct ucmx_id *id = fake_id_unseen(world);

	KUNIT_EXPECT_TRUE(world->test, ucmx_channel_charge(channel));
	container_of(id, struct fake, id)->owned = true;
	ucmx_id_publish(id, channel, fake_cookie(id->handle));
	return id;
}

/* As a command makes it that causes one event. */
int fake_room(struct ucmx_id *id, enum ucmx_room room, size_t capacity)
{
	struct ucmx_event *event = ucmx_event_alloc(room, capacity, GFP_KERNEL);
	LIST_HEAD(rooms);

	if (!event)
		return -ENOMEM;
	list_add(&event->of_id, &rooms);
	return ucmx_rooms_add(id, &rooms);
}

struct ucmx_id *fake_listener(struct fake_world *world,
			      struct ucmx_channel *channel, u32 backlog)
{
	struct ucmx_id *id = fake_id(world, channel);

	ucmx_id_set_backlog(id, backlog);
	return id;
}

struct rdma_ucmx_id_info fake_info(struct ucmx_id *id)
{
	struct ucmx_channel *channel = ucmx_id_lock(id);
	struct rdma_ucmx_id_info info;

	ucmx_id_info(id, &info);
	spin_unlock(&channel->lock);
	return info;
}

bool fake_migrating(struct ucmx_id *id)
{
	return fake_info(id).state & RDMA_UCMX_ID_MIGRATING;
}

/*
 * Events
 */

atomic_t fake_failing_allocs = ATOMIC_INIT(0);
atomic_t fake_events = ATOMIC_INIT(0);
atomic_t fake_objects = ATOMIC_INIT(0);
atomic_t fake_pids = ATOMIC_INIT(0);
atomic_t fake_looks_until_late = ATOMIC_INIT(-1);
void (*fake_when_late)(void);

u64 fake_now(void)
{
	if (atomic_read(&fake_looks_until_late) < 0 ||
	    atomic_dec_return(&fake_looks_until_late) >= 0)
		return ktime_get_ns();
	fake_when_late();
	return U64_MAX;
}

void *fake_zalloc(size_t size, gfp_t gfp)
{
	void *object = kzalloc(size, gfp);

	if (object)
		atomic_inc(&fake_objects);
	return object;
}

void fake_free(void *object)
{
	atomic_dec(&fake_objects);
	kfree(object);
}

/* Of the core's own objects, only channels are freed like this. */
void fake_free_rcu(struct rcu_head *rcu)
{
	fake_free(container_of(rcu, struct ucmx_channel, rcu));
}

struct pid *fake_get_pid(struct pid *pid)
{
	atomic_inc(&fake_pids);
	return get_pid(pid);
}

void fake_put_pid(struct pid *pid)
{
	if (pid)
		atomic_dec(&fake_pids);
	put_pid(pid);
}

void *fake_event_zalloc(struct kmem_cache *cache, gfp_t gfp)
{
	void *event;

	if (atomic_dec_if_positive(&fake_failing_allocs) >= 0)
		return NULL;
	event = kmem_cache_zalloc(cache, gfp);
	if (event)
		atomic_inc(&fake_events);
	return event;
}

void fake_event_free(struct kmem_cache *cache, void *event)
{
	atomic_dec(&fake_events);
	kmem_cache_free(cache, event);
}

/* An event that is only a head; @what stands for the kind. */
struct ucmx_event *fake_event(struct fake_world *world, u32 what)
{
	struct ucmx_event *event;

	event = ucmx_event_alloc(UCMX_ROOM_NONE, sizeof(event->head),
				 GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(world->test, event);
	event->head.size = sizeof(event->head);
	event->head.event = what;
	return event;
}

void fake_raise(struct fake_world *world, struct ucmx_id *id, u32 what)
{
	KUNIT_EXPECT_EQ(world->test, 0,
			ucmx_event_raise(id, fake_event(world, what)));
}

void fake_raise_urgent(struct fake_world *world, struct ucmx_id *id, u32 what)
{
	struct ucmx_event *event = fake_event(world, what);

	event->urgent = true;
	KUNIT_EXPECT_EQ(world->test, 0, ucmx_event_raise(id, event));
}

/*
 * A request for @listener; *@child is NULL if the core refuses it, else has a
 * reference that is the caller's, as a callback of rdma_cm would have one.
 */
int fake_request_ref(struct fake_world *world, struct ucmx_id *listener,
		     u32 what, struct ucmx_id **child)
{
	struct ucmx_event *event = fake_event(world, what);
	struct ucmx_id *id = fake_id_unseen(world);
	struct fake *fake = container_of(id, struct fake, id);
	int err;

	fake->owned = true;
	refcount_inc(&id->ref);
	err = ucmx_request_raise(listener, event, id);
	if (err) {
		fake->owned = false;
		ucmx_id_abort(id);
		ucmx_event_free(event);
		id = NULL;
	}
	*child = id;
	return err;
}

/* The same without the reference, for who knows how long the child lives. */
int fake_request(struct fake_world *world, struct ucmx_id *listener, u32 what,
		 struct ucmx_id **child)
{
	struct ucmx_id *id;
	int err = fake_request_ref(world, listener, what, &id);

	if (id)
		ucmx_id_put(id);
	if (child)
		*child = id;
	return err;
}

/* Read one event, if there is one, into @event, of which the head fits. */
ssize_t fake_read(struct ucmx_channel *channel, struct rdma_ucmx_event *event)
{
	return ucmx_channel_read(channel, (char __force __user *)event,
				 sizeof(*event), true);
}

bool fake_readable(struct ucmx_channel *channel)
{
	return ucmx_channel_poll(channel, NULL, NULL) & EPOLLIN;
}

void fake_ack(struct fake_world *world, struct ucmx_channel *channel,
	      u32 handle, u64 seq)
{
	KUNIT_EXPECT_EQ(world->test, 0, ucmx_channel_ack(channel, handle, seq));
}

/*
 * Groups
 */

/* @id joins the group of that address. */
struct ucmx_group *fake_group(struct fake_world *world, struct ucmx_id *id,
			      u32 address)
{
	const struct rdma_ucmx_addr addr = { .family = 1, .data = { address } };
	struct ucmx_group *group;

	group = ucmx_group_alloc(&addr, fake_cookie(address),
				 sizeof(struct rdma_ucmx_event));
	KUNIT_ASSERT_NOT_NULL(world->test, group);
	KUNIT_ASSERT_EQ(world->test, 0, ucmx_group_add(id, group));
	return group;
}

/* Something happens to a group; whether there was room for the event. */
bool fake_group_event(struct fake_world *world, struct ucmx_id *id,
		      u32 number, u32 what)
{
	struct ucmx_event *event = ucmx_group_take_room(id, number);

	if (!event)
		return false;
	event->head.size = sizeof(event->head);
	event->head.event = what;
	KUNIT_EXPECT_EQ(world->test, 0, ucmx_event_raise(id, event));
	return true;
}

/* Groups, as long as there are as many channels as at the beginning. */
int fake_more_objects(const struct fake_world *world)
{
	return atomic_read(&fake_objects) - world->objects;
}

/* As the command does it; there is no rdma_cm to be told. */
int fake_leave(struct ucmx_id *id, u32 number, const struct ucmx_wait *wait)
{
	struct ucmx_group *group;
	int err = ucmx_group_leave(id, number, wait, &group);

	if (err < 0)
		return err;
	err = ucmx_group_wait(id, group, wait);
	ucmx_group_put(group);
	return err;
}

/* A deadline for what happens at once, so that a test that fails ends. */
u64 fake_soon(void)
{
	return ktime_get_ns() + 20 * NSEC_PER_SEC;
}

void fake_migrate(struct fake_world *world, struct ucmx_channel *source,
		  struct ucmx_id *id, struct ucmx_channel *target)
{
	const struct ucmx_move move = { .wait.deadline = fake_soon() };

	KUNIT_EXPECT_EQ(world->test, 0,
			ucmx_id_migrate(source, id->handle, target, &move));
}

void fake_destroy(struct fake_world *world, struct ucmx_channel *channel,
		  u32 handle)
{
	const struct ucmx_wait wait = { .deadline = fake_soon() };

	KUNIT_EXPECT_EQ(world->test, 0, ucmx_id_destroy(channel, handle, &wait));
}

/*
 * Scenes
 */

/* An id of the source with event 1 outstanding and 2 and 3 pending. */
struct ucmx_id *fake_busy_id(struct fake_world *w)
{
	struct ucmx_id *id = fake_id(w, w->source);
	int i;

	for (i = 1; i <= 3; i++)
		fake_raise(w, id, i);
	FAKE_EXPECT_READ(w, w->source, id->handle, 1, 1);
	return id;
}

/* A migration that waits for event 1 of a busy id. */
struct fake_thread *fake_start_waiting(struct fake_world *w,
				       struct ucmx_id *id,
				       struct ucmx_channel *target,
				       const struct ucmx_move *move)
{
	struct fake_thread *thread;

	thread = fake_start_migrate(w, w->source, id->handle, target, move);
	FAKE_UNTIL(w, fake_migrating(id) && fake_sleeps(thread));
	return thread;
}

/*
 * A reader in the middle of the copy of the first event of @channel, which
 * goes on, to fail or not, with its buffer's @go.
 */
struct fake_thread *fake_start_copy(struct fake_world *w,
				    struct ucmx_channel *channel, bool fails)
{
	struct fake_buf *buf = fake_buf(w);
	struct fake_thread *reader;

	buf->hold_at = 1;
	buf->fail_from = fails ? 1 : 0;
	reader = fake_start_read(w, channel, buf);
	FAKE_UNTIL(w, try_wait_for_completion(&buf->held));
	return reader;
}

/* @id is on @channel with nothing but @n pending events, from @first on. */
void fake_expect_events(struct fake_world *w, struct ucmx_channel *channel,
			struct ucmx_id *id, int first, int n)
{
	int i;

	for (i = first; i < first + n; i++)
		FAKE_EXPECT_READ(w, channel, id->handle, i, i);
	FAKE_EXPECT_EMPTY(w, channel);
}

void fake_expect_ids(struct fake_world *w, int source, int target)
{
	KUNIT_EXPECT_EQ(w->test, source, atomic_read(&w->source->n_ids));
	KUNIT_EXPECT_EQ(w->test, target, atomic_read(&w->target->n_ids));
}

/*
 * Worlds
 */

struct ucmx_channel *fake_channel(struct fake_world *world)
{
	struct ucmx_channel *channel = ucmx_channel_create();

	KUNIT_ASSERT_NOT_NULL(world->test, channel);
	return channel;
}

/* Close a channel and see that it is left with nothing. */
void fake_close(struct fake_world *world, struct ucmx_channel *channel)
{
	struct kunit *test = world->test;

	if (world->source == channel)
		world->source = NULL;
	if (world->target == channel)
		world->target = NULL;
	ucmx_channel_get(channel);
	ucmx_channel_close(channel, true);
	fake_core_settle();
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&channel->n_ids));
	KUNIT_EXPECT_EQ(test, 0, (int)channel->n_pending);
	KUNIT_EXPECT_EQ(test, 0, (int)channel->n_outstanding);
	KUNIT_EXPECT_TRUE(test, list_empty(&channel->ids));
	KUNIT_EXPECT_TRUE(test, list_empty(&channel->events));
	KUNIT_EXPECT_EQ(test, 1, (int)refcount_read(&channel->ref));
	ucmx_channel_put(channel);
}

int fake_init(struct kunit *test)
{
	struct fake_world *world = kunit_kzalloc(test, sizeof(*world), GFP_KERNEL);

	if (!world)
		return -ENOMEM;
	world->test = test;
	init_completion(&world->slow);
	INIT_LIST_HEAD(&world->bufs);
	INIT_LIST_HEAD(&world->threads);
	test->priv = world;
	world->source = fake_channel(world);
	world->target = fake_channel(world);
	world->objects = atomic_read(&fake_objects);
	return 0;
}

/* Also runs after a test that was broken off, so anything may be under way. */
void fake_exit(struct kunit *test)
{
	struct fake_world *world = test->priv;

	if (!world)
		return;
	atomic_set(&fake_failing_allocs, 0);
	atomic_set(&fake_looks_until_late, -1);
	fake_threads_end(world);
	if (world->source)
		fake_close(world, world->source);
	if (world->target)
		fake_close(world, world->target);
	fake_core_settle();
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&world->live));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&world->wrong));
	KUNIT_EXPECT_EQ(test, 0, fake_core_ids());
	KUNIT_EXPECT_FALSE(test, fake_core_has_handles());
	KUNIT_EXPECT_FALSE(test, fake_core_has_users());
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&fake_events));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&fake_objects));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&fake_pids));
}
