// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What tests need before and around what they test, see scene.h.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "iwarp.h"
#include "scene.h"

/* Say what failed, for a reader of the log, and pass it on. */
static int complain(const char *what)
{
	int err = errno;

	fprintf(stderr, "# %s: %s\n", what, strerror(err));
	errno = err;
	return -1;
}

__u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

void pause_briefly(void)
{
	usleep(1000);
}

bool over_iwarp(void)
{
	const char *fabric = getenv("UCMX_FABRIC");

	return fabric && !strcmp(fabric, "siw");
}

int write_file(const char *path, const char *text)
{
	ssize_t len = strlen(text), ret;
	int fd = open(path, O_WRONLY), err;

	if (fd < 0)
		return -1;
	ret = write(fd, text, len);
	err = errno;
	close(fd);
	errno = err;
	return ret == len ? 0 : -1;
}

unsigned int scaled(unsigned int number)
{
	const char *scale = getenv("UCMX_SCALE");
	unsigned int divisor = scale ? strtoul(scale, NULL, 10) : 1;

	return divisor < 2 ? number : (number + divisor - 1) / divisor;
}

int channel_open(void)
{
	return open(UCMX_DEVICE, O_RDWR | O_CLOEXEC);
}

int channel_open_nonblock(void)
{
	return open(UCMX_DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK);
}

int channels_open(int *source, int *target, int *client)
{
	*source = channel_open();
	*target = channel_open();
	*client = channel_open();
	return *source < 0 || *target < 0 || *client < 0 ? -1 : 0;
}

void channels_close(int source, int target, int client)
{
	close(source);
	close(target);
	close(client);
}

/*
 * Addresses
 */

struct rdma_ucmx_addr addr(const char *ip, __u16 port)
{
	struct sockaddr_in v4 = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
	};
	struct sockaddr_in6 v6 = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(port),
	};
	struct rdma_ucmx_addr address = {};

	if (inet_pton(AF_INET, ip, &v4.sin_addr) == 1) {
		memcpy(&address, &v4, sizeof(v4));
	} else if (inet_pton(AF_INET6, ip, &v6.sin6_addr) == 1) {
		memcpy(&address, &v6, sizeof(v6));
	} else {
		fprintf(stderr, "# %s is no address\n", ip);
		abort();
	}
	return address;
}

/* At the same place for IPv4 and IPv6. */
__u16 addr_port(const struct rdma_ucmx_addr *addr)
{
	__u16 port;

	memcpy(&port, addr->data, sizeof(port));
	return ntohs(port);
}

bool addr_is(const struct rdma_ucmx_addr *address, const char *ip, __u16 port)
{
	struct rdma_ucmx_addr expected = addr(ip, port);
	bool same = !memcmp(address, &expected, sizeof(expected));

	if (!same)
		fprintf(stderr, "# address of family %u, port %u, is not %s, %u\n",
			address->family, addr_port(address), ip, port);
	return same;
}

/*
 * Events
 */

const char *event_name(__u32 event)
{
	static const char *const names[] = {
		"ADDR_RESOLVED", "ADDR_ERROR", "ROUTE_RESOLVED", "ROUTE_ERROR",
		"CONNECT_REQUEST", "CONNECT_RESPONSE", "CONNECT_ERROR",
		"UNREACHABLE", "REJECTED", "ESTABLISHED", "DISCONNECTED",
		"DEVICE_REMOVAL", "MULTICAST_JOIN", "MULTICAST_ERROR",
		"ADDR_CHANGE", "TIMEWAIT_EXIT", "ADDRINFO_RESOLVED",
		"ADDRINFO_ERROR",
	};

	switch (event) {
	case EV_USER:
		return "USER";
	case EV_INTERNAL:
		return "INTERNAL";
	case EV_ARRIVED:
		return "ARRIVED";
	}
	return event < ARRAY_LEN(names) ? names[event] : "unknown";
}

ssize_t event_parse(const void *record, size_t size, struct event *ev)
{
	size_t at = sizeof(ev->head);

	memset(ev, 0, sizeof(*ev));
	if (size < sizeof(ev->head))
		goto malformed;
	memcpy(&ev->head, record, sizeof(ev->head));
	if (ev->head.size > size || ev->head.size % 8 ||
	    ev->head.num_paths > RDMA_UCMX_MAX_PATHS)
		goto malformed;

#define SECTION(bit, member, length) do {				\
	if (!(ev->head.sections & (bit)))				\
		break;							\
	if (at + (length) > ev->head.size)				\
		goto malformed;						\
	memcpy((member), (const char *)record + at, (length));		\
	at += (length);							\
} while (0)
	SECTION(RDMA_UCMX_EVENT_CONN, &ev->conn, sizeof(ev->conn));
	SECTION(RDMA_UCMX_EVENT_UD, &ev->ud, sizeof(ev->ud));
	SECTION(RDMA_UCMX_EVENT_ROUTE, &ev->route, sizeof(ev->route));
	SECTION(RDMA_UCMX_EVENT_PATHS, ev->paths,
		ev->head.num_paths * sizeof(ev->paths[0]));
	SECTION(RDMA_UCMX_EVENT_ARG, &ev->arg, sizeof(ev->arg));
#undef SECTION
	return ev->head.size;

malformed:
	errno = EBADMSG;
	return complain("malformed event record");
}

static int event_read_raw(int fd, struct event *ev)
{
	/* So small that it takes one record and no more. */
	char record[RDMA_UCMX_READ_MIN - 1] __attribute__((aligned(8)));
	ssize_t size, parsed;

	size = read(fd, record, sizeof(record));
	if (size < 0)
		return -1;
	parsed = event_parse(record, size, ev);
	if (parsed == size)
		return 0;
	if (parsed > 0) {
		errno = EBADMSG;
		complain("read returned more than one record");
	}
	return -1;
}

int event_read_now(int fd, struct event *ev)
{
	if (!readable(fd)) {
		errno = EAGAIN;
		return -1;
	}
	return event_read_raw(fd, ev);
}

int event_read(int fd, struct event *ev)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	if (poll(&pollfd, 1, PATIENCE_MS) != 1) {
		errno = ETIME;
		return complain("no event came");
	}
	return event_read_raw(fd, ev) ? complain("read") : 0;
}

int event_expect(int fd, __u32 kind, struct event *ev)
{
	if (event_read(fd, ev))
		return -1;
	if (ev->head.event == kind)
		return 0;
	fprintf(stderr, "# expected %s, got %s, status %d, of id %u\n",
		event_name(kind), event_name(ev->head.event), ev->head.status,
		ev->head.id);
	errno = EPROTO;
	return -1;
}

int event_ack(int fd, const struct event *ev)
{
	__u32 id = ev->head.listen_id ? ev->head.listen_id : ev->head.id;

	return cmd_ack(fd, id, ev->head.seq) ? complain("acknowledge") : 0;
}

int event_take(int fd, __u32 kind, __u32 id)
{
	struct event ev;

	if (event_expect(fd, kind, &ev))
		return -1;
	if (ev.head.id != id) {
		fprintf(stderr, "# %s is of id %u, expected %u\n",
			event_name(kind), ev.head.id, id);
		errno = EPROTO;
		return -1;
	}
	return event_ack(fd, &ev);
}

bool readable(int fd)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	return poll(&pollfd, 1, 0) == 1 && (pollfd.revents & POLLIN);
}

/*
 * Ids
 */

int id_info(int fd, __u32 id, struct rdma_ucmx_id_info *info)
{
	int ret = cmd_list_ids(fd, id, info, 1);

	if (ret < 0)
		return complain("list ids");
	if (ret == 1 && info->id == id)
		return 0;
	errno = ENOENT;
	return -1;
}

bool id_has_state(int fd, __u32 id, __u32 state)
{
	struct rdma_ucmx_id_info info;

	return !id_info(fd, id, &info) && (info.state & state) == state;
}

bool id_has_pending(int fd, __u32 id, __u32 pending)
{
	struct rdma_ucmx_id_info info;

	return !id_info(fd, id, &info) && info.pending == pending;
}

bool id_is_on(int fd, __u32 id)
{
	struct rdma_ucmx_id_info info;

	return !id_info(fd, id, &info);
}

int channel_ids(int fd)
{
	struct rdma_ucmx_info info;

	return cmd_info(fd, &info) ? complain("info") : (int)info.out_ids;
}

/*
 * rdma_cm refuses a QP number that a connection of the same device has, or had
 * lately.  Other programs' QPs have small numbers, other tests another pid.
 * With iWARP it must be a queue pair's.
 */
struct rdma_ucmx_conn_param conn_param(void)
{
	static atomic_uint next;
	struct rdma_ucmx_conn_param param = {
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = 7,
		.rnr_retry_count = 7,
		.valid = 1,
	};

	param.qp_num = over_iwarp() ? iwarp_qp_num(0) :
		((unsigned int)getpid() * 4096 + next++) & 0xffffff;
	return param;
}

struct rdma_ucmx_conn_param conn_param_tagged(__u32 tag)
{
	struct rdma_ucmx_conn_param param = conn_param();

	memcpy(param.private_data, &tag, sizeof(tag));
	param.private_data_len = sizeof(tag);
	return param;
}

__u32 conn_tag(const struct rdma_ucmx_conn_param *param)
{
	__u32 tag;

	memcpy(&tag, param->private_data, sizeof(tag));
	return tag;
}
