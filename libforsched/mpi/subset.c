/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Phases for a communicator that has some servers of the schedule only: its flows are packed anew (pack.c).
 *
 * Communicators that were made together, by one MPI_Comm_split say, are mostly used together: the rows of a grid, or its
 * columns. So the flows of all of them are packed at once, and rank 0 of each comes to the same phases by the same steps.
 * They have no clock in common: what is promised is freedom of conflicts when all call at once, and whether
 * that helps, the choice of ways measures (choice.c).
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

/* ---- which pairs ---- */

/* What rank 0 packs. Servers of all communicators made together, in the order of the schedule. */
struct subset {
	const struct places *places; /* of this communicator */
	uint8_t path;
	struct forsched *schedule; /* a handle of its own: the rows of all these servers are not kept */
	uint32_t n;
	uint32_t *server; /* n: number in the schedule */
	uint32_t *number; /* by server of the schedule: its number here, or NO_PLACE */
	uint8_t *wants;	  /* n x n: is there a flow from one to the other? */
	struct pack_flows flows;
	uint32_t *phase;
};

static void free_subset(struct subset *subset)
{
	forsched_close(subset->schedule);
	free(subset->server);
	free(subset->number);
	free(subset->wants);
	free(subset->flows.first);
	free(subset->flows.need);
	free(subset->flows.turn);
	free(subset->phase);
}

/* The server of a rank of the communicator that these were made from; NO_PLACE: not known, or in none of them. */
static uint32_t server_of(const struct subset *subset, const struct family *family, int rank)
{
	uint32_t server;

	if (family->group[rank] < 0 || !family->guid[rank] ||
	    forsched_find_guid(subset->schedule, family->guid[rank], &server, NULL))
		return NO_PLACE;
	return server;
}

/* Note the servers of this communicator, and of those made with it; more than MOST_PLACES are too many. */
static void note_servers(struct subset *subset, const struct family *family)
{
	const struct places *places = subset->places;
	uint32_t nservers = forsched_nservers(subset->schedule);

	for (uint32_t server = 0; server < nservers; server++)
		subset->number[server] = NO_PLACE;
	for (uint32_t place = 0; place < places->n; place++)
		subset->number[places->server[place]] = 0;
	for (int rank = 0; family && rank < family->n; rank++) {
		uint32_t server = server_of(subset, family, rank);

		if (server != NO_PLACE)
			subset->number[server] = 0;
	}
	subset->n = 0;
	for (uint32_t server = 0; server < nservers; server++)
		if (subset->number[server] != NO_PLACE)
			subset->number[server] = subset->n++;
}

/* All pairs of some servers, by their numbers here, `n` of them. */
static void want_pairs(struct subset *subset, const uint32_t *number, uint32_t n)
{
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < n; b++)
			if (number[a] != number[b])
				subset->wants[(size_t)number[a] * subset->n + number[b]] = 1;
}

/* The pairs of each communicator that was made with this one. `room`: for as many numbers as the family has ranks. */
static void want_family(struct subset *subset, const struct family *family, uint32_t *room)
{
	for (int first = 0; first < family->n; first++) {
		uint32_t n = 0;

		for (int rank = first; family->group[first] == first && rank < family->n; rank++) {
			uint32_t server = family->group[rank] == first ? server_of(subset, family, rank) : NO_PLACE;

			if (server != NO_PLACE)
				room[n++] = subset->number[server];
		}
		want_pairs(subset, room, n);
	}
}

static bool want_all(struct subset *subset, const struct family *family)
{
	const struct places *places = subset->places;
	size_t most = places->n + (family ? (size_t)family->n : 0);
	uint32_t *number = calloc(most, sizeof(*number));

	subset->server = calloc(subset->n, sizeof(*subset->server));
	subset->wants = calloc((size_t)subset->n * subset->n, 1);
	if (number && subset->server && subset->wants) {
		for (uint32_t server = 0; server < forsched_nservers(subset->schedule); server++)
			if (subset->number[server] != NO_PLACE)
				subset->server[subset->number[server]] = server;
		for (uint32_t place = 0; place < places->n; place++)
			number[place] = subset->number[places->server[place]];
		want_pairs(subset, number, places->n);
		if (family)
			want_family(subset, family, number);
	}
	free(number);
	return number && subset->server && subset->wants;
}

/* ---- their flows ---- */

/* The next flow: its sender, its receiver, its links. The links have the schedule's numbers for now, behind 2n. */
static void add_flow(struct subset *subset, uint32_t from, uint32_t to, uint32_t phase, const uint32_t *link,
		     uint32_t nlinks)
{
	struct pack_flows *flows = &subset->flows;
	uint32_t *need = &flows->need[flows->first[flows->n]];

	*need++ = from;
	*need++ = subset->n + to;
	for (uint32_t i = 0; i < nlinks; i++)
		*need++ = 2 * subset->n + link[i];
	flows->turn[flows->n++] = phase;
	flows->first[flows->n] = (uint32_t)(need - flows->need);
}

/* What a server of the schedule sends. `most`: needs that a flow may have. False: it cannot be read. */
static bool add_flows(struct subset *subset, uint32_t from, uint32_t most)
{
	uint32_t link[MOST_LINKS], nphases = forsched_nphases(subset->schedule), server = subset->server[from];
	struct forsched_flow flow;

	for (uint32_t phase = 0; phase < nphases; phase++) {
		uint32_t to, nlinks = 0;

		if (forsched_flow(subset->schedule, server, phase, &flow))
			return false;
		to = flow.to == FORSCHED_NOBODY ? NO_PLACE : subset->number[flow.to];
		if (to == NO_PLACE || !subset->wants[(size_t)from * subset->n + to])
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
	uint32_t all = flows->first[flows->n], last = 0, n = 2 * subset->n, *name;

	for (uint32_t i = 0; i < all; i++)
		last = flows->need[i] > last ? flows->need[i] : last;
	name = calloc((size_t)last + 1, sizeof(*name));
	for (uint32_t i = 0; name && i < all; i++) {
		uint32_t need = flows->need[i];

		if (need < 2 * subset->n)
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
		if (!forsched_links(subset->schedule, subset->server[0], phase, NULL, 0, &nlinks, NULL))
			most = nlinks > most ? nlinks : most;
	return 2 + 2 * most;
}

static bool make_flows(struct subset *subset)
{
	struct pack_flows *flows = &subset->flows;
	uint32_t most = most_needs(subset);
	size_t n = 0;

	for (size_t i = 0; i < (size_t)subset->n * subset->n; i++)
		n += subset->wants[i];
	*flows = (struct pack_flows){.first = calloc(n + 1, sizeof(uint32_t)),
				     .need = calloc(n, most * sizeof(uint32_t)),
				     .turn = calloc(n, sizeof(uint32_t)),
				     .are_known = true};
	subset->phase = calloc(n, sizeof(*subset->phase));
	if (!flows->first || !flows->need || !flows->turn || !subset->phase)
		return false;
	for (uint32_t from = 0; from < subset->n; from++)
		if (!add_flows(subset, from, most))
			return false;
	return number_needs(subset);
}

/* ---- all of it ---- */

static bool begin_subset(struct subset *subset, const void *bytes, size_t nbytes, const struct family *family)
{
	if (forsched_open_memory(bytes, nbytes, "the schedule", &subset->schedule, NULL))
		return false;
	subset->number = calloc(forsched_nservers(subset->schedule), sizeof(*subset->number));
	if (!subset->number)
		return false;
	note_servers(subset, family);
	if (subset->n > MOST_PLACES) {
		family = NULL;
		note_servers(subset, NULL);
	}
	return want_all(subset, family);
}

/* Which phase each flow between places has, in cell[from x n + to]. */
static void fill_cells(const struct subset *subset, uint16_t *cell)
{
	const struct places *places = subset->places;

	for (uint32_t f = 0; f < subset->flows.n; f++) {
		const uint32_t *need = &subset->flows.need[subset->flows.first[f]];
		uint32_t from = places->of[subset->server[need[0]]];
		uint32_t to = places->of[subset->server[need[1] - subset->n]];

		if (from != NO_PLACE && to != NO_PLACE)
			cell[(size_t)from * places->n + to] = (uint16_t)subset->phase[f];
	}
}

bool forsched_mpi_pack_places(const void *bytes, size_t nbytes, const struct places *places,
			      const struct family *family, uint8_t path, uint16_t *cell, uint32_t *nphases,
			      uint32_t *least)
{
	struct subset subset = {.places = places, .path = path};
	bool is_made = begin_subset(&subset, bytes, nbytes, family) && make_flows(&subset) &&
		       forsched_mpi_pack_phases(&subset.flows, subset.phase, nphases, least);

	if (is_made)
		fill_cells(&subset, cell);
	free_subset(&subset);
	return is_made;
}
