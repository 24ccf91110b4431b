// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Making what can fail in a system call fail, one after the other, see fault.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fault.h"
#include "scene.h"

#define MAX_IDS 16
#define MAX_REPORTS 64

bool fault_hit;

static int nth_fd = -1;
static int watched[2] = { -1, -1 };
static struct fault_spot *spots;

/* What a channel says of itself and its ids. */
struct state {
	struct rdma_ucmx_info info;
	struct rdma_ucmx_id_info ids[MAX_IDS];
	int n;
};

static struct state before[2];

/* Shared with the processes that the harness runs its tests in. */
static struct report {
	char name[32];
	unsigned int nth;
	unsigned int copies;
	unsigned int nomem;
	bool passed;
} *reports;

static void __attribute__((constructor)) share_reports(void)
{
	reports = mmap(NULL, MAX_REPORTS * sizeof(*reports),
		       PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (reports == MAP_FAILED) {
		perror("# mmap");
		abort();
	}
}

/* Their traces would count as reports of the kernel. */
int fault_begin(void)
{
	if (fault_slab_disarm() || fault_set("failslab/verbose", "0") ||
	    fault_set("fail_usercopy/verbose", "0") ||
	    fault_set("failslab/ignore-gfp-wait", "N"))
		return -1;
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (nth_fd < 0)
		return -1;
	/* Or a page fault of the test itself could meet what is to fail. */
	return mlockall(MCL_CURRENT | MCL_FUTURE);
}

int fault_end(void)
{
	close(nth_fd);
	nth_fd = -1;
	return fault_set("failslab/ignore-gfp-wait", "Y");
}

void fault_watch(int fd, int other)
{
	watched[0] = fd;
	watched[1] = other;
}

static void write_nth(unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	if (pwrite(nth_fd, text, len, 0) != len && n) {
		perror("# fail-nth");
		abort();
	}
}

/*
 * How many more would have to be met, 0 if something failed.  The answer is
 * copied, and that may be what fails.
 */
static unsigned int read_nth(void)
{
	char text[16] = "";

	if (pread(nth_fd, text, sizeof(text) - 1, 0) <= 0)
		return 1;
	return strtoul(text, NULL, 10);
}

static void look(struct state *state, int fd)
{
	memset(state, 0, sizeof(*state));
	if (fd < 0)
		return;
	state->n = cmd_list_ids(fd, 0, state->ids, MAX_IDS);
	if (state->n < 0 || cmd_info(fd, &state->info)) {
		perror("# a channel does not say how it is");
		abort();
	}
}

static bool changed(void)
{
	struct state now;
	int i;

	for (i = 0; i < 2; i++) {
		look(&now, watched[i]);
		if (memcmp(&now, &before[i], sizeof(now)))
			return true;
	}
	return false;
}

static void enlist(struct fault_spot *spot)
{
	struct fault_spot *other;

	for (other = spots; other; other = other->next) {
		if (other == spot)
			return;
	}
	spot->next = spots;
	spots = spot;
}

void fault_arm(struct fault_spot *spot)
{
	fault_hit = false;
	if (spot->passed)
		return;
	enlist(spot);
	look(&before[0], watched[0]);
	look(&before[1], watched[1]);
	errno = 0;
	write_nth(spot->nth + 1);
}

static bool complain(struct fault_spot *spot, const char *what, int err)
{
	fprintf(stderr, "# %s: with number %u: %s: %s\n", spot->name, spot->nth,
		what, strerror(err));
	return false;
}

static bool is_of(const char *name, const struct fault_spot *spot)
{
	size_t len = strcspn(spot->name, " ");

	return strlen(name) == len && !strncmp(name, spot->name, len);
}

/* ENOBUFS is what the network says of memory for a route. */
static bool is_nomem(const struct fault_spot *spot, int err)
{
	return err == ENOMEM || (err == ENOBUFS && is_of("RESOLVE_ADDR", spot));
}

/* A call that failed for what was made to fail. */
static bool failed_well(struct fault_spot *spot, bool repeat, int err)
{
	spot->failures++;
	spot->copies += err == EFAULT;
	spot->nomem += is_nomem(spot, err);
	if (err != EFAULT && !is_nomem(spot, err))
		return complain(spot, "not an error for that", err);
	if (repeat && changed())
		return complain(spot, "failed and changed something", err);
	return true;
}

/*
 * Leaves errno as it was after the call; EPROTO, whatever the result, after a
 * failure that is not as it should be.
 */
bool fault_again(struct fault_spot *spot, bool repeat, int result)
{
	int err = errno;
	bool well = true;

	if (spot->passed)
		return false;
	fault_hit = !read_nth();
	while (read_nth())
		write_nth(0);
	if (fault_hit)
		spot->nth++;
	else
		spot->passed = true;
	if (fault_hit && result < 0)
		well = failed_well(spot, repeat, err);
	errno = well ? err : EPROTO;
	return fault_hit && result < 0 && well && repeat;
}

bool fault_left(void)
{
	struct fault_spot *spot;

	for (spot = spots; spot; spot = spot->next) {
		if (!spot->passed)
			return true;
	}
	return !spots;
}

static void report_one(const struct fault_spot *spot)
{
	int i;

	fprintf(stderr, "# %s: %u failed: %u times the call, %u for a copy, %u for memory%s\n",
		spot->name, spot->nth, spot->failures, spot->copies, spot->nomem,
		spot->passed ? "" : "; more is left");
	for (i = 0; i < MAX_REPORTS && reports[i].name[0]; i++)
		;
	if (i == MAX_REPORTS) {
		fprintf(stderr, "# too many calls\n");
		abort();
	}
	snprintf(reports[i].name, sizeof(reports[i].name), "%.*s",
		 (int)strcspn(spot->name, " "), spot->name);
	reports[i].nth = spot->nth;
	reports[i].copies = spot->copies;
	reports[i].nomem = spot->nomem;
	reports[i].passed = spot->passed;
}

void fault_report(void)
{
	struct fault_spot *spot;

	for (spot = spots; spot; spot = spot->next)
		report_one(spot);
}

void fault_sum(const char *name, struct fault_sum *sum)
{
	int i;

	memset(sum, 0, sizeof(*sum));
	sum->passed = true;
	for (i = 0; i < MAX_REPORTS && reports[i].name[0]; i++) {
		if (name && strcmp(reports[i].name, name))
			continue;
		sum->nth += reports[i].nth;
		sum->copies += reports[i].copies;
		sum->nomem += reports[i].nomem;
		sum->passed &= reports[i].passed;
	}
}
