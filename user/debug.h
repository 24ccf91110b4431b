/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * RDMACMX_DEBUG=1: calls, events and migrations, a line each, on standard error.
 */
#ifndef CMX_DEBUG_H
#define CMX_DEBUG_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct cmx_channel;
struct cmx_event;
struct cmx_id;
struct cmx_record;
struct sockaddr;

/* Decided when the library is loaded. */
#pragma GCC visibility push(hidden)
extern bool cmx_debug;
#pragma GCC visibility pop

#define cmx_debugging() __builtin_expect(cmx_debug, false)

/**
 * struct cmx_call - a call under way
 * @name: the function
 * @began: when
 * @arguments: what it was given, as text
 */
struct cmx_call {
	const char *name;
	struct timespec began;
	char arguments[256];
};

/* An address as text. */
struct cmx_debug_address {
	char text[80];
};

void cmx_debug_begin(struct cmx_call *call, const char *name,
		     const char *format, ...)
	__attribute__((cold, format(printf, 3, 4)));
void cmx_debug_end(const struct cmx_call *call, long ret, const void *out)
	__attribute__((cold));
void cmx_debug_end_pointer(const struct cmx_call *call, const void *ret)
	__attribute__((cold));
void cmx_debug_end_void(const struct cmx_call *call) __attribute__((cold));
void cmx_debug_event(const struct cmx_channel *channel,
		     const struct cmx_record *record,
		     const struct cmx_event *event) __attribute__((cold));
void cmx_debug_migration(const struct cmx_id *id, int source_fd, int target_fd,
			 bool failed) __attribute__((cold));
struct cmx_debug_address cmx_debug_address(const struct sockaddr *address)
	__attribute__((cold));

#endif /* CMX_DEBUG_H */
