/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * TAP, where the tests are what is to be said at the end of a long run.
 */
#ifndef SELFTESTS_RESULT_H
#define SELFTESTS_RESULT_H

#include <stdbool.h>

void result(bool ok, const char *name);
/* How many of them were not. */
unsigned int results_failed(void);
/* With errno's text; does not return. */
void give_up(const char *what) __attribute__((noreturn));

#endif /* SELFTESTS_RESULT_H */
