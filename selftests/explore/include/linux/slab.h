/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory, see memory.c; an allocation may fail. */
#ifndef EXPLORE_SLAB_H
#define EXPLORE_SLAB_H

#include <linux/types.h>

#define GFP_NOWAIT		0u
#define GFP_ATOMIC		2u
#define __GFP_MAY_SLEEP		1u
#define GFP_KERNEL		__GFP_MAY_SLEEP
#define __GFP_ACCOUNT		4u
#define __GFP_NOWARN		8u
#define GFP_KERNEL_ACCOUNT	(GFP_KERNEL | __GFP_ACCOUNT)
#define SLAB_ACCOUNT		0u

struct kmem_cache;

void *x_alloc(size_t size, gfp_t gfp, const struct place *here);
void x_free(const void *p, const struct place *here);
void *x_cache_alloc(struct kmem_cache *cache, gfp_t gfp,
		    const struct place *here);
struct kmem_cache *x_cache_create(const char *name, size_t size, size_t from,
				  size_t copied);
void kmem_cache_destroy(struct kmem_cache *cache);

#define kzalloc(size, gfp)		x_alloc(size, gfp, HERE)
#define kfree(p)			x_free(p, HERE)
#define kmem_cache_zalloc(cache, gfp)	x_cache_alloc(cache, gfp, HERE)
#define kmem_cache_free(cache, p)	((void)(cache), x_free(p, HERE))
#define kmem_cache_create_usercopy(name, size, align, flags, from, n, ctor) \
	x_cache_create(name, size, from, n)
#define kmem_cache_create(name, size, align, flags, ctor) \
	x_cache_create(name, size, 0, 0)

#endif /* EXPLORE_SLAB_H */
