/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * plan.h - `fors plan`, in two files: cmd_plan.c finds out, plan_tell.c tells it.
 */
#ifndef FORS_CLI_PLAN_H
#define FORS_CLI_PLAN_H

#include "cli/cli.h"
#include "cli/compared.h"
#include "cli/levels.h"
#include "core/planners/outcome.h"
#include "core/schedule/pace.h"

/* All that there is to say about one plan. */
struct cli_plan {
	const struct cli_settings *settings;
	struct cli_site *site;
	struct cli_fabric made; /* with --lfts the tree is what it could be, and rounds are not known */
	struct cli_levels levels;
	bool is_ours;		     /* the tables are those of fors; else they came with --lfts */
	bool is_two;		     /* they are, and the tree has two levels: flows go over lanes, not over ways */
	struct fors_outcome outcome; /* its plan is a proven one, or there is none */
	double best_length;	     /* over ways: no exchange takes less over any tables, in phases at full speed */
	struct fors_status status;
	int64_t healthy_bound;	 /* lower bound of the same servers on the intact fabric, or FORS_UNKNOWN */
	int64_t phases_with_lmc; /* what status.lmc_needed would give, or FORS_UNKNOWN */
	struct cli_compared compared;
};

/* --- cmd_plan.c --- */

/* What is asked of planners. Over given tables it has no fabric. */
struct fors_request cli_plan_request(const struct cli_plan *plan);
/* Are given tables for the methods of two levels: all servers are below leaves, and nobody wants service levels? */
bool cli_plan_is_for_trees(const struct cli_plan *plan);

/* --- plan_tell.c --- */

/* The report on stdout, for people or programs; the schedule into its file; last, on stderr, why there is none. An exit code. */
int cli_plan_tell(struct cli_plan *plan);
/* Write a schedule to a file. Returns an exit code. */
int cli_write_schedule(const char *path, const struct fors_schedule *schedule);

#endif
