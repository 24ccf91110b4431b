/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Errors in pointers. */
#ifndef EXPLORE_ERR_H
#define EXPLORE_ERR_H

#include <stdbool.h>

#define IS_ERR_VALUE(x)		((unsigned long)(x) >= (unsigned long)-4095)

static inline void *ERR_PTR(long error)
{
	return (void *)error;
}

static inline long PTR_ERR(const void *p)
{
	return (long)p;
}

static inline bool IS_ERR(const void *p)
{
	return IS_ERR_VALUE(p);
}

static inline bool IS_ERR_OR_NULL(const void *p)
{
	return !p || IS_ERR_VALUE(p);
}

static inline int PTR_ERR_OR_ZERO(const void *p)
{
	return IS_ERR(p) ? PTR_ERR(p) : 0;
}

static inline void *ERR_CAST(const void *p)
{
	return (void *)p;
}

#endif /* EXPLORE_ERR_H */
