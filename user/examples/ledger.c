// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The ledger: who owns which id, and which event was read where.
 *
 * It is the program's own, kept beside the library and not asked from it, so
 * that it can find both wrong.  It is exact although it is written only
 * before a migration is called, after it has returned, and when an event has
 * been read: an event is entered before it is acknowledged, and a migration
 * does not return before that.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demo.h"

struct ledger ledger = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.changed = PTHREAD_COND_INITIALIZER,
};

void ledger_open(unsigned int connections)
{
	unsigned int i;

	ledger.count = connections;
	ledger.connections = calloc(connections, sizeof(*ledger.connections));
	if (!ledger.connections)
		die("out of memory");
	for (i = 0; i < connections; i++) {
		struct connection *connection = &ledger.connections[i];

		connection->number = i;
		connection->client.connection = connection;
		connection->server.connection = connection;
		connection->home = &workers[i % WORKERS];
	}
}

static void changed(void)
{
	ledger.progress++;
	pthread_cond_broadcast(&ledger.changed);
}

/* Until a migration has returned, its id may be on either side; but once it
 * was seen on the target, it is there.
 */
static bool in_place(const struct reader *reader, struct end *end)
{
	if (!end->target)
		return reader == end->owner;
	if (reader == end->target)
		end->arrived = true;
	return end->arrived ? reader == end->target : reader == end->owner;
}

static bool in_order(const struct connection *connection, enum event_kind kind)
{
	return kind == SERVER_REQUEST || kind == CLIENT_ADDRESS ||
	       connection->seen[kind - 1];
}

static void note_late(const struct reader *reader, const struct end *end)
{
	uint64_t late = now() - end->moved;

	if (!reader->nudged)
		return;
	ledger.late++;
	if (end->moved && late > ledger.latest)
		ledger.latest = late;
}

/**
 * ledger_held - how many events of an id were read and not yet acknowledged
 *
 * Under ledger.lock.
 */
unsigned int ledger_held(const struct end *end)
{
	unsigned int i, held = 0;

	for (i = 0; i < READERS; i++)
		held += end->held[i];
	return held;
}

/**
 * ledger_read - enter an event that was read
 * @reader: who read it
 * @end: whose event it is; of a request it is the listener
 * @connection: what it tells about
 * @kind: what it tells
 * @event: the event
 */
void ledger_read(struct reader *reader, struct end *end,
		 struct connection *connection, enum event_kind kind,
		 const struct rdma_cm_event *event)
{
	pthread_mutex_lock(&ledger.lock);
	/* The field is what a program goes by, so it must be true as well. */
	if (!in_place(reader, end) || event->id->channel != reader->channel)
		ledger.misplaced++;
	if (ledger_held(end) > end->held[reader->index])
		ledger.overtaken++;
	if (!in_order(connection, kind))
		ledger.disordered++;
	note_late(reader, end);
	connection->seen[kind]++;
	end->held[reader->index]++;
	reader->events++;
	reader->unacknowledged++;
	if (kind == SERVER_REQUEST) {
		connection->server.id = event->id;
		connection->server.owner = reader;
	}
	changed();
	pthread_mutex_unlock(&ledger.lock);
}

/**
 * ledger_unexpected - enter an event that should not have come
 */
void ledger_unexpected(struct reader *reader, const struct rdma_cm_event *event)
{
	pthread_mutex_lock(&ledger.lock);
	if (!ledger.failed++)
		snprintf(ledger.failure, sizeof(ledger.failure),
			 "%s came, status %d", rdma_event_str(event->event),
			 event->status);
	ledger.unexpected++;
	reader->events++;
	changed();
	pthread_mutex_unlock(&ledger.lock);
}

/**
 * ledger_acknowledge - an event that was entered is about to be acknowledged
 */
void ledger_acknowledge(struct reader *reader, struct end *end)
{
	pthread_mutex_lock(&ledger.lock);
	end->held[reader->index]--;
	reader->unacknowledged--;
	changed();
	pthread_mutex_unlock(&ledger.lock);
}

/**
 * ledger_sent - a client is about to send its request
 */
void ledger_sent(struct connection *connection)
{
	pthread_mutex_lock(&ledger.lock);
	connection->sent = true;
	changed();
	pthread_mutex_unlock(&ledger.lock);
}

/**
 * ledger_failed - a call has failed that should not have
 * @call: its name; errno says why
 */
void ledger_failed(const char *call)
{
	int error = errno;

	pthread_mutex_lock(&ledger.lock);
	if (!ledger.failed++)
		snprintf(ledger.failure, sizeof(ledger.failure), "%s: %s", call,
			 strerror(error));
	pthread_mutex_unlock(&ledger.lock);
}

/**
 * ledger_move_begin - a migration is about to be called
 */
void ledger_move_begin(struct end *end, struct reader *target)
{
	pthread_mutex_lock(&ledger.lock);
	end->target = target;
	end->arrived = false;
	end->moving_since = now();
	changed();
	pthread_mutex_unlock(&ledger.lock);
}

/**
 * ledger_move_end - a migration has returned
 * @end: what was to be moved
 * @error: 0, or why it was not
 */
void ledger_move_end(struct end *end, int error)
{
	pthread_mutex_lock(&ledger.lock);
	end->moved = now();
	end->took = end->moved - end->moving_since;
	if (end->took > ledger.longest)
		ledger.longest = end->took;
	if (!error) {
		end->early = end->held[end->owner->index];
		ledger.early += end->early;
		end->owner = end->target;
	}
	end->target = NULL;
	ledger.migrations++;
	if (end == &ledger.listener)
		ledger.listener_migrations++;
	changed();
	pthread_mutex_unlock(&ledger.lock);
}

static void wait_a_moment(void)
{
	uint64_t end = now() + 100000000;
	struct timespec time = {
		.tv_sec = end / 1000000000,
		.tv_nsec = end % 1000000000,
	};

	pthread_cond_clockwait(&ledger.changed, &ledger.lock, CLOCK_MONOTONIC,
			       &time);
}

/**
 * ledger_wait - wait until something has happened, or nothing does any more
 * @done: called under the lock
 * @what: passed to it
 *
 * After two seconds in which nothing happened all readers are told to look at
 * their channels; what they find then was there without their being woken.
 *
 * Returns false if the program's patience ran out.
 */
bool ledger_wait(bool (*done)(const void *), const void *what)
{
	uint64_t since = now(), nudge = since + 2000000000;
	unsigned int progress;
	bool is_done;

	pthread_mutex_lock(&ledger.lock);
	progress = ledger.progress;
	while (!(is_done = done(what))) {
		wait_a_moment();
		if (ledger.progress != progress) {
			progress = ledger.progress;
			since = now();
			nudge = since + 2000000000;
		} else if (now() >= since + options.patience * 1000000ULL) {
			break;
		} else if (now() >= nudge) {
			nudge += 1000000000;
			readers_nudge();
		}
	}
	pthread_mutex_unlock(&ledger.lock);
	return is_done;
}

/**
 * ledger_pause - let time pass
 * @ms: how much
 */
void ledger_pause(unsigned int ms)
{
	struct timespec time = {
		.tv_sec = ms / 1000,
		.tv_nsec = ms % 1000 * 1000000,
	};

	nanosleep(&time, NULL);
}
