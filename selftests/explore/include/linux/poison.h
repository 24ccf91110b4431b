/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a list entry's pointers are after it was taken off a list. */
#define LIST_POISON1	((void *)0x100)
#define LIST_POISON2	((void *)0x122)
