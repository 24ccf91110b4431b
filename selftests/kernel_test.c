// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What depends on the kernel that the module is built for: it works where INFO
 * says so, and is refused where not.
 */
#include <string.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>

#include "scene.h"
#include "test.h"

#define LEVEL_ID 0
#define NODE_IB 1
#define NODE_SWITCH 2
#define NODE_RNIC 4
#define NODE_UNSPECIFIED 7
#define MASK_MIN_RNR_TIMER (1 << 15)
#define PS_IB 0x013f
#define QPT_XRC_TGT 10

FIXTURE(kernel) {
	int fd;
	__u64 features;
	__u32 fresh;
	__u32 bound;
	__u32 udp;
};

FIXTURE_SETUP(kernel)
{
	struct rdma_ucmx_addr address = addr(ADDR1, 0);
	struct rdma_ucmx_info info;

	self->fd = channel_open();
	ASSERT_LE(0, self->fd);
	test_ok(cmd_info(self->fd, &info));
	self->features = info.out_features;
	test_ok(cmd_create_id(self->fd, PS_TCP, 0, &self->fresh));
	test_ok(cmd_create_id(self->fd, PS_TCP, 0, &self->bound));
	test_ok(cmd_bind_addr(self->fd, self->bound, &address));
	test_ok(cmd_create_id(self->fd, PS_UDP, 0, &self->udp));
}

FIXTURE_TEARDOWN(kernel)
{
	close(self->fd);
}

static int set_byte(int fd, __u32 id, __u32 name, __u8 value)
{
	return cmd_set_option(fd, id, LEVEL_ID, name, &value, sizeof(value));
}

static int get_byte(int fd, __u32 id, __u32 name)
{
	__u32 len = 1;
	__u8 value;

	return cmd_get_option(fd, id, LEVEL_ID, name, &value, &len) ? -1 : value;
}

#define SET(id, name, value) \
	set_byte(self->fd, self->id, RDMA_UCMX_OPTION_##name, value)
#define GET(id, name) get_byte(self->fd, self->id, RDMA_UCMX_OPTION_##name)

/* Every kernel that there is a module for has this one. */
TEST_F(kernel, min_rnr_timer)
{
	int wide = 1;

	EXPECT_TRUE(self->features & RDMA_UCMX_FEATURE_MIN_RNR_TIMER);
	test_err(ENODATA, GET(fresh, MIN_RNR_TIMER));
	test_ok(SET(fresh, MIN_RNR_TIMER, 31));
	EXPECT_EQ(31, GET(fresh, MIN_RNR_TIMER));
	test_ok(SET(bound, MIN_RNR_TIMER, 0));
	EXPECT_EQ(0, GET(bound, MIN_RNR_TIMER));
	/* Refused before rdma_cm sees it, which would warn of the second. */
	test_err(EINVAL, SET(fresh, MIN_RNR_TIMER, 32));
	test_err(EINVAL, SET(udp, MIN_RNR_TIMER, 1));
	test_err(EINVAL, cmd_set_option(self->fd, self->fresh, LEVEL_ID,
					RDMA_UCMX_OPTION_MIN_RNR_TIMER, &wide,
					sizeof(wide)));
	EXPECT_EQ(31, GET(fresh, MIN_RNR_TIMER));
}

/* Of this port space an id is for whatever queue pair its creator says. */
static int id_of_type(int fd, __u8 qp_type, __u32 *id)
{
	struct rdma_ucmx_create_id cmd = {
		.size = sizeof(cmd),
		.port_space = PS_IB,
		.qp_type = qp_type,
	};
	int ret = ioctl(fd, RDMA_UCMX_CREATE_ID, &cmd);

	*id = cmd.out_id;
	return ret;
}

static int set_timer(int fd, __u32 id, unsigned int value)
{
	return set_byte(fd, id, RDMA_UCMX_OPTION_MIN_RNR_TIMER, value);
}

static int get_timer(int fd, __u32 id)
{
	return get_byte(fd, id, RDMA_UCMX_OPTION_MIN_RNR_TIMER);
}

/* Two types have such a timer, of five bits; for another one rdma_cm would warn. */
TEST_F(kernel, min_rnr_timer_of_every_type)
{
	const unsigned int types[] = { QPT_RC, QPT_XRC_TGT };
	unsigned int i, type, value;
	__u32 id;

	for (i = 0; i < ARRAY_LEN(types); i++) {
		test_ok(id_of_type(self->fd, types[i], &id));
		for (value = 0; value < 32; value++)
			test_ok(set_timer(self->fd, id, value));
		for (value = 32; value < 256; value++)
			test_err(EINVAL, set_timer(self->fd, id, value));
		EXPECT_EQ(31, get_timer(self->fd, id));
	}
	for (type = 0; type < 256; type++) {
		if (type == QPT_RC || type == QPT_XRC_TGT)
			continue;
		test_ok(id_of_type(self->fd, type, &id));
		for (value = 0; value < 256; value += 15)
			test_err(EINVAL, set_timer(self->fd, id, value));
		test_err(ENODATA, get_timer(self->fd, id));
		test_ok(cmd_destroy_id(self->fd, id));
	}
}

/* It changes what a queue pair will be like, but iWARP has no such timer. */
TEST_F(kernel, min_rnr_timer_takes_effect)
{
	struct rdma_ucmx_conn_param param = conn_param();
	struct rdma_ucmx_qp_attr attr;
	__u32 id, listener;
	struct event ev;
	__u16 port;

	test_ok(listener_open(self->fd, ADDR1, 1, &listener, &port));
	test_ok(id_resolved(self->fd, ADDR1, port, &id));
	test_ok(cmd_resolve_route(self->fd, id));
	test_ok(event_take(self->fd, EV_ROUTE_RESOLVED, id));
	test_ok(cmd_connect(self->fd, id, &param));
	test_ok(event_expect(self->fd, EV_CONNECT_REQUEST, &ev));
	test_ok(event_ack(self->fd, &ev));
	test_ok(set_byte(self->fd, ev.head.id, RDMA_UCMX_OPTION_MIN_RNR_TIMER, 14));
	test_ok(cmd_init_qp_attr(self->fd, ev.head.id, 2, &attr));
	EXPECT_EQ(over_iwarp() ? 0 : MASK_MIN_RNR_TIMER,
		  attr.qp_attr_mask & MASK_MIN_RNR_TIMER);
	EXPECT_EQ(over_iwarp() ? 0 : 14, attr.min_rnr_timer);
}

/* Which kernels have it, as Debian's are; of others nothing is known here. */
TEST_F(kernel, features)
{
	static const struct {
		const char *release;
		__u64 features;
	} known[] = {
		{ "6.1.", RDMA_UCMX_FEATURE_MIN_RNR_TIMER },
		{ "6.12.", RDMA_UCMX_FEATURE_MIN_RNR_TIMER },
		{ "7.3.", RDMA_UCMX_FEATURE_MIN_RNR_TIMER | RDMA_UCMX_FEATURE_NODE_TYPE |
			  RDMA_UCMX_FEATURE_IB_SERVICE },
	};
	const __u64 all = RDMA_UCMX_FEATURE_MIN_RNR_TIMER | RDMA_UCMX_FEATURE_NODE_TYPE |
			  RDMA_UCMX_FEATURE_IB_SERVICE;
	struct utsname kernel;
	unsigned int i;

	ASSERT_EQ(0, uname(&kernel));
	for (i = 0; i < ARRAY_LEN(known); i++) {
		if (!strncmp(kernel.release, known[i].release, strlen(known[i].release)))
			EXPECT_EQ(known[i].features, self->features & all);
	}
}

/* The device is of the one type or of the other. */
TEST_F(kernel, node_type)
{
	struct rdma_ucmx_addr address = addr(ADDR1, 0);
	__u8 right = over_iwarp() ? NODE_RNIC : NODE_IB;
	__u8 wrong = over_iwarp() ? NODE_IB : NODE_RNIC;

	if (!(self->features & RDMA_UCMX_FEATURE_NODE_TYPE)) {
		test_err(EOPNOTSUPP, SET(fresh, NODE_TYPE, right));
		test_err(ENODATA, GET(fresh, NODE_TYPE));
		return;
	}
	test_err(ENODATA, GET(fresh, NODE_TYPE));
	test_err(EINVAL, SET(fresh, NODE_TYPE, NODE_SWITCH));
	test_ok(SET(fresh, NODE_TYPE, wrong));
	EXPECT_EQ(wrong, GET(fresh, NODE_TYPE));
	test_err(ENODEV, cmd_bind_addr(self->fd, self->fresh, &address));
	test_ok(SET(fresh, NODE_TYPE, NODE_UNSPECIFIED));
	test_ok(SET(fresh, NODE_TYPE, right));
	test_ok(cmd_bind_addr(self->fd, self->fresh, &address));
	test_err(EALREADY, SET(fresh, NODE_TYPE, NODE_UNSPECIFIED));
	EXPECT_EQ(right, GET(fresh, NODE_TYPE));
	test_err(EALREADY, SET(bound, NODE_TYPE, right));
}

#define RESOLVE_SERVICE(id, flags, name) \
	cmd_resolve_ib_service(self->fd, self->id, flags, 1, name)

/*
 * No soft device is on a subnet with an administrator, so this gets no further
 * than to rdma_cm, which is asked for a bound id only.  See service_test, too.
 */
TEST_F(kernel, ib_service)
{
	const __u32 both = RDMA_UCMX_SERVICE_ID | RDMA_UCMX_SERVICE_NAME;

	test_err(EINVAL, RESOLVE_SERVICE(fresh, both, "service"));
	test_err(EOPNOTSUPP, RESOLVE_SERVICE(bound, both, "service"));
	test_err(EOPNOTSUPP, RESOLVE_SERVICE(bound, RDMA_UCMX_SERVICE_ID, ""));
	test_err(EINVAL, RESOLVE_SERVICE(bound, 0, "service"));
	/* The room for the answer has been given back, and the id is as it was. */
	EXPECT_FALSE(readable(self->fd));
	test_ok(cmd_listen(self->fd, self->bound, 1));
	if (self->features & RDMA_UCMX_FEATURE_IB_SERVICE)
		test_err(EINVAL, RESOLVE_SERVICE(bound, both, "service"));
	else
		test_err(EOPNOTSUPP, RESOLVE_SERVICE(bound, both, "service"));
}

TEST_F(kernel, ib_service_names_have_an_end)
{
	struct rdma_ucmx_resolve_ib_service cmd = {
		.size = sizeof(cmd),
		.id = self->bound,
		.flags = RDMA_UCMX_SERVICE_NAME,
	};

	memset(cmd.name, 'x', sizeof(cmd.name));
	test_err(EINVAL, ioctl(self->fd, RDMA_UCMX_RESOLVE_IB_SERVICE, &cmd));
	cmd.name[sizeof(cmd.name) - 1] = 0;
	test_err(EOPNOTSUPP, ioctl(self->fd, RDMA_UCMX_RESOLVE_IB_SERVICE, &cmd));
}

TEST_HARNESS_MAIN
