/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jobs_made.h - several jobs at once, made: lanes, tables and plans, in a tree of two levels or three.
 * Thread rules: one thread.
 */
#ifndef FORS_CLI_JOBS_MADE_H
#define FORS_CLI_JOBS_MADE_H

#include "cli/cli.h"
#include "core/demand/answer.h"
#include "core/planners/jobplan.h"
#include "core/planners/jobplan_index.h"

/* The demand of a job, planned. */
struct cli_jobdemand {
	struct fors_schedule *plan; /* owned; NULL: there is none */
	struct fors_demand_report report;
};

struct cli_jobs {
	struct fors_floors floors;
	struct fors_joblist list; /* on floor 0 */
	struct fors_jobtables tables;
	struct fors_jobplans plans;
	struct cli_jobdemand *demand; /* per job, owned; NULL: none was asked for */
	double owners_ms, plans_ms;
};

/* Is it a tree that fors routes, all of whose leaves are joined? Else the user is told. Returns an exit code. */
int cli_jobs_check(const struct cli_site *site, const struct cli_fabric *made);

/* Read the jobs of --jobs, if it is given. Returns an exit code; to be cleared in any case. */
int cli_jobs_read(const struct cli_settings *settings, const struct cli_fabric *made, struct cli_jobs *jobs);
/* Share out lanes among them, and plan them; has_index: a path index belongs to jobs. Returns an exit code. */
int cli_jobs_plan(const struct cli_settings *settings, const struct cli_fabric *made, bool has_index,
		  struct cli_jobs *jobs);
void cli_jobs_clear(struct cli_jobs *jobs);

#endif
