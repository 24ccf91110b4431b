// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reading and acknowledging many events at once.
 *
 * One READ_EVENTS brings as many as the caller has room for, and one
 * ACK_EVENTS takes them back.  As in event.c all memory is there before the
 * read, which is the only cancellation point: a batch has as many events, and
 * ids for connection requests, as are asked for.  What was not used stays with
 * the batch, and batches are kept for the next call.
 *
 * The buffer is all zeros but for what a read brought, and records have no gap
 * between them: so whoever is cancelled in the read finds them.
 */
#include <stdlib.h>
#include <string.h>

#include "cmx.h"

#define BATCH_EVENTS 64
#define BATCH_BYTES (BATCH_EVENTS * 512)
#define BATCHES_KEPT 4

/**
 * struct cmx_batch - what a call of rdmax_get_cm_events() works with
 * @next: next of those that nobody uses
 * @num_events: how many of @events there are
 * @num_ids: how many of @ids there are
 * @events: events to be
 * @ids: ids for connection requests
 * @buffer: the records
 */
struct cmx_batch {
	struct cmx_batch *next;
	unsigned int num_events;
	unsigned int num_ids;
	struct cmx_event *events[BATCH_EVENTS];
	struct cmx_id *ids[BATCH_EVENTS];
	uint64_t buffer[BATCH_BYTES / sizeof(uint64_t)];
};

/* Protects the two below; nothing else is done under it. */
static pthread_mutex_t batch_lock = PTHREAD_MUTEX_INITIALIZER;
static struct cmx_batch *batches;
static unsigned int num_batches;

/* One that was used before, or NULL. */
static struct cmx_batch *batch_take(void)
{
	struct cmx_batch *batch;

	pthread_mutex_lock(&batch_lock);
	batch = batches;
	if (batch) {
		batches = batch->next;
		num_batches--;
	}
	pthread_mutex_unlock(&batch_lock);
	return batch;
}

static void batch_free(struct cmx_batch *batch)
{
	while (batch->num_events)
		free(batch->events[--batch->num_events]);
	while (batch->num_ids)
		cmx_id_put(batch->ids[--batch->num_ids]);
	free(batch);
}

/* Keeps errno. */
static void batch_give(struct cmx_batch *batch)
{
	int saved = errno;

	if (!batch)
		return;
	pthread_mutex_lock(&batch_lock);
	if (num_batches < BATCHES_KEPT) {
		batch->next = batches;
		batches = batch;
		num_batches++;
		batch = NULL;
	}
	pthread_mutex_unlock(&batch_lock);
	if (batch)
		batch_free(batch);
	errno = saved;
}

static int batch_fill(struct cmx_batch *batch, unsigned int wanted)
{
	struct cmx_event *event;
	struct cmx_id *id;

	while (batch->num_events < wanted) {
		event = cmx_event_alloc();
		if (!event)
			return -1;
		batch->events[batch->num_events++] = event;
	}
	while (batch->num_ids < wanted) {
		id = cmx_id_alloc();
		if (!id)
			return -1;
		batch->ids[batch->num_ids++] = id;
	}
	return 0;
}

/* Take an event and an id off the batch, for the next record. */
static void delivery_fill(struct cmx_delivery *delivery,
			  struct cmx_batch *batch)
{
	if (!delivery->event)
		delivery->event = batch->events[--batch->num_events];
	if (!delivery->spare)
		delivery->spare = batch->ids[--batch->num_ids];
}

/* What they were taken for did not come. */
static void delivery_empty(struct cmx_delivery *delivery,
			   struct cmx_batch *batch)
{
	if (delivery->event)
		batch->events[batch->num_events++] = delivery->event;
	if (delivery->spare)
		batch->ids[batch->num_ids++] = delivery->spare;
}

/**
 * struct cmx_batch_reader - a call of rdmax_get_cm_events()
 * @channel: where it reads
 * @batch: what it works with, or NULL
 * @view: its buffer, for other readers
 * @reading: tells them
 */
struct cmx_batch_reader {
	struct cmx_channel *channel;
	struct cmx_batch *batch;
	struct cmx_buffer view;
	struct cmx_reading *reading;
};

static int reader_begin(struct cmx_batch_reader *reader,
			struct cmx_channel *channel, unsigned int wanted)
{
	if (!cmx_channel_use(channel))
		return cmx_error(EBADF);
	reader->channel = channel;
	reader->batch = batch_take() ?: calloc(1, sizeof(*reader->batch));
	if (!reader->batch)
		return -1;
	reader->view = (struct cmx_buffer){ reader->batch->buffer, BATCH_BYTES };
	reader->reading = cmx_reading_begin(channel, &reader->view);
	return reader->reading ? batch_fill(reader->batch, wanted) : -1;
}

static void reader_end(struct cmx_batch_reader *reader)
{
	if (reader->reading)
		cmx_reading_end(reader->channel, reader->reading);
	batch_give(reader->batch);
	if (reader->channel)
		cmx_channel_unuse(reader->channel);
}

/* The thread is cancelled in the read. */
static void reader_cancelled(void *argument)
{
	struct cmx_batch_reader *reader = argument;
	char *buffer = (char *)reader->batch->buffer;
	struct cmx_record record;
	size_t at = 0;

	while (!cmx_record_parse(buffer + at, BATCH_BYTES - at, &record)) {
		cmx_ignore(reader->channel->fd, &record);
		at += record.head->size;
	}
	memset(buffer, 0, at);
	reader_end(reader);
}

static int reader_read(struct cmx_batch_reader *reader, unsigned int wanted,
		       int cancel_state)
{
	int count;

	pthread_cleanup_push(reader_cancelled, reader);
	pthread_setcancelstate(cancel_state, NULL);
	count = cmx_sys_read_events(reader->channel->fd, reader->batch->buffer,
				    BATCH_BYTES, wanted);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_cleanup_pop(0);
	return count;
}

/* Hand out what was read, of which some may not be for the user. */
static int reader_deliver(struct cmx_batch_reader *reader, int count,
			  struct rdma_cm_event **events)
{
	struct cmx_delivery delivery = {
		.channel = reader->channel,
		.strangers = true,
	};
	char *buffer = (char *)reader->batch->buffer;
	struct cmx_record record;
	size_t at = 0, size;
	int i, used = 0;

	for (i = 0; i < count; i++) {
		if (cmx_record_parse(buffer + at, BATCH_BYTES - at, &record))
			break;
		delivery_fill(&delivery, reader->batch);
		if (cmx_deliver(&delivery, &record) == CMX_DELIVERED) {
			events[used++] = &delivery.event->event;
			delivery.event = NULL;
		}
		size = record.head->size;
		memset(buffer + at, 0, size);
		at += size;
	}
	delivery_empty(&delivery, reader->batch);
	if (i < count)
		memset(buffer, 0, BATCH_BYTES);
	return i < count && !used ? -1 : used;
}

static int get_events(struct cmx_channel *channel,
		      struct rdma_cm_event **events, unsigned int wanted)
{
	struct cmx_batch_reader reader = { 0 };
	int count, used = 0, state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	if (reader_begin(&reader, channel, wanted))
		used = -1;
	while (!used) {
		count = reader_read(&reader, wanted, state);
		used = count < 0 ? -1 :
				   reader_deliver(&reader, count, events);
		/* Some were passed over, if not all were handed out. */
		if (!used && batch_fill(reader.batch, wanted))
			used = -1;
	}
	reader_end(&reader);
	pthread_setcancelstate(state, NULL);
	return used;
}

/* See <rdma/rdma_cmx.h>. */
CMX_EXPORT int rdmax_get_cm_events(struct rdma_event_channel *channel,
				   struct rdma_cm_event **events, int max)
{
	struct cmx_channel *own;

	if (!channel || !events || max <= 0)
		return cmx_error(EINVAL);
	own = cmx_channel_of(channel);
	if (!cmx_channel_is_ours(own))
		return cmx_error(EXDEV);
	return get_events(own, events,
			  max < BATCH_EVENTS ? max : BATCH_EVENTS);
}

/*
 * How many of the first ones were read from one channel, and can be acked.  Whoever
 * wanted to adopt their ids has done so.
 */
static int put_acks(struct rdma_cm_event **events, int n,
		    struct rdma_ucmx_ack *acks)
{
	const struct cmx_channel *channel = cmx_event_of(events[0])->channel;
	const struct cmx_event *event;
	int i;

	for (i = 0; i < n && i < BATCH_EVENTS && events[i]; i++) {
		event = cmx_event_of(events[i]);
		if (!channel || event->channel != channel || !event->seq)
			break;
		if (!event->event.id)
			cmx_adopt_none(event);
		acks[i].id = event->handle;
		acks[i].reserved = 0;
		acks[i].seq = event->seq;
	}
	return i;
}

/* What the next call of rdmax_get_cm_events() can use is kept for that. */
static void free_events(struct rdma_cm_event **events, int n)
{
	struct cmx_batch *batch = batch_take();
	struct cmx_event *event;
	int i;

	for (i = 0; i < n; i++) {
		event = cmx_event_of(events[i]);
		if (batch && batch->num_events < BATCH_EVENTS) {
			cmx_event_release(event);
			cmx_event_clear(event);
			batch->events[batch->num_events++] = event;
		} else {
			cmx_event_free(event);
		}
	}
	batch_give(batch);
}

/*
 * Acknowledge some of the first ones, at least one, and free them.  On the
 * channel where they were read, which has their ids while they are unacknowledged.
 * What is refused there goes the long way; that its id is gone is no error.
 */
static int ack_some(struct rdma_cm_event **events, int n)
{
	struct cmx_channel *channel = cmx_event_of(events[0])->channel;
	struct rdma_ucmx_ack acks[BATCH_EVENTS];
	struct rdma_ucmx_ack_events command = {
		.size = sizeof(command),
		.count = put_acks(events, n, acks),
		.acks = (uintptr_t)acks,
	};
	int taken = 0;

	if (command.count && cmx_channel_use(channel)) {
		taken = cmx_sys_command(channel->fd, RDMA_UCMX_ACK_EVENTS,
					&command);
		cmx_channel_unuse(channel);
	}
	if (taken <= 0) {
		rdma_ack_cm_event(events[0]);
		return 1;
	}
	free_events(events, taken);
	return taken;
}

/* See <rdma/rdma_cmx.h>. */
CMX_EXPORT int rdmax_ack_cm_events(struct rdma_cm_event **events, int n)
{
	int done = 0;

	if (n < 0 || (n && (!events || !events[0])))
		return cmx_error(EINVAL);
	while (done < n && events[done])
		done += ack_some(events + done, n - done);
	return done;
}

/**
 * cmx_batches_hold - have nobody change the batches that are kept, before a fork
 */
void cmx_batches_hold(void)
{
	pthread_mutex_lock(&batch_lock);
}

/**
 * cmx_batches_release - end that
 */
void cmx_batches_release(void)
{
	pthread_mutex_unlock(&batch_lock);
}

/* See <rdma/rdma_cmx.h>. */
CMX_EXPORT int rdmax_ack_id_events(struct rdma_cm_id *id)
{
	struct rdma_ucmx_ack all = { 0 };
	struct rdma_ucmx_ack_events command = {
		.size = sizeof(command),
		.count = 1,
		.acks = (uintptr_t)&all,
	};
	struct cmx_id *own;

	if (!id)
		return cmx_error(EINVAL);
	own = cmx_id_of(id);
	if (!cmx_table_has(own))
		return cmx_error(EXDEV);
	all.id = atomic_load(&own->handle);
	return cmx_id_command(own, RDMA_UCMX_ACK_EVENTS, &command) < 0 ? -1 : 0;
}
