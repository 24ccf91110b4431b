// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Connections: the active and the passive side, and their end.
 *
 * With a queue pair of the id its transitions are made here and when events
 * arrive; without one ("external queue pair") the user makes them.
 */
#include <string.h>

#include "cmx.h"

/* What is taken from the id's queue pair, or from the user without one. */
struct cmx_conn_end {
	uint32_t qp_num;
	uint8_t srq;
};

static struct cmx_conn_end conn_end(const struct cmx_id *id,
				    const struct rdma_conn_param *param)
{
	struct cmx_conn_end end = { 0 };

	if (id->id.qp) {
		end.qp_num = id->id.qp->qp_num;
		end.srq = !!id->id.qp->srq;
	} else if (param) {
		end.qp_num = param->qp_num;
		end.srq = param->srq;
	}
	return end;
}

static int put_private_data(struct rdma_ucmx_conn_param *target,
			    const void *data, size_t length)
{
	if (target->private_data_len + length > UINT8_MAX)
		return cmx_error(EINVAL);
	memcpy(target->private_data + target->private_data_len, data, length);
	target->private_data_len += length;
	return 0;
}

static int put_conn_param(const struct cmx_id *id, struct cmx_conn_end end,
			  const struct rdma_conn_param *param,
			  struct rdma_ucmx_conn_param *target)
{
	const struct cmx_endpoint *endpoint = id->endpoint;

	target->qp_num = end.qp_num;
	target->srq = end.srq;
	target->responder_resources = id->responder_resources;
	target->initiator_depth = id->initiator_depth;
	target->retry_count = 7;
	target->rnr_retry_count = 7;
	target->valid = 1;
	if (endpoint && endpoint->connect_len &&
	    put_private_data(target, endpoint->connect, endpoint->connect_len))
		return -1;
	if (!param)
		return 0;
	target->flow_control = param->flow_control;
	target->retry_count = param->retry_count;
	target->rnr_retry_count = param->rnr_retry_count;
	if (!param->private_data || !param->private_data_len)
		return 0;
	return put_private_data(target, param->private_data,
				param->private_data_len);
}

static bool param_fits(const struct rdma_conn_param *param,
		       uint8_t responder_resources, uint8_t initiator_depth)
{
	return (param->responder_resources == RDMA_MAX_RESP_RES ||
		param->responder_resources <= responder_resources) &&
	       (param->initiator_depth == RDMA_MAX_INIT_DEPTH ||
		param->initiator_depth <= initiator_depth);
}

static uint8_t smaller(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

/*
 * Settle the numbers of RDMA reads: what the user says, else what the device
 * and, on the passive side, the peer can do.
 */
static int settle_depths(struct cmx_id *id, const struct rdma_conn_param *param,
			 bool passive)
{
	uint8_t resources, depth;

	/* Nobody says which queue pair it is. */
	if (!param && !id->id.qp && (passive || id->id.ps == RDMA_PS_TCP))
		return cmx_error(EINVAL);
	cmx_device_limits(id, &resources, &depth);
	if (id->id.ps == RDMA_PS_TCP && param && !param_fits(param, resources, depth))
		return cmx_error(EINVAL);
	if (passive) {
		resources = smaller(resources, id->responder_resources);
		depth = smaller(depth, id->initiator_depth);
	}
	if (param && param->responder_resources != RDMA_MAX_RESP_RES)
		resources = param->responder_resources;
	if (param && param->initiator_depth != RDMA_MAX_INIT_DEPTH)
		depth = param->initiator_depth;
	id->responder_resources = resources;
	id->initiator_depth = depth;
	return 0;
}

static void put_ece(const struct cmx_id *id, struct rdma_ucmx_ece *ece)
{
	ece->vendor_id = id->local_ece.vendor_id;
	ece->attr_mod = id->local_ece.options;
}

/**
 * rdma_connect - ask for a connection, or for a peer's queue pair number
 * @id: an id whose route was resolved
 * @conn_param: parameters and private data, or, of an id with a queue pair, NULL
 *              for the defaults
 *
 * As rdma_connect(3).  ESTABLISHED (CONNECT_RESPONSE without a queue pair),
 * REJECTED, UNREACHABLE or CONNECT_ERROR follows, which a synchronous id
 * waits for.
 *
 * errno: EINVAL (wrong state, neither a queue pair nor @conn_param, or the
 * device cannot do it), and of a synchronous id as cmx_sync_wait().
 */
CMX_EXPORT int rdma_connect(struct rdma_cm_id *id,
			    struct rdma_conn_param *conn_param)
{
	struct cmx_id *own = cmx_id_of(id);
	struct rdma_ucmx_connect command = {
		.size = sizeof(command),
		.id = atomic_load(&own->handle),
	};
	int ret, state;

	if (settle_depths(own, conn_param, false))
		return -1;
	state = cmx_qp_lock(own);
	if (id->qp && ibv_query_ece(id->qp, &own->local_ece))
		memset(&own->local_ece, 0, sizeof(own->local_ece));
	ret = put_conn_param(own, conn_end(own, conn_param), conn_param,
			     &command.conn_param);
	put_ece(own, &command.ece);
	cmx_qp_unlock(own, state);
	if (ret)
		return -1;
	return cmx_sync_command(own, RDMA_UCMX_CONNECT, &command, CMX_CONNECT);
}

/**
 * rdma_listen - listen for connection requests
 * @id: an id bound to an address
 * @backlog: how many unread requests may queue up
 *
 * As rdma_listen(3).  A CONNECT_REQUEST follows for every request.
 *
 * errno: EADDRINUSE, EINVAL (wrong state).
 */
CMX_EXPORT int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	struct cmx_id *own = cmx_id_of(id);
	struct rdma_ucmx_listen command = {
		.size = sizeof(command),
		.id = atomic_load(&own->handle),
		.backlog = backlog,
	};

	if (cmx_id_command(own, RDMA_UCMX_LISTEN, &command) < 0)
		return -1;
	return cmx_addr_query(own);
}

/* Move the queue pair and take what the peer is told of it. */
static int prepare_accept(struct cmx_id *id,
			  const struct rdma_conn_param *param,
			  struct rdma_ucmx_accept *command)
{
	int state = cmx_qp_lock(id);
	int ret;

	ret = put_conn_param(id, conn_end(id, param), param,
			     &command->conn_param);
	if (!ret && id->id.qp && !cmx_is_ud(id))
		ret = cmx_qp_connect(id, id->responder_resources,
				     id->initiator_depth);
	put_ece(id, &command->ece);
	cmx_qp_unlock(id, state);
	return ret;
}

static int send_accept(struct cmx_id *id, struct rdma_ucmx_accept *command)
{
	command->size = sizeof(*command);
	command->id = atomic_load(&id->handle);
	command->cookie = id->cookie;
	return cmx_id_command(id, RDMA_UCMX_ACCEPT, command);
}

/**
 * rdma_accept - accept a connection request
 * @id: the id that came with the request
 * @conn_param: parameters and private data, or, of an id with a queue pair, NULL
 *              for the defaults
 *
 * As rdma_accept(3).  ESTABLISHED follows on a connected id, which a
 * synchronous one waits for.
 *
 * errno: EINVAL (wrong state, neither a queue pair nor @conn_param, or the
 * device cannot do it), what ibv_modify_qp(3) says, and of a synchronous id as
 * cmx_sync_wait().
 */
CMX_EXPORT int rdma_accept(struct rdma_cm_id *id,
			   struct rdma_conn_param *conn_param)
{
	struct rdma_ucmx_accept command = { 0 };
	struct cmx_id *own = cmx_id_of(id);
	struct cmx_channel *channel;
	int saved;

	if (settle_depths(own, conn_param, true) ||
	    prepare_accept(own, conn_param, &command))
		return -1;
	channel = cmx_sync_channel(own);
	if (send_accept(own, &command)) {
		saved = errno;
		cmx_channel_put(channel);
		cmx_qp_to_error(own);
		return cmx_error(saved);
	}
	if (!cmx_is_ud(own))
		return cmx_sync_wait(own, channel, CMX_ACCEPT, 0);
	/* Its request is dealt with, and nothing follows. */
	if (channel)
		cmx_sync_set_event(own, NULL);
	cmx_channel_put(channel);
	return 0;
}

static int send_reject(struct cmx_id *id, const void *private_data,
		       uint8_t private_data_len, uint8_t reason)
{
	struct rdma_ucmx_reject command = {
		.size = sizeof(command),
		.id = atomic_load(&id->handle),
		.reason = reason,
	};

	if (private_data && private_data_len) {
		memcpy(command.private_data, private_data, private_data_len);
		command.private_data_len = private_data_len;
	}
	return cmx_id_command(id, RDMA_UCMX_REJECT, &command);
}

/**
 * rdma_reject - reject a connection request or response
 * @id: the id that came with the request, or that got the response
 * @private_data: for the peer, or NULL
 * @private_data_len: bytes of it
 *
 * As rdma_reject(3).  The id is still to be destroyed.
 *
 * errno: EINVAL (wrong state).
 */
CMX_EXPORT int rdma_reject(struct rdma_cm_id *id, const void *private_data,
			   uint8_t private_data_len)
{
	return send_reject(cmx_id_of(id), private_data, private_data_len,
			   RDMA_UCMX_REJECT_CONSUMER);
}

/**
 * rdma_reject_ece - reject a connection request because of its ECE options
 * @id: the id that came with the request
 * @private_data: for the peer, or NULL
 * @private_data_len: bytes of it
 *
 * As rdma_reject(), with that reason.
 */
CMX_EXPORT int rdma_reject_ece(struct rdma_cm_id *id, const void *private_data,
			       uint8_t private_data_len)
{
	return send_reject(cmx_id_of(id), private_data, private_data_len,
			   RDMA_UCMX_REJECT_ECE);
}

/* Called with the id's qp_lock held. */
static int complete(struct cmx_id *id)
{
	struct rdma_ucmx_accept command = { 0 };

	if (cmx_qp_connect(id, RDMA_MAX_RESP_RES, RDMA_MAX_INIT_DEPTH))
		return -1;
	return send_accept(id, &command);
}

/**
 * cmx_conn_established - complete a connection on the active side
 * @id: the id, of which a CONNECT_RESPONSE was read
 *
 * Returns 1 if that is done, 0 if it is the user's to do, as the id has no
 * queue pair, or -1 and errno: the response is rejected then.
 */
int cmx_conn_established(struct cmx_id *id)
{
	int state = cmx_qp_lock(id);
	int ret = id->id.qp ? complete(id) : 1;
	int saved = errno;

	cmx_qp_unlock(id, state);
	if (ret >= 0)
		return !ret;
	cmx_qp_to_error(id);
	send_reject(id, NULL, 0, RDMA_UCMX_REJECT_CONSUMER);
	return cmx_error(saved);
}

/**
 * rdma_establish - complete a connection on the active side
 * @id: an id without a queue pair, of which a CONNECT_RESPONSE was read
 *
 * As rdma_establish(3).
 *
 * errno: EINVAL (it has a queue pair, or wrong state).
 */
CMX_EXPORT int rdma_establish(struct rdma_cm_id *id)
{
	struct rdma_ucmx_accept command = { 0 };

	if (id->qp)
		return cmx_error(EINVAL);
	if (send_accept(cmx_id_of(id), &command))
		return -1;
	cmx_conn_note(cmx_id_of(id), RDMA_CM_EVENT_ESTABLISHED);
	return 0;
}

/**
 * cmx_conn_note - note what becomes of a connection
 * @id: the id
 * @event: what the user is about to be told
 */
void cmx_conn_note(struct cmx_id *id, enum rdma_cm_event_type event)
{
	switch (event) {
	case RDMA_CM_EVENT_ESTABLISHED:
		atomic_store(&id->established, true);
		break;
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
		/* Of a connection it means that the way to the peer changed. */
		if (!atomic_load(&id->established))
			atomic_store(&id->over, true);
		break;
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		atomic_store(&id->over, true);
		break;
	default:
		break;
	}
}

/**
 * rdma_notify - tell of an event of a queue pair
 * @id: the id
 * @event: IBV_EVENT_COMM_EST
 *
 * As rdma_notify(3).
 *
 * errno: EINVAL (wrong state).
 */
CMX_EXPORT int rdma_notify(struct rdma_cm_id *id, enum ibv_event_type event)
{
	struct cmx_id *own = cmx_id_of(id);
	struct rdma_ucmx_notify command = {
		.size = sizeof(command),
		.id = atomic_load(&own->handle),
		.event = event,
	};

	return cmx_id_command(own, RDMA_UCMX_NOTIFY, &command);
}

/**
 * cmx_conn_end - end a connection that came to be after it was to end
 * @id: the id
 *
 * rdma_cm takes the first time for success, though there was nothing to end.
 */
void cmx_conn_end(struct cmx_id *id)
{
	struct rdma_ucmx_disconnect command = {
		.size = sizeof(command),
		.id = atomic_load(&id->handle),
	};

	cmx_id_command(id, RDMA_UCMX_DISCONNECT, &command);
}

/**
 * rdma_disconnect - end a connection
 * @id: the id
 *
 * As rdma_disconnect(3).  Its queue pair goes to the error state first.
 * DISCONNECTED follows, which a synchronous id waits for, unless it had it
 * already, or is unconnected.
 *
 * errno: EINVAL (not connected), and of a synchronous id as cmx_sync_wait().
 */
CMX_EXPORT int rdma_disconnect(struct rdma_cm_id *id)
{
	struct cmx_id *own = cmx_id_of(id);
	struct rdma_ucmx_disconnect command = {
		.size = sizeof(command),
		.id = atomic_load(&own->handle),
	};

	const bool over = atomic_load(&own->over);

	if (cmx_qp_shut_down(own))
		return -1;
	if (over || cmx_is_ud(own))
		return cmx_id_command(own, RDMA_UCMX_DISCONNECT, &command);
	return cmx_sync_command(own, RDMA_UCMX_DISCONNECT, &command,
				CMX_DISCONNECT);
}

/**
 * rdma_set_local_ece - set the ECE options to offer or to answer with
 * @id: an id without a queue pair
 * @ece: the options
 *
 * As rdma_set_local_ece(3).
 *
 * errno: EINVAL (no options, or a queue pair, whose device sets them).
 */
CMX_EXPORT int rdma_set_local_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	struct cmx_id *own = cmx_id_of(id);

	if (!id || id->qp || !ece || !ece->vendor_id || ece->comp_mask)
		return cmx_error(EINVAL);
	own->local_ece.vendor_id = ece->vendor_id;
	own->local_ece.options = ece->options;
	return 0;
}

/**
 * rdma_get_remote_ece - say which ECE options the peer sent
 * @id: an id without a queue pair
 * @ece: where to put them
 *
 * As rdma_get_remote_ece(3).
 *
 * errno: EINVAL.
 */
CMX_EXPORT int rdma_get_remote_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	struct cmx_id *own = cmx_id_of(id);

	if (!id || id->qp || !ece || ece->comp_mask)
		return cmx_error(EINVAL);
	ece->vendor_id = own->remote_ece.vendor_id;
	ece->options = own->remote_ece.options;
	return 0;
}
