/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lumps.h - packings in lumps of several tokens. Private to this module.
 * Thread rules: pure; the same problem gives the same packing on any machine.
 */
#ifndef FORS_CORE_PLANNERS_FLOWS_LUMPS_H
#define FORS_CORE_PLANNERS_FLOWS_LUMPS_H

#include "strategy.h"

/*
 * *packing becomes one of smaller lumps (or tokens, as the problem says, all else being equal), in nphases phases of
 * those; what was waiting may have found room. Errors: FORS_ENOMEM, with *packing as it was.
 */
enum fors_err fors_flows_refine(const struct fors_flows_problem *problem, uint32_t nphases,
				struct fors_flows_packing **packing, struct fors_error *error);

#define FORS_FLOWS_LUMP_WORK                                                                                           \
	400 /* words of masks for each lump, in a search: in twice as many next to nothing more is found */

/*
 * Search for phases for what waits, with so much work, and again with a phase more (of lumps as it has them) as long as there
 * are fewer than `most`. *packing becomes NULL when something waits still. Of `asked` only cancelled() counts. Errors:
 * FORS_ECANCELLED, FORS_ENOMEM; *packing is freed and NULL then, too.
 */
enum fors_err fors_flows_finish(struct fors_flows_packing **packing, uint32_t most, uint64_t budget,
				const struct fors_flows_asked *asked, struct fors_error *error);

#endif
