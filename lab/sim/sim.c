/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* sim.c - a simulation from its beginning to its end, and what is said of it. */
#include "sim.h"

#include <stdlib.h>

#include "qcn.h"
#include "state.h"

#define EVENTS_A_LOOK ((uint64_t)1 << 18) /* between two calls of progress() */

struct fors_sim_settings fors_sim_defaults(void)
{
	return (struct fors_sim_settings){.message = 65536,
					  .mtu = 4096,
					  .header = 30,
					  .buffer = 65536,
					  .nvls = 1,
					  .wire = 30000,
					  .switching = 100000,
					  .adapter_rate = 1,
					  .watch = FORS_NONE,
					  .qcn = {false, 20000, 150000, 15000000000},
					  .switch_ar = {FORS_LEVEL_SUM, 250000000000},
					  .has_barrier = true,
					  .token = 1000000,
					  .ahead = 1};
}

static enum fors_err result_new(const struct fors_router *router, const struct fors_program *program,
				const struct fors_sim_settings *set, struct fors_sim_result **result,
				struct fors_error *error)
{
	struct fors_sim_result *r = calloc(1, sizeof(*r));

	if (!r)
		return fors_fail_memory(error);
	r->nlinks = router->graph->nlinks;
	r->nsteps = program->nsteps;
	r->link = calloc(r->nlinks + (size_t)1, sizeof(*r->link));
	r->step = set->has_barrier ? calloc(r->nsteps + (size_t)1, sizeof(*r->step)) : NULL;
	if (!r->link || (set->has_barrier && !r->step)) {
		fors_sim_result_free(r);
		return fors_fail_memory(error);
	}
	for (uint32_t i = 0; r->step && i < r->nsteps; i++)
		r->step[i].link = r->step[i].full = FORS_NONE;
	*result = r;
	return FORS_OK;
}

void fors_sim_result_free(struct fors_sim_result *result)
{
	if (!result)
		return;
	free(result->step);
	free(result->link);
	free(result->cycle);
	free(result);
}

static void tell(const struct sim *sim)
{
	size_t all = fors_program_nmessages(sim->program);

	if (sim->settings->progress)
		sim->settings->progress(sim->settings->context, all ? 1 - (double)sim->messages_left / (double)all : 1);
}

/* Of memory: something that should have happened will not. */
static bool is_short(const struct sim *sim)
{
	return sim->is_out_of_memory || sim->calendar->is_full;
}

static enum fors_err loop(struct sim *sim, struct fors_error *error)
{
	struct fors_calendar_event event = {0};
	uint64_t n = 0;

	fors_sim_traffic_begin(sim);
	while (!is_short(sim) && fors_calendar_take(sim->calendar, &event)) {
		if ((event.what & ((1u << SIM_WHAT_BITS) - 1)) < SIM_TURN)
			fors_sim_switch_event(sim, &event);
		else if (event.what < SIM_NOTICE)
			fors_sim_traffic_event(sim, &event);
		else
			fors_qcn_event(sim, &event);
		if (++n % EVENTS_A_LOOK == 0)
			tell(sim);
	}
	if (is_short(sim))
		return fors_fail_memory(error);
	sim->result->nevents = n;
	return sim->messages_left ? fors_sim_find_deadlock(sim, error) : FORS_OK;
}

enum fors_err fors_simulate(const struct fors_router *router, const struct fors_program *program,
			    const struct fors_sim_settings *settings, struct fors_sim_result **result,
			    struct fors_error *error)
{
	struct sim sim = {.router = router, .program = program, .settings = settings};
	enum fors_err err = fors_sim_build(&sim, error);

	sim.messages_left = fors_program_nmessages(program);
	if (!err)
		err = result_new(router, program, settings, &sim.result, error);
	if (!err)
		err = loop(&sim, error);
	if (!err)
		fors_sim_finish(&sim);
	fors_sim_clear(&sim);
	if (err)
		fors_sim_result_free(sim.result);
	else
		*result = sim.result;
	return err;
}

/* ---- rates ---- */

double fors_sim_gbits(const struct fors_sim_result *result, uint32_t nservers)
{
	double bits = 8. * (double)result->bytes;
	return result->time && nservers ? bits / nservers / ((double)result->time / 1000) : 0;
}

enum fors_err fors_sim_fit(const struct fors_sim_result *result, uint32_t nservers, double gbits, uint64_t *barrier,
			   struct fors_error *error)
{
	double now = fors_sim_gbits(result, nservers), missing;

	if (!result->nsteps || !(gbits > 0) || gbits > now)
		return fors_fail(error, FORS_EINPUT,
				 "%g Gbit/s cannot be reached by any cost of barriers: without any it is %g", gbits,
				 now);
	missing = (double)result->time * (now / gbits - 1) / result->nsteps;
	*barrier = (uint64_t)(missing + 0.5);
	return FORS_OK;
}
