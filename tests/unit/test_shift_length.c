/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of core/schedule/shift.c, against the evaluation of the same pattern by lab/model/measure. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#include "core/net/rates.h"
#include "core/schedule/shift.h"
#include "lab/model/measure/evaluate.h"
#include "lab/model/routers/routes.h"

FREES(fors_evaluation_free, struct fors_evaluation *)
FREES(fors_pattern_free, struct fors_pattern *)
FREES(fors_routes_free, struct fors_routes *)

/* Both ways over the tables of the bed; what was found, for whom wants more. */
static struct fors_shift_length check(const struct bed *bed, const struct fors_lfts *lfts)
{
	struct fors_shift_length length;
	struct fors_endpoint *server FREED(free) = NULL;
	struct fors_routes *routes FREED(fors_routes_free) = NULL;
	struct fors_pattern *pattern FREED(fors_pattern_free) = NULL;
	struct fors_evaluation *evaluation FREED(fors_evaluation_free) = NULL;
	struct fors_router router;
	uint16_t lid[256];
	uint32_t count;

	assert_int_equal(fors_endpoints(bed->net, NULL, &server, &count, NULL), FORS_OK);
	assert_true(count <= 256);
	for (uint32_t s = 0; s < count; s++)
		lid[s] = fors_net_port(bed->net, server[s].node, server[s].port)->lid;
	assert_int_equal(fors_routes_new(bed->net, lfts, server, count, &routes, NULL), FORS_OK);
	router = fors_routes_router(routes);
	assert_int_equal(fors_pattern_new("linear-shift", count, NULL, &pattern, NULL), FORS_OK);
	assert_int_equal(fors_evaluate(&router, pattern, false, 1, &evaluation, NULL), FORS_OK);
	assert_int_equal(fors_shift_length(bed->net, lfts, lid, count, NULL, NULL, &length, NULL), FORS_OK);
	assert_int_equal(length.nlost, evaluation->nbroken);
	if (length.nlost)
		assert_true(fors_shift_share(&length) == 0);
	else
		assert_true(fabs(fors_shift_share(&length) - evaluation->sync_throughput) < 1e-9);
	return length;
}

TEST(test_failures)
{
	static const char *const specs[] = {"FT(2;8,6)", "FT(2;4,5;cables=2;servers=7)", "FT(2;6,4;servers=9)",
					    "FT(2;3,1)"};
	struct rng rng = {7};

	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++)
		for (unsigned lmc = 0; lmc < 3; lmc++) {
			struct bed *bed FREED(bed_free) = bed_new(specs[i], lmc);

			check(bed, bed->lfts);
			for (uint32_t n = 1; n < 5; n++) {
				bed_random_failures(bed, &rng, n);
				check(bed, bed->lfts);
			}
		}
}

/* A healthy tree loses nothing; a cable less makes phases longer. */
TEST(test_known)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,4)", 0);
	struct fors_shift_length length = check(bed, bed->lfts);

	assert_int_equal(length.nservers, 16);
	assert_int_equal(length.length, 16);
	bed_down(bed, "Leaf00[5]");
	assert_true(check(bed, bed->lfts).length > 16);
}

/*
 * A server whose cable carries a quarter of what the others' do makes each phase four times as long but that in which
 * all send to themselves; a faster one makes none shorter.
 */
TEST(test_speeds)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,4)", 0);
	struct fors_port *port = fors_net_port(bed->net, bed->fabric->slot[0].node, bed->fabric->slot[0].ca_port);
	struct fors_shift_length length;
	uint16_t lid[16];

	for (uint32_t s = 0; s < 16; s++)
		lid[s] = bed->fabric->slot[s].lid;
	for (uint32_t i = 0; i < bed->net->nports; i++) {
		bed->net->port[i].width = 4;
		bed->net->port[i].speed = FORS_EDR;
	}
	for (unsigned width = 1; width <= 16; width *= 4) {
		port->width = (uint8_t)width;
		assert_int_equal(fors_shift_length(bed->net, bed->lfts, lid, 16, NULL, NULL, &length, NULL), FORS_OK);
		assert_true(fabs(length.length - (width == 1 ? 61 : 16)) < 1e-9);
	}
}

/* Entries that lead nowhere, in circles, or to somebody else: the flows are lost, and nothing else happens. */
TEST(test_wrong_tables)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,4)", 0);
	struct rng rng = {3};
	uint64_t nlost = 0;

	for (unsigned i = 0; i < 200; i++) {
		struct fors_lfts *lfts FREED(fors_lfts_free) = fors_lfts_copy(bed->lfts);

		assert_non_null(lfts);
		for (unsigned n = 0; n < 5; n++) {
			size_t at = rng_below(&rng, lfts->nswitches * lfts->nlids);

			lfts->port[at] = rng_below(&rng, 4) ? (uint8_t)rng_below(&rng, 12) : FORS_NO_PATH;
		}
		nlost += check(bed, lfts).nlost;
	}
	assert_true(nlost > 0);
}

static bool at_once(void *context)
{
	++*(unsigned *)context;
	return true;
}

TEST(test_refused)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;8,16)", 0);
	struct fors_shift_length length = {.length = 77};
	uint16_t lid[128] = {0};
	struct fors_error error;
	unsigned asked = 0;

	assert_int_equal(fors_shift_length(bed->net, bed->lfts, lid, 1, NULL, NULL, &length, &error), FORS_EINPUT);
	assert_non_null(strstr(error.text, "LID 0"));
	for (uint32_t s = 0; s < 128; s++)
		lid[s] = fors_slot(bed->fabric, bed->fabric->server[s].leaf, bed->fabric->server[s].slot)->lid;
	assert_int_equal(fors_shift_length(bed->net, bed->lfts, lid, 128, at_once, &asked, &length, &error),
			 FORS_ECANCELLED);
	assert_int_equal(asked, 1);
	assert_int_equal(length.length, 77);
	assert_int_equal(fors_shift_length(bed->net, bed->lfts, lid, 128, NULL, NULL, &length, &error), FORS_OK);
	assert_int_equal(length.length, 128);
}
