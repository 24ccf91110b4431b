/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What /proc/PID/fdinfo/FD says of a channel; see fdinfo.c.
 */
#ifndef UCMX_FDINFO_H
#define UCMX_FDINFO_H

struct file;
struct seq_file;

void ucmx_show_fdinfo(struct seq_file *seq, struct file *file);

#endif /* UCMX_FDINFO_H */
