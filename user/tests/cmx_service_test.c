// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Services of an InfiniBand subnet through the library: rdma_resolve_addrinfo() and
 * rdma_getaddrinfo() with RAI_SA.  services.sh has somebody answer.
 */
#include <endian.h>
#include <string.h>

#include <infiniband/ib.h>

#include "administrator.h"
#include "cmx_scene.h"
#include "lib_scene.h"
#include "test.h"

#define NUMBER "0x0123456789abcdef"
/* As many as an event's record has room for. */
#define MOST 16

FIXTURE(service)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct rdma_addrinfo hints;
	struct rdma_addrinfo *info;
};

FIXTURE_SETUP(service)
{
	struct sockaddr_storage address;

	test_ok(administrator_answers("0", "0", "N"));
	self->hints.ai_flags = RAI_SA;
	self->channel = rdma_create_event_channel();
	ASSERT_NE(NULL, self->channel);
	test_ok(rdma_create_id(self->channel, &self->id, NULL, RDMA_PS_TCP));
	socket_address(ADDR1, 0, &address);
	test_ok(rdma_bind_addr(self->id, (struct sockaddr *)&address));
}

FIXTURE_TEARDOWN(service)
{
	EXPECT_EQ(0, administrator_answers("0", "0", "N"));
	EXPECT_EQ(0, rdma_destroy_id(self->id));
	rdma_destroy_event_channel(self->channel);
}

#define RESOLVE(service) \
	rdma_resolve_addrinfo(self->id, NULL, service, &self->hints)

/* The administrator gives the nth the GID n:n:n and so on, beginning with 1. */
static bool is_nth(const struct rdma_addrinfo *info, unsigned int n, uint64_t number)
{
	const struct sockaddr_ib *ib = (struct sockaddr_ib *)info->ai_dst_addr;

	return info->ai_flags == RAI_SA && info->ai_family == AF_IB &&
	       info->ai_port_space == RDMA_PS_IB && !info->ai_src_addr &&
	       info->ai_dst_len == sizeof(*ib) && ib->sib_family == AF_IB &&
	       ib->sib_addr.sib_raw[0] == n && ib->sib_addr.sib_raw[15] == n &&
	       ib->sib_pkey == htobe16(0xffff) && ib->sib_sid == htobe64(number) &&
	       ib->sib_sid_mask == UINT64_MAX;
}

/* Take the result, which has @count entries for the service with @number. */
#define EXPECT_SERVICES(count, number) do {				\
	struct rdma_addrinfo *_info;					\
	unsigned int _n = 0;						\
									\
	test_ok(rdma_query_addrinfo(self->id, &self->info));		\
	for (_info = self->info; _info; _info = _info->ai_next)		\
		EXPECT_TRUE(is_nth(_info, ++_n, number));		\
	EXPECT_EQ(count, _n);						\
	rdma_freeaddrinfo(self->info);					\
	test_err(ENOENT, rdma_query_addrinfo(self->id, &self->info));	\
} while (0)

TEST_F(service, by_its_number)
{
	const struct sockaddr_ib *ib;

	test_ok(administrator_answers("3", "0", "Y"));
	test_ok(RESOLVE(NUMBER));
	test_err(EBUSY, RESOLVE(NUMBER));
	test_err(ENOENT, rdma_query_addrinfo(self->id, &self->info));
	test_ok(administrator_answers("3", "0", "N"));
	test_ok(event_take(self->channel, RDMA_CM_EVENT_ADDRINFO_RESOLVED));
	test_err(EBUSY, RESOLVE(NUMBER));
	/* The id is to go to the first of them. */
	ib = (struct sockaddr_ib *)rdma_get_peer_addr(self->id);
	EXPECT_EQ(AF_IB, ib->sib_family);
	EXPECT_EQ(1, ib->sib_addr.sib_raw[0]);
	EXPECT_SERVICES(3, 0x0123456789abcdef);
}

TEST_F(service, by_its_name)
{
	test_ok(administrator_answers("1", "0", "N"));
	test_ok(RESOLVE("1 service"));
	test_ok(event_take(self->channel, RDMA_CM_EVENT_ADDRINFO_RESOLVED));
	EXPECT_SERVICES(1, 0);
}

TEST_F(service, no_more_than_fit_an_event)
{
	test_ok(administrator_answers("20", "0", "N"));
	test_ok(RESOLVE("17"));
	test_ok(event_take(self->channel, RDMA_CM_EVENT_ADDRINFO_RESOLVED));
	EXPECT_SERVICES(MOST, 17);
}

/* Then it can be asked once more. */
TEST_F(service, errors)
{
	struct rdma_cm_event *event;

	test_ok(administrator_answers("0", "-110", "N"));
	test_ok(RESOLVE("1"));
	test_ok(event_expect(self->channel, RDMA_CM_EVENT_ADDRINFO_ERROR, &event));
	EXPECT_EQ(-ETIMEDOUT, event->status);
	test_ok(rdma_ack_cm_event(event));
	test_ok(administrator_answers("0", "0", "N"));
	test_ok(RESOLVE("1"));
	test_ok(event_expect(self->channel, RDMA_CM_EVENT_ADDRINFO_ERROR, &event));
	EXPECT_EQ(-ENOENT, event->status);
	test_ok(rdma_ack_cm_event(event));
	test_err(ENOENT, rdma_query_addrinfo(self->id, &self->info));
	test_ok(administrator_answers("1", "0", "N"));
	test_ok(RESOLVE("1"));
	test_ok(event_take(self->channel, RDMA_CM_EVENT_ADDRINFO_RESOLVED));
	EXPECT_SERVICES(1, 1);
}

TEST_F(service, what_is_refused_can_be_put_right)
{
	char name[65];

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = 0;
	test_ok(administrator_answers("1", "0", "N"));
	test_err(EINVAL, RESOLVE(NULL));
	test_err(EINVAL, RESOLVE(name));
	test_err(EOPNOTSUPP, rdma_resolve_addrinfo(self->id, ADDR1, "1", &self->hints));
	self->hints.ai_flags |= RAI_DNS;
	test_err(EOPNOTSUPP, RESOLVE("1"));
	self->hints.ai_flags = RAI_SA;
	EXPECT_FALSE(event_there(self->channel));
	test_ok(RESOLVE(name + 1));
	test_ok(event_take(self->channel, RDMA_CM_EVENT_ADDRINFO_RESOLVED));
	EXPECT_SERVICES(1, 0);
}

TEST_F(service, an_id_that_is_bound_to_nothing)
{
	struct rdma_cm_id *id;

	test_ok(rdma_create_id(self->channel, &id, NULL, RDMA_PS_TCP));
	test_err(EINVAL, rdma_resolve_addrinfo(id, NULL, "1", &self->hints));
	test_err(EINVAL, rdma_resolve_addrinfo(id, NULL, "1", &self->hints));
	test_ok(rdma_destroy_id(id));
}

TEST_F(service, migrated_before_the_answer)
{
	struct rdma_event_channel *target = rdma_create_event_channel();

	ASSERT_NE(NULL, target);
	test_ok(administrator_answers("2", "0", "Y"));
	test_ok(RESOLVE("1"));
	test_ok(rdma_migrate_id(self->id, target));
	test_ok(administrator_answers("2", "0", "N"));
	test_ok(event_take(target, RDMA_CM_EVENT_ADDRINFO_RESOLVED));
	EXPECT_SERVICES(2, 1);
	test_ok(rdma_migrate_id(self->id, self->channel));
	rdma_destroy_event_channel(target);
}

TEST_F(service, a_synchronous_id_waits)
{
	test_ok(rdma_migrate_id(self->id, NULL));
	test_err(ENOENT, RESOLVE("1"));
	test_ok(administrator_answers("2", "0", "N"));
	test_ok(RESOLVE("1"));
	EXPECT_SERVICES(2, 1);
}

/* As if its address had been resolved.  But the administrator knows of no paths. */
TEST_F(service, the_route_comes_next)
{
	struct sockaddr_storage address;

	socket_address(ADDR2, 1, &address);
	test_ok(administrator_answers("1", "0", "N"));
	test_err(EINVAL, rdma_resolve_route(self->id, 1000));
	test_ok(RESOLVE("1"));
	test_ok(event_take(self->channel, RDMA_CM_EVENT_ADDRINFO_RESOLVED));
	test_err(EINVAL, rdma_resolve_addr(self->id, NULL,
					   (struct sockaddr *)&address, 1000));
	test_err(ENODEV, rdma_resolve_route(self->id, 1000));
}

/* Nobody takes the result: it is freed with the id. */
TEST_F(service, nobody_asks_what_was_found)
{
	test_ok(administrator_answers("2", "0", "N"));
	test_ok(RESOLVE("1"));
	test_ok(event_take(self->channel, RDMA_CM_EVENT_ADDRINFO_RESOLVED));
}

/* The administrator is asked over ports of InfiniBand, and here is none. */
TEST_F(service, without_an_id)
{
	test_ok(administrator_answers("2", "0", "N"));
	test_err(ENOENT, rdma_getaddrinfo(NULL, "1", &self->hints, &self->info));
}

TEST_HARNESS_MAIN
