/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pack.c - how a demand is packed.
 *
 * Messages of one size are packed whole: few phases, and often as many as the bound says. All others are cut into pieces, in phases of any length, and
 * so are those of one size in bytes where that takes less time. Where phases cost, plans of fewer phases are tried as long as they take less.
 */
#include "pack.h"

#include <inttypes.h>

#define MANY_MESSAGES 400000 /* of more the phases are fewer, since each takes its time to make */
#define SPARE_PHASES 40	     /* more than in proportion: for demands of few messages */
#define BYTES_MESSAGE 100    /* what is left of it, where it is listed */
#define BYTES_PIECE 150	     /* in the plan, in the one before, and as both are made */
#define BYTES_CELL 32	     /* of the schedule, for a server and phase, and of its file */
#define FEW_MESSAGES 4096    /* which are tried whole, too */
#define MOST_PARTS 4	     /* of a message, all equal */
#define MOST_PERCENT 330     /* of phases, where they cost nothing */

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

/* May fewer phases take less time? */
static bool may_be_fewer(const struct fors_demand_asked *asked)
{
	return asked->cost && asked->problem->demand->count <= MANY_MESSAGES && !fors_effort_is_over(asked->effort);
}

/* Take a plan when its time is less. */
static bool take_better(const struct fors_demand_asked *asked, struct fors_demand_plan **best,
			struct fors_demand_plan *other)
{
	if (*best && fors_demand_plan_time(*best, asked->cost) <= fors_demand_plan_time(other, asked->cost)) {
		fors_demand_plan_free(other);
		return false;
	}
	fors_demand_plan_free(*best);
	*best = other;
	return true;
}

/* With fewer and fewer phases, as long as that takes less time. */
static enum fors_err pack_pieces(const struct fors_demand_asked *asked, struct fors_demand_plan **best,
				 struct fors_error *error)
{
	uint32_t percent = percent_for(asked, most_messages(asked->problem->demand)), spare = SPARE_PHASES;
	struct fors_demand_plan *plan;
	enum fors_err err = check_memory(asked, percent, error);
	bool is_better = false;

	*best = NULL;
	if (err)
		return err;
	do {
		err = fors_demand_pack_slices(asked, percent, spare, &plan, error);
		if (!err)
			is_better = take_better(asked, best, plan);
		percent = percent * 4 / 5;
		spare = 0;
	} while (!err && is_better && may_be_fewer(asked));
	return err;
}

/* Messages of one size come near the bound whole; of others few do, where a phase costs as much as what it carries. */
static bool may_be_whole(const struct fors_demand_asked *asked)
{
	const struct fors_demand *demand = asked->problem->demand;

	return demand->is_unit || fors_demand_size(demand) ||
	       (demand->count <= FEW_MESSAGES && 2 * asked->fewest * asked->cost > asked->bound);
}

/* Messages of one size in bytes in so many parts: may that take less time? */
static bool may_help(const struct fors_demand_asked *asked, uint32_t parts, const struct fors_demand_plan *best)
{
	uint64_t size = fors_demand_size(asked->problem->demand);

	return size && size % parts == 0 &&
	       fors_demand_phases(asked, parts) * (size / parts + asked->cost) <
		       fors_demand_plan_time(best, asked->cost);
}

/* Halves and quarters: where the bound is no multiple of the one size, and several ways leave pieces of all lengths, few of which fit together. */
static enum fors_err pack_parts(const struct fors_demand_asked *asked, struct fors_demand_plan **best,
				struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	for (uint32_t parts = 2; !err && parts <= MOST_PARTS; parts *= 2) {
		struct fors_demand_plan *plan = NULL;

		if (may_help(asked, parts, *best))
			err = fors_demand_pack_units(asked, parts, &plan, error);
		if (plan)
			take_better(asked, best, plan);
	}
	return err;
}

enum fors_err fors_demand_pack(const struct fors_demand_asked *asked, struct fors_demand_plan **plan,
			       struct fors_error *error)
{
	bool is_unit = asked->problem->demand->is_unit;
	struct fors_demand_plan *whole = NULL, *pieces = NULL;
	enum fors_err err = FORS_OK;

	if (may_be_whole(asked))
		err = fors_demand_pack_units(asked, 1, &whole, error);
	if (!err && whole && !is_unit)
		err = pack_parts(asked, &whole, error);
	if (!err && (!whole || (!is_unit && fors_demand_plan_length(whole) > asked->bound)))
		err = pack_pieces(asked, &pieces, error);
	if (pieces)
		take_better(asked, &whole, pieces);
	if (err)
		fors_demand_plan_free(whole);
	else
		*plan = whole;
	return err;
}
