/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* simulation_page.c - a simulation as a page: the fabric coloured by what stalled, and the time line. */
#include "simulation.h"

static void times_of(const void *context, uint32_t link, double value[2])
{
	const struct fors_sim_result *r = context;

	value[0] = r->time ? (double)r->link[link].stall / (double)r->time : 0;
	value[1] = r->time ? (double)r->link[link].busy / (double)r->time : 0;
}

json_t *cli_simulation_page(const struct cli_simulation *sim, const struct cli_settings *settings)
{
	json_t *object = json_object();

	json_object_set_new(object, "kind", json_string("simulate"));
	json_object_set_new(object, "result", cli_simulation_json(sim, settings));
	if (cli_analysis_draw(&sim->analysis, times_of, sim->result, object))
		return object;
	json_decref(object);
	return NULL;
}
