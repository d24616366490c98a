/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * closed_form_work.h - what the files of the closed form share (private to closed_form*.c).
 * Thread rules: a form belongs to one call.
 */
#ifndef FORS_CORE_PLANNERS_CLOSED_FORM_WORK_H
#define FORS_CORE_PLANNERS_CLOSED_FORM_WORK_H

#include "core/fabric/fabric.h"
#include "core/planners/method.h"

/* A step of the closed form: what the sender of one rank does in one phase, in every leaf. */
struct fors_form_step {
	uint32_t phase;
	uint16_t leaf_shift; /* how many leaves further on, 1..M1-1 */
	uint16_t label;	     /* n mod M0: which server there */
	uint16_t class;	     /* n mod B: which good lane */
};

struct fors_form {
	const struct fors_task *task;
	const struct fors_fabric *fabric;
	uint32_t m0, m1, f, b;	     /* as in the paper */
	uint32_t nphases;	     /* T */
	uint32_t *leaf;		     /* m1: the leaves that take part */
	uint32_t nsteps;	     /* per rank: P - M0 */
	struct fors_form_step *step; /* m0 x nsteps */
	uint32_t *inside;	     /* m0 x m0: phase of (rank, label), or nphases: the two are the same server */
	uint16_t *rank_of;	     /* m0: rank of a label */
	uint8_t *good;		     /* b: lane of each class */
	unsigned lmc_needed;	     /* for all flows over good[] by home path indices */
	bool is_bare;		     /* who sends to whom and when; no lanes */
};

static inline bool fors_form_cancelled(const struct fors_task *task)
{
	return task->cancelled && task->cancelled(task->context);
}

/*
 * Place the exchange inside leaves, with as few more phases as it can: form->inside, rank_of, and nphases, which may
 * grow. The steps come first. Errors: FORS_ENOMEM, FORS_ECANCELLED.
 */
enum fors_err fors_form_place_inside(struct fors_form *form, struct fors_error *error);

/*
 * A lane for each class: form->good, and lmc_needed for them. rank_of comes first; M1 > 1.
 * Errors: FORS_ENOTAPPL (fewer than B lanes live at all leaves), FORS_ENOMEM.
 */
enum fors_err fors_form_choose_lanes(struct fors_form *form, struct fors_error *error);

#endif
