// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Sequences that have broken this kind of code, see Documentation/testing.rst:
 * listening on all of two devices (5), with each allocation failing in turn.
 * For a kernel with fault injection.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "every.h"
#include "fabric.h"
#include "scene.h"
#include "test.h"

/* Of this thread; opening it would itself allocate. */
static int fail_nth_fd = -1;

/* The next allocation or access to user memory but @nth - 1 fails. */
static int fail_nth(unsigned int nth)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", nth);

	if (pwrite(fail_nth_fd, text, len, 0) == len)
		return 0;
	/* What was left of the last count may fail this, once. */
	return pwrite(fail_nth_fd, text, len, 0) == len ? 0 : -1;
}

/* Whether it has failed: how many are still to come is what can be read. */
static bool has_failed(void)
{
	char text[16] = "";

	/* This may be the one that fails. */
	return pread(fail_nth_fd, text, sizeof(text) - 1, 0) > 0 && !atoi(text);
}

FIXTURE(sequence) {
	int fd;
	int client;
};

FIXTURE_SETUP(sequence)
{
	test_ok(fabric_add_second());
	test_ok(write_file("/sys/kernel/debug/failslab/ignore-gfp-wait", "N"));
	test_ok(write_file("/sys/kernel/debug/failslab/verbose", "0"));
	test_ok(write_file("/sys/kernel/debug/fail_usercopy/verbose", "0"));
	fail_nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, fail_nth_fd);
	self->fd = channel_open_nonblock();
	self->client = channel_open_nonblock();
	ASSERT_LE(0, self->fd);
	ASSERT_LE(0, self->client);
}

FIXTURE_TEARDOWN(sequence)
{
	EXPECT_EQ(0, fail_nth(0));
	EXPECT_EQ(0, channel_clear(self->fd));
	EXPECT_EQ(0, channel_clear(self->client));
	close(self->fd);
	close(self->client);
	EXPECT_EQ(0, fabric_remove_second());
}

#define NTH_MAX 200

/* Then it listens on none, and can do so, or something else, later. */
TEST_F(sequence, seq05_listen_on_two_devices_with_a_failing_allocation)
{
	struct rdma_ucmx_addr any = addr("0.0.0.0", 0), dst = addr(ADDR_SECOND, 7);
	struct rdma_ucmx_query query;
	unsigned int nth, failed = 0;
	struct event ev;
	bool injected = true;
	int ret, error;
	__u32 id, client;

	for (nth = 1; injected && nth < NTH_MAX; nth++) {
		test_ok(cmd_create_id(self->fd, PS_TCP, 0, &id));
		test_ok(cmd_bind_addr(self->fd, id, &any));
		test_ok(fail_nth(nth));
		ret = cmd_listen(self->fd, id, 4);
		error = errno;
		injected = has_failed();
		test_ok(fail_nth(0));
		if (ret) {
			EXPECT_TRUE(injected);
			EXPECT_TRUE(error == ENOMEM || error == EFAULT);
			failed++;
		}
		if (ret && nth % 2) {
			test_ok(cmd_resolve_addr(self->fd, id, NULL, &dst));
			test_ok(event_take(self->fd, EV_ADDR_RESOLVED, id));
		} else {
			if (ret)
				test_ok(cmd_listen(self->fd, id, 4));
			test_ok(cmd_query(self->fd, id, &query));
			test_ok(client_connect(self->client, ADDR_SECOND,
					       addr_port(&query.out_route.src_addr),
					       &client));
			test_ok(event_expect(self->fd, EV_CONNECT_REQUEST, &ev));
			test_ok(channel_clear(self->client));
		}
		test_ok(channel_clear(self->fd));
	}
	TH_LOG("%u allocations, %u failures", nth - 2, failed);
	EXPECT_LT(0, failed);
	EXPECT_LT(nth, NTH_MAX);
}

TEST_HARNESS_MAIN
