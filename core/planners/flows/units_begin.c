/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * units_begin.c - the round in which a unit begins: the same for all leaves, as far as the tables are.
 *
 * On a complete tree every leaf does the same as its neighbour, one leaf further on, so all units of an item have the same
 * round. If no two items of a round have the same lane, and none the same class, links and receivers have one unit each in it.
 *
 * At home the round is distance + shift of the class (core/tables/home.h), which leaves each lane an idle round of its own.
 * What lost its lane to a dead cable is given, by the levelling, one that idles in its round, or in one that its item may
 * exchange for its own.
 *
 * Where whole spines are dead, or leaves have fewer lanes than servers, items go over other lanes than that of their
 * class. Then take classes and lanes as the two sides of a graph, items as edges (those inside a leaf end nowhere): its
 * colours are rounds, by Koenig's theorem as many as the fullest lane or class has items.
 */
#include "units.h"

#include <stdlib.h>
#include <string.h>

#include "core/colouring/koenig.h"
#include "core/tables/home.h"
#include "core/tables/lanes.h"

/* ---- items ---- */

/* The lane of a unit, FORS_NO_LANE inside a leaf. */
static uint8_t lane_of(const struct fors_units *units, uint32_t leaf, uint32_t d)
{
	const struct fors_fabric *fabric = units->task->fabric;

	return fabric->server[d].leaf == leaf ? FORS_NO_LANE : fors_lane_to(fabric, units->task->lanes, leaf, d, 0);
}

bool fors_units_is_usual(const struct fors_units *units, uint32_t leaf, uint32_t d)
{
	return lane_of(units, leaf, d) == units->lane[fors_units_item(units, leaf, d)];
}

static void name_classes(struct fors_units *units)
{
	const struct fors_fabric *fabric = units->task->fabric;

	for (uint32_t d = 0; fabric->nlanes && d < fabric->nservers; d++) {
		uint32_t leaf = fabric->server[d].leaf, slot = fabric->server[d].slot;

		units->class[d] = fors_home_class(fabric->nlanes, fors_slot(fabric, leaf, slot)->copy,
						  fors_home_lane(fabric, leaf, slot, 0));
	}
}

/* Boyer and Moore's count: the lane with more than half of the votes of an item wins. */
bool fors_units_look(struct fors_units *units)
{
	const struct fors_fabric *fabric = units->task->fabric;
	size_t nitems = (size_t)units->nclasses * fabric->nleaves;
	uint16_t *lead = calloc(nitems + 1, sizeof(*lead));

	if (!lead)
		return false;
	name_classes(units);
	memset(units->lane, FORS_NO_LANE, nitems);
	for (uint32_t leaf = 0; leaf < fabric->nleaves; leaf++)
		for (uint32_t d = 0; fabric->leaf[leaf].nservers && d < fabric->nservers; d++) {
			size_t item = fors_units_item(units, leaf, d);
			uint8_t lane = lane_of(units, leaf, d);

			if (!lead[item])
				units->lane[item] = lane;
			lead[item] += units->lane[item] == lane ? 1 : -1;
		}
	free(lead);
	return true;
}

/* ---- at home ---- */

bool fors_units_keep_step(const struct fors_units *units)
{
	return units->task->fabric->max_servers < units->nclasses || !units->task->fabric->reduction;
}

/*
 * A unit that lost its lane, in whole leaves: it gets the round in which the lane that it took idles everywhere. The
 * distance of its class that had this round takes the other one, at all leaves, unless it was exchanged itself.
 */
static void exchange(struct fors_units *units, uint32_t leaf, uint32_t d, uint32_t lane)
{
	uint32_t n = units->task->fabric->nleaves;
	size_t first = (size_t)units->class[d] * n, item = fors_units_item(units, leaf, d), other = first + 1;
	uint16_t wanted = units->round[(size_t)lane * n];

	while (other < first + n && units->round[other] != wanted)
		other++;
	if (other == first + n || units->is_fixed[item] || units->is_fixed[other])
		return;
	units->round[other] = units->round[item];
	units->round[item] = wanted;
	units->is_fixed[item] = true;
}

/* Where there are as many rounds as leaves each leaf sends a unit of each class in each, in any order of distances. */
static void exchange_rounds(struct fors_units *units, uint32_t nrounds)
{
	const struct fors_fabric *fabric = units->task->fabric;

	if (units->parts > 1 || nrounds != fabric->nleaves || units->nclasses != fabric->nlanes ||
	    fors_units_keep_step(units))
		return;
	memset(units->is_fixed, 0, (size_t)units->nclasses * fabric->nleaves);
	for (uint32_t leaf = 0; leaf < fabric->nleaves; leaf++)
		for (uint32_t d = 0; fabric->leaf[leaf].nservers && d < fabric->nservers; d++) {
			uint8_t lane = lane_of(units, leaf, d);

			if (lane != FORS_NO_LANE && lane != units->class[d])
				exchange(units, leaf, d, lane);
		}
}

void fors_units_at_home(struct fors_units *units, uint32_t nrounds)
{
	uint32_t n = units->task->fabric->nleaves, lanes = units->task->fabric->nlanes, parts = units->parts;
	uint32_t in_turn = fors_units_keep_step(units) ? 0 : nrounds / parts;

	for (uint32_t class = 0; class < units->nclasses; class ++) {
		uint32_t shift = lanes ? parts * fors_home_class_shift(lanes, n, in_turn, class) +
						 fors_home_class_lane(lanes, class) % parts
				       : 0;

		for (uint32_t i = 0; i < n * parts; i++)
			units->round[(size_t) class * n * parts + i] = (uint16_t)((i + shift) % nrounds);
	}
	exchange_rounds(units, nrounds);
}

/* ---- by a colouring ---- */

/* One edge for each group; what finds no colour keeps the round that it has. */
static void add_items(const struct fors_units *units, struct fors_koenig *graph)
{
	uint32_t n = units->task->fabric->nleaves, lanes = units->task->fabric->nlanes;

	for (uint32_t class = 0; class < units->nclasses; class ++)
		for (uint32_t delta = 0; delta < n; delta++) {
			uint8_t lane = units->lane[(size_t) class * n + delta];
			const struct fors_koenig_edge edge = {
				.right = (uint16_t)(lane == FORS_NO_LANE ? lanes + class : lane),
				.tag = (uint16_t)delta};

			fors_koenig_add(graph, class, edge, units->parts);
		}
}

bool fors_units_colour(struct fors_units *units, uint32_t nrounds)
{
	uint32_t n = units->task->fabric->nleaves, nright = units->task->fabric->nlanes + units->nclasses;
	uint32_t *nseen = calloc(n + (size_t)1, sizeof(*nseen));
	struct fors_koenig graph;
	bool is_made = fors_koenig_alloc(&graph, units->nclasses, nright, nrounds) && nseen;

	if (is_made) {
		fors_koenig_begin(&graph, units->nclasses, nright, nrounds);
		add_items(units, &graph);
	}
	for (uint32_t class = 0; is_made && class < units->nclasses; class ++) {
		memset(nseen, 0, n * sizeof(*nseen));
		for (uint32_t round = 0; round < nrounds; round++) {
			const struct fors_koenig_edge *edge = &graph.edge[(size_t) class * nrounds + round];

			if (edge->right != FORS_KOENIG_NONE)
				units->round[((size_t) class * n + edge->tag) * units->parts + nseen[edge->tag]++] =
					(uint16_t)round;
		}
	}
	fors_koenig_free(&graph);
	free(nseen);
	return is_made;
}
