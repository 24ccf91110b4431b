// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What synchronous ids, multicast, endpoints and name resolution answer.  See
 * errno_table.c.
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

void table_endpoint(const char *part)
{
	struct rdma_addrinfo res = { .ai_port_space = RDMA_PS_TCP,
				     .ai_qp_type = IBV_QPT_RC };
	struct ibv_srq_init_attr_ex attr = { .attr = { .max_wr = 1, .max_sge = 1 } };
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
}

/* Result, and what was found. */
static void resolve_line(const char *part, const char *name, const char *node,
			 const char *service, const struct rdma_addrinfo *hints)
{
	struct rdma_addrinfo *res;
	char text[128];
	int ret;

	errno = 0;
	ret = rdma_getaddrinfo(node, service, hints, &res);
	if (ret) {
		snprintf(text, sizeof(text), "%d/%d", ret, errno);
	} else {
		snprintf(text, sizeof(text), "flags=%x,family=%d,qp=%d,ps=%x,src=%d,dst=%d",
			 res->ai_flags, res->ai_family, res->ai_qp_type,
			 res->ai_port_space, res->ai_src_len, res->ai_dst_len);
		rdma_freeaddrinfo(res);
	}
	line_text(part, name, text);
}

static void resolve_with_types(const char *part)
{
	static const struct {
		int qp_type;
		int port_space;
	} types[] = {
		{ IBV_QPT_RC, 0 }, { IBV_QPT_UC, 0 }, { IBV_QPT_UD, 0 },
		{ IBV_QPT_XRC_SEND, 0 }, { 0, RDMA_PS_TCP }, { 0, RDMA_PS_UDP },
		{ 0, RDMA_PS_IPOIB }, { 0, RDMA_PS_IB },
		{ IBV_QPT_RC, RDMA_PS_IB }, { IBV_QPT_UD, RDMA_PS_IB },
		{ IBV_QPT_UD, RDMA_PS_TCP },
	};
	struct rdma_addrinfo hints = { 0 };
	char name[32];
	unsigned int i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		hints.ai_qp_type = types[i].qp_type;
		hints.ai_port_space = types[i].port_space;
		snprintf(name, sizeof(name), "type_%d_space_%x",
			 hints.ai_qp_type, hints.ai_port_space);
		resolve_line(part, name, ADDR1, "7471", &hints);
	}
}

void table_addrinfo(const char *part)
{
	struct rdma_addrinfo hints = { 0 };

	resolve_line(part, "nothing", NULL, NULL, NULL);
	resolve_line(part, "hints_only", NULL, NULL, &hints);
	resolve_line(part, "node_only", ADDR1, NULL, NULL);
	resolve_line(part, "no_hints", ADDR1, "7471", NULL);
	resolve_line(part, "empty_hints", ADDR1, "7471", &hints);
	resolve_line(part, "unknown_service", ADDR1, "no such service", &hints);
	hints.ai_flags = RAI_NUMERICHOST;
	resolve_line(part, "numeric", ADDR1, "7471", &hints);
	resolve_line(part, "no_number", "no number", "7471", &hints);
	hints.ai_flags = RAI_PASSIVE;
	hints.ai_port_space = RDMA_PS_TCP;
	resolve_line(part, "passive", NULL, "7471", &hints);
	hints.ai_src_addr = address(ADDR2, 0);
	hints.ai_src_len = sizeof(struct sockaddr_in);
	hints.ai_flags = RAI_NOROUTE;
	resolve_line(part, "from_a_source", ADDR1, "7471", &hints);
	resolve_line(part, "source_only", NULL, NULL, &hints);
	hints.ai_src_len = 0;
	hints.ai_family = AF_INET;
	resolve_line(part, "wrong_family", ADDR6, "7471", &hints);
	hints.ai_family = AF_IB;
	hints.ai_flags = RAI_FAMILY;
	resolve_line(part, "gid_by_name", ADDR6, "7471", &hints);
	hints.ai_flags |= RAI_NUMERICHOST;
	resolve_line(part, "gid_by_number", ADDR6, "7471", &hints);
	hints.ai_flags |= RAI_PASSIVE;
	resolve_line(part, "gid_to_listen_on", ADDR6, "7471", &hints);
	resolve_with_types(part);
}
