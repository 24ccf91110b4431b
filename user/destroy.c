// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The end of ids: destroyed, or another process' from now on.
 */
#include "cmx.h"

/**
 * cmx_is_time - tell a time from what is none
 * @time: a deadline, or NULL
 */
bool cmx_is_time(const struct timespec *time)
{
	return !time || (time->tv_nsec >= 0 && time->tv_nsec < 1000000000);
}

/**
 * cmx_deadline - put a deadline as the kernel wants it
 * @deadline: the time, or NULL for none
 *
 * Returns nanoseconds; 0 stands for no deadline.
 */
uint64_t cmx_deadline(const struct timespec *deadline)
{
	const uint64_t second = 1000000000;

	if (!deadline)
		return 0;
	if (deadline->tv_sec < 0 || (!deadline->tv_sec && !deadline->tv_nsec))
		return 1;
	if ((uint64_t)deadline->tv_sec >= INT64_MAX / second)
		return INT64_MAX;
	return deadline->tv_sec * second + deadline->tv_nsec;
}

/*
 * Events in hand keep the memory of an id that the user has given up.  What else
 * comes of it, from another process that has it, is a stranger's.
 */
static void give_up(struct cmx_id *id)
{
	/* As table.c says, not by a store. */
	atomic_exchange(&id->handle, 0);
	cmx_id_put(id);
}

/*
 * It is not there any more if the last acknowledgement after an earlier call,
 * or before this one was restarted, has freed it, or with its channel.
 */
static int destroy(struct cmx_id *id, struct rdma_ucmx_destroy_id *command)
{
	command->id = atomic_load(&id->handle);
	if (cmx_id_last_command(id, RDMA_UCMX_DESTROY_ID, command) &&
	    errno != ENOENT && errno != EBADF)
		return -1;
	cmx_sync_leave(id);
	give_up(id);
	return 0;
}

/* See <rdma/rdma_cmx.h>. */
CMX_EXPORT int rdmax_destroy_id(struct rdma_cm_id *id,
				struct rdma_cm_event *held, int flags,
				const struct timespec *deadline)
{
	struct rdma_ucmx_destroy_id command = {
		.size = sizeof(command),
		.flags = flags & RDMAX_NONBLOCK ? RDMA_UCMX_NONBLOCK : 0,
	};
	struct cmx_id *own;

	if (flags & ~RDMAX_NONBLOCK)
		return cmx_error(EOPNOTSUPP);
	if (!id || !cmx_is_time(deadline))
		return cmx_error(EINVAL);
	own = cmx_id_of(id);
	if (!cmx_table_has(own))
		return cmx_error(EXDEV);
	if (!cmx_may_hold(own, held))
		return cmx_error(EINVAL);
	command.deadline = cmx_deadline(deadline);
	command.held_seq = held ? cmx_event_of(held)->seq : 0;
	if (destroy(own, &command))
		return -1;
	if (held)
		cmx_event_free(cmx_event_of(held));
	return 0;
}

/**
 * rdma_destroy_id - release a communication identifier
 * @id: the id; freed
 *
 * As rdma_destroy_id(3): waits until every event of it that was read is
 * acknowledged, however long, and whatever signals come.  Events that were
 * not read are dropped.  An id whose channel was destroyed went with it.
 */
CMX_EXPORT int rdma_destroy_id(struct rdma_cm_id *id)
{
	struct rdma_ucmx_destroy_id command = { .size = sizeof(command) };
	int ret;

	do
		ret = destroy(cmx_id_of(id), &command);
	while (ret && errno == EINTR);
	return ret;
}

/* What of the library's belongs to the id and must be destroyed before it. */
static bool has_objects(const struct rdma_cm_id *id)
{
	return id->qp || id->srq || id->send_cq || id->recv_cq;
}

/* See <rdma/rdma_cmx.h>. */
CMX_EXPORT int rdmax_forget_id(struct rdma_cm_id *id)
{
	struct cmx_id *own;

	if (!id)
		return cmx_error(EINVAL);
	own = cmx_id_of(id);
	if (!cmx_table_has(own))
		return cmx_error(EXDEV);
	if (cmx_sync_is(own))
		return cmx_error(EINVAL);
	if (has_objects(id))
		return cmx_error(EBUSY);
	give_up(own);
	return 0;
}
