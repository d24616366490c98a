/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jobplan_index.h - tables in which one path index belongs to jobs.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_JOBPLAN_INDEX_H
#define FORS_CORE_PLANNERS_JOBPLAN_INDEX_H

#include "core/jobs/entries.h"

/*
 * Write entries of jobs into tables of the fabric, and give these LIDs the detours that they need then. Errors:
 * FORS_ENOMEM; the tables are good for nothing then.
 */
enum fors_err fors_jobtables_write(const struct fors_fabric *fabric, const struct fors_entries *entries, uint32_t index,
				   struct fors_lfts *lfts, struct fors_error *error);

struct fors_jobtables {
	uint32_t index; /* the path index of jobs: the last one of this fabric */
	struct fors_owners owners;
	struct fors_entries entries;
	struct fors_lfts *lfts; /* tables of the fabric with these entries */
};

/*
 * Share out the lanes among the jobs of the list, choose their entries, and write these into a copy of `lfts`, the
 * tables of the fabric, in *tables, owned by the caller (fors_jobtables_clear()). Exclusive jobs get entries too where
 * the fabric has fewer path indices than lanes. The tables are judged as all are (core/tables/check.h). Errors:
 * FORS_ELMC (one LID for each server: there is no index to give away), FORS_ETABLES (a fault of fors), FORS_ENOMEM.
 */
enum fors_err fors_jobtables_make(const struct fors_fabric *fabric, const struct fors_joblist *list,
				  const struct fors_lfts *lfts, struct fors_jobtables *tables,
				  struct fors_error *error);
void fors_jobtables_clear(struct fors_jobtables *tables);

#endif
