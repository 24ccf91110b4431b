// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * TAP, see result.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "result.h"

static unsigned int results, failures;

void result(bool ok, const char *name)
{
	failures += !ok;
	printf("%sok %u %s\n", ok ? "" : "not ", ++results, name);
	fflush(stdout);
}

unsigned int results_failed(void)
{
	return failures;
}

void give_up(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}
