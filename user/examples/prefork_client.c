// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * prefork_client ADDRESS COUNT - COUNT connections to the pre-fork server, some of
 * them at a time, each of which waits for a greeting.
 *
 * An id begins as a synchronous one, and becomes an asynchronous one when it is
 * connected, so that the end of the connection can be waited for together with the
 * greeting.
 */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <arpa/inet.h>

#include <rdma/rdma_verbs.h>

#include "prefork.h"

#define THREADS 16

static struct sockaddr_in server = {
	.sin_family = AF_INET,
};

static atomic_int to_do, greeted, failed;

static int connect_to_server(struct rdma_cm_id *id, char *greeting,
			     struct ibv_mr **mr)
{
	struct ibv_qp_init_attr attr = greeting_qp_attr();

	if (rdma_resolve_addr(id, NULL, (struct sockaddr *)&server, 20000) ||
	    rdma_resolve_route(id, 20000) || rdma_create_qp(id, NULL, &attr))
		return -1;
	*mr = rdma_reg_msgs(id, greeting, GREETING_SIZE);
	if (!*mr ||
	    rdma_post_recv(id, NULL, greeting, GREETING_SIZE, *mr))
		return -1;
	return rdma_connect(id, NULL);
}

/* Whether the greeting comes before the connection ends. */
static bool is_greeted(struct rdma_event_channel *channel,
		       struct rdma_cm_id *id)
{
	struct pollfd fds[] = {
		{ .fd = id->recv_cq_channel->fd, .events = POLLIN },
		{ .fd = channel->fd, .events = POLLIN },
	};
	struct ibv_wc wc = { .status = IBV_WC_GENERAL_ERR };

	if (ibv_req_notify_cq(id->recv_cq, 0) < 0)
		return false;
	if (ibv_poll_cq(id->recv_cq, 1, &wc) == 1)
		return wc.status == IBV_WC_SUCCESS;
	if (poll(fds, 2, -1) < 0 || !fds[0].revents)
		return false;
	return rdma_get_recv_comp(id, &wc) == 1 &&
	       wc.status == IBV_WC_SUCCESS;
}

static bool make_connection(struct rdma_event_channel *channel)
{
	char greeting[GREETING_SIZE];
	struct ibv_mr *mr = NULL;
	struct rdma_cm_id *id;
	bool well;

	try(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	well = !connect_to_server(id, greeting, &mr) &&
	       !rdma_migrate_id(id, channel) && is_greeted(channel, id);
	if (well)
		rdma_disconnect(id);
	if (mr)
		rdma_dereg_mr(mr);
	if (id->qp)
		rdma_destroy_qp(id);
	try(rdma_destroy_id(id));
	return well;
}

static void *make_connections(void *unused)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();

	(void)unused;
	try(!channel);
	while (atomic_fetch_sub(&to_do, 1) > 0)
		atomic_fetch_add(make_connection(channel) ? &greeted : &failed,
				 1);
	rdma_destroy_event_channel(channel);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	int i;

	if (argc != 3 ||
	    inet_pton(AF_INET, argv[1], &server.sin_addr) != 1) {
		fprintf(stderr, "usage: %s ADDRESS COUNT\n", argv[0]);
		return 2;
	}
	server.sin_port = htons(PREFORK_PORT);
	atomic_init(&to_do, atoi(argv[2]));
	for (i = 0; i < THREADS; i++) {
		errno = pthread_create(&threads[i], NULL, make_connections, NULL);
		try(errno);
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("greeted %d, failed %d\n", atomic_load(&greeted),
	       atomic_load(&failed));
	return 0;
}
