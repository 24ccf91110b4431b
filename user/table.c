// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The table of this process' ids: from cookie to id.
 *
 * A cookie is the number of a slot and the generation of its use, so that an
 * event of an id that is gone, or of another process' id, finds nothing.  The
 * kernel hands it back as it is; it is looked up and never followed.
 *
 * A slot counts the references to its id, in one word with the generation:
 * "is it still this id" and "keep it" are one compare-and-exchange.  So a
 * look-up takes no lock.  Slots live in blocks that are never freed, of which
 * each is twice as large as the one before.  table_lock protects the list of
 * free slots and the adding of blocks.
 *
 * What is looked at without the lock is written by exchanging it, where a store
 * would do: helgrind knows of no other way to tell an atomic store from any.
 */
#include <stdlib.h>

#include "cmx.h"

#define CMX_FIRST_BLOCK 64
#define CMX_BLOCKS 25

/**
 * struct cmx_slot - a place for an id
 * @life: generation in the upper half, references in the lower; the generation
 *        changes when the last reference goes
 * @id: the id, valid while a reference is held
 * @number: of this slot, from 1
 * @next: next free slot, under table_lock
 */
struct cmx_slot {
	_Atomic uint64_t life;
	struct cmx_id *_Atomic id;
	uint32_t number;
	struct cmx_slot *next;
};

static struct cmx_slot *_Atomic table_blocks[CMX_BLOCKS];
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct cmx_slot *table_free;
static unsigned int table_used;

static uint32_t block_size(unsigned int block)
{
	return (uint32_t)CMX_FIRST_BLOCK << block;
}

/* Number of the first slot of a block; those before it sum up to this. */
static uint32_t block_start(unsigned int block)
{
	return block_size(block) - CMX_FIRST_BLOCK + 1;
}

static struct cmx_slot *slot_of(uint32_t number)
{
	unsigned int block;
	struct cmx_slot *slots;

	if (!number || number >= block_start(CMX_BLOCKS))
		return NULL;
	block = 31 - __builtin_clz((number - 1) / CMX_FIRST_BLOCK + 1);
	slots = atomic_load_explicit(&table_blocks[block],
				     memory_order_acquire);
	return slots ? &slots[number - block_start(block)] : NULL;
}

/* Called with table_lock held. */
static int table_grow(void)
{
	unsigned int block = table_used;
	uint32_t i, size = block_size(block);
	struct cmx_slot *slots;

	if (block == CMX_BLOCKS)
		return cmx_error(ENOSPC);
	slots = calloc(size, sizeof(*slots));
	if (!slots)
		return -1;
	for (i = 0; i < size; i++) {
		slots[i].number = block_start(block) + i;
		slots[i].next = i + 1 < size ? &slots[i + 1] : NULL;
		atomic_exchange(&slots[i].life, (uint64_t)1 << 32);
	}
	atomic_exchange(&table_blocks[block], slots);
	table_used++;
	table_free = slots;
	return 0;
}

/**
 * cmx_table_add - give an id a slot, a cookie and its first reference
 * @id: the id
 */
int cmx_table_add(struct cmx_id *id)
{
	struct cmx_slot *slot;
	uint64_t life;

	pthread_mutex_lock(&table_lock);
	if (!table_free && table_grow()) {
		pthread_mutex_unlock(&table_lock);
		return -1;
	}
	slot = table_free;
	table_free = slot->next;
	pthread_mutex_unlock(&table_lock);

	life = atomic_load(&slot->life);
	atomic_exchange(&slot->id, id);
	id->slot = slot;
	id->cookie = life | slot->number;
	atomic_exchange(&slot->life, life + 1);
	return 0;
}

/* Take a reference if the slot still holds what the caller means. */
static struct cmx_id *slot_get(struct cmx_slot *slot, uint64_t life)
{
	uint32_t generation = life >> 32;

	do {
		if (life >> 32 != generation || !(uint32_t)life)
			return NULL;
	} while (!atomic_compare_exchange_weak_explicit(&slot->life, &life,
							life + 1,
							memory_order_acquire,
							memory_order_relaxed));
	return atomic_load_explicit(&slot->id, memory_order_relaxed);
}

/**
 * cmx_table_find - find an id by its cookie
 * @cookie: any number
 *
 * Returns the id with a reference for the caller, or NULL.
 */
struct cmx_id *cmx_table_find(uint64_t cookie)
{
	struct cmx_slot *slot = slot_of((uint32_t)cookie);
	uint64_t life;

	if (!slot)
		return NULL;
	life = atomic_load_explicit(&slot->life, memory_order_relaxed);
	if (life >> 32 != cookie >> 32)
		return NULL;
	return slot_get(slot, life);
}

/**
 * cmx_table_has - tell an id from another library's
 * @id: the id
 *
 * A program that is linked with librdmacm, too, makes its ids there.  They are
 * longer than what the user sees, so that the two members that this reads are
 * memory, but whatever is in it is followed nowhere.
 */
bool cmx_table_has(const struct cmx_id *id)
{
	const struct cmx_slot *slot = slot_of((uint32_t)id->cookie);

	return slot && slot == id->slot && atomic_load(&slot->id) == id;
}

static struct cmx_id *block_find_handle(struct cmx_slot *slots, uint32_t size,
					uint32_t handle)
{
	struct cmx_id *id;
	uint32_t i;

	for (i = 0; i < size; i++) {
		id = slot_get(&slots[i], atomic_load(&slots[i].life));
		if (!id)
			continue;
		if (atomic_load(&id->handle) == handle)
			return id;
		cmx_id_put(id);
	}
	return NULL;
}

/**
 * cmx_table_find_handle - find an id by the kernel's name of it
 * @handle: the kernel's handle
 *
 * Slow: looks at every id.  For events of ids that the kernel has no cookie
 * of yet, that is the removal of the device of a request not yet accepted.
 *
 * Returns the id with a reference for the caller, or NULL.
 */
struct cmx_id *cmx_table_find_handle(uint32_t handle)
{
	struct cmx_id *id = NULL;
	struct cmx_slot *slots;
	unsigned int block;

	for (block = 0; block < CMX_BLOCKS && !id; block++) {
		slots = atomic_load_explicit(&table_blocks[block],
					     memory_order_acquire);
		if (!slots)
			break;
		id = block_find_handle(slots, block_size(block), handle);
	}
	return id;
}

/**
 * cmx_table_get - take another reference
 * @id: an id of which the caller has one
 */
void cmx_table_get(struct cmx_id *id)
{
	atomic_fetch_add_explicit(&id->slot->life, 1, memory_order_relaxed);
}

/**
 * cmx_table_put - give a reference back
 * @id: the id
 *
 * Returns whether it was the last one: the id has lost its slot and its cookie
 * then, and the caller frees it.
 */
bool cmx_table_put(struct cmx_id *id)
{
	struct cmx_slot *slot = id->slot;
	uint64_t life = atomic_fetch_sub_explicit(&slot->life, 1,
						  memory_order_acq_rel);

	if ((uint32_t)life != 1)
		return false;
	life = (life & ~(uint64_t)UINT32_MAX) + ((uint64_t)1 << 32);
	if (!life)
		life = (uint64_t)1 << 32;
	atomic_exchange(&slot->life, life);
	pthread_mutex_lock(&table_lock);
	slot->next = table_free;
	table_free = slot;
	pthread_mutex_unlock(&table_lock);
	return true;
}

/**
 * cmx_table_hold - have nobody change the free slots, before a fork
 */
void cmx_table_hold(void)
{
	pthread_mutex_lock(&table_lock);
}

/**
 * cmx_table_release - end that
 */
void cmx_table_release(void)
{
	pthread_mutex_unlock(&table_lock);
}
