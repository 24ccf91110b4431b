// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Options and binding: the same errors for the same mistakes as with rdma_ucm.
 */
#include <rdma/ib_user_sa.h>
#include <string.h>
#include <sys/mman.h>

#include "scene.h"
#include "test.h"

#define LEVEL_ID 0
#define OPT_TOS 0
#define OPT_REUSEADDR 1
#define OPT_AFONLY 2
#define OPT_ACK_TIMEOUT 3
#define LEVEL_IB 1
#define OPT_IB_PATH 1

FIXTURE(option) {
	int fd;
	/* In four states. */
	__u32 fresh;
	__u32 bound;
	__u32 listening;
	__u32 resolved;
	__u32 udp;
};

FIXTURE_SETUP(option)
{
	struct rdma_ucmx_addr address = addr(ADDR1, 0);
	__u16 port;

	self->fd = channel_open();
	ASSERT_LE(0, self->fd);
	test_ok(cmd_create_id(self->fd, PS_TCP, 0, &self->fresh));
	test_ok(cmd_create_id(self->fd, PS_TCP, 0, &self->bound));
	test_ok(cmd_bind_addr(self->fd, self->bound, &address));
	test_ok(listener_open(self->fd, ADDR1, 1, &self->listening, &port));
	test_ok(id_resolved(self->fd, ADDR1, 7, &self->resolved));
	test_ok(cmd_create_id(self->fd, PS_UDP, 0, &self->udp));
}

FIXTURE_TEARDOWN(option)
{
	close(self->fd);
}

#define SET(id, name, value) \
	cmd_set_option(self->fd, self->id, LEVEL_ID, name, &(value), sizeof(value))

TEST_F(option, type_of_service)
{
	__u8 tos = 32;
	int wide = 32;
	__u16 word = 32;

	test_ok(SET(fresh, OPT_TOS, tos));
	test_ok(SET(bound, OPT_TOS, tos));
	test_ok(SET(listening, OPT_TOS, tos));
	test_ok(SET(resolved, OPT_TOS, tos));
	test_err(EINVAL, SET(fresh, OPT_TOS, wide));
	test_err(EINVAL, SET(fresh, OPT_TOS, word));
	test_err(EINVAL, cmd_set_option(self->fd, self->fresh, LEVEL_ID,
					OPT_TOS, &tos, 0));
}

TEST_F(option, reuse_of_addresses)
{
	int yes = 1, no = 0;
	__u8 byte = 1;

	test_ok(SET(fresh, OPT_REUSEADDR, yes));
	test_ok(SET(fresh, OPT_REUSEADDR, no));
	test_ok(SET(bound, OPT_REUSEADDR, yes));
	test_err(EINVAL, SET(bound, OPT_REUSEADDR, no));
	test_err(EINVAL, SET(listening, OPT_REUSEADDR, yes));
	test_err(EINVAL, SET(listening, OPT_REUSEADDR, no));
	test_ok(SET(resolved, OPT_REUSEADDR, yes));
	test_err(EINVAL, SET(resolved, OPT_REUSEADDR, no));
	test_err(EINVAL, SET(fresh, OPT_REUSEADDR, byte));
}

TEST_F(option, address_family_only)
{
	int yes = 1, no = 0;
	__u8 byte = 1;

	test_ok(SET(fresh, OPT_AFONLY, yes));
	test_ok(SET(fresh, OPT_AFONLY, no));
	test_ok(SET(bound, OPT_AFONLY, yes));
	test_err(EINVAL, SET(listening, OPT_AFONLY, yes));
	test_err(EINVAL, SET(resolved, OPT_AFONLY, yes));
	test_err(EINVAL, SET(fresh, OPT_AFONLY, byte));
}

TEST_F(option, acknowledge_timeout)
{
	__u8 timeouts[] = { 0, 14, 31, 255 };
	int wide = 14;
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(timeouts); i++) {
		test_ok(SET(fresh, OPT_ACK_TIMEOUT, timeouts[i]));
		test_ok(SET(bound, OPT_ACK_TIMEOUT, timeouts[i]));
		test_ok(SET(listening, OPT_ACK_TIMEOUT, timeouts[i]));
		test_ok(SET(resolved, OPT_ACK_TIMEOUT, timeouts[i]));
		test_err(EINVAL, SET(udp, OPT_ACK_TIMEOUT, timeouts[i]));
	}
	test_err(EINVAL, SET(fresh, OPT_ACK_TIMEOUT, wide));
}

TEST_F(option, mistakes)
{
	static char large[66000];
	int value = 1;

	test_err(ENOSYS, SET(fresh, 4, value));
	test_err(ENOSYS, SET(fresh, ~0U, value));
	test_err(ENOSYS, cmd_set_option(self->fd, self->fresh, 2, OPT_TOS,
					&value, sizeof(value)));
	test_err(ENOSYS, cmd_set_option(self->fd, self->fresh, ~0U, OPT_TOS,
					&value, sizeof(value)));
	test_err(EFAULT, cmd_set_option(self->fd, self->fresh, LEVEL_ID,
					OPT_REUSEADDR, (void *)8, sizeof(value)));
	test_err(EINVAL, cmd_set_option(self->fd, self->fresh, LEVEL_ID,
					OPT_REUSEADDR, large, sizeof(large)));
	test_err(EINVAL, cmd_set_option(self->fd, self->fresh, LEVEL_ID,
					OPT_REUSEADDR, &value, 1U << 31));
}

/* The option changes what the queue pair will be like. */
TEST_F(option, acknowledge_timeout_takes_effect)
{
	struct rdma_ucmx_conn_param param = conn_param();
	struct rdma_ucmx_qp_attr attr;
	int server = channel_open();
	__u8 timeout = 9;
	struct event ev;
	__u32 id, listener;
	__u16 port;

	ASSERT_LE(0, server);
	test_ok(listener_open(server, ADDR1, 1, &listener, &port));
	test_ok(id_resolved(self->fd, ADDR1, port, &id));
	test_ok(cmd_resolve_route(self->fd, id));
	test_ok(event_take(self->fd, EV_ROUTE_RESOLVED, id));
	test_ok(cmd_set_option(self->fd, id, LEVEL_ID, OPT_ACK_TIMEOUT,
			       &timeout, sizeof(timeout)));
	test_ok(cmd_connect(self->fd, id, &param));
	test_ok(event_expect(server, EV_CONNECT_REQUEST, &ev));
	test_ok(event_ack(server, &ev));
	test_ok(child_accept(server, &ev, 0));
	test_ok(event_take(self->fd, EV_ANSWER, id));
	test_ok(cmd_init_qp_attr(self->fd, id, 2, &attr));
	test_ok(cmd_init_qp_attr(self->fd, id, 3, &attr));
	/* That of TCP is nobody's business here. */
	EXPECT_EQ(over_iwarp() ? 0 : timeout, attr.timeout);
	close(server);
}

TEST_F(option, binding_twice)
{
	struct rdma_ucmx_addr address = addr(ADDR1, 20001);
	struct rdma_ucmx_addr other = addr(ADDR1, 20002);
	__u32 id;

	test_ok(cmd_bind_addr(self->fd, self->fresh, &address));
	test_err(EINVAL, cmd_bind_addr(self->fd, self->fresh, &other));
	test_ok(cmd_create_id(self->fd, PS_TCP, 0, &id));
	test_err(EADDRINUSE, cmd_bind_addr(self->fd, id, &address));
	/* A failed bind leaves the id as it was. */
	test_ok(cmd_bind_addr(self->fd, id, &other));
	/* The port is free with its id. */
	test_ok(cmd_destroy_id(self->fd, self->fresh));
	test_ok(cmd_create_id(self->fd, PS_TCP, 0, &id));
	test_ok(cmd_bind_addr(self->fd, id, &address));
}

TEST_F(option, binding_twice_with_reuse)
{
	struct rdma_ucmx_addr address = addr(ADDR1, 20003);
	int yes = 1;
	__u32 ids[2];

	for (int i = 0; i < 2; i++) {
		test_ok(cmd_create_id(self->fd, PS_TCP, 0, &ids[i]));
		test_ok(cmd_set_option(self->fd, ids[i], LEVEL_ID,
				       OPT_REUSEADDR, &yes, sizeof(yes)));
		test_ok(cmd_bind_addr(self->fd, ids[i], &address));
	}
	test_err(EADDRINUSE, cmd_listen(self->fd, ids[0], 1));
	test_err(EADDRINUSE, cmd_listen(self->fd, ids[1], 1));
}

TEST_F(option, both_families_on_one_port)
{
	struct rdma_ucmx_addr v6 = addr("::", 20004), v4 = addr("0.0.0.0", 20004);
	int yes = 1;
	__u32 id;

	test_ok(cmd_bind_addr(self->fd, self->fresh, &v6));
	test_ok(cmd_create_id(self->fd, PS_TCP, 0, &id));
	test_err(EADDRNOTAVAIL, cmd_bind_addr(self->fd, id, &v4));
	test_ok(cmd_destroy_id(self->fd, self->fresh));
	test_ok(cmd_create_id(self->fd, PS_TCP, 0, &self->fresh));
	test_ok(SET(fresh, OPT_AFONLY, yes));
	test_ok(cmd_bind_addr(self->fd, self->fresh, &v6));
	test_ok(cmd_bind_addr(self->fd, id, &v4));
	test_ok(cmd_listen(self->fd, self->fresh, 1));
	test_ok(cmd_listen(self->fd, id, 1));
}

TEST_F(option, addresses_that_are_none)
{
	struct rdma_ucmx_addr address;

	address = (struct rdma_ucmx_addr){ .family = 0 };
	test_err(EINVAL, cmd_bind_addr(self->fd, self->fresh, &address));
	test_err(EINVAL, cmd_resolve_addr(self->fd, self->fresh, NULL, &address));
	address.family = 1;
	test_err(EINVAL, cmd_bind_addr(self->fd, self->fresh, &address));
	address.family = 0xffff;
	test_err(EINVAL, cmd_bind_addr(self->fd, self->fresh, &address));
	test_err(EINVAL, cmd_resolve_addr(self->fd, self->fresh, &address,
					  &address));
	/* Something where nothing belongs. */
	address = addr(ADDR1, 0);
	address.data[45] = 1;
	test_err(EINVAL, cmd_bind_addr(self->fd, self->fresh, &address));
	/* An address that this machine does not have. */
	address = addr("198.51.100.1", 0);
	test_err(EADDRNOTAVAIL, cmd_bind_addr(self->fd, self->fresh, &address));
	/* And still it can be bound. */
	address = addr(ADDR1, 0);
	test_ok(cmd_bind_addr(self->fd, self->fresh, &address));
}

TEST_F(option, commands_in_the_wrong_state)
{
	struct rdma_ucmx_conn_param param = conn_param(), invalid = {};
	struct rdma_ucmx_addr dst = addr(ADDR1, 7);
	struct rdma_ucmx_qp_attr attr;
	struct event ev;

	test_err(EINVAL, cmd_resolve_route(self->fd, self->fresh));
	test_err(EINVAL, cmd_connect(self->fd, self->fresh, &param));
	test_err(EINVAL, cmd_connect(self->fd, self->resolved, &invalid));
	test_err(EINVAL, cmd_connect(self->fd, self->resolved, &param));
	test_err(EINVAL, cmd_accept(self->fd, self->fresh, 0, &param));
	test_err(EINVAL, cmd_accept(self->fd, self->resolved, 0, &param));
	test_err(EINVAL, cmd_reject(self->fd, self->fresh, 0, "", 0));
	test_err(EINVAL, cmd_disconnect(self->fd, self->fresh));
	test_err(EINVAL, cmd_disconnect(self->fd, self->resolved));
	test_err(EINVAL, cmd_notify(self->fd, self->fresh, 4));
	test_err(EINVAL, cmd_init_qp_attr(self->fd, self->fresh, 1, &attr));
	test_err(EINVAL, cmd_init_qp_attr(self->fd, self->resolved, 7, &attr));
	test_err(EINVAL, cmd_init_qp_attr(self->fd, self->resolved, ~0U, &attr));
	test_err(EINVAL, cmd_listen(self->fd, self->resolved, 1));
	test_err(EINVAL, cmd_resolve_addr(self->fd, self->listening, NULL, &dst));
	/* Nothing of all this raised an event. */
	test_err(EAGAIN, event_read_now(self->fd, &ev));
}

/* An address that answers to nobody: the event comes, and only that. */
TEST_F(option, resolving_an_unreachable_address)
{
	struct rdma_ucmx_addr dst = addr("198.51.100.1", 7);
	struct event ev;
	int ret;

	ret = cmd_resolve_addr(self->fd, self->fresh, NULL, &dst);
	if (ret) {
		EXPECT_EQ(ENETUNREACH, errno);
	} else {
		test_ok(event_expect(self->fd, EV_ADDR_ERROR, &ev));
		EXPECT_GT(0, ev.head.status);
	}
	test_ok(cmd_destroy_id(self->fd, self->fresh));
}

#define GET(id, name, value) ({						\
	__u32 _len = sizeof(value);					\
	int _ret = cmd_get_option(self->fd, self->id, LEVEL_ID, name,	\
				  &(value), &_len);			\
									\
	if (!_ret)							\
		EXPECT_EQ(sizeof(value), _len);				\
	_ret;								\
})

TEST_F(option, get_tells_what_was_set)
{
	__u8 byte = 0, tos = 96, timeout = 14;
	int word = 0, yes = 7, no = 0;

	test_err(ENODATA, GET(fresh, OPT_TOS, byte));
	test_err(ENODATA, GET(fresh, OPT_REUSEADDR, word));
	test_ok(SET(fresh, OPT_TOS, tos));
	test_ok(GET(fresh, OPT_TOS, byte));
	EXPECT_EQ(96, byte);
	test_ok(SET(fresh, OPT_ACK_TIMEOUT, timeout));
	test_ok(GET(fresh, OPT_ACK_TIMEOUT, byte));
	EXPECT_EQ(14, byte);
	test_ok(SET(fresh, OPT_REUSEADDR, yes));
	test_ok(GET(fresh, OPT_REUSEADDR, word));
	EXPECT_EQ(1, word);
	/* What was refused changes nothing. */
	test_ok(SET(bound, OPT_REUSEADDR, yes));
	test_err(EINVAL, SET(bound, OPT_REUSEADDR, no));
	test_ok(GET(bound, OPT_REUSEADDR, word));
	EXPECT_EQ(1, word);
}

TEST_F(option, get_refuses_what_set_refuses)
{
	__u8 byte;
	__u32 len = 0;
	int word;

	test_err(ENOSYS, cmd_get_option(self->fd, self->fresh, 7, 0, &word, &len));
	test_err(ENOSYS, GET(fresh, 99, word));
	test_err(EINVAL, cmd_get_option(self->fd, self->fresh, LEVEL_ID, OPT_TOS,
					&byte, &len));
	test_err(EINVAL, GET(fresh, OPT_REUSEADDR, byte));
	len = 1;
	test_ok(SET(fresh, OPT_TOS, byte));
	test_err(EFAULT, cmd_get_option(self->fd, self->fresh, LEVEL_ID, OPT_TOS,
					(void *)8, &len));
}

/* A wrong length is EINVAL, whatever is there to be read. */
TEST_F(option, wrong_length_of_too_short_a_buffer)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, page);
	ASSERT_EQ(0, munmap(page + 4096, 4096));
	test_err(EINVAL, cmd_set_option(self->fd, self->fresh, LEVEL_ID, OPT_TOS,
					page, 66000));
	test_err(EINVAL, cmd_set_option(self->fd, self->fresh, LEVEL_ID, OPT_TOS,
					page, 1U << 31));
	test_err(EFAULT, cmd_set_option(self->fd, self->fresh, LEVEL_ID, OPT_TOS,
					page + 4096, 1));
}

/*
 * An id that has resolved its route, and the first path of that event; of zeros with
 * iWARP, which has none, but where one can be set all the same.
 */
#define RESOLVE_ROUTE(path) do {					\
	struct event _ev;						\
									\
	test_ok(cmd_resolve_route(self->fd, self->resolved));		\
	test_ok(event_expect(self->fd, EV_ROUTE_RESOLVED, &_ev));	\
	test_ok(event_ack(self->fd, &_ev));				\
	ASSERT_EQ(NUM_PATHS, _ev.head.num_paths);			\
	*(path) = _ev.paths[0];						\
	(path)->flags = IB_PATH_GMP | IB_PATH_PRIMARY |			\
			IB_PATH_BIDIRECTIONAL;				\
} while (0)

#define SET_PATH(id, paths, len) \
	cmd_set_option(self->fd, id, LEVEL_IB, OPT_IB_PATH, paths, len)

/* Setting a path is resolving the route, event included. */
TEST_F(option, path_resolves_the_route)
{
	struct rdma_ucmx_path paths[2] = {};
	struct event ev;
	__u32 id;

	RESOLVE_ROUTE(&paths[1]);
	/* Not once more, and not before the address. */
	test_err(EINVAL, SET_PATH(self->resolved, &paths[1], sizeof(paths[1])));
	test_err(EINVAL, SET_PATH(self->fresh, &paths[1], sizeof(paths[1])));
	test_err(EINVAL, SET_PATH(self->bound, &paths[1], sizeof(paths[1])));
	test_err(EINVAL, SET_PATH(self->listening, &paths[1], sizeof(paths[1])));
	test_err(EAGAIN, event_read_now(self->fd, &ev));
	/* The first record that is good for everything is taken. */
	test_ok(id_resolved(self->fd, ADDR1, 7, &id));
	paths[0].flags = IB_PATH_GMP;
	test_ok(SET_PATH(id, paths, sizeof(paths)));
	test_ok(event_expect(self->fd, EV_ROUTE_RESOLVED, &ev));
	EXPECT_EQ(id, ev.head.id);
	EXPECT_EQ(2, ev.head.seq);
	EXPECT_EQ(0, ev.head.status);
	ASSERT_EQ(1, ev.head.num_paths);
	EXPECT_EQ(0, memcmp(ev.paths[0].path_rec, paths[1].path_rec,
			    sizeof(paths[1].path_rec)));
	test_ok(event_ack(self->fd, &ev));
	test_err(EINVAL, cmd_resolve_route(self->fd, id));
}

TEST_F(option, paths_that_are_none)
{
	struct rdma_ucmx_path path;
	struct event ev;
	__u32 id, len;

	RESOLVE_ROUTE(&path);
	test_ok(id_resolved(self->fd, ADDR1, 7, &id));
	for (len = 0; len < sizeof(path); len++)
		test_err(EINVAL, SET_PATH(id, &path, len));
	test_err(EINVAL, SET_PATH(id, &path, sizeof(path) + 1));
	test_err(EFAULT, SET_PATH(id, (void *)8, sizeof(path)));
	test_err(ENOSYS, cmd_set_option(self->fd, id, LEVEL_IB, 2, &path,
					sizeof(path)));
	path.flags &= ~IB_PATH_PRIMARY;
	test_err(EINVAL, SET_PATH(id, &path, sizeof(path)));
	/* Nothing of all this raised an event, or changed anything. */
	test_err(EAGAIN, event_read_now(self->fd, &ev));
	test_ok(cmd_resolve_route(self->fd, id));
	test_ok(event_take(self->fd, EV_ROUTE_RESOLVED, id));
}

TEST_HARNESS_MAIN
