// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A process that forks while other threads are in here: the child has only the
 * thread that forked, so a lock that another one held would never be free again.
 * So what all ids share is held across the fork.  An id that another thread was
 * about is of no use to the child.
 */
#include "cmx.h"

static void prepare(void)
{
	cmx_devices_hold();
	cmx_batches_hold();
	cmx_table_hold();
}

static void go_on(void)
{
	cmx_table_release();
	cmx_batches_release();
	cmx_devices_release();
}

__attribute__((constructor)) static void start(void)
{
	pthread_atfork(prepare, go_on, go_on);
}
