// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Options of ids.  The kernel knows them; they are passed on as they are.
 */
#include "cmx.h"

/**
 * rdma_set_option - set an option of an id
 * @id: the id
 * @level: RDMA_OPTION_ID
 * @optname: RDMA_OPTION_ID_*
 * @optval: the value
 * @optlen: bytes of it
 *
 * As rdma_set_option(3).
 *
 * errno: ENOSYS (unknown level or name), EINVAL (wrong length, or not in this
 * state), EFAULT.
 */
CMX_EXPORT int rdma_set_option(struct rdma_cm_id *id, int level, int optname,
			       void *optval, size_t optlen)
{
	struct cmx_id *own = cmx_id_of(id);
	struct rdma_ucmx_set_option command = {
		.size = sizeof(command),
		.id = atomic_load(&own->handle),
		.level = level,
		.optname = optname,
		.optval = (uintptr_t)optval,
		.optlen = optlen,
	};

	if (optlen > UINT32_MAX)
		return cmx_error(EINVAL);
	return cmx_id_command(own, RDMA_UCMX_SET_OPTION, &command);
}

/* See <rdma/rdma_cmx.h>. */
CMX_EXPORT int rdmax_get_option(struct rdma_cm_id *id, int level, int optname,
				void *optval, size_t *optlen)
{
	struct rdma_ucmx_get_option command = {
		.size = sizeof(command),
		.level = level,
		.optname = optname,
		.optval = (uintptr_t)optval,
	};
	struct cmx_id *own;

	if (!id || !optlen)
		return cmx_error(EINVAL);
	own = cmx_id_of(id);
	if (!cmx_table_has(own))
		return cmx_error(EXDEV);
	command.id = atomic_load(&own->handle);
	command.optlen = *optlen < UINT32_MAX ? *optlen : UINT32_MAX;
	if (cmx_id_command(own, RDMA_UCMX_GET_OPTION, &command) < 0)
		return -1;
	*optlen = command.out_optlen;
	return 0;
}
