// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Devices that come after the program has begun, and that go.
 */
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/rdma_verbs.h>

#include "cmx_scene.h"
#include "lib_scene.h"
#include "test.h"

FIXTURE(device) {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
};

FIXTURE_SETUP(device)
{
	self->channel = rdma_create_event_channel();
	ASSERT_NE(NULL, self->channel);
}

FIXTURE_TEARDOWN(device)
{
	rdma_destroy_event_channel(self->channel);
}

/* How many there are, -1 if the call fails; the last one's context. */
static int count_devices(struct ibv_context **verbs)
{
	struct ibv_context **list;
	int count;

	list = rdma_get_devices(&count);
	if (!list)
		return -1;
	*verbs = list[count - 1];
	rdma_free_devices(list);
	return count;
}

/* From the address to the end of a connection; the device's context. */
static void use_device(struct __test_metadata *_metadata,
		       struct rdma_event_channel *channel, struct ibv_context **verbs)
{
	struct rdma_cm_id *listener, *id;
	struct rdma_cm_event *event;

	listener = listener_open(channel, ADDR1, 1);
	ASSERT_NE(NULL, listener);
	id = client_connect(channel, ADDR1, listener_port(listener), 1);
	ASSERT_NE(NULL, id);
	test_ok(event_expect(channel, RDMA_CM_EVENT_CONNECT_REQUEST, &event));
	EXPECT_EQ(id->verbs, event->id->verbs);
	*verbs = id->verbs;
	test_ok(rdma_destroy_id(event->id));
	test_ok(rdma_ack_cm_event(event));
	test_ok(event_take(channel, RDMA_CM_EVENT_REJECTED));
	id_close(id);
	id_close(listener);
}

/* What needs no device works without one, and the rest as soon as there is one. */
TEST_F(device, comes_later)
{
	struct ibv_context *verbs, *listed;
	struct rdma_cm_id *id;

	test_ok(device_remove());
	test_err(ENODEV, count_devices(&listed));
	test_ok(rdma_create_id(self->channel, &id, NULL, RDMA_PS_TCP));
	test_ok(id_resolve(id));
	test_ok(event_take(self->channel, RDMA_CM_EVENT_ADDR_ERROR));
	test_ok(device_restore());
	/* The same id, too. */
	test_ok(id_resolve(id));
	test_ok(event_take(self->channel, RDMA_CM_EVENT_ADDR_RESOLVED));
	ASSERT_EQ(1, count_devices(&listed));
	EXPECT_EQ(listed, id->verbs);
	use_device(_metadata, self->channel, &verbs);
	EXPECT_EQ(listed, verbs);
	test_ok(rdma_destroy_id(id));
}

/* Besides the one that is there; it goes with its interface. */
static int add_device(int number)
{
	static const char *const steps[] = {
		"/usr/bin/ip link add d%d type dummy",
		"/usr/bin/ip link set d%d up",
		"rdma link add rxe%d type rxe netdev d%d",
	};
	char command[64];
	unsigned int i;

	for (i = 0; i < 3; i++) {
		snprintf(command, sizeof(command), steps[i], number, number);
		if (system(command))
			return -1;
	}
	return 0;
}

/* In a process of its own, which does not keep them open. */
static int list_in_order(void)
{
	struct ibv_context **list;
	int i, count, last = -1, index;

	rdma_free_devices(rdma_get_devices(NULL));
	if (add_device(9) || add_device(8))
		return 3;
	list = rdma_get_devices(&count);
	if (!list || count != 3)
		return 1;
	for (i = 0; i < count; i++) {
		index = ibv_get_device_index(list[i]->device);
		if (index <= last)
			return 2;
		last = index;
	}
	return 0;
}

/* The first that there was is the first, as with librdmacm, whenever they came. */
TEST_F(device, listed_in_order)
{
	int status = -1;
	pid_t child;

	child = fork();
	if (!child)
		_exit(list_in_order());
	EXPECT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, system("/usr/bin/ip link del d8"));
	EXPECT_EQ(0, system("/usr/bin/ip link del d9"));
}

/* It goes as soon as nobody has an id on it; another of its name is another one. */
TEST_F(device, goes_and_comes_again)
{
	struct ibv_context *verbs;
	struct rdma_cm_id *id;
	int status = -1;
	pid_t remover;

	test_ok(rdma_create_id(self->channel, &id, NULL, RDMA_PS_TCP));
	test_ok(id_resolve(id));
	test_ok(event_take(self->channel, RDMA_CM_EVENT_ADDR_RESOLVED));
	ASSERT_NE(NULL, id->verbs);
	remover = fork();
	if (!remover)
		execlp("rdma", "rdma", "link", "del", "rxe0", NULL);
	test_ok(event_take(self->channel, RDMA_CM_EVENT_DEVICE_REMOVAL));
	test_err(ENXIO, rdma_resolve_route(id, 1000));
	test_ok(rdma_destroy_id(id));
	ASSERT_EQ(remover, waitpid(remover, &status, 0));
	EXPECT_EQ(0, status);
	test_ok(device_restore());
	use_device(_metadata, self->channel, &verbs);
}

/* What an id has in a domain that is not its own, if it has anything there. */
enum own { NOTHING, QUEUE_PAIR, SHARED_QUEUE };

static int create_own(struct rdma_cm_id *id, enum own own, struct ibv_pd *pd,
		      struct ibv_cq *cq)
{
	struct ibv_srq_init_attr shared = { .attr = { .max_wr = 1, .max_sge = 1 } };
	struct ibv_qp_init_attr attr = qp_attr_of(IBV_QPT_RC);

	attr.send_cq = cq;
	attr.recv_cq = cq;
	if (own == QUEUE_PAIR)
		return rdma_create_qp(id, pd, &attr);
	return own == SHARED_QUEUE ? rdma_create_srq(id, pd, &shared) : 0;
}

/* Has objects of its own when the last id on their device goes. */
static int outlive(struct rdma_event_channel *channel, int said, enum own domain)
{
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	char memory[64];

	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) || id_resolve(id) ||
	    event_take(channel, RDMA_CM_EVENT_ADDR_RESOLVED))
		return 1;
	pd = domain ? ibv_alloc_pd(id->verbs) : id->pd;
	cq = ibv_create_cq(id->verbs, 8, NULL, NULL, 0);
	mr = ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
	if (!pd || !cq || !mr || create_own(id, domain, pd, cq) ||
	    write(said, "r", 1) != 1 ||
	    event_take(channel, RDMA_CM_EVENT_DEVICE_REMOVAL))
		return 2;
	if (id->qp)
		rdma_destroy_qp(id);
	rdma_destroy_srq(id);
	if (rdma_destroy_id(id))
		return 3;
	if (ibv_dereg_mr(mr) || ibv_destroy_cq(cq) || (domain && ibv_dealloc_pd(pd)))
		return 4;
	/* Those in the id's domain are known of: then the device can go. */
	if (!domain) {
		rdma_free_devices(rdma_get_devices(NULL));
		return read(said, memory, 1) == 1 ? 0 : 5;
	}
	return 0;
}

/* As programs do who destroy the id first: then their queues and memory. */
static void outlives(struct __test_metadata *_metadata,
		     struct rdma_event_channel *channel, enum own domain)
{
	int said[2], status = -1;
	pid_t child, remover;
	char byte;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, said));
	child = fork();
	if (!child)
		_exit(outlive(channel, said[1], domain));
	ASSERT_EQ(1, read(said[0], &byte, 1));
	remover = fork();
	if (!remover)
		execlp("rdma", "rdma", "link", "del", "rxe0", NULL);
	if (!domain) {
		EXPECT_EQ(remover, waitpid(remover, &status, 0));
		EXPECT_EQ(0, status);
		EXPECT_EQ(1, write(said[0], "g", 1));
	}
	EXPECT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	if (domain)
		EXPECT_EQ(remover, waitpid(remover, &status, 0));
	test_ok(device_restore());
}

TEST_F(device, memory_in_the_ids_domain_outlives_it)
{
	outlives(_metadata, self->channel, NOTHING);
}

TEST_F(device, queue_of_the_programs_own_outlives_it)
{
	outlives(_metadata, self->channel, QUEUE_PAIR);
}

TEST_F(device, domain_of_a_shared_queue_outlives_it)
{
	outlives(_metadata, self->channel, SHARED_QUEUE);
}

TEST_HARNESS_MAIN
