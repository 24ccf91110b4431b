/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A work item is run by an actor of its own. */
#ifndef EXPLORE_WORKQUEUE_H
#define EXPLORE_WORKQUEUE_H

#include <linux/types.h>

struct work_struct {
	void (*func)(struct work_struct *work);
};

struct workqueue_struct;

struct workqueue_struct *x_workqueue(void);
bool x_queue_work(struct work_struct *work, const struct place *here);
void destroy_workqueue(struct workqueue_struct *queue);

#define WQ_UNBOUND			0u
#define alloc_workqueue(name, flags, n)	x_workqueue()
#define INIT_WORK(work, f)		((work)->func = (f))
#define queue_work(queue, work)		((void)(queue), x_queue_work(work, HERE))

#endif /* EXPLORE_WORKQUEUE_H */
