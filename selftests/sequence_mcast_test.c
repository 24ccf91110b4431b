// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Sequences that have broken this kind of code, see Documentation/testing.rst:
 * multicast groups (7).  The last one removes the device, which nothing that was
 * joined before may hold.
 */
#include <fcntl.h>
#include <string.h>

#include "every.h"
#include "fabric.h"
#include "racer.h"
#include "scene.h"
#include "test.h"

#define GROUPS 3

FIXTURE(sequence) {
	int fd;
	int other;
};

FIXTURE_SETUP(sequence)
{
	test_ok(fabric_restore());
	self->fd = channel_open_nonblock();
	self->other = channel_open_nonblock();
	ASSERT_LE(0, self->fd);
	ASSERT_LE(0, self->other);
	test_ok(watch_start());
}

FIXTURE_TEARDOWN(sequence)
{
	EXPECT_LT(0, watch_stop());
	EXPECT_EQ(0, channel_clear(self->fd));
	EXPECT_EQ(0, channel_clear(self->other));
	close(self->fd);
	close(self->other);
}

static struct rdma_ucmx_addr group_addr(unsigned int n)
{
	char ip[16];

	snprintf(ip, sizeof(ip), "239.1.2.%u", n + 1);
	return addr(ip, 0);
}

static int udp_bound(int fd, __u32 *id)
{
	struct rdma_ucmx_addr local = addr(ADDR1, 0);

	return cmd_create_id(fd, PS_UDP, 0, id) ||
	       cmd_bind_addr(fd, *id, &local) ? -1 : 0;
}

static __u32 groups[GROUPS];

static int join_all(int fd, __u32 id)
{
	struct rdma_ucmx_addr address;
	int ret = 0;

	for (unsigned int i = 0; i < GROUPS && !ret; i++) {
		address = group_addr(i);
		ret = cmd_join_mcast(fd, id, &address, RDMA_UCMX_JOIN_FULL_MEMBER,
				     i, &groups[i]);
	}
	return ret;
}

static int leave_all(int fd, __u32 id)
{
	int ret = 0;

	for (unsigned int i = 0; i < GROUPS && !ret; i++)
		ret = cmd_leave_mcast(fd, id, groups[i]);
	return ret;
}

/* Of no use on an id that is, or is about to be, connected. */
TEST_F(sequence, seq07_join_on_a_connected_id)
{
	struct rdma_ucmx_conn_param param = conn_param();
	struct connection connection;
	__u32 udp, listener;
	struct rdma_ucmx_addr any = addr(ADDR1, 0), dst;
	struct rdma_ucmx_query query;

	test_ok(connection_open(self->fd, self->other, ADDR1, &connection));
	test_err(EINVAL, join_all(self->fd, connection.child));
	test_err(EINVAL, join_all(self->fd, connection.listener));
	test_err(EINVAL, join_all(self->other, connection.client));
	/* An id for datagrams, too. */
	test_ok(cmd_create_id(self->fd, PS_UDP, 0, &listener));
	test_ok(cmd_bind_addr(self->fd, listener, &any));
	test_ok(cmd_listen(self->fd, listener, 1));
	test_err(EINVAL, join_all(self->fd, listener));
	test_ok(cmd_query(self->fd, listener, &query));
	dst = addr(ADDR1, addr_port(&query.out_route.src_addr));
	test_ok(cmd_create_id(self->other, PS_UDP, 0, &udp));
	test_ok(cmd_resolve_addr(self->other, udp, NULL, &dst));
	test_ok(event_take(self->other, EV_ADDR_RESOLVED, udp));
	test_ok(cmd_resolve_route(self->other, udp));
	test_ok(event_take(self->other, EV_ROUTE_RESOLVED, udp));
	test_ok(cmd_connect(self->other, udp, &param));
	test_err(EINVAL, join_all(self->other, udp));
	EXPECT_TRUE(id_is_on(self->other, udp));
}

TEST_F(sequence, seq07_leave_against_destroy)
{
	struct racer racer;
	int ret, error;
	__u32 id;

	test_ok(racer_start(&racer));
	for (unsigned int round = 0; round < scaled(60); round++) {
		test_ok(udp_bound(self->fd, &id));
		test_ok(join_all(self->fd, id));
		/* With the events, or before them. */
		if (round % 2)
			ASSERT_TRUE(wait_until(id_has_pending(self->fd, id, GROUPS)));
		ret = race(&racer, self->fd, id, leave_all, cmd_destroy_id);
		error = errno;
		EXPECT_TRUE(!ret || error == ENOENT);
		EXPECT_EQ(0, racer.result);
		EXPECT_EQ(0, channel_ids(self->fd));
		EXPECT_FALSE(readable(self->fd));
	}
	test_ok(racer_stop(&racer));
}

TEST_F(sequence, seq07_leave_against_leave)
{
	struct racer racer;
	int ret, error;
	__u32 id;

	test_ok(racer_start(&racer));
	for (unsigned int round = 0; round < scaled(60); round++) {
		test_ok(udp_bound(self->fd, &id));
		test_ok(join_all(self->fd, id));
		ret = race(&racer, self->fd, id, leave_all, leave_all);
		error = errno;
		EXPECT_TRUE(!ret || error == ENOENT);
		EXPECT_TRUE(!racer.result || racer.error == ENOENT);
		test_ok(cmd_destroy_id(self->fd, id));
		EXPECT_FALSE(readable(self->fd));
	}
	test_ok(racer_stop(&racer));
}

TEST_F(sequence, seq07_join_against_destroy)
{
	struct racer racer;
	int ret, error;
	__u32 id;

	test_ok(racer_start(&racer));
	for (unsigned int round = 0; round < scaled(60); round++) {
		test_ok(udp_bound(self->fd, &id));
		ret = race(&racer, self->fd, id, join_all, cmd_destroy_id);
		error = errno;
		EXPECT_TRUE(!ret || error == ENOENT);
		EXPECT_EQ(0, racer.result);
		EXPECT_EQ(0, channel_ids(self->fd));
		EXPECT_FALSE(readable(self->fd));
	}
	test_ok(racer_stop(&racer));
}

static int close_it(int fd, __u32 id)
{
	(void)id;
	return close(fd);
}

/* The call in the kernel keeps the channel open until it returns. */
TEST_F(sequence, seq07_join_and_leave_against_close)
{
	struct racer racer;
	int fd, ret, error;
	__u32 id;

	test_ok(racer_start(&racer));
	for (unsigned int round = 0; round < scaled(60); round++) {
		fd = channel_open_nonblock();
		ASSERT_LE(0, fd);
		test_ok(udp_bound(fd, &id));
		if (round % 2)
			test_ok(join_all(fd, id));
		ret = race(&racer, fd, id, round % 2 ? leave_all : join_all, close_it);
		error = errno;
		EXPECT_TRUE(!ret || error == EBADF);
		EXPECT_EQ(0, racer.result);
	}
	test_ok(racer_stop(&racer));
}

TEST_F(sequence, seq07_destroyed_or_closed_before_the_event)
{
	__u32 id;
	int fd;

	for (unsigned int round = 0; round < scaled(20); round++) {
		test_ok(udp_bound(self->fd, &id));
		test_ok(join_all(self->fd, id));
		test_ok(cmd_destroy_id(self->fd, id));
		fd = channel_open();
		ASSERT_LE(0, fd);
		test_ok(udp_bound(fd, &id));
		test_ok(join_all(fd, id));
		close(fd);
	}
	EXPECT_EQ(0, channel_ids(self->fd));
}

/* The device goes while all of them are joined, and with events in hand. */
TEST_F(sequence, seq07_removed_with_groups_joined)
{
	struct event ev;
	__u32 ids[2];

	for (unsigned int i = 0; i < 2; i++) {
		test_ok(udp_bound(self->fd, &ids[i]));
		test_ok(join_all(self->fd, ids[i]));
		ASSERT_TRUE(wait_until(id_has_pending(self->fd, ids[i], GROUPS)));
	}
	test_ok(event_expect(self->fd, EV_MULTICAST_JOIN, &ev));
	EXPECT_EQ(ids[0], ev.head.id);
	test_ok(fabric_removed(fabric_remove()));
	EXPECT_TRUE(id_has_state(self->fd, ids[0], RDMA_UCMX_ID_GONE));
	test_err(ENXIO, join_all(self->fd, ids[0]));
	test_ok(cmd_ack(self->fd, ids[0], ev.head.seq));
	test_ok(cmd_destroy_id(self->fd, ids[0]));
	test_ok(cmd_destroy_id(self->fd, ids[1]));
	test_ok(fabric_restore());
}

TEST_HARNESS_MAIN
