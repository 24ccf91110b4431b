// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Name resolution that ends with an event, and events that the user raises: what
 * RDMACM_1.4 has more than the versions before.
 *
 * The name is resolved by the C library in the calling thread, since that is
 * the only one there is; the result waits in the id, and an event of the type
 * INTERNAL is raised, which the reader turns into what the user sees.  The
 * subnet administrator's services are beyond this kernel's rdma_cm.
 */
#include <netdb.h>

#include "cmx.h"

/**
 * cmx_write_event - raise an event
 * @id: the id whose event it is
 * @event: RDMA_UCMX_EVENT_TYPE_USER, or RDMA_UCMX_EVENT_TYPE_INTERNAL for one of the
 *         library's own, see deliver.c
 * @status: its status
 * @arg: returned with it; of one of the library's own the number of the multicast
 *       group that it is about, or 0
 */
int cmx_write_event(struct cmx_id *id, uint32_t event, int status, uint64_t arg)
{
	struct rdma_ucmx_write_event command = {
		.size = sizeof(command),
		.id = atomic_load(&id->handle),
		.event = event,
		.status = status,
		.arg = arg,
	};

	return cmx_id_command(id, RDMA_UCMX_WRITE_EVENT, &command);
}

/**
 * rdma_write_cm_event - raise an event of the user's own
 * @id: the id whose event it is
 * @event: RDMA_CM_EVENT_USER
 * @status: status of the event
 * @arg: returned with the event, see rdmax_event_arg()
 *
 * As rdma_write_cm_event(3).
 *
 * errno: EINVAL (any other event), ENOSPC (too many that were not
 * acknowledged).
 */
CMX_EXPORT int rdma_write_cm_event(struct rdma_cm_id *id,
				   enum rdma_cm_event_type event, int status,
				   uint64_t arg)
{
	if (event != RDMA_CM_EVENT_USER)
		return cmx_error(EINVAL);
	return cmx_write_event(cmx_id_of(id), RDMA_UCMX_EVENT_TYPE_USER,
			       status, arg);
}

/* From what rdma_getaddrinfo() returned to the status of an event. */
static int status_of(int ret)
{
	switch (ret) {
	case 0:
		return 0;
	case EAI_AGAIN:
		return -EAGAIN;
	case EAI_MEMORY:
		return -ENOMEM;
	case EAI_FAMILY:
		return -EAFNOSUPPORT;
	case EAI_SYSTEM:
	case -1:
		return errno ? -errno : -EIO;
	default:
		return -ENXIO;
	}
}

/* Returns what was there, for the caller to free. */
static struct rdma_addrinfo *keep(struct cmx_id *id, struct rdma_addrinfo *info)
{
	struct rdma_addrinfo *old;

	pthread_mutex_lock(&id->lock);
	old = id->addrinfo;
	id->addrinfo = info;
	pthread_mutex_unlock(&id->lock);
	return old;
}

/**
 * rdma_resolve_addrinfo - translate a name to an address
 * @id: the id
 * @node: name or number of the host, or NULL
 * @service: name or number of the port, or NULL
 * @hints: what is wanted, or NULL
 *
 * As rdma_resolve_addrinfo(3).  ADDRINFO_RESOLVED or ADDRINFO_ERROR follows,
 * which a synchronous id waits for; then rdma_query_addrinfo() has the result.
 * May take as long as getaddrinfo(3).
 *
 * errno: EINVAL (nothing given, or contradicting flags), EOPNOTSUPP (RAI_SA),
 * ENOSPC (too many events that were not acknowledged), and of a synchronous id
 * as cmx_sync_wait().
 */
CMX_EXPORT int rdma_resolve_addrinfo(struct rdma_cm_id *id, const char *node,
				     const char *service,
				     const struct rdma_addrinfo *hints)
{
	const int flags = hints ? hints->ai_flags : 0;
	struct rdma_addrinfo *info = NULL, *old;
	struct cmx_channel *channel;
	struct cmx_id *own;
	int status, saved;

	if (!id || (!node && !service && !hints) ||
	    (flags & RAI_SA && flags & RAI_DNS))
		return cmx_error(EINVAL);
	if (flags & RAI_SA)
		return cmx_error(EOPNOTSUPP);
	own = cmx_id_of(id);
	status = status_of(rdma_getaddrinfo(node, service, hints, &info));
	old = keep(own, info);
	channel = cmx_sync_channel(own);
	if (cmx_write_event(own, RDMA_UCMX_EVENT_TYPE_INTERNAL, status, 0)) {
		saved = errno;
		cmx_channel_put(channel);
		rdma_freeaddrinfo(keep(own, old));
		return cmx_error(saved);
	}
	rdma_freeaddrinfo(old);
	return cmx_sync_wait(own, channel, CMX_RESOLVE_ADDRINFO, 0);
}

/**
 * rdma_query_addrinfo - say what a name was translated to
 * @id: the id
 * @info: where to put it
 *
 * As rdma_query_addrinfo(3).  What the last rdma_resolve_addrinfo() found
 * belongs to the caller then, who frees it with rdma_freeaddrinfo().
 *
 * errno: EINVAL, ENODATA (it found nothing, or that was handed out already).
 */
CMX_EXPORT int rdma_query_addrinfo(struct rdma_cm_id *id,
				   struct rdma_addrinfo **info)
{
	struct cmx_id *own;

	if (!id || !info)
		return cmx_error(EINVAL);
	own = cmx_id_of(id);
	pthread_mutex_lock(&own->lock);
	*info = own->addrinfo;
	own->addrinfo = NULL;
	pthread_mutex_unlock(&own->lock);
	return *info ? 0 : cmx_error(ENODATA);
}
