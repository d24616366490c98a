/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * linear_shift.h - a plan over tables whose homes are by number. Private to this module and the planners above it.
 * Thread rules: pure; the same problem gives the same packing on any machine.
 */
#ifndef FORS_CORE_PLANNERS_FLOWS_LINEAR_SHIFT_H
#define FORS_CORE_PLANNERS_FLOWS_LINEAR_SHIFT_H

#include "strategy.h"

/*
 * From the linear shift on, in as many phases as there are receivers or a few more; number[]: of each receiver, all
 * from 0 on. In *packing, owned by the caller; NULL: there is none, or an error. Errors: FORS_ECANCELLED, FORS_ENOMEM.
 */
enum fors_err fors_flows_linear_shift(const struct fors_flows_problem *problem, const uint32_t *number,
				      const struct fors_flows_asked *asked, struct fors_flows_packing **packing,
				      struct fors_error *error);

#endif
