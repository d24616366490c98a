/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * floors.h - where the cables of a fat-tree are shared out: one floor of a tree of two levels, several of three.
 *
 * What owners.h and entries.h know is leaves, lanes to spines, and servers below leaves. A tree of three levels is made of
 * such floors (doc/jobs.md):
 *
 *      floor 0       its leaves below planes: a lane is a leaf's cable to the middle switch of a plane in its pod
 *      floor 1 + j   the pods below the tops of plane j: a lane is a cable of the pod's middle switch there
 *
 * A flow between two pods takes a lane up and a lane down on floor 0, of one plane, and between them the same on the
 * floor of this plane; one within a pod takes those on floor 0 only. So each floor is a tree of two levels, and all have the
 * same servers in the same order, on floor 1 + j below their pods.
 *
 * Thread rules: plain data once it is made; any number of readers.
 */
#ifndef FORS_CORE_JOBS_FLOORS_H
#define FORS_CORE_JOBS_FLOORS_H

#include "core/fabric/fattree.h"

struct fors_floors {
	uint32_t count; /* 1, or 1 + planes */
	const struct fors_fabric **floor;
	const struct fors_pods *pods; /* borrowed; NULL: of two levels, or of a copy */
	bool is_own;		      /* the floors are owned; else floor[0], of two levels, is borrowed */
	uint32_t *leaf;		      /* per leaf of floor 0: which of pods->leaf; ordered by pod. NULL of two levels */
	uint32_t *pod;		      /* per leaf of floor 0: its pod. NULL of two levels */
};

/*
 * The floors of a tree, in *floors, owned by the caller (fors_floors_clear()); they borrow of the tree. Errors:
 * FORS_ENOTAPPL (no tree; or planes that share tops, where a cable is of no plane alone), FORS_ELIMIT (more lanes than
 * FORS_MAX_LANES), FORS_ENOMEM.
 */
enum fors_err fors_floors_make(const struct fors_fattree *tree, struct fors_floors *floors, struct fors_error *error);
void fors_floors_clear(struct fors_floors *floors);
/* A copy that needs nothing of the tree, for comparing with others only, in *copy, owned by the caller. Errors: FORS_ENOMEM. */
enum fors_err fors_floors_copy(const struct fors_floors *floors, struct fors_floors *copy, struct fors_error *error);
/* Are switches, lanes, cables and servers of all floors the same, as far as owners and entries go by them? */
bool fors_floors_same(const struct fors_floors *one, const struct fors_floors *other);

/* Of three levels: the pod of a leaf of floor 0, and the switch that a pod has on floor 1 + plane (NULL: none). */
static inline uint32_t fors_floors_pod(const struct fors_floors *floors, uint32_t leaf)
{
	return floors->pod[leaf];
}

static inline const struct fors_pods_switch *fors_floors_mid(const struct fors_floors *floors, uint32_t pod,
							     uint32_t plane)
{
	uint32_t mid = fors_pods_mid(floors->pods, pod, plane);

	return mid == FORS_NONE ? NULL : &floors->pods->mid[mid];
}

#endif
