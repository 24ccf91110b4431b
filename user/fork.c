// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A process that forks while other threads are in here: the child has only the
 * thread that forked, so a lock that another one held would never be free again.
 * So what all ids share is held across the fork.  An id that another thread was
 * about is of no use to the child; a channel is, whoever was reading it.
 */
#include "cmx.h"

static void prepare(void)
{
	cmx_devices_hold();
	cmx_batches_hold();
	cmx_table_hold();
	cmx_channels_hold();
}

static void go_on(void)
{
	cmx_channels_release();
	cmx_table_release();
	cmx_batches_release();
	cmx_devices_release();
}

static void go_on_as_child(void)
{
	cmx_channels_forked();
	go_on();
}

__attribute__((constructor)) static void start(void)
{
	pthread_atfork(prepare, go_on, go_on_as_child);
}
