// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Multicast groups: their room, whose events they are, and leaving them.
 */
#include "fake.h"

static const struct ucmx_wait nonblock = { .nonblock = true };
static const struct ucmx_wait late = { .deadline = 1 };

/* A group of a new id of the source, with event 1 of it outstanding. */
static struct ucmx_group *busy_group(struct fake_world *w, struct ucmx_id **id)
{
	struct ucmx_group *group;

	*id = fake_id(w, w->source);
	group = fake_group(w, *id, 1);
	KUNIT_EXPECT_TRUE(w->test, fake_group_event(w, *id, group->number, 1));
	FAKE_EXPECT_READ(w, w->source, (*id)->handle, 1, 1);
	return group;
}

/* A thread that leaves a group, and that the id is still known to. */
struct leaver {
	struct ucmx_id *id;
	u32 number;
};

static long do_leave(struct fake_thread *thread)
{
	struct leaver *leaver = thread->arg;

	return fake_leave(leaver->id, leaver->number, &thread->move.wait);
}

/* Leave in a thread, which waits; @leaver lives as long as that. */
static struct fake_thread *start_leaving(struct fake_world *w,
					 struct leaver *leaver,
					 const struct ucmx_wait *wait)
{
	struct fake_thread *thread = fake_thread(w, do_leave);

	thread->arg = leaver;
	if (wait)
		thread->move.wait = *wait;
	fake_go(thread);
	FAKE_UNTIL(w, fake_sleeps(thread));
	return thread;
}

/*
 * Joining
 */

/* How joining went, and that the group was lost; more of the kind merges. */
static void c03_join_makes_room_for_two(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	u32 number = fake_group(w, id, 1)->number;

	KUNIT_EXPECT_TRUE(test, fake_group_event(w, id, number, 20));
	KUNIT_EXPECT_TRUE(test, fake_group_event(w, id, number, 21));
	KUNIT_EXPECT_FALSE(test, fake_group_event(w, id, number, 21));
	FAKE_EXPECT_READ(w, w->source, id->handle, 20, 1);
	/* What is read makes room for the next one. */
	KUNIT_EXPECT_TRUE(test, fake_group_event(w, id, number, 21));
	KUNIT_EXPECT_FALSE(test, fake_group_event(w, id, number, 21));
	FAKE_EXPECT_READ(w, w->source, id->handle, 21, 2);
	FAKE_EXPECT_READ(w, w->source, id->handle, 21, 3);
	KUNIT_EXPECT_TRUE(test, fake_group_event(w, id, number, 21));
	FAKE_EXPECT_READ(w, w->source, id->handle, 21, 4);
}

static void c03_join_without_memory(struct kunit *test)
{
	const struct rdma_ucmx_addr addr = { .family = 1 };
	struct fake_world *w = test->priv;

	atomic_set(&fake_failing_allocs, 1);
	KUNIT_EXPECT_PTR_EQ(test, (struct ucmx_group *)NULL,
			    ucmx_group_alloc(&addr, 0,
					     sizeof(struct rdma_ucmx_event)));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&fake_failing_allocs));
	KUNIT_EXPECT_EQ(test, 0, fake_more_objects(w));
}

/* However often the reader's memory faults, or there is no memory for more. */
static void c03_spare_room_of_a_group(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	u32 number = fake_group(w, id, 1)->number;
	struct rdma_ucmx_event event;
	int i;

	KUNIT_EXPECT_TRUE(test, fake_group_event(w, id, number, 20));
	KUNIT_EXPECT_TRUE(test, fake_group_event(w, id, number, 21));
	atomic_set(&fake_failing_allocs, 1);
	KUNIT_EXPECT_EQ(test, (ssize_t)-ENOMEM, fake_read(w->source, &event));
	KUNIT_EXPECT_EQ(test, 2u, fake_info(id).pending);
	for (i = 0; i < 5; i++)
		KUNIT_EXPECT_EQ(test, (ssize_t)-EFAULT,
				fake_read(w->source, NULL));
	KUNIT_EXPECT_EQ(test, 3, atomic_read(&fake_events));
	FAKE_EXPECT_READ(w, w->source, id->handle, 20, 1);
	FAKE_EXPECT_READ(w, w->source, id->handle, 21, 2);
	KUNIT_EXPECT_EQ(test, 3, atomic_read(&fake_events));
}

static void an_address_is_joined_once(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source), *other;
	struct ucmx_group *group = fake_group(w, id, 1), *again;
	u32 number = group->number;

	KUNIT_EXPECT_NE(test, number, fake_group(w, id, 2)->number);
	other = fake_id(w, w->source);
	KUNIT_EXPECT_NE(test, number, fake_group(w, other, 1)->number);
	again = ucmx_group_alloc(&group->addr, 0, sizeof(struct rdma_ucmx_event));
	KUNIT_ASSERT_NOT_NULL(test, again);
	KUNIT_EXPECT_EQ(test, -EADDRINUSE, ucmx_group_add(id, again));
	/* Of one that was left, it is free, whoever has not acknowledged. */
	KUNIT_EXPECT_TRUE(test, fake_group_event(w, id, number, 1));
	FAKE_EXPECT_READ(w, w->source, id->handle, 1, 1);
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, fake_leave(id, number, &late));
	KUNIT_EXPECT_EQ(test, 0, ucmx_group_add(id, again));
	KUNIT_EXPECT_TRUE(test, fake_group_event(w, id, again->number, 2));
	FAKE_EXPECT_READ(w, w->source, id->handle, 2, 2);
	fake_ack(w, w->source, id->handle, 1);
	KUNIT_EXPECT_EQ(test, -ENOENT, fake_leave(id, number, &nonblock));
	KUNIT_EXPECT_EQ(test, -EAGAIN, fake_leave(id, again->number, &nonblock));
}

/* A join that rdma_cm refused, after an event of it had come. */
static void failed_join_leaves_nothing(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct ucmx_group *group = fake_group(w, id, 1);
	u32 number = group->number;

	KUNIT_EXPECT_TRUE(test, fake_group_event(w, id, number, 1));
	fake_raise(w, id, 2);
	ucmx_group_remove(id, group);
	KUNIT_EXPECT_FALSE(test, fake_group_event(w, id, number, 1));
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&fake_events));
	FAKE_EXPECT_READ(w, w->source, id->handle, 2, 2);
	FAKE_EXPECT_EMPTY(w, w->source);
	fake_group(w, id, 1);
}

static void c04_record_says_group_and_its_cookie(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct ucmx_group *group = fake_group(w, id, 7);
	struct rdma_ucmx_event event;

	KUNIT_EXPECT_TRUE(test, fake_group_event(w, id, group->number, 1));
	KUNIT_EXPECT_GT(test, fake_read(w->source, &event), (ssize_t)0);
	KUNIT_EXPECT_EQ(test, id->handle, event.id);
	KUNIT_EXPECT_EQ(test, fake_cookie(id->handle), event.cookie);
	KUNIT_EXPECT_EQ(test, group->number, event.group);
	KUNIT_EXPECT_EQ(test, fake_cookie(7), event.listen_cookie);
}

/*
 * Leaving
 */

static void c17_leave_drops_what_is_pending(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	u32 left = fake_group(w, id, 1)->number;
	u32 stays = fake_group(w, id, 2)->number;

	KUNIT_EXPECT_TRUE(test, fake_group_event(w, id, left, 1));
	KUNIT_EXPECT_TRUE(test, fake_group_event(w, id, stays, 2));
	fake_raise(w, id, 3);
	KUNIT_EXPECT_TRUE(test, fake_group_event(w, id, left, 4));
	KUNIT_EXPECT_EQ(test, 0, fake_leave(id, left, &nonblock));
	KUNIT_EXPECT_EQ(test, 2u, fake_info(id).pending);
	KUNIT_EXPECT_EQ(test, 2u, w->source->n_pending);
	KUNIT_EXPECT_FALSE(test, fake_group_event(w, id, left, 5));
	KUNIT_EXPECT_EQ(test, -ENOENT, fake_leave(id, left, &nonblock));
	fake_expect_events(w, w->source, id, 2, 2);
}

/* What was taken from the room when the group was left comes too late. */
static void c17_event_that_meets_a_leave_is_dropped(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	u32 number = fake_group(w, id, 1)->number;
	struct ucmx_event *event = ucmx_group_take_room(id, number);

	KUNIT_ASSERT_NOT_NULL(test, event);
	KUNIT_EXPECT_EQ(test, 0, fake_leave(id, number, &nonblock));
	event->head.size = sizeof(event->head);
	KUNIT_EXPECT_EQ(test, -ENOENT, ucmx_event_raise(id, event));
	FAKE_EXPECT_EMPTY(w, w->source);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&fake_events));
}

static void c17_nonblocking_leave_is_eagain_and_changes_nothing(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id;
	struct ucmx_group *group = busy_group(w, &id);

	KUNIT_EXPECT_TRUE(test, fake_group_event(w, id, group->number, 2));
	KUNIT_EXPECT_EQ(test, -EAGAIN, fake_leave(id, group->number, &nonblock));
	KUNIT_EXPECT_EQ(test, 1u, fake_info(id).pending);
	FAKE_EXPECT_READ(w, w->source, id->handle, 2, 2);
	KUNIT_EXPECT_TRUE(test, fake_group_event(w, id, group->number, 3));
	FAKE_EXPECT_READ(w, w->source, id->handle, 3, 3);
	fake_ack(w, w->source, id->handle, 0);
	KUNIT_EXPECT_EQ(test, 0, fake_leave(id, group->number, &nonblock));
}

static void c17_nonblocking_leave_waits_for_its_own_events(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id;
	struct ucmx_group *group = busy_group(w, &id);
	u32 other = fake_group(w, id, 2)->number;

	KUNIT_EXPECT_EQ(test, 0, fake_leave(id, other, &nonblock));
	KUNIT_EXPECT_EQ(test, -EAGAIN, fake_leave(id, group->number, &nonblock));
}

/* For the group's events, not for others of the id. */
static void c17_leave_waits_for_the_groups_events(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id;
	struct ucmx_group *group = busy_group(w, &id);
	struct leaver leaver = { id, group->number };
	struct fake_thread *thread;
	u32 other = fake_group(w, id, 2)->number;

	KUNIT_EXPECT_TRUE(test, fake_group_event(w, id, other, 2));
	fake_raise(w, id, 3);
	FAKE_EXPECT_READ(w, w->source, id->handle, 2, 2);
	FAKE_EXPECT_READ(w, w->source, id->handle, 3, 3);
	thread = start_leaving(w, &leaver, NULL);
	fake_ack(w, w->source, id->handle, 2);
	fake_ack(w, w->source, id->handle, 3);
	FAKE_UNTIL(w, fake_sleeps(thread));
	fake_ack(w, w->source, id->handle, 1);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(thread));
	KUNIT_EXPECT_EQ(test, -ENOENT, fake_leave(id, leaver.number, &nonblock));
	KUNIT_EXPECT_EQ(test, 0, fake_leave(id, other, &nonblock));
}

static void c17_leave_that_timed_out_is_resumed(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id;
	struct ucmx_group *group = busy_group(w, &id);
	struct leaver leaver = { id, group->number };
	struct fake_thread *thread;

	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, fake_leave(id, leaver.number, &late));
	KUNIT_EXPECT_FALSE(test, fake_group_event(w, id, leaver.number, 2));
	KUNIT_EXPECT_EQ(test, -EAGAIN, fake_leave(id, leaver.number, &nonblock));
	thread = start_leaving(w, &leaver, NULL);
	fake_signal(thread);
	KUNIT_EXPECT_EQ(test, (long)-ERESTARTSYS, fake_join(thread));
	thread = start_leaving(w, &leaver, NULL);
	fake_ack(w, w->source, id->handle, 1);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(thread));
	KUNIT_EXPECT_EQ(test, 0, fake_more_objects(w));
}

static void c17_last_ack_frees_a_left_group(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id;
	struct ucmx_group *group = busy_group(w, &id);
	u32 number = group->number;

	KUNIT_EXPECT_TRUE(test, fake_group_event(w, id, number, 2));
	FAKE_EXPECT_READ(w, w->source, id->handle, 2, 2);
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, fake_leave(id, number, &late));
	fake_ack(w, w->source, id->handle, 2);
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, fake_leave(id, number, &late));
	KUNIT_EXPECT_EQ(test, 1, fake_more_objects(w));
	fake_ack(w, w->source, id->handle, 1);
	KUNIT_EXPECT_EQ(test, 0, fake_more_objects(w));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&fake_events));
	KUNIT_EXPECT_EQ(test, -ENOENT, fake_leave(id, number, &nonblock));
}

static void c17_held_event_of_a_group_counts(struct kunit *test)
{
	struct ucmx_wait held = { .nonblock = true, .held_seq = 2 };
	struct fake_world *w = test->priv;
	struct ucmx_id *id;
	struct ucmx_group *group = busy_group(w, &id);
	u32 number = group->number;

	fake_raise(w, id, 2);
	FAKE_EXPECT_READ(w, w->source, id->handle, 2, 2);
	/* An event of the id, but not of the group. */
	KUNIT_EXPECT_EQ(test, -EINVAL, fake_leave(id, number, &held));
	held.held_seq = 1;
	KUNIT_EXPECT_EQ(test, 0, fake_leave(id, number, &held));
	KUNIT_EXPECT_EQ(test, 1u, fake_info(id).outstanding);
	KUNIT_EXPECT_EQ(test, -EINVAL,
			ucmx_channel_ack(w->source, id->handle, 1));
	KUNIT_EXPECT_EQ(test, 0, fake_more_objects(w));
}

/* The group is left while an event of it is copied, in vain or not. */
static void c17_leave_waits_for_a_copy(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct leaver leaver = { .id = id };
	struct fake_thread *reader, *thread;
	int fails;

	for (fails = 0; fails < 2; fails++) {
		leaver.number = fake_group(w, id, fails)->number;
		fake_group_event(w, id, leaver.number, 1);
		fake_group_event(w, id, leaver.number, 2);
		reader = fake_start_copy(w, w->source, fails);
		thread = start_leaving(w, &leaver, NULL);
		complete(&reader->buf->go);
		KUNIT_EXPECT_EQ(test, fails ? (long)-EFAULT :
				(long)sizeof(struct rdma_ucmx_event),
				fake_join(reader));
		if (!fails)
			fake_ack(w, w->source, id->handle, 1);
		KUNIT_EXPECT_EQ(test, 0l, fake_join(thread));
		FAKE_EXPECT_EMPTY(w, w->source);
		KUNIT_EXPECT_EQ(test, 0, atomic_read(&fake_events));
	}
}

/*
 * What becomes of the id
 */

static void c17_destroy_waits_for_the_groups_events(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id;
	struct ucmx_group *group = busy_group(w, &id);
	struct leaver leaver = { id, group->number };
	struct fake_thread *leaving, *destroyer;

	/* A command would hold this one. */
	refcount_inc(&id->ref);
	KUNIT_EXPECT_TRUE(test, fake_group_event(w, id, group->number, 2));
	KUNIT_EXPECT_EQ(test, -EAGAIN,
			ucmx_id_destroy(w->source, id->handle, &nonblock));
	leaving = start_leaving(w, &leaver, NULL);
	destroyer = fake_start_destroy(w, w->source, id->handle, NULL);
	FAKE_UNTIL(w, (fake_info(id).state & RDMA_UCMX_ID_DYING) &&
		   fake_sleeps(destroyer));
	KUNIT_EXPECT_FALSE(test, fake_done(leaving));
	fake_ack(w, w->source, id->handle, 1);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(leaving));
	KUNIT_EXPECT_EQ(test, 0l, fake_join(destroyer));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&fake_events));
	ucmx_id_put(id);
	fake_core_settle();
	KUNIT_EXPECT_EQ(test, 0, fake_more_objects(w));
}

static void join_of_a_dying_id(struct kunit *test)
{
	const struct rdma_ucmx_addr addr = { .family = 1 };
	struct fake_world *w = test->priv;
	struct ucmx_group *late_group;
	struct ucmx_id *id;

	busy_group(w, &id);
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT,
			ucmx_id_destroy(w->source, id->handle, &late));
	late_group = ucmx_group_alloc(&addr, 0, sizeof(struct rdma_ucmx_event));
	KUNIT_ASSERT_NOT_NULL(test, late_group);
	KUNIT_EXPECT_EQ(test, -ENOENT, ucmx_group_add(id, late_group));
	ucmx_group_put(late_group);
	KUNIT_EXPECT_EQ(test, 1, fake_more_objects(w));
	fake_ack(w, w->source, id->handle, 1);
}

/* Groups that were joined, left and waited for, all of one id. */
static void c18_end_of_an_id_frees_its_groups(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id;
	u32 left;
	int i;

	for (i = 0; i < 2; i++) {
		left = busy_group(w, &id)->number;
		KUNIT_EXPECT_TRUE(test, fake_group_event(w, id, left, 2));
		KUNIT_EXPECT_EQ(test, -ETIMEDOUT, fake_leave(id, left, &late));
		fake_group_event(w, id, fake_group(w, id, 2)->number, 2);
		fake_group(w, id, 3);
		if (i) {
			fake_close(w, w->source);
		} else {
			fake_ack(w, w->source, id->handle, 1);
			fake_destroy(w, w->source, id->handle);
		}
		fake_core_settle();
		KUNIT_EXPECT_EQ(test, 0, atomic_read(&fake_events));
	}
	KUNIT_EXPECT_EQ(test, -1, fake_more_objects(w));
}

static void c10_migration_takes_groups_along(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id;
	struct ucmx_group *group = busy_group(w, &id);
	struct ucmx_move move = { .wait = nonblock };
	u32 number = group->number;

	KUNIT_EXPECT_TRUE(test, fake_group_event(w, id, number, 2));
	KUNIT_EXPECT_EQ(test, -EAGAIN,
			ucmx_id_migrate(w->source, id->handle, w->target,
					&move));
	move.wait.held_seq = 1;
	KUNIT_EXPECT_EQ(test, 0,
			ucmx_id_migrate(w->source, id->handle, w->target,
					&move));
	fake_expect_events(w, w->target, id, 2, 1);
	KUNIT_EXPECT_TRUE(test, fake_group_event(w, id, number, 3));
	FAKE_EXPECT_EMPTY(w, w->source);
	fake_expect_events(w, w->target, id, 3, 1);
	KUNIT_EXPECT_EQ(test, -EAGAIN, fake_leave(id, number, &nonblock));
	/* One that is left but not acknowledged ends with the held event. */
	fake_ack(w, w->target, id->handle, 2);
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, fake_leave(id, number, &late));
	move.wait.held_seq = 3;
	KUNIT_EXPECT_EQ(test, 0,
			ucmx_id_migrate(w->target, id->handle, w->source,
					&move));
	KUNIT_EXPECT_EQ(test, -ENOENT, fake_leave(id, number, &nonblock));
	KUNIT_EXPECT_EQ(test, 0, fake_more_objects(w));
}

/* A group is left while its id is frozen: what is held is dropped, too. */
static void c17_leave_while_the_id_is_frozen(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id;
	struct ucmx_group *group = busy_group(w, &id);
	struct leaver leaver = { id, group->number };
	struct fake_thread *mover, *leaving;

	KUNIT_EXPECT_TRUE(test, fake_group_event(w, id, group->number, 2));
	mover = fake_start_waiting(w, id, w->target, NULL);
	fake_raise(w, id, 3);
	leaving = start_leaving(w, &leaver, NULL);
	KUNIT_EXPECT_EQ(test, 1u, fake_info(id).pending);
	fake_ack(w, w->target, id->handle, 1);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(leaving));
	KUNIT_EXPECT_EQ(test, 0l, fake_join(mover));
	fake_expect_events(w, w->target, id, 3, 1);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(c03_join_makes_room_for_two),
	KUNIT_CASE(c03_join_without_memory),
	KUNIT_CASE(c03_spare_room_of_a_group),
	KUNIT_CASE(an_address_is_joined_once),
	KUNIT_CASE(failed_join_leaves_nothing),
	KUNIT_CASE(c04_record_says_group_and_its_cookie),
	KUNIT_CASE(c17_leave_drops_what_is_pending),
	KUNIT_CASE(c17_event_that_meets_a_leave_is_dropped),
	KUNIT_CASE(c17_nonblocking_leave_is_eagain_and_changes_nothing),
	KUNIT_CASE(c17_nonblocking_leave_waits_for_its_own_events),
	KUNIT_CASE(c17_leave_waits_for_the_groups_events),
	KUNIT_CASE(c17_leave_that_timed_out_is_resumed),
	KUNIT_CASE(c17_last_ack_frees_a_left_group),
	KUNIT_CASE(c17_held_event_of_a_group_counts),
	KUNIT_CASE(c17_leave_waits_for_a_copy),
	KUNIT_CASE(c17_destroy_waits_for_the_groups_events),
	KUNIT_CASE(join_of_a_dying_id),
	KUNIT_CASE(c18_end_of_an_id_frees_its_groups),
	KUNIT_CASE(c10_migration_takes_groups_along),
	KUNIT_CASE(c17_leave_while_the_id_is_frozen),
	{}
};

FAKE_SUITE(ucmx_group, cases);
