/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Handles are reserved and given back by ids alone; for look-ups see id.h. */
#ifndef UCMX_HANDLE_H
#define UCMX_HANDLE_H

#include <linux/types.h>

struct ucmx_id;

int ucmx_handle_reserve(struct ucmx_id *id, gfp_t gfp);
void ucmx_handle_free(u32 handle);
bool ucmx_handles_empty(void);

#endif /* UCMX_HANDLE_H */
