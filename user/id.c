// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * An id's life.
 *
 * Its memory is kept by references, counted in its slot of the table: the
 * user's from creation to destruction, one for each event in a reader's hand,
 * and one for each call that is under way.  So a call that meets the
 * destruction of its id in another thread finds an id that the kernel does not
 * know any more, and never freed memory.
 */
#include <stdlib.h>

#include "cmx.h"

/**
 * cmx_id_alloc - allocate an id that the kernel does not know yet
 *
 * Returns an id with one reference, or NULL and errno.
 */
struct cmx_id *cmx_id_alloc(void)
{
	/* Not calloc(), which does without what free() keeps for malloc(). */
	struct cmx_id *id = malloc(sizeof(*id));

	if (!id)
		return NULL;
	*id = (struct cmx_id){
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.qp_lock = PTHREAD_MUTEX_INITIALIZER,
		.moved = PTHREAD_COND_INITIALIZER,
	};
	if (cmx_table_add(id)) {
		free(id);
		return NULL;
	}
	return id;
}

/**
 * cmx_id_setup - fill in what an id has from the beginning
 * @id: an id nobody else knows yet
 * @channel: its channel
 * @context: the user's context
 * @ps: port space
 * @qp_type: type of queue pair
 */
void cmx_id_setup(struct cmx_id *id, struct cmx_channel *channel, void *context,
		  enum rdma_port_space ps, enum ibv_qp_type qp_type)
{
	id->channel = cmx_channel_get(channel);
	id->id.channel = &channel->channel;
	id->id.context = context;
	id->id.ps = ps;
	id->id.qp_type = qp_type;
}

/**
 * cmx_id_get - take another reference
 * @id: an id of which the caller has one
 */
void cmx_id_get(struct cmx_id *id)
{
	cmx_table_get(id);
}

/*
 * Whoever held it before gave its reference back, which orders all that was done
 * under it before this; helgrind knows that of locks only.
 */
static void destroy_lock(pthread_mutex_t *lock)
{
	pthread_mutex_lock(lock);
	pthread_mutex_unlock(lock);
	pthread_mutex_destroy(lock);
}

/* What was initialised, and not used, has nothing to destroy. */
static void destroy_locks(struct cmx_id *id)
{
	if (atomic_load(&id->qp_locked))
		destroy_lock(&id->qp_lock);
	destroy_lock(&id->lock);
	if (id->waited)
		pthread_cond_destroy(&id->moved);
}

/**
 * cmx_id_put - give a reference back; the last one frees the id
 * @id: the id
 *
 * Keeps errno.
 */
void cmx_id_put(struct cmx_id *id)
{
	int saved;

	if (!cmx_table_put(id))
		return;
	saved = errno;
	destroy_locks(id);
	cmx_device_detach(id);
	/* It became synchronous while it was destroyed. */
	cmx_sync_close(id->own_channel);
	cmx_channel_put(id->channel);
	cmx_groups_free(id->groups);
	rdma_freeaddrinfo(id->addrinfo);
	rdma_freeaddrinfo(id->found);
	free(id->endpoint);
	free(id->id.route.path_rec);
	free(id);
	errno = saved;
}

static enum ibv_qp_type qp_type_of(enum rdma_port_space ps)
{
	return ps == RDMA_PS_UDP || ps == RDMA_PS_IPOIB ? IBV_QPT_UD :
							  IBV_QPT_RC;
}

static int create_in_kernel(struct cmx_id *id)
{
	struct rdma_ucmx_create_id command = {
		.size = sizeof(command),
		.cookie = id->cookie,
		.port_space = id->id.ps,
		.qp_type = id->id.qp_type,
	};
	int ret;

	if (!cmx_channel_use(id->channel))
		return cmx_error(EBADF);
	ret = cmx_sys_command(id->channel->fd, RDMA_UCMX_CREATE_ID, &command);
	cmx_channel_unuse(id->channel);
	atomic_store(&id->handle, command.out_id);
	return ret;
}

/**
 * cmx_id_create - make an id
 * @channel: its channel, or NULL for a synchronous one
 * @context: the user's context
 * @ps: port space
 * @qp_type: type of queue pair
 * @id: where to put it
 */
int cmx_id_create(struct cmx_channel *channel, void *context,
		  enum rdma_port_space ps, enum ibv_qp_type qp_type,
		  struct cmx_id **id)
{
	struct cmx_channel *own_channel = NULL;
	struct cmx_id *own = cmx_id_alloc();

	if (!own)
		return -1;
	if (!channel) {
		own_channel = cmx_sync_open();
		if (!own_channel)
			goto put_id;
	}
	cmx_id_setup(own, channel ?: own_channel, context, ps, qp_type);
	own->own_channel = own_channel;
	if (create_in_kernel(own))
		goto leave;
	*id = own;
	return 0;

leave:
	cmx_sync_leave(own);
put_id:
	cmx_id_put(own);
	return -1;
}

/**
 * rdma_create_id - allocate a communication identifier
 * @channel: channel that its events go to, or NULL to have its calls wait for
 *           what they began
 * @id: where to put it
 * @context: the user's, returned in every event's id
 * @ps: port space
 *
 * As rdma_create_id(3).  The id belongs to the caller, who frees it with
 * rdma_destroy_id().
 *
 * errno: EINVAL (unknown port space), ENOMEM, ENOSPC (too many), EBADF (the
 * channel was destroyed), and without one as rdma_create_event_channel().
 */
CMX_EXPORT int rdma_create_id(struct rdma_event_channel *channel,
			      struct rdma_cm_id **id, void *context,
			      enum rdma_port_space ps)
{
	struct cmx_id *own;

	if (!id)
		return cmx_error(EINVAL);
	if (cmx_id_create(channel ? cmx_channel_of(channel) : NULL, context, ps,
			  qp_type_of(ps), &own))
		return -1;
	*id = &own->id;
	return 0;
}
