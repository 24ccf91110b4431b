// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What goes from one end to the other: private data of any length, ECE options,
 * and what unconnected ids learn; and addresses that are GIDs.  One line each, see
 * errno_table.c.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <infiniband/ib.h>

#include "errno_state.h"
#include "errno_table.h"
#include "lib_scene.h"

static const uint8_t lengths[] = { 1, 56, 57, 92, 136, 137, 148, 149, 196, 197,
				   224, 225, 255 };

static int do_connect(struct state *state, const struct rdma_conn_param *param)
{
	struct rdma_conn_param copy = *param;

	return rdma_connect(state->id, &copy);
}

static int do_accept(struct state *state, const struct rdma_conn_param *param)
{
	struct rdma_conn_param copy = *param;

	return rdma_accept(state->id, &copy);
}

static int do_reject(struct state *state, const struct rdma_conn_param *param)
{
	return rdma_reject(state->id, param->private_data, param->private_data_len);
}

static int do_reject_ece(struct state *state, const struct rdma_conn_param *param)
{
	return rdma_reject_ece(state->id, param->private_data,
			       param->private_data_len);
}

void table_private_data(const char *part)
{
	static const struct {
		const char *name;
		const char *state;
		int (*run)(struct state *state, const struct rdma_conn_param *param);
	} calls[] = {
		{ "connect", "routed", do_connect },
		{ "connect_unconnected", "udp_routed", do_connect },
		{ "accept", "child", do_accept },
		{ "reject", "child", do_reject },
		{ "reject_ece", "child", do_reject_ece },
	};
	static const uint8_t data[255];
	struct rdma_conn_param param;
	struct state state;
	unsigned int i, j;
	char name[64];

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		for (j = 0; j < sizeof(lengths); j++) {
			open_state(&state, calls[i].state);
			param = state_conn_param();
			param.private_data = data;
			param.private_data_len = lengths[j];
			snprintf(name, sizeof(name), "%s_%d", calls[i].name,
				 lengths[j]);
			line(part, name, calls[i].run(&state, &param));
			state_close(&state);
		}
	}
}

static void ece_line(const char *part, const char *name, struct rdma_cm_id *id)
{
	struct ibv_ece ece = { .vendor_id = 77, .options = 77 };
	char text[64];

	if (rdma_get_remote_ece(id, &ece))
		snprintf(text, sizeof(text), "%s", strerrorname_np(errno));
	else
		snprintf(text, sizeof(text), "vendor=%x,options=%x",
			 ece.vendor_id, ece.options);
	line_text(part, name, text);
}

/* Both sides say something; each hears what the other said. */
void table_ece(const char *part)
{
	struct ibv_ece ece = { .vendor_id = 0x15b3, .options = 0x1234 };
	struct rdma_conn_param param;
	struct rdma_cm_event *event;
	struct rdma_cm_id *child;
	struct state state;

	open_state(&state, "fresh");
	ece_line(part, "fresh", state.id);
	state_close(&state);

	open_state(&state, "routed");
	state.listener = listener_open(state.peers, ADDR1, 1);
	must(!state.listener);
	state.peer = client_resolved(state.channel, ADDR1,
				     listener_port(state.listener));
	must(!state.peer);
	line(part, "set_before_connect", rdma_set_local_ece(state.peer, &ece));
	param = state_conn_param();
	must(rdma_connect(state.peer, &param));
	must(event_expect(state.peers, RDMA_CM_EVENT_CONNECT_REQUEST, &event));
	child = event->id;
	ece_line(part, "of_request", child);
	must(rdma_ack_cm_event(event));
	ece.options = 0x4321;
	line(part, "set_before_accept", rdma_set_local_ece(child, &ece));
	param = state_conn_param();
	must(rdma_accept(child, &param));
	must(event_take(state.channel, RDMA_CM_EVENT_CONNECT_RESPONSE));
	ece_line(part, "of_response", state.peer);
	must(rdma_destroy_id(child));
	state_close(&state);
}

static void paths_line(const char *part, const char *name, struct rdma_cm_id *id)
{
	char text[64];

	snprintf(text, sizeof(text), "paths=%d,there=%d,port=%d,verbs=%d,ps=%x,type=%d",
		 id->route.num_paths, !!id->route.path_rec, id->port_num,
		 !!id->verbs, id->ps, id->qp_type);
	line_text(part, name, text);
}

/* What a path record says, but for what is of this connection alone. */
static void path_line(const char *part, const char *name, struct rdma_cm_id *id)
{
	const struct ibv_sa_path_rec *path = id->route.path_rec;
	char text[192], gid[INET6_ADDRSTRLEN];

	must(!path);
	inet_ntop(AF_INET6, &path->dgid, gid, sizeof(gid));
	snprintf(text, sizeof(text),
		 "to=%s,lid=%d/%d,label=%d,hops=%d,class=%d,rev=%d,paths=%d,pkey=%x,sl=%d,mtu=%d/%d,rate=%d/%d,life=%d/%d,pref=%d,raw=%d",
		 gid, path->dlid, path->slid, !!path->flow_label, path->hop_limit,
		 path->traffic_class, path->reversible, path->numb_path, path->pkey,
		 path->sl, path->mtu_selector, path->mtu, path->rate_selector,
		 path->rate, path->packet_life_time_selector,
		 path->packet_life_time, path->preference, path->raw_traffic);
	line_text(part, name, text);
}

static void ud_line(const char *part, const char *name, struct rdma_cm_event *event)
{
	const struct rdma_ud_param *ud = &event->param.ud;
	char text[96];

	snprintf(text, sizeof(text), "%s(%d),data=%d,first=%d,qkey=%x,global=%d,port=%d",
		 rdma_event_str(event->event), event->status,
		 ud->private_data_len,
		 ud->private_data_len ? *(uint8_t *)ud->private_data : -1,
		 ud->qkey, ud->ah_attr.is_global, ud->ah_attr.port_num);
	line_text(part, name, text);
}

static void answer(const char *part, struct state *state, bool accept)
{
	struct rdma_conn_param param = state_conn_param();
	struct rdma_cm_event *event;
	struct rdma_cm_id *child;

	param.private_data = "a";
	param.private_data_len = 1;
	must(rdma_connect(state->id, &param));
	must(event_expect(state->peers, RDMA_CM_EVENT_CONNECT_REQUEST, &event));
	child = event->id;
	ud_line(part, accept ? "request" : "request_to_reject", event);
	paths_line(part, accept ? "child" : "child_to_reject", child);
	must(rdma_ack_cm_event(event));
	param = state_conn_param();
	param.private_data = "b";
	param.private_data_len = 1;
	if (accept)
		line(part, "accept", rdma_accept(child, &param));
	else
		line(part, "reject", rdma_reject(child, "c", 1));
	must(!event_comes(state->channel) ||
	     rdma_get_cm_event(state->channel, &event));
	ud_line(part, accept ? "accepted" : "rejected", event);
	must(rdma_ack_cm_event(event));
	line(part, accept ? "disconnect" : "disconnect_rejected",
	     rdma_disconnect(state->id));
	must(rdma_destroy_id(child));
}

static void unconnected(const char *part, bool accept)
{
	struct sockaddr *to;
	struct state state;

	open_state(&state, "udp_fresh");
	must(rdma_create_id(state.peers, &state.listener, NULL, RDMA_PS_UDP));
	must(rdma_bind_addr(state.listener, address(ADDR1, 0)));
	must(rdma_listen(state.listener, 1));
	to = address(ADDR1, listener_port(state.listener));
	must(rdma_resolve_addr(state.id, NULL, to, 10000));
	must(event_take(state.channel, RDMA_CM_EVENT_ADDR_RESOLVED));
	if (accept)
		paths_line(part, "address_resolved", state.id);
	must(rdma_resolve_route(state.id, 10000));
	must(event_take(state.channel, RDMA_CM_EVENT_ROUTE_RESOLVED));
	if (accept)
		paths_line(part, "route_resolved", state.id);
	answer(part, &state, accept);
	state_close(&state);
}

/* The same of a connected id's, to compare. */
void table_unconnected(const char *part)
{
	struct state state;

	unconnected(part, true);
	unconnected(part, false);
	open_state(&state, "child");
	paths_line(part, "connected_child", state.id);
	paths_line(part, "connected_client", state.peer);
	path_line(part, "path_of_child", state.id);
	path_line(part, "path_of_client", state.peer);
	state_close(&state);
}

/* A GID, and a service: port space and port. */
static struct sockaddr *gid_address(const char *gid, uint64_t ps, uint16_t port)
{
	static struct sockaddr_ib ib;

	memset(&ib, 0, sizeof(ib));
	ib.sib_family = AF_IB;
	ib.sib_pkey = htobe16(0xffff);
	ib.sib_sid = htobe64(ps << 16 | port);
	ib.sib_sid_mask = htobe64(RDMA_IB_IP_PS_MASK | RDMA_IB_IP_PORT_MASK);
	inet_pton(AF_INET6, gid, &ib.sib_addr);
	return (struct sockaddr *)&ib;
}

static void bind_gid(const char *part, const char *name, enum rdma_port_space ps,
		     struct sockaddr *address)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	char what[64], text[64];
	struct rdma_cm_id *id;
	int ret;

	must(!channel || rdma_create_id(channel, &id, NULL, ps));
	ret = rdma_bind_addr(id, address);
	line(part, name, ret);
	snprintf(what, sizeof(what), "%s_listen", name);
	line(part, what, rdma_listen(id, 1));
	snprintf(what, sizeof(what), "%s_says", name);
	snprintf(text, sizeof(text), "family=%d,port=%d,verbs=%d,port_num=%d",
		 id->route.addr.src_addr.sa_family,
		 ntohs(rdma_get_src_port(id)) >= 1024 ? 1024 :
							ntohs(rdma_get_src_port(id)),
		 !!id->verbs, id->port_num);
	line_text(part, what, text);
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
}

static void resolve_gid(const char *part, const char *name,
			enum rdma_port_space ps, struct sockaddr *address)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	char what[64];
	int ret;

	must(!channel || rdma_create_id(channel, &id, NULL, ps));
	ret = rdma_resolve_addr(id, NULL, address, 2000);
	line(part, name, ret);
	if (!ret) {
		must(!event_comes(channel) || rdma_get_cm_event(channel, &event));
		snprintf(what, sizeof(what), "%s_event", name);
		line_text(part, what, rdma_event_str(event->event));
		rdma_ack_cm_event(event);
	}
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
}

void table_gids(const char *part)
{
	static const char own[] = "::ffff:" ADDR1;
	struct sockaddr_ib *ib;

	bind_gid(part, "any", RDMA_PS_TCP, gid_address("::", RDMA_PS_TCP, 0));
	bind_gid(part, "any_ib", RDMA_PS_IB, gid_address("::", RDMA_PS_TCP, 0));
	bind_gid(part, "loopback", RDMA_PS_IB, gid_address("::1", RDMA_PS_TCP, 0));
	bind_gid(part, "own", RDMA_PS_TCP, gid_address(own, RDMA_PS_TCP, 0));
	bind_gid(part, "own_ib", RDMA_PS_IB, gid_address(own, RDMA_PS_IB, 0));
	bind_gid(part, "own_port", RDMA_PS_IB, gid_address(own, RDMA_PS_TCP, 700));
	bind_gid(part, "own_udp", RDMA_PS_UDP, gid_address(own, RDMA_PS_UDP, 0));
	bind_gid(part, "own_in_another_space", RDMA_PS_UDP,
		 gid_address(own, RDMA_PS_TCP, 0));
	bind_gid(part, "unknown", RDMA_PS_IB,
		 gid_address("2001:db8:ffff::1", RDMA_PS_TCP, 0));
	ib = (struct sockaddr_ib *)gid_address(own, RDMA_PS_TCP, 0);
	ib->sib_pkey = htobe16(0x1234);
	bind_gid(part, "other_pkey", RDMA_PS_IB, (struct sockaddr *)ib);
	ib = (struct sockaddr_ib *)gid_address(own, 0, 0);
	ib->sib_sid_mask = 0;
	bind_gid(part, "no_service", RDMA_PS_IB, (struct sockaddr *)ib);
	resolve_gid(part, "resolve_own", RDMA_PS_IB, gid_address(own, RDMA_PS_TCP, 7));
	resolve_gid(part, "resolve_own_tcp", RDMA_PS_TCP,
		    gid_address(own, RDMA_PS_TCP, 7));
	resolve_gid(part, "resolve_unknown", RDMA_PS_IB,
		    gid_address("2001:db8:ffff::1", RDMA_PS_TCP, 7));
}
