/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pattern.h - a first colouring (private to this room; words: problem.h).
 * Thread rules: any thread, on a packing of its own.
 */
#ifndef FORS_CORE_PLANNERS_ROUNDS_PATTERN_H
#define FORS_CORE_PLANNERS_ROUNDS_PATTERN_H

#include "pack.h"

/*
 * Place units by a pattern that is the same for all leaves; the others become homeless.
 * Errors: FORS_ENOMEM, FORS_ECANCELLED.
 */
enum fors_err fors_rounds_start(struct fors_rounds_packing *packing, struct fors_error *error);

#endif
