/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * work.c - running a step of the exact planner on all threads; the caller may stop it, and hears how far it is.
 *
 * Only the first thread, which is the caller's own, ever calls back: what a caller gives may be of one thread. The
 * others see a flag. Progress is in shares of the whole, which a step knows before it begins, so it only grows.
 */
#include "work.h"

bool fors_exact_is_cancelled(struct fors_exact *plan, uint32_t worker)
{
	if (worker == 0 && plan->task->cancelled && plan->task->cancelled(plan->task->context))
		atomic_store(&plan->stop, true);
	return atomic_load(&plan->stop);
}

enum fors_err fors_exact_cancelled(struct fors_error *error)
{
	return fors_fail(error, FORS_ECANCELLED, "planning was cancelled");
}

void fors_exact_tell(struct fors_exact *plan, uint32_t worker, uint32_t item, uint32_t nitems)
{
	if (worker == 0 && plan->task->progress)
		plan->task->progress(plan->task->context, plan->done + plan->share * item / nitems);
}

enum fors_err fors_exact_run(struct fors_exact *plan, uint32_t nitems, fors_work work, double share,
			     struct fors_error *error)
{
	enum fors_err err;

	plan->share = share;
	err = fors_parallel(plan->threads, nitems, work, plan, error);
	plan->done += share;
	return err;
}
