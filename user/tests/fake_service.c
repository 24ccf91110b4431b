// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The administrators of the fake kernel's subnets.  A test has them be before it asks.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "fake_service.h"

#define FAKE_SUBNETS 4

static struct fake_subnet {
	uint8_t gid[16];
	unsigned int services;
} subnets[FAKE_SUBNETS];

static unsigned int subnets_known;

void fake_administrator(const uint8_t *gid, unsigned int count)
{
	if (subnets_known == FAKE_SUBNETS)
		abort();
	memcpy(subnets[subnets_known].gid, gid, sizeof(subnets[0].gid));
	subnets[subnets_known++].services = count;
}

bool fake_has_subnets(void)
{
	return subnets_known;
}

static const struct fake_subnet *find_subnet(const uint8_t *gid)
{
	unsigned int i;

	for (i = 0; i < subnets_known; i++)
		if (!memcmp(subnets[i].gid, gid, sizeof(subnets[i].gid)))
			return &subnets[i];
	return NULL;
}

/*
 * A service has what was asked for, and its place in the answer, for its number, and
 * that place for its port's GID.
 */
static void put_services(struct fake_answer *answer, uint64_t number, unsigned int count)
{
	struct rdma_ucmx_service *service = answer->service;
	unsigned int i;

	answer->head.sections = RDMA_UCMX_EVENT_SERVICES;
	answer->services.count = count;
	answer->services.total = count;
	for (i = 0; i < count; i++) {
		service[i].service_id = htobe64(number + i);
		service[i].pkey = htobe16(0xffff);
		memset(service[i].gid, i, sizeof(service[i].gid));
	}
}

int fake_serve(const uint8_t *gid, const struct rdma_ucmx_resolve_ib_service *command,
	       struct fake_answer *answer)
{
	const struct fake_subnet *subnet = find_subnet(gid);
	uint64_t number = command->service_id;

	if (!subnet)
		return cmx_error(EOPNOTSUPP);
	if (command->flags == RDMA_UCMX_SERVICE_NAME)
		number = strlen((const char *)command->name);
	else if (command->flags != RDMA_UCMX_SERVICE_ID)
		return cmx_error(EINVAL);
	*answer = (struct fake_answer){
		.head.size = sizeof(*answer),
		.head.event = RDMA_UCMX_EVENT_TYPE_ADDRINFO_ERROR,
		.head.status = -ENOENT,
		.head.seq = 1000,
		.head.id = command->id,
	};
	if (!subnet->services)
		return 0;
	answer->head.event = RDMA_UCMX_EVENT_TYPE_ADDRINFO_RESOLVED;
	answer->head.status = 0;
	put_services(answer, number, subnet->services);
	return 0;
}
