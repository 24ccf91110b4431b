// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What if a request is in the hand of one thread, which has not come so far as to
 * know its id, and another one reads an event of that id?  Over a fake kernel that
 * brings both.
 */
#include <pthread.h>
#include <unistd.h>

#include "cmx.h"
#include "fake.h"
#include "test.h"

enum { CHILD = 4000, FAR_ENOUGH_US = 20000, READERS = 4, REQUESTS = 60 };

FIXTURE(readers)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
};

FIXTURE_SETUP(readers)
{
	self->channel = rdma_create_event_channel();
	ASSERT_NE(NULL, self->channel);
	ASSERT_EQ(0, rdma_create_id(self->channel, &self->id, self,
				    RDMA_PS_TCP));
}

FIXTURE_TEARDOWN(readers)
{
	EXPECT_EQ(0, fake_outstanding());
	EXPECT_EQ(0, rdma_destroy_id(self->id));
	rdma_destroy_event_channel(self->channel);
	EXPECT_FALSE(fake_misused);
}

static void bring_request(struct rdma_cm_id *listener, uint32_t handle)
{
	struct rdma_ucmx_event head = {
		.size = sizeof(head),
		.event = RDMA_CM_EVENT_CONNECT_REQUEST,
		.seq = 1,
		.id = handle,
		.listen_id = cmx_id_of(listener)->handle,
		.listen_cookie = cmx_id_of(listener)->cookie,
	};

	fake_make(listener->channel->fd, handle, false);
	fake_bring(&head, sizeof(head));
}

/* The kernel has no cookie of it: nobody has accepted it. */
static void bring_removal(uint32_t handle)
{
	struct rdma_ucmx_event head = {
		.size = sizeof(head),
		.event = RDMA_CM_EVENT_DEVICE_REMOVAL,
		.seq = 1,
		.id = handle,
	};

	fake_bring(&head, sizeof(head));
}

static void bring_other(struct rdma_cm_id *id)
{
	struct rdma_ucmx_event head = {
		.size = sizeof(head),
		.event = RDMA_CM_EVENT_ADDR_CHANGE,
		.seq = 7,
		.id = cmx_id_of(id)->handle,
		.cookie = cmx_id_of(id)->cookie,
	};

	fake_bring(&head, sizeof(head));
}

struct reader {
	pthread_t thread;
	struct rdma_event_channel *channel;
	struct rdma_cm_event *events[3];
	int max;
	int count;
};

/* One at a time, or many. */
static void *read_events(void *argument)
{
	struct reader *reader = argument;

	if (reader->max)
		reader->count = rdmax_get_cm_events(reader->channel, reader->events,
						    reader->max);
	else
		reader->count = rdma_get_cm_event(reader->channel,
						  reader->events) ? -1 : 1;
	return NULL;
}

/* The first one has the request, and is released when the second one is far enough. */
static void read_both(struct reader *first, struct reader *second)
{
	fake_hold(FAKE_HAVE_READ);
	pthread_create(&first->thread, NULL, read_events, first);
	fake_wait_held();
	pthread_create(&second->thread, NULL, read_events, second);
	usleep(FAR_ENOUGH_US);
	fake_release();
	pthread_join(first->thread, NULL);
	pthread_join(second->thread, NULL);
}

TEST_F(readers, event_of_a_request_that_another_has)
{
	struct reader first = { .channel = self->channel };
	struct reader second = { .channel = self->channel };
	struct rdma_cm_id *child;

	bring_request(self->id, CHILD);
	bring_removal(CHILD);
	read_both(&first, &second);
	ASSERT_EQ(1, first.count);
	child = first.events[0]->id;
	ASSERT_EQ(1, second.count);
	EXPECT_EQ(RDMA_CM_EVENT_DEVICE_REMOVAL, second.events[0]->event);
	EXPECT_EQ(child, second.events[0]->id);
	test_ok(rdma_ack_cm_event(first.events[0]));
	test_ok(rdma_ack_cm_event(second.events[0]));
	test_ok(rdma_destroy_id(child));
}

/* Wherever in a batch it is. */
TEST_F(readers, event_of_a_request_that_another_has_among_many)
{
	struct reader first = { .channel = self->channel, .max = 3 };
	struct reader second = { .channel = self->channel, .max = 3 };
	struct rdma_cm_id *child;

	bring_other(self->id);
	bring_other(self->id);
	bring_request(self->id, CHILD);
	bring_removal(CHILD);
	read_both(&first, &second);
	ASSERT_EQ(3, first.count);
	child = first.events[2]->id;
	ASSERT_EQ(1, second.count);
	EXPECT_EQ(child, second.events[0]->id);
	EXPECT_EQ(3, rdmax_ack_cm_events(first.events, 3));
	EXPECT_EQ(1, rdmax_ack_cm_events(second.events, 1));
	test_ok(rdma_destroy_id(child));
}

struct crowd {
	pthread_t threads[READERS];
	struct rdma_event_channel *channel;
	atomic_int requests;
	atomic_int removals;
	atomic_int lost;
};

static void *read_in_a_crowd(void *argument)
{
	struct crowd *crowd = argument;
	struct rdma_cm_event *event;

	while (!rdma_get_cm_event(crowd->channel, &event)) {
		if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
			crowd->requests++;
		else if (event->id->context)
			crowd->removals++;
		else
			crowd->lost++;
		rdma_ack_cm_event(event);
	}
	return NULL;
}

/* However they overtake each other, and whosever buffer is looked at when it goes. */
TEST_F(readers, many_at_once)
{
	struct crowd crowd = { .channel = self->channel };
	struct cmx_id *child;
	int i;

	for (i = 0; i < REQUESTS; i++) {
		bring_request(self->id, CHILD + i);
		bring_removal(CHILD + i);
	}
	fake_jitter(true);
	for (i = 0; i < READERS; i++)
		pthread_create(&crowd.threads[i], NULL, read_in_a_crowd, &crowd);
	for (i = 0; i < READERS; i++)
		pthread_join(crowd.threads[i], NULL);
	fake_jitter(false);
	EXPECT_EQ(REQUESTS, crowd.requests);
	EXPECT_EQ(REQUESTS, crowd.removals);
	EXPECT_EQ(0, crowd.lost);
	for (i = 0; i < REQUESTS; i++) {
		child = cmx_table_find_handle(CHILD + i);
		ASSERT_NE(NULL, child);
		test_ok(rdma_destroy_id(&child->id));
		cmx_id_put(child);
	}
}

/* Nobody waits for what nobody has: it is another process'. */
TEST_F(readers, event_of_a_request_that_nobody_has)
{
	struct reader first = { .channel = self->channel };
	struct rdma_cm_event *event;

	bring_request(self->id, CHILD);
	bring_removal(CHILD + 1);
	fake_hold(FAKE_HAVE_READ);
	pthread_create(&first.thread, NULL, read_events, &first);
	fake_wait_held();
	test_err(EAGAIN, rdma_get_cm_event(self->channel, &event));
	bring_removal(CHILD + 1);
	ASSERT_EQ(1, rdmax_get_cm_events(self->channel, &event, 1));
	EXPECT_EQ(NULL, event->id);
	test_ok(rdma_ack_cm_event(event));
	fake_release();
	pthread_join(first.thread, NULL);
	ASSERT_EQ(1, first.count);
	test_ok(rdma_destroy_id(first.events[0]->id));
	test_ok(rdma_ack_cm_event(first.events[0]));
}

TEST_HARNESS_MAIN
