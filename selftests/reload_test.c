// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The module goes and comes (C18): not while somebody holds a channel, and two
 * hundred times with connections and events in between, of which nothing is left.
 *
 * Every test begins and ends with the module loaded, from the file that the
 * machine was booted with.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "call.h"
#include "iwarp.h"
#include "pass_fd.h"
#include "scene.h"
#include "test.h"

static int load(void)
{
	const char *path = getenv("UCMX_MODULE");
	int fd = open(path ? path : "", O_RDONLY | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return -1;
	ret = syscall(SYS_finit_module, fd, "", 0);
	close(fd);
	return ret;
}

static int unload(void)
{
	return syscall(SYS_delete_module, "rdma_ucmx", O_NONBLOCK);
}

static bool loaded(void)
{
	return !access("/sys/module/rdma_ucmx", F_OK);
}

FIXTURE(reload) {
	int source;
	int target;
};

FIXTURE_SETUP(reload)
{
	if (!loaded())
		test_ok(load());
	self->source = channel_open();
	self->target = channel_open();
	ASSERT_LE(0, self->source);
	ASSERT_LE(0, self->target);
}

FIXTURE_TEARDOWN(reload)
{
	close(self->source);
	close(self->target);
	EXPECT_TRUE(loaded() || !load());
}

static int close_both(int *source, int *target)
{
	int ret = close(*source) | close(*target);

	*source = -1;
	*target = -1;
	return ret;
}

#define CLOSE_BOTH() test_ok(close_both(&self->source, &self->target))

/* It is refused, and has changed nothing. */
TEST_F(reload, c18_not_while_a_channel_is_open)
{
	struct event ev;
	__u32 id;

	test_ok(id_with_pending(self->source, &id));
	test_err(EAGAIN, unload());
	test_ok(event_read(self->source, &ev));
	test_err(EAGAIN, unload());
	test_ok(event_ack(self->source, &ev));
	test_ok(cmd_destroy_id(self->source, id));
	test_err(EAGAIN, unload());
	CLOSE_BOTH();
	test_ok(unload());
	EXPECT_FALSE(loaded());
}

TEST_F(reload, c18_not_while_a_channel_is_under_way)
{
	int pair[2];

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	test_ok(send_fd(pair[0], self->source));
	CLOSE_BOTH();
	test_err(EAGAIN, unload());
	close(pair[0]);
	test_err(EAGAIN, unload());
	close(pair[1]);
	ASSERT_TRUE(wait_until(!unload()));
}

/* A call that waits holds both channels, though no descriptor does any more. */
TEST_F(reload, c18_not_while_a_migration_waits)
{
	struct call call = {};
	__u32 id;

	count_signals(SIGUSR1, 0);
	test_ok(id_with_outstanding(self->source, &id));
	call.fd = self->source;
	call.id = id;
	call.target = self->target;
	test_ok(call_start_migrate(&call, self->source, id, self->target));
	CLOSE_BOTH();
	test_err(EAGAIN, unload());
	call_signal(&call, SIGUSR1);
	test_err(EINTR, call_result(&call));
	ASSERT_TRUE(wait_until(!unload()));
}

/* Entries of @folder whose names begin as the module's do; -1 without folder. */
static int entries(const char *folder, const char *prefix)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int n = 0;

	if (!dir)
		return -1;
	while ((entry = readdir(dir)))
		n += !strncmp(entry->d_name, prefix, strlen(prefix));
	closedir(dir);
	return n;
}

/* How often a module of the kernel's is used. */
static int users(const char *module)
{
	char path[64], text[16] = "";
	int fd;

	snprintf(path, sizeof(path), "/sys/module/%s/refcnt", module);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(fd);
	return atoi(text);
}

#define EXPECT_ENTRIES(n) do {						\
	EXPECT_EQ(n, entries("/sys/module", "rdma_ucmx"));		\
	EXPECT_EQ(n, entries("/sys/class/misc", "rdma_ucmx"));		\
	EXPECT_EQ(n, entries("/dev/infiniband", "rdma_ucmx"));		\
	EXPECT_EQ(n, entries("/sys/kernel/debug/tracing/events", "rdma_ucmx")); \
	EXPECT_EQ(!!(n), !!entries("/sys/kernel/slab", "ucmx_"));	\
} while (0)

/* What the channels are closed with, one way after the other. */
static int leave_something(int server, int client, unsigned int way)
{
	struct connection connection;
	struct event ev;
	__u32 ids[2];

	if (connection_open(server, client, ADDR1, &connection) ||
	    cmd_write_event(client, connection.client, EV_USER, 0, way))
		return -1;
	switch (way % 4) {
	case 0:		/* an unread event */
		return 0;
	case 1:		/* one that has not been acknowledged */
		return event_expect(client, EV_USER, &ev);
	case 2:		/* requests that nobody has read */
		return event_take(client, EV_USER, connection.client) ||
		       clients_connect(client, ADDR1, connection.port, 2, ids) ||
		       !wait_until(readable(server)) ? -1 : 0;
	default:	/* an id that has moved, with its event */
		return cmd_migrate_id(client, connection.client, server);
	}
}

TEST_F(reload, c18_two_hundred_times)
{
	int rdma_cm = users("rdma_cm"), verbs = users("ib_uverbs");
	unsigned int n;

	CLOSE_BOTH();
	EXPECT_ENTRIES(1);
	for (n = 0; n < scaled(200); n++) {
		self->source = channel_open();
		self->target = channel_open();
		ASSERT_LE(0, self->source);
		ASSERT_LE(0, self->target);
		test_ok(leave_something(self->source, self->target, n));
		CLOSE_BOTH();
		/* They use ib_uverbs, too. */
		iwarp_let_go();
		test_ok(unload());
		EXPECT_ENTRIES(0);
		EXPECT_EQ(rdma_cm - 1, users("rdma_cm"));
		EXPECT_EQ(verbs - 1, users("ib_uverbs"));
		test_ok(load());
	}
	EXPECT_ENTRIES(1);
	EXPECT_EQ(rdma_cm, users("rdma_cm"));
	EXPECT_EQ(verbs, users("ib_uverbs"));
}

TEST_HARNESS_MAIN
