/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * formula.h - patterns by formula: in each phase a server sends to at most one other, whose number follows from its own.
 * Private to the room, but for the names.
 *
 *   bit-complement, bit-reverse, bit-rotation, bit-shuffle, bit-transpose
 *                   one phase, a permutation of the bits of a server's number (Dally and Towles, chapter 3.2); the number
 *                   of servers is a power of two, for bit-transpose one of four
 *   tornado         one phase: halfway round, i + ceil(n / 2) - 1
 *   ring            n - 1 phases to the next server (allgather, and each half of allreduce, on a ring)
 *   xor             phase p: i xor (p + 1): all-to-all in pairs, n a power of two
 *   recursive-doubling
 *                   phase p: i xor 2^p: allreduce, allgather; n a power of two
 *   dissemination   phase p: i + 2^p: barrier, Bruck's allgather; any n
 *   broadcast       phase p: the first 2^p servers send to the next 2^p, on a binomial tree
 *   incast, incast(K)
 *                   an event builder: phase p: all send to server p; K phases, else as many as servers
 *   hotspot(K)      the linear shift, then K phases to server 0
 *   NAS-FT, NAS-IS  all-to-all: xor where n is a power of two, else the linear shift
 *   NAS-CG          a grid of 2^a rows and 2^a or 2^(a+1) columns: sums along rows by xor, then the transposition
 *   NAS-MG          six neighbours on a torus of three powers of two, of the finest level, a phase each
 *   NAS-BT          a grid of c x c: to the six cells before and behind of the multi-partition, a phase each
 *   WRF             halo of two dimensions with rows of 16: i + 1, i - 1, i + 16, i - 16, no way round
 *
 * All messages of a pattern have one size, also where an application's do not (MG's coarser levels, IS's sums are left
 * out). Thread rules: pure.
 */
#ifndef FORS_LAB_MODEL_PATTERNS_FORMULA_H
#define FORS_LAB_MODEL_PATTERNS_FORMULA_H

#include "core/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fors_formula {
	const char *name, *shown;   /* name: small letters, no '-' */
	bool may_have, must_have;   /* a number in brackets */
	bool is_of_two, is_of_four; /* the number of servers is a power of two; of four */
	bool is_square;
	uint32_t (*nphases)(uint32_t n, uint32_t number); /* number 0: none was given */
	/* Where server i of n sends to in a phase; i or n: nowhere. */
	uint32_t (*to)(uint32_t n, uint32_t number, uint32_t phase, uint32_t i);
};

/* By its name, as it is in the list; NULL: there is none. */
const struct fors_formula *fors_formula_find(const char *name);
/* The i-th; NULL: there are no more. */
const struct fors_formula *fors_formula_at(size_t i);
/* Is it for so many servers, and this number? Errors: FORS_EINPUT (says why not). */
enum fors_err fors_formula_check(const struct fors_formula *formula, uint32_t n, uint32_t number,
				 struct fors_error *error);

#endif
