// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Moving ids between channels.  The kernel does all of it, the waiting
 * included; here is seen to it that this process' other threads find the id
 * wherever it is (see owner.c).
 */
#include "cmx.h"

static int migrate(struct cmx_id *id, struct cmx_channel *target,
		   struct rdma_ucmx_migrate_id *command)
{
	struct cmx_move move = { .target = target };
	struct cmx_walk walk = { .id = id };
	struct cmx_channel *source;
	int ret, saved;

	for (;;) {
		source = cmx_walk_next(&walk);
		if (!source)
			return cmx_walk_error(&walk);
		cmx_move_begin(&walk, &move);
		ret = cmx_sys_command(source->fd, RDMA_UCMX_MIGRATE_ID,
				      command);
		saved = errno;
		cmx_move_end(&walk, &move, !ret);
		cmx_channel_unuse(source);
		errno = saved;
		if (!ret || errno != ENOENT)
			return ret;
	}
}

static bool is_time(const struct timespec *time)
{
	return !time || (time->tv_nsec >= 0 && time->tv_nsec < 1000000000);
}

/* Nanoseconds as the kernel wants them, where 0 stands for no deadline. */
static uint64_t deadline_of(const struct timespec *deadline)
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

/* See <rdma/rdma_cmx.h>. */
CMX_EXPORT int rdmax_migrate_id(struct rdma_cm_id *id,
				struct rdma_event_channel *channel,
				struct rdma_cm_event *held, int flags,
				const struct timespec *deadline)
{
	struct rdma_ucmx_migrate_id command = {
		.size = sizeof(command),
		.flags = flags & RDMAX_NONBLOCK ? RDMA_UCMX_NONBLOCK : 0,
	};
	struct cmx_channel *target;
	struct cmx_id *own;
	int ret;

	if (flags & ~RDMAX_NONBLOCK)
		return cmx_error(EOPNOTSUPP);
	if (!id || !channel || !is_time(deadline))
		return cmx_error(EINVAL);
	own = cmx_id_of(id);
	target = cmx_channel_of(channel);
	if (!cmx_table_has(own) || !cmx_channel_is_ours(target))
		return cmx_error(EXDEV);
	if (held && cmx_event_of(held)->id != own)
		return cmx_error(EINVAL);
	if (!cmx_channel_use(target))
		return cmx_error(EBADF);
	cmx_id_get(own);
	command.id = atomic_load(&own->handle);
	command.deadline = deadline_of(deadline);
	command.target_fd = target->fd;
	command.held_seq = held ? cmx_event_of(held)->seq : 0;
	ret = migrate(own, target, &command);
	if (!ret && held)
		cmx_event_free(cmx_event_of(held));
	cmx_id_put(own);
	cmx_channel_unuse(target);
	return ret;
}

/**
 * rdma_migrate_id - move an id to another event channel
 * @id: the id
 * @channel: where it goes
 *
 * As rdma_migrate_id(3): its unread events go along, of a listener the
 * connection requests too, after all events that were read are acknowledged.
 * Waits for that without a limit.  Either all of it happens or nothing.
 *
 * errno: EINVAL (no id or channel), EINTR (a signal came whose handler does not have
 * calls restarted), EBUSY (another migration is under way), ECANCELED (it was
 * destroyed meanwhile), ENOSPC (@channel is full), EBADF (@channel was
 * destroyed).
 */
CMX_EXPORT int rdma_migrate_id(struct rdma_cm_id *id,
			       struct rdma_event_channel *channel)
{
	return rdmax_migrate_id(id, channel, NULL, 0, NULL);
}
