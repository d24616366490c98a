/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tables.h - linear forwarding tables (LFTs): the type, and how fors fills it.
 * Thread rules: tables and lanes are plain data; any number of readers.
 */
#ifndef FORS_CORE_TABLES_TABLES_H
#define FORS_CORE_TABLES_TABLES_H

#include "core/fabric/fabric.h"

#define FORS_NO_PATH 255 /* OpenSM's OSM_NO_PATH */

/* The LFTs of a set of switches: plain data, from fors, from OpenSM or from a dump. */
struct fors_lfts {
	uint32_t nswitches;
	uint32_t nlids; /* entries per switch: LIDs 0..nlids-1 */
	uint64_t *guid; /* nswitches switch GUIDs, ascending */
	uint8_t *port;	/* nswitches x nlids: port[row * nlids + lid], FORS_NO_PATH: none */
};

/* nswitches x nlids entries, all FORS_NO_PATH, GUIDs 0, or NULL when out of memory. */
struct fors_lfts *fors_lfts_new(uint32_t nswitches, uint32_t nlids);
void fors_lfts_free(struct fors_lfts *lfts);

/* Row of the switch with this GUID, or FORS_NONE. */
uint32_t fors_lfts_row(const struct fors_lfts *lfts, uint64_t guid);

/* Port of an entry; FORS_NO_PATH: none, or no such LID. The row is not checked. */
static inline uint8_t fors_lfts_port(const struct fors_lfts *lfts, uint32_t row, uint32_t lid)
{
	return lid < lfts->nlids ? lfts->port[(size_t)row * lfts->nlids + lid] : FORS_NO_PATH;
}

/*
 * Fill the LFTs of all living switches of the fabric's net (tables.c says which)
 * into *lfts, owned by the caller. A pure function of the places and what is
 * dead: who takes part does not matter, and home-healthy entries never move.
 * Works for any fabric, also without a conflict-free plan, and for leaves
 * without a common spine (those entries are FORS_NO_PATH).
 * Cost: O(leaves x server LIDs), plus O(lanes) per displaced entry.
 * Errors: FORS_ENOMEM.
 */
enum fors_err fors_tables_build(const struct fors_fabric *fabric, struct fors_lfts **lfts, struct fors_error *error);

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
