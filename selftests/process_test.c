// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Channels used by several processes (C16): after fork and exec, in another
 * network namespace, after the death of a reader (C5); and waits that another
 * thread or process goes on with, and what is closed by many at once (C17).
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "call.h"
#include "pass_fd.h"
#include "scene.h"
#include "test.h"

FIXTURE(process) {
	int source;
	int target;
	__u32 id;
};

/* An id whose only event, ADDR_RESOLVED, is pending. */
FIXTURE_SETUP(process)
{
	self->source = channel_open();
	self->target = channel_open();
	ASSERT_LE(0, self->source);
	ASSERT_LE(0, self->target);
	test_ok(id_with_pending(self->source, &self->id));
}

FIXTURE_TEARDOWN(process)
{
	close(self->source);
	close(self->target);
}

/* Wait, with patience, for a child that exits with 0. */
static int child_ends(pid_t child)
{
	int status = -1;

	if (!wait_until(waitpid(child, &status, WNOHANG) == child)) {
		kill(child, SIGKILL);
		errno = ETIME;
		return -1;
	}
	errno = EPROTO;
	return status ? -1 : 0;
}

/* Run @expression in a child; it must be 0. */
#define IN_CHILD(expression) do {					\
	pid_t _child = fork();						\
									\
	if (!_child)							\
		_exit((expression) ? 1 : 0);				\
	ASSERT_LT(0, _child);						\
	test_ok(child_ends(_child));					\
} while (0)

/* A reader that takes the event and then only waits to be killed. */
static pid_t reader_start(int fd)
{
	pid_t child = fork();
	struct event ev;

	if (child)
		return child;
	if (event_read(fd, &ev))
		_exit(1);
	for (;;)
		pause();
}

/* What a dead reader has left can be seen, and anybody acknowledges it. */
TEST_F(process, c05_killed_reader)
{
	__u64 before = now_ns(), after;
	struct rdma_ucmx_id_info info;
	struct call call = {};
	pid_t reader;
	int status;

	reader = reader_start(self->source);
	ASSERT_LT(0, reader);
	ASSERT_TRUE(wait_until(id_has_pending(self->source, self->id, 0)));
	ASSERT_TRUE(wait_until(task_sleeps(reader)));
	after = now_ns();
	test_ok(call_start_migrate(&call, self->source, self->id, self->target));
	ASSERT_EQ(0, kill(reader, SIGKILL));
	ASSERT_EQ(reader, waitpid(reader, &status, 0));
	test_ok(id_info(self->source, self->id, &info));
	EXPECT_EQ(RDMA_UCMX_ID_MIGRATING, info.state);
	EXPECT_EQ(1, info.outstanding);
	EXPECT_EQ(1, info.oldest_seq);
	EXPECT_EQ((__u32)reader, info.oldest_reader);
	EXPECT_LE(before, info.oldest_time);
	EXPECT_GE(after, info.oldest_time);
	ASSERT_FALSE(call_returned(&call));
	IN_CHILD(cmd_ack(self->source, self->id, 1));
	test_ok(call_result(&call));
	EXPECT_TRUE(id_is_on(self->target, self->id));
}

/* On the target, where the id is not yet. */
TEST_F(process, c13_killed_reader_acknowledged_on_the_target)
{
	struct call call = {};
	pid_t reader;
	int status;

	reader = reader_start(self->source);
	ASSERT_LT(0, reader);
	ASSERT_TRUE(wait_until(id_has_pending(self->source, self->id, 0)));
	ASSERT_EQ(0, kill(reader, SIGKILL));
	ASSERT_EQ(reader, waitpid(reader, &status, 0));
	test_ok(call_start_migrate(&call, self->source, self->id, self->target));
	/* All of it: whether the copy had ended when it died is not said. */
	IN_CHILD(cmd_ack(self->target, self->id, 0));
	test_ok(call_result(&call));
	EXPECT_TRUE(id_is_on(self->target, self->id));
}

/* A wait of a thread that has given up is gone on with by another. */
TEST_F(process, c17_destroy_is_resumed_by_another_thread)
{
	struct call first = { .fd = self->source, .id = self->id, .deadline = 1 };
	struct call second = { .fd = self->source, .id = self->id };
	struct event ev;

	test_ok(event_read(self->source, &ev));
	call_start(&first, run_destroy);
	test_err(ETIMEDOUT, call_result(&first));
	ASSERT_TRUE(id_has_state(self->source, self->id, RDMA_UCMX_ID_DYING));
	call_start(&second, run_destroy);
	ASSERT_TRUE(wait_until(call_blocked(&second)));
	test_ok(cmd_ack(self->source, self->id, 1));
	test_ok(call_result(&second));
	EXPECT_EQ(0, channel_ids(self->source));
}

TEST_F(process, c17_destroy_is_resumed_by_another_process)
{
	struct event ev;
	pid_t child;

	test_ok(event_read(self->source, &ev));
	test_err(ETIMEDOUT, cmd_destroy_id_opt(self->source, self->id, 0, 1, 0));
	child = fork();
	if (!child)
		_exit(cmd_destroy_id(self->source, self->id) ? 1 : 0);
	ASSERT_LT(0, child);
	ASSERT_TRUE(wait_until(task_sleeps(child)));
	test_ok(cmd_ack(self->source, self->id, 1));
	test_ok(child_ends(child));
	test_err(ENOENT, cmd_destroy_id(self->source, self->id));
}

/* A restarted wait has the deadline of the call, a point in time. */
TEST_F(process, c17_destroy_with_a_deadline_across_restarts)
{
	__u64 deadline = now_ns() + 2000000000ULL;
	struct call call = {
		.fd = self->source, .id = self->id, .deadline = deadline,
	};
	struct event ev;

	test_ok(event_read(self->source, &ev));
	count_signals(SIGUSR1, SA_RESTART);
	call_start(&call, run_destroy);
	while (!call_returned(&call) && now_ns() < deadline) {
		call_signal(&call, SIGUSR1);
		pause_briefly();
	}
	test_err(ETIMEDOUT, call_result(&call));
	EXPECT_LE(deadline, now_ns());
	EXPECT_LT(0, signals_counted);
	ASSERT_TRUE(id_has_state(self->source, self->id, RDMA_UCMX_ID_DYING));
	test_ok(cmd_ack(self->source, self->id, 1));
}

/* A forked process reads, commands and migrates like its parent. */
static int use_inherited(int source, int target, __u32 id)
{
	__u32 own;

	return event_take(source, EV_ADDR_RESOLVED, id) ||
	       cmd_resolve_route(source, id) ||
	       event_take(source, EV_ROUTE_RESOLVED, id) ||
	       cmd_migrate_id(source, id, target) ||
	       cmd_create_id(source, PS_TCP, 0, &own);
}

TEST_F(process, c16_channels_after_fork)
{
	IN_CHILD(use_inherited(self->source, self->target, self->id));
	EXPECT_TRUE(id_is_on(self->target, self->id));
	EXPECT_FALSE(readable(self->source));
	/* What it created belongs to the channel, not to the process. */
	EXPECT_EQ(1, channel_ids(self->source));
}

#define AFTER_EXEC "UCMX_TEST_AFTER_EXEC"

/* This program, executed by the test below: source, target, id. */
__attribute__((constructor)) static void after_exec(void)
{
	const char *args = getenv(AFTER_EXEC);
	int source, target;
	__u32 id;

	if (!args)
		return;
	if (sscanf(args, "%d %d %u", &source, &target, &id) != 3)
		_exit(2);
	_exit(use_inherited(source, target, id) ? 1 : 0);
}

static int execute(int source, int target, __u32 id)
{
	char args[64];

	fcntl(source, F_SETFD, 0);
	fcntl(target, F_SETFD, 0);
	snprintf(args, sizeof(args), "%d %d %u", source, target, id);
	setenv(AFTER_EXEC, args, 1);
	return execl("/proc/self/exe", "process_test", NULL);
}

TEST_F(process, c16_channels_after_exec)
{
	IN_CHILD(execute(self->source, self->target, self->id));
	EXPECT_TRUE(id_is_on(self->target, self->id));
	EXPECT_FALSE(readable(self->source));
	EXPECT_EQ(1, channel_ids(self->source));
}

/* More than end at a time, so that those that are last take a while. */
#define BOUND	256

/* A channel with many bound ids, and the port of the last one. */
static int channel_bound(__u16 *port)
{
	struct rdma_ucmx_addr any_port = addr(ADDR1, 0);
	struct rdma_ucmx_query query;
	int i, fd = channel_open();
	__u32 id;

	for (i = 0; i < BOUND && fd >= 0; i++) {
		if (cmd_create_id(fd, PS_TCP, 0, &id) ||
		    cmd_bind_addr(fd, id, &any_port))
			return -1;
	}
	if (fd < 0 || cmd_query(fd, id, &query))
		return -1;
	*port = addr_port(&query.out_route.src_addr);
	return fd;
}

/* Whether nobody has the port. */
static int port_is_free(int fd, __u16 port)
{
	struct rdma_ucmx_addr address = addr(ADDR1, port);
	__u32 id;

	return cmd_create_id(fd, PS_TCP, 0, &id) ||
	       cmd_bind_addr(fd, id, &address) || cmd_destroy_id(fd, id);
}

/*
 * Two close a channel at once: the one does not get to drop its reference, here the
 * one in a socket, before the other has closed and is gone.  Its ports are free even
 * so when the last reference has gone.
 */
TEST_F(process, c17_ports_are_free_whoever_of_many_is_last)
{
	int round, fd, socks[2], status;
	__u16 port;
	pid_t other;

	for (round = 0; round < 8; round++) {
		fd = channel_bound(&port);
		ASSERT_LE(0, fd);
		test_ok(socketpair(AF_UNIX, SOCK_STREAM, 0, socks));
		other = fork();
		if (!other)
			for (;;)
				pause();
		ASSERT_LT(0, other);
		test_ok(send_fd(socks[0], fd));
		close(fd);
		ASSERT_EQ(0, kill(other, SIGKILL));
		ASSERT_EQ(other, waitpid(other, &status, 0));
		close(socks[0]);
		close(socks[1]);
		test_ok(port_is_free(self->source, port));
	}
}

/*
 * The namespace is that of who creates an id, whoever opened the channel and
 * whoever binds.  Another one does not have the address, nor the device.
 */
static int use_elsewhere(int fd, __u32 here, __u32 *elsewhere)
{
	struct rdma_ucmx_addr address = addr(ADDR1, 0);

	if (unshare(CLONE_NEWNET) || cmd_create_id(fd, PS_TCP, 0, elsewhere))
		return 1;
	if (!cmd_bind_addr(fd, *elsewhere, &address)) {
		fprintf(stderr, "# bound where the address is not\n");
		return 1;
	}
	if (errno != EADDRNOTAVAIL) {
		perror("# bind elsewhere");
		return 1;
	}
	return cmd_bind_addr(fd, here, &address);
}

TEST_F(process, c16_ids_are_of_their_creators_network_namespace)
{
	struct rdma_ucmx_addr address = addr(ADDR1, 0);
	struct rdma_ucmx_id_info infos[3];
	__u32 here, elsewhere;

	test_ok(cmd_create_id(self->target, PS_TCP, 0, &here));
	IN_CHILD(use_elsewhere(self->target, here, &elsewhere));
	ASSERT_EQ(2, cmd_list_ids(self->target, 0, infos, ARRAY_LEN(infos)));
	elsewhere = infos[infos[0].id == here].id;
	test_err(EADDRNOTAVAIL, cmd_bind_addr(self->target, elsewhere, &address));
	/* Nor does a migration change it. */
	test_ok(cmd_migrate_id(self->target, elsewhere, self->source));
	test_err(EADDRNOTAVAIL, cmd_bind_addr(self->source, elsewhere, &address));
}

/* Children are in one whose clock is ahead of the machine's; this process is not. */
static int new_time_namespace(int seconds_ahead)
{
	char offset[48];

	snprintf(offset, sizeof(offset), "monotonic %d 0\n", seconds_ahead);
	return unshare(CLONE_NEWTIME) ?:
	       write_file("/proc/self/timens_offsets", offset);
}

/* @from: when the event had not been read yet, by the clock here */
static int deadlines_by_own_clock(int source, int target, __u32 id, __u64 from)
{
	__u64 deadline = now_ns() + 100000000ULL;
	struct rdma_ucmx_id_info info;

	if (now_ns() < from || id_info(source, id, &info) ||
	    info.oldest_time < from || info.oldest_time > now_ns())
		return 1;
	/* The alarm ends waits that would last for longer. */
	alarm(PATIENCE_MS / 1000);
	if (cmd_migrate_id_opt(source, id, target, 0, deadline, 0) != -1 ||
	    errno != ETIMEDOUT || now_ns() < deadline)
		return 1;
	return cmd_destroy_id_opt(source, id, 0, deadline, 0) != -1 ||
	       errno != ETIMEDOUT;
}

/* The clock is that of the caller's time namespace. */
TEST_F(process, c08_deadline_in_another_time_namespace)
{
	const int day = 86400;
	__u64 from = now_ns();
	struct event ev;

	test_ok(event_read(self->source, &ev));
	test_ok(new_time_namespace(day));
	IN_CHILD(deadlines_by_own_clock(self->source, self->target, self->id,
					from + day * 1000000000ULL));
	ASSERT_TRUE(id_has_state(self->source, self->id, RDMA_UCMX_ID_DYING));
	test_ok(cmd_ack(self->source, self->id, 1));
}

TEST_F(process, c08_deadline_where_it_is_earlier)
{
	__u64 from = now_ns();
	struct event ev;

	test_ok(event_read(self->source, &ev));
	test_ok(new_time_namespace(-1));
	IN_CHILD(deadlines_by_own_clock(self->source, self->target, self->id,
					from - 1000000000ULL));
	ASSERT_TRUE(id_has_state(self->source, self->id, RDMA_UCMX_ID_DYING));
	test_ok(cmd_ack(self->source, self->id, 1));
}

TEST_HARNESS_MAIN
