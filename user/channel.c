// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Event channels: one open file of the device each.
 *
 * Two counts.  refs keeps the memory: ids refer to their channel long after the
 * user may have destroyed it.  users keeps the descriptor open: a call that is
 * in the kernel with it holds one, so that its number cannot come to mean
 * another file under that call.  All users together hold one of refs: whoever
 * uses the descriptor has the memory.  Both are atomic, no locks.
 *
 * All channels are in a list, for fork(): the calls that use a descriptor in
 * other threads are not there in the child, whose descriptor is another one.
 */
#include <stdlib.h>

#include "cmx.h"

/* Protects the list, and nothing else is done under it. */
static pthread_mutex_t channels_lock = PTHREAD_MUTEX_INITIALIZER;
static struct cmx_channel *channels;

static void channels_add(struct cmx_channel *channel)
{
	pthread_mutex_lock(&channels_lock);
	channel->next = channels;
	channel->link = &channels;
	if (channels)
		channels->link = &channel->next;
	channels = channel;
	pthread_mutex_unlock(&channels_lock);
}

static void channels_remove(struct cmx_channel *channel)
{
	pthread_mutex_lock(&channels_lock);
	*channel->link = channel->next;
	if (channel->next)
		channel->next->link = channel->link;
	pthread_mutex_unlock(&channels_lock);
}

static struct rdma_event_channel *channel_setup(struct cmx_channel *channel,
						int fd)
{
	channel->fd = fd;
	channel->channel.fd = fd;
	channel->self = channel;
	atomic_init(&channel->refs, 1);
	atomic_init(&channel->users, 1);
	pthread_mutex_init(&channel->adopt_lock, NULL);
	channels_add(channel);
	return &channel->channel;
}

/**
 * rdma_create_event_channel - open an event channel
 *
 * As rdma_create_event_channel(3), but no RDMA device needs to be present.
 * The channel belongs to the caller, who frees it with
 * rdma_destroy_event_channel().
 *
 * Returns NULL and errno on error: ENODEV (the rdma_ucmx module is not
 * loaded), ENOMEM, and what open(2) says.
 */
CMX_EXPORT struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct cmx_channel *channel = calloc(1, sizeof(*channel));
	int fd;

	if (!channel)
		return NULL;
	fd = cmx_sys_open();
	if (fd < 0) {
		free(channel);
		return NULL;
	}
	return channel_setup(channel, fd);
}

/* See <rdma/rdma_cmx.h>. */
CMX_EXPORT struct rdma_event_channel *rdmax_channel_from_fd(int fd)
{
	struct rdma_ucmx_info info = { .size = sizeof(info) };
	struct cmx_channel *channel;

	if (cmx_sys_command(fd, RDMA_UCMX_INFO, &info) < 0) {
		if (errno == ENOTTY)
			errno = EINVAL;
		return NULL;
	}
	channel = calloc(1, sizeof(*channel));
	if (!channel)
		return NULL;
	cmx_sys_close_on_exec(fd);
	return channel_setup(channel, fd);
}

/**
 * rdma_destroy_event_channel - close an event channel
 * @channel: the channel
 *
 * As rdma_destroy_event_channel(3).  Ids that are still on it are destroyed
 * by the kernel, except as seen by other processes that hold the channel, too;
 * rdma_destroy_id() then frees what is left of them.  A call that is still
 * under way on it, in another thread, ends first.
 */
CMX_EXPORT void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	struct cmx_channel *own = cmx_channel_of(channel);
	struct cmx_id *spare = atomic_exchange(&own->spare, NULL);

	if (spare)
		cmx_id_put(spare);
	own->destroyed = true;
	cmx_channel_unuse(own);
}

/* See <rdma/rdma_cmx.h>. */
CMX_EXPORT int rdmax_shutdown_channel(struct rdma_event_channel *channel)
{
	struct rdma_ucmx_shutdown command = { .size = sizeof(command) };
	struct cmx_channel *own;
	int ret;

	if (!channel)
		return cmx_error(EINVAL);
	own = cmx_channel_of(channel);
	if (!cmx_channel_is_ours(own))
		return cmx_error(EXDEV);
	if (!cmx_channel_use(own))
		return cmx_error(EBADF);
	ret = cmx_sys_command(own->fd, RDMA_UCMX_SHUTDOWN, &command);
	cmx_channel_unuse(own);
	return ret;
}

/**
 * cmx_channel_get - take a reference to a channel's memory
 * @channel: the channel
 *
 * Returns @channel.
 */
struct cmx_channel *cmx_channel_get(struct cmx_channel *channel)
{
	atomic_fetch_add(&channel->refs, 1);
	return channel;
}

/**
 * cmx_channel_put - give a reference back
 * @channel: the channel, or NULL
 */
void cmx_channel_put(struct cmx_channel *channel)
{
	struct cmx_id *spare;

	if (!channel || atomic_fetch_sub(&channel->refs, 1) != 1)
		return;
	free(atomic_load(&channel->unused));
	/* A reader that was under way may have left another one. */
	spare = atomic_load(&channel->spare);
	if (spare)
		cmx_id_put(spare);
	cmx_readings_free(channel);
	channel->self = NULL;
	channels_remove(channel);
	pthread_mutex_destroy(&channel->adopt_lock);
	free(channel);
}

/**
 * cmx_channel_is_ours - tell a channel from another library's
 * @channel: the channel
 *
 * A program that is linked with librdmacm, too, makes its channels there.  The
 * next few bytes behind theirs, which this reads, are malloc()'s at least.
 */
bool cmx_channel_is_ours(const struct cmx_channel *channel)
{
	return channel->self == channel;
}

/**
 * cmx_channel_use - begin to use a channel's descriptor
 * @channel: the channel, whose memory the caller keeps until this returns, or
 *           the user's pointer
 *
 * Returns false if it is closed: it was destroyed, and no call that began
 * before is under way any more.
 */
bool cmx_channel_use(struct cmx_channel *channel)
{
	unsigned int users = atomic_load(&channel->users);

	do {
		if (!users)
			return false;
	} while (!atomic_compare_exchange_weak(&channel->users, &users,
					       users + 1));
	return true;
}

/**
 * cmx_channel_unuse - end to use a channel's descriptor
 * @channel: the channel
 *
 * Keeps errno.
 */
void cmx_channel_unuse(struct cmx_channel *channel)
{
	if (atomic_fetch_sub(&channel->users, 1) != 1)
		return;
	cmx_sys_close(channel->fd);
	cmx_channel_put(channel);
}

/**
 * cmx_channels_hold - have nobody change the list of channels, before a fork
 */
void cmx_channels_hold(void)
{
	pthread_mutex_lock(&channels_lock);
}

/**
 * cmx_channels_release - end that
 */
void cmx_channels_release(void)
{
	pthread_mutex_unlock(&channels_lock);
}

/**
 * cmx_channels_forked - forget the other threads, in a child after a fork
 *
 * Of what they use only the descriptors count: as long as one of them is open here
 * the channel lives, whatever the parent does.
 */
void cmx_channels_forked(void)
{
	struct cmx_channel *channel;

	for (channel = channels; channel; channel = channel->next) {
		pthread_mutex_init(&channel->adopt_lock, NULL);
		cmx_readings_forget(channel);
		if (!atomic_load(&channel->users))
			continue;
		atomic_store(&channel->users, !channel->destroyed);
		if (channel->destroyed)
			cmx_sys_close(channel->fd);
	}
}
