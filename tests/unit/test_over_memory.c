/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_over_memory.c - what a plan over tables takes at most is what was reckoned before.
 *
 * By the bytes that are really in use at a time (faults.h): what it takes to read the ways off the tables, and to write
 * them as a schedule names them, is not more than fors_ways_bytes() says, and not much less. And the limit of a plan is
 * made smaller until there is none any more: each plan that is made is made within its limit.
 */
#include <inttypes.h>

#include "core/planners/flows/routed.h"
#include "core/planners/memory.h"
#include "core/planners/outcome.h"
#include "core/planners/flows/routed_ways.h"
#include "faults.h"
#include "pods_world.h"

#define PATHS 4
#define TABLES (UINT64_C(300) << 10) /* of LIDs and ports, whatever the ways: so small trees tell nothing */

static struct world world_with(const char *spec, unsigned lmc, const char *down)
{
	struct world w = {.known = net_of(spec, lmc)};
	struct fors_error error = {0};

	must(fors_net_copy(w.known, &w.now, &error), &error);
	if (down)
		take_down(&w, down);
	route(&w);
	return w;
}

static void assert_ways(const char *spec, unsigned lmc)
{
	struct world w = world_with(spec, lmc, NULL);
	const struct fors_flows_tables tables = {.net = w.now, .lfts = w.route->lfts, .most_paths = PATHS};
	struct fors_error error = {0};
	struct fors_flows_routed *routed;
	struct fors_waylist *ways;
	uint32_t nservers;
	uint64_t reckoned = fors_ways_bytes(w.now, PATHS, &nservers), most;

	assert_int_equal(nservers, w.route->nservers);
	faults_watch_bytes();
	must(fors_flows_routed_read(&tables, &routed, &error), &error);
	must(fors_flows_waylist(routed, &ways, &error), &error);
	most = (uint64_t)faults_most_bytes();
	if (most > reckoned || (most && 2 * most < reckoned))
		fail_msg("%s, LMC %u: %" PRIu64 " bytes, reckoned %" PRIu64, spec, lmc, most, reckoned);
	fors_waylist_free(ways);
	fors_flows_routed_free(routed);
	world_free(&w);
}

TEST(test_ways)
{
	for (unsigned lmc = 0; lmc <= 3; lmc++) {
		assert_ways("XGFT(3;6,6,8;1,6,6)", lmc);
		assert_ways("XGFT(3;6,6,8;1,3,3)", lmc);
		assert_ways("XGFT(3;4,8,8;1,8,8)", lmc);   /* as many switches above leaves as there are leaves */
		assert_ways("XGFT(3;6,4,12;1,12,4)", lmc); /* and three times as many */
	}
}

static void assert_within(const char *spec, unsigned lmc, const char *down, bool has_rounds)
{
	struct world w = world_with(spec, lmc, down);
	struct fors_request task = {.net = w.now, .lfts = w.route->lfts, .rounds = has_rounds ? w.route : NULL};
	struct fors_error error = {0};
	enum fors_err err = FORS_OK;
	unsigned plans = 0;

	for (task.task.limits.bytes = 64 << 20; !err; task.task.limits.bytes -= task.task.limits.bytes / 8) {
		struct fors_schedule *schedule = NULL;
		struct fors_outcome report;

		faults_watch_bytes();
		err = fors_plan_proven(&task, &schedule, &report, &error);
		if ((uint64_t)faults_most_bytes() > task.task.limits.bytes + TABLES)
			fail_msg("%s: %" PRIi64 " bytes, and the limit is %" PRIu64, spec, faults_most_bytes(),
				 task.task.limits.bytes);
		fors_schedule_free(schedule);
		plans += !err;
	}
	assert_int_equal(err, FORS_ELIMIT);
	assert_true(plans);
	world_free(&w);
}

TEST(test_plans)
{
	assert_within("XGFT(3;4,4,4;1,4,4)", 0, NULL, true);
	assert_within("XGFT(3;4,4,4;1,4,4)", 2, "Mid2-03", true);
	assert_within("XGFT(3;6,6,8;1,6,6)", 0, NULL, true);
	assert_within("XGFT(3;6,6,8;1,6,6)", 0, "Leaf05[7]", true);
	assert_within("XGFT(3;6,6,8;1,6,6)", 0, NULL, false);
	assert_within("XGFT(3;6,6,8;1,6,6)", 2, NULL, true);
}
