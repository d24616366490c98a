/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lost3.h - other ways for what lost its own, where homes are by number (private to this room and its tests).
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_PODS_LOST3_H
#define FORS_CORE_PLANNERS_PODS_LOST3_H

#include "ways3.h"

/*
 * Entries of path index 0 that are 0, where a slot is not to be reached at home, or a pod lost its way there: another lane and rung for
 * all leaves of a pod, one that no other slot of its pod has for a home, if there is one. `whole`: the tables of the tree that is alive,
 * with homes by number. What is 0 then is to be levelled. Errors: FORS_ENOMEM.
 */
enum fors_err fors_lost3(struct fors_ways3 *ways, const struct fors_ways3 *whole, struct fors_error *error);

#endif
