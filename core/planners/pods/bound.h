/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bound.h - a lower bound on the phases of any exchange in a three-level tree (private to this module and its tests).
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_PODS_BOUND_H
#define FORS_CORE_PLANNERS_PODS_BOUND_H

#include "core/net/witness.h"
#include "lanes.h"

/*
 * No exchange among `servers` (per leaf, how many take part) over the cables that live has fewer phases, where each carries
 * capacity[port of known] flows in one (NULL: one, which is what tables are made for), whatever the tables, in *bound: cuts around servers, leaves, pods and pairs of pods; UINT32_MAX where one of them is nothing.
 * Errors: FORS_ENOMEM.
 */
enum fors_err fors_pods_bound(const struct fors_pods_lanes *lanes, const uint32_t *servers, const uint8_t *capacity,
			      uint32_t *bound, struct fors_error *error);
/* Why, in *witness (all zero; the caller's to clear): port, a cut, nothing where *bound is UINT32_MAX. Errors: FORS_ENOMEM. */
enum fors_err fors_pods_bound_witness(const struct fors_pods_lanes *lanes, const uint32_t *servers,
				      const uint8_t *capacity, struct fors_witness *witness, struct fors_error *error);

#endif
