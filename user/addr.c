// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Addresses and routes.
 */
#include <string.h>

#include <infiniband/ib.h>

#include "cmx.h"

/**
 * cmx_addr_length - bytes of a socket address
 * @address: the address, or NULL
 *
 * Returns 0 if there is none, or its family is not one of ours.
 */
socklen_t cmx_addr_length(const struct sockaddr *address)
{
	switch (address ? address->sa_family : AF_UNSPEC) {
	case AF_INET:
		return sizeof(struct sockaddr_in);
	case AF_INET6:
		return sizeof(struct sockaddr_in6);
	case AF_IB:
		return sizeof(struct sockaddr_ib);
	default:
		return 0;
	}
}

/**
 * cmx_addr_put - put a socket address as the kernel wants it
 * @address: the address, or NULL
 * @target: where to put it, all zeros
 *
 * errno: EINVAL (no address, or its family is not one of ours).
 */
int cmx_addr_put(const struct sockaddr *address, struct rdma_ucmx_addr *target)
{
	socklen_t length = cmx_addr_length(address);

	_Static_assert(sizeof(struct sockaddr_ib) <= sizeof(*target),
		       "address too long");
	if (!length)
		return cmx_error(EINVAL);
	memcpy(target, address, length);
	return 0;
}

/**
 * cmx_addr_query - ask the kernel for an id's addresses and device
 * @id: the id
 */
int cmx_addr_query(struct cmx_id *id)
{
	struct rdma_ucmx_query command = {
		.size = sizeof(command),
		.id = atomic_load(&id->handle),
	};

	if (cmx_id_command(id, RDMA_UCMX_QUERY, &command) < 0)
		return -1;
	return cmx_record_apply_route(id, &command.out_route);
}

/**
 * rdma_bind_addr - bind an id to a local address
 * @id: the id
 * @addr: local address; a wildcard address or port 0 are possible
 *
 * As rdma_bind_addr(3).
 *
 * errno: EINVAL (no address, family unknown, already bound), EADDRINUSE,
 * EADDRNOTAVAIL, ENODEV.
 */
CMX_EXPORT int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	struct cmx_id *own = cmx_id_of(id);
	struct rdma_ucmx_bind_addr command = {
		.size = sizeof(command),
		.id = atomic_load(&own->handle),
	};

	if (cmx_addr_put(addr, &command.addr) ||
	    cmx_id_command(own, RDMA_UCMX_BIND_ADDR, &command) < 0)
		return -1;
	return cmx_addr_query(own);
}

/* Returns what was there, of as many bytes. */
static struct sockaddr_storage set_destination(struct cmx_id *id,
					       const struct sockaddr *address)
{
	struct sockaddr_storage *target = &id->id.route.addr.dst_storage;
	const socklen_t length = cmx_addr_length(address);
	struct sockaddr_storage old;

	pthread_mutex_lock(&id->lock);
	memcpy(&old, target, length);
	memcpy(target, address, length);
	pthread_mutex_unlock(&id->lock);
	return old;
}

/* Nothing will come of it, unless an event of before has come meanwhile. */
static void unset_destination(struct cmx_id *id, const struct sockaddr *address,
			      const struct sockaddr_storage *old)
{
	struct sockaddr_storage *target = &id->id.route.addr.dst_storage;
	const socklen_t length = cmx_addr_length(address);

	pthread_mutex_lock(&id->lock);
	if (!memcmp(target, address, length))
		memcpy(target, old, length);
	pthread_mutex_unlock(&id->lock);
}

/**
 * rdma_resolve_addr - resolve destination and optional source addresses
 * @id: the id
 * @src_addr: local address, or NULL
 * @dst_addr: address of the peer
 * @timeout_ms: how long to try, in milliseconds
 *
 * As rdma_resolve_addr(3).  ADDR_RESOLVED or ADDR_ERROR follows, which a
 * synchronous id waits for.
 *
 * errno: EINVAL (no address, family unknown, wrong state), as
 * rdma_bind_addr(), and of a synchronous id as cmx_sync_wait().
 */
CMX_EXPORT int rdma_resolve_addr(struct rdma_cm_id *id,
				 struct sockaddr *src_addr,
				 struct sockaddr *dst_addr, int timeout_ms)
{
	struct cmx_id *own = cmx_id_of(id);
	struct rdma_ucmx_resolve_addr command = {
		.size = sizeof(command),
		.id = atomic_load(&own->handle),
		.timeout_ms = timeout_ms,
	};
	struct cmx_channel *channel;
	struct sockaddr_storage old;

	if (cmx_addr_put(dst_addr, &command.dst_addr) ||
	    (src_addr && cmx_addr_put(src_addr, &command.src_addr)))
		return -1;
	/* Before the command: the event that follows it writes here, too. */
	old = set_destination(own, dst_addr);
	channel = cmx_sync_channel(own);
	if (cmx_id_command(own, RDMA_UCMX_RESOLVE_ADDR, &command) < 0) {
		unset_destination(own, dst_addr, &old);
		cmx_channel_put(channel);
		return -1;
	}
	return cmx_sync_wait(own, channel, CMX_RESOLVE_ADDR, 0);
}

/**
 * rdma_resolve_route - find the way to a destination
 * @id: the id, whose address was resolved
 * @timeout_ms: how long to try, in milliseconds
 *
 * As rdma_resolve_route(3).  ROUTE_RESOLVED or ROUTE_ERROR follows, which a
 * synchronous id waits for.
 *
 * errno: EINVAL (wrong state), and of a synchronous id as cmx_sync_wait().
 */
CMX_EXPORT int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	struct cmx_id *own = cmx_id_of(id);
	struct rdma_ucmx_resolve_route command = {
		.size = sizeof(command),
		.id = atomic_load(&own->handle),
		.timeout_ms = timeout_ms,
	};

	return cmx_sync_command(own, RDMA_UCMX_RESOLVE_ROUTE, &command,
				CMX_RESOLVE_ROUTE);
}

static __be16 port_of(const struct sockaddr_storage *address)
{
	const struct sockaddr_ib *ib;

	switch (address->ss_family) {
	case AF_INET:
		return ((const struct sockaddr_in *)address)->sin_port;
	case AF_INET6:
		return ((const struct sockaddr_in6 *)address)->sin6_port;
	case AF_IB:
		ib = (const struct sockaddr_ib *)address;
		return htobe16(be64toh(ib->sib_sid));
	default:
		return 0;
	}
}

/**
 * rdma_get_src_port - local port number of an id
 * @id: the id
 *
 * As rdma_get_src_port(3).  Returns it in network byte order, 0 if there is
 * none.
 */
CMX_EXPORT __be16 rdma_get_src_port(struct rdma_cm_id *id)
{
	return port_of(&id->route.addr.src_storage);
}

/**
 * rdma_get_dst_port - port number of an id's peer
 * @id: the id
 *
 * As rdma_get_dst_port(3).  Returns it in network byte order, 0 if there is
 * none.
 */
CMX_EXPORT __be16 rdma_get_dst_port(struct rdma_cm_id *id)
{
	return port_of(&id->route.addr.dst_storage);
}
