// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Shared receive queues of ids.
 *
 * The id's qp_lock is held, as for the queue pair: both use the id's completion
 * queues.
 */
#include <rdma/rdma_verbs.h>

#include "cmx.h"

/* What an XRC queue needs, and the user did not bring. */
static int put_xrc(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr)
{
	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_XRCD) || !attr->xrcd)
		attr->xrcd = cmx_device_xrcd(cmx_id_of(id));
	if (!attr->xrcd)
		return -1;
	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_CQ) || !attr->cq) {
		if (!id->recv_cq && cmx_cqs_create(id, 0, attr->attr.max_wr))
			return -1;
		attr->cq = id->recv_cq;
	}
	attr->comp_mask |= IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
	return 0;
}

/* Called with the lock held. */
static int create_srq(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr)
{
	struct ibv_srq *srq;

	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) || id->srq || !id->verbs)
		return cmx_error(EINVAL);
	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) || !attr->pd)
		attr->pd = id->pd;
	attr->comp_mask |= IBV_SRQ_INIT_ATTR_PD;
	if (attr->srq_type == IBV_SRQT_XRC && put_xrc(id, attr))
		return -1;
	srq = ibv_create_srq_ex(id->verbs, attr);
	if (!srq) {
		if (!id->qp)
			cmx_cqs_destroy(id);
		return -1;
	}
	if (!id->pd)
		id->pd = attr->pd;
	id->srq = srq;
	return 0;
}

/* Whether some of what it is to have was not made for the id. */
static bool brings_objects(const struct rdma_cm_id *id,
			   const struct ibv_srq_init_attr_ex *attr)
{
	const uint32_t mask = attr->comp_mask;

	return (mask & IBV_SRQ_INIT_ATTR_PD && attr->pd && attr->pd != id->pd) ||
	       (mask & IBV_SRQ_INIT_ATTR_XRCD && attr->xrcd) ||
	       (mask & IBV_SRQ_INIT_ATTR_CQ && attr->cq && attr->cq != id->recv_cq);
}

/* Put back what create_srq() put there, some of which is destroyed by now. */
static void undo(struct ibv_srq_init_attr_ex *attr,
		 const struct ibv_srq_init_attr_ex *before)
{
	attr->comp_mask = before->comp_mask;
	attr->pd = before->pd;
	attr->xrcd = before->xrcd;
	attr->cq = before->cq;
}

/**
 * rdma_create_srq_ex - create a shared receive queue for an id
 * @id: an id bound to a device
 * @attr: as with ibv_create_srq_ex(3), with a type; completed and filled in, of a
 *        success.  What has no protection domain gets the id's; one of XRC gets the
 *        device's domain and a completion queue, too
 *
 * As rdma_create_srq(3).  It belongs to the id until rdma_destroy_srq(), and
 * queue pairs created for the id use it.
 *
 * errno: EINVAL (no type, no device, or it has one), EOPNOTSUPP (the device
 * cannot), and what ibv_create_srq_ex(3) says.
 */
CMX_EXPORT int rdma_create_srq_ex(struct rdma_cm_id *id,
				  struct ibv_srq_init_attr_ex *attr)
{
	struct cmx_id *own = cmx_id_of(id);
	/* Not all of it: the caller's may be shorter than ours. */
	const struct ibv_srq_init_attr_ex before = {
		.comp_mask = attr->comp_mask,
		.pd = attr->pd,
		.xrcd = attr->xrcd,
		.cq = attr->cq,
	};
	int state = cmx_qp_lock(own);
	bool brings = brings_objects(id, attr);
	int ret = create_srq(id, attr);

	cmx_qp_unlock(own, state);
	if (ret)
		undo(attr, &before);
	else if (brings)
		cmx_device_keep(own);
	return ret;
}

/**
 * rdma_create_srq - create a shared receive queue for an id
 * @id: an id bound to a device
 * @pd: protection domain of that device, or NULL for the default one
 * @attr: as with ibv_create_srq(3); filled in
 *
 * As rdma_create_srq_ex().
 */
CMX_EXPORT int rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd,
			       struct ibv_srq_init_attr *attr)
{
	struct ibv_srq_init_attr_ex attr_ex = {
		.srq_context = attr->srq_context,
		.attr = attr->attr,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = id->qp_type == IBV_QPT_XRC_RECV ? IBV_SRQT_XRC :
							      IBV_SRQT_BASIC,
		.pd = pd,
	};

	if (rdma_create_srq_ex(id, &attr_ex))
		return -1;
	attr->attr = attr_ex.attr;
	return 0;
}

/**
 * rdma_destroy_srq - destroy an id's shared receive queue
 * @id: the id, whose queue pair, if any, does not use it any more
 *
 * As rdma_destroy_srq(3).
 */
CMX_EXPORT void rdma_destroy_srq(struct rdma_cm_id *id)
{
	struct cmx_id *own = cmx_id_of(id);
	int state = cmx_qp_lock(own);

	if (id->srq)
		ibv_destroy_srq(id->srq);
	id->srq = NULL;
	if (!id->qp)
		cmx_cqs_destroy(id);
	cmx_qp_unlock(own, state);
}
