// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What costs the same whatever else there is: events one at a time, and the
 * commands that every id sees.
 */
#include <sys/syscall.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <rdma/rdma_ucmx.h>

#include "bench.h"

#define N 200

/*
 * What nothing can go below.  Commands that do not exist, and a read for which
 * there is no event, in a buffer in which none would fit, and in one of a byte.
 */
void bench_floor(void)
{
	int fd = open("/dev/infiniband/rdma_ucmx", O_RDWR | O_NONBLOCK);
	static char from[RDMA_UCMX_READ_MIN], to[RDMA_UCMX_READ_MIN];
	struct samples calls = { 0 }, ioctls = { 0 }, bytes = { 0 };
	struct samples reads = { 0 }, copies = { 0 };
	unsigned int i;
	uint64_t start;
	int ret;

	must(fd >= 0, "/dev/infiniband/rdma_ucmx");
	for (i = 0; i < N; i++) {
		start = ticks();
		syscall(SYS_getppid);
		sample_since(&calls, start, 1);
		start = ticks();
		ret = ioctl(fd, RDMA_UCMX_IO(255), to);
		sample_since(&ioctls, start, 1);
		must(ret < 0 && errno == ENOTTY, "a command that does not exist");
		start = ticks();
		ret = read(fd, to, 1);
		sample_since(&bytes, start, 1);
		must(ret < 0 && errno == EINVAL, "a read of one byte");
		start = ticks();
		ret = read(fd, to, sizeof(to));
		sample_since(&reads, start, 1);
		must(ret < 0 && errno == EAGAIN, "a read without an event");
		start = ticks();
		memcpy(to, from, sizeof(struct rdma_ucmx_event) +
				 sizeof(struct rdma_ucmx_route));
		__asm__ volatile("" : : "m"(to));
		sample_since(&copies, start, 1);
	}
	close(fd);
	row(&calls, "floor.getppid");
	row(&ioctls, "floor.ioctl");
	row(&bytes, "floor.read_byte");
	row(&reads, "floor.read_none");
	row(&copies, "floor.copy");
}

static void take_and_count(struct rdma_event_channel *channel,
			   enum rdma_cm_event_type kind, unsigned int n,
			   struct samples *samples)
{
	struct rdma_cm_event *event;
	uint64_t start;
	bool right;
	int ret;

	while (n--) {
		start = ticks();
		ret = rdma_get_cm_event(channel, &event);
		right = !ret && event->event == kind;
		if (right)
			ret = rdma_ack_cm_event(event);
		sample_since(samples, start, 1);
		must(right && !ret, rdma_event_str(kind));
	}
}

void bench_event(void)
{
	struct rdma_event_channel *channel = channel_new();
	struct samples samples = { 0 };
	struct rdma_cm_id *ids[N];

	ids_create(channel, ids, N);
	ids_resolve_addr(ids, N);
	take_and_count(channel, RDMA_CM_EVENT_ADDR_RESOLVED, N, &samples);
	row(&samples, "event.addr_resolved");
	ids_resolve_route(ids, N);
	take_and_count(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, N, &samples);
	row(&samples, "event.route_resolved");
	ids_destroy(ids, N);
	rdma_destroy_event_channel(channel);
}

/* The ids of the requests are not lost: their clients are told. */
static void requests_count(struct rdma_event_channel *channel, unsigned int n,
			   struct samples *samples)
{
	struct rdma_cm_id *children[N];
	struct rdma_cm_event *event;
	uint64_t start;
	unsigned int i;
	int ret;

	for (i = 0; i < n; i++) {
		start = ticks();
		ret = rdma_get_cm_event(channel, &event);
		children[i] = ret ? NULL : event->id;
		if (!ret)
			ret = rdma_ack_cm_event(event);
		sample_since(samples, start, 1);
		must(!ret && children[i], "RDMA_CM_EVENT_CONNECT_REQUEST");
	}
	ids_destroy(children, n);
}

void bench_request(void)
{
	struct rdma_event_channel *server = channel_new();
	struct rdma_event_channel *client = channel_new();
	struct rdma_cm_id *listener = listener_new(server);
	struct rdma_cm_id *clients[N];
	struct samples samples = { 0 };

	clients_create(client, listener, clients, N);
	clients_connect(clients, N);
	requests_count(server, N, &samples);
	row(&samples, "event.connect_request");
	ids_destroy(clients, N);
	ids_destroy(&listener, 1);
	rdma_destroy_event_channel(client);
	rdma_destroy_event_channel(server);
}

static void migrate_back_and_forth(struct rdma_event_channel *channel,
				   struct rdma_cm_id *id,
				   struct samples *samples)
{
	struct rdma_event_channel *other = channel_new();
	uint64_t start;
	unsigned int i;
	int ret;

	for (i = 0; i < N; i++) {
		start = ticks();
		ret = rdma_migrate_id(id, i % 2 ? channel : other);
		sample_since(samples, start, 1);
		must(!ret, "rdma_migrate_id");
	}
	rdma_destroy_event_channel(other);
}

/* What happens in the background, does so between two of them. */
static void resolve_and_count(struct rdma_cm_id **ids, unsigned int n,
			      struct samples *samples)
{
	struct sockaddr_in to = address(HERE, htons(PORT));
	uint64_t start;
	unsigned int i;

	for (i = 0; i < n; i++) {
		start = ticks();
		id_resolve_addr(ids[i], &to);
		sample_since(samples, start, 1);
		usleep(1000);
	}
}

void bench_basic(void)
{
	struct rdma_event_channel *channel = channel_new();
	struct samples creates = { 0 }, resolves = { 0 };
	struct samples migrates = { 0 }, destroys = { 0 };
	struct rdma_cm_id *ids[N];
	uint64_t start;
	unsigned int i;

	for (i = 0; i < N; i++) {
		start = ticks();
		ids_create(channel, &ids[i], 1);
		sample_since(&creates, start, 1);
	}
	migrate_back_and_forth(channel, ids[0], &migrates);
	for (i = 0; i < N; i++) {
		start = ticks();
		ids_destroy(&ids[i], 1);
		sample_since(&destroys, start, 1);
	}
	row(&creates, "create");
	row(&migrates, "migrate");
	row(&destroys, "destroy");
	ids_create(channel, ids, N);
	resolve_and_count(ids, N, &resolves);
	row(&resolves, "resolve_addr");
	ids_destroy(ids, N);
	rdma_destroy_event_channel(channel);
}
