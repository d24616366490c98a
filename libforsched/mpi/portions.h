/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * portions.h - what a server sends and receives along the schedule of a demand, and where messages are cut.
 *
 * Pure: no MPI. Servers are places (places.h). Whoever makes portions frees them. One thread at a time for one of them.
 */
#ifndef FORSCHED_MPI_PORTIONS_H
#define FORSCHED_MPI_PORTIONS_H

#include "places.h"

/* What a server does in a phase; this goes over the wire. */
struct portion_cell {
	uint32_t to, from;	  /* places; NO_PLACE: none that has ranks here */
	uint64_t bytes, in_bytes; /* of the demand, to the one and from the other */
};

/* The same with the bytes that went between the two in phases before. */
struct portion {
	uint32_t to, from;
	uint64_t bytes, offset, in_bytes, in_offset;
};

/* Of one server; all zeroes: none. */
struct portions {
	uint32_t n, nphases; /* phases in which it does anything; of the schedule */
	uint64_t
		port; /* bytes of the port that has most to send or to receive; or messages, if the demand counts these */
	struct portion *portion;
	uint64_t *out_total, *in_total; /* by place: all that goes there, all that comes from there */
	uint64_t *wanted;		/* by place: room for what a call has for it */
	struct turns peers;		/* phase p: the messages to the ranks of place p, and from them */
};

#define RATIO_ONE (1u << 24)
#define NO_RATIO UINT64_MAX /* the demand has no such message, or a smaller one by far too much */

/* Room for `nphases` of the place of a rank. False: no memory. */
bool forsched_mpi_make_portions(struct portions *portions, const struct places *places, int rank, uint32_t nphases);
void forsched_mpi_portions_free(struct portions *portions);
/* The next phase, of at most as many as there is room for. */
void forsched_mpi_add_portion(struct portions *portions, const struct portion_cell *cell);
/* The bytes of the place's port: all that it sends, or all that it receives, if that is more. */
uint64_t forsched_mpi_portions_port(const struct portions *portions, uint32_t nplaces);

/*
 * How many times the demand `wanted` is, by the place of which it is the most: RATIO_ONE is once, rounded up. 0: nothing is
 * wanted.
 */
uint64_t forsched_mpi_ratio(const struct portions *portions, uint32_t nplaces);

/*
 * Where a message of so many bytes is cut, when the demand's is cut behind `offset` of `total`: at a multiple of `unit`, the
 * same at both ends. offset = total: at its end.
 */
uint64_t forsched_mpi_cut(uint64_t message, uint64_t offset, uint64_t total, uint64_t unit);

#endif
