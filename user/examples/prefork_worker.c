// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A worker of the pre-fork server: adopts the ids that arrive on its channel,
 * accepts, greets, and waits until the client has had enough.
 *
 * Events are read in batches.  All of a batch are unacknowledged, so an id is
 * destroyed after the batch was acknowledged: the destruction would otherwise wait
 * for an event that is still to be looked at.
 */
#include <poll.h>
#include <unistd.h>

#include <rdma/rdma_verbs.h>

#include "pass_fd.h"
#include "prefork.h"

#define BATCH 32

/* What an id's context says of it. */
static char known[1], over[1];

static void tell(int socket, enum prefork_word word)
{
	char byte = word;

	try(write(socket, &byte, 1) != 1);
}

/*
 * An id that another worker had before, and died before it read of it, is announced
 * twice.  Returns the id if its client has given up meanwhile.
 */
static struct rdma_cm_id *on_arrived(int socket, struct rdma_cm_event *event)
{
	struct ibv_qp_init_attr attr = greeting_qp_attr();
	struct rdma_cm_id *id;

	if (event->id)
		return NULL;
	try(rdmax_adopt_id(event, NULL, &id));
	if (id->context)
		return NULL;
	id->context = known;
	tell(socket, PREFORK_ADOPTED);
	return rdma_create_qp(id, NULL, &attr) || rdma_accept(id, NULL) ? id :
									   NULL;
}

static void on_established(struct rdma_cm_id *id)
{
	char greeting[GREETING_SIZE];

	memset(greeting, 0, sizeof(greeting));
	snprintf(greeting, sizeof(greeting), "worker %d", getpid());
	if (rdma_post_send(id, NULL, greeting, sizeof(greeting), NULL,
			   IBV_SEND_INLINE))
		perror("rdma_post_send");
}

/* Returns the id if that is the end of it. */
static struct rdma_cm_id *on_event(int socket, struct rdma_cm_event *event)
{
	switch ((int)event->event) {
	case RDMAX_EVENT_ARRIVED:
		return on_arrived(socket, event);
	case RDMA_CM_EVENT_ESTABLISHED:
		on_established(event->id);
		return NULL;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
		return event->id;
	default:
		return NULL;
	}
}

static void destroy(int socket, struct rdma_cm_id *id)
{
	if (id->qp)
		rdma_destroy_qp(id);
	try(rdma_destroy_id(id));
	tell(socket, PREFORK_DONE);
}

static void on_events(int socket, struct rdma_event_channel *channel)
{
	struct rdma_cm_event *events[BATCH];
	struct rdma_cm_id *ids[BATCH];
	int i, n, num_ids = 0;

	n = rdmax_get_cm_events(channel, events, BATCH);
	try(n < 0);
	for (i = 0; i < n; i++) {
		struct rdma_cm_id *id = on_event(socket, events[i]);

		/* Once: these events follow upon each other. */
		if (id && id->context != over) {
			id->context = over;
			ids[num_ids++] = id;
		}
	}
	try(rdmax_ack_cm_events(events, n) != n);
	for (i = 0; i < num_ids; i++)
		destroy(socket, ids[i]);
}

void worker(int socket)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();

	try(!channel);
	try(send_fd(socket, channel->fd));
	for (;;) {
		struct pollfd fds[] = {
			{ .fd = channel->fd, .events = POLLIN },
			{ .fd = socket, .events = POLLIN },
		};

		try(poll(fds, 2, -1) < 0);
		if (fds[0].revents)
			on_events(socket, channel);
		else if (fds[1].revents)
			break;
	}
	rdma_destroy_event_channel(channel);
}
