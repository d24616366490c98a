/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * places_relieve.c - homes by rank where one leaf is much larger than others: a few servers take another home.
 *
 * Ranks give each lane as many servers as any other, or one more where their number P is no multiple of the lanes. A leaf a
 * of n_a <= L servers has all of them on different lanes, so that the lanes with one more may cost it nothing: they are
 * those of its own servers. But when n_a is near L and one such lane is none of its own, a whole row of n_a flows comes
 * to that uplink beyond what the others carry, and it alone makes the exchange longer: 87 phases where 75 are enough,
 * for leaves of 29 and 46 servers on 30 lanes. The ranks know nothing of that: they only see where a leaf begins.
 *
 * What no homes can be below: P, and for each leaf n_a times the destinations of its fullest uplink, at least
 * ceil((P - n_a) / L). While an uplink has more, one server that is at home on its lane, of another leaf, takes a home that
 * no server of its own leaf has: that which takes most flows from the uplinks that have too many. This is a step down each
 * time, so it ends. Of 1,500 random fabrics 60 needed it, of up to three steps, and all came to the bound. Downlinks never
 * matter: a server that is alone on its lane in its leaf gets P - n_b flows.
 */
#include "places_inside.h"

/* Servers of a leaf at home on a lane. */
static uint32_t here(const struct fors_home_counts *counts, uint32_t leaf, uint32_t lane)
{
	return counts->own[(size_t)leaf * counts->places->nlanes + lane];
}

/* Flows beyond the bound on a leaf's uplink with so many destinations. */
static uint64_t excess(const struct fors_home_counts *counts, uint32_t leaf, uint32_t ndestinations, uint64_t bound)
{
	uint64_t flows = (uint64_t)counts->places->leaf[leaf].nslots * ndestinations;

	return flows > bound ? flows - bound : 0;
}

static uint64_t least_bound(const struct fors_home_counts *counts)
{
	uint64_t bound = counts->nservers;

	for (uint32_t a = 0; a < counts->places->nleaves; a++) {
		uint64_t own = counts->places->leaf[a].nslots, nlanes = counts->places->nlanes;
		uint64_t lump = own * ((counts->nservers - own + nlanes - 1) / nlanes);

		bound = lump > bound ? lump : bound;
	}
	return bound;
}

/* A server that goes to another lane, and by how much less there is beyond the bound then. */
struct step {
	uint32_t leaf, from, to;
	int64_t gain;
};

/* What one server of another leaf more (or less) on a lane costs (or gains) a leaf. */
static int64_t change(const struct fors_home_counts *counts, uint32_t leaf, uint32_t lane, int more, uint64_t bound)
{
	uint32_t now = counts->total[lane] - here(counts, leaf, lane);
	uint32_t then = more > 0 ? now + 1 : now ? now - 1 : 0;

	return (int64_t)excess(counts, leaf, then, bound) - (int64_t)excess(counts, leaf, now, bound);
}

/* The same of all leaves together, as if the server were of none of them. */
static int64_t change_all(const struct fors_home_counts *counts, uint32_t lane, int more, uint64_t bound)
{
	int64_t sum = 0;

	for (uint32_t a = 0; a < counts->places->nleaves; a++)
		sum += change(counts, a, lane, more, bound);
	return sum;
}

/* The leaf and lane with most beyond the bound, in *step; false: there is none. */
static bool find_fullest(const struct fors_home_counts *counts, uint64_t bound, struct step *step)
{
	uint64_t most = 0;

	for (uint32_t a = 0; a < counts->places->nleaves; a++)
		for (uint32_t k = 0; k < counts->places->nlanes; k++) {
			uint64_t beyond = excess(counts, a, counts->total[k] - here(counts, a, k), bound);

			if (beyond <= most)
				continue;
			most = beyond;
			*step = (struct step){.leaf = a, .from = k};
		}
	return most;
}

/*
 * The best way to have one server less on the lane of *step; false: none makes anything better. Whose server goes changes
 * the sums over all leaves in one term only, so that a step costs leaves times lanes: OpenSM's lock is held.
 */
static bool find_step(const struct fors_home_counts *counts, uint64_t bound, struct step *step)
{
	int64_t all_less = change_all(counts, step->from, -1, bound), all_more[FORS_MAX_LANES];
	struct step best = {.gain = 0};

	for (uint32_t k = 0; k < counts->places->nlanes; k++)
		all_more[k] = change_all(counts, k, 1, bound);
	for (uint32_t b = 0; b < counts->places->nleaves; b++) {
		int64_t less;

		if (b == step->leaf || !here(counts, b, step->from))
			continue;
		less = all_less - change(counts, b, step->from, -1, bound);
		for (uint32_t k = 0; k < counts->places->nlanes && -less > best.gain; k++) {
			int64_t more = all_more[k] - change(counts, b, k, 1, bound);

			if (!here(counts, b, k) && -less - more > best.gain)
				best = (struct step){b, step->from, k, -less - more};
		}
	}
	*step = best;
	return best.gain > 0;
}

static void move(struct fors_home_counts *counts, const struct step *step)
{
	struct fors_leaf_place *leaf = &counts->places->leaf[step->leaf];
	uint32_t *own = &counts->own[(size_t)step->leaf * counts->places->nlanes];
	unsigned s = 0;

	while (leaf->slot_home[s] != step->from)
		s++;
	leaf->slot_home[s] = (uint8_t)step->to;
	own[step->from]--;
	own[step->to]++;
	counts->total[step->from]--;
	counts->total[step->to]++;
}

void fors_places_relieve(struct fors_home_counts *counts)
{
	uint64_t bound = least_bound(counts);
	struct step step = {.gain = 0};

	for (uint32_t n = 0; n < counts->places->nlanes && find_fullest(counts, bound, &step); n++) {
		if (!find_step(counts, bound, &step))
			return;
		move(counts, &step);
	}
}
