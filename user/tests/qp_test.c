// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Queue pairs of ids, in a program that has names and objects of its own.
 */
#include <errno.h>

#include <rdma/rdma_cmx.h>

#include "lib_scene.h"
#include "test.h"

/*
 * A program may have a function of this name: what the library calls itself is
 * its own.
 */
int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *qp_attr,
		      int *qp_attr_mask)
{
	(void)id;
	(void)qp_attr;
	(void)qp_attr_mask;
	errno = EDOM;
	return -1;
}

FIXTURE(qp)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
};

FIXTURE_SETUP(qp)
{
	self->channel = rdma_create_event_channel();
	ASSERT_NE(NULL, self->channel);
	self->id = client_resolved(self->channel, ADDR1, 7471);
	ASSERT_NE(NULL, self->id);
}

FIXTURE_TEARDOWN(qp)
{
	test_ok(rdma_destroy_id(self->id));
	rdma_destroy_event_channel(self->channel);
}

static int create(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 1,
			 .max_recv_wr = 1,
			 .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	return rdma_create_qp(id, NULL, &attr);
}

TEST_F(qp, is_created_again)
{
	test_ok(create(self->id));
	ASSERT_NE(NULL, self->id->qp);
	test_err(EINVAL, create(self->id));
	rdma_destroy_qp(self->id);
	ASSERT_EQ(NULL, self->id->qp);
	ASSERT_EQ(NULL, self->id->send_cq);
	test_ok(create(self->id));
	rdma_destroy_qp(self->id);
}

/* Completion queues that the user put into the id go with the queue pair. */
TEST_F(qp, one_completion_queue_serves_both)
{
	struct rdma_cm_id *id = self->id;

	id->send_cq = ibv_create_cq(id->verbs, 4, NULL, NULL, 0);
	id->recv_cq = id->send_cq;
	ASSERT_NE(NULL, id->recv_cq);
	test_ok(create(id));
	ASSERT_EQ(id->send_cq, id->qp->recv_cq);
	rdma_destroy_qp(id);
	ASSERT_EQ(NULL, id->send_cq);
	ASSERT_EQ(NULL, id->recv_cq);
}

TEST_HARNESS_MAIN
