// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Migrations of listeners (C10): with requests queued, with requests arriving,
 * bound to an address and to any.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "call.h"
#include "scene.h"
#include "test.h"

#define MAX_CLIENTS 100

FIXTURE(queued) {
	int source;
	int target;
	int client;
	__u32 listener;
	__u16 port;
	unsigned int n;
	__u32 ids[MAX_CLIENTS];
};

FIXTURE_VARIANT(queued) {
	const char *listen;
	unsigned int n;
};

FIXTURE_VARIANT_ADD(queued, one) { ADDR1, 1 };
FIXTURE_VARIANT_ADD(queued, two) { ADDR1, 2 };
FIXTURE_VARIANT_ADD(queued, ten) { ADDR1, 10 };
FIXTURE_VARIANT_ADD(queued, wildcard_one) { "0.0.0.0", 1 };
FIXTURE_VARIANT_ADD(queued, wildcard_two) { "0.0.0.0", 2 };
FIXTURE_VARIANT_ADD(queued, wildcard_ten) { "0.0.0.0", 10 };

FIXTURE_SETUP(queued)
{
	self->n = variant->n;
	test_ok(channels_open(&self->source, &self->target, &self->client));
	test_ok(listener_open(self->source, variant->listen, self->n + 1,
			      &self->listener, &self->port));
	test_ok(clients_connect(self->client, ADDR1, self->port, self->n,
				self->ids));
	ASSERT_TRUE(wait_until(id_has_pending(self->source, self->listener,
					      self->n)));
}

FIXTURE_TEARDOWN(queued)
{
	channels_close(self->source, self->target, self->client);
}

/* Read request number @seq on @fd and accept it; its tag, or -1. */
static int accept_next(int fd, __u32 listener, __u64 seq)
{
	struct event ev;
	int tag;

	if (event_expect(fd, EV_CONNECT_REQUEST, &ev) || event_ack(fd, &ev))
		return -1;
	if (ev.head.listen_id != listener || ev.head.seq != seq) {
		fprintf(stderr, "# request %llu of listener %u, expected %llu of %u\n",
			ev.head.seq, ev.head.listen_id, seq, listener);
		return -1;
	}
	tag = conn_tag(&ev.conn);
	return child_accept(fd, &ev, tag) ? -1 : tag;
}

/* Each client is answered, once, by the child that its own request brought. */
static int clients_confirm(int fd, const __u32 *ids, unsigned int n)
{
	bool seen[MAX_CLIENTS] = {};
	unsigned int i, tag;
	struct event ev;

	for (i = 0; i < n; i++) {
		if (event_expect(fd, EV_ANSWER, &ev) || event_ack(fd, &ev))
			return -1;
		tag = conn_tag(&ev.conn);
		if (tag >= n || seen[tag] || ids[tag] != ev.head.id) {
			fprintf(stderr, "# client %u was answered as %u\n",
				ev.head.id, tag);
			return -1;
		}
		seen[tag] = true;
		if (!over_iwarp() && cmd_accept(fd, ev.head.id, 0, NULL))
			return -1;
	}
	return 0;
}

static int children_established(int fd, unsigned int n)
{
	bool seen[MAX_CLIENTS] = {};
	struct event ev;
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (event_expect(fd, EV_ESTABLISHED, &ev) || event_ack(fd, &ev))
			return -1;
		if (ev.head.cookie >= n || seen[ev.head.cookie]) {
			fprintf(stderr, "# established: cookie %llu\n",
				ev.head.cookie);
			return -1;
		}
		seen[ev.head.cookie] = true;
	}
	return 0;
}

/* Everything is accepted where the listener went, in the order of arrival. */
static int accept_all(int fd, __u32 listener, unsigned int n)
{
	bool seen[MAX_CLIENTS] = {};
	unsigned int i;
	int tag;

	for (i = 0; i < n; i++) {
		tag = accept_next(fd, listener, i + 1);
		if (tag < 0)
			return -1;
		if ((unsigned int)tag >= n || seen[tag]) {
			fprintf(stderr, "# request with tag %d\n", tag);
			return -1;
		}
		seen[tag] = true;
	}
	return 0;
}

TEST_F(queued, c10_all_can_be_accepted_on_the_target)
{
	struct event ev;
	__u32 late;

	test_ok(cmd_migrate_id(self->source, self->listener, self->target));
	EXPECT_EQ(0, channel_ids(self->source));
	EXPECT_EQ(1 + (int)self->n, channel_ids(self->target));
	test_err(EAGAIN, event_read_now(self->source, &ev));
	test_ok(accept_all(self->target, self->listener, self->n));
	test_ok(clients_confirm(self->client, self->ids, self->n));
	test_ok(children_established(self->target, self->n));
	/* And whoever comes later finds the listener where it is. */
	test_ok(client_connect(self->client, ADDR1, self->port, &late));
	ASSERT_EQ(0, accept_next(self->target, self->listener, self->n + 1));
	test_ok(event_take(self->client, EV_ANSWER, late));
	test_err(EAGAIN, event_read_now(self->source, &ev));
	EXPECT_EQ(0, channel_ids(self->source));
}

/*
 * A hundred, which takes its time where everything is slow; over iWARP no more than
 * come there before the first of them gives up, after ten seconds.
 */
static int hundred_move(const char *ip, int source, int target, int client)
{
	unsigned int n = over_iwarp() ? scaled(100) : 100;
	__u32 ids[100], listener;
	__u16 port;

	if (listener_open(source, ip, n, &listener, &port) ||
	    clients_connect(client, ADDR1, port, n, ids) ||
	    !wait_until(id_has_pending(source, listener, n)))
		return -1;
	if (cmd_migrate_id(source, listener, target) ||
	    accept_all(target, listener, n) ||
	    clients_confirm(client, ids, n) ||
	    children_established(target, n))
		return -1;
	return channel_ids(target) - (1 + (int)n);
}

TEST(c10_a_hundred)
{
	test_ok(hundred_move(ADDR1, channel_open(), channel_open(), channel_open()));
}

TEST(c10_a_hundred_of_a_wildcard_listener)
{
	test_ok(hundred_move("0.0.0.0", channel_open(), channel_open(), channel_open()));
}

/* Some read on the source, the rest on the target. */
TEST_F(queued, c10_accepted_on_both)
{
	unsigned int i, first = self->n / 2;
	struct event ev;

	for (i = 0; i < first; i++)
		ASSERT_LE(0, accept_next(self->source, self->listener, i + 1));
	test_ok(cmd_migrate_id(self->source, self->listener, self->target));
	for (; i < self->n; i++)
		ASSERT_LE(0, accept_next(self->target, self->listener, i + 1));
	test_ok(clients_confirm(self->client, self->ids, self->n));
	EXPECT_EQ((int)first, channel_ids(self->source));
	EXPECT_EQ(1 + (int)(self->n - first), channel_ids(self->target));
	/* The source may go, what it accepted goes with it, and only that. */
	ASSERT_EQ(0, close(self->source));
	self->source = channel_open();
	for (i = first; i < self->n; i++)
		test_ok(event_expect(self->target, EV_ESTABLISHED, &ev));
}

/* A request that was read holds the listener, not its child. */
TEST_F(queued, c08_waits_for_a_request_that_was_read)
{
	struct call call = {};
	struct event ev;
	unsigned int i;

	test_ok(event_expect(self->source, EV_CONNECT_REQUEST, &ev));
	test_ok(call_start_migrate(&call, self->source, self->listener,
				   self->target));
	test_ok(child_accept(self->source, &ev, conn_tag(&ev.conn)));
	ASSERT_FALSE(call_returned(&call));
	test_ok(event_ack(self->source, &ev));
	test_ok(call_result(&call));
	for (i = 1; i < self->n; i++)
		ASSERT_LE(0, accept_next(self->target, self->listener, i + 1));
	test_ok(clients_confirm(self->client, self->ids, self->n));
	test_ok(event_expect(self->source, EV_ESTABLISHED, &ev));
}

/* Closing the target rejects what nobody has read; all is gone. */
TEST_F(queued, c17_target_closed)
{
	struct event ev;
	unsigned int i;

	test_ok(cmd_migrate_id(self->source, self->listener, self->target));
	ASSERT_EQ(0, close(self->target));
	for (i = 0; i < self->n; i++) {
		test_ok(event_expect(self->client, EV_REJECTED, &ev));
		EXPECT_EQ(REJ_CONSUMER, ev.head.status);
		test_ok(event_ack(self->client, &ev));
	}
	test_err(ENOENT, cmd_destroy_id(self->source, self->listener));
	EXPECT_EQ(0, channel_ids(self->source));
}

/*
 * Requests that arrive while the listener goes to and fro
 */

/* A channel's acceptor: takes what it reads, until told to stop. */
struct acceptor {
	int fd;
	pthread_t thread;
	atomic_bool *stop;
	atomic_uint *accepted;	/* by tag */
	atomic_uint *established;
	atomic_uint *failures;
};

static void acceptor_handle(struct acceptor *acceptor, const struct event *ev)
{
	__u32 tag = conn_tag(&ev->conn);

	if (event_ack(acceptor->fd, ev))
		(*acceptor->failures)++;
	switch (ev->head.event) {
	case EV_CONNECT_REQUEST:
		if (tag >= MAX_CLIENTS ||
		    child_accept(acceptor->fd, ev, tag))
			(*acceptor->failures)++;
		else
			acceptor->accepted[tag]++;
		break;
	case EV_ESTABLISHED:
		(*acceptor->established)++;
		break;
	default:
		fprintf(stderr, "# acceptor got %s\n", event_name(ev->head.event));
		(*acceptor->failures)++;
	}
}

static void *acceptor_main(void *arg)
{
	struct acceptor *acceptor = arg;
	struct event ev;

	while (!*acceptor->stop) {
		if (!event_read_now(acceptor->fd, &ev))
			acceptor_handle(acceptor, &ev);
		else if (errno == EAGAIN)
			pause_briefly();
		else
			(*acceptor->failures)++;
	}
	return NULL;
}

FIXTURE(arriving) {
	int fds[2];
	int client;
	__u32 listener;
	__u16 port;
	struct acceptor acceptors[2];
	atomic_bool stop;
	atomic_uint accepted[MAX_CLIENTS];
	atomic_uint established;
	atomic_uint failures;
};

FIXTURE_VARIANT(arriving) {
	const char *listen;
};

FIXTURE_VARIANT_ADD(arriving, bound) { ADDR1 };
FIXTURE_VARIANT_ADD(arriving, wildcard) { "0.0.0.0" };

/* Reading is non-blocking: the listener leaves between poll and read. */
FIXTURE_SETUP(arriving)
{
	for (int i = 0; i < 2; i++) {
		self->fds[i] = channel_open_nonblock();
		ASSERT_LE(0, self->fds[i]);
		self->acceptors[i] = (struct acceptor){
			.fd = self->fds[i],
			.stop = &self->stop,
			.accepted = self->accepted,
			.established = &self->established,
			.failures = &self->failures,
		};
	}
	self->client = channel_open();
	ASSERT_LE(0, self->client);
	test_ok(listener_open(self->fds[0], variant->listen, MAX_CLIENTS,
			      &self->listener, &self->port));
}

FIXTURE_TEARDOWN(arriving)
{
	close(self->fds[0]);
	close(self->fds[1]);
	close(self->client);
}

struct clients {
	int fd;
	__u16 port;
	unsigned int n;
	__u32 ids[MAX_CLIENTS];
	pthread_t thread;
	atomic_bool done;
	int result;
};

static void *clients_main(void *arg)
{
	struct clients *clients = arg;

	clients->result = clients_connect(clients->fd, ADDR1, clients->port,
					  clients->n, clients->ids) ?:
		clients_confirm(clients->fd, clients->ids, clients->n);
	clients->done = true;
	return NULL;
}

TEST_F(arriving, c10_each_accepted_exactly_once)
{
	struct clients clients = {
		.fd = self->client,
		.port = self->port,
		.n = scaled(MAX_CLIENTS),
	};
	unsigned int i, moves = 0;

	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&self->acceptors[i].thread, NULL,
					    acceptor_main, &self->acceptors[i]));
	ASSERT_EQ(0, pthread_create(&clients.thread, NULL, clients_main, &clients));
	while (!clients.done || moves < scaled(500)) {
		test_ok(cmd_migrate_id(self->fds[moves % 2], self->listener,
				       self->fds[(moves + 1) % 2]));
		moves++;
	}
	TH_LOG("%u migrations", moves);
	ASSERT_EQ(0, pthread_join(clients.thread, NULL));
	EXPECT_EQ(0, clients.result);
	ASSERT_TRUE(wait_until(self->established == clients.n || self->failures));
	self->stop = true;
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_join(self->acceptors[i].thread, NULL));
	EXPECT_EQ(0, self->failures);
	for (i = 0; i < clients.n; i++) {
		EXPECT_EQ(1, self->accepted[i]) {
			TH_LOG("client %u", i);
		}
	}
	/* Each channel owns what it accepted, and one the listener. */
	EXPECT_EQ(1 + (int)clients.n, channel_ids(self->fds[0]) +
				      channel_ids(self->fds[1]));
}

TEST_HARNESS_MAIN
