// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What commands cause: events that they raise, with their place among others,
 * and the limits of what repeated commands, or readers who do not acknowledge,
 * can pile up.
 */
#include "fake.h"

/* As the command does it: what is not taken is the caller's to free. */
static int write_event(struct fake_world *w, struct ucmx_id *id, u32 what)
{
	struct ucmx_event *event = fake_event(w, what);
	int err = ucmx_event_write(id->channel, id, event);

	if (err)
		ucmx_event_free(event);
	return err;
}

static void c02_written_events_are_in_order_with_others(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source), *other;

	other = fake_id(w, w->source);
	fake_raise(w, id, 1);
	KUNIT_EXPECT_EQ(test, 0, write_event(w, id, 2));
	KUNIT_EXPECT_EQ(test, 0, write_event(w, other, 1));
	fake_raise(w, id, 3);
	KUNIT_EXPECT_EQ(test, 0, write_event(w, id, 4));
	FAKE_EXPECT_READ(w, w->source, id->handle, 1, 1);
	FAKE_EXPECT_READ(w, w->source, id->handle, 2, 2);
	FAKE_EXPECT_READ(w, w->source, other->handle, 1, 1);
	fake_expect_events(w, w->source, id, 3, 2);
	/* They are acknowledged as others are. */
	KUNIT_EXPECT_EQ(test, 4u, fake_info(id).outstanding);
	fake_ack(w, w->source, id->handle, 2);
	KUNIT_EXPECT_EQ(test, 3u, fake_info(id).outstanding);
}

static void c09_written_event_wakes_a_reader(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct fake_thread *reader;

	reader = fake_start_read(w, w->source, fake_buf(w));
	FAKE_UNTIL(w, fake_sleeps(reader));
	KUNIT_EXPECT_EQ(test, 0, write_event(w, id, 1));
	KUNIT_EXPECT_EQ(test, (long)sizeof(struct rdma_ucmx_event),
			fake_join(reader));
}

/* Until they are acknowledged; read or put back, they still count. */
static void c19_written_events_have_a_limit(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source), *other;
	unsigned int limit = ucmx_max_user_events;

	other = fake_id(w, w->source);
	ucmx_max_user_events = 2;
	KUNIT_EXPECT_EQ(test, 0, write_event(w, id, 1));
	KUNIT_EXPECT_EQ(test, 0, write_event(w, id, 2));
	KUNIT_EXPECT_EQ(test, -ENOSPC, write_event(w, id, 3));
	KUNIT_EXPECT_EQ(test, 2ull, id->seq);
	/* What comes by itself does not count, nor does another id. */
	fake_raise(w, id, 3);
	KUNIT_EXPECT_EQ(test, 0, write_event(w, other, 1));
	KUNIT_EXPECT_EQ(test, (ssize_t)-EFAULT, fake_read(w->source, NULL));
	KUNIT_EXPECT_EQ(test, -ENOSPC, write_event(w, id, 4));
	FAKE_EXPECT_READ(w, w->source, id->handle, 1, 1);
	FAKE_EXPECT_READ(w, w->source, id->handle, 2, 2);
	FAKE_EXPECT_READ(w, w->source, id->handle, 3, 3);
	KUNIT_EXPECT_EQ(test, -ENOSPC, write_event(w, id, 4));
	fake_ack(w, w->source, id->handle, 3);
	KUNIT_EXPECT_EQ(test, -ENOSPC, write_event(w, id, 4));
	fake_ack(w, w->source, id->handle, 1);
	KUNIT_EXPECT_EQ(test, 0, write_event(w, id, 4));
	KUNIT_EXPECT_EQ(test, -ENOSPC, write_event(w, id, 5));
	fake_ack(w, w->source, id->handle, 0);
	KUNIT_EXPECT_EQ(test, 0, write_event(w, id, 5));
	KUNIT_EXPECT_EQ(test, -ENOSPC, write_event(w, id, 6));
	ucmx_max_user_events = limit;
	FAKE_EXPECT_READ(w, w->source, other->handle, 1, 1);
	fake_expect_events(w, w->source, id, 4, 2);
}

/* The limit is the id's, on whichever channel it is. */
static void c19_limit_of_written_events_migrates(struct kunit *test)
{
	const struct ucmx_move held = {
		.wait = { .nonblock = true, .held_seq = 1 }
	};
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	unsigned int limit = ucmx_max_user_events;

	ucmx_max_user_events = 2;
	KUNIT_EXPECT_EQ(test, 0, write_event(w, id, 1));
	KUNIT_EXPECT_EQ(test, 0, write_event(w, id, 2));
	fake_migrate(w, w->source, id, w->target);
	KUNIT_EXPECT_EQ(test, -ENOSPC, write_event(w, id, 3));
	FAKE_EXPECT_READ(w, w->target, id->handle, 1, 1);
	/* The event in the migrator's hand counts as acknowledged. */
	KUNIT_EXPECT_EQ(test, 0,
			ucmx_id_migrate(w->target, id->handle, w->source,
					&held));
	KUNIT_EXPECT_EQ(test, 0, write_event(w, id, 3));
	KUNIT_EXPECT_EQ(test, -ENOSPC, write_event(w, id, 4));
	ucmx_max_user_events = limit;
	fake_expect_events(w, w->source, id, 2, 2);
}

/* Whatever the command is; what comes unasked has no limit. */
static void c19_events_of_commands_have_a_limit(struct kunit *test)
{
	const size_t size = sizeof(struct rdma_ucmx_event);
	struct ucmx_move move = { .wait.nonblock = true };
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	unsigned int limit = ucmx_max_user_events;
	struct ucmx_event *event;

	ucmx_max_user_events = 1;
	KUNIT_EXPECT_EQ(test, 0, fake_room(id, UCMX_ROOM_ADDR, size));
	event = ucmx_room_take(id, UCMX_ROOM_ADDR);
	KUNIT_ASSERT_NOT_NULL(test, event);
	event->head.size = size;
	event->head.event = 1;
	KUNIT_EXPECT_EQ(test, 0, ucmx_event_raise(id, event));
	KUNIT_EXPECT_EQ(test, -ENOSPC, fake_room(id, UCMX_ROOM_ROUTE, size));
	KUNIT_EXPECT_EQ(test, -ENOSPC, write_event(w, id, 2));
	KUNIT_EXPECT_EQ(test, 0, fake_room(id, UCMX_ROOM_REJECTED, size));
	fake_expect_events(w, w->source, id, 1, 1);
	fake_ack(w, w->source, id->handle, 1);
	/* An announcement is one of them. */
	move.announcement = fake_event(w, 0);
	KUNIT_EXPECT_EQ(test, 0,
			ucmx_id_migrate(w->source, id->handle, w->target,
					&move));
	move.announcement = fake_event(w, 0);
	KUNIT_EXPECT_EQ(test, -ENOSPC,
			ucmx_id_migrate(w->target, id->handle, w->source,
					&move));
	ucmx_event_free(move.announcement);
	ucmx_max_user_events = limit;
	fake_expect_ids(w, 0, 1);
	FAKE_EXPECT_EMPTY(w, w->source);
}

/* One that was left counts until its events are acknowledged. */
static void c19_groups_have_a_limit(struct kunit *test)
{
	const struct rdma_ucmx_addr addr = { .family = 1, .data = { 9 } };
	const struct ucmx_wait late = { .deadline = 1 };
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	unsigned int limit = ucmx_max_groups;
	struct ucmx_group *group;
	u32 number;

	ucmx_max_groups = 2;
	fake_group(w, id, 1);
	number = fake_group(w, id, 2)->number;
	group = ucmx_group_alloc(&addr, 0, sizeof(struct rdma_ucmx_event));
	KUNIT_ASSERT_NOT_NULL(test, group);
	KUNIT_EXPECT_EQ(test, -ENOSPC, ucmx_group_add(id, group));
	fake_group(w, fake_id(w, w->source), 1);
	KUNIT_EXPECT_TRUE(test, fake_group_event(w, id, number, 1));
	FAKE_EXPECT_READ(w, w->source, id->handle, 1, 1);
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, fake_leave(id, number, &late));
	KUNIT_EXPECT_EQ(test, -ENOSPC, ucmx_group_add(id, group));
	fake_ack(w, w->source, id->handle, 1);
	KUNIT_EXPECT_EQ(test, 0, ucmx_group_add(id, group));
	ucmx_max_groups = limit;
}

/* On whichever ids; a group of the one, like an event, for as long as it is there. */
static void c19_groups_count_for_their_user(struct kunit *test)
{
	struct fake_world *w = test->priv;
	const struct ucmx_wait nonblock = { .nonblock = true };
	const struct rdma_ucmx_addr addr = { .family = 1 };
	unsigned int limit = ucmx_max_events_per_user;
	struct ucmx_id *id = fake_id(w, w->source), *other = fake_id(w, w->target);
	u32 number = fake_group(w, id, 1)->number;
	struct ucmx_group *group;

	ucmx_max_events_per_user = 1;
	group = ucmx_group_alloc(&addr, 0, sizeof(struct rdma_ucmx_event));
	KUNIT_ASSERT_NOT_NULL(test, group);
	KUNIT_EXPECT_EQ(test, -ENOSPC, ucmx_group_add(other, group));
	KUNIT_EXPECT_TRUE(test, fake_group_event(w, id, number, 2));
	FAKE_EXPECT_READ(w, w->source, id->handle, 2, 1);
	KUNIT_EXPECT_EQ(test, -EAGAIN, fake_leave(id, number, &nonblock));
	KUNIT_EXPECT_EQ(test, -ENOSPC, ucmx_group_add(other, group));
	fake_ack(w, w->source, id->handle, 1);
	KUNIT_EXPECT_EQ(test, 0, fake_leave(id, number, &nonblock));
	KUNIT_EXPECT_EQ(test, 0, ucmx_group_add(other, group));
	KUNIT_EXPECT_EQ(test, 1u, ucmx_user_events(w->source->user));
	fake_destroy(w, w->target, other->handle);
	fake_core_settle();
	KUNIT_EXPECT_EQ(test, 0u, ucmx_user_events(w->source->user));
	ucmx_max_events_per_user = limit;
}

/* The id that a request brought is destroyed: its event is still there. */
static void c19_unacknowledged_requests_have_a_limit(struct kunit *test)
{
	struct fake_world *w = test->priv;
	unsigned int limit = ucmx_max_ids_per_user;
	struct ucmx_id *listener = fake_listener(w, w->source, 9), *child;
	struct ucmx_id *other = fake_listener(w, w->target, 9);
	int i;

	ucmx_max_ids_per_user = 3;
	for (i = 1; i <= 3; i++) {
		KUNIT_ASSERT_EQ(test, 0, fake_request(w, listener, i, &child));
		FAKE_EXPECT_READ(w, w->source, child->handle, i, i);
		fake_destroy(w, w->source, child->handle);
	}
	fake_expect_ids(w, 1, 1);
	KUNIT_EXPECT_EQ(test, -ENOSPC, fake_request(w, listener, 4, NULL));
	/* Whichever of the user's listeners and channels it is. */
	KUNIT_EXPECT_EQ(test, -ENOSPC, fake_request(w, other, 4, NULL));
	fake_ack(w, w->source, listener->handle, 2);
	KUNIT_EXPECT_EQ(test, 0, fake_request(w, listener, 4, NULL));
	ucmx_max_ids_per_user = limit;
}

/* The command had begun on the source; the target's reader knows nothing of it. */
static void c01_not_written_after_the_commit(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct ucmx_event *event = fake_event(w, 2);
	int err;

	KUNIT_ASSERT_PTR_EQ(test, id, ucmx_id_begin(w->source, id->handle));
	fake_migrate(w, w->source, id, w->target);
	err = ucmx_event_write(w->source, id, event);
	if (err)
		ucmx_event_free(event);
	KUNIT_EXPECT_EQ(test, -ENOENT, err);
	FAKE_EXPECT_EMPTY(w, w->target);
	KUNIT_EXPECT_EQ(test, 0, write_event(w, id, 1));
	ucmx_id_end(id);
	fake_expect_events(w, w->target, id, 1, 1);
}

static void c07_written_while_it_is_frozen_is_held(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_busy_id(w);
	struct fake_thread *mover = fake_start_waiting(w, id, w->target, NULL);

	KUNIT_EXPECT_EQ(test, 0, write_event(w, id, 4));
	FAKE_EXPECT_EMPTY(w, w->source);
	fake_ack(w, w->source, id->handle, 1);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(mover));
	fake_expect_events(w, w->target, id, 2, 3);
}

static void c17_nothing_is_written_to_a_dying_id(struct kunit *test)
{
	const struct ucmx_wait late = { .deadline = 1 };
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);

	KUNIT_EXPECT_EQ(test, 0, write_event(w, id, 1));
	KUNIT_EXPECT_EQ(test, 0, write_event(w, id, 2));
	FAKE_EXPECT_READ(w, w->source, id->handle, 1, 1);
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT,
			ucmx_id_destroy(w->source, id->handle, &late));
	FAKE_EXPECT_EMPTY(w, w->source);
	KUNIT_EXPECT_EQ(test, -ENOENT, write_event(w, id, 3));
	fake_ack(w, w->source, id->handle, 1);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(c02_written_events_are_in_order_with_others),
	KUNIT_CASE(c09_written_event_wakes_a_reader),
	KUNIT_CASE(c19_written_events_have_a_limit),
	KUNIT_CASE(c19_limit_of_written_events_migrates),
	KUNIT_CASE(c19_events_of_commands_have_a_limit),
	KUNIT_CASE(c19_groups_have_a_limit),
	KUNIT_CASE(c19_groups_count_for_their_user),
	KUNIT_CASE(c19_unacknowledged_requests_have_a_limit),
	KUNIT_CASE(c01_not_written_after_the_commit),
	KUNIT_CASE(c07_written_while_it_is_frozen_is_held),
	KUNIT_CASE(c17_nothing_is_written_to_a_dying_id),
	{}
};

FAKE_SUITE(ucmx_write, cases);
