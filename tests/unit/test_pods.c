/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Three-level trees: understood or refused, tables that go up and down once, rounds and plans at the bound. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#include "core/base/random.h"
#include "core/fabric/lids.h"
#include "core/fabric/pods.h"
#include "core/net/tree_net.h"
#include "core/planners/over.h"
#include "core/planners/pods/route3.h"
#include "core/tables/check.h"

#define EFFORT 1000

/* A tree with LIDs, before anything fails, and what is left of it. */
struct world {
	struct fors_net *known, *now;
	struct fors_pods *pods;
	struct fors_route3 *route;
};

static void must(enum fors_err err, const struct fors_error *error)
{
	if (err)
		fail_msg("%s", error->text);
}

static struct fors_net *net_of(const char *text, unsigned lmc)
{
	struct fors_tree_spec spec = {0};
	struct fors_error error = {0};
	struct fors_net *net;

	must(fors_tree_spec_parse(text, &spec, &error), &error);
	must(fors_tree_net(&spec, &net, &error), &error);
	fors_tree_spec_clear(&spec);
	must(fors_assign_lids(net, NULL, lmc, false, &error), &error);
	return net;
}

static void world_new(struct world *w, const char *text)
{
	struct fors_error error = {0};

	*w = (struct world){.known = net_of(text, 0)};
	must(fors_net_copy(w->known, &w->now, &error), &error);
}

static void take_down(struct world *w, const char *what)
{
	struct fors_error error = {0};

	must(fors_net_down(w->known, w->now, what, &error), &error);
}

static void route(struct world *w)
{
	struct fors_error error = {0};

	fors_route3_free(w->route);
	fors_pods_free(w->pods);
	must(fors_pods_build(w->known, w->now, NULL, 0, &w->pods, &error), &error);
	must(fors_route3_make(w->pods, EFFORT, &w->route, &error), &error);
}

static void world_free(struct world *w)
{
	fors_route3_free(w->route);
	fors_pods_free(w->pods);
	fors_net_free(w->now);
	fors_net_free(w->known);
}

/* ---- understood ---- */

static void assert_shape(const char *text, uint32_t pods, uint32_t planes, uint32_t leaves, uint32_t mids,
			 uint32_t tops)
{
	struct fors_net *net = net_of(text, 0);
	struct fors_error error = {0};
	struct fors_pods *made;

	must(fors_pods_build(net, net, NULL, 0, &made, &error), &error);
	assert_int_equal(made->npods, pods);
	assert_int_equal(made->nplanes, planes);
	assert_int_equal(made->nleaves, leaves);
	assert_int_equal(made->nmids, mids);
	assert_int_equal(made->ntops, tops);
	fors_pods_free(made);
	fors_net_free(net);
}

static void test_trees_are_understood(void **state)
{
	assert_shape("XGFT(3;4,4,4;1,4,4)", 4, 4, 16, 16, 16);
	assert_shape("XGFT(3;2,3,5;1,2,4)", 5, 2, 15, 10, 8);
	assert_shape("PGFT(3;4,4,3;1,2,2;1,2,3)", 3, 2, 12, 6, 4);
}

static void assert_refused(struct fors_net *net, const char *why)
{
	struct fors_error error = {0};
	struct fors_pods *made;

	assert_int_equal(fors_pods_build(net, net, NULL, 0, &made, &error), FORS_ENOTREE);
	if (!strstr(error.text, why))
		fail_msg("'%s' does not say '%s'", error.text, why);
	fors_net_free(net);
}

/* Exchange the upper ends of two cables. */
static void cross(struct fors_net *net, const char *one, const char *other)
{
	struct fors_error error = {0};
	uint32_t a, b, pa, pb;
	unsigned port_a, port_b;
	uint8_t far_a, far_b;

	must(fors_net_find(net, one, &a, &port_a, &error), &error);
	must(fors_net_find(net, other, &b, &port_b, &error), &error);
	pa = fors_net_port(net, a, port_a)->peer;
	pb = fors_net_port(net, b, port_b)->peer;
	far_a = fors_net_port(net, a, port_a)->peer_port;
	far_b = fors_net_port(net, b, port_b)->peer_port;
	fors_net_disconnect(net, a, port_a);
	fors_net_disconnect(net, b, port_b);
	must(fors_net_connect(net, a, port_a, pb, far_b, &error), &error);
	must(fors_net_connect(net, b, port_b, pa, far_a, &error), &error);
}

static void test_others_are_refused(void **state)
{
	struct fors_net *net = net_of("XGFT(3;4,4,4;1,4,4)", 0);

	cross(net, "Mid2-00[5]", "Mid2-01[5]");
	assert_refused(net, "planes do not line up: Spine");
	assert_refused(net_of("XGFT(4;2,2,2,2;1,2,2,2)", 0), "a fourth level");
	assert_refused(net_of("XGFT(2;4,4;1,4)", 0), "no switch joins several pods");
}

/* A gateway on a top, and one on a mid, make neither of them a leaf. */
static void test_guests_do_not_confuse(void **state)
{
	static const char *const at[] = {"Spine03", "Mid2-05"};
	struct fors_net *net = net_of("XGFT(3;4,4,4;1,4,4)", 0);
	struct fors_error error = {0};
	struct fors_pods *pods;

	for (unsigned i = 0; i < 2; i++) {
		uint32_t node, gateway;
		unsigned port;

		must(fors_net_find(net, at[i], &node, &port, &error), &error);
		must(fors_net_add_node(net, FORS_CA, 1, 0xABC0 + i, "gw", "gw", &gateway, &error), &error);
		for (port = 1; fors_net_port(net, node, port)->peer != FORS_NONE; port++)
			;
		port--;
		fors_net_disconnect(net, node, port);
		must(fors_net_connect(net, node, port, gateway, 1, &error), &error);
	}
	must(fors_net_index(net, &error), &error);
	must(fors_pods_build(net, net, NULL, 0, &pods, &error), &error);
	assert_int_equal(pods->npods, 4);
	assert_int_equal(pods->ntops, 16);
	fors_pods_free(pods);
	fors_net_free(net);
}

/* A switch that is replaced takes over the place of the one before, and what is dead keeps its own. */
static void test_learning(void **state)
{
	struct fors_net *known = NULL, *net = net_of("XGFT(3;4,4,4;1,4,4)", 0);
	struct fors_error error = {0};
	uint32_t node, place;
	unsigned port;

	must(fors_pods_learn(&known, net, &error), &error);
	must(fors_net_find(net, "Spine05", &node, &port, &error), &error);
	place = fors_net_find_guid(known, net->node[node].guid);
	net->node[node].guid = 0xFFFF05;
	must(fors_net_index(net, &error), &error);
	must(fors_pods_learn(&known, net, &error), &error);
	assert_int_equal(known->nnodes, net->nnodes);
	assert_int_equal(fors_net_find_guid(known, 0xFFFF05), place);
	fors_net_disconnect(net, node, 1);
	must(fors_pods_learn(&known, net, &error), &error);
	assert_int_not_equal(fors_net_port(known, place, 1)->peer, FORS_NONE);
	fors_net_free(known);
	fors_net_free(net);
}

/* ---- tables ---- */

/* Walk every pair: up, then down, and to the right port. Nothing here comes from how the tables were made. */
static void judge(const struct world *w)
{
	const struct fors_net *net = w->now;

	for (uint32_t a = 0; a < net->nnodes; a++)
		for (uint32_t b = 0; b < net->nnodes; b++) {
			const struct fors_port *to = fors_net_port(net, b, 1);
			uint32_t at = net->node[a].type == FORS_CA ? fors_net_port(net, a, 1)->peer : FORS_NONE;
			bool is_down = false;

			if (net->node[b].type != FORS_CA || to->peer == FORS_NONE || at == FORS_NONE)
				continue;
			for (unsigned hops = 0; at != b; hops++) {
				uint8_t port = fors_lfts_port(
					w->route->lfts, fors_lfts_row(w->route->lfts, net->node[at].guid), to->lid);
				uint32_t next;

				assert_in_range(port, 1, net->node[at].nports);
				next = fors_net_port(net, at, port)->peer;
				assert_int_not_equal(next, FORS_NONE);
				assert_true(hops < 5);
				if (w->route->level[next] < w->route->level[at])
					is_down = true;
				else
					assert_false(is_down);
				at = next;
			}
		}
}

/* Plan over the tables, which are checked and judged; the number of phases. */
static uint32_t plan(struct world *w)
{
	struct fors_over_task task = {.net = w->now};
	struct fors_over_report report;
	struct fors_schedule *schedule;
	struct fors_error error = {0};

	route(w);
	must(fors_tables_check_levels(w->now, w->route->level, w->route->lfts, NULL, NULL, &error), &error);
	judge(w);
	task.lfts = w->route->lfts;
	task.rounds = w->route;
	must(fors_plan_over(&task, &schedule, &report, &error), &error);
	assert_true(report.verdict.is_good);
	fors_schedule_free(schedule);
	assert_true(report.nphases >= w->route->bound_servers);
	return report.nphases;
}

static void test_healthy(void **state)
{
	static const char *const specs[] = {"XGFT(3;4,4,4;1,4,4)", "XGFT(3;2,2,5;1,2,2)", "XGFT(3;3,3,3;1,4,4)",
					    "XGFT(3;6,6,8;1,6,6)", "PGFT(3;4,2,3;1,2,4;1,2,1)"};
	struct world w;

	for (unsigned i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		world_new(&w, specs[i]);
		route(&w);
		assert_int_equal(w.route->nleft, 0);
		assert_int_equal(plan(&w), w.route->nservers);
		world_free(&w);
	}
}

/* One dead cable or switch of each kind: T at the bound, and the tables of before when it returns. */
static void test_single_failures(void **state)
{
	static const struct {
		const char *what;
		uint32_t phases;
	} cases[] = {{"Leaf05[6]", 80}, {"Mid2-06[7]", 64}, {"Mid2-09", 80}, {"Spine10", 64}, {"Node03-02[1]", 64}};
	struct fors_error error = {0};
	struct fors_lfts *before;
	struct world w;

	world_new(&w, "XGFT(3;4,4,4;1,4,4)");
	route(&w);
	before = w.route->lfts;
	w.route->lfts = NULL;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		take_down(&w, cases[i].what);
		assert_in_range(plan(&w), 63, cases[i].phases);
		fors_net_free(w.now);
		must(fors_net_copy(w.known, &w.now, &error), &error);
	}
	route(&w);
	assert_memory_equal(w.route->lfts->port, before->port, (size_t)before->nswitches * before->nlids);
	fors_lfts_free(before);
	world_free(&w);
}

/* With tops and their cables dead no unit leaves its round: the formula's repair, without a search. */
static void test_tops(void **state)
{
	struct world w;

	world_new(&w, "XGFT(3;6,6,8;1,6,6)");
	take_down(&w, "Spine07");
	route(&w);
	assert_int_equal(w.route->nleft, 0);
	assert_int_equal(w.route->nrounds * w.route->length, 288);
	take_down(&w, "Mid2-03[9]");
	assert_int_equal(plan(&w), 288);
	world_free(&w);
}

/* Random failures: always tables that check, or a reason; path indices all arrive. */
static void test_random_failures(void **state)
{
	struct fors_error error = {0};
	struct fors_random random = {15};
	struct world w;

	for (unsigned round = 0; round < 40; round++) {
		world_new(&w, round % 2 ? "XGFT(3;3,3,4;1,3,3)" : "PGFT(3;4,3,3;1,2,2;1,2,2)");
		for (unsigned i = 0; i < 1 + round / 4; i++) {
			uint32_t node = fors_random_below(&random, w.now->nnodes);

			if (w.now->node[node].type == FORS_SWITCH)
				fors_net_disconnect(w.now, node,
						    1 + fors_random_below(&random, w.now->node[node].nports));
		}
		route(&w);
		must(fors_tables_check_levels(w.now, w.route->level, w.route->lfts, NULL, NULL, &error), &error);
		world_free(&w);
	}
}

static void test_path_indices(void **state)
{
	struct fors_error error = {0};
	struct world w = {.known = net_of("XGFT(3;4,4,4;1,4,4)", 2)};

	must(fors_net_copy(w.known, &w.now, &error), &error);
	take_down(&w, "Leaf00[5]");
	take_down(&w, "Mid2-02[6]");
	assert_in_range(plan(&w), 64, 84);
	world_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trees_are_understood),
		cmocka_unit_test(test_others_are_refused),
		cmocka_unit_test(test_guests_do_not_confuse),
		cmocka_unit_test(test_learning),
		cmocka_unit_test(test_healthy),
		cmocka_unit_test(test_single_failures),
		cmocka_unit_test(test_tops),
		cmocka_unit_test(test_random_failures),
		cmocka_unit_test(test_path_indices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
