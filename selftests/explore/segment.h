/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What an actor touches between two points, to find accesses that race.
 */
#ifndef EXPLORE_SEGMENT_H
#define EXPLORE_SEGMENT_H

#include <linux/types.h>

#define ACCESS_WRITES	(1 << 0)
#define ACCESS_MARKED	(1 << 1)

#define SEGMENT_MAX	400
/* Three channels' and the core's own. */
#define LOCK_SETS	16

/**
 * struct access - an access to memory
 * @p: where
 * @pc: by which code
 * @size: how many bytes
 * @how: ACCESS_
 * @locks: spinlocks held, bits of which channels'
 */
struct access {
	const char *p;
	const void *pc;
	u16 size;
	u8 how;
	u8 locks;
};

/**
 * struct segment - what one actor does from a point on, up to its next
 * @n: number of accesses
 * @bloom: for each set of locks, which memory is accessed, roughly
 * @accesses: the accesses
 */
struct segment {
	int n;
	u64 bloom[LOCK_SETS];
	struct access accesses[SEGMENT_MAX];
};

/* The segment that is being recorded, or NULL. */
extern struct segment *segment_now;
extern unsigned int segment_accesses;
/* Pairs that were accepted: a marked read of what is written plainly. */
extern u64 segment_accepted;

void segment_start(struct segment *segment);
void segment_add(const void *p, size_t size, int how, const void *pc);
/* Both could have been next: they must not touch the same memory. */
void segments_compare(const struct segment *a, const struct segment *b);

#endif /* EXPLORE_SEGMENT_H */
