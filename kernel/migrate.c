// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The commands of channels and their ids that rdma_cm has no part in:
 * MIGRATE_ID, READ_EVENTS, ACK_EVENTS, LIST_IDS, INFO, SHUTDOWN.
 */
#include <linux/file.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "clock.h"
#include "cm.h"
#include "compat.h"
#include "ioctl.h"
#include "limit.h"

/* How many acknowledgements or entries are copied at a time. */
#define UCMX_CHUNK	16

/* The file of a descriptor pins its channel. */
static int ucmx_check_channel_file(struct fd target)
{
	if (!fd_file(target))
		return -EBADF;
	return fd_file(target)->f_op == &ucmx_fops ? 0 : -EINVAL;
}

/**
 * ucmx_cmd_migrate_id - move an id to another channel
 * @cmd: struct rdma_ucmx_migrate_id
 *
 * The source is pinned by the file that the command came in on.
 *
 * Return: 0 or an error, see the uAPI header.
 */
int ucmx_cmd_migrate_id(struct ucmx_cmd *cmd)
{
	struct rdma_ucmx_migrate_id *arg = cmd->arg;
	struct ucmx_move move = {
		.wait = {
			.nonblock = arg->flags & RDMA_UCMX_NONBLOCK,
			.deadline = ucmx_clock_deadline(arg->deadline),
			.held_seq = arg->held_seq,
		},
		.set_cookie = arg->flags & RDMA_UCMX_SET_COOKIE,
		.cookie = arg->cookie,
	};
	struct fd target;
	int err;

	if (arg->flags & ~(RDMA_UCMX_NONBLOCK | RDMA_UCMX_SET_COOKIE |
			   RDMA_UCMX_ANNOUNCE))
		return -EOPNOTSUPP;
	if (!move.set_cookie && arg->cookie)
		return -EINVAL;
	target = fdget(arg->target_fd);
	err = ucmx_check_channel_file(target);
	if (err)
		goto put;
	if (arg->flags & RDMA_UCMX_ANNOUNCE) {
		move.announcement = ucmx_cm_large_event(GFP_KERNEL_ACCOUNT);
		if (!move.announcement) {
			err = -ENOMEM;
			goto put;
		}
	}
	err = ucmx_id_migrate(cmd->channel, arg->id,
			      fd_file(target)->private_data, &move);
	if (err)
		ucmx_event_free(move.announcement);
put:
	fdput(target);
	return err;
}

/**
 * ucmx_cmd_shutdown - turn readers away for good
 * @cmd: struct rdma_ucmx_shutdown
 *
 * Return: 0 or an error.
 */
int ucmx_cmd_shutdown(struct ucmx_cmd *cmd)
{
	struct rdma_ucmx_shutdown *arg = cmd->arg;

	if (arg->flags)
		return -EOPNOTSUPP;
	ucmx_channel_shut_down(cmd->channel);
	return 0;
}

/**
 * ucmx_cmd_read_events - read so many events
 * @cmd: struct rdma_ucmx_read_events
 *
 * Return: how many were read, or an error if that is none.
 */
int ucmx_cmd_read_events(struct ucmx_cmd *cmd)
{
	struct rdma_ucmx_read_events *arg = cmd->arg;
	struct ucmx_read read = {
		.buf = u64_to_user_ptr(arg->buffer),
		.len = arg->length,
		.max = min_t(u32, arg->count, INT_MAX),
	};
	int err;

	if (arg->flags & ~RDMA_UCMX_NONBLOCK)
		return -EOPNOTSUPP;
	if (!arg->count)
		return -EINVAL;
	err = ucmx_channel_read_events(cmd->channel, &read,
				       cmd->nonblock || arg->flags);
	return err ?: read.count;
}

static int ucmx_ack_chunk(struct ucmx_channel *channel,
			  const struct rdma_ucmx_ack *acks, u32 n, u32 *done)
{
	u32 i;
	int err;

	for (i = 0; i < n; i++) {
		if (acks[i].reserved)
			return -EINVAL;
		err = ucmx_channel_ack(channel, acks[i].id, acks[i].seq);
		if (err)
			return err;
		(*done)++;
	}
	return 0;
}

static int ucmx_ack_many(struct ucmx_channel *channel,
			 const struct rdma_ucmx_ack __user *user, u32 count)
{
	struct rdma_ucmx_ack acks[UCMX_CHUNK] __uninitialized;
	u32 n, done = 0;
	int err = 0;

	while (!err && done < count && !fatal_signal_pending(current)) {
		n = min_t(u32, count - done, UCMX_CHUNK);
		if (copy_from_user(acks, user + done, n * sizeof(*acks)))
			err = -EFAULT;
		else
			err = ucmx_ack_chunk(channel, acks, n, &done);
		cond_resched();
	}
	return done ?: err;
}

/* The usual case, in which the compiler knows how much is copied. */
static int ucmx_ack_one(struct ucmx_channel *channel,
			const struct rdma_ucmx_ack __user *user)
{
	struct rdma_ucmx_ack ack __uninitialized;

	if (copy_from_user(&ack, user, sizeof(ack)))
		return -EFAULT;
	if (ack.reserved)
		return -EINVAL;
	return ucmx_channel_ack(channel, ack.id, ack.seq) ?: 1;
}

/**
 * ucmx_cmd_ack_events - acknowledge events
 * @cmd: struct rdma_ucmx_ack_events
 *
 * Return: how many were taken, or an error if that is none.
 */
int ucmx_cmd_ack_events(struct ucmx_cmd *cmd)
{
	struct rdma_ucmx_ack_events *arg = cmd->arg;
	struct rdma_ucmx_ack __user *user = u64_to_user_ptr(arg->acks);

	if (!arg->count || arg->count > INT_MAX)
		return -EINVAL;
	if (arg->count == 1)
		return ucmx_ack_one(cmd->channel, user);
	return ucmx_ack_many(cmd->channel, user, arg->count);
}

/* Describe @id if it is the channel's. */
static bool ucmx_list_id(struct ucmx_channel *channel, struct ucmx_id *id,
			 struct rdma_ucmx_id_info *info)
{
	struct ucmx_channel *owner;
	bool ours;

	/* Spares strangers' locks; decided is it below. */
	if (READ_ONCE(id->channel) != channel)
		return false;
	owner = ucmx_id_lock(id);
	ours = owner == channel && !id->unpublished;
	if (ours)
		ucmx_id_info(id, info);
	spin_unlock(&owner->lock);
	return ours;
}

/* The next id of the channel from *@handle on; false if there is none. */
static bool ucmx_list_next(struct ucmx_channel *channel, u32 *handle,
			   struct rdma_ucmx_id_info *info)
{
	struct ucmx_id *id;
	bool ours;

	while ((id = ucmx_id_get_next(*handle))) {
		*handle = id->handle + 1;
		ours = ucmx_list_id(channel, id, info);
		ucmx_id_put(id);
		if (ours)
			return true;
		if (fatal_signal_pending(current))
			return false;
		cond_resched();
	}
	return false;
}

/**
 * ucmx_cmd_list_ids - list the ids of the channel
 * @cmd: struct rdma_ucmx_list_ids
 *
 * Return: how many entries were written, or an error if that is none.
 */
int ucmx_cmd_list_ids(struct ucmx_cmd *cmd)
{
	struct rdma_ucmx_list_ids *arg = cmd->arg;
	char __user *user = u64_to_user_ptr(arg->ids);
	struct rdma_ucmx_id_info info;
	u32 handle = arg->first;
	size_t size = min_t(size_t, arg->info_size, sizeof(info));
	u32 done = 0;

	if (!arg->count || arg->count > INT_MAX ||
	    arg->info_size < offsetofend(struct rdma_ucmx_id_info, cookie))
		return -EINVAL;
	if (arg->info_size > PAGE_SIZE)
		return -E2BIG;
	while (done < arg->count &&
	       ucmx_list_next(cmd->channel, &handle, &info)) {
		info.oldest_time = ucmx_clock_time(info.oldest_time);
		if (copy_to_user(user, &info, size) ||
		    clear_user(user + size, arg->info_size - size))
			return done ?: -EFAULT;
		user += arg->info_size;
		done++;
	}
	return done;
}

/**
 * ucmx_cmd_info - say what the module can do and how the channel is
 * @cmd: struct rdma_ucmx_info
 *
 * Return: 0 or an error.
 */
int ucmx_cmd_info(struct ucmx_cmd *cmd)
{
	struct rdma_ucmx_info *arg = cmd->arg;
	struct ucmx_channel *channel = cmd->channel;

	if (arg->flags)
		return -EOPNOTSUPP;
	arg->out_features = RDMA_UCMX_FEATURE_MIGRATE |
			    RDMA_UCMX_FEATURE_HAND_OVER |
			    RDMA_UCMX_FEATURE_SHUTDOWN |
			    RDMA_UCMX_FEATURE_WRITE_EVENT |
			    RDMA_UCMX_FEATURE_MULTICAST |
			    RDMA_UCMX_FEATURE_GET_OPTION |
			    RDMA_UCMX_FEATURE_READ_EVENTS |
			    UCMX_KERNEL_FEATURES;
	arg->out_max_user_events = READ_ONCE(ucmx_max_user_events);
	arg->out_max_groups = READ_ONCE(ucmx_max_groups);
	arg->out_max_ids = READ_ONCE(ucmx_max_ids);
	arg->out_max_channel_ids = READ_ONCE(ucmx_max_channel_ids);
	arg->out_max_backlog = READ_ONCE(ucmx_max_backlog);
	spin_lock(&channel->lock);
	arg->out_max_ids_per_user = READ_ONCE(ucmx_max_ids_per_user);
	arg->out_ids_of_user = ucmx_user_ids(channel->user);
	arg->out_max_events_per_user = READ_ONCE(ucmx_max_events_per_user);
	arg->out_events_of_user = ucmx_user_events(channel->user);
	arg->out_ids = atomic_read(&channel->n_ids);
	arg->out_pending = channel->n_pending;
	arg->out_outstanding = channel->n_outstanding;
	spin_unlock(&channel->lock);
	return ucmx_respond(cmd);
}
