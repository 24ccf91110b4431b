// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Sequences that have broken this kind of code, see Documentation/testing.rst:
 * those that need a second device, a neighbour that does not answer, or that the
 * device goes (5, 6, 10, 11).
 */
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "call.h"
#include "every.h"
#include "fabric.h"
#include "racer.h"
#include "scene.h"
#include "test.h"

FIXTURE(sequence) {
	int fd;
	int client;
	struct racer racer;
};

FIXTURE_SETUP(sequence)
{
	test_ok(fabric_restore());
	self->fd = channel_open_nonblock();
	self->client = channel_open_nonblock();
	ASSERT_LE(0, self->fd);
	ASSERT_LE(0, self->client);
	test_ok(watch_start());
	test_ok(racer_start(&self->racer));
}

FIXTURE_TEARDOWN(sequence)
{
	EXPECT_EQ(0, racer_stop(&self->racer));
	EXPECT_LT(0, watch_stop());
	EXPECT_EQ(0, channel_clear(self->fd));
	EXPECT_EQ(0, channel_clear(self->client));
	close(self->fd);
	close(self->client);
	EXPECT_EQ(0, fabric_restore());
}

static int listen_on_it(int fd, __u32 id)
{
	return cmd_listen(fd, id, 4);
}

static int resolve_it(int fd, __u32 id)
{
	struct rdma_ucmx_addr dst = addr(ADDR_SECOND, 7);

	return cmd_resolve_addr(fd, id, NULL, &dst);
}

/* One of both wins; what the other one had begun is undone. */
TEST_F(sequence, seq05_listen_on_any_while_resolving)
{
	struct rdma_ucmx_addr any[] = { addr("0.0.0.0", 0), addr("::", 0) };
	struct event ev;
	int listens;
	__u32 id;

	for (unsigned int round = 0; round < scaled(40); round++) {
		test_ok(cmd_create_id(self->fd, PS_TCP, 0, &id));
		if (round % 3)
			test_ok(cmd_bind_addr(self->fd, id, &any[round % 3 - 1]));
		listens = !race(&self->racer, self->fd, id, listen_on_it, resolve_it);
		if (listens) {
			EXPECT_EQ(-1, self->racer.result);
		} else if (!self->racer.result) {
			test_ok(event_read(self->fd, &ev));
			EXPECT_EQ(id, ev.head.id);
			test_ok(event_ack(self->fd, &ev));
		}
		test_ok(cmd_destroy_id(self->fd, id));
		EXPECT_FALSE(readable(self->fd));
	}
}

/* The port is in use at the second device: then at the first neither. */
TEST_F(sequence, seq05_listen_fails_for_the_second_device)
{
	struct rdma_ucmx_addr second = addr(ADDR_SECOND, 21101);
	struct rdma_ucmx_addr any = addr("0.0.0.0", 21101);
	__u32 one, all, client;
	struct event ev;
	int yes = 1;

	for (unsigned int round = 0; round < scaled(8); round++) {
		test_ok(cmd_create_id(self->fd, PS_TCP, 0, &one));
		test_ok(cmd_create_id(self->fd, PS_TCP, 0, &all));
		test_ok(cmd_set_option(self->fd, one, 0, 1, &yes, sizeof(yes)));
		test_ok(cmd_set_option(self->fd, all, 0, 1, &yes, sizeof(yes)));
		test_ok(cmd_bind_addr(self->fd, one, &second));
		test_ok(cmd_bind_addr(self->fd, all, &any));
		test_err(EADDRNOTAVAIL, cmd_listen(self->fd, all, 4));
		test_err(EADDRNOTAVAIL, cmd_listen(self->fd, all, 4));
		/* Once it is free, the same id listens on both. */
		test_ok(cmd_destroy_id(self->fd, one));
		test_ok(cmd_listen(self->fd, all, 4));
		test_ok(client_connect(self->client, round % 2 ? ADDR1 : ADDR_SECOND,
				       21101, &client));
		test_ok(event_expect(self->fd, EV_CONNECT_REQUEST, &ev));
		test_ok(channel_clear(self->fd));
		test_ok(channel_clear(self->client));
	}
}

static int resolve_silent(int fd, __u32 id, __u32 timeout_ms)
{
	struct rdma_ucmx_resolve_addr cmd = {
		.size = sizeof(cmd),
		.id = id,
		.timeout_ms = timeout_ms,
		.dst_addr = addr(ADDR_SILENT, 7),
	};

	return ioctl(fd, RDMA_UCMX_RESOLVE_ADDR, &cmd);
}

/* In the hands of who reads the error, before it is acknowledged. */
TEST_F(sequence, seq05_resolve_again_from_the_error_path)
{
	struct event ev;
	__u32 id;

	test_ok(cmd_create_id(self->fd, PS_TCP, 0, &id));
	for (unsigned int round = 0; round < 3; round++) {
		test_ok(resolve_silent(self->fd, id, 20));
		test_ok(event_expect(self->fd, EV_ADDR_ERROR, &ev));
		EXPECT_GT(0, ev.head.status);
		test_ok(resolve_silent(self->fd, id, 20));
		test_ok(event_ack(self->fd, &ev));
		test_ok(event_take(self->fd, EV_ADDR_ERROR, id));
	}
	test_ok(resolve_it(self->fd, id));
	test_ok(event_take(self->fd, EV_ADDR_RESOLVED, id));
	test_ok(cmd_destroy_id(self->fd, id));
}

static int close_it(int fd, __u32 id)
{
	(void)id;
	return close(fd);
}

/* Nobody waits for the answers to what was asked: some never come. */
TEST_F(sequence, seq06_closed_while_addresses_and_routes_are_asked_for)
{
	struct rdma_ucmx_addr near = addr(ADDR1, 7);
	__u32 ids[4];
	int fd, copy;

	for (unsigned int round = 0; round < scaled(40); round++) {
		fd = channel_open();
		ASSERT_LE(0, fd);
		copy = dup(fd);
		ASSERT_LE(0, copy);
		test_ok(id_resolved(fd, ADDR_SECOND, 7, &ids[0]));
		test_ok(cmd_resolve_route(fd, ids[0]));
		test_ok(cmd_create_id(fd, PS_TCP, 0, &ids[1]));
		test_ok(cmd_resolve_addr(fd, ids[1], NULL, &near));
		for (unsigned int i = 2; i < ARRAY_LEN(ids); i++) {
			test_ok(cmd_create_id(fd, PS_TCP, 0, &ids[i]));
			test_ok(resolve_silent(fd, ids[i], 10000));
		}
		close(fd);
		test_ok(cmd_destroy_id(copy, ids[round % ARRAY_LEN(ids)]));
		close(copy);
	}
}

TEST_F(sequence, seq06_closing_against_destroying_through_a_duplicate)
{
	int fd, copy, ret;
	__u32 id;

	for (unsigned int round = 0; round < scaled(40); round++) {
		fd = channel_open();
		ASSERT_LE(0, fd);
		copy = dup(fd);
		ASSERT_LE(0, copy);
		test_ok(cmd_create_id(fd, PS_TCP, 0, &id));
		test_ok(round % 2 ? resolve_silent(fd, id, 10000) :
				    resolve_it(fd, id));
		close(copy);
		ret = race(&self->racer, fd, id, cmd_destroy_id, close_it);
		EXPECT_TRUE(!ret || errno == EBADF);
		EXPECT_EQ(0, self->racer.result);
	}
}

#define REMOVE() test_ok(fabric_removed(fabric_remove()))

/* Its request is unread, and an event of it in the hand of a reader. */
#define CONNECTING(id, ev) do {						\
	struct rdma_ucmx_conn_param _param = conn_param();		\
	__u32 _listener;						\
	__u16 _port;							\
									\
	test_ok(listener_open(self->fd, ADDR1, 4, &_listener, &_port));	\
	test_ok(id_resolved(self->client, ADDR1, _port, id));		\
	test_ok(cmd_resolve_route(self->client, *(id)));		\
	test_ok(event_expect(self->client, EV_ROUTE_RESOLVED, ev));	\
	test_ok(cmd_connect(self->client, *(id), &_param));		\
	ASSERT_TRUE(wait_until(id_has_pending(self->fd, _listener, 1)));	\
} while (0)

TEST_F(sequence, seq10_connecting_with_a_destroy_already_queued)
{
	struct call call = { .fd = self->client };
	struct event ev;

	CONNECTING(&call.id, &ev);
	call_start(&call, run_destroy);
	ASSERT_TRUE(wait_until(id_has_state(self->client, call.id,
					    RDMA_UCMX_ID_DYING)));
	REMOVE();
	ASSERT_FALSE(call_returned(&call));
	test_ok(event_ack(self->client, &ev));
	test_ok(call_result(&call));
	EXPECT_EQ(0, channel_ids(self->client));
}

TEST_F(sequence, seq10_connecting_with_a_migration_waiting)
{
	struct call call = {};
	struct event ev;
	__u32 id;
	int target = channel_open_nonblock();

	ASSERT_LE(0, target);
	CONNECTING(&id, &ev);
	test_ok(call_start_migrate(&call, self->client, id, target));
	REMOVE();
	ASSERT_FALSE(call_returned(&call));
	test_ok(event_ack(self->client, &ev));
	test_ok(call_result(&call));
	/* What the peer's end brings comes in its order. */
	do {
		test_ok(event_read(target, &ev));
		EXPECT_EQ(id, ev.head.id);
		test_ok(event_ack(target, &ev));
	} while (ev.head.event != EV_DEVICE_REMOVAL);
	EXPECT_TRUE(id_has_state(target, id, RDMA_UCMX_ID_GONE));
	test_ok(channel_clear(target));
	close(target);
}

/* Both at once, many times: whoever is first. */
TEST_F(sequence, seq10_destroying_while_the_device_goes)
{
	__u32 ids[8];
	pid_t remover;
	struct event ev;

	for (unsigned int round = 0; round < scaled(3); round++) {
		CONNECTING(&ids[0], &ev);
		for (unsigned int i = 1; i < ARRAY_LEN(ids); i++)
			test_ok(id_with_pending(self->client, &ids[i]));
		remover = fabric_remove();
		for (unsigned int i = 1; i < ARRAY_LEN(ids); i++)
			test_ok(cmd_destroy_id(self->client, ids[i]));
		test_ok(cmd_destroy_id_opt(self->client, ids[0], 0, 0, ev.head.seq));
		test_ok(fabric_removed(remover));
		EXPECT_EQ(0, channel_ids(self->client));
		test_ok(channel_clear(self->fd));
		test_ok(fabric_restore());
	}
}

/*
 * Neighbours that the devices' addresses seem to have, come and go.  Local
 * addresses have none in truth, so that nothing else breaks.
 */
static void stir_neighbours(FILE *ip, unsigned int round)
{
	const char *replace = "neigh replace %s lladdr 02:00:00:00:00:%02x dev %s nud permanent\n";

	fprintf(ip, replace, ADDR1, round % 256, "d0");
	fprintf(ip, replace, ADDR_SECOND, round % 256, "d1");
	if (round % 2)
		fprintf(ip, "neigh flush dev d0 nud permanent\n");
	else
		fprintf(ip, "neigh del " ADDR1 " dev d0\n");
	fprintf(ip, "neigh flush dev d1 nud permanent\n");
	fflush(ip);
}

/* The end comes for every child, whatever else does. */
static int read_disconnected(int fd, unsigned int n)
{
	struct event ev;

	while (n) {
		if (event_read(fd, &ev) || event_ack(fd, &ev))
			return -1;
		n -= ev.head.event == EV_DISCONNECTED;
	}
	return 0;
}

/* What the clients' ids, whose neighbours these are, have heard of it. */
static unsigned int count_unreachable(int fd)
{
	unsigned int n = 0;
	struct event ev;

	while (!event_read_now(fd, &ev) && !event_ack(fd, &ev))
		n += ev.head.event == EV_UNREACHABLE;
	return n;
}

/* UNREACHABLE may come while they are established, and while they end. */
TEST_F(sequence, seq11_neighbours_of_live_connections)
{
	struct connection connections[6];
	unsigned int unreachable = 0;
	FILE *ip;

	for (unsigned int round = 0; round < scaled(8); round++) {
		for (unsigned int i = 0; i < ARRAY_LEN(connections); i++)
			test_ok(connection_open(self->fd, self->client,
						i % 2 ? ADDR1 : ADDR_SECOND,
						&connections[i]));
		ip = popen("ip -force -batch - 2> /dev/null", "w");
		ASSERT_NE(NULL, ip);
		for (unsigned int i = 0; i < 30; i++)
			stir_neighbours(ip, 30 * round + i);
		for (unsigned int i = 0; i < ARRAY_LEN(connections); i++) {
			test_ok(cmd_disconnect(self->client, connections[i].client));
			stir_neighbours(ip, i);
		}
		ASSERT_NE(-1, pclose(ip));
		test_ok(read_disconnected(self->fd, ARRAY_LEN(connections)));
		unreachable += count_unreachable(self->client);
		test_ok(channel_clear(self->fd));
		test_ok(channel_clear(self->client));
	}
	TH_LOG("%u UNREACHABLE", unreachable);
}

/* One second device for all tests: making it takes longer than most of them. */
#define main run_tests
TEST_HARNESS_MAIN
#undef main

/* The harness exits, so it does that in a process of its own. */
int main(int argc, char **argv)
{
	int status = -1;
	pid_t pid;

	if (fabric_add_second())
		return KSFT_FAIL;
	pid = fork();
	if (!pid)
		return run_tests(argc, argv);
	waitpid(pid, &status, 0);
	return fabric_remove_second() || !WIFEXITED(status) ? KSFT_FAIL :
							      WEXITSTATUS(status);
}
