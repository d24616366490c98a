/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Several ranks on a server. The schedule knows servers; a communicator has ranks, one or more on each. The phase of
 * server s to server d carries all messages from the ranks of s to the ranks of d, so the links are as free of conflicts
 * as with one rank each.
 *
 * With ks ranks on s and kd on d, rank i of s begins at rank floor(i kd / ks) of d, and goes on in a circle. So in step t
 * the messages of the ks ranks are spread over the kd as evenly as can be. A receiver expects its messages in the order of
 * the steps, and in one step in the order of senders. Whoever sends and receives in the order of (phase, step, sender)
 * waits for nobody in a circle: of all messages that have not arrived take the first in that order; whatever comes before
 * it on either side is done.
 */
#include "config.h"

#include "places.h"

#include <stdlib.h>

/* ---- places ---- */

int forsched_mpi_ranks_at(const struct places *places, uint32_t place)
{
	return places->first[place + 1] - places->first[place];
}

void forsched_mpi_places_free(struct places *places)
{
	free(places->server);
	free(places->of);
	free(places->first);
	free(places->rank);
	free(places->at);
	*places = (struct places){0};
}

static bool have_room(struct places *places, int size, uint32_t nservers)
{
	places->server = calloc((size_t)size, sizeof(*places->server));
	places->of = malloc(nservers * sizeof(*places->of));
	places->first = calloc((size_t)size + 1, sizeof(*places->first));
	places->rank = calloc((size_t)size, sizeof(*places->rank));
	places->at = calloc((size_t)size, sizeof(*places->at));
	return places->server && places->of && places->first && places->rank && places->at;
}

/* Number the servers that have ranks; first[place + 1] is how many. */
static void number_places(struct places *places, const int *servers, int size, uint32_t nservers)
{
	for (uint32_t server = 0; server < nservers; server++)
		places->of[server] = NO_PLACE;
	for (int rank = 0; rank < size; rank++)
		places->of[servers[rank]] = 0;
	for (uint32_t server = 0; server < nservers; server++) {
		if (places->of[server] == NO_PLACE)
			continue;
		places->of[server] = places->n;
		places->server[places->n++] = server;
	}
	for (int rank = 0; rank < size; rank++) {
		places->at[rank] = places->of[servers[rank]];
		places->first[places->at[rank] + 1]++;
	}
}

bool forsched_mpi_make_places(struct places *places, const int *servers, int size, uint32_t nservers)
{
	*places = (struct places){0};
	if (!have_room(places, size, nservers)) {
		forsched_mpi_places_free(places);
		return false;
	}
	number_places(places, servers, size, nservers);
	for (uint32_t place = 0; place < places->n; place++)
		places->first[place + 1] += places->first[place];
	for (int rank = size; rank-- > 0;) /* first[place + 1] goes down to where the place begins */
		places->rank[--places->first[places->at[rank] + 1]] = rank;
	for (uint32_t place = 0; place < places->n; place++)
		places->first[place] = places->first[place + 1];
	places->first[places->n] = size;
	return true;
}

/* ---- turns ---- */

void forsched_mpi_turns_free(struct turns *turns)
{
	free(turns->out_first);
	free(turns->in_first);
	free(turns->out);
	free(turns->in);
	*turns = (struct turns){0};
}

/* Where rank i of ks begins among the kd ranks of a receiving server. */
static int begin_at(int i, int ks, int kd)
{
	return (int)((int64_t)i * kd / ks);
}

static void add_out(struct turns *turns, const struct places *places, int local, int ks, uint32_t to, uint32_t *n)
{
	int kd = forsched_mpi_ranks_at(places, to), begin = begin_at(local, ks, kd);

	for (int step = 0; step < kd; step++)
		turns->out[(*n)++] = places->rank[places->first[to] + (begin + step) % kd];
}

/* In the order of steps, and in a step of senders. */
static void add_in(struct turns *turns, const struct places *places, int local, int kd, uint32_t from, uint32_t *n)
{
	int ks = forsched_mpi_ranks_at(places, from);

	for (int step = 0; step < kd; step++) {
		int begin = (local - step + kd) % kd;
		int i = (int)(((int64_t)begin * ks + kd - 1) / kd); /* the first that begins there or behind */

		for (; i < ks && begin_at(i, ks, kd) == begin; i++)
			turns->in[(*n)++] = places->rank[places->first[from] + i];
	}
}

static void fill(struct turns *turns, const struct places *places, int rank, const uint32_t *to, const uint32_t *from)
{
	uint32_t me = places->at[rank], nout = 0, nin = 0;
	int local = 0, k = forsched_mpi_ranks_at(places, me);

	while (places->rank[places->first[me] + local] != rank)
		local++;
	for (uint32_t phase = 0; phase < turns->n; phase++) {
		turns->out_first[phase] = nout;
		turns->in_first[phase] = nin;
		if (to[phase] != NO_PLACE)
			add_out(turns, places, local, k, to[phase], &nout);
		if (from[phase] != NO_PLACE)
			add_in(turns, places, local, k, from[phase], &nin);
	}
	turns->out_first[turns->n] = nout;
	turns->in_first[turns->n] = nin;
}

bool forsched_mpi_make_turns(struct turns *turns, const struct places *places, int rank, uint32_t nphases,
			     const uint32_t *to, const uint32_t *from)
{
	size_t size = (size_t)places->first[places->n];

	*turns = (struct turns){.n = nphases,
				.out_first = calloc((size_t)nphases + 1, sizeof(uint32_t)),
				.in_first = calloc((size_t)nphases + 1, sizeof(uint32_t)),
				.out = calloc(size, sizeof(int)),
				.in = calloc(size, sizeof(int))};
	if (!turns->out_first || !turns->in_first || !turns->out || !turns->in) {
		forsched_mpi_turns_free(turns);
		return false;
	}
	fill(turns, places, rank, to, from);
	return true;
}
