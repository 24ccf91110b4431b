// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Ids that change hands: announced, adopted, given to another process; events
 * that programs write; channels that are shut down.
 */
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "call.h"
#include "pass_fd.h"
#include "scene.h"
#include "test.h"

FIXTURE(handover) {
	int source;
	int target;
	int client;
};

FIXTURE_SETUP(handover)
{
	test_ok(channels_open(&self->source, &self->target, &self->client));
}

FIXTURE_TEARDOWN(handover)
{
	channels_close(self->source, self->target, self->client);
}

static int announce(int fd, __u32 id, int target)
{
	return cmd_migrate_id_opt(fd, id, target, RDMA_UCMX_ANNOUNCE, 0, 0);
}

/* A request that was read, and the listener it came to. */
static int request_read(int fd, int client, struct event *ev, __u32 *id)
{
	__u32 listener;
	__u16 port;

	if (listener_open(fd, ADDR1, 4, &listener, &port) ||
	    client_connect(client, ADDR1, port, id) ||
	    event_expect(fd, EV_CONNECT_REQUEST, ev))
		return -1;
	return event_ack(fd, ev);
}

/* C16: first the announcement, then what came with the id. */
TEST_F(handover, c16_announced_ahead_of_the_rest)
{
	struct event arrived, ev;
	__u32 id;

	test_ok(id_with_pending(self->source, &id));
	test_ok(announce(self->source, id, self->target));
	test_ok(event_expect(self->target, EV_ARRIVED, &arrived));
	EXPECT_EQ(id, arrived.head.id);
	EXPECT_EQ(PS_TCP, arrived.head.port_space);
	EXPECT_TRUE(arrived.head.sections & RDMA_UCMX_EVENT_ROUTE);
	EXPECT_TRUE(addr_is(&arrived.route.dst_addr, ADDR1,
			    addr_port(&arrived.route.dst_addr)));
	EXPECT_NE(0, arrived.route.node_guid);
	test_ok(event_expect(self->target, EV_ADDR_RESOLVED, &ev));
	EXPECT_NE(ev.head.seq, arrived.head.seq);
	test_ok(event_ack(self->target, &arrived));
	test_ok(event_ack(self->target, &ev));
	test_err(EINVAL, cmd_ack(self->target, id, arrived.head.seq));
}

/* C16: an id that was not accepted yet says as much as its request did. */
TEST_F(handover, c16_child_announced_and_adopted)
{
	struct rdma_ucmx_conn_param param = conn_param();
	struct event request, arrived, ev;
	__u32 client;

	test_ok(request_read(self->source, self->client, &request, &client));
	test_ok(announce(self->source, request.head.id, self->target));
	test_ok(event_expect(self->target, EV_ARRIVED, &arrived));
	EXPECT_EQ(request.head.id, arrived.head.id);
	EXPECT_EQ(0, arrived.head.cookie);
	EXPECT_EQ(0, memcmp(&request.route, &arrived.route,
			    sizeof(request.route)));
	EXPECT_EQ(request.head.num_paths, arrived.head.num_paths);
	EXPECT_EQ(0, memcmp(request.paths, arrived.paths,
			    sizeof(request.paths)));
	test_ok(event_ack(self->target, &arrived));
	test_err(ENOENT, cmd_adopt_id(self->source, request.head.id, 77));
	EXPECT_TRUE(id_has_state(self->target, request.head.id,
				 RDMA_UCMX_ID_UNCLAIMED));
	test_ok(cmd_adopt_id(self->target, request.head.id, 77));
	EXPECT_FALSE(id_has_state(self->target, request.head.id,
				  RDMA_UCMX_ID_UNCLAIMED));
	test_ok(cmd_accept(self->target, request.head.id, 78, &param));
	test_ok(client_confirm(self->client, client));
	test_ok(event_expect(self->target, EV_ESTABLISHED, &ev));
	/* Accepting does not rename what was adopted. */
	EXPECT_EQ(77, ev.head.cookie);
	test_ok(event_ack(self->target, &ev));
}

/* "Words": what happened to an unclaimed id is delivered when it is adopted. */
TEST_F(handover, c03_events_held_until_adopted)
{
	struct event request, ev;
	__u32 client;

	test_ok(request_read(self->source, self->client, &request, &client));
	test_ok(cmd_write_event(self->source, request.head.id, EV_USER, 0, 1));
	test_ok(cmd_write_event(self->source, request.head.id, EV_USER, 0, 2));
	test_err(EAGAIN, event_read_now(self->source, &ev));
	test_ok(cmd_migrate_id(self->source, request.head.id, self->target));
	test_err(EAGAIN, event_read_now(self->target, &ev));
	test_ok(cmd_adopt_id(self->target, request.head.id, 5));
	test_ok(event_expect(self->target, EV_USER, &ev));
	EXPECT_EQ(1, ev.arg);
	EXPECT_EQ(5, ev.head.cookie);
	test_ok(event_ack(self->target, &ev));
	test_ok(event_expect(self->target, EV_USER, &ev));
	EXPECT_EQ(2, ev.arg);
	test_ok(event_ack(self->target, &ev));
}

/* C7: a migration that fails announces nothing. */
TEST_F(handover, c07_failure_announces_nothing)
{
	struct event ev;
	__u32 id;

	test_ok(id_with_outstanding(self->source, &id));
	test_err(EAGAIN, cmd_migrate_id_opt(self->source, id, self->target,
					    RDMA_UCMX_ANNOUNCE |
					    RDMA_UCMX_NONBLOCK, 0, 0));
	test_err(ETIMEDOUT, cmd_migrate_id_opt(self->source, id, self->target,
					       RDMA_UCMX_ANNOUNCE,
					       now_ns() + 1000000, 0));
	test_err(EAGAIN, event_read_now(self->target, &ev));
	test_err(EAGAIN, event_read_now(self->source, &ev));
	test_ok(cmd_ack(self->source, id, 0));
	test_ok(announce(self->source, id, self->target));
	test_ok(event_take(self->target, EV_ARRIVED, id));
}

/* C11: the same channel is told, too. */
TEST_F(handover, c11_same_channel)
{
	__u32 id;

	test_ok(id_resolved(self->source, ADDR1, 7, &id));
	test_ok(announce(self->source, id, self->source));
	test_ok(event_take(self->source, EV_ARRIVED, id));
}

/* The other process: its own channel, sent over; then it serves what arrives. */
static int serve(int sock)
{
	struct rdma_ucmx_conn_param param = conn_param();
	int fd = channel_open();
	struct event ev;

	if (fd < 0 || send_fd(sock, fd) ||
	    event_expect(fd, EV_ARRIVED, &ev) || event_ack(fd, &ev) ||
	    cmd_adopt_id(fd, ev.head.id, 4711) ||
	    cmd_accept(fd, ev.head.id, 0, &param) ||
	    event_expect(fd, EV_ESTABLISHED, &ev) ||
	    ev.head.cookie != 4711)
		return 1;
	return event_ack(fd, &ev) ? 1 : 0;
}

/* C16: a request is served by another process, which has no ancestor's fds. */
TEST_F(handover, c16_request_given_to_another_process)
{
	int socks[2], channel, status;
	struct event request;
	__u32 client;
	pid_t child;

	test_ok(socketpair(AF_UNIX, SOCK_STREAM, 0, socks));
	child = fork();
	ASSERT_LE(0, child);
	if (!child)
		_exit(serve(socks[1]));
	close(socks[1]);
	channel = receive_fd(socks[0]);
	ASSERT_LE(0, channel);
	test_ok(request_read(self->source, self->client, &request, &client));
	test_ok(announce(self->source, request.head.id, channel));
	close(channel);
	test_ok(client_confirm(self->client, client));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	/* The process is gone, its channel with it, and so is the connection. */
	test_ok(event_take(self->client, EV_DISCONNECTED, client));
	close(socks[0]);
}

/* A channel inherited over fork is the same channel. */
TEST_F(handover, c16_inherited_channel_takes_acknowledgements)
{
	pid_t child;
	int status;
	__u32 id;

	test_ok(id_with_outstanding(self->source, &id));
	child = fork();
	ASSERT_LE(0, child);
	if (!child)
		_exit(cmd_ack(self->source, id, 1) ? 1 : 0);
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	test_err(EINVAL, cmd_ack(self->source, id, 1));
}

/*
 * Written events
 */

TEST_F(handover, written_events_say_what_was_written)
{
	struct event ev;
	__u32 id;

	test_ok(cmd_create_id(self->source, PS_TCP, 9, &id));
	test_ok(cmd_write_event(self->source, id, EV_USER, -7, 1ULL << 40));
	test_ok(cmd_write_event(self->source, id, EV_INTERNAL, 3, 4));
	test_ok(event_expect(self->source, EV_USER, &ev));
	EXPECT_EQ(-7, ev.head.status);
	EXPECT_EQ(1ULL << 40, ev.arg);
	EXPECT_EQ(9, ev.head.cookie);
	EXPECT_EQ(1, ev.head.seq);
	test_ok(event_expect(self->source, EV_INTERNAL, &ev));
	EXPECT_EQ(4, ev.arg);
	test_err(EINVAL, cmd_write_event(self->source, id, EV_ESTABLISHED, 0, 0));
	test_err(EINVAL, cmd_write_event(self->source, id, EV_ARRIVED, 0, 0));
	test_err(EINVAL, cmd_write_event(self->source, id, 1000, 0, 0));
}

/* C19: as many as INFO says, until they are acknowledged. */
TEST_F(handover, c19_written_events_are_limited)
{
	struct rdma_ucmx_info info;
	struct event ev;
	unsigned int i;
	__u32 id;

	test_ok(cmd_info(self->source, &info));
	ASSERT_LT(0, info.out_max_user_events);
	test_ok(cmd_create_id(self->source, PS_TCP, 0, &id));
	for (i = 0; i < info.out_max_user_events; i++)
		test_ok(cmd_write_event(self->source, id, EV_USER, 0, i));
	test_err(ENOSPC, cmd_write_event(self->source, id, EV_USER, 0, i));
	test_ok(event_expect(self->source, EV_USER, &ev));
	EXPECT_EQ(0, ev.arg);
	test_err(ENOSPC, cmd_write_event(self->source, id, EV_USER, 0, i));
	test_ok(event_ack(self->source, &ev));
	test_ok(cmd_write_event(self->source, id, EV_USER, 0, i));
	test_err(ENOSPC, cmd_write_event(self->source, id, EV_USER, 0, i));
}

/*
 * Shutting down
 */

TEST_F(handover, shutdown_turns_readers_away_for_good)
{
	struct call reader = { .fd = self->source };
	struct epoll_event event = { .events = EPOLLIN };
	struct event ev;
	int epoll;
	__u32 id;

	test_ok(cmd_create_id(self->source, PS_TCP, 0, &id));
	epoll = epoll_create1(0);
	ASSERT_LE(0, epoll);
	test_ok(epoll_ctl(epoll, EPOLL_CTL_ADD, self->source, &event));
	ASSERT_EQ(0, epoll_wait(epoll, &event, 1, 0));
	call_start(&reader, run_read);
	ASSERT_TRUE(wait_until(call_blocked(&reader)));
	test_ok(cmd_shutdown(self->source));
	test_err(ESHUTDOWN, call_result(&reader));
	ASSERT_EQ(1, epoll_wait(epoll, &event, 1, PATIENCE_MS));
	EXPECT_TRUE(event.events & EPOLLIN);
	EXPECT_TRUE(event.events & EPOLLHUP);
	test_ok(cmd_write_event(self->source, id, EV_USER, 0, 1));
	test_err(ESHUTDOWN, event_read_now(self->source, &ev));
	/* What is there can still go where it is read. */
	test_ok(cmd_migrate_id(self->source, id, self->target));
	test_ok(event_take(self->target, EV_USER, id));
	test_ok(cmd_shutdown(self->source));
	close(epoll);
}

TEST_HARNESS_MAIN
