// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Growth is bounded (C19): limits of ids, of one channel and in all, a target
 * that is full, and who pays for memory.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "scene.h"
#include "test.h"

#define PARAMETERS "/sys/module/rdma_ucmx/parameters/"

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), err;
	ssize_t ret;

	if (fd < 0)
		return -1;
	ret = write(fd, text, strlen(text));
	err = errno;
	close(fd);
	errno = err;
	return ret == (ssize_t)strlen(text) ? 0 : -1;
}

static int set_limit(const char *path, __u32 limit)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", limit);
	return write_file(path, text);
}

#define SET_CHANNEL_LIMIT(n) \
	test_ok(set_limit(PARAMETERS "max_channel_ids", n))
#define SET_LIMIT(n) test_ok(set_limit(PARAMETERS "max_ids", n))

FIXTURE(limit) {
	int source;
	int target;
	struct rdma_ucmx_info was;
};

FIXTURE_SETUP(limit)
{
	self->source = channel_open();
	self->target = channel_open();
	ASSERT_LE(0, self->source);
	ASSERT_LE(0, self->target);
	test_ok(cmd_info(self->source, &self->was));
}

FIXTURE_TEARDOWN(limit)
{
	EXPECT_EQ(0, set_limit(PARAMETERS "max_ids", self->was.out_max_ids));
	EXPECT_EQ(0, set_limit(PARAMETERS "max_channel_ids",
			       self->was.out_max_channel_ids));
	EXPECT_EQ(0, set_limit(PARAMETERS "max_user_events",
			       self->was.out_max_user_events));
	EXPECT_EQ(0, set_limit(PARAMETERS "max_groups",
			       self->was.out_max_groups));
	close(self->source);
	close(self->target);
}

TEST_F(limit, c19_ids_of_a_channel)
{
	struct rdma_ucmx_info info;
	__u32 ids[3];

	SET_CHANNEL_LIMIT(2);
	test_ok(cmd_info(self->source, &info));
	EXPECT_EQ(2, info.out_max_channel_ids);
	test_ok(cmd_create_id(self->source, PS_TCP, 0, &ids[0]));
	test_ok(cmd_create_id(self->source, PS_TCP, 0, &ids[1]));
	test_err(ENOSPC, cmd_create_id(self->source, PS_TCP, 0, &ids[2]));
	EXPECT_EQ(2, channel_ids(self->source));
	/* Of one channel, and there is room again after a destroy. */
	test_ok(cmd_create_id(self->target, PS_TCP, 0, &ids[2]));
	test_ok(cmd_destroy_id(self->source, ids[0]));
	test_ok(cmd_create_id(self->source, PS_TCP, 0, &ids[0]));
	test_err(ENOSPC, cmd_create_id(self->source, PS_TCP, 0, &ids[0]));
}

/* Ids of earlier tests may be on their last way: so count with patience. */
TEST_F(limit, c19_ids_in_all)
{
	struct rdma_ucmx_info info;
	unsigned int i;
	__u32 ids[4];

	SET_LIMIT(ARRAY_LEN(ids));
	test_ok(cmd_info(self->source, &info));
	EXPECT_EQ(ARRAY_LEN(ids), info.out_max_ids);
	for (i = 0; i < ARRAY_LEN(ids); i++) {
		int fd = i % 2 ? self->source : self->target;

		ASSERT_TRUE(wait_until(!cmd_create_id(fd, PS_TCP, 0, &ids[i])));
	}
	test_err(ENOSPC, cmd_create_id(self->source, PS_TCP, 0, &ids[0]));
	test_err(ENOSPC, cmd_create_id(self->target, PS_TCP, 0, &ids[0]));
	EXPECT_EQ(2, channel_ids(self->source));
	EXPECT_EQ(2, channel_ids(self->target));
	/* A migration needs none. */
	test_ok(cmd_migrate_id(self->target, ids[2], self->source));
	test_ok(cmd_destroy_id(self->source, ids[2]));
	ASSERT_TRUE(wait_until(!cmd_create_id(self->source, PS_TCP, 0, &ids[2])));
}

/* The source's event of the id first, then another's: nothing moved. */
TEST_F(limit, c19_full_target)
{
	struct rdma_ucmx_id_info info;
	struct event ev;
	__u32 id, other, full;

	test_ok(id_with_pending(self->source, &id));
	test_ok(id_with_pending(self->source, &other));
	test_ok(cmd_create_id(self->target, PS_TCP, 0, &full));
	SET_CHANNEL_LIMIT(1);
	test_err(ENOSPC, cmd_migrate_id(self->source, id, self->target));
	test_err(ENOSPC, cmd_migrate_id_opt(self->source, id, self->target,
					    RDMA_UCMX_ANNOUNCE, 0, 0));
	test_err(ENOSPC, cmd_migrate_id_cookie(self->source, id, self->target, 5));
	EXPECT_EQ(1, channel_ids(self->target));
	EXPECT_FALSE(readable(self->target));
	test_ok(id_info(self->source, id, &info));
	EXPECT_EQ(0, info.state);
	EXPECT_EQ(0, info.cookie);
	EXPECT_EQ(1, info.pending);
	test_ok(event_expect(self->source, EV_ADDR_RESOLVED, &ev));
	EXPECT_EQ(id, ev.head.id);
	/* The event in hand does not count as acknowledged either. */
	test_err(ENOSPC, cmd_migrate_id_opt(self->source, id, self->target, 0, 0,
					    ev.head.seq));
	test_ok(event_ack(self->source, &ev));
	test_ok(event_take(self->source, EV_ADDR_RESOLVED, other));
	/* There is room, and none is left promised by what failed. */
	test_ok(cmd_destroy_id(self->target, full));
	test_ok(cmd_migrate_id(self->source, id, self->target));
	test_err(ENOSPC, cmd_migrate_id(self->source, other, self->target));
}

/* A listener needs room for its unread requests, too. */
TEST_F(limit, c19_full_for_a_listeners_requests)
{
	__u32 listener, clients[2];
	int client = channel_open();
	struct event ev;
	unsigned int i;
	__u16 port;

	ASSERT_LE(0, client);
	test_ok(listener_open(self->source, ADDR1, 8, &listener, &port));
	test_ok(clients_connect(client, ADDR1, port, ARRAY_LEN(clients), clients));
	ASSERT_TRUE(wait_until(channel_ids(self->source) == 3));
	SET_CHANNEL_LIMIT(2);
	test_err(ENOSPC, cmd_migrate_id(self->source, listener, self->target));
	EXPECT_EQ(3, channel_ids(self->source));
	EXPECT_EQ(0, channel_ids(self->target));
	EXPECT_FALSE(readable(self->target));
	SET_CHANNEL_LIMIT(3);
	test_ok(cmd_migrate_id(self->source, listener, self->target));
	for (i = 0; i < ARRAY_LEN(clients); i++) {
		test_ok(event_expect(self->target, EV_CONNECT_REQUEST, &ev));
		test_ok(event_ack(self->target, &ev));
		test_ok(cmd_destroy_id(self->target, ev.head.id));
	}
	close(client);
}

/* Whatever the command: what it would cause has no room, and nothing happens. */
TEST_F(limit, c19_events_that_commands_cause)
{
	struct rdma_ucmx_addr dst = addr(ADDR1, 7);
	struct rdma_ucmx_id_info info;
	struct event ev;
	__u32 id;

	test_ok(set_limit(PARAMETERS "max_user_events", 2));
	test_ok(cmd_create_id(self->source, PS_TCP, 0, &id));
	test_ok(cmd_write_event(self->source, id, EV_USER, 0, 1));
	test_ok(cmd_resolve_addr(self->source, id, NULL, &dst));
	ASSERT_TRUE(wait_until(id_has_pending(self->source, id, 2)));
	test_err(ENOSPC, cmd_write_event(self->source, id, EV_USER, 0, 2));
	test_err(ENOSPC, cmd_resolve_route(self->source, id));
	test_err(ENOSPC, cmd_migrate_id_opt(self->source, id, self->target,
					    RDMA_UCMX_ANNOUNCE, 0, 0));
	EXPECT_FALSE(readable(self->target));
	test_ok(id_info(self->source, id, &info));
	EXPECT_EQ(2, info.pending);
	/* It is acknowledging that makes room, not reading. */
	test_ok(event_expect(self->source, EV_USER, &ev));
	test_err(ENOSPC, cmd_resolve_route(self->source, id));
	test_ok(event_ack(self->source, &ev));
	test_ok(cmd_migrate_id_opt(self->source, id, self->target,
				   RDMA_UCMX_ANNOUNCE, 0, 0));
	test_err(ENOSPC, cmd_resolve_route(self->target, id));
	test_ok(event_take(self->target, EV_ARRIVED, id));
	test_ok(cmd_resolve_route(self->target, id));
	test_ok(event_take(self->target, EV_ADDR_RESOLVED, id));
	test_ok(event_take(self->target, EV_ROUTE_RESOLVED, id));
}

TEST_F(limit, c19_groups_of_an_id)
{
	struct rdma_ucmx_addr local = addr(ADDR1, 0);
	struct rdma_ucmx_addr groups[] = {
		addr("239.1.1.1", 0), addr("239.1.1.2", 0), addr("239.1.1.3", 0),
	};
	struct event ev;
	__u32 id, group, other;

	test_ok(set_limit(PARAMETERS "max_groups", 2));
	test_ok(cmd_create_id(self->source, PS_UDP, 0, &id));
	test_ok(cmd_bind_addr(self->source, id, &local));
	test_ok(cmd_join_mcast(self->source, id, &groups[0], 1, 0, &group));
	test_ok(cmd_join_mcast(self->source, id, &groups[1], 1, 0, &other));
	test_err(ENOSPC, cmd_join_mcast(self->source, id, &groups[2], 1, 0, &other));
	/* One that was left counts until its last event is acknowledged. */
	test_ok(event_expect(self->source, EV_MULTICAST_JOIN, &ev));
	group = ev.head.group;
	test_err(ETIMEDOUT, cmd_leave_mcast_opt(self->source, id, group, 0, 1, 0));
	test_err(ENOSPC, cmd_join_mcast(self->source, id, &groups[2], 1, 0, &other));
	test_ok(event_ack(self->source, &ev));
	test_ok(cmd_join_mcast(self->source, id, &groups[2], 1, 0, &other));
}

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

/* Bytes of slabs that the group pays for, or -1. */
static long long group_slab(void)
{
	FILE *file = fopen(GROUP "/memory.stat", "r");
	long long value = -1;
	char line[128];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "slab %lld", &value) == 1)
			break;
	}
	if (file)
		fclose(file);
	return value;
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

TEST_F(memory, c19_is_charged_to_the_caller)
{
	long long before, full;

	self->child = fork();
	if (!self->child)
		_exit(fill_in_group(self->tell[1], self->hear[0]));
	ASSERT_LT(0, self->child);
	close(self->tell[1]);
	test_ok(wait_for(self->tell[0]));
	before = group_slab();
	ASSERT_LE(0, before);
	go_on(self->hear[1]);
	test_ok(wait_for(self->tell[0]));
	/* More than 1 KiB for an id and its events. */
	EXPECT_TRUE(wait_until(group_slab() - before >= MANY * 1024));
	full = group_slab();
	TH_LOG("%lld bytes before, %lld with %d ids", before, full, MANY);
	go_on(self->hear[1]);
	test_ok(wait_for(self->tell[0]));
	/* The process lives, but what it made is paid back. */
	EXPECT_TRUE(wait_until(group_slab() - before < (full - before) / 10));
	go_on(self->hear[1]);
	test_ok(memory_child_ends(self));
}

#define REQUESTS 100

static int listen_in_group(int tell, int hear)
{
	int fd = channel_open();
	__u32 listener;
	__u16 port;

	if (fd < 0 || write_file(GROUP "/cgroup.procs", "0") ||
	    listener_open(fd, ADDR1, REQUESTS, &listener, &port) ||
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

TEST_HARNESS_MAIN
