/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* lp.c - lp_solve, and what a program of a single variable gives. */
#include "lp.h"

#ifndef HAVE_LPSOLVE
enum fors_err fors_lp_level(const double *weight, const double *room, uint32_t n, double *level,
			    struct fors_error *error)
{
	return fors_fail(error, FORS_ENOTAPPL, "fors was built without lp_solve");
}
#else

enum fors_err fors_lp_solve(lprec *lp, struct fors_error *error)
{
	int result;

	set_verbose(lp, NEUTRAL);
	set_maxim(lp);
	result = solve(lp);
	if (result == NOMEMORY)
		return fors_fail_memory(error);
	if (result != OPTIMAL && result != PRESOLVED)
		return fors_fail(error, FORS_ENOPLAN, "lp_solve says %d instead of a rate", result);
	return FORS_OK;
}

enum fors_err fors_lp_level(const double *weight, const double *room, uint32_t n, double *level,
			    struct fors_error *error)
{
	lprec *lp = make_lp(0, 1);
	enum fors_err err = lp ? FORS_OK : fors_fail_memory(error);
	int column = 1;
	REAL one = 1;

	if (!err && (!set_obj_fnex(lp, 1, &one, &column) || !set_add_rowmode(lp, TRUE)))
		err = fors_fail_memory(error);
	for (uint32_t l = 0; l < n && !err; l++) {
		REAL value = weight[l];

		if (weight[l] > 0 && !add_constraintex(lp, 1, &value, &column, LE, room[l]))
			err = fors_fail_memory(error);
	}
	if (!err) {
		set_add_rowmode(lp, FALSE);
		err = fors_lp_solve(lp, error);
	}
	if (!err)
		*level = get_working_objective(lp);
	if (lp)
		delete_lp(lp);
	return err;
}
#endif
