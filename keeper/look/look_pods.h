/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * look_pods.h - what a look says of a tree of three levels.
 *
 * Such a look has no fabric. Its tables are fors's own; the plan is made over them as over any tables (look->over says
 * who takes part), beginning with the rounds that they were made with. Thread rules: plain data of whoever has the look.
 */
#ifndef FORS_KEEPER_LOOK_LOOK_PODS_H
#define FORS_KEEPER_LOOK_LOOK_PODS_H

#include "core/fabric/places_pods.h"
#include "core/fabric/pods_account.h"
#include "core/planners/pods/route3.h"
#include "look.h"

struct fors_look_pods {
	struct fors_net *known; /* all that was ever seen; owned, as all that follows */
	struct fors_pods *pods; /* what of it lives in the look's net; borrows both */
	bool *plays;		/* per slot: takes part */
	uint32_t nplayers;
	uint32_t cut_pairs; /* pairs of leaves with servers that take part and cannot reach each other */
	struct fors_route3
		*route; /* what the tables were made with, its lfts those of the look (not owned); NULL: nobody knows */
};

/*
 * Let the look be one of a tree of three levels, that of these places: look->pods and look->over, both without tables yet.
 * What it was of that kind before is forgotten. Errors: FORS_ENOMEM, FORS_ENOTREE.
 */
enum fors_err fors_look_be_pods(struct fors_look *look, const struct fors_places *places,
				const struct fors_participants *participants, struct fors_error *error);

/* NULL is allowed. */
void fors_look_pods_free(struct fors_look_pods *pods);

/* Both show the same tables: `newer` takes what they were made with from `older`, should it not know. */
void fors_look_pods_inherit(struct fors_look *newer, struct fors_look *older);

#endif
