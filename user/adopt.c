// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Ids that another process made, and that are this one's from now on.
 *
 * The kernel tells by an id's cookie whose it is.  Several events of one id may
 * be in hand when it is adopted by one of them; by the others it is then found
 * to be here already, since the kernel says our cookie.  The channel's
 * adopt_lock sees to it that two threads do not adopt it at once.
 */
#include <stdlib.h>

#include "cmx.h"

/* An adoption: the event, and where it was read, in use meanwhile. */
struct adoption {
	struct cmx_event *event;
	struct cmx_channel *channel;
	void *context;
};

/* The id if it is this process' already, with a reference; else NULL and errno. */
static struct cmx_id *find_known(int fd, uint32_t handle)
{
	struct rdma_ucmx_id_info info;
	struct cmx_id *id = NULL;

	errno = ENOENT;
	if (cmx_sys_id_info(fd, handle, &info)) {
		errno = 0;
		id = cmx_table_find(info.cookie);
	}
	if (!id || atomic_load(&id->handle) == handle)
		return id;
	cmx_id_put(id);
	return NULL;
}

static struct cmx_id *make_id(const struct adoption *adoption)
{
	const struct cmx_stranger *stranger = &adoption->event->stranger;
	struct cmx_id *id = cmx_id_alloc();

	if (!id)
		return NULL;
	cmx_id_setup(id, adoption->channel, adoption->context, stranger->ps,
		     stranger->qp_type);
	atomic_store(&id->handle, stranger->handle);
	id->remote_ece = stranger->remote_ece;
	id->initiator_depth = stranger->initiator_depth;
	id->responder_resources = stranger->responder_resources;
	cmx_conn_note(id, adoption->event->event.event);
	return id;
}

/* Addresses, device and paths, as they are now. */
static int describe(struct cmx_id *id, int fd)
{
	struct rdma_ucmx_query command = {
		.size = sizeof(command),
		.id = atomic_load(&id->handle),
	};

	if (cmx_sys_command(fd, RDMA_UCMX_QUERY, &command) < 0 ||
	    cmx_record_apply_route(id, &command.out_route))
		return -1;
	return cmx_record_apply_paths(id, command.out_paths,
				      command.out_num_paths);
}

/* From here on its events are this process'. */
static int claim(struct cmx_id *id, int fd)
{
	struct rdma_ucmx_adopt_id command = {
		.size = sizeof(command),
		.id = atomic_load(&id->handle),
		.cookie = id->cookie,
	};

	return cmx_sys_command(fd, RDMA_UCMX_ADOPT_ID, &command);
}

/*
 * The kernel gives no cookie to an id whose device is gone, which can still be
 * migrated and destroyed.  So it is known by its handle.
 */
static struct cmx_id *settle_for_gone(struct cmx_id *id)
{
	uint32_t handle = atomic_load(&id->handle);
	struct cmx_id *known;

	/* Not to be found itself. */
	atomic_store(&id->handle, 0);
	known = cmx_table_find_handle(handle);
	if (known) {
		cmx_id_put(id);
		return known;
	}
	atomic_store(&id->handle, handle);
	cmx_id_get(id);
	return id;
}

/*
 * Called with the channel's adopt_lock held.  Returns the id with a reference
 * for the event, besides the user's, or NULL and errno.
 */
static struct cmx_id *adopt(const struct adoption *adoption)
{
	int fd = adoption->channel->fd;
	struct cmx_id *id;

	id = find_known(fd, adoption->event->stranger.handle);
	if (id || errno)
		return id;
	id = make_id(adoption);
	if (!id)
		return NULL;
	if (!describe(id, fd) && !claim(id, fd)) {
		cmx_id_get(id);
		return id;
	}
	if (errno == ENXIO)
		return settle_for_gone(id);
	cmx_id_put(id);
	return NULL;
}

/* A request is the listener's event, which may have been adopted meanwhile. */
static void give_id(const struct adoption *adoption, struct cmx_id *id)
{
	struct cmx_event *event = adoption->event;

	event->event.id = &id->id;
	if (event->handle == event->stranger.handle) {
		event->id = id;
		return;
	}
	event->other = id;
	event->id = find_known(adoption->channel->fd, event->handle);
	if (event->id)
		event->event.listen_id = &event->id->id;
}

/* See <rdma/rdma_cmx.h>. */
CMX_EXPORT int rdmax_adopt_id(struct rdma_cm_event *event, void *context,
			      struct rdma_cm_id **id)
{
	struct adoption adoption = { .context = context };
	struct cmx_id *own;

	if (!event || !id || event->id)
		return cmx_error(EINVAL);
	adoption.event = cmx_event_of(event);
	adoption.channel = adoption.event->channel;
	if (!adoption.channel) /* it was acknowledged */
		return cmx_error(EINVAL);
	if (!cmx_channel_use(adoption.channel))
		return cmx_error(EBADF);
	pthread_mutex_lock(&adoption.channel->adopt_lock);
	own = adopt(&adoption);
	pthread_mutex_unlock(&adoption.channel->adopt_lock);
	if (own) {
		give_id(&adoption, own);
		*id = &own->id;
	}
	cmx_channel_unuse(adoption.channel);
	return own ? 0 : -1;
}

/*
 * A request that is acknowledged and was not adopted is refused: nobody else
 * will ever hear of its id.  Unless somebody has, by another event.
 */
static void refuse(int fd, uint32_t handle)
{
	struct cmx_id *id = cmx_table_find_handle(handle);
	struct rdma_ucmx_id_info info;

	if (id)
		cmx_id_put(id);
	else if (cmx_sys_id_info(fd, handle, &info) &&
		 info.state & RDMA_UCMX_ID_UNCLAIMED)
		cmx_sys_destroy(fd, handle);
}

/**
 * cmx_adopt_none - note that an event's id will not be adopted
 * @event: an event that has no id, and is about to be acknowledged
 */
void cmx_adopt_none(const struct cmx_event *event)
{
	struct cmx_channel *channel = event->channel;

	if (event->event.event != RDMA_CM_EVENT_CONNECT_REQUEST ||
	    !cmx_channel_use(channel))
		return;
	refuse(channel->fd, event->stranger.handle);
	cmx_channel_unuse(channel);
}
