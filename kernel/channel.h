/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Event channels: a queue of events in the order in which they arrived, over
 * all ids that the channel owns.  See channel.c for the locking.
 *
 * Nothing here knows RDMA: what an id stands for is behind struct ucmx_id_ops.
 */
#ifndef UCMX_CHANNEL_H
#define UCMX_CHANNEL_H

#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/poll.h>
#include <linux/rbtree.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

#include <rdma/rdma_ucmx.h>

struct ucmx_group;
struct ucmx_id;
struct ucmx_user;

/* How many may close descriptors of a channel at once and know of it; a power of 2. */
#define UCMX_CLOSERS	8

/**
 * struct ucmx_channel - an event channel, behind one open file
 * @lock: decides everything about the events of the ids that the channel owns
 *	  (pending, outstanding, frozen, owner) and of their unread children
 * @number: what people call it
 * @events: pending events that may be read, in order of arrival (@lock)
 * @taken: outstanding events of the ids owned, in order of reading (@lock)
 * @ids: ids owned (@lock)
 * @wait: readers and pollers; woken under @lock
 * @turn: who waits for @read_mutex
 * @n_pending: events on @events (@lock)
 * @n_outstanding: events on @taken (@lock)
 * @n_waiters: calls that wait for acknowledgements of such events, or for the
 *	       end of an id (@lock)
 * @contended: a non-blocking reader was turned away by @read_mutex
 * @closed: the file is gone, no id can come any more (@lock)
 * @shut_down: readers are turned away (@lock)
 * @read_mutex: held over taking an event and copying it out, so that an event
 *	        that is put back is still the first; outside of @lock
 * @closers: the processes that closed a descriptor of it last, some of which may do so
 *	     right now; only compared
 * @n_closes: how often one was closed
 * @user: who opened it, and is charged for its ids
 * @n_ids: ids owned, unread children included, and room promised to migrations
 *	   that are on their way here
 * @ref: the file and every id owned hold one
 * @rcu: whoever looks at an id's channel to lock it does so under RCU
 */
struct ucmx_channel {
	spinlock_t lock;
	u32 number;
	struct list_head events;
	struct list_head taken;
	struct list_head ids;
	wait_queue_head_t wait;
	wait_queue_head_t turn;
	u32 n_pending;
	u32 n_outstanding;
	u32 n_waiters;
	bool contended;
	bool closed;
	bool shut_down;
	struct mutex read_mutex;
	struct pid *closers[UCMX_CLOSERS];
	atomic_t n_closes;
	struct ucmx_user *user;
	atomic_t n_ids;
	refcount_t ref;
	struct rcu_head rcu;
};

/* Room that an id keeps for events, by what the event needs. */
enum ucmx_room {
	/* Caused by a command, which makes the room. */
	UCMX_ROOM_ADDR,		/* an address was resolved, or not */
	UCMX_ROOM_ROUTE,	/* a route was resolved, or not */
	UCMX_ROOM_ADDRINFO,	/* a service was found, or not */
	UCMX_ROOM_CONNECT,	/* a connection came about, or not */
	/* Unasked; made with the first command after which they may come. */
	UCMX_ROOM_ADDR_CHANGE,
	UCMX_ROOM_DEVICE_REMOVAL,
	UCMX_ROOM_UNREACHABLE,
	UCMX_ROOM_REJECTED,
	UCMX_ROOM_DISCONNECTED,
	UCMX_ROOM_TIMEWAIT_EXIT,
	/* Likewise, but a multicast group's instead of the id's. */
	UCMX_ROOM_GROUP,
	/* Not kept: a request's, allocated when it arrives. */
	UCMX_ROOM_NONE,
};

#define UCMX_ROOM_FIRST_UNASKED	UCMX_ROOM_ADDR_CHANGE

/**
 * struct ucmx_event - an event, from when there is room for it until it is
 *		       acknowledged
 * @of_id: in the id's list of room, pending or outstanding events (lock of the
 *	   id's channel)
 * @queued: in the channel's queue, empty while the event is held with its id;
 *	    in the channel's list of events taken once it is outstanding (lock
 *	    of the id's channel)
 * @by_seq: in the id's tree of outstanding events, if @indexed (likewise)
 * @id: whose event it is, set when it is raised
 * @child: with a connection request, the child until it is read
 * @group: of a multicast event, the group; it is there while the event is
 * @taken: when it was read (CLOCK_MONOTONIC)
 * @turn: of all that were taken of its id, which it was (lock of the id's channel)
 * @reader: who read it
 * @payer: if a command caused it, which user's it is
 * @room: what kind of room it is
 * @urgent: delivered even while its id is unclaimed
 * @caused: a command caused it, so it counts against the id's limit and, from when
 *	    it is raised, the user's
 * @request: it was read with a child, so it counts against its reader's limit
 * @copying: a reader is copying it to user memory
 * @acked: acknowledged while it was being copied
 * @indexed: it was taken when many were outstanding
 * @capacity: bytes of @record
 * @head: the head of the record
 * @record: what is read; its head's size says how much of it
 */
struct ucmx_event {
	struct list_head of_id;
	struct list_head queued;
	struct rb_node by_seq;
	struct ucmx_id *id;
	struct ucmx_id *child;
	struct ucmx_group *group;
	ktime_t taken;
	u64 turn;
	struct pid *reader;
	struct ucmx_user *payer;
	u8 room;
	bool urgent;
	bool caused;
	bool request;
	bool copying;
	bool acked;
	bool indexed;
	u32 capacity;
	union {
		struct rdma_ucmx_event head;
		DECLARE_FLEX_ARRAY(u64, record);
	};
};

/* The largest record there is but for a service's. */
#define UCMX_RECORD_MAX	(sizeof(struct rdma_ucmx_event) + \
			 sizeof(struct rdma_ucmx_ud_param) + \
			 sizeof(struct rdma_ucmx_route) + \
			 RDMA_UCMX_MAX_PATHS * sizeof(struct rdma_ucmx_path))

/* Parameters and nothing else; path records and where they lead take no more. */
#define UCMX_RECORD_PARAM	(sizeof(struct rdma_ucmx_event) + \
				 sizeof(struct rdma_ucmx_ud_param))
#define UCMX_RECORD_PATHS	(sizeof(struct rdma_ucmx_event) + \
				 sizeof(struct rdma_ucmx_route) + \
				 RDMA_UCMX_MAX_PATHS * \
				 sizeof(struct rdma_ucmx_path))

#define UCMX_RECORD_SERVICES	(sizeof(struct rdma_ucmx_event) + \
				 sizeof(struct rdma_ucmx_route) + \
				 sizeof(struct rdma_ucmx_services) + \
				 RDMA_UCMX_MAX_SERVICES * \
				 sizeof(struct rdma_ucmx_service))

int ucmx_channel_core_init(void);
void ucmx_channel_core_exit(void);

struct ucmx_event *ucmx_event_alloc(enum ucmx_room room, size_t capacity,
				    gfp_t gfp);
void ucmx_event_free(struct ucmx_event *event);
void ucmx_events_free(struct list_head *events);

struct ucmx_channel *ucmx_channel_create(void);
void ucmx_channel_close(struct ucmx_channel *channel, bool wait);
void ucmx_channel_get(struct ucmx_channel *channel);
void ucmx_channel_put(struct ucmx_channel *channel);

void ucmx_channel_lock_two(struct ucmx_channel *a, struct ucmx_channel *b)
	__acquires(&a->lock) __acquires(&b->lock);
void ucmx_channel_unlock_two(struct ucmx_channel *a, struct ucmx_channel *b)
	__releases(&a->lock) __releases(&b->lock);

void ucmx_channel_queue(struct ucmx_channel *channel, struct ucmx_event *event);
void ucmx_channel_unqueue(struct ucmx_channel *channel,
			  struct ucmx_event *event);
void ucmx_channel_wake(struct ucmx_channel *channel, unsigned int n);

int ucmx_event_raise(struct ucmx_id *id, struct ucmx_event *event);
int ucmx_event_write(struct ucmx_channel *channel, struct ucmx_id *id,
		     struct ucmx_event *event);
int ucmx_request_raise(struct ucmx_id *listener, struct ucmx_event *event,
		       struct ucmx_id *child);

/**
 * struct ucmx_read - what a reader wants, and gets
 * @buf: room for records
 * @len: its size
 * @max: how many records at most
 * @done: bytes of records that were read
 * @count: how many
 */
struct ucmx_read {
	char __user *buf;
	size_t len;
	u32 max;
	size_t done;
	u32 count;
};

ssize_t ucmx_channel_read(struct ucmx_channel *channel, char __user *buf,
			  size_t len, bool nonblock);
int ucmx_channel_read_events(struct ucmx_channel *channel,
			     struct ucmx_read *read, bool nonblock);
__poll_t ucmx_channel_poll(struct ucmx_channel *channel, struct file *file,
			   poll_table *wait);
int ucmx_channel_ack(struct ucmx_channel *channel, u32 handle, u64 seq);
void ucmx_channel_shut_down(struct ucmx_channel *channel);

/* read.c, for what ends otherwise than by an acknowledgement. */
void ucmx_event_settle(struct ucmx_channel *channel, struct ucmx_event *event);

/* outstanding.c */
void ucmx_event_index(struct ucmx_event *event);
void ucmx_event_unindex(struct ucmx_event *event);
struct ucmx_event *ucmx_event_find_outstanding(struct ucmx_id *id, u64 seq);
bool ucmx_id_settle_some(struct ucmx_id *id, struct ucmx_channel *channel,
			 u64 last);

#endif /* UCMX_CHANNEL_H */
