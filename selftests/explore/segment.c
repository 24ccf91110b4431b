// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Accesses that race.  Another actor can go first at points only, which is
 * enough if whatever is accessed in between is protected by a lock.  So that
 * is checked: where each of two actors could have been the next to run, and
 * what they then do, up to their next point, touches the same memory, one of
 * them writing, with no lock in common, then both accesses must be marked.
 *
 * As with KCSAN, a marked read may meet a plain write of one word.
 */
#include "search.h"
#include "segment.h"
#include "world.h"

struct segment *segment_now;
unsigned int segment_accesses;
u64 segment_accepted;

void segment_start(struct segment *segment)
{
	segment_now = segment;
	segment->n = 0;
	memset(segment->bloom, 0, sizeof(segment->bloom));
}

static int locks_held(void)
{
	int held = 0, i, c;

	for (i = 0; i < ME->spins; i++) {
		/* One of the core's own. */
		if (!in_arena(ME->locks[i]))
			held |= 1 << MAX_CHANNELS;
		for (c = 0; c < MAX_CHANNELS; c++) {
			if (W.desks[c].channel &&
			    ME->locks[i] == &W.desks[c].channel->lock)
				held |= 1 << c;
		}
	}
	return held;
}

static u64 bloom_bit(const char *p)
{
	return 1ull << ((unsigned long)p / 8 * 0x9e3779b97f4a7c15ull >> 58);
}

void segment_add(const void *p, size_t size, int how, const void *pc)
{
	struct segment *s = segment_now;
	int locks;

	if (!s)
		return;
	CHECK("EXPLORER", s->n < SEGMENT_MAX && size <= USHRT_MAX,
	      "too many accesses between two points");
	locks = locks_held();
	s->accesses[s->n++] = (struct access){ p, pc, size, how, locks };
	s->bloom[locks] |= bloom_bit(p);
}

static bool conflict(const struct access *a, const struct access *b)
{
	if (a->locks & b->locks || a->p >= b->p + b->size ||
	    b->p >= a->p + a->size)
		return false;
	if (!((a->how | b->how) & ACCESS_WRITES) ||
	    (a->how & b->how & ACCESS_MARKED))
		return false;
	/* A plain write, of one word, and a marked read. */
	if ((a->how == ACCESS_WRITES && b->how == ACCESS_MARKED) ||
	    (b->how == ACCESS_WRITES && a->how == ACCESS_MARKED)) {
		segment_accepted++;
		return false;
	}
	return true;
}

static void compare_each(const struct segment *a, const struct segment *b)
{
	int i, j;

	for (i = 0; i < a->n; i++) {
		for (j = 0; j < b->n; j++) {
			if (!conflict(&a->accesses[i], &b->accesses[j]))
				continue;
			violated("RACE", "%s is accessed at once, under no lock, at @%p and @%p",
				 name_of(a->accesses[i].p), a->accesses[i].pc,
				 b->accesses[j].pc);
		}
	}
}

void segments_compare(const struct segment *a, const struct segment *b)
{
	int i, j;

	for (i = 0; i < LOCK_SETS; i++) {
		if (!a->bloom[i])
			continue;
		for (j = 0; j < LOCK_SETS; j++) {
			if (!(i & j) && (a->bloom[i] & b->bloom[j])) {
				compare_each(a, b);
				return;
			}
		}
	}
}
