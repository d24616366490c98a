/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_families.c - method flows on networks of all kinds, one or two small ones of each: every flow is walked through
 * the tables by a judge of its own (tests/sweep/world.c), and T is no less than the bound of the tables and not far above
 * it. `make flows-sweep` has hundreds.
 */
#include <stdio.h>
#include <stdlib.h>

#include "support.h"

#include "core/planners/flows/strategy.h"
#include "tests/sweep/world.h"

FREES(fors_flows_packing_free, struct fors_flows_packing *)

struct one {
	struct world_wish wish;
	bool is_shuffled;
	unsigned most; /* T, per cent of the bound */
};

/* T of a plan that is right. */
static uint32_t phases_of(const struct world *world, const char *what)
{
	const struct fors_flows_asked asked = {0};
	struct fors_flows_problem problem CLEARED(fors_flows_problem_clear);
	struct fors_flows_packing *packing FREED(fors_flows_packing_free) = NULL;
	struct fors_error error;
	uint32_t phases;

	world_problem(world, &problem);
	if (fors_flows_pack_problem(&problem, &asked, &packing, &error))
		fail_msg("%s: %s", what, error.text);
	if (packing->nwaiting || !world_check(world, packing, what))
		fail_msg("%s: no plan", what);
	phases = packing->nphases;
	return phases;
}

static void try_one(const struct one *one)
{
	struct world world CLEARED(world_clear);
	char what[160];
	uint32_t phases, bound;

	world_name(&one->wish, what, sizeof(what));
	if (!world_make(&world, &one->wish))
		fail_msg("%s cannot be made", what);
	if (one->is_shuffled)
		world_shuffle(&world, 1);
	bound = world_bound(&world);
	phases = phases_of(&world, what);
	if (phases < bound || phases * 100 > bound * one->most)
		fail_msg("%s: %u phases, the tables allow %u", what, phases, bound);
}

TEST(all_kinds)
{
	static const struct one all[] = {
		{{.spec = "FT(2;8,8)", .tables = "d-mod-k"}, false, 100},
		{{.spec = "FT(2;8,8)", .tables = "sssp", .dead = 3}, false, 103},
		{{.spec = "FT(2;5,10;servers=13)", .tables = "d-mod-k", .empty = 30}, false, 103},
		{{.spec = "XGFT(3;4,4,4;1,4,4)", .tables = "d-mod-k"}, false, 100},
		{{.spec = "XGFT(3;4,4,4;1,4,4)", .tables = "d-mod-k"}, true, 110},
		{{.spec = "XGFT(3;4,4,4;1,4,4)", .tables = "up-down", .dead = 3}, false, 103},
		{{.spec = "TORUS(5x5;2)", .tables = "dor"}, false, 115},
		{{.spec = "TORUS(4x4;4)", .tables = "dor"}, true, 120},
		{{.spec = "TORUS(4x4x4;1)", .tables = "shortest"}, false, 115},
		{{.spec = "TORUS(5x5;2)", .tables = "sssp", .dead = 2}, false, 103},
		{{.spec = "CUBE(6;1)", .tables = "dor"}, false, 103},
		{{.spec = "CUBE(5;2)", .tables = "dor"}, true, 120},
		{{.spec = "DRAGONFLY(4,2,9;2)", .tables = "shortest"}, false, 106},
		{{.spec = "DFPLUS(4,2,4,5;4)", .tables = "sssp"}, false, 106},
		{{.spec = "RRG(20,5,3;7)", .tables = "shortest"}, false, 106},
		{{.spec = "RRG(20,5,3;7)", .tables = "up-down", .empty = 20}, false, 106},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		try_one(&all[i]);
}
