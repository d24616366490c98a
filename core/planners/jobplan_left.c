/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jobplan_left.h"

#include <stdlib.h>

#define SEVERAL (FORS_NO_JOB - 1) /* jobs use it: it was shared */

static uint32_t leaf_of(const struct fors_fabric *fabric, uint64_t guid)
{
	uint32_t leaf = 0;

	while (leaf < fabric->nleaves && fabric->leaf[leaf].guid != guid)
		leaf++;
	return leaf;
}

static uint32_t spine_of(const struct fors_fabric *fabric, uint64_t guid)
{
	uint32_t spine = 0;

	while (spine < fabric->nspines && fabric->spine[spine].guid != guid)
		spine++;
	return spine;
}

/* The job has used the lane at the leaf, or beyond all leaves. */
static void claim(const struct fors_fabric *fabric, uint32_t leaf, uint32_t lane, uint32_t job, uint32_t *before)
{
	uint32_t *at = &before[(size_t)leaf * fabric->nlanes + lane];

	if (leaf >= fabric->nleaves || lane == FORS_NONE)
		return;
	*at = *at == FORS_NO_JOB || *at == job ? job : SEVERAL;
}

/* Up and down: ways of three switches. Those that begin at a spine are parts of others. */
static void claim_ways(const struct fors_fabric *fabric, const struct fors_waylist *ways, uint32_t job,
		       uint32_t *before)
{
	struct fors_way_hop hop[4];

	for (uint32_t i = 0; ways && i < ways->nways; i++) {
		uint32_t first, last;

		if (fors_waylist_get(ways, i, hop, 4) != 3)
			continue;
		first = leaf_of(fabric, hop[0].guid);
		last = leaf_of(fabric, hop[2].guid);
		if (first >= fabric->nleaves || last >= fabric->nleaves)
			continue;
		claim(fabric, first, fors_lane_at(fabric, first, FORS_NONE, hop[0].port), job, before);
		claim(fabric, last, fors_lane_at(fabric, last, spine_of(fabric, hop[1].guid), hop[1].port), job,
		      before);
	}
}

enum fors_err fors_jobplans_left(const struct fors_fabric *fabric, const struct fors_joblist *list,
				 const struct fors_schedule *const *left, uint32_t **before, struct fors_error *error)
{
	size_t n = (size_t)fabric->nleaves * fabric->nlanes;
	uint32_t *made = malloc((n + 1) * sizeof(*made));

	if (!made)
		return fors_fail_memory(error);
	for (size_t i = 0; i < n; i++)
		made[i] = FORS_NO_JOB;
	for (uint32_t j = 0; j < list->count; j++)
		if (left[j] && list->job[j].is_exclusive)
			claim_ways(fabric, left[j]->ways, j, made);
	for (size_t i = 0; i < n; i++)
		if (made[i] == SEVERAL)
			made[i] = FORS_NO_JOB;
	*before = made;
	return FORS_OK;
}
