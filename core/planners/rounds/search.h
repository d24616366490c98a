/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * search.h - rounds for the homeless (private to this room and its tests; words: problem.h).
 * Thread rules: any thread, on a packing of its own.
 */
#ifndef FORS_CORE_PLANNERS_ROUNDS_SEARCH_H
#define FORS_CORE_PLANNERS_ROUNDS_SEARCH_H

#include "pack.h"

/*
 * Find rounds for the homeless; give up after `patience` ejections without fewer homeless than ever before. *done says
 * whether nobody is homeless any more. Errors: FORS_ECANCELLED.
 */
enum fors_err fors_rounds_search(struct fors_rounds_packing *packing, uint64_t patience, bool *done,
				 struct fors_error *error);

#endif
