/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * helper_serve.h - the helper's side: does in publish_dir what it is asked for, one thing after another, until nobody asks
 * any more. It may hang there; then it is alone.
 * Threads: one.
 */
#ifndef FORS_DAEMON_FILES_HELPER_SERVE_H
#define FORS_DAEMON_FILES_HELPER_SERVE_H

#include <sys/types.h>

/*
 * Serve the folder `dir` over the socket `fd` until its other end is closed. `rival()` says which other process still
 * hangs in a folder for the same subnet manager, 0: none; while there is one nothing is touched, and the answers say so.
 * 0: nobody asks any more; -1: what came was no request.
 */
int fors_helper_serve(int fd, const char *dir, pid_t (*rival)(void *context), void *context);

#endif
