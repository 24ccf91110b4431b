// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What happens, act by act.  All of this runs in the main thread; each act
 * ends when what it waits for has come, or when nothing happens any more.
 */
#include "demo.h"

/* Some of the connections, by number. */
struct range {
	unsigned int from, to;
};

enum { SETTLE = 500 /* ms */ };
/* How often the listener is moved back and forth, at least and at most. */
enum { MIN_MOVES = 20, MAX_MOVES = 100 };

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

static bool is_sent(const struct connection *connection)
{
	return connection->sent;
}

static bool is_read(const struct connection *connection)
{
	return connection->seen[SERVER_REQUEST];
}

/* The server's ESTABLISHED may still be unread. */
static bool is_handed_over(const struct connection *connection)
{
	return connection->seen[CLIENT_ESTABLISHED] &&
	       connection->server.owner == connection->home &&
	       !connection->server.target;
}

static bool is_at_home(const struct connection *connection)
{
	return is_connected(connection) && is_handed_over(connection) &&
	       is_idle(connection);
}

/* Of a connection that never came about nothing is expected any more. */
static bool is_told(const struct connection *connection)
{
	return !connection->seen[CLIENT_ESTABLISHED] || connection->message;
}

static bool is_over(const struct connection *connection)
{
	return !is_connected(connection) ||
	       (connection->seen[SERVER_DISCONNECTED] &&
		connection->seen[CLIENT_DISCONNECTED] && is_idle(connection));
}

static bool all_of(const struct range *range,
		   bool (*is)(const struct connection *))
{
	unsigned int i;

	for (i = range->from; i < range->to; i++) {
		if (!is(&ledger.connections[i]))
			return false;
	}
	return true;
}

/* What ledger_wait() can be told to wait for, on a range. */
static bool all_sent(const void *range)
{
	return all_of(range, is_sent);
}

static bool all_at_home(const void *range)
{
	return all_of(range, is_at_home);
}

static bool all_told(const void *range)
{
	server_take_messages();
	return all_of(range, is_told);
}

static bool all_over(const void *range)
{
	return all_of(range, is_over);
}

static bool all_handed_over_and_one_held(const void *range)
{
	return all_of(range, is_handed_over) && server_is_sitting();
}

static void tell_connected(const struct range *range)
{
	unsigned int i, count = 0, all = range->to - range->from;

	pthread_mutex_lock(&ledger.lock);
	for (i = range->from; i < range->to; i++)
		count += is_connected(&ledger.connections[i]);
	pthread_mutex_unlock(&ledger.lock);
	say("   => %u of %u connected%s\n", count, all,
	    count == all ? "." : ": THE OTHERS ARE LOST.");
	screen_show();
}

/* A message that is on its way when its sender hangs up would be lost. */
static void hang_up(const struct range *range)
{
	ledger_wait(all_told, range);
	client_disconnect(range->from, range->to);
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

static void move_held(const struct range *range, struct reader *target)
{
	struct end *held = &ledger.connections[range->from].server;
	uint64_t begin = now();
	struct task *task = move_start(held, target);
	unsigned int moved = move_the_others(range, target);

	say("   => %u others have moved after %.2f s.\n", moved,
	    (now() - begin) / 1e9);
	/* Nobody may find an event of it now, not even one who looks. */
	ledger_pause(options.hold / 2);
	reader_nudge(target);
	ledger_pause(options.hold - options.hold / 2);
	server_let_go();
	if (!move_finish(held, task))
		say("   => THE HELD ONE HAS NOT MOVED, or the call did not return.\n");
	else if (held->early)
		say("   => The held one moved after %.2f s, TOO EARLY: worker 2 still held it.\n",
		    held->took / 1e9);
	else
		say("   => The held one moved after %.2f s, when worker 2 was through.\n",
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
	if (!ledger_wait(all_handed_over_and_one_held, range))
		say("   => WORKER 2 HAS NOT GOT THEM ALL.\n");
	hang_up(range);
	ledger_pause(SETTLE);
	screen_show();
	move_held(range, &workers[2]);
	ledger_wait(all_over, range);
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

static bool move_back_and_forth(const struct range *range)
{
	unsigned int moves;
	bool all = false;

	for (moves = 0; moves < (all ? MIN_MOVES : MAX_MOVES); moves++) {
		if (!move(&ledger.listener, moves % 2 ? &workers[0] : &acceptor))
			return false;
		ledger_pause(10);
		pthread_mutex_lock(&ledger.lock);
		all = all_of(range, is_read);
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
	if (!move_back_and_forth(range))
		say("   => A MIGRATION OF THE LISTENER FAILED, or did not return.  It stays.\n");
	ledger_wait(all_at_home, range);
	tell_connected(range);
}

static void move_all(const struct range *range, struct reader *from,
		     struct reader *to)
{
	unsigned int i, count = 0, moved = 0;

	for (i = range->from; i < range->to; i++) {
		struct end *end = &ledger.connections[i].server;

		if (end->owner != from || end->target)
			continue;
		count++;
		moved += move(end, to);
	}
	say("   => %u of its %u ids have moved.\n", moved, count);
}

/* A worker leaves, and with its ids go the events that it has not read. */
static void say_goodbye(const struct range *range)
{
	say("\n5. Worker 4 stops reading, and all clients hang up.  Worker 4's ids are migrated\n"
	    "   to worker 1, with the DISCONNECTED that each of them has got.\n");
	reader_set_busy(&workers[3], true);
	hang_up(range);
	ledger_pause(3 * SETTLE);
	move_all(range, &workers[3], &workers[0]);
	reader_set_busy(&workers[3], false);
	ledger_wait(all_over, range);
	screen_show();
}

/**
 * perform - all acts, one after the other
 */
void perform(void)
{
	unsigned int n = ledger.count;

	hand_out(&(struct range){ 0, n * 9 / 20 });
	sit_on_an_event(&(struct range){ n * 9 / 20, n / 2 });
	move_the_listener(&(struct range){ n / 2, n * 3 / 4 });
	keep_moving_the_listener(&(struct range){ n * 3 / 4, n });
	say_goodbye(&(struct range){ 0, n });
}
