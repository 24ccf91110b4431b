// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What a walker does about an event: mostly what a program would, since chance
 * alone would hardly ever connect two ids.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"

void join_group(struct channel channel, __u32 id)
{
	char ip[] = "239.1.1.0";
	struct rdma_ucmx_addr address;
	__u32 group;

	ip[sizeof(ip) - 2] += draw(4);
	address = addr(ip, 0);
	if (!cmd_join_mcast(channel.fd, id, &address,
			    one_in(4) ? RDMA_UCMX_JOIN_SEND_ONLY_FULL_MEMBER :
					RDMA_UCMX_JOIN_FULL_MEMBER,
			    draw64(), &group))
		group_note(id, group);
}

static void on_request(struct channel channel, const struct event *ev)
{
	struct rdma_ucmx_conn_param param = conn_param();
	__u32 child = ev->head.id;

	id_note(child, channel.number);
	switch (draw(10)) {
	case 0 ... 1:
		cmd_reject(channel.fd, child, one_in(2) ? 0 : RDMA_UCMX_REJECT_ECE, "", 0);
		return;
	case 2:
		cmd_adopt_id(channel.fd, child, draw64());
		return;
	case 3:
		cmd_migrate_id_cookie(channel.fd, child, draw_channel().fd, draw64());
		return;
	case 4:
		return;
	default:
		if (cmd_accept(channel.fd, child, draw64(), &param))
			return;
		/* As if data had come before the peer's confirmation. */
		if (one_in(2))
			cmd_notify(channel.fd, child, 4);
	}
}

void react(struct channel channel, const struct event *ev)
{
	struct rdma_ucmx_conn_param param = conn_param();
	__u32 id = ev->head.id;

	switch (ev->head.event) {
	case EV_ADDR_RESOLVED:
		if (ev->head.port_space == PS_UDP && one_in(2))
			join_group(channel, id);
		else
			cmd_resolve_route(channel.fd, id);
		break;
	case EV_ROUTE_RESOLVED:
		cmd_connect(channel.fd, id, &param);
		break;
	case EV_CONNECT_REQUEST:
		on_request(channel, ev);
		break;
	case EV_CONNECT_RESPONSE:
		if (one_in(8))
			cmd_reject(channel.fd, id, 0, "no", 2);
		else
			cmd_accept(channel.fd, id, 0, NULL);
		break;
	case EV_MULTICAST_JOIN:
		if (one_in(2))
			cmd_leave_mcast_opt(channel.fd, id, ev->head.group, 0,
					    draw_deadline(), one_in(2) ? 0 : ev->head.seq);
		break;
	case EV_ARRIVED:
		cmd_adopt_id(channel.fd, id, draw64());
		id_note(id, channel.number);
		break;
	case EV_ESTABLISHED:
		if (one_in(2))
			cmd_disconnect(channel.fd, id);
		break;
	case EV_DISCONNECTED:
	case EV_DEVICE_REMOVAL:
	case EV_REJECTED:
		if (one_in(2))
			cmd_destroy_id_opt(channel.fd, id, 0, 0, ev->head.seq);
		break;
	}
}

static void on_event(struct channel channel, const struct event *ev)
{
	__u32 owner = ev->head.listen_id ?: ev->head.id;

	if (ev->head.event < EVENT_TYPES)
		world->events[ev->head.event]++;
	held_note(owner, ev->head.seq);
	/* Before or after what comes of it, or by somebody else. */
	if (one_in(2))
		cmd_ack(channel.fd, owner, ev->head.seq);
	if (!one_in(4))
		react(channel, ev);
	if (!one_in(4))
		cmd_ack(channel.fd, owner, ev->head.seq);
}

static void on_events(struct channel channel, char *at, ssize_t size)
{
	struct event ev;
	ssize_t length;

	for (; size > 0; at += length, size -= length) {
		length = event_parse(at, size, &ev);
		if (length < 0) {
			count(OP_READ, -1);
			return;
		}
		on_event(channel, &ev);
	}
}

/* Where nothing, or not everything, can be written. */
static ssize_t read_wrongly(int fd)
{
	switch (draw(4)) {
	case 0:
		return read(fd, me->arena + ARENA_NONE - draw(300), PAGE);
	case 1:
		return read(fd, me->arena + ARENA_READ_ONLY, PAGE);
	case 2:
		return read(fd, me->arena, draw(80));
	default:
		return read(fd, NULL, draw64());
	}
}

/* As many as are asked for, whatever is there. */
static void read_number(struct channel channel)
{
	char records[RDMA_UCMX_READ_MIN] __attribute__((aligned(8))) = {};
	struct rdma_ucmx_event *head = (void *)records;
	int n;

	n = cmd_read_events(channel.fd, records, sizeof(records), draw(6),
			    one_in(2) ? RDMA_UCMX_NONBLOCK : 0);
	/* If the call was made a wrong one there is nothing. */
	for (; n > 0 && head->size; n--)
		head = (void *)((char *)head + head->size);
	on_events(channel, records, (char *)head - records);
}

void read_events(struct channel channel)
{
	char records[RDMA_UCMX_READ_MIN] __attribute__((aligned(8)));
	ssize_t size;

	me->walker->op = OP_READ;
	if (one_in(8)) {
		count(OP_READ, read_wrongly(channel.fd) < 0 ? -1 : 0);
		return;
	}
	if (one_in(4)) {
		read_number(channel);
		return;
	}
	size = read(channel.fd, records, sizeof(records) - one_in(2));
	count(OP_READ, size < 0 ? -1 : 0);
	on_events(channel, records, size);
}
