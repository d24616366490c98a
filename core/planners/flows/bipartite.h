/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bipartite.h - problems that a colouring solves: the bound of the tables without a search. Private to this room.
 * Thread rules: pure; the same problem gives the same packing on any machine.
 */
#ifndef FORS_CORE_PLANNERS_FLOWS_BIPARTITE_H
#define FORS_CORE_PLANNERS_FLOWS_BIPARTITE_H

#include "pack.h"

/*
 * Pack all tokens into nphases phases by colouring, each unit over its way way[unit], in *packing, owned by the caller
 * (fors_flows_packing_free()), nothing waiting; NULL when these ways are not of that kind (bipartite.c), when links carry more than one token in a phase, when a link of
 * them has more than nphases tokens, or when the graph is too large for a colouring. nphases is at least the number of
 * destinations. cancelled(context) may be NULL. Errors: FORS_ECANCELLED, FORS_ENOMEM; *packing is untouched then.
 */
enum fors_err fors_flows_bipartite(const struct fors_flows_problem *problem, const uint32_t *way, uint32_t nphases,
				   bool (*cancelled)(void *context), void *context, struct fors_flows_packing **packing,
				   struct fors_error *error);

/* Bytes that this takes at most besides the packing; a little more is said. */
uint64_t fors_flows_bipartite_bytes(const struct fors_flows_problem *problem);

#endif
