/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Spinlocks, see lock.c. */
#ifndef EXPLORE_SPINLOCK_H
#define EXPLORE_SPINLOCK_H

#include <linux/types.h>
#include <linux/lockdep.h>

typedef struct {
	/* The actor that has it, counted from 1. */
	u8 owner;
} spinlock_t;

void x_spin_init(spinlock_t *lock);
void x_spin_lock(spinlock_t *lock, bool nested, const struct place *here);
bool x_spin_trylock(spinlock_t *lock, const struct place *here);
void x_spin_unlock(spinlock_t *lock, const struct place *here);

#define DEFINE_SPINLOCK(name)		spinlock_t name
#define SINGLE_DEPTH_NESTING		1
#define spin_lock_init(lock)		x_spin_init(lock)
#define spin_lock(lock)			x_spin_lock(lock, false, HERE)
#define spin_lock_nested(lock, n)	x_spin_lock(lock, (n) > 0, HERE)
#define spin_trylock(lock)		x_spin_trylock(lock, HERE)
#define spin_unlock(lock)		x_spin_unlock(lock, HERE)

#endif /* EXPLORE_SPINLOCK_H */
