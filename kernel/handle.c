// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The tables of handles: how an id is found.
 *
 * Looking a handle up takes no lock.  Reserving one and giving it back take that
 * of one table, of which there are some, so that processors that create and destroy
 * do not wait for each other: a handle is reserved in the table of the processor
 * that is at work, and which one it was, the handle says.
 *
 * Each table gives its handles out in a circle, so that a late acknowledgement does not
 * meet another id.  Those of different tables come in no particular order.
 */
#include <linux/cache.h>
#include <linux/smp.h>
#include <linux/xarray.h>

#include "handle.h"
#include "id.h"

/* A power of two.  The explorer, which has fewer processors, has fewer. */
#ifndef UCMX_TABLES
#define UCMX_TABLES	8
#endif

static struct ucmx_table {
	struct xarray ids;
	u32 next;		/* under its lock */
} ____cacheline_aligned_in_smp ucmx_tables[UCMX_TABLES] = {
	[0 ... UCMX_TABLES - 1] = {
		.ids = XARRAY_INIT(ucmx_tables,
				   XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT),
	},
};

static struct xarray *ucmx_table_of(u32 handle)
{
	return &ucmx_tables[handle % UCMX_TABLES].ids;
}

/**
 * ucmx_handle_reserve - reserve a handle for an id
 * @id: the id; it is not found until it is published
 * @gfp: how to allocate
 *
 * Return: 0, -ENOSPC if there is none left, or -ENOMEM.
 */
int ucmx_handle_reserve(struct ucmx_id *id, gfp_t gfp)
{
	/* Any will do, should this go on elsewhere meanwhile. */
	unsigned int number = raw_smp_processor_id() % UCMX_TABLES;
	struct ucmx_table *table = &ucmx_tables[number];
	u32 index;
	int err;

	err = xa_alloc_cyclic(&table->ids, &index, id,
			      XA_LIMIT(1, INT_MAX / UCMX_TABLES), &table->next,
			      gfp);
	if (err < 0)
		return err == -EBUSY ? -ENOSPC : err;
	id->handle = index * UCMX_TABLES + number;
	return 0;
}

/**
 * ucmx_handle_free - give a handle back
 * @handle: the handle; from now on nobody finds the id
 */
void ucmx_handle_free(u32 handle)
{
	xa_erase(ucmx_table_of(handle), handle / UCMX_TABLES);
}

/**
 * ucmx_handles_empty - whether all handles are free
 *
 * Return: that.
 */
bool ucmx_handles_empty(void)
{
	unsigned int i;

	for (i = 0; i < UCMX_TABLES; i++) {
		if (!xa_empty(&ucmx_tables[i].ids))
			return false;
	}
	return true;
}

static bool ucmx_id_is_published(const struct ucmx_id *id)
{
	/* Pairs with ucmx_id_name(). */
	return smp_load_acquire(&id->published);
}

/**
 * ucmx_id_peek - look up a handle
 * @handle: the handle
 *
 * Return: the id or NULL.  Only RCU keeps its memory.
 */
struct ucmx_id *ucmx_id_peek(u32 handle)
{
	struct ucmx_id *id;

	id = xa_load(ucmx_table_of(handle), handle / UCMX_TABLES);
	return id && ucmx_id_is_published(id) ? id : NULL;
}

/**
 * ucmx_id_get - look up a handle
 * @handle: the handle
 *
 * Return: the id with a reference, whoever owns it, or NULL.
 */
struct ucmx_id *ucmx_id_get(u32 handle)
{
	struct ucmx_id *id;

	rcu_read_lock();
	id = ucmx_id_peek(handle);
	if (id && !refcount_inc_not_zero(&id->ref))
		id = NULL;
	rcu_read_unlock();
	return id;
}

/* The one of a table with the lowest handle from @first on.  Under RCU. */
static struct ucmx_id *ucmx_table_next(unsigned int number, u32 first)
{
	unsigned long start = first / UCMX_TABLES, index;
	struct ucmx_id *id;

	if (first % UCMX_TABLES > number)
		start++;
	xa_for_each_start(&ucmx_tables[number].ids, index, id, start) {
		if (ucmx_id_is_published(id))
			return id;
	}
	return NULL;
}

static struct ucmx_id *ucmx_id_next(u32 first)
{
	struct ucmx_id *lowest = NULL, *id;
	unsigned int i;

	for (i = 0; i < UCMX_TABLES; i++) {
		id = ucmx_table_next(i, first);
		if (id && (!lowest || id->handle < lowest->handle))
			lowest = id;
	}
	return lowest;
}

/**
 * ucmx_id_get_next - look for the next handle
 * @first: the lowest one that will do
 *
 * Return: the published id with the lowest such handle and a reference, or
 * NULL.
 */
struct ucmx_id *ucmx_id_get_next(u32 first)
{
	struct ucmx_id *id;

	rcu_read_lock();
	while ((id = ucmx_id_next(first)) && !refcount_inc_not_zero(&id->ref))
		first = id->handle + 1;
	rcu_read_unlock();
	return id;
}
