// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Any number of threads at once: a listener and the ids of its connections are
 * moved between channels all the time, while other threads read these channels
 * and clients come and go.  Every request must be read exactly once, every
 * connection must be told of its end exactly once, each event on the channel
 * that its id says, and nothing may be left.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include <rdma/rdma_cmx.h>

#include "lib_scene.h"
#include "test.h"

enum { CHANNELS = 4, READERS = 2 * CHANNELS, MOVERS = 2, CLIENTS = 3 };
enum { MAX_CONNECTIONS = 1000 };

/* The passive side of a connection. */
struct connection {
	struct rdma_cm_id *id;
	atomic_bool ready;
	atomic_int established;
	atomic_int disconnected;
};

static struct rdma_event_channel *channels[CHANNELS];
static struct rdma_cm_id *listener;
static struct connection connections[MAX_CONNECTIONS];
static _Atomic int requests, ended, failures;
static _Atomic unsigned int qp_num = 1000;
static _Atomic bool stop;
static unsigned int rounds;

static void fail(const char *what)
{
	fprintf(stderr, "# %s: %s\n", what, strerror(errno));
	failures++;
}

static struct rdma_conn_param parameters(void)
{
	return (struct rdma_conn_param){
		.qp_num = qp_num++,
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};
}

static struct rdma_event_channel *any_channel(unsigned int *seed)
{
	return channels[rand_r(seed) % CHANNELS];
}

/* With iWARP a number of one will not do. */
static int give_queue_pair(struct rdma_cm_id *id)
{
	return over_iwarp() ? qp_create(id) : 0;
}

/* Accept, sometimes after the event is acknowledged, or on another channel. */
static void accept_request(struct rdma_cm_event *event, unsigned int *seed)
{
	struct rdma_conn_param param = parameters();
	struct rdma_cm_id *id = event->id;
	struct connection *connection = &connections[requests++];
	bool early = rand_r(seed) % 2;

	if (event->listen_id != listener)
		fail("listener");
	connection->id = id;
	id->context = connection;
	if (early && rdma_ack_cm_event(event))
		fail("acknowledge");
	if (rand_r(seed) % 2 && rdma_migrate_id(id, any_channel(seed)))
		fail("migrate a request");
	if (give_queue_pair(id) || rdma_accept(id, &param))
		fail("accept");
	connection->ready = true;
	if (!early && rdma_ack_cm_event(event))
		fail("acknowledge");
}

static void handle(struct rdma_event_channel *channel,
		   struct rdma_cm_event *event, unsigned int *seed)
{
	struct connection *connection = event->id->context;

	/* An id stays where it is while an event of it is in hand. */
	if (event->id->channel != channel)
		fail("channel");
	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		accept_request(event, seed);
		return;
	case RDMA_CM_EVENT_ESTABLISHED:
		connection->established++;
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		/* Answers the peer, who waits for that. */
		if (rdma_disconnect(event->id))
			fail("disconnect");
		connection->disconnected++;
		ended++;
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	default:
		fail(rdma_event_str(event->event));
	}
	if (rdma_ack_cm_event(event))
		fail("acknowledge");
}

static void *reader(void *argument)
{
	unsigned int seed = (uintptr_t)argument;
	struct rdma_event_channel *channel = channels[seed % CHANNELS];
	struct pollfd pollfd = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	while (!stop) {
		if (poll(&pollfd, 1, 100) != 1)
			continue;
		if (!rdma_get_cm_event(channel, &event))
			handle(channel, event, &seed);
		else if (errno != EAGAIN)
			fail("read");
	}
	return NULL;
}

static void *mover(void *argument)
{
	unsigned int seed = (uintptr_t)argument;
	struct rdma_cm_id *id;
	int flags, number;

	while (!stop) {
		number = rand_r(&seed) % (requests + 1);
		id = number ? connections[number - 1].id : listener;
		if (number && !connections[number - 1].ready)
			continue;
		flags = rand_r(&seed) % 2 ? RDMAX_NONBLOCK : 0;
		if (rdmax_migrate_id(id, any_channel(&seed), NULL, flags,
				     NULL) &&
		    errno != EBUSY && errno != EAGAIN)
			fail("migrate");
	}
	return NULL;
}

/* Connect, move to another channel, leave the first, disconnect. */
static int connect_once(struct rdma_event_channel *first,
			struct rdma_event_channel *second)
{
	struct rdma_conn_param param = parameters();
	struct rdma_cm_id *id;

	id = client_resolved(first, ADDR1, listener_port(listener));
	if (!id || give_queue_pair(id) || rdma_connect(id, &param) ||
	    event_take(first, over_iwarp() ? RDMA_CM_EVENT_ESTABLISHED :
					     RDMA_CM_EVENT_CONNECT_RESPONSE) ||
	    (!over_iwarp() && rdma_establish(id)) || rdma_migrate_id(id, second))
		return -1;
	rdma_destroy_event_channel(first);
	if (id->channel != second || rdma_disconnect(id) ||
	    event_take(second, RDMA_CM_EVENT_DISCONNECTED))
		return -1;
	if (id->qp)
		rdma_destroy_qp(id);
	if (rdma_destroy_id(id))
		return -1;
	rdma_destroy_event_channel(second);
	return 0;
}

static void *client(void *argument)
{
	unsigned int i;

	(void)argument;
	for (i = 0; i < rounds && !failures; i++)
		if (connect_once(rdma_create_event_channel(),
				 rdma_create_event_channel()))
			fail("connect");
	return NULL;
}

static void start(pthread_t *threads, int count, void *(*function)(void *))
{
	uintptr_t i;

	for (i = 0; i < (uintptr_t)count; i++)
		pthread_create(&threads[i], NULL, function, (void *)(i + 1));
}

static void join(pthread_t *threads, int count)
{
	while (count--)
		pthread_join(threads[count], NULL);
}

static void run_all(int expected)
{
	pthread_t readers[READERS], movers[MOVERS], clients[CLIENTS];
	int ms;

	start(readers, READERS, reader);
	start(movers, MOVERS, mover);
	start(clients, CLIENTS, client);
	join(clients, CLIENTS);
	for (ms = patience_ms(); ended < expected && !failures && ms > 0;
	     ms -= 10)
		usleep(10000);
	stop = true;
	join(movers, MOVERS);
	join(readers, READERS);
}

static void test_threads(struct __test_metadata *_metadata, const char *ip)
{
	struct rdmax_channel_info info;
	int i, expected;

	/* More than some thirty queue pairs the library for siw does not make. */
	rounds = scaled(over_iwarp() ? 5 : 60);
	expected = rounds * CLIENTS;
	for (i = 0; i < CHANNELS; i++) {
		channels[i] = rdma_create_event_channel();
		ASSERT_NE(NULL, channels[i]);
		fcntl(channels[i]->fd, F_SETFL, O_NONBLOCK);
	}
	listener = listener_open(channels[0], ip, 0);
	ASSERT_NE(NULL, listener);
	run_all(expected);

	EXPECT_EQ(0, failures);
	EXPECT_EQ(expected, requests);
	for (i = 0; i < requests; i++) {
		/* An end that overtakes the beginning hides it. */
		EXPECT_GE(1, connections[i].established);
		EXPECT_EQ(1, connections[i].disconnected);
		if (connections[i].id->qp)
			rdma_destroy_qp(connections[i].id);
		EXPECT_EQ(0, rdma_destroy_id(connections[i].id));
	}
	EXPECT_EQ(0, rdma_destroy_id(listener));
	for (i = 0; i < CHANNELS; i++) {
		test_ok(rdmax_query_channel(channels[i], &info, sizeof(info)));
		EXPECT_EQ(0, info.ids);
		EXPECT_EQ(0, info.pending);
		EXPECT_EQ(0, info.outstanding);
		rdma_destroy_event_channel(channels[i]);
	}
}

TEST(bound_listener)
{
	test_threads(_metadata, ADDR1);
}

TEST(wildcard_listener)
{
	test_threads(_metadata, "0.0.0.0");
}

TEST_HARNESS_MAIN
