/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* plan_over.h - `fors plan --lfts`: a plan over the tables of any engine. */
#ifndef FORS_CLI_PLAN_OVER_H
#define FORS_CLI_PLAN_OVER_H

#include "cli/cli.h"

/* The whole command. Returns an exit code. */
int cli_plan_over(const struct cli_settings *settings);
/* Write a schedule to a file (cmd_plan.c). Returns an exit code. */
int cli_write_schedule(const char *path, const struct fors_schedule *schedule);

#endif
