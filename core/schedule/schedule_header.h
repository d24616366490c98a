/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * schedule_header.h - the header of a published schedule, judged by itself: what it is, of which epoch, how large.
 *
 * Thread rules: pure.
 */
#ifndef FORS_CORE_SCHEDULE_SCHEDULE_HEADER_H
#define FORS_CORE_SCHEDULE_SCHEDULE_HEADER_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "schedule_format.h"

/* Sizes of a schedule and of its file, in host order. */
struct fors_schedule_shape {
	uint32_t version;
	enum fors_sf_layout layout;
	uint32_t nservers, nphases, nleaves, nlanes, parts, round_length, npaths;
	uint32_t nswitches, nways, nunits; /* version 2, else 0 */
	uint32_t nrows, cell_size;
	uint64_t servers, lanes, switches, ways, leaves, units, row_crc, cells; /* offsets */
	uint64_t end;								/* of the cells: the size of the file */
};

/* Fill in everything that follows from the first four lines of a possible shape. */
void fors_schedule_find_offsets(struct fors_schedule_shape *shape);

/* What a header says, in host order. */
struct fors_schedule_header {
	uint64_t epoch, fingerprint;
	struct fors_schedule_shape shape;
	uint32_t servers_crc, lanes_crc;
	char method[16], reason[128]; /* always terminated */
	uint64_t fabric_epoch;	      /* this and what follows: version 2, else 0 */
	uint32_t switches_crc, ways_crc, leaves_crc;
	char name[64];
};

/*
 * The header in *header of a file of `file_size` bytes that begins with `bytes`: `size` of them are here, all of it or
 * its first FORS_SCHEDULE_HEADER_BYTES; the rest is not looked at. `name` (a file name) opens error texts. What
 * fors_schedule_decode() accepts has a header that is accepted here, and what is refused here it refuses.
 * Errors: FORS_EINPUT (no schedule, truncated, corrupted, of another byte order or a future version, too long).
 */
enum fors_err fors_schedule_header_read(const void *bytes, size_t size, uint64_t file_size, const char *name,
					struct fors_schedule_header *header, struct fors_error *error);

/* Of the longest header; a file of version 1 can be shorter. */
#define FORS_SCHEDULE_HEADER_BYTES (sizeof(struct fors_sf_header) + sizeof(struct fors_sf_more))

#endif
