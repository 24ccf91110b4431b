/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What /proc/self/fdinfo says of a channel.
 */
#ifndef SELFTESTS_FDINFO_H
#define SELFTESTS_FDINFO_H

#include <stdbool.h>
#include <stddef.h>

/* @text gets all of it; -1 if that cannot be read. */
int fdinfo_read(int fd, char *text, size_t size);
/* The number behind @name, or -1 if there is none. */
long fdinfo(int fd, const char *name);
/* Wait, with patience, until one call waits on the channel; whether it does. */
bool fdinfo_somebody_waits(int fd);

#endif /* SELFTESTS_FDINFO_H */
