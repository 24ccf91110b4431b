// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * prefork_server [--kill] ADDRESS COUNT - serve COUNT connections over four worker
 * processes, then say how many there were of each.
 *
 * The acceptor reads the requests and hands each to the next worker.  It holds the
 * workers' channels, too, and keeps its own side of an id until the worker says
 * that it has adopted it.  So when a worker dies:
 *
 *  - its channel stays open here, and the ids on it stay;
 *  - those that it had not adopted are acknowledged in its place, in case it had
 *    read their announcement, and handed to another worker: none is lost;
 *  - those that it had adopted go when the acceptor closes the channel.  Their
 *    queue pairs went with the process, so nobody could go on with them.  Their
 *    peers are told at once: RDMA_CM_EVENT_DISCONNECTED, or REJECTED if the worker
 *    had not accepted yet, and may connect anew.
 *
 * With --kill there is such an accident: half-way a worker hangs, and as soon as
 * requests wait for it, it is killed.
 *
 * No worker takes a dead one's place: a process that forks when a device is open
 * cannot use that in the child.  A server that wants to has them started by a
 * process that never opens one.
 */
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <arpa/inet.h>

#include "pass_fd.h"
#include "prefork.h"

#define WORKERS 4
/* How many requests wait for a worker that hangs until it is killed. */
#define WAITING 5

/* An id that was handed over and is not adopted yet. */
struct handed {
	struct rdma_cm_id *id;
	struct handed *next;
};

struct worker {
	pid_t pid;
	int socket;
	struct rdma_event_channel *channel;
	struct handed *first, **last;
	unsigned int waiting;
	unsigned int adopted;
	unsigned int served;
};

static struct worker workers[WORKERS];
static unsigned int served, lost, regiven;

/* Whichever is next and alive. */
static struct worker *next_worker(void)
{
	static unsigned int turn;
	unsigned int i;

	for (i = 0; i < WORKERS; i++) {
		struct worker *worker = &workers[turn++ % WORKERS];

		if (worker->channel)
			return worker;
	}
	fprintf(stderr, "no worker is left\n");
	exit(EXIT_FAILURE);
}

static void hand_over(struct rdma_cm_id *id)
{
	struct worker *worker = next_worker();
	struct handed *handed = malloc(sizeof(*handed));

	try(!handed);
	try(rdmax_migrate_id(id, worker->channel, NULL, RDMAX_ANNOUNCE, NULL));
	handed->id = id;
	handed->next = NULL;
	*worker->last = handed;
	worker->last = &handed->next;
	worker->waiting++;
}

/* The id that was handed over first and has not been adopted. */
static struct rdma_cm_id *take_first(struct worker *worker)
{
	struct handed *handed = worker->first;
	struct rdma_cm_id *id = handed->id;

	worker->first = handed->next;
	if (!worker->first)
		worker->last = &worker->first;
	worker->waiting--;
	free(handed);
	return id;
}

static void on_request(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	try(rdma_get_cm_event(channel, &event));
	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
		try(rdma_ack_cm_event(event));
		return;
	}
	id = event->id;
	try(rdma_ack_cm_event(event));
	hand_over(id);
}

/* Give what is left to others; what else there was is lost. */
static void on_death(struct worker *worker)
{
	unsigned int given = worker->waiting, held = worker->adopted;
	struct rdma_event_channel *channel = worker->channel;
	int status;

	try(waitpid(worker->pid, &status, 0) != worker->pid);
	worker->channel = NULL;
	close(worker->socket);
	while (worker->first) {
		struct rdma_cm_id *id = take_first(worker);

		try(rdmax_ack_id_events(id));
		hand_over(id);
	}
	rdma_destroy_event_channel(channel);
	printf("worker %d died: %u given to others, %u that it held are lost\n",
	       worker->pid, given, held);
	regiven += given;
	lost += held;
}

static void on_word(struct worker *worker, char word)
{
	switch (word) {
	case PREFORK_ADOPTED:
		try(rdmax_forget_id(take_first(worker)));
		worker->adopted++;
		break;
	case PREFORK_DONE:
		worker->adopted--;
		worker->served++;
		served++;
		break;
	}
}

/* What it said before it died comes before the end of what it says. */
static void on_worker(struct worker *worker)
{
	char words[256];
	ssize_t i, n;

	n = read(worker->socket, words, sizeof(words));
	if (n < 0 && errno != ECONNRESET)
		fail("read");
	for (i = 0; i < n; i++)
		on_word(worker, words[i]);
	if (n <= 0)
		on_death(worker);
}

/* The first worker hangs, with something in its hands, and is killed. */
static void accident(unsigned int count)
{
	static bool hangs, over;
	struct worker *victim = &workers[0];

	if (!hangs && served >= count / 2 && victim->adopted) {
		hangs = true;
		try(kill(victim->pid, SIGSTOP));
	}
	if (hangs && !over && victim->waiting >= WAITING) {
		over = true;
		try(kill(victim->pid, SIGKILL));
	}
}

static void serve(struct rdma_event_channel *channel, unsigned int count,
		  bool with_accident)
{
	struct pollfd fds[WORKERS + 1] = {
		{ .fd = channel->fd, .events = POLLIN },
	};
	int i;

	while (served + lost < count) {
		for (i = 0; i < WORKERS; i++) {
			fds[i + 1].fd = workers[i].channel ? workers[i].socket : -1;
			fds[i + 1].events = POLLIN;
		}
		try(poll(fds, WORKERS + 1, -1) < 0);
		if (fds[0].revents)
			on_request(channel);
		for (i = 0; i < WORKERS; i++) {
			if (fds[i + 1].revents)
				on_worker(&workers[i]);
		}
		if (with_accident)
			accident(count);
	}
}

/* All of them before anything is opened that a child would inherit. */
static void start_workers(void)
{
	int sockets[2], i, j;

	for (i = 0; i < WORKERS; i++) {
		try(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
		workers[i].pid = fork();
		try(workers[i].pid < 0);
		if (!workers[i].pid) {
			for (j = 0; j < i; j++)
				close(workers[j].socket);
			close(sockets[0]);
			worker(sockets[1]);
			exit(EXIT_SUCCESS);
		}
		close(sockets[1]);
		workers[i].socket = sockets[0];
		workers[i].last = &workers[i].first;
	}
	for (i = 0; i < WORKERS; i++) {
		workers[i].channel =
			rdmax_channel_from_fd(receive_fd(workers[i].socket));
		try(!workers[i].channel);
	}
}

/* They end when their socket is closed. */
static void stop_workers(void)
{
	int status, i;

	for (i = 0; i < WORKERS; i++) {
		if (!workers[i].channel)
			continue;
		close(workers[i].socket);
		rdma_destroy_event_channel(workers[i].channel);
		try(waitpid(workers[i].pid, &status, 0) < 0);
		if (status)
			exit(EXIT_FAILURE);
	}
}

static struct rdma_cm_id *listen_on(struct rdma_event_channel *channel,
				    const char *address)
{
	struct sockaddr_in local = {
		.sin_family = AF_INET,
		.sin_port = htons(PREFORK_PORT),
	};
	struct rdma_cm_id *id;

	inet_pton(AF_INET, address, &local.sin_addr);
	try(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	try(rdma_bind_addr(id, (struct sockaddr *)&local));
	try(rdma_listen(id, 128));
	return id;
}

int main(int argc, char **argv)
{
	bool with_accident = argc == 4 && !strcmp(argv[1], "--kill");
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	unsigned int count;
	int i;

	if (argc != 3 && !with_accident) {
		fprintf(stderr, "usage: %s [--kill] ADDRESS COUNT\n", argv[0]);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	count = strtoul(argv[argc - 1], NULL, 10);
	start_workers();
	channel = rdma_create_event_channel();
	try(!channel);
	listener = listen_on(channel, argv[argc - 2]);
	printf("ready\n");
	serve(channel, count, with_accident);
	try(rdma_destroy_id(listener));
	rdma_destroy_event_channel(channel);
	stop_workers();
	for (i = 0; i < WORKERS; i++)
		printf("worker %d served %u\n", workers[i].pid, workers[i].served);
	printf("served %u, lost %u, given again %u\n", served, lost, regiven);
	return 0;
}
