// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Questions about channels that <rdma/rdma_cma.h> has no words for.
 */
#include <string.h>

#include "cmx.h"

/* See <rdma/rdma_cmx.h>. */
CMX_EXPORT int rdmax_query_channel(struct rdma_event_channel *channel,
				   struct rdmax_channel_info *info, size_t size)
{
	struct rdma_ucmx_info command = { .size = sizeof(command) };
	struct rdmax_channel_info own = { 0 };
	struct cmx_channel *source;
	int ret;

	if (!channel || !info || !size)
		return cmx_error(EINVAL);
	source = cmx_channel_of(channel);
	if (!cmx_channel_is_ours(source))
		return cmx_error(EXDEV);
	if (!cmx_channel_use(source))
		return cmx_error(EBADF);
	ret = cmx_sys_command(source->fd, RDMA_UCMX_INFO, &command);
	cmx_channel_unuse(source);
	if (ret < 0)
		return -1;
	own.features = command.out_features;
	own.ids = command.out_ids;
	own.pending = command.out_pending;
	own.outstanding = command.out_outstanding;
	own.max_ids = command.out_max_ids;
	own.max_channel_ids = command.out_max_channel_ids;
	own.max_backlog = command.out_max_backlog;
	memset(info, 0, size);
	memcpy(info, &own, size < sizeof(own) ? size : sizeof(own));
	return 0;
}
