// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The fake kernel.  One lock and one condition for everything.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmx.h"
#include "fake.h"
#include "fake_service.h"

#define FAKE_IDS 4096
#define FAKE_FDS 4096
#define FAKE_FIRST_FD 1000
#define FAKE_RECORDS 128

static struct fake_id {
	int owner;
	uint64_t cookie;
	bool moving;
	bool joined;
	uint8_t gid[16];
} ids[FAKE_IDS];

static struct fake_record {
	uint64_t bytes[CMX_RECORD_MAX / sizeof(uint64_t)];
	size_t size;
} records[FAKE_RECORDS];

static unsigned int records_brought, records_read;
static bool unclaimed[FAKE_IDS];
static int outstanding;
static int disconnects;
static unsigned int cancel_after;
static int read_error;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static enum fake_point hold_at, held_at;
static bool jitter;
static bool open_fds[FAKE_FDS];
static bool shut_fds[FAKE_FDS];
static int last_fd;
static uint32_t last_id;
_Atomic bool fake_misused;

void fake_hold(enum fake_point point)
{
	pthread_mutex_lock(&lock);
	hold_at = point;
	pthread_mutex_unlock(&lock);
}

void fake_wait_held(void)
{
	pthread_mutex_lock(&lock);
	while (!held_at)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

void fake_release(void)
{
	pthread_mutex_lock(&lock);
	held_at = FAKE_RUN;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

void fake_jitter(bool on)
{
	pthread_mutex_lock(&lock);
	jitter = on;
	pthread_mutex_unlock(&lock);
}

int fake_owner(uint32_t handle)
{
	int owner;

	pthread_mutex_lock(&lock);
	owner = ids[handle].owner;
	pthread_mutex_unlock(&lock);
	return owner;
}

void fake_make(int fd, uint32_t handle, bool claimed)
{
	pthread_mutex_lock(&lock);
	ids[handle].owner = fd;
	unclaimed[handle] = !claimed;
	pthread_mutex_unlock(&lock);
}

bool fake_is_open(int fd)
{
	bool is_open;

	pthread_mutex_lock(&lock);
	is_open = open_fds[fd - FAKE_FIRST_FD];
	pthread_mutex_unlock(&lock);
	return is_open;
}

bool fake_is_shut(int fd)
{
	bool is_shut;

	pthread_mutex_lock(&lock);
	is_shut = shut_fds[fd - FAKE_FIRST_FD];
	pthread_mutex_unlock(&lock);
	return is_shut;
}

/* Called with the lock held. */
static void bring(const void *record, size_t size)
{
	if (records_brought == FAKE_RECORDS)
		abort();
	memcpy(records[records_brought].bytes, record, size);
	records[records_brought++].size = size;
}

void fake_bring(const void *record, size_t size)
{
	pthread_mutex_lock(&lock);
	bring(record, size);
	pthread_mutex_unlock(&lock);
}

void fake_cancel_reader(unsigned int reads)
{
	pthread_mutex_lock(&lock);
	cancel_after = reads;
	pthread_mutex_unlock(&lock);
}

void fake_fail_read(int error)
{
	pthread_mutex_lock(&lock);
	read_error = error;
	pthread_mutex_unlock(&lock);
}

int fake_outstanding(void)
{
	int ret;

	pthread_mutex_lock(&lock);
	ret = outstanding;
	pthread_mutex_unlock(&lock);
	return ret;
}

int fake_disconnects(void)
{
	int ret;

	pthread_mutex_lock(&lock);
	ret = disconnects;
	pthread_mutex_unlock(&lock);
	return ret;
}

/* Called with the lock held, which it drops now and then. */
static void linger(void)
{
	static __thread unsigned int seed;

	if (!jitter)
		return;
	if (!seed)
		seed = (uintptr_t)&seed >> 6;
	pthread_mutex_unlock(&lock);
	switch (rand_r(&seed) % 8) {
	case 0:
		usleep(rand_r(&seed) % 100);
		break;
	case 1:
	case 2:
		sched_yield();
		break;
	}
	pthread_mutex_lock(&lock);
}

static void stop_at(enum fake_point point, const struct fake_id *id)
{
	if (hold_at != point)
		return;
	hold_at = FAKE_RUN;
	held_at = point;
	pthread_cond_broadcast(&changed);
	while (held_at && (!id || point != FAKE_DRAIN || id->owner))
		pthread_cond_wait(&changed, &lock);
	held_at = FAKE_RUN;
}

static struct fake_id *find(int fd, uint32_t handle)
{
	if (!handle || handle >= FAKE_IDS || ids[handle].owner != fd) {
		errno = ENOENT;
		return NULL;
	}
	return &ids[handle];
}

static int create(int fd, struct rdma_ucmx_create_id *command)
{
	if (last_id + 1 >= FAKE_IDS)
		return cmx_error(ENOSPC);
	command->out_id = ++last_id;
	ids[last_id].owner = fd;
	ids[last_id].cookie = command->cookie;
	return 0;
}

static int destroy(int fd, const struct rdma_ucmx_destroy_id *command)
{
	struct fake_id *id = find(fd, command->id);

	if (!id)
		return -1;
	id->owner = 0;
	pthread_cond_broadcast(&changed);
	return 0;
}

static int migrate(int fd, const struct rdma_ucmx_migrate_id *command)
{
	struct fake_id *id = find(fd, command->id);

	if (!id)
		return -1;
	if (id->moving)
		return cmx_error(EBUSY);
	id->moving = true;
	linger();
	stop_at(FAKE_DRAIN, id);
	id->moving = false;
	if (!id->owner)
		return cmx_error(ECANCELED);
	if (!open_fds[command->target_fd - FAKE_FIRST_FD])
		fake_misused = true;
	id->owner = command->target_fd;
	linger();
	stop_at(FAKE_COMMITTED, id);
	return 0;
}

static int notify(int fd, const struct rdma_ucmx_notify *command)
{
	if (!find(fd, command->id))
		return -1;
	return command->event == FAKE_NOTIFY_ENOENT ? cmx_error(ENOENT) : 0;
}

/* Whatever the address, it is the same group. */
static int join(int fd, struct rdma_ucmx_join_mcast *command)
{
	struct fake_id *id = find(fd, command->id);

	if (!id)
		return -1;
	if (id->joined)
		return cmx_error(EADDRINUSE);
	id->joined = true;
	command->out_group = FAKE_GROUP;
	return 0;
}

/* Something is unacknowledged, it may be of the group. */
static int leave(int fd, const struct rdma_ucmx_leave_mcast *command)
{
	struct fake_id *id = find(fd, command->id);

	if (!id)
		return -1;
	if (command->group != FAKE_GROUP)
		return cmx_error(ENOENT);
	id->joined = false;
	return command->deadline && outstanding ? cmx_error(ETIMEDOUT) : 0;
}

static int write_event(int fd, const struct rdma_ucmx_write_event *command)
{
	const struct fake_id *id = find(fd, command->id);
	struct {
		struct rdma_ucmx_event head;
		uint64_t arg;
	} record = {
		.head.size = sizeof(record),
		.head.event = command->event,
		.head.status = command->status,
		.head.seq = 1000,
		.head.id = command->id,
		.head.sections = RDMA_UCMX_EVENT_ARG,
		.arg = command->arg,
	};

	if (!id)
		return -1;
	record.head.cookie = id->cookie;
	bring(&record, sizeof(record));
	return 0;
}

static int bind_addr(int fd, const struct rdma_ucmx_bind_addr *command)
{
	struct fake_id *id = find(fd, command->id);

	if (!id)
		return -1;
	/* It knows of no other addresses. */
	if (command->addr.family != AF_IB || !fake_has_subnets())
		return cmx_error(ENOTTY);
	memcpy(id->gid, &command->addr.data[6], sizeof(id->gid));
	return 0;
}

static int resolve_service(int fd, const struct rdma_ucmx_resolve_ib_service *command)
{
	const struct fake_id *id = find(fd, command->id);
	struct fake_answer answer;

	if (!id || fake_serve(id->gid, command, &answer))
		return -1;
	answer.head.cookie = id->cookie;
	bring(&answer, sizeof(answer));
	stop_at(FAKE_BEGUN, NULL);
	return 0;
}

static int ack(const struct rdma_ucmx_ack_events *command)
{
	outstanding -= command->count;
	return command->count;
}

/*
 * What an event follows, if a test brings it.  Of addresses and connections this
 * kernel knows nothing: such a command is taken only where a test stops at it.
 */
static int begin(int fd, unsigned long request, void *argument)
{
	int ret = 0;

	switch (request) {
	case RDMA_UCMX_DISCONNECT:
		disconnects++;
		break;
	case RDMA_UCMX_JOIN_MCAST:
		ret = join(fd, argument);
		break;
	case RDMA_UCMX_WRITE_EVENT:
		ret = write_event(fd, argument);
		break;
	default:
		ret = hold_at == FAKE_BEGUN ? 0 : cmx_error(ENOTTY);
		break;
	}
	if (!ret)
		stop_at(FAKE_BEGUN, NULL);
	return ret;
}

static int command_of(int fd, unsigned long request, void *argument)
{
	switch (request) {
	case RDMA_UCMX_RESOLVE_ADDR:
	case RDMA_UCMX_RESOLVE_ROUTE:
	case RDMA_UCMX_CONNECT:
	case RDMA_UCMX_ACCEPT:
	case RDMA_UCMX_DISCONNECT:
	case RDMA_UCMX_JOIN_MCAST:
	case RDMA_UCMX_WRITE_EVENT:
		return begin(fd, request, argument);
	case RDMA_UCMX_BIND_ADDR:
		return bind_addr(fd, argument);
	case RDMA_UCMX_RESOLVE_IB_SERVICE:
		return resolve_service(fd, argument);
	case RDMA_UCMX_QUERY:
		return 0;
	case RDMA_UCMX_CREATE_ID:
		return create(fd, argument);
	case RDMA_UCMX_DESTROY_ID:
		return destroy(fd, argument);
	case RDMA_UCMX_MIGRATE_ID:
		return migrate(fd, argument);
	case RDMA_UCMX_NOTIFY:
		return notify(fd, argument);
	case RDMA_UCMX_LEAVE_MCAST:
		return leave(fd, argument);
	case RDMA_UCMX_ACK_EVENTS:
		return ack(argument);
	case RDMA_UCMX_SHUTDOWN:
		shut_fds[fd - FAKE_FIRST_FD] = true;
		return 0;
	case RDMA_UCMX_INFO:
		stop_at(FAKE_QUERY, NULL);
		return 0;
	default:
		return cmx_error(ENOTTY);
	}
}

int cmx_sys_command(int fd, unsigned long request, void *argument)
{
	int ret, saved;

	pthread_mutex_lock(&lock);
	if (!open_fds[fd - FAKE_FIRST_FD])
		fake_misused = true;
	linger();
	ret = command_of(fd, request, argument);
	saved = errno;
	linger();
	pthread_mutex_unlock(&lock);
	errno = saved;
	return ret;
}

/* Numbers are not used again, so that a use after closing is noticed. */
int cmx_sys_open(void)
{
	int fd = -1;

	pthread_mutex_lock(&lock);
	if (last_fd < FAKE_FDS) {
		open_fds[last_fd] = true;
		fd = FAKE_FIRST_FD + last_fd++;
	}
	pthread_mutex_unlock(&lock);
	return fd < 0 ? cmx_error(EMFILE) : fd;
}

/* Ids of a channel go with it. */
void cmx_sys_close(int fd)
{
	int i;

	pthread_mutex_lock(&lock);
	if (!open_fds[fd - FAKE_FIRST_FD])
		fake_misused = true;
	open_fds[fd - FAKE_FIRST_FD] = false;
	for (i = 0; i < FAKE_IDS; i++)
		if (ids[i].owner == fd)
			ids[i].owner = 0;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

bool cmx_sys_id_info(int fd, uint32_t handle, struct rdma_ucmx_id_info *info)
{
	memset(info, 0, sizeof(*info));
	info->id = handle;
	info->state = unclaimed[handle] ? RDMA_UCMX_ID_UNCLAIMED : 0;
	return fake_owner(handle) == fd;
}

void cmx_sys_close_on_exec(int fd)
{
	(void)fd;
}

bool cmx_sys_owns(int fd, uint32_t handle)
{
	return fake_owner(handle) == fd;
}

/* As O_NONBLOCK, which serves here. */
ssize_t cmx_sys_read(int fd, void *buffer, size_t size)
{
	const struct fake_record *record = NULL;
	bool cancel;
	int error;

	(void)fd;
	pthread_testcancel();
	pthread_mutex_lock(&lock);
	stop_at(FAKE_READ, NULL);
	cancel = cancel_after && !--cancel_after;
	error = read_error;
	read_error = 0;
	if (!error && records_read < records_brought) {
		record = &records[records_read++];
		if (record->size > size)
			abort();
		memcpy(buffer, record->bytes, record->size);
		outstanding++;
		linger();
		stop_at(FAKE_HAVE_READ, NULL);
	}
	pthread_mutex_unlock(&lock);
	if (cancel) {
		pthread_cancel(pthread_self());
		pthread_testcancel();
	}
	return record ? (ssize_t)record->size : cmx_error(error ?: EAGAIN);
}

/* Records that were brought, as many as are wanted and there. */
int cmx_sys_read_events(int fd, void *buffer, size_t size, unsigned int max)
{
	unsigned int count = 0;
	size_t used = 0;
	bool cancel;

	(void)fd;
	pthread_mutex_lock(&lock);
	cancel = cancel_after && !--cancel_after;
	while (count < max && records_read < records_brought &&
	       records[records_read].size <= size - used) {
		memcpy((char *)buffer + used, records[records_read].bytes,
		       records[records_read].size);
		used += records[records_read++].size;
		outstanding++;
		count++;
	}
	if (count)
		stop_at(FAKE_HAVE_READ, NULL);
	pthread_mutex_unlock(&lock);
	if (cancel) {
		pthread_cancel(pthread_self());
		pthread_testcancel();
	}
	return count ? (int)count : cmx_error(EAGAIN);
}

int cmx_sys_ack(int fd, uint32_t handle, uint64_t seq)
{
	(void)fd;
	(void)handle;
	(void)seq;
	pthread_mutex_lock(&lock);
	outstanding--;
	pthread_mutex_unlock(&lock);
	return 0;
}

int cmx_sys_destroy(int fd, uint32_t handle)
{
	struct rdma_ucmx_destroy_id command = { .id = handle };
	int ret;

	pthread_mutex_lock(&lock);
	ret = destroy(fd, &command);
	pthread_mutex_unlock(&lock);
	return ret;
}
