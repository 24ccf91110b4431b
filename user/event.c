// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reading and acknowledging events, one at a time (many: batch.c).
 *
 * One read(2) brings one event.  All memory is there before the read, so that
 * an event that was read is not lost for want of it.  The read is the only
 * cancellation point: what else may be one is called with cancelling off, where
 * that is done.  Nothing is locked during the read.  A thread may be
 * cancelled after the kernel gave it an event but before read(2) returns; the
 * cleanup handler finds it in the buffer.
 */
#include <stdlib.h>
#include <string.h>

#include "cmx.h"

/**
 * struct cmx_reader - a call of rdma_get_cm_event()
 * @delivery: where it reads, and what it has for an event
 * @view: the head in @buffer, for other readers
 * @reading: tells them
 * @buffer: the record
 */
struct cmx_reader {
	struct cmx_delivery delivery;
	struct cmx_buffer view;
	struct cmx_reading *reading;
	uint64_t buffer[CMX_RECORD_MAX / sizeof(uint64_t)];
};

/**
 * cmx_event_alloc - allocate an event
 *
 * Returns NULL and errno on error.
 */
struct cmx_event *cmx_event_alloc(void)
{
	struct cmx_event *event = malloc(sizeof(*event));

	if (event)
		cmx_event_clear(event);
	return event;
}

/**
 * cmx_event_clear - make an event one that says nothing
 * @event: the event; it refers to nothing any more
 *
 * Leaves alone what counts only if a member says so.
 */
void cmx_event_clear(struct cmx_event *event)
{
	memset(event, 0, offsetof(struct cmx_event, stranger));
}

/* Memory that was used before, or NULL. */
static struct cmx_event *event_reuse(struct cmx_channel *channel)
{
	struct cmx_event *event = atomic_exchange(&channel->unused, NULL);

	if (event)
		cmx_event_clear(event);
	return event;
}

/* Free what refers to nothing any more, or keep it for the next event. */
static void event_drop(struct cmx_event *event, struct cmx_channel *channel)
{
	struct cmx_event *none = NULL;

	if (!atomic_compare_exchange_strong(&channel->unused, &none, event))
		free(event);
}

/* No record yet, whatever was in the buffer before. */
static void no_record(struct cmx_reader *reader)
{
	memset(reader->buffer, 0, sizeof(struct rdma_ucmx_event));
}

static int reader_begin(struct cmx_reader *reader, struct cmx_channel *channel,
			struct cmx_channel *own_channel)
{
	struct cmx_delivery *delivery = &reader->delivery;

	*delivery = (struct cmx_delivery){ .own_channel = own_channel };
	reader->view = (struct cmx_buffer){ reader->buffer, sizeof(struct rdma_ucmx_event) };
	reader->reading = NULL;
	no_record(reader);
	if (!cmx_channel_use(channel))
		return cmx_error(EBADF);
	delivery->channel = channel;
	delivery->event = event_reuse(channel) ?: cmx_event_alloc();
	delivery->spare = atomic_exchange(&channel->spare, NULL);
	reader->reading = cmx_reading_begin(channel, &reader->view);
	return delivery->event && reader->reading ? 0 : -1;
}

static void reader_end(struct cmx_reader *reader)
{
	struct cmx_delivery *delivery = &reader->delivery;
	struct cmx_id *none = NULL;

	if (delivery->spare &&
	    !atomic_compare_exchange_strong(&delivery->channel->spare, &none,
					    delivery->spare))
		cmx_id_put(delivery->spare);
	if (delivery->event)
		event_drop(delivery->event, delivery->channel);
	cmx_sync_close(delivery->own_channel);
	if (!delivery->channel)
		return;
	cmx_reading_end(delivery->channel, reader->reading);
	cmx_channel_unuse(delivery->channel);
}

/* The thread is cancelled in the read. */
static void reader_cancelled(void *argument)
{
	struct cmx_reader *reader = argument;
	struct cmx_record record;

	if (!cmx_record_parse(reader->buffer, sizeof(reader->buffer), &record))
		cmx_ignore(reader->delivery.channel->fd, &record);
	reader_end(reader);
}

static ssize_t reader_read(struct cmx_reader *reader)
{
	ssize_t count;

	pthread_cleanup_push(reader_cancelled, reader);
	count = cmx_sys_read(reader->delivery.channel->fd, reader->buffer,
			     sizeof(reader->buffer));
	pthread_cleanup_pop(0);
	return count;
}

/* Read one record and deliver it: as cmx_deliver(), or -1. */
static int reader_next(struct cmx_reader *reader)
{
	struct cmx_delivery *delivery = &reader->delivery;
	struct cmx_record record;
	ssize_t count;
	int ret;

	if (!delivery->spare)
		delivery->spare = cmx_id_alloc();
	if (!delivery->spare)
		return -1;
	count = reader_read(reader);
	if (count < 0 || cmx_record_parse(reader->buffer, count, &record))
		return -1;
	ret = cmx_deliver(delivery, &record);
	if (ret == CMX_PASSED_OVER)
		no_record(reader);
	return ret;
}

/**
 * cmx_event_get - retrieve the next event
 * @channel: where to read; its memory is the caller's to keep
 * @own_channel: what the id of a request gets for itself if the listener is
 *               synchronous, or NULL; closed if it does not come to that
 * @event: where to put the event
 *
 * As rdma_get_cm_event().
 */
int cmx_event_get(struct cmx_channel *channel, struct cmx_channel *own_channel,
		  struct rdma_cm_event **event)
{
	struct cmx_reader reader;
	int ret = CMX_PASSED_OVER;

	if (reader_begin(&reader, channel, own_channel))
		ret = -1;
	while (ret == CMX_PASSED_OVER)
		ret = reader_next(&reader);
	if (ret == CMX_DELIVERED) {
		*event = &reader.delivery.event->event;
		reader.delivery.event = NULL;
	}
	reader_end(&reader);
	return ret;
}

/**
 * rdma_get_cm_event - retrieve the next event
 * @channel: where to read
 * @event: where to put it
 *
 * As rdma_get_cm_event(3).  The event belongs to the caller, who frees it with
 * rdma_ack_cm_event().  May be called by any number of threads at once, and is
 * a cancellation point.  An event of an id that this process does not know is
 * acknowledged and passed over.
 *
 * errno: EINVAL, ENOMEM (nothing was read), EBADF (the channel was destroyed),
 * and what read(2) says: EAGAIN (O_NONBLOCK is set, and there is none), EINTR.
 */
CMX_EXPORT int rdma_get_cm_event(struct rdma_event_channel *channel,
				 struct rdma_cm_event **event)
{
	if (!channel || !event)
		return cmx_error(EINVAL);
	return cmx_event_get(cmx_channel_of(channel), NULL, event);
}

static void put_ids(struct cmx_event *event)
{
	if (event->other)
		cmx_id_put(event->other);
	if (event->id)
		cmx_id_put(event->id);
}

/**
 * cmx_event_release - take from an event what it refers to
 * @event: the event, which counts as acknowledged
 */
void cmx_event_release(struct cmx_event *event)
{
	put_ids(event);
	cmx_channel_put(event->channel);
}

/**
 * cmx_event_free - free an event that counts as acknowledged
 * @event: the event
 */
void cmx_event_free(struct cmx_event *event)
{
	struct cmx_channel *channel = event->channel;

	put_ids(event);
	event->channel = NULL;
	event_drop(event, channel);
	cmx_channel_put(channel);
}

/*
 * On the channel where it was read, which has the id while the event is not
 * acknowledged, unless the id or the channel has ended.
 */
static bool settle_there(const struct cmx_event *event,
			 struct rdma_ucmx_ack_events *command)
{
	int taken;

	if (!cmx_channel_use(event->channel))
		return false;
	taken = cmx_sys_command(event->channel->fd, RDMA_UCMX_ACK_EVENTS,
				command);
	cmx_channel_unuse(event->channel);
	return taken > 0;
}

/**
 * cmx_event_settle - acknowledge an event without freeing it
 * @event: the event; acknowledging it again only frees it
 */
void cmx_event_settle(struct cmx_event *event)
{
	struct rdma_ucmx_ack ack = {
		.id = event->handle,
		.seq = event->seq,
	};
	struct rdma_ucmx_ack_events command = {
		.size = sizeof(command),
		.count = 1,
		.acks = (uintptr_t)&ack,
	};

	if (event->seq && !settle_there(event, &command) && event->id)
		cmx_id_command(event->id, RDMA_UCMX_ACK_EVENTS, &command);
	event->seq = 0;
}

/**
 * rdma_ack_cm_event - acknowledge and free an event
 * @event: the event, and what its private_data points to; freed
 *
 * As rdma_ack_cm_event(3).  That its id is gone, with its channel or
 * otherwise, is no error.  A request whose id was not adopted is refused.
 *
 * errno: EINVAL (no event, or, as long as its memory serves no other, one that was
 * acknowledged before).
 */
CMX_EXPORT int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	if (!event || !cmx_event_of(event)->channel)
		return cmx_error(EINVAL);
	if (!event->id)
		cmx_adopt_none(cmx_event_of(event));
	cmx_event_settle(cmx_event_of(event));
	cmx_event_free(cmx_event_of(event));
	return 0;
}

_Static_assert(RDMA_CM_EVENT_TIMEWAIT_EXIT == 15, "names in another order");

/**
 * rdma_event_str - name an event
 * @event: type of the event
 *
 * As rdma_event_str(3).  Returns a constant string.
 */
CMX_EXPORT const char *rdma_event_str(enum rdma_cm_event_type event)
{
	static const char *const names[] = {
		"RDMA_CM_EVENT_ADDR_RESOLVED",
		"RDMA_CM_EVENT_ADDR_ERROR",
		"RDMA_CM_EVENT_ROUTE_RESOLVED",
		"RDMA_CM_EVENT_ROUTE_ERROR",
		"RDMA_CM_EVENT_CONNECT_REQUEST",
		"RDMA_CM_EVENT_CONNECT_RESPONSE",
		"RDMA_CM_EVENT_CONNECT_ERROR",
		"RDMA_CM_EVENT_UNREACHABLE",
		"RDMA_CM_EVENT_REJECTED",
		"RDMA_CM_EVENT_ESTABLISHED",
		"RDMA_CM_EVENT_DISCONNECTED",
		"RDMA_CM_EVENT_DEVICE_REMOVAL",
		"RDMA_CM_EVENT_MULTICAST_JOIN",
		"RDMA_CM_EVENT_MULTICAST_ERROR",
		"RDMA_CM_EVENT_ADDR_CHANGE",
		"RDMA_CM_EVENT_TIMEWAIT_EXIT",
		"RDMA_CM_EVENT_ADDRINFO_RESOLVED",
		"RDMA_CM_EVENT_ADDRINFO_ERROR",
		"RDMA_CM_EVENT_USER",
		"RDMA_CM_EVENT_INTERNAL",
	};

	if (event == RDMAX_EVENT_ARRIVED)
		return "RDMAX_EVENT_ARRIVED";
	if ((unsigned int)event >= sizeof(names) / sizeof(names[0]))
		return "UNKNOWN EVENT";
	return names[event];
}
