/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Points in time as user space names them: CLOCK_MONOTONIC of the caller's time
 * namespace, which is the kernel's own plus an offset.
 */
#ifndef UCMX_CLOCK_H
#define UCMX_CLOCK_H

#include <linux/ktime.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/time_namespace.h>

static inline s64 ucmx_clock_offset(void)
{
	struct timespec64 offset = {};

	timens_add_monotonic(&offset);
	return timespec64_to_ns(&offset);
}

/* A deadline by our clock; 0 stays 0, which is none. */
static inline u64 ucmx_clock_deadline(u64 deadline)
{
	s64 offset = ucmx_clock_offset();

	if (!deadline)
		return 0;
	/* Too far in the future to be told apart. */
	if (deadline > KTIME_MAX)
		return deadline;
	if (offset < 0)
		return deadline + -offset;
	/* One before our clock began is past. */
	return deadline > (u64)offset ? deadline - offset : 1;
}

/* A point in time, or 0 for none, by the caller's clock. */
static inline u64 ucmx_clock_time(u64 time)
{
	return time ? time + ucmx_clock_offset() : 0;
}

#endif /* UCMX_CLOCK_H */
