// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completion queues that an id gets with its queue pair, or its shared receive
 * queue, if the user brings none.  Each has a completion channel, and its
 * context is the id: that is what <rdma/rdma_verbs.h> relies on.
 *
 * The caller holds the id's qp_lock.
 */
#include "cmx.h"

static void destroy(struct ibv_cq **cq, struct ibv_comp_channel **channel)
{
	if (*cq)
		ibv_destroy_cq(*cq);
	if (*channel)
		ibv_destroy_comp_channel(*channel);
	*cq = NULL;
	*channel = NULL;
}

static int create(struct rdma_cm_id *id, uint32_t size, struct ibv_cq **cq,
		  struct ibv_comp_channel **channel)
{
	if (!size)
		return 0;
	*channel = ibv_create_comp_channel(id->verbs);
	if (!*channel)
		return -1;
	*cq = ibv_create_cq(id->verbs, size, id, *channel, 0);
	return *cq ? 0 : -1;
}

/**
 * cmx_cqs_create - create an id's completion queues
 * @id: the id
 * @send_size: entries of the one for sends, 0 for none
 * @recv_size: entries of the one for receives, 0 for none
 *
 * On an error the id has none at all.
 */
int cmx_cqs_create(struct rdma_cm_id *id, uint32_t send_size,
		   uint32_t recv_size)
{
	if (!create(id, recv_size, &id->recv_cq, &id->recv_cq_channel) &&
	    !create(id, send_size, &id->send_cq, &id->send_cq_channel))
		return 0;
	cmx_cqs_destroy(id);
	return -1;
}

/**
 * cmx_cqs_destroy - destroy an id's completion queues
 * @id: the id
 *
 * That a shared receive queue of XRC completes to stays with it.  Keeps errno.
 */
void cmx_cqs_destroy(struct rdma_cm_id *id)
{
	int saved = errno;

	if (id->qp_type == IBV_QPT_XRC_RECV && id->srq)
		return;
	/* One of the user's may serve both directions. */
	if (id->send_cq == id->recv_cq)
		id->send_cq = NULL;
	if (id->send_cq_channel == id->recv_cq_channel)
		id->send_cq_channel = NULL;
	destroy(&id->recv_cq, &id->recv_cq_channel);
	destroy(&id->send_cq, &id->send_cq_channel);
	errno = saved;
}
