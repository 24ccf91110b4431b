// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Commands: options.
 */
#include <linux/slab.h>
#include <linux/string.h>
#include <rdma/rdma_user_cm.h>

#include "cm.h"
#include "ioctl.h"

static int ucmx_set_option_id(struct ucmx_cm *cm, u32 optname,
			      const void *optval, size_t optlen)
{
	bool is_byte = optname == RDMA_OPTION_ID_TOS ||
		       optname == RDMA_OPTION_ID_ACK_TIMEOUT;

	if (optname > RDMA_OPTION_ID_ACK_TIMEOUT)
		return -ENOSYS;
	if (optlen != (is_byte ? sizeof(u8) : sizeof(int)))
		return -EINVAL;
	switch (optname) {
	case RDMA_OPTION_ID_TOS:
		rdma_set_service_type(cm->cm_id, *(const u8 *)optval);
		return 0;
	case RDMA_OPTION_ID_REUSEADDR:
		return rdma_set_reuseaddr(cm->cm_id, !!*(const int *)optval);
	case RDMA_OPTION_ID_AFONLY:
		return rdma_set_afonly(cm->cm_id, !!*(const int *)optval);
	default:
		return rdma_set_ack_timeout(cm->cm_id, *(const u8 *)optval);
	}
}

/**
 * ucmx_cmd_set_option - set an option
 * @cmd: struct rdma_ucmx_set_option
 *
 * Return: 0 or an error, see the uAPI header.
 */
int ucmx_cmd_set_option(struct ucmx_cmd *cmd)
{
	struct rdma_ucmx_set_option *arg = cmd->arg;
	struct ucmx_cm *cm;
	void *optval;
	int err;

	if (arg->reserved)
		return -EINVAL;
	if (arg->optlen > KMALLOC_MAX_SIZE)
		return -EINVAL;
	/* No value is longer than a page; a longer one is refused below. */
	optval = memdup_user(u64_to_user_ptr(arg->optval),
			     min_t(u32, arg->optlen, PAGE_SIZE));
	if (IS_ERR(optval))
		return PTR_ERR(optval);
	cm = ucmx_cm_begin(cmd->channel, arg->id);
	if (IS_ERR(cm)) {
		err = PTR_ERR(cm);
		goto free;
	}
	if (arg->level == RDMA_OPTION_ID)
		err = ucmx_set_option_id(cm, arg->optname, optval, arg->optlen);
	else
		err = -ENOSYS;
	ucmx_cm_end(cm);
free:
	kfree(optval);
	return err;
}
