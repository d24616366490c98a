/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* whatif_simulate.c - what a failure leaves in Gbit/s: the plan, or the linear shift, packet by packet (lab/sim/). */
#include "whatif.h"

#include <stdlib.h>

#include "lab/simulate/simulation.h"

static enum fors_err program_of(const struct fors_schedule *plan, uint32_t count, struct fors_program **program,
				struct fors_error *error)
{
	struct fors_pattern *pattern = NULL;
	enum fors_err err = plan ? fors_pattern_plan(plan, &pattern, error)
				 : fors_pattern_new("linear-shift", count, NULL, &pattern, error);

	if (!err)
		err = fors_program_of(pattern, count, program, error);
	fors_pattern_free(pattern);
	return err;
}

static double *speeds_of(const struct whatif *whatif, const struct fors_routes *routes)
{
	double *gbits = malloc((routes->graph->nlinks + (size_t)1) * sizeof(*gbits));

	for (uint32_t l = 0; gbits && l < routes->graph->nlinks; l++)
		gbits[l] = cli_analysis_speed(&whatif->simulate, routes, l);
	return gbits;
}

/* The same, with the result and its settings, but that these no longer have speeds. */
static enum fors_err simulate(const struct whatif *whatif, const struct fors_routes *routes,
			      const struct fors_program *program, struct fors_sim_settings *set,
			      struct fors_sim_result **result, struct fors_error *error)
{
	const struct fors_router router = fors_routes_router(routes);
	double *gbits = speeds_of(whatif, routes);
	enum fors_err err;

	*set = cli_simulation_settings(&whatif->simulate, gbits);
	err = gbits ? fors_simulate(&router, program, set, result, error) : fors_fail_memory(error);
	set->gbits = NULL;
	free(gbits);
	return err;
}

static double gbits_of(const struct fors_sim_result *result, uint32_t count)
{
	return result->ncycle || result->nbroken ? 0 : fors_sim_gbits(result, count);
}

enum fors_err whatif_simulate(const struct whatif *whatif, const struct fors_net *net, const struct fors_lfts *lfts,
			      const struct fors_endpoint *server, uint32_t count, const struct fors_schedule *plan,
			      double *gbits, struct fors_error *error)
{
	struct fors_routes *routes = NULL;
	struct fors_program *program = NULL;
	struct fors_sim_settings set;
	struct fors_sim_result *result = NULL;
	enum fors_err err = fors_routes_new(net, lfts, server, count, &routes, error);

	if (!err)
		err = program_of(plan, count, &program, error);
	if (!err)
		err = simulate(whatif, routes, program, &set, &result, error);
	if (!err)
		*gbits = gbits_of(result, count);
	fors_sim_result_free(result);
	fors_program_free(program);
	fors_routes_free(routes);
	return err;
}

/* The simulation of the intact fabric gives the rate without any cost; the rest of a measured one is the barrier's. */
static enum fors_err fit(struct whatif *whatif, const struct fors_routes *routes, double gbits,
			 struct fors_error *error)
{
	struct fors_program *program = NULL;
	struct fors_sim_settings set;
	struct fors_sim_result *result = NULL;
	enum fors_err err = program_of(NULL, routes->graph->nservers, &program, error);

	if (!err)
		err = simulate(whatif, routes, program, &set, &result, error);
	if (!err)
		err = fors_sim_fit(result, routes->graph->nservers, gbits, &whatif->simulate.barrier.value, error);
	whatif->simulate.barrier.is_given = !err;
	fors_sim_result_free(result);
	fors_program_free(program);
	return err;
}

int whatif_fit(struct whatif *whatif, double gbits)
{
	struct fors_error error = {0};
	struct fors_endpoint *server = NULL;
	struct fors_routes *routes = NULL;
	uint32_t count = 0;
	enum fors_err err = whatif_servers(whatif, whatif->intact.net, &server, &count, &error);

	if (!err)
		err = fors_routes_new(whatif->intact.net, whatif->intact.lfts, server, count, &routes, &error);
	if (!err)
		err = fit(whatif, routes, gbits, &error);
	fors_routes_free(routes);
	free(server);
	return err ? cli_fail(&error) : CLI_GOOD;
}
