/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * holdings.h - lanes and entries of jobs on all floors of a tree (floors.h).
 *
 * Floor after floor: first which lanes each job owns at its leaves, and by which plane each of its leaves sends to each of its
 * servers (entries.h). What comes of it are the flows from each pod to each server through each plane; they are what is
 * shared out next, on the floor of this plane: which job owns which cable of a middle switch to a top, and which one of them
 * the middle switch takes for a server. There an entry stands for the flows of all leaves of the pod that send to the server
 * through the plane.
 *
 * Where nobody runs, or may move, all floors are shared out again with other random numbers while some job is slower than at
 * full speed; what loses least counts (fors_holdings_lost()).
 *
 * A job has all of its entries on all floors, or none at all. A tree of two levels has one floor, and nothing differs from
 * owners.h and entries.h.
 *
 * Thread rules: pure. Source: doc/jobs.md.
 */
#ifndef FORS_CORE_JOBS_HOLDINGS_H
#define FORS_CORE_JOBS_HOLDINGS_H

#include "entries.h"
#include "floors.h"

struct fors_holdings {
	uint32_t nfloors;
	struct fors_owners *owners;   /* per floor */
	struct fors_entries *entries; /* per floor; bound is of that floor alone */
	uint32_t *bound;	      /* [job]: no plan over its entries is shorter, on any floor; 0: it has none */
};

struct fors_holdings_task {
	const struct fors_floors *floors;
	const struct fors_joblist *list; /* on floor 0 */
	bool is_owners_only; /* of two levels: jobs choose their lanes, so there are no entries, and bounds are 0 */
	bool has_exclusive;  /* the next three: as in struct fors_entries_task, in this list's numbers */
	const struct fors_holdings *before;
	bool may_move;
	bool (*cancelled)(void *context); /* as in struct fors_owners_task */
	void *context;
	uint64_t owners_work; /* steps of the search for owners at most, of all floors together */
};

/*
 * Share out the lanes of all floors, in *holdings, owned by the caller (fors_holdings_clear()). Deterministic. Errors:
 * FORS_ENOMEM.
 */
enum fors_err fors_holdings_find(const struct fors_holdings_task *task, struct fors_holdings *holdings,
				 struct fors_error *error);
void fors_holdings_clear(struct fors_holdings *holdings);

/*
 * What the jobs had on the floors of a tree as it was, in the numbers of these floors and of a list in which job j was number
 * was_of[j] (FORS_NO_JOB: none; core/jobs/running.h), as struct fors_holdings_task wants it: in *before, owned by the caller;
 * nfloors 0 where the tree has other switches or lanes. (holdings_again.c) Errors: FORS_ENOMEM.
 */
enum fors_err fors_holdings_again(const struct fors_floors *then, const struct fors_holdings *holdings,
				  const struct fors_floors *now, const uint32_t *was_of, uint32_t count,
				  struct fors_holdings *before, struct fors_error *error);

/* The same of the entries alone: nobody owns anything there (owners[].job is NULL). */
enum fors_err fors_holdings_entries_again(const struct fors_floors *then, const struct fors_holdings *holdings,
					  const struct fors_floors *now, struct fors_holdings *again,
					  struct fors_error *error);

/*
 * Jobs that have entries own no lanes but those that these go over: what they do not use is free for who begins, so that
 * he takes none of the others. The list is on floor 0. Errors: FORS_ENOMEM.
 */
enum fors_err fors_holdings_narrow(const struct fors_floors *floors, const struct fors_joblist *list,
				   struct fors_holdings *holdings, struct fors_error *error);

/*
 * Do the same servers of a job, `was` in the one and `is` in the other, have all entries in both, and does each leaf send to each
 * of them by the same cables? Both in the numbers of these floors. Then a plan over the one is a plan over the other, whatever
 * else the job owns. (holdings_again.c)
 */
bool fors_holdings_same_ways(const struct fors_floors *floors, const struct fors_jobentry *was,
			     const struct fors_holdings *then, const struct fors_jobentry *is,
			     const struct fors_holdings *now);

/*
 * Drop the entries over cables that carry no traffic between servers now, in the numbers of these floors, and of three
 * levels all that such a way is made of: the tables keep what they have there. (holdings_live.c)
 */
void fors_holdings_prune(const struct fors_floors *floors, struct fors_holdings *holdings);

/* Do both say the same for each switch? Those of no floors say nothing, as those without any entry. */
bool fors_holdings_alike(const struct fors_holdings *one, const struct fors_holdings *other);

/*
 * Which jobs of the list have all their entries in these tables, of this path index, over cables that carry traffic? In
 * is_held[list->count]; false for those that want none. The entries were pruned on these floors. Errors: FORS_ENOMEM.
 */
enum fors_err fors_holdings_held(const struct fors_floors *floors, const struct fors_joblist *list,
				 const struct fors_holdings *holdings, uint32_t index, const struct fors_lfts *lfts,
				 bool *is_held, struct fors_error *error);

/*
 * By how much the jobs of the list that get entries (has_exclusive as in struct fors_entries_task) are slower than at full
 * speed, by their bounds: the sum, in thousandths of a job's time. 0: none is. (holdings_worth.c)
 */
uint64_t fors_holdings_lost(const struct fors_joblist *list, bool has_exclusive, const struct fors_holdings *holdings);

/*
 * Is `now` so much better for the jobs than `then`, which they have, that it pays the epochs of those who get other
 * lanes or entries? Who sends by the same entries keeps his plan, and his epoch. Both were found for the same list on the same floors.
 */
bool fors_holdings_pay(const struct fors_floors *floors, const struct fors_joblist *list, bool has_exclusive,
		       const struct fors_holdings *then, const struct fors_holdings *now);

/*
 * Write the entries into tables of the tree, for path index `index` (floors_tables.c). Each way that they make goes up, then
 * down, over living cables. Of two levels see fors_entries_apply().
 */
void fors_holdings_apply(const struct fors_floors *floors, const struct fors_holdings *holdings, uint32_t index,
			 struct fors_lfts *lfts);

/*
 * Whose is each cable, by the ports of the net: in owner[net->nports], both ends of a job's own cable its number in the list,
 * FORS_NO_JOB elsewhere (floors_tables.c).
 */
void fors_holdings_ports(const struct fors_floors *floors, const struct fors_holdings *holdings, uint32_t *owner);

#endif
