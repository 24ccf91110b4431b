// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Name resolution, by the C library's.
 */
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "cmx.h"

static int copy_address(struct sockaddr **target, socklen_t *target_length,
			const struct sockaddr *address, socklen_t length)
{
	if (!address || !length)
		return 0;
	*target = calloc(1, length);
	if (!*target)
		return -1;
	memcpy(*target, address, length);
	*target_length = length;
	return 0;
}

static int copy_name(char **target, const char *name)
{
	if (!name)
		return 0;
	*target = strdup(name);
	return *target ? 0 : -1;
}

/* The library's socket type for a port space, and its protocol. */
static void put_port_space(struct addrinfo *ai, int port_space)
{
	if (port_space == RDMA_PS_UDP) {
		ai->ai_socktype = SOCK_DGRAM;
		ai->ai_protocol = IPPROTO_UDP;
	} else {
		ai->ai_socktype = SOCK_STREAM;
		ai->ai_protocol = IPPROTO_TCP;
	}
}

static void put_hints(struct addrinfo *ai, const struct rdma_addrinfo *hints,
		      int port_space)
{
	put_port_space(ai, port_space);
	if (!hints)
		return;
	if (hints->ai_flags & RAI_PASSIVE)
		ai->ai_flags |= AI_PASSIVE;
	if (hints->ai_flags & RAI_NUMERICHOST)
		ai->ai_flags |= AI_NUMERICHOST;
	if (hints->ai_flags & RAI_FAMILY)
		ai->ai_family = hints->ai_family;
}

static int default_port_space(const struct rdma_addrinfo *hints)
{
	if (hints && hints->ai_port_space)
		return hints->ai_port_space;
	return hints && hints->ai_qp_type == IBV_QPT_UD ? RDMA_PS_UDP :
							  RDMA_PS_TCP;
}

static int default_qp_type(const struct rdma_addrinfo *hints, int port_space)
{
	if (hints && hints->ai_qp_type)
		return hints->ai_qp_type;
	return port_space == RDMA_PS_UDP || port_space == RDMA_PS_IPOIB ?
		       IBV_QPT_UD :
		       IBV_QPT_RC;
}

/* Resolve the node and the service into the result. */
static int resolve(const char *node, const char *service,
		   const struct rdma_addrinfo *hints, struct rdma_addrinfo *res)
{
	struct addrinfo ai_hints = { 0 }, *list;
	int ret;

	put_hints(&ai_hints, hints, res->ai_port_space);
	ret = getaddrinfo(node, service, &ai_hints, &list);
	if (ret)
		return ret;
	res->ai_family = list->ai_family;
	if (res->ai_flags & RAI_PASSIVE)
		ret = copy_address(&res->ai_src_addr, &res->ai_src_len,
				   list->ai_addr, list->ai_addrlen) ||
		      copy_name(&res->ai_src_canonname, list->ai_canonname);
	else
		ret = copy_address(&res->ai_dst_addr, &res->ai_dst_len,
				   list->ai_addr, list->ai_addrlen) ||
		      copy_name(&res->ai_dst_canonname, list->ai_canonname);
	freeaddrinfo(list);
	return ret ? EAI_MEMORY : 0;
}

/* Addresses given as hints stand where resolving has put none. */
static int take_hints(const struct rdma_addrinfo *hints,
		      struct rdma_addrinfo *res)
{
	if (!hints)
		return 0;
	if (!res->ai_src_addr &&
	    copy_address(&res->ai_src_addr, &res->ai_src_len,
			 hints->ai_src_addr, hints->ai_src_len))
		return EAI_MEMORY;
	if (!res->ai_dst_addr && !(res->ai_flags & RAI_PASSIVE) &&
	    copy_address(&res->ai_dst_addr, &res->ai_dst_len,
			 hints->ai_dst_addr, hints->ai_dst_len))
		return EAI_MEMORY;
	if (!res->ai_family && res->ai_dst_addr)
		res->ai_family = res->ai_dst_addr->sa_family;
	else if (!res->ai_family && res->ai_src_addr)
		res->ai_family = res->ai_src_addr->sa_family;
	return 0;
}

/**
 * rdma_getaddrinfo - translate a name to an address
 * @node: name or number of the host, or NULL
 * @service: name or number of the port, or NULL
 * @hints: what is wanted, or NULL
 * @res: where to put the result
 *
 * As rdma_getaddrinfo(3).  The result belongs to the caller, who frees it with
 * rdma_freeaddrinfo().  It holds no route: that is resolved by
 * rdma_resolve_route().
 *
 * Returns 0, or -1 and errno (EINVAL: nothing given), or an error code of
 * getaddrinfo(3).
 */
CMX_EXPORT int rdma_getaddrinfo(const char *node, const char *service,
				const struct rdma_addrinfo *hints,
				struct rdma_addrinfo **res)
{
	struct rdma_addrinfo *result;
	int ret = 0;

	if (!res || (!node && !service && !hints))
		return cmx_error(EINVAL);
	result = calloc(1, sizeof(*result));
	if (!result)
		return EAI_MEMORY;
	result->ai_flags = hints ? hints->ai_flags : 0;
	result->ai_port_space = default_port_space(hints);
	result->ai_qp_type = default_qp_type(hints, result->ai_port_space);
	if (node || service)
		ret = resolve(node, service, hints, result);
	if (!ret)
		ret = take_hints(hints, result);
	if (ret) {
		rdma_freeaddrinfo(result);
		return ret;
	}
	*res = result;
	return 0;
}

/**
 * rdma_freeaddrinfo - free a list of addresses
 * @res: what rdma_getaddrinfo() gave
 *
 * As rdma_freeaddrinfo(3).
 */
CMX_EXPORT void rdma_freeaddrinfo(struct rdma_addrinfo *res)
{
	struct rdma_addrinfo *next;

	for (; res; res = next) {
		next = res->ai_next;
		free(res->ai_src_addr);
		free(res->ai_dst_addr);
		free(res->ai_src_canonname);
		free(res->ai_dst_canonname);
		free(res->ai_route);
		free(res->ai_connect);
		free(res);
	}
}
