/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sweep.c - is T = max(LB, LP), with a plan that two checkers accept, in every case of large sets of failures?
 *
 * usage: sweep [SETS [NAME]]   (4 sets of each family; only families whose name contains NAME)
 *
 * `make sweep` asks for 1,000 of each, which takes minutes; `make check` for the default. LB and LP are computed by
 * oracle.c, which shares no code with the planner; without lp_solve there is no LP, and plans above LB go unjudged. LP
 * is only asked for where T > LB: a plan of LB phases proves LP <= LB.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/planners/bound.h"
#include "core/schedule/schedule.h"
#include "tests/sweep/oracle.h"
#include "tests/sweep/progress.h"
#include "tests/unit/support.h"

#define FULL 100 /* sets that make a full run */

enum population { ALL, EMPTY_SLOTS, RANDOM_LEAVES };

/* One kind of fabrics and failures. */
struct family {
	const char *name, *spec;
	unsigned lmc;
	enum population population;
	double least, most; /* share of the links that die */
	uint32_t every;	    /* a short run tries one of so many sets (slow ones) */
};

static const struct family families[] = {
	{"8x16", "FT(2;8,16;servers=8)", 3, ALL, 0, 0.4, 1},
	{"20x18", "FT(2;20,18;servers=20)", 5, ALL, 0, 0.4, 1},
	{"16x32", "FT(2;16,32;servers=16)", 4, ALL, 0, 0.4, 1},
	{"20x18 half", "FT(2;20,18;servers=20)", 5, ALL, 0.5, 0.5, 1},
	{"8x16 empty slots", "FT(2;8,16;servers=8)", 3, EMPTY_SLOTS, 0, 0.4, 1},
	{"20x18 empty slots", "FT(2;20,18;servers=20)", 5, EMPTY_SLOTS, 0, 0.4, 1},
	{"16x32 empty slots", "FT(2;16,32;servers=16)", 4, EMPTY_SLOTS, 0, 0.4, 1},
	{"20x18 half empty slots", "FT(2;20,18;servers=20)", 5, EMPTY_SLOTS, 0.5, 0.5, 1},
	{"8x16 random leaves", "FT(2;8,16;servers=8)", 3, RANDOM_LEAVES, 0, 0.4, 1},
	{"20x18 random leaves", "FT(2;20,18;servers=20)", 5, RANDOM_LEAVES, 0, 0.4, 1},
	{"16x32 random leaves", "FT(2;16,32;servers=16)", 4, RANDOM_LEAVES, 0, 0.4, 1},
	{"8x16 two cables", "FT(2;8,16;servers=16;cables=2)", 4, ALL, 0, 0.4, 2},
	{"20x18 two cables", "FT(2;20,18;servers=40;cables=2)", 6, ALL, 0, 0.4, 8},
	{"16x32 two cables", "FT(2;16,32;servers=32;cables=2)", 5, ALL, 0, 0.4, 16},
	{"8x16 two to one", "FT(2;8,16;servers=16)", 3, ALL, 0, 0.4, 2},
	{"20x18 two to one", "FT(2;20,18;servers=40)", 5, ALL, 0, 0.4, 8},
	{"16x32 two to one", "FT(2;16,32;servers=32)", 4, ALL, 0, 0.4, 16},
	{"5x6 dense failures", "FT(2;5,6;servers=5)", 3, ALL, 0.1, 0.6, 1},
	{"4x5 three cables", "FT(2;4,5;servers=10;cables=3)", 4, ALL, 0, 0.3, 1},
};

#define NFAMILIES (sizeof(families) / sizeof(families[0]))

/* What came out for a family. */
struct tally {
	uint32_t plans, at_bound, at_fraction, above;
	uint64_t flows;
	double seconds;
};

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A random number of servers under each leaf, two in all at least. */
static void random_leaves(struct bed *bed, struct rng *rng)
{
	uint32_t nleaves = bed->fabric->nleaves, nslots = bed->fabric->nslots;
	char *text = calloc(nleaves * nslots, 16);
	size_t at = 0;

	assert_non_null(text);
	for (uint32_t leaf = 0; leaf < nleaves; leaf++) {
		uint32_t n = leaf < 2 ? 1 + rng_below(rng, nslots) : rng_below(rng, nslots + 1);

		for (uint32_t slot = 0; slot < n; slot++)
			at += (size_t)sprintf(text + at, "%s%u/%u", at ? " " : "", leaf, slot);
	}
	bed_participants(bed, text);
	free(text);
}

static void populate(struct bed *bed, struct rng *rng, enum population population)
{
	uint32_t all = bed->fabric->nleaves * bed->fabric->nslots;

	if (population == RANDOM_LEAVES)
		random_leaves(bed, rng);
	else if (population == EMPTY_SLOTS)
		bed_random_participants(bed, rng, all - all / 10 - rng_below(rng, all * 4 / 10 + 1));
}

static void fail_links(struct bed *bed, struct rng *rng, const struct family *family)
{
	uint32_t all = bed->fabric->nleaves * bed->fabric->nlanes;
	uint32_t least = (uint32_t)(family->least * all), most = (uint32_t)(family->most * all);
	uint32_t count = least + rng_below(rng, most - least + 1);

	bed_random_failures(bed, rng, count ? count : 1);
}

/* A case above LB is worth a look: in words that bed_down() and `fors plan --down` take. */
static void print_above(const struct bed *bed, const struct family *family, uint32_t set, uint32_t phases,
			uint32_t bound, uint32_t fraction)
{
	const struct fors_fabric *f = bed->fabric;

	printf("%s, set %u: %u phases, LB %u, LP %u, down:", family->name, set, phases, bound, fraction);
	for (uint32_t a = 0; a < f->nleaves; a++)
		for (uint32_t k = 0; k < f->nlanes; k++)
			if (fors_cable(f, a, k)->state == FORS_CABLE_DEAD)
				printf(" %s[%u]", f->leaf[a].name, fors_cable(f, a, k)->leaf_port);
	printf("\n");
}

/* Plan and judge one case. */
static void judge(const struct bed *bed, const struct family *family, uint32_t set, struct tally *tally)
{
	struct fors_task task = bed_task(bed);
	struct fors_schedule *schedule;
	struct fors_error error = {.text = ""};
	uint32_t bound = oracle_bound(bed->fabric), ours, fraction = 0;
	double before = seconds_now();

	if (fors_plan(&task, "exact", &schedule, &error))
		fail_msg("%s, set %u: %s", family->name, set, error.text);
	tally->seconds += seconds_now() - before;
	tally->flows += (uint64_t)schedule->nservers * schedule->nservers;
	assert_plan(bed, schedule, family->name);
	assert_int_equal(fors_lower_bound(bed->fabric, &ours, &error), FORS_OK);
	assert_int_equal(ours, bound);
	tally->plans++;
	if (schedule->nphases > bound)
		fraction = oracle_fraction(bed->fabric);
	tally->at_bound += schedule->nphases == bound;
	tally->at_fraction += schedule->nphases > bound && schedule->nphases == fraction;
	tally->above += schedule->nphases > bound && schedule->nphases != fraction && fraction;
	if (schedule->nphases > bound)
		print_above(bed, family, set, schedule->nphases, bound, fraction);
	fors_schedule_free(schedule);
}

static uint32_t run_family(const struct family *family, uint32_t sets)
{
	struct rng rng = {.state = 20260101};
	struct tally tally = {0};
	struct bed *bed = bed_new(family->spec, family->lmc);

	for (uint32_t set = 0; set < sets; set += sets < FULL ? family->every : 1) {
		bed_restore(bed);
		populate(bed, &rng, family->population);
		fail_links(bed, &rng, family);
		judge(bed, family, set, &tally);
	}
	bed_free(bed);
	printf("%-24s %5u plans, T = LB %5u, T = LP > LB %3u, above %u; %.1f ns per flow\n", family->name, tally.plans,
	       tally.at_bound, tally.at_fraction, tally.above, 1e9 * tally.seconds / (double)tally.flows);
	fflush(stdout);
	return tally.above;
}

/* Every set of up to `most` dead cables, from cable `first` on, beside those named in `down`. */
static void try_sets(struct bed *bed, const struct family *family, const char *down, uint32_t first, uint32_t most,
		     struct tally *tally)
{
	uint32_t nlanes = bed->fabric->nlanes, ncables = bed->fabric->nleaves * nlanes;

	for (uint32_t i = first; most > 0 && i < ncables; i++) {
		const struct fors_cable *cable = fors_cable(bed->fabric, i / nlanes, i % nlanes);
		char more[80];

		snprintf(more, sizeof(more), "%s Leaf%02u[%u]", down, i / nlanes, cable->leaf_port);
		bed_restore(bed);
		bed_down(bed, more);
		if (!bed->fabric->unreachable_pairs)
			judge(bed, family, i, tally);
		try_sets(bed, family, more, i + 1, most - 1, tally);
	}
}

/* All single, double and triple failures of the smallest fabrics. */
static void every_small_set(void **unused)
{
	static const struct family small[] = {
		{"all of 3x3", "FT(2;3,3)", 2, ALL, 0, 0, 1},
		{"all of 4x3", "FT(2;4,3)", 2, ALL, 0, 0, 1},
		{"all of 3x4", "FT(2;3,4)", 2, ALL, 0, 0, 1},
	};

	for (size_t i = 0; i < sizeof(small) / sizeof(small[0]); i++) {
		struct bed *bed = bed_new(small[i].spec, small[i].lmc);
		struct tally tally = {0};

		try_sets(bed, &small[i], "", 0, 3, &tally);
		printf("%-24s %5u plans, T = LB %5u, T = LP > LB %3u, above %u\n", small[i].name, tally.plans,
		       tally.at_bound, tally.at_fraction, tally.above);
		assert_int_equal(tally.above, 0);
		bed_free(bed);
	}
}

static uint32_t nsets = 4;
static const char *wanted = "";

static void tell_progress(size_t done)
{
	char alone[96];

	snprintf(alone, sizeof(alone), "sweep %u \"%s\"", nsets, families[done].name);
	progress_tell(done, NFAMILIES, "families", alone);
}

static void sweep(void **unused)
{
	uint32_t above = 0;

	for (size_t i = 0; i < NFAMILIES; i++)
		if (strstr(families[i].name, wanted)) {
			tell_progress(i);
			above += run_family(&families[i], nsets);
		}
	assert_int_equal(above, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_small_set), cmocka_unit_test(sweep)};

	if (argc > 1)
		nsets = (uint32_t)strtoul(argv[1], NULL, 10);
	if (argc > 2)
		wanted = argv[2];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
