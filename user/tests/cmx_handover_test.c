// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Ids that are handed to another process, which dies now and then.
 */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/rdma_cmx.h>
#include <rdma/rdma_ucmx.h>

#include "cmx_scene.h"
#include "lib_scene.h"
#include "pass_fd.h"
#include "test.h"

/* In the other process: whatever fails ends it. */
#define must(condition) do {						\
	if (!(condition)) {						\
		fprintf(stderr, "# the other process: %s: %s\n",	\
			#condition, strerror(errno));			\
		_exit(1);						\
	}								\
} while (0)

/*
 * The other process is there before this one has opened anything.  Its channel
 * comes over the socket, as @theirs.
 */
struct pair {
	struct rdma_event_channel *channel, *clients, *theirs;
	struct rdma_cm_id *listener;
	uint16_t port;
	int socket;
	pid_t pid;
};

FIXTURE(two)
{
	struct pair pair;
};

typedef void worker(struct rdma_event_channel *channel, int socket);

static void work(worker *worker, int socket)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();

	must(channel);
	must(!send_fd(socket, channel->fd));
	worker(channel, socket);
	must(!channel_outstanding(channel));
	rdma_destroy_event_channel(channel);
	_exit(0);
}

/* A word from one process to the other that it has come so far. */
static int tell(int socket)
{
	return write(socket, "", 1) == 1 ? 0 : -1;
}

static int hear(int socket)
{
	char byte;

	return read(socket, &byte, 1) == 1 ? 0 : -1;
}

static int begin(struct pair *pair, worker *worker)
{
	int sockets[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
		return -1;
	pair->pid = fork();
	if (!pair->pid)
		work(worker, sockets[1]);
	close(sockets[1]);
	pair->socket = sockets[0];
	pair->theirs = rdmax_channel_from_fd(receive_fd(pair->socket));
	pair->channel = rdma_create_event_channel();
	pair->clients = rdma_create_event_channel();
	if (!pair->theirs || !pair->channel || !pair->clients)
		return -1;
	pair->listener = listener_open(pair->channel, ADDR1, 8);
	if (!pair->listener)
		return -1;
	pair->port = listener_port(pair->listener);
	return 0;
}

/* How the other process ended: as waitpid() has it. */
static int end(struct pair *pair)
{
	int status = -1;

	return waitpid(pair->pid, &status, 0) == pair->pid ? status : -1;
}

FIXTURE_SETUP(two)
{
}

FIXTURE_TEARDOWN(two)
{
	EXPECT_EQ(0, rdma_destroy_id(self->pair.listener));
	EXPECT_EQ(0, channel_outstanding(self->pair.channel));
	EXPECT_EQ(0, channel_ids(self->pair.channel));
	rdma_destroy_event_channel(self->pair.channel);
	rdma_destroy_event_channel(self->pair.clients);
	rdma_destroy_event_channel(self->pair.theirs);
	close(self->pair.socket);
}

/* A request is read here, its id handed over and forgotten. */
static int hand_over(struct pair *pair, struct rdma_cm_id **client)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	*client = client_connect(pair->clients, ADDR1, pair->port, 7);
	if (!*client || event_expect(pair->channel,
				     RDMA_CM_EVENT_CONNECT_REQUEST, &event))
		return -1;
	id = event->id;
	if (rdma_ack_cm_event(event) ||
	    rdmax_migrate_id(id, pair->theirs, NULL, RDMAX_ANNOUNCE, NULL))
		return -1;
	return rdmax_forget_id(id);
}

static struct rdma_cm_id *adopt_arrived(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	must(!events_read(channel, &event, 1));
	must(event->event == RDMAX_EVENT_ARRIVED);
	must(!event->id);
	must(!rdmax_adopt_id(event, channel, &id));
	must(event->id == id);
	must(!rdma_ack_cm_event(event));
	return id;
}

static void serve(struct rdma_event_channel *channel, int socket)
{
	struct rdma_cm_id *id = adopt_arrived(channel);
	struct rdma_cm_event *event;

	must(id->verbs && id->pd && id->port_num == 1);
	must(id->ps == RDMA_PS_TCP && id->qp_type == IBV_QPT_RC);
	must(id->route.num_paths == NUM_PATHS);
	must(rdma_get_local_addr(id)->sa_family == AF_INET);
	must(!child_accept(id, 8));
	must(!event_expect(channel, RDMA_CM_EVENT_ESTABLISHED, &event));
	must(event->id == id && id->context == channel);
	must(!rdma_ack_cm_event(event));
	must(!event_take(channel, RDMA_CM_EVENT_DISCONNECTED));
	must(!tell(socket));
	id_close(id);
}

TEST_F(two, request_is_accepted_by_the_other)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *client;

	test_ok(begin(&self->pair, serve));
	test_ok(hand_over(&self->pair, &client));
	/* Only the listener is left. */
	ASSERT_EQ(1, channel_ids(self->pair.channel));
	test_ok(event_expect(self->pair.clients, RDMA_CM_EVENT_ESTABLISHED, &event));
	ASSERT_EQ(8, event_tag(event));
	test_ok(rdma_ack_cm_event(event));
	test_ok(rdma_disconnect(client));
	test_ok(hear(self->pair.socket));
	test_ok(event_take(self->pair.clients, RDMA_CM_EVENT_DISCONNECTED));
	id_close(client);
	ASSERT_EQ(0, end(&self->pair));
}

static void pass_over(struct rdma_event_channel *channel, int socket)
{
	struct rdma_cm_event *event;

	must(event_comes(channel));
	must(!fcntl(channel->fd, F_SETFL, O_NONBLOCK));
	must(rdma_get_cm_event(channel, &event) && errno == EAGAIN);
	must(channel_ids(channel) == 1);
	must(!channel_outstanding(channel));
	must(!tell(socket));
}

TEST_F(two, other_knows_nothing_of_adopting)
{
	struct rdma_cm_id *client;

	test_ok(begin(&self->pair, pass_over));
	test_ok(hand_over(&self->pair, &client));
	test_ok(hear(self->pair.socket));
	ASSERT_EQ(0, end(&self->pair));
	/* Until the last one closes the channel it stays there. */
	ASSERT_EQ(1, channel_ids(self->pair.theirs));
	ASSERT_FALSE(event_there(self->pair.clients));
	id_close(client);
}

static void take_listener(struct rdma_event_channel *channel, int socket)
{
	struct rdma_cm_event *events[3];
	struct rdma_cm_id *listener, *child;
	int i;

	must(!events_read(channel, events, 3));
	must(!rdmax_adopt_id(events[0], NULL, &listener));
	for (i = 1; i < 3; i++) {
		must(events[i]->event == RDMA_CM_EVENT_CONNECT_REQUEST);
		must(!rdmax_adopt_id(events[i], NULL, &child));
		must(events[i]->listen_id == listener);
		must(!rdma_reject(child, NULL, 0));
		must(!rdma_destroy_id(child));
	}
	must(rdmax_ack_cm_events(events, 3) == 3);
	must(!tell(socket));
	/* From now on it is a listener like any other. */
	must(!event_expect(channel, RDMA_CM_EVENT_CONNECT_REQUEST, &events[0]));
	must(events[0]->listen_id == listener);
	must(!rdma_reject(events[0]->id, NULL, 0));
	must(!rdma_destroy_id(events[0]->id));
	must(!rdma_ack_cm_event(events[0]));
	must(!rdma_destroy_id(listener));
}

TEST_F(two, listener_goes_with_its_requests)
{
	struct rdma_cm_id *clients[3];
	struct rdmax_id_info info;
	int i, ms;

	test_ok(begin(&self->pair, take_listener));
	for (i = 0; i < 2; i++) {
		clients[i] = client_connect(self->pair.clients, ADDR1, self->pair.port, i);
		ASSERT_NE(NULL, clients[i]);
	}
	for (ms = patience_ms(); ms > 0; ms--) {
		test_ok(rdmax_query_id(self->pair.listener, &info, sizeof(info)));
		if (info.unread == 2)
			break;
		usleep(1000);
	}
	ASSERT_EQ(2, info.unread);
	test_ok(rdmax_migrate_id(self->pair.listener, self->pair.theirs, NULL,
				 RDMAX_ANNOUNCE | RDMAX_NONBLOCK, NULL));
	test_ok(rdmax_forget_id(self->pair.listener));
	test_ok(hear(self->pair.socket));
	for (i = 0; i < 2; i++)
		test_ok(event_take(self->pair.clients, RDMA_CM_EVENT_REJECTED));
	clients[2] = client_connect(self->pair.clients, ADDR1, self->pair.port, i);
	ASSERT_NE(NULL, clients[2]);
	test_ok(event_take(self->pair.clients, RDMA_CM_EVENT_REJECTED));
	for (i = 0; i < 3; i++)
		id_close(clients[i]);
	ASSERT_EQ(0, end(&self->pair));
	self->pair.listener = listener_open(self->pair.channel, ADDR1, 1);
	ASSERT_NE(NULL, self->pair.listener);
}

static void hand_back(struct rdma_event_channel *channel, int socket)
{
	struct rdma_cm_id *id = adopt_arrived(channel);
	struct rdma_event_channel *back;

	back = rdmax_channel_from_fd(receive_fd(socket));
	must(back);
	must(!rdmax_migrate_id(id, back, NULL, RDMAX_ANNOUNCE, NULL));
	must(id->channel == back);
	must(!rdmax_forget_id(id));
	rdma_destroy_event_channel(back);
}

TEST_F(two, comes_back)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *client, *id;

	test_ok(begin(&self->pair, hand_back));
	test_ok(hand_over(&self->pair, &client));
	test_ok(send_fd(self->pair.socket, self->pair.channel->fd));
	test_ok(events_read(self->pair.channel, &event, 1));
	ASSERT_EQ(RDMAX_EVENT_ARRIVED, event->event);
	ASSERT_EQ(0, end(&self->pair));
	test_ok(rdmax_adopt_id(event, NULL, &id));
	test_ok(rdma_ack_cm_event(event));
	test_ok(child_accept(id, 9));
	test_ok(event_take(self->pair.clients, RDMA_CM_EVENT_ESTABLISHED));
	test_ok(event_take(self->pair.channel, RDMA_CM_EVENT_ESTABLISHED));
	id_close(client);
	test_ok(event_take(self->pair.channel, RDMA_CM_EVENT_DISCONNECTED));
	id_close(id);
}

/* It has read the announcement, and that is the last thing that it does. */
static void die_with_the_event(struct rdma_event_channel *channel, int socket)
{
	struct rdma_cm_event *event;

	must(!events_read(channel, &event, 1));
	must(!tell(socket));
	pause();
}

/*
 * As long as its channel is held here the id is there; what the dead process had
 * in hand is acknowledged in its place.
 */
TEST_F(two, taken_back_from_the_dead)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *client, *id;
	struct rdmax_id_info info;

	test_ok(begin(&self->pair, die_with_the_event));
	client = client_connect(self->pair.clients, ADDR1, self->pair.port, 7);
	ASSERT_NE(NULL, client);
	test_ok(event_expect(self->pair.channel, RDMA_CM_EVENT_CONNECT_REQUEST,
			     &event));
	id = event->id;
	test_ok(rdma_ack_cm_event(event));
	test_ok(rdmax_migrate_id(id, self->pair.theirs, NULL, RDMAX_ANNOUNCE, NULL));
	test_ok(hear(self->pair.socket));
	test_ok(kill(self->pair.pid, SIGKILL));
	ASSERT_EQ(SIGKILL, end(&self->pair));
	test_err(EAGAIN, rdmax_migrate_id(id, self->pair.channel, NULL,
					  RDMAX_NONBLOCK, NULL));
	test_ok(rdmax_query_id(id, &info, sizeof(info)));
	ASSERT_EQ(1, info.outstanding);
	test_ok(rdmax_ack_id_events(id));
	test_ok(rdmax_migrate_id(id, self->pair.channel, NULL, RDMAX_NONBLOCK, NULL));
	test_ok(child_accept(id, 9));
	test_ok(event_take(self->pair.clients, RDMA_CM_EVENT_ESTABLISHED));
	test_ok(event_take(self->pair.channel, RDMA_CM_EVENT_ESTABLISHED));
	id_close(client);
	test_ok(event_take(self->pair.channel, RDMA_CM_EVENT_DISCONNECTED));
	id_close(id);
	test_err(EINVAL, rdmax_ack_id_events(NULL));
}

/* Once nobody holds the channel, its ids are gone, and the peers know. */
TEST_F(two, gone_with_the_last_channel)
{
	struct rdma_cm_id *client;

	test_ok(begin(&self->pair, die_with_the_event));
	test_ok(hand_over(&self->pair, &client));
	test_ok(hear(self->pair.socket));
	test_ok(kill(self->pair.pid, SIGKILL));
	ASSERT_EQ(SIGKILL, end(&self->pair));
	ASSERT_FALSE(event_there(self->pair.clients));
	rdma_destroy_event_channel(self->pair.theirs);
	self->pair.theirs = rdma_create_event_channel();
	ASSERT_NE(NULL, self->pair.theirs);
	test_ok(event_take(self->pair.clients, RDMA_CM_EVENT_REJECTED));
	id_close(client);
}

TEST_HARNESS_MAIN
