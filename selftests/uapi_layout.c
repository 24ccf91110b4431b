// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The layout of the interface, frozen: what a program was compiled with must
 * be what the kernel understands, for 32 and 64 bits.  Where a struct stands
 * for one of the kernel's own, it has that one's layout.
 *
 * All is decided by compiling this file.
 */
#include <stddef.h>

#include <rdma/ib_user_sa.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_cm.h>
#include <rdma/rdma_ucmx.h>

#define SIZE(type, size) \
	_Static_assert(sizeof(struct type) == (size), #type)
#define AT(type, member, offset) \
	_Static_assert(offsetof(struct type, member) == (offset), #type "." #member)
#define SAME_SIZE(type, other) \
	_Static_assert(sizeof(struct type) == sizeof(struct other), #type)
#define SAME(type, other, member) \
	_Static_assert(offsetof(struct type, member) == offsetof(struct other, member) && \
		       sizeof(((struct type *)0)->member) == sizeof(((struct other *)0)->member), \
		       #type "." #member)
#define NUMBER(command, number) \
	_Static_assert((command) == ((0x1b << 8) | (number)), #command)

NUMBER(RDMA_UCMX_INFO, 0x80);
NUMBER(RDMA_UCMX_CREATE_ID, 0x81);
NUMBER(RDMA_UCMX_DESTROY_ID, 0x82);
NUMBER(RDMA_UCMX_BIND_ADDR, 0x83);
NUMBER(RDMA_UCMX_RESOLVE_ADDR, 0x84);
NUMBER(RDMA_UCMX_RESOLVE_ROUTE, 0x85);
NUMBER(RDMA_UCMX_LISTEN, 0x86);
NUMBER(RDMA_UCMX_CONNECT, 0x87);
NUMBER(RDMA_UCMX_ACCEPT, 0x88);
NUMBER(RDMA_UCMX_REJECT, 0x89);
NUMBER(RDMA_UCMX_DISCONNECT, 0x8a);
NUMBER(RDMA_UCMX_NOTIFY, 0x8b);
NUMBER(RDMA_UCMX_QUERY, 0x8c);
NUMBER(RDMA_UCMX_INIT_QP_ATTR, 0x8d);
NUMBER(RDMA_UCMX_SET_OPTION, 0x8e);
NUMBER(RDMA_UCMX_ACK_EVENTS, 0x8f);
NUMBER(RDMA_UCMX_LIST_IDS, 0x90);
NUMBER(RDMA_UCMX_MIGRATE_ID, 0x91);
NUMBER(RDMA_UCMX_ADOPT_ID, 0x92);
NUMBER(RDMA_UCMX_SHUTDOWN, 0x93);
NUMBER(RDMA_UCMX_WRITE_EVENT, 0x94);
NUMBER(RDMA_UCMX_JOIN_MCAST, 0x95);
NUMBER(RDMA_UCMX_LEAVE_MCAST, 0x96);
NUMBER(RDMA_UCMX_GET_OPTION, 0x97);
NUMBER(RDMA_UCMX_READ_EVENTS, 0x98);
NUMBER(RDMA_UCMX_RESOLVE_IB_SERVICE, 0x99);

#define VALUE(name, value) _Static_assert((name) == (value), #name)

VALUE(RDMA_UCMX_NONBLOCK, 1);
VALUE(RDMA_UCMX_SET_COOKIE, 2);
VALUE(RDMA_UCMX_ANNOUNCE, 4);
VALUE(RDMA_UCMX_EVENT_CONN, 1);
VALUE(RDMA_UCMX_EVENT_UD, 2);
VALUE(RDMA_UCMX_EVENT_ROUTE, 4);
VALUE(RDMA_UCMX_EVENT_PATHS, 8);
VALUE(RDMA_UCMX_EVENT_ARG, 16);
VALUE(RDMA_UCMX_EVENT_SERVICES, 32);
VALUE(RDMA_UCMX_EVENT_TYPE_ADDRINFO_RESOLVED, 16);
VALUE(RDMA_UCMX_EVENT_TYPE_ADDRINFO_ERROR, 17);
VALUE(RDMA_UCMX_EVENT_TYPE_USER, 18);
VALUE(RDMA_UCMX_EVENT_TYPE_INTERNAL, 19);
VALUE(RDMA_UCMX_EVENT_TYPE_ARRIVED, 128);
VALUE(RDMA_UCMX_FEATURE_MIGRATE, 1);
VALUE(RDMA_UCMX_FEATURE_HAND_OVER, 2);
VALUE(RDMA_UCMX_FEATURE_SHUTDOWN, 4);
VALUE(RDMA_UCMX_FEATURE_WRITE_EVENT, 8);
VALUE(RDMA_UCMX_FEATURE_MULTICAST, 16);
VALUE(RDMA_UCMX_FEATURE_GET_OPTION, 32);
VALUE(RDMA_UCMX_FEATURE_READ_EVENTS, 64);
VALUE(RDMA_UCMX_FEATURE_MIN_RNR_TIMER, 128);
VALUE(RDMA_UCMX_FEATURE_NODE_TYPE, 256);
VALUE(RDMA_UCMX_FEATURE_IB_SERVICE, 512);
VALUE(RDMA_UCMX_SERVICE_ID, 1);
VALUE(RDMA_UCMX_SERVICE_NAME, 2);
VALUE(RDMA_UCMX_MAX_SERVICES, 16);
VALUE(RDMA_UCMX_SERVICE_NAME_SIZE, 64);
VALUE(RDMA_UCMX_OPTION_MIN_RNR_TIMER, 64);
VALUE(RDMA_UCMX_OPTION_NODE_TYPE, 65);
VALUE(RDMA_UCMX_ID_UNCLAIMED, 1);
VALUE(RDMA_UCMX_ID_MIGRATING, 2);
VALUE(RDMA_UCMX_ID_DYING, 4);
VALUE(RDMA_UCMX_ID_GONE, 8);
VALUE(RDMA_UCMX_JOIN_FULL_MEMBER, 1);
VALUE(RDMA_UCMX_JOIN_SEND_ONLY_FULL_MEMBER, 2);
VALUE(RDMA_UCMX_REJECT_CONSUMER, 28);
VALUE(RDMA_UCMX_REJECT_ECE, 35);
VALUE(RDMA_UCMX_MAX_PRIVATE_DATA, 256);
VALUE(RDMA_UCMX_MAX_PATHS, 2);
VALUE(RDMA_UCMX_READ_MIN, 4096);

SIZE(rdma_ucmx_addr, 48);
AT(rdma_ucmx_addr, data, 2);
SIZE(rdma_ucmx_route, 144);
AT(rdma_ucmx_route, dst_addr, 48);
AT(rdma_ucmx_route, sgid, 96);
AT(rdma_ucmx_route, dgid, 112);
AT(rdma_ucmx_route, node_guid, 128);
AT(rdma_ucmx_route, ibdev_index, 136);
AT(rdma_ucmx_route, pkey, 140);
AT(rdma_ucmx_route, port_num, 142);

SIZE(rdma_ucmx_event, 64);
AT(rdma_ucmx_event, event, 4);
AT(rdma_ucmx_event, status, 8);
AT(rdma_ucmx_event, sections, 12);
AT(rdma_ucmx_event, seq, 16);
AT(rdma_ucmx_event, id, 24);
AT(rdma_ucmx_event, listen_id, 28);
AT(rdma_ucmx_event, cookie, 32);
AT(rdma_ucmx_event, listen_cookie, 40);
AT(rdma_ucmx_event, port_space, 48);
AT(rdma_ucmx_event, qp_type, 50);
AT(rdma_ucmx_event, num_paths, 51);
AT(rdma_ucmx_event, group, 52);
AT(rdma_ucmx_event, ece, 56);

SIZE(rdma_ucmx_info, 64);
AT(rdma_ucmx_info, out_features, 8);
AT(rdma_ucmx_info, out_max_ids, 16);
AT(rdma_ucmx_info, out_max_channel_ids, 20);
AT(rdma_ucmx_info, out_max_backlog, 24);
AT(rdma_ucmx_info, out_ids, 28);
AT(rdma_ucmx_info, out_pending, 32);
AT(rdma_ucmx_info, out_outstanding, 36);
AT(rdma_ucmx_info, out_max_user_events, 40);
AT(rdma_ucmx_info, out_max_groups, 44);
AT(rdma_ucmx_info, out_max_ids_per_user, 48);
AT(rdma_ucmx_info, out_ids_of_user, 52);
AT(rdma_ucmx_info, out_max_events_per_user, 56);
AT(rdma_ucmx_info, out_events_of_user, 60);
SIZE(rdma_ucmx_create_id, 24);
AT(rdma_ucmx_create_id, cookie, 8);
AT(rdma_ucmx_create_id, port_space, 16);
AT(rdma_ucmx_create_id, qp_type, 18);
AT(rdma_ucmx_create_id, out_id, 20);
SIZE(rdma_ucmx_destroy_id, 32);
AT(rdma_ucmx_destroy_id, id, 4);
AT(rdma_ucmx_destroy_id, flags, 8);
AT(rdma_ucmx_destroy_id, deadline, 16);
AT(rdma_ucmx_destroy_id, held_seq, 24);
SIZE(rdma_ucmx_bind_addr, 56);
AT(rdma_ucmx_bind_addr, addr, 8);
SIZE(rdma_ucmx_resolve_addr, 112);
AT(rdma_ucmx_resolve_addr, timeout_ms, 8);
AT(rdma_ucmx_resolve_addr, src_addr, 16);
AT(rdma_ucmx_resolve_addr, dst_addr, 64);
SIZE(rdma_ucmx_resolve_route, 16);
AT(rdma_ucmx_resolve_route, timeout_ms, 8);
SIZE(rdma_ucmx_listen, 16);
AT(rdma_ucmx_listen, backlog, 8);
SIZE(rdma_ucmx_connect, 288);
AT(rdma_ucmx_connect, conn_param, 8);
AT(rdma_ucmx_connect, ece, 280);
SIZE(rdma_ucmx_accept, 296);
AT(rdma_ucmx_accept, cookie, 8);
AT(rdma_ucmx_accept, conn_param, 16);
AT(rdma_ucmx_accept, ece, 288);
SIZE(rdma_ucmx_reject, 272);
AT(rdma_ucmx_reject, private_data_len, 8);
AT(rdma_ucmx_reject, reason, 9);
AT(rdma_ucmx_reject, private_data, 16);
SIZE(rdma_ucmx_disconnect, 8);
SIZE(rdma_ucmx_notify, 16);
AT(rdma_ucmx_notify, event, 8);
SIZE(rdma_ucmx_query, 304);
AT(rdma_ucmx_query, out_route, 8);
AT(rdma_ucmx_query, out_num_paths, 152);
AT(rdma_ucmx_query, out_paths, 160);
SIZE(rdma_ucmx_init_qp_attr, 160);
AT(rdma_ucmx_init_qp_attr, qp_state, 8);
AT(rdma_ucmx_init_qp_attr, out_attr, 16);
SIZE(rdma_ucmx_set_option, 32);
AT(rdma_ucmx_set_option, level, 8);
AT(rdma_ucmx_set_option, optname, 12);
AT(rdma_ucmx_set_option, optval, 16);
AT(rdma_ucmx_set_option, optlen, 24);
SIZE(rdma_ucmx_ack, 16);
AT(rdma_ucmx_ack, seq, 8);
SIZE(rdma_ucmx_ack_events, 16);
AT(rdma_ucmx_ack_events, count, 4);
AT(rdma_ucmx_ack_events, acks, 8);
SIZE(rdma_ucmx_id_info, 48);
AT(rdma_ucmx_id_info, state, 4);
AT(rdma_ucmx_id_info, pending, 8);
AT(rdma_ucmx_id_info, outstanding, 12);
AT(rdma_ucmx_id_info, unread, 16);
AT(rdma_ucmx_id_info, oldest_reader, 20);
AT(rdma_ucmx_id_info, oldest_time, 24);
AT(rdma_ucmx_id_info, oldest_seq, 32);
AT(rdma_ucmx_id_info, cookie, 40);
SIZE(rdma_ucmx_list_ids, 24);
AT(rdma_ucmx_list_ids, first, 4);
AT(rdma_ucmx_list_ids, count, 8);
AT(rdma_ucmx_list_ids, info_size, 12);
AT(rdma_ucmx_list_ids, ids, 16);
SIZE(rdma_ucmx_migrate_id, 40);
AT(rdma_ucmx_migrate_id, target_fd, 8);
AT(rdma_ucmx_migrate_id, flags, 12);
AT(rdma_ucmx_migrate_id, deadline, 16);
AT(rdma_ucmx_migrate_id, held_seq, 24);
AT(rdma_ucmx_migrate_id, cookie, 32);
SIZE(rdma_ucmx_adopt_id, 16);
AT(rdma_ucmx_adopt_id, cookie, 8);
SIZE(rdma_ucmx_shutdown, 8);
AT(rdma_ucmx_shutdown, flags, 4);
SIZE(rdma_ucmx_write_event, 24);
AT(rdma_ucmx_write_event, event, 8);
AT(rdma_ucmx_write_event, status, 12);
AT(rdma_ucmx_write_event, arg, 16);
SIZE(rdma_ucmx_join_mcast, 72);
AT(rdma_ucmx_join_mcast, join_state, 8);
AT(rdma_ucmx_join_mcast, out_group, 12);
AT(rdma_ucmx_join_mcast, cookie, 16);
AT(rdma_ucmx_join_mcast, addr, 24);
SIZE(rdma_ucmx_leave_mcast, 32);
AT(rdma_ucmx_leave_mcast, group, 8);
AT(rdma_ucmx_leave_mcast, flags, 12);
AT(rdma_ucmx_leave_mcast, deadline, 16);
AT(rdma_ucmx_leave_mcast, held_seq, 24);
SIZE(rdma_ucmx_get_option, 32);
AT(rdma_ucmx_get_option, level, 8);
AT(rdma_ucmx_get_option, optname, 12);
AT(rdma_ucmx_get_option, optval, 16);
AT(rdma_ucmx_get_option, optlen, 24);
AT(rdma_ucmx_get_option, out_optlen, 28);
SIZE(rdma_ucmx_read_events, 24);
AT(rdma_ucmx_read_events, count, 4);
AT(rdma_ucmx_read_events, buffer, 8);
AT(rdma_ucmx_read_events, length, 16);
AT(rdma_ucmx_read_events, flags, 20);
SIZE(rdma_ucmx_resolve_ib_service, 88);
AT(rdma_ucmx_resolve_ib_service, flags, 8);
AT(rdma_ucmx_resolve_ib_service, service_id, 16);
AT(rdma_ucmx_resolve_ib_service, name, 24);
SIZE(rdma_ucmx_services, 8);
AT(rdma_ucmx_services, total, 4);
SIZE(rdma_ucmx_service, 176);
AT(rdma_ucmx_service, gid, 8);
AT(rdma_ucmx_service, pkey, 24);
AT(rdma_ucmx_service, lease, 28);
AT(rdma_ucmx_service, key, 32);
AT(rdma_ucmx_service, name, 48);
AT(rdma_ucmx_service, data, 112);

SAME_SIZE(rdma_ucmx_ece, rdma_ucm_ece);
SAME(rdma_ucmx_ece, rdma_ucm_ece, attr_mod);

SAME_SIZE(rdma_ucmx_conn_param, rdma_ucm_conn_param);
SAME(rdma_ucmx_conn_param, rdma_ucm_conn_param, qkey);
SAME(rdma_ucmx_conn_param, rdma_ucm_conn_param, private_data);
SAME(rdma_ucmx_conn_param, rdma_ucm_conn_param, private_data_len);
SAME(rdma_ucmx_conn_param, rdma_ucm_conn_param, srq);
SAME(rdma_ucmx_conn_param, rdma_ucm_conn_param, responder_resources);
SAME(rdma_ucmx_conn_param, rdma_ucm_conn_param, initiator_depth);
SAME(rdma_ucmx_conn_param, rdma_ucm_conn_param, flow_control);
SAME(rdma_ucmx_conn_param, rdma_ucm_conn_param, retry_count);
SAME(rdma_ucmx_conn_param, rdma_ucm_conn_param, rnr_retry_count);
SAME(rdma_ucmx_conn_param, rdma_ucm_conn_param, valid);

SAME_SIZE(rdma_ucmx_ud_param, rdma_ucm_ud_param);
SAME(rdma_ucmx_ud_param, rdma_ucm_ud_param, qkey);
SAME(rdma_ucmx_ud_param, rdma_ucm_ud_param, ah_attr);
SAME(rdma_ucmx_ud_param, rdma_ucm_ud_param, private_data);
SAME(rdma_ucmx_ud_param, rdma_ucm_ud_param, private_data_len);

SAME_SIZE(rdma_ucmx_path, ib_path_rec_data);
SAME(rdma_ucmx_path, ib_path_rec_data, flags);
SAME(rdma_ucmx_path, ib_path_rec_data, path_rec);

/* The addresses' GRH is a struct of its own there. */
SAME_SIZE(rdma_ucmx_ah_attr, ib_uverbs_ah_attr);
AT(rdma_ucmx_ah_attr, flow_label, offsetof(struct ib_uverbs_ah_attr, grh.flow_label));
AT(rdma_ucmx_ah_attr, sgid_index, offsetof(struct ib_uverbs_ah_attr, grh.sgid_index));
AT(rdma_ucmx_ah_attr, hop_limit, offsetof(struct ib_uverbs_ah_attr, grh.hop_limit));
AT(rdma_ucmx_ah_attr, traffic_class, offsetof(struct ib_uverbs_ah_attr, grh.traffic_class));
SAME(rdma_ucmx_ah_attr, ib_uverbs_ah_attr, dlid);
SAME(rdma_ucmx_ah_attr, ib_uverbs_ah_attr, sl);
SAME(rdma_ucmx_ah_attr, ib_uverbs_ah_attr, src_path_bits);
SAME(rdma_ucmx_ah_attr, ib_uverbs_ah_attr, static_rate);
SAME(rdma_ucmx_ah_attr, ib_uverbs_ah_attr, is_global);
SAME(rdma_ucmx_ah_attr, ib_uverbs_ah_attr, port_num);

SAME_SIZE(rdma_ucmx_qp_attr, ib_uverbs_qp_attr);
SAME(rdma_ucmx_qp_attr, ib_uverbs_qp_attr, qp_attr_mask);
SAME(rdma_ucmx_qp_attr, ib_uverbs_qp_attr, qp_state);
SAME(rdma_ucmx_qp_attr, ib_uverbs_qp_attr, cur_qp_state);
SAME(rdma_ucmx_qp_attr, ib_uverbs_qp_attr, path_mtu);
SAME(rdma_ucmx_qp_attr, ib_uverbs_qp_attr, path_mig_state);
SAME(rdma_ucmx_qp_attr, ib_uverbs_qp_attr, qkey);
SAME(rdma_ucmx_qp_attr, ib_uverbs_qp_attr, rq_psn);
SAME(rdma_ucmx_qp_attr, ib_uverbs_qp_attr, sq_psn);
SAME(rdma_ucmx_qp_attr, ib_uverbs_qp_attr, dest_qp_num);
SAME(rdma_ucmx_qp_attr, ib_uverbs_qp_attr, qp_access_flags);
SAME(rdma_ucmx_qp_attr, ib_uverbs_qp_attr, ah_attr);
SAME(rdma_ucmx_qp_attr, ib_uverbs_qp_attr, alt_ah_attr);
SAME(rdma_ucmx_qp_attr, ib_uverbs_qp_attr, max_send_wr);
SAME(rdma_ucmx_qp_attr, ib_uverbs_qp_attr, max_inline_data);
SAME(rdma_ucmx_qp_attr, ib_uverbs_qp_attr, pkey_index);
SAME(rdma_ucmx_qp_attr, ib_uverbs_qp_attr, alt_pkey_index);
SAME(rdma_ucmx_qp_attr, ib_uverbs_qp_attr, max_rd_atomic);
SAME(rdma_ucmx_qp_attr, ib_uverbs_qp_attr, max_dest_rd_atomic);
SAME(rdma_ucmx_qp_attr, ib_uverbs_qp_attr, min_rnr_timer);
SAME(rdma_ucmx_qp_attr, ib_uverbs_qp_attr, port_num);
SAME(rdma_ucmx_qp_attr, ib_uverbs_qp_attr, timeout);
SAME(rdma_ucmx_qp_attr, ib_uverbs_qp_attr, retry_cnt);
SAME(rdma_ucmx_qp_attr, ib_uverbs_qp_attr, rnr_retry);
SAME(rdma_ucmx_qp_attr, ib_uverbs_qp_attr, alt_port_num);
SAME(rdma_ucmx_qp_attr, ib_uverbs_qp_attr, alt_timeout);
