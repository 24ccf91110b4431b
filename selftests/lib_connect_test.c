// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Asynchronous connections by the public interface of librdmacm, without
 * migration.
 */
#include <string.h>

#include "lib_scene.h"
#include "test.h"

FIXTURE(connect) {
	struct rdma_event_channel *server;
	struct rdma_event_channel *client;
};

FIXTURE_SETUP(connect)
{
	self->server = rdma_create_event_channel();
	self->client = rdma_create_event_channel();
	ASSERT_NE(NULL, self->server);
	ASSERT_NE(NULL, self->client);
}

FIXTURE_TEARDOWN(connect)
{
	rdma_destroy_event_channel(self->server);
	rdma_destroy_event_channel(self->client);
}

#define TEST_CONNECTION(listen_ip, ip) do {				\
	struct rdma_cm_id *listener, *id, *child;			\
	struct rdma_cm_event *event;					\
									\
	listener = listener_open(self->server, listen_ip, 1);		\
	ASSERT_NE(NULL, listener);					\
	listener->context = self;					\
	id = client_connect(self->client, ip, listener_port(listener), 17); \
	ASSERT_NE(NULL, id);						\
	test_ok(event_expect(self->server,				\
			     RDMA_CM_EVENT_CONNECT_REQUEST, &event));	\
	child = event->id;						\
	EXPECT_EQ(listener, event->listen_id);				\
	EXPECT_EQ(self, child->context);				\
	EXPECT_EQ(self->server, child->channel);			\
	EXPECT_EQ(17, event_tag(event));				\
	EXPECT_NE(NULL, child->verbs);					\
	EXPECT_EQ(1, child->port_num);					\
	EXPECT_EQ(RDMA_PS_TCP, child->ps);				\
	EXPECT_EQ(rdma_get_src_port(listener), rdma_get_src_port(child)); \
	EXPECT_EQ(rdma_get_dst_port(id), rdma_get_src_port(child));	\
	EXPECT_EQ(NUM_PATHS, child->route.num_paths);			\
	test_ok(rdma_ack_cm_event(event));				\
	test_ok(child_accept(child, 18));				\
	test_ok(event_expect(self->client, RDMA_CM_EVENT_ESTABLISHED, &event)); \
	EXPECT_EQ(id, event->id);					\
	EXPECT_EQ(18, event_tag(event));				\
	test_ok(rdma_ack_cm_event(event));				\
	test_ok(event_expect(self->server, RDMA_CM_EVENT_ESTABLISHED, &event)); \
	EXPECT_EQ(child, event->id);					\
	test_ok(rdma_ack_cm_event(event));				\
	test_ok(rdma_disconnect(id));					\
	test_ok(event_take(self->server, RDMA_CM_EVENT_DISCONNECTED));	\
	test_ok(rdma_disconnect(child));				\
	test_ok(event_take(self->client, RDMA_CM_EVENT_DISCONNECTED));	\
	id_close(id);							\
	id_close(child);						\
	id_close(listener);						\
} while (0)

TEST_F(connect, asynchronous)
{
	TEST_CONNECTION(ADDR1, ADDR1);
}

TEST_F(connect, asynchronous_wildcard)
{
	TEST_CONNECTION("0.0.0.0", ADDR2);
}

TEST_F(connect, asynchronous_ipv6)
{
	TEST_CONNECTION(ADDR6, ADDR6);
}

TEST_F(connect, rejected)
{
	static const char reason[] = "no";
	struct rdma_cm_id *listener, *id, *child;
	struct rdma_cm_event *event;

	listener = listener_open(self->server, ADDR1, 1);
	ASSERT_NE(NULL, listener);
	id = client_connect(self->client, ADDR1, listener_port(listener), 0);
	ASSERT_NE(NULL, id);
	test_ok(event_expect(self->server, RDMA_CM_EVENT_CONNECT_REQUEST, &event));
	child = event->id;
	test_ok(rdma_ack_cm_event(event));
	test_ok(rdma_reject(child, reason, sizeof(reason)));
	id_close(child);
	test_ok(event_expect(self->client, RDMA_CM_EVENT_REJECTED, &event));
	EXPECT_EQ(REJ_CONSUMER, event->status);
	EXPECT_EQ(0, memcmp(reason, event->param.conn.private_data, sizeof(reason)));
	test_ok(rdma_ack_cm_event(event));
	id_close(id);
	id_close(listener);
}

TEST_HARNESS_MAIN
