// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Room for events: made before they happen, taken when they do, and for what
 * comes unasked always there.
 */
#include "fake.h"

static int make(struct ucmx_id *id, enum ucmx_room room)
{
	return fake_room(id, room, sizeof(struct rdma_ucmx_event));
}

/* Rooms of a kind that an id has. */
static int rooms(struct ucmx_id *id, enum ucmx_room room)
{
	struct ucmx_channel *channel = ucmx_id_lock(id);
	struct ucmx_event *event;
	int n = 0;

	list_for_each_entry(event, &id->room, of_id)
		n += event->room == room;
	spin_unlock(&channel->lock);
	return n;
}

/* An event happens for which there should be room; whether there was. */
static bool happen(struct fake_world *w, struct ucmx_id *id,
		   enum ucmx_room room, u32 what)
{
	struct ucmx_event *event = ucmx_room_take(id, room);

	if (!event)
		return false;
	KUNIT_EXPECT_EQ(w->test, (int)room, (int)event->room);
	event->head.size = sizeof(event->head);
	event->head.event = what;
	KUNIT_EXPECT_EQ(w->test, 0, ucmx_event_raise(id, event));
	return true;
}

static void c03_room_of_a_command_is_counted(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);

	KUNIT_EXPECT_FALSE(test, happen(w, id, UCMX_ROOM_ADDR, 1));
	KUNIT_EXPECT_EQ(test, 0, make(id, UCMX_ROOM_ADDR));
	KUNIT_EXPECT_EQ(test, 0, make(id, UCMX_ROOM_ADDR));
	KUNIT_EXPECT_EQ(test, 0, make(id, UCMX_ROOM_ROUTE));
	KUNIT_EXPECT_TRUE(test, happen(w, id, UCMX_ROOM_ADDR, 1));
	ucmx_room_drop(id, UCMX_ROOM_ADDR);
	KUNIT_EXPECT_FALSE(test, happen(w, id, UCMX_ROOM_ADDR, 2));
	KUNIT_EXPECT_TRUE(test, happen(w, id, UCMX_ROOM_ROUTE, 3));
	FAKE_EXPECT_READ(w, w->source, id->handle, 1, 1);
	FAKE_EXPECT_READ(w, w->source, id->handle, 3, 2);
	KUNIT_EXPECT_EQ(test, 0, rooms(id, UCMX_ROOM_ADDR));
}

/* What is said to be there is not made; a command's is never to be relied on. */
static void c03_room_that_is_there(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);

	KUNIT_EXPECT_EQ(test, 0, make(id, UCMX_ROOM_CONNECT));
	KUNIT_EXPECT_EQ(test, 0u, ucmx_rooms_there(id));
	KUNIT_EXPECT_EQ(test, 0, make(id, UCMX_ROOM_REJECTED));
	KUNIT_EXPECT_EQ(test, 0, make(id, UCMX_ROOM_DISCONNECTED));
	KUNIT_EXPECT_EQ(test,
			(u32)(BIT(UCMX_ROOM_REJECTED) |
			      BIT(UCMX_ROOM_DISCONNECTED)),
			ucmx_rooms_there(id));
	KUNIT_EXPECT_TRUE(test, happen(w, id, UCMX_ROOM_REJECTED, 1));
	KUNIT_EXPECT_EQ(test, (u32)BIT(UCMX_ROOM_DISCONNECTED),
			ucmx_rooms_there(id));
	FAKE_EXPECT_READ(w, w->source, id->handle, 1, 1);
	KUNIT_EXPECT_EQ(test,
			(u32)(BIT(UCMX_ROOM_REJECTED) |
			      BIT(UCMX_ROOM_DISCONNECTED)),
			ucmx_rooms_there(id));
}

static void c03_unasked_merges_only_while_pending(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	int room;

	for (room = UCMX_ROOM_FIRST_UNASKED; room < UCMX_ROOM_NONE; room++) {
		if (room == UCMX_ROOM_DEVICE_REMOVAL)
			continue;
		KUNIT_EXPECT_EQ(test, 0, make(id, room));
		KUNIT_EXPECT_EQ(test, 0, make(id, room));
		KUNIT_EXPECT_EQ(test, 1, rooms(id, room));
		KUNIT_EXPECT_TRUE(test, happen(w, id, room, room));
		KUNIT_EXPECT_FALSE(test, happen(w, id, room, room));
		FAKE_EXPECT_READ(w, w->source, id->handle, room,
				 fake_info(id).oldest_seq);
		KUNIT_EXPECT_TRUE(test, happen(w, id, room, room));
		FAKE_EXPECT_READ(w, w->source, id->handle, room, id->seq);
		fake_ack(w, w->source, id->handle, 0);
	}
}

static void c03_device_removal_comes_once(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);

	KUNIT_EXPECT_EQ(test, 0, make(id, UCMX_ROOM_DEVICE_REMOVAL));
	KUNIT_EXPECT_TRUE(test, happen(w, id, UCMX_ROOM_DEVICE_REMOVAL, 11));
	FAKE_EXPECT_READ(w, w->source, id->handle, 11, 1);
	KUNIT_EXPECT_EQ(test, 0, rooms(id, UCMX_ROOM_DEVICE_REMOVAL));
}

/* However often the reader's memory faults. */
static void c19_spare_room_does_not_pile_up(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	int i;

	KUNIT_EXPECT_EQ(test, 0, make(id, UCMX_ROOM_ADDR_CHANGE));
	KUNIT_EXPECT_TRUE(test, happen(w, id, UCMX_ROOM_ADDR_CHANGE, 14));
	for (i = 0; i < 5; i++)
		KUNIT_EXPECT_EQ(test, (ssize_t)-EFAULT,
				fake_read(w->source, NULL));
	KUNIT_EXPECT_EQ(test, 1, rooms(id, UCMX_ROOM_ADDR_CHANGE));
	FAKE_EXPECT_READ(w, w->source, id->handle, 14, 1);
	KUNIT_EXPECT_EQ(test, 1, rooms(id, UCMX_ROOM_ADDR_CHANGE));
}

/* Nor when a command makes room for what is pending. */
static void c19_room_made_again_does_not_pile_up(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct rdma_ucmx_event event;
	int i;

	for (i = 0; i < 5; i++) {
		KUNIT_EXPECT_EQ(test, 0, make(id, UCMX_ROOM_REJECTED));
		while (happen(w, id, UCMX_ROOM_REJECTED, 8))
			;
		KUNIT_EXPECT_EQ(test, 0, make(id, UCMX_ROOM_REJECTED));
		while (fake_read(w->source, &event) > 0)
			;
		KUNIT_EXPECT_EQ(test, 1, rooms(id, UCMX_ROOM_REJECTED));
	}
}

static void c03_no_memory_for_spare_room(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct rdma_ucmx_event event;

	KUNIT_EXPECT_EQ(test, 0, make(id, UCMX_ROOM_DISCONNECTED));
	KUNIT_EXPECT_TRUE(test, happen(w, id, UCMX_ROOM_DISCONNECTED, 10));
	atomic_set(&fake_failing_allocs, 1);
	KUNIT_EXPECT_EQ(test, (ssize_t)-ENOMEM, fake_read(w->source, &event));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&fake_failing_allocs));
	KUNIT_EXPECT_EQ(test, 1u, fake_info(id).pending);
	FAKE_EXPECT_READ(w, w->source, id->handle, 10, 1);
}

/* An error is returned only if nothing was read. */
static void c04_no_memory_in_a_batch_ends_it(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct fake_buf *buf = fake_buf(w);
	struct ucmx_id *id = fake_id(w, w->source);

	fake_raise(w, id, 1);
	KUNIT_EXPECT_EQ(test, 0, make(id, UCMX_ROOM_DISCONNECTED));
	KUNIT_EXPECT_TRUE(test, happen(w, id, UCMX_ROOM_DISCONNECTED, 2));
	atomic_set(&fake_failing_allocs, 1);
	KUNIT_EXPECT_EQ(test, (ssize_t)sizeof(struct rdma_ucmx_event),
			ucmx_channel_read(w->source,
					  (char __force __user *)buf->data,
					  RDMA_UCMX_READ_MIN, true));
	FAKE_EXPECT_READ(w, w->source, id->handle, 2, 2);
}

static void c03_no_memory_for_a_command(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);

	atomic_set(&fake_failing_allocs, 1);
	KUNIT_EXPECT_EQ(test, -ENOMEM, make(id, UCMX_ROOM_ADDR));
	KUNIT_EXPECT_EQ(test, 0, rooms(id, UCMX_ROOM_ADDR));
}

static void room_of_a_dying_id(struct kunit *test)
{
	struct ucmx_wait late = { .deadline = 1 };
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);

	KUNIT_EXPECT_EQ(test, 0, make(id, UCMX_ROOM_ADDR));
	KUNIT_EXPECT_EQ(test, 0, make(id, UCMX_ROOM_DISCONNECTED));
	fake_raise(w, id, 1);
	FAKE_EXPECT_READ(w, w->source, id->handle, 1, 1);
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT,
			ucmx_id_destroy(w->source, id->handle, &late));
	KUNIT_EXPECT_PTR_EQ(test, (struct ucmx_event *)NULL,
			    ucmx_room_take(id, UCMX_ROOM_ADDR));
	KUNIT_EXPECT_PTR_EQ(test, (struct ucmx_event *)NULL,
			    ucmx_room_take(id, UCMX_ROOM_DISCONNECTED));
	KUNIT_EXPECT_EQ(test, -ENOENT, make(id, UCMX_ROOM_ADDR));
	KUNIT_EXPECT_EQ(test, -ENOENT,
			ucmx_event_raise(id, fake_event(w, 2)));
	fake_ack(w, w->source, id->handle, 1);
}

static void room_goes_with_a_migration(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);

	KUNIT_EXPECT_EQ(test, 0, make(id, UCMX_ROOM_CONNECT));
	fake_migrate(w, w->source, id, w->target);
	KUNIT_EXPECT_TRUE(test, happen(w, id, UCMX_ROOM_CONNECT, 9));
	FAKE_EXPECT_EMPTY(w, w->source);
	FAKE_EXPECT_READ(w, w->target, id->handle, 9, 1);
}

/* A request's id has room before anybody, even the core, has seen it. */
static void c03_room_of_an_unseen_id(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id_unseen(w);

	KUNIT_EXPECT_EQ(test, 0,
			ucmx_room_make_unseen(id, UCMX_ROOM_DISCONNECTED,
					      sizeof(struct rdma_ucmx_event),
					      GFP_KERNEL));
	atomic_set(&fake_failing_allocs, 1);
	KUNIT_EXPECT_EQ(test, -ENOMEM,
			ucmx_room_make_unseen(id, UCMX_ROOM_REJECTED,
					      sizeof(struct rdma_ucmx_event),
					      GFP_KERNEL));
	ucmx_id_abort(id);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(c03_room_of_a_command_is_counted),
	KUNIT_CASE(c03_room_that_is_there),
	KUNIT_CASE(c03_unasked_merges_only_while_pending),
	KUNIT_CASE(c03_device_removal_comes_once),
	KUNIT_CASE(c19_spare_room_does_not_pile_up),
	KUNIT_CASE(c19_room_made_again_does_not_pile_up),
	KUNIT_CASE(c03_no_memory_for_spare_room),
	KUNIT_CASE(c04_no_memory_in_a_batch_ends_it),
	KUNIT_CASE(c03_no_memory_for_a_command),
	KUNIT_CASE(room_of_a_dying_id),
	KUNIT_CASE(room_goes_with_a_migration),
	KUNIT_CASE(c03_room_of_an_unseen_id),
	{}
};

FAKE_SUITE(ucmx_room, cases);
