/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What tests of the extension need around what they test.  Unless said otherwise
 * a function returns 0, or -1 and errno.
 */
#ifndef CMX_SCENE_H
#define CMX_SCENE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <rdma/rdma_cmx.h>

/* So many milliseconds from now. */
struct timespec after_ms(int ms);
/* Begin to resolve the address that the device has. */
int id_resolve(struct rdma_cm_id *id);
/* Whether the id comes to be in this state, RDMAX_ID_*. */
bool id_comes_to(struct rdma_cm_id *id, uint32_t state);
/* How many ids the channel has, how many events of them are in hand; ~0U if unknown. */
uint32_t channel_ids(struct rdma_event_channel *channel);
uint32_t channel_outstanding(struct rdma_event_channel *channel);
/* Raise events with the arguments @first and up. */
int events_write(struct rdma_cm_id *id, uint64_t first, int n);
/* Read exactly so many, waiting with patience for each. */
int events_read(struct rdma_event_channel *channel,
		struct rdma_cm_event **events, int n);

/*
 * An id of which this library knows nothing, as if another process had made it:
 * its handle, 0 for a failure.  And the same with its address being resolved.
 */
uint32_t foreign_create(struct rdma_event_channel *channel, uint64_t cookie);
uint32_t foreign_resolve(struct rdma_event_channel *channel, uint64_t cookie);
int foreign_write(struct rdma_event_channel *channel, uint32_t handle,
		  uint64_t arg);

/* A signal, again and again until alarm_no_more(); @flags as SA_RESTART. */
void alarm_repeatedly(int flags);
void alarm_no_more(void);
extern _Atomic int alarms;

/* Take the device away, and bring it back. */
int device_remove(void);
int device_restore(void);

#endif /* CMX_SCENE_H */
