/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pack.c - which packings are tried, and which is taken.
 *
 * Where messages are of one size, whole messages are packed first: few phases, and often as many as the bound says. Where they are not, or that
 * took more time or phases than it has to, and they may be cut, pieces are. Where phases cost, plans of fewer phases are tried as long as they take less
 * time; where plans are made fast, others by other random choices. The plan with the least time counts.
 */
#include "pack.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/copy.h"

/* Take a plan when its time is less. */
static void take_better(const struct fors_demand_asked *asked, struct fors_demand_plan **best,
			struct fors_demand_plan *other)
{
	if (!other)
		return;
	if (*best && fors_demand_plan_time(*best, asked->cost) <= fors_demand_plan_time(other, asked->cost)) {
		fors_demand_plan_free(other);
		return;
	}
	fors_demand_plan_free(*best);
	*best = other;
}

/* A part of the effort is over, and was spent of the whole. */
static void give_back(struct fors_effort *whole, const struct fors_effort *part)
{
	whole->spent = part->spent;
	whole->next = part->next;
	whole->is_cancelled = part->is_cancelled;
}

/* ---- whole messages ---- */

/* The same demand in units of its granule. */
static enum fors_err divide(const struct fors_demand *demand, uint64_t granule, struct fors_demand *units,
			    struct fors_error *error)
{
	*units = *demand;
	units->message = fors_copy_array(demand->message, demand->count, sizeof(*demand->message));
	if (!units->message)
		return fors_fail_memory(error);
	for (uint32_t m = 0; m < demand->count; m++)
		units->message[m].bytes /= granule;
	return FORS_OK;
}

static void multiply(struct fors_demand_plan *plan, uint64_t granule)
{
	for (uint32_t k = 0; k < plan->nphases; k++)
		plan->length[k] *= granule;
	for (uint32_t i = 0; i < plan->npieces; i++)
		plan->piece[i].bytes *= granule;
}

static enum fors_err pack_whole(const struct fors_demand_asked *asked, uint64_t granule, struct fors_demand_plan **plan,
				struct fors_error *error)
{
	struct fors_demand_problem problem = *asked->problem;
	struct fors_demand_asked part = *asked;
	struct fors_demand units;
	enum fors_err err = divide(asked->problem->demand, granule, &units, error);

	if (err)
		return err;
	problem.demand = &units;
	part.problem = &problem;
	part.bound = (asked->bound + granule - 1) / granule;
	err = fors_demand_pack_units(&part, plan, error);
	if (!err && *plan)
		multiply(*plan, granule);
	free(units.message);
	return err;
}

/* ---- equal parts of messages ---- */

#define MOST_PARTS 8			/* of a granule */
#define MOST_ITEMS UINT64_C(200000)	/* parts in all */
#define PARTS_BUDGET UINT64_C(25000000) /* steps for each number of parts */

/* May parts of this size take less time than that? In as many phases as the bound says they would just do. */
static bool may_help(const struct fors_demand_asked *asked, uint64_t part, uint64_t time)
{
	uint64_t phases = (asked->bound + part - 1) / part;

	return fors_demand_total(asked->problem->demand) / part <= MOST_ITEMS && phases * (part + asked->cost) < time;
}

/* One number of parts, within its share of the budget. */
static enum fors_err try_parts(const struct fors_demand_asked *asked, uint64_t part, struct fors_demand_plan **best,
			       struct fors_error *error)
{
	struct fors_effort effort = *asked->effort;
	struct fors_demand_asked less = *asked;
	struct fors_demand_plan *plan = NULL;
	enum fors_err err;

	less.effort = &effort;
	effort.budget = effort.spent + PARTS_BUDGET < effort.budget ? effort.spent + PARTS_BUDGET : effort.budget;
	err = pack_whole(&less, part, &plan, error);
	give_back(asked->effort, &effort);
	if (!err && plan)
		err = fors_demand_merge(&plan, error);
	if (err)
		fors_demand_plan_free(plan);
	else
		take_better(asked, best, plan);
	return err;
}

/*
 * Where the bound is no multiple of the size that messages have, several ways leave pieces of all lengths, and few messages fit together. Halves of messages,
 * or thirds, do.
 */
static enum fors_err pack_parts(const struct fors_demand_asked *asked, uint64_t granule, struct fors_demand_plan **best,
				struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	for (uint64_t parts = 2; !err && parts <= MOST_PARTS && !fors_effort_is_over(asked->effort); parts++)
		if (granule % parts == 0 && may_help(asked, granule / parts, fors_demand_plan_time(*best, asked->cost)))
			err = try_parts(asked, granule / parts, best, error);
	return err;
}

/* ---- pieces ---- */

#define MANY_MESSAGES 400000	/* of more the phases are fewer, since each takes its time to make */
#define SPARE_PHASES 40		/* more than in proportion: for demands of few messages */
#define BYTES_MESSAGE 100	/* what is left of it, where it is listed */
#define BYTES_PIECE 150		/* in the plan, in the one before, and as both are made */
#define BYTES_CELL 32		/* of the schedule, for a server and phase, and of its file */
#define CHEAP UINT64_C(4000000) /* steps for which other plans are tried */
#define MOST_TRIES 12		/* of them that differ by random choices only */
#define MOST_PERCENT 330	/* of phases, where they cost nothing */
#define CHOICES 48		/* messages that a port or cable chooses from, */
#define MORE_CHOICES 64		/* and where that has led into a corner */
#define CORNER 102		/* per cents of the bound: more is a corner, where there are several ways */

/*
 * How many phases, in per cents of the messages of a port? More of them are shorter in all: three times as many come to the bound within a few thousandths,
 * twice as many within some hundredths, as many within a quarter. But each has its cost.
 */
static uint32_t percent_for(const struct fors_demand_asked *asked, uint64_t messages)
{
	double price = asked->bound ? (double)(messages * asked->cost) / (double)asked->bound : 0;

	uint32_t percent = price < 0.01 ? MOST_PERCENT : price < 0.1 ? 200 : price < 0.5 ? 130 : 100;

	return asked->problem->demand->count > MANY_MESSAGES && percent > 150 ? 150 : percent;
}

static uint64_t most_messages(const struct fors_demand *demand)
{
	uint64_t most = 0;

	for (uint32_t m = 0, same = 0; m < demand->count; m++) {
		same = m && demand->message[m].src == demand->message[m - 1].src ? same + 1 : 1;
		most = same > most ? same : most;
	}
	return most;
}

/*
 * FORS_ELIMIT where plans of pieces would take more memory than they may: those with most phases, half as many again as they are to have. What a message, a
 * piece and a cell of the schedule take is measured, and rounded up.
 */
static enum fors_err check_memory(const struct fors_demand_asked *asked, uint32_t percent, struct fors_error *error)
{
	const struct fors_demand_problem *p = asked->problem;
	uint64_t phases = 3 * (most_messages(p->demand) * percent / 100 + SPARE_PHASES) / 2,
		 messages = p->demand->count;
	uint64_t pieces = 3 * (messages * percent / 100 + (uint64_t)SPARE_PHASES * p->nservers) / 2;
	uint64_t bytes = BYTES_MESSAGE * messages + BYTES_PIECE * pieces +
			 (BYTES_CELL * p->nservers + p->nresources / 8) * phases + (uint64_t)p->nservers * p->nservers;

	if (!asked->most_bytes || bytes <= asked->most_bytes)
		return FORS_OK;
	return fors_fail(error, FORS_ELIMIT,
			 "a plan for %u messages of %u servers would take some %" PRIu64
			 " MiB of memory, and the limit is %" PRIu64,
			 p->demand->count, p->nservers, (bytes >> 20) + 1, asked->most_bytes >> 20);
}

/* With several ways, and many phases, there may be a second attempt, unless one takes long enough. */
static bool may_corner(const struct fors_demand_asked *asked, const struct fors_demand_style *style)
{
	return asked->problem->npaths > 1 && style->percent == MOST_PERCENT &&
	       asked->problem->demand->count <= MANY_MESSAGES;
}

/* The first attempt has half of the steps that are left then. */
static enum fors_err compact(const struct fors_demand_asked *asked, const struct fors_demand_style *style,
			     struct fors_demand_plan **plan, struct fors_error *error)
{
	struct fors_effort effort = *asked->effort;
	struct fors_demand_asked less = *asked;
	enum fors_err err;

	less.effort = &effort;
	if (may_corner(asked, style) && style->choices == CHOICES)
		effort.budget -= effort.spent < effort.budget ? (effort.budget - effort.spent) / 2 : 0;
	err = fors_demand_compact(&less, plan, error);
	give_back(asked->effort, &effort);
	return err;
}

/* A plan of pieces; the better one is kept. */
static enum fors_err pack_once(const struct fors_demand_asked *asked, const struct fors_demand_style *style,
			       struct fors_demand_plan **best, struct fors_error *error)
{
	struct fors_demand_plan *plan = NULL;
	enum fors_err err = fors_demand_pack_slices(asked, style, &plan, error);

	if (!err)
		err = compact(asked, style, &plan, error);
	if (!err)
		err = fors_demand_merge(&plan, error);
	if (!err)
		take_better(asked, best, plan);
	else
		fors_demand_plan_free(plan);
	return err;
}

/* Tries for a plan of pieces. */
struct tries {
	struct fors_demand_style style, good; /* of the next one, and of the best so far */
	bool is_fewer;			      /* fewer phases are tried as long as that is better */
	uint64_t until;			      /* steps: others are tried as long as it is cheap */
	uint64_t least;			      /* no plan takes less time */
};

/* Where phases cost, fewer of them; then the best so far with other choices. */
static void choose_next(struct tries *tries, bool is_better)
{
	if (is_better)
		tries->good = tries->style;
	else
		tries->is_fewer = false;
	if (tries->is_fewer)
		tries->style = (struct fors_demand_style){tries->good.percent * 4 / 5, 0, 1, CHOICES};
	else
		tries->style = (struct fors_demand_style){tries->good.percent, tries->good.spare, tries->style.seed + 1,
							  CHOICES};
}

static bool is_worthwhile(const struct fors_demand_asked *asked, const struct tries *tries, uint64_t time)
{
	if (time <= tries->least || fors_effort_is_over(asked->effort))
		return false;
	return tries->is_fewer || (asked->effort->spent < tries->until && tries->style.seed <= MOST_TRIES);
}

/* With several ways a choice among few messages may come out some per cent above the bound, in many short phases. */
static bool is_cornered(const struct fors_demand_asked *asked, const struct fors_demand_style *style,
			const struct fors_demand_plan *plan)
{
	return may_corner(asked, style) && !fors_effort_is_over(asked->effort) &&
	       100 * (double)fors_demand_plan_length(plan) > CORNER * (double)asked->bound;
}

/* A choice among more messages comes out elsewhere; neither is better in general. */
static enum fors_err leave_corner(const struct fors_demand_asked *asked, const struct fors_demand_style *good,
				  struct fors_demand_plan **best, struct fors_error *error)
{
	struct fors_demand_style style = *good;

	style.choices = MORE_CHOICES;
	return pack_once(asked, &style, best, error);
}

static enum fors_err pack_pieces(const struct fors_demand_asked *asked, struct fors_demand_plan **best,
				 struct fors_error *error)
{
	struct fors_demand_style style = {percent_for(asked, most_messages(asked->problem->demand)), SPARE_PHASES, 1,
					  CHOICES};
	struct tries tries = {style, style, asked->cost && asked->problem->demand->count <= MANY_MESSAGES,
			      asked->effort->spent + CHEAP, asked->bound};
	uint64_t time = *best ? fors_demand_plan_time(*best, asked->cost) : UINT64_MAX, before;
	uint32_t fewest = 0;
	enum fors_err err = check_memory(asked, style.percent, error);

	if (err) /* whole messages may do */
		return *best ? FORS_OK : err;
	err = fors_demand_fewest(asked->problem, &fewest, error);
	tries.least += fewest * asked->cost;
	do {
		before = time;
		if (!err)
			err = pack_once(asked, &tries.style, best, error);
		if (!err) {
			time = fors_demand_plan_time(*best, asked->cost);
			choose_next(&tries, time < before);
		}
	} while (!err && is_worthwhile(asked, &tries, time));
	return err || !is_cornered(asked, &tries.good, *best) ? err : leave_corner(asked, &tries.good, best, error);
}

/*
 * May pieces take less time than whole messages do? Not where these are as short as any plan, in as few phases as any needs: a whole message of several
 * granules takes as many phases. Messages of one size are never cut.
 */
static enum fors_err may_gain(const struct fors_demand_asked *asked, const struct fors_demand_plan *whole, bool *may,
			      struct fors_error *error)
{
	uint32_t fewest;
	enum fors_err err;

	*may = !whole || (!asked->problem->demand->is_unit && fors_demand_plan_length(whole) > asked->bound);
	if (*may || asked->problem->demand->is_unit || !asked->cost)
		return FORS_OK;
	err = fors_demand_fewest(asked->problem, &fewest, error);
	if (!err)
		*may = whole->nphases > fewest;
	return err;
}

enum fors_err fors_demand_pack(const struct fors_demand_asked *asked, struct fors_demand_plan **plan,
			       struct fors_error *error)
{
	const struct fors_demand *demand = asked->problem->demand;
	uint64_t granule = fors_demand_granule(demand);
	struct fors_demand_plan *best = NULL;
	enum fors_err err = FORS_OK;
	bool may = false, is_even = fors_demand_total(demand) / granule <= 2 * (uint64_t)demand->count;

	if (is_even)
		err = pack_whole(asked, granule, &best, error);
	if (!err)
		err = may_gain(asked, best, &may, error);
	if (!err && may)
		err = pack_pieces(asked, &best, error);
	if (!err && may && is_even && !demand->is_unit)
		err = pack_parts(asked, granule, &best, error);
	if (err) {
		fors_demand_plan_free(best);
		return err;
	}
	*plan = best;
	return FORS_OK;
}
