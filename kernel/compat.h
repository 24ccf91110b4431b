/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The only file that knows that kernels differ.
 *
 * Everything else is written for the newest kernel.  Kbuild looks into the
 * headers of the one that is built for and says UCMX_HAVE_*; what that kernel's
 * rdma_cm lacks is filled in here, to be refused, and left out of what INFO tells.
 */
#ifndef UCMX_COMPAT_H
#define UCMX_COMPAT_H

#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/file.h>
#include <linux/string.h>
#include <linux/types.h>
#include <rdma/ib_user_sa.h>
#include <rdma/rdma_cm.h>
#include <rdma/rdma_ucmx.h>
#include <rdma/rdma_user_cm.h>

#ifndef fd_file
#define fd_file(fd)	((fd).file)
#endif

#ifdef UCMX_HAVE_MIN_RNR_TIMER
#define UCMX_FEATURE_MIN_RNR_TIMER	RDMA_UCMX_FEATURE_MIN_RNR_TIMER
#else
#define UCMX_FEATURE_MIN_RNR_TIMER	0
static inline int rdma_set_min_rnr_timer(struct rdma_cm_id *id, u8 value)
{
	return -EOPNOTSUPP;
}
#endif

#ifdef UCMX_HAVE_NODE_TYPE
#define UCMX_FEATURE_NODE_TYPE		RDMA_UCMX_FEATURE_NODE_TYPE
#else
#define UCMX_FEATURE_NODE_TYPE		0
static inline int rdma_restrict_node_type(struct rdma_cm_id *id, u8 type)
{
	return -EOPNOTSUPP;
}
#endif

#ifdef UCMX_HAVE_IB_SERVICE
#define UCMX_FEATURE_IB_SERVICE		RDMA_UCMX_FEATURE_IB_SERVICE

static_assert(RDMA_CM_EVENT_ADDRINFO_RESOLVED ==
	      (int)RDMA_UCMX_EVENT_TYPE_ADDRINFO_RESOLVED);
static_assert(RDMA_CM_EVENT_ADDRINFO_ERROR ==
	      (int)RDMA_UCMX_EVENT_TYPE_ADDRINFO_ERROR);
static_assert(RDMA_USER_CM_IB_SERVICE_FLAG_ID == RDMA_UCMX_SERVICE_ID);
static_assert(RDMA_USER_CM_IB_SERVICE_FLAG_NAME == RDMA_UCMX_SERVICE_NAME);
static_assert(sizeof(struct rdma_ucmx_service) ==
	      sizeof(struct ib_user_service_rec));

static inline int
ucmx_resolve_ib_service(struct rdma_cm_id *id,
			const struct rdma_ucmx_resolve_ib_service *arg)
{
	struct rdma_ucm_ib_service service = {
		.service_id = arg->service_id,
		.flags = arg->flags,
	};

	BUILD_BUG_ON(sizeof(service.service_name) != sizeof(arg->name));
	memcpy(service.service_name, arg->name, sizeof(arg->name));
	return rdma_resolve_ib_service(id, &service);
}

/* How many service records an id has; its handler mutex is held. */
static inline u32 ucmx_num_services(const struct rdma_cm_id *id)
{
	return id->route.service_recs ? id->route.num_service_recs : 0;
}

static inline const void *ucmx_services(const struct rdma_cm_id *id)
{
	return id->route.service_recs;
}
#else
#define UCMX_FEATURE_IB_SERVICE		0

static inline int
ucmx_resolve_ib_service(struct rdma_cm_id *id,
			const struct rdma_ucmx_resolve_ib_service *arg)
{
	return -EOPNOTSUPP;
}

static inline u32 ucmx_num_services(const struct rdma_cm_id *id)
{
	return 0;
}

static inline const void *ucmx_services(const struct rdma_cm_id *id)
{
	return NULL;
}
#endif

/* Bits of out_features that depend on the kernel. */
#define UCMX_KERNEL_FEATURES	(UCMX_FEATURE_MIN_RNR_TIMER | \
				 UCMX_FEATURE_NODE_TYPE | \
				 UCMX_FEATURE_IB_SERVICE)

#endif /* UCMX_COMPAT_H */
