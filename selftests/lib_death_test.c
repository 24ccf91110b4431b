// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Processes that are killed wherever they are in making a connection, or all the
 * time that it takes.  Whoever comes after them, on the same port, finds nothing
 * of theirs in his way: the first connection works, also when what they left at
 * the other end goes on.
 *
 * This process opens no device, since its children are to.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib_scene.h"
#include "test.h"

enum { PORT = 7399, CLIENTS = 3 };

/* Where a server or a client can be. */
enum step {
	LISTENING = 'l',
	REQUEST_READ = 'r',
	ACKNOWLEDGED = 'a',
	ACCEPTED = 'c',
	RESOLVED = 'v',
	REQUEST_SENT = 's',
	ESTABLISHED = 'e',
	DISCONNECTING = 'd',
	NEVER = 'n',
};

/**
 * struct peer - a process at one end
 * @pid: the process
 * @said: where it says how far it is, a letter for each step
 * @last: the step at which it stays
 */
struct peer {
	pid_t pid;
	int said[2];
	enum step last;
};

/*
 * In the process
 */

/* Whatever fails ends it. */
#define must(condition) do {						\
	if (!(condition)) {						\
		fprintf(stderr, "# %s: %s\n", #condition, strerror(errno)); \
		_exit(2);						\
	}								\
} while (0)

static void reach(const struct peer *peer, enum step step)
{
	char letter = step;

	must(write(peer->said[1], &letter, 1) == 1);
	while (step == peer->last)
		pause();
}

static void on_request(const struct peer *peer, struct rdma_cm_event *event)
{
	struct rdma_cm_id *id = event->id;

	reach(peer, REQUEST_READ);
	must(!rdma_ack_cm_event(event));
	reach(peer, ACKNOWLEDGED);
	/* Fails if the client has given up. */
	if (child_accept(id, 1))
		id_close(id);
	else
		reach(peer, ACCEPTED);
}

/* Whoever comes is served until the end. */
static void serve(const struct peer *peer)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	enum rdma_cm_event_type kind;

	must(channel);
	must(listener_open_at(channel, ADDR1, PORT, CLIENTS - 1));
	reach(peer, LISTENING);
	for (;;) {
		must(!rdma_get_cm_event(channel, &event));
		id = event->id;
		kind = event->event;
		if (kind == RDMA_CM_EVENT_CONNECT_REQUEST) {
			on_request(peer, event);
			continue;
		}
		if (kind == RDMA_CM_EVENT_ESTABLISHED)
			reach(peer, ESTABLISHED);
		else
			reach(peer, DISCONNECTING);
		must(!rdma_ack_cm_event(event));
		if (kind != RDMA_CM_EVENT_ESTABLISHED &&
		    kind != RDMA_CM_EVENT_TIMEWAIT_EXIT)
			id_close(id);
	}
}

/* The kind of the next event, which is acknowledged. */
static enum rdma_cm_event_type next(struct rdma_event_channel *channel)
{
	enum rdma_cm_event_type kind;
	struct rdma_cm_event *event;

	must(!rdma_get_cm_event(channel, &event));
	kind = event->event;
	must(!rdma_ack_cm_event(event));
	return kind;
}

/* Ends with 0 if it was connected, with 1 if the server would not. */
static void connect_once(const struct peer *peer)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;
	bool connected;

	must(channel);
	id = client_resolved(channel, ADDR1, PORT);
	must(id);
	must(!qp_create(id));
	reach(peer, RESOLVED);
	/* Over iWARP it is this that says that nobody listens. */
	if (client_request(id, 1))
		_exit(1);
	reach(peer, REQUEST_SENT);
	connected = next(channel) == RDMA_CM_EVENT_ESTABLISHED;
	if (connected) {
		reach(peer, ESTABLISHED);
		rdma_disconnect(id);
		reach(peer, DISCONNECTING);
		must(next(channel) == RDMA_CM_EVENT_DISCONNECTED);
	}
	id_close(id);
	rdma_destroy_event_channel(channel);
	_exit(!connected);
}

/*
 * In the test
 */

static struct peer start(void (*run)(const struct peer *peer), enum step last)
{
	struct peer peer = { .last = last };

	if (pipe(peer.said))
		abort();
	peer.pid = fork();
	if (!peer.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run(&peer);
		_exit(2);
	}
	close(peer.said[1]);
	return peer;
}

/* Read what it says until it is there; -1 if it ends before. */
static int await(const struct peer *peer, enum step step)
{
	char letter;

	while (read(peer->said[0], &letter, 1) == 1) {
		if (letter == (char)step)
			return 0;
	}
	return -1;
}

/* Its status. */
static int end(struct peer *peer)
{
	int status = -1;

	waitpid(peer->pid, &status, 0);
	close(peer->said[0]);
	return status;
}

static int put_to_death(struct peer *peer)
{
	kill(peer->pid, SIGKILL);
	return end(peer);
}

FIXTURE(death) {
	struct peer server;
	struct peer clients[CLIENTS];
};

FIXTURE_VARIANT(death) {
	enum step server;
	enum step client;
	bool server_dies;
	bool client_dies;
};

/* One request more than there is room for, and the others unread. */
FIXTURE_VARIANT_ADD(death, of_a_server_with_a_full_backlog) { LISTENING, NEVER, true, false };
FIXTURE_VARIANT_ADD(death, of_a_server_that_has_read_one) { REQUEST_READ, NEVER, true, false };
FIXTURE_VARIANT_ADD(death, of_a_server_before_it_accepts) { ACKNOWLEDGED, NEVER, true, false };
FIXTURE_VARIANT_ADD(death, of_a_server_that_has_accepted) { ACCEPTED, NEVER, true, false };
FIXTURE_VARIANT_ADD(death, of_a_connected_server) { ESTABLISHED, NEVER, true, false };
FIXTURE_VARIANT_ADD(death, of_a_server_that_is_left) { DISCONNECTING, NEVER, true, false };
FIXTURE_VARIANT_ADD(death, of_clients_before_they_connect) { NEVER, RESOLVED, false, true };
FIXTURE_VARIANT_ADD(death, of_clients_that_wait) { NEVER, REQUEST_SENT, false, true };
FIXTURE_VARIANT_ADD(death, of_connected_clients) { NEVER, ESTABLISHED, false, true };
FIXTURE_VARIANT_ADD(death, of_clients_that_leave) { NEVER, DISCONNECTING, false, true };
FIXTURE_VARIANT_ADD(death, of_all_before_one_is_read) { LISTENING, REQUEST_SENT, true, true };
FIXTURE_VARIANT_ADD(death, of_all_with_one_in_hand) { REQUEST_READ, REQUEST_SENT, true, true };
FIXTURE_VARIANT_ADD(death, of_all_before_one_knows) { ACCEPTED, REQUEST_SENT, true, true };
FIXTURE_VARIANT_ADD(death, of_all_that_are_connected) { ESTABLISHED, ESTABLISHED, true, true };

FIXTURE_SETUP(death)
{
	unsigned int i;

	self->server = start(serve, variant->server);
	test_ok(await(&self->server, LISTENING));
	for (i = 0; i < CLIENTS; i++)
		self->clients[i] = start(connect_once, variant->client);
}

FIXTURE_TEARDOWN(death)
{
	EXPECT_EQ(SIGKILL, put_to_death(&self->server));
}

/* The first to come after them. */
static int next_is_served(void)
{
	struct peer client = start(connect_once, NEVER);

	return await(&client, ESTABLISHED) | end(&client);
}

/* Where the clients are when there is somebody to be killed. */
static enum step meeting(enum step server, enum step client)
{
	if (client == RESOLVED)
		return client;
	return server == NEVER && client != NEVER ? client : REQUEST_SENT;
}

/* Another takes its place at once. */
static int replace(struct peer *server)
{
	if (put_to_death(server) != SIGKILL)
		return -1;
	*server = start(serve, NEVER);
	return await(server, LISTENING);
}

TEST_F(death, lets_the_next_one_in)
{
	unsigned int i;
	int status;

	for (i = 0; i < CLIENTS; i++)
		test_ok(await(&self->clients[i], meeting(variant->server, variant->client)));
	if (variant->server != NEVER && variant->server != LISTENING)
		test_ok(await(&self->server, variant->server));
	for (i = 0; i < CLIENTS && variant->client_dies; i++)
		EXPECT_EQ(SIGKILL, put_to_death(&self->clients[i]));
	if (variant->server_dies)
		test_ok(replace(&self->server));
	EXPECT_EQ(0, next_is_served());
	/* The others were served or turned away. */
	for (i = 0; i < CLIENTS && !variant->client_dies; i++) {
		status = end(&self->clients[i]);
		EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) < 2);
	}
}

/* Now this one, now that one, wherever it is at that moment. */
TEST(deaths_at_any_time)
{
	struct peer server, clients[CLIENTS];
	unsigned int i, round;

	server = start(serve, NEVER);
	test_ok(await(&server, LISTENING));
	for (round = 0; round < scaled(20); round++) {
		for (i = 0; i < CLIENTS; i++)
			clients[i] = start(connect_once, NEVER);
		usleep(random() % 50000);
		if (round % 3)
			test_ok(replace(&server));
		for (i = 0; i < CLIENTS; i++) {
			if (round % 2)
				put_to_death(&clients[i]);
		}
		EXPECT_EQ(0, next_is_served());
		for (i = 0; i < CLIENTS && !(round % 2); i++)
			EXPECT_LT(end(&clients[i]), 2 << 8);
	}
	EXPECT_EQ(SIGKILL, put_to_death(&server));
}

TEST_HARNESS_MAIN
