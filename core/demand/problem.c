/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * problem.c - the resources of a demand, and the bound that follows from their loads.
 *
 * The bytes that a port or a cable has to carry take their time whatever the order; so do the bytes that leave a switch, over all of its
 * cables. These are bounds of any schedule, with pieces and without. In units a phase carries a whole message, so quotients are rounded up.
 */
#include "problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- gates ---- */

/* Which links do ways take first out of a switch, or last into one? Each is counted once, when it is seen first. */
static void count_gates(struct fors_demand_problem *p, uint8_t *seen)
{
	const struct fors_flows_problem *ways = &p->routed->problem;
	uint32_t nways = p->nswitches * p->nservers * p->npaths;

	for (uint32_t way = 0; way < nways; way++) {
		uint32_t unit = way / p->npaths, first, last;

		if (!ways->exists[way] || ways->begin[way] == ways->begin[way + 1])
			continue;
		first = ways->link[ways->begin[way]];
		last = ways->link[ways->begin[way + 1] - 1];
		if (!(seen[first] & 1))
			p->capacity[fors_demand_gate_out(p, unit / p->nservers)]++;
		if (!(seen[last] & 2))
			p->capacity[fors_demand_gate_in(p, ways->home[unit % p->nservers])]++;
		seen[first] |= 1;
		seen[last] |= 2;
	}
}

static bool is_same(const struct fors_flows_problem *ways, uint32_t a, uint32_t b)
{
	uint32_t n = ways->begin[a + 1] - ways->begin[a];

	return ways->exists[b] && n == ways->begin[b + 1] - ways->begin[b] &&
	       (!n || !memcmp(ways->link + ways->begin[a], ways->link + ways->begin[b], n * sizeof(*ways->link)));
}

static void choose_ways(struct fors_demand_problem *p)
{
	const struct fors_flows_problem *ways = &p->routed->problem;
	uint32_t nways = p->nswitches * p->nservers * p->npaths;

	for (uint32_t way = 0; way < nways; way++) {
		bool is_new = ways->exists[way];

		for (uint32_t before = way - way % p->npaths; is_new && before < way; before++)
			is_new = !is_same(ways, way, before);
		p->exists[way] = is_new;
	}
}

enum fors_err fors_demand_problem_make(const struct fors_demand *demand, const struct fors_flows_routed *routed,
				       struct fors_demand_problem *problem, struct fors_error *error)
{
	struct fors_demand_problem p = {.demand = demand,
					.routed = routed,
					.nservers = routed->nservers,
					.nlinks = routed->problem.nlinks,
					.nswitches = routed->nswitches,
					.npaths = routed->problem.npaths};
	uint8_t *seen = calloc(p.nlinks + (size_t)1, 1);

	p.nresources = 2 * p.nservers + p.nlinks + 2 * p.nswitches;
	p.capacity = calloc(p.nresources + (size_t)1, sizeof(*p.capacity));
	p.exists = malloc((size_t)p.nswitches * p.nservers * p.npaths + 1);
	if (!seen || !p.capacity || !p.exists) {
		free(seen);
		free(p.capacity);
		free(p.exists);
		return fors_fail_memory(error);
	}
	for (uint32_t x = 0; x < 2 * p.nservers + p.nlinks; x++)
		p.capacity[x] = 1;
	count_gates(&p, seen);
	choose_ways(&p);
	free(seen);
	*problem = p;
	return FORS_OK;
}

void fors_demand_problem_clear(struct fors_demand_problem *problem)
{
	free(problem->capacity);
	free(problem->exists);
	*problem = (struct fors_demand_problem){0};
}

/* ---- loads ---- */

uint64_t *fors_demand_load(const struct fors_demand_problem *p)
{
	uint64_t *load = calloc(p->nresources + (size_t)1, sizeof(*load));
	uint32_t use[FORS_DEMAND_MOST_USES];

	for (uint32_t m = 0; load && m < p->demand->count; m++) {
		uint32_t n = fors_demand_loads(p, m, use);

		for (uint32_t i = 0; i < n; i++)
			load[use[i]] += p->demand->message[m].bytes;
	}
	return load;
}

/* Ports of a message, and links that all of its ways share, in certain[FORS_DEMAND_MOST_USES]; how many. */
static uint32_t certain_of(const struct fors_demand_problem *p, uint32_t message, uint32_t *certain)
{
	uint32_t use[FORS_DEMAND_MOST_USES];
	uint32_t n = fors_demand_uses(p, message, 0, certain);

	for (uint32_t path = 1; path < p->npaths && n > 2; path++) {
		uint32_t nuses = fors_demand_uses(p, message, path, use), left = 2;

		for (uint32_t i = 2; i < n; i++) {
			bool is_shared = !nuses;

			for (uint32_t k = 2; k < nuses && !is_shared; k++)
				is_shared = use[k] == certain[i];
			if (is_shared)
				certain[left++] = certain[i];
		}
		n = left;
	}
	return n;
}

static void load_certain(const struct fors_demand_problem *p, uint32_t message, uint64_t amount, uint64_t *load)
{
	uint32_t certain[FORS_DEMAND_MOST_USES], n = certain_of(p, message, certain);

	for (uint32_t i = 0; i < n; i++)
		load[certain[i]] += amount;
}

static void load_gates(const struct fors_demand_problem *p, uint32_t m, uint64_t amount, uint64_t *load)
{
	const struct fors_demand_message *message = &p->demand->message[m];
	uint32_t from = p->routed->problem.home[message->src], to = p->routed->problem.home[message->dst];

	if (from == to)
		return;
	load[fors_demand_gate_out(p, from)] += amount;
	load[fors_demand_gate_in(p, to)] += amount;
}

/* ---- the bound ---- */

const char *fors_demand_limit_name(enum fors_demand_limit limit)
{
	return limit == FORS_LIMIT_PORT ? "port" : limit == FORS_LIMIT_LEAF ? "leaf" : "cable";
}

static enum fors_demand_limit limit_of(const struct fors_demand_problem *p, uint32_t x)
{
	if (x < 2 * p->nservers)
		return FORS_LIMIT_PORT;
	return x < 2 * p->nservers + p->nlinks ? FORS_LIMIT_CABLE : FORS_LIMIT_LEAF;
}

static void name_resource(const struct fors_demand_problem *p, uint32_t x, char *text, size_t room)
{
	const struct fors_flows_routed *routed = p->routed;
	uint32_t gate = x - 2 * p->nservers - p->nlinks;

	switch (limit_of(p, x)) {
	case FORS_LIMIT_PORT:
		snprintf(text, room, "%s %s", fors_node_name(routed->net, routed->server[x % p->nservers].node),
			 x < p->nservers ? "sends" : "receives");
		break;
	case FORS_LIMIT_CABLE:
		fors_flows_link_name(routed, x - 2 * p->nservers, text, room);
		break;
	case FORS_LIMIT_LEAF:
		snprintf(text, room, "%s of %s", gate < p->nswitches ? "out" : "into",
			 fors_node_name(routed->net, routed->node[gate % p->nswitches]));
		break;
	}
}

/* A port counts before a leaf, and a leaf before a cable: what is no fault of the tables first. */
static void take(const struct fors_demand_problem *p, const uint64_t *load, struct fors_demand_bound *bound)
{
	uint64_t *const of[] = {&bound->ports, &bound->leaf, &bound->cable};
	uint32_t at[] = {0, 0, 0};

	*bound = (struct fors_demand_bound){0};
	for (uint32_t x = 0; x < p->nresources; x++) {
		enum fors_demand_limit limit = limit_of(p, x);
		uint64_t need = p->capacity[x] ? (load[x] + p->capacity[x] - 1) / p->capacity[x] : 0;

		if (need > *of[limit]) {
			*of[limit] = need;
			at[limit] = x;
		}
	}
	for (unsigned limit = 0; limit < 3; limit++)
		if (*of[limit] > bound->most) {
			bound->most = *of[limit];
			bound->which = (enum fors_demand_limit)limit;
			name_resource(p, at[limit], bound->what, sizeof(bound->what));
		}
}

/* By bytes, or by the number of messages. */
static enum fors_err measure(const struct fors_demand_problem *p, bool is_counted, struct fors_demand_bound *bound,
			     struct fors_error *error)
{
	uint64_t *load = calloc(p->nresources + (size_t)1, sizeof(*load));

	if (!load)
		return fors_fail_memory(error);
	for (uint32_t m = 0; m < p->demand->count; m++) {
		uint64_t amount = is_counted ? 1 : p->demand->message[m].bytes;

		load_certain(p, m, amount, load);
		load_gates(p, m, amount, load);
	}
	take(p, load, bound);
	free(load);
	return FORS_OK;
}

enum fors_err fors_demand_bound_of(const struct fors_demand_problem *problem, struct fors_demand_bound *bound,
				   struct fors_error *error)
{
	return measure(problem, false, bound, error);
}

enum fors_err fors_demand_fewest(const struct fors_demand_problem *problem, uint32_t *fewest, struct fors_error *error)
{
	struct fors_demand_bound bound;
	enum fors_err err = measure(problem, true, &bound, error);

	if (!err)
		*fewest = (uint32_t)bound.most;
	return err;
}
