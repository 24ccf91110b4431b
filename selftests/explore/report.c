// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Results: numbers of a scenario; and of a violation the clause, the schedule in
 * words, which a replay in another process tells, and the seed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"

void report_counts(const struct scenario *scenario, const struct result *result,
		   double seconds)
{
	char bound[64];

	if (result->bound == UNBOUNDED)
		snprintf(bound, sizeof(bound), "all schedules");
	else
		snprintf(bound, sizeof(bound), "up to %d preemptions",
			 result->bound);
	printf("# %s: %s: %llu schedules, %llu states, depth %d, %llu steps, %.0f per second\n",
	       scenario->name, bound, (unsigned long long)result->schedules,
	       (unsigned long long)result->states, result->depth,
	       (unsigned long long)result->steps,
	       result->steps / (seconds > 0.001 ? seconds : 0.001));
}

/* The place in the source from where what returns to @pc is called. */
void report_place(const void *pc)
{
	char command[512], self[256] = "", line[256];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	FILE *pipe;

	if (n <= 0)
		return;
	fflush(stdout);
	snprintf(command, sizeof(command), "addr2line -s -e '%s' %p", self,
		 (const char *)pc - 1);
	pipe = popen(command, "r");
	if (!pipe)
		return;
	if (fgets(line, sizeof(line), pipe)) {
		line[strcspn(line, "\n")] = '\0';
		printf("%s", line);
	}
	pclose(pipe);
}

void report_message(const struct result *result)
{
	const char *p = result->message;

	printf("# %s: ", result->clause);
	for (; *p; p++) {
		if (strncmp(p, "@0x", 3)) {
			putchar(*p);
			continue;
		}
		report_place((const void *)strtoul(p + 1, NULL, 16));
		p += strspn(p + 1, "0123456789abcdefx");
	}
	printf("\n");
	fflush(stdout);
}

void report_short(const struct scenario *scenario, const struct result *result)
{
	printf("%s %s ", result->clause, scenario->name);
	report_message(result);
	printf("# seed: %s\n", result->seed);
}

/* A path as the user would write it. */
static const char *from_here(const char *path)
{
	char here[256];
	size_t n;

	if (!getcwd(here, sizeof(here)))
		return path;
	n = strlen(here);
	return !strncmp(path, here, n) && path[n] == '/' ? path + n + 1 : path;
}

void report_violation(const struct scenario *scenario,
		      const struct result *result)
{
	char command[2048], self[256] = "";
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	report_message(result);
	if (n <= 0)
		return;
	printf("# again: %s --replay %s\n", from_here(self), result->seed);
	fflush(stdout);
	snprintf(command, sizeof(command), "'%s' --replay '%s'", self,
		 result->seed);
	if (system(command) < 0)
		perror("replay");
}
