/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * number.h - homes by number, in trees that are not regular (private to this module and its tests).
 *
 * Slots are numbered by pod, then leaf, then port: 0 .. nslots - 1. Homes follow from numbers, the same for all pods.
 *
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_PODS_NUMBER_H
#define FORS_CORE_PLANNERS_PODS_NUMBER_H

#include "ways.h"

/* Per slot its number, owned by the caller; NULL: out of memory. */
uint32_t *fors_pods_number(const struct fors_pods *pods);

/*
 * Tables with homes by number, level, in *ways, owned by the caller; `lanes` has other homes, and is borrowed. nindices: as in
 * fors_pods_ways_home(). *shifts: all is at home if all lives, and no two flows share a link in any phase t in which number i sends to number i + t,
 * modulo nslots. Errors: FORS_ENOMEM.
 */
enum fors_err fors_pods_number_ways(const struct fors_pods_lanes *lanes, uint32_t nindices,
				    struct fors_pods_ways **ways, bool *shifts, struct fors_error *error);

#endif
