/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pack.h - the occupancy of a packing of single flows: which token is in which phase.
 *
 * Rows are what a token may have to share: a link, which takes as many in a phase as its capacity, or a receiver, which takes
 * one, by its way; the senders of a switch, which are counted. Who sits in a phase of a switch is kept besides, for searches and for senders.c.
 *
 * Private to this module. Thread rules: a packing belongs to one thread; its problem is only read.
 */
#ifndef FORS_CORE_PLANNERS_FLOWS_PACK_H
#define FORS_CORE_PLANNERS_FLOWS_PACK_H

#include "core/base/random.h"
#include "core/planners/occupancy.h"
#include "problem.h"

struct fors_flows_packing {
	const struct fors_flows_problem *problem; /* borrowed */
	uint32_t nphases;			  /* T, the occupancy's turns */
	struct fors_occupancy occupancy;	  /* rows: links, then destinations, then switches, which are counted */
	uint32_t *
		seat; /* per switch, senders x room of the occupancy: the ways of its tokens in a phase, without gaps */
	size_t nseats;
	size_t *seat_row;  /* per switch: where its seats begin */
	uint32_t *waiting; /* tokens without a phase, each by its unit, in any order */
	uint32_t nwaiting;
	uint32_t patience;  /* of a search: so many times the usual steps without progress; 0 means 1 */
	bool counts_tokens; /* of a search: it looks for phases where few tokens are in the way, not few rows */
	uint32_t nways;	    /* of a search: so many ways of a token that finds no room are looked at; 0 means 1 */
	uint64_t seed;	    /* of a search: where random numbers start */
	uint64_t work;	    /* words of masks looked at so far, and rows written: the measure of effort */
};

/* Everything of the problem waiting, for nphases phases, in *packing, owned by the caller. Errors: FORS_ENOMEM. */
enum fors_err fors_flows_packing_new(const struct fors_flows_problem *problem, uint32_t nphases,
				     struct fors_flows_packing **packing, struct fors_error *error);
void fors_flows_packing_free(struct fors_flows_packing *packing);

/*
 * The same packing with nphases >= its own phases, in *packing, owned by the caller. What *packing is before, NULL or another packing of
 * the problem, is used for its memory: that of large packings takes longer to get than to write. Errors: FORS_ENOMEM.
 */
enum fors_err fors_flows_packing_copy(const struct fors_flows_packing *from, uint32_t nphases,
				      struct fors_flows_packing **packing, struct fors_error *error);

/* Empty phases more, so that there are nphases, in place where there is room. Errors: FORS_ENOMEM, nothing changed. */
enum fors_err fors_flows_packing_add(struct fors_flows_packing **packing, uint32_t nphases, struct fors_error *error);

/* Bytes that a packing of so many phases takes. */
uint64_t fors_flows_packing_bytes(const struct fors_flows_problem *problem, uint32_t nphases);

/* Leave nphases phases, at most as many as there are: the emptiest go, what was in them waits. */
void fors_flows_drop_phases(struct fors_flows_packing *packing, uint32_t nphases);

/* The rows of a way in row[] (room for FORS_FLOWS_MOST_LINKS + 2), and how many: links, receiver, switch. */
uint32_t fors_flows_rows(const struct fors_flows_packing *packing, uint32_t way, uint32_t *row);
/* The same, of a unit's path index; FORS_FLOWS_NONE: it has no such way. */
uint32_t fors_flows_rows_of(const struct fors_flows_packing *packing, uint32_t s, uint32_t d, uint32_t path,
			    uint32_t *row);

/* Put a token of this way into a phase where it fits; who counts as waiting is the caller's business. */
void fors_flows_put(struct fors_flows_packing *packing, uint32_t way, uint32_t phase);
/* The same where the n rows of the way are known, as of fors_flows_rows(). */
void fors_flows_put_rows(struct fors_flows_packing *packing, uint32_t way, uint32_t phase, const uint32_t *row,
			 uint32_t n);
/* The same of a unit, over a path index, if it has such a way and fits there; false if not. */
bool fors_flows_put_if_free(struct fors_flows_packing *packing, uint32_t s, uint32_t d, uint32_t path, uint32_t phase);
/* Take it out again. */
void fors_flows_take(struct fors_flows_packing *packing, uint32_t way, uint32_t phase);

/* The token that a destination receives in a phase, as a way; FORS_FLOWS_NONE. */
static inline uint32_t fors_flows_received(const struct fors_flows_packing *packing, uint32_t dest, uint32_t phase)
{
	return fors_occupancy_at(&packing->occupancy, packing->problem->nlinks + dest, phase);
}

/* The row of a switch. */
static inline uint32_t fors_flows_switch_row(const struct fors_flows_packing *packing, uint32_t s)
{
	return packing->problem->nlinks + packing->problem->ndests + s;
}

/* The tokens of a switch in a phase, nseats of them, as ways. */
static inline const uint32_t *fors_flows_seats(const struct fors_flows_packing *packing, uint32_t s, uint32_t phase,
					       uint32_t *nseats)
{
	*nseats = *fors_occupancy_count(&packing->occupancy, fors_flows_switch_row(packing, s), phase);
	return packing->seat + packing->seat_row[s] + (size_t)phase * packing->problem->senders[s];
}

#endif
