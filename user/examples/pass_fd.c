// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A descriptor over a Unix socket, see pass_fd.h.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "pass_fd.h"

int send_fd(int socket, int fd)
{
	char control[CMSG_SPACE(sizeof(fd))] = { 0 }, byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	return sendmsg(socket, &message, 0) == 1 ? 0 : -1;
}

int receive_fd(int socket)
{
	char control[CMSG_SPACE(sizeof(int))], byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *header;
	int fd;

	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1)
		return -1;
	header = CMSG_FIRSTHDR(&message);
	if (!header || header->cmsg_type != SCM_RIGHTS) {
		errno = EPROTO;
		return -1;
	}
	memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	return fd;
}
