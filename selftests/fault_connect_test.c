// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * As fault_test.c, for the commands of a connection and its migration, and for
 * the requests that arrive meanwhile.
 */
#include <string.h>

#include "fault_play.h"

#define IB_EVENT_COMM_EST 4

/* One event, without waiting for it: poll has said that it is there. */
static int read_one(int fd, struct event *ev)
{
	char record[RDMA_UCMX_READ_MIN - 1] __attribute__((aligned(8)));
	ssize_t size = read(fd, record, sizeof(record));

	if (size < 0)
		return -1;
	return event_parse(record, size, ev) == size ? 0 : -1;
}

/*
 * A connection: a wildcard listener, a client, a child that is announced on
 * another channel and comes back, and the end of it.
 */
struct peers {
	__u32 listener;
	__u32 client;
	__u32 child;
	__u16 port;
};

static void play_request(struct __test_metadata *const _metadata,
			 FIXTURE_DATA(fault) *self, struct peers *peers)
{
	struct rdma_ucmx_addr any = addr("0.0.0.0", 0), dst;
	struct rdma_ucmx_conn_param param = conn_param_tagged(0);
	struct rdma_ucmx_query query;

	test_ok(cmd_create_id(self->server, PS_TCP, 0, &peers->listener));
	test_ok(cmd_bind_addr(self->server, peers->listener, &any));
	test_ok(FAULTY("LISTEN", cmd_listen(self->server, peers->listener, 4)));
	test_ok(cmd_query(self->server, peers->listener, &query));
	dst = addr(ADDR1, addr_port(&query.out_route.src_addr));
	test_ok(cmd_create_id(self->client, PS_TCP, 0, &peers->client));
	test_ok(cmd_resolve_addr(self->client, peers->client, NULL, &dst));
	test_ok(event_take(self->client, EV_ADDR_RESOLVED, peers->client));
	test_ok(cmd_resolve_route(self->client, peers->client));
	test_ok(event_take(self->client, EV_ROUTE_RESOLVED, peers->client));
	test_ok(FAULTY("CONNECT", cmd_connect(self->client, peers->client, &param)));
}

/* The request is read, acknowledged, and its id migrated to the worker. */
static void play_hand_over(struct __test_metadata *const _metadata,
			   FIXTURE_DATA(fault) *self, struct peers *peers)
{
	struct event ev;

	ASSERT_TRUE(wait_until(readable(self->server)));
	fault_watch(self->server, self->worker);
	test_ok(FAULTY("READ a request", read_one(self->server, &ev)));
	EXPECT_EQ(EV_CONNECT_REQUEST, ev.head.event);
	peers->child = ev.head.id;
	test_ok(FAULTY("ACK_EVENTS a request", event_ack(self->server, &ev)));
	test_ok(FAULTY("MIGRATE_ID announced",
		       cmd_migrate_id_opt(self->server, peers->child, self->worker,
					  RDMA_UCMX_ANNOUNCE, 0, 0)));
	test_ok(event_take(self->worker, EV_ARRIVED, peers->child));
}

/*
 * rdma_cm rejects what it fails to accept.  What fails before changes nothing,
 * and is to be accepted when it is tried again.
 */
static bool play_answer(struct __test_metadata *const _metadata,
			FIXTURE_DATA(fault) *self, struct peers *peers)
{
	struct rdma_ucmx_conn_param param = conn_param_tagged(0);

	fault_watch(-1, -1);
	if (FAULTY_ONCE("ACCEPT", cmd_accept(self->worker, peers->child, 1, &param))) {
		ASSERT_TRUE(errno == ENOMEM || errno == EFAULT);
		if (cmd_accept(self->worker, peers->child, 1, &param)) {
			EXPECT_EQ(EINVAL, errno);
			test_ok(event_take(self->client, EV_REJECTED, peers->client));
			return false;
		}
	}
	test_ok(event_take(self->client, EV_CONNECT_RESPONSE, peers->client));
	if (FAULTY_ONCE("ACCEPT a response", cmd_accept(self->client, peers->client, 0, NULL))) {
		ASSERT_TRUE(errno == ENOMEM || errno == EFAULT);
		if (cmd_accept(self->client, peers->client, 0, NULL)) {
			EXPECT_EQ(EINVAL, errno);
			test_ok(event_take(self->worker, EV_REJECTED, peers->child));
			return false;
		}
	}
	test_ok(event_take(self->worker, EV_ESTABLISHED, peers->child));
	return true;
}

/*
 * rdma_cm may give the connection up without a word to the peer if it cannot
 * say it; both ends can be destroyed then, and that is all there is to it.
 */
static void play_end(struct __test_metadata *const _metadata,
		     FIXTURE_DATA(fault) *self, struct peers *peers)
{
	struct event ev;

	fault_watch(self->server, self->worker);
	test_ok(FAULTY("MIGRATE_ID connected",
		       cmd_migrate_id(self->worker, peers->child, self->server)));
	fault_watch(-1, -1);
	test_ok(FAULTY("DISCONNECT", cmd_disconnect(self->client, peers->client)));
	if (fault_hit)
		return;
	ASSERT_TRUE(wait_until(readable(self->server)));
	fault_watch(self->server, self->worker);
	test_ok(FAULTY("READ unasked", read_one(self->server, &ev)));
	EXPECT_EQ(EV_DISCONNECTED, ev.head.event);
	EXPECT_EQ(peers->child, ev.head.id);
	test_ok(event_ack(self->server, &ev));
	test_ok(cmd_disconnect(self->server, peers->child));
	test_ok(event_take(self->client, EV_DISCONNECTED, peers->client));
}

SCENE(connection)
{
	bool established;
	struct peers peers;

	fault_watch(self->server, self->client);
	play_request(_metadata, self, &peers);
	play_hand_over(_metadata, self, &peers);
	established = play_answer(_metadata, self, &peers);
	if (established)
		play_end(_metadata, self, &peers);
	test_ok(cmd_destroy_id(established ? self->server : self->worker,
			       peers.child));
	test_ok(cmd_destroy_id(self->client, peers.client));
	fault_watch(self->server, self->worker);
	test_ok(FAULTY("DESTROY_ID a listener",
		       cmd_destroy_id(self->server, peers.listener)));
	ALL_GONE();
}

TEST_F(fault, c07_connection_with_a_migration)
{
	PLAY(connection);
}

/*
 * The IB CM forgets the request that it fails to reject, so that it cannot be
 * rejected again; the peer will send another one.
 */
static bool play_rejection(struct __test_metadata *const _metadata,
			   FIXTURE_DATA(fault) *self, __u32 child)
{
	fault_watch(-1, -1);
	if (!FAULTY_ONCE("REJECT", cmd_reject(self->server, child, 0, "no", 2)))
		return true;
	EXPECT_TRUE(errno == ENOMEM || errno == EFAULT);
	if (!cmd_reject(self->server, child, 0, "no", 2))
		return true;
	EXPECT_EQ(EINVAL, errno);
	return false;
}

/* One request is rejected, one accepted and its confirmation made up. */
SCENE(answers)
{
	struct event reject, accept;
	__u32 listener, clients[2];
	__u16 port;

	test_ok(listener_open(self->server, ADDR1, 2, &listener, &port));
	test_ok(clients_connect(self->client, ADDR1, port, 2, clients));
	test_ok(event_expect(self->server, EV_CONNECT_REQUEST, &reject));
	test_ok(event_ack(self->server, &reject));
	test_ok(event_expect(self->server, EV_CONNECT_REQUEST, &accept));
	test_ok(event_ack(self->server, &accept));
	/* A request that is sent again finds nobody. */
	test_ok(cmd_destroy_id(self->server, listener));
	if (play_rejection(_metadata, self, reject.head.id))
		test_ok(event_take(self->client, EV_REJECTED,
				   clients[conn_tag(&reject.conn)]));
	test_ok(child_accept(self->server, &accept, 0));
	test_ok(event_take(self->client, EV_CONNECT_RESPONSE,
			   clients[conn_tag(&accept.conn)]));
	fault_watch(self->server, self->client);
	test_ok(FAULTY("NOTIFY", cmd_notify(self->server, accept.head.id,
					    IB_EVENT_COMM_EST)));
	test_ok(event_take(self->server, EV_ESTABLISHED, accept.head.id));
	test_ok(cmd_destroy_id(self->server, reject.head.id));
	test_ok(cmd_destroy_id(self->server, accept.head.id));
	test_ok(cmd_destroy_id(self->client, clients[0]));
	test_ok(cmd_destroy_id(self->client, clients[1]));
	ALL_GONE();
}

TEST_F(fault, c03_answers)
{
	PLAY(answers);
}

/*
 * A request takes some twenty steps, and more for each node that an array of the
 * kernel's has to grow by just then; thirty were not the most.
 */
#define REQUESTS 96

/* Clients that have yet to send their requests. */
static int make_clients(int fd, __u16 port, __u32 *ids)
{
	unsigned int i;

	for (i = 0; i < REQUESTS; i++) {
		if (id_resolved(fd, ADDR1, port, &ids[i]) ||
		    cmd_resolve_route(fd, ids[i]) ||
		    event_take(fd, EV_ROUTE_RESOLVED, ids[i]))
			return -1;
	}
	return 0;
}

static int send_request(int fd, __u32 id, __u32 tag)
{
	struct rdma_ucmx_conn_param param = conn_param_tagged(tag);

	return cmd_connect(fd, id, &param);
}

/* Count and answer the requests that have arrived. */
static int take_requests(int fd, unsigned int *arrived)
{
	struct event ev;

	while (readable(fd)) {
		if (event_expect(fd, EV_CONNECT_REQUEST, &ev) ||
		    event_ack(fd, &ev) || cmd_destroy_id(fd, ev.head.id))
			return -1;
		arrived[conn_tag(&ev.conn) % REQUESTS]++;
	}
	return 0;
}

static bool all_arrived(const unsigned int *arrived, unsigned int n)
{
	while (n && arrived[n - 1])
		n--;
	return !n;
}

/*
 * What a request needs is allocated where no command can say that it failed:
 * then it is refused, the peer's CM tries again, and it arrives once.
 */
TEST_F(fault, c03_requests)
{
	unsigned int arrived[REQUESTS] = {}, i, n, step = fault_slab_step();
	__u32 listener, clients[REQUESTS];
	bool whole = false;
	__u16 port;

	ASSERT_LT(0, step);
	test_ok(listener_open(self->server, ADDR1, REQUESTS, &listener, &port));
	test_ok(make_clients(self->client, port, clients));
	for (n = 0; n < REQUESTS && !whole; n++) {
		test_ok(fault_slab_arm(FAULT_IN_WORKERS, n * step, 1));
		test_ok(send_request(self->client, clients[n], n));
		ASSERT_TRUE(wait_until(take_requests(self->server, arrived) ||
				       !fault_slab_times() || arrived[n]));
		whole = fault_slab_times() != 0;
	}
	test_ok(fault_slab_disarm());
	ASSERT_TRUE(whole);
	TH_LOG("%u allocations of requests failed", n - 1);
	EXPECT_LT(7, n - 1);
	ASSERT_TRUE(wait_until(take_requests(self->server, arrived) ||
			       all_arrived(arrived, n)));
	for (i = 0; i < REQUESTS; i++) {
		EXPECT_EQ(i < n, arrived[i]);
		test_ok(cmd_destroy_id(self->client, clients[i]));
	}
	test_ok(cmd_destroy_id(self->server, listener));
	ALL_GONE();
}

static const char *const commands[] = { FAULT_COMMANDS_OF_PEERS };

/* What allocates in the calling task; a migration, if it announces. */
static const char *const allocating[] = {
	"LISTEN", "CONNECT", "ACCEPT", "REJECT", "NOTIFY", "MIGRATE_ID",
	"READ",
};

/* The tests above in sum. */
TEST_F(sum, c03_no_command_was_left_out)
{
	ALL_FAILED(commands, allocating);
}

TEST_HARNESS_MAIN
