// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Adopting ids of which this library knows nothing, and forgetting ids.  Here
 * it is this process that makes them, without the library; between processes:
 * cmx_handover_test.c.
 */
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <arpa/inet.h>

#include <rdma/rdma_cmx.h>
#include <rdma/rdma_ucmx.h>

#include "cmx_scene.h"
#include "lib_scene.h"
#include "test.h"

/* A cookie that could be one of this library. */
#define COOKIE (1ULL << 32 | 1)

FIXTURE(foreign)
{
	struct rdma_event_channel *channel, *other;
	uint32_t handle;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
};

FIXTURE_SETUP(foreign)
{
	self->channel = rdma_create_event_channel();
	self->other = rdma_create_event_channel();
	ASSERT_NE(NULL, self->channel);
	ASSERT_NE(NULL, self->other);
	self->handle = foreign_resolve(self->channel, COOKIE);
	ASSERT_NE(0, self->handle);
	test_ok(events_read(self->channel, &self->event, 1));
	ASSERT_EQ(RDMA_CM_EVENT_ADDR_RESOLVED, self->event->event);
	ASSERT_EQ(NULL, self->event->id);
}

FIXTURE_TEARDOWN(foreign)
{
	EXPECT_EQ(0, channel_outstanding(self->channel));
	EXPECT_EQ(0, channel_outstanding(self->other));
	rdma_destroy_event_channel(self->channel);
	rdma_destroy_event_channel(self->other);
}

static bool is_device_address(struct sockaddr *address)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)address;
	char text[INET_ADDRSTRLEN];

	return v4->sin_family == AF_INET &&
	       inet_ntop(AF_INET, &v4->sin_addr, text, sizeof(text)) &&
	       !strcmp(text, ADDR1);
}

TEST_F(foreign, id_is_complete)
{
	test_ok(rdmax_adopt_id(self->event, self, &self->id));
	ASSERT_EQ(self->id, self->event->id);
	ASSERT_EQ(NULL, self->event->listen_id);
	ASSERT_EQ(self, self->id->context);
	ASSERT_EQ(self->channel, self->id->channel);
	ASSERT_EQ(RDMA_PS_TCP, self->id->ps);
	ASSERT_EQ(IBV_QPT_RC, self->id->qp_type);
	ASSERT_NE(NULL, self->id->verbs);
	ASSERT_NE(NULL, self->id->pd);
	ASSERT_EQ(1, self->id->port_num);
	ASSERT_TRUE(is_device_address(rdma_get_peer_addr(self->id)));
	ASSERT_TRUE(is_device_address(rdma_get_local_addr(self->id)));
	ASSERT_EQ(htons(7471), rdma_get_dst_port(self->id));
	test_ok(rdma_ack_cm_event(self->event));
	/* From here on it is as any other. */
	test_ok(rdma_resolve_route(self->id, 10000));
	test_ok(event_take(self->channel, RDMA_CM_EVENT_ROUTE_RESOLVED));
	ASSERT_EQ(NUM_PATHS, self->id->route.num_paths);
	test_ok(qp_create(self->id));
	id_close(self->id);
	ASSERT_EQ(0, channel_ids(self->channel));
}

/* One that has its route brings the path records along. */
TEST_F(foreign, paths_are_there)
{
	struct rdma_ucmx_resolve_route command = {
		.size = sizeof(command),
		.id = self->handle,
		.timeout_ms = 10000,
	};
	struct rdma_cm_event *event;

	test_ok(ioctl(self->channel->fd, RDMA_UCMX_RESOLVE_ROUTE, &command));
	test_ok(events_read(self->channel, &event, 1));
	test_ok(rdmax_adopt_id(event, NULL, &self->id));
	ASSERT_EQ(NUM_PATHS, self->id->route.num_paths);
	if (NUM_PATHS)
		ASSERT_NE(0, self->id->route.path_rec[0].mtu);
	ASSERT_EQ(1, rdmax_ack_cm_events(&event, 1));
	test_ok(rdma_ack_cm_event(self->event));
	test_ok(rdma_destroy_id(self->id));
}

/* As what it was made, not as most are. */
TEST_F(foreign, kind_is_the_ids)
{
	struct rdma_ucmx_create_id command = {
		.size = sizeof(command),
		.cookie = 5,
		.port_space = RDMA_PS_UDP,
		.qp_type = IBV_QPT_UD,
	};
	struct rdma_cm_event *event;

	test_ok(ioctl(self->channel->fd, RDMA_UCMX_CREATE_ID, &command));
	test_ok(foreign_write(self->channel, command.out_id, 3));
	test_ok(events_read(self->channel, &event, 1));
	ASSERT_EQ(3, rdmax_event_arg(event));
	test_ok(rdmax_adopt_id(event, NULL, &self->id));
	ASSERT_EQ(RDMA_PS_UDP, self->id->ps);
	ASSERT_EQ(IBV_QPT_UD, self->id->qp_type);
	/* Without a device there is none. */
	ASSERT_EQ(NULL, self->id->verbs);
	test_ok(rdmax_destroy_id(self->id, event, 0, NULL));
	test_ok(rdma_ack_cm_event(self->event));
}

TEST_F(foreign, further_events_are_known)
{
	struct rdma_cm_event *event;

	test_ok(rdmax_adopt_id(self->event, self, &self->id));
	test_ok(foreign_write(self->channel, self->handle, 7));
	test_ok(event_expect(self->channel, RDMA_CM_EVENT_USER, &event));
	ASSERT_EQ(self->id, event->id);
	ASSERT_EQ(7, rdmax_event_arg(event));
	test_ok(rdma_ack_cm_event(event));
	test_ok(rdmax_destroy_id(self->id, self->event, 0, NULL));
}

/* By whichever event it is adopted first, it is one id. */
TEST_F(foreign, adopted_by_another_event_in_hand)
{
	struct rdma_cm_event *second;
	struct rdma_cm_id *again;

	test_ok(foreign_write(self->channel, self->handle, 7));
	test_ok(events_read(self->channel, &second, 1));
	ASSERT_EQ(NULL, second->id);
	test_ok(rdmax_adopt_id(second, self, &self->id));
	test_ok(rdmax_adopt_id(self->event, NULL, &again));
	ASSERT_EQ(self->id, again);
	ASSERT_EQ(self->id, self->event->id);
	ASSERT_EQ(self, self->id->context);
	test_err(EAGAIN, rdmax_destroy_id(self->id, second, RDMAX_NONBLOCK,
					  NULL));
	test_ok(rdma_ack_cm_event(self->event));
	test_ok(rdmax_destroy_id(self->id, second, RDMAX_NONBLOCK, NULL));
}

#define THREADS 8

struct adopter {
	pthread_t thread;
	pthread_barrier_t *barrier;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	int ret;
};

static void *adopt(void *argument)
{
	struct adopter *adopter = argument;

	pthread_barrier_wait(adopter->barrier);
	adopter->ret = rdmax_adopt_id(adopter->event, NULL, &adopter->id);
	return NULL;
}

TEST_F(foreign, adopted_by_many_threads_at_once)
{
	struct adopter adopters[THREADS] = { { .event = self->event } };
	pthread_barrier_t barrier;
	int i;

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (i = 1; i < THREADS; i++) {
		test_ok(foreign_write(self->channel, self->handle, i));
		test_ok(events_read(self->channel, &adopters[i].event, 1));
	}
	for (i = 0; i < THREADS; i++) {
		adopters[i].barrier = &barrier;
		pthread_create(&adopters[i].thread, NULL, adopt, &adopters[i]);
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(adopters[i].thread, NULL);
		ASSERT_EQ(0, adopters[i].ret);
		ASSERT_EQ(adopters[0].id, adopters[i].id);
	}
	for (i = 0; i < THREADS; i++)
		test_ok(rdma_ack_cm_event(adopters[i].event));
	test_ok(rdma_destroy_id(adopters[0].id));
	ASSERT_EQ(0, channel_ids(self->channel));
}

TEST_F(foreign, just_acknowledged)
{
	test_ok(rdma_ack_cm_event(self->event));
	ASSERT_EQ(0, channel_outstanding(self->channel));
	ASSERT_EQ(1, channel_ids(self->channel));
}

TEST_F(foreign, parameters)
{
	test_err(EINVAL, rdmax_adopt_id(NULL, NULL, &self->id));
	test_err(EINVAL, rdmax_adopt_id(self->event, NULL, NULL));
	test_ok(rdmax_adopt_id(self->event, NULL, &self->id));
	test_err(EINVAL, rdmax_adopt_id(self->event, NULL, &self->id));
	test_ok(rdmax_destroy_id(self->id, self->event, 0, NULL));
}

static int foreign_destroy(struct rdma_event_channel *channel, uint32_t handle)
{
	struct rdma_ucmx_destroy_id command = {
		.size = sizeof(command),
		.id = handle,
		.deadline = 1,
	};

	return ioctl(channel->fd, RDMA_UCMX_DESTROY_ID, &command);
}

TEST_F(foreign, dying_is_not_adopted)
{
	test_err(ETIMEDOUT, foreign_destroy(self->channel, self->handle));
	test_err(ENOENT, rdmax_adopt_id(self->event, NULL, &self->id));
	ASSERT_EQ(NULL, self->event->id);
	test_ok(rdma_ack_cm_event(self->event));
	ASSERT_EQ(0, channel_ids(self->channel));
}

TEST_F(foreign, gone_with_its_channel)
{
	struct rdma_event_channel *channel = self->channel;

	self->channel = rdma_create_event_channel();
	ASSERT_NE(NULL, self->channel);
	rdma_destroy_event_channel(channel);
	test_err(EBADF, rdmax_adopt_id(self->event, NULL, &self->id));
	test_ok(rdma_ack_cm_event(self->event));
}

static int foreign_announce(struct rdma_event_channel *channel, uint32_t handle,
			    struct rdma_event_channel *target)
{
	struct rdma_ucmx_migrate_id command = {
		.size = sizeof(command),
		.id = handle,
		.target_fd = target->fd,
		.flags = RDMA_UCMX_ANNOUNCE,
	};

	return ioctl(channel->fd, RDMA_UCMX_MIGRATE_ID, &command);
}

/* It was seen and let go; the event is not enough to have it then. */
TEST_F(foreign, adopted_where_it_is)
{
	struct rdma_cm_event *events[2];

	test_ok(rdma_ack_cm_event(self->event));
	test_ok(foreign_write(self->channel, self->handle, 7));
	test_ok(foreign_announce(self->channel, self->handle, self->other));
	test_ok(events_read(self->other, events, 2));
	ASSERT_EQ(RDMAX_EVENT_ARRIVED, events[0]->event);
	ASSERT_EQ(RDMA_CM_EVENT_USER, events[1]->event);
	test_ok(rdmax_adopt_id(events[0], NULL, &self->id));
	ASSERT_EQ(self->other, self->id->channel);
	ASSERT_NE(NULL, self->id->verbs);
	ASSERT_EQ(2, rdmax_ack_cm_events(events, 2));
	test_ok(rdma_destroy_id(self->id));
}

/* What nobody read of the first announcement went along with the second. */
TEST_F(foreign, announced_twice)
{
	struct rdma_cm_event *events[2];
	struct rdma_cm_id *again;

	test_ok(rdma_ack_cm_event(self->event));
	test_ok(foreign_announce(self->channel, self->handle, self->other));
	test_ok(foreign_announce(self->other, self->handle, self->channel));
	test_ok(events_read(self->channel, events, 2));
	ASSERT_EQ(RDMAX_EVENT_ARRIVED, events[0]->event);
	ASSERT_EQ(RDMAX_EVENT_ARRIVED, events[1]->event);
	test_ok(rdmax_adopt_id(events[0], NULL, &self->id));
	test_ok(rdmax_adopt_id(events[1], self, &again));
	ASSERT_EQ(self->id, again);
	ASSERT_EQ(NULL, self->id->context);
	ASSERT_EQ(2, rdmax_ack_cm_events(events, 2));
	test_ok(rdma_destroy_id(self->id));
}

/* The kernel takes no cookie then; it can be got rid of all the same. */
TEST_F(foreign, device_is_gone)
{
	struct rdma_cm_event *removal;
	struct rdma_cm_id *again;

	if (over_iwarp()) {
		test_ok(rdma_ack_cm_event(self->event));
		SKIP(return, "siw goes only when nobody has it open");
	}
	test_ok(device_remove());
	test_ok(events_read(self->channel, &removal, 1));
	ASSERT_EQ(RDMA_CM_EVENT_DEVICE_REMOVAL, removal->event);
	test_ok(rdmax_adopt_id(removal, self, &self->id));
	ASSERT_EQ(NULL, self->id->verbs);
	ASSERT_EQ(self, self->id->context);
	test_ok(rdmax_adopt_id(self->event, NULL, &again));
	ASSERT_EQ(self->id, again);
	test_ok(rdma_ack_cm_event(self->event));
	test_ok(rdma_ack_cm_event(removal));
	test_ok(rdma_migrate_id(self->id, self->other));
	test_ok(rdma_destroy_id(self->id));
	test_ok(device_restore());
}

/*
 * Forgetting
 */

TEST_F(foreign, forgotten_and_adopted_again)
{
	struct rdma_cm_event *event;

	test_ok(rdmax_adopt_id(self->event, NULL, &self->id));
	test_ok(rdmax_forget_id(self->id));
	/* The event in hand outlives it. */
	ASSERT_EQ(self->id, self->event->id);
	test_ok(rdma_ack_cm_event(self->event));
	ASSERT_EQ(0, channel_outstanding(self->channel));
	ASSERT_EQ(1, channel_ids(self->channel));
	test_ok(foreign_write(self->channel, self->handle, 7));
	test_ok(events_read(self->channel, &event, 1));
	ASSERT_EQ(NULL, event->id);
	test_ok(rdmax_adopt_id(event, NULL, &self->id));
	test_ok(rdmax_destroy_id(self->id, event, 0, NULL));
	ASSERT_EQ(0, channel_ids(self->channel));
}

TEST_F(foreign, forgetting_leaves_nothing_behind)
{
	test_ok(rdmax_adopt_id(self->event, NULL, &self->id));
	test_ok(rdma_ack_cm_event(self->event));
	test_ok(qp_create(self->id));
	test_err(EBUSY, rdmax_forget_id(self->id));
	rdma_destroy_qp(self->id);
	test_ok(rdma_migrate_id(self->id, NULL));
	test_err(EINVAL, rdmax_forget_id(self->id));
	test_ok(rdma_migrate_id(self->id, self->other));
	test_ok(rdmax_forget_id(self->id));
	ASSERT_EQ(1, channel_ids(self->other));
	test_err(EINVAL, rdmax_forget_id(NULL));
}

/*
 * Listeners: a request is theirs, and brings another id
 */

FIXTURE(listener)
{
	struct rdma_event_channel *channel, *target, *clients;
	struct rdma_cm_id *client;
	struct rdma_cm_event *events[2];
};

/* One that nobody knows, and of which a request is unread. */
FIXTURE_SETUP(listener)
{
	struct rdma_cm_id *id;
	uint16_t port;

	self->channel = rdma_create_event_channel();
	self->target = rdma_create_event_channel();
	self->clients = rdma_create_event_channel();
	ASSERT_NE(NULL, self->channel);
	ASSERT_NE(NULL, self->target);
	ASSERT_NE(NULL, self->clients);
	id = listener_open(self->channel, ADDR1, 4);
	ASSERT_NE(NULL, id);
	port = listener_port(id);
	test_ok(rdmax_forget_id(id));
	self->client = client_connect(self->clients, ADDR1, port, 7);
	ASSERT_NE(NULL, self->client);
	ASSERT_TRUE(event_comes(self->channel));
}

FIXTURE_TEARDOWN(listener)
{
	id_close(self->client);
	EXPECT_EQ(0, channel_outstanding(self->channel));
	EXPECT_EQ(0, channel_outstanding(self->target));
	rdma_destroy_event_channel(self->channel);
	rdma_destroy_event_channel(self->target);
	rdma_destroy_event_channel(self->clients);
}

TEST_F(listener, id_of_a_request_is_adopted)
{
	struct rdma_cm_id *child;

	test_ok(events_read(self->channel, self->events, 1));
	ASSERT_EQ(RDMA_CM_EVENT_CONNECT_REQUEST, self->events[0]->event);
	ASSERT_EQ(NULL, self->events[0]->id);
	ASSERT_EQ(NULL, self->events[0]->listen_id);
	ASSERT_EQ(7, event_tag(self->events[0]));
	test_ok(rdmax_adopt_id(self->events[0], self, &child));
	ASSERT_EQ(child, self->events[0]->id);
	ASSERT_EQ(NULL, self->events[0]->listen_id);
	test_ok(child_accept(child, 8));
	test_ok(rdma_ack_cm_event(self->events[0]));
	test_ok(event_take(self->clients, RDMA_CM_EVENT_ESTABLISHED));
	test_ok(event_expect(self->channel, RDMA_CM_EVENT_ESTABLISHED,
			     &self->events[0]));
	ASSERT_EQ(child, self->events[0]->id);
	ASSERT_EQ(self, child->context);
	test_ok(rdma_ack_cm_event(self->events[0]));
	id_close(child);
}

/* What the request said is what accepting it starts from. */
TEST_F(listener, request_without_parameters_is_accepted)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *child;

	test_ok(events_read(self->channel, self->events, 1));
	ASSERT_EQ(1, self->events[0]->param.conn.responder_resources);
	test_ok(rdmax_adopt_id(self->events[0], NULL, &child));
	test_ok(qp_create(child));
	test_ok(rdma_accept(child, NULL));
	test_ok(rdma_ack_cm_event(self->events[0]));
	test_ok(event_expect(self->clients, RDMA_CM_EVENT_ESTABLISHED, &event));
	ASSERT_EQ(1, event->param.conn.responder_resources);
	ASSERT_EQ(1, event->param.conn.initiator_depth);
	test_ok(rdma_ack_cm_event(event));
	test_ok(event_take(self->channel, RDMA_CM_EVENT_ESTABLISHED));
	id_close(child);
	test_ok(event_take(self->clients, RDMA_CM_EVENT_DISCONNECTED));
}

/* Nobody will have it: it is refused. */
TEST_F(listener, request_is_passed_over)
{
	struct rdma_cm_event *event;

	test_ok(fcntl(self->channel->fd, F_SETFL, O_NONBLOCK));
	test_err(EAGAIN, rdma_get_cm_event(self->channel, &event));
	test_ok(event_take(self->clients, RDMA_CM_EVENT_REJECTED));
	ASSERT_EQ(1, channel_ids(self->channel));
}

TEST_F(listener, request_is_just_acknowledged)
{
	test_ok(events_read(self->channel, self->events, 1));
	ASSERT_EQ(NULL, self->events[0]->id);
	test_ok(rdma_ack_cm_event(self->events[0]));
	test_ok(event_take(self->clients, RDMA_CM_EVENT_REJECTED));
	ASSERT_EQ(1, channel_ids(self->channel));
}

static uint32_t only_handle(struct rdma_event_channel *channel)
{
	struct rdma_ucmx_id_info info = { 0 };
	struct rdma_ucmx_list_ids list = {
		.size = sizeof(list),
		.count = 1,
		.info_size = sizeof(info),
		.ids = (uintptr_t)&info,
	};

	return ioctl(channel->fd, RDMA_UCMX_LIST_IDS, &list) == 1 ? info.id : 0;
}

/* Its announcement and the request are read in one go, and adopted afterwards. */
TEST_F(listener, adopted_with_its_requests)
{
	struct rdma_cm_id *listener, *child;

	test_ok(foreign_announce(self->channel, only_handle(self->channel),
				 self->target));
	test_ok(events_read(self->target, self->events, 2));
	ASSERT_EQ(RDMAX_EVENT_ARRIVED, self->events[0]->event);
	ASSERT_EQ(RDMA_CM_EVENT_CONNECT_REQUEST, self->events[1]->event);
	test_ok(rdmax_adopt_id(self->events[0], self, &listener));
	test_ok(rdmax_adopt_id(self->events[1], NULL, &child));
	ASSERT_NE(listener, child);
	ASSERT_EQ(listener, self->events[1]->listen_id);
	ASSERT_EQ(child, self->events[1]->id);
	test_ok(rdma_reject(child, NULL, 0));
	test_ok(rdma_destroy_id(child));
	ASSERT_EQ(2, rdmax_ack_cm_events(self->events, 2));
	test_ok(event_take(self->clients, RDMA_CM_EVENT_REJECTED));
	test_ok(rdma_destroy_id(listener));
	ASSERT_EQ(0, channel_ids(self->target));
}

/*
 * Channels of descriptors
 */

TEST(channel_from_fd)
{
	struct rdma_event_channel *channel, *twin;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	int fd, pipes[2];

	errno = 0;
	ASSERT_EQ(NULL, rdmax_channel_from_fd(-1));
	ASSERT_EQ(EBADF, errno);
	test_ok(pipe(pipes));
	ASSERT_EQ(NULL, rdmax_channel_from_fd(pipes[0]));
	ASSERT_EQ(EINVAL, errno);
	ASSERT_EQ(0, fcntl(pipes[0], F_GETFD));

	channel = rdma_create_event_channel();
	ASSERT_NE(NULL, channel);
	fd = dup(channel->fd);
	ASSERT_LE(0, fd);
	twin = rdmax_channel_from_fd(fd);
	ASSERT_NE(NULL, twin);
	ASSERT_EQ(fd, twin->fd);
	ASSERT_EQ(FD_CLOEXEC, fcntl(fd, F_GETFD));
	/* One channel under two names. */
	test_ok(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	test_ok(events_write(id, 1, 1));
	test_ok(event_expect(twin, RDMA_CM_EVENT_USER, &event));
	ASSERT_EQ(id, event->id);
	ASSERT_EQ(twin, id->channel);
	rdma_destroy_event_channel(channel);
	test_ok(rdma_ack_cm_event(event));
	test_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(twin);
	errno = 0;
	ASSERT_EQ(-1, fcntl(fd, F_GETFD));
	ASSERT_EQ(EBADF, errno);
}

TEST_HARNESS_MAIN
