// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Very many of everything, while a neighbour goes on connecting: its connections
 * all come about, and how long they took is told.
 */
#include <glob.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scene.h"
#include "test.h"

/* What the neighbour does, shared with it. */
struct neighbour {
	_Atomic __u32 connections;
	_Atomic __u32 failures;
	_Atomic __u64 longest_ns;
	_Atomic __u64 longest_close_ns;
	atomic_bool stop;
};

FIXTURE(load) {
	struct neighbour *neighbour;
	pid_t child;
	int fd;
	__u64 alone_ns;
	long resent;
};

/*
 * How many requests and replies the IB CM has sent again.  Each was lost, mostly
 * because the device's queue for such messages was full, or answered too late; it
 * costs its connection the four seconds until it is sent again.  Over iWARP there
 * are no such messages.
 */
static long messages_resent(void)
{
	long sum = 0, n;
	glob_t files;
	FILE *file;
	size_t i;

	if (glob("/sys/class/infiniband/*/ports/1/cm_tx_retries/re[qp]", 0, NULL,
		 &files))
		return over_iwarp() ? 0 : -1;
	for (i = 0; i < files.gl_pathc; i++) {
		file = fopen(files.gl_pathv[i], "r");
		if (file && fscanf(file, "%ld", &n) == 1)
			sum += n;
		if (file)
			fclose(file);
	}
	globfree(&files);
	return sum;
}

static void note_longest(_Atomic __u64 *longest, __u64 start)
{
	__u64 took = now_ns() - start;

	if (took > *longest)
		*longest = took;
}

/* A connection from its first call until both sides know of it; and its end. */
static int connect_once(struct neighbour *neighbour)
{
	int server = channel_open(), client = channel_open();
	struct connection connection;
	__u64 start = now_ns();
	int ret = -1;

	if (server >= 0 && client >= 0)
		ret = connection_open(server, client, ADDR1, &connection);
	note_longest(&neighbour->longest_ns, start);
	start = now_ns();
	close(client);
	close(server);
	note_longest(&neighbour->longest_close_ns, start);
	return ret;
}

static int connect_again_and_again(struct neighbour *neighbour)
{
	while (!neighbour->stop) {
		if (connect_once(neighbour))
			neighbour->failures++;
		neighbour->connections++;
	}
	return 0;
}

static bool neighbour_connects(struct neighbour *neighbour, __u32 n)
{
	__u32 before = neighbour->connections;

	return wait_until(neighbour->connections - before >= n);
}

FIXTURE_SETUP(load)
{
	self->neighbour = mmap(NULL, sizeof(*self->neighbour),
			       PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->neighbour);
	self->fd = channel_open();
	ASSERT_LE(0, self->fd);
	self->child = fork();
	if (!self->child)
		_exit(connect_again_and_again(self->neighbour));
	ASSERT_LT(0, self->child);
	ASSERT_TRUE(neighbour_connects(self->neighbour, 10));
	self->alone_ns = self->neighbour->longest_ns;
	self->neighbour->longest_ns = 0;
	self->neighbour->longest_close_ns = 0;
	self->resent = messages_resent();
	ASSERT_LE(0, self->resent);
}

FIXTURE_TEARDOWN(load)
{
	int status = -1;

	/* Closing is part of the load. */
	close(self->fd);
	EXPECT_TRUE(neighbour_connects(self->neighbour, 2));
	self->neighbour->stop = true;
	EXPECT_EQ(self->child, waitpid(self->child, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, self->neighbour->failures);
	TH_LOG("%u connections: %llu ms at most, alone %llu ms; end %llu ms; %ld messages resent",
	       self->neighbour->connections,
	       self->neighbour->longest_ns / 1000000ULL,
	       self->alone_ns / 1000000ULL,
	       self->neighbour->longest_close_ns / 1000000ULL,
	       messages_resent() - self->resent);
	munmap(self->neighbour, sizeof(*self->neighbour));
}

static int create_with_event(int fd, __u64 cookie, __u32 *id)
{
	if (cmd_create_id(fd, PS_TCP, cookie, id))
		return -1;
	return cmd_write_event(fd, *id, EV_USER, 0, cookie);
}

/* Read @n events or some more, and acknowledge each; they come in order. */
static int take_in_order(int fd, unsigned int n)
{
	static char records[1 << 16];
	struct rdma_ucmx_ack acks[1024];
	ssize_t size, used, one;
	__u64 cookie = 0;
	struct event ev;
	__u32 count;

	while (cookie < n) {
		size = read(fd, records, sizeof(records));
		if (size <= 0)
			return -1;
		for (used = count = 0; used < size; used += one, count++) {
			one = event_parse(records + used, size - used, &ev);
			if (one < 0 || ev.head.cookie != cookie++)
				return -1;
			acks[count] = (struct rdma_ucmx_ack) {
				.id = ev.head.id, .seq = ev.head.seq,
			};
		}
		if (cmd_ack_events(fd, acks, count) != (int)count)
			return -1;
	}
	return 0;
}

/* An event each; half are read, a quarter of the ids destroyed, the rest closed. */
TEST_F_TIMEOUT(load, c19_a_hundred_thousand_ids, 300)
{
	unsigned int n = scaled(100000), i;
	struct rdma_ucmx_info info;
	__u32 *ids = calloc(n, sizeof(*ids));

	ASSERT_NE(NULL, ids);
	for (i = 0; i < n; i++)
		test_ok(create_with_event(self->fd, i, &ids[i]));
	test_ok(cmd_info(self->fd, &info));
	EXPECT_EQ(n, info.out_ids);
	EXPECT_EQ(n, info.out_pending);
	test_ok(take_in_order(self->fd, n / 2));
	for (i = 0; i < n; i += 4)
		test_ok(cmd_destroy_id(self->fd, ids[i]));
	test_ok(cmd_info(self->fd, &info));
	EXPECT_EQ(n - (n + 3) / 4, info.out_ids);
	EXPECT_EQ(0, info.out_outstanding);
	free(ids);
}

/* From a thousand channels onto one, and closed all at once. */
TEST_F_TIMEOUT(load, a_thousand_channels, 300)
{
	struct rlimit limit = { 4096, 4096 };
	unsigned int n = scaled(1000), i;
	__u32 *ids = calloc(n, sizeof(*ids));
	int *fds = calloc(n, sizeof(*fds));

	ASSERT_NE(NULL, ids);
	ASSERT_NE(NULL, fds);
	test_ok(setrlimit(RLIMIT_NOFILE, &limit));
	for (i = 0; i < n; i++) {
		fds[i] = channel_open();
		ASSERT_LE(0, fds[i]);
		test_ok(create_with_event(fds[i], i, &ids[i]));
	}
	for (i = 0; i < n; i += 2)
		test_ok(cmd_migrate_id(fds[i], ids[i], self->fd));
	EXPECT_EQ((n + 1) / 2, channel_ids(self->fd));
	for (i = 0; i < n; i++)
		close(fds[i]);
	free(fds);
	free(ids);
}

/* As many requests as a listener may have, moved and then all rejected. */
TEST_F_TIMEOUT(load, c19_a_full_backlog, 300)
{
	int server = channel_open(), client = channel_open();
	struct rdma_ucmx_info info;
	unsigned int n, i;
	struct event ev;
	__u32 listener;
	__u32 *ids;
	__u16 port;

	ASSERT_LE(0, server);
	ASSERT_LE(0, client);
	test_ok(cmd_info(server, &info));
	n = scaled(info.out_max_backlog);
	ids = calloc(n + 1, sizeof(*ids));
	ASSERT_NE(NULL, ids);
	test_ok(listener_open(server, ADDR1, n, &listener, &port));
	test_ok(clients_connect(client, ADDR1, port, n, ids));
	ASSERT_TRUE(wait_until(channel_ids(server) == (int)n + 1));
	/* One more is not seen, and asks again. */
	test_ok(client_connect(client, ADDR1, port, &ids[n]));
	test_ok(cmd_migrate_id(server, listener, self->fd));
	EXPECT_EQ(n + 1, channel_ids(self->fd));
	EXPECT_EQ(0, channel_ids(server));
	test_ok(cmd_destroy_id(self->fd, listener));
	for (i = 0; i <= n; i++) {
		test_ok(event_expect(client, EV_REJECTED, &ev));
		test_ok(event_ack(client, &ev));
	}
	EXPECT_EQ(0, channel_ids(self->fd));
	close(client);
	close(server);
	free(ids);
}

TEST_HARNESS_MAIN
