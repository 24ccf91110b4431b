/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Atomic counters, see primitives.c. */
#ifndef EXPLORE_ATOMIC_H
#define EXPLORE_ATOMIC_H

#include <linux/types.h>

#define ATOMIC_INIT(n)		{ n }

int x_atomic_add(atomic_t *v, int n, const struct place *here);

void x_atomic_set(atomic_t *v, int n, const struct place *here);
int x_atomic_read(const atomic_t *v, const struct place *here);
bool x_atomic_try_cmpxchg(atomic_t *v, int *old, int new,
			  const struct place *here);

#define atomic_set(v, n)		x_atomic_set(v, n, HERE)
#define atomic_read(v)			x_atomic_read(v, HERE)
#define atomic_try_cmpxchg(v, old, new)	x_atomic_try_cmpxchg(v, old, new, HERE)
#define atomic_add_return(n, v)		x_atomic_add(v, n, HERE)
#define atomic_sub_return(n, v)		x_atomic_add(v, -(n), HERE)
#define atomic_add(n, v)		((void)x_atomic_add(v, n, HERE))
#define atomic_sub(n, v)		((void)x_atomic_add(v, -(int)(n), HERE))
#define atomic_inc(v)			((void)x_atomic_add(v, 1, HERE))
#define atomic_dec(v)			((void)x_atomic_add(v, -1, HERE))
#define atomic_inc_return(v)		x_atomic_add(v, 1, HERE)
#define atomic_dec_return(v)		x_atomic_add(v, -1, HERE)
#define atomic_dec_and_test(v)		(!x_atomic_add(v, -1, HERE))

#endif /* EXPLORE_ATOMIC_H */
