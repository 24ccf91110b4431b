// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Commands: claiming an id of another process, and raising events.
 */
#include "cm.h"
#include "ioctl.h"

/**
 * ucmx_cmd_adopt_id - give an id another cookie
 * @cmd: struct rdma_ucmx_adopt_id
 *
 * Return: 0 or an error, see the uAPI header.
 */
int ucmx_cmd_adopt_id(struct ucmx_cmd *cmd)
{
	struct rdma_ucmx_adopt_id *arg = cmd->arg;
	struct ucmx_cm *cm;
	int err;

	cm = ucmx_cm_begin(cmd->channel, arg->id);
	if (IS_ERR(cm))
		return PTR_ERR(cm);
	err = ucmx_id_adopt(cmd->channel, &cm->id, arg->cookie);
	ucmx_cm_end(cm);
	return err;
}

/**
 * ucmx_cmd_write_event - raise an event
 * @cmd: struct rdma_ucmx_write_event
 *
 * Return: 0 or an error, see the uAPI header.
 */
int ucmx_cmd_write_event(struct ucmx_cmd *cmd)
{
	struct rdma_ucmx_write_event *arg = cmd->arg;
	struct ucmx_event *event;
	struct ucmx_cm *cm;
	int err;

	if (arg->event != RDMA_UCMX_EVENT_TYPE_USER &&
	    arg->event != RDMA_UCMX_EVENT_TYPE_INTERNAL)
		return -EINVAL;
	event = ucmx_event_alloc(UCMX_ROOM_NONE,
				 sizeof(event->head) + sizeof(u64),
				 GFP_KERNEL_ACCOUNT);
	if (!event)
		return -ENOMEM;
	cm = ucmx_cm_begin(cmd->channel, arg->id);
	if (IS_ERR(cm)) {
		err = PTR_ERR(cm);
		goto free;
	}
	ucmx_event_written(event, cm, arg->event, arg->status, arg->arg);
	err = ucmx_event_write(cmd->channel, &cm->id, event);
	ucmx_cm_end(cm);
free:
	if (err)
		ucmx_event_free(event);
	return err;
}
