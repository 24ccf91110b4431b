// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What is outstanding of an id: finding an event by its number, and acknowledging
 * all that there are.
 *
 * A listener may have as many requests outstanding as its user may have ids, and
 * rdma_cm's callbacks wait for the lock, in work queues in which the machine's
 * connections are made.  So nothing under the lock takes a step for each of them:
 * few are looked through, what is taken beyond is in a tree, and they are not
 * settled all at once.
 */
#include "channel.h"
#include "id.h"

/*
 * How many outstanding events are looked through, or settled, at a time.  A build that
 * tries all interleavings says 1: with more, its few events would never be too many.
 */
#ifndef UCMX_FEW
#define UCMX_FEW	64
#endif

static bool ucmx_event_before(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct ucmx_event, by_seq)->head.seq <
	       rb_entry(b, struct ucmx_event, by_seq)->head.seq;
}

static int ucmx_event_compare(const void *seq, const struct rb_node *node)
{
	u64 other = rb_entry(node, struct ucmx_event, by_seq)->head.seq;

	return *(const u64 *)seq < other ? -1 : *(const u64 *)seq > other;
}

/**
 * ucmx_event_index - have an event found that is taken now
 * @event: the event, not yet counted; its owner's lock is held
 *
 * What is taken when there are few is among the first few of the list, for as long as
 * it is there; anything else is indexed.
 */
void ucmx_event_index(struct ucmx_event *event)
{
	struct ucmx_id *id = event->id;

	event->indexed = id->n_outstanding >= UCMX_FEW;
	if (event->indexed)
		rb_add(&event->by_seq, &id->by_seq, ucmx_event_before);
}

/**
 * ucmx_event_unindex - undo ucmx_event_index()
 * @event: outstanding; its owner's lock is held
 */
void ucmx_event_unindex(struct ucmx_event *event)
{
	if (event->indexed)
		rb_erase(&event->by_seq, &event->id->by_seq);
	event->indexed = false;
}

/**
 * ucmx_event_find_outstanding - find an event by its number
 * @id: whose event; its owner's lock is held
 * @seq: its number
 *
 * Return: the event if it is outstanding and not acknowledged, or NULL.
 */
struct ucmx_event *ucmx_event_find_outstanding(struct ucmx_id *id, u64 seq)
{
	struct ucmx_event *event;
	struct rb_node *node;
	int n = 0;

	list_for_each_entry(event, &id->outstanding, of_id) {
		if (event->head.seq == seq)
			return event->acked ? NULL : event;
		if (++n == UCMX_FEW)
			break;
	}
	node = rb_find(&seq, &id->by_seq, ucmx_event_compare);
	event = rb_entry_safe(node, struct ucmx_event, by_seq);
	return event && !event->acked ? event : NULL;
}

/**
 * ucmx_id_settle_some - acknowledge what is outstanding of an id, oldest first
 * @id: the id
 * @channel: its owner; the lock is held, and a reference to the id
 * @last: turn of the last one; what was taken later stays outstanding
 *
 * Of those only the very last can be in the middle of being copied, and stay.
 *
 * Return: whether there may be more, for after the lock has been given back.
 */
bool ucmx_id_settle_some(struct ucmx_id *id, struct ucmx_channel *channel,
			 u64 last)
{
	struct ucmx_event *event, *next;
	int n = 0;

	list_for_each_entry_safe(event, next, &id->outstanding, of_id) {
		if (event->turn > last)
			break;
		if (n++ == UCMX_FEW)
			return true;
		ucmx_event_settle(channel, event);
	}
	return false;
}
