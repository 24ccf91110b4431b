// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * explore - try every order of the steps of scenarios.
 *
 * Each scenario is explored in a process of its own, some at a time; results
 * are printed as KTAP.  See usage().
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "report.h"
#include "search.h"
#include "steps.h"

#define MAX_WHICH	128

static int bound = 3;
static uint64_t limit = 300000;
static int jobs = 1;
static bool progress, first;

static void usage(void)
{
	printf("explore [OPTION...] [SCENARIO...]\n"
	       "  --bound N     all schedules with up to N preemptions (3)\n"
	       "  --limit N     and all there are, if N steps are enough (300000)\n"
	       "  --jobs N      so many scenarios at a time (1)\n"
	       "  --progress    a line on standard error now and then\n"
	       "  --first       end with the first violation, and only name it\n"
	       "  --outcomes    list what can come out\n"
	       "  --fine        go on at every access to what is shared\n"
	       "  --again       explore states again that were seen\n"
	       "  --replay SEED do one schedule again, and tell it\n"
	       "  --list        scenarios\n");
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static double started;

static void show_progress(const struct scenario *scenario, int b,
			  const struct result *result)
{
	static double last;
	char bounded[32];
	double t = now();

	if (t < last + 2)
		return;
	last = t;
	if (b == UNBOUNDED)
		snprintf(bounded, sizeof(bounded), "all schedules");
	else
		snprintf(bounded, sizeof(bounded), "%d preemptions", b);
	fprintf(stderr, "%s: %s: %llu schedules, depth %d, %llu steps, %.0f per second\n",
		scenario->name, bounded, (unsigned long long)result->schedules,
		result->depth, (unsigned long long)result->steps,
		result->steps / (t - started));
}

/* In a child: explore one scenario, say what came out. */
static int explore_one(const struct scenario *scenario, int number)
{
	struct result result = {};
	double seconds;

	started = now();
	explore(scenario, bound, limit, &result);
	seconds = now() - started;
	if (first) {
		if (result.clause)
			report_short(scenario, &result);
		return !!result.clause;
	}
	report_counts(scenario, &result, seconds);
	if (result.clause)
		report_violation(scenario, &result);
	printf("%sok %d %s\n", result.clause ? "not " : "", number,
	       scenario->name);
	return !!result.clause;
}

/**
 * struct job - a scenario that is being explored, or was
 * @pid: the process that does it, 0 if it has ended
 * @out: what it says
 */
struct job {
	pid_t pid;
	FILE *out;
};

static void start_job(struct job *job, const struct scenario *scenario,
		      int number)
{
	job->out = tmpfile();
	if (!job->out) {
		perror("tmpfile");
		exit(98);
	}
	fflush(stdout);
	job->pid = fork();
	if (job->pid)
		return;
	dup2(fileno(job->out), STDOUT_FILENO);
	number = explore_one(scenario, number);
	fflush(stdout);
	if (__gcov_dump)
		__gcov_dump();
	_exit(number);
}

static void print_job(struct job *job)
{
	char line[4096];

	rewind(job->out);
	while (fgets(line, sizeof(line), job->out))
		fputs(line, stdout);
	fclose(job->out);
	fflush(stdout);
}

/* One of them has ended: 1 if something is wrong. */
static int reap(struct job *list, int n, const struct scenario **which)
{
	int status, i;
	pid_t pid = wait(&status);

	for (i = 0; i < n && list[i].pid != pid; i++)
		;
	if (pid < 0 || i == n)
		exit(98);
	list[i].pid = 0;
	if (WIFSIGNALED(status) && !first) {
		fseek(list[i].out, 0, SEEK_END);
		fprintf(list[i].out, "# died of signal %d\nnot ok %d %s\n",
			WTERMSIG(status), i + 1, which[i]->name);
	}
	return !WIFEXITED(status) || WEXITSTATUS(status);
}

static int explore_all(const struct scenario **which, int n)
{
	struct job *list = calloc(n, sizeof(*list));
	int next = 0, printed = 0, running = 0, failed = 0;

	if (!list)
		return 98;
	if (!first)
		printf("TAP version 13\n1..%d\n", n);
	while (printed < n) {
		if (next < n && running < jobs && !(first && failed)) {
			start_job(&list[next], which[next], next + 1);
			next++;
			running++;
			continue;
		}
		if (running) {
			failed |= reap(list, next, which);
			running--;
		}
		while (printed < next && !list[printed].pid)
			print_job(&list[printed++]);
		if (first && failed && !running)
			break;
	}
	free(list);
	return failed;
}

/* NULL behind the last one. */
static const struct scenario *scenario_at(int i)
{
	if (i < n_scenarios)
		return &scenarios[i];
	i -= n_scenarios;
	return i < n_more_scenarios ? &more_scenarios[i] : NULL;
}

static const struct scenario *find_scenario(const char *name, size_t n)
{
	const struct scenario *scenario;
	int i;

	for (i = 0; (scenario = scenario_at(i)); i++) {
		if (!strncmp(scenario->name, name, n) && !scenario->name[n])
			return scenario;
	}
	fprintf(stderr, "explore: no scenario %.*s; see --list\n", (int)n, name);
	exit(2);
}

static int replay_seed(const char *seed)
{
	const char *colon = strchr(seed, ':');
	const struct scenario *scenario;
	struct result result = {};

	if (!colon) {
		fprintf(stderr, "explore: a seed is SCENARIO:STEPS\n");
		return 2;
	}
	scenario = find_scenario(seed, colon - seed);
	steps_talk = true;
	printf("# %s: %s\n", scenario->name, scenario->about);
	replay(scenario, colon + 1, &result);
	if (!result.clause) {
		printf("# nothing is wrong\n");
		return 0;
	}
	report_message(&result);
	return 1;
}

static void list_scenarios(void)
{
	const struct scenario *scenario;
	int i;

	for (i = 0; (scenario = scenario_at(i)); i++)
		printf("%-24s %s\n", scenario->name, scenario->about);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "bound", required_argument, NULL, 'b' },
		{ "limit", required_argument, NULL, 'l' },
		{ "jobs", required_argument, NULL, 'j' },
		{ "progress", no_argument, NULL, 'p' },
		{ "first", no_argument, NULL, 'f' },
		{ "outcomes", no_argument, NULL, 'o' },
		{ "fine", no_argument, NULL, 'F' },
		{ "again", no_argument, NULL, 'a' },
		{ "replay", required_argument, NULL, 'r' },
		{ "list", no_argument, NULL, 'L' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	const struct scenario *which[MAX_WHICH];
	int n = 0, c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'b':
			bound = atoi(optarg);
			break;
		case 'l':
			limit = strtoull(optarg, NULL, 10);
			break;
		case 'j':
			jobs = atoi(optarg);
			break;
		case 'p':
			progress = true;
			break;
		case 'f':
			first = true;
			break;
		case 'o':
			search_outcomes = true;
			break;
		case 'F':
			search_fine = true;
			break;
		case 'a':
			search_again = true;
			break;
		case 'r':
			return replay_seed(optarg);
		case 'L':
			list_scenarios();
			return 0;
		case 'h':
			usage();
			return 0;
		default:
			return 2;
		}
	}
	search_short = !first;
	if (progress)
		search_progress = show_progress;
	for (; optind < argc && n < MAX_WHICH; optind++)
		which[n++] = find_scenario(argv[optind], strlen(argv[optind]));
	if (!n) {
		while (n < MAX_WHICH && (which[n] = scenario_at(n)))
			n++;
	}
	return explore_all(which, n);
}
