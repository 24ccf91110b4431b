// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Counts of ids, which no lock protects: looked at when nobody can go on.  And
 * what an id itself counts, which its owner's lock protects.
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

static int count_caused(const struct list_head *events)
{
	const struct ucmx_event *event;
	int n = 0;

	list_for_each_entry(event, events, of_id)
		n += event->caused;
	return n;
}

static int count_unread(const struct ucmx_id *listener)
{
	int n = 0, k;

	for (k = 0; k < MAX_IDS; k++)
		n += W.parts[k].alive && W.parts[k].id->listener == listener;
	return n;
}

static void count_group(int k, const struct ucmx_group *group)
{
	const struct ucmx_event *event;
	int n = 0;

	list_for_each_entry(event, &W.parts[k].id->outstanding, of_id)
		n += event->group == group;
	CHECK("C17", n == group->n_outstanding,
	      "a group of %c has %d outstanding events and says %u", 'A' + k, n,
	      group->n_outstanding);
	CHECK("C17", n || !group->left,
	      "a group of %c was left and has nothing outstanding, but is there",
	      'A' + k);
}

/* There are few; the addresses are those of the scenario. */
static void count_groups(int k)
{
	const struct ucmx_id *id = W.parts[k].id;
	const struct ucmx_group *group;
	int n = 0, joined = 0;

	list_for_each_entry(group, &id->groups, of_id) {
		CHECK("C18", is_live(group) && n++ < MAX_TAGS,
		      "a list leads to memory that was freed");
		count_group(k, group);
		joined += !group->left;
	}
	CHECK("C17", joined < 2, "%c has joined two groups of one address",
	      'A' + k);
	CHECK("C19", n == id->n_groups, "%c has %d groups and says %u", 'A' + k,
	      n, id->n_groups);
}

/* The lists have been looked at.  At its end an id counts no more. */
void counts_of(int k)
{
	const struct ucmx_id *id = W.parts[k].id;
	int n = count_caused(&id->pending) + count_caused(&id->outstanding);

	if (!id->ref.refs)
		return;
	CHECK("C19", n == id->n_caused || id->dying,
	      "%c has %d events that commands caused and says %u", 'A' + k, n,
	      id->n_caused);
	CHECK("C19", !scene->limit_caused || n <= scene->limit_caused + 1,
	      "%c has %d events that commands caused", 'A' + k, n);
	n = count_unread(id);
	CHECK("C10", n == id->n_unread, "%c has %d unread children and says %u",
	      'A' + k, n, id->n_unread);
	CHECK("C19", n <= id->backlog, "%c has %d unread children and may have %u",
	      'A' + k, n, id->backlog);
	count_groups(k);
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
		CHECK("C19", !scene->limit || n <= scene->limit,
		      "channel %d has %d ids, more than it may", c, n);
		n = count_user_ids(channel->user);
		CHECK("C19", n == ucmx_user_ids(channel->user),
		      "%u ids are charged to who opened channel %d and has %d",
		      ucmx_user_ids(channel->user), c, n);
	}
}
