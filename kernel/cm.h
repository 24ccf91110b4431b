/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What an id of ours stands for: an rdma_cm_id.  Shared by the families of
 * commands; see cm.c for its life and event.c for its events.
 */
#ifndef UCMX_CM_H
#define UCMX_CM_H

#include <linux/memcontrol.h>
#include <rdma/rdma_cm.h>
#include <rdma/rdma_user_cm.h>

#include "id.h"

/* Options at level ID: rdma_cm's by their names, then ours. */
#define UCMX_OPTIONS_STOCK	(RDMA_OPTION_ID_ACK_TIMEOUT + 1)
#define UCMX_OPTIONS		(UCMX_OPTIONS_STOCK + 2)

/* What the peer waits for: nothing, an answer to its request or to its response. */
enum ucmx_answer {
	UCMX_ANSWER_NONE,
	UCMX_ANSWER_REQUEST,
	UCMX_ANSWER_RESPONSE,
};

/**
 * struct ucmx_cm - an id and its rdma_cm_id
 * @id: what the core knows
 * @cm_id: set before the id is seen, and valid for who has it by ucmx_cm_begin()
 *	   and in callbacks
 * @awaits: what there is to accept or reject
 * @resolves: it may have asked for an address (the id's command mutex)
 * @talks: it may have messages under way to a peer, or requests to a subnet
 *	   manager (the id's command mutex, or nobody has seen the id yet)
 * @port_space: port space
 * @qp_type: type of queue pair
 * @options: values of options at level ID (the id's command mutex)
 * @options_set: which of them were set (likewise)
 * @memcg: of a listener, who pays for requests; set once, before it listens
 */
struct ucmx_cm {
	struct ucmx_id id;
	struct rdma_cm_id *cm_id;
	enum ucmx_answer awaits;
	bool resolves;
	bool talks;
	u16 port_space;
	u8 qp_type;
	int options[UCMX_OPTIONS];
	u8 options_set;
	struct mem_cgroup *memcg;
};

extern unsigned int ucmx_max_backlog;

/*
 * For requests.  The callback holds up connections on the whole machine, and
 * its peer may be anybody: no reclaim, nobody is killed for it, and above all no
 * sleep of two seconds because the payer is above its memory.high.
 */
#define UCMX_GFP_REQUEST	(GFP_NOWAIT | __GFP_ACCOUNT | __GFP_NOWARN)

int ucmx_cm_init(void);
void ucmx_cm_exit(void);

struct ucmx_cm *ucmx_cm_create(enum rdma_ucm_port_space port_space,
			       enum ib_qp_type qp_type);
void ucmx_cm_abort(struct ucmx_cm *cm);

void ucmx_cm_raise(struct ucmx_cm *cm, const struct rdma_cm_event *cm_event);

struct ucmx_cm *ucmx_cm_begin(struct ucmx_channel *channel, u32 handle);
struct ucmx_cm *ucmx_cm_begin_device(struct ucmx_channel *channel, u32 handle);
struct ucmx_cm *ucmx_cm_begin_answer(struct ucmx_channel *channel, u32 handle);
void ucmx_cm_end(struct ucmx_cm *cm);

/* cm_addr.c */
int ucmx_get_addr(struct sockaddr_storage *dst,
		  const struct rdma_ucmx_addr *src, bool may_be_none);

/* event.c */
int ucmx_cm_make_rooms(struct ucmx_cm *cm, u32 rooms);
int ucmx_cm_make_room_unseen(struct ucmx_cm *cm, gfp_t gfp);
struct ucmx_event *ucmx_cm_take_room(struct ucmx_id *id,
				     const struct rdma_cm_event *event);
struct ucmx_group *ucmx_cm_group(const struct rdma_ucmx_addr *addr, u64 cookie);
struct ucmx_event *ucmx_cm_large_event(gfp_t gfp);
void ucmx_event_fill(struct ucmx_event *event, struct rdma_cm_id *cm_id,
		     const struct rdma_cm_event *cm_event);
void ucmx_event_announce(struct ucmx_event *event, struct ucmx_cm *cm,
			 bool alive);
void ucmx_event_written(struct ucmx_event *event, struct ucmx_cm *cm, u32 type,
			s32 status, u64 arg);
void ucmx_fill_route(struct rdma_ucmx_route *route, struct rdma_cm_id *cm_id);
u32 ucmx_fill_paths(struct rdma_ucmx_path *paths, struct rdma_cm_id *cm_id);

#endif /* UCMX_CM_H */
