/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Lists are the kernel's own.  Within its functions the marked accesses are no
 * points at which another actor may go first: lists are protected by locks.
 */
#ifndef EXPLORE_LIST_H
#define EXPLORE_LIST_H

#include <linux/types.h>

#pragma push_macro("READ_ONCE")
#pragma push_macro("WRITE_ONCE")
#undef READ_ONCE
#undef WRITE_ONCE
#define READ_ONCE(x)		(*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, value)	(*(volatile typeof(x) *)&(x) = (value))
#include_next <linux/list.h>
#pragma pop_macro("WRITE_ONCE")
#pragma pop_macro("READ_ONCE")

#endif /* EXPLORE_LIST_H */
