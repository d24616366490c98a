/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * owners_start.c - lanes for a start: every party its part of the leaf's living lanes, and a job the same ones at all its
 * leaves as far as they are free. A leaf with fewer servers of the job takes some of the lanes of the one with more.
 */
#include "owners_inside.h"

#include <stdlib.h>

static bool is_free(const struct search *s, uint32_t leaf, uint32_t lane)
{
	return s->at[(size_t)leaf * s->nlanes + lane] == FORS_NO_JOB && fors_live(s->task->fabric, leaf, lane);
}

static void give(struct search *s, struct party *party, uint32_t lane)
{
	s->at[(size_t)party->leaf * s->nlanes + lane] = party->owner;
	mask_flip(&party->mask, lane);
	party->nlanes++;
}

/* What it has `before` it has again: as far as the lanes live. */
static void give_back(struct search *s)
{
	for (uint32_t i = 0; s->task->before && i < s->nparties; i++) {
		size_t row = (size_t)s->party[i].leaf * s->nlanes;

		for (uint32_t lane = 0; lane < s->nlanes; lane++)
			if (s->task->before[row + lane] == s->party[i].owner && is_free(s, s->party[i].leaf, lane))
				give(s, &s->party[i], lane);
	}
}

/* Its part of the living lanes of its leaf by servers, rounded down; at least 1. */
static uint32_t part_of(const struct search *s, const struct party *party)
{
	uint32_t all = 0, part;

	for (uint32_t o = 0; o < s->nowners; o++) {
		uint32_t other = s->party_at[(size_t)party->leaf * s->nowners + o];

		all += other == FORS_NONE ? 0 : s->party[other].n;
	}
	part = s->task->fabric->leaf[party->leaf].nlive * party->n / all;
	return part ? part : 1;
}

/* At how many leaves of the owner the lane is its own or free, each leaf by its servers. */
static uint32_t worth(const struct search *s, const struct owner *owner, uint32_t lane)
{
	uint32_t sum = 0;

	for (uint32_t i = owner->first; i < owner->first + owner->count; i++)
		if (s->at[(size_t)s->party[i].leaf * s->nlanes + lane] == s->party[i].owner ||
		    is_free(s, s->party[i].leaf, lane))
			sum += s->party[i].n;
	return sum;
}

/* All lanes, those of most worth first; a tie in the order of lanes. */
static void order_lanes(struct search *s, const struct owner *owner)
{
	for (uint32_t lane = 0; lane < s->nlanes; lane++) {
		uint32_t value = worth(s, owner, lane), place = lane;

		for (; place && s->level[place - 1] < value; place--) {
			s->level[place] = s->level[place - 1];
			s->lane[place] = s->lane[place - 1];
		}
		s->level[place] = value;
		s->lane[place] = lane;
	}
}

static void serve(struct search *s, const struct owner *owner)
{
	order_lanes(s, owner);
	for (uint32_t i = owner->first; i < owner->first + owner->count; i++) {
		uint32_t part = part_of(s, &s->party[i]);

		for (uint32_t k = 0; k < s->nlanes && s->party[i].nlanes < part; k++)
			if (is_free(s, s->party[i].leaf, s->lane[k]))
				give(s, &s->party[i], s->lane[k]);
	}
}

/* A party that came too late takes a lane of the one that has most. */
static void spare_one(struct search *s, struct party *party)
{
	struct party *rich = NULL;

	for (uint32_t o = 0; o < s->nowners; o++) {
		uint32_t other = s->party_at[(size_t)party->leaf * s->nowners + o];

		if (other != FORS_NONE && s->party[other].nlanes > (rich ? rich->nlanes : 1))
			rich = &s->party[other];
	}
	for (uint32_t lane = 0; rich && lane < s->nlanes; lane++)
		if (s->at[(size_t)party->leaf * s->nlanes + lane] == rich->owner) {
			rich->nlanes--;
			mask_flip(&rich->mask, lane);
			give(s, party, lane);
			return;
		}
}

/* What is left goes to the party with most servers for each of its lanes. */
static void give_rest(struct search *s, uint32_t leaf)
{
	for (uint32_t lane = 0; lane < s->nlanes; lane++) {
		struct party *poor = NULL;

		for (uint32_t o = 0; is_free(s, leaf, lane) && o < s->nowners; o++) {
			uint32_t index = s->party_at[(size_t)leaf * s->nowners + o];
			struct party *one = index == FORS_NONE ? NULL : &s->party[index];

			if (one &&
			    (!poor || (uint64_t)one->n * (poor->nlanes + 1) > (uint64_t)poor->n * (one->nlanes + 1)))
				poor = one;
		}
		if (poor)
			give(s, poor, lane);
	}
}

/* The next owner to be served: the one with most servers that `is_served` has not. */
static uint32_t next_owner(const struct search *s, const bool *is_served)
{
	uint32_t best = FORS_NO_JOB;

	for (uint32_t o = 0; o < s->nowners; o++)
		if (s->owner[o].count && !is_served[o] &&
		    (best == FORS_NO_JOB || s->owner[o].nservers > s->owner[best].nservers))
			best = o;
	return best;
}

void fors_owners_start(struct search *s, bool *is_served)
{
	uint32_t next;

	give_back(s);
	while ((next = next_owner(s, is_served)) != FORS_NO_JOB) {
		is_served[next] = true;
		serve(s, &s->owner[next]);
	}
	for (uint32_t i = 0; i < s->nparties; i++)
		if (!s->party[i].nlanes)
			spare_one(s, &s->party[i]);
	for (uint32_t a = 0; a < s->task->fabric->nleaves; a++)
		give_rest(s, a);
}
