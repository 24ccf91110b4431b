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

#include <rdma/rdma_cmx.h>

#include "greeting.h"

#define PREFORK_PORT 7481

enum prefork_word {
	PREFORK_ADOPTED = 'a',	/* the next id is the worker's from now on */
	PREFORK_DONE = 'd'	/* the connection of one of those is over */
};

/* prefork_worker.c: serve what arrives until the socket is closed. */
void worker(int socket);

#endif /* PREFORK_H */
