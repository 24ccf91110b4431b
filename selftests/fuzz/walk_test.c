// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A random walk over all that can be done with channels, see fuzz.h: what the
 * kernel makes of it is for the kernel's own detectors to say.  Here it is seen
 * to that the walk comes to an end, gets everywhere, and leaves nothing broken.
 *
 * UCMX_SECONDS says how long at least, UCMX_SEED repeats a walk.  As long as it has
 * not got everywhere it goes on, for up to MORE_SECONDS.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../fabric.h"
#include "fuzz.h"
#include "result.h"

/*
 * The walkers
 */

static struct thread threads[THREADS];

static void *walk(void *arg)
{
	me = arg;
	me->walker->tid = gettid();
	while (now_ns() < world->end)
		step();
	end_child();
	me->walker->tid = 0;
	return NULL;
}

/* Room for arguments and records, with pages that cannot be used among it. */
static char *make_arena(void)
{
	char *arena = mmap(NULL, ARENA_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (arena == MAP_FAILED ||
	    mprotect(arena + ARENA_NONE, PAGE, PROT_NONE) ||
	    mprotect(arena + ARENA_READ_ONLY, PAGE, PROT_READ) ||
	    mprotect(arena + ARENA_SIZE - PAGE, PAGE, PROT_NONE))
		abort();
	return arena;
}

static void wake(int signal)
{
	(void)signal;
}

/* One signal lets calls be restarted, the other one does not. */
static void handle_signals(void)
{
	struct sigaction action = { .sa_handler = wake };

	sigaction(SIGUSR1, &action, NULL);
	action.sa_flags = SA_RESTART;
	sigaction(SIGUSR2, &action, NULL);
}

/* Nobody waits for ever: signals see to that. */
static void look_after(pthread_t *pthreads)
{
	unsigned int left = THREADS;
	bool joined[THREADS] = {};

	for (unsigned int round = 0; left; round++) {
		usleep(20000);
		for (unsigned int i = 0; i < THREADS; i++) {
			if (joined[i])
				continue;
			if (!pthread_tryjoin_np(pthreads[i], NULL)) {
				joined[i] = true;
				left--;
			} else {
				pthread_kill(pthreads[i], round % 4 ? SIGUSR2 : SIGUSR1);
			}
		}
	}
}

static void run_process(unsigned int process)
{
	pthread_t pthreads[THREADS];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The kernel's threads come first, or rdma_cm gets nothing done. */
	nice(19);
	handle_signals();
	for (unsigned int i = 0; i < THREADS; i++) {
		threads[i] = (struct thread){
			.process = process,
			.number = i,
			.walker = &world->walkers[process][i],
			.arena = make_arena(),
		};
		if (pthread_create(&pthreads[i], NULL, walk, &threads[i]))
			abort();
	}
	look_after(pthreads);
	_exit(0);
}

/*
 * How far they got: what never succeeds was not tested
 */

/* Needs a subnet with an administrator, which no soft device is on. */
#define OP_RESOLVE_IB_SERVICE (RDMA_UCMX_CMD_RESOLVE_IB_SERVICE - RDMA_UCMX_CMD_BASE)

/* A command that has not yet succeeded, or NULL. */
static const char *missing_op(void)
{
	for (enum op op = 0; op < OPS; op++) {
		if (op != OP_UNKNOWN && op != OP_RESOLVE_IB_SERVICE &&
		    !world->tallies[op].ok)
			return op_names[op];
	}
	return NULL;
}

/* An event that has not yet come, or NULL. */
static const char *missing_event(void)
{
	static const unsigned int expected[] = {
		EV_ADDR_RESOLVED, EV_ROUTE_RESOLVED, EV_CONNECT_REQUEST,
		EV_CONNECT_RESPONSE, EV_ESTABLISHED, EV_REJECTED,
		EV_DISCONNECTED, EV_DEVICE_REMOVAL, EV_MULTICAST_JOIN,
		EV_USER, EV_INTERNAL, EV_ARRIVED,
	};

	for (unsigned int i = 0; i < ARRAY_LEN(expected); i++) {
		if (!world->events[expected[i]])
			return event_name(expected[i]);
	}
	return NULL;
}

/*
 * The device, which comes and goes
 */

/* A machine may be very slow. */
#define MORE_SECONDS 300

static bool remove_and_restore(void)
{
	if (fabric_removed(fabric_remove()))
		return false;
	usleep(500000);
	return !fabric_restore();
}

static void let_device_come_and_go(unsigned int seconds)
{
	__u64 least = now_ns() + seconds * 1000000000ULL;
	unsigned int rounds = 0, up = 5;
	bool ok = true;

	while (ok && now_ns() < world->end &&
	       (now_ns() < least || missing_op() || missing_event())) {
		sleep(up);
		ok = remove_and_restore();
		rounds++;
		up = 5 + rounds * 7 % 11;
	}
	world->end = now_ns();
	printf("# the device went and came back %u times\n", rounds);
	result(ok && rounds, "the device can be removed at any time");
}

/*
 * What came of it
 */

static void report_walker(unsigned int process, unsigned int number)
{
	struct walker *walker = &world->walkers[process][number];
	char path[64], line[256];
	FILE *stack;

	if (!walker->tid)
		return;
	printf("# walker %u of process %u is still at step %u, %s:\n", number,
	       process, walker->step, op_names[walker->op]);
	snprintf(path, sizeof(path), "/proc/%d/stack", walker->tid);
	stack = fopen(path, "r");
	if (!stack)
		return;
	while (fgets(line, sizeof(line), stack))
		printf("#\t%s", line);
	fclose(stack);
}

static bool ended_well(pid_t process)
{
	int status = -1;

	/* Closing alone may take ten seconds for each channel. */
	for (int i = 0; i < 5; i++) {
		if (wait_until(waitpid(process, &status, WNOHANG) == process))
			break;
	}
	if (status)
		printf("# a process ends with status %#x\n", status);
	return !status;
}

static void expect_end(const pid_t *processes)
{
	bool ok = true;

	for (unsigned int i = 0; i < PROCESSES; i++)
		ok &= ended_well(processes[i]);
	for (unsigned int i = 0; i < PROCESSES && !ok; i++) {
		for (unsigned int j = 0; j < THREADS; j++)
			report_walker(i, j);
		kill(processes[i], SIGKILL);
	}
	passing_close();
	result(ok, "every walker comes to an end");
}

static void print_tally(enum op op)
{
	struct tally *tally = &world->tallies[op];

	printf("# %-14s %7u", op_names[op], tally->ok);
	for (int i = 0; i < ERRNOS; i++) {
		if (tally->errors[i])
			printf("  %s %u", strerrorname_np(i), tally->errors[i]);
	}
	printf("\n");
}

static void expect_successes(void)
{
	const char *missing = missing_op();

	for (enum op op = 0; op < OPS; op++)
		print_tally(op);
	if (missing)
		printf("# %s never succeeded\n", missing);
	result(!missing, "every command succeeds at least once");
	result(!world->tallies[OP_UNKNOWN].ok, "what is no command never succeeds");
	result(!world->tallies[OP_READ].errors[EBADMSG], "every record makes sense");
}

static void expect_events(void)
{
	const char *missing = missing_event();

	for (unsigned int i = 0; i < EVENT_TYPES; i++) {
		if (world->events[i])
			printf("# %-16s %7u\n", event_name(i), world->events[i]);
	}
	if (missing)
		printf("# %s never came\n", missing);
	result(!missing, "the walk gets as far as connections, groups and removals");
}

static void expect_service(void)
{
	struct connection connection;
	int server = channel_open(), client = channel_open();

	result(!fabric_restore() &&
	       !connection_open(server, client, ADDR1, &connection),
	       "everything works afterwards");
	close(server);
	close(client);
}

static __u64 choose_seed(void)
{
	const char *given = getenv("UCMX_SEED");
	__u32 seed;

	if (given && *given)
		return strtoull(given, NULL, 0);
	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		give_up("getrandom");
	return seed;
}

static unsigned int choose_seconds(void)
{
	const char *given = getenv("UCMX_SECONDS");

	return given && *given ? strtoul(given, NULL, 0) : 120;
}

int main(void)
{
	unsigned int seconds = choose_seconds();
	pid_t processes[PROCESSES];

	printf("TAP version 13\n1..7\n");
	world = mmap(NULL, sizeof(*world), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (world == MAP_FAILED || passing_open())
		give_up("cannot begin");
	world->seed = choose_seed();
	world->end = now_ns() + (seconds + MORE_SECONDS) * 1000000000ULL;
	printf("# %u seconds at least; to walk this way again: SEED=%llu\n", seconds, world->seed);
	fflush(stdout);
	for (unsigned int i = 0; i < PROCESSES; i++) {
		processes[i] = fork();
		if (processes[i] < 0)
			give_up("fork");
		if (!processes[i])
			run_process(i);
	}
	let_device_come_and_go(seconds);
	expect_end(processes);
	expect_successes();
	expect_events();
	expect_service();
	if (results_failed())
		printf("# failed; to walk this way again: SEED=%llu\n", world->seed);
	return results_failed() ? 1 : 0;
}
