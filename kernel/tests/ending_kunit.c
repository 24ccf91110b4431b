// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What ids stand for ends on one work queue.  Who has many that come to no end
 * fills it with none but a part of them.
 */
#include <linux/cred.h>

#include "fake.h"

/* More than any work queue runs at a time. */
#define MANY 600

/* A channel that another user opened. */
static struct ucmx_channel *channel_of_another(struct fake_world *w)
{
	struct cred *cred = prepare_creds();
	struct ucmx_channel *channel;
	const struct cred *old;

	KUNIT_ASSERT_NOT_NULL(w->test, cred);
	cred->euid = KUIDT_INIT(1000);
	old = override_creds(cred);
	channel = fake_channel(w);
	revert_creds(old);
	put_cred(cred);
	return channel;
}

static void dies(struct fake_world *w, struct ucmx_id *id)
{
	struct ucmx_channel *channel = ucmx_id_lock(id);
	LIST_HEAD(events);

	ucmx_id_die(id, channel, &events);
	spin_unlock(&channel->lock);
	ucmx_events_free(&events);
}

/* Another user's id ends meanwhile; then all of them. */
static void c14_ids_that_do_not_end_hold_up_their_users_alone(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_channel *another = channel_of_another(w);
	struct ucmx_id *id = fake_id(w, another);
	const struct ucmx_wait wait = {};
	struct fake_thread *destroy;
	int i;

	w->slow_channel = w->source;
	w->slow_release = true;
	for (i = 0; i < MANY; i++)
		dies(w, fake_id(w, w->source));
	destroy = fake_start_destroy(w, another, id->handle, &wait);
	FAKE_UNTIL(w, fake_done(destroy));
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&w->released));
	KUNIT_EXPECT_EQ(test, 0L, fake_join(destroy));
	complete_all(&w->slow);
	FAKE_UNTIL(w, atomic_read(&w->released) == MANY + 1);
	fake_close(w, another);
}

/* The device of many ids is gone, and one of another user's goes, too. */
static void c14_removal_beside_ids_that_do_not_end(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct ucmx_channel *another = channel_of_another(w);
	struct ucmx_id *id = fake_id(w, another);
	int i;

	w->slow_channel = w->source;
	w->slow_release = true;
	for (i = 0; i < MANY; i++)
		ucmx_id_device_gone(fake_id(w, w->source));
	ucmx_id_device_gone(id);
	FAKE_UNTIL(w, atomic_read(&w->released) == 1);
	complete_all(&w->slow);
	FAKE_UNTIL(w, atomic_read(&w->released) == MANY + 1);
	fake_close(w, another);
}

static long do_close(struct fake_thread *thread)
{
	ucmx_channel_close(thread->channel, false);
	return 0;
}

/* Closed by somebody who has nothing to do with it: that one goes on. */
static void c17_close_by_another_does_not_wait(struct kunit *test)
{
	struct fake_world *w = test->priv;
	struct fake_thread *closer = fake_thread(w, do_close);
	struct ucmx_channel *channel = fake_channel(w);

	ucmx_channel_get(channel);
	fake_id(w, channel);
	w->slow_release = true;
	closer->channel = channel;
	fake_go(closer);
	/* Looked at again and again, so no barrier is needed. */
	FAKE_UNTIL(w, fake_done(closer) || waitqueue_active(&channel->wait));
	KUNIT_EXPECT_TRUE(test, fake_done(closer));
	complete_all(&w->slow);
	KUNIT_EXPECT_EQ(test, 0l, fake_join(closer));
	FAKE_UNTIL(w, atomic_read(&w->released) == 1);
	fake_core_settle();
	ucmx_channel_put(channel);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(c14_ids_that_do_not_end_hold_up_their_users_alone),
	KUNIT_CASE(c14_removal_beside_ids_that_do_not_end),
	KUNIT_CASE(c17_close_by_another_does_not_wait),
	{}
};

FAKE_SUITE(ucmx_ending, cases);
