/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Queue pairs for connections over iWARP.
 *
 * RoCE's connection manager takes any number for that of a queue pair.  An iWARP
 * device looks the queue pair up, and carries the connection on with it; so there
 * must be one for each side of each connection.
 */
#ifndef SELFTESTS_IWARP_H
#define SELFTESTS_IWARP_H

#include <linux/types.h>

/*
 * The number of a new queue pair of the first device (0) or the second (1), or 0 if
 * there is none.  It lives until some thousands more have been made, and at the
 * longest as long as the process.
 */
__u32 iwarp_qp_num(int device);

/*
 * Give all of them back: the removal of an iWARP device waits for whoever has one.
 * Their connections end.
 */
void iwarp_let_go(void);

#endif /* SELFTESTS_IWARP_H */
