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
 * @service: Name or number of the port, or with RAI_SA of the service, or NULL.
 * @hints: What is wanted, or NULL.
 *
 * As rdma_getaddrinfo(), with RDMA_CM_EVENT_ADDRINFO_RESOLVED or
 * RDMA_CM_EVENT_ADDRINFO_ERROR for an answer.
 *
 * Returns 0, or -1 and errno: EBUSY (the last result was not taken, or is not there
 * yet), EOPNOTSUPP (RAI_SA, and there is nobody to ask).
 */
int rdma_resolve_addrinfo(struct rdma_cm_id *id, const char *node,
			  const char *service,
			  const struct rdma_addrinfo *hints);

/**
 * rdma_query_addrinfo - Say what a name was translated to.
 * @id: Identifier of which RDMA_CM_EVENT_ADDRINFO_RESOLVED was read.
 * @info: The result, for the caller to free with rdma_freeaddrinfo().
 *
 * Returns 0, or -1 and errno: ENOENT (there is none).
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

/**
 * DOC: Waiting for acknowledgements
 *
 * A migration, a destruction and the leaving of a multicast group wait until
 * the events that were read are acknowledged.  What the functions for them have
 * in common:
 *
 * held is an event of the id that the caller has in hand, or NULL.  It counts
 * as acknowledged, and is freed, if and only if the call succeeds: so the id of
 * an event can be migrated or destroyed while the event is being handled.  A
 * connection request is an event of its listener, not of the id that it brings.
 *
 * flags may have RDMAX_NONBLOCK: where the call would wait it fails with EAGAIN,
 * and nothing has changed.
 *
 * deadline is the CLOCK_MONOTONIC time until which to wait, NULL for ever.  After
 * it the call fails with ETIMEDOUT.  One that is past is no error if there is
 * nothing to wait for.
 *
 * A signal whose handler does not have calls restarted (SA_RESTART) ends the
 * wait with EINTR, except in rdma_destroy_id() and rdma_leave_multicast().
 *
 * rdmax_query_id() says what is waited for.
 *
 * Every function fails with EXDEV, as far as that can be told, if the id or
 * the channel is librdmacm's.
 */

/* Fail with EAGAIN instead of waiting for acknowledgements. */
#define RDMAX_NONBLOCK (1 << 0)
/* rdmax_migrate_id(): tell the reader of the channel, RDMAX_EVENT_ARRIVED. */
#define RDMAX_ANNOUNCE (1 << 1)

/*
 * An id has arrived on the channel, by a migration that was to be announced.
 * Read ahead of all events that came with the id; acknowledged like any other.
 * One that is migrated on before this was read is announced twice: what nobody has
 * read goes along, this event included.
 */
#define RDMAX_EVENT_ARRIVED ((enum rdma_cm_event_type)128)

/**
 * rdmax_migrate_id - Move an id to another event channel.
 * @id: Identifier to migrate.
 * @channel: Channel that it goes to, or NULL to make it synchronous.
 * @held: An event of @id in the caller's hand, or NULL.  It counts as
 *   acknowledged, and is freed, if and only if the call succeeds.
 * @flags: 0, or RDMAX_NONBLOCK, RDMAX_ANNOUNCE or both.
 * @deadline: Absolute CLOCK_MONOTONIC time until which to wait, NULL for
 *   ever.
 *
 * Moves @id and the events of it that nobody has read, of a listener the
 * connection requests too, once all those that were read are acknowledged.
 * Either all of it happens or nothing.
 *
 * To hand an id to another process, migrate it to a channel that came from
 * there (rdmax_channel_from_fd()) with RDMAX_ANNOUNCE, and have rdmax_forget_id()
 * free what this process has of it.  It should have no queue pair: that cannot
 * be handed over.
 *
 * Returns 0, or -1 and errno: EINVAL (@id is NULL, or is synchronous and is to
 * be, RDMAX_ANNOUNCE without @channel, @held is not an unacknowledged event of
 * @id, or @deadline is no time), EXDEV (@id or @channel is librdmacm's),
 * EOPNOTSUPP (unknown flag), EBADF (@channel was destroyed), EBUSY (another
 * migration of @id is under way), EAGAIN, ETIMEDOUT, EINTR (events are
 * unacknowledged), ECANCELED (@id was destroyed meanwhile), ENOSPC (@channel is
 * full, or, with RDMAX_ANNOUNCE, too many events that calls caused are
 * unacknowledged), EMFILE (an @id that becomes synchronous needs a descriptor),
 * ENOENT (@id is dying, or was handed away and is gone).
 */
int rdmax_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel,
		     struct rdma_cm_event *held, int flags,
		     const struct timespec *deadline);

/**
 * rdmax_destroy_id - Release an id, for a limited time or with an event in hand.
 * @id: Identifier to destroy; freed if and only if the call succeeds.
 * @held: An event of @id in the caller's hand, or NULL.  It counts as
 *   acknowledged, and is freed, if and only if the call succeeds.
 * @flags: 0 or RDMAX_NONBLOCK.
 * @deadline: Absolute CLOCK_MONOTONIC time until which to wait, NULL for
 *   ever.
 *
 * As rdma_destroy_id(): ends a migration of @id, drops the events that nobody
 * has read, releases port and connection, and then waits until those that were
 * read are acknowledged.  A queue pair must have been destroyed before.
 *
 * After EAGAIN nothing has changed.  After ETIMEDOUT or EINTR @id is dying: only
 * acknowledging its events, rdmax_query_id() and another rdmax_destroy_id() or
 * rdma_destroy_id(), which goes on waiting, are possible; everything else is
 * ENOENT.  The memory is freed by the call that succeeds.
 *
 * Returns 0, or -1 and errno: EINVAL (@id is NULL, @held is not an
 * unacknowledged event of @id, or @deadline is no time), EXDEV, EOPNOTSUPP
 * (unknown flag), EAGAIN, ETIMEDOUT, EINTR (events are unacknowledged).
 */
int rdmax_destroy_id(struct rdma_cm_id *id, struct rdma_cm_event *held,
		     int flags, const struct timespec *deadline);

/**
 * rdmax_leave_multicast - Leave a multicast group, for a limited time.
 * @id: Identifier that joined it.
 * @addr: Address of the group.
 * @flags: 0 or RDMAX_NONBLOCK.
 * @deadline: Absolute CLOCK_MONOTONIC time until which to wait, NULL for
 *   ever.
 *
 * As rdma_leave_multicast(): nothing is received from the group any more, its
 * events that nobody has read are dropped, and then it waits until those that
 * were read are acknowledged.
 *
 * After EAGAIN nothing has changed.  After ETIMEDOUT or EINTR the group has been
 * left, and another call, which goes on waiting, finds it once more.
 *
 * Returns 0, or -1 and errno: EINVAL (@id or @addr is NULL, its family is
 * unknown, or @deadline is no time), EXDEV, EOPNOTSUPP (unknown flag),
 * EADDRNOTAVAIL (@id has not joined it), EAGAIN, ETIMEDOUT, EINTR (events are
 * unacknowledged).
 */
int rdmax_leave_multicast(struct rdma_cm_id *id, struct sockaddr *addr,
			  int flags, const struct timespec *deadline);

/**
 * rdmax_get_cm_events - Retrieve several events at once.
 * @channel: Channel to read.
 * @events: Where to put them.
 * @max: How many there is room for, at least 1.
 *
 * Waits for one event, unless the channel's descriptor is non-blocking, and
 * takes as many as there are, up to @max and to a limit of the library of
 * several dozen.  The rest stays on the channel.  Each is the caller's, freed
 * with rdmax_ack_cm_events() or rdma_ack_cm_event(), in any order.
 *
 * All of them are unacknowledged, those that the caller has not looked at yet
 * included: a wait for the acknowledgement of a later event of the same id does
 * not end before that is acknowledged.
 *
 * An event of an id that this process does not know, because another process
 * made it, has no id: event->id is NULL, and in a connection request that came
 * to such an id listen_id is, too.  rdmax_adopt_id() makes the id one of this
 * process.  An event may also just be acknowledged, with which the request whose
 * id it brings is refused.
 *
 * A cancellation point, like rdma_get_cm_event().
 *
 * Returns how many there are, at least 1, or -1 and errno: EINVAL (a parameter
 * is NULL, or @max is not positive), EXDEV, EBADF (@channel was destroyed),
 * ENOMEM (nothing was read), EAGAIN (there is none, and O_NONBLOCK is set),
 * EINTR, ESHUTDOWN (rdmax_shutdown_channel()).
 */
int rdmax_get_cm_events(struct rdma_event_channel *channel,
			struct rdma_cm_event **events, int max);

/**
 * rdmax_ack_cm_events - Acknowledge and free several events at once.
 * @events: The events, of any ids and channels; freed.
 * @n: How many.
 *
 * As rdma_ack_cm_event() of each.  That an id is gone, with its channel or
 * otherwise, is no error.
 *
 * Returns how many were taken, which is @n unless an entry is NULL: then those
 * before it; or -1 and errno: EINVAL (@n is negative, or the first is NULL).
 */
int rdmax_ack_cm_events(struct rdma_cm_event **events, int n);

/**
 * rdmax_ack_id_events - Acknowledge whatever was read of an id.
 * @id: Identifier; it may be dying.
 *
 * For a reader that is no more, in this process or another: events that it read
 * and nobody will acknowledge keep the id from being migrated and destroyed.
 * rdmax_query_id() says who that is.  An event that is still in somebody's hand
 * is to be given to rdma_ack_cm_event() nevertheless, which frees it.
 *
 * Returns 0, or -1 and errno: EINVAL (@id is NULL), EXDEV, ENOENT (the id is
 * gone), EBADF (its channel was destroyed).
 */
int rdmax_ack_id_events(struct rdma_cm_id *id);

/**
 * rdmax_get_option - Say what an option was set to.
 * @id: Identifier to ask.
 * @level: RDMA_OPTION_ID.
 * @optname: RDMA_OPTION_ID_*.
 * @optval: Where to put the value, of the type that rdma_set_option() takes.
 * @optlen: Bytes at @optval; becomes bytes of the value.
 *
 * Returns 0, or -1 and errno: EINVAL (@id or @optlen is NULL, or there is not
 * enough room), EXDEV, EFAULT (@optval cannot be written), ENODATA (it was never
 * set, the kernel's choice holds), ENOSYS (unknown level or name), ENXIO (the
 * device is gone).
 */
int rdmax_get_option(struct rdma_cm_id *id, int level, int optname,
		     void *optval, size_t *optlen);

/**
 * rdmax_shutdown_channel - Turn away all readers of a channel.
 * @channel: The channel.
 *
 * For good: whoever reads it, in this process or another, now or later, gets -1
 * and ESHUTDOWN, and poll() says POLLIN and POLLHUP.  Its ids can be used,
 * migrated away, and destroyed.
 *
 * Returns 0, or -1 and errno: EINVAL (@channel is NULL), EXDEV, EBADF (it was
 * destroyed).
 */
int rdmax_shutdown_channel(struct rdma_event_channel *channel);

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

/* What struct rdmax_id_info says of an id's state. */
#define RDMAX_ID_UNCLAIMED (1 << 0) /* a request's, not yet accepted or adopted */
#define RDMAX_ID_MIGRATING (1 << 1) /* a migration waits */
#define RDMAX_ID_DYING (1 << 2)	    /* destroyed but for acknowledgements */
#define RDMAX_ID_GONE (1 << 3)	    /* its device was removed */

/**
 * struct rdmax_id_info - What rdmax_query_id() says.
 * @state: RDMAX_ID_*.
 * @pending: Events that nobody has read.
 * @outstanding: Events that were read and are not yet acknowledged: what a
 *   migration or a destruction waits for.
 * @unread: Of a listener: connection requests that nobody has read.
 * @oldest_reader: Process that read the oldest of @outstanding, 0 if there is none
 *   or if it is not in this pid namespace.
 * @oldest_time: When that was, CLOCK_MONOTONIC.
 *
 * Grows only at its end.
 */
struct rdmax_id_info {
	uint32_t state;
	uint32_t pending;
	uint32_t outstanding;
	uint32_t unread;
	struct timespec oldest_time;
	uint32_t oldest_reader;
};

/**
 * rdmax_query_id - Say how an id is, and who keeps it from being destroyed.
 * @id: Identifier to ask; it may be dying.
 * @info: Filled in; what this library does not know becomes zero.
 * @size: sizeof(struct rdmax_id_info) of the caller.
 *
 * Returns 0, or -1 and errno: EINVAL (a parameter is NULL or zero), EXDEV, ENOENT
 * (the id is gone), EBADF (its channel was destroyed).
 */
int rdmax_query_id(struct rdma_cm_id *id, struct rdmax_id_info *info,
		   size_t size);

/**
 * rdmax_channel_from_fd - Make an event channel of a descriptor.
 * @fd: Descriptor of a channel, that came over a Unix socket, or was inherited
 *   over fork() and exec().  The channel's after a success, and closed on exec;
 *   else it stays the caller's.
 *
 * It is the same channel as that of the process that the descriptor comes from:
 * whoever has it reads its events and may use its ids.  The caller frees its side
 * of it with rdma_destroy_event_channel(); the channel goes, and the ids on it
 * are destroyed, when the last process has closed it.
 *
 * Returns NULL and errno on error: EBADF (@fd is not open), EINVAL (it is no
 * channel of this kind), ENOMEM.
 */
struct rdma_event_channel *rdmax_channel_from_fd(int fd);

/**
 * rdmax_adopt_id - Make another process' id one of this process.
 * @event: An event without an id, from rdmax_get_cm_events(); still the
 *   caller's, to acknowledge.  It has an id then.
 * @context: The new id's.
 * @id: Where to put it.  The caller's, who frees it with rdma_destroy_id().
 *
 * Any event will do.  That of an id which was migrated with RDMAX_ANNOUNCE is
 * RDMAX_EVENT_ARRIVED; with RDMA_CM_EVENT_CONNECT_REQUEST it is the id that the
 * request brings.
 *
 * The new id is bound as the old one was: verbs, pd, port_num, ps, qp_type,
 * addresses, GIDs and path records are there.  So a queue pair can be created,
 * and a request accepted.  Options and multicast groups stay as they are in the
 * kernel; a group can be left only by the process that joined it.  What was in
 * the event of the request (private data, ECE options, numbers of RDMA reads) is
 * known only if @event is that: hand it over besides, and give the numbers to
 * rdma_accept(); they are 0 by default.
 *
 * From here on the id's events have this id.  What happened to a request's id
 * before is delivered from now on.  If other events of it are in hand already, or
 * another thread has adopted it meanwhile, this gives out the same id once more,
 * without another reference, and @context does not count.  It does not take the id
 * from a process that knows it, too: one of them is to use it.
 *
 * An id whose device is gone has no verbs, and its further events may come
 * without an id; it can be migrated and destroyed.
 *
 * Returns 0, or -1 and errno: EINVAL (a parameter is NULL, or the event has an id
 * already), ENOENT (the id is not on the channel any more, or dying), EBADF (the
 * channel was destroyed), ENODEV (this process has no such device), ENOMEM, EINTR,
 * and what opening the device says.  Then nothing has changed.
 */
int rdmax_adopt_id(struct rdma_cm_event *event, void *context,
		   struct rdma_cm_id **id);

/**
 * rdmax_forget_id - Free an id that was handed to another process.
 * @id: Identifier to forget; freed.
 *
 * Frees what this process has of it and leaves alone what the kernel has.  Events
 * of it that are in hand are still to be acknowledged.  If it comes back one day
 * it can be adopted.
 *
 * An id with a queue pair, a shared receive queue or completion queues of its own
 * is refused: they would stay behind with nobody to destroy them.
 *
 * Returns 0, or -1 and errno: EINVAL (@id is NULL, or is synchronous: its channel
 * would be closed), EXDEV, EBUSY (it has a queue pair or the like).
 */
int rdmax_forget_id(struct rdma_cm_id *id);

#ifdef __cplusplus
}
#endif

#endif /* RDMA_CMX_H */
