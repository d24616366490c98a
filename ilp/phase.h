/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * phase.h - the paper's integer programme for one phase, on lp_solve.
 *
 * Thread rules: pure; every call has a model of its own.
 */
#ifndef FORS_ILP_PHASE_H
#define FORS_ILP_PHASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

/* One phase: flows that need a lane each. */
struct fors_ilp_phase {
	uint32_t nleaves, nlanes;
	size_t nflows;
	const uint16_t *from, *to; /* nflows: sending and receiving leaf */
	const bool *allowed;	   /* nflows x nlanes: may the flow take the lane? */
};

/*
 * A lane for each flow in lane[0..nflows-1], so that no lane carries two flows up from one leaf or down to one. Lanes
 * that all flows may take are given out first and only what they cannot take goes into the model; when that has no
 * solution, everything does (is_plain: everything at once). seconds: time limit, whole seconds, at least 1.
 * cancelled(context) may be NULL. Errors: FORS_ENOPLAN (proven: there is no such choice), FORS_ETIMEOUT,
 * FORS_ENOTAPPL (lp_solve gave up for numerical reasons), FORS_ECANCELLED, FORS_ENOMEM; lane[] means nothing then.
 */
enum fors_err fors_ilp_solve_phase(const struct fors_ilp_phase *phase, bool is_plain, unsigned seconds,
				   bool (*cancelled)(void *context), void *context, uint8_t *lane,
				   struct fors_error *error);

#endif
