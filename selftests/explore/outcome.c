// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What can come out of a scenario, as a list of hashes: what calls returned, what
 * readers got, what became of events and ids, before everybody is sent home.
 * Where the search saves work it must find just what it finds without.
 */
#include <stdio.h>
#include <stdlib.h>

#include "search.h"
#include "world.h"

#define MAX_OUTCOMES	100000

static u64 *outcomes;
static int n_outcomes;

static u64 mix(u64 h, u64 what)
{
	h = (h ^ what) * 0x9fb21c651e98df25ull;
	return h ^ h >> 32;
}

/* Only if it is asked for: states that have another past are others then. */
void outcome_tell(long what)
{
	if (search_outcomes && search_running && !W.ending)
		ME->told = mix(ME->told + 1, what);
}

static u64 hash_part(u64 h, const struct part *part)
{
	h = mix(h, part->given | part->released << 1 | part->gone << 2 |
		part->dying << 3 | part->alive << 4);
	return mix(h, part->owner << 8 | part->moves);
}

static u64 hash_outcome(void)
{
	const u8 bits = TAG_RAISED | TAG_DROPPED | TAG_DELIVERED | TAG_ACKED;
	u64 h = 0;
	int i, j;

	for (i = 0; i < MAX_ACTORS; i++)
		h = mix(h, W.actors[i].told);
	for (i = 0; i < MAX_TAGS; i++)
		h = mix(h, (W.tags[i].state & bits) << 16 | W.tags[i].seq << 8 |
			W.tags[i].channel);
	for (i = 0; i < MAX_IDS; i++)
		h = hash_part(h, &W.parts[i]);
	for (i = 0; i < MAX_CHANNELS; i++) {
		h = mix(h, W.desks[i].n << 2 | W.desks[i].closed << 1);
		for (j = 0; j < W.desks[i].n; j++)
			h = mix(h, W.desks[i].queue[j]);
	}
	return h;
}

void outcome_note(void)
{
	u64 h = hash_outcome();
	int i;

	for (i = 0; i < n_outcomes; i++) {
		if (outcomes[i] == h)
			return;
	}
	if (!outcomes)
		outcomes = calloc(MAX_OUTCOMES, sizeof(*outcomes));
	if (!outcomes || n_outcomes == MAX_OUTCOMES)
		abort();
	outcomes[n_outcomes++] = h;
	printf("# outcome %s %016lx\n", scene->name, h);
}
