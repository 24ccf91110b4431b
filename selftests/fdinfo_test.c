// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Looking in from outside: what fdinfo says of a channel.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "call.h"
#include "fdinfo.h"
#include "scene.h"
#include "test.h"

#define EXPECT_FDINFO(fd, n_ids, n_pending, n_outstanding, n_waiters) do {	\
	EXPECT_EQ(n_ids, fdinfo(fd, "ucmx-ids:\t"));			\
	EXPECT_EQ(n_pending, fdinfo(fd, "ucmx-pending:\t"));		\
	EXPECT_EQ(n_outstanding, fdinfo(fd, "ucmx-outstanding:\t"));	\
	EXPECT_EQ(n_waiters, fdinfo(fd, "ucmx-waiters:\t"));		\
} while (0)

/* The event that was read first, of those that are outstanding. */
#define EXPECT_OLDEST(fd, ev) do {					\
	char _line[128], _text[1024];					\
									\
	snprintf(_line, sizeof(_line),					\
		 "ucmx-oldest:\tid %u seq %llu event %u reader %d age_ms ", \
		 (ev)->head.id, (ev)->head.seq, (ev)->head.event, getpid()); \
	test_ok(fdinfo_read(fd, _text, sizeof(_text)));			\
	EXPECT_NE(NULL, strstr(_text, _line)) {				\
		TH_LOG("expected \"%s\", got \"%s\"", _line, _text);	\
	}								\
} while (0)

#define EXPECT_NO_OLDEST(fd) \
	EXPECT_EQ(-1, fdinfo(fd, "ucmx-oldest:\tid "))

FIXTURE(fdinfo) {
	int source;
	int target;
};

FIXTURE_SETUP(fdinfo)
{
	self->source = channel_open();
	self->target = channel_open();
	ASSERT_LE(0, self->source);
	ASSERT_LE(0, self->target);
}

FIXTURE_TEARDOWN(fdinfo)
{
	close(self->source);
	close(self->target);
}

TEST_F(fdinfo, c05_a_fresh_channel)
{
	EXPECT_FDINFO(self->source, 0, 0, 0, 0);
	EXPECT_NO_OLDEST(self->source);
	EXPECT_LT(0, fdinfo(self->source, "ucmx-channel:\t"));
	EXPECT_NE(fdinfo(self->source, "ucmx-channel:\t"),
		  fdinfo(self->target, "ucmx-channel:\t"));
}

TEST_F(fdinfo, c05_counts_and_the_oldest)
{
	struct event first, second;
	__u32 a, b;

	test_ok(id_with_pending(self->source, &a));
	test_ok(id_with_pending(self->source, &b));
	EXPECT_FDINFO(self->source, 2, 2, 0, 0);
	EXPECT_NO_OLDEST(self->source);
	test_ok(event_read(self->source, &first));
	test_ok(event_read(self->source, &second));
	EXPECT_FDINFO(self->source, 2, 0, 2, 0);
	EXPECT_OLDEST(self->source, &first);
	test_ok(event_ack(self->source, &first));
	EXPECT_FDINFO(self->source, 2, 0, 1, 0);
	EXPECT_OLDEST(self->source, &second);
	test_ok(event_ack(self->source, &second));
	EXPECT_FDINFO(self->source, 2, 0, 0, 0);
	EXPECT_NO_OLDEST(self->source);
}

TEST_F(fdinfo, c05_age_is_the_time_since_it_was_read)
{
	__u64 before, after;
	struct event ev;
	long age;
	__u32 id;

	test_ok(id_with_pending(self->source, &id));
	before = now_ns();
	test_ok(event_read(self->source, &ev));
	ASSERT_TRUE(wait_until(fdinfo(self->source, "age_ms ") > 0));
	age = fdinfo(self->source, "age_ms ");
	after = now_ns();
	EXPECT_LE(age * 1000000ULL, after - before);
}

TEST_F(fdinfo, c05_a_failed_copy_takes_nothing)
{
	void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	__u32 id;

	ASSERT_NE(MAP_FAILED, page);
	test_ok(id_with_pending(self->source, &id));
	test_err(EFAULT, read(self->source, page, 4096));
	EXPECT_FDINFO(self->source, 1, 1, 0, 0);
	EXPECT_NO_OLDEST(self->source);
	test_ok(event_take(self->source, EV_ADDR_RESOLVED, id));
	munmap(page, 4096);
}

TEST_F(fdinfo, c08_who_waits)
{
	struct call call = {};
	__u32 id;

	test_ok(id_with_outstanding(self->source, &id));
	test_ok(call_start_migrate(&call, self->source, id, self->target));
	ASSERT_TRUE(fdinfo_somebody_waits(self->source));
	EXPECT_FDINFO(self->source, 1, 0, 1, 1);
	EXPECT_FDINFO(self->target, 1, 0, 0, 0);
	test_ok(cmd_ack(self->source, id, 1));
	test_ok(call_result(&call));
	EXPECT_FDINFO(self->source, 0, 0, 0, 0);
	EXPECT_FDINFO(self->target, 1, 0, 0, 0);
	EXPECT_NO_OLDEST(self->source);
}

/* Ended by a signal, so that there was a wait, however slow the machine is. */
TEST_F(fdinfo, c08_who_waited_in_vain)
{
	struct call migrate = {}, destroy = { .fd = self->source };

	count_signals(SIGUSR1, 0);
	test_ok(id_with_outstanding(self->source, &destroy.id));
	test_ok(call_start_migrate(&migrate, self->source, destroy.id,
				   self->target));
	ASSERT_TRUE(fdinfo_somebody_waits(self->source));
	call_signal(&migrate, SIGUSR1);
	test_err(EINTR, call_result(&migrate));
	EXPECT_FDINFO(self->source, 1, 0, 1, 0);
	call_start(&destroy, run_destroy);
	ASSERT_TRUE(fdinfo_somebody_waits(self->source));
	call_signal(&destroy, SIGUSR1);
	test_err(EINTR, call_result(&destroy));
	EXPECT_FDINFO(self->source, 1, 0, 1, 0);
	test_ok(cmd_ack(self->source, destroy.id, 1));
	EXPECT_FDINFO(self->source, 0, 0, 0, 0);
}

/*
 * It is read while what it tells of changes
 */

#define WORKERS 2
/* Of one id, on each of its two channels half of them. */
#define EVENTS 32

struct worker {
	pthread_t thread;
	int source;
	int target;
	atomic_bool *stop;
	unsigned int rounds;
	unsigned int wrong;
};

/* Whosever event it is, it is acknowledged before this worker reads another. */
static int take_one(int fd)
{
	struct event ev;

	if (event_read_now(fd, &ev))
		return errno == EAGAIN ? 0 : -1;
	return event_ack(fd, &ev);
}

static int write_and_take(int fd, __u32 id)
{
	for (int i = 0; i < EVENTS / 2; i++) {
		if (cmd_write_event(fd, id, EV_USER, 0, 0) || take_one(fd))
			return -1;
	}
	return 0;
}

/* The life of an id; migrating and destroying wait for what the others hold. */
static int round_trip(struct worker *worker)
{
	__u32 id;

	if (cmd_create_id(worker->source, PS_TCP, 0, &id) ||
	    write_and_take(worker->source, id) ||
	    cmd_migrate_id(worker->source, id, worker->target) ||
	    write_and_take(worker->target, id))
		return -1;
	return cmd_destroy_id(worker->target, id);
}

static void *work(void *arg)
{
	struct worker *worker = arg;

	do {
		worker->wrong += round_trip(worker) != 0;
		worker->rounds++;
	} while (!*worker->stop);
	return NULL;
}

/* One reading, and the oldest event that is outstanding if there is one. */
struct reading {
	unsigned int channel;
	unsigned int ids;
	unsigned int pending;
	unsigned int outstanding;
	unsigned int waiters;
	bool oldest;
	unsigned int id;
	unsigned long long seq;
	unsigned int event;
	int reader;
	long long age_ms;
};

/* Of this form, to the last letter. */
static bool reading_parse(const char *text, struct reading *reading)
{
	int end = 0;

	memset(reading, 0, sizeof(*reading));
	text = strstr(text, "ucmx-channel:");
	if (!text || sscanf(text, "ucmx-channel:\t%u\nucmx-ids:\t%u\n"
			    "ucmx-pending:\t%u\nucmx-outstanding:\t%u\n"
			    "ucmx-waiters:\t%u\n%n", &reading->channel,
			    &reading->ids, &reading->pending,
			    &reading->outstanding, &reading->waiters, &end) != 5)
		return false;
	text += end;
	reading->oldest = *text;
	if (!reading->oldest)
		return true;
	return sscanf(text, "ucmx-oldest:\tid %u seq %llu event %u reader %d age_ms %lld\n%n",
		      &reading->id, &reading->seq, &reading->event,
		      &reading->reader, &reading->age_ms, &end) == 5 &&
	       !text[end];
}

/* What there can be, of these workers; what was counted is what was found. */
static bool reading_is_sound(const struct reading *reading, __u64 since)
{
	if (reading->ids > WORKERS || reading->pending > WORKERS * EVENTS ||
	    reading->outstanding > WORKERS || reading->waiters > WORKERS ||
	    reading->oldest != !!reading->outstanding)
		return false;
	return !reading->oldest ||
	       (reading->id && reading->seq >= 1 && reading->seq <= EVENTS &&
		reading->event == EV_USER && reading->reader == getpid() &&
		reading->age_ms >= 0 &&
		reading->age_ms * 1000000ULL <= now_ns() - since);
}

/* Through a descriptor that stays open, each reading is made anew. */
static ssize_t look(int fd, char *text, size_t size)
{
	ssize_t len = pread(fd, text, size - 1, 0);

	text[len > 0 ? len : 0] = 0;
	return len;
}

static int look_open(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	return open(path, O_RDONLY | O_CLOEXEC);
}

TEST(c05_read_while_all_changes)
{
	int fds[2] = { channel_open_nonblock(), channel_open_nonblock() };
	int infos[2] = { look_open(fds[0]), look_open(fds[1]) };
	struct worker workers[WORKERS];
	unsigned int n = 0, oldest = 0, unsound = 0;
	__u64 start = now_ns();
	atomic_bool stop = false;
	struct reading reading;
	char text[1024];
	int i;

	ASSERT_LE(0, infos[0]);
	ASSERT_LE(0, infos[1]);
	for (i = 0; i < WORKERS; i++) {
		workers[i] = (struct worker){
			.source = fds[0], .target = fds[1], .stop = &stop,
		};
		ASSERT_EQ(0, pthread_create(&workers[i].thread, NULL, work,
					    &workers[i]));
	}
	/* Until there was enough to be seen, with patience. */
	while ((n < scaled(20000) || !oldest) &&
	       now_ns() - start < PATIENCE_MS * 1000000ULL) {
		if (look(infos[n++ % 2], text, sizeof(text)) <= 0 ||
		    !reading_parse(text, &reading) ||
		    !reading_is_sound(&reading, start)) {
			if (!unsound++)
				TH_LOG("reading %u: \"%s\"", n, text);
		}
		oldest += reading.oldest;
	}
	stop = true;
	for (i = 0; i < WORKERS; i++) {
		ASSERT_EQ(0, pthread_join(workers[i].thread, NULL));
		EXPECT_EQ(0, workers[i].wrong);
	}
	TH_LOG("%u readings, %u with an outstanding event; ids: %u, %u", n,
	       oldest, workers[0].rounds, workers[1].rounds);
	EXPECT_EQ(0, unsound);
	EXPECT_LT(0, oldest);
	for (i = 0; i < 2; i++) {
		EXPECT_FDINFO(fds[i], 0, 0, 0, 0);
		close(infos[i]);
		close(fds[i]);
	}
}

TEST_HARNESS_MAIN
