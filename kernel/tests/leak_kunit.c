// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Nothing outlives its owner: ids in every state there is, then their end in
 * every order, then every count is back to zero.
 *
 * The counts are those of fake.c: ids, handles, events, groups, channels,
 * their users, and references to readers' pids.
 */
#include "fake.h"

static const struct ucmx_wait nonblock = { .nonblock = true };
static const struct ucmx_wait late = { .deadline = 1 };

/*
 * What there is at the beginning
 */

static struct ucmx_id *request(struct fake_world *w, struct ucmx_id *listener)
{
	struct ucmx_id *child;

	KUNIT_ASSERT_EQ(w->test, 0, fake_request(w, listener, 4, &child));
	fake_raise(w, child, 1);
	fake_raise_urgent(w, child, 11);
	return child;
}

static void read_one(struct fake_world *w, struct ucmx_channel *channel)
{
	struct rdma_ucmx_event event;

	KUNIT_EXPECT_GT(w->test, fake_read(channel, &event), (ssize_t)0);
}

static void read_all(struct fake_world *w, struct ucmx_channel *channel)
{
	struct rdma_ucmx_event event;

	/* In vain first: then all of it has been put back once. */
	if (fake_readable(channel))
		KUNIT_EXPECT_EQ(w->test, (ssize_t)-EFAULT,
				fake_read(channel, NULL));
	while (fake_read(channel, &event) > 0)
		;
}

/* Rooms of each kind, some events, outstanding, pending and written. */
static struct ucmx_id *busy(struct fake_world *w, struct ucmx_channel *channel)
{
	struct ucmx_id *id = fake_id(w, channel);
	struct ucmx_event *event;
	int room;

	for (room = 0; room < UCMX_ROOM_GROUP; room++)
		KUNIT_EXPECT_EQ(w->test, 0,
				fake_room(id, room,
					  sizeof(struct rdma_ucmx_event)));
	ucmx_room_drop(id, UCMX_ROOM_CONNECT);
	event = ucmx_room_take(id, UCMX_ROOM_DISCONNECTED);
	KUNIT_ASSERT_NOT_NULL(w->test, event);
	event->head.size = sizeof(event->head);
	KUNIT_EXPECT_EQ(w->test, 0, ucmx_event_raise(id, event));
	fake_raise(w, id, 1);
	read_all(w, channel);
	fake_raise(w, id, 2);
	KUNIT_EXPECT_EQ(w->test, 0,
			ucmx_event_write(channel, id, fake_event(w, 3)));
	return id;
}

/* A child of each kind: claimed, read, and unread. */
static struct ucmx_id *listener(struct fake_world *w,
				struct ucmx_channel *channel)
{
	struct ucmx_id *id = fake_listener(w, channel, 2), *child;

	child = request(w, id);
	read_all(w, channel);
	ucmx_id_claim(child, 1);
	request(w, id);
	read_all(w, channel);
	request(w, id);
	request(w, id);
	KUNIT_EXPECT_EQ(w->test, -ENOSPC, fake_request(w, id, 4, NULL));
	return id;
}

/* A group that was left in time, one that was not, and one that is joined. */
static struct ucmx_id *member(struct fake_world *w, struct ucmx_channel *channel)
{
	struct ucmx_id *id = fake_id(w, channel);
	u32 number[3];
	int i;

	for (i = 0; i < 3; i++) {
		number[i] = fake_group(w, id, i)->number;
		fake_group_event(w, id, number[i], 1);
	}
	KUNIT_EXPECT_EQ(w->test, 0, fake_leave(id, number[0], &nonblock));
	read_all(w, channel);
	for (i = 1; i < 3; i++)
		fake_group_event(w, id, number[i], 2);
	KUNIT_EXPECT_EQ(w->test, -EAGAIN, fake_leave(id, number[1], &nonblock));
	KUNIT_EXPECT_EQ(w->test, -ETIMEDOUT, fake_leave(id, number[1], &late));
	ucmx_group_remove(id, fake_group(w, id, 9));
	return id;
}

static void migrate_some(struct fake_world *w)
{
	struct ucmx_move move = { .wait = nonblock };
	struct ucmx_id *id;

	/* What is outstanding stays so, and with it the id. */
	id = busy(w, w->source);
	KUNIT_EXPECT_EQ(w->test, -EAGAIN,
			ucmx_id_migrate(w->source, id->handle, w->target,
					&move));
	fake_ack(w, w->source, id->handle, 0);
	fake_migrate(w, w->source, id, w->target);
	id = listener(w, w->source);
	fake_ack(w, w->source, id->handle, 0);
	fake_migrate(w, w->source, id, w->target);
	read_one(w, w->target);
	id = member(w, w->source);
	fake_ack(w, w->source, id->handle, 0);
	fake_migrate(w, w->source, id, w->target);
	move.announcement = fake_event(w, 0);
	id = fake_id(w, w->source);
	fake_raise(w, id, 1);
	KUNIT_EXPECT_EQ(w->test, 0,
			ucmx_id_migrate(w->source, id->handle, w->target,
					&move));
}

static void end_some(struct fake_world *w)
{
	struct ucmx_id *id;
	int i;

	for (i = 0; i < 3; i++) {
		id = i == 0 ? busy(w, w->source) :
		     i == 1 ? listener(w, w->source) : member(w, w->source);
		ucmx_id_device_gone(id);
		id = i == 0 ? busy(w, w->source) :
		     i == 1 ? listener(w, w->source) : member(w, w->source);
		KUNIT_EXPECT_EQ(w->test, -EAGAIN,
				ucmx_id_destroy(w->source, id->handle,
						&nonblock));
		KUNIT_EXPECT_EQ(w->test, -ETIMEDOUT,
				ucmx_id_destroy(w->source, id->handle, &late));
	}
	ucmx_id_abort(fake_id_unseen(w));
}

static struct fake_thread *begin(struct fake_world *w)
{
	struct ucmx_channel *third = fake_channel(w);
	struct ucmx_id *id;

	busy(w, w->source);
	busy(w, w->target);
	listener(w, w->source);
	member(w, w->source);
	migrate_some(w);
	end_some(w);
	/* Moved on, and closed there. */
	id = member(w, w->source);
	fake_ack(w, w->source, id->handle, 0);
	fake_migrate(w, w->source, id, third);
	listener(w, third);
	fake_close(w, third);
	/* One that is under way, with children that count on both. */
	id = listener(w, w->source);
	return fake_start_waiting(w, id, w->target, NULL);
}

/*
 * How it ends
 */

static void acknowledge_all(struct fake_world *w, struct ucmx_channel *channel)
{
	struct ucmx_id *id;
	u32 handle = 0;

	while ((id = ucmx_id_get_next(handle))) {
		handle = id->handle + 1;
		ucmx_channel_ack(channel, id->handle, 0);
		ucmx_id_put(id);
	}
}

/* All die at once; what is not acknowledged stays until it is. */
static void destroy_all(struct fake_world *w, struct ucmx_channel *channel)
{
	struct ucmx_id *id;
	u32 handle = 0;

	while ((id = ucmx_id_get_next(handle))) {
		handle = id->handle + 1;
		ucmx_id_destroy(channel, id->handle, &late);
		ucmx_id_put(id);
	}
}

/* A channel is not closed while a call is at work on it. */
static void end_migration(struct fake_thread *mover)
{
	if (mover->joined)
		return;
	if (!fake_done(mover))
		fake_signal(mover);
	fake_join(mover);
}

static void close_one(struct fake_world *w, struct fake_thread *mover,
		      struct ucmx_channel *channel)
{
	end_migration(mover);
	fake_close(w, channel);
}

static void expect_nothing_left(struct fake_world *w)
{
	struct kunit *test = w->test;

	fake_core_settle();
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&w->live));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&w->wrong));
	KUNIT_EXPECT_EQ(test, 0, fake_core_ids());
	KUNIT_EXPECT_FALSE(test, fake_core_has_handles());
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&fake_events));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&fake_objects));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&fake_pids));
}

enum { ACK, DESTROY, CLOSE_SOURCE, CLOSE_TARGET, STEPS };

static void end_step(struct fake_world *w, struct fake_thread *mover, int step)
{
	struct ucmx_channel *channel[] = { w->source, w->target };
	int i;

	if (step == CLOSE_SOURCE || step == CLOSE_TARGET) {
		close_one(w, mover, channel[step == CLOSE_TARGET]);
		return;
	}
	for (i = 0; i < 2; i++) {
		if (!channel[i])
			continue;
		if (step == DESTROY)
			destroy_all(w, channel[i]);
		else
			acknowledge_all(w, channel[i]);
	}
}

/* The @n-th order of the steps. */
static void end_in_order(struct fake_world *w, struct fake_thread *mover, int n)
{
	int steps[STEPS] = { ACK, DESTROY, CLOSE_SOURCE, CLOSE_TARGET };
	int i, pick;

	for (i = STEPS; i > 0; i--) {
		pick = n % i;
		n /= i;
		end_step(w, mover, steps[pick]);
		steps[pick] = steps[i - 1];
	}
	expect_nothing_left(w);
}

#define ORDERS	(4 * 3 * 2)

static void c18_nothing_is_left_in_any_order(struct kunit *test)
{
	struct fake_world *w = test->priv;
	int n;

	for (n = 0; n < ORDERS; n++) {
		end_in_order(w, begin(w), n);
		w->source = fake_channel(w);
		w->target = fake_channel(w);
	}
}

/* Without closing: all of it is destroyed and acknowledged. */
static void c18_nothing_is_left_on_open_channels(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct fake_thread *mover;
	int n;

	for (n = 0; n < 2; n++) {
		mover = begin(w);
		end_step(w, mover, n ? ACK : DESTROY);
		end_step(w, mover, n ? DESTROY : ACK);
		end_migration(mover);
		fake_core_settle();
		KUNIT_EXPECT_EQ(test, 0, atomic_read(&w->live));
		KUNIT_EXPECT_EQ(test, 0, atomic_read(&fake_events));
		KUNIT_EXPECT_EQ(test, 0, atomic_read(&fake_pids));
		KUNIT_EXPECT_EQ(test, 0, fake_more_objects(w));
		KUNIT_EXPECT_EQ(test, 0u, w->source->n_outstanding);
		KUNIT_EXPECT_EQ(test, 0u, w->source->n_pending);
		KUNIT_EXPECT_EQ(test, 0u, w->target->n_outstanding);
		KUNIT_EXPECT_EQ(test, 0u, w->target->n_pending);
		fake_expect_ids(w, 0, 0);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(c18_nothing_is_left_in_any_order),
	KUNIT_CASE(c18_nothing_is_left_on_open_channels),
	{}
};

FAKE_SUITE(ucmx_leak, cases);
