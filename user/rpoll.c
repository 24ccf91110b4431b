// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The one function of rsockets that other programs use: the system's examples
 * wait with it.  Their descriptors are ordinary ones.
 */
#include <poll.h>

#include <rdma/rsocket.h>

#include "cmx.h"

/**
 * rpoll - wait for descriptors
 * @fds: descriptors, none of them an rsocket
 * @nfds: how many
 * @timeout: milliseconds, -1 for ever
 *
 * As poll(2).
 */
CMX_EXPORT int rpoll(struct pollfd *fds, nfds_t nfds, int timeout)
{
	return poll(fds, nfds, timeout);
}
