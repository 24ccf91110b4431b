/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Wait queues and sleeping, see wait.c. */
#ifndef EXPLORE_WAIT_H
#define EXPLORE_WAIT_H

#include <linux/types.h>

#define TASK_RUNNING		0
#define TASK_INTERRUPTIBLE	1
#define TASK_UNINTERRUPTIBLE	2
#define TASK_NORMAL		3

#define X_WAITERS		14

typedef struct wait_queue_head {
	/* Actors, counted from 1, in the order in which they came. */
	u8 who[X_WAITERS];
	u16 exclusive;
} wait_queue_head_t;

struct wait_queue_entry {
	wait_queue_head_t *queue;
};

void init_waitqueue_head(wait_queue_head_t *queue);
void x_prepare(wait_queue_head_t *queue, struct wait_queue_entry *entry,
	       int state, bool exclusive, const struct place *here);
void x_finish(wait_queue_head_t *queue, struct wait_queue_entry *entry,
	      const struct place *here);
void x_wake(wait_queue_head_t *queue, int mode, int n,
	    const struct place *here);
bool x_has_sleeper(wait_queue_head_t *queue, const struct place *here);
/* Sleeps; with @timed until then at most.  Whether the time has come. */
bool x_sleep(bool timed, u64 until, const struct place *here);
/* Sleeps, not for ever: for as long as anything else can happen. */
bool x_sleep_long(const struct place *here);
bool x_signal_pending(void);

#define DEFINE_WAIT(name)		struct wait_queue_entry name = { NULL }
#define prepare_to_wait(q, entry, state)	x_prepare(q, entry, state, false, HERE)
#define prepare_to_wait_exclusive(q, entry, state) \
	x_prepare(q, entry, state, true, HERE)
#define finish_wait(q, entry)		x_finish(q, entry, HERE)
#define __wake_up(q, mode, n, key)	x_wake(q, mode, n, HERE)
#define wake_up_all(q)			x_wake(q, TASK_NORMAL, 0, HERE)
#define wake_up(q)			x_wake(q, TASK_NORMAL, 1, HERE)
#define wake_up_interruptible(q)	x_wake(q, TASK_INTERRUPTIBLE, 1, HERE)
#define wq_has_sleeper(q)		x_has_sleeper(q, HERE)
#define schedule()			((void)x_sleep(false, 0, HERE))

#define x_wait_interruptible(q, condition, exclusive) ({		\
	DEFINE_WAIT(entry_);						\
	int err_ = 0;							\
									\
	while (!(condition)) {						\
		x_prepare(&(q), &entry_, TASK_INTERRUPTIBLE, exclusive, HERE); \
		if (condition)						\
			break;						\
		if (x_signal_pending()) {				\
			err_ = -ERESTARTSYS;				\
			break;						\
		}							\
		schedule();						\
	}								\
	finish_wait(&(q), &entry_);					\
	err_;								\
})
#define wait_event_interruptible(q, condition)				\
	x_wait_interruptible(q, condition, false)
#define wait_event_interruptible_exclusive(q, condition)		\
	x_wait_interruptible(q, condition, true)
#define wait_event(q, condition) do {					\
	DEFINE_WAIT(entry_);						\
									\
	while (!(condition)) {						\
		prepare_to_wait(&(q), &entry_, TASK_UNINTERRUPTIBLE);	\
		if (condition)						\
			break;						\
		schedule();						\
	}								\
	finish_wait(&(q), &entry_);					\
} while (0)
#define wait_event_timeout(q, condition, timeout) ({			\
	DEFINE_WAIT(entry_);						\
	bool late_ = false;						\
									\
	(void)(timeout);						\
	while (!(condition) && !late_) {					\
		prepare_to_wait(&(q), &entry_, TASK_UNINTERRUPTIBLE);	\
		if (condition)						\
			break;						\
		late_ = x_sleep_long(HERE);				\
	}								\
	finish_wait(&(q), &entry_);					\
	!late_;								\
})

#endif /* EXPLORE_WAIT_H */
