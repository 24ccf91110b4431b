/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the parts of migrate_demo share.
 *
 *   migrate_demo.c   from beginning to end
 *   options.c        the command line
 *   acts.c           what happens, act by act
 *   server.c         the acceptor and the workers: read, accept, hand over
 *   client.c         the connections that come in
 *   reader.c         an event channel and the thread that reads it
 *   task.c           calls that may never return
 *   ledger.c         who owns what, and what was read where
 *   report.c         the account at the end
 *   screen.c         the table and everything that is printed
 *
 * One lock, ledger.lock, protects all that is known about connections and
 * readers; ledger.changed is signalled when any of it changes.  No call into
 * librdmacm is made under it.
 */
#ifndef MIGRATE_DEMO_H
#define MIGRATE_DEMO_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <rdma/rdma_cma.h>

/* The acceptor, the workers, and one for all the clients. */
enum { WORKERS = 4, READERS = 1 + WORKERS + 1 };

/* What every connection must bring, each exactly once, at the one end... */
enum event_kind {
	SERVER_REQUEST,
	SERVER_ESTABLISHED,
	SERVER_DISCONNECTED,
	/* ... and at the other. */
	CLIENT_ADDRESS,
	CLIENT_ROUTE,
	CLIENT_ESTABLISHED,
	CLIENT_DISCONNECTED,
	EVENT_KINDS
};

struct options {
	const char *address;
	unsigned int connections;
	unsigned int hold;	/* ms that the slow worker sits on its event */
	unsigned int patience;	/* ms without any progress, then give up */
	bool live;
	const char *result;
	const char *library;	/* whose rdma_migrate_id() it is */
};

/**
 * struct reader - an event channel and the thread that reads it
 * @name: what a person calls it
 * @index: as reader_number() counts
 * @drain: reads and handles what is there
 * @channel: read only by @thread
 * @nudge: eventfd that wakes the thread without an event
 * @thread: the only one that reads @channel
 * @stop: the thread is to end
 * @ended: it has
 * @busy: it is not to read, events are to queue up
 * @nudged: it was woken by @nudge alone: what it finds now, nobody told it of
 * @doing: what it does at the moment, for the table
 * @events: read so far
 * @unacknowledged: of these, not yet acknowledged
 */
struct reader {
	const char *name;
	unsigned int index;
	void (*drain)(struct reader *reader);
	struct rdma_event_channel *channel;
	int nudge;
	pthread_t thread;
	bool stop, ended, busy, nudged;
	const char *doing;
	unsigned int events, unacknowledged;
};

/**
 * struct end - one rdma_cm_id, as the ledger sees it
 * @id: the id, whose context points here
 * @connection: what it is an end of; NULL for the listener
 * @owner: the reader whose channel owns it
 * @target: where a migration that is under way takes it, or NULL
 * @arrived: an event of it was read on @target already
 * @moving_since: when that migration was called
 * @moved: when the last one was over
 * @took: how long it took, ns
 * @early: it returned while the source's reader still held an event
 * @held: events of it that were read and not yet acknowledged, by reader
 */
struct end {
	struct rdma_cm_id *id;
	struct connection *connection;
	struct reader *owner, *target;
	bool arrived, early;
	uint64_t moving_since, moved, took;
	unsigned int held[READERS];
};

/**
 * struct connection - from a client to the server
 * @number: its own, which it sends along
 * @client: the client's end
 * @server: the server's end, once its request was read
 * @home: the worker that is to have it
 * @slow: that worker will sit on its ESTABLISHED
 * @sent: its request has been sent
 * @message: the message that its client sent has arrived
 * @seen: how often each event was read
 */
struct connection {
	unsigned int number;
	struct end client, server;
	struct reader *home;
	bool slow, sent, message;
	unsigned int seen[EVENT_KINDS];
};

/**
 * struct ledger - all that is known
 * @progress: goes up with everything that happens
 * @misplaced: events read on a channel that did not own their id
 * @overtaken: events read while another reader still held one of that id
 * @disordered: events read before the one that comes before them
 * @unexpected: events that no connection should bring
 * @late: events found only because the program told the reader to look
 * @latest: how long the one that waited longest had been there, ns
 * @failed: calls that failed
 * @failure: the first of them, in words
 * @early: migrations that returned while an event was still in hand
 * @migrations: that returned
 * @listener_migrations: of these, the listener's
 * @longest: time spent in the one that took longest, ns
 * @stuck: migrations that did not return
 * @undestroyed: ids whose destroy did not return
 */
struct ledger {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct connection *connections;
	unsigned int count;
	struct end listener;
	unsigned int progress;
	unsigned int misplaced, overtaken, disordered, unexpected;
	unsigned int late;
	uint64_t latest;
	unsigned int failed;
	char failure[80];
	unsigned int migrations, listener_migrations, early;
	uint64_t longest;
	unsigned int stuck, undestroyed;
};

extern struct options options;
extern struct ledger ledger;
extern struct reader acceptor, workers[WORKERS], clients;

static inline uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * UINT64_C(1000000000) + time.tv_nsec;
}

/* ledger.c */
void ledger_open(unsigned int connections);
void ledger_read(struct reader *reader, struct end *end,
		 struct connection *connection, enum event_kind kind,
		 const struct rdma_cm_event *event);
void ledger_unexpected(struct reader *reader, const struct rdma_cm_event *event);
void ledger_acknowledge(struct reader *reader, struct end *end);
void ledger_sent(struct connection *connection);
void ledger_failed(const char *call);
void ledger_move_begin(struct end *end, struct reader *target);
void ledger_move_end(struct end *end, int error);
bool ledger_wait(bool (*done)(const void *), const void *what);
unsigned int ledger_held(const struct end *end);
void ledger_pause(unsigned int ms);

/* task.c */
struct task;
struct task *task_start(int (*run)(void *, void *), void *first, void *second);
bool task_finish(struct task *task, int *error);
struct task *move_start(struct end *end, struct reader *target);
bool move_finish(struct end *end, struct task *task);
bool move(struct end *end, struct reader *target);
bool destroy(struct end *end);

/* reader.c */
void readers_open(void);
struct rdma_cm_event *reader_next(struct reader *reader);
void reader_acknowledge(struct reader *reader, struct end *end,
			struct rdma_cm_event *event);
void reader_set_busy(struct reader *reader, bool busy);
void reader_nudge(struct reader *reader);
void readers_nudge(void);
bool readers_close(void);
struct reader *reader_number(unsigned int i);

/* server.c */
void server_open(void);
void server_drain(struct reader *reader);
void server_let_go(void);
bool server_is_sitting(void);
void server_take_messages(void);

/* client.c */
void client_open(unsigned int from, unsigned int to);
void client_drain(struct reader *reader);
void client_disconnect(unsigned int from, unsigned int to);

/* options.c */
void options_parse(int argc, char **argv);

/* acts.c */
void perform(void);

/* report.c */
bool report(void);

/* screen.c */
void screen_open(void);
void screen_close(void);
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
void screen_show(void);

#endif /* MIGRATE_DEMO_H */
