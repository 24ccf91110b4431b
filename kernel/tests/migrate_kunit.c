// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Migration: what moves and what comes of it.  For the wait see drain_kunit.c.
 */
#include "fake.h"

static const struct ucmx_move nonblock = { .wait.nonblock = true };

static void c02_pending_events_move_to_the_tail(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source), *other;
	struct ucmx_id *there = fake_id(w, w->target);

	other = fake_id(w, w->source);
	fake_raise(w, id, 1);
	fake_raise(w, other, 1);
	fake_raise(w, there, 1);
	fake_raise(w, id, 2);
	fake_raise(w, other, 2);
	KUNIT_EXPECT_EQ(test, 0,
			ucmx_id_migrate(w->source, id->handle, w->target,
					&nonblock));
	fake_raise(w, there, 2);
	fake_raise(w, id, 3);
	fake_expect_events(w, w->source, other, 1, 2);
	FAKE_EXPECT_READ(w, w->target, there->handle, 1, 1);
	FAKE_EXPECT_READ(w, w->target, id->handle, 1, 1);
	FAKE_EXPECT_READ(w, w->target, id->handle, 2, 2);
	FAKE_EXPECT_READ(w, w->target, there->handle, 2, 2);
	fake_expect_events(w, w->target, id, 3, 1);
	fake_expect_ids(w, 1, 2);
}

static void c01_id_is_the_targets_afterwards(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);

	fake_migrate(w, w->source, id, w->target);
	KUNIT_EXPECT_PTR_EQ(test, w->target, id->channel);
	KUNIT_EXPECT_EQ(test, -ENOENT,
			ucmx_id_migrate(w->source, id->handle, w->target,
					&nonblock));
	KUNIT_EXPECT_EQ(test, -ENOENT,
			ucmx_id_destroy(w->source, id->handle, &nonblock.wait));
	fake_destroy(w, w->target, id->handle);
	fake_expect_ids(w, 0, 0);
}

static void c04_sequence_goes_on_across_migrations(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct ucmx_channel *here = w->source, *there = w->target;
	int i;

	for (i = 1; i <= 10; i++) {
		fake_raise(w, id, i);
		fake_migrate(w, here, id, there);
		swap(here, there);
		FAKE_EXPECT_READ(w, here, id->handle, i, i);
		fake_ack(w, here, id->handle, i);
	}
	fake_expect_ids(w, 1, 0);
}

/*
 * Beside it
 */

static void c12_second_migration_is_ebusy(struct kunit *test)
{
	const struct ucmx_move held = { .wait.held_seq = 1 };
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_busy_id(w);
	struct fake_thread *mover = fake_start_waiting(w, id, w->target, NULL);

	KUNIT_EXPECT_EQ(test, -EBUSY,
			ucmx_id_migrate(w->source, id->handle, w->target,
					&nonblock));
	KUNIT_EXPECT_EQ(test, -EBUSY,
			ucmx_id_migrate(w->source, id->handle, w->source,
					&held));
	KUNIT_EXPECT_EQ(test, -ENOENT,
			ucmx_id_migrate(w->target, id->handle, w->source,
					&nonblock));
	KUNIT_EXPECT_TRUE(test, fake_migrating(id));
	fake_ack(w, w->source, id->handle, 1);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(mover));
	fake_expect_ids(w, 0, 1);
}

static void c12_commands_work_while_it_waits(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_busy_id(w);
	struct fake_thread *mover = fake_start_waiting(w, id, w->target, NULL);

	KUNIT_EXPECT_PTR_EQ(test, id, ucmx_id_begin(w->source, id->handle));
	KUNIT_EXPECT_EQ(test, -ENOENT,
			PTR_ERR_OR_ZERO(ucmx_id_begin(w->target, id->handle)));
	fake_ack(w, w->source, id->handle, 1);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(mover));
	/* A command does not hold a migration up, nor a removal. */
	ucmx_id_end(id);
	KUNIT_EXPECT_PTR_EQ(test, id, ucmx_id_begin(w->target, id->handle));
	ucmx_id_end(id);
}

static void c19_full_target_is_enospc(struct kunit *test)
{
	struct fake_world *w = test->priv;
	unsigned int limit = ucmx_max_channel_ids;
	struct ucmx_id *id = fake_id(w, w->source);

	fake_raise(w, id, 1);
	fake_id(w, w->target);
	ucmx_max_channel_ids = 1;
	KUNIT_EXPECT_EQ(test, -ENOSPC,
			ucmx_id_migrate(w->source, id->handle, w->target,
					&nonblock));
	KUNIT_EXPECT_FALSE(test, ucmx_channel_charge(w->target));
	/* Where it is, it needs no room. */
	KUNIT_EXPECT_EQ(test, 0,
			ucmx_id_migrate(w->source, id->handle, w->source,
					&nonblock));
	ucmx_max_channel_ids = limit;
	fake_expect_ids(w, 1, 1);
	fake_expect_events(w, w->source, id, 1, 1);
	fake_migrate(w, w->target, fake_id(w, w->target), w->source);
	fake_expect_ids(w, 2, 1);
}

/* Over and over, what can never be had. */
static long promise_in_vain(struct fake_thread *thread)
{
	long promised = 0;

	while (!READ_ONCE(thread->world->stop)) {
		promised += ucmx_channel_promise(thread->target, 2);
		WRITE_ONCE(thread->index, thread->index + 1);
		cond_resched();
	}
	return promised;
}

/* Who is refused has not had the room, not even for a moment. */
static void c19_refused_promise_takes_no_room(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct fake_thread *thread = fake_thread(w, promise_in_vain);
	unsigned int limit = ucmx_max_channel_ids;
	int refused = 0;

	ucmx_max_channel_ids = 1;
	thread->target = w->target;
	fake_go(thread);
	while (READ_ONCE(thread->index) < 20000) {
		if (ucmx_channel_promise(w->target, 1))
			ucmx_channel_unpromise(w->target, 1);
		else
			refused++;
		cond_resched();
	}
	WRITE_ONCE(w->stop, true);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(thread));
	ucmx_max_channel_ids = limit;
	KUNIT_EXPECT_EQ(test, 0, refused);
}

/*
 * The same channel, a held event, a new cookie
 */

static void c11_same_channel_waits(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_busy_id(w), *other = fake_id(w, w->source);
	struct fake_thread *mover = fake_start_waiting(w, id, w->source, NULL);

	fake_raise(w, other, 1);
	fake_expect_events(w, w->source, other, 1, 1);
	fake_expect_ids(w, 2, 0);
	fake_ack(w, w->source, id->handle, 1);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(mover));
	fake_expect_events(w, w->source, id, 2, 2);
	fake_expect_ids(w, 2, 0);
}

static void c11_same_channel_of_an_idle_id(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source), *other;

	other = fake_id(w, w->source);
	fake_raise(w, id, 1);
	fake_raise(w, other, 1);
	KUNIT_EXPECT_EQ(test, 0,
			ucmx_id_migrate(w->source, id->handle, w->source,
					&nonblock));
	FAKE_EXPECT_READ(w, w->source, id->handle, 1, 1);
	FAKE_EXPECT_READ(w, w->source, other->handle, 1, 1);
}

static void held_event_counts_as_acknowledged(struct kunit *test)
{
	struct ucmx_move move = { .wait = { .nonblock = true, .held_seq = 1 } };
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_busy_id(w);

	KUNIT_EXPECT_EQ(test, 0,
			ucmx_id_migrate(w->source, id->handle, w->target,
					&move));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			ucmx_channel_ack(w->target, id->handle, 1));
	KUNIT_EXPECT_EQ(test, 0u, w->source->n_outstanding);
	fake_expect_events(w, w->target, id, 2, 2);
	fake_ack(w, w->target, id->handle, 3);
	move.wait.held_seq = 2;
	KUNIT_EXPECT_EQ(test, 0,
			ucmx_id_migrate(w->target, id->handle, w->target,
					&move));
	KUNIT_EXPECT_EQ(test, 0u, fake_info(id).outstanding);
}

static void held_event_only_if_the_call_succeeds(struct kunit *test)
{
	struct ucmx_move move = { .wait.held_seq = 1 };
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_busy_id(w);
	struct fake_thread *mover;

	FAKE_EXPECT_READ(w, w->source, id->handle, 2, 2);
	mover = fake_start_waiting(w, id, w->target, &move);
	fake_signal(mover);
	KUNIT_EXPECT_EQ(test, (long)-ERESTARTSYS, fake_join(mover));
	KUNIT_EXPECT_EQ(test, 2u, fake_info(id).outstanding);
	fake_ack(w, w->source, id->handle, 1);
	KUNIT_EXPECT_EQ(test, -EINVAL,
			ucmx_id_migrate(w->source, id->handle, w->target,
					&move));
	move.wait.held_seq = 3;
	KUNIT_EXPECT_EQ(test, -EINVAL,
			ucmx_id_migrate(w->source, id->handle, w->target,
					&move));
	fake_ack(w, w->source, id->handle, 2);
	fake_expect_events(w, w->source, id, 3, 1);
}

/* Somebody else acknowledges what the caller says it holds. */
static void held_event_acknowledged_meanwhile(struct kunit *test)
{
	struct ucmx_move move = { .wait.held_seq = 1 };
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_busy_id(w);
	struct fake_thread *mover;

	FAKE_EXPECT_READ(w, w->source, id->handle, 2, 2);
	mover = fake_start_waiting(w, id, w->target, &move);
	fake_ack(w, w->source, id->handle, 0);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(mover));
	KUNIT_EXPECT_EQ(test, 0u, fake_info(id).outstanding);
	fake_expect_events(w, w->target, id, 3, 1);
}

static void c16_new_cookie_comes_with_the_commit(struct kunit *test)
{
	struct ucmx_move move = { .set_cookie = true, .cookie = 77 };
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_busy_id(w);
	struct rdma_ucmx_event event;
	struct fake_thread *mover;

	mover = fake_start_waiting(w, id, w->target, &move);
	KUNIT_EXPECT_EQ(test, fake_cookie(id->handle), fake_info(id).cookie);
	fake_signal(mover);
	KUNIT_EXPECT_EQ(test, (long)-ERESTARTSYS, fake_join(mover));
	KUNIT_EXPECT_EQ(test, fake_cookie(id->handle), fake_info(id).cookie);
	fake_ack(w, w->source, id->handle, 1);
	KUNIT_EXPECT_EQ(test, 0,
			ucmx_id_migrate(w->source, id->handle, w->target,
					&move));
	KUNIT_EXPECT_GT(test, fake_read(w->target, &event), (ssize_t)0);
	KUNIT_EXPECT_EQ(test, 77ull, event.cookie);
}

static void c09_commit_wakes_a_blocked_reader(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_busy_id(w);
	struct fake_thread *reader[2], *mover;
	int i;

	for (i = 0; i < 2; i++) {
		reader[i] = fake_start_read(w, w->target, fake_buf(w));
		FAKE_UNTIL(w, fake_sleeps(reader[i]));
	}
	mover = fake_start_waiting(w, id, w->target, NULL);
	fake_ack(w, w->source, id->handle, 1);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(mover));
	for (i = 0; i < 2; i++)
		KUNIT_EXPECT_EQ(test, (long)sizeof(struct rdma_ucmx_event),
				fake_join(reader[i]));
	FAKE_EXPECT_EMPTY(w, w->target);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(c02_pending_events_move_to_the_tail),
	KUNIT_CASE(c01_id_is_the_targets_afterwards),
	KUNIT_CASE(c04_sequence_goes_on_across_migrations),
	KUNIT_CASE(c12_second_migration_is_ebusy),
	KUNIT_CASE(c12_commands_work_while_it_waits),
	KUNIT_CASE(c19_full_target_is_enospc),
	KUNIT_CASE(c19_refused_promise_takes_no_room),
	KUNIT_CASE(c11_same_channel_waits),
	KUNIT_CASE(c11_same_channel_of_an_idle_id),
	KUNIT_CASE(held_event_counts_as_acknowledged),
	KUNIT_CASE(held_event_only_if_the_call_succeeds),
	KUNIT_CASE(held_event_acknowledged_meanwhile),
	KUNIT_CASE(c16_new_cookie_comes_with_the_commit),
	KUNIT_CASE(c09_commit_wakes_a_blocked_reader),
	{}
};

FAKE_SUITE(ucmx_migrate, cases);
