/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jobplan_left.h"

#include <stdlib.h>
#include <string.h>

#define SEVERAL (FORS_NO_JOB - 1) /* jobs use it: it was shared */

/* nleaves: there is none. It is looked for from `likely` on, for there are as many questions as leaves and servers together make pairs. */
static uint32_t leaf_of(const struct fors_fabric *fabric, uint64_t guid, uint32_t likely)
{
	for (uint32_t i = 0; i < fabric->nleaves; i++) {
		uint32_t leaf = (likely + i) % fabric->nleaves;

		if (fabric->leaf[leaf].guid == guid)
			return leaf;
	}
	return fabric->nleaves;
}

/* The job has used the lane at the leaf, or beyond all leaves. */
static void claim(const struct fors_fabric *fabric, uint32_t leaf, uint32_t lane, uint32_t job, uint32_t *before)
{
	uint32_t *at = &before[(size_t)leaf * fabric->nlanes + lane];

	if (leaf >= fabric->nleaves || lane == FORS_NONE)
		return;
	*at = *at == FORS_NO_JOB || *at == job ? job : SEVERAL;
}

struct reading {
	const struct fors_floors *floors;
	const struct fors_jobentry *entry;
	const struct fors_schedule *plan;
	uint32_t job;
	struct fors_holdings *before;
};

/* A lane up and a lane down by way of one spine of a floor, between two of its leaves. */
struct stretch {
	uint32_t floor, first, last, up, down;
};

/* False: there is none by these ports. */
static bool find_stretch(const struct fors_floors *floors, uint8_t up_port, uint8_t down_port, struct stretch *s)
{
	const struct fors_fabric *f = floors->floor[s->floor];

	s->up = s->first < f->nleaves ? fors_lane_at(f, s->first, FORS_NONE, up_port) : FORS_NONE;
	if (s->up == FORS_NONE || s->last >= f->nleaves)
		return false;
	s->down = fors_lane_at(f, s->last, f->lane[s->up].spine, down_port);
	return s->down != FORS_NONE;
}

/* Does it lead to where the server is now? A host may have moved, to a leaf that sent to it. */
static bool leads_home(const struct reading *r, const struct stretch *s, uint32_t d)
{
	uint32_t home = r->floors->floor[s->floor]->server[d].leaf;

	return s->last == home && s->first != home;
}

/* The server's lanes on the floor, unless another way has said so already. */
static void put_stretch(const struct reading *r, const struct stretch *s, uint32_t d)
{
	const struct fors_fabric *f = r->floors->floor[s->floor];
	struct fors_entries *entries = &r->before->entries[s->floor];
	uint32_t *job = r->before->owners[s->floor].job;
	uint8_t *up = &entries->up[(size_t)s->first * f->nservers + d],
		*down = &entries->down[(size_t)f->lane[s->up].spine * f->nservers + d];

	claim(f, s->first, s->up, r->job, job);
	claim(f, s->last, s->down, r->job, job);
	if (*up == FORS_NO_LANE && (*down == FORS_NO_LANE || *down == s->down)) {
		*up = (uint8_t)s->up;
		*down = (uint8_t)s->down;
	}
}

/* Between leaves of one pod, or of a tree of two levels. */
static void take_low(const struct reading *r, const struct fors_way_hop *hop, uint32_t d, uint32_t likely)
{
	const struct fors_fabric *f = r->floors->floor[0];
	struct stretch s = {.first = leaf_of(f, hop[0].guid, likely),
			    .last = leaf_of(f, hop[2].guid, f->server[d].leaf)};

	if (find_stretch(r->floors, hop[0].port, hop[1].port, &s) && leads_home(r, &s, d))
		put_stretch(r, &s, d);
}

/* Between pods: a stretch of floor 0, and between its ends one of its plane. */
static void take_high(const struct reading *r, const struct fors_way_hop *hop, uint32_t d, uint32_t likely)
{
	const struct fors_fabric *f = r->floors->floor[0], *plane;
	struct stretch low = {.first = leaf_of(f, hop[0].guid, likely),
			      .last = leaf_of(f, hop[4].guid, f->server[d].leaf)},
		       high;

	if (!find_stretch(r->floors, hop[0].port, hop[3].port, &low) || !leads_home(r, &low, d))
		return;
	high = (struct stretch){.floor = f->lane[low.up].spine + 1,
				.first = fors_floors_pod(r->floors, low.first),
				.last = fors_floors_pod(r->floors, low.last)};
	plane = r->floors->floor[high.floor];
	if (!find_stretch(r->floors, hop[1].port, hop[2].port, &high) || !leads_home(r, &high, d) ||
	    plane->leaf[high.first].guid != hop[1].guid || plane->leaf[high.last].guid != hop[3].guid ||
	    plane->spine[plane->lane[high.up].spine].guid != hop[2].guid)
		return;
	put_stretch(r, &low, d);
	put_stretch(r, &high, d);
}

/* All ways to a server of the job, over one path index or all. Leaves mostly have the numbers that they had. */
static void take_ways_to(const struct reading *r, uint32_t dst, uint32_t d, int64_t index)
{
	const struct fors_waylist *ways = r->plan->ways;
	uint32_t from = index < 0 ? 0 : (uint32_t)index, to = index < 0 ? ways->npaths : (uint32_t)index + 1;

	for (uint32_t leaf = 0; leaf < ways->nleaves; leaf++)
		for (uint32_t path = from; path < to; path++) {
			struct fors_way_hop hop[6];
			uint32_t n = fors_waylist_get(ways, fors_waylist_find(ways, leaf, dst, path), hop, 6);

			if (n == 3)
				take_low(r, hop, d, leaf);
			else if (n == 5 && r->floors->count > 1)
				take_high(r, hop, d, leaf);
		}
}

static void take_job(const struct reading *r, int64_t index)
{
	const struct fors_fabric *f = r->floors->floor[0];

	for (uint32_t dst = 0; r->plan->ways && dst < r->plan->nservers && dst < r->plan->ways->nservers; dst++)
		for (uint32_t i = 0; i < r->entry->count; i++)
			if (f->server[r->entry->server[i]].guid == r->plan->server[dst].guid)
				take_ways_to(r, dst, r->entry->server[i], index);
}

static bool alloc_floor(const struct fors_fabric *f, struct fors_owners *owners, struct fors_entries *entries)
{
	size_t nlanes = (size_t)f->nleaves * f->nlanes, nups = (size_t)f->nleaves * f->nservers,
	       ndowns = (size_t)f->nspines * f->nservers;

	*owners = (struct fors_owners){f->nleaves, f->nlanes, malloc((nlanes + 1) * sizeof(*owners->job))};
	*entries = (struct fors_entries){.nleaves = f->nleaves,
					 .nspines = f->nspines,
					 .nservers = f->nservers,
					 .up = malloc(nups + 1),
					 .down = malloc(ndowns + 1)};
	if (!owners->job || !entries->up || !entries->down)
		return false;
	memset(owners->job, 0xFF, nlanes * sizeof(*owners->job)); /* FORS_NO_JOB */
	memset(entries->up, FORS_NO_LANE, nups);
	memset(entries->down, FORS_NO_LANE, ndowns);
	return true;
}

static bool alloc_floors(const struct fors_floors *floors, struct fors_holdings *made)
{
	bool is_good;

	*made = (struct fors_holdings){.owners = calloc(floors->count, sizeof(*made->owners)),
				       .entries = calloc(floors->count, sizeof(*made->entries))};
	is_good = made->owners && made->entries;
	made->nfloors = is_good ? floors->count : 0;
	for (uint32_t f = 0; is_good && f < floors->count; f++)
		is_good = alloc_floor(floors->floor[f], &made->owners[f], &made->entries[f]);
	return is_good;
}

enum fors_err fors_jobplans_left(const struct fors_floors *floors, const struct fors_joblist *list,
				 const struct fors_schedule *const *left, int64_t index, struct fors_holdings *before,
				 struct fors_error *error)
{
	struct fors_holdings made;

	if (!alloc_floors(floors, &made)) {
		fors_holdings_clear(&made);
		return fors_fail_memory(error);
	}
	for (uint32_t j = 0; j < list->count; j++) {
		const struct reading r = {floors, &list->job[j], left[j], j, &made};

		if (left[j] && list->job[j].is_exclusive)
			take_job(&r, index);
	}
	for (uint32_t f = 0; f < floors->count; f++)
		for (size_t i = 0; i < (size_t)made.owners[f].nleaves * made.owners[f].nlanes; i++)
			if (made.owners[f].job[i] == SEVERAL)
				made.owners[f].job[i] = FORS_NO_JOB;
	*before = made;
	return FORS_OK;
}
