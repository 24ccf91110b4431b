/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the examples that hand a connection to another process have in common:
 * whoever gets it sends a greeting of this size, and whatever fails ends the process.
 */
#ifndef GREETING_H
#define GREETING_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/verbs.h>

#define GREETING_SIZE 64

static inline void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

#define try(call) do {			\
	if (call)			\
		fail(#call);		\
} while (0)

static inline struct ibv_qp_init_attr greeting_qp_attr(void)
{
	return (struct ibv_qp_init_attr){
		.cap = {
			.max_send_wr = 1,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = GREETING_SIZE,
		},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
}

#endif /* GREETING_H */
