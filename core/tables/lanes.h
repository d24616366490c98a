/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lanes.h - the tables read back as lanes, which is how planners see them.
 * Thread rules: plain data; any number of readers.
 */
#ifndef FORS_CORE_TABLES_LANES_H
#define FORS_CORE_TABLES_LANES_H

#include "core/fabric/fabric.h"
#include "core/net/lfts.h"
#include "core/net/witness.h"

/*
 * The lanes that the tables use, for planners:
 * up[leaf * nlids + lid]: the uplink lane of the leaf's entry for that LID,
 * down[spine * nlids + lid]: the downlink lane of the spine's entry for it (with
 * single cables the same lane; with parallel ones the other cable where one is dead);
 * FORS_NO_LANE where the entry is no live leaf-spine cable (local port, none, dead port).
 */
struct fors_lanes {
	uint32_t nlids;
	uint8_t *up;
	uint8_t *down;
};
/* Read them off `lfts` into *lanes, owned by the caller. Errors: FORS_ENOMEM. */
enum fors_err fors_lanes_read(const struct fors_fabric *fabric, const struct fors_lfts *lfts, struct fors_lanes **lanes,
			      struct fors_error *error);
void fors_lanes_free(struct fors_lanes *lanes);

/*
 * No conflict-free plan over the base LIDs' entries has fewer phases: max(P, flows of a link / its capacity), in *bound.
 * Errors: FORS_ENOMEM.
 */
enum fors_err fors_lanes_bound(const struct fors_fabric *fabric, const struct fors_lanes *lanes, uint64_t *bound,
			       struct fors_error *error);
/* Why, in *witness (all zero; the caller's to clear): port, or a link. Errors: FORS_ENOMEM. */
enum fors_err fors_lanes_witness(const struct fors_fabric *fabric, const struct fors_lanes *lanes,
				 struct fors_witness *witness, struct fors_error *error);

/* Uplink lane of the way from `leaf` to path index `index` of server d; d not under leaf. */
static inline uint8_t fors_lane_to(const struct fors_fabric *fabric, const struct fors_lanes *lanes, uint32_t leaf,
				   uint32_t d, uint32_t index)
{
	return lanes->up[(size_t)leaf * lanes->nlids + fabric->server[d].lid + index];
}

/* Lane of the last hop to path index `index` of server d for what comes up over `lane`. */
static inline uint8_t fors_lane_down(const struct fors_fabric *fabric, const struct fors_lanes *lanes, uint32_t lane,
				     uint32_t d, uint32_t index)
{
	return lanes->down[(size_t)fabric->lane[lane].spine * lanes->nlids + fabric->server[d].lid + index];
}

/*
 * The path index whose way from `leaf` to server d goes up over the lane `up` and
 * down over the lane `down` (of the same spine), or FORS_NO_INDEX. The home lane's
 * own index comes first (O(1) where it lives at both ends), else the smallest.
 */
#define FORS_NO_INDEX 255
uint8_t fors_path_index(const struct fors_fabric *fabric, const struct fors_lanes *lanes, uint32_t leaf, uint32_t d,
			uint32_t up, uint32_t down);

#endif
