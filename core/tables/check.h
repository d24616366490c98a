/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * check.h - what must be true of tables before any switch gets them.
 *
 *   I1  Nobody is cut off in silence. From every leaf, and every other switch that CAs or a subnet manager are
 *       plugged into, every LID arrives that cables lead to; or it has no path, and a warning says so.
 *   I2  No credit loop. The links that all packets can go over, of all LIDs and path indices together, from CAs
 *       and from switches themselves, never wait for each other in a circle.
 *
 * Thread rules: pure.
 */
#ifndef FORS_CORE_TABLES_CHECK_H
#define FORS_CORE_TABLES_CHECK_H

#include "core/base/warnings.h"
#include "core/fabric/fabric.h"
#include "core/fabric/pods.h"
#include "core/net/lfts.h"

/*
 * Look at the tables of a fabric, by code that knows nothing of how they were filled. What has no path, or goes
 * a long way round, is added to `warnings` (NULL: it is not). *nowhere, unless NULL, is how many entries (switch, LID)
 * have no path. Cost: a pass over all entries, and walks where they are not plain: about what filling them costs.
 * Errors: FORS_ETABLES (I1 or I2 does not hold and nobody has foreseen it: report it as a bug), FORS_ENOMEM.
 */
enum fors_err fors_tables_check(const struct fors_fabric *fabric, const struct fors_lfts *lfts,
				struct fors_warnings *warnings, uint32_t *nowhere, struct fors_error *error);

/*
 * The same of tables in a tree of more levels, level[net->nnodes], leaves 1, 0: no switch, or on no level. What goes up,
 * then down, has to arrive where cables allow that; anything else may have no path. Nothing is said. Errors: the same.
 */
enum fors_err fors_tables_check_levels(const struct fors_net *net, const uint8_t *level, const struct fors_lfts *lfts,
				       uint32_t *nowhere, struct fors_error *error);
/* The same of what lives of a tree of three levels, with what to say (NULL: nothing). Errors: the same. */
enum fors_err fors_tables_check_pods(const struct fors_pods *pods, const struct fors_lfts *lfts,
				     struct fors_warnings *warnings, struct fors_error *error);

#endif
