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

static void put_hints(struct addrinfo *ai, const struct rdma_addrinfo *hints)
{
	if (hints->ai_flags & RAI_PASSIVE)
		ai->ai_flags |= AI_PASSIVE;
	if (hints->ai_flags & RAI_NUMERICHOST)
		ai->ai_flags |= AI_NUMERICHOST;
	/* The C library does not know the names of AF_IB. */
	if (hints->ai_family != AF_IB)
		ai->ai_family = hints->ai_family;
	if (hints->ai_qp_type == IBV_QPT_UD)
		ai->ai_socktype = SOCK_DGRAM;
	else if (hints->ai_qp_type)
		ai->ai_socktype = SOCK_STREAM;
	if (hints->ai_port_space == RDMA_PS_TCP)
		ai->ai_protocol = IPPROTO_TCP;
	else if (hints->ai_port_space == RDMA_PS_UDP ||
		 hints->ai_port_space == RDMA_PS_IPOIB)
		ai->ai_protocol = IPPROTO_UDP;
}

/* What was not asked for follows from what the C library found. */
static void put_types(struct rdma_addrinfo *res, const struct addrinfo *ai,
		      const struct rdma_addrinfo *hints)
{
	bool datagram = ai->ai_socktype == SOCK_DGRAM;

	res->ai_family = ai->ai_family;
	res->ai_qp_type = datagram ? IBV_QPT_UD : IBV_QPT_RC;
	res->ai_port_space = datagram ? RDMA_PS_UDP : RDMA_PS_TCP;
	if (hints && hints->ai_qp_type)
		res->ai_qp_type = hints->ai_qp_type;
	if (hints && hints->ai_port_space)
		res->ai_port_space = hints->ai_port_space;
}

static int put_address(struct rdma_addrinfo *res, const struct addrinfo *ai)
{
	if (res->ai_flags & RAI_PASSIVE)
		return copy_address(&res->ai_src_addr, &res->ai_src_len,
				    ai->ai_addr, ai->ai_addrlen) ||
		       copy_name(&res->ai_src_canonname, ai->ai_canonname);
	return copy_address(&res->ai_dst_addr, &res->ai_dst_len, ai->ai_addr,
			    ai->ai_addrlen) ||
	       copy_name(&res->ai_dst_canonname, ai->ai_canonname);
}

/* Resolve the node and the service; a source that was given stays. */
static int resolve(struct rdma_addrinfo *res, const char *node,
		   const char *service, const struct rdma_addrinfo *hints)
{
	struct addrinfo ai_hints = { 0 }, *ai;
	int ret;

	if (hints) {
		put_hints(&ai_hints, hints);
		res->ai_flags = hints->ai_flags & RAI_PASSIVE;
	}
	ret = getaddrinfo(node, service, &ai_hints, &ai);
	if (ret)
		return ret;
	put_types(res, ai, hints);
	ret = put_address(res, ai);
	freeaddrinfo(ai);
	if (!ret && hints && !res->ai_src_addr)
		ret = copy_address(&res->ai_src_addr, &res->ai_src_len,
				   hints->ai_src_addr, hints->ai_src_len);
	return ret ? EAI_MEMORY : 0;
}

/* With nothing to resolve, the hints are the result. */
static int take_hints(struct rdma_addrinfo *res,
		      const struct rdma_addrinfo *hints)
{
	res->ai_flags = hints->ai_flags;
	res->ai_family = hints->ai_family;
	res->ai_qp_type = hints->ai_qp_type;
	res->ai_port_space = hints->ai_port_space;
	if (copy_address(&res->ai_src_addr, &res->ai_src_len,
			 hints->ai_src_addr, hints->ai_src_len) ||
	    copy_address(&res->ai_dst_addr, &res->ai_dst_len,
			 hints->ai_dst_addr, hints->ai_dst_len))
		return EAI_MEMORY;
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
	int ret;

	if (!res || (!node && !service && !hints))
		return cmx_error(EINVAL);
	result = calloc(1, sizeof(*result));
	if (!result)
		return EAI_MEMORY;
	if (node || service)
		ret = resolve(result, node, service, hints);
	else
		ret = take_hints(result, hints);
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
