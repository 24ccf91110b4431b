// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Queue pairs of ids, in a program that has names and objects of its own.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

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

/*
 * Before libibverbs' own: the modification of a queue pair can be held up, and
 * it is seen whether it is destroyed meanwhile.
 */
static _Atomic bool hold, held, destroyed_under_it;
static _Atomic int modified;

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	__typeof__(ibv_modify_qp) *real = dlsym(RTLD_NEXT, "ibv_modify_qp");
	int ret;

	modified++;
	held = hold;
	while (hold)
		usleep(1000);
	ret = real(qp, attr, mask);
	held = false;
	return ret;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	__typeof__(ibv_destroy_qp) *real = dlsym(RTLD_NEXT, "ibv_destroy_qp");

	if (held)
		destroyed_under_it = true;
	return real(qp);
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

/* A client that was refused, and has not read it yet. */
FIXTURE(refused)
{
	struct rdma_event_channel *servers;
	struct rdma_event_channel *clients;
	struct rdma_cm_id *listener;
	struct rdma_cm_id *client;
};

FIXTURE_SETUP(refused)
{
	struct rdma_cm_event *event;

	self->servers = rdma_create_event_channel();
	ASSERT_NE(NULL, self->servers);
	self->clients = rdma_create_event_channel();
	ASSERT_NE(NULL, self->clients);
	self->listener = listener_open(self->servers, ADDR1, 1);
	ASSERT_NE(NULL, self->listener);
	self->client = client_connect(self->clients, ADDR1,
				      listener_port(self->listener), 1);
	ASSERT_NE(NULL, self->client);
	test_ok(event_expect(self->servers, RDMA_CM_EVENT_CONNECT_REQUEST, &event));
	test_ok(rdma_reject(event->id, NULL, 0));
	test_ok(rdma_destroy_id(event->id));
	test_ok(rdma_ack_cm_event(event));
	ASSERT_TRUE(event_comes(self->clients));
}

FIXTURE_TEARDOWN(refused)
{
	EXPECT_EQ(0, rdma_destroy_id(self->client));
	EXPECT_EQ(0, rdma_destroy_id(self->listener));
	rdma_destroy_event_channel(self->servers);
	rdma_destroy_event_channel(self->clients);
}

static _Atomic int destroyer;

static void *destroy_qp(void *id)
{
	destroyer = gettid();
	rdma_destroy_qp(id);
	return NULL;
}

/* Whether the thread waits for something, or has gone. */
static bool is_idle(int tid)
{
	char path[64], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	file = fopen(path, "r");
	if (!file)
		return true;
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(file);
	return state == 'S';
}

/* The reader moves the queue pair to the error state, which is held up. */
TEST_F(refused, queue_pair_is_not_destroyed_while_it_is_modified)
{
	struct taker taker = { 0 };
	pthread_t thread;

	hold = true;
	taker_start(&taker, self->clients, RDMA_CM_EVENT_REJECTED);
	while (!held)
		usleep(1000);
	pthread_create(&thread, NULL, destroy_qp, self->client);
	while (!destroyer || !is_idle(destroyer))
		usleep(1000);
	EXPECT_NE(NULL, self->client->qp);
	hold = false;
	pthread_join(thread, NULL);
	test_ok(taker_end(&taker));
	EXPECT_FALSE(destroyed_under_it);
	EXPECT_EQ(NULL, self->client->qp);
}

TEST_F(refused, destroyed_queue_pair_is_not_modified)
{
	int before;

	rdma_destroy_qp(self->client);
	before = modified;
	test_ok(event_take(self->clients, RDMA_CM_EVENT_REJECTED));
	EXPECT_EQ(before, modified);
}

TEST_HARNESS_MAIN
