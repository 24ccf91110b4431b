// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Looking in from outside: the tracepoints.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "call.h"
#include "fdinfo.h"
#include "scene.h"
#include "test.h"

/*
 * An instance of our own, for others look into the first one.  It is made once and stays:
 * to make and remove one takes ten seconds on a debug kernel.
 */
#define TRACING "/sys/kernel/tracing"
#define INSTANCE TRACING "/instances/ucmx_test"

/* What the kernel says to itself for EINTR, in include/linux/errno.h. */
#define ERESTARTSYS 512

/* What was traced, and how far a test has looked at it. */
FIXTURE(trace) {
	int source;
	int target;
	char *text;
	char *at;
};

FIXTURE_SETUP(trace)
{
	FILE *file;

	if (access(TRACING "/events", F_OK))
		test_ok(mount("tracefs", TRACING, "tracefs", 0, NULL));
	ASSERT_TRUE(!mkdir(INSTANCE, 0700) || errno == EEXIST);
	/* To open it so forgets what is there. */
	file = fopen(INSTANCE "/trace", "w");
	ASSERT_NE(NULL, file);
	fclose(file);
	test_ok(write_file(INSTANCE "/tracing_on", "1"));
	test_ok(write_file(INSTANCE "/events/rdma_ucmx/enable", "1"));
	self->source = channel_open();
	self->target = channel_open();
	ASSERT_LE(0, self->source);
	ASSERT_LE(0, self->target);
	self->text = calloc(1, 1 << 20);
	ASSERT_NE(NULL, self->text);
}

FIXTURE_TEARDOWN(trace)
{
	close(self->source);
	close(self->target);
	free(self->text);
	EXPECT_EQ(0, write_file(INSTANCE "/events/rdma_ucmx/enable", "0"));
}

/* No more is traced; from now on TRACED() looks at what there is. */
#define TRACE_END() do {						\
	FILE *_file;							\
									\
	test_ok(write_file(INSTANCE "/tracing_on", "0"));		\
	_file = fopen(INSTANCE "/trace", "r");				\
	ASSERT_NE(NULL, _file);						\
	ASSERT_LT(0, fread(self->text, 1, (1 << 20) - 1, _file));	\
	fclose(_file);							\
	self->at = self->text;						\
} while (0)

/* The next line, of this format, comes behind what was found before. */
#define TRACED(...) do {						\
	char _line[256], *_found;					\
									\
	snprintf(_line, sizeof(_line), __VA_ARGS__);			\
	_found = strstr(self->at, _line);				\
	ASSERT_NE(NULL, _found) {					\
		TH_LOG("no \"%s\" in \"%s\"", _line, self->at);		\
	}								\
	self->at = _found + strlen(_line);				\
} while (0)

/* What follows is a number, of at least @low and at most @high. */
#define TRACED_NUMBER(low, high) do {					\
	long long _number = strtoll(self->at, &self->at, 10);		\
									\
	EXPECT_LE((long long)(low), _number);				\
	EXPECT_GE((long long)(high), _number);				\
} while (0)

#define NUMBER(fd) fdinfo(fd, "ucmx-channel:\t")

TEST_F(trace, c05_life_of_an_id_and_an_event)
{
	long channel = NUMBER(self->source);
	__u32 id;

	test_ok(id_with_outstanding(self->source, &id));
	test_ok(cmd_ack(self->source, id, 1));
	test_ok(cmd_destroy_id(self->source, id));
	TRACE_END();
	TRACED("ucmx_id_create: channel=%ld id=%u cookie=", channel, id);
	TRACED("ucmx_event_raise: channel=%ld id=%u seq=1 event=%u status=0\n",
	       channel, id, EV_ADDR_RESOLVED);
	TRACED("ucmx_event_deliver: channel=%ld id=%u seq=1 event=%u status=0\n",
	       channel, id, EV_ADDR_RESOLVED);
	TRACED("ucmx_event_ack: channel=%ld id=%u seq=1 event=%u age_ns=",
	       channel, id, EV_ADDR_RESOLVED);
	TRACED("ucmx_id_destroy: channel=%ld id=%u cookie=", channel, id);
	TRACED("ucmx_id_end: channel=%ld id=%u cookie=", channel, id);
}

/* Two events, one of them read and acknowledged late, and an id that has a cookie. */
TEST_F(trace, c05_what_is_said_of_ids_and_events)
{
	long channel = NUMBER(self->source);
	__u64 before, read, acked, after;
	struct event ev;
	__u32 id;

	test_ok(cmd_create_id(self->source, PS_TCP, 0xabcdef0123, &id));
	test_ok(cmd_write_event(self->source, id, EV_USER, -5, 0));
	test_ok(cmd_write_event(self->source, id, EV_INTERNAL, 7, 0));
	test_ok(cmd_write_event(self->source, id, EV_USER, 0, 0));
	before = now_ns();
	test_ok(event_expect(self->source, EV_USER, &ev));
	read = now_ns();
	ASSERT_TRUE(wait_until(fdinfo(self->source, "age_ms ") > 0));
	acked = now_ns();
	test_ok(event_ack(self->source, &ev));
	after = now_ns();
	test_ok(event_expect(self->source, EV_INTERNAL, &ev));
	test_err(EAGAIN, cmd_destroy_id_opt(self->source, id,
					    RDMA_UCMX_NONBLOCK, 0, 0));
	test_ok(cmd_destroy_id_opt(self->source, id, RDMA_UCMX_NONBLOCK, 0, 2));
	TRACE_END();
	TRACED("ucmx_id_create: channel=%ld id=%u ", channel, id);
	TRACED("cookie=0xabcdef0123 pending=0 outstanding=0\n");
	TRACED("ucmx_event_raise: channel=%ld id=%u seq=1 event=%u status=-5\n",
	       channel, id, EV_USER);
	TRACED("ucmx_event_raise: channel=%ld id=%u seq=2 event=%u status=7\n",
	       channel, id, EV_INTERNAL);
	TRACED("ucmx_event_deliver: channel=%ld id=%u seq=1 event=%u status=-5\n",
	       channel, id, EV_USER);
	TRACED("ucmx_event_ack: channel=%ld id=%u seq=1 event=%u age_ns=",
	       channel, id, EV_USER);
	TRACED_NUMBER(acked - read, after - before);
	TRACED("ucmx_event_deliver: channel=%ld id=%u seq=2 event=%u status=7\n",
	       channel, id, EV_INTERNAL);
	TRACED("ucmx_id_destroy: channel=%ld id=%u ", channel, id);
	TRACED("cookie=0xabcdef0123 pending=1 ");
	TRACED("ucmx_id_end: channel=%ld id=%u ", channel, id);
	TRACED("cookie=0xabcdef0123 pending=0 outstanding=0\n");
}

/* How long, until when; that of a destroy is not that of a migration. */
TEST_F(trace, c08_what_is_said_of_a_wait)
{
	struct call migrate = { .fd = self->source, .target = self->target };
	struct call destroy = { .fd = self->source };
	__u64 before, waits, acked, after;

	test_ok(id_with_outstanding(self->source, &migrate.id));
	test_ok(id_with_outstanding(self->source, &destroy.id));
	before = now_ns();
	migrate.deadline = before + 3600 * 1000000000ULL;
	call_start(&migrate, run_migrate);
	ASSERT_TRUE(fdinfo_somebody_waits(self->source));
	waits = now_ns();
	ASSERT_TRUE(wait_until(now_ns() - waits > 1000000));
	acked = now_ns();
	test_ok(cmd_ack(self->source, migrate.id, 1));
	test_ok(call_result(&migrate));
	after = now_ns();
	destroy.deadline = after;
	call_start(&destroy, run_destroy);
	test_err(ETIMEDOUT, call_result(&destroy));
	test_ok(cmd_ack(self->source, destroy.id, 1));
	TRACE_END();
	TRACED("ucmx_drain_start: channel=%ld id=%u outstanding=1 deadline_ns=%llu\n",
	       NUMBER(self->source), migrate.id, migrate.deadline);
	TRACED("ucmx_drain_end: id=%u waited_ns=", migrate.id);
	TRACED_NUMBER(acked - waits, after - before);
	TRACED(" err=0\n");
	TRACED("ucmx_id_destroy: channel=%ld id=%u ", NUMBER(self->source),
	       destroy.id);
	TRACED("ucmx_id_end: channel=%ld id=%u ", NUMBER(self->source),
	       destroy.id);
}

/* A listener moves with what nobody has read; to the same channel nothing does. */
TEST_F(trace, c10_what_is_said_of_a_listener_that_moves)
{
	long source = NUMBER(self->source), target = NUMBER(self->target);
	__u32 listener, clients[2];
	__u16 port;

	test_ok(listener_open(self->source, ADDR1, 4, &listener, &port));
	test_ok(clients_connect(self->target, ADDR1, port, 2, clients));
	ASSERT_TRUE(wait_until(id_has_pending(self->source, listener, 2)));
	test_ok(cmd_migrate_id(self->source, listener, self->target));
	TRACE_END();
	TRACED("ucmx_migrate_commit: source=%ld target=%ld id=%u ", source,
	       target, listener);
	TRACED("pending=2 outstanding=0 unread=2 err=0\n");
}

/* What announces a migration is an event like any other. */
TEST_F(trace, c07_a_migration_that_is_announced)
{
	long source = NUMBER(self->source), target = NUMBER(self->target);
	__u32 id;

	test_ok(cmd_create_id(self->source, PS_TCP, 1, &id));
	test_ok(cmd_migrate_id_opt(self->source, id, self->target,
				   RDMA_UCMX_ANNOUNCE, 0, 0));
	test_ok(event_take(self->target, EV_ARRIVED, id));
	TRACE_END();
	TRACED("ucmx_event_raise: channel=%ld id=%u seq=1 event=%u status=0\n",
	       source, id, EV_ARRIVED);
	TRACED("ucmx_migrate_commit: source=%ld target=%ld id=%u ", source,
	       target, id);
	TRACED("ucmx_event_deliver: channel=%ld id=%u seq=1 event=%u status=0\n",
	       target, id, EV_ARRIVED);
	TRACED("ucmx_event_ack: channel=%ld id=%u seq=1 event=%u age_ns=",
	       target, id, EV_ARRIVED);
}

TEST_F(trace, c08_a_migration_that_waits)
{
	long source = NUMBER(self->source), target = NUMBER(self->target);
	struct call call = {};
	__u32 id;

	test_ok(id_with_outstanding(self->source, &id));
	test_ok(cmd_resolve_route(self->source, id));
	ASSERT_TRUE(wait_until(id_has_pending(self->source, id, 1)));
	test_ok(call_start_migrate(&call, self->source, id, self->target));
	ASSERT_TRUE(fdinfo_somebody_waits(self->source));
	test_ok(cmd_ack(self->source, id, 1));
	test_ok(call_result(&call));
	test_ok(event_take(self->target, EV_ROUTE_RESOLVED, id));
	TRACE_END();
	TRACED("ucmx_migrate_freeze: source=%ld target=%ld id=%u ", source,
	       target, id);
	TRACED("pending=1 outstanding=1 unread=0 err=0\n");
	TRACED("ucmx_drain_start: channel=%ld id=%u outstanding=1 deadline_ns=0\n",
	       source, id);
	TRACED("ucmx_event_ack: channel=%ld id=%u seq=1 ", source, id);
	TRACED("ucmx_drain_end: id=%u waited_ns=", id);
	TRACED("ucmx_migrate_commit: source=%ld target=%ld id=%u ", source,
	       target, id);
	TRACED("pending=1 outstanding=0 unread=0 err=0\n");
	TRACED("ucmx_event_deliver: channel=%ld id=%u seq=2 ", target, id);
}

TEST_F(trace, c07_a_migration_that_fails)
{
	long source = NUMBER(self->source), target = NUMBER(self->target);
	struct call call = {};
	__u32 id;

	count_signals(SIGUSR1, 0);
	test_ok(id_with_outstanding(self->source, &id));
	test_ok(call_start_migrate(&call, self->source, id, self->target));
	ASSERT_TRUE(fdinfo_somebody_waits(self->source));
	call_signal(&call, SIGUSR1);
	test_err(EINTR, call_result(&call));
	TRACE_END();
	TRACED("ucmx_migrate_freeze: source=%ld target=%ld id=%u ", source,
	       target, id);
	TRACED("ucmx_drain_start: channel=%ld id=%u ", source, id);
	TRACED("ucmx_drain_end: id=%u waited_ns=", id);
	TRACED(" err=%d\n", -ERESTARTSYS);
	TRACED("ucmx_migrate_roll_back: source=%ld target=%ld id=%u ", source,
	       target, id);
	TRACED("pending=0 outstanding=1 unread=0 err=%d\n", -ERESTARTSYS);
}

/* An unread child is a listener's; it is known from when its request is read. */
TEST_F(trace, c10_a_request_and_its_child)
{
	long channel = NUMBER(self->source);
	__u32 listener, client;
	struct event ev;
	__u16 port;

	test_ok(listener_open(self->source, ADDR1, 4, &listener, &port));
	test_ok(client_connect(self->target, ADDR1, port, &client));
	test_ok(event_expect(self->source, EV_CONNECT_REQUEST, &ev));
	TRACE_END();
	TRACED("ucmx_event_raise: channel=%ld id=%u seq=1 event=%u ", channel,
	       listener, EV_CONNECT_REQUEST);
	TRACED("ucmx_event_deliver: channel=%ld id=%u seq=1 event=%u ", channel,
	       listener, EV_CONNECT_REQUEST);
	TRACED("ucmx_id_create: channel=%ld id=%u ", channel, ev.head.id);
}

TEST_HARNESS_MAIN
