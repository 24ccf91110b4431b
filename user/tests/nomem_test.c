// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Each block of memory, and each verbs object, that the library asks for cannot
 * be had once: the call says so, leaves nothing behind, and works afterwards.
 *
 * Every time in a process of its own, since there is a first time only once: a
 * device is opened, and stays so.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/rdma_cmx.h>

#include "lib_scene.h"
#include "nomem.h"
#include "nomem_calls.h"
#include "test.h"

/* What there is when all is over. */
struct rest {
	int blocks;
	int objects;
	int fds;
	bool refused;
};

static int count_fds(void)
{
	int fd, count = 0;

	for (fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static int complain(const char *what)
{
	fprintf(stderr, "# %s: %s\n", what, strerror(errno));
	return -1;
}

/* The call in a scene of its own. */
static int works(const struct nomem_call *call)
{
	struct nomem_scene scene = { 0 };
	int ret;

	ret = call->open(&scene) || call->run(&scene) ? complain(call->name) : 0;
	call->close(&scene);
	return ret;
}

/* The @nth request of the call is refused. */
static int fails(const struct nomem_call *call, unsigned int nth, struct rest *rest)
{
	struct nomem_scene scene = { 0 };
	int ret, error, fds;

	if (call->open(&scene))
		return complain("open");
	fds = count_fds();
	nomem_arm(nth);
	errno = 0;
	ret = call->run(&scene);
	error = errno;
	rest->refused = nomem_disarm();
	errno = error;
	if (rest->refused ? !ret && !call->survives : ret)
		return complain(rest->refused ? "succeeds" : call->name);
	if (ret && error != ENOMEM)
		return complain("says");
	/* A peer's come and go. */
	if (ret && !scene.has_peer && count_fds() > fds + call->keeps_fds)
		return complain("keeps a descriptor");
	if (ret && call->again && call->run(&scene))
		return complain("a second time");
	call->close(&scene);
	return 0;
}

static void child_run(const struct nomem_call *call, unsigned int nth,
		      struct rest *rest)
{
	if (fails(call, nth, rest) || works(call))
		_exit(1);
	rest->blocks = nomem_blocks();
	rest->objects = nomem_objects();
	rest->fds = count_fds();
	_exit(0);
}

/* Returns 0 if all is as it should be. */
static int run(const struct nomem_call *call, unsigned int nth, struct rest *rest)
{
	int status;
	pid_t pid;

	memset(rest, 0, sizeof(*rest));
	pid = fork();
	if (!pid)
		child_run(call, nth, rest);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return complain("fork");
	return status;
}

static bool same(const struct rest *a, const struct rest *b)
{
	return a->blocks == b->blocks && a->objects == b->objects &&
	       a->fds == b->fds;
}

FIXTURE(nomem)
{
	struct rest *rest;
};

FIXTURE_VARIANT(nomem)
{
	const struct nomem_call *call;
};

FIXTURE_SETUP(nomem)
{
	self->rest = mmap(NULL, sizeof(*self->rest), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->rest);
}

FIXTURE_TEARDOWN(nomem)
{
	munmap(self->rest, sizeof(*self->rest));
}

#define CALL(function) \
FIXTURE_VARIANT_ADD(nomem, function) { .call = &nomem_##function }

CALL(create_channel);
CALL(create_id);
CALL(create_synchronous_id);
CALL(bind);
CALL(resolve_addr);
CALL(resolve_route);
CALL(create_qp);
CALL(create_srq);
CALL(get_event);
CALL(get_request);
CALL(connect);
CALL(accept);
CALL(join);
CALL(getaddrinfo);
CALL(resolve_addrinfo);
CALL(passive_endpoint);
CALL(active_endpoint);
CALL(go_synchronous);
CALL(get_devices);

TEST_F(nomem, each_request_fails_once)
{
	const struct nomem_call *call = variant->call;
	struct rest clean;
	unsigned int nth;

	ASSERT_EQ(0, run(call, 0, self->rest));
	clean = *self->rest;
	for (nth = 1; nth == 1 || self->rest->refused; nth++) {
		ASSERT_EQ(0, run(call, nth, self->rest)) {
			TH_LOG("%s, request %u", call->name, nth);
		}
		ASSERT_TRUE(same(&clean, self->rest)) {
			TH_LOG("%s, request %u", call->name, nth);
			TH_LOG("%d blocks, not %d", self->rest->blocks, clean.blocks);
			TH_LOG("%d objects, not %d", self->rest->objects, clean.objects);
			TH_LOG("%d descriptors, not %d", self->rest->fds, clean.fds);
		}
	}
	/* A call that asks for nothing has no place here. */
	EXPECT_LT(2U, nth);
	TH_LOG("%s: %u requests", call->name, nth - 2);
}

TEST_HARNESS_MAIN
