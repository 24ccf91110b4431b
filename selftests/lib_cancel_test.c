// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Threads that are cancelled, and processes that fork: what such a thread or
 * process leaves behind, and what it may go on with.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib_scene.h"
#include "lib_wait.h"
#include "test.h"

FIXTURE(cancel) {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	struct rdma_cm_id *id;
	int fds;
};

FIXTURE_SETUP(cancel)
{
	self->channel = rdma_create_event_channel();
	ASSERT_NE(NULL, self->channel);
	self->listener = listener_open(self->channel, ADDR1, 8);
	ASSERT_NE(NULL, self->listener);
	self->id = client_resolved(NULL, ADDR1, listener_port(self->listener));
	ASSERT_NE(NULL, self->id);
	ASSERT_EQ(0, qp_create(self->id));
	self->fds = count_fds(NULL);
}

FIXTURE_TEARDOWN(cancel)
{
	EXPECT_EQ(self->fds, count_fds(NULL));
	id_close(self->id);
	id_close(self->listener);
	rdma_destroy_event_channel(self->channel);
}

/* A call in a thread of its own. */
struct calling {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	_Atomic int tid;
	_Atomic int calls;
	int ret;
};

static void *get_event(void *argument)
{
	struct calling *calling = argument;
	struct rdma_cm_event *event;

	calling->tid = gettid();
	calling->ret = rdma_get_cm_event(calling->channel, &event);
	return NULL;
}

static void *connect_it(void *argument)
{
	struct calling *calling = argument;

	calling->tid = gettid();
	calling->ret = client_request(calling->id, 1);
	return NULL;
}

/* Returns what the thread ended with. */
static void *cancel_in(struct calling *calling, void *(*run)(void *argument),
		       int fd)
{
	pthread_t thread;
	void *result;

	pthread_create(&thread, NULL, run, calling);
	wait_until_reading(&calling->tid, fd);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	return result;
}

TEST_F(cancel, while_there_is_no_event)
{
	struct calling calling = { .channel = self->channel };

	EXPECT_EQ(PTHREAD_CANCELED,
		  cancel_in(&calling, get_event, self->channel->fd));
}

/* The connection is the id's, whoever waits for it. */
TEST_F(cancel, while_connecting)
{
	struct calling calling = { .id = self->id };
	struct rdma_cm_event *event;

	EXPECT_EQ(PTHREAD_CANCELED,
		  cancel_in(&calling, connect_it, self->id->channel->fd));
	test_ok(event_expect(self->channel, RDMA_CM_EVENT_CONNECT_REQUEST, &event));
	test_ok(rdma_destroy_id(event->id));
	test_ok(rdma_ack_cm_event(event));
}

/* One that is not in use. */
static struct sockaddr *own_address(void)
{
	static struct sockaddr_in address = { .sin_family = AF_INET };

	inet_pton(AF_INET, ADDR1, &address.sin_addr);
	return (struct sockaddr *)&address;
}

static struct rdma_addrinfo addrinfo_of(struct sockaddr *address, int flags)
{
	return (struct rdma_addrinfo){
		.ai_flags = flags,
		.ai_family = AF_INET,
		.ai_qp_type = IBV_QPT_RC,
		.ai_port_space = RDMA_PS_TCP,
		.ai_src_addr = flags ? address : NULL,
		.ai_src_len = flags ? sizeof(struct sockaddr_in) : 0,
		.ai_dst_addr = flags ? NULL : address,
		.ai_dst_len = flags ? 0 : sizeof(struct sockaddr_in),
	};
}

/* As the last step, a call that waits. */
static void *call_all(void *argument)
{
	struct calling *calling = argument;
	struct rdma_addrinfo *found, res;
	struct ibv_context **list;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	pthread_cancel(pthread_self());
	rdma_destroy_event_channel(rdma_create_event_channel());
	calling->calls++;
	list = rdma_get_devices(NULL);
	calling->calls++;
	rdma_free_devices(list);
	res = addrinfo_of(own_address(), RAI_PASSIVE);
	if (!rdma_create_ep(&id, &res, NULL, NULL)) {
		qp_create(id);
		rdma_listen(id, 1);
		rdma_migrate_id(id, calling->channel);
		rdma_migrate_id(id, NULL);
		calling->calls++;
		rdma_destroy_ep(id);
	}
	if (!rdma_getaddrinfo(NULL, NULL, &res, &found)) {
		rdma_freeaddrinfo(found);
		calling->calls++;
	}
	calling->ret = rdma_get_cm_event(calling->channel, &event);
	calling->calls++;
	return NULL;
}

/* A thread that was told to end does so where it would wait, and only there. */
TEST_F(cancel, only_waiting_is_a_cancellation_point)
{
	struct calling calling = { .channel = self->channel, .id = self->id };
	pthread_t thread;
	void *result;

	pthread_create(&thread, NULL, call_all, &calling);
	pthread_join(thread, &result);
	EXPECT_EQ(PTHREAD_CANCELED, result);
	EXPECT_EQ(4, calling.calls);
}

static void *make_endpoint(void *argument)
{
	struct calling *calling = argument;
	struct rdma_addrinfo res =
		addrinfo_of(rdma_get_peer_addr(calling->id), 0);
	struct rdma_cm_id *id;

	pthread_cancel(pthread_self());
	calling->ret = rdma_create_ep(&id, &res, NULL, NULL);
	return NULL;
}

/* Nobody has got the id yet. */
TEST_F(cancel, making_an_endpoint)
{
	struct calling calling = { .id = self->id };
	pthread_t thread;
	void *result;

	pthread_create(&thread, NULL, make_endpoint, &calling);
	pthread_join(thread, &result);
	EXPECT_EQ(PTHREAD_CANCELED, result);
}

static void connected(struct __test_metadata *_metadata,
		      FIXTURE_DATA(cancel) *self, struct rdma_cm_id **child)
{
	struct calling calling = { .id = self->id };
	struct rdma_cm_event *event;
	pthread_t thread;

	pthread_create(&thread, NULL, connect_it, &calling);
	test_ok(event_expect(self->channel, RDMA_CM_EVENT_CONNECT_REQUEST, &event));
	*child = event->id;
	test_ok(rdma_ack_cm_event(event));
	test_ok(child_accept(*child, 2));
	test_ok(event_take(self->channel, RDMA_CM_EVENT_ESTABLISHED));
	pthread_join(thread, NULL);
	test_ok(calling.ret);
}

static int status_of(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid ? status : -1;
}

static void at_exit(void)
{
}

/* Handlers run, buffers are flushed, destructors are called. */
TEST_F(cancel, forked_process_that_touches_nothing)
{
	struct rdma_cm_id *child;
	pid_t pid;

	atexit(at_exit);
	connected(_metadata, self, &child);
	pid = fork();
	if (!pid)
		exit(0);
	EXPECT_EQ(0, status_of(pid));
	/* The connection is still there. */
	EXPECT_FALSE(event_there(self->channel));
	test_ok(rdma_disconnect(child));
	test_ok(rdma_disconnect(self->id));
	test_ok(event_take(self->channel, RDMA_CM_EVENT_DISCONNECTED));
	id_close(child);
}

/* Returns 0 if all worked. */
static int use_inherited(struct rdma_event_channel *channel, uint16_t port)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	id = client_resolved(channel, ADDR1, port);
	if (!id || rdma_resolve_route(id, 10000) != -1)
		return 1;
	if (rdma_destroy_id(id))
		return 2;
	/* And one that the parent made. */
	id = client_resolved(NULL, ADDR1, port);
	if (!id || rdma_destroy_id(id))
		return 3;
	return event_there(channel) ? rdma_get_cm_event(channel, &event) : 0;
}

TEST_F(cancel, forked_process_that_uses_a_channel)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	pid_t pid;

	ASSERT_NE(NULL, channel);
	pid = fork();
	if (!pid)
		_exit(use_inherited(channel, listener_port(self->listener)));
	EXPECT_EQ(0, status_of(pid));
	/* And so does the parent. */
	EXPECT_EQ(0, use_inherited(channel, listener_port(self->listener)));
	rdma_destroy_event_channel(channel);
}

static _Atomic bool stop;

/* Takes all the library's locks, again and again. */
static void *be_busy(void *argument)
{
	struct calling *calling = argument;
	struct rdma_addrinfo res = addrinfo_of(own_address(), RAI_PASSIVE);
	struct rdma_cm_id *id;

	while (!atomic_load(&stop)) {
		if (!rdma_create_ep(&id, &res, NULL, NULL)) {
			qp_create(id);
			rdma_destroy_ep(id);
			calling->calls++;
		}
	}
	return NULL;
}

/* No thread but one is there after it, whatever the others were about. */
TEST_F(cancel, forked_from_among_many_threads)
{
	struct calling calling = { .id = self->id };
	unsigned int i, failed = 0;
	pthread_t threads[2];
	pid_t pid;

	pthread_create(&threads[0], NULL, be_busy, &calling);
	pthread_create(&threads[1], NULL, be_busy, &calling);
	for (i = 0; i < scaled(40); i++) {
		pid = fork();
		if (!pid) {
			alarm(60);
			_exit(use_inherited(self->channel, 7));
		}
		failed += !!status_of(pid);
	}
	atomic_store(&stop, true);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	EXPECT_EQ(0, failed);
	EXPECT_LT(0, calling.calls);
}

TEST_HARNESS_MAIN
