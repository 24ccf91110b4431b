// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What migrating and destroying an id costs, and finding it.
 *
 * Cost is counted, not timed: core.c counts each entry of a list or of the
 * table of handles that the core visits or changes.  With a crowd of other ids,
 * thousands of whose events are queued on both channels, the count must be the
 * very same as without, and grow by the same with each event of the id.  How
 * deep the table is, the logarithm of its size, is not counted.
 */
#include <linux/debug_locks.h>

#include "fake.h"

static const struct ucmx_move nonblock = { .wait.nonblock = true };
static const struct ucmx_wait held = { .nonblock = true, .held_seq = 1 };

/* On each channel, other ids with one event outstanding and many pending. */
#define CROWD_IDS	200
#define CROWD_EVENTS	10

static void crowd(struct fake_world *w, struct ucmx_channel *channel)
{
	struct ucmx_id *listener, *id[CROWD_IDS];
	int i;

	for (i = 0; i < CROWD_IDS; i++) {
		id[i] = fake_id(w, channel);
		fake_raise(w, id[i], 1);
		FAKE_EXPECT_READ(w, channel, id[i]->handle, 1, 1);
	}
	for (i = 0; i < CROWD_IDS * CROWD_EVENTS; i++)
		fake_raise(w, id[i % CROWD_IDS], 2);
	listener = fake_listener(w, channel, CROWD_IDS);
	while (!fake_request(w, listener, 4, NULL))
		;
	KUNIT_EXPECT_EQ(w->test, (u32)(CROWD_IDS * (CROWD_EVENTS + 1)),
			channel->n_pending);
}

/*
 * What is measured, of an id of the source that has event 1 outstanding, and
 * some pending behind those of the crowd
 */

static void do_migrate(struct fake_world *w, struct ucmx_id *id)
{
	const struct ucmx_move move = { .wait = held };

	KUNIT_EXPECT_EQ(w->test, 0,
			ucmx_id_migrate(w->source, id->handle, w->target,
					&move));
}

static void do_announce(struct fake_world *w, struct ucmx_id *id)
{
	const struct ucmx_move move = {
		.wait = held, .announcement = fake_event(w, 1)
	};

	KUNIT_EXPECT_EQ(w->test, 0,
			ucmx_id_migrate(w->source, id->handle, w->target,
					&move));
}

static void nothing_happens(void)
{
}

/* Its time is over at once, but not before it has frozen the id. */
static void do_freeze_and_thaw(struct fake_world *w, struct ucmx_id *id)
{
	const struct ucmx_move move = { .wait.deadline = fake_soon() };

	fake_when_late = nothing_happens;
	atomic_set(&fake_looks_until_late, 1);
	KUNIT_EXPECT_EQ(w->test, -ETIMEDOUT,
			ucmx_id_migrate(w->source, id->handle, w->target,
					&move));
	KUNIT_EXPECT_EQ(w->test, -1, atomic_read(&fake_looks_until_late));
}

static void do_destroy(struct fake_world *w, struct ucmx_id *id)
{
	KUNIT_EXPECT_EQ(w->test, 0,
			ucmx_id_destroy(w->source, id->handle, &held));
}

static void do_leave(struct fake_world *w, struct ucmx_id *id)
{
	const struct ucmx_wait wait = { .nonblock = true };
	struct ucmx_group *group;

	group = list_first_entry(&id->groups, struct ucmx_group, of_id);
	KUNIT_EXPECT_EQ(w->test, 0, fake_leave(id, group->number, &wait));
}

static void (*const measured[])(struct fake_world *w, struct ucmx_id *id) = {
	do_migrate, do_announce, do_freeze_and_thaw, do_destroy, do_leave,
};

/* Pending events of an id, when it is measured. */
static const int sizes[] = { 10, 20, 30 };

struct costs {
	int plain[ARRAY_SIZE(measured)][ARRAY_SIZE(sizes)];
	int listener[ARRAY_SIZE(measured)][ARRAY_SIZE(sizes)];
};

/* Steps until all of it has come to its end, in other threads, too. */
static int measure(struct fake_world *w, struct ucmx_id *id, int what)
{
	fake_core_settle();
	fake_cost_begin();
	measured[what](w, id);
	fake_core_settle();
	return fake_cost_end().steps;
}

static struct ucmx_id *prepare(struct fake_world *w)
{
	struct ucmx_id *id = fake_listener(w, w->source, 100);

	fake_group(w, id, 1);
	fake_raise(w, id, 1);
	FAKE_EXPECT_READ(w, w->source, id->handle, 1, 1);
	return id;
}

static void measure_all(struct fake_world *w, bool crowded, struct costs *costs)
{
	struct ucmx_id *plain[ARRAY_SIZE(measured)][ARRAY_SIZE(sizes)];
	struct ucmx_id *listener[ARRAY_SIZE(measured)][ARRAY_SIZE(sizes)];
	int what, size, n;

	for (what = 0; what < ARRAY_SIZE(measured); what++) {
		for (size = 0; size < ARRAY_SIZE(sizes); size++) {
			plain[what][size] = prepare(w);
			listener[what][size] = prepare(w);
		}
	}
	if (crowded) {
		crowd(w, w->source);
		crowd(w, w->target);
	}
	for (what = 0; what < ARRAY_SIZE(measured); what++) {
		for (size = 0; size < ARRAY_SIZE(sizes); size++) {
			for (n = 0; n < sizes[size]; n++) {
				fake_raise(w, plain[what][size], 2);
				fake_request(w, listener[what][size], 4, NULL);
			}
			costs->plain[what][size] =
				measure(w, plain[what][size], what);
			costs->listener[what][size] =
				measure(w, listener[what][size], what);
		}
	}
}

/* Each event more costs the same, and something. */
static void expect_linear(struct kunit *test, const int *costs)
{
	KUNIT_EXPECT_GE(test, costs[1] - costs[0], sizes[1] - sizes[0]);
	KUNIT_EXPECT_EQ(test, costs[1] - costs[0], costs[2] - costs[1]);
}

static void c15_cost_is_of_the_ids_events_alone(struct kunit *test)
{
	struct costs *alone = kunit_kzalloc(test, sizeof(*alone), GFP_KERNEL);
	struct costs *crowded = kunit_kzalloc(test, sizeof(*crowded), GFP_KERNEL);
	struct fake_world *w = test->priv;
	int what, size;

	KUNIT_ASSERT_NOT_NULL(test, alone);
	KUNIT_ASSERT_NOT_NULL(test, crowded);
	measure_all(w, false, alone);
	fake_close(w, w->source);
	fake_close(w, w->target);
	w->source = fake_channel(w);
	w->target = fake_channel(w);
	measure_all(w, true, crowded);
	for (what = 0; what < ARRAY_SIZE(measured); what++) {
		for (size = 0; size < ARRAY_SIZE(sizes); size++) {
			KUNIT_EXPECT_EQ(test, alone->plain[what][size],
					crowded->plain[what][size]);
			KUNIT_EXPECT_EQ(test, alone->listener[what][size],
					crowded->listener[what][size]);
		}
		expect_linear(test, alone->plain[what]);
		expect_linear(test, alone->listener[what]);
	}
}

/* A lock that was taken is one of these. */
static void expect_locks(struct kunit *test, const struct fake_cost *cost,
			 const void *a, const void *b)
{
	int i;

	for (i = 0; i < cost->n_locks; i++)
		KUNIT_EXPECT_TRUE(test, cost->locks[i] == a ||
				  cost->locks[i] == b);
	KUNIT_EXPECT_EQ(test, 1, cost->lookups);
	/*
	 * At that time nothing was held but RCU, not even what core.c does not
	 * note.  Lockdep says so, unless a report switched it off: that counts
	 * against any run but one of wrong cores.
	 */
	KUNIT_EXPECT_EQ(test, debug_locks ? 1 : 0, cost->held_in_lookup);
}

static void c15_lookup_takes_no_shared_lock(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct fake_cost cost;

	fake_cost_begin();
	KUNIT_EXPECT_PTR_EQ(test, id, ucmx_id_get(id->handle));
	ucmx_id_put(id);
	cost = fake_cost_end();
	KUNIT_EXPECT_EQ(test, 0, cost.n_locks);
	KUNIT_EXPECT_EQ(test, 1, cost.steps);
	expect_locks(test, &cost, NULL, NULL);
}

/* A command takes the locks of its id and its channel; a stranger's, none. */
static void c15_commands_take_no_shared_lock(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct fake_cost cost;

	fake_raise(w, id, 1);
	FAKE_EXPECT_READ(w, w->source, id->handle, 1, 1);
	fake_cost_begin();
	KUNIT_EXPECT_PTR_EQ(test, id, ucmx_id_begin(w->source, id->handle));
	ucmx_id_end(id);
	cost = fake_cost_end();
	KUNIT_EXPECT_EQ(test, 2, cost.n_locks);
	expect_locks(test, &cost, &id->op_mutex, &w->source->lock);
	fake_cost_begin();
	KUNIT_EXPECT_EQ(test, -ENOENT,
			PTR_ERR_OR_ZERO(ucmx_id_begin(w->target, id->handle)));
	cost = fake_cost_end();
	KUNIT_EXPECT_EQ(test, 0, cost.n_locks);
	fake_cost_begin();
	fake_ack(w, w->source, id->handle, 1);
	cost = fake_cost_end();
	expect_locks(test, &cost, &w->source->lock, NULL);
	fake_cost_begin();
	KUNIT_EXPECT_EQ(test, 0,
			ucmx_id_migrate(w->source, id->handle, w->target,
					&nonblock));
	cost = fake_cost_end();
	KUNIT_EXPECT_EQ(test, 2, cost.n_locks);
	expect_locks(test, &cost, &w->source->lock, &w->target->lock);
	fake_cost_begin();
	fake_destroy(w, w->target, id->handle);
	cost = fake_cost_end();
	expect_locks(test, &cost, &w->target->lock, NULL);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(c15_cost_is_of_the_ids_events_alone),
	KUNIT_CASE(c15_lookup_takes_no_shared_lock),
	KUNIT_CASE(c15_commands_take_no_shared_lock),
	{}
};

FAKE_SUITE(ucmx_cost, cases);
