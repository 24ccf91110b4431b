// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The benchmark: "bench GROUP" prints the rows of a group, one a line, with tabs
 * between name, median, quartiles, lowest, highest and number of samples.
 *
 * What is counted is the clock of a virtual machine that goes by instructions.
 * A sample is one operation, with whatever it had others do before it returned.
 * (But for memory.c and two.c.)
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

static const struct group {
	const char *name;
	void (*run)(void);
} groups[] = {
	{ "floor", bench_floor },
	{ "event", bench_event },
	{ "request", bench_request },
	{ "basic", bench_basic },
	{ "pending", bench_pending },
	{ "listener", bench_listener },
	{ "batch", bench_batch },
	{ "connection", bench_connection },
	{ "memory", bench_memory },
	{ "scale", bench_scale },
	{ "channels", bench_channels },
	{ "two", bench_two },
	{ "own", bench_own },
};

#define N_GROUPS (sizeof(groups) / sizeof(groups[0]))

void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
	exit(1);
}

unsigned int wanted(const char *name, unsigned int n)
{
	const char *value = getenv(name);

	return value ? strtoul(value, NULL, 10) : n;
}

void sample(struct samples *samples, double value)
{
	if (samples->n == samples->room) {
		samples->room = samples->room ? 2 * samples->room : 256;
		samples->at = realloc(samples->at,
				      samples->room * sizeof(*samples->at));
		must(samples->at, "realloc");
	}
	samples->at[samples->n++] = value;
}

void sample_since(struct samples *samples, uint64_t start, unsigned int n)
{
	uint64_t end = ticks();

	sample(samples, (double)(end - start) / n);
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The value below which there are so many fourths of all samples. */
static double quartile(const struct samples *samples, unsigned int fourths)
{
	double place = (samples->n - 1) * fourths / 4.0;
	unsigned int below = place;
	double rest = place - below;

	if (!rest)
		return samples->at[below];
	return samples->at[below] * (1 - rest) + samples->at[below + 1] * rest;
}

/* The figure of the row, their median unless it is given, and what it can be judged by. */
static void print_row(struct samples *samples, const double *figure,
		      const char *format, va_list args)
{
	must(samples->n >= 5, "fewer than five samples");
	qsort(samples->at, samples->n, sizeof(*samples->at), compare);
	vprintf(format, args);
	printf("\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%u\n",
	       figure ? *figure : quartile(samples, 2), quartile(samples, 1),
	       quartile(samples, 3), quartile(samples, 0), quartile(samples, 4),
	       samples->n);
	fflush(stdout);
	samples->n = 0;
}

void row(struct samples *samples, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_row(samples, NULL, format, args);
	va_end(args);
}

void row_with(struct samples *samples, double figure, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_row(samples, &figure, format, args);
	va_end(args);
}

/* Waiting costs nothing where an idle processor's clock leaps ahead. */
void settle(void)
{
	usleep(300000);
}

/* Of the one processor, in nanoseconds, which are ticks. */
uint64_t idle_ticks(void)
{
	FILE *file = fopen("/proc/timer_list", "r");
	unsigned long long spent = 0;
	char line[256];
	bool found = false;

	must(file, "/proc/timer_list");
	while (!found && fgets(line, sizeof(line), file))
		found = sscanf(line, " .idle_sleeptime : %llu", &spent) == 1;
	fclose(file);
	must(found, "the idle time in /proc/timer_list");
	return spent;
}

int main(int argc, char **argv)
{
	unsigned int i;

	for (i = 0; i < N_GROUPS; i++) {
		if (argc == 2 && !strcmp(argv[1], groups[i].name)) {
			groups[i].run();
			return 0;
		}
	}
	fprintf(stderr, "usage: %s GROUP, which is one of:", argv[0]);
	for (i = 0; i < N_GROUPS; i++)
		fprintf(stderr, " %s", groups[i].name);
	fputc('\n', stderr);
	return 2;
}
