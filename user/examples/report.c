// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The account: what was expected, what came, and whether it adds up.  Called
 * when nothing happens any more.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "demo.h"

static const char *const kinds[EVENT_KINDS] = {
	[SERVER_REQUEST] = "CONNECT_REQUEST at the server",
	[SERVER_ESTABLISHED] = "ESTABLISHED at the server",
	[SERVER_DISCONNECTED] = "DISCONNECTED at the server",
	[CLIENT_ADDRESS] = "ADDR_RESOLVED at the client",
	[CLIENT_ROUTE] = "ROUTE_RESOLVED at the client",
	[CLIENT_ESTABLISHED] = "ESTABLISHED at the client",
	[CLIENT_DISCONNECTED] = "DISCONNECTED at the client",
};

static unsigned int lost, doubled, complete, messages;

static void count_kind(enum event_kind kind)
{
	unsigned int i, once = 0, never = 0;

	for (i = 0; i < ledger.count; i++) {
		unsigned int seen = ledger.connections[i].seen[kind];

		once += seen == 1;
		never += !seen;
	}
	lost += never;
	doubled += ledger.count - once - never;
	say("  %-32s %8u %8u %8u %8u\n", kinds[kind], ledger.count, once, never,
	    ledger.count - once - never);
}

static void count_connections(void)
{
	unsigned int i, kind;

	for (i = 0; i < ledger.count; i++) {
		const struct connection *connection = &ledger.connections[i];
		bool all = connection->message;

		messages += connection->message;
		for (kind = 0; kind < EVENT_KINDS; kind++)
			all = all && connection->seen[kind] == 1;
		complete += all;
	}
}

/* One row of the result, for people and, apart, for a comparison. */
static void row(FILE *file, const char *name, const char *format, double value)
{
	char text[32];

	snprintf(text, sizeof(text), format, value);
	say("  %-56s %8s\n", name, text);
	if (file)
		fprintf(file, "%s\t%s\n", name, text);
}

static void print_rows(FILE *file)
{
	row(file, "connections", "%.0f", ledger.count);
	row(file, "  that worked from beginning to end", "%.0f", complete);
	row(file, "  whose message arrived", "%.0f", messages);
	row(file, "events expected", "%.0f", ledger.count * EVENT_KINDS);
	row(file, "  never read", "%.0f", lost);
	row(file, "  read more than once", "%.0f", doubled);
	row(file, "  read on a channel that did not own the id", "%.0f",
	    ledger.misplaced);
	row(file, "  read while another thread handled one of the same id",
	    "%.0f", ledger.overtaken);
	row(file, "  out of order, or not expected at all", "%.0f",
	    ledger.disordered + ledger.unexpected);
	row(file, "  whose reader was not woken", "%.0f",
	    ledger.late);
	row(file, "  the longest that one of these lay unread (seconds)", "%.1f",
	    ledger.latest / 1e9);
	row(file, "migrations", "%.0f", ledger.migrations + ledger.stuck);
	row(file, "  of the listener", "%.0f", ledger.listener_migrations);
	row(file, "  the longest waited (seconds)", "%.2f",
	    ledger.longest / 1e9);
	row(file, "  that returned while an event was not acknowledged", "%.0f",
	    ledger.early);
	row(file, "  that never returned", "%.0f", ledger.stuck);
	row(file, "ids whose destruction never returned", "%.0f",
	    ledger.undestroyed);
	row(file, "calls that failed", "%.0f", ledger.failed);
}

/**
 * report - print the account
 *
 * Returns whether every expected event was read exactly once, in its place
 * and order, and every call has returned.  Whether a reader was woken in time
 * is told but does not count here: it is a matter of time.
 */
bool report(void)
{
	FILE *file = NULL;
	unsigned int kind;

	if (options.result) {
		file = fopen(options.result, "w");
		if (!file)
			die("%s: %s", options.result, strerror(errno));
		fprintf(file, "%s\n", basename(options.library));
	}
	say("\nThe account.  For every connection:\n\n"
	    "  %-32s %8s %8s %8s %8s\n", "event", "expected", "once", "never",
	    "more");
	for (kind = 0; kind < EVENT_KINDS; kind++)
		count_kind(kind);
	count_connections();
	say("\n");
	print_rows(file);
	if (file && fclose(file))
		die("%s: %s", options.result, strerror(errno));
	if (ledger.failed)
		say("  (the first failure: %s)\n", ledger.failure);
	return complete == ledger.count && !ledger.misplaced &&
	       !ledger.overtaken && !ledger.early && !ledger.disordered &&
	       !ledger.unexpected && !ledger.failed && !ledger.stuck && !ledger.undestroyed;
}
