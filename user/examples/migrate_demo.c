// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * migrate_demo - rdma_migrate_id() under the conditions that matter.
 *
 * A server with an acceptor and four workers, each a thread with an event
 * channel of its own, and clients that connect to it, in one process over one
 * RDMA device.  Ids are migrated between the server's channels while events
 * are pending, while requests are queued and while an event is unacknowledged;
 * the program keeps a ledger and accounts for every event in the end.
 *
 * It uses the public interface of librdmacm only, so that it runs over
 * librdmacm and over librdmacmx, and waits for nothing without a limit, so
 * that it comes to an end over either.
 */
#include <dlfcn.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "demo.h"

struct options options = {
	.address = "192.0.2.1",
	.connections = 200,
	.hold = 2000,
	.patience = 5000,
};

/* Some of the connections, by number. */
struct range {
	unsigned int from, to;
};

enum { SETTLE = 500 /* ms */ };
/* How often the listener is moved to and fro, at least and at most. */
enum { MIN_MOVES = 20, MAX_MOVES = 100 };

static void usage(FILE *file)
{
	fprintf(file,
		"usage: migrate_demo [options]\n"
		"\n"
		"Migrates ids between the event channels of an acceptor and four workers,\n"
		"and accounts for every event of every connection.\n"
		"\n"
		"  -a, --address IP      address of an RDMA device of this machine (%s)\n"
		"  -n, --connections N   how many, 20 to 1000 (%u)\n"
		"      --hold MS         how long a worker sits on an event (%u)\n"
		"      --patience MS     give up when nothing has happened for so long (%u)\n"
		"      --live, --plain   redraw the table in place, or print it now and\n"
		"                        then (as standard output is a terminal or not)\n"
		"      --result FILE     write the account for migrate_demo_compare\n"
		"  -h, --help            this text\n"
		"\n"
		"Exit status: 0 if the account is complete, 1 if not, 2 if the demo could\n"
		"not begin.\n",
		options.address, options.connections, options.hold,
		options.patience);
}

static unsigned int number(const char *text, unsigned int min, unsigned int max)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (!*text || *end || value < min || value > max)
		die("%s: a number from %u to %u is wanted", text, min, max);
	return value;
}

static void parse(int argc, char **argv)
{
	static const struct option list[] = {
		{ "address", required_argument, NULL, 'a' },
		{ "connections", required_argument, NULL, 'n' },
		{ "hold", required_argument, NULL, 'o' },
		{ "patience", required_argument, NULL, 'p' },
		{ "live", no_argument, NULL, 'l' },
		{ "plain", no_argument, NULL, 'b' },
		{ "result", required_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	options.live = isatty(STDOUT_FILENO);
	while ((option = getopt_long(argc, argv, "a:n:h", list, NULL)) != -1) {
		switch (option) {
		case 'a': options.address = optarg; break;
		case 'n': options.connections = number(optarg, 20, 1000); break;
		case 'o': options.hold = number(optarg, 1, 60000); break;
		case 'p': options.patience = number(optarg, 1000, 600000); break;
		case 'l': options.live = true; break;
		case 'b': options.live = false; break;
		case 'r': options.result = optarg; break;
		case 'h': usage(stdout); exit(0);
		default: usage(stderr); exit(2);
		}
	}
	if (optind < argc)
		die("%s is not an option; see --help", argv[optind]);
}

/* Which library and which device this is, whatever the program was linked
 * with.
 */
static void introduce(void)
{
	char link[32], device[64] = "?", *library;
	ssize_t length;
	Dl_info info;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", acceptor.channel->fd);
	length = readlink(link, device, sizeof(device) - 1);
	if (length > 0)
		device[length] = 0;
	library = dladdr((void *)rdma_migrate_id, &info) ?
			realpath(info.dli_fname, NULL) : NULL;
	options.library = library ?: "unknown";
	say("migrate_demo: %u connections over RDMA device %s (%s)\n"
	    "  library  %s\n"
	    "  channels %s\n\n",
	    ledger.count, ibv_get_device_name(ledger.listener.id->verbs->device),
	    options.address, options.library, device);
	say("A server has an acceptor and four workers.  Each is a thread with an event\n"
	    "channel of its own, and sleeps until its channel has an event for it.  A\n"
	    "connection at the server is an \"id\", and an id belongs to one channel at a\n"
	    "time.  rdma_migrate_id() hands an id, with all that nobody has read of it,\n"
	    "to another channel.  The listener, which brings the connection requests, is\n"
	    "an id too.\n");
}

static bool is_connected(const struct connection *connection)
{
	return connection->seen[SERVER_ESTABLISHED] &&
	       connection->seen[CLIENT_ESTABLISHED];
}

/* Nothing of it is in anybody's hands. */
static bool is_idle(const struct connection *connection)
{
	return !connection->server.target && !ledger_held(&connection->server) &&
	       !ledger_held(&connection->client);
}

/* A predicate for ledger_wait(): what must be true of every connection. */
#define DEFINE_ALL(name, condition)                                            \
	static bool name(const void *what)                                     \
	{                                                                      \
		const struct range *range = what;                              \
		unsigned int i;                                                \
									       \
		for (i = range->from; i < range->to; i++) {                    \
			const struct connection *it = &ledger.connections[i];  \
									       \
			if (!(condition))                                      \
				return false;                                  \
		}                                                              \
		return true;                                                   \
	}

DEFINE_ALL(all_sent, it->sent)
DEFINE_ALL(all_read, it->seen[SERVER_REQUEST])
DEFINE_ALL(all_at_home, is_connected(it) && it->server.owner == it->home &&
			is_idle(it))
DEFINE_ALL(all_answered, it->seen[CLIENT_ESTABLISHED] &&
			 it->server.owner == it->home && !it->server.target)
/* Of those that ever were connected; the others are lost anyway. */
DEFINE_ALL(all_disconnected, !is_connected(it) ||
			     (it->seen[SERVER_DISCONNECTED] &&
			      it->seen[CLIENT_DISCONNECTED] && is_idle(it)))

static bool is_slow_one_held(const void *what)
{
	return server_is_sitting() && all_answered(what);
}

static unsigned int count_connected(const struct range *range)
{
	unsigned int i, count = 0;

	pthread_mutex_lock(&ledger.lock);
	for (i = range->from; i < range->to; i++)
		count += is_connected(&ledger.connections[i]);
	pthread_mutex_unlock(&ledger.lock);
	return count;
}

static void tell_connected(const struct range *range)
{
	unsigned int count = count_connected(range), all = range->to - range->from;

	say("   => %u of %u connected%s\n", count, all,
	    count == all ? "." : ": THE OTHERS ARE LOST.");
	screen_show();
}

/* Accepted ids go to the workers with an event that nobody has read. */
static void hand_out(const struct range *range)
{
	say("\n1. %u clients connect.  The acceptor accepts each and migrates it to a worker,\n"
	    "   with its next event, ESTABLISHED, still unread: the event must go along,\n"
	    "   and wake the worker.\n",
	    range->to - range->from);
	client_open(range->from, range->to);
	ledger_wait(all_at_home, range);
	tell_connected(range);
}

/* All ids of the range but the first, whose event a worker holds. */
static unsigned int move_the_others(const struct range *range,
				    struct reader *target)
{
	unsigned int i, moved = 0;

	for (i = range->from + 1; i < range->to; i++)
		moved += move(&ledger.connections[i].server, target);
	return moved;
}

static void move_held(const struct range *range)
{
	struct end *held = &ledger.connections[range->from].server;
	uint64_t begin = now();
	struct task *task;
	unsigned int moved;

	task = move_start(held, &workers[2]);
	moved = move_the_others(range, &workers[2]);
	say("   %u others have moved after %.2f s, the one that is held has not.\n",
	    moved, (now() - begin) / 1e9);
	/* Nobody may find an event of it now, not even one who looks. */
	ledger_pause(options.hold / 2);
	reader_nudge(&workers[2]);
	ledger_pause(options.hold - options.hold / 2);
	server_let_go();
	if (!move_finish(held, task))
		say("   => ITS MIGRATION FAILED, or did not return.\n");
	else if (held->early)
		say("   => its migration returned after %.2f s, ALTHOUGH WORKER 2 WAS NOT THROUGH.\n",
		    held->took / 1e9);
	else
		say("   => its migration returned after %.2f s, when worker 2 was through.\n",
		    held->took / 1e9);
}

/* One worker sits on an unacknowledged event, others are pending behind it. */
static void sit_on_an_event(const struct range *range)
{
	unsigned int i, count = range->to - range->from;

	say("\n2. %u more clients, all for worker 2, who reads the first one's ESTABLISHED and\n"
	    "   sits on it for %.1f s, not acknowledging it.  Meanwhile the clients hang up,\n"
	    "   and all %u ids are migrated to worker 3, each with its unread events.  Only\n"
	    "   the one whose event is being handled has to wait, and worker 3 must not see\n"
	    "   its DISCONNECTED while worker 2 is not through with its ESTABLISHED.\n",
	    count, options.hold / 1e3, count);
	for (i = range->from; i < range->to; i++)
		ledger.connections[i].home = &workers[1];
	ledger.connections[range->from].slow = true;
	client_open(range->from, range->to);
	if (!ledger_wait(is_slow_one_held, range))
		say("   Worker 2 has not got that event.\n");
	ledger_pause(SETTLE);
	server_take_messages();
	client_disconnect(range->from, range->to);
	ledger_pause(SETTLE);
	move_held(range);
	ledger_wait(all_disconnected, range);
	tell_connected(range);
}

/* The listener goes with the requests that are queued on it. */
static void move_the_listener(const struct range *range)
{
	bool ok;

	say("\n3. The acceptor is busy and reads nothing.  %u clients connect: their requests\n"
	    "   queue up at the listener.  The listener is migrated to worker 1, who sleeps:\n"
	    "   it must wake up, find all the requests and accept them.\n",
	    range->to - range->from);
	reader_set_busy(&acceptor, true);
	client_open(range->from, range->to);
	ledger_wait(all_sent, range);
	/* They have been sent; now they arrive. */
	ledger_pause(SETTLE);
	screen_show();
	ok = move(&ledger.listener, &workers[0]);
	reader_set_busy(&acceptor, false);
	if (!ok)
		say("   => THE MIGRATION FAILED, or did not return.\n");
	ledger_wait(all_at_home, range);
	tell_connected(range);
}

static bool move_to_and_fro(const struct range *range)
{
	unsigned int moves;
	bool all = false;

	for (moves = 0; moves < MIN_MOVES || (!all && moves < MAX_MOVES); moves++) {
		if (!move(&ledger.listener, moves % 2 ? &workers[0] : &acceptor))
			return false;
		ledger_pause(10);
		pthread_mutex_lock(&ledger.lock);
		all = all_read(range);
		pthread_mutex_unlock(&ledger.lock);
	}
	return true;
}

/* Requests arrive while the listener is on its way. */
static void keep_moving_the_listener(const struct range *range)
{
	say("\n4. The last %u clients connect while the listener is migrated from worker 1 to\n"
	    "   the acceptor and back, time and again.  Whoever has it accepts.\n",
	    range->to - range->from);
	client_open(range->from, range->to);
	if (!move_to_and_fro(range))
		say("   => A MIGRATION OF THE LISTENER FAILED, or did not return.  It stays.\n");
	ledger_wait(all_at_home, range);
	tell_connected(range);
}

/* A worker leaves, and with its ids go the events that it has not read. */
static void say_goodbye(const struct range *range)
{
	struct reader *leaving = &workers[3];
	unsigned int i, count = 0, moved = 0;

	say("\n5. Worker 4 stops reading, and all clients hang up.  Worker 4's ids are migrated\n"
	    "   to worker 1, with the DISCONNECTED that each of them has got.\n");
	server_take_messages();
	reader_set_busy(leaving, true);
	client_disconnect(range->from, range->to);
	ledger_pause(3 * SETTLE);
	for (i = range->from; i < range->to; i++) {
		struct end *end = &ledger.connections[i].server;

		if (end->owner != leaving || end->target)
			continue;
		count++;
		moved += move(end, &workers[0]);
	}
	reader_set_busy(leaving, false);
	say("   => %u of its %u ids have moved.\n", moved, count);
	ledger_wait(all_disconnected, range);
	screen_show();
}

/* Clients first: what the server still knows of them goes with them. */
static bool destroy_all(void)
{
	bool ok = true;
	unsigned int i;

	for (i = 0; i < ledger.count; i++)
		ok &= destroy(&ledger.connections[i].client);
	for (i = 0; i < ledger.count; i++)
		ok &= destroy(&ledger.connections[i].server);
	return destroy(&ledger.listener) && ok;
}

static void close_channels(void)
{
	unsigned int i;

	for (i = 0; i < READERS; i++)
		rdma_destroy_event_channel(reader_number(i)->channel);
}

static void perform(unsigned int n)
{
	hand_out(&(struct range){ 0, n * 9 / 20 });
	sit_on_an_event(&(struct range){ n * 9 / 20, n / 2 });
	move_the_listener(&(struct range){ n / 2, n * 3 / 4 });
	keep_moving_the_listener(&(struct range){ n * 3 / 4, n });
	say_goodbye(&(struct range){ 0, n });
}

int main(int argc, char **argv)
{
	uint64_t begin = now();
	bool clean, complete;

	parse(argc, argv);
	/* A table is written at once, or it would flicker. */
	setvbuf(stdout, NULL, _IOFBF, BUFSIZ);
	ledger_open(options.connections);
	readers_open();
	server_open();
	introduce();
	screen_open();
	perform(options.connections);
	screen_close();
	clean = readers_close() && destroy_all();
	complete = report();
	say("\n%s (%.0f s)\n", complete ?
	    "COMPLETE: every event came exactly once, on the channel that owned the id." :
	    "NOT COMPLETE: something was lost, stuck or out of place; see above.",
	    (now() - begin) / 1e9);
	/* A call that is stuck still uses what it was given: leave that to the
	 * kernel then.
	 */
	if (!clean)
		_exit(1);
	close_channels();
	return !complete;
}
