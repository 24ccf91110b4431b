// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The end of an id: destroyed, with its channel closed, its device removed.
 */
#include "fake.h"

static const struct ucmx_wait nonblock = { .nonblock = true };
static const struct ucmx_wait late = { .deadline = 1 };

static bool dying(struct ucmx_id *id)
{
	return fake_info(id).state & RDMA_UCMX_ID_DYING;
}

/* A destroy that waits for what is outstanding. */
static struct fake_thread *start_destroying(struct fake_world *w,
					    struct ucmx_id *id,
					    const struct ucmx_wait *wait)
{
	struct fake_thread *thread;

	thread = fake_start_destroy(w, w->source, id->handle, wait);
	FAKE_UNTIL(w, dying(id) && fake_sleeps(thread));
	return thread;
}

static void c17_destroy_of_an_idle_id(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source), *other;
	u32 handle = id->handle;

	other = fake_id(w, w->source);
	fake_raise(w, id, 1);
	fake_raise(w, other, 1);
	fake_raise(w, id, 2);
	KUNIT_EXPECT_EQ(test, 0, ucmx_id_destroy(w->source, handle, &nonblock));
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&w->released));
	fake_expect_ids(w, 1, 0);
	KUNIT_EXPECT_EQ(test, -ENOENT,
			ucmx_id_destroy(w->source, handle, &nonblock));
	fake_expect_events(w, w->source, other, 1, 1);
	fake_core_settle();
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&w->live));
}

static void c17_nonblocking_is_eagain_and_changes_nothing(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_busy_id(w);

	KUNIT_EXPECT_EQ(test, -EAGAIN,
			ucmx_id_destroy(w->source, id->handle, &nonblock));
	KUNIT_EXPECT_FALSE(test, dying(id));
	fake_raise(w, id, 4);
	fake_expect_events(w, w->source, id, 2, 3);
}

static void c17_destroy_waits_for_acknowledgements(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_busy_id(w);
	struct fake_thread *destroyer = start_destroying(w, id, NULL);
	const struct ucmx_move move = { .wait.nonblock = true };

	FAKE_EXPECT_EMPTY(w, w->source);
	KUNIT_EXPECT_EQ(test, -ENOENT, ucmx_event_raise(id, fake_event(w, 4)));
	KUNIT_EXPECT_EQ(test, -ENOENT,
			PTR_ERR_OR_ZERO(ucmx_id_begin(w->source, id->handle)));
	KUNIT_EXPECT_EQ(test, -ENOENT,
			ucmx_id_migrate(w->source, id->handle, w->target,
					&move));
	KUNIT_EXPECT_EQ(test, -ENOENT,
			ucmx_id_destroy(w->target, id->handle, &nonblock));
	KUNIT_EXPECT_EQ(test, -EAGAIN,
			ucmx_id_destroy(w->source, id->handle, &nonblock));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			ucmx_channel_ack(w->source, id->handle, 2));
	/* What the id stands for is released without waiting. */
	FAKE_UNTIL(w, atomic_read(&w->released) == 1);
	fake_expect_ids(w, 1, 0);
	KUNIT_EXPECT_FALSE(test, fake_done(destroyer));
	fake_ack(w, w->source, id->handle, 1);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(destroyer));
	fake_expect_ids(w, 0, 0);
}

static void c17_interrupted_destroy_can_be_resumed(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_busy_id(w);
	struct fake_thread *destroyer = start_destroying(w, id, NULL);

	fake_signal(destroyer);
	KUNIT_EXPECT_EQ(test, (long)-ERESTARTSYS, fake_join(destroyer));
	KUNIT_EXPECT_TRUE(test, dying(id));
	KUNIT_EXPECT_EQ(test, 1u, fake_info(id).outstanding);
	destroyer = start_destroying(w, id, NULL);
	fake_ack(w, w->source, id->handle, 1);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(destroyer));
	fake_expect_ids(w, 0, 0);
}

static void c17_last_ack_frees_what_timed_out(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_busy_id(w);
	u32 handle = id->handle;

	KUNIT_EXPECT_EQ(test, -ETIMEDOUT,
			ucmx_id_destroy(w->source, handle, &late));
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT,
			ucmx_id_destroy(w->source, handle, &late));
	FAKE_EXPECT_EMPTY(w, w->source);
	FAKE_UNTIL(w, atomic_read(&w->released) == 1);
	fake_core_settle();
	fake_ack(w, w->source, handle, 1);
	fake_expect_ids(w, 0, 0);
	fake_core_settle();
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&w->live));
	KUNIT_EXPECT_EQ(test, -ENOENT, ucmx_channel_ack(w->source, handle, 1));
	KUNIT_EXPECT_EQ(test, -ENOENT,
			ucmx_id_destroy(w->source, handle, &nonblock));
}

static void c17_two_destroys_both_succeed(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_busy_id(w);
	struct fake_thread *first = start_destroying(w, id, NULL);
	struct fake_thread *second = start_destroying(w, id, NULL);

	fake_ack(w, w->source, id->handle, 0);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(first));
	KUNIT_EXPECT_EQ(test, 0l, fake_join(second));
}

static void c17_held_event_counts(struct kunit *test)
{
	struct ucmx_wait wait = { .nonblock = true, .held_seq = 2 };
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_busy_id(w);
	struct fake_thread *destroyer;

	KUNIT_EXPECT_EQ(test, -EINVAL,
			ucmx_id_destroy(w->source, id->handle, &wait));
	FAKE_EXPECT_READ(w, w->source, id->handle, 2, 2);
	KUNIT_EXPECT_EQ(test, -EAGAIN,
			ucmx_id_destroy(w->source, id->handle, &wait));
	KUNIT_EXPECT_FALSE(test, dying(id));
	wait.nonblock = false;
	destroyer = start_destroying(w, id, &wait);
	fake_signal(destroyer);
	KUNIT_EXPECT_EQ(test, (long)-ERESTARTSYS, fake_join(destroyer));
	KUNIT_EXPECT_EQ(test, 2u, fake_info(id).outstanding);
	destroyer = start_destroying(w, id, &wait);
	fake_ack(w, w->source, id->handle, 1);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(destroyer));
	fake_expect_ids(w, 0, 0);
}

static void c17_held_event_acknowledged_meanwhile(struct kunit *test)
{
	const struct ucmx_wait wait = { .held_seq = 1 };
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_busy_id(w);
	struct fake_thread *destroyer;

	FAKE_EXPECT_READ(w, w->source, id->handle, 2, 2);
	destroyer = start_destroying(w, id, &wait);
	fake_ack(w, w->source, id->handle, 1);
	FAKE_UNTIL(w, fake_sleeps(destroyer));
	fake_ack(w, w->source, id->handle, 2);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(destroyer));
	fake_expect_ids(w, 0, 0);
}

static void c17_destroy_waits_for_a_copy(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct fake_thread *reader, *destroyer;

	fake_raise(w, id, 1);
	fake_raise(w, id, 2);
	reader = fake_start_copy(w, w->source, false);
	KUNIT_EXPECT_EQ(test, -EAGAIN,
			ucmx_id_destroy(w->source, id->handle, &nonblock));
	destroyer = start_destroying(w, id, NULL);
	complete(&reader->buf->go);
	KUNIT_EXPECT_GT(test, fake_join(reader), 0l);
	KUNIT_EXPECT_EQ(test, 1u, fake_info(id).outstanding);
	fake_ack(w, w->source, id->handle, 1);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(destroyer));
}

/* Put back into a dying id: dropped, like what was pending. */
static void c17_put_back_of_a_dying_id(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct fake_thread *reader, *destroyer;

	fake_raise(w, id, 1);
	fake_raise(w, id, 2);
	reader = fake_start_copy(w, w->source, true);
	destroyer = start_destroying(w, id, NULL);
	complete(&reader->buf->go);
	KUNIT_EXPECT_EQ(test, (long)-EFAULT, fake_join(reader));
	KUNIT_EXPECT_EQ(test, 0l, fake_join(destroyer));
	FAKE_EXPECT_EMPTY(w, w->source);
	fake_expect_ids(w, 0, 0);
}

/* Nobody but the reader's event is left to keep a dying id. */
static void c17_copy_of_a_dying_id_that_nobody_waits_for(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	bool fails;
	int i;

	for (i = 0; i < 2; i++) {
		struct fake_thread *reader;

		fails = i;
		if (i)
			id = fake_id(w, w->source);
		fake_raise(w, id, 1);
		reader = fake_start_copy(w, w->source, fails);
		KUNIT_EXPECT_EQ(test, -ETIMEDOUT,
				ucmx_id_destroy(w->source, id->handle, &late));
		FAKE_UNTIL(w, atomic_read(&w->released) == i + 1);
		fake_ack(w, w->source, id->handle, 1);
		fake_core_settle();
		KUNIT_EXPECT_EQ(test, 1, atomic_read(&w->live));
		complete(&reader->buf->go);
		fake_join(reader);
		fake_core_settle();
		KUNIT_EXPECT_EQ(test, 0, atomic_read(&w->live));
		fake_expect_ids(w, 0, 0);
	}
}

static void c12_destroy_during_drain(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_busy_id(w);
	struct fake_thread *mover, *destroyer;

	mover = fake_start_waiting(w, id, w->target, NULL);
	KUNIT_EXPECT_EQ(test, -ENOENT,
			ucmx_id_destroy(w->target, id->handle, &nonblock));
	KUNIT_EXPECT_EQ(test, -EAGAIN,
			ucmx_id_destroy(w->source, id->handle, &nonblock));
	KUNIT_EXPECT_TRUE(test, fake_migrating(id));
	destroyer = fake_start_destroy(w, w->source, id->handle, NULL);
	KUNIT_EXPECT_EQ(test, (long)-ECANCELED, fake_join(mover));
	KUNIT_EXPECT_TRUE(test, dying(id));
	KUNIT_EXPECT_FALSE(test, fake_migrating(id));
	fake_expect_ids(w, 1, 0);
	FAKE_EXPECT_EMPTY(w, w->source);
	FAKE_EXPECT_EMPTY(w, w->target);
	KUNIT_EXPECT_EQ(test, -ENOENT,
			ucmx_channel_ack(w->target, id->handle, 1));
	fake_ack(w, w->source, id->handle, 1);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(destroyer));
	fake_expect_ids(w, 0, 0);
}

/* The destroyer holds the event that the migration waits for. */
static void c12_destroy_of_the_held_event_during_drain(struct kunit *test)
{
	const struct ucmx_wait wait = { .nonblock = true, .held_seq = 1 };
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_busy_id(w);
	struct fake_thread *mover;

	mover = fake_start_waiting(w, id, w->target, NULL);
	KUNIT_EXPECT_EQ(test, 0,
			ucmx_id_destroy(w->source, id->handle, &wait));
	KUNIT_EXPECT_EQ(test, (long)-ECANCELED, fake_join(mover));
	fake_core_settle();
	fake_expect_ids(w, 0, 0);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&w->live));
}

/*
 * Releasing what an id stands for
 */

static void destroy_waits_for_the_release(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct fake_thread *destroyer;

	w->slow_release = true;
	destroyer = start_destroying(w, id, NULL);
	fake_signal(destroyer);
	KUNIT_EXPECT_EQ(test, (long)-ERESTARTSYS, fake_join(destroyer));
	destroyer = start_destroying(w, id, NULL);
	fake_expect_ids(w, 1, 0);
	complete_all(&w->slow);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(destroyer));
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&w->released));
	fake_expect_ids(w, 0, 0);
}

/* Acknowledged while the release takes its time. */
static void last_ack_before_the_release(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_busy_id(w);
	struct fake_thread *destroyer;

	w->slow_release = true;
	destroyer = start_destroying(w, id, NULL);
	fake_signal(destroyer);
	KUNIT_EXPECT_EQ(test, (long)-ERESTARTSYS, fake_join(destroyer));
	fake_ack(w, w->source, id->handle, 1);
	KUNIT_EXPECT_EQ(test, -EINVAL,
			ucmx_channel_ack(w->source, id->handle, 1));
	fake_expect_ids(w, 1, 0);
	complete_all(&w->slow);
	fake_core_settle();
	fake_expect_ids(w, 0, 0);
}

static void release_waits_for_a_command(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct fake_thread *destroyer;

	KUNIT_ASSERT_PTR_EQ(test, id, ucmx_id_begin(w->source, id->handle));
	destroyer = start_destroying(w, id, NULL);
	fake_core_settle();
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&w->released));
	ucmx_id_end(id);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(destroyer));
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&w->released));
}

static void c14_removal_during_drain(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_busy_id(w);
	struct fake_thread *mover;

	mover = fake_start_waiting(w, id, w->target, NULL);
	fake_raise_urgent(w, id, 4);
	ucmx_id_device_gone(id);
	FAKE_UNTIL(w, atomic_read(&w->released) == 1);
	fake_core_settle();
	KUNIT_EXPECT_TRUE(test, fake_migrating(id));
	fake_ack(w, w->source, id->handle, 1);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(mover));
	KUNIT_EXPECT_EQ(test, -ENXIO,
			PTR_ERR_OR_ZERO(ucmx_id_begin(w->target, id->handle)));
	fake_expect_events(w, w->target, id, 2, 3);
	fake_ack(w, w->target, id->handle, 0);
	fake_migrate(w, w->target, id, w->source);
	fake_destroy(w, w->source, id->handle);
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&w->released));
	fake_expect_ids(w, 0, 0);
}

static void c14_removal_during_destroy(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_busy_id(w);
	struct fake_thread *destroyer = start_destroying(w, id, NULL);

	ucmx_id_device_gone(id);
	ucmx_id_device_gone(id);
	FAKE_UNTIL(w, atomic_read(&w->released) == 1);
	fake_ack(w, w->source, id->handle, 1);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(destroyer));
	fake_expect_ids(w, 0, 0);
}

static void c14_removal_then_destroy_with_a_command_running(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct fake_thread *destroyer;

	KUNIT_ASSERT_PTR_EQ(test, id, ucmx_id_begin(w->source, id->handle));
	ucmx_id_device_gone(id);
	destroyer = start_destroying(w, id, NULL);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&w->released));
	ucmx_id_end(id);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(destroyer));
}

/*
 * Closing, limits
 */

/* Ids in every state that an id can be in. */
static void c17_close_ends_everything(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *listener = fake_listener(w, w->source, 60);
	struct ucmx_id *id[50], *child;
	int i;

	for (i = 0; i < 50; i++) {
		id[i] = fake_id(w, w->source);
		fake_raise(w, id[i], 1);
		FAKE_EXPECT_READ(w, w->source, id[i]->handle, 1, 1);
	}
	KUNIT_EXPECT_EQ(test, 0, fake_request(w, listener, 1, &child));
	FAKE_EXPECT_READ(w, w->source, child->handle, 1, 1);
	for (i = 0; i < 50; i++) {
		KUNIT_EXPECT_EQ(test, 0, fake_request(w, listener, 1, &child));
		fake_raise(w, child, 1);
		fake_raise(w, id[i], 2);
		if (i % 3 == 0)
			KUNIT_EXPECT_EQ(test, -ETIMEDOUT,
					ucmx_id_destroy(w->source,
							id[i]->handle, &late));
		if (i % 5 == 0)
			ucmx_id_device_gone(i % 2 ? id[i] : child);
	}
	fake_close(w, w->source);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&w->live));
	KUNIT_EXPECT_EQ(test, 102, atomic_read(&w->released));
}

static long do_close(struct fake_thread *thread)
{
	ucmx_channel_close(thread->channel, true);
	return 0;
}

static void c17_close_waits_for_the_release(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct fake_thread *closer = fake_thread(w, do_close);
	struct ucmx_channel *channel = fake_channel(w);
	struct ucmx_id *id = fake_id(w, channel);

	fake_raise(w, id, 1);
	FAKE_EXPECT_READ(w, channel, id->handle, 1, 1);
	w->slow_release = true;
	closer->channel = channel;
	fake_go(closer);
	FAKE_UNTIL(w, dying(id));
	KUNIT_EXPECT_FALSE(test, fake_done(closer));
	complete_all(&w->slow);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(closer));
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&w->released));
	fake_core_settle();
}

/* A migration ends on a target that is then closed. */
static void c13_close_after_the_commit(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_busy_id(w);
	struct fake_thread *mover;

	mover = fake_start_waiting(w, id, w->target, NULL);
	fake_ack(w, w->target, id->handle, 1);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(mover));
	fake_close(w, w->target);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&w->live));
	FAKE_EXPECT_EMPTY(w, w->source);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(c17_destroy_of_an_idle_id),
	KUNIT_CASE(c17_nonblocking_is_eagain_and_changes_nothing),
	KUNIT_CASE(c17_destroy_waits_for_acknowledgements),
	KUNIT_CASE(c17_interrupted_destroy_can_be_resumed),
	KUNIT_CASE(c17_last_ack_frees_what_timed_out),
	KUNIT_CASE(c17_two_destroys_both_succeed),
	KUNIT_CASE(c17_held_event_counts),
	KUNIT_CASE(c17_held_event_acknowledged_meanwhile),
	KUNIT_CASE(c17_destroy_waits_for_a_copy),
	KUNIT_CASE(c17_put_back_of_a_dying_id),
	KUNIT_CASE(c17_copy_of_a_dying_id_that_nobody_waits_for),
	KUNIT_CASE(c12_destroy_during_drain),
	KUNIT_CASE(c12_destroy_of_the_held_event_during_drain),
	KUNIT_CASE(destroy_waits_for_the_release),
	KUNIT_CASE(last_ack_before_the_release),
	KUNIT_CASE(release_waits_for_a_command),
	KUNIT_CASE(c14_removal_during_drain),
	KUNIT_CASE(c14_removal_during_destroy),
	KUNIT_CASE(c14_removal_then_destroy_with_a_command_running),
	KUNIT_CASE(c17_close_ends_everything),
	KUNIT_CASE(c17_close_waits_for_the_release),
	KUNIT_CASE(c13_close_after_the_commit),
	{}
};

FAKE_SUITE(ucmx_destroy, cases);
