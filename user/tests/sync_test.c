// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Which event ends a synchronous call, and what becomes of the others?  Over a
 * fake kernel that brings any.
 */
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>

#include "cmx.h"
#include "fake.h"
#include "test.h"

FIXTURE(sync)
{
	struct rdma_cm_id *id;
	struct cmx_id *own;
};

FIXTURE_SETUP(sync)
{
	ASSERT_EQ(0, rdma_create_id(NULL, &self->id, NULL, RDMA_PS_TCP));
	self->own = cmx_id_of(self->id);
}

/* Nothing waits for what a call has read. */
FIXTURE_TEARDOWN(sync)
{
	int fd = self->id->channel->fd;

	EXPECT_EQ(0, fake_outstanding());
	EXPECT_EQ(0, rdma_destroy_id(self->id));
	EXPECT_FALSE(fake_is_open(fd));
	EXPECT_FALSE(fake_misused);
}

static void bring(struct cmx_id *id, int type, int status, uint64_t group)
{
	static uint64_t seq;
	struct rdma_ucmx_event head = {
		.size = sizeof(head),
		.event = type,
		.status = status,
		.seq = ++seq,
		.id = id->handle,
		.cookie = id->cookie,
		.group = group,
		.listen_cookie = group,
	};

	if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
		head.id = 4000;
		head.cookie = 0;
		head.listen_id = id->handle;
		head.listen_cookie = id->cookie;
	}
	fake_bring(&head, sizeof(head));
}

static void bring_joined(struct cmx_id *id, uint64_t number)
{
	struct rdma_ucmx_event head = {
		.size = sizeof(head),
		.event = RDMA_CM_EVENT_MULTICAST_JOIN,
		.seq = 1,
		.id = id->handle,
		.cookie = id->cookie,
		.group = FAKE_GROUP,
		.listen_cookie = number,
	};

	fake_bring(&head, sizeof(head));
}

static int sync_wait(struct cmx_id *id, enum cmx_operation operation, uint64_t group)
{
	return cmx_sync_wait(id, cmx_sync_channel(id), operation, group);
}

TEST_F(sync, ends_with_its_own_event)
{
	static const struct {
		enum cmx_operation operation;
		int event;
	} pairs[] = {
		{ CMX_RESOLVE_ADDR, RDMA_CM_EVENT_ADDR_RESOLVED },
		{ CMX_RESOLVE_ROUTE, RDMA_CM_EVENT_ROUTE_RESOLVED },
		{ CMX_CONNECT, RDMA_CM_EVENT_CONNECT_RESPONSE },
		{ CMX_CONNECT, RDMA_CM_EVENT_ESTABLISHED },
		{ CMX_ACCEPT, RDMA_CM_EVENT_ESTABLISHED },
		{ CMX_DISCONNECT, RDMA_CM_EVENT_DISCONNECTED },
		{ CMX_DISCONNECT, RDMA_CM_EVENT_TIMEWAIT_EXIT },
	};
	unsigned int i;

	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		bring(self->own, RDMA_CM_EVENT_ADDR_CHANGE, 0, 0);
		bring(self->own, pairs[i].event, 0, 0);
		test_ok(sync_wait(self->own, pairs[i].operation, 0));
		ASSERT_NE(NULL, self->id->event);
		EXPECT_EQ(0, self->id->event->status);
		EXPECT_EQ(0, fake_outstanding());
	}
}

TEST_F(sync, ends_with_the_event_of_its_name)
{
	bring(self->own, RDMA_CM_EVENT_ADDR_CHANGE, 0, 0);
	test_ok(rdma_resolve_addrinfo(self->id, "192.0.2.1", "1", NULL));
	ASSERT_NE(NULL, self->id->event);
	EXPECT_EQ(RDMA_CM_EVENT_ADDRINFO_RESOLVED, self->id->event->event);
}

TEST_F(sync, says_what_went_wrong)
{
	static const struct {
		int event;
		int status;
		int error;
	} ends[] = {
		{ RDMA_CM_EVENT_REJECTED, 28, ECONNREFUSED },
		{ RDMA_CM_EVENT_REJECTED, 0, ECONNREFUSED },
		{ RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, ETIMEDOUT },
		{ RDMA_CM_EVENT_CONNECT_ERROR, -ENOMEM, ENOMEM },
		{ RDMA_CM_EVENT_DISCONNECTED, 0, ECONNRESET },
		{ RDMA_CM_EVENT_TIMEWAIT_EXIT, 0, ECONNRESET },
		{ RDMA_CM_EVENT_DEVICE_REMOVAL, 0, ENODEV },
	};
	unsigned int i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		bring(self->own, ends[i].event, ends[i].status, 0);
		test_err(ends[i].error,
			 sync_wait(self->own, CMX_CONNECT, 0));
		ASSERT_NE(NULL, self->id->event);
		EXPECT_EQ(ends[i].event, self->id->event->event);
	}
}

/* Whatever its number is: it is of no operation. */
TEST_F(sync, event_of_another_kind_ends_nothing)
{
	static const int kinds[] = { RDMA_CM_EVENT_USER, 20, 31, 32, 34, 41, 44, 64,
				     RDMAX_EVENT_ARRIVED, 137, 139, 160 };
	unsigned int i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		bring(self->own, kinds[i], 0, 0);
		bring(self->own, RDMA_CM_EVENT_ADDR_RESOLVED, 0, 0);
		test_ok(sync_wait(self->own, CMX_RESOLVE_ADDR, 0));
		EXPECT_EQ(RDMA_CM_EVENT_ADDR_RESOLVED, self->id->event->event);
	}
	bring(self->own, RDMAX_EVENT_ARRIVED, 0, 0);
	bring(self->own, RDMA_CM_EVENT_ESTABLISHED, 0, 0);
	test_ok(sync_wait(self->own, CMX_ACCEPT, 0));
	EXPECT_EQ(RDMA_CM_EVENT_ESTABLISHED, self->id->event->event);
}

/* Somebody may have put another id on the channel that this one has for itself. */
TEST_F(sync, event_of_another_id_ends_nothing)
{
	struct rdma_cm_id *other;

	test_ok(rdma_create_id(self->id->channel, &other, NULL, RDMA_PS_TCP));
	bring(cmx_id_of(other), RDMA_CM_EVENT_ADDR_ERROR, -ENODEV, 0);
	bring(cmx_id_of(other), RDMA_CM_EVENT_DEVICE_REMOVAL, 0, 0);
	bring(self->own, RDMA_CM_EVENT_ADDR_RESOLVED, 0, 0);
	test_ok(sync_wait(self->own, CMX_RESOLVE_ADDR, 0));
	EXPECT_EQ(self->id, self->id->event->id);
	test_ok(rdma_destroy_id(other));
}

/* A connection that never came to be has no other end: nothing else will come. */
TEST_F(sync, disconnects_what_was_never_connected)
{
	static const int ends[] = { RDMA_CM_EVENT_REJECTED, RDMA_CM_EVENT_UNREACHABLE,
				    RDMA_CM_EVENT_CONNECT_ERROR };
	unsigned int i;

	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		atomic_store(&self->own->over, false);
		bring(self->own, ends[i], -ETIMEDOUT, 0);
		test_ok(sync_wait(self->own, CMX_DISCONNECT, 0));
		EXPECT_EQ(ends[i], self->id->event->event);
	}
}

/* Of one that is there it means another way to the peer, and is not its end. */
TEST_F(sync, disconnects_what_is_connected)
{
	bring(self->own, RDMA_CM_EVENT_ESTABLISHED, 0, 0);
	bring(self->own, RDMA_CM_EVENT_UNREACHABLE, 0, 0);
	bring(self->own, RDMA_CM_EVENT_DISCONNECTED, -ETIMEDOUT, 0);
	test_err(ETIMEDOUT, sync_wait(self->own, CMX_DISCONNECT, 0));
	EXPECT_EQ(1, fake_disconnects());
	atomic_store(&self->own->over, false);
	bring(self->own, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, 0);
	test_err(ENODEV, sync_wait(self->own, CMX_DISCONNECT, 0));
}

/* There is no connection of an unconnected id that could end. */
TEST_F(sync, disconnects_an_unconnected_id)
{
	struct rdma_cm_id *id;

	test_ok(rdma_create_id(NULL, &id, NULL, RDMA_PS_UDP));
	test_ok(rdma_disconnect(id));
	EXPECT_EQ(1, fake_disconnects());
	test_ok(rdma_destroy_id(id));
}

TEST_F(sync, event_of_another_group_is_not_its_own)
{
	bring(self->own, RDMA_CM_EVENT_MULTICAST_ERROR, -ENODEV, 1);
	bring(self->own, RDMA_CM_EVENT_MULTICAST_JOIN, 0, 2);
	test_ok(sync_wait(self->own, CMX_JOIN, 2));
	bring(self->own, RDMA_CM_EVENT_MULTICAST_ERROR, -ENODEV, 3);
	test_err(ENODEV, sync_wait(self->own, CMX_JOIN, 3));
	bring(self->own, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, 0);
	test_err(ENODEV, sync_wait(self->own, CMX_JOIN, 4));
}

/* Its id and the channel that this got go, too. */
TEST_F(sync, request_that_nobody_waits_for)
{
	bring(self->own, RDMA_CM_EVENT_CONNECT_REQUEST, 0, 0);
	bring(self->own, RDMA_CM_EVENT_ADDR_RESOLVED, 0, 0);
	test_ok(sync_wait(self->own, CMX_RESOLVE_ADDR, 0));
	EXPECT_EQ(NULL, cmx_table_find_handle(4000));
}

TEST_F(sync, read_that_fails_leaves_no_event)
{
	bring(self->own, RDMA_CM_EVENT_ADDR_RESOLVED, 0, 0);
	test_ok(sync_wait(self->own, CMX_RESOLVE_ADDR, 0));
	test_err(EAGAIN, sync_wait(self->own, CMX_RESOLVE_ROUTE, 0));
	EXPECT_EQ(NULL, self->id->event);
}

TEST_F(sync, something_else_than_a_request)
{
	struct rdma_cm_id *child;

	bring(self->own, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, 0);
	test_err(EINVAL, rdma_get_request(self->id, &child));
	ASSERT_NE(NULL, self->id->event);
	EXPECT_EQ(RDMA_CM_EVENT_DEVICE_REMOVAL, self->id->event->event);
	test_err(EAGAIN, rdma_get_request(self->id, &child));
	EXPECT_EQ(NULL, self->id->event);
}

TEST_F(sync, event_in_the_id_is_not_the_users)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();

	bring(self->own, RDMA_CM_EVENT_ADDR_RESOLVED, 0, 0);
	test_ok(sync_wait(self->own, CMX_RESOLVE_ADDR, 0));
	test_err(EINVAL, rdmax_migrate_id(self->id, channel, self->id->event,
					  0, NULL));
	test_ok(rdma_migrate_id(self->id, self->id->channel));
	EXPECT_TRUE(cmx_sync_is(self->own));
	test_ok(rdma_migrate_id(self->id, channel));
	EXPECT_EQ(NULL, self->id->event);
	test_ok(rdma_migrate_id(self->id, NULL));
	rdma_destroy_event_channel(channel);
}

/* It is acknowledged, so it is none that can be given away. */
TEST_F(sync, event_of_a_request_is_not_the_users)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *child;

	bring(self->own, RDMA_CM_EVENT_CONNECT_REQUEST, 0, 0);
	fake_make(self->id->channel->fd, 4000, false);
	test_ok(rdma_get_request(self->id, &child));
	ASSERT_NE(NULL, child->event);
	test_err(EINVAL, rdmax_migrate_id(self->id, channel, child->event, 0, NULL));
	test_err(EINVAL, rdmax_migrate_id(child, channel, child->event, 0, NULL));
	test_err(EINVAL, rdmax_destroy_id(self->id, child->event, 0, NULL));
	test_err(EINVAL, rdmax_destroy_id(child, child->event, 0, NULL));
	EXPECT_EQ(RDMA_CM_EVENT_CONNECT_REQUEST, child->event->event);
	test_ok(rdma_destroy_id(child));
	rdma_destroy_event_channel(channel);
}

/* A call that has found the id's channel and does not read it yet. */
static struct cmx_channel *about_to_read(struct rdma_cm_id *id)
{
	return cmx_sync_channel(cmx_id_of(id));
}

TEST_F(sync, call_that_does_not_read_yet_is_turned_away)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct cmx_channel *waits;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	test_ok(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	waits = about_to_read(id);
	test_ok(rdma_migrate_id(id, channel));
	EXPECT_TRUE(fake_is_shut(waits->fd));
	test_err(ESHUTDOWN, cmx_sync_read(waits, NULL, &event));
	cmx_channel_put(waits);

	test_ok(rdma_migrate_id(id, NULL));
	waits = about_to_read(id);
	test_ok(rdma_destroy_id(id));
	EXPECT_TRUE(fake_is_shut(waits->fd));
	test_err(ESHUTDOWN, cmx_sync_read(waits, NULL, &event));
	cmx_channel_put(waits);
	rdma_destroy_event_channel(channel);
}

static struct sockaddr *group_address(void)
{
	static struct sockaddr_in address = { .sin_family = AF_INET };

	return (struct sockaddr *)&address;
}

/* As a program calls it. */
#undef rdma_join_multicast
#undef rdma_resolve_addr
#undef rdma_resolve_route
#undef rdma_connect
#undef rdma_accept
#undef rdma_disconnect
#undef rdma_resolve_addrinfo

static int join_group(struct rdma_cm_id *id)
{
	return rdma_join_multicast(id, group_address(), NULL);
}

static int resolve_address(struct rdma_cm_id *id)
{
	return rdma_resolve_addr(id, NULL, group_address(), 1);
}

static int resolve_route(struct rdma_cm_id *id)
{
	return rdma_resolve_route(id, 1);
}

static int connect_id(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = { .qp_num = 1 };

	return rdma_connect(id, &param);
}

static int accept_id(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = { .qp_num = 1 };

	return rdma_accept(id, &param);
}

static int resolve_name(struct rdma_cm_id *id)
{
	return rdma_resolve_addrinfo(id, "192.0.2.1", "7", NULL);
}

/* All that wait for an event of what they began. */
static const struct operation {
	enum rdma_port_space ps;
	int (*run)(struct rdma_cm_id *id);
} waiting[] = {
	{ RDMA_PS_TCP, resolve_address },
	{ RDMA_PS_TCP, resolve_route },
	{ RDMA_PS_TCP, connect_id },
	{ RDMA_PS_TCP, accept_id },
	{ RDMA_PS_TCP, rdma_disconnect },
	{ RDMA_PS_TCP, resolve_name },
	{ RDMA_PS_UDP, join_group },
};

#define NUM_WAITING (sizeof(waiting) / sizeof(waiting[0]))

struct caller {
	pthread_t thread;
	const struct operation *operation;
	struct rdma_cm_id *id;
	int ret;
	int error;
};

static void *call(void *argument)
{
	struct caller *caller = argument;

	caller->ret = caller->operation->run(caller->id);
	caller->error = errno;
	return NULL;
}

static void call_begin(struct caller *caller, enum fake_point point)
{
	fake_hold(point);
	pthread_create(&caller->thread, NULL, call, caller);
	fake_wait_held();
}

static void call_end(struct caller *caller)
{
	fake_release();
	pthread_join(caller->thread, NULL);
}

static void expect_turned_away(struct __test_metadata *_metadata,
			       const struct caller *caller)
{
	EXPECT_EQ(-1, caller->ret);
	EXPECT_EQ(ESHUTDOWN, caller->error) {
		TH_LOG("operation %td", caller->operation - waiting);
	}
}

/* What it began was begun by a synchronous id, whatever that is when it waits. */
TEST_F(sync, call_that_does_not_wait_yet_is_turned_away)
{
	struct rdma_event_channel *channel;
	struct caller caller;

	for (unsigned int i = 0; i < NUM_WAITING; i++) {
		caller.operation = &waiting[i];
		test_ok(rdma_create_id(NULL, &caller.id, NULL, waiting[i].ps));
		call_begin(&caller, FAKE_BEGUN);
		test_ok(rdma_destroy_id(caller.id));
		call_end(&caller);
		expect_turned_away(_metadata, &caller);

		channel = rdma_create_event_channel();
		test_ok(rdma_create_id(NULL, &caller.id, NULL, waiting[i].ps));
		call_begin(&caller, FAKE_BEGUN);
		test_ok(rdma_migrate_id(caller.id, channel));
		call_end(&caller);
		expect_turned_away(_metadata, &caller);
		test_ok(rdma_destroy_id(caller.id));

		/* And one that waits for nothing does not begin to. */
		test_ok(rdma_create_id(channel, &caller.id, NULL, waiting[i].ps));
		call_begin(&caller, FAKE_BEGUN);
		test_ok(rdma_migrate_id(caller.id, NULL));
		call_end(&caller);
		EXPECT_EQ(0, caller.ret);
		test_ok(rdma_destroy_id(caller.id));
		rdma_destroy_event_channel(channel);
	}
}

/* No event of the group will come. */
TEST_F(sync, group_is_left_while_a_call_joins_it)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_event *event;
	struct caller joiner = { .operation = &waiting[NUM_WAITING - 1] };

	test_ok(rdma_create_id(NULL, &joiner.id, NULL, RDMA_PS_UDP));
	call_begin(&joiner, FAKE_READ);
	test_ok(rdma_leave_multicast(joiner.id, group_address()));
	call_end(&joiner);
	EXPECT_EQ(-1, joiner.ret);
	EXPECT_EQ(ECANCELED, joiner.error);
	ASSERT_NE(NULL, joiner.id->event);
	EXPECT_EQ(RDMA_CM_EVENT_MULTICAST_ERROR, joiner.id->event->event);
	EXPECT_EQ(-ECANCELED, joiner.id->event->status);
	EXPECT_EQ(NULL, joiner.id->event->param.ud.private_data);

	/* A call that does not wait any more, or an id that never did, is not told. */
	bring_joined(cmx_id_of(joiner.id), 2);
	test_ok(rdma_join_multicast(joiner.id, group_address(), NULL));
	test_ok(rdma_leave_multicast(joiner.id, group_address()));
	test_err(EAGAIN, sync_wait(cmx_id_of(joiner.id), CMX_JOIN, 2));
	test_ok(rdma_migrate_id(joiner.id, channel));
	test_ok(rdma_join_multicast(joiner.id, group_address(), NULL));
	test_ok(rdma_leave_multicast(joiner.id, group_address()));
	test_err(EAGAIN, rdma_get_cm_event(channel, &event));

	/* Nor does anybody see what was for a call that has ended meanwhile. */
	test_ok(rdma_migrate_id(joiner.id, NULL));
	call_begin(&joiner, FAKE_READ);
	test_ok(rdma_leave_multicast(joiner.id, group_address()));
	test_ok(rdma_migrate_id(joiner.id, channel));
	test_err(EAGAIN, rdma_get_cm_event(channel, &event));
	call_end(&joiner);
	EXPECT_EQ(-1, joiner.ret);
	test_ok(rdma_destroy_id(joiner.id));
	rdma_destroy_event_channel(channel);
}

/* The event that a call has read keeps nothing of an id that is gone by then. */
TEST_F(sync, id_is_destroyed_before_it_gets_its_event)
{
	struct cmx_channel *waits;
	struct rdma_cm_event *event;
	struct cmx_id *own;
	struct rdma_cm_id *id;
	uint64_t cookie;

	test_ok(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	own = cmx_id_of(id);
	cookie = own->cookie;
	bring(own, RDMA_CM_EVENT_ADDR_RESOLVED, 0, 0);
	waits = about_to_read(id);
	cmx_id_get(own);
	test_ok(cmx_sync_read(waits, NULL, &event));
	cmx_event_settle(cmx_event_of(event));
	test_ok(rdma_destroy_id(id));
	cmx_sync_set_event(own, event);
	cmx_channel_put(waits);
	cmx_id_put(own);
	EXPECT_EQ(NULL, cmx_table_find(cookie));
}

/* Which is a system call that is done without where nobody is. */
TEST_F(sync, nobody_is_turned_away)
{
	struct rdma_cm_id *id;
	int fd;

	test_ok(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	fd = id->channel->fd;
	bring(cmx_id_of(id), RDMA_CM_EVENT_ADDR_RESOLVED, 0, 0);
	test_ok(sync_wait(cmx_id_of(id), CMX_RESOLVE_ADDR, 0));
	test_ok(rdma_destroy_id(id));
	EXPECT_FALSE(fake_is_shut(fd));
}

enum { ROUNDS = 2000 };

struct switcher {
	pthread_t thread;
	struct rdma_cm_id *id;
	struct rdma_event_channel *channel;
};

static void *switch_back_and_forth(void *argument)
{
	struct switcher *switcher = argument;
	int i;

	for (i = 0; i < ROUNDS; i++)
		rdma_migrate_id(switcher->id, i & 1 ? switcher->channel : NULL);
	return NULL;
}

/* Its own channel is where it is, whoever came last. */
TEST_F(sync, switched_by_several_threads_at_once)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct switcher switchers[4];
	struct cmx_channel *own;
	int i;

	fake_jitter(true);
	for (i = 0; i < 4; i++) {
		switchers[i].id = self->id;
		switchers[i].channel = channel;
		pthread_create(&switchers[i].thread, NULL, switch_back_and_forth,
			       &switchers[i]);
	}
	for (i = 0; i < 4; i++)
		pthread_join(switchers[i].thread, NULL);
	fake_jitter(false);
	own = self->own->own_channel;
	EXPECT_EQ(fake_owner(self->own->handle), own ? own->fd : channel->fd);
	EXPECT_EQ(self->id->channel, own ? &own->channel : channel);
	if (!own)
		test_ok(rdma_migrate_id(self->id, NULL));
	rdma_destroy_event_channel(channel);
}

TEST_HARNESS_MAIN
