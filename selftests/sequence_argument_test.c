// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Sequences that have broken this kind of code, see Documentation/testing.rst:
 * those whose trouble is in what is handed to a command (2, 8, 9).
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <infiniband/ib.h>
#include <rdma/ib_user_sa.h>

#include "every.h"
#include "scene.h"
#include "test.h"

FIXTURE(sequence) {
	int fd;
	int other;
	__u32 id;
};

FIXTURE_SETUP(sequence)
{
	self->fd = channel_open();
	self->other = channel_open();
	ASSERT_LE(0, self->fd);
	ASSERT_LE(0, self->other);
	test_ok(cmd_create_id(self->fd, PS_TCP, 0, &self->id));
}

FIXTURE_TEARDOWN(sequence)
{
	EXPECT_EQ(0, channel_clear(self->fd));
	EXPECT_EQ(0, channel_clear(self->other));
	close(self->fd);
	close(self->other);
}

/* Every command answers the same. */
#define EVERY(expected, fd, id) do {					\
	for (unsigned int _i = 0; _i < num_every; _i++) {		\
		errno = 0;						\
		EXPECT_EQ(-1, every_command[_i].run(fd, id));		\
		EXPECT_EQ(expected, errno) {				\
			TH_LOG("%s", every_command[_i].name);		\
		}							\
	}								\
} while (0)

TEST_F(sequence, seq02_wrong_and_closed_descriptors)
{
	int null = open("/dev/null", O_RDWR), closed = channel_open();

	ASSERT_LE(0, null);
	EVERY(ENOTTY, null, self->id);
	test_ok(close(closed));
	EVERY(EBADF, closed, self->id);
	EVERY(EBADF, -1, self->id);
	close(null);
	/* The id is still as it was. */
	test_ok(cmd_destroy_id(self->fd, self->id));
}

TEST_F(sequence, seq02_foreign_and_unknown_ids)
{
	EVERY(ENOENT, self->other, self->id);
	EVERY(ENOENT, self->fd, 0);
	EVERY(ENOENT, self->fd, self->id + 1000);
	EVERY(ENOENT, self->fd, ~0U);
	EVERY(ENOENT, self->fd, 1U << 31);
	test_ok(cmd_destroy_id(self->fd, self->id));
}

TEST_F(sequence, seq02_ids_that_were_moved_or_destroyed)
{
	test_ok(cmd_migrate_id(self->fd, self->id, self->other));
	EVERY(ENOENT, self->fd, self->id);
	test_ok(cmd_destroy_id(self->other, self->id));
	EVERY(ENOENT, self->other, self->id);
	EVERY(ENOENT, self->fd, self->id);
}

/* Of an id that is dying only its events and its end are left. */
TEST_F(sequence, seq02_dying_ids)
{
	__u32 id;

	test_ok(id_with_outstanding(self->fd, &id));
	test_err(ETIMEDOUT, cmd_destroy_id_opt(self->fd, id, 0, 1, 0));
	for (unsigned int i = 0; i < num_every; i++) {
		if (!strcmp(every_command[i].name, "acknowledge"))
			continue;
		errno = 0;
		EXPECT_EQ(-1, every_command[i].run(self->fd, id));
		EXPECT_EQ(strcmp(every_command[i].name, "destroy") ? ENOENT :
			  ETIMEDOUT, errno) {
			TH_LOG("%s", every_command[i].name);
		}
	}
	EVERY(ENOENT, self->other, id);
	test_ok(cmd_ack(self->fd, id, 1));
	EVERY(ENOENT, self->fd, id);
}

/* As long as the family says, and whatever lies behind it. */
TEST_F(sequence, seq08_families_and_lengths)
{
	static const __u16 families[] = { 0, 1, 3, 16, 26, 28, 0x7fff, 0xffff };
	struct rdma_ucmx_addr bad, dst = addr(ADDR1, 7);
	__u32 udp, group;

	test_ok(cmd_create_id(self->fd, PS_UDP, 0, &udp));
	for (unsigned int i = 0; i < ARRAY_LEN(families); i++) {
		bad = (struct rdma_ucmx_addr){ .family = families[i] };
		memset(bad.data, 0xff, sizeof(bad.data));
		test_err(EINVAL, cmd_bind_addr(self->fd, self->id, &bad));
		test_err(EINVAL, cmd_resolve_addr(self->fd, self->id, NULL, &bad));
		test_err(EINVAL, cmd_resolve_addr(self->fd, self->id, &bad, &dst));
		test_err(EINVAL, cmd_join_mcast(self->fd, udp, &bad,
						RDMA_UCMX_JOIN_FULL_MEMBER, 0, &group));
	}
	/* Something behind the end of an address. */
	for (unsigned int i = sizeof(struct sockaddr_in) - 2; i < sizeof(bad.data); i++) {
		bad = addr(ADDR1, 7);
		bad.data[i] = 1;
		test_err(EINVAL, cmd_bind_addr(self->fd, self->id, &bad));
		test_err(EINVAL, cmd_resolve_addr(self->fd, self->id, NULL, &bad));
	}
	EXPECT_FALSE(readable(self->fd));
}

/* AF_IB, whose address is longer than others: cut short it is none. */
TEST_F(sequence, seq08_af_ib_in_a_short_buffer)
{
	struct rdma_ucmx_bind_addr bind = { .size = sizeof(bind) };
	struct rdma_ucmx_resolve_addr resolve = { .size = sizeof(resolve) };
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	__u32 size;

	ASSERT_NE(MAP_FAILED, page);
	ASSERT_EQ(0, munmap(page + 4096, 4096));
	bind.id = self->id;
	bind.addr.family = AF_IB;
	resolve.id = self->id;
	resolve.dst_addr.family = AF_IB;
	/* It ends with the page, and says so: too short for the command. */
	for (size = 8; size < sizeof(bind); size++) {
		bind.size = size;
		memcpy(page + 4096 - size, &bind, size);
		test_err(EINVAL, ioctl(self->fd, RDMA_UCMX_BIND_ADDR,
				       page + 4096 - size));
	}
	/* It ends with the page, and says that it goes on. */
	bind.size = sizeof(bind);
	size = sizeof(bind) - sizeof(bind.addr) / 2;
	memcpy(page + 4096 - size, &bind, size);
	test_err(EFAULT, ioctl(self->fd, RDMA_UCMX_BIND_ADDR, page + 4096 - size));
	size = sizeof(resolve) - sizeof(resolve.dst_addr) / 2;
	memcpy(page + 4096 - size, &resolve, size);
	test_err(EFAULT, ioctl(self->fd, RDMA_UCMX_RESOLVE_ADDR, page + 4096 - size));
	/* Whole, and all zeros, it stands for any. */
	test_ok(cmd_bind_addr(self->fd, self->id, &bind.addr));
	munmap(page, 4096);
}

TEST_F(sequence, seq08_multicast_as_unicast)
{
	struct rdma_ucmx_addr many = addr("239.1.1.1", 7), many6 = addr("ff02::1", 7);
	struct rdma_ucmx_addr local = addr(ADDR1, 0);
	struct event ev;
	__u32 id;

	EXPECT_EQ(-1, cmd_bind_addr(self->fd, self->id, &many));
	EXPECT_EQ(-1, cmd_bind_addr(self->fd, self->id, &many6));
	/* It may find a way there, without a source address and with one. */
	for (int i = 0; i < 4; i++) {
		test_ok(cmd_create_id(self->fd, PS_TCP, 0, &id));
		if (!cmd_resolve_addr(self->fd, id, i & 1 ? &local : NULL,
				      i & 2 ? &many6 : &many)) {
			test_ok(event_read(self->fd, &ev));
			EXPECT_EQ(id, ev.head.id);
			test_ok(event_ack(self->fd, &ev));
		}
		test_ok(cmd_destroy_id(self->fd, id));
	}
}

TEST_F(sequence, seq09_option_lengths)
{
	static const __u32 lengths[] = { 0, 3, 66000, 1U << 22, (1U << 22) + 1,
					 1U << 31, (1U << 31) + 4, ~0U };
	static char value[66000];

	for (__u32 level = 0; level < 2; level++) {
		for (__u32 name = 0; name < 4; name++) {
			if (level && name != 1)
				continue;
			for (unsigned int i = 0; i < ARRAY_LEN(lengths); i++)
				test_err(EINVAL, cmd_set_option(self->fd, self->id, level,
								name, value, lengths[i]));
		}
	}
}

TEST_F(sequence, seq09_path_before_bind)
{
	struct rdma_ucmx_path path = {
		.flags = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL,
	};
	struct rdma_ucmx_addr any = addr("0.0.0.0", 0);

	test_err(EINVAL, cmd_set_option(self->fd, self->id, 1, 1, &path, sizeof(path)));
	test_ok(cmd_bind_addr(self->fd, self->id, &any));
	test_err(EINVAL, cmd_set_option(self->fd, self->id, 1, 1, &path, sizeof(path)));
	EXPECT_FALSE(readable(self->fd));
}

/* Somebody who sets the path of the id while its route is asked for. */
struct setter {
	int fd;
	__u32 id;
	struct rdma_ucmx_path path;
	pthread_t thread;
	int result;
	int error;
};

static void *set_path(void *arg)
{
	struct setter *setter = arg;

	setter->result = cmd_set_option(setter->fd, setter->id, 1, 1,
					&setter->path, sizeof(setter->path));
	setter->error = errno;
	return NULL;
}

/* One of both wins, and says so in one event. */
TEST_F(sequence, seq09_path_against_resolve_route)
{
	struct setter setter = { .fd = self->fd };
	struct event ev;
	__u32 id;
	int ret;

	test_ok(id_resolved(self->fd, ADDR1, 7, &id));
	test_ok(cmd_resolve_route(self->fd, id));
	test_ok(event_expect(self->fd, EV_ROUTE_RESOLVED, &ev));
	test_ok(event_ack(self->fd, &ev));
	/* Of zeros with iWARP, which has none but takes one. */
	ASSERT_EQ(NUM_PATHS, ev.head.num_paths);
	setter.path = ev.paths[0];
	setter.path.flags = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL;
	for (unsigned int round = 0; round < scaled(100); round++) {
		test_ok(id_resolved(self->fd, ADDR1, 7, &setter.id));
		ASSERT_EQ(0, pthread_create(&setter.thread, NULL, set_path, &setter));
		ret = cmd_resolve_route(self->fd, setter.id);
		EXPECT_TRUE(!ret || errno == EINVAL);
		ASSERT_EQ(0, pthread_join(setter.thread, NULL));
		EXPECT_TRUE(!setter.result || setter.error == EINVAL);
		EXPECT_NE(!ret, !setter.result);
		test_ok(event_take(self->fd, EV_ROUTE_RESOLVED, setter.id));
		EXPECT_FALSE(readable(self->fd));
		test_ok(cmd_destroy_id(self->fd, setter.id));
	}
}

TEST_F(sequence, seq09_qp_states_beyond_err)
{
	static const __u32 states[] = { 7, 8, 255, 256, 1U << 31, ~0U };
	struct rdma_ucmx_qp_attr attr;
	__u32 id;

	test_ok(id_resolved(self->fd, ADDR1, 7, &id));
	for (unsigned int i = 0; i < ARRAY_LEN(states); i++) {
		test_err(EINVAL, cmd_init_qp_attr(self->fd, self->id, states[i], &attr));
		test_err(EINVAL, cmd_init_qp_attr(self->fd, id, states[i], &attr));
	}
}

/* Before a page that is not there: not a byte more is written. */
TEST_F(sequence, seq09_query_into_a_buffer_that_fits_exactly)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rdma_ucmx_query *query;
	struct event ev;
	__u32 id;

	ASSERT_NE(MAP_FAILED, page);
	ASSERT_EQ(0, munmap(page + 4096, 4096));
	test_ok(id_resolved(self->fd, ADDR1, 7, &id));
	test_ok(cmd_resolve_route(self->fd, id));
	test_ok(event_expect(self->fd, EV_ROUTE_RESOLVED, &ev));
	test_ok(event_ack(self->fd, &ev));
	query = (void *)(page + 4096 - sizeof(*query));
	query->size = sizeof(*query);
	query->id = id;
	test_ok(ioctl(self->fd, RDMA_UCMX_QUERY, query));
	EXPECT_EQ(ev.head.num_paths, query->out_num_paths);
	EXPECT_EQ(0, memcmp(query->out_paths[0].path_rec, ev.paths[0].path_rec,
			    sizeof(ev.paths[0].path_rec)));
	munmap(page, 4096);
}

TEST_HARNESS_MAIN
