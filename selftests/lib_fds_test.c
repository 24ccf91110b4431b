// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Descriptors, signals and threads of synchronous ids: how many descriptors
 * they take, what happens when there is none, and how a call ends early.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib_scene.h"
#include "lib_wait.h"
#include "test.h"

enum { IDS = 2000, LIMIT = 4096 };

static void limit_fds(int limit)
{
	struct rlimit rlimit;

	getrlimit(RLIMIT_NOFILE, &rlimit);
	rlimit.rlim_cur = limit;
	setrlimit(RLIMIT_NOFILE, &rlimit);
}

/* The lowest limit that lets no descriptor be opened. */
static void forbid_fds(void)
{
	int fd = dup(STDOUT_FILENO);

	close(fd);
	limit_fds(fd);
}

FIXTURE(fds) {
	struct rdma_cm_id *listener;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
};

FIXTURE_SETUP(fds)
{
	self->channel = rdma_create_event_channel();
	ASSERT_NE(NULL, self->channel);
	self->listener = listener_open(NULL, ADDR1, 8);
	ASSERT_NE(NULL, self->listener);
	self->id = client_resolved(self->channel, ADDR1,
				   listener_port(self->listener));
	ASSERT_NE(NULL, self->id);
	test_ok(qp_create(self->id));
}

FIXTURE_TEARDOWN(fds)
{
	id_close(self->id);
	id_close(self->listener);
	rdma_destroy_event_channel(self->channel);
}

TEST_F(fds, two_thousand_synchronous_ids)
{
	static struct rdma_cm_id *ids[IDS];
	int i, before = count_fds(NULL);

	limit_fds(LIMIT);
	for (i = 0; i < IDS; i++)
		test_ok(rdma_create_id(NULL, &ids[i], NULL, RDMA_PS_TCP));
	EXPECT_GE(before + IDS, count_fds(NULL));
	for (i = 0; i < IDS; i++)
		test_ok(rdma_destroy_id(ids[i]));
	EXPECT_EQ(before, count_fds(NULL));
}

TEST_F(fds, none_is_inherited)
{
	struct rdma_cm_id *child;
	bool inherited = false;
	struct taker taker;

	test_ok(client_request(self->id, 1));
	test_ok(rdma_get_request(self->listener, &child));
	taker_start(&taker, self->channel, RDMA_CM_EVENT_ESTABLISHED);
	test_ok(child_accept(child, 2));
	test_ok(taker_end(&taker));
	EXPECT_LT(0, count_fds(&inherited));
	EXPECT_FALSE(inherited);
	id_close(child);
}

TEST_F(fds, nothing_is_left_where_there_is_none)
{
	struct rdma_cm_id *id, *child;
	int before = count_fds(NULL);
	struct taker taker;

	test_ok(client_request(self->id, 1));
	EXPECT_TRUE(event_comes(self->listener->channel));
	forbid_fds();
	test_err(EMFILE, rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	test_err(EMFILE, rdma_migrate_id(self->id, NULL));
	EXPECT_EQ(self->channel, self->id->channel);
	/* The request is not lost by that. */
	test_err(EMFILE, rdma_get_request(self->listener, &child));
	limit_fds(LIMIT);
	EXPECT_EQ(before, count_fds(NULL));
	test_ok(rdma_get_request(self->listener, &child));
	taker_start(&taker, self->channel, RDMA_CM_EVENT_ESTABLISHED);
	test_ok(child_accept(child, 2));
	test_ok(taker_end(&taker));
	id_close(child);
	EXPECT_EQ(before, count_fds(NULL));
}

/* A thread that waits for a request. */
struct waiter {
	pthread_t thread;
	struct rdma_cm_id *listener;
	struct rdma_cm_id *child;
	_Atomic int tid;
	_Atomic bool ended;
	int ret;
	int error;
};

static void *wait_for_request(void *argument)
{
	struct waiter *waiter = argument;

	atomic_store(&waiter->tid, gettid());
	waiter->ret = rdma_get_request(waiter->listener, &waiter->child);
	waiter->error = errno;
	atomic_store(&waiter->ended, true);
	return NULL;
}

static void waiter_start(struct waiter *waiter, struct rdma_cm_id *listener)
{
	waiter->listener = listener;
	pthread_create(&waiter->thread, NULL, wait_for_request, waiter);
	wait_until_reading(&waiter->tid, listener->channel->fd);
}

static void on_signal(int number)
{
	(void)number;
}

TEST_F(fds, signal_ends_a_wait_and_loses_nothing)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct waiter waiter = { 0 };
	struct rdma_cm_id *child;

	sigaction(SIGUSR1, &action, NULL);
	waiter_start(&waiter, self->listener);
	while (!atomic_load(&waiter.ended)) {
		pthread_kill(waiter.thread, SIGUSR1);
		usleep(1000);
	}
	pthread_join(waiter.thread, NULL);
	EXPECT_EQ(-1, waiter.ret);
	EXPECT_EQ(EINTR, waiter.error);
	test_ok(client_request(self->id, 1));
	test_ok(rdma_get_request(self->listener, &child));
	test_ok(rdma_destroy_id(child));
}

TEST_F(fds, waiting_thread_can_be_cancelled)
{
	struct waiter waiter = { 0 };
	struct rdma_cm_id *child;
	int before = count_fds(NULL);
	void *result;

	waiter_start(&waiter, self->listener);
	pthread_cancel(waiter.thread);
	pthread_join(waiter.thread, &result);
	EXPECT_EQ(PTHREAD_CANCELED, result);
	EXPECT_EQ(before, count_fds(NULL));
	test_ok(client_request(self->id, 1));
	test_ok(rdma_get_request(self->listener, &child));
	test_ok(rdma_destroy_id(child));
}

/* Stock's thread would wait for ever, on freed memory. */
TEST_F(fds, destroying_the_listener_ends_the_wait)
{
	struct waiter waiter = { 0 };
	struct rdma_cm_id *listener = listener_open(NULL, ADDR1, 8);

	ASSERT_NE(NULL, listener);
	waiter_start(&waiter, listener);
	test_ok(rdma_destroy_id(listener));
	pthread_join(waiter.thread, NULL);
	EXPECT_EQ(-1, waiter.ret);
	EXPECT_EQ(ESHUTDOWN, waiter.error);
}

TEST_HARNESS_MAIN
