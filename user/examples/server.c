// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The server: a listener, and readers that accept what it brings and hand
 * each accepted id to the worker that is to have it.
 *
 * Whoever owns the listener accepts, be it the acceptor or a worker; all
 * server's readers run the same code.  Requests are taken ten at a time:
 * read, accepted, and, after a short rest in which the clients' answers come
 * in, handed over.  So the ids that go to the workers have an unread event,
 * ESTABLISHED, that has to go with them.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "demo.h"

enum { BATCH = 10, REST = 100 /* ms */ };

static struct ibv_cq *messages;
static bool sitting, let_go;

/* Every client sends one message, its number, as the immediate data of a
 * message that has no other; so the receiver needs no memory for it.
 */
static bool prepare_for_message(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = messages,
		.recv_cq = messages,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_recv_wr receive = { .num_sge = 0 }, *bad;

	if (rdma_create_qp(id, NULL, &attr)) {
		ledger_failed("rdma_create_qp");
		return false;
	}
	errno = ibv_post_recv(id->qp, &receive, &bad);
	if (errno)
		ledger_failed("ibv_post_recv");
	return !errno;
}

static bool accept_connection(struct connection *connection)
{
	struct rdma_conn_param param = { .rnr_retry_count = 7 };

	if (!prepare_for_message(connection->server.id))
		return false;
	if (!rdma_accept(connection->server.id, &param))
		return true;
	ledger_failed("rdma_accept");
	return false;
}

/**
 * server_take_messages - note what the clients have sent
 *
 * Under ledger.lock.
 */
void server_take_messages(void)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(messages, 1, &wc) > 0) {
		uint32_t number = ntohl(wc.imm_data);

		if (wc.status != IBV_WC_SUCCESS ||
		    !(wc.wc_flags & IBV_WC_WITH_IMM) || number >= ledger.count)
			continue;
		ledger.connections[number].message = true;
		ledger.progress++;
	}
}

/* A handler that takes its time: the event stays unacknowledged. */
static void sit(struct reader *reader)
{
	pthread_mutex_lock(&ledger.lock);
	sitting = true;
	reader->busy = true;
	reader->doing = "holds it";
	pthread_cond_broadcast(&ledger.changed);
	while (!let_go && !reader->stop)
		pthread_cond_wait(&ledger.changed, &ledger.lock);
	sitting = false;
	reader->busy = false;
	reader->doing = NULL;
	pthread_mutex_unlock(&ledger.lock);
}

/**
 * server_is_sitting - has a worker got an event and not given it back?
 *
 * Under ledger.lock.
 */
bool server_is_sitting(void)
{
	return sitting;
}

/**
 * server_let_go - have the slow worker finish
 */
void server_let_go(void)
{
	pthread_mutex_lock(&ledger.lock);
	let_go = true;
	pthread_cond_broadcast(&ledger.changed);
	pthread_mutex_unlock(&ledger.lock);
}

static struct connection *take_request(struct reader *reader,
				       struct rdma_cm_event *event)
{
	struct end *listener = event->listen_id->context;
	struct connection *connection;
	uint32_t number;

	/* What comes with a request is padded to a fixed length. */
	if (event->param.conn.private_data_len >= sizeof(number))
		memcpy(&number, event->param.conn.private_data, sizeof(number));
	else
		number = UINT32_MAX;
	number = ntohl(number);
	if (number >= ledger.count) {
		ledger_unexpected(reader, event);
		rdma_ack_cm_event(event);
		return NULL;
	}
	connection = &ledger.connections[number];
	ledger_read(reader, listener, connection, SERVER_REQUEST, event);
	event->id->context = &connection->server;
	reader_acknowledge(reader, listener, event);
	return connection;
}

static void handle(struct reader *reader, struct rdma_cm_event *event)
{
	struct end *end = event->id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_ESTABLISHED:
		ledger_read(reader, end, end->connection, SERVER_ESTABLISHED,
			    event);
		if (end->connection->slow)
			sit(reader);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		ledger_read(reader, end, end->connection, SERVER_DISCONNECTED,
			    event);
		/* The client hears that its farewell was heard. */
		if (rdma_disconnect(event->id))
			ledger_failed("rdma_disconnect");
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		/* May come or not, says nothing. */
		rdma_ack_cm_event(event);
		return;
	default:
		ledger_unexpected(reader, event);
		rdma_ack_cm_event(event);
		return;
	}
	reader_acknowledge(reader, end, event);
}

static unsigned int take_requests(struct reader *reader,
				  struct connection **batch)
{
	struct rdma_cm_event *event;
	unsigned int count = 0;

	while (count < BATCH && (event = reader_next(reader))) {
		if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
			handle(reader, event);
			continue;
		}
		batch[count] = take_request(reader, event);
		if (batch[count])
			count++;
	}
	return count;
}

/**
 * server_drain - read and handle what is there
 */
void server_drain(struct reader *reader)
{
	struct connection *batch[BATCH];
	unsigned int count, accepted, i;

	while ((count = take_requests(reader, batch))) {
		for (i = 0, accepted = 0; i < count; i++) {
			if (accept_connection(batch[i]))
				batch[accepted++] = batch[i];
		}
		ledger_pause(REST);
		for (i = 0; i < accepted; i++) {
			if (batch[i]->home != reader)
				move(&batch[i]->server, batch[i]->home);
		}
	}
}

static void listen_at(struct rdma_cm_id *id, const char *address)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST }, *found;

	if (getaddrinfo(address, NULL, &hints, &found))
		die("%s is not an address", address);
	/* The port is whichever is free. */
	if (rdma_bind_addr(id, found->ai_addr) || !id->verbs)
		die("no RDMA device has the address %s; see: rdma link", address);
	freeaddrinfo(found);
	if (rdma_listen(id, ledger.count))
		die("rdma_listen: %s", strerror(errno));
}

/**
 * server_open - start listening on the acceptor's channel
 */
void server_open(void)
{
	struct end *listener = &ledger.listener;

	if (rdma_create_id(acceptor.channel, &listener->id, listener,
			   RDMA_PS_TCP))
		die("rdma_create_id: %s", strerror(errno));
	listener->owner = &acceptor;
	listen_at(listener->id, options.address);
	/* Twice: what never comes is flushed when its id is destroyed. */
	messages = ibv_create_cq(listener->id->verbs, 2 * ledger.count, NULL,
				 NULL, 0);
	if (!messages)
		die("ibv_create_cq: %s", strerror(errno));
}
