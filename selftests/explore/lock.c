// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Spinlocks and mutexes, and the order in which they are taken, which is that
 * of Documentation/locking.rst:
 *
 *	op_mutex > handler mutex > channel->lock (two of them by address)
 *	read_mutex > channel->lock
 *
 * op_mutex and read_mutex never one inside the other.  Spinlocks that are
 * variables of the core's are inside of all others.
 */
#include "search.h"
#include "world.h"

static const char *const rank_names[] = {
	[RANK_OP] = "op_mutex",
	[RANK_HANDLER] = "rdma_cm's handler mutex",
	[RANK_READ] = "read_mutex",
};

void x_spin_init(spinlock_t *lock)
{
	lock->owner = 0;
}

static void check_spin_order(const spinlock_t *lock, bool nested,
			     const struct place *here)
{
	int i;

	for (i = 0; i < ME->spins; i++) {
		if (ME->locks[i] == lock)
			violated("ORDER", "%s:%d takes %s twice", here->file,
				 here->line, name_of(lock));
		if (in_arena(lock) ? !nested || ME->locks[i] > lock :
				     !in_arena(ME->locks[i]))
			violated("ORDER", "%s:%d takes %s while holding %s",
				 here->file, here->line, name_of(lock),
				 name_of(ME->locks[i]));
	}
	if (ME->spins == ARRAY_SIZE(ME->locks))
		violated("ORDER", "%s:%d takes one spinlock more than it may", here->file,
			 here->line);
}

void x_spin_lock(spinlock_t *lock, bool nested, const struct place *here)
{
	check_live(lock, here);
	check_spin_order(lock, nested, here);
	if (search_running)
		stand(DOING_LOCK, lock, here, WANTS_LOCK);
	check_live(lock, here);
	lock->owner = W.running + 1;
	ME->locks[ME->spins++] = lock;
	ME->fresh = true;
}

/* In whatever order: nobody waits here. */
bool x_spin_trylock(spinlock_t *lock, const struct place *here)
{
	check_live(lock, here);
	if (ME->spins == ARRAY_SIZE(ME->locks))
		violated("ORDER", "%s:%d takes one spinlock more than it may", here->file,
			 here->line);
	point(DOING_TRYLOCK, lock, here);
	if (lock->owner)
		return false;
	lock->owner = W.running + 1;
	ME->locks[ME->spins++] = lock;
	ME->fresh = true;
	return true;
}

static void forget_lock(const spinlock_t *lock)
{
	int i = 0;

	while (ME->locks[i] != lock)
		i++;
	for (ME->spins--; i < ME->spins; i++)
		ME->locks[i] = ME->locks[i + 1];
	ME->locks[i] = NULL;
}

void x_spin_unlock(spinlock_t *lock, const struct place *here)
{
	use(DOING_UNLOCK, lock, here);
	if (lock->owner != W.running + 1)
		violated("ORDER", "%s:%d unlocks %s, which is not its own",
			 here->file, here->line, name_of(lock));
	lists_check(lock);
	lock->owner = 0;
	forget_lock(lock);
	ME->fresh = false;
	let_go();
}

void x_assert_held(const u8 *owner, const char *what, const struct place *here)
{
	check_live(owner, here);
	if (*owner != W.running + 1)
		violated("ORDER", "%s:%d: %s is not held", here->file,
			 here->line, what);
}

void x_mutex_init(struct mutex *mutex, const char *name)
{
	mutex->owner = 0;
	if (strstr(name, "op_mutex"))
		mutex->rank = RANK_OP;
	else if (strstr(name, "read_mutex"))
		mutex->rank = RANK_READ;
	else
		mutex->rank = RANK_HANDLER;
}

static void check_mutex_order(const struct mutex *mutex,
			      const struct place *here)
{
	/* What may be held already. */
	static const u8 outer[] = {
		[RANK_OP] = 0,
		/* A listener's release waits for rdma_cm's internal ids. */
		[RANK_HANDLER] = 1 << RANK_OP | 1 << RANK_HANDLER,
		[RANK_READ] = 0,
	};
	int rank;

	may_sleep("a mutex is taken", here);
	for (rank = 0; rank < 3; rank++) {
		if (ME->mutexes & ~outer[mutex->rank] & 1 << rank)
			violated("ORDER", "%s:%d takes %s while holding %s",
				 here->file, here->line,
				 rank_names[mutex->rank], rank_names[rank]);
	}
}

int x_mutex_lock(struct mutex *mutex, bool interruptible,
		 const struct place *here)
{
	check_live(mutex, here);
	check_mutex_order(mutex, here);
	ME->interruptible = interruptible;
	if (search_running)
		stand(DOING_MUTEX, mutex, here, WANTS_MUTEX);
	check_live(mutex, here);
	if (mutex->owner)
		return -EINTR;
	mutex->owner = W.running + 1;
	ME->mutexes |= 1 << mutex->rank;
	return 0;
}

bool x_mutex_trylock(struct mutex *mutex, const struct place *here)
{
	point(DOING_TRYLOCK, mutex, here);
	if (mutex->owner)
		return false;
	mutex->owner = W.running + 1;
	ME->mutexes |= 1 << mutex->rank;
	return true;
}

void x_mutex_unlock(struct mutex *mutex, const struct place *here)
{
	may_sleep("mutex_unlock()", here);
	/* Only of this one anybody could see that it is still held. */
	if (mutex->rank == RANK_READ)
		point(DOING_UNLOCK_MUTEX, mutex, here);
	else
		use(DOING_UNLOCK_MUTEX, mutex, here);
	if (mutex->owner != W.running + 1)
		violated("ORDER", "%s:%d unlocks %s, which is not its own",
			 here->file, here->line, name_of(mutex));
	mutex->owner = 0;
	ME->mutexes &= ~(1 << mutex->rank);
	let_go();
}

void x_mutex_destroy(struct mutex *mutex, const struct place *here)
{
	check_live(mutex, here);
	if (mutex->owner)
		violated("C18", "%s:%d destroys %s, which is held", here->file,
			 here->line, name_of(mutex));
}
