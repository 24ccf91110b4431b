// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Prints where each member is that a program and the library share, by the
 * headers that this is compiled with.  If two versions of the headers come to the
 * same, a library built with one serves programs that were built with the other.
 */
#include <stddef.h>
#include <stdio.h>

#include <rdma/rdma_cmx.h>

#define SIZE(type)	printf("%s: %zu\n", #type, sizeof(type))
#define MEMBER(type, member)						\
	printf("%s.%s: %zu, %zu\n", #type, #member,			\
	       offsetof(type, member), sizeof(((type *)0)->member))
#define NUMBER(name)	printf("%s = %ld\n", #name, (long)(name))

static void ids(void)
{
	SIZE(struct rdma_event_channel);
	MEMBER(struct rdma_event_channel, fd);
	SIZE(struct rdma_cm_id);
	MEMBER(struct rdma_cm_id, verbs);
	MEMBER(struct rdma_cm_id, channel);
	MEMBER(struct rdma_cm_id, context);
	MEMBER(struct rdma_cm_id, qp);
	MEMBER(struct rdma_cm_id, route.addr.src_addr);
	MEMBER(struct rdma_cm_id, route.addr.src_storage);
	MEMBER(struct rdma_cm_id, route.addr.dst_addr);
	MEMBER(struct rdma_cm_id, route.addr.dst_storage);
	MEMBER(struct rdma_cm_id, route.addr.addr.ibaddr.sgid);
	MEMBER(struct rdma_cm_id, route.addr.addr.ibaddr.dgid);
	MEMBER(struct rdma_cm_id, route.addr.addr.ibaddr.pkey);
	MEMBER(struct rdma_cm_id, route.path_rec);
	MEMBER(struct rdma_cm_id, route.num_paths);
	MEMBER(struct rdma_cm_id, ps);
	MEMBER(struct rdma_cm_id, port_num);
	MEMBER(struct rdma_cm_id, event);
	MEMBER(struct rdma_cm_id, send_cq_channel);
	MEMBER(struct rdma_cm_id, send_cq);
	MEMBER(struct rdma_cm_id, recv_cq_channel);
	MEMBER(struct rdma_cm_id, recv_cq);
	MEMBER(struct rdma_cm_id, srq);
	MEMBER(struct rdma_cm_id, pd);
	MEMBER(struct rdma_cm_id, qp_type);
}

static void events(void)
{
	SIZE(struct rdma_cm_event);
	MEMBER(struct rdma_cm_event, id);
	MEMBER(struct rdma_cm_event, listen_id);
	MEMBER(struct rdma_cm_event, event);
	MEMBER(struct rdma_cm_event, status);
	MEMBER(struct rdma_cm_event, param.conn);
	MEMBER(struct rdma_cm_event, param.ud);
	SIZE(struct rdma_conn_param);
	MEMBER(struct rdma_conn_param, private_data);
	MEMBER(struct rdma_conn_param, private_data_len);
	MEMBER(struct rdma_conn_param, responder_resources);
	MEMBER(struct rdma_conn_param, initiator_depth);
	MEMBER(struct rdma_conn_param, flow_control);
	MEMBER(struct rdma_conn_param, retry_count);
	MEMBER(struct rdma_conn_param, rnr_retry_count);
	MEMBER(struct rdma_conn_param, srq);
	MEMBER(struct rdma_conn_param, qp_num);
	SIZE(struct rdma_ud_param);
	MEMBER(struct rdma_ud_param, private_data);
	MEMBER(struct rdma_ud_param, private_data_len);
	MEMBER(struct rdma_ud_param, ah_attr);
	MEMBER(struct rdma_ud_param, qp_num);
	MEMBER(struct rdma_ud_param, qkey);
}

static void addresses(void)
{
	SIZE(struct rdma_addrinfo);
	MEMBER(struct rdma_addrinfo, ai_flags);
	MEMBER(struct rdma_addrinfo, ai_family);
	MEMBER(struct rdma_addrinfo, ai_qp_type);
	MEMBER(struct rdma_addrinfo, ai_port_space);
	MEMBER(struct rdma_addrinfo, ai_src_len);
	MEMBER(struct rdma_addrinfo, ai_dst_len);
	MEMBER(struct rdma_addrinfo, ai_src_addr);
	MEMBER(struct rdma_addrinfo, ai_dst_addr);
	MEMBER(struct rdma_addrinfo, ai_src_canonname);
	MEMBER(struct rdma_addrinfo, ai_dst_canonname);
	MEMBER(struct rdma_addrinfo, ai_route_len);
	MEMBER(struct rdma_addrinfo, ai_route);
	MEMBER(struct rdma_addrinfo, ai_connect_len);
	MEMBER(struct rdma_addrinfo, ai_connect);
	MEMBER(struct rdma_addrinfo, ai_next);
	SIZE(struct rdma_cm_join_mc_attr_ex);
	MEMBER(struct rdma_cm_join_mc_attr_ex, comp_mask);
	MEMBER(struct rdma_cm_join_mc_attr_ex, join_flags);
	MEMBER(struct rdma_cm_join_mc_attr_ex, addr);
	SIZE(struct ibv_ece);
	MEMBER(struct ibv_ece, vendor_id);
	MEMBER(struct ibv_ece, options);
	MEMBER(struct ibv_ece, comp_mask);
}

static void numbers(void)
{
	NUMBER(RDMA_CM_EVENT_ADDR_RESOLVED);
	NUMBER(RDMA_CM_EVENT_CONNECT_REQUEST);
	NUMBER(RDMA_CM_EVENT_TIMEWAIT_EXIT);
	NUMBER(RDMA_CM_EVENT_ADDRINFO_RESOLVED);
	NUMBER(RDMA_CM_EVENT_ADDRINFO_ERROR);
	NUMBER(RDMA_CM_EVENT_USER);
	NUMBER(RDMA_CM_EVENT_INTERNAL);
	NUMBER(RDMA_PS_IPOIB);
	NUMBER(RDMA_PS_TCP);
	NUMBER(RDMA_PS_UDP);
	NUMBER(RDMA_PS_IB);
	NUMBER(RAI_PASSIVE);
	NUMBER(RAI_NUMERICHOST);
	NUMBER(RAI_NOROUTE);
	NUMBER(RAI_FAMILY);
	NUMBER(RAI_SA);
	NUMBER(RAI_DNS);
	NUMBER(RDMA_OPTION_ID);
	NUMBER(RDMA_OPTION_IB);
	NUMBER(RDMA_OPTION_ID_TOS);
	NUMBER(RDMA_OPTION_ID_REUSEADDR);
	NUMBER(RDMA_OPTION_ID_AFONLY);
	NUMBER(RDMA_OPTION_ID_ACK_TIMEOUT);
	NUMBER(RDMA_OPTION_IB_PATH);
	NUMBER(RDMA_MAX_RESP_RES);
	NUMBER(RDMA_MAX_INIT_DEPTH);
	NUMBER(RDMA_MC_JOIN_FLAG_FULLMEMBER);
	NUMBER(RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER);
	NUMBER(RDMA_UDP_QKEY);
}

int main(void)
{
	ids();
	events();
	addresses();
	numbers();
	return 0;
}
