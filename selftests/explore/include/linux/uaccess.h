/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* User memory, which may not be there; see primitives.c. */
#ifndef EXPLORE_UACCESS_H
#define EXPLORE_UACCESS_H

#include <linux/types.h>

unsigned long x_copy_to_user(void *to, const void *from, unsigned long n,
			     const struct place *here);

#define copy_to_user(to, from, n)	x_copy_to_user(to, from, n, HERE)

#endif /* EXPLORE_UACCESS_H */
