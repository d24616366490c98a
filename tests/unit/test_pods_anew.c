/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Three-level trees that lost many cables to tops: splits, bundles in long cohorts, and rounds of all items anew. What
 * a split and bundles have to be is counted here from their description; rounds are walked over the tables.
 */
#include <stdlib.h>
#include <string.h>

#include "pods_world.h"

#include "core/base/random.h"
#include "core/planners/pods/bound3.h"
#include "core/planners/pods/bundles3.h"
#include "core/planners/pods/lift3.h"

/* A tree without some cables to tops, its lanes, and a split of it. */
struct ground {
	struct world w;
	struct fors_lanes3 *lanes;
	struct fors_split3 *split;
};

static void ground_new(struct ground *g, const char *spec, uint32_t seed, unsigned ncables)
{
	struct fors_random random = {seed};
	struct fors_error error = {0};

	*g = (struct ground){.lanes = NULL};
	world_new(&g->w, spec);
	look(&g->w);
	cut_top_cables(&g->w, &random, ncables);
	look(&g->w);
	must(fors_lanes3_read(g->w.pods, &g->lanes, &error), &error);
}

static void ground_free(struct ground *g)
{
	fors_split3_free(g->split);
	fors_lanes3_free(g->lanes);
	world_free(&g->w);
}

static void split(struct ground *g, uint32_t ncohorts, uint32_t most, uint32_t seed)
{
	struct fors_error error = {0};

	fors_split3_free(g->split);
	g->split = NULL;
	must(fors_split3_find(g->lanes, NULL, 0, ncohorts, most, seed, &g->split, &error), &error);
}

/* ---- splits ---- */

/* The split's counts, the caller's. */
static uint16_t *counts_of(const struct ground *g, size_t *size)
{
	const struct fors_split3 *s = g->split;
	uint16_t *count;

	*size = (size_t)s->npods * s->npods * s->ntracks * sizeof(*count);
	count = malloc(*size);
	assert_non_null(count);
	memcpy(count, s->count, *size);
	return count;
}

/* The items of two pods that are left. */
static uint32_t left_of(const struct fors_split3 *s, uint32_t p, uint32_t q)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->nleft; i++)
		n += (s->left[i].p == p && s->left[i].q == q) || (s->left[i].p == q && s->left[i].q == p);
	return n;
}

/* Both ways the same, over cables that live at both ends, and no pod more in a track than there are cohorts. */
static void judge_track(const struct ground *g, uint32_t p, uint32_t track)
{
	const struct fors_split3 *s = g->split;
	uint32_t mid = fors_pods_mid(g->w.pods, p, track / s->width), load = 0;
	bool lives = fors_lanes3_rung_live(g->lanes, mid, track % s->width);

	assert_int_equal(fors_split3_lives(s, p, track), lives);
	for (uint32_t q = 0; q < s->npods; q++) {
		uint32_t count = *fors_split3_count(s, p, q, track);

		assert_int_equal(count, *fors_split3_count(s, q, p, track));
		assert_true(lives || !count);
		assert_true(p != q || !count);
		load += count;
	}
	assert_int_equal(s->load[p * s->ntracks + track], load);
	assert_in_range(load, 0, s->ncohorts);
}

/* In a cohort a pod has no more items in a plane than it has leaves: each has one cable there. */
static void judge_plane(const struct ground *g, uint32_t p, uint32_t plane)
{
	const struct fors_split3 *s = g->split;
	uint32_t load = 0;

	for (uint32_t k = 0; k < s->width; k++)
		load += s->load[p * s->ntracks + plane * s->width + k];
	assert_in_range(load, 0, g->lanes->m2 * s->ncohorts);
}

/* Every item of two pods is in a track or left, and none twice. */
static void judge_split(const struct ground *g)
{
	const struct fors_split3 *s = g->split;
	uint32_t nleft = 0;

	for (uint32_t p = 0; p < s->npods; p++) {
		for (uint32_t track = 0; track < s->ntracks; track++)
			judge_track(g, p, track);
		for (uint32_t plane = 0; plane < s->ntracks / s->width; plane++)
			judge_plane(g, p, plane);
		for (uint32_t q = p + 1; q < s->npods; q++) {
			uint32_t items = 0;

			for (uint32_t track = 0; track < s->ntracks; track++)
				items += *fors_split3_count(s, p, q, track);
			assert_int_equal(s->items[p * s->npods + q], items);
			assert_int_equal(s->items[q * s->npods + p], items);
			assert_int_equal(items + left_of(s, p, q), g->lanes->m1 * g->lanes->m2);
			nleft += left_of(s, p, q);
		}
	}
	assert_int_equal(s->nleft, nleft);
}

/* Items for which pod p has no place in its tracks that live. */
static uint32_t too_many(const struct ground *g, uint32_t p)
{
	const struct fors_split3 *s = g->split;
	uint32_t room = 0, items = g->lanes->m1 * g->lanes->m2 * (s->npods - 1);

	for (uint32_t first = 0; first < s->ntracks; first += s->width) {
		uint32_t n = 0;

		for (uint32_t k = 0; k < s->width; k++)
			n += fors_split3_lives(s, p, first + k);
		room += (n < g->lanes->m2 ? n : g->lanes->m2) * s->ncohorts;
	}
	return items > room ? items - room : 0;
}

/* Fewer cannot be left: what leaves a pod is at one end there, and at the other at another pod. */
static uint32_t least_left(const struct ground *g)
{
	uint32_t sum = 0, most = 0;

	for (uint32_t p = 0; p < g->split->npods; p++) {
		sum += too_many(g, p);
		most = too_many(g, p) > most ? too_many(g, p) : most;
	}
	return (sum + 1) / 2 > most ? (sum + 1) / 2 : most;
}

static const char *const trees[] = {"XGFT(3;4,4,4;1,4,4)", "XGFT(3;3,4,5;1,3,4)", "XGFT(3;4,3,5;1,4,3)",
				    "XGFT(3;3,3,4;1,3,5)", "XGFT(3;6,6,8;1,6,6)"};
#define NTREES (sizeof(trees) / sizeof(trees[0]))

/* In a whole tree all is at home: an item of each two pods on each rung that servers are at home on. */
static void assert_at_home(const struct ground *g)
{
	const struct fors_split3 *s = g->split;

	for (uint32_t track = 0; track < s->ntracks; track++)
		for (uint32_t p = 0; p < s->npods; p++)
			for (uint32_t q = 0; q < p; q++)
				assert_int_equal(*fors_split3_count(s, p, q, track), track % s->width < g->lanes->m2);
}

/* One split of a tree, judged; what is left, and what has to be, is added up. */
static void try_split(struct ground *g, uint32_t ncohorts, uint32_t *nleft, uint32_t *least)
{
	split(g, ncohorts, UINT32_MAX, 0);
	judge_split(g);
	assert_true(g->split->nleft >= least_left(g));
	*nleft += g->split->nleft;
	*least += least_left(g);
}

/* Whatever is dead, what is said is right, and hardly more items are left than have to be; none of a whole tree. */
static void test_splits(void **state)
{
	uint32_t nleft = 0, least = 0, none = 0;

	for (uint32_t i = 0; i < 60; i++) {
		struct ground g;

		ground_new(&g, trees[i % NTREES], i, i / 5 * (i % NTREES == 4 ? 4 : 1));
		try_split(&g, g.w.pods->npods, &nleft, &least);
		if (i < NTREES)
			assert_at_home(&g);
		try_split(&g, g.w.pods->npods + 1, &nleft, &least); /* a cohort more */
		none += !g.split->nleft;
		ground_free(&g);
	}
	assert_in_range(nleft, least, least + least / 10);
	assert_in_range(none, 50, 60);
}

/* What is left is spread over pairs of pods, if it is asked for, and a seed is one way of several. */
static void test_spread(void **state)
{
	uint32_t ndiffer = 0, nmost = 0;

	for (uint32_t i = 0; i < 20; i++) {
		uint32_t most = 0;
		struct ground g;
		uint16_t *count;
		size_t size;

		ground_new(&g, trees[i % NTREES], 100 + i, i % NTREES == 4 ? 40 : 8);
		split(&g, g.w.pods->npods, 1, 0);
		judge_split(&g);
		for (uint32_t p = 0; p < g.split->npods; p++)
			for (uint32_t q = 0; q < p; q++)
				most = left_of(g.split, p, q) > most ? left_of(g.split, p, q) : most;
		nmost += most > 1;
		count = counts_of(&g, &size);
		split(&g, g.w.pods->npods, 1, 0);
		assert_memory_equal(count, g.split->count, size);
		split(&g, g.w.pods->npods, 1, 1);
		ndiffer += memcmp(count, g.split->count, size) != 0;
		free(count);
		ground_free(&g);
	}
	assert_in_range(nmost, 0, 10); /* pairs of pods that share no track that lives */
	assert_in_range(ndiffer, 8, 20);
}

/* ---- bundles ---- */

/* In a track of a long cohort every pod has one partner, and is that of one. */
static void judge_matching(const struct ground *g, const struct fors_bundles3 *b, uint32_t cohort, uint32_t track)
{
	const struct fors_split3 *s = g->split;
	uint64_t seen = 0;

	for (uint32_t p = 0; p < s->npods; p++) {
		uint32_t to = b->partner[fors_bundles3_place(s, cohort, track, p)];

		assert_in_range(to, 0, s->npods - 1);
		assert_true(to == p || (fors_split3_lives(s, p, track) && fors_split3_lives(s, to, track)));
		seen |= UINT64_C(1) << to;
	}
	assert_int_equal(seen, (UINT64_C(1) << s->npods) - 1);
}

/* A bundle has an item in each plane, one of them its host's, and its ghost a place of items that stay there. */
static void judge_bundle(const struct ground *g, const struct fors_bundles3 *b, uint32_t i)
{
	const struct fors_split3 *s = g->split;
	const struct fors_bundle3 *bundle = &b->bundle[i];
	uint32_t nplanes = s->ntracks / s->width, nghosts = 0, same = 0;

	assert_in_range(bundle->cohort, 0, b->nlong - 1);
	assert_int_equal(bundle->leaf, FORS_BUNDLES3_NONE);
	for (uint32_t plane = 0; plane < nplanes; plane++) {
		uint32_t track = plane * s->width + b->rung[i * nplanes + plane];
		size_t place = fors_bundles3_place(s, bundle->cohort, track, bundle->from);

		assert_int_equal(b->partner[place], bundle->to);
		assert_int_equal(b->of[place], plane == bundle->ghost ? FORS_BUNDLES3_NONE : i);
	}
	for (uint32_t track = 0; track < s->ntracks; track++) {
		size_t place = fors_bundles3_place(s, bundle->cohort, track, bundle->to);

		if (b->of[place] != i)
			continue;
		assert_int_equal(b->partner[place], bundle->to);
		assert_int_equal(track / s->width, bundle->ghost);
		nghosts++;
	}
	assert_int_equal(nghosts, 1);
	for (uint32_t k = 0; k < i; k++)
		same += b->bundle[k].from == bundle->from && b->bundle[k].cohort == bundle->cohort;
	assert_int_equal(bundle->index, same);
}

/* All that is left has bundles both ways; what long cohorts have is not in the split any more, and nothing is lost. */
static void judge_bundles(const struct ground *g, const struct fors_bundles3 *b, const uint16_t *before)
{
	const struct fors_split3 *s = g->split;

	assert_int_equal(b->n, 2 * s->nleft);
	for (uint32_t i = 0; i < b->n; i++)
		judge_bundle(g, b, i);
	for (uint32_t p = 0; p < s->npods; p++)
		for (uint32_t q = 0; q < s->npods; q++) {
			uint32_t nbundles = 0;

			for (uint32_t i = 0; i < b->n; i++)
				nbundles += b->bundle[i].from == p && b->bundle[i].to == q;
			assert_int_equal(nbundles, p == q ? 0 : left_of(s, p, q));
		}
	for (uint32_t track = 0; track < s->ntracks; track++)
		for (uint32_t p = 0; p < s->npods; p++)
			for (uint32_t q = 0; q < s->npods; q++) {
				size_t at = ((size_t)p * s->npods + q) * s->ntracks + track;
				uint32_t now = s->count[at],
					 was = p == q ? s->ncohorts - s->load[(size_t)p * s->ntracks + track]
						      : before[at];

				for (uint32_t cohort = 0; cohort < b->nlong; cohort++)
					now += b->partner[fors_bundles3_place(s, cohort, track, p)] == q;
				assert_int_equal(now, was);
			}
	for (uint32_t cohort = 0; cohort < b->nlong; cohort++)
		for (uint32_t track = 0; track < s->ntracks; track++)
			judge_matching(g, b, cohort, track);
}

/* Rounds that the bound asks for beyond whole cohorts. */
static uint32_t rounds_more(const struct ground *g)
{
	const struct fors_pods *pods = g->w.pods;
	uint32_t *servers = calloc(pods->nleaves, sizeof(*servers)), bound, m1 = g->lanes->m1;
	struct fors_error error = {0};

	assert_non_null(servers);
	for (uint32_t a = 0; a < pods->nleaves; a++)
		servers[a] = m1;
	must(fors_bound3(g->lanes, servers, NULL, &bound, &error), &error);
	free(servers);
	return (bound + m1 - 1) / m1 - pods->npods * g->lanes->m2;
}

/* Choose bundles for what a split leaves; are there any? */
static bool try_bundles(struct ground *g, uint32_t nlong, uint32_t seed)
{
	struct fors_error error = {0};
	struct fors_bundles3 *b;
	uint16_t *before;
	size_t size;
	bool any;

	split(g, g->w.pods->npods, nlong, seed);
	before = counts_of(g, &size);
	must(fors_bundles3_choose(g->split, nlong, &b, &error), &error);
	any = b;
	if (b)
		judge_bundles(g, b, before);
	else
		assert_memory_equal(before, g->split->count, size);
	fors_bundles3_free(b);
	free(before);
	return any;
}

/* Where there are bundles they are right; where there are none the split is as it was. */
static void test_bundles(void **state)
{
	uint32_t nfound = 0, n = 0;

	for (uint32_t i = 0; i < 100; i++) {
		struct ground g;
		uint32_t nlong;

		ground_new(&g, trees[i % 2 ? 4 : i / 2 % 3], 200 + i, i % 2 ? 15 + i / 6 : 3 + i / 40);
		nlong = rounds_more(&g);
		for (uint32_t seed = 0; nlong && nlong < g.lanes->m2 && seed < 3; seed++) {
			nfound += try_bundles(&g, nlong + seed, seed);
			n++;
		}
		ground_free(&g);
	}
	assert_int_equal(n, 105);
	assert_in_range(nfound, 35, 104);
}

/* ---- rounds ---- */

/* Leaves with more servers than a pod has leaves, and with fewer; more rungs than there have to be. */
static void test_shapes(void **state)
{
	uint32_t nlong = 0, nbest = 0, nfree = 0;

	for (uint32_t i = 0; i < 40; i++) {
		struct fors_random random = {300 + i};
		uint32_t best;
		struct world w;

		world_new(&w, trees[i % NTREES]);
		look(&w);
		cut_top_cables(&w, &random, i % NTREES == 4 ? 12 + i / 2 : 3 + i / 8);
		route(&w);
		judge(&w);
		judge_rounds(&w);
		best = (w.route->bound + w.route->length - 1) / w.route->length;
		nlong += w.route->bound > w.route->nservers;
		nfree += w.route->bound == w.route->nservers && w.route->nrounds == best && !w.route->nleft;
		nbest += w.route->bound > w.route->nservers && w.route->nrounds == best && !w.route->nleft;
		world_free(&w);
	}
	assert_int_equal(nlong, 8);
	assert_in_range(nbest, 5, 8);
	assert_int_equal(nfree, 32);
}

/*
 * More tops to a plane than a pod has leaves, and a third of their cables dead: those that are left do not take more
 * than leaves send.
 */
static void test_tops_to_spare(void **state)
{
	static const struct {
		const char *spec;
		unsigned cables;
	} cases[] = {{"XGFT(3;2,2,4;1,2,3)", 24}, {"XGFT(3;3,2,5;1,3,3)", 45}, {"XGFT(3;3,3,4;1,3,5)", 60}};

	for (uint32_t i = 0; i < 24; i++) {
		struct fors_random random = {500 + i};
		struct world w;

		world_new(&w, cases[i % 3].spec);
		look(&w);
		cut_top_cables(&w, &random, cases[i % 3].cables * (1 + i % 4) / 12);
		route(&w);
		judge_rounds(&w);
		assert_in_range(plan_over(&w) * 100, 100, w.route->bound_servers * 120);
		world_free(&w);
	}
}

/* What all items were placed in. */
struct lifted {
	struct fors_cohorts *cohorts;
	struct fors_ways3 *ways;
	uint8_t *taken;	   /* [(link, then receiver) * nrounds + round] */
	uint32_t *senders; /* [leaf * nrounds + round] */
	uint32_t nrounds, nleft;
};

/* A unit, if it has a round: no link and no receiver in it has another one. */
static void judge_unit(struct lifted *l, uint32_t leaf, uint32_t slot)
{
	const struct fors_pods *pods = l->cohorts->lanes->pods;
	uint32_t round = fors_cohorts_round(l->cohorts, leaf, slot), link[4], n,
		 port = l->ways->leaf[(size_t)leaf * l->ways->ncolumns + slot];

	n = fors_ways3_links(l->ways, pods->leaf[leaf].node, (uint8_t)port, slot, link);
	l->nleft += round == FORS_COHORTS_NONE;
	if (round == FORS_COHORTS_NONE) {
		assert_int_equal(port, 0); /* what found no place has no entries at leaves */
		return;
	}
	assert_true(n || pods->slot[slot].leaf == leaf);
	assert_true(round < (l->cohorts->round ? l->nrounds : l->cohorts->nrounds));
	assert_false(l->taken[(l->ways->nlinks + slot) * l->nrounds + round]++);
	assert_true(++l->senders[leaf * l->nrounds + round] <= l->cohorts->m1);
	for (uint32_t i = 0; pods->slot[slot].leaf != leaf && i < n; i++)
		assert_false(l->taken[link[i] * l->nrounds + round]++);
}

/* Place all items of a tree anew, in as many rounds as the bound asks for, and judge them. How many units are left. */
static uint32_t lift(struct ground *g, uint32_t nrounds)
{
	const struct fors_pods *pods = g->w.pods;
	struct lifted l = {.nrounds = nrounds};
	struct fors_error error = {0};

	must(fors_ways3_home(g->lanes, 1, &l.ways, &error), &error);
	must(fors_cohorts_new(g->lanes, FORS_COHORTS_SHARED, &l.cohorts, &error), &error);
	must(fors_lift3(l.cohorts, l.ways, nrounds, 20, &error), &error);
	l.taken = calloc(((size_t)l.ways->nlinks + pods->nslots) * nrounds, 1);
	l.senders = calloc((size_t)pods->nleaves * nrounds, sizeof(*l.senders));
	assert_non_null(l.taken);
	assert_non_null(l.senders);
	for (uint32_t a = 0; a < pods->nleaves; a++)
		for (uint32_t slot = 0; slot < pods->nslots; slot++)
			judge_unit(&l, a, slot);
	free(l.taken);
	free(l.senders);
	fors_cohorts_free(l.cohorts);
	fors_ways3_free(l.ways);
	return l.nleft;
}

/*
 * Items that were placed anew have rounds of their own before any search: all units, where all items have a slot, or
 * bundles and as many servers below a leaf as leaves in a pod.
 */
static void test_items_anew(void **state)
{
	uint32_t nlong = 0, ngood = 0;

	for (uint32_t i = 0; i < 60; i++) {
		struct ground g;
		uint32_t more, least;

		ground_new(&g, trees[i % NTREES], 400 + i,
			   i % NTREES == 4   ? 12 + i / 3
			   : i % NTREES == 3 ? i / 2
					     : 4 + i / 20);
		more = rounds_more(&g);
		split(&g, g.w.pods->npods, UINT32_MAX, 0);
		least = g.split->nleft;
		if (more || !least) {
			uint32_t nleft = lift(&g, g.w.pods->npods * g.lanes->m2 + more);

			assert_true(more || !nleft);
			nlong += more > 0;
			ngood += more && !nleft;
		}
		ground_free(&g);
	}
	assert_int_equal(nlong, 13);
	assert_in_range(ngood, 6, 12);
}

/* For which trees it is: a plane for each server of a leaf, tops of their own, and every cable of a leaf alive. */
static void test_for_which_trees(void **state)
{
	static const struct {
		const char *spec, *dead;
		bool applies;
	} cases[] = {
		{"XGFT(3;4,4,4;1,4,4)", NULL, true},	     {"XGFT(3;3,3,4;1,3,5)", "Spine02", true},
		{"XGFT(3;4,4,4;1,4,4)", "Leaf05[6]", false}, {"XGFT(3;3,3,4;1,4,3)", NULL, false},
		{"XGFT(3;4,4,4;1,2,4)", NULL, false},	     {"PGFT(3;4,2,3;1,2,4;1,2,1)", NULL, false},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ground g;

		ground_new(&g, cases[i].spec, 0, 0);
		if (cases[i].dead) {
			take_down(&g.w, cases[i].dead);
			look(&g.w);
			fors_lanes3_free(g.lanes);
			must(fors_lanes3_read(g.w.pods, &g.lanes, NULL), NULL);
		}
		assert_int_equal(fors_lift3_applies(g.lanes), cases[i].applies);
		ground_free(&g);
	}
}

/* Without one of its tops, which nobody ever saw. */
static void never_see(struct fors_net *net, const char *top)
{
	struct fors_error error = {0};
	uint32_t node;
	unsigned none;

	must(fors_net_find(net, top, &node, &none, &error), &error);
	for (unsigned port = 1; port <= net->node[node].nports; port++)
		fors_net_disconnect(net, node, port);
}

/*
 * Planes that have fewer tops than others, but half of them at least, are as if these were dead: rounds of whole units,
 * in as many phases as there are servers.
 */
static void test_tops_never_seen(void **state)
{
	static const struct {
		const char *spec, *unseen[2], *dead;
		bool is_regular;
	} cases[] = {
		{"XGFT(3;4,6,6;1,4,6)", {"Spine05", "Spine17"}, NULL, true},
		{"XGFT(3;4,6,6;1,4,6)", {"Spine05", "Spine17"}, "Spine22", true},
		{"XGFT(3;4,4,5;1,4,4)", {"Spine03", "Spine15"}, NULL, true},
		{"XGFT(3;2,4,4;1,2,4)", {"Spine02", "Spine04"}, NULL, true},
		{"XGFT(3;2,2,4;1,2,2)", {"Spine02", "Spine03"}, NULL, false}, /* one of each plane */
		{"XGFT(3;3,3,4;1,3,3)", {"Spine00", "Spine03"}, NULL, false}, /* more than half of those of a plane */
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fors_net *net = net_of(cases[i].spec, 0);
		struct fors_lanes3 *lanes;
		struct world w;

		never_see(net, cases[i].unseen[0]);
		never_see(net, cases[i].unseen[1]);
		w = world_of(net);
		if (cases[i].dead)
			take_down(&w, cases[i].dead);
		route(&w);
		must(fors_lanes3_read(w.pods, &lanes, NULL), NULL);
		assert_int_equal(lanes->is_regular, cases[i].is_regular);
		assert_int_equal(fors_lift3_applies(lanes), cases[i].is_regular);
		fors_lanes3_free(lanes);
		judge(&w);
		if (cases[i].is_regular) {
			judge_rounds(&w);
			assert_int_equal(w.route->nleft, 0);
			assert_int_equal(w.route->nrounds * w.route->length, w.route->nservers);
			assert_int_equal(plan_over(&w), w.route->nservers);
		}
		world_free(&w);
	}
}

/* A whole tree in which planes have equally many tops, fewer than the servers of one want, is not regular: none was ever missing. */
static void test_equal_planes_lack_nothing(void **state)
{
	struct fors_lanes3 *lanes;
	struct world w;

	world_new(&w, "PGFT(3;7,3,4;1,3,7;1,3,1)");
	look(&w);
	must(fors_lanes3_read(w.pods, &lanes, NULL), NULL);
	assert_false(lanes->is_regular);
	assert_int_equal(lanes->nunseen, 0);
	fors_lanes3_free(lanes);
	world_free(&w);
}

/* Rounds as the closed form has them, though so much is dead. */
static void keeps_rounds(const char *spec, const char *const dead[4], uint32_t effort)
{
	struct world w;

	world_new(&w, spec);
	for (unsigned k = 0; k < 4 && dead[k]; k++)
		take_down(&w, dead[k]);
	route_with(&w, effort);
	judge(&w);
	judge_rounds(&w);
	assert_int_equal(w.route->bound, w.route->nservers);
	assert_int_equal(w.route->nleft, 0);
	assert_int_equal(w.route->nrounds * w.route->length, w.route->nservers);
	assert_int_equal(plan_over(&w), w.route->nservers);
	world_free(&w);
}

/*
 * Leaves with a lane more than servers, or parallel cables to spare: what lost its way keeps its round on another lane. The last
 * but one has two dead cables in a pod, which want the spare lane at once; in the last one two servers of a leaf came down over
 * one cable.
 */
static void test_lanes_to_spare(void **state)
{
	static const struct {
		const char *spec, *dead[4];
	} cases[] = {
		{"XGFT(3;7,4,6;1,8,4)", {"Mid2-05"}},
		{"XGFT(3;3,4,6;1,4,4)", {"Mid2-05"}},
		{"PGFT(3;5,4,4;1,5,4;1,2,1)", {"Mid2-00"}},
		{"XGFT(3;7,4,6;1,8,4)", {"Leaf05[8]", "Leaf07[8]", "Leaf09[9]"}},
		{"PGFT(3;7,3,4;1,3,9;1,3,1)", {"Leaf01[11]"}},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		keeps_rounds(cases[i].spec, cases[i].dead, FORS_ROUTE3_EFFORT);
		keeps_rounds(cases[i].spec, cases[i].dead, 30);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_splits),		cmocka_unit_test(test_spread),
		cmocka_unit_test(test_bundles),		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_tops_to_spare),	cmocka_unit_test(test_items_anew),
		cmocka_unit_test(test_for_which_trees), cmocka_unit_test(test_tops_never_seen),
		cmocka_unit_test(test_lanes_to_spare),	cmocka_unit_test(test_equal_planes_lack_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
