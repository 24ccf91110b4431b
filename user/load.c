// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Having the kernel load the module.
 *
 * Who asks ib_core for the device of a client of its, by name, makes it load the
 * module of that client, whoever he is.  So librdmacm comes by rdma_ucm.  The
 * module has the name as an alias.
 */
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cmx.h"

/* The name is a multiple of four bytes long, as an attribute is to be. */
struct cmx_load_request {
	struct nlmsghdr head;
	struct nlattr attr;
	char name[12];
};

/**
 * cmx_load_module - have the module loaded, if it is installed
 *
 * What the answer says does not count: rdma_ucmx itself is asked for nothing.
 */
void cmx_load_module(void)
{
	struct cmx_load_request request = {
		.head.nlmsg_len = sizeof(request),
		.head.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV,
						    RDMA_NLDEV_CMD_GET_CHARDEV),
		.head.nlmsg_flags = NLM_F_REQUEST,
		.attr.nla_len = sizeof(request.attr) + sizeof(request.name),
		.attr.nla_type = RDMA_NLDEV_ATTR_CHARDEV_TYPE,
		.name = "rdma_ucmx",
	};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);

	if (fd < 0)
		return;
	/* The kernel does it before this returns. */
	send(fd, &request, sizeof(request), 0);
	close(fd);
}
