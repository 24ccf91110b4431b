// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Many outstanding events of one id: each is found, and nobody who waits for the lock
 * waits until all of them have been visited.  Cost is counted, see cost_kunit.c.
 */
#include "fake.h"

/* More than are looked through, and many more. */
#define MANY		200
#define VERY_MANY	2000

/* What may be done with the lock held, far below VERY_MANY. */
#define FEW_STEPS	600

static struct ucmx_id *with_outstanding(struct fake_world *w, int n)
{
	struct ucmx_id *id = fake_id(w, w->source);
	int i;

	for (i = 1; i <= n; i++) {
		fake_raise(w, id, i);
		FAKE_EXPECT_READ(w, w->source, id->handle, i, i);
	}
	KUNIT_EXPECT_EQ(w->test, (u32)n, fake_info(id).outstanding);
	return id;
}

static void expect_ack(struct fake_world *w, struct ucmx_id *id, u64 seq,
		       int err)
{
	KUNIT_EXPECT_EQ(w->test, err,
			ucmx_channel_ack(w->source, id->handle, seq));
}

/* Each once, first one here, then one there; and the last ones first. */
static void c05_many_in_any_order(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = with_outstanding(w, MANY);
	struct ucmx_id *other = with_outstanding(w, MANY);
	int i;

	for (i = MANY; i > 0; i--)
		expect_ack(w, other, i, 0);
	KUNIT_EXPECT_EQ(test, 0u, fake_info(other).outstanding);
	for (i = 0; i < MANY; i++) {
		expect_ack(w, id, 1 + i * 77 % MANY, 0);
		expect_ack(w, id, 1 + i * 77 % MANY, -EINVAL);
		expect_ack(w, id, MANY + 1, -EINVAL);
		KUNIT_EXPECT_EQ(test, MANY - 1u - i, fake_info(id).outstanding);
	}
}

/* Some go while others come, so that those found by number come before others. */
static void c05_many_that_come_and_go(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = with_outstanding(w, MANY);
	int i;

	for (i = 1; i <= MANY - 10; i++)
		expect_ack(w, id, i, 0);
	for (i = MANY + 1; i <= 2 * MANY; i++) {
		fake_raise(w, id, i);
		FAKE_EXPECT_READ(w, w->source, id->handle, i, i);
	}
	for (i = 2 * MANY; i > MANY - 10; i--) {
		expect_ack(w, id, i, 0);
		expect_ack(w, id, i, -EINVAL);
	}
	KUNIT_EXPECT_EQ(test, 0u, fake_info(id).outstanding);
	fake_migrate(w, w->source, id, w->target);
}

static void c02_one_of_many_is_put_back(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = with_outstanding(w, MANY);

	fake_raise(w, id, MANY + 1);
	KUNIT_EXPECT_EQ(test, (ssize_t)-EFAULT, fake_read(w->source, NULL));
	expect_ack(w, id, MANY + 1, -EINVAL);
	FAKE_EXPECT_READ(w, w->source, id->handle, MANY + 1, MANY + 1);
	expect_ack(w, id, MANY + 1, 0);
	expect_ack(w, id, MANY, 0);
	expect_ack(w, id, 0, 0);
}

static void c05_ack_of_very_many(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = with_outstanding(w, VERY_MANY);

	fake_raise(w, id, VERY_MANY + 1);
	expect_ack(w, id, 0, 0);
	KUNIT_EXPECT_EQ(test, 0u, fake_info(id).outstanding);
	KUNIT_EXPECT_EQ(test, 1u, fake_info(id).pending);
}

static int cost_of_ack(struct fake_world *w, struct ucmx_id *id, u64 seq,
		       int err)
{
	fake_cost_begin();
	expect_ack(w, id, seq, err);
	return fake_cost_end().steps;
}

/* As a migration, a destroy or a leave does with the event that is held. */
static void c15_one_is_found_among_many(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = with_outstanding(w, MANY);
	struct ucmx_id *other = with_outstanding(w, VERY_MANY);

	KUNIT_EXPECT_EQ(test, cost_of_ack(w, id, MANY, 0),
			cost_of_ack(w, other, VERY_MANY, 0));
	KUNIT_EXPECT_EQ(test, cost_of_ack(w, id, MANY / 2, 0),
			cost_of_ack(w, other, VERY_MANY / 2, 0));
	KUNIT_EXPECT_EQ(test, cost_of_ack(w, id, MANY, -EINVAL),
			cost_of_ack(w, other, VERY_MANY, -EINVAL));
}

static void c15_lock_is_not_held_for_all_of_many(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = with_outstanding(w, VERY_MANY);
	struct fake_cost cost;

	fake_cost_begin();
	expect_ack(w, id, 0, 0);
	cost = fake_cost_end();
	KUNIT_EXPECT_GT(test, cost.steps, VERY_MANY);
	KUNIT_EXPECT_LT(test, cost.longest, FEW_STEPS);
	with_outstanding(w, VERY_MANY);
	fake_cost_begin();
	fake_close(w, w->source);
	cost = fake_cost_end();
	KUNIT_EXPECT_GT(test, cost.steps, VERY_MANY);
	KUNIT_EXPECT_LT(test, cost.longest, FEW_STEPS);
	w->source = fake_channel(w);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(c05_many_in_any_order),
	KUNIT_CASE(c05_many_that_come_and_go),
	KUNIT_CASE(c02_one_of_many_is_put_back),
	KUNIT_CASE(c05_ack_of_very_many),
	KUNIT_CASE(c15_one_is_found_among_many),
	KUNIT_CASE(c15_lock_is_not_held_for_all_of_many),
	{}
};

FAKE_SUITE(ucmx_outstanding, cases);
