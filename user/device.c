// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The RDMA devices that ids are bound to.
 *
 * An id's verbs context is shared by all ids of the device.  It is opened when
 * the first id needs it, so devices may come late, and stays open because
 * programs keep their own objects on it beyond the life of an id, except that
 * a removed device is closed with its last id if no such objects are known of.
 * The default protection domain is there while ids are, and what a program has in it.
 *
 * device_lock protects the list, everything in it, and the three members of an
 * id that come from it.  It is held across calls of libibverbs, which may be
 * cancellation points, so cancelling is off meanwhile.
 */
#include <fcntl.h>
#include <stdlib.h>

#include "cmx.h"

/**
 * struct cmx_device - an opened device
 * @verbs: its context
 * @pd: default protection domain, or NULL without ids
 * @xrcd: default domain of extended reliable connections, or NULL
 * @guid: node GUID
 * @index: as in rdma netlink, -1 if not known
 * @ids: ids on it
 * @gone: it was removed
 * @kept: it was handed out by rdma_get_devices(), or somebody has objects on it
 * @responder_resources: its limit
 * @initiator_depth: its limit
 * @next: next in the list
 */
struct cmx_device {
	struct ibv_context *verbs;
	struct ibv_pd *pd;
	struct ibv_xrcd *xrcd;
	__be64 guid;
	int index;
	unsigned int ids;
	bool gone;
	bool kept;
	uint8_t responder_resources;
	uint8_t initiator_depth;
	struct cmx_device *next;
};

static pthread_mutex_t device_lock = PTHREAD_MUTEX_INITIALIZER;
static struct cmx_device *devices;

static int lock_devices(void)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&device_lock);
	return state;
}

static void unlock_devices(int state)
{
	pthread_mutex_unlock(&device_lock);
	pthread_setcancelstate(state, NULL);
}

static bool is_device(const struct cmx_device *device, __be64 guid, int index)
{
	return !device->gone && device->guid == guid &&
	       (device->index < 0 || device->index == index);
}

static struct cmx_device *find_device(__be64 guid, int index)
{
	struct cmx_device *device = devices;

	while (device && !is_device(device, guid, index))
		device = device->next;
	return device;
}

static uint8_t limit(int value)
{
	return value < UINT8_MAX ? value : UINT8_MAX;
}

static struct cmx_device *open_device(struct ibv_device *source)
{
	struct cmx_device *device = calloc(1, sizeof(*device));
	struct ibv_device_attr attr;

	if (!device)
		return NULL;
	device->verbs = ibv_open_device(source);
	if (!device->verbs)
		goto free_device;
	if (ibv_query_device(device->verbs, &attr))
		goto close_device;
	device->guid = ibv_get_device_guid(source);
	device->index = ibv_get_device_index(source);
	device->responder_resources = limit(attr.max_qp_rd_atom);
	device->initiator_depth = limit(attr.max_qp_init_rd_atom);
	device->next = devices;
	devices = device;
	return device;

close_device:
	ibv_close_device(device->verbs);
free_device:
	free(device);
	return NULL;
}

static struct cmx_device *search_device(__be64 guid, int index)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct cmx_device *device = NULL;
	int i, found;

	if (!list)
		return NULL;
	errno = ENODEV;
	for (i = 0; list[i]; i++) {
		found = ibv_get_device_index(list[i]);
		if (ibv_get_device_guid(list[i]) != guid ||
		    (found >= 0 && found != index))
			continue;
		device = open_device(list[i]);
		break;
	}
	ibv_free_device_list(list);
	return device;
}

static void close_device(struct cmx_device *device)
{
	struct cmx_device **link = &devices;

	while (*link != device)
		link = &(*link)->next;
	*link = device->next;
	ibv_close_device(device->verbs);
	free(device);
}

/*
 * Called with the lock held, when there are no ids.  A domain still in use by the
 * user is left, and the device with it: what he has there needs the device to be
 * destroyed.
 */
static void end_device(struct cmx_device *device)
{
	if (device->xrcd && !ibv_close_xrcd(device->xrcd))
		device->xrcd = NULL;
	if (device->pd && !ibv_dealloc_pd(device->pd))
		device->pd = NULL;
	if (device->gone && !device->kept && !device->pd && !device->xrcd)
		close_device(device);
}

/* Called with the lock held. */
static void put_device(struct cmx_device *device)
{
	if (!--device->ids)
		end_device(device);
}

/* Called with the lock held: those that were left might not be in use any more. */
static void end_gone_devices(void)
{
	struct cmx_device *device, *next;

	for (device = devices; device; device = next) {
		next = device->next;
		if (device->gone && !device->ids)
			end_device(device);
	}
}

static int get_device(struct cmx_device *device)
{
	if (!device->pd)
		device->pd = ibv_alloc_pd(device->verbs);
	if (!device->pd)
		return -1;
	device->ids++;
	return 0;
}

static void set_device(struct cmx_id *id, struct cmx_device *device)
{
	if (id->device)
		put_device(id->device);
	id->device = device;
	id->id.verbs = device->verbs;
	id->id.pd = device->pd;
}

/* The usual case, in which libibverbs is not called: cancelling may stay on. */
static bool attach_open(struct cmx_id *id, __be64 guid, int index)
{
	struct cmx_device *device;
	bool done = false;

	pthread_mutex_lock(&device_lock);
	device = id->device;
	if (device && is_device(device, guid, index)) {
		done = true;
	} else if (!device) {
		device = find_device(guid, index);
		done = device && device->pd;
	}
	if (done && !id->device) {
		device->ids++;
		set_device(id, device);
	}
	pthread_mutex_unlock(&device_lock);
	return done;
}

static int attach(struct cmx_id *id, __be64 guid, int index)
{
	struct cmx_device *device = id->device;

	if (device && is_device(device, guid, index))
		return 0;
	device = find_device(guid, index);
	if (!device) {
		end_gone_devices();
		device = search_device(guid, index);
	}
	if (!device || get_device(device))
		return -1;
	set_device(id, device);
	return 0;
}

/**
 * cmx_device_attach - give an id its verbs context and protection domain
 * @id: the id
 * @route: says which device; a GUID of 0 is none
 *
 * errno: ENODEV (it is not there), and what opening it says.
 */
int cmx_device_attach(struct cmx_id *id, const struct rdma_ucmx_route *route)
{
	const __be64 guid = route->node_guid;
	const int index = route->ibdev_index;
	int ret, state;

	if (!guid || attach_open(id, guid, index))
		return 0;
	state = lock_devices();
	ret = attach(id, guid, index);
	unlock_devices(state);
	return ret;
}

/**
 * cmx_device_detach - take an id off its device
 * @id: an id that nobody else knows any more
 */
void cmx_device_detach(struct cmx_id *id)
{
	int state;

	if (!id->device)
		return;
	state = lock_devices();
	put_device(id->device);
	id->device = NULL;
	unlock_devices(state);
}

/**
 * cmx_device_gone - note that an id's device was removed
 * @id: the id
 */
void cmx_device_gone(struct cmx_id *id)
{
	int state = lock_devices();

	if (id->device)
		id->device->gone = true;
	unlock_devices(state);
}

/**
 * cmx_device_keep - note that somebody has objects of his own on an id's device
 * @id: the id
 *
 * They may outlive the id, and be destroyed when the device was removed.
 */
void cmx_device_keep(struct cmx_id *id)
{
	int state = lock_devices();

	if (id->device)
		id->device->kept = true;
	unlock_devices(state);
}

/**
 * cmx_device_xrcd - find the domain for extended reliable connections
 * @id: an id with a device
 *
 * Opens it the first time.  Returns NULL and errno on error: EOPNOTSUPP (the
 * device has none).
 */
struct ibv_xrcd *cmx_device_xrcd(struct cmx_id *id)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};
	int state = lock_devices();
	struct cmx_device *device = id->device;
	struct ibv_xrcd *xrcd = NULL;

	errno = EINVAL;
	if (device) {
		if (!device->xrcd)
			device->xrcd = ibv_open_xrcd(device->verbs, &attr);
		xrcd = device->xrcd;
	}
	unlock_devices(state);
	return xrcd;
}

/**
 * cmx_device_limits - say what a device can do
 * @id: the id
 * @responder_resources: most RDMA reads outstanding from the peer
 * @initiator_depth: most RDMA reads outstanding to the peer
 *
 * Both are 0 for an id without a device.
 */
void cmx_device_limits(struct cmx_id *id, uint8_t *responder_resources,
		       uint8_t *initiator_depth)
{
	int state = lock_devices();
	struct cmx_device *device = id->device;

	*responder_resources = device ? device->responder_resources : 0;
	*initiator_depth = device ? device->initiator_depth : 0;
	unlock_devices(state);
}

/* Called with the lock held. */
static struct ibv_context *keep_device(struct ibv_device *source)
{
	struct cmx_device *device;

	device = find_device(ibv_get_device_guid(source),
			     ibv_get_device_index(source));
	if (!device)
		device = open_device(source);
	if (!device)
		return NULL;
	device->kept = true;
	return device->verbs;
}

/* Called with the lock held.  Those that cannot be opened are left out. */
static struct ibv_context **keep_devices(struct ibv_device **list, int count,
					 int *used)
{
	struct ibv_context **contexts;
	int i;

	if (!count) {
		errno = ENODEV;
		return NULL;
	}
	contexts = calloc(count + 1, sizeof(*contexts));
	if (!contexts)
		return NULL;
	for (i = 0; i < count; i++) {
		contexts[*used] = keep_device(list[i]);
		*used += !!contexts[*used];
	}
	if (*used)
		return contexts;
	free(contexts);
	return NULL;
}

/* libibverbs puts those that came after it was first asked before the others. */
static int by_index(const void *a, const void *b)
{
	struct ibv_device *const *one = a, *const *other = b;

	return ibv_get_device_index(*one) - ibv_get_device_index(*other);
}

/**
 * rdma_get_devices - list the RDMA devices that there are
 * @num_devices: where to put how many, or NULL
 *
 * As rdma_get_devices(3), in the order in which they came.  The list ends with
 * NULL and belongs to the caller, who frees it with rdma_free_devices(); the
 * devices stay open.
 *
 * Returns NULL and errno on error: ENODEV (there is none), ENOMEM, and if none
 * can be opened what that says.
 */
CMX_EXPORT struct ibv_context **rdma_get_devices(int *num_devices)
{
	struct ibv_context **contexts = NULL;
	struct ibv_device **list;
	int count, used = 0;
	int state = lock_devices();

	end_gone_devices();
	list = ibv_get_device_list(&count);
	if (list) {
		qsort(list, count, sizeof(*list), by_index);
		contexts = keep_devices(list, count, &used);
		ibv_free_device_list(list);
	}
	unlock_devices(state);
	if (num_devices)
		*num_devices = used;
	return contexts;
}

/**
 * rdma_free_devices - free a list of devices
 * @list: what rdma_get_devices() returned
 *
 * As rdma_free_devices(3).
 */
CMX_EXPORT void rdma_free_devices(struct ibv_context **list)
{
	free(list);
}

/**
 * cmx_devices_hold - have nobody change the devices, before a fork
 */
void cmx_devices_hold(void)
{
	pthread_mutex_lock(&device_lock);
}

/**
 * cmx_devices_release - end that
 */
void cmx_devices_release(void)
{
	pthread_mutex_unlock(&device_lock);
}
