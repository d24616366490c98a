/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * split3.h - how many items of each pair of pods go over which top, in so many cohorts (private to this room).
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_PODS_SPLIT3_H
#define FORS_CORE_PLANNERS_PODS_SPLIT3_H

#include "mix3.h"

/* An item of two pods that has no track. */
struct fors_split3_pair {
	uint16_t p, q;
};

/* A track is a rung of a plane: plane * width + rung. What goes from p to q goes from q to p as well. */
struct fors_split3 {
	uint32_t npods, width, ntracks;
	uint32_t ncohorts;	       /* items that a track takes of each pod, up, and as many down; */
	uint32_t m2;		       /* and so many times that all tracks of a plane */
	uint32_t nleft;		       /* items that have no track */
	struct fors_split3_pair *left; /* their pods, each pair once for both directions */
	bool *lives;		       /* [pod * ntracks + track]: the pod's cable */
	uint16_t *load;		       /* [pod * ntracks + track]: items that use it, up, and down */
	uint16_t *items;	       /* [p * npods + q]: items of p and q that have a track */
	uint16_t *count;	       /* [(p * npods + q) * ntracks + track]: items of p and q that use it */
};

/*
 * A split for a regular tree with a lane for each plane and a top for each rung, m1 m2 items for each pair of pods, or,
 * if there is a mix, of its length number `which` the parts that the pair's items have, over planes for that length, as
 * far as there is one that a search of some steps finds; from what is at home. What is left is spread over pairs, not
 * more than `most` for each if that can be; in one way of many, `seed` says which. In *split, owned by the caller.
 * Errors: FORS_ENOMEM.
 */
enum fors_err fors_split3_find(const struct fors_lanes3 *lanes, const struct fors_mix3 *mix, uint32_t which,
			       uint32_t ncohorts, uint32_t most, uint32_t seed, struct fors_split3 **split,
			       struct fors_error *error);
void fors_split3_free(struct fors_split3 *split);

/* Items of p and q that use a track. */
static inline uint16_t *fors_split3_count(const struct fors_split3 *s, uint32_t p, uint32_t q, uint32_t track)
{
	return &s->count[((size_t)p * s->npods + q) * s->ntracks + track];
}

static inline bool fors_split3_lives(const struct fors_split3 *s, uint32_t p, uint32_t track)
{
	return s->lives[(size_t)p * s->ntracks + track];
}

#endif
