/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lanes.h - cables of a three-level tree by lanes, and where every server is at home (private to this module and its
 * tests).
 *
 * A lane of a leaf is one cable to one plane: lane = cable * nplanes + plane. A rung of a plane is one cable to one of
 * its tops. A server's home is a lane, below its leaf and above all others, and a rung of that lane's plane, the same
 * in all pods. Path index i is at home i lanes further, and once round a rung further.
 *
 * Homes are D-mod-K: servers take lanes in turn, and those of one plane take its rungs in turn. In a *regular* tree
 * (pods of m2 leaves of m1 slots each, lanes and rungs for all) each pod begins anew, so that server x of leaf y has
 * lane x, and the same rung whatever its pod; else turns go on from leaf to leaf and from pod to pod, which levels
 * what is left over. A plane that lacks some of the tops that another one has gets rungs to tops that nobody ever saw.
 *
 * Thread rules: plain data once it is made; any number of readers.
 */
#ifndef FORS_CORE_PLANNERS_PODS_LANES_H
#define FORS_CORE_PLANNERS_PODS_LANES_H

#include "core/fabric/pods.h"

struct fors_pods_lanes {
	const struct fors_pods *pods; /* borrowed */
	uint32_t nlanes;	      /* cables of a plane to a leaf, the most, times planes */
	uint32_t nrungs;	      /* of the plane with most */
	uint32_t *rungs;	      /* per plane: how many */
	uint32_t nunseen;    /* rungs of all planes that stand for tops that were never seen: no mid has a port there */
	uint32_t *rung_top;  /* [plane * nrungs + rung]: the top */
	uint8_t *leaf_port;  /* [leaf * nlanes + lane]: the leaf's port, 0: none */
	uint8_t *mid_port;   /* [mid * nrungs + rung]: the mid's port, 0: none */
	uint16_t *home_lane; /* per slot */
	uint16_t *home_rung; /* per slot */
	uint32_t *in_plane;  /* [pod * nplanes + plane]: slots at home there */
	bool is_regular;
	bool is_numbered; /* homes are by number (number.h), in a tree that is not regular: the same for all pods */
	uint32_t m1, m2;  /* of a regular tree: slots of a leaf, leaves of a pod */
};

/* Errors: FORS_ENOMEM. The caller frees *lanes with fors_pods_lanes_free(). */
enum fors_err fors_pods_lanes_read(const struct fors_pods *pods, struct fors_pods_lanes **lanes,
				   struct fors_error *error);
void fors_pods_lanes_free(struct fors_pods_lanes *lanes);

/* number % of; mostly it is below that already, and divisions take long. */
static inline uint32_t fors_pods_lanes_modulo(uint32_t number, uint32_t of)
{
	return number < of ? number : number % of;
}

/* Home of path index `index` of a slot. */
static inline uint32_t fors_pods_lanes_lane(const struct fors_pods_lanes *lanes, uint32_t slot, uint32_t index)
{
	return fors_pods_lanes_modulo(lanes->home_lane[slot] + index, lanes->nlanes);
}

static inline uint32_t fors_pods_lanes_plane(const struct fors_pods_lanes *lanes, uint32_t lane)
{
	return fors_pods_lanes_modulo(lane, lanes->pods->nplanes);
}

/* On which rung of a plane; the plane has some. */
static inline uint32_t fors_pods_lanes_rung(const struct fors_pods_lanes *lanes, uint32_t plane, uint32_t slot,
					    uint32_t index)
{
	uint32_t further = index < lanes->nlanes ? 0 : index / lanes->nlanes;

	return fors_pods_lanes_modulo(lanes->home_rung[slot] + further, lanes->rungs[plane]);
}

/*
 * The same for a mid of another pod. Where the tree is not regular its own pod's servers are left out of the turns, so
 * that what is left over on its way up is at most one server; and pods begin at different rungs. Homes by number are the same
 * for all pods; what has to leave that plane is spread.
 */
static inline uint32_t fors_pods_lanes_rung_from(const struct fors_pods_lanes *lanes, uint32_t mid, uint32_t slot,
						 uint32_t index)
{
	const struct fors_pods *pods = lanes->pods;
	uint32_t pod = pods->mid[mid].pod, plane = pods->mid[mid].plane, rungs = lanes->rungs[plane], own;

	if (lanes->is_regular || pod == FORS_NONE ||
	    (lanes->is_numbered && plane == fors_pods_lanes_plane(lanes, fors_pods_lanes_lane(lanes, slot, index))))
		return fors_pods_lanes_rung(lanes, plane, slot, index);
	own = pods->leaf[pods->slot[slot].leaf].pod > pod ? lanes->in_plane[pod * pods->nplanes + plane] : 0;
	return (fors_pods_lanes_rung(lanes, plane, slot, index) + rungs - own % rungs + pod) % rungs;
}

/* The mid that a leaf's lane leads to, FORS_NONE. */
static inline uint32_t fors_pods_lanes_mid(const struct fors_pods_lanes *lanes, uint32_t leaf, uint32_t lane)
{
	return fors_pods_mid(lanes->pods, lanes->pods->leaf[leaf].pod, fors_pods_lanes_plane(lanes, lane));
}

/* Is a leaf's lane there and alive? */
static inline bool fors_pods_lanes_live(const struct fors_pods_lanes *lanes, uint32_t leaf, uint32_t lane)
{
	uint8_t port = lanes->leaf_port[(size_t)leaf * lanes->nlanes + lane];

	return port && fors_pods_live(lanes->pods, lanes->pods->leaf[leaf].node, port);
}

/* Is a mid's rung there and alive? */
static inline bool fors_pods_lanes_rung_live(const struct fors_pods_lanes *lanes, uint32_t mid, uint32_t rung)
{
	uint8_t port = lanes->mid_port[(size_t)mid * lanes->nrungs + rung];

	return port && fors_pods_live(lanes->pods, lanes->pods->mid[mid].node, port);
}

/* A regular tree in which tops choose ways down: between planes that share them, or parallel cables. */
static inline bool fors_pods_lanes_tops_choose(const struct fors_pods_lanes *lanes)
{
	uint32_t used = 0;

	for (uint32_t j = 0; j < lanes->pods->nplanes; j++)
		used += lanes->rungs[j];
	return lanes->is_regular && used - lanes->nunseen > lanes->pods->ntops;
}

/* The port at the other end of a known cable. */
static inline uint8_t fors_pods_lanes_far(const struct fors_pods *pods, uint32_t node, uint8_t port)
{
	return fors_net_port(pods->known, node, port)->peer_port;
}

#endif
