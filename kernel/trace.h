/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tracepoints of the core: what happens to ids, their events and migrations.
 *
 * A channel goes by the number that its fdinfo shows, an id by its handle, an
 * event by its sequence number and its enum rdma_cm_event_type.  All but the
 * end of a drain are hit with the lock of the id's owner held.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rdma_ucmx

#if !defined(UCMX_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define UCMX_TRACE_H

#include <linux/tracepoint.h>

#include "channel.h"
#include "id.h"

DECLARE_EVENT_CLASS(ucmx_id_class,
	TP_PROTO(const struct ucmx_channel *channel, const struct ucmx_id *id),
	TP_ARGS(channel, id),
	TP_STRUCT__entry(
		__field(u32, channel)
		__field(u32, id)
		__field(u64, cookie)
		__field(u32, pending)
		__field(u32, outstanding)
	),
	TP_fast_assign(
		__entry->channel = channel->number;
		__entry->id = id->handle;
		__entry->cookie = id->cookie;
		__entry->pending = id->n_pending;
		__entry->outstanding = id->n_outstanding;
	),
	TP_printk("channel=%u id=%u cookie=%#llx pending=%u outstanding=%u",
		  __entry->channel, __entry->id, __entry->cookie,
		  __entry->pending, __entry->outstanding)
);

/* An id can be used, on this channel: it was created, or its request read. */
DEFINE_EVENT(ucmx_id_class, ucmx_id_create,
	TP_PROTO(const struct ucmx_channel *channel, const struct ucmx_id *id),
	TP_ARGS(channel, id)
);

/* An id dies: by a command, with its channel, or with its listener. */
DEFINE_EVENT(ucmx_id_class, ucmx_id_destroy,
	TP_PROTO(const struct ucmx_channel *channel, const struct ucmx_id *id),
	TP_ARGS(channel, id)
);

/* Nothing is left of an id that died, its handle is free. */
DEFINE_EVENT(ucmx_id_class, ucmx_id_end,
	TP_PROTO(const struct ucmx_channel *channel, const struct ucmx_id *id),
	TP_ARGS(channel, id)
);

DECLARE_EVENT_CLASS(ucmx_event_class,
	TP_PROTO(const struct ucmx_channel *channel,
		 const struct ucmx_event *event),
	TP_ARGS(channel, event),
	TP_STRUCT__entry(
		__field(u32, channel)
		__field(u32, id)
		__field(u64, seq)
		__field(u32, event)
		__field(s32, status)
	),
	TP_fast_assign(
		__entry->channel = channel->number;
		__entry->id = event->id->handle;
		__entry->seq = event->head.seq;
		__entry->event = event->head.event;
		__entry->status = event->head.status;
	),
	TP_printk("channel=%u id=%u seq=%llu event=%u status=%d",
		  __entry->channel, __entry->id, __entry->seq, __entry->event,
		  __entry->status)
);

/* An event is pending. */
DEFINE_EVENT(ucmx_event_class, ucmx_event_raise,
	TP_PROTO(const struct ucmx_channel *channel,
		 const struct ucmx_event *event),
	TP_ARGS(channel, event)
);

/* A reader has an event. */
DEFINE_EVENT(ucmx_event_class, ucmx_event_deliver,
	TP_PROTO(const struct ucmx_channel *channel,
		 const struct ucmx_event *event),
	TP_ARGS(channel, event)
);

/* An event is acknowledged; age is the time since it was read. */
TRACE_EVENT(ucmx_event_ack,
	TP_PROTO(const struct ucmx_channel *channel,
		 const struct ucmx_event *event),
	TP_ARGS(channel, event),
	TP_STRUCT__entry(
		__field(u32, channel)
		__field(u32, id)
		__field(u64, seq)
		__field(u32, event)
		__field(s64, age)
	),
	TP_fast_assign(
		__entry->channel = channel->number;
		__entry->id = event->id->handle;
		__entry->seq = event->head.seq;
		__entry->event = event->head.event;
		__entry->age = ktime_to_ns(ktime_sub(ktime_get(),
						     event->taken));
	),
	TP_printk("channel=%u id=%u seq=%llu event=%u age_ns=%lld",
		  __entry->channel, __entry->id, __entry->seq, __entry->event,
		  __entry->age)
);

DECLARE_EVENT_CLASS(ucmx_move_class,
	TP_PROTO(const struct ucmx_channel *source,
		 const struct ucmx_channel *target, const struct ucmx_id *id,
		 int err),
	TP_ARGS(source, target, id, err),
	TP_STRUCT__entry(
		__field(u32, source)
		__field(u32, target)
		__field(u32, id)
		__field(u32, pending)
		__field(u32, outstanding)
		__field(u32, unread)
		__field(int, err)
	),
	TP_fast_assign(
		__entry->source = source->number;
		__entry->target = target->number;
		__entry->id = id->handle;
		__entry->pending = id->n_pending;
		__entry->outstanding = id->n_outstanding;
		__entry->unread = id->n_unread;
		__entry->err = err;
	),
	TP_printk("source=%u target=%u id=%u pending=%u outstanding=%u unread=%u err=%d",
		  __entry->source, __entry->target, __entry->id,
		  __entry->pending, __entry->outstanding, __entry->unread,
		  __entry->err)
);

/* A migration begins: the id's events are held with it. */
DEFINE_EVENT(ucmx_move_class, ucmx_migrate_freeze,
	TP_PROTO(const struct ucmx_channel *source,
		 const struct ucmx_channel *target, const struct ucmx_id *id,
		 int err),
	TP_ARGS(source, target, id, err)
);

/* The id has moved, with what is pending. */
DEFINE_EVENT(ucmx_move_class, ucmx_migrate_commit,
	TP_PROTO(const struct ucmx_channel *source,
		 const struct ucmx_channel *target, const struct ucmx_id *id,
		 int err),
	TP_ARGS(source, target, id, err)
);

/* The id stays where it was; err says why, 0 that it was to go nowhere else. */
DEFINE_EVENT(ucmx_move_class, ucmx_migrate_roll_back,
	TP_PROTO(const struct ucmx_channel *source,
		 const struct ucmx_channel *target, const struct ucmx_id *id,
		 int err),
	TP_ARGS(source, target, id, err)
);

/* A call begins to wait for acknowledgements, or for the end of an id. */
TRACE_EVENT(ucmx_drain_start,
	TP_PROTO(const struct ucmx_channel *channel, const struct ucmx_id *id,
		 u64 deadline),
	TP_ARGS(channel, id, deadline),
	TP_STRUCT__entry(
		__field(u32, channel)
		__field(u32, id)
		__field(u32, outstanding)
		__field(u64, deadline)
	),
	TP_fast_assign(
		__entry->channel = channel->number;
		__entry->id = id->handle;
		__entry->outstanding = id->n_outstanding;
		__entry->deadline = deadline;
	),
	TP_printk("channel=%u id=%u outstanding=%u deadline_ns=%llu",
		  __entry->channel, __entry->id, __entry->outstanding,
		  __entry->deadline)
);

/* The call has waited. */
TRACE_EVENT(ucmx_drain_end,
	TP_PROTO(const struct ucmx_id *id, ktime_t since, int err),
	TP_ARGS(id, since, err),
	TP_STRUCT__entry(
		__field(u32, id)
		__field(s64, waited)
		__field(int, err)
	),
	TP_fast_assign(
		__entry->id = id->handle;
		__entry->waited = ktime_to_ns(ktime_sub(ktime_get(), since));
		__entry->err = err;
	),
	TP_printk("id=%u waited_ns=%lld err=%d", __entry->id, __entry->waited,
		  __entry->err)
);

#endif /* UCMX_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
