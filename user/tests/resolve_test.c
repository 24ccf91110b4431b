// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What RDMACM_1.4 has more than the versions before: events of the user's own,
 * and name resolution that ends with an event.
 */
#include <arpa/inet.h>
#include <errno.h>

#include <rdma/rdma_cmx.h>

#include "lib_scene.h"
#include "test.h"

FIXTURE(resolve)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
};

FIXTURE_SETUP(resolve)
{
	self->channel = rdma_create_event_channel();
	ASSERT_NE(NULL, self->channel);
	test_ok(rdma_create_id(self->channel, &self->id, NULL, RDMA_PS_TCP));
}

FIXTURE_TEARDOWN(resolve)
{
	EXPECT_EQ(0, rdma_destroy_id(self->id));
	rdma_destroy_event_channel(self->channel);
}

static const struct rdma_addrinfo numeric = {
	.ai_flags = RAI_NUMERICHOST,
	.ai_port_space = RDMA_PS_TCP,
};

TEST_F(resolve, event_of_the_users_own)
{
	struct rdma_cm_event *event;

	test_ok(rdma_write_cm_event(self->id, RDMA_CM_EVENT_USER, -5,
				    0x123456789abcdef0));
	test_ok(event_expect(self->channel, RDMA_CM_EVENT_USER, &event));
	EXPECT_EQ(self->id, event->id);
	EXPECT_EQ(-5, event->status);
	EXPECT_EQ(0x123456789abcdef0, rdmax_event_arg(event));
	EXPECT_STREQ("RDMA_CM_EVENT_USER", rdma_event_str(event->event));
	test_ok(rdma_ack_cm_event(event));
}

TEST_F(resolve, other_events_are_not_the_users)
{
	test_err(EINVAL, rdma_write_cm_event(self->id, RDMA_CM_EVENT_INTERNAL,
					     0, 0));
	test_err(EINVAL, rdma_write_cm_event(self->id,
					     RDMA_CM_EVENT_ESTABLISHED, 0, 0));
	EXPECT_FALSE(event_there(self->channel));
}

TEST_F(resolve, name_becomes_an_address)
{
	struct rdma_addrinfo *info;
	struct sockaddr_in *address;

	test_err(ENOENT, rdma_query_addrinfo(self->id, &info));
	test_ok(rdma_resolve_addrinfo(self->id, ADDR2, "7471", &numeric));
	test_err(ENOENT, rdma_query_addrinfo(self->id, &info));
	test_ok(event_take(self->channel, RDMA_CM_EVENT_ADDRINFO_RESOLVED));
	test_ok(rdma_query_addrinfo(self->id, &info));
	address = (struct sockaddr_in *)info->ai_dst_addr;
	EXPECT_EQ(htonl(0xc0000202), address->sin_addr.s_addr);
	EXPECT_EQ(htons(7471), address->sin_port);
	rdma_freeaddrinfo(info);
	test_err(ENOENT, rdma_query_addrinfo(self->id, &info));
}

TEST_F(resolve, name_that_means_nothing)
{
	struct rdma_addrinfo *info;
	struct rdma_cm_event *event;

	test_ok(rdma_resolve_addrinfo(self->id, "no number", NULL, &numeric));
	test_ok(event_expect(self->channel, RDMA_CM_EVENT_ADDRINFO_ERROR,
			     &event));
	EXPECT_GT(0, event->status);
	test_ok(rdma_ack_cm_event(event));
	test_err(ENOENT, rdma_query_addrinfo(self->id, &info));
}

/* Nor is there a port of InfiniBand to ask by, without an id. */
TEST_F(resolve, a_service_has_nobody_to_ask)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_SA }, *info;
	struct sockaddr_storage address;

	socket_address(ADDR1, 0, &address);
	test_ok(rdma_bind_addr(self->id, (struct sockaddr *)&address));
	test_err(EOPNOTSUPP,
		 rdma_resolve_addrinfo(self->id, NULL, "1", &hints));
	test_err(ENOENT, rdma_getaddrinfo(NULL, "1", &hints, &info));
	test_err(EOPNOTSUPP, rdma_getaddrinfo(ADDR1, "1", &hints, &info));
	test_err(EINVAL, rdma_getaddrinfo(NULL, NULL, &hints, &info));
	hints.ai_flags |= RAI_DNS;
	test_err(EOPNOTSUPP, rdma_resolve_addrinfo(self->id, NULL, "1", &hints));
	EXPECT_FALSE(event_there(self->channel));
}

TEST_F(resolve, nothing_to_translate)
{
	struct rdma_addrinfo *info;

	test_err(EINVAL, rdma_resolve_addrinfo(self->id, NULL, NULL, NULL));
	test_err(EINVAL, rdma_resolve_addrinfo(NULL, ADDR1, NULL, &numeric));
	test_err(EINVAL, rdma_query_addrinfo(self->id, NULL));
	test_err(EINVAL, rdma_query_addrinfo(NULL, &info));
	EXPECT_FALSE(event_there(self->channel));
}

/* One at a time, until what it found was taken. */
TEST_F(resolve, once_more_before_the_result_is_taken)
{
	struct rdma_addrinfo *info;

	test_ok(rdma_resolve_addrinfo(self->id, ADDR1, NULL, &numeric));
	test_err(EBUSY, rdma_resolve_addrinfo(self->id, ADDR2, NULL, &numeric));
	test_ok(event_take(self->channel, RDMA_CM_EVENT_ADDRINFO_RESOLVED));
	test_err(EBUSY, rdma_resolve_addrinfo(self->id, ADDR2, NULL, &numeric));
	test_ok(rdma_query_addrinfo(self->id, &info));
	rdma_freeaddrinfo(info);
	test_ok(rdma_resolve_addrinfo(self->id, "no number", NULL, &numeric));
	test_err(EBUSY, rdma_resolve_addrinfo(self->id, ADDR2, NULL, &numeric));
	test_ok(event_take(self->channel, RDMA_CM_EVENT_ADDRINFO_ERROR));
	test_ok(rdma_resolve_addrinfo(self->id, ADDR2, NULL, &numeric));
	test_ok(event_take(self->channel, RDMA_CM_EVENT_ADDRINFO_RESOLVED));
}

/* Another event comes first, and is passed over. */
TEST_F(resolve, synchronous_id_waits_for_the_answer)
{
	struct rdma_addrinfo *info;

	test_ok(rdma_migrate_id(self->id, NULL));
	test_ok(rdma_write_cm_event(self->id, RDMA_CM_EVENT_USER, 0, 0));
	test_ok(rdma_resolve_addrinfo(self->id, ADDR1, "7471", &numeric));
	EXPECT_EQ(RDMA_CM_EVENT_ADDRINFO_RESOLVED, self->id->event->event);
	test_ok(rdma_query_addrinfo(self->id, &info));
	rdma_freeaddrinfo(info);
	EXPECT_EQ(-1, rdma_resolve_addrinfo(self->id, "no number", NULL,
					    &numeric));
}

/* What nobody asked for is freed with the id. */
TEST_F(resolve, answer_that_nobody_asks_for)
{
	test_ok(rdma_resolve_addrinfo(self->id, ADDR1, NULL, &numeric));
	test_ok(event_take(self->channel, RDMA_CM_EVENT_ADDRINFO_RESOLVED));
}

TEST_HARNESS_MAIN
