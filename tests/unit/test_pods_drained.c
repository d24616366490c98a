/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Three levels: cables of either stage that are excluded, degraded or held carry nothing between servers, what cannot
 * be spared is called back, and what is mended is as good as if it had been done.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pods_world.h"

#include "core/base/names.h"
#include "core/fabric/drained.h"
#include "core/fabric/repairs.h"
#include "core/fabric/holddown.h"
#include "core/net/rates.h"
#include "core/planners/mended.h"
#include "core/planners/slow.h"
#include "core/status/status.h"
#include "core/tables/check.h"

#define HOLD 10000

/* Exclude "LINK, LINK" and "SWITCH, SWITCH" (NULL: none) in a tree just looked at, and take them out. */
static void exclude(struct world *w, const char *links, const char *switches, struct fors_warnings *warnings)
{
	struct fors_fattree tree = fors_fattree_of_pods(w->pods);
	struct fors_names names = {NULL, 0};

	memset(warnings, 0, sizeof(*warnings));
	assert_int_equal(fors_names_add(&names, switches ? switches : "", NULL), FORS_OK);
	fors_drained_spines(tree, &names, "exclude_spines", warnings);
	fors_names_clear(&names);
	assert_int_equal(fors_names_add(&names, links ? links : "", NULL), FORS_OK);
	fors_drained_links(tree, &names, "exclude_links", warnings);
	fors_names_clear(&names);
	assert_int_equal(fors_drained_apply(tree, warnings, NULL), FORS_OK);
}

/* Ends of cables that are drained and carry nothing. */
static uint32_t count_drained(const struct world *w)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < w->known->nports; i++)
		count += w->pods->drained[i] && !w->pods->live[i];
	return count;
}

/* Does what goes from server to server stay off every cable that is drained? */
static void assert_avoided(const struct world *w)
{
	const struct fors_net *net = w->now;

	for (uint32_t a = 0; a < w->pods->nslots; a++)
		for (uint32_t b = 0; b < w->pods->nslots; b++) {
			uint32_t at = w->pods->leaf[w->pods->slot[a].leaf].now;
			uint16_t lid = w->pods->slot[b].lid;

			while (net->node[at].type == FORS_SWITCH) {
				uint8_t port = fors_lfts_port(w->route->lfts,
							      fors_lfts_row(w->route->lfts, net->node[at].guid), lid);
				uint32_t known = fors_net_find_guid(w->known, net->node[at].guid);

				if (!fors_pods_live(w->pods, known, port))
					assert_false(w->pods->drained[w->known->node[known].first_port + port]);
				at = fors_net_port(net, at, port)->peer;
			}
		}
}

TEST(test_cables_and_switches_are_drained)
{
	static const struct {
		const char *links, *switches, *dead;
		uint32_t ends;
	} cases[] = {
		{"Leaf05[6]", NULL, "Leaf05[6]", 2},
		{"Mid2-06[7]", NULL, "Mid2-06[7]", 2},
		{NULL, "Mid2-09", "Mid2-09", 16},
		{NULL, "Spine10", "Spine10", 8},
		{"Mid2-01[2], Leaf09[7]", "Spine03", "Mid2-01[2] Leaf09[7] Spine03", 12},
	};
	struct fors_warnings warnings;
	struct world w, dead;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *what = strdup(cases[i].dead), *word, *save;
		uint32_t phases;

		world_new(&w, "XGFT(3;4,4,4;1,4,4)");
		world_new(&dead, "XGFT(3;4,4,4;1,4,4)");
		for (word = strtok_r(what, " ", &save); word; word = strtok_r(NULL, " ", &save))
			take_down(&dead, word);
		free(what);
		look(&w);
		exclude(&w, cases[i].links, cases[i].switches, &warnings);
		assert_int_equal(warnings.count, 0);
		assert_int_equal(count_drained(&w), cases[i].ends);
		make_tables(&w, FORS_PODS_ROUTE_EFFORT);
		assert_avoided(&w);
		phases = plan_over(&w);
		route(&dead);
		assert_int_equal(phases, plan_over(&dead));
		assert_int_equal(w.route->bound_servers, dead.route->bound_servers);
		world_free(&w);
		world_free(&dead);
	}
}

/* Names that mean nothing here. */
TEST(test_names)
{
	struct fors_warnings warnings;
	struct world w;

	world_new(&w, "XGFT(3;2,2,2;1,2,2)");
	take_down(&w, "Mid2-01");
	look(&w);
	exclude(&w, "Leaf00[1], Nobody[2], Mid2-01[1]", "Leaf01, Spine00[1]", &warnings);
	assert_int_equal(warnings.count, 4);
	assert_int_equal(count_drained(&w), 0);
	assert_non_null(strstr(warnings.text[0], "'Leaf01' is no middle switch and no top"));
	assert_non_null(strstr(warnings.text[2], "'Leaf00[1]' is no cable between switches of the tree"));
	world_free(&w);
}

/* What joins two leaves stays, on both stages: held cables are called back before degraded ones, those before excluded ones. */
TEST(test_what_is_needed_stays)
{
	struct fors_warnings warnings;
	struct world w;

	world_new(&w, "XGFT(3;2,2,2;1,2,2)");
	look(&w);
	exclude(&w, NULL, "Mid2-00, Mid2-01, Mid2-02, Mid2-03, Spine00, Spine01, Spine02, Spine03", &warnings);
	assert_true(warnings.count > 0);
	assert_non_null(strstr(warnings.text[0], "stays in use: without it Leaf00 could not reach Leaf01"));
	assert_int_equal(count_drained(&w), 2 * (16 - 6)); /* one mid of each pod, and one top, keep their cables */
	make_tables(&w, FORS_PODS_ROUTE_EFFORT);
	assert_avoided(&w);
	plan_over(&w);
	world_free(&w);
}

static void mark(struct world *w, const char *name, unsigned port, enum fors_drain_reason reason)
{
	struct fors_error error;
	uint32_t node;
	unsigned unused;

	assert_int_equal(fors_net_find(w->known, name, &node, &unused, &error), FORS_OK);
	fors_drained_mark_cable(fors_fattree_of_pods(w->pods), w->known->node[node].first_port + port, reason);
}

/* Of two ways up to a top, that which costs least comes back. */
TEST(test_order_of_calling_back)
{
	static const enum fors_drain_reason order[] = {FORS_DRAIN_EXCLUDED, FORS_DRAIN_DEGRADED, FORS_DRAIN_HELD};
	struct fors_warnings warnings = {0};
	struct world w;

	for (unsigned stays = 0; stays < 3; stays++)
		for (unsigned returns = stays + 1; returns < 3; returns++)
			for (unsigned at = 0; at < 2; at++) {
				memset(&warnings, 0, sizeof(warnings));
				world_new(&w, "XGFT(3;2,2,2;1,1,2)"); /* one mid in a pod, two tops */
				look(&w);
				mark(&w, "Mid2-00", 3 + at, order[returns]);
				mark(&w, "Mid2-00", 4 - at, order[stays]);
				assert_int_equal(fors_drained_apply(fors_fattree_of_pods(w.pods), &warnings, NULL),
						 FORS_OK);
				assert_int_equal(warnings.count, 1);
				assert_non_null(strstr(warnings.text[0], fors_drained_name(order[returns])));
				assert_int_equal(count_drained(&w), 2);
				world_free(&w);
			}
}

/* Nobody is cut off: what only a drained cable leads to is led over it; and no packet goes in circles. */
TEST(test_guests_and_managers)
{
	struct fors_warnings warnings;
	struct fors_error error = {0};
	uint32_t node, nowhere = 0;
	unsigned port;
	struct world w;

	world_new(&w, "XGFT(3;2,2,2;1,2,2)");
	must(fors_net_find(w.known, "Mid2-00", &node, &port, &error), &error);
	fors_net_port(w.known, node, 0)->is_sm = true;
	must(fors_net_find(w.known, "Spine01", &node, &port, &error), &error);
	fors_net_port(w.known, node, 0)->is_sm = true;
	mend(&w);
	look(&w);
	exclude(&w, NULL, "Mid2-00, Spine01", &warnings);
	assert_int_equal(warnings.count, 0);
	make_tables(&w, FORS_PODS_ROUTE_EFFORT);
	assert_avoided(&w);
	must(fors_tables_check_levels(w.now, w.route->level, w.route->lfts, &nowhere, &error), &error);
	for (uint32_t s = 0; s < w.pods->nslots; s++)
		for (uint32_t row = 0; row < w.route->lfts->nswitches; row++)
			assert_int_not_equal(fors_lfts_port(w.route->lfts, row, w.pods->slot[s].lid), FORS_NO_PATH);
	world_free(&w);
}

/* ---- held ---- */

static struct fors_moment at(uint64_t seconds)
{
	return (struct fors_moment){seconds * 1000 + 1, 1700000000000 + seconds * 1000};
}

static uint32_t look_at(struct fors_holddown *watch, struct world *w, uint64_t seconds)
{
	look(w);
	assert_int_equal(fors_holddown_look(watch, fors_fattree_of_pods(w->pods), at(seconds), NULL), FORS_OK);
	fors_holddown_release(watch, at(seconds).ms, HOLD);
	return fors_holddown_mark(watch, fors_fattree_of_pods(w->pods));
}

TEST(test_what_returns_is_held)
{
	struct fors_holddown *watch = fors_holddown_new();
	struct fors_status status;
	struct world w;
	struct fors_fattree tree;

	world_new(&w, "XGFT(3;2,2,2;1,2,2)");
	assert_int_equal(look_at(watch, &w, 0), 0);
	take_down(&w, "Spine02");
	assert_int_equal(look_at(watch, &w, 1), 0);
	mend(&w);
	assert_int_equal(look_at(watch, &w, 2), 2);
	assert_int_equal(fors_holddown_due(watch, HOLD), at(12).ms);
	assert_int_equal(fors_drained_apply(fors_fattree_of_pods(w.pods), NULL, NULL), FORS_OK);
	assert_int_equal(count_drained(&w), 4);
	make_tables(&w, FORS_PODS_ROUTE_EFFORT);
	assert_avoided(&w);
	fors_status_init(&status);
	tree = fors_fattree_of_pods(w.pods);
	assert_int_equal(fors_status_tree(&status, &tree, NULL), FORS_OK);
	assert_int_equal(status.held_links.count, 2);
	assert_int_equal(status.dead_links.count, 0);
	assert_string_equal(status.held_links.link[0].b, "Spine02");
	assert_true(status.held_links.link[0].since_ms == (int64_t)at(2).unix_ms && !status.held_links.link[0].is_used);
	fors_status_clear(&status);
	assert_int_equal(look_at(watch, &w, 12), 0);
	fors_holddown_free(watch);
	world_free(&w);
}

TEST(test_slow_cables)
{
	struct fors_error error = {0};
	struct world w;
	uint32_t node;
	unsigned port;

	world_new(&w, "XGFT(3;4,4,4;1,4,4)");
	must(fors_net_find(w.now, "Mid2-06", &node, &port, &error), &error);
	fors_net_port(w.now, node, 7)->is_degraded = true;
	look(&w);
	fors_drained_degraded(fors_fattree_of_pods(w.pods));
	assert_int_equal(fors_drained_apply(fors_fattree_of_pods(w.pods), NULL, NULL), FORS_OK);
	assert_int_equal(count_drained(&w), 2);
	make_tables(&w, FORS_PODS_ROUTE_EFFORT);
	assert_avoided(&w);
	assert_int_equal(plan_over(&w), 64);
	world_free(&w);
}

/* A cable at a quarter of its speed, the others at full. */
static void slow_down(struct world *w, const char *cable, unsigned width)
{
	struct fors_error error = {0};
	struct fors_port *end;
	uint32_t node;
	unsigned port;

	must(fors_net_find(w->now, cable, &node, &port, &error), &error);
	end = fors_net_port(w->now, node, port);
	end->width = fors_net_port(w->now, end->peer, end->peer_port)->width = (uint8_t)width;
}

/* Only these take part; NULL: all. */
static void let_play(struct world *w, const bool *plays)
{
	for (uint32_t s = 0; plays && s < w->pods->nslots; s++)
		w->pods->plays[s] = plays[s];
}

static double drained_length(struct world *w, const bool *plays)
{
	uint32_t nports = w->known->nports;
	bool *before = malloc(nports);
	struct fors_slow slow;

	look(w);
	let_play(w, plays);
	memcpy(before, w->pods->live, nports);
	assert_int_equal(fors_slow_mark(fors_fattree_of_pods(w->pods), FORS_SLOW_IGNORE, &slow, NULL), FORS_OK);
	assert_memory_equal(before, w->pods->live, nports);
	assert_int_equal(count_drained(w), 0);
	free(before);
	return slow.drained;
}

static void near(double a, double b)
{
	assert_true(a > b - 1e-6 && a < b + 1e-6);
}

/* What draining slow cables would give: no less than a plan then takes, nothing where they cannot be spared. */
TEST(test_what_draining_would_give)
{
	bool plays[64] = {false};
	struct world w;

	world_new(&w, "XGFT(3;4,4,4;1,4,4)");
	for (uint32_t i = 0; i < w.now->nports; i++) {
		w.now->port[i].width = 4;
		w.now->port[i].speed = FORS_HDR;
	}
	near(drained_length(&w, NULL), -1);
	slow_down(&w, "Mid2-06[7]", 1);
	near(drained_length(&w, NULL), 64);
	slow_down(&w, "Leaf05[6]", 1);
	near(drained_length(&w, NULL), 80); /* 4 servers' flows to 60 others over 3 uplinks, in lumps of 4 */
	plays[0] = plays[20] = plays[21] = plays[40] = true;
	near(drained_length(&w, plays), 4);
	slow_down(&w, "Leaf00[1]", 1); /* a server's own cable */
	assert_true(drained_length(&w, plays) > 4 + 3 * 3 && drained_length(&w, plays) <= 4 * 4);
	assert_true(drained_length(&w, NULL) > 80 + 3 * 63 && drained_length(&w, NULL) <= 4 * 80);
	slow_down(&w, "Leaf00[1]", 4);
	for (unsigned port = 5; port <= 8; port++) {
		char cable[16];

		snprintf(cable, sizeof(cable), "Leaf05[%u]", port);
		slow_down(&w, cable, 1);
	}
	near(drained_length(&w, NULL), -1); /* all of its uplinks */
	world_free(&w);
}

/* ---- mended ---- */

/* Each repair gives the tables, and the phases, that there are when it was done. */
static void assert_repairs(struct world *w, const char *const *dead, unsigned ndead)
{
	const struct fors_task task = {0};
	struct fors_repair *list;
	uint32_t count, now;

	mend(w);
	for (unsigned i = 0; i < ndead; i++)
		take_down(w, dead[i]);
	route_with(w, fors_pods_route_little_effort(w->pods));
	now = plan_over(w);
	assert_int_equal(fors_repairs_list(fors_fattree_of_pods(w->pods), &list, &count, NULL), FORS_OK);
	assert_int_equal(count, ndead);
	for (uint32_t r = 0; r < count; r++) {
		struct world done = {0};
		struct fors_mended mended;
		struct fors_gain gain;
		uint32_t told = 0, real;
		unsigned left = 0;

		must(fors_net_copy(w->known, &done.known, NULL), NULL);
		must(fors_net_copy(w->known, &done.now, NULL), NULL);
		fors_gain_name(fors_fattree_of_pods(w->pods), &list[r], &gain);
		for (unsigned i = 0; i < ndead; i++) {
			char name[2 * FORS_NAME_MAX];

			snprintf(name, sizeof(name), "%s[%u]", gain.link.a, gain.link.a_port);
			if (strcmp(dead[i], *gain.link.a ? name : gain.link.b)) {
				take_down(&done, dead[i]);
				left++;
			}
		}
		assert_int_equal(left, ndead - 1);
		route_with(&done, FORS_PODS_ROUTE_EFFORT);
		real = plan_over(&done);
		must(fors_mended_build(fors_fattree_of_pods(w->pods), &list[r], &mended, NULL), NULL);
		assert_memory_equal(mended.tree.pods->live, done.pods->live, w->known->nports);
		fors_mended_free(&mended);
		must(fors_phases_mended(&task, fors_fattree_of_pods(w->pods), &list[r], now, &told, NULL), NULL);
		assert_in_range(told, real < now ? real : now, now);
		world_free(&done);
	}
	free(list);
}

TEST(test_repairs)
{
	static const char *const one[] = {"Leaf05[6]"}, *const mid[] = {"Mid2-09"},
				 *const mixed[] = {"Mid2-06[7]", "Spine02", "Leaf01[5]", "Mid2-13"};
	struct world w;

	world_new(&w, "XGFT(3;4,4,4;1,4,4)");
	look(&w);
	assert_repairs(&w, one, 1);
	assert_repairs(&w, mid, 1);
	assert_repairs(&w, mixed, 4);
	world_free(&w);
}

/* The whole switch before its cables, the worst leaf before others. */
TEST(test_promising_first)
{
	struct fors_repair *list;
	struct fors_gain gain;
	struct world w;
	uint32_t count;

	world_new(&w, "XGFT(3;4,4,4;1,4,4)");
	take_down(&w, "Leaf00[5]");
	take_down(&w, "Leaf03[5]");
	take_down(&w, "Leaf03[6]");
	take_down(&w, "Spine07");
	look(&w);
	assert_int_equal(fors_repairs_list(fors_fattree_of_pods(w.pods), &list, &count, NULL), FORS_OK);
	assert_int_equal(count, 4);
	fors_gain_name(fors_fattree_of_pods(w.pods), &list[0], &gain);
	assert_string_equal(gain.link.a, "");
	assert_string_equal(gain.link.b, "Spine07");
	fors_gain_name(fors_fattree_of_pods(w.pods), &list[1], &gain);
	assert_string_equal(gain.link.a, "Leaf03");
	fors_gain_name(fors_fattree_of_pods(w.pods), &list[3], &gain);
	assert_string_equal(gain.link.a, "Leaf00");
	free(list);
	world_free(&w);
}
