/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When the steps of a sweep were. What the plugin interface of OpenSM 3.3.23 shows, and what stands in for the rest:
 *
 *	trap			reported when OpenSM has woken its sweeper, so perhaps after the sweep's begin. One that comes while a
 *				sweep discovers makes that begin anew, without a word, and is its own; a later one is the next's
 *	sweep, discovered,	reported (HEAVY_SWEEP_START, HEAVY_SWEEP_DONE, the callback)
 *	asked, filled
 *	the last block is sent	not shown. What stands in is when switches confirmed the first and the last changed block (LFT_CHANGE,
 *				which a master does not report in its first sweep); OpenSM sends the next ones as answers come in, so
 *				they differ by one way to a switch and back
 *	confirmed		UCAST_ROUTING_DONE
 *	up			SUBNET_UP
 */
#include "steps.h"

#include <stddef.h>

static void begin(struct fors_steps *steps, double at)
{
	steps->before = steps->last;
	steps->last = (struct fors_steps_of){.number = 0};
	steps->last.at[FORS_STEP_SWEEP] = at;
	steps->last.at[FORS_STEP_TRAP] = steps->trap;
	steps->trap = 0;
}

static void note_trap(struct fors_steps *steps, double at)
{
	double *sweep = steps->last.at;
	bool is_its_own = sweep[FORS_STEP_SWEEP] > 0 && sweep[FORS_STEP_DISCOVERED] <= 0;
	double *first = is_its_own ? &sweep[FORS_STEP_TRAP] : &steps->trap;

	if (*first <= 0)
		*first = at;
}

void fors_steps_note(struct fors_steps *steps, enum fors_step step, double at)
{
	if (step == FORS_STEP_SWEEP)
		begin(steps, at);
	else if (step == FORS_STEP_TRAP)
		note_trap(steps, at);
	else
		steps->last.at[step] = at;
}

void fors_steps_note_filled(struct fors_steps *steps, uint64_t number, double at, double took)
{
	steps->last.number = number;
	steps->last.at[FORS_STEP_FILLED] = at;
	steps->last.at[FORS_STEP_ASKED] = took >= 0 ? at - took : 0;
}

const struct fors_steps_of *fors_steps_find(const struct fors_steps *steps, uint64_t number)
{
	if (number && steps->last.number == number)
		return &steps->last;
	return number && steps->before.number == number ? &steps->before : NULL;
}

double fors_steps_begin(const struct fors_steps_of *sweep)
{
	double trap = sweep->at[FORS_STEP_TRAP], begun = sweep->at[FORS_STEP_SWEEP];

	return trap > 0 && (begun <= 0 || trap < begun) ? trap : begun;
}
