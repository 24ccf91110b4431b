// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The rules that hold for every command: sizes, tails, flags, reserved members,
 * addresses, ids of nobody.  The layout is in uapi_layout.c.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>

#include "scene.h"
#include "test.h"

/* A command, and where in its argument an id, flags and reserved bytes are. */
struct command {
	const char *name;
	unsigned long number;
	size_t size;
	int id;
	int flags;
	int reserved;
	int reserved_len;
};

#define NONE -1
#define COMMAND(upper, lower, ...) \
	{ #lower, RDMA_UCMX_##upper, sizeof(struct rdma_ucmx_##lower), __VA_ARGS__ }
#define OFFSET(lower, member) offsetof(struct rdma_ucmx_##lower, member)

static const struct command commands[] = {
	COMMAND(INFO, info, NONE, OFFSET(info, flags), NONE),
	COMMAND(CREATE_ID, create_id, NONE, OFFSET(create_id, flags),
		OFFSET(create_id, reserved), 1),
	COMMAND(DESTROY_ID, destroy_id, 4, OFFSET(destroy_id, flags),
		OFFSET(destroy_id, reserved), 4),
	COMMAND(BIND_ADDR, bind_addr, 4, NONE, NONE),
	COMMAND(RESOLVE_ADDR, resolve_addr, 4, NONE,
		OFFSET(resolve_addr, reserved), 4),
	COMMAND(RESOLVE_ROUTE, resolve_route, 4, NONE,
		OFFSET(resolve_route, reserved), 4),
	COMMAND(LISTEN, listen, 4, NONE, OFFSET(listen, reserved), 4),
	COMMAND(CONNECT, connect, 4, NONE, NONE),
	COMMAND(ACCEPT, accept, 4, NONE, NONE),
	COMMAND(REJECT, reject, 4, NONE, OFFSET(reject, reserved), 6),
	COMMAND(DISCONNECT, disconnect, 4, NONE, NONE),
	COMMAND(NOTIFY, notify, 4, NONE, OFFSET(notify, reserved), 4),
	COMMAND(QUERY, query, 4, NONE, NONE),
	COMMAND(INIT_QP_ATTR, init_qp_attr, 4, NONE,
		OFFSET(init_qp_attr, reserved), 4),
	COMMAND(SET_OPTION, set_option, 4, NONE, OFFSET(set_option, reserved), 4),
	COMMAND(ACK_EVENTS, ack_events, NONE, NONE, NONE),
	COMMAND(LIST_IDS, list_ids, NONE, NONE, NONE),
	COMMAND(MIGRATE_ID, migrate_id, 4, OFFSET(migrate_id, flags), NONE),
	COMMAND(ADOPT_ID, adopt_id, 4, NONE, NONE),
	COMMAND(READ_EVENTS, read_events, NONE, OFFSET(read_events, flags), NONE),
	COMMAND(RESOLVE_IB_SERVICE, resolve_ib_service, 4,
		OFFSET(resolve_ib_service, flags), OFFSET(resolve_ib_service, reserved), 4),
	COMMAND(SHUTDOWN, shutdown, NONE, OFFSET(shutdown, flags), NONE),
	COMMAND(WRITE_EVENT, write_event, 4, NONE, NONE),
	COMMAND(JOIN_MCAST, join_mcast, 4, NONE, NONE),
	COMMAND(LEAVE_MCAST, leave_mcast, 4, OFFSET(leave_mcast, flags), NONE),
	COMMAND(GET_OPTION, get_option, 4, NONE, NONE),
};

/* Longer than any argument, with room for a tail. */
#define BUFFER 2048

FIXTURE(uapi) {
	int fd;
	char arg[BUFFER] __attribute__((aligned(8)));
	char option[1];
	struct rdma_ucmx_event record[1];
	struct rdma_ucmx_ack acks[1];
	struct rdma_ucmx_id_info infos[1];
};

FIXTURE_SETUP(uapi)
{
	self->fd = channel_open();
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(uapi)
{
	close(self->fd);
}

static void put_u32(FIXTURE_DATA(uapi) *self, int offset, __u32 value)
{
	memcpy(self->arg + offset, &value, sizeof(value));
}

/*
 * An argument with which the command gets as far as looking for id @id; of one
 * that names none, with which it succeeds or finds nothing.
 */
static void fill(FIXTURE_DATA(uapi) *self, const struct command *command,
		 __u32 id)
{
	struct rdma_ucmx_addr address = addr(ADDR1, 0);
	union {
		char bytes[BUFFER];
		struct rdma_ucmx_create_id create_id;
		struct rdma_ucmx_bind_addr bind_addr;
		struct rdma_ucmx_resolve_addr resolve_addr;
		struct rdma_ucmx_connect connect;
		struct rdma_ucmx_set_option set_option;
		struct rdma_ucmx_ack_events ack_events;
		struct rdma_ucmx_list_ids list_ids;
		struct rdma_ucmx_migrate_id migrate_id;
		struct rdma_ucmx_write_event write_event;
		struct rdma_ucmx_join_mcast join_mcast;
		struct rdma_ucmx_get_option get_option;
		struct rdma_ucmx_read_events read_events;
		struct rdma_ucmx_resolve_ib_service resolve_ib_service;
	} *arg = (void *)self->arg;

	memset(self->arg, 0, sizeof(self->arg));
	put_u32(self, 0, command->size);
	if (command->id != NONE)
		put_u32(self, command->id, id);
	switch (command->number) {
	case RDMA_UCMX_CREATE_ID:
		arg->create_id.port_space = PS_TCP;
		break;
	case RDMA_UCMX_BIND_ADDR:
		arg->bind_addr.addr = address;
		break;
	case RDMA_UCMX_RESOLVE_ADDR:
		arg->resolve_addr.dst_addr = address;
		break;
	case RDMA_UCMX_CONNECT:
		arg->connect.conn_param.valid = 1;
		break;
	case RDMA_UCMX_SET_OPTION:
		arg->set_option.optval = (uintptr_t)self->option;
		arg->set_option.optlen = sizeof(self->option);
		break;
	case RDMA_UCMX_ACK_EVENTS:
		self->acks[0] = (struct rdma_ucmx_ack){ .id = id };
		arg->ack_events.count = 1;
		arg->ack_events.acks = (uintptr_t)self->acks;
		break;
	case RDMA_UCMX_LIST_IDS:
		arg->list_ids.count = 1;
		arg->list_ids.info_size = sizeof(self->infos[0]);
		arg->list_ids.ids = (uintptr_t)self->infos;
		break;
	case RDMA_UCMX_MIGRATE_ID:
		arg->migrate_id.target_fd = self->fd;
		break;
	case RDMA_UCMX_WRITE_EVENT:
		arg->write_event.event = RDMA_UCMX_EVENT_TYPE_USER;
		break;
	case RDMA_UCMX_JOIN_MCAST:
		arg->join_mcast.join_state = RDMA_UCMX_JOIN_FULL_MEMBER;
		arg->join_mcast.addr = address;
		break;
	case RDMA_UCMX_GET_OPTION:
		arg->get_option.optval = (uintptr_t)self->option;
		arg->get_option.optlen = sizeof(self->option);
		break;
	case RDMA_UCMX_RESOLVE_IB_SERVICE:
		arg->resolve_ib_service.flags = RDMA_UCMX_SERVICE_ID;
		break;
	case RDMA_UCMX_READ_EVENTS:
		arg->read_events.count = 1;
		arg->read_events.buffer = (uintptr_t)self->record;
		arg->read_events.length = sizeof(self->record);
		arg->read_events.flags = RDMA_UCMX_NONBLOCK;
		break;
	}
}

/* What a command does that fill() prepared for an id of nobody. */
static int expected_errno(const struct command *command)
{
	switch (command->number) {
	case RDMA_UCMX_INFO:
	case RDMA_UCMX_CREATE_ID:
	case RDMA_UCMX_LIST_IDS:
	case RDMA_UCMX_SHUTDOWN:
		return 0;
	case RDMA_UCMX_READ_EVENTS:
		return EAGAIN;
	default:
		return ENOENT;
	}
}

static int run(FIXTURE_DATA(uapi) *self, const struct command *command)
{
	errno = 0;
	if (ioctl(self->fd, command->number, self->arg) < 0)
		return errno;
	return 0;
}

#define for_each_command(command) \
	for (command = commands; command < commands + ARRAY_LEN(commands); command++)

#define EXPECT_RUN(expected) \
	EXPECT_EQ(expected, run(self, command)) { \
		TH_LOG("%s", command->name); \
	}

TEST_F(uapi, unknown_commands_are_enotty)
{
	static const unsigned long numbers[] = {
		RDMA_UCMX_IO(RDMA_UCMX_CMD_BASE - 1),
		RDMA_UCMX_IO(RDMA_UCMX_CMD_RESOLVE_IB_SERVICE + 1),
		RDMA_UCMX_IO(0xff),
		RDMA_UCMX_IO(0),
		_IO(0x1a, RDMA_UCMX_CMD_INFO),
		_IOW(RDMA_UCMX_IOC_TYPE, RDMA_UCMX_CMD_INFO, __u32),
		_IOWR(RDMA_UCMX_IOC_TYPE, RDMA_UCMX_CMD_INFO, struct rdma_ucmx_info),
	};
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(numbers); i++) {
		fill(self, &commands[0], 0);
		test_err(ENOTTY, ioctl(self->fd, numbers[i], self->arg));
	}
}

TEST_F(uapi, ids_of_nobody_are_enoent)
{
	static const __u32 nobodies[] = { 0, 0x7fffffff, 0x80000000, 0xffffffff };
	const struct command *command;
	unsigned int i;

	for_each_command(command) {
		for (i = 0; i < ARRAY_LEN(nobodies); i++) {
			fill(self, command, nobodies[i]);
			EXPECT_RUN(expected_errno(command));
		}
	}
}

TEST_F(uapi, short_arguments_are_einval)
{
	const struct command *command;

	for_each_command(command) {
		fill(self, command, 0);
		put_u32(self, 0, 0);
		EXPECT_RUN(EINVAL);
		put_u32(self, 0, sizeof(__u32));
		EXPECT_RUN(EINVAL);
		put_u32(self, 0, command->size - 1);
		EXPECT_RUN(EINVAL);
	}
}

TEST_F(uapi, longer_arguments_with_a_tail_of_zeros_are_accepted)
{
	const struct command *command;

	for_each_command(command) {
		fill(self, command, 0x7fffffff);
		put_u32(self, 0, command->size + 64);
		EXPECT_RUN(expected_errno(command));
		put_u32(self, 0, BUFFER);
		EXPECT_RUN(expected_errno(command));
	}
}

/* Each size, with zeros behind the argument and with something. */
TEST_F(uapi, every_size)
{
	const struct command *command;
	__u32 size;

	for_each_command(command) {
		for (size = 0; size <= command->size + 8; size++) {
			fill(self, command, 0x7fffffff);
			put_u32(self, 0, size);
			EXPECT_RUN(size < command->size ? EINVAL :
				   expected_errno(command));
			if (size <= command->size)
				continue;
			self->arg[size - 1] = 1;
			EXPECT_RUN(E2BIG);
		}
	}
}

TEST_F(uapi, unknown_tails_are_e2big)
{
	const struct command *command;

	for_each_command(command) {
		fill(self, command, 0);
		put_u32(self, 0, command->size + 64);
		self->arg[command->size] = 1;
		EXPECT_RUN(E2BIG);
		self->arg[command->size] = 0;
		self->arg[command->size + 63] = 1;
		EXPECT_RUN(E2BIG);
		put_u32(self, 0, 1 << 20);
		EXPECT_RUN(E2BIG);
		put_u32(self, 0, 0xffffffff);
		EXPECT_RUN(E2BIG);
	}
}

/* How many flags a command knows, from bit 0 on. */
static int known_flags(const struct command *command)
{
	switch (command->number) {
	case RDMA_UCMX_MIGRATE_ID:
		return 3;
	case RDMA_UCMX_RESOLVE_IB_SERVICE:
		return 2;
	case RDMA_UCMX_DESTROY_ID:
	case RDMA_UCMX_LEAVE_MCAST:
	case RDMA_UCMX_READ_EVENTS:
		return 1;
	default:
		return 0;
	}
}

TEST_F(uapi, unknown_flags_are_eopnotsupp)
{
	const struct command *command;
	int bit;

	for_each_command(command) {
		if (command->flags == NONE)
			continue;
		for (bit = known_flags(command); bit < 32; bit++) {
			fill(self, command, 0);
			put_u32(self, command->flags, 1U << bit);
			EXPECT_RUN(EOPNOTSUPP);
		}
	}
}

TEST_F(uapi, reserved_members_must_be_zero)
{
	const struct command *command;
	int i;

	for_each_command(command) {
		if (command->reserved == NONE)
			continue;
		for (i = 0; i < command->reserved_len; i++) {
			fill(self, command, 0);
			self->arg[command->reserved + i] = 1;
			EXPECT_RUN(EINVAL);
		}
	}
	fill(self, &commands[15], 0);
	self->acks[0].reserved = 1;
	ASSERT_STREQ("ack_events", commands[15].name);
	EXPECT_EQ(EINVAL, run(self, &commands[15]));
}

/* Nothing can be read, or the first @there bytes and no more. */
TEST_F(uapi, unreadable_arguments_are_efault)
{
	const struct command *command;
	void *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t there;
	char *arg;

	ASSERT_NE(MAP_FAILED, page);
	ASSERT_EQ(0, munmap((char *)page + 4096, 4096));
	for_each_command(command) {
		test_err(EFAULT, ioctl(self->fd, command->number, NULL));
		test_err(EFAULT, ioctl(self->fd, command->number, (void *)8));
		for (there = 0; there < command->size; there += 4) {
			fill(self, command, 0);
			arg = (char *)page + 4096 - there;
			memcpy(arg, self->arg, there);
			test_err(EFAULT, ioctl(self->fd, command->number, arg));
		}
	}
	ASSERT_EQ(0, channel_ids(self->fd));
}

/* Where the answer cannot be written nothing is left done. */
TEST_F(uapi, create_with_an_unwritable_answer_leaves_nothing)
{
	struct rdma_ucmx_create_id *cmd;
	int i;

	cmd = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, cmd);
	cmd->size = sizeof(*cmd);
	cmd->port_space = PS_TCP;
	ASSERT_EQ(0, mprotect(cmd, 4096, PROT_READ));
	for (i = 0; i < 100; i++)
		test_err(EFAULT, ioctl(self->fd, RDMA_UCMX_CREATE_ID, cmd));
	ASSERT_EQ(0, channel_ids(self->fd));
}

/* The first @there bytes can be written and no more. */
TEST_F(uapi, answers_across_a_page_boundary)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t there, size = sizeof(struct rdma_ucmx_create_id);

	ASSERT_NE(MAP_FAILED, page);
	ASSERT_STREQ("create_id", commands[1].name);
	for (there = 4; there <= size; there += 4) {
		ASSERT_EQ(0, mprotect(page + 4096, 4096, PROT_READ | PROT_WRITE));
		fill(self, &commands[1], 0);
		memcpy(page + 4096 - there, self->arg, size);
		ASSERT_EQ(0, mprotect(page + 4096, 4096, PROT_READ));
		if (there < size)
			test_err(EFAULT, ioctl(self->fd, RDMA_UCMX_CREATE_ID,
					       page + 4096 - there));
		else
			test_ok(ioctl(self->fd, RDMA_UCMX_CREATE_ID,
				      page + 4096 - there));
		ASSERT_EQ(there == size, channel_ids(self->fd));
	}
}

TEST_F(uapi, port_spaces)
{
	static const __u16 bad[] = { 0, 1, 0x0107, 0xffff };
	__u32 id;
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(bad); i++)
		test_err(EINVAL, cmd_create_id(self->fd, bad[i], 0, &id));
	ASSERT_EQ(0, channel_ids(self->fd));
	test_ok(cmd_create_id(self->fd, PS_TCP, 0, &id));
	test_ok(cmd_create_id(self->fd, PS_UDP, 0, &id));
	test_ok(cmd_create_id(self->fd, 0x0002, 0, &id));
	test_ok(cmd_create_id(self->fd, 0x013f, 0, &id));
}

/* C1: foreign, destroyed and unknown are the same, for every command. */
TEST_F(uapi, c01_foreign_and_destroyed_ids_are_enoent)
{
	const struct command *command;
	int other = channel_open();
	__u32 foreign, destroyed;

	ASSERT_LE(0, other);
	test_ok(cmd_create_id(other, PS_TCP, 0, &foreign));
	test_ok(cmd_create_id(self->fd, PS_TCP, 0, &destroyed));
	test_ok(cmd_destroy_id(self->fd, destroyed));
	for_each_command(command) {
		fill(self, command, foreign);
		EXPECT_RUN(expected_errno(command));
		fill(self, command, destroyed);
		EXPECT_RUN(expected_errno(command));
	}
	/* It never came to harm. */
	test_ok(cmd_destroy_id(other, foreign));
}

/* The dup of a channel is the channel, its last one closes it. */
TEST_F(uapi, duplicated_descriptors_are_one_channel)
{
	int dup_fd = dup(self->fd);
	__u32 id;

	ASSERT_LE(0, dup_fd);
	test_ok(cmd_create_id(dup_fd, PS_TCP, 0, &id));
	ASSERT_EQ(0, close(dup_fd));
	test_ok(cmd_destroy_id(self->fd, id));
}

TEST_F(uapi, writing_and_seeking_are_refused)
{
	errno = 0;
	ASSERT_EQ(-1, write(self->fd, self->arg, 8));
	ASSERT_EQ(EINVAL, errno);
	ASSERT_EQ(-1, lseek(self->fd, 0, SEEK_SET));
	ASSERT_EQ(ESPIPE, errno);
}

TEST_HARNESS_MAIN
