// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reading, polling, acknowledging and listing, as far as migration has no part
 * in it.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>

#include "call.h"
#include "scene.h"
#include "test.h"

FIXTURE(event) {
	int fd;
	int client;
};

FIXTURE_SETUP(event)
{
	self->fd = channel_open();
	self->client = channel_open();
	ASSERT_LE(0, self->fd);
	ASSERT_LE(0, self->client);
}

FIXTURE_TEARDOWN(event)
{
	close(self->fd);
	close(self->client);
}

/* Ids whose ADDR_RESOLVED are pending in the order of the array. */
#define test_ids_with_pending(fd, ids) do {				\
	for (unsigned int _i = 0; _i < ARRAY_LEN(ids); _i++)		\
		test_ok(id_with_pending(fd, &(ids)[_i]));		\
} while (0)

/* C2: in the order of arrival, over all ids. */
TEST_F(event, c02_order_of_arrival_over_all_ids)
{
	__u32 ids[20];
	unsigned int i;
	struct event ev;

	test_ids_with_pending(self->fd, ids);
	/* Second events of the first ids arrive after all first ones. */
	for (i = 0; i < 5; i++) {
		test_ok(cmd_resolve_route(self->fd, ids[i]));
		ASSERT_TRUE(wait_until(id_has_pending(self->fd, ids[i], 2)));
	}
	for (i = 0; i < ARRAY_LEN(ids); i++) {
		test_ok(event_expect(self->fd, EV_ADDR_RESOLVED, &ev));
		EXPECT_EQ(ids[i], ev.head.id);
		EXPECT_EQ(1, ev.head.seq);
	}
	for (i = 0; i < 5; i++) {
		test_ok(event_expect(self->fd, EV_ROUTE_RESOLVED, &ev));
		EXPECT_EQ(ids[i], ev.head.id);
		EXPECT_EQ(2, ev.head.seq);
	}
	test_err(EAGAIN, event_read_now(self->fd, &ev));
}

/* C4: as many as there are and fit, each beginning with its size. */
TEST_F(event, c04_many_in_one_read)
{
	char buffer[8 * RDMA_UCMX_READ_MIN] __attribute__((aligned(8)));
	__u32 ids[10];
	ssize_t size, at = 0, record;
	unsigned int n = 0;
	struct event ev;

	test_ids_with_pending(self->fd, ids);
	size = read(self->fd, buffer, sizeof(buffer));
	ASSERT_LT(0, size);
	for (; at < size; at += record) {
		record = event_parse(buffer + at, size - at, &ev);
		ASSERT_LT(0, record);
		ASSERT_LT(n, ARRAY_LEN(ids));
		EXPECT_EQ(ids[n++], ev.head.id);
	}
	EXPECT_EQ(ARRAY_LEN(ids), n);
	EXPECT_EQ(size, at);
}

/* C4: what does not fit stays, an error only if nothing was read. */
TEST_F(event, c04_what_does_not_fit_stays)
{
	char buffer[RDMA_UCMX_READ_MIN] __attribute__((aligned(8)));
	__u32 ids[40];
	unsigned int n = 0;
	struct event ev;
	ssize_t size, at, record;

	test_ids_with_pending(self->fd, ids);
	while (n < ARRAY_LEN(ids)) {
		size = read(self->fd, buffer, sizeof(buffer));
		ASSERT_LT(0, size);
		for (at = 0; at < size; at += record) {
			record = event_parse(buffer + at, size - at, &ev);
			ASSERT_LT(0, record);
			ASSERT_LT(n, ARRAY_LEN(ids));
			EXPECT_EQ(ids[n++], ev.head.id);
		}
	}
	test_err(EAGAIN, event_read_now(self->fd, &ev));
}

TEST_F(event, c04_short_buffers_are_einval)
{
	char buffer[RDMA_UCMX_READ_MIN];
	__u32 id;
	struct event ev;
	size_t size;

	/* Whether or not there is an event. */
	test_err(EINVAL, read(self->fd, buffer, 0));
	test_err(EINVAL, read(self->fd, buffer, sizeof(struct rdma_ucmx_event) - 1));
	test_ok(id_with_pending(self->fd, &id));
	size = sizeof(struct rdma_ucmx_event) + sizeof(struct rdma_ucmx_route);
	test_err(EINVAL, read(self->fd, buffer, sizeof(struct rdma_ucmx_event)));
	test_err(EINVAL, read(self->fd, buffer, size - 1));
	/* Nothing was consumed, and the exact size is enough. */
	ASSERT_EQ((ssize_t)size, read(self->fd, buffer, size));
	ASSERT_EQ((ssize_t)size, event_parse(buffer, size, &ev));
	EXPECT_EQ(1, ev.head.seq);
}

/* C2, C3: a failed read consumes nothing and keeps the order. */
TEST_F(event, c03_unwritable_buffers_lose_nothing)
{
	__u32 ids[3];
	char *volatile nowhere = (char *)8;
	unsigned int i;
	struct event ev;
	char *page;

	page = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, page);
	ASSERT_EQ(0, munmap(page + 4096, 4096));
	test_ids_with_pending(self->fd, ids);
	for (i = 0; i < 3; i++) {
		test_err(EFAULT, read(self->fd, nowhere, 4096));
		/* It fails in the middle of the record. */
		test_err(EFAULT, read(self->fd, page + 4096 - 100, 4096));
	}
	/* Room for one: that one is returned, the next put back. */
	ASSERT_LT(0, read(self->fd, page + 4096 - 300, 4096));
	for (i = 1; i < ARRAY_LEN(ids); i++) {
		test_ok(event_expect(self->fd, EV_ADDR_RESOLVED, &ev));
		EXPECT_EQ(ids[i], ev.head.id);
		EXPECT_EQ(1, ev.head.seq);
	}
	for (i = 0; i < ARRAY_LEN(ids); i++)
		test_ok(cmd_ack(self->fd, ids[i], 1));
}

TEST_F(event, cookies_come_back)
{
	struct rdma_ucmx_addr dst = addr(ADDR1, 7);
	struct rdma_ucmx_id_info info;
	__u64 cookie = 0xfedcba9876543210ULL;
	struct event ev;
	__u32 id;

	test_ok(cmd_create_id(self->fd, PS_TCP, cookie, &id));
	test_ok(cmd_resolve_addr(self->fd, id, NULL, &dst));
	test_ok(event_expect(self->fd, EV_ADDR_RESOLVED, &ev));
	EXPECT_EQ(cookie, ev.head.cookie);
	test_ok(id_info(self->fd, id, &info));
	EXPECT_EQ(cookie, info.cookie);
}

TEST_F(event, c05_second_acknowledgement_is_einval)
{
	__u32 id;

	test_ok(id_with_pending(self->fd, &id));
	/* Pending is not outstanding. */
	test_err(EINVAL, cmd_ack(self->fd, id, 1));
	test_ok(event_take(self->fd, EV_ADDR_RESOLVED, id));
	test_err(EINVAL, cmd_ack(self->fd, id, 1));
	test_err(EINVAL, cmd_ack(self->fd, id, 2));
	test_err(EINVAL, cmd_ack(self->fd, id, ~0ULL));
}

TEST_F(event, c05_acknowledge_says_how_many)
{
	struct rdma_ucmx_ack acks[40];
	__u32 ids[ARRAY_LEN(acks)];
	unsigned int i;
	struct event ev;

	test_ids_with_pending(self->fd, ids);
	for (i = 0; i < ARRAY_LEN(ids); i++) {
		test_ok(event_expect(self->fd, EV_ADDR_RESOLVED, &ev));
		acks[i] = (struct rdma_ucmx_ack){ .id = ids[i], .seq = 1 };
	}
	/* It stops at the first that cannot be, which is an error alone. */
	acks[30].seq = 2;
	ASSERT_EQ(30, cmd_ack_events(self->fd, acks, ARRAY_LEN(acks)));
	test_err(EINVAL, cmd_ack_events(self->fd, acks + 30, 10));
	test_err(EINVAL, cmd_ack_events(self->fd, acks, 1));
	acks[30].seq = 1;
	ASSERT_EQ(10, cmd_ack_events(self->fd, acks + 30, 10));
	test_err(EINVAL, cmd_ack_events(self->fd, acks, 0));
	test_err(EFAULT, cmd_ack_events(self->fd, NULL, 1));
	acks[0].id = 0x7fffffff;
	test_err(ENOENT, cmd_ack_events(self->fd, acks, 1));
}

TEST_F(event, c05_acknowledge_all_of_an_id)
{
	struct rdma_ucmx_id_info info;
	struct event ev;
	__u32 id, other;

	test_ok(id_with_outstanding(self->fd, &other));
	test_ok(id_with_outstanding(self->fd, &id));
	test_ok(cmd_resolve_route(self->fd, id));
	test_ok(event_expect(self->fd, EV_ROUTE_RESOLVED, &ev));
	test_ok(id_info(self->fd, id, &info));
	EXPECT_EQ(2, info.outstanding);
	test_ok(cmd_ack(self->fd, id, 0));
	test_ok(id_info(self->fd, id, &info));
	EXPECT_EQ(0, info.outstanding);
	test_err(EINVAL, cmd_ack(self->fd, id, 1));
	test_err(EINVAL, cmd_ack(self->fd, id, 2));
	/* Of this id, not of all. */
	test_ok(cmd_ack(self->fd, other, 1));
}

/* C5: what is outstanding can be seen: since when, and read by whom. */
TEST_F(event, c05_outstanding_events_can_be_seen)
{
	struct rdma_ucmx_id_info info;
	__u64 before = now_ns();
	struct event ev;
	pid_t child;
	int status;
	__u32 id;

	test_ok(id_with_pending(self->fd, &id));
	test_ok(id_info(self->fd, id, &info));
	EXPECT_EQ(1, info.pending);
	EXPECT_EQ(0, info.outstanding);
	EXPECT_EQ(0, info.oldest_reader);
	EXPECT_EQ(0, info.oldest_time);
	EXPECT_EQ(0, info.oldest_seq);
	child = fork();
	if (!child)
		_exit(event_read(self->fd, &ev) ? 1 : 0);
	ASSERT_LT(0, child);
	ASSERT_EQ(child, waitpid(child, &status, 0));
	ASSERT_EQ(0, status);
	test_ok(id_info(self->fd, id, &info));
	EXPECT_EQ(1, info.outstanding);
	EXPECT_EQ((__u32)child, info.oldest_reader);

	test_ok(cmd_resolve_route(self->fd, id));
	test_ok(event_expect(self->fd, EV_ROUTE_RESOLVED, &ev));
	test_ok(id_info(self->fd, id, &info));
	EXPECT_EQ(0, info.pending);
	EXPECT_EQ(2, info.outstanding);
	EXPECT_EQ(1, info.oldest_seq);
	EXPECT_EQ((__u32)child, info.oldest_reader);
	/* A reader that died blocks nobody for ever. */
	test_ok(cmd_ack(self->fd, id, 1));
	test_ok(id_info(self->fd, id, &info));
	EXPECT_EQ(2, info.oldest_seq);
	EXPECT_EQ((__u32)getpid(), info.oldest_reader);
	EXPECT_LE(before, info.oldest_time);
	EXPECT_GE(now_ns(), info.oldest_time);
}

TEST_F(event, list_ids_in_parts)
{
	struct rdma_ucmx_id_info infos[8];
	unsigned int i, n = 0;
	__u32 first = 0;
	int other, ret;
	__u32 ids[20], foreign;

	other = channel_open();
	ASSERT_LE(0, other);
	for (i = 0; i < ARRAY_LEN(ids); i++) {
		test_ok(cmd_create_id(self->fd, PS_TCP, i, &ids[i]));
		test_ok(cmd_create_id(other, PS_TCP, i, &foreign));
	}
	do {
		ret = cmd_list_ids(self->fd, first, infos, ARRAY_LEN(infos));
		ASSERT_LE(0, ret);
		for (i = 0; i < (unsigned int)ret; i++, n++) {
			ASSERT_GT(ARRAY_LEN(ids), infos[i].cookie);
			EXPECT_EQ(ids[infos[i].cookie], infos[i].id);
			EXPECT_LE(first, infos[i].id);
			EXPECT_EQ(0, infos[i].state);
			first = infos[i].id + 1;
		}
	} while (ret == ARRAY_LEN(infos));
	EXPECT_EQ(ARRAY_LEN(ids), n);
	test_err(EINVAL, cmd_list_ids(self->fd, 0, infos, 0));
	test_err(EFAULT, cmd_list_ids(self->fd, 0, NULL, 1));
}

/* A blocked read of a channel without ids simply waits. */
TEST_F(event, blocked_reader_is_woken)
{
	struct call reader = { .fd = self->fd };
	__u32 id;

	call_start(&reader, run_read);
	ASSERT_TRUE(wait_until(call_blocked(&reader)));
	test_ok(id_with_pending(self->client, &id));
	ASSERT_FALSE(call_returned(&reader));
	{
		struct rdma_ucmx_addr dst = addr(ADDR1, 7);

		test_ok(cmd_create_id(self->fd, PS_TCP, 0, &id));
		test_ok(cmd_resolve_addr(self->fd, id, NULL, &dst));
	}
	test_ok(call_result(&reader));
	EXPECT_EQ(id, reader.event.head.id);
}

TEST_F(event, blocked_reader_is_interrupted)
{
	struct call reader = { .fd = self->fd };
	__u32 id;

	count_signals(SIGUSR1, 0);
	call_start(&reader, run_read);
	ASSERT_TRUE(wait_until(call_blocked(&reader)));
	call_signal(&reader, SIGUSR1);
	test_err(EINTR, call_result(&reader));
	/* And restarted where the handler asks for it. */
	count_signals(SIGUSR1, SA_RESTART);
	call_start(&reader, run_read);
	ASSERT_TRUE(wait_until(call_blocked(&reader)));
	call_signal(&reader, SIGUSR1);
	ASSERT_TRUE(wait_until(signals_counted == 1));
	ASSERT_TRUE(wait_until(call_blocked(&reader)));
	{
		struct rdma_ucmx_addr dst = addr(ADDR1, 7);

		test_ok(cmd_create_id(self->fd, PS_TCP, 0, &id));
		test_ok(cmd_resolve_addr(self->fd, id, NULL, &dst));
	}
	test_ok(call_result(&reader));
}

/* read is a cancellation point. */
TEST_F(event, blocked_reader_is_cancelled)
{
	struct call reader = { .fd = self->fd };
	void *result;

	call_start(&reader, run_read);
	ASSERT_TRUE(wait_until(call_blocked(&reader)));
	ASSERT_EQ(0, pthread_cancel(reader.thread));
	ASSERT_EQ(0, pthread_join(reader.thread, &result));
	EXPECT_EQ(PTHREAD_CANCELED, result);
}

TEST_F(event, nonblocking_reads_are_eagain)
{
	int fd = channel_open_nonblock();
	char buffer[RDMA_UCMX_READ_MIN];
	__u32 id;

	ASSERT_LE(0, fd);
	test_err(EAGAIN, read(fd, buffer, sizeof(buffer)));
	test_ok(id_with_pending(fd, &id));
	ASSERT_LT(0, read(fd, buffer, sizeof(buffer)));
	test_err(EAGAIN, read(fd, buffer, sizeof(buffer)));
	/* The flag can be changed at any time. */
	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, O_NONBLOCK));
	test_err(EAGAIN, read(self->fd, buffer, sizeof(buffer)));
}

TEST_F(event, poll_and_epoll)
{
	struct epoll_event event, interest = { .events = EPOLLIN | EPOLLET };
	int epoll = epoll_create1(0);
	__u32 ids[2];

	ASSERT_LE(0, epoll);
	ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_ADD, self->fd, &interest));
	ASSERT_EQ(0, epoll_wait(epoll, &event, 1, 0));
	ASSERT_FALSE(readable(self->fd));
	test_ok(id_with_pending(self->fd, &ids[0]));
	ASSERT_TRUE(readable(self->fd));
	ASSERT_EQ(1, epoll_wait(epoll, &event, 1, PATIENCE_MS));
	EXPECT_EQ(EPOLLIN, event.events);
	/* Edge-triggered: once for an event, again for the next. */
	ASSERT_EQ(0, epoll_wait(epoll, &event, 1, 0));
	test_ok(id_with_pending(self->fd, &ids[1]));
	ASSERT_EQ(1, epoll_wait(epoll, &event, 1, PATIENCE_MS));
	test_ok(event_take(self->fd, EV_ADDR_RESOLVED, ids[0]));
	ASSERT_TRUE(readable(self->fd));
	test_ok(event_take(self->fd, EV_ADDR_RESOLVED, ids[1]));
	ASSERT_FALSE(readable(self->fd));
	ASSERT_EQ(0, epoll_wait(epoll, &event, 1, 0));
}

/* Each event exactly once, whoever reads. */
TEST_F(event, c03_many_readers_share_a_channel)
{
	struct call readers[8];
	bool seen[ARRAY_LEN(readers)] = {};
	__u32 ids[ARRAY_LEN(readers)];
	unsigned int i, j;

	for (i = 0; i < ARRAY_LEN(readers); i++) {
		readers[i] = (struct call){ .fd = self->fd };
		call_start(&readers[i], run_read);
	}
	for (i = 0; i < ARRAY_LEN(ids); i++) {
		struct rdma_ucmx_addr dst = addr(ADDR1, 7);

		test_ok(cmd_create_id(self->fd, PS_TCP, i, &ids[i]));
		test_ok(cmd_resolve_addr(self->fd, ids[i], NULL, &dst));
	}
	for (i = 0; i < ARRAY_LEN(readers); i++) {
		test_ok(call_result(&readers[i]));
		j = readers[i].event.head.cookie;
		ASSERT_LT(j, ARRAY_LEN(ids));
		EXPECT_EQ(ids[j], readers[i].event.head.id);
		EXPECT_FALSE(seen[j]);
		seen[j] = true;
	}
	ASSERT_FALSE(readable(self->fd));
}

TEST_HARNESS_MAIN
