/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Who the caller is, see stage.c. */
#ifndef EXPLORE_CRED_H
#define EXPLORE_CRED_H

#include <linux/uidgid.h>

kuid_t current_euid(void);

#endif /* EXPLORE_CRED_H */
