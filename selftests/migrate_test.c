// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Migrations that need not wait: what moves, in which order it arrives, whom
 * it wakes, and which calls fail without having done anything.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>

#include "call.h"
#include "scene.h"
#include "test.h"

FIXTURE(migrate) {
	int source;
	int target;
	int client;
};

FIXTURE_SETUP(migrate)
{
	test_ok(channels_open(&self->source, &self->target, &self->client));
}

FIXTURE_TEARDOWN(migrate)
{
	channels_close(self->source, self->target, self->client);
}

/* An id with three events pending. */
static int id_with_three_pending(int fd, __u32 *id)
{
	if (id_with_pending(fd, id) || cmd_resolve_route(fd, *id))
		return -1;
	if (!wait_until(id_has_pending(fd, *id, 2)))
		return -1;
	if (connect_in_vain(fd, *id))
		return -1;
	return wait_until(id_has_pending(fd, *id, 3)) ? 0 : -1;
}

static __u32 three_events(unsigned int i)
{
	const __u32 kinds[] = { EV_ADDR_RESOLVED, EV_ROUTE_RESOLVED, EV_IN_VAIN };

	return kinds[i];
}

TEST_F(migrate, an_id_without_events)
{
	struct rdma_ucmx_addr dst = addr(ADDR1, 7);
	__u32 id;

	test_ok(cmd_create_id(self->source, PS_TCP, 42, &id));
	test_ok(cmd_migrate_id(self->source, id, self->target));
	/* C1: it belongs to the target and to nobody else. */
	EXPECT_EQ(0, channel_ids(self->source));
	EXPECT_EQ(1, channel_ids(self->target));
	test_err(ENOENT, cmd_resolve_addr(self->source, id, NULL, &dst));
	test_err(ENOENT, cmd_migrate_id(self->source, id, self->target));
	test_err(ENOENT, cmd_destroy_id(self->source, id));
	test_err(ENOENT, cmd_ack(self->source, id, 0));
	test_ok(cmd_resolve_addr(self->target, id, NULL, &dst));
	test_ok(event_take(self->target, EV_ADDR_RESOLVED, id));
	test_ok(cmd_destroy_id(self->target, id));
	EXPECT_EQ(0, channel_ids(self->target));
}

/* C4: the handle stays, numbers go on, across many migrations. */
TEST_F(migrate, c04_sequence_numbers_go_on)
{
	int fds[] = { self->source, self->target, self->client };
	struct event ev;
	unsigned int i;
	__u32 id;

	test_ok(id_with_three_pending(fds[0], &id));
	for (i = 0; i < 3; i++) {
		test_ok(cmd_migrate_id(fds[i], id, fds[(i + 1) % 3]));
		test_ok(event_expect(fds[(i + 1) % 3], three_events(i), &ev));
		EXPECT_EQ(id, ev.head.id);
		EXPECT_EQ(i + 1, ev.head.seq);
		test_ok(event_ack(fds[(i + 1) % 3], &ev));
	}
	/* As do those of events that come afterwards. */
	test_ok(cmd_write_event(fds[0], id, EV_USER, 0, 0));
	test_ok(event_expect(fds[0], EV_USER, &ev));
	EXPECT_EQ(4, ev.head.seq);
}

/* C2: they arrive together, in their own order, behind what is there. */
TEST_F(migrate, c02_pending_events_move_in_order)
{
	__u32 before, moved, stays, after;
	struct event ev;
	unsigned int i;

	test_ok(id_with_pending(self->target, &before));
	test_ok(id_with_three_pending(self->source, &moved));
	test_ok(id_with_pending(self->source, &stays));
	test_ok(cmd_migrate_id(self->source, moved, self->target));
	test_ok(id_with_pending(self->target, &after));

	test_ok(event_take(self->target, EV_ADDR_RESOLVED, before));
	for (i = 0; i < 3; i++) {
		test_ok(event_expect(self->target, three_events(i), &ev));
		EXPECT_EQ(moved, ev.head.id);
		EXPECT_EQ(i + 1, ev.head.seq);
	}
	test_ok(event_take(self->target, EV_ADDR_RESOLVED, after));
	test_err(EAGAIN, event_read_now(self->target, &ev));
	/* C9: nothing of it is left on the source, all else is. */
	test_ok(event_take(self->source, EV_ADDR_RESOLVED, stays));
	test_err(EAGAIN, event_read_now(self->source, &ev));
}

/* C9: event n + 1 can be read on the target only after n is acknowledged. */
TEST_F(migrate, c09_the_rest_follows_the_acknowledged)
{
	struct event ev;
	__u32 id;

	test_ok(id_with_three_pending(self->source, &id));
	test_ok(event_expect(self->source, EV_ADDR_RESOLVED, &ev));
	test_err(EAGAIN, cmd_migrate_id_opt(self->source, id, self->target,
					    RDMA_UCMX_NONBLOCK, 0, 0));
	test_ok(event_ack(self->source, &ev));
	test_ok(cmd_migrate_id_opt(self->source, id, self->target,
				   RDMA_UCMX_NONBLOCK, 0, 0));
	test_ok(event_expect(self->target, EV_ROUTE_RESOLVED, &ev));
	EXPECT_EQ(2, ev.head.seq);
	test_ok(event_expect(self->target, three_events(2), &ev));
	EXPECT_EQ(3, ev.head.seq);
}

/* An event on its way finds the id wherever it is. */
TEST_F(migrate, events_find_a_migrated_id)
{
	struct connection connection;

	test_ok(connection_open(self->source, self->client, ADDR1, &connection));
	test_ok(cmd_migrate_id(self->source, connection.child, self->target));
	test_ok(cmd_disconnect(self->client, connection.client));
	test_ok(event_take(self->target, EV_DISCONNECTED, connection.child));
	test_ok(cmd_disconnect(self->target, connection.child));
	test_ok(event_take(self->client, EV_DISCONNECTED, connection.client));
}

TEST_F(migrate, blocked_reader_of_the_target_wakes)
{
	struct call reader = { .fd = self->target };
	__u32 id;

	test_ok(id_with_pending(self->source, &id));
	call_start(&reader, run_read);
	ASSERT_TRUE(wait_until(call_blocked(&reader)));
	test_ok(cmd_migrate_id(self->source, id, self->target));
	test_ok(call_result(&reader));
	EXPECT_EQ(id, reader.event.head.id);
	EXPECT_EQ(1, reader.event.head.seq);
}

/* A commit of n events wakes enough readers. */
TEST_F(migrate, as_many_blocked_readers_wake_as_events_come)
{
	struct call readers[3];
	unsigned int i, seqs = 0;
	__u32 id;

	test_ok(id_with_three_pending(self->source, &id));
	for (i = 0; i < ARRAY_LEN(readers); i++) {
		readers[i] = (struct call){ .fd = self->target };
		call_start(&readers[i], run_read);
		ASSERT_TRUE(wait_until(call_blocked(&readers[i])));
	}
	test_ok(cmd_migrate_id(self->source, id, self->target));
	for (i = 0; i < ARRAY_LEN(readers); i++) {
		test_ok(call_result(&readers[i]));
		seqs |= 1 << readers[i].event.head.seq;
	}
	EXPECT_EQ(1 << 1 | 1 << 2 | 1 << 3, seqs);
}

TEST_F(migrate, poller_of_the_target_wakes)
{
	struct call poller = { .fd = self->target };
	__u32 id;

	test_ok(id_with_pending(self->source, &id));
	call_start(&poller, run_poll);
	ASSERT_TRUE(wait_until(call_blocked(&poller)));
	test_ok(cmd_migrate_id(self->source, id, self->target));
	ASSERT_EQ(1, call_result(&poller));
	test_ok(event_take(self->target, EV_ADDR_RESOLVED, id));
}

TEST_F(migrate, edge_triggered_epoll_of_the_target_wakes)
{
	struct epoll_event event, interest = { .events = EPOLLIN | EPOLLET };
	struct call poller = { .fd = epoll_create1(0) };
	__u32 first, second;

	ASSERT_LE(0, poller.fd);
	ASSERT_EQ(0, epoll_ctl(poller.fd, EPOLL_CTL_ADD, self->target, &interest));
	test_ok(id_with_pending(self->source, &first));
	test_ok(id_with_pending(self->source, &second));
	call_start(&poller, run_epoll);
	ASSERT_TRUE(wait_until(call_blocked(&poller)));
	test_ok(cmd_migrate_id(self->source, first, self->target));
	ASSERT_EQ(1, call_result(&poller));
	ASSERT_EQ(0, epoll_wait(poller.fd, &event, 1, 0));
	/* A new edge although the first event has not been read. */
	test_ok(cmd_migrate_id(self->source, second, self->target));
	ASSERT_EQ(1, epoll_wait(poller.fd, &event, 1, PATIENCE_MS));
	test_ok(event_take(self->target, EV_ADDR_RESOLVED, first));
	test_ok(event_take(self->target, EV_ADDR_RESOLVED, second));
}

/* What brings no event wakes nobody for nothing. */
TEST_F(migrate, reader_of_the_source_does_not_see_what_left)
{
	struct call reader = { .fd = self->source };
	__u32 moved, stays;

	test_ok(id_with_pending(self->source, &moved));
	test_ok(cmd_migrate_id(self->source, moved, self->target));
	ASSERT_FALSE(readable(self->source));
	call_start(&reader, run_read);
	ASSERT_TRUE(wait_until(call_blocked(&reader)));
	test_ok(id_with_pending(self->target, &stays));
	test_ok(cmd_migrate_id(self->target, stays, self->source));
	test_ok(call_result(&reader));
	EXPECT_EQ(stays, reader.event.head.id);
}

/* C13 */
TEST_F(migrate, c13_wrong_targets)
{
	int pipes[2], stock, null, closed;
	struct event ev;
	__u32 id;

	ASSERT_EQ(0, pipe(pipes));
	null = open("/dev/null", O_RDWR);
	stock = open("/dev/infiniband/rdma_cm", O_RDWR);
	closed = dup(null);
	ASSERT_LE(0, null);
	ASSERT_LE(0, stock);
	ASSERT_EQ(0, close(closed));

	test_ok(id_with_pending(self->source, &id));
	test_err(EBADF, cmd_migrate_id(self->source, id, closed));
	test_err(EBADF, cmd_migrate_id(self->source, id, -1));
	test_err(EBADF, cmd_migrate_id(self->source, id, 0x7fffffff));
	test_err(EINVAL, cmd_migrate_id(self->source, id, pipes[0]));
	test_err(EINVAL, cmd_migrate_id(self->source, id, null));
	test_err(EINVAL, cmd_migrate_id(self->source, id, stock));
	/* C7: nothing has happened. */
	test_ok(event_expect(self->source, EV_ADDR_RESOLVED, &ev));
	EXPECT_EQ(id, ev.head.id);
	EXPECT_EQ(1, ev.head.seq);
}

/* C1: an id that is not the channel's, or no id at all. */
TEST_F(migrate, c01_ids_that_cannot_be_migrated)
{
	__u32 foreign, destroyed;

	test_ok(cmd_create_id(self->target, PS_TCP, 0, &foreign));
	test_ok(cmd_create_id(self->source, PS_TCP, 0, &destroyed));
	test_ok(cmd_destroy_id(self->source, destroyed));
	test_err(ENOENT, cmd_migrate_id(self->source, foreign, self->target));
	test_err(ENOENT, cmd_migrate_id(self->source, foreign, self->source));
	test_err(ENOENT, cmd_migrate_id(self->source, destroyed, self->target));
	test_err(ENOENT, cmd_migrate_id(self->source, 0, self->target));
	test_ok(cmd_destroy_id(self->target, foreign));
}

/* C11: freeze, drain, thaw: nothing moves. */
TEST_F(migrate, c11_same_channel)
{
	int dup_fd = dup(self->source);
	__u32 other, id;
	struct event ev;
	unsigned int i;

	test_ok(id_with_three_pending(self->source, &id));
	test_ok(id_with_pending(self->source, &other));
	test_ok(cmd_migrate_id(self->source, id, self->source));
	test_ok(cmd_migrate_id(self->source, id, dup_fd));
	EXPECT_EQ(2, channel_ids(self->source));
	for (i = 0; i < 3; i++) {
		test_ok(event_expect(self->source, three_events(i), &ev));
		EXPECT_EQ(id, ev.head.id);
		EXPECT_EQ(i + 1, ev.head.seq);
	}
	test_ok(event_take(self->source, EV_ADDR_RESOLVED, other));
	/* It waits like any other. */
	test_err(EAGAIN, cmd_migrate_id_opt(self->source, id, self->source,
					    RDMA_UCMX_NONBLOCK, 0, 0));
	test_ok(cmd_ack(self->source, id, 0));
	test_ok(cmd_migrate_id_opt(self->source, id, self->source,
				   RDMA_UCMX_NONBLOCK, 0, 0));
}

/* A new cookie counts for the events that are pending, too. */
TEST_F(migrate, cookie)
{
	struct rdma_ucmx_migrate_id cmd;
	struct event ev;
	__u32 id;

	test_ok(id_with_three_pending(self->source, &id));
	test_ok(event_expect(self->source, EV_ADDR_RESOLVED, &ev));
	EXPECT_EQ(0, ev.head.cookie);
	/* Not without the flag, and not if the call fails. */
	cmd = (struct rdma_ucmx_migrate_id){
		.size = sizeof(cmd),
		.id = id,
		.target_fd = self->target,
		.cookie = 1,
	};
	test_err(EINVAL, ioctl(self->source, RDMA_UCMX_MIGRATE_ID, &cmd));
	cmd.flags = RDMA_UCMX_SET_COOKIE | RDMA_UCMX_NONBLOCK;
	test_err(EAGAIN, ioctl(self->source, RDMA_UCMX_MIGRATE_ID, &cmd));
	test_ok(event_ack(self->source, &ev));
	test_ok(event_expect(self->source, EV_ROUTE_RESOLVED, &ev));
	EXPECT_EQ(0, ev.head.cookie);
	test_ok(event_ack(self->source, &ev));
	test_ok(cmd_migrate_id_cookie(self->source, id, self->target, 0xabcd));
	test_ok(event_expect(self->target, three_events(2), &ev));
	EXPECT_EQ(0xabcd, ev.head.cookie);
}

/* A child that was not accepted stays unclaimed, wherever it is. */
TEST_F(migrate, c03_unclaimed_child)
{
	__u32 listener, id, child;
	struct event ev;
	__u16 port;

	test_ok(listener_open(self->source, ADDR1, 1, &listener, &port));
	test_ok(client_connect(self->client, ADDR1, port, &id));
	test_ok(event_expect(self->source, EV_CONNECT_REQUEST, &ev));
	child = ev.head.id;
	/* Its request is the listener's event and holds up only that. */
	test_ok(cmd_migrate_id(self->source, child, self->target));
	test_ok(event_ack(self->source, &ev));
	ASSERT_TRUE(id_has_state(self->target, child, RDMA_UCMX_ID_UNCLAIMED));
	test_err(ENOENT, child_accept(self->source, &ev, 0));
	test_ok(child_accept(self->target, &ev, 0x99));
	ASSERT_FALSE(id_has_state(self->target, child, RDMA_UCMX_ID_UNCLAIMED));
	test_ok(client_confirm(self->client, id));
	test_ok(event_expect(self->target, EV_ESTABLISHED, &ev));
	EXPECT_EQ(child, ev.head.id);
	EXPECT_EQ(0x99, ev.head.cookie);
}

/* C3, C16: its events are held until it is claimed; a cookie claims it. */
TEST_F(migrate, c16_a_cookie_claims_a_child)
{
	__u32 listener, id, child;
	struct event ev;
	__u16 port;

	test_ok(listener_open(self->source, ADDR1, 1, &listener, &port));
	test_ok(client_connect(self->client, ADDR1, port, &id));
	test_ok(event_expect(self->source, EV_CONNECT_REQUEST, &ev));
	child = ev.head.id;
	test_ok(event_ack(self->source, &ev));
	/* The client gives up, which the child is told; but not with iWARP. */
	test_ok(over_iwarp() ? cmd_write_event(self->source, child, EV_USER, 0, 0) :
			       cmd_destroy_id(self->client, id));
	ASSERT_TRUE(wait_until(id_has_pending(self->source, child, 1)));
	test_ok(cmd_migrate_id(self->source, child, self->target));
	test_err(EAGAIN, event_read_now(self->target, &ev));
	ASSERT_TRUE(id_has_pending(self->target, child, 1));
	test_ok(cmd_migrate_id_cookie(self->target, child, self->source, 0x55));
	test_ok(event_expect(self->source, over_iwarp() ? EV_USER : EV_REJECTED, &ev));
	EXPECT_EQ(child, ev.head.id);
	EXPECT_EQ(0x55, ev.head.cookie);
	EXPECT_EQ(1, ev.head.seq);
}

TEST_HARNESS_MAIN
