// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Removal of the device (C14): nothing of ours holds it up, whatever is
 * waiting, unread or unacknowledged; and what becomes of the ids.
 *
 * Every test takes the device away and brings it back.
 */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "call.h"
#include "fabric.h"
#include "scene.h"
#include "test.h"

FIXTURE(removal) {
	int source;
	int target;
	int client;
};

FIXTURE_SETUP(removal)
{
	test_ok(fabric_restore());
	test_ok(channels_open(&self->source, &self->target, &self->client));
}

FIXTURE_TEARDOWN(removal)
{
	channels_close(self->source, self->target, self->client);
	EXPECT_EQ(0, fabric_restore());
}

#define REMOVE() test_ok(fabric_removed(fabric_remove()))

/* An id whose device is gone: nothing but migrating, reading, destroying. */
#define EXPECT_ENXIO(fd, id) do {					\
	struct rdma_ucmx_conn_param _param = conn_param();		\
	struct rdma_ucmx_addr _addr = addr(ADDR1, 7);			\
	struct rdma_ucmx_qp_attr _attr;					\
	struct rdma_ucmx_query _query;					\
	__u32 _len = 1, _group;						\
	__u8 _tos = 0;							\
									\
	EXPECT_TRUE(id_has_state(fd, id, RDMA_UCMX_ID_GONE));		\
	test_err(ENXIO, cmd_bind_addr(fd, id, &_addr));			\
	test_err(ENXIO, cmd_resolve_addr(fd, id, NULL, &_addr));	\
	test_err(ENXIO, cmd_resolve_route(fd, id));			\
	test_err(ENXIO, cmd_listen(fd, id, 1));				\
	test_err(ENXIO, cmd_connect(fd, id, &_param));			\
	test_err(ENXIO, cmd_accept(fd, id, 0, &_param));		\
	test_err(ENXIO, cmd_reject(fd, id, 0, "", 0));			\
	test_err(ENXIO, cmd_disconnect(fd, id));			\
	test_err(ENXIO, cmd_notify(fd, id, 4));				\
	test_err(ENXIO, cmd_query(fd, id, &_query));			\
	test_err(ENXIO, cmd_init_qp_attr(fd, id, 1, &_attr));		\
	test_err(ENXIO, cmd_set_option(fd, id, 0, 0, &_tos, 1));	\
	test_err(ENXIO, cmd_get_option(fd, id, 0, 0, &_tos, &_len));	\
	test_err(ENXIO, cmd_adopt_id(fd, id, 1));			\
	test_err(ENXIO, cmd_write_event(fd, id, EV_USER, 0, 0));	\
	test_err(ENXIO, cmd_join_mcast(fd, id, &_addr,			\
				       RDMA_UCMX_JOIN_FULL_MEMBER, 0,	\
				       &_group));			\
	test_err(ENXIO, cmd_leave_mcast(fd, id, 1));			\
} while (0)

TEST_F(removal, c14_idle_ids)
{
	struct rdma_ucmx_addr address = addr(ADDR1, 0);
	__u32 fresh, resolved;
	struct event ev;

	test_ok(cmd_create_id(self->source, PS_TCP, 0, &fresh));
	test_ok(id_resolved(self->source, ADDR1, 7, &resolved));
	REMOVE();
	test_ok(event_expect(self->source, EV_DEVICE_REMOVAL, &ev));
	EXPECT_EQ(resolved, ev.head.id);
	EXPECT_EQ(2, ev.head.seq);
	/* It had no device, and hears nothing. */
	test_err(EAGAIN, event_read_now(self->source, &ev));
	EXPECT_ENXIO(self->source, resolved);
	test_ok(cmd_ack(self->source, resolved, 2));
	test_ok(cmd_migrate_id(self->source, resolved, self->target));
	test_ok(cmd_destroy_id(self->target, resolved));
	/* Nor came it to harm. */
	test_ok(fabric_restore());
	test_ok(cmd_bind_addr(self->source, fresh, &address));
}

/* What is left to say of it: no addresses, no paths. */
TEST_F(removal, c16_announced_without_its_device)
{
	struct event ev;
	__u32 id;

	test_ok(id_resolved(self->source, ADDR1, 7, &id));
	REMOVE();
	test_ok(event_take(self->source, EV_DEVICE_REMOVAL, id));
	test_ok(cmd_migrate_id_opt(self->source, id, self->target,
				   RDMA_UCMX_ANNOUNCE, 0, 0));
	test_ok(event_expect(self->target, EV_ARRIVED, &ev));
	EXPECT_EQ(id, ev.head.id);
	EXPECT_EQ(PS_TCP, ev.head.port_space);
	EXPECT_EQ(QPT_RC, ev.head.qp_type);
	EXPECT_EQ(0, ev.head.sections);
	test_ok(event_ack(self->target, &ev));
	test_ok(cmd_destroy_id(self->target, id));
}

/* The removal goes through while the migration waits, and then that does. */
TEST_F(removal, c14_waiting_migration)
{
	struct call call = {};
	struct event ev;
	__u32 id;

	test_ok(id_with_outstanding(self->source, &id));
	test_ok(call_start_migrate(&call, self->source, id, self->target));
	REMOVE();
	ASSERT_FALSE(call_returned(&call));
	ASSERT_TRUE(id_has_state(self->source, id, RDMA_UCMX_ID_MIGRATING |
						   RDMA_UCMX_ID_GONE));
	ASSERT_TRUE(id_has_pending(self->source, id, 1));
	test_err(EAGAIN, event_read_now(self->source, &ev));
	test_ok(cmd_ack(self->source, id, 1));
	test_ok(call_result(&call));
	test_ok(event_expect(self->target, EV_DEVICE_REMOVAL, &ev));
	EXPECT_EQ(id, ev.head.id);
	EXPECT_EQ(2, ev.head.seq);
	EXPECT_ENXIO(self->target, id);
	/* Back again, with an event in hand. */
	test_ok(cmd_migrate_id_opt(self->target, id, self->source,
				   RDMA_UCMX_NONBLOCK, 0, 2));
	test_ok(cmd_destroy_id(self->source, id));
}

TEST_F(removal, c14_waiting_migration_that_is_interrupted)
{
	struct call call = {};
	struct event ev;
	__u32 id;

	count_signals(SIGUSR1, 0);
	test_ok(id_with_outstanding(self->source, &id));
	test_ok(call_start_migrate(&call, self->source, id, self->target));
	REMOVE();
	call_signal(&call, SIGUSR1);
	test_err(EINTR, call_result(&call));
	test_ok(event_expect(self->source, EV_DEVICE_REMOVAL, &ev));
	EXPECT_EQ(2, ev.head.seq);
	EXPECT_ENXIO(self->source, id);
	test_ok(cmd_ack(self->source, id, 0));
	test_ok(cmd_destroy_id(self->source, id));
}

TEST_F(removal, c14_waiting_destroy)
{
	struct call call = {};
	__u32 id;

	test_ok(id_with_outstanding(self->source, &id));
	call.fd = self->source;
	call.id = id;
	call_start(&call, run_destroy);
	ASSERT_TRUE(wait_until(id_has_state(self->source, id,
					    RDMA_UCMX_ID_DYING)));
	REMOVE();
	ASSERT_FALSE(call_returned(&call));
	test_ok(cmd_ack(self->source, id, 1));
	test_ok(call_result(&call));
	EXPECT_EQ(0, channel_ids(self->source));
}

/* A wait for a group's event: it has been left, and only that is waited for. */
static int run_leave(struct call *call)
{
	/* The group's number travels as "target". */
	return cmd_leave_mcast(call->fd, call->id, call->target);
}

TEST_F(removal, c14_waiting_leave)
{
	struct rdma_ucmx_addr local = addr(ADDR1, 0), many = addr("239.1.1.1", 0);
	struct call call = { .fd = self->source };
	struct event ev;
	__u32 group;

	if (over_iwarp())
		SKIP(return, "iWARP has no groups");
	test_ok(cmd_create_id(self->source, PS_UDP, 0, &call.id));
	test_ok(cmd_bind_addr(self->source, call.id, &local));
	test_ok(cmd_join_mcast(self->source, call.id, &many,
			       RDMA_UCMX_JOIN_FULL_MEMBER, 0, &group));
	test_ok(event_expect(self->source, EV_MULTICAST_JOIN, &ev));
	call.target = group;
	call_start(&call, run_leave);
	ASSERT_TRUE(wait_until(call_blocked(&call)));
	REMOVE();
	ASSERT_FALSE(call_returned(&call));
	test_ok(event_ack(self->source, &ev));
	test_ok(call_result(&call));
	test_ok(event_take(self->source, EV_DEVICE_REMOVAL, call.id));
	test_err(ENXIO, cmd_leave_mcast(self->source, call.id, group));
	test_ok(cmd_destroy_id(self->source, call.id));
}

TEST_F(removal, c14_connection)
{
	struct connection connection;
	struct event ev;
	int seen;

	test_ok(connection_open(self->source, self->client, ADDR1, &connection));
	test_ok(cmd_migrate_id(self->source, connection.child, self->target));
	REMOVE();
	/* Whatever else the peer's end brings comes in its order. */
	for (seen = 0; seen < 2; seen++) {
		int fd = seen ? self->client : self->target;

		do {
			test_ok(event_read(fd, &ev));
			test_ok(event_ack(fd, &ev));
		} while (ev.head.event != EV_DEVICE_REMOVAL);
		EXPECT_EQ(seen ? connection.client : connection.child, ev.head.id);
	}
	test_ok(event_take(self->source, EV_DEVICE_REMOVAL, connection.listener));
	EXPECT_ENXIO(self->target, connection.child);
	EXPECT_ENXIO(self->client, connection.client);
	EXPECT_ENXIO(self->source, connection.listener);
	test_ok(cmd_destroy_id(self->target, connection.child));
	test_ok(cmd_destroy_id(self->client, connection.client));
	test_ok(cmd_destroy_id(self->source, connection.listener));
}

/* C3: DEVICE_REMOVAL of an unclaimed child comes when its request is read. */
TEST_F(removal, c03_listener_with_unread_requests)
{
	__u32 listener, ids[3];
	struct event requests[3], ev;
	unsigned int i, n;
	__u16 port;

	test_ok(listener_open(self->source, ADDR1, 10, &listener, &port));
	test_ok(clients_connect(self->client, ADDR1, port, 3, ids));
	ASSERT_TRUE(wait_until(id_has_pending(self->source, listener, 3)));
	REMOVE();
	/* The listener can still go, and takes them along. */
	test_ok(cmd_migrate_id(self->source, listener, self->target));
	EXPECT_EQ(4, channel_ids(self->target));
	for (i = 0; i < 3; i++) {
		test_ok(event_expect(self->target, EV_CONNECT_REQUEST, &requests[i]));
		EXPECT_EQ(i + 1, requests[i].head.seq);
		test_ok(event_ack(self->target, &requests[i]));
		if (i)
			continue;
		/* Between the first and the second: the listener's own. */
		test_err(ENXIO, child_accept(self->target, &requests[0], 0));
	}
	for (n = 0; n < 4; n++) {
		test_ok(event_expect(self->target, EV_DEVICE_REMOVAL, &ev));
		test_ok(event_ack(self->target, &ev));
		EXPECT_TRUE(ev.head.id == listener ||
			    ev.head.id == requests[0].head.id ||
			    ev.head.id == requests[1].head.id ||
			    ev.head.id == requests[2].head.id);
	}
	for (i = 0; i < 3; i++) {
		EXPECT_ENXIO(self->target, requests[i].head.id);
		test_ok(cmd_destroy_id(self->target, requests[i].head.id));
	}
	test_ok(cmd_destroy_id(self->target, listener));
}

/* A wildcard listener has no device: it goes on with the next one. */
TEST_F(removal, wildcard_listener_lives_on)
{
	__u32 listener, id;
	struct event ev;
	__u16 port;

	test_ok(listener_open(self->source, "0.0.0.0", 10, &listener, &port));
	test_ok(cmd_migrate_id(self->source, listener, self->target));
	REMOVE();
	test_err(EAGAIN, event_read_now(self->target, &ev));
	test_ok(fabric_restore());
	test_ok(client_connect(self->client, ADDR1, port, &id));
	test_ok(event_expect(self->target, EV_CONNECT_REQUEST, &ev));
	EXPECT_EQ(listener, ev.head.listen_id);
}

/* Events without end are unread, and nobody reads; then all are closed. */
TEST_F(removal, c14_nobody_reads)
{
	__u32 id;
	int i;

	for (i = 0; i < 20; i++)
		test_ok(id_with_pending(self->source, &id));
	for (i = 0; i < 20; i++)
		test_ok(id_with_outstanding(self->target, &id));
	REMOVE();
	EXPECT_EQ(20, channel_ids(self->source));
	ASSERT_EQ(0, close(self->source));
	self->source = -1;
}

/* Somebody who lets ids be born, move and die, whatever happens. */
struct churner {
	int from;
	int to;
	pthread_t thread;
	atomic_bool stop;
	atomic_uint rounds;
	atomic_uint failures;
};

static void churn(struct churner *churner)
{
	struct rdma_ucmx_addr dst = addr(ADDR1, 7);
	struct event ev;
	__u32 id;

	if (cmd_create_id(churner->from, PS_TCP, 0, &id)) {
		churner->failures++;
		return;
	}
	/* Without a device this one may fail. */
	cmd_resolve_addr(churner->from, id, NULL, &dst);
	if (cmd_migrate_id(churner->from, id, churner->to))
		churner->failures++;
	while (!event_read_now(churner->to, &ev)) {
		if (ev.head.id != id || event_ack(churner->to, &ev))
			churner->failures++;
	}
	if (cmd_destroy_id(churner->to, id))
		churner->failures++;
}

static void *churner_main(void *arg)
{
	struct churner *churner = arg;

	while (!churner->stop) {
		churn(churner);
		churner->rounds++;
		/* Or two processors have no time for a removal, nor for RCU. */
		usleep(20000);
	}
	return NULL;
}

TEST_F(removal, c14_while_ids_come_and_go)
{
	struct churner churners[2] = {};
	unsigned int i, rounds;

	for (i = 0; i < ARRAY_LEN(churners); i++) {
		churners[i].from = channel_open_nonblock();
		churners[i].to = channel_open_nonblock();
		ASSERT_LE(0, churners[i].to);
		ASSERT_EQ(0, pthread_create(&churners[i].thread, NULL,
					    churner_main, &churners[i]));
	}
	ASSERT_TRUE(wait_until(churners[0].rounds > 3 && churners[1].rounds > 3));
	REMOVE();
	rounds = churners[0].rounds;
	ASSERT_TRUE(wait_until(churners[0].rounds > rounds + 1));
	test_ok(fabric_restore());
	for (i = 0; i < ARRAY_LEN(churners); i++) {
		churners[i].stop = true;
		ASSERT_EQ(0, pthread_join(churners[i].thread, NULL));
		EXPECT_EQ(0, churners[i].failures);
		EXPECT_EQ(0, channel_ids(churners[i].from));
		EXPECT_EQ(0, channel_ids(churners[i].to));
	}
}

TEST_HARNESS_MAIN
