/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * match.h - matchings of at most 64 rows and 64 columns; the columns that a row may take are bits of a word.
 *
 * Thread rules: pure.
 */
#ifndef FORS_CORE_COLOURING_MATCH_H
#define FORS_CORE_COLOURING_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#define FORS_MATCH_MOST 64
#define FORS_UNMATCHED 255

struct fors_matching {
	uint64_t may[FORS_MATCH_MOST];	 /* of each row: columns that it may take */
	uint8_t column[FORS_MATCH_MOST]; /* of each row, FORS_UNMATCHED: none */
	uint8_t row[FORS_MATCH_MOST];	 /* of each column that is not free */
	uint64_t free;			 /* columns */
};

/* All of n columns. */
static inline uint64_t fors_match_columns(uint32_t n)
{
	return n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
}

/* A row takes a free column; and gives it back. */
static inline void fors_match(struct fors_matching *matching, uint32_t row, uint32_t column)
{
	matching->column[row] = (uint8_t)column;
	matching->row[column] = (uint8_t)row;
	matching->free &= ~(UINT64_C(1) << column);
}

static inline void fors_unmatch(struct fors_matching *matching, uint32_t row)
{
	matching->free |= UINT64_C(1) << matching->column[row];
	matching->column[row] = FORS_UNMATCHED;
}

/* The first of these columns (not none) at or after `start`, beginning again at 0. */
static inline uint32_t fors_match_first(uint64_t columns, uint32_t start)
{
	uint64_t from = columns >> start << start;

	return (uint32_t)__builtin_ctzll(from ? from : columns);
}

/*
 * Match a row that is not, along a shortest alternating path; rows that are matched stay so. False: impossible, and
 * nothing has changed.
 */
bool fors_match_augment(struct fors_matching *matching, uint32_t row);

#endif
