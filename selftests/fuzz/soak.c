// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The soak, see soak.h: starting workers, killing and replacing them, taking
 * the device away, and in the end adding up.
 *
 * UCMX_SECONDS says how long.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../fabric.h"
#include "result.h"
#include "soak.h"

static const char *const counter_names[COUNTERS] = {
	"events delivered", "events acknowledged by readers",
	"events in the buffers of the dead", "events in the hands of the dead",
	"ids created", "connections", "migrations",
	"migrations with an event in hand", "migrations announced",
	"ids destroyed", "events written", "channels passed on",
	"channels received", "forks", "kills", "device removals",
};

/*
 * Processes
 */

static pid_t start(void (*run)(struct process *process), struct process *process)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		give_up("fork");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run(process);
	_exit(0);
}

static void let_device_come_and_go(struct process *process)
{
	(void)process;
	while (!soak->stop) {
		for (unsigned int i = 0; i < 80 && !soak->stop; i++)
			usleep(100000);
		if (fabric_removed(fabric_remove()) || fabric_restore())
			_exit(1);
		soak->counters[C_REMOVED]++;
	}
}

static bool is_dead(const struct process *process)
{
	return process->pid > 0 && kill(process->pid, 0) && errno == ESRCH;
}

/* Their children that lost them are ours, too. */
static void reap(pid_t *device, int *device_status)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != *device)
			continue;
		*device = 0;
		*device_status = status;
	}
}

static void bury_dead(void)
{
	for (unsigned int i = 0; i < PROCESSES; i++) {
		struct process *process = &soak->processes[i];

		if (!is_dead(process))
			continue;
		for (unsigned int j = 0; j < THREADS; j++)
			account_bury(&process->readers[j]);
		process->pid = 0;
	}
}

static void replace(void)
{
	for (unsigned int i = 0; i < WORKERS; i++) {
		if (!soak->processes[i].pid)
			soak->processes[i].pid = start(work, &soak->processes[i]);
	}
}

static void kill_one(void)
{
	struct process *process = &soak->processes[rand() % PROCESSES];

	if (process->pid > 0 && !kill(process->pid, SIGKILL))
		soak->counters[C_KILLED]++;
}

static bool all_gone(pid_t *device, int *device_status)
{
	reap(device, device_status);
	bury_dead();
	for (unsigned int i = 0; i < PROCESSES; i++) {
		if (soak->processes[i].pid > 0)
			return false;
	}
	return !*device;
}

/* Who waits for an event that does not come any more has to be killed. */
static void end_all(pid_t *device, int *device_status)
{
	bool ok;

	soak->stop = true;
	for (unsigned int i = 0; i < 100 && !all_gone(device, device_status); i++)
		usleep(100000);
	for (unsigned int i = 0; i < PROCESSES; i++) {
		if (soak->processes[i].pid > 0)
			kill(soak->processes[i].pid, SIGKILL);
	}
	ok = wait_until(all_gone(device, device_status));
	result(ok, "every process comes to an end");
	result(!*device && !*device_status && soak->counters[C_REMOVED],
	       "the device can be removed at any time");
}

static void soak_for(unsigned int seconds)
{
	__u64 end = now_ns() + seconds * 1000000000ULL;
	pid_t device = start(let_device_come_and_go, NULL);
	int device_status = 0;

	for (unsigned int round = 0; now_ns() < end; round++) {
		reap(&device, &device_status);
		bury_dead();
		replace();
		if (round % 8 == 7)
			kill_one();
		usleep(100000);
	}
	end_all(&device, &device_status);
	/* With the channels that are still under way. */
	close(post[0]);
	close(post[1]);
}

/*
 * Adding up
 */

static struct reader collector;

static void ignore(int fd, const struct event *ev)
{
	(void)fd;
	(void)ev;
}

/*
 * Let out what is held with unclaimed ids, not by ADOPT_ID, which their device may be
 * gone for.  Returns whether there were any.
 */
static bool claim_all(int fd)
{
	struct rdma_ucmx_id_info ids[256];
	int n = cmd_list_ids(fd, 0, ids, ARRAY_LEN(ids));
	bool any = false;

	for (int i = 0; i < n; i++) {
		if (ids[i].state & RDMA_UCMX_ID_UNCLAIMED) {
			cmd_migrate_id_cookie(fd, ids[i].id, fd, 0);
			any = true;
		}
	}
	return any;
}

/*
 * Read and acknowledge what is left of a channel.  A request that is read here
 * brings one more id that is unclaimed, for the next time.
 */
static bool is_quiet(__u32 channel)
{
	struct rdma_ucmx_info info;
	int fd = common[channel];
	bool claimed = claim_all(fd);

	while (readable(fd)) {
		account_read(&collector, fd, channel, ignore);
		for (unsigned int i = 0; i < HELD; i++) {
			if (collector.held[i].id)
				account_ack(&collector.held[i], fd);
		}
	}
	return !claim_all(fd) && !claimed && !cmd_info(fd, &info) &&
	       !info.out_pending && !info.out_outstanding;
}

static bool all_quiet(void)
{
	bool quiet = true;

	for (unsigned int i = 0; i < CHANNELS; i++)
		quiet &= is_quiet(i);
	return quiet;
}

static bool present[ACCOUNTS];

static void print_left(const struct rdma_ucmx_id_info *id, __u32 channel)
{
	printf("# id %u on channel %u: state %#x, %u pending, %u outstanding\n",
	       id->id, channel, id->state, id->pending, id->outstanding);
	printf("#   the oldest is %llu, read by %u\n", id->oldest_seq, id->oldest_reader);
}

static void list_left(bool complain)
{
	struct rdma_ucmx_id_info ids[256];

	for (unsigned int i = 0; i < CHANNELS; i++) {
		int n = cmd_list_ids(common[i], 0, ids, ARRAY_LEN(ids));

		for (int j = 0; j < n; j++) {
			present[ids[j].id % ACCOUNTS] = true;
			if (complain && (ids[j].pending || ids[j].outstanding))
				print_left(&ids[j], i);
		}
	}
}

static void check_account(struct account *of)
{
	if (of->delivered > of->begun)
		violated("more events delivered than written", of->id, 0, of->delivered);
	if (of->destroyed)
		return;
	if (!present[of->id % ACCOUNTS])
		violated("an id is gone that nobody destroyed", of->id, 0, 0);
	if (of->delivered < of->written)
		violated("fewer events delivered than written", of->id, of->delivered, of->written);
	for (__u32 seq = 1; seq <= of->latest; seq++) {
		__u8 progress = of->events[seq] & PROGRESS;

		if (progress != ACKNOWLEDGED)
			violated(progress == UNSEEN ? "never delivered" : "never acknowledged",
				 of->id, seq, progress);
	}
}

static void add_up(void)
{
	bool quiet = wait_until(all_quiet());
	unsigned int n = 0, kept = 0;

	list_left(!quiet);
	result(quiet, "nothing stays pending or outstanding");
	for (unsigned int i = 0; i < ACCOUNTS; i++) {
		if (!soak->accounts[i].id)
			continue;
		check_account(&soak->accounts[i]);
		n++;
		kept += !soak->accounts[i].destroyed;
	}
	printf("# account of %u ids, %u of them never destroyed\n", n, kept);
	result(!soak->violations, "every event is accounted for");
}

static void expect_activity(void)
{
	bool ok = true;

	for (unsigned int i = 0; i < COUNTERS; i++) {
		printf("# %9u %s\n", soak->counters[i], counter_names[i]);
		ok &= soak->counters[i] > 0;
	}
	result(ok, "everything that is counted has happened");
}

/* Nothing is outstanding, so nothing is waited for. */
static void expect_emptiness(void)
{
	struct rdma_ucmx_id_info id;
	bool ok = true;

	for (unsigned int i = 0; i < CHANNELS; i++) {
		while (cmd_list_ids(common[i], 0, &id, 1) == 1)
			cmd_destroy_id(common[i], id.id);
		ok &= wait_until(channel_ids(common[i]) == 0);
	}
	result(ok, "all ids can be destroyed");
}

static void open_all(void)
{
	soak = mmap(NULL, sizeof(*soak), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (soak == MAP_FAILED)
		give_up("mmap");
	for (unsigned int i = 0; i < CHANNELS; i++) {
		common[i] = i % 3 ? channel_open_nonblock() : channel_open();
		if (common[i] < 0)
			give_up(UCMX_DEVICE);
	}
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, post))
		give_up("socketpair");
	if (prctl(PR_SET_CHILD_SUBREAPER, 1))
		give_up("prctl");
}

int main(void)
{
	const char *given = getenv("UCMX_SECONDS");
	unsigned int seconds = given && *given ? strtoul(given, NULL, 0) : 600;

	printf("TAP version 13\n1..6\n# %u seconds\n", seconds);
	open_all();
	soak_for(seconds);
	add_up();
	expect_activity();
	expect_emptiness();
	return results_failed() ? 1 : 0;
}
