/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Signals arrive when the scheduler chooses so. */
#ifndef EXPLORE_SIGNAL_H
#define EXPLORE_SIGNAL_H

#include <linux/sched.h>
#include <linux/wait.h>

#define signal_pending(task)		((void)(task), x_signal_pending())
#define fatal_signal_pending(task)	((void)(task), false)

#endif /* EXPLORE_SIGNAL_H */
