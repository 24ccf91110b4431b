// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * From an event record to what the user sees of the id and of the event.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "cmx.h"

/* A selector of a path record. */
#define CMX_EXACTLY 2

/* The rest of a record, whose sections are taken off in the order of their bits. */
struct rest {
	const char *next;
	size_t size;
	bool broken;
};

/* Returns the next section, or NULL if the record is too short for it. */
static const void *take(struct rest *rest, size_t length)
{
	const void *start = rest->next;

	if (rest->size < length) {
		rest->broken = true;
		return NULL;
	}
	rest->next += length;
	rest->size -= length;
	return start;
}

/**
 * cmx_record_parse - take a record apart
 * @buffer: the record, aligned to 8 bytes
 * @size: bytes in @buffer
 * @record: where to put the parts; they point into @buffer
 *
 * errno: EPROTO (this is no record).
 */
int cmx_record_parse(const void *buffer, size_t size, struct cmx_record *record)
{
	const struct rdma_ucmx_event *head = buffer;
	struct rest rest;

	*record = (struct cmx_record){ 0 };
	if (size < sizeof(*head) || head->size < sizeof(*head) ||
	    head->size > size)
		return cmx_error(EPROTO);
	rest = (struct rest){
		.next = (const char *)(head + 1),
		.size = head->size - sizeof(*head),
	};
	record->head = head;
	if (head->sections & RDMA_UCMX_EVENT_CONN)
		record->conn = take(&rest, sizeof(*record->conn));
	if (head->sections & RDMA_UCMX_EVENT_UD)
		record->ud = take(&rest, sizeof(*record->ud));
	if (head->sections & RDMA_UCMX_EVENT_ROUTE)
		record->route = take(&rest, sizeof(*record->route));
	if (head->sections & RDMA_UCMX_EVENT_PATHS)
		record->paths = take(&rest, head->num_paths *
				     sizeof(*record->paths));
	if (head->sections & RDMA_UCMX_EVENT_ARG)
		record->arg = take(&rest, sizeof(*record->arg));
	if (head->sections & RDMA_UCMX_EVENT_SERVICES)
		record->services = take(&rest, sizeof(*record->services));
	if (record->services && record->services->count >
				rest.size / sizeof(struct rdma_ucmx_service))
		rest.broken = true;
	return rest.broken ? cmx_error(EPROTO) : 0;
}

static const void *keep_private_data(struct cmx_event *event,
				     const uint8_t *data, uint8_t length)
{
	if (!length)
		return NULL;
	memcpy(event->private_data, data, length);
	return event->private_data;
}

static void conn_params(const struct rdma_ucmx_conn_param *source,
			struct cmx_event *event)
{
	struct rdma_conn_param *param = &event->event.param.conn;

	param->private_data = keep_private_data(event, source->private_data,
						source->private_data_len);
	param->private_data_len = source->private_data_len;
	param->responder_resources = source->responder_resources;
	param->initiator_depth = source->initiator_depth;
	param->flow_control = source->flow_control;
	param->retry_count = source->retry_count;
	param->rnr_retry_count = source->rnr_retry_count;
	param->srq = source->srq;
	param->qp_num = source->qp_num;
}

static void ud_params(const struct rdma_ucmx_ud_param *source,
		      struct cmx_event *event)
{
	struct rdma_ud_param *param = &event->event.param.ud;

	param->private_data = keep_private_data(event, source->private_data,
						source->private_data_len);
	param->private_data_len = source->private_data_len;
	cmx_record_ah_attr(&source->ah_attr, &param->ah_attr);
	param->qp_num = source->qp_num;
	param->qkey = source->qkey;
}

/**
 * cmx_record_params - fill in an event's parameters
 * @record: the record
 * @event: the event
 */
void cmx_record_params(const struct cmx_record *record, struct cmx_event *event)
{
	if (record->ud)
		ud_params(record->ud, event);
	else if (record->conn)
		conn_params(record->conn, event);
	/* A member of the union in headers of RDMACM_1.4. */
	if (record->arg)
		memcpy(&event->event.param, record->arg, sizeof(*record->arg));
}

/**
 * cmx_record_ah_attr - convert the attributes of an address handle
 * @source: the kernel's
 * @attr: the user's
 */
void cmx_record_ah_attr(const struct rdma_ucmx_ah_attr *source,
			struct ibv_ah_attr *attr)
{
	memcpy(&attr->grh.dgid, source->dgid, sizeof(attr->grh.dgid));
	attr->grh.flow_label = source->flow_label;
	attr->grh.sgid_index = source->sgid_index;
	attr->grh.hop_limit = source->hop_limit;
	attr->grh.traffic_class = source->traffic_class;
	attr->dlid = source->dlid;
	attr->sl = source->sl;
	attr->src_path_bits = source->src_path_bits;
	attr->static_rate = source->static_rate;
	attr->is_global = source->is_global;
	attr->port_num = source->port_num;
}

/* No address is longer, so there is nothing behind it. */
static void apply_address(const struct rdma_ucmx_addr *source,
			  struct sockaddr_storage *address)
{
	_Static_assert(sizeof(*source) <= sizeof(*address), "address too long");

	if (source->family)
		memcpy(address, source, sizeof(*source));
}

/**
 * cmx_record_put_route - put addresses into an id
 * @id: the id, with its lock held, or nobody else knows it
 * @route: what the kernel says
 *
 * What remains to be done is cmx_device_attach().
 */
void cmx_record_put_route(struct cmx_id *id, const struct rdma_ucmx_route *route)
{
	struct rdma_addr *addr = &id->id.route.addr;

	apply_address(&route->src_addr, &addr->src_storage);
	apply_address(&route->dst_addr, &addr->dst_storage);
	memcpy(&addr->addr.ibaddr.sgid, route->sgid, sizeof(route->sgid));
	memcpy(&addr->addr.ibaddr.dgid, route->dgid, sizeof(route->dgid));
	addr->addr.ibaddr.pkey = route->pkey;
	id->id.port_num = route->port_num;
}

/**
 * cmx_record_apply_route - put addresses and device into an id
 * @id: the id
 * @route: what the kernel says, or NULL for nothing
 *
 * Opens the device if this process has not done so already.
 */
int cmx_record_apply_route(struct cmx_id *id,
			   const struct rdma_ucmx_route *route)
{
	if (!route)
		return 0;
	pthread_mutex_lock(&id->lock);
	cmx_record_put_route(id, route);
	pthread_mutex_unlock(&id->lock);
	return cmx_device_attach(id, route);
}

/* What the record leaves open is said as librdmacm says it: this is one path, exactly. */
static void convert_path(const struct rdma_ucmx_path *source,
			 struct ibv_sa_path_rec *path)
{
	const struct ibv_path_record *record = (const void *)source->path_rec;
	uint32_t label = be32toh(record->flowlabel_hoplimit);

	_Static_assert(sizeof(*record) == sizeof(source->path_rec),
		       "path record");
	path->dgid = record->dgid;
	path->sgid = record->sgid;
	path->dlid = record->dlid;
	path->slid = record->slid;
	path->raw_traffic = 0;
	path->flow_label = htobe32(label >> 8 & 0xfffff);
	path->hop_limit = label & 0xff;
	path->traffic_class = record->tclass;
	path->reversible = record->reversible_numpath >> 7;
	path->numb_path = 1;
	path->pkey = record->pkey;
	path->sl = be16toh(record->qosclass_sl) & 0xf;
	path->mtu_selector = CMX_EXACTLY;
	path->mtu = record->mtu & 0x3f;
	path->rate_selector = CMX_EXACTLY;
	path->rate = record->rate & 0x3f;
	path->packet_life_time_selector = CMX_EXACTLY;
	path->packet_life_time = record->packetlifetime & 0x3f;
	path->preference = source->flags;
}

/**
 * cmx_record_apply_paths - put path records into an id
 * @id: the id
 * @paths: the records, or NULL for none
 * @count: how many
 */
int cmx_record_apply_paths(struct cmx_id *id,
			   const struct rdma_ucmx_path *paths, int count)
{
	struct ibv_sa_path_rec *records, *old;
	int i;

	if (!paths || !count)
		return 0;
	records = calloc(count, sizeof(*records));
	if (!records)
		return -1;
	for (i = 0; i < count; i++)
		convert_path(&paths[i], &records[i]);
	pthread_mutex_lock(&id->lock);
	old = id->id.route.path_rec;
	id->id.route.path_rec = records;
	id->id.route.num_paths = count;
	pthread_mutex_unlock(&id->lock);
	free(old);
	return 0;
}
