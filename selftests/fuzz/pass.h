/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A channel, with a number that says which one it is, over a Unix socket.
 */
#ifndef SELFTESTS_PASS_H
#define SELFTESTS_PASS_H

#include <linux/types.h>

/* 0, or -1 and errno. */
int channel_pass(int to, int fd, __u32 number);
/* Its descriptor, or -1 and errno. */
int channel_take(int from, __u32 *number);

#endif /* SELFTESTS_PASS_H */
