/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What threads of a test wait in, and which descriptors it has.
 */
#ifndef SELFTESTS_LIB_WAIT_H
#define SELFTESTS_LIB_WAIT_H

#include <stdbool.h>

/*
 * Descriptors of this process but for the standard ones; whether one of them is
 * passed on by exec(), unless that is NULL.
 */
int count_fds(bool *inherited);
/* Wait, with patience, until a thread, known by then, is in read(2) of @fd. */
void wait_until_reading(_Atomic int *tid, int fd);

#endif /* SELFTESTS_LIB_WAIT_H */
