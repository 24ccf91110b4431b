// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Making allocations of certain caches fail, see fault.h.
 *
 * The kernel decides by the size of what is allocated, the task and the cache;
 * which caches, only its command line says.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"

#define SWITCHES "/sys/kernel/debug/"
#define CACHES "/sys/kernel/slab/"

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err;
	ssize_t ret;

	if (fd < 0)
		return -1;
	ret = write(fd, text, strlen(text));
	err = errno;
	close(fd);
	errno = err;
	return ret == (ssize_t)strlen(text) ? 0 : -1;
}

/* A number that a file begins with, or -1. */
static int read_number(const char *path)
{
	FILE *file = fopen(path, "r");
	int number = -1;

	if (!file)
		return -1;
	if (fscanf(file, "%d", &number) != 1)
		number = -1;
	fclose(file);
	return number;
}

int fault_set(const char *name, const char *value)
{
	char path[128];
	int err;

	snprintf(path, sizeof(path), SWITCHES "%s", name);
	if (!write_file(path, value))
		return 0;
	err = errno;
	fprintf(stderr, "# %s: %s\n", path, strerror(err));
	errno = err;
	return -1;
}

/* A worker's name begins so; workers to come are made by kthreadd. */
static bool is_worker(const char *pid)
{
	char path[320], stat[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (!fgets(stat, sizeof(stat), file))
		stat[0] = 0;
	fclose(file);
	return strstr(stat, "(kworker/") || strstr(stat, "(kthreadd)");
}

/* Those that end meanwhile do not count: 0, or -1 if there was none. */
static int mark_workers(const char *value)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int marked = 0;
	char path[320];

	if (!dir)
		return -1;
	while ((entry = readdir(dir))) {
		if (!strspn(entry->d_name, "0123456789") ||
		    !is_worker(entry->d_name))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/make-it-fail",
			 entry->d_name);
		marked += !write_file(path, value);
	}
	closedir(dir);
	errno = ESRCH;
	return marked ? 0 : -1;
}

static int set_number(const char *name, int number)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", number);
	return fault_set(name, text);
}

int fault_slab_arm(enum fault_where where, unsigned int bytes, int times)
{
	if (fault_set("failslab/cache-filter", "Y") ||
	    fault_set("failslab/task-filter", "Y") ||
	    set_number("failslab/times", times) ||
	    set_number("failslab/space", bytes) ||
	    fault_set("failslab/interval", "1") ||
	    fault_set("failslab/probability", "100"))
		return -1;
	if (where == FAULT_IN_WORKERS)
		return mark_workers("1");
	return write_file("/proc/thread-self/make-it-fail", "1");
}

int fault_slab_disarm(void)
{
	if (write_file("/proc/thread-self/make-it-fail", "0") ||
	    mark_workers("0"))
		return -1;
	return fault_set("failslab/probability", "0") ||
	       fault_set("failslab/cache-filter", "N") ||
	       fault_set("failslab/task-filter", "N") ? -1 : 0;
}

int fault_slab_times(void)
{
	return read_number(SWITCHES "failslab/times");
}

unsigned int fault_slab_step(void)
{
	DIR *dir = opendir(CACHES);
	struct dirent *entry;
	int smallest = 0, size;
	char path[320];

	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), CACHES "%s/failslab", entry->d_name);
		if (read_number(path) != 1)
			continue;
		snprintf(path, sizeof(path), CACHES "%s/object_size",
			 entry->d_name);
		size = read_number(path);
		if (size > 0 && (!smallest || size < smallest))
			smallest = size;
	}
	if (dir)
		closedir(dir);
	return smallest;
}
