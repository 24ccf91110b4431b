/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The RDMA device that tests run over: taking it away and bringing it back.
 */
#ifndef SELFTESTS_FABRIC_H
#define SELFTESTS_FABRIC_H

#include <sys/types.h>

/*
 * Begin to remove the device, in a process of its own: it returns only when
 * all who have the device have let go of it.  -1 or the process.
 */
pid_t fabric_remove(void);
/* Wait, with patience, until that is done: 0, or -1 and errno. */
int fabric_removed(pid_t remover);
/* Make sure that the device is there and serves all addresses. */
int fabric_restore(void);

#endif /* SELFTESTS_FABRIC_H */
