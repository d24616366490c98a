/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * outcome.h - what comes of planning the exchange of a fabric: a plan that is proven, or why there is none, and what
 * could be had.
 * Thread rules: an outcome is plain data of one owner; several may be made at a time.
 */
#ifndef FORS_CORE_PLANNERS_OUTCOME_H
#define FORS_CORE_PLANNERS_OUTCOME_H

#include "core/base/unknown.h"
#include "core/schedule/schedule.h"
#include "core/schedule/verify.h"
#include "method.h"

/* What is to be planned and proven; all borrowed for the time of a call. */
struct fors_request {
	struct fors_task task;	      /* its lanes may be NULL: read off lfts. The verifier asks its cancelled() too */
	const struct fors_net *net;   /* over whose cables the plan is proven, indexed */
	const struct fors_lfts *lfts; /* tables of the fabric, which the switches hold or will hold */
	double (*clock_ms)(void);     /* the caller's clock in milliseconds, for times; NULL: they stay unknown */
	bool *is_used; /* is_used of fors_verify_used(), of the last plan that was proven; NULL: nobody asks */
};

/* All zero but for what is unknown: see fors_outcome_init(). */
struct fors_outcome {
	struct fors_schedule *plan; /* to be looked at: fors_outcome_take() gives it away; owned; NULL: none */
	struct fors_error error;    /* why there is no plan; code FORS_OK: there is, or was until it was taken */
	int64_t lower_bound;	    /* LB; FORS_UNKNOWN where leaves are cut off */
	int64_t lump_bound;	    /* fors_lump_bound(), at LMC 0 only */
	int64_t tables_bound;	    /* fors_lanes_bound(), at LMC 0 only */
	int64_t lmc_needed;	    /* fors_lmc_needed(); FORS_UNKNOWN too when no LMC would help the method */
	uint64_t
		wanted_bytes; /* a plan that may be shorter would take so many, and may not (limits.bytes); 0: there is none */
	bool is_proven;		     /* the verifier found nothing wrong with the plan */
	struct fors_verdict verdict; /* of the last fors_outcome_prove(); its text says what is wrong */
	double plan_ms, verify_ms;   /* reading lanes and planning; verifying; negative: unknown */
};

/* Nothing known, nothing owned. */
void fors_outcome_init(struct fors_outcome *outcome);
/* Free what the outcome owns, and init it. */
void fors_outcome_clear(struct fors_outcome *outcome);

/*
 * Plan, and say what could be had: plan or error, the bounds, lmc_needed, plan_ms. What the outcome (initialised) held
 * is freed. That there is no plan is no error here. Errors: FORS_ENOMEM, FORS_ECANCELLED; the outcome is empty then.
 */
enum fors_err fors_outcome_plan(const struct fors_request *request, struct fors_outcome *outcome,
				struct fors_error *error);

/*
 * Verify the plan of the outcome, which has one: is_proven, verdict, verify_ms. May be called again for other tables or
 * cables; only the last answer counts. Errors: as fors_verify(); is_proven is false then.
 */
enum fors_err fors_outcome_prove(const struct fors_request *request, struct fors_outcome *outcome,
				 struct fors_error *error);

/* fors_outcome_plan(), then, if there is a plan, fors_outcome_prove(). Errors: of both; the outcome is empty then. */
enum fors_err fors_outcome_make(const struct fors_request *request, struct fors_outcome *outcome,
				struct fors_error *error);

struct fors_over_report;
struct fors_route3;

/*
 * lower_bound and tables_bound of a plan over tables that fors made for a tree of three levels, from what fors_plan_over() says,
 * and from `route`, what the tables were made with (NULL: not known). Its bound holds for all servers of the tree, so it
 * counts where all take part.
 */
void fors_outcome_bound(struct fors_outcome *outcome, const struct fors_over_report *report,
			const struct fors_route3 *route);

/* The plan, the caller's from now on; NULL when there is none or it is not proven (it stays the outcome's then). */
struct fors_schedule *fors_outcome_take(struct fors_outcome *outcome);

#endif
