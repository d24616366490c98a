/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * route.h - tables and rounds of a three-level tree, made together.
 * Thread rules: pure; what is made is plain data.
 */
#ifndef FORS_CORE_PLANNERS_PODS_ROUTE_H
#define FORS_CORE_PLANNERS_PODS_ROUTE_H

#include "core/fabric/pods.h"
#include "core/net/lfts.h"
#include "core/net/witness.h"

#define FORS_PODS_ROUTE_NONE UINT16_MAX /* no round */
#define FORS_PODS_ROUTE_EFFORT 250	/* words of masks per unit: more finds little more */

/*
 * The effort for who must not be kept waiting, with which rounds take about as long as the rest: what a failure needs;
 * nothing in large trees where leaves have more servers than cables up, for there so little finds nothing. With so little
 * there may be no rounds, in small trees where single flows need fewer phases.
 */
uint32_t fors_pods_route_little_effort(const struct fors_pods *pods);

struct fors_pods_route {
	struct fors_lfts *lfts; /* of all living switches of now; owned, NULL: taken (core/planners/routing.h) */
	uint32_t nlids;		/* theirs */
	uint32_t nservers;	/* slots with a LID */
	uint32_t bound; /* no exchange of all slots whose leaf lives has fewer phases; UINT32_MAX: some are cut off */
	uint32_t bound_servers;	 /* the same of all slots with a LID */
	uint32_t length;	 /* phases of a round, 0: there are no rounds */
	uint32_t nrounds, nleft; /* nleft: units without a round */
	uint32_t nslots;	 /* of the tree */
	uint16_t *round;	 /* [leaf * nslots + slot]: of the unit, FORS_PODS_ROUTE_NONE */
	uint32_t *number;  /* per slot: by which homes are, in a tree that is not regular; NULL: homes are others */
	uint8_t *level;	   /* per node of now: enum fors_pods_level */
	uint32_t *leaf_of; /* per node of now: the leaf, FORS_NONE */
	uint32_t *slot_of; /* per LID below nlids: the slot whose base LID it is, FORS_NONE */
};

/*
 * Tables for all living switches, and rounds for all units as far as `effort` (words of masks per unit,
 * FORS_PODS_ROUTE_EFFORT) finds them, in *route, owned by the caller. Effort 0 searches for nothing: tables in a few steps
 * per entry, rounds only where a formula has them (round is NULL else). A function of `pods` and effort alone: who
 * takes part in an exchange does not matter. What cannot be reached going up, then down, has no entry, or keeps the
 * port of a dead cable. Errors: FORS_ENOMEM.
 */
enum fors_err fors_pods_route_make(const struct fors_pods *pods, uint32_t effort, struct fors_pods_route **route,
				   struct fors_error *error);
void fors_pods_route_free(struct fors_pods_route *route);

/*
 * No exchange of the slots that play (fors_fattree_players(); NULL: all with a LID) over the cables that live has fewer
 * phases, in *bound; UINT32_MAX: some are cut off. Errors: FORS_ENOMEM.
 */
enum fors_err fors_pods_route_bound(const struct fors_pods *pods, const bool *plays, uint32_t *bound,
				    struct fors_error *error);
/* Why, in *witness (all zero; the caller's to clear): port, a cut, or nothing: some are cut off. Errors: FORS_ENOMEM. */
enum fors_err fors_pods_route_witness(const struct fors_pods *pods, const bool *plays, struct fors_witness *witness,
				      struct fors_error *error);

/* The round of the unit from a switch (a node of now) to a base LID, FORS_PODS_ROUTE_NONE: there is none. */
static inline uint32_t fors_pods_route_round(const struct fors_pods_route *route, uint32_t node, uint32_t lid)
{
	uint32_t leaf = route->leaf_of[node], slot = lid < route->nlids ? route->slot_of[lid] : FORS_NONE;

	return !route->round || leaf == FORS_NONE || slot == FORS_NONE
		       ? FORS_PODS_ROUTE_NONE
		       : route->round[(size_t)leaf * route->nslots + slot];
}

#endif
