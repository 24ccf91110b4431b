/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Mutexes, see lock.c. */
#ifndef EXPLORE_MUTEX_H
#define EXPLORE_MUTEX_H

#include <linux/types.h>
#include <linux/lockdep.h>

/* In the order in which they are taken, as Documentation/locking.rst has it. */
enum mutex_rank {
	RANK_OP,
	RANK_HANDLER,
	RANK_READ,
};

struct mutex {
	/* The actor that has it, counted from 1. */
	u8 owner;
	u8 rank;
};

void x_mutex_init(struct mutex *mutex, const char *name);
int x_mutex_lock(struct mutex *mutex, bool interruptible,
		 const struct place *here);
bool x_mutex_trylock(struct mutex *mutex, const struct place *here);
void x_mutex_unlock(struct mutex *mutex, const struct place *here);
void x_mutex_destroy(struct mutex *mutex, const struct place *here);

#define mutex_init(mutex)		x_mutex_init(mutex, #mutex)
#define mutex_lock(mutex)		((void)x_mutex_lock(mutex, false, HERE))
#define mutex_lock_interruptible(mutex)	x_mutex_lock(mutex, true, HERE)
#define mutex_trylock(mutex)		x_mutex_trylock(mutex, HERE)
#define mutex_unlock(mutex)		x_mutex_unlock(mutex, HERE)
#define mutex_destroy(mutex)		x_mutex_destroy(mutex, HERE)

#endif /* EXPLORE_MUTEX_H */
