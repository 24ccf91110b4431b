// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Services of an InfiniBand subnet: its administrator says who has them (RAI_SA).
 *
 * The kernel asks it for an id that is bound to a port, and tells the answer in an
 * event's record.  Who has no id is lent one, on one port after the other.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/ib.h>

#include "cmx.h"

static int put_service(struct rdma_ucmx_resolve_ib_service *command,
		       const char *service)
{
	char *end;

	if (!service || strlen(service) >= sizeof(command->name))
		return cmx_error(EINVAL);
	errno = 0;
	command->service_id = strtoull(service, &end, 0);
	if (!errno && end != service && !*end) {
		command->flags = RDMA_UCMX_SERVICE_ID;
		return 0;
	}
	command->service_id = 0;
	command->flags = RDMA_UCMX_SERVICE_NAME;
	strcpy((char *)command->name, service);
	return 0;
}

/**
 * cmx_service_resolve - ask who has a service
 * @id: the id, bound to a port
 * @service: number of the service, or its name
 *
 * ADDRINFO_RESOLVED or ADDRINFO_ERROR follows, which a synchronous id waits for.
 *
 * errno: EINVAL (no service, one whose name is too long, or the id is not bound or
 * beyond that), EBUSY (as cmx_addrinfo_begin()), EOPNOTSUPP (the kernel cannot ask, or
 * there is no administrator), and of a synchronous id as cmx_sync_wait().
 */
int cmx_service_resolve(struct cmx_id *id, const char *service)
{
	struct rdma_ucmx_resolve_ib_service command = {
		.size = sizeof(command),
		.id = atomic_load(&id->handle),
	};
	struct cmx_channel *channel;
	uint64_t number;

	if (put_service(&command, service))
		return -1;
	number = cmx_addrinfo_begin(id, true);
	if (!number)
		return -1;
	channel = cmx_sync_channel(id);
	if (cmx_id_command(id, RDMA_UCMX_RESOLVE_IB_SERVICE, &command) < 0) {
		cmx_channel_put(channel);
		cmx_addrinfo_failed(id, number);
		return -1;
	}
	return cmx_addrinfo_wait(id, channel, number);
}

static struct sockaddr *new_address(const void *gid, __be16 pkey, uint64_t sid,
				    uint64_t mask)
{
	struct sockaddr_ib *ib = calloc(1, sizeof(*ib));

	if (!ib)
		return NULL;
	ib->sib_family = AF_IB;
	ib->sib_pkey = pkey;
	memcpy(&ib->sib_addr, gid, sizeof(ib->sib_addr));
	ib->sib_sid = htobe64(sid);
	ib->sib_sid_mask = htobe64(mask);
	return (struct sockaddr *)ib;
}

static struct rdma_addrinfo *new_info(const struct rdma_ucmx_service *service)
{
	struct rdma_addrinfo *info = calloc(1, sizeof(*info));

	if (!info)
		return NULL;
	info->ai_flags = RAI_SA;
	info->ai_family = AF_IB;
	info->ai_port_space = RDMA_PS_IB;
	info->ai_dst_addr = new_address(service->gid, service->pkey,
					be64toh(service->service_id), UINT64_MAX);
	info->ai_dst_len = sizeof(struct sockaddr_ib);
	if (info->ai_dst_addr)
		return info;
	free(info);
	return NULL;
}

/**
 * cmx_service_list - make a list of addresses from what the administrator said
 * @services: what it said, or NULL for nothing
 *
 * Returns a list that has an entry for each, in their order, to be freed with
 * rdma_freeaddrinfo(), or NULL and errno: ENOENT (nobody has the service), ENOMEM.
 */
struct rdma_addrinfo *cmx_service_list(const struct rdma_ucmx_services *services)
{
	const struct rdma_ucmx_service *service;
	struct rdma_addrinfo *first = NULL, **link = &first;
	uint32_t i;

	errno = ENOENT;
	if (!services)
		return NULL;
	service = (const struct rdma_ucmx_service *)(services + 1);
	for (i = 0; i < services->count; i++) {
		*link = new_info(&service[i]);
		if (!*link) {
			rdma_freeaddrinfo(first);
			return NULL;
		}
		link = &(*link)->ai_next;
	}
	return first;
}

/* Ports that have an administrator to ask, by their first GID. */
struct ports {
	union ibv_gid *gids;
	unsigned int count;
};

static int add_port(struct ports *ports, const union ibv_gid *gid)
{
	union ibv_gid *gids = reallocarray(ports->gids, ports->count + 1,
					   sizeof(*gids));

	if (!gids)
		return -1;
	gids[ports->count++] = *gid;
	ports->gids = gids;
	return 0;
}

static int add_ports_of(struct ports *ports, struct ibv_context *verbs)
{
	struct ibv_device_attr device;
	struct ibv_port_attr port;
	union ibv_gid gid;
	int i, ret = 0;

	if (ibv_query_device(verbs, &device))
		return 0;
	for (i = 1; i <= device.phys_port_cnt && !ret; i++)
		if (!ibv_query_port(verbs, i, &port) &&
		    port.link_layer == IBV_LINK_LAYER_INFINIBAND &&
		    port.state >= IBV_PORT_ACTIVE &&
		    !ibv_query_gid(verbs, i, 0, &gid))
			ret = add_port(ports, &gid);
	return ret;
}

/* A device that cannot be opened, or asked, has no ports; nor has a system without any. */
static int find_ports(struct ports *ports)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *verbs;
	int i, ret = 0;

	if (!list)
		return errno == ENOMEM ? -1 : 0;
	for (i = 0; list[i] && !ret; i++) {
		verbs = ibv_open_device(list[i]);
		if (!verbs)
			continue;
		ret = add_ports_of(ports, verbs);
		ibv_close_device(verbs);
	}
	ibv_free_device_list(list);
	return ret ? cmx_error(ENOMEM) : 0;
}

/* Where the entries of a list are to be reached from. */
static int put_source(struct rdma_addrinfo *info, const union ibv_gid *gid)
{
	const struct sockaddr_ib *ib;

	for (; info; info = info->ai_next) {
		ib = (const struct sockaddr_ib *)info->ai_dst_addr;
		info->ai_src_addr = new_address(gid, ib->sib_pkey,
						(uint64_t)RDMA_PS_IB << 16,
						RDMA_IB_IP_PS_MASK);
		if (!info->ai_src_addr)
			return -1;
		info->ai_src_len = sizeof(*ib);
	}
	return 0;
}

static int ask(struct rdma_cm_id *id, const union ibv_gid *gid,
	       const char *service, struct rdma_addrinfo **res)
{
	struct sockaddr_ib address = { .sib_family = AF_IB };
	struct rdma_addrinfo *info;

	memcpy(&address.sib_addr, gid, sizeof(address.sib_addr));
	if (rdma_bind_addr(id, (struct sockaddr *)&address) ||
	    cmx_service_resolve(cmx_id_of(id), service) ||
	    rdma_query_addrinfo(id, &info))
		return -1;
	if (put_source(info, gid)) {
		rdma_freeaddrinfo(info);
		return cmx_error(ENOMEM);
	}
	*res = info;
	return 0;
}

static void end_id(void *id)
{
	int saved = errno;

	rdma_destroy_id(id);
	errno = saved;
}

static int ask_port(const union ibv_gid *gid, const char *service,
		    struct rdma_addrinfo **res)
{
	struct rdma_cm_id *id;
	int ret;

	if (rdma_create_id(NULL, &id, NULL, RDMA_PS_IB))
		return -1;
	pthread_cleanup_push(end_id, id);
	ret = ask(id, gid, service, res);
	pthread_cleanup_pop(1);
	return ret;
}

/* What another port would not be asked with more success. */
static bool is_here(int error)
{
	return error == EINTR || error == ENOMEM || error == EMFILE ||
	       error == ENFILE;
}

/* Returns 0 once one of them knows it, or -1 and the errno of the last. */
static int ask_each(const struct ports *ports, const char *service,
		    struct rdma_addrinfo **res)
{
	unsigned int i;
	int ret = -1;

	errno = ENOENT;
	for (i = 0; i < ports->count && ret && !is_here(errno); i++)
		ret = ask_port(&ports->gids[i], service, res);
	return ret;
}

/* Frees the list of ports. */
static int ask_ports(const struct ports *ports, const char *service,
		     struct rdma_addrinfo **res)
{
	int ret;

	pthread_cleanup_push(free, ports->gids);
	ret = ask_each(ports, service, res);
	pthread_cleanup_pop(1);
	return ret;
}

/**
 * cmx_service_find - find out who has a service, from whichever port
 * @service: as cmx_service_resolve()
 * @res: where to put the list, for rdma_freeaddrinfo()
 *
 * May take two seconds for each port.  A cancellation point.
 *
 * errno: ENOENT (nobody, or there is no port that could be asked), and as
 * cmx_service_resolve() of the last port that was.
 */
int cmx_service_find(const char *service, struct rdma_addrinfo **res)
{
	struct rdma_ucmx_resolve_ib_service command;
	struct ports ports = { 0 };
	int ret, state;

	if (put_service(&command, service))
		return -1;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	ret = find_ports(&ports);
	pthread_setcancelstate(state, NULL);
	if (!ret)
		return ask_ports(&ports, service, res);
	free(ports.gids);
	return -1;
}
