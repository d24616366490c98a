/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_planner.c - the choice that `auto` makes, with methods that do as they are told.
 *
 * The real methods hardly ever end in a tie above the lower bound. Here they are replaced by some that have a given
 * number of phases, or a given error, and write down that they were asked.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/planners/bound.h"
#include "core/planners/planner.h"
#include "support.h"

/* --- methods that do as they are told ---------------------------------------- */

/* What a method does: so many phases, or this error. */
struct told {
	uint32_t phases; /* 0: the error instead */
	uint32_t wanted; /* phases when asked for a plan at the bound only; 0: FORS_ENOPLAN then */
	enum fors_err err;
	uint32_t busy;	 /* phases in which somebody sends; in rounds whole ones, and a last one less one phase */
	uint32_t length; /* of a round; 0: written cell by cell, which is larger */
};

static struct told rounds, exact, closed = {.err = FORS_ENOTAPPL}, flows = {.err = FORS_ENOTAPPL};
static char asked
	[64]; /* "crRef": closed form (where exact has too few paths, and several), rounds at the bound, rounds, exact, flows for fewer */

static enum fors_err answer(const struct fors_task *task, const struct told *told, uint32_t phases, enum fors_err err,
			    const char *name, struct fors_schedule **schedule, struct fors_error *error)
{
	if (!phases)
		return fors_fail(error, err, "%s: %s", name, fors_strerror(err));
	err = fors_schedule_new(task->fabric, phases, told->length > 0, told->length, name, schedule, error);
	for (uint32_t phase = 0; !err && phase < told->busy; phase += told->length ? told->length : 1)
		(*schedule)->cell[phase].dst = told->busy - phase < told->length ? 1 : task->fabric->nservers - 1;
	return err;
}

static enum fors_err plan_closed(const struct fors_task *task, struct fors_schedule **schedule,
				 struct fors_error *error)
{
	strcat(asked, "c");
	assert_int_equal(task->wanted_phases, 0);
	return answer(task, &closed, closed.phases, closed.err, "closed", schedule, error);
}

static enum fors_err plan_rounds(const struct fors_task *task, struct fors_schedule **schedule,
				 struct fors_error *error)
{
	strcat(asked, task->wanted_phases ? "r" : "R");
	if (task->wanted_phases)
		return answer(task, &rounds, rounds.wanted, FORS_ENOPLAN, "rounds", schedule, error);
	return answer(task, &rounds, rounds.phases, rounds.err, "rounds", schedule, error);
}

static enum fors_err plan_exact(const struct fors_task *task, struct fors_schedule **schedule, struct fors_error *error)
{
	strcat(asked, "e");
	assert_int_equal(task->wanted_phases, 0);
	return answer(task, &exact, exact.phases, exact.err, "exact", schedule, error);
}

/* Asked for at most `wanted_phases`, one fewer than the best so far. */
static enum fors_err plan_flows(const struct fors_task *task, struct fors_schedule **schedule, struct fors_error *error)
{
	strcat(asked, "f");
	if (task->wanted_phases && flows.phases > task->wanted_phases)
		return answer(task, &flows, 0, FORS_ENOPLAN, "flows", schedule, error);
	return answer(task, &flows, flows.phases, flows.err, "flows", schedule, error);
}

static enum fors_err plan_ilp(const struct fors_task *task, struct fors_schedule **schedule, struct fors_error *error)
{
	strcat(asked, "i");
	return answer(task, &exact, 1, FORS_OK, "ilp", schedule, error);
}

const struct fors_method fors_method_closed_form = {"closed", plan_closed};
const struct fors_method fors_method_rounds = {"rounds", plan_rounds};
const struct fors_method fors_method_exact = {"exact", plan_exact};
const struct fors_method fors_method_flows = {"flows", plan_flows};
const struct fors_method fors_method_ilp = {"ilp", plan_ilp};

/* --- what auto makes of them --------------------------------------------------- */

/* auto asks in this order, and takes the plan of this method. */
static void assert_choice(const struct bed *bed, const char *order, const char *method, uint32_t phases)
{
	struct fors_task task = bed_task(bed);
	struct fors_schedule *schedule = NULL;
	struct fors_error error = {.text = ""};

	asked[0] = '\0';
	if (fors_plan(&task, "auto", &schedule, &error))
		fail_msg("%s", error.text);
	assert_string_equal(asked, order);
	assert_string_equal(schedule->method, method);
	assert_int_equal(schedule->nphases, phases);
	fors_schedule_free(schedule);
}

static void assert_failure(const struct bed *bed, const char *order, enum fors_err err, const char *text)
{
	struct fors_task task = bed_task(bed);
	struct fors_schedule *schedule = NULL;
	struct fors_error error = {.text = ""};

	asked[0] = '\0';
	assert_int_equal(fors_plan(&task, "auto", &schedule, &error), err);
	assert_null(schedule);
	assert_int_equal(error.code, err);
	assert_string_equal(asked, order);
	assert_non_null(strstr(error.text, text));
}

#define DECLINES                                                                                                       \
	{                                                                                                              \
		.err = FORS_ENOTAPPL                                                                                   \
	}

/* On a tie fewer phases in which anybody sends, then the smaller file, then who was asked first. */
TEST(ties)
{
	struct bed *bed = bed_new("FT(2;3,3)", 2);

	rounds = exact = (struct told){.phases = 12, .busy = 11};
	assert_choice(bed, "reRf", "exact", 12);
	rounds.length = 3;
	assert_choice(bed, "reRf", "rounds", 12); /* asked after exact */
	exact.busy = 10;
	assert_choice(bed, "reRf", "exact", 12);
	rounds = (struct told){.phases = 12, .busy = 9};
	assert_choice(bed, "reRf", "rounds", 12);
	rounds.phases = 13;
	assert_choice(bed, "reRf", "exact", 12);
	bed_free(bed);
}

TEST(the_fewest_phases)
{
	struct bed *bed = bed_new("FT(2;3,3)", 2);

	rounds = (struct told){.phases = 12};
	exact = (struct told){.phases = 11};
	assert_choice(bed, "reRf", "exact", 11);
	rounds.phases = 10;
	assert_choice(bed, "reRf", "rounds", 10);
	bed_free(bed);
}

/* Nobody is asked once the bound is reached; and it is not "reached" by one phase more. */
TEST(the_bound_ends_the_search)
{
	struct bed *bed = bed_new("FT(2;3,3)", 2);
	struct fors_error error;
	uint32_t bound;

	assert_int_equal(fors_lower_bound(bed->fabric, &bound, &error), FORS_OK);
	exact = (struct told)DECLINES;
	rounds = (struct told){.wanted = bound};
	assert_choice(bed, "r", "rounds", bound);
	rounds = (struct told){.wanted = bound + 1, .phases = bound + 1};
	exact = (struct told){.phases = bound};
	assert_choice(bed, "re", "exact", bound);
	bed_free(bed);
}

/* With a path index for each lane or more; with one LMC less, rounds have all the time they want. */
TEST(exact_comes_first_where_it_has_paths)
{
	static const struct {
		const char *spec;
		unsigned lmc;
		const char *order, *method;
	} cases[] = {{"FT(2;4,3)", 2, "reRf", "exact"},
		     {"FT(2;4,3)", 1, "Recf", "rounds"},
		     {"FT(2;5,3)", 3, "reRf", "exact"},
		     {"FT(2;5,3)", 2, "Recf", "rounds"},
		     {"FT(2;3,3)", 2, "reRf", "exact"}};

	rounds = exact = (struct told){.phases = 50};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bed *bed = bed_new(cases[i].spec, cases[i].lmc);

		assert_choice(bed, cases[i].order, cases[i].method, 50);
		bed_free(bed);
	}
}

/* Several path indices, too few for the exact planner: the closed form may have fewer phases. That it had no memory costs nothing. */
TEST(the_closed_form_is_asked_between)
{
	struct bed *bed = bed_new("FT(2;4,3)", 1);

	rounds = exact = (struct told){.phases = 50};
	closed = (struct told){.phases = 49};
	assert_choice(bed, "Recf", "closed", 49);
	closed = (struct told){.err = FORS_ENOMEM};
	assert_choice(bed, "Recf", "rounds", 50);
	closed = (struct told)DECLINES;
	bed_free(bed);
}

/* Flows are asked last, for one phase fewer than the best, and taken only then. */
TEST(flows_come_last)
{
	struct bed *bed = bed_new("FT(2;3,3)", 0);

	exact = (struct told)DECLINES;
	rounds = (struct told){.phases = 12};
	flows = (struct told){.phases = 11};
	assert_choice(bed, "Ref", "flows", 11);
	flows.phases = 12;
	assert_choice(bed, "Ref", "rounds", 12);
	flows = (struct told){.err = FORS_ENOMEM}; /* does not cost the plan that there is */
	assert_choice(bed, "Ref", "rounds", 12);
	flows = (struct told){.err = FORS_ECANCELLED};
	assert_failure(bed, "Ref", FORS_ECANCELLED, "flows: ");
	flows = (struct told)DECLINES;
	bed_free(bed);
}

/* Errors that say "not me" let the next one try; others end it, and nothing is left behind. */
TEST(errors_of_methods)
{
	static const enum fors_err go_on[] = {FORS_ENOTAPPL, FORS_ELMC, FORS_ENOPLAN, FORS_ELIMIT};
	static const enum fors_err end[] = {FORS_ECANCELLED, FORS_ENOMEM, FORS_ETIMEOUT};
	struct bed *bed = bed_new("FT(2;3,3)", 2);

	for (size_t i = 0; i < sizeof(go_on) / sizeof(go_on[0]); i++) {
		exact = (struct told){.err = go_on[i]};
		rounds = (struct told){.phases = 20};
		assert_choice(bed, "reRf", "rounds", 20);
		rounds = (struct told){.err = go_on[i]};
		assert_failure(bed, "reR", go_on[i], "rounds: "); /* the last one's reason */
	}
	for (size_t i = 0; i < sizeof(end) / sizeof(end[0]); i++) {
		rounds = (struct told){.wanted = 20};
		exact = (struct told){.err = end[i]};
		assert_failure(bed, "re", end[i], "exact: ");
	}
	bed_free(bed);
}

/* By name a method is asked alone, and what it says is the answer. */
TEST(methods_by_name)
{
	struct bed *bed = bed_new("FT(2;3,3)", 2);
	struct fors_task task = bed_task(bed);
	struct fors_schedule *schedule = NULL;
	struct fors_error error;

	asked[0] = '\0';
	closed = rounds = (struct told){.phases = 20};
	exact = (struct told)DECLINES;
	assert_int_equal(fors_plan(&task, "rounds", &schedule, &error), FORS_OK);
	assert_string_equal(asked, "R");
	assert_string_equal(schedule->method, "rounds");
	fors_schedule_free(schedule);
	schedule = NULL;
	assert_int_equal(fors_plan(&task, "exact", &schedule, &error), FORS_ENOTAPPL);
	assert_string_equal(asked, "Re");
	assert_int_equal(fors_plan(&task, "simplex", &schedule, &error), FORS_EINPUT);
	assert_non_null(strstr(error.text, "'simplex'; there are auto, rounds, exact, flows, closed"));
	assert_null(schedule);
	bed_free(bed);
}
