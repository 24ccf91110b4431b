// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What becomes of a batch of records, and of ids that are strange?  Over a fake
 * kernel that brings any.
 */
#include <pthread.h>
#include <string.h>

#include "cmx.h"
#include "fake.h"
#include "test.h"

#define STRANGE 4000
#define STRANGE_CHILD 4001
#define MAX 100

FIXTURE(batch)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct rdma_cm_event *events[MAX];
};

FIXTURE_SETUP(batch)
{
	self->channel = rdma_create_event_channel();
	ASSERT_NE(NULL, self->channel);
	ASSERT_EQ(0, rdma_create_id(self->channel, &self->id, self,
				    RDMA_PS_TCP));
}

/* Nothing outstanding but what a test holds, and nothing left. */
FIXTURE_TEARDOWN(batch)
{
	EXPECT_EQ(0, fake_outstanding());
	EXPECT_EQ(0, rdma_destroy_id(self->id));
	rdma_destroy_event_channel(self->channel);
	EXPECT_FALSE(fake_misused);
}

/* A head with the next number for its sequence and for its status. */
static struct rdma_ucmx_event head_of(int type)
{
	static int number;
	struct rdma_ucmx_event head = {
		.size = sizeof(head),
		.event = type,
		.status = ++number,
		.seq = number,
	};

	return head;
}

static void bring(struct rdma_cm_id *of, int type)
{
	struct rdma_ucmx_event head = head_of(type);
	struct cmx_id *id = cmx_id_of(of);

	head.id = id->handle;
	head.cookie = id->cookie;
	fake_bring(&head, sizeof(head));
}

static void bring_request(struct rdma_cm_id *listener)
{
	struct rdma_ucmx_event head = head_of(RDMA_CM_EVENT_CONNECT_REQUEST);
	struct cmx_id *id = cmx_id_of(listener);

	head.id = STRANGE_CHILD;
	head.listen_id = id->handle;
	head.listen_cookie = id->cookie;
	fake_bring(&head, sizeof(head));
}

static void bring_strange(int type, uint64_t cookie)
{
	struct rdma_ucmx_event head = head_of(type);

	head.id = STRANGE;
	head.cookie = cookie;
	head.port_space = RDMA_PS_TCP;
	head.qp_type = IBV_QPT_RC;
	fake_bring(&head, sizeof(head));
}

TEST_F(batch, is_in_order_and_no_more_than_wanted)
{
	int i, first;

	for (i = 0; i < 10; i++)
		bring(self->id, RDMA_CM_EVENT_ADDR_CHANGE);
	ASSERT_EQ(4, rdmax_get_cm_events(self->channel, self->events, 4));
	ASSERT_EQ(6, rdmax_get_cm_events(self->channel, self->events + 4, 10));
	first = self->events[0]->status;
	for (i = 0; i < 10; i++) {
		EXPECT_EQ(first + i, self->events[i]->status);
		EXPECT_EQ(self->id, self->events[i]->id);
	}
	EXPECT_EQ(10, fake_outstanding());
	EXPECT_EQ(10, rdmax_ack_cm_events(self->events, 10));
	EXPECT_EQ(-1, rdmax_get_cm_events(self->channel, self->events, 1));
	EXPECT_EQ(EAGAIN, errno);
}

/* Whatever the limit of a call is, nothing is lost behind it. */
TEST_F(batch, of_very_many)
{
	int i, n, used = 0;

	for (i = 0; i < MAX; i++)
		bring(self->id, RDMA_CM_EVENT_ADDR_CHANGE);
	while (used < MAX) {
		n = rdmax_get_cm_events(self->channel, self->events + used,
					MAX - used);
		ASSERT_LT(0, n);
		used += n;
	}
	for (i = 1; i < MAX; i++)
		EXPECT_EQ(self->events[0]->status + i, self->events[i]->status);
	EXPECT_EQ(MAX, rdmax_ack_cm_events(self->events, MAX));
}

/* What is passed over leaves no gap; what is all passed over is no answer. */
TEST_F(batch, passes_over)
{
	cmx_id_of(self->id)->connect_failed = true;
	bring(self->id, RDMA_CM_EVENT_REJECTED);
	bring(self->id, RDMA_CM_EVENT_ADDR_CHANGE);
	bring(self->id, RDMA_CM_EVENT_DISCONNECTED);
	bring(self->id, RDMA_CM_EVENT_TIMEWAIT_EXIT);
	ASSERT_EQ(1, rdmax_get_cm_events(self->channel, self->events, 1));
	EXPECT_EQ(RDMA_CM_EVENT_ADDR_CHANGE, self->events[0]->event);
	EXPECT_EQ(1, fake_outstanding());
	EXPECT_EQ(1, rdmax_ack_cm_events(self->events, 1));
	ASSERT_EQ(1, rdmax_get_cm_events(self->channel, self->events, 8));
	EXPECT_EQ(RDMA_CM_EVENT_TIMEWAIT_EXIT, self->events[0]->event);
	EXPECT_EQ(1, rdmax_ack_cm_events(self->events, 1));
}

TEST_F(batch, of_requests)
{
	int i;

	for (i = 0; i < 3; i++)
		bring_request(self->id);
	bring(self->id, RDMA_CM_EVENT_ADDR_CHANGE);
	ASSERT_EQ(4, rdmax_get_cm_events(self->channel, self->events, 8));
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(self->id, self->events[i]->listen_id);
		EXPECT_EQ(self, self->events[i]->id->context);
		EXPECT_EQ(0, rdma_destroy_id(self->events[i]->id));
	}
	EXPECT_NE(self->events[0]->id, self->events[1]->id);
	EXPECT_EQ(NULL, self->events[3]->listen_id);
	EXPECT_EQ(4, rdmax_ack_cm_events(self->events, 4));
}

static void *read_some(void *argument)
{
	struct rdma_cm_event *events[8];

	rdmax_get_cm_events(argument, events, 8);
	return NULL;
}

/* All that the kernel gave to a thread that is no more is acknowledged. */
TEST_F(batch, reader_is_cancelled_with_all_of_it)
{
	pthread_t thread;
	void *result;

	bring(self->id, RDMA_CM_EVENT_ADDR_CHANGE);
	bring_request(self->id);
	bring(self->id, RDMA_CM_EVENT_ADDR_CHANGE);
	bring_strange(RDMA_CM_EVENT_ADDR_CHANGE, 7);
	fake_cancel_reader(1);
	pthread_create(&thread, NULL, read_some, self->channel);
	pthread_join(thread, &result);
	EXPECT_EQ(PTHREAD_CANCELED, result);
	EXPECT_EQ(0, fake_outstanding());
	/* And nothing of it is in the way of the next. */
	bring(self->id, RDMA_CM_EVENT_TIMEWAIT_EXIT);
	ASSERT_EQ(1, rdmax_get_cm_events(self->channel, self->events, 8));
	EXPECT_EQ(RDMA_CM_EVENT_TIMEWAIT_EXIT, self->events[0]->event);
	EXPECT_EQ(1, rdmax_ack_cm_events(self->events, 1));
}

TEST_F(batch, refuses_what_is_no_record)
{
	struct rdma_ucmx_event head = { .size = sizeof(head) - 8 };

	bring(self->id, RDMA_CM_EVENT_ADDR_CHANGE);
	fake_bring(&head, sizeof(head));
	ASSERT_EQ(1, rdmax_get_cm_events(self->channel, self->events, 8));
	EXPECT_EQ(1, rdmax_ack_cm_events(self->events, 1));
	cmx_sys_ack(0, 0, 0);
}

/* Each number of events of which the last ones are on a channel that is gone. */
TEST_F(batch, acknowledges_across_channels)
{
	struct rdma_event_channel *other = rdma_create_event_channel();
	struct rdma_cm_id *id;

	ASSERT_NE(NULL, other);
	ASSERT_EQ(0, rdma_create_id(other, &id, NULL, RDMA_PS_TCP));
	bring(self->id, RDMA_CM_EVENT_ADDR_CHANGE);
	ASSERT_EQ(1, rdmax_get_cm_events(self->channel, self->events, 1));
	bring(id, RDMA_CM_EVENT_ADDR_CHANGE);
	ASSERT_EQ(1, rdmax_get_cm_events(other, self->events + 1, 1));
	bring(self->id, RDMA_CM_EVENT_ADDR_CHANGE);
	ASSERT_EQ(1, rdmax_get_cm_events(self->channel, self->events + 2, 1));
	EXPECT_EQ(3, rdmax_ack_cm_events(self->events, 3));
	EXPECT_EQ(0, fake_outstanding());
	EXPECT_EQ(0, rdma_destroy_id(id));
	rdma_destroy_event_channel(other);
}

TEST_F(batch, strange_ids_are_for_those_who_ask)
{
	struct rdma_cm_event *event;

	bring_strange(RDMAX_EVENT_ARRIVED, 0);
	bring(self->id, RDMA_CM_EVENT_ADDR_CHANGE);
	ASSERT_EQ(0, rdma_get_cm_event(self->channel, &event));
	EXPECT_EQ(RDMA_CM_EVENT_ADDR_CHANGE, event->event);
	EXPECT_EQ(1, fake_outstanding());
	EXPECT_EQ(0, rdma_ack_cm_event(event));

	bring_strange(RDMAX_EVENT_ARRIVED, 0);
	bring_strange(RDMA_CM_EVENT_ADDR_CHANGE, cmx_id_of(self->id)->cookie);
	ASSERT_EQ(2, rdmax_get_cm_events(self->channel, self->events, 8));
	EXPECT_EQ(RDMAX_EVENT_ARRIVED, self->events[0]->event);
	EXPECT_EQ(NULL, self->events[0]->id);
	/* The cookie is one of ours, the id is not. */
	EXPECT_EQ(NULL, self->events[1]->id);
	EXPECT_EQ(2, fake_outstanding());
	EXPECT_EQ(2, rdmax_ack_cm_events(self->events, 2));
}

static void bring_strange_request(const struct rdma_event_channel *channel,
				  bool claimed)
{
	struct rdma_ucmx_event head = head_of(RDMA_CM_EVENT_CONNECT_REQUEST);

	fake_make(channel->fd, STRANGE_CHILD, claimed);
	head.id = STRANGE_CHILD;
	head.listen_id = STRANGE;
	fake_bring(&head, sizeof(head));
}

/* Unless it was adopted; by another process, too. */
TEST_F(batch, request_that_is_just_acknowledged_is_refused)
{
	bring_strange_request(self->channel, false);
	ASSERT_EQ(1, rdmax_get_cm_events(self->channel, self->events, 8));
	EXPECT_EQ(0, rdma_ack_cm_event(self->events[0]));
	EXPECT_EQ(0, fake_owner(STRANGE_CHILD));

	bring_strange_request(self->channel, false);
	ASSERT_EQ(1, rdmax_get_cm_events(self->channel, self->events, 8));
	EXPECT_EQ(1, rdmax_ack_cm_events(self->events, 1));
	EXPECT_EQ(0, fake_owner(STRANGE_CHILD));

	bring_strange_request(self->channel, true);
	ASSERT_EQ(1, rdmax_get_cm_events(self->channel, self->events, 8));
	EXPECT_EQ(1, rdmax_ack_cm_events(self->events, 1));
	EXPECT_EQ(self->channel->fd, fake_owner(STRANGE_CHILD));
	fake_make(0, STRANGE_CHILD, true);
}

/* Of a known id the announcement is an event like any other. */
TEST_F(batch, announcement_of_a_known_id)
{
	struct rdma_cm_event *event;

	bring(self->id, RDMAX_EVENT_ARRIVED);
	ASSERT_EQ(0, rdma_get_cm_event(self->channel, &event));
	EXPECT_EQ(RDMAX_EVENT_ARRIVED, event->event);
	EXPECT_EQ(self->id, event->id);
	EXPECT_EQ(0, strcmp("RDMAX_EVENT_ARRIVED", rdma_event_str(event->event)));
	EXPECT_EQ(0, rdma_ack_cm_event(event));
}

TEST_HARNESS_MAIN
