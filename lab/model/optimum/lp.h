/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lp.h - what the references of shares.h ask of lp_solve (private to this module). Built without it, they have no answer:
 * FORS_ENOTAPPL. Any thread, each with a program of its own.
 */
#ifndef FORS_LAB_MODEL_OPTIMUM_LP_H
#define FORS_LAB_MODEL_OPTIMUM_LP_H

#include "config.h"

#include <stdint.h>

#include "core/base/error.h"

#ifdef HAVE_LPSOLVE
#include <lpsolve/lp_lib.h>

/* Maximise, silently. Errors: FORS_ENOPLAN (lp_solve gave up), FORS_ENOMEM. */
enum fors_err fors_lp_solve(lprec *lp, struct fors_error *error);
#endif

/*
 * The largest x with weight[l] x <= room[l] for all l of 0 .. n-1, in *level.
 * Errors: FORS_ENOPLAN, FORS_ENOTAPPL, FORS_ENOMEM.
 */
enum fors_err fors_lp_level(const double *weight, const double *room, uint32_t n, double *level,
			    struct fors_error *error);

#endif
