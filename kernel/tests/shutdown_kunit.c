// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A channel that was shut down turns readers away for good; all else goes on.
 */
#include "fake.h"

static void readers_that_wait_are_turned_away(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct fake_thread *reader[3];
	int i;

	for (i = 0; i < 3; i++) {
		reader[i] = fake_start_read(w, w->source, fake_buf(w));
		FAKE_UNTIL(w, fake_sleeps(reader[i]));
	}
	ucmx_channel_shut_down(w->source);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, (long)-ESHUTDOWN, fake_join(reader[i]));
}

/* Whatever there would be to read. */
static void later_readers_are_turned_away(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct rdma_ucmx_event event;
	int i;

	for (i = 0; i < 2; i++) {
		ucmx_channel_shut_down(w->source);
		KUNIT_EXPECT_EQ(test, (ssize_t)-ESHUTDOWN,
				fake_read(w->source, &event));
		KUNIT_EXPECT_EQ(test, (long)-ESHUTDOWN,
				fake_join(fake_start_read(w, w->source,
							  fake_buf(w))));
		fake_raise(w, id, 1);
	}
	KUNIT_EXPECT_EQ(test, 2u, w->source->n_pending);
	KUNIT_EXPECT_EQ(test, 0u, fake_info(id).outstanding);
}

static void pollers_are_told(struct kunit *test)
{
	const __poll_t all = EPOLLIN | EPOLLRDNORM | EPOLLHUP;
	struct fake_world *w = test->priv;
	struct fake_sleeper sleeper[3];
	int i;

	for (i = 0; i < 3; i++)
		fake_sleeper_add(&sleeper[i], w->source);
	KUNIT_EXPECT_EQ(test, 0u,
			(__force u32)ucmx_channel_poll(w->source, NULL, NULL));
	ucmx_channel_shut_down(w->source);
	for (i = 0; i < 3; i++) {
		fake_sleeper_remove(&sleeper[i], w->source);
		KUNIT_EXPECT_EQ(test, 1, sleeper[i].woken);
	}
	KUNIT_EXPECT_EQ(test, (__force u32)all,
			(__force u32)ucmx_channel_poll(w->source, NULL, NULL));
	/* The other channel is another one. */
	FAKE_EXPECT_EMPTY(w, w->target);
}

/*
 * Another reader is stuck in its copy.  Who does not want to wait for it is not
 * told to come again: nobody would wake him, since there is no event.
 */
static void readers_are_turned_away_during_a_copy(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct fake_thread *stuck, *reader;
	struct rdma_ucmx_event event;

	fake_raise(w, id, 1);
	stuck = fake_start_copy(w, w->source, false);
	ucmx_channel_shut_down(w->source);
	KUNIT_EXPECT_EQ(test, (ssize_t)-ESHUTDOWN,
			fake_read(w->source, &event));
	reader = fake_start_read(w, w->source, fake_buf(w));
	FAKE_UNTIL(w, fake_done(reader) || fake_sleeps(reader));
	KUNIT_EXPECT_TRUE(test, fake_done(reader));
	complete(&stuck->buf->go);
	KUNIT_EXPECT_EQ(test, (long)-ESHUTDOWN, fake_join(reader));
	/* Who had an event already gets it. */
	KUNIT_EXPECT_EQ(test, (long)sizeof(event), fake_join(stuck));
	KUNIT_EXPECT_EQ(test, 1u, fake_info(id).outstanding);
	fake_ack(w, w->source, id->handle, 1);
}

/* Shut down while readers wait for their turn behind one that is stuck. */
static void readers_in_line_are_turned_away(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct fake_thread *stuck, *reader[2];
	int i;

	for (i = 1; i <= 3; i++)
		fake_raise(w, id, i);
	stuck = fake_start_copy(w, w->source, false);
	for (i = 0; i < 2; i++) {
		reader[i] = fake_start_read(w, w->source, fake_buf(w));
		FAKE_UNTIL(w, fake_sleeps(reader[i]));
	}
	ucmx_channel_shut_down(w->source);
	for (i = 0; i < 2; i++) {
		FAKE_UNTIL(w, fake_done(reader[i]));
		KUNIT_EXPECT_EQ(test, (long)-ESHUTDOWN, fake_join(reader[i]));
	}
	complete(&stuck->buf->go);
	KUNIT_EXPECT_EQ(test, (long)sizeof(struct rdma_ucmx_event),
			fake_join(stuck));
	KUNIT_EXPECT_EQ(test, 2u, w->source->n_pending);
}

/* A batch ends with what was copied when it is shut down in the middle. */
static void batch_ends_when_it_is_shut_down(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct fake_buf *buf = fake_buf(w);
	struct fake_thread *reader;

	fake_raise(w, id, 1);
	fake_raise(w, id, 2);
	buf->hold_at = 1;
	reader = fake_start_read_len(w, w->source, buf, RDMA_UCMX_READ_MIN);
	FAKE_UNTIL(w, try_wait_for_completion(&buf->held));
	ucmx_channel_shut_down(w->source);
	complete(&buf->go);
	KUNIT_EXPECT_EQ(test, (long)sizeof(struct rdma_ucmx_event),
			fake_join(reader));
	KUNIT_EXPECT_EQ(test, 1u, fake_info(id).pending);
	KUNIT_EXPECT_EQ(test, 1u, fake_info(id).outstanding);
}

static void c05_events_are_acknowledged_after_it(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_busy_id(w);
	struct fake_thread *mover, *destroyer;

	FAKE_EXPECT_READ(w, w->source, id->handle, 2, 2);
	ucmx_channel_shut_down(w->source);
	fake_ack(w, w->source, id->handle, 2);
	/* So who waits for them is not stuck, and what is pending can go. */
	mover = fake_start_waiting(w, id, w->target, NULL);
	fake_ack(w, w->source, id->handle, 1);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(mover));
	fake_expect_events(w, w->target, id, 3, 1);
	ucmx_channel_shut_down(w->target);
	destroyer = fake_start_destroy(w, w->target, id->handle, NULL);
	FAKE_UNTIL(w, fake_sleeps(destroyer));
	fake_ack(w, w->target, id->handle, 0);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(destroyer));
	fake_expect_ids(w, 0, 0);
}

/* It takes ids, keeps their events and lets them go again. */
static void c03_no_event_is_lost_by_it(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct rdma_ucmx_event event;

	ucmx_channel_shut_down(w->target);
	fake_raise(w, id, 1);
	fake_migrate(w, w->source, id, w->target);
	fake_raise(w, id, 2);
	KUNIT_EXPECT_EQ(test, (ssize_t)-ESHUTDOWN,
			fake_read(w->target, &event));
	fake_expect_ids(w, 0, 1);
	fake_migrate(w, w->target, id, w->source);
	fake_expect_events(w, w->source, id, 1, 2);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(readers_that_wait_are_turned_away),
	KUNIT_CASE(later_readers_are_turned_away),
	KUNIT_CASE(pollers_are_told),
	KUNIT_CASE(readers_are_turned_away_during_a_copy),
	KUNIT_CASE(readers_in_line_are_turned_away),
	KUNIT_CASE(batch_ends_when_it_is_shut_down),
	KUNIT_CASE(c05_events_are_acknowledged_after_it),
	KUNIT_CASE(c03_no_event_is_lost_by_it),
	{}
};

FAKE_SUITE(ucmx_shutdown, cases);
