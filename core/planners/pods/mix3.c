/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mix3.c - into which parts items are cut, so that cohorts fill exactly as many rounds as the bound asks for.
 *
 * In whole items cohorts have m2 rounds, and the bound seldom asks for a multiple of that. Items in parts of a length
 * that divides m2 make cohorts of that length; but the parts of an item are in different planes, so short ones leave
 * no plane to spare, and planes that lost tops cannot take their share. So there are cohorts of two lengths a > b, and
 * items of two kinds: of A1 parts of a and A2 of b, or of B1 and B2 (with m2 = 8: four twos, or two threes and a two).
 * All items of two pods are of one kind, then all that follows is a colouring (lift3.c). Each pod has items of kind B
 * with t others, where pods are a circle: those that are next to it, and for odd t the one opposite.
 *
 * A pod with L live rungs, at most m2 in a plane, has room for L parts in a cohort, so it takes t B1 + (m3 - 1 - t) A1
 * of m1 m2 / L cohorts of length a, and likewise b. The numbers are small, so all mixes are looked at. What has least
 * parts is least work; but a length wants several partners for each pod, and an item a plane or two that it need not
 * use.
 */
#include "mix3.h"

#include <string.h>

#define MOST_LEAVES 24 /* of a pod */
#define FEW_PARTNERS 3 /* pods: with fewer there is little choice of tops that both have */

struct search {
	struct fors_mix3 mix;
	uint32_t least, items; /* live rungs of the poorest pod; items of two pods */
	uint32_t nrounds;
	uint64_t after, cost; /* the mix wanted comes after that one; the best so far */
	struct fors_mix3 *best;
	uint64_t seen; /* mixes looked at */
};

static uint32_t live_rungs(const struct fors_lanes3 *l, uint32_t mid, uint32_t plane)
{
	uint32_t n = 0;

	for (uint32_t k = 0; mid != FORS_NONE && k < l->rungs[plane]; k++)
		n += fors_lanes3_rung_live(l, mid, k);
	return n;
}

/* Of the poorest pod. Leaves have m2 cables into a plane: they cannot fill more rungs of it. */
static uint32_t least_rungs(const struct fors_lanes3 *l)
{
	uint32_t least = UINT32_MAX;

	for (uint32_t p = 0; p < l->pods->npods; p++) {
		uint32_t n = 0;

		for (uint32_t j = 0; j < l->pods->nplanes; j++) {
			uint32_t live = live_rungs(l, fors_pods_mid(l->pods, p, j), j);

			n += live < l->m2 ? live : l->m2;
		}
		least = n < least ? n : least;
	}
	return least;
}

/* Parts of a length that a pod has for each server of another one. */
static uint32_t load_of(const struct fors_mix3 *m, uint32_t i)
{
	return m->nother * m->nparts[1][i] + (m->npods - 1 - m->nother) * m->nparts[0][i];
}

/* Cohorts of a length that the poorest pod needs. */
static uint32_t need_of(const struct search *s, uint32_t i)
{
	return (load_of(&s->mix, i) * s->items + s->least - 1) / s->least;
}

/* What stays in its pod takes what receivers have left of cohorts; false: that is too little. */
static bool share_inside(struct fors_mix3 *m)
{
	uint32_t left = m->nlevel;

	for (uint32_t i = 0; i < FORS_MIX3_LENGTHS; i++) {
		uint32_t spare = m->ncohorts[i] - load_of(m, i), want = m->length[i] ? left / m->length[i] : 0;

		m->inside[i] = want < spare ? want : spare;
		left -= m->inside[i] * m->length[i];
	}
	for (uint32_t i = FORS_MIX3_LENGTHS; left && i-- > 0;)
		if (m->ncohorts[i] > load_of(m, i) + m->inside[i]) {
			uint32_t size = m->length[i] < left ? m->length[i] : left;

			m->inside[i]++;
			left -= size;
		}
	return !left;
}

/* Pods that a pod has parts of a length for. */
static uint32_t partners_of(const struct fors_mix3 *m, uint32_t i)
{
	return (m->nparts[0][i] ? m->npods - 1 - m->nother : 0) + (m->nparts[1][i] ? m->nother : 0);
}

/* Planes that parts of the first length may use. */
static uint32_t planes_of(const struct fors_mix3 *m, uint32_t kind)
{
	const uint32_t *n = m->nparts[kind];
	uint32_t first = (m->nplanes * n[0] * m->length[0] + m->nlevel / 2) / m->nlevel;

	first = first < n[0] ? n[0] : first;
	return first > m->nplanes - n[1] ? m->nplanes - n[1] : first;
}

/* Steps that planes or partners are too few by. */
static uint32_t tightness_of(const struct fors_mix3 *m)
{
	uint32_t tight = 0;

	for (uint32_t i = 0; i < FORS_MIX3_LENGTHS; i++)
		if (load_of(m, i) && partners_of(m, i) < FEW_PARTNERS)
			tight += FEW_PARTNERS - partners_of(m, i);
	for (uint32_t kind = 0; kind < 2; kind++) {
		uint32_t first = planes_of(m, kind), n = m->nparts[kind][0] * 4, rest = m->nparts[kind][1] * 4;

		tight += n > first * 3 ? n - first * 3 : 0;
		tight += rest > (m->nplanes - first) * 3 ? rest - (m->nplanes - first) * 3 : 0;
	}
	return tight;
}

/* How many cohorts of each length, if that can be. */
static void try_cohorts(struct search *s)
{
	struct fors_mix3 *m = &s->mix;
	uint32_t first = need_of(s, 0), other = need_of(s, 1), b = m->length[1] ? m->length[1] : 1;

	if (!m->length[1] && first < s->nrounds / m->length[0])
		first = s->nrounds / m->length[0];
	for (uint32_t n = first; n < first + b && n * m->length[0] <= s->nrounds; n++) {
		uint32_t rest = s->nrounds - n * m->length[0];
		uint64_t cost = 0;

		if (rest % b || rest / b < other || (rest && !m->length[1]))
			continue;
		m->ncohorts[0] = n;
		m->ncohorts[1] = m->length[1] ? rest / b : 0;
		if (!share_inside(m))
			continue;
		cost = (uint64_t)(load_of(m, 0) + load_of(m, 1) + m->nplanes * tightness_of(m)) << 40 | ++s->seen;
		if (cost <= s->after || cost >= s->cost)
			continue;
		s->cost = cost;
		*s->best = *m;
	}
}

/* All numbers of pods that items of kind 1 are for. */
static void try_kinds(struct search *s)
{
	uint32_t n = s->mix.npods;
	bool same = !memcmp(s->mix.nparts[0], s->mix.nparts[1], sizeof(s->mix.nparts[0]));

	for (uint32_t t = 0; t < n && (t == 0 || !same); t++) {
		if (t % 2 && n % 2)
			continue;
		s->mix.nother = t;
		try_cohorts(s);
	}
}

/* Parts of the second length for one more item; false: it has too many parts for planes, or does not come out even. */
static bool fill_up(struct search *s, uint32_t kind, uint32_t n)
{
	struct fors_mix3 *m = &s->mix;
	uint32_t rest = m->nlevel - n * m->length[0];

	m->nparts[kind][0] = n;
	m->nparts[kind][1] = m->length[1] ? rest / m->length[1] : 0;
	return n * m->length[0] + m->nparts[kind][1] * m->length[1] == m->nlevel &&
	       n + m->nparts[kind][1] <= m->nplanes;
}

/* All kinds of items for two lengths. */
static void try_lengths(struct search *s, uint32_t a, uint32_t b)
{
	s->mix.length[0] = a;
	s->mix.length[1] = b;
	for (uint32_t x = 0; x * a <= s->mix.nlevel; x++)
		for (uint32_t y = x; y * a <= s->mix.nlevel; y++)
			if (fill_up(s, 0, x) && fill_up(s, 1, y))
				try_kinds(s);
}

bool fors_mix3_choose(const struct fors_lanes3 *lanes, uint32_t nrounds, uint32_t which, struct fors_mix3 *mix)
{
	struct search s = {.mix = {.nplanes = lanes->nlanes, .nlevel = lanes->m2, .npods = lanes->pods->npods},
			   .least = least_rungs(lanes),
			   .items = lanes->m1 * lanes->m2,
			   .nrounds = nrounds,
			   .best = mix};

	if (!s.least || lanes->m2 > MOST_LEAVES || lanes->nlanes < 2)
		return false;
	for (uint32_t i = 0; i <= which; i++) {
		s.after = s.cost == UINT64_MAX ? 0 : s.cost;
		s.cost = UINT64_MAX;
		s.seen = 0;
		for (uint32_t a = 1; a < lanes->m2; a++)
			for (uint32_t b = 0; b < a; b++)
				try_lengths(&s, a, b);
		if (s.cost == UINT64_MAX)
			return false;
	}
	return true;
}

uint32_t fors_mix3_kind(const struct fors_mix3 *m, uint32_t p, uint32_t q)
{
	uint32_t step = (q + m->npods - p) % m->npods, back = m->npods - step;

	step = step < back ? step : back;
	return step && (step <= m->nother / 2 || (m->nother % 2 && step * 2 == m->npods));
}

uint32_t fors_mix3_of_plane(const struct fors_mix3 *m, uint32_t p, uint32_t q, uint32_t plane)
{
	return (plane + 3 * (p + q)) % m->nplanes >= planes_of(m, fors_mix3_kind(m, p, q));
}

uint32_t fors_mix3_first_round(const struct fors_mix3 *m, uint32_t cohort)
{
	return cohort < m->ncohorts[0] ? cohort * m->length[0]
				       : m->ncohorts[0] * m->length[0] + (cohort - m->ncohorts[0]) * m->length[1];
}
