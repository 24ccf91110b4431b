// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What synchronous ids, multicast and endpoints answer.  See errno_table.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/rdma_verbs.h>

#include "errno_state.h"
#include "errno_table.h"
#include "lib_scene.h"

static struct rdma_cm_id *create(struct rdma_event_channel *channel,
				 enum rdma_port_space ps)
{
	struct rdma_cm_id *id;

	if (rdma_create_id(channel, &id, NULL, ps))
		exit(1);
	return id;
}

/* What is in id->event, or -1. */
static void event_line(const char *part, const char *name, struct rdma_cm_id *id)
{
	line_number(part, name, id->event ? (long)id->event->event : -1);
}

static void refused(const char *part)
{
	struct rdma_conn_param param = state_conn_param();
	struct rdma_cm_id *id = create(NULL, RDMA_PS_TCP);

	line(part, "resolve_addr", rdma_resolve_addr(id, NULL, address(ADDR1, 7), 2000));
	event_line(part, "event_of_resolve_addr", id);
	line(part, "resolve_route", rdma_resolve_route(id, 2000));
	event_line(part, "event_of_resolve_route", id);
	line(part, "connect_where_nobody_listens", rdma_connect(id, &param));
	event_line(part, "event_of_connect", id);
	line_number(part, "status_of_connect", id->event->status);
	line(part, "destroy_after_refusal", rdma_destroy_id(id));
}

void table_sync(const char *part)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id = create(NULL, RDMA_PS_TCP), *child;

	event_line(part, "event_of_a_fresh_id", id);
	line(part, "disconnect_fresh", rdma_disconnect(id));
	/* The system's library follows a NULL pointer there. */
	if (over_ours)
		line(part, "resolve_route_fresh", rdma_resolve_route(id, 2000));
	line(part, "migrate_to_none_again", rdma_migrate_id(id, NULL));
	line(part, "resolve_addr_nowhere",
	     rdma_resolve_addr(id, NULL, address("203.0.113.1", 7), 2000));
	line(part, "migrate_away", rdma_migrate_id(id, channel));
	event_line(part, "event_after_that", id);
	line(part, "get_request_of_another_mode", rdma_get_request(id, &child));
	line(part, "migrate_to_none", rdma_migrate_id(id, NULL));
	line(part, "destroy", rdma_destroy_id(id));
	refused(part);
	rdma_destroy_event_channel(channel);
}

static int join_ex(struct rdma_cm_id *id, uint32_t mask, uint32_t flags,
		   struct sockaddr *address)
{
	struct rdma_cm_join_mc_attr_ex attr = {
		.comp_mask = mask,
		.join_flags = flags,
		.addr = address,
	};

	return rdma_join_multicast_ex(id, &attr, NULL);
}

/*
 * With a channel: the system's library waits for ever when it leaves a group
 * whose event is in id->event.
 */
static void joined(const char *part)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id = create(channel, RDMA_PS_UDP);
	struct sockaddr *group = address("239.1.1.1", 0);

	line(part, "bind", rdma_bind_addr(id, address(ADDR1, 0)));
	line(part, "join", rdma_join_multicast(id, group, id));
	line(part, "event_of_join", event_take(channel, RDMA_CM_EVENT_MULTICAST_JOIN));
	line(part, "leave", rdma_leave_multicast(id, group));
	line(part, "leave_again", rdma_leave_multicast(id, group));
	line(part, "join_to_send", join_ex(id, 3, 1, group));
	line(part, "event_of_that", event_take(channel, RDMA_CM_EVENT_MULTICAST_JOIN));
	line(part, "leave_that", rdma_leave_multicast(id, group));
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
}

void table_multicast(const char *part)
{
	static struct sockaddr unspecified = { .sa_family = AF_UNSPEC };
	struct sockaddr *group = address("239.1.1.1", 0);
	struct rdma_cm_id *id = create(NULL, RDMA_PS_UDP);
	struct rdma_cm_id *tcp = create(NULL, RDMA_PS_TCP);

	line(part, "join_fresh", rdma_join_multicast(id, group, NULL));
	line(part, "join_unspecified", rdma_join_multicast(id, &unspecified, NULL));
	line(part, "leave_unspecified", rdma_leave_multicast(id, &unspecified));
	line(part, "join_nothing", rdma_join_multicast(id, NULL, NULL));
	line(part, "leave_nothing", rdma_leave_multicast(id, NULL));
	line(part, "leave_what_was_not_joined", rdma_leave_multicast(id, group));
	line(part, "join_ex_no_mask", join_ex(id, 0, 0, group));
	line(part, "join_ex_address_only", join_ex(id, 1, 0, group));
	line(part, "join_ex_flags_only", join_ex(id, 2, 0, group));
	line(part, "join_ex_mask_of_the_future", join_ex(id, 7, 0, group));
	line(part, "join_ex_flag_of_the_future", join_ex(id, 3, 2, group));
	line(part, "join_ex_unspecified", join_ex(id, 3, 0, &unspecified));
	line(part, "tcp_bind", rdma_bind_addr(tcp, address(ADDR1, 0)));
	line(part, "tcp_join", rdma_join_multicast(tcp, group, NULL));
	joined(part);
	rdma_destroy_id(id);
	rdma_destroy_id(tcp);
}

static void endpoint_line(const char *part, const char *name,
			  struct rdma_addrinfo *res)
{
	struct rdma_cm_id *id = NULL;

	line(part, name, rdma_create_ep(&id, res, NULL, NULL));
	if (id)
		rdma_destroy_ep(id);
}

/* What an endpoint's queue pair may be like. */
static void endpoint_with_qp(const char *part, const char *name, int flags,
			     socklen_t length, uint32_t wr)
{
	struct ibv_qp_init_attr attr = {
		.cap = {
			.max_send_wr = wr,
			.max_recv_wr = wr,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};
	struct rdma_addrinfo res = {
		.ai_flags = flags,
		.ai_port_space = RDMA_PS_TCP,
		.ai_qp_type = IBV_QPT_RC,
		.ai_src_addr = flags ? address(ADDR1, 0) : NULL,
		.ai_src_len = flags ? length : 0,
		.ai_dst_addr = flags ? NULL : address(ADDR1, 7),
		.ai_dst_len = flags ? 0 : length,
	};
	struct rdma_cm_id *id = NULL;
	char what[64], text[32];

	line(part, name, rdma_create_ep(&id, &res, NULL, &attr));
	if (!id)
		return;
	snprintf(what, sizeof(what), "%s_has", name);
	snprintf(text, sizeof(text), "qp=%d,type=%d,channel=%d", !!id->qp,
		 attr.qp_type, !!id->channel);
	line_text(part, what, text);
	rdma_destroy_ep(id);
}

/* Of an address, and of the source of one that connects. */
static void endpoint_of_lengths(const char *part)
{
	static const socklen_t lengths[] = { 1, 2, 8, 15, 17, 28, 48, 128 };
	struct rdma_addrinfo res = { .ai_port_space = RDMA_PS_TCP,
				     .ai_qp_type = IBV_QPT_RC };
	struct sockaddr_storage source = { 0 }, destination = { 0 };
	char name[64];
	unsigned int i;

	memcpy(&source, address(ADDR1, 0), sizeof(struct sockaddr_in));
	memcpy(&destination, address(ADDR1, 7), sizeof(struct sockaddr_in));
	res.ai_src_addr = (struct sockaddr *)&source;
	res.ai_dst_addr = (struct sockaddr *)&destination;
	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		res.ai_flags = RAI_PASSIVE;
		res.ai_src_len = lengths[i];
		snprintf(name, sizeof(name), "passive_of_length_%u", lengths[i]);
		endpoint_line(part, name, &res);
		res.ai_flags = 0;
		res.ai_dst_len = sizeof(struct sockaddr_in);
		snprintf(name, sizeof(name), "source_of_length_%u", lengths[i]);
		endpoint_line(part, name, &res);
		res.ai_src_len = 0;
		res.ai_dst_len = lengths[i];
		snprintf(name, sizeof(name), "active_of_length_%u", lengths[i]);
		endpoint_line(part, name, &res);
	}
}

/* The id that a request brings to a synchronous listener. */
static void request_line(const char *part)
{
	struct rdma_conn_param param = state_conn_param();
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *listener, *client, *child;

	listener = listener_open(NULL, ADDR1, 1);
	must(!listener || !channel);
	client = client_resolved(channel, ADDR1, listener_port(listener));
	must(!client || rdma_connect(client, &param));
	line(part, "get_request", rdma_get_request(listener, &child));
	event_line(part, "event_of_the_request", child);
	line_number(part, "request_has_the_listeners_port",
		    rdma_get_src_port(child) == rdma_get_src_port(listener));
	line_number(part, "request_has_the_clients_port",
		    rdma_get_dst_port(child) == rdma_get_src_port(client));
	line_number(part, "request_has_its_own_channel",
		    child->channel && child->channel != listener->channel);
	line(part, "reject_request", rdma_reject(child, NULL, 0));
	rdma_destroy_id(client);
	rdma_destroy_id(child);
	rdma_destroy_id(listener);
	rdma_destroy_event_channel(channel);
}

void table_endpoint(const char *part)
{
	struct rdma_addrinfo res = { .ai_port_space = RDMA_PS_TCP,
				     .ai_qp_type = IBV_QPT_RC };
	struct ibv_srq_init_attr_ex attr = { .attr = { .max_wr = 1, .max_sge = 1 } };
	const socklen_t length = sizeof(struct sockaddr_in);
	struct rdma_cm_id *id = create(NULL, RDMA_PS_TCP);

	endpoint_line(part, "without_addresses", &res);
	res.ai_flags = RAI_PASSIVE;
	endpoint_line(part, "passive_without_addresses", &res);
	res.ai_src_addr = address(ADDR1, 0);
	res.ai_src_len = sizeof(struct sockaddr_in);
	endpoint_line(part, "passive", &res);
	res.ai_flags = 0;
	res.ai_dst_addr = address(ADDR2, 7);
	res.ai_dst_len = sizeof(struct sockaddr_in);
	endpoint_line(part, "active", &res);
	res.ai_port_space = 0x9999;
	endpoint_line(part, "port_space_9999", &res);
	line(part, "bind", rdma_bind_addr(id, address(ADDR1, 0)));
	line(part, "srq_without_a_type", rdma_create_srq_ex(id, &attr));
	attr.comp_mask = IBV_SRQ_INIT_ATTR_TYPE;
	attr.srq_type = IBV_SRQT_XRC;
	line(part, "srq_of_xrc", rdma_create_srq_ex(id, &attr));
	rdma_destroy_id(id);
	endpoint_with_qp(part, "active_with_qp", 0, length, 1);
	endpoint_with_qp(part, "active_with_too_much", 0, length, 1U << 30);
	endpoint_with_qp(part, "active_without_a_length", 0, 0, 1);
	endpoint_with_qp(part, "passive_with_qp", RAI_PASSIVE, length, 1);
	endpoint_with_qp(part, "passive_with_too_much", RAI_PASSIVE, length, 1U << 30);
	endpoint_with_qp(part, "passive_without_a_length", RAI_PASSIVE, 0, 1);
	endpoint_of_lengths(part);
	request_line(part);
}
