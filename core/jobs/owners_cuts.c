/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * owners_cuts.c - how fast could a job with these lanes be, at best?
 *
 * Of the lanes of a leaf take a set Q. To leaves that have no lane in common with this one but of Q, all flows go over Q: so
 * many phases as flows for each lane of Q are needed (doc/jobs.md, "Necessary, with any path indices"). The leaf and
 * the set that need most say how fast the job can be. With few lanes all sets are few: servers are counted by the lanes that
 * their leaves have, and then summed up for each set of lanes, which are those within it.
 *
 * That costs a part of pouring (owners_energy.c), and hangs on no order of pairs. Here speeds count, not times: a job that is slow
 * anyway may become slower if another gets to full speed.
 */
#include "owners_inside.h"

#define MOST_LANES 8
#define SETS (1u << MOST_LANES)
#define SCALE 840		/* parts of a flow: whole numbers of them for up to eight lanes */
#define CUT_OFF (4 * SPEED_ONE) /* for leaves without a lane in common, and more for each server that they have */

/* Servers of an owner at leaves that have no lanes but these. */
struct within {
	uint32_t servers[SETS];
};

bool fors_owners_may_cut(const struct search *s)
{
	const struct fors_owners_task *task = s->task;

	return (!task->before || task->may_move) && !task->flows && s->nlanes && s->nlanes <= MOST_LANES;
}

static uint32_t lanes_of(const struct party *party)
{
	return (uint32_t)party->mask.word[0];
}

static void count(struct search *s, const struct owner *owner, struct within *within)
{
	uint32_t nsets = 1u << s->nlanes;

	for (uint32_t set = 0; set < nsets; set++)
		within->servers[set] = 0;
	for (uint32_t i = owner->first; i < owner->first + owner->count; i++)
		within->servers[lanes_of(&s->party[i])] += s->party[i].n;
	for (uint32_t lane = 1; lane < nsets; lane *= 2)
		for (uint32_t set = 0; set < nsets; set++)
			if (set & lane)
				within->servers[set] += within->servers[set ^ lane];
	s->work += nsets * s->nlanes / 4;
}

/* Phases that the leaf needs, in parts of SCALE. */
static uint64_t phases(struct search *s, const struct party *party, const struct within *within)
{
	uint32_t own = lanes_of(party), others = ((1u << s->nlanes) - 1) & ~own;
	uint64_t most = 0;

	for (uint32_t set = own; set; set = (set - 1) & own, s->work += 2) {
		uint32_t there = within->servers[set | others] - (set == own ? party->n : 0);
		uint64_t here = (uint64_t)SCALE * party->n * there / (uint32_t)__builtin_popcount(set);

		most = here > most ? here : most;
	}
	return most;
}

/* Pairs of a server at the leaf and one that it cannot reach. */
static uint64_t cut_off(const struct search *s, const struct party *party, const struct within *within)
{
	uint32_t own = lanes_of(party), others = ((1u << s->nlanes) - 1) & ~own;

	return (uint64_t)party->n * (within->servers[others] - (own ? 0 : party->n));
}

void fors_owners_cut(struct search *s, struct owner *owner)
{
	uint64_t full = (uint64_t)owner->nservers * SCALE, most = full, over = 0, ncut = 0;
	struct within within;

	if (!owner->count)
		return;
	count(s, owner, &within);
	for (uint32_t i = owner->first; i < owner->first + owner->count; i++) {
		uint64_t here = phases(s, &s->party[i], &within);

		most = here > most ? here : most;
		over += here > full ? here - full : 0;
		ncut += cut_off(s, &s->party[i], &within);
	}
	owner->energy = 2 * SPEED_ONE - (int64_t)(full * SPEED_ONE / most) +
			(int64_t)(over * SPEED_ONE / OVERLOAD_PART / full) + fors_owners_price(s, owner);
	if (ncut)
		owner->energy += CUT_OFF + (int64_t)(ncut * SPEED_ONE / owner->nservers);
}
