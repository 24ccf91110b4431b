// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * rpma server|client ADDRESS PORT COUNT - COUNT connections at a time of Debian's
 * librpma, see others.sh.
 *
 * On either side librpma migrates the id of a connection to a channel of its own:
 * the server's from the listener's channel when it is accepted, the client's from
 * synchronous mode before it connects.  Each is then in a thread of its own.
 *
 * A client tells its number and where its memory is when it connects.  The server
 * reads that memory, and answers each message with one that says the same.  What
 * comes is compared with what must come.  Neither may have an id in the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/verbs.h>
#include <librpma.h>

enum {
	ROUNDS = 5,
	/* Of a connection's memory: what comes, what goes, what is read. */
	COMES = 0,
	GOES = 64,
	MESSAGE = 64,
	BLOCK = 4096,
	BLOCK_SIZE = 4096,
	MEMORY = 8192,
	/* Longer than any machine is slow. */
	TIMEOUT_MS = 60000,
};

struct hello {
	uint32_t index;
	uint8_t size;
	uint8_t descriptor[48];	/* fits what may be said in a request */
};

struct connection {
	struct hello hello;
	struct rpma_conn *conn;
	struct rpma_mr_local *mr;
	char *memory;
	pthread_t thread;
};

static const char *who, *address, *port;
static unsigned int count;
static struct rpma_peer *peer;

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "%s: %s: %s\n", who, what, why);
	exit(EXIT_FAILURE);
}

#define try(call) do {					\
	int error_ = (call);				\
							\
	if (error_)					\
		fail(#call, rpma_err_2str(error_));	\
} while (0)

#define must(condition) do {				\
	if (!(condition))				\
		fail(#condition, "not so");		\
} while (0)

/* What the client with this number has in its memory. */
static char byte_of(unsigned int index, unsigned int at)
{
	return index * 31 + at * 7 + at / 256;
}

/* Every other one is for a thread that has more to do than to wait for it. */
static bool is_polled(const struct connection *connection)
{
	return connection->hello.index % 2;
}

static void set_nonblocking(const struct connection *connection)
{
	int fd, flags;

	try(rpma_conn_get_event_fd(connection->conn, &fd));
	flags = fcntl(fd, F_GETFL);
	must(flags >= 0 && !fcntl(fd, F_SETFL, flags | O_NONBLOCK));
}

static void await_event(struct connection *connection,
			enum rpma_conn_event wanted)
{
	struct pollfd pollfd = { .events = POLLIN };
	enum rpma_conn_event event;

	if (is_polled(connection)) {
		try(rpma_conn_get_event_fd(connection->conn, &pollfd.fd));
		must(poll(&pollfd, 1, -1) == 1);
	}
	try(rpma_conn_next_event(connection->conn, &event));
	if (event != wanted)
		fail(rpma_utils_conn_event_2str(wanted),
		     rpma_utils_conn_event_2str(event));
}

/* The next completion but for those of what was sent. */
static void await_completion(struct rpma_conn *conn, enum ibv_wc_opcode wanted)
{
	struct rpma_cq *cq;
	struct ibv_wc wc;
	int error;

	try(rpma_conn_get_cq(conn, &cq));
	do {
		while ((error = rpma_cq_get_wc(cq, 1, &wc, NULL)) ==
		       RPMA_E_NO_COMPLETION) {
			error = rpma_cq_wait(cq);
			if (error != RPMA_E_NO_COMPLETION)
				try(error);
		}
		try(error);
		if (wc.status != IBV_WC_SUCCESS)
			fail("completion", ibv_wc_status_str(wc.status));
	} while (wc.opcode == IBV_WC_SEND);
	must(wc.opcode == wanted);
}

static void prepare(struct connection *connection, struct rpma_conn_req *req)
{
	int usage = RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV |
		    RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_READ_DST;

	connection->memory = aligned_alloc(BLOCK_SIZE, MEMORY);
	must(connection->memory);
	memset(connection->memory, 0, MEMORY);
	try(rpma_mr_reg(peer, connection->memory, MEMORY, usage,
			&connection->mr));
	try(rpma_conn_req_recv(req, connection->mr, COMES, MESSAGE, NULL));
}

static void receive(struct connection *connection, unsigned int round)
{
	char wanted[MESSAGE] = "";

	await_completion(connection->conn, IBV_WC_RECV);
	snprintf(wanted, sizeof(wanted), "%u of %u", round,
		 connection->hello.index);
	must(!memcmp(connection->memory + COMES, wanted, MESSAGE));
	memset(connection->memory + COMES, 0, MESSAGE);
	try(rpma_recv(connection->conn, connection->mr, COMES, MESSAGE, NULL));
}

static void send_message(struct connection *connection, unsigned int round)
{
	snprintf(connection->memory + GOES, MESSAGE, "%u of %u", round,
		 connection->hello.index);
	try(rpma_send(connection->conn, connection->mr, GOES, MESSAGE,
		      RPMA_F_COMPLETION_ALWAYS, NULL));
}

static void release(struct connection *connection)
{
	try(rpma_conn_delete(&connection->conn));
	try(rpma_mr_dereg(&connection->mr));
	free(connection->memory);
}

/* Of who connects. */
static void read_block(struct connection *connection)
{
	struct rpma_mr_remote *remote;
	unsigned int i;

	try(rpma_mr_remote_from_descriptor(connection->hello.descriptor,
					   connection->hello.size, &remote));
	try(rpma_read(connection->conn, connection->mr, BLOCK, remote, BLOCK,
		      BLOCK_SIZE, RPMA_F_COMPLETION_ALWAYS, NULL));
	await_completion(connection->conn, IBV_WC_RDMA_READ);
	for (i = 0; i < BLOCK_SIZE; i++)
		must(connection->memory[BLOCK + i] ==
		     byte_of(connection->hello.index, i));
	try(rpma_mr_remote_delete(&remote));
}

static void *serve(void *argument)
{
	struct connection *connection = argument;
	unsigned int round;

	await_event(connection, RPMA_CONN_ESTABLISHED);
	for (round = 0; round < ROUNDS; round++) {
		receive(connection, round);
		if (!round)
			read_block(connection);
		send_message(connection, round);
	}
	await_event(connection, RPMA_CONN_CLOSED);
	try(rpma_conn_disconnect(connection->conn));
	release(connection);
	return NULL;
}

/* False for the one that is to be turned away. */
static bool accept_one(struct rpma_ep *ep, struct connection *connections)
{
	struct rpma_conn_private_data data;
	struct connection *connection;
	struct rpma_conn_req *req;
	struct hello hello;

	try(rpma_ep_next_conn_req(ep, NULL, &req));
	try(rpma_conn_req_get_private_data(req, &data));
	must(data.ptr && data.len >= sizeof(hello));
	memcpy(&hello, data.ptr, sizeof(hello));
	if (hello.index == count) {
		try(rpma_conn_req_delete(&req));
		return false;
	}
	must(hello.index < count && !connections[hello.index].conn);
	connection = &connections[hello.index];
	connection->hello = hello;
	prepare(connection, req);
	data = (struct rpma_conn_private_data) { &hello, sizeof(hello) };
	try(rpma_conn_req_connect(&req, &data, &connection->conn));
	if (is_polled(connection))
		set_nonblocking(connection);
	must(!pthread_create(&connection->thread, NULL, serve, connection));
	return true;
}

static void run_server(struct connection *connections)
{
	unsigned int accepted = 0, refused = 0;
	struct rpma_ep *ep;

	try(rpma_ep_listen(peer, address, port, &ep));
	while (accepted + refused < count + 1) {
		if (accept_one(ep, connections))
			accepted++;
		else
			refused++;
	}
	must(accepted == count);
	/* Connections are no longer the listener's. */
	try(rpma_ep_shutdown(&ep));
}

static void connect_to_server(struct connection *connection)
{
	struct rpma_conn_private_data data = {
		&connection->hello, sizeof(connection->hello)
	};
	struct rpma_conn_req *req;
	struct rpma_conn_cfg *cfg;
	unsigned int i;
	size_t size;

	try(rpma_conn_cfg_new(&cfg));
	try(rpma_conn_cfg_set_timeout(cfg, TIMEOUT_MS));
	try(rpma_conn_req_new(peer, address, port, cfg, &req));
	try(rpma_conn_cfg_delete(&cfg));
	prepare(connection, req);
	for (i = 0; i < BLOCK_SIZE; i++)
		connection->memory[BLOCK + i] =
			byte_of(connection->hello.index, i);
	try(rpma_mr_get_descriptor_size(connection->mr, &size));
	must(size <= sizeof(connection->hello.descriptor));
	connection->hello.size = size;
	try(rpma_mr_get_descriptor(connection->mr,
				   connection->hello.descriptor));
	try(rpma_conn_req_connect(&req, &data, &connection->conn));
	if (is_polled(connection))
		set_nonblocking(connection);
}

static void *talk(void *argument)
{
	struct connection *connection = argument;
	struct rpma_conn_private_data data;
	unsigned int round;

	connect_to_server(connection);
	await_event(connection, RPMA_CONN_ESTABLISHED);
	try(rpma_conn_get_private_data(connection->conn, &data));
	must(data.ptr && data.len >= sizeof(connection->hello) &&
	     !memcmp(data.ptr, &connection->hello, sizeof(connection->hello)));
	for (round = 0; round < ROUNDS; round++) {
		send_message(connection, round);
		receive(connection, round);
	}
	try(rpma_conn_disconnect(connection->conn));
	await_event(connection, RPMA_CONN_CLOSED);
	release(connection);
	return NULL;
}

static void be_turned_away(void)
{
	struct connection connection = { .hello.index = count };

	connect_to_server(&connection);
	await_event(&connection, RPMA_CONN_REJECTED);
	release(&connection);
}

static void run_client(struct connection *connections)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		must(!pthread_create(&connections[i].thread, NULL, talk,
				     &connections[i]));
	be_turned_away();
}

/* As the kernel says. */
static unsigned int ids_of_mine(void)
{
	FILE *list = popen("rdma resource show cm_id", "r");
	char line[512], mine[32];
	unsigned int ids = 0;

	must(list);
	snprintf(mine, sizeof(mine), " pid %d ", getpid());
	while (fgets(line, sizeof(line), list))
		ids += !!strstr(line, mine);
	must(!pclose(list));
	return ids;
}

int main(int argc, char **argv)
{
	struct connection *connections;
	struct ibv_context *device;
	unsigned int i;
	bool serves;

	must(argc == 5);
	who = argv[1];
	address = argv[2];
	port = argv[3];
	count = atoi(argv[4]);
	serves = !strcmp(who, "server");
	connections = calloc(count, sizeof(*connections));
	must(connections);
	for (i = 0; i < count; i++)
		connections[i].hello.index = i;

	/* What went wrong in there goes to standard error. */
	try(rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX,
				   RPMA_LOG_LEVEL_WARNING));
	try(rpma_utils_get_ibv_context(address,
				       serves ? RPMA_UTIL_IBV_CONTEXT_LOCAL :
						RPMA_UTIL_IBV_CONTEXT_REMOTE,
				       &device));
	try(rpma_peer_new(device, &peer));
	if (serves)
		run_server(connections);
	else
		run_client(connections);
	for (i = 0; i < count; i++)
		must(!pthread_join(connections[i].thread, NULL));
	must(ids_of_mine() == 0);
	try(rpma_peer_delete(&peer));
	free(connections);
	printf("%s: all %u done\n", who, count);
	return 0;
}
