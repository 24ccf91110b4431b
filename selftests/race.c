// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A race: two threads change a variable, and nothing orders them.
 */
#include <pthread.h>
#include <stddef.h>

#include "race.h"

static int shared;

static void *change(void *argument)
{
	(void)argument;
	shared++;
	return NULL;
}

void race(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, change, NULL);
	pthread_create(&threads[1], NULL, change, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
}
