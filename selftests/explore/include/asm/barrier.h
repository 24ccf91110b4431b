/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Marked accesses, where another actor may go first.  The explorer runs one
 * actor at a time, so what the barriers promise holds by itself; that there
 * are no other accesses that race is looked after in segment.c.
 */
#ifndef EXPLORE_BARRIER_H
#define EXPLORE_BARRIER_H

#include <point.h>

#define READ_ONCE(x) ({							\
	look(&(x), HERE);						\
	*(const volatile typeof(x) *)&(x);				\
})
#define WRITE_ONCE(x, value) do {					\
	typeof(x) value_ = (value);					\
									\
	point(DOING_SET, &(x), HERE);					\
	*(volatile typeof(x) *)&(x) = value_;				\
	let_go();							\
} while (0)
#define smp_load_acquire(p)		READ_ONCE(*(p))
#define smp_store_release(p, value)	WRITE_ONCE(*(p), value)
#define smp_acquire__after_ctrl_dep()	((void)0)
#define smp_mb()			((void)0)
#define smp_rmb()			((void)0)
#define smp_wmb()			((void)0)

#endif /* EXPLORE_BARRIER_H */
