// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The dispatcher: one table of commands, one way in, one way to answer.
 *
 * An argument is copied in once, cut or completed to the size that we know; a
 * command gets it in kernel memory, refuses unknown flags and reserved members
 * that are not zero, and only then looks anything up.
 */
#include <linux/nospec.h>
#include <linux/uaccess.h>
#include <rdma/ib_user_sa.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_cm.h>

#include "ioctl.h"

union ucmx_arg {
	u32 size;
	struct rdma_ucmx_info info;
	struct rdma_ucmx_create_id create_id;
	struct rdma_ucmx_destroy_id destroy_id;
	struct rdma_ucmx_bind_addr bind_addr;
	struct rdma_ucmx_resolve_addr resolve_addr;
	struct rdma_ucmx_resolve_route resolve_route;
	struct rdma_ucmx_listen listen;
	struct rdma_ucmx_connect connect;
	struct rdma_ucmx_accept accept;
	struct rdma_ucmx_reject reject;
	struct rdma_ucmx_disconnect disconnect;
	struct rdma_ucmx_notify notify;
	struct rdma_ucmx_query query;
	struct rdma_ucmx_init_qp_attr init_qp_attr;
	struct rdma_ucmx_set_option set_option;
	struct rdma_ucmx_ack_events ack_events;
	struct rdma_ucmx_list_ids list_ids;
	struct rdma_ucmx_migrate_id migrate_id;
	struct rdma_ucmx_adopt_id adopt_id;
	struct rdma_ucmx_shutdown shutdown;
	struct rdma_ucmx_write_event write_event;
	struct rdma_ucmx_join_mcast join_mcast;
	struct rdma_ucmx_leave_mcast leave_mcast;
	struct rdma_ucmx_get_option get_option;
	struct rdma_ucmx_read_events read_events;
	struct rdma_ucmx_resolve_ib_service resolve_ib_service;
};

/**
 * struct ucmx_cmd_desc - a command
 * @min_size: what the first version of its argument ended with
 * @size: what we know of it
 * @run: carries it out
 */
struct ucmx_cmd_desc {
	size_t min_size;
	size_t size;
	int (*run)(struct ucmx_cmd *cmd);
};

#define UCMX_CMD(number, name, last)					\
	[RDMA_UCMX_CMD_##number - RDMA_UCMX_CMD_BASE] = {		\
		.min_size = offsetofend(struct rdma_ucmx_##name, last),	\
		.size = sizeof(struct rdma_ucmx_##name),		\
		.run = ucmx_cmd_##name,					\
	}

static const struct ucmx_cmd_desc ucmx_cmds[] = {
	UCMX_CMD(INFO, info, out_events_of_user),
	UCMX_CMD(CREATE_ID, create_id, out_id),
	UCMX_CMD(DESTROY_ID, destroy_id, held_seq),
	UCMX_CMD(BIND_ADDR, bind_addr, addr),
	UCMX_CMD(RESOLVE_ADDR, resolve_addr, dst_addr),
	UCMX_CMD(RESOLVE_ROUTE, resolve_route, reserved),
	UCMX_CMD(LISTEN, listen, reserved),
	UCMX_CMD(CONNECT, connect, ece),
	UCMX_CMD(ACCEPT, accept, ece),
	UCMX_CMD(REJECT, reject, private_data),
	UCMX_CMD(DISCONNECT, disconnect, id),
	UCMX_CMD(NOTIFY, notify, reserved),
	UCMX_CMD(QUERY, query, out_paths),
	UCMX_CMD(INIT_QP_ATTR, init_qp_attr, out_attr),
	UCMX_CMD(SET_OPTION, set_option, reserved),
	UCMX_CMD(ACK_EVENTS, ack_events, acks),
	UCMX_CMD(LIST_IDS, list_ids, ids),
	UCMX_CMD(MIGRATE_ID, migrate_id, cookie),
	UCMX_CMD(ADOPT_ID, adopt_id, cookie),
	UCMX_CMD(SHUTDOWN, shutdown, flags),
	UCMX_CMD(WRITE_EVENT, write_event, arg),
	UCMX_CMD(JOIN_MCAST, join_mcast, addr),
	UCMX_CMD(LEAVE_MCAST, leave_mcast, held_seq),
	UCMX_CMD(GET_OPTION, get_option, out_optlen),
	UCMX_CMD(READ_EVENTS, read_events, flags),
	UCMX_CMD(RESOLVE_IB_SERVICE, resolve_ib_service, name),
};

/**
 * ucmx_ioctl - the ioctl method of a channel
 * @file: the channel's file
 * @number: which command
 * @arg: its argument
 *
 * Return: what the command returns; -ENOTTY, -EFAULT, -EINVAL, -E2BIG.
 */
long ucmx_ioctl(struct file *file, unsigned int number, unsigned long arg)
{
	struct ucmx_cmd cmd = {
		.channel = file->private_data,
		.nonblock = file->f_flags & O_NONBLOCK,
		.user_arg = (void __user *)arg,
	};
	const struct ucmx_cmd_desc *desc;
	unsigned int nr = _IOC_NR(number) - RDMA_UCMX_CMD_BASE;
	/* As much of it as a command sees is written below. */
	union ucmx_arg buf __uninitialized;
	int err;

	if (number != RDMA_UCMX_IO(_IOC_NR(number)) ||
	    nr >= ARRAY_SIZE(ucmx_cmds))
		return -ENOTTY;
	desc = &ucmx_cmds[array_index_nospec(nr, ARRAY_SIZE(ucmx_cmds))];
	if (get_user(cmd.user_size, (u32 __user *)cmd.user_arg))
		return -EFAULT;
	if (cmd.user_size < desc->min_size)
		return -EINVAL;
	if (cmd.user_size > PAGE_SIZE)
		return -E2BIG;
	err = copy_struct_from_user(&buf, desc->size, cmd.user_arg,
				    cmd.user_size);
	if (err)
		return err;
	cmd.arg = &buf;
	cmd.arg_size = desc->size;
	return desc->run(&cmd);
}

/**
 * ucmx_respond - copy the argument with its out_ members back
 * @cmd: the command
 *
 * Nothing may have been done yet that cannot be undone.
 *
 * Return: 0 or -EFAULT.
 */
int ucmx_respond(struct ucmx_cmd *cmd)
{
	size_t size = min_t(size_t, cmd->user_size, cmd->arg_size);

	((union ucmx_arg *)cmd->arg)->size = cmd->user_size;
	return copy_to_user(cmd->user_arg, cmd->arg, size) ? -EFAULT : 0;
}

/*
 * The structs that are our own have the layout of those that they stand for,
 * and no struct has padding that would differ between 32 and 64 bits.
 */
static_assert(sizeof(struct rdma_ucmx_conn_param) ==
	      sizeof(struct rdma_ucm_conn_param));
static_assert(offsetof(struct rdma_ucmx_conn_param, valid) ==
	      offsetof(struct rdma_ucm_conn_param, valid));
static_assert(sizeof(struct rdma_ucmx_ud_param) ==
	      sizeof(struct rdma_ucm_ud_param));
static_assert(offsetof(struct rdma_ucmx_ud_param, private_data_len) ==
	      offsetof(struct rdma_ucm_ud_param, private_data_len));
static_assert(sizeof(struct rdma_ucmx_ece) == sizeof(struct rdma_ucm_ece));
static_assert(sizeof(struct rdma_ucmx_ah_attr) ==
	      sizeof(struct ib_uverbs_ah_attr));
static_assert(offsetof(struct rdma_ucmx_ah_attr, port_num) ==
	      offsetof(struct ib_uverbs_ah_attr, port_num));
static_assert(sizeof(struct rdma_ucmx_qp_attr) ==
	      sizeof(struct ib_uverbs_qp_attr));
static_assert(offsetof(struct rdma_ucmx_qp_attr, alt_timeout) ==
	      offsetof(struct ib_uverbs_qp_attr, alt_timeout));
static_assert(sizeof(struct rdma_ucmx_path) == sizeof(struct ib_path_rec_data));
static_assert(sizeof(struct rdma_ucmx_addr) == 48);
static_assert(sizeof(struct rdma_ucmx_route) == 144);
static_assert(sizeof(struct rdma_ucmx_event) == 64);
static_assert(sizeof(struct rdma_ucmx_conn_param) <=
	      sizeof(struct rdma_ucmx_ud_param));
static_assert(UCMX_RECORD_PARAM >= UCMX_RECORD_PATHS);
static_assert(UCMX_RECORD_MAX <= RDMA_UCMX_READ_MIN);
static_assert(UCMX_RECORD_SERVICES <= RDMA_UCMX_READ_MIN);
static_assert(UCMX_RECORD_SERVICES >= UCMX_RECORD_MAX);
