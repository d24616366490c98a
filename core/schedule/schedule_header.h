/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * schedule_header.h - the header of a published schedule, judged by itself: what it is, of which epoch, how large.
 *
 * Thread rules: pure.
 */
#ifndef FORS_CORE_SCHEDULE_SCHEDULE_HEADER_H
#define FORS_CORE_SCHEDULE_SCHEDULE_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "schedule_format.h"

/* Sizes of a schedule and of its file, in host order. */
struct fors_schedule_shape {
	uint32_t version;
	enum fors_sf_layout layout;
	uint32_t nservers, nphases, nleaves, nlanes, parts, round_length, npaths;
	uint32_t nswitches, nways, nunits; /* versions 2 and 3, else 0 */
	uint32_t nrows, cell_size;
	uint64_t lengths, servers, lanes, switches, ways, leaves, units, row_crc, cells; /* offsets */
	uint64_t end; /* of the cells: the size of the file */
};

/* Has a version names, ways and units? Has it lengths and sizes? */
static inline bool fors_schedule_has_ways(uint32_t version)
{
	return version >= FORS_SF_VERSION_WAYS;
}

static inline bool fors_schedule_has_sizes(uint32_t version)
{
	return version >= FORS_SF_VERSION_SIZES;
}

/* Layouts in which each cell has a service level of its own, and units have none. */
static inline bool fors_schedule_has_sl_in_cells(const struct fors_schedule_shape *shape)
{
	return fors_schedule_has_ways(shape->version) &&
	       (shape->layout == FORS_SF_DENSE || shape->layout == FORS_SF_PIECES);
}

/* Fill in everything that follows from the first four lines of a possible shape. */
void fors_schedule_find_offsets(struct fors_schedule_shape *shape);

/* What a header says, in host order. */
struct fors_schedule_header {
	uint64_t epoch, fingerprint;
	struct fors_schedule_shape shape;
	uint32_t servers_crc, lanes_crc;
	char method[16], reason[128]; /* always terminated */
	uint64_t fabric_epoch;	      /* this and what follows: versions 2 and 3, else 0 */
	uint32_t switches_crc, ways_crc, leaves_crc;
	char name[64];
	uint64_t granule; /* this and what follows: version 3, else 0 */
	uint32_t is_unit, lengths_crc;
};

/*
 * The header in *header of a file of `file_size` bytes that begins with `bytes`: `size` of them are here, all of it or
 * its first FORS_SCHEDULE_HEADER_BYTES; the rest is not looked at. `name` (a file name) opens error texts. What
 * fors_schedule_decode() accepts has a header that is accepted here, and what is refused here it refuses.
 * Errors: FORS_EINPUT (no schedule, truncated, corrupted, of another byte order or a future version, too long).
 */
enum fors_err fors_schedule_header_read(const void *bytes, size_t size, uint64_t file_size, const char *name,
					struct fors_schedule_header *header, struct fors_error *error);

/* Of the longest header; a file of version 1 or 2 can be shorter. */
#define FORS_SCHEDULE_HEADER_BYTES                                                                                     \
	(sizeof(struct fors_sf_header) + sizeof(struct fors_sf_more) + sizeof(struct fors_sf_sizes))

#endif
