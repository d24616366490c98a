/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pack.h - the book of a packing of single flows: which token is in which phase.
 *
 * A row is what a token may have to share: a link, a receiver, or the senders of a switch. In a phase a link and a
 * receiver take one token, a switch as many as it has senders. busy[] has a bit per row and phase: no room there. So
 * "in which phases does this way fit?" is an OR of a few masks, 64 phases at a time.
 *
 * Private to this room. Thread rules: a packing belongs to one thread; its problem is only read.
 */
#ifndef FORS_CORE_PLANNERS_FLOWS_PACK_H
#define FORS_CORE_PLANNERS_FLOWS_PACK_H

#include "core/base/random.h"
#include "problem.h"

struct fors_flows_packing {
	const struct fors_flows_problem *problem; /* borrowed */
	uint32_t nphases;			  /* T */
	uint32_t nwords;			  /* of a mask; there is room for 64 nwords phases, at least nphases */
	uint32_t nrows;				  /* links, then destinations, then switches */
	uint64_t *busy;	   /* nrows x nwords; phases from T on are busy nowhere, see fors_flows_valid() */
	uint32_t *at;	   /* links and destinations x 64 nwords: the way of the token there, FORS_FLOWS_NONE */
	uint32_t *seat;	   /* per switch, senders x 64 nwords: the ways of its tokens in a phase, without gaps */
	uint32_t *nseats;  /* switches x 64 nwords: how many of them */
	size_t *seat_row;  /* per switch: where its seats begin */
	uint32_t *waiting; /* tokens without a phase, each by its unit, in any order */
	uint32_t nwaiting;
	uint64_t work; /* words of masks looked at so far, and rows written: the measure of effort */
};

/* Everything of the problem waiting, for nphases phases, in *packing, owned by the caller. Errors: FORS_ENOMEM. */
enum fors_err fors_flows_packing_new(const struct fors_flows_problem *problem, uint32_t nphases,
				     struct fors_flows_packing **packing, struct fors_error *error);
void fors_flows_packing_free(struct fors_flows_packing *packing);

/*
 * The same packing with nphases >= its own phases, in *packing, owned by the caller. Errors: FORS_ENOMEM.
 */
enum fors_err fors_flows_packing_copy(const struct fors_flows_packing *from, uint32_t nphases,
				      struct fors_flows_packing **packing, struct fors_error *error);

/* Bytes that a packing of so many phases takes. */
uint64_t fors_flows_packing_bytes(const struct fors_flows_problem *problem, uint32_t nphases);

/* Leave nphases phases, at most as many as there are: the emptiest go, what was in them waits. */
void fors_flows_drop_phases(struct fors_flows_packing *packing, uint32_t nphases);

/* The rows of a way in row[] (room for FORS_FLOWS_MOST_LINKS + 2), and how many: links, receiver, switch. */
uint32_t fors_flows_rows(const struct fors_flows_packing *packing, uint32_t way, uint32_t *row);

/* Which bits of word w stand for phases. */
static inline uint64_t fors_flows_valid(const struct fors_flows_packing *packing, uint32_t w)
{
	uint32_t left = packing->nphases - w * 64;

	return left >= 64 ? UINT64_MAX : (UINT64_C(1) << left) - 1;
}

/* The words that hold phases. */
static inline uint32_t fors_flows_words(const struct fors_flows_packing *packing)
{
	return (packing->nphases + 63) / 64;
}

/* Put a token of this way into a phase where it fits; who counts as waiting is the caller's business. */
void fors_flows_put(struct fors_flows_packing *packing, uint32_t way, uint32_t phase);
/* Take it out again. */
void fors_flows_take(struct fors_flows_packing *packing, uint32_t way, uint32_t phase);

/* The token that a destination receives in a phase, as a way; FORS_FLOWS_NONE. */
static inline uint32_t fors_flows_received(const struct fors_flows_packing *packing, uint32_t dest, uint32_t phase)
{
	return packing->at[(size_t)(packing->problem->nlinks + dest) * packing->nwords * 64 + phase];
}

/* The tokens of a switch in a phase, nseats of them, as ways. */
static inline const uint32_t *fors_flows_seats(const struct fors_flows_packing *packing, uint32_t s, uint32_t phase,
					       uint32_t *nseats)
{
	*nseats = packing->nseats[(size_t)s * packing->nwords * 64 + phase];
	return packing->seat + packing->seat_row[s] + (size_t)phase * packing->problem->senders[s];
}

#endif
