// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * waiting ADDRESS - why rdma_destroy_id() does not return, and what to do about it.
 *
 * A thread reads an event and does not acknowledge it.  Destroying the id is given
 * half a second, and does not succeed; the library says who has read what it waits
 * for, and when.  Then the event is acknowledged in the thread's place.
 *
 * Leaving a multicast group waits for the group's event in the same way: here it is
 * only asked whether it would.
 */
#include <netinet/in.h>
#include <pthread.h>
#include <time.h>

#include <arpa/inet.h>

#include <rdma/rdma_cmx.h>

#include "try.h"

#define HALF_A_SECOND 500000000L

static struct sockaddr_in address = { .sin_family = AF_INET };
static struct sockaddr_in group = { .sin_family = AF_INET };

static pthread_barrier_t read_it, destroyed;

/* The thread that does not get round to it. */
static void *read_and_forget(void *argument)
{
	struct rdma_event_channel *channel = argument;
	struct rdma_cm_event *event;

	try(rdma_get_cm_event(channel, &event));
	printf("somebody has read %s\n", rdma_event_str(event->event));
	pthread_barrier_wait(&read_it);
	pthread_barrier_wait(&destroyed);
	/* Acknowledged already; the memory is still to be freed. */
	try(rdma_ack_cm_event(event));
	return NULL;
}

static struct timespec from_now(long ns)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	time.tv_nsec += ns;
	time.tv_sec += time.tv_nsec / 1000000000;
	time.tv_nsec %= 1000000000;
	return time;
}

static double seconds_since(const struct timespec *time)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec - time->tv_sec + (now.tv_nsec - time->tv_nsec) / 1e9;
}

/* What can be said of an id that is as good as destroyed. */
static void say_why(struct rdma_event_channel *channel, struct rdma_cm_id *id)
{
	struct rdmax_channel_info all;
	struct rdmax_id_info info;

	try(rdmax_query_id(id, &info, sizeof(info)));
	printf("it is %s: %u event read by process %u, %.1f s ago, is not acknowledged\n",
	       info.state & RDMAX_ID_DYING ? "dying" : "alive", info.outstanding,
	       info.oldest_reader, seconds_since(&info.oldest_time));
	try(rdmax_query_channel(channel, &all, sizeof(all)));
	printf("its channel has %u id, %u events to read, %u in somebody's hands\n",
	       all.ids, all.pending, all.outstanding);
}

static void destroy(struct rdma_event_channel *channel, struct rdma_cm_id *id)
{
	struct timespec deadline;

	try(!rdmax_destroy_id(id, NULL, RDMAX_NONBLOCK, NULL) || errno != EAGAIN);
	printf("destroying it would have to wait\n");
	deadline = from_now(HALF_A_SECOND);
	try(!rdmax_destroy_id(id, NULL, 0, &deadline) || errno != ETIMEDOUT);
	printf("destroying it takes longer than half a second\n");
	say_why(channel, id);
	try(rdmax_ack_id_events(id));
	try(rdma_destroy_id(id));
	printf("it is destroyed\n");
}

static void destroy_what_was_read(struct rdma_event_channel *channel)
{
	struct rdma_cm_id *id;
	pthread_t thread;

	try(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	try(rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, 5000));
	errno = pthread_create(&thread, NULL, read_and_forget, channel);
	try(errno);
	pthread_barrier_wait(&read_it);
	destroy(channel, id);
	pthread_barrier_wait(&destroyed);
	pthread_join(thread, NULL);
}

static void leave_what_was_joined(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	try(rdma_create_id(channel, &id, NULL, RDMA_PS_UDP));
	try(rdma_bind_addr(id, (struct sockaddr *)&address));
	try(rdma_join_multicast(id, (struct sockaddr *)&group, NULL));
	try(rdma_get_cm_event(channel, &event));
	try(!rdmax_leave_multicast(id, (struct sockaddr *)&group, RDMAX_NONBLOCK, NULL) ||
	    errno != EAGAIN);
	printf("leaving the group would have to wait\n");
	try(rdma_ack_cm_event(event));
	try(rdmax_leave_multicast(id, (struct sockaddr *)&group, RDMAX_NONBLOCK, NULL));
	printf("it is left\n");
	try(rdma_destroy_id(id));
}

int main(int argc, char **argv)
{
	struct rdma_event_channel *channel;

	if (argc != 2 || inet_pton(AF_INET, argv[1], &address.sin_addr) != 1) {
		fprintf(stderr, "usage: %s ADDRESS\n", argv[0]);
		return 2;
	}
	inet_pton(AF_INET, "239.1.1.1", &group.sin_addr);
	pthread_barrier_init(&read_it, NULL, 2);
	pthread_barrier_init(&destroyed, NULL, 2);
	channel = rdma_create_event_channel();
	try(!channel);
	destroy_what_was_read(channel);
	leave_what_was_joined(channel);
	rdma_destroy_event_channel(channel);
	return 0;
}
