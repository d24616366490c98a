/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rounds.c - the rounds planner: conflict-free plans over plain destination-based tables (doc/planners-rounds.md).
 *
 * With one LID per server the tables fix the way of every flow: leaf a sends
 * everything for server d over one lane. So let all servers of a leaf send to d one
 * after another: that is a unit. N units of a leaf run side by side, shifted
 * against each other, and fill a round of N phases: in phase u of the round
 * the unit at position i is served by the server of rank (u + i) mod N. Within a round
 * each server sends to one at a time, each link and each receiver belongs to
 * one unit, so nothing can conflict, and every pair comes exactly once. What is
 * left is to give each unit a round in which its uplink, its downlink, its
 * receiver and its leaf have room (pattern.c, search.c).
 *
 * Rounds come in lumps of N phases. Cutting the servers of a leaf into 2, 4, ... groups, each
 * with units of its own, makes the lumps smaller: half units, quarter units.
 * With more path indices each unit may choose among several ways. So the planner
 * goes through stages (path indices, groups), each beginning with the best
 * plan of those before and trying to save at least one of its smaller rounds. LMC l runs all
 * stages of LMC l - 1 first, so a larger LMC is never worse.
 *
 * A server takes its turn for itself too, and nobody waits then. Where the links have room for all that leaves a leaf in
 * one round less than there are leaves, what stays inside has the last round for itself, all servers meet themselves in
 * its last turn, and that phase is empty.
 *
 * All stages share one budget of steps, linear in the flows. A stage that it ends with changes nothing; the plan is the best of
 * those before.
 */
#include "core/schedule/schedule.h"
#include "pattern.h"
#include "search.h"

#include <stdlib.h>
#include <string.h>

#include "core/schedule/schedule_format.h"

#define PATIENCE 500	    /* ejections without any progress after which an attempt gives up */
#define SHORT_PATIENCE 250  /* the same for half units over one path index, where little can be gained */
#define FINEST_UNITS 262144 /* no more units in the last stage */
#define FINEST_GAIN 3	    /* percent of phases that it must promise */
#define FINEST_TRIES 4
#define WORK_AT_LEAST UINT64_C(12000000)
#define WORK_PER_FLOW 400 /* steps in all stages, beside those */
#define STAGE_TRIES 4	  /* numbers of rounds that a stage with more path indices tries */
#define MAX_PATHS_LOG2 2  /* path indices beyond 4 add nothing that the exact planner does not do better */
#define MAX_PARTS_LOG2 2

/*
 * What all stages may spend: linear in the flows. Complete trees need a tenth of it or less, one with uneven leaves and
 * failures two thirds; where every leaf lacks other cables a plan of single flows is better than all that a longer search would find.
 */
static uint64_t budget_of(uint32_t nservers)
{
	return WORK_AT_LEAST + WORK_PER_FLOW * (uint64_t)nservers * nservers;
}

/* The best plan so far. */
struct best {
	struct fors_rounds_problem problem; /* shares the ways of the problem that is worked on */
	struct fors_rounds_packing *packing;
	uint32_t nphases;
};

/* Keep a complete packing if it has the fewest phases, or as few and one of them empty. */
static void keep(struct best *best, struct fors_rounds_packing *packing)
{
	uint32_t nphases = (packing->nrounds + packing->problem->is_apart) * packing->problem->capacity;

	if (best->packing && nphases + (best->problem.is_apart || !packing->problem->is_apart) > best->nphases) {
		fors_rounds_packing_free(packing);
		return;
	}
	fors_rounds_packing_free(best->packing);
	best->problem = *packing->problem;
	best->packing = packing;
	best->packing->problem = &best->problem;
	best->nphases = nphases;
}

/* Try to pack all units into nrounds. *done: it worked, and `best` has it. */
static enum fors_err pack(const struct fors_rounds_problem *problem, uint32_t nrounds, uint64_t patience,
			  struct best *best, bool *done, struct fors_error *error)
{
	struct fors_rounds_packing *packing;
	enum fors_err err = fors_rounds_packing_new(problem, nrounds, &packing, error);

	*done = false;
	if (err)
		return err;
	err = fors_rounds_start(packing, error);
	if (!err && !fors_effort_is_over(problem->effort))
		/* Where every receiver is busy in every round, hardly anything can move; soon or never. */
		err = fors_rounds_search(packing, nrounds <= fors_rounds_ngroups(problem) ? patience / 4 : patience,
					 done, error);
	if (!err && *done)
		keep(best, packing);
	else
		fors_rounds_packing_free(packing);
	return err;
}

/*
 * Can what stays inside leaves have the last of nrounds for itself? *may: a round for each leaf is all that the bound asks
 * for, and one fewer has room for the rest.
 */
static enum fors_err may_be_apart(struct fors_rounds_problem *problem, uint32_t nrounds, bool *may,
				  struct fors_error *error)
{
	uint32_t bound, rest = 0;
	enum fors_err err;

	*may = false;
	if (problem->parts != 1 || nrounds < 2)
		return FORS_OK;
	err = fors_rounds_bound(problem, &bound, error);
	problem->is_apart = true;
	if (!err)
		err = fors_rounds_bound(problem, &rest, error);
	problem->is_apart = false;
	*may = !err && bound == nrounds && rest + 1 == nrounds;
	return err;
}

/* Try nrounds: with a turn in which nobody sends, if that can be. *done: it worked, and `best` has it. */
static enum fors_err attempt(struct fors_rounds_problem *problem, uint32_t nrounds, uint64_t patience,
			     struct best *best, bool *done, struct fors_error *error)
{
	enum fors_err err = may_be_apart(problem, nrounds, &problem->is_apart, error);

	*done = false;
	if (!err && problem->is_apart)
		err = pack(problem, nrounds - 1, patience / 4, best, done, error);
	problem->is_apart = false;
	return err || *done ? err : pack(problem, nrounds, patience, best, done, error);
}

/*
 * The first stage: from the bound up, faster and faster, until it works; with enough rounds it always does. When the work
 * is spent before, rounds are doubled until nobody has to be searched for, which costs as much again a few times at the
 * most.
 */
static enum fors_err first_stage(struct fors_rounds_problem *problem, struct best *best, struct fors_error *error)
{
	uint32_t nrounds = 0, more = 1;
	uint64_t budget = problem->effort->budget, patience = PATIENCE;
	enum fors_err err = fors_rounds_bound(problem, &nrounds, error);
	bool done = false;

	while (!err && !done) {
		if (nrounds * (uint64_t)problem->capacity > FORS_SF_MAX_PHASES)
			return fors_fail(error, FORS_ELIMIT, "rounds: the plan would need more than %u phases",
					 FORS_SF_MAX_PHASES);
		err = attempt(problem, nrounds, patience, best, &done, error);
		if (fors_effort_is_over(problem->effort)) {
			problem->effort->budget = UINT64_MAX;
			patience = 0;
			more = nrounds;
		}
		nrounds += more;
		more += (more + 1) / 2;
	}
	problem->effort->budget = budget;
	return err;
}

/* A later stage: by bisection between the bound and what would be better than the best, a few times. */
static enum fors_err later_stage(struct fors_rounds_problem *problem, unsigned tries, uint64_t patience,
				 struct best *best, struct fors_error *error)
{
	uint32_t low = 0, high = (best->nphases - 1) / problem->capacity;
	enum fors_err err = fors_rounds_bound(problem, &low, error);

	/* The largest number first: most often it works, and then the others are worth their time. */
	for (uint32_t nrounds = high; !err && low <= high && tries > 0 && !fors_effort_is_over(problem->effort);
	     tries--) {
		bool done = false;

		err = attempt(problem, nrounds, patience, best, &done, error);
		if (done)
			high = nrounds - 1;
		else
			low = nrounds + 1;
		nrounds = low + (high - low) / 2;
	}
	return err;
}

/* Do all leaves with servers have equally many? */
static bool is_even(const struct fors_fabric *fabric)
{
	for (uint32_t leaf = 0; leaf < fabric->nleaves; leaf++)
		if (fabric->leaf[leaf].nservers != 0 && fabric->leaf[leaf].nservers != fabric->max_servers)
			return false;
	return true;
}

/* Groups per leaf in the last stage: as many as the number of units allows; 0: there is no such stage. */
static uint32_t finest_parts(const struct fors_rounds_problem *problem)
{
	uint32_t most = FINEST_UNITS / problem->nservers / problem->nleaves, parts = problem->fabric->max_servers;

	parts = parts < most ? parts : most;
	return parts <= 1 || is_even(problem->fabric) ? 0 : parts;
}

/*
 * Groups as small as the number of units allows, down to single servers. Leaves of unequal size lose much when they
 * have to keep step in long rounds; single servers lose nothing but time to plan, so that is spent only
 * where there is something to gain.
 */
static enum fors_err finest_stage(struct fors_rounds_problem *problem, uint32_t npaths, struct best *best,
				  struct fors_error *error)
{
	uint32_t parts = finest_parts(problem), bound;
	enum fors_err err;

	if (!parts)
		return FORS_OK;
	fors_rounds_problem_set(problem, npaths, parts);
	err = fors_rounds_bound(problem, &bound, error);
	if (err || best->nphases * UINT64_C(100) < bound * (uint64_t)problem->capacity * (100 + FINEST_GAIN))
		return err;
	return later_stage(problem, FINEST_TRIES, PATIENCE, best, error);
}

/* All stages with 2^log2 path indices. */
static enum fors_err stages(struct fors_rounds_problem *problem, unsigned log2, struct best *best,
			    struct fors_error *error)
{
	unsigned most = log2 ? MAX_PARTS_LOG2 : 1;
	enum fors_err err = FORS_OK;

	/* One path index and one group: that was the first stage. */
	for (unsigned cut = log2 == 0; !err && cut <= most; cut++) {
		if (1u << cut > problem->fabric->max_servers || best->nphases <= problem->nservers)
			break;
		fors_rounds_problem_set(problem, 1u << log2, 1u << cut);
		err = later_stage(problem, log2 ? STAGE_TRIES : 1, log2 ? PATIENCE : SHORT_PATIENCE, best, error);
	}
	return err ? err : finest_stage(problem, 1u << log2, best, error);
}

/* Path indices that are worth trying, as a power of two. */
static unsigned most_paths_log2(const struct fors_task *task)
{
	return task->fabric->lmc < MAX_PATHS_LOG2 ? task->fabric->lmc : MAX_PATHS_LOG2;
}

static enum fors_err search_stages(const struct fors_task *task, struct fors_rounds_problem *problem, struct best *best,
				   struct fors_error *error)
{
	unsigned most = most_paths_log2(task);
	enum fors_err err = first_stage(problem, best, error);

	for (unsigned log2 = 0; !err && log2 <= most; log2++) {
		if (task->progress)
			task->progress(task->context, (log2 + 1.0) / (most + 2.0));
		err = stages(problem, log2, best, error);
	}
	return err;
}

/* ---- a number of phases that is asked for ---- */

/* Try exactly `wanted` phases with these groups and path indices, if their bound allows it. */
static enum fors_err reach_with(struct fors_rounds_problem *problem, uint32_t npaths, uint32_t parts, uint32_t wanted,
				uint64_t patience, struct best *best, struct fors_error *error)
{
	uint32_t bound, nrounds;
	enum fors_err err;
	bool done;

	fors_rounds_problem_set(problem, npaths, parts);
	nrounds = wanted / problem->capacity;
	if (best->packing || wanted % problem->capacity)
		return FORS_OK;
	err = fors_rounds_bound(problem, &bound, error);
	if (err || bound > nrounds)
		return err;
	return attempt(problem, nrounds, patience, best, &done, error);
}

/*
 * All stages, but only what gives `wanted` phases: a fraction of the attempts, most often none. FORS_ENOPLAN: nothing
 * gave them.
 */
static enum fors_err reach(const struct fors_task *task, struct fors_rounds_problem *problem, uint32_t wanted,
			   struct best *best, struct fors_error *error)
{
	enum fors_err err = reach_with(problem, 1, 1, wanted, PATIENCE, best, error);
	uint32_t finest = finest_parts(problem);

	for (unsigned log2 = 0; !err && log2 <= most_paths_log2(task); log2++) {
		unsigned most = log2 ? MAX_PARTS_LOG2 : 1;

		for (unsigned cut = log2 == 0; !err && cut <= most && 1u << cut <= problem->fabric->max_servers; cut++)
			err = reach_with(problem, 1u << log2, 1u << cut, wanted, log2 ? PATIENCE : SHORT_PATIENCE, best,
					 error);
		if (!err && finest)
			err = reach_with(problem, 1u << log2, finest, wanted, PATIENCE, best, error);
	}
	if (err || best->packing)
		return err;
	return fors_fail(error, FORS_ENOPLAN, "rounds: no plan of %u phases was found", wanted);
}

/* ---- an empty phase ---- */

/* As many phases as the best plan has, but with what stays inside leaves apart, where more path indices allow it. */
static enum fors_err empty_a_phase(const struct fors_task *task, struct fors_rounds_problem *problem, struct best *best,
				   struct fors_error *error)
{
	uint32_t nrounds = best->packing->nrounds;
	enum fors_err err = FORS_OK;

	for (unsigned log2 = 1; !err && log2 <= most_paths_log2(task) && best->problem.parts == 1; log2++) {
		bool done;

		fors_rounds_problem_set(problem, 1u << log2, 1);
		if (best->problem.is_apart || fors_effort_is_over(problem->effort))
			break;
		err = may_be_apart(problem, nrounds, &problem->is_apart, error);
		if (!err && problem->is_apart)
			err = pack(problem, nrounds - 1, PATIENCE / 4, best, &done, error);
	}
	return err;
}

/* ---- the schedule ---- */

/* Write the units into the cells of the schedule, each at the next position of its group's round. */
static void write_cells(const struct best *best, struct fors_schedule *schedule, uint16_t *position)
{
	const struct fors_rounds_packing *packing = best->packing;
	uint32_t length = best->problem.capacity;

	for (uint32_t id = 0; id < packing->nunits; id++) {
		uint32_t path = packing->path[id], round = packing->round[id];
		struct fors_rounds_unit unit;
		struct fors_cell *cell;

		/* A number without a unit, or a group without members. */
		if (round == FORS_ROUNDS_UNPLACED)
			continue;
		unit = fors_rounds_unit(packing, id);
		cell = &schedule->cell[(size_t)unit.group * schedule->nphases + round * length +
				       position[(size_t)unit.group * packing->nrounds + round]++];
		cell->dst = (uint16_t)unit.server;
		cell->path = (uint8_t)path;
		cell->lane = unit.is_local ? FORS_NO_LANE : unit.up[path];
	}
}

/*
 * What is apart: all units of a leaf in the last round, each where the receiver itself would send in the last turn. So
 * nobody sends then.
 */
static void write_apart(const struct best *best, struct fors_schedule *schedule)
{
	const struct fors_rounds_problem *problem = &best->problem;

	for (uint32_t d = 0; d < problem->nservers; d++) {
		uint32_t rank = d - problem->fabric->leaf[problem->leaf_of[d]].first_server;
		struct fors_cell *round = schedule->cell + (size_t)problem->leaf_of[d] * schedule->nphases +
					  best->packing->nrounds * problem->capacity;

		round[(rank + 1) % problem->capacity] = (struct fors_cell){.dst = (uint16_t)d, .lane = FORS_NO_LANE};
	}
}

static enum fors_err write_schedule(const struct best *best, struct fors_schedule **schedule, struct fors_error *error)
{
	size_t cells = (size_t)fors_rounds_ngroups(&best->problem) * best->packing->nrounds;
	uint16_t *position = calloc(cells, sizeof(*position));
	struct fors_schedule *new;
	enum fors_err err;

	if (!position)
		return fors_fail_memory(error);
	err = fors_schedule_new(best->problem.fabric, best->nphases, best->problem.parts, best->problem.capacity,
				fors_method_rounds.name, &new, error);
	if (!err) {
		write_cells(best, new, position);
		if (best->problem.is_apart)
			write_apart(best, new);
		*schedule = new;
	}
	free(position);
	return err;
}

static enum fors_err plan(const struct fors_task *task, struct fors_schedule **schedule, struct fors_error *error)
{
	struct fors_rounds_problem problem;
	struct best best = {.packing = NULL};
	struct fors_effort effort = fors_effort_for(task, budget_of(task->fabric->nservers));
	enum fors_err err = fors_rounds_problem_init(&problem, task, 1u << most_paths_log2(task), error);

	if (err)
		return err;
	problem.effort = &effort;
	if (task->wanted_phases)
		err = reach(task, &problem, task->wanted_phases, &best, error);
	else
		err = search_stages(task, &problem, &best, error);
	if (!err)
		err = empty_a_phase(task, &problem, &best, error);
	if (!err && effort.is_cancelled) /* whoever said so is not asked again */
		err = fors_rounds_cancelled(error);
	if (!err)
		err = write_schedule(&best, schedule, error);
	fors_effort_tell(&effort);
	fors_rounds_packing_free(best.packing);
	fors_rounds_problem_clear(&problem);
	return err;
}

const struct fors_method fors_method_rounds = {
	.name = "rounds",
	.plan = plan,
};
