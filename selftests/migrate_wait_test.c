// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Migrations that wait for an acknowledgement (C8), and all the ways in which
 * the wait can end: each but an acknowledgement must leave the id on its source
 * with every event in order (C7).
 */
#include <signal.h>
#include <string.h>

#include "call.h"
#include "scene.h"
#include "test.h"

/*
 * An id on the source that has resolved its address: event 1 is outstanding,
 * event 2 pending; another id's event is pending behind it.
 */
FIXTURE(wait) {
	int source;
	int target;
	__u32 id;
	__u32 other;
	struct call call;
};

FIXTURE_SETUP(wait)
{
	struct event ev;

	self->source = channel_open();
	self->target = channel_open();
	ASSERT_LE(0, self->source);
	ASSERT_LE(0, self->target);
	test_ok(id_with_pending(self->source, &self->id));
	test_ok(cmd_resolve_route(self->source, self->id));
	ASSERT_TRUE(wait_until(id_has_pending(self->source, self->id, 2)));
	test_ok(id_with_pending(self->source, &self->other));
	test_ok(event_expect(self->source, EV_ADDR_RESOLVED, &ev));
	ASSERT_EQ(self->id, ev.head.id);
	self->call = (struct call){};
}

FIXTURE_TEARDOWN(wait)
{
	close(self->source);
	close(self->target);
}

/* Start a migration of the id and see it wait. */
#define START() \
	test_ok(call_start_migrate(&self->call, self->source, self->id, self->target))

/*
 * C7: everything is as before the call.  After a wait the id's events are
 * behind those of the other one, after a refusal they have not moved (C2).
 */
#define EXPECT_UNMOVED(waited) do {					\
	struct rdma_ucmx_id_info _info;					\
	struct event _ev;						\
									\
	test_ok(id_info(self->source, self->id, &_info));		\
	EXPECT_EQ(0, _info.state);					\
	EXPECT_EQ(1, _info.pending);					\
	EXPECT_EQ(1, _info.outstanding);				\
	EXPECT_EQ(2, channel_ids(self->source));			\
	EXPECT_EQ(0, channel_ids(self->target));			\
	test_err(EAGAIN, event_read_now(self->target, &_ev));		\
	if (waited)							\
		test_ok(event_take(self->source, EV_ADDR_RESOLVED, self->other)); \
	test_ok(event_expect(self->source, EV_ROUTE_RESOLVED, &_ev));	\
	EXPECT_EQ(self->id, _ev.head.id);				\
	EXPECT_EQ(2, _ev.head.seq);					\
	if (!(waited))							\
		test_ok(event_take(self->source, EV_ADDR_RESOLVED, self->other)); \
	test_ok(cmd_ack(self->source, self->id, 1));			\
	test_ok(cmd_ack(self->source, self->id, 2));			\
	test_ok(cmd_migrate_id(self->source, self->id, self->target));	\
} while (0)

/* The id and its pending event are on the target. */
#define EXPECT_MOVED() do {						\
	struct event _ev;						\
									\
	EXPECT_EQ(1, channel_ids(self->target));			\
	test_err(ENOENT, cmd_ack(self->source, self->id, 0));		\
	test_ok(event_expect(self->target, EV_ROUTE_RESOLVED, &_ev));	\
	EXPECT_EQ(self->id, _ev.head.id);				\
	EXPECT_EQ(2, _ev.head.seq);					\
	test_ok(event_ack(self->target, &_ev));				\
} while (0)

TEST_F(wait, c08_returns_when_the_event_is_acknowledged)
{
	struct event ev;

	START();
	/* Frozen: its events can be read nowhere. */
	test_ok(event_take(self->source, EV_ADDR_RESOLVED, self->other));
	test_err(EAGAIN, event_read_now(self->source, &ev));
	test_err(EAGAIN, event_read_now(self->target, &ev));
	ASSERT_FALSE(call_returned(&self->call));
	test_ok(cmd_ack(self->source, self->id, 1));
	test_ok(call_result(&self->call));
	EXPECT_MOVED();
	EXPECT_EQ(1, channel_ids(self->source));
}

TEST_F(wait, c08_acknowledging_all_of_the_id)
{
	START();
	test_ok(cmd_ack(self->source, self->id, 0));
	test_ok(call_result(&self->call));
	EXPECT_MOVED();
}

/* C13: who is left to acknowledge may do so on the target. */
TEST_F(wait, c13_acknowledged_on_the_target)
{
	int stranger = channel_open();

	START();
	test_err(ENOENT, cmd_ack(stranger, self->id, 1));
	test_err(EINVAL, cmd_ack(self->target, self->id, 2));
	ASSERT_FALSE(call_returned(&self->call));
	test_ok(cmd_ack(self->target, self->id, 1));
	test_ok(call_result(&self->call));
	EXPECT_MOVED();
}

/* C12: other commands work as if there were no migration. */
TEST_F(wait, c12_commands_meanwhile)
{
	struct rdma_ucmx_query query;
	struct rdma_ucmx_qp_attr attr;
	__u8 tos = 8;
	__u32 len = sizeof(tos);
	struct event ev;

	START();
	test_ok(cmd_query(self->source, self->id, &query));
	test_err(ENOENT, cmd_query(self->target, self->id, &query));
	test_ok(cmd_init_qp_attr(self->source, self->id, 1, &attr));
	test_ok(cmd_set_option(self->source, self->id, 0, 0, &tos, sizeof(tos)));
	tos = 0;
	test_ok(cmd_get_option(self->source, self->id, 0, 0, &tos, &len));
	EXPECT_EQ(8, tos);
	test_err(ENOENT, cmd_adopt_id(self->target, self->id, 13));
	test_ok(cmd_adopt_id(self->source, self->id, 12));
	/* Nobody listens: one event more, in its place. */
	test_ok(connect_in_vain(self->source, self->id));
	ASSERT_TRUE(wait_until(id_has_pending(self->source, self->id, 2)));
	test_ok(cmd_write_event(self->source, self->id, EV_USER, 0, 5));
	ASSERT_FALSE(call_returned(&self->call));
	test_ok(cmd_ack(self->source, self->id, 1));
	test_ok(call_result(&self->call));
	EXPECT_MOVED();
	test_ok(event_expect(self->target, EV_IN_VAIN, &ev));
	EXPECT_EQ(3, ev.head.seq);
	EXPECT_EQ(12, ev.head.cookie);
	test_ok(event_expect(self->target, EV_USER, &ev));
	EXPECT_EQ(4, ev.head.seq);
	EXPECT_EQ(5, ev.arg);
}

/* C7: what came meanwhile stays with the id, too. */
TEST_F(wait, c07_events_that_come_meanwhile)
{
	struct event ev;

	count_signals(SIGUSR1, 0);
	START();
	test_ok(connect_in_vain(self->source, self->id));
	ASSERT_TRUE(wait_until(id_has_pending(self->source, self->id, 2)));
	call_signal(&self->call, SIGUSR1);
	test_err(EINTR, call_result(&self->call));
	test_ok(event_take(self->source, EV_ADDR_RESOLVED, self->other));
	test_ok(event_expect(self->source, EV_ROUTE_RESOLVED, &ev));
	EXPECT_EQ(2, ev.head.seq);
	test_ok(event_expect(self->source, EV_IN_VAIN, &ev));
	EXPECT_EQ(3, ev.head.seq);
	test_err(EAGAIN, event_read_now(self->target, &ev));
}

TEST_F(wait, c08_signal)
{
	count_signals(SIGUSR1, 0);
	START();
	call_signal(&self->call, SIGUSR1);
	test_err(EINTR, call_result(&self->call));
	EXPECT_UNMOVED(true);
}

/* C7: a reader that waited meanwhile is woken. */
TEST_F(wait, c07_signal_wakes_the_readers_of_the_source)
{
	struct call reader = { .fd = self->source };

	count_signals(SIGUSR1, 0);
	START();
	test_ok(event_take(self->source, EV_ADDR_RESOLVED, self->other));
	call_start(&reader, run_read);
	ASSERT_TRUE(wait_until(call_blocked(&reader)));
	call_signal(&self->call, SIGUSR1);
	test_err(EINTR, call_result(&self->call));
	test_ok(call_result(&reader));
	EXPECT_EQ(self->id, reader.event.head.id);
	EXPECT_EQ(2, reader.event.head.seq);
}

TEST_F(wait, c08_signal_with_a_handler_that_restarts)
{
	count_signals(SIGUSR1, SA_RESTART);
	START();
	call_signal(&self->call, SIGUSR1);
	ASSERT_TRUE(wait_until(signals_counted == 1));
	ASSERT_TRUE(wait_until(id_has_state(self->source, self->id,
					    RDMA_UCMX_ID_MIGRATING)));
	ASSERT_FALSE(call_returned(&self->call));
	test_ok(cmd_ack(self->source, self->id, 1));
	test_ok(call_result(&self->call));
	EXPECT_MOVED();
}

/* The deadline is a point in time: a restart does not put it off. */
TEST_F(wait, c08_deadline_across_restarts)
{
	__u64 deadline = now_ns() + 2000000000ULL;

	count_signals(SIGUSR1, SA_RESTART);
	self->call.deadline = deadline;
	START();
	while (!call_returned(&self->call) && now_ns() < deadline) {
		call_signal(&self->call, SIGUSR1);
		pause_briefly();
	}
	test_err(ETIMEDOUT, call_result(&self->call));
	EXPECT_LE(deadline, now_ns());
	EXPECT_LT(0, signals_counted);
	EXPECT_UNMOVED(true);
}

TEST_F(wait, c08_deadline)
{
	__u64 deadline = now_ns() + 300000000ULL;

	test_err(ETIMEDOUT, cmd_migrate_id_opt(self->source, self->id,
					       self->target, 0, deadline, 0));
	EXPECT_LE(deadline, now_ns());
	EXPECT_UNMOVED(true);
}

/* Past: after one look, and so nothing has moved within the source. */
TEST_F(wait, c08_deadline_that_is_past)
{
	test_err(ETIMEDOUT, cmd_migrate_id_opt(self->source, self->id,
					       self->target, 0, 1, 0));
	EXPECT_UNMOVED(false);
}

TEST_F(wait, c08_deadline_that_is_past_but_nothing_is_outstanding)
{
	test_ok(cmd_ack(self->source, self->id, 1));
	test_ok(cmd_migrate_id_opt(self->source, self->id, self->target, 0, 1, 0));
	EXPECT_MOVED();
}

TEST_F(wait, c08_nonblocking)
{
	test_err(EAGAIN, cmd_migrate_id_opt(self->source, self->id, self->target,
					    RDMA_UCMX_NONBLOCK, 0, 0));
	EXPECT_UNMOVED(false);
}

/* An event in the caller's hand counts as acknowledged ... */
TEST_F(wait, held_event)
{
	test_ok(cmd_migrate_id_opt(self->source, self->id, self->target,
				   RDMA_UCMX_NONBLOCK, 0, 1));
	EXPECT_MOVED();
	/* ... so it is now. */
	test_err(EINVAL, cmd_ack(self->target, self->id, 1));
}

/* ... if and only if the call succeeds. */
TEST_F(wait, held_event_of_a_call_that_fails)
{
	struct event ev;

	/* Not outstanding: pending, or of nobody. */
	test_err(EINVAL, cmd_migrate_id_opt(self->source, self->id,
					    self->target, 0, 0, 2));
	test_err(EINVAL, cmd_migrate_id_opt(self->source, self->id,
					    self->target, 0, 0, 99));
	/* A second one is outstanding, which nobody says he holds. */
	test_ok(event_expect(self->source, EV_ROUTE_RESOLVED, &ev));
	test_err(EAGAIN, cmd_migrate_id_opt(self->source, self->id, self->target,
					    RDMA_UCMX_NONBLOCK, 0, 1));
	test_err(EBADF, cmd_migrate_id_opt(self->source, self->id, -1, 0, 0, 1));
	test_ok(cmd_ack(self->source, self->id, 1));
	test_ok(cmd_ack(self->source, self->id, 2));
}

/* It waits for the others. */
TEST_F(wait, held_event_among_others)
{
	struct event ev;

	test_ok(event_expect(self->source, EV_ROUTE_RESOLVED, &ev));
	self->call.held_seq = 2;
	START();
	test_ok(cmd_ack(self->source, self->id, 1));
	test_ok(call_result(&self->call));
	EXPECT_EQ(1, channel_ids(self->target));
	test_err(EINVAL, cmd_ack(self->target, self->id, 2));
	test_ok(cmd_migrate_id_opt(self->target, self->id, self->source,
				   RDMA_UCMX_NONBLOCK, 0, 0));
}

/* Having waited in vain it leaves that event and the cookie alone, too. */
TEST_F(wait, held_event_of_a_wait_that_fails)
{
	struct event ev;

	count_signals(SIGUSR1, 0);
	test_ok(event_expect(self->source, EV_ROUTE_RESOLVED, &ev));
	self->call.held_seq = 2;
	START();
	call_signal(&self->call, SIGUSR1);
	test_err(EINTR, call_result(&self->call));
	test_err(ETIMEDOUT, cmd_migrate_id_opt(self->source, self->id, self->target,
					       0, now_ns() + 100000000ULL, 2));
	test_ok(cmd_ack(self->source, self->id, 2));
	test_ok(cmd_ack(self->source, self->id, 1));
}

TEST_F(wait, c12_twice_at_once_is_ebusy)
{
	int third = channel_open();

	START();
	test_err(EBUSY, cmd_migrate_id(self->source, self->id, self->target));
	test_err(EBUSY, cmd_migrate_id(self->source, self->id, third));
	test_err(EBUSY, cmd_migrate_id(self->source, self->id, self->source));
	test_err(ENOENT, cmd_migrate_id(self->target, self->id, third));
	test_ok(cmd_ack(self->source, self->id, 1));
	test_ok(call_result(&self->call));
	EXPECT_MOVED();
}

/* Destroying wins, and then waits itself. */
TEST_F(wait, c12_destroyed_meanwhile)
{
	struct call destroy = { .fd = self->source, .id = self->id };
	struct event ev;

	START();
	call_start(&destroy, run_destroy);
	test_err(ECANCELED, call_result(&self->call));
	ASSERT_TRUE(id_has_state(self->source, self->id, RDMA_UCMX_ID_DYING));
	ASSERT_FALSE(call_returned(&destroy));
	test_err(ENOENT, cmd_migrate_id(self->source, self->id, self->target));
	test_ok(cmd_ack(self->source, self->id, 1));
	test_ok(call_result(&destroy));
	EXPECT_EQ(0, channel_ids(self->target));
	EXPECT_EQ(1, channel_ids(self->source));
	test_err(EAGAIN, event_read_now(self->target, &ev));
}

TEST_F(wait, c11_same_channel)
{
	struct event ev;

	test_ok(call_start_migrate(&self->call, self->source, self->id,
				   self->source));
	test_err(EBUSY, cmd_migrate_id(self->source, self->id, self->target));
	test_ok(event_take(self->source, EV_ADDR_RESOLVED, self->other));
	test_err(EAGAIN, event_read_now(self->source, &ev));
	test_ok(cmd_ack(self->source, self->id, 1));
	test_ok(call_result(&self->call));
	test_ok(event_take(self->source, EV_ROUTE_RESOLVED, self->id));
	EXPECT_EQ(2, channel_ids(self->source));
}

/* The wait is killable, and the id none the worse for it. */
TEST_F(wait, c08_sigkill)
{
	int status;
	pid_t pid;

	pid = fork();
	if (!pid) {
		cmd_migrate_id(self->source, self->id, self->target);
		_exit(1);
	}
	ASSERT_LT(0, pid);
	ASSERT_TRUE(wait_until(id_has_state(self->source, self->id,
					    RDMA_UCMX_ID_MIGRATING)));
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_TRUE(WIFSIGNALED(status));
	ASSERT_EQ(SIGKILL, WTERMSIG(status));
	EXPECT_UNMOVED(true);
}

/* A wait ends by itself only: nothing else wakes it to the wrong end. */
TEST_F(wait, c08_unrelated_acknowledgements)
{
	struct event ev;

	START();
	test_ok(event_expect(self->source, EV_ADDR_RESOLVED, &ev));
	test_ok(event_ack(self->source, &ev));
	test_ok(cmd_destroy_id(self->source, self->other));
	test_err(EINVAL, cmd_ack(self->source, self->id, 7));
	ASSERT_TRUE(id_has_state(self->source, self->id, RDMA_UCMX_ID_MIGRATING));
	ASSERT_FALSE(call_returned(&self->call));
	test_ok(cmd_ack(self->source, self->id, 1));
	test_ok(call_result(&self->call));
	EXPECT_MOVED();
}

TEST_HARNESS_MAIN
