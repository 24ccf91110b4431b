/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How the smaller examples deal with failures: whatever fails ends the process.
 */
#ifndef TRY_H
#define TRY_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void fail(const char *what)
{
	fprintf(stderr, "%s: %s%s\n", what, strerror(errno),
		errno == ENODEV ? "; see: lsmod, rdma link" : "");
	exit(EXIT_FAILURE);
}

#define try(call) do {			\
	if (call)			\
		fail(#call);		\
} while (0)

#endif /* TRY_H */
