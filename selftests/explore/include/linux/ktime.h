/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* One clock, which moves when it is chosen that it has. */
#ifndef EXPLORE_KTIME_H
#define EXPLORE_KTIME_H

#include <linux/types.h>

typedef s64 ktime_t;

#define KTIME_MAX	((s64)~((u64)1 << 63))

u64 ktime_get_ns(void);

/* For the record only: that it differs would make equal states differ. */
static inline ktime_t ktime_get(void)
{
	return 1;
}

static inline ktime_t ns_to_ktime(u64 ns)
{
	return ns;
}

static inline s64 ktime_to_ns(ktime_t t)
{
	return t;
}

#endif /* EXPLORE_KTIME_H */
