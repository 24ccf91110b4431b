/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Multicast groups of ids, as mcast.c and join.c know them.
 */
#ifndef CMX_MCAST_H
#define CMX_MCAST_H

#include "cmx.h"

/**
 * struct cmx_group - a multicast group that an id joined
 * @next: next of the same id
 * @number: among those of the id
 * @handle: the kernel's number of it
 * @address: its address
 * @context: the user's
 * @send_only: whether nothing is received from it
 * @awaited: whether a synchronous call waits to have joined it
 * @leaving: whether it is being left, or was left with events unacknowledged
 * @busy: whether a thread is leaving it; protects @left
 * @left: whether the kernel may have forgotten it
 * @lost: whether the user was told that it is not, or no longer, joined
 * @attached: whether the queue pair is, to @mgid and @mlid
 * @mgid: GID
 * @mlid: LID
 */
struct cmx_group {
	struct cmx_group *next;
	uint64_t number;
	uint32_t handle;
	struct rdma_ucmx_addr address;
	void *context;
	bool send_only;
	bool awaited;
	bool leaving;
	bool busy;
	bool left;
	bool lost;
	bool attached;
	union ibv_gid mgid;
	uint16_t mlid;
};

void cmx_group_add(struct cmx_id *id, struct cmx_group *group);
void cmx_group_remove(struct cmx_id *id, struct cmx_group *group);
struct cmx_group *cmx_group_find(struct cmx_id *id, uint64_t number);
void cmx_group_leave_lost(struct cmx_id *id, const struct rdma_ucmx_addr *address);

#endif /* CMX_MCAST_H */
