// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Announced migrations, and claiming what has arrived.
 */
#include "fake.h"

#define ARRIVED	RDMA_UCMX_EVENT_TYPE_ARRIVED

/* As the command does it: the announcement's room comes before all else. */
static int announce(struct fake_world *w, struct ucmx_id *id,
		    struct ucmx_channel *source, struct ucmx_channel *target,
		    const struct ucmx_move *how)
{
	struct ucmx_move move = *how;
	int err;

	move.announcement = ucmx_event_alloc(UCMX_ROOM_NONE, UCMX_RECORD_MAX,
					     GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(w->test, move.announcement);
	err = ucmx_id_migrate(source, id->handle, target, &move);
	if (err)
		ucmx_event_free(move.announcement);
	return err;
}

static const struct ucmx_move nonblock = { .wait.nonblock = true };

static long do_announce(struct fake_thread *thread)
{
	return announce(thread->world, thread->arg, thread->channel,
			thread->target, &thread->move);
}

/* An announced migration of an id, which waits or has not to. */
static struct fake_thread *start_announcing(struct fake_world *w,
					    struct ucmx_id *id,
					    struct ucmx_channel *target)
{
	struct fake_thread *thread = fake_thread(w, do_announce);

	thread->arg = id;
	thread->channel = w->source;
	thread->target = target;
	fake_go(thread);
	FAKE_UNTIL(w, fake_done(thread) ||
		   (fake_migrating(id) && fake_sleeps(thread)));
	return thread;
}

/* Nothing was announced, and @id is on the source with @n events from @first. */
static void expect_not_announced(struct fake_world *w, struct ucmx_id *id,
				 int first, int n)
{
	KUNIT_EXPECT_FALSE(w->test, fake_migrating(id));
	FAKE_EXPECT_EMPTY(w, w->target);
	fake_expect_events(w, w->source, id, first, n);
}

/* Its number is the latest, its place before what is pending. */
static void c16_arrived_is_read_first(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct ucmx_id *there = fake_id(w, w->target);
	struct rdma_ucmx_event event;

	fake_raise(w, there, 1);
	fake_raise(w, id, 1);
	fake_raise(w, id, 2);
	KUNIT_EXPECT_EQ(test, 0,
			announce(w, id, w->source, w->target, &nonblock));
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&w->described));
	fake_raise(w, id, 4);
	FAKE_EXPECT_EMPTY(w, w->source);
	FAKE_EXPECT_READ(w, w->target, there->handle, 1, 1);
	KUNIT_EXPECT_EQ(test, (ssize_t)sizeof(event),
			fake_read(w->target, &event));
	KUNIT_EXPECT_EQ(test, (u32)ARRIVED, event.event);
	KUNIT_EXPECT_EQ(test, 3ull, event.seq);
	KUNIT_EXPECT_EQ(test, id->handle, event.id);
	KUNIT_EXPECT_EQ(test, fake_cookie(id->handle), event.cookie);
	FAKE_EXPECT_READ(w, w->target, id->handle, 1, 1);
	FAKE_EXPECT_READ(w, w->target, id->handle, 2, 2);
	fake_expect_events(w, w->target, id, 4, 1);
	/* It is an event like others. */
	KUNIT_EXPECT_EQ(test, 4u, fake_info(id).outstanding);
	fake_ack(w, w->target, id->handle, 3);
}

/* An id that has no events is learned of, whoever waits for it. */
static void c16_arrived_wakes_who_waits(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct fake_thread *reader;

	reader = fake_start_read(w, w->target, fake_buf(w));
	FAKE_UNTIL(w, fake_sleeps(reader));
	KUNIT_EXPECT_EQ(test, 0,
			announce(w, id, w->source, w->target, &nonblock));
	KUNIT_EXPECT_EQ(test, (long)sizeof(struct rdma_ucmx_event),
			fake_join(reader));
	KUNIT_EXPECT_EQ(test, (u32)ARRIVED,
			((struct rdma_ucmx_event *)reader->buf->data)->event);
	FAKE_EXPECT_EMPTY(w, w->target);
}

static void c16_announced_after_the_wait(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_busy_id(w);
	struct fake_thread *mover = start_announcing(w, id, w->target);

	KUNIT_EXPECT_EQ(test, 0, atomic_read(&w->described));
	fake_raise(w, id, 4);
	FAKE_EXPECT_EMPTY(w, w->target);
	fake_ack(w, w->target, id->handle, 1);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(mover));
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&w->described));
	FAKE_EXPECT_READ(w, w->target, id->handle, ARRIVED, 5);
	fake_expect_events(w, w->target, id, 2, 3);
}

/* What comes while the announcement is written comes with the others. */
static void raise_one(struct fake_world *w, struct ucmx_id *id)
{
	KUNIT_EXPECT_TRUE(w->test, fake_migrating(id));
	fake_raise(w, id, 2);
	FAKE_EXPECT_EMPTY(w, w->source);
	FAKE_EXPECT_EMPTY(w, w->target);
}

static void c16_event_while_it_is_described(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);

	w->on_describe = raise_one;
	fake_raise(w, id, 1);
	KUNIT_EXPECT_EQ(test, 0,
			announce(w, id, w->source, w->target, &nonblock));
	FAKE_EXPECT_READ(w, w->target, id->handle, ARRIVED, 3);
	fake_expect_events(w, w->target, id, 1, 2);
}

static void c16_announced_on_the_same_channel(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source), *other;

	other = fake_id(w, w->source);
	fake_raise(w, id, 1);
	fake_raise(w, other, 1);
	KUNIT_EXPECT_EQ(test, 0,
			announce(w, id, w->source, w->source, &nonblock));
	fake_expect_ids(w, 2, 0);
	FAKE_EXPECT_READ(w, w->source, other->handle, 1, 1);
	FAKE_EXPECT_READ(w, w->source, id->handle, ARRIVED, 2);
	fake_expect_events(w, w->source, id, 1, 1);
}

/* From one to the next before anybody has read. */
static void c16_announced_again(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);

	fake_raise(w, id, 1);
	KUNIT_EXPECT_EQ(test, 0,
			announce(w, id, w->source, w->target, &nonblock));
	KUNIT_EXPECT_EQ(test, 0,
			announce(w, id, w->target, w->source, &nonblock));
	FAKE_EXPECT_EMPTY(w, w->target);
	FAKE_EXPECT_READ(w, w->source, id->handle, ARRIVED, 3);
	FAKE_EXPECT_READ(w, w->source, id->handle, ARRIVED, 2);
	fake_expect_events(w, w->source, id, 1, 1);
}

/*
 * Failing
 */

static void c16_failed_call_announces_nothing(struct kunit *test)
{
	const struct ucmx_move late = { .wait.deadline = 1 };
	const struct ucmx_move not_held = { .wait.held_seq = 3 };
	struct fake_world *w = test->priv;
	unsigned int limit = ucmx_max_channel_ids;
	struct ucmx_id *id = fake_busy_id(w);

	KUNIT_EXPECT_EQ(test, -EAGAIN,
			announce(w, id, w->source, w->target, &nonblock));
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT,
			announce(w, id, w->source, w->target, &late));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			announce(w, id, w->source, w->target, &not_held));
	fake_ack(w, w->source, id->handle, 1);
	ucmx_max_channel_ids = 0;
	KUNIT_EXPECT_EQ(test, -ENOSPC,
			announce(w, id, w->source, w->target, &nonblock));
	ucmx_max_channel_ids = limit;
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&w->described));
	fake_expect_ids(w, 1, 0);
	expect_not_announced(w, id, 2, 2);
	KUNIT_EXPECT_EQ(test, 3ull, id->seq);
}

static void c16_interrupted_wait_announces_nothing(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_busy_id(w);
	struct fake_thread *mover = start_announcing(w, id, w->target);

	fake_raise(w, id, 4);
	fake_signal(mover);
	KUNIT_EXPECT_EQ(test, (long)-ERESTARTSYS, fake_join(mover));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&w->described));
	fake_expect_ids(w, 1, 0);
	expect_not_announced(w, id, 2, 3);
	KUNIT_EXPECT_EQ(test, 4ull, id->seq);
}

static struct fake_world *late_world;
static u32 late_handle;

static void acknowledge_late(void)
{
	fake_ack(late_world, late_world->source, late_handle, 1);
}

/* The deadline has passed, and one look finds that nothing is waited for. */
static void c08_acknowledged_at_the_last_look(struct kunit *test)
{
	const struct ucmx_move move = { .wait.deadline = fake_soon() };
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_busy_id(w);

	late_world = w;
	late_handle = id->handle;
	fake_when_late = acknowledge_late;
	/* The time is looked at before the freeze, too. */
	atomic_set(&fake_looks_until_late, 1);
	KUNIT_EXPECT_EQ(test, 0, announce(w, id, w->source, w->target, &move));
	KUNIT_EXPECT_EQ(test, -1, atomic_read(&fake_looks_until_late));
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&w->described));
	fake_expect_ids(w, 0, 1);
	FAKE_EXPECT_EMPTY(w, w->source);
	FAKE_EXPECT_READ(w, w->target, id->handle, ARRIVED, 4);
	fake_expect_events(w, w->target, id, 2, 2);
}

/* What is described must hold still: commands change it. */
static void c16_described_between_commands(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct fake_thread *mover;

	KUNIT_ASSERT_PTR_EQ(test, id, ucmx_id_begin(w->source, id->handle));
	mover = start_announcing(w, id, w->target);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&w->described));
	ucmx_id_end(id);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(mover));
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&w->described));
	FAKE_EXPECT_READ(w, w->target, id->handle, ARRIVED, 1);
}

static void c08_wait_for_a_command_is_interrupted(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct fake_thread *mover;

	fake_raise(w, id, 1);
	KUNIT_ASSERT_PTR_EQ(test, id, ucmx_id_begin(w->source, id->handle));
	mover = start_announcing(w, id, w->target);
	fake_signal(mover);
	KUNIT_EXPECT_EQ(test, (long)-ERESTARTSYS, fake_join(mover));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&w->described));
	expect_not_announced(w, id, 1, 1);
	ucmx_id_end(id);
}

/* Destroyed while it waits, and while its announcement is written. */
static void c12_destroyed_id_is_not_announced(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_busy_id(w);
	struct fake_thread *mover = start_announcing(w, id, w->target);
	struct fake_thread *destroyer;

	destroyer = fake_start_destroy(w, w->source, id->handle, NULL);
	KUNIT_EXPECT_EQ(test, (long)-ECANCELED, fake_join(mover));
	fake_ack(w, w->source, id->handle, 1);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(destroyer));
	FAKE_EXPECT_EMPTY(w, w->target);
	fake_expect_ids(w, 0, 0);
}

static void destroy_now(struct fake_world *w, struct ucmx_id *id)
{
	fake_destroy(w, w->source, id->handle);
}

static void c12_destroyed_while_it_is_described(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);

	w->on_describe = destroy_now;
	fake_raise(w, id, 1);
	KUNIT_EXPECT_EQ(test, -ECANCELED,
			announce(w, id, w->source, w->target, &nonblock));
	FAKE_EXPECT_EMPTY(w, w->source);
	FAKE_EXPECT_EMPTY(w, w->target);
	fake_expect_ids(w, 0, 0);
	fake_core_settle();
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&w->live));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&fake_events));
}

/*
 * Claiming
 */

/* A child whose request was read, with two held events. */
static struct ucmx_id *unclaimed(struct fake_world *w)
{
	struct ucmx_id *listener = fake_listener(w, w->source, 1), *child;

	KUNIT_ASSERT_EQ(w->test, 0, fake_request(w, listener, 4, &child));
	FAKE_EXPECT_READ(w, w->source, child->handle, 4, 1);
	fake_raise(w, child, 1);
	fake_raise(w, child, 2);
	FAKE_EXPECT_EMPTY(w, w->source);
	return child;
}

/* The announcement is delivered at once, what is held when it is adopted. */
static void c16_adopt_delivers_what_was_held(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *child = unclaimed(w);
	struct rdma_ucmx_event event;

	KUNIT_EXPECT_EQ(test, 0,
			announce(w, child, w->source, w->target, &nonblock));
	FAKE_EXPECT_READ(w, w->target, child->handle, ARRIVED, 3);
	FAKE_EXPECT_EMPTY(w, w->target);
	KUNIT_EXPECT_EQ(test, (u32)RDMA_UCMX_ID_UNCLAIMED,
			fake_info(child).state);
	KUNIT_EXPECT_EQ(test, 0, ucmx_id_adopt(w->target, child, 7));
	KUNIT_EXPECT_EQ(test, 0u, fake_info(child).state);
	KUNIT_EXPECT_GT(test, fake_read(w->target, &event), (ssize_t)0);
	KUNIT_EXPECT_EQ(test, 1ull, event.seq);
	KUNIT_EXPECT_EQ(test, 7ull, event.cookie);
	fake_expect_events(w, w->target, child, 2, 1);
}

/* Adopting gives a claimed id another cookie, too; claiming does not. */
static void c16_adopt_changes_the_cookie(struct kunit *test)
{
	const struct ucmx_wait late = { .deadline = 1 };
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct rdma_ucmx_event event;

	fake_raise(w, id, 1);
	fake_raise(w, id, 2);
	ucmx_id_claim(id, 6);
	KUNIT_EXPECT_EQ(test, fake_cookie(id->handle), fake_info(id).cookie);
	KUNIT_EXPECT_EQ(test, 0, ucmx_id_adopt(w->source, id, 7));
	KUNIT_EXPECT_GT(test, fake_read(w->source, &event), (ssize_t)0);
	KUNIT_EXPECT_EQ(test, 7ull, event.cookie);
	fake_expect_events(w, w->source, id, 2, 1);
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT,
			ucmx_id_destroy(w->source, id->handle, &late));
	KUNIT_EXPECT_EQ(test, -ENOENT, ucmx_id_adopt(w->source, id, 8));
	KUNIT_EXPECT_EQ(test, 7ull, fake_info(id).cookie);
	fake_ack(w, w->source, id->handle, 0);
}

/* A cookie with the migration claims, so that all of it comes in order. */
/* The command had begun on the source; the target has a cookie of its own. */
static void c01_not_adopted_after_the_commit(struct kunit *test)
{
	const struct ucmx_move move = {
		.wait.nonblock = true, .set_cookie = true, .cookie = 8
	};
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);

	KUNIT_ASSERT_PTR_EQ(test, id, ucmx_id_begin(w->source, id->handle));
	KUNIT_EXPECT_EQ(test, 0,
			ucmx_id_migrate(w->source, id->handle, w->target,
					&move));
	KUNIT_EXPECT_EQ(test, -ENOENT, ucmx_id_adopt(w->source, id, 7));
	KUNIT_EXPECT_EQ(test, 8ull, fake_info(id).cookie);
	KUNIT_EXPECT_EQ(test, 0, ucmx_id_adopt(w->target, id, 9));
	KUNIT_EXPECT_EQ(test, 9ull, fake_info(id).cookie);
	ucmx_id_end(id);
}

static void c16_announced_with_a_cookie(struct kunit *test)
{
	const struct ucmx_move move = {
		.wait.nonblock = true, .set_cookie = true, .cookie = 9
	};
	struct fake_world *w = test->priv;
	struct ucmx_id *child = unclaimed(w);
	struct rdma_ucmx_event event;

	KUNIT_EXPECT_EQ(test, 0,
			announce(w, child, w->source, w->target, &move));
	KUNIT_EXPECT_GT(test, fake_read(w->target, &event), (ssize_t)0);
	KUNIT_EXPECT_EQ(test, (u32)ARRIVED, event.event);
	KUNIT_EXPECT_EQ(test, 9ull, event.cookie);
	fake_expect_events(w, w->target, child, 1, 2);
}

/* Adopted by who got it with an event in the migrator's hand. */
static void c16_announced_with_a_held_event(struct kunit *test)
{
	const struct ucmx_move move = {
		.wait = { .nonblock = true, .held_seq = 1 }
	};
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_busy_id(w);

	KUNIT_EXPECT_EQ(test, 0,
			announce(w, id, w->source, w->target, &move));
	KUNIT_EXPECT_EQ(test, 0u, fake_info(id).outstanding);
	FAKE_EXPECT_READ(w, w->target, id->handle, ARRIVED, 4);
	fake_expect_events(w, w->target, id, 2, 2);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(c16_arrived_is_read_first),
	KUNIT_CASE(c16_arrived_wakes_who_waits),
	KUNIT_CASE(c16_announced_after_the_wait),
	KUNIT_CASE(c16_event_while_it_is_described),
	KUNIT_CASE(c16_announced_on_the_same_channel),
	KUNIT_CASE(c16_announced_again),
	KUNIT_CASE(c16_failed_call_announces_nothing),
	KUNIT_CASE(c16_interrupted_wait_announces_nothing),
	KUNIT_CASE(c08_acknowledged_at_the_last_look),
	KUNIT_CASE(c16_described_between_commands),
	KUNIT_CASE(c08_wait_for_a_command_is_interrupted),
	KUNIT_CASE(c12_destroyed_id_is_not_announced),
	KUNIT_CASE(c12_destroyed_while_it_is_described),
	KUNIT_CASE(c16_adopt_delivers_what_was_held),
	KUNIT_CASE(c16_adopt_changes_the_cookie),
	KUNIT_CASE(c01_not_adopted_after_the_commit),
	KUNIT_CASE(c16_announced_with_a_cookie),
	KUNIT_CASE(c16_announced_with_a_held_event),
	{}
};

FAKE_SUITE(ucmx_announce, cases);
