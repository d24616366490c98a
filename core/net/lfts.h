/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lfts.h - linear forwarding tables (LFTs) as data: of any switches, whoever made them.
 * Thread rules: plain data; any number of readers.
 */
#ifndef FORS_CORE_NET_LFTS_H
#define FORS_CORE_NET_LFTS_H

#include "net.h"

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
/* A copy, or NULL when out of memory. */
struct fors_lfts *fors_lfts_copy(const struct fors_lfts *lfts);
void fors_lfts_free(struct fors_lfts *lfts);

/* Row of the switch with this GUID, or FORS_NONE. */
uint32_t fors_lfts_row(const struct fors_lfts *lfts, uint64_t guid);
/* The ports of that row, by LID; NULL: there is none. */
static inline uint8_t *fors_lfts_row_at(const struct fors_lfts *lfts, uint64_t guid)
{
	uint32_t row = fors_lfts_row(lfts, guid);

	return row == FORS_NONE ? NULL : lfts->port + (size_t)row * lfts->nlids;
}

/* Port of an entry; FORS_NO_PATH: none, or no such LID. The row is not checked. */
static inline uint8_t fors_lfts_port(const struct fors_lfts *lfts, uint32_t row, uint32_t lid)
{
	return lid < lfts->nlids ? lfts->port[(size_t)row * lfts->nlids + lid] : FORS_NO_PATH;
}

#endif
