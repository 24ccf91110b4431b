/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Processes' numbers, whose references are counted. */
#ifndef EXPLORE_PID_H
#define EXPLORE_PID_H

#include <linux/sched.h>

struct pid;

struct pid *task_tgid(struct task_struct *task);
struct pid *get_pid(struct pid *pid);
void put_pid(struct pid *pid);
int pid_vnr(struct pid *pid);

#endif /* EXPLORE_PID_H */
