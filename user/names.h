/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A public function is in two parts.  What others call is in calls.c: it logs
 * the call, if that is wanted, and calls the other, which does the work.  The
 * latter is named cmx_rdma_x() for rdma_x(), by this header, so that in all other
 * files it looks like what it is, and what the library calls of itself is no call
 * of the user's and is not logged.  Its prototype is the public one, by typeof.
 *
 * Two have nothing to log: rdma_event_str() names, and rpoll() is poll(2).
 */
#ifndef CMX_NAMES_H
#define CMX_NAMES_H

#include <rdma/rdma_cma.h>
#include <rdma/rdma_cmx.h>
#include <rdma/rdma_verbs.h>

#define CMX_NAME(name) extern __typeof__(name) cmx_##name

CMX_NAME(rdma_accept);
CMX_NAME(rdma_ack_cm_event);
CMX_NAME(rdma_bind_addr);
CMX_NAME(rdma_connect);
CMX_NAME(rdma_create_ep);
CMX_NAME(rdma_create_event_channel);
CMX_NAME(rdma_create_id);
CMX_NAME(rdma_create_qp);
CMX_NAME(rdma_create_qp_ex);
CMX_NAME(rdma_create_srq);
CMX_NAME(rdma_create_srq_ex);
CMX_NAME(rdma_destroy_ep);
CMX_NAME(rdma_destroy_event_channel);
CMX_NAME(rdma_destroy_id);
CMX_NAME(rdma_destroy_qp);
CMX_NAME(rdma_destroy_srq);
CMX_NAME(rdma_disconnect);
CMX_NAME(rdma_establish);
CMX_NAME(rdma_free_devices);
CMX_NAME(rdma_freeaddrinfo);
CMX_NAME(rdma_get_cm_event);
CMX_NAME(rdma_get_devices);
CMX_NAME(rdma_get_dst_port);
CMX_NAME(rdma_get_remote_ece);
CMX_NAME(rdma_get_request);
CMX_NAME(rdma_get_src_port);
CMX_NAME(rdma_getaddrinfo);
CMX_NAME(rdma_init_qp_attr);
CMX_NAME(rdma_join_multicast);
CMX_NAME(rdma_join_multicast_ex);
CMX_NAME(rdma_leave_multicast);
CMX_NAME(rdma_listen);
CMX_NAME(rdma_migrate_id);
CMX_NAME(rdma_notify);
CMX_NAME(rdma_query_addrinfo);
CMX_NAME(rdma_reject);
CMX_NAME(rdma_reject_ece);
CMX_NAME(rdma_resolve_addr);
CMX_NAME(rdma_resolve_addrinfo);
CMX_NAME(rdma_resolve_route);
CMX_NAME(rdma_set_local_ece);
CMX_NAME(rdma_set_option);
CMX_NAME(rdma_write_cm_event);
CMX_NAME(rdmax_ack_cm_events);
CMX_NAME(rdmax_ack_id_events);
CMX_NAME(rdmax_adopt_id);
CMX_NAME(rdmax_channel_from_fd);
CMX_NAME(rdmax_destroy_id);
CMX_NAME(rdmax_forget_id);
CMX_NAME(rdmax_get_cm_events);
CMX_NAME(rdmax_get_option);
CMX_NAME(rdmax_leave_multicast);
CMX_NAME(rdmax_migrate_id);
CMX_NAME(rdmax_query_channel);
CMX_NAME(rdmax_query_id);
CMX_NAME(rdmax_shutdown_channel);

#ifndef CMX_PUBLIC_NAMES
#define rdma_accept cmx_rdma_accept
#define rdma_ack_cm_event cmx_rdma_ack_cm_event
#define rdma_bind_addr cmx_rdma_bind_addr
#define rdma_connect cmx_rdma_connect
#define rdma_create_ep cmx_rdma_create_ep
#define rdma_create_event_channel cmx_rdma_create_event_channel
#define rdma_create_id cmx_rdma_create_id
#define rdma_create_qp cmx_rdma_create_qp
#define rdma_create_qp_ex cmx_rdma_create_qp_ex
#define rdma_create_srq cmx_rdma_create_srq
#define rdma_create_srq_ex cmx_rdma_create_srq_ex
#define rdma_destroy_ep cmx_rdma_destroy_ep
#define rdma_destroy_event_channel cmx_rdma_destroy_event_channel
#define rdma_destroy_id cmx_rdma_destroy_id
#define rdma_destroy_qp cmx_rdma_destroy_qp
#define rdma_destroy_srq cmx_rdma_destroy_srq
#define rdma_disconnect cmx_rdma_disconnect
#define rdma_establish cmx_rdma_establish
#define rdma_free_devices cmx_rdma_free_devices
#define rdma_freeaddrinfo cmx_rdma_freeaddrinfo
#define rdma_get_cm_event cmx_rdma_get_cm_event
#define rdma_get_devices cmx_rdma_get_devices
#define rdma_get_dst_port cmx_rdma_get_dst_port
#define rdma_get_remote_ece cmx_rdma_get_remote_ece
#define rdma_get_request cmx_rdma_get_request
#define rdma_get_src_port cmx_rdma_get_src_port
#define rdma_getaddrinfo cmx_rdma_getaddrinfo
#define rdma_init_qp_attr cmx_rdma_init_qp_attr
#define rdma_join_multicast cmx_rdma_join_multicast
#define rdma_join_multicast_ex cmx_rdma_join_multicast_ex
#define rdma_leave_multicast cmx_rdma_leave_multicast
#define rdma_listen cmx_rdma_listen
#define rdma_migrate_id cmx_rdma_migrate_id
#define rdma_notify cmx_rdma_notify
#define rdma_query_addrinfo cmx_rdma_query_addrinfo
#define rdma_reject cmx_rdma_reject
#define rdma_reject_ece cmx_rdma_reject_ece
#define rdma_resolve_addr cmx_rdma_resolve_addr
#define rdma_resolve_addrinfo cmx_rdma_resolve_addrinfo
#define rdma_resolve_route cmx_rdma_resolve_route
#define rdma_set_local_ece cmx_rdma_set_local_ece
#define rdma_set_option cmx_rdma_set_option
#define rdma_write_cm_event cmx_rdma_write_cm_event
#define rdmax_ack_cm_events cmx_rdmax_ack_cm_events
#define rdmax_ack_id_events cmx_rdmax_ack_id_events
#define rdmax_adopt_id cmx_rdmax_adopt_id
#define rdmax_channel_from_fd cmx_rdmax_channel_from_fd
#define rdmax_destroy_id cmx_rdmax_destroy_id
#define rdmax_forget_id cmx_rdmax_forget_id
#define rdmax_get_cm_events cmx_rdmax_get_cm_events
#define rdmax_get_option cmx_rdmax_get_option
#define rdmax_leave_multicast cmx_rdmax_leave_multicast
#define rdmax_migrate_id cmx_rdmax_migrate_id
#define rdmax_query_channel cmx_rdmax_query_channel
#define rdmax_query_id cmx_rdmax_query_id
#define rdmax_shutdown_channel cmx_rdmax_shutdown_channel
#endif

#endif /* CMX_NAMES_H */
