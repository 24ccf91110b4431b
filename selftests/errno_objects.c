// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What is answered to those who want queue pairs and shared receive queues of odd
 * kinds, and what helpers say: one line each.  See errno_table.c.
 */
#include <ctype.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/ib.h>
#include <rdma/rdma_verbs.h>
#include <rdma/rsocket.h>

#include "errno_state.h"
#include "errno_table.h"
#include "lib_scene.h"

static struct ibv_qp_init_attr usual(void)
{
	return qp_attr_of(IBV_QPT_RC);
}

/* The result, and what the id has then: a queue pair, and completion queues. */
static void qp_line(const char *part, const char *name, struct rdma_cm_id *id,
		    struct ibv_pd *pd, struct ibv_qp_init_attr attr)
{
	char text[64], what[64];

	errno = 0;
	line(part, name, rdma_create_qp(id, pd, &attr));
	snprintf(what, sizeof(what), "%s_leaves", name);
	snprintf(text, sizeof(text), "qp=%d,send=%d,recv=%d,filled=%d%d", !!id->qp,
		 !!id->send_cq, !!id->recv_cq, !!attr.send_cq, !!attr.recv_cq);
	line_text(part, what, text);
	if (id->qp)
		rdma_destroy_qp(id);
}

static void odd_capabilities(const char *part, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = usual();

	qp_line(part, "usual", id, NULL, attr);
	attr.cap.max_send_wr = 1U << 30;
	qp_line(part, "too_many_sends", id, NULL, attr);
	attr = usual();
	attr.cap.max_recv_wr = 1U << 30;
	qp_line(part, "too_many_receives", id, NULL, attr);
	attr = usual();
	attr.cap.max_send_sge = 4096;
	qp_line(part, "too_many_elements", id, NULL, attr);
	attr = usual();
	attr.cap.max_inline_data = 1U << 20;
	qp_line(part, "too_much_inline", id, NULL, attr);
}

/* For what has no work there is no completion queue. */
static void no_work(const char *part, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = usual();

	memset(&attr.cap, 0, sizeof(attr.cap));
	qp_line(part, "of_nothing", id, NULL, attr);
	attr = usual();
	attr.cap.max_send_wr = 0;
	qp_line(part, "without_sends", id, NULL, attr);
	attr = usual();
	attr.cap.max_recv_wr = 0;
	qp_line(part, "without_receives", id, NULL, attr);
}

static void odd_types(const char *part, struct rdma_cm_id *id)
{
	static const int types[] = { 0, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_XRC_SEND,
				     IBV_QPT_XRC_RECV, 99 };
	struct ibv_qp_init_attr attr = usual();
	char name[32];
	unsigned int i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		attr.qp_type = types[i];
		snprintf(name, sizeof(name), "type_%d", types[i]);
		qp_line(part, name, id, NULL, attr);
	}
}

/* Of the same device, opened once more, and so another one's. */
static void others_objects(const char *part, struct rdma_cm_id *id)
{
	struct ibv_context *verbs = ibv_open_device(id->verbs->device);
	struct ibv_cq *cq = ibv_create_cq(id->verbs, 4, NULL, NULL, 0);
	struct ibv_cq *cq2 = ibv_create_cq(id->verbs, 4, NULL, NULL, 0);
	struct ibv_pd *pd = ibv_alloc_pd(verbs), *own = ibv_alloc_pd(id->verbs);
	struct ibv_qp_init_attr attr = usual();

	qp_line(part, "anothers_domain", id, pd, attr);
	qp_line(part, "a_domain", id, own, attr);
	attr.send_cq = cq;
	qp_line(part, "one_queue", id, NULL, attr);
	attr.recv_cq = cq;
	qp_line(part, "one_queue_for_both", id, NULL, attr);
	id->send_cq = cq2;
	attr.recv_cq = NULL;
	qp_line(part, "not_the_ids_queue", id, NULL, attr);
	id->send_cq = NULL;
	ibv_dealloc_pd(own);
	ibv_dealloc_pd(pd);
	ibv_destroy_cq(cq2);
	ibv_destroy_cq(cq);
	ibv_close_device(verbs);
}

static void extended(const char *part, struct rdma_cm_id *id)
{
	static const uint32_t masks[] = { 0, IBV_QP_INIT_ATTR_PD, 1U << 30 };
	struct ibv_qp_init_attr_ex attr;
	char name[32];
	unsigned int i;

	for (i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		memset(&attr, 0, sizeof(attr));
		attr.cap = usual().cap;
		attr.qp_type = usual().qp_type;
		attr.comp_mask = masks[i];
		snprintf(name, sizeof(name), "mask_%x", masks[i]);
		line(part, name, rdma_create_qp_ex(id, &attr));
		if (id->qp)
			rdma_destroy_qp(id);
	}
}

/* What a call in vain leaves of what it was given, which may be used once more. */
static void extended_in_vain(const char *part, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr_ex attr = {
		.cap = usual().cap,
		.qp_type = IBV_QPT_RC,
	};
	char text[64];

	attr.cap.max_inline_data = 1U << 20;
	line(part, "extended_too_much_inline", rdma_create_qp_ex(id, &attr));
	snprintf(text, sizeof(text), "mask=%x,pd=%d,filled=%d%d", attr.comp_mask,
		 !!attr.pd, !!attr.send_cq, !!attr.recv_cq);
	line_text(part, "extended_too_much_inline_leaves", text);
	if (!over_ours)
		return;
	/* The system's library has left pointers to what it has destroyed. */
	attr.cap.max_inline_data = 0;
	line(part, "extended_once_more", rdma_create_qp_ex(id, &attr));
	if (id->qp)
		rdma_destroy_qp(id);
}

static void twice(const char *part, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = usual();

	line(part, "once", rdma_create_qp(id, NULL, &attr));
	attr = usual();
	line(part, "twice", rdma_create_qp(id, NULL, &attr));
	rdma_destroy_qp(id);
}

void table_queue_pairs(const char *part)
{
	struct state state;

	/* The system's library follows pointers to the device, and to a queue. */
	if (over_ours) {
		open_state(&state, "fresh");
		qp_line(part, "no_device", state.id, NULL, usual());
		state_close(&state);
	}
	open_state(&state, "resolved");
	if (over_ours)
		no_work(part, state.id);
	odd_capabilities(part, state.id);
	odd_types(part, state.id);
	others_objects(part, state.id);
	state_close(&state);
	/* An id keeps the domain of a queue pair that it had. */
	open_state(&state, "resolved");
	extended(part, state.id);
	extended_in_vain(part, state.id);
	twice(part, state.id);
	state_close(&state);
}

static void srq_line(const char *part, const char *name, struct rdma_cm_id *id,
		     uint32_t wr, uint32_t sge)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = wr, .max_sge = sge } };

	line(part, name, rdma_create_srq(id, NULL, &attr));
	if (id->srq)
		rdma_destroy_srq(id);
}

static void srq_ex_line(const char *part, const char *name, struct rdma_cm_id *id,
			uint32_t mask, enum ibv_srq_type type, struct ibv_pd *pd)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 1, .max_sge = 1 },
		.comp_mask = mask,
		.srq_type = type,
		.pd = pd,
	};

	line(part, name, rdma_create_srq_ex(id, &attr));
	if (id->srq)
		rdma_destroy_srq(id);
}

/* The system's library forgets the first one, which then is in use for ever. */
static void second_receive_queue(const char *part, struct rdma_cm_id *id)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 1, .max_sge = 1 } };

	line(part, "first", rdma_create_srq(id, NULL, &attr));
	if (over_ours)
		line(part, "second", rdma_create_srq(id, NULL, &attr));
	rdma_destroy_srq(id);
}

void table_receive_queues(const char *part)
{
	struct ibv_context *verbs;
	struct state state;
	struct ibv_pd *pd;

	open_state(&state, "resolved");
	verbs = ibv_open_device(state.id->verbs->device);
	pd = ibv_alloc_pd(verbs);
	srq_line(part, "usual", state.id, 1, 1);
	srq_line(part, "of_nothing", state.id, 0, 0);
	srq_line(part, "without_elements", state.id, 1, 0);
	srq_line(part, "too_many", state.id, 1U << 30, 1);
	srq_line(part, "too_many_elements", state.id, 1, 4096);
	srq_ex_line(part, "no_type", state.id, 0, IBV_SRQT_BASIC, NULL);
	srq_ex_line(part, "type_only", state.id, IBV_SRQ_INIT_ATTR_TYPE,
		    IBV_SRQT_BASIC, NULL);
	srq_ex_line(part, "unknown_type", state.id, IBV_SRQ_INIT_ATTR_TYPE, 99, NULL);
	srq_ex_line(part, "mask_of_the_future", state.id,
		    IBV_SRQ_INIT_ATTR_TYPE | 1U << 30, IBV_SRQT_BASIC, NULL);
	srq_ex_line(part, "anothers_domain", state.id,
		    IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD, IBV_SRQT_BASIC, pd);
	ibv_dealloc_pd(pd);
	ibv_close_device(verbs);
	state_close(&state);
	open_state(&state, "resolved");
	second_receive_queue(part, state.id);
	state_close(&state);
}

static void event_names(const char *part)
{
	char name[32], text[64], *c;
	int event;

	for (event = -1; event < 24; event++) {
		snprintf(name, sizeof(name), "event_%d", event);
		snprintf(text, sizeof(text), "%s", rdma_event_str(event));
		for (c = text; *c; c++)
			*c = isspace((unsigned char)*c) ? '_' : *c;
		line_text(part, name, text);
	}
}

static void polling(const char *part)
{
	struct pollfd pollfd = { .fd = -1, .events = POLLIN };
	int fds[2];

	line(part, "poll_nothing", rpoll(NULL, 0, 0));
	line(part, "poll_no_descriptor", rpoll(&pollfd, 1, 0));
	must(pipe(fds));
	pollfd.fd = fds[0];
	line(part, "poll_empty", rpoll(&pollfd, 1, 0));
	must(write(fds[1], "x", 1) != 1);
	line(part, "poll_full", rpoll(&pollfd, 1, -1));
	line_number(part, "poll_says", pollfd.revents);
	close(fds[0]);
	close(fds[1]);
}

/* Addresses of an id that a call in vain leaves alone, and ports of a service. */
static void addresses(const char *part)
{
	struct sockaddr_ib ib = {
		.sib_family = AF_IB,
		.sib_sid = htobe64((uint64_t)RDMA_PS_TCP << 16 | 7),
	};
	struct rdma_cm_id id = { 0 };
	struct state state;

	memcpy(&id.route.addr.src_storage, &ib, sizeof(ib));
	line_number(part, "port_without_a_mask", ntohs(rdma_get_src_port(&id)));
	open_state(&state, "listening");
	line(part, "resolve_in_vain",
	     rdma_resolve_addr(state.id, NULL, address(ADDR2, 7), 1000));
	line_number(part, "destination_after_that",
		    state.id->route.addr.dst_addr.sa_family);
	state_close(&state);
}

void table_helpers(const char *part)
{
	struct ibv_context **list;
	int count = -1;

	event_names(part);
	polling(part);
	addresses(part);
	list = rdma_get_devices(&count);
	line_number(part, "devices", count);
	line_number(part, "ends_with_nothing", list && !list[count]);
	line_text(part, "device", ibv_get_device_name(list[0]->device));
	rdma_free_devices(list);
	list = rdma_get_devices(NULL);
	line_number(part, "devices_uncounted", list && list[0]);
	rdma_free_devices(list);
	rdma_freeaddrinfo(NULL);
	line(part, "set_ece_of_nothing", rdma_set_local_ece(NULL, NULL));
	line(part, "get_ece_of_nothing", rdma_get_remote_ece(NULL, NULL));
}
