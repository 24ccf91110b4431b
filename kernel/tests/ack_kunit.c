// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Acknowledging, and who may name an id: ownership, commands, lists.
 */
#include <linux/sched.h>

#include "fake.h"

static void c05_second_ack_is_einval(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);

	fake_raise(w, id, 1);
	FAKE_EXPECT_READ(w, w->source, id->handle, 1, 1);
	KUNIT_EXPECT_EQ(test, 1u, w->source->n_outstanding);
	fake_ack(w, w->source, id->handle, 1);
	KUNIT_EXPECT_EQ(test, -EINVAL,
			ucmx_channel_ack(w->source, id->handle, 1));
	KUNIT_EXPECT_EQ(test, 0u, fake_info(id).outstanding);
	KUNIT_EXPECT_EQ(test, 0u, w->source->n_outstanding);
}

static void c05_ack_of_what_was_not_read_is_einval(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);

	KUNIT_EXPECT_EQ(test, -EINVAL,
			ucmx_channel_ack(w->source, id->handle, 1));
	fake_raise(w, id, 1);
	KUNIT_EXPECT_EQ(test, -EINVAL,
			ucmx_channel_ack(w->source, id->handle, 1));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			ucmx_channel_ack(w->source, id->handle, 2));
	FAKE_EXPECT_READ(w, w->source, id->handle, 1, 1);
}

static void c01_foreign_and_unknown_are_enoent(struct kunit *test)
{
	const struct ucmx_move move = { .wait.nonblock = true };
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	u32 handles[] = { 0, id->handle, id->handle + 1, U32_MAX };
	int i;

	fake_raise(w, id, 1);
	FAKE_EXPECT_READ(w, w->source, id->handle, 1, 1);
	for (i = 0; i < ARRAY_SIZE(handles); i++) {
		KUNIT_EXPECT_EQ(test, -ENOENT,
				ucmx_channel_ack(w->target, handles[i], 1));
		KUNIT_EXPECT_EQ(test, -ENOENT,
				ucmx_channel_ack(w->target, handles[i], 0));
		KUNIT_EXPECT_EQ(test, -ENOENT,
				ucmx_id_destroy(w->target, handles[i],
						&move.wait));
		KUNIT_EXPECT_EQ(test, -ENOENT,
				ucmx_id_migrate(w->target, handles[i],
						w->source, &move));
		KUNIT_EXPECT_EQ(test, -ENOENT,
				PTR_ERR_OR_ZERO(ucmx_id_begin(w->target,
							      handles[i])));
	}
	KUNIT_EXPECT_EQ(test, 1u, fake_info(id).outstanding);
}

static void c01_unread_child_is_enoent(struct kunit *test)
{
	const struct ucmx_move move = { .wait.nonblock = true };
	struct fake_world *w = test->priv;
	struct ucmx_id *listener = fake_listener(w, w->source, 1), *child;

	KUNIT_ASSERT_EQ(test, 0, fake_request(w, listener, 4, &child));
	KUNIT_EXPECT_EQ(test, -ENOENT,
			ucmx_channel_ack(w->source, child->handle, 0));
	KUNIT_EXPECT_EQ(test, -ENOENT,
			ucmx_id_destroy(w->source, child->handle, &move.wait));
	KUNIT_EXPECT_EQ(test, -ENOENT,
			ucmx_id_migrate(w->source, child->handle, w->target,
					&move));
	KUNIT_EXPECT_EQ(test, -ENOENT,
			PTR_ERR_OR_ZERO(ucmx_id_begin(w->source,
						      child->handle)));
	KUNIT_EXPECT_PTR_EQ(test, (struct ucmx_id *)NULL,
			    ucmx_id_get(child->handle));
}

static void c05_acks_in_any_order(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	static const u64 order[] = { 3, 1, 4, 2 };
	int i;

	for (i = 1; i <= 4; i++)
		fake_raise(w, id, i);
	for (i = 1; i <= 4; i++)
		FAKE_EXPECT_READ(w, w->source, id->handle, i, i);
	for (i = 0; i < 4; i++) {
		fake_ack(w, w->source, id->handle, order[i]);
		KUNIT_EXPECT_EQ(test, 3u - i, fake_info(id).outstanding);
	}
}

static void c05_ack_of_all(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	int i;

	fake_ack(w, w->source, id->handle, 0);
	for (i = 1; i <= 4; i++)
		fake_raise(w, id, i);
	for (i = 1; i <= 3; i++)
		FAKE_EXPECT_READ(w, w->source, id->handle, i, i);
	fake_ack(w, w->source, id->handle, 0);
	KUNIT_EXPECT_EQ(test, 0u, fake_info(id).outstanding);
	KUNIT_EXPECT_EQ(test, 1u, fake_info(id).pending);
	KUNIT_EXPECT_EQ(test, -EINVAL,
			ucmx_channel_ack(w->source, id->handle, 3));
	FAKE_EXPECT_READ(w, w->source, id->handle, 4, 4);
}

/* A request is the listener's to acknowledge; the child waits for nothing. */
static void c05_request_is_acked_by_its_listener(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *listener = fake_listener(w, w->source, 1), *child;

	KUNIT_ASSERT_EQ(test, 0, fake_request(w, listener, 4, &child));
	FAKE_EXPECT_READ(w, w->source, child->handle, 4, 1);
	KUNIT_EXPECT_EQ(test, -EINVAL,
			ucmx_channel_ack(w->source, child->handle, 1));
	fake_migrate(w, w->source, child, w->target);
	fake_destroy(w, w->target, child->handle);
	fake_ack(w, w->source, listener->handle, 1);
}

static void c05_outstanding_says_who_and_since_when(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	u64 before = ktime_get_ns();
	struct rdma_ucmx_id_info info;

	fake_raise(w, id, 1);
	info = fake_info(id);
	KUNIT_EXPECT_EQ(test, 0ull, info.oldest_seq);
	KUNIT_EXPECT_EQ(test, 1u, info.pending);
	KUNIT_EXPECT_EQ(test, (ssize_t)-EFAULT, fake_read(w->source, NULL));
	KUNIT_EXPECT_EQ(test, 0ull, fake_info(id).oldest_seq);
	FAKE_EXPECT_READ(w, w->source, id->handle, 1, 1);
	info = fake_info(id);
	KUNIT_EXPECT_EQ(test, id->handle, info.id);
	KUNIT_EXPECT_EQ(test, 0u, info.state);
	KUNIT_EXPECT_EQ(test, fake_cookie(id->handle), info.cookie);
	KUNIT_EXPECT_EQ(test, 1u, info.outstanding);
	KUNIT_EXPECT_EQ(test, 1ull, info.oldest_seq);
	KUNIT_EXPECT_EQ(test, (u32)task_tgid_vnr(current), info.oldest_reader);
	KUNIT_EXPECT_GE(test, info.oldest_time, before);
	KUNIT_EXPECT_LE(test, info.oldest_time, ktime_get_ns());
}

/*
 * While it is copied
 */

static void c05_ack_of_what_is_copied_counts_afterwards(struct kunit *test)
{
	const struct ucmx_move move = { .wait.nonblock = true };
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct fake_thread *reader;

	fake_raise(w, id, 1);
	reader = fake_start_copy(w, w->source, false);
	fake_ack(w, w->source, id->handle, 1);
	KUNIT_EXPECT_EQ(test, -EINVAL,
			ucmx_channel_ack(w->source, id->handle, 1));
	KUNIT_EXPECT_EQ(test, 1u, fake_info(id).outstanding);
	KUNIT_EXPECT_EQ(test, -EAGAIN,
			ucmx_id_migrate(w->source, id->handle, w->target,
					&move));
	complete(&reader->buf->go);
	KUNIT_EXPECT_GT(test, fake_join(reader), 0l);
	KUNIT_EXPECT_EQ(test, 0u, fake_info(id).outstanding);
	KUNIT_EXPECT_EQ(test, 0,
			ucmx_id_migrate(w->source, id->handle, w->target,
					&move));
}

static void c03_ack_of_a_failing_copy_does_not_lose_it(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct fake_thread *reader;

	fake_raise(w, id, 1);
	reader = fake_start_copy(w, w->source, true);
	fake_ack(w, w->source, id->handle, 0);
	complete(&reader->buf->go);
	KUNIT_EXPECT_EQ(test, (long)-EFAULT, fake_join(reader));
	FAKE_EXPECT_READ(w, w->source, id->handle, 1, 1);
	KUNIT_EXPECT_EQ(test, 1u, fake_info(id).outstanding);
	fake_ack(w, w->source, id->handle, 1);
}

/* Nobody can hold an event that is still being copied. */
static void held_event_must_have_been_copied(struct kunit *test)
{
	struct ucmx_move move = { .wait = { .nonblock = true, .held_seq = 1 } };
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct fake_thread *reader;

	fake_raise(w, id, 1);
	reader = fake_start_copy(w, w->source, false);
	KUNIT_EXPECT_EQ(test, -EAGAIN,
			ucmx_id_migrate(w->source, id->handle, w->target,
					&move));
	KUNIT_EXPECT_EQ(test, -EAGAIN,
			ucmx_id_destroy(w->source, id->handle, &move.wait));
	complete(&reader->buf->go);
	KUNIT_EXPECT_GT(test, fake_join(reader), 0l);
	KUNIT_EXPECT_EQ(test, 0,
			ucmx_id_migrate(w->source, id->handle, w->target,
					&move));
	KUNIT_EXPECT_EQ(test, 0u, fake_info(id).outstanding);
}

/*
 * Commands
 */

static void c01_command_on_the_owner_only(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);

	KUNIT_EXPECT_PTR_EQ(test, id, ucmx_id_begin(w->source, id->handle));
	ucmx_id_end(id);
	fake_migrate(w, w->source, id, w->target);
	KUNIT_EXPECT_EQ(test, -ENOENT,
			PTR_ERR_OR_ZERO(ucmx_id_begin(w->source, id->handle)));
	KUNIT_EXPECT_PTR_EQ(test, id, ucmx_id_begin(w->target, id->handle));
	ucmx_id_end(id);
}

static long do_command(struct fake_thread *thread)
{
	struct ucmx_id *id = ucmx_id_begin(thread->channel, thread->handle);

	if (IS_ERR(id))
		return PTR_ERR(id);
	ucmx_id_end(id);
	return 0;
}

/* The id may have moved on while a command waited for its turn. */
static void c01_owner_is_looked_at_when_it_is_its_turn(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct fake_thread *thread = fake_thread(w, do_command);

	thread->channel = w->source;
	thread->handle = id->handle;
	KUNIT_ASSERT_PTR_EQ(test, id, ucmx_id_begin(w->source, id->handle));
	fake_go(thread);
	FAKE_UNTIL(w, fake_sleeps(thread));
	fake_migrate(w, w->source, id, w->target);
	ucmx_id_end(id);
	KUNIT_EXPECT_EQ(test, (long)-ENOENT, fake_join(thread));
}

static void command_waits_for_its_turn_until_a_signal(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct fake_thread *thread = fake_thread(w, do_command);

	thread->channel = w->source;
	thread->handle = id->handle;
	KUNIT_ASSERT_PTR_EQ(test, id, ucmx_id_begin(w->source, id->handle));
	fake_go(thread);
	FAKE_UNTIL(w, fake_sleeps(thread));
	fake_signal(thread);
	KUNIT_EXPECT_EQ(test, (long)-ERESTARTSYS, fake_join(thread));
	ucmx_id_end(id);
}

static void ids_are_listed_by_rising_handle(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *a = fake_id(w, w->source), *b = fake_id(w, w->target);
	struct ucmx_id *unseen = fake_id_unseen(w);

	/* On another processor it may be either. */
	if (a->handle > b->handle)
		swap(a, b);
	KUNIT_EXPECT_PTR_EQ(test, a, ucmx_id_get_next(0));
	ucmx_id_put(a);
	KUNIT_EXPECT_PTR_EQ(test, b, ucmx_id_get_next(a->handle + 1));
	ucmx_id_put(b);
	KUNIT_EXPECT_PTR_EQ(test, (struct ucmx_id *)NULL,
			    ucmx_id_get_next(b->handle + 1));
	ucmx_id_abort(unseen);
}

/* So that a late acknowledgement does not meet another id. */
static void handles_are_not_used_again_at_once(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	u32 handle = id->handle;

	fake_destroy(w, w->source, handle);
	id = fake_id(w, w->source);
	KUNIT_EXPECT_NE(test, handle, id->handle);
	KUNIT_EXPECT_EQ(test, -ENOENT, ucmx_channel_ack(w->source, handle, 0));
}

static void c19_ids_in_all(struct kunit *test)
{
	struct ucmx_id *id = kunit_kzalloc(test, sizeof(*id), GFP_KERNEL);
	static const struct ucmx_id_ops ops;
	struct fake_world *w = test->priv;
	unsigned int limit = ucmx_max_ids;

	KUNIT_ASSERT_NOT_NULL(test, id);
	fake_id(w, w->source);
	ucmx_max_ids = fake_core_ids();
	KUNIT_EXPECT_EQ(test, -ENOSPC, ucmx_id_init(id, &ops, GFP_KERNEL));
	ucmx_max_ids = limit;
	KUNIT_EXPECT_EQ(test, 1, fake_core_ids());
}

static struct kunit_case cases[] = {
	KUNIT_CASE(c05_second_ack_is_einval),
	KUNIT_CASE(c05_ack_of_what_was_not_read_is_einval),
	KUNIT_CASE(c01_foreign_and_unknown_are_enoent),
	KUNIT_CASE(c01_unread_child_is_enoent),
	KUNIT_CASE(c05_acks_in_any_order),
	KUNIT_CASE(c05_ack_of_all),
	KUNIT_CASE(c05_request_is_acked_by_its_listener),
	KUNIT_CASE(c05_outstanding_says_who_and_since_when),
	KUNIT_CASE(c05_ack_of_what_is_copied_counts_afterwards),
	KUNIT_CASE(c03_ack_of_a_failing_copy_does_not_lose_it),
	KUNIT_CASE(held_event_must_have_been_copied),
	KUNIT_CASE(c01_command_on_the_owner_only),
	KUNIT_CASE(c01_owner_is_looked_at_when_it_is_its_turn),
	KUNIT_CASE(command_waits_for_its_turn_until_a_signal),
	KUNIT_CASE(ids_are_listed_by_rising_handle),
	KUNIT_CASE(handles_are_not_used_again_at_once),
	KUNIT_CASE(c19_ids_in_all),
	{}
};

FAKE_SUITE(ucmx_ack, cases);
