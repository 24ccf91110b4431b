// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * From a record that was read to the event in the user's hand.
 *
 * What the record says is put into the id and into a struct rdma_cm_event
 * without asking the kernel again, and a connection is brought as far as the
 * event allows.  An event of an id that this process does not know is a
 * stranger's: it keeps what adopting the id will need (adopt.c).
 */
#include <stdlib.h>
#include <string.h>

#include "cmx.h"
#include "debug.h"

/* The id by which an event is acknowledged. */
static uint32_t ack_handle(const struct rdma_ucmx_event *head)
{
	return head->listen_id ? head->listen_id : head->id;
}

/**
 * cmx_ignore - acknowledge an event that nobody will have
 * @fd: where it was read
 * @record: its record; the id that a request brings is destroyed
 */
void cmx_ignore(int fd, const struct cmx_record *record)
{
	const struct rdma_ucmx_event *head = record->head;

	if (head->listen_id)
		cmx_sys_destroy(fd, head->id);
	cmx_sys_ack(fd, ack_handle(head), head->seq);
}

/*
 * Find an id by what a record says.  The handle is compared because another
 * process that had the channel may use the same cookies.
 */
static struct cmx_id *find_id(struct cmx_channel *channel, uint64_t cookie,
			      uint32_t handle)
{
	struct cmx_id *id = cookie ? cmx_table_find(cookie) :
				     cmx_reading_find(channel, handle);

	if (!id || atomic_load(&id->handle) == handle)
		return id;
	cmx_id_put(id);
	return NULL;
}

/* What the event of any id has. */
static void set_event(struct cmx_delivery *delivery,
		      const struct cmx_record *record)
{
	const struct rdma_ucmx_event *head = record->head;
	struct cmx_event *event = delivery->event;

	event->channel = cmx_channel_get(delivery->channel);
	event->handle = ack_handle(head);
	event->seq = head->seq;
	event->event.event = head->event;
	event->event.status = head->status;
	event->group = head->group ? head->listen_cookie : 0;
	cmx_record_params(record, event);
}

/* Take the id away again, because the event is not for the user. */
static int pass_over(struct cmx_delivery *delivery)
{
	struct cmx_event *event = delivery->event;

	cmx_sys_ack(delivery->channel->fd, event->handle, event->seq);
	cmx_channel_put(event->channel);
	cmx_id_put(event->id);
	cmx_event_clear(event);
	delivery->seen = NULL;
	return CMX_PASSED_OVER;
}

static void fail_as(struct cmx_event *event, enum rdma_cm_event_type type)
{
	event->event.status = -errno;
	event->event.event = type;
}

static void got_addr_resolved(struct cmx_event *event,
			      const struct cmx_record *record)
{
	if (record->route && cmx_device_attach(event->id, record->route))
		fail_as(event, RDMA_CM_EVENT_ADDR_ERROR);
}

static void got_route_resolved(struct cmx_event *event,
			       const struct cmx_record *record)
{
	if ((record->route && cmx_device_attach(event->id, record->route)) ||
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

/* Attaching a queue pair may be a cancellation point of libibverbs. */
static void got_join(struct cmx_event *event, const struct cmx_record *record)
{
	int state;

	cmx_group_context(event, record->head->group);
	if (event->event.event == RDMA_CM_EVENT_MULTICAST_JOIN) {
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
		if (cmx_group_joined(event))
			fail_as(event, RDMA_CM_EVENT_MULTICAST_ERROR);
		pthread_setcancelstate(state, NULL);
	}
	if (event->event.event == RDMA_CM_EVENT_MULTICAST_ERROR)
		cmx_group_lost(event);
}

/*
 * What a subnet's administrator said is kept until rdma_query_addrinfo() takes it.
 * Returns whether it is for the user.
 */
static bool got_services(struct cmx_event *event, const struct cmx_record *record)
{
	struct rdma_addrinfo *info = NULL;

	if (event->event.event == RDMA_CM_EVENT_ADDRINFO_RESOLVED) {
		info = cmx_service_list(record->services);
		if (!info)
			fail_as(event, RDMA_CM_EVENT_ADDRINFO_ERROR);
	}
	return cmx_addrinfo_served(event->id, info);
}

/* The same of what rdma_resolve_addrinfo() has found itself. */
static bool got_name(struct cmx_event *event, uint64_t number)
{
	event->event.event = event->event.status ?
				     RDMA_CM_EVENT_ADDRINFO_ERROR :
				     RDMA_CM_EVENT_ADDRINFO_RESOLVED;
	memset(&event->event.param, 0, sizeof(event->event.param));
	return cmx_addrinfo_named(event->id, number, event->event.status);
}

/*
 * An event of the library's own: that a name was translated, or that a group was left
 * which a synchronous call is joining.  Returns whether it is for the user.
 */
static bool got_internal(struct cmx_event *event, const struct cmx_record *record)
{
	const uint64_t arg = record->arg ? *record->arg : 0;

	if (arg & CMX_RESOLUTION)
		return got_name(event, arg & ~CMX_RESOLUTION);
	event->event.event = RDMA_CM_EVENT_MULTICAST_ERROR;
	event->group = arg;
	memset(&event->event.param, 0, sizeof(event->event.param));
	return arg && cmx_sync_is(event->id);
}

/* Deliver the event of an id that is known. */
static int deliver(struct cmx_delivery *delivery, const struct cmx_record *record)
{
	struct cmx_event *event = delivery->event;
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
			return pass_over(delivery);
		cmx_qp_to_error(id);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		if (atomic_load(&id->connect_failed))
			return pass_over(delivery);
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		cmx_device_gone(id);
		break;
	case RDMA_CM_EVENT_MULTICAST_JOIN:
	case RDMA_CM_EVENT_MULTICAST_ERROR:
		got_join(event, record);
		break;
	case RDMA_CM_EVENT_ADDRINFO_RESOLVED:
	case RDMA_CM_EVENT_ADDRINFO_ERROR:
		if (!got_services(event, record))
			return pass_over(delivery);
		break;
	case RDMA_CM_EVENT_INTERNAL:
		if (!got_internal(event, record))
			return pass_over(delivery);
		break;
	}
	cmx_conn_note(id, event->event.event);
	return CMX_DELIVERED;
}

static int setup_child(struct cmx_id *child, struct cmx_delivery *delivery,
		       const struct cmx_record *record)
{
	const struct rdma_ucmx_event *head = record->head;
	struct rdma_cm_id *listener = &delivery->event->id->id;

	cmx_id_setup(child, delivery->channel, listener->context, listener->ps,
		     listener->qp_type);
	atomic_store(&child->handle, head->id);
	child->remote_ece.vendor_id = head->ece.vendor_id;
	child->remote_ece.options = head->ece.attr_mod;
	if (record->conn) {
		child->initiator_depth = record->conn->initiator_depth;
		child->responder_resources = record->conn->responder_resources;
	}
	if (record->route) {
		cmx_record_put_route(child, record->route);
		if (cmx_device_attach(child, record->route))
			return -1;
	}
	if (cmx_record_apply_paths(child, record->paths, head->num_paths))
		return -1;
	if (!cmx_sync_is(delivery->event->id))
		return 0;
	if (cmx_sync_adopt(child, delivery->own_channel))
		return -1;
	delivery->own_channel = NULL;
	return 0;
}

/*
 * A connection request: an event of the listener that brings a new id.  One
 * whose device cannot be opened is refused: no user could do anything with it.
 */
static int deliver_request(struct cmx_delivery *delivery,
			   const struct cmx_record *record)
{
	struct cmx_event *event = delivery->event;
	struct cmx_id *child = delivery->spare;

	delivery->spare = NULL;
	if (setup_child(child, delivery, record)) {
		cmx_sys_destroy(delivery->channel->fd, record->head->id);
		cmx_id_put(child);
		return pass_over(delivery);
	}
	cmx_id_get(child);
	event->other = child;
	event->event.id = &child->id;
	event->event.listen_id = &event->id->id;
	return CMX_DELIVERED;
}

/* The id of a request may be adopted though the listener is not known. */
static int deliver_strange(struct cmx_delivery *delivery,
			   const struct cmx_record *record)
{
	const struct rdma_ucmx_event *head = record->head;
	struct cmx_stranger *stranger = &delivery->event->stranger;

	set_event(delivery, record);
	stranger->handle = head->id;
	stranger->ps = head->port_space;
	stranger->qp_type = head->qp_type;
	stranger->remote_ece.vendor_id = head->ece.vendor_id;
	stranger->remote_ece.options = head->ece.attr_mod;
	stranger->initiator_depth = 0;
	stranger->responder_resources = 0;
	if (head->listen_id && record->conn) {
		stranger->initiator_depth = record->conn->initiator_depth;
		stranger->responder_resources =
			record->conn->responder_resources;
	}
	return CMX_DELIVERED;
}

/*
 * Find the id that an event is of, with a reference for it.  Many of one id come
 * one after the other: the event before keeps it, and keeps it on the channel.
 */
static struct cmx_id *find_owner(const struct cmx_delivery *delivery,
				 const struct rdma_ucmx_event *head)
{
	struct cmx_id *seen = delivery->seen;

	if (head->listen_id)
		return find_id(delivery->channel, head->listen_cookie,
			       head->listen_id);
	if (!seen || seen->cookie != head->cookie ||
	    atomic_load(&seen->handle) != head->id)
		return find_id(delivery->channel, head->cookie, head->id);
	cmx_id_get(seen);
	return seen;
}

/* What an event tells of its id's addresses, if they are new. */
static const struct rdma_ucmx_route *news(const struct cmx_record *record)
{
	switch ((int)record->head->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
	case RDMA_CM_EVENT_ADDRINFO_RESOLVED:
		return record->route;
	default:
		return NULL;
	}
}

static int deliver_any(struct cmx_delivery *delivery,
		       const struct cmx_record *record)
{
	const struct rdma_ucmx_event *head = record->head;
	struct cmx_id *id;

	id = find_owner(delivery, head);
	if (!id && delivery->strangers)
		return deliver_strange(delivery, record);
	if (!id) { /* another process', or destroyed meanwhile */
		cmx_ignore(delivery->channel->fd, record);
		return CMX_PASSED_OVER;
	}
	if (id != delivery->seen || news(record))
		cmx_id_seen_on(id, delivery->channel, news(record));
	delivery->seen = id;
	delivery->event->id = id;
	set_event(delivery, record);
	return head->listen_id ? deliver_request(delivery, record) :
				 deliver(delivery, record);
}

/**
 * cmx_deliver - turn a record into an event
 * @delivery: where it was read, and what it may take
 * @record: the record
 *
 * Returns CMX_DELIVERED if the event is the user's, CMX_PASSED_OVER if it was
 * acknowledged.
 */
int cmx_deliver(struct cmx_delivery *delivery, const struct cmx_record *record)
{
	int ret = deliver_any(delivery, record);

	if (cmx_debugging())
		cmx_debug_event(delivery->channel, record,
				ret == CMX_DELIVERED ? delivery->event : NULL);
	return ret;
}
