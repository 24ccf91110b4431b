// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections whose queue pairs are the program's own business: what the ends
 * agree on by ECE options, and rdma_establish().
 */
#include <errno.h>
#include <unistd.h>

#include "lib_scene.h"
#include "test.h"

/* A vendor's number means nothing to the connection manager. */
static const struct ibv_ece none, offer = { .vendor_id = 0x15b3, .options = 0x1001 };
static const struct ibv_ece answer = { .vendor_id = 0x15b3, .options = 0x1 };

/* Consumer reject, because of the vendor's options. */
enum { OPTIONS_REJECTED = 35 };

FIXTURE(ece) {
	struct rdma_event_channel *server;
	struct rdma_event_channel *client;
	struct rdma_cm_id *listener;
	struct rdma_cm_id *id;
	struct rdma_cm_id *child;
};

FIXTURE_VARIANT(ece) {
	bool synchronous;
};

FIXTURE_VARIANT_ADD(ece, listening_asynchronously) { false };
FIXTURE_VARIANT_ADD(ece, listening_synchronously) { true };

FIXTURE_SETUP(ece)
{
	self->server = rdma_create_event_channel();
	self->client = rdma_create_event_channel();
	ASSERT_NE(NULL, self->server);
	ASSERT_NE(NULL, self->client);
	self->listener = listener_open(variant->synchronous ? NULL : self->server, ADDR1, 1);
	ASSERT_NE(NULL, self->listener);
	self->id = client_resolved(self->client, ADDR1, listener_port(self->listener));
	ASSERT_NE(NULL, self->id);
}

FIXTURE_TEARDOWN(ece)
{
	id_close(self->child);
	id_close(self->id);
	id_close(self->listener);
	rdma_destroy_event_channel(self->server);
	rdma_destroy_event_channel(self->client);
}

/* rdma_cm refuses a number that a connection has, or had lately. */
static struct rdma_conn_param own_queue_pair(void)
{
	static unsigned int next;

	return (struct rdma_conn_param){
		.qp_num = ((unsigned int)getpid() * 4096 + next++) & 0xffffff,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};
}

static int set_local(struct rdma_cm_id *id, struct ibv_ece ece)
{
	return rdma_set_local_ece(id, &ece);
}

/* Which must be these. */
static int expect_remote(struct rdma_cm_id *id, const struct ibv_ece *expected)
{
	struct ibv_ece ece = { 0 };

	if (rdma_get_remote_ece(id, &ece))
		return -1;
	errno = EPROTO;
	return ece.vendor_id == expected->vendor_id && ece.options == expected->options ? 0 : -1;
}

/* Of an id that may be synchronous, which is then to go on otherwise. */
static int take_request(struct rdma_cm_id *listener, struct rdma_event_channel *channel,
			struct rdma_cm_id **child)
{
	struct rdma_cm_event *event;

	if (listener->channel != channel)
		return rdma_get_request(listener, child) ||
		       rdma_migrate_id(*child, channel) ? -1 : 0;
	if (event_expect(channel, RDMA_CM_EVENT_CONNECT_REQUEST, &event))
		return -1;
	*child = event->id;
	return rdma_ack_cm_event(event);
}

TEST_F(ece, goes_both_ways)
{
	struct rdma_conn_param ours = own_queue_pair(), theirs = own_queue_pair();

	test_ok(set_local(self->id, offer));
	test_ok(rdma_connect(self->id, &ours));
	test_ok(take_request(self->listener, self->server, &self->child));
	test_ok(expect_remote(self->child, &offer));
	test_ok(set_local(self->child, answer));
	test_ok(rdma_accept(self->child, &theirs));
	test_ok(event_take(self->client, RDMA_CM_EVENT_CONNECT_RESPONSE));
	test_ok(expect_remote(self->id, &answer));
	test_ok(rdma_establish(self->id));
	test_ok(event_take(self->server, RDMA_CM_EVENT_ESTABLISHED));
	test_ok(rdma_disconnect(self->id));
	test_ok(event_take(self->server, RDMA_CM_EVENT_DISCONNECTED));
}

TEST_F(ece, none_is_none)
{
	struct rdma_conn_param ours = own_queue_pair(), theirs = own_queue_pair();

	test_ok(rdma_connect(self->id, &ours));
	test_ok(take_request(self->listener, self->server, &self->child));
	test_ok(expect_remote(self->child, &none));
	test_ok(rdma_accept(self->child, &theirs));
	test_ok(event_take(self->client, RDMA_CM_EVENT_CONNECT_RESPONSE));
	test_ok(expect_remote(self->id, &none));
	test_ok(rdma_establish(self->id));
	test_ok(event_take(self->server, RDMA_CM_EVENT_ESTABLISHED));
}

TEST_F(ece, is_rejected)
{
	struct rdma_conn_param ours = own_queue_pair();
	struct rdma_cm_event *event;

	test_ok(set_local(self->id, offer));
	test_ok(rdma_connect(self->id, &ours));
	test_ok(take_request(self->listener, self->server, &self->child));
	test_ok(expect_remote(self->child, &offer));
	test_ok(rdma_reject_ece(self->child, &offer.vendor_id, sizeof(offer.vendor_id)));
	test_ok(event_expect(self->client, RDMA_CM_EVENT_REJECTED, &event));
	EXPECT_EQ(OPTIONS_REJECTED, event->status);
	EXPECT_EQ(offer.vendor_id, event_tag(event));
	test_ok(rdma_ack_cm_event(event));
}

/* What a device in software cannot do is not offered; the connection is made. */
TEST_F(ece, of_queue_pairs_that_have_none)
{
	test_ok(qp_create(self->id));
	test_err(EINVAL, set_local(self->id, offer));
	test_ok(client_request(self->id, 1));
	test_ok(take_request(self->listener, self->server, &self->child));
	test_ok(expect_remote(self->child, &none));
	test_ok(child_accept(self->child, 2));
	test_ok(event_take(self->client, RDMA_CM_EVENT_ESTABLISHED));
	test_ok(event_take(self->server, RDMA_CM_EVENT_ESTABLISHED));
}

TEST_HARNESS_MAIN
