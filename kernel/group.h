/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Multicast groups of an id, as far as events are concerned; see group.c.
 */
#ifndef UCMX_GROUP_H
#define UCMX_GROUP_H

#include "id.h"

/**
 * struct ucmx_group - a multicast group that an id has joined
 * @of_id: in the id's list of groups (owner's lock)
 * @number: what user space calls it; not 0
 * @cookie: user space's own name for it
 * @addr: its address
 * @room: room for events to come (owner's lock)
 * @payer: which user's it is, as an event that a command caused is; set once
 * @n_outstanding: outstanding events of it (owner's lock)
 * @left: it was left (owner's lock)
 * @ref: memory; held by the list and by who waits
 */
struct ucmx_group {
	struct list_head of_id;
	u32 number;
	u64 cookie;
	struct rdma_ucmx_addr addr;
	struct list_head room;
	struct ucmx_user *payer;
	u32 n_outstanding;
	bool left;
	refcount_t ref;
};

struct ucmx_group *ucmx_group_alloc(const struct rdma_ucmx_addr *addr,
				    u64 cookie, size_t capacity);
void ucmx_group_put(struct ucmx_group *group);
void ucmx_groups_free(struct list_head *groups);

int ucmx_group_add(struct ucmx_id *id, struct ucmx_group *group);
void ucmx_group_remove(struct ucmx_id *id, struct ucmx_group *group);
struct ucmx_event *ucmx_group_take_room(struct ucmx_id *id, u32 number);
int ucmx_group_leave(struct ucmx_id *id, u32 number,
		     const struct ucmx_wait *wait, struct ucmx_group **group);
int ucmx_group_wait(struct ucmx_id *id, struct ucmx_group *group,
		    const struct ucmx_wait *wait);

bool ucmx_group_was_left(const struct ucmx_event *event);
void ucmx_group_settled(struct ucmx_event *event);

#endif /* UCMX_GROUP_H */
