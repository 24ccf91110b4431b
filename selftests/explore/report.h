/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Saying what came out.
 */
#ifndef EXPLORE_REPORT_H
#define EXPLORE_REPORT_H

#include "search.h"

void report_counts(const struct scenario *scenario, const struct result *result,
		   double seconds);
void report_violation(const struct scenario *scenario,
		      const struct result *result);
void report_place(const void *pc);
void report_message(const struct result *result);
void report_short(const struct scenario *scenario, const struct result *result);

/* There if lines are counted. */
void __gcov_dump(void) __attribute__((weak));

#endif /* EXPLORE_REPORT_H */
