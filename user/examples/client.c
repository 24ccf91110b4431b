// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The clients: ids on one channel that is read by one thread.  Nothing is
 * migrated here; what the server loses is missed here too.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "demo.h"

enum { RESOLVE_TIMEOUT = 5000 /* ms */ };

static struct ibv_cq *sent;

static bool make_queue_pair(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	if (!sent)
		sent = ibv_create_cq(id->verbs, 2 * ledger.count, NULL, NULL, 0);
	attr.send_cq = sent;
	attr.recv_cq = sent;
	return sent && !rdma_create_qp(id, NULL, &attr);
}

static void connect_to_server(struct end *end)
{
	uint32_t number = htonl(end->connection->number);
	struct rdma_conn_param param = {
		.private_data = &number,
		.private_data_len = sizeof(number),
		.retry_count = 7,
		.rnr_retry_count = 7,
	};

	if (!make_queue_pair(end->id)) {
		ledger_failed("rdma_create_qp");
		return;
	}
	ledger_sent(end->connection);
	if (rdma_connect(end->id, &param))
		ledger_failed("rdma_connect");
}

static void send_message(struct end *end)
{
	struct ibv_send_wr message = {
		.opcode = IBV_WR_SEND_WITH_IMM,
		.imm_data = htonl(end->connection->number),
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_send_wr *bad;

	errno = ibv_post_send(end->id->qp, &message, &bad);
	if (errno)
		ledger_failed("ibv_post_send");
}

static int kind_of(const struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED: return CLIENT_ADDRESS;
	case RDMA_CM_EVENT_ROUTE_RESOLVED: return CLIENT_ROUTE;
	case RDMA_CM_EVENT_ESTABLISHED: return CLIENT_ESTABLISHED;
	case RDMA_CM_EVENT_DISCONNECTED: return CLIENT_DISCONNECTED;
	default: return EVENT_KINDS;
	}
}

static void go_on(struct end *end, enum event_kind kind)
{
	switch (kind) {
	case CLIENT_ADDRESS:
		if (rdma_resolve_route(end->id, RESOLVE_TIMEOUT))
			ledger_failed("rdma_resolve_route");
		break;
	case CLIENT_ROUTE:
		connect_to_server(end);
		break;
	case CLIENT_ESTABLISHED:
		send_message(end);
		break;
	default:
		break;
	}
}

/**
 * client_drain - read and handle what is there
 */
void client_drain(struct reader *reader)
{
	struct rdma_cm_event *event;

	while ((event = reader_next(reader))) {
		struct end *end = event->id->context;
		int kind = kind_of(event);

		if (kind == EVENT_KINDS) {
			/* That one may come or not, and says nothing. */
			if (event->event != RDMA_CM_EVENT_TIMEWAIT_EXIT)
				ledger_unexpected(reader, event);
			rdma_ack_cm_event(event);
			continue;
		}
		ledger_read(reader, end, end->connection, kind, event);
		reader_acknowledge(reader, end, event);
		go_on(end, kind);
	}
}

static void start(struct connection *connection)
{
	struct end *end = &connection->client;

	end->owner = &clients;
	if (rdma_create_id(clients.channel, &end->id, end, RDMA_PS_TCP)) {
		ledger_failed("rdma_create_id");
		return;
	}
	if (rdma_resolve_addr(end->id, NULL,
			      rdma_get_local_addr(ledger.listener.id),
			      RESOLVE_TIMEOUT))
		ledger_failed("rdma_resolve_addr");
}

/**
 * client_open - have some clients connect
 * @from: the first one's number
 * @to: one more than the last one's
 */
void client_open(unsigned int from, unsigned int to)
{
	unsigned int i;

	for (i = from; i < to; i++)
		start(&ledger.connections[i]);
}

/**
 * client_disconnect - have some clients disconnect, if they are connected
 * @from: the first one's number
 * @to: one more than the last one's
 */
void client_disconnect(unsigned int from, unsigned int to)
{
	unsigned int i;

	for (i = from; i < to; i++) {
		struct connection *connection = &ledger.connections[i];
		bool connected;

		pthread_mutex_lock(&ledger.lock);
		connected = connection->seen[CLIENT_ESTABLISHED] &&
			    !connection->seen[CLIENT_DISCONNECTED];
		pthread_mutex_unlock(&ledger.lock);
		if (connected && rdma_disconnect(connection->client.id))
			ledger_failed("rdma_disconnect");
	}
}
