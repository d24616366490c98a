/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Random demands over the tables of trees with failures: the bound is what a walk through the tables finds, no plan is below what is
 * proven, each plan is right, and all of them together are no longer than they were.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/demand/answer.h"
#include "core/demand/check.h"
#include "core/demand/pack.h"
#include "core/demand/published.h"
#include "core/demand/uniform.h"
#include "support.h"

#define MOST_HOPS 8

/* A demand on a bed, and what is made of it. */
struct trial {
	struct bed *bed;
	struct fors_flows_routed *routed;
	struct fors_demand demand;
	struct fors_demand_problem problem;
	struct fors_demand_bound bound;
	uint32_t fewest;
};

static void trial_begin(struct trial *t, const char *spec, unsigned lmc, const char *down)
{
	struct fors_flows_tables tables = {.most_paths = 8};
	struct fors_error error;

	*t = (struct trial){.bed = bed_new(spec, lmc)};
	if (*down)
		bed_down(t->bed, down);
	tables.net = t->bed->net;
	tables.lfts = t->bed->lfts;
	assert_int_equal(fors_flows_routed_read(&tables, &t->routed, &error), FORS_OK);
}

/* Takes over the list. */
static void trial_demand(struct trial *t, struct fors_demand_message *list, uint32_t count, bool is_unit)
{
	struct fors_error error;

	assert_int_equal(fors_demand_make(list, count, t->routed->nservers, is_unit, &t->demand, &error), FORS_OK);
	assert_int_equal(fors_demand_problem_make(&t->demand, t->routed, &t->problem, &error), FORS_OK);
	assert_int_equal(fors_demand_bound_of(&t->problem, &t->bound, &error), FORS_OK);
	assert_int_equal(fors_demand_fewest(&t->problem, &t->fewest, &error), FORS_OK);
	t->fewest = is_unit ? (uint32_t)t->bound.most : t->fewest;
}

static void trial_end(struct trial *t)
{
	fors_demand_problem_clear(&t->problem);
	fors_demand_clear(&t->demand);
	fors_flows_routed_free(t->routed);
	bed_free(t->bed);
}

/* Each pair with a chance; sizes of a power law, or units; `hot`: half of what is sent goes to server 0. */
static void trial_random(struct trial *t, struct rng *rng, uint32_t percent, bool is_unit, bool hot)
{
	uint32_t n = t->routed->nservers, count = 0;
	struct fors_demand_message *list = malloc((size_t)n * n * sizeof(*list));

	assert_non_null(list);
	for (uint32_t src = 0; src < n; src++)
		for (uint32_t dst = 0; dst < n; dst++) {
			uint64_t bytes = is_unit ? 1 : 1 + (UINT64_C(1) << rng_below(rng, 14)) + rng_below(rng, 999);

			if (src != dst && rng_below(rng, 100) < (hot && !dst ? 80 : percent))
				list[count++] = (struct fors_demand_message){src, dst, bytes};
		}
	for (uint32_t i = count; i-- > 1;) { /* in any order */
		uint32_t k = rng_below(rng, i + 1);
		struct fors_demand_message swapped = list[i];

		list[i] = list[k];
		list[k] = swapped;
	}
	trial_demand(t, list, count, is_unit);
}

/* ---- the bound, by a walk through the tables ---- */

/* The ports of switches that a packet leaves by, but for the last one, which leads to the server. */
static uint32_t walk(const struct trial *t, uint32_t src, uint32_t dst, uint32_t path, uint32_t port[MOST_HOPS])
{
	const struct fors_net *net = t->bed->net;
	const struct fors_flows_server *from = &t->routed->server[src], *to = &t->routed->server[dst];
	uint32_t node = fors_net_port(net, from->node, from->port)->peer, hops = 0;

	for (;;) {
		uint32_t row = fors_lfts_row(t->bed->lfts, net->node[node].guid);
		const struct fors_port *out =
			fors_net_port(net, node, fors_lfts_port(t->bed->lfts, row, to->lid + path));

		assert_true(out->peer != FORS_NONE && hops < MOST_HOPS);
		if (net->node[out->peer].type == FORS_CA)
			return hops;
		port[hops++] = (uint32_t)(out - net->port);
		node = out->peer;
	}
}

static bool is_on(const uint32_t *port, uint32_t hops, uint32_t which)
{
	for (uint32_t i = 0; i < hops; i++)
		if (port[i] == which)
			return true;
	return false;
}

static uint64_t most_of(const uint64_t *load, uint32_t n)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < n; i++)
		most = load[i] > most ? load[i] : most;
	return most;
}

static uint64_t ports_bound(const struct trial *t)
{
	uint64_t load[2][256] = {{0}};

	for (uint32_t m = 0; m < t->demand.count; m++) {
		load[0][t->demand.message[m].src] += t->demand.message[m].bytes;
		load[1][t->demand.message[m].dst] += t->demand.message[m].bytes;
	}
	return most_of(load[0], 512);
}

/* Links that all ways of a message share. */
static uint64_t cable_bound(const struct trial *t)
{
	uint32_t nports = t->bed->net->nports;
	uint64_t *load = calloc(nports, sizeof(*load)), most;

	for (uint32_t m = 0; m < t->demand.count; m++) {
		const struct fors_demand_message *message = &t->demand.message[m];
		uint32_t port[MOST_HOPS], hops = walk(t, message->src, message->dst, 0, port);

		for (uint32_t i = 0; i < hops; i++) {
			bool is_shared = true;

			for (uint32_t path = 1; path < t->problem.npaths; path++) {
				uint32_t other[MOST_HOPS], nother = walk(t, message->src, message->dst, path, other);

				is_shared &= is_on(other, nother, port[i]);
			}
			load[port[i]] += is_shared ? message->bytes : 0;
		}
	}
	most = most_of(load, nports);
	free(load);
	return most;
}

/* The first links out of each switch that any way takes, or the last ones into it, carry what leaves it, or comes. */
static uint64_t leaf_bound(const struct trial *t, bool is_in)
{
	uint32_t nports = t->bed->net->nports, links[64] = {0};
	uint64_t load[64] = {0}, most = 0;
	bool *seen = calloc(nports, sizeof(*seen));

	for (uint32_t src = 0; src < t->routed->nservers; src++)
		for (uint32_t dst = 0; dst < t->routed->nservers; dst++) {
			uint32_t from = t->routed->server[src].home, to = t->routed->server[dst].home;

			if (from == to)
				continue;
			load[is_in ? to : from] += fors_demand_of(&t->demand, src, dst);
			for (uint32_t path = 0; path < t->problem.npaths; path++) {
				uint32_t port[MOST_HOPS], hops = walk(t, src, dst, path, port);
				uint32_t end = port[is_in ? hops - 1 : 0];

				links[is_in ? to : from] += !seen[end];
				seen[end] = true;
			}
		}
	for (uint32_t i = 0; i < 64; i++)
		if (links[i] && (load[i] + links[i] - 1) / links[i] > most)
			most = (load[i] + links[i] - 1) / links[i];
	free(seen);
	return most;
}

static void assert_bound(const struct trial *t)
{
	uint64_t out = leaf_bound(t, false), in = leaf_bound(t, true), most;

	assert_int_equal(t->bound.ports, ports_bound(t));
	assert_int_equal(t->bound.cable, cable_bound(t));
	assert_int_equal(t->bound.leaf, out > in ? out : in);
	most = t->bound.ports > t->bound.leaf ? t->bound.ports : t->bound.leaf;
	assert_int_equal(t->bound.most, most > t->bound.cable ? most : t->bound.cable);
}

/* ---- plans ---- */

/* A right plan, no shorter than what is proven; its time. */
static uint64_t time_of_plan(const struct trial *t, uint64_t cost)
{
	struct fors_effort effort = {.budget = UINT64_C(2000000)};
	const struct fors_demand_asked asked = {&t->problem, t->bound.most, t->fewest, cost, 0, &effort};
	uint64_t time;
	uint64_t *guid = calloc(t->routed->nservers, sizeof(*guid));
	struct fors_demand_verdict verdict;
	struct fors_demand_plan *plan;
	struct fors_error error;

	for (uint32_t s = 0; s < t->routed->nservers; s++)
		guid[s] = t->routed->server[s].guid;
	assert_int_equal(fors_demand_pack(&asked, &plan, &error), FORS_OK);
	assert_int_equal(fors_demand_check(t->bed->net, t->bed->lfts, guid, &t->demand, plan, &verdict, &error),
			 FORS_OK);
	if (!verdict.is_right)
		fail_msg("%s", verdict.text);
	assert_true(fors_demand_plan_length(plan) >= t->bound.most);
	time = fors_demand_plan_time(plan, cost);
	fors_demand_plan_free(plan);
	free(guid);
	return time;
}

/* What a kind of demands may take, all trials together; more is a step back, the other way may be written here. */
static const struct kind {
	const char *name, *spec, *down;
	unsigned lmc;
	uint32_t percent;
	bool is_unit, hot;
	uint64_t cost, most;
} kinds[] = {
	{"units", "FT(2;4,4)", "Leaf00[5]", 0, 30, true, false, 0, 106},
	{"sizes", "FT(2;4,4)", "Leaf01[6]", 0, 15, false, false, 0, 189223},
	{"phases cost", "FT(2;4,4)", "", 0, 40, false, false, 700, 427542},
	{"two ways", "FT(2;4,4)", "Leaf00[5] Spine01[2]", 1, 25, false, false, 100, 255934},
	{"units, two ways", "FT(2;4,4)", "Leaf02[7]", 1, 20, true, false, 0, 71},
	{"hot", "FT(2;3,5;servers=4)", "", 2, 10, false, true, 0, 291382},
	{"few", "FT(2;3,3)", "Leaf00[4]", 0, 25, false, false, 0, 132540},
	{"few units", "FT(2;3,3)", "", 0, 25, true, false, 0, 55},
	{"larger", "FT(2;8,8)", "Leaf00[9] Leaf03[12] Spine02[1]", 1, 30, false, false, 50, 816903},
};

#define TRIALS 12

TEST(all_kinds)
{
	bool is_worse = false;

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		const struct kind *kind = &kinds[k];
		struct rng rng = {k + 1};
		uint64_t sum = 0;

		for (unsigned i = 0; i < TRIALS; i++) {
			struct trial t;

			trial_begin(&t, kind->spec, kind->lmc, kind->down);
			trial_random(&t, &rng, kind->percent, kind->is_unit, kind->hot);
			assert_bound(&t);
			sum += time_of_plan(&t, kind->cost);
			trial_end(&t);
		}
		if (sum > kind->most)
			print_message("%s: all plans take %" PRIu64 ", not %" PRIu64 "\n", kind->name, sum, kind->most);
		is_worse |= sum > kind->most;
	}
	assert_false(is_worse);
}

/* No room is made for what no file can hold. */
TEST(a_schedule_that_is_too_large)
{
	const struct fors_flows_routed routed = {.nservers = 5000};
	const struct fors_demand_plan plan = {.nservers = 5000, .nphases = 9000, .method = "slices"};
	const struct fors_demand demand = {.nservers = 5000};
	struct fors_schedule *schedule = NULL;
	struct fors_error error;

	assert_int_equal(fors_demand_schedule(&routed, &demand, &plan, NULL, &schedule, &error), FORS_ELIMIT);
	assert_null(schedule);
	assert_non_null(strstr(error.text, "5000 servers and 9000 phases take 1080000000 bytes"));
}

static uint32_t named(const struct trial *t, const char *name)
{
	for (uint32_t s = 0; s < t->routed->nservers; s++)
		if (!strcmp(t->routed->net->node[t->routed->server[s].node].desc, name))
			return s;
	fail_msg("no %s", name);
	return 0;
}

/* A phase of few messages that differ costs more than they do: they stay whole, and as many phases are taken as the fullest port needs. */
TEST(few_messages_stay_whole)
{
	static const char *const pairs[][2] = {{"Node00-00", "Node01-00"},
					       {"Node00-01", "Node02-00"},
					       {"Node00-02", "Node03-00"},
					       {"Node00-03", "Node01-02"}};
	struct fors_demand_message *list = calloc(4, sizeof(*list));
	struct trial t;

	trial_begin(&t, "FT(2;4,4)", 2, "");
	for (unsigned i = 0; i < 4; i++)
		list[i] = (struct fors_demand_message){named(&t, pairs[i][0]), named(&t, pairs[i][1]), 1000 + i};
	trial_demand(&t, list, 4, false);
	assert_int_equal(time_of_plan(&t, 100000), 101003);
	trial_end(&t);
}

/* Of all with all a shift has a phase for each distance, and none of them has two messages over a cable. */
TEST(a_shift_has_a_phase_for_each_distance)
{
	const uint64_t bytes = 1000;
	struct fors_demand_shift shift;
	struct fors_error error;
	struct trial t;
	uint32_t count = 0;

	for (unsigned far = 1; far < 9; far += 7) {
		struct fors_demand_message *list = malloc(9 * 8 * sizeof(*list));

		trial_begin(&t, "FT(2;3,3)", 0, "");
		assert_int_equal(t.routed->nservers, 9);
		count = 0;
		for (uint32_t src = 0; src < 9; src++)
			for (uint32_t i = 1; i <= far; i++)
				list[count++] = (struct fors_demand_message){src, (src + i) % 9, bytes};
		trial_demand(&t, list, count, false);
		assert_int_equal(fors_demand_by_shift(&t.problem, &shift, &error), FORS_OK);
		assert_int_equal(shift.nphases, far);
		assert_int_equal(shift.length, far * bytes);
		trial_end(&t);
	}
}

static bool is_found_wrong; /* each plan, by its proof */

enum fors_err __real_fors_demand_prove(const struct fors_demand_steps *steps, struct fors_demand_verdict *verdict,
				       struct fors_error *error);
enum fors_err __wrap_fors_demand_prove(const struct fors_demand_steps *steps, struct fors_demand_verdict *verdict,
				       struct fors_error *error);

enum fors_err __wrap_fors_demand_prove(const struct fors_demand_steps *steps, struct fors_demand_verdict *verdict,
				       struct fors_error *error)
{
	enum fors_err err = __real_fors_demand_prove(steps, verdict, error);

	return err || !is_found_wrong ? err : fors_fail(error, FORS_ENOPLAN, "wrong");
}

/* Nothing leaves that is not proven. */
TEST(a_plan_that_is_wrong_is_not_given)
{
	static const char text[] = "Node00-00 Node01-00 100\nNode01-01 Node02-02 50\n";
	struct bed *bed = bed_new("FT(2;3,3)", 0);
	const struct fors_demand_task task = {
		.net = bed->net, .lfts = bed->lfts, .text = text, .size = sizeof(text) - 1, .name = "demand"};
	struct fors_schedule *schedule = NULL;
	struct fors_demand_report report;
	struct fors_error error;

	is_found_wrong = true;
	assert_int_equal(fors_demand_answer(&task, &schedule, &report, &error), FORS_ENOPLAN);
	assert_null(schedule);
	is_found_wrong = false;
	assert_int_equal(fors_demand_answer(&task, &schedule, &report, &error), FORS_OK);
	assert_int_equal(report.messages, 2);
	assert_int_equal(schedule->nphases, report.nphases);
	fors_schedule_free(schedule);
	bed_free(bed);
}
