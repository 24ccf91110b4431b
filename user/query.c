// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Questions about channels and ids that <rdma/rdma_cma.h> has no words for.
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

static int find_info(struct cmx_id *id, struct rdma_ucmx_id_info *info)
{
	struct cmx_walk walk = { .id = id };
	struct cmx_channel *channel;
	bool found = false;

	while (!found) {
		channel = cmx_walk_next(&walk);
		if (!channel)
			return cmx_walk_error(&walk);
		found = cmx_sys_id_info(channel->fd, atomic_load(&id->handle),
					info);
		cmx_channel_unuse(channel);
	}
	return 0;
}

/* See <rdma/rdma_cmx.h>. */
CMX_EXPORT int rdmax_query_id(struct rdma_cm_id *id, struct rdmax_id_info *info,
			      size_t size)
{
	struct rdma_ucmx_id_info answer;
	struct rdmax_id_info own = { 0 };
	struct cmx_id *source;
	int ret;

	if (!id || !info || !size)
		return cmx_error(EINVAL);
	source = cmx_id_of(id);
	if (!cmx_table_has(source))
		return cmx_error(EXDEV);
	cmx_id_get(source);
	ret = find_info(source, &answer);
	cmx_id_put(source);
	if (ret)
		return -1;
	own.state = answer.state;
	own.pending = answer.pending;
	own.outstanding = answer.outstanding;
	own.unread = answer.unread;
	own.oldest_time.tv_sec = answer.oldest_time / 1000000000;
	own.oldest_time.tv_nsec = answer.oldest_time % 1000000000;
	own.oldest_reader = answer.oldest_reader;
	memset(info, 0, size);
	memcpy(info, &own, size < sizeof(own) ? size : sizeof(own));
	return 0;
}
