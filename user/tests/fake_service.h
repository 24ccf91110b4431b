/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the fake kernel asks of subnets' administrators, which tests have there be by
 * fake_administrator().
 */
#ifndef FAKE_SERVICE_H
#define FAKE_SERVICE_H

#include "cmx.h"
#include "fake.h"

/* The record that the answer is. */
struct fake_answer {
	struct rdma_ucmx_event head;
	struct rdma_ucmx_services services;
	struct rdma_ucmx_service service[FAKE_SERVICES];
};

bool fake_has_subnets(void);
/* By the port with this GID; errno as the command's. */
int fake_serve(const uint8_t *gid, const struct rdma_ucmx_resolve_ib_service *command,
	       struct fake_answer *answer);

#endif /* FAKE_SERVICE_H */
