/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What tests need before and around what they test: channels, addresses, events
 * read with patience, resolved and connected ids.
 *
 * Unless said otherwise a function returns 0, or -1 and errno after a word on
 * standard error.
 */
#ifndef SELFTESTS_SCENE_H
#define SELFTESTS_SCENE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#include "cmd.h"

#define ADDR1 "192.0.2.1"
#define ADDR2 "192.0.2.2"
#define ADDR6 "2001:db8::1"

/* How long anything may take that will happen: decides no verdict. */
#define PATIENCE_MS 60000

#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

/* Look again and again until @condition holds; whether it does in the end. */
#define wait_until(condition) ({					\
	__u64 _end = now_ns() + PATIENCE_MS * 1000000ULL;		\
	bool _holds;							\
									\
	while (!(_holds = (condition)) && now_ns() < _end)		\
		pause_briefly();					\
	_holds;								\
})

__u64 now_ns(void);
void pause_briefly(void);

/* Whether the machine was booted with iWARP for its fabric, instead of RoCE. */
bool over_iwarp(void);

/* As a shell's echo: of sysfs, debugfs and control groups. */
int write_file(const char *path, const char *text);

/* scaled(100): 100, or fewer where UCMX_SCALE says "divide by". */
unsigned int scaled(unsigned int number);

int channel_open(void);
int channel_open_nonblock(void);
/* What most tests of migrations have. */
int channels_open(int *source, int *target, int *client);
void channels_close(int source, int target, int client);

struct rdma_ucmx_addr addr(const char *ip, __u16 port);
__u16 addr_port(const struct rdma_ucmx_addr *addr);
bool addr_is(const struct rdma_ucmx_addr *addr, const char *ip, __u16 port);

/* An event record, taken apart; what is not there is zero. */
struct event {
	struct rdma_ucmx_event head;
	struct rdma_ucmx_conn_param conn;
	struct rdma_ucmx_ud_param ud;
	struct rdma_ucmx_route route;
	struct rdma_ucmx_path paths[RDMA_UCMX_MAX_PATHS];
	__u64 arg;
};

const char *event_name(__u32 event);
/* Size of the record at @record, or -1 if it contradicts itself. */
ssize_t event_parse(const void *record, size_t size, struct event *ev);
/* Read one event: with patience; not at all if there is none (EAGAIN). */
int event_read(int fd, struct event *ev);
int event_read_now(int fd, struct event *ev);
/* Read one event, which must be of this kind; EPROTO otherwise. */
int event_expect(int fd, __u32 kind, struct event *ev);
int event_ack(int fd, const struct event *ev);
/* Read one event, which must be of this kind and id, and acknowledge it. */
int event_take(int fd, __u32 kind, __u32 id);
bool readable(int fd);

/* What LIST_IDS says of an id; ENOENT if it is not on this channel. */
int id_info(int fd, __u32 id, struct rdma_ucmx_id_info *info);
bool id_has_state(int fd, __u32 id, __u32 state);
bool id_has_pending(int fd, __u32 id, __u32 pending);
bool id_is_on(int fd, __u32 id);
/* Ids of the channel, unread requests included; -1 if that cannot be said. */
int channel_ids(int fd);

/* Parameters with a QP number that nobody else has. */
struct rdma_ucmx_conn_param conn_param(void);
/* The same with a number in the private data, and the way back. */
struct rdma_ucmx_conn_param conn_param_tagged(__u32 tag);
__u32 conn_tag(const struct rdma_ucmx_conn_param *param);

/* An id that has resolved @ip's address; nothing pending or outstanding. */
int id_resolved(int fd, const char *ip, __u16 port, __u32 *id);
/* An id one event of which, number 1, is pending, or outstanding. */
int id_with_pending(int fd, __u32 *id);
int id_with_outstanding(int fd, __u32 *id);
/* A listener on a port that the kernel chooses. */
int listener_open(int fd, const char *ip, __u32 backlog, __u32 *id,
		  __u16 *port);
/* Clients that have sent their requests, tagged 0, 1, ... */
int clients_connect(int fd, const char *ip, __u16 port, unsigned int n,
		    __u32 *ids);
int client_connect(int fd, const char *ip, __u16 port, __u32 *id);
/* Accept the request of @ev on @fd; its child gets @cookie. */
int child_accept(int fd, const struct event *ev, __u64 cookie);

/*
 * What a client is told of that was accepted.  With iWARP there is nothing left to
 * confirm, and both sides have an established connection.
 */
#define EV_ANSWER (over_iwarp() ? EV_ESTABLISHED : EV_CONNECT_RESPONSE)
/*
 * Connect where nobody listens: one more event, but with iWARP, where that is an
 * error of the command already.  There somebody writes an event.
 */
int connect_in_vain(int fd, __u32 id);
#define EV_IN_VAIN (over_iwarp() ? EV_USER : EV_REJECTED)
/* Path records of a route; iWARP has none. */
#define NUM_PATHS (over_iwarp() ? 0U : 1U)
/* Why a peer has rejected, if it says no more: IBTA 12.6.7.2, or what siw makes of it. */
#define REJ_CONSUMER (over_iwarp() ? -ECONNRESET : 28)
/* Read the answer, and confirm it where it has to be. */
int client_confirm(int fd, __u32 id);

/* A connection: both sides established, nothing pending or outstanding. */
struct connection {
	__u32 listener;
	__u32 child;
	__u32 client;
	__u16 port;
};

int connection_open(int server, int client, const char *ip,
		    struct connection *connection);

#endif /* SELFTESTS_SCENE_H */
