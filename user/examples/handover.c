// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * handover ADDRESS - a connection is asked for in one process and accepted in
 * another.
 *
 * The acceptor listens on ADDRESS.  It hands the id of a request, which has no
 * queue pair yet, to the worker: migrates it to the worker's event channel, whose
 * descriptor came over a Unix socket.  The worker adopts it, creates the queue pair,
 * accepts, and sends a greeting.  The client, a third process, prints that.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <arpa/inet.h>

#include <rdma/rdma_cmx.h>
#include <rdma/rdma_verbs.h>

#include "greeting.h"
#include "pass_fd.h"

/*
 * The worker
 */

/* The next event, which must be this one; of an id that may have to be adopted. */
static struct rdma_cm_event *next_event(struct rdma_event_channel *channel,
					enum rdma_cm_event_type expected)
{
	struct rdma_cm_event *event;

	try(rdmax_get_cm_events(channel, &event, 1) != 1);
	if (event->event != expected) {
		fprintf(stderr, "%s instead of %s\n",
			rdma_event_str(event->event), rdma_event_str(expected));
		exit(EXIT_FAILURE);
	}
	return event;
}

static struct rdma_cm_id *adopt(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event = next_event(channel, RDMAX_EVENT_ARRIVED);
	struct rdma_cm_id *id;

	/* Now it has what rdma_create_qp() needs: verbs, pd, addresses, ... */
	try(rdmax_adopt_id(event, NULL, &id));
	try(rdma_ack_cm_event(event));
	return id;
}

static void run_worker(int socket)
{
	struct ibv_qp_init_attr attr = greeting_qp_attr();
	struct rdma_event_channel *channel;
	char greeting[GREETING_SIZE] = { 0 };
	struct rdma_cm_id *id;

	channel = rdma_create_event_channel();
	try(!channel);
	try(send_fd(socket, channel->fd));

	id = adopt(channel);
	try(rdma_create_qp(id, NULL, &attr));
	try(rdma_accept(id, NULL));
	printf("worker %d: adopted and accepted\n", getpid());
	try(rdma_ack_cm_event(next_event(channel, RDMA_CM_EVENT_ESTABLISHED)));

	snprintf(greeting, sizeof(greeting), "a greeting from %d", getpid());
	try(rdma_post_send(id, NULL, greeting, sizeof(greeting), NULL,
			   IBV_SEND_INLINE));
	try(rdma_ack_cm_event(next_event(channel, RDMA_CM_EVENT_DISCONNECTED)));
	rdma_destroy_qp(id);
	try(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

/*
 * The client
 */

static void run_client(const char *address, int pipe)
{
	struct ibv_qp_init_attr attr = greeting_qp_attr();
	struct sockaddr_in server = { .sin_family = AF_INET };
	char greeting[GREETING_SIZE];
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	struct ibv_wc wc;

	inet_pton(AF_INET, address, &server.sin_addr);
	try(read(pipe, &server.sin_port, sizeof(server.sin_port)) !=
	    sizeof(server.sin_port));
	/* Synchronous, as it has no channel. */
	try(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	try(rdma_resolve_addr(id, NULL, (struct sockaddr *)&server, 5000));
	try(rdma_resolve_route(id, 5000));
	try(rdma_create_qp(id, NULL, &attr));
	mr = rdma_reg_msgs(id, greeting, sizeof(greeting));
	try(!mr);
	try(rdma_post_recv(id, NULL, greeting, sizeof(greeting), mr));
	try(rdma_connect(id, NULL));
	try(rdma_get_recv_comp(id, &wc) != 1 || wc.status != IBV_WC_SUCCESS);
	printf("client %d: got %s\n", getpid(), greeting);
	try(rdma_disconnect(id));
	rdma_dereg_mr(mr);
	rdma_destroy_qp(id);
	try(rdma_destroy_id(id));
}

/*
 * The acceptor
 */

static struct rdma_cm_id *listen_on(struct rdma_event_channel *channel,
				    const char *address)
{
	struct sockaddr_in any_port = { .sin_family = AF_INET };
	struct rdma_cm_id *id;

	inet_pton(AF_INET, address, &any_port.sin_addr);
	try(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	try(rdma_bind_addr(id, (struct sockaddr *)&any_port));
	try(rdma_listen(id, 1));
	return id;
}

static void hand_over(struct rdma_event_channel *channel,
		      struct rdma_event_channel *workers)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	event = next_event(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	id = event->id;
	/*
	 * The private data of the request is in this event: who needs it in the
	 * worker sends it over the socket.
	 */
	try(rdma_ack_cm_event(event));
	try(rdmax_migrate_id(id, workers, NULL, RDMAX_ANNOUNCE, NULL));
	try(rdmax_forget_id(id));
	printf("acceptor %d: handed a request over\n", getpid());
}

static void run_acceptor(const char *address, int socket, int pipe)
{
	struct rdma_event_channel *channel, *workers;
	struct rdma_cm_id *listener;
	uint16_t port;

	workers = rdmax_channel_from_fd(receive_fd(socket));
	try(!workers);
	channel = rdma_create_event_channel();
	try(!channel);
	listener = listen_on(channel, address);
	port = rdma_get_src_port(listener);
	try(write(pipe, &port, sizeof(port)) != sizeof(port));
	hand_over(channel, workers);
	try(rdma_destroy_id(listener));
	rdma_destroy_event_channel(channel);
	/* Only our side: the worker has it, too. */
	rdma_destroy_event_channel(workers);
}

static bool ended_well(void)
{
	int status;

	try(wait(&status) < 0);
	return status == 0;
}

/* The processes begin before any of them opens a device. */
int main(int argc, char **argv)
{
	int sockets[2], pipes[2];
	bool well;

	if (argc != 2) {
		fprintf(stderr, "usage: %s ADDRESS\n", argv[0]);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	try(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	try(pipe(pipes));
	if (!fork()) {
		run_worker(sockets[1]);
		return 0;
	}
	if (!fork()) {
		run_client(argv[1], pipes[0]);
		return 0;
	}
	run_acceptor(argv[1], sockets[0], pipes[1]);
	well = ended_well();
	return ended_well() && well ? 0 : EXIT_FAILURE;
}
