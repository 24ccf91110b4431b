// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Name resolution, by the C library's, or by a subnet's administrator.
 */
#include <endian.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/ib.h>

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

static int socktype_of(int qp_type)
{
	switch (qp_type) {
	case IBV_QPT_RC:
	case IBV_QPT_UC:
	case IBV_QPT_XRC_SEND:
	case IBV_QPT_XRC_RECV:
		return SOCK_STREAM;
	case IBV_QPT_UD:
		return SOCK_DGRAM;
	default:
		return 0;
	}
}

static int protocol_of(int port_space, int socktype)
{
	switch (port_space) {
	case RDMA_PS_TCP:
		return IPPROTO_TCP;
	case RDMA_PS_UDP:
	case RDMA_PS_IPOIB:
		return IPPROTO_UDP;
	case RDMA_PS_IB:
		if (socktype == SOCK_STREAM)
			return IPPROTO_TCP;
		return socktype == SOCK_DGRAM ? IPPROTO_UDP : 0;
	default:
		return 0;
	}
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
	ai->ai_socktype = socktype_of(hints->ai_qp_type);
	ai->ai_protocol = protocol_of(hints->ai_port_space, ai->ai_socktype);
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

/* A number is wanted as the GID that it is on the wire. */
static bool wants_gid(const struct rdma_addrinfo *hints)
{
	const int flags = RAI_FAMILY | RAI_NUMERICHOST;

	return hints && hints->ai_family == AF_IB &&
	       (hints->ai_flags & flags) == flags;
}

static __be16 put_gid(struct sockaddr_ib *ib, const struct sockaddr *address)
{
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
	uint8_t *gid = ib->sib_addr.sib_raw;

	if (address->sa_family == AF_INET) {
		gid[10] = 0xff;
		gid[11] = 0xff;
		memcpy(gid + 12, &v4->sin_addr, sizeof(v4->sin_addr));
		return v4->sin_port;
	}
	memcpy(gid, &v6->sin6_addr, sizeof(v6->sin6_addr));
	ib->sib_flowinfo = v6->sin6_flowinfo;
	ib->sib_scope_id = v6->sin6_scope_id;
	return v6->sin6_port;
}

static int copy_as_gid(struct sockaddr **target, socklen_t *target_length,
		       const struct sockaddr *address, uint64_t port_space)
{
	struct sockaddr_ib *ib = calloc(1, sizeof(*ib));
	uint64_t mask = 0;
	__be16 port;

	if (!ib)
		return -1;
	ib->sib_family = AF_IB;
	ib->sib_pkey = htobe16(0xffff);
	port = put_gid(ib, address);
	if (port_space)
		mask |= RDMA_IB_IP_PS_MASK;
	if (port)
		mask |= RDMA_IB_IP_PORT_MASK;
	ib->sib_sid = htobe64((port_space << 16) + be16toh(port));
	ib->sib_sid_mask = htobe64(mask);
	*target = (struct sockaddr *)ib;
	*target_length = sizeof(*ib);
	return 0;
}

static int put_address(struct rdma_addrinfo *res, const struct addrinfo *ai,
		       bool gid)
{
	bool passive = res->ai_flags & RAI_PASSIVE;
	struct sockaddr **address = passive ? &res->ai_src_addr :
					      &res->ai_dst_addr;
	socklen_t *length = passive ? &res->ai_src_len : &res->ai_dst_len;
	char **name = passive ? &res->ai_src_canonname : &res->ai_dst_canonname;

	if (copy_name(name, ai->ai_canonname))
		return -1;
	if (!gid)
		return copy_address(address, length, ai->ai_addr,
				    ai->ai_addrlen);
	res->ai_family = AF_IB;
	return copy_as_gid(address, length, ai->ai_addr, res->ai_port_space);
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
	ret = put_address(res, ai, wants_gid(hints));
	freeaddrinfo(ai);
	if (!ret && hints && !res->ai_src_addr)
		ret = copy_address(&res->ai_src_addr, &res->ai_src_len,
				   hints->ai_src_addr, hints->ai_src_len);
	return ret ? -1 : 0;
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
		return -1;
	return 0;
}

static void abandon(void *result)
{
	rdma_freeaddrinfo(result);
}

/**
 * rdma_getaddrinfo - translate a name to an address
 * @node: name or number of the host, or NULL
 * @service: name or number of the port, or with RAI_SA of the service, or NULL
 * @hints: what is wanted, or NULL
 * @res: where to put the result
 *
 * As rdma_getaddrinfo(3).  The result belongs to the caller, who frees it with
 * rdma_freeaddrinfo().  It holds no route: that is resolved by
 * rdma_resolve_route().
 *
 * Returns 0, or -1 and errno (EINVAL: nothing given, EOPNOTSUPP: RAI_SA with RAI_DNS or
 * a node, ENOMEM, and with RAI_SA as cmx_service_find()), or an error code of
 * getaddrinfo(3).
 */
CMX_EXPORT int rdma_getaddrinfo(const char *node, const char *service,
				const struct rdma_addrinfo *hints,
				struct rdma_addrinfo **res)
{
	const int flags = hints ? hints->ai_flags : 0;
	struct rdma_addrinfo *result;
	int ret;

	if (!res || (!node && !service && !hints))
		return cmx_error(EINVAL);
	if (flags & RAI_SA)
		return flags & RAI_DNS || node ? cmx_error(EOPNOTSUPP) :
						 cmx_service_find(service, res);
	result = calloc(1, sizeof(*result));
	if (!result)
		return -1;
	/* The C library's may be a cancellation point. */
	pthread_cleanup_push(abandon, result);
	ret = node || service ? resolve(result, node, service, hints) :
				take_hints(result, hints);
	pthread_cleanup_pop(ret);
	if (!ret)
		*res = result;
	return ret;
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
