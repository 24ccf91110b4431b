// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The queue of a channel: order, reading one and many, putting back what could
 * not be copied, waking.
 */
#include <linux/slab.h>

#include "fake.h"

static void c02_order_over_all_ids(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id[3];
	int i;

	for (i = 0; i < 3; i++)
		id[i] = fake_id(w, w->source);
	for (i = 0; i < 12; i++)
		fake_raise(w, id[i * 2 % 3], 100 + i);
	for (i = 0; i < 12; i++)
		FAKE_EXPECT_READ(w, w->source, id[i * 2 % 3]->handle, 100 + i,
				 1 + i / 3);
	FAKE_EXPECT_EMPTY(w, w->source);
}

static void c04_record_says_id_and_cookie(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct rdma_ucmx_event event;

	fake_raise(w, id, 7);
	KUNIT_EXPECT_EQ(test, (ssize_t)sizeof(event),
			fake_read(w->source, &event));
	KUNIT_EXPECT_EQ(test, (u32)sizeof(event), event.size);
	KUNIT_EXPECT_EQ(test, id->handle, event.id);
	KUNIT_EXPECT_EQ(test, fake_cookie(id->handle), event.cookie);
	KUNIT_EXPECT_EQ(test, 0u, event.listen_id);
	KUNIT_EXPECT_EQ(test, 0ull, event.listen_cookie);
}

static void c04_request_says_child_and_listener(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *listener = fake_listener(w, w->source, 1), *child;
	struct rdma_ucmx_event event;

	KUNIT_ASSERT_EQ(test, 0, fake_request(w, listener, 4, &child));
	KUNIT_EXPECT_EQ(test, (ssize_t)sizeof(event),
			fake_read(w->source, &event));
	KUNIT_EXPECT_EQ(test, child->handle, event.id);
	KUNIT_EXPECT_EQ(test, 0ull, event.cookie);
	KUNIT_EXPECT_EQ(test, listener->handle, event.listen_id);
	KUNIT_EXPECT_EQ(test, fake_cookie(listener->handle),
			event.listen_cookie);
	KUNIT_EXPECT_EQ(test, 1ull, event.seq);
}

/* Look at @n records, one behind the other, events numbered from @what on. */
static void expect_records(struct kunit *test, const char *data, int n,
			   u32 what)
{
	const struct rdma_ucmx_event *event;
	int i;

	for (i = 0; i < n; i++) {
		event = (const struct rdma_ucmx_event *)data + i;
		KUNIT_EXPECT_EQ(test, (u32)sizeof(*event), event->size);
		KUNIT_EXPECT_EQ(test, what + i, event->event);
	}
}

static void c04_batch_is_what_fits(struct kunit *test)
{
	const int fit = RDMA_UCMX_READ_MIN / sizeof(struct rdma_ucmx_event);
	const ssize_t one = sizeof(struct rdma_ucmx_event);
	struct fake_world *w = test->priv;
	struct fake_buf *buf = fake_buf(w);
	struct ucmx_id *id = fake_id(w, w->source);
	char __user *user = (char __force __user *)buf->data;
	int i;

	for (i = 0; i < fit + 3; i++)
		fake_raise(w, id, i);
	KUNIT_EXPECT_EQ(test, fit * one,
			ucmx_channel_read(w->source, user, RDMA_UCMX_READ_MIN,
					  false));
	expect_records(test, buf->data, fit, 0);
	KUNIT_EXPECT_EQ(test, 3 * one,
			ucmx_channel_read(w->source, user, RDMA_UCMX_READ_MIN,
					  false));
	expect_records(test, buf->data, 3, fit);
	FAKE_EXPECT_EMPTY(w, w->source);
}

/* The number is the caller's, and no error hides what was read before it. */
static void c04_as_many_as_are_wanted(struct kunit *test)
{
	const ssize_t one = sizeof(struct rdma_ucmx_event);
	struct fake_world *w = test->priv;
	struct fake_buf *buf = fake_buf(w);
	struct ucmx_id *id = fake_id(w, w->source);
	struct ucmx_read read = {
		.buf = (char __force __user *)buf->data,
		.len = RDMA_UCMX_READ_MIN,
		.max = 3,
	};
	int i;

	for (i = 0; i < 6; i++)
		fake_raise(w, id, i);
	KUNIT_EXPECT_EQ(test, 0,
			ucmx_channel_read_events(w->source, &read, false));
	KUNIT_EXPECT_EQ(test, 3u, read.count);
	KUNIT_EXPECT_EQ(test, 3 * one, (ssize_t)read.done);
	expect_records(test, buf->data, 3, 0);
	KUNIT_EXPECT_EQ(test, 3u, buf->copies);
	KUNIT_EXPECT_EQ(test, 3u, fake_info(id).pending);
	read = (struct ucmx_read){
		.buf = read.buf, .len = 2 * one + one / 2, .max = 3,
	};
	KUNIT_EXPECT_EQ(test, 0,
			ucmx_channel_read_events(w->source, &read, false));
	KUNIT_EXPECT_EQ(test, 2u, read.count);
	expect_records(test, buf->data, 2, 3);
	FAKE_EXPECT_READ(w, w->source, id->handle, 5, 6);
	FAKE_EXPECT_EMPTY(w, w->source);
}

static void c04_small_buffer_gets_one(struct kunit *test)
{
	const ssize_t one = sizeof(struct rdma_ucmx_event);
	struct fake_world *w = test->priv;
	struct fake_buf *buf = fake_buf(w);
	struct ucmx_id *id = fake_id(w, w->source);
	char __user *user = (char __force __user *)buf->data;

	fake_raise(w, id, 1);
	fake_raise(w, id, 2);
	KUNIT_EXPECT_EQ(test, one,
			ucmx_channel_read(w->source, user,
					  RDMA_UCMX_READ_MIN - 1, false));
	FAKE_EXPECT_READ(w, w->source, id->handle, 2, 2);
}

static void c04_short_buffer_is_einval(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct fake_buf *buf = fake_buf(w);
	struct ucmx_id *id = fake_id(w, w->source);
	char __user *user = (char __force __user *)buf->data;
	struct ucmx_event *event;

	KUNIT_EXPECT_EQ(test, (ssize_t)-EINVAL,
			ucmx_channel_read(w->source, user,
					  sizeof(event->head) - 1, false));
	event = ucmx_event_alloc(UCMX_ROOM_NONE, UCMX_RECORD_MAX, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, event);
	event->head.size = UCMX_RECORD_MAX;
	KUNIT_EXPECT_EQ(test, 0, ucmx_event_raise(id, event));
	fake_raise(w, id, 2);
	KUNIT_EXPECT_EQ(test, (ssize_t)-EINVAL,
			ucmx_channel_read(w->source, user, UCMX_RECORD_MAX - 1,
					  false));
	KUNIT_EXPECT_EQ(test, 0u, buf->copies);
	KUNIT_EXPECT_EQ(test, 2u, fake_info(id).pending);
	KUNIT_EXPECT_EQ(test, (ssize_t)UCMX_RECORD_MAX,
			ucmx_channel_read(w->source, user, UCMX_RECORD_MAX,
					  false));
	FAKE_EXPECT_READ(w, w->source, id->handle, 2, 2);
}

static void c04_batch_ends_before_what_does_not_fit(struct kunit *test)
{
	const ssize_t one = sizeof(struct rdma_ucmx_event);
	struct fake_world *w = test->priv;
	struct fake_buf *buf = fake_buf(w);
	struct ucmx_id *id = fake_id(w, w->source);
	char __user *user = (char __force __user *)buf->data;
	const int n = (RDMA_UCMX_READ_MIN - UCMX_RECORD_MAX) / one + 1;
	struct ucmx_event *event;
	int i;

	for (i = 0; i < n; i++)
		fake_raise(w, id, i);
	event = ucmx_event_alloc(UCMX_ROOM_NONE, UCMX_RECORD_MAX, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, event);
	event->head.size = UCMX_RECORD_MAX;
	KUNIT_EXPECT_EQ(test, 0, ucmx_event_raise(id, event));
	KUNIT_EXPECT_EQ(test, n * one,
			ucmx_channel_read(w->source, user, RDMA_UCMX_READ_MIN,
					  false));
	KUNIT_EXPECT_EQ(test, (ssize_t)UCMX_RECORD_MAX,
			ucmx_channel_read(w->source, user, RDMA_UCMX_READ_MIN,
					  false));
}

/*
 * Putting back
 */

static void c02_put_back_is_first(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *a = fake_id(w, w->source), *b = fake_id(w, w->source);

	fake_raise(w, a, 1);
	fake_raise(w, b, 2);
	fake_raise(w, a, 3);
	KUNIT_EXPECT_EQ(test, (ssize_t)-EFAULT, fake_read(w->source, NULL));
	KUNIT_EXPECT_EQ(test, 0u, fake_info(a).outstanding);
	KUNIT_EXPECT_EQ(test, 2u, fake_info(a).pending);
	KUNIT_EXPECT_TRUE(test, fake_readable(w->source));
	FAKE_EXPECT_READ(w, w->source, a->handle, 1, 1);
	KUNIT_EXPECT_EQ(test, (ssize_t)-EFAULT, fake_read(w->source, NULL));
	FAKE_EXPECT_READ(w, w->source, b->handle, 2, 1);
	FAKE_EXPECT_READ(w, w->source, a->handle, 3, 2);
}

static void c04_fault_in_a_batch_ends_it(struct kunit *test)
{
	const ssize_t one = sizeof(struct rdma_ucmx_event);
	struct fake_world *w = test->priv;
	struct fake_buf *buf = fake_buf(w);
	struct ucmx_id *a = fake_id(w, w->source), *b = fake_id(w, w->source);
	char __user *user = (char __force __user *)buf->data;

	buf->fail_from = 3;
	fake_raise(w, a, 1);
	fake_raise(w, b, 2);
	fake_raise(w, a, 3);
	fake_raise(w, b, 4);
	KUNIT_EXPECT_EQ(test, 2 * one,
			ucmx_channel_read(w->source, user, RDMA_UCMX_READ_MIN,
					  false));
	expect_records(test, buf->data, 2, 1);
	FAKE_EXPECT_READ(w, w->source, a->handle, 3, 2);
	FAKE_EXPECT_READ(w, w->source, b->handle, 4, 2);
}

/* What was read by then is the caller's; the rest stays where it is. */
static void c04_signal_ends_a_batch(struct kunit *test)
{
	const long one = sizeof(struct rdma_ucmx_event);
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct fake_buf *buf = fake_buf(w);
	struct fake_thread *reader;

	buf->hold_at = 1;
	fake_raise(w, id, 1);
	fake_raise(w, id, 2);
	reader = fake_start_read_len(w, w->source, buf, RDMA_UCMX_READ_MIN);
	FAKE_UNTIL(w, try_wait_for_completion(&buf->held));
	fake_signal(reader);
	complete(&buf->go);
	KUNIT_EXPECT_EQ(test, one, fake_join(reader));
	FAKE_EXPECT_READ(w, w->source, id->handle, 2, 2);
}

static void c02_put_back_meets_what_came_meanwhile(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *a = fake_id(w, w->source), *b = fake_id(w, w->source);
	struct fake_thread *reader;

	fake_raise(w, a, 1);
	reader = fake_start_copy(w, w->source, true);
	fake_raise(w, b, 2);
	fake_raise(w, a, 3);
	complete(&reader->buf->go);
	KUNIT_EXPECT_EQ(test, (long)-EFAULT, fake_join(reader));
	FAKE_EXPECT_READ(w, w->source, a->handle, 1, 1);
	FAKE_EXPECT_READ(w, w->source, b->handle, 2, 1);
	FAKE_EXPECT_READ(w, w->source, a->handle, 3, 2);
}

static void c02_put_back_wakes_another_reader(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct fake_buf *good = fake_buf(w);
	struct ucmx_id *id = fake_id(w, w->source);
	struct fake_thread *first, *second;

	fake_raise(w, id, 1);
	first = fake_start_copy(w, w->source, true);
	second = fake_start_read(w, w->source, good);
	FAKE_UNTIL(w, fake_sleeps(second));
	complete(&first->buf->go);
	KUNIT_EXPECT_EQ(test, (long)-EFAULT, fake_join(first));
	KUNIT_EXPECT_EQ(test, (long)sizeof(struct rdma_ucmx_event),
			fake_join(second));
	expect_records(test, good->data, 1, 1);
}

/* A request that is put back keeps its child. */
static void c04_put_back_with_a_child(struct kunit *test)
{
	const struct ucmx_wait wait = { .nonblock = true };
	struct fake_world *w = test->priv;
	struct ucmx_id *listener = fake_listener(w, w->source, 1), *child;

	KUNIT_ASSERT_EQ(test, 0, fake_request(w, listener, 4, &child));
	KUNIT_EXPECT_EQ(test, (ssize_t)-EFAULT, fake_read(w->source, NULL));
	KUNIT_EXPECT_EQ(test, -ENOENT,
			ucmx_id_destroy(w->source, child->handle, &wait));
	KUNIT_EXPECT_EQ(test, 1u, fake_info(listener).unread);
	FAKE_EXPECT_READ(w, w->source, child->handle, 4, 1);
	KUNIT_EXPECT_EQ(test, 0u, fake_info(listener).unread);
	fake_destroy(w, w->source, child->handle);
}

/*
 * Waiting
 */

static void read_waits_for_an_event(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct fake_buf *buf = fake_buf(w);
	struct ucmx_id *id = fake_id(w, w->source);
	struct fake_thread *reader = fake_start_read(w, w->source, buf);

	FAKE_UNTIL(w, fake_sleeps(reader));
	fake_raise(w, id, 5);
	KUNIT_EXPECT_EQ(test, (long)sizeof(struct rdma_ucmx_event),
			fake_join(reader));
	expect_records(test, buf->data, 1, 5);
}

static void read_waits_without_ids_until_a_signal(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct fake_thread *reader;

	FAKE_EXPECT_EMPTY(w, w->source);
	reader = fake_start_read(w, w->source, fake_buf(w));
	FAKE_UNTIL(w, fake_sleeps(reader));
	fake_signal(reader);
	KUNIT_EXPECT_EQ(test, (long)-ERESTARTSYS, fake_join(reader));
}

/* While another one's copy takes its time, whatever else there is to read. */
static void read_waits_for_a_copy_until_a_signal(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct fake_thread *first, *second;

	fake_raise(w, id, 1);
	fake_raise(w, id, 2);
	first = fake_start_copy(w, w->source, false);
	second = fake_start_read(w, w->source, fake_buf(w));
	FAKE_UNTIL(w, fake_sleeps(second));
	fake_signal(second);
	KUNIT_EXPECT_EQ(test, (long)-ERESTARTSYS, fake_join(second));
	complete(&first->buf->go);
	KUNIT_EXPECT_EQ(test, (long)sizeof(struct rdma_ucmx_event),
			fake_join(first));
	FAKE_EXPECT_READ(w, w->source, id->handle, 2, 2);
}

static void nonblocking_reader_is_told_after_a_copy(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct rdma_ucmx_event event;
	struct fake_thread *reader;
	struct fake_sleeper sleeper;

	fake_raise(w, id, 1);
	fake_raise(w, id, 2);
	reader = fake_start_copy(w, w->source, false);
	KUNIT_EXPECT_EQ(test, (ssize_t)-EAGAIN, fake_read(w->source, &event));
	fake_sleeper_add(&sleeper, w->source);
	complete(&reader->buf->go);
	KUNIT_EXPECT_EQ(test, (long)sizeof(event), fake_join(reader));
	fake_sleeper_remove(&sleeper, w->source);
	KUNIT_EXPECT_EQ(test, 1, sleeper.woken);
	FAKE_EXPECT_READ(w, w->source, id->handle, 2, 2);
}

static int sleepers_woken(struct fake_sleeper *sleeper, int n)
{
	int i, woken = 0;

	for (i = 0; i < n; i++)
		woken += sleeper[i].woken;
	return woken;
}

/* As many of those who wait exclusively as there are events. */
static void c09_commit_of_n_events_wakes_n(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct fake_sleeper sleeper[5];
	int i;

	for (i = 0; i < 5; i++)
		fake_sleeper_add(&sleeper[i], w->target);
	for (i = 0; i < 3; i++)
		fake_raise(w, id, i);
	KUNIT_EXPECT_EQ(test, 0, sleepers_woken(sleeper, 5));
	fake_migrate(w, w->source, id, w->target);
	for (i = 0; i < 5; i++) {
		fake_sleeper_remove(&sleeper[i], w->target);
		KUNIT_EXPECT_LE(test, sleeper[i].woken, 1);
	}
	KUNIT_EXPECT_EQ(test, 3, sleepers_woken(sleeper, 5));
}

static void raise_wakes_one(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct fake_sleeper sleeper[2];

	fake_sleeper_add(&sleeper[0], w->source);
	fake_sleeper_add(&sleeper[1], w->source);
	fake_raise(w, id, 1);
	KUNIT_EXPECT_EQ(test, 1, sleepers_woken(sleeper, 2));
	fake_sleeper_remove(&sleeper[0], w->source);
	fake_sleeper_remove(&sleeper[1], w->source);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(c02_order_over_all_ids),
	KUNIT_CASE(c04_record_says_id_and_cookie),
	KUNIT_CASE(c04_request_says_child_and_listener),
	KUNIT_CASE(c04_batch_is_what_fits),
	KUNIT_CASE(c04_as_many_as_are_wanted),
	KUNIT_CASE(c04_small_buffer_gets_one),
	KUNIT_CASE(c04_short_buffer_is_einval),
	KUNIT_CASE(c04_batch_ends_before_what_does_not_fit),
	KUNIT_CASE(c02_put_back_is_first),
	KUNIT_CASE(c04_fault_in_a_batch_ends_it),
	KUNIT_CASE(c04_signal_ends_a_batch),
	KUNIT_CASE(c02_put_back_meets_what_came_meanwhile),
	KUNIT_CASE(c02_put_back_wakes_another_reader),
	KUNIT_CASE(c04_put_back_with_a_child),
	KUNIT_CASE(read_waits_for_an_event),
	KUNIT_CASE(read_waits_without_ids_until_a_signal),
	KUNIT_CASE(read_waits_for_a_copy_until_a_signal),
	KUNIT_CASE(nonblocking_reader_is_told_after_a_copy),
	KUNIT_CASE(c09_commit_of_n_events_wakes_n),
	KUNIT_CASE(raise_wakes_one),
	{}
};

FAKE_SUITE(ucmx_queue, cases);
