/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lids.h - LIDs for a net that has none.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_FABRIC_LIDS_H
#define FORS_CORE_FABRIC_LIDS_H

#include "places.h"

/*
 * Give every port of `net` a LID, as an OpenSM that starts with an empty cache could:
 * CA ports get 2^lmc LIDs each, aligned, servers in (leaf, slot) order (places NULL: none), then the
 * other CA ports, then the switches. When `keep` is set and a cabled CA port has a LID in the net
 * already, nothing changes: those that have none are left without (account.h counts them).
 * Errors: FORS_ELIMIT (LIDs end at 49,151), FORS_EINPUT (two ports of the net share a LID),
 * FORS_ENOMEM; the net is unchanged then.
 */
enum fors_err fors_assign_lids(struct fors_net *net, const struct fors_places *places, unsigned lmc, bool keep,
			       struct fors_error *error);

#endif
