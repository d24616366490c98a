/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * holdings_live.c - lanes and entries that were chosen a while ago, on what has become of the tree, and of its tables.
 *
 * Of two levels entries_live.c says it all. Of three a way between pods is made of entries on two floors: a leaf's lane up
 * to a plane, a rung up and a rung down there, the lane down. Where a cable of it is dead the leaf goes the way that the tables
 * have anyway, so the whole way is whole or none of it is taken from the leaf on. And where the plane does not lead down to
 * the server by the job's cable nothing is said of that server on the floor of this plane: what comes there is in
 * the hands of the tables, which may need a detour. So a packet that meets an entry of a job, wherever it came from, goes
 * up, down, and arrives.
 */
#include "holdings.h"

#include <stdlib.h>
#include <string.h>

static uint8_t lane_up(const struct fors_holdings *holdings, uint32_t floor, uint32_t leaf, uint32_t d)
{
	const struct fors_entries *entries = &holdings->entries[floor];

	return entries->up ? entries->up[(size_t)leaf * entries->nservers + d] : FORS_NO_LANE;
}

static uint8_t lane_down(const struct fors_holdings *holdings, uint32_t floor, uint32_t spine, uint32_t d)
{
	const struct fors_entries *entries = &holdings->entries[floor];

	return entries->down ? entries->down[(size_t)spine * entries->nservers + d] : FORS_NO_LANE;
}

/* ---- what holds ---- */

/* Nothing is said of the server on the floor. */
static void drop(struct fors_entries *entries, uint32_t d)
{
	for (uint32_t a = 0; a < entries->nleaves; a++)
		entries->up[(size_t)a * entries->nservers + d] = FORS_NO_LANE;
	for (uint32_t k = 0; k < entries->nspines; k++)
		entries->down[(size_t)k * entries->nservers + d] = FORS_NO_LANE;
}

/* Those of a plane, when floor 0 is pruned by its own cables. */
static void prune_plane(const struct fors_floors *floors, struct fors_holdings *holdings, uint32_t plane)
{
	struct fors_entries *entries = &holdings->entries[plane + 1];

	for (uint32_t d = 0; d < entries->nservers; d++)
		if (lane_down(holdings, 0, plane, d) == FORS_NO_LANE)
			drop(entries, d);
	fors_entries_prune(floors->floor[plane + 1], entries);
}

/* Leaves of other pods, when the planes are pruned. */
static void prune_ways(const struct fors_floors *floors, struct fors_holdings *holdings)
{
	const struct fors_fabric *f = floors->floor[0];
	struct fors_entries *entries = &holdings->entries[0];

	for (uint32_t a = 0; a < f->nleaves; a++)
		for (uint32_t d = 0; d < f->nservers; d++) {
			uint32_t lane = lane_up(holdings, 0, a, d), pod = fors_floors_pod(floors, a);

			if (lane != FORS_NO_LANE && fors_floors_pod(floors, f->server[d].leaf) != pod &&
			    lane_up(holdings, f->lane[lane].spine + 1, pod, d) == FORS_NO_LANE)
				entries->up[(size_t)a * entries->nservers + d] = FORS_NO_LANE;
		}
}

void fors_holdings_prune(const struct fors_floors *floors, struct fors_holdings *holdings)
{
	bool has_all = holdings->nfloors == floors->count;

	for (uint32_t f = 0; f < holdings->nfloors; f++)
		has_all &= holdings->entries[f].up != NULL;
	if (!has_all)
		return;
	fors_entries_prune(floors->floor[0], &holdings->entries[0]);
	for (uint32_t plane = 0; plane + 1 < holdings->nfloors; plane++)
		prune_plane(floors, holdings, plane);
	if (floors->count > 1)
		prune_ways(floors, holdings);
}

static bool are_none(const struct fors_holdings *holdings)
{
	bool are = true;

	for (uint32_t f = 0; are && f < holdings->nfloors; f++)
		are = fors_entries_are_none(&holdings->entries[f]);
	return are;
}

bool fors_holdings_alike(const struct fors_holdings *one, const struct fors_holdings *other)
{
	bool are_alike = one->nfloors == other->nfloors;

	for (uint32_t f = 0; are_alike && f < one->nfloors; f++)
		are_alike = fors_entries_alike(&one->entries[f], &other->entries[f]);
	return are_alike || (are_none(one) && are_none(other));
}

/* ---- in the tables ---- */

struct reader {
	const struct fors_floors *floors;
	const struct fors_holdings *holdings;
	const struct fors_lfts *lfts;
	uint32_t index;
};

static bool leads(const struct reader *r, uint64_t guid, uint32_t lid, uint8_t port)
{
	uint32_t row = fors_lfts_row(r->lfts, guid);

	return row != FORS_NONE && port && fors_lfts_port(r->lfts, row, lid) == port;
}

/* Are the rungs between pods in the tables? */
static bool has_rungs(const struct reader *r, uint32_t plane, uint32_t pod, uint32_t d, uint32_t lid)
{
	const struct fors_fabric *f = r->floors->floor[plane + 1];
	uint32_t up = lane_up(r->holdings, plane + 1, pod, d), home = f->server[d].leaf, top, down;

	if (up == FORS_NO_LANE)
		return false;
	top = f->lane[up].spine;
	down = lane_down(r->holdings, plane + 1, top, d);
	return down != FORS_NO_LANE && leads(r, f->leaf[pod].guid, lid, fors_cable(f, pod, up)->leaf_port) &&
	       leads(r, f->spine[top].guid, lid, fors_cable(f, home, down)->spine_port);
}

/* Is the way from a leaf to a server elsewhere in the tables? */
static bool has_way(const struct reader *r, uint32_t leaf, uint32_t d)
{
	const struct fors_fabric *f = r->floors->floor[0];
	uint32_t lid = fors_server_lid(f, d, r->index, r->lfts->nlids);
	uint32_t up = lane_up(r->holdings, 0, leaf, d), home = f->server[d].leaf;
	uint32_t from = fors_floors_pod(r->floors, leaf), to = fors_floors_pod(r->floors, home), plane, down;

	if (!lid || up == FORS_NO_LANE)
		return false;
	plane = f->lane[up].spine;
	down = lane_down(r->holdings, 0, plane, d);
	return down != FORS_NO_LANE && leads(r, f->leaf[leaf].guid, lid, fors_cable(f, leaf, up)->leaf_port) &&
	       leads(r, r->floors->floor[plane + 1]->leaf[to].guid, lid, fors_cable(f, home, down)->spine_port) &&
	       (from == to || has_rungs(r, plane, from, d, lid));
}

/* From each leaf of the job to each server of it elsewhere. */
static bool has_job_ways(const struct reader *r, const struct fors_jobentry *job)
{
	const struct fors_fabric *f = r->floors->floor[0];

	for (uint32_t i = 0; i < job->count; i++) {
		uint32_t leaf = f->server[job->server[i]].leaf;

		if (i && leaf == f->server[job->server[i - 1]].leaf)
			continue;
		for (uint32_t m = 0; m < job->count; m++)
			if (f->server[job->server[m]].leaf != leaf && !has_way(r, leaf, job->server[m]))
				return false;
	}
	return job->nleaves > 1;
}

enum fors_err fors_holdings_held(const struct fors_floors *floors, const struct fors_joblist *list,
				 const struct fors_holdings *holdings, uint32_t index, const struct fors_lfts *lfts,
				 bool *is_held, struct fors_error *error)
{
	const struct reader r = {floors, holdings, lfts, index};
	const struct fors_jobindex first = {.index = index, .entries = &holdings->entries[0]};

	if (floors->count == 1)
		return fors_entries_held(floors->floor[0], list, &first, lfts, is_held, error);
	for (uint32_t j = 0; j < list->count; j++)
		is_held[j] = has_job_ways(&r, &list->job[j]);
	return FORS_OK;
}
