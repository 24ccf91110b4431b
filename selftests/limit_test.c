// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Growth is bounded (C19): limits of ids, of one channel, one user and in all, of
 * events and groups; a target that is full.
 */
#include <stdlib.h>
#include <unistd.h>

#include "scene.h"
#include "test.h"

/* The module may have another name: a wrong copy of it, to see that a test fails. */
static int set_limit(const char *parameter, __u32 limit)
{
	const char *module = getenv("UCMX_MODULE_NAME");
	char path[128], text[16];

	snprintf(path, sizeof(path), "/sys/module/%s/parameters/%s",
		 module ? module : "rdma_ucmx", parameter);
	snprintf(text, sizeof(text), "%u", limit);
	return write_file(path, text);
}

#define SET_CHANNEL_LIMIT(n) \
	test_ok(set_limit("max_channel_ids", n))
#define SET_LIMIT(n) test_ok(set_limit("max_ids", n))

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
	EXPECT_EQ(0, set_limit("max_ids", self->was.out_max_ids));
	EXPECT_EQ(0, set_limit("max_channel_ids",
			       self->was.out_max_channel_ids));
	EXPECT_EQ(0, set_limit("max_backlog",
			       self->was.out_max_backlog));
	EXPECT_EQ(0, set_limit("max_user_events",
			       self->was.out_max_user_events));
	EXPECT_EQ(0, set_limit("max_events_per_user",
			       self->was.out_max_events_per_user));
	EXPECT_EQ(0, set_limit("max_groups",
			       self->was.out_max_groups));
	EXPECT_EQ(0, set_limit("max_ids_per_user",
			       self->was.out_max_ids_per_user));
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

/* Channels that @uid opened; one's real user stays root. */
static int channel_open_as(uid_t uid)
{
	int fd;

	if (seteuid(uid))
		return -1;
	fd = channel_open();
	return seteuid(0) ? -1 : fd;
}

static __u32 ids_of_user(int fd)
{
	struct rdma_ucmx_info info;

	return cmd_info(fd, &info) ? ~0U : info.out_ids_of_user;
}

/* Whoever uses the channel: what counts is who opened it. */
TEST_F(limit, c19_ids_of_a_user)
{
	struct rdma_ucmx_info info;
	struct connection connection;
	int one = channel_open_as(1000), another = channel_open_as(1000);
	__u32 ids[3], id;

	ASSERT_LE(0, one);
	ASSERT_LE(0, another);
	test_ok(set_limit("max_ids_per_user", 3));
	test_ok(cmd_info(one, &info));
	EXPECT_EQ(3, info.out_max_ids_per_user);
	test_ok(cmd_create_id(one, PS_TCP, 0, &ids[0]));
	test_ok(cmd_create_id(another, PS_TCP, 0, &ids[1]));
	test_ok(cmd_create_id(one, PS_TCP, 0, &ids[2]));
	EXPECT_EQ(3, ids_of_user(another));
	test_err(ENOSPC, cmd_create_id(one, PS_TCP, 0, &id));
	test_err(ENOSPC, cmd_create_id(another, PS_TCP, 0, &id));
	/* That stops nobody else's connections. */
	ASSERT_TRUE(wait_until(ids_of_user(self->source) == 0));
	test_ok(connection_open(self->source, self->target, ADDR1, &connection));
	EXPECT_EQ(3, ids_of_user(self->source));
	/* An id that moves is charged to whom it goes to. */
	test_ok(cmd_migrate_id(one, ids[0], another));
	EXPECT_EQ(3, ids_of_user(one));
	test_ok(cmd_migrate_id(one, ids[2], self->target));
	EXPECT_EQ(2, ids_of_user(one));
	EXPECT_EQ(4, ids_of_user(self->target));
	test_ok(cmd_create_id(one, PS_TCP, 0, &id));
	test_err(ENOSPC, cmd_create_id(self->source, PS_TCP, 0, &id));
	close(another);
	EXPECT_EQ(1, ids_of_user(one));
	close(one);
}

/* A user at the limit gets no requests any more. */
TEST_F(limit, c19_requests_of_a_user)
{
	int server = channel_open_as(1000);
	__u32 listener, clients[3];
	__u16 port;

	ASSERT_LE(0, server);
	test_ok(set_limit("max_ids_per_user", 3));
	test_ok(listener_open(server, ADDR1, 8, &listener, &port));
	test_ok(clients_connect(self->source, ADDR1, port, ARRAY_LEN(clients),
				clients));
	ASSERT_TRUE(wait_until(channel_ids(server) == 3));
	EXPECT_EQ(3, ids_of_user(server));
	close(server);
}

/* A request is read, and the id that it brought destroyed; not acknowledged. */
static int request_without_ack(int server, int client, __u16 port,
			       struct event *request)
{
	__u32 id;

	if (client_connect(client, ADDR1, port, &id) ||
	    event_expect(server, EV_CONNECT_REQUEST, request) ||
	    cmd_destroy_id(server, request->head.id) ||
	    event_take(client, EV_REJECTED, id))
		return -1;
	return cmd_destroy_id(client, id);
}

/* What is left of the requests is the user's, too, though it is no id any more. */
TEST_F(limit, c19_requests_that_are_not_acknowledged)
{
	int server = channel_open_as(1000);
	struct event ev, other, late;
	__u32 listener, client, id;
	__u16 first, port;
	unsigned int i;

	ASSERT_LE(0, server);
	test_ok(set_limit("max_ids_per_user", 5));
	test_ok(listener_open(server, ADDR1, 8, &listener, &first));
	for (i = 0; i < 5; i++)
		test_ok(request_without_ack(server, self->source, first, &ev));
	EXPECT_EQ(1, ids_of_user(server));
	test_ok(client_connect(self->source, ADDR1, first, &client));
	/* With iWARP it is rejected, and who wants to try again does so. */
	if (over_iwarp())
		test_ok(event_take(self->source, EV_REJECTED, client));
	/* Another user's listener takes the request that was sent later. */
	test_ok(listener_open(self->target, ADDR1, 8, &id, &port));
	test_ok(client_connect(self->source, ADDR1, port, &id));
	test_ok(event_expect(self->target, EV_CONNECT_REQUEST, &other));
	EXPECT_FALSE(readable(server));
	EXPECT_EQ(1, ids_of_user(server));
	/* It is sent again, and there is room now. */
	test_ok(event_ack(server, &ev));
	if (over_iwarp())
		test_ok(client_connect(self->source, ADDR1, first, &client));
	test_ok(event_expect(server, EV_CONNECT_REQUEST, &late));
	EXPECT_EQ(listener, late.head.listen_id);
	close(server);
}

/* The first half: requests, events and groups, on one channel that is full then. */
static void fill_channel(struct __test_metadata *const _metadata, int fd,
			 int clients)
{
	struct rdma_ucmx_addr local = addr(ADDR1, 0);
	struct rdma_ucmx_addr groups[] = {
		addr("239.1.1.1", 0), addr("239.1.1.2", 0), addr("239.1.1.3", 0),
	};
	__u32 id, ids[3], group;
	unsigned int i;
	__u16 port;

	test_ok(listener_open(fd, ADDR1, 1000, &id, &port));
	/* One after the other: siw may lose one that comes beyond the backlog. */
	for (i = 0; i < ARRAY_LEN(ids); i++) {
		test_ok(client_connect(clients, ADDR1, port, &ids[i]));
		ASSERT_TRUE(wait_until(channel_ids(fd) == (i ? 3 : 2)));
	}
	if (over_iwarp())
		test_ok(event_take(clients, EV_REJECTED, ids[2]));
	test_ok(cmd_create_id(fd, PS_TCP, 0, &id));
	for (i = 0; i < 3; i++)
		test_ok(cmd_write_event(fd, id, EV_USER, 0, i));
	test_err(ENOSPC, cmd_write_event(fd, id, EV_USER, 0, i));
	test_ok(cmd_create_id(fd, PS_UDP, 0, &id));
	test_ok(cmd_bind_addr(fd, id, &local));
	/* iWARP has no groups. */
	for (i = 0; i < 2 && !over_iwarp(); i++)
		test_ok(cmd_join_mcast(fd, id, &groups[i], 1, 0, &group));
	test_err(over_iwarp() ? ENOSYS : ENOSPC,
		 cmd_join_mcast(fd, id, &groups[i], 1, 0, &group));
	test_err(ENOSPC, cmd_create_id(fd, PS_TCP, 0, &id));
	EXPECT_EQ(5, channel_ids(fd));
}

/*
 * With every limit reached, each of them with the documented error: others
 * connect and migrate as ever.
 */
TEST_F(limit, c19_one_user_at_every_limit)
{
	int one = channel_open_as(1000), another = channel_open_as(1000);
	struct connection connection;
	unsigned int i;
	__u32 id;

	ASSERT_LE(0, one);
	ASSERT_LE(0, another);
	/* There are always ids left for others. */
	EXPECT_LT(self->was.out_max_ids_per_user, self->was.out_max_ids);
	test_ok(set_limit("max_ids_per_user", 8));
	SET_CHANNEL_LIMIT(5);
	test_ok(set_limit("max_backlog", 2));
	test_ok(set_limit("max_user_events", 3));
	test_ok(set_limit("max_groups", 2));
	fill_channel(_metadata, one, self->source);
	for (i = 0; i < 3; i++)
		test_ok(cmd_create_id(another, PS_TCP, 0, &id));
	test_err(ENOSPC, cmd_create_id(another, PS_TCP, 0, &id));
	EXPECT_EQ(8, ids_of_user(one));
	test_ok(connection_open(self->target, self->source, ADDR1, &connection));
	test_ok(cmd_migrate_id(self->target, connection.child, self->source));
	EXPECT_EQ(8, ids_of_user(one));
	/* The requests that were taken are two. */
	EXPECT_EQ(5, channel_ids(one));
	close(another);
	close(one);
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

	test_ok(set_limit("max_user_events", 2));
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

/* To accept a request causes an event; to confirm the answer to one's own, none. */
TEST_F(limit, c19_events_that_answers_cause)
{
	struct event request, answer;
	__u32 listener, client;
	__u16 port;

	test_ok(listener_open(self->source, ADDR1, 1, &listener, &port));
	test_ok(client_connect(self->target, ADDR1, port, &client));
	test_ok(event_expect(self->source, EV_CONNECT_REQUEST, &request));
	test_ok(event_ack(self->source, &request));
	test_ok(cmd_write_event(self->source, request.head.id, EV_USER, 0, 1));
	test_ok(set_limit("max_user_events", 1));
	test_err(ENOSPC, child_accept(self->source, &request, 0));
	test_ok(set_limit("max_user_events", 2));
	test_ok(child_accept(self->source, &request, 0));
	test_ok(event_expect(self->target, EV_ANSWER, &answer));
	test_ok(set_limit("max_user_events", 1));
	if (!over_iwarp())
		test_ok(cmd_accept(self->target, client, 0, NULL));
	test_ok(event_take(self->source, EV_USER, request.head.id));
	test_ok(event_take(self->source, EV_ESTABLISHED, request.head.id));
	test_ok(event_ack(self->target, &answer));
}

static __u32 events_of_user(int fd)
{
	struct rdma_ucmx_info info;

	return cmd_info(fd, &info) ? ~0U : info.out_events_of_user;
}

/* However many ids and channels they are on. */
TEST_F(limit, c19_events_of_a_user)
{
	int one = channel_open_as(1000), another = channel_open_as(1000);
	struct rdma_ucmx_addr dst = addr(ADDR1, 7);
	struct rdma_ucmx_info info;
	__u32 ids[3], id;
	unsigned int i;

	ASSERT_LE(0, one);
	ASSERT_LE(0, another);
	/* What was here before may still be coming to its end. */
	ASSERT_TRUE(wait_until(!events_of_user(one) &&
			       !events_of_user(self->target)));
	test_ok(set_limit("max_events_per_user", 3));
	test_ok(cmd_info(one, &info));
	EXPECT_EQ(3, info.out_max_events_per_user);
	for (i = 0; i < 3; i++) {
		test_ok(cmd_create_id(one, PS_TCP, 0, &ids[i]));
		test_ok(cmd_write_event(one, ids[i], EV_USER, 0, i));
	}
	test_ok(cmd_create_id(another, PS_TCP, 0, &id));
	EXPECT_EQ(3, events_of_user(another));
	test_err(ENOSPC, cmd_write_event(another, id, EV_USER, 0, 3));
	test_err(ENOSPC, cmd_resolve_addr(another, id, NULL, &dst));
	test_err(ENOSPC, cmd_migrate_id_opt(one, ids[0], another,
					    RDMA_UCMX_ANNOUNCE, 0, 0));
	/* An event that moves to another user is still the one's who raised it. */
	test_ok(cmd_migrate_id(one, ids[0], self->target));
	EXPECT_EQ(0, events_of_user(self->target));
	test_ok(cmd_write_event(self->target, ids[0], EV_USER, 0, 4));
	EXPECT_EQ(1, events_of_user(self->target));
	test_err(ENOSPC, cmd_write_event(another, id, EV_USER, 0, 3));
	/* Acknowledged, destroyed, closed: each makes room. */
	test_ok(event_take(self->target, EV_USER, ids[0]));
	EXPECT_EQ(2, events_of_user(one));
	test_ok(cmd_destroy_id(one, ids[1]));
	EXPECT_EQ(1, events_of_user(one));
	close(one);
	EXPECT_EQ(0, events_of_user(another));
	test_ok(cmd_resolve_addr(another, id, NULL, &dst));
	close(another);
}

TEST_F(limit, c19_groups_of_an_id)
{
	struct rdma_ucmx_addr local = addr(ADDR1, 0);
	struct rdma_ucmx_addr groups[] = {
		addr("239.1.1.1", 0), addr("239.1.1.2", 0), addr("239.1.1.3", 0),
	};
	struct event ev;
	__u32 id, group, other;

	if (over_iwarp())
		SKIP(return, "iWARP has no groups");
	test_ok(set_limit("max_groups", 2));
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

TEST_HARNESS_MAIN
