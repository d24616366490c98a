/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jobplan_left.h"

#include <stdlib.h>

#define SEVERAL (FORS_NO_JOB - 1) /* jobs use it: it was shared */

/* The lane of the leaf whose cable is at this port: of the leaf, or of the spine with this GUID (not 0). FORS_NO_LANE: none. */
static uint32_t lane_at(const struct fors_fabric *fabric, uint32_t leaf, uint8_t port, uint64_t spine)
{
	for (uint32_t k = 0; k < fabric->nlanes; k++) {
		const struct fors_cable *cable = fors_cable(fabric, leaf, k);

		if (spine ? cable->spine_port == port && fabric->spine[fabric->lane[k].spine].guid == spine
			  : cable->leaf_port == port)
			return k;
	}
	return FORS_NO_LANE;
}

static uint32_t leaf_of(const struct fors_fabric *fabric, uint64_t guid)
{
	uint32_t leaf = 0;

	while (leaf < fabric->nleaves && fabric->leaf[leaf].guid != guid)
		leaf++;
	return leaf;
}

/* The job has used the lane at the leaf, or beyond all leaves. */
static void claim(const struct fors_fabric *fabric, uint32_t leaf, uint32_t lane, uint32_t job, uint32_t *before)
{
	uint32_t *at = &before[(size_t)leaf * fabric->nlanes + lane];

	if (leaf >= fabric->nleaves || lane == FORS_NO_LANE)
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
		claim(fabric, first, lane_at(fabric, first, hop[0].port, 0), job, before);
		claim(fabric, last, lane_at(fabric, last, hop[1].port, hop[1].guid), job, before);
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
