/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * shift.h - the linear shift over tables that differ little from others.
 */
#ifndef FORS_LAB_MODEL_MEASURE_SHIFT_H
#define FORS_LAB_MODEL_MEASURE_SHIFT_H

#include "lab/model/routers/routes.h"

struct fors_shift;

/* What an evaluation of the linear shift says, in short (evaluate.h). */
struct fors_shift_result {
	double sync_throughput; /* negative: flows are lost */
	uint32_t max_link_load;
	uint64_t nbroken;
};

/*
 * The linear shift over these routes, to compare others with, in *shift, owned by the caller; *shift is NULL where it
 * would take too much memory, and where some links are slower than others. The routes are not needed any more afterwards.
 * Errors: FORS_ENOMEM.
 */
enum fors_err fors_shift_new(const struct fors_routes *routes, struct fors_shift **shift, struct fors_error *error);
void fors_shift_free(struct fors_shift *shift);

/*
 * The same over other routes, by what is different: *is_like says whether the two have the same servers in the same
 * places, and nodes with the same ports, so that they can be compared; else nothing is found out. The result is, to
 * the last bit, what fors_evaluate() finds. Any thread.
 * Errors: FORS_ENOMEM.
 */
enum fors_err fors_shift_after(const struct fors_shift *shift, const struct fors_routes *routes, bool *is_like,
			       struct fors_shift_result *result, struct fors_error *error);

#endif
