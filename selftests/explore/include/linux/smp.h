/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Two processors: each time that an actor asks where it is, it is on the other one. */
#ifndef EXPLORE_SMP_H
#define EXPLORE_SMP_H

unsigned int x_processor(void);

#define raw_smp_processor_id()	x_processor()

#endif /* EXPLORE_SMP_H */
