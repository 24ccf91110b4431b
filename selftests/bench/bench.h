/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the groups of the benchmark share: counting, and the scenes around what
 * is counted.
 *
 * The program uses librdmacm's public interface, so that it runs over any
 * librdmacm; what ours has beyond that is looked for when it runs (native.c).
 * A function that fails ends the program: there is no figure then.
 */
#ifndef SELFTESTS_BENCH_H
#define SELFTESTS_BENCH_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <x86intrin.h>

#include <rdma/rdma_cma.h>

/**
 * struct samples - what was counted of one row
 * @n: how many samples
 * @room: how many fit
 * @at: the samples
 */
struct samples {
	unsigned int n;
	unsigned int room;
	double *at;
};

/* How far the clock has come: it counts instructions. */
static inline uint64_t ticks(void)
{
	return __rdtsc();
}

void sample(struct samples *samples, double value);
/* What it took since @start, for each of @n things. */
void sample_since(struct samples *samples, uint64_t start, unsigned int n);
/* Print the row and forget its samples: name, median, quartiles, extremes, n. */
void row(struct samples *samples, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The same with another figure instead of the median. */
void row_with(struct samples *samples, double figure, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* End the program unless @ok, saying what went wrong. */
void must(bool ok, const char *what);

/* Number @n, or the number in the environment variable @name. */
unsigned int wanted(const char *name, unsigned int n);

/* Let whatever was begun in the background come to its end. */
void settle(void);
/* The time that the processor was idle, in ticks. */
uint64_t idle_ticks(void);

/* scene.c */
#define HERE "192.0.2.2"
#define PORT 7471

struct sockaddr_in address(const char *ip, uint16_t port);
struct rdma_event_channel *channel_new(void);
void ids_create(struct rdma_event_channel *channel, struct rdma_cm_id **ids,
		unsigned int n);
void ids_destroy(struct rdma_cm_id **ids, unsigned int n);
/* Have one event of each id pending: its address was resolved. */
void ids_resolve_addr(struct rdma_cm_id **ids, unsigned int n);
/* Begin that, as one call. */
void id_resolve_addr(struct rdma_cm_id *id, const struct sockaddr_in *to);
/* The same with path records, of ids whose addresses are resolved. */
void ids_resolve_route(struct rdma_cm_id **ids, unsigned int n);
/* Read and acknowledge @n events of this kind. */
void events_take(struct rdma_event_channel *channel, unsigned int n,
		 enum rdma_cm_event_type kind);
void event_take(struct rdma_event_channel *channel,
		enum rdma_cm_event_type kind);
/* Read one, of which the id is of interest, and acknowledge it. */
struct rdma_cm_id *event_take_id(struct rdma_event_channel *channel,
				 enum rdma_cm_event_type kind);
struct rdma_cm_id *listener_new(struct rdma_event_channel *channel);
/* Ids that have resolved address and route to where @listener listens. */
void clients_create(struct rdma_event_channel *channel,
		    struct rdma_cm_id *listener, struct rdma_cm_id **clients,
		    unsigned int n);
/* Connect without a queue pair: a request of each is pending then. */
void clients_connect(struct rdma_cm_id **clients, unsigned int n);
void id_connect(struct rdma_cm_id *id);
void child_accept(struct rdma_cm_id *child);

/* One group of rows each. */
void bench_floor(void);
void bench_event(void);
void bench_request(void);
void bench_basic(void);
void bench_pending(void);
void bench_listener(void);
void bench_batch(void);
void bench_connection(void);
void bench_memory(void);
void bench_scale(void);
void bench_channels(void);
void bench_two(void);
void bench_own(void);

#endif /* SELFTESTS_BENCH_H */
