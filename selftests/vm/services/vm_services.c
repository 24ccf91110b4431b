// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * vm_services - an administrator of a subnet who knows services, for services.sh.
 *
 * There is none that a soft device could ask.  So the port of the device over d0 is
 * said to have one, and what rdma_cm asks is answered here, in its place: "count" services, or
 * the error "status".  With "hold" the answer waits until that is taken back.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <rdma/ib_sa.h>
#include <rdma/ib_verbs.h>

static unsigned int count;
module_param(count, uint, 0600);
static int status;
module_param(status, int, 0600);
static bool hold;
module_param(hold, bool, 0600);

struct answer {
	struct delayed_work work;
	void (*callback)(int status, struct sa_service_rec *recs,
			 unsigned int n, void *context);
	void *context;
	__be64 id;
	char name[64];
};

static struct workqueue_struct *administrator;
static struct ib_device *device;

static void services_answer(struct work_struct *work)
{
	struct answer *answer = container_of(to_delayed_work(work),
					     struct answer, work);
	struct sa_service_rec *recs;
	unsigned int i, n = count;

	if (READ_ONCE(hold)) {
		queue_delayed_work(administrator, &answer->work, HZ / 50);
		return;
	}
	recs = kcalloc(n + 1, sizeof(*recs), GFP_KERNEL);
	for (i = 0; recs && i < n; i++) {
		recs[i].id = answer->id;
		memset(recs[i].gid, i + 1, sizeof(recs[i].gid));
		recs[i].pkey = cpu_to_be16(0xffff);
		recs[i].lease = cpu_to_be32(i);
		memcpy(recs[i].name, answer->name, sizeof(recs[i].name));
		recs[i].data_64[1] = cpu_to_be64(i);
	}
	answer->callback(recs ? status : -ENOMEM, recs, n, answer->context);
	kfree(recs);
	kfree(answer);
}

/* In the place of ib_sa_service_rec_get(). */
static int services_get(struct ib_sa_client *client, struct ib_device *asked_of,
			u32 port, struct sa_service_rec *asked,
			ib_sa_comp_mask mask, unsigned long timeout_ms, gfp_t gfp,
			void (*callback)(int status, struct sa_service_rec *recs,
					 unsigned int n, void *context),
			void *context, struct ib_sa_query **query)
{
	struct answer *answer = kzalloc(sizeof(*answer), gfp);

	if (!answer)
		return -ENOMEM;
	INIT_DELAYED_WORK(&answer->work, services_answer);
	answer->callback = callback;
	answer->context = context;
	answer->id = asked->id;
	memcpy(answer->name, asked->name, sizeof(answer->name));
	queue_delayed_work(administrator, &answer->work, 0);
	return 0x7fff0000;
}

/* At its first instruction: arguments and the stack are as they were given. */
static int services_asked(struct kprobe *probe, struct pt_regs *regs)
{
	regs->ip = (unsigned long)services_get;
	return 1;
}

/* Where there is one, the probe is a breakpoint, and may go on elsewhere. */
static void services_done(struct kprobe *probe, struct pt_regs *regs,
			  unsigned long flags)
{
}

static struct kprobe probe = {
	.symbol_name = "ib_sa_service_rec_get",
	.pre_handler = services_asked,
	.post_handler = services_done,
};

static int __init vm_services_init(void)
{
	struct net_device *netdev = dev_get_by_name(&init_net, "d0");
	int err;

	if (!netdev)
		return -ENODEV;
	device = ib_device_get_by_netdev(netdev, RDMA_DRIVER_UNKNOWN);
	dev_put(netdev);
	if (!device)
		return -ENODEV;
	administrator = alloc_workqueue("vm_services", WQ_UNBOUND, 0);
	err = administrator ? register_kprobe(&probe) : -ENOMEM;
	if (err) {
		if (administrator)
			destroy_workqueue(administrator);
		ib_device_put(device);
		return err;
	}
	device->port_data[1].immutable.core_cap_flags |= RDMA_CORE_CAP_IB_SA;
	return 0;
}
module_init(vm_services_init);

static void __exit vm_services_exit(void)
{
	device->port_data[1].immutable.core_cap_flags &= ~RDMA_CORE_CAP_IB_SA;
	unregister_kprobe(&probe);
	hold = false;
	drain_workqueue(administrator);
	destroy_workqueue(administrator);
	ib_device_put(device);
}
module_exit(vm_services_exit);

MODULE_DESCRIPTION("Answers what is asked of a subnet's administrator about services");
MODULE_LICENSE("Dual BSD/GPL");
