/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a detector of races must find.
 */
#ifndef SELFTESTS_RACE_H
#define SELFTESTS_RACE_H

void race(void);

#endif /* SELFTESTS_RACE_H */
