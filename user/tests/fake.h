/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A kernel for unit tests, in the place of syscall.c: it knows which channel
 * owns an id, and can be stopped in the middle of a migration.
 */
#ifndef FAKE_H
#define FAKE_H

#include <stdbool.h>
#include <stdint.h>

/* Where a migration stops: as if events were unacknowledged, or committed. */
enum fake_point { FAKE_RUN, FAKE_DRAIN, FAKE_COMMITTED };

/* Have the next migration stop there. */
void fake_hold(enum fake_point point);
/* Wait until it has. */
void fake_wait_held(void);
/* Have it go on. */
void fake_release(void);
/* Whether system calls take their time, at random. */
void fake_jitter(bool on);
/* Descriptor of the owner, 0 if there is no such id. */
int fake_owner(uint32_t handle);
bool fake_is_open(int fd);
/* A descriptor was used that is not open. */
extern _Atomic bool fake_misused;

#endif /* FAKE_H */
