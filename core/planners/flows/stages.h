/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stages.h - a packing in as many phases as there are receivers, in two stages: groups of switches, then switches. Private to this
 * room and the roof.
 * Thread rules: pure; the same problem gives the same packing on any machine.
 */
#ifndef FORS_CORE_PLANNERS_FLOWS_STAGES_H
#define FORS_CORE_PLANNERS_FLOWS_STAGES_H

#include "strategy.h"

/*
 * Over the first ways of a problem with listed ways, in *packing, owned by the caller; few tokens wait where the ways of a group of
 * switches to a receiver are the same from the second link on, and no receiver shares links with others further on. NULL: it has no
 * groups, or an error. asked->number, if it is set, has those of a switch in a row, and those of a group of switches. turn: another one
 * gives another packing, mostly. Errors: FORS_ECANCELLED, FORS_ENOMEM.
 */
enum fors_err fors_flows_stages(const struct fors_flows_problem *problem, const struct fors_flows_asked *asked,
				uint32_t turn, struct fors_flows_packing **packing, struct fors_error *error);

#endif
