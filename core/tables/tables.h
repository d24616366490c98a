/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tables.h - how fors fills linear forwarding tables.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_TABLES_TABLES_H
#define FORS_CORE_TABLES_TABLES_H

#include "core/fabric/fabric.h"
#include "core/net/lfts.h"

/*
 * Fill the LFTs of all living switches of the fabric's net (tables.c says which)
 * into *lfts, owned by the caller. A pure function of the places and what is
 * dead: who takes part does not matter, and home-healthy entries never move, but where a link would carry more than it
 * need, in trees that lack cables from the beginning (level_build.c).
 * Works for any fabric, also without a conflict-free plan, and for leaves
 * without a common spine (those entries are FORS_NO_PATH).
 * Cost: O(leaves x server LIDs), plus O(lanes) per displaced entry.
 * Errors: FORS_ENOMEM.
 */
enum fors_err fors_tables_build(const struct fors_fabric *fabric, struct fors_lfts **lfts, struct fors_error *error);

/*
 * In tables of the fabric somebody has moved entries of leaves: path index `index` of each server with
 * is_moved[fabric->nservers] goes up elsewhere, to spines with a cable to the server's leaf. Give these LIDs the detours that
 * are right now, as detours.c finds them: a spine without such a cable, or a leaf that has no spine in common with the
 * server's, may have gone over a leaf whose entry it was. No other entry changes. Cost: nothing where each spine has a cable to
 * the server's leaf. Errors: FORS_ENOMEM.
 */
enum fors_err fors_tables_mend(const struct fors_fabric *fabric, const bool *is_moved, uint32_t index,
			       struct fors_lfts *lfts, struct fors_error *error);

#endif
