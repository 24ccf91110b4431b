// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Queue pairs of ids: creation, and their way through their states.
 *
 * Events move a queue pair, too, in the thread that reads them.  So whoever
 * looks at id->qp holds qp_lock, and rdma_destroy_qp() takes it to take the
 * queue pair away: a modify never meets a freed one.  (One that the user
 * destroys behind this library's back cannot be protected.)  The calls of
 * libibverbs under the lock may be cancellation points, so cancelling is off.
 */
#include <string.h>

#include "cmx.h"

/* Bits that kernels once used inside for RoCE; verbs has no names for them. */
#define CMX_QP_ATTR_INTERNAL 0x1e00000

/**
 * cmx_qp_lock - keep an id's queue pair from being destroyed
 * @id: the id
 *
 * Returns what cmx_qp_unlock() wants.
 */
int cmx_qp_lock(struct cmx_id *id)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&id->qp_lock);
	/* As table.c says, not by a store. */
	atomic_exchange(&id->qp_locked, true);
	return state;
}

/**
 * cmx_qp_unlock - end cmx_qp_lock()
 * @id: the id
 * @cancel_state: what cmx_qp_lock() returned
 *
 * Keeps errno.
 */
void cmx_qp_unlock(struct cmx_id *id, int cancel_state)
{
	pthread_mutex_unlock(&id->qp_lock);
	pthread_setcancelstate(cancel_state, NULL);
}

static void copy_qp_attr(const struct rdma_ucmx_qp_attr *source,
			 struct ibv_qp_attr *attr)
{
	attr->qp_state = source->qp_state;
	attr->cur_qp_state = source->cur_qp_state;
	attr->path_mtu = source->path_mtu;
	attr->path_mig_state = source->path_mig_state;
	attr->qkey = source->qkey;
	attr->rq_psn = source->rq_psn;
	attr->sq_psn = source->sq_psn;
	attr->dest_qp_num = source->dest_qp_num;
	attr->qp_access_flags = source->qp_access_flags;
	cmx_record_ah_attr(&source->ah_attr, &attr->ah_attr);
	cmx_record_ah_attr(&source->alt_ah_attr, &attr->alt_ah_attr);
	attr->cap.max_send_wr = source->max_send_wr;
	attr->cap.max_recv_wr = source->max_recv_wr;
	attr->cap.max_send_sge = source->max_send_sge;
	attr->cap.max_recv_sge = source->max_recv_sge;
	attr->cap.max_inline_data = source->max_inline_data;
	attr->pkey_index = source->pkey_index;
	attr->alt_pkey_index = source->alt_pkey_index;
	attr->en_sqd_async_notify = source->en_sqd_async_notify;
	attr->sq_draining = source->sq_draining;
	attr->max_rd_atomic = source->max_rd_atomic;
	attr->max_dest_rd_atomic = source->max_dest_rd_atomic;
	attr->min_rnr_timer = source->min_rnr_timer;
	attr->port_num = source->port_num;
	attr->timeout = source->timeout;
	attr->retry_cnt = source->retry_cnt;
	attr->rnr_retry = source->rnr_retry;
	attr->alt_port_num = source->alt_port_num;
	attr->alt_timeout = source->alt_timeout;
}

/**
 * rdma_init_qp_attr - say how to move a queue pair to a state
 * @id: the id
 * @qp_attr: with qp_state set, the state to go to; filled in
 * @qp_attr_mask: where to put which members hold
 *
 * As rdma_init_qp_attr(3), for a queue pair that is not the id's.
 *
 * errno: EINVAL (not a state, or not now).
 */
CMX_EXPORT int rdma_init_qp_attr(struct rdma_cm_id *id,
				 struct ibv_qp_attr *qp_attr, int *qp_attr_mask)
{
	struct cmx_id *own = cmx_id_of(id);
	struct rdma_ucmx_init_qp_attr command = {
		.size = sizeof(command),
		.id = atomic_load(&own->handle),
		.qp_state = qp_attr->qp_state,
	};

	if (cmx_id_command(own, RDMA_UCMX_INIT_QP_ATTR, &command) < 0)
		return -1;
	copy_qp_attr(&command.out_attr, qp_attr);
	*qp_attr_mask = command.out_attr.qp_attr_mask & ~CMX_QP_ATTR_INTERNAL;
	return 0;
}

static int modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	int ret = ibv_modify_qp(qp, attr, mask);

	return ret > 0 ? cmx_error(ret) : ret;
}

static int init_attr(struct cmx_id *id, enum ibv_qp_state state,
		     struct ibv_qp_attr *attr, int *mask)
{
	memset(attr, 0, sizeof(*attr));
	attr->qp_state = state;
	return rdma_init_qp_attr(&id->id, attr, mask);
}

static int move_to(struct cmx_id *id, struct ibv_qp *qp,
		   enum ibv_qp_state state)
{
	struct ibv_qp_attr attr;
	int mask;

	if (init_attr(id, state, &attr, &mask))
		return -1;
	return modify(qp, &attr, mask);
}

static int move_to_rtr(struct cmx_id *id, uint8_t responder_resources)
{
	struct ibv_qp_attr attr;
	int mask;

	if (init_attr(id, IBV_QPS_RTR, &attr, &mask))
		return -1;
	if (responder_resources != RDMA_MAX_RESP_RES)
		attr.max_dest_rd_atomic = responder_resources;
	return modify(id->id.qp, &attr, mask);
}

static int move_to_rts(struct cmx_id *id, uint8_t initiator_depth)
{
	struct ibv_qp_attr attr;
	int mask;

	if (init_attr(id, IBV_QPS_RTS, &attr, &mask))
		return -1;
	if (initiator_depth != RDMA_MAX_INIT_DEPTH)
		attr.max_rd_atomic = initiator_depth;
	return modify(id->id.qp, &attr, mask);
}

/* Take over the peer's ECE options; see what of them the device does. */
static void negotiate_ece(struct cmx_id *id)
{
	struct ibv_ece *local = &id->local_ece;

	memset(local, 0, sizeof(*local));
	if (id->remote_ece.vendor_id &&
	    (ibv_set_ece(id->id.qp, &id->remote_ece) ||
	     ibv_query_ece(id->id.qp, local)))
		memset(local, 0, sizeof(*local));
}

/**
 * cmx_qp_connect - make an id's queue pair ready to send
 * @id: the id; the caller holds the lock, and it has a queue pair
 * @responder_resources: as in struct rdma_conn_param; RDMA_MAX_RESP_RES stands
 *                       for what was negotiated
 * @initiator_depth: as well, RDMA_MAX_INIT_DEPTH
 */
int cmx_qp_connect(struct cmx_id *id, uint8_t responder_resources,
		   uint8_t initiator_depth)
{
	/* What was set at creation may be outdated. */
	if (move_to(id, id->id.qp, IBV_QPS_INIT))
		return -1;
	negotiate_ece(id);
	if (move_to_rtr(id, responder_resources))
		return -1;
	return move_to_rts(id, initiator_depth);
}

static int move_unasked(struct cmx_id *id, enum ibv_qp_state qp_state)
{
	struct ibv_qp_attr attr = { .qp_state = qp_state };
	int state = cmx_qp_lock(id);
	int ret = 0;

	if (id->id.qp)
		ret = modify(id->id.qp, &attr, IBV_QP_STATE);
	cmx_qp_unlock(id, state);
	return ret;
}

/**
 * cmx_qp_to_error - move an id's queue pair, if any, to the error state
 * @id: the id
 */
int cmx_qp_to_error(struct cmx_id *id)
{
	return move_unasked(id, IBV_QPS_ERR);
}

/**
 * cmx_qp_shut_down - have an id's queue pair, if any, send nothing more
 * @id: the id
 */
int cmx_qp_shut_down(struct cmx_id *id)
{
	struct ibv_context *verbs = id->id.verbs;

	if (verbs && verbs->device->transport_type == IBV_TRANSPORT_IWARP)
		return move_unasked(id, IBV_QPS_SQD);
	return move_unasked(id, IBV_QPS_ERR);
}

static int init_qp(struct cmx_id *id, struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };

	if (move_to(id, qp, IBV_QPS_INIT))
		return -1;
	if (!cmx_is_ud(id))
		return 0;
	if (modify(qp, &attr, IBV_QP_STATE))
		return -1;
	attr.qp_state = IBV_QPS_RTS;
	return modify(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
}

static bool qp_attr_fits(struct rdma_cm_id *id,
			 const struct ibv_qp_init_attr_ex *attr)
{
	return id->verbs && !id->qp &&
	       (!attr->pd || attr->pd->context == id->verbs) &&
	       (!id->recv_cq || !attr->recv_cq ||
		id->recv_cq == attr->recv_cq) &&
	       (!id->send_cq || !attr->send_cq || id->send_cq == attr->send_cq);
}

/* Only those of XRC can do without a completion queue. */
static bool has_cqs(const struct ibv_qp_init_attr_ex *attr)
{
	return attr->qp_type == IBV_QPT_XRC_SEND ||
	       attr->qp_type == IBV_QPT_XRC_RECV ||
	       (attr->send_cq && attr->recv_cq);
}

/* The receiving end of XRC belongs to a domain, the device's by default. */
static int put_xrcd(struct cmx_id *id, struct ibv_qp_init_attr_ex *attr)
{
	if (id->id.qp_type != IBV_QPT_XRC_RECV)
		return 0;
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_XRCD) || !attr->xrcd)
		attr->xrcd = cmx_device_xrcd(id);
	attr->comp_mask |= IBV_QP_INIT_ATTR_XRCD;
	return attr->xrcd ? 0 : -1;
}

/* Called with the lock held. */
static int create_qp(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp *qp;

	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD))
		attr->pd = NULL;
	attr->comp_mask |= IBV_QP_INIT_ATTR_PD;
	if (!qp_attr_fits(id, attr))
		return cmx_error(EINVAL);
	if (!attr->pd)
		attr->pd = id->pd;
	if (put_xrcd(cmx_id_of(id), attr) ||
	    cmx_cqs_create(id,
			   attr->send_cq || id->send_cq ?
				   0 : attr->cap.max_send_wr,
			   attr->recv_cq || id->recv_cq ?
				   0 : attr->cap.max_recv_wr))
		return -1;
	if (!attr->recv_cq)
		attr->recv_cq = id->recv_cq;
	if (!attr->send_cq)
		attr->send_cq = id->send_cq;
	if (!attr->srq)
		attr->srq = id->srq;
	errno = EINVAL;
	qp = has_cqs(attr) ? ibv_create_qp_ex(id->verbs, attr) : NULL;
	if (!qp)
		goto destroy_cqs;
	if (init_qp(cmx_id_of(id), qp))
		goto destroy_qp;
	id->pd = qp->pd;
	id->qp = qp;
	return 0;

destroy_qp:
	ibv_destroy_qp(qp);
destroy_cqs:
	cmx_cqs_destroy(id);
	return -1;
}

/* Whether some of what a queue pair is to have was not made for the id. */
static bool brings_objects(const struct rdma_cm_id *id,
			   const struct ibv_qp_init_attr_ex *attr)
{
	return attr->send_cq || attr->recv_cq || (attr->srq && attr->srq != id->srq) ||
	       (attr->comp_mask & IBV_QP_INIT_ATTR_PD && attr->pd &&
		attr->pd != id->pd) ||
	       (attr->comp_mask & IBV_QP_INIT_ATTR_XRCD && attr->xrcd);
}

/* Put back what create_qp() put there, some of which is destroyed by now. */
static void undo(struct ibv_qp_init_attr_ex *attr,
		 const struct ibv_qp_init_attr_ex *before)
{
	attr->comp_mask = before->comp_mask;
	attr->pd = before->pd;
	attr->xrcd = before->xrcd;
	attr->send_cq = before->send_cq;
	attr->recv_cq = before->recv_cq;
	attr->srq = before->srq;
}

/**
 * rdma_create_qp_ex - create a queue pair for an id
 * @id: an id bound to a device
 * @qp_init_attr: as with ibv_create_qp_ex(3); completed and filled in, of a
 *                success.  What has no protection domain or completion queue
 *                gets the id's, which are created if need be
 *
 * As rdma_create_qp(3).  Ready for posting receives, of an unconnected id for
 * sends too.  The queue pair belongs to the id until rdma_destroy_qp().
 *
 * errno: EINVAL (no device, it has a queue pair, an object is another device's,
 * or there is neither a completion queue nor work for one), and what
 * ibv_create_qp_ex(3) and ibv_modify_qp(3) say.
 */
CMX_EXPORT int rdma_create_qp_ex(struct rdma_cm_id *id,
				 struct ibv_qp_init_attr_ex *qp_init_attr)
{
	struct cmx_id *own = cmx_id_of(id);
	/* Not all of it: the caller's may be shorter than ours. */
	const struct ibv_qp_init_attr_ex before = {
		.comp_mask = qp_init_attr->comp_mask,
		.pd = qp_init_attr->pd,
		.xrcd = qp_init_attr->xrcd,
		.send_cq = qp_init_attr->send_cq,
		.recv_cq = qp_init_attr->recv_cq,
		.srq = qp_init_attr->srq,
	};
	int state = cmx_qp_lock(own);
	bool brings = brings_objects(id, qp_init_attr);
	int ret = create_qp(id, qp_init_attr);

	cmx_qp_unlock(own, state);
	if (ret)
		undo(qp_init_attr, &before);
	else if (brings)
		cmx_device_keep(own);
	return ret;
}

/**
 * rdma_create_qp - create a queue pair for an id
 * @id: an id bound to a device
 * @pd: protection domain of that device, or NULL for the default one
 * @qp_init_attr: as with ibv_create_qp(3); filled in
 *
 * As rdma_create_qp_ex().
 */
CMX_EXPORT int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd,
			      struct ibv_qp_init_attr *qp_init_attr)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_context = qp_init_attr->qp_context,
		.send_cq = qp_init_attr->send_cq,
		.recv_cq = qp_init_attr->recv_cq,
		.srq = qp_init_attr->srq,
		.cap = qp_init_attr->cap,
		.qp_type = qp_init_attr->qp_type,
		.sq_sig_all = qp_init_attr->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};

	if (rdma_create_qp_ex(id, &attr))
		return -1;
	qp_init_attr->send_cq = attr.send_cq;
	qp_init_attr->recv_cq = attr.recv_cq;
	qp_init_attr->srq = attr.srq;
	qp_init_attr->cap = attr.cap;
	return 0;
}

/**
 * rdma_destroy_qp - destroy an id's queue pair
 * @id: the id
 *
 * As rdma_destroy_qp(3).  Waits for an event of another thread that is moving
 * it.  It receives from no multicast group any more; these are left with
 * rdma_leave_multicast(), or with the id.
 */
CMX_EXPORT void rdma_destroy_qp(struct rdma_cm_id *id)
{
	struct cmx_id *own = cmx_id_of(id);
	int state = cmx_qp_lock(own);

	cmx_groups_detach(own);
	if (id->qp)
		ibv_destroy_qp(id->qp);
	id->qp = NULL;
	cmx_cqs_destroy(id);
	cmx_qp_unlock(own, state);
}
