/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * costs.h - loads as times, in closed form: a phase takes max(load, 1 / part) t + o.
 *
 * t is the time of a message on an empty cable, load that of the phase's most loaded link in flows, part what an adapter
 * can fill of its cable, and o what each phase costs besides: barriers, latencies, software. With o = 0 and part = 1
 * this is the plain model. o and part are numbers to be fitted to what was measured; nothing here knows them.
 * Thread rules: pure.
 */
#ifndef FORS_LAB_MODEL_MEASURE_COSTS_H
#define FORS_LAB_MODEL_MEASURE_COSTS_H

#include "lab/model/measure/evaluate.h"

struct fors_costs {
	double message; /* t, ns */
	double part;	/* (0, 1] */
	double phase;	/* o, ns */
};

/* The time of all phases in which anybody sends, ns; negative: there is none, as flows do not arrive. */
double fors_costs_time(const struct fors_evaluation *evaluation, const struct fors_costs *costs);
/*
 * What each of `nservers` servers sends, as a part of its cable, on average over that time; 0: nothing, or there is no
 * time.
 */
double fors_costs_share(const struct fors_evaluation *evaluation, const struct fors_costs *costs);
/* costs->phase with which that part is `share`. Errors: FORS_EINPUT (it is less than that without any cost). */
enum fors_err fors_costs_fit(const struct fors_evaluation *evaluation, double share, struct fors_costs *costs,
			     struct fors_error *error);

#endif
