/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stages.c - a packing in as many phases as there are receivers, in two stages: groups of switches, then switches.
 *
 * In P phases every receiver and every sender is busy in each. Where no two receivers share a link down, and a group of switches (the
 * leaves of a pod) sends to a receiver over one lane and one second link, only links up have to be looked at: a second link takes one token of its
 * group in a phase, a switch's own link one of a lane.
 *
 * First stage: which group each receiver hears in each phase. The tokens of a group are nested: those of a second link, or inside the group, those
 * of a lane, all of them. Of each such set no phase should have more than its share, rounded up. The beginning is the linear
 * shift, in which each group sends as many in each phase as it has senders. Where a set has too many in a phase there is a phase
 * in which it has fewest; the tokens of these two are dealt out anew: two of a receiver go to different ones, and so do as many pairs as there are of
 * each set, the smallest first. Pairs make circles, round which phases alternate, so that is always possible, and leaves no set less even
 * than it was. What a switch sends to its own receivers is no flow; these tokens are a set of their own.
 *
 * Second stage: which switch of the group sends each of its tokens (deal.h). Groups do not meet there, each is dealt by itself. What nobody
 * can take, and what meets where ways are not as said above, waits.
 */
#include "stages.h"

#include <stdlib.h>
#include <string.h>

#include "deal.h"
#include "groups.h"

#define LEVELS 4 /* of nested sets: a second link, a lane without what is the switch's own, a lane, a group */
#define MOST_GROUPS 32767
#define MOST_LEFT 40 /* tokens of all groups: with more left there is little hope, and no group is dealt often */
#define NONE UINT32_MAX

struct stages {
	const struct fors_flows_problem *problem;
	struct fors_flows_groups groups;
	uint32_t n; /* receivers, and phases */
	const struct fors_flows_asked *asked;
	const uint32_t *number; /* per destination, NULL */
	uint32_t turn;		/* the receiver from which on pairs are made */
	uint16_t *heard;	/* [t * n + d]: 2 * group, and 1 where it is d's own switch */
	uint32_t *own; /* per destination: the first of its switch to which its group sends over the same lane */
	uint32_t nsets;
	uint16_t *count; /* [set * n + t]: tokens */
	uint32_t *total; /* per set */
	/* two phases */
	uint32_t *last;	 /* per set: the token that waits for another, NONE */
	uint32_t *mate;	 /* per token, of both phases */
	uint8_t *colour; /* the same */
};

/* ---- sets ---- */

/* The sets of a token, from the smallest on; NONE: it has none at that level. */
static void sets_of(const struct stages *x, uint32_t d, uint32_t heard, uint32_t set[LEVELS])
{
	const struct fors_flows_groups *g = &x->groups;
	uint32_t group = heard / 2, lane = g->lane[group * x->n + d], shared = g->shared[group * x->n + d],
		 first = x->problem->nlinks;

	if (heard % 2)
		set[0] = first + g->nlanes + x->own[d];
	else if (shared != NONE)
		set[0] = shared;
	else
		set[0] = lane == NONE ? NONE : first + lane;
	first += g->nlanes + x->n;
	set[1] = lane == NONE || heard % 2 ? NONE : first + lane;
	set[2] = lane == NONE ? NONE : first + g->nlanes + lane;
	set[3] = first + 2 * g->nlanes + group;
}

static uint32_t count_sets(const struct stages *x)
{
	return x->problem->nlinks + 3 * x->groups.nlanes + x->n + x->groups.ngroups;
}

static void add(const struct stages *x, uint32_t d, uint32_t heard, uint32_t t, int more)
{
	uint32_t set[LEVELS];

	sets_of(x, d, heard, set);
	for (uint32_t i = 0; i < LEVELS; i++)
		if (set[i] != NONE)
			x->count[(size_t)set[i] * x->n + t] = (uint16_t)(x->count[(size_t)set[i] * x->n + t] + more);
}

static void find_own(const struct stages *x)
{
	const struct fors_flows_problem *p = x->problem;

	for (uint32_t d = 0; d < x->n; d++) {
		const uint32_t *lane = x->groups.lane + (size_t)x->groups.group[p->home[d]] * x->n;

		x->own[d] = p->first[p->home[d]];
		while (lane[x->own[d]] != lane[d])
			x->own[d]++;
	}
}

/* ---- the first stage ---- */

static void begin_with_shift(const struct stages *x)
{
	const struct fors_flows_problem *p = x->problem;

	for (uint32_t i = 0; i < x->n; i++)
		for (uint32_t d = 0; d < x->n; d++) {
			uint32_t from = x->number ? x->number[i] : i, to = x->number ? x->number[d] : d,
				 t = to >= from ? to - from : to + x->n - from,
				 heard = 2 * x->groups.group[p->home[i]] + (p->home[i] == p->home[d]);

			x->heard[(size_t)t * x->n + d] = (uint16_t)heard;
			add(x, d, heard, t, 1);
		}
	for (uint32_t s = 0; s < x->nsets; s++)
		for (uint32_t t = 0; t < x->n; t++)
			x->total[s] += x->count[(size_t)s * x->n + t];
}

/* Pairs of two tokens of the same set at a level; token e is receiver e % n's in the first phase or the second. */
static void pair_level(const struct stages *x, uint32_t t, uint32_t u, uint32_t level)
{
	uint32_t set[LEVELS];

	for (uint32_t pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < 2 * x->n; i++) {
			uint32_t e = i + x->turn < 2 * x->n ? i + x->turn : i + x->turn - 2 * x->n,
				 d = e < x->n ? e : e - x->n;

			if (x->mate[e] != NONE)
				continue;
			sets_of(x, d, x->heard[(size_t)(e < x->n ? t : u) * x->n + d], set);
			if (set[level] == NONE)
				continue;
			if (pass) {
				x->last[set[level]] = NONE;
			} else if (x->last[set[level]] == NONE) {
				x->last[set[level]] = e;
			} else {
				x->mate[e] = x->last[set[level]];
				x->mate[x->mate[e]] = e;
				x->last[set[level]] = NONE;
			}
		}
}

/* Two of a receiver, and two of a pair, have different colours; all tokens have pairs, since groups send as many in both phases. */
static void colour_circles(const struct stages *x)
{
	memset(x->colour, 2, 2 * (size_t)x->n);
	for (uint32_t e = 0; e < 2 * x->n; e++)
		for (uint32_t at = e; x->colour[at] == 2;) {
			uint32_t other = at < x->n ? at + x->n : at - x->n;

			x->colour[at] = 0;
			x->colour[other] = 1;
			at = x->mate[other];
		}
}

/* Deal the tokens of two phases out anew, each set as evenly as can be. */
static void even_out(const struct stages *x, uint32_t t, uint32_t u)
{
	memset(x->mate, 0xFF, 2 * (size_t)x->n * sizeof(*x->mate));
	for (uint32_t level = 0; level < LEVELS; level++)
		pair_level(x, t, u, level);
	colour_circles(x);
	for (uint32_t d = 0; d < x->n; d++) {
		uint16_t *one = &x->heard[(size_t)t * x->n + d], *other = &x->heard[(size_t)u * x->n + d], was = *one;

		if (!x->colour[d] || *one == *other)
			continue;
		add(x, d, *one, t, -1);
		add(x, d, *other, u, -1);
		*one = *other;
		*other = was;
		add(x, d, *one, t, 1);
		add(x, d, *other, u, 1);
	}
}

static uint32_t emptiest(const uint16_t *count, uint32_t n)
{
	uint32_t best = 0;

	for (uint32_t t = 1; t < n; t++)
		if (count[t] < count[best])
			best = t;
	return best;
}

static enum fors_err ask(const struct stages *x, struct fors_error *error)
{
	if (x->asked->cancelled && x->asked->cancelled(x->asked->context))
		return fors_fail(error, FORS_ECANCELLED, "flows: planning was cancelled");
	return FORS_OK;
}

static enum fors_err make_even(const struct stages *x, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	for (uint32_t s = 0; !err && s < x->nsets; s++) {
		uint32_t share = (x->total[s] + x->n - 1) / x->n;
		const uint16_t *count = x->count + (size_t)s * x->n;

		for (uint32_t t = 0; t < x->n; t++)
			while (count[t] > share)
				even_out(x, t, emptiest(count, x->n));
		err = ask(x, error);
	}
	return err;
}

/* ---- the second stage ---- */

struct hand {
	struct fors_flows_deal deal;
	struct fors_flows_token *token;
	uint16_t *wanted, *seats, *order;
	uint32_t *size;
	uint32_t first; /* the group's first member */
	uint32_t least; /* its lowest lane */
};

static uint32_t member(const struct stages *x, const struct hand *h, uint32_t i)
{
	return x->groups.member[h->first + i];
}

/* Lanes of a group by their numbers from the lowest on. */
static void find_group_lanes(const struct stages *x, uint32_t group, struct hand *h)
{
	uint32_t most = 0;

	h->least = NONE;
	for (uint32_t d = 0; d < x->n; d++) {
		uint32_t lane = x->groups.lane[group * x->n + d];

		if (lane == NONE)
			continue;
		h->least = lane < h->least ? lane : h->least;
		most = lane > most ? lane : most;
	}
	h->deal.nlanes = h->least == NONE ? 1 : most - h->least + 1;
}

static bool allocate_hand(const struct stages *x, uint32_t group, struct hand *h)
{
	uint32_t members = x->groups.begin[group + 1] - x->groups.begin[group];

	h->first = x->groups.begin[group];
	h->token = malloc((size_t)x->groups.senders[group] * x->n * sizeof(*h->token) + 1);
	h->wanted = calloc((size_t)members * x->n + 1, sizeof(*h->wanted));
	h->seats = calloc((size_t)members * x->n + 1, sizeof(*h->seats));
	h->order = calloc(members + (size_t)1, sizeof(*h->order));
	h->size = calloc(members + (size_t)1, sizeof(*h->size));
	h->deal = (struct fors_flows_deal){.nphases = x->n,
					   .ndests = x->n,
					   .nmembers = members,
					   .token = h->token,
					   .wanted = h->wanted,
					   .seats = h->seats,
					   .order = h->order,
					   .size = h->size};
	return h->token && h->wanted && h->seats && h->order && h->size;
}

static void release_hand(struct hand *h)
{
	free(h->token);
	free(h->wanted);
	free(h->seats);
	free(h->order);
	free(h->size);
}

/* Members, larger ones first; what each is to send to others, and the seats that it has for it. */
static void list_members(const struct stages *x, struct hand *h)
{
	for (uint32_t i = 0; i < h->deal.nmembers; i++) {
		uint32_t s = member(x, h, i), at = i;

		h->size[i] = x->problem->senders[s];
		for (; at && h->size[h->order[at - 1]] < h->size[i]; at--)
			h->order[at] = h->order[at - 1];
		h->order[at] = (uint16_t)i;
		for (uint32_t d = 0; d < x->n; d++) {
			h->wanted[i * x->n + d] = (uint16_t)(x->problem->home[d] == s ? 0 : h->size[i]);
			h->seats[i * x->n + d] = (uint16_t)h->size[i];
		}
	}
}

/* The tokens that cross links; those that do not take a seat. */
static void list_tokens(const struct stages *x, uint32_t group, struct hand *h)
{
	for (uint32_t d = 0; d < x->n; d++)
		for (uint32_t t = 0; t < x->n; t++) {
			uint32_t heard = x->heard[(size_t)t * x->n + d], lane = x->groups.lane[group * x->n + d];

			if (heard / 2 != group)
				continue;
			if (heard % 2) {
				for (uint32_t i = 0; i < h->deal.nmembers; i++)
					h->seats[i * x->n + t] = (uint16_t)(h->seats[i * x->n + t] -
									    (member(x, h, i) == x->problem->home[d]));
				continue;
			}
			h->token[h->deal.ntokens++] =
				(struct fors_flows_token){.t = (uint16_t)t,
							  .d = (uint16_t)d,
							  .lane = (uint16_t)(lane == NONE ? 0 : lane - h->least),
							  .by = FORS_FLOWS_UNDEALT};
		}
}

/* A token of a unit, if it fits; placed[]: per unit, how many are there. */
static void place(struct fors_flows_packing *packing, uint16_t *placed, uint32_t s, uint32_t d, uint32_t t)
{
	uint32_t unit = s * packing->problem->ndests + d;

	if (placed[unit] < packing->problem->senders[s] && fors_flows_put_if_free(packing, s, d, t))
		placed[unit]++;
}

static enum fors_err deal_group(const struct stages *x, uint32_t group, struct fors_flows_packing *packing,
				uint16_t *placed, uint32_t *most_left, struct fors_error *error)
{
	struct hand h = {0};
	uint32_t left = 0;
	enum fors_err err = allocate_hand(x, group, &h) ? FORS_OK : fors_fail_memory(error);

	if (!err) {
		find_group_lanes(x, group, &h);
		list_members(x, &h);
		list_tokens(x, group, &h);
		h.deal.most_left = *most_left;
		err = fors_flows_deal(&h.deal, &left, error);
		*most_left -= left < *most_left ? left : *most_left;
	}
	for (uint32_t k = 0; !err && k < h.deal.ntokens; k++)
		if (h.token[k].by != FORS_FLOWS_UNDEALT)
			place(packing, placed, member(x, &h, h.token[k].by), h.token[k].d, h.token[k].t);
	release_hand(&h);
	return err;
}

/* What stays inside a switch. */
static void place_own(const struct stages *x, struct fors_flows_packing *packing, uint16_t *placed)
{
	for (uint32_t t = 0; t < x->n; t++)
		for (uint32_t d = 0; d < x->n; d++)
			if (x->heard[(size_t)t * x->n + d] % 2)
				place(packing, placed, x->problem->home[d], d, t);
}

static void list_waiting(const struct fors_flows_problem *problem, const uint16_t *placed,
			 struct fors_flows_packing *packing)
{
	packing->nwaiting = 0;
	for (uint32_t unit = 0; unit < fors_flows_units(problem); unit++)
		for (uint32_t i = placed[unit]; i < problem->senders[fors_flows_switch(problem, unit)]; i++)
			packing->waiting[packing->nwaiting++] = unit;
}

static enum fors_err deal_all(const struct stages *x, struct fors_flows_packing **packing, struct fors_error *error)
{
	uint16_t *placed = calloc(fors_flows_units(x->problem) + (size_t)1, sizeof(*placed));
	uint32_t most_left = MOST_LEFT;
	enum fors_err err = placed ? fors_flows_packing_new(x->problem, x->n, packing, error) : fors_fail_memory(error);

	if (!err)
		place_own(x, *packing, placed);
	for (uint32_t g = 0; !err && g < x->groups.ngroups; g++) {
		err = deal_group(x, g, *packing, placed, &most_left, error);
		if (!err)
			err = ask(x, error);
	}
	if (!err)
		list_waiting(x->problem, placed, *packing);
	free(placed);
	return err;
}

/* ---- the whole ---- */

static bool allocate(struct stages *x)
{
	size_t n = x->n;

	x->nsets = count_sets(x);
	x->heard = malloc(n * n * sizeof(*x->heard) + 1);
	x->own = malloc((n + 1) * sizeof(*x->own));
	x->count = calloc(x->nsets * n + 1, sizeof(*x->count));
	x->total = calloc(x->nsets + (size_t)1, sizeof(*x->total));
	x->last = malloc((x->nsets + (size_t)1) * sizeof(*x->last));
	x->mate = malloc(2 * n * sizeof(*x->mate) + 1);
	x->colour = malloc(2 * n + 1);
	if (!x->heard || !x->own || !x->count || !x->total || !x->last || !x->mate || !x->colour)
		return false;
	memset(x->last, 0xFF, x->nsets * sizeof(*x->last));
	return true;
}

static void release(struct stages *x)
{
	fors_flows_groups_clear(&x->groups);
	free(x->heard);
	free(x->own);
	free(x->count);
	free(x->total);
	free(x->last);
	free(x->mate);
	free(x->colour);
}

enum fors_err fors_flows_stages(const struct fors_flows_problem *problem, const struct fors_flows_asked *asked,
				uint32_t turn, struct fors_flows_packing **packing, struct fors_error *error)
{
	struct stages x = {.problem = problem,
			   .n = problem->ndests,
			   .asked = asked,
			   .number = asked->number,
			   .turn = turn % problem->ndests};
	enum fors_err err = fors_flows_groups_read(problem, &x.groups, error);

	*packing = NULL;
	if (!err && x.groups.ngroups > 1 && x.groups.ngroups <= MOST_GROUPS) {
		if (!allocate(&x))
			err = fors_fail_memory(error);
		if (!err) {
			find_own(&x);
			begin_with_shift(&x);
			err = make_even(&x, error);
		}
		if (!err)
			err = deal_all(&x, packing, error);
	}
	release(&x);
	if (err) {
		fors_flows_packing_free(*packing);
		*packing = NULL;
	}
	return err;
}
