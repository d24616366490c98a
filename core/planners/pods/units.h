/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * units.h - a round for each unit of a three-level tree, and the lanes of those that have none at home (private to
 * this module).
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_PODS_UNITS_H
#define FORS_CORE_PLANNERS_PODS_UNITS_H

#include "groups.h"

#define FORS_PODS_UNITS_NONE UINT16_MAX /* no round */
#define FORS_PODS_UNITS_PATIENT 250	/* with so much effort small trees are searched longer */

struct fors_pods_units {
	uint32_t length;  /* phases of a round: slots of a leaf; 0: there are no rounds */
	uint32_t nrounds; /* at most FORS_PODS_UNITS_NONE */
	uint32_t bound;	  /* no plan for all slots has fewer phases */
	uint32_t nleft;	  /* units without a round */
	uint16_t *round;  /* [leaf * nslots + slot], FORS_PODS_UNITS_NONE; NULL: there are no rounds */
};

/*
 * Levels what is not at home in `ways`, then finds rounds for the units of all slots whose leaf lives, and better
 * lanes for those that have none: entries of leaves for path index 0 change. In *units, owned by the caller
 * (fors_pods_units_clear()). `groups`: NULL where the tree is not regular. effort: words of masks to be looked at per
 * unit, and some millions at least, below FORS_PODS_UNITS_PATIENT some 100,000, and no rounds in small trees where single
 * flows need fewer phases; 0: nothing is searched for, there are rounds where the closed form has one for
 * each unit. Errors: FORS_ENOMEM.
 */
enum fors_err fors_pods_units_pack(struct fors_pods_ways *ways, const struct fors_pods_groups *groups, uint32_t effort,
				   struct fors_pods_units *units, struct fors_error *error);
void fors_pods_units_clear(struct fors_pods_units *units);

#endif
