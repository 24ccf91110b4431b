// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The state of a run is the world, the core's variables, which the linker puts
 * beside it, the memory that was allocated and the actors' stacks.  It is
 * copied as a whole, and recognised by a hash of all of it.
 *
 * A state that was seen before need not be explored again if it is not reached
 * with more preemptions left.  Two that differ could have the same hash of 64
 * bits: with ten million states the chance is 1 in 300,000.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "state.h"
#include "world.h"

extern char __start_ucmx_world[], __stop_ucmx_world[];

#define MAX_PIECES	(1 + 3 * MAX_ACTORS)
#define SAVED_MAX	(1ul << 30)

struct piece {
	char *at;
	size_t size;
};

/* The world comes first, since it says how much there is of the others. */
static int list_pieces(struct piece *pieces)
{
	int n = 1, k;

	pieces[0] = (struct piece){ __start_ucmx_world,
				    __stop_ucmx_world - __start_ucmx_world };
	for (k = 0; k < MAX_ACTORS; k++) {
		pieces[n++] = (struct piece){
			W.actors[k].sp,
			stacks[k] + STACK_SIZE - (char *)W.actors[k].sp
		};
		if (!W.arena_used[k])
			continue;
		pieces[n++] = (struct piece){ arena[k], W.arena_used[k] };
		pieces[n++] = (struct piece){
			(char *)granules[k],
			(W.arena_used[k] / GRANULE + 8) & ~7ul
		};
	}
	return n;
}

static char *saved;
static size_t saved_used;

size_t state_save(void)
{
	struct piece pieces[MAX_PIECES];
	int n = list_pieces(pieces), i;
	size_t at = saved_used;

	if (!saved) {
		saved = mmap(NULL, SAVED_MAX, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (saved == MAP_FAILED)
			abort();
	}
	for (i = 0; i < n; i++) {
		if (saved_used + pieces[i].size > SAVED_MAX)
			violated("EXPLORER", "a schedule without end");
		memcpy(saved + saved_used, pieces[i].at, pieces[i].size);
		saved_used += pieces[i].size;
	}
	return at;
}

void state_restore(size_t at)
{
	struct piece pieces[MAX_PIECES];
	int n, i;

	list_pieces(pieces);
	memcpy(pieces[0].at, saved + at, pieces[0].size);
	n = list_pieces(pieces);
	for (i = 0; i < n; i++) {
		memcpy(pieces[i].at, saved + at, pieces[i].size);
		at += pieces[i].size;
	}
}

void state_forget(size_t at)
{
	saved_used = at;
}

/*
 * Recognising
 */

static uint64_t mix(uint64_t h, uint64_t w)
{
	h = (h ^ w) * 0x9fb21c651e98df25ull;
	return h ^ h >> 32;
}

static uint64_t hash_piece(const struct piece *piece, uint64_t seed)
{
	uint64_t h[4] = { seed, seed ^ 0x9e3779b97f4a7c15ull,
			  seed + 0xd6e8feb86659fd93ull, ~seed };
	const uint64_t *w = (const uint64_t *)piece->at;
	size_t n = piece->size / 8, i;

	for (i = 0; i + 4 <= n; i += 4) {
		h[0] = mix(h[0], w[i]);
		h[1] = mix(h[1], w[i + 1]);
		h[2] = mix(h[2], w[i + 2]);
		h[3] = mix(h[3], w[i + 3]);
	}
	for (; i < n; i++)
		h[0] = mix(h[0], w[i]);
	return mix(mix(mix(h[0], h[1]), h[2]), h[3]);
}

uint64_t state_hash(void)
{
	struct piece pieces[MAX_PIECES];
	int n = list_pieces(pieces), i;
	uint64_t h = 0;

	for (i = 0; i < n; i++)
		h = hash_piece(&pieces[i], h + pieces[i].size);
	return h ? h : 1;
}

/**
 * struct entry - a state that was seen
 * @hash: its hash, 0 if there is none
 * @depth: steps that it took to come here
 * @budget: preemptions that were left
 */
struct entry {
	uint64_t hash;
	uint32_t depth;
	uint8_t budget;
};

static struct entry *table;
static uint64_t table_size, table_used;

static struct entry *table_find(struct entry *entries, uint64_t size,
				uint64_t hash)
{
	uint64_t i = hash & (size - 1);

	while (entries[i].hash && entries[i].hash != hash)
		i = (i + 1) & (size - 1);
	return &entries[i];
}

static void table_resize(uint64_t size)
{
	struct entry *new = calloc(size, sizeof(*new));
	uint64_t i;

	if (!new)
		abort();
	for (i = 0; i < table_size; i++) {
		if (table[i].hash)
			*table_find(new, size, table[i].hash) = table[i];
	}
	free(table);
	table = new;
	table_size = size;
}

void states_clear(void)
{
	free(table);
	table = NULL;
	table_size = 0;
	table_used = 0;
	table_resize(1 << 14);
}

uint64_t states_count(void)
{
	return table_used;
}

bool state_seen(uint64_t hash, int budget, int depth)
{
	struct entry *entry = table_find(table, table_size, hash);

	if (entry->hash) {
		if (entry->budget >= budget && entry->depth <= depth)
			return true;
		/* It counts only if it is no worse in either. */
		if (entry->budget <= budget && entry->depth >= depth) {
			entry->budget = budget;
			entry->depth = depth;
		}
		return false;
	}
	*entry = (struct entry){ hash, depth, budget };
	if (++table_used > table_size / 2)
		table_resize(table_size * 4);
	return false;
}
