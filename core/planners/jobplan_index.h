/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jobplan_index.h - lanes of jobs in a tree of two levels or three, and tables in which one path index belongs to jobs.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_JOBPLAN_INDEX_H
#define FORS_CORE_PLANNERS_JOBPLAN_INDEX_H

#include "core/jobs/holdings.h"

/*
 * Write entries of jobs into tables of a fabric of two levels, and give these LIDs the detours that they need then. Errors:
 * FORS_ENOMEM; the tables are good for nothing then.
 */
enum fors_err fors_jobtables_write(const struct fors_fabric *fabric, const struct fors_entries *entries, uint32_t index,
				   struct fors_lfts *lfts, struct fors_error *error);

/* The same on all floors of a tree of two levels or three; of three all detours stay. */
enum fors_err fors_jobtables_apply(const struct fors_floors *floors, const struct fors_holdings *holdings,
				   uint32_t index, struct fors_lfts *lfts, struct fors_error *error);

struct fors_jobtables {
	uint32_t index;		       /* the path index of jobs: the last one of this fabric */
	struct fors_holdings holdings; /* on the floors of the tree */
	struct fors_lfts *lfts;	       /* tables of the tree with the entries; NULL: none belongs to jobs */
};

/*
 * Share out the lanes among the jobs of the list, in *tables, owned by the caller (fors_jobtables_clear()). `floors` are
 * those of the tree, and the list is on the first of them. With `lfts`, the tables of the tree, its last path index
 * belongs to jobs: their entries are written into a copy, which is judged as all tables are (core/tables/check.h). Exclusive
 * jobs get entries too where the tree has fewer path indices than lanes. Errors: FORS_ELMC (one LID for each server: there
 * is no index to give away), FORS_ETABLES (a fault of fors), FORS_ENOMEM.
 */
enum fors_err fors_jobtables_make(const struct fors_fattree *tree, const struct fors_floors *floors,
				  const struct fors_joblist *list, const struct fors_lfts *lfts,
				  struct fors_jobtables *tables, struct fors_error *error);
void fors_jobtables_clear(struct fors_jobtables *tables);

/* Has the tree a path index for each way up, so that a sender can choose any? */
bool fors_jobtables_has_all(const struct fors_floors *floors);

#endif
