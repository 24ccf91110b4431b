/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A kernel for unit tests, in the place of syscall.c: it knows which channel
 * owns an id, and can be stopped in the middle of a migration.
 */
#ifndef FAKE_H
#define FAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Where a migration stops: as if events were unacknowledged, or committed; and
 * where a question about a channel does, a command that an event follows, when it
 * has been taken, and reading: one event, before there is any, or some, when they are in
 * the buffer.
 */
enum fake_point {
	FAKE_RUN,
	FAKE_DRAIN,
	FAKE_COMMITTED,
	FAKE_QUERY,
	FAKE_BEGUN,
	FAKE_READ,
	FAKE_HAVE_READ
};

/* The kernel's number of every group. */
#define FAKE_GROUP 88

/* An event to notify of for which rdma_cm, not this kernel, says ENOENT. */
#define FAKE_NOTIFY_ENOENT 77

/* Have the next call that comes there stop. */
void fake_hold(enum fake_point point);
/* Wait until it has. */
void fake_wait_held(void);
/* Have it go on. */
void fake_release(void);
/* Whether system calls take their time, at random. */
void fake_jitter(bool on);
/* Descriptor of the owner, 0 if there is no such id. */
int fake_owner(uint32_t handle);
/* Have an id on a channel, made by another process or by a request. */
void fake_make(int fd, uint32_t handle, bool claimed);
bool fake_is_open(int fd);
/* Whether its readers were turned away. */
bool fake_is_shut(int fd);
/* Have read(2) return this record, after those that it did not return yet. */
void fake_bring(const void *record, size_t size);
/* Cancel the thread that reads, at the end of the @reads-th read from now. */
void fake_cancel_reader(unsigned int reads);
/* Have the next read(2) fail. */
void fake_fail_read(int error);
/* How many events were read and not acknowledged. */
int fake_outstanding(void);
/* How often a connection was to end. */
int fake_disconnects(void);
/*
 * Have the port with this GID be on a subnet whose administrator knows @count services,
 * at most FAKE_SERVICES, whatever is asked for: numbers from the one that was asked for,
 * or from the length of the name.
 */
#define FAKE_SERVICES 2
void fake_administrator(const uint8_t *gid, unsigned int count);
/* A descriptor was used that is not open. */
extern _Atomic bool fake_misused;

#endif /* FAKE_H */
