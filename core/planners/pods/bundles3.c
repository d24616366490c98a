/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bundles3.c - room for more items of a pod than its cables to tops would take in whole cohorts.
 *
 * Where pods lost so many cables that T > P, the bound asks for some rounds more, but fewer than the m2 of another
 * cohort. So cohorts are made longer, by one round each. In a long cohort a track takes m2 + 1 units, an item has m2 of
 * them: m1 tracks have room for m1 + 1 items, nearly (lift3_rounds.c). So there are *bundles*: all m1 items from a pod
 * to one leaf, each in a plane of its own, of which one is a *ghost* without a track; its units go by the tracks of the
 * others, and of a *host*, an item of the same pods in its plane. The leaf has nothing else in that cohort, so its
 * lanes are free for that. For the rest a ghost has a place in that cohort, one where no cable is needed, of those that
 * are for items that stay in their pod: there are so many more of them as items are left without a track.
 *
 * Here tracks are chosen for the company of ghosts, an item of the same two pods in each plane, and both directions have
 * the same. In each track a cohort is a perfect matching of pods with pods, if items that stay in their pod take what is
 * left over; so for long cohorts a matching is looked for that has those items. All by chance, some times over.
 */
#include "bundles3.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"
#include "core/colouring/match.h"

#define MOST_WORK 3000000 /* rungs to be looked at */
#define TRIES 30	  /* of choosing, at most */
#define MATCH_TRIES 20	  /* of matchings in a track */

struct chooser {
	struct fors_split3 *s;
	struct fors_bundles3 *b;
	uint32_t nplanes;
	uint16_t *bundles; /* [cohort * npods + pod]: how many */
	uint32_t spare[2]; /* tracks of the ghosts in hand, of p and of q */
	uint16_t *rung;	   /* of the bundle in hand, per plane */
	uint16_t *count;   /* the split's, as it was */
	uint16_t *company; /* partner[] before matchings */
	uint32_t *order;   /* of what is left */
	struct fors_random random;
	uint64_t work; /* rungs looked at */
};

void fors_bundles3_free(struct fors_bundles3 *bundles)
{
	if (!bundles)
		return;
	free(bundles->bundle);
	free(bundles->rung);
	free(bundles->partner);
	free(bundles->of);
	free(bundles);
}

static uint32_t load_of(const struct fors_split3 *s, uint32_t p, uint32_t track)
{
	return s->load[(size_t)p * s->ntracks + track];
}

static size_t place_of(const struct chooser *c, uint32_t cohort, uint32_t track, uint32_t pod)
{
	return fors_bundles3_place(c->s, cohort, track, pod);
}

/* Has neither pod a partner in a track of a cohort yet? */
static bool is_open(const struct chooser *c, uint32_t cohort, uint32_t track, uint32_t p, uint32_t q)
{
	return c->b->partner[place_of(c, cohort, track, p)] == FORS_BUNDLES3_NONE &&
	       c->b->partner[place_of(c, cohort, track, q)] == FORS_BUNDLES3_NONE;
}

/* ---- bundles ---- */

/* A rung for an item of two pods in a plane of a cohort, one of those with most to choose from, no ghost's. */
static uint32_t find_rung(struct chooser *c, uint32_t cohort, uint32_t plane, uint32_t p, uint32_t q)
{
	const struct fors_split3 *s = c->s;
	uint32_t best = FORS_NONE, most = 0, first = fors_random_below(&c->random, s->width);

	c->work += s->width;
	for (uint32_t i = 0; i < s->width; i++) {
		uint32_t rung = (first + i) % s->width, track = plane * s->width + rung,
			 count = *fors_split3_count(s, p, q, track);

		if (count <= most || track == c->spare[0] || track == c->spare[1] || !fors_split3_lives(s, p, track) ||
		    !fors_split3_lives(s, q, track) || !is_open(c, cohort, track, p, q))
			continue;
		most = count;
		best = rung;
	}
	return best;
}

/* A track that a pod has a place to spare in, in a cohort; FORS_NONE. */
static uint32_t find_spare(struct chooser *c, uint32_t cohort, uint32_t p)
{
	uint32_t first = fors_random_below(&c->random, c->s->ntracks);

	for (uint32_t i = 0; i < c->s->ntracks; i++) {
		uint32_t track = (first + i) % c->s->ntracks;

		if (*fors_split3_count(c->s, p, p, track) && is_open(c, cohort, track, p, p))
			return track;
	}
	return FORS_NONE;
}

/* Rungs for the bundles of two pods in a cohort, in c->rung; false: there are none. */
static bool find_rungs(struct chooser *c, uint32_t cohort, uint32_t p, uint32_t q)
{
	for (uint32_t plane = 0; plane < c->nplanes; plane++) {
		uint32_t rung = find_rung(c, cohort, plane, p, q);

		if (rung == FORS_NONE)
			return false;
		c->rung[plane] = (uint16_t)rung;
	}
	return true;
}

/* A bundle from p to q over the rungs in hand, its ghost in a track that q has to spare. */
static void add_bundle(struct chooser *c, uint32_t cohort, uint32_t p, uint32_t q, uint32_t spare)
{
	struct fors_bundles3 *b = c->b;
	uint32_t ghost = spare / c->s->width;

	b->bundle[b->n] = (struct fors_bundle3){(uint16_t)p,
						(uint16_t)q,
						(uint16_t)cohort,
						(uint16_t)ghost,
						c->bundles[cohort * c->s->npods + p]++,
						FORS_BUNDLES3_NONE};
	for (uint32_t plane = 0; plane < c->nplanes; plane++) {
		uint32_t track = plane * c->s->width + c->rung[plane];

		b->rung[b->n * c->nplanes + plane] = c->rung[plane];
		b->partner[place_of(c, cohort, track, p)] = (uint16_t)q;
		if (plane != ghost)
			b->of[place_of(c, cohort, track, p)] = (uint16_t)b->n;
		--*fors_split3_count(c->s, p, q, track);
	}
	b->partner[place_of(c, cohort, spare, q)] = (uint16_t)q;
	b->of[place_of(c, cohort, spare, q)] = (uint16_t)b->n;
	--*fors_split3_count(c->s, q, q, spare);
	b->n++;
}

/* Bundles both ways for an item of two pods that is left, in a cohort where both pods have fewer than `most`. */
static bool bundle(struct chooser *c, uint32_t p, uint32_t q, uint32_t most)
{
	uint32_t first = fors_random_below(&c->random, c->b->nlong);

	for (uint32_t i = 0; i < c->b->nlong; i++) {
		uint32_t cohort = (first + i) % c->b->nlong;

		if (c->bundles[cohort * c->s->npods + p] >= most || c->bundles[cohort * c->s->npods + q] >= most)
			continue;
		c->spare[0] = find_spare(c, cohort, p);
		c->spare[1] = find_spare(c, cohort, q);
		if (c->spare[0] == FORS_NONE || c->spare[1] == FORS_NONE || !find_rungs(c, cohort, p, q))
			continue;
		add_bundle(c, cohort, p, q, c->spare[1]);
		add_bundle(c, cohort, q, p, c->spare[0]);
		return true;
	}
	return false;
}

/* First so many of a pod in each cohort, then one more, and so on, in any order. How many are in no bundle. */
static uint32_t choose_all(struct chooser *c)
{
	uint32_t n = c->s->nleft;

	fors_random_order(&c->random, c->order, n);
	for (uint32_t most = 1; n && most <= c->s->width; most++) {
		uint32_t left = 0;

		for (uint32_t i = 0; i < n; i++)
			if (!bundle(c, c->s->left[c->order[i]].p, c->s->left[c->order[i]].q, most))
				c->order[left++] = c->order[i];
		n = left;
	}
	return n;
}

/* ---- long cohorts ---- */

/* Partners in a track of a cohort for all pods, and nobody twice, in an order of pods from `turn` on; false: none. */
static bool match_track(struct chooser *c, uint32_t cohort, uint32_t track, uint32_t turn)
{
	uint16_t *partner = c->b->partner + place_of(c, cohort, track, 0);
	struct fors_matching matching = {.free = fors_match_columns(c->s->npods)};
	uint32_t n = c->s->npods;

	for (uint32_t p = 0; p < n; p++)
		if (partner[p] != FORS_BUNDLES3_NONE)
			matching.free &= ~(UINT64_C(1) << (partner[p] + turn) % n);
	for (uint32_t p = 0; p < n; p++)
		for (uint32_t q = 0; q < n; q++)
			if (*fors_split3_count(c->s, p, q, track) && matching.free >> (q + turn) % n & 1)
				matching.may[p] |= UINT64_C(1) << (q + turn) % n;
	for (uint32_t p = 0; p < n; p++)
		if (partner[p] == FORS_BUNDLES3_NONE && !fors_match_augment(&matching, p))
			return false;
	for (uint32_t p = 0; p < n; p++)
		if (partner[p] == FORS_BUNDLES3_NONE) {
			partner[p] = (uint16_t)((matching.column[p] + n - turn) % n);
			--*fors_split3_count(c->s, p, partner[p], track);
		}
	return true;
}

/* Only company again in a track. */
static void unmatch_track(struct chooser *c, uint32_t track)
{
	for (uint32_t cohort = 0; cohort < c->b->nlong; cohort++)
		for (uint32_t p = 0; p < c->s->npods; p++) {
			size_t place = place_of(c, cohort, track, p);

			if (c->company[place] == c->b->partner[place])
				continue;
			++*fors_split3_count(c->s, p, c->b->partner[place], track);
			c->b->partner[place] = c->company[place];
		}
}

/* Partners in a track in all long cohorts. */
static bool match_cohorts(struct chooser *c, uint32_t track)
{
	for (uint32_t try = 0; try < MATCH_TRIES; try++) {
		uint32_t cohort = 0;

		while (cohort < c->b->nlong && match_track(c, cohort, track, try % c->s->npods))
			cohort++;
		if (cohort == c->b->nlong)
			return true;
		unmatch_track(c, track);
	}
	return false;
}

static bool match_all(struct chooser *c)
{
	memcpy(c->company, c->b->partner, (size_t)c->b->nlong * c->s->ntracks * c->s->npods * sizeof(*c->company));
	for (uint32_t track = 0; track < c->s->ntracks; track++)
		if (!match_cohorts(c, track))
			return false;
	return true;
}

/* ---- the whole ---- */

static bool allocate(struct chooser *c, size_t size)
{
	struct fors_bundles3 *b = c->b;
	size_t places = (size_t)b->nlong * c->s->npods * c->s->ntracks;

	b->bundle = malloc((2 * (size_t)c->s->nleft + 1) * sizeof(*b->bundle));
	b->rung = malloc((2 * (size_t)c->s->nleft * c->nplanes + 1) * sizeof(*b->rung));
	b->partner = malloc((places + 1) * sizeof(*b->partner));
	b->of = malloc((places + 1) * sizeof(*b->of));
	c->bundles = calloc((size_t)b->nlong * c->s->npods + 1, sizeof(*c->bundles));
	c->rung = malloc((c->nplanes + (size_t)2) * sizeof(*c->rung));
	c->count = malloc((size + 1) * sizeof(*c->count));
	c->company = malloc((places + 1) * sizeof(*c->company));
	c->order = malloc((c->s->nleft + (size_t)1) * sizeof(*c->order));
	if (!b->bundle || !b->rung || !b->partner || !b->of || !c->bundles || !c->rung || !c->count || !c->company ||
	    !c->order)
		return false;
	memcpy(c->count, c->s->count, size * sizeof(*c->count));
	return true;
}

/* Nothing chosen yet. */
static void begin(struct chooser *c)
{
	size_t counts = (size_t)c->s->npods * c->s->npods * c->s->ntracks,
	       places = (size_t)c->b->nlong * c->s->npods * c->s->ntracks;

	c->b->n = 0;
	memcpy(c->s->count, c->count, counts * sizeof(*c->count));
	for (uint32_t p = 0; p < c->s->npods; p++)
		for (uint32_t track = 0; track < c->s->ntracks; track++)
			*fors_split3_count(c->s, p, p, track) = (uint16_t)(c->s->ncohorts - load_of(c->s, p, track));
	memset(c->b->partner, 0xFF, places * sizeof(*c->b->partner));
	memset(c->b->of, 0xFF, places * sizeof(*c->b->of));
	memset(c->bundles, 0, (size_t)c->b->nlong * c->s->npods * sizeof(*c->bundles));
}

/* Has each pod enough tracks in every plane for all its bundles, in as many cohorts? */
static bool has_tracks(const struct chooser *c)
{
	for (uint32_t p = 0; p < c->s->npods; p++) {
		uint32_t left = 0, least = UINT32_MAX;

		for (uint32_t i = 0; i < c->s->nleft; i++)
			left += c->s->left[i].p == p || c->s->left[i].q == p;
		for (uint32_t plane = 0; plane < c->nplanes; plane++) {
			uint32_t tracks = 0;

			for (uint32_t rung = 0; rung < c->s->width; rung++)
				tracks += fors_split3_lives(c->s, p, plane * c->s->width + rung);
			least = tracks < least ? tracks : least;
		}
		if (left > least * c->b->nlong)
			return false;
	}
	return true;
}

/* Choose again and again until all ghosts are in bundles; false: they never are, and the split is as it was. */
static bool search(struct chooser *c)
{
	if (!has_tracks(c))
		return false;
	for (uint32_t try = 0; try < TRIES && c->work < MOST_WORK; try++) {
		begin(c);
		if (!choose_all(c) && match_all(c))
			return true;
	}
	memcpy(c->s->count, c->count, (size_t)c->s->npods * c->s->npods * c->s->ntracks * sizeof(*c->count));
	return false;
}

enum fors_err fors_bundles3_choose(struct fors_split3 *split, uint32_t nlong, struct fors_bundles3 **bundles,
				   struct fors_error *error)
{
	struct chooser c = {
		.s = split, .b = calloc(1, sizeof(*c.b)), .nplanes = split->width ? split->ntracks / split->width : 0};
	size_t size = (size_t)split->npods * split->npods * split->ntracks;
	bool good = false, has_memory = c.b;

	*bundles = NULL;
	if (has_memory) {
		c.b->nlong = nlong < split->ncohorts ? nlong : split->ncohorts;
		has_memory = allocate(&c, size);
	}
	if (has_memory && split->nleft && c.b->nlong && split->npods <= FORS_MATCH_MOST)
		good = search(&c);
	free(c.bundles);
	free(c.rung);
	free(c.count);
	free(c.company);
	free(c.order);
	if (good)
		*bundles = c.b;
	else
		fors_bundles3_free(c.b);
	return has_memory ? FORS_OK : fors_fail_memory(error);
}
