/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pattern.c - a first colouring that is the same for all leaves.
 *
 * A full healthy tree needs no search: every leaf does the same as its
 * neighbour, one leaf further on. The pattern keeps as much of that symmetry as
 * the tables do. Its items are (distance delta from the source leaf to the
 * receiver's, number of the source group in its leaf, class of the receiver's
 * place), where the class is the home lane of the place's base LID (and a copy
 * number, where a leaf has more slots than lanes; core/tables/home.h). All units of an item, one for
 * each source leaf, get the same round. Then, whatever the number of leaves:
 *
 *   an uplink (a, lane) carries one unit in a round      } if no two items of a round
 *   a downlink (lane, b) carries one unit in a round     } take the same lane,
 *   a receiver gets one unit in a round                    if no two items of a round have the same class.
 *
 * So it is an edge colouring of a bipartite multigraph, classes on one side,
 * lanes on the other, an item an edge between them (items that stay inside the leaf are
 * edges of the class alone), and by Koenig's theorem as many rounds as the
 * largest degree suffice. Lost spines keep the symmetry, since the
 * tables spread their entries by (class, delta) too: with whole spines down the
 * pattern alone is a plan at the bound. Single lost cables break it at few
 * places; those units start homeless.
 *
 * The colouring starts from round = delta + z[class], with the z (home.h) spread evenly
 * over the rounds. So every lane has its idle round (that of the units inside the
 * leaf) at another time, the idle lanes are spread evenly over the rounds, and
 * a unit displaced by a dead cable finds one of them in its own round: level_own.c
 * looks for a displaced entry's lane just there first. One dead cable then
 * needs no extra round where M1 rounds can carry its load at all.
 */
#include "pattern.h"

#include <stdlib.h>
#include <string.h>

#include "core/colouring/colour.h"
#include "core/tables/home.h"

#define NO_ITEM UINT32_MAX
#define NO_COLOUR UINT16_MAX

struct pattern {
	const struct fors_rounds_problem *problem;
	uint32_t nrounds, nclasses, nitems;
	uint8_t *lane;	    /* [(delta * nclasses + class) * npaths + path]: of most leaves, FORS_NO_LANE: none */
	uint8_t *path;	    /* [item]: path index chosen */
	uint16_t *colour;   /* [item]: round, NO_COLOUR: none */
	uint16_t *own;	    /* [item]: the round that it should have */
	uint32_t *class_at; /* [class * nrounds + round]: item or NO_ITEM */
	uint32_t *lane_at;  /* [lane * nrounds + round]: the same */
	uint32_t *load;	    /* [lane]: items */
	uint32_t *class_of; /* [server] */
};

static uint32_t distance(const struct fors_rounds_problem *problem, uint32_t leaf, uint32_t to)
{
	return to >= leaf ? to - leaf : to + problem->nleaves - leaf;
}

static uint32_t item_number(const struct pattern *pattern, uint32_t delta, uint32_t number, uint32_t class)
{
	return (delta * pattern->problem->parts + number) * pattern->nclasses + class;
}

static uint32_t item_class(const struct pattern *pattern, uint32_t item)
{
	return item % pattern->nclasses;
}

/* Home lane of the item's places. */
static uint32_t item_home(const struct pattern *pattern, uint32_t item)
{
	return fors_home_class_lane(pattern->problem->nlanes, item_class(pattern, item));
}

static uint32_t item_delta(const struct pattern *pattern, uint32_t item)
{
	return item / pattern->nclasses / pattern->problem->parts;
}

/* Lane of an item over a path index, FORS_NO_LANE: none, or inside the leaf. */
static uint8_t item_lane(const struct pattern *pattern, uint32_t item, uint32_t path)
{
	uint32_t place = item_delta(pattern, item) * pattern->nclasses + item_class(pattern, item);

	return pattern->lane[(size_t)place * pattern->problem->npaths + path];
}

static uint8_t chosen_lane(const struct pattern *pattern, uint32_t item)
{
	return item_lane(pattern, item, pattern->path[item]);
}

static void *new_unset(size_t n, size_t size)
{
	void *array = malloc(n * size + 1);

	if (array)
		memset(array, 0xff, n * size);
	return array;
}

static bool allocate(struct pattern *pattern)
{
	const struct fors_rounds_problem *problem = pattern->problem;
	size_t places = (size_t)problem->nleaves * pattern->nclasses, rounds = pattern->nrounds;

	pattern->nitems = (uint32_t)places * problem->parts;
	pattern->lane = new_unset(places * problem->npaths, sizeof(*pattern->lane));
	pattern->path = calloc(pattern->nitems, sizeof(*pattern->path));
	pattern->colour = new_unset(pattern->nitems, sizeof(*pattern->colour));
	pattern->own = calloc(pattern->nitems, sizeof(*pattern->own));
	pattern->class_at = new_unset(pattern->nclasses * rounds, sizeof(*pattern->class_at));
	pattern->lane_at = new_unset(problem->nlanes * rounds, sizeof(*pattern->lane_at));
	pattern->load = calloc(problem->nlanes, sizeof(*pattern->load));
	pattern->class_of = calloc(problem->nservers, sizeof(*pattern->class_of));
	return pattern->lane && pattern->path && pattern->colour && pattern->own && pattern->class_at &&
	       pattern->lane_at && pattern->load && pattern->class_of;
}

static void release(struct pattern *pattern)
{
	free(pattern->lane);
	free(pattern->path);
	free(pattern->colour);
	free(pattern->own);
	free(pattern->class_at);
	free(pattern->lane_at);
	free(pattern->load);
	free(pattern->class_of);
}

/* One vote of Boyer and Moore's majority count: the lane with more than half of the votes wins. */
static void vote(uint8_t *lane, int32_t *lead, uint8_t candidate)
{
	if (*lead == 0)
		*lane = candidate;
	*lead += *lane == candidate ? 1 : -1;
}

/* What most leaves use, for each distance, class and path. */
static bool read_lanes(struct pattern *pattern)
{
	const struct fors_rounds_problem *problem = pattern->problem;
	uint32_t npaths = problem->npaths;
	int32_t *lead = calloc((size_t)problem->nleaves * pattern->nclasses * npaths, sizeof(*lead));

	if (!lead)
		return false;
	for (uint32_t leaf = 0; leaf < problem->nleaves; leaf++) {
		for (uint32_t d = 0; d < problem->nservers; d++) {
			uint32_t delta = distance(problem, leaf, problem->leaf_of[d]);
			size_t place = ((size_t)delta * pattern->nclasses + pattern->class_of[d]) * npaths;
			const uint8_t *up = problem->up + fors_rounds_ways(problem, leaf, d);

			for (uint32_t path = 0; path < npaths; path++)
				if (up[path] != FORS_NO_LANE)
					vote(&pattern->lane[place + path], &lead[place + path], up[path]);
		}
	}
	free(lead);
	return true;
}

static void name_classes(struct pattern *pattern)
{
	const struct fors_fabric *fabric = pattern->problem->fabric;
	uint32_t nlanes = pattern->problem->nlanes;

	for (uint32_t d = 0; d < fabric->nservers; d++) {
		uint32_t leaf = fabric->server[d].leaf, slot = fabric->server[d].slot;

		pattern->class_of[d] = fors_home_class(nlanes, slot, fors_home_lane(fabric, leaf, slot, 0));
	}
}

/*
 * The shift z of a class. Where leaves have places for more classes than a group may serve in a round (more lanes than
 * servers, or empty slots), all classes keep step, so that a leaf sends to one other leaf in a round, and never too
 * much.
 */
static uint32_t shift(const struct pattern *pattern, uint32_t class)
{
	const struct fors_rounds_problem *problem = pattern->problem;
	uint32_t parts = problem->parts, nrounds = pattern->nrounds / parts;

	if (problem->fabric->max_servers < pattern->nclasses)
		nrounds = 0;
	return parts * fors_home_class_shift(problem->nlanes, problem->nleaves, nrounds, class) +
	       fors_home_class_lane(problem->nlanes, class) % parts;
}

/* The round that an item has in a healthy tree, see shift(). */
static uint32_t first_round(const struct pattern *pattern, uint32_t item)
{
	uint32_t parts = pattern->problem->parts, number = item / pattern->nclasses % parts;

	return (parts * item_delta(pattern, item) + number + shift(pattern, item_class(pattern, item))) %
	       pattern->nrounds;
}

/*
 * With more lanes than places each leaf has other lanes that no place is at home on, free for what is displaced in its
 * own round; no pattern says which.
 */
static bool keeps_step(const struct pattern *pattern)
{
	return pattern->problem->nlanes > pattern->problem->fabric->nslots;
}

static void find_own_rounds(struct pattern *pattern)
{
	for (uint32_t item = 0; item < pattern->nitems; item++)
		pattern->own[item] = (uint16_t)first_round(pattern, item);
}

/*
 * With as many rounds as leaves, whole leaves as groups and a lane for each class, the distances of a class may have
 * the rounds in any order (the one inside the leaf keeps its own): every leaf sends one unit of every class in every
 * round.
 */
static bool can_reorder(const struct pattern *pattern)
{
	const struct fors_rounds_problem *problem = pattern->problem;

	return problem->parts == 1 && pattern->nrounds == problem->nleaves && pattern->nclasses == problem->nlanes &&
	       !keeps_step(pattern);
}

/*
 * Count for each class and distance in which rounds its displaced units would like to be: those in which their lane
 * idles. The result is wish[(class * nleaves + distance) * nleaves + round].
 */
static void count_excludes(const struct pattern *pattern, uint16_t *wish)
{
	const struct fors_rounds_problem *problem = pattern->problem;
	uint32_t nleaves = problem->nleaves;

	for (uint32_t leaf = 0; leaf < nleaves; leaf++) {
		for (uint32_t d = 0; d < problem->nservers; d++) {
			uint8_t lane = problem->up[fors_rounds_ways(problem, leaf, d)];
			uint32_t class = pattern->class_of[d], delta = distance(problem, leaf, problem->leaf_of[d]);

			if (lane != FORS_NO_LANE && lane != class)
				wish[(class * nleaves + delta) * nleaves +
				     pattern->own[item_number(pattern, 0, 0, lane)]]++;
		}
	}
}

/* Exchange the rounds of two distances of a class if that fulfils more wishes. */
static bool exchange(struct pattern *pattern, const uint16_t *wish, uint32_t class, uint32_t delta, uint32_t other)
{
	uint32_t nleaves = pattern->problem->nleaves;
	const uint16_t *one = wish + (class * nleaves + delta) * nleaves,
		       *two = wish + (class * nleaves + other) * nleaves;
	uint16_t *own = &pattern->own[item_number(pattern, delta, 0, class)];
	uint16_t *own_other = &pattern->own[item_number(pattern, other, 0, class)], round = *own;

	if (one[*own_other] + two[*own] <= one[*own] + two[*own_other])
		return false;
	*own = *own_other;
	*own_other = round;
	return true;
}

/* Put the distances of each class in the order that level_own.c had in mind; false: out of memory. */
static bool reorder(struct pattern *pattern)
{
	uint32_t nleaves = pattern->problem->nleaves;
	uint16_t *wish = calloc((size_t)pattern->nclasses * nleaves * nleaves, sizeof(*wish));

	if (!wish)
		return false;
	count_excludes(pattern, wish);
	for (uint32_t class = 0; class < pattern->nclasses; class ++)
		for (uint32_t delta = 1; delta < nleaves; delta++)
			for (uint32_t other = 1; other < nleaves; other++)
				if (other != delta && exchange(pattern, wish, class, delta, other))
					other = 0;
	free(wish);
	return true;
}

static void set(struct pattern *pattern, uint32_t item, uint32_t round)
{
	uint8_t lane = chosen_lane(pattern, item);

	pattern->colour[item] = (uint16_t)round;
	pattern->class_at[(size_t)item_class(pattern, item) * pattern->nrounds + round] = item;
	if (lane != FORS_NO_LANE)
		pattern->lane_at[(size_t)lane * pattern->nrounds + round] = item;
}

static void unset(struct pattern *pattern, uint32_t item)
{
	uint8_t lane = chosen_lane(pattern, item);
	uint32_t round = pattern->colour[item];

	pattern->class_at[(size_t)item_class(pattern, item) * pattern->nrounds + round] = NO_ITEM;
	if (lane != FORS_NO_LANE)
		pattern->lane_at[(size_t)lane * pattern->nrounds + round] = NO_ITEM;
}

/* The least loaded lane among an item's path indices; the smaller index on a tie. */
static void choose_path(struct pattern *pattern, uint32_t item)
{
	uint32_t least = UINT32_MAX;

	for (uint32_t path = 0; path < pattern->problem->npaths; path++) {
		uint8_t lane = item_lane(pattern, item, path);

		if (lane != FORS_NO_LANE && pattern->load[lane] < least) {
			least = pattern->load[lane];
			pattern->path[item] = (uint8_t)path;
		}
	}
	if (least != UINT32_MAX)
		pattern->load[chosen_lane(pattern, item)]++;
}

/* The first step of the way to a lane: the item that has to move, and over which path index. */
struct step {
	uint32_t item;
	uint8_t path, from;
};

/* Note for each lane that the items on `from` could move to how it is reached; append new ones to the queue. */
static void spread(const struct pattern *pattern, uint8_t from, struct step *step, uint8_t *queue, uint32_t *nqueue)
{
	for (uint32_t item = 0; item < pattern->nitems; item++) {
		if (chosen_lane(pattern, item) != from)
			continue;
		for (uint32_t path = 0; path < pattern->problem->npaths; path++) {
			uint8_t lane = item_lane(pattern, item, path);

			if (lane == FORS_NO_LANE || step[lane].item != NO_ITEM)
				continue;
			step[lane] = (struct step){.item = item, .path = (uint8_t)path, .from = from};
			queue[(*nqueue)++] = lane;
		}
	}
}

/*
 * Take one item off a lane that has more than there are rounds: along the shortest chain of moves to a lane with room.
 * False: there is none.
 */
static bool relieve(struct pattern *pattern, uint8_t full)
{
	struct step step[FORS_MAX_LANES];
	uint8_t queue[FORS_MAX_LANES];
	uint32_t nqueue = 1;

	for (uint32_t lane = 0; lane < pattern->problem->nlanes; lane++)
		step[lane].item = NO_ITEM;
	step[full].item = 0; /* no way back to where it began */
	queue[0] = full;
	for (uint32_t i = 0; i < nqueue; i++) {
		uint8_t lane = queue[i];

		if (pattern->load[lane] >= pattern->nrounds) {
			spread(pattern, lane, step, queue, &nqueue);
			continue;
		}
		pattern->load[lane]++;
		pattern->load[full]--;
		for (; lane != full; lane = step[lane].from)
			pattern->path[step[lane].item] = step[lane].path;
		return true;
	}
	return false;
}

/* Path indices for all items: home where that lives, and no lane with more items than rounds if that can be. */
static void choose_paths(struct pattern *pattern)
{
	uint32_t nlanes = pattern->problem->nlanes;

	for (uint32_t item = 0; item < pattern->nitems; item++)
		if (item_lane(pattern, item, 0) == item_home(pattern, item))
			pattern->load[item_lane(pattern, item, 0)]++;
	for (uint32_t item = 0; item < pattern->nitems; item++)
		if (item_lane(pattern, item, 0) != item_home(pattern, item))
			choose_path(pattern, item);
	for (uint32_t lane = 0; pattern->problem->npaths > 1 && lane < nlanes; lane++)
		while (pattern->load[lane] > pattern->nrounds && relieve(pattern, (uint8_t)lane))
			;
}

static bool is_free(const struct pattern *pattern, uint32_t item, uint32_t round)
{
	uint8_t lane = chosen_lane(pattern, item);

	return pattern->class_at[(size_t)item_class(pattern, item) * pattern->nrounds + round] == NO_ITEM &&
	       (lane == FORS_NO_LANE || pattern->lane_at[(size_t)lane * pattern->nrounds + round] == NO_ITEM);
}

/* The first free round of a class or lane, nrounds: none. */
static uint32_t first_free(const uint32_t *at, uint32_t row, uint32_t nrounds)
{
	uint32_t round = 0;

	while (round < nrounds && at[(size_t)row * nrounds + round] != NO_ITEM)
		round++;
	return round;
}

/*
 * Make round `alpha`, free at the item's class, free at its lane as well: swap alpha and beta along the path
 * of items that starts at the lane with alpha. It cannot end at the class, which has no alpha.
 */
static void swap_path(struct pattern *pattern, uint32_t item, uint32_t alpha, uint32_t beta)
{
	uint32_t nrounds = pattern->nrounds, from = alpha, to = beta;
	uint32_t at = pattern->lane_at[(size_t)chosen_lane(pattern, item) * nrounds + alpha];

	unset(pattern, at);
	for (bool to_class = true; at != NO_ITEM; to_class = !to_class) {
		uint8_t lane = chosen_lane(pattern, at);
		uint32_t next = NO_ITEM, swap = from;

		/* `at` goes from `from` to `to`; who holds `to` at its far end goes the other way, and is taken out
		 * first. */
		if (to_class)
			next = pattern->class_at[(size_t)item_class(pattern, at) * nrounds + to];
		else if (lane != FORS_NO_LANE)
			next = pattern->lane_at[(size_t)lane * nrounds + to];
		if (next != NO_ITEM)
			unset(pattern, next);
		set(pattern, at, to);
		at = next;
		from = to;
		to = swap;
	}
}

static void colour_item(struct pattern *pattern, uint32_t item)
{
	uint32_t nrounds = pattern->nrounds, alpha, beta;
	uint32_t lane = chosen_lane(pattern, item);

	alpha = first_free(pattern->class_at, item_class(pattern, item), nrounds);
	if (alpha == nrounds)
		return;
	if (lane == FORS_NO_LANE) {
		set(pattern, item, alpha);
		return;
	}
	beta = first_free(pattern->lane_at, lane, nrounds);
	if (beta == nrounds)
		return;
	for (uint32_t round = alpha; round < nrounds; round++) {
		if (is_free(pattern, item, round)) {
			set(pattern, item, round);
			return;
		}
	}
	swap_path(pattern, item, alpha, beta);
	set(pattern, item, alpha);
}

/* Items at home in their own rounds, then whoever is left. */
static void colour_all(struct pattern *pattern)
{
	for (uint32_t item = 0; item < pattern->nitems; item++) {
		uint32_t own = pattern->own[item];

		if (keeps_step(pattern))
			pattern->colour[item] = (uint16_t)own;
		else if (chosen_lane(pattern, item) == item_home(pattern, item) && is_free(pattern, item, own))
			set(pattern, item, own);
	}
	for (uint32_t item = 0; item < pattern->nitems; item++) {
		if (pattern->colour[item] != NO_COLOUR)
			continue;
		if (is_free(pattern, item, pattern->own[item]))
			set(pattern, item, pattern->own[item]);
		else
			colour_item(pattern, item);
	}
}

/* Which items change groups: see relabel(). */
struct labels {
	struct pattern *pattern;
	uint32_t *item;	 /* [edge] */
	uint16_t *round; /* [edge]: the item's, its right node */
	uint16_t *place; /* [edge]: its left node */
	uint8_t *path;	 /* [edge] */
	uint32_t nedges;
};

/* Give the group number `number` to items that are edges of this colour. */
static enum fors_err take_label(void *context, uint32_t number, const uint32_t *edge, uint32_t count)
{
	const struct labels *labels = context;
	struct pattern *pattern = labels->pattern;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t old = labels->item[edge[i]];
		uint32_t item = item_number(pattern, item_delta(pattern, old), number, item_class(pattern, old));

		pattern->colour[item] = labels->round[edge[i]];
		pattern->path[item] = labels->path[edge[i]];
	}
	return FORS_OK;
}

/* List the coloured items, place by place; false: some round has more of them than all groups together may serve. */
static bool list_items(struct labels *labels, uint32_t most)
{
	struct pattern *pattern = labels->pattern;
	if (pattern->nitems / pattern->problem->parts > UINT16_MAX)
		return false;
	for (uint32_t round = 0; round < pattern->nrounds; round++) {
		uint32_t count = 0;

		for (uint32_t class = 0; class < pattern->nclasses; class ++)
			count += pattern->class_at[(size_t) class * pattern->nrounds + round] != NO_ITEM;
		if (count > most)
			return false;
	}
	for (uint32_t i = 0; i < pattern->nitems; i++) {
		uint32_t place = i / pattern->problem->parts, number = i % pattern->problem->parts;
		uint32_t item = item_number(pattern, place / pattern->nclasses, number, place % pattern->nclasses);

		if (pattern->colour[item] == NO_COLOUR)
			continue;
		labels->item[labels->nedges] = item;
		labels->round[labels->nedges] = pattern->colour[item];
		labels->path[labels->nedges] = pattern->path[item];
		labels->place[labels->nedges++] = (uint16_t)place;
		pattern->colour[item] = NO_COLOUR;
	}
	return true;
}

/*
 * Balance the groups. The items of one (delta, class) differ in the number of the source group only, and any of
 * them may have the round of any other. A round should have no more items of one number than a group may
 * serve: once more an edge colouring, of places and rounds, with the numbers as colours.
 */
static enum fors_err colour_labels(struct labels *labels, struct fors_error *error)
{
	const struct fors_rounds_problem *problem = labels->pattern->problem;
	struct fors_multigraph graph = {.nedges = labels->nedges, .left = labels->place, .right = labels->round};
	uint32_t nplaces = labels->pattern->nitems / problem->parts;
	struct fors_colour_space *space;
	uint16_t *cap = malloc(labels->pattern->nrounds * sizeof(*cap));
	enum fors_err err;

	for (uint32_t round = 0; cap && round < labels->pattern->nrounds; round++)
		cap[round] = (uint16_t)problem->capacity;
	graph.side[0].nnodes = nplaces;
	graph.side[1] = (struct fors_colour_side){.nnodes = labels->pattern->nrounds, .cap = cap};
	space = fors_colour_space_new(labels->nedges,
				      nplaces > labels->pattern->nrounds ? nplaces : labels->pattern->nrounds);
	if (cap && space)
		err = fors_colour(space, &graph, 0, problem->parts, take_label, labels, error);
	else
		err = fors_fail_memory(error);
	fors_colour_space_free(space);
	free(cap);
	return err;
}

static enum fors_err relabel(struct pattern *pattern, struct fors_error *error)
{
	const struct fors_rounds_problem *problem = pattern->problem;
	struct labels labels = {.pattern = pattern};
	enum fors_err err = FORS_OK;

	labels.item = malloc(pattern->nitems * sizeof(*labels.item));
	labels.round = malloc(pattern->nitems * sizeof(*labels.round));
	labels.place = malloc(pattern->nitems * sizeof(*labels.place));
	labels.path = malloc(pattern->nitems);
	if (!labels.item || !labels.round || !labels.place || !labels.path)
		err = fors_fail_memory(error);
	else if (list_items(&labels, problem->parts * problem->capacity))
		err = colour_labels(&labels, error);
	free(labels.item);
	free(labels.round);
	free(labels.place);
	free(labels.path);
	return err;
}

/* Place a unit by its item: over the item's path, else over any path that is free in that round. */
static bool place(struct fors_rounds_packing *packing, const struct fors_rounds_unit *unit,
		  const struct pattern *pattern, uint32_t item)
{
	uint32_t npaths = unit->is_local ? 1 : pattern->problem->npaths, round = pattern->colour[item];

	for (uint32_t i = 0; i < npaths && round != NO_COLOUR; i++) {
		uint32_t path = unit->is_local ? 0 : (pattern->path[item] + i) % npaths;

		if (fors_rounds_is_free(packing, unit, path, round)) {
			fors_rounds_put(packing, unit, path, round);
			return true;
		}
	}
	return false;
}

/* Does the unit go where its item does? */
static bool is_regular(const struct pattern *pattern, const struct fors_rounds_unit *unit, uint32_t item)
{
	return unit->is_local || unit->up[pattern->path[item]] == chosen_lane(pattern, item);
}

static uint32_t item_of(const struct pattern *pattern, const struct fors_rounds_unit *unit)
{
	const struct fors_rounds_problem *problem = pattern->problem;

	return item_number(pattern, distance(problem, unit->leaf, unit->to), unit->group % problem->parts,
			   pattern->class_of[unit->server]);
}

/* The regular units of a group; the others have to wait. */
static void place_group(struct fors_rounds_packing *packing, const struct pattern *pattern, uint32_t group)
{
	const struct fors_rounds_problem *problem = packing->problem;

	for (uint32_t d = 0; d < problem->nservers; d++) {
		struct fors_rounds_unit unit = fors_rounds_unit(packing, (group << problem->server_bits) + d);
		uint32_t item = item_of(pattern, &unit);

		if (!is_regular(pattern, &unit, item) || !place(packing, &unit, pattern, item))
			packing->homeless[packing->nhomeless++] = unit.id;
	}
}

/* Displaced units come last, so that they find out what is really left in their round. */
static enum fors_err place_all(struct fors_rounds_packing *packing, const struct pattern *pattern,
			       struct fors_error *error)
{
	uint32_t waiting;

	for (uint32_t group = 0; group < fors_rounds_ngroups(packing->problem); group++) {
		if (fors_rounds_is_cancelled(packing->problem))
			return fors_rounds_cancelled(error);
		if (fors_rounds_members(packing->problem, group) > 0)
			place_group(packing, pattern, group);
	}
	waiting = packing->nhomeless;
	packing->nhomeless = 0;
	for (uint32_t i = 0; i < waiting; i++) {
		struct fors_rounds_unit unit = fors_rounds_unit(packing, packing->homeless[i]);

		if (!place(packing, &unit, pattern, item_of(pattern, &unit)))
			packing->homeless[packing->nhomeless++] = unit.id;
	}
	return FORS_OK;
}

enum fors_err fors_rounds_start(struct fors_rounds_packing *packing, struct fors_error *error)
{
	const struct fors_fabric *fabric = packing->problem->fabric;
	uint32_t nlanes = packing->problem->nlanes;
	struct pattern pattern = {.problem = packing->problem, .nrounds = packing->nrounds};
	enum fors_err err = FORS_OK;

	pattern.nclasses = fors_home_nclasses(nlanes, fabric->nslots);
	if (!allocate(&pattern)) {
		release(&pattern);
		return fors_fail_memory(error);
	}
	name_classes(&pattern);
	if (!read_lanes(&pattern)) {
		release(&pattern);
		return fors_fail_memory(error);
	}
	find_own_rounds(&pattern);
	if (can_reorder(&pattern) && !reorder(&pattern)) {
		release(&pattern);
		return fors_fail_memory(error);
	}
	choose_paths(&pattern);
	colour_all(&pattern);
	if (pattern.problem->parts > 1 && !keeps_step(&pattern))
		err = relabel(&pattern, error);
	if (!err)
		err = place_all(packing, &pattern, error);
	release(&pattern);
	return err;
}
