// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The account of every event: each is delivered once, those of an id in order,
 * none on another channel before the one before it was acknowledged, and can be
 * acknowledged by who holds it.
 *
 * A reader may be killed between any two instructions here.  So an event is
 * first noted as held, then entered, then passed over in the buffer; and an
 * acknowledgement is noted before it is made.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "soak.h"

struct soak *soak;

/* By this thread, of the ids that it saw last. */
static __thread struct {
	__u32 id;
	__u64 seq;
} latest[1024];

void violated(const char *what, __u32 id, __u64 seq, int detail)
{
	soak->violations++;
	dprintf(1, "# VIOLATION: %s: id %u, event %llu, detail %d, errno %d\n",
		what, id, seq, detail, errno);
}

struct account *account(__u32 id)
{
	struct account *account = &soak->accounts[id % ACCOUNTS];
	__u32 none = 0;

	if (!atomic_compare_exchange_strong(&account->id, &none, id) && none != id)
		violated("a handle comes back too soon", id, 0, none);
	return account;
}

/* These may overtake others of their id. */
static bool may_overtake(const struct event *ev)
{
	return ev->head.event == EV_ARRIVED || ev->head.event == EV_DEVICE_REMOVAL;
}

static __u32 owner_of(const struct event *ev)
{
	return ev->head.listen_id ?: ev->head.id;
}

static void check_order(const struct event *ev)
{
	__u32 id = owner_of(ev), i = id % ARRAY_LEN(latest);

	if (may_overtake(ev))
		return;
	if (latest[i].id == id && ev->head.seq <= latest[i].seq)
		violated("out of order", id, ev->head.seq, latest[i].seq);
	latest[i].id = id;
	latest[i].seq = ev->head.seq;
}

/* A migration is a barrier for all that were read before. */
static void check_barrier(struct account *account, const struct event *ev, __u32 channel)
{
	__u8 before = account->events[ev->head.seq - 1];

	if (channel != PRIVATE && (before & PROGRESS) == DELIVERED &&
	    ENTRY_CHANNEL(before) != PRIVATE && ENTRY_CHANNEL(before) != channel)
		violated("delivered before the last one was acknowledged elsewhere",
			 account->id, ev->head.seq, ENTRY_CHANNEL(before));
}

static void raise_latest(struct account *account, __u32 seq)
{
	__u32 old = account->latest;

	while (old < seq && !atomic_compare_exchange_weak(&account->latest, &old, seq))
		;
}

/* @again: it is held already, so it may have been entered by the same reader. */
static void enter(const struct event *ev, __u32 channel, bool again)
{
	struct account *of = account(owner_of(ev));
	__u8 seen = UNSEEN;

	if (!ev->head.seq || ev->head.seq >= SEQS) {
		violated("more events than the account has room for", of->id, ev->head.seq, 0);
		return;
	}
	if (!atomic_compare_exchange_strong(&of->events[ev->head.seq], &seen,
					    ENTRY(DELIVERED, channel))) {
		if (!again)
			violated("delivered twice", of->id, ev->head.seq, seen);
		return;
	}
	/* A child is where its request was read, and closes with that. */
	if (ev->head.listen_id && channel == PRIVATE)
		account(ev->head.id)->destroyed++;
	check_barrier(of, ev, channel);
	raise_latest(of, ev->head.seq);
	of->delivered += ev->head.event == EV_USER;
	soak->counters[C_DELIVERED]++;
}

static struct held *find_held(struct reader *reader, __u32 id, __u64 seq)
{
	for (unsigned int i = 0; i < HELD; i++) {
		struct held *held = &reader->held[i];

		if (held->id == id && (!id || held->seq == seq))
			return held;
	}
	return NULL;
}

static void hold(struct reader *reader, const struct event *ev, __u32 channel)
{
	struct held *held = find_held(reader, 0, 0);

	if (!held) {
		violated("more events held than there is room for", owner_of(ev),
			 ev->head.seq, 0);
		return;
	}
	held->channel = channel;
	held->seq = ev->head.seq;
	held->id = owner_of(ev);
}

void account_read(struct reader *reader, int fd, __u32 channel,
		  void (*react)(int fd, const struct event *ev))
{
	static __thread unsigned int round;
	size_t size = sizeof(reader->records) - round++ % 2;
	struct event ev;
	ssize_t length;

	/* In this order: what is left of it is always entered or empty. */
	memset(reader->records, 0, sizeof(reader->records));
	atomic_thread_fence(memory_order_seq_cst);
	reader->entered = 0;
	reader->channel = channel;
	length = read(fd, reader->records, size);
	if (length < 0 && errno != EAGAIN && errno != EINTR)
		violated("a read fails", 0, 0, channel);
	while (length > 0) {
		ssize_t parsed = event_parse(reader->records + reader->entered, length, &ev);

		if (parsed < 0) {
			violated("a record contradicts itself", 0, 0, length);
			return;
		}
		check_order(&ev);
		hold(reader, &ev, channel);
		enter(&ev, channel, false);
		reader->entered += parsed;
		length -= parsed;
		react(fd, &ev);
	}
}

/* How far an event has come; it stays where it was delivered. */
static void advance(struct held *held, __u8 progress)
{
	_Atomic __u8 *entry = &account(held->id)->events[held->seq % SEQS];

	*entry = (*entry & ~PROGRESS) | progress;
}

void account_ack_begin(struct held *held)
{
	advance(held, ACKNOWLEDGING);
}

void account_ack_end(struct held *held, bool acknowledged)
{
	advance(held, acknowledged ? ACKNOWLEDGED : DELIVERED);
	if (!acknowledged)
		return;
	soak->counters[C_ACKNOWLEDGED]++;
	held->id = 0;
}

/* Nobody else acknowledges it, so this must succeed. */
void account_ack(struct held *held, int fd)
{
	account_ack_begin(held);
	if (cmd_ack(fd, held->id, held->seq))
		violated("a held event cannot be acknowledged", held->id, held->seq, held->channel);
	account_ack_end(held, true);
}

/*
 * The dead
 */

static void bury_unentered(struct reader *reader)
{
	struct event ev;
	ssize_t parsed;
	__u32 size;

	for (;;) {
		if (reader->entered + sizeof(ev.head) > sizeof(reader->records))
			return;
		memcpy(&size, reader->records + reader->entered, sizeof(size));
		if (!size)
			return;
		parsed = event_parse(reader->records + reader->entered,
				     sizeof(reader->records) - reader->entered, &ev);
		if (parsed < 0) {
			violated("a dead reader's record contradicts itself", 0, 0, size);
			return;
		}
		if (find_held(reader, owner_of(&ev), ev.head.seq)) {
			enter(&ev, reader->channel, true);
		} else {
			hold(reader, &ev, reader->channel);
			enter(&ev, reader->channel, false);
		}
		reader->entered += parsed;
		soak->counters[C_DEAD_UNENTERED]++;
	}
}

/* Anybody who has the channel can acknowledge. */
static void bury_held(struct held *held)
{
	__u8 progress = account(held->id)->events[held->seq % SEQS] & PROGRESS;

	soak->counters[C_DEAD_HELD]++;
	if (progress == DELIVERED && held->channel != PRIVATE) {
		account_ack(held, common[held->channel]);
		return;
	}
	/* Whether the command that was to do it has come so far is not known. */
	if (progress == ACKNOWLEDGING && held->channel != PRIVATE)
		cmd_ack(common[held->channel], held->id, held->seq);
	advance(held, ACKNOWLEDGED);
	held->id = 0;
}

void account_bury(struct reader *reader)
{
	bury_unentered(reader);
	memset(reader->records, 0, sizeof(reader->records));
	reader->entered = 0;
	for (unsigned int i = 0; i < HELD; i++) {
		if (reader->held[i].id)
			bury_held(&reader->held[i]);
	}
}
