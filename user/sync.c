// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Synchronous mode: a call returns when what it began is over.
 *
 * Such an id has a channel for itself, that is one descriptor, and its calls
 * read that channel.  A call takes the event that ends its own operation.
 * What came before that is passed over: events that were unread when the id
 * became synchronous, or that nobody waited for.  The event that a call ended
 * with stays in id->event, for the user to look at, until the next one.  It is
 * acknowledged as soon as it was read, since nobody but the caller has it, so
 * that it holds up neither a migration nor a destruction.
 *
 * id->lock protects own_channel and id->event; that there is no such channel may be
 * seen without, and as table.c says, it is not changed by a store once others know the
 * id.  No lock is held while a call waits.
 */
#include "cmx.h"

#define BIT_OF(event) (1U << (event))

/* What the end of a connection, or of the device, may look like. */
#define CONNECTION_ENDS (BIT_OF(RDMA_CM_EVENT_CONNECT_ERROR) |	\
			 BIT_OF(RDMA_CM_EVENT_UNREACHABLE) |	\
			 BIT_OF(RDMA_CM_EVENT_REJECTED) |	\
			 BIT_OF(RDMA_CM_EVENT_DISCONNECTED) |	\
			 BIT_OF(RDMA_CM_EVENT_TIMEWAIT_EXIT))

/* Which events end an operation well, and which otherwise. */
static const struct {
	uint32_t good;
	uint32_t bad;
} operations[] = {
	[CMX_RESOLVE_ADDR] = {
		.good = BIT_OF(RDMA_CM_EVENT_ADDR_RESOLVED),
		.bad = BIT_OF(RDMA_CM_EVENT_ADDR_ERROR),
	},
	[CMX_RESOLVE_ROUTE] = {
		.good = BIT_OF(RDMA_CM_EVENT_ROUTE_RESOLVED),
		.bad = BIT_OF(RDMA_CM_EVENT_ROUTE_ERROR),
	},
	[CMX_RESOLVE_ADDRINFO] = {
		.good = BIT_OF(RDMA_CM_EVENT_ADDRINFO_RESOLVED),
		.bad = BIT_OF(RDMA_CM_EVENT_ADDRINFO_ERROR),
	},
	[CMX_CONNECT] = {
		.good = BIT_OF(RDMA_CM_EVENT_ESTABLISHED) |
			BIT_OF(RDMA_CM_EVENT_CONNECT_RESPONSE),
		.bad = CONNECTION_ENDS,
	},
	[CMX_ACCEPT] = {
		.good = BIT_OF(RDMA_CM_EVENT_ESTABLISHED),
		.bad = CONNECTION_ENDS,
	},
	[CMX_DISCONNECT] = {
		.good = BIT_OF(RDMA_CM_EVENT_DISCONNECTED) |
			BIT_OF(RDMA_CM_EVENT_TIMEWAIT_EXIT),
	},
	[CMX_JOIN] = {
		.good = BIT_OF(RDMA_CM_EVENT_MULTICAST_JOIN),
		.bad = BIT_OF(RDMA_CM_EVENT_MULTICAST_ERROR),
	},
};

/**
 * cmx_sync_open - make a channel for an id that is to be synchronous
 *
 * Returns NULL and errno on error.
 */
struct cmx_channel *cmx_sync_open(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();

	return channel ? cmx_channel_of(channel) : NULL;
}

/*
 * @awaited: whether a call of another thread is about to read it, besides those that
 * do so already.
 */
static void close_channel(struct cmx_channel *channel, bool awaited)
{
	struct rdma_ucmx_shutdown command = { .size = sizeof(command) };
	int saved = errno;

	if (!channel)
		return;
	if (awaited || atomic_load(&channel->users) > 1)
		cmx_sys_command(channel->fd, RDMA_UCMX_SHUTDOWN, &command);
	rdma_destroy_event_channel(&channel->channel);
	errno = saved;
}

/**
 * cmx_sync_close - close such a channel, which no id has for itself
 * @channel: the channel, or NULL
 *
 * Keeps errno.
 */
void cmx_sync_close(struct cmx_channel *channel)
{
	close_channel(channel, false);
}

/*
 * Whether anybody but an id knows the channel that it had for itself: a call has a
 * reference from when it looked for it, under id->lock, until it has read.  Called
 * with that lock held; @event was the id's.
 */
static bool is_awaited(const struct cmx_id *id, struct cmx_channel *channel,
		       const struct rdma_cm_event *event)
{
	unsigned int refs = 1;

	if (!channel)
		return false;
	refs += id->channel == channel;
	refs += event && cmx_container(event, struct cmx_event, event)->channel ==
				 channel;
	return atomic_load(&channel->refs) > refs;
}

/**
 * cmx_sync_channel - find the channel that an id has for itself
 * @id: the id
 *
 * Returns it, to be given back with cmx_channel_put(), or NULL if the id is
 * not synchronous.
 */
struct cmx_channel *cmx_sync_channel(struct cmx_id *id)
{
	struct cmx_channel *channel;

	pthread_mutex_lock(&id->lock);
	channel = id->own_channel;
	if (channel)
		cmx_channel_get(channel);
	pthread_mutex_unlock(&id->lock);
	return channel;
}

/**
 * cmx_sync_is - say whether an id is synchronous
 * @id: the id
 */
bool cmx_sync_is(struct cmx_id *id)
{
	bool is;

	pthread_mutex_lock(&id->lock);
	is = id->own_channel;
	pthread_mutex_unlock(&id->lock);
	return is;
}

/**
 * cmx_sync_set_event - have id->event hold another event
 * @id: the id
 * @event: the event, acknowledged, or NULL
 *
 * Only frees @event if the id is not synchronous any more, or was destroyed: each
 * of the two would keep the other.
 */
void cmx_sync_set_event(struct cmx_id *id, struct rdma_cm_event *event)
{
	struct rdma_cm_event *old = event;

	pthread_mutex_lock(&id->lock);
	if (!event || id->own_channel) {
		old = id->id.event;
		id->id.event = event;
	}
	pthread_mutex_unlock(&id->lock);
	if (old)
		rdma_ack_cm_event(old);
}

/**
 * cmx_sync_switch - begin or end synchronous mode, after a migration
 * @id: the id
 * @target: where it was migrated to
 * @sync: whether that is to be the id's own
 *
 * Does nothing but closing @target, if it is, when the id is elsewhere by now.
 */
void cmx_sync_switch(struct cmx_id *id, struct cmx_channel *target, bool sync)
{
	struct rdma_cm_event *event = NULL;
	struct cmx_channel *old;
	bool awaited;

	pthread_mutex_lock(&id->lock);
	if (id->channel != target) {
		old = sync ? target : NULL;
	} else if (id->own_channel == target) {
		old = NULL;
	} else {
		old = atomic_exchange(&id->own_channel, sync ? target : NULL);
		if (old) {
			event = id->id.event;
			id->id.event = NULL;
		}
	}
	awaited = is_awaited(id, old, event);
	pthread_mutex_unlock(&id->lock);
	if (event)
		rdma_ack_cm_event(event);
	close_channel(old, awaited);
}

/**
 * cmx_sync_leave - give up what synchronous mode holds, after a destruction
 * @id: the id
 */
void cmx_sync_leave(struct cmx_id *id)
{
	struct cmx_channel *channel;
	struct rdma_cm_event *event;
	bool awaited;

	/* Mostly it never was synchronous.  Only one that is has an event. */
	if (!atomic_load(&id->own_channel))
		return;
	pthread_mutex_lock(&id->lock);
	channel = atomic_exchange(&id->own_channel, NULL);
	event = id->id.event;
	id->id.event = NULL;
	awaited = is_awaited(id, channel, event);
	pthread_mutex_unlock(&id->lock);
	if (event)
		rdma_ack_cm_event(event);
	close_channel(channel, awaited);
}

/**
 * cmx_sync_adopt - make the id of a request synchronous
 * @child: the id, that nobody else knows yet
 * @own_channel: the channel that it is to have, or NULL for a new one
 *
 * The channel is the id's after a success only.
 */
int cmx_sync_adopt(struct cmx_id *child, struct cmx_channel *own_channel)
{
	struct cmx_channel *channel = own_channel ?: cmx_sync_open();
	struct rdma_ucmx_migrate_id command = { .size = sizeof(command) };
	bool was_sync = false;

	if (!channel)
		return -1;
	if (cmx_id_move(child, channel, &command, &was_sync)) {
		if (!own_channel)
			cmx_sync_close(channel);
		return -1;
	}
	cmx_sync_switch(child, channel, true);
	return 0;
}

/* An event that no call wants. */
static void pass_over(struct rdma_cm_event *event)
{
	struct rdma_cm_id *id = event->id;
	bool request = event->event == RDMA_CM_EVENT_CONNECT_REQUEST;

	if (request)
		rdma_destroy_id(id);
	rdma_ack_cm_event(event);
}

/* Numbers of events are not all so small, RDMAX_EVENT_ARRIVED for one. */
static bool is_of(uint32_t events, enum rdma_cm_event_type event)
{
	return (unsigned int)event < 32 && events & BIT_OF(event);
}

static bool ends(enum cmx_operation operation, uint64_t group,
		 const struct cmx_id *id, const struct cmx_event *event)
{
	if (event->id != id)
		return false;
	if (event->event.event == RDMA_CM_EVENT_DEVICE_REMOVAL)
		return true;
	/* One that never came to be has ended, too; see cmx_conn_note(). */
	if (operation == CMX_DISCONNECT && atomic_load(&id->over))
		return true;
	return event->group == group &&
	       is_of(operations[operation].good | operations[operation].bad,
		     event->event.event);
}

/* The errno of a call that ended with this event, or 0. */
static int error_of(enum cmx_operation operation,
		    const struct rdma_cm_event *event)
{
	if (operation == CMX_DISCONNECT &&
	    event->event != RDMA_CM_EVENT_DEVICE_REMOVAL &&
	    !is_of(operations[operation].good, event->event))
		return 0;
	if (event->event == RDMA_CM_EVENT_REJECTED)
		return ECONNREFUSED;
	if (event->status)
		return event->status < 0 ? -event->status : event->status;
	if (operations[operation].good & BIT_OF(event->event))
		return 0;
	if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL)
		return ENODEV;
	return CONNECTION_ENDS & BIT_OF(event->event) ? ECONNRESET : EIO;
}

/* A call that waits: what it reads, and what it has read. */
struct wait {
	struct cmx_id *id;
	struct cmx_channel *channel;
	struct rdma_cm_event *event;
};

/**
 * cmx_sync_read - read the channel that an id has for itself
 * @channel: as cmx_sync_channel() returned it
 * @own_channel: as with cmx_event_get()
 * @event: where to put the event
 *
 * As cmx_event_get(), but ESHUTDOWN if the id was destroyed or migrated, however
 * long ago.
 */
int cmx_sync_read(struct cmx_channel *channel, struct cmx_channel *own_channel,
		  struct rdma_cm_event **event)
{
	int ret = cmx_event_get(channel, own_channel, event);

	if (ret && errno == EBADF)
		errno = ESHUTDOWN;
	return ret;
}

static int find_end(struct wait *wait, enum cmx_operation operation,
		    uint64_t group)
{
	for (;;) {
		if (cmx_sync_read(wait->channel, NULL, &wait->event))
			return -1;
		cmx_event_settle(cmx_event_of(wait->event));
		if (ends(operation, group, wait->id, cmx_event_of(wait->event)))
			return 0;
		if (operation == CMX_DISCONNECT &&
		    wait->event->event == RDMA_CM_EVENT_ESTABLISHED)
			cmx_conn_end(wait->id);
		pass_over(wait->event);
	}
}

/* Also when the thread is cancelled, which it can be in the reading only. */
static void wait_end(void *argument)
{
	struct wait *wait = argument;

	cmx_channel_put(wait->channel);
	cmx_id_put(wait->id);
}

/**
 * cmx_sync_wait - wait until an operation is over, if the id was synchronous
 * @id: the id; the caller has a reference, or the user's pointer
 * @channel: what cmx_sync_channel() returned before the operation was begun; given
 *           back here
 * @operation: what was begun
 * @group: the number of the multicast group that it is about, or 0
 *
 * Returns at once for any other id.  A cancellation point.
 *
 * errno: ECONNREFUSED, what the event's status says, ECONNRESET, ENODEV (the
 * connection ended, the device was removed meanwhile), ESHUTDOWN (the id was
 * destroyed or migrated meanwhile), and as rdma_get_cm_event().
 */
int cmx_sync_wait(struct cmx_id *id, struct cmx_channel *channel,
		  enum cmx_operation operation, uint64_t group)
{
	struct wait wait = { .id = id, .channel = channel };
	int ret, error;

	if (!wait.channel)
		return 0;
	cmx_id_get(id);
	cmx_sync_set_event(id, NULL);
	pthread_cleanup_push(wait_end, &wait);
	ret = find_end(&wait, operation, group);
	pthread_cleanup_pop(0);
	error = ret ? errno : error_of(operation, wait.event);
	if (!ret)
		cmx_sync_set_event(id, wait.event);
	wait_end(&wait);
	return error ? cmx_error(error) : 0;
}

/**
 * cmx_sync_command - send a command and wait for what it began
 * @id: the id; the caller has a reference, or the user's pointer
 * @request: RDMA_UCMX_*
 * @argument: its struct, complete
 * @operation: what it begins
 *
 * As cmx_id_command(), and then as cmx_sync_wait().
 */
int cmx_sync_command(struct cmx_id *id, unsigned long request, void *argument,
		     enum cmx_operation operation)
{
	struct cmx_channel *channel = cmx_sync_channel(id);

	if (cmx_id_command(id, request, argument) < 0) {
		cmx_channel_put(channel);
		return -1;
	}
	return cmx_sync_wait(id, channel, operation, 0);
}
