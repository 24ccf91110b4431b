// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A program that says what it calls and what it gets, for debug.sh to compare
 * with what the library logs.  One id, and no peer: so it is known what comes.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/rdma_cmx.h>

#define CALL(function, ...) \
	(printf("call %s\n", #function), function(__VA_ARGS__))

static struct rdma_event_channel *channels[2];

static void expect(int got, int wanted, int error)
{
	if (got == wanted && (got != -1 || errno == error))
		return;
	printf("got %d and errno %d, wanted %d and %d\n", got, errno, wanted,
	       error);
	exit(1);
}

static void bind_and_listen(struct rdma_cm_id *id)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	uint8_t tos = 4;

	inet_pton(AF_INET, "192.0.2.1", &address.sin_addr);
	expect(CALL(rdma_set_option, id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, 1), 0, 0);
	expect(CALL(rdma_set_option, id, RDMA_OPTION_ID, 99, &tos, 1), -1, ENOSYS);
	expect(CALL(rdma_bind_addr, id, (struct sockaddr *)&address), 0, 0);
	expect(CALL(rdma_listen, id, 3), 0, 0);
	if (!CALL(rdma_get_src_port, id))
		exit(1);
}

static void move(struct rdma_cm_id *id)
{
	struct timespec past = { .tv_nsec = 1 };
	struct rdma_cm_event *event;

	expect(CALL(rdma_write_cm_event, id, RDMA_CM_EVENT_USER, 0, 1), 0, 0);
	expect(CALL(rdma_get_cm_event, channels[0], &event), 0, 0);
	printf("event %s\n", rdma_event_str(event->event));
	expect(CALL(rdmax_migrate_id, id, channels[1], NULL, 0, &past), -1, ETIMEDOUT);
	puts("migration");
	expect(CALL(rdmax_migrate_id, id, channels[1], event, RDMAX_ANNOUNCE, NULL), 0, 0);
	puts("migration");
	expect(CALL(rdmax_get_cm_events, channels[1], &event, 1), 1, 0);
	printf("event %s\n", rdma_event_str(event->event));
	expect(CALL(rdmax_ack_cm_events, &event, 1), 1, 0);
	expect(CALL(rdma_migrate_id, id, channels[0]), 0, 0);
	puts("migration");
	expect(CALL(rdma_migrate_id, id, NULL), 0, 0);
	puts("migration");
}

int main(void)
{
	struct rdma_addrinfo *info, hints = { .ai_flags = RAI_PASSIVE };
	struct rdma_cm_id *id;
	int i;

	for (i = 0; i < 2; i++) {
		channels[i] = CALL(rdma_create_event_channel);
		expect(!!channels[i], 1, 0);
	}
	expect(CALL(rdma_getaddrinfo, "192.0.2.1", "7471", &hints, &info), 0, 0);
	CALL(rdma_freeaddrinfo, info);
	expect(CALL(rdma_create_id, channels[0], &id, NULL, RDMA_PS_TCP), 0, 0);
	bind_and_listen(id);
	move(id);
	expect(CALL(rdma_destroy_id, id), 0, 0);
	expect(CALL(rdma_ack_cm_event, NULL), -1, EINVAL);
	for (i = 0; i < 2; i++)
		CALL(rdma_destroy_event_channel, channels[i]);
	return 0;
}
