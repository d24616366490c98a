/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pairs.h - what is left of messages, also as bits: for each port the servers at the other end, of all that have something left and of those that
 * have enough.
 *
 * A port chooses its next message among those whose other end is idle: two words of bits say it for 64 servers at once.
 * Ports are numbered as in problem.h: those that send, then those that receive. Thread rules: plain data.
 */
#ifndef FORS_CORE_DEMAND_PAIRS_H
#define FORS_CORE_DEMAND_PAIRS_H

#include "index.h"

struct fors_demand_pairs {
	const struct fors_demand *demand; /* borrowed */
	struct fors_demand_index index;
	uint32_t nwords; /* words of bits for all servers */
	uint64_t *rest;	 /* per message: bytes that are left; at first all of them */
	uint64_t least;	 /* this is enough; at first what the largest message has */
	uint64_t *left,
		*enough; /* [port][word]: servers at the other end of a message with bytes left, with enough of them */
};

/* *pairs is to be cleared, also after false: out of memory. */
bool fors_demand_pairs_make(const struct fors_demand *demand, struct fors_demand_pairs *pairs);
void fors_demand_pairs_clear(struct fors_demand_pairs *pairs);

/* From now on less is enough. O(messages). */
void fors_demand_pairs_lower(struct fors_demand_pairs *pairs, uint64_t least);
/* So many bytes of a message are sent; it has them. */
void fors_demand_pairs_send(struct fors_demand_pairs *pairs, uint32_t message, uint64_t bytes);

/* The message of a port whose other end is this server; it has one. */
static inline uint32_t fors_demand_pairs_of(const struct fors_demand_pairs *pairs, uint32_t port, uint32_t other)
{
	uint32_t nservers = pairs->demand->nservers;

	return port < nservers ? fors_demand_index_at(&pairs->index, port, other)
			       : fors_demand_index_at(&pairs->index, other, port - nservers);
}

#endif
