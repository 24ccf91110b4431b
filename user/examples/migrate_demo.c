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
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "demo.h"

/* What was found at run time, whatever the program was linked with. */
static const char *name_library(void)
{
	Dl_info info;
	char *path = NULL;

	if (dladdr((void *)rdma_migrate_id, &info))
		path = realpath(info.dli_fname, NULL);
	return path ?: "unknown";
}

static void introduce(void)
{
	char link[32], device[64];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", acceptor.channel->fd);
	length = readlink(link, device, sizeof(device) - 1);
	device[length > 0 ? length : 0] = 0;
	options.library = name_library();
	say("migrate_demo: %u connections over RDMA device %s (%s)\n",
	    ledger.count, ibv_get_device_name(ledger.listener.id->verbs->device),
	    options.address);
	say("  library  %s\n  channels %s\n\n", options.library, device);
	say("A server has an acceptor and four workers.  Each is a thread with an event\n"
	    "channel of its own, and sleeps until its channel has an event for it.  A\n"
	    "connection at the server is an \"id\", and an id belongs to one channel at a\n"
	    "time.  rdma_migrate_id() hands an id, with all that nobody has read of it,\n"
	    "to another channel.  The listener, which brings the connection requests, is\n"
	    "an id too.\n");
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

int main(int argc, char **argv)
{
	uint64_t begin = now();
	bool clean, complete;

	options_parse(argc, argv);
	/* A table is written at once, or it would flicker. */
	setvbuf(stdout, NULL, _IOFBF, BUFSIZ);
	ledger_open(options.connections);
	readers_open();
	server_open();
	introduce();
	screen_open();
	perform();
	screen_close();
	clean = readers_close() && destroy_all();
	complete = report();
	say("\n%s (%.0f s)\n", complete ?
	    "COMPLETE: every event came exactly once, on the channel that owned the id." :
	    "NOT COMPLETE: something was lost, stuck or out of place; see above.",
	    (now() - begin) / 1e9);
	/* A call that is stuck still uses what it was given, so nothing of it
	 * may be freed: the end of the process does that.
	 */
	if (!clean)
		_exit(1);
	close_channels();
	return !complete;
}
