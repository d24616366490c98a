/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fabric in time, short of memory: each allocation fails once, and says so; nothing is lost, nothing is left behind. */
#include "sims.h"

#include <stdlib.h>

#include "faults.h"
#include "lab/model/measure/spread.h"

FREES(fors_blocks_free, struct fors_blocks *)
FREES(fors_hops_free, struct fors_hops *)
FREES(fors_pattern_free, struct fors_pattern *)
FREES(fors_sim_result_free, struct fors_sim_result *)
FREES(fors_spread_free, struct fors_spread *)

static struct fors_error error;

/* Blocks, and loads by chance. */
static enum fors_err by_chance(const struct fors_router *router, const struct fors_hops *hops)
{
	uint32_t block_of[9] = {0};
	struct fors_blocks *blocks FREED(fors_blocks_free) = NULL;
	struct fors_pattern *pattern FREED(fors_pattern_free) = NULL;
	struct fors_spread *spread FREED(fors_spread_free) = NULL;
	enum fors_err err = fors_blocks_new(router->graph, block_of, 1, &blocks, &error);

	if (!err)
		err = fors_pattern_new("xor", 8, NULL, &pattern, &error);
	if (!err)
		err = fors_spread_loads(router, hops, blocks, FORS_SPREAD_VLB, pattern, &spread, &error);
	assert_true((err == FORS_OK) == (spread != NULL));
	return err;
}

/* Servers and switches that heed notifications. */
static enum fors_err with_notices(const struct fors_router *router, const struct fors_program *program,
				  struct fors_sim_settings set)
{
	struct fors_sim_result *result FREED(fors_sim_result_free) = NULL;
	enum fors_err err;

	set.policy = FORS_POLICY_SWITCH_AR;
	set.qcn.has_limiters = true;
	set.qcn.equilibrium = 100;
	set.qcn.sample = 1000;
	err = fors_simulate(router, program, &set, &result, &error);
	assert_true(err || result->nnotices > 0);
	return err;
}

/* A program, next hops and a run; what became of them. */
static enum fors_err all_of_it(const struct hand *star, const double *gbits)
{
	const struct fors_router router = hand_router(star);
	struct fors_sim_settings set = fors_sim_defaults();
	struct fors_offer offer[8];
	struct fors_program *load = NULL, *program = NULL;
	struct fors_hops *hops FREED(fors_hops_free) = NULL;
	struct fors_sim_result *result = NULL;
	enum fors_err err = fors_program_load(8, 400, 2000000, FORS_NONE, 1, &load, &error);

	for (unsigned s = 0; s < 8; s++)
		offer[s] = (struct fors_offer){2000000, 0, 0, 400};
	if (!err)
		err = fors_program_offer(load, offer, 1, &program, &error);
	if (!err)
		err = fors_hops_new(star->graph, false, &hops, &error);
	set.gbits = gbits;
	set.has_barrier = false;
	set.buffer = 1 << 20;
	set.policy = FORS_POLICY_ADAPTIVE;
	set.adaptive.binding = 1000000;
	set.hops = hops;
	if (!err)
		err = by_chance(&router, hops);
	if (!err)
		err = fors_simulate(&router, program, &set, &result, &error);
	assert_true((err == FORS_OK) == (result != NULL));
	fors_sim_result_free(result);
	if (!err)
		err = with_notices(&router, program, set);
	fors_program_free(program);
	fors_program_free(load);
	return err;
}

TEST(each_allocation_fails_once)
{
	struct hand star;
	double *gbits;
	uint64_t n = 0;
	bool happened = true;

	hand_star(&star, 8);
	gbits = sims_speeds(star.graph, 200);
	while (happened) {
		int64_t live = faults_live();
		enum fors_err err;

		faults_arm(++n, false);
		err = all_of_it(&star, gbits);
		happened = faults_off();
		assert_int_equal(err, happened ? FORS_ENOMEM : FORS_OK);
		assert_int_equal(faults_live(), live);
	}
	assert_in_range(n, 20, 200);
	assert_false(faults_leaked());
	free(gbits);
	fors_graph_free(star.graph);
}

/* A deadlock has to be found in memory too. */
TEST(deadlocks_need_memory)
{
	struct hand ring;
	double *gbits;
	struct fors_router router;
	struct fors_program *program = sims_text("0 3\n1 0\n2 1\n3 2\n", 4);
	struct fors_sim_settings set = fors_sim_defaults();
	bool happened = true;

	hand_ring(&ring, 4, 3);
	router = hand_router(&ring);
	set.gbits = gbits = sims_speeds(ring.graph, 200);
	set.buffer = 5000;
	for (uint64_t n = 1; happened; n++) {
		struct fors_sim_result *result FREED(fors_sim_result_free) = NULL;
		enum fors_err err;

		faults_arm(n, false);
		err = fors_simulate(&router, program, &set, &result, &error);
		happened = faults_off();
		assert_int_equal(err, happened ? FORS_ENOMEM : FORS_OK);
		assert_true(happened ? !result : result->ncycle == 4);
	}
	free(gbits);
	fors_program_free(program);
	fors_graph_free(ring.graph);
}
