/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * owners_energy.c - how well off is a job with these lanes?
 *
 * The flows of each pair of its leaves are poured over the lanes that both have, each lane as high as the fuller of its
 * two ends stands: water finds its level. Pair after pair, twice round, each time without what the pair itself had poured;
 * and when lanes change hands at a leaf, only the pairs of that leaf.
 * (What a sends to b and what b sends to a are as many, so one direction stands for both.) Numbers are whole, in parts of
 * SCALE to a flow, so the answer is the same on any machine.
 */
#include "owners_inside.h"

#include <string.h>

#define SCALE 8
#define ROUNDS 2
#define CUT_OFF (4 * SPEED_ONE)			       /* for a pair of leaves without a lane in common */
#define KEEP_COST (SPEED_ONE * FORS_EPOCH_COST / 1000) /* for lanes that the owner had before and lost */

/* The lanes that both parties have, by the height of the water; how many. */
static uint32_t list_common(struct search *s, const struct owner *owner, uint32_t i, uint32_t k)
{
	const struct mask *a = &s->party[owner->first + i].mask, *b = &s->party[owner->first + k].mask;
	const uint32_t *left = &owner->load[i * s->nlanes], *right = &owner->load[k * s->nlanes];
	uint32_t n = 0;

	for_each_common(lane, a, b, s->nwords)
	{
		uint32_t high = left[lane] > right[lane] ? left[lane] : right[lane], place = n++;

		for (; place && s->level[place - 1] > high; place--) {
			s->level[place] = s->level[place - 1];
			s->lane[place] = s->lane[place - 1];
		}
		s->level[place] = high;
		s->lane[place] = (uint32_t)lane;
	}
	s->work += 8 + 4 * n;
	return n;
}

/* Pour `water` over the n lowest lanes of the list; share[lane] is what each gets. */
static void pour(const struct search *s, uint32_t n, uint32_t water, uint32_t *share)
{
	uint64_t sum = s->level[0];
	uint32_t wet = 1, height, rest;

	while (wet < n && (uint64_t)wet * s->level[wet] < sum + water)
		sum += s->level[wet++];
	height = (uint32_t)((sum + water) / wet);
	rest = (uint32_t)((sum + water) % wet);
	for (uint32_t i = 0; i < wet; i++)
		share[s->lane[i]] = height - s->level[i] + (i < rest);
}

/* What the pair had poured, out of both loads. */
static void drain(const struct search *s, struct owner *owner, uint32_t i, uint32_t k, uint32_t *share)
{
	const struct mask *a = &s->party[owner->first + i].poured, *b = &s->party[owner->first + k].poured;

	for_each_common(lane, a, b, s->nwords)
	{
		owner->load[i * s->nlanes + lane] -= share[lane];
		owner->load[k * s->nlanes + lane] -= share[lane];
		share[lane] = 0;
	}
}

/* One pair of parties anew, i < k. */
static void pour_pair(struct search *s, struct owner *owner, uint32_t i, uint32_t k)
{
	uint32_t *share = owner_share(s, owner, i, k), want = owner->want[owner_pair(owner, i, k)], n;

	if (!want)
		return;
	drain(s, owner, i, k, share);
	n = list_common(s, owner, i, k);
	owner->ncut += !n - share[s->nlanes];
	share[s->nlanes] = !n;
	if (!n)
		return;
	pour(s, n, want * SCALE, share);
	for (uint32_t place = 0; place < n; place++) {
		uint32_t lane = s->lane[place];

		owner->load[i * s->nlanes + lane] += share[lane];
		owner->load[k * s->nlanes + lane] += share[lane];
	}
}

/* Has it lost a lane that it had before? Then it needs another plan. */
static bool is_moved(const struct search *s, const struct owner *owner)
{
	const uint32_t *before = s->task->before;
	uint32_t who = s->party[owner->first].owner;

	for (uint32_t i = 0; before && i < owner->count; i++) {
		size_t row = (size_t)s->party[owner->first + i].leaf * s->nlanes;

		for (uint32_t lane = 0; lane < s->nlanes; lane++)
			if (before[row + lane] == who && s->at[row + lane] != who)
				return true;
	}
	return false;
}

/* What the fullest lane carries, and all that stands above `full`. */
static uint64_t find_most(struct search *s, const struct owner *owner, uint64_t full, uint64_t *over)
{
	uint64_t most = full;

	for (uint32_t i = 0; i < owner->count; i++) {
		const struct party *party = &s->party[owner->first + i];

		for_each_common(lane, &party->mask, &party->mask, s->nwords)
		{
			uint32_t load = owner->load[i * s->nlanes + lane];

			most = load > most ? load : most;
			*over += load > full ? load - full : 0;
		}
		s->work += 4 + party->nlanes;
	}
	return most;
}

static void weigh(struct search *s, struct owner *owner)
{
	uint64_t full = (uint64_t)owner->nservers * SCALE, over = 0, most = find_most(s, owner, full, &over);

	owner->energy = (int64_t)(most * SPEED_ONE / full + over * SPEED_ONE / OVERLOAD_PART / full) +
			(int64_t)owner->ncut * CUT_OFF + (is_moved(s, owner) ? KEEP_COST : 0);
}

void fors_owners_pour(struct search *s, struct owner *owner)
{
	if (!owner->count)
		return;
	memset(owner->load, 0, owner_words(s, owner) * sizeof(*owner->load));
	owner->ncut = 0;
	for (uint32_t i = 0; i < owner->count; i++)
		s->party[owner->first + i].poured = s->party[owner->first + i].mask;
	for (int round = 0; round < ROUNDS; round++)
		for (uint32_t i = 0; i < owner->count; i++)
			for (uint32_t k = i + 1; k < owner->count; k++)
				pour_pair(s, owner, i, k);
	weigh(s, owner);
}

void fors_owners_pour_leaf(struct search *s, struct owner *owner, uint32_t leaf)
{
	uint32_t party = s->party_at[(size_t)leaf * s->nowners + s->party[owner->first].owner];
	uint32_t me = party - owner->first;

	for (uint32_t k = 0; k < owner->count; k++)
		if (k != me)
			pour_pair(s, owner, k < me ? k : me, k < me ? me : k);
	s->party[party].poured = s->party[party].mask;
	weigh(s, owner);
}
