// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Synchronous ids: every call waits for what it began, and says how it went.
 */
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>

#include "lib_scene.h"
#include "test.h"

/* A server in a thread: takes one request and stays until it is disconnected. */
struct server {
	pthread_t thread;
	struct rdma_cm_id *listener;
	bool reject;
	uint32_t request_tag;
	enum rdma_cm_event_type requested;
	enum rdma_cm_event_type accepted;
	int ret;
	int error;
};

static int serve_child(struct server *server, struct rdma_cm_id *child)
{
	static const uint32_t why = 99;

	server->requested = child->event->event;
	server->request_tag = event_tag(child->event);
	if (server->reject)
		return rdma_reject(child, &why, sizeof(why));
	if (child_accept(child, 2))
		return -1;
	server->accepted = child->event->event;
	return rdma_disconnect(child);
}

static void *serve(void *argument)
{
	struct server *server = argument;
	struct rdma_cm_id *child;

	server->ret = rdma_get_request(server->listener, &child);
	if (!server->ret) {
		server->ret = serve_child(server, child);
		server->error = errno;
		id_close(child);
		return NULL;
	}
	server->error = errno;
	return NULL;
}

FIXTURE(sync) {
	struct server server;
	uint16_t port;
};

FIXTURE_SETUP(sync)
{
	self->server.listener = listener_open(NULL, ADDR1, 8);
	ASSERT_NE(NULL, self->server.listener);
	self->port = listener_port(self->server.listener);
}

FIXTURE_TEARDOWN(sync)
{
	if (self->server.listener)
		EXPECT_EQ(0, rdma_destroy_id(self->server.listener));
}

static void server_start(struct server *server)
{
	pthread_create(&server->thread, NULL, serve, server);
}

static void server_join(struct server *server)
{
	pthread_join(server->thread, NULL);
}

/* A resolved synchronous id with a queue pair. */
static struct rdma_cm_id *client_open(uint16_t port)
{
	struct rdma_cm_id *id = client_resolved(NULL, ADDR1, port);

	return id && !qp_create(id) ? id : NULL;
}

static const struct sockaddr_in peer = {
	.sin_family = AF_INET,
	.sin_port = 0x0700,
};

static int resolve_addr(struct rdma_cm_id *id, uint32_t ip)
{
	struct sockaddr_in address = peer;

	address.sin_addr.s_addr = htonl(ip);
	return rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, 10000);
}

TEST_F(sync, call_returns_when_its_event_is_there)
{
	struct rdma_cm_id *id;

	test_ok(rdma_create_id(NULL, &id, self, RDMA_PS_TCP));
	EXPECT_EQ(NULL, id->event);
	EXPECT_EQ(self, id->context);
	ASSERT_NE(NULL, id->channel);
	test_ok(resolve_addr(id, 0xc0000201));
	ASSERT_NE(NULL, id->event);
	EXPECT_EQ(RDMA_CM_EVENT_ADDR_RESOLVED, id->event->event);
	EXPECT_EQ(id, id->event->id);
	EXPECT_NE(NULL, id->verbs);
	test_ok(rdma_resolve_route(id, 10000));
	EXPECT_EQ(RDMA_CM_EVENT_ROUTE_RESOLVED, id->event->event);
	EXPECT_EQ(NUM_PATHS, id->route.num_paths);
	EXPECT_FALSE(event_there(id->channel));
	test_ok(rdma_destroy_id(id));
}

TEST_F(sync, connection_from_request_to_disconnect)
{
	struct rdma_cm_id *id;

	server_start(&self->server);
	id = client_open(self->port);
	ASSERT_NE(NULL, id);
	test_ok(client_request(id, 1));
	ASSERT_NE(NULL, id->event);
	EXPECT_EQ(RDMA_CM_EVENT_ESTABLISHED, id->event->event);
	EXPECT_EQ(2, event_tag(id->event));
	test_ok(rdma_disconnect(id));
	EXPECT_EQ(RDMA_CM_EVENT_DISCONNECTED, id->event->event);
	server_join(&self->server);
	EXPECT_EQ(0, self->server.ret);
	EXPECT_EQ(RDMA_CM_EVENT_CONNECT_REQUEST, self->server.requested);
	EXPECT_EQ(RDMA_CM_EVENT_ESTABLISHED, self->server.accepted);
	EXPECT_EQ(1, self->server.request_tag);
	id_close(id);
}

TEST_F(sync, disconnecting_twice_does_not_wait_twice)
{
	struct rdma_cm_id *id;

	server_start(&self->server);
	id = client_open(self->port);
	ASSERT_NE(NULL, id);
	test_ok(client_request(id, 1));
	test_ok(rdma_disconnect(id));
	rdma_disconnect(id);
	server_join(&self->server);
	id_close(id);
}

TEST_F(sync, refused_by_the_server)
{
	struct rdma_cm_id *id;

	self->server.reject = true;
	server_start(&self->server);
	id = client_open(self->port);
	ASSERT_NE(NULL, id);
	test_err(ECONNREFUSED, client_request(id, 1));
	ASSERT_NE(NULL, id->event);
	EXPECT_EQ(RDMA_CM_EVENT_REJECTED, id->event->event);
	EXPECT_EQ(REJ_CONSUMER, id->event->status);
	EXPECT_EQ(99, event_tag(id->event));
	/* There will be no event for this. */
	rdma_disconnect(id);
	server_join(&self->server);
	EXPECT_EQ(0, self->server.ret);
	id_close(id);
}

TEST_F(sync, nobody_listens)
{
	struct rdma_cm_id *id;

	test_ok(rdma_destroy_id(self->server.listener));
	self->server.listener = NULL;
	id = client_open(self->port);
	ASSERT_NE(NULL, id);
	test_err(ECONNREFUSED, client_request(id, 1));
	/* With iWARP there is no TCP connection, and so no event either. */
	if (!over_iwarp()) {
		EXPECT_EQ(RDMA_CM_EVENT_REJECTED, id->event->event);
		EXPECT_EQ(8, id->event->status);
	}
	id_close(id);
}

/* There is no way there, which the command or its event says. */
TEST_F(sync, address_that_cannot_be_resolved)
{
	struct rdma_cm_id *id;

	test_ok(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	test_err(ENETUNREACH, resolve_addr(id, 0xcb007101));
	test_ok(rdma_destroy_id(id));
}

TEST_F(sync, wrong_state)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id, *child;

	test_ok(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	test_err(EINVAL, rdma_resolve_route(id, 1000));
	test_err(EINVAL, rdma_connect(id, NULL));
	test_err(EINVAL, rdma_disconnect(id));
	EXPECT_EQ(NULL, id->event);
	test_ok(rdma_destroy_id(id));
	test_ok(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	test_err(EINVAL, rdma_get_request(id, &child));
	test_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

TEST_F(sync, id_of_a_request_outlives_the_listener)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id, *child;
	struct taker taker;

	id = client_connect(channel, ADDR1, self->port, 1);
	ASSERT_NE(NULL, id);
	test_ok(rdma_get_request(self->server.listener, &child));
	EXPECT_EQ(self->server.listener, child->event->listen_id);
	EXPECT_NE(child->channel, self->server.listener->channel);
	/* With its request in child->event, which holds up nobody. */
	test_ok(rdma_destroy_id(self->server.listener));
	self->server.listener = NULL;
	taker_start(&taker, channel, RDMA_CM_EVENT_ESTABLISHED);
	test_ok(child_accept(child, 2));
	test_ok(taker_end(&taker));
	test_ok(rdma_disconnect(id));
	test_ok(rdma_disconnect(child));
	id_close(child);
	id_close(id);
	rdma_destroy_event_channel(channel);
}

TEST_F(sync, unconnected_ids)
{
	struct sockaddr_in address = peer;
	struct rdma_conn_param param = { .qp_num = 7 };
	struct rdma_cm_id *listener, *id, *child;
	struct rdma_event_channel *channel;

	if (over_iwarp())
		SKIP(return, "iWARP has no datagrams");
	channel = rdma_create_event_channel();
	address.sin_addr.s_addr = htonl(0xc0000201);
	address.sin_port = 0;
	test_ok(rdma_create_id(NULL, &listener, NULL, RDMA_PS_UDP));
	test_ok(rdma_bind_addr(listener, (struct sockaddr *)&address));
	test_ok(rdma_listen(listener, 4));
	address.sin_port = rdma_get_src_port(listener);
	test_ok(rdma_create_id(channel, &id, NULL, RDMA_PS_UDP));
	test_ok(rdma_migrate_id(id, NULL));
	test_ok(rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, 10000));
	test_ok(rdma_resolve_route(id, 10000));
	test_ok(rdma_migrate_id(id, channel));
	test_ok(rdma_connect(id, &param));
	test_ok(rdma_get_request(listener, &child));
	test_ok(rdma_accept(child, &param));
	/* Nothing follows an unconnected id's request. */
	EXPECT_EQ(NULL, child->event);
	test_ok(event_take(channel, RDMA_CM_EVENT_ESTABLISHED));
	test_ok(rdma_destroy_id(child));
	test_ok(rdma_destroy_id(id));
	test_ok(rdma_destroy_id(listener));
	rdma_destroy_event_channel(channel);
}

FIXTURE(mode) {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	struct rdma_cm_id *id;
	uint16_t port;
};

FIXTURE_SETUP(mode)
{
	self->channel = rdma_create_event_channel();
	ASSERT_NE(NULL, self->channel);
	self->listener = listener_open(NULL, ADDR1, 8);
	ASSERT_NE(NULL, self->listener);
	self->port = listener_port(self->listener);
	test_ok(rdma_create_id(self->channel, &self->id, NULL, RDMA_PS_TCP));
}

FIXTURE_TEARDOWN(mode)
{
	id_close(self->id);
	id_close(self->listener);
	rdma_destroy_event_channel(self->channel);
}

TEST_F(mode, there_and_back)
{
	test_ok(rdma_migrate_id(self->id, NULL));
	EXPECT_NE(self->channel, self->id->channel);
	test_err(EINVAL, rdma_migrate_id(self->id, NULL));
	test_ok(resolve_addr(self->id, 0xc0000201));
	EXPECT_EQ(RDMA_CM_EVENT_ADDR_RESOLVED, self->id->event->event);
	test_ok(rdma_migrate_id(self->id, self->channel));
	EXPECT_EQ(self->channel, self->id->channel);
	EXPECT_EQ(NULL, self->id->event);
	test_ok(rdma_resolve_route(self->id, 10000));
	EXPECT_EQ(NULL, self->id->event);
	test_ok(event_take(self->channel, RDMA_CM_EVENT_ROUTE_RESOLVED));
}

/* Stock takes it for the answer. */
TEST_F(mode, stale_event_is_no_answer)
{
	test_ok(resolve_addr(self->id, 0xc0000201));
	EXPECT_TRUE(event_comes(self->channel));
	test_ok(rdma_migrate_id(self->id, NULL));
	test_ok(rdma_resolve_route(self->id, 10000));
	ASSERT_NE(NULL, self->id->event);
	EXPECT_EQ(RDMA_CM_EVENT_ROUTE_RESOLVED, self->id->event->event);
	EXPECT_NE(NULL, self->id->verbs);
}

TEST_F(mode, connected_and_then_watched)
{
	struct rdma_cm_id *client, *child;
	struct taker taker;

	client = client_connect(self->channel, ADDR1, self->port, 1);
	ASSERT_NE(NULL, client);
	test_ok(rdma_get_request(self->listener, &child));
	taker_start(&taker, self->channel, RDMA_CM_EVENT_ESTABLISHED);
	test_ok(child_accept(child, 2));
	test_ok(taker_end(&taker));
	test_ok(rdma_migrate_id(child, self->channel));
	test_ok(rdma_disconnect(client));
	test_ok(event_take(self->channel, RDMA_CM_EVENT_DISCONNECTED));
	test_ok(rdma_disconnect(child));
	test_ok(event_take(self->channel, RDMA_CM_EVENT_DISCONNECTED));
	id_close(child);
	id_close(client);
}

TEST_F(mode, request_goes_synchronous_and_then_to_a_worker)
{
	struct rdma_event_channel *worker = rdma_create_event_channel();
	struct rdma_cm_event *request;
	struct rdma_cm_id *client, *child;
	struct taker taker;

	test_ok(rdma_migrate_id(self->listener, self->channel));
	client = client_connect(worker, ADDR1, self->port, 1);
	ASSERT_NE(NULL, client);
	test_ok(event_expect(self->channel, RDMA_CM_EVENT_CONNECT_REQUEST, &request));
	child = request->id;
	test_ok(rdma_migrate_id(child, NULL));
	test_ok(rdma_ack_cm_event(request));
	taker_start(&taker, worker, RDMA_CM_EVENT_ESTABLISHED);
	test_ok(child_accept(child, 2));
	EXPECT_EQ(RDMA_CM_EVENT_ESTABLISHED, child->event->event);
	test_ok(taker_end(&taker));
	test_ok(rdma_migrate_id(child, worker));
	test_ok(rdma_disconnect(child));
	test_ok(event_take(worker, RDMA_CM_EVENT_DISCONNECTED));
	test_ok(rdma_disconnect(client));
	test_ok(event_take(worker, RDMA_CM_EVENT_DISCONNECTED));
	id_close(child);
	id_close(client);
	rdma_destroy_event_channel(worker);
}

TEST_HARNESS_MAIN
