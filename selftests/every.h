/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Every command that names an id, with arguments that are right in themselves;
 * and company for tests that race.
 */
#ifndef SELFTESTS_EVERY_H
#define SELFTESTS_EVERY_H

#include "scene.h"

/* @run returns as the ioctl does.  No command waits for longer than an instant. */
struct every {
	const char *name;
	int (*run)(int fd, __u32 id);
};

extern const struct every every_command[];
extern const unsigned int num_every;

/*
 * Acknowledge and destroy all ids that the channel lists; -1 if one cannot be
 * destroyed, or if ids or events are left.
 */
int channel_clear(int fd);

/*
 * "rdma resource show cm_id", again and again, until the end of the process or
 * until watch_stop(), which returns how often it has listed them: once at least, or
 * -1.
 */
int watch_start(void);
int watch_stop(void);

#endif /* SELFTESTS_EVERY_H */
