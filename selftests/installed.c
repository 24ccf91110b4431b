// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A program of somebody who has librdmacmx installed: it includes what is
 * installed and is linked as pkg-config says.  It moves an id to another channel
 * with the event that it writes, and says what came.
 */
#include <inttypes.h>
#include <stdio.h>
#include <rdma/rdma_cmx.h>
#include <rdma/rdma_ucmx.h>
#include <rdma/rdma_verbs.h>

/* Both headers are there, and one of them has what the other means. */
_Static_assert(RDMAX_NONBLOCK && RDMA_UCMX_NONBLOCK, "no flags");

static int move(struct rdma_cm_id *id, struct rdma_event_channel *target)
{
	struct rdma_cm_event *event;

	if (rdma_write_cm_event(id, RDMA_CM_EVENT_USER, 0, 42) ||
	    rdmax_migrate_id(id, target, NULL, 0, NULL) ||
	    rdma_get_cm_event(target, &event))
		return -1;
	printf("%s with %" PRIu64 "\n", rdma_event_str(event->event),
	       rdmax_event_arg(event));
	return rdma_ack_cm_event(event);
}

int main(void)
{
	struct rdma_event_channel *source = rdma_create_event_channel();
	struct rdma_event_channel *target = rdma_create_event_channel();
	struct rdma_cm_id *id;

	if (!source || !target || rdma_create_id(source, &id, NULL, RDMA_PS_TCP) ||
	    move(id, target) || rdma_destroy_id(id)) {
		perror("installed");
		return 1;
	}
	rdma_destroy_event_channel(source);
	rdma_destroy_event_channel(target);
	return 0;
}
