// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Counts of ids, which no lock protects: looked at when nobody can go on.
 */
#include <limit.h>

#include "search.h"
#include "world.h"

/* How many ids are charged to a channel. */
static int count_ids(const struct ucmx_channel *channel)
{
	int n = 0, k;

	for (k = 0; k < MAX_IDS; k++) {
		const struct ucmx_id *id = W.parts[k].id;

		if (!W.parts[k].alive || id->listener || !W.parts[k].given)
			continue;
		if (id->channel == channel && !id->unpublished)
			n += 1 + id->n_unread;
		if (id->migration && id->migration->target == channel)
			n += id->migration->promised;
	}
	return n;
}

static bool anybody_listens(void)
{
	int k;

	for (k = 0; k < MAX_IDS; k++) {
		if (W.parts[k].alive && W.parts[k].id->backlog)
			return true;
	}
	return false;
}

/* Those that are on channels of one user. */
static int count_user_ids(const struct ucmx_user *user)
{
	int n = 0, k;

	for (k = 0; k < MAX_IDS; k++) {
		const struct ucmx_id *id = W.parts[k].id;

		if (W.parts[k].alive && !id->listener && W.parts[k].given &&
		    !id->unpublished && id->channel->user == user)
			n += 1 + id->n_unread;
	}
	return n;
}

void counts_at_rest(void)
{
	int c, n;

	for (c = 0; c < scene->channels; c++) {
		const struct ucmx_channel *channel = W.desks[c].channel;

		if (W.desks[c].closed)
			continue;
		n = count_ids(channel);
		CHECK(anybody_listens() ? "C10" : "C07",
		      n == channel->n_ids.counter,
		      "%d ids are charged to channel %d, which has %d",
		      channel->n_ids.counter, c, n);
		n = count_user_ids(channel->user);
		CHECK("C19", n == ucmx_user_ids(channel->user),
		      "%u ids are charged to who opened channel %d and has %d",
		      ucmx_user_ids(channel->user), c, n);
	}
}
