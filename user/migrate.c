// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Moving ids between channels.  The kernel does all of it, the waiting
 * included; here is seen to it that this process' other threads find the id
 * wherever it is (see owner.c).
 */
#include "cmx.h"
#include "debug.h"

/**
 * cmx_id_move - move an id to another channel
 * @id: the id; the caller has a reference, or nobody else knows it
 * @target: where it goes; the caller uses it, or it is nobody else's
 * @command: complete but for the id and the target
 * @synchronous: after a success, whether the id was in synchronous mode
 */
int cmx_id_move(struct cmx_id *id, struct cmx_channel *target,
		struct rdma_ucmx_migrate_id *command, bool *synchronous)
{
	struct cmx_move move = { .target = target };
	struct cmx_walk walk = { .id = id };
	struct cmx_channel *source;
	int ret, saved, source_fd;

	command->id = atomic_load(&id->handle);
	command->target_fd = target->fd;
	for (;;) {
		source = cmx_move_begin(&walk, &move);
		if (!source)
			return cmx_walk_error(&walk);
		source_fd = source->fd;
		ret = cmx_sys_command(source->fd, RDMA_UCMX_MIGRATE_ID,
				      command);
		saved = errno;
		cmx_move_end(&walk, &move, !ret);
		cmx_channel_unuse(source);
		errno = saved;
		if (!ret || errno != ENOENT)
			break;
	}
	*synchronous = move.synchronous;
	if (cmx_debugging())
		cmx_debug_migration(id, source_fd, target->fd, ret);
	return ret;
}

/*
 * The target, in use until target_end(): the user's, or a new one for an id
 * that is to be synchronous.
 */
static struct cmx_channel *target_begin(struct cmx_id *id,
					struct rdma_event_channel *channel)
{
	struct cmx_channel *target;

	if (!channel) {
		if (!cmx_sync_is(id))
			return cmx_sync_open();
		errno = EINVAL;
		return NULL;
	}
	target = cmx_channel_of(channel);
	if (cmx_channel_use(target))
		return target;
	errno = EBADF;
	return NULL;
}

static void target_end(struct cmx_id *id, struct cmx_channel *target, bool sync,
		       bool was_sync, int ret)
{
	if (!ret && (sync || was_sync))
		cmx_sync_switch(id, target, sync);
	if (!sync)
		cmx_channel_unuse(target);
	else if (ret)
		cmx_sync_close(target);
}

static int migrate(struct cmx_id *id, struct rdma_event_channel *channel,
		   struct rdma_ucmx_migrate_id *command)
{
	struct cmx_channel *target;
	bool was_sync = false;
	int ret;

	target = target_begin(id, channel);
	if (!target)
		return -1;
	cmx_id_get(id);
	ret = cmx_id_move(id, target, command, &was_sync);
	target_end(id, target, !channel, was_sync, ret);
	cmx_id_put(id);
	return ret;
}

/* See <rdma/rdma_cmx.h>. */
CMX_EXPORT int rdmax_migrate_id(struct rdma_cm_id *id,
				struct rdma_event_channel *channel,
				struct rdma_cm_event *held, int flags,
				const struct timespec *deadline)
{
	struct rdma_ucmx_migrate_id command = {
		.size = sizeof(command),
		.flags = (flags & RDMAX_NONBLOCK ? RDMA_UCMX_NONBLOCK : 0) |
			 (flags & RDMAX_ANNOUNCE ? RDMA_UCMX_ANNOUNCE : 0),
	};
	struct cmx_id *own;

	if (flags & ~(RDMAX_NONBLOCK | RDMAX_ANNOUNCE))
		return cmx_error(EOPNOTSUPP);
	/* Whom to announce it to, without a channel? */
	if (!id || !cmx_is_time(deadline) ||
	    (!channel && flags & RDMAX_ANNOUNCE))
		return cmx_error(EINVAL);
	own = cmx_id_of(id);
	if (!cmx_table_has(own) ||
	    (channel && !cmx_channel_is_ours(cmx_channel_of(channel))))
		return cmx_error(EXDEV);
	if (!cmx_may_hold(own, held))
		return cmx_error(EINVAL);
	command.deadline = cmx_deadline(deadline);
	command.held_seq = held ? cmx_event_of(held)->seq : 0;
	if (migrate(own, channel, &command))
		return -1;
	if (held)
		cmx_event_free(cmx_event_of(held));
	return 0;
}

/**
 * rdma_migrate_id - move an id to another event channel
 * @id: the id
 * @channel: where it goes, or NULL to have its calls wait for what they began
 *
 * As rdma_migrate_id(3): its unread events go along, of a listener the
 * connection requests too, after all events that were read are acknowledged.
 * Waits for that without a limit.  Either all of it happens or nothing.
 *
 * errno: EINVAL (no id, or it is synchronous and is to be), EMFILE (that needs
 * a descriptor), EINTR (a signal came whose handler does not have
 * calls restarted), EBUSY (another migration is under way), ECANCELED (it was
 * destroyed meanwhile), ENOSPC (@channel is full), EBADF (@channel was
 * destroyed).
 */
CMX_EXPORT int rdma_migrate_id(struct rdma_cm_id *id,
			       struct rdma_event_channel *channel)
{
	return rdmax_migrate_id(id, channel, NULL, 0, NULL);
}
