/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * odd.c - odd sets.
 *
 * Take 2 k + 1 ports and links that carry one message at a time. A message that needs j of them takes j of 2 k + 1 places, so for the sum of
 * floor(j / 2) over the messages of a phase there is room for k and no more. Therefore T >= sum of bytes * floor(j / 2) / k. Three
 * resources make a triangle, in which any two messages meet; five make the ring of demands.md. This is the inequality of Edmonds for matchings.
 *
 * Good sets are among the neediest resources. A set begins with one of them, and grows by the pair that gives most, again and again.
 */
#include "odd.h"

#include <stdlib.h>
#include <string.h>

#define MOST_LOOKED_AT 48 /* resources */
#define MOST_PAIRS 7	  /* that a set grows by */

struct odd {
	const struct fors_demand_problem *problem;
	struct fors_effort *effort;
	uint32_t resource[MOST_LOOKED_AT], n;
	uint32_t first[MOST_LOOKED_AT + 1]; /* where the messages of each begin */
	uint32_t *message;
	uint8_t *needs; /* per message: how many of the set it needs */
	bool is_in[MOST_LOOKED_AT];
	uint64_t sum; /* of bytes * floor(needs / 2) */
};

/* ---- a set ---- */

static void put_in(struct odd *o, uint32_t r)
{
	o->is_in[r] = true;
	for (uint32_t i = o->first[r]; i < o->first[r + 1]; i++) {
		uint32_t m = o->message[i];

		if (++o->needs[m] % 2 == 0)
			o->sum += o->problem->demand->message[m].bytes;
	}
}

static void take_out(struct odd *o, uint32_t r)
{
	o->is_in[r] = false;
	for (uint32_t i = o->first[r]; i < o->first[r + 1]; i++) {
		uint32_t m = o->message[i];

		if (o->needs[m]-- % 2 == 0)
			o->sum -= o->problem->demand->message[m].bytes;
	}
}

/* What the sum would grow by with one more. */
static uint64_t gain(struct odd *o, uint32_t r)
{
	uint64_t bytes = 0;

	for (uint32_t i = o->first[r]; i < o->first[r + 1]; i++)
		if (o->needs[o->message[i]] % 2)
			bytes += o->problem->demand->message[o->message[i]].bytes;
	fors_effort_spend(o->effort, o->first[r + 1] - o->first[r] + 1);
	return bytes;
}

/* Put in the pair that gives most; false: there is none. */
static bool grow(struct odd *o)
{
	uint32_t best[2] = {0, 0};
	uint64_t most = 0;

	for (uint32_t a = 0; a < o->n; a++) {
		if (o->is_in[a])
			continue;
		put_in(o, a);
		for (uint32_t b = a + 1; b < o->n; b++) {
			uint64_t sum = o->is_in[b] ? 0 : o->sum + gain(o, b);

			if (sum <= most)
				continue;
			most = sum;
			best[0] = a;
			best[1] = b;
		}
		take_out(o, a);
	}
	if (!most)
		return false;
	put_in(o, best[0]);
	put_in(o, best[1]);
	return true;
}

static void search(struct odd *o, uint64_t *bound, uint32_t *size)
{
	for (uint32_t r = 0; r < o->n && !fors_effort_is_over(o->effort); r++) {
		put_in(o, r);
		for (uint32_t k = 1; k <= MOST_PAIRS && !fors_effort_is_over(o->effort) && grow(o); k++) {
			uint64_t here = (o->sum + k - 1) / k;

			if (here <= *bound)
				continue;
			*bound = here;
			*size = 2 * k + 1;
		}
		for (uint32_t i = 0; i < o->n; i++)
			if (o->is_in[i])
				take_out(o, i);
	}
}

/* ---- the neediest ---- */

/* Keep the resources with the largest loads, the largest first. */
static void choose(struct odd *o, const uint64_t *load)
{
	uint32_t resources = 2 * o->problem->nservers + o->problem->nlinks;

	for (uint32_t x = 0; x < resources; x++) {
		uint32_t at = o->n;

		if (!load[x] || (at == MOST_LOOKED_AT && load[x] <= load[o->resource[at - 1]]))
			continue;
		at -= at == MOST_LOOKED_AT;
		for (; at && load[o->resource[at - 1]] < load[x]; at--)
			o->resource[at] = o->resource[at - 1];
		o->resource[at] = x;
		o->n += o->n < MOST_LOOKED_AT;
	}
}

static uint32_t place_of(const struct odd *o, uint32_t x)
{
	uint32_t r = 0;

	while (r < o->n && o->resource[r] != x)
		r++;
	return r;
}

/* With `message` NULL they are only counted. */
static void list(struct odd *o)
{
	uint32_t use[FORS_DEMAND_MOST_USES], used[MOST_LOOKED_AT] = {0};

	for (uint32_t m = 0; m < o->problem->demand->count; m++) {
		uint32_t n = fors_demand_certain(o->problem, m, use);

		for (uint32_t i = 0; i < n; i++) {
			uint32_t r = place_of(o, use[i]);

			if (r < o->n && o->message)
				o->message[o->first[r] + used[r]] = m;
			if (r < o->n)
				used[r]++;
		}
	}
	for (uint32_t r = 0; r < o->n && !o->message; r++)
		o->first[r + 1] = o->first[r] + used[r];
}

enum fors_err fors_demand_odd_bound(const struct fors_demand_problem *problem, struct fors_effort *effort,
				    uint64_t *bound, uint32_t *size, struct fors_error *error)
{
	struct odd o = {.problem = problem, .effort = effort};
	uint64_t *load = calloc(problem->nresources + (size_t)1, sizeof(*load));
	bool is_good;

	o.needs = calloc(problem->demand->count + (size_t)1, 1);
	if (load && o.needs) {
		for (uint32_t m = 0; m < problem->demand->count; m++)
			fors_demand_load_certain(problem, m, problem->demand->message[m].bytes, load);
		choose(&o, load);
		list(&o);
		o.message = malloc((o.first[o.n] + (size_t)1) * sizeof(*o.message));
	}
	is_good = o.message;
	if (is_good) {
		*bound = 0;
		*size = 0;
		list(&o);
		search(&o, bound, size);
	}
	free(load);
	free(o.needs);
	free(o.message);
	return is_good ? FORS_OK : fors_fail_memory(error);
}
