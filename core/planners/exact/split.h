/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * split.h - the ways between leaves, and how many flows take each (private to this module).
 * Thread rules: pure; a split belongs to one caller.
 */
#ifndef FORS_CORE_PLANNERS_EXACT_SPLIT_H
#define FORS_CORE_PLANNERS_EXACT_SPLIT_H

#include "core/planners/method.h"

/* A way from a leaf to another one, and what goes over it. */
struct fors_split_way {
	uint32_t seat[2]; /* up at the one, down at the other: split.c */
	uint8_t lane[2];  /* the same */
	uint16_t flows;
};

struct fors_split {
	uint32_t nleaves;
	uint32_t *
		begin; /* from leaf a to leaf b: the ways from begin[a * nleaves + b] on, to where those of the next pair begin */
	struct fors_split_way *way;
	uint32_t nphases; /* no seat has more flows, up or down */
};

/*
 * List the ways that the path indices of all servers of the receiving leaf offer: nleaves, begin and way[].lane, to be freed
 * in any case (fors_split_free()). Errors: FORS_ELMC, FORS_ENOTAPPL (two leaves without such a way), FORS_ENOMEM.
 */
enum fors_err fors_ways_list(const struct fors_task *task, struct fors_split *split, struct fors_error *error);

/*
 * Split the exchange over the ways that are listed, for the smallest number of phases, at_least or more, for which a split
 * is found. Counts its work. Errors: FORS_ECANCELLED, FORS_ENOMEM.
 */
enum fors_err fors_split_find(const struct fors_task *task, uint32_t at_least, struct fors_split *split,
			      struct fors_error *error);
void fors_split_free(struct fors_split *split);

#endif
