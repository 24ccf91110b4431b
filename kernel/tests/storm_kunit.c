// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Everything at once: threads that raise, read, acknowledge, migrate and
 * destroy, and what must be true whoever comes first.
 *
 * Each channel has one reader, which writes down what it has read before it lets
 * go of the event; so the id's next reader, on whichever channel, finds it, and
 * that the numbers rise by one shows that none was lost, doubled or overtaken.
 */
#include <linux/slab.h>

#include "fake.h"

#define STORM_IDS	4
#define STORM_EVENTS	150
#define STORM_ALL	(STORM_IDS * STORM_EVENTS)
#define STORM_MOVES	100

/**
 * struct storm - what the threads share
 * @w: the world
 * @channel: the channels
 * @id: the ids; the first is the listener where there is one
 * @last: number of the latest event of each id that was read; whoever reads
 *	  the next one was let by whoever wrote this
 * @acks: of each channel, what its reader has read
 * @n_acks: how many
 * @n_read: events read
 * @n_moves: migrations that moved something
 * @wrong: what should not have been
 * @seen: requests that were read
 */
struct storm {
	struct fake_world *w;
	struct ucmx_channel *channel[2];
	struct ucmx_id *id[STORM_IDS];
	u64 last[STORM_IDS];
	struct rdma_ucmx_ack acks[2][STORM_ALL];
	int n_acks[2];
	atomic_t n_read;
	atomic_t n_moves;
	atomic_t wrong;
	DECLARE_BITMAP(seen, STORM_EVENTS);
};

static u32 storm_dice(struct fake_thread *thread, u32 sides)
{
	thread->dice = thread->dice * 6364136223846793005ULL +
		       1442695040888963407ULL;
	return (thread->dice >> 33) % sides;
}

static void storm_expect(struct storm *storm, bool right)
{
	if (!right)
		atomic_inc(&storm->wrong);
	WARN_ONCE(!right, "storm: see %pS\n", __builtin_return_address(0));
}

static struct storm *storm_begin(struct kunit *test)
{
	struct storm *storm = kunit_kzalloc(test, sizeof(*storm), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, storm);
	storm->w = test->priv;
	storm->channel[0] = storm->w->source;
	storm->channel[1] = storm->w->target;
	return storm;
}

static struct fake_thread *storm_start(struct storm *storm, int index,
				       long (*fn)(struct fake_thread *thread))
{
	struct fake_thread *thread = fake_thread(storm->w, fn);

	thread->arg = storm;
	thread->index = index;
	thread->channel = storm->channel[index % 2];
	thread->target = storm->channel[!(index % 2)];
	thread->buf = fake_buf(storm->w);
	thread->dice = 1 + index;
	fake_go(thread);
	return thread;
}

static void storm_end(struct storm *storm)
{
	fake_threads_end(storm->w);
	KUNIT_EXPECT_EQ(storm->w->test, 0, atomic_read(&storm->wrong));
}

static bool storm_has_seen(struct storm *storm, int events)
{
	return atomic_read(&storm->n_read) >= events &&
	       atomic_read(&storm->n_moves) >= STORM_MOVES;
}

static bool storm_over(struct storm *storm)
{
	cond_resched();
	return READ_ONCE(storm->w->stop);
}

/* Whether a migration that others interfere with may end so. */
static bool storm_may_fail(int err, const struct ucmx_wait *wait)
{
	switch (err) {
	case -EAGAIN:
		return wait->nonblock;
	case -ETIMEDOUT:
		return wait->deadline;
	case -EINVAL:
		return wait->held_seq;
	case 0:
	case -ENOENT:
	case -EBUSY:
	case -ERESTARTSYS:
		return true;
	}
	return false;
}

/* Migrates a random id from the thread's channel to the other one. */
static long storm_move(struct fake_thread *thread)
{
	struct storm *storm = thread->arg;
	struct ucmx_channel *target;
	int n, err;

	while (!storm_over(storm)) {
		struct ucmx_move move = {};

		if (storm_dice(thread, 3) == 0)
			move.wait.nonblock = true;
		else if (storm_dice(thread, 3) == 0)
			move.wait.deadline = ktime_get_ns() + 300000;
		target = storm_dice(thread, 8) ? thread->target :
						 thread->channel;
		for (n = 0; n < STORM_IDS && storm->id[n]; n++)
			;
		n = storm_dice(thread, n);
		err = ucmx_id_migrate(thread->channel, storm->id[n]->handle,
				      target, &move);
		storm_expect(storm, storm_may_fail(err, &move.wait));
		if (!err)
			atomic_inc(&storm->n_moves);
		usleep_range(50, 200);
	}
	return 0;
}

/* A reader whose memory always faults. */
static long storm_read_in_vain(struct fake_thread *thread)
{
	struct storm *storm = thread->arg;
	ssize_t ret;

	while (!storm_over(storm)) {
		ret = fake_read(thread->channel, NULL);
		storm_expect(storm, ret == -EFAULT || ret == -EAGAIN);
		usleep_range(100, 500);
	}
	return 0;
}

/*
 * Ids that move back and forth while their events are raised and read
 */

static long storm_raise(struct fake_thread *thread)
{
	struct storm *storm = thread->arg;
	struct ucmx_id *id = storm->id[thread->index];
	int i;

	for (i = 1; i <= STORM_EVENTS; i++) {
		fake_raise(storm->w, id, i);
		if (storm_dice(thread, 4) == 0)
			usleep_range(50, 500);
	}
	return 0;
}

static void storm_look_at(struct storm *storm, int channel,
			  const struct rdma_ucmx_event *event)
{
	int n;

	for (n = 0; n < STORM_IDS; n++) {
		if (storm->id[n]->handle == event->id)
			break;
	}
	storm_expect(storm, n < STORM_IDS);
	if (n == STORM_IDS)
		return;
	storm_expect(storm, event->seq == storm->last[n] + 1);
	storm_expect(storm, event->event == event->seq);
	storm->last[n] = event->seq;
	n = storm->n_acks[channel];
	storm->acks[channel][n].id = event->id;
	storm->acks[channel][n].seq = event->seq;
	smp_store_release(&storm->n_acks[channel], n + 1); /* for storm_ack() */
	atomic_inc(&storm->n_read);
}

static long storm_read(struct fake_thread *thread)
{
	const struct rdma_ucmx_event *event;
	struct storm *storm = thread->arg;
	char *data = thread->buf->data;
	ssize_t ret, done;

	while (!storm_over(storm)) {
		ret = ucmx_channel_read(thread->channel,
					(char __force __user *)data,
					RDMA_UCMX_READ_MIN -
						storm_dice(thread, 2), false);
		if (ret == -ERESTARTSYS)
			break;
		storm_expect(storm, ret > 0);
		for (done = 0; done < ret; done += event->size) {
			event = (const struct rdma_ucmx_event *)(data + done);
			storm_look_at(storm, thread->index, event);
		}
	}
	return 0;
}

/* Acknowledges what the channel's reader has read, here or on its way there. */
static long storm_ack(struct fake_thread *thread)
{
	struct storm *storm = thread->arg;
	struct rdma_ucmx_ack *ack;
	int channel = thread->index, n = 0;

	while (!storm_over(storm)) {
		/* Pairs with storm_look_at(). */
		if (n == smp_load_acquire(&storm->n_acks[channel])) {
			usleep_range(50, 200);
			continue;
		}
		ack = &storm->acks[channel][n++];
		storm_expect(storm, !ucmx_channel_ack(thread->channel,
						      ack->id, ack->seq));
	}
	return 0;
}

static void c03_each_event_once_and_in_order(struct kunit *test)
{
	struct storm *storm = storm_begin(test);
	struct fake_world *w = storm->w;
	int i;

	for (i = 0; i < STORM_IDS; i++)
		storm->id[i] = fake_id(w, storm->channel[i % 2]);
	for (i = 0; i < 2; i++) {
		storm_start(storm, i, storm_read);
		storm_start(storm, i, storm_read_in_vain);
		storm_start(storm, i, storm_ack);
		storm_start(storm, i, storm_move);
	}
	for (i = 0; i < STORM_IDS; i++)
		storm_start(storm, i, storm_raise);
	FAKE_UNTIL(w, storm_has_seen(storm, STORM_ALL));
	storm_end(storm);
	for (i = 0; i < STORM_IDS; i++)
		KUNIT_EXPECT_EQ(test, (u64)STORM_EVENTS, storm->last[i]);
	KUNIT_EXPECT_EQ(test, STORM_IDS,
			atomic_read(&storm->channel[0]->n_ids) +
			atomic_read(&storm->channel[1]->n_ids));
}

/*
 * A listener that moves back and forth while requests arrive
 */

/* What may happen to a request's id by itself, while it is read or destroyed. */
static void storm_happen(struct storm *storm, struct fake_thread *thread,
			 struct ucmx_id *child)
{
	int err, n;

	for (n = storm_dice(thread, 8); n > 0; n--) {
		err = ucmx_event_raise(child, fake_event(storm->w, n));
		storm_expect(storm, !err || err == -ENOENT);
		if (storm_dice(thread, 8) == 0)
			ucmx_id_device_gone(child);
	}
}

static long storm_request(struct fake_thread *thread)
{
	struct storm *storm = thread->arg;
	struct ucmx_id *child;
	int i, err;

	for (i = thread->index; i < STORM_EVENTS; i += 2) {
		do {
			err = fake_request_ref(storm->w, storm->id[0], i,
					       &child);
			storm_expect(storm, !err || err == -ENOSPC);
			if (err)
				usleep_range(50, 200);
		} while (err && !storm_over(storm));
		if (err)
			break;
		storm_happen(storm, thread, child);
		ucmx_id_put(child);
	}
	return 0;
}

/* The child is usable here, and nowhere else. */
static void storm_use(struct storm *storm, struct fake_thread *thread,
		      const struct rdma_ucmx_event *event)
{
	const struct ucmx_wait wait = { .nonblock = true };
	struct ucmx_id *id;

	storm_expect(storm, !test_and_set_bit(event->event, storm->seen));
	storm_expect(storm, event->seq == storm->last[0] + 1);
	storm->last[0] = event->seq;
	id = ucmx_id_begin(thread->target, event->id);
	storm_expect(storm, id == ERR_PTR(-ENOENT));
	id = ucmx_id_begin(thread->channel, event->id);
	storm_expect(storm, !IS_ERR(id) || id == ERR_PTR(-ENXIO));
	if (!IS_ERR(id))
		ucmx_id_end(id);
	storm_expect(storm, !ucmx_id_destroy(thread->channel, event->id, &wait));
	storm_expect(storm, !ucmx_channel_ack(thread->channel, event->listen_id,
					      event->seq));
	atomic_inc(&storm->n_read);
}

static long storm_accept(struct fake_thread *thread)
{
	struct storm *storm = thread->arg;
	struct rdma_ucmx_event event;
	ssize_t ret;

	while (!storm_over(storm)) {
		ret = ucmx_channel_read(thread->channel,
					(char __force __user *)&event,
					sizeof(event), false);
		if (ret == -ERESTARTSYS)
			break;
		storm_expect(storm, ret == sizeof(event));
		storm_use(storm, thread, &event);
	}
	return 0;
}

static void c10_each_request_on_one_channel(struct kunit *test)
{
	struct storm *storm = storm_begin(test);
	struct fake_world *w = storm->w;
	int i;

	storm->id[0] = fake_listener(w, w->source, 8);
	for (i = 0; i < 2; i++) {
		storm_start(storm, i, storm_accept);
		storm_start(storm, i, storm_read_in_vain);
		storm_start(storm, i, storm_move);
		storm_start(storm, i, storm_request);
	}
	FAKE_UNTIL(w, storm_has_seen(storm, STORM_EVENTS));
	storm_end(storm);
	KUNIT_EXPECT_EQ(test, STORM_EVENTS,
			bitmap_weight(storm->seen, STORM_EVENTS));
	fake_core_settle();
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&w->live));
	KUNIT_EXPECT_EQ(test, 1,
			atomic_read(&storm->channel[0]->n_ids) +
			atomic_read(&storm->channel[1]->n_ids));
}

/*
 * Ids that come and go while anybody migrates them
 */

static long storm_move_any(struct fake_thread *thread)
{
	struct storm *storm = thread->arg;
	struct ucmx_id *id;
	u32 handle = 0;
	int err;

	while (!storm_over(storm)) {
		struct ucmx_move move = {};

		move.wait.nonblock = storm_dice(thread, 2);
		move.wait.held_seq = storm_dice(thread, 2);
		id = ucmx_id_get_next(handle);
		handle = id ? id->handle : 0;
		if (!id) {
			usleep_range(50, 200);
			continue;
		}
		ucmx_id_put(id);
		err = ucmx_id_migrate(thread->channel, handle++, thread->target,
				      &move);
		storm_expect(storm, err == -ECANCELED ||
			     storm_may_fail(err, &move.wait));
		if (!err)
			atomic_inc(&storm->n_moves);
	}
	return 0;
}

/* Reads what there is, and acknowledges half of it. */
static long storm_read_any(struct fake_thread *thread)
{
	struct storm *storm = thread->arg;
	struct rdma_ucmx_event event;
	ssize_t ret;

	while (!storm_over(storm)) {
		ret = fake_read(thread->channel, &event);
		if (ret == -EAGAIN)
			usleep_range(50, 200);
		else if (storm_dice(thread, 2))
			ucmx_channel_ack(thread->channel, event.id, event.seq);
	}
	return 0;
}

/* Destroy an id, wherever it is by now. */
static bool storm_destroy(struct storm *storm, u32 handle)
{
	struct ucmx_wait wait = { .deadline = ktime_get_ns() + 200000 };
	bool dying = false;
	int i, err;

	while (!storm_over(storm)) {
		for (i = 0; i < 2; i++) {
			err = ucmx_id_destroy(storm->channel[i], handle, &wait);
			if (!err)
				return true;
			storm_expect(storm, err == -ENOENT || err == -ETIMEDOUT);
			if (err == -ETIMEDOUT) {
				dying = true;
				ucmx_channel_ack(storm->channel[i], handle, 0);
			}
		}
		/* It went with its last acknowledgement. */
		if (dying && err == -ENOENT)
			return true;
	}
	return false;
}

static long storm_come_and_go(struct fake_thread *thread)
{
	struct storm *storm = thread->arg;
	struct ucmx_id *id;
	int i, n;

	for (i = 0; i < STORM_EVENTS / 3; i++) {
		id = fake_id(storm->w, thread->channel);
		for (n = storm_dice(thread, 3); n > 0; n--)
			fake_raise(storm->w, id, i);
		if (storm_dice(thread, 4) == 0)
			ucmx_id_device_gone(id);
		if (storm_dice(thread, 2) == 0)
			usleep_range(50, 500);
		storm_expect(storm, storm_destroy(storm, id->handle));
	}
	return 0;
}

static void c18_nothing_outlives_its_owner(struct kunit *test)
{
	struct storm *storm = storm_begin(test);
	struct fake_thread *owner[3];
	int i;

	for (i = 0; i < 2; i++) {
		storm_start(storm, i, storm_read_any);
		storm_start(storm, i, storm_move_any);
	}
	for (i = 0; i < 3; i++)
		owner[i] = storm_start(storm, i, storm_come_and_go);
	for (i = 0; i < 3; i++)
		fake_join(owner[i]);
	storm_end(storm);
	fake_core_settle();
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&storm->w->live));
	fake_expect_ids(storm->w, 0, 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(c03_each_event_once_and_in_order),
	KUNIT_CASE(c10_each_request_on_one_channel),
	KUNIT_CASE(c18_nothing_outlives_its_owner),
	{}
};

FAKE_SUITE(ucmx_storm, cases);
