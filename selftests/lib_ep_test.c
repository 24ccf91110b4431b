// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Endpoints and shared receive queues: the functions of <rdma/rdma_verbs.h> on
 * what rdma_create_ep() and rdma_get_request() make.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <rdma/rdma_verbs.h>

#include "lib_scene.h"
#include "test.h"

enum { SIZE = 16 };

static const struct ibv_qp_init_attr qp_attr = {
	.cap = {
		.max_send_wr = 2,
		.max_recv_wr = 2,
		.max_send_sge = 1,
		.max_recv_sge = 1,
	},
	.sq_sig_all = 1,
};

/* An active endpoint whose calls wait for the passive one: in a thread. */
struct client {
	pthread_t thread;
	struct rdma_cm_id *id;
	bool connected;
	int ret;
	int error;
};

FIXTURE(ep) {
	struct rdma_cm_id *listener;
	struct client client;
	char port[8];
};

static int endpoint_open(struct rdma_cm_id **id, const char *port, int flags,
			 struct ibv_qp_init_attr *attr)
{
	struct rdma_addrinfo hints = { .ai_flags = flags, .ai_port_space = RDMA_PS_TCP };
	struct rdma_addrinfo *res;
	int ret, err;

	ret = rdma_getaddrinfo(ADDR1, port, &hints, &res);
	if (ret)
		return ret;
	ret = rdma_create_ep(id, res, NULL, attr);
	err = errno;
	rdma_freeaddrinfo(res);
	errno = err;
	return ret;
}

static int listener_endpoint(struct rdma_cm_id **listener, char *port,
			     struct ibv_qp_init_attr *attr)
{
	if (endpoint_open(listener, "0", RAI_PASSIVE, attr) ||
	    rdma_listen(*listener, 4))
		return -1;
	sprintf(port, "%d", listener_port(*listener));
	return 0;
}

static void *client_run(void *argument)
{
	struct client *client = argument;

	client->ret = client->connected ? rdma_disconnect(client->id) :
					  rdma_connect(client->id, NULL);
	client->error = errno;
	return NULL;
}

static int client_start(struct client *client, const char *port)
{
	struct ibv_qp_init_attr attr = qp_attr;

	if (endpoint_open(&client->id, port, 0, &attr))
		return -1;
	return pthread_create(&client->thread, NULL, client_run, client);
}

static int client_join(struct client *client)
{
	pthread_join(client->thread, NULL);
	client->connected = !client->ret;
	errno = client->error;
	return client->ret;
}

/* Both ends. */
static int disconnect(struct client *client, struct rdma_cm_id *id)
{
	int ret;

	pthread_create(&client->thread, NULL, client_run, client);
	ret = rdma_disconnect(id);
	return client_join(client) ?: ret;
}

FIXTURE_SETUP(ep)
{
	struct ibv_qp_init_attr attr = qp_attr;

	test_ok(listener_endpoint(&self->listener, self->port, &attr));
	test_ok(client_start(&self->client, self->port));
}

FIXTURE_TEARDOWN(ep)
{
	rdma_destroy_ep(self->client.id);
	rdma_destroy_ep(self->listener);
}

/* Accept, have the client send a message, disconnect. */
static void pass_message(struct __test_metadata *_metadata,
			 FIXTURE_DATA(ep) *self, struct rdma_cm_id *id)
{
	char sent[SIZE] = "fifteen letters", got[SIZE] = "";
	struct rdma_cm_id *client = self->client.id;
	struct ibv_mr *send_mr, *recv_mr;
	struct ibv_wc wc;

	recv_mr = rdma_reg_msgs(id, got, SIZE);
	ASSERT_NE(NULL, recv_mr);
	test_ok(rdma_post_recv(id, NULL, got, SIZE, recv_mr));
	test_ok(rdma_accept(id, NULL));
	test_ok(client_join(&self->client));
	send_mr = rdma_reg_msgs(client, sent, SIZE);
	ASSERT_NE(NULL, send_mr);
	test_ok(rdma_post_send(client, NULL, sent, SIZE, send_mr, 0));
	ASSERT_EQ(1, rdma_get_send_comp(client, &wc));
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
	ASSERT_EQ(1, rdma_get_recv_comp(id, &wc));
	EXPECT_EQ(IBV_WC_SUCCESS, wc.status);
	EXPECT_EQ(0, memcmp(sent, got, SIZE));
	test_ok(disconnect(&self->client, id));
	test_ok(rdma_dereg_mr(send_mr));
	test_ok(rdma_dereg_mr(recv_mr));
}

TEST_F(ep, message_goes_through)
{
	struct rdma_cm_id *id;

	test_ok(rdma_get_request(self->listener, &id));
	ASSERT_NE(NULL, id->qp);
	ASSERT_NE(NULL, id->recv_cq_channel);
	ASSERT_NE(NULL, self->client.id->send_cq_channel);
	EXPECT_NE(id->qp->recv_cq, id->qp->send_cq);
	pass_message(_metadata, self, id);
	rdma_destroy_ep(id);
}

TEST_F(ep, shared_receive_queue_serves_its_queue_pairs)
{
	struct ibv_srq_init_attr srq_attr = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_qp_init_attr attr = qp_attr;
	struct rdma_cm_id *id;

	test_ok(rdma_get_request(self->listener, &id));
	rdma_destroy_qp(id);
	EXPECT_EQ(NULL, id->recv_cq);
	test_ok(rdma_create_srq(id, NULL, &srq_attr));
	ASSERT_NE(NULL, id->srq);
	EXPECT_EQ(id->pd, id->srq->pd);
	attr.qp_type = IBV_QPT_RC;
	test_ok(rdma_create_qp(id, NULL, &attr));
	EXPECT_EQ(id->srq, id->qp->srq);
	pass_message(_metadata, self, id);
	rdma_destroy_ep(id);
}

TEST_F(ep, kinds_of_shared_receive_queues)
{
	struct ibv_srq_init_attr_ex attr = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct rdma_cm_id *id;

	test_ok(rdma_get_request(self->listener, &id));
	test_err(EINVAL, rdma_create_srq_ex(id, &attr));
	attr.comp_mask = IBV_SRQ_INIT_ATTR_TYPE;
	attr.srq_type = IBV_SRQT_XRC;
	/* Beyond soft-RoCE; nothing is left of it. */
	test_err(EOPNOTSUPP, rdma_create_srq_ex(id, &attr));
	EXPECT_EQ(NULL, id->srq);
	attr.srq_type = IBV_SRQT_BASIC;
	test_ok(rdma_create_srq_ex(id, &attr));
	rdma_destroy_srq(id);
	EXPECT_EQ(NULL, id->srq);
	EXPECT_NE(NULL, id->recv_cq);
	test_ok(rdma_accept(id, NULL));
	test_ok(client_join(&self->client));
	test_ok(disconnect(&self->client, id));
	rdma_destroy_ep(id);
}

/* The domain is the program's, and stays when the queue pair goes. */
TEST_F(ep, queue_pair_of_extended_attributes)
{
	struct ibv_qp_init_attr_ex attr = {
		.cap = qp_attr.cap,
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
	};
	struct rdma_cm_id *id;
	struct ibv_pd *pd;

	test_ok(rdma_get_request(self->listener, &id));
	rdma_destroy_qp(id);
	pd = ibv_alloc_pd(id->verbs);
	ASSERT_NE(NULL, pd);
	attr.pd = pd;
	test_ok(rdma_create_qp_ex(id, &attr));
	EXPECT_EQ(pd, id->qp->pd);
	EXPECT_EQ(pd, id->pd);
	EXPECT_LE(2, attr.cap.max_recv_wr);
	EXPECT_EQ(id->recv_cq, attr.recv_cq);
	pass_message(_metadata, self, id);
	rdma_destroy_ep(id);
	test_ok(ibv_dealloc_pd(pd));
}

TEST_F(ep, rejected_request)
{
	struct rdma_cm_id *id;

	test_ok(rdma_get_request(self->listener, &id));
	test_ok(rdma_reject(id, NULL, 0));
	rdma_destroy_ep(id);
	EXPECT_EQ(-1, client_join(&self->client));
	EXPECT_EQ(ECONNREFUSED, errno);
}

/* A listener with more than a device can do: the request is refused. */
TEST(request_whose_queue_pair_cannot_be)
{
	struct ibv_qp_init_attr attr = qp_attr;
	struct rdma_cm_id *listener, *id;
	struct client client = { 0 };
	char port[8];

	attr.cap.max_send_wr = 1 << 30;
	test_ok(listener_endpoint(&listener, port, &attr));
	test_ok(client_start(&client, port));
	ASSERT_EQ(-1, rdma_get_request(listener, &id));
	EXPECT_EQ(-1, client_join(&client));
	EXPECT_EQ(ECONNREFUSED, errno);
	rdma_destroy_ep(client.id);
	rdma_destroy_ep(listener);
}

TEST(listener_without_attributes_makes_no_queue_pairs)
{
	struct rdma_conn_param param = { .qp_num = 1 };
	struct rdma_cm_id *listener, *id;
	struct client client = { 0 };
	char port[8];

	test_ok(listener_endpoint(&listener, port, NULL));
	test_ok(client_start(&client, port));
	test_ok(rdma_get_request(listener, &id));
	EXPECT_EQ(NULL, id->qp);
	test_err(EINVAL, rdma_accept(id, NULL));
	test_ok(rdma_reject(id, &param, sizeof(param)));
	EXPECT_EQ(-1, client_join(&client));
	rdma_destroy_ep(id);
	rdma_destroy_ep(client.id);
	rdma_destroy_ep(listener);
}

/* What the resolver says goes before what the user says. */
TEST(private_data_of_the_endpoint_comes_first)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP };
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *listener = listener_open(channel, ADDR1, 4);
	struct ibv_qp_init_attr attr = qp_attr;
	char first[] = "first", second[] = "second", port[8];
	struct rdma_conn_param param = { .private_data = second, .private_data_len = 7 };
	struct rdma_addrinfo *res;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	sprintf(port, "%d", listener_port(listener));
	test_ok(rdma_getaddrinfo(ADDR1, port, &hints, &res));
	res->ai_connect = first;
	res->ai_connect_len = 5;
	test_ok(rdma_create_ep(&id, res, NULL, &attr));
	res->ai_connect = NULL;
	rdma_freeaddrinfo(res);
	test_ok(rdma_migrate_id(id, channel));
	test_ok(rdma_connect(id, &param));
	test_ok(event_expect(channel, RDMA_CM_EVENT_CONNECT_REQUEST, &event));
	EXPECT_EQ(0, memcmp("firstsecond", event->param.conn.private_data, 12));
	test_ok(rdma_destroy_id(event->id));
	test_ok(rdma_ack_cm_event(event));
	rdma_destroy_ep(id);
	rdma_destroy_ep(listener);
	rdma_destroy_event_channel(channel);
}

TEST(endpoint_without_addresses)
{
	struct rdma_addrinfo res = { .ai_port_space = RDMA_PS_TCP, .ai_qp_type = IBV_QPT_RC };
	struct rdma_cm_id *id;

	test_err(EINVAL, rdma_create_ep(&id, &res, NULL, NULL));
	res.ai_flags = RAI_PASSIVE;
	test_err(EINVAL, rdma_create_ep(&id, &res, NULL, NULL));
	res.ai_port_space = 4711;
	test_err(EINVAL, rdma_create_ep(&id, &res, NULL, NULL));
}

TEST_HARNESS_MAIN
