// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Listing the ids of a channel, as the module does it: one after the other, each
 * looked at under the lock of whoever owns it and copied out without.  What a
 * list must have, and what it may say.
 */
#include "search.h"
#include "world.h"

/* Ids that are the channel's and have not died; they may leave it meanwhile. */
static u32 ids_of(int c)
{
	u32 ids = 0;
	int k;

	for (k = 0; k < MAX_IDS; k++) {
		const struct part *part = &W.parts[k];

		if (part->alive && part->owner == c + 1 && !part->dying &&
		    part->id->channel == W.desks[c].channel)
			ids |= 1u << k;
	}
	return ids;
}

static int part_with(u32 handle)
{
	int k;

	for (k = 0; k < MAX_IDS; k++) {
		if (W.parts[k].alive && W.parts[k].handle == handle)
			return k;
	}
	violated("C01", "a list has handle %u, which no id has", handle);
}

static void check_entry(const struct rdma_ucmx_id_info *info, int k, int c)
{
	const struct ucmx_id *id = W.parts[k].id;
	const struct ucmx_event *event;

	CHECK("C01", id->channel == W.desks[c].channel,
	      "%c is listed on channel %d, which it is not on", 'A' + k, c);
	CHECK("C01", !id->unpublished, "%c is listed and has come to its end",
	      'A' + k);
	CHECK("C05", info->pending == id->n_pending &&
	      info->outstanding == id->n_outstanding &&
	      info->unread == id->n_unread && info->cookie == id->cookie,
	      "%c is listed with what it has not", 'A' + k);
	CHECK("C12", !(info->state & RDMA_UCMX_ID_MIGRATING) == !id->migration,
	      "%c is listed as what it is not", 'A' + k);
	if (list_empty(&id->outstanding)) {
		CHECK("C05", !info->oldest_seq && !info->oldest_reader,
		      "%c is listed with an event that is not outstanding",
		      'A' + k);
		return;
	}
	event = list_first_entry(&id->outstanding, struct ucmx_event, of_id);
	CHECK("C05", info->oldest_seq == event->head.seq && info->oldest_reader,
	      "%c is listed, but not what is outstanding", 'A' + k);
}

/* Describe @id if it is the channel's. */
static bool list_id(struct ucmx_channel *channel, struct ucmx_id *id, int c)
{
	struct rdma_ucmx_id_info info;
	struct ucmx_channel *owner;
	bool ours;

	if (READ_ONCE(id->channel) != channel)
		return false;
	owner = ucmx_id_lock(id);
	ours = owner == channel && !id->unpublished;
	if (ours) {
		ucmx_id_info(id, &info);
		check_entry(&info, part_with(info.id), c);
	}
	spin_unlock(&owner->lock);
	return ours;
}

long call_list(const struct op *op, struct ucmx_channel *channel)
{
	u32 ids = ids_of(op->channel), listed = 0, handle = 0;
	struct ucmx_id *id;
	int k, n = 0;

	while ((id = ucmx_id_get_next(handle))) {
		CHECK("C05", id->handle >= handle, "a list goes round in a circle");
		handle = id->handle + 1;
		k = part_with(id->handle);
		if (list_id(channel, id, op->channel)) {
			listed |= 1u << k;
			n++;
		}
		ucmx_id_put(id);
		point(DOING_COPY, NULL, HERE);
	}
	/* Nobody has moved or destroyed these. */
	ids &= ids_of(op->channel) & ~listed;
	for (k = 0; k < MAX_IDS; k++) {
		if (ids & 1u << k && !W.parts[k].moves)
			violated("C05", "%c is not listed", 'A' + k);
	}
	return n;
}
