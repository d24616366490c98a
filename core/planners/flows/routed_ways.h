/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * routed_ways.h - the ways of a problem as a schedule names them.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_FLOWS_ROUTED_WAYS_H
#define FORS_CORE_PLANNERS_FLOWS_ROUTED_WAYS_H

#include "routed.h"
#include "core/schedule/ways.h"

/*
 * The ways of all (switch, server, path index) in *ways, owned by the caller (fors_waylist_free()), with their topmost
 * switches where the net is a tree. Errors: FORS_ELIMIT, FORS_ENOMEM.
 */
enum fors_err fors_flows_waylist(const struct fors_flows_routed *routed, struct fors_waylist **ways,
				 struct fors_error *error);

#endif
