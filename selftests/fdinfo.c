// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What /proc/self/fdinfo says of a channel, see fdinfo.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fdinfo.h"
#include "scene.h"

int fdinfo_read(int fd, char *text, size_t size)
{
	char path[64];
	FILE *file;
	size_t len;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "r");
	if (!file)
		return -1;
	len = fread(text, 1, size - 1, file);
	text[len] = 0;
	fclose(file);
	return 0;
}

long fdinfo(int fd, const char *name)
{
	char text[1024], *found;

	if (fdinfo_read(fd, text, sizeof(text)))
		return -1;
	found = strstr(text, name);
	return found ? strtol(found + strlen(name), NULL, 10) : -1;
}

/* Who is about to look once more sleeps already, as far as others can see. */
bool fdinfo_somebody_waits(int fd)
{
	return wait_until(fdinfo(fd, "ucmx-waiters:\t") == 1);
}
