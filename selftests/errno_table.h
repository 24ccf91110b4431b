/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Lines of the table of errors, see errno_table.c.
 */
#ifndef SELFTESTS_ERRNO_TABLE_H
#define SELFTESTS_ERRNO_TABLE_H

#include <stdbool.h>

/* Whether the library is ours. */
extern bool over_ours;

/* What @call in @state came to: the result, or the name of errno for -1. */
void line(const char *state, const char *call, int result);
void line_text(const char *state, const char *call, const char *text);
void line_number(const char *state, const char *call, long number);

/* Every call on an id in the state of that name. */
void table_calls(const char *state);
/* Wrong arguments; addresses; what a peer is told; waiting. */
void table_arguments(const char *name);
void table_options(const char *name);
void table_addresses(const char *name);
void table_peers(const char *name);
void table_waits(const char *name);
/* Synchronous ids, and what needs them. */
void table_sync(const char *name);
void table_multicast(const char *name);
void table_endpoint(const char *name);
void table_addrinfo(const char *name);
/* Queue pairs, shared receive queues, devices. */
void table_queue_pairs(const char *name);
void table_receive_queues(const char *name);
void table_helpers(const char *name);
/* What goes from one end to the other; addresses that are GIDs. */
void table_private_data(const char *name);
void table_ece(const char *name);
void table_unconnected(const char *name);
void table_gids(const char *name);

#endif /* SELFTESTS_ERRNO_TABLE_H */
