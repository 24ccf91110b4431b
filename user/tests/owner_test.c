// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Does a command find the channel that owns its id, whatever is being moved?
 * Over a fake kernel that stops migrations where it matters.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "cmx.h"
#include "fake.h"
#include "test.h"

enum { MOVERS = 4, CALLERS = 4, CHANNELS = 4, MOVES = 2000 };

/* A migration in a thread of its own. */
struct mover {
	pthread_t thread;
	struct rdma_cm_id *id;
	struct rdma_event_channel *channel;
	int ret;
	int error;
};

static void *move(void *argument)
{
	struct mover *mover = argument;

	mover->ret = rdma_migrate_id(mover->id, mover->channel);
	mover->error = errno;
	return NULL;
}

/* Begin a migration and return when it has come to a point. */
static void move_until(struct mover *mover, enum fake_point point,
		       struct rdma_cm_id *id,
		       struct rdma_event_channel *channel)
{
	mover->id = id;
	mover->channel = channel;
	fake_hold(point);
	pthread_create(&mover->thread, NULL, move, mover);
	fake_wait_held();
}

static void move_end(struct mover *mover)
{
	fake_release();
	pthread_join(mover->thread, NULL);
}

FIXTURE(owner)
{
	struct rdma_event_channel *channel[CHANNELS];
	struct rdma_cm_id *id;
	struct mover mover;
};

FIXTURE_SETUP(owner)
{
	int i;

	for (i = 0; i < CHANNELS; i++)
		self->channel[i] = rdma_create_event_channel();
	ASSERT_EQ(0, rdma_create_id(self->channel[0], &self->id, NULL,
				    RDMA_PS_TCP));
}

FIXTURE_TEARDOWN(owner)
{
	EXPECT_FALSE(fake_misused);
}

static bool is_on(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
	uint32_t handle = cmx_id_of(id)->handle;

	return id->channel == channel &&
	       &cmx_id_of(id)->channel->channel == channel &&
	       fake_owner(handle) == channel->fd;
}

TEST_F(owner, migrates)
{
	ASSERT_EQ(0, rdma_migrate_id(self->id, self->channel[1]));
	ASSERT_TRUE(is_on(self->id, self->channel[1]));
	ASSERT_EQ(0, rdma_migrate_id(self->id, self->channel[1]));
	ASSERT_TRUE(is_on(self->id, self->channel[1]));
	ASSERT_EQ(0, rdma_notify(self->id, 0));
}

TEST_F(owner, is_found_while_it_waits)
{
	move_until(&self->mover, FAKE_DRAIN, self->id, self->channel[1]);
	EXPECT_EQ(0, rdma_notify(self->id, 0));
	EXPECT_EQ(-1, rdma_migrate_id(self->id, self->channel[2]));
	EXPECT_EQ(EBUSY, errno);
	move_end(&self->mover);
	EXPECT_EQ(0, self->mover.ret);
	EXPECT_TRUE(is_on(self->id, self->channel[1]));
}

TEST_F(owner, is_found_after_the_commit)
{
	move_until(&self->mover, FAKE_COMMITTED, self->id, self->channel[1]);
	EXPECT_EQ(self->channel[0], self->id->channel);
	EXPECT_EQ(0, rdma_notify(self->id, 0));
	move_end(&self->mover);
	EXPECT_TRUE(is_on(self->id, self->channel[1]));
}

/* The later migration returns first; the earlier must not undo it. */
TEST_F(owner, late_result_of_a_migration_there)
{
	move_until(&self->mover, FAKE_COMMITTED, self->id, self->channel[1]);
	EXPECT_EQ(0, rdma_migrate_id(self->id, self->channel[2]));
	EXPECT_TRUE(is_on(self->id, self->channel[2]));
	move_end(&self->mover);
	EXPECT_EQ(0, self->mover.ret);
	EXPECT_TRUE(is_on(self->id, self->channel[2]));
}

TEST_F(owner, late_result_of_a_migration_there_and_back)
{
	move_until(&self->mover, FAKE_COMMITTED, self->id, self->channel[1]);
	EXPECT_EQ(0, rdma_migrate_id(self->id, self->channel[0]));
	move_end(&self->mover);
	EXPECT_TRUE(is_on(self->id, self->channel[0]));
}

/* Two came and went before the one that was issued first got its turn. */
TEST_F(owner, result_that_is_the_latest_all_the_same)
{
	move_until(&self->mover, FAKE_COMMITTED, self->id, self->channel[1]);
	EXPECT_EQ(0, rdma_migrate_id(self->id, self->channel[0]));
	EXPECT_EQ(0, rdma_migrate_id(self->id, self->channel[1]));
	EXPECT_EQ(0, rdma_migrate_id(self->id, self->channel[3]));
	EXPECT_EQ(0, rdma_migrate_id(self->id, self->channel[1]));
	move_end(&self->mover);
	EXPECT_TRUE(is_on(self->id, self->channel[1]));
}

TEST_F(owner, event_is_read_before_the_result)
{
	move_until(&self->mover, FAKE_COMMITTED, self->id, self->channel[1]);
	cmx_id_seen_on(cmx_id_of(self->id), cmx_channel_of(self->channel[1]),
		       NULL);
	EXPECT_TRUE(is_on(self->id, self->channel[1]));
	move_end(&self->mover);
	EXPECT_TRUE(is_on(self->id, self->channel[1]));
}

TEST_F(owner, event_is_read_before_the_migration)
{
	move_until(&self->mover, FAKE_DRAIN, self->id, self->channel[1]);
	cmx_id_seen_on(cmx_id_of(self->id), cmx_channel_of(self->channel[0]),
		       NULL);
	move_end(&self->mover);
	EXPECT_TRUE(is_on(self->id, self->channel[1]));
}

TEST_F(owner, destroyed_while_it_waits)
{
	struct cmx_id *id = cmx_id_of(self->id);

	cmx_id_get(id);
	move_until(&self->mover, FAKE_DRAIN, self->id, self->channel[1]);
	EXPECT_EQ(0, rdma_destroy_id(self->id));
	pthread_join(self->mover.thread, NULL);
	EXPECT_EQ(-1, self->mover.ret);
	EXPECT_EQ(ECANCELED, self->mover.error);
	EXPECT_EQ(-1, rdma_notify(&id->id, 0));
	EXPECT_EQ(ENOENT, errno);
	cmx_id_put(id);
}

TEST_F(owner, destroyed_after_the_commit)
{
	uint32_t handle = cmx_id_of(self->id)->handle;

	move_until(&self->mover, FAKE_COMMITTED, self->id, self->channel[1]);
	EXPECT_EQ(0, rdma_destroy_id(self->id));
	EXPECT_EQ(0, fake_owner(handle));
	move_end(&self->mover);
	EXPECT_EQ(0, self->mover.ret);
}

/* Nobody else would close the channel that it was to have for itself. */
TEST_F(owner, destroyed_after_it_became_synchronous)
{
	uint32_t handle = cmx_id_of(self->id)->handle;
	int fd;

	move_until(&self->mover, FAKE_COMMITTED, self->id, NULL);
	fd = fake_owner(handle);
	EXPECT_EQ(0, rdma_destroy_id(self->id));
	EXPECT_TRUE(fake_is_open(fd));
	move_end(&self->mover);
	EXPECT_FALSE(fake_is_open(fd));
}

/* The descriptor stays open for the migration, and commands still find it. */
TEST_F(owner, source_is_destroyed_while_it_waits)
{
	int fd = self->channel[0]->fd;

	move_until(&self->mover, FAKE_DRAIN, self->id, self->channel[1]);
	rdma_destroy_event_channel(self->channel[0]);
	EXPECT_TRUE(fake_is_open(fd));
	EXPECT_EQ(0, rdma_notify(self->id, 0));
	move_end(&self->mover);
	EXPECT_EQ(0, self->mover.ret);
	EXPECT_FALSE(fake_is_open(fd));
	EXPECT_TRUE(is_on(self->id, self->channel[1]));
}

TEST_F(owner, target_is_destroyed_while_it_waits)
{
	int fd = self->channel[1]->fd;

	move_until(&self->mover, FAKE_DRAIN, self->id, self->channel[1]);
	rdma_destroy_event_channel(self->channel[1]);
	EXPECT_TRUE(fake_is_open(fd));
	move_end(&self->mover);
	EXPECT_EQ(0, self->mover.ret);
	EXPECT_FALSE(fake_is_open(fd));
	EXPECT_EQ(-1, rdma_notify(self->id, 0));
	EXPECT_EQ(EBADF, errno);
	EXPECT_EQ(0, rdma_destroy_id(self->id));
}

TEST_F(owner, channel_is_destroyed_before_its_id)
{
	rdma_destroy_event_channel(self->channel[0]);
	EXPECT_EQ(-1, rdma_notify(self->id, 0));
	EXPECT_EQ(EBADF, errno);
	EXPECT_EQ(-1, rdma_migrate_id(self->id, self->channel[1]));
	EXPECT_EQ(EBADF, errno);
	EXPECT_EQ(0, rdma_destroy_id(self->id));
}

/* rdma_cm has nothing of that name; the id is there. */
TEST_F(owner, not_found_by_rdma_cm)
{
	EXPECT_EQ(-1, rdma_notify(self->id, FAKE_NOTIFY_ENOENT));
	EXPECT_EQ(ENOENT, errno);
	move_until(&self->mover, FAKE_DRAIN, self->id, self->channel[1]);
	EXPECT_EQ(-1, rdma_notify(self->id, FAKE_NOTIFY_ENOENT));
	EXPECT_EQ(ENOENT, errno);
	move_end(&self->mover);
	move_until(&self->mover, FAKE_COMMITTED, self->id, self->channel[2]);
	EXPECT_EQ(-1, rdma_notify(self->id, FAKE_NOTIFY_ENOENT));
	EXPECT_EQ(ENOENT, errno);
	move_end(&self->mover);
	EXPECT_EQ(0, rdma_notify(self->id, 0));
}

static void *query(void *channel)
{
	struct rdmax_channel_info info;

	return (void *)(intptr_t)rdmax_query_channel(channel, &info,
						     sizeof(info));
}

/* Its descriptor and its memory are there as long as the call is. */
TEST_F(owner, channel_is_destroyed_under_a_call)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	int fd = channel->fd;
	pthread_t thread;
	void *ret;

	fake_hold(FAKE_QUERY);
	pthread_create(&thread, NULL, query, channel);
	fake_wait_held();
	rdma_destroy_event_channel(channel);
	EXPECT_TRUE(fake_is_open(fd));
	fake_release();
	pthread_join(thread, &ret);
	EXPECT_EQ(NULL, ret);
	EXPECT_FALSE(fake_is_open(fd));
}

/* A child of fork() has none of the other threads that are in here. */
TEST_F(owner, channel_is_destroyed_by_a_forked_process)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	int fd = channel->fd, status = -1;
	pthread_t thread;
	pid_t child;
	void *ret;

	fake_hold(FAKE_QUERY);
	pthread_create(&thread, NULL, query, channel);
	fake_wait_held();
	/* As if this were what another thread is about, too. */
	pthread_mutex_lock(&cmx_channel_of(channel)->adopt_lock);
	child = fork();
	if (!child) {
		if (pthread_mutex_trylock(&cmx_channel_of(channel)->adopt_lock))
			_exit(2);
		pthread_mutex_unlock(&cmx_channel_of(channel)->adopt_lock);
		rdma_destroy_event_channel(channel);
		_exit(fake_is_open(fd) || fake_misused);
	}
	EXPECT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_TRUE(fake_is_open(fd));
	pthread_mutex_unlock(&cmx_channel_of(channel)->adopt_lock);
	fake_release();
	pthread_join(thread, &ret);
	EXPECT_EQ(NULL, ret);
	rdma_destroy_event_channel(channel);
	EXPECT_FALSE(fake_is_open(fd));
}

/* Nor would a call end there whose channel was destroyed meanwhile. */
TEST_F(owner, forked_while_a_destroyed_channel_is_used)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	int fd = channel->fd, status = -1;
	pthread_t thread;
	pid_t child;
	void *ret;

	fake_hold(FAKE_QUERY);
	pthread_create(&thread, NULL, query, channel);
	fake_wait_held();
	rdma_destroy_event_channel(channel);
	child = fork();
	if (!child)
		_exit(fake_is_open(fd) || fake_misused);
	EXPECT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_TRUE(fake_is_open(fd));
	fake_release();
	pthread_join(thread, &ret);
	EXPECT_EQ(NULL, ret);
	EXPECT_FALSE(fake_is_open(fd));
}

TEST_F(owner, migration_with_wrong_arguments)
{
	struct timespec wrong[] = { { 1, -1 }, { 1, 1000000000 }, { 0, -1 } };
	int i;

	for (i = 0; i < 3; i++) {
		EXPECT_EQ(-1, rdmax_migrate_id(self->id, self->channel[1], NULL,
					       0, &wrong[i]));
		EXPECT_EQ(EINVAL, errno);
	}
	EXPECT_EQ(-1, rdma_migrate_id(NULL, self->channel[1]));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_TRUE(is_on(self->id, self->channel[0]));
	EXPECT_EQ(0, rdma_migrate_id(self->id, NULL));
	EXPECT_EQ(-1, rdma_migrate_id(self->id, NULL));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(0, rdma_migrate_id(self->id, self->channel[0]));
	EXPECT_TRUE(is_on(self->id, self->channel[0]));
}

/*
 * What librdmacm made: the same structs with other members behind them, and
 * not ours to touch.
 */
TEST_F(owner, another_librarys)
{
	struct {
		struct rdma_cm_id id;
		uint64_t private[32];
	} id;
	struct {
		struct rdma_event_channel channel;
		uint32_t private[16];
	} channel;
	struct rdmax_channel_info info;
	unsigned int byte;

	for (byte = 0; byte < 256; byte++) {
		memset(&id, byte, sizeof(id));
		memset(&channel, byte, sizeof(channel));
		EXPECT_EQ(-1, rdmax_migrate_id(&id.id, self->channel[1], NULL,
					       0, NULL));
		EXPECT_EQ(EXDEV, errno);
		EXPECT_EQ(-1, rdmax_migrate_id(self->id, &channel.channel, NULL,
					       0, NULL));
		EXPECT_EQ(EXDEV, errno);
		EXPECT_EQ(-1, rdmax_query_channel(&channel.channel, &info,
						  sizeof(info)));
		EXPECT_EQ(EXDEV, errno);
	}
}

/* Everything at once. */
struct crowd {
	pthread_t thread;
	struct rdma_cm_id *id;
	struct rdma_event_channel **channel;
	atomic_bool *stop;
	unsigned int seed;
	unsigned int done;
	unsigned int failed;
};

static void *crowd_move(void *argument)
{
	struct crowd *self = argument;
	int i, to;

	for (i = 0; i < MOVES; i++) {
		to = rand_r(&self->seed) % CHANNELS;
		if (!rdma_migrate_id(self->id, self->channel[to]))
			self->done++;
		else if (errno != EBUSY)
			self->failed++;
	}
	return NULL;
}

static void *crowd_call(void *argument)
{
	struct crowd *self = argument;

	while (!*self->stop) {
		if (rdma_notify(self->id, 0))
			self->failed++;
		self->done++;
	}
	return NULL;
}

TEST_F(owner, is_found_by_a_crowd)
{
	struct crowd crowd[MOVERS + CALLERS];
	atomic_bool stop = false;
	int i;

	fake_jitter(true);
	for (i = 0; i < MOVERS + CALLERS; i++) {
		crowd[i] = (struct crowd){ .id = self->id,
					   .channel = self->channel,
					   .stop = &stop,
					   .seed = i + 1 };
		pthread_create(&crowd[i].thread, NULL,
			       i < MOVERS ? crowd_move : crowd_call, &crowd[i]);
	}
	for (i = 0; i < MOVERS + CALLERS; i++) {
		if (i == MOVERS)
			stop = true;
		pthread_join(crowd[i].thread, NULL);
		EXPECT_EQ(0, crowd[i].failed);
		EXPECT_NE(0, crowd[i].done);
	}
	fake_jitter(false);
	EXPECT_TRUE(is_on(self->id, cmx_id_of(self->id)->id.channel));
	EXPECT_EQ(NULL, cmx_id_of(self->id)->moves);
}

TEST_HARNESS_MAIN
