/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * over.h - plan, bounds and proof over the tables of any engine, in a net of any topology.
 *
 * What outcome.h is for two-level fat-trees and tables of fors, this is for everything else: a net, the tables in its
 * switches, whoever wrote them, and who takes part; a schedule of version 2 comes out, proven, or the reason why there is
 * none.
 *
 * Thread rules: pure; several may run at a time. Callbacks are called by the caller's own thread.
 */
#ifndef FORS_CORE_PLANNERS_OVER_H
#define FORS_CORE_PLANNERS_OVER_H

#include "core/net/lfts.h"
#include "core/net/witness.h"
#include "core/schedule/schedule.h"
#include "core/schedule/verify.h"
#include "method.h"

struct fors_route3; /* core/planners/pods/route3.h */

/* What is to be planned over; all borrowed for the time of the call. */
struct fors_over_task {
	const struct fors_net *net; /* indexed */
	const struct fors_lfts *lfts;
	const struct fors_participants *participants; /* NULL: every CA port with a LID and a cable to a switch */
	/* The service level from a base LID to a LID that a flow goes to, FORS_NO_SL: not known. NULL: none is. */
	uint8_t (*sl)(void *context, uint32_t src_lid, uint32_t dst_lid);
	bool (*cancelled)(void *context);	      /* as in struct fors_task */
	void (*progress)(void *context, double done); /* the same */
	void *context;				      /* of these three */
	const struct fors_route3
		*rounds;	  /* what these tables were made with, in a three-level tree; NULL: nobody knows */
	double (*clock_ms)(void); /* the caller's clock in milliseconds, for times; NULL: they stay unknown */
	uint32_t path;		  /* only over this path index; 0: over some from the first one on */
	/* Per port of the net: nobody may send out by it; ways may be of any path index then. NULL: all may. */
	const bool *is_barred;
	struct fors_plan_limits limits; /* steps and bytes count; 0 bytes: FORS_OVER_MOST_BYTES */
	unsigned threads;    /* of the proof, and one for what else can be done meanwhile; 0 or 1: only the caller's */
	bool is_one_of_many; /* a job's: nothing is tried that takes long and saves a phase or two (harder.h) */
	bool is_quick; /* somebody waits, and the tables are those of fors: less work than usual, unless limits say how much (strategy.c) */
	bool is_proven_later; /* by the caller, who gives the plan to nobody before: there is no verdict */
};

#define FORS_OVER_ALL_PATHS 128 /* path indices that a server can have */
#define FORS_OVER_MOST_BYTES (UINT64_C(4) << 30)

struct fors_over_report {
	uint32_t nservers, nleaves;	  /* P; switches that servers hang on */
	uint32_t nnameless;		  /* cabled ports of adapters that have no LID, left out */
	uint32_t full;			  /* full speed in Mb/s; 0: not known */
	uint32_t least_flows, most_flows; /* that a link in use carries in a phase; 0: none is used */
	uint32_t nslow;			  /* servers whose cable is slower than full speed */
	char slowest[FORS_NAME_MAX + 1];  /* the slowest of them; empty: there is none */
	uint32_t npaths;		  /* path indices that were used */
	uint32_t longest;		  /* cables between switches on the longest way */
	uint32_t nphases;		  /* T */
	uint32_t bound_tables;	 /* no plan over these tables is shorter: max(P, phases of the fullest link, bound_best,
				  choice.h) */
	uint32_t fullest_flows;	 /* flows that cross that link in the whole exchange; 0: no link is used */
	uint32_t fullest_phases; /* in which it carries them: by its capacity */
	char fullest[2 * FORS_NAME_MAX + 32]; /* "Leaf00[21] -> Spine00[1]"; empty: no link is used */
	uint64_t wanted_bytes; /* single flows may allow fewer phases, but would take so much memory; 0: no */
	uint32_t bound_best;   /* no plan over any tables is shorter (over_bound.h) */
	struct fors_over_why {
		enum fors_argument by;
		uint32_t bound, node, port; /* node: whose cables are the cut, which link it is; FORS_NONE: none */
	} why_best, why_tables;	     /* why_tables: of these tables alone, so it may have less than bound_tables */
	struct fors_verdict verdict; /* of the plan */
	double plan_ms, verify_ms;   /* reading tables and planning; verifying; negative: unknown */
};

/*
 * Plan the exchange, prove the plan (unless the caller does), in *schedule, owned by the caller, and *report. Method
 * "flows"; epochs are 0. Errors, with nothing set: what fors_flows_routed_read() says of tables that cannot be used
 * (FORS_ENOPATH, FORS_ENOTAPPL), FORS_ELIMIT (too many servers for limits.bytes, or more phases than a schedule has),
 * FORS_ENOPLAN (the verifier found something wrong: a fault of fors), FORS_ECANCELLED, FORS_ENOMEM.
 */
enum fors_err fors_plan_over(const struct fors_over_task *task, struct fors_schedule **schedule,
			     struct fors_over_report *report, struct fors_error *error);

/*
 * Only look: what there is to say of the tables before a plan, in *report; no phases, no verdict. Errors: of the tables,
 * as above.
 */
enum fors_err fors_over_look(const struct fors_over_task *task, struct fors_over_report *report,
			     struct fors_error *error);

/*
 * The argument of why_best, in *witness (all zero; the caller's to clear): port, distance, or the cut of a switch.
 * Errors: FORS_ENOMEM.
 */
enum fors_err fors_over_witness_best(const struct fors_net *net, const struct fors_over_report *report,
				     struct fors_witness *witness, struct fors_error *error);
/* The same of why_tables: port, link, or ways, for which the tables of the report are read again. Errors: as fors_over_look(). */
enum fors_err fors_over_witness_tables(const struct fors_over_task *task, const struct fors_over_report *report,
				       struct fors_witness *witness, struct fors_error *error);

#endif
