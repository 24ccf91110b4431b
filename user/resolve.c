// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Name resolution that ends with an event, and events that the user raises: what
 * RDMACM_1.4 has more than the versions before.
 *
 * The name is resolved by the C library in the calling thread, since that is
 * the only one there is; the result waits in the id, and an event of the type
 * INTERNAL is raised, which the reader turns into what the user sees.  A service of a
 * subnet is resolved by rdma_cm, whose event brings the result.
 */
#include <netdb.h>
#include <time.h>

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

/* No other of this id's has it, whichever process begins that. */
static uint64_t new_number(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/**
 * cmx_addrinfo_begin - note that a name is being translated
 * @id: the id
 * @by_service: whether a subnet's administrator is asked
 *
 * One at a time, until that has failed or the result was taken.  Returns its number, or
 * 0 and errno: EBUSY.
 */
uint64_t cmx_addrinfo_begin(struct cmx_id *id, bool by_service)
{
	uint64_t number = 0;

	pthread_mutex_lock(&id->lock);
	if (!id->resolving && !id->addrinfo) {
		number = new_number();
		id->resolving = number;
		id->by_service = by_service;
	}
	pthread_mutex_unlock(&id->lock);
	if (!number)
		errno = EBUSY;
	return number;
}

/**
 * cmx_addrinfo_failed - note that nobody waits for it any more
 * @id: the id
 * @number: what cmx_addrinfo_begin() returned
 *
 * Keeps errno.
 */
void cmx_addrinfo_failed(struct cmx_id *id, uint64_t number)
{
	struct rdma_addrinfo *old = NULL;

	pthread_mutex_lock(&id->lock);
	if (id->resolving == number) {
		id->resolving = 0;
		old = id->found;
		id->found = NULL;
	}
	pthread_mutex_unlock(&id->lock);
	rdma_freeaddrinfo(old);
}

/**
 * cmx_addrinfo_named - note that the event of a name's translation was read
 * @id: the id
 * @number: what cmx_addrinfo_begin() returned
 * @status: the event's
 *
 * Returns whether anybody waits for it.
 */
bool cmx_addrinfo_named(struct cmx_id *id, uint64_t number, int status)
{
	bool is_it;

	pthread_mutex_lock(&id->lock);
	is_it = id->resolving == number;
	if (is_it) {
		id->addrinfo = id->found;
		id->found = NULL;
		if (status)
			id->resolving = 0;
	}
	pthread_mutex_unlock(&id->lock);
	return is_it;
}

/**
 * cmx_addrinfo_served - note that the event of a service's resolution was read
 * @id: the id
 * @info: who has it, NULL for nobody; the id's from now on
 *
 * Returns false if a name is waited for.  Who began it may have been another process, or
 * have given up waiting.
 */
bool cmx_addrinfo_served(struct cmx_id *id, struct rdma_addrinfo *info)
{
	struct rdma_addrinfo *old = info;
	bool is_it;

	pthread_mutex_lock(&id->lock);
	is_it = !id->resolving || id->by_service;
	if (is_it) {
		old = id->addrinfo;
		id->addrinfo = info;
		if (!info)
			id->resolving = 0;
	}
	pthread_mutex_unlock(&id->lock);
	rdma_freeaddrinfo(old);
	return is_it;
}

/* What a thread does that is cancelled, and has a reference to the id until then. */
struct resolution {
	struct cmx_id *id;
	uint64_t number;
};

static void give_up(void *argument)
{
	struct resolution *resolution = argument;

	cmx_addrinfo_failed(resolution->id, resolution->number);
}

/**
 * cmx_addrinfo_wait - wait for what was begun, if the id was synchronous
 * @id: the id
 * @channel: as with cmx_sync_wait()
 * @number: what cmx_addrinfo_begin() returned
 *
 * As cmx_sync_wait().  Who is turned away leaves it to whoever has the id then; nobody
 * else would read what the channel of a synchronous id has.
 */
int cmx_addrinfo_wait(struct cmx_id *id, struct cmx_channel *channel, uint64_t number)
{
	struct resolution resolution = { id, number };
	int ret;

	pthread_cleanup_push(give_up, &resolution);
	ret = cmx_sync_wait(id, channel, CMX_RESOLVE_ADDRINFO, 0);
	pthread_cleanup_pop(0);
	if (ret && errno != ESHUTDOWN)
		give_up(&resolution);
	return ret;
}

static void put_found(struct cmx_id *id, struct rdma_addrinfo *info)
{
	pthread_mutex_lock(&id->lock);
	id->found = info;
	pthread_mutex_unlock(&id->lock);
}

/* The C library's may be a cancellation point. */
static int find(struct resolution *resolution, const char *node, const char *service,
		const struct rdma_addrinfo *hints)
{
	struct rdma_addrinfo *info = NULL;
	int status;

	pthread_cleanup_push(give_up, resolution);
	status = status_of(rdma_getaddrinfo(node, service, hints, &info));
	pthread_cleanup_pop(0);
	put_found(resolution->id, info);
	return status;
}

static int resolve_name(struct cmx_id *id, const char *node, const char *service,
			const struct rdma_addrinfo *hints)
{
	struct resolution resolution = { id, cmx_addrinfo_begin(id, false) };
	struct cmx_channel *channel;
	int status;

	if (!resolution.number)
		return -1;
	status = find(&resolution, node, service, hints);
	channel = cmx_sync_channel(id);
	if (!cmx_write_event(id, RDMA_UCMX_EVENT_TYPE_INTERNAL, status,
			     CMX_RESOLUTION | resolution.number))
		return cmx_addrinfo_wait(id, channel, resolution.number);
	cmx_channel_put(channel);
	give_up(&resolution);
	return -1;
}

/**
 * rdma_resolve_addrinfo - translate a name to an address
 * @id: the id
 * @node: name or number of the host, or NULL
 * @service: name or number of the port, or with RAI_SA of the service
 * @hints: what is wanted, or NULL
 *
 * As rdma_resolve_addrinfo(3).  ADDRINFO_RESOLVED or ADDRINFO_ERROR follows,
 * which a synchronous id waits for; then rdma_query_addrinfo() has the result.
 * May take as long as getaddrinfo(3), but with RAI_SA.
 *
 * errno: EINVAL (nothing given), EBUSY (the last result was not asked for, or is
 * not there yet), EOPNOTSUPP (RAI_SA with RAI_DNS or a node), ENOSPC (too many
 * events that were not acknowledged), with RAI_SA as cmx_service_resolve(), and of
 * a synchronous id as cmx_sync_wait().
 */
CMX_EXPORT int rdma_resolve_addrinfo(struct rdma_cm_id *id, const char *node,
				     const char *service,
				     const struct rdma_addrinfo *hints)
{
	const int flags = hints ? hints->ai_flags : 0;

	if (!id || (!node && !service && !hints))
		return cmx_error(EINVAL);
	if (!(flags & RAI_SA))
		return resolve_name(cmx_id_of(id), node, service, hints);
	if (flags & RAI_DNS || node)
		return cmx_error(EOPNOTSUPP);
	return cmx_service_resolve(cmx_id_of(id), service);
}

/**
 * rdma_query_addrinfo - say what a name was translated to
 * @id: the id
 * @info: where to put it
 *
 * As rdma_query_addrinfo(3).  What the last rdma_resolve_addrinfo() found
 * belongs to the caller then, who frees it with rdma_freeaddrinfo().
 *
 * errno: EINVAL, ENOENT (it found nothing, or that was handed out already).
 */
CMX_EXPORT int rdma_query_addrinfo(struct rdma_cm_id *id,
				   struct rdma_addrinfo **info)
{
	struct cmx_id *own;
	struct rdma_addrinfo *found;

	if (!id || !info)
		return cmx_error(EINVAL);
	own = cmx_id_of(id);
	pthread_mutex_lock(&own->lock);
	found = own->addrinfo;
	own->addrinfo = NULL;
	if (found)
		own->resolving = 0;
	pthread_mutex_unlock(&own->lock);
	if (!found)
		return cmx_error(ENOENT);
	*info = found;
	return 0;
}
