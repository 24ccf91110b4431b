// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Services of an InfiniBand subnet, which rdma_cm resolves from 7.3 on.  services.sh
 * has somebody answer.
 */
#include <endian.h>
#include <string.h>
#include <unistd.h>

#include "administrator.h"
#include "call.h"
#include "scene.h"
#include "test.h"

#define ADDRESS_OF_IB 27
#define SERVICE_ID 0x0123456789abcdefULL

/* What a record of an answer has. */
struct services {
	struct rdma_ucmx_event head;
	struct rdma_ucmx_route route;
	struct rdma_ucmx_services services;
	struct rdma_ucmx_service service[RDMA_UCMX_MAX_SERVICES];
};

FIXTURE(service) {
	int fd;
	int target;
	__u32 id;
};

FIXTURE_SETUP(service)
{
	struct rdma_ucmx_addr address = addr(ADDR1, 0);
	struct rdma_ucmx_info info;

	test_ok(administrator_answers("0", "0", "N"));
	self->fd = channel_open();
	self->target = channel_open();
	ASSERT_LE(0, self->fd);
	ASSERT_LE(0, self->target);
	test_ok(cmd_info(self->fd, &info));
	ASSERT_TRUE(info.out_features & RDMA_UCMX_FEATURE_IB_SERVICE);
	test_ok(cmd_create_id(self->fd, PS_TCP, 0, &self->id));
	test_ok(cmd_bind_addr(self->fd, self->id, &address));
}

FIXTURE_TEARDOWN(service)
{
	EXPECT_EQ(0, administrator_answers("0", "0", "N"));
	close(self->fd);
	close(self->target);
}

#define RESOLVE() \
	cmd_resolve_ib_service(self->fd, self->id, RDMA_UCMX_SERVICE_ID | \
			       RDMA_UCMX_SERVICE_NAME, SERVICE_ID, "service")

/* Read the answer, which has @known services, @told of them in the record. */
#define EXPECT_SERVICES(channel, known, told) do {			\
	struct services _read = {};					\
	unsigned int _i;						\
									\
	ASSERT_TRUE(wait_until(readable(channel)));			\
	ASSERT_EQ(offsetof(struct services, service[told]),		\
		  read(channel, &_read, sizeof(_read)));		\
	EXPECT_EQ(RDMA_UCMX_EVENT_TYPE_ADDRINFO_RESOLVED, _read.head.event); \
	EXPECT_EQ(0, _read.head.status);				\
	EXPECT_EQ(self->id, _read.head.id);				\
	EXPECT_EQ(RDMA_UCMX_EVENT_ROUTE | RDMA_UCMX_EVENT_SERVICES,	\
		  _read.head.sections);					\
	EXPECT_EQ(ADDRESS_OF_IB, _read.route.dst_addr.family);		\
	/* Behind partition and flow: the GID of the first. */		\
	EXPECT_EQ(1, _read.route.dst_addr.data[6]);			\
	EXPECT_EQ(known, _read.services.total);				\
	ASSERT_EQ(told, _read.services.count);				\
	for (_i = 0; _i < (told); _i++)					\
		EXPECT_TRUE(is_service(&_read.service[_i], _i));	\
	test_ok(cmd_ack(channel, self->id, _read.head.seq));		\
} while (0)

static bool is_service(const struct rdma_ucmx_service *service, unsigned int n)
{
	return be64toh(service->service_id) == SERVICE_ID &&
	       service->gid[0] == n + 1 && service->gid[15] == n + 1 &&
	       be16toh(service->pkey) == 0xffff && be32toh(service->lease) == n &&
	       !strcmp((const char *)service->name, "service") &&
	       !service->data[62] && service->data[63] == n;
}

TEST_F(service, c04_what_is_known_of_them)
{
	test_ok(administrator_answers("3", "0", "N"));
	test_ok(RESOLVE());
	EXPECT_SERVICES(self->fd, 3, 3);
	/* It is resolved, and not once more. */
	test_err(EINVAL, RESOLVE());
	EXPECT_FALSE(readable(self->fd));
}

/* A buffer of 4,096 bytes is always enough. */
TEST_F(service, c04_no_more_than_fit_a_record)
{
	test_ok(administrator_answers("20", "0", "N"));
	test_ok(RESOLVE());
	EXPECT_SERVICES(self->fd, 20, RDMA_UCMX_MAX_SERVICES);
}

/* Nobody answers, or nobody has it; then it can be asked once more. */
TEST_F(service, errors)
{
	struct event ev;

	test_ok(administrator_answers("0", "-110", "N"));
	test_ok(RESOLVE());
	test_ok(event_expect(self->fd, RDMA_UCMX_EVENT_TYPE_ADDRINFO_ERROR, &ev));
	EXPECT_EQ(-ETIMEDOUT, ev.head.status);
	EXPECT_EQ(0, ev.head.sections);
	test_ok(event_ack(self->fd, &ev));
	test_ok(administrator_answers("0", "0", "N"));
	test_ok(RESOLVE());
	test_ok(event_expect(self->fd, RDMA_UCMX_EVENT_TYPE_ADDRINFO_ERROR, &ev));
	EXPECT_EQ(-ENOENT, ev.head.status);
	test_ok(event_ack(self->fd, &ev));
	test_ok(administrator_answers("1", "0", "N"));
	test_ok(RESOLVE());
	EXPECT_SERVICES(self->fd, 1, 1);
}

/* What is refused meanwhile leaves the room for the answer to what was not. */
TEST_F(service, c03_asked_once_more_before_the_answer)
{
	test_ok(administrator_answers("2", "0", "Y"));
	test_ok(RESOLVE());
	test_err(EINVAL, RESOLVE());
	test_ok(administrator_answers("2", "0", "N"));
	EXPECT_SERVICES(self->fd, 2, 2);
}

TEST_F(service, c09_migrated_before_the_answer)
{
	test_ok(administrator_answers("2", "0", "Y"));
	test_ok(RESOLVE());
	test_ok(cmd_migrate_id(self->fd, self->id, self->target));
	test_ok(administrator_answers("2", "0", "N"));
	EXPECT_SERVICES(self->target, 2, 2);
	EXPECT_FALSE(readable(self->fd));
}

TEST_F(service, c07_migrated_with_the_answer)
{
	test_ok(administrator_answers("2", "0", "N"));
	test_ok(RESOLVE());
	ASSERT_TRUE(wait_until(readable(self->fd)));
	test_ok(cmd_migrate_id(self->fd, self->id, self->target));
	EXPECT_FALSE(readable(self->fd));
	EXPECT_SERVICES(self->target, 2, 2);
}

/* The end of the id waits for the answer, and nobody gets that. */
TEST_F(service, c17_destroyed_before_the_answer)
{
	struct call destroy = { .fd = self->fd, .id = self->id };

	test_ok(administrator_answers("2", "0", "Y"));
	test_ok(RESOLVE());
	call_start(&destroy, run_destroy);
	ASSERT_TRUE(wait_until(!id_is_on(self->fd, self->id) ||
			       id_has_state(self->fd, self->id, RDMA_UCMX_ID_DYING)));
	test_ok(administrator_answers("2", "0", "N"));
	test_ok(call_result(&destroy));
	EXPECT_FALSE(readable(self->fd));
	EXPECT_EQ(0, channel_ids(self->fd));
}

TEST_HARNESS_MAIN
