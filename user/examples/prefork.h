/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The pre-fork server: what acceptor, workers and clients have in common.
 *
 * A worker tells the acceptor over a Unix socket what has become of the ids that
 * were handed to it, one byte for each.  It adopts them in the order in which they
 * arrive, so the acceptor knows which one is meant.
 */
#ifndef PREFORK_H
#define PREFORK_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/rdma_cmx.h>

#define PREFORK_PORT 7481
#define GREETING_SIZE 64

enum prefork_word {
	PREFORK_ADOPTED = 'a',	/* the next id is the worker's from now on */
	PREFORK_DONE = 'd'	/* the connection of one of those is over */
};

static inline void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

/* Whatever fails ends the process. */
#define try(call) do {			\
	if (call)			\
		fail(#call);		\
} while (0)

static inline struct ibv_qp_init_attr prefork_qp_attr(void)
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

/* prefork_worker.c: serve what arrives until the socket is closed. */
void worker(int socket);

#endif /* PREFORK_H */
