/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * slurm.h - `fors jobs --slurm`: a file of jobs that follows what Slurm runs.
 */
#ifndef FORS_CLI_SLURM_SLURM_H
#define FORS_CLI_SLURM_SLURM_H

#include "cli/options.h"

/* Do it once, or with --interval for ever. Returns an exit code. */
int slurm_follow(const struct cli_settings *settings);

#endif
