/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Sleeping until a point in time. */
#ifndef EXPLORE_HRTIMER_H
#define EXPLORE_HRTIMER_H

#include <linux/ktime.h>
#include <linux/wait.h>

#define HRTIMER_MODE_ABS	0

#define schedule_hrtimeout(until, mode) ({				\
	const ktime_t *until_ = (until);				\
									\
	x_sleep(until_, until_ ? *until_ : 0, HERE);			\
})

#endif /* EXPLORE_HRTIMER_H */
