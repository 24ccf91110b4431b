/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What tests of the library's public interface need around what they test.
 * Nothing here or there is of our own: such a test must build, and can run,
 * with any librdmacm.
 *
 * Unless said otherwise a function returns 0, or -1 and errno after a word on
 * standard error.  No wait is without an end.  Where a channel may be NULL the
 * id is a synchronous one.
 */
#ifndef SELFTESTS_LIB_SCENE_H
#define SELFTESTS_LIB_SCENE_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include <rdma/rdma_cma.h>

#define ADDR1 "192.0.2.1"
#define ADDR2 "192.0.2.2"
#define ADDR6 "2001:db8::1"

/*
 * How long anything may take that will happen: decides no verdict.
 * UCMX_PATIENCE_MS, where much is expected not to happen.
 */
int patience_ms(void);

/* Number @n, or fewer where UCMX_SCALE says "divide by". */
unsigned int scaled(unsigned int n);

/* Whether the machine was booted with iWARP for its fabric, instead of RoCE. */
bool over_iwarp(void);
/* Path records of a route; iWARP has none. */
#define NUM_PATHS (over_iwarp() ? 0 : 1)
/* Why a peer has rejected, if it says no more: IBTA 12.6.7.2, or what siw makes of it. */
#define REJ_CONSUMER (over_iwarp() ? -ECONNRESET : 28)

/* Whether there is an event, waited for with patience, or not at all. */
bool event_comes(struct rdma_event_channel *channel);
bool event_there(struct rdma_event_channel *channel);
/* Read one event, which must be of this kind; EPROTO otherwise. */
int event_expect(struct rdma_event_channel *channel,
		 enum rdma_cm_event_type kind, struct rdma_cm_event **event);
/* The same, and acknowledge it. */
int event_take(struct rdma_event_channel *channel,
	       enum rdma_cm_event_type kind);
/*
 * The same in a thread: with a queue pair the library answers a response when it
 * is read, which a synchronous peer waits for.
 */
struct taker {
	pthread_t thread;
	struct rdma_event_channel *channel;
	enum rdma_cm_event_type kind;
	int ret;
};

void taker_start(struct taker *taker, struct rdma_event_channel *channel,
		 enum rdma_cm_event_type kind);
int taker_end(struct taker *taker);
/* A number in the private data of a request or response. */
uint32_t event_tag(const struct rdma_cm_event *event);

/* Of IPv4 or IPv6. */
void socket_address(const char *ip, uint16_t port, struct sockaddr_storage *ss);

/* A listener on a port that is chosen for it; NULL for a failure.  @channel may be NULL. */
struct rdma_cm_id *listener_open(struct rdma_event_channel *channel,
				 const char *ip, int backlog);
/* The same on this port. */
struct rdma_cm_id *listener_open_at(struct rdma_event_channel *channel,
				    const char *ip, uint16_t port, int backlog);
uint16_t listener_port(struct rdma_cm_id *listener);
/* An id that has resolved address and route; @channel may be NULL. */
struct rdma_cm_id *client_resolved(struct rdma_event_channel *channel,
				   const char *ip, uint16_t port);
/* A queue pair for a request at a time. */
struct ibv_qp_init_attr qp_attr_of(enum ibv_qp_type type);
int qp_create(struct rdma_cm_id *id);
/* A client with a queue pair that has sent its request; NULL for a failure. */
struct rdma_cm_id *client_connect(struct rdma_event_channel *channel,
				  const char *ip, uint16_t port, uint32_t tag);
int client_request(struct rdma_cm_id *id, uint32_t tag);
/* Give the child of a request a queue pair and accept it. */
int child_accept(struct rdma_cm_id *child, uint32_t tag);
/* Destroy an id and its queue pair. */
void id_close(struct rdma_cm_id *id);

#endif /* SELFTESTS_LIB_SCENE_H */
