// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Any command on any id from any thread: every thread draws its commands and
 * ids from a generator of its own.  What comes out of a single call is not
 * known; that the kernel stands, that nobody hangs, and that in the end every
 * id and event can be accounted for, is.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "every.h"
#include "scene.h"
#include "test.h"

#define CHANNELS 3
#define THREADS 4
#define SLOTS 16

static int channels[CHANNELS];
static _Atomic __u32 slots[SLOTS];
static __u16 port;

struct storm {
	pthread_t thread;
	unsigned int seed;
	unsigned int rounds;
	unsigned int created;
	unsigned int migrated;
	unsigned int connected;
};

static unsigned int draw(struct storm *storm, unsigned int n)
{
	return rand_r(&storm->seed) % n;
}

/* Now and then one that nobody was told. */
static __u32 draw_id(struct storm *storm)
{
	__u32 id = slots[draw(storm, SLOTS)];

	return draw(storm, 16) ? id : id + draw(storm, 8);
}

static int draw_channel(struct storm *storm)
{
	return channels[draw(storm, CHANNELS)];
}

static __u64 soon(void)
{
	return now_ns() + 2000000;
}

static void read_and_acknowledge(struct storm *storm, int fd)
{
	char record[RDMA_UCMX_READ_MIN];
	struct event ev;
	ssize_t size = read(fd, record, sizeof(record));

	if (size <= 0 || event_parse(record, size, &ev) < 0)
		return;
	if (ev.head.event == EV_CONNECT_REQUEST)
		slots[draw(storm, SLOTS)] = ev.head.id;
	/* Somebody else may clean up after this reader. */
	if (draw(storm, 8))
		cmd_ack(fd, ev.head.listen_id ?: ev.head.id, ev.head.seq);
}

static void create(struct storm *storm, int fd)
{
	__u32 id;

	if (cmd_create_id(fd, PS_TCP, draw(storm, 100), &id))
		return;
	storm->created++;
	slots[draw(storm, SLOTS)] = id;
}

/* A request, which chance alone would hardly ever bring about. */
static void connect_anew(struct storm *storm, int fd)
{
	struct rdma_ucmx_conn_param param = conn_param();
	struct rdma_ucmx_addr dst = addr(ADDR1, port);
	int tries;
	__u32 id;

	if (cmd_create_id(fd, PS_TCP, 0, &id))
		return;
	cmd_resolve_addr(fd, id, NULL, &dst);
	for (tries = 0; tries < 200 && cmd_resolve_route(fd, id); tries++)
		pause_briefly();
	for (tries = 0; tries < 200 && cmd_connect(fd, id, &param); tries++)
		pause_briefly();
	storm->connected += tries < 200;
	slots[draw(storm, SLOTS)] = id;
}

static void connect_as_is(int fd, __u32 id)
{
	struct rdma_ucmx_conn_param param = conn_param();

	cmd_connect(fd, id, &param);
}

static void accept_as_is(int fd, __u32 id)
{
	struct rdma_ucmx_conn_param param = conn_param();

	cmd_accept(fd, id, 0, &param);
}

static void step(struct storm *storm)
{
	struct rdma_ucmx_addr dst = addr(ADDR1, port), src = addr(ADDR1, 0);
	struct rdma_ucmx_qp_attr attr;
	struct rdma_ucmx_query query;
	int fd = draw_channel(storm);
	__u32 id = draw_id(storm);
	__u8 tos = 8;

	switch (draw(storm, 20)) {
	case 0 ... 1:
		create(storm, fd);
		break;
	case 2:
		cmd_destroy_id_opt(fd, id, 0, soon(), 0);
		break;
	case 3:
		cmd_destroy_id_opt(fd, id, RDMA_UCMX_NONBLOCK, 0, 0);
		break;
	case 4:
		cmd_bind_addr(fd, id, &src);
		break;
	case 5 ... 6:
		cmd_resolve_addr(fd, id, NULL, &dst);
		break;
	case 7 ... 8:
		cmd_resolve_route(fd, id);
		break;
	case 9:
		cmd_listen(fd, id, draw(storm, 3));
		break;
	case 10:
		if (draw(storm, 4))
			connect_as_is(fd, id);
		else
			connect_anew(storm, fd);
		break;
	case 11:
		accept_as_is(fd, id);
		break;
	case 12:
		cmd_reject(fd, id, 0, "", 0);
		break;
	case 13:
		cmd_disconnect(fd, id);
		break;
	case 14:
		cmd_query(fd, id, &query);
		break;
	case 15:
		cmd_init_qp_attr(fd, id, draw(storm, 8), &attr);
		break;
	case 16:
		cmd_set_option(fd, id, 0, 0, &tos, sizeof(tos));
		break;
	case 17:
		cmd_ack(fd, id, 0);
		break;
	case 18:
		read_and_acknowledge(storm, fd);
		break;
	case 19:
		if (!cmd_migrate_id_opt(fd, id, draw_channel(storm), 0, soon(), 0))
			storm->migrated++;
		break;
	}
}

static void *run(void *arg)
{
	struct storm *storm = arg;

	while (storm->rounds--)
		step(storm);
	return NULL;
}

TEST(any_commands_on_any_ids)
{
	struct storm storms[THREADS] = {};
	unsigned int created = 0, migrated = 0, connected = 0;
	struct connection connection;
	__u32 listener;

	for (int i = 0; i < CHANNELS; i++) {
		channels[i] = channel_open_nonblock();
		ASSERT_LE(0, channels[i]);
	}
	test_ok(listener_open(channels[0], "0.0.0.0", 0, &listener, &port));
	slots[0] = listener;
	for (int i = 0; i < THREADS; i++) {
		/* Whoever destroys an id that is connecting waits for seconds with iWARP. */
		storms[i] = (struct storm){
			.seed = i + 1, .rounds = scaled(over_iwarp() ? 1000 : 4000),
		};
		ASSERT_EQ(0, pthread_create(&storms[i].thread, NULL, run, &storms[i]));
	}
	for (int i = 0; i < THREADS; i++) {
		ASSERT_EQ(0, pthread_join(storms[i].thread, NULL));
		created += storms[i].created;
		migrated += storms[i].migrated;
		connected += storms[i].connected;
	}
	TH_LOG("%u ids, %u migrations, %u requests", created, migrated, connected);
	EXPECT_LT(0, created);
	EXPECT_LT(0, migrated);
	EXPECT_LT(0, connected);
	for (int i = 0; i < CHANNELS; i++)
		test_ok(channel_clear(channels[i]));
	/* And all works as before. */
	test_ok(connection_open(channels[0], channels[1], ADDR1, &connection));
}

struct binding {
	int fd;
	__u32 id;
	struct rdma_ucmx_addr taken;
	atomic_bool stop;
	unsigned int wrong;
};

/* Each time the id has a device, for a moment. */
static void *bind_in_vain(void *arg)
{
	struct binding *binding = arg;

	while (!binding->stop) {
		if (!cmd_bind_addr(binding->fd, binding->id, &binding->taken) ||
		    errno != EADDRINUSE)
			binding->wrong++;
	}
	return NULL;
}

/* What an announcement says of an id may be changing. */
TEST(c16_announced_while_it_is_bound)
{
	struct binding binding = { .fd = channel_open() };
	int fd = binding.fd;
	pthread_t thread;
	__u32 listener;
	__u16 port;

	ASSERT_LE(0, fd);
	test_ok(listener_open(fd, ADDR1, 1, &listener, &port));
	binding.taken = addr(ADDR1, port);
	test_ok(cmd_create_id(fd, PS_TCP, 0, &binding.id));
	ASSERT_EQ(0, pthread_create(&thread, NULL, bind_in_vain, &binding));
	for (unsigned int i = 0; i < scaled(8000); i++) {
		test_ok(cmd_migrate_id_opt(fd, binding.id, fd,
					   RDMA_UCMX_ANNOUNCE, 0, 0));
		test_ok(event_take(fd, EV_ARRIVED, binding.id));
	}
	binding.stop = true;
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(0, binding.wrong);
	close(fd);
}

TEST_HARNESS_MAIN
