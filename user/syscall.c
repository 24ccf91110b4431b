// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The only file that makes system calls on the device.  No state, no locks.
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmx.h"

#define CMX_DEVICE "/dev/infiniband/rdma_ucmx"

/**
 * cmx_sys_open - open the device, that is, make a channel
 *
 * Loads the module, if it is installed and not loaded.  No cancellation point.
 * Returns a descriptor, or -1 and errno: ENODEV if the module is not there.
 */
int cmx_sys_open(void)
{
	int fd, state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	fd = open(CMX_DEVICE, O_RDWR | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) {
		cmx_load_module();
		fd = open(CMX_DEVICE, O_RDWR | O_CLOEXEC);
	}
	pthread_setcancelstate(state, NULL);
	if (fd < 0 && (errno == ENOENT || errno == ENXIO))
		errno = ENODEV;
	return fd;
}

/**
 * cmx_sys_close_on_exec - keep a channel from another program
 * @fd: the channel, that was opened elsewhere
 */
void cmx_sys_close_on_exec(int fd)
{
	fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/**
 * cmx_sys_close - close a channel
 * @fd: the channel
 *
 * Keeps errno, and is no cancellation point.
 */
void cmx_sys_close(int fd)
{
	int saved = errno;
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	close(fd);
	pthread_setcancelstate(state, NULL);
	errno = saved;
}

/**
 * cmx_sys_read - read event records
 * @fd: the channel
 * @buffer: for the records; of less than RDMA_UCMX_READ_MIN bytes for one
 * @size: bytes of @buffer
 *
 * A cancellation point.  Returns as read(2).
 */
ssize_t cmx_sys_read(int fd, void *buffer, size_t size)
{
	return read(fd, buffer, size);
}

/**
 * cmx_sys_read_events - read no more than so many event records
 * @fd: the channel
 * @buffer: for the records
 * @size: bytes of @buffer
 * @max: how many
 *
 * A cancellation point, as read(2) is: in between the thread may be cancelled
 * at once, and finds in @buffer what it has read.  Returns how many, or -1 and
 * errno.
 */
int cmx_sys_read_events(int fd, void *buffer, size_t size, unsigned int max)
{
	struct rdma_ucmx_read_events command = {
		.size = sizeof(command),
		.count = max,
		.buffer = (uintptr_t)buffer,
		.length = size,
	};
	int ret, type;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	ret = ioctl(fd, RDMA_UCMX_READ_EVENTS, &command);
	pthread_setcanceltype(type, NULL);
	return ret;
}

/**
 * cmx_sys_command - issue a command
 * @fd: the channel
 * @request: RDMA_UCMX_*
 * @argument: its struct; the size, which always comes first, is set by the
 *            caller
 *
 * Returns what the kernel returns, or -1 and errno.
 */
int cmx_sys_command(int fd, unsigned long request, void *argument)
{
	return ioctl(fd, request, argument);
}

/**
 * cmx_sys_ack - acknowledge one event
 * @fd: the channel that owns the id
 * @handle: the id
 * @seq: number of the event
 */
int cmx_sys_ack(int fd, uint32_t handle, uint64_t seq)
{
	struct rdma_ucmx_ack ack = { .id = handle, .seq = seq };
	struct rdma_ucmx_ack_events command = {
		.size = sizeof(command),
		.count = 1,
		.acks = (uintptr_t)&ack,
	};

	return ioctl(fd, RDMA_UCMX_ACK_EVENTS, &command) < 0 ? -1 : 0;
}

/**
 * cmx_sys_destroy - destroy an id that this library has no use for
 * @fd: the channel that owns it
 * @handle: the id
 *
 * It is dead at once.  That an event of it is in somebody's hand is not waited for:
 * it might be the caller's.
 */
int cmx_sys_destroy(int fd, uint32_t handle)
{
	struct rdma_ucmx_destroy_id command = {
		.size = sizeof(command),
		.id = handle,
		.deadline = 1,
	};

	return ioctl(fd, RDMA_UCMX_DESTROY_ID, &command);
}

/**
 * cmx_sys_id_info - say how an id is
 * @fd: the channel that may own it
 * @handle: the id
 * @info: where to put it
 *
 * Returns whether the channel owns it.
 */
bool cmx_sys_id_info(int fd, uint32_t handle, struct rdma_ucmx_id_info *info)
{
	struct rdma_ucmx_list_ids command = {
		.size = sizeof(command),
		.first = handle,
		.count = 1,
		.info_size = sizeof(*info),
		.ids = (uintptr_t)info,
	};

	return ioctl(fd, RDMA_UCMX_LIST_IDS, &command) == 1 &&
	       info->id == handle;
}

/**
 * cmx_sys_owns - look whether a channel owns an id
 * @fd: the channel
 * @handle: the id
 */
bool cmx_sys_owns(int fd, uint32_t handle)
{
	struct rdma_ucmx_id_info info;

	return cmx_sys_id_info(fd, handle, &info);
}
