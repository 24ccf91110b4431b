/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Scenes for calls in which everything fails once, see fault.h: how they are
 * played, and what must be left of them.
 */
#ifndef SELFTESTS_FAULT_PLAY_H
#define SELFTESTS_FAULT_PLAY_H

#include "fault.h"
#include "scene.h"
#include "test.h"

FIXTURE(fault) {
	int server;
	int client;
	int worker;
};

FIXTURE_SETUP(fault)
{
	self->server = channel_open();
	self->client = channel_open();
	self->worker = channel_open();
	ASSERT_LE(0, self->server);
	ASSERT_LE(0, self->client);
	ASSERT_LE(0, self->worker);
	test_ok(fault_begin());
}

FIXTURE_TEARDOWN(fault)
{
	fault_report();
	EXPECT_EQ(0, fault_end());
	close(self->server);
	close(self->client);
	close(self->worker);
}

#define SCENE(name)							\
	static void scene_##name(struct __test_metadata *const _metadata, \
				 FIXTURE_DATA(fault) *self)
#define PLAY(name) do {							\
	unsigned int _rounds = 0;					\
	__u64 _began = now_ns();					\
									\
	do {								\
		scene_##name(_metadata, self);				\
		_rounds++;						\
	} while (fault_left());						\
	TH_LOG("%u rounds, %llu ms", _rounds,				\
	       (now_ns() - _began) / 1000000);				\
} while (0)

/* Everything of these channels has ended, and nothing of it is left. */
#define ALL_GONE() do {							\
	EXPECT_TRUE(wait_until(!channel_ids(self->server)));		\
	EXPECT_TRUE(wait_until(!channel_ids(self->client)));		\
	EXPECT_TRUE(wait_until(!channel_ids(self->worker)));		\
	EXPECT_FALSE(readable(self->server));				\
	EXPECT_FALSE(readable(self->client));				\
	EXPECT_FALSE(readable(self->worker));				\
} while (0)

/* What is said of all tests before; fixtures are run in order. */
FIXTURE(sum) {
};

FIXTURE_SETUP(sum)
{
}

FIXTURE_TEARDOWN(sum)
{
}

/*
 * In each of these commands something failed, and at least its argument's copy;
 * in those, memory too.
 */
#define ALL_FAILED(copying, allocating) do {				\
	struct fault_sum _sum;						\
	unsigned int _i;						\
									\
	for (_i = 0; _i < ARRAY_LEN(copying); _i++) {			\
		fault_sum((copying)[_i], &_sum);			\
		EXPECT_TRUE(_sum.passed && _sum.copies) {		\
			TH_LOG("%s: no copy", (copying)[_i]);		\
		}							\
	}								\
	for (_i = 0; _i < ARRAY_LEN(allocating); _i++) {		\
		fault_sum((allocating)[_i], &_sum);			\
		EXPECT_LT(0, _sum.nomem) {				\
			TH_LOG("%s: no memory", (allocating)[_i]);	\
		}							\
	}								\
	fault_sum(NULL, &_sum);						\
	TH_LOG("%u failed; so did calls, %u for a copy, %u for memory",	\
	       _sum.nth, _sum.copies, _sum.nomem);			\
} while (0)

#endif /* SELFTESTS_FAULT_PLAY_H */
