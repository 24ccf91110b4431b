// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What a walker may do in one step: every command on any id and channel, and
 * all that can be done with a channel besides.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz.h"

/* More ids than this on a channel, and some have to go. */
#define CROWD 24

static const char *draw_ip(void)
{
	static const char *const ips[] = {
		ADDR1, ADDR1, ADDR1, ADDR2, ADDR6, "0.0.0.0", "127.0.0.1", "192.0.2.99",
	};

	return ips[draw(ARRAY_LEN(ips))];
}

static __u32 draw_wait_flags(void)
{
	return one_in(3) ? RDMA_UCMX_NONBLOCK : 0;
}

/*
 * Channels
 */

static void step_open(void)
{
	struct channel channel = {
		.fd = count(OP_OPEN, one_in(2) ? channel_open() : channel_open_nonblock()),
		.number = ++world->next_channel,
	};

	slot_set(draw(SLOTS), channel);
}

static void step_close(void)
{
	slot_set(draw(SLOTS), (struct channel){ .fd = -1 });
	if (!one_in(4))
		step_open();
}

static void step_dup(void)
{
	struct channel channel = draw_channel();

	channel.fd = count(OP_DUP, fcntl(channel.fd, F_DUPFD_CLOEXEC, 0));
	if (channel.fd >= 0)
		slot_set(draw(SLOTS), channel);
}

static void step_blocking(void)
{
	int fd = draw_channel().fd;

	fcntl(fd, F_SETFL, one_in(2) ? O_NONBLOCK : 0);
}

static void step_shutdown(void)
{
	/* Such a channel is of little use. */
	if (!one_in(8))
		return;
	cmd_shutdown(draw_channel().fd);
}

static void step_poll(void)
{
	struct channel channels[2] = { draw_channel(), draw_channel() };
	struct pollfd pollfds[2] = {
		{ .fd = channels[0].fd, .events = POLLIN },
		{ .fd = channels[1].fd, .events = one_in(2) ? POLLIN : draw64() },
	};

	if (count(OP_POLL, poll(pollfds, 2, draw(20))) <= 0)
		return;
	for (int i = 0; i < 2; i++) {
		if (pollfds[i].revents & POLLIN)
			read_events(channels[i]);
	}
}

static void step_epoll(void)
{
	static _Atomic int epoll;
	static const __u32 kinds[] = { 0, EPOLLET, EPOLLONESHOT, EPOLLET | EPOLLONESHOT };
	unsigned int slot = draw(SLOTS);
	struct epoll_event event = { .events = EPOLLIN | kinds[draw(4)], .data.u32 = slot };
	static const int operations[] = { EPOLL_CTL_ADD, EPOLL_CTL_MOD, EPOLL_CTL_DEL };

	if (!epoll)
		epoll = epoll_create1(EPOLL_CLOEXEC);
	count(OP_EPOLL, epoll_ctl(epoll, operations[draw(3)], slot_get(slot).fd, &event));
	if (count(OP_EPOLL, epoll_wait(epoll, &event, 1, draw(20))) == 1)
		read_events(slot_get(event.data.u32 % SLOTS));
}

static void step_read(void)
{
	read_events(draw_channel());
}

static void step_info(void)
{
	struct rdma_ucmx_info info;

	cmd_info(draw_channel().fd, &info);
}

/* And where it is crowded, make room. */
static void step_list(void)
{
	struct channel channel = draw_channel();
	struct rdma_ucmx_id_info ids[2 * CROWD];
	int n;

	memset(ids, 0, sizeof(ids));
	n = cmd_list_ids(channel.fd, one_in(4) ? draw64() : 0, ids, ARRAY_LEN(ids));
	if (n > (int)ARRAY_LEN(ids))
		return;
	for (int i = 0; i < n; i++) {
		id_note(ids[i].id, channel.number);
		if (n > CROWD && one_in(2))
			cmd_destroy_id_opt(channel.fd, ids[i].id, RDMA_UCMX_NONBLOCK, 0,
					   ids[i].oldest_seq);
	}
}

/*
 * Ids
 */

static int create(struct channel channel, __u16 port_space, __u32 *id)
{
	int ret = cmd_create_id(channel.fd, port_space, draw64(), id);

	if (!ret)
		id_note(*id, channel.number);
	return ret;
}

static void step_create(void)
{
	static const __u16 spaces[] = { PS_TCP, PS_TCP, PS_UDP, 0x0002, 0x013f, 77 };
	__u32 id;

	create(draw_channel(), spaces[draw(ARRAY_LEN(spaces))], &id);
}

/* A client begins; what follows is for who reads its events. */
static void step_client(void)
{
	struct channel channel = draw_channel();
	struct rdma_ucmx_addr dst = addr(one_in(8) ? draw_ip() : ADDR1, draw_port());
	__u32 id;

	if (!create(channel, one_in(8) ? PS_UDP : PS_TCP, &id))
		cmd_resolve_addr(channel.fd, id, NULL, &dst);
}

/* 0, or the port that it listens on. */
static __u16 listener(struct channel channel)
{
	struct rdma_ucmx_addr any = addr(one_in(2) ? "0.0.0.0" : ADDR1, 0);
	struct rdma_ucmx_query query;
	__u32 id;

	if (create(channel, one_in(8) ? PS_UDP : PS_TCP, &id) ||
	    cmd_bind_addr(channel.fd, id, &any) ||
	    cmd_listen(channel.fd, id, draw(4)) ||
	    cmd_query(channel.fd, id, &query))
		return 0;
	return addr_port(&query.out_route.src_addr);
}

static void step_listener(void)
{
	__u16 port = listener(draw_channel());

	if (port)
		port_note(port);
}

/* A client whose listener is there, so that they come together more often. */
static void step_pair(void)
{
	struct channel channel = draw_channel();
	__u16 port = listener(channel);
	struct rdma_ucmx_addr dst = addr(ADDR1, port);
	__u32 id;

	if (port && !create(channel, PS_TCP, &id))
		cmd_resolve_addr(channel.fd, id, NULL, &dst);
}

static void step_member(void)
{
	struct channel channel = draw_channel();
	struct rdma_ucmx_addr address = addr(ADDR1, 0);
	__u32 id;

	if (!create(channel, PS_UDP, &id) && !cmd_bind_addr(channel.fd, id, &address))
		join_group(channel, id);
}

/* A command on an id, whatever state that is in. */
static void step_any(void)
{
	struct rdma_ucmx_conn_param param = conn_param();
	struct rdma_ucmx_addr src = addr(draw_ip(), one_in(2) ? 0 : draw_port());
	struct rdma_ucmx_addr dst = addr(draw_ip(), draw_port());
	struct rdma_ucmx_qp_attr attr;
	struct rdma_ucmx_query query;
	struct channel channel;
	__u32 id = draw_id(&channel);

	switch (draw(13)) {
	case 0:
		cmd_bind_addr(channel.fd, id, &src);
		break;
	case 1:
		cmd_resolve_addr(channel.fd, id, one_in(2) ? NULL : &src, &dst);
		break;
	case 2:
		cmd_resolve_route(channel.fd, id);
		break;
	case 3:
		cmd_listen(channel.fd, id, draw(4));
		break;
	case 4:
		cmd_connect(channel.fd, id, &param);
		break;
	case 5:
		cmd_accept(channel.fd, id, draw64(), one_in(2) ? NULL : &param);
		break;
	case 6:
		cmd_reject(channel.fd, id, 0, "", 0);
		break;
	case 7 ... 8:
		cmd_disconnect(channel.fd, id);
		break;
	case 9:
		cmd_notify(channel.fd, id, draw(20));
		break;
	case 10:
		cmd_query(channel.fd, id, &query);
		break;
	case 11:
		cmd_init_qp_attr(channel.fd, id, draw(8), &attr);
		break;
	case 12:
		cmd_adopt_id(channel.fd, id, draw64());
		break;
	}
}

static void step_option(void)
{
	struct channel channel;
	__u32 id = draw_id(&channel), name = draw(5), len;
	__u64 value = draw(4);

	cmd_set_option(channel.fd, id, one_in(8), name, &value, one_in(2) ? 1 : 4);
	len = sizeof(value);
	cmd_get_option(channel.fd, id, one_in(8), name, &value, &len);
}

static void step_write(void)
{
	struct channel channel;
	__u32 id = draw_id(&channel);

	cmd_write_event(channel.fd, id, one_in(8) ? draw(32) : EV_USER + draw(2),
			draw(3), draw64());
}

static void step_ack(void)
{
	struct rdma_ucmx_ack acks[40];
	struct channel channel;
	__u32 id = draw_id(&channel);

	if (one_in(2)) {
		cmd_ack(channel.fd, id, one_in(2) ? 0 : draw_held(id));
		return;
	}
	for (unsigned int i = 0; i < ARRAY_LEN(acks); i++)
		acks[i] = (struct rdma_ucmx_ack){ .id = id, .seq = i };
	cmd_ack_events(channel.fd, &acks[draw(3)], 1 + draw(37));
}

static void step_destroy(void)
{
	struct channel channel;
	__u32 id = draw_id(&channel);

	cmd_destroy_id_opt(channel.fd, id, draw_wait_flags(), draw_deadline(),
			   one_in(2) ? 0 : draw_held(id));
}

static void step_migrate(void)
{
	struct channel channel, target = draw_channel();
	__u32 id = draw_id(&channel), flags = draw_wait_flags();
	int ret;

	if (one_in(4)) {
		ret = cmd_migrate_id_cookie(channel.fd, id, target.fd, draw64());
	} else {
		if (one_in(4))
			flags |= RDMA_UCMX_ANNOUNCE;
		ret = cmd_migrate_id_opt(channel.fd, id, target.fd, flags,
					 draw_deadline(), one_in(2) ? 0 : draw_held(id));
	}
	if (!ret)
		id_note(id, target.number);
}

static void step_join(void)
{
	struct channel channel;
	__u32 id = draw_id(&channel);

	join_group(channel, id);
}

static void step_leave(void)
{
	struct channel channel;
	__u32 other = draw_id(&channel), id, group;

	if (!draw_group(&id, &group))
		return;
	for (unsigned int i = 0; i < SLOTS && one_in(2); i++)
		channel = draw_channel();
	cmd_leave_mcast_opt(channel.fd, one_in(16) ? other : id, group,
			    draw_wait_flags(), draw_deadline(),
			    one_in(2) ? 0 : draw_held(id));
}

/* No command at all. */
static void step_unknown(void)
{
	__u32 argument[64] = { sizeof(argument) };

	ioctl(draw_channel().fd, draw64(), argument);
}

/*
 * Processes
 */

/* The child walks on by itself, alone, until it is done or killed. */
static void walk_as_child(void)
{
	static struct walker walker;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	me->walker = &walker;
	me->child = -1;
	me->number += THREADS * PROCESSES;
	for (unsigned int n = 1 + draw(20); n; n--)
		step();
	_exit(0);
}

void end_child(void)
{
	if (me->child <= 0)
		return;
	count(OP_KILL, kill(me->child, SIGKILL));
	while (waitpid(me->child, NULL, 0) < 0 && errno == EINTR)
		;
	me->child = 0;
}

static void step_fork(void)
{
	if (me->child < 0)
		return;
	end_child();
	me->child = count(OP_FORK, fork());
	if (!me->child)
		walk_as_child();
	if (me->child < 0)
		me->child = 0;
}

static const struct {
	unsigned int weight;
	void (*run)(void);
} steps[] = {
	{ 2, step_open },
	{ 1, step_close },
	{ 2, step_dup },
	{ 2, step_blocking },
	{ 1, step_shutdown },
	{ 6, step_poll },
	{ 4, step_epoll },
	{ 30, step_read },
	{ 1, step_info },
	{ 4, step_list },
	{ 4, step_create },
	{ 6, step_client },
	{ 2, step_listener },
	{ 8, step_pair },
	{ 2, step_member },
	{ 24, step_any },
	{ 3, step_option },
	{ 6, step_write },
	{ 6, step_ack },
	{ 8, step_destroy },
	{ 16, step_migrate },
	{ 1, step_join },
	{ 3, step_leave },
	{ 1, step_unknown },
	{ 3, channel_send },
	{ 3, channel_receive },
	{ 1, step_fork },
};

void step(void)
{
	unsigned int total = 0, at, i;

	for (i = 0; i < ARRAY_LEN(steps); i++)
		total += steps[i].weight;
	me->walker->step = ++me->step;
	seed_step(me);
	at = draw(total);
	for (i = 0; at >= steps[i].weight; i++)
		at -= steps[i].weight;
	steps[i].run();
}
