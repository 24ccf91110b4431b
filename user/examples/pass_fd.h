/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A descriptor over a Unix socket, see unix(7).
 */
#ifndef PASS_FD_H
#define PASS_FD_H

/* 0, or -1 and errno. */
int send_fd(int socket, int fd);
/* The descriptor, or -1 and errno. */
int receive_fd(int socket);

#endif /* PASS_FD_H */
