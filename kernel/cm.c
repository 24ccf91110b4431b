// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Ids that stand for rdma_cm_ids: creation, callbacks, the end.
 *
 * rdma_cm calls back with the id's handler mutex held, a request for a wildcard
 * listener with that of an internal id of its own.  Its work queues are
 * ordered, and a slow callback holds up connections on the whole machine: here
 * no command mutex is taken, no user memory touched, and nothing allocated but
 * for a request.  A callback returns an error only to refuse a request; for
 * anything else rdma_cm would free the rdma_cm_id behind our back.
 *
 * An rdma_cm_id's context is the id, which keeps its memory until
 * rdma_destroy_id() has returned and no callback can come any more.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <rdma/ib_addr.h>

#include "cm.h"

unsigned int ucmx_max_backlog = 1024;

static struct kmem_cache *ucmx_cm_cache;

static void ucmx_cm_release(struct ucmx_id *id)
{
	struct ucmx_cm *cm = container_of(id, struct ucmx_cm, id);

	/*
	 * The request of an address that has been resolved stays listed until
	 * its callback has returned, and rdma_destroy_id() does not wait for
	 * that.  The next rdma_cm_id could be allocated at the same place; to
	 * cancel its request, rdma_cm would find this one, by its address, and
	 * leave the other to be called back after that rdma_cm_id was freed.
	 * It takes a lock that all who resolve addresses share.
	 */
	if (cm->resolves)
		rdma_addr_cancel(&cm->cm_id->route.addr.dev_addr);
	rdma_destroy_id(cm->cm_id);
	cm->cm_id = NULL;
}

/*
 * With nobody to talk to, all that rdma_destroy_id() may have to wait for is a
 * callback; no message has to be answered, sent or given up.
 */
static bool ucmx_cm_waits_for_nobody(struct ucmx_id *id)
{
	return !container_of(id, struct ucmx_cm, id)->talks;
}

static void ucmx_cm_free(struct ucmx_id *id)
{
	struct ucmx_cm *cm = container_of(id, struct ucmx_cm, id);

	mem_cgroup_put(cm->memcg);
	kmem_cache_free(ucmx_cm_cache, cm);
}

/* What an id's receiver wants to know of it; less, if its device is gone. */
static void ucmx_cm_describe(struct ucmx_id *id, struct ucmx_event *event)
{
	struct ucmx_cm *cm = container_of(id, struct ucmx_cm, id);

	if (!ucmx_users_get(id)) {
		ucmx_event_announce(event, cm, false);
		return;
	}
	rdma_lock_handler(cm->cm_id);
	ucmx_event_announce(event, cm, true);
	rdma_unlock_handler(cm->cm_id);
	ucmx_users_put(id);
}

static const struct ucmx_id_ops ucmx_cm_ops = {
	.release = ucmx_cm_release,
	.waits_for_nobody = ucmx_cm_waits_for_nobody,
	.describe = ucmx_cm_describe,
	.free = ucmx_cm_free,
};

static struct ucmx_cm *ucmx_cm_alloc(gfp_t gfp)
{
	struct ucmx_cm *cm = kmem_cache_zalloc(ucmx_cm_cache, gfp);
	int err;

	if (!cm)
		return ERR_PTR(-ENOMEM);
	err = ucmx_id_init(&cm->id, &ucmx_cm_ops, gfp);
	if (err) {
		kmem_cache_free(ucmx_cm_cache, cm);
		return ERR_PTR(err);
	}
	return cm;
}

static void ucmx_cm_set(struct ucmx_cm *cm, struct rdma_cm_id *cm_id)
{
	cm->cm_id = cm_id;
	cm->port_space = cm_id->ps;
	cm->qp_type = cm_id->qp_type;
}

/* A request: the new rdma_cm_id stays ours if we return 0. */
static int ucmx_cm_request(struct ucmx_id *listener, struct rdma_cm_id *cm_id,
			   const struct rdma_cm_event *cm_event)
{
	struct ucmx_event *event;
	struct ucmx_cm *child;
	int err;

	child = ucmx_cm_alloc(UCMX_GFP_REQUEST);
	if (IS_ERR(child))
		return PTR_ERR(child);
	ucmx_cm_set(child, cm_id);
	child->awaits = UCMX_ANSWER_REQUEST;
	child->talks = true;
	err = ucmx_cm_make_room_unseen(child, UCMX_GFP_REQUEST);
	if (err)
		goto abort;
	event = ucmx_cm_large_event(UCMX_GFP_REQUEST);
	if (!event) {
		err = -ENOMEM;
		goto abort;
	}
	ucmx_event_fill(event, cm_id, cm_event);
	cm_id->context = &child->id;
	err = ucmx_request_raise(listener, event, &child->id);
	if (!err)
		return 0;
	ucmx_event_free(event);
abort:
	ucmx_id_abort(&child->id);
	return err;
}

/* The memory of requests is the listener's. */
static int ucmx_cm_request_charged(struct ucmx_id *listener,
				   struct rdma_cm_id *cm_id,
				   const struct rdma_cm_event *cm_event)
{
	struct ucmx_cm *cm = container_of(listener, struct ucmx_cm, id);
	struct mem_cgroup *old = set_active_memcg(cm->memcg);
	int err = ucmx_cm_request(listener, cm_id, cm_event);

	set_active_memcg(old);
	/* To rdma_cm only this means: no answer, let the peer try again. */
	return err == -ENOSPC ? -ENOMEM : err;
}

/**
 * ucmx_cm_raise - something has happened to an id
 * @cm: the id; its handler mutex is held
 * @cm_event: what, anything but a request
 *
 * Who has read of a removal finds the id gone.  The end of what the id stands
 * for waits for the handler mutex, so @cm holds still until that is given back.
 */
void ucmx_cm_raise(struct ucmx_cm *cm, const struct rdma_cm_event *cm_event)
{
	struct ucmx_event *event = ucmx_cm_take_room(&cm->id, cm_event);

	if (event)
		ucmx_event_fill(event, cm->cm_id, cm_event);
	if (cm_event->event == RDMA_CM_EVENT_DEVICE_REMOVAL)
		ucmx_id_device_gone(&cm->id);
	if (event)
		ucmx_event_raise(&cm->id, event);
}

static int ucmx_cm_handler(struct rdma_cm_id *cm_id,
			   struct rdma_cm_event *cm_event)
{
	struct ucmx_id *id = cm_id->context;
	struct ucmx_cm *cm = container_of(id, struct ucmx_cm, id);

	if (cm_event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		return ucmx_cm_request_charged(id, cm_id, cm_event);
	if (cm_event->event == RDMA_CM_EVENT_CONNECT_RESPONSE)
		WRITE_ONCE(cm->awaits, UCMX_ANSWER_RESPONSE);
	ucmx_cm_raise(cm, cm_event);
	return 0;
}

/**
 * ucmx_cm_create - create an id, in the caller's network namespace
 * @port_space: port space
 * @qp_type: type of queue pair
 *
 * Return: the id, to be published or aborted, or an error pointer.
 */
struct ucmx_cm *ucmx_cm_create(enum rdma_ucm_port_space port_space,
			       enum ib_qp_type qp_type)
{
	struct rdma_cm_id *cm_id;
	struct ucmx_cm *cm;

	cm = ucmx_cm_alloc(GFP_KERNEL_ACCOUNT);
	if (IS_ERR(cm))
		return cm;
	cm_id = rdma_create_user_id(ucmx_cm_handler, &cm->id, port_space,
				    qp_type);
	if (IS_ERR(cm_id)) {
		ucmx_id_abort(&cm->id);
		return ERR_CAST(cm_id);
	}
	ucmx_cm_set(cm, cm_id);
	return cm;
}

/**
 * ucmx_cm_abort - undo ucmx_cm_create()
 * @cm: an id that nobody has seen
 */
void ucmx_cm_abort(struct ucmx_cm *cm)
{
	rdma_destroy_id(cm->cm_id);
	ucmx_id_abort(&cm->id);
}

/**
 * ucmx_cm_begin - begin a command on an id
 * @channel: the channel that the command came in on
 * @handle: the id's handle
 *
 * Return: the id, for ucmx_cm_end(); errors as of ucmx_id_begin().
 */
struct ucmx_cm *ucmx_cm_begin(struct ucmx_channel *channel, u32 handle)
{
	struct ucmx_id *id = ucmx_id_begin(channel, handle);

	return IS_ERR(id) ? ERR_CAST(id) : container_of(id, struct ucmx_cm, id);
}

/**
 * ucmx_cm_begin_device - begin a command that makes no sense without a device
 * @channel: the channel that the command came in on
 * @handle: the id's handle
 *
 * A callback may give it one right now; whether that counts is for rdma_cm to
 * say, which looks at the id's state.  No callback takes it away.
 *
 * Return: as ucmx_cm_begin(), or -EINVAL if the id has no device yet.
 */
struct ucmx_cm *ucmx_cm_begin_device(struct ucmx_channel *channel, u32 handle)
{
	struct ucmx_cm *cm = ucmx_cm_begin(channel, handle);

	if (IS_ERR(cm) || READ_ONCE(cm->cm_id->device))
		return cm;
	ucmx_cm_end(cm);
	return ERR_PTR(-EINVAL);
}

/**
 * ucmx_cm_begin_answer - begin a command that answers the peer
 * @channel: the channel that the command came in on
 * @handle: the id's handle
 *
 * To reject before there is anything to reject, or what was accepted and is not
 * yet confirmed, makes the IB CM forget that its message is under way;
 * destroying the id then takes over a minute, and so does removing the device.
 * To accept once more fails, and then rdma_cm rejects.  So there is one answer.
 *
 * Return: as ucmx_cm_begin_device(), or -EINVAL if there is nothing to answer.
 */
struct ucmx_cm *ucmx_cm_begin_answer(struct ucmx_channel *channel, u32 handle)
{
	struct ucmx_cm *cm = ucmx_cm_begin_device(channel, handle);

	if (IS_ERR(cm) || READ_ONCE(cm->awaits) != UCMX_ANSWER_NONE)
		return cm;
	ucmx_cm_end(cm);
	return ERR_PTR(-EINVAL);
}

/**
 * ucmx_cm_end - end a command
 * @cm: from ucmx_cm_begin() and the like
 */
void ucmx_cm_end(struct ucmx_cm *cm)
{
	ucmx_id_end(&cm->id);
}

/**
 * ucmx_cm_init - make the cache for ids
 *
 * Return: 0 or -ENOMEM.
 */
int ucmx_cm_init(void)
{
	ucmx_cm_cache = kmem_cache_create("ucmx_id", sizeof(struct ucmx_cm), 0,
					  0, NULL);
	return ucmx_cm_cache ? 0 : -ENOMEM;
}

/**
 * ucmx_cm_exit - undo ucmx_cm_init(); all ids have been freed
 */
void ucmx_cm_exit(void)
{
	kmem_cache_destroy(ucmx_cm_cache);
}
