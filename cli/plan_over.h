/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* plan_over.h - `fors plan --lfts`: a plan over the tables of any engine; and over those of fors in three-level trees. */
#ifndef FORS_CLI_PLAN_OVER_H
#define FORS_CLI_PLAN_OVER_H

#include "cli/cli.h"

/* The whole command. Returns an exit code. */
int cli_plan_over(const struct cli_settings *settings);
/* The same of a site that is a fat-tree of three levels, over tables of fors. The site stays the caller's. */
int cli_plan_levels(const struct cli_settings *settings, struct cli_site *site);
/* Servers that are lost by their names, which the intact fabric knows (cmd_plan.c). */
void cli_name_lost(const struct cli_site *site, struct fors_status *status);
/* Write a schedule to a file (cmd_plan.c). Returns an exit code. */
int cli_write_schedule(const char *path, const struct fors_schedule *schedule);

#endif
