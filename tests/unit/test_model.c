/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The performance model: rates, patterns, loads, routes, jobs; by hand, and by the conditions that answers have to
 * meet. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/net/lftfile.h"
#include "core/net/lfts.h"
#include "core/net/netfile.h"
#include "core/schedule/schedule.h"
#include "lab/model/graph/maxmin.h"
#include "lab/model/measure/evaluate.h"
#include "lab/model/measure/jobs.h"
#include "lab/model/patterns/pattern.h"
#include "core/net/dump_lids.h"
#include "lab/model/routers/dump.h"
#include "lab/model/routers/router.h"
#include "lab/model/routers/routes.h"

FREES(fors_evaluation_free, struct fors_evaluation *)

FREES(fors_graph_free, struct fors_graph *)
FREES(fors_pattern_free, struct fors_pattern *)

#define NEAR 1e-12

static struct fors_error error;

static bool is_near(double a, double b)
{
	return fabs(a - b) < NEAR;
}

/* ---- rates ---- */

static struct fors_graph *line(uint32_t nlinks)
{
	struct fors_graph *graph = NULL;

	assert_int_equal(fors_graph_new(nlinks + 1, nlinks, 0, &graph, &error), FORS_OK);
	for (uint32_t l = 0; l < nlinks; l++) {
		graph->from[l] = l;
		graph->to[l] = l + 1;
	}
	return graph;
}

/* Flows over the links first..last of a line. */
static void over(struct fors_flows *flows, uint32_t first, uint32_t last)
{
	uint32_t link[16], n = 0;

	for (uint32_t l = first; l <= last; l++)
		link[n++] = l;
	assert_int_equal(fors_flows_add(flows, 0, 1, link, n, &error), FORS_OK);
}

TEST(test_rates_of_a_parking_lot)
{
	struct fors_graph *graph FREED(fors_graph_free) = line(3);
	struct fors_flows flows CLEARED(fors_flows_clear) = {0};
	double rate[5];

	over(&flows, 0, 2); /* shares link 1 with two others: 1/3 */
	over(&flows, 0, 0); /* what is left of link 0 */
	over(&flows, 1, 1);
	over(&flows, 1, 2);
	over(&flows, 2, 2); /* what is left of link 2 */
	assert_int_equal(fors_maxmin(graph, &flows, rate, &error), FORS_OK);
	assert_true(is_near(rate[0], 1 / 3.) && is_near(rate[1], 2 / 3.) && is_near(rate[2], 1 / 3.));
	assert_true(is_near(rate[3], 1 / 3.) && is_near(rate[4], 1 / 3.));
}

TEST(test_rates_with_capacities_and_lost_flows)
{
	struct fors_graph *graph FREED(fors_graph_free) = line(2);
	struct fors_flows flows CLEARED(fors_flows_clear) = {0};
	double rate[4];

	graph->capacity[0] = 4;
	graph->capacity[1] = 1;
	over(&flows, 0, 1);
	over(&flows, 0, 1);
	over(&flows, 0, 0);
	assert_int_equal(fors_flows_add(&flows, 0, 1, NULL, 0, &error), FORS_OK); /* does not arrive */
	assert_int_equal(fors_maxmin(graph, &flows, rate, &error), FORS_OK);
	assert_true(is_near(rate[0], 0.5) && is_near(rate[1], 0.5) && is_near(rate[2], 3) && rate[3] == 0);
	struct fors_rates sum = fors_rates_of(rate, 4);
	assert_true(is_near(sum.aggregate, 4) && is_near(sum.mean, 1) && sum.min == 0);
}

/* Rates are max-min fair iff each flow has a link that is full and on which no flow is faster. */
static void assert_fair(const struct fors_graph *graph, const struct fors_flows *flows, const double *rate)
{
	double used[64] = {0}, fastest[64] = {0};

	for (uint32_t f = 0; f < flows->nflows; f++)
		for (size_t i = flows->first[f]; i < flows->first[f + 1]; i++) {
			used[flows->link[i]] += rate[f];
			fastest[flows->link[i]] = fmax(fastest[flows->link[i]], rate[f]);
		}
	for (uint32_t l = 0; l < graph->nlinks; l++)
		assert_true(used[l] <= graph->capacity[l] + 1e-9);
	for (uint32_t f = 0; f < flows->nflows; f++) {
		bool has_reason = false;

		for (size_t i = flows->first[f]; i < flows->first[f + 1]; i++) {
			uint32_t l = flows->link[i];

			has_reason |= used[l] >= graph->capacity[l] - 1e-9 && rate[f] >= fastest[l] - 1e-9;
		}
		assert_true(has_reason);
	}
}

TEST(test_random_rates_are_fair)
{
	struct rng rng = {7};

	for (int round = 0; round < 300; round++) {
		struct fors_graph *graph FREED(fors_graph_free) = line(1 + rng_below(&rng, 40));
		struct fors_flows flows CLEARED(fors_flows_clear) = {0};
		uint32_t n = 1 + rng_below(&rng, 200);
		double rate[200];

		for (uint32_t l = 0; l < graph->nlinks; l++)
			graph->capacity[l] = 1 + rng_below(&rng, 4);
		for (uint32_t f = 0; f < n; f++) {
			uint32_t first = rng_below(&rng, graph->nlinks);
			uint32_t last =
				first + rng_below(&rng, graph->nlinks - first < 12 ? graph->nlinks - first : 12);

			over(&flows, first, last);
		}
		assert_int_equal(fors_maxmin(graph, &flows, rate, &error), FORS_OK);
		assert_fair(graph, &flows, rate);
	}
}

/* ---- patterns ---- */

static struct fors_pattern *pattern(const char *name, uint32_t n, uint64_t seed, bool is_random_map)
{
	struct fors_pattern_options options = {seed, is_random_map};
	struct fors_pattern *p = NULL;

	assert_int_equal(fors_pattern_new(name, n, &options, &p, &error), FORS_OK);
	return p;
}

/* How often each ordered pair comes, sends[] and receives[] per server, of one phase. */
struct census {
	uint32_t pairs[64][64], sends[64], receives[64], total;
};

static void count(const struct fors_pattern *p, uint32_t phase, uint32_t n, struct census *census)
{
	for (size_t i = 0; i < fors_pattern_npairs(p, phase); i++) {
		struct fors_pair pair = fors_pattern_pair(p, phase, i);

		assert_true(pair.src < n);
		if (pair.dst == FORS_NONE)
			continue;
		assert_true(pair.dst < n && pair.dst != pair.src);
		census->pairs[pair.src][pair.dst]++;
		census->sends[pair.src]++;
		census->receives[pair.dst]++;
		census->total++;
	}
}

static struct census census_of(const char *name, uint32_t n, uint64_t seed, bool is_random_map)
{
	struct fors_pattern *p FREED(fors_pattern_free) = pattern(name, n, seed, is_random_map);
	struct census census = {0};

	for (uint32_t phase = 0; phase < fors_pattern_nphases(p); phase++)
		count(p, phase, n, &census);
	return census;
}

TEST(test_exchanges_have_each_pair_once)
{
	static const char *const names[] = {"linear-shift", "all-to-all", "Linear_Shift", "alltoall"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (uint32_t n = 1; n < 20; n++) {
			struct census census = census_of(names[i], n, 3, n % 2);

			assert_int_equal(census.total, n * (n - 1));
			for (uint32_t a = 0; a < n; a++)
				for (uint32_t b = 0; b < n; b++)
					assert_int_equal(census.pairs[a][b], a != b);
		}
}

TEST(test_permutations_and_shifts)
{
	static const char *const names[] = {"permutation", "shift", "shift(1)"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (uint32_t n = 2; n < 60; n++) {
			struct census census = census_of(names[i], n, n, false);

			for (uint32_t s = 0; s < n; s++)
				assert_true(census.sends[s] == 1 && census.receives[s] == 1);
		}
}

TEST(test_bisect_pairs_two_halves)
{
	for (uint32_t n = 1; n < 60; n++) {
		struct census census = census_of("bisect", n, n, false);

		assert_int_equal(census.total, n / 2 * 2);
		for (uint32_t a = 0; a < n; a++)
			for (uint32_t b = 0; b < n; b++)
				assert_int_equal(census.pairs[a][b], census.pairs[b][a]);
	}
}

TEST(test_neighbours)
{
	static const struct {
		const char *name;
		uint32_t n, neighbours;
	} cases[] = {{"2DNN", 36, 4},	  {"2DNNDIAG", 36, 8}, {"3DNN", 27, 6},	   {"3DNNDIAG", 27, 26}, {"2DNN", 9, 4},
		     {"2DNNDIAG", 12, 8}, {"2DNN", 7, 2},      {"3DNNDIAG", 7, 2}, {"2DNN", 4, 2},	 {"2DNN", 2, 1},
		     {"3DNN", 8, 3},	  {"2DNN", 1, 0},      {"3DNNDIAG", 8, 7}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct census census = census_of(cases[i].name, cases[i].n, i, i % 2);

		for (uint32_t a = 0; a < cases[i].n; a++) {
			assert_int_equal(census.sends[a], cases[i].neighbours);
			for (uint32_t b = 0; b < cases[i].n; b++)
				assert_int_equal(census.pairs[a][b], census.pairs[b][a]);
		}
	}
}

TEST(test_random_destinations)
{
	struct census census = census_of("RANDN(20)", 50, 1, false);

	for (uint32_t a = 0; a < 50; a++) {
		assert_int_equal(census.sends[a], 20);
		for (uint32_t b = 0; b < 50; b++)
			assert_true(census.pairs[a][b] <= 1);
	}
	assert_int_equal(census_of("RANDN(49)", 50, 1, false).total, 50 * 49);
	assert_int_equal(census_of("RANDOM(20)", 50, 1, false).total, 50 * 20);
}

TEST(test_seeds_and_maps)
{
	struct census one = census_of("permutation", 50, 1, false), again = census_of("permutation", 50, 1, false);
	struct census other = census_of("permutation", 50, 2, false), mapped = census_of("shift(1)", 50, 1, true);

	assert_memory_equal(&one, &again, sizeof(one));
	assert_memory_not_equal(&one, &other, sizeof(one));
	assert_int_equal(mapped.total, 50);
}

TEST(test_names_that_are_none)
{
	static const char *const bad[] = {"",
					  "shif",
					  "RANDN",
					  "RANDN()",
					  "RANDN(0)",
					  "RANDN(3",
					  "RANDN(3)x",
					  "RANDN(-1)",
					  "RANDN(99)",
					  "permutation(2)",
					  "shift(50)",
					  "2DNN(4)",
					  "RANDN(99999999999999999999)"};
	struct fors_pattern *p = NULL;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(fors_pattern_new(bad[i], 50, NULL, &p, &error), FORS_EINPUT);
		assert_null(p);
	}
}

static enum fors_err read_pattern(const char *text, struct fors_pattern **p)
{
	return fors_pattern_read(text, strlen(text), "file", 4, NULL, p, &error);
}

TEST(test_pattern_file)
{
	struct fors_pattern *p FREED(fors_pattern_free) = NULL;
	struct fors_pair pair;

	assert_int_equal(read_pattern("# mine\n0 1\n1 2 3 # path 3\nphase\n\nphase\n 3\t0\n", &p), FORS_OK);
	assert_int_equal(fors_pattern_nphases(p), 3);
	assert_int_equal(fors_pattern_npairs(p, 0), 2);
	assert_int_equal(fors_pattern_npairs(p, 1), 0);
	pair = fors_pattern_pair(p, 0, 1);
	assert_true(pair.src == 1 && pair.dst == 2 && pair.path == 3);
	pair = fors_pattern_pair(p, 2, 0);
	assert_true(pair.src == 3 && pair.dst == 0 && pair.path == 0);
}

TEST(test_bad_pattern_files)
{
	static const char *const bad[] = {"",	       "#\n",	    "0\n",   "0 4\n",	  "4 0\n", "1 1\n",
					  "0 1 128\n", "0 1 2 3\n", "a b\n", "phase 2\n", "-1 0\n"};
	struct fors_pattern *p = NULL;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(read_pattern(bad[i], &p), FORS_EINPUT);
	assert_null(p);
}

/* ---- over tables ---- */

struct model {
	struct bed *bed;
	struct fors_routes *routes;
	struct fors_router router;
};

static struct model model_of(const char *spec, unsigned lmc, const char *down)
{
	struct model m = {.bed = bed_new(spec, lmc)};
	struct fors_endpoint *server FREED(free) = NULL;
	uint32_t n = 0;

	if (down)
		bed_down(m.bed, down);
	assert_int_equal(fors_endpoints(m.bed->net, NULL, &server, &n, &error), FORS_OK);
	assert_int_equal(fors_routes_new(m.bed->net, m.bed->lfts, server, n, &m.routes, &error), FORS_OK);
	m.router = fors_routes_router(m.routes);
	return m;
}

static void model_free(struct model *m)
{
	fors_routes_free(m->routes);
	bed_free(m->bed);
}

static struct fors_evaluation *evaluate(const struct model *m, const struct fors_pattern *p, unsigned threads)
{
	struct fors_evaluation *result = NULL;

	assert_int_equal(fors_evaluate(&m->router, p, true, threads, &result, &error), FORS_OK);
	return result;
}

TEST(test_a_healthy_tree_is_conflict_free)
{
	struct model m CLEARED(model_free) = model_of("FT(2;4,5)", 0, NULL);
	struct fors_pattern *p FREED(fors_pattern_free) = pattern("linear-shift", 20, 0, false);
	struct fors_evaluation *r FREED(fors_evaluation_free) = evaluate(&m, p, 1);

	assert_true(r->sync_throughput == 1 && r->max_link_load == 1 && r->nflows == 380 && r->length == 20);
	assert_true(is_near(r->rates.min, 1) && is_near(r->rates.aggregate, 20));
	assert_true(r->nbroken == 0 && r->ndetours == 0 && !r->problem[0]);
	assert_int_equal(r->rate_bins[FORS_RATE_BINS - 1], 380);
}

/*
 * FT(2;2,2) without Leaf00's cable to Spine00: servers 0, 1 | 2, 3. Everything between the leaves goes over Spine01, so
 * in the shifts by 1 and 3 (one flow each way) a link has 1 flow, in the shift by 2 (two flows each way) 2.
 */
TEST(test_one_dead_cable_by_hand)
{
	struct model m CLEARED(model_free) = model_of("FT(2;2,2)", 0, "Leaf00[3]");
	struct fors_pattern *p FREED(fors_pattern_free) = pattern("linear-shift", 4, 0, false);
	struct fors_evaluation *r FREED(fors_evaluation_free) = evaluate(&m, p, 1);
	static const uint32_t load[] = {0, 1, 2, 1};

	assert_memory_equal(r->phase_load, load, sizeof(load));
	assert_true(r->length == 5 && is_near(r->sync_throughput, 4 / 5.));
	assert_true(is_near(r->phase_rate[2], 2) && is_near(r->rates.min, 0.5) && is_near(r->rates.mean, 10 / 12.));
	assert_true(is_near(r->rates.aggregate, 10 / 3.));
}

TEST(test_threads_do_not_matter)
{
	struct model m CLEARED(model_free) = model_of("FT(2;6,7)", 0, "Leaf00[7] Leaf03[9] Spine02");
	struct fors_pattern *p FREED(fors_pattern_free) = pattern("linear-shift", 42, 0, true);
	struct fors_evaluation *one = evaluate(&m, p, 1), *four = evaluate(&m, p, 4);

	assert_memory_equal(one->phase_load, four->phase_load, 42 * sizeof(*one->phase_load));
	assert_memory_equal(one->phase_rate, four->phase_rate, 42 * sizeof(*one->phase_rate));
	assert_memory_equal(one->link_flows, four->link_flows, one->nlinks * sizeof(*one->link_flows));
	assert_memory_equal(one->link_load, four->link_load, one->nlinks * sizeof(*one->link_load));
	assert_memory_equal(&one->rates, &four->rates, sizeof(one->rates));
	fors_evaluation_free(one);
	fors_evaluation_free(four);
}

static uint8_t *entry(const struct model *m, const char *node_id, uint32_t lid)
{
	uint32_t node = FORS_NONE;
	unsigned port;

	assert_int_equal(fors_net_find(m->bed->net, node_id, &node, &port, &error), FORS_OK);
	return &m->bed->lfts->port[(size_t)m->routes->row_of[node] * m->bed->lfts->nlids + lid];
}

/* FT(2;2,3): ports 1, 2 servers, 3, 4 uplinks; spine ports 1..3 leaves. Server 0 sends to server 2 (Leaf01). */
static enum fors_way way_of(struct model *m, struct fors_evaluation *r)
{
	struct fors_pattern *p FREED(fors_pattern_free) = NULL;
	struct fors_evaluation *result FREED(fors_evaluation_free) = NULL;
	enum fors_way way = FORS_WAY_GOOD;

	assert_int_equal(fors_pattern_read("0 2\n", 4, "file", 6, NULL, &p, &error), FORS_OK);
	result = evaluate(m, p, 1);
	for (int i = 0; i < FORS_NWAYS; i++)
		if (result->ways[i])
			way = (enum fors_way)i;
	assert_int_equal(result->nbroken, way != FORS_WAY_GOOD);
	assert_int_equal(!!result->problem[0], way != FORS_WAY_GOOD);
	*r = *result;
	return way;
}

TEST(test_broken_ways_have_names)
{
	struct model m CLEARED(model_free) = model_of("FT(2;2,3)", 0, NULL);
	uint32_t lid = m.routes->server[2].lid;
	uint8_t *up = entry(&m, "Leaf00", lid), *down = entry(&m, *up == 3 ? "Spine00" : "Spine01", lid),
		*last = entry(&m, "Leaf01", lid);
	uint8_t good_up = *up, good_down = *down, good_last = *last;
	struct fors_evaluation r;

	assert_int_equal(way_of(&m, &r), FORS_WAY_GOOD);
	*up = FORS_NO_PATH;
	assert_int_equal(way_of(&m, &r), FORS_WAY_HOLE);
	*up = 0;
	assert_int_equal(way_of(&m, &r), FORS_WAY_HOLE);
	*up = 77;
	assert_int_equal(way_of(&m, &r), FORS_WAY_DEAD);
	*up = 2;
	assert_int_equal(way_of(&m, &r), FORS_WAY_ASTRAY);
	*up = good_up;
	*down = 1;
	assert_int_equal(way_of(&m, &r), FORS_WAY_LOOP);
	*down = good_down;
	*last = good_last == 1 ? 2 : 1;
	assert_int_equal(way_of(&m, &r), FORS_WAY_ASTRAY);
	*last = good_last;
	m.bed->lfts->guid[m.routes->row_of[m.routes->server[2].leaf]]++;
	fors_routes_free(m.routes);
	m.routes = NULL;
}

/* Over Leaf02 and the other spine: two links more than need be. */
TEST(test_a_detour_arrives)
{
	struct model m CLEARED(model_free) = model_of("FT(2;2,3)", 0, NULL);
	uint32_t lid = m.routes->server[2].lid;
	uint8_t up = *entry(&m, "Leaf00", lid);
	struct fors_evaluation r;

	*entry(&m, up == 3 ? "Spine00" : "Spine01", lid) = 3;
	*entry(&m, "Leaf02", lid) = up == 3 ? 4 : 3;
	*entry(&m, up == 3 ? "Spine01" : "Spine00", lid) = 2;
	assert_int_equal(way_of(&m, &r), FORS_WAY_GOOD);
	assert_int_equal(r.ndetours, 1);
	assert_int_equal(r.nbroken, 0);
}

TEST(test_plans_are_conflict_free)
{
	static const char *const methods[] = {"rounds", "exact", "auto"};
	struct model m CLEARED(model_free) = model_of("FT(2;5,6)", 3, "Leaf00[6] Leaf02[7]");

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		struct fors_task task = bed_task(m.bed);
		struct fors_schedule *plan FREED(fors_schedule_free) = NULL;
		struct fors_pattern *p FREED(fors_pattern_free) = NULL;
		struct fors_evaluation *r FREED(fors_evaluation_free) = NULL;

		assert_int_equal(fors_plan(&task, methods[i], &plan, &error), FORS_OK);
		assert_int_equal(fors_pattern_plan(plan, &p, &error), FORS_OK);
		r = evaluate(&m, p, 2);
		assert_true(r->max_link_load == 1 && r->nflows == 30 * 29 && is_near(r->rates.min, 1));
		assert_true(is_near(r->sync_throughput, 30. / plan->nphases));
	}
}

/* ---- jobs ---- */

static enum fors_err read_jobs(const struct model *m, const char *text, struct fors_efi_jobs *jobs)
{
	return fors_efi_jobs_read(text, strlen(text), "jobs", m->router.graph->nservers, m->routes, jobs, &error);
}

/*
 * FT(2;2,2), homes by D-mod-K: LIDs of servers 0 and 2 over Spine00, of 1 and 3 over Spine01. All four together: each
 * of the 8 directed links between switches has 2 routes. Only {0, 2}: two routes, over 2 links each, 1 on each; 4 of 8
 * links dark.
 */
TEST(test_efi_by_hand)
{
	struct model m CLEARED(model_free) = model_of("FT(2;2,2)", 0, NULL);
	struct fors_efi_jobs jobs = {0};
	struct fors_efi *efi = NULL;

	assert_int_equal(fors_efi_jobs_all(4, &jobs, &error), FORS_OK);
	assert_int_equal(fors_efi_count(&m.router, &jobs, &efi, &error), FORS_OK);
	assert_true(efi->max == 2 && efi->switch_links == 8 && efi->dark_links == 0 && efi->dark_fiber == 0);
	fors_efi_free(efi);
	fors_efi_jobs_clear(&jobs);
	assert_int_equal(read_jobs(&m, "one: 0-x\n", &jobs), FORS_EINPUT);
	assert_int_equal(read_jobs(&m, "one: 0-\n", &jobs), FORS_EINPUT);
	assert_int_equal(read_jobs(&m, "# two\none: Node00-00, 2\ntwo: 1, 1\n", &jobs), FORS_OK);
	assert_int_equal(jobs.count, 2);
	assert_int_equal(jobs.job[1].count, 1);
	assert_int_equal(fors_efi_count(&m.router, &jobs, &efi, &error), FORS_OK);
	assert_true(efi->max == 1 && efi->job_max[0] == 1 && efi->job_max[1] == 0 && efi->job_links[0] == 4);
	assert_true(efi->dark_links == 4 && efi->dark_fiber == 0.5);
	fors_efi_free(efi);
	fors_efi_jobs_clear(&jobs);
}

TEST(test_bad_job_files)
{
	static const char *const bad[] = {"",		"one\n",	 ": 1\n",	  "one: 4\n",
					  "one: 2-1\n", "one: nobody\n", "one: Leaf00\n", "a: 0-4294967295\n"};
	struct model m CLEARED(model_free) = model_of("FT(2;2,2)", 0, NULL);
	struct fors_efi_jobs jobs = {0};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(read_jobs(&m, bad[i], &jobs), FORS_EINPUT);
}

/* ---- LIDs out of dumps ---- */

TEST(test_lids_come_back_from_a_dump)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;3,4)", 2);
	struct fors_net *bare FREED(fors_net_free) = NULL;
	char *text FREED(free) = NULL;
	size_t size = 0;

	assert_int_equal(fors_lftfile_write(bed->net, bed->lfts, &text, &size, &error), FORS_OK);
	assert_int_equal(fors_net_copy(bed->net, &bare, &error), FORS_OK);
	for (uint32_t i = 0; i < bare->nports; i++)
		bare->port[i].lid = bare->port[i].lmc = 0;
	assert_int_equal(fors_lids_from_dump(bare, text, size, "dump", &error), FORS_OK);
	for (uint32_t i = 0; i < bare->nports; i++)
		if (bed->net->port[i].guid && bed->net->port[i].peer != FORS_NONE) {
			assert_int_equal(bare->port[i].lid, bed->net->port[i].lid);
			assert_int_equal(bare->port[i].lmc, bed->net->port[i].lmc);
		}
	fors_net_port(bare, 0, 0)->lid = 0;
	for (uint32_t i = 0; i < bare->nports; i++)
		if (bare->port[i].lid)
			bare->port[i].lid += 8;
	assert_int_equal(fors_lids_from_dump(bare, text, size, "dump", &error), FORS_ENOTAPPL);
}

TEST(test_mismatches)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;2,3)", 0);
	struct fors_mismatch mismatch;

	assert_int_equal(fors_mismatch_find(bed->net, bed->lfts, &mismatch, &error), FORS_OK);
	assert_string_equal(mismatch.text, "");
	bed->lfts->port[1] = 99;
	bed->lfts->guid[bed->lfts->nswitches - 1]++;
	fors_net_port(bed->net, bed->fabric->server[0].node, 1)->lid = 0;
	assert_int_equal(fors_mismatch_find(bed->net, bed->lfts, &mismatch, &error), FORS_OK);
	assert_true(mismatch.unknown_switches == 1 && mismatch.missing_tables == 1 && mismatch.bad_ports == 1 &&
		    mismatch.absent_lids == 1);
	assert_string_not_equal(mismatch.text, "");
}
