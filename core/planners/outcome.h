/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * outcome.h - what comes of planning the exchange of a fabric: a plan that is proven, or why there is none, and what
 * could be had.
 *
 * There is one question and one answer, whoever made the tables. A request with a fabric is one of two levels, planned over
 * its lanes by the methods of planner.h. Any other is planned over the ways of its tables as they are (over.c), in a net
 * of any topology; so is a tree of three levels.
 *
 * Thread rules: an outcome is plain data of one owner; several may be made at a time. Callbacks are called by the
 * caller's own thread.
 */
#ifndef FORS_CORE_PLANNERS_OUTCOME_H
#define FORS_CORE_PLANNERS_OUTCOME_H

#include "core/base/unknown.h"
#include "core/fabric/fattree.h"
#include "core/net/witness.h"
#include "core/schedule/schedule.h"
#include "core/schedule/verify.h"
#include "method.h"

struct fors_pods_route; /* core/planners/pods/route.h */

#define FORS_OVER_ALL_PATHS 128 /* path indices that a server can have */
#define FORS_OVER_MOST_BYTES (UINT64_C(4) << 30)

/* How long a plan over ways may take. */
enum fors_haste {
	FORS_AT_LEISURE,
	FORS_ONE_OF_MANY, /* a job's: nothing that takes long and saves a phase or two (flows/retry.h) */
	FORS_QUICK,	  /* the same with less work for the packing itself, unless limits say how much */
};

/* What is to be planned and proven; all borrowed for the time of a call. */
struct fors_request {
	struct fors_task task;	      /* its fabric NULL: over ways; its lanes may be NULL: read off lfts */
	const struct fors_net *net;   /* over whose cables the plan is proven, indexed */
	const struct fors_lfts *lfts; /* tables of the net, which the switches hold or will hold */
	double (*clock_ms)(void);     /* the caller's clock in milliseconds, for times; NULL: they stay unknown */
	bool *is_used; /* is_used of fors_verify_used(), of the last plan that was proven; NULL: nobody asks */

	/* What follows is for plans over ways. */
	const struct fors_participants *participants; /* NULL: every CA port with a LID and a cable to a switch */
	const struct fors_pods_route *rounds; /* what the tables were made with; NULL: nothing, or nobody knows */
	/* The service level from a base LID to a LID that a flow goes to, FORS_NO_SL: not known. NULL: none is. */
	uint8_t (*sl)(void *levels, uint32_t src_lid, uint32_t dst_lid);
	void *levels;
	uint32_t path; /* only over this path index; 0: over some from the first one on */
	/* Per port of the net: nobody may send out by it; ways may be of any path index then. NULL: all may. */
	const bool *is_barred;
	enum fors_haste haste;
};

/* What there is to say of tables before there is a plan over their ways; all zero: nobody has walked them. */
struct fors_ways_seen {
	uint32_t nservers, nleaves;	  /* P; switches that servers hang on */
	uint32_t nnameless;		  /* cabled ports of adapters that have no LID, left out */
	uint32_t full;			  /* full speed in Mb/s; 0: not known */
	uint32_t least_flows, most_flows; /* that a link in use carries in a phase; 0: none is used */
	uint32_t nslow;			  /* servers whose cable is slower than full speed */
	char slowest[FORS_NAME_MAX + 1];  /* the slowest of them; empty: there is none */
	uint32_t npaths;		  /* path indices that were used */
	uint32_t longest;		  /* cables between switches on the longest way */
	uint32_t fullest_flows;	 /* flows that cross the fullest link in the whole exchange; 0: no link is used */
	uint32_t fullest_phases; /* in which it carries them: by its capacity */
	char fullest[2 * FORS_NAME_MAX + 32]; /* "Leaf00[21] -> Spine00[1]"; empty: no link is used */
	double best_length; /* no exchange takes less, over any tables, in phases at full speed (over_bound.h) */
	struct fors_over_why {
		enum fors_argument by;
		uint32_t bound, node, port; /* node: whose cables are the cut, which link it is; FORS_NONE: none */
	} best, tables; /* bounds over any tables, and over these alone, which may be less; see fors_over_witness_*() */
};

/* All zero but for what is unknown: see fors_outcome_init(). */
struct fors_outcome {
	struct fors_schedule *plan; /* to be looked at: fors_outcome_take() gives it away; owned; NULL: none */
	struct fors_error error;    /* why there is no plan; code FORS_OK: there is, or was until it was taken */
	int64_t lower_bound;	    /* LB; FORS_UNKNOWN where leaves are cut off, or tables could not be read */
	int64_t lump_bound;	    /* fors_lump_bound(), at LMC 0 only; over ways: fors_outcome_lump() */
	int64_t tables_bound;	    /* over these tables; of two levels fors_lanes_bound(), at LMC 0 only */
	int64_t lmc_needed;	    /* fors_lmc_needed(); FORS_UNKNOWN too when no LMC would help the method */
	uint64_t wanted_bytes; /* a plan that may be shorter would take so many, and may not (limits.bytes); 0: none */
	bool is_proven;	       /* the verifier found nothing wrong with the plan */
	struct fors_verdict verdict; /* of the last fors_outcome_prove() */
	double plan_ms, verify_ms;   /* reading tables and planning; verifying; negative: unknown */
	struct fors_ways_seen seen;  /* over ways */
};

/* Nothing known, nothing owned. */
void fors_outcome_init(struct fors_outcome *outcome);
/* Free what the outcome owns, and init it. */
void fors_outcome_clear(struct fors_outcome *outcome);

/*
 * Plan, and say what could be had: plan or error, the bounds, lmc_needed, plan_ms. What the outcome (initialised) held
 * is freed. That there is no plan is no error here. Errors: FORS_ENOMEM, FORS_ECANCELLED; the outcome is empty then.
 *
 * Over ways the method is "flows", or "rounds" where the tables were made with rounds, whether or not it is asked for by name, which is why any other is refused
 * (FORS_ENOTAPPL); other reasons are what fors_flows_routed_read() says of tables that cannot be used (FORS_ENOPATH,
 * FORS_ENOTAPPL), and FORS_ELIMIT: too many servers for limits.bytes (0: FORS_OVER_MOST_BYTES), or more phases than a
 * schedule has.
 */
enum fors_err fors_outcome_plan(const struct fors_request *request, struct fors_outcome *outcome,
				struct fors_error *error);

/* Over tables of fors in a tree of three levels: what servers with one LID each need, whatever the tables, as lump_bound. */
void fors_outcome_lump(const struct fors_fattree *tree, struct fors_outcome *outcome);

/* Without a plan: all else that there is to say of the ways of tables. Errors: as above. */
enum fors_err fors_outcome_look(const struct fors_request *request, struct fors_outcome *outcome,
				struct fors_error *error);

/*
 * Verify the plan of the outcome, which has one: is_proven, verdict, verify_ms, and error, FORS_ENOPLAN, of one that is
 * wrong. May be called again for other tables or cables; only the last answer counts. Errors: as fors_verify();
 * is_proven is false then.
 */
enum fors_err fors_outcome_prove(const struct fors_request *request, struct fors_outcome *outcome,
				 struct fors_error *error);

/* fors_outcome_plan(), then, if there is a plan, fors_outcome_prove(). Errors: of both; the outcome is empty then. */
enum fors_err fors_outcome_make(const struct fors_request *request, struct fors_outcome *outcome,
				struct fors_error *error);

/*
 * fors_outcome_make() for who wants nothing but a proven plan, in *plan, the caller's: that there is none is an error here.
 * *outcome (NULL: nobody asks) is written in any case, and owns nothing. Errors: of both, and outcome.error.
 */
enum fors_err fors_plan_proven(const struct fors_request *request, struct fors_schedule **plan,
			       struct fors_outcome *outcome, struct fors_error *error);

/* The plan, the caller's from now on; NULL when there is none or it is not proven (it stays the outcome's then). */
struct fors_schedule *fors_outcome_take(struct fors_outcome *outcome);

#endif
