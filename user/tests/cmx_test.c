// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What librdmacmx promises beyond librdmacm: bounded migration, migration with
 * an event in hand, commands across a commit, channels that go early.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/rdma_cmx.h>
#include <rdma/rdma_ucmx.h>

#include "cmx_scene.h"
#include "lib_scene.h"
#include "test.h"

/* A migration, or the destruction without a channel, in a thread. */
struct act {
	pthread_t thread;
	struct rdma_cm_id *id;
	struct rdma_event_channel *channel;
	int ret;
	int error;
};

static void *run(void *argument)
{
	struct act *act = argument;

	act->ret = act->channel ? rdma_migrate_id(act->id, act->channel) :
				  rdma_destroy_id(act->id);
	act->error = errno;
	return NULL;
}

static void begin(struct act *act, struct rdma_cm_id *id,
		  struct rdma_event_channel *channel)
{
	act->id = id;
	act->channel = channel;
	pthread_create(&act->thread, NULL, run, act);
}

static int set_tos(struct rdma_cm_id *id)
{
	uint8_t tos = 32;

	return rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, 1);
}

/* An id with an event of it in hand, and where it may go. */
FIXTURE(held)
{
	struct rdma_event_channel *source, *target;
	struct rdma_cm_id *id;
	struct rdma_cm_event *event;
	struct act act;
};

FIXTURE_SETUP(held)
{
	self->source = rdma_create_event_channel();
	self->target = rdma_create_event_channel();
	ASSERT_NE(NULL, self->source);
	ASSERT_NE(NULL, self->target);
	test_ok(rdma_create_id(self->source, &self->id, self, RDMA_PS_TCP));
	test_ok(id_resolve(self->id));
	test_ok(event_expect(self->source, RDMA_CM_EVENT_ADDR_RESOLVED,
			     &self->event));
	ASSERT_EQ(self->id, self->event->id);
	ASSERT_EQ(self, self->id->context);
	ASSERT_NE(NULL, self->id->verbs);
}

FIXTURE_TEARDOWN(held)
{
}

TEST_F(held, counts_as_acknowledged)
{
	test_ok(rdmax_migrate_id(self->id, self->target, self->event, 0, NULL));
	ASSERT_EQ(self->target, self->id->channel);
	test_ok(rdma_resolve_route(self->id, 10000));
	test_ok(event_take(self->target, RDMA_CM_EVENT_ROUTE_RESOLVED));
	ASSERT_EQ(NUM_PATHS, self->id->route.num_paths);
	test_ok(rdma_destroy_id(self->id));
}

TEST_F(held, is_not_another_ids)
{
	struct rdma_cm_id *other;

	test_ok(rdma_create_id(self->source, &other, NULL, RDMA_PS_TCP));
	test_err(EINVAL, rdmax_migrate_id(other, self->target, self->event, 0,
					  NULL));
	test_ok(rdma_ack_cm_event(self->event));
	test_ok(rdma_destroy_id(other));
	test_ok(rdma_destroy_id(self->id));
}

TEST_F(held, does_not_block)
{
	test_err(EAGAIN, rdmax_migrate_id(self->id, self->target, NULL,
					  RDMAX_NONBLOCK, NULL));
	ASSERT_EQ(self->source, self->id->channel);
	test_ok(set_tos(self->id));
	test_ok(rdma_ack_cm_event(self->event));
	test_ok(rdmax_migrate_id(self->id, self->target, NULL, RDMAX_NONBLOCK,
				 NULL));
	ASSERT_EQ(self->target, self->id->channel);
}

TEST_F(held, outlives_the_deadline)
{
	struct timespec never = { 0 }, soon = after_ms(50);

	test_err(ETIMEDOUT,
		 rdmax_migrate_id(self->id, self->target, NULL, 0, &never));
	test_err(ETIMEDOUT,
		 rdmax_migrate_id(self->id, self->target, NULL, 0, &soon));
	ASSERT_EQ(self->source, self->id->channel);
	test_ok(rdma_ack_cm_event(self->event));
	/* Past, but there is nothing to wait for. */
	test_ok(rdmax_migrate_id(self->id, self->target, NULL, 0, &soon));
}

TEST_F(held, parameters)
{
	test_err(EOPNOTSUPP, rdmax_migrate_id(self->id, self->target, NULL,
					      1 << 20, NULL));
	test_err(EINVAL, rdmax_migrate_id(NULL, self->target, NULL, 0, NULL));
	/* To none is synchronous mode, by the same rules. */
	test_err(EAGAIN, rdmax_migrate_id(self->id, NULL, NULL, RDMAX_NONBLOCK,
					  NULL));
	test_err(EINVAL, rdma_ack_cm_event(NULL));
	test_err(EINVAL, rdma_get_cm_event(NULL, &self->event));
	test_err(EINVAL, rdma_get_cm_event(self->source, NULL));
}

TEST_F(held, is_interrupted)
{
	alarm_repeatedly(0);
	test_err(EINTR, rdma_migrate_id(self->id, self->target));
	alarm_no_more();
	ASSERT_EQ(self->source, self->id->channel);
}

TEST_F(held, is_restarted_up_to_its_deadline)
{
	struct timespec deadline = after_ms(200);
	int before = alarms;

	alarm_repeatedly(SA_RESTART);
	test_err(ETIMEDOUT,
		 rdmax_migrate_id(self->id, self->target, NULL, 0, &deadline));
	alarm_no_more();
	ASSERT_LT(before, alarms);
}

TEST_F(held, destroying_survives_alarms)
{
	begin(&self->act, self->id, NULL);
	ASSERT_TRUE(id_comes_to(self->id, RDMAX_ID_DYING));
	alarm_repeatedly(0);
	while (alarms < 5)
		pthread_kill(self->act.thread, SIGALRM);
	alarm_no_more();
	test_ok(rdma_ack_cm_event(self->event));
	pthread_join(self->act.thread, NULL);
	ASSERT_EQ(0, self->act.ret);
}

TEST_F(held, second_migration_is_busy)
{
	begin(&self->act, self->id, self->target);
	ASSERT_TRUE(id_comes_to(self->id, RDMAX_ID_MIGRATING));
	test_err(EBUSY, rdma_migrate_id(self->id, self->target));
	test_ok(set_tos(self->id));
	test_ok(rdma_ack_cm_event(self->event));
	pthread_join(self->act.thread, NULL);
	ASSERT_EQ(0, self->act.ret);
	ASSERT_EQ(self->target, self->id->channel);
}

TEST_F(held, destroying_wins)
{
	struct act destroy;

	begin(&self->act, self->id, self->target);
	ASSERT_TRUE(id_comes_to(self->id, RDMAX_ID_MIGRATING));
	begin(&destroy, self->id, NULL);
	pthread_join(self->act.thread, NULL);
	ASSERT_EQ(-1, self->act.ret);
	ASSERT_EQ(ECANCELED, self->act.error);
	test_ok(rdma_ack_cm_event(self->event));
	pthread_join(destroy.thread, NULL);
	ASSERT_EQ(0, destroy.ret);
}

TEST_F(held, source_is_destroyed_while_it_waits)
{
	begin(&self->act, self->id, self->target);
	ASSERT_TRUE(id_comes_to(self->id, RDMAX_ID_MIGRATING));
	rdma_destroy_event_channel(self->source);
	test_ok(set_tos(self->id));
	test_ok(rdma_ack_cm_event(self->event));
	pthread_join(self->act.thread, NULL);
	ASSERT_EQ(0, self->act.ret);
	ASSERT_EQ(self->target, self->id->channel);
	test_ok(set_tos(self->id));
	test_ok(rdma_destroy_id(self->id));
}

TEST_F(held, channel_is_destroyed_before_all_else)
{
	rdma_destroy_event_channel(self->source);
	test_err(EBADF, set_tos(self->id));
	test_err(EBADF, rdma_migrate_id(self->id, self->target));
	test_ok(rdma_ack_cm_event(self->event));
	test_ok(rdma_destroy_id(self->id));
}

TEST_F(held, channel_is_queried)
{
	struct rdmax_channel_info info;
	unsigned char bytes[sizeof(info) + 8];

	test_ok(rdma_resolve_route(self->id, 10000));
	ASSERT_TRUE(event_comes(self->source));
	test_ok(rdmax_query_channel(self->source, &info, sizeof(info)));
	ASSERT_EQ(1, info.ids);
	ASSERT_EQ(1, info.pending);
	ASSERT_EQ(1, info.outstanding);
	ASSERT_LE(100000, info.max_ids);
	ASSERT_NE(0, info.max_channel_ids);
	ASSERT_NE(0, info.max_backlog);
	ASSERT_NE(0, info.features & RDMA_UCMX_FEATURE_MIGRATE);

	/* An older caller's, a newer caller's, and nobody's. */
	memset(bytes, 0xff, sizeof(bytes));
	test_ok(rdmax_query_channel(self->source, (void *)bytes, 12));
	ASSERT_EQ(0, memcmp(bytes, &info, 12));
	ASSERT_EQ(0xff, bytes[12]);
	test_ok(rdmax_query_channel(self->source, (void *)bytes,
				    sizeof(bytes)));
	ASSERT_EQ(0, memcmp(bytes, &info, sizeof(info)));
	ASSERT_EQ(0, bytes[sizeof(info)] | bytes[sizeof(bytes) - 1]);
	test_err(EINVAL, rdmax_query_channel(self->source, &info, 0));
	test_err(EINVAL, rdmax_query_channel(self->source, NULL, 1));
	test_err(EINVAL, rdmax_query_channel(NULL, &info, sizeof(info)));
}

/* Two channels and nothing else. */
FIXTURE(channels)
{
	struct rdma_event_channel *one, *two;
};

FIXTURE_SETUP(channels)
{
	self->one = rdma_create_event_channel();
	self->two = rdma_create_event_channel();
	ASSERT_NE(NULL, self->one);
	ASSERT_NE(NULL, self->two);
}

FIXTURE_TEARDOWN(channels)
{
}

TEST_F(channels, close_on_exec)
{
	ASSERT_TRUE(fcntl(self->one->fd, F_GETFD) & FD_CLOEXEC);
}

static void *read_for_ever(void *channel)
{
	struct rdma_cm_event *event;

	rdma_get_cm_event(channel, &event);
	return NULL;
}

TEST_F(channels, blocked_reader_is_cancelled)
{
	struct rdma_cm_id *id;
	pthread_t thread;
	void *result;

	pthread_create(&thread, NULL, read_for_ever, self->one);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	ASSERT_EQ(PTHREAD_CANCELED, result);
	test_ok(rdma_create_id(self->one, &id, NULL, RDMA_PS_TCP));
	test_ok(id_resolve(id));
	test_ok(event_take(self->one, RDMA_CM_EVENT_ADDR_RESOLVED));
	test_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(self->one);
}

TEST_F(channels, event_of_an_unknown_id_is_passed_over)
{
	static const uint64_t cookies[] = { 0, 1, UINT64_MAX,
					    1ULL << 32 | 1 };
	struct rdmax_channel_info info;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	unsigned int i;

	/* The last of these is one that this library may use itself. */
	test_ok(rdma_create_id(self->one, &id, NULL, RDMA_PS_TCP));
	for (i = 0; i < 4; i++) {
		ASSERT_NE(0, foreign_resolve(self->one, cookies[i]));
		ASSERT_TRUE(event_comes(self->one));
	}
	test_ok(id_resolve(id));
	test_ok(event_expect(self->one, RDMA_CM_EVENT_ADDR_RESOLVED, &event));
	ASSERT_EQ(id, event->id);
	test_ok(rdmax_query_channel(self->one, &info, sizeof(info)));
	ASSERT_EQ(1, info.outstanding);
	test_ok(rdma_ack_cm_event(event));
	ASSERT_FALSE(event_there(self->one));
}

TEST_F(channels, event_is_read_by_a_forked_process)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	int status;
	pid_t pid;

	test_ok(rdma_create_id(self->one, &id, NULL, RDMA_PS_TCP));
	test_ok(id_resolve(id));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(rdma_get_cm_event(self->one, &event) ||
		      event->event != RDMA_CM_EVENT_ADDR_RESOLVED ||
		      event->id != id || rdma_ack_cm_event(event));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);
	test_ok(rdma_migrate_id(id, self->two));
	test_ok(rdma_resolve_route(id, 10000));
	test_ok(event_take(self->two, RDMA_CM_EVENT_ROUTE_RESOLVED));
	test_ok(rdma_destroy_id(id));
}

/* A request is handled while its event is in hand, on another channel. */
TEST_F(channels, request_is_rejected_elsewhere)
{
	struct rdma_cm_id *listener, *client, *child;
	struct ibv_qp_init_attr init;
	struct rdma_cm_event *event;
	struct ibv_qp_attr attr;

	listener = listener_open(self->one, ADDR1, 0);
	ASSERT_NE(NULL, listener);
	client = client_connect(self->two, ADDR1, listener_port(listener), 7);
	ASSERT_NE(NULL, client);
	test_ok(event_expect(self->one, RDMA_CM_EVENT_CONNECT_REQUEST, &event));
	child = event->id;
	ASSERT_EQ(listener, event->listen_id);
	ASSERT_EQ(self->one, child->channel);
	ASSERT_EQ(client->verbs, child->verbs);
	ASSERT_EQ(7, event_tag(event));
	test_ok(rdma_migrate_id(child, self->two));
	test_ok(rdma_reject(child, "no", 3));
	test_ok(rdma_ack_cm_event(event));
	test_ok(rdma_destroy_id(child));

	test_ok(event_expect(self->two, RDMA_CM_EVENT_REJECTED, &event));
	ASSERT_EQ(REJ_CONSUMER, event->status);
	ASSERT_EQ(0, memcmp(event->param.conn.private_data, "no", 3));
	/* siw of 6.1 tells no state. */
	if (!over_iwarp()) {
		test_ok(ibv_query_qp(client->qp, &attr, IBV_QP_STATE, &init));
		ASSERT_EQ(IBV_QPS_ERR, attr.qp_state);
	}
	test_ok(rdma_ack_cm_event(event));
	id_close(client);
	id_close(listener);
}

TEST_HARNESS_MAIN
