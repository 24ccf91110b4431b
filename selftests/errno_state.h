/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Ids in every state that a call may find them in, by the public interface of
 * librdmacm only, and without queue pairs: what a call answers is to be seen,
 * not what verbs says.
 */
#ifndef SELFTESTS_ERRNO_STATE_H
#define SELFTESTS_ERRNO_STATE_H

#include <rdma/rdma_cma.h>

/* The id is the one that a call is made on; the others are what it takes. */
struct state {
	struct rdma_event_channel *channel;
	struct rdma_event_channel *peers;
	struct rdma_event_channel *spare;
	struct rdma_cm_id *id;
	struct rdma_cm_id *peer;
	struct rdma_cm_id *listener;
};

struct state_kind {
	const char *name;
	enum rdma_port_space ps;
	int (*enter)(struct state *state);
};

extern const struct state_kind state_kinds[];
extern const unsigned int num_state_kinds;

/*
 * All of these say on standard error what went wrong; 0, or -1.  A state that
 * cannot be entered is left as it is, to be closed.
 */
int state_open(struct state *state, const struct state_kind *kind);
void state_close(struct state *state);
/* The kind of a name; aborts if there is none. */
const struct state_kind *state_kind(const char *name);

/* Without the state there is nothing to say, and the part does not end well. */
void must(int result);
void open_state(struct state *state, const char *kind);

/* Parameters with a QP number that nobody else has. */
struct rdma_conn_param state_conn_param(void);
struct sockaddr *address(const char *ip, uint16_t port);

#endif /* SELFTESTS_ERRNO_STATE_H */
