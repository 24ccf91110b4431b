// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Events in batches, over the kernel.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include <rdma/rdma_cmx.h>

#include "cmx_scene.h"
#include "lib_scene.h"
#include "test.h"

#define MANY 100

FIXTURE(batch)
{
	struct rdma_event_channel *channel, *other;
	struct rdma_cm_id *id;
	struct rdma_cm_event *events[MANY];
};

FIXTURE_SETUP(batch)
{
	self->channel = rdma_create_event_channel();
	self->other = rdma_create_event_channel();
	ASSERT_NE(NULL, self->channel);
	ASSERT_NE(NULL, self->other);
	test_ok(rdma_create_id(self->channel, &self->id, self, RDMA_PS_TCP));
}

FIXTURE_TEARDOWN(batch)
{
	EXPECT_EQ(0, channel_outstanding(self->channel));
	EXPECT_EQ(0, rdma_destroy_id(self->id));
	rdma_destroy_event_channel(self->channel);
	rdma_destroy_event_channel(self->other);
}

/* Whether these are the events of the id from this argument on. */
static bool are_numbered(struct rdma_cm_event **events,
			 const struct rdma_cm_id *id, uint64_t first, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		if (events[i]->id != id ||
		    events[i]->event != RDMA_CM_EVENT_USER ||
		    rdmax_event_arg(events[i]) != first + i)
			return false;
	}
	return true;
}

TEST_F(batch, never_more_than_there_is_room_for)
{
	test_ok(events_write(self->id, 1, 40));
	ASSERT_EQ(1, rdmax_get_cm_events(self->channel, self->events, 1));
	ASSERT_TRUE(are_numbered(self->events, self->id, 1, 1));
	ASSERT_EQ(1, channel_outstanding(self->channel));
	ASSERT_EQ(7, rdmax_get_cm_events(self->channel, self->events + 1, 7));
	ASSERT_TRUE(are_numbered(self->events, self->id, 1, 8));
	ASSERT_EQ(32, rdmax_get_cm_events(self->channel, self->events + 8, 32));
	ASSERT_TRUE(are_numbered(self->events, self->id, 1, 40));
	ASSERT_EQ(40, channel_outstanding(self->channel));
	ASSERT_FALSE(event_there(self->channel));
	ASSERT_EQ(40, rdmax_ack_cm_events(self->events, 40));
	ASSERT_EQ(0, channel_outstanding(self->channel));
}

/* What one call does not take, for whatever limit, the next ones do. */
TEST_F(batch, more_than_one_call_takes)
{
	test_ok(events_write(self->id, 1, MANY));
	test_ok(events_read(self->channel, self->events, MANY));
	ASSERT_TRUE(are_numbered(self->events, self->id, 1, MANY));
	ASSERT_EQ(MANY, rdmax_ack_cm_events(self->events, MANY));
}

/* Singly and together, both ways, and not in order. */
TEST_F(batch, acknowledged_in_any_way)
{
	struct rdma_cm_event *event;

	test_ok(events_write(self->id, 1, 5));
	ASSERT_EQ(4, rdmax_get_cm_events(self->channel, self->events, 4));
	test_ok(rdma_get_cm_event(self->channel, &event));
	test_ok(rdma_ack_cm_event(self->events[2]));
	self->events[2] = event;
	ASSERT_EQ(2, rdmax_ack_cm_events(self->events + 2, 2));
	self->events[2] = NULL;
	/* Up to what is none. */
	ASSERT_EQ(2, rdmax_ack_cm_events(self->events, 4));
	ASSERT_EQ(0, rdmax_ack_cm_events(self->events, 0));
	ASSERT_EQ(0, rdmax_ack_cm_events(NULL, 0));
}

/* Events of several ids, on several channels, in one call. */
TEST_F(batch, acknowledged_across_channels)
{
	struct rdma_cm_id *ids[3];
	int i;

	for (i = 0; i < 3; i++) {
		test_ok(rdma_create_id(i == 1 ? self->other : self->channel,
				       &ids[i], NULL, RDMA_PS_TCP));
		test_ok(events_write(ids[i], i, 1));
		test_ok(events_read(ids[i]->channel, &self->events[i], 1));
		ASSERT_EQ(ids[i], self->events[i]->id);
	}
	ASSERT_EQ(3, rdmax_ack_cm_events(self->events, 3));
	ASSERT_EQ(0, channel_outstanding(self->other));
	for (i = 0; i < 3; i++)
		test_ok(rdmax_destroy_id(ids[i], NULL, RDMAX_NONBLOCK, NULL));
}

/* That the kernel has no such event any more hides no other. */
TEST_F(batch, acknowledged_though_a_channel_is_gone)
{
	struct rdma_cm_id *id;
	int i;

	test_ok(rdma_create_id(self->other, &id, NULL, RDMA_PS_TCP));
	for (i = 0; i < 4; i++) {
		test_ok(events_write(i == 1 ? id : self->id, i, 1));
		test_ok(events_read(i == 1 ? self->other : self->channel,
				    &self->events[i], 1));
	}
	rdma_destroy_event_channel(self->other);
	self->other = rdma_create_event_channel();
	ASSERT_NE(NULL, self->other);
	ASSERT_EQ(4, rdmax_ack_cm_events(self->events, 4));
	test_ok(rdma_destroy_id(id));
}

TEST_F(batch, parameters)
{
	test_err(EINVAL, rdmax_get_cm_events(NULL, self->events, 1));
	test_err(EINVAL, rdmax_get_cm_events(self->channel, NULL, 1));
	test_err(EINVAL, rdmax_get_cm_events(self->channel, self->events, 0));
	test_err(EINVAL, rdmax_get_cm_events(self->channel, self->events, -1));
	self->events[0] = NULL;
	test_err(EINVAL, rdmax_ack_cm_events(self->events, 1));
	test_err(EINVAL, rdmax_ack_cm_events(NULL, 1));
	test_err(EINVAL, rdmax_ack_cm_events(self->events, -1));
}

TEST_F(batch, nonblocking_channel)
{
	test_ok(fcntl(self->channel->fd, F_SETFL, O_NONBLOCK));
	test_err(EAGAIN, rdmax_get_cm_events(self->channel, self->events, 8));
	test_ok(events_write(self->id, 1, 1));
	ASSERT_EQ(1, rdmax_get_cm_events(self->channel, self->events, 8));
	ASSERT_EQ(1, rdmax_ack_cm_events(self->events, 1));
}

TEST_F(batch, ends_by_a_signal)
{
	alarm_repeatedly(0);
	test_err(EINTR, rdmax_get_cm_events(self->channel, self->events, 8));
	alarm_no_more();
}

/* Requests bring ids, one each. */
TEST_F(batch, of_requests)
{
	struct rdma_cm_id *listener, *clients[4];
	int i;

	listener = listener_open(self->channel, ADDR1, 8);
	ASSERT_NE(NULL, listener);
	for (i = 0; i < 4; i++) {
		clients[i] = client_connect(self->other, ADDR1,
					    listener_port(listener), i);
		ASSERT_NE(NULL, clients[i]);
	}
	test_ok(events_read(self->channel, self->events, 4));
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(RDMA_CM_EVENT_CONNECT_REQUEST,
			  self->events[i]->event);
		ASSERT_EQ(listener, self->events[i]->listen_id);
		ASSERT_NE(NULL, self->events[i]->id->verbs);
		test_ok(rdma_reject(self->events[i]->id, NULL, 0));
		/* The event outlives the id that it brought. */
		test_ok(rdma_destroy_id(self->events[i]->id));
	}
	ASSERT_EQ(4, rdmax_ack_cm_events(self->events, 4));
	test_ok(events_read(self->other, self->events, 4));
	for (i = 0; i < 4; i++)
		ASSERT_EQ(RDMA_CM_EVENT_REJECTED, self->events[i]->event);
	ASSERT_EQ(4, rdmax_ack_cm_events(self->events, 4));
	for (i = 0; i < 4; i++)
		id_close(clients[i]);
	test_ok(rdma_destroy_id(listener));
}

static void *read_for_ever(void *channel)
{
	struct rdma_cm_event *events[8];

	rdmax_get_cm_events(channel, events, 8);
	return NULL;
}

TEST_F(batch, blocked_reader_is_cancelled)
{
	pthread_t thread;
	void *result;
	int i;

	for (i = 0; i < 20; i++) {
		pthread_create(&thread, NULL, read_for_ever, self->channel);
		if (i % 2)
			usleep(20000);
		pthread_cancel(thread);
		pthread_join(thread, &result);
		ASSERT_EQ(PTHREAD_CANCELED, result);
	}
	test_ok(events_write(self->id, 1, 2));
	ASSERT_EQ(2, rdmax_get_cm_events(self->channel, self->events, 8));
	ASSERT_TRUE(are_numbered(self->events, self->id, 1, 2));
	ASSERT_EQ(2, rdmax_ack_cm_events(self->events, 2));
}

/* Several readers: every event goes to one of them, and to one only. */
#define READERS 4
#define EACH 600

struct reader {
	struct rdma_event_channel *channel;
	atomic_int *seen;
	int ret;
};

static void *read_until_shutdown(void *argument)
{
	struct reader *reader = argument;
	struct rdma_cm_event *events[5];
	int i, n;

	while ((n = rdmax_get_cm_events(reader->channel, events, 5)) > 0) {
		for (i = 0; i < n; i++)
			atomic_fetch_add(&reader->seen[rdmax_event_arg(events[i])],
					 1);
		if (rdmax_ack_cm_events(events, n) != n)
			break;
	}
	reader->ret = n < 0 ? errno : 0;
	return NULL;
}

TEST_F(batch, of_several_readers)
{
	static atomic_int seen[EACH];
	struct reader readers[READERS];
	pthread_t threads[READERS];
	int i, n = scaled(EACH), ms;

	for (i = 0; i < READERS; i++) {
		readers[i] = (struct reader){ self->channel, seen, 0 };
		pthread_create(&threads[i], NULL, read_until_shutdown,
			       &readers[i]);
	}
	for (i = 0; i < n; i++) {
		/* No more at a time than an id may have. */
		while (events_write(self->id, i, 1)) {
			ASSERT_EQ(ENOSPC, errno);
			usleep(1000);
		}
	}
	for (i = 0; i < n; i++) {
		for (ms = patience_ms(); ms > 0 && !atomic_load(&seen[i]); ms--)
			usleep(1000);
	}
	test_ok(rdmax_shutdown_channel(self->channel));
	for (i = 0; i < READERS; i++) {
		pthread_join(threads[i], NULL);
		EXPECT_EQ(ESHUTDOWN, readers[i].ret);
	}
	for (i = 0; i < n; i++)
		ASSERT_EQ(1, atomic_load(&seen[i]));
}

TEST_HARNESS_MAIN
