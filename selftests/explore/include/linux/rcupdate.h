/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * RCU: what is given to it is freed as soon as nobody can have seen it any more.
 */
#ifndef EXPLORE_RCUPDATE_H
#define EXPLORE_RCUPDATE_H

#include <linux/types.h>

struct rcu_head {
	void (*func)(struct rcu_head *head);
};

void x_rcu_read_lock(void);
void x_rcu_read_unlock(const struct place *here);
/* Calls @func, or frees @p if there is none. */
void x_rcu(struct rcu_head *head, void (*func)(struct rcu_head *head),
	   const void *p, const struct place *here);
void rcu_barrier(void);

#define rcu_read_lock()			x_rcu_read_lock()
#define rcu_read_unlock()		x_rcu_read_unlock(HERE)
#define call_rcu(head, func)		x_rcu(head, func, NULL, HERE)
#define kfree_rcu(p, field)		x_rcu(&(p)->field, NULL, p, HERE)

#endif /* EXPLORE_RCUPDATE_H */
