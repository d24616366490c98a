/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cuts.h - the optimum over all routings: max-min fair rates that no routing can beat.
 *
 * Take all servers and switches below a level: they fall apart into subtrees. Whatever the routing, a flow from one
 * subtree to another leaves the first by its uplinks and enters the second by its downlinks, so the rates of the flows
 * that leave a subtree add up to no more than its uplinks carry. In a fat-tree without failures this is all
 * that limits them: spread evenly over all shortest paths, rates that respect every such cut overload no link. So the
 * optimum is the max-min fair rates over single paths in the tree of subtrees, where each subtree has one fat link
 * up and one down (Mollah et al., MMF_PGFT_OPT; lab/doc/model.md has the proof). graph/maxmin.c then fixes each flow and
 * each cut once.
 *
 * With failures the cuts still hold, so their rates are a bound: sorted upwards, no routing reaches larger ones in
 * lexicographic order, and the smallest rate is at most theirs. fors_cuts_reached() and fors_shares_fit() tell when
 * the bound is reached.
 *
 * Thread rules: plain data; any number of readers.
 */
#ifndef FORS_LAB_MODEL_OPTIMUM_CUTS_H
#define FORS_LAB_MODEL_OPTIMUM_CUTS_H

#include "core/net/tree.h"
#include "lab/model/graph/graph.h"

#define FORS_CUT_LEVELS 16		    /* more levels than that are left out: the bound stays a bound */
#define FORS_CUT_PATH (2 * FORS_CUT_LEVELS) /* the most cuts that a flow crosses */

struct fors_cuts {
	struct fors_graph
		*graph; /* one link up (2 c) and one down (2 c + 1) for each subtree c; nodes are not filled in */
	uint32_t nservers;
	unsigned nlevels; /* a flow crosses at most 2 nlevels cuts */
	uint32_t *
		subtree[FORS_CUT_LEVELS]; /* subtree[k][s]: the subtree of server s at level k, 0 .. all subtrees - 1 */
};

/* The cuts of a fat-tree without failures, in *cuts, owned by the caller. Errors: FORS_ENOMEM. */
enum fors_err fors_cuts_of_tree(const struct fors_tree *tree, struct fors_cuts **cuts, struct fors_error *error);

/* The cuts of a crossbar: only the servers' own links. What throughput indices are relative to. Errors: FORS_ENOMEM. */
enum fors_err fors_cuts_of_crossbar(uint32_t nservers, struct fors_cuts **cuts, struct fors_error *error);
void fors_cuts_free(struct fors_cuts *cuts);

/*
 * The cuts that a flow from server s to d crosses, in cut[] (room for FORS_CUT_PATH), and their number; 0 when s = d,
 * or when nothing connects them.
 */
unsigned fors_cuts_path(const struct fors_cuts *cuts, uint32_t s, uint32_t d, uint32_t *cut);

/*
 * The max-min fair rates under the cuts, of flows src[f] -> dst[f] (server numbers), in rate[0 .. nflows-1]. A flow to
 * itself takes no link and gets 0, so does one that nothing connects. Up to `threads` threads; the
 * same bytes for any number of them. Errors: FORS_ENOMEM; rate is undefined then.
 */
enum fors_err fors_cuts_optimum(const struct fors_cuts *cuts, const uint32_t *src, const uint32_t *dst, uint32_t nflows,
				unsigned threads, double *rate, struct fors_error *error);

#endif
