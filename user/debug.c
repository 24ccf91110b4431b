// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What RDMACMX_DEBUG=1 has logged.
 *
 * A line is one write(2), so that lines of several threads and processes do not
 * mix:
 *
 *	librdmacmx PID/TID SECONDS KIND WHAT
 *
 * where SECONDS are counted from when the library was loaded.  Of a call it is
 * written when the call is over, of an event when it was read, of a migration when
 * the kernel has answered.  Ids and channels are shown as what the program knows
 * them by, the address and the descriptor, and ids as the kernel's number of them,
 * too.
 *
 * errno is what it was; nothing here is a cancellation point.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cmx.h"
#include "debug.h"

bool cmx_debug;

static struct timespec loaded;

/* A program that may do more than its user writes nothing for him. */
__attribute__((constructor)) static void debug_init(void)
{
	const char *wanted = secure_getenv("RDMACMX_DEBUG");

	cmx_debug = wanted && *wanted && strcmp(wanted, "0");
	if (cmx_debug)
		clock_gettime(CLOCK_MONOTONIC, &loaded);
}

static long microseconds_since(const struct timespec *then)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - then->tv_sec) * 1000000L +
	       (now.tv_nsec - then->tv_nsec) / 1000;
}

static void write_line(const char *line, size_t length)
{
	ssize_t written;
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	written = write(STDERR_FILENO, line, length);
	pthread_setcancelstate(state, NULL);
	(void)written; /* whom to tell? */
}

/* A line that is too long loses its end. */
__attribute__((format(printf, 1, 2))) static void log_line(const char *format,
							   ...)
{
	long now = microseconds_since(&loaded);
	int saved = errno, used;
	char line[600];
	va_list list;

	used = snprintf(line, sizeof(line), "librdmacmx %d/%ld %ld.%06ld ",
			getpid(), syscall(SYS_gettid), now / 1000000,
			now % 1000000);
	va_start(list, format);
	used += vsnprintf(line + used, sizeof(line) - used, format, list);
	va_end(list);
	if ((size_t)used >= sizeof(line))
		used = sizeof(line) - 1;
	line[used++] = '\n';
	write_line(line, used);
	errno = saved;
}

/**
 * cmx_debug_begin - note a call before it is made
 * @call: the call; to be given to cmx_debug_end()
 * @name: the function
 * @format: its arguments, which it may free
 */
void cmx_debug_begin(struct cmx_call *call, const char *name,
		     const char *format, ...)
{
	int saved = errno;
	va_list list;

	va_start(list, format);
	vsnprintf(call->arguments, sizeof(call->arguments), format, list);
	va_end(list);
	call->name = name;
	clock_gettime(CLOCK_MONOTONIC, &call->began);
	errno = saved;
}

/* Why a call failed, if it did. */
static const char *error_of(bool failed)
{
	if (!failed)
		return "";
	return strerrorname_np(errno) ?: "unknown errno";
}

/**
 * cmx_debug_end - log a call that is over
 * @call: as cmx_debug_begin() left it
 * @ret: what it returned, -1 if errno says more
 * @out: what it made, or NULL
 */
void cmx_debug_end(const struct cmx_call *call, long ret, const void *out)
{
	long took = microseconds_since(&call->began);
	const char *error = error_of(ret == -1);

	if (out)
		log_line("call %s(%s) = %ld, %p, %ld us", call->name,
			 call->arguments, ret, out, took);
	else
		log_line("call %s(%s) = %ld%s%s, %ld us", call->name,
			 call->arguments, ret, *error ? " " : "", error, took);
}

/**
 * cmx_debug_end_pointer - log a call that is over, and returned a pointer
 * @call: as cmx_debug_begin() left it
 * @ret: what it returned, NULL if errno says more
 */
void cmx_debug_end_pointer(const struct cmx_call *call, const void *ret)
{
	long took = microseconds_since(&call->began);

	if (ret)
		log_line("call %s(%s) = %p, %ld us", call->name,
			 call->arguments, ret, took);
	else
		log_line("call %s(%s) = NULL %s, %ld us", call->name,
			 call->arguments, error_of(true), took);
}

/**
 * cmx_debug_end_void - log a call that is over, and returned nothing
 * @call: as cmx_debug_begin() left it
 */
void cmx_debug_end_void(const struct cmx_call *call)
{
	log_line("call %s(%s), %ld us", call->name, call->arguments,
		 microseconds_since(&call->began));
}

/**
 * cmx_debug_event - log an event that was read
 * @channel: where
 * @record: the event
 * @event: what the user gets for it, or NULL if he does not
 */
void cmx_debug_event(const struct cmx_channel *channel,
		     const struct cmx_record *record,
		     const struct cmx_event *event)
{
	const struct rdma_ucmx_event *head = record->head;
	char listener[40] = "";

	if (head->listen_id)
		snprintf(listener, sizeof(listener), " of listener #%u",
			 head->listen_id);
	if (!event) {
		log_line("event %s on channel %d, id #%u%s, number %llu, status %d, passed over",
			 rdma_event_str(head->event), channel->fd, head->id,
			 listener, (unsigned long long)head->seq, head->status);
		return;
	}
	log_line("event %s on channel %d, id %p #%u%s, number %llu, status %d",
		 rdma_event_str(event->event.event), channel->fd,
		 (void *)event->event.id, head->id, listener,
		 (unsigned long long)head->seq, event->event.status);
}

/**
 * cmx_debug_migration - log a migration
 * @id: the id
 * @source_fd: where it was
 * @target_fd: where it was to go
 * @failed: whether it did not; errno says why
 */
void cmx_debug_migration(const struct cmx_id *id, int source_fd, int target_fd,
			 bool failed)
{
	log_line("migration of id %p #%u from channel %d to %d%s%s",
		 (const void *)&id->id, atomic_load(&id->handle), source_fd,
		 target_fd, failed ? ": " : "", error_of(failed));
}

/**
 * cmx_debug_address - write an address as text
 * @address: the address, or NULL
 */
struct cmx_debug_address cmx_debug_address(const struct sockaddr *address)
{
	const struct sockaddr_in6 *v6 = (const void *)address;
	const struct sockaddr_in *v4 = (const void *)address;
	struct cmx_debug_address result = { "none" };
	char number[INET6_ADDRSTRLEN];

	if (!address)
		return result;
	switch (address->sa_family) {
	case AF_INET:
		inet_ntop(AF_INET, &v4->sin_addr, number, sizeof(number));
		snprintf(result.text, sizeof(result.text), "%s:%u", number,
			 ntohs(v4->sin_port));
		break;
	case AF_INET6:
		inet_ntop(AF_INET6, &v6->sin6_addr, number, sizeof(number));
		snprintf(result.text, sizeof(result.text), "[%s]:%u", number,
			 ntohs(v6->sin6_port));
		break;
	default:
		snprintf(result.text, sizeof(result.text), "of family %u",
			 address->sa_family);
		break;
	}
	return result;
}
