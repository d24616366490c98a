/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * units.c - method `rounds`: one LID is enough (doc/planners-rounds.md).
 *
 * With one LID for each server the tables fix the way of every flow: a leaf sends all for server d over one lane. So let
 * the servers of a leaf send to d one after another: that is a unit. Up to N units of a leaf, N its servers, run side by
 * side, shifted against each other, and fill a round of N phases: in phase u of it the unit at position i is served by the
 * server of rank (u + i) mod N. A link and a receiver have one unit in a round, a leaf N of them, so nothing conflicts.
 *
 * Units are lumps of N flows, so the occupancy, the search and the strategy of single flows pack them: a unit is a token, a
 * round a phase. Leaves with fewer servers count as full ones. Each unit begins in the round that home arithmetic gives
 * it (core/tables/home.h): on a complete tree all have their place then. Units that lost their lane come last, and
 * find the lanes that idle in their round.
 *
 * Rounds come in lumps of N phases. Where the bound is not reached the servers of a leaf are cut into 2, and with more
 * path indices 4, groups with units and a row of the schedule each. Which group a token is sent by is decided
 * afterwards, as among single servers (senders.c). Base LIDs alone come first, for which tables are balanced.
 */
#include <stdlib.h>

#include "core/schedule/schedule.h"
#include "core/tables/home.h"
#include "core/tables/lanes.h"
#include "search.h"
#include "senders.h"
#include "strategy.h"
#include "units.h"

#define MOST_PARTS 4 /* groups of a leaf, where there are several path indices */
#define MANY 64	     /* one unit of so many: more wait than a search is for */
#define WORK_AT_LEAST UINT64_C(4000000)
#define WORK_PER_UNIT 200 /* words of masks, beside those */

static uint32_t divide_up(uint32_t a, uint32_t b)
{
	return a / b + (a % b > 0);
}

/* ---- units ---- */

static void release(struct fors_units *units)
{
	free(units->problem.senders);
	free(units->class);
	free(units->round);
	free(units->lane);
	free(units->is_fixed);
}

/* Each group is as large as the largest: a unit is a token of `length` flows. False: out of memory. */
static bool make_units(const struct fors_task *task, const struct fors_flows_problem *flows, uint32_t parts,
		       struct fors_units *units)
{
	size_t items;

	*units = (struct fors_units){.task = task, .problem = *flows, .parts = parts};
	units->length = divide_up(task->fabric->max_servers, parts);
	units->nclasses = task->fabric->nlanes ? fors_home_nclasses(task->fabric) : 1;
	items = (size_t)units->nclasses * task->fabric->nleaves;
	units->round = calloc(items * parts + 1, sizeof(*units->round));
	units->lane = malloc(items + 1);
	units->is_fixed = calloc(items + 1, sizeof(*units->is_fixed));
	units->class = calloc(flows->ndests + (size_t)1, sizeof(*units->class));
	units->problem.senders = calloc(flows->nswitches + (size_t)1, sizeof(*units->problem.senders));
	if (!units->round || !units->lane || !units->is_fixed || !units->class || !units->problem.senders)
		return false;
	for (uint32_t s = 0; s < flows->nswitches; s++)
		units->problem.senders[s] = units->length * (flows->senders[s] < parts ? flows->senders[s] : parts);
	units->problem.lump = units->length;
	return fors_units_look(units);
}

/* ---- a packing to begin with ---- */

static bool put_over_any(struct fors_flows_packing *packing, uint32_t s, uint32_t d, uint32_t round)
{
	for (uint32_t path = 0; path < packing->problem->npaths; path++)
		if (fors_flows_put_if_free(packing, s, d, path, round))
			return true;
	return false;
}

/* The units that go the way of their item, or the others, each into its round if there is room. */
static enum fors_err place(const struct fors_units *units, bool is_usual, struct fors_flows_packing *packing,
			   struct fors_error *error)
{
	const struct fors_flows_problem *p = packing->problem;
	const struct fors_task *task = units->task;

	for (uint32_t s = 0; s < p->nswitches; s++) {
		if (task->cancelled && task->cancelled(task->context))
			return fors_fail(error, FORS_ECANCELLED, "rounds: planning was cancelled");
		for (uint32_t d = 0; p->senders[s] && d < p->ndests; d++) {
			uint32_t unit = s * p->ndests + d;
			const uint16_t *round = units->round + fors_units_item(units, s, d) * units->parts;

			if (fors_units_is_usual(units, s, d) != is_usual)
				continue;
			for (uint32_t i = 0; i < fors_flows_tokens(p, unit); i++)
				if (!put_over_any(packing, s, d, round[i]))
					packing->waiting[packing->nwaiting++] = unit;
		}
	}
	return FORS_OK;
}

static enum fors_err place_all(const struct fors_units *units, uint32_t nrounds, struct fors_flows_packing **packing,
			       struct fors_error *error)
{
	enum fors_err err = fors_flows_packing_new(&units->problem, nrounds, packing, error);

	if (err)
		return err;
	(*packing)->nwaiting = 0;
	err = place(units, true, *packing, error);
	if (!err)
		err = place(units, false, *packing, error);
	if (!err)
		return FORS_OK;
	fors_flows_packing_free(*packing);
	*packing = NULL;
	return err;
}

/* At home; where many find no room there, by a colouring, if that leaves fewer. */
static enum fors_err begin(void *context, uint32_t nrounds, struct fors_flows_packing **packing,
			   struct fors_error *error)
{
	struct fors_units *units = context;
	struct fors_flows_packing *made = NULL, *coloured = NULL;
	enum fors_err err;

	fors_units_at_home(units, nrounds);
	err = place_all(units, nrounds, &made, error);
	if (!err && made->nwaiting > fors_flows_units(&units->problem) / MANY)
		err = fors_units_colour(units, nrounds) ? place_all(units, nrounds, &coloured, error)
							: fors_fail_memory(error);
	if (err) {
		fors_flows_packing_free(made);
		return err;
	}
	*packing = coloured && coloured->nwaiting < made->nwaiting ? coloured : made;
	fors_flows_packing_free(*packing == made ? coloured : made);
	fors_flows_fill(*packing);
	return FORS_OK;
}

/* ---- the schedule ---- */

void fors_flows_set_lanes(const struct fors_task *task, struct fors_schedule *schedule)
{
	const struct fors_fabric *fabric = task->fabric;

	for (size_t i = 0; i < fors_schedule_ncells(schedule); i++) {
		struct fors_cell *cell = &schedule->cell[i];
		uint32_t row = (uint32_t)(i / schedule->nphases),
			 leaf = schedule->parts ? row / schedule->parts : fabric->server[row].leaf;

		if (cell->dst != FORS_IDLE && fabric->server[cell->dst].leaf != leaf)
			cell->lane = fors_lane_to(fabric, task->lanes, leaf, cell->dst, cell->path);
	}
}

/* The position in a round at which a unit is served by its own receiver in the first phase; FORS_IDLE: never. */
static uint32_t own_position(const struct fors_schedule *schedule, uint32_t row, struct fors_cell cell)
{
	const struct fors_schedule_server *to = cell.dst == FORS_IDLE ? NULL : &schedule->server[cell.dst];

	return to && to->leaf * schedule->parts + to->rank % schedule->parts == row ? to->rank / schedule->parts
										    : FORS_IDLE;
}

/*
 * Who would send to itself idles: all servers of a leaf in the first phase of a round. On a complete tree all leaves have their
 * own servers in the first round, so nobody sends in the first phase of all.
 */
static void idle_together(struct fors_schedule *schedule)
{
	const size_t nrounds = fors_schedule_ncells(schedule) / schedule->round_length;

	for (size_t round = 0; round < nrounds; round++) {
		struct fors_cell *cell = schedule->cell + round * schedule->round_length;
		uint32_t row = (uint32_t)(round * schedule->round_length / schedule->nphases), at;

		for (uint32_t i = 0; i < schedule->round_length; i++)
			while ((at = own_position(schedule, row, cell[i])) != FORS_IDLE && at != i) {
				const struct fors_cell other = cell[at];

				cell[at] = cell[i];
				cell[i] = other;
			}
	}
}

/* *best becomes this plan. */
static enum fors_err keep(const struct fors_units *units, const struct fors_flows_packing *packing,
			  struct fors_schedule **best, struct fors_error *error)
{
	struct fors_schedule *made = NULL;
	enum fors_err err = fors_schedule_new(units->task->fabric, packing->nphases * units->length, units->parts,
					      units->length, fors_method_rounds.name, &made, error);

	if (!err)
		err = fors_flows_write(packing, made, error);
	if (err) {
		fors_schedule_free(made);
		return err;
	}
	if (fors_units_keep_step(units))
		idle_together(made);
	fors_flows_set_lanes(units->task, made);
	fors_schedule_free(*best);
	*best = made;
	return FORS_OK;
}

/* ---- which units ---- */

/* More phases are of no use; 0: any number is. */
static uint32_t most_phases(const struct fors_task *task, const struct fors_schedule *best)
{
	if (best && (!task->wanted_phases || best->nphases <= task->wanted_phases))
		return best->nphases - 1;
	return task->wanted_phases;
}

static enum fors_err pack(struct fors_units *units, struct fors_schedule **best, struct fors_error *error)
{
	const struct fors_task *task = units->task;
	struct fors_flows_packing *packing;
	struct fors_flows_asked asked = {.limits = task->limits,
					 .cancelled = task->cancelled,
					 .context = task->context,
					 .known_bound = divide_up(task->known_bound, units->length),
					 .begin = begin,
					 .begin_context = units,
					 .steps = task->steps};
	uint32_t most = most_phases(task, *best);
	enum fors_err err;

	asked.wanted_phases = most / units->length;
	if (most && asked.wanted_phases < asked.known_bound)
		return FORS_OK;
	if (!asked.limits.steps)
		asked.limits.steps = WORK_AT_LEAST + WORK_PER_UNIT * units->problem.ndests *
							     fors_flows_received_tokens(&units->problem);
	err = fors_flows_pack_problem(&units->problem, &asked, &packing, error);
	if (err)
		return most && err == FORS_ENOPLAN ? FORS_OK : err;
	err = keep(units, packing, best, error);
	fors_flows_packing_free(packing);
	return err;
}

/* Fewer phases than *best has, if they are of use, over so many path indices, in all groups that are worth it. */
static enum fors_err try_paths(const struct fors_task *task, uint32_t npaths, struct fors_schedule **best,
			       struct fors_error *error)
{
	uint32_t most = npaths > 1 ? MOST_PARTS : 2;
	struct fors_flows_problem flows;
	enum fors_err err = fors_flows_problem_read(task, npaths, &flows, error);

	if (err)
		return err;
	for (uint32_t parts = 1; !err && parts <= most && parts <= task->fabric->max_servers; parts *= 2) {
		struct fors_units units;

		if (*best && (*best)->nphases <= flows.ndests)
			break;
		err = make_units(task, &flows, parts, &units) ? pack(&units, best, error) : fors_fail_memory(error);
		release(&units);
	}
	fors_flows_problem_clear(&flows);
	return err;
}

static enum fors_err plan(const struct fors_task *task, struct fors_schedule **schedule, struct fors_error *error)
{
	struct fors_schedule *best = NULL;
	uint32_t most =
		1u << task->fabric->lmc < FORS_FLOWS_MOST_PATHS ? 1u << task->fabric->lmc : FORS_FLOWS_MOST_PATHS;
	enum fors_err err = FORS_OK;

	for (uint32_t npaths = 1; !err && npaths <= most; npaths *= 2) {
		if (task->progress)
			task->progress(task->context, (double)npaths / (2 * most));
		if (!best || best->nphases > task->known_bound)
			err = try_paths(task, npaths, &best, error);
	}
	if (!err && !best)
		err = fors_fail(error, FORS_ENOPLAN, "rounds: no plan of %u phases was found", task->wanted_phases);
	if (err)
		fors_schedule_free(best);
	else
		*schedule = best;
	return err;
}

const struct fors_method fors_method_rounds = {
	.name = "rounds",
	.plan = plan,
};
