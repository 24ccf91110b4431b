// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What things cost in the kernel's memory: the difference that many of them make
 * to all slabs of the kernel, once what is free was given back.
 *
 * Events share their slabs with what stays when they go, so that few slabs are given
 * back: of these it is the difference in objects.
 */
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

#define ROUNDS 5
#define N 2000
#define CONNECTIONS 200
#define CHANNELS 500

/* Have all caches give back slabs in which nothing is left. */
static void slabs_shrink(void)
{
	glob_t files;
	FILE *file;
	size_t i;

	must(!glob("/sys/kernel/slab/*/shrink", 0, NULL, &files), "glob");
	for (i = 0; i < files.gl_pathc; i++) {
		file = fopen(files.gl_pathv[i], "w");
		if (!file)
			continue; /* gone in the meantime */
		fputs("1", file);
		fclose(file);
	}
	globfree(&files);
}

/* Of these the user of the machine makes more or fewer by looking. */
static bool is_of_files(const char *name)
{
	return strstr(name, "inode") || !strcmp(name, "dentry") ||
	       !strcmp(name, "buffer_head") || !strncmp(name, "9p", 2);
}

/**
 * struct slabs - what is in slabs, in bytes
 * @slabs: of slabs, whatever is free in them included
 * @objects: of objects
 * @events: of events of our module's, of these objects
 */
struct slabs {
	double slabs;
	double objects;
	double events;
};

static void slabs_add(struct slabs *sum, const char *line)
{
	unsigned long used, size, pages, n;
	char name[64];

	if (sscanf(line,
		   "%63s %lu %*u %lu %*u %lu : tunables %*u %*u %*u : slabdata %*u %lu",
		   name, &used, &size, &pages, &n) != 5 || is_of_files(name))
		return;
	sum->slabs += (double)pages * n * sysconf(_SC_PAGESIZE);
	sum->objects += (double)used * size;
	if (!strncmp(name, "ucmx_event", strlen("ucmx_event")))
		sum->events += (double)used * size;
}

static struct slabs slabs(void)
{
	struct slabs sum = { 0 };
	char line[512];
	FILE *file;

	settle();
	slabs_shrink();
	settle();
	file = fopen("/proc/slabinfo", "r");
	must(file, "/proc/slabinfo");
	while (fgets(line, sizeof(line), file))
		slabs_add(&sum, line);
	fclose(file);
	must(sum.slabs && sum.objects, "the numbers in /proc/slabinfo");
	return sum;
}

/* One round over ids, each with one event at a time. */
static void ids_round(struct samples *fresh, struct samples *event,
		      struct samples *with_paths)
{
	struct rdma_event_channel *channel = channel_new();
	static struct rdma_cm_id *ids[N];
	double before = slabs().slabs, pending;

	ids_create(channel, ids, N);
	sample(fresh, (slabs().slabs - before) / N);
	ids_resolve_addr(ids, N);
	pending = slabs().objects;
	events_take(channel, N, RDMA_CM_EVENT_ADDR_RESOLVED);
	sample(event, (pending - slabs().objects) / N);
	ids_resolve_route(ids, N);
	pending = slabs().objects;
	events_take(channel, N, RDMA_CM_EVENT_ROUTE_RESOLVED);
	sample(with_paths, (pending - slabs().objects) / N);
	ids_destroy(ids, N);
	rdma_destroy_event_channel(channel);
}

/*
 * Both ends of connections, without a queue pair, by the id.  No event is pending, so
 * what there is of them is room.
 */
static void connected_round(struct samples *connected, struct samples *reserve)
{
	struct rdma_event_channel *server = channel_new();
	struct rdma_event_channel *client = channel_new();
	struct rdma_cm_id *listener = listener_new(server);
	struct rdma_cm_id *clients[CONNECTIONS], *children[CONNECTIONS];
	struct slabs before = slabs(), after;
	int i;

	clients_create(client, listener, clients, CONNECTIONS);
	clients_connect(clients, CONNECTIONS);
	for (i = 0; i < CONNECTIONS; i++) {
		children[i] = event_take_id(server,
					    RDMA_CM_EVENT_CONNECT_REQUEST);
		child_accept(children[i]);
	}
	for (i = 0; i < CONNECTIONS; i++)
		must(!rdma_establish(event_take_id(client,
						   RDMA_CM_EVENT_CONNECT_RESPONSE)),
		     "rdma_establish");
	events_take(server, CONNECTIONS, RDMA_CM_EVENT_ESTABLISHED);
	after = slabs();
	sample(connected, (after.slabs - before.slabs) / (2 * CONNECTIONS));
	sample(reserve, (after.events - before.events) / (2 * CONNECTIONS));
	ids_destroy(clients, CONNECTIONS);
	settle();
	ids_destroy(children, CONNECTIONS);
	ids_destroy(&listener, 1);
	rdma_destroy_event_channel(client);
	rdma_destroy_event_channel(server);
}

static void channels_round(struct samples *samples)
{
	struct rdma_event_channel *channels[CHANNELS];
	double before = slabs().slabs;
	int i;

	for (i = 0; i < CHANNELS; i++)
		channels[i] = channel_new();
	sample(samples, (slabs().slabs - before) / CHANNELS);
	for (i = 0; i < CHANNELS; i++)
		rdma_destroy_event_channel(channels[i]);
}

void bench_memory(void)
{
	struct samples fresh = { 0 }, event = { 0 }, with_paths = { 0 };
	struct samples connected = { 0 }, reserve = { 0 }, channels = { 0 };
	int i;

	for (i = 0; i < ROUNDS; i++) {
		ids_round(&fresh, &event, &with_paths);
		connected_round(&connected, &reserve);
		channels_round(&channels);
	}
	row(&fresh, "bytes.id");
	row(&connected, "bytes.connected_id");
	row(&reserve, "bytes.reserve");
	row(&event, "bytes.event");
	row(&with_paths, "bytes.event_with_paths");
	row(&channels, "bytes.channel");
}
