// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What threads of a test wait in, and which descriptors it has; see lib_wait.h.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib_scene.h"
#include "lib_wait.h"

int count_fds(bool *inherited)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	int count = 0, fd;

	while ((entry = readdir(dir))) {
		fd = atoi(entry->d_name);
		if (fd <= STDERR_FILENO || fd == dirfd(dir))
			continue;
		count++;
		if (inherited && !(fcntl(fd, F_GETFD) & FD_CLOEXEC))
			*inherited = true;
	}
	closedir(dir);
	return count;
}

static bool is_reading(int tid, int fd)
{
	int call = -1, argument = -1;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (fscanf(file, "%d %x", &call, (unsigned int *)&argument) != 2)
		call = -1;
	fclose(file);
	return call == SYS_read && argument == fd;
}

void wait_until_reading(_Atomic int *tid, int fd)
{
	int ms;

	for (ms = patience_ms(); ms > 0; ms--) {
		if (atomic_load(tid) && is_reading(atomic_load(tid), fd))
			break;
		usleep(1000);
	}
}
