// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What processes do: the commands, as far as the core is concerned, in the same
 * order as the module's own files call it.  A call holds the files that it
 * uses; the last to let go of a file closes the channel.
 */
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "search.h"
#include "steps.h"
#include "world.h"

/* User memory, of which nobody looks at the content. */
static char buffers[MAX_ACTORS][RDMA_UCMX_READ_MIN];

static bool file_get(int c)
{
	if (!W.desks[c].open)
		return false;
	W.desks[c].files++;
	return true;
}

void file_put(int c)
{
	static const struct op closes[] = { CLOSE(0), CLOSE(1), CLOSE(2) };
	struct desk *desk = &W.desks[c];
	const struct op *call = ME->call;
	int k;

	if (--desk->files)
		return;
	desk->closed = true;
	ME->call = &closes[c];
	ucmx_channel_close(desk->channel, true);
	for (k = 0; k < MAX_IDS; k++)
		CHECK("C17", !W.parts[k].alive || W.parts[k].owner != c + 1 ||
		      W.parts[k].released,
		      "channel %d is closed, but %c was not released", c,
		      'A' + k);
	ME->call = call;
}

static u32 handle_of(const struct op *op)
{
	return W.parts[op->id].handle;
}

static u64 seq_of(int tag)
{
	return W.tags[tag].seq;
}

u64 deadline_of(const struct op *op)
{
	if (op->flags & PAST)
		return TIME_PAST;
	if (op->flags & BY_1)
		return TIME_1;
	return op->flags & BY_2 ? TIME_2 : 0;
}

static struct ucmx_wait wait_of(const struct op *op)
{
	return (struct ucmx_wait){
		.nonblock = op->flags & NONBLOCK,
		.deadline = deadline_of(op),
		.held_seq = ME->held ? seq_of(ME->held) : 0,
	};
}

static long call_read(const struct op *op, struct ucmx_channel *channel)
{
	size_t size = op->flags & BATCH ? RDMA_UCMX_READ_MIN :
		      sizeof(struct rdma_ucmx_event);

	return ucmx_channel_read(channel, buffers[W.running], size,
				 op->flags & NONBLOCK);
}

/* As edge-triggered epoll has it: who was woken reads, who was not sleeps on. */
static long call_read_edge(const struct op *op, struct ucmx_channel *channel)
{
	DEFINE_WAIT(entry);
	long ret;

	for (;;) {
		prepare_to_wait(&channel->wait, &entry, TASK_INTERRUPTIBLE);
		ret = call_read(op, channel);
		if (ret != -EAGAIN || signal_pending(current))
			break;
		schedule();
	}
	finish_wait(&channel->wait, &entry);
	return ret;
}

static void acknowledge(struct ucmx_channel *channel, int c, int tag)
{
	u32 handle = W.parts[W.tags[tag].id].handle;

	account_ack(tag);
	account_acked(tag, c, ucmx_channel_ack(channel, handle, seq_of(tag)));
}

static long call_ack(const struct op *op, struct ucmx_channel *channel)
{
	int i;

	for (i = 0; i < ME->n_read; i++)
		acknowledge(channel, op->channel, ME->read[i]);
	ME->n_read = 0;
	return 0;
}

static long call_ack_all(const struct op *op, struct ucmx_channel *channel)
{
	return ucmx_channel_ack(channel, handle_of(op), 0);
}

static long call_ack_event(const struct op *op, struct ucmx_channel *channel)
{
	if (W.tags[op->tag].state & TAG_DELIVERED)
		acknowledge(channel, op->channel, op->tag);
	return 0;
}

/* Like epoll with EPOLLEXCLUSIVE: one of several is woken for each event. */
static long call_poll(const struct op *op, struct ucmx_channel *channel)
{
	DEFINE_WAIT(entry);

	while (!(ucmx_channel_poll(channel, NULL, NULL) & EPOLLIN) &&
	       !signal_pending(current)) {
		prepare_to_wait_exclusive(&channel->wait, &entry,
					  TASK_INTERRUPTIBLE);
		if (ucmx_channel_poll(channel, NULL, NULL) & EPOLLIN)
			break;
		schedule();
	}
	finish_wait(&channel->wait, &entry);
	return 0;
}

static long call_migrate(const struct op *op, struct ucmx_channel *channel)
{
	struct ucmx_move move = {
		.wait = wait_of(op),
		.set_cookie = op->flags & COOKIE,
		.cookie = 0x200 + op->id,
	};
	struct ucmx_event *event;
	long ret = -ENOMEM;

	if (!file_get(op->target))
		return -EBADF;
	if (op->flags & ANNOUNCE) {
		event = ucmx_event_alloc(UCMX_ROOM_NONE, sizeof(event->head),
					 GFP_KERNEL_ACCOUNT);
		if (!event)
			goto put;
		event->head.size = sizeof(event->head);
		event->head.event = RDMA_UCMX_EVENT_TYPE_ARRIVED;
		event->head.status = op->tag;
		move.announcement = event;
	}
	ret = ucmx_id_migrate(channel, handle_of(op),
			      W.desks[op->target].channel, &move);
	if (ret)
		ucmx_event_free(move.announcement);
put:
	file_put(op->target);
	return ret;
}

static long call_destroy(const struct op *op, struct ucmx_channel *channel)
{
	const struct ucmx_wait wait = wait_of(op);

	return ucmx_id_destroy(channel, handle_of(op), &wait);
}

/* Begun, an id belongs to the channel, and has neither died nor lost its device. */
static struct ucmx_id *begin(const struct op *op, struct ucmx_channel *channel)
{
	struct ucmx_id *id = ucmx_id_begin(channel, handle_of(op));

	if (IS_ERR(id))
		return id;
	if (id->channel != channel || id->listener)
		violated("C01", "%s has begun on %s, which is another channel's",
			 actor_name(W.running), name_of(id));
	if (id->dying)
		violated("C17", "%s has begun on %s, which is dying",
			 actor_name(W.running), name_of(id));
	if (id->gone)
		violated("C14", "%s has begun on %s, whose device is gone",
			 actor_name(W.running), name_of(id));
	point(DOING_CALL, NULL, HERE);
	if (W.parts[op->id].released)
		violated("C18", "%s was released while %s used it", name_of(id),
			 actor_name(W.running));
	return id;
}

static void accept_locked(struct ucmx_id *id, const struct op *op)
{
	struct part *part = &W.parts[op->id];

	mutex_lock(&part->handler);
	ucmx_id_claim(id, 0x300 + op->id);
	mutex_unlock(&part->handler);
}

static long write_event(struct ucmx_id *id, const struct op *op,
			struct ucmx_channel *channel)
{
	struct ucmx_event *event;
	int err;

	event = ucmx_event_alloc(UCMX_ROOM_NONE, sizeof(event->head),
				 GFP_KERNEL_ACCOUNT);
	if (!event)
		return -ENOMEM;
	event->head.size = sizeof(event->head);
	event->head.event = RDMA_UCMX_EVENT_TYPE_USER;
	event->head.status = op->tag;
	account_raise(op->tag, op->id, UCMX_ROOM_NONE);
	err = ucmx_event_write(channel, id, event);
	account_raised(op->tag, id->seq, err);
	if (err)
		ucmx_event_free(event);
	return err;
}

/* rdma_cm may have called back before it says no. */
static void undo_join(struct ucmx_id *id, const struct op *op,
		      struct ucmx_group *group)
{
	point(DOING_CALL, NULL, HERE);
	W.group_leaving[op->target] = true;
	ucmx_group_remove(id, group);
	W.group_left[op->target] = true;
}

static long join(struct ucmx_id *id, const struct op *op)
{
	/* All groups have the same address. */
	struct rdma_ucmx_addr addr = { .family = 1 };
	struct ucmx_group *group;
	int err;

	group = ucmx_group_alloc(&addr, 0, sizeof(struct rdma_ucmx_event));
	if (!group)
		return -ENOMEM;
	W.group_numbers[op->target] = group->number;
	err = ucmx_group_add(id, group);
	W.group_joined[op->target] = !err;
	W.group_left[op->target] = err;
	if (err)
		ucmx_group_put(group);
	else if (op->flags & FAILS)
		undo_join(id, op, group);
	return err;
}

/* What a command causes; it may fail in rdma_cm, and cause nothing then. */
static long make_room(struct ucmx_id *id, const struct op *op)
{
	int err = give_room(id, UCMX_ROOM_ROUTE);

	if (!err && op->flags & FAILS) {
		point(DOING_CALL, NULL, HERE);
		ucmx_room_drop(id, UCMX_ROOM_ROUTE);
	}
	return err;
}

static long call_command(const struct op *op, struct ucmx_channel *channel)
{
	struct ucmx_id *id = begin(op, channel);
	long ret = 0;

	if (IS_ERR(id))
		return PTR_ERR(id);
	switch (op->kind) {
	case OP_ACCEPT:
		accept_locked(id, op);
		break;
	case OP_ADOPT:
		ret = ucmx_id_adopt(channel, id, 0x400 + op->id);
		break;
	case OP_WRITE:
		ret = write_event(id, op, channel);
		break;
	case OP_JOIN:
		ret = join(id, op);
		break;
	case OP_ROOM:
		ret = make_room(id, op);
		break;
	case OP_BACKLOG:
		ucmx_id_set_backlog(id, op->target);
		break;
	}
	if (!ret && (op->kind == OP_ADOPT || op->kind == OP_WRITE) &&
	    id->channel != channel)
		violated("C01", "%s takes effect on another channel",
			 actor_name(W.running));
	ucmx_id_end(id);
	return ret;
}

/* The two halves of leaving a group: under the id's mutex, then waiting. */
static long call_leave(const struct op *op, struct ucmx_channel *channel)
{
	const struct ucmx_wait wait = wait_of(op);
	struct ucmx_id *id = begin(op, channel);
	struct ucmx_group *group;
	long ret;

	if (IS_ERR(id))
		return PTR_ERR(id);
	W.group_leaving[op->target] = true;
	ret = ucmx_group_leave(id, W.group_numbers[op->target], &wait, &group);
	if (ret >= 0) {
		W.group_left[op->target] = true;
		refcount_inc(&id->ref);
	}
	ucmx_id_end(id);
	if (ret < 0)
		return ret;
	ret = ucmx_group_wait(id, group, &wait);
	ucmx_group_put(group);
	ucmx_id_put(id);
	return ret;
}

/* The child of the request that was read last, where it was read. */
static long call_use_child(const struct op *op, struct ucmx_channel *channel)
{
	struct op accept = { OP_ACCEPT, .channel = op->channel };
	int tag = ME->n_read ? ME->read[ME->n_read - 1] : 0;
	long ret;

	if (!tag || !W.tags[tag].child)
		return 0;
	accept.id = W.tags[tag].child - 1;
	ret = call_command(&accept, channel);
	if (ret == -ENOENT && !W.parts[accept.id].dying &&
	    W.parts[accept.id].id->channel == channel)
		violated("C10", "%s does not find the child that it has read",
			 actor_name(W.running));
	return 0;
}

static long call_shut(const struct op *op, struct ucmx_channel *channel)
{
	W.desks[op->channel].shut = true;
	ucmx_channel_shut_down(channel);
	return 0;
}

static long call_on_channel(const struct op *op, struct ucmx_channel *channel)
{
	switch (op->kind) {
	case OP_READ:
		return op->flags & EDGE ? call_read_edge(op, channel) :
					  call_read(op, channel);
	case OP_ACK:
		return call_ack(op, channel);
	case OP_ACK_ALL:
		return call_ack_all(op, channel);
	case OP_ACK_EVENT:
		return call_ack_event(op, channel);
	case OP_POLL:
		return call_poll(op, channel);
	case OP_MIGRATE:
		return call_migrate(op, channel);
	case OP_DESTROY:
		return call_destroy(op, channel);
	case OP_LEAVE:
		return call_leave(op, channel);
	case OP_USE_CHILD:
		return call_use_child(op, channel);
	case OP_SHUT:
		return call_shut(op, channel);
	case OP_LIST:
		return call_list(op, channel);
	default:
		return call_command(op, channel);
	}
}

static void do_call(const struct op *op)
{
	struct ucmx_channel *channel = W.desks[op->channel].channel;
	long ret;

	if (!file_get(op->channel))
		return;
	do {
		account_begin(op);
		ret = call_on_channel(op, channel);
		search_say("%s returns %ld", actor_name(W.running), ret);
		account_end(ret);
		outcome_tell(ret);
		if (ret != -ERESTARTSYS || W.ending)
			break;
		ME->signal = false;
	} while (op->flags & RESTART);
	file_put(op->channel);
}

static void do_close(const struct op *op)
{
	if (!W.desks[op->channel].open)
		return;
	W.desks[op->channel].open = false;
	file_put(op->channel);
}

void do_op(const struct op *op)
{
	ME->call = op;
	switch (op->kind) {
	case OP_RAISE:
		raise_event(op);
		break;
	case OP_UNASKED:
		raise_unasked(op);
		break;
	case OP_REQUEST:
		raise_request(op);
		break;
	case OP_GROUP_EVENT:
		raise_of_group(op);
		break;
	case OP_REMOVE:
		remove_device(op);
		break;
	case OP_CLOSE:
		do_close(op);
		break;
	default:
		do_call(op);
	}
	ME->call = NULL;
}
