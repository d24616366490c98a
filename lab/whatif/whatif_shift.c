/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * whatif_shift.c - what is the same under all engines: the linear shift over the tables of a failure, the plan over them.
 */
#include "whatif.h"

#include <stdlib.h>

#include "core/net/lfts.h"
#include "core/planners/outcome.h"
#include "core/schedule/pace.h"
#include "lab/model/measure/evaluate.h"
#include "lab/model/routers/router.h"

/* Flow by flow. */
static enum fors_err evaluate(const struct fors_routes *routes, uint32_t count, struct fors_shift_result *result,
			      struct fors_error *error)
{
	struct fors_pattern *pattern = NULL;
	struct fors_evaluation *evaluation = NULL;
	enum fors_err err = fors_pattern_new("linear-shift", count, NULL, &pattern, error);

	if (!err) {
		struct fors_router router = fors_routes_router(routes);

		err = fors_evaluate(&router, pattern, false, 1, &evaluation, error);
	}
	if (!err)
		*result = (struct fors_shift_result){evaluation->sync_throughput, evaluation->max_link_load,
						     evaluation->nbroken};
	fors_evaluation_free(evaluation);
	fors_pattern_free(pattern);
	return err;
}

enum fors_err whatif_shift(const struct whatif *whatif, const struct fors_shift *like, const struct fors_net *net,
			   const struct fors_lfts *lfts, const struct fors_endpoint *server, uint32_t count,
			   struct whatif_result *result, struct fors_error *error)
{
	struct fors_routes *routes = NULL;
	struct fors_shift_result found = {.nbroken = 0};
	bool is_like = false;
	enum fors_err err = fors_routes_new(net, lfts, server, count, &routes, error);

	if (!err && like)
		err = fors_shift_after(like, routes, &is_like, &found, error);
	if (!err && !is_like)
		err = evaluate(routes, count, &found, error);
	if (!err) {
		result->shift = found.nbroken ? 0 : found.sync_throughput;
		result->max_load = found.max_link_load;
		result->broken = found.nbroken;
	}
	if (!err && whatif->simulate.is_wanted)
		err = whatif_simulate(whatif, net, lfts, server, count, NULL, &result->shift_gbits, error);
	fors_routes_free(routes);
	return err;
}

enum fors_err whatif_shift_intact(struct whatif *whatif, struct fors_error *error)
{
	struct fors_endpoint *server = NULL;
	struct fors_routes *routes = NULL;
	uint32_t count = 0;
	enum fors_err err = whatif_servers(whatif, whatif->intact.net, &server, &count, error);

	if (!err && count)
		err = fors_routes_new(whatif->intact.net, whatif->intact.lfts, server, count, &routes, error);
	if (!err && count)
		err = fors_shift_new(routes, &whatif->shift, error);
	fors_routes_free(routes);
	free(server);
	return err;
}

enum fors_err whatif_plan_over(const struct whatif *whatif, const struct fors_net *net, const struct fors_lfts *lfts,
			       const struct fors_pods_route *rounds, struct whatif_result *result,
			       struct fors_schedule **plan, struct fors_error *error)
{
	const struct fors_request request = {
		.net = net,
		.lfts = lfts,
		.participants = whatif->site.has_participants ? &whatif->site.participants : NULL,
		.rounds = rounds,
	};
	struct fors_schedule *schedule = NULL;
	struct fors_pace pace;
	struct fors_error reason;
	enum fors_err err = fors_plan_proven(&request, &schedule, NULL, &reason);

	if (!err) {
		result->phases = schedule->nphases;
		err = fors_pace_of(net, lfts, schedule, NULL, &pace, &reason);
		result->planned = err ? 0 : schedule->nservers / pace.length;
	} else if (!result->note[0]) {
		snprintf(result->note, sizeof(result->note), "%.255s", reason.text);
	}
	if (err == FORS_ENOMEM || !plan) {
		fors_schedule_free(schedule);
		return err == FORS_ENOMEM ? fors_fail_memory(error) : FORS_OK;
	}
	*plan = schedule;
	return FORS_OK;
}
