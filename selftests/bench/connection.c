// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * One complete connection, both ends of it: from creating the client to
 * destroying both ids.  What the processor idles meanwhile does not count.
 */
#include <sys/types.h>

#include "bench.h"

#define TIMES 21

/**
 * struct ends - where connections are made
 * @server: channel of the listener
 * @client: channel of the clients
 * @listener: it
 * @queue_pairs: whether the ends have queue pairs
 */
struct ends {
	struct rdma_event_channel *server;
	struct rdma_event_channel *client;
	struct rdma_cm_id *listener;
	bool queue_pairs;
};

static void queue_pair_create(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.cap = {
			.max_send_wr = 1,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.qp_type = IBV_QPT_RC,
	};

	must(!rdma_create_qp(id, NULL, &attr), "rdma_create_qp");
}

static struct rdma_cm_id *client_connect(const struct ends *ends)
{
	struct sockaddr_in to = address(HERE, rdma_get_src_port(ends->listener));
	struct rdma_cm_id *client;

	ids_create(ends->client, &client, 1);
	id_resolve_addr(client, &to);
	event_take(ends->client, RDMA_CM_EVENT_ADDR_RESOLVED);
	must(!rdma_resolve_route(client, 60000), "rdma_resolve_route");
	event_take(ends->client, RDMA_CM_EVENT_ROUTE_RESOLVED);
	if (ends->queue_pairs)
		queue_pair_create(client);
	id_connect(client);
	return client;
}

static struct rdma_cm_id *child_connect(const struct ends *ends)
{
	struct rdma_cm_id *child;

	child = event_take_id(ends->server, RDMA_CM_EVENT_CONNECT_REQUEST);
	if (ends->queue_pairs)
		queue_pair_create(child);
	child_accept(child);
	return child;
}

static void id_close(struct rdma_cm_id *id)
{
	if (id->qp)
		rdma_destroy_qp(id);
	ids_destroy(&id, 1);
}

/* With a queue pair the library confirms the connection by itself. */
static void connection(const struct ends *ends)
{
	struct rdma_cm_id *client = client_connect(ends);
	struct rdma_cm_id *child = child_connect(ends);

	if (ends->queue_pairs) {
		event_take(ends->client, RDMA_CM_EVENT_ESTABLISHED);
	} else {
		event_take(ends->client, RDMA_CM_EVENT_CONNECT_RESPONSE);
		must(!rdma_establish(client), "rdma_establish");
	}
	event_take(ends->server, RDMA_CM_EVENT_ESTABLISHED);
	must(!rdma_disconnect(client), "rdma_disconnect");
	event_take(ends->server, RDMA_CM_EVENT_DISCONNECTED);
	must(!rdma_disconnect(child), "rdma_disconnect");
	event_take(ends->client, RDMA_CM_EVENT_DISCONNECTED);
	id_close(child);
	id_close(client);
}

static void connections(struct ends *ends, struct samples *samples)
{
	uint64_t start, idled;
	int i;

	for (i = 0; i < TIMES; i++) {
		settle();
		idled = idle_ticks();
		start = ticks();
		connection(ends);
		sample_since(samples, start, 1);
		samples->at[samples->n - 1] -= idle_ticks() - idled;
	}
}

void bench_connection(void)
{
	struct ends ends = {
		.server = channel_new(),
		.client = channel_new(),
	};
	struct samples samples = { 0 };

	ends.listener = listener_new(ends.server);
	connections(&ends, &samples);
	row(&samples, "connection");
	ends.queue_pairs = true;
	connections(&ends, &samples);
	row(&samples, "connection.with_queue_pairs");
	ids_destroy(&ends.listener, 1);
	rdma_destroy_event_channel(ends.client);
	rdma_destroy_event_channel(ends.server);
}
