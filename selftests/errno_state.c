// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Ids in every state that a call may find them in, see errno_state.h.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "errno_state.h"
#include "lib_scene.h"

static int complain(const char *what)
{
	fprintf(stderr, "# %s: %s\n", what, strerror(errno));
	return -1;
}

/* One of a few, so that two can be used in one call. */
struct sockaddr *address(const char *ip, uint16_t port)
{
	static struct sockaddr_storage storage[4];
	static unsigned int next;
	struct sockaddr_storage *ss = &storage[next++ % 4];

	socket_address(ip, port, ss);
	return (struct sockaddr *)ss;
}

/* rdma_cm refuses a number that a connection has, or had lately. */
struct rdma_conn_param state_conn_param(void)
{
	static unsigned int next;
	struct rdma_conn_param param = {
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};

	param.qp_num = ((unsigned int)getpid() * 4096 + next++) & 0xffffff;
	return param;
}

static int enter_fresh(struct state *state)
{
	(void)state;
	return 0;
}

static int enter_bound(struct state *state)
{
	return rdma_bind_addr(state->id, address(ADDR1, 0)) ?
		complain("rdma_bind_addr") : 0;
}

static int enter_wildcard(struct state *state)
{
	return rdma_bind_addr(state->id, address("0.0.0.0", 0)) ?
		complain("rdma_bind_addr") : 0;
}

static int enter_listening(struct state *state)
{
	if (enter_bound(state))
		return -1;
	return rdma_listen(state->id, 1) ? complain("rdma_listen") : 0;
}

static int resolve_addr(struct rdma_cm_id *id, uint16_t port)
{
	if (rdma_resolve_addr(id, NULL, address(ADDR1, port), 10000))
		return complain("rdma_resolve_addr");
	return event_take(id->channel, RDMA_CM_EVENT_ADDR_RESOLVED);
}

static int resolve_route(struct rdma_cm_id *id, uint16_t port)
{
	if (resolve_addr(id, port))
		return -1;
	if (rdma_resolve_route(id, 10000))
		return complain("rdma_resolve_route");
	return event_take(id->channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static int enter_resolved(struct state *state)
{
	return resolve_addr(state->id, 7);
}

static int enter_routed(struct state *state)
{
	return resolve_route(state->id, 7);
}

/* @from has asked for a connection to a new listener on @to. */
static int request(struct state *state, struct rdma_cm_id *from,
		   struct rdma_event_channel *to)
{
	struct rdma_conn_param param = state_conn_param();

	state->listener = listener_open(to, ADDR1, 1);
	if (!state->listener ||
	    resolve_route(from, listener_port(state->listener)))
		return -1;
	return rdma_connect(from, &param) ? complain("rdma_connect") : 0;
}

static int requested(struct rdma_event_channel *channel,
		     struct rdma_cm_id **child)
{
	struct rdma_cm_event *event;

	if (event_expect(channel, RDMA_CM_EVENT_CONNECT_REQUEST, &event))
		return -1;
	*child = event->id;
	return rdma_ack_cm_event(event) ? complain("rdma_ack_cm_event") : 0;
}

/* The request has arrived and waits for its answer. */
static int enter_connecting(struct state *state)
{
	return request(state, state->id, state->peers) ||
	       requested(state->peers, &state->peer) ? -1 : 0;
}

static int establish(struct rdma_cm_id *active, struct rdma_cm_id *passive)
{
	struct rdma_conn_param param = state_conn_param();

	if (rdma_accept(passive, &param))
		return complain("rdma_accept");
	if (event_take(active->channel, RDMA_CM_EVENT_CONNECT_RESPONSE))
		return -1;
	if (rdma_establish(active))
		return complain("rdma_establish");
	return event_take(passive->channel, RDMA_CM_EVENT_ESTABLISHED);
}

/* The response has arrived and waits for its confirmation. */
static int enter_responded(struct state *state)
{
	struct rdma_conn_param param = state_conn_param();

	if (enter_connecting(state))
		return -1;
	if (rdma_accept(state->peer, &param))
		return complain("rdma_accept");
	return event_take(state->channel, RDMA_CM_EVENT_CONNECT_RESPONSE);
}

static int enter_active(struct state *state)
{
	return enter_connecting(state) || establish(state->id, state->peer) ?
		-1 : 0;
}

static int enter_disconnected(struct state *state)
{
	if (enter_active(state))
		return -1;
	if (rdma_disconnect(state->id))
		return complain("rdma_disconnect");
	if (event_take(state->peers, RDMA_CM_EVENT_DISCONNECTED))
		return -1;
	if (rdma_disconnect(state->peer))
		return complain("rdma_disconnect");
	return event_take(state->channel, RDMA_CM_EVENT_DISCONNECTED);
}

static int enter_rejected(struct state *state)
{
	if (enter_connecting(state))
		return -1;
	if (rdma_reject(state->peer, NULL, 0))
		return complain("rdma_reject");
	return event_take(state->channel, RDMA_CM_EVENT_REJECTED);
}

/* The id is the child: the one that was created becomes its peer. */
static int enter_child(struct state *state)
{
	struct rdma_event_channel *channel = state->channel;

	state->peer = state->id;
	state->id = NULL;
	state->channel = state->peers;
	state->peers = channel;
	if (request(state, state->peer, state->channel))
		return -1;
	return requested(state->channel, &state->id);
}

static int enter_accepted(struct state *state)
{
	struct rdma_conn_param param = state_conn_param();

	if (enter_child(state))
		return -1;
	if (rdma_accept(state->id, &param))
		return complain("rdma_accept");
	return event_take(state->peers, RDMA_CM_EVENT_CONNECT_RESPONSE);
}

static int enter_passive(struct state *state)
{
	return enter_child(state) || establish(state->peer, state->id) ? -1 : 0;
}

static int enter_refused(struct state *state)
{
	if (enter_child(state))
		return -1;
	if (rdma_reject(state->id, NULL, 0))
		return complain("rdma_reject");
	return event_take(state->peers, RDMA_CM_EVENT_REJECTED);
}

const struct state_kind state_kinds[] = {
	{ "fresh", RDMA_PS_TCP, enter_fresh },
	{ "bound", RDMA_PS_TCP, enter_bound },
	{ "wildcard", RDMA_PS_TCP, enter_wildcard },
	{ "listening", RDMA_PS_TCP, enter_listening },
	{ "resolved", RDMA_PS_TCP, enter_resolved },
	{ "routed", RDMA_PS_TCP, enter_routed },
	{ "connecting", RDMA_PS_TCP, enter_connecting },
	{ "responded", RDMA_PS_TCP, enter_responded },
	{ "active", RDMA_PS_TCP, enter_active },
	{ "disconnected", RDMA_PS_TCP, enter_disconnected },
	{ "rejected", RDMA_PS_TCP, enter_rejected },
	{ "child", RDMA_PS_TCP, enter_child },
	{ "accepted", RDMA_PS_TCP, enter_accepted },
	{ "passive", RDMA_PS_TCP, enter_passive },
	{ "refused", RDMA_PS_TCP, enter_refused },
	{ "udp_fresh", RDMA_PS_UDP, enter_fresh },
	{ "udp_bound", RDMA_PS_UDP, enter_bound },
	{ "udp_resolved", RDMA_PS_UDP, enter_resolved },
	{ "udp_routed", RDMA_PS_UDP, enter_routed },
};

const unsigned int num_state_kinds = sizeof(state_kinds) / sizeof(state_kinds[0]);

const struct state_kind *state_kind(const char *name)
{
	for (unsigned int i = 0; i < num_state_kinds; i++) {
		if (!strcmp(state_kinds[i].name, name))
			return &state_kinds[i];
	}
	fprintf(stderr, "# no state %s\n", name);
	abort();
}

int state_open(struct state *state, const struct state_kind *kind)
{
	memset(state, 0, sizeof(*state));
	state->channel = rdma_create_event_channel();
	state->peers = rdma_create_event_channel();
	state->spare = rdma_create_event_channel();
	if (!state->channel || !state->peers || !state->spare)
		return complain("rdma_create_event_channel");
	if (rdma_create_id(state->channel, &state->id, NULL, kind->ps))
		return complain("rdma_create_id");
	return kind->enter(state);
}

void state_close(struct state *state)
{
	if (state->id)
		rdma_destroy_id(state->id);
	if (state->peer)
		rdma_destroy_id(state->peer);
	if (state->listener)
		rdma_destroy_id(state->listener);
	if (state->channel)
		rdma_destroy_event_channel(state->channel);
	if (state->peers)
		rdma_destroy_event_channel(state->peers);
	if (state->spare)
		rdma_destroy_event_channel(state->spare);
}

void must(int result)
{
	if (result) {
		fprintf(stderr, "# %s\n", strerror(errno));
		exit(1);
	}
}

void open_state(struct state *state, const char *kind)
{
	must(state_open(state, state_kind(kind)));
	errno = 0;
}
