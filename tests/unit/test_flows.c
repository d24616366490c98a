/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Method flows: every plan checked flow by flow, at or near the bound of its tables, whatever the population. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#include "core/planners/flows/choice.h"
#include "core/planners/flows/lumps.h"
#include "core/planners/flows/search.h"
#include "core/planners/flows/strategy.h"
#include "core/planners/flows/ways.h"
#include "core/schedule/schedule.h"

/* The bound of the tables, counted anew: the fullest cable, the number of servers. */
static uint32_t tables_bound(const struct bed *bed)
{
	const struct fors_fabric *f = bed->fabric;
	uint32_t *up = calloc((size_t)f->nleaves * f->nlanes + 1, sizeof(*up)), most = f->nservers;
	uint32_t *down = calloc((size_t)f->nleaves * f->nlanes + 1, sizeof(*down));

	assert_true(up && down);
	for (uint32_t a = 0; a < f->nleaves; a++)
		for (uint32_t d = 0; d < f->nservers; d++) {
			uint32_t to = f->server[d].leaf, lane;

			if (to == a || !f->leaf[a].nservers)
				continue;
			lane = fors_lane_to(f, bed->lanes, a, d, 0);
			up[a * f->nlanes + lane] += f->leaf[a].nservers;
			down[to * f->nlanes + fors_lane_down(f, bed->lanes, lane, d, 0)] += f->leaf[a].nservers;
		}
	for (uint32_t i = 0; i < f->nleaves * f->nlanes; i++) {
		most = up[i] > most ? up[i] : most;
		most = down[i] > most ? down[i] : most;
	}
	free(up);
	free(down);
	return most;
}

/* The phases of the plan, which is checked. */
static uint32_t phases_of(const struct bed *bed, const char *what)
{
	struct fors_task task = bed_task(bed);
	struct fors_schedule *schedule;
	struct fors_error error;
	uint32_t phases;

	if (fors_method_flows.plan(&task, &schedule, &error))
		fail_msg("%s: %s", what, error.text);
	assert_plan(bed, schedule, what);
	assert_string_equal(schedule->method, "flows");
	phases = schedule->nphases;
	fors_schedule_free(schedule);
	return phases;
}

static void assert_at_bound(const struct bed *bed, const char *what)
{
	uint32_t phases = phases_of(bed, what), bound = tables_bound(bed);

	if (phases != bound)
		fail_msg("%s: %u phases, the tables allow %u", what, phases, bound);
}

TEST(healthy_trees_need_no_search)
{
	static const char *const spec[] = {"FT(2;8,8)",		  "FT(2;20,18)",	   "FT(2;6,9;cables=2)",
					   "FT(2;8,6;servers=4)", "FT(2;4,6;servers=8)",   "FT(2;1,1)",
					   "FT(2;3,1;servers=3)", "FT(2;12,30;servers=12)"};

	for (size_t i = 0; i < sizeof(spec) / sizeof(spec[0]); i++) {
		struct bed *bed = bed_new(spec[i], 0);

		assert_at_bound(bed, spec[i]);
		bed_free(bed);
	}
}

/* Leaves of any size cost nothing: T is the bound of the tables, which no whole rounds reach. */
TEST(uneven_leaves_cost_nothing)
{
	struct bed *bed = bed_new("FT(2;8,8;empty=0/1,0/2,0/5,1/0,3/3,3/4,3/5,3/6,6/7)", 0);

	assert_at_bound(bed, "nine empty places");
	bed_participants(bed, "0/0 0/3 1/1 1/2 1/3 2/0 2/1 2/2 2/3 2/4 2/5 2/6 2/7 5/5 7/0 7/1");
	assert_at_bound(bed, "sixteen servers of five leaves");
	bed_participants(bed, "4/4");
	assert_int_equal(phases_of(bed, "one server"), 1);
	bed_free(bed);
}

/* More senders than bits in a word: the other colouring. */
TEST(leaves_larger_than_a_word)
{
	struct bed *bed = bed_new("FT(2;5,3;servers=70)", 0);

	assert_at_bound(bed, "70 servers per leaf");
	bed_free(bed);
}

/* Random populations and failures on random trees; together within 1 % of the bound, and never a wrong plan. */
TEST(random_fabrics)
{
	struct rng rng = {7};
	uint64_t phases = 0, bound = 0;

	for (unsigned i = 0; i < 60; i++) {
		uint32_t spines = 2 + rng_below(&rng, 9), leaves = 2 + rng_below(&rng, 9);
		uint32_t servers = 1 + rng_below(&rng, 12), n;
		char spec[64];
		struct bed *bed;

		snprintf(spec, sizeof(spec), "FT(2;%u,%u;servers=%u;cables=%u)", spines, leaves, servers,
			 1 + rng_below(&rng, 2));
		bed = bed_new(spec, 0);
		if (rng_below(&rng, 2))
			bed_random_participants(bed, &rng, 1 + rng_below(&rng, leaves * servers));
		if (rng_below(&rng, 2))
			bed_random_failures(bed, &rng, 1 + rng_below(&rng, spines));
		n = phases_of(bed, spec);
		if (n < tables_bound(bed))
			fail_msg("%s: %u phases are below the bound %u", spec, n, tables_bound(bed));
		if (n > tables_bound(bed) * 11 / 10 + 1)
			fail_msg("%s: %u phases, the tables allow %u", spec, n, tables_bound(bed));
		phases += n;
		bound += tables_bound(bed);
		bed_free(bed);
	}
	if (phases * 100 > bound * 101)
		fail_msg("%llu phases for bounds of %llu", (unsigned long long)phases, (unsigned long long)bound);
}

/* A full tree with one dead cable is at the lower bound, or at the lump of one LID, without a search. */
TEST(one_dead_cable_costs_nothing)
{
	static const char *const down[] = {"Leaf00[21]", "Leaf07[33]", "Leaf17[38]"};

	for (size_t i = 0; i < sizeof(down) / sizeof(down[0]); i++) {
		struct bed *bed = bed_new("FT(2;20,18)", 0);

		bed_down(bed, down[i]);
		assert_at_bound(bed, down[i]);
		assert_int_equal(tables_bound(bed), 360);
		bed_free(bed);
	}
}

TEST(more_path_indices)
{
	struct bed *bed = bed_new("FT(2;20,18)", 2);

	bed_down(bed, "Leaf00[21]");
	assert_int_equal(phases_of(bed, "LMC 2, a dead cable"), 360);
	bed_free(bed);
	bed = bed_new("FT(2;6,6)", 2);
	assert_true(phases_of(bed, "LMC 2") >= 36);
	bed_down(bed, "Leaf00[7] Leaf02[9] Spine04");
	assert_true(phases_of(bed, "LMC 2, failures") >= 36);
	bed_free(bed);
}

/* FT(2;4,4) with LMC 2, where two leaves lack most ways of other path indices than the first. */
static struct bed *bed_with_holes(void)
{
	struct bed *bed = bed_new("FT(2;4,4)", 2);
	struct rng rng = {5};
	struct fors_error error;

	for (uint32_t leaf = 0; leaf < 2; leaf++) {
		uint32_t row = fors_lfts_row(bed->lfts, bed->fabric->leaf[leaf].guid);

		for (uint32_t d = 0; d < bed->fabric->nservers; d++)
			for (uint32_t path = 1; path < 4; path++)
				if (bed->fabric->server[d].leaf != leaf && rng_below(&rng, 4))
					bed->lfts->port[(size_t)row * bed->lfts->nlids + bed->fabric->server[d].lid +
							path] = FORS_NO_PATH;
	}
	fors_lanes_free(bed->lanes);
	assert_int_equal(fors_lanes_read(bed->fabric, bed->lfts, &bed->lanes, &error), FORS_OK);
	return bed;
}

/* Ways that the tables do not have are not used. */
TEST(ways_that_are_missing)
{
	struct bed *bed = bed_with_holes();

	phases_of(bed, "ways are missing");
	bed_free(bed);
}

TEST(wanted_phases_are_a_limit)
{
	struct bed *bed = bed_new("FT(2;4,4)", 0);
	struct fors_task task = bed_task(bed);
	struct fors_schedule *schedule = NULL;
	struct fors_error error;

	task.wanted_phases = 15;
	assert_int_equal(fors_method_flows.plan(&task, &schedule, &error), FORS_ENOPLAN);
	assert_null(schedule);
	task.wanted_phases = 16;
	assert_int_equal(fors_method_flows.plan(&task, &schedule, &error), FORS_OK);
	assert_int_equal(schedule->nphases, 16);
	fors_schedule_free(schedule);
	bed_free(bed);
}

/* Refused with a single step, because the tables need more, or since none was found. Which of the two? */
static bool is_not_found(const struct bed *bed, uint32_t wanted)
{
	struct fors_task task = bed_task(bed);
	struct fors_schedule *schedule;
	struct fors_error error;

	task.wanted_phases = wanted;
	task.limits.steps = 1;
	assert_int_equal(fors_method_flows.plan(&task, &schedule, &error), FORS_ENOPLAN);
	return strstr(error.text, "was found");
}

/* A plan that there is, which takes more steps; one with a phase less than the tables need there is not. */
TEST(nothing_found_within_the_limit)
{
	struct rng rng = {3};

	for (unsigned i = 0; i < 4; i++) {
		struct bed *bed = bed_new("FT(2;4,12;cables=3;servers=12)", 1);

		bed_random_failures(bed, &rng, 4 + i);
		assert_true(is_not_found(bed, phases_of(bed, "LMC 1")));
		assert_false(is_not_found(bed, bed->fabric->nservers - 1));
		bed_free(bed);
	}
}

/* 2,048 servers are taken, 2,049 are not. */
TEST(the_most_servers)
{
	static const struct {
		const char *spec;
		enum fors_err err;
	} fabric[] = {{"FT(2;2,64;servers=32)", FORS_ENOPLAN}, {"FT(2;2,64;servers=33)", FORS_ELIMIT}};

	for (unsigned i = 0; i < 2; i++) {
		struct bed *bed = bed_new(fabric[i].spec, 0);
		struct fors_task task = bed_task(bed);
		struct fors_schedule *schedule;
		struct fors_error error;

		task.wanted_phases = 1;
		assert_int_equal(fors_method_flows.plan(&task, &schedule, &error), fabric[i].err);
		bed_free(bed);
	}
}

TEST(stopped_anywhere)
{
	struct bed *bed = bed_new("FT(2;8,8)", 0);

	bed_down(bed, "Leaf00[9] Leaf01[10] Leaf02[11]");
	stop_anywhere(bed, "flows");
	bed_free(bed);
}

/* ---- the occupancy ---- */

/* Every row as the tokens say, by counting. */
static void assert_book(const struct fors_flows_packing *p, const char *what)
{
	const struct fors_flows_problem *problem = p->problem;
	uint32_t tokens = 0;

	for (uint32_t t = 0; t < p->nphases; t++)
		for (uint32_t s = 0; s < problem->nswitches; s++) {
			uint32_t nseats, full = fors_flows_switch_row(p, s);
			const uint32_t *seat = fors_flows_seats(p, s, t, &nseats);
			bool is_full = fors_occupancy_busy(&p->occupancy, full, t / 64) >> (t % 64) & 1;

			if (is_full != (nseats == problem->senders[s] && nseats > 0))
				fail_msg("%s: switch %u is full or not in phase %u", what, s, t);
			for (uint32_t i = 0; i < nseats; i++) {
				uint32_t row[FORS_FLOWS_MOST_LINKS + 2], n = fors_flows_rows(p, seat[i], row);

				if (!problem->exists[seat[i]])
					fail_msg("%s: a token goes a way that is not there", what);
				for (uint32_t r = 0; r + 1 < n; r++)
					if (fors_occupancy_at(&p->occupancy, row[r], t) != seat[i])
						fail_msg("%s: a row has somebody else", what);
				tokens++;
			}
		}
	assert_int_equal(tokens + p->nwaiting, problem->ndests * problem->ndests);
}

/* What waits for any of its ways does not get one that is not there. */
TEST(filled_over_missing_ways)
{
	struct bed *bed = bed_with_holes();
	struct fors_task task = bed_task(bed);
	struct fors_flows_problem problem;
	struct fors_flows_packing *packing, *copy = NULL;
	struct fors_error error;
	uint32_t *way;

	assert_int_equal(fors_flows_problem_read(&task, 4, &problem, &error), FORS_OK);
	assert_int_equal(fors_flows_choose_ways(&problem, 16, &way, &error), FORS_OK);
	assert_int_equal(fors_flows_first_fit(&problem, way, 8, FORS_FLOWS_BY_LOAD, &packing, &error), FORS_OK);
	assert_true(packing->nwaiting > 0);
	assert_book(packing, "first fit");
	assert_int_equal(fors_flows_packing_copy(packing, 32, &copy, &error), FORS_OK);
	fors_flows_fill(copy);
	assert_int_equal(copy->nwaiting, 0);
	assert_book(copy, "filled");
	fors_flows_packing_free(copy);
	fors_flows_packing_free(packing);
	free(way);
	fors_flows_problem_clear(&problem);
	bed_free(bed);
}

/* A search with little to spend ends at the best that it saw, and the occupancy is right. */
TEST(a_search_cut_short)
{
	struct bed *bed = bed_new("FT(2;8,8)", 0);
	struct fors_flows_problem problem;
	struct fors_flows_packing *packing, *copy = NULL;
	struct fors_error error;
	struct fors_task task;
	uint32_t *way;

	bed_down(bed, "Leaf00[9] Leaf03[12]");
	task = bed_task(bed);
	assert_int_equal(fors_flows_problem_read(&task, 1, &problem, &error), FORS_OK);
	assert_int_equal(fors_flows_choose_ways(&problem, 64, &way, &error), FORS_OK);
	assert_int_equal(fors_flows_first_fit(&problem, way, 64, FORS_FLOWS_BY_LOAD, &packing, &error), FORS_OK);
	assert_book(packing, "first fit");
	for (unsigned i = 0; i < 20 && packing->nwaiting; i++) {
		uint32_t before = packing->nwaiting;

		assert_int_equal(fors_flows_search(packing, 5000, NULL, NULL, &error), FORS_OK);
		assert_true(packing->nwaiting <= before);
		assert_book(packing, "cut short");
	}
	assert_int_equal(fors_flows_packing_copy(packing, 80, &copy, &error), FORS_OK);
	assert_book(copy, "copy");
	fors_flows_fill(copy);
	assert_book(copy, "filled");
	fors_flows_drop_phases(copy, 50);
	assert_int_equal(copy->nphases, 50);
	assert_book(copy, "fewer phases");
	fors_flows_packing_free(copy);
	fors_flows_packing_free(packing);
	free(way);
	fors_flows_problem_clear(&problem);
	bed_free(bed);
}

/* ---- at the bound ---- */

/* Healthy trees with at most as many servers per leaf as lanes, equal leaves and uneven ones: the bound. */
TEST(healthy_trees_are_at_the_bound)
{
	struct rng rng = {3};

	for (uint32_t i = 0; i < 120; i++) {
		uint32_t cables = 1 + i % 2, spines = 1 + rng_below(&rng, 8), leaves = 1 + rng_below(&rng, 8);
		uint32_t servers = 1 + rng_below(&rng, spines * cables);
		char spec[64];
		struct bed *bed;

		snprintf(spec, sizeof(spec), "FT(2;%u,%u;servers=%u;cables=%u)", spines, leaves, servers, cables);
		bed = bed_new(spec, 0);
		assert_at_bound(bed, spec);
		bed_random_participants(bed, &rng, 1 + rng_below(&rng, leaves * servers));
		assert_at_bound(bed, spec);
		bed_free(bed);
	}
}

/* A few dead cables of a full tree: half per cent above the bound, where whole units need half a round more. */
TEST(a_few_dead_cables)
{
	struct bed *bed = bed_new("FT(2;20,18)", 0);
	struct rng rng = {1};
	uint32_t phases = 0, bound = 0;

	for (unsigned i = 0; i < 12; i++) {
		bed_restore(bed);
		bed_random_failures(bed, &rng, 2 + i % 2);
		phases += phases_of(bed, "two or three dead cables");
		bound += tables_bound(bed);
	}
	if (phases * 1000 > bound * 1008)
		fail_msg("%u phases for bounds of %u", phases, bound);
	bed_free(bed);
}

/* Three switches with two servers each, two ways per unit, each of one link or two of `nlinks`. */
static struct fors_flows_problem ways_at_random(struct fors_random *random, uint32_t nlinks)
{
	struct fors_flows_problem p = {.nswitches = 3, .ndests = 6, .nlinks = nlinks, .npaths = 2};
	uint32_t n = 0;

	assert_true(fors_flows_problem_allocate(&p, 2));
	for (uint32_t s = 0; s < 3; s++) {
		p.senders[s] = 2;
		p.first[s + 1] = 2 * s + 2;
	}
	for (uint32_t way = 0; way < 3 * 6 * 2; way++) {
		uint32_t unit = way / 2, link = fors_random_below(random, nlinks);

		p.home[unit % 6] = unit % 6 / 2;
		p.exists[way] = 1;
		p.begin[way] = n;
		if (unit % 6 / 2 == unit / 6)
			continue;
		p.link[n++] = link;
		if (fors_random_below(random, 2))
			p.link[n++] = (link + 1) % nlinks;
	}
	p.begin[3 * 6 * 2] = n;
	return p;
}

static void add_way(const struct fors_flows_problem *p, uint32_t way, int tokens, int *load)
{
	for (uint32_t i = p->begin[way]; i < p->begin[way + 1]; i++)
		load[p->link[i]] += tokens;
}

/* The least that the fullest link can have, each unit's two tokens split in all ways, from this unit on; below `best`. */
static int least_full(const struct fors_flows_problem *p, uint32_t unit, int *load, int best)
{
	int most = 0;

	for (uint32_t i = 0; i < p->nlinks; i++)
		most = load[i] > most ? load[i] : most;
	if (most >= best || unit == fors_flows_units(p))
		return most < best ? most : best;
	for (int first = 0; first <= 2; first++) {
		add_way(p, 2 * unit, first, load);
		add_way(p, 2 * unit + 1, 2 - first, load);
		best = least_full(p, unit + 1, load, best);
		add_way(p, 2 * unit, -first, load);
		add_way(p, 2 * unit + 1, first - 2, load);
		if (p->begin[2 * unit] == p->begin[2 * unit + 2])
			break;
	}
	return best;
}

/* Never above what all splits of all units give, and a phase below at most: the rest is in whole numbers. */
TEST(the_choice_of_ways_has_a_bound)
{
	struct fors_random random = {34};

	for (int i = 0; i < 40; i++) {
		struct fors_flows_problem p = ways_at_random(&random, 2 + fors_random_below(&random, 4));
		int load[6] = {0}, best = least_full(&p, 0, load, 1000);
		struct fors_error error;
		uint32_t bound;

		assert_int_equal(fors_flows_choice_bound(&p, 1, &bound, NULL, &error), FORS_OK);
		assert_in_range(bound, best - 1, best);
		fors_flows_problem_clear(&p);
	}
}
