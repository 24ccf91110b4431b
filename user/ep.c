// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Endpoints: a synchronous id, with what it takes to use it, in one call; and
 * the requests that a synchronous listener gets.
 */
#include <stdlib.h>
#include <string.h>

#include <rdma/rdma_verbs.h>

#include "cmx.h"

/* How long an endpoint tries to find its peer; stock's number. */
#define CMX_RESOLVE_MS 2000

static struct cmx_endpoint *endpoint_alloc(size_t connect_len)
{
	return calloc(1, sizeof(struct cmx_endpoint) + connect_len);
}

/* Of a length that is not its family's it is none. */
static bool is_address(const struct sockaddr *address, socklen_t length)
{
	return length >= sizeof(address->sa_family) &&
	       length == cmx_addr_length(address);
}

static int passive_endpoint(struct rdma_cm_id *id,
			    const struct rdma_addrinfo *res, struct ibv_pd *pd,
			    const struct ibv_qp_init_attr *attr)
{
	struct cmx_id *own = cmx_id_of(id);

	if (!is_address(res->ai_src_addr, res->ai_src_len))
		return cmx_error(EINVAL);
	if (rdma_bind_addr(id, res->ai_src_addr))
		return -1;
	if (pd)
		id->pd = pd;
	if (!attr)
		return 0;
	own->endpoint = endpoint_alloc(0);
	if (!own->endpoint)
		return -1;
	own->endpoint->listens = true;
	own->endpoint->attr = *attr;
	own->endpoint->attr.qp_type = res->ai_qp_type;
	return 0;
}

static int find_route(struct rdma_cm_id *id, const struct rdma_addrinfo *res)
{
	if (!res->ai_route_len)
		return rdma_resolve_route(id, CMX_RESOLVE_MS);
	if (rdma_set_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH,
			    res->ai_route, res->ai_route_len))
		return -1;
	return cmx_sync_wait(cmx_id_of(id), cmx_sync_channel(cmx_id_of(id)),
			     CMX_RESOLVE_ROUTE, 0);
}

static int active_endpoint(struct rdma_cm_id *id,
			   const struct rdma_addrinfo *res, struct ibv_pd *pd,
			   struct ibv_qp_init_attr *attr)
{
	struct cmx_id *own = cmx_id_of(id);

	if (!is_address(res->ai_dst_addr, res->ai_dst_len) ||
	    (res->ai_src_len && !is_address(res->ai_src_addr, res->ai_src_len)))
		return cmx_error(EINVAL);
	if (rdma_resolve_addr(id, res->ai_src_len ? res->ai_src_addr : NULL,
			      res->ai_dst_addr, CMX_RESOLVE_MS) ||
	    find_route(id, res))
		return -1;
	if (attr) {
		attr->qp_type = res->ai_qp_type;
		if (rdma_create_qp(id, pd, attr))
			return -1;
	}
	if (!res->ai_connect_len)
		return 0;
	own->endpoint = endpoint_alloc(res->ai_connect_len);
	if (!own->endpoint)
		return -1;
	own->endpoint->connect_len = res->ai_connect_len;
	memcpy(own->endpoint->connect, res->ai_connect, res->ai_connect_len);
	return 0;
}

static int make_endpoint(struct rdma_cm_id *id, const struct rdma_addrinfo *res,
			 struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	if (res->ai_flags & RAI_PASSIVE)
		return passive_endpoint(id, res, pd, attr);
	return active_endpoint(id, res, pd, attr);
}

/* Also when the thread is cancelled: nobody has the id yet.  Keeps errno. */
static void abandon(void *argument)
{
	int saved = errno;

	rdma_destroy_ep(argument);
	errno = saved;
}

/**
 * rdma_create_ep - make an endpoint
 * @id: where to put its id
 * @res: addresses and types, as from rdma_getaddrinfo()
 * @pd: protection domain of its queue pair, or NULL for the default one
 * @qp_init_attr: what queue pair to create, for requests if @res is passive; or
 *                NULL for none
 *
 * As rdma_create_ep(3).  The id is synchronous.  It belongs to the caller, who
 * frees it with rdma_destroy_ep().
 *
 * errno: EINVAL (no @res, or an address missing or not of its family's length),
 * and as the functions that it
 * stands for: rdma_create_id(), rdma_bind_addr(), rdma_resolve_addr(),
 * rdma_resolve_route(), rdma_create_qp().
 */
CMX_EXPORT int rdma_create_ep(struct rdma_cm_id **id, struct rdma_addrinfo *res,
			      struct ibv_pd *pd,
			      struct ibv_qp_init_attr *qp_init_attr)
{
	struct cmx_id *own;
	int ret;

	if (!id || !res)
		return cmx_error(EINVAL);
	if (cmx_id_create(NULL, NULL, res->ai_port_space, res->ai_qp_type, &own))
		return -1;
	pthread_cleanup_push(abandon, &own->id);
	ret = make_endpoint(&own->id, res, pd, qp_init_attr);
	pthread_cleanup_pop(ret);
	if (ret)
		return -1;
	*id = &own->id;
	return 0;
}

/**
 * rdma_destroy_ep - destroy an endpoint
 * @id: the id, freed, with its queue pair and shared receive queue
 *
 * As rdma_destroy_ep(3).
 */
CMX_EXPORT void rdma_destroy_ep(struct rdma_cm_id *id)
{
	if (id->qp)
		rdma_destroy_qp(id);
	if (id->srq)
		rdma_destroy_srq(id);
	rdma_destroy_id(id);
}

/* A call that waits for a request. */
struct request {
	struct cmx_id *listener;
	struct cmx_channel *channel;
	struct rdma_cm_event *event;
};

/* Also when the thread is cancelled, which it can be in the reading only. */
static void request_end(void *argument)
{
	struct request *request = argument;

	cmx_channel_put(request->channel);
	cmx_id_put(request->listener);
}

/* Read what comes; the new id gets a channel that is there before. */
static int request_read(struct request *request)
{
	struct cmx_channel *own_channel = cmx_sync_open();
	int ret;

	if (!own_channel)
		return -1;
	pthread_cleanup_push(request_end, request);
	ret = cmx_sync_read(request->channel, own_channel, &request->event);
	pthread_cleanup_pop(0);
	if (!ret)
		cmx_event_settle(cmx_event_of(request->event));
	return ret;
}

static int create_requests_qp(struct rdma_cm_id *listener,
			      struct rdma_cm_id *id)
{
	struct cmx_endpoint *endpoint = cmx_id_of(listener)->endpoint;
	struct ibv_qp_init_attr attr;

	if (!endpoint || !endpoint->listens)
		return 0;
	attr = endpoint->attr;
	return rdma_create_qp(id, listener->pd, &attr);
}

/* Give the event to the new id, or to the listener if it brought none. */
static int request_take(struct request *request, struct rdma_cm_id **id)
{
	struct rdma_cm_event *event = request->event;
	struct rdma_cm_id *listener = &request->listener->id;
	int saved;

	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST || event->status) {
		saved = event->status ? abs(event->status) : EINVAL;
		cmx_sync_set_event(request->listener, event);
		return cmx_error(saved);
	}
	if (create_requests_qp(listener, event->id)) {
		saved = errno;
		rdma_destroy_id(event->id);
		rdma_ack_cm_event(event);
		return cmx_error(saved);
	}
	*id = event->id;
	cmx_sync_set_event(cmx_id_of(*id), event);
	return 0;
}

/**
 * rdma_get_request - wait for a connection request
 * @listen: a synchronous id that listens
 * @id: where to put the new id, which is synchronous
 *
 * As rdma_get_request(3).  The new id belongs to the caller, who frees it with
 * rdma_destroy_ep() or rdma_destroy_id(); its event is the request.  If
 * @listen is an endpoint it has a queue pair.
 *
 * errno: EINVAL (@listen is not synchronous, or something else than a request
 * came: that is in its event), EMFILE, ESHUTDOWN (@listen was destroyed
 * meanwhile), and as rdma_get_cm_event() and rdma_create_qp().
 */
CMX_EXPORT int rdma_get_request(struct rdma_cm_id *listen,
				struct rdma_cm_id **id)
{
	struct request request = { 0 };
	int ret;

	if (!listen || !id)
		return cmx_error(EINVAL);
	request.listener = cmx_id_of(listen);
	request.channel = cmx_sync_channel(request.listener);
	if (!request.channel)
		return cmx_error(EINVAL);
	cmx_id_get(request.listener);
	cmx_sync_set_event(request.listener, NULL);
	ret = request_read(&request);
	if (!ret)
		ret = request_take(&request, id);
	request_end(&request);
	return ret;
}
