// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What becomes of a record that was read?  Over a fake kernel that brings any.
 */
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>

#include "cmx.h"
#include "fake.h"
#include "test.h"

/* A record with connection parameters. */
struct record {
	struct rdma_ucmx_event head;
	struct rdma_ucmx_conn_param conn;
};

FIXTURE(reader)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
};

FIXTURE_SETUP(reader)
{
	self->channel = rdma_create_event_channel();
	ASSERT_NE(NULL, self->channel);
	ASSERT_EQ(0, rdma_create_id(self->channel, &self->id, self,
				    RDMA_PS_TCP));
}

/* Nothing outstanding but what a test holds, and nothing left. */
FIXTURE_TEARDOWN(reader)
{
	EXPECT_EQ(0, fake_outstanding());
	EXPECT_EQ(0, rdma_destroy_id(self->id));
	rdma_destroy_event_channel(self->channel);
	EXPECT_FALSE(fake_misused);
}

/* The head alone, or with private data. */
static void bring(struct rdma_cm_id *of, enum rdma_cm_event_type type,
		  const char *private_data)
{
	struct record record = { .head = { .event = type } };
	struct cmx_id *id = cmx_id_of(of);
	static uint64_t seq;

	record.head.size = sizeof(record.head);
	record.head.seq = ++seq;
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
		record.head.id = 4000;
		record.head.listen_id = id->handle;
		record.head.listen_cookie = id->cookie;
	} else {
		record.head.id = id->handle;
		record.head.cookie = id->cookie;
	}
	if (private_data) {
		record.head.size = sizeof(record);
		record.head.sections = RDMA_UCMX_EVENT_CONN;
		record.conn.private_data_len = strlen(private_data);
		memcpy(record.conn.private_data, private_data,
		       strlen(private_data));
	}
	fake_bring(&record, record.head.size);
}

TEST_F(reader, delivers)
{
	struct rdma_cm_event *event;

	bring(self->id, RDMA_CM_EVENT_ESTABLISHED, "data");
	ASSERT_EQ(0, rdma_get_cm_event(self->channel, &event));
	EXPECT_EQ(RDMA_CM_EVENT_ESTABLISHED, event->event);
	EXPECT_EQ(self->id, event->id);
	EXPECT_EQ(4, event->param.conn.private_data_len);
	EXPECT_EQ(0, memcmp(event->param.conn.private_data, "data", 4));
	EXPECT_EQ(1, fake_outstanding());
	EXPECT_EQ(0, rdma_ack_cm_event(event));
	EXPECT_EQ(-1, rdma_get_cm_event(self->channel, &event));
	EXPECT_EQ(EAGAIN, errno);
}

/* The event after one that was passed over has nothing of it. */
TEST_F(reader, passes_over_all_of_an_event)
{
	struct rdma_cm_event *event;

	cmx_id_of(self->id)->connect_failed = true;
	bring(self->id, RDMA_CM_EVENT_REJECTED, "data");
	bring(self->id, RDMA_CM_EVENT_TIMEWAIT_EXIT, NULL);
	ASSERT_EQ(0, rdma_get_cm_event(self->channel, &event));
	EXPECT_EQ(RDMA_CM_EVENT_TIMEWAIT_EXIT, event->event);
	EXPECT_EQ(0, event->param.conn.private_data_len);
	EXPECT_EQ(NULL, event->param.conn.private_data);
	EXPECT_EQ(0, rdma_ack_cm_event(event));
}

TEST_F(reader, hands_out_a_request)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *child;

	bring(self->id, RDMA_CM_EVENT_CONNECT_REQUEST, "data");
	ASSERT_EQ(0, rdma_get_cm_event(self->channel, &event));
	child = event->id;
	EXPECT_EQ(self->id, event->listen_id);
	EXPECT_EQ(self, child->context);
	EXPECT_EQ(self->channel, child->channel);
	/* The listener's event outlives the child. */
	EXPECT_EQ(0, rdma_destroy_id(child));
	EXPECT_EQ(child, event->id);
	EXPECT_EQ(NULL, event->id->qp);
	EXPECT_EQ(0, rdma_ack_cm_event(event));
}

static void *read_one(void *channel)
{
	struct rdma_cm_event *event;

	rdma_get_cm_event(channel, &event);
	return NULL;
}

static void *cancelled(struct rdma_event_channel *channel, unsigned int reads)
{
	pthread_t thread;
	void *result;

	fake_cancel_reader(reads);
	pthread_create(&thread, NULL, read_one, channel);
	pthread_join(thread, &result);
	return result;
}

/*
 * A thread that is cancelled when the kernel has given it an event: nobody
 * will ever have that event, so nothing may wait for it.
 */
TEST_F(reader, is_cancelled_with_an_event)
{
	bring(self->id, RDMA_CM_EVENT_ESTABLISHED, "data");
	EXPECT_EQ(PTHREAD_CANCELED, cancelled(self->channel, 1));
	EXPECT_EQ(0, fake_outstanding());
}

TEST_F(reader, is_cancelled_with_a_request)
{
	bring(self->id, RDMA_CM_EVENT_CONNECT_REQUEST, NULL);
	EXPECT_EQ(PTHREAD_CANCELED, cancelled(self->channel, 1));
	EXPECT_EQ(0, fake_outstanding());
}

/* The one before was passed over, and is acknowledged once. */
TEST_F(reader, is_cancelled_with_nothing)
{
	cmx_id_of(self->id)->connect_failed = true;
	bring(self->id, RDMA_CM_EVENT_DISCONNECTED, NULL);
	EXPECT_EQ(PTHREAD_CANCELED, cancelled(self->channel, 2));
	EXPECT_EQ(0, fake_outstanding());
}

static struct sockaddr *group_address(void)
{
	static struct sockaddr_in address = { .sin_family = AF_INET };

	return (struct sockaddr *)&address;
}

static void *join(void *id)
{
	return (void *)(intptr_t)rdma_join_multicast(id, group_address(), id);
}

/* Whoever reads the event may leave the group while the other still joins. */
TEST_F(reader, group_is_left_before_joining_returns)
{
	struct rdma_ucmx_event head = {
		.size = sizeof(head),
		.event = RDMA_CM_EVENT_MULTICAST_JOIN,
		.seq = 1,
		.id = cmx_id_of(self->id)->handle,
		.cookie = cmx_id_of(self->id)->cookie,
		.group = FAKE_GROUP,
	};
	struct rdma_cm_event *event;
	pthread_t thread;
	void *ret;

	fake_hold(FAKE_BEGUN);
	pthread_create(&thread, NULL, join, self->id);
	fake_wait_held();
	EXPECT_EQ(-1, rdma_leave_multicast(self->id, group_address()));
	EXPECT_EQ(EADDRNOTAVAIL, errno);
	head.listen_cookie = cmx_id_of(self->id)->last_group;
	fake_bring(&head, sizeof(head));
	ASSERT_EQ(0, rdma_get_cm_event(self->channel, &event));
	EXPECT_EQ(self->id, event->param.ud.private_data);
	EXPECT_EQ(0, rdma_ack_cm_event(event));
	EXPECT_EQ(0, rdma_leave_multicast(self->id, group_address()));
	fake_release();
	pthread_join(thread, &ret);
	EXPECT_EQ(NULL, ret);
	EXPECT_EQ(NULL, cmx_id_of(self->id)->groups);
}

/* Which takes no second reference from the id, and no event from a later reader. */
TEST_F(reader, event_is_acknowledged_twice)
{
	struct rdma_cm_event *event, *next[2];
	int i;

	bring(self->id, RDMA_CM_EVENT_ADDR_CHANGE, NULL);
	ASSERT_EQ(0, rdma_get_cm_event(self->channel, &event));
	test_ok(rdma_ack_cm_event(event));
	test_err(EINVAL, rdma_ack_cm_event(event));
	for (i = 0; i < 2; i++) {
		bring(self->id, RDMA_CM_EVENT_ADDR_CHANGE, NULL);
		ASSERT_EQ(0, rdma_get_cm_event(self->channel, &next[i]));
	}
	EXPECT_NE(next[0], next[1]);
	EXPECT_EQ(self->id, next[1]->id);
	test_ok(rdma_ack_cm_event(next[0]));
	test_ok(rdma_ack_cm_event(next[1]));
	EXPECT_EQ(cmx_id_of(self->id), cmx_table_find(cmx_id_of(self->id)->cookie));
	cmx_id_put(cmx_id_of(self->id));
}

/* One that was acknowledged cannot be given away, and is not freed once more. */
TEST_F(reader, held_event_is_acknowledged_before)
{
	struct rdma_cm_event *event;

	bring(self->id, RDMA_CM_EVENT_ADDR_CHANGE, NULL);
	ASSERT_EQ(0, rdma_get_cm_event(self->channel, &event));
	test_ok(rdma_ack_cm_event(event));
	test_err(EINVAL, rdmax_migrate_id(self->id, self->channel, event, 0, NULL));
	test_err(EINVAL, rdmax_destroy_id(self->id, event, 0, NULL));
	EXPECT_EQ(cmx_id_of(self->id), cmx_table_find(cmx_id_of(self->id)->cookie));
	cmx_id_put(cmx_id_of(self->id));
}

/* As an event is noticed that is acknowledged twice, so is one that was given away. */
TEST_F(reader, given_event_is_acknowledged)
{
	struct rdma_cm_event *event;

	bring(self->id, RDMA_CM_EVENT_ADDR_CHANGE, NULL);
	ASSERT_EQ(0, rdma_get_cm_event(self->channel, &event));
	test_ok(rdmax_migrate_id(self->id, self->channel, event, 0, NULL));
	cmx_sys_ack(0, 0, 0);
	test_err(EINVAL, rdma_ack_cm_event(event));
	EXPECT_EQ(1, rdmax_ack_cm_events(&event, 1));
	EXPECT_EQ(cmx_id_of(self->id), cmx_table_find(cmx_id_of(self->id)->cookie));
	cmx_id_put(cmx_id_of(self->id));
}

/* Its further events are those of an id that this process does not know. */
static void read_as_a_strangers(struct __test_metadata *_metadata,
				struct rdma_event_channel *channel,
				const struct rdma_ucmx_event *head)
{
	struct rdma_cm_event *event, *none;

	fake_bring(head, head->size);
	ASSERT_EQ(1, rdmax_get_cm_events(channel, &event, 1));
	EXPECT_EQ(NULL, event->id);
	test_ok(rdma_ack_cm_event(event));
	fake_bring(head, head->size);
	test_err(EAGAIN, rdma_get_cm_event(channel, &none));
}

static struct rdma_ucmx_event head_of(struct rdma_cm_id *id)
{
	return (struct rdma_ucmx_event){
		.size = sizeof(struct rdma_ucmx_event),
		.event = RDMA_CM_EVENT_ADDR_CHANGE,
		.seq = 77,
		.id = cmx_id_of(id)->handle,
		.cookie = cmx_id_of(id)->cookie,
	};
}

/* An event in hand keeps the memory of an id, and not its name. */
TEST_F(reader, forgotten_with_an_event_in_hand)
{
	struct rdma_ucmx_event head;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	test_ok(rdma_create_id(self->channel, &id, NULL, RDMA_PS_TCP));
	head = head_of(id);
	bring(id, RDMA_CM_EVENT_ADDR_CHANGE, NULL);
	ASSERT_EQ(0, rdma_get_cm_event(self->channel, &event));
	test_ok(rdmax_forget_id(id));
	read_as_a_strangers(_metadata, self->channel, &head);
	head.cookie = 0;
	read_as_a_strangers(_metadata, self->channel, &head);
	test_ok(rdma_ack_cm_event(event));
}

/* Its channel is gone, here, but not what another process has of it. */
TEST_F(reader, destroyed_with_an_event_in_hand)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_ucmx_event head;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	test_ok(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	head = head_of(id);
	bring(id, RDMA_CM_EVENT_ADDR_CHANGE, NULL);
	ASSERT_EQ(0, rdma_get_cm_event(channel, &event));
	rdma_destroy_event_channel(channel);
	test_ok(rdma_destroy_id(id));
	read_as_a_strangers(_metadata, self->channel, &head);
	test_ok(rdma_ack_cm_event(event));
	/* To the kernel it went with its channel. */
	cmx_sys_ack(0, 0, 0);
}

/* An event of an id that is not here, acknowledged. */
TEST_F(reader, adopted_when_its_event_is_acknowledged)
{
	struct rdma_ucmx_event head = head_of(self->id);
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	head.cookie = 1ULL << 63;
	fake_bring(&head, sizeof(head));
	ASSERT_EQ(1, rdmax_get_cm_events(self->channel, &event, 1));
	test_ok(rdma_ack_cm_event(event));
	test_err(EINVAL, rdmax_adopt_id(event, NULL, &id));
}

static struct rdma_cm_event *read_group_event(struct rdma_event_channel *channel,
					      struct rdma_cm_id *id, int type,
					      uint64_t number)
{
	static uint64_t seq;
	struct rdma_ucmx_event head = {
		.size = sizeof(head),
		.event = type,
		.status = type == RDMA_CM_EVENT_MULTICAST_ERROR ? -ENETRESET : 0,
		.seq = ++seq,
		.id = cmx_id_of(id)->handle,
		.cookie = cmx_id_of(id)->cookie,
		.group = FAKE_GROUP,
		.listen_cookie = number,
	};
	struct rdma_cm_event *event;

	fake_bring(&head, sizeof(head));
	return rdma_get_cm_event(channel, &event) ? NULL : event;
}

/* A group that was lost "should be rejoined", from where the event is handled. */
TEST_F(reader, lost_group_is_joined_again)
{
	struct rdma_cm_event *event;
	uint64_t number;
	int i;

	test_ok(rdma_join_multicast(self->id, group_address(), self));
	for (i = 0; i < 4; i++) {
		number = cmx_id_of(self->id)->last_group;
		event = read_group_event(self->channel, self->id,
					 RDMA_CM_EVENT_MULTICAST_JOIN, number);
		ASSERT_NE(NULL, event);
		test_err(EADDRINUSE, rdma_join_multicast(self->id,
							 group_address(), self));
		test_ok(rdma_ack_cm_event(event));
		event = read_group_event(self->channel, self->id,
					 RDMA_CM_EVENT_MULTICAST_ERROR, number);
		ASSERT_NE(NULL, event);
		if (i % 2)
			test_ok(rdma_ack_cm_event(event));
		test_ok(rdma_join_multicast(self->id, group_address(), self));
		if (!(i % 2))
			test_ok(rdma_ack_cm_event(event));
	}
	test_ok(rdma_leave_multicast(self->id, group_address()));
	/* Those that were lost are left. */
	test_err(EADDRNOTAVAIL, rdma_leave_multicast(self->id, group_address()));
}

/*
 * An adopted id may have groups that the other process joined, and numbered as this
 * one numbers its own.
 */
TEST_F(reader, group_of_another_process)
{
	struct rdma_cm_event *event;
	struct rdma_ucmx_event head;

	test_ok(rdma_join_multicast(self->id, group_address(), self));
	head = head_of(self->id);
	head.event = RDMA_CM_EVENT_MULTICAST_ERROR;
	head.group = FAKE_GROUP + 1;
	head.listen_cookie = cmx_id_of(self->id)->last_group;
	fake_bring(&head, sizeof(head));
	ASSERT_EQ(0, rdma_get_cm_event(self->channel, &event));
	EXPECT_EQ(self->id, event->id);
	EXPECT_EQ(NULL, event->param.ud.private_data);
	test_ok(rdma_ack_cm_event(event));
	test_err(EADDRINUSE, rdma_join_multicast(self->id, group_address(), self));
	test_ok(rdma_leave_multicast(self->id, group_address()));
}

/* As a program calls it. */
#undef rdma_join_multicast

static void *join_as_programs_do(void *id)
{
	return (void *)(intptr_t)rdma_join_multicast(id, group_address(), id);
}

/* A call has more to do when its command returns; so it keeps the id. */
TEST_F(reader, id_is_destroyed_while_it_joins)
{
	struct rdma_cm_id *id;
	pthread_t thread;
	void *ret;

	test_ok(rdma_create_id(self->channel, &id, NULL, RDMA_PS_UDP));
	fake_hold(FAKE_BEGUN);
	pthread_create(&thread, NULL, join_as_programs_do, id);
	fake_wait_held();
	test_ok(rdma_destroy_id(id));
	fake_release();
	pthread_join(thread, &ret);
	EXPECT_EQ(NULL, ret);
}

TEST_F(reader, refuses_what_is_no_record)
{
	struct rdma_ucmx_event head = { .size = sizeof(head) - 8 };
	struct rdma_cm_event *event;

	fake_bring(&head, sizeof(head));
	ASSERT_EQ(-1, rdma_get_cm_event(self->channel, &event));
	EXPECT_EQ(EPROTO, errno);
	cmx_sys_ack(0, 0, 0);
}

TEST_HARNESS_MAIN
