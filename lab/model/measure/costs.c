/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* costs.c - see costs.h. */
#include "costs.h"

#include <math.h>

static uint32_t busy_phases(const struct fors_evaluation *e)
{
	uint32_t n = 0;

	for (uint32_t p = 0; p < e->nphases; p++)
		n += e->phase_load[p] > 0;
	return n;
}

double fors_costs_time(const struct fors_evaluation *e, const struct fors_costs *costs)
{
	double time = 0;

	for (uint32_t p = 0; p < e->nphases; p++)
		if (e->phase_load[p])
			time += fmax(e->phase_time[p], e->phase_least[p] / costs->part) * costs->message + costs->phase;
	return e->nbroken ? -1 : time;
}

double fors_costs_share(const struct fors_evaluation *e, const struct fors_costs *costs)
{
	double time = fors_costs_time(e, costs);

	return time > 0 && e->nservers ? (double)e->nflows / e->nservers * costs->message / time : 0;
}

enum fors_err fors_costs_fit(const struct fors_evaluation *e, double share, struct fors_costs *costs,
			     struct fors_error *error)
{
	struct fors_costs free_of_cost = {costs->message, costs->part, 0};
	double now = fors_costs_share(e, &free_of_cost), time = fors_costs_time(e, &free_of_cost);

	if (!(share > 0) || !(now > 0) || share > now)
		return fors_fail(error, FORS_EINPUT,
				 "%.4f of a cable cannot be reached by any cost of a phase: without any it is %.4f",
				 share, now);
	costs->phase = time * (now / share - 1) / busy_phases(e);
	return FORS_OK;
}
