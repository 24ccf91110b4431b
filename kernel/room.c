// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Room: events are allocated before what causes them, so that none is lost for
 * want of memory.  What room an id has is protected by its owner's lock.
 */
#include <linux/bits.h>

#include "channel.h"
#include "id.h"

/**
 * ucmx_room_find - look for room
 * @id: whose; its owner's lock is held
 * @room: what kind
 *
 * Return: room of that kind, or NULL.
 */
struct ucmx_event *ucmx_room_find(struct ucmx_id *id, enum ucmx_room room)
{
	struct ucmx_event *event;

	list_for_each_entry(event, &id->room, of_id) {
		if (event->room == room)
			return event;
	}
	return NULL;
}

/* Of what a command causes each command makes its own. */
static bool ucmx_room_is_caused(enum ucmx_room room)
{
	return room < UCMX_ROOM_FIRST_UNASKED;
}

/**
 * ucmx_rooms_there - look which kinds of room need not be made
 * @id: whose
 *
 * Return: a bit for each kind that comes unasked and that there is room of; or
 * maybe less, if somebody else adds some.
 */
u32 ucmx_rooms_there(struct ucmx_id *id)
{
	struct ucmx_channel *channel;
	struct ucmx_event *event;
	u32 there = 0;

	if (list_empty(&id->room))
		return 0;
	channel = ucmx_id_lock(id);
	list_for_each_entry(event, &id->room, of_id) {
		if (!ucmx_room_is_caused(event->room))
			there |= BIT(event->room);
	}
	spin_unlock(&channel->lock);
	return there;
}

/**
 * ucmx_rooms_add - give an id room for events to come
 * @id: whose events
 * @rooms: the room, linked by of_id; of a kind that comes unasked one at a time
 *	   is enough.  What is not needed is freed.
 *
 * Return: 0, -ENOENT if the id is dying, or -ENOSPC if too many events that
 * commands caused were not acknowledged.
 */
int ucmx_rooms_add(struct ucmx_id *id, struct list_head *rooms)
{
	struct ucmx_channel *channel = ucmx_id_lock(id);
	struct ucmx_event *event, *next;
	int err = id->dying ? -ENOENT : 0;

	list_for_each_entry_safe(event, next, rooms, of_id) {
		event->caused = ucmx_room_is_caused(event->room);
		if (!err && event->caused &&
		    ucmx_id_caused_too_many(id, channel))
			err = -ENOSPC;
		if (err)
			break;
		if (event->caused || !ucmx_room_find(id, event->room))
			list_move_tail(&event->of_id, &id->room);
	}
	spin_unlock(&channel->lock);
	ucmx_events_free(rooms);
	return err;
}

/**
 * ucmx_room_make_unseen - make room for an event to come of an id that nobody
 *			   has seen yet
 * @id: whose event
 * @room: what kind
 * @capacity: bytes of its record
 * @gfp: how to allocate
 *
 * Return: 0 or -ENOMEM.
 */
int ucmx_room_make_unseen(struct ucmx_id *id, enum ucmx_room room,
			  size_t capacity, gfp_t gfp)
{
	struct ucmx_event *event = ucmx_event_alloc(room, capacity, gfp);

	if (!event)
		return -ENOMEM;
	list_add_tail(&event->of_id, &id->room);
	return 0;
}

/**
 * ucmx_room_take - take room to fill an event in
 * @id: whose event
 * @room: what kind
 *
 * Return: the event, the caller's; NULL if the id is dying or, of a kind that
 * comes unasked, if one like it is pending, with which it merges.
 */
struct ucmx_event *ucmx_room_take(struct ucmx_id *id, enum ucmx_room room)
{
	struct ucmx_channel *channel = ucmx_id_lock(id);
	struct ucmx_event *event = ucmx_room_find(id, room);

	if (event)
		list_del_init(&event->of_id);
	spin_unlock(&channel->lock);
	return event;
}

/**
 * ucmx_room_drop - give room back that a failed command made
 * @id: whose event
 * @room: what kind
 */
void ucmx_room_drop(struct ucmx_id *id, enum ucmx_room room)
{
	ucmx_event_free(ucmx_room_take(id, room));
}
