// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Events in the middle of their copy to user memory (C6, C14): the page that a
 * reader's buffer lies on comes only when the test says so, by userfaultfd.
 * What needs the event waits as for any that was read; nothing else waits.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "call.h"
#include "fabric.h"
#include "scene.h"
#include "test.h"

#define PAGE 4096

/* A reader, and the page that it reads into; @read comes first. */
struct copy {
	struct call read;
	int uffd;
	char *page;
};

static int run_copy(struct call *call)
{
	struct copy *copy = (struct copy *)call;
	ssize_t size = read(call->fd, copy->page, PAGE - 1);

	if (size < 0)
		return -1;
	return event_parse(copy->page, size, &call->event) == size ? 0 : -1;
}

/* A page that nobody has touched, and whose first toucher waits. */
static int copy_prepare(struct copy *copy)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.range.len = PAGE, .mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	copy->page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	copy->uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (copy->page == MAP_FAILED || copy->uffd < 0)
		return -1;
	range.range.start = (uintptr_t)copy->page;
	return ioctl(copy->uffd, UFFDIO_API, &api) ||
	       ioctl(copy->uffd, UFFDIO_REGISTER, &range) ? -1 : 0;
}

/* The next event of @fd is read, and its copy has come to the page. */
static int copy_start(struct copy *copy, int fd)
{
	struct pollfd pollfd = { .events = POLLIN };
	struct uffd_msg message;

	if (copy_prepare(copy))
		return -1;
	copy->read = (struct call){ .fd = fd };
	call_start(&copy->read, run_copy);
	pollfd.fd = copy->uffd;
	if (poll(&pollfd, 1, PATIENCE_MS) != 1 ||
	    read(copy->uffd, &message, sizeof(message)) != sizeof(message) ||
	    message.event != UFFD_EVENT_PAGEFAULT) {
		fprintf(stderr, "# no copy came to the page\n");
		errno = EPROTO;
		return -1;
	}
	return 0;
}

/* The page comes: the reader returns with its event. */
static int copy_finish(struct copy *copy)
{
	struct uffdio_zeropage page = {
		.range = { .start = (uintptr_t)copy->page, .len = PAGE },
	};
	int ret;

	if (ioctl(copy->uffd, UFFDIO_ZEROPAGE, &page))
		return -1;
	ret = call_result(&copy->read);
	munmap(copy->page, PAGE);
	close(copy->uffd);
	return ret;
}

/* The page goes: the reader returns with EFAULT. */
static int copy_fail(struct copy *copy)
{
	struct uffdio_range range = { .start = (uintptr_t)copy->page, .len = PAGE };
	int ret;

	if (munmap(copy->page, PAGE) || ioctl(copy->uffd, UFFDIO_WAKE, &range))
		return -1;
	ret = call_result(&copy->read);
	close(copy->uffd);
	return ret;
}

/* The source's only event, ADDR_RESOLVED of the id, is in its copy. */
FIXTURE(copy) {
	int source;
	int target;
	__u32 id;
	struct copy copy;
	struct call call;
};

FIXTURE_SETUP(copy)
{
	test_ok(fabric_restore());
	self->source = channel_open();
	self->target = channel_open();
	ASSERT_LE(0, self->source);
	ASSERT_LE(0, self->target);
	test_ok(id_with_pending(self->source, &self->id));
	test_ok(copy_start(&self->copy, self->source));
	self->call = (struct call){};
}

FIXTURE_TEARDOWN(copy)
{
	close(self->source);
	close(self->target);
	EXPECT_EQ(0, fabric_restore());
}

/* Start a migration of the id and see it wait. */
#define START() do {							\
	test_ok(call_start_migrate(&self->call, self->source, self->id,	\
				   self->target));			\
	ASSERT_TRUE(wait_until(call_blocked(&self->call)));		\
} while (0)

TEST_F(copy, c06_migration_waits_for_the_copy_and_the_acknowledgement)
{
	START();
	test_err(EBUSY, cmd_migrate_id(self->source, self->id, self->target));
	EXPECT_FALSE(readable(self->target));
	test_ok(copy_finish(&self->copy));
	EXPECT_EQ(self->id, self->copy.read.event.head.id);
	EXPECT_EQ(EV_ADDR_RESOLVED, self->copy.read.event.head.event);
	ASSERT_TRUE(id_has_state(self->source, self->id, RDMA_UCMX_ID_MIGRATING));
	ASSERT_FALSE(call_returned(&self->call));
	test_ok(cmd_ack(self->source, self->id, 1));
	test_ok(call_result(&self->call));
	EXPECT_TRUE(id_is_on(self->target, self->id));
	EXPECT_FALSE(readable(self->source));
	EXPECT_FALSE(readable(self->target));
}

/* Acknowledged by another before it is there: it is outstanding until then. */
TEST_F(copy, c09_acknowledged_in_the_middle)
{
	START();
	test_ok(cmd_ack(self->source, self->id, 1));
	test_err(EINVAL, cmd_ack(self->source, self->id, 1));
	test_err(EBUSY, cmd_migrate_id(self->source, self->id, self->target));
	ASSERT_TRUE(id_has_state(self->source, self->id, RDMA_UCMX_ID_MIGRATING));
	ASSERT_FALSE(call_returned(&self->call));
	test_ok(copy_finish(&self->copy));
	test_ok(call_result(&self->call));
	EXPECT_EQ(1, self->copy.read.event.head.seq);
	EXPECT_TRUE(id_is_on(self->target, self->id));
	EXPECT_FALSE(readable(self->target));
}

/* Put back as the first of its id's, while that is frozen. */
#define EXPECT_BOTH_ON(channel) do {					\
	struct event _ev;						\
									\
	test_ok(event_expect(channel, EV_ADDR_RESOLVED, &_ev));		\
	EXPECT_EQ(self->id, _ev.head.id);				\
	EXPECT_EQ(1, _ev.head.seq);					\
	test_ok(event_ack(channel, &_ev));				\
	test_ok(event_expect(channel, EV_ROUTE_RESOLVED, &_ev));	\
	EXPECT_EQ(self->id, _ev.head.id);				\
	EXPECT_EQ(2, _ev.head.seq);					\
	test_ok(event_ack(channel, &_ev));				\
	EXPECT_FALSE(readable(channel));				\
} while (0)

TEST_F(copy, c06_failed_copy_is_delivered_on_the_target)
{
	test_ok(cmd_resolve_route(self->source, self->id));
	ASSERT_TRUE(wait_until(id_has_pending(self->source, self->id, 1)));
	START();
	test_err(EFAULT, copy_fail(&self->copy));
	test_ok(call_result(&self->call));
	EXPECT_FALSE(readable(self->source));
	EXPECT_BOTH_ON(self->target);
}

/* Who acknowledged it did not know it: it is delivered all the same. */
TEST_F(copy, c03_failed_copy_of_an_acknowledged_event)
{
	test_ok(cmd_resolve_route(self->source, self->id));
	ASSERT_TRUE(wait_until(id_has_pending(self->source, self->id, 1)));
	START();
	test_ok(cmd_ack(self->source, self->id, 0));
	test_err(EFAULT, copy_fail(&self->copy));
	test_ok(call_result(&self->call));
	EXPECT_BOTH_ON(self->target);
}

TEST_F(copy, c07_failed_migration_then_failed_copy)
{
	count_signals(SIGUSR1, 0);
	test_ok(cmd_resolve_route(self->source, self->id));
	ASSERT_TRUE(wait_until(id_has_pending(self->source, self->id, 1)));
	test_err(EAGAIN, cmd_migrate_id_opt(self->source, self->id, self->target,
					    RDMA_UCMX_NONBLOCK, 0, 0));
	test_err(ETIMEDOUT, cmd_migrate_id_opt(self->source, self->id,
					       self->target, 0, 1, 0));
	START();
	call_signal(&self->call, SIGUSR1);
	test_err(EINTR, call_result(&self->call));
	test_err(EFAULT, copy_fail(&self->copy));
	EXPECT_EQ(0, channel_ids(self->target));
	EXPECT_BOTH_ON(self->source);
}

/* Nobody holds an event that its reader has not got yet. */
TEST_F(copy, c08_held_event_in_the_middle)
{
	test_err(EAGAIN, cmd_migrate_id_opt(self->source, self->id, self->target,
					    RDMA_UCMX_NONBLOCK, 0, 1));
	test_err(EAGAIN, cmd_destroy_id_opt(self->source, self->id,
					    RDMA_UCMX_NONBLOCK, 0, 1));
	test_ok(copy_finish(&self->copy));
	test_ok(cmd_migrate_id_opt(self->source, self->id, self->target,
				   RDMA_UCMX_NONBLOCK, 0, 1));
	EXPECT_TRUE(id_is_on(self->target, self->id));
}

/* A reader that does not block is told when there is something for it. */
TEST_F(copy, c06_nonblocking_reader_meanwhile)
{
	struct epoll_event event, interest = { .events = EPOLLIN | EPOLLET };
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	char record[RDMA_UCMX_READ_MIN];

	ASSERT_LE(0, epoll);
	test_ok(epoll_ctl(epoll, EPOLL_CTL_ADD, self->source, &interest));
	test_ok(cmd_resolve_route(self->source, self->id));
	ASSERT_EQ(1, epoll_wait(epoll, &event, 1, PATIENCE_MS));
	test_ok(fcntl(self->source, F_SETFL, O_NONBLOCK));
	test_err(EAGAIN, read(self->source, record, sizeof(record)));
	ASSERT_EQ(0, epoll_wait(epoll, &event, 1, 0));
	test_ok(copy_finish(&self->copy));
	ASSERT_EQ(1, epoll_wait(epoll, &event, 1, PATIENCE_MS));
	test_ok(event_take(self->source, EV_ROUTE_RESOLVED, self->id));
	close(epoll);
}

/* One that blocks waits its turn, and can be interrupted. */
TEST_F(copy, c06_second_reader_meanwhile)
{
	count_signals(SIGUSR1, 0);
	test_ok(cmd_resolve_route(self->source, self->id));
	ASSERT_TRUE(wait_until(id_has_pending(self->source, self->id, 1)));
	self->call.fd = self->source;
	call_start(&self->call, run_read);
	ASSERT_TRUE(wait_until(call_blocked(&self->call)));
	call_signal(&self->call, SIGUSR1);
	test_err(EINTR, call_result(&self->call));
	call_start(&self->call, run_read);
	ASSERT_TRUE(wait_until(call_blocked(&self->call)));
	test_ok(copy_finish(&self->copy));
	test_ok(call_result(&self->call));
	EXPECT_EQ(1, self->copy.read.event.head.seq);
	EXPECT_EQ(2, self->call.event.head.seq);
}

/* Other ids of the channel, and other channels, go on. */
TEST_F(copy, c06_others_are_not_held_up)
{
	int server = channel_open(), client = channel_open();
	struct connection connection;
	__u32 other;

	ASSERT_LE(0, server);
	ASSERT_LE(0, client);
	START();
	test_ok(connection_open(server, client, ADDR1, &connection));
	test_ok(cmd_disconnect(client, connection.client));
	test_ok(event_take(server, EV_DISCONNECTED, connection.child));
	/* On the same channel: commands, events, a migration, a destroy. */
	test_ok(id_with_pending(self->source, &other));
	test_ok(cmd_resolve_route(self->source, self->id));
	ASSERT_TRUE(wait_until(id_has_pending(self->source, self->id, 1)));
	test_ok(cmd_migrate_id(self->source, other, self->target));
	test_ok(event_take(self->target, EV_ADDR_RESOLVED, other));
	test_ok(cmd_create_id(self->source, PS_TCP, 0, &other));
	test_ok(cmd_destroy_id(self->source, other));
	ASSERT_FALSE(call_returned(&self->copy.read));
	ASSERT_FALSE(call_returned(&self->call));
	test_ok(copy_finish(&self->copy));
	test_ok(cmd_ack(self->source, self->id, 1));
	test_ok(call_result(&self->call));
	test_ok(event_take(self->target, EV_ROUTE_RESOLVED, self->id));
	close(server);
	close(client);
}

TEST_F(copy, c14_removal_meanwhile)
{
	struct event ev;

	START();
	test_ok(fabric_removed(fabric_remove()));
	ASSERT_FALSE(call_returned(&self->copy.read));
	ASSERT_FALSE(call_returned(&self->call));
	ASSERT_TRUE(id_has_state(self->source, self->id, RDMA_UCMX_ID_MIGRATING |
							 RDMA_UCMX_ID_GONE));
	test_ok(copy_finish(&self->copy));
	test_ok(cmd_ack(self->source, self->id, 1));
	test_ok(call_result(&self->call));
	test_ok(event_expect(self->target, EV_DEVICE_REMOVAL, &ev));
	EXPECT_EQ(self->id, ev.head.id);
	EXPECT_EQ(2, ev.head.seq);
	test_ok(event_ack(self->target, &ev));
}

TEST_F(copy, c14_removal_and_a_failed_copy)
{
	START();
	test_ok(fabric_removed(fabric_remove()));
	test_err(EFAULT, copy_fail(&self->copy));
	test_ok(call_result(&self->call));
	test_ok(event_take(self->target, EV_ADDR_RESOLVED, self->id));
	test_ok(event_take(self->target, EV_DEVICE_REMOVAL, self->id));
	EXPECT_FALSE(readable(self->source));
}

/* The id dies at once, its event goes with the copy that fails. */
TEST_F(copy, c17_destroyed_in_the_middle)
{
	self->call = (struct call){ .fd = self->source, .id = self->id };
	call_start(&self->call, run_destroy);
	ASSERT_TRUE(wait_until(id_has_state(self->source, self->id,
					    RDMA_UCMX_ID_DYING)));
	ASSERT_TRUE(wait_until(call_blocked(&self->call)));
	test_err(EFAULT, copy_fail(&self->copy));
	test_ok(call_result(&self->call));
	EXPECT_FALSE(readable(self->source));
	EXPECT_EQ(0, channel_ids(self->source));
}

/* A process that is killed in its copy never had the event. */
TEST(c05_reader_killed_in_the_middle)
{
	struct rdma_ucmx_id_info info;
	int fd = channel_open(), status;
	struct copy copy;
	pid_t reader;
	__u32 id;

	ASSERT_LE(0, fd);
	test_ok(id_with_pending(fd, &id));
	reader = fork();
	ASSERT_LE(0, reader);
	if (!reader) {
		if (!copy_prepare(&copy))
			(void)!read(fd, copy.page, PAGE);
		_exit(1);
	}
	ASSERT_TRUE(wait_until(!id_has_pending(fd, id, 1)));
	test_ok(id_info(fd, id, &info));
	EXPECT_EQ(1, info.outstanding);
	EXPECT_EQ((__u32)reader, info.oldest_reader);
	ASSERT_TRUE(wait_until(task_sleeps(reader)));
	ASSERT_EQ(0, kill(reader, SIGKILL));
	ASSERT_EQ(reader, waitpid(reader, &status, 0));
	ASSERT_TRUE(WIFSIGNALED(status));
	test_ok(event_take(fd, EV_ADDR_RESOLVED, id));
	test_ok(cmd_destroy_id(fd, id));
	close(fd);
}

TEST_HARNESS_MAIN
