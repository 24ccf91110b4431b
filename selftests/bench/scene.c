// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The scenes around what is counted, see bench.h.
 *
 * Nothing has a queue pair: what that costs is the device's business.  A client
 * names one that does not exist, another one each time, for the peer takes the
 * number of an earlier connection for a mistake.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"

struct sockaddr_in address(const char *ip, uint16_t port)
{
	struct sockaddr_in in = {
		.sin_family = AF_INET,
		.sin_port = port,
	};

	must(inet_pton(AF_INET, ip, &in.sin_addr) == 1, "inet_pton");
	return in;
}

struct rdma_event_channel *channel_new(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();

	must(channel, "rdma_create_event_channel");
	return channel;
}

void ids_create(struct rdma_event_channel *channel, struct rdma_cm_id **ids,
		unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		must(!rdma_create_id(channel, &ids[i], NULL, RDMA_PS_TCP),
		     "rdma_create_id");
}

void ids_destroy(struct rdma_cm_id **ids, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		must(!rdma_destroy_id(ids[i]), "rdma_destroy_id");
}

/* How many ids may be under way in the background at once. */
#define AT_ONCE 500

void id_resolve_addr(struct rdma_cm_id *id, const struct sockaddr_in *to)
{
	must(!rdma_resolve_addr(id, NULL, (struct sockaddr *)to, 60000),
	     "rdma_resolve_addr");
}

static void resolve_addr(struct rdma_cm_id **ids, unsigned int n, uint16_t port)
{
	struct sockaddr_in to = address(HERE, port);
	unsigned int i;

	for (i = 0; i < n; i++) {
		id_resolve_addr(ids[i], &to);
		if (i % AT_ONCE == AT_ONCE - 1)
			settle();
	}
	settle();
}

void ids_resolve_addr(struct rdma_cm_id **ids, unsigned int n)
{
	resolve_addr(ids, n, htons(PORT));
}

void ids_resolve_route(struct rdma_cm_id **ids, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		must(!rdma_resolve_route(ids[i], 60000), "rdma_resolve_route");
		if (i % AT_ONCE == AT_ONCE - 1)
			settle();
	}
	settle();
}

static struct rdma_cm_event *event_get(struct rdma_event_channel *channel,
				       enum rdma_cm_event_type kind)
{
	struct rdma_cm_event *event;

	must(!rdma_get_cm_event(channel, &event), "rdma_get_cm_event");
	if (event->event != kind)
		fprintf(stderr, "bench: %s, status %d, instead of %s\n",
			rdma_event_str(event->event), event->status,
			rdma_event_str(kind));
	must(event->event == kind, "another event");
	return event;
}

void event_take(struct rdma_event_channel *channel, enum rdma_cm_event_type kind)
{
	must(!rdma_ack_cm_event(event_get(channel, kind)), "rdma_ack_cm_event");
}

struct rdma_cm_id *event_take_id(struct rdma_event_channel *channel,
				 enum rdma_cm_event_type kind)
{
	struct rdma_cm_event *event = event_get(channel, kind);
	struct rdma_cm_id *id = event->id;

	must(!rdma_ack_cm_event(event), "rdma_ack_cm_event");
	return id;
}

void events_take(struct rdma_event_channel *channel, unsigned int n,
		 enum rdma_cm_event_type kind)
{
	while (n--)
		event_take(channel, kind);
}

struct rdma_cm_id *listener_new(struct rdma_event_channel *channel)
{
	struct sockaddr_in in = address(HERE, 0);
	struct rdma_cm_id *id;

	ids_create(channel, &id, 1);
	must(!rdma_bind_addr(id, (struct sockaddr *)&in), "rdma_bind_addr");
	must(!rdma_listen(id, 1024), "rdma_listen");
	return id;
}

void clients_create(struct rdma_event_channel *channel,
		    struct rdma_cm_id *listener, struct rdma_cm_id **clients,
		    unsigned int n)
{
	ids_create(channel, clients, n);
	resolve_addr(clients, n, rdma_get_src_port(listener));
	events_take(channel, n, RDMA_CM_EVENT_ADDR_RESOLVED);
	ids_resolve_route(clients, n);
	events_take(channel, n, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

/* Not used before in this machine, or the request would be thought stale. */
static uint32_t queue_pair_number(void)
{
	static unsigned int used;

	return ((getpid() & 0x3ff) << 14) + ++used;
}

static struct rdma_conn_param conn_param(void)
{
	return (struct rdma_conn_param){
		.retry_count = 7,
		.rnr_retry_count = 7,
		.qp_num = queue_pair_number(),
	};
}

void id_connect(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = conn_param();

	must(!rdma_connect(id, &param), "rdma_connect");
}

/* So many messages are not lost on their way. */
#define CONNECT_AT_ONCE 16

void clients_connect(struct rdma_cm_id **clients, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		id_connect(clients[i]);
		if (i % CONNECT_AT_ONCE == CONNECT_AT_ONCE - 1)
			usleep(1000);
	}
	settle();
}

void child_accept(struct rdma_cm_id *child)
{
	struct rdma_conn_param param = conn_param();

	must(!rdma_accept(child, &param), "rdma_accept");
}
