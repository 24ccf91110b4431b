// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * While an event is copied to user memory, which may take for ever, its reader
 * holds nothing that an event handler or a device removal needs.
 */
#include "fake.h"

/*
 * The read mutex, for which only readers wait.  That this is all, lockdep says;
 * where a fault before this has switched that off, it is at least not this one.
 */
static void c06_copy_holds_no_lock_that_others_need(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct fake_thread *reader;

	fake_raise(w, id, 1);
	reader = fake_start_copy(w, w->source, false);
	if (debug_locks)
		KUNIT_EXPECT_EQ(test, 1, reader->buf->locks_held);
	KUNIT_EXPECT_FALSE(test, mutex_is_locked(&id->op_mutex));
	KUNIT_EXPECT_TRUE(test, mutex_is_locked(&w->source->read_mutex));
	complete(&reader->buf->go);
	fake_join(reader);
}

/* The release is what a removal waits for. */
static void c06_removal_during_a_copy(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_id *id = fake_id(w, w->source);
	struct fake_thread *reader;

	fake_raise(w, id, 1);
	reader = fake_start_copy(w, w->source, false);
	fake_raise_urgent(w, id, 2);
	ucmx_id_device_gone(id);
	fake_core_settle();
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&w->released));
	complete(&reader->buf->go);
	fake_join(reader);
	FAKE_EXPECT_READ(w, w->source, id->handle, 2, 2);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(c06_copy_holds_no_lock_that_others_need),
	KUNIT_CASE(c06_removal_during_a_copy),
	{}
};

FAKE_SUITE(ucmx_copy, cases);
