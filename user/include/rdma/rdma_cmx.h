/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What librdmacmx offers beyond <rdma/rdma_cma.h>.
 *
 * A program is linked with -lrdmacmx instead of -lrdmacm.  With both, the
 * functions of <rdma/rdma_cma.h> are those of the one that comes first, and if
 * that is librdmacm, its ids and channels mean nothing here: EXDEV.
 */
#ifndef RDMA_CMX_H
#define RDMA_CMX_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <rdma/rdma_cma.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What <rdma/rdma_cma.h> of symbol version RDMACM_1.4 has more than those
 * before it.
 */
#ifndef RAI_SA
#define RAI_SA	0x00000010
#define RAI_DNS	0x00000020

#define RDMA_CM_EVENT_ADDRINFO_RESOLVED	((enum rdma_cm_event_type)16)
#define RDMA_CM_EVENT_ADDRINFO_ERROR	((enum rdma_cm_event_type)17)
#define RDMA_CM_EVENT_USER		((enum rdma_cm_event_type)18)
#define RDMA_CM_EVENT_INTERNAL		((enum rdma_cm_event_type)19)
#endif

/**
 * rdma_resolve_addrinfo - Translate a name to an address.
 * @id: Identifier that the event is of.
 * @node: Name or number of the host, or NULL.
 * @service: Name or number of the port, or NULL.
 * @hints: What is wanted, or NULL.
 *
 * As rdma_getaddrinfo(), with RDMA_CM_EVENT_ADDRINFO_RESOLVED or
 * RDMA_CM_EVENT_ADDRINFO_ERROR for an answer.
 *
 * Returns 0, or -1 and errno: EOPNOTSUPP (RAI_SA).
 */
int rdma_resolve_addrinfo(struct rdma_cm_id *id, const char *node,
			  const char *service,
			  const struct rdma_addrinfo *hints);

/**
 * rdma_query_addrinfo - Say what a name was translated to.
 * @id: Identifier of which RDMA_CM_EVENT_ADDRINFO_RESOLVED was read.
 * @info: The result, for the caller to free with rdma_freeaddrinfo().
 *
 * Returns 0, or -1 and errno: ENODATA (there is none).
 */
int rdma_query_addrinfo(struct rdma_cm_id *id, struct rdma_addrinfo **info);

/**
 * rdma_write_cm_event - Raise an event.
 * @id: Identifier that the event is of.
 * @event: RDMA_CM_EVENT_USER.
 * @status: Status of the event.
 * @arg: What rdmax_event_arg() says of the event.
 *
 * Returns 0, or -1 and errno: EINVAL (another event), ENOSPC (too many that
 * were not acknowledged).
 */
int rdma_write_cm_event(struct rdma_cm_id *id, enum rdma_cm_event_type event,
			int status, uint64_t arg);

/**
 * rdmax_event_arg - Say what rdma_write_cm_event() was given.
 * @event: RDMA_CM_EVENT_USER.
 *
 * It is event->param.arg where <rdma/rdma_cma.h> has that.
 */
static inline uint64_t rdmax_event_arg(const struct rdma_cm_event *event)
{
	uint64_t arg;

	memcpy(&arg, &event->param, sizeof(arg));
	return arg;
}

/* Fail with EAGAIN instead of waiting for acknowledgements. */
#define RDMAX_NONBLOCK (1 << 0)

/**
 * rdmax_migrate_id - Move an id to another event channel.
 * @id: Identifier to migrate.
 * @channel: Channel that it goes to, or NULL to make it synchronous.
 * @held: An event of @id in the caller's hand, or NULL.  It counts as
 *   acknowledged, and is freed, if and only if the call succeeds.
 * @flags: 0 or RDMAX_NONBLOCK.
 * @deadline: Absolute CLOCK_MONOTONIC time until which to wait, NULL for
 *   ever.
 *
 * Moves @id and the events of it that nobody has read, of a listener the
 * connection requests too, once all those that were read are acknowledged.
 * Either all of it happens or nothing.
 *
 * Returns 0, or -1 and errno: EINVAL (@id is NULL, or is synchronous and is to
 * be, @held is not an unacknowledged event of @id, or @deadline is no time),
 * EXDEV (@id or @channel is librdmacm's), EOPNOTSUPP (unknown flag), EBADF
 * (@channel was destroyed), EBUSY (another migration of @id is under way),
 * EAGAIN, ETIMEDOUT, EINTR (events are unacknowledged), ECANCELED (@id was
 * destroyed meanwhile), ENOSPC (@channel is full), EMFILE (an @id that becomes
 * synchronous needs a descriptor).
 */
int rdmax_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel,
		     struct rdma_cm_event *held, int flags,
		     const struct timespec *deadline);

/**
 * struct rdmax_channel_info - What rdmax_query_channel() says.
 * @features: RDMA_UCMX_FEATURE_* of the kernel's module.
 * @ids: Identifiers that the channel owns, unread connection requests
 *   included.
 * @pending: Events that could be read now.
 * @outstanding: Events that were read and are not yet acknowledged.
 * @max_ids: Limit of identifiers on this machine.
 * @max_channel_ids: Limit of @ids.
 * @max_backlog: Limit of unread connection requests of one listener.
 *
 * Grows only at its end.
 */
struct rdmax_channel_info {
	uint64_t features;
	uint32_t ids;
	uint32_t pending;
	uint32_t outstanding;
	uint32_t max_ids;
	uint32_t max_channel_ids;
	uint32_t max_backlog;
};

/**
 * rdmax_query_channel - Say how an event channel is.
 * @channel: Channel to ask.
 * @info: Filled in; what this library does not know becomes zero.
 * @size: sizeof(struct rdmax_channel_info) of the caller.
 *
 * Returns 0, or -1 and errno: EINVAL (a parameter is NULL or zero), EXDEV
 * (@channel is librdmacm's), EBADF (@channel was destroyed).
 */
int rdmax_query_channel(struct rdma_event_channel *channel,
			struct rdmax_channel_info *info, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* RDMA_CMX_H */
