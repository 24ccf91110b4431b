/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Who is reading a channel, see reading.c.
 */
#ifndef CMX_READING_H
#define CMX_READING_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct cmx_channel;
struct cmx_id;

/**
 * struct cmx_buffer - what records are read into
 * @records: the buffer, aligned to 8 bytes
 * @size: bytes of it
 */
struct cmx_buffer {
	const void *records;
	size_t size;
};

/**
 * struct cmx_reading - an entry of a channel's list of readings
 * @buffer: of whom has it, or NULL
 * @next: next of the channel's, which is there as long as the channel is
 */
struct cmx_reading {
	const struct cmx_buffer *_Atomic buffer;
	struct cmx_reading *_Atomic next;
};

struct cmx_reading *cmx_reading_begin(struct cmx_channel *channel,
				      const struct cmx_buffer *buffer);
void cmx_reading_end(struct cmx_channel *channel, struct cmx_reading *reading);
void cmx_readings_free(struct cmx_channel *channel);
void cmx_readings_forget(struct cmx_channel *channel);
struct cmx_id *cmx_reading_find(struct cmx_channel *channel, uint32_t handle);

#endif /* CMX_READING_H */
