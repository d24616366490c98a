/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jobs_demand.h - `fors jobs --demand-dir`: a schedule for the demand that a job names, over the part of the fabric that the job's own goes over.
 * Thread rules: one thread.
 */
#ifndef FORS_CLI_JOBS_DEMAND_H
#define FORS_CLI_JOBS_DEMAND_H

#include "cli/jobs_made.h"

/* Plan the demands of all jobs that name one and have a schedule, in jobs->demand, from files of --demand-dir. Returns an exit code; one that cannot be planned for is said, and no failure. */
int cli_jobs_demands(const struct cli_settings *settings, const struct cli_fabric *made, struct cli_jobs *jobs);

/* Is there a schedule for each demand that was asked for? */
bool cli_jobs_have_demands(const struct cli_jobs *jobs);

/* A line below a job's, if it names a demand. */
void cli_print_jobdemand(const struct cli_jobs *jobs, uint32_t j);
/* Keys of a job's object. */
void cli_add_jobdemand(const struct cli_jobs *jobs, uint32_t j, json_t *object);

#endif
