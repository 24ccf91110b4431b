// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * From rdma_cm's event to the record that user space reads, and the room that
 * records need.
 *
 * A record is filled in once, in rdma_cm's callback, with everything a reader
 * needs: rdma_cm holds the id's handler mutex there, so addresses and path
 * records hold still.  No lock of ours is held.
 */
#include <rdma/ib.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_marshall.h>
#include <rdma/ib_sa.h>
#include <rdma/rdma_user_cm.h>

#include "cm.h"
#include "compat.h"
#include "group.h"

/* What kind of room an event takes, and what its record holds. */
struct ucmx_event_kind {
	enum ucmx_room room;
	bool param;
	bool route;
	bool paths;
	bool services;
};

static const struct ucmx_event_kind ucmx_event_kinds[] = {
	[RDMA_CM_EVENT_ADDR_RESOLVED]	 = { UCMX_ROOM_ADDR, .route = true },
	[RDMA_CM_EVENT_ADDR_ERROR]	 = { UCMX_ROOM_ADDR },
	[RDMA_CM_EVENT_ROUTE_RESOLVED]	 = { UCMX_ROOM_ROUTE, .route = true,
					     .paths = true },
	[RDMA_CM_EVENT_ROUTE_ERROR]	 = { UCMX_ROOM_ROUTE },
	[RDMA_CM_EVENT_CONNECT_REQUEST]	 = { UCMX_ROOM_NONE, .param = true,
					     .route = true, .paths = true },
	[RDMA_CM_EVENT_CONNECT_RESPONSE] = { UCMX_ROOM_CONNECT, .param = true,
					     .route = true },
	[RDMA_CM_EVENT_CONNECT_ERROR]	 = { UCMX_ROOM_CONNECT, .param = true },
	[RDMA_CM_EVENT_UNREACHABLE]	 = { UCMX_ROOM_UNREACHABLE,
					     .param = true },
	[RDMA_CM_EVENT_REJECTED]	 = { UCMX_ROOM_REJECTED, .param = true },
	[RDMA_CM_EVENT_ESTABLISHED]	 = { UCMX_ROOM_CONNECT, .param = true,
					     .route = true },
	[RDMA_CM_EVENT_DISCONNECTED]	 = { UCMX_ROOM_DISCONNECTED,
					     .param = true },
	[RDMA_CM_EVENT_DEVICE_REMOVAL]	 = { UCMX_ROOM_DEVICE_REMOVAL },
	[RDMA_CM_EVENT_MULTICAST_JOIN]	 = { UCMX_ROOM_GROUP, .param = true },
	[RDMA_CM_EVENT_MULTICAST_ERROR]	 = { UCMX_ROOM_GROUP, .param = true },
	[RDMA_CM_EVENT_ADDR_CHANGE]	 = { UCMX_ROOM_ADDR_CHANGE },
	[RDMA_CM_EVENT_TIMEWAIT_EXIT]	 = { UCMX_ROOM_TIMEWAIT_EXIT },
	[RDMA_UCMX_EVENT_TYPE_ADDRINFO_RESOLVED] = {
		UCMX_ROOM_ADDRINFO, .route = true, .services = true },
	[RDMA_UCMX_EVENT_TYPE_ADDRINFO_ERROR] = { UCMX_ROOM_ADDRINFO },
};

/* Bytes of record that a kind of room must hold. */
static size_t ucmx_room_capacity(enum ucmx_room room)
{
	const size_t head = sizeof(struct rdma_ucmx_event);

	switch (room) {
	case UCMX_ROOM_ADDR:
		return head + sizeof(struct rdma_ucmx_route);
	case UCMX_ROOM_ROUTE:
		return UCMX_RECORD_PATHS;
	case UCMX_ROOM_ADDRINFO:
		return UCMX_RECORD_SERVICES;
	case UCMX_ROOM_CONNECT:
		return UCMX_RECORD_PARAM + sizeof(struct rdma_ucmx_route);
	case UCMX_ROOM_UNREACHABLE:
	case UCMX_ROOM_REJECTED:
	case UCMX_ROOM_DISCONNECTED:
	case UCMX_ROOM_GROUP:
		return UCMX_RECORD_PARAM;
	case UCMX_ROOM_ADDR_CHANGE:
	case UCMX_ROOM_DEVICE_REMOVAL:
	case UCMX_ROOM_TIMEWAIT_EXIT:
		return head;
	default:
		return UCMX_RECORD_MAX;
	}
}

/**
 * ucmx_cm_make_rooms - make room before doing what may cause events
 * @cm: whose events
 * @rooms: a bit for each kind
 *
 * Return: 0, -ENOMEM, or as ucmx_rooms_add().
 */
int ucmx_cm_make_rooms(struct ucmx_cm *cm, u32 rooms)
{
	unsigned long missing = rooms & ~ucmx_rooms_there(&cm->id);
	struct ucmx_event *event;
	LIST_HEAD(made);
	int room;

	for_each_set_bit(room, &missing, UCMX_ROOM_NONE) {
		event = ucmx_event_alloc(room, ucmx_room_capacity(room),
					 GFP_KERNEL_ACCOUNT);
		if (!event) {
			ucmx_events_free(&made);
			return -ENOMEM;
		}
		list_add_tail(&event->of_id, &made);
	}
	return ucmx_rooms_add(&cm->id, &made);
}

/**
 * ucmx_cm_make_room_unseen - make room for all that may happen to a request's
 *			      id by itself
 * @cm: an id that nobody has seen yet
 * @gfp: how to allocate
 *
 * Return: 0 or -ENOMEM; the room goes with the id.
 */
int ucmx_cm_make_room_unseen(struct ucmx_cm *cm, gfp_t gfp)
{
	enum ucmx_room room;
	int err = 0;

	for (room = UCMX_ROOM_FIRST_UNASKED; room < UCMX_ROOM_GROUP && !err;
	     room++)
		err = ucmx_room_make_unseen(&cm->id, room,
					    ucmx_room_capacity(room), gfp);
	return err;
}

/**
 * ucmx_cm_group - allocate a multicast group, with room for its events
 * @addr: its address
 * @cookie: its cookie
 *
 * Return: the group or NULL.
 */
struct ucmx_group *ucmx_cm_group(const struct rdma_ucmx_addr *addr, u64 cookie)
{
	return ucmx_group_alloc(addr, cookie,
				ucmx_room_capacity(UCMX_ROOM_GROUP));
}

/* Of a multicast event this is what rdma_join_multicast() was given. */
static u32 ucmx_group_number(const struct rdma_cm_event *event)
{
	return (unsigned long)event->param.ud.private_data;
}

/**
 * ucmx_cm_take_room - take the room that was made for an event
 * @id: whose event
 * @event: what happened, anything but a connection request
 *
 * What a command causes always finds the room that the command made.  Should
 * rdma_cm ever answer one command twice, memory is the best we can do.
 *
 * Return: room, or NULL: the event merges with one that is pending, or nobody
 * will read it.
 */
struct ucmx_event *ucmx_cm_take_room(struct ucmx_id *id,
				     const struct rdma_cm_event *event)
{
	enum ucmx_room room = UCMX_ROOM_NONE;
	struct ucmx_event *taken = NULL;

	if (event->event < ARRAY_SIZE(ucmx_event_kinds))
		room = ucmx_event_kinds[event->event].room;
	if (room == UCMX_ROOM_GROUP)
		return ucmx_group_take_room(id, ucmx_group_number(event));
	if (room != UCMX_ROOM_NONE)
		taken = ucmx_room_take(id, room);
	/* An unconnected id's connect is answered so if the queue key is bad. */
	if (!taken && room == UCMX_ROOM_ADDR)
		taken = ucmx_room_take(id, UCMX_ROOM_CONNECT);
	if (!taken && (room < UCMX_ROOM_FIRST_UNASKED || room == UCMX_ROOM_NONE))
		taken = ucmx_event_alloc(room, ucmx_room_capacity(room),
					 GFP_KERNEL);
	return taken;
}

/**
 * ucmx_cm_large_event - allocate an event with room for any record
 * @gfp: how to allocate
 *
 * Return: the event or NULL.
 */
struct ucmx_event *ucmx_cm_large_event(gfp_t gfp)
{
	return ucmx_event_alloc(UCMX_ROOM_NONE,
				ucmx_room_capacity(UCMX_ROOM_NONE), gfp);
}

static void ucmx_fill_addr(struct rdma_ucmx_addr *dst,
			   const struct sockaddr_storage *src)
{
	BUILD_BUG_ON(sizeof(*dst) < sizeof(struct sockaddr_ib));
	memcpy(dst, src, rdma_addr_size((const struct sockaddr *)src));
}

/**
 * ucmx_fill_route - describe where an id is and whom it talks to
 * @route: zeroed, filled in
 * @cm_id: the id; its handler mutex is held
 */
void ucmx_fill_route(struct rdma_ucmx_route *route, struct rdma_cm_id *cm_id)
{
	struct rdma_addr *addr = &cm_id->route.addr;

	ucmx_fill_addr(&route->src_addr, &addr->src_addr);
	ucmx_fill_addr(&route->dst_addr, &addr->dst_addr);
	if (!cm_id->device)
		return;
	route->node_guid = (__force u64)cm_id->device->node_guid;
	route->ibdev_index = cm_id->device->index;
	route->port_num = cm_id->port_num;
	route->pkey = (__force u16)cpu_to_be16(ib_addr_get_pkey(&addr->dev_addr));
	rdma_read_gids(cm_id, (union ib_gid *)route->sgid,
		       (union ib_gid *)route->dgid);
}

/**
 * ucmx_fill_paths - pack an id's path records
 * @paths: zeroed room for RDMA_UCMX_MAX_PATHS
 * @cm_id: the id; its handler mutex is held
 *
 * Return: how many there were.
 */
u32 ucmx_fill_paths(struct rdma_ucmx_path *paths, struct rdma_cm_id *cm_id)
{
	u32 n = min_t(u32, cm_id->route.num_pri_alt_paths, RDMA_UCMX_MAX_PATHS);
	u32 i;

	for (i = 0; i < n; i++) {
		struct sa_path_rec *rec = &cm_id->route.path_rec[i];
		struct sa_path_rec ib;

		if (rec->rec_type == SA_PATH_REC_TYPE_OPA) {
			sa_convert_path_opa_to_ib(&ib, rec);
			rec = &ib;
		}
		paths[i].flags = IB_PATH_GMP | IB_PATH_PRIMARY |
				 IB_PATH_BIDIRECTIONAL;
		ib_sa_pack_path(rec, paths[i].path_rec);
	}
	return n;
}

static void ucmx_fill_conn(struct rdma_ucmx_conn_param *dst,
			   const struct rdma_conn_param *src)
{
	if (src->private_data)
		memcpy(dst->private_data, src->private_data,
		       src->private_data_len);
	dst->private_data_len = src->private_data ? src->private_data_len : 0;
	dst->responder_resources = src->responder_resources;
	dst->initiator_depth = src->initiator_depth;
	dst->flow_control = src->flow_control;
	dst->retry_count = src->retry_count;
	dst->rnr_retry_count = src->rnr_retry_count;
	dst->srq = src->srq;
	dst->qp_num = src->qp_num;
	dst->valid = 1;
}

/* A multicast event's private_data is a number, and its length 0. */
static void ucmx_fill_ud(struct rdma_ucmx_ud_param *dst,
			 struct rdma_cm_id *cm_id,
			 const struct rdma_ud_param *src)
{
	struct rdma_ah_attr ah_attr = src->ah_attr;

	if (src->private_data_len)
		memcpy(dst->private_data, src->private_data,
		       src->private_data_len);
	dst->private_data_len = src->private_data_len;
	if (cm_id->device)
		ib_copy_ah_attr_to_user(cm_id->device,
					(struct ib_uverbs_ah_attr *)&dst->ah_attr,
					&ah_attr);
	dst->qp_num = src->qp_num;
	dst->qkey = src->qkey;
}

/* Append a section, return where its content goes. */
static void *ucmx_event_section(struct ucmx_event *event, u32 section,
				size_t size)
{
	void *at = (void *)event->record + event->head.size;

	event->head.sections |= section;
	event->head.size += size;
	return at;
}

static void ucmx_event_add_route(struct ucmx_event *event,
				 struct rdma_cm_id *cm_id)
{
	ucmx_fill_route(ucmx_event_section(event, RDMA_UCMX_EVENT_ROUTE,
					   sizeof(struct rdma_ucmx_route)),
			cm_id);
}

static void ucmx_event_add_paths(struct ucmx_event *event,
				 struct rdma_cm_id *cm_id)
{
	struct rdma_ucmx_path *paths;

	if (!cm_id->route.num_pri_alt_paths)
		return;
	paths = ucmx_event_section(event, RDMA_UCMX_EVENT_PATHS, 0);
	event->head.num_paths = ucmx_fill_paths(paths, cm_id);
	event->head.size += event->head.num_paths * sizeof(*paths);
}

static void ucmx_event_add_services(struct ucmx_event *event,
				    struct rdma_cm_id *cm_id)
{
	u32 total = ucmx_num_services(cm_id);
	u32 n = min_t(u32, total, RDMA_UCMX_MAX_SERVICES);
	size_t size = n * sizeof(struct rdma_ucmx_service);
	struct rdma_ucmx_services *services;

	services = ucmx_event_section(event, RDMA_UCMX_EVENT_SERVICES,
				      sizeof(*services) + size);
	services->count = n;
	services->total = total;
	if (n)
		memcpy(services + 1, ucmx_services(cm_id), size);
}

/**
 * ucmx_event_fill - write the record of an event
 * @event: room for it, zeroed
 * @cm_id: the id that it happened to, in its callback
 * @cm_event: what happened
 *
 * Handles and cookies are filled in when the event is read.
 */
void ucmx_event_fill(struct ucmx_event *event, struct rdma_cm_id *cm_id,
		     const struct rdma_cm_event *cm_event)
{
	static const struct ucmx_event_kind unknown;
	const struct ucmx_event_kind *kind = &unknown;
	struct rdma_ucmx_event *head = &event->head;

	if (cm_event->event < ARRAY_SIZE(ucmx_event_kinds))
		kind = &ucmx_event_kinds[cm_event->event];
	head->size = sizeof(*head);
	head->event = cm_event->event;
	head->status = cm_event->status;
	head->port_space = cm_id->ps;
	head->qp_type = cm_id->qp_type;
	head->ece.vendor_id = cm_event->ece.vendor_id;
	head->ece.attr_mod = cm_event->ece.attr_mod;
	event->urgent = cm_event->event == RDMA_CM_EVENT_DEVICE_REMOVAL;
	if (kind->param && cm_id->qp_type == IB_QPT_UD)
		ucmx_fill_ud(ucmx_event_section(event, RDMA_UCMX_EVENT_UD,
						sizeof(struct rdma_ucmx_ud_param)),
			     cm_id, &cm_event->param.ud);
	else if (kind->param)
		ucmx_fill_conn(ucmx_event_section(event, RDMA_UCMX_EVENT_CONN,
						  sizeof(struct rdma_ucmx_conn_param)),
			       &cm_event->param.conn);
	if (kind->route)
		ucmx_event_add_route(event, cm_id);
	if (kind->paths)
		ucmx_event_add_paths(event, cm_id);
	if (UCMX_FEATURE_IB_SERVICE != 0 && kind->services)
		ucmx_event_add_services(event, cm_id);
}

/**
 * ucmx_event_announce - write the record of the event that announces an id
 * @event: room for UCMX_RECORD_MAX bytes, zeroed
 * @cm: the id
 * @alive: whether its rdma_cm_id is there; then its handler mutex is held
 */
void ucmx_event_announce(struct ucmx_event *event, struct ucmx_cm *cm,
			 bool alive)
{
	event->head.size = sizeof(event->head);
	event->head.event = RDMA_UCMX_EVENT_TYPE_ARRIVED;
	event->head.port_space = cm->port_space;
	event->head.qp_type = cm->qp_type;
	if (!alive)
		return;
	ucmx_event_add_route(event, cm->cm_id);
	ucmx_event_add_paths(event, cm->cm_id);
}

/**
 * ucmx_event_written - write the record of an event that a command raises
 * @event: room for a record's head and a u64, zeroed
 * @cm: the id
 * @type: type of the event
 * @status: its status
 * @arg: returned with it
 */
void ucmx_event_written(struct ucmx_event *event, struct ucmx_cm *cm, u32 type,
			s32 status, u64 arg)
{
	event->head.size = sizeof(event->head);
	event->head.event = type;
	event->head.status = status;
	event->head.port_space = cm->port_space;
	event->head.qp_type = cm->qp_type;
	*(u64 *)ucmx_event_section(event, RDMA_UCMX_EVENT_ARG, sizeof(u64)) = arg;
}
