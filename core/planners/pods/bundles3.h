/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bundles3.h - room for more items of a pod than its cables to tops would take in whole cohorts: long cohorts, and
 * bundles in them (private to this room).
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_PODS_BUNDLES3_H
#define FORS_CORE_PLANNERS_PODS_BUNDLES3_H

#include "split3.h"

#define FORS_BUNDLES3_NONE UINT16_MAX

/* All m1 items from a pod to a leaf of another one, in one cohort; one of them has no track, the ghost. */
struct fors_bundle3 {
	uint16_t from, to, cohort;
	uint16_t ghost; /* the ghost's plane */
	uint16_t index; /* among those from the same pod in the same cohort */
	uint16_t leaf;	/* number of the leaf in `to`, FORS_BUNDLES3_NONE: not known, or none could be found */
};

struct fors_bundles3 {
	uint32_t nlong; /* long cohorts: 0 .. nlong - 1 */
	uint32_t n;
	struct fors_bundle3 *bundle;
	uint16_t *rung; /* [bundle * nplanes + plane]: in the ghost's plane its host's, of the same pods */
	uint16_t *
		partner; /* where an item goes: see fors_bundles3_place(); to its own pod: it stays, or a ghost comes */
	uint16_t *of;	 /* the same: of which bundle it is, FORS_BUNDLES3_NONE */
};

/*
 * Bundles for all that a split has left, in up to nlong long cohorts, in *bundles, owned by the caller. What is in
 * long cohorts is taken out of split->count then, and items that stay in their pod are in it, where there is room.
 * *bundles is NULL, and split->count as it was, where that cannot be done. Errors: FORS_ENOMEM.
 */
enum fors_err fors_bundles3_choose(struct fors_split3 *split, uint32_t nlong, struct fors_bundles3 **bundles,
				   struct fors_error *error);
void fors_bundles3_free(struct fors_bundles3 *bundles);

/* The number of the item of a pod in a track of a long cohort. */
static inline size_t fors_bundles3_place(const struct fors_split3 *split, uint32_t cohort, uint32_t track, uint32_t pod)
{
	return ((size_t)cohort * split->ntracks + track) * split->npods + pod;
}

#endif
