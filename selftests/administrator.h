/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The administrator of a subnet that services.sh loads: what it answers.
 */
#ifndef SELFTESTS_ADMINISTRATOR_H
#define SELFTESTS_ADMINISTRATOR_H

#include <stdio.h>

static inline int administrator_set(const char *parameter, const char *value)
{
	char path[80];
	FILE *file;
	int ret;

	snprintf(path, sizeof(path), "/sys/module/vm_services/parameters/%s",
		 parameter);
	file = fopen(path, "w");
	if (!file)
		return -1;
	ret = fputs(value, file) < 0;
	return fclose(file) || ret ? -1 : 0;
}

/* How many services it knows, or the error that it has, and whether it waits ("Y"). */
static inline int administrator_answers(const char *count, const char *status,
					const char *hold)
{
	return administrator_set("count", count) ||
	       administrator_set("status", status) ||
	       administrator_set("hold", hold) ? -1 : 0;
}

#endif /* SELFTESTS_ADMINISTRATOR_H */
