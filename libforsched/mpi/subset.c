/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Phases for a communicator that has some servers of the schedule only: its flows are packed anew (pack.c).
 *
 * A link is what the schedule says (forsched_links()), and only for the path that ranks really use. Where a way is not
 * known, the schedule's own phases remain, without those that are empty.
 */
#include "config.h"

#include "subset.h"

#include <stdlib.h>
#include <string.h>

#include "libforsched/forsched.h"
#include "pack.h"

#define MOST_LINKS 256 /* on a way */

/* What rank 0 packs. */
struct subset {
	const struct places *places;
	uint8_t path;
	struct forsched *schedule; /* a handle of its own: the rows of all these servers are not kept */
	struct pack_flows flows;
	uint32_t *phase;
};

static void free_subset(struct subset *subset)
{
	forsched_close(subset->schedule);
	free(subset->flows.first);
	free(subset->flows.need);
	free(subset->flows.turn);
	free(subset->phase);
}

/* ---- their flows ---- */

/* The next flow: its sender, its receiver, its links. The links have the schedule's numbers for now, behind 2n. */
static void add_flow(struct subset *subset, uint32_t from, uint32_t to, uint32_t phase, const uint32_t *link,
		     uint32_t nlinks)
{
	struct pack_flows *flows = &subset->flows;
	uint32_t n = subset->places->n, *need = &flows->need[flows->first[flows->n]];

	*need++ = from;
	*need++ = n + to;
	for (uint32_t i = 0; i < nlinks; i++)
		*need++ = 2 * n + link[i];
	flows->turn[flows->n++] = phase;
	flows->first[flows->n] = (uint32_t)(need - flows->need);
}

/* What a server of the schedule sends. `most`: needs that a flow may have. False: it cannot be read. */
static bool add_flows(struct subset *subset, uint32_t from, uint32_t most)
{
	uint32_t link[MOST_LINKS], nphases = forsched_nphases(subset->schedule), server = subset->places->server[from];
	struct forsched_flow flow;

	for (uint32_t phase = 0; phase < nphases; phase++) {
		uint32_t to, nlinks = 0;

		if (forsched_flow(subset->schedule, server, phase, &flow))
			return false;
		to = flow.to == FORSCHED_NOBODY ? NO_PLACE : subset->places->of[flow.to];
		if (to == NO_PLACE)
			continue;
		if (flow.path != subset->path ||
		    forsched_links(subset->schedule, server, phase, link, MOST_LINKS, &nlinks, NULL) ||
		    nlinks + 2 > most)
			subset->flows.are_known = false;
		add_flow(subset, from, to, phase, link, subset->flows.are_known ? nlinks : 0);
	}
	return true;
}

/* Links get numbers without gaps. */
static bool number_needs(struct subset *subset)
{
	struct pack_flows *flows = &subset->flows;
	uint32_t all = flows->first[flows->n], last = 0, n = 2 * subset->places->n, *name;

	for (uint32_t i = 0; i < all; i++)
		last = flows->need[i] > last ? flows->need[i] : last;
	name = calloc((size_t)last + 1, sizeof(*name));
	for (uint32_t i = 0; name && i < all; i++) {
		uint32_t need = flows->need[i];

		if (need < 2 * subset->places->n)
			continue;
		if (!name[need])
			name[need] = n++;
		flows->need[i] = name[need];
	}
	flows->nneeds = n;
	free(name);
	return name != NULL;
}

/* How many needs there is room for: twice what the first server's flows have; one with more counts as not known. */
static uint32_t most_needs(const struct subset *subset)
{
	uint32_t nlinks, most = 2, nphases = forsched_nphases(subset->schedule);

	for (uint32_t phase = 0; phase < nphases; phase++)
		if (!forsched_links(subset->schedule, subset->places->server[0], phase, NULL, 0, &nlinks, NULL))
			most = nlinks > most ? nlinks : most;
	return 2 + 2 * most;
}

static bool make_flows(struct subset *subset)
{
	struct pack_flows *flows = &subset->flows;
	uint32_t most = most_needs(subset), places = subset->places->n;
	size_t n = (size_t)places * (places - 1);

	*flows = (struct pack_flows){.first = calloc(n + 1, sizeof(uint32_t)),
				     .need = calloc(n, most * sizeof(uint32_t)),
				     .turn = calloc(n, sizeof(uint32_t)),
				     .are_known = true};
	subset->phase = calloc(n, sizeof(*subset->phase));
	if (!flows->first || !flows->need || !flows->turn || !subset->phase)
		return false;
	for (uint32_t from = 0; from < places; from++)
		if (!add_flows(subset, from, most))
			return false;
	return number_needs(subset);
}

/* ---- all of it ---- */

/* Which phase each flow between places has, in cell[from x n + to]. */
static void fill_cells(const struct subset *subset, uint16_t *cell)
{
	uint32_t n = subset->places->n;

	for (uint32_t f = 0; f < subset->flows.n; f++) {
		const uint32_t *need = &subset->flows.need[subset->flows.first[f]];

		cell[(size_t)need[0] * n + need[1] - n] = (uint16_t)subset->phase[f];
	}
}

bool forsched_mpi_pack_places(const void *bytes, size_t nbytes, const struct places *places, uint8_t path,
			      uint16_t *cell, uint32_t *nphases, uint32_t *least)
{
	struct subset subset = {.places = places, .path = path};
	bool is_made = !forsched_open_memory(bytes, nbytes, "the schedule", &subset.schedule, NULL) &&
		       make_flows(&subset) && forsched_mpi_pack_phases(&subset.flows, subset.phase, nphases, least);

	if (is_made)
		fill_cells(&subset, cell);
	free_subset(&subset);
	return is_made;
}
