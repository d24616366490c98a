/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * holes.h - LIDs that some hosts cannot send to, in words, and the dead cable whose return would give them a way.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_TABLES_HOLES_H
#define FORS_CORE_TABLES_HOLES_H

#include "core/base/warnings.h"
#include "core/fabric/fattree.h"
#include "reach.h"

/*
 * Say in `warnings` whose LIDs have no path and what to mend. tree: the fabric that the switches are of, NULL: nobody
 * knows what is dead. Cost: nothing if there are no holes; else, once for LIDs of hosts and once for those of switches, a pass
 * over the cables of the tree, and, where no cable would do, one over what is above the two for each switch that is gone.
 * Errors: FORS_ENOMEM.
 */
enum fors_err fors_holes_warn(const struct fors_switches *switches, const struct fors_reach *reach,
			      const struct fors_fattree *tree, struct fors_warnings *warnings,
			      struct fors_error *error);

/*
 * What would join two switches of the tree by a way up, then down: the first dead cable that does so alone, in *cable; or
 * else, as a switch that is gone, with all its cables, in *gone. FORS_NONE: not this; both: more than one has to
 * be mended. Errors: FORS_ENOMEM.
 */
enum fors_err fors_holes_cure(const struct fors_fattree *tree, uint32_t from, uint32_t to, uint32_t *cable,
			      uint32_t *gone, struct fors_error *error);

#endif
