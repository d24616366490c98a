/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * problem.h - a demand over the ways of the tables: what its messages need, and what that needs at least.
 *
 * Whatever carries one message at a time is a resource: the port that a server sends by, the port that it receives by, a link. A message needs
 * two ports and the links of one of its ways. The links out of a switch with servers that its messages may take are a gate, those into it
 * another. A gate carries as many messages at a time as it has links.
 *
 * Resources are numbered: ports that send, ports that receive, links, gates out, gates in.
 * Thread rules: plain data once it is made.
 */
#ifndef FORS_CORE_DEMAND_PROBLEM_H
#define FORS_CORE_DEMAND_PROBLEM_H

#include "core/planners/flows/routed.h"
#include "demand.h"

#define FORS_DEMAND_MOST_USES (FORS_FLOWS_MOST_LINKS + 2)

struct fors_demand_problem {
	const struct fors_demand *demand; /* its servers are those of routed; borrowed, as routed is */
	const struct fors_flows_routed *routed;
	uint32_t nservers, nlinks, nswitches, npaths;
	uint32_t nresources; /* 2 nservers + nlinks + 2 nswitches */
	uint8_t *exists;     /* per way: is there one, and no path index before it with the same links? */
	uint32_t *capacity;  /* per resource: messages at a time; 0: a gate of which nobody sends */
};

/* What binds a bound. */
enum fors_demand_limit { FORS_LIMIT_PORT, FORS_LIMIT_LEAF, FORS_LIMIT_CABLE };

/* No plan is shorter, in bytes over one port or cable. */
struct fors_demand_bound {
	uint64_t ports, leaf,
		cable; /* by ports of servers; by all cables of a switch; by single cables, over these tables */
	uint64_t most; /* the largest of them */
	enum fors_demand_limit which;
	char what[2 * FORS_NAME_MAX + 32]; /* the port, switch or cable */
};

/* *problem is to be cleared (fors_demand_problem_clear()). Errors: FORS_ENOMEM. */
enum fors_err fors_demand_problem_make(const struct fors_demand *demand, const struct fors_flows_routed *routed,
				       struct fors_demand_problem *problem, struct fors_error *error);
void fors_demand_problem_clear(struct fors_demand_problem *problem);

/* The bound in *bound. With several path indices a single cable counts for messages that have no other. Errors: FORS_ENOMEM. */
enum fors_err fors_demand_bound_of(const struct fors_demand_problem *problem, struct fors_demand_bound *bound,
				   struct fors_error *error);
/* No plan has fewer phases, in *fewest: the messages of the fullest port, leaf or cable, whatever their sizes. Errors: FORS_ENOMEM. */
enum fors_err fors_demand_fewest(const struct fors_demand_problem *problem, uint32_t *fewest, struct fors_error *error);
/* "port", "leaf", "cable" */
const char *fors_demand_limit_name(enum fors_demand_limit limit);

/* What all messages load (fors_demand_loads()), in bytes of each resource; to be freed. NULL: out of memory. */
uint64_t *fors_demand_load(const struct fors_demand_problem *problem);

/* --- resources ---- */

static inline uint32_t fors_demand_link(const struct fors_demand_problem *p, uint32_t link)
{
	return 2 * p->nservers + link;
}

static inline uint32_t fors_demand_gate_out(const struct fors_demand_problem *p, uint32_t sw)
{
	return 2 * p->nservers + p->nlinks + sw;
}

static inline uint32_t fors_demand_gate_in(const struct fors_demand_problem *p, uint32_t sw)
{
	return 2 * p->nservers + p->nlinks + p->nswitches + sw;
}

/* The ports and links of a message on a path index in use[FORS_DEMAND_MOST_USES], ports first; how many, 0: there is no such way. */
static inline uint32_t fors_demand_uses(const struct fors_demand_problem *p, uint32_t message, uint32_t path,
					uint32_t *use)
{
	const struct fors_flows_problem *ways = &p->routed->problem;
	const struct fors_demand_message *m = &p->demand->message[message];
	uint32_t way = (ways->home[m->src] * ways->ndests + m->dst) * ways->npaths + path, n = 2;

	if (!p->exists[way])
		return 0;
	use[0] = m->src;
	use[1] = p->nservers + m->dst;
	for (uint32_t i = ways->begin[way]; i < ways->begin[way + 1]; i++)
		use[n++] = fors_demand_link(p, ways->link[i]);
	return n;
}

/* All that a message loads whatever its way: ports, and links where it has one way, else gates; in load[FORS_DEMAND_MOST_USES]. */
static inline uint32_t fors_demand_loads(const struct fors_demand_problem *p, uint32_t message, uint32_t *load)
{
	const struct fors_demand_message *m = &p->demand->message[message];
	uint32_t from = p->routed->problem.home[m->src], to = p->routed->problem.home[m->dst];

	if (p->npaths == 1)
		return fors_demand_uses(p, message, 0, load);
	load[0] = m->src;
	load[1] = p->nservers + m->dst;
	if (from == to)
		return 2;
	load[2] = fors_demand_gate_out(p, from);
	load[3] = fors_demand_gate_in(p, to);
	return 4;
}

#endif
