// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * How programs and libraries that exist use migration and channels, by the
 * public interface of librdmacm.
 */
#include <pthread.h>
#include <string.h>

#include "lib_scene.h"
#include "test.h"

FIXTURE(usage) {
	struct rdma_event_channel *server;
	struct rdma_event_channel *client;
	struct rdma_event_channel *worker;
	struct rdma_cm_id *listener;
	struct rdma_cm_id *id;
	struct rdma_cm_event *request;
	struct rdma_cm_id *child;
};

/* With a request that was read and not yet acknowledged. */
FIXTURE_SETUP(usage)
{
	self->server = rdma_create_event_channel();
	self->client = rdma_create_event_channel();
	self->worker = rdma_create_event_channel();
	ASSERT_NE(NULL, self->server);
	ASSERT_NE(NULL, self->client);
	ASSERT_NE(NULL, self->worker);
	self->listener = listener_open(self->server, ADDR1, 4);
	ASSERT_NE(NULL, self->listener);
	self->id = client_connect(self->client, ADDR1, listener_port(self->listener), 1);
	ASSERT_NE(NULL, self->id);
	test_ok(event_expect(self->server, RDMA_CM_EVENT_CONNECT_REQUEST, &self->request));
	self->child = self->request->id;
}

FIXTURE_TEARDOWN(usage)
{
	if (self->server)
		rdma_destroy_event_channel(self->server);
	rdma_destroy_event_channel(self->client);
	rdma_destroy_event_channel(self->worker);
}

/* The child speaks on the worker's channel until its end. */
#define TEST_LIFE_ON_WORKER() do {					\
	test_ok(event_take(self->client, RDMA_CM_EVENT_ESTABLISHED));	\
	test_ok(event_take(self->worker, RDMA_CM_EVENT_ESTABLISHED));	\
	EXPECT_EQ(self->worker, self->child->channel);			\
	test_ok(rdma_disconnect(self->id));				\
	test_ok(event_take(self->worker, RDMA_CM_EVENT_DISCONNECTED));	\
	test_ok(rdma_disconnect(self->child));				\
	test_ok(event_take(self->client, RDMA_CM_EVENT_DISCONNECTED));	\
	id_close(self->id);						\
	id_close(self->child);						\
} while (0)

TEST_F(usage, child_in_the_handler_of_its_request)
{
	test_ok(rdma_migrate_id(self->child, self->worker));
	test_ok(rdma_ack_cm_event(self->request));
	test_ok(child_accept(self->child, 2));
	TEST_LIFE_ON_WORKER();
	id_close(self->listener);
}

TEST_F(usage, child_after_accepting_it)
{
	test_ok(child_accept(self->child, 2));
	test_ok(rdma_ack_cm_event(self->request));
	test_ok(rdma_migrate_id(self->child, self->worker));
	TEST_LIFE_ON_WORKER();
	id_close(self->listener);
}

TEST_F(usage, listener_and_its_channel_go_and_the_children_stay)
{
	test_ok(rdma_migrate_id(self->child, self->worker));
	test_ok(rdma_ack_cm_event(self->request));
	id_close(self->listener);
	rdma_destroy_event_channel(self->server);
	self->server = NULL;
	test_ok(child_accept(self->child, 2));
	TEST_LIFE_ON_WORKER();
}

TEST_F(usage, private_channel_goes_at_once)
{
	struct rdma_event_channel *private = self->client;

	self->client = rdma_create_event_channel();
	ASSERT_NE(NULL, self->client);
	test_ok(rdma_migrate_id(self->id, self->client));
	rdma_destroy_event_channel(private);
	test_ok(rdma_migrate_id(self->child, self->worker));
	test_ok(rdma_ack_cm_event(self->request));
	test_ok(child_accept(self->child, 2));
	TEST_LIFE_ON_WORKER();
	id_close(self->listener);
}

/* What the server learns depends on who was first; it can end it all the same. */
TEST_F(usage, client_gives_up_while_the_server_accepts)
{
	id_close(self->id);
	test_ok(rdma_ack_cm_event(self->request));
	if (!child_accept(self->child, 2))
		EXPECT_TRUE(event_comes(self->server));
	id_close(self->child);
	id_close(self->listener);
	EXPECT_FALSE(event_there(self->server));
}

/* The library learns of the device with the event; until then there is none. */
TEST(route_of_an_id_whose_address_event_is_unread)
{
	struct sockaddr_in dst = { .sin_family = AF_INET, .sin_port = htons(7),
				   .sin_addr.s_addr = htonl(0xc0000201) };
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;

	ASSERT_NE(NULL, channel);
	test_ok(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	test_ok(rdma_resolve_addr(id, NULL, (struct sockaddr *)&dst, 2000));
	ASSERT_TRUE(event_comes(channel));
	test_ok(rdma_resolve_route(id, 2000));
	test_ok(event_take(channel, RDMA_CM_EVENT_ADDR_RESOLVED));
	test_ok(event_take(channel, RDMA_CM_EVENT_ROUTE_RESOLVED));
	EXPECT_NE(NULL, id->verbs);
	test_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

#define THREADS 8

static void *create_and_destroy(void *channel)
{
	struct rdma_cm_id *id;

	for (unsigned int i = 0; i < scaled(200); i++) {
		if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
			return "rdma_create_id";
		if (rdma_destroy_id(id))
			return "rdma_destroy_id";
	}
	return NULL;
}

TEST(eight_threads_create_and_destroy)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	pthread_t threads[THREADS];
	void *failed;

	ASSERT_NE(NULL, channel);
	for (int i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, create_and_destroy, channel));
	for (int i = 0; i < THREADS; i++) {
		ASSERT_EQ(0, pthread_join(threads[i], &failed));
		EXPECT_EQ(NULL, failed);
	}
	rdma_destroy_event_channel(channel);
}

TEST_HARNESS_MAIN
