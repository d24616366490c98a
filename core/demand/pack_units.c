/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pack_units.c - whole messages into phases of one message each, by the packer of method flows. There each server is a switch with one sender, and a
 * message is a token.
 *
 * The messages of the fullest ports and links go first, each into the first phase with room. For the others the packer looks, in as many phases as
 * the bound says. Where it finds no place for all a phase is added.
 */
#include "pack.h"

#include <stdlib.h>

#include "core/planners/flows/search.h"

#define PATIENCE 24		       /* of a search */
#define STEPS_PER_ITEM UINT64_C(40000) /* before a phase is added */
#define MOST_BYTES (UINT64_C(1) << 30) /* of a packing */
#define SPARE_ITEMS 1000	       /* more than in proportion: few messages take long where all phases are full */

struct item {
	uint64_t urgency; /* the largest load of what it needs */
	uint32_t message;
};

/* ---- the demand as a problem of flows ---- */

static uint32_t links_of(const void *context, uint32_t src, uint32_t dst, uint32_t path, uint32_t *link)
{
	const struct fors_demand_problem *p = context;
	uint32_t home = p->routed->problem.home[src];

	if (!p->exists[(home * p->nservers + dst) * p->npaths + path])
		return FORS_FLOWS_NONE;
	return fors_flows_links(&p->routed->problem, home, dst, path, link);
}

/* The numbers 0 to n, all 1 first, are what it has of arrays: `number` keeps them. */
static struct fors_flows_problem units_of(const struct fors_demand_problem *p, uint32_t *number)
{
	uint32_t n = p->nservers;

	for (uint32_t s = 0; s <= n; s++) {
		number[s] = 1;
		number[n + 1 + s] = s;
	}
	return (struct fors_flows_problem){.nswitches = n,
					   .ndests = n,
					   .nlinks = p->nlinks,
					   .npaths = p->npaths,
					   .senders = number,
					   .first = number + n + 1,
					   .home = number + n + 1,
					   .links_of = links_of,
					   .context = p};
}

/* ---- first fit ---- */

static uint64_t urgency_of(const struct fors_demand_problem *p, uint32_t message, const uint64_t *load)
{
	uint32_t use[FORS_DEMAND_MOST_USES], n = fors_demand_loads(p, message, use);
	uint64_t most = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t need = load[use[i]] / (p->capacity[use[i]] ? p->capacity[use[i]] : 1);

		most = need > most ? need : most;
	}
	return most;
}

static int by_urgency(const void *left, const void *right)
{
	const struct item *a = left, *b = right;

	if (a->urgency != b->urgency)
		return a->urgency > b->urgency ? -1 : 1;
	return (a->message > b->message) - (a->message < b->message);
}

/* One token, on the first of its ways with a free phase, or it waits. */
static void place(struct fors_flows_packing *packing, uint32_t src, uint32_t dst)
{
	uint32_t row[FORS_FLOWS_MOST_LINKS + 2], seen, phase = FORS_FLOWS_NONE, npaths = packing->problem->npaths;
	uint32_t unit = src * packing->problem->ndests + dst;

	for (uint32_t path = 0; path < npaths && phase == FORS_FLOWS_NONE; path++) {
		uint32_t n = fors_flows_rows_of(packing, src, dst, path, row);

		if (n != FORS_FLOWS_NONE)
			phase = fors_occupancy_find(&packing->occupancy, row, n, 0, UINT32_MAX, &seen);
		if (phase != FORS_FLOWS_NONE)
			fors_flows_put(packing, unit * npaths + path, phase);
	}
	if (phase == FORS_FLOWS_NONE)
		packing->waiting[packing->nwaiting++] = unit;
}

/* In place of all that waits the messages of the demand. */
static enum fors_err first_fit(const struct fors_demand_problem *p, uint32_t parts, struct fors_flows_packing *packing,
			       struct fors_error *error)
{
	const struct fors_demand *demand = p->demand;
	struct item *item = malloc((demand->count + (size_t)1) * sizeof(*item));
	uint64_t *load = fors_demand_load(p);
	enum fors_err err = item && load ? FORS_OK : fors_fail_memory(error);

	for (uint32_t m = 0; !err && m < demand->count; m++)
		item[m] = (struct item){urgency_of(p, m, load), m};
	if (!err)
		qsort(item, demand->count, sizeof(*item), by_urgency);
	packing->nwaiting = 0;
	for (uint32_t i = 0; !err && i < demand->count; i++) {
		const struct fors_demand_message *m = &demand->message[item[i].message];

		for (uint64_t k = demand->is_unit ? m->bytes : parts; k; k--)
			place(packing, m->src, m->dst);
	}
	free(item);
	free(load);
	return err;
}

/* ---- the search ---- */

static enum fors_err search(const struct fors_demand_asked *asked, uint64_t share, struct fors_flows_packing *packing,
			    struct fors_error *error)
{
	const struct fors_task *task = asked->effort->task;
	uint64_t before = packing->work;
	enum fors_err err =
		fors_flows_search(packing, share, task ? task->cancelled : NULL, task ? task->context : NULL, error);

	fors_effort_spend(asked->effort, packing->work - before);
	return err;
}

/* A quarter more phases than any plan needs are too many. */
static uint32_t most_phases(uint32_t fewest)
{
	return fewest + fewest / 4 + 4;
}

/* Half of the budget is for as few phases as any plan needs, the rest for those that are added. */
static enum fors_err pack(const struct fors_demand_asked *asked, uint32_t parts, uint64_t tokens,
			  struct fors_flows_packing **packing, struct fors_error *error)
{
	uint64_t share = (asked->effort->budget - asked->effort->spent) / 2;
	uint64_t most = STEPS_PER_ITEM * (tokens + SPARE_ITEMS);
	uint32_t most_turns = most_phases((*packing)->nphases);
	enum fors_err err = first_fit(asked->problem, parts, *packing, error);

	(*packing)->patience = PATIENCE;
	(*packing)->nways = asked->problem->npaths;
	(*packing)->seed = 1;
	share = most < share ? most : share;
	if (!err)
		err = search(asked, share, *packing, error);
	while (!err && (*packing)->nwaiting && (*packing)->nphases < most_turns &&
	       !fors_effort_is_over(asked->effort)) {
		share = share / 2 + 1;
		err = fors_flows_packing_add(packing, (*packing)->nphases + 1, error);
		if (!err)
			err = search(asked, share, *packing, error);
	}
	return err;
}

static enum fors_err write_plan(const struct fors_flows_packing *packing, uint64_t tokens,
				const struct fors_demand *demand, uint32_t parts, struct fors_demand_plan **plan,
				struct fors_error *error)
{
	const struct fors_flows_problem *p = packing->problem;
	struct fors_demand_put *list = malloc((tokens + 1) * sizeof(*list));
	uint32_t n = 0;
	enum fors_err err;

	if (!list)
		return fors_fail_memory(error);
	for (uint32_t d = 0; d < p->ndests; d++)
		for (uint32_t t = 0; t < packing->nphases; t++) {
			uint32_t way = fors_flows_received(packing, d, t), src = way / p->npaths / p->ndests;

			if (way == FORS_FLOWS_NONE)
				continue;
			list[n++] = (struct fors_demand_put){
				{demand->is_unit ? 1 : fors_demand_of(demand, src, d) / parts, src, d, way % p->npaths},
				t};
		}
	err = fors_demand_plan_make(list, n, packing->nphases, p->ndests, "units", plan, error);
	free(list);
	return err;
}

/* The packer has places for one token of each pair. */
static bool is_small(const struct fors_demand_asked *asked, const struct fors_flows_problem *units, uint32_t phases,
		     uint64_t tokens)
{
	uint64_t n = units->ndests, most = asked->most_bytes ? asked->most_bytes : MOST_BYTES;

	if (tokens > n * n || n * n * units->npaths >= FORS_FLOWS_NONE)
		return false;
	return fors_flows_packing_bytes(units, most_phases(phases)) <= most;
}

uint32_t fors_demand_phases(const struct fors_demand_asked *asked, uint32_t parts)
{
	uint64_t size = parts > 1 ? fors_demand_size(asked->problem->demand) / parts : 1;

	return parts > 1 ? (uint32_t)((asked->bound + size - 1) / size) : asked->fewest;
}

enum fors_err fors_demand_pack_units(const struct fors_demand_asked *asked, uint32_t parts,
				     struct fors_demand_plan **plan, struct fors_error *error)
{
	const struct fors_demand *demand = asked->problem->demand;
	uint64_t tokens = demand->is_unit ? fors_demand_total(demand) : (uint64_t)parts * demand->count;
	uint32_t phases = fors_demand_phases(asked, parts),
		 *number = malloc(2 * (asked->problem->nservers + (size_t)1) * sizeof(*number));
	struct fors_flows_packing *packing = NULL;
	struct fors_flows_problem units;
	enum fors_err err = FORS_OK;

	*plan = NULL;
	if (!number)
		return fors_fail_memory(error);
	units = units_of(asked->problem, number);
	if (is_small(asked, &units, phases, tokens)) {
		err = fors_flows_packing_new(&units, phases, &packing, error);
		if (!err)
			err = pack(asked, parts, tokens, &packing, error);
		if (!err && !packing->nwaiting)
			err = write_plan(packing, tokens, demand, parts, plan, error);
	}
	fors_flows_packing_free(packing);
	free(number);
	return err;
}
