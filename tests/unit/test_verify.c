/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The verifier: good plans pass, and each way to break one is found and named. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "core/fabric/lids.h"
#include "core/fabric/places.h"
#include "core/net/lfts.h"
#include "core/net/netfile.h"
#include "core/schedule/schedule.h"
#include "core/schedule/lane_ways.h"
#include "core/schedule/verify.h"
#include "published.h"
#include "support.h"

/*
 * A plan to be broken: FT(2;4,4), LMC 2, closed form, so 16 servers, 16 phases: in phases 0..11 each
 * server sends to another leaf, in 12..15 inside. Leaf ports: servers 1..4, uplinks 5..8.
 */
struct victim {
	struct bed *bed;
	struct fors_schedule *schedule;
};

static struct victim victim_of(const char *spec, unsigned lmc)
{
	struct victim victim = {.bed = bed_new(spec, lmc)};
	struct fors_task task = bed_task(victim.bed);
	struct fors_error error;

	if (fors_method_closed_form.plan(&task, &victim.schedule, &error))
		fail_msg("%s: %s", spec, error.text);
	return victim;
}

/* In rounds, at one LID per server. */
static struct victim rounds_of(const char *spec)
{
	struct victim victim = {.bed = bed_new(spec, 0)};
	struct fors_task task = bed_task(victim.bed);
	struct fors_error error;

	if (fors_method_rounds.plan(&task, &victim.schedule, &error))
		fail_msg("%s: %s", spec, error.text);
	return victim;
}

static void victim_free(struct victim *victim)
{
	fors_schedule_free(victim->schedule);
	bed_free(victim->bed);
}

/* The brief proof says the same in all cases. */
static struct fors_verdict verdict_of(const struct victim *victim)
{
	struct fors_verdict verdict;
	struct fors_error error;
	bool is_right;

	if (fors_verify(victim->bed->net, victim->bed->lfts, victim->schedule, NULL, NULL, &verdict, &error))
		fail_msg("%s", error.text);
	is_right = !verdict.is_good;
	if (fors_verify_holds(victim->bed->net, victim->bed->lfts, victim->schedule, 1, NULL, NULL, &is_right, &error))
		fail_msg("%s", error.text);
	assert_int_equal(is_right, verdict.is_good);
	return verdict;
}

/* The plan is refused, and all of the (blank-separated by '|') words are in the text. */
static void assert_refused(const struct victim *victim, const char *words)
{
	struct fors_verdict verdict = verdict_of(victim);
	char list[512], *word, *rest;

	assert_false(verdict.is_good);
	assert_true(verdict.nproblems > 0);
	snprintf(list, sizeof(list), "%s", words);
	for (word = strtok_r(list, "|", &rest); word; word = strtok_r(NULL, "|", &rest))
		if (!strstr(verdict.text, word))
			fail_msg("\"%s\" is not in \"%s\"", word, verdict.text);
}

static struct fors_cell *cell(const struct victim *victim, uint32_t s, uint32_t phase)
{
	return &victim->schedule->cell[(size_t)s * victim->schedule->nphases + phase];
}

static uint8_t *entry(const struct victim *victim, const char *name, uint32_t lid)
{
	struct fors_lfts *lfts = victim->bed->lfts;
	struct fors_error error;
	uint32_t node;
	unsigned port;

	assert_int_equal(fors_net_find(victim->bed->net, name, &node, &port, &error), FORS_OK);
	return &lfts->port[(size_t)fors_lfts_row(lfts, victim->bed->net->node[node].guid) * lfts->nlids + lid];
}

/* The LID that server s sends to in a phase. */
static uint32_t lid_of(const struct victim *victim, uint32_t s, uint32_t phase)
{
	const struct fors_cell *c = cell(victim, s, phase);

	return victim->schedule->server[c->dst].lid + c->path;
}

/* A cancelled() that counts how often it is asked. */
static bool count_ask(void *context)
{
	++*(int *)context;
	return false;
}

static const struct fors_cell nobody = {FORS_IDLE, 0, FORS_NO_LANE};

/* ---- good plans ---- */

TEST(good_plans)
{
	static const char *const specs[] = {"FT(2;4,4)", "FT(2;20,18)", "FT(2;4,1)",
					    "FT(2;1,4)", "FT(2;1,1)",	"FT(2;2,3;servers=4;cables=2)"};

	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct victim victim CLEARED(victim_free) = victim_of(specs[i], i ? 2 : FORS_MAX_LMC);
		struct fors_verdict verdict = verdict_of(&victim);
		uint64_t p = victim.schedule->nservers;

		if (!verdict.is_good)
			fail_msg("%s: %s", specs[i], verdict.text);
		assert_string_equal(verdict.text, "ok");
		assert_int_equal(verdict.nproblems, 0);
		assert_int_equal(verdict.nflows, p * (p - 1));
		assert_int_equal(verdict.max_load, p > 1);
	}
}

/*
 * With one LID for each server tables are asked once for each leaf and receiver. Whatever is spoilt in tables or plan,
 * what is found is what check_plan() finds, which asks for each flow.
 */
TEST(common_ways)
{
	static const char *const specs[] = {"FT(2;4,4;servers=6)", "FT(2;6,5)", "FT(2;4,2;servers=9)"};
	struct rng rng = {11};
	unsigned bad = 0;

	for (unsigned i = 0; i < 300; i++) {
		struct bed *bed = bed_new(specs[i % 3], 0);
		struct fors_task task = bed_task(bed);
		struct victim victim CLEARED(victim_free) = {.bed = bed};
		struct fors_verdict verdict;
		struct fors_error error;
		uint32_t ncells;
		char text[512];

		if (fors_plan(&task, "rounds", &victim.schedule, &error))
			fail_msg("%s", error.text);
		verdict = verdict_of(&victim);
		if (!verdict.is_good || verdict.max_load != 1)
			fail_msg("%s: %s", specs[i % 3], verdict.text);
		ncells = victim.schedule->nleaves * victim.schedule->parts * victim.schedule->nphases;
		if (i % 2) { /* two turns of the plan are exchanged, lanes and all */
			struct fors_cell *a = &victim.schedule->cell[rng_below(&rng, ncells)], keep = *a;
			struct fors_cell *b = &victim.schedule->cell[rng_below(&rng, ncells)];

			*a = *b;
			*b = keep;
		} else {
			uint32_t lid = bed->fabric->server[rng_below(&rng, bed->fabric->nservers)].lid;

			bed->lfts->port[(size_t)rng_below(&rng, bed->lfts->nswitches) * bed->lfts->nlids + lid] =
				(uint8_t)rng_below(&rng, 12);
		}
		fors_lanes_free(bed->lanes);
		assert_int_equal(fors_lanes_read(bed->fabric, bed->lfts, &bed->lanes, NULL), FORS_OK);
		verdict = verdict_of(&victim);
		bad += !verdict.is_good;
		if (check_plan(bed, victim.schedule, text, sizeof(text)))
			assert_false(verdict.is_good);
	}
	assert_in_range(bad, 150, 299);
}

/* ---- ways by name ---- */

/* A way that is used names each switch and port that the tables send over; any other name of any hop is refused. */
TEST(ways_by_name)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;4,4)", 2);
	struct fors_waylist *ways;

	published_add(victim.bed, victim.schedule, PUBLISHED_WAYS);
	ways = victim.schedule->ways;
	assert_true(verdict_of(&victim).is_good);
	for (uint32_t i = 0; i < ways->nways; i++) {
		struct fors_waylist_way *way = &ways->way[i], keep = *way;

		way->port = way->rest == FORS_NONE ? 1 : (uint8_t)(way->port % 8 + 1);
		assert_false(verdict_of(&victim).is_good);
		*way = keep;
		way->sw = (uint16_t)((way->sw + 1) % ways->nswitches);
		assert_false(verdict_of(&victim).is_good);
		*way = keep;
	}
	assert_true(verdict_of(&victim).is_good);
}

/* A way that goes on behind the receiver's switch: the flow arrives, but not so. */
TEST(named_way_is_longer)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;4,4)", 2);
	struct fors_way_hop hop[2];
	struct fors_waylist *ways;
	uint32_t number;
	struct fors_cell c;

	published_add(victim.bed, victim.schedule, PUBLISHED_WAYS);
	ways = victim.schedule->ways;
	c = *cell(&victim, 0, 13); /* inside its leaf */
	number = fors_waylist_find(ways, 0, c.dst, c.path);
	assert_int_equal(fors_waylist_get(ways, number, hop, 2), 1);
	hop[0].port = (uint8_t)(c.dst + 1);
	hop[1] = (struct fors_way_hop){.guid = ways->guid[1]};
	assert_int_equal(fors_waylist_put(ways, 0, c.dst, c.path, hop, 2, FORS_WAY_NO_TOP, NULL), FORS_OK);
	ways->way[fors_waylist_find(ways, 0, c.dst, c.path)].port = 0; /* as at a last switch */
	assert_refused(&victim, "phase 13|crosses 1 switch, but the way that the schedule names has 2");
}

/* ---- few flows in a large fabric ---- */

/* They are walked one by one; in whatever phase something is wrong, the brief proof finds it and ends there. */
TEST(few_flows)
{
	struct victim victim CLEARED(victim_free) = {.bed = bed_new("FT(2;20,18)", 0)};
	struct fors_task task;

	bed_participants(victim.bed, "0/0 3/1 7/2");
	task = bed_task(victim.bed);
	assert_int_equal(fors_plan(&task, "exact", &victim.schedule, NULL), FORS_OK);
	assert_true(verdict_of(&victim).is_good);
	for (size_t at = 0; at < fors_schedule_ncells(victim.schedule); at++) {
		struct fors_cell *c = &victim.schedule->cell[at], keep = *c;
		bool is_right = true;
		int asks = 0;

		if (c->dst == FORS_IDLE)
			continue;
		c->dst = 77;
		assert_int_equal(fors_verify_holds(victim.bed->net, victim.bed->lfts, victim.schedule, 1, count_ask,
						   &asks, &is_right, NULL),
				 FORS_OK);
		assert_false(is_right);
		assert_int_equal(asks, at % victim.schedule->nphases + 1); /* one for each phase */
		*c = keep;
	}
}

/* ---- threads ---- */

/* The ports that the flows are sent by, walked here. */
static bool *walk_used(const struct victim *victim)
{
	const struct fors_net *net = victim->bed->net;
	const struct fors_lfts *lfts = victim->bed->lfts;
	const struct fors_schedule *schedule = victim->schedule;
	bool *is_used = calloc(net->nports, sizeof(*is_used));

	for (uint32_t s = 0; s < schedule->nservers; s++)
		for (uint32_t phase = 0; phase < schedule->nphases; phase++) {
			struct fors_cell c = fors_schedule_flow(schedule, s, phase);
			uint32_t node = victim->bed->fabric->server[s].node, lid;
			unsigned port = 1;

			if (c.dst == FORS_IDLE)
				continue;
			lid = (uint32_t)schedule->server[c.dst].lid + c.path;
			do {
				is_used[net->node[node].first_port + port] = true;
				node = fors_net_port(net, node, port)->peer;
				if (net->node[node].type == FORS_SWITCH)
					port = fors_lfts_port(lfts, fors_lfts_row(lfts, net->node[node].guid), lid);
			} while (net->node[node].type == FORS_SWITCH);
		}
	return is_used;
}

/* On any number of threads the same is said, in the same words. */
static struct fors_verdict assert_same_on_threads(const struct victim *victim)
{
	static const unsigned threads[] = {0, 2, 3, FORS_MAX_THREADS, 1000};
	const struct fors_net *net = victim->bed->net;
	struct fors_verdict first, verdict;
	bool *is_used = calloc(net->nports, sizeof(*is_used)), *walked, is_right;

	assert_int_equal(fors_verify(net, victim->bed->lfts, victim->schedule, NULL, NULL, &first, NULL), FORS_OK);
	walked = first.is_good ? walk_used(victim) : NULL;
	for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
		memset(is_used, 0, net->nports * sizeof(*is_used));
		assert_int_equal(fors_verify_used(net, victim->bed->lfts, victim->schedule, threads[i], NULL, NULL,
						  &verdict, is_used, NULL),
				 FORS_OK);
		assert_int_equal(verdict.is_good, first.is_good);
		assert_int_equal(verdict.nflows, first.nflows);
		assert_int_equal(verdict.nproblems, first.nproblems);
		assert_int_equal(verdict.max_load, first.max_load);
		assert_string_equal(verdict.text, first.text);
		if (walked)
			assert_memory_equal(is_used, walked, net->nports * sizeof(*is_used));
		assert_int_equal(fors_verify_holds(net, victim->bed->lfts, victim->schedule, threads[i], NULL, NULL,
						   &is_right, NULL),
				 FORS_OK);
		assert_int_equal(is_right, first.is_good);
	}
	free(walked);
	free(is_used);
	return first;
}

/* Flows enough for several threads; what is spoilt lies in the first, some and the last block of phases. */
TEST(threads_do_not_matter)
{
	static const struct {
		const char *spec, *method;
		unsigned lmc;
	} cases[] = {{"FT(2;20,18)", "rounds", 0}, {"FT(2;8,16)", "closed-form", 3}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct victim victim CLEARED(victim_free) = {.bed = bed_new(cases[i].spec, cases[i].lmc)};
		struct fors_task task = bed_task(victim.bed);
		struct rng rng = {5};

		assert_int_equal(fors_plan(&task, cases[i].method, &victim.schedule, NULL), FORS_OK);
		assert_true(assert_same_on_threads(&victim).is_good);
		for (int k = 0; k < 12; k++) {
			uint32_t t = victim.schedule->nphases, phase = k ? rng_below(&rng, t) : t - 1;
			struct fors_cell *c = cell(&victim, rng_below(&rng, 16), phase), keep = *c;

			*c = k % 3 ? *cell(&victim, rng_below(&rng, 16), rng_below(&rng, t)) : nobody;
			assert_same_on_threads(&victim);
			*c = keep;
		}
		assert_true(assert_same_on_threads(&victim).is_good);
	}
}

/* Who has met already meets again, in a phase more: nothing is missing, and no cable is taken twice. */
TEST(again_in_a_phase_more)
{
	struct victim victim = victim_of("FT(2;4,4)", 2), longer = {.bed = victim.bed};

	assert_int_equal(
		fors_schedule_new(victim.bed->fabric, victim.schedule->nphases + 1, 0, 0, "x", &longer.schedule, NULL),
		FORS_OK);
	for (uint32_t s = 0; s < 16; s++)
		memcpy(cell(&longer, s, 0), cell(&victim, s, 0), 16 * sizeof(struct fors_cell));
	assert_true(verdict_of(&longer).is_good);
	for (uint32_t s = 0; s < 16; s++)
		*cell(&longer, s, 16) = *cell(&victim, s, 4);
	assert_refused(&longer, "phase 16|for the second time");
	fors_schedule_free(longer.schedule);
	victim_free(&victim);
}

/* ---- broken schedules ---- */

TEST(swapped_receivers)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;4,4)", 2);
	struct fors_cell *a = cell(&victim, 0, 3), *b = cell(&victim, 1, 3), keep = *a;

	*a = *b;
	*b = keep;
	assert_refused(&victim, "phase 3|for the second time|Node00-0");
}

TEST(swapped_phases)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;4,4)", 2);
	struct fors_cell *a = cell(&victim, 5, 2), *b = cell(&victim, 5, 7), keep = *a;

	*a = *b;
	*b = keep;
	assert_refused(&victim, "phase 2|carries two flows|Node01-01");
}

TEST(missing_pair)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;4,4)", 2);
	char text[64];

	snprintf(text, sizeof(text), "never sends to|Node02-00 (LID 36)|1 pair is missing");
	*cell(&victim, 8, 6) = nobody;
	assert_refused(&victim, text);
	assert_int_equal(verdict_of(&victim).nproblems, 1);
}

TEST(no_flow_at_all)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;4,4)", 2);

	for (size_t i = 0; i < fors_schedule_ncells(victim.schedule); i++)
		victim.schedule->cell[i] = nobody;
	assert_refused(&victim, "240 pairs are missing");
	assert_int_equal(verdict_of(&victim).nproblems, 240);
}

/* Who sends to itself is idle: that is no flow, and no problem. */
TEST(to_itself)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;4,4)", 2);
	uint32_t n = 0;

	for (uint32_t s = 0; s < 16; s++)
		for (uint32_t phase = 0; phase < victim.schedule->nphases; phase++)
			if (cell(&victim, s, phase)->dst == FORS_IDLE) {
				*cell(&victim, s, phase) = (struct fors_cell){(uint16_t)s, 0, FORS_NO_LANE};
				n++;
			}
	assert_true(n > 0);
	assert_true(verdict_of(&victim).is_good);
	assert_int_equal(verdict_of(&victim).nflows, 16 * 15);
}

TEST(repeated_pair)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;4,4)", 2);

	for (uint32_t s = 0; s < 16; s++)
		*cell(&victim, s, 9) = *cell(&victim, s, 4);
	assert_refused(&victim, "phase 9|for the second time");
}

TEST(receiver_out_of_range)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;4,4)", 2);

	cell(&victim, 3, 0)->dst = 16;
	assert_refused(&victim, "phase 0|Node00-03|server number 16 of 16");
}

TEST(wrong_path)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;4,4)", 2);

	cell(&victim, 2, 5)->path ^= 1;
	assert_refused(&victim, "phase 5|Node00-02|goes over Spine|names spine 0x");
}

TEST(path_beyond_lmc)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;4,4)", 2);

	cell(&victim, 2, 5)->path = 4;
	assert_refused(&victim, "phase 5|Node00-02|path index 4, but LMC 2");
}

TEST(wrong_lane)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;4,4)", 2);
	struct fors_cell *c = cell(&victim, 2, 5);
	uint8_t lane = c->lane;

	c->lane = (lane + 1) % 4;
	assert_refused(&victim, "phase 5|Node00-02|goes over Spine|names spine 0x");
	c->lane = 4;
	assert_refused(&victim, "names lane 4 of 4");
	c->lane = FORS_NO_LANE;
	assert_refused(&victim, "names lane 255 of 4");
	c->lane = lane;
	cell(&victim, 2, 13)->lane = 0;
	assert_refused(&victim, "phase 13|stays inside leaf Leaf00|names lane 0");
}

TEST(wrong_spine_guid)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;4,4)", 2);

	victim.schedule->lane_spine[1] = 0xdead;
	assert_refused(&victim, "goes over Spine01|names spine 0x000000000000dead");
}

/* Path and lane changed consistently: nothing is wrong with the flow but that its cable is taken. */
TEST(two_flows_on_an_uplink)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;4,4)", 2);
	struct fors_cell *c = cell(&victim, 2, 5);
	char words[256];

	c->lane = (c->lane + 1) % 4;
	c->path = (c->path + 1) % 4;
	snprintf(words, sizeof(words),
		 "phase 5: link Leaf00[%u] -> Spine%02u[1] carries two flows: Node00-0|, and Node00-0|Node00-02",
		 c->lane + 5, c->lane);
	assert_refused(&victim, words);
	assert_int_equal(verdict_of(&victim).max_load, 2);
	assert_int_equal(verdict_of(&victim).nproblems, 2);
}

TEST(two_flows_to_one_server)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;3,4;servers=1)", 2);
	struct fors_cell *flow = cell(&victim, 0, 0);

	*cell(&victim, (flow->dst + 1u) % 4, 0) = *flow;
	assert_refused(&victim, "phase 0|receives from|Node00-00");
	assert_int_equal(verdict_of(&victim).max_load, 2);
}

TEST(two_flows_to_a_leaf_over_one_spine)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;4,4)", 2);
	struct fors_cell *c = cell(&victim, 2, 5);
	uint32_t leaf = victim.schedule->server[c->dst].leaf;
	uint8_t lane = (c->lane + 1) % 4;
	char words[256];

	/* Nobody else of leaf 0 sends in this phase, so only the way down can be shared. */
	for (uint32_t s = 0; s < 4; s++)
		if (s != 2)
			*cell(&victim, s, 5) = nobody;
	c->lane = lane;
	c->path = (c->path + 1) % 4;
	snprintf(words, sizeof(words), "phase 5: link Spine%02u[%u] -> Leaf%02u[%u] carries two flows", lane, leaf + 1,
		 leaf, lane + 5);
	assert_refused(&victim, words);
}

TEST(two_flows_on_one_of_two_cables)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;2,3;servers=4;cables=2)", 2);
	struct fors_cell *c = cell(&victim, 1, 0);

	c->path = (c->path + (c->lane ^ 1) - c->lane) &
		  3; /* the other cable of the same spine, so the schedule's spine is right */
	assert_refused(&victim, "phase 0: link Leaf00[|carries two flows");
}

/* ---- broken tables ---- */

TEST(hole_in_a_table)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;4,4)", 2);

	*entry(&victim, "Leaf00", lid_of(&victim, 1, 8)) = FORS_NO_PATH;
	assert_refused(&victim, "ends at switch Leaf00|no way to that LID");
	*entry(&victim, "Leaf00", lid_of(&victim, 1, 8)) = 0;
	assert_refused(&victim, "ends at switch Leaf00");
	*entry(&victim, "Leaf00", lid_of(&victim, 1, 8)) = 9;
	assert_refused(&victim, "ends at switch Leaf00|port 9");
}

TEST(table_missing)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;4,4)", 2);

	for (uint32_t row = 0; row < victim.bed->lfts->nswitches; row++)
		if (victim.bed->lfts->guid[row] == victim.bed->fabric->spine[3].guid)
			victim.bed->lfts->nswitches = row; /* the rows end before it */
	assert_refused(&victim, "Spine03|it has no table");
}

TEST(table_too_short)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;1,3)", 0);

	victim.bed->lfts->nlids = 2;
	assert_refused(&victim, "no way to that LID");
}

TEST(loop_in_tables)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;4,4)", 2);
	uint32_t lid = lid_of(&victim, 1, 8);
	char spine[24];

	snprintf(spine, sizeof(spine), "Spine%02u", cell(&victim, 1, 8)->lane);
	*entry(&victim, spine, lid) = 1; /* back to Leaf00 */
	assert_refused(&victim, "loops or takes a detour: Leaf|, Leaf00, then Spine");
}

TEST(detour_over_another_leaf)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;4,4)", 2);
	const struct fors_cell *c = cell(&victim, 1, 8);
	uint32_t other = victim.schedule->server[c->dst].leaf == 2 ? 3 : 2;
	char spine[24];

	snprintf(spine, sizeof(spine), "Spine%02u", c->lane);
	*entry(&victim, spine, lid_of(&victim, 1, 8)) = (uint8_t)(other + 1);
	assert_refused(&victim, "loops or takes a detour: Leaf");
}

TEST(wrong_arrival)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;4,4)", 2);
	const struct fors_schedule_server *to = &victim.schedule->server[cell(&victim, 1, 8)->dst];
	char leaf[24], words[256];

	snprintf(leaf, sizeof(leaf), "Leaf%02u", to->leaf);
	snprintf(words, sizeof(words), "arrives at Node%02u-%02u[1] instead (last hop %s[", to->leaf,
		 (to->rank + 1) % 4, leaf);
	*entry(&victim, leaf, lid_of(&victim, 1, 8)) = (uint8_t)((to->rank + 1) % 4 + 1);
	assert_refused(&victim, words);
}

TEST(dead_cable_in_use)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;4,4)", 2);
	struct fors_error error;

	assert_int_equal(fors_net_down(victim.bed->intact, victim.bed->net, "Leaf02[6]", &error), FORS_OK);
	assert_refused(&victim, "where no live cable is");
}

TEST(plan_of_before_the_failure)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;4,4)", 2);

	bed_down(victim.bed, "Leaf02[6]"); /* new tables, old plan */
	assert_refused(&victim, "phase");
}

/* Leaf00 and Leaf01 joined by a cable of their own, where those to Spine01 were; no plan may use it. */
TEST(without_a_spine)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;2,2;servers=1)", 1);
	struct bed *bed = victim.bed;
	uint32_t a = bed->fabric->leaf[0].node, b = bed->fabric->leaf[1].node, phase = 0;

	while (cell(&victim, 0, phase)->dst != 1)
		phase++;
	for (unsigned port = 1; port <= 2; port++)
		fors_net_disconnect(bed->net, bed->fabric->spine[1].node, port);
	assert_int_equal(fors_net_connect(bed->net, a, 3, b, 3, NULL), FORS_OK);
	*entry(&victim, "Leaf00", lid_of(&victim, 0, phase)) = 3;
	assert_refused(&victim, "goes from switch Leaf00 to Leaf01 directly, without a spine");
}

/* Two send to one inside a leaf: one link carries both. */
TEST(the_last_link_counts)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;1,1;servers=3)", 0);
	uint32_t phase = 0;

	while (cell(&victim, 0, phase)->dst != 2)
		phase++;
	*cell(&victim, 1, phase) = *cell(&victim, 0, phase);
	assert_false(verdict_of(&victim).is_good);
	assert_int_equal(verdict_of(&victim).max_load, 2);
	assert_int_equal(verdict_of(&victim).nproblems, 4); /* again, received twice, one link, one pair is missing */
}

/* Path indices of the receiver count, not those of the sender. */
TEST(few_paths_of_one_receiver)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;4,4)", 2);
	struct fors_task task;
	size_t ncells, at = 0;

	fors_schedule_free(victim.schedule);
	bed_down(victim.bed, "Leaf00[5]"); /* so that not all paths have index 0 */
	task = bed_task(victim.bed);
	assert_int_equal(fors_plan(&task, "exact", &victim.schedule, NULL), FORS_OK);
	ncells = fors_schedule_ncells(victim.schedule);
	while (at < ncells && (victim.schedule->cell[at].dst == FORS_IDLE || !victim.schedule->cell[at].path))
		at++;
	assert_true(at < ncells);
	victim.schedule->server[victim.schedule->cell[at].dst].lmc = 0;
	assert_refused(&victim, "path index|but LMC 0");
}

/* Both ports of one CA take part: what is for the one does not arrive at the other. */
TEST(the_other_port)
{
	static const char text[] = "Switch 3 \"L0\"\n[1] \"h\"[1]\n[2] \"h\"[2]\n[3] \"g\"[1]\n\n"
				   "Hca 2 \"h\"\n[1] \"L0\"[1]\n[2] \"L0\"[2]\n\nHca 1 \"g\"\n[1] \"L0\"[3]\n";
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;1,1;servers=3)", 0);
	struct bed *bed = victim.bed;
	struct fors_task task;

	fors_schedule_free(victim.schedule);
	fors_net_free(bed->intact);
	fors_places_free(bed->places);
	bed->places = fors_places_new();
	assert_int_equal(fors_netfile_read(text, strlen(text), "two ports", &bed->intact, NULL, NULL), FORS_OK);
	assert_int_equal(fors_places_learn(bed->places, bed->intact, NULL, 0, NULL), FORS_OK);
	assert_int_equal(fors_assign_lids(bed->intact, bed->places, 0, false, NULL), FORS_OK);
	bed_restore(bed);
	task = bed_task(bed);
	assert_int_equal(fors_plan(&task, "auto", &victim.schedule, NULL), FORS_OK);
	assert_true(verdict_of(&victim).is_good);
	*entry(&victim, "L0", bed->fabric->server[0].lid) = 2;
	assert_refused(&victim, "arrives at h[2] instead");
}

/* ---- other servers than the net's ---- */

TEST(server_not_in_the_net)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;4,4)", 2);

	victim.schedule->server[7].guid = 0xbad;
	assert_refused(&victim, "Node01-03|0x0000000000000bad is not in the fabric");
	assert_int_equal(verdict_of(&victim).nflows, 0);
}

TEST(server_unplugged)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;4,4)", 2);
	struct fors_error error;

	assert_int_equal(fors_net_down(victim.bed->intact, victim.bed->net, "Node01-03", &error), FORS_OK);
	assert_refused(&victim, "Node01-03|no live cable to a switch");
}

TEST(wrong_lids)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;4,4)", 2);
	struct fors_schedule_server *server = &victim.schedule->server[7];
	uint16_t lid = server->lid;

	server->lid += 4;
	assert_refused(&victim, "Node01-03|in the fabric");
	server->lid = 0;
	assert_refused(&victim, "LID 0 with LMC 2 is not possible");
	server->lid = FORS_LID_MAX - 2; /* one too many of its four */
	assert_refused(&victim, "is not possible");
	server->lid = FORS_LID_MAX - 3;
	assert_refused(&victim, "in the fabric");
	server->lid = lid;
	server->lmc = 3;
	assert_refused(&victim, "LMC 3 in the schedule, 2 in the fabric");
	server->lmc = 8;
	assert_refused(&victim, "LMC 8 is not possible");
}

static void forget_lids(struct fors_net *net)
{
	for (uint32_t i = 0; i < net->nports; i++)
		net->port[i].lid = 0;
}

/* A plain topology file has no LIDs; the schedule's count then, but they have to make sense. */
TEST(net_without_lids)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;4,4)", 2);

	forget_lids(victim.bed->net);
	assert_true(verdict_of(&victim).is_good);
	victim.schedule->server[7].lid = victim.schedule->server[6].lid;
	assert_refused(&victim, "Node01-02|Node01-03|share LID");
	victim.schedule->server[7].lid += 3; /* the last of the four of the one is the first of the other */
	assert_refused(&victim, "Node01-02|Node01-03|share LID 31");
}

TEST(server_twice)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;4,4)", 2);

	victim.schedule->server[7].guid = victim.schedule->server[6].guid;
	victim.schedule->server[7].lid = victim.schedule->server[6].lid;
	assert_refused(&victim, "share LID");
}

/* The last of a leaf is its fourth, and calls itself the fifth. */
TEST(a_rank_is_left_out)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;4,4)", 2);

	victim.schedule->server[7].rank++;
	assert_refused(&victim, "Node01-03|rank 4 is out of order");
}

TEST(wrong_order)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;4,4)", 2);

	victim.schedule->server[7].rank = 2;
	assert_refused(&victim, "Node01-03|out of order");
	victim.schedule->server[7].rank = 0;
	victim.schedule->server[7].leaf = 2;
	assert_refused(&victim, "leaf 1 and 2 in the schedule|switches Leaf01 and Leaf01");
	victim.schedule->server[7].rank = 3;
	victim.schedule->server[7].leaf = 1;
	victim.schedule->nleaves = 3;
	assert_refused(&victim, "out of order");
}

TEST(wrong_leaf)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;1,3)", 2);

	victim.schedule->server[1].leaf = 0;
	victim.schedule->server[1].rank = 1;
	assert_refused(&victim, "Leaf00 and Leaf01|leaf 0 and 0");
}

TEST(no_plan)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;4,4)", 2);

	victim.schedule->nphases = 0;
	snprintf(victim.schedule->reason, sizeof(victim.schedule->reason), "the cat ate it");
	assert_refused(&victim, "no plan|the cat ate it");
	victim.schedule->nphases = 16;
	victim.schedule->parts = 1;
	victim.schedule->round_length = 0;
	assert_refused(&victim, "16 phases in rounds of 0");
	victim.schedule->round_length = 5;
	assert_refused(&victim, "16 phases in rounds of 5");
}

/* ---- by chance ---- */

/* Inside a leaf every LID of the receiver will do; whoever is idle has no path and no lane. */
static bool matters(const struct fors_cell *before, const struct fors_cell *now)
{
	bool is_same_way = before->dst == now->dst && before->lane == now->lane;

	if (before->dst == FORS_IDLE || (is_same_way && before->path == now->path))
		return false;
	return !(is_same_way && now->lane == FORS_NO_LANE && now->path < 4);
}

/* Any change of a single cell of a plan without slack breaks it. */
TEST(random_changes)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;4,4)", 2);
	struct rng rng = {7};

	for (int i = 0; i < 3000; i++) {
		struct fors_cell *c = cell(&victim, rng_below(&rng, 16), rng_below(&rng, 16)), keep = *c;
		uint32_t value = rng_below(&rng, 20);

		switch (rng_below(&rng, 3)) {
		case 0:
			c->dst = (uint16_t)value;
			break;
		case 1:
			c->path = (uint8_t)value;
			break;
		default:
			c->lane = (uint8_t)value;
		}
		if (matters(&keep, c) && verdict_of(&victim).is_good)
			fail_msg("a change of %u/%u/%u into %u/%u/%u was not seen", keep.dst, keep.path, keep.lane,
				 c->dst, c->path, c->lane);
		*c = keep;
	}
	assert_true(verdict_of(&victim).is_good);
}

/* Any change of a table entry that a flow uses breaks the plan. */
TEST(random_table_changes)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;4,4)", 2);
	struct rng rng = {8};

	for (int i = 0; i < 1000; i++) {
		uint32_t s = rng_below(&rng, 16), phase = rng_below(&rng, 12), lid = lid_of(&victim, s, phase);
		char leaf[24];
		uint8_t *port, keep;

		snprintf(leaf, sizeof(leaf), "Leaf%02u", s / 4);
		port = entry(&victim, leaf, lid);
		keep = *port;
		*port = (uint8_t)rng_below(&rng, 256);
		assert_int_equal(verdict_of(&victim).is_good, *port == keep);
		*port = keep;
	}
}

/*
 * In rounds the servers of a leaf share what is walked. Any change of a cell is seen, over lanes and over the ways that they
 * are, and any change of an entry that a unit uses.
 */
TEST(random_changes_of_rounds)
{
	struct rng rng = {9};

	for (unsigned i = 0; i < 2; i++) {
		struct victim victim CLEARED(victim_free) = rounds_of("FT(2;4,4)");
		const struct fors_schedule_server *server = victim.schedule->server;

		if (i)
			assert_int_equal(
				fors_schedule_name(victim.schedule, victim.bed->fabric, victim.bed->lfts, "job", NULL),
				FORS_OK);
		for (unsigned turn = 0; turn < 1000; turn++) {
			uint32_t leaf = rng_below(&rng, victim.schedule->nleaves);
			struct fors_cell *c = cell(&victim, leaf, rng_below(&rng, victim.schedule->nphases)), keep = *c;
			char name[24];
			uint8_t *port, kept;

			snprintf(name, sizeof(name), "Leaf%02u", leaf);
			port = entry(&victim, name, server[keep.dst].lid);
			kept = *port;
			*port = (uint8_t)rng_below(&rng, 8);
			assert_int_equal(verdict_of(&victim).is_good, *port == kept);
			*port = kept;
			c->dst = (uint16_t)rng_below(&rng, 20);
			c->lane = i ? keep.lane : (uint8_t)rng_below(&rng, 5);
			assert_int_equal(verdict_of(&victim).is_good, c->dst == keep.dst && c->lane == keep.lane);
			*c = keep;
		}
		assert_true(verdict_of(&victim).is_good);
	}
}

/*
 * A way goes on as another one that begins at another switch. The table does not lead there, though what is remembered of the
 * other way, by a leaf that takes it to the same server, does lead to the receiver.
 */
TEST(ways_that_go_on_elsewhere)
{
	struct victim victim CLEARED(victim_free) = {.bed = bed_new("FT(2;4,4;servers=2)", 0)};
	struct fors_task task;
	struct fors_waylist *ways;
	unsigned changed = 0;

	bed_down(victim.bed, "Leaf00[5]");
	task = bed_task(victim.bed);
	assert_int_equal(fors_method_rounds.plan(&task, &victim.schedule, NULL), FORS_OK);
	assert_int_equal(fors_schedule_name(victim.schedule, victim.bed->fabric, victim.bed->lfts, "job", NULL),
			 FORS_OK);
	assert_true(verdict_of(&victim).is_good);
	ways = victim.schedule->ways;
	for (uint32_t i = 0; i < ways->nways; i++)
		for (uint32_t other = 0, keep = ways->way[i].rest; keep != FORS_NONE && other < i; other++) {
			if (ways->way[other].sw == ways->way[keep].sw)
				continue;
			ways->way[i].rest = other;
			assert_false(verdict_of(&victim).is_good);
			ways->way[i].rest = keep;
			changed++;
		}
	assert_true(changed > 100 && verdict_of(&victim).is_good);
}

/* A server that is alone on its leaf need not name itself: nobody else of its group would send there. */
TEST(alone_on_a_leaf)
{
	struct victim victim CLEARED(victim_free) = rounds_of("FT(2;2,6;servers=1)");
	unsigned blanked = 0;

	assert_true(verdict_of(&victim).is_good);
	for (uint32_t s = 0; s < 6; s++)
		for (uint32_t t = 0; t < victim.schedule->nphases; t++)
			if (cell(&victim, s, t)->dst == s) {
				*cell(&victim, s, t) = nobody;
				blanked++;
			}
	assert_true(verdict_of(&victim).is_good);
	for (uint32_t t = 0; t < victim.schedule->nphases / 2; t++)
		*cell(&victim, 3, t) = nobody;
	assert_refused(&victim, "never sends to");
	assert_true(blanked > 0);
}

/*
 * A round that is all phases: each leaf has all its units in it, over one cable, and its only server sends them one after
 * another. So units share a round, and never meet; where they do it is seen, on any number of threads.
 */
TEST(units_may_share_a_round)
{
	struct victim victim CLEARED(victim_free) = rounds_of("FT(2;2,6;servers=1)");
	struct fors_cell keep;

	victim.schedule->round_length = victim.schedule->nphases;
	assert_true(assert_same_on_threads(&victim).is_good);
	keep = *cell(&victim, 3, 1);
	*cell(&victim, 3, 1) = *cell(&victim, 3, 2);
	*cell(&victim, 3, 2) = keep;
	assert_false(assert_same_on_threads(&victim).is_good);
}

static bool after_three(void *context)
{
	return ++*(int *)context > 3;
}

TEST(can_be_cancelled)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;4,4)", 2);
	struct fors_verdict verdict = {.nflows = 77};
	struct fors_error error;
	int calls = 0;

	assert_int_equal(
		fors_verify(victim.bed->net, victim.bed->lfts, victim.schedule, after_three, &calls, &verdict, &error),
		FORS_ECANCELLED);
	assert_int_equal(verdict.nflows, 77);
}

/* Nothing is walked behind the phase with the first problem. */
TEST(one_problem_is_enough)
{
	struct victim victim CLEARED(victim_free) = victim_of("FT(2;4,4)", 2);
	bool is_right = true;
	int asks = 0;

	assert_int_equal(fors_verify_holds(victim.bed->net, victim.bed->lfts, victim.schedule, 1, after_three, &asks,
					   &is_right, NULL),
			 FORS_ECANCELLED);
	assert_true(is_right);
	victim.schedule->cell[2].dst = 77; /* of the first server, in phase 2 */
	asks = 0;
	assert_int_equal(fors_verify_holds(victim.bed->net, victim.bed->lfts, victim.schedule, 1, count_ask, &asks,
					   &is_right, NULL),
			 FORS_OK);
	assert_false(is_right);
	assert_int_equal(asks, 1); /* nor behind its server */
}
