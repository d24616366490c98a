/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * child.h - run a program and take what it prints, for so long and no longer. One thread.
 */
#ifndef FORS_CLI_SLURM_CHILD_H
#define FORS_CLI_SLURM_CHILD_H

#include <stddef.h>

#include "core/base/error.h"

/*
 * Run argv (NULL ends it; found as execvp() does, also without PATH) with nothing to read, until it has ended or cli_now_ms()
 * is `deadline`; then it is killed, with what it started. What it printed goes to *text (*size bytes and a zero byte),
 * owned by the caller. Errors: FORS_ETIMEOUT; FORS_EIO when it cannot be started, ends with another exit code than 0 (with the
 * first line of its errors) or prints more than 256 MiB; FORS_ENOMEM.
 */
enum fors_err slurm_run(const char *const *argv, double deadline, char **text, size_t *size, struct fors_error *error);

#endif
