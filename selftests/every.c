// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Every command that names an id, see every.h.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "every.h"

static __u64 soon(void)
{
	return now_ns() + 1000000;
}

static int every_bind(int fd, __u32 id)
{
	struct rdma_ucmx_addr local = addr(ADDR1, 0);

	return cmd_bind_addr(fd, id, &local);
}

static int every_resolve_addr(int fd, __u32 id)
{
	struct rdma_ucmx_addr dst = addr(ADDR1, 7);

	return cmd_resolve_addr(fd, id, NULL, &dst);
}

static int every_listen(int fd, __u32 id)
{
	return cmd_listen(fd, id, 1);
}

static int every_connect(int fd, __u32 id)
{
	struct rdma_ucmx_conn_param param = conn_param();

	return cmd_connect(fd, id, &param);
}

static int every_accept(int fd, __u32 id)
{
	struct rdma_ucmx_conn_param param = conn_param();

	return cmd_accept(fd, id, 1, &param);
}

static int every_reject(int fd, __u32 id)
{
	return cmd_reject(fd, id, 0, "", 0);
}

static int every_notify(int fd, __u32 id)
{
	return cmd_notify(fd, id, 4);
}

static int every_query(int fd, __u32 id)
{
	struct rdma_ucmx_query query;

	return cmd_query(fd, id, &query);
}

static int every_init_qp_attr(int fd, __u32 id)
{
	struct rdma_ucmx_qp_attr attr;

	return cmd_init_qp_attr(fd, id, 1, &attr);
}

static int every_set_option(int fd, __u32 id)
{
	__u8 tos = 8;

	return cmd_set_option(fd, id, 0, 0, &tos, sizeof(tos));
}

static int every_get_option(int fd, __u32 id)
{
	__u8 tos;
	__u32 len = sizeof(tos);

	return cmd_get_option(fd, id, 0, 0, &tos, &len);
}

static int every_join(int fd, __u32 id)
{
	struct rdma_ucmx_addr group_addr = addr("239.1.1.1", 0);
	__u32 group;

	return cmd_join_mcast(fd, id, &group_addr, RDMA_UCMX_JOIN_FULL_MEMBER, 0,
			      &group);
}

static int every_leave(int fd, __u32 id)
{
	return cmd_leave_mcast_opt(fd, id, 1, RDMA_UCMX_NONBLOCK, 0, 0);
}

static int every_ack(int fd, __u32 id)
{
	return cmd_ack(fd, id, 0);
}

static int every_adopt(int fd, __u32 id)
{
	return cmd_adopt_id(fd, id, 2);
}

static int every_resolve_service(int fd, __u32 id)
{
	return cmd_resolve_ib_service(fd, id, RDMA_UCMX_SERVICE_NAME, 0, "service");
}

static int every_write_event(int fd, __u32 id)
{
	return cmd_write_event(fd, id, EV_USER, 0, 3);
}

/* To where it is: whoever else uses the id still finds it. */
static int every_migrate(int fd, __u32 id)
{
	return cmd_migrate_id_opt(fd, id, fd, 0, soon(), 0);
}

static int every_destroy(int fd, __u32 id)
{
	return cmd_destroy_id_opt(fd, id, 0, soon(), 0);
}

const struct every every_command[] = {
	{ "bind", every_bind },
	{ "resolve address", every_resolve_addr },
	{ "resolve route", cmd_resolve_route },
	{ "resolve service", every_resolve_service },
	{ "listen", every_listen },
	{ "connect", every_connect },
	{ "accept", every_accept },
	{ "reject", every_reject },
	{ "disconnect", cmd_disconnect },
	{ "notify", every_notify },
	{ "query", every_query },
	{ "init qp attr", every_init_qp_attr },
	{ "set option", every_set_option },
	{ "get option", every_get_option },
	{ "join", every_join },
	{ "leave", every_leave },
	{ "acknowledge", every_ack },
	{ "adopt", every_adopt },
	{ "write event", every_write_event },
	{ "migrate", every_migrate },
	{ "destroy", every_destroy },
};

const unsigned int num_every = ARRAY_LEN(every_command);

static bool channel_is_empty(int fd)
{
	struct rdma_ucmx_info info;

	return !cmd_info(fd, &info) && !info.out_ids && !info.out_pending &&
	       !info.out_outstanding;
}

int channel_clear(int fd)
{
	struct rdma_ucmx_id_info ids[64];
	int i, n;

	while ((n = cmd_list_ids(fd, 0, ids, ARRAY_LEN(ids))) > 0) {
		for (i = 0; i < n; i++) {
			cmd_ack(fd, ids[i].id, 0);
			/* The last acknowledgement may have freed it. */
			if (cmd_destroy_id(fd, ids[i].id) && errno != ENOENT)
				return -1;
		}
	}
	if (n)
		return -1;
	/* A request that nobody read goes a moment after its listener. */
	if (wait_until(channel_is_empty(fd)))
		return 0;
	errno = EBUSY;
	return -1;
}

/*
 * The watcher: what it and its starter share.
 */
static struct watch {
	atomic_bool stop;
	atomic_int runs;
} *watch;
static pid_t watcher;

/* It may fail while a device goes. */
static void watch_once(void)
{
	if (!system("exec rdma resource show cm_id > /dev/null 2>&1"))
		watch->runs++;
}

int watch_start(void)
{
	pid_t starter = getpid();

	watch = mmap(NULL, sizeof(*watch), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (watch == MAP_FAILED)
		return -1;
	watcher = fork();
	if (watcher)
		return watcher < 0 ? -1 : 0;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (!watch->stop && getppid() == starter)
		watch_once();
	_exit(0);
}

/* Once at least it looked while the test was running. */
int watch_stop(void)
{
	int status;

	if (!wait_until(watch->runs > 0))
		return -1;
	watch->stop = true;
	if (waitpid(watcher, &status, 0) != watcher || status)
		return -1;
	return watch->runs;
}
