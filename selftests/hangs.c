// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * hangs migrate|destroy ADDRESS - a program for looked.sh to look at: it waits in
 * the call for an event that its other thread has read and does not acknowledge,
 * until it is killed.
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

static sem_t has_read;

static void *read_and_keep(void *channel)
{
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(channel, &event))
		perror("rdma_get_cm_event");
	sem_post(&has_read);
	pause();
	return NULL;
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct rdma_event_channel *source, *target;
	struct rdma_cm_id *id;
	pthread_t reader;

	if (argc != 3 || inet_pton(AF_INET, argv[2], &address.sin_addr) != 1)
		return 2;
	address.sin_port = htons(7);
	sem_init(&has_read, 0, 0);
	source = rdma_create_event_channel();
	target = rdma_create_event_channel();
	if (!source || !target || rdma_create_id(source, &id, NULL, RDMA_PS_TCP) ||
	    rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, 2000) ||
	    pthread_create(&reader, NULL, read_and_keep, source)) {
		perror("hangs");
		return 1;
	}
	sem_wait(&has_read);
	if (!strcmp(argv[1], "migrate"))
		rdma_migrate_id(id, target);
	else
		rdma_destroy_id(id);
	return 1;
}
