// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Addresses that are given to calls, and what is left of them when these fail.  The
 * fake kernel knows of none: what gets that far is ENOTTY there.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/ib.h>

#include "cmx.h"
#include "fake.h"
#include "test.h"

FIXTURE(address)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
};

FIXTURE_SETUP(address)
{
	self->channel = rdma_create_event_channel();
	ASSERT_NE(NULL, self->channel);
	ASSERT_EQ(0, rdma_create_id(self->channel, &self->id, NULL, RDMA_PS_TCP));
}

FIXTURE_TEARDOWN(address)
{
	EXPECT_EQ(0, rdma_destroy_id(self->id));
	rdma_destroy_event_channel(self->channel);
	EXPECT_FALSE(fake_misused);
}

TEST_F(address, no_address)
{
	struct sockaddr unknown = { .sa_family = AF_UNSPEC };
	struct sockaddr_in known = { .sin_family = AF_INET };
	struct sockaddr *address = (struct sockaddr *)&known;

	EXPECT_EQ(-1, rdma_bind_addr(self->id, NULL));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, rdma_bind_addr(self->id, &unknown));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, rdma_resolve_addr(self->id, address, NULL, 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, rdma_resolve_addr(self->id, &unknown, address, 1));
	EXPECT_EQ(EINVAL, errno);
}

/* Whatever the mask says, as with librdmacm. */
TEST_F(address, port_of_a_service)
{
	struct sockaddr_ib ib = {
		.sib_family = AF_IB,
		.sib_sid = htobe64((uint64_t)RDMA_PS_TCP << 16 | 7),
	};

	memcpy(&self->id->route.addr.src_storage, &ib, sizeof(ib));
	ib.sib_sid = htobe64(8);
	ib.sib_sid_mask = htobe64(8);
	memcpy(&self->id->route.addr.dst_storage, &ib, sizeof(ib));
	EXPECT_EQ(htobe16(7), rdma_get_src_port(self->id));
	EXPECT_EQ(htobe16(8), rdma_get_dst_port(self->id));
}

/* This kernel knows of no addresses: each call fails in it. */
TEST_F(address, failed_call_changes_no_address)
{
	struct sockaddr_in known = { .sin_family = AF_INET };
	struct sockaddr *address = (struct sockaddr *)&known;
	struct rdma_route before;

	memset(&self->id->route.addr.dst_storage, 77, 64);
	before = self->id->route;
	EXPECT_EQ(-1, rdma_bind_addr(self->id, address));
	EXPECT_EQ(-1, rdma_resolve_addr(self->id, address, address, 1));
	EXPECT_EQ(-1, rdma_resolve_route(self->id, 1));
	EXPECT_EQ(-1, rdma_listen(self->id, 1));
	EXPECT_EQ(0, memcmp(&before, &self->id->route, sizeof(before)));
}

/* Nor does it leave anything that the next one would wait for. */
TEST_F(address, failed_resolution_is_over)
{
	struct rdma_addrinfo hints = { .ai_flags = RAI_SA }, *found;
	int i;

	for (i = 0; i < 2; i++) {
		EXPECT_EQ(-1, rdma_resolve_addrinfo(self->id, NULL, "7", &hints));
		EXPECT_EQ(EOPNOTSUPP, errno);
	}
	/* Handed away. */
	fake_make(0, cmx_id_of(self->id)->handle, true);
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(-1, rdma_resolve_addrinfo(self->id, "192.0.2.1", "7", NULL));
		EXPECT_EQ(ENOENT, errno);
	}
	EXPECT_EQ(-1, rdma_query_addrinfo(self->id, &found));
	EXPECT_EQ(ENOENT, errno);
}

static struct rdma_cm_event *read_event(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event;

	return rdma_get_cm_event(channel, &event) ? NULL : event;
}

/* The result is there when its event was read, and of no other event. */
TEST_F(address, result_comes_with_its_event)
{
	const struct cmx_id *id = cmx_id_of(self->id);
	struct {
		struct rdma_ucmx_event head;
		uint64_t arg;
	} stale = {
		.head.size = sizeof(stale),
		.head.event = RDMA_UCMX_EVENT_TYPE_INTERNAL,
		.head.status = -ENXIO,
		.head.seq = 1,
		.head.id = id->handle,
		.head.cookie = id->cookie,
		.head.sections = RDMA_UCMX_EVENT_ARG,
		.arg = CMX_RESOLUTION | 1,
	};
	struct rdma_cm_event *event;
	struct rdma_addrinfo *found;

	/* As of a process that had the id before. */
	fake_bring(&stale, sizeof(stale));
	ASSERT_EQ(0, rdma_resolve_addrinfo(self->id, "192.0.2.1", "7", NULL));
	EXPECT_EQ(-1, rdma_query_addrinfo(self->id, &found));
	EXPECT_EQ(ENOENT, errno);
	event = read_event(self->channel);
	ASSERT_NE(NULL, event);
	EXPECT_EQ(RDMA_CM_EVENT_ADDRINFO_RESOLVED, event->event);
	ASSERT_EQ(0, rdma_ack_cm_event(event));
	ASSERT_EQ(0, rdma_query_addrinfo(self->id, &found));
	rdma_freeaddrinfo(found);
	EXPECT_EQ(NULL, read_event(self->channel));
}

/* One that another process asked for, or that nobody waits for any more. */
TEST_F(address, answer_that_nobody_asked_for)
{
	struct cmx_id *id = cmx_id_of(self->id);
	struct {
		struct rdma_ucmx_event head;
		struct rdma_ucmx_services services;
		struct rdma_ucmx_service service;
	} record = {
		.head.size = sizeof(record),
		.head.event = RDMA_UCMX_EVENT_TYPE_ADDRINFO_RESOLVED,
		.head.seq = 1,
		.head.sections = RDMA_UCMX_EVENT_SERVICES,
		.services.count = 1,
	};
	struct rdma_cm_event *event;
	struct rdma_addrinfo *found;

	record.head.id = id->handle;
	record.head.cookie = id->cookie;
	fake_bring(&record, sizeof(record));
	event = read_event(self->channel);
	ASSERT_NE(NULL, event);
	EXPECT_EQ(RDMA_CM_EVENT_ADDRINFO_RESOLVED, event->event);
	ASSERT_EQ(0, rdma_ack_cm_event(event));
	EXPECT_EQ(-1, rdma_resolve_addrinfo(self->id, "192.0.2.1", "7", NULL));
	EXPECT_EQ(EBUSY, errno);
	ASSERT_EQ(0, rdma_query_addrinfo(self->id, &found));
	EXPECT_EQ(AF_IB, found->ai_family);
	rdma_freeaddrinfo(found);

	/* While a name is translated it is none, nor is one of a name of before. */
	ASSERT_EQ(0, rdma_resolve_addrinfo(self->id, "192.0.2.1", "7", NULL));
	fake_bring(&record, sizeof(record));
	event = read_event(self->channel);
	ASSERT_NE(NULL, event);
	EXPECT_EQ(RDMA_CM_EVENT_ADDRINFO_RESOLVED, event->event);
	ASSERT_EQ(0, rdma_ack_cm_event(event));
	EXPECT_EQ(NULL, read_event(self->channel));
	EXPECT_EQ(EAGAIN, errno);
	ASSERT_EQ(0, rdma_query_addrinfo(self->id, &found));
	EXPECT_EQ(AF_INET, found->ai_family);
	rdma_freeaddrinfo(found);
	ASSERT_EQ(0, rdma_resolve_addrinfo(self->id, "192.0.2.1", "7", NULL));
	cmx_addrinfo_failed(id, id->resolving);
	EXPECT_EQ(NULL, read_event(self->channel));
	EXPECT_EQ(EAGAIN, errno);

	/* An answer without anybody who has it. */
	record.head.size = sizeof(record.head);
	record.head.sections = 0;
	fake_bring(&record, sizeof(record.head));
	event = read_event(self->channel);
	ASSERT_NE(NULL, event);
	EXPECT_EQ(RDMA_CM_EVENT_ADDRINFO_ERROR, event->event);
	EXPECT_EQ(-ENOENT, event->status);
	ASSERT_EQ(0, rdma_ack_cm_event(event));
}

/* Of all events this one has the largest. */
TEST_F(address, as_many_services_as_a_record_has)
{
	const struct cmx_id *id = cmx_id_of(self->id);
	struct {
		struct rdma_ucmx_event head;
		struct rdma_ucmx_route route;
		struct rdma_ucmx_services services;
		struct rdma_ucmx_service service[RDMA_UCMX_MAX_SERVICES];
	} record = {
		.head.size = sizeof(record),
		.head.event = RDMA_UCMX_EVENT_TYPE_ADDRINFO_RESOLVED,
		.head.seq = 1,
		.head.id = id->handle,
		.head.cookie = id->cookie,
		.head.sections = RDMA_UCMX_EVENT_ROUTE | RDMA_UCMX_EVENT_SERVICES,
		.services.count = RDMA_UCMX_MAX_SERVICES,
	};
	struct rdma_addrinfo *found, *info;
	struct rdma_cm_event *event;
	unsigned int n = 0;

	fake_bring(&record, sizeof(record));
	event = read_event(self->channel);
	ASSERT_NE(NULL, event);
	ASSERT_EQ(0, rdma_ack_cm_event(event));
	ASSERT_EQ(0, rdma_query_addrinfo(self->id, &found));
	for (info = found; info; info = info->ai_next)
		n++;
	EXPECT_EQ(RDMA_UCMX_MAX_SERVICES, n);
	rdma_freeaddrinfo(found);
}

/* A section that is longer than what is left of the record. */
TEST(records_that_are_too_short)
{
	static const struct {
		uint32_t section;
		size_t length;
	} sections[] = {
		{ RDMA_UCMX_EVENT_CONN, sizeof(struct rdma_ucmx_conn_param) },
		{ RDMA_UCMX_EVENT_UD, sizeof(struct rdma_ucmx_ud_param) },
		{ RDMA_UCMX_EVENT_ROUTE, sizeof(struct rdma_ucmx_route) },
		{ RDMA_UCMX_EVENT_PATHS, 2 * sizeof(struct rdma_ucmx_path) },
		{ RDMA_UCMX_EVENT_ARG, sizeof(uint64_t) },
		{ RDMA_UCMX_EVENT_SERVICES, sizeof(struct rdma_ucmx_services) +
					    2 * sizeof(struct rdma_ucmx_service) },
	};
	uint64_t buffer[512] = { 0 };
	struct rdma_ucmx_event *head = (struct rdma_ucmx_event *)buffer;
	struct rdma_ucmx_services *services = (struct rdma_ucmx_services *)(head + 1);
	struct cmx_record record;
	unsigned int i;

	head->num_paths = 2;
	services->count = 2;
	for (i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		head->sections = sections[i].section;
		head->size = sizeof(*head) + sections[i].length;
		EXPECT_EQ(0, cmx_record_parse(buffer, head->size, &record));
		head->size--;
		EXPECT_EQ(-1, cmx_record_parse(buffer, head->size, &record));
		EXPECT_EQ(EPROTO, errno);
	}
	/* More than any record holds, of which the product is small in 32 bits. */
	services->count = 24403224;
	head->size = sizeof(buffer);
	EXPECT_EQ(-1, cmx_record_parse(buffer, head->size, &record));
	EXPECT_EQ(EPROTO, errno);
}

static int create_ep(int flags, struct sockaddr *address, socklen_t length,
		     struct sockaddr *other, socklen_t other_length)
{
	bool passive = flags & RAI_PASSIVE;
	struct rdma_addrinfo info = {
		.ai_flags = flags,
		.ai_port_space = RDMA_PS_TCP,
		.ai_qp_type = IBV_QPT_RC,
		.ai_src_addr = passive ? address : other,
		.ai_src_len = passive ? length : other_length,
		.ai_dst_addr = passive ? other : address,
		.ai_dst_len = passive ? other_length : length,
	};
	struct rdma_cm_id *id;

	return rdma_create_ep(&id, &info, NULL, NULL);
}

/* An address has the length of its family, and no byte behind it is read. */
TEST_F(address, endpoint_with_an_address_of_a_wrong_length)
{
	static const int families[] = { AF_INET, AF_INET6, AF_IB, AF_UNIX, 0 };
	static const int flags[] = { 0, RAI_PASSIVE };
	struct sockaddr_in good = { .sin_family = AF_INET };
	struct sockaddr *address, *other = (struct sockaddr *)&good;
	socklen_t length, right;
	int i, j;

	for (i = 0; i < 10; i++) {
		for (length = 0; length < 64; length++) {
			address = calloc(1, length ?: 1);
			j = families[i / 2];
			memcpy(address, &(sa_family_t){ j }, length < 2 ? length : 2);
			right = cmx_addr_length(&(struct sockaddr){ .sa_family = j });
			EXPECT_EQ(-1, create_ep(flags[i % 2], address, length,
						NULL, 0));
			EXPECT_EQ(length && length == right ? ENOTTY : EINVAL, errno);
			/* What is not looked at is not wrong. */
			EXPECT_EQ(-1, create_ep(flags[i % 2], other, sizeof(good),
						address, length));
			EXPECT_EQ(flags[i % 2] || !length || length == right ?
					  ENOTTY : EINVAL, errno);
			free(address);
		}
	}
}

TEST_HARNESS_MAIN
