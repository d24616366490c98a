/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * plan_demand.h - `fors plan --demand`.
 * Thread rules: one thread.
 */
#ifndef FORS_CLI_PLAN_DEMAND_H
#define FORS_CLI_PLAN_DEMAND_H

#include "cli/cli.h"

/* Plan the demand of a file, over the tables that the settings say; an exit code. */
int cli_plan_demand(const struct cli_settings *settings);

#endif
