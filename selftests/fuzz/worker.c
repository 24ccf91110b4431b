// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What workers do, see soak.h.  Each thread has descriptors of its own, holds
 * some of the events that it has read for a while, and may be killed anywhere.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "pass.h"
#include "soak.h"

int common[CHANNELS];
int post[2];

/* More ids than this on a channel, and some have to go. */
#define CROWD 24
/* A reader with so many events in hand acknowledges before it reads on. */
#define PLENTY 16

struct worker {
	struct process *process;
	struct reader *reader;
	unsigned int seed;
	/* Of the common channels, descriptors that nobody else closes. */
	int fds[CHANNELS];
	pthread_t pthread;
};

static __thread struct worker *me;

static unsigned int draw(unsigned int n)
{
	return (unsigned int)rand_r(&me->seed) % n;
}

static bool one_in(unsigned int n)
{
	return !draw(n);
}

/*
 * Ids
 */

static void note_id(__u32 id, __u32 channel)
{
	soak->ids[id % IDS] = (__u64)id << 32 | channel;
}

static __u32 draw_id(__u32 *channel)
{
	__u64 value = soak->ids[draw(IDS)];

	*channel = (__u32)value % CHANNELS;
	return value >> 32;
}

static struct held *draw_held(__u32 id)
{
	unsigned int first = draw(HELD);

	for (unsigned int i = 0; i < HELD; i++) {
		struct held *held = &me->reader->held[(first + i) % HELD];

		if (held->id && held->channel != PRIVATE && (!id || held->id == id))
			return held;
	}
	return NULL;
}

static unsigned int count_held(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < HELD; i++)
		n += !!me->reader->held[i].id;
	return n;
}

/* From when it begins it may be gone; unless the kernel says that nothing was. */
static void destroy(int fd, __u32 id, __u32 flags, __u64 deadline)
{
	struct account *of = account(id);

	of->destroyed++;
	if (!cmd_destroy_id_opt(fd, id, flags, deadline, 0))
		soak->counters[C_DESTROYED]++;
	else if (errno == EAGAIN || errno == ENOENT)
		of->destroyed--;
	else if (errno != ETIMEDOUT)
		violated("an id cannot be destroyed", id, 0, flags);
}

static __u64 soon(void)
{
	return now_ns() + draw(50) * 1000000ULL;
}

static bool create(int fd, __u32 channel, __u32 *id)
{
	/* The device may be gone, but for this none is needed. */
	if (cmd_create_id(fd, PS_TCP, 0, id)) {
		violated("no id can be created", 0, 0, channel);
		return false;
	}
	note_id(*id, channel);
	soak->counters[C_CREATED]++;
	return true;
}

static void do_client(void)
{
	struct rdma_ucmx_addr dst = addr(ADDR1, soak->ports[draw(PORTS)]);
	__u32 channel = draw(CHANNELS), id;

	if (create(me->fds[channel], channel, &id))
		cmd_resolve_addr(me->fds[channel], id, NULL, &dst);
}

static void do_listener(void)
{
	struct rdma_ucmx_addr any = addr(one_in(2) ? "0.0.0.0" : ADDR1, 0);
	__u32 channel = draw(CHANNELS), id;
	int fd = me->fds[channel];
	struct rdma_ucmx_query query;

	/* Somebody else may have taken it away meanwhile. */
	if (!create(fd, channel, &id) || cmd_bind_addr(fd, id, &any) ||
	    cmd_listen(fd, id, 8) || cmd_query(fd, id, &query))
		return;
	soak->ports[draw(PORTS)] = addr_port(&query.out_route.src_addr);
}

static void do_destroy(void)
{
	__u32 channel, id = draw_id(&channel);

	if (id)
		destroy(me->fds[channel], id, one_in(2) ? RDMA_UCMX_NONBLOCK : 0, soon());
}

static void do_make_room(void)
{
	struct rdma_ucmx_id_info ids[2 * CROWD];
	int fd = me->fds[draw(CHANNELS)];
	int n = cmd_list_ids(fd, 0, ids, ARRAY_LEN(ids));

	if (n < 0)
		violated("the ids of a channel cannot be listed", 0, 0, 0);
	for (int i = CROWD; i < n; i++)
		destroy(fd, ids[i - CROWD].id, RDMA_UCMX_NONBLOCK, 0);
}

/*
 * Events
 */

static void do_write(void)
{
	__u32 channel, id = draw_id(&channel);
	struct account *of;

	if (!id)
		return;
	of = account(id);
	if (of->latest > SEQS_ENOUGH || of->begun > SEQS_ENOUGH) {
		destroy(me->fds[channel], id, RDMA_UCMX_NONBLOCK, 0);
		return;
	}
	for (unsigned int n = 1 + draw(4); n; n--) {
		of->begun++;
		if (cmd_write_event(me->fds[channel], id, EV_USER, 0, n)) {
			of->begun--;
			return;
		}
		of->written++;
		soak->counters[C_WRITTEN]++;
	}
}

static void on_request(int fd, const struct event *ev)
{
	struct rdma_ucmx_conn_param param = conn_param();

	note_id(ev->head.id, me->reader->channel);
	if (one_in(8))
		cmd_reject(fd, ev->head.id, 0, "", 0);
	else if (one_in(4))
		cmd_adopt_id(fd, ev->head.id, 0);
	else
		cmd_accept(fd, ev->head.id, 0, &param);
	if (ev->head.seq > SEQS_ENOUGH)
		destroy(fd, ev->head.listen_id, 0, 1);
}

/* What a program would do, so that connections come about and end. */
static void react(int fd, const struct event *ev)
{
	struct rdma_ucmx_conn_param param = conn_param();
	__u32 id = ev->head.id;

	switch (ev->head.event) {
	case EV_ADDR_RESOLVED:
		cmd_resolve_route(fd, id);
		break;
	case EV_ROUTE_RESOLVED:
		cmd_connect(fd, id, &param);
		break;
	case EV_CONNECT_REQUEST:
		on_request(fd, ev);
		break;
	case EV_CONNECT_RESPONSE:
		cmd_accept(fd, id, 0, NULL);
		break;
	case EV_ESTABLISHED:
		soak->counters[C_CONNECTED]++;
		if (one_in(2))
			cmd_disconnect(fd, id);
		break;
	case EV_ARRIVED:
		cmd_adopt_id(fd, id, 0);
		break;
	}
}

/* Somebody else may be first, and then the read of a blocking one waits. */
static void do_read(void)
{
	__u32 channel = draw(CHANNELS);
	struct pollfd pollfd = { .fd = me->fds[channel], .events = POLLIN };

	if (count_held() < PLENTY && poll(&pollfd, 1, draw(30)) == 1)
		account_read(me->reader, pollfd.fd, channel, react);
}

static void acknowledge(struct held *held)
{
	account_ack(held, me->fds[held->channel]);
}

static void do_acknowledge(void)
{
	struct held *held;

	for (unsigned int n = 1 + draw(PLENTY); n && (held = draw_held(0)); n--)
		acknowledge(held);
}

/*
 * Migrations
 */

static void judge_migration(int ret, __u32 id, __u32 flags)
{
	if (!ret) {
		soak->counters[C_MIGRATED]++;
		soak->counters[C_ANNOUNCED] += !!(flags & RDMA_UCMX_ANNOUNCE);
	} else if (errno != ENOENT && errno != EBUSY && errno != EAGAIN &&
		   errno != ETIMEDOUT && errno != ECANCELED) {
		violated("an id cannot be migrated", id, 0, flags);
	}
}

static void do_migrate(void)
{
	__u32 channel, id = draw_id(&channel), target = draw(CHANNELS), flags;
	int ret;

	if (!id)
		return;
	flags = one_in(2) ? RDMA_UCMX_NONBLOCK : 0;
	if (one_in(8) && account(id)->latest < SEQS_ENOUGH)
		flags |= RDMA_UCMX_ANNOUNCE;
	ret = cmd_migrate_id_opt(me->fds[channel], id, me->fds[target], flags, soon(), 0);
	judge_migration(ret, id, flags);
	if (!ret)
		note_id(id, target);
}

/* As a handler does, with the event in hand that it handles. */
static void do_migrate_holding(void)
{
	struct held *held = draw_held(0);
	__u32 target = draw(CHANNELS), id;
	__u64 seq;
	int ret;

	if (!held)
		return;
	id = held->id;
	seq = held->seq;
	account_ack_begin(held);
	ret = cmd_migrate_id_opt(me->fds[held->channel], id, me->fds[target], 0, soon(), seq);
	account_ack_end(held, !ret);
	judge_migration(ret, id, 0);
	if (ret)
		return;
	soak->counters[C_MIGRATED_HOLDING]++;
	note_id(id, target);
}

/*
 * Passing on: a channel of everybody's, or one of our own with an id on it
 */

static void do_send(void)
{
	__u32 channel = draw(CHANNELS);

	if (!channel_pass(post[1], me->fds[channel], channel))
		soak->counters[C_PASSED]++;
}

/* What goes there may be closed with it, by whoever has it last. */
static void do_send_private(void)
{
	int fd = channel_open_nonblock();
	__u32 channel, id = draw_id(&channel);

	if (fd < 0) {
		violated("no channel can be opened", 0, 0, 0);
		return;
	}
	if (id) {
		account(id)->destroyed++;
		if (cmd_migrate_id_opt(me->fds[channel], id, fd, 0, soon(), 0))
			account(id)->destroyed--;
	}
	if (!channel_pass(post[1], fd, PRIVATE))
		soak->counters[C_PASSED]++;
	close(fd);
}

static void acknowledge_private(int fd)
{
	for (unsigned int i = 0; i < HELD; i++) {
		if (me->reader->held[i].id && me->reader->held[i].channel == PRIVATE)
			account_ack(&me->reader->held[i], fd);
	}
}

/* Read what came with it, and take the ids back, but for those that are stuck. */
static void use_private(int fd)
{
	struct rdma_ucmx_id_info ids[8];
	__u32 target = draw(CHANNELS);
	int n;

	account_read(me->reader, fd, PRIVATE, react);
	acknowledge_private(fd);
	n = cmd_list_ids(fd, 0, ids, ARRAY_LEN(ids));
	for (int i = 0; i < n; i++) {
		if (!cmd_migrate_id_opt(fd, ids[i].id, me->fds[target], 0, soon(), 0))
			note_id(ids[i].id, target);
	}
	if (one_in(4))
		channel_pass(post[1], fd, PRIVATE);
	close(fd);
}

static void do_receive(void)
{
	__u32 channel;
	int fd = channel_take(post[0], &channel);

	if (fd < 0)
		return;
	soak->counters[C_RECEIVED]++;
	if (channel == PRIVATE) {
		use_private(fd);
		return;
	}
	close(me->fds[channel]);
	me->fds[channel] = fd;
}

/*
 * Processes
 */

static void do_fork(void);

static const struct {
	unsigned int weight;
	void (*run)(void);
} actions[] = {
	{ 30, do_read },
	{ 14, do_acknowledge },
	{ 12, do_write },
	{ 14, do_migrate },
	{ 4, do_migrate_holding },
	{ 5, do_client },
	{ 1, do_listener },
	{ 2, do_destroy },
	{ 3, do_make_room },
	{ 2, do_send },
	{ 2, do_send_private },
	{ 5, do_receive },
	{ 1, do_fork },
};

static void act(void)
{
	unsigned int total = 0, at, i;

	for (i = 0; i < ARRAY_LEN(actions); i++)
		total += actions[i].weight;
	at = draw(total);
	for (i = 0; at >= actions[i].weight; i++)
		at -= actions[i].weight;
	actions[i].run();
}

/* Leave nothing in hand; of private channels there is nothing at this point. */
static void leave(void)
{
	struct held *held;

	while ((held = draw_held(0)))
		acknowledge(held);
}

/* A process of its own, with the channels of the thread that forked it. */
static void run_fork(struct process *process)
{
	struct worker worker = *me;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	worker.process = process;
	worker.reader = &process->readers[0];
	worker.seed += getpid();
	me = &worker;
	for (unsigned int n = 100; n && !soak->stop; n--)
		act();
	leave();
	process->pid = 0;
	_exit(0);
}

/* The place is taken first; whoever dies before it has a pid leaves it taken. */
static void do_fork(void)
{
	struct process *process = &soak->processes[WORKERS + draw(PROCESSES - WORKERS)];
	pid_t none = 0, pid;

	/* A child of a child would have more than one reader to be entered for. */
	if (me->process >= &soak->processes[WORKERS] ||
	    !atomic_compare_exchange_strong(&process->pid, &none, -getpid()))
		return;
	pid = fork();
	if (pid < 0) {
		process->pid = 0;
		return;
	}
	if (!pid) {
		process->pid = getpid();
		run_fork(process);
	}
	soak->counters[C_FORKED]++;
}

static void *run(void *arg)
{
	me = arg;
	for (unsigned int i = 0; i < CHANNELS; i++)
		me->fds[i] = fcntl(common[i], F_DUPFD_CLOEXEC, 0);
	while (!soak->stop)
		act();
	leave();
	return NULL;
}

void work(struct process *process)
{
	struct worker workers[THREADS];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGCHLD, SIG_IGN);
	/* The kernel's threads come first, or rdma_cm gets nothing done. */
	nice(19);
	for (unsigned int i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){
			.process = process,
			.reader = &process->readers[i],
			.seed = getpid() * THREADS + i,
		};
		if (pthread_create(&workers[i].pthread, NULL, run, &workers[i]))
			abort();
	}
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(workers[i].pthread, NULL);
	process->pid = 0;
	_exit(0);
}
