/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * narrowest.h - where one more dead cable costs most, by the rule.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_FABRIC_NARROWEST_H
#define FORS_CORE_FABRIC_NARROWEST_H

#include "fattree.h"

/* A group of servers, all below one leaf, or in one pod. */
struct fors_narrowest {
	bool is_there; /* false: no group has a cable that the exchange needs */
	bool is_pod;
	bool is_cut;	  /* its last cable: without it some pairs of servers have no way */
	uint32_t number;  /* of the leaf, or the pod */
	uint32_t servers; /* n, that take part */
	uint32_t uplinks; /* u, cables up from the group that live */
	uint64_t limit;	  /* with one of them dead no schedule has fewer phases; of no meaning with is_cut */
	uint32_t cable;	  /* the first of them, by its number in the tree */
};

/* The group of the greatest limit, of equal ones the first, leaves before pods. Errors: FORS_ENOMEM. */
enum fors_err fors_narrowest_find(struct fors_fattree tree, struct fors_narrowest *narrowest, struct fors_error *error);

#endif
