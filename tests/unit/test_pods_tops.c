/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Three-level trees with tops to spare, and with tops that nobody ever saw. */
#include <stdlib.h>
#include <string.h>

#include "pods_world.h"

#include "core/base/random.h"
#include "core/planners/pods/lanes.h"

/*
 * More tops to a plane than a pod has leaves, and a third of their cables dead: those that are left do not take more
 * than leaves send.
 */
TEST(test_tops_to_spare)
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
		judge(&w);
		if (w.route->round)
			judge_rounds(&w);
		assert_in_range(plan_over(&w) * 100, 100, w.route->bound_servers * 120);
		world_free(&w);
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
TEST(test_tops_never_seen)
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
		struct fors_pods_lanes *lanes;
		struct world w;

		never_see(net, cases[i].unseen[0]);
		never_see(net, cases[i].unseen[1]);
		w = world_of(net);
		if (cases[i].dead)
			take_down(&w, cases[i].dead);
		route(&w);
		must(fors_pods_lanes_read(w.pods, &lanes, NULL), NULL);
		assert_int_equal(lanes->is_regular, cases[i].is_regular);
		fors_pods_lanes_free(lanes);
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
TEST(test_equal_planes_lack_nothing)
{
	struct fors_pods_lanes *lanes;
	struct world w;

	world_new(&w, "PGFT(3;7,3,4;1,3,7;1,3,1)");
	look(&w);
	must(fors_pods_lanes_read(w.pods, &lanes, NULL), NULL);
	assert_false(lanes->is_regular);
	assert_int_equal(lanes->nunseen, 0);
	fors_pods_lanes_free(lanes);
	world_free(&w);
}
