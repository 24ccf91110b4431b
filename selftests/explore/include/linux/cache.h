/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* There are no caches. */
#ifndef EXPLORE_CACHE_H
#define EXPLORE_CACHE_H

#define ____cacheline_aligned_in_smp

#endif /* EXPLORE_CACHE_H */
