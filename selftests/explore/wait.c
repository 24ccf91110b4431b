// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Wait queues, sleeping, signals and the clock.
 *
 * When nobody can run, whoever sleeps is woken once to see whether it goes back
 * to sleep: if it does not, it slept although what it waits for was there.
 */
#include "search.h"
#include "world.h"

void init_waitqueue_head(wait_queue_head_t *queue)
{
	memset(queue, 0, sizeof(*queue));
}

static int place_in(const wait_queue_head_t *queue, int k)
{
	int i;

	for (i = 0; i < X_WAITERS; i++) {
		if (queue->who[i] == k + 1)
			return i;
	}
	return -1;
}

static void take_out(wait_queue_head_t *queue, int i)
{
	queue->exclusive &= ~(1 << (queue->who[i] - 1));
	memmove(&queue->who[i], &queue->who[i + 1], X_WAITERS - i - 1);
	queue->who[X_WAITERS - 1] = 0;
}

void x_prepare(wait_queue_head_t *queue, struct wait_queue_entry *entry,
	       int state, bool exclusive, const struct place *here)
{
	int i = 0;

	may_sleep("prepare_to_wait()", here);
	point(DOING_PREPARE, queue, here);
	entry->queue = queue;
	ME->task_state = state;
	if (place_in(queue, W.running) >= 0)
		return;
	while (queue->who[i])
		i++;
	queue->who[i] = W.running + 1;
	if (exclusive)
		queue->exclusive |= 1 << W.running;
}

/* Like the kernel's, this does not touch a queue that it was taken out of. */
void x_finish(wait_queue_head_t *queue, struct wait_queue_entry *entry,
	      const struct place *here)
{
	int i;

	ME->task_state = TASK_RUNNING;
	if (ME->probed)
		account_overslept(here);
	if (!entry->queue || !is_live(queue))
		return;
	/* Until it has left, it may be woken instead of another one. */
	if (queue->exclusive & 1 << W.running || search_fine)
		point(DOING_FINISH, queue, here);
	i = place_in(queue, W.running);
	if (i >= 0)
		take_out(queue, i);
}

static bool wake_one(wait_queue_head_t *queue, int i, int mode)
{
	struct actor *actor = &W.actors[queue->who[i] - 1];

	if (!(actor->task_state & mode))
		return false;
	actor->task_state = TASK_RUNNING;
	take_out(queue, i);
	return true;
}

/* All that are not exclusive, and @n of the others; all if @n is 0. */
void x_wake(wait_queue_head_t *queue, int mode, int n, const struct place *here)
{
	bool all = !n;
	int i = 0;

	if (ME->spins) {
		/* Who is woken looks under the lock at what has changed. */
		use(DOING_WAKE, queue, here);
	} else {
		point(DOING_WAKE, queue, here);
		let_go();
	}
	while (i < X_WAITERS && queue->who[i]) {
		bool exclusive = queue->exclusive & 1 << (queue->who[i] - 1);

		if ((exclusive && !all && n <= 0) || !wake_one(queue, i, mode)) {
			i++;
			continue;
		}
		if (exclusive)
			n--;
	}
}

bool x_has_sleeper(wait_queue_head_t *queue, const struct place *here)
{
	look(queue, here);
	return queue->who[0];
}

bool x_sleep(bool timed, u64 until, const struct place *here)
{
	may_sleep("schedule()", here);
	if (ME->users)
		violated("C14", "%s sleeps (%s:%d) with a use count held",
			 actor_name(W.running), here->file, here->line);
	ME->timed = timed;
	ME->until = until;
	if (!sleep_is_over(ME))
		stand(DOING_SLEEP, NULL, here, WANTS_WAKE);
	ME->task_state = TASK_RUNNING;
	ME->timed = false;
	ME->until = 0;
	return timed && W.now >= until;
}

bool x_sleep_long(const struct place *here)
{
	x_sleep(false, 0, here);
	return false;
}

bool sleep_is_over(const struct actor *actor)
{
	return actor->task_state == TASK_RUNNING ||
	       (actor->task_state == TASK_INTERRUPTIBLE && actor->signal) ||
	       (actor->timed && W.now >= actor->until);
}

/* A signal that is there when somebody looks; it may have come before. */
bool x_signal_pending(void)
{
	if (!ME->signal && W.signals && ME->call && look_fails(DOING_SIGNAL))
		ME->signal = true;
	return ME->signal;
}

/* Likewise the clock: until somebody looks nobody knows that it has moved. */
u64 ktime_get_ns(void)
{
	u64 until = ME->call ? deadline_of(ME->call) : 0;

	if (W.now < until && look_fails(DOING_CLOCK))
		W.now = until;
	return W.now;
}
