/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A table of few slots, looked up without a lock; see primitives.c. */
#ifndef EXPLORE_XARRAY_H
#define EXPLORE_XARRAY_H

#include <linux/slab.h>
#include <linux/types.h>

#define X_SLOTS			24

struct xarray {
	u32 reserved;
	void *slot[X_SLOTS];
};

struct xa_limit {
	u32 min, max;
};

#define XA_FLAGS_ALLOC1			0u
#define XA_FLAGS_ACCOUNT		0u
#define XA_LIMIT(from, to)		((struct xa_limit){ from, to })
#define XARRAY_INIT(name, flags)	{ 0 }

int x_xa_alloc(struct xarray *xa, u32 *index, void *entry,
	       struct xa_limit limit, u32 *next, gfp_t gfp,
	       const struct place *here);
void *x_xa_load(struct xarray *xa, unsigned long index,
		const struct place *here);
void *x_xa_store(struct xarray *xa, unsigned long index, void *entry,
		 const struct place *here);
void *x_xa_next(struct xarray *xa, unsigned long *index,
		const struct place *here);
bool xa_empty(const struct xarray *xa);

#define xa_is_err(entry)		((void)(entry), false)
#define xa_alloc_cyclic(xa, index, entry, limit, next, gfp) \
	x_xa_alloc(xa, index, entry, limit, next, gfp, HERE)
#define xa_load(xa, index)		x_xa_load(xa, index, HERE)
#define xa_store(xa, index, entry, gfp)	((void)(gfp), x_xa_store(xa, index, entry, HERE))
#define xa_erase(xa, index)		x_xa_store(xa, index, NULL, HERE)
#define xa_for_each_start(xa, index, entry, start)			\
	for (index = start;						\
	     ((entry) = x_xa_next(xa, &index, HERE)) != NULL; index++)

#endif /* EXPLORE_XARRAY_H */
