// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * An event channel and the thread that reads it.
 *
 * The thread sleeps, without a time-out, until its channel is readable or the
 * program wants something of it.  So nothing but a proper wake-up brings an
 * event to it; only when nothing happens any more does the program tell it to
 * look for itself, and what it finds then is counted as late.
 *
 * The channel does not block: a channel that says it is readable may have
 * nothing to read, because the event was migrated away meanwhile or got lost.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "demo.h"

struct reader acceptor, workers[WORKERS], clients;

/**
 * reader_number - all readers, one after the other
 * @i: 0 to READERS - 1
 */
struct reader *reader_number(unsigned int i)
{
	if (!i)
		return &acceptor;
	return i <= WORKERS ? &workers[i - 1] : &clients;
}

static void look(struct reader *reader)
{
	struct pollfd fds[2] = {
		{ .fd = reader->channel->fd, .events = POLLIN },
		{ .fd = reader->nudge, .events = POLLIN },
	};
	uint64_t count;

	if (poll(fds, 2, -1) < 0 && errno != EINTR)
		die("poll: %s", strerror(errno));
	reader->nudged = fds[0].revents && fds[1].revents;
	if (fds[1].revents && read(reader->nudge, &count, sizeof(count)) < 0)
		die("read: %s", strerror(errno));
}

/* Returns false when it is time to end. */
static bool wait_while_busy(struct reader *reader)
{
	bool stop;

	pthread_mutex_lock(&ledger.lock);
	while (reader->busy && !reader->stop)
		pthread_cond_wait(&ledger.changed, &ledger.lock);
	stop = reader->stop;
	pthread_mutex_unlock(&ledger.lock);
	return !stop;
}

static void *read_events(void *arg)
{
	struct reader *reader = arg;

	do {
		reader->drain(reader);
		reader->nudged = false;
		look(reader);
	} while (wait_while_busy(reader));
	pthread_mutex_lock(&ledger.lock);
	reader->ended = true;
	pthread_cond_broadcast(&ledger.changed);
	pthread_mutex_unlock(&ledger.lock);
	return NULL;
}

static void open_reader(struct reader *reader, const char *name,
			void (*drain)(struct reader *))
{
	reader->name = name;
	reader->drain = drain;
	reader->channel = rdma_create_event_channel();
	if (!reader->channel)
		die("no event channel: %s (is the module loaded?)",
		    strerror(errno));
	reader->nudge = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (reader->nudge < 0 ||
	    fcntl(reader->channel->fd, F_SETFL, O_NONBLOCK) < 0 ||
	    pthread_create(&reader->thread, NULL, read_events, reader))
		die("no reader: %s", strerror(errno));
}

/**
 * readers_open - open the channels and start reading them
 */
void readers_open(void)
{
	static const char *const names[READERS] = {
		"acceptor", "worker 1", "worker 2", "worker 3", "worker 4",
		"clients",
	};
	unsigned int i;

	for (i = 0; i < READERS; i++) {
		reader_number(i)->index = i;
		open_reader(reader_number(i), names[i],
			    i < READERS - 1 ? server_drain : client_drain);
	}
}

/**
 * reader_next - the next event, if there is one and the reader may read it
 */
struct rdma_cm_event *reader_next(struct reader *reader)
{
	struct rdma_cm_event *event;

	if (!wait_while_busy(reader))
		return NULL;
	if (!rdma_get_cm_event(reader->channel, &event))
		return event;
	if (errno != EAGAIN && errno != EINTR)
		ledger_failed("rdma_get_cm_event");
	return NULL;
}

/**
 * reader_acknowledge - give back an event that was entered into the ledger
 */
void reader_acknowledge(struct reader *reader, struct end *end,
			struct rdma_cm_event *event)
{
	ledger_acknowledge(reader, end);
	rdma_ack_cm_event(event);
}

/**
 * reader_set_busy - have a reader not read, so that events queue up
 */
void reader_set_busy(struct reader *reader, bool busy)
{
	pthread_mutex_lock(&ledger.lock);
	reader->busy = busy;
	reader->doing = busy ? "busy" : NULL;
	pthread_cond_broadcast(&ledger.changed);
	pthread_mutex_unlock(&ledger.lock);
}

/**
 * reader_nudge - have a reader look at its channel
 */
void reader_nudge(struct reader *reader)
{
	uint64_t one = 1;

	if (write(reader->nudge, &one, sizeof(one)) < 0)
		die("write: %s", strerror(errno));
}

/**
 * readers_nudge - have all readers look at their channels
 *
 * Under ledger.lock.  A reader that is not to read finds its events later,
 * and rightly so.
 */
void readers_nudge(void)
{
	unsigned int i;

	for (i = 0; i < READERS; i++) {
		if (!reader_number(i)->busy)
			reader_nudge(reader_number(i));
	}
}

static bool all_ended(const void *unused)
{
	unsigned int i;

	(void)unused;
	for (i = 0; i < READERS && reader_number(i)->ended; i++)
		;
	return i == READERS;
}

/**
 * readers_close - stop reading
 *
 * Returns false if a reader did not end.
 */
bool readers_close(void)
{
	unsigned int i;

	pthread_mutex_lock(&ledger.lock);
	for (i = 0; i < READERS; i++) {
		reader_number(i)->stop = true;
		reader_nudge(reader_number(i));
	}
	pthread_cond_broadcast(&ledger.changed);
	pthread_mutex_unlock(&ledger.lock);
	return ledger_wait(all_ended, NULL);
}
