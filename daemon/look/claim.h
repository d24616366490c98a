/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * claim.h - the table entries that the worker wants for jobs (job_index and job_routes in fors.conf).
 *
 * The search takes longer than OpenSM's lock may be held, so it is the worker's; what it has found is a claim, and the
 * source writes that into the tables of the next sweep: whatever of it is still right for the fabric that it finds
 * there (core/jobs/holdings_live.c). A look over these tables says which claim is in them, so the worker knows when it has
 * come true, and plans no sooner.
 *
 * A claim never changes, but for the worker's own note is_brief, and speaks of floors (core/jobs/floors.h) of its own. Several hold it:
 * the worker, the source, looks; the last one frees it. Threads: any, each with a hold of its own.
 */
#ifndef FORS_DAEMON_LOOK_CLAIM_H
#define FORS_DAEMON_LOOK_CLAIM_H

#include "core/jobs/holdings.h"

struct fors_claim {
	unsigned holders;	   /* atomic */
	uint64_t number;	   /* 1, 2, ...: of the worker's claims */
	uint64_t basis;		   /* of what it was found for, but for the fabric: jobs, settings */
	bool is_brief;		   /* the search was short, and left jobs slower than they might be */
	uint32_t index;		   /* the path index that belongs to jobs */
	struct fors_floors floors; /* whose numbers; a copy */
	struct fors_joblist list;
	struct fors_holdings holdings;
};

/* An empty one, held once by the caller, about copies of these floors. Errors: FORS_ENOMEM. */
enum fors_err fors_claim_new(const struct fors_floors *floors, struct fors_claim **claim, struct fors_error *error);

/* One more hold of it; NULL stays NULL. */
struct fors_claim *fors_claim_hold(struct fors_claim *claim);
/* One less. NULL is allowed. */
void fors_claim_drop(struct fors_claim *claim);

/*
 * What of its entries is right on the floors as they are now, in their numbers, in *now, owned by the caller
 * (fors_holdings_clear()), without owners; empty where these have other switches, and NULL claims nothing. Errors:
 * FORS_ENOMEM.
 */
enum fors_err fors_claim_entries(const struct fors_claim *claim, const struct fors_floors *floors,
				 struct fors_holdings *now, struct fors_error *error);

/* Write that into tables of the tree of these floors. Errors: FORS_ENOMEM; the tables are good for nothing then. */
enum fors_err fors_claim_write(const struct fors_claim *claim, const struct fors_floors *floors, struct fors_lfts *lfts,
			       struct fors_error *error);

#endif
