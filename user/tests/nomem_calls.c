// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Calls that ask for memory, see nomem_calls.h.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/rdma_cmx.h>
#include <rdma/rdma_verbs.h>

#include "lib_scene.h"
#include "nomem_calls.h"

/* An opened device has two, one for commands and one for its events. */
enum { DEVICE_FDS = 2 };

static struct sockaddr_in to_address(const char *ip, uint16_t port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
	};

	inet_pton(AF_INET, ip, &address.sin_addr);
	return address;
}

static int open_nothing(struct nomem_scene *scene)
{
	(void)scene;
	return 0;
}

static int open_channel(struct nomem_scene *scene)
{
	scene->channel = rdma_create_event_channel();
	if (!scene->channel)
		return -1;
	return fcntl(scene->channel->fd, F_SETFL, O_NONBLOCK);
}

static int open_id(struct nomem_scene *scene)
{
	if (open_channel(scene))
		return -1;
	return rdma_create_id(scene->channel, &scene->id, NULL, RDMA_PS_TCP);
}

static int open_synchronous(struct nomem_scene *scene)
{
	return rdma_create_id(NULL, &scene->id, NULL, RDMA_PS_TCP);
}

/* The peer's call ends when the other end goes, at last the listener. */
static void close_all(struct nomem_scene *scene)
{
	scene->stop = true;
	if (scene->id)
		rdma_destroy_ep(scene->id);
	if (scene->listener)
		rdma_destroy_ep(scene->listener);
	if (scene->has_peer)
		pthread_join(scene->peer, NULL);
	if (scene->channel)
		rdma_destroy_event_channel(scene->channel);
}

static int run_create_channel(struct nomem_scene *scene)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();

	(void)scene;
	if (!channel)
		return -1;
	rdma_destroy_event_channel(channel);
	return 0;
}

static int run_create_id(struct nomem_scene *scene)
{
	struct rdma_cm_id *id;

	if (rdma_create_id(scene->channel, &id, NULL, RDMA_PS_TCP))
		return -1;
	return rdma_destroy_id(id);
}

static int run_bind(struct nomem_scene *scene)
{
	struct sockaddr_in address = to_address(ADDR1, 0);

	return rdma_bind_addr(scene->id, (struct sockaddr *)&address);
}

static int run_resolve_addr(struct nomem_scene *scene)
{
	struct sockaddr_in address = to_address(ADDR1, 7);

	return rdma_resolve_addr(scene->id, NULL, (struct sockaddr *)&address,
				 10000);
}

static int open_resolved(struct nomem_scene *scene)
{
	return open_synchronous(scene) || run_resolve_addr(scene) ? -1 : 0;
}

static int run_resolve_route(struct nomem_scene *scene)
{
	return rdma_resolve_route(scene->id, 10000);
}

static int run_create_qp(struct nomem_scene *scene)
{
	struct ibv_qp_init_attr attr = qp_attr_of(IBV_QPT_RC);

	if (rdma_create_qp(scene->id, NULL, &attr))
		return -1;
	rdma_destroy_qp(scene->id);
	return 0;
}

static int run_create_srq(struct nomem_scene *scene)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 1, .max_sge = 1 } };

	if (rdma_create_srq(scene->id, NULL, &attr))
		return -1;
	rdma_destroy_srq(scene->id);
	return 0;
}

/* The peer asks for a connection until it has one. */
static void *peer_asks(void *argument)
{
	struct nomem_scene *scene = argument;
	uint16_t port = listener_port(scene->listener);
	struct rdma_conn_param param = { 0 };
	struct rdma_cm_id *id;
	int ret = -1;

	while (ret && !scene->stop) {
		id = client_resolved(NULL, ADDR1, port);
		if (!id)
			break;
		if (!qp_create(id))
			ret = rdma_connect(id, &param);
		id_close(id);
	}
	return NULL;
}

/* It grants all that are asked for. */
static void *peer_grants(void *argument)
{
	struct nomem_scene *scene = argument;
	struct rdma_cm_id *child;

	while (!rdma_get_request(scene->listener, &child)) {
		child_accept(child, 1);
		id_close(child);
	}
	return NULL;
}

static int start_peer(struct nomem_scene *scene, void *(*run)(void *argument))
{
	scene->has_peer = !pthread_create(&scene->peer, NULL, run, scene);
	return scene->has_peer ? 0 : -1;
}

static int open_listening(struct nomem_scene *scene)
{
	if (open_channel(scene))
		return -1;
	scene->listener = listener_open(scene->channel, ADDR1, 4);
	return scene->listener ? start_peer(scene, peer_asks) : -1;
}

/* That it is not there any more says that the request was refused. */
static int run_get_event(struct nomem_scene *scene)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *child;

	if (!event_comes(scene->channel))
		return -1;
	if (rdma_get_cm_event(scene->channel, &event)) {
		if (errno == EAGAIN)
			errno = ENOMEM;
		return -1;
	}
	child = event->id;
	rdma_ack_cm_event(event);
	return rdma_destroy_id(child);
}

static int create_endpoint(struct rdma_cm_id **id, int flags)
{
	struct sockaddr_in address = to_address(ADDR1, flags ? 0 : 7);
	struct ibv_qp_init_attr attr = qp_attr_of(IBV_QPT_RC);
	struct rdma_addrinfo res = {
		.ai_flags = flags,
		.ai_family = AF_INET,
		.ai_qp_type = IBV_QPT_RC,
		.ai_port_space = RDMA_PS_TCP,
		.ai_src_addr = flags ? (struct sockaddr *)&address : NULL,
		.ai_src_len = flags ? sizeof(address) : 0,
		.ai_dst_addr = flags ? NULL : (struct sockaddr *)&address,
		.ai_dst_len = flags ? 0 : sizeof(address),
		.ai_connect = flags ? NULL : "hello",
		.ai_connect_len = flags ? 0 : 5,
	};

	return rdma_create_ep(id, &res, NULL, &attr);
}

static int open_listening_endpoint(struct nomem_scene *scene)
{
	if (create_endpoint(&scene->listener, RAI_PASSIVE) ||
	    rdma_listen(scene->listener, 4))
		return -1;
	return start_peer(scene, peer_asks);
}

static int run_get_request(struct nomem_scene *scene)
{
	struct rdma_cm_id *child;

	if (rdma_get_request(scene->listener, &child))
		return -1;
	rdma_destroy_ep(child);
	return 0;
}

static int open_requested(struct nomem_scene *scene)
{
	return open_listening_endpoint(scene) ||
	       rdma_get_request(scene->listener, &scene->id) ? -1 : 0;
}

static int run_accept(struct nomem_scene *scene)
{
	struct rdma_conn_param param = { 0 };

	return rdma_accept(scene->id, &param);
}

static int open_routed(struct nomem_scene *scene)
{
	scene->listener = listener_open(NULL, ADDR1, 4);
	if (!scene->listener || start_peer(scene, peer_grants))
		return -1;
	scene->id = client_resolved(NULL, ADDR1, listener_port(scene->listener));
	return scene->id ? qp_create(scene->id) : -1;
}

static int run_connect(struct nomem_scene *scene)
{
	struct rdma_conn_param param = { 0 };

	return rdma_connect(scene->id, &param);
}

static int open_unconnected(struct nomem_scene *scene)
{
	struct ibv_qp_init_attr attr = qp_attr_of(IBV_QPT_UD);

	if (rdma_create_id(NULL, &scene->id, NULL, RDMA_PS_UDP) ||
	    run_bind(scene))
		return -1;
	return rdma_create_qp(scene->id, NULL, &attr);
}

static int run_join(struct nomem_scene *scene)
{
	struct sockaddr_in address = to_address("239.1.1.1", 0);

	return rdma_join_multicast(scene->id, (struct sockaddr *)&address, NULL);
}

/* With all that there may be in the result. */
static int run_getaddrinfo(struct nomem_scene *scene)
{
	struct sockaddr_in address = to_address(ADDR2, 0);
	struct rdma_addrinfo hints = {
		.ai_flags = RAI_NUMERICHOST | RAI_FAMILY,
		.ai_family = AF_IB,
		.ai_src_addr = (struct sockaddr *)&address,
		.ai_src_len = sizeof(address),
		.ai_dst_addr = (struct sockaddr *)&address,
		.ai_dst_len = sizeof(address),
	};
	struct rdma_addrinfo *res;

	(void)scene;
	if (rdma_getaddrinfo(ADDR1, "7471", &hints, &res))
		return -1;
	rdma_freeaddrinfo(res);
	if (rdma_getaddrinfo(NULL, NULL, &hints, &res))
		return -1;
	rdma_freeaddrinfo(res);
	return 0;
}

static int run_resolve_addrinfo(struct nomem_scene *scene)
{
	struct rdma_addrinfo *res;

	if (rdma_resolve_addrinfo(scene->id, ADDR1, "7471", NULL) ||
	    rdma_query_addrinfo(scene->id, &res))
		return -1;
	rdma_freeaddrinfo(res);
	return 0;
}

static int run_passive_endpoint(struct nomem_scene *scene)
{
	struct rdma_cm_id *id;

	(void)scene;
	if (create_endpoint(&id, RAI_PASSIVE))
		return -1;
	rdma_destroy_ep(id);
	return 0;
}

static int run_active_endpoint(struct nomem_scene *scene)
{
	struct rdma_cm_id *id;

	(void)scene;
	if (create_endpoint(&id, 0))
		return -1;
	rdma_destroy_ep(id);
	return 0;
}

static int run_go_synchronous(struct nomem_scene *scene)
{
	if (rdma_migrate_id(scene->id, NULL))
		return -1;
	return rdma_migrate_id(scene->id, scene->channel);
}

static int run_get_devices(struct nomem_scene *scene)
{
	struct ibv_context **list = rdma_get_devices(NULL);

	(void)scene;
	if (!list)
		return -1;
	rdma_free_devices(list);
	return 0;
}

#define CALL(call, opening, ...)					\
const struct nomem_call nomem_##call = {				\
	.name = #call,							\
	.open = opening,						\
	.run = run_##call,						\
	.close = close_all,						\
	__VA_ARGS__							\
}

CALL(create_channel, open_nothing, .again = true);
CALL(create_id, open_channel, .again = true);
CALL(bind, open_id, .keeps_fds = DEVICE_FDS);
CALL(resolve_addr, open_synchronous, .keeps_fds = DEVICE_FDS);
CALL(resolve_route, open_resolved);
CALL(create_qp, open_resolved, .again = true);
CALL(create_srq, open_resolved, .again = true);
CALL(get_event, open_listening, .again = true);
CALL(get_request, open_listening_endpoint, .again = true, .survives = true);
CALL(connect, open_routed);
CALL(accept, open_requested);
CALL(join, open_unconnected);
CALL(getaddrinfo, open_nothing, .again = true);
CALL(resolve_addrinfo, open_synchronous, .again = true);
CALL(passive_endpoint, open_nothing, .again = true, .keeps_fds = DEVICE_FDS);
CALL(active_endpoint, open_nothing, .again = true, .keeps_fds = DEVICE_FDS);
CALL(go_synchronous, open_id, .again = true);
CALL(get_devices, open_nothing, .again = true, .keeps_fds = DEVICE_FDS);

/* Of one with no channel it is the same call. */
const struct nomem_call nomem_create_synchronous_id = {
	.name = "create_synchronous_id",
	.open = open_nothing,
	.run = run_create_id,
	.close = close_all,
	.again = true,
};
