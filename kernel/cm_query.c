// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Commands: asking for addresses, paths and attributes of queue pairs.
 */
#include <rdma/ib_marshall.h>

#include "cm.h"
#include "ioctl.h"

/**
 * ucmx_cmd_query - say where an id is and whom it talks to
 * @cmd: struct rdma_ucmx_query
 *
 * Under the handler mutex, since callbacks replace path records.
 *
 * Return: 0 or an error, see the uAPI header.
 */
int ucmx_cmd_query(struct ucmx_cmd *cmd)
{
	struct rdma_ucmx_query *arg = cmd->arg;
	struct ucmx_cm *cm;

	*arg = (struct rdma_ucmx_query){ .size = arg->size, .id = arg->id };
	cm = ucmx_cm_begin(cmd->channel, arg->id);
	if (IS_ERR(cm))
		return PTR_ERR(cm);
	rdma_lock_handler(cm->cm_id);
	ucmx_fill_route(&arg->out_route, cm->cm_id);
	arg->out_num_paths = ucmx_fill_paths(arg->out_paths, cm->cm_id);
	rdma_unlock_handler(cm->cm_id);
	ucmx_cm_end(cm);
	return ucmx_respond(cmd);
}

/**
 * ucmx_cmd_init_qp_attr - attributes for a transition of a queue pair
 * @cmd: struct rdma_ucmx_init_qp_attr
 *
 * Return: 0 or an error, see the uAPI header.
 */
int ucmx_cmd_init_qp_attr(struct ucmx_cmd *cmd)
{
	struct rdma_ucmx_init_qp_attr *arg = cmd->arg;
	struct ib_uverbs_qp_attr *out = (void *)&arg->out_attr;
	struct ib_qp_attr attr = { .qp_state = arg->qp_state };
	struct ucmx_cm *cm;
	int err, mask = 0;

	if (arg->reserved || arg->qp_state > IB_QPS_ERR)
		return -EINVAL;
	cm = ucmx_cm_begin_device(cmd->channel, arg->id);
	if (IS_ERR(cm))
		return PTR_ERR(cm);
	memset(out, 0, sizeof(*out));
	err = rdma_init_qp_attr(cm->cm_id, &attr, &mask);
	if (!err)
		ib_copy_qp_attr_to_user(cm->cm_id->device, out, &attr);
	out->qp_attr_mask = mask;
	ucmx_cm_end(cm);
	return err ?: ucmx_respond(cmd);
}
