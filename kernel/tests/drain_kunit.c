// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The wait of a migration: what it waits for, what is held meanwhile, and how it
 * can end.  And who it is that does what a destroy waits for.
 */
#include "fake.h"

static const struct ucmx_move nonblock = { .wait.nonblock = true };

static void c08_waits_until_acknowledged(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_busy_id(w);
	struct fake_thread *mover = fake_start_waiting(w, id, w->target, NULL);

	FAKE_EXPECT_EMPTY(w, w->source);
	FAKE_EXPECT_EMPTY(w, w->target);
	KUNIT_EXPECT_FALSE(test, fake_done(mover));
	fake_expect_ids(w, 1, 1);
	fake_ack(w, w->source, id->handle, 1);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(mover));
	KUNIT_EXPECT_EQ(test, 0u, w->source->n_outstanding);
	FAKE_EXPECT_EMPTY(w, w->source);
	fake_expect_events(w, w->target, id, 2, 2);
	fake_expect_ids(w, 0, 1);
}

static void c08_waits_for_every_outstanding_event(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_busy_id(w);
	struct fake_thread *mover;

	FAKE_EXPECT_READ(w, w->source, id->handle, 2, 2);
	mover = fake_start_waiting(w, id, w->target, NULL);
	fake_ack(w, w->source, id->handle, 2);
	FAKE_UNTIL(w, fake_sleeps(mover));
	KUNIT_EXPECT_TRUE(test, fake_migrating(id));
	fake_ack(w, w->source, id->handle, 1);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(mover));
	fake_expect_events(w, w->target, id, 3, 1);
}

static void c07_events_that_come_meanwhile_are_held(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_busy_id(w), *other = fake_id(w, w->source);
	struct fake_thread *mover = fake_start_waiting(w, id, w->target, NULL);

	fake_raise(w, id, 4);
	fake_raise_urgent(w, id, 5);
	fake_raise(w, other, 1);
	KUNIT_EXPECT_EQ(test, 4u, fake_info(id).pending);
	KUNIT_EXPECT_EQ(test, 1u, w->source->n_pending);
	fake_expect_events(w, w->source, other, 1, 1);
	FAKE_EXPECT_EMPTY(w, w->target);
	fake_ack(w, w->source, id->handle, 1);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(mover));
	fake_expect_events(w, w->target, id, 2, 4);
}

static void c13_target_takes_acks_while_it_waits(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_channel *third = fake_channel(w);
	struct ucmx_id *id = fake_busy_id(w);
	struct fake_thread *mover;

	KUNIT_EXPECT_EQ(test, -ENOENT,
			ucmx_channel_ack(w->target, id->handle, 1));
	mover = fake_start_waiting(w, id, w->target, NULL);
	KUNIT_EXPECT_EQ(test, -ENOENT, ucmx_channel_ack(third, id->handle, 1));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			ucmx_channel_ack(w->target, id->handle, 2));
	fake_ack(w, w->target, id->handle, 1);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(mover));
	KUNIT_EXPECT_EQ(test, -ENOENT,
			ucmx_channel_ack(w->source, id->handle, 0));
	fake_expect_events(w, w->target, id, 2, 2);
	fake_close(w, third);
}

/*
 * Failing
 */

/* The events arrive again at the tail, and whoever waits for them is woken. */
static void expect_thawed(struct fake_world *w, struct ucmx_id *id,
			  struct fake_thread *reader)
{
	KUNIT_EXPECT_GT(w->test, fake_join(reader), 0l);
	KUNIT_EXPECT_EQ(w->test, 2u,
			((struct rdma_ucmx_event *)reader->buf->data)->event);
	KUNIT_EXPECT_FALSE(w->test, fake_migrating(id));
	FAKE_EXPECT_EMPTY(w, w->target);
	fake_expect_ids(w, 2, 0);
	fake_ack(w, w->source, id->handle, 1);
}

static void c08_signal_ends_it(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_busy_id(w), *other = fake_id(w, w->source);
	struct fake_thread *mover, *reader;

	fake_raise(w, other, 1);
	mover = fake_start_waiting(w, id, w->target, NULL);
	fake_raise(w, id, 4);
	FAKE_EXPECT_READ(w, w->source, other->handle, 1, 1);
	reader = fake_start_read(w, w->source, fake_buf(w));
	FAKE_UNTIL(w, fake_sleeps(reader));
	fake_signal(mover);
	KUNIT_EXPECT_EQ(test, (long)-ERESTARTSYS, fake_join(mover));
	expect_thawed(w, id, reader);
	fake_expect_events(w, w->source, id, 3, 2);
}

/*
 * A migration that waits and will time out; one that was too late to be seen
 * waiting is tried again with more time.
 */
static struct fake_thread *start_timed(struct fake_world *w, struct ucmx_id *id)
{
	struct ucmx_move move = {};
	struct fake_thread *mover;
	u64 time = NSEC_PER_SEC / 5;

	for (;;) {
		move.wait.deadline = ktime_get_ns() + time;
		mover = fake_start_migrate(w, w->source, id->handle, w->target,
					   &move);
		FAKE_UNTIL(w, fake_migrating(id) || fake_done(mover));
		if (!fake_done(mover))
			return mover;
		fake_join(mover);
		time *= 4;
	}
}

static void c08_deadline_ends_it(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_busy_id(w), *other = fake_id(w, w->source);
	struct fake_thread *mover, *reader;

	fake_raise(w, other, 1);
	mover = start_timed(w, id);
	FAKE_EXPECT_READ(w, w->source, other->handle, 1, 1);
	reader = fake_start_read(w, w->source, fake_buf(w));
	KUNIT_EXPECT_EQ(test, (long)-ETIMEDOUT, fake_join(mover));
	KUNIT_EXPECT_GE(test, ktime_get_ns(), mover->move.wait.deadline);
	expect_thawed(w, id, reader);
	fake_expect_events(w, w->source, id, 3, 1);
}

/* Nothing moves when the call fails without having waited. */
static void expect_nothing_moved(struct fake_world *w, int err,
				 const struct ucmx_move *move)
{
	struct ucmx_id *id = fake_busy_id(w), *other = fake_id(w, w->source);

	fake_raise(w, other, 1);
	KUNIT_EXPECT_EQ(w->test, err,
			ucmx_id_migrate(w->source, id->handle, w->target,
					move));
	KUNIT_EXPECT_EQ(w->test, err,
			ucmx_id_migrate(w->source, id->handle, w->source,
					move));
	KUNIT_EXPECT_FALSE(w->test, fake_migrating(id));
	FAKE_EXPECT_READ(w, w->source, id->handle, 2, 2);
	FAKE_EXPECT_READ(w, w->source, id->handle, 3, 3);
	FAKE_EXPECT_READ(w, w->source, other->handle, 1, 1);
	FAKE_EXPECT_EMPTY(w, w->target);
	fake_expect_ids(w, 2, 0);
}

static void c08_nonblocking_is_eagain(struct kunit *test)
{
	expect_nothing_moved(test->priv, -EAGAIN, &nonblock);
}

static void c08_past_deadline_is_etimedout(struct kunit *test)
{
	const struct ucmx_move move = { .wait.deadline = 1 };

	expect_nothing_moved(test->priv, -ETIMEDOUT, &move);
}

static void c08_past_deadline_does_not_matter_to_an_idle_id(struct kunit *test)
{
	const struct ucmx_move move = { .wait.deadline = 1 };
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);

	KUNIT_EXPECT_EQ(test, 0,
			ucmx_id_migrate(w->source, id->handle, w->target,
					&move));
}

static void c08_deadline_at_the_end_of_time(struct kunit *test)
{
	const struct ucmx_move move = { .wait.deadline = U64_MAX };
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_busy_id(w);
	struct fake_thread *mover = fake_start_waiting(w, id, w->target, &move);

	fake_ack(w, w->source, id->handle, 1);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(mover));
}

/* Put back into a frozen id; it then moves, first of the id's events. */
static void c02_put_back_while_it_waits_moves(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct fake_thread *reader, *mover;

	fake_raise(w, id, 1);
	fake_raise(w, id, 2);
	reader = fake_start_copy(w, w->source, true);
	mover = fake_start_waiting(w, id, w->target, NULL);
	fake_raise(w, id, 3);
	complete(&reader->buf->go);
	KUNIT_EXPECT_EQ(test, (long)-EFAULT, fake_join(reader));
	KUNIT_EXPECT_EQ(test, 0l, fake_join(mover));
	FAKE_EXPECT_EMPTY(w, w->source);
	fake_expect_events(w, w->target, id, 1, 3);
}

/* Put back after a thaw; the others of its id are at the tail by then. */
static void c02_put_back_after_a_thaw_is_first(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source), *other;
	struct fake_thread *reader, *mover;

	other = fake_id(w, w->source);
	fake_raise(w, id, 1);
	fake_raise(w, id, 2);
	fake_raise(w, other, 1);
	reader = fake_start_copy(w, w->source, true);
	mover = fake_start_waiting(w, id, w->target, NULL);
	fake_signal(mover);
	KUNIT_EXPECT_EQ(test, (long)-ERESTARTSYS, fake_join(mover));
	complete(&reader->buf->go);
	KUNIT_EXPECT_EQ(test, (long)-EFAULT, fake_join(reader));
	FAKE_EXPECT_READ(w, w->source, id->handle, 1, 1);
	FAKE_EXPECT_READ(w, w->source, other->handle, 1, 1);
	fake_expect_events(w, w->source, id, 2, 1);
}

/* By whoever destroys it, if the release waits for nobody; else by a worker. */
static void c17_who_releases(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);

	KUNIT_EXPECT_EQ(test, 0,
			ucmx_id_destroy(w->source, id->handle, &nonblock.wait));
	KUNIT_EXPECT_PTR_NE(test, current, READ_ONCE(w->releaser));
	WRITE_ONCE(w->quick_release, true);
	id = fake_id(w, w->source);
	KUNIT_EXPECT_EQ(test, 0,
			ucmx_id_destroy(w->source, id->handle, &nonblock.wait));
	KUNIT_EXPECT_PTR_EQ(test, current, READ_ONCE(w->releaser));
	KUNIT_EXPECT_EQ(test, 2, atomic_read(&w->released));
}

/* A command that is at work has the last word, and leaves it to a worker. */
static void c17_not_during_a_command(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct fake_thread *destroyer;

	WRITE_ONCE(w->quick_release, true);
	KUNIT_ASSERT_PTR_EQ(test, id, ucmx_id_begin(w->source, id->handle));
	destroyer = fake_start_destroy(w, w->source, id->handle, NULL);
	FAKE_UNTIL(w, fake_info(id).state & RDMA_UCMX_ID_DYING &&
		   fake_sleeps(destroyer));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&w->released));
	ucmx_id_end(id);
	KUNIT_EXPECT_EQ(test, 0L, fake_join(destroyer));
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&w->released));
	KUNIT_EXPECT_PTR_NE(test, current, READ_ONCE(w->releaser));
	KUNIT_EXPECT_PTR_NE(test, destroyer->task, READ_ONCE(w->releaser));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(c08_waits_until_acknowledged),
	KUNIT_CASE(c08_waits_for_every_outstanding_event),
	KUNIT_CASE(c07_events_that_come_meanwhile_are_held),
	KUNIT_CASE(c13_target_takes_acks_while_it_waits),
	KUNIT_CASE(c08_signal_ends_it),
	KUNIT_CASE(c08_deadline_ends_it),
	KUNIT_CASE(c08_nonblocking_is_eagain),
	KUNIT_CASE(c08_past_deadline_is_etimedout),
	KUNIT_CASE(c08_past_deadline_does_not_matter_to_an_idle_id),
	KUNIT_CASE(c08_deadline_at_the_end_of_time),
	KUNIT_CASE(c02_put_back_while_it_waits_moves),
	KUNIT_CASE(c02_put_back_after_a_thaw_is_first),
	KUNIT_CASE(c17_who_releases),
	KUNIT_CASE(c17_not_during_a_command),
	{}
};

FAKE_SUITE(ucmx_drain, cases);
