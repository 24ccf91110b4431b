// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Whether the detector of races finds one.  Output: TAP.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "race.h"

/* What the detector says does not belong here. */
static pid_t race_elsewhere(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	if (!freopen("/dev/null", "w", stderr))
		_exit(0);
	race();
	exit(0);
}

int main(void)
{
	int status = 0;
	pid_t pid;

	printf("TAP version 13\n1..1\n");
	fflush(stdout);
	pid = race_elsewhere();
	if (pid > 0 && waitpid(pid, &status, 0) == pid && status) {
		printf("ok 1 a_race_is_found\n");
		return 0;
	}
	printf("not ok 1 a_race_is_found\n");
	return 1;
}
