/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * shift.c - a packing that begins with the phases of the linear shift: see shift.h.
 *
 * Receivers and senders are right there from the beginning, all of them busy in each phase, which is what searches for phases as many as
 * receivers end a few tokens short of. Where receivers of near numbers are near each other, and tables spread them over
 * links in turn, few flows of a phase share a link.
 */
#include "shift.h"

enum fors_err fors_flows_shift(const struct fors_flows_problem *problem, const uint32_t *number, uint32_t nphases,
			       struct fors_flows_packing **packing, struct fors_error *error)
{
	uint32_t n = problem->ndests;
	enum fors_err err = fors_flows_packing_new(problem, nphases, packing, error);

	if (err)
		return err;
	(*packing)->nwaiting = 0;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t d = 0; d < n; d++) {
			uint32_t from = number ? number[i] : i, to = number ? number[d] : d, s = problem->home[i];

			if (!fors_flows_put_if_free(*packing, s, d, to >= from ? to - from : to + n - from))
				(*packing)->waiting[(*packing)->nwaiting++] = s * n + d;
		}
	return FORS_OK;
}
