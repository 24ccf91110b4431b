// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Who is reading a channel, and what has been read there.
 *
 * The id of a request is known by its handle when the thread that read the
 * request has put that into the id.  Another thread may read an event of that id
 * before: for the kernel the request is read as soon as it is in the first
 * one's buffer.  So whoever meets an id that is not known looks into the buffers
 * of all who are reading the channel.
 *
 * That is rare, and reading is not: the list of readings takes no lock.  It only
 * grows, and whoever reads takes an entry that nobody has.  A buffer goes with
 * its reader, who waits until nobody looks for anything.
 */
#include <stdlib.h>
#include <unistd.h>

#include "cmx.h"

/* How often to look whether a reader has come further, in microseconds. */
#define CMX_LOOK_US 100

static struct cmx_reading *take(struct cmx_channel *channel,
				const struct cmx_buffer *buffer)
{
	struct cmx_reading *reading = &channel->reading;
	const struct cmx_buffer *none = NULL;

	while (reading && !atomic_compare_exchange_strong(&reading->buffer, &none,
							  buffer)) {
		none = NULL;
		reading = atomic_load(&reading->next);
	}
	return reading;
}

static struct cmx_reading *add(struct cmx_channel *channel,
			       const struct cmx_buffer *buffer)
{
	struct cmx_reading *reading = malloc(sizeof(*reading));
	struct cmx_reading *next;

	if (!reading)
		return NULL;
	atomic_init(&reading->buffer, buffer);
	next = atomic_load(&channel->reading.next);
	do
		atomic_init(&reading->next, next);
	while (!atomic_compare_exchange_weak(&channel->reading.next, &next,
					     reading));
	return reading;
}

/**
 * cmx_reading_begin - tell of a buffer that is going to be read into
 * @channel: the channel, in use
 * @buffer: the buffer, in which no request is yet
 *
 * Returns what cmx_reading_end() wants, or NULL and errno.
 */
struct cmx_reading *cmx_reading_begin(struct cmx_channel *channel,
				      const struct cmx_buffer *buffer)
{
	return take(channel, buffer) ?: add(channel, buffer);
}

static void look_again_later(void)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	usleep(CMX_LOOK_US);
	pthread_setcancelstate(state, NULL);
}

/**
 * cmx_reading_end - end that: what was read is known
 * @channel: the channel
 * @reading: what cmx_reading_begin() returned, or NULL
 *
 * Keeps errno.
 */
void cmx_reading_end(struct cmx_channel *channel, struct cmx_reading *reading)
{
	int saved = errno;

	if (!reading)
		return;
	/* As table.c says, not by a store. */
	atomic_exchange(&reading->buffer, NULL);
	while (atomic_load(&channel->lookers))
		look_again_later();
	errno = saved;
}

/**
 * cmx_readings_free - free a channel's list of readings
 * @channel: a channel that nobody reads any more
 */
void cmx_readings_free(struct cmx_channel *channel)
{
	struct cmx_reading *reading = atomic_load(&channel->reading.next);
	struct cmx_reading *next;

	for (; reading; reading = next) {
		next = atomic_load(&reading->next);
		free(reading);
	}
}

/**
 * cmx_readings_forget - forget who is reading a channel, in a child after a fork
 * @channel: the channel
 */
void cmx_readings_forget(struct cmx_channel *channel)
{
	struct cmx_reading *reading = &channel->reading;

	for (; reading; reading = atomic_load(&reading->next))
		atomic_store(&reading->buffer, NULL);
	atomic_store(&channel->lookers, 0);
}

/* What is there at this moment, which may be changed meanwhile. */
#define now(member) __atomic_load_n(member, __ATOMIC_RELAXED)

/*
 * Whether the request that brings an id is there, wherever.  What is read
 * meanwhile may be anything, and is none that is looked for: that was read
 * before.  So this is no race for the detector to tell of.
 */
__attribute__((no_sanitize("thread")))
static bool has_request(const struct cmx_buffer *buffer, uint32_t handle)
{
	const struct rdma_ucmx_event *head;
	size_t at;

	for (at = 0; at + sizeof(*head) <= buffer->size; at += sizeof(uint64_t)) {
		head = (const void *)((const char *)buffer->records + at);
		if (now(&head->event) == RDMA_CM_EVENT_CONNECT_REQUEST &&
		    now(&head->id) == handle && now(&head->listen_id))
			return true;
	}
	return false;
}

static bool is_being_read(struct cmx_channel *channel, uint32_t handle)
{
	struct cmx_reading *reading = &channel->reading;
	const struct cmx_buffer *buffer;
	bool found = false;

	atomic_fetch_add(&channel->lookers, 1);
	for (; reading && !found; reading = atomic_load(&reading->next)) {
		buffer = atomic_load(&reading->buffer);
		found = buffer && has_request(buffer, handle);
	}
	atomic_fetch_sub(&channel->lookers, 1);
	return found;
}

/**
 * cmx_reading_find - find an id by a handle that may be in somebody's buffer
 * @channel: where an event of the id was read
 * @handle: the kernel's name of it
 *
 * Waits for whoever has read the request that brings it.  Returns the id with a
 * reference for the caller, or NULL.
 */
struct cmx_id *cmx_reading_find(struct cmx_channel *channel, uint32_t handle)
{
	struct cmx_id *id = cmx_table_find_handle(handle);

	while (!id && is_being_read(channel, handle)) {
		look_again_later();
		id = cmx_table_find_handle(handle);
	}
	/* It may have come to be known while the buffers were looked at. */
	return id ?: cmx_table_find_handle(handle);
}
