// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Commands: listening, connecting, accepting and the rest of a connection.
 */
#include <rdma/ib_cm.h>

#include "cm.h"
#include "ioctl.h"

/* Who listens first pays for the requests; nothing else ever sets it. */
static void ucmx_set_payer(struct ucmx_cm *cm)
{
	lockdep_assert_held(&cm->id.op_mutex);
	if (!cm->memcg)
		cm->memcg = get_mem_cgroup_from_mm(current->mm);
}

/**
 * ucmx_cmd_listen - accept requests
 * @cmd: struct rdma_ucmx_listen
 *
 * The backlog counts before the first request can arrive.
 *
 * Return: 0 or an error, see the uAPI header.
 */
int ucmx_cmd_listen(struct ucmx_cmd *cmd)
{
	struct rdma_ucmx_listen *arg = cmd->arg;
	u32 backlog = arg->backlog, max = READ_ONCE(ucmx_max_backlog);
	struct ucmx_cm *cm;
	u32 before;
	int err;

	if (arg->reserved)
		return -EINVAL;
	if (!backlog || backlog > max)
		backlog = max;
	cm = ucmx_cm_begin(cmd->channel, arg->id);
	if (IS_ERR(cm))
		return PTR_ERR(cm);
	ucmx_set_payer(cm);
	cm->talks = true;
	before = ucmx_id_set_backlog(&cm->id, backlog);
	err = rdma_listen(cm->cm_id, backlog);
	if (err)
		ucmx_id_set_backlog(&cm->id, before);
	ucmx_cm_end(cm);
	return err;
}

static void ucmx_get_conn_param(struct rdma_conn_param *dst,
				const struct rdma_ucmx_conn_param *src,
				const struct rdma_cm_id *cm_id)
{
	memset(dst, 0, sizeof(*dst));
	dst->private_data = src->private_data;
	dst->private_data_len = src->private_data_len;
	dst->responder_resources = src->responder_resources;
	dst->initiator_depth = src->initiator_depth;
	dst->flow_control = src->flow_control;
	dst->retry_count = src->retry_count;
	dst->rnr_retry_count = src->rnr_retry_count;
	dst->srq = src->srq;
	dst->qp_num = src->qp_num & 0xFFFFFF;
	dst->qkey = cm_id->qp_type == IB_QPT_UD ? src->qkey : 0;
}

static void ucmx_get_ece(struct rdma_ucm_ece *dst,
			 const struct rdma_ucmx_ece *src)
{
	dst->vendor_id = src->vendor_id;
	dst->attr_mod = src->attr_mod;
}

/* What may happen to a connection, but for the answer to a command. */
#define UCMX_CONNECTION_ROOMS	(BIT(UCMX_ROOM_UNREACHABLE) | \
				 BIT(UCMX_ROOM_REJECTED) | \
				 BIT(UCMX_ROOM_DISCONNECTED) | \
				 BIT(UCMX_ROOM_TIMEWAIT_EXIT))

/**
 * ucmx_cmd_connect - connect an id
 * @cmd: struct rdma_ucmx_connect
 *
 * Return: 0 or an error, see the uAPI header.
 */
int ucmx_cmd_connect(struct ucmx_cmd *cmd)
{
	struct rdma_ucmx_connect *arg = cmd->arg;
	struct rdma_conn_param conn_param;
	struct rdma_ucm_ece ece;
	struct ucmx_cm *cm;
	int err;

	if (!arg->conn_param.valid)
		return -EINVAL;
	cm = ucmx_cm_begin_device(cmd->channel, arg->id);
	if (IS_ERR(cm))
		return PTR_ERR(cm);
	err = ucmx_cm_make_rooms(cm, UCMX_CONNECTION_ROOMS |
				 BIT(UCMX_ROOM_CONNECT));
	if (err)
		goto end;
	ucmx_get_conn_param(&conn_param, &arg->conn_param, cm->cm_id);
	ucmx_get_ece(&ece, &arg->ece);
	cm->talks = true;
	err = rdma_connect_ece(cm->cm_id, &conn_param, &ece);
	if (err)
		ucmx_room_drop(&cm->id, UCMX_ROOM_CONNECT);
end:
	ucmx_cm_end(cm);
	return err;
}

/* rdma_cm wants its handler mutex held, and then the claim is in order, too. */
static int ucmx_accept_locked(struct ucmx_cm *cm,
			      const struct rdma_ucmx_accept *arg)
{
	struct rdma_conn_param conn_param;
	struct rdma_ucm_ece ece;
	bool valid = arg->conn_param.valid;
	int err;

	ucmx_get_conn_param(&conn_param, &arg->conn_param, cm->cm_id);
	ucmx_get_ece(&ece, &arg->ece);
	rdma_lock_handler(cm->cm_id);
	/* If that fails, rdma_cm has rejected. */
	WRITE_ONCE(cm->awaits, UCMX_ANSWER_NONE);
	err = rdma_accept_ece(cm->cm_id, valid ? &conn_param : NULL, &ece);
	if (!err)
		ucmx_id_claim(&cm->id, arg->cookie);
	rdma_unlock_handler(cm->cm_id);
	return err;
}

/**
 * ucmx_cmd_accept - accept a request, or confirm a response
 * @cmd: struct rdma_ucmx_accept
 *
 * The peer answers to the one, and not to the other.
 *
 * Return: 0 or an error, see the uAPI header.
 */
int ucmx_cmd_accept(struct ucmx_cmd *cmd)
{
	struct rdma_ucmx_accept *arg = cmd->arg;
	u32 answer = 0;
	struct ucmx_cm *cm;
	int err;

	cm = ucmx_cm_begin_answer(cmd->channel, arg->id);
	if (IS_ERR(cm))
		return PTR_ERR(cm);
	if (READ_ONCE(cm->awaits) == UCMX_ANSWER_REQUEST)
		answer = BIT(UCMX_ROOM_CONNECT);
	err = ucmx_cm_make_rooms(cm, UCMX_CONNECTION_ROOMS | answer);
	if (err)
		goto end;
	err = ucmx_accept_locked(cm, arg);
	if (err && answer)
		ucmx_room_drop(&cm->id, UCMX_ROOM_CONNECT);
end:
	ucmx_cm_end(cm);
	return err;
}

/**
 * ucmx_cmd_reject - reject a request or a response
 * @cmd: struct rdma_ucmx_reject
 *
 * Return: 0 or an error, see the uAPI header.
 */
int ucmx_cmd_reject(struct ucmx_cmd *cmd)
{
	struct rdma_ucmx_reject *arg = cmd->arg;
	enum ucmx_answer awaited;
	struct ucmx_cm *cm;
	int err;

	BUILD_BUG_ON(RDMA_UCMX_REJECT_CONSUMER != IB_CM_REJ_CONSUMER_DEFINED);
	BUILD_BUG_ON(RDMA_UCMX_REJECT_ECE !=
		     IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED);
	if (memchr_inv(arg->reserved, 0, sizeof(arg->reserved)))
		return -EINVAL;
	if (!arg->reason)
		arg->reason = RDMA_UCMX_REJECT_CONSUMER;
	if (arg->reason != RDMA_UCMX_REJECT_CONSUMER &&
	    arg->reason != RDMA_UCMX_REJECT_ECE)
		return -EINVAL;
	cm = ucmx_cm_begin_answer(cmd->channel, arg->id);
	if (IS_ERR(cm))
		return PTR_ERR(cm);
	awaited = xchg(&cm->awaits, UCMX_ANSWER_NONE);
	err = rdma_reject(cm->cm_id, arg->private_data, arg->private_data_len,
			  arg->reason);
	/* Too much private data, say: nothing was done. */
	if (err == -EINVAL)
		WRITE_ONCE(cm->awaits, awaited);
	ucmx_cm_end(cm);
	return err;
}

/**
 * ucmx_cmd_disconnect - disconnect
 * @cmd: struct rdma_ucmx_disconnect
 *
 * Return: 0 or an error, see the uAPI header.
 */
int ucmx_cmd_disconnect(struct ucmx_cmd *cmd)
{
	struct rdma_ucmx_disconnect *arg = cmd->arg;
	struct ucmx_cm *cm;
	int err;

	cm = ucmx_cm_begin_device(cmd->channel, arg->id);
	if (IS_ERR(cm))
		return PTR_ERR(cm);
	err = rdma_disconnect(cm->cm_id);
	ucmx_cm_end(cm);
	return err;
}

/**
 * ucmx_cmd_notify - tell rdma_cm of an event of the queue pair
 * @cmd: struct rdma_ucmx_notify
 *
 * The IB CM takes a migration to the alternate path for done when it is told of
 * one, whether there is such a path or not, and copies that over the address it
 * has: what the old one referred to (the device, a GID) is never put, what the
 * new one refers to twice.  No program needs that.
 *
 * Return: 0 or an error, see the uAPI header.
 */
int ucmx_cmd_notify(struct ucmx_cmd *cmd)
{
	struct rdma_ucmx_notify *arg = cmd->arg;
	struct ucmx_cm *cm;
	int err;

	if (arg->reserved || arg->event == IB_EVENT_PATH_MIG)
		return -EINVAL;
	cm = ucmx_cm_begin_device(cmd->channel, arg->id);
	if (IS_ERR(cm))
		return PTR_ERR(cm);
	err = rdma_notify(cm->cm_id, (enum ib_event_type)arg->event);
	ucmx_cm_end(cm);
	return err;
}
