// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Closing channels before, during and after migrations (C13, C17), and the
 * destroying of ids that wait.
 *
 * An id here is bound to a port; whether it is gone shows in whether the port
 * can be bound again.
 */
#include <signal.h>
#include <string.h>

#include "call.h"
#include "scene.h"
#include "test.h"

FIXTURE(close) {
	int source;
	int target;
	int observer;
	__u16 port;
	__u32 id;
	struct call call;
};

/* An id with a port, event 1 outstanding and event 2 pending. */
FIXTURE_SETUP(close)
{
	struct rdma_ucmx_addr src = addr(ADDR1, 0), dst = addr(ADDR1, 7);
	struct event ev;

	self->source = channel_open();
	self->target = channel_open();
	self->observer = channel_open();
	ASSERT_LE(0, self->source);
	ASSERT_LE(0, self->target);
	ASSERT_LE(0, self->observer);
	test_ok(cmd_create_id(self->source, PS_TCP, 0, &self->id));
	test_ok(cmd_resolve_addr(self->source, self->id, &src, &dst));
	test_ok(event_expect(self->source, EV_ADDR_RESOLVED, &ev));
	self->port = addr_port(&ev.route.src_addr);
	ASSERT_NE(0, self->port);
	test_ok(cmd_resolve_route(self->source, self->id));
	ASSERT_TRUE(wait_until(id_has_pending(self->source, self->id, 1)));
	self->call = (struct call){};
}

FIXTURE_TEARDOWN(close)
{
	close(self->observer);
}

static bool port_is_free(int fd, __u16 port)
{
	struct rdma_ucmx_addr address = addr(ADDR1, port);
	bool is_free;
	__u32 id;

	if (cmd_create_id(fd, PS_TCP, 0, &id))
		return false;
	is_free = !cmd_bind_addr(fd, id, &address);
	return !cmd_destroy_id(fd, id) && is_free;
}

#define EXPECT_ALIVE() \
	EXPECT_FALSE(port_is_free(self->observer, self->port))
#define EXPECT_GONE() \
	EXPECT_TRUE(wait_until(port_is_free(self->observer, self->port)))
#define START() \
	test_ok(call_start_migrate(&self->call, self->source, self->id, self->target))

/* C17: closing never waits for acknowledgements. */
TEST_F(close, c17_channel_with_events)
{
	EXPECT_ALIVE();
	ASSERT_EQ(0, close(self->source));
	EXPECT_GONE();
}

TEST_F(close, source_before)
{
	ASSERT_EQ(0, close(self->source));
	test_err(EBADF, cmd_migrate_id(self->source, self->id, self->target));
	EXPECT_EQ(0, channel_ids(self->target));
	EXPECT_GONE();
}

TEST_F(close, target_before)
{
	ASSERT_EQ(0, close(self->target));
	test_err(EBADF, cmd_migrate_id(self->source, self->id, self->target));
	EXPECT_ALIVE();
	ASSERT_TRUE(id_has_pending(self->source, self->id, 1));
	test_ok(cmd_ack(self->source, self->id, 1));
	test_ok(event_take(self->source, EV_ROUTE_RESOLVED, self->id));
}

/* The call pins the source; its events can be acknowledged on the target. */
TEST_F(close, c13_source_during)
{
	START();
	ASSERT_EQ(0, close(self->source));
	ASSERT_FALSE(call_returned(&self->call));
	EXPECT_ALIVE();
	test_ok(cmd_ack(self->target, self->id, 1));
	test_ok(call_result(&self->call));
	EXPECT_ALIVE();
	test_ok(event_take(self->target, EV_ROUTE_RESOLVED, self->id));
	test_ok(cmd_destroy_id(self->target, self->id));
	EXPECT_GONE();
}

/* The other ids of the source go, as soon as the call lets go of it. */
TEST_F(close, c13_source_with_other_ids_during)
{
	__u32 other;

	test_ok(id_with_pending(self->source, &other));
	START();
	ASSERT_EQ(0, close(self->source));
	test_ok(cmd_ack(self->target, self->id, 1));
	test_ok(call_result(&self->call));
	EXPECT_EQ(1, channel_ids(self->target));
	test_ok(event_take(self->target, EV_ROUTE_RESOLVED, self->id));
	test_err(ENOENT, cmd_destroy_id(self->target, other));
}

/* Nobody is left to acknowledge: a signal ends it, and all of it. */
TEST_F(close, c13_source_during_and_a_signal)
{
	count_signals(SIGUSR1, 0);
	START();
	ASSERT_EQ(0, close(self->source));
	call_signal(&self->call, SIGUSR1);
	test_err(EINTR, call_result(&self->call));
	EXPECT_EQ(0, channel_ids(self->target));
	EXPECT_GONE();
}

/* The commit goes through, and then the id dies with the target. */
TEST_F(close, c13_target_during)
{
	START();
	ASSERT_EQ(0, close(self->target));
	ASSERT_FALSE(call_returned(&self->call));
	EXPECT_ALIVE();
	test_ok(cmd_ack(self->source, self->id, 1));
	test_ok(call_result(&self->call));
	test_err(ENOENT, cmd_destroy_id(self->source, self->id));
	EXPECT_EQ(0, channel_ids(self->source));
	EXPECT_GONE();
}

/* The call fails: the id stays, as if the target had never been. */
TEST_F(close, c13_target_during_and_a_signal)
{
	count_signals(SIGUSR1, 0);
	START();
	ASSERT_EQ(0, close(self->target));
	call_signal(&self->call, SIGUSR1);
	test_err(EINTR, call_result(&self->call));
	EXPECT_ALIVE();
	test_ok(cmd_ack(self->source, self->id, 1));
	test_ok(event_take(self->source, EV_ROUTE_RESOLVED, self->id));
}

/* Both: the acknowledgement has nowhere to go, the kill ends it all. */
TEST_F(close, c13_both_during)
{
	count_signals(SIGUSR1, 0);
	START();
	ASSERT_EQ(0, close(self->source));
	ASSERT_EQ(0, close(self->target));
	EXPECT_ALIVE();
	call_signal(&self->call, SIGUSR1);
	test_err(EINTR, call_result(&self->call));
	EXPECT_GONE();
}

TEST_F(close, source_after)
{
	test_ok(cmd_migrate_id_opt(self->source, self->id, self->target, 0, 0, 1));
	ASSERT_EQ(0, close(self->source));
	EXPECT_ALIVE();
	test_ok(event_take(self->target, EV_ROUTE_RESOLVED, self->id));
}

TEST_F(close, target_after)
{
	test_ok(cmd_migrate_id_opt(self->source, self->id, self->target, 0, 0, 1));
	ASSERT_EQ(0, close(self->target));
	EXPECT_GONE();
	test_err(ENOENT, cmd_ack(self->source, self->id, 0));
}

/* The target is pinned by a process that has it, whoever closes what. */
TEST_F(close, dup_of_the_target_keeps_it)
{
	int kept = dup(self->target);

	START();
	ASSERT_EQ(0, close(self->target));
	test_ok(cmd_ack(self->source, self->id, 1));
	test_ok(call_result(&self->call));
	test_ok(event_take(kept, EV_ROUTE_RESOLVED, self->id));
	test_ok(cmd_destroy_id(kept, self->id));
}

/* A killed process leaves nothing, whatever it was waiting for. */
TEST_F(close, sigkill_of_the_only_owner)
{
	struct rdma_ucmx_addr src = addr(ADDR1, 0), dst = addr(ADDR1, 7);
	struct event ev;
	int tell[2], fd, status;
	__u16 port;
	pid_t pid;
	__u32 id;

	ASSERT_EQ(0, pipe(tell));
	pid = fork();
	if (!pid) {
		fd = channel_open();
		if (cmd_create_id(fd, PS_TCP, 0, &id) ||
		    cmd_resolve_addr(fd, id, &src, &dst) ||
		    event_expect(fd, EV_ADDR_RESOLVED, &ev))
			_exit(1);
		port = addr_port(&ev.route.src_addr);
		if (write(tell[1], &port, sizeof(port)) < 0)
			_exit(1);
		cmd_migrate_id(fd, id, channel_open());
		_exit(1);
	}
	ASSERT_LT(0, pid);
	ASSERT_EQ(sizeof(port), read(tell[0], &port, sizeof(port)));
	EXPECT_FALSE(port_is_free(self->observer, port));
	ASSERT_TRUE(wait_until(task_sleeps(pid)));
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_TRUE(WIFSIGNALED(status));
	EXPECT_TRUE(wait_until(port_is_free(self->observer, port)));
}

/* C17 */
TEST_F(close, c17_destroy_nonblocking)
{
	test_err(EAGAIN, cmd_destroy_id_opt(self->source, self->id,
					    RDMA_UCMX_NONBLOCK, 0, 0));
	/* Nothing changed. */
	EXPECT_ALIVE();
	test_ok(event_take(self->source, EV_ROUTE_RESOLVED, self->id));
	test_ok(cmd_ack(self->source, self->id, 1));
	test_ok(cmd_destroy_id_opt(self->source, self->id, RDMA_UCMX_NONBLOCK,
				   0, 0));
	EXPECT_GONE();
}

TEST_F(close, c17_destroy_with_a_held_event)
{
	test_err(EINVAL, cmd_destroy_id_opt(self->source, self->id, 0, 0, 2));
	test_ok(cmd_destroy_id_opt(self->source, self->id, RDMA_UCMX_NONBLOCK,
				   0, 1));
	test_err(ENOENT, cmd_ack(self->source, self->id, 1));
	EXPECT_EQ(0, channel_ids(self->source));
	EXPECT_GONE();
}

/* The id dies at once, then the call waits; a second one resumes the wait. */
TEST_F(close, c17_destroy_waits)
{
	struct rdma_ucmx_query query;
	struct event ev;

	test_err(ETIMEDOUT, cmd_destroy_id_opt(self->source, self->id, 0, 1, 0));
	EXPECT_GONE();
	ASSERT_TRUE(id_has_state(self->source, self->id, RDMA_UCMX_ID_DYING));
	test_err(EAGAIN, event_read_now(self->source, &ev));
	test_err(ENOENT, cmd_query(self->source, self->id, &query));
	test_err(ENOENT, cmd_migrate_id(self->source, self->id, self->target));

	count_signals(SIGUSR1, 0);
	self->call = (struct call){ .fd = self->source, .id = self->id };
	call_start(&self->call, run_destroy);
	ASSERT_TRUE(wait_until(call_blocked(&self->call)));
	call_signal(&self->call, SIGUSR1);
	test_err(EINTR, call_result(&self->call));

	call_start(&self->call, run_destroy);
	ASSERT_TRUE(wait_until(call_blocked(&self->call)));
	test_ok(cmd_ack(self->source, self->id, 1));
	test_ok(call_result(&self->call));
	test_err(ENOENT, cmd_destroy_id(self->source, self->id));
	EXPECT_EQ(0, channel_ids(self->source));
}

/* The last acknowledgement frees it. */
TEST_F(close, c17_last_acknowledgement_frees)
{
	test_err(ETIMEDOUT, cmd_destroy_id_opt(self->source, self->id, 0, 1, 0));
	ASSERT_EQ(1, channel_ids(self->source));
	test_ok(cmd_ack(self->source, self->id, 1));
	EXPECT_TRUE(wait_until(channel_ids(self->source) == 0));
	test_err(ENOENT, cmd_destroy_id(self->source, self->id));
}

TEST_HARNESS_MAIN
