// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What tests of the extension need around what they test, see cmx_scene.h.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <unistd.h>

#include <arpa/inet.h>

#include <rdma/rdma_ucmx.h>

#include "cmx_scene.h"
#include "lib_scene.h"

struct timespec after_ms(int ms)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	time.tv_nsec += ms * 1000000L;
	time.tv_sec += time.tv_nsec / 1000000000;
	time.tv_nsec %= 1000000000;
	return time;
}

static struct sockaddr_in device_address(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(7471),
	};

	inet_pton(AF_INET, ADDR1, &address.sin_addr);
	return address;
}

int id_resolve(struct rdma_cm_id *id)
{
	struct sockaddr_in address = device_address();

	return rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, 10000);
}

bool id_comes_to(struct rdma_cm_id *id, uint32_t state)
{
	struct rdmax_id_info info;
	int ms;

	for (ms = patience_ms(); ms > 0; ms--) {
		if (!rdmax_query_id(id, &info, sizeof(info)) &&
		    info.state & state)
			return true;
		usleep(1000);
	}
	return false;
}

uint32_t channel_ids(struct rdma_event_channel *channel)
{
	struct rdmax_channel_info info;

	if (rdmax_query_channel(channel, &info, sizeof(info)))
		return ~0U;
	return info.ids;
}

uint32_t channel_outstanding(struct rdma_event_channel *channel)
{
	struct rdmax_channel_info info;

	if (rdmax_query_channel(channel, &info, sizeof(info)))
		return ~0U;
	return info.outstanding;
}

int events_write(struct rdma_cm_id *id, uint64_t first, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		if (rdma_write_cm_event(id, RDMA_CM_EVENT_USER, 0, first + i))
			return -1;
	}
	return 0;
}

int events_read(struct rdma_event_channel *channel,
		struct rdma_cm_event **events, int n)
{
	int ret, used = 0;

	while (used < n) {
		if (!event_comes(channel)) {
			errno = ETIME;
			return -1;
		}
		ret = rdmax_get_cm_events(channel, events + used, n - used);
		if (ret < 0)
			return -1;
		used += ret;
	}
	return 0;
}

uint32_t foreign_create(struct rdma_event_channel *channel, uint64_t cookie)
{
	struct rdma_ucmx_create_id command = {
		.size = sizeof(command),
		.cookie = cookie,
		.port_space = RDMA_PS_TCP,
	};

	return ioctl(channel->fd, RDMA_UCMX_CREATE_ID, &command) ?
		       0 : command.out_id;
}

uint32_t foreign_resolve(struct rdma_event_channel *channel, uint64_t cookie)
{
	struct sockaddr_in address = device_address();
	struct rdma_ucmx_resolve_addr command = {
		.size = sizeof(command),
		.id = foreign_create(channel, cookie),
		.timeout_ms = 10000,
	};

	memcpy(&command.dst_addr, &address, sizeof(address));
	return ioctl(channel->fd, RDMA_UCMX_RESOLVE_ADDR, &command) ?
		       0 : command.id;
}

int foreign_write(struct rdma_event_channel *channel, uint32_t handle,
		  uint64_t arg)
{
	struct rdma_ucmx_write_event command = {
		.size = sizeof(command),
		.id = handle,
		.event = RDMA_UCMX_EVENT_TYPE_USER,
		.arg = arg,
	};

	return ioctl(channel->fd, RDMA_UCMX_WRITE_EVENT, &command);
}

_Atomic int alarms;

static void on_alarm(int number)
{
	(void)number;
	alarms++;
}

void alarm_repeatedly(int flags)
{
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = flags };
	struct itimerval timer = { .it_value = { .tv_usec = 20000 },
				   .it_interval = { .tv_usec = 20000 } };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

void alarm_no_more(void)
{
	struct itimerval timer = { 0 };

	setitimer(ITIMER_REAL, &timer, NULL);
}

int device_remove(void)
{
	return system("rdma link del rxe0") ? -1 : 0;
}

static bool serves(const char *ip)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id = channel ? listener_open(channel, ip, 1) : NULL;

	if (id)
		rdma_destroy_id(id);
	if (channel)
		rdma_destroy_event_channel(channel);
	return id;
}

/* The device learns the interface's addresses some time after it is there. */
int device_restore(void)
{
	int ms;

	if (system("rdma link add rxe0 type rxe netdev d0"))
		return -1;
	for (ms = patience_ms(); ms > 0; ms -= 10) {
		if (serves(ADDR1) && serves(ADDR2) && serves(ADDR6))
			return 0;
		usleep(10000);
	}
	errno = ETIME;
	return -1;
}
