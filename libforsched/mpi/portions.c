/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A demand's schedule says for each phase how many bytes of its messages go. A call has other messages. Let f be the
 * largest ratio of a message of the call to that of the demand. Each message is cut in proportion: of m bytes for the
 * demand's t, the piece behind offset o goes from o m / t on. As m is at most f t, no piece is longer than f times that of
 * the demand, so a phase lasts at most f times its length. Nothing has to be told for that: both ends know m from the
 * call, and o and t from the schedule.
 *
 * Elements stay whole: a cut is moved down to a multiple of the unit, which all types of all ranks divide. Only the last one is
 * where the message ends. A piece that has nothing left is not sent, and both ends know that, too.
 *
 * Where servers have several ranks, the ranks of one share what their server sends. Each cuts its own messages by the same
 * rule. Then f is at most the sum over the ranks of a server of the largest ratio that each of them has.
 */
#include "config.h"

#include "portions.h"

#include <stdlib.h>

#define RATIO_BITS 24
#define SMALL_TOTAL ((uint64_t)1 << 32)
#define LARGE_MESSAGE ((uint64_t)1 << 40)

_Static_assert(RATIO_ONE == 1u << RATIO_BITS, "it is one");

void forsched_mpi_portions_free(struct portions *portions)
{
	free(portions->portion);
	free(portions->out_total);
	free(portions->in_total);
	free(portions->wanted);
	forsched_mpi_turns_free(&portions->peers);
	*portions = (struct portions){0};
}

/* In "phase" p to place p, and from it; not to itself. */
static bool make_peers(struct turns *peers, const struct places *places, int rank)
{
	uint32_t *peer = malloc(places->n * sizeof(*peer));
	bool is_made;

	for (uint32_t place = 0; peer && place < places->n; place++)
		peer[place] = place == places->at[rank] ? NO_PLACE : place;
	is_made = peer && forsched_mpi_make_turns(peers, places, rank, places->n, peer, peer);
	free(peer);
	return is_made;
}

bool forsched_mpi_make_portions(struct portions *portions, const struct places *places, int rank, uint32_t nphases)
{
	*portions = (struct portions){.nphases = nphases,
				      .portion = calloc(nphases, sizeof(*portions->portion)),
				      .out_total = calloc(places->n, sizeof(uint64_t)),
				      .in_total = calloc(places->n, sizeof(uint64_t)),
				      .wanted = calloc(places->n, sizeof(uint64_t))};
	if (portions->portion && portions->out_total && portions->in_total && portions->wanted &&
	    make_peers(&portions->peers, places, rank))
		return true;
	forsched_mpi_portions_free(portions);
	return false;
}

void forsched_mpi_add_portion(struct portions *portions, const struct portion_cell *cell)
{
	struct portion *portion = &portions->portion[portions->n];

	if (cell->to == NO_PLACE && cell->from == NO_PLACE)
		return;
	*portion =
		(struct portion){.to = cell->to, .from = cell->from, .bytes = cell->bytes, .in_bytes = cell->in_bytes};
	if (cell->to != NO_PLACE) {
		portion->offset = portions->out_total[cell->to];
		portions->out_total[cell->to] += cell->bytes;
	}
	if (cell->from != NO_PLACE) {
		portion->in_offset = portions->in_total[cell->from];
		portions->in_total[cell->from] += cell->in_bytes;
	}
	portions->n++;
}

uint64_t forsched_mpi_portions_port(const struct portions *portions, uint32_t nplaces)
{
	uint64_t out = 0, in = 0;

	for (uint32_t place = 0; place < nplaces; place++) {
		out += portions->out_total[place];
		in += portions->in_total[place];
	}
	return out > in ? out : in;
}

static uint64_t ratio_of(uint64_t wanted, uint64_t total)
{
	if (!total)
		return NO_RATIO;
	if (wanted < LARGE_MESSAGE)
		return ((wanted << RATIO_BITS) + total - 1) / total;
	return total >> RATIO_BITS ? wanted / (total >> RATIO_BITS) + 1 : NO_RATIO;
}

uint64_t forsched_mpi_ratio(const struct portions *portions, uint32_t nplaces)
{
	uint64_t most = 0;

	for (uint32_t place = 0; place < nplaces; place++) {
		uint64_t wanted = portions->wanted[place];
		uint64_t ratio = wanted ? ratio_of(wanted, portions->out_total[place]) : 0;

		most = ratio > most ? ratio : most;
	}
	return most;
}

/* Sizes that are too long to be multiplied lose their last bits. */
uint64_t forsched_mpi_cut(uint64_t message, uint64_t offset, uint64_t total, uint64_t unit)
{
	uint64_t cut;

	if (offset >= total)
		return message;
	while (total >= SMALL_TOTAL) {
		total >>= 1;
		offset >>= 1;
	}
	cut = message / total * offset + message % total * offset / total;
	return cut / unit * unit;
}
