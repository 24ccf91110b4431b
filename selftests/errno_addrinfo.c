// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What the resolution of names finds.  See errno_table.c.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <infiniband/ib.h>

#include "errno_state.h"
#include "errno_table.h"
#include "lib_scene.h"

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
		snprintf(text, sizeof(text),
			 "flags=%x,type=%d/%d/%x,src=%d/%d,dst=%d/%d,names=%d%d,next=%d",
			 res->ai_flags, res->ai_family, res->ai_qp_type,
			 res->ai_port_space, res->ai_src_len,
			 res->ai_src_addr ? res->ai_src_addr->sa_family : -1,
			 res->ai_dst_len,
			 res->ai_dst_addr ? res->ai_dst_addr->sa_family : -1,
			 !!res->ai_src_canonname, !!res->ai_dst_canonname,
			 !!res->ai_next);
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

static void resolve_odd_hints(const char *part)
{
	static const struct {
		const char *name;
		const char *node;
		const char *service;
		struct rdma_addrinfo hints;
	} odd[] = {
		{ "service_only", NULL, "7471", { 0 } },
		{ "service_without_end", ADDR1, "99999999", { 0 } },
		{ "service_negative", ADDR1, "-1", { 0 } },
		{ "empty_node", "", "7471", { 0 } },
		{ "ipv6", ADDR6, "7471", { .ai_family = AF_INET6 } },
		{ "ipv4_as_ipv6", ADDR1, "7471", { .ai_family = AF_INET6 } },
		{ "unknown_family", ADDR1, "7471", { .ai_family = 99 } },
		{ "unknown_type", ADDR1, "7471", { .ai_qp_type = 99 } },
		{ "unknown_space", ADDR1, "7471", { .ai_port_space = 0x9999 } },
		{ "receiving_xrc", ADDR1, "7471", { .ai_qp_type = IBV_QPT_XRC_RECV } },
		{ "unknown_flag", ADDR1, "7471", { .ai_flags = 0x100 } },
		{ "passive_number", ADDR1, "7471",
		  { .ai_flags = RAI_PASSIVE | RAI_NUMERICHOST } },
		{ "passive_node_only", ADDR1, NULL, { .ai_flags = RAI_PASSIVE } },
		{ "passive_nothing", NULL, NULL, { .ai_flags = RAI_PASSIVE } },
		{ "family_only", ADDR1, "7471",
		  { .ai_flags = RAI_FAMILY, .ai_family = AF_INET } },
		{ "gid_without_its_flag", ADDR1, "7471",
		  { .ai_flags = RAI_NUMERICHOST, .ai_family = AF_IB } },
		{ "gid_of_ipv4", ADDR1, "7471",
		  { .ai_flags = RAI_NUMERICHOST | RAI_FAMILY, .ai_family = AF_IB } },
	};
	unsigned int i;

	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		resolve_line(part, odd[i].name, odd[i].node, odd[i].service,
			     &odd[i].hints);
}

/* Addresses in the hints are taken over, or not. */
static void resolve_with_addresses(const char *part)
{
	struct rdma_addrinfo hints = {
		.ai_src_addr = address(ADDR2, 0),
		.ai_src_len = sizeof(struct sockaddr_in),
		.ai_dst_addr = address(ADDR1, 7),
		.ai_dst_len = sizeof(struct sockaddr_in),
		.ai_port_space = RDMA_PS_TCP,
	};

	resolve_line(part, "both_addresses", NULL, NULL, &hints);
	resolve_line(part, "both_addresses_and_a_node", ADDR1, "7471", &hints);
	hints.ai_flags = RAI_PASSIVE;
	resolve_line(part, "both_addresses_passive", NULL, NULL, &hints);
	resolve_line(part, "both_addresses_passive_node", ADDR1, "7471", &hints);
	hints.ai_flags = 0;
	hints.ai_src_addr = NULL;
	hints.ai_src_len = 0;
	resolve_line(part, "destination_only", NULL, NULL, &hints);
	resolve_line(part, "destination_and_service", NULL, "7471", &hints);
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
	resolve_odd_hints(part);
	resolve_with_addresses(part);
}
