/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The closed form: every uniform fabric up to 14 x 14 with every reduction, and the paper's; what it declines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/schedule/schedule.h"
#include "support.h"

static unsigned max(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

/* The number of phases that is promised. */
static unsigned promised(unsigned m0, unsigned m1, unsigned f)
{
	unsigned p = m0 * m1, pf = m1 > 1 ? (m0 * (p - m0) + m0 - f - 1) / (m0 - f) : 0;

	return max(p, pf);
}

static void assert_closed_form(const struct bed *bed, unsigned phases, const char *what)
{
	struct fors_task task = bed_task(bed);
	struct fors_schedule *schedule;
	struct fors_error error;

	if (fors_method_closed_form.plan(&task, &schedule, &error))
		fail_msg("%s: %s", what, error.text);
	if (schedule->nphases != phases)
		fail_msg("%s: %u phases instead of %u", what, schedule->nphases, phases);
	assert_plan(bed, schedule, what);
	fors_schedule_free(schedule);
}

/*
 * f cables of one leaf, all to different spines: reduction f with m = f, so good lanes are just enough.
 * Every f up to m0 - 1 from one bed.
 */
static void sweep_reductions(unsigned m0, unsigned m1, unsigned lmc)
{
	struct bed *bed;
	char spec[64], what[128];

	snprintf(spec, sizeof(spec), "FT(2;%u,%u)", m0, m1);
	bed = bed_new(spec, lmc);
	for (unsigned f = 0; f < m0; f++) {
		if (f) {
			snprintf(what, sizeof(what), "Leaf%02u[%u]", m1 - 1, m0 + f);
			bed_down(bed, what);
		}
		snprintf(what, sizeof(what), "%s f=%u", spec, f);
		assert_closed_form(bed, promised(m0, m1, f), what);
	}
	bed_free(bed);
}

static unsigned lmc_for(unsigned lanes)
{
	unsigned lmc = 0;

	while (1u << lmc < lanes)
		lmc++;
	return lmc;
}

TEST(small_fabrics)
{
	for (unsigned m0 = 2; m0 <= 14; m0++)
		for (unsigned m1 = 2; m1 <= 14; m1++)
			sweep_reductions(m0, m1, lmc_for(m0));
}

static void paper_fabric(const char *spec, unsigned m0, unsigned m1, unsigned most)
{
	struct bed *bed = bed_new(spec, 5);
	char what[128];

	for (unsigned f = 0; f <= most; f++) {
		if (f) {
			snprintf(what, sizeof(what), "Leaf%02u[%u]", (f % 2) * (m1 - 1), m0 + f);
			bed_down(bed, what);
			snprintf(what, sizeof(what), "Leaf%02u[%u]", m1 / 2, m0 + f);
			bed_down(bed, what);
		}
		snprintf(what, sizeof(what), "%s, %u spines hit", spec, f);
		assert_closed_form(bed, promised(m0, m1, f), what);
	}
	bed_free(bed);
}

TEST(paper_fabrics)
{
	paper_fabric("FT(2;8,16)", 8, 16, 7);
	paper_fabric("FT(2;16,16)", 16, 16, 8);
	paper_fabric("FT(2;20,18)", 20, 18, 10);
	paper_fabric("FT(2;16,32)", 16, 32, 8);
	paper_fabric("FT(2;32,32)", 32, 32, 4);
}

TEST(lost_spines)
{
	struct bed *bed = bed_new("FT(2;20,18)", 5);

	bed_down(bed, "Spine00 Spine01");
	assert_closed_form(bed, promised(20, 18, 2), "two spines");
	bed_down(bed, "Spine04 Spine05");
	assert_closed_form(bed, promised(20, 18, 4), "four spines");
	bed_free(bed);
}

/* A healthy fabric with a spine per server, and a leaf or a server alone, need one LID only. */
TEST(base_lids_are_enough)
{
	static const struct {
		const char *spec;
		unsigned phases;
	} cases[] = {
		{"FT(2;20,18)", 360},
		{"FT(2;2,2)", 4},
		{"FT(2;5,1)", 5},
		{"FT(2;1,1)", 1},
		{"FT(2;1,7)", 7},
		{"FT(2;4,2)", 8},
		{"FT(2;4,1;servers=1)", 1},
		{"FT(2;4,6;servers=8)", 80},
		{"FT(2;2,5;servers=4;cables=2)", 20},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bed *bed = bed_new(cases[i].spec, 0);

		assert_closed_form(bed, cases[i].phases, cases[i].spec);
		bed_free(bed);
	}
}

/* More spines or cables than servers: any B good lanes, over leaves that take part. */
TEST(spare_lanes)
{
	struct bed *bed = bed_new("FT(2;6,5;servers=4)", 3);

	assert_closed_form(bed, 20, "spare lanes");
	bed_down(bed, "Leaf00[5] Leaf01[6]");
	assert_closed_form(bed, 20, "spare lanes, two lost");
	bed_free(bed);
	bed = bed_new("FT(2;3,5;servers=4;cables=2)", 3);
	assert_closed_form(bed, 20, "two cables");
	bed_down(bed, "Leaf00[5] Leaf01[8]");
	assert_closed_form(bed, 20, "two cables, two lost");
	bed_free(bed);
}

TEST(leaves_that_take_no_part)
{
	struct bed *bed = bed_new("FT(2;3,4)", 2);

	bed_participants(bed, "0/0 0/2 2/1 2/2 3/0 3/1");
	bed_down(bed, "Leaf01");
	assert_closed_form(bed, 6, "three of four leaves");
	bed_participants(bed, "3/1");
	assert_closed_form(bed, 1, "one participant");
	bed_participants(bed, "3/1 2/0");
	assert_closed_form(bed, 2, "two participants");
	bed_participants(bed, "2/1 2/0");
	assert_closed_form(bed, 2, "two participants of a leaf");
	bed_free(bed);
	bed = bed_new("FT(2;4,3)", 0);
	bed_participants(bed, "0/0 0/2 0/3 1/0 1/2 1/3 2/0 2/2 2/3");
	assert_closed_form(bed, 9, "three of four slots, base LIDs");
	bed_free(bed);
}

static void assert_declines(const struct bed *bed, enum fors_err expected, const char *part_of_text)
{
	struct fors_task task = bed_task(bed);
	struct fors_schedule *schedule = NULL;
	struct fors_error error;

	assert_int_equal(fors_method_closed_form.plan(&task, &schedule, &error), expected);
	assert_null(schedule);
	if (!strstr(error.text, part_of_text))
		fail_msg("\"%s\" is not in \"%s\"", part_of_text, error.text);
}

TEST(declines)
{
	struct bed *bed = bed_new("FT(2;4,4;empty=1/2)", 2);

	assert_declines(bed, FORS_ENOTAPPL, "Leaf01 has 3 servers");
	bed_free(bed);
	bed = bed_new("FT(2;4,4)", 1);
	bed_down(bed, "Leaf00[5]");
	assert_declines(bed, FORS_ELMC, "it needs LMC 2");
	bed_down(bed, "Leaf01[6]");
	assert_declines(bed, FORS_ENOTAPPL, "2 lanes live at all leaves");
	bed_free(bed);
	bed = bed_new("FT(2;20,18)", 4);
	bed_down(bed, "Leaf00[21]");
	assert_declines(bed, FORS_ELMC, "it needs LMC 5");
	bed_free(bed);
}

static bool yes(void *context)
{
	return true;
}

TEST(can_be_cancelled)
{
	struct bed *bed = bed_new("FT(2;4,4)", 2);
	struct fors_task task = bed_task(bed);
	struct fors_schedule *schedule = NULL;
	struct fors_error error;

	task.cancelled = yes;
	assert_int_equal(fors_method_closed_form.plan(&task, &schedule, &error), FORS_ECANCELLED);
	assert_null(schedule);
	bed_free(bed);
}
