// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reading as many events as are wanted (READ_EVENTS), and what INFO counts.
 */
#include <fcntl.h>
#include <string.h>

#include "call.h"
#include "scene.h"
#include "test.h"

#define RECORD sizeof(struct rdma_ucmx_event)
#define WRITTEN_SIZE (RECORD + sizeof(__u64))

FIXTURE(reading) {
	int fd;
	__u32 id;
	char buffer[64 * WRITTEN_SIZE] __attribute__((aligned(8)));
};

FIXTURE_SETUP(reading)
{
	self->fd = channel_open();
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(reading)
{
	close(self->fd);
}

/* Events of one id, with the numbers from 1 on for an argument. */
static int write_events(FIXTURE_DATA(reading) *self, unsigned int n)
{
	__u64 i;

	if (cmd_create_id(self->fd, PS_TCP, 7, &self->id))
		return -1;
	for (i = 1; i <= n; i++) {
		if (cmd_write_event(self->fd, self->id, EV_USER, 0, i))
			return -1;
	}
	return 0;
}

static int read_events(FIXTURE_DATA(reading) *self, __u32 length, __u32 count)
{
	return cmd_read_events(self->fd, self->buffer, length, count,
			       RDMA_UCMX_NONBLOCK);
}

/* Whether the buffer has these, without a gap, and none behind. */
static bool buffer_has(FIXTURE_DATA(reading) *self, unsigned int first,
		       unsigned int n)
{
	const char *at = self->buffer, *end = at + sizeof(self->buffer);
	struct event ev;
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (event_parse(at, end - at, &ev) != (ssize_t)WRITTEN_SIZE ||
		    ev.arg != first + i || ev.head.seq != first + i)
			return false;
		at += ev.head.size;
	}
	return at == end || !*at;
}

/* C4: as many as were wanted, and the rest the next time. */
TEST_F(reading, c04_as_many_as_are_wanted)
{
	struct rdma_ucmx_info info;

	test_ok(write_events(self, 20));
	ASSERT_EQ(3, read_events(self, sizeof(self->buffer), 3));
	EXPECT_TRUE(buffer_has(self, 1, 3));
	test_ok(cmd_info(self->fd, &info));
	EXPECT_EQ(3, info.out_outstanding);
	EXPECT_EQ(17, info.out_pending);
	memset(self->buffer, 0, sizeof(self->buffer));
	ASSERT_EQ(1, read_events(self, sizeof(self->buffer), 1));
	EXPECT_TRUE(buffer_has(self, 4, 1));
	memset(self->buffer, 0, sizeof(self->buffer));
	ASSERT_EQ(16, read_events(self, sizeof(self->buffer), 0xffffffff));
	EXPECT_TRUE(buffer_has(self, 5, 16));
	test_err(EAGAIN, read_events(self, sizeof(self->buffer), 1));
}

/* C4: what does not fit stays; it is an error only if nothing was read. */
TEST_F(reading, c04_as_many_as_fit)
{
	test_err(EINVAL, read_events(self, RECORD - 1, 1));
	test_ok(write_events(self, 5));
	test_err(EINVAL, read_events(self, 0, 1));
	test_err(EINVAL, read_events(self, WRITTEN_SIZE - 1, 1));
	test_err(EINVAL, read_events(self, sizeof(self->buffer), 0));
	ASSERT_EQ(2, read_events(self, 3 * WRITTEN_SIZE - 1, 10));
	EXPECT_TRUE(buffer_has(self, 1, 2));
	memset(self->buffer, 0, sizeof(self->buffer));
	ASSERT_EQ(3, read_events(self, 3 * WRITTEN_SIZE, 10));
	EXPECT_TRUE(buffer_has(self, 3, 3));
}

/* C3: what cannot be written is not lost. */
TEST_F(reading, c03_addresses_of_nobody)
{
	test_ok(write_events(self, 2));
	test_err(EFAULT, cmd_read_events(self->fd, NULL, 4096, 2, 0));
	test_err(EFAULT, cmd_read_events(self->fd, (void *)8, 4096, 2, 0));
	test_err(EFAULT, cmd_read_events(self->fd, (void *)-4096L, 4096, 2, 0));
	test_err(EFAULT, cmd_read_events(self->fd, NULL, ~0U, ~0U, 0));
	ASSERT_EQ(2, read_events(self, sizeof(self->buffer), 2));
	EXPECT_TRUE(buffer_has(self, 1, 2));
}

/* The flag of the call, and that of the file. */
TEST_F(reading, nonblocking)
{
	test_err(EAGAIN, cmd_read_events(self->fd, self->buffer, 4096, 1,
					 RDMA_UCMX_NONBLOCK));
	test_ok(fcntl(self->fd, F_SETFL, O_NONBLOCK));
	test_err(EAGAIN, cmd_read_events(self->fd, self->buffer, 4096, 1, 0));
}

static int run_read_events(struct call *call)
{
	char buffer[RDMA_UCMX_READ_MIN] __attribute__((aligned(8)));

	return cmd_read_events(call->fd, buffer, sizeof(buffer), 2, 0);
}

TEST_F(reading, waits_for_an_event)
{
	struct call reader = { .fd = self->fd };

	call_start(&reader, run_read_events);
	ASSERT_TRUE(wait_until(call_blocked(&reader)));
	test_ok(write_events(self, 1));
	EXPECT_EQ(1, call_result(&reader));
}

TEST_F(reading, ends_by_a_signal)
{
	struct call reader = { .fd = self->fd };

	count_signals(SIGUSR1, 0);
	call_start(&reader, run_read_events);
	ASSERT_TRUE(wait_until(call_blocked(&reader)));
	call_signal(&reader, SIGUSR1);
	test_err(EINTR, call_result(&reader));
}

TEST_F(reading, ends_by_a_shutdown)
{
	struct call reader = { .fd = self->fd };

	call_start(&reader, run_read_events);
	ASSERT_TRUE(wait_until(call_blocked(&reader)));
	test_ok(cmd_shutdown(self->fd));
	test_err(ESHUTDOWN, call_result(&reader));
	test_err(ESHUTDOWN, read_events(self, sizeof(self->buffer), 1));
}

TEST_F(reading, info_says_what_there_is)
{
	struct rdma_ucmx_info info;
	__u32 id;

	test_ok(cmd_info(self->fd, &info));
	EXPECT_EQ(sizeof(info), info.size);
	EXPECT_EQ(RDMA_UCMX_FEATURE_MIGRATE | RDMA_UCMX_FEATURE_HAND_OVER |
		  RDMA_UCMX_FEATURE_SHUTDOWN | RDMA_UCMX_FEATURE_WRITE_EVENT |
		  RDMA_UCMX_FEATURE_MULTICAST | RDMA_UCMX_FEATURE_GET_OPTION |
		  RDMA_UCMX_FEATURE_READ_EVENTS | RDMA_UCMX_FEATURE_MIN_RNR_TIMER,
		  info.out_features & ~(RDMA_UCMX_FEATURE_NODE_TYPE |
					RDMA_UCMX_FEATURE_IB_SERVICE));
	EXPECT_LE(100000, info.out_max_ids);
	EXPECT_LE(100000, info.out_max_channel_ids);
	EXPECT_LE(100, info.out_max_backlog);
	EXPECT_LE(100, info.out_max_user_events);
	EXPECT_LE(100, info.out_max_groups);
	EXPECT_EQ(0, info.out_ids);
	EXPECT_EQ(0, info.out_pending);
	EXPECT_EQ(0, info.out_outstanding);

	test_ok(id_with_outstanding(self->fd, &id));
	test_ok(cmd_info(self->fd, &info));
	EXPECT_EQ(1, info.out_ids);
	EXPECT_EQ(0, info.out_pending);
	EXPECT_EQ(1, info.out_outstanding);

	test_ok(id_with_pending(self->fd, &id));
	test_ok(cmd_info(self->fd, &info));
	EXPECT_EQ(2, info.out_ids);
	EXPECT_EQ(1, info.out_pending);
	EXPECT_EQ(1, info.out_outstanding);
}

TEST_HARNESS_MAIN
