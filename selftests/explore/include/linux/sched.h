/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The current task; an actor is one. */
#ifndef EXPLORE_SCHED_H
#define EXPLORE_SCHED_H

#include <linux/types.h>

struct task_struct;

struct task_struct *x_current(void);
void x_may_resched(const struct place *here);

#define current			x_current()
#define cond_resched()		x_may_resched(HERE)

#endif /* EXPLORE_SCHED_H */
