/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The RDMA device that tests run over: taking it away and bringing it back; and
 * a second one.
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

/*
 * A second device, with an address of its own, whose neighbours are asked for:
 * of one that is not there the answer never comes.
 */
#define ADDR_SECOND "203.0.113.1"
#define ADDR_SILENT "203.0.113.9"
int fabric_add_second(void);
int fabric_remove_second(void);

#endif /* SELFTESTS_FABRIC_H */
