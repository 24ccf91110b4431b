/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Saving, restoring and recognising the state of a run.
 */
#ifndef EXPLORE_STATE_H
#define EXPLORE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* States are saved on a stack; the position is what the next one gets. */
size_t state_save(void);
void state_restore(size_t at);
void state_forget(size_t at);

uint64_t state_hash(void);
/* Whether a state was seen with as many preemptions left and as few steps. */
bool state_seen(uint64_t hash, int budget, int depth);
void states_clear(void);
uint64_t states_count(void);

#endif /* EXPLORE_STATE_H */
