/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * index.h - the message of a pair without a search: for each sender the receivers as bits, and how many there are before each word of them.
 * Thread rules: plain data.
 */
#ifndef FORS_CORE_DEMAND_INDEX_H
#define FORS_CORE_DEMAND_INDEX_H

#include <stddef.h>

#include "demand.h"

struct fors_demand_index {
	uint32_t nwords;  /* words of bits for all servers */
	uint32_t *begin;  /* per server: its first message */
	uint64_t *has;	  /* [src][word]: receivers */
	uint32_t *before; /* [src][word]: how many of its messages are for servers before this word */
};

/* *index is to be cleared, also after false: out of memory. */
bool fors_demand_index_make(const struct fors_demand *demand, struct fors_demand_index *index);
void fors_demand_index_clear(struct fors_demand_index *index);

/* The message of a pair that has one. O(1). */
static inline uint32_t fors_demand_index_at(const struct fors_demand_index *index, uint32_t src, uint32_t dst)
{
	size_t word = (size_t)src * index->nwords + dst / 64;
	uint64_t below = index->has[word] & ((UINT64_C(1) << dst % 64) - 1);

	return index->begin[src] + index->before[word] + (uint32_t)__builtin_popcountll(below);
}

#endif
