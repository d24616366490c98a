/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * retry.h - a plan over given tables that stays above their bound, tried in other ways. Private to this module and the planners above it.
 * Thread rules: pure; the same problem gives the same packing on any machine.
 */
#ifndef FORS_CORE_PLANNERS_FLOWS_RETRY_H
#define FORS_CORE_PLANNERS_FLOWS_RETRY_H

#include "strategy.h"

/*
 * In whole units, then in parts of them, where *packing, in which nothing waits, is more than a thirty-second above the bound
 * of its ways and asked->known_bound; then, but for a job's, over base LIDs alone, where there are more. *packing becomes the
 * better one. Takes no more memory than fors_flows_pack_bytes() says. Errors: FORS_ECANCELLED, FORS_ENOMEM, with *packing as
 * it was.
 */
enum fors_err fors_flows_retry(const struct fors_flows_problem *problem, const struct fors_flows_asked *asked,
			       bool is_job, struct fors_flows_packing **packing, struct fors_error *error);

/*
 * A plan over path index 0 alone, for which tables are balanced, as a packing of the problem with all of them, in *packing, owned by
 * the caller. Errors: as fors_flows_pack_problem().
 */
enum fors_err fors_flows_pack_first_paths(const struct fors_flows_problem *problem,
					  const struct fors_flows_asked *asked, struct fors_flows_packing **packing,
					  struct fors_error *error);

#endif
