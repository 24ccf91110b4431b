// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What iWARP has of its own: queue pairs that must be there, connections that exist
 * before anybody has answered, no groups.  Over siw only.
 */
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "call.h"
#include "pass_fd.h"
#include "scene.h"
#include "test.h"

/* Larger than any number that a device gives to its first queue pairs. */
#define NO_QP 0xabcdef

FIXTURE(iwarp) {
	int server;
	int client;
	int target;
	__u32 listener;
	__u16 port;
};

FIXTURE_SETUP(iwarp)
{
	ASSERT_TRUE(over_iwarp());
	self->server = channel_open();
	self->client = channel_open();
	self->target = channel_open();
	ASSERT_LE(0, self->server);
	ASSERT_LE(0, self->client);
	ASSERT_LE(0, self->target);
	test_ok(listener_open(self->server, ADDR1, 4, &self->listener, &self->port));
}

FIXTURE_TEARDOWN(iwarp)
{
	close(self->server);
	close(self->client);
	close(self->target);
}

#define EXPECT_CONNECTS(id) do {					\
	struct event _ev;						\
									\
	test_ok(event_expect(self->server, EV_CONNECT_REQUEST, &_ev));	\
	test_ok(event_ack(self->server, &_ev));				\
	test_ok(child_accept(self->server, &_ev, 0));			\
	test_ok(event_take(self->client, EV_ESTABLISHED, id));		\
	test_ok(event_take(self->server, EV_ESTABLISHED, _ev.head.id));	\
} while (0)

/* The command fails, and the id is as it was. */
TEST_F(iwarp, connecting_without_a_queue_pair)
{
	struct rdma_ucmx_conn_param param = conn_param();
	struct event ev;
	__u32 id, qp_num = param.qp_num;

	test_ok(id_resolved(self->client, ADDR1, self->port, &id));
	test_ok(cmd_resolve_route(self->client, id));
	test_ok(event_take(self->client, EV_ROUTE_RESOLVED, id));
	param.qp_num = NO_QP;
	test_err(EINVAL, cmd_connect(self->client, id, &param));
	test_err(EAGAIN, event_read_now(self->client, &ev));
	param.qp_num = qp_num;
	test_ok(cmd_connect(self->client, id, &param));
	EXPECT_CONNECTS(id);
}

/* Whatever is wrong with an answer, it is one: the peer has been rejected. */
TEST_F(iwarp, accepting_without_a_queue_pair)
{
	struct rdma_ucmx_conn_param param = conn_param();
	struct event ev;
	__u32 id;

	test_ok(client_connect(self->client, ADDR1, self->port, &id));
	test_ok(event_expect(self->server, EV_CONNECT_REQUEST, &ev));
	test_ok(event_ack(self->server, &ev));
	param.qp_num = NO_QP;
	test_err(EINVAL, cmd_accept(self->server, ev.head.id, 0, &param));
	test_ok(event_take(self->client, EV_REJECTED, id));
	test_err(EINVAL, cmd_accept(self->server, ev.head.id, 0, &param));
	test_ok(cmd_destroy_id(self->server, ev.head.id));
}

/* Both ways.  What is much longer siw gives up. */
TEST_F(iwarp, c04_private_data_of_every_length)
{
	struct rdma_ucmx_conn_param param;
	struct event ev;
	__u32 id;

	for (unsigned int len = 0; len <= 216; len += 36) {
		test_ok(id_resolved(self->client, ADDR1, self->port, &id));
		test_ok(cmd_resolve_route(self->client, id));
		test_ok(event_take(self->client, EV_ROUTE_RESOLVED, id));
		param = conn_param();
		memset(param.private_data, 0xa5, len);
		param.private_data_len = len;
		test_ok(cmd_connect(self->client, id, &param));
		test_ok(event_expect(self->server, EV_CONNECT_REQUEST, &ev));
		EXPECT_EQ(len, ev.conn.private_data_len);
		EXPECT_EQ(0, memcmp(param.private_data, ev.conn.private_data, len));
		test_ok(event_ack(self->server, &ev));
		param.qp_num = conn_param().qp_num;
		memset(param.private_data, 0x5a, len);
		test_ok(cmd_accept(self->server, ev.head.id, 0, &param));
		test_ok(event_take(self->server, EV_ESTABLISHED, ev.head.id));
		test_ok(event_expect(self->client, EV_ESTABLISHED, &ev));
		EXPECT_EQ(len, ev.conn.private_data_len);
		EXPECT_EQ(0, memcmp(param.private_data, ev.conn.private_data, len));
		test_ok(event_ack(self->client, &ev));
	}
}

/* An id whose request nobody has answered moves as any other. */
TEST_F(iwarp, c12_migrated_while_connecting)
{
	struct event ev;
	__u32 id;

	test_ok(client_connect(self->client, ADDR1, self->port, &id));
	test_ok(cmd_migrate_id_opt(self->client, id, self->target,
				   RDMA_UCMX_NONBLOCK, 0, 0));
	test_ok(event_expect(self->server, EV_CONNECT_REQUEST, &ev));
	test_ok(event_ack(self->server, &ev));
	test_ok(cmd_migrate_id_opt(self->server, ev.head.id, self->target,
				   RDMA_UCMX_NONBLOCK, 0, 0));
	test_ok(child_accept(self->target, &ev, 9));
	/* Both are there, in the order in which it happens. */
	for (int i = 0; i < 2; i++) {
		test_ok(event_expect(self->target, EV_ESTABLISHED, &ev));
		test_ok(event_ack(self->target, &ev));
	}
	test_err(EAGAIN, event_read_now(self->client, &ev));
	test_err(EAGAIN, event_read_now(self->server, &ev));
}

/* Who has no answer waits for it, to disconnect and to destroy: others do not. */
TEST_F(iwarp, c12_disconnected_and_destroyed_while_connecting)
{
	struct call destroy = { .fd = self->client };
	struct event ev;
	__u32 other;

	test_ok(client_connect(self->client, ADDR1, self->port, &destroy.id));
	test_ok(event_expect(self->server, EV_CONNECT_REQUEST, &ev));
	test_ok(event_ack(self->server, &ev));
	call_start(&destroy, run_destroy);
	test_ok(id_with_pending(self->client, &other));
	test_ok(event_take(self->client, EV_ADDR_RESOLVED, other));
	test_ok(child_accept(self->server, &ev, 0));
	test_ok(call_result(&destroy));
	EXPECT_EQ(1, channel_ids(self->client));
	/* Accepted, and then it was all over. */
	test_ok(event_take(self->server, EV_ESTABLISHED, ev.head.id));
	test_ok(event_take(self->server, EV_DISCONNECTED, ev.head.id));
}

static __u32 ids_of_user(int fd)
{
	struct rdma_ucmx_info info;

	return cmd_info(fd, &info) ? 0 : info.out_ids_of_user;
}

/* Connect, leave the channel in a socket, and keep the queue pair until killed. */
static int leave_in_socket(const int *socks, int tell, __u16 port)
{
	int fd = channel_open();
	__u32 id;

	if (fd < 0 || client_connect(fd, ADDR1, port, &id) ||
	    send_fd(socks[0], fd))
		return 1;
	close(fd);
	close(socks[0]);
	close(socks[1]);
	if (write(tell, "", 1) == 1)
		pause();
	return 1;
}

/* The id ends when its request is answered: for that its owner waits, nobody else. */
TEST_F(iwarp, c17_left_in_a_socket_is_waited_for_by_nobody)
{
	int socks[2], told[2];
	struct event ev;
	char byte;
	pid_t child;
	__u32 ids;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, socks));
	ASSERT_EQ(0, pipe(told));
	child = fork();
	if (!child)
		_exit(leave_in_socket(socks, told[1], self->port));
	ASSERT_LT(0, child);
	close(told[1]);
	ASSERT_EQ(1, read(told[0], &byte, 1));
	close(told[0]);
	test_ok(event_expect(self->server, EV_CONNECT_REQUEST, &ev));
	test_ok(event_ack(self->server, &ev));
	ids = ids_of_user(self->server);
	EXPECT_LE(3, ids);
	close(socks[0]);
	close(socks[1]);
	EXPECT_EQ(ids, ids_of_user(self->server));
	test_ok(cmd_destroy_id(self->server, ev.head.id));
	EXPECT_TRUE(wait_until(ids_of_user(self->server) == ids - 2));
	test_ok(kill(child, SIGKILL));
	EXPECT_EQ(child, waitpid(child, NULL, 0));
}

/* One side says so, and both are told, whoever was first. */
TEST_F(iwarp, both_sides_are_told_of_the_end)
{
	struct connection connection;

	test_ok(connection_open(self->target, self->client, ADDR1, &connection));
	test_ok(cmd_disconnect(self->target, connection.child));
	test_ok(event_take(self->target, EV_DISCONNECTED, connection.child));
	test_ok(event_take(self->client, EV_DISCONNECTED, connection.client));
	test_ok(cmd_disconnect(self->client, connection.client));
	test_ok(cmd_disconnect(self->target, connection.child));
	EXPECT_FALSE(readable(self->client));
	EXPECT_FALSE(readable(self->target));
}

TEST_F(iwarp, there_are_no_groups)
{
	struct rdma_ucmx_addr local = addr(ADDR1, 0), many = addr("239.1.1.1", 0);
	__u32 id, group;

	test_ok(cmd_create_id(self->client, PS_UDP, 0, &id));
	test_ok(cmd_bind_addr(self->client, id, &local));
	for (int i = 0; i < 3; i++)
		test_err(ENOSYS, cmd_join_mcast(self->client, id, &many,
						RDMA_UCMX_JOIN_FULL_MEMBER, 0,
						&group));
	EXPECT_FALSE(readable(self->client));
	test_ok(cmd_destroy_id(self->client, id));
}

TEST_HARNESS_MAIN
