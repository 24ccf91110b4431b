// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Sequences that have broken this kind of code, see Documentation/testing.rst:
 * those whose trouble is two threads at one id, or an id that is not yet
 * anybody's (1, 3, 4).  Meanwhile the ids are listed, again and again (11).
 */
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "call.h"
#include "every.h"
#include "guess.h"
#include "racer.h"
#include "scene.h"
#include "test.h"

FIXTURE(sequence) {
	int source;
	int target;
	int client;
};

FIXTURE_SETUP(sequence)
{
	self->source = channel_open_nonblock();
	self->target = channel_open_nonblock();
	self->client = channel_open_nonblock();
	ASSERT_LE(0, self->source);
	ASSERT_LE(0, self->target);
	ASSERT_LE(0, self->client);
	test_ok(watch_start());
}

FIXTURE_TEARDOWN(sequence)
{
	EXPECT_LT(0, watch_stop());
	EXPECT_EQ(0, channel_clear(self->source));
	if (self->target >= 0)
		EXPECT_EQ(0, channel_clear(self->target));
	EXPECT_EQ(0, channel_clear(self->client));
	close(self->source);
	close(self->target);
	close(self->client);
}

static int race_target;

static int migrate_there(int fd, __u32 id)
{
	return cmd_migrate_id(fd, id, race_target);
}

static int read_here(int fd, __u32 id)
{
	char record[RDMA_UCMX_READ_MIN];
	struct event ev;
	ssize_t size = read(fd, record, sizeof(record));

	if (size < 0)
		return -1;
	if (event_parse(record, size, &ev) != size || ev.head.id != id) {
		errno = EPROTO;
		return -1;
	}
	return cmd_ack(fd, id, ev.head.seq);
}

/* Then the target is closed, with the id on it or without. */
TEST_F(sequence, seq01_destroy_against_migrate_then_close)
{
	struct racer racer;
	unsigned int moved = 0;
	int ret, error;
	__u32 id;

	test_ok(racer_start(&racer));
	for (unsigned int round = 0; round < scaled(200); round++) {
		race_target = channel_open_nonblock();
		ASSERT_LE(0, race_target);
		test_ok(id_with_pending(self->source, &id));
		ret = race(&racer, self->source, id, cmd_destroy_id, migrate_there);
		error = errno;
		/* It is destroyed, or it was moved before. */
		EXPECT_TRUE(!ret || error == ENOENT);
		EXPECT_TRUE(!racer.result || racer.error == ENOENT ||
			    racer.error == ECANCELED);
		if (ret)
			EXPECT_EQ(0, racer.result);
		moved += !racer.result;
		EXPECT_EQ(ret ? 1 : 0, channel_ids(race_target));
		EXPECT_EQ(0, channel_ids(self->source));
		test_ok(close(race_target));
	}
	test_ok(racer_stop(&racer));
	TH_LOG("%u moved", moved);
}

/* The event is read before, or it is on the target after. */
TEST_F(sequence, seq01_migrate_against_read)
{
	struct racer racer;
	struct event ev;
	__u32 id;

	race_target = self->target;
	test_ok(racer_start(&racer));
	for (unsigned int round = 0; round < scaled(200); round++) {
		test_ok(id_with_pending(self->source, &id));
		test_ok(race(&racer, self->source, id, migrate_there, read_here));
		if (racer.result) {
			EXPECT_EQ(EAGAIN, racer.error);
			test_ok(event_take(self->target, EV_ADDR_RESOLVED, id));
		}
		test_err(EAGAIN, event_read_now(self->source, &ev));
		test_err(EAGAIN, event_read_now(self->target, &ev));
		test_ok(cmd_destroy_id(self->target, id));
	}
	test_ok(racer_stop(&racer));
}

/*
 * Each with each, and the same twice, on one id that has an address or a route;
 * where everything is slow, a part of them.
 */
TEST_F(sequence, seq01_any_two_commands_on_one_id)
{
	unsigned int i, j, step = 12 / scaled(12);
	struct racer racer;
	__u32 id;

	test_ok(racer_start(&racer));
	for (i = 0; i < num_every; i++) {
		for (j = i; j < num_every; j += step) {
			test_ok(id_resolved(self->source, ADDR1, 7, &id));
			if ((i + j / step) % 2) {
				test_ok(cmd_resolve_route(self->source, id));
				ASSERT_TRUE(wait_until(readable(self->source)));
			}
			race(&racer, self->source, id, every_command[i].run,
			     every_command[j].run);
			/* Whatever it came to, then it can be destroyed. */
			EXPECT_EQ(0, channel_clear(self->source)) {
				TH_LOG("%s, %s", every_command[i].name,
				       every_command[j].name);
			}
		}
	}
	test_ok(racer_stop(&racer));
}

/* The child has a handle already, and nobody who guesses it gets anywhere. */
TEST_F(sequence, seq03_guessed_child_of_an_unread_request)
{
	__u32 listener, client, unread;
	struct guess guess;
	struct event ev;
	__u16 port;

	test_ok(listener_open(self->source, ADDR1, 4, &listener, &port));
	test_ok(guess_next(self->source, &guess));
	test_ok(client_connect(self->client, ADDR1, port, &client));
	ASSERT_TRUE(wait_until(id_has_pending(self->source, listener, 1)));
	/* On the listener's channel, the client's, and one of nobody. */
	for (unsigned int i = 0; i < guess.n; i++) {
		unread = guess.handle[i];
		if (unread == client)
			continue;
		for (unsigned int j = 0; j < num_every; j++) {
			test_err(ENOENT, every_command[j].run(self->source, unread));
			test_err(ENOENT, every_command[j].run(self->client, unread));
			test_err(ENOENT, every_command[j].run(self->target, unread));
		}
	}
	test_ok(event_expect(self->source, EV_CONNECT_REQUEST, &ev));
	EXPECT_TRUE(guess_has(&guess, ev.head.id));
	test_ok(event_ack(self->source, &ev));
	test_ok(child_accept(self->source, &ev, 0));
	test_ok(event_take(self->client, EV_ANSWER, client));
}

TEST_F(sequence, seq03_listener_moved_its_channel_closed_then_destroyed)
{
	struct event ev;
	__u32 listener, clients[3];
	__u16 port;
	int old;

	for (unsigned int round = 0; round < scaled(20); round++) {
		old = channel_open_nonblock();
		ASSERT_LE(0, old);
		test_ok(listener_open(old, round % 2 ? ADDR1 : "0.0.0.0", 4,
				      &listener, &port));
		test_ok(clients_connect(self->client, ADDR1, port, 3, clients));
		ASSERT_TRUE(wait_until(id_has_pending(old, listener, 3)));
		test_ok(cmd_migrate_id(old, listener, self->target));
		test_ok(close(old));
		EXPECT_EQ(4, channel_ids(self->target));
		/* One is read, and stays; two go with the listener. */
		test_ok(event_expect(self->target, EV_CONNECT_REQUEST, &ev));
		test_ok(event_ack(self->target, &ev));
		test_ok(cmd_destroy_id(self->target, listener));
		EXPECT_TRUE(wait_until(channel_ids(self->target) == 1));
		test_ok(cmd_destroy_id(self->target, ev.head.id));
		for (unsigned int i = 0; i < 3; i++) {
			test_ok(event_expect(self->client, EV_REJECTED, &ev));
			test_ok(event_ack(self->client, &ev));
		}
		test_ok(channel_clear(self->client));
	}
}

/* Somebody who uses ids before those who create them know their handles. */
struct guesser {
	pthread_t thread;
	int fd;
	_Atomic __u32 next;
	atomic_bool stop;
	atomic_uint rounds;
};

/* Every other time to destroy them, since that can be seen. */
static const struct every *next_command(struct guesser *guesser)
{
	unsigned int round = guesser->rounds++;

	return &every_command[round % 2 ? round / 2 % num_every : num_every - 1];
}

static void *guesser_main(void *arg)
{
	struct guesser *guesser = arg;
	const struct every *command;

	while (!guesser->stop) {
		command = next_command(guesser);
		for (unsigned int i = 0; i < GUESSES; i++)
			command->run(guesser->fd, guesser->next + i * GUESS_TABLES);
	}
	return NULL;
}

/* Creates some ids, and destroys them; returns how many were gone, or -1. */
static int create_some(int fd, struct guesser *guesser)
{
	__u32 ids[GUESSES];
	unsigned int i;
	int gone = 0;

	for (i = 0; i < GUESSES; i++) {
		if (cmd_create_id(fd, PS_TCP, 0, &ids[i]))
			return -1;
	}
	guesser->next = ids[GUESSES - 1] + GUESS_TABLES;
	for (i = 0; i < GUESSES; i++) {
		if (!cmd_destroy_id(fd, ids[i]))
			continue;
		if (errno != ENOENT)
			return -1;
		gone++;
	}
	return gone;
}

#define ROUNDS_MAX 20000

/* On the very channel, so that an id can be met as soon as it is one. */
TEST_F(sequence, seq04_commands_on_ids_whose_create_has_not_returned)
{
	struct guesser guesser = { .fd = self->source };
	unsigned int round, met = 0;
	int ret;
	__u32 id;

	ASSERT_EQ(0, pthread_create(&guesser.thread, NULL, guesser_main, &guesser));
	test_ok(guess_stay());
	test_ok(cmd_create_id(self->source, PS_TCP, 0, &id));
	guesser.next = id + GUESS_TABLES;
	ASSERT_TRUE(wait_until(guesser.rounds));
	for (round = 0; round < scaled(200) || (!met && round < ROUNDS_MAX); round++) {
		ret = create_some(self->source, &guesser);
		ASSERT_LE(0, ret);
		met += ret;
	}
	guesser.stop = true;
	ASSERT_EQ(0, pthread_join(guesser.thread, NULL));
	TH_LOG("%u met in %u rounds", met, round);
	EXPECT_LT(0, met);
}

/* The page of an argument can be read, and not be written. */
static int unwritable(int fd, unsigned long number, const void *arg, size_t size)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int ret, error;

	if (page == MAP_FAILED)
		return 0;
	memcpy(page, arg, size);
	ret = mprotect(page, 4096, PROT_READ) ? 0 : ioctl(fd, number, page);
	error = errno;
	munmap(page, 4096);
	errno = error;
	return ret;
}

/* And a second thread waits for the ids that are never born. */
TEST_F(sequence, seq04_create_whose_answer_cannot_be_written)
{
	struct rdma_ucmx_create_id create = {
		.size = sizeof(create), .port_space = PS_TCP, .qp_type = QPT_RC,
	};
	struct guesser guesser = { .fd = self->source };
	__u32 id;

	ASSERT_EQ(0, pthread_create(&guesser.thread, NULL, guesser_main, &guesser));
	test_ok(guess_stay());
	test_ok(cmd_create_id(self->target, PS_TCP, 0, &id));
	guesser.next = id + GUESS_TABLES;
	for (unsigned int round = 0; round < scaled(400); round++) {
		test_err(EFAULT, unwritable(self->source, RDMA_UCMX_CREATE_ID,
					    &create, sizeof(create)));
		guesser.next += GUESS_TABLES;
	}
	guesser.stop = true;
	ASSERT_EQ(0, pthread_join(guesser.thread, NULL));
	EXPECT_EQ(0, channel_ids(self->source));
}

/* A failed read consumes nothing; what has no answer needs no room for it. */
TEST_F(sequence, seq04_read_acknowledge_and_migrate_with_unwritable_memory)
{
	struct rdma_ucmx_migrate_id migrate = {
		.size = sizeof(migrate), .target_fd = self->target,
	};
	struct rdma_ucmx_ack_events acks = { .size = sizeof(acks), .count = 1 };
	struct rdma_ucmx_ack ack = {};
	struct event ev;
	void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, page);
	test_ok(id_with_pending(self->source, &migrate.id));
	test_err(EFAULT, read(self->source, page, 4096));
	EXPECT_TRUE(id_has_pending(self->source, migrate.id, 1));
	test_ok(event_expect(self->source, EV_ADDR_RESOLVED, &ev));
	EXPECT_EQ(1, ev.head.seq);
	ack.id = migrate.id;
	ack.seq = 1;
	acks.acks = 8;
	test_err(EFAULT, ioctl(self->source, RDMA_UCMX_ACK_EVENTS, &acks));
	acks.acks = (uintptr_t)&ack;
	EXPECT_EQ(1, unwritable(self->source, RDMA_UCMX_ACK_EVENTS, &acks, sizeof(acks)));
	test_err(EFAULT, ioctl(self->source, RDMA_UCMX_MIGRATE_ID, 8));
	EXPECT_TRUE(id_is_on(self->source, migrate.id));
	test_ok(unwritable(self->source, RDMA_UCMX_MIGRATE_ID, &migrate, sizeof(migrate)));
	EXPECT_TRUE(id_is_on(self->target, migrate.id));
	munmap(page, 4096);
}

TEST_HARNESS_MAIN
