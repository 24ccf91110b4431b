// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Channels over Unix sockets, see pass.h.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "pass.h"

union control {
	struct cmsghdr head;
	char space[CMSG_SPACE(sizeof(int))];
};

int channel_pass(int to, int fd, __u32 number)
{
	struct iovec iov = { .iov_base = &number, .iov_len = sizeof(number) };
	union control control = { .head = {
		.cmsg_len = CMSG_LEN(sizeof(int)),
		.cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
	} };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};

	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	return sendmsg(to, &msg, 0) < 0 ? -1 : 0;
}

int channel_take(int from, __u32 *number)
{
	struct iovec iov = { .iov_base = number, .iov_len = sizeof(*number) };
	union control control = {};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	int fd;

	if (recvmsg(from, &msg, MSG_CMSG_CLOEXEC) < 0)
		return -1;
	if (!msg.msg_controllen) {
		errno = EPROTO;
		return -1;
	}
	memcpy(&fd, CMSG_DATA(&control.head), sizeof(fd));
	return fd;
}
