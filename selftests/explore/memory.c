// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory.  Nothing that was freed is given out again within a run, and the core
 * is compiled so that it reports every access (gcc's -fsanitize=thread, whose
 * functions are here): using freed memory, another object's surroundings or
 * what was on the stack of a function that has returned ends the run.
 *
 * Each actor allocates from memory of its own, so that where an object lies
 * does not depend on what others do, and equal states look equal.
 */
#include <linux/slab.h>

#include "search.h"
#include "segment.h"
#include "world.h"

char arena[MAX_ACTORS][ARENA_SIZE] __attribute__((aligned(64)));
/* For every granule of the arena, what it is. */
enum { NEVER, FIRST, MORE, FREED };
u8 granules[MAX_ACTORS][ARENA_SIZE / GRANULE];

#define POISON		0x6b
/* More than that in one go is an endless loop. */
#define MAX_ACCESSES	200000

static u8 *granule_of(const volatile void *p)
{
	size_t at = (const char *)p - &arena[0][0];

	if ((const char *)p < &arena[0][0] || at >= sizeof(arena))
		return NULL;
	return &granules[0][0] + at / GRANULE;
}

bool in_arena(const volatile void *p)
{
	return granule_of(p);
}

bool is_live(const volatile void *p)
{
	const u8 *granule = granule_of(p);

	return !granule || *granule == FIRST || *granule == MORE;
}

static void check_object(const volatile void *p, const char *what)
{
	const u8 *granule = granule_of(p);

	if ((unsigned long)p < PAGE_SIZE)
		violated("C18", "%s: a NULL or poisoned pointer is followed",
			 what);
	if (!granule || *granule == FIRST || *granule == MORE)
		return;
	if (*granule == FREED)
		violated("C18", "%s: %s is used after it was freed", what,
			 name_of(p));
	violated("C18", "%s: memory beyond an object is used", what);
}

void check_live(const volatile void *at, const struct place *here)
{
	char what[160];

	if (!at || is_live(at))
		return;
	snprintf(what, sizeof(what), "%s() (%s:%d)", here->func, here->file,
		 here->line);
	check_object(at, what);
}

void look(const volatile void *at, const struct place *here)
{
	if (in_arena(at))
		point(DOING_LOOK, at, here);
}

void *x_alloc(size_t size, gfp_t gfp, const struct place *here)
{
	int k = W.running;
	size_t n = (size + GRANULE - 1) / GRANULE;
	char *p;

	if (gfp & __GFP_MAY_SLEEP)
		may_sleep("an allocation that may sleep", here);
	if (W.nomem && point_fails(DOING_ALLOC, NULL, here))
		return NULL;
	if (W.arena_used[k] + (n + 1) * GRANULE > ARENA_SIZE)
		violated("EXPLORER", "the arena is too small");
	p = &arena[k][W.arena_used[k]];
	memset(p, 0, n * GRANULE);
	memset(granule_of(p), MORE, n);
	*granule_of(p) = FIRST;
	granule_of(p)[n] = NEVER;
	W.arena_used[k] += (n + 1) * GRANULE;
	return p;
}

void x_free(const void *p, const struct place *here)
{
	u8 *granule = granule_of(p);
	size_t n = 0;

	if (!p)
		return;
	if (!granule || *granule != FIRST)
		violated("C18", "%s:%d frees what is not there to be freed",
			 here->file, here->line);
	do {
		granule[n++] = FREED;
	} while (granule[n] == MORE);
	memset((void *)p, POISON, n * GRANULE);
}

/* A cache stands for the size of its objects. */
struct kmem_cache *x_cache_create(const char *name, size_t size, size_t from,
				  size_t copied)
{
	W.caches++;
	return (struct kmem_cache *)size;
}

void kmem_cache_destroy(struct kmem_cache *cache)
{
	if (cache)
		W.caches--;
}

void *x_cache_alloc(struct kmem_cache *cache, gfp_t gfp,
		    const struct place *here)
{
	return x_alloc((size_t)cache, gfp, here);
}

void check_nothing_allocated(void)
{
	int k;
	size_t i;

	for (k = 0; k < MAX_ACTORS; k++) {
		for (i = 0; i < W.arena_used[k] / GRANULE; i++) {
			if (granules[k][i] == FIRST)
				violated("C18", "left allocated: %s, allocated by %s",
					 name_of(&arena[k][i * GRANULE]),
					 actor_name(k));
		}
		if (W.pids[k].refs)
			violated("C18", "left: a reference to %s as a reader",
				 actor_name(k));
	}
	if (W.caches)
		violated("C18", "left: a cache");
}

/*
 * What the compiler calls.
 */

/* What is on its stack others see of a migration only. */
static bool is_shown(const char *p)
{
	int i;

	for (i = 0; i < MAX_IDS; i++) {
		const char *shown = W.parts[i].migration;

		if (shown && p >= shown &&
		    p < shown + sizeof(struct ucmx_migration))
			return true;
	}
	return false;
}

static void access_stack(const char *p, size_t size, int how, const void *pc)
{
	int k = (p - stacks[0]) / STACK_SIZE;

	if (k == W.running && !is_shown(p))
		return;
	point_access(p, pc);
	segment_add(p, size, how, pc);
	if (k != W.running && p < (char *)W.actors[k].sp)
		violated("C18", "the stack of %s is used, of a function that has returned",
			 actor_name(k));
}

extern char __start_ucmx_world[], __stop_ucmx_world[];

/* One of the core's own; the world is in the same place. */
static bool is_variable(const char *p)
{
	return p >= __start_ucmx_world && p < __stop_ucmx_world &&
	       (p < (const char *)&W || p >= (const char *)(&W + 1));
}

static void check_pc(const volatile void *p, const void *pc)
{
	char what[32];

	snprintf(what, sizeof(what), "@%p", pc);
	check_object(p, what);
}

static void access(const void *p, size_t size, int how, const void *pc)
{
	if (++segment_accesses > MAX_ACCESSES)
		violated("LOOP", "an endless loop");
	if (granule_of(p)) {
		point_access(p, pc);
		if (!is_live(p))
			check_pc(p, pc);
		if (!is_live((const char *)p + size - 1))
			check_pc((const char *)p + size - 1, pc);
		segment_add(p, size, how, pc);
	} else if ((const char *)p >= stacks[0] &&
		   (const char *)p < stacks[MAX_ACTORS]) {
		access_stack(p, size, how, pc);
	} else if (is_variable(p)) {
		point_access(p, pc);
		segment_add(p, size, how, pc);
	} else if ((unsigned long)p < PAGE_SIZE) {
		check_pc(p, pc);
	} else if ((unsigned long)p >> 47) {
		violated("C18", "@%p: a pointer that leads nowhere is followed",
			 pc);
	}
}

#define CALLED(name, size, how)						\
	void name(const void *p)					\
	{								\
		access(p, size, how, __builtin_return_address(0));	\
	}
#define CALLED_FOR(n)							\
	CALLED(__tsan_read##n, n, 0)					\
	CALLED(__tsan_write##n, n, ACCESS_WRITES)			\
	CALLED(__tsan_unaligned_read##n, n, 0)				\
	CALLED(__tsan_unaligned_write##n, n, ACCESS_WRITES)		\
	CALLED(__tsan_volatile_read##n, n, ACCESS_MARKED)		\
	CALLED(__tsan_volatile_write##n, n, ACCESS_MARKED | ACCESS_WRITES) \
	CALLED(__tsan_unaligned_volatile_read##n, n, ACCESS_MARKED)	\
	CALLED(__tsan_unaligned_volatile_write##n, n, ACCESS_MARKED | ACCESS_WRITES)

CALLED_FOR(1)
CALLED_FOR(2)
CALLED_FOR(4)
CALLED_FOR(8)
CALLED_FOR(16)

void __tsan_read_range(const void *p, size_t size)
{
	access(p, size, 0, __builtin_return_address(0));
}

void __tsan_write_range(const void *p, size_t size)
{
	access(p, size, ACCESS_WRITES, __builtin_return_address(0));
}

void __tsan_init(void)
{
}
