// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The RDMA device that tests run over, see fabric.h.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fabric.h"
#include "scene.h"

#define DEVICE "rxe0"
#define DEVICE_PATH "/sys/class/infiniband/" DEVICE

static pid_t start(char *const argv[])
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execvp(argv[0], argv);
	perror("# rdma");
	_exit(127);
}

pid_t fabric_remove(void)
{
	char *argv[] = { "rdma", "link", "del", DEVICE, NULL };

	return start(argv);
}

int fabric_removed(pid_t remover)
{
	int status = -1;

	if (!wait_until(waitpid(remover, &status, WNOHANG) == remover)) {
		fprintf(stderr, "# the device does not go away\n");
		errno = ETIME;
		return -1;
	}
	errno = EIO;
	return status ? -1 : 0;
}

/* The device learns the interface's addresses some time after it is there. */
static bool serves(const char *ip)
{
	struct rdma_ucmx_addr address = addr(ip, 0);
	int fd = channel_open();
	bool bound;
	__u32 id;

	if (fd < 0)
		return false;
	bound = !cmd_create_id(fd, PS_TCP, 0, &id) &&
		!cmd_bind_addr(fd, id, &address);
	close(fd);
	return bound;
}

int fabric_restore(void)
{
	char *argv[] = { "rdma", "link", "add", DEVICE, "type", "rxe",
			 "netdev", "d0", NULL };

	if (access(DEVICE_PATH, F_OK) && fabric_removed(start(argv)))
		return -1;
	if (wait_until(serves(ADDR1) && serves(ADDR2) && serves(ADDR6)))
		return 0;
	fprintf(stderr, "# the device does not serve all addresses\n");
	errno = ETIME;
	return -1;
}
