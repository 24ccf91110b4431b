// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Commands: options.
 *
 * rdma_cm does not tell what was set, so a copy of each value is kept with the
 * id, under its command mutex.
 */
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <rdma/ib_sa.h>
#include <rdma/rdma_cm_ib.h>
#include <rdma/rdma_user_cm.h>

#include "cm.h"
#include "compat.h"
#include "ioctl.h"

/* Bytes of the value of an option at level ID, or -ENOSYS. */
static int ucmx_option_size(u32 level, u32 optname)
{
	if (level != RDMA_OPTION_ID)
		return -ENOSYS;
	switch (optname) {
	case RDMA_OPTION_ID_TOS:
	case RDMA_OPTION_ID_ACK_TIMEOUT:
	case RDMA_UCMX_OPTION_MIN_RNR_TIMER:
	case RDMA_UCMX_OPTION_NODE_TYPE:
		return sizeof(u8);
	case RDMA_OPTION_ID_REUSEADDR:
	case RDMA_OPTION_ID_AFONLY:
		return sizeof(int);
	default:
		return -ENOSYS;
	}
}

/* A wrong length is wrong whatever is there; unknown options have none. */
static bool ucmx_option_fits(u32 level, u32 optname, u32 optlen)
{
	int size = ucmx_option_size(level, optname);

	if (level == RDMA_OPTION_IB && optname == RDMA_OPTION_IB_PATH)
		return optlen && !(optlen % sizeof(struct ib_path_rec_data));
	return size < 0 || optlen == size;
}

/* Where the value of an option that has one is kept. */
static unsigned int ucmx_option_index(u32 optname)
{
	return optname < UCMX_OPTIONS_STOCK ? optname :
	       UCMX_OPTIONS_STOCK + optname - RDMA_UCMX_OPTION_MIN_RNR_TIMER;
}

/*
 * It has five bits.  rdma_cm takes another type of queue pair for a fault of ours, and
 * warns.
 */
static int ucmx_set_min_rnr_timer(struct rdma_cm_id *cm_id, int value)
{
	if (value > 31)
		return -EINVAL;
	if (cm_id->qp_type != IB_QPT_RC && cm_id->qp_type != IB_QPT_XRC_TGT)
		return -EINVAL;
	return rdma_set_min_rnr_timer(cm_id, value);
}

static int ucmx_set_value(struct ucmx_cm *cm, u32 optname, int value)
{
	switch (optname) {
	case RDMA_OPTION_ID_TOS:
		rdma_set_service_type(cm->cm_id, value);
		return 0;
	case RDMA_OPTION_ID_REUSEADDR:
		return rdma_set_reuseaddr(cm->cm_id, value);
	case RDMA_OPTION_ID_AFONLY:
		return rdma_set_afonly(cm->cm_id, value);
	case RDMA_UCMX_OPTION_MIN_RNR_TIMER:
		return ucmx_set_min_rnr_timer(cm->cm_id, value);
	case RDMA_UCMX_OPTION_NODE_TYPE:
		return rdma_restrict_node_type(cm->cm_id, value);
	default:
		return rdma_set_ack_timeout(cm->cm_id, value);
	}
}

static int ucmx_set_option_id(struct ucmx_cm *cm, u32 optname,
			      const void *optval)
{
	int size = ucmx_option_size(RDMA_OPTION_ID, optname);
	unsigned int index = ucmx_option_index(optname);
	int value, err;

	if (size < 0)
		return size;
	value = size == sizeof(u8) ? *(const u8 *)optval :
				     !!*(const int *)optval;
	err = ucmx_set_value(cm, optname, value);
	if (!err) {
		cm->options[index] = value;
		cm->options_set |= BIT(index);
	}
	return err;
}

/* The first record that is good for everything. */
static const struct ib_path_rec_data *
ucmx_find_path(const struct ib_path_rec_data *paths, u32 n)
{
	const u32 wanted = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL;
	u32 i;

	for (i = 0; i < n; i++) {
		if (paths[i].flags == wanted)
			return &paths[i];
	}
	return NULL;
}

/* Does what resolving a route does, event included. */
static int ucmx_set_path(struct ucmx_cm *cm, struct sa_path_rec *path)
{
	struct rdma_cm_event event = { .event = RDMA_CM_EVENT_ROUTE_RESOLVED };
	int err = ucmx_cm_make_rooms(cm, BIT(UCMX_ROOM_UNREACHABLE) |
					 BIT(UCMX_ROOM_ROUTE));

	if (err)
		return err;
	rdma_lock_handler(cm->cm_id);
	err = rdma_set_ib_path(cm->cm_id, path);
	if (!err)
		ucmx_cm_raise(cm, &event);
	rdma_unlock_handler(cm->cm_id);
	if (err)
		ucmx_room_drop(&cm->id, UCMX_ROOM_ROUTE);
	return err;
}

static int ucmx_set_option_path(struct ucmx_cm *cm, const void *optval,
				u32 optlen)
{
	/* See ucmx_cm_begin_device(). */
	struct ib_device *device = READ_ONCE(cm->cm_id->device);
	const struct ib_path_rec_data *data;
	struct sa_path_rec path, opa;

	data = ucmx_find_path(optval, min_t(u32, optlen, PAGE_SIZE) /
				      sizeof(*data));
	if (!data || !device)
		return -EINVAL;
	memset(&path, 0, sizeof(path));
	ib_sa_unpack_path((void *)data->path_rec, &path);
	if (!rdma_cap_opa_ah(device, cm->cm_id->port_num)) {
		path.rec_type = SA_PATH_REC_TYPE_IB;
		return ucmx_set_path(cm, &path);
	}
	sa_convert_path_ib_to_opa(&opa, &path);
	return ucmx_set_path(cm, &opa);
}

static int ucmx_set_option(struct ucmx_cm *cm,
			   const struct rdma_ucmx_set_option *arg,
			   const void *optval)
{
	if (arg->level == RDMA_OPTION_ID)
		return ucmx_set_option_id(cm, arg->optname, optval);
	if (arg->level == RDMA_OPTION_IB && arg->optname == RDMA_OPTION_IB_PATH)
		return ucmx_set_option_path(cm, optval, arg->optlen);
	return -ENOSYS;
}

/**
 * ucmx_cmd_set_option - set an option
 * @cmd: struct rdma_ucmx_set_option
 *
 * Return: 0 or an error, see the uAPI header.
 */
int ucmx_cmd_set_option(struct ucmx_cmd *cmd)
{
	struct rdma_ucmx_set_option *arg = cmd->arg;
	struct ucmx_cm *cm;
	void *optval;
	int err;

	if (arg->reserved)
		return -EINVAL;
	if (arg->optlen > KMALLOC_MAX_SIZE ||
	    !ucmx_option_fits(arg->level, arg->optname, arg->optlen))
		return -EINVAL;
	/* Nothing beyond a page is ever looked at. */
	optval = memdup_user(u64_to_user_ptr(arg->optval),
			     min_t(u32, arg->optlen, PAGE_SIZE));
	if (IS_ERR(optval))
		return PTR_ERR(optval);
	cm = ucmx_cm_begin(cmd->channel, arg->id);
	if (IS_ERR(cm)) {
		err = PTR_ERR(cm);
		goto free;
	}
	err = ucmx_set_option(cm, arg, optval);
	ucmx_cm_end(cm);
free:
	kfree(optval);
	return err;
}

/* The value that was set, as many bytes as it has. */
static int ucmx_get_value(struct ucmx_cmd *cmd, int *value)
{
	struct rdma_ucmx_get_option *arg = cmd->arg;
	unsigned int index = ucmx_option_index(arg->optname);
	struct ucmx_cm *cm;
	int err = 0;

	cm = ucmx_cm_begin(cmd->channel, arg->id);
	if (IS_ERR(cm))
		return PTR_ERR(cm);
	if (cm->options_set & BIT(index))
		*value = cm->options[index];
	else
		err = -ENODATA;
	ucmx_cm_end(cm);
	return err;
}

/**
 * ucmx_cmd_get_option - tell what an option was set to
 * @cmd: struct rdma_ucmx_get_option
 *
 * Return: 0 or an error, see the uAPI header.
 */
int ucmx_cmd_get_option(struct ucmx_cmd *cmd)
{
	struct rdma_ucmx_get_option *arg = cmd->arg;
	void __user *optval = u64_to_user_ptr(arg->optval);
	int size = ucmx_option_size(arg->level, arg->optname);
	int err, value = 0;
	u8 byte;

	if (size < 0)
		return size;
	if (arg->optlen < size)
		return -EINVAL;
	err = ucmx_get_value(cmd, &value);
	if (err)
		return err;
	byte = value;
	if (copy_to_user(optval, size == sizeof(byte) ? (void *)&byte :
							(void *)&value, size))
		return -EFAULT;
	arg->out_optlen = size;
	return ucmx_respond(cmd);
}
