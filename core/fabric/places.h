/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * places.h - what has a place in the fabric, dead or alive, in an order that never changes (the idea: fabric.h).
 * Thread rules: may be read by any number of threads, nobody may change them meanwhile.
 */
#ifndef FORS_CORE_FABRIC_PLACES_H
#define FORS_CORE_FABRIC_PLACES_H

#include "pods.h"

struct fors_places;

/* No places yet, or NULL when out of memory. Freed with fors_places_free(). */
struct fors_places *fors_places_new(void);
void fors_places_free(struct fors_places *places);
/* A deep copy, or NULL when out of memory. */
struct fors_places *fors_places_copy(const struct fors_places *places);

/* Has a switch with this GUID a place? */
bool fors_places_has(const struct fors_places *places, uint64_t guid);

/* How many places there are, of the living and the dead. */
struct fors_places_size {
	uint32_t leaves, spines,
		lanes;	/* of three levels: spines are middle switches and tops, and there are no lanes */
	uint32_t slots; /* server ports ever seen */
};
struct fors_places_size fors_places_size(const struct fors_places *places);

/* How often all was forgotten because the sides were wrong, see fors_places_learn(); not kept on disk. */
uint32_t fors_places_restarts(const struct fors_places *places);

/*
 * Learn what `net` (indexed) shows of a tree of two levels: switches not seen before become leaves or spines, a new
 * spine takes the place of the dead one whose leaf ports it occupies, else the first dead place, else a new one; a new leaf likewise the dead
 * leaf whose spine ports it occupies, else a new place; cables and server slots are added, and forgotten when their
 * port is now used otherwise. What is spine: root_guids (nroots node GUIDs; NULL, 0 for none), else what was learnt
 * before, else the side of the bipartite switch graph with fewer CA ports. Places that contradict the root GUIDs, or
 * have fewer slots than leaves, and than there are CAs under what they call spines, were learnt with the sides
 * exchanged: all is forgotten and learnt anew, unless a reference says so. A switch with CAs that hangs below one leaf
 * (a stub) gets no place. Errors: FORS_ENOTREE (two leaves, two spines or two trees cabled together, no switch at all;
 * named), FORS_ELIMIT, FORS_ENOMEM; the places are unchanged then.
 */
enum fors_err fors_places_learn(struct fors_places *places, const struct fors_net *net, const uint64_t *root_guids,
				size_t nroots, struct fors_error *error);

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
 * The tree of three levels with what of it lives in `now`, in *pods, owned by the caller. `known`: a copy of
 * fors_places_known(), which is completed (missing.h), and as `now` borrowed by *pods. Errors: FORS_ENOTREE (never of places that have just learnt),
 * FORS_ENOMEM.
 */
enum fors_err fors_places_pods(const struct fors_places *places, struct fors_net *known, const struct fors_net *now,
			       struct fors_pods **pods, struct fors_error *error);

#endif
