/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the dispatcher gives to a command, and how a command answers.
 */
#ifndef UCMX_IOCTL_H
#define UCMX_IOCTL_H

#include <linux/fs.h>
#include <linux/types.h>

#include "channel.h"

/**
 * struct ucmx_cmd - a command being carried out
 * @channel: the channel that it came in on
 * @nonblock: O_NONBLOCK is set
 * @user_arg: its argument in user memory
 * @user_size: how much of it the caller knows
 * @arg: the argument, completed with zeros
 * @arg_size: how much of it we know
 */
struct ucmx_cmd {
	struct ucmx_channel *channel;
	bool nonblock;
	void __user *user_arg;
	u32 user_size;
	void *arg;
	size_t arg_size;
};

extern const struct file_operations ucmx_fops;

long ucmx_ioctl(struct file *file, unsigned int number, unsigned long arg);
int ucmx_respond(struct ucmx_cmd *cmd);

/* The commands, by family; each returns what ioctl(2) returns. */
int ucmx_cmd_create_id(struct ucmx_cmd *cmd);
int ucmx_cmd_destroy_id(struct ucmx_cmd *cmd);
int ucmx_cmd_bind_addr(struct ucmx_cmd *cmd);
int ucmx_cmd_resolve_addr(struct ucmx_cmd *cmd);
int ucmx_cmd_resolve_route(struct ucmx_cmd *cmd);
int ucmx_cmd_listen(struct ucmx_cmd *cmd);
int ucmx_cmd_connect(struct ucmx_cmd *cmd);
int ucmx_cmd_accept(struct ucmx_cmd *cmd);
int ucmx_cmd_reject(struct ucmx_cmd *cmd);
int ucmx_cmd_disconnect(struct ucmx_cmd *cmd);
int ucmx_cmd_notify(struct ucmx_cmd *cmd);
int ucmx_cmd_query(struct ucmx_cmd *cmd);
int ucmx_cmd_init_qp_attr(struct ucmx_cmd *cmd);
int ucmx_cmd_set_option(struct ucmx_cmd *cmd);
int ucmx_cmd_info(struct ucmx_cmd *cmd);
int ucmx_cmd_ack_events(struct ucmx_cmd *cmd);
int ucmx_cmd_list_ids(struct ucmx_cmd *cmd);
int ucmx_cmd_migrate_id(struct ucmx_cmd *cmd);
int ucmx_cmd_adopt_id(struct ucmx_cmd *cmd);
int ucmx_cmd_shutdown(struct ucmx_cmd *cmd);
int ucmx_cmd_write_event(struct ucmx_cmd *cmd);
int ucmx_cmd_join_mcast(struct ucmx_cmd *cmd);
int ucmx_cmd_leave_mcast(struct ucmx_cmd *cmd);
int ucmx_cmd_get_option(struct ucmx_cmd *cmd);
int ucmx_cmd_read_events(struct ucmx_cmd *cmd);
int ucmx_cmd_resolve_ib_service(struct ucmx_cmd *cmd);

#endif /* UCMX_IOCTL_H */
