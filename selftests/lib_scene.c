// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What tests of the library need around what they test, see lib_scene.h.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib_scene.h"

static int complain(const char *what)
{
	int err = errno;

	fprintf(stderr, "# %s: %s\n", what, strerror(err));
	errno = err;
	return -1;
}

static void *complain_null(const char *what)
{
	complain(what);
	return NULL;
}

unsigned int scaled(unsigned int n)
{
	const char *scale = getenv("UCMX_SCALE");
	unsigned int divisor = scale ? strtoul(scale, NULL, 10) : 1;

	return divisor < 2 ? n : (n + divisor - 1) / divisor;
}

bool over_iwarp(void)
{
	const char *fabric = getenv("UCMX_FABRIC");

	return fabric && !strcmp(fabric, "siw");
}

int patience_ms(void)
{
	const char *patience = getenv("UCMX_PATIENCE_MS");

	return patience ? atoi(patience) : 20000;
}

static bool event_comes_within(struct rdma_event_channel *channel, int ms)
{
	struct pollfd pollfd = { .fd = channel->fd, .events = POLLIN };

	return poll(&pollfd, 1, ms) == 1;
}

bool event_comes(struct rdma_event_channel *channel)
{
	return event_comes_within(channel, patience_ms());
}

bool event_there(struct rdma_event_channel *channel)
{
	return event_comes_within(channel, 0);
}

/*
 * Over a library that loses an event, what poll promised is not there: then a
 * non-blocking channel says EAGAIN, and the wait goes on.
 */
static int event_get(struct rdma_event_channel *channel,
		     struct rdma_cm_event **event)
{
	int ms;

	for (ms = patience_ms(); ms > 0; ms -= 10) {
		if (!event_comes(channel))
			break;
		if (!rdma_get_cm_event(channel, event))
			return 0;
		if (errno != EAGAIN)
			return -1;
		usleep(10000);
	}
	errno = ETIME;
	return -1;
}

int event_expect(struct rdma_event_channel *channel,
		 enum rdma_cm_event_type kind, struct rdma_cm_event **event)
{
	if (event_get(channel, event))
		return complain(rdma_event_str(kind));
	if ((*event)->event == kind)
		return 0;
	fprintf(stderr, "# expected %s, got %s, status %d\n",
		rdma_event_str(kind), rdma_event_str((*event)->event),
		(*event)->status);
	rdma_ack_cm_event(*event);
	errno = EPROTO;
	return -1;
}

int event_take(struct rdma_event_channel *channel,
	       enum rdma_cm_event_type kind)
{
	struct rdma_cm_event *event;

	if (event_expect(channel, kind, &event))
		return -1;
	return rdma_ack_cm_event(event) ? complain("rdma_ack_cm_event") : 0;
}

static void *take(void *argument)
{
	struct taker *taker = argument;

	taker->ret = event_take(taker->channel, taker->kind);
	return NULL;
}

void taker_start(struct taker *taker, struct rdma_event_channel *channel,
		 enum rdma_cm_event_type kind)
{
	taker->channel = channel;
	taker->kind = kind;
	pthread_create(&taker->thread, NULL, take, taker);
}

int taker_end(struct taker *taker)
{
	pthread_join(taker->thread, NULL);
	return taker->ret;
}

uint32_t event_tag(const struct rdma_cm_event *event)
{
	uint32_t tag = ~0U;

	if (event->param.conn.private_data_len >= sizeof(tag))
		memcpy(&tag, event->param.conn.private_data, sizeof(tag));
	return tag;
}

void socket_address(const char *ip, uint16_t port, struct sockaddr_storage *ss)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)ss;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ss;

	memset(ss, 0, sizeof(*ss));
	if (inet_pton(AF_INET, ip, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(port);
	} else {
		memset(ss, 0, sizeof(*ss));
		inet_pton(AF_INET6, ip, &v6->sin6_addr);
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons(port);
	}
}

struct rdma_cm_id *listener_open_at(struct rdma_event_channel *channel,
				    const char *ip, uint16_t port, int backlog)
{
	struct sockaddr_storage ss;
	struct rdma_cm_id *id;

	socket_address(ip, port, &ss);
	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		return complain_null("rdma_create_id");
	if (rdma_bind_addr(id, (struct sockaddr *)&ss))
		return complain_null("rdma_bind_addr");
	if (rdma_listen(id, backlog))
		return complain_null("rdma_listen");
	return id;
}

struct rdma_cm_id *listener_open(struct rdma_event_channel *channel,
				 const char *ip, int backlog)
{
	return listener_open_at(channel, ip, 0, backlog);
}

uint16_t listener_port(struct rdma_cm_id *listener)
{
	return ntohs(rdma_get_src_port(listener));
}

/* The channel may have other ids' events only after these. */
struct rdma_cm_id *client_resolved(struct rdma_event_channel *channel,
				   const char *ip, uint16_t port)
{
	struct sockaddr_storage ss;
	struct rdma_cm_id *id;

	socket_address(ip, port, &ss);
	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP))
		return complain_null("rdma_create_id");
	if (rdma_resolve_addr(id, NULL, (struct sockaddr *)&ss, 10000))
		return complain_null("rdma_resolve_addr");
	if (channel && event_take(channel, RDMA_CM_EVENT_ADDR_RESOLVED))
		return NULL;
	if (rdma_resolve_route(id, 10000))
		return complain_null("rdma_resolve_route");
	if (channel && event_take(channel, RDMA_CM_EVENT_ROUTE_RESOLVED))
		return NULL;
	return id;
}

struct ibv_qp_init_attr qp_attr_of(enum ibv_qp_type type)
{
	return (struct ibv_qp_init_attr){
		.cap = {
			.max_send_wr = 1,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.qp_type = type,
	};
}

int qp_create(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = qp_attr_of(IBV_QPT_RC);

	return rdma_create_qp(id, NULL, &attr) ? complain("rdma_create_qp") : 0;
}

static struct rdma_conn_param conn_param(const uint32_t *tag)
{
	return (struct rdma_conn_param){
		.private_data = tag,
		.private_data_len = sizeof(*tag),
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};
}

int client_request(struct rdma_cm_id *id, uint32_t tag)
{
	struct rdma_conn_param param = conn_param(&tag);

	return rdma_connect(id, &param) ? complain("rdma_connect") : 0;
}

struct rdma_cm_id *client_connect(struct rdma_event_channel *channel,
				  const char *ip, uint16_t port, uint32_t tag)
{
	struct rdma_cm_id *id = client_resolved(channel, ip, port);

	if (!id || qp_create(id) || client_request(id, tag))
		return NULL;
	return id;
}

int child_accept(struct rdma_cm_id *child, uint32_t tag)
{
	struct rdma_conn_param param = conn_param(&tag);

	if (qp_create(child))
		return -1;
	return rdma_accept(child, &param) ? complain("rdma_accept") : 0;
}

void id_close(struct rdma_cm_id *id)
{
	if (id->qp)
		rdma_destroy_qp(id);
	if (rdma_destroy_id(id))
		complain("rdma_destroy_id");
}
