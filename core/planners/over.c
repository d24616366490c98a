/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * over.c - plan and bounds over the tables of any engine, in a net of any topology.
 *
 * The tables are walked once (flows/routed.c); what comes of it is a problem of single flows and its bound. Two bounds
 * tell whom to blame: T above that of the tables is what the schedule costs, that above the one over all tables is what the
 * tables cost. The proof walks the same tables again, by code of its own (core/schedule/verify.c).
 *
 * Memory is what limits the number of servers: the occupancy table of a packing has some words for every flow, and a search
 * has up to four of them. All is reckoned before it is taken (fors_flows_pack_bytes(), fors_ways_bytes()), so that a daemon is
 * not killed for it.
 */
#include "over.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/net/rates.h"
#include "core/planners/flows/linear_shift.h"
#include "core/planners/flows/choice.h"
#include "core/planners/flows/retry.h"
#include "core/planners/flows/routed.h"
#include "core/planners/flows/routed_schedule.h"
#include "core/planners/flows/routed_ways.h"
#include "core/planners/flows/senders.h"
#include "core/planners/flows/strategy.h"
#include "core/planners/method.h"
#include "memory.h"
#include "over_bound.h"
#include "over_rounds.h"

#define SOME_SERVERS 512 /* of more it takes long */
/*
 * Of more a phase less is little, and looking for it takes long where rounds are to be had at once. In 198 small trees
 * and nets it changed nothing; where hosts are gone from three levels, phases that are empty stay without it.
 */
#define FEW_SERVERS 64

struct plan {
	const struct fors_request *request;
	const struct fors_pods_route *rounds; /* that the plan may begin with; NULL */
	struct fors_flows_routed *routed;
	struct fors_schedule *schedule;
	struct fors_ways_seen seen;
	uint32_t bound, best; /* over these tables by what is fullest, over any by cuts; planning goes by these */
	uint64_t wanted_bytes;
	uint32_t most_paths; /* path indices that are looked at */
};

static void tell(const struct plan *plan, double done)
{
	if (plan->request->task.progress)
		plan->request->task.progress(plan->request->task.context, done);
}

/* ---- what there is ---- */

static uint64_t most_bytes(const struct plan *plan)
{
	uint64_t limit = plan->request->task.limits.bytes;

	return limit ? limit : FORS_OVER_MOST_BYTES;
}

static enum fors_err read_tables(struct plan *plan, struct fors_error *error)
{
	const struct fors_request *request = plan->request;
	const struct fors_flows_tables tables = {.net = request->net,
						 .lfts = request->lfts,
						 .participants = request->participants,
						 .most_paths = request->is_barred ? FORS_OVER_ALL_PATHS
							       : request->path	  ? 1
										  : plan->most_paths,
						 .first_path = request->path,
						 .is_barred = request->is_barred,
						 .cancelled = request->task.cancelled,
						 .context = request->task.context};
	enum fors_err err = fors_ways_fit(request->net, plan->most_paths, most_bytes(plan), error);

	return err ? err : fors_flows_routed_read(&tables, &plan->routed, error);
}

/* Which argument the bound of the tables is. */
static void say_why(const struct fors_flows_routed *routed, struct fors_ways_seen *seen, uint32_t bound, uint32_t link)
{
	struct fors_over_why *why = &seen->tables;

	*why = (struct fors_over_why){.by = FORS_BY_PORT, .bound = bound, .node = FORS_NONE};
	if (bound > seen->fullest_phases && bound > routed->nservers)
		why->by = FORS_BY_WAYS;
	else if (seen->fullest_phases > routed->nservers)
		why->by = FORS_BY_LINK;
	if (why->by == FORS_BY_LINK)
		fors_flows_link_end(routed, link, &why->node, &why->port);
}

/* What links carry that are in use. */
static void describe_links(const struct fors_flows_routed *routed, struct fors_ways_seen *seen)
{
	seen->full = fors_rates_full(routed->net, routed->flow);
	for (uint32_t link = 0; link < routed->problem.nlinks; link++) {
		uint32_t flows = fors_flows_capacity(&routed->problem, link);

		seen->most_flows = flows > seen->most_flows ? flows : seen->most_flows;
		if (!seen->least_flows || flows < seen->least_flows)
			seen->least_flows = flows;
	}
}

/* Servers that hold up each phase in which they send or receive. */
static void describe_slow(const struct fors_flows_routed *routed, struct fors_ways_seen *seen)
{
	double most = 1;

	for (uint32_t d = 0; d < routed->nservers; d++) {
		const struct fors_flows_server *server = &routed->server[d];
		double slowness =
			fors_port_slowness(fors_net_port(routed->net, server->node, server->port), seen->full);

		seen->nslow += slowness > 1;
		if (slowness <= most)
			continue;
		most = slowness;
		snprintf(seen->slowest, sizeof(seen->slowest), "%s", fors_node_name(routed->net, server->node));
	}
}

/* What can be said before there is a plan. */
static enum fors_err describe(struct plan *plan, struct fors_error *error)
{
	const struct fors_flows_routed *routed = plan->routed;
	struct fors_ways_seen *seen = &plan->seen;
	uint32_t link, known;
	enum fors_err err = fors_flows_fullest(&routed->problem, &link, &seen->fullest_flows, error);

	if (!err && link != FORS_FLOWS_NONE)
		seen->fullest_phases = fors_flows_phases(&routed->problem, link, seen->fullest_flows);
	known = seen->fullest_phases > routed->nservers ? seen->fullest_phases : routed->nservers;
	if (!err)
		err = fors_flows_choice_bound(&routed->problem, known, &plan->bound, NULL, error);
	if (err)
		return err;
	say_why(routed, seen, plan->bound, link);
	describe_links(routed, seen);
	describe_slow(routed, seen);
	seen->nservers = routed->nservers;
	seen->nleaves = routed->nswitches;
	seen->nnameless = routed->nnameless;
	seen->npaths = routed->problem.npaths;
	seen->longest = fors_flows_longest(&routed->problem);
	if (link != FORS_FLOWS_NONE)
		fors_flows_link_name(routed, link, seen->fullest, sizeof(seen->fullest));
	err = fors_over_bound(routed, &seen->best, &seen->best_length, error);
	plan->best = seen->best.bound;
	return err;
}

/* What packing single flows takes. */
static uint64_t bytes_of(const struct plan *plan)
{
	uint64_t phases = plan->bound, p = plan->seen.nservers;

	return fors_flows_pack_bytes(&plan->routed->problem, (uint32_t)phases) + p * phases * sizeof(struct fors_cell);
}

/* What packing whole units takes: two packings while a round is added, and the search. */
static uint64_t units_bytes(const struct plan *plan)
{
	const struct fors_pods_route *route = plan->rounds;
	struct fors_flows_problem units = plan->routed->problem;

	units.lump = route->length;
	return route->round ? fors_flows_pack_bytes(&units, route->nrounds) : 0;
}

/* For a plan of single flows. There is none in whole units, maybe since not even these fit: then they are what is told. */
static enum fors_err check_memory(const struct plan *plan, struct fors_error *error)
{
	uint64_t most = most_bytes(plan), bytes = bytes_of(plan), units = plan->rounds ? units_bytes(plan) : 0;

	if (bytes <= most)
		return FORS_OK;
	bytes = units > most && units < bytes ? units : bytes;
	return fors_fail(error, FORS_ELIMIT,
			 "to plan for %u servers over these tables, %u phases at least, may take %" PRIu64
			 " MiB of memory, and the limit is %" PRIu64,
			 plan->seen.nservers, plan->bound, (bytes >> 20) + 1, most >> 20);
}

/* ---- the schedule ---- */

/* Empty, with its servers; length: phases of a round, 0: single flows. */
static enum fors_err make_schedule(struct plan *plan, uint32_t nphases, uint32_t length, struct fors_error *error)
{
	const char *method = length ? fors_method_rounds.name : fors_method_flows.name;

	return fors_flows_schedule(plan->routed, nphases, length, method, &plan->schedule, error);
}

/* The level belongs to the way, so it is asked for with the path index that the flow uses. */
static enum fors_err ask_levels(struct plan *plan, struct fors_error *error)
{
	const struct fors_request *request = plan->request;
	struct fors_schedule *schedule = plan->schedule;
	const struct fors_schedule_server *server = schedule->server;
	size_t p = schedule->nservers;

	if (!request->sl)
		return FORS_OK;
	schedule->sl = malloc(p * p + 1);
	if (!schedule->sl)
		return fors_fail_memory(error);
	memset(schedule->sl, FORS_NO_SL, p * p);
	for (uint32_t s = 0; s < p; s++)
		for (uint32_t t = 0; t < schedule->nphases; t++) {
			struct fors_cell cell = fors_schedule_flow(schedule, s, t);

			if (cell.dst != FORS_IDLE && cell.dst != s)
				schedule->sl[s * p + cell.dst] = request->sl(
					request->levels, server[s].lid, server[cell.dst].lid + (uint32_t)cell.path);
		}
	return FORS_OK;
}

/* Where ways were chosen a cell has the number of its way in the unit so far; it gets the path index. */
static void name_paths(const struct plan *plan)
{
	const struct fors_flows_problem *p = &plan->routed->problem;
	struct fors_schedule *schedule = plan->schedule;

	for (size_t i = 0; i < fors_schedule_ncells(schedule); i++) {
		struct fors_cell *cell = &schedule->cell[i];
		uint32_t s = p->home[i / schedule->nphases];

		if (cell->dst != FORS_IDLE)
			cell->path = plan->routed->path_of[(s * p->ndests + cell->dst) * p->npaths + cell->path];
	}
}

/* Write a packing of single flows, in which nothing waits. */
static enum fors_err write_flows(struct plan *plan, const struct fors_flows_packing *packing, struct fors_error *error)
{
	enum fors_err err = make_schedule(plan, packing->nphases, 0, error);

	if (!err)
		err = fors_flows_write(packing, plan->schedule, error);
	if (!err && plan->routed->path_of)
		name_paths(plan);
	return err;
}

/* What no tables allow these do not. */
static uint32_t full_bound(const struct plan *plan)
{
	return plan->bound > plan->best ? plan->bound : plan->best;
}

/* A plan of single flows above its bound is tried in other ways, unless that takes too long. */
static enum fors_err retry(const struct plan *plan, const struct fors_flows_asked *asked,
			   struct fors_flows_packing **packing, struct fors_error *error)
{
	struct fors_flows_asked bounded = *asked;

	if (plan->request->haste)
		return FORS_OK;
	bounded.known_bound = full_bound(plan);
	return fors_flows_retry(&plan->routed->problem, &bounded, false, packing, error);
}

/* The numbers by which homes are, of those that take part, without gaps; false: one of them hangs on a switch above leaves. */
static bool list_numbers(const struct plan *plan, uint32_t *home, uint32_t *number)
{
	const struct fors_flows_routed *routed = plan->routed;

	for (uint32_t d = 0; d < routed->nservers; d++) {
		uint32_t slot = plan->rounds->slot_of[routed->server[d].lid];

		if (slot == FORS_NONE)
			return false;
		home[d] = plan->rounds->number[slot];
	}
	for (uint32_t d = 0; d < routed->nservers; d++)
		for (uint32_t i = 0; i < routed->nservers; i++)
			number[d] += home[i] < home[d];
	return true;
}

/*
 * Over tables with homes by number, if no link carries more than there are servers: a plan of as many phases, or a few more, in
 * *packing; NULL: there is none.
 */
static enum fors_err pack_from_shift(const struct plan *plan, const struct fors_flows_asked *asked,
				     struct fors_flows_packing **packing, struct fors_error *error)
{
	uint32_t n = plan->routed->nservers, *number;
	enum fors_err err = FORS_OK;

	if (!plan->rounds || !plan->rounds->number || plan->request->path || plan->bound != n)
		return FORS_OK;
	number = calloc(2 * (size_t)n, sizeof(*number));
	if (!number)
		return fors_fail_memory(error);
	if (list_numbers(plan, number + n, number))
		err = fors_flows_linear_shift(&plan->routed->problem, number, asked, packing, error);
	free(number);
	return err;
}

/*
 * The shorter of a plan, which may be NULL, and one from the beginning, unless that takes long, or a phase less is all that it could save and
 * is little.
 */
static enum fors_err pack_anew(const struct plan *plan, const struct fors_flows_asked *asked,
			       struct fors_flows_packing **packing, struct fors_error *error)
{
	struct fors_flows_asked flows = *asked;
	uint32_t nservers = plan->seen.nservers;
	struct fors_flows_packing *made = NULL;
	enum fors_err err;

	if (*packing && ((*packing)->nphases <= plan->bound + (nservers > FEW_SERVERS) || nservers > SOME_SERVERS))
		return FORS_OK;
	flows.known_bound = plan->bound;
	flows.is_quick = plan->request->haste == FORS_QUICK && !flows.limits.steps;
	flows.wanted_phases = *packing ? (*packing)->nphases - 1 : 0;
	err = fors_flows_pack_problem(&plan->routed->problem, &flows, &made, error);
	if (err)
		return *packing && err == FORS_ENOPLAN ? FORS_OK : err;
	fors_flows_packing_free(*packing);
	*packing = made;
	return FORS_OK;
}

static enum fors_err pack_flows(struct plan *plan, const struct fors_flows_asked *asked, struct fors_error *error)
{
	struct fors_flows_packing *packing = NULL;
	enum fors_err err = check_memory(plan, error);

	if (!err)
		err = pack_from_shift(plan, asked, &packing, error);
	if (!err)
		err = pack_anew(plan, asked, &packing, error);
	if (!err && packing->nphases > plan->bound)
		err = retry(plan, asked, &packing, error);
	if (!err)
		err = write_flows(plan, packing, error);
	fors_flows_packing_free(packing);
	return err;
}

/* Would single flows take more memory than there is? */
static bool is_large(const struct plan *plan)
{
	return bytes_of(plan) > most_bytes(plan);
}

static bool may_be_rounds(const struct plan *plan)
{
	const struct fors_pods_route *route = plan->rounds;

	return route && units_bytes(plan) <= most_bytes(plan) && fors_over_rounds_may_be(plan->routed, route);
}

/* Whole units, in rounds; cut into single flows where these tables allow fewer phases, and there is memory for it. */
static enum fors_err pack_rounds(struct plan *plan, const struct fors_flows_asked *asked, struct fors_error *error)
{
	const struct fors_pods_route *route = plan->rounds;
	struct fors_flows_problem units;
	struct fors_flows_packing *packing;
	uint32_t nphases;
	enum fors_err err = FORS_OK;

	if (!may_be_rounds(plan))
		return FORS_OK;
	err = fors_over_rounds(plan->routed, route, asked, &units, &packing, error);
	if (err || !packing)
		return err;
	nphases = packing->nphases * route->length;
	if (nphases > plan->bound && is_large(plan))
		plan->wanted_bytes = bytes_of(plan);
	if (nphases > plan->bound && !is_large(plan)) {
		err = fors_flows_improve(&plan->routed->problem, asked, plan->best, &packing, error);
		if (!err && plan->seen.nservers <= FEW_SERVERS && plan->request->haste < FORS_ONE_OF_MANY)
			err = pack_anew(plan, asked, &packing, error);
		if (!err)
			err = write_flows(plan, packing, error);
	} else {
		err = make_schedule(plan, nphases, route->length, error);
		if (!err)
			err = fors_flows_write(packing, plan->schedule, error);
	}
	fors_flows_packing_free(packing);
	return err;
}

static enum fors_err pack_units(struct plan *plan, struct fors_error *error)
{
	const struct fors_task *task = &plan->request->task;
	struct fors_flows_asked asked = {
		.limits = task->limits, .cancelled = task->cancelled, .context = task->context};
	enum fors_err err = pack_rounds(plan, &asked, error);

	return err || plan->schedule ? err : pack_flows(plan, &asked, error);
}

/* Single flows are all that there is over ways; of these, units may be what a plan begins with. */
static enum fors_err may_plan(const struct plan *plan, struct fors_error *error)
{
	const char *method = fors_method_of(&plan->request->task.limits);

	if (!strcmp(method, "auto") || !strcmp(method, fors_method_flows.name))
		return FORS_OK;
	return fors_fail(error, FORS_ENOTAPPL,
			 "method %s is for two-level fat-trees; over these tables there is method flows", method);
}

static enum fors_err pack(struct plan *plan, struct fors_error *error)
{
	enum fors_err err = describe(plan, error);

	if (!err)
		err = may_plan(plan, error);
	tell(plan, 0.1);
	if (!err)
		err = pack_units(plan, error);
	if (!err)
		err = fors_flows_waylist(plan->routed, &plan->schedule->ways, error);
	if (!err)
		err = ask_levels(plan, error);
	if (!err)
		plan->schedule->fingerprint = fors_flows_fingerprint(plan->routed);
	return err;
}

/* ---- all ---- */

static enum fors_err make(struct plan *plan, struct fors_error *error)
{
	enum fors_err err = read_tables(plan, error);

	return err ? err : pack(plan, error);
}

static void clear(struct plan *plan)
{
	fors_flows_routed_free(plan->routed);
	fors_schedule_free(plan->schedule);
}

/* Of a tree of fors the bound of its servers counts too, where all take part; nothing is known of tables that could not be read. */
static void tell_bounds(const struct plan *plan, struct fors_outcome *outcome)
{
	const struct fors_pods_route *route = plan->request->rounds;
	uint32_t best = plan->best;

	outcome->seen = plan->seen;
	outcome->wanted_bytes = plan->wanted_bytes;
	if (!best)
		return;
	if (route && route->nservers == plan->seen.nservers && route->bound_servers > best &&
	    route->bound_servers != UINT32_MAX)
		best = route->bound_servers;
	outcome->lower_bound = best;
	outcome->tables_bound = plan->bound > best ? plan->bound : best;
}

enum fors_err fors_over_plan(const struct fors_request *request, struct fors_outcome *outcome, struct fors_error *error)
{
	bool is_flows = !strcmp(fors_method_of(&request->task.limits), fors_method_flows.name);
	struct plan plan = {
		.request = request, .rounds = is_flows ? NULL : request->rounds, .most_paths = FORS_FLOWS_MOST_PATHS};
	enum fors_err err = make(&plan, error);

	tell(&plan, 0.9);
	tell_bounds(&plan, outcome);
	if (!err) {
		outcome->plan = plan.schedule;
		plan.schedule = NULL;
	}
	clear(&plan);
	return err;
}

enum fors_err fors_over_look(const struct fors_request *request, struct fors_outcome *outcome, struct fors_error *error)
{
	struct plan plan = {.request = request, .most_paths = FORS_FLOWS_MOST_PATHS};
	enum fors_err err = read_tables(&plan, error);

	if (!err)
		err = describe(&plan, error);
	if (!err)
		tell_bounds(&plan, outcome);
	clear(&plan);
	return err;
}

/* ---- why ---- */

enum fors_err fors_over_witness_best(const struct fors_net *net, const struct fors_ways_seen *seen,
				     struct fors_witness *witness, struct fors_error *error)
{
	const struct fors_over_why *why = &seen->best;
	enum fors_err err = FORS_OK;

	witness->by = why->by;
	witness->bound = why->bound;
	for (unsigned port = 1; !err && why->by == FORS_BY_CUT && port <= net->node[why->node].nports; port++)
		if (fors_peer_switch(net, why->node, port) != FORS_NONE)
			err = fors_witness_add(witness, net->node[why->node].guid, port, 1, error);
	if (err)
		fors_witness_clear(witness);
	return err;
}

/* Each link that has a price. */
static enum fors_err list_prices(const struct fors_flows_routed *routed, const uint64_t *price,
				 struct fors_witness *witness, struct fors_error *error)
{
	enum fors_err err = FORS_OK;
	uint32_t node, port;

	for (uint32_t link = 0; !err && link < routed->problem.nlinks; link++) {
		if (!price[link])
			continue;
		fors_flows_link_end(routed, link, &node, &port);
		err = fors_witness_add(witness, routed->net->node[node].guid, port, price[link], error);
	}
	return err;
}

/* The prices that the bound of the tables had, found again as they were. */
static enum fors_err find_prices(const struct fors_request *request, const struct fors_ways_seen *seen,
				 struct fors_witness *witness, struct fors_error *error)
{
	struct plan plan = {.request = request, .most_paths = seen->npaths};
	uint32_t known = seen->fullest_phases > seen->nservers ? seen->fullest_phases : seen->nservers, bound;
	uint64_t *price = NULL;
	enum fors_err err = read_tables(&plan, error);

	if (!err && !(price = calloc(plan.routed->problem.nlinks + (size_t)1, sizeof(*price))))
		err = fors_fail_memory(error);
	if (!err)
		err = fors_flows_choice_bound(&plan.routed->problem, known, &bound, price, error);
	if (!err)
		err = list_prices(plan.routed, price, witness, error);
	free(price);
	fors_flows_routed_free(plan.routed);
	return err;
}

enum fors_err fors_over_witness_tables(const struct fors_request *request, const struct fors_ways_seen *seen,
				       struct fors_witness *witness, struct fors_error *error)
{
	const struct fors_over_why *why = &seen->tables;
	enum fors_err err = FORS_OK;

	witness->by = why->by;
	witness->bound = why->bound;
	if (why->by == FORS_BY_LINK)
		err = fors_witness_add(witness, request->net->node[why->node].guid, why->port, 1, error);
	if (why->by == FORS_BY_WAYS)
		err = find_prices(request, seen, witness, error);
	if (err)
		fors_witness_clear(witness);
	return err;
}
