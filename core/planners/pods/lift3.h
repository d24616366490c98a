/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lift3.h - cohorts and ways for all items anew, where many tops or their cables are dead (private to this room).
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_PODS_LIFT3_H
#define FORS_CORE_PLANNERS_PODS_LIFT3_H

#include "cohorts.h"

/*
 * Can it be done, and is it worth while: is the tree regular, with a lane for each server of a leaf, each to a plane of
 * its own, and a top for each rung; and do all cables of leaves live?
 */
bool fors_lift3_applies(const struct fors_lanes3 *lanes);

/*
 * Place the items of a tree in cohorts, as many as nrounds rounds make, npods at least, and write their rounds and
 * ways; what found no place has no entries at leaves. nrounds: what the bound asks for; where it makes no whole number
 * of cohorts, some are longer than others, if all items find a place so, in ntries tries. The tree is one to which it
 * applies. Errors: FORS_ENOMEM, FORS_ENOPLAN (never).
 */
enum fors_err fors_lift3(struct fors_cohorts *cohorts, struct fors_ways3 *ways, uint32_t nrounds, uint32_t ntries,
			 struct fors_error *error);

#endif
