// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Listeners: requests that nobody has read yet, and what becomes of their
 * children when the listener is migrated or destroyed.
 */
#include "fake.h"

/* A request that must be accepted. */
static struct ucmx_id *request(struct fake_world *w, struct ucmx_id *listener,
			       u32 what)
{
	struct ucmx_id *child;

	KUNIT_ASSERT_EQ(w->test, 0, fake_request(w, listener, what, &child));
	return child;
}

/* A listener of the source whose first request was read and not acknowledged. */
static struct ucmx_id *busy_listener(struct fake_world *w)
{
	struct ucmx_id *listener = fake_listener(w, w->source, 10);
	struct ucmx_id *child = request(w, listener, 1);

	FAKE_EXPECT_READ(w, w->source, child->handle, 1, 1);
	return listener;
}

/* A command on the id works on the one channel and not on the other. */
static void expect_usable(struct fake_world *w, struct ucmx_id *id,
			  struct ucmx_channel *on, struct ucmx_channel *not_on)
{
	KUNIT_EXPECT_EQ(w->test, -ENOENT,
			PTR_ERR_OR_ZERO(ucmx_id_begin(not_on, id->handle)));
	KUNIT_ASSERT_PTR_EQ(w->test, id, ucmx_id_begin(on, id->handle));
	ucmx_id_end(id);
}

static void c10_unread_requests_move_along(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *listener = fake_listener(w, w->source, 3), *child[3];
	int i;

	for (i = 0; i < 3; i++)
		child[i] = request(w, listener, i);
	fake_expect_ids(w, 4, 0);
	fake_migrate(w, w->source, listener, w->target);
	fake_expect_ids(w, 0, 4);
	FAKE_EXPECT_EMPTY(w, w->source);
	for (i = 0; i < 3; i++) {
		FAKE_EXPECT_READ(w, w->target, child[i]->handle, i, i + 1);
		expect_usable(w, child[i], w->target, w->source);
	}
	fake_expect_ids(w, 0, 4);
}

static void c10_child_stays_where_it_was_read(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *listener = fake_listener(w, w->source, 2), *child[2];

	child[0] = request(w, listener, 1);
	child[1] = request(w, listener, 2);
	FAKE_EXPECT_READ(w, w->source, child[0]->handle, 1, 1);
	fake_ack(w, w->source, listener->handle, 1);
	fake_migrate(w, w->source, listener, w->target);
	fake_expect_ids(w, 1, 2);
	FAKE_EXPECT_READ(w, w->target, child[1]->handle, 2, 2);
	expect_usable(w, child[0], w->source, w->target);
	expect_usable(w, child[1], w->target, w->source);
	fake_destroy(w, w->source, child[0]->handle);
	fake_expect_ids(w, 0, 2);
}

static void c10_request_during_a_migration_goes_to_the_target(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *listener = busy_listener(w), *child;
	struct fake_thread *mover;

	mover = fake_start_waiting(w, listener, w->target, NULL);
	fake_expect_ids(w, 2, 1);
	child = request(w, listener, 2);
	fake_raise(w, child, 20);
	fake_expect_ids(w, 3, 2);
	FAKE_EXPECT_EMPTY(w, w->source);
	FAKE_EXPECT_EMPTY(w, w->target);
	fake_ack(w, w->source, listener->handle, 1);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(mover));
	fake_expect_ids(w, 1, 2);
	FAKE_EXPECT_EMPTY(w, w->source);
	FAKE_EXPECT_READ(w, w->target, child->handle, 2, 2);
	expect_usable(w, child, w->target, w->source);
	ucmx_id_claim(child, 5);
	FAKE_EXPECT_READ(w, w->target, child->handle, 20, 1);
}

static void c07_request_during_a_failing_migration_stays(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *listener = busy_listener(w), *child;
	struct fake_thread *mover;

	mover = fake_start_waiting(w, listener, w->target, NULL);
	child = request(w, listener, 2);
	fake_expect_ids(w, 3, 2);
	fake_signal(mover);
	KUNIT_EXPECT_EQ(test, (long)-ERESTARTSYS, fake_join(mover));
	fake_expect_ids(w, 3, 0);
	FAKE_EXPECT_READ(w, w->source, child->handle, 2, 2);
	expect_usable(w, child, w->source, w->target);
}

static void c11_request_during_a_migration_to_itself(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *listener = busy_listener(w), *child;
	struct fake_thread *mover;

	mover = fake_start_waiting(w, listener, w->source, NULL);
	child = request(w, listener, 2);
	fake_expect_ids(w, 3, 0);
	fake_ack(w, w->source, listener->handle, 1);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(mover));
	fake_expect_ids(w, 3, 0);
	FAKE_EXPECT_READ(w, w->source, child->handle, 2, 2);
}

/* A migration begins while a request is copied: the child is the source's. */
static void c10_request_being_read_when_it_begins(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *listener = fake_listener(w, w->source, 1), *child;
	struct fake_thread *mover, *reader;

	child = request(w, listener, 1);
	reader = fake_start_copy(w, w->source, false);
	mover = fake_start_waiting(w, listener, w->target, NULL);
	fake_expect_ids(w, 2, 2);
	complete(&reader->buf->go);
	KUNIT_EXPECT_GT(test, fake_join(reader), 0l);
	fake_expect_ids(w, 2, 1);
	expect_usable(w, child, w->source, w->target);
	fake_ack(w, w->target, listener->handle, 1);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(mover));
	fake_expect_ids(w, 1, 1);
	expect_usable(w, child, w->source, w->target);
}

static void c10_request_put_back_after_it_begins(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *listener = fake_listener(w, w->source, 1), *child;
	struct fake_thread *mover, *reader;

	child = request(w, listener, 1);
	reader = fake_start_copy(w, w->source, true);
	mover = fake_start_waiting(w, listener, w->target, NULL);
	complete(&reader->buf->go);
	KUNIT_EXPECT_EQ(test, (long)-EFAULT, fake_join(reader));
	KUNIT_EXPECT_EQ(test, 0l, fake_join(mover));
	fake_expect_ids(w, 0, 2);
	FAKE_EXPECT_READ(w, w->target, child->handle, 1, 1);
	expect_usable(w, child, w->target, w->source);
}

/*
 * Events of children
 */

static void c03_events_of_an_unread_child_wait(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *listener = fake_listener(w, w->source, 1), *child;

	child = request(w, listener, 1);
	fake_raise(w, child, 10);
	fake_raise_urgent(w, child, 11);
	fake_raise(w, child, 12);
	FAKE_EXPECT_READ(w, w->source, child->handle, 1, 1);
	/* The urgent one is delivered now that the child is known. */
	FAKE_EXPECT_READ(w, w->source, child->handle, 11, 2);
	FAKE_EXPECT_EMPTY(w, w->source);
	fake_raise_urgent(w, child, 13);
	FAKE_EXPECT_READ(w, w->source, child->handle, 13, 4);
	ucmx_id_claim(child, 5);
	FAKE_EXPECT_READ(w, w->source, child->handle, 10, 1);
	FAKE_EXPECT_READ(w, w->source, child->handle, 12, 3);
	FAKE_EXPECT_EMPTY(w, w->source);
}

static void c03_claimed_once(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *listener = fake_listener(w, w->source, 1), *child;
	struct rdma_ucmx_event event;

	child = request(w, listener, 1);
	FAKE_EXPECT_READ(w, w->source, child->handle, 1, 1);
	KUNIT_EXPECT_EQ(test, (u32)RDMA_UCMX_ID_UNCLAIMED,
			fake_info(child).state);
	fake_raise(w, child, 2);
	fake_raise(w, listener, 3);
	FAKE_EXPECT_READ(w, w->source, listener->handle, 3, 2);
	ucmx_id_claim(child, 5);
	ucmx_id_claim(child, 6);
	KUNIT_EXPECT_EQ(test, 0u, fake_info(child).state);
	KUNIT_EXPECT_GT(test, fake_read(w->source, &event), (ssize_t)0);
	KUNIT_EXPECT_EQ(test, 2u, event.event);
	KUNIT_EXPECT_EQ(test, 5ull, event.cookie);
	FAKE_EXPECT_EMPTY(w, w->source);
}

/* A child of which the request was read, and two events came. */
static struct ucmx_id *unclaimed(struct fake_world *w, struct ucmx_id *listener)
{
	struct ucmx_id *child = request(w, listener, 1);

	FAKE_EXPECT_READ(w, w->source, child->handle, 1, listener->seq);
	fake_raise(w, child, 10);
	fake_raise_urgent(w, child, 11);
	return child;
}

static void c16_unclaimed_child_can_be_migrated(struct kunit *test)
{
	const struct ucmx_move claim = { .set_cookie = true, .cookie = 6 };
	struct fake_world *w = test->priv;
	struct ucmx_id *listener = fake_listener(w, w->source, 1), *child;

	child = unclaimed(w, listener);
	fake_migrate(w, w->source, child, w->target);
	FAKE_EXPECT_READ(w, w->target, child->handle, 11, 2);
	FAKE_EXPECT_EMPTY(w, w->target);
	ucmx_id_claim(child, 5);
	FAKE_EXPECT_READ(w, w->target, child->handle, 10, 1);
	/* A cookie given with the migration claims; then all is in order. */
	child = unclaimed(w, listener);
	KUNIT_EXPECT_EQ(test, 0,
			ucmx_id_migrate(w->source, child->handle, w->target,
					&claim));
	FAKE_EXPECT_READ(w, w->target, child->handle, 10, 1);
	FAKE_EXPECT_READ(w, w->target, child->handle, 11, 2);
	KUNIT_EXPECT_EQ(test, 6ull, fake_info(child).cookie);
}

static void c16_cookie_claims_on_the_same_channel(struct kunit *test)
{
	const struct ucmx_move claim = { .set_cookie = true, .cookie = 6 };
	struct fake_world *w = test->priv;
	struct ucmx_id *listener = fake_listener(w, w->source, 1), *child;

	child = request(w, listener, 1);
	FAKE_EXPECT_READ(w, w->source, child->handle, 1, 1);
	fake_raise(w, child, 10);
	KUNIT_EXPECT_EQ(test, 0,
			ucmx_id_migrate(w->source, child->handle, w->source,
					&claim));
	FAKE_EXPECT_READ(w, w->source, child->handle, 10, 1);
	KUNIT_EXPECT_EQ(test, 6ull, fake_info(child).cookie);
}

/*
 * The end
 */

static void c17_destroy_drops_unread_requests(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *listener = fake_listener(w, w->source, 3), *other;
	int i;

	other = fake_id(w, w->source);
	for (i = 0; i < 3; i++)
		fake_raise(w, request(w, listener, i), 10);
	fake_raise(w, other, 1);
	fake_destroy(w, w->source, listener->handle);
	fake_core_settle();
	KUNIT_EXPECT_EQ(test, 4, atomic_read(&w->released));
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&w->live));
	fake_expect_ids(w, 1, 0);
	fake_expect_events(w, w->source, other, 1, 1);
}

static void c17_destroy_spares_children_that_were_read(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *listener = fake_listener(w, w->source, 1), *child;

	child = request(w, listener, 1);
	FAKE_EXPECT_READ(w, w->source, child->handle, 1, 1);
	fake_ack(w, w->source, listener->handle, 1);
	fake_destroy(w, w->source, listener->handle);
	expect_usable(w, child, w->source, w->target);
}

/* The request being read was delivered, so the child stays. */
static void c17_destroy_while_a_request_is_read(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *listener = fake_listener(w, w->source, 2), *child;
	struct fake_thread *reader, *destroyer;

	child = request(w, listener, 1);
	request(w, listener, 2);
	reader = fake_start_copy(w, w->source, false);
	destroyer = fake_start_destroy(w, w->source, listener->handle, NULL);
	FAKE_UNTIL(w, fake_sleeps(destroyer));
	complete(&reader->buf->go);
	KUNIT_EXPECT_GT(test, fake_join(reader), 0l);
	expect_usable(w, child, w->source, w->target);
	FAKE_EXPECT_EMPTY(w, w->source);
	fake_ack(w, w->source, listener->handle, 1);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(destroyer));
	fake_core_settle();
	fake_expect_ids(w, 1, 0);
}

static void c17_destroy_while_a_request_is_read_in_vain(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *listener = fake_listener(w, w->source, 2);
	struct fake_thread *reader, *destroyer;

	fake_raise(w, request(w, listener, 1), 10);
	reader = fake_start_copy(w, w->source, true);
	destroyer = fake_start_destroy(w, w->source, listener->handle, NULL);
	FAKE_UNTIL(w, fake_sleeps(destroyer));
	complete(&reader->buf->go);
	KUNIT_EXPECT_EQ(test, (long)-EFAULT, fake_join(reader));
	KUNIT_EXPECT_EQ(test, 0l, fake_join(destroyer));
	fake_core_settle();
	KUNIT_EXPECT_EQ(test, 2, atomic_read(&w->released));
	fake_expect_ids(w, 0, 0);
}

static void c12_destroy_of_a_migrating_listener(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *listener = busy_listener(w);
	struct fake_thread *mover, *destroyer;

	request(w, listener, 2);
	mover = fake_start_waiting(w, listener, w->target, NULL);
	request(w, listener, 3);
	fake_expect_ids(w, 4, 3);
	destroyer = fake_start_destroy(w, w->source, listener->handle, NULL);
	KUNIT_EXPECT_EQ(test, (long)-ECANCELED, fake_join(mover));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&w->target->n_ids));
	fake_ack(w, w->source, listener->handle, 1);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(destroyer));
	fake_core_settle();
	fake_expect_ids(w, 1, 0);
	KUNIT_EXPECT_EQ(test, 3, atomic_read(&w->released));
}

/*
 * Limits, removal
 */

static void c19_backlog(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *listener = fake_listener(w, w->source, 0), *child;

	KUNIT_EXPECT_EQ(test, -ENOSPC, fake_request(w, listener, 1, NULL));
	ucmx_id_set_backlog(listener, 2);
	child = request(w, listener, 1);
	request(w, listener, 2);
	KUNIT_EXPECT_EQ(test, -ENOSPC, fake_request(w, listener, 3, NULL));
	KUNIT_EXPECT_EQ(test, 2u, fake_info(listener).unread);
	fake_expect_ids(w, 3, 0);
	/* What was put back still counts. */
	KUNIT_EXPECT_EQ(test, (ssize_t)-EFAULT, fake_read(w->source, NULL));
	KUNIT_EXPECT_EQ(test, -ENOSPC, fake_request(w, listener, 3, NULL));
	FAKE_EXPECT_READ(w, w->source, child->handle, 1, 1);
	request(w, listener, 3);
	KUNIT_EXPECT_EQ(test, -ENOSPC, fake_request(w, listener, 4, NULL));
}

static void c19_request_needs_room_on_both_channels(struct kunit *test)
{
	struct fake_world *w = test->priv;
	unsigned int limit = ucmx_max_channel_ids;
	struct ucmx_id *listener = busy_listener(w);
	struct fake_thread *mover;

	ucmx_max_channel_ids = 2;
	KUNIT_EXPECT_EQ(test, -ENOSPC, fake_request(w, listener, 2, NULL));
	ucmx_max_channel_ids = limit;
	fake_id(w, w->target);
	fake_id(w, w->target);
	mover = fake_start_waiting(w, listener, w->target, NULL);
	fake_expect_ids(w, 2, 3);
	ucmx_max_channel_ids = 3;
	KUNIT_EXPECT_EQ(test, -ENOSPC, fake_request(w, listener, 2, NULL));
	fake_expect_ids(w, 2, 3);
	ucmx_max_channel_ids = 4;
	KUNIT_EXPECT_EQ(test, 0, fake_request(w, listener, 2, NULL));
	ucmx_max_channel_ids = limit;
	fake_ack(w, w->source, listener->handle, 1);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(mover));
	fake_expect_ids(w, 1, 4);
}

static void c19_target_needs_room_for_unread_requests(struct kunit *test)
{
	const struct ucmx_move nonblock = { .wait.nonblock = true };
	struct fake_world *w = test->priv;
	unsigned int limit = ucmx_max_channel_ids;
	struct ucmx_id *listener = fake_listener(w, w->source, 3), *child;

	child = request(w, listener, 1);
	request(w, listener, 2);
	ucmx_max_channel_ids = 2;
	KUNIT_EXPECT_EQ(test, -ENOSPC,
			ucmx_id_migrate(w->source, listener->handle, w->target,
					&nonblock));
	ucmx_max_channel_ids = limit;
	fake_expect_ids(w, 3, 0);
	FAKE_EXPECT_READ(w, w->source, child->handle, 1, 1);
}

/* The device of a request is removed before anybody has read it. */
static void c14_removal_of_an_unread_child(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *listener = fake_listener(w, w->source, 2), *child;

	child = request(w, listener, 1);
	fake_raise_urgent(w, child, 11);
	ucmx_id_device_gone(child);
	FAKE_UNTIL(w, atomic_read(&w->released) == 1);
	fake_migrate(w, w->source, listener, w->target);
	FAKE_EXPECT_READ(w, w->target, child->handle, 1, 1);
	FAKE_EXPECT_READ(w, w->target, child->handle, 11, 1);
	KUNIT_EXPECT_EQ(test, -ENXIO,
			PTR_ERR_OR_ZERO(ucmx_id_begin(w->target,
						      child->handle)));
	fake_ack(w, w->target, child->handle, 1);
	fake_destroy(w, w->target, child->handle);
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&w->released));
	/* And one that nobody will ever read. */
	child = request(w, listener, 2);
	ucmx_id_device_gone(child);
	FAKE_UNTIL(w, atomic_read(&w->released) == 2);
	fake_ack(w, w->target, listener->handle, 1);
	fake_destroy(w, w->target, listener->handle);
	fake_core_settle();
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&w->live));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(c10_unread_requests_move_along),
	KUNIT_CASE(c10_child_stays_where_it_was_read),
	KUNIT_CASE(c10_request_during_a_migration_goes_to_the_target),
	KUNIT_CASE(c07_request_during_a_failing_migration_stays),
	KUNIT_CASE(c11_request_during_a_migration_to_itself),
	KUNIT_CASE(c10_request_being_read_when_it_begins),
	KUNIT_CASE(c10_request_put_back_after_it_begins),
	KUNIT_CASE(c03_events_of_an_unread_child_wait),
	KUNIT_CASE(c03_claimed_once),
	KUNIT_CASE(c16_unclaimed_child_can_be_migrated),
	KUNIT_CASE(c16_cookie_claims_on_the_same_channel),
	KUNIT_CASE(c17_destroy_drops_unread_requests),
	KUNIT_CASE(c17_destroy_spares_children_that_were_read),
	KUNIT_CASE(c17_destroy_while_a_request_is_read),
	KUNIT_CASE(c17_destroy_while_a_request_is_read_in_vain),
	KUNIT_CASE(c12_destroy_of_a_migrating_listener),
	KUNIT_CASE(c19_backlog),
	KUNIT_CASE(c19_request_needs_room_on_both_channels),
	KUNIT_CASE(c19_target_needs_room_for_unread_requests),
	KUNIT_CASE(c14_removal_of_an_unread_child),
	{}
};

FAKE_SUITE(ucmx_listener, cases);
