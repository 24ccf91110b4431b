/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the examples that hand a connection on have in common: a queue pair that is
 * enough to send a greeting of this size.
 */
#ifndef GREETING_H
#define GREETING_H

#include <infiniband/verbs.h>

#include "try.h"

#define GREETING_SIZE 64

static inline struct ibv_qp_init_attr greeting_qp_attr(void)
{
	return (struct ibv_qp_init_attr){
		.cap = {
			.max_send_wr = 1,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = GREETING_SIZE,
		},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
}

#endif /* GREETING_H */
