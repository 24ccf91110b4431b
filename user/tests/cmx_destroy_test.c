// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Destroying and leaving for a limited time or with an event in hand; who keeps
 * an id; options that are asked for; channels that are shut down.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>

#include <rdma/rdma_cmx.h>

#include "cmx_scene.h"
#include "lib_scene.h"
#include "test.h"

static const struct timespec past = { .tv_nsec = 1 };
static const struct timespec no_time = { .tv_nsec = 1000000000 };

/* An id with an event of it in hand. */
FIXTURE(held)
{
	struct rdma_event_channel *channel, *other;
	struct rdma_cm_id *id;
	struct rdma_cm_event *event;
};

FIXTURE_SETUP(held)
{
	self->channel = rdma_create_event_channel();
	self->other = rdma_create_event_channel();
	ASSERT_NE(NULL, self->channel);
	ASSERT_NE(NULL, self->other);
	test_ok(rdma_create_id(self->channel, &self->id, self, RDMA_PS_TCP));
	test_ok(events_write(self->id, 1, 1));
	test_ok(event_expect(self->channel, RDMA_CM_EVENT_USER, &self->event));
}

FIXTURE_TEARDOWN(held)
{
	EXPECT_EQ(0, channel_ids(self->channel));
	rdma_destroy_event_channel(self->channel);
	rdma_destroy_event_channel(self->other);
}

static int set_tos(struct rdma_cm_id *id, uint8_t tos)
{
	return rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, 1);
}

TEST_F(held, counts_as_acknowledged)
{
	test_ok(rdmax_destroy_id(self->id, self->event, 0, NULL));
}

TEST_F(held, counts_without_blocking)
{
	test_ok(rdmax_destroy_id(self->id, self->event, RDMAX_NONBLOCK, NULL));
}

/* Another one is waited for, and what is held is still in hand after a failure. */
TEST_F(held, is_not_the_only_one)
{
	struct rdma_cm_event *second;

	test_ok(events_write(self->id, 2, 1));
	test_ok(event_expect(self->channel, RDMA_CM_EVENT_USER, &second));
	test_err(EAGAIN, rdmax_destroy_id(self->id, self->event, RDMAX_NONBLOCK,
					  NULL));
	test_err(ETIMEDOUT, rdmax_destroy_id(self->id, self->event, 0, &past));
	test_ok(rdma_ack_cm_event(second));
	test_ok(rdmax_destroy_id(self->id, self->event, 0, &past));
}

TEST_F(held, nothing_changes_without_blocking)
{
	test_ok(events_write(self->id, 2, 1));
	test_err(EAGAIN, rdmax_destroy_id(self->id, NULL, RDMAX_NONBLOCK, NULL));
	test_ok(set_tos(self->id, 8));
	test_ok(rdma_ack_cm_event(self->event));
	test_ok(event_take(self->channel, RDMA_CM_EVENT_USER));
	test_ok(rdmax_destroy_id(self->id, NULL, RDMAX_NONBLOCK, NULL));
}

/* After the deadline it is dying: nothing finds it but what ends it. */
TEST_F(held, dies_after_the_deadline)
{
	struct timespec soon = after_ms(50);
	struct rdmax_id_info info;

	test_ok(events_write(self->id, 2, 1));
	test_err(ETIMEDOUT, rdmax_destroy_id(self->id, NULL, 0, &soon));
	test_err(ENOENT, set_tos(self->id, 8));
	test_err(ENOENT, rdma_migrate_id(self->id, self->other));
	/* The event that was not read is dropped. */
	ASSERT_FALSE(event_there(self->channel));
	test_ok(rdmax_query_id(self->id, &info, sizeof(info)));
	ASSERT_EQ(RDMAX_ID_DYING, info.state);
	ASSERT_EQ(0, info.pending);
	ASSERT_EQ(1, info.outstanding);
	test_err(ETIMEDOUT, rdmax_destroy_id(self->id, NULL, 0, &past));
	test_err(EAGAIN, rdmax_destroy_id(self->id, NULL, RDMAX_NONBLOCK, NULL));
	test_ok(rdma_ack_cm_event(self->event));
	test_err(ENOENT, rdmax_query_id(self->id, &info, sizeof(info)));
	test_ok(rdmax_destroy_id(self->id, NULL, RDMAX_NONBLOCK, NULL));
}

static void *acknowledge_soon(void *event)
{
	usleep(50000);
	rdma_ack_cm_event(event);
	return NULL;
}

/* Each way to go on with it. */
TEST_F(held, is_gone_on_with)
{
	pthread_t thread;

	test_err(ETIMEDOUT, rdmax_destroy_id(self->id, NULL, 0, &past));
	pthread_create(&thread, NULL, acknowledge_soon, self->event);
	test_ok(rdma_destroy_id(self->id));
	pthread_join(thread, NULL);
}

TEST_F(held, is_gone_on_with_in_hand)
{
	test_err(ETIMEDOUT, rdmax_destroy_id(self->id, NULL, 0, &past));
	test_ok(rdmax_destroy_id(self->id, self->event, 0, NULL));
}

TEST_F(held, is_interrupted)
{
	alarm_repeatedly(0);
	test_err(EINTR, rdmax_destroy_id(self->id, NULL, 0, NULL));
	alarm_no_more();
	ASSERT_TRUE(id_comes_to(self->id, RDMAX_ID_DYING));
	test_ok(rdmax_destroy_id(self->id, self->event, 0, NULL));
}

TEST_F(held, is_restarted_up_to_its_deadline)
{
	struct timespec deadline = after_ms(200);

	alarm_repeatedly(SA_RESTART);
	test_err(ETIMEDOUT, rdmax_destroy_id(self->id, NULL, 0, &deadline));
	alarm_no_more();
	ASSERT_LT(0, alarms);
	test_ok(rdmax_destroy_id(self->id, self->event, 0, NULL));
}

TEST_F(held, parameters)
{
	struct rdma_cm_id *other;

	test_err(EINVAL, rdmax_destroy_id(NULL, NULL, 0, NULL));
	test_err(EINVAL, rdmax_destroy_id(self->id, NULL, 0, &no_time));
	test_err(EOPNOTSUPP, rdmax_destroy_id(self->id, NULL, RDMAX_ANNOUNCE,
					      NULL));
	test_err(EOPNOTSUPP, rdmax_destroy_id(self->id, NULL, 1 << 20, NULL));
	test_ok(rdma_create_id(self->channel, &other, NULL, RDMA_PS_TCP));
	test_err(EINVAL, rdmax_destroy_id(other, self->event, 0, NULL));
	test_ok(rdmax_destroy_id(other, NULL, 0, &past));
	test_ok(rdmax_destroy_id(self->id, self->event, 0, NULL));
}

/* It went with its channel: there is nothing to wait for. */
TEST_F(held, channel_is_destroyed_first)
{
	struct rdma_event_channel *channel = self->channel;

	self->channel = rdma_create_event_channel();
	rdma_destroy_event_channel(channel);
	test_ok(rdmax_destroy_id(self->id, self->event, RDMAX_NONBLOCK, NULL));
}

/* Who keeps it, and since when. */
TEST_F(held, query_says_who_has_the_event)
{
	struct timespec now = after_ms(0);
	struct rdmax_id_info info;
	unsigned char bytes[sizeof(info) + 8];

	test_ok(events_write(self->id, 2, 3));
	test_ok(rdmax_query_id(self->id, &info, sizeof(info)));
	ASSERT_EQ(0, info.state);
	ASSERT_EQ(3, info.pending);
	ASSERT_EQ(1, info.outstanding);
	ASSERT_EQ(0, info.unread);
	ASSERT_EQ((uint32_t)getpid(), info.oldest_reader);
	ASSERT_LT(0, info.oldest_time.tv_sec);
	ASSERT_LE(info.oldest_time.tv_sec, now.tv_sec);

	/* An older caller's, a newer caller's, and nobody's. */
	memset(bytes, 0xff, sizeof(bytes));
	test_ok(rdmax_query_id(self->id, (void *)bytes, 12));
	ASSERT_EQ(0, memcmp(bytes, &info, 12));
	ASSERT_EQ(0xff, bytes[12]);
	test_ok(rdmax_query_id(self->id, (void *)bytes, sizeof(bytes)));
	ASSERT_EQ(0, bytes[sizeof(info)] | bytes[sizeof(bytes) - 1]);
	test_err(EINVAL, rdmax_query_id(self->id, &info, 0));
	test_err(EINVAL, rdmax_query_id(self->id, NULL, sizeof(info)));
	test_err(EINVAL, rdmax_query_id(NULL, &info, sizeof(info)));

	test_ok(rdma_ack_cm_event(self->event));
	test_ok(rdmax_query_id(self->id, &info, sizeof(info)));
	ASSERT_EQ(0, info.outstanding);
	ASSERT_EQ(0, info.oldest_reader);
	ASSERT_EQ(0, info.oldest_time.tv_sec);
	test_ok(rdma_migrate_id(self->id, self->other));
	test_ok(rdmax_query_id(self->id, &info, sizeof(info)));
	ASSERT_EQ(3, info.pending);
	test_ok(rdma_destroy_id(self->id));
}

TEST_F(held, options_are_asked_for)
{
	size_t length = 4;
	uint8_t value[4];

	test_err(ENODATA, rdmax_get_option(self->id, RDMA_OPTION_ID,
					   RDMA_OPTION_ID_TOS, value, &length));
	ASSERT_EQ(4, length);
	test_ok(set_tos(self->id, 8));
	test_ok(rdmax_get_option(self->id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS,
				 value, &length));
	ASSERT_EQ(1, length);
	ASSERT_EQ(8, value[0]);
	length = 0;
	test_err(EINVAL, rdmax_get_option(self->id, RDMA_OPTION_ID,
					  RDMA_OPTION_ID_TOS, value, &length));
	length = 1;
	test_err(ENOSYS, rdmax_get_option(self->id, RDMA_OPTION_ID, 77, value,
					  &length));
	test_err(ENOSYS, rdmax_get_option(self->id, 77, RDMA_OPTION_ID_TOS,
					  value, &length));
	test_err(EFAULT, rdmax_get_option(self->id, RDMA_OPTION_ID,
					  RDMA_OPTION_ID_TOS, NULL, &length));
	test_err(EINVAL, rdmax_get_option(self->id, RDMA_OPTION_ID,
					  RDMA_OPTION_ID_TOS, value, NULL));
	test_err(EINVAL, rdmax_get_option(NULL, RDMA_OPTION_ID,
					  RDMA_OPTION_ID_TOS, value, &length));
	length = SIZE_MAX;
	test_ok(rdmax_get_option(self->id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS,
				 value, &length));
	ASSERT_EQ(1, length);
	test_ok(rdmax_destroy_id(self->id, self->event, 0, NULL));
}

struct reader {
	pthread_t thread;
	struct rdma_event_channel *channel;
	int ret;
	int error;
};

static void *read_one(void *argument)
{
	struct reader *reader = argument;
	struct rdma_cm_event *event;

	reader->ret = rdma_get_cm_event(reader->channel, &event);
	reader->error = errno;
	return NULL;
}

static void *read_many(void *argument)
{
	struct reader *reader = argument;
	struct rdma_cm_event *events[4];

	reader->ret = rdmax_get_cm_events(reader->channel, events, 4);
	reader->error = errno;
	return NULL;
}

TEST_F(held, shutdown_turns_readers_away)
{
	struct reader one = { .channel = self->other };
	struct reader many = { .channel = self->other };
	struct pollfd pollfd = { .fd = self->other->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	pthread_create(&one.thread, NULL, read_one, &one);
	pthread_create(&many.thread, NULL, read_many, &many);
	test_ok(rdmax_destroy_id(self->id, self->event, 0, NULL));
	test_ok(rdma_create_id(self->other, &self->id, NULL, RDMA_PS_TCP));
	usleep(50000);
	test_ok(rdmax_shutdown_channel(self->other));
	pthread_join(one.thread, NULL);
	pthread_join(many.thread, NULL);
	ASSERT_EQ(-1, one.ret);
	ASSERT_EQ(ESHUTDOWN, one.error);
	ASSERT_EQ(-1, many.ret);
	ASSERT_EQ(ESHUTDOWN, many.error);
	test_ok(events_write(self->id, 1, 1));
	test_err(ESHUTDOWN, rdma_get_cm_event(self->other, &event));
	test_err(ESHUTDOWN, rdmax_get_cm_events(self->other, &event, 1));
	ASSERT_EQ(1, poll(&pollfd, 1, 0));
	ASSERT_EQ(POLLIN | POLLHUP, pollfd.revents);
	/* Once more is the same; and what is there can go elsewhere. */
	test_ok(rdmax_shutdown_channel(self->other));
	test_ok(rdma_migrate_id(self->id, self->channel));
	test_ok(event_take(self->channel, RDMA_CM_EVENT_USER));
	test_ok(rdma_destroy_id(self->id));
	test_err(EINVAL, rdmax_shutdown_channel(NULL));
}

/* An id that has joined a group, and the event that says so in hand. */
FIXTURE(group)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct rdma_cm_event *event;
	struct sockaddr_in address;
};

#define GROUP(self) ((struct sockaddr *)&(self)->address)

FIXTURE_SETUP(group)
{
	struct sockaddr_in local = { .sin_family = AF_INET };

	self->channel = rdma_create_event_channel();
	ASSERT_NE(NULL, self->channel);
	test_ok(rdma_create_id(self->channel, &self->id, self, RDMA_PS_UDP));
	inet_pton(AF_INET, ADDR1, &local.sin_addr);
	test_ok(rdma_bind_addr(self->id, (struct sockaddr *)&local));
	self->address.sin_family = AF_INET;
	inet_pton(AF_INET, "239.1.1.1", &self->address.sin_addr);
	test_ok(rdma_join_multicast(self->id, GROUP(self), self));
	test_ok(event_expect(self->channel, RDMA_CM_EVENT_MULTICAST_JOIN,
			     &self->event));
}

FIXTURE_TEARDOWN(group)
{
	EXPECT_EQ(0, rdma_destroy_id(self->id));
	EXPECT_EQ(0, channel_outstanding(self->channel));
	rdma_destroy_event_channel(self->channel);
}

TEST_F(group, nothing_changes_without_blocking)
{
	test_err(EAGAIN, rdmax_leave_multicast(self->id, GROUP(self),
					       RDMAX_NONBLOCK, NULL));
	/* It is still joined. */
	test_err(EADDRINUSE, rdma_join_multicast(self->id, GROUP(self), NULL));
	test_ok(rdma_ack_cm_event(self->event));
	test_ok(rdmax_leave_multicast(self->id, GROUP(self), RDMAX_NONBLOCK,
				      NULL));
	test_err(EADDRNOTAVAIL, rdmax_leave_multicast(self->id, GROUP(self), 0,
						      NULL));
}

TEST_F(group, left_after_the_deadline)
{
	struct timespec soon = after_ms(50);

	test_err(ETIMEDOUT, rdmax_leave_multicast(self->id, GROUP(self), 0,
						  &soon));
	test_err(ETIMEDOUT, rdmax_leave_multicast(self->id, GROUP(self), 0,
						  &past));
	test_err(EAGAIN, rdmax_leave_multicast(self->id, GROUP(self),
					       RDMAX_NONBLOCK, NULL));
	test_ok(rdma_ack_cm_event(self->event));
	/* The last acknowledgement has freed it. */
	test_ok(rdmax_leave_multicast(self->id, GROUP(self), 0, NULL));
	test_err(EADDRNOTAVAIL, rdma_leave_multicast(self->id, GROUP(self)));
}

/* A group that was left can be joined; then that is what a call leaves. */
TEST_F(group, joined_again_before_it_is_over)
{
	struct rdma_cm_event *second;

	test_err(ETIMEDOUT, rdmax_leave_multicast(self->id, GROUP(self), 0,
						  &past));
	test_ok(rdma_join_multicast(self->id, GROUP(self), NULL));
	test_ok(event_expect(self->channel, RDMA_CM_EVENT_MULTICAST_JOIN,
			     &second));
	test_ok(rdma_ack_cm_event(second));
	test_ok(rdmax_leave_multicast(self->id, GROUP(self), RDMAX_NONBLOCK,
				      NULL));
	test_err(EAGAIN, rdmax_leave_multicast(self->id, GROUP(self),
					       RDMAX_NONBLOCK, NULL));
	test_ok(rdma_ack_cm_event(self->event));
	test_ok(rdmax_leave_multicast(self->id, GROUP(self), 0, NULL));
}

TEST_F(group, leaving_is_interrupted)
{
	alarm_repeatedly(0);
	test_err(EINTR, rdmax_leave_multicast(self->id, GROUP(self), 0, NULL));
	alarm_no_more();
	test_ok(rdma_ack_cm_event(self->event));
	test_ok(rdmax_leave_multicast(self->id, GROUP(self), 0, NULL));
}

TEST_F(group, parameters)
{
	struct sockaddr_in other = self->address;

	other.sin_addr.s_addr++;
	test_err(EINVAL, rdmax_leave_multicast(NULL, GROUP(self), 0, NULL));
	test_err(EINVAL, rdmax_leave_multicast(self->id, NULL, 0, NULL));
	test_err(EINVAL, rdmax_leave_multicast(self->id, GROUP(self), 0,
					       &no_time));
	test_err(EOPNOTSUPP, rdmax_leave_multicast(self->id, GROUP(self), 1 << 20,
						   NULL));
	test_err(EADDRNOTAVAIL,
		 rdmax_leave_multicast(self->id, (struct sockaddr *)&other, 0,
				       NULL));
	other.sin_family = AF_UNSPEC;
	test_err(EINVAL, rdmax_leave_multicast(self->id, (struct sockaddr *)&other,
					       0, NULL));
	test_ok(rdma_ack_cm_event(self->event));
}

TEST_HARNESS_MAIN
