/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lock.h - who writes the file of jobs now: the lock beside it. One thread.
 */
#ifndef FORS_CLI_SLURM_LOCK_H
#define FORS_CLI_SLURM_LOCK_H

/*
 * Take OUTPUT.lock, which is made if it is not there, by cli_now_ms() `deadline`. Returns a descriptor, which holds the lock until it is
 * closed, or -1: the user has been told.
 */
int slurm_lock(const char *output, double deadline);

#endif
