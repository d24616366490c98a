/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * answer.h - from the text of a demand and the tables to a schedule that is proven.
 * Thread rules: pure, but for what is asked through the task.
 */
#ifndef FORS_CORE_DEMAND_ANSWER_H
#define FORS_CORE_DEMAND_ANSWER_H

#include "steps.h"

/* What is asked for; all borrowed. */
struct fors_demand_task {
	const struct fors_net *net; /* indexed */
	const struct fors_lfts *lfts;
	const char *text; /* of the demand file */
	size_t size;
	const char *name; /* of that file, for messages */
	const struct fors_schedule
		*uniform;    /* the plan of all with all over these tables, where no part is asked for; NULL: none */
	uint64_t phase_cost; /* picoseconds of a phase */
	bool (*cancelled)(void *context);				  /* NULL: never */
	uint8_t (*sl)(void *context, uint32_t src_lid, uint32_t dst_lid); /* NULL: no service levels are known */
	void *context;
	struct fors_plan_limits limits;	   /* steps and bytes; zeros: what is usual, and any */
	struct fors_demand_part part;	   /* zeros: all of the fabric */
	const struct fors_namebook *names; /* as struct fors_demand_hosts has them */
};

struct fors_demand_report {
	uint32_t messages, nphases;
	double over_bound; /* T / LB without the cost of phases */
	struct fors_warnings warnings;
};

/*
 * The schedule in *schedule, owned by the caller (fors_schedule_free()), each piece walked through the tables. The report is filled in as far as it was come.
 * Errors: FORS_EINPUT (the file), those of fors_flows_routed_read() (the tables), FORS_ENOPLAN (wrong, which is a bug), FORS_ECANCELLED, FORS_ELIMIT,
 * FORS_ENOMEM.
 */
enum fors_err fors_demand_answer(const struct fors_demand_task *task, struct fors_schedule **schedule,
				 struct fors_demand_report *report, struct fors_error *error);

#endif
