// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Everything that is printed: sentences, and a table of how things are.  On a
 * terminal the table stays below the sentences and is drawn anew all the
 * time; elsewhere a line now and then stands for it, and it is printed when
 * an act is over.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "demo.h"

enum { LIVE_INTERVAL = 200, LINE_INTERVAL = 2000 /* ms */ };

/* Taken before ledger.lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int lines;	/* of the table that is on the terminal */
static bool closed;
static uint64_t last_line;

/* How things are, added up; the caller holds ledger.lock. */
struct sums {
	unsigned int sent, unread, open, closed, unacknowledged, waiting;
	uint64_t oldest;
	unsigned int ids[READERS];
};

static void add_end(struct sums *sums, const struct end *end)
{
	unsigned int i;

	for (i = 0; i < READERS; i++)
		sums->ids[i] += end->owner == reader_number(i);
	if (!end->target)
		return;
	sums->waiting++;
	if (!sums->oldest || end->moving_since < sums->oldest)
		sums->oldest = end->moving_since;
}

static struct sums add_up(void)
{
	struct sums sums = { 0 };
	unsigned int i;

	add_end(&sums, &ledger.listener);
	for (i = 0; i < ledger.count; i++) {
		const struct connection *connection = &ledger.connections[i];
		const unsigned int *seen = connection->seen;

		add_end(&sums, &connection->server);
		add_end(&sums, &connection->client);
		sums.sent += connection->sent;
		sums.unread += connection->sent && !seen[SERVER_REQUEST];
		sums.closed += seen[SERVER_DISCONNECTED] &&
			       seen[CLIENT_DISCONNECTED];
		sums.open += seen[SERVER_ESTABLISHED] &&
			     seen[CLIENT_ESTABLISHED];
	}
	for (i = 0; i < READERS; i++)
		sums.unacknowledged += reader_number(i)->unacknowledged;
	return sums;
}

static void print_numbers(const struct sums *sums)
{
	unsigned int i;

	for (i = 0; i < READERS - 1; i++)
		printf(" %10u", sums->ids[i]);
	printf("\n  events read  ");
	for (i = 0; i < READERS - 1; i++)
		printf(" %10u", reader_number(i)->events);
	printf("\n  not yet ack'd");
	for (i = 0; i < READERS - 1; i++)
		printf(" %10u", reader_number(i)->unacknowledged);
	printf("\n  its thread   ");
	for (i = 0; i < READERS - 1; i++)
		printf(" %10s", reader_number(i)->doing ?: "reads");
	printf("\n");
}

/* As many lines as it returns. */
static unsigned int print_table(void)
{
	struct sums sums;
	unsigned int i;

	pthread_mutex_lock(&ledger.lock);
	sums = add_up();
	printf("  ---------------------------------------------------------------------\n");
	printf("  connections     %4u opened, %u of them closed again, of %u\n",
	       sums.open, sums.closed, ledger.count);
	printf("  requests        %4u sent, %u of them not yet read by anybody\n",
	       sums.sent, sums.unread);
	printf("  migrations      %4u done, the longest waited %.2f s\n",
	       ledger.migrations, ledger.longest / 1e9);
	printf("  migrations now  %4u waiting for an acknowledgement", sums.waiting);
	if (sums.waiting)
		printf(", for %.1f s so far", (now() - sums.oldest) / 1e9);
	printf("\n\n  channel      ");
	for (i = 0; i < READERS - 1; i++)
		printf(" %10s", reader_number(i)->name);
	printf("\n  ids it owns  ");
	print_numbers(&sums);
	pthread_mutex_unlock(&ledger.lock);
	printf("  ---------------------------------------------------------------------\n");
	return 12;
}

static void print_line(void)
{
	struct sums sums;

	pthread_mutex_lock(&ledger.lock);
	sums = add_up();
	printf("   ... %u of %u connections open; not yet read: %u requests;",
	       sums.open - sums.closed, ledger.count, sums.unread);
	printf("\n       not yet acknowledged: %u events; migrations: %u done",
	       sums.unacknowledged, ledger.migrations);
	if (sums.waiting)
		printf(", %u waiting for %.1f s", sums.waiting,
		       (now() - sums.oldest) / 1e9);
	printf("\n");
	pthread_mutex_unlock(&ledger.lock);
}

/* The cursor goes up to where the table began, and all below is erased. */
static void erase_table(void)
{
	if (lines)
		printf("\033[%uA\033[J", lines);
	lines = 0;
}

static void print(const char *format, va_list args)
{
	pthread_mutex_lock(&lock);
	erase_table();
	vprintf(format, args);
	if (options.live && !closed)
		lines = print_table();
	fflush(stdout);
	last_line = now();
	pthread_mutex_unlock(&lock);
}

/**
 * say - print, above the table if there is one
 */
void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print(format, args);
	va_end(args);
}

/**
 * die - say why the program cannot go on, and end it
 */
void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "migrate_demo: ");
	vfprintf(stderr, format, args);
	fprintf(stderr, "\n");
	va_end(args);
	_exit(2);
}

/**
 * screen_show - print the table where it does not stand anyway
 */
void screen_show(void)
{
	if (options.live)
		return;
	pthread_mutex_lock(&lock);
	print_table();
	fflush(stdout);
	pthread_mutex_unlock(&lock);
}

static void *draw(void *unused)
{
	bool end;

	(void)unused;
	do {
		ledger_pause(LIVE_INTERVAL);
		pthread_mutex_lock(&lock);
		end = closed;
		if (!end && options.live) {
			erase_table();
			lines = print_table();
		} else if (!end && now() > last_line + LINE_INTERVAL * 1000000ULL) {
			print_line();
			last_line = now();
		}
		fflush(stdout);
		pthread_mutex_unlock(&lock);
	} while (!end);
	return NULL;
}

/**
 * screen_open - begin to show how things are
 */
void screen_open(void)
{
	pthread_t thread;

	last_line = now();
	if (pthread_create(&thread, NULL, draw, NULL))
		die("no thread");
	pthread_detach(thread);
}

/**
 * screen_close - draw the table for the last time, if there is one
 */
void screen_close(void)
{
	pthread_mutex_lock(&lock);
	erase_table();
	if (options.live)
		print_table();
	closed = true;
	pthread_mutex_unlock(&lock);
}
