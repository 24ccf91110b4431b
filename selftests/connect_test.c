// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections: from resolving to disconnecting on both sides, with all that
 * the events say; and the ways in which a connection does not come about.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>

#include "guess.h"
#include "scene.h"
#include "test.h"

/* Reasons of rejections, IBTA 12.6.7.2. */
#define REJ_INVALID_SERVICE_ID 8
#define REJ_STALE_CONN 10

/* Where there are no path records there is no part of an event for them. */
#define PATHS (NUM_PATHS ? RDMA_UCMX_EVENT_PATHS : 0)

/* enum ib_event_type */
#define PATH_MIG 6

FIXTURE(connect) {
	int server;
	int client;
	__u32 listener;
	__u16 port;
};

FIXTURE_VARIANT(connect) {
	const char *listen;
	const char *dst;
	/* What the id sees as its own address, and the peer's. */
	const char *local;
};

FIXTURE_VARIANT_ADD(connect, bound) { ADDR1, ADDR1, ADDR1 };
FIXTURE_VARIANT_ADD(connect, wildcard) { "0.0.0.0", ADDR1, ADDR1 };
FIXTURE_VARIANT_ADD(connect, ipv6) { ADDR6, ADDR6, ADDR6 };
FIXTURE_VARIANT_ADD(connect, ipv6_wildcard) { "::", ADDR6, ADDR6 };

FIXTURE_SETUP(connect)
{
	self->server = channel_open();
	self->client = channel_open();
	ASSERT_LE(0, self->server);
	ASSERT_LE(0, self->client);
	test_ok(listener_open(self->server, variant->listen, 10, &self->listener,
			      &self->port));
}

FIXTURE_TEARDOWN(connect)
{
	close(self->server);
	close(self->client);
}

/* With iWARP that of the interface, which begins with its hardware address. */
static bool gid_is_of_interface(const __u8 *gid)
{
	FILE *file = fopen("/sys/class/net/d0/address", "r");
	__u8 expected[16] = {};
	int n = 0;

	while (file && n < 6 && fscanf(file, "%hhx%*[:\n]", &expected[n]) == 1)
		n++;
	if (file)
		fclose(file);
	return n == 6 && !memcmp(gid, expected, sizeof(expected));
}

/* GID of an address: IPv4 is mapped. */
static bool gid_is(const __u8 *gid, const char *ip)
{
	__u8 expected[16] = { [10] = 0xff, [11] = 0xff };

	if (over_iwarp())
		return gid_is_of_interface(gid);
	if (inet_pton(AF_INET6, ip, expected) != 1)
		inet_pton(AF_INET, ip, expected + 12);
	return !memcmp(gid, expected, sizeof(expected));
}

/* Who was connected to over iWARP does not know that of the peer. */
static bool dgid_is(const __u8 *gid, const char *ip)
{
	return gid_is(gid, ip) ||
	       (over_iwarp() && !memcmp(gid, (__u8 [16]){}, 16));
}

/* A path record has the GIDs behind eight bytes of service id. */
static bool path_is(const struct rdma_ucmx_path *path, const char *dst,
		    const char *src)
{
	const __u8 *record = (const __u8 *)path->path_rec;

	return path->flags && gid_is(record + 8, dst) && gid_is(record + 24, src);
}

#define EXPECT_ROUTE(route, src, dst) do {				\
	struct rdma_ucmx_route *_route = (route);			\
									\
	EXPECT_TRUE(addr_is(&_route->src_addr, src,			\
			    addr_port(&_route->src_addr)));		\
	EXPECT_TRUE(addr_is(&_route->dst_addr, dst,			\
			    addr_port(&_route->dst_addr)));		\
	EXPECT_TRUE(gid_is(_route->sgid, src));				\
	EXPECT_TRUE(dgid_is(_route->dgid, dst));			\
	EXPECT_NE(0, _route->node_guid);				\
	/* Partitions are InfiniBand's; with Ethernet stock says 0, too. */ \
	EXPECT_EQ(0, _route->pkey);					\
	EXPECT_EQ(1, _route->port_num);					\
	EXPECT_EQ(0, _route->reserved);					\
} while (0)

/* C4: an event says all that its reader needs, on the active side ... */
TEST_F(connect, c04_resolving)
{
	struct rdma_ucmx_addr dst = addr(variant->dst, self->port);
	struct rdma_ucmx_query query;
	struct event ev;
	__u32 id;

	test_ok(cmd_create_id(self->client, PS_TCP, 77, &id));
	test_ok(cmd_resolve_addr(self->client, id, NULL, &dst));
	test_ok(event_expect(self->client, EV_ADDR_RESOLVED, &ev));
	EXPECT_EQ(id, ev.head.id);
	EXPECT_EQ(77, ev.head.cookie);
	EXPECT_EQ(1, ev.head.seq);
	EXPECT_EQ(0, ev.head.status);
	EXPECT_EQ(0, ev.head.listen_id);
	EXPECT_EQ(PS_TCP, ev.head.port_space);
	EXPECT_EQ(QPT_RC, ev.head.qp_type);
	EXPECT_EQ(RDMA_UCMX_EVENT_ROUTE, ev.head.sections);
	EXPECT_ROUTE(&ev.route, variant->local, variant->dst);
	EXPECT_EQ(self->port, addr_port(&ev.route.dst_addr));
	test_ok(event_ack(self->client, &ev));

	test_ok(cmd_resolve_route(self->client, id));
	test_ok(event_expect(self->client, EV_ROUTE_RESOLVED, &ev));
	EXPECT_EQ(2, ev.head.seq);
	EXPECT_EQ(RDMA_UCMX_EVENT_ROUTE | PATHS, ev.head.sections);
	EXPECT_ROUTE(&ev.route, variant->local, variant->dst);
	ASSERT_EQ(NUM_PATHS, ev.head.num_paths);
	if (NUM_PATHS)
		EXPECT_TRUE(path_is(&ev.paths[0], variant->dst, variant->local));
	test_ok(event_ack(self->client, &ev));

	/* A query says the same. */
	test_ok(cmd_query(self->client, id, &query));
	EXPECT_EQ(0, memcmp(&query.out_route, &ev.route, sizeof(ev.route)));
	EXPECT_EQ(NUM_PATHS, query.out_num_paths);
	EXPECT_EQ(0, memcmp(query.out_paths, ev.paths, sizeof(ev.paths)));
}

/* ... and on the passive side. */
TEST_F(connect, c04_request)
{
	struct rdma_ucmx_query query;
	struct event ev;
	__u32 id;

	test_ok(client_connect(self->client, variant->dst, self->port, &id));
	test_ok(event_expect(self->server, EV_CONNECT_REQUEST, &ev));
	EXPECT_EQ(self->listener, ev.head.listen_id);
	EXPECT_NE(self->listener, ev.head.id);
	EXPECT_EQ(0, ev.head.cookie);
	EXPECT_EQ(0, ev.head.listen_cookie);
	EXPECT_EQ(1, ev.head.seq);
	EXPECT_EQ(0, ev.head.status);
	EXPECT_EQ(PS_TCP, ev.head.port_space);
	EXPECT_EQ(QPT_RC, ev.head.qp_type);
	EXPECT_EQ(RDMA_UCMX_EVENT_CONN | RDMA_UCMX_EVENT_ROUTE | PATHS,
		  ev.head.sections);
	EXPECT_ROUTE(&ev.route, variant->local, variant->dst);
	EXPECT_EQ(self->port, addr_port(&ev.route.src_addr));
	ASSERT_EQ(NUM_PATHS, ev.head.num_paths);
	if (NUM_PATHS)
		EXPECT_TRUE(path_is(&ev.paths[0], variant->dst, variant->local));
	EXPECT_EQ(1, ev.conn.valid);
	EXPECT_EQ(0, conn_tag(&ev.conn));
	EXPECT_EQ(1, ev.conn.responder_resources);
	EXPECT_EQ(1, ev.conn.initiator_depth);
	/* What is below this is TCP's with iWARP, and the peer's own. */
	EXPECT_EQ(over_iwarp() ? 0 : 7, ev.conn.retry_count);
	EXPECT_EQ(over_iwarp() ? 0 : 7, ev.conn.rnr_retry_count);
	EXPECT_EQ(over_iwarp(), !ev.conn.qp_num);
	test_ok(cmd_query(self->server, ev.head.id, &query));
	EXPECT_EQ(0, memcmp(&query.out_route, &ev.route, sizeof(ev.route)));
	EXPECT_EQ(0, memcmp(query.out_paths, ev.paths, sizeof(ev.paths)));
	/* It is the listener's event, the child has none. */
	test_err(EINVAL, cmd_ack(self->server, ev.head.id, 1));
	test_ok(cmd_ack(self->server, self->listener, 1));
}

/*
 * ECE options go there with the request, and come back with the answer.  With iWARP
 * there are none.
 */
TEST_F(connect, c04_ece)
{
	struct rdma_ucmx_connect request = {
		.size = sizeof(request), .conn_param = conn_param(),
		.ece = { .vendor_id = 0x15b3, .attr_mod = 0x80000001 },
	};
	struct rdma_ucmx_accept answer = {
		.size = sizeof(answer), .conn_param = conn_param(),
		.ece = { .vendor_id = 0x15b3, .attr_mod = 1 },
	};
	struct event ev;

	test_ok(id_resolved(self->client, variant->dst, self->port, &request.id));
	test_ok(cmd_resolve_route(self->client, request.id));
	test_ok(event_take(self->client, EV_ROUTE_RESOLVED, request.id));
	test_ok(ioctl(self->client, RDMA_UCMX_CONNECT, &request));
	test_ok(event_expect(self->server, EV_CONNECT_REQUEST, &ev));
	EXPECT_EQ(over_iwarp() ? 0 : 0x15b3, ev.head.ece.vendor_id);
	EXPECT_EQ(over_iwarp() ? 0 : 0x80000001, ev.head.ece.attr_mod);
	test_ok(event_ack(self->server, &ev));
	answer.id = ev.head.id;
	test_ok(ioctl(self->server, RDMA_UCMX_ACCEPT, &answer));
	test_ok(event_expect(self->client, EV_ANSWER, &ev));
	EXPECT_EQ(over_iwarp() ? 0 : 0x15b3, ev.head.ece.vendor_id);
	EXPECT_EQ(over_iwarp() ? 0 : 1, ev.head.ece.attr_mod);
	test_ok(event_ack(self->client, &ev));
}

/* The whole life of a connection, all private data in between. */
TEST_F(connect, connection)
{
	struct rdma_ucmx_conn_param param = conn_param();
	struct rdma_ucmx_qp_attr attr;
	__u32 id, child, qp_num;
	struct event ev;

	test_ok(client_connect(self->client, variant->dst, self->port, &id));
	test_ok(event_expect(self->server, EV_CONNECT_REQUEST, &ev));
	test_ok(event_ack(self->server, &ev));
	child = ev.head.id;
	ASSERT_TRUE(id_has_state(self->server, child, RDMA_UCMX_ID_UNCLAIMED));
	/* Which the peer is not told with iWARP. */
	qp_num = over_iwarp() ? 0 : param.qp_num;
	memset(param.private_data, 0x5a, 100);
	param.private_data_len = 100;
	test_ok(cmd_accept(self->server, child, 0x1234, &param));
	ASSERT_FALSE(id_has_state(self->server, child, RDMA_UCMX_ID_UNCLAIMED));

	test_ok(event_expect(self->client, EV_ANSWER, &ev));
	EXPECT_EQ(id, ev.head.id);
	EXPECT_EQ(3, ev.head.seq);
	EXPECT_EQ(RDMA_UCMX_EVENT_CONN | RDMA_UCMX_EVENT_ROUTE, ev.head.sections);
	EXPECT_EQ(qp_num, ev.conn.qp_num);
	EXPECT_LE(100, ev.conn.private_data_len);
	EXPECT_EQ(0, memcmp(param.private_data, ev.conn.private_data, 100));
	EXPECT_ROUTE(&ev.route, variant->local, variant->dst);
	test_ok(event_ack(self->client, &ev));
	/* INIT, RTR and RTS: each with its state and more. */
	for (__u32 state = 1; state <= 3; state++) {
		test_ok(cmd_init_qp_attr(self->client, id, state, &attr));
		EXPECT_EQ(state, attr.qp_state);
		/* An iWARP device gets there by itself. */
		EXPECT_EQ(over_iwarp() && state == 3, !(attr.qp_attr_mask & 1));
		if (state == 2)
			EXPECT_EQ(qp_num, attr.dest_qp_num);
	}
	if (!over_iwarp())
		test_ok(cmd_accept(self->client, id, 0, NULL));

	test_ok(event_expect(self->server, EV_ESTABLISHED, &ev));
	EXPECT_EQ(child, ev.head.id);
	EXPECT_EQ(0x1234, ev.head.cookie);
	EXPECT_EQ(1, ev.head.seq);
	EXPECT_EQ(RDMA_UCMX_EVENT_CONN | RDMA_UCMX_EVENT_ROUTE, ev.head.sections);
	EXPECT_ROUTE(&ev.route, variant->local, variant->dst);
	test_ok(event_ack(self->server, &ev));

	test_ok(cmd_disconnect(self->client, id));
	test_ok(event_take(self->server, EV_DISCONNECTED, child));
	test_ok(cmd_disconnect(self->server, child));
	test_ok(event_take(self->client, EV_DISCONNECTED, id));
	test_ok(cmd_destroy_id(self->client, id));
	test_ok(cmd_destroy_id(self->server, child));
	test_ok(cmd_destroy_id(self->server, self->listener));
	EXPECT_EQ(0, channel_ids(self->server));
	EXPECT_EQ(0, channel_ids(self->client));
}

TEST_F(connect, rejected_by_the_consumer)
{
	static const char reason[] = "not today", much[200];
	struct event ev;
	__u32 id, child;

	test_ok(client_connect(self->client, variant->dst, self->port, &id));
	test_ok(event_expect(self->server, EV_CONNECT_REQUEST, &ev));
	test_ok(event_ack(self->server, &ev));
	child = ev.head.id;
	test_err(EINVAL, cmd_reject(self->server, child, 1, "", 0));
	/* More than the message holds; iWARP's has room for any length. */
	if (!over_iwarp())
		test_err(EINVAL, cmd_reject(self->server, child, 0, much, sizeof(much)));
	test_ok(cmd_reject(self->server, child, 0, reason, sizeof(reason)));
	test_ok(event_expect(self->client, EV_REJECTED, &ev));
	EXPECT_EQ(id, ev.head.id);
	EXPECT_EQ(REJ_CONSUMER, ev.head.status);
	EXPECT_EQ(0, memcmp(reason, ev.conn.private_data, sizeof(reason)));
	test_ok(event_ack(self->client, &ev));
	test_ok(cmd_destroy_id(self->client, id));
	/* It was never claimed. */
	test_ok(cmd_destroy_id(self->server, child));
}

/*
 * There is nothing to answer yet, and an answer in vain would be one that the IB
 * CM takes a minute to get over; and there is only one answer.
 */
TEST_F(connect, answers_that_are_none)
{
	struct rdma_ucmx_conn_param param = conn_param();
	struct event ev;
	__u32 id;

	test_ok(client_connect(self->client, variant->dst, self->port, &id));
	test_err(EINVAL, cmd_reject(self->client, id, 0, "", 0));
	test_err(EINVAL, cmd_accept(self->client, id, 0, &param));
	test_err(EINVAL, cmd_accept(self->client, id, 0, NULL));
	test_ok(event_expect(self->server, EV_CONNECT_REQUEST, &ev));
	test_ok(event_ack(self->server, &ev));
	test_err(EINVAL, cmd_reject(self->client, id, 0, "", 0));
	test_ok(child_accept(self->server, &ev, 0));
	test_err(EINVAL, cmd_accept(self->server, ev.head.id, 0, &param));
	test_err(EINVAL, cmd_reject(self->server, ev.head.id, 0, "", 0));
	/* All of that has done no harm. */
	test_ok(client_confirm(self->client, id));
	test_err(EINVAL, cmd_reject(self->client, id, 0, "", 0));
	test_ok(event_take(self->server, EV_ESTABLISHED, ev.head.id));
	test_err(EINVAL, cmd_reject(self->server, ev.head.id, 0, "", 0));
	test_ok(cmd_disconnect(self->client, id));
	test_ok(event_take(self->server, EV_DISCONNECTED, ev.head.id));
}

/*
 * The connection manager would believe it, and forget the device and the GID that
 * the connection refers to.
 */
TEST_F(connect, no_migration_to_another_path)
{
	struct connection connection;

	test_ok(connection_open(self->server, self->client, variant->dst,
				&connection));
	test_err(EINVAL, cmd_notify(self->client, connection.client, PATH_MIG));
	test_err(EINVAL, cmd_notify(self->server, connection.child, PATH_MIG));
	test_ok(cmd_disconnect(self->client, connection.client));
	test_ok(event_take(self->server, EV_DISCONNECTED, connection.child));
}

TEST_F(connect, rejected_without_a_listener)
{
	struct event ev;
	__u32 id;

	test_ok(cmd_destroy_id(self->server, self->listener));
	if (over_iwarp()) {
		/* There is no TCP connection that could be asked over. */
		test_err(ECONNREFUSED, client_connect(self->client, variant->dst,
						      self->port, &id));
		test_err(EAGAIN, event_read_now(self->client, &ev));
		return;
	}
	test_ok(client_connect(self->client, variant->dst, self->port, &id));
	test_ok(event_expect(self->client, EV_REJECTED, &ev));
	EXPECT_EQ(REJ_INVALID_SERVICE_ID, ev.head.status);
	test_ok(event_ack(self->client, &ev));
}

/* C17: unread requests die with their listener. */
TEST_F(connect, c17_rejected_with_the_listener)
{
	struct rdma_ucmx_info info;
	__u32 ids[3];
	struct event ev;
	unsigned int i;

	test_ok(clients_connect(self->client, variant->dst, self->port,
				ARRAY_LEN(ids), ids));
	ASSERT_TRUE(wait_until(id_has_pending(self->server, self->listener,
					      ARRAY_LEN(ids))));
	ASSERT_EQ(1 + (int)ARRAY_LEN(ids), channel_ids(self->server));
	test_ok(cmd_destroy_id(self->server, self->listener));
	for (i = 0; i < ARRAY_LEN(ids); i++) {
		test_ok(event_expect(self->client, EV_REJECTED, &ev));
		EXPECT_EQ(REJ_CONSUMER, ev.head.status);
		test_ok(event_ack(self->client, &ev));
	}
	test_ok(cmd_info(self->server, &info));
	EXPECT_EQ(0, info.out_pending);
	ASSERT_TRUE(wait_until(channel_ids(self->server) == 0));
}

/* C17: the same when the channel is closed, read requests included. */
TEST_F(connect, c17_rejected_with_the_channel)
{
	struct event ev;
	__u32 ids[3];
	unsigned int i;

	test_ok(clients_connect(self->client, variant->dst, self->port,
				ARRAY_LEN(ids), ids));
	ASSERT_TRUE(wait_until(id_has_pending(self->server, self->listener,
					      ARRAY_LEN(ids))));
	test_ok(event_expect(self->server, EV_CONNECT_REQUEST, &ev));
	ASSERT_EQ(0, close(self->server));
	for (i = 0; i < ARRAY_LEN(ids); i++) {
		test_ok(event_expect(self->client, EV_REJECTED, &ev));
		EXPECT_EQ(REJ_CONSUMER, ev.head.status);
		test_ok(event_ack(self->client, &ev));
	}
}

TEST_F(connect, a_qp_number_in_use_is_stale)
{
	struct rdma_ucmx_conn_param param;
	struct event ev;
	__u32 id, second;

	if (over_iwarp())
		SKIP(return, "the peer is not told the number with iWARP");
	test_ok(client_connect(self->client, variant->dst, self->port, &id));
	test_ok(event_expect(self->server, EV_CONNECT_REQUEST, &ev));
	param = conn_param();
	param.qp_num = ev.conn.qp_num;
	test_ok(event_ack(self->server, &ev));
	test_ok(id_resolved(self->client, variant->dst, self->port, &second));
	test_ok(cmd_resolve_route(self->client, second));
	test_ok(event_take(self->client, EV_ROUTE_RESOLVED, second));
	test_ok(cmd_connect(self->client, second, &param));
	test_ok(event_expect(self->client, EV_REJECTED, &ev));
	EXPECT_EQ(second, ev.head.id);
	EXPECT_EQ(REJ_STALE_CONN, ev.head.status);
}

/* The client gives up while its request is unclaimed.  With iWARP nobody is told. */
TEST_F(connect, c03_events_of_an_unclaimed_child_are_kept)
{
	struct rdma_ucmx_conn_param param = conn_param();
	struct event ev;
	__u32 id, child;

	test_ok(client_connect(self->client, variant->dst, self->port, &id));
	test_ok(event_expect(self->server, EV_CONNECT_REQUEST, &ev));
	test_ok(event_ack(self->server, &ev));
	child = ev.head.id;
	test_ok(over_iwarp() ? cmd_write_event(self->server, child, EV_USER, 0, 0) :
			       cmd_destroy_id(self->client, id));
	ASSERT_TRUE(wait_until(id_has_pending(self->server, child, 1)));
	test_err(EAGAIN, event_read_now(self->server, &ev));
	if (!over_iwarp())
		test_err(EINVAL, cmd_accept(self->server, child, 0, &param));
	test_err(EAGAIN, event_read_now(self->server, &ev));
	test_ok(cmd_destroy_id(self->server, child));
	test_err(EAGAIN, event_read_now(self->server, &ev));
}

/* A child cannot be named before its request was read. */
TEST_F(connect, c01_unread_children_are_nobodys)
{
	struct rdma_ucmx_conn_param param = conn_param();
	struct event ev;
	struct guess guess;
	__u32 id, unread;

	test_ok(guess_next(self->server, &guess));
	test_ok(client_connect(self->client, variant->dst, self->port, &id));
	ASSERT_TRUE(wait_until(id_has_pending(self->server, self->listener, 1)));
	for (unsigned int i = 0; i < guess.n; i++) {
		unread = guess.handle[i];
		test_err(ENOENT, cmd_accept(self->server, unread, 0, &param));
		test_err(ENOENT, cmd_destroy_id(self->server, unread));
		test_err(ENOENT, cmd_ack(self->server, unread, 0));
		test_err(ENOENT, cmd_migrate_id(self->server, unread, self->client));
	}
	test_ok(event_expect(self->server, EV_CONNECT_REQUEST, &ev));
	EXPECT_TRUE(guess_has(&guess, ev.head.id));
	test_ok(child_accept(self->server, &ev, 0));
	test_ok(event_take(self->client, EV_ANSWER, id));
}

/*
 * C3: a request without room is refused, and was never raised.  With RoCE the
 * clients' rdma_cm tries again: all are served in the end.
 */
TEST(c03_backlog)
{
	int server = channel_open(), client = channel_open();
	__u32 ids[5], listener;
	struct rdma_ucmx_id_info info;
	struct event ev;
	unsigned int i;
	__u16 port;

	test_ok(listener_open(server, ADDR1, 2, &listener, &port));
	test_ok(clients_connect(client, ADDR1, port, 2, ids));
	ASSERT_TRUE(wait_until(id_has_pending(server, listener, 2)));
	for (i = 2; i < ARRAY_LEN(ids); i++) {
		test_ok(client_connect(client, ADDR1, port, &ids[i]));
		if (over_iwarp())
			test_ok(event_take(client, EV_REJECTED, ids[i]));
	}
	test_ok(id_info(server, listener, &info));
	EXPECT_EQ(2, info.unread);
	EXPECT_EQ(2, info.pending);
	for (i = 0; i < (over_iwarp() ? 2 : ARRAY_LEN(ids)); i++) {
		test_ok(event_expect(server, EV_CONNECT_REQUEST, &ev));
		EXPECT_EQ(i + 1, ev.head.seq);
		test_ok(event_ack(server, &ev));
	}
	test_err(EAGAIN, event_read_now(server, &ev));
}

TEST_HARNESS_MAIN
