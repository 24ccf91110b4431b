// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What every asynchronous call of librdmacm answers in every state and to every
 * mistake, one line for each: the call, and its result or errno.  For any
 * librdmacm: errno_table.sh runs it over the system's and over ours, and
 * compares.
 *
 * Each part of the table is a process of its own, so that one that does not
 * come to its end leaves the others theirs, and says so in a line.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "errno_state.h"
#include "errno_table.h"

/* How long a part may take, in seconds; decides nothing but that it ends. */
#define PATIENCE 120

bool over_ours;

void line_text(const char *state, const char *call, const char *text)
{
	printf("%s.%s %s\n", state, call, text);
	fflush(stdout);
}

void line_number(const char *state, const char *call, long number)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld", number);
	line_text(state, call, text);
}

void line(const char *state, const char *call, int result)
{
	/* An errno that has no name is a fault of its own. */
	if (result == -1 && !strerrorname_np(errno))
		line_text(state, call, "unknown");
	else if (result == -1)
		line_text(state, call, strerrorname_np(errno));
	else
		line_number(state, call, result);
}

static void run_part(const char *name, void (*table)(const char *name))
{
	pid_t pid = fork();
	char text[32];
	int status;

	if (!pid) {
		alarm(PATIENCE);
		table(name);
		exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		perror("# fork");
		exit(1);
	}
	if (WIFSIGNALED(status))
		snprintf(text, sizeof(text), "SIG%s", sigabbrev_np(WTERMSIG(status)));
	else
		snprintf(text, sizeof(text), "%d", WEXITSTATUS(status));
	line_text(name, "end_of_part", text);
}

int main(int argc, char **argv)
{
	if (argc != 2 || (strcmp(argv[1], "ours") && strcmp(argv[1], "stock"))) {
		fprintf(stderr, "usage: %s ours|stock\n", argv[0]);
		return 2;
	}
	over_ours = !strcmp(argv[1], "ours");
	for (unsigned int i = 0; i < num_state_kinds; i++)
		run_part(state_kinds[i].name, table_calls);
	run_part("arguments", table_arguments);
	run_part("option", table_options);
	run_part("address", table_addresses);
	run_part("peer", table_peers);
	run_part("wait", table_waits);
	run_part("sync", table_sync);
	run_part("multicast", table_multicast);
	run_part("endpoint", table_endpoint);
	run_part("addrinfo", table_addrinfo);
	run_part("qp", table_queue_pairs);
	run_part("srq", table_receive_queues);
	run_part("helper", table_helpers);
	run_part("private_data", table_private_data);
	run_part("ece", table_ece);
	run_part("unconnected", table_unconnected);
	run_part("gid", table_gids);
	return 0;
}
