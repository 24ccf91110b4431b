// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Ids for datagrams: a request asks for a queue pair's number and key, and one
 * answer gives them; there is no connection afterwards.
 */
#include <arpa/inet.h>
#include <string.h>

#include "scene.h"
#include "test.h"

#define QPT_UD 4
#define QKEY 0x12345678
#define PORT_SPACE_QKEY 0x01234567
#define REQUEST "who are you"
#define ANSWER "somebody"

FIXTURE(datagram) {
	int server;
	int client;
	int target;
	__u32 listener;
	__u32 id;
};

FIXTURE_VARIANT(datagram) {
	const char *ip;
};

FIXTURE_VARIANT_ADD(datagram, ipv4) { ADDR1 };
FIXTURE_VARIANT_ADD(datagram, ipv6) { ADDR6 };

/* A listener, and an id that knows its way there. */
FIXTURE_SETUP(datagram)
{
	struct rdma_ucmx_addr local = addr(variant->ip, 0), dst;
	struct rdma_ucmx_query query;

	self->server = channel_open();
	self->client = channel_open();
	self->target = channel_open();
	ASSERT_LE(0, self->server);
	ASSERT_LE(0, self->client);
	ASSERT_LE(0, self->target);
	test_ok(cmd_create_id(self->server, PS_UDP, 1, &self->listener));
	test_ok(cmd_bind_addr(self->server, self->listener, &local));
	test_ok(cmd_listen(self->server, self->listener, 4));
	test_ok(cmd_query(self->server, self->listener, &query));
	dst = addr(variant->ip, addr_port(&query.out_route.src_addr));
	test_ok(cmd_create_id(self->client, PS_UDP, 2, &self->id));
	test_ok(cmd_resolve_addr(self->client, self->id, NULL, &dst));
	test_ok(event_take(self->client, EV_ADDR_RESOLVED, self->id));
	test_ok(cmd_resolve_route(self->client, self->id));
	test_ok(event_take(self->client, EV_ROUTE_RESOLVED, self->id));
}

FIXTURE_TEARDOWN(datagram)
{
	close(self->server);
	close(self->client);
	close(self->target);
}

static struct rdma_ucmx_conn_param param_saying(const char *text)
{
	struct rdma_ucmx_conn_param param = conn_param();

	strcpy((char *)param.private_data, text);
	param.private_data_len = strlen(text) + 1;
	return param;
}

/* The client asks; @ev is the request as it was read. */
#define ASK(ev) do {							\
	struct rdma_ucmx_conn_param _param = param_saying(REQUEST);	\
									\
	test_ok(cmd_connect(self->client, self->id, &_param));		\
	test_ok(event_expect(self->server, EV_CONNECT_REQUEST, ev));	\
} while (0)

/* The answer says where and how the peer's queue pair can be reached. */
#define EXPECT_ANSWER(fd, number) do {					\
	struct event _ev;						\
									\
	test_ok(event_expect(fd, EV_ESTABLISHED, &_ev));		\
	EXPECT_EQ(self->id, _ev.head.id);				\
	EXPECT_EQ(2, _ev.head.cookie);					\
	EXPECT_EQ(RDMA_UCMX_EVENT_UD | RDMA_UCMX_EVENT_ROUTE,		\
		  _ev.head.sections);					\
	EXPECT_EQ(number, _ev.ud.qp_num);				\
	EXPECT_EQ(QKEY, _ev.ud.qkey);					\
	EXPECT_EQ(1, _ev.ud.ah_attr.is_global);				\
	EXPECT_EQ(1, _ev.ud.ah_attr.port_num);				\
	EXPECT_EQ(0, memcmp(_ev.route.dgid, _ev.ud.ah_attr.dgid, 16));	\
	EXPECT_STREQ(ANSWER, (const char *)_ev.ud.private_data);	\
	test_ok(event_ack(fd, &_ev));					\
} while (0)

TEST_F(datagram, c04_request_and_answer)
{
	struct rdma_ucmx_conn_param param = param_saying(ANSWER);
	struct rdma_ucmx_qp_attr attr;
	struct event ev;

	param.qkey = QKEY;
	ASK(&ev);
	EXPECT_EQ(self->listener, ev.head.listen_id);
	EXPECT_EQ(1, ev.head.listen_cookie);
	EXPECT_EQ(PS_UDP, ev.head.port_space);
	EXPECT_EQ(QPT_UD, ev.head.qp_type);
	/* Such a request brings no path records. */
	EXPECT_EQ(RDMA_UCMX_EVENT_UD | RDMA_UCMX_EVENT_ROUTE, ev.head.sections);
	EXPECT_EQ(0, ev.head.num_paths);
	EXPECT_STREQ(REQUEST, (const char *)ev.ud.private_data);
	EXPECT_TRUE(addr_is(&ev.route.src_addr, variant->ip,
			    addr_port(&ev.route.src_addr)));
	test_ok(event_ack(self->server, &ev));
	test_ok(cmd_accept(self->server, ev.head.id, 3, &param));
	EXPECT_ANSWER(self->client, param.qp_num);
	/* The client's own queue pair has the key of the port space. */
	test_ok(cmd_init_qp_attr(self->client, self->id, 1, &attr));
	EXPECT_EQ(1, attr.qp_state);
	EXPECT_EQ(PORT_SPACE_QKEY, attr.qkey);
	/* Nobody is connected, and nobody hears of the end. */
	test_ok(cmd_destroy_id(self->server, ev.head.id));
	test_ok(cmd_destroy_id(self->client, self->id));
	EXPECT_FALSE(readable(self->server));
	EXPECT_FALSE(readable(self->client));
}

TEST_F(datagram, rejected)
{
	struct event ev;

	ASK(&ev);
	test_ok(event_ack(self->server, &ev));
	test_ok(cmd_reject(self->server, ev.head.id, 0, ANSWER, sizeof(ANSWER)));
	test_ok(event_expect(self->client, EV_UNREACHABLE, &ev));
	EXPECT_NE(0, ev.head.status);
	test_ok(event_ack(self->client, &ev));
	test_ok(cmd_destroy_id(self->client, self->id));
}

/* Both sides are migrated while the request is unread, and it is answered. */
TEST_F(datagram, migrated)
{
	struct rdma_ucmx_conn_param request = param_saying(REQUEST);
	struct rdma_ucmx_conn_param param = param_saying(ANSWER);
	struct event ev;

	param.qkey = QKEY;
	test_ok(cmd_connect(self->client, self->id, &request));
	ASSERT_TRUE(wait_until(id_has_pending(self->server, self->listener, 1)));
	test_ok(cmd_migrate_id(self->server, self->listener, self->target));
	test_ok(cmd_migrate_id(self->client, self->id, self->server));
	test_ok(event_expect(self->target, EV_CONNECT_REQUEST, &ev));
	test_ok(event_ack(self->target, &ev));
	test_ok(cmd_accept(self->target, ev.head.id, 3, &param));
	EXPECT_ANSWER(self->server, param.qp_num);
	EXPECT_FALSE(readable(self->client));
	EXPECT_FALSE(readable(self->target));
}

TEST_HARNESS_MAIN
