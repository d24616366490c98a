/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * together.h - several jobs at the same time, each with a clock of its own: how fast does each get on?
 * Thread rules: pure; one thread each.
 */
#ifndef FORS_LAB_MODEL_MEASURE_TOGETHER_H
#define FORS_LAB_MODEL_MEASURE_TOGETHER_H

#include "lab/model/patterns/pattern.h"
#include "lab/model/routers/router.h"

/* A job at work: it goes through the phases of its pattern again and again. */
struct fors_running {
	const struct fors_pattern
		*pattern;	/* of `count` servers, numbered from 0; NULL: it sends nothing, its speed is 0 */
	const uint32_t *server; /* which of the router's they are */
	uint32_t count;
	/*
	 * 0: a phase begins when all messages of the one before have arrived. Else nobody waits for a phase: each server
	 * has so many messages under way, in the order of the phases.
	 */
	uint32_t window;
};

struct fors_together_options {
	uint64_t seed;	 /* when each job begins, and at which phase */
	uint32_t phases; /* that each job goes through at least; 0: all of its pattern */
};

struct fors_together {
	double *speed;	  /* per job: 1 is a message per server and unit of time, as over an ideal network; owned */
	double time;	  /* that was simulated; a message over a free cable of full speed takes 1 */
	uint64_t nevents; /* times at which rates changed */
	uint64_t nbroken; /* messages that do not arrive; their job has speed 0 */
	uint32_t njobs;
};

/*
 * Let the jobs run beside one another, all messages with their max-min fair rates, until each has gone through options->phases
 * phases, in *result, owned by the caller (fors_together_clear()). A phase in which nobody of a job sends takes it 1, as in
 * the throughput of one exchange (evaluate.h). Errors: FORS_ENOMEM.
 */
enum fors_err fors_run_together(const struct fors_router *router, const struct fors_running *job, uint32_t njobs,
				const struct fors_together_options *options, struct fors_together *result,
				struct fors_error *error);
void fors_together_clear(struct fors_together *result);

#endif
