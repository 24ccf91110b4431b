/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Users' numbers. */
#ifndef EXPLORE_UIDGID_H
#define EXPLORE_UIDGID_H

#include <linux/types.h>

typedef struct {
	u32 val;
} kuid_t;

static inline u32 __kuid_val(kuid_t uid)
{
	return uid.val;
}

static inline bool uid_eq(kuid_t a, kuid_t b)
{
	return a.val == b.val;
}

#endif /* EXPLORE_UIDGID_H */
