// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The functions of <rdma/rdma_cmx.h> as others call them, see names.h.  Those of
 * RDMACM_1.4 are in calls.c.
 */
#define CMX_PUBLIC_NAMES
#include "cmx.h"
#include "calls.h"

/* Whether a call waits for ever. */
#define CMX_UNTIL(deadline) ((deadline) ? ", until a deadline" : "")

CMX_NUMBER(rdmax_migrate_id,
	(struct rdma_cm_id *id, struct rdma_event_channel *channel,
	 struct rdma_cm_event *held, int flags,
	 const struct timespec *deadline), (id, channel, held, flags, deadline),
	"id %p, channel %d, held %p, flags %#x%s", (void *)id, CMX_FD(channel),
	(void *)held, flags, CMX_UNTIL(deadline))

CMX_NUMBER(rdmax_destroy_id,
	(struct rdma_cm_id *id, struct rdma_cm_event *held, int flags,
	 const struct timespec *deadline), (id, held, flags, deadline),
	"id %p, held %p, flags %#x%s", (void *)id, (void *)held, flags,
	CMX_UNTIL(deadline))

CMX_NUMBER(rdmax_leave_multicast,
	(struct rdma_cm_id *id, struct sockaddr *addr, int flags,
	 const struct timespec *deadline), (id, addr, flags, deadline),
	"id %p, %s, flags %#x%s", (void *)id, CMX_ADDRESS(addr), flags,
	CMX_UNTIL(deadline))

CMX_NUMBER(rdmax_get_cm_events,
	(struct rdma_event_channel *channel, struct rdma_cm_event **events,
	 int max), (channel, events, max),
	"channel %d, at most %d", CMX_FD(channel), max)

CMX_NUMBER(rdmax_ack_cm_events,
	(struct rdma_cm_event **events, int n), (events, n),
	"%d, from event %p on", n, n > 0 && events ? (void *)events[0] : NULL)

CMX_NUMBER(rdmax_ack_id_events,
	(struct rdma_cm_id *id), (id),
	"id %p", (void *)id)

CMX_NUMBER(rdmax_get_option,
	(struct rdma_cm_id *id, int level, int optname, void *optval,
	 size_t *optlen), (id, level, optname, optval, optlen),
	"id %p, level %d, option %d, %zu bytes", (void *)id, level, optname,
	optlen ? *optlen : 0)

CMX_NUMBER(rdmax_shutdown_channel,
	(struct rdma_event_channel *channel), (channel),
	"channel %d", CMX_FD(channel))

CMX_NUMBER(rdmax_query_channel,
	(struct rdma_event_channel *channel, struct rdmax_channel_info *info,
	 size_t size), (channel, info, size),
	"channel %d, %zu bytes", CMX_FD(channel), size)

CMX_NUMBER(rdmax_query_id,
	(struct rdma_cm_id *id, struct rdmax_id_info *info, size_t size),
	(id, info, size),
	"id %p, %zu bytes", (void *)id, size)

CMX_POINTER(struct rdma_event_channel *, rdmax_channel_from_fd,
	(int fd), (fd),
	"descriptor %d", fd)

CMX_OBJECT(rdmax_adopt_id,
	(struct rdma_cm_event *event, void *context, struct rdma_cm_id **id),
	(event, context, id), id,
	"event %p", (void *)event)

CMX_NUMBER(rdmax_forget_id,
	(struct rdma_cm_id *id), (id),
	"id %p", (void *)id)
