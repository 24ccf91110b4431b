/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef EXPLORE_BITS_H
#define EXPLORE_BITS_H

#define BIT(nr)			(1ul << (nr))

#endif /* EXPLORE_BITS_H */
