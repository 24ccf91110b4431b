// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Whatever can fail for want of memory, ours or the caller's, fails once in
 * every command, in reading, polling and opening: the call says so, nothing has
 * changed, and the same call then does what it is for (C3, C7, C18).
 */
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>

#include "fault_play.h"

#define OPTION_ID 0
#define OPTION_IB 1
#define OPTION_ID_TOS 0
#define OPTION_IB_PATH 1
#define QPS_INIT 1

SCENE(addresses)
{
	struct rdma_ucmx_addr local = addr(ADDR1, 0), dst = addr(ADDR2, 7);
	struct rdma_ucmx_addr dst6 = addr(ADDR6, 7);
	__u32 id, other;

	fault_watch(self->client, -1);
	test_ok(FAULTY("CREATE_ID", cmd_create_id(self->client, PS_TCP, 1, &id)));
	test_ok(FAULTY("BIND_ADDR", cmd_bind_addr(self->client, id, &local)));
	test_ok(FAULTY("RESOLVE_ADDR bound",
		       cmd_resolve_addr(self->client, id, NULL, &dst)));
	test_ok(event_take(self->client, EV_ADDR_RESOLVED, id));
	test_ok(FAULTY("RESOLVE_ROUTE", cmd_resolve_route(self->client, id)));
	test_ok(event_take(self->client, EV_ROUTE_RESOLVED, id));
	test_ok(FAULTY("DESTROY_ID", cmd_destroy_id(self->client, id)));
	test_ok(cmd_create_id(self->client, PS_UDP, 1, &other));
	test_ok(FAULTY("RESOLVE_ADDR",
		       cmd_resolve_addr(self->client, other, NULL, &dst6)));
	test_ok(event_take(self->client, EV_ADDR_RESOLVED, other));
	test_ok(cmd_destroy_id(self->client, other));
	ALL_GONE();
}

TEST_F(fault, c03_addresses)
{
	PLAY(addresses);
}

/* Commands that ask, or change little: all on an id with a route. */
SCENE(small)
{
	struct rdma_ucmx_addr dst = addr(ADDR1, 7);
	struct rdma_ucmx_id_info infos[2];
	struct rdma_ucmx_qp_attr attr;
	struct rdma_ucmx_query query;
	struct rdma_ucmx_info info;
	__u32 id, len = 1;
	__u8 tos = 8;

	fault_watch(self->client, -1);
	test_ok(cmd_create_id(self->client, PS_TCP, 1, &id));
	test_ok(FAULTY("INFO", cmd_info(self->client, &info)));
	test_ok(FAULTY("SET_OPTION", cmd_set_option(self->client, id, OPTION_ID,
						    OPTION_ID_TOS, &tos, 1)));
	test_ok(FAULTY("GET_OPTION", cmd_get_option(self->client, id, OPTION_ID,
						    OPTION_ID_TOS, &tos, &len)));
	EXPECT_EQ(8, tos);
	test_ok(cmd_resolve_addr(self->client, id, NULL, &dst));
	test_ok(event_take(self->client, EV_ADDR_RESOLVED, id));
	test_ok(cmd_resolve_route(self->client, id));
	test_ok(event_take(self->client, EV_ROUTE_RESOLVED, id));
	test_ok(FAULTY("QUERY", cmd_query(self->client, id, &query)));
	EXPECT_EQ(1, query.out_num_paths);
	test_ok(FAULTY("INIT_QP_ATTR",
		       cmd_init_qp_attr(self->client, id, QPS_INIT, &attr)));
	test_ok(FAULTY("ADOPT_ID", cmd_adopt_id(self->client, id, 2)));
	EXPECT_EQ(1, FAULTY("LIST_IDS",
			    cmd_list_ids(self->client, 0, infos, 2)));
	EXPECT_EQ(2, infos[0].cookie);
	test_ok(cmd_destroy_id(self->client, id));
	ALL_GONE();
}

TEST_F(fault, c03_small_commands)
{
	PLAY(small);
}

/* The path that an id has is as good as any. */
SCENE(path)
{
	struct rdma_ucmx_addr dst = addr(ADDR1, 7);
	struct rdma_ucmx_query query;
	__u32 id;

	fault_watch(self->client, -1);
	test_ok(id_resolved(self->client, ADDR1, 7, &id));
	test_ok(cmd_resolve_route(self->client, id));
	test_ok(event_take(self->client, EV_ROUTE_RESOLVED, id));
	test_ok(cmd_query(self->client, id, &query));
	test_ok(cmd_destroy_id(self->client, id));
	test_ok(cmd_create_id(self->client, PS_TCP, 1, &id));
	test_ok(cmd_resolve_addr(self->client, id, NULL, &dst));
	test_ok(event_take(self->client, EV_ADDR_RESOLVED, id));
	test_ok(FAULTY("SET_OPTION a path",
		       cmd_set_option(self->client, id, OPTION_IB, OPTION_IB_PATH,
				      query.out_paths, sizeof(query.out_paths[0]))));
	test_ok(event_take(self->client, EV_ROUTE_RESOLVED, id));
	test_ok(cmd_destroy_id(self->client, id));
	ALL_GONE();
}

TEST_F(fault, c03_setting_a_path)
{
	PLAY(path);
}

#define WRITTEN 20

/* More than are copied at a time; some of them may have been taken. */
static int ack_from(int fd, struct rdma_ucmx_ack *acks, unsigned int *done)
{
	int ret = cmd_ack_events(fd, acks + *done, WRITTEN - *done);

	if (ret < 0)
		return -1;
	*done += ret;
	return 0;
}

SCENE(events)
{
	char records[RDMA_UCMX_READ_MIN] __attribute__((aligned(8)));
	struct pollfd pollfd = { .fd = self->worker, .events = POLLIN };
	struct rdma_ucmx_ack acks[WRITTEN] = {};
	unsigned int i, done = 0;
	struct event ev;
	ssize_t size;
	__u32 id;

	fault_watch(self->client, self->worker);
	test_ok(cmd_create_id(self->client, PS_TCP, 1, &id));
	for (i = 0; i < WRITTEN; i++)
		test_ok(FAULTY("WRITE_EVENT",
			       cmd_write_event(self->client, id, EV_USER, 0, i)));
	test_ok(FAULTY("MIGRATE_ID", cmd_migrate_id(self->client, id,
						    self->worker)));
	EXPECT_EQ(1, FAULTY("POLL", poll(&pollfd, 1, 0)));
	for (i = 0; i < WRITTEN;) {
		size = FAULTY("READ many", read(self->worker, records, sizeof(records)));
		ASSERT_LT(0, size);
		/* What was read is what comes next, however much it is. */
		for (char *at = records; at < records + size; at += ev.head.size) {
			ASSERT_LT(0, event_parse(at, size - (at - records), &ev));
			EXPECT_EQ(i, ev.arg);
			acks[i].id = id;
			acks[i].seq = ev.head.seq;
			i++;
		}
	}
	test_ok(cmd_write_event(self->worker, id, EV_USER, 0, 0));
	EXPECT_EQ(1, FAULTY("READ_EVENTS",
			    cmd_read_events(self->worker, records,
					    sizeof(records), 2, 0)));
	ASSERT_LT(0, event_parse(records, sizeof(records), &ev));
	test_ok(event_ack(self->worker, &ev));
	while (done < WRITTEN)
		test_ok(FAULTY("ACK_EVENTS", ack_from(self->worker, acks, &done)));
	test_ok(cmd_destroy_id(self->worker, id));
	ALL_GONE();
}

TEST_F(fault, c03_events)
{
	PLAY(events);
}

/* A channel of its own each time. */
SCENE(channel)
{
	struct epoll_event event = { .events = EPOLLIN };
	int epoll = epoll_create1(0), fd;

	ASSERT_LE(0, epoll);
	fault_watch(self->client, -1);
	fd = FAULTY("OPEN", channel_open());
	/* No number is lost. */
	EXPECT_EQ(epoll + 1, fd);
	test_ok(FAULTY("EPOLL_ADD", epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event)));
	test_ok(FAULTY("SHUTDOWN", cmd_shutdown(fd)));
	EXPECT_EQ(1, FAULTY("EPOLL", epoll_wait(epoll, &event, 1, 0)));
	EXPECT_EQ(EPOLLIN, event.events & EPOLLIN);
	close(fd);
	close(epoll);
}

TEST_F(fault, c03_channels)
{
	PLAY(channel);
}

SCENE(groups)
{
	struct rdma_ucmx_addr local = addr(ADDR1, 0), group_addr = addr("239.1.1.1", 0);
	__u32 id, group;

	fault_watch(self->client, -1);
	test_ok(cmd_create_id(self->client, PS_UDP, 1, &id));
	test_ok(cmd_bind_addr(self->client, id, &local));
	test_ok(FAULTY("JOIN_MCAST", cmd_join_mcast(self->client, id, &group_addr,
						    RDMA_UCMX_JOIN_FULL_MEMBER, 0,
						    &group)));
	test_ok(event_take(self->client, EV_MULTICAST_JOIN, id));
	test_ok(FAULTY("LEAVE_MCAST", cmd_leave_mcast(self->client, id, group)));
	test_ok(cmd_destroy_id(self->client, id));
	ALL_GONE();
}

TEST_F(fault, c03_groups)
{
	PLAY(groups);
}

/* From some point on there is no memory at all. */
TEST_F(fault, c03_create_without_memory)
{
	unsigned int step = fault_slab_step(), n, failed = 0;
	int ret = -1;
	__u32 id;

	ASSERT_LT(0, step);
	for (n = 0; ret && n < 100; n++) {
		test_ok(fault_slab_arm(FAULT_HERE, n * step, FAULT_FROM_NOW_ON));
		ret = cmd_create_id(self->client, PS_TCP, 0, &id);
		if (ret)
			ASSERT_EQ(ENOMEM, errno);
		test_ok(fault_slab_disarm());
		failed += !!ret;
		EXPECT_EQ(!ret, channel_ids(self->client));
	}
	TH_LOG("failed %u times", failed);
	EXPECT_LT(0, failed);
	test_ok(ret);
	test_ok(cmd_destroy_id(self->client, id));
}

/* What is then refused, whichever allocation fails in it first. */
TEST_F(fault, c03_refused_without_memory)
{
	struct rdma_ucmx_addr local = addr(ADDR1, 0);
	unsigned int step = fault_slab_step(), n;
	int ret, err = ENOMEM;
	__u32 id;

	ASSERT_LT(0, step);
	test_ok(cmd_create_id(self->client, PS_TCP, 0, &id));
	test_ok(cmd_bind_addr(self->client, id, &local));
	for (n = 0; err == ENOMEM && n < 100; n++) {
		test_ok(fault_slab_arm(FAULT_HERE, n * step, 1));
		ret = cmd_resolve_ib_service(self->client, id,
					     RDMA_UCMX_SERVICE_ID, 1, "");
		err = errno;
		EXPECT_EQ(-1, ret);
		EXPECT_EQ(fault_slab_times() ? EOPNOTSUPP : ENOMEM, err);
		test_ok(fault_slab_disarm());
	}
	EXPECT_LT(1, n);
	EXPECT_EQ(EOPNOTSUPP, err);
	test_ok(cmd_destroy_id(self->client, id));
}

static const char *const commands[] = { FAULT_COMMANDS_ALONE };

/* What allocates in the calling task. */
static const char *const allocating[] = {
	"CREATE_ID", "BIND_ADDR", "RESOLVE_ADDR", "RESOLVE_ROUTE", "SET_OPTION",
	"WRITE_EVENT", "JOIN_MCAST", "OPEN",
};

static const char *const all_commands[] = {
	FAULT_COMMANDS_ALONE, FAULT_COMMANDS_OF_PEERS,
};

/* The last command is for what no device has that is made of software. */
static const char *const refused[] = { "RESOLVE_IB_SERVICE" };

/* The tests above in sum, and there is no command that the list does not have. */
TEST_F(sum, c03_no_command_was_left_out)
{
	const unsigned int n = ARRAY_LEN(all_commands) + ARRAY_LEN(refused);
	int fd = channel_open();

	ASSERT_LE(0, fd);
	ALL_FAILED(commands, allocating);
	test_err(ENOTTY, ioctl(fd, RDMA_UCMX_IO(RDMA_UCMX_CMD_BASE + n), 0));
	close(fd);
}

TEST_HARNESS_MAIN
