// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What valgrind must find: see valgrind.sh.
 */
#include <stdlib.h>
#include <string.h>

#include "race.h"

enum { SIZE = 16 };

static volatile char *memory;
static volatile int beyond = SIZE;

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int read = 0;

	memory = calloc(1, SIZE);
	if (!strcmp(what, "race"))
		race();
	else if (!strcmp(what, "read"))
		read = memory[beyond];
	if (strcmp(what, "leak"))
		free((void *)memory);
	memory = NULL;
	return read == 1000;
}
