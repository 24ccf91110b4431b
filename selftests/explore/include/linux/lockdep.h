/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* "The caller holds it" is checked. */
#ifndef EXPLORE_LOCKDEP_H
#define EXPLORE_LOCKDEP_H

#include <linux/types.h>

/* A spinlock or a mutex begins with who owns it. */
void x_assert_held(const u8 *owner, const char *what, const struct place *here);

#define lockdep_assert_held(lock) \
	x_assert_held(&(lock)->owner, #lock, HERE)

#endif /* EXPLORE_LOCKDEP_H */
