// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Ids that stand for nothing, and the callbacks that rdma_cm would make: under
 * a handler mutex of its own, which the core does not know, and not any more
 * once the release of the id has taken that mutex.  A request for a wildcard
 * listener comes under another mutex than the listener's.
 */
#include <linux/slab.h>

#include "search.h"
#include "world.h"

static int index_of(const struct ucmx_id *id)
{
	int k = 0;

	while (W.parts[k].id != id)
		k++;
	return k;
}

static void id_release(struct ucmx_id *id)
{
	struct part *part = &W.parts[index_of(id)];

	if (part->released)
		violated("C18", "%s is released twice", name_of(id));
	mutex_lock(&part->handler);
	mutex_lock(&part->internal);
	part->released = true;
	mutex_unlock(&part->internal);
	mutex_unlock(&part->handler);
}

static bool id_waits_for_nobody(struct ucmx_id *id)
{
	return scene->quick;
}

/* As the module's own: what the device says may be asked under its use only. */
static void id_describe(struct ucmx_id *id, struct ucmx_event *event)
{
	struct part *part = &W.parts[index_of(id)];

	lockdep_assert_held(&id->op_mutex);
	/* To be seen that this was done. */
	event->head.qp_type = 1;
	if (!ucmx_users_get(id))
		return;
	mutex_lock(&part->handler);
	if (part->released)
		violated("C14", "%s is used after its release", name_of(id));
	mutex_unlock(&part->handler);
	ucmx_users_put(id);
}

static void id_free(struct ucmx_id *id)
{
	struct part *part = &W.parts[index_of(id)];

	if (part->released != part->given)
		violated("C18", "%s is freed and was %s", name_of(id),
			 part->given ? "not released" : "never given away");
	part->dying = part->dying || id->dying;
	part->alive = false;
	kfree(id);
}

static const struct ucmx_id_ops id_ops = {
	.release = id_release,
	.waits_for_nobody = id_waits_for_nobody,
	.describe = id_describe,
	.free = id_free,
};

/* An id that is neither published nor raised; NULL if there is no memory. */
struct ucmx_id *make_id(int k)
{
	struct part *part = &W.parts[k];
	struct ucmx_id *id = kzalloc(sizeof(*id), GFP_KERNEL);

	if (!id)
		return NULL;
	if (ucmx_id_init(id, &id_ops, GFP_KERNEL)) {
		kfree(id);
		return NULL;
	}
	memset(part, 0, sizeof(*part));
	mutex_init(&part->handler);
	mutex_init(&part->internal);
	part->id = id;
	part->handle = id->handle;
	part->alive = true;
	part->cookie = 0x100 + k;
	if (ucmx_room_make_unseen(id, UCMX_ROOM_DISCONNECTED,
				  sizeof(struct rdma_ucmx_event), GFP_KERNEL) ||
	    ucmx_room_make_unseen(id, UCMX_ROOM_DEVICE_REMOVAL,
				  sizeof(struct rdma_ucmx_event), GFP_KERNEL)) {
		drop_id(k);
		return NULL;
	}
	return id;
}

/* As a command does that causes one event. */
int give_room(struct ucmx_id *id, enum ucmx_room room)
{
	struct ucmx_event *event;
	LIST_HEAD(rooms);

	event = ucmx_event_alloc(room, sizeof(struct rdma_ucmx_event),
				 GFP_KERNEL_ACCOUNT);
	if (!event)
		return -ENOMEM;
	list_add(&event->of_id, &rooms);
	return ucmx_rooms_add(id, &rooms);
}

void drop_id(int k)
{
	W.parts[k].given = false;
	ucmx_id_abort(W.parts[k].id);
}

/* Call back under the handler mutex, unless rdma_cm has ended the id. */
static void call_back(struct part *part, struct mutex *mutex,
		      const struct op *op,
		      void (*call)(struct ucmx_id *id, const struct op *op))
{
	if (!part->given)
		return;
	mutex_lock(mutex);
	if (!part->released)
		call(part->id, op);
	mutex_unlock(mutex);
}

static void fill(struct ucmx_event *event, const struct op *op)
{
	event->head.size = sizeof(event->head);
	event->head.event = op->kind;
	event->head.status = op->tag;
	event->urgent = op->kind == OP_REMOVE;
}

static void raise_now(struct ucmx_id *id, struct ucmx_event *event,
		      const struct op *op)
{
	u64 seq;
	int err;

	fill(event, op);
	account_raise(op->tag, op->id, event->room);
	err = ucmx_event_raise(id, event);
	seq = id->seq;
	account_raised(op->tag, seq, err);
}

/* For an event that a command causes there is room; its id may be dying. */
static void call_event(struct ucmx_id *id, const struct op *op)
{
	struct ucmx_event *event = ucmx_room_take(id, UCMX_ROOM_CONNECT);

	if (event)
		raise_now(id, event, op);
	else
		account_merged(op->id, UCMX_ROOM_CONNECT);
}

static void call_unasked(struct ucmx_id *id, const struct op *op)
{
	struct ucmx_event *event = ucmx_room_take(id, UCMX_ROOM_DISCONNECTED);

	if (event)
		raise_now(id, event, op);
	else
		account_merged(op->id, UCMX_ROOM_DISCONNECTED);
}

static void call_removal(struct ucmx_id *id, const struct op *op)
{
	struct ucmx_event *event = ucmx_room_take(id, UCMX_ROOM_DEVICE_REMOVAL);

	if (!event)
		account_merged(op->id, UCMX_ROOM_DEVICE_REMOVAL);
	ucmx_id_device_gone(id);
	W.parts[op->id].gone = true;
	if (event)
		raise_now(id, event, op);
}

static void call_group(struct ucmx_id *id, const struct op *op)
{
	bool joined = W.group_joined[op->target];
	struct ucmx_event *event;

	event = ucmx_group_take_room(id, W.group_numbers[op->target]);
	if (event)
		raise_now(id, event, op);
	else if (joined && !W.group_leaving[op->target])
		account_merged(op->id, UCMX_ROOM_GROUP);
}

static void refuse(int k, struct ucmx_event *event)
{
	ucmx_event_free(event);
	drop_id(k);
}

static void call_request(struct ucmx_id *listener, const struct op *op)
{
	struct part *part = &W.parts[op->target];
	struct ucmx_id *child = make_id(op->target);
	struct ucmx_event *event;
	int err;

	if (!child)
		return;
	event = ucmx_event_alloc(UCMX_ROOM_NONE, sizeof(event->head), GFP_KERNEL);
	if (!event) {
		drop_id(op->target);
		return;
	}
	fill(event, op);
	/* rdma_cm holds the new id's mutex until the request is taken. */
	mutex_lock(&part->handler);
	part->given = true;
	account_raise(op->tag, op->id, UCMX_ROOM_NONE);
	err = ucmx_request_raise(listener, event, child);
	account_raised(op->tag, listener->seq, err);
	mutex_unlock(&part->handler);
	if (err)
		refuse(op->target, event);
}

void raise_event(const struct op *op)
{
	struct part *part = &W.parts[op->id];

	call_back(part, &part->handler, op, call_event);
}

void raise_unasked(const struct op *op)
{
	struct part *part = &W.parts[op->id];

	call_back(part, &part->handler, op, call_unasked);
}

void raise_request(const struct op *op)
{
	struct part *part = &W.parts[op->id];

	call_back(part, &part->internal, op, call_request);
}

void raise_of_group(const struct op *op)
{
	struct part *part = &W.parts[op->id];

	call_back(part, &part->handler, op, call_group);
}

void remove_device(const struct op *op)
{
	struct part *part = &W.parts[op->id];

	call_back(part, &part->handler, op, call_removal);
}
