// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The migration core for the KUnit module: the very source of rdma_ucmx, which
 * has no other dependencies than the kernel's.
 */
#include "../channel.c"
#include "../read.c"
#include "../id.c"
#include "../life.c"
#include "../move.c"
