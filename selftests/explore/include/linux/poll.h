/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Poll; who polls is an actor of its own, see calls.c. */
#ifndef EXPLORE_POLL_H
#define EXPLORE_POLL_H

#include <linux/types.h>
#include <linux/wait.h>

#define EPOLLIN			0x001u
#define EPOLLRDNORM		0x040u
#define EPOLLHUP		0x010u
#define poll_to_key(mask)	(mask)

struct file;
typedef struct poll_table_struct poll_table;

/* Done by the actor that polls. */
#define poll_wait(file, queue, table) \
	((void)(file), (void)(queue), (void)(table))

#endif /* EXPLORE_POLL_H */
