/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * owners_improve.c - better owners by small exchanges: annealing that ends cold when the work is done.
 *
 * A move touches few lanes, and only the owners that have them are asked anew how they are. It is taken back when it made
 * things worse by more than the temperature allows.
 */
#include "owners_inside.h"

#include <string.h>

#include "core/base/random.h"

#define HOT (SPEED_ONE / 5) /* what a move may cost at the beginning */
#define SEEDS_APART 7919

/* A move at a leaf: the lanes that it changed, to be taken back, and whom it touched. */
struct move {
	uint32_t leaf, n, nowners;
	uint32_t lane[2], was[2];
	struct touched {
		uint32_t owner, ncut;
		int64_t energy;
		size_t saved; /* where in search->saved its water is */
	} owner[2];
	size_t nsaved;
};

static struct party *party_of(const struct search *s, uint32_t leaf, uint32_t who)
{
	return &s->party[s->party_at[(size_t)leaf * s->nowners + who]];
}

/* The water of an owner that its lanes at the leaf change, to or from where the move saves it. How many words. */
static size_t copy_water(struct search *s, const struct move *move, const struct touched *touched, bool is_back)
{
	const struct owner *owner = &s->owner[touched->owner];
	uint32_t me = (uint32_t)(party_of(s, move->leaf, touched->owner) - s->party) - owner->first;
	uint32_t *saved = s->saved + touched->saved;
	size_t n = (size_t)owner->count * s->nlanes, row = s->nlanes + (size_t)1;

	memcpy(is_back ? owner->load : saved, is_back ? saved : owner->load, n * sizeof(*saved));
	for (uint32_t k = 0; k < owner->count; k++) {
		uint32_t *share;

		if (k == me)
			continue;
		share = owner_share(s, owner, k < me ? k : me, k < me ? me : k);
		memcpy(is_back ? share : saved + n, is_back ? saved + n : share, row * sizeof(*saved));
		n += row;
	}
	s->work += n / 16;
	return n;
}

/* The owner as it is before the move. */
static void touch(struct search *s, struct move *move, uint32_t who)
{
	const struct owner *owner = &s->owner[who];
	struct touched *touched = &move->owner[move->nowners];

	for (uint32_t i = 0; i < move->nowners; i++)
		if (move->owner[i].owner == who)
			return;
	*touched = (struct touched){who, owner->ncut, owner->energy, move->nsaved};
	move->nowners++;
	move->nsaved += copy_water(s, move, touched, false);
}

static void pass(struct search *s, uint32_t leaf, uint32_t lane, uint32_t who)
{
	uint32_t *at = &s->at[(size_t)leaf * s->nlanes + lane];
	struct party *from = party_of(s, leaf, *at), *to = party_of(s, leaf, who);

	from->nlanes--;
	to->nlanes++;
	mask_flip(&from->mask, lane);
	mask_flip(&to->mask, lane);
	*at = who;
}

/* Another lane of the leaf is `who`'s now. */
static void hand_over(struct search *s, struct move *move, uint32_t lane, uint32_t who)
{
	uint32_t was = s->at[(size_t)move->leaf * s->nlanes + lane];

	move->lane[move->n] = lane;
	move->was[move->n++] = was;
	touch(s, move, was);
	touch(s, move, who);
	pass(s, move->leaf, lane, who);
}

static void take_back(struct search *s, struct move *move)
{
	while (move->n > 0) {
		move->n--;
		pass(s, move->leaf, move->lane[move->n], move->was[move->n]);
	}
	for (uint32_t i = 0; i < move->nowners; i++) {
		const struct touched *touched = &move->owner[i];
		struct owner *owner = &s->owner[touched->owner];
		struct party *party = party_of(s, move->leaf, touched->owner);

		copy_water(s, move, touched, true);
		party->poured = party->mask;
		owner->ncut = touched->ncut;
		owner->energy = touched->energy;
	}
}

/* ---- moves ---- */

/* Two lanes of the leaf change owners, or (is_gift) the first lane becomes the second one's owner's. */
static void exchange(struct search *s, struct move *move, uint32_t one, uint32_t two, bool is_gift)
{
	const uint32_t *at = &s->at[(size_t)move->leaf * s->nlanes];
	uint32_t a = at[one], b = at[two];

	if (a == FORS_NO_JOB || b == FORS_NO_JOB || a == b || (is_gift && party_of(s, move->leaf, a)->nlanes == 1))
		return;
	hand_over(s, move, one, b);
	if (!is_gift)
		hand_over(s, move, two, a);
}

/* A lane of the leaf that is the owner's: the first one from a random one on. */
static uint32_t any_lane_of(const struct search *s, struct fors_xorshift *random, uint32_t leaf, uint32_t who)
{
	uint32_t lane = fors_xorshift_below(random, s->nlanes);

	for (uint32_t i = 0; i < s->nlanes && s->at[(size_t)leaf * s->nlanes + lane] != who; i++)
		lane = lane + 1 < s->nlanes ? lane + 1 : 0;
	return lane;
}

static uint32_t any_leaf_of(const struct search *s, struct fors_xorshift *random, const struct owner *owner)
{
	return s->party[owner->first + fors_xorshift_below(random, owner->count)].leaf;
}

/* An owner that is not at full speed: the first one from a random one on. */
static const struct owner *any_slow(const struct search *s, struct fors_xorshift *random)
{
	uint32_t o = fors_xorshift_below(random, s->nowners);

	for (uint32_t i = 0; i < s->nowners && s->owner[o].energy <= SPEED_ONE; i++)
		o = o + 1 < s->nowners ? o + 1 : 0;
	return &s->owner[o];
}

/*
 * Three moves of four are for an owner that is badly off: a lane more, or another one, at one of its leaves; every second of
 * these lanes is one that it has at another leaf, since only lanes at both ends are of use.
 */
static void choose(struct search *s, struct fors_xorshift *random, struct move *move)
{
	const struct owner *slow = any_slow(s, random);
	uint32_t kind = fors_xorshift_below(random, 16), one = fors_xorshift_below(random, s->nlanes);
	uint32_t leaf = s->shared_leaf[fors_xorshift_below(random, s->nshared)], two;

	if (slow->count && kind < 12) {
		leaf = any_leaf_of(s, random, slow);
		two = any_lane_of(s, random, leaf, s->party[slow->first].owner);
		if (fors_xorshift_below(random, 2))
			one = any_lane_of(s, random, any_leaf_of(s, random, slow), s->party[slow->first].owner);
	} else {
		two = fors_xorshift_below(random, s->nlanes);
	}
	*move = (struct move){.leaf = leaf};
	exchange(s, move, one, two, kind % 8 < 4);
}

/* ---- the search ---- */

/* How much worse the owners that the move touched are now. */
static int64_t ask(struct search *s, const struct move *move)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < move->nowners; i++) {
		struct owner *owner = &s->owner[move->owner[i].owner];

		fors_owners_pour_leaf(s, owner, move->leaf);
		sum += owner->energy - move->owner[i].energy;
	}
	return sum;
}

static void remember(struct search *s)
{
	memcpy(s->best, s->at, (size_t)s->task->fabric->nleaves * s->nlanes * sizeof(*s->best));
}

static bool has_ended(const struct search *s, int64_t energy, int64_t least, uint32_t ntries)
{
	const struct fors_owners_task *task = s->task;

	return energy <= least || s->work >= s->until ||
	       (ntries % 64 == 0 && task->cancelled && task->cancelled(task->context));
}

/* The allowance: HOT at first, nothing at the end, any part of it with the same chance. */
static int64_t allowance(const struct search *s, struct fors_xorshift *random)
{
	uint64_t left = (s->until - s->work) * HOT / (s->until - s->since);

	return (int64_t)((fors_xorshift_next(random) >> 32) * left >> 32);
}

/* The energy at the start, and what it would be if all were at full speed. */
static int64_t weigh_all(struct search *s, int64_t *least)
{
	int64_t energy = 0;

	for (uint32_t o = 0; o < s->nowners; o++) {
		fors_owners_pour(s, &s->owner[o]);
		energy += s->owner[o].energy;
		*least += s->owner[o].count ? SPEED_ONE : 0;
	}
	return energy;
}

void fors_owners_improve(struct search *s)
{
	struct fors_xorshift random = {0x666f7273 + SEEDS_APART * s->task->seed};
	int64_t least = 0, energy = weigh_all(s, &least), best = energy;
	struct move move;

	s->since = s->work;
	s->until = s->task->work;
	remember(s);
	for (uint32_t ntries = 1; s->nshared && s->nlanes && !has_ended(s, best, least, ntries); ntries++) {
		int64_t worse;

		s->work += 64;
		choose(s, &random, &move);
		worse = ask(s, &move);
		if (worse > 0 && (s->work >= s->until || worse > allowance(s, &random)))
			take_back(s, &move);
		else
			energy += worse;
		if (energy < best) {
			best = energy;
			remember(s);
		}
	}
}
