// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reading and acknowledging events.
 *
 * One read(2) brings one event.  What the record says is put into the id and
 * into a struct rdma_cm_event without asking the kernel again.  All memory is
 * there before the read, so that an event that was read is not lost for want
 * of it.  The read is the only cancellation point, and nothing is locked
 * during it.  A thread may be cancelled after the kernel gave it an event but
 * before read(2) returns; the cleanup handler finds it in the buffer.
 */
#include <stdlib.h>
#include <string.h>

#include "cmx.h"

/**
 * struct cmx_reader - a call of rdma_get_cm_event()
 * @channel: where it reads
 * @event: what it will hand out
 * @spare: an id for a connection request
 * @own_channel: a channel that this is to have for itself, or NULL
 * @buffer: the record
 */
struct cmx_reader {
	struct cmx_channel *channel;
	struct cmx_event *event;
	struct cmx_id *spare;
	struct cmx_channel *own_channel;
	uint64_t buffer[CMX_RECORD_MAX / sizeof(uint64_t)];
};

/* What became of a record; besides, -1 is an error. */
enum { DELIVERED, PASSED_OVER };

static int reader_begin(struct cmx_reader *reader, struct cmx_channel *channel)
{
	if (!cmx_channel_use(channel))
		return cmx_error(EBADF);
	reader->channel = channel;
	reader->event = calloc(1, sizeof(*reader->event));
	reader->spare = atomic_exchange(&channel->spare, NULL);
	if (!reader->spare)
		reader->spare = cmx_id_alloc();
	return reader->event && reader->spare ? 0 : cmx_error(ENOMEM);
}

static void reader_end(struct cmx_reader *reader)
{
	struct cmx_id *none = NULL;

	if (reader->spare &&
	    !atomic_compare_exchange_strong(&reader->channel->spare, &none,
					    reader->spare))
		cmx_id_put(reader->spare);
	free(reader->event);
	cmx_sync_close(reader->own_channel);
	if (reader->channel)
		cmx_channel_unuse(reader->channel);
}

/* Acknowledge an event that nobody will have. */
static int ignore(struct cmx_reader *reader, const struct cmx_record *record)
{
	const struct rdma_ucmx_event *head = record->head;
	int fd = reader->channel->fd;

	if (head->listen_id)
		cmx_sys_destroy(fd, head->id);
	cmx_sys_ack(fd, head->listen_id ? head->listen_id : head->id,
		    head->seq);
	return PASSED_OVER;
}

/* The thread is cancelled in the read. */
static void reader_cancelled(void *argument)
{
	struct cmx_reader *reader = argument;
	struct cmx_record record;

	if (!cmx_record_parse(reader->buffer, sizeof(reader->buffer), &record))
		ignore(reader, &record);
	reader_end(reader);
}

static ssize_t reader_read(struct cmx_reader *reader, int cancel_state)
{
	ssize_t count;

	/* No record yet, whatever was in the buffer before. */
	memset(reader->buffer, 0, sizeof(struct rdma_ucmx_event));
	pthread_cleanup_push(reader_cancelled, reader);
	pthread_setcancelstate(cancel_state, NULL);
	count = cmx_sys_read(reader->channel->fd, reader->buffer,
			     sizeof(reader->buffer));
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_cleanup_pop(0);
	return count;
}

/*
 * Find an id by what a record says.  The handle is compared because another
 * process that had the channel may use the same cookies.
 */
static struct cmx_id *find_id(uint64_t cookie, uint32_t handle)
{
	struct cmx_id *id = cookie ? cmx_table_find(cookie) :
				     cmx_table_find_handle(handle);

	if (!id || atomic_load(&id->handle) == handle)
		return id;
	cmx_id_put(id);
	return NULL;
}

/* Give the event its id, of which the caller passes on a reference. */
static void set_id(struct cmx_reader *reader, const struct cmx_record *record,
		   struct cmx_id *id)
{
	struct cmx_event *event = reader->event;

	cmx_id_seen_on(id, reader->channel);
	event->id = id;
	event->seq = record->head->seq;
	event->event.event = record->head->event;
	event->event.status = record->head->status;
	event->group = record->head->group ? record->head->listen_cookie : 0;
	cmx_record_params(record, event);
}

/* Take the id away again, because the event is not for the user. */
static int pass_over(struct cmx_reader *reader)
{
	struct cmx_event *event = reader->event;

	cmx_sys_ack(reader->channel->fd, atomic_load(&event->id->handle),
		    event->seq);
	cmx_id_put(event->id);
	memset(event, 0, sizeof(*event));
	return PASSED_OVER;
}

static void fail_as(struct cmx_event *event, enum rdma_cm_event_type type)
{
	event->event.status = -errno;
	event->event.event = type;
}

static void got_addr_resolved(struct cmx_event *event,
			      const struct cmx_record *record)
{
	if (cmx_record_apply_route(event->id, record->route))
		fail_as(event, RDMA_CM_EVENT_ADDR_ERROR);
}

static void got_route_resolved(struct cmx_event *event,
			       const struct cmx_record *record)
{
	if (cmx_record_apply_route(event->id, record->route) ||
	    cmx_record_apply_paths(event->id, record->paths,
				   record->head->num_paths))
		fail_as(event, RDMA_CM_EVENT_ROUTE_ERROR);
}

/* With a queue pair of ours the connection is completed behind the scenes. */
static void got_connect_response(struct cmx_event *event,
				 const struct cmx_record *record)
{
	struct cmx_id *id = event->id;
	int ret;

	id->remote_ece.vendor_id = record->head->ece.vendor_id;
	id->remote_ece.options = record->head->ece.attr_mod;
	ret = cmx_conn_established(id);
	if (ret < 0) {
		fail_as(event, RDMA_CM_EVENT_CONNECT_ERROR);
		atomic_store(&id->connect_failed, true);
	} else if (ret) {
		event->event.event = RDMA_CM_EVENT_ESTABLISHED;
	}
}

static void got_join(struct cmx_event *event, const struct cmx_record *record)
{
	cmx_group_context(event, record->head->group);
	if (event->event.event == RDMA_CM_EVENT_MULTICAST_JOIN &&
	    cmx_group_joined(event))
		fail_as(event, RDMA_CM_EVENT_MULTICAST_ERROR);
}

/* What rdma_resolve_addrinfo() left for the reader. */
static void got_internal(struct cmx_event *event)
{
	event->event.event = event->event.status ?
				     RDMA_CM_EVENT_ADDRINFO_ERROR :
				     RDMA_CM_EVENT_ADDRINFO_RESOLVED;
}

/* Deliver the event of an id that is known. */
static int deliver(struct cmx_reader *reader, const struct cmx_record *record)
{
	struct cmx_event *event = reader->event;
	struct cmx_id *id = event->id;

	event->event.id = &id->id;
	switch ((int)record->head->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		got_addr_resolved(event, record);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		got_route_resolved(event, record);
		break;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		got_connect_response(event, record);
		break;
	case RDMA_CM_EVENT_REJECTED:
		if (atomic_load(&id->connect_failed))
			return pass_over(reader);
		cmx_qp_to_error(id);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		if (atomic_load(&id->connect_failed))
			return pass_over(reader);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		cmx_device_gone(id);
		break;
	case RDMA_CM_EVENT_MULTICAST_JOIN:
	case RDMA_CM_EVENT_MULTICAST_ERROR:
		got_join(event, record);
		break;
	case RDMA_CM_EVENT_INTERNAL:
		got_internal(event);
		break;
	}
	cmx_conn_note(id, event->event.event);
	return DELIVERED;
}

static int setup_child(struct cmx_id *child, struct cmx_reader *reader,
		       const struct cmx_record *record)
{
	const struct rdma_ucmx_event *head = record->head;
	struct rdma_cm_id *listener = &reader->event->id->id;

	cmx_id_setup(child, reader->channel, listener->context, listener->ps,
		     listener->qp_type);
	atomic_store(&child->handle, head->id);
	child->remote_ece.vendor_id = head->ece.vendor_id;
	child->remote_ece.options = head->ece.attr_mod;
	if (record->conn) {
		child->initiator_depth = record->conn->initiator_depth;
		child->responder_resources = record->conn->responder_resources;
	}
	if (cmx_record_apply_route(child, record->route) ||
	    cmx_record_apply_paths(child, record->paths, head->num_paths))
		return -1;
	if (!cmx_sync_is(reader->event->id))
		return 0;
	if (cmx_sync_adopt(child, reader->own_channel))
		return -1;
	reader->own_channel = NULL;
	return 0;
}

/*
 * A connection request: an event of the listener that brings a new id.  One
 * whose device cannot be opened is refused: no user could do anything with it.
 */
static int deliver_request(struct cmx_reader *reader,
			   const struct cmx_record *record)
{
	struct cmx_event *event = reader->event;
	struct cmx_id *child = reader->spare;

	reader->spare = NULL;
	if (setup_child(child, reader, record)) {
		cmx_sys_destroy(reader->channel->fd, record->head->id);
		cmx_id_put(child);
		pass_over(reader);
		reader->spare = cmx_id_alloc();
		return reader->spare ? PASSED_OVER : -1;
	}
	cmx_id_get(child);
	event->other = child;
	event->event.id = &child->id;
	event->event.listen_id = &event->id->id;
	return DELIVERED;
}

static int take(struct cmx_reader *reader, size_t size)
{
	const struct rdma_ucmx_event *head;
	struct cmx_record record;
	struct cmx_id *id;

	if (cmx_record_parse(reader->buffer, size, &record))
		return -1;
	head = record.head;
	id = head->listen_id ? find_id(head->listen_cookie, head->listen_id) :
			       find_id(head->cookie, head->id);
	if (!id) /* another process', or destroyed meanwhile */
		return ignore(reader, &record);
	set_id(reader, &record, id);
	return head->listen_id ? deliver_request(reader, &record) :
				 deliver(reader, &record);
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
	struct cmx_reader reader = { .own_channel = own_channel };
	int ret = PASSED_OVER;
	ssize_t count;
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	if (reader_begin(&reader, channel))
		ret = -1;
	while (ret == PASSED_OVER) {
		count = reader_read(&reader, state);
		ret = count < 0 ? -1 : take(&reader, count);
	}
	if (ret == DELIVERED) {
		*event = &reader.event->event;
		reader.event = NULL;
	}
	reader_end(&reader);
	pthread_setcancelstate(state, NULL);
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

/**
 * cmx_event_free - free an event that counts as acknowledged
 * @event: the event
 */
void cmx_event_free(struct cmx_event *event)
{
	if (event->other)
		cmx_id_put(event->other);
	cmx_id_put(event->id);
	free(event);
}

/**
 * cmx_event_settle - acknowledge an event without freeing it
 * @event: the event; acknowledging it again only frees it
 */
void cmx_event_settle(struct cmx_event *event)
{
	struct rdma_ucmx_ack ack = {
		.id = atomic_load(&event->id->handle),
		.seq = event->seq,
	};
	struct rdma_ucmx_ack_events command = {
		.size = sizeof(command),
		.count = 1,
		.acks = (uintptr_t)&ack,
	};

	if (event->seq)
		cmx_id_command(event->id, RDMA_UCMX_ACK_EVENTS, &command);
	event->seq = 0;
}

/**
 * rdma_ack_cm_event - acknowledge and free an event
 * @event: the event, and what its private_data points to; freed
 *
 * As rdma_ack_cm_event(3).  That its id is gone, with its channel or
 * otherwise, is no error.
 *
 * errno: EINVAL (no event).
 */
CMX_EXPORT int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	if (!event)
		return cmx_error(EINVAL);
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

	if ((unsigned int)event >= sizeof(names) / sizeof(names[0]))
		return "UNKNOWN EVENT";
	return names[event];
}
