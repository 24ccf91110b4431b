// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Multicast groups: joining, their events, leaving.
 */
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "call.h"
#include "scene.h"
#include "test.h"

#define GROUP "239.1.1.1"
#define GROUP2 "239.1.1.2"
#define FULL RDMA_UCMX_JOIN_FULL_MEMBER

FIXTURE(mcast) {
	int fd;
	int target;
	__u32 id;
	struct rdma_ucmx_addr addr;
	struct rdma_ucmx_addr addr2;
};

FIXTURE_SETUP(mcast)
{
	struct rdma_ucmx_addr local = addr(ADDR1, 0);

	self->fd = channel_open();
	self->target = channel_open();
	ASSERT_LE(0, self->fd);
	ASSERT_LE(0, self->target);
	self->addr = addr(GROUP, 0);
	self->addr2 = addr(GROUP2, 0);
	test_ok(cmd_create_id(self->fd, PS_UDP, 5, &self->id));
	test_ok(cmd_bind_addr(self->fd, self->id, &local));
}

FIXTURE_TEARDOWN(mcast)
{
	close(self->fd);
	close(self->target);
}

#define JOIN(addr, cookie, group) \
	cmd_join_mcast(self->fd, self->id, &self->addr, FULL, cookie, group)

TEST_F(mcast, joined_event_is_the_groups_and_the_ids)
{
	struct event ev;
	__u32 group;

	test_ok(JOIN(addr, 66, &group));
	test_ok(event_expect(self->fd, EV_MULTICAST_JOIN, &ev));
	EXPECT_EQ(0, ev.head.status);
	EXPECT_EQ(self->id, ev.head.id);
	EXPECT_EQ(5, ev.head.cookie);
	EXPECT_EQ(group, ev.head.group);
	EXPECT_EQ(66, ev.head.listen_cookie);
	EXPECT_EQ(0, ev.head.listen_id);
	EXPECT_TRUE(ev.head.sections & RDMA_UCMX_EVENT_UD);
	EXPECT_EQ(0xffffff, ev.ud.qp_num);
	EXPECT_EQ(0, ev.ud.private_data_len);
	/* Both wait for it. */
	test_err(EAGAIN, cmd_leave_mcast_opt(self->fd, self->id, group,
					     RDMA_UCMX_NONBLOCK, 0, 0));
	test_err(EAGAIN, cmd_migrate_id_opt(self->fd, self->id, self->target,
					    RDMA_UCMX_NONBLOCK, 0, 0));
	test_ok(event_ack(self->fd, &ev));
	test_ok(cmd_leave_mcast(self->fd, self->id, group));
	test_err(ENOENT, cmd_leave_mcast(self->fd, self->id, group));
}

TEST_F(mcast, joined_to_send_only)
{
	__u32 group;

	test_ok(cmd_join_mcast(self->fd, self->id, &self->addr,
			       RDMA_UCMX_JOIN_SEND_ONLY_FULL_MEMBER, 66, &group));
	test_ok(event_take(self->fd, EV_MULTICAST_JOIN, self->id));
	test_ok(cmd_leave_mcast(self->fd, self->id, group));
}

TEST_F(mcast, wrong_arguments_are_refused)
{
	struct rdma_ucmx_addr none = { .family = 0 };
	struct rdma_ucmx_addr un = { .family = 1 };
	__u32 group, tcp, unbound;

	test_err(EINVAL, cmd_join_mcast(self->fd, self->id, &none, FULL, 0, &group));
	test_err(EINVAL, cmd_join_mcast(self->fd, self->id, &un, FULL, 0, &group));
	test_err(EINVAL, cmd_join_mcast(self->fd, self->id, &self->addr, 0, 0, &group));
	test_err(EINVAL, cmd_join_mcast(self->fd, self->id, &self->addr, 3, 0, &group));
	test_err(EINVAL, cmd_join_mcast(self->fd, self->id, &self->addr, 8, 0, &group));
	test_ok(id_resolved(self->fd, ADDR1, 7, &tcp));
	test_err(EINVAL, cmd_join_mcast(self->fd, tcp, &self->addr, FULL, 0, &group));
	test_ok(cmd_create_id(self->fd, PS_UDP, 0, &unbound));
	test_err(EINVAL, cmd_join_mcast(self->fd, unbound, &self->addr, FULL, 0, &group));
	test_err(ENOENT, cmd_join_mcast(self->target, self->id, &self->addr, FULL, 0, &group));
	test_err(ENOENT, cmd_leave_mcast(self->fd, self->id, 0));
	test_err(ENOENT, cmd_leave_mcast(self->fd, self->id, 12345678));
}

TEST_F(mcast, one_join_per_address)
{
	__u32 group, again, other;

	test_ok(JOIN(addr, 1, &group));
	test_err(EADDRINUSE, JOIN(addr, 2, &again));
	test_ok(JOIN(addr2, 3, &other));
	EXPECT_NE(group, other);
	test_ok(event_take(self->fd, EV_MULTICAST_JOIN, self->id));
	test_ok(event_take(self->fd, EV_MULTICAST_JOIN, self->id));
	test_ok(cmd_leave_mcast(self->fd, self->id, group));
	test_ok(JOIN(addr, 4, &again));
	test_ok(event_take(self->fd, EV_MULTICAST_JOIN, self->id));
}

/* Issue a command whose argument can be read and not written. */
static int unwritable(unsigned long number, int fd, const void *arg, size_t size)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int ret;

	if (page == MAP_FAILED)
		return 0;
	memcpy(page, arg, size);
	ret = mprotect(page, 4096, PROT_READ) ? 0 : ioctl(fd, number, page);
	munmap(page, 4096);
	return ret;
}

/* An answer that cannot be written leaves nothing joined. */
TEST_F(mcast, unwritable_answer_joins_nothing)
{
	struct rdma_ucmx_join_mcast cmd = {
		.size = sizeof(cmd),
		.id = self->id,
		.join_state = FULL,
		.addr = self->addr,
	};
	struct event ev;
	__u32 group;

	test_err(EFAULT, unwritable(RDMA_UCMX_JOIN_MCAST, self->fd, &cmd,
				    sizeof(cmd)));
	test_ok(JOIN(addr, 1, &group));
	test_ok(event_expect(self->fd, EV_MULTICAST_JOIN, &ev));
	EXPECT_EQ(group, ev.head.group);
	test_ok(event_ack(self->fd, &ev));
	test_err(EAGAIN, event_read_now(self->fd, &ev));
}

/* C17: leaving drops what is pending, and waits for what is not. */
TEST_F(mcast, c17_leaving_drops_what_is_pending)
{
	struct event ev;
	__u32 group;

	test_ok(JOIN(addr, 1, &group));
	ASSERT_TRUE(wait_until(id_has_pending(self->fd, self->id, 1)));
	test_ok(cmd_leave_mcast(self->fd, self->id, group));
	test_err(EAGAIN, event_read_now(self->fd, &ev));
	EXPECT_TRUE(id_has_pending(self->fd, self->id, 0));
}

static int run_leave(struct call *call)
{
	/* The group's number travels as "target". */
	return cmd_leave_mcast_opt(call->fd, call->id, call->target,
				   call->flags, call->deadline,
				   call->held_seq);
}

TEST_F(mcast, c17_leaving_waits_for_acknowledgements)
{
	struct call leave = { .fd = self->fd, .id = self->id };
	struct event ev;
	__u32 group, other;

	test_ok(JOIN(addr, 1, &group));
	test_ok(event_expect(self->fd, EV_MULTICAST_JOIN, &ev));
	/* Another group's event is none of its business. */
	test_ok(JOIN(addr2, 2, &other));
	leave.target = group;
	call_start(&leave, run_leave);
	ASSERT_TRUE(wait_until(call_blocked(&leave)));
	/* Left it is, though: the address is free. */
	test_ok(event_take(self->fd, EV_MULTICAST_JOIN, self->id));
	test_ok(event_ack(self->fd, &ev));
	test_ok(call_result(&leave));
	test_err(ENOENT, cmd_leave_mcast(self->fd, self->id, group));
	test_ok(cmd_leave_mcast(self->fd, self->id, other));
}

TEST_F(mcast, c17_leaving_that_timed_out_is_resumed)
{
	struct event ev;
	__u32 group;

	test_ok(JOIN(addr, 1, &group));
	test_ok(event_expect(self->fd, EV_MULTICAST_JOIN, &ev));
	test_err(ETIMEDOUT, cmd_leave_mcast_opt(self->fd, self->id, group, 0,
						now_ns() + 1000000, 0));
	test_err(ETIMEDOUT, cmd_leave_mcast_opt(self->fd, self->id, group, 0,
						1, 0));
	test_err(EAGAIN, cmd_leave_mcast_opt(self->fd, self->id, group,
					     RDMA_UCMX_NONBLOCK, 0, 0));
	test_err(EINVAL, cmd_leave_mcast_opt(self->fd, self->id, group, 0, 0,
					     ev.head.seq + 1));
	test_ok(cmd_leave_mcast_opt(self->fd, self->id, group, 0, 0,
				    ev.head.seq));
	test_err(EINVAL, event_ack(self->fd, &ev));
	test_err(ENOENT, cmd_leave_mcast(self->fd, self->id, group));
}

/* The last acknowledgement frees a group that was left. */
TEST_F(mcast, c17_last_acknowledgement_frees_the_group)
{
	struct event ev;
	__u32 group;

	test_ok(JOIN(addr, 1, &group));
	test_ok(event_expect(self->fd, EV_MULTICAST_JOIN, &ev));
	test_err(ETIMEDOUT, cmd_leave_mcast_opt(self->fd, self->id, group, 0,
						1, 0));
	test_ok(event_ack(self->fd, &ev));
	test_err(ENOENT, cmd_leave_mcast(self->fd, self->id, group));
}

/* Groups go along, with their events. */
TEST_F(mcast, c10_groups_move_with_their_id)
{
	struct event ev;
	__u32 group;

	test_ok(JOIN(addr, 7, &group));
	ASSERT_TRUE(wait_until(id_has_pending(self->fd, self->id, 1)));
	test_ok(cmd_migrate_id(self->fd, self->id, self->target));
	test_err(ENOENT, cmd_leave_mcast(self->fd, self->id, group));
	test_ok(event_expect(self->target, EV_MULTICAST_JOIN, &ev));
	EXPECT_EQ(7, ev.head.listen_cookie);
	test_ok(event_ack(self->target, &ev));
	test_ok(cmd_leave_mcast(self->target, self->id, group));
}

TEST_HARNESS_MAIN
