// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The options of the command line.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "demo.h"

struct options options = {
	.address = "192.0.2.1",
	.connections = 200,
	.hold = 2000,
	.patience = 10000,
};

static const char help[] =
	"usage: migrate_demo [options]\n"
	"\n"
	"Migrates ids between the event channels of an acceptor and four workers, and\n"
	"accounts for every event of every connection.\n"
	"\n"
	"  -a, --address IP      of an RDMA device of this machine (%s)\n"
	"  -n, --connections N   how many, 20 to 1000 (%u)\n"
	"      --hold MS         how long a worker sits on an event (%u)\n"
	"      --patience MS     give up when nothing has happened for so long (%u)\n"
	"      --live, --plain   draw the table anew in place, or print it now and then\n"
	"                        (--live if standard output is a terminal)\n"
	"      --result FILE     write the account for migrate_demo_compare\n"
	"  -h, --help            this text\n"
	"\n"
	"Exit status: 0 if the account is complete, 1 if not, 2 if the demo could not\n"
	"begin.\n";

static void print_help(FILE *file)
{
	fprintf(file, help, options.address, options.connections, options.hold,
		options.patience);
}

static unsigned int parse_number(const char *text, unsigned int min,
				 unsigned int max)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (!*text || *end || value < min || value > max)
		die("%s is not from %u to %u", text, min, max);
	return value;
}

static void parse_option(int option, char *value)
{
	switch (option) {
	case 'a':
		options.address = value;
		break;
	case 'n':
		options.connections = parse_number(value, 20, 1000);
		break;
	case 'o':
		options.hold = parse_number(value, 1, 60000);
		break;
	case 'p':
		options.patience = parse_number(value, 1000, 600000);
		break;
	case 'l':
	case 'b':
		options.live = option == 'l';
		break;
	case 'r':
		options.result = value;
		break;
	case 'h':
		print_help(stdout);
		exit(0);
	default:
		print_help(stderr);
		exit(2);
	}
}

/**
 * options_parse - read the command line
 *
 * Ends the program if it only asks for help, or is wrong.
 */
void options_parse(int argc, char **argv)
{
	static const struct option list[] = {
		{ "address", required_argument, NULL, 'a' },
		{ "connections", required_argument, NULL, 'n' },
		{ "hold", required_argument, NULL, 'o' },
		{ "patience", required_argument, NULL, 'p' },
		{ "live", no_argument, NULL, 'l' },
		{ "plain", no_argument, NULL, 'b' },
		{ "result", required_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	options.live = isatty(STDOUT_FILENO);
	while ((option = getopt_long(argc, argv, "a:n:h", list, NULL)) != -1)
		parse_option(option, optarg);
	if (optind < argc)
		die("%s is not an option; see --help", argv[optind]);
}
