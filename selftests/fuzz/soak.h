/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The soak: many processes of many threads that read, acknowledge, write,
 * migrate, connect, destroy, fork, pass channels on and are killed while the
 * device comes and goes, and an account of every event.
 *
 * soak.c starts, kills and replaces workers, and in the end does the sums;
 * worker.c has what workers do; account.c what is known of every event.
 *
 * The account lies in memory that all share, and the kernel copies the records
 * right into it.  So when a reader is killed it is known which events it has
 * taken with it: those in its buffer that it has not entered yet, and those that it
 * has entered and not acknowledged.
 */
#ifndef SELFTESTS_SOAK_H
#define SELFTESTS_SOAK_H

#include <stdatomic.h>

#include "../scene.h"

/* Channels that everybody has, all the time. */
#define CHANNELS 6
/* Stands for a channel that somebody made for himself, and that may close. */
#define PRIVATE CHANNELS

/* Processes that are kept running, and room for those besides that they fork. */
#define WORKERS 10
#define PROCESSES 20
#define THREADS 3

/* An id is given up long before it has had so many events. */
#define SEQS 512
#define SEQS_ENOUGH 200
/* Handles count up; they do not get around this in a soak. */
#define ACCOUNTS (1 << 17)
#define IDS 64
#define PORTS 4

/* How far an event has come: the lower part of an entry. */
enum {
	UNSEEN,
	DELIVERED,
	ACKNOWLEDGING,
	ACKNOWLEDGED,
	PROGRESS = 3,
};

/* The rest of an entry: where it was delivered. */
#define ENTRY(progress, channel) ((progress) | (channel) << 2)
#define ENTRY_CHANNEL(entry) ((entry) >> 2)

struct account {
	_Atomic __u32 id;
	/* Highest number that was delivered. */
	_Atomic __u32 latest;
	/* Who has destroyed it, or is about to; or it may be by a close. */
	atomic_uint destroyed;
	/* Events written: calls that began, that succeeded; and delivered. */
	atomic_uint begun;
	atomic_uint written;
	atomic_uint delivered;
	_Atomic __u8 events[SEQS];
};

/* An event that was delivered and not acknowledged. */
struct held {
	_Atomic __u32 id;
	__u32 channel;
	__u64 seq;
};

#define HELD (RDMA_UCMX_READ_MIN / sizeof(struct rdma_ucmx_event) * 2)

/* A thread that reads. */
struct reader {
	/* Where the kernel copies to, and how much of it has been entered. */
	char records[RDMA_UCMX_READ_MIN] __attribute__((aligned(8)));
	_Atomic __u32 entered;
	_Atomic __u32 channel;
	struct held held[HELD];
};

struct process {
	_Atomic pid_t pid;
	struct reader readers[THREADS];
};

enum counter {
	C_DELIVERED,
	C_ACKNOWLEDGED,
	C_DEAD_UNENTERED,
	C_DEAD_HELD,
	C_CREATED,
	C_CONNECTED,
	C_MIGRATED,
	C_MIGRATED_HOLDING,
	C_ANNOUNCED,
	C_DESTROYED,
	C_WRITTEN,
	C_PASSED,
	C_RECEIVED,
	C_FORKED,
	C_KILLED,
	C_REMOVED,
	COUNTERS,
};

struct soak {
	atomic_bool stop;
	atomic_uint violations;
	atomic_uint counters[COUNTERS];
	struct process processes[PROCESSES];
	/* Handle above, channel below. */
	_Atomic __u64 ids[IDS];
	_Atomic __u16 ports[PORTS];
	struct account accounts[ACCOUNTS];
};

extern struct soak *soak;
/* The channels that everybody has; and where channels are passed on. */
extern int common[CHANNELS];
extern int post[2];

/* A violation of what the kernel promises. */
void violated(const char *what, __u32 id, __u64 seq, int detail);

struct account *account(__u32 id);
/* Read from a channel once, enter what came, and call @react for each event. */
void account_read(struct reader *reader, int fd, __u32 channel,
		  void (*react)(int fd, const struct event *ev));
/* Acknowledge an event that is held, as its holder. */
void account_ack(struct held *held, int fd);
/* The same, as part of a command: before it, and after it. */
void account_ack_begin(struct held *held);
void account_ack_end(struct held *held, bool acknowledged);
/* Enter what a dead reader took, and acknowledge it. */
void account_bury(struct reader *reader);

/* What a process does until it is to stop. */
void work(struct process *process);

#endif /* SELFTESTS_SOAK_H */
