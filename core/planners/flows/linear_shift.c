/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * linear_shift.c - a plan over tables whose homes are by number (core/planners/pods/number.h).
 *
 * Where the linear shift is a plan that is all. Else it is the beginning, in which receivers and senders are busy in all phases:
 * what shares a link waits, is searched for by ejection, and gets a phase more at a time.
 */
#include "linear_shift.h"

#include "lumps.h"
#include "pack.h"
#include "search.h"

#define BEGIN_WORK UINT64_C(1000000) /* words of masks, for what waits */
#define MORE_PHASES 2		     /* than receivers, and */
#define PART_MORE 50		     /* one part of so many, for what waits */

/*
 * In phase t number i sends to number i + t, modulo the receivers, over its first way; of flows that share a link in a phase one
 * is there, the others wait.
 */
static enum fors_err shift(const struct fors_flows_problem *problem, const uint32_t *number,
			   struct fors_flows_packing **packing, struct fors_error *error)
{
	uint32_t n = problem->ndests;
	enum fors_err err = fors_flows_packing_new(problem, n, packing, error);

	if (err)
		return err;
	(*packing)->nwaiting = 0;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t d = 0; d < n; d++) {
			uint32_t t = number[d] >= number[i] ? number[d] - number[i] : number[d] + n - number[i];

			if (!fors_flows_put_if_free(*packing, problem->home[i], d, 0, t))
				(*packing)->waiting[(*packing)->nwaiting++] = problem->home[i] * n + d;
		}
	return FORS_OK;
}

enum fors_err fors_flows_linear_shift(const struct fors_flows_problem *problem, const uint32_t *number,
				      const struct fors_flows_asked *asked, struct fors_flows_packing **packing,
				      struct fors_error *error)
{
	uint32_t n = problem->ndests, most = n + MORE_PHASES + n / PART_MORE;
	enum fors_err err;

	*packing = NULL;
	err = shift(problem, number, packing, error);
	if (err)
		return err;
	if (!asked->limits.steps) /* whoever said how many steps there are gets no more */
		return fors_flows_finish(packing, most, BEGIN_WORK + FORS_FLOWS_WORK_PER_WAITING * (*packing)->nwaiting,
					 asked, error);
	if ((*packing)->nwaiting) {
		fors_flows_packing_free(*packing);
		*packing = NULL;
	}
	return FORS_OK;
}
