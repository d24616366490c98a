/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * shift.h - a packing that begins with the phases of the linear shift. Private to this room and the roof.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_FLOWS_SHIFT_H
#define FORS_CORE_PLANNERS_FLOWS_SHIFT_H

#include "pack.h"

/*
 * In phase t number i sends to number i + t, modulo the receivers; there are at least as many phases as receivers. Flows over their first
 * way; of those that share a link in a phase one is there, the others wait. number[]: per destination, those of a
 * switch in a row, a permutation; NULL: destinations as they are. In *packing, owned by the caller. Errors: FORS_ENOMEM.
 */
enum fors_err fors_flows_shift(const struct fors_flows_problem *problem, const uint32_t *number, uint32_t nphases,
			       struct fors_flows_packing **packing, struct fors_error *error);

#endif
