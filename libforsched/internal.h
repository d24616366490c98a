/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * internal.h - what the files of libforsched share.
 *
 * A schedule open is its head (header, servers, lanes, checksums of rows: read and checked at open, constant from
 * then on) and the rows that somebody asked for. Both layouts of the file become the same kind of row, so a
 * look-up knows nothing of layouts.
 */
#ifndef FORSCHED_INTERNAL_H
#define FORSCHED_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>

#include "core/schedule/schedule_format.h"
#include "forsched.h"

/* Where bytes come from: a file, or memory of the caller. */
struct source {
	char *name;		   /* opens error texts; of a file: its path, for opening it again */
	const unsigned char *data; /* memory, or NULL: the file */
	int fd;			   /* -1: memory */
	uint64_t size;
};

/* The numbers of the header, in this machine's byte order. */
struct shape {
	enum fors_sf_layout layout;
	uint32_t version;
	uint64_t epoch, fingerprint;
	uint32_t nservers, nphases, nleaves, nlanes, parts, round_length, nrows, cell_size, npaths;
	uint64_t servers, lanes, row_crc, cells, end; /* offsets */
	uint32_t servers_crc, lanes_crc, header_crc;
	char method[17], reason[129];
	uint64_t fabric_epoch; /* this and what follows: versions 2 and 3, else 0 */
	uint32_t nswitches, nways, nunits;
	uint64_t switches, ways, leaves, units; /* offsets */
	uint32_t switches_crc, ways_crc, leaves_crc, more_crc;
	char job[65];
	uint64_t lengths, granule; /* this and the rest: version 3, else 0; lengths: an offset */
	uint32_t is_unit, lengths_crc, demand_crc, sizes_crc;
};

/* Has it names, ways and units? Has it lengths and sizes? */
static inline bool forsched_i_has_ways(const struct shape *shape)
{
	return shape->version >= FORS_SF_VERSION_WAYS;
}

static inline bool forsched_i_has_sizes(const struct shape *shape)
{
	return shape->version >= FORS_SF_VERSION_SIZES;
}

struct by_guid {
	uint64_t guid;
	uint32_t number;
};

/* The cells of a rounds plan; all NULL and 0 before the first row is asked for. */
struct forsched_cells {
	uint32_t *number; /* nrows x nphases: what the file says */
	uint32_t *cell;	  /* indices into number, sorted by receiver */
	uint32_t *first;  /* nservers + 1 (and one to spare): where in `cell` each receiver begins */
	uint32_t npaths;  /* 1 + the largest path index */
};

/* A row of a server: its cells, in which `lane` is a service level in versions 2 and 3; there, the unit of each cell after them. */
#define NO_UNIT UINT32_MAX

/* The units of a leaf, in this machine's byte order. */
struct leaf_units {
	uint32_t count;
	struct fors_sf_unit unit[];
};

struct forsched {
	struct source source;
	struct shape shape;
	struct forsched_server *server; /* nservers */
	struct by_guid *by_guid;	/* nservers, ascending */
	uint64_t *spine;		/* by lane; shape.nlanes */
	uint64_t *sw;			/* GUIDs of switches; shape.nswitches */
	struct fors_sf_leaf *leaf;	/* where each leaf's units are; nleaves + 1 in versions 2 and 3, else NULL */
	uint64_t *length;		/* of phases; nphases in version 3, else NULL */
	uint32_t *row_crc;		/* shape.nrows, and one to spare */
	uint32_t *leaf_first;		/* nleaves + 1: number of each leaf's first server */
	pthread_mutex_t lock;		/* for making rows and cells; look-ups do not take it */
	struct forsched_cells cells;
	struct leaf_units **units; /* nleaves; NULL: not asked for yet; under the lock, but for whose row is there */
	struct fors_sf_way *way;   /* nways; NULL: not asked for yet; published as rows are */
	struct forsched_piece **piece; /* nservers, in version 3: of each row nphases; there before the row is */
	struct fors_sf_cell **row; /* nservers; NULL: not asked for yet; published with release, read with acquire */
};

/* ---- source.c ---- */

/* Write code and text into *error (may be NULL); returns code. */
enum forsched_err forsched_i_fail(struct forsched_error *error, enum forsched_err code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
enum forsched_err forsched_i_fail_memory(struct forsched_error *error);

/* A source that is a file (or `schedule` in a directory), or memory. Close what was opened well. */
enum forsched_err forsched_i_source_file(const char *path, struct source *source, struct forsched_error *error);
enum forsched_err forsched_i_source_memory(const void *bytes, size_t size, const char *name, struct source *source,
					   struct forsched_error *error);
void forsched_i_source_close(struct source *source);

/* `size` bytes from `offset`. Errors: FORSCHED_EFILE, FORSCHED_ECHANGED (no longer so many). */
enum forsched_err forsched_i_read(const struct source *source, uint64_t offset, void *to, size_t size,
				  struct forsched_error *error);

/* ---- job.c ---- */

/* An environment variable that is set and not empty, or NULL. */
const char *forsched_i_setting(const char *name);

/* ---- head.c ---- */

/* The checked header of a source. Errors: FORSCHED_EFORMAT, those of forsched_i_read(). */
enum forsched_err forsched_i_read_shape(const struct source *source, struct shape *shape, struct forsched_error *error);
/* The epoch of the file as it is now. Errors: FORSCHED_EFILE, those of forsched_i_read_shape(). */
enum forsched_err forsched_i_newest(const char *path, uint64_t *epoch, struct forsched_error *error);

/* Servers, lanes, checksums of rows: everything of *schedule but source, shape and lock. On failure the caller closes.
 */
enum forsched_err forsched_i_read_head(struct forsched *schedule, struct forsched_error *error);

enum forsched_err forsched_i_corrupt(const struct source *source, const char *what, struct forsched_error *error);

/* zlib's crc32(), of sections of any size. */
uint32_t forsched_i_crc(const void *bytes, size_t size);

/* A section that has a checksum of its own, allocated; NULL on any error, which is then in *err. */
void *forsched_i_read_section(const struct source *source, uint64_t offset, size_t size, uint32_t crc, const char *what,
			      enum forsched_err *err, struct forsched_error *error);

/* ---- pieces.c: version 3 ---- */

/* The lengths of phases: at open. */
enum forsched_err forsched_i_read_lengths(struct forsched *schedule, struct forsched_error *error);

/* The row of s, and what its pieces have: so far `bytes` and `in_bytes` only. Both have room for nphases. */
enum forsched_err forsched_i_pieces_row(const struct forsched *schedule, uint32_t s, struct fors_sf_cell *row,
					struct forsched_piece *piece, struct forsched_error *error);

/* Is it what a server may do under a demand? Then the rest of its pieces is filled in. */
enum forsched_err forsched_i_check_pieces(const struct forsched *schedule, uint32_t s, const struct fors_sf_cell *row,
					  struct forsched_piece *piece, struct forsched_error *error);

/* Everything of version 3 that no single row shows. All rows are there. */
enum forsched_err forsched_i_check_demand(const struct forsched *schedule, struct forsched_error *error);

/* ---- units.c: versions 2 and 3 ---- */

/* Switches, and where units are: at open. */
enum forsched_err forsched_i_read_switches(struct forsched *schedule, struct forsched_error *error);

/* The row of s, from the layout whose cells are pairs of numbers. */
enum forsched_err forsched_i_units_row(const struct forsched *schedule, uint32_t s, struct fors_sf_cell *row,
				       struct forsched_error *error);

/* After the cells of a row are there: their units, and from them service levels. Under the lock. */
enum forsched_err forsched_i_find_units(struct forsched *schedule, uint32_t s, struct fors_sf_cell *row,
					struct forsched_error *error);

/* The unit of a cell of a row that was made; NULL: none. */
const struct fors_sf_unit *forsched_i_unit_of(const struct forsched *schedule, uint32_t s,
					      const struct fors_sf_cell *row, uint32_t phase);

/* The ways, read and checked when they are first asked for. */
enum forsched_err forsched_i_read_ways(const struct forsched *schedule, struct forsched_error *error);

/* Everything of switches, ways and units that no single row shows. All rows are there. */
enum forsched_err forsched_i_check_units(const struct forsched *schedule, struct forsched_error *error);

/* ---- row.c, rounds.c ---- */

/* A row is made of cells in this machine's byte order: those of the dense layout. */
enum forsched_err forsched_i_dense_row(const struct forsched *schedule, uint32_t s, struct fors_sf_cell *row,
				       struct forsched_error *error);
enum forsched_err forsched_i_rounds_row(struct forsched *schedule, uint32_t s, struct fors_sf_cell *row,
					struct forsched_error *error);

void forsched_i_cells_free(struct forsched_cells *cells);

/* Row `row` of cells as bytes of the file, checked against its checksum. */
enum forsched_err forsched_i_read_cells(const struct forsched *schedule, uint32_t row, void *to,
					struct forsched_error *error);

/* `size` bytes from `offset`, checked against a checksum; when it differs, is that still the file that was opened? */
enum forsched_err forsched_i_read_part(const struct forsched *schedule, uint64_t offset, size_t size, uint32_t crc,
				       const char *what, void *to, struct forsched_error *error);

/* In a row that has all else: the path of the opposite flow, for each flow that is sent. False: no memory. */
bool forsched_i_put_reverse(const struct forsched *schedule, struct fors_sf_cell *row);

/* What is wrong with a cell of the row of s by itself; NULL: nothing. */
const char *forsched_i_fault_of_cell(const struct forsched *schedule, uint32_t s, const struct fors_sf_cell *cell);

/* Is it what a server may do: each other server once in both directions, nothing that is not there? */
enum forsched_err forsched_i_check_row(const struct forsched *schedule, uint32_t s, const struct fors_sf_cell *row,
				       struct forsched_error *error);

#endif
