// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * in_hand ADDRESS - a handler migrates or destroys the id of the event that it is
 * handling.
 *
 * An acceptor listens on ADDRESS and accepts.  Once a connection is established it
 * gives it to the worker, another thread with a channel of its own, from within the
 * handler of ESTABLISHED; the worker destroys it from within the handler of
 * DISCONNECTED.  With rdma_migrate_id() and rdma_destroy_id() both would wait for
 * themselves: for the acknowledgement of the event that they are handling.  Given the
 * event, the call acknowledges it, if and only if it succeeds.
 *
 * In the end the worker is turned away from its channel, where it waits for events.
 */
#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>

#include <arpa/inet.h>

#include <rdma/rdma_cmx.h>

#include "greeting.h"

#define CONNECTIONS 3

static struct sockaddr_in address = { .sin_family = AF_INET };
static struct rdma_event_channel *acceptor, *worker;
/* So many connections are over. */
static sem_t over;

/*
 * The worker
 */

static void on_disconnected(struct rdma_cm_event *event)
{
	struct rdma_cm_id *id = event->id;

	rdma_destroy_qp(id);
	try(rdmax_destroy_id(id, event, 0, NULL));
	printf("worker: destroyed the id of the event in its hand\n");
	sem_post(&over);
}

static void *work(void *unused)
{
	struct rdma_cm_event *event;

	(void)unused;
	while (!rdma_get_cm_event(worker, &event)) {
		if (event->event == RDMA_CM_EVENT_DISCONNECTED)
			on_disconnected(event);
		else
			try(rdma_ack_cm_event(event));
	}
	try(errno != ESHUTDOWN);
	printf("worker: turned away from its channel\n");
	return NULL;
}

/*
 * The acceptor
 */

static void on_request(struct rdma_cm_event *event)
{
	struct ibv_qp_init_attr attr = greeting_qp_attr();
	struct rdma_cm_id *id = event->id;

	try(rdma_create_qp(id, NULL, &attr));
	try(rdma_accept(id, NULL));
	try(rdma_ack_cm_event(event));
}

static void on_established(struct rdma_cm_event *event)
{
	try(rdmax_migrate_id(event->id, worker, event, 0, NULL));
	printf("acceptor: gave away the id of the event in its hand\n");
}

static void accept_all(void)
{
	struct rdma_cm_event *event;
	int established = 0;

	while (established < CONNECTIONS) {
		try(rdma_get_cm_event(acceptor, &event));
		switch (event->event) {
		case RDMA_CM_EVENT_CONNECT_REQUEST:
			on_request(event);
			break;
		case RDMA_CM_EVENT_ESTABLISHED:
			on_established(event);
			established++;
			break;
		default:
			fprintf(stderr, "%s\n", rdma_event_str(event->event));
			exit(EXIT_FAILURE);
		}
	}
}

/*
 * The clients, one after the other
 */

/* A type of service, which the kernel can be asked for, too. */
static void set_tos(struct rdma_cm_id *id)
{
	uint8_t tos = 32, is = 0;
	size_t size = sizeof(is);

	try(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)));
	try(rdmax_get_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &is, &size));
	printf("client: type of service %u\n", is);
}

static void connect_once(void)
{
	struct ibv_qp_init_attr attr = greeting_qp_attr();
	struct rdma_cm_id *id;

	try(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	set_tos(id);
	try(rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, 5000));
	try(rdma_resolve_route(id, 5000));
	try(rdma_create_qp(id, NULL, &attr));
	try(rdma_connect(id, NULL));
	try(rdma_disconnect(id));
	rdma_destroy_qp(id);
	try(rdma_destroy_id(id));
}

static void *connect_all(void *unused)
{
	int i;

	(void)unused;
	for (i = 0; i < CONNECTIONS; i++)
		connect_once();
	return NULL;
}

static struct rdma_cm_id *listen_anywhere(void)
{
	struct rdma_cm_id *id;

	try(rdma_create_id(acceptor, &id, NULL, RDMA_PS_TCP));
	try(rdma_bind_addr(id, (struct sockaddr *)&address));
	try(rdma_listen(id, CONNECTIONS));
	address.sin_port = rdma_get_src_port(id);
	return id;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	struct rdma_cm_id *listener;
	int i;

	if (argc != 2 || inet_pton(AF_INET, argv[1], &address.sin_addr) != 1) {
		fprintf(stderr, "usage: %s ADDRESS\n", argv[0]);
		return 2;
	}
	sem_init(&over, 0, 0);
	acceptor = rdma_create_event_channel();
	worker = rdma_create_event_channel();
	try(!acceptor || !worker);
	listener = listen_anywhere();
	errno = pthread_create(&threads[0], NULL, work, NULL);
	try(errno);
	errno = pthread_create(&threads[1], NULL, connect_all, NULL);
	try(errno);
	accept_all();
	pthread_join(threads[1], NULL);
	for (i = 0; i < CONNECTIONS; i++)
		sem_wait(&over);
	try(rdmax_shutdown_channel(worker));
	pthread_join(threads[0], NULL);
	try(rdma_destroy_id(listener));
	rdma_destroy_event_channel(acceptor);
	rdma_destroy_event_channel(worker);
	return 0;
}
