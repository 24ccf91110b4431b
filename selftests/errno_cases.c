// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Mistakes in arguments, addresses, what a peer is told, and what a call waits
 * for: one line each.  See errno_table.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/sa.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "errno_state.h"
#include "errno_table.h"
#include "lib_scene.h"

void table_arguments(const char *part)
{
	static const int spaces[] = { 0, 1, RDMA_PS_IPOIB, RDMA_PS_TCP,
				      RDMA_PS_UDP, RDMA_PS_IB, 0x9999 };
	struct rdma_cm_event *event;
	struct ibv_ece ece = {};
	struct rdma_cm_id *id;
	struct state state;
	char name[32];

	open_state(&state, "fresh");
	for (unsigned int i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++) {
		snprintf(name, sizeof(name), "port_space_%x", spaces[i]);
		id = NULL;
		line(part, name, rdma_create_id(state.channel, &id, NULL, spaces[i]));
		if (id)
			rdma_destroy_id(id);
	}
	line(part, "get_event_nowhere", rdma_get_cm_event(state.channel, NULL));
	must(fcntl(state.channel->fd, F_SETFL, O_NONBLOCK));
	line(part, "get_event_nonblocking",
	     rdma_get_cm_event(state.channel, &event));
	line(part, "ack_nothing", rdma_ack_cm_event(NULL));
	line(part, "set_no_ece", rdma_set_local_ece(state.id, NULL));
	line(part, "set_empty_ece", rdma_set_local_ece(state.id, &ece));
	ece.vendor_id = 1;
	line(part, "set_ece", rdma_set_local_ece(state.id, &ece));
	ece.comp_mask = 1;
	line(part, "set_ece_of_the_future", rdma_set_local_ece(state.id, &ece));
	line(part, "get_no_ece", rdma_get_remote_ece(state.id, NULL));
	line_number(part, "source_port", rdma_get_src_port(state.id));
	line_number(part, "destination_port", rdma_get_dst_port(state.id));
	state_close(&state);
}

/* Lengths and places of values; states are in errno_calls.c. */
void table_options(const char *part)
{
	static const size_t lengths[] = { 0, 1, 2, 4, 60, 72, 66000,
					  1UL << 31, UINT32_MAX };
	static char value[66000] = { 1 };
	static const struct {
		const char *name;
		int level;
		int option;
	} options[] = {
		{ "tos", RDMA_OPTION_ID, RDMA_OPTION_ID_TOS },
		{ "reuseaddr", RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR },
		{ "afonly", RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY },
		{ "ack_timeout", RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT },
		{ "ib_path", RDMA_OPTION_IB, RDMA_OPTION_IB_PATH },
	};
	struct state state;
	char name[64];

	open_state(&state, "fresh");
	for (unsigned int i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		for (unsigned int j = 0; j < sizeof(lengths) / sizeof(lengths[0]); j++) {
			snprintf(name, sizeof(name), "%s_length_%zu",
				 options[i].name, lengths[j]);
			line(part, name, rdma_set_option(state.id, options[i].level,
							 options[i].option, value,
							 lengths[j]));
		}
		snprintf(name, sizeof(name), "%s_nowhere", options[i].name);
		line(part, name, rdma_set_option(state.id, options[i].level,
						 options[i].option, (void *)8,
						 options[i].level ? 72 : 4));
	}
	line(part, "tos_nowhere_1", rdma_set_option(state.id, RDMA_OPTION_ID,
						    RDMA_OPTION_ID_TOS, (void *)8, 1));
	line(part, "unknown_name", rdma_set_option(state.id, 0, 4, value, 4));
	line(part, "negative_name", rdma_set_option(state.id, 0, -1, value, 4));
	line(part, "unknown_level", rdma_set_option(state.id, 2, 0, value, 1));
	line(part, "negative_level", rdma_set_option(state.id, -1, 0, value, 1));
	line(part, "unknown_ib_name", rdma_set_option(state.id, 1, 0, value, 72));
	line(part, "unknown_name_nowhere", rdma_set_option(state.id, 0, 4, (void *)8, 4));
	state_close(&state);

	open_state(&state, "resolved");
	line(part, "ib_path_60", rdma_set_option(state.id, 1, 1, value, 60));
	line(part, "ib_path_empty", rdma_set_option(state.id, 1, 1, value, 0));
	line(part, "ib_path_144", rdma_set_option(state.id, 1, 1, value, 144));
	line(part, "route_after_all", rdma_resolve_route(state.id, 2000));
	state_close(&state);
}

static struct rdma_cm_id *create(struct state *state)
{
	struct rdma_cm_id *id;

	must(rdma_create_id(state->channel, &id, NULL, RDMA_PS_TCP));
	errno = 0;
	return id;
}

static void set(struct rdma_cm_id *id, int option)
{
	int yes = 1;

	must(rdma_set_option(id, RDMA_OPTION_ID, option, &yes, sizeof(yes)));
}

static void addresses_of_two(const char *part, struct state *state)
{
	struct rdma_cm_id *a = create(state), *b = create(state);

	line(part, "bind", rdma_bind_addr(a, address(ADDR1, 21001)));
	line(part, "bind_again", rdma_bind_addr(a, address(ADDR1, 21002)));
	line(part, "bind_in_use", rdma_bind_addr(b, address(ADDR1, 21001)));
	line(part, "bind_any_in_use", rdma_bind_addr(b, address("0.0.0.0", 21001)));
	line(part, "bind_other_address", rdma_bind_addr(b, address(ADDR2, 21001)));
	line(part, "listen_one", rdma_listen(a, 1));
	line(part, "listen_other", rdma_listen(b, 1));
	line(part, "listen_again", rdma_listen(b, 1));
	rdma_destroy_id(a);
	rdma_destroy_id(b);

	a = create(state);
	b = create(state);
	set(a, RDMA_OPTION_ID_REUSEADDR);
	set(b, RDMA_OPTION_ID_REUSEADDR);
	line(part, "reuse_bind", rdma_bind_addr(a, address(ADDR1, 21003)));
	line(part, "reuse_bind_too", rdma_bind_addr(b, address(ADDR1, 21003)));
	line(part, "reuse_listen", rdma_listen(a, 1));
	rdma_destroy_id(b);
	line(part, "reuse_listen_alone", rdma_listen(a, 1));
	rdma_destroy_id(a);
}

static void addresses_of_two_families(const char *part, struct state *state)
{
	struct rdma_cm_id *a = create(state), *b = create(state);

	line(part, "any_ipv6", rdma_bind_addr(a, address("::", 21004)));
	line(part, "any_ipv4_beside", rdma_bind_addr(b, address("0.0.0.0", 21004)));
	rdma_destroy_id(a);
	a = create(state);
	set(a, RDMA_OPTION_ID_AFONLY);
	line(part, "only_ipv6", rdma_bind_addr(a, address("::", 21004)));
	line(part, "any_ipv4_beside_only", rdma_bind_addr(b, address("0.0.0.0", 21004)));
	line(part, "listen_only_ipv6", rdma_listen(a, 1));
	line(part, "listen_ipv4_beside", rdma_listen(b, 1));
	rdma_destroy_id(a);
	rdma_destroy_id(b);
}

static void addresses_of_sources(const char *part, struct state *state)
{
	struct rdma_cm_id *a = create(state), *b = create(state);

	line(part, "resolve_from_port",
	     rdma_resolve_addr(a, address(ADDR1, 21005), address(ADDR1, 7), 2000));
	line(part, "resolve_from_same_port",
	     rdma_resolve_addr(b, address(ADDR1, 21005), address(ADDR1, 7), 2000));
	line(part, "resolve_from_elsewhere",
	     rdma_resolve_addr(b, address("198.51.100.1", 0), address(ADDR1, 7), 2000));
	line(part, "resolve_between_families",
	     rdma_resolve_addr(b, address(ADDR6, 0), address(ADDR1, 7), 2000));
	line(part, "resolve_after_all",
	     rdma_resolve_addr(b, NULL, address(ADDR1, 7), 2000));
	rdma_destroy_id(a);
	rdma_destroy_id(b);
}

void table_addresses(const char *part)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct sockaddr_storage un = { .ss_family = AF_UNIX };
	struct sockaddr_storage odd = { .ss_family = 0xffff };
	struct rdma_cm_id *id;
	struct state state;

	open_state(&state, "fresh");
	id = state.id;
	line(part, "bind_unspec", rdma_bind_addr(id, &none));
	line(part, "bind_unix", rdma_bind_addr(id, (struct sockaddr *)&un));
	line(part, "bind_odd", rdma_bind_addr(id, (struct sockaddr *)&odd));
	line(part, "bind_nothing", rdma_bind_addr(id, NULL));
	line(part, "bind_elsewhere", rdma_bind_addr(id, address("198.51.100.1", 0)));
	line(part, "bind_multicast", rdma_bind_addr(id, address("239.1.1.1", 0)));
	line(part, "resolve_unspec", rdma_resolve_addr(id, NULL, &none, 2000));
	line(part, "resolve_unix",
	     rdma_resolve_addr(id, NULL, (struct sockaddr *)&un, 2000));
	line(part, "resolve_odd",
	     rdma_resolve_addr(id, NULL, (struct sockaddr *)&odd, 2000));
	line(part, "resolve_nothing", rdma_resolve_addr(id, NULL, NULL, 2000));
	line(part, "resolve_from_unix",
	     rdma_resolve_addr(id, (struct sockaddr *)&un, address(ADDR1, 7), 2000));
	line(part, "bind_at_last", rdma_bind_addr(id, address(ADDR1, 0)));
	addresses_of_two(part, &state);
	addresses_of_two_families(part, &state);
	addresses_of_sources(part, &state);
	state_close(&state);
}

/* The client's event: its kind, and its status. */
static void line_event(const char *part, const char *call,
		       struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event;
	char text[64];

	if (!event_comes(channel) || rdma_get_cm_event(channel, &event)) {
		line_text(part, call, "nothing");
		return;
	}
	snprintf(text, sizeof(text), "%s(%d)", rdma_event_str(event->event),
		 event->status);
	rdma_ack_cm_event(event);
	line_text(part, call, text);
}

/* A second id's request is pending at a new listener. */
static int request_unread(struct state *state)
{
	struct rdma_conn_param param = state_conn_param();

	state->listener = listener_open(state->peers, ADDR1, 2);
	if (!state->listener)
		return -1;
	state->peer = client_resolved(state->channel, ADDR1,
				      listener_port(state->listener));
	if (!state->peer || rdma_connect(state->peer, &param))
		return -1;
	return event_comes(state->peers) ? 0 : -1;
}

void table_peers(const char *part)
{
	struct rdma_conn_param param;
	struct state state;

	open_state(&state, "routed");
	param = state_conn_param();
	must(rdma_connect(state.id, &param));
	line_event(part, "no_listener", state.channel);
	state_close(&state);

	open_state(&state, "connecting");
	must(rdma_destroy_id(state.peer));
	state.peer = NULL;
	line_event(part, "child_destroyed", state.channel);
	state_close(&state);

	open_state(&state, "connecting");
	must(rdma_reject(state.peer, NULL, 0));
	line_event(part, "child_rejected", state.channel);
	state_close(&state);

	open_state(&state, "connecting");
	must(rdma_reject_ece(state.peer, NULL, 0));
	line_event(part, "child_rejected_for_ece", state.channel);
	state_close(&state);

	open_state(&state, "fresh");
	must(request_unread(&state));
	must(rdma_destroy_id(state.listener));
	state.listener = NULL;
	line_event(part, "unread_and_listener_destroyed", state.channel);
	state_close(&state);

	open_state(&state, "active");
	must(rdma_disconnect(state.peer));
	line_event(part, "disconnected", state.channel);
	state_close(&state);
}

/* A call that waits, made in a thread of its own. */
struct waiting {
	struct state *state;
	int (*run)(struct state *state);
	atomic_int tid;
	atomic_bool returned;
	int result;
	int error;
};

static void *run_waiting(void *arg)
{
	struct waiting *waiting = arg;

	waiting->tid = gettid();
	waiting->result = waiting->run(waiting->state);
	waiting->error = errno;
	waiting->returned = true;
	return NULL;
}

static bool sleeps(int tid)
{
	char path[64], stat[256], *at;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	file = fopen(path, "r");
	if (!file)
		return false;
	at = fgets(stat, sizeof(stat), file) ? strrchr(stat, ')') : NULL;
	fclose(file);
	return at && at[1] == ' ' && at[2] == 'S';
}

static int do_migrate(struct state *state)
{
	return rdma_migrate_id(state->id, state->spare);
}

static int do_destroy(struct state *state)
{
	int ret = rdma_destroy_id(state->id);

	state->id = NULL;
	return ret;
}

/* "waits", or that it does not, and then what it returns once acknowledged. */
static void line_waits(const char *part, const char *call,
		       int (*run)(struct state *state))
{
	struct waiting waiting = { .run = run };
	struct rdma_cm_event *event;
	struct state state;
	pthread_t thread;
	char name[64];

	open_state(&state, "fresh");
	must(rdma_resolve_addr(state.id, NULL, address(ADDR1, 7), 2000));
	must(event_expect(state.channel, RDMA_CM_EVENT_ADDR_RESOLVED, &event));
	waiting.state = &state;
	must(pthread_create(&thread, NULL, run_waiting, &waiting));
	while (!waiting.returned && !(waiting.tid && sleeps(waiting.tid)))
		usleep(1000);
	line_text(part, call, waiting.returned ? "returns" : "waits");
	must(rdma_ack_cm_event(event));
	must(pthread_join(thread, NULL));
	snprintf(name, sizeof(name), "%s_acknowledged", call);
	errno = waiting.error;
	line(part, name, waiting.result);
	state_close(&state);
}

void table_waits(const char *part)
{
	line_waits(part, "migrate", do_migrate);
	line_waits(part, "destroy", do_destroy);
}
