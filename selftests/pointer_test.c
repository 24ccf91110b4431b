// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Addresses that a command is given: where an answer goes, where arrays and
 * values lie.  One that is no good is EFAULT, and nothing was done.
 */
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "scene.h"
#include "test.h"

#define PAGE 4096
#define NOWHERE 8

FIXTURE(pointer) {
	int fd;
	__u32 id;
	/* Behind this page there is none. */
	char *page;
};

FIXTURE_SETUP(pointer)
{
	self->fd = channel_open();
	ASSERT_LE(0, self->fd);
	test_ok(id_with_outstanding(self->fd, &self->id));
	self->page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->page);
	test_ok(munmap(self->page + PAGE, PAGE));
}

FIXTURE_TEARDOWN(pointer)
{
	munmap(self->page, PAGE);
	close(self->fd);
}

/* The argument lies on a page that can be read and not written. */
static int unwritable(FIXTURE_DATA(pointer) *self, unsigned long number,
		      const void *arg, size_t size)
{
	int ret, error;

	memcpy(self->page, arg, size);
	if (mprotect(self->page, PAGE, PROT_READ))
		return 0;
	ret = ioctl(self->fd, number, self->page);
	error = errno;
	if (mprotect(self->page, PAGE, PROT_READ | PROT_WRITE))
		return 0;
	errno = error;
	return ret;
}

#define UNWRITABLE(upper, arg) \
	test_err(EFAULT, unwritable(self, RDMA_UCMX_##upper, &(arg), sizeof(arg)))

/* Of every command that answers, with what would otherwise succeed. */
TEST_F(pointer, answers_that_cannot_be_written)
{
	struct rdma_ucmx_info info = { .size = sizeof(info) };
	struct rdma_ucmx_create_id create = {
		.size = sizeof(create), .port_space = PS_TCP,
	};
	struct rdma_ucmx_query query = { .size = sizeof(query), .id = self->id };
	struct rdma_ucmx_init_qp_attr attr = {
		.size = sizeof(attr), .id = self->id, .qp_state = 1,
	};
	__u8 tos = 8, value = 0;
	struct rdma_ucmx_get_option option = {
		.size = sizeof(option), .id = self->id,
		.optval = (uintptr_t)&value, .optlen = sizeof(value),
	};

	test_ok(cmd_set_option(self->fd, self->id, 0, 0, &tos, sizeof(tos)));
	UNWRITABLE(INFO, info);
	UNWRITABLE(CREATE_ID, create);
	UNWRITABLE(QUERY, query);
	UNWRITABLE(INIT_QP_ATTR, attr);
	UNWRITABLE(GET_OPTION, option);
	EXPECT_EQ(1, channel_ids(self->fd));
	/* It was the page. */
	test_ok(ioctl(self->fd, RDMA_UCMX_INFO, &info));
	test_ok(ioctl(self->fd, RDMA_UCMX_CREATE_ID, &create));
	test_ok(ioctl(self->fd, RDMA_UCMX_QUERY, &query));
	test_ok(ioctl(self->fd, RDMA_UCMX_INIT_QP_ATTR, &attr));
	test_ok(ioctl(self->fd, RDMA_UCMX_GET_OPTION, &option));
	EXPECT_EQ(8, value);
	EXPECT_EQ(1, option.out_optlen);
}

TEST_F(pointer, values_that_are_nowhere)
{
	__u8 tos = 8, value = 0;
	int yes = 1;
	__u32 len = 1;

	test_err(EFAULT, cmd_set_option(self->fd, self->id, 0, 0, NULL, 1));
	test_err(EFAULT, cmd_set_option(self->fd, self->id, 0, 0,
					(void *)NOWHERE, 1));
	/* The last bytes are missing. */
	memcpy(self->page + PAGE - 2, &yes, 2);
	test_err(EFAULT, cmd_set_option(self->fd, self->id, 0, 1,
					self->page + PAGE - 2, sizeof(yes)));
	test_err(ENODATA, cmd_get_option(self->fd, self->id, 0, 0, &value, &len));
	test_ok(cmd_set_option(self->fd, self->id, 0, 0, &tos, sizeof(tos)));
	test_err(EFAULT, cmd_get_option(self->fd, self->id, 0, 0, NULL, &len));
	test_err(EFAULT, cmd_get_option(self->fd, self->id, 0, 0,
					(void *)NOWHERE, &len));
	test_ok(cmd_get_option(self->fd, self->id, 0, 0, &value, &len));
	EXPECT_EQ(tos, value);
}

TEST_F(pointer, acknowledgements_that_are_nowhere)
{
	struct rdma_ucmx_ack ack = { .id = self->id, .seq = 1 };
	struct rdma_ucmx_ack *last = (void *)(self->page + PAGE - sizeof(ack));
	struct rdma_ucmx_id_info info;

	test_err(EFAULT, cmd_ack_events(self->fd, NULL, 1));
	test_err(EFAULT, cmd_ack_events(self->fd, (void *)NOWHERE, 1));
	*last = ack;
	test_err(EFAULT, cmd_ack_events(self->fd, last, 2));
	test_err(EFAULT, cmd_ack_events(self->fd, (void *)((char *)last + 8), 1));
	test_ok(id_info(self->fd, self->id, &info));
	EXPECT_EQ(1, info.outstanding);
	ASSERT_EQ(1, cmd_ack_events(self->fd, last, 1));
}

/* Many are copied in parts: those before the hole have been taken. */
TEST_F(pointer, acknowledgements_up_to_a_hole)
{
	enum { THERE = 40 };
	struct rdma_ucmx_ack *acks =
		(void *)(self->page + PAGE - THERE * sizeof(*acks));
	struct rdma_ucmx_info info;
	struct event ev;
	int i, n;

	test_ok(cmd_ack(self->fd, self->id, 1));
	for (i = 0; i < THERE; i++) {
		test_ok(cmd_write_event(self->fd, self->id, EV_USER, 0, i));
		test_ok(event_expect(self->fd, EV_USER, &ev));
		acks[i] = (struct rdma_ucmx_ack){ .id = self->id,
						  .seq = ev.head.seq };
	}
	n = cmd_ack_events(self->fd, acks, THERE + 1);
	ASSERT_LT(0, n);
	ASSERT_GE(THERE, n);
	test_ok(cmd_info(self->fd, &info));
	EXPECT_EQ(THERE - n, info.out_outstanding);
	/* The first that was not taken is the next. */
	if (n < THERE)
		ASSERT_EQ(THERE - n, cmd_ack_events(self->fd, acks + n, THERE - n));
	test_ok(cmd_info(self->fd, &info));
	EXPECT_EQ(0, info.out_outstanding);
}

/* In one call: what is another channel's ends it, and comes to no harm. */
TEST_F(pointer, acknowledgements_of_another_channels_id)
{
	struct rdma_ucmx_ack acks[2] = {{ .id = self->id, .seq = 1 }};
	struct rdma_ucmx_id_info info;
	int other = channel_open();

	ASSERT_LE(0, other);
	test_ok(id_with_outstanding(other, &acks[1].id));
	acks[1].seq = 1;
	ASSERT_EQ(1, cmd_ack_events(self->fd, acks, 2));
	test_err(ENOENT, cmd_ack_events(self->fd, acks + 1, 1));
	test_ok(id_info(other, acks[1].id, &info));
	EXPECT_EQ(1, info.outstanding);
	test_ok(cmd_ack(other, acks[1].id, 1));
	close(other);
}

static int list(int fd, void *ids, __u32 count, __u32 info_size)
{
	struct rdma_ucmx_list_ids cmd = {
		.size = sizeof(cmd), .count = count, .info_size = info_size,
		.ids = (uintptr_t)ids,
	};

	return ioctl(fd, RDMA_UCMX_LIST_IDS, &cmd);
}

/* Entries have a size, too: they grow as arguments do. */
TEST_F(pointer, entries_of_every_size)
{
	const __u32 known = sizeof(struct rdma_ucmx_id_info);
	struct rdma_ucmx_id_info infos[2];
	__u32 size, i, second;
	bool later;

	test_ok(cmd_create_id(self->fd, PS_TCP, 5, &second));
	/* They come by their numbers, which need not rise. */
	later = second > self->id;
	for (size = 0; size < known; size++)
		test_err(EINVAL, list(self->fd, self->page, 2, size));
	for (size = known; size <= known + 64; size += 8) {
		memset(self->page, 0xff, PAGE);
		ASSERT_EQ(2, list(self->fd, self->page, 2, size));
		memcpy(&infos[0], self->page, known);
		memcpy(&infos[1], self->page + size, known);
		EXPECT_EQ(self->id, infos[!later].id);
		EXPECT_EQ(second, infos[later].id);
		EXPECT_EQ(5, infos[later].cookie);
		/* What this kernel does not know is zero, and that is all. */
		for (i = known; i < size; i++)
			EXPECT_EQ(0, self->page[size + i]);
		EXPECT_EQ(-1, self->page[2 * size]);
	}
	test_err(E2BIG, list(self->fd, self->page, 1, 1 << 20));
	test_err(E2BIG, list(self->fd, self->page, 1, ~0U));
	test_err(EINVAL, list(self->fd, self->page, 0, known));
	test_err(EINVAL, list(self->fd, self->page, 1U << 31, known));
}

TEST_F(pointer, entries_that_are_nowhere)
{
	const __u32 known = sizeof(struct rdma_ucmx_id_info);
	char *last = self->page + PAGE - known;
	__u32 second;

	test_ok(cmd_create_id(self->fd, PS_TCP, 0, &second));
	test_err(EFAULT, list(self->fd, NULL, 1, known));
	test_err(EFAULT, list(self->fd, (void *)NOWHERE, 1, known));
	test_err(EFAULT, list(self->fd, last + 8, 1, known));
	/* Of a larger entry the tail. */
	test_err(EFAULT, list(self->fd, last, 1, known + 8));
	/* One fits, and so much it says. */
	ASSERT_EQ(1, list(self->fd, last, 2, known));
}

TEST_HARNESS_MAIN
