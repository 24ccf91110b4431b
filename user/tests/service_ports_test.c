// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Which ports are asked for a service by rdma_getaddrinfo(), and is nothing left then?
 * Over a fake kernel and devices that are made up.
 */
#include <dlfcn.h>
#include <endian.h>
#include <string.h>

#include <infiniband/ib.h>

#include "cmx.h"
#include "fake.h"
#include "test.h"

#undef ibv_query_port
#undef ibv_get_device_list

enum { DEVICES = 2, PORTS = 2 };

/* What the test says of a device. */
static struct {
	struct ibv_device device;
	struct ibv_context verbs;
	struct ibv_port_attr port[PORTS];
	union ibv_gid gid[PORTS];
	bool broken;
	bool silent;
	bool is_open;
} fakes[DEVICES];

static int number_of(const struct ibv_context *verbs)
{
	int i = 0;

	while (verbs != &fakes[i].verbs)
		i++;
	return i;
}

struct ibv_device **ibv_get_device_list(int *count)
{
	struct ibv_device **list = calloc(DEVICES + 1, sizeof(*list));
	int i;

	for (i = 0; list && i < DEVICES; i++)
		list[i] = &fakes[i].device;
	if (count)
		*count = DEVICES;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	int i = 0;

	while (device != &fakes[i].device)
		i++;
	if (fakes[i].broken)
		return NULL;
	fakes[i].is_open = true;
	/* The real one may be a cancellation point. */
	pthread_testcancel();
	return &fakes[i].verbs;
}

int ibv_close_device(struct ibv_context *verbs)
{
	fakes[number_of(verbs)].is_open = false;
	return 0;
}

int ibv_query_device(struct ibv_context *verbs, struct ibv_device_attr *attr)
{
	attr->phys_port_cnt = PORTS;
	return fakes[number_of(verbs)].silent ? EIO : 0;
}

int ibv_query_port(struct ibv_context *verbs, uint8_t port,
		   struct _compat_ibv_port_attr *attr)
{
	memcpy(attr, &fakes[number_of(verbs)].port[port - 1],
	       sizeof(struct ibv_port_attr));
	return 0;
}

int ibv_query_gid(struct ibv_context *verbs, uint8_t port, int index,
		  union ibv_gid *gid)
{
	if (index)
		return -1;
	*gid = fakes[number_of(verbs)].gid[port - 1];
	return 0;
}

FIXTURE(ports) {
	struct rdma_addrinfo hints;
	struct rdma_addrinfo *info;
};

/* All on a subnet, none with an administrator. */
FIXTURE_SETUP(ports)
{
	int i, port;

	self->hints.ai_flags = RAI_SA;
	for (i = 0; i < DEVICES; i++) {
		for (port = 0; port < PORTS; port++) {
			fakes[i].port[port].link_layer = IBV_LINK_LAYER_INFINIBAND;
			fakes[i].port[port].state = IBV_PORT_ACTIVE;
			memset(&fakes[i].gid[port], 0x10 * (i + 1) + port,
			       sizeof(fakes[i].gid[port]));
		}
	}
}

/* Asks the detector of leaks, where it is linked. */
static int leaks(void)
{
	void *check = dlsym(RTLD_DEFAULT, "__lsan_do_recoverable_leak_check");

	return check ? ((int (*)(void))check)() : 0;
}

/* Nothing is left, open or not: channels have one number after the other. */
FIXTURE_TEARDOWN(ports)
{
	int i;

	for (i = 0; i < DEVICES; i++)
		EXPECT_FALSE(fakes[i].is_open);
	for (i = 1000; i < 1010; i++)
		EXPECT_FALSE(fake_is_open(i));
	EXPECT_EQ(0, fake_outstanding());
	EXPECT_FALSE(fake_misused);
	EXPECT_EQ(0, leaks());
}

#define GID(device, number) (fakes[device].gid[number].raw)

static bool is_address(const struct sockaddr *address, socklen_t length,
		       const void *gid, uint64_t sid, uint64_t mask)
{
	const struct sockaddr_ib *ib = (const struct sockaddr_ib *)address;

	return length == sizeof(*ib) && ib->sib_family == AF_IB &&
	       ib->sib_pkey == htobe16(0xffff) &&
	       !memcmp(&ib->sib_addr, gid, sizeof(ib->sib_addr)) &&
	       ib->sib_sid == htobe64(sid) && ib->sib_sid_mask == htobe64(mask);
}

TEST_F(ports, the_first_that_knows_answers)
{
	const struct rdma_addrinfo *info;
	uint8_t gid[16];
	unsigned int i;

	fake_administrator(GID(0, 1), 0);
	fake_administrator(GID(1, 0), FAKE_SERVICES);
	fake_administrator(GID(1, 1), 1);
	test_ok(rdma_getaddrinfo(NULL, "service", &self->hints, &self->info));
	info = self->info;
	for (i = 0; i < FAKE_SERVICES; i++) {
		ASSERT_NE(NULL, info);
		memset(gid, i, sizeof(gid));
		EXPECT_EQ(RAI_SA, info->ai_flags);
		EXPECT_EQ(AF_IB, info->ai_family);
		EXPECT_EQ(RDMA_PS_IB, info->ai_port_space);
		EXPECT_TRUE(is_address(info->ai_dst_addr, info->ai_dst_len, gid,
				       strlen("service") + i, UINT64_MAX));
		EXPECT_TRUE(is_address(info->ai_src_addr, info->ai_src_len,
				       GID(1, 0), (uint64_t)RDMA_PS_IB << 16,
				       RDMA_IB_IP_PS_MASK));
		info = info->ai_next;
	}
	EXPECT_EQ(NULL, info);
	rdma_freeaddrinfo(self->info);
}

TEST_F(ports, nobody_knows)
{
	fake_administrator(GID(1, 1), 0);
	test_err(ENOENT, rdma_getaddrinfo(NULL, "1", &self->hints, &self->info));
}

TEST_F(ports, there_is_no_administrator)
{
	static const uint8_t elsewhere[16] = { 0xff };

	fake_administrator(elsewhere, 1);
	test_err(EOPNOTSUPP, rdma_getaddrinfo(NULL, "1", &self->hints, &self->info));
}

/* Neither Ethernet, nor what is not active, nor a device that cannot be opened. */
TEST_F(ports, others_are_not_asked)
{
	fake_administrator(GID(0, 0), 1);
	fake_administrator(GID(0, 1), 1);
	fake_administrator(GID(1, 0), 1);
	fakes[0].port[0].link_layer = IBV_LINK_LAYER_ETHERNET;
	fakes[0].port[1].state = IBV_PORT_INIT;
	fakes[1].broken = true;
	test_err(ENOENT, rdma_getaddrinfo(NULL, "1", &self->hints, &self->info));
	fakes[1].broken = false;
	fakes[0].silent = true;
	test_ok(rdma_getaddrinfo(NULL, "1", &self->hints, &self->info));
	EXPECT_TRUE(is_address(self->info->ai_src_addr, self->info->ai_src_len,
			       GID(1, 0), (uint64_t)RDMA_PS_IB << 16,
			       RDMA_IB_IP_PS_MASK));
	rdma_freeaddrinfo(self->info);
}

TEST_F(ports, what_cannot_be_asked)
{
	char longer[RDMA_UCMX_SERVICE_NAME_SIZE + 1];

	fake_administrator(GID(0, 0), 1);
	test_err(EINVAL, rdma_getaddrinfo(NULL, NULL, &self->hints, &self->info));
	test_err(EOPNOTSUPP, rdma_getaddrinfo("192.0.2.1", "1", &self->hints,
					      &self->info));
	self->hints.ai_flags |= RAI_DNS;
	test_err(EOPNOTSUPP, rdma_getaddrinfo(NULL, "1", &self->hints, &self->info));
	self->hints.ai_flags = RAI_SA;
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = 0;
	test_err(EINVAL, rdma_getaddrinfo(NULL, longer, &self->hints, &self->info));
	test_ok(rdma_getaddrinfo(NULL, longer + 1, &self->hints, &self->info));
	rdma_freeaddrinfo(self->info);
}

/* Also where a call before it has failed. */
TEST_F(ports, by_its_number)
{
	static const uint8_t first[16];

	fake_administrator(GID(0, 0), 1);
	errno = ERANGE;
	test_ok(rdma_getaddrinfo(NULL, "0x12", &self->hints, &self->info));
	EXPECT_TRUE(is_address(self->info->ai_dst_addr, self->info->ai_dst_len,
			       first, 0x12, UINT64_MAX));
	rdma_freeaddrinfo(self->info);
	test_ok(rdma_getaddrinfo(NULL, "99999999999999999999", &self->hints,
				 &self->info));
	EXPECT_TRUE(is_address(self->info->ai_dst_addr, self->info->ai_dst_len,
			       first, 20, UINT64_MAX));
	rdma_freeaddrinfo(self->info);
}

static bool cancelled_before;

static void *look_for(void *hints)
{
	struct rdma_addrinfo *info;

	if (cancelled_before)
		pthread_cancel(pthread_self());
	rdma_getaddrinfo(NULL, "1", hints, &info);
	return NULL;
}

TEST_F(ports, a_thread_that_asks_is_cancelled)
{
	pthread_t thread;
	void *result;

	fake_administrator(GID(0, 0), 1);
	fake_cancel_reader(1);
	ASSERT_EQ(0, pthread_create(&thread, NULL, look_for, &self->hints));
	ASSERT_EQ(0, pthread_join(thread, &result));
	EXPECT_EQ(PTHREAD_CANCELED, result);
	cancelled_before = true;
	ASSERT_EQ(0, pthread_create(&thread, NULL, look_for, &self->hints));
	ASSERT_EQ(0, pthread_join(thread, &result));
	EXPECT_EQ(PTHREAD_CANCELED, result);
}

struct asker {
	struct rdma_cm_id *id;
	const struct rdma_addrinfo *hints;
	int error;
};

static void *resolve(void *argument)
{
	struct asker *asker = argument;

	asker->error = rdma_resolve_addrinfo(asker->id, NULL, "1", asker->hints) ?
			       errno : 0;
	return NULL;
}

/* Migrated away as soon as the kernel has its command; then it may go on. */
static bool begin_and_migrate(pthread_t *thread, struct asker *asker,
			      struct rdma_event_channel *channel)
{
	fake_hold(FAKE_BEGUN);
	if (pthread_create(thread, NULL, resolve, asker))
		return false;
	fake_wait_held();
	return !rdma_migrate_id(asker->id, channel);
}

/* Reads the event and takes what it tells of: the family of that, or -1. */
static int take_answer(struct rdma_event_channel *channel, struct rdma_cm_id *id)
{
	struct rdma_cm_event *event;
	struct rdma_addrinfo *info;
	int family;

	if (rdma_get_cm_event(channel, &event))
		return -1;
	family = event->event == RDMA_CM_EVENT_ADDRINFO_RESOLVED ? 0 : -1;
	if (rdma_ack_cm_event(event) || family || rdma_query_addrinfo(id, &info))
		return -1;
	family = info->ai_family;
	rdma_freeaddrinfo(info);
	return family;
}

/* The call ends; what it began, about a service or a name, does not, and is whose the id is. */
TEST_F(ports, a_synchronous_call_is_turned_away)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct sockaddr_ib address = { .sib_family = AF_IB };
	struct asker asker = { 0 };
	unsigned int i;
	pthread_t thread;
	int family;

	ASSERT_NE(NULL, channel);
	fake_administrator(GID(0, 0), 1);
	memcpy(&address.sib_addr, GID(0, 0), sizeof(address.sib_addr));
	test_ok(rdma_create_id(NULL, &asker.id, NULL, RDMA_PS_IB));
	test_ok(rdma_bind_addr(asker.id, (struct sockaddr *)&address));
	for (i = 0; i < 2; i++) {
		asker.hints = i ? NULL : &self->hints;
		ASSERT_TRUE(begin_and_migrate(&thread, &asker, channel));
		fake_release();
		ASSERT_EQ(0, pthread_join(thread, NULL));
		EXPECT_EQ(ESHUTDOWN, asker.error);
		test_err(EBUSY, rdma_resolve_addrinfo(asker.id, "192.0.2.1", "1", NULL));
		family = take_answer(channel, asker.id);
		EXPECT_LT(0, family);
		EXPECT_EQ(!i, family == AF_IB);
		test_ok(rdma_migrate_id(asker.id, NULL));
	}

	/* And of one whose answer another thread takes, and goes on. */
	ASSERT_TRUE(begin_and_migrate(&thread, &asker, channel));
	EXPECT_LT(0, take_answer(channel, asker.id));
	test_ok(rdma_resolve_addrinfo(asker.id, "192.0.2.1", "1", NULL));
	fake_release();
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(ESHUTDOWN, asker.error);
	EXPECT_EQ(AF_INET, take_answer(channel, asker.id));
	test_ok(rdma_destroy_id(asker.id));
	rdma_destroy_event_channel(channel);
}

/* A call that did not get its answer does not have the next one wait for it. */
TEST_F(ports, a_synchronous_call_is_interrupted)
{
	struct sockaddr_ib address = { .sib_family = AF_IB };
	struct asker asker = { 0 };
	const struct rdma_addrinfo *hints[] = { &self->hints, NULL };
	pthread_t thread;
	unsigned int i;

	fake_administrator(GID(0, 0), 1);
	memcpy(&address.sib_addr, GID(0, 0), sizeof(address.sib_addr));
	for (i = 0; i < 2; i++) {
		test_ok(rdma_create_id(NULL, &asker.id, NULL, RDMA_PS_IB));
		test_ok(rdma_bind_addr(asker.id, (struct sockaddr *)&address));
		fake_fail_read(EINTR);
		test_err(EINTR, rdma_resolve_addrinfo(asker.id, NULL, "1", hints[i]));
		test_ok(rdma_resolve_addrinfo(asker.id, NULL, "1", hints[i]));
		test_ok(rdma_query_addrinfo(asker.id, &self->info));
		rdma_freeaddrinfo(self->info);
		asker.hints = hints[i];
		fake_cancel_reader(1);
		ASSERT_EQ(0, pthread_create(&thread, NULL, resolve, &asker));
		ASSERT_EQ(0, pthread_join(thread, NULL));
		test_ok(rdma_resolve_addrinfo(asker.id, NULL, "1", hints[i]));
		test_ok(rdma_query_addrinfo(asker.id, &self->info));
		rdma_freeaddrinfo(self->info);
		test_ok(rdma_destroy_id(asker.id));
	}
}

/* What nobody took is freed with the id, and so is what was found too late. */
TEST_F(ports, answers_that_nobody_takes)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;

	ASSERT_NE(NULL, channel);
	test_ok(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	test_ok(rdma_resolve_addrinfo(id, "192.0.2.1", "1", NULL));
	test_ok(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
}

TEST_HARNESS_MAIN
