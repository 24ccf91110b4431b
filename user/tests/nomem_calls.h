/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Calls that ask for memory, each with what must be there before.
 */
#ifndef NOMEM_CALLS_H
#define NOMEM_CALLS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <rdma/rdma_cma.h>

/**
 * struct nomem_scene - what a call may need
 * @channel: a channel that does not block
 * @id: the id that it is about
 * @listener: what the peer listens on, or asks for a connection
 * @peer: that the peer is in
 * @stop: tells the peer to end
 * @has_peer: there is one
 */
struct nomem_scene {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct rdma_cm_id *listener;
	pthread_t peer;
	atomic_bool stop;
	bool has_peer;
};

/**
 * struct nomem_call - a call
 * @name: of it
 * @open: prepare what it needs
 * @run: the call; 0, or -1 and errno
 * @close: all that there is; also after a failure
 * @again: after a failure it can be made again on the same id
 * @survives: it need not fail: a request is refused, and another one comes
 * @keeps_fds: descriptors that may stay after a failure: an opened device's
 */
struct nomem_call {
	const char *name;
	int (*open)(struct nomem_scene *scene);
	int (*run)(struct nomem_scene *scene);
	void (*close)(struct nomem_scene *scene);
	bool again;
	bool survives;
	int keeps_fds;
};

extern const struct nomem_call nomem_create_channel, nomem_create_id,
	nomem_create_synchronous_id, nomem_bind, nomem_resolve_addr,
	nomem_resolve_route, nomem_create_qp, nomem_create_srq, nomem_get_event,
	nomem_get_request, nomem_connect, nomem_accept, nomem_join,
	nomem_getaddrinfo, nomem_resolve_addrinfo, nomem_passive_endpoint,
	nomem_active_endpoint, nomem_go_synchronous, nomem_get_devices;

#endif /* NOMEM_CALLS_H */
