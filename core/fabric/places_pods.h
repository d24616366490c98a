/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * places_pods.h - the kept order of a tree of three levels.
 *
 * What is kept of it is all that was ever seen, as a net whose nodes keep their numbers (pods.h): orders and homes
 * follow from that. So places are of one kind or the other: of two levels with leaves, spines and lanes, or of three
 * with such a net. What sweeps show decides which, as fors_places_learn_tree() says. Thread rules: as places.h.
 */
#ifndef FORS_CORE_FABRIC_PLACES_PODS_H
#define FORS_CORE_FABRIC_PLACES_PODS_H

#include "places.h"
#include "pods.h"

/*
 * Learn what `net` (indexed) shows, of a tree of two levels as fors_places_learn() does, or of three.
 *
 * It is one of two if it can be read as one in which all leaves with servers ever had a spine in common; else, if it is
 * one of three, it is that; else it is what it can be read as: leaves cut off from each other are not this function's
 * concern. A known tree of three levels stays one as long as it can be: a pod that is left alone looks like a tree of
 * two. What contradicts it is learnt anew, unless it began with a reference. *not_three (may be NULL) says why it is
 * none of three levels where that was asked for, and is empty else.
 *
 * Errors: those of fors_places_learn(); the places are unchanged then.
 */
enum fors_err fors_places_learn_tree(struct fors_places *places, const struct fors_net *net, const uint64_t *root_guids,
				     size_t nroots, struct fors_error *not_three, struct fors_error *error);

/* All that was ever seen of a tree of three levels, borrowed; NULL: it is one of two. */
const struct fors_net *fors_places_known(const struct fors_places *places);

/*
 * The tree of three levels with what of it lives in `now`, in *pods, owned by the caller. `known`: fors_places_known(),
 * or a copy of it, and as `now` borrowed by *pods. Errors: FORS_ENOTREE (never of places that have just learnt),
 * FORS_ENOMEM.
 */
enum fors_err fors_places_pods(const struct fors_places *places, const struct fors_net *known,
			       const struct fors_net *now, struct fors_pods **pods, struct fors_error *error);

#endif
