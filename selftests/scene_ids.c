// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Ids in the states that tests start from, see scene.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fabric.h"
#include "iwarp.h"
#include "scene.h"

static int failed(const char *what)
{
	int err = errno;

	fprintf(stderr, "# %s: %s\n", what, strerror(err));
	errno = err;
	return -1;
}

int id_resolved(int fd, const char *ip, __u16 port, __u32 *id)
{
	struct rdma_ucmx_addr dst = addr(ip, port);

	if (cmd_create_id(fd, PS_TCP, 0, id))
		return failed("create id");
	if (cmd_resolve_addr(fd, *id, NULL, &dst))
		return failed("resolve address");
	return event_take(fd, EV_ADDR_RESOLVED, *id);
}

int id_with_pending(int fd, __u32 *id)
{
	struct rdma_ucmx_addr dst = addr(ADDR1, 7);

	if (cmd_create_id(fd, PS_TCP, 0, id))
		return failed("create id");
	if (cmd_resolve_addr(fd, *id, NULL, &dst))
		return failed("resolve address");
	if (wait_until(id_has_pending(fd, *id, 1)))
		return 0;
	errno = ETIME;
	return failed("wait for the event");
}

int id_with_outstanding(int fd, __u32 *id)
{
	struct rdma_ucmx_addr dst = addr(ADDR1, 7);
	struct event ev;

	if (cmd_create_id(fd, PS_TCP, 0, id))
		return failed("create id");
	if (cmd_resolve_addr(fd, *id, NULL, &dst))
		return failed("resolve address");
	return event_expect(fd, EV_ADDR_RESOLVED, &ev);
}

int listener_open(int fd, const char *ip, __u32 backlog, __u32 *id,
		  __u16 *port)
{
	struct rdma_ucmx_addr any_port = addr(ip, 0);
	struct rdma_ucmx_query query;

	if (cmd_create_id(fd, PS_TCP, 0, id))
		return failed("create listener");
	if (cmd_bind_addr(fd, *id, &any_port))
		return failed("bind listener");
	if (cmd_listen(fd, *id, backlog))
		return failed("listen");
	if (cmd_query(fd, *id, &query))
		return failed("query listener");
	*port = addr_port(&query.out_route.src_addr);
	return 0;
}

/* An event of a client: go on. */
static int client_step(int fd)
{
	struct event ev;

	if (event_read(fd, &ev) || event_ack(fd, &ev))
		return -1;
	switch (ev.head.event) {
	case EV_ADDR_RESOLVED:
		return cmd_resolve_route(fd, ev.head.id) ?
			failed("resolve route") : 0;
	case EV_ROUTE_RESOLVED:
		return 0;
	default:
		fprintf(stderr, "# client %u got %s, status %d\n", ev.head.id,
			event_name(ev.head.event), ev.head.status);
		errno = EPROTO;
		return -1;
	}
}

/* An iWARP device has its own queue pairs. */
static void set_qp(struct rdma_ucmx_conn_param *param, bool second_device)
{
	if (over_iwarp() && second_device)
		param->qp_num = iwarp_qp_num(1);
}

/* All at once, so that a slow machine works on many. */
int clients_connect(int fd, const char *ip, __u16 port, unsigned int n,
		    __u32 *ids)
{
	struct rdma_ucmx_addr dst = addr(ip, port);
	struct rdma_ucmx_conn_param param;
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (cmd_create_id(fd, PS_TCP, i, &ids[i]))
			return failed("create client");
		if (cmd_resolve_addr(fd, ids[i], NULL, &dst))
			return failed("resolve address");
	}
	for (i = 0; i < 2 * n; i++) {
		if (client_step(fd))
			return -1;
	}
	for (i = 0; i < n; i++) {
		param = conn_param_tagged(i);
		set_qp(&param, !strcmp(ip, ADDR_SECOND));
		if (cmd_connect(fd, ids[i], &param))
			return failed("connect");
	}
	return 0;
}

int client_connect(int fd, const char *ip, __u16 port, __u32 *id)
{
	return clients_connect(fd, ip, port, 1, id);
}

int child_accept(int fd, const struct event *ev, __u64 cookie)
{
	struct rdma_ucmx_conn_param param = conn_param_tagged(conn_tag(&ev->conn));
	__u16 port = addr_port(&ev->route.src_addr);
	struct rdma_ucmx_addr second = addr(ADDR_SECOND, port);

	set_qp(&param, !memcmp(&ev->route.src_addr, &second, sizeof(second)));
	if (cmd_accept(fd, ev->head.id, cookie, &param))
		return failed("accept");
	return 0;
}

int client_confirm(int fd, __u32 id)
{
	if (event_take(fd, EV_ANSWER, id))
		return -1;
	return !over_iwarp() && cmd_accept(fd, id, 0, NULL) ? failed("confirm") : 0;
}

int connect_in_vain(int fd, __u32 id)
{
	struct rdma_ucmx_conn_param param = conn_param();

	if (!cmd_connect(fd, id, &param))
		return 0;
	if (!over_iwarp() || errno != ECONNREFUSED)
		return failed("connect");
	return cmd_write_event(fd, id, EV_USER, 0, 0) ? failed("write event") : 0;
}

int connection_open(int server, int client, const char *ip,
		    struct connection *connection)
{
	struct event ev;

	if (listener_open(server, ip, 1, &connection->listener,
			  &connection->port))
		return -1;
	if (client_connect(client, ip, connection->port, &connection->client))
		return -1;
	if (event_expect(server, EV_CONNECT_REQUEST, &ev) ||
	    event_ack(server, &ev))
		return -1;
	connection->child = ev.head.id;
	if (child_accept(server, &ev, 0))
		return -1;
	if (client_confirm(client, connection->client))
		return -1;
	return event_take(server, EV_ESTABLISHED, connection->child);
}
