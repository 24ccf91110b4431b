// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Queue pairs for connections over iWARP, see iwarp.h.
 *
 * Made by the kernel's own interface, since programs for 32 bits have no library
 * of verbs here.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rdma/ib_user_verbs.h>

#include "iwarp.h"

#define DEVICES 2
/* More than any test has connections at a time. */
#define KEPT 4096
#define QPT_RC 2

/*
 * @owner: who has opened it; after a fork it is of no use to the child
 * @async: what the kernel wants to have for its own events
 * @handles: of the latest queue pairs
 */
static struct device {
	pid_t owner;
	int fd;
	int async;
	__u32 pd;
	__u32 cq;
	__u32 handles[KEPT];
	unsigned int made;
} devices[DEVICES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* What may come back, with room for the driver's part behind it. */
union response {
	struct ib_uverbs_get_context_resp context;
	struct ib_uverbs_alloc_pd_resp pd;
	struct ib_uverbs_create_cq_resp cq;
	struct ib_uverbs_create_qp_resp qp;
	struct ib_uverbs_destroy_qp_resp destroyed;
	__u64 room[16];
};

/* @request begins with the address of the response. */
static int command(struct device *device, __u32 number, void *request,
		   size_t size, union response *response)
{
	struct ib_uverbs_cmd_hdr header = {
		.command = number,
		.in_words = (sizeof(header) + size) / 4,
		.out_words = sizeof(*response) / 4,
	};
	__u64 address = (uintptr_t)response;
	char buffer[128];
	ssize_t length = sizeof(header) + size;

	memcpy(request, &address, sizeof(address));
	memcpy(buffer, &header, sizeof(header));
	memcpy(buffer + sizeof(header), request, size);
	return write(device->fd, buffer, length) == length ? 0 : -1;
}

/* Whether uverbs device @nr is that of RDMA device @name. */
static bool is_of(int nr, const char *name)
{
	char path[64], found[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/sys/class/infiniband_verbs/uverbs%d/ibdev", nr);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (fscanf(file, "%31s", found) != 1)
		found[0] = 0;
	fclose(file);
	return !strcmp(found, name);
}

static int open_device(int nr)
{
	char name[16], path[64];
	int i;

	snprintf(name, sizeof(name), "siw%d", nr);
	for (i = 0; i < 32; i++) {
		if (!is_of(i, name))
			continue;
		snprintf(path, sizeof(path), "/dev/infiniband/uverbs%d", i);
		return open(path, O_RDWR | O_CLOEXEC);
	}
	return -1;
}

static void close_device(struct device *device)
{
	if (!device->owner)
		return;
	if (device->async >= 0)
		close(device->async);
	close(device->fd);
	memset(device, 0, sizeof(*device));
}

static int make_objects(struct device *device)
{
	struct ib_uverbs_get_context context = {};
	struct ib_uverbs_alloc_pd pd = {};
	struct ib_uverbs_create_cq cq = { .cqe = 1, .comp_channel = -1 };
	union response response;

	if (command(device, IB_USER_VERBS_CMD_GET_CONTEXT, &context,
		    sizeof(context), &response))
		return -1;
	device->async = response.context.async_fd;
	if (command(device, IB_USER_VERBS_CMD_ALLOC_PD, &pd, sizeof(pd), &response))
		return -1;
	device->pd = response.pd.pd_handle;
	if (command(device, IB_USER_VERBS_CMD_CREATE_CQ, &cq, sizeof(cq), &response))
		return -1;
	device->cq = response.cq.cq_handle;
	return 0;
}

static int use_device(struct device *device, int nr)
{
	if (device->owner == getpid())
		return 0;
	close_device(device);
	device->fd = open_device(nr);
	if (device->fd < 0)
		return -1;
	device->owner = getpid();
	device->async = -1;
	if (!make_objects(device))
		return 0;
	perror("# an iWARP device");
	close_device(device);
	return -1;
}

static void destroy_qp(struct device *device, __u32 handle)
{
	struct ib_uverbs_destroy_qp request = { .qp_handle = handle };
	union response response;

	if (command(device, IB_USER_VERBS_CMD_DESTROY_QP, &request,
		    sizeof(request), &response))
		perror("# destroy a queue pair");
}

static __u32 create_qp(struct device *device)
{
	struct ib_uverbs_create_qp request = {
		.pd_handle = device->pd,
		.send_cq_handle = device->cq,
		.recv_cq_handle = device->cq,
		.max_send_wr = 1,
		.max_recv_wr = 1,
		.max_send_sge = 1,
		.max_recv_sge = 1,
		.qp_type = QPT_RC,
	};
	__u32 *handle = &device->handles[device->made % KEPT];
	union response response;

	if (device->made >= KEPT)
		destroy_qp(device, *handle);
	if (command(device, IB_USER_VERBS_CMD_CREATE_QP, &request,
		    sizeof(request), &response)) {
		perror("# create a queue pair");
		return 0;
	}
	*handle = response.qp.qp_handle;
	device->made++;
	return response.qp.qpn;
}

__u32 iwarp_qp_num(int nr)
{
	struct device *device = &devices[nr];
	__u32 number = 0;

	pthread_mutex_lock(&lock);
	if (!use_device(device, nr))
		number = create_qp(device);
	pthread_mutex_unlock(&lock);
	return number;
}

void iwarp_let_go(void)
{
	pthread_mutex_lock(&lock);
	for (int nr = 0; nr < DEVICES; nr++)
		close_device(&devices[nr]);
	pthread_mutex_unlock(&lock);
}
