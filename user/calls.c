// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The functions of <rdma/rdma_cma.h> as others call them, see names.h.  When
 * nothing is logged each is a branch and a jump to what does the work; those of several
 * steps keep their id besides.
 */
#include <arpa/inet.h>

#define CMX_PUBLIC_NAMES
#include "cmx.h"
#include "calls.h"

CMX_POINTER(struct rdma_event_channel *, rdma_create_event_channel,
	(void), (),
	"%s", "")

CMX_NOTHING(rdma_destroy_event_channel,
	(struct rdma_event_channel *channel), (channel),
	"channel %d", CMX_FD(channel))

CMX_OBJECT(rdma_create_id,
	(struct rdma_event_channel *channel, struct rdma_cm_id **id,
	 void *context, enum rdma_port_space ps), (channel, id, context, ps), id,
	"channel %d, port space %#x", CMX_FD(channel), ps)

CMX_NUMBER(rdma_destroy_id,
	(struct rdma_cm_id *id), (id),
	"id %p", (void *)id)

CMX_STEPS(rdma_bind_addr,
	(struct rdma_cm_id *id, struct sockaddr *addr), (id, addr),
	"id %p, %s", (void *)id, CMX_ADDRESS(addr))

CMX_STEPS(rdma_resolve_addr,
	(struct rdma_cm_id *id, struct sockaddr *src_addr,
	 struct sockaddr *dst_addr, int timeout_ms),
	(id, src_addr, dst_addr, timeout_ms),
	"id %p, from %s, to %s, %d ms", (void *)id, CMX_ADDRESS(src_addr),
	CMX_ADDRESS(dst_addr), timeout_ms)

CMX_STEPS(rdma_resolve_route,
	(struct rdma_cm_id *id, int timeout_ms), (id, timeout_ms),
	"id %p, %d ms", (void *)id, timeout_ms)

CMX_STEPS(rdma_create_qp,
	(struct rdma_cm_id *id, struct ibv_pd *pd,
	 struct ibv_qp_init_attr *qp_init_attr), (id, pd, qp_init_attr),
	"id %p, pd %p", (void *)id, (void *)pd)

CMX_STEPS(rdma_create_qp_ex,
	(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *qp_init_attr),
	(id, qp_init_attr),
	"id %p", (void *)id)

CMX_NOTHING(rdma_destroy_qp,
	(struct rdma_cm_id *id), (id),
	"id %p", (void *)id)

CMX_STEPS(rdma_create_srq,
	(struct rdma_cm_id *id, struct ibv_pd *pd,
	 struct ibv_srq_init_attr *attr), (id, pd, attr),
	"id %p, pd %p", (void *)id, (void *)pd)

CMX_STEPS(rdma_create_srq_ex,
	(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr), (id, attr),
	"id %p", (void *)id)

CMX_NOTHING(rdma_destroy_srq,
	(struct rdma_cm_id *id), (id),
	"id %p", (void *)id)

CMX_STEPS(rdma_connect,
	(struct rdma_cm_id *id, struct rdma_conn_param *conn_param),
	(id, conn_param),
	"id %p%s", (void *)id, conn_param ? "" : ", defaults")

CMX_STEPS(rdma_establish,
	(struct rdma_cm_id *id), (id),
	"id %p", (void *)id)

CMX_STEPS(rdma_listen,
	(struct rdma_cm_id *id, int backlog), (id, backlog),
	"id %p, backlog %d", (void *)id, backlog)

CMX_OBJECT(rdma_get_request,
	(struct rdma_cm_id *listen, struct rdma_cm_id **id), (listen, id), id,
	"listener %p", (void *)listen)

CMX_STEPS(rdma_accept,
	(struct rdma_cm_id *id, struct rdma_conn_param *conn_param),
	(id, conn_param),
	"id %p%s", (void *)id, conn_param ? "" : ", defaults")

CMX_NUMBER(rdma_reject,
	(struct rdma_cm_id *id, const void *private_data,
	 uint8_t private_data_len), (id, private_data, private_data_len),
	"id %p, %u bytes", (void *)id, private_data_len)

CMX_NUMBER(rdma_reject_ece,
	(struct rdma_cm_id *id, const void *private_data,
	 uint8_t private_data_len), (id, private_data, private_data_len),
	"id %p, %u bytes", (void *)id, private_data_len)

CMX_NUMBER(rdma_notify,
	(struct rdma_cm_id *id, enum ibv_event_type event), (id, event),
	"id %p, event %d", (void *)id, event)

CMX_STEPS(rdma_disconnect,
	(struct rdma_cm_id *id), (id),
	"id %p", (void *)id)

CMX_STEPS(rdma_join_multicast,
	(struct rdma_cm_id *id, struct sockaddr *addr, void *context),
	(id, addr, context),
	"id %p, %s", (void *)id, CMX_ADDRESS(addr))

CMX_STEPS(rdma_join_multicast_ex,
	(struct rdma_cm_id *id, struct rdma_cm_join_mc_attr_ex *mc_join_attr,
	 void *context), (id, mc_join_attr, context),
	"id %p, mask %#x, flags %#x", (void *)id, mc_join_attr->comp_mask,
	mc_join_attr->join_flags)

CMX_NUMBER(rdma_leave_multicast,
	(struct rdma_cm_id *id, struct sockaddr *addr), (id, addr),
	"id %p, %s", (void *)id, CMX_ADDRESS(addr))

CMX_OBJECT(rdma_get_cm_event,
	(struct rdma_event_channel *channel, struct rdma_cm_event **event),
	(channel, event), event,
	"channel %d", CMX_FD(channel))

CMX_NUMBER(rdma_ack_cm_event,
	(struct rdma_cm_event *event), (event),
	"event %p", (void *)event)

CMX_PORT(rdma_get_src_port,
	(struct rdma_cm_id *id), (id),
	"id %p", (void *)id)

CMX_PORT(rdma_get_dst_port,
	(struct rdma_cm_id *id), (id),
	"id %p", (void *)id)

CMX_POINTER(struct ibv_context **, rdma_get_devices,
	(int *num_devices), (num_devices),
	"%s", "")

CMX_NOTHING(rdma_free_devices,
	(struct ibv_context **list), (list),
	"list %p", (void *)list)

CMX_NUMBER(rdma_set_option,
	(struct rdma_cm_id *id, int level, int optname, void *optval,
	 size_t optlen), (id, level, optname, optval, optlen),
	"id %p, level %d, option %d, %zu bytes", (void *)id, level, optname,
	optlen)

CMX_NUMBER(rdma_migrate_id,
	(struct rdma_cm_id *id, struct rdma_event_channel *channel),
	(id, channel),
	"id %p, channel %d", (void *)id, CMX_FD(channel))

CMX_OBJECT(rdma_getaddrinfo,
	(const char *node, const char *service,
	 const struct rdma_addrinfo *hints, struct rdma_addrinfo **res),
	(node, service, hints, res), res,
	"%s, %s, flags %#x", CMX_NAMED(node), CMX_NAMED(service),
	hints ? hints->ai_flags : 0)

CMX_NOTHING(rdma_freeaddrinfo,
	(struct rdma_addrinfo *res), (res),
	"%p", (void *)res)

CMX_OBJECT(rdma_create_ep,
	(struct rdma_cm_id **id, struct rdma_addrinfo *res, struct ibv_pd *pd,
	 struct ibv_qp_init_attr *qp_init_attr), (id, res, pd, qp_init_attr), id,
	"info %p, pd %p%s", (void *)res, (void *)pd,
	qp_init_attr ? "" : ", no queue pair")

CMX_NOTHING(rdma_destroy_ep,
	(struct rdma_cm_id *id), (id),
	"id %p", (void *)id)

CMX_NUMBER(rdma_init_qp_attr,
	(struct rdma_cm_id *id, struct ibv_qp_attr *qp_attr, int *qp_attr_mask),
	(id, qp_attr, qp_attr_mask),
	"id %p, state %d", (void *)id, qp_attr ? (int)qp_attr->qp_state : -1)

CMX_NUMBER(rdma_set_local_ece,
	(struct rdma_cm_id *id, struct ibv_ece *ece), (id, ece),
	"id %p", (void *)id)

CMX_NUMBER(rdma_get_remote_ece,
	(struct rdma_cm_id *id, struct ibv_ece *ece), (id, ece),
	"id %p", (void *)id)

CMX_STEPS(rdma_resolve_addrinfo,
	(struct rdma_cm_id *id, const char *node, const char *service,
	 const struct rdma_addrinfo *hints), (id, node, service, hints),
	"id %p, %s, %s, flags %#x", (void *)id, CMX_NAMED(node),
	CMX_NAMED(service), hints ? hints->ai_flags : 0)

CMX_OBJECT(rdma_query_addrinfo,
	(struct rdma_cm_id *id, struct rdma_addrinfo **info), (id, info), info,
	"id %p", (void *)id)

CMX_NUMBER(rdma_write_cm_event,
	(struct rdma_cm_id *id, enum rdma_cm_event_type event, int status,
	 uint64_t arg), (id, event, status, arg),
	"id %p, %s, status %d, %#llx", (void *)id, rdma_event_str(event),
	status, (unsigned long long)arg)
