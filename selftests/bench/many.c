// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What may depend on how much else there is: events of others in the queue, ids
 * on the channel, channels.
 */
#include <netinet/in.h>
#include <stdlib.h>

#include "bench.h"

#define TIMES 100

static void migrate_away(struct rdma_event_channel *channel,
			 struct rdma_event_channel *other,
			 struct rdma_cm_id *id, struct samples *samples)
{
	uint64_t start = ticks();
	int ret = rdma_migrate_id(id, other);

	sample_since(samples, start, 1);
	must(!ret, "rdma_migrate_id");
	must(!rdma_migrate_id(id, channel), "rdma_migrate_id back");
}

static void destroy_one(struct rdma_event_channel *channel,
			struct samples *samples)
{
	struct rdma_cm_id *id;
	uint64_t start;

	ids_create(channel, &id, 1);
	start = ticks();
	ids_destroy(&id, 1);
	sample_since(samples, start, 1);
}

/* Beside @n pending events of as many other ids. */
static void beside_pending(struct rdma_event_channel *channel, unsigned int n)
{
	struct samples migrates = { 0 }, destroys = { 0 };
	struct rdma_event_channel *other = channel_new();
	struct rdma_cm_id *id;
	unsigned int i;

	ids_create(channel, &id, 1);
	for (i = 0; i < TIMES; i++) {
		migrate_away(channel, other, id, &migrates);
		destroy_one(channel, &destroys);
	}
	row(&migrates, "migrate.beside_events@%u", n);
	row(&destroys, "destroy.beside_events@%u", n);
	ids_destroy(&id, 1);
	rdma_destroy_event_channel(other);
}

static struct rdma_cm_id **ids_alloc(unsigned int n)
{
	struct rdma_cm_id **ids = calloc(n, sizeof(*ids));

	must(ids, "calloc");
	return ids;
}

/*
 * Each has a port of its own, of which there are 64,000 to a port space, if the
 * machine was told so.
 */
static void crowd_create(struct rdma_event_channel *channel,
			 struct rdma_cm_id **ids, unsigned int n)
{
	static const enum rdma_port_space spaces[] = { RDMA_PS_TCP, RDMA_PS_UDP };
	unsigned int i;

	for (i = 0; i < n; i++)
		must(!rdma_create_id(channel, &ids[i], NULL, spaces[i % 2]),
		     "rdma_create_id");
}

void bench_pending(void)
{
	struct rdma_event_channel *channel = channel_new();
	const unsigned int most = wanted("BENCH_EVENTS", 100000);
	struct rdma_cm_id **ids = ids_alloc(most);
	unsigned int n = 0, next;

	beside_pending(channel, 0);
	for (next = 100; next <= most; next *= 10) {
		crowd_create(channel, ids + n, next - n);
		ids_resolve_addr(ids + n, next - n);
		n = next;
		beside_pending(channel, n);
	}
	/* Closing is quicker than so many destroys, where these are slow. */
	exit(0);
}

/* Some of many, all over them. */
static struct rdma_cm_id *some(struct rdma_cm_id **ids, unsigned int n,
			       unsigned int i)
{
	return ids[(i * 2654435761U) % n];
}

/* A command that finds its id and does next to nothing with it. */
static void look_up(struct rdma_cm_id *id, struct samples *samples)
{
	uint8_t tos = 0;
	uint64_t start = ticks();
	int ret = rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos,
				  sizeof(tos));

	sample_since(samples, start, 1);
	must(!ret, "rdma_set_option");
}

static void create_and_destroy(struct rdma_event_channel *channel,
			       struct samples *creates,
			       struct samples *destroys)
{
	struct rdma_cm_id *id;
	uint64_t start;

	start = ticks();
	ids_create(channel, &id, 1);
	sample_since(creates, start, 1);
	start = ticks();
	ids_destroy(&id, 1);
	sample_since(destroys, start, 1);
}

/* With @n ids there are, @per_channel on a channel. */
static void among_ids(const char *what, struct rdma_cm_id **ids, unsigned int n)
{
	struct samples creates = { 0 }, looks = { 0 };
	struct samples migrates = { 0 }, destroys = { 0 };
	struct rdma_event_channel *other = channel_new();
	struct rdma_cm_id *id;
	unsigned int i;

	for (i = 0; i < TIMES; i++) {
		id = some(ids, n, i);
		create_and_destroy(id->channel, &creates, &destroys);
		look_up(id, &looks);
		migrate_away(id->channel, other, id, &migrates);
	}
	row(&creates, "create.%s@%u", what, n);
	row(&looks, "look_up.%s@%u", what, n);
	row(&migrates, "migrate.%s@%u", what, n);
	row(&destroys, "destroy.%s@%u", what, n);
	rdma_destroy_event_channel(other);
}

void bench_scale(void)
{
	struct rdma_event_channel *channel = channel_new();
	const unsigned int most = wanted("BENCH_IDS", 100000);
	struct rdma_cm_id **ids = ids_alloc(most);
	unsigned int n = 0, next;

	for (next = 100; next <= most; next *= 10) {
		ids_create(channel, ids + n, next - n);
		n = next;
		among_ids("beside_ids", ids, n);
	}
	exit(0);
}

void bench_channels(void)
{
	const unsigned int most = wanted("BENCH_CHANNELS", 1000);
	struct rdma_cm_id **ids = ids_alloc(most * 100);
	unsigned int n = 0, next;

	for (next = 1; next <= most; next *= 10) {
		for (; n < next; n++)
			ids_create(channel_new(), ids + n * 100, 100);
		among_ids("on_channels_of_100", ids, n * 100);
	}
	exit(0);
}
