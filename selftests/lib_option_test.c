// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Options of which a queue pair is told, as ibv_query_qp(3) shows them.
 */
#include <errno.h>

#include "lib_scene.h"
#include "test.h"

enum { TIMEOUT = 7, OTHER_TIMEOUT = 9, TOS = 32 };

FIXTURE(option) {
	struct rdma_event_channel *servers;
	struct rdma_event_channel *clients;
	struct rdma_cm_id *listener;
	struct rdma_cm_id *client;
	struct rdma_cm_id *child;
};

FIXTURE_SETUP(option)
{
	self->servers = rdma_create_event_channel();
	ASSERT_NE(NULL, self->servers);
	self->clients = rdma_create_event_channel();
	ASSERT_NE(NULL, self->clients);
	self->listener = listener_open(self->servers, ADDR1, 1);
	ASSERT_NE(NULL, self->listener);
	self->client = client_resolved(self->clients, ADDR1,
				       listener_port(self->listener));
	ASSERT_NE(NULL, self->client);
	ASSERT_EQ(0, qp_create(self->client));
}

FIXTURE_TEARDOWN(option)
{
	id_close(self->client);
	if (self->child)
		id_close(self->child);
	id_close(self->listener);
	rdma_destroy_event_channel(self->servers);
	rdma_destroy_event_channel(self->clients);
}

static int set(struct rdma_cm_id *id, int option, uint8_t value)
{
	return rdma_set_option(id, RDMA_OPTION_ID, option, &value, sizeof(value));
}

static int requested(struct rdma_event_channel *channel, struct rdma_cm_id **child)
{
	struct rdma_cm_event *event;

	if (event_expect(channel, RDMA_CM_EVENT_CONNECT_REQUEST, &event))
		return -1;
	*child = event->id;
	return rdma_ack_cm_event(event);
}

/* -1 for none. */
static int timeout_of(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return ibv_query_qp(id->qp, &attr, IBV_QP_TIMEOUT, &init) ? -1 : attr.timeout;
}

static int traffic_class_of(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return ibv_query_qp(id->qp, &attr, IBV_QP_AV, &init) ?
		-1 : attr.ah_attr.grh.traffic_class;
}

/* Each end has its own; after ESTABLISHED nothing is changed by it any more. */
TEST_F(option, timeout_of_acknowledgements)
{
	test_ok(set(self->client, RDMA_OPTION_ID_ACK_TIMEOUT, TIMEOUT));
	test_ok(client_request(self->client, 1));
	test_ok(requested(self->servers, &self->child));
	test_ok(set(self->child, RDMA_OPTION_ID_ACK_TIMEOUT, OTHER_TIMEOUT));
	test_ok(child_accept(self->child, 1));
	test_ok(event_take(self->clients, RDMA_CM_EVENT_ESTABLISHED));
	test_ok(event_take(self->servers, RDMA_CM_EVENT_ESTABLISHED));
	EXPECT_EQ(TIMEOUT, timeout_of(self->client));
	EXPECT_EQ(OTHER_TIMEOUT, timeout_of(self->child));
	test_ok(set(self->child, RDMA_OPTION_ID_ACK_TIMEOUT, TIMEOUT));
	EXPECT_EQ(OTHER_TIMEOUT, timeout_of(self->child));
}

TEST_F(option, type_of_service)
{
	struct rdma_cm_id *id;

	test_ok(rdma_create_id(self->clients, &id, NULL, RDMA_PS_TCP));
	test_ok(set(id, RDMA_OPTION_ID_TOS, TOS));
	test_ok(rdma_resolve_addr(id, NULL, rdma_get_local_addr(self->listener),
				  10000));
	test_ok(event_take(self->clients, RDMA_CM_EVENT_ADDR_RESOLVED));
	test_ok(rdma_resolve_route(id, 10000));
	test_ok(event_take(self->clients, RDMA_CM_EVENT_ROUTE_RESOLVED));
	test_ok(qp_create(id));
	test_ok(client_request(id, 1));
	test_ok(requested(self->servers, &self->child));
	test_ok(set(self->child, RDMA_OPTION_ID_TOS, TOS));
	test_ok(child_accept(self->child, 1));
	test_ok(event_take(self->clients, RDMA_CM_EVENT_ESTABLISHED));
	EXPECT_EQ(TOS, traffic_class_of(id));
	id_close(id);
}

TEST_HARNESS_MAIN
