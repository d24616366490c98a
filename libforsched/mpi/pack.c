/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An exchange between some servers has a part of the schedule's flows. The schedule's phases, restricted to these, are
 * nearly as many as before, and nearly empty: so flows are packed anew. What is known of the fabric is what the schedule
 * says: two flows may be in one phase when they have no port and no link in common, and the schedule tells the links.
 *
 * There have to be as many phases as the flows that need the same port or link. So many are opened. Each flow goes, in
 * the order of the schedule's phases, into the first that has all that it needs: flows of one phase were made for each
 * other. Those that find none are homeless, and are put in by force, one by one: into the phase from which the fewest
 * others have to go, which are homeless then. A flow that was put in by force stays for a while, so that two do not chase
 * each other. When all LOOKS are used up, the homeless get phases of their own. The schedule's phases are what comes
 * out when that is not better.
 *
 * All of that takes some tens of milliseconds for hundreds of servers, and the steps are counted, not timed: whoever packs
 * the same flows has the same phases.
 */
#include "config.h"

#include "pack.h"

#include <stdlib.h>
#include <string.h>

#define LOOKS 2000000 /* at what a phase has for a need, at most */
#define TENURE 12     /* steps for which a flow that was put in by force stays */
#define ENOUGH 50     /* a part of so many may be left above the least: packing would hardly find better */
#define NOBODY UINT32_MAX

struct packing {
	const struct pack_flows *flows;
	uint32_t *phase;    /* by flow; NOBODY: homeless */
	uint32_t room;	    /* phases that there is room for */
	uint32_t n;	    /* open phases */
	uint32_t *owner;    /* by need, then phase: the flow that has it, or NOBODY */
	uint64_t *busy;	    /* by need, then phase: bits, whether somebody has it */
	uint32_t words;	    /* of bits of a need */
	uint32_t *homeless; /* a ring of flows->n + 1 */
	uint32_t head, tail;
	uint32_t *until; /* by flow: the step until which it stays */
	uint32_t step;
	uint64_t looks;
};

/* ---- the schedule's own phases ---- */

static uint32_t largest(const uint32_t *number, uint32_t n)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < n; i++)
		most = number[i] > most ? number[i] : most;
	return most;
}

/* Those that have flows, numbered anew. `name`: for every turn. */
static uint32_t keep_turns(const struct pack_flows *flows, uint32_t *name, uint32_t *phase)
{
	uint32_t n = 0, last = largest(flows->turn, flows->n);

	for (uint32_t f = 0; f < flows->n; f++)
		name[flows->turn[f]] = 1;
	for (uint32_t turn = 0; flows->n && turn <= last; turn++)
		name[turn] = name[turn] ? n++ : 0;
	for (uint32_t f = 0; f < flows->n; f++)
		phase[f] = name[flows->turn[f]];
	return n;
}

/* ---- in and out of a phase ---- */

static uint32_t *owner_of(const struct packing *packing, uint32_t need, uint32_t phase)
{
	return &packing->owner[(size_t)need * packing->room + phase];
}

static void set_owners(struct packing *packing, uint32_t f, uint32_t phase, uint32_t owner)
{
	const struct pack_flows *flows = packing->flows;
	uint64_t bit = (uint64_t)1 << phase % 64;

	for (uint32_t i = flows->first[f]; i < flows->first[f + 1]; i++) {
		uint64_t *word = &packing->busy[(size_t)flows->need[i] * packing->words + phase / 64];

		*word = owner == NOBODY ? *word & ~bit : *word | bit;
		*owner_of(packing, flows->need[i], phase) = owner;
	}
}

static void put_in(struct packing *packing, uint32_t f, uint32_t phase)
{
	set_owners(packing, f, phase, f);
	packing->phase[f] = phase;
}

static void push(struct packing *packing, uint32_t f)
{
	packing->homeless[packing->tail] = f;
	packing->tail = packing->tail == packing->flows->n ? 0 : packing->tail + 1;
}

static uint32_t pop(struct packing *packing)
{
	uint32_t f = packing->homeless[packing->head];

	packing->head = packing->head == packing->flows->n ? 0 : packing->head + 1;
	return f;
}

static void put_out(struct packing *packing, uint32_t f)
{
	set_owners(packing, f, packing->phase[f], NOBODY);
	packing->phase[f] = NOBODY;
	push(packing, f);
}

/* The first phase that has all that a flow needs, open or not; `room`: none. */
static uint32_t first_fit(const struct packing *packing, uint32_t f)
{
	const struct pack_flows *flows = packing->flows;

	for (uint32_t word = 0; word < packing->words; word++) {
		uint64_t busy = 0;

		for (uint32_t i = flows->first[f]; i < flows->first[f + 1]; i++)
			busy |= packing->busy[(size_t)flows->need[i] * packing->words + word];
		if (~busy) {
			uint32_t phase = word * 64 + (uint32_t)__builtin_ctzll(~busy);

			return phase < packing->room ? phase : packing->room;
		}
	}
	return packing->room;
}

/* ---- each into the first that fits ---- */

/* Flows by turn: `order`, by counting. `count`: for every turn, and one more; zeroes. */
static void sort_by_turn(const struct pack_flows *flows, uint32_t *count, uint32_t *order)
{
	uint32_t last = largest(flows->turn, flows->n);

	for (uint32_t f = 0; f < flows->n; f++)
		count[flows->turn[f] + 1]++;
	for (uint32_t turn = 0; turn <= last; turn++)
		count[turn + 1] += count[turn];
	for (uint32_t f = 0; f < flows->n; f++)
		order[count[flows->turn[f]]++] = f;
}

static void put_all(struct packing *packing, const uint32_t *order)
{
	for (uint32_t i = 0; i < packing->flows->n; i++) {
		uint32_t phase = first_fit(packing, order[i]);

		if (phase < packing->n)
			put_in(packing, order[i], phase);
		else
			push(packing, order[i]);
	}
}

/* ---- by force ---- */

/* How many flows have to go from a phase for this one; those that stay for now count more. `most`: who has more is lost. */
static uint32_t price_of(struct packing *packing, uint32_t f, uint32_t phase, uint32_t most)
{
	const struct pack_flows *flows = packing->flows;
	uint32_t price = 0, last = NOBODY;

	for (uint32_t i = flows->first[f]; i < flows->first[f + 1] && price < most; i++) {
		uint32_t owner = *owner_of(packing, flows->need[i], phase);

		packing->looks++;
		if (owner == NOBODY || owner == last)
			continue;
		price += packing->until[owner] > packing->step ? 16 : 1;
		last = owner;
	}
	return price;
}

static uint32_t cheapest(struct packing *packing, uint32_t f)
{
	uint32_t begin = packing->step * 7919u % packing->n, best = begin, least = UINT32_MAX;

	for (uint32_t i = 0; i < packing->n && least; i++) {
		uint32_t phase = begin + i < packing->n ? begin + i : begin + i - packing->n;
		uint32_t price = price_of(packing, f, phase, least);

		if (price < least) {
			least = price;
			best = phase;
		}
	}
	return best;
}

static void force_in(struct packing *packing, uint32_t f)
{
	const struct pack_flows *flows = packing->flows;
	uint32_t phase = cheapest(packing, f);

	for (uint32_t i = flows->first[f]; i < flows->first[f + 1]; i++) {
		uint32_t owner = *owner_of(packing, flows->need[i], phase);

		if (owner != NOBODY)
			put_out(packing, owner);
	}
	put_in(packing, f, phase);
	packing->until[f] = packing->step + TENURE + packing->step % 7;
	packing->step++;
}

/* Those that are homeless when the steps are used up get phases of their own; false: there is no room for them. */
static bool open_more(struct packing *packing)
{
	while (packing->head != packing->tail) {
		uint32_t f = pop(packing), phase = first_fit(packing, f);

		if (phase == packing->room)
			return false;
		packing->n = phase < packing->n ? packing->n : phase + 1;
		put_in(packing, f, phase);
	}
	return true;
}

/* ---- all of it ---- */

static bool run(struct packing *packing, uint32_t *order)
{
	put_all(packing, order);
	while (packing->head != packing->tail && packing->looks < LOOKS)
		force_in(packing, pop(packing));
	return open_more(packing);
}

/* Phases that there have to be: what is needed most. `load`: for each need; zeroes. */
static uint32_t count_least(const struct pack_flows *flows, uint32_t *load)
{
	for (uint32_t i = 0; i < flows->first[flows->n]; i++)
		load[flows->need[i]]++;
	return largest(load, flows->nneeds);
}

static void free_packing(struct packing *packing)
{
	free(packing->phase);
	free(packing->owner);
	free(packing->busy);
	free(packing->homeless);
	free(packing->until);
}

static bool make_packing(struct packing *packing, const struct pack_flows *flows, uint32_t room, uint32_t open)
{
	size_t owners = (size_t)flows->nneeds * room;

	*packing = (struct packing){.flows = flows, .room = room, .n = open, .words = (room + 63) / 64};
	packing->phase = malloc(flows->n * sizeof(uint32_t));
	packing->owner = malloc(owners * sizeof(uint32_t));
	packing->busy = calloc((size_t)flows->nneeds * packing->words, sizeof(uint64_t));
	packing->homeless = malloc(((size_t)flows->n + 1) * sizeof(uint32_t));
	packing->until = calloc(flows->n, sizeof(uint32_t));
	if (!packing->phase || !packing->owner || !packing->busy || !packing->homeless || !packing->until) {
		free_packing(packing);
		return false;
	}
	memset(packing->owner, 0xff, owners * sizeof(uint32_t));
	return true;
}

/* Pack into fewer phases than *nphases, of which there have to be `least`; they stay when there are no fewer. */
static bool pack(const struct pack_flows *flows, uint32_t least, uint32_t *phase, uint32_t *nphases)
{
	uint32_t *count = calloc((size_t)largest(flows->turn, flows->n) + 2, sizeof(*count));
	uint32_t *order = malloc(flows->n * sizeof(*order));
	struct packing packing;
	bool have_room = count && order && make_packing(&packing, flows, *nphases - 1, least);

	if (have_room) {
		sort_by_turn(flows, count, order);
		if (run(&packing, order)) {
			memcpy(phase, packing.phase, flows->n * sizeof(uint32_t));
			*nphases = packing.n;
		}
		free_packing(&packing);
	}
	free(count);
	free(order);
	return have_room;
}

bool forsched_mpi_pack_phases(const struct pack_flows *flows, uint32_t *phase, uint32_t *nphases, uint32_t *least)
{
	uint32_t *name = calloc((size_t)largest(flows->turn, flows->n) + 1, sizeof(*name));
	uint32_t *load = calloc((size_t)flows->nneeds + 1, sizeof(*load));
	bool have_room = name && load;

	if (have_room) {
		*nphases = keep_turns(flows, name, phase);
		*least = count_least(flows, load);
	}
	free(name);
	free(load);
	if (!have_room || !flows->are_known || *nphases - *least <= *nphases / ENOUGH)
		return have_room;
	return pack(flows, *least, phase, nphases);
}
