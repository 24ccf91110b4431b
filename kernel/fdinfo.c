// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What /proc/PID/fdinfo/FD says of a channel: how much there is of everything,
 * and who has held an event for the longest, which is what a migration or a
 * destroy that does not return waits for.
 */
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#include "channel.h"
#include "fdinfo.h"
#include "id.h"

/* Copied under the channel's lock, to be printed without it. */
struct ucmx_fdinfo {
	u32 pending;
	u32 outstanding;
	u32 waiters;
	/* The event that was read first of those outstanding. */
	u32 id;
	u32 event;
	u64 seq;
	ktime_t taken;
	struct pid *reader;
};

static void ucmx_fdinfo_look(struct ucmx_channel *channel,
			     struct ucmx_fdinfo *info)
{
	struct ucmx_event *oldest;

	spin_lock(&channel->lock);
	info->pending = channel->n_pending;
	info->outstanding = channel->n_outstanding;
	info->waiters = channel->n_waiters;
	oldest = list_first_entry_or_null(&channel->taken, struct ucmx_event,
					  queued);
	if (oldest) {
		info->id = oldest->id->handle;
		info->event = oldest->head.event;
		info->seq = oldest->head.seq;
		info->taken = oldest->taken;
		info->reader = get_pid(oldest->reader);
	}
	spin_unlock(&channel->lock);
}

/**
 * ucmx_show_fdinfo - the show_fdinfo method of a channel
 * @seq: where to print
 * @file: the channel's file
 *
 * The reader's number is that of the pid namespace that the procfs shows; 0 if
 * it has none there.
 */
void ucmx_show_fdinfo(struct seq_file *seq, struct file *file)
{
	struct ucmx_channel *channel = file->private_data;
	struct ucmx_fdinfo info = {};

	ucmx_fdinfo_look(channel, &info);
	seq_printf(seq, "ucmx-channel:\t%u\n", channel->number);
	seq_printf(seq, "ucmx-ids:\t%d\n", atomic_read(&channel->n_ids));
	seq_printf(seq, "ucmx-pending:\t%u\n", info.pending);
	seq_printf(seq, "ucmx-outstanding:\t%u\n", info.outstanding);
	seq_printf(seq, "ucmx-waiters:\t%u\n", info.waiters);
	if (!info.reader)
		return;
	seq_printf(seq, "ucmx-oldest:\tid %u seq %llu event %u reader %d age_ms %lld\n",
		   info.id, info.seq, info.event,
		   pid_nr_ns(info.reader,
			     proc_pid_ns(file_inode(seq->file)->i_sb)),
		   ktime_ms_delta(ktime_get(), info.taken));
	put_pid(info.reader);
}
