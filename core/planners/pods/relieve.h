/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * relieve.h - entries moved from links that carry more than the lower bound (private to this module and its tests).
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_PODS_RELIEVE_H
#define FORS_CORE_PLANNERS_PODS_RELIEVE_H

#include "ways.h"

/*
 * Change entries of path index 0, of leaves for single servers, of mids (those down where they have several cables to a
 * leaf), and of tops that have several cables to a pod, until no link carries more than `most` flows of the exchange of
 * all slots (UINT32_MAX: nothing changes), or until some 300 links per entry were looked at, in_haste 100. What cannot go
 * elsewhere stays. *carries (may be NULL): what the fullest link carries then, or `most` where none carries more. Errors:
 * FORS_ENOMEM.
 */
enum fors_err fors_pods_relieve(struct fors_pods_ways *ways, uint32_t most, bool in_haste, uint32_t *carries,
				struct fors_error *error);

#endif
