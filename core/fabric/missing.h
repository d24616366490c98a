/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * missing.h - cables that a switch lacks and its siblings have.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_FABRIC_MISSING_H
#define FORS_CORE_FABRIC_MISSING_H

#include "fattree.h"

/* Between two switches of neighbouring levels. */
struct fors_missing {
	uint32_t low, high; /* switches, by their numbers in the tree */
	uint32_t has;	    /* cables between them, dead ones too */
	uint32_t wanted;    /* cables between most pairs of such switches, more than `has` */
	uint32_t siblings;  /* of a leaf the other leaves (of its pod), of a middle switch the others of its plane */
	uint32_t agree;	    /* siblings that have `wanted` cables to the same switch */
};

/*
 * All of them, by the numbers of the switches below, then above, in *list (owned by the caller) and *count. *unclear: the
 * stage whose pairs of switches differ, and too few agree to say who lacks a cable; 1: above leaves, 2: above middle
 * switches, 0: none. Errors: FORS_ENOMEM.
 */
enum fors_err fors_missing_list(const struct fors_fattree *tree, struct fors_missing **list, uint32_t *count,
				unsigned *unclear, struct fors_error *error);

/*
 * Plug into `net`, whose nodes and cables are those of pods->known, what a tree of three levels never showed, and would have if it were
 * regular; *added: so many cables. They end at free ports; where there are none nothing is added. net may be NULL: *added says
 * whether there is anything to add, 0 or more. Errors: FORS_ENOMEM; net is undefined then.
 */
enum fors_err fors_complete(const struct fors_pods *pods, struct fors_net *net, uint32_t *added,
			    struct fors_error *error);

#endif
