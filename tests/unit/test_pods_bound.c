/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The lower bound of three levels, against what its cuts give by hand; and cables side by side, of which one is dead. */
#include <stdlib.h>
#include <string.h>

#include "pods_world.h"

#include "core/planners/pods/bound.h"

/* The witness has the same bound: the number of servers, or a cut of cables that are all different. */
static void assert_witness(const struct fors_pods_lanes *lanes, const uint32_t *servers, uint32_t bound)
{
	struct fors_witness witness = {0};
	struct fors_error error = {0};
	uint32_t total = 0;

	for (uint32_t a = 0; a < lanes->pods->nleaves; a++)
		total += servers[a];
	must(fors_pods_bound_witness(lanes, servers, NULL, &witness, &error), &error);
	assert_int_equal(witness.bound, bound);
	assert_int_equal(witness.by, bound > total ? FORS_BY_CUT : FORS_BY_PORT);
	assert_int_equal(witness.nlinks > 0, witness.by == FORS_BY_CUT);
	for (uint32_t i = 0; i < witness.nlinks; i++)
		for (uint32_t k = 0; k < i; k++)
			assert_false(witness.link[i].guid == witness.link[k].guid &&
				     witness.link[i].port == witness.link[k].port);
	fors_witness_clear(&witness);
}

/* Of a tree without what is in `dead` ("X, Y"), with so many servers below each leaf (NULL: all that there are). */
static void assert_bound(const char *spec, const char *dead, const uint32_t *servers, uint32_t expected)
{
	struct fors_error error = {0};
	struct fors_pods_lanes *lanes;
	uint32_t *all, bound;
	char text[128], *at = NULL;
	struct world w;

	world_new(&w, spec);
	strcpy(text, dead);
	for (char *what = strtok_r(text, ", ", &at); what; what = strtok_r(NULL, ", ", &at))
		take_down(&w, what);
	look(&w);
	all = calloc(w.pods->nleaves, sizeof(*all));
	for (uint32_t a = 0; a < w.pods->nleaves; a++)
		all[a] = servers ? servers[a] : w.pods->leaf[a].nslots;
	must(fors_pods_lanes_read(w.pods, &lanes, &error), &error);
	must(fors_pods_bound(lanes, all, NULL, &bound, &error), &error);
	assert_int_equal(bound, expected);
	assert_witness(lanes, all, bound);
	fors_pods_lanes_free(lanes);
	free(all);
	world_free(&w);
}

TEST(test_cuts)
{
	static const uint32_t uneven[] = {4, 1, 1, 1}, three[] = {1, 0, 1, 1};

	assert_bound("XGFT(3;6,6,8;1,6,6)", "", NULL, 288);
	assert_bound("XGFT(3;6,6,8;1,6,6)", "Leaf00[7]", NULL, 339);  /* 6 (288 - 6) / 5, rounded up */
	assert_bound("XGFT(3;6,6,8;1,6,6)", "Mid2-00[7]", NULL, 288); /* 36 x 252 / 35 is less */
	assert_bound("XGFT(3;4,4,4;1,4,2)", "", NULL, 96);	      /* a pod: 16 x 48 / 8 */
	assert_bound("XGFT(3;4,4,2;1,1,4)", "Mid2-00[5], Mid2-00[6], Mid2-01[7]", NULL, 256); /* one top in common */
	assert_bound("XGFT(3;4,2,2;1,3,2)", "Leaf01[7], Leaf02[7], Leaf03[7]", uneven, 7);    /* P: 4 x 3 / 2 is less */
	assert_bound("XGFT(3;4,2,2;1,2,2)", "Leaf01[6], Leaf02[6], Leaf03[6]", uneven, 12);   /* 4 x 3 over a plane */
	assert_bound("XGFT(3;4,2,2;1,2,2)", "Leaf01", three, 3);
	/* a plane whose mid has no top left leads to no other pod: 4 x 2 over the other, and no more than P without */
	assert_bound("XGFT(3;4,2,2;1,2,2)", "", uneven, 7);
	assert_bound("XGFT(3;4,2,2;1,2,2)", "Mid2-00[3], Mid2-00[4]", uneven, 8);
	assert_bound("XGFT(3;4,2,2;1,2,2)", "Mid2-00[3], Mid2-02[4]", uneven, 8); /* nor one without a top in common */
	assert_bound("XGFT(3;4,2,2;1,2,2)", "Mid2-00[3], Mid2-02[3]", uneven, 7);
}

/* Of parallel cables to a top one is left to each pod, not the same one: what goes up over it comes down over the other's. */
TEST(test_cuts_of_parallel_cables)
{
	assert_bound("PGFT(3;2,1,2;1,1,1;1,1,2)", "Mid2-00[2], Mid2-01[3]", NULL, 4);
	/* 4 x 4 / 2: neither plane is lost */
	assert_bound("PGFT(3;4,1,2;1,2,1;1,2,2)", "Mid2-00[3], Mid2-02[4]", NULL, 8);
}

TEST(test_cables_side_by_side)
{
	static const char *const dead[] = {"", "Leaf05[5]", "Leaf05[7]", "Mid2-02[9]", "Mid2-01"};

	for (unsigned i = 0; i < 5; i++) {
		struct world w;

		world_new(&w, "PGFT(3;4,4,3;1,2,2;1,2,3)");
		if (*dead[i])
			take_down(&w, dead[i]);
		route(&w);
		assert_in_range(plan_over(&w), 48, w.route->bound + 8);
		world_free(&w);
	}
}
