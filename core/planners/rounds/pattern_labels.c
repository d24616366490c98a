/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pattern_labels.c - which source group each item of the pattern belongs to: step 4, where leaves have several.
 *
 * The items of one (delta, class) differ in the number of the source group only, and any of them may have the round of
 * any other. A round should have no more items of one number than a group may serve: once more an edge colouring, of
 * places (delta, class) and rounds, with the numbers as colours.
 */
#include "pattern_work.h"

#include <stdlib.h>

#include "core/colouring/colour.h"

#define LABEL_WORK 16 /* steps for each item */

/* Which items change groups: see colour_labels(). */
struct labels {
	struct fors_rounds_pattern *pattern;
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
	struct fors_rounds_pattern *pattern = labels->pattern;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t old = labels->item[edge[i]];
		uint32_t item = fors_rounds_item(pattern, fors_rounds_item_delta(pattern, old), number,
						 fors_rounds_item_class(pattern, old));

		pattern->colour[item] = labels->round[edge[i]];
		pattern->path[item] = labels->path[edge[i]];
	}
	return FORS_OK;
}

/* List the coloured items, place by place; false: some round has more of them than all groups together may serve. */
static bool list_items(struct labels *labels, uint32_t most)
{
	struct fors_rounds_pattern *pattern = labels->pattern;

	if (pattern->nitems / pattern->problem->parts > UINT16_MAX)
		return false;
	for (uint32_t round = 0; round < pattern->nrounds; round++) {
		uint32_t count = 0;

		for (uint32_t c = 0; c < pattern->nclasses; c++)
			count += pattern->class_at[(size_t)c * pattern->nrounds + round] != FORS_NO_ITEM;
		if (count > most)
			return false;
	}
	for (uint32_t i = 0; i < pattern->nitems; i++) {
		uint32_t place = i / pattern->problem->parts, number = i % pattern->problem->parts;
		uint32_t item = fors_rounds_item(pattern, place / pattern->nclasses, number, place % pattern->nclasses);

		if (pattern->colour[item] == FORS_NO_ROUND)
			continue;
		labels->item[labels->nedges] = item;
		labels->round[labels->nedges] = pattern->colour[item];
		labels->path[labels->nedges] = pattern->path[item];
		labels->place[labels->nedges++] = (uint16_t)place;
		pattern->colour[item] = FORS_NO_ROUND;
	}
	return true;
}

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
	fors_rounds_spend(problem, (uint64_t)labels->nedges * LABEL_WORK);
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

enum fors_err fors_rounds_relabel(struct fors_rounds_pattern *pattern, struct fors_error *error)
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
