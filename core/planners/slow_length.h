/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * slow_length.h - how long an exchange takes about where some cables are slow, before anybody plans it.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_SLOW_LENGTH_H
#define FORS_CORE_PLANNERS_SLOW_LENGTH_H

#include "core/fabric/fattree.h"

/* The time of an exchange. */
struct fors_slow_length {
	double length; /* in phases at full speed; negative: there is none, leaves are cut off or nobody takes part */
	double phases; /* of it */
	bool is_slow;  /* some of them take longer than at full speed */
};

/*
 * The time of the exchange over the cables that live, in *length; `full` is fors_fattree_full(). Errors: FORS_ENOMEM.
 */
enum fors_err fors_slow_length(const struct fors_fattree *tree, uint32_t full, struct fors_slow_length *length,
			       struct fors_error *error);

#endif
