// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Every call on ids in every state, one line for each with what it answered.
 * See errno_table.c.
 */
#include <errno.h>
#include <string.h>

#include <infiniband/sa.h>

#include "errno_state.h"
#include "errno_table.h"
#include "lib_scene.h"

/*
 * A call, in which states it is not made over the system's library, and when the
 * id is in the same state after it.
 */
enum after { IF_FAILED, ALWAYS, NEVER };

struct call {
	const char *name;
	int (*run)(struct state *state);
	const char *ours_only;
	enum after same;
};

static int do_bind(struct state *state)
{
	return rdma_bind_addr(state->id, address(ADDR1, 0));
}

static int do_resolve_addr(struct state *state)
{
	return rdma_resolve_addr(state->id, NULL, address(ADDR1, 7), 2000);
}

static int do_resolve_addr_from(struct state *state)
{
	return rdma_resolve_addr(state->id, address(ADDR2, 0),
				 address(ADDR1, 7), 2000);
}

static int do_resolve_route(struct state *state)
{
	return rdma_resolve_route(state->id, 2000);
}

static int do_listen(struct state *state)
{
	return rdma_listen(state->id, 1);
}

static int do_connect(struct state *state)
{
	struct rdma_conn_param param = state_conn_param();

	return rdma_connect(state->id, &param);
}

static int do_connect_none(struct state *state)
{
	return rdma_connect(state->id, NULL);
}

/* More than any device has. */
static int do_connect_deep(struct state *state)
{
	struct rdma_conn_param param = state_conn_param();

	param.initiator_depth = 254;
	return rdma_connect(state->id, &param);
}

static int do_accept(struct state *state)
{
	struct rdma_conn_param param = state_conn_param();

	return rdma_accept(state->id, &param);
}

static int do_accept_none(struct state *state)
{
	return rdma_accept(state->id, NULL);
}

static int do_establish(struct state *state)
{
	return rdma_establish(state->id);
}

static int do_reject(struct state *state)
{
	return rdma_reject(state->id, "no", 2);
}

static int do_disconnect(struct state *state)
{
	return rdma_disconnect(state->id);
}

static int do_notify(struct state *state)
{
	return rdma_notify(state->id, IBV_EVENT_COMM_EST);
}

static int do_notify_other(struct state *state)
{
	return rdma_notify(state->id, IBV_EVENT_QP_FATAL);
}

static int init_qp_attr(struct state *state, unsigned int qp_state)
{
	struct ibv_qp_attr attr = { .qp_state = qp_state };
	int mask;

	return rdma_init_qp_attr(state->id, &attr, &mask);
}

static int do_qp_init(struct state *state)
{
	return init_qp_attr(state, IBV_QPS_INIT);
}

static int do_qp_rtr(struct state *state)
{
	return init_qp_attr(state, IBV_QPS_RTR);
}

static int do_qp_rts(struct state *state)
{
	return init_qp_attr(state, IBV_QPS_RTS);
}

static int do_qp_err(struct state *state)
{
	return init_qp_attr(state, IBV_QPS_ERR);
}

static int do_qp_beyond_err(struct state *state)
{
	return init_qp_attr(state, IBV_QPS_ERR + 1);
}

static int set_byte(struct state *state, int name, uint8_t value)
{
	return rdma_set_option(state->id, RDMA_OPTION_ID, name, &value,
			       sizeof(value));
}

static int set_int(struct state *state, int name, int value)
{
	return rdma_set_option(state->id, RDMA_OPTION_ID, name, &value,
			       sizeof(value));
}

static int do_tos(struct state *state)
{
	return set_byte(state, RDMA_OPTION_ID_TOS, 32);
}

static int do_reuseaddr(struct state *state)
{
	return set_int(state, RDMA_OPTION_ID_REUSEADDR, 1);
}

static int do_reuseaddr_off(struct state *state)
{
	return set_int(state, RDMA_OPTION_ID_REUSEADDR, 0);
}

static int do_afonly(struct state *state)
{
	return set_int(state, RDMA_OPTION_ID_AFONLY, 1);
}

static int do_afonly_off(struct state *state)
{
	return set_int(state, RDMA_OPTION_ID_AFONLY, 0);
}

static int do_ack_timeout(struct state *state)
{
	return set_byte(state, RDMA_OPTION_ID_ACK_TIMEOUT, 14);
}

static int do_ack_timeout_255(struct state *state)
{
	return set_byte(state, RDMA_OPTION_ID_ACK_TIMEOUT, 255);
}

/* A record that is good for nothing. */
static int do_ib_path(struct state *state)
{
	struct ibv_path_data path = {};

	return rdma_set_option(state->id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH,
			       &path, sizeof(path));
}

static int do_migrate(struct state *state)
{
	return rdma_migrate_id(state->id, state->spare);
}

static int do_migrate_to_itself(struct state *state)
{
	return rdma_migrate_id(state->id, state->id->channel);
}

static int do_destroy(struct state *state)
{
	int ret = rdma_destroy_id(state->id);

	state->id = NULL;
	return ret;
}

/*
 * The system's library follows the device of an id that has none, and parameters
 * that are none; and rejecting while a message is under way, as accepting does
 * that fails, takes rdma_cm a minute to get over.
 */
#define NO_DEVICE "fresh wildcard udp_fresh"
#define UNANSWERED "connecting accepted"

static const struct call calls[] = {
	{ "bind", do_bind },
	{ "resolve_addr", do_resolve_addr },
	{ "resolve_addr_from", do_resolve_addr_from },
	{ "resolve_route", do_resolve_route, NO_DEVICE },
	{ "listen", do_listen },
	{ "connect", do_connect, NO_DEVICE },
	{ "connect_none", do_connect_none, NO_DEVICE },
	{ "connect_deep", do_connect_deep, NO_DEVICE },
	{ "accept", do_accept, NO_DEVICE " " UNANSWERED, NEVER },
	{ "accept_none", do_accept_none, "*", NEVER },
	{ "establish", do_establish, UNANSWERED, NEVER },
	{ "reject", do_reject, UNANSWERED, NEVER },
	{ "disconnect", do_disconnect },
	{ "notify", do_notify },
	{ "notify_other", do_notify_other },
	{ "qp_init", do_qp_init, NULL, ALWAYS },
	{ "qp_rtr", do_qp_rtr, NULL, ALWAYS },
	{ "qp_rts", do_qp_rts, NULL, ALWAYS },
	{ "qp_err", do_qp_err, NULL, ALWAYS },
	{ "qp_beyond_err", do_qp_beyond_err, NULL, ALWAYS },
	{ "tos", do_tos, NULL, ALWAYS },
	{ "reuseaddr", do_reuseaddr, NULL, ALWAYS },
	{ "reuseaddr_off", do_reuseaddr_off, NULL, ALWAYS },
	{ "afonly", do_afonly, NULL, ALWAYS },
	{ "afonly_off", do_afonly_off, NULL, ALWAYS },
	{ "ack_timeout", do_ack_timeout, NULL, ALWAYS },
	{ "ack_timeout_255", do_ack_timeout_255, NULL, ALWAYS },
	{ "ib_path", do_ib_path, NULL, ALWAYS },
	{ "migrate", do_migrate, NULL, ALWAYS },
	{ "migrate_to_itself", do_migrate_to_itself, NULL, ALWAYS },
	{ "destroy", do_destroy, NULL, NEVER },
};

/* Whether @word is one of the words in @list, or that is of all. */
static bool is_in(const char *word, const char *list)
{
	size_t len = strlen(word);
	const char *at = list;

	if (list && !strcmp(list, "*"))
		return true;
	while (at && (at = strstr(at, word))) {
		if ((at == list || at[-1] == ' ') &&
		    (!at[len] || at[len] == ' '))
			return true;
		at += len;
	}
	return false;
}

/* Returns whether the state is still what it was. */
static bool table_call(const char *name, const struct call *call,
		       struct state *state)
{
	int ret;

	errno = 0;
	ret = call->run(state);
	line(name, call->name, ret);
	return call->same == ALWAYS || (call->same == IF_FAILED && ret);
}

void table_calls(const char *name)
{
	const struct state_kind *kind = state_kind(name);
	const struct call *call;
	struct state state;
	bool open = false;

	for (call = calls; call < calls + sizeof(calls) / sizeof(calls[0]); call++) {
		if (!over_ours && is_in(name, call->ours_only))
			continue;
		if (!open && state_open(&state, kind)) {
			line_text(name, call->name, "no-such-state");
			state_close(&state);
			continue;
		}
		open = table_call(name, call, &state);
		if (!open)
			state_close(&state);
	}
	if (open)
		state_close(&state);
}
