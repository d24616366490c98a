/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * check.h - is a plan for a demand right? Each piece is walked through the tables, hop by hop.
 *
 * This shares nothing with the packers but what a demand and a plan are: neither ways nor resources.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_DEMAND_CHECK_H
#define FORS_CORE_DEMAND_CHECK_H

#include "core/net/lfts.h"
#include "core/net/net.h"
#include "demand.h"
#include "plan.h"

struct fors_demand_verdict {
	bool is_right;
	uint64_t nflows;	    /* pieces that were walked */
	char text[FORS_ERROR_TEXT]; /* what is wrong first */
};

/*
 * Does `plan` send what `demand` says, over the tables, with no two pieces of a phase on a cable in one direction, from a server or to one?
 * guid[demand->nservers]: port GUIDs of the servers in `net`, which is indexed. Errors: FORS_ENOMEM.
 */
enum fors_err fors_demand_check(const struct fors_net *net, const struct fors_lfts *lfts, const uint64_t *guid,
				const struct fors_demand *demand, const struct fors_demand_plan *plan,
				struct fors_demand_verdict *verdict, struct fors_error *error);

#endif
