/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of lab/model/measure/shift.c: what is found by what differs is what an evaluation flow by flow finds.
 */
#include <stdlib.h>
#include <string.h>

#include "support.h"

#include "lab/model/measure/evaluate.h"
#include "lab/model/measure/shift.h"

FREES(fors_evaluation_free, struct fors_evaluation *)
FREES(fors_pattern_free, struct fors_pattern *)

FREES(fors_routes_free, struct fors_routes *)
FREES(fors_shift_free, struct fors_shift *)

static struct fors_routes *routes_of(const struct bed *bed)
{
	struct fors_endpoint *server FREED(free) = NULL;
	struct fors_routes *routes;
	uint32_t count;

	assert_int_equal(fors_endpoints(bed->net, NULL, &server, &count, NULL), FORS_OK);
	assert_int_equal(fors_routes_new(bed->net, bed->lfts, server, count, &routes, NULL), FORS_OK);
	return routes;
}

/* The shift over the bed's tables as they are now, both ways; `like` is of the bed as it was. */
static void assert_same(const struct fors_shift *like, const struct bed *bed)
{
	struct fors_routes *routes FREED(fors_routes_free) = routes_of(bed);
	struct fors_router router = fors_routes_router(routes);
	struct fors_shift_result found;
	struct fors_evaluation *evaluation FREED(fors_evaluation_free) = NULL;
	struct fors_pattern *pattern FREED(fors_pattern_free) = NULL;
	bool is_like = false;

	assert_int_equal(fors_pattern_new("linear-shift", router.graph->nservers, NULL, &pattern, NULL), FORS_OK);
	assert_int_equal(fors_evaluate(&router, pattern, false, 1, &evaluation, NULL), FORS_OK);
	assert_int_equal(fors_shift_after(like, routes, &is_like, &found, NULL), FORS_OK);
	assert_true(is_like);
	assert_true(found.sync_throughput == evaluation->sync_throughput);
	assert_int_equal(found.max_link_load, evaluation->max_link_load);
	assert_int_equal(found.nbroken, evaluation->nbroken);
}

static struct fors_shift *shift_of(const struct bed *bed)
{
	struct fors_routes *routes FREED(fors_routes_free) = routes_of(bed);
	struct fors_shift *shift = NULL;

	assert_int_equal(fors_shift_new(routes, &shift, NULL), FORS_OK);
	assert_non_null(shift);
	return shift;
}

TEST(failures_are_what_an_evaluation_finds)
{
	static const char *const specs[] = {"FT(2;8,6)", "FT(2;4,5;cables=2;servers=7)", "FT(2;6,4;servers=9)",
					    "FT(2;5,4;empty=0/1,2/0,2/1,2/2)", "FT(2;3,7;servers=1)"};
	struct rng rng = {5};

	for (unsigned i = 0; i < 40; i++) {
		struct bed *bed FREED(bed_free) = bed_new(specs[i % 5], i % 2);
		struct fors_shift *shift FREED(fors_shift_free) = shift_of(bed);

		assert_same(shift, bed);
		for (unsigned again = 0; again < 4; again++) {
			bed_random_failures(bed, &rng, 1 + rng_below(&rng, 3));
			assert_same(shift, bed);
		}
		bed_restore(bed);
		assert_same(shift, bed);
	}
}

/* Tables with any port in them: flows that do not arrive, loops, other servers' ports; from broken ones back too. */
TEST(broken_tables)
{
	struct rng rng = {6};

	for (unsigned i = 0; i < 60; i++) {
		struct bed *bed FREED(bed_free) = bed_new("FT(2;4,4;servers=5)", 0);
		struct fors_shift *shift, *broken;

		shift = shift_of(bed);
		for (unsigned k = 0; k < 1 + i; k++)
			bed->lfts->port[rng_below(&rng, bed->lfts->nswitches * bed->lfts->nlids)] =
				(uint8_t)rng_below(&rng, 12);
		assert_same(shift, bed);
		broken = shift_of(bed);
		bed_rebuild(bed);
		assert_same(broken, bed);
		fors_shift_free(broken);
		fors_shift_free(shift);
	}
}

TEST(others_are_not_compared)
{
	struct bed *bed = bed_new("FT(2;4,4)", 0), *other = bed_new("FT(2;4,5)", 0);
	struct fors_shift *shift FREED(fors_shift_free) = shift_of(bed);
	struct fors_routes *routes = routes_of(other);
	struct fors_shift_result result;
	bool is_like = true;

	assert_int_equal(fors_shift_after(shift, routes, &is_like, &result, NULL), FORS_OK);
	assert_false(is_like);
	fors_routes_free(routes);
	fors_net_disconnect(bed->net, bed->fabric->slot[0].node, 1); /* a server less */
	bed_rebuild(bed);
	routes = routes_of(bed);
	assert_int_equal(fors_shift_after(shift, routes, &is_like, &result, NULL), FORS_OK);
	assert_false(is_like);
	fors_routes_free(routes);
	bed_free(bed);
	bed_free(other);
}
