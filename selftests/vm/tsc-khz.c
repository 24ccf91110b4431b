// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * tsc-khz - print how fast this machine's time stamp counter runs, in kHz.
 *
 * QEMU shows the guest the host's counter but not its frequency.  On a busy
 * host a guest that has to find out by itself fails, and then keeps time by
 * counting timer interrupts, of which it misses many.
 */
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

struct sample {
	double seconds;
	unsigned long long ticks;
};

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

/* Of several readings the one that was interrupted least. */
static struct sample take_sample(void)
{
	struct sample best = { 0, 0 };
	double shortest = 1;
	int i;

	for (i = 0; i < 50; i++) {
		double before = seconds_now();
		unsigned long long ticks = __rdtsc();
		double took = seconds_now() - before;

		if (took < shortest) {
			shortest = took;
			best.seconds = before + took / 2;
			best.ticks = ticks;
		}
	}
	return best;
}

int main(void)
{
	const struct timespec pause = { .tv_nsec = 50000000 };
	struct sample begin, end;

	begin = take_sample();
	nanosleep(&pause, NULL);
	end = take_sample();
	printf("%.0f\n", (end.ticks - begin.ticks) / (end.seconds - begin.seconds) / 1000);
	return 0;
}
