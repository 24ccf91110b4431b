// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Who pays for memory (C19): the memory cgroup of whoever made the system call
 * that reserved it.
 */
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scene.h"
#include "test.h"

/*
 * A process in a memory cgroup of its own does what each test says, and tells
 * when it is in there, and when it is done.  Memory is that of slabs alone:
 * the process itself has pages that come and go.
 */
#define GROUP "/tmp/ucmx_cgroup/ucmx_test"

FIXTURE(memory) {
	int client;
	int tell[2];
	int hear[2];
	pid_t child;
};

FIXTURE_SETUP(memory)
{
	ASSERT_EQ(0, unshare(CLONE_NEWNS));
	ASSERT_EQ(0, mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	mkdir("/tmp/ucmx_cgroup", 0700);
	ASSERT_EQ(0, mount("cgroup", "/tmp/ucmx_cgroup", "cgroup2", 0, NULL));
	test_ok(write_file("/tmp/ucmx_cgroup/cgroup.subtree_control", "+memory"));
	ASSERT_EQ(0, mkdir(GROUP, 0700));
	self->client = channel_open();
	ASSERT_LE(0, self->client);
	ASSERT_EQ(0, pipe(self->tell));
	ASSERT_EQ(0, pipe(self->hear));
}

FIXTURE_TEARDOWN(memory)
{
	close(self->client);
	/* After a failure it still waits. */
	if (self->child > 0)
		kill(self->child, SIGKILL);
	EXPECT_TRUE(wait_until(!rmdir(GROUP)));
	EXPECT_EQ(0, umount("/tmp/ucmx_cgroup"));
}

static int memory_child_ends(FIXTURE_DATA(memory) *self)
{
	pid_t child = self->child;
	int status = -1;

	self->child = 0;
	errno = EPROTO;
	return waitpid(child, &status, 0) != child || status ? -1 : 0;
}

/* What a file of the group's says of @name, or -1. */
static long long group_says(const char *path, const char *name)
{
	FILE *file = fopen(path, "r");
	long long value, found = -1;
	char line[128], is[64];

	while (file && found < 0 && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%63s %lld", is, &value) == 2 && !strcmp(is, name))
			found = value;
	}
	if (file)
		fclose(file);
	return found;
}

/* Bytes of slabs that the group pays for, or -1. */
static long long group_slab(void)
{
	return group_says(GROUP "/memory.stat", "slab");
}

/* Let the other side of the two pipes go on, or wait for it. */
static void go_on(int fd)
{
	(void)!write(fd, "x", 1);
}

static int wait_for(int fd)
{
	char byte;

	return read(fd, &byte, 1) == 1 ? 0 : -1;
}

#define MANY 1000

/* Ids with three events each. */
static int fill(int fd)
{
	__u32 i, j, id;

	for (i = 0; i < MANY; i++) {
		if (cmd_create_id(fd, PS_TCP, i, &id))
			return 1;
		for (j = 0; j < 3; j++) {
			if (cmd_write_event(fd, id, EV_USER, 0, j))
				return 1;
		}
	}
	return 0;
}

static int fill_in_group(int tell, int hear)
{
	int fd = channel_open();

	if (fd < 0 || write_file(GROUP "/cgroup.procs", "0"))
		return 1;
	go_on(tell);
	if (wait_for(hear) || fill(fd))
		return 1;
	go_on(tell);
	if (wait_for(hear))
		return 1;
	close(fd);
	go_on(tell);
	return wait_for(hear) ? 1 : 0;
}

/*
 * A process in the group fills a channel; what the group paid for before and
 * after.  More than 1 KiB for an id and its events.
 */
static int group_fills(FIXTURE_DATA(memory) *self, long long *before,
		       long long *full)
{
	self->child = fork();
	if (!self->child)
		_exit(fill_in_group(self->tell[1], self->hear[0]));
	close(self->tell[1]);
	if (self->child < 0 || wait_for(self->tell[0]))
		return -1;
	*before = group_slab();
	go_on(self->hear[1]);
	if (*before < 0 || wait_for(self->tell[0]) ||
	    !wait_until(group_slab() - *before >= MANY * 1024))
		return -1;
	*full = group_slab();
	return 0;
}

TEST_F(memory, c19_is_charged_to_the_caller)
{
	long long before, full;

	test_ok(group_fills(self, &before, &full));
	TH_LOG("%lld bytes before, %lld with %d ids", before, full, MANY);
	go_on(self->hear[1]);
	test_ok(wait_for(self->tell[0]));
	/* The process lives, but what it made is paid back. */
	EXPECT_TRUE(wait_until(group_slab() - before < (full - before) / 10));
	go_on(self->hear[1]);
	test_ok(memory_child_ends(self));
}

/* One that is killed with all of it pays back, too. */
TEST_F(memory, c19_is_paid_back_by_the_killed)
{
	long long before, full;

	test_ok(group_fills(self, &before, &full));
	test_ok(kill(self->child, SIGKILL));
	EXPECT_TRUE(wait_until(group_slab() < (full - before) / 10));
	test_err(EPROTO, memory_child_ends(self));
}

#define REQUESTS 100

static int listen_in_group(int tell, int hear)
{
	int fd = channel_open();
	__u32 listener;
	__u16 port;

	if (fd < 0 || write_file(GROUP "/cgroup.procs", "0") ||
	    listener_open(fd, ADDR1, 0, &listener, &port) ||
	    write(tell, &port, sizeof(port)) != sizeof(port))
		return 1;
	if (wait_for(hear))
		return 1;
	close(fd);
	go_on(tell);
	return wait_for(hear) ? 1 : 0;
}

/* Whoever sends them: the callback runs in nobody's name. */
TEST_F(memory, c19_requests_are_charged_to_the_listener)
{
	__u32 clients[REQUESTS];
	long long before, full;
	__u16 port;

	self->child = fork();
	if (!self->child)
		_exit(listen_in_group(self->tell[1], self->hear[0]));
	ASSERT_LT(0, self->child);
	close(self->tell[1]);
	ASSERT_EQ(sizeof(port), read(self->tell[0], &port, sizeof(port)));
	before = group_slab();
	ASSERT_LE(0, before);
	test_ok(clients_connect(self->client, ADDR1, port, REQUESTS, clients));
	/* More than 2 KiB for a child and its request. */
	EXPECT_TRUE(wait_until(group_slab() - before >= REQUESTS * 2048));
	full = group_slab();
	TH_LOG("%lld bytes before, %lld with %d requests", before, full, REQUESTS);
	go_on(self->hear[1]);
	test_ok(wait_for(self->tell[0]));
	EXPECT_TRUE(wait_until(group_slab() - before < (full - before) / 4));
	go_on(self->hear[1]);
	test_ok(memory_child_ends(self));
}

#define MANY_REQUESTS 800

/*
 * Whose group is above memory.high sleeps for it; but not the thread in which the
 * machine's connections are made.
 */
TEST_F(memory, c19_requests_sleep_for_no_group)
{
	unsigned int n = scaled(MANY_REQUESTS);
	__u32 *clients = calloc(n, sizeof(*clients));
	long long before;
	__u16 port;

	ASSERT_NE(NULL, clients);
	self->child = fork();
	if (!self->child)
		_exit(listen_in_group(self->tell[1], self->hear[0]));
	ASSERT_LT(0, self->child);
	close(self->tell[1]);
	ASSERT_EQ(sizeof(port), read(self->tell[0], &port, sizeof(port)));
	before = group_slab();
	ASSERT_LE(0, before);
	test_ok(write_file(GROUP "/memory.high", "4096"));
	ASSERT_EQ(0, group_says(GROUP "/memory.events", "high"));
	/* The group's process sleeps: what is above it are the requests. */
	test_ok(clients_connect(self->client, ADDR1, port, n, clients));
	EXPECT_TRUE(wait_until(group_slab() - before >= n * 2048LL));
	EXPECT_EQ(0, group_says(GROUP "/memory.events", "high"));
	test_ok(write_file(GROUP "/memory.high", "max"));
	go_on(self->hear[1]);
	test_ok(wait_for(self->tell[0]));
	go_on(self->hear[1]);
	test_ok(memory_child_ends(self));
	free(clients);
}

TEST_HARNESS_MAIN
