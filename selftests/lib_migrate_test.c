// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Migration by the public interface of librdmacm alone: the program neither
 * knows nor is linked with anything of ours.  Over our library all tests pass;
 * over the system's those fail that lib_stock.sh names.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>

#include "lib_scene.h"
#include "test.h"

#define MAX_CLIENTS 20

FIXTURE(migrate) {
	struct rdma_event_channel *source;
	struct rdma_event_channel *target;
	struct rdma_event_channel *client;
};

/* Not blocking, so that an event that is lost is a test that fails. */
static struct rdma_event_channel *channel_open(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();

	if (channel && fcntl(channel->fd, F_SETFL, O_NONBLOCK)) {
		rdma_destroy_event_channel(channel);
		channel = NULL;
	}
	return channel;
}

FIXTURE_SETUP(migrate)
{
	self->source = channel_open();
	self->target = channel_open();
	self->client = channel_open();
	ASSERT_NE(NULL, self->source);
	ASSERT_NE(NULL, self->target);
	ASSERT_NE(NULL, self->client);
}

FIXTURE_TEARDOWN(migrate)
{
	rdma_destroy_event_channel(self->source);
	rdma_destroy_event_channel(self->target);
	rdma_destroy_event_channel(self->client);
}

/*
 * Requests are queued, their listener is migrated, they are accepted on the
 * target: @n of them.
 */
#define TEST_QUEUED(ip, n) do {						\
	struct rdma_cm_id *clients[MAX_CLIENTS], *children[MAX_CLIENTS];	\
	struct rdma_cm_event *event;					\
	struct rdma_cm_id *listener;					\
	unsigned int i, tag;						\
									\
	listener = listener_open(self->source, ip, MAX_CLIENTS);	\
	ASSERT_NE(NULL, listener);					\
	for (i = 0; i < (n); i++) {					\
		clients[i] = client_connect(self->client, ADDR1,	\
					    listener_port(listener), i);	\
		ASSERT_NE(NULL, clients[i]);				\
	}								\
	ASSERT_TRUE(event_comes(self->source));				\
	test_ok(rdma_migrate_id(listener, self->target));		\
	EXPECT_EQ(self->target, listener->channel);			\
	for (i = 0; i < (n); i++) {					\
		test_ok(event_expect(self->target,			\
				     RDMA_CM_EVENT_CONNECT_REQUEST, &event)); \
		EXPECT_EQ(listener, event->listen_id);			\
		EXPECT_EQ(self->target, event->id->channel);		\
		children[i] = event->id;				\
		tag = event_tag(event);					\
		ASSERT_LT(tag, (n));					\
		test_ok(rdma_ack_cm_event(event));			\
		test_ok(child_accept(children[i], tag));		\
	}								\
	for (i = 0; i < (n); i++) {					\
		test_ok(event_take(self->client,			\
				   RDMA_CM_EVENT_ESTABLISHED));		\
		test_ok(event_take(self->target,			\
				   RDMA_CM_EVENT_ESTABLISHED));		\
	}								\
	EXPECT_FALSE(event_there(self->source));			\
	for (i = 0; i < (n); i++) {					\
		id_close(clients[i]);					\
		id_close(children[i]);					\
	}								\
	id_close(listener);						\
} while (0)

TEST_F(migrate, queued_request)
{
	TEST_QUEUED(ADDR1, 1U);
}

TEST_F(migrate, queued_request_of_a_wildcard_listener)
{
	TEST_QUEUED("0.0.0.0", 1U);
}

TEST_F(migrate, many_queued_requests)
{
	/* More than some thirty queue pairs the library for siw does not make. */
	TEST_QUEUED(ADDR1, scaled(over_iwarp() ? MAX_CLIENTS / 2 : MAX_CLIENTS));
}

/* A connection, accepted on the source; its ESTABLISHED pending there. */
#define OPEN_CONNECTION(listener, child, id) do {			\
	struct rdma_cm_event *_event;					\
									\
	listener = listener_open(self->source, ADDR1, 1);		\
	ASSERT_NE(NULL, listener);					\
	id = client_connect(self->client, ADDR1, listener_port(listener), 0); \
	ASSERT_NE(NULL, id);						\
	test_ok(event_expect(self->source,				\
			     RDMA_CM_EVENT_CONNECT_REQUEST, &_event));	\
	child = _event->id;						\
	test_ok(rdma_ack_cm_event(_event));				\
	test_ok(child_accept(child, 0));				\
	test_ok(event_take(self->client, RDMA_CM_EVENT_ESTABLISHED));	\
	ASSERT_TRUE(event_comes(self->source));				\
} while (0)

TEST_F(migrate, pending_event_of_a_connection)
{
	struct rdma_cm_id *listener, *child, *id;
	struct rdma_cm_event *event;

	OPEN_CONNECTION(listener, child, id);
	test_ok(rdma_migrate_id(child, self->target));
	EXPECT_FALSE(event_there(self->source));
	test_ok(event_expect(self->target, RDMA_CM_EVENT_ESTABLISHED, &event));
	EXPECT_EQ(child, event->id);
	test_ok(rdma_ack_cm_event(event));
	test_ok(rdma_disconnect(id));
	test_ok(event_take(self->target, RDMA_CM_EVENT_DISCONNECTED));
	test_ok(rdma_disconnect(child));
	id_close(id);
	id_close(child);
	id_close(listener);
}

static void *blocked_reader(void *channel)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	if (rdma_get_cm_event(channel, &event))
		return NULL;
	id = event->id;
	return rdma_ack_cm_event(event) ? NULL : id;
}

/* Join with patience; NULL if the thread does not end. */
static void *join(pthread_t thread)
{
	struct timespec end;
	void *result;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += patience_ms() / 1000;
	return pthread_timedjoin_np(thread, &result, &end) ? NULL : result;
}

TEST_F(migrate, blocked_reader_of_the_target_wakes)
{
	struct rdma_cm_id *listener, *child, *id;
	pthread_t reader;

	OPEN_CONNECTION(listener, child, id);
	ASSERT_EQ(0, fcntl(self->target->fd, F_SETFL, 0));
	ASSERT_EQ(0, pthread_create(&reader, NULL, blocked_reader, self->target));
	test_ok(rdma_migrate_id(child, self->target));
	ASSERT_EQ(child, join(reader));
	id_close(id);
	id_close(child);
	id_close(listener);
}

/* As many servers do: in the handler's place, then the event. */
struct migration {
	struct rdma_cm_id *id;
	struct rdma_event_channel *target;
	atomic_bool returned;
	int result;
};

static void *migration_main(void *arg)
{
	struct migration *migration = arg;

	migration->result = rdma_migrate_id(migration->id, migration->target);
	migration->returned = true;
	return migration;
}

TEST_F(migrate, waits_for_an_event_that_was_read)
{
	struct rdma_cm_id *listener, *child, *id;
	struct rdma_cm_event *event;
	struct migration migration;
	pthread_t mover;

	OPEN_CONNECTION(listener, child, id);
	test_ok(event_expect(self->source, RDMA_CM_EVENT_ESTABLISHED, &event));
	migration = (struct migration){ .id = child, .target = self->target };
	ASSERT_EQ(0, pthread_create(&mover, NULL, migration_main, &migration));
	/* The peer's next event: readable nowhere until this is acknowledged. */
	test_ok(rdma_disconnect(id));
	ASSERT_FALSE(migration.returned);
	EXPECT_FALSE(event_there(self->target));
	test_ok(rdma_ack_cm_event(event));
	ASSERT_EQ(&migration, join(mover));
	EXPECT_EQ(0, migration.result);
	test_ok(event_expect(self->target, RDMA_CM_EVENT_DISCONNECTED, &event));
	EXPECT_EQ(child, event->id);
	test_ok(rdma_ack_cm_event(event));
	id_close(id);
	id_close(child);
	id_close(listener);
}

/* Commands find the id wherever it is, right across the commit. */
struct commander {
	struct rdma_cm_id *id;
	atomic_bool stop;
	atomic_uint commands;
	atomic_uint failures;
};

static void *commander_main(void *arg)
{
	struct commander *commander = arg;
	uint8_t tos = 0;

	while (!commander->stop) {
		tos++;
		if (rdma_set_option(commander->id, RDMA_OPTION_ID,
				    RDMA_OPTION_ID_TOS, &tos, sizeof(tos)))
			commander->failures++;
		commander->commands++;
	}
	return commander;
}

TEST_F(migrate, commands_while_it_goes_to_and_fro)
{
	struct commander commander = {};
	unsigned int i = 0, n = scaled(1000);
	pthread_t thread;

	commander.id = client_resolved(self->source, ADDR1, 7);
	ASSERT_NE(NULL, commander.id);
	ASSERT_EQ(0, pthread_create(&thread, NULL, commander_main, &commander));
	for (; i < n || commander.commands < n; i++)
		test_ok(rdma_migrate_id(commander.id, i % 2 ? self->source :
							      self->target));
	commander.stop = true;
	ASSERT_EQ(&commander, join(thread));
	EXPECT_EQ(0, commander.failures);
	id_close(commander.id);
}

TEST_HARNESS_MAIN
