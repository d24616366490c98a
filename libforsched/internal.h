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
	uint64_t epoch, fingerprint;
	uint32_t nservers, nphases, nleaves, nlanes, parts, round_length, nrows, cell_size, npaths;
	uint64_t servers, lanes, row_crc, cells, end; /* offsets */
	uint32_t servers_crc, lanes_crc, header_crc;
	char method[17], reason[129];
};

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

struct forsched {
	struct source source;
	struct shape shape;
	struct forsched_server *server; /* nservers */
	struct by_guid *by_guid;	/* nservers, ascending */
	uint64_t *spine;		/* by lane; shape.nlanes */
	uint32_t *row_crc;		/* shape.nrows, and one to spare */
	uint32_t *leaf_first;		/* nleaves + 1: number of each leaf's first server */
	pthread_mutex_t lock;		/* for making rows and cells; look-ups do not take it */
	struct forsched_cells cells;
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

/* ---- head.c ---- */

/* The checked header of a source. Errors: FORSCHED_EFORMAT, those of forsched_i_read(). */
enum forsched_err forsched_i_read_shape(const struct source *source, struct shape *shape, struct forsched_error *error);

/* Servers, lanes, checksums of rows: everything of *schedule but source, shape and lock. On failure the caller closes.
 */
enum forsched_err forsched_i_read_head(struct forsched *schedule, struct forsched_error *error);

enum forsched_err forsched_i_corrupt(const struct source *source, const char *what, struct forsched_error *error);

/* zlib's crc32(), of sections of any size. */
uint32_t forsched_i_crc(const void *bytes, size_t size);

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

/* Is it what a server may do: each other server once in both directions, nothing that is not there? */
enum forsched_err forsched_i_check_row(const struct forsched *schedule, uint32_t s, const struct fors_sf_cell *row,
				       struct forsched_error *error);

#endif
