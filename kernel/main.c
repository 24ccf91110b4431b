// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * rdma_ucmx: event channels of the RDMA connection manager as files.
 *
 * Each open of /dev/infiniband/rdma_ucmx is a channel (channel.c).  Commands
 * come in by ioctl (ioctl.c), events go out by read and poll (read.c).
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>

#include "cm.h"
#include "fdinfo.h"
#include "ioctl.h"
#include "limit.h"

module_param_named(max_ids, ucmx_max_ids, uint, 0644);
MODULE_PARM_DESC(max_ids, "Ids in all");
module_param_named(max_ids_per_user, ucmx_max_ids_per_user, uint, 0644);
MODULE_PARM_DESC(max_ids_per_user, "Ids of all channels that one user opened");
module_param_named(max_channel_ids, ucmx_max_channel_ids, uint, 0644);
MODULE_PARM_DESC(max_channel_ids, "Ids of one channel, unread requests included");
module_param_named(max_backlog, ucmx_max_backlog, uint, 0644);
MODULE_PARM_DESC(max_backlog, "Unread requests of one listener");
module_param_named(max_user_events, ucmx_max_user_events, uint, 0644);
MODULE_PARM_DESC(max_user_events, "Events of one id that commands caused and that are not acknowledged");
module_param_named(max_events_per_user, ucmx_max_events_per_user, uint, 0644);
MODULE_PARM_DESC(max_events_per_user, "Likewise, of all channels that one user opened");
module_param_named(max_groups, ucmx_max_groups, uint, 0644);
MODULE_PARM_DESC(max_groups, "Multicast groups of one id");

static int ucmx_open(struct inode *inode, struct file *file)
{
	struct ucmx_channel *channel = ucmx_channel_create();

	if (!channel)
		return -ENOMEM;
	file->private_data = channel;
	return stream_open(inode, file);
}

/*
 * A process closes a descriptor, maybe the last one.  Others may do so meanwhile,
 * as when all that share a channel are killed, and drop their references before it.
 */
static int ucmx_flush(struct file *file, fl_owner_t owner)
{
	struct ucmx_channel *channel = file->private_data;
	unsigned int i = atomic_inc_return(&channel->n_closes);

	put_pid(xchg(&channel->closers[i % UCMX_CLOSERS],
		     get_pid(task_tgid(current))));
	return 0;
}

static bool ucmx_has_closed(struct ucmx_channel *channel,
			    const struct pid *process)
{
	int i;

	for (i = 0; i < UCMX_CLOSERS; i++) {
		if (READ_ONCE(channel->closers[i]) == process)
			return true;
	}
	return false;
}

/*
 * A descriptor that nobody has taken out of a Unix socket is closed by whoever
 * happens to close or to clean up that one: let nobody wait for others' ids.
 */
static int ucmx_release(struct inode *inode, struct file *file)
{
	struct ucmx_channel *channel = file->private_data;

	ucmx_channel_close(channel,
			   ucmx_has_closed(channel, task_tgid(current)));
	return 0;
}

static ssize_t ucmx_read(struct file *file, char __user *buf, size_t len,
			 loff_t *pos)
{
	return ucmx_channel_read(file->private_data, buf, len,
				 file->f_flags & O_NONBLOCK);
}

static __poll_t ucmx_poll(struct file *file, poll_table *wait)
{
	return ucmx_channel_poll(file->private_data, file, wait);
}

const struct file_operations ucmx_fops = {
	.owner = THIS_MODULE,
	.open = ucmx_open,
	.flush = ucmx_flush,
	.release = ucmx_release,
	.read = ucmx_read,
	.poll = ucmx_poll,
	.unlocked_ioctl = ucmx_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.show_fdinfo = ucmx_show_fdinfo,
};

static struct miscdevice ucmx_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "rdma_ucmx",
	.nodename = "infiniband/rdma_ucmx",
	.mode = 0666,
	.fops = &ucmx_fops,
};

static int __init ucmx_init(void)
{
	int err;

	err = ucmx_channel_core_init();
	if (err)
		return err;
	err = ucmx_cm_init();
	if (err)
		goto channel_exit;
	err = ucmx_id_core_init();
	if (err)
		goto cm_exit;
	err = misc_register(&ucmx_device);
	if (err)
		goto id_exit;
	return 0;

id_exit:
	ucmx_id_core_exit();
cm_exit:
	ucmx_cm_exit();
channel_exit:
	ucmx_channel_core_exit();
	return err;
}

/* Files pin the module, so no channel is left; ids may be on their last way. */
static void __exit ucmx_exit(void)
{
	misc_deregister(&ucmx_device);
	ucmx_id_core_exit();
	ucmx_cm_exit();
	ucmx_channel_core_exit();
}

module_init(ucmx_init);
module_exit(ucmx_exit);

MODULE_DESCRIPTION("RDMA connection manager event channels with migration");
MODULE_LICENSE("Dual BSD/GPL");
/* What ib_core asks for when somebody asks it where this device is. */
MODULE_ALIAS("rdma-client-rdma_ucmx");
