/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Reference counts, which may neither be raised from 0 nor fall below it. */
#ifndef EXPLORE_REFCOUNT_H
#define EXPLORE_REFCOUNT_H

#include <linux/atomic.h>

typedef struct {
	int refs;
} refcount_t;

void x_ref_inc(refcount_t *ref, const struct place *here);
bool x_ref_inc_not_zero(refcount_t *ref, const struct place *here);
bool x_ref_dec_and_test(refcount_t *ref, const struct place *here);

#define refcount_set(ref, n)		((ref)->refs = (n))
#define refcount_read(ref)		READ_ONCE((ref)->refs)
#define refcount_inc(ref)		x_ref_inc(ref, HERE)
#define refcount_inc_not_zero(ref)	x_ref_inc_not_zero(ref, HERE)
#define refcount_dec_and_test(ref)	x_ref_dec_and_test(ref, HERE)
/* There may always be one only, as far as the caller can tell. */
#define refcount_dec_not_one(ref)	((void)(ref), false)

#endif /* EXPLORE_REFCOUNT_H */
