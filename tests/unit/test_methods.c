/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_methods.c - one suite for all planning methods.
 *
 * Each method of fors_methods(), and "auto", meets the same fabrics and failures. What it plans is checked by two
 * checkers that share nothing; it has no fewer phases than the lower bound; it is the same with other callbacks,
 * threads, and after the file. A method may decline because the fabric or the LMC is not for it, and for no other
 * reason. At least one method has to plan at LMC 0.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/planners/bound.h"
#include "core/schedule/schedule.h"
#include "core/schedule/schedule_file.h"
#include "core/tables/home.h"
#include "support.h"

#define MAX_METHODS 8

/* ---- one method on one bed ---- */

static bool go_on(void *context)
{
	return false;
}

static bool stop(void *context)
{
	return true;
}

static void listen(void *context, double done)
{
	if (!(done >= 0 && done <= 1))
		fail_msg("progress %g", done);
}

static bool may_decline(enum fors_err err, const char *method)
{
	bool is_ilp = strcmp(method, "ilp") == 0;

	return err == FORS_ENOTAPPL || err == FORS_ELMC || (is_ilp && (err == FORS_ETIMEOUT || err == FORS_ENOPLAN));
}

/* The plan of a method, NULL when it declines. */
static struct fors_schedule *plan_of(const struct fors_task *task, const char *method, const char *what)
{
	struct fors_schedule *schedule = NULL;
	struct fors_error error = {.text = ""};
	enum fors_err err = fors_plan(task, method, &schedule, &error);

	if (!err) {
		assert_non_null(schedule);
		return schedule;
	}
	assert_null(schedule);
	if (!may_decline(err, method))
		fail_msg("%s, %s: declined with \"%s\": %s", what, method, fors_strerror(err), error.text);
	if (err != error.code || !error.text[0])
		fail_msg("%s, %s: declined without a word", what, method);
	return NULL;
}

static void assert_same_plan(const struct fors_schedule *a, const struct fors_schedule *b, const char *what,
			     const char *method)
{
	void *x, *y;
	size_t nx, ny;
	struct fors_error error;

	assert_int_equal(fors_schedule_encode(a, &x, &nx, &error), FORS_OK);
	assert_int_equal(fors_schedule_encode(b, &y, &ny, &error), FORS_OK);
	if (nx != ny || memcmp(x, y, nx) != 0)
		fail_msg("%s, %s: two runs, two plans", what, method);
	free(x);
	free(y);
}

/* Again, with callbacks and two threads: the same plan. */
static void check_repeatable(const struct bed *bed, const struct fors_schedule *schedule, const char *method,
			     const char *what)
{
	struct fors_task task = bed_task(bed);
	struct fors_schedule *again;

	task.cancelled = go_on;
	task.progress = listen;
	task.threads = 2;
	again = plan_of(&task, method, what);
	assert_non_null(again);
	assert_same_plan(schedule, again, what, method);
	fors_schedule_free(again);
}

/* What comes back from the file is still a plan. */
static void check_file(const struct bed *bed, const struct fors_schedule *schedule, const char *what)
{
	struct fors_schedule *read;
	struct fors_error error;
	void *bytes;
	size_t size;

	assert_int_equal(fors_schedule_encode(schedule, &bytes, &size, &error), FORS_OK);
	if (fors_schedule_decode(bytes, size, what, &read, &error))
		fail_msg("%s: %s", what, error.text);
	assert_plan(bed, read, what);
	fors_schedule_free(read);
	free(bytes);
}

static void check_cancel(const struct bed *bed, const char *method, const char *what)
{
	struct fors_task task = bed_task(bed);
	struct fors_schedule *schedule = NULL;
	struct fors_error error;
	enum fors_err err;

	task.cancelled = stop;
	err = fors_plan(&task, method, &schedule, &error);
	if (err && err != FORS_ECANCELLED && !may_decline(err, method))
		fail_msg("%s, %s: \"%s\" when asked to stop", what, method, fors_strerror(err));
	if (err)
		assert_null(schedule);
	fors_schedule_free(schedule);
}

/* The phases of a method's plan, 0 when it declines. */
static uint32_t try_method(const struct bed *bed, const char *method, const char *what, bool is_thorough)
{
	struct fors_task task = bed_task(bed);
	struct fors_schedule *schedule;
	struct fors_error error;
	uint32_t phases, bound = 0;
	char name[160];

	task.limits.seconds = 2;
	schedule = plan_of(&task, method, what);
	if (!schedule)
		return 0;
	snprintf(name, sizeof(name), "%s, %s", what, method);
	assert_plan(bed, schedule, name);
	assert_int_equal(schedule->fingerprint, bed->fabric->fingerprint);
	assert_int_equal(fors_lower_bound(bed->fabric, &bound, &error), FORS_OK);
	if (schedule->nphases < bound)
		fail_msg("%s: %u phases, below the lower bound %u", name, schedule->nphases, bound);
	if (is_thorough) {
		check_repeatable(bed, schedule, method, what);
		check_file(bed, schedule, name);
		check_cancel(bed, method, what);
	}
	phases = schedule->nphases;
	fors_schedule_free(schedule);
	return phases;
}

/* ---- all methods on one bed ---- */

static bool is_too_slow(const struct bed *bed, const char *method)
{
	return strcmp(method, "ilp") == 0 && bed->fabric->nservers > 16;
}

/*
 * Of methods that are equally good, auto takes none that comes after methods[simplest], unless fewer of its phases are
 * busy, or there are path indices enough for exact, before which rounds search for the bound only.
 */
static void assert_chosen(const struct bed *bed, size_t simplest, const char *what)
{
	struct fors_task task = bed_task(bed);
	struct fors_schedule *schedule = plan_of(&task, "auto", what), *best;
	size_t count, chosen = 0;
	const struct fors_method *const *methods = fors_methods(&count);

	while (chosen < count && strcmp(methods[chosen]->name, schedule->method) != 0)
		chosen++;
	if (fors_home_has_all(bed->fabric->nlanes, bed->fabric->lmc)) {
		fors_schedule_free(schedule);
		return;
	}
	best = plan_of(&task, methods[simplest]->name, what);
	if (chosen > simplest && fors_schedule_nbusy(schedule) >= fors_schedule_nbusy(best))
		fail_msg("%s: auto takes %s where %s is as good", what, schedule->method, methods[simplest]->name);
	fors_schedule_free(best);
	fors_schedule_free(schedule);
}

/* All methods, then auto: as good as the best of them. */
static void try_all(const struct bed *bed, const char *what, bool is_thorough)
{
	size_t count;
	const struct fors_method *const *methods = fors_methods(&count);
	size_t simplest = 0;
	uint32_t best = 0, chosen;

	for (size_t i = 0; i < count; i++) {
		uint32_t phases;

		if (is_too_slow(bed, methods[i]->name))
			continue;
		phases = try_method(bed, methods[i]->name, what, is_thorough);
		if (phases && strcmp(methods[i]->name, "ilp") != 0 && (!best || phases < best)) {
			best = phases;
			simplest = i;
		}
	}
	chosen = try_method(bed, "auto", what, is_thorough);
	if (chosen != best)
		fail_msg("%s: auto has %u phases, the best method %u", what, chosen, best);
	if (!best)
		fail_msg("%s: no method has a plan", what);
	assert_chosen(bed, simplest, what);
}

struct condition {
	const char *spec;
	unsigned lmc;
	const char *down;	  /* as bed_down() */
	const char *participants; /* as bed_participants(), NULL: all */
};

static void try_condition(const struct condition *c)
{
	struct bed *bed = bed_new(c->spec, c->lmc);
	char what[256];

	snprintf(what, sizeof(what), "%s, lmc %u, down \"%s\", participants \"%s\"", c->spec, c->lmc, c->down,
		 c->participants ? c->participants : "all");
	bed_participants(bed, c->participants);
	bed_down(bed, c->down);
	try_all(bed, what, true);
	bed_free(bed);
}

/* ---- the fabrics ---- */

TEST(tiny_fabrics)
{
	static const struct condition conditions[] = {
		{"FT(2;1,1)", 0, "", NULL},
		{"FT(2;3,1)", 0, "", NULL},
		{"FT(2;3,1)", 2, "Spine00 Spine01 Spine02", NULL},
		{"FT(2;1,2)", 0, "", NULL},
		{"FT(2;1,5)", 0, "", NULL},
		{"FT(2;2,2)", 0, "", NULL},
		{"FT(2;2,2)", 1, "Leaf00[3]", NULL},
		{"FT(2;3,3)", 0, "", NULL},
		{"FT(2;3,3)", 2, "Leaf00[4]", NULL},
		{"FT(2;3,3)", 2, "Leaf00[4] Leaf01[5]", NULL},
		{"FT(2;3,3)", 0, "Leaf00[4] Leaf01[5]", NULL},
		{"FT(2;4,3)", 2, "Leaf00[5] Leaf01[6] Leaf02[7]", NULL},
		{"FT(2;3,4)", 2, "Leaf00[4] Leaf01[4] Leaf02[5]", NULL},
		{"FT(2;4,4)", 2, "Spine01", NULL},
		{"FT(2;4,4)", 0, "Spine01 Leaf03[5]", NULL},
		{"FT(2;4,1;servers=1)", 0, "", NULL},
		{"FT(2;5,4)", 3, "Leaf00[9] Leaf00[10] Leaf01[8] Leaf01[10] Leaf02[7] Leaf02[8] Leaf03[6] Leaf03[9]",
		 NULL},
	};

	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++)
		try_condition(&conditions[i]);
}

TEST(odd_fabrics)
{
	static const struct condition conditions[] = {
		{"FT(2;4,5;servers=2)", 0, "", NULL},
		{"FT(2;4,5;servers=2)", 2, "Leaf00[3]", NULL},
		{"FT(2;2,5;servers=4)", 0, "", NULL},
		{"FT(2;2,5;servers=4)", 1, "Leaf00[5]", NULL},
		{"FT(2;3,4;servers=4)", 2, "", NULL},
		{"FT(2;3,4;servers=5)", 0, "Leaf01[6]", NULL},
		{"FT(2;2,4;servers=4;cables=2)", 0, "", NULL},
		{"FT(2;2,4;servers=4;cables=2)", 2, "Leaf00[5]", NULL},
		{"FT(2;2,4;servers=4;cables=2)", 2, "Leaf00[5] Leaf01[6] Leaf02[7]", NULL},
		{"FT(2;3,3;servers=4;cables=2)", 1, "Leaf00[5] Leaf00[6]", NULL},
		{"FT(2;4,4;empty=0/0,1/2,1/3,3/1)", 0, "", NULL},
		{"FT(2;4,4;empty=0/0,1/2,1/3,3/1)", 2, "Leaf00[5]", NULL},
		{"FT(2;4,4;empty=0/0,0/1,0/2,0/3)", 2, "Leaf02[5]", NULL},
		{"FT(2;4,4;empty=0/0,0/1,0/2,0/3)", 0, "Leaf00", NULL},
		{"FT(2;4,4)", 2, "Node00-00 Node03-02", NULL},
		{"FT(2;4,4)", 2, "Leaf02", NULL},
	};

	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++)
		try_condition(&conditions[i]);
}

TEST(populations)
{
	static const struct condition conditions[] = {
		{"FT(2;4,4)", 0, "", "2/1"},
		{"FT(2;4,4)", 0, "", "2/1 2/3"},
		{"FT(2;4,4)", 0, "", "0/0 3/3"},
		{"FT(2;4,4)", 2, "Leaf00[5]", "0/1 0/2 0/3 1/0 3/1 3/2"},
		{"FT(2;4,4)", 2, "Leaf01", "0/1 0/2 0/3 3/0 3/1 3/2"},
		{"FT(2;4,4)", 1, "Leaf01[6]", "0/0 0/1 1/0 1/1 2/0 2/1 3/0 3/1"},
		{"FT(2;6,5)", 3, "Spine02", "0/5 1/4 2/3 3/2 4/1"},
		{"FT(2;6,5)", 0, "Leaf00[7]", "0/0 0/1 0/2 0/3 0/4 0/5 4/4"},
	};

	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++)
		try_condition(&conditions[i]);
}

/* The model case: 360 servers, the paper's failures. */
TEST(model_fabric)
{
	static const struct condition conditions[] = {
		{"FT(2;20,18)", 0, "", NULL},
		{"FT(2;20,18)", 0, "Leaf00[21]", NULL},
		{"FT(2;20,18)", 5, "Leaf00[21]", NULL},
		{"FT(2;20,18)", 5,
		 "Leaf00[21] Leaf00[22] Leaf00[23] Leaf05[24] Leaf05[25] Leaf05[26] Leaf11[27] Leaf11[28] Leaf11[29]",
		 NULL},
		{"FT(2;20,18)", 0,
		 "Leaf00[21] Leaf00[22] Leaf00[23] Leaf05[24] Leaf05[25] Leaf05[26] Leaf11[27] Leaf11[28] Leaf11[29]",
		 NULL},
		{"FT(2;20,18)", 5, "Spine00 Spine01", NULL},
	};

	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++)
		try_condition(&conditions[i]);
}

/* ---- by chance ---- */

static const char *const random_specs[] = {
	"FT(2;3,3)",
	"FT(2;4,4)",
	"FT(2;5,3)",
	"FT(2;3,6)",
	"FT(2;6,4;servers=4)",
	"FT(2;3,5;servers=5)",
	"FT(2;2,4;servers=4;cables=2)",
	"FT(2;8,6)",
	"FT(2;4,7;servers=6;cables=2)",
};

TEST(random_conditions)
{
	struct rng rng = {2024};

	for (int round = 0; round < 20; round++)
		for (size_t i = 0; i < sizeof(random_specs) / sizeof(random_specs[0]); i++) {
			struct bed *bed = bed_new(random_specs[i], rng_below(&rng, 5));
			uint32_t links = bed->fabric->nleaves * bed->fabric->nlanes, servers = bed->fabric->nservers;
			char what[128];

			if (rng_below(&rng, 2))
				bed_random_participants(bed, &rng, 1 + rng_below(&rng, servers));
			links = bed_random_failures(bed, &rng, rng_below(&rng, links * 2 / 5 + 1));
			snprintf(what, sizeof(what), "%s, lmc %u, random set %d: %u links, %u servers", random_specs[i],
				 bed->fabric->lmc, round, links, bed->fabric->nservers);
			try_all(bed, what, round < 5);
			bed_free(bed);
		}
}

TEST(random_large)
{
	struct rng rng = {2025};
	struct bed *bed = bed_new("FT(2;8,16)", 3);

	for (int round = 0; round < 8; round++) {
		char what[128];
		uint32_t links;

		bed_restore(bed);
		links = bed_random_failures(bed, &rng, rng_below(&rng, 51));
		snprintf(what, sizeof(what), "FT(2;8,16), random set %d: %u links", round, links);
		try_all(bed, what, false);
	}
	bed_free(bed);
}

/* ---- the order of the input ---- */

/* The order in which nodes are listed changes nothing: not the tables, not the plan. */
TEST(order_does_not_matter)
{
	static const char *const down = "Leaf00[7] Leaf01[8] Spine03";
	struct bed *bed = bed_new("FT(2;6,5;empty=0/1,2/3,2/4)", 3), *other = bed_new("FT(2;6,5;empty=0/1,2/3,2/4)", 3);
	size_t count;
	const struct fors_method *const *methods = fors_methods(&count);
	struct rng rng = {5};

	bed_down(bed, down);
	for (int round = 0; round < 5; round++) {
		bed_shuffle(other, &rng);
		bed_down(other, down);
		assert_int_equal(bed->lfts->nlids, other->lfts->nlids);
		assert_memory_equal(bed->lfts->port, other->lfts->port,
				    (size_t)bed->lfts->nswitches * bed->lfts->nlids);
		for (size_t i = 0; i < count; i++) {
			struct fors_task task = bed_task(bed), task_of_other = bed_task(other);
			struct fors_schedule *a, *b;

			if (is_too_slow(bed, methods[i]->name))
				continue;
			a = plan_of(&task, methods[i]->name, "in order");
			b = plan_of(&task_of_other, methods[i]->name, "shuffled");
			assert_int_equal(!a, !b);
			if (a && b)
				assert_same_plan(a, b, "shuffled", methods[i]->name);
			fors_schedule_free(a);
			fors_schedule_free(b);
		}
	}
	bed_free(bed);
	bed_free(other);
}

/* ---- what fors_plan() itself refuses ---- */

static void assert_fails(const struct bed *bed, const char *method, enum fors_err expected, const char *word)
{
	struct fors_task task = bed_task(bed);
	struct fors_schedule *schedule = NULL;
	struct fors_error error = {.text = ""};

	assert_int_equal(fors_plan(&task, method, &schedule, &error), expected);
	assert_null(schedule);
	assert_int_equal(error.code, expected);
	if (!strstr(error.text, word))
		fail_msg("\"%s\" is not in \"%s\"", word, error.text);
}

TEST(refusals)
{
	struct bed *bed = bed_new("FT(2;3,3)", 2);
	size_t count;
	const struct fors_method *const *methods = fors_methods(&count);

	assert_fails(bed, "simplex", FORS_EINPUT, "simplex");
	bed_down(bed, "Leaf00[4] Leaf00[5] Leaf01[6]");
	for (size_t i = 0; i < count; i++)
		assert_fails(bed, methods[i]->name, FORS_ENOPATH, "Leaf0");
	assert_fails(bed, "auto", FORS_ENOPATH, "Leaf00");
	bed_restore(bed);
	bed_down(bed, "Node00-00 Node00-01 Node00-02 Node01-00 Node01-01 Node01-02 Node02-00 Node02-01 Node02-02");
	assert_fails(bed, "auto", FORS_ENOTAPPL, "");
	bed_free(bed);
}

TEST(methods_are_told_apart)
{
	size_t count;
	const struct fors_method *const *methods = fors_methods(&count);

	assert_true(count >= 1 && count <= MAX_METHODS);
	for (size_t i = 0; i < count; i++) {
		assert_non_null(methods[i]->plan);
		assert_true(strlen(methods[i]->name) < sizeof(((struct fors_schedule *)0)->method));
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(methods[i]->name, methods[j]->name);
	}
}
