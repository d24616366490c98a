/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * work.h - what the files of the exact planner share (private to this room).
 * Thread rules: a plan is one caller's; its steps run on all threads of that plan, each thread on leaves or phases of
 * its own (exact.c).
 */
#ifndef FORS_CORE_PLANNERS_EXACT_WORK_H
#define FORS_CORE_PLANNERS_EXACT_WORK_H

#include <stdatomic.h>

#include "core/colouring/colour.h"
#include "core/fabric/fabric.h"
#include "core/base/parallel.h"
#include "core/colouring/peel.h"
#include "core/planners/method.h"
#include "core/colouring/rowwise_large.h"
#include "core/schedule/schedule.h"
#include "split.h"

/* The graph whose colours are phases, and what its edges mean. */
struct fors_lane_graph {
	struct fors_multigraph graph;  /* left: up, right: down; it borrows the arrays below */
	uint16_t *left, *right, *mult; /* of each edge */
	uint8_t *way;		       /* of each edge; FORS_NO_LANE: inside the leaf */
	uint16_t *leaf_of;	       /* of each node */
	uint16_t *servers;	       /* n_a of each leaf */
};

/*
 * The graph of a split into T = nphases phases, in *lanes, to be released with fors_lane_graph_free(). It can be
 * coloured with T colours so that no node has two edges of a colour and no leaf more than n_a, up or down; groups are
 * there only when they are needed for the latter.
 * Errors: FORS_ELIMIT (too many nodes), FORS_ENOMEM; there is nothing to release then.
 */
enum fors_err fors_lane_graph_build(const struct fors_fabric *fabric, const struct fors_ways *ways,
				    const uint16_t *split, uint32_t nphases, struct fors_lane_graph *lanes,
				    struct fors_error *error);
void fors_lane_graph_free(struct fors_lane_graph *lanes);

/* Step 2 lane by lane, where that is possible. */
struct fors_lane_runs {
	const struct fors_ways *ways; /* borrowed */
	const uint16_t *split;	      /* borrowed */
	uint32_t nleaves, nlanes, nphases;
	uint16_t *inner;	/* nleaves x nlanes: flows inside the leaf that have their turn on the lane */
	uint32_t *more;		/* of each leaf: flows inside it that no lane has room for */
	struct fors_runs *lane; /* of each lane, once it is peeled: rows are sending leaves, columns receiving ones */
};

/*
 * Prepare step 2 for a split into nphases phases, in *runs, owned by the caller (fors_lane_runs_free()). NULL with
 * FORS_OK: it does not work lane by lane. Errors: FORS_ENOMEM.
 */
enum fors_err fors_lane_runs_new(const struct fors_fabric *fabric, const struct fors_ways *ways, const uint16_t *split,
				 uint32_t nphases, struct fors_lane_runs **runs, struct fors_error *error);
/* Find the runs of lane k; several lanes at once are all right. Errors: FORS_ENOMEM. */
enum fors_err fors_lane_runs_peel(struct fors_lane_runs *runs, uint32_t k, struct fors_error *error);
void fors_lane_runs_free(struct fors_lane_runs *runs);

/* Flows inside leaf a beside the lanes in a phase. */
static inline uint32_t fors_lane_runs_more(const struct fors_lane_runs *runs, uint32_t a, uint32_t phase)
{
	return runs->more[a] / runs->nphases + (phase < runs->more[a] % runs->nphases);
}

#define FORS_NOBODY FORS_ROWWISE_NOBODY
/* The end of the places first .. end - 1 of a leaf that have a flow: they come before those that have none. */
static inline uint32_t fors_exact_end(const uint16_t *peer, uint32_t first, uint32_t end)
{
	while (end > first && peer[end - 1] == FORS_NOBODY)
		end--;
	return end;
}

#define FORS_EXACT_BLOCK 16 /* phases written at a time: a cache line of the schedule's cells */

/* The flows of all phases, by place: nphases rows of a place for each server. */
struct fors_exact_flows {
	uint16_t *peer;	 /* out place: in place in the phase; after step 3, in place: sender; NOBODY: no flow */
	uint8_t *colour; /* out place: which server of the leaf sends; from step 4 on, in place: which one receives */
	uint8_t *way;	 /* in place; FORS_NO_LANE: inside the leaf */
};

/* What steps 3 and 4 work with at one leaf. */
struct fors_exact_seat {
	struct fors_rowwise_space *rows; /* NULL: leaves are too large for it, and have instead */
	uint16_t *node;			 /* of each place, row after row, and */
	uint8_t *colour;		 /* the same */
};

/* What one thread works with. */
struct fors_exact_bench {
	uint32_t *out, *in; /* per leaf: the next out place and in place of the phase; step 3: flows to a leaf so far */
	uint32_t *run;	    /* per lane: its run in this phase */
	uint16_t *from;	    /* a phase's senders by in place; the last one, NOBODY, is for what no flow sends */
	struct fors_exact_seat seat[FORS_ROWWISE_AT_ONCE];
	struct fors_colour_space *space; /* of step 2 when it is a colouring, and of large leaves */
	struct fors_rowwise_edges edges; /* of steps 3 and 4 at large leaves */
	struct fors_exact *plan;
};

struct fors_exact {
	const struct fors_task *task;
	const struct fors_fabric *fabric;
	struct fors_ways *ways;
	uint16_t *split;
	uint32_t nphases;
	unsigned threads;
	struct fors_lane_runs *runs;	   /* step 2 lane by lane; NULL: by colouring */
	struct fors_lane_graph lanes;	   /* what is coloured */
	struct fors_colour_pieces *pieces; /* of it */
	struct fors_exact_flows flows;
	uint32_t *first;   /* per leaf: its first server */
	uint16_t *leaf_of; /* per server */
	uint8_t *base;	   /* per server: home lane of path index 0 */
	bool is_plain;	   /* every flow over lane k has path index path[nlanes + k - base of its receiver] */
	uint8_t path[2 * (FORS_NO_LANE + 1)];
	struct fors_exact_bench bench[FORS_MAX_THREADS];
	struct fors_schedule *schedule;
	atomic_bool stop;
	double done, share; /* of the work, for progress: before this step, and this step's */
};

/* The first place of a leaf in a phase, out and in alike: it has one for each of its servers. */
static inline size_t fors_place(const struct fors_exact *plan, uint32_t leaf, uint32_t phase)
{
	return (size_t)phase * plan->fabric->nservers + plan->first[leaf];
}

/* Blocks of phases. */
static inline uint32_t fors_exact_blocks(const struct fors_exact *plan)
{
	return (plan->nphases + FORS_EXACT_BLOCK - 1) / FORS_EXACT_BLOCK;
}

/* What all steps do. True: stop; only the caller's own thread (worker 0) asks, the others hear of it. */
bool fors_exact_is_cancelled(struct fors_exact *plan, uint32_t worker);
/* The error of it. */
enum fors_err fors_exact_cancelled(struct fors_error *error);
/* Tell the caller that `item` of nitems of this step are done. */
void fors_exact_tell(struct fors_exact *plan, uint32_t worker, uint32_t item, uint32_t nitems);
/* Run the items of a step, or of a part of it, which is `share` of all work. */
enum fors_err fors_exact_run(struct fors_exact *plan, uint32_t nitems, fors_work work, double share,
			     struct fors_error *error);

/* Step 2, before memory is allocated: what it works on. Errors: FORS_ELIMIT, FORS_ENOMEM. */
enum fors_err fors_exact_prepare_phases(struct fors_exact *plan, struct fors_error *error);
/* Step 2: fills flows.peer and .way. */
enum fors_err fors_exact_phases(struct fors_exact *plan, double share, struct fors_error *error);
/* Step 3: makes flows.peer the senders. */
enum fors_err fors_exact_senders(struct fors_exact *plan, double share, struct fors_error *error);
/* Step 4: makes flows.colour the receivers. */
enum fors_err fors_exact_receivers(struct fors_exact *plan, double share, struct fors_error *error);

#endif
