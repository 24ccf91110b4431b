// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Batches, which only our library has, and a listener with requests.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "bench.h"

#define BATCH 32
#define TIMES 20
#define REQUESTS 1000

/* What <rdma/rdma_cmx.h> declares, if the library has it. */
typedef int (*get_events_fn)(struct rdma_event_channel *channel,
			     struct rdma_cm_event **events, int max);
typedef int (*ack_events_fn)(struct rdma_cm_event **events, int n);

static get_events_fn get_events;
static ack_events_fn ack_events;

/* Read as many as there are at once, and acknowledge them. */
static void batch_count(struct rdma_event_channel *channel, unsigned int n,
			struct samples *samples)
{
	struct rdma_cm_event *events[BATCH];
	uint64_t start;
	int got, acked;

	while (n) {
		start = ticks();
		got = get_events(channel, events, BATCH);
		acked = ack_events(events, got);
		sample_since(samples, start, BATCH);
		must(got == BATCH && acked == BATCH, "a whole batch");
		n -= BATCH;
	}
}

void bench_batch(void)
{
	struct rdma_event_channel *channel = channel_new();
	struct rdma_cm_id *ids[BATCH * TIMES];
	struct samples samples = { 0 };

	get_events = dlsym(RTLD_DEFAULT, "rdmax_get_cm_events");
	ack_events = dlsym(RTLD_DEFAULT, "rdmax_ack_cm_events");
	if (!get_events || !ack_events)
		return;
	ids_create(channel, ids, BATCH * TIMES);
	ids_resolve_addr(ids, BATCH * TIMES);
	batch_count(channel, BATCH * TIMES, &samples);
	row(&samples, "event.batch_of_32");
	ids_destroy(ids, BATCH * TIMES);
	rdma_destroy_event_channel(channel);
}

/*
 * There and back again, since over stock the requests can be read only where
 * they arrived.
 */
static void move_listener(struct rdma_event_channel *channel,
			  struct rdma_cm_id *listener, unsigned int requests,
			  struct samples *samples)
{
	struct rdma_event_channel *other = channel_new();
	uint64_t start;
	unsigned int i;
	int ret;

	for (i = 0; i < 10; i++) {
		start = ticks();
		ret = rdma_migrate_id(listener, i % 2 ? channel : other);
		sample_since(samples, start, requests);
		must(!ret, "rdma_migrate_id");
	}
	rdma_destroy_event_channel(other);
}

static void requests_refuse(struct rdma_event_channel *channel, unsigned int n)
{
	struct rdma_cm_id *child;

	while (n--) {
		child = event_take_id(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
		ids_destroy(&child, 1);
	}
}

void bench_listener(void)
{
	const unsigned int n = wanted("BENCH_REQUESTS", REQUESTS);
	struct rdma_cm_id **clients = calloc(n, sizeof(*clients));
	struct rdma_event_channel *server = channel_new();
	struct rdma_event_channel *client = channel_new();
	struct rdma_cm_id *listener = listener_new(server);
	struct samples samples = { 0 };

	must(clients, "calloc");
	clients_create(client, listener, clients, n);
	clients_connect(clients, n);
	move_listener(server, listener, n, &samples);
	row(&samples, "migrate.request_of_listener@%u", n);
	requests_refuse(server, n);
	ids_destroy(clients, n);
	ids_destroy(&listener, 1);
	rdma_destroy_event_channel(client);
	rdma_destroy_event_channel(server);
}
