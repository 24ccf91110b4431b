// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The RDMA device that tests run over, see fabric.h.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fabric.h"
#include "iwarp.h"
#include "scene.h"

static const char *fabric(void)
{
	return over_iwarp() ? "siw" : "rxe";
}

/* The first or second device of the fabric, in memory of its own. */
static char *device(int nr)
{
	char *name;

	if (asprintf(&name, "%s%d", fabric(), nr) < 0)
		abort();
	return name;
}

static bool device_is_there(int nr)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s%d", fabric(), nr);
	return !access(path, F_OK);
}

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

static pid_t start_removing(int nr)
{
	char *name = device(nr);
	char *argv[] = { "rdma", "link", "del", name, NULL };
	pid_t pid;

	iwarp_let_go();
	pid = start(argv);
	free(name);
	return pid;
}

static pid_t start_adding(int nr, const char *netdev)
{
	char *name = device(nr);
	char *argv[] = { "rdma", "link", "add", name, "type", (char *)fabric(),
			 "netdev", (char *)netdev, NULL };
	pid_t pid = start(argv);

	free(name);
	return pid;
}

pid_t fabric_remove(void)
{
	return start_removing(0);
}

int fabric_removed(pid_t rdma)
{
	int status = -1;

	if (!wait_until(waitpid(rdma, &status, WNOHANG) == rdma)) {
		fprintf(stderr, "# the device does not come or go\n");
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
	if (!device_is_there(0) && fabric_removed(start_adding(0, "d0")))
		return -1;
	if (wait_until(serves(ADDR1) && serves(ADDR2) && serves(ADDR6)))
		return 0;
	fprintf(stderr, "# the device does not serve all addresses\n");
	errno = ETIME;
	return -1;
}

static int run_quietly(const char *command)
{
	int status = system(command);

	if (!status)
		return 0;
	fprintf(stderr, "# %s: status %d\n", command, status);
	errno = EIO;
	return -1;
}

static int add_second(void)
{
	return run_quietly("ip link add d1 type dummy") ||
	       run_quietly("ip address add " ADDR_SECOND "/24 dev d1") ||
	       run_quietly("ip link set d1 arp on up") ||
	       fabric_removed(start_adding(1, "d1"));
}

int fabric_add_second(void)
{
	if (!device_is_there(1) && add_second())
		return -1;
	if (wait_until(serves(ADDR_SECOND)))
		return 0;
	fprintf(stderr, "# the second device does not serve its address\n");
	errno = ETIME;
	return -1;
}

/* As with the first one, the interface goes when all have let go. */
int fabric_remove_second(void)
{
	return fabric_removed(start_removing(1)) || run_quietly("ip link del d1") ? -1 : 0;
}
