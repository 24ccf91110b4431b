/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Memory, and verbs objects, that librdmacmx asks for: the one of them that is
 * not to be had, and how many it has.
 */
#ifndef NOMEM_H
#define NOMEM_H

#include <stdbool.h>
#include <stddef.h>

/* Have the @nth request of this thread's from now fail with ENOMEM; 0 for none. */
void nomem_arm(unsigned int nth);
/* End that.  Returns whether one was refused. */
bool nomem_disarm(void);
/* How many the library has: blocks of memory, and objects. */
int nomem_blocks(void);
int nomem_objects(void);

/* The C library's own, which it has no header for. */
void *__libc_calloc(size_t count, size_t size);
void __libc_free(void *memory);

#endif /* NOMEM_H */
