// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Does a cookie find its id, and nothing once that is gone?
 */
#include "cmx.h"
#include "test.h"

enum { MANY = 100000, MAKERS = 3, FINDERS = 3, SHARED = 256, ROUNDS = 50000 };

TEST(finds_what_is_there)
{
	struct cmx_id *id = cmx_id_alloc();

	ASSERT_NE(NULL, id);
	ASSERT_EQ(id, cmx_table_find(id->cookie));
	cmx_id_put(id);
	id->handle = 77;
	ASSERT_EQ(id, cmx_table_find_handle(77));
	cmx_id_put(id);
	ASSERT_EQ(NULL, cmx_table_find_handle(78));
	cmx_id_put(id);
}

TEST(finds_nothing_that_is_gone)
{
	struct cmx_id *id = cmx_id_alloc(), *next;
	uint64_t cookie = id->cookie;

	cmx_id_put(id);
	ASSERT_EQ(NULL, cmx_table_find(cookie));
	/* The slot is used again, but not the cookie. */
	next = cmx_id_alloc();
	ASSERT_EQ((uint32_t)cookie, (uint32_t)next->cookie);
	ASSERT_NE(cookie, next->cookie);
	ASSERT_EQ(NULL, cmx_table_find(cookie));
	cmx_id_put(next);
}

TEST(survives_any_number)
{
	static const uint64_t numbers[] = {
		0, 1, UINT32_MAX, UINT64_MAX, 1ULL << 32, 1ULL << 32 | 65,
		1ULL << 32 | 1ULL << 31, 1ULL << 32 | 2147483584U,
		1ULL << 32 | 2147483585U, 2ULL << 32 | 1,
	};
	struct cmx_id *id = cmx_id_alloc();
	unsigned int i;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (numbers[i] != id->cookie)
			ASSERT_EQ(NULL, cmx_table_find(numbers[i]));
	cmx_id_put(id);
}

TEST(holds_many)
{
	static struct cmx_id *ids[MANY];
	uint64_t cookie;
	int i;

	for (i = 0; i < MANY; i++) {
		ids[i] = cmx_id_alloc();
		ASSERT_NE(NULL, ids[i]);
		ids[i]->handle = i + 1;
	}
	for (i = 0; i < MANY; i++) {
		ASSERT_EQ(ids[i], cmx_table_find(ids[i]->cookie));
		cmx_id_put(ids[i]);
	}
	ASSERT_EQ(ids[MANY - 1], cmx_table_find_handle(MANY));
	cmx_id_put(ids[MANY - 1]);
	for (i = 0; i < MANY; i++) {
		cookie = ids[i]->cookie;
		cmx_id_put(ids[i]);
		ASSERT_EQ(NULL, cmx_table_find(cookie));
	}
}

static _Atomic uint64_t shared[SHARED];
static _Atomic int wrong, found;
static _Atomic bool stop;

static void *make(void *argument)
{
	unsigned int seed = (uintptr_t)argument;
	struct cmx_id *ids[64] = { 0 }, **id;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		id = &ids[rand_r(&seed) % 64];
		if (*id) {
			cmx_id_put(*id);
			*id = NULL;
			continue;
		}
		*id = cmx_id_alloc();
		shared[rand_r(&seed) % SHARED] = (*id)->cookie;
	}
	for (i = 0; i < 64; i++)
		if (ids[i])
			cmx_id_put(ids[i]);
	return NULL;
}

static void *look(void *argument)
{
	unsigned int seed = (uintptr_t)argument;
	struct cmx_id *id;
	uint64_t cookie;

	while (!stop) {
		cookie = shared[rand_r(&seed) % SHARED];
		id = cmx_table_find(cookie);
		if (!id)
			continue;
		if (id->cookie != cookie)
			wrong++;
		found++;
		cmx_id_put(id);
	}
	return NULL;
}

TEST(is_found_by_a_crowd)
{
	pthread_t threads[MAKERS + FINDERS];
	uintptr_t i;

	for (i = 0; i < MAKERS + FINDERS; i++)
		pthread_create(&threads[i], NULL, i < MAKERS ? make : look,
			       (void *)(i + 1));
	for (i = 0; i < MAKERS + FINDERS; i++) {
		if (i == MAKERS)
			stop = true;
		pthread_join(threads[i], NULL);
	}
	EXPECT_EQ(0, wrong);
	EXPECT_NE(0, found);
}

TEST_HARNESS_MAIN
