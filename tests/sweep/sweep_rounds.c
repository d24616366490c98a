/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sweep_rounds.c - how near to the optimum is the rounds planner with few LIDs?
 *
 * usage: sweep_rounds [PERCENT [FABRIC [LMC]]]   (of the failure sets, 100 when left out; all fabrics; LMC 0 to 2)
 *
 * For each fabric and LMC 0, 1 and 2: every single lost cable, random doubles and triples, 1 to 4 lost spines, random
 * sets of 1 to 40 % of the links. The share of a plan is LB / T, LB computed by oracle.c, which shares no code with the
 * planner. Every plan is checked flow by flow where that takes no more than seconds, else every eighth.
 *
 * Exit 1: a plan is wrong, or one at LMC 0 is below 0.94 though tables that leave all healthy entries at home allow
 * fewer phases than it has (a linear programme says so, oracle.c; without lp_solve: any plan below 0.94).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/planners/planner.h"
#include "core/schedule/schedule.h"
#include "tests/sweep/oracle.h"
#include "tests/sweep/progress.h"
#include "tests/unit/support.h"

#define LEAST 0.94

static const struct {
	const char *spec;
	unsigned weight; /* at LMC 1 and 2 one set of so many is run */
} fabrics[] = {
	{"FT(2;20,18)", 1},
	{"FT(2;8,16)", 1},
	{"FT(2;16,32)", 4},
	{"FT(2;32,32)", 8},
};

enum kind { SINGLE, DOUBLE, TRIPLE, SPINES, RANDOM, NKINDS };

static const struct {
	const char *name;
	unsigned sets;
} kinds[NKINDS] = {
	[SINGLE] = {"1 link", 0},     [DOUBLE] = {"2 links", 500},	   [TRIPLE] = {"3 links", 500},
	[SPINES] = {"1-4 spines", 4}, [RANDOM] = {"1-40 % of links", 200},
};

struct tally {
	double *share; /* of each set */
	uint32_t count;
	uint32_t missed; /* sets below LEAST where tables with healthy entries at home allow more */
	double seconds, slowest;
	/* method auto, at LMC 0: T over the bound of the tables, and its time */
	double auto_sum, auto_worst, auto_seconds, auto_slowest;
	uint32_t fewer, at_floor; /* sets with fewer phases than rounds; sets at max(LB, lump of one LID) */
};

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now); /* other programs do not count */
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Take down what set number `set` of a kind asks for. */
static void break_things(struct bed *bed, enum kind kind, uint32_t set, uint32_t lanes, uint32_t leaves)
{
	struct rng rng = {.state = (uint64_t)kind << 32 | set};
	uint32_t links = lanes * leaves;
	char what[64];

	bed_restore(bed);
	if (kind == SINGLE) {
		snprintf(what, sizeof(what), "Leaf%02u[%u]", set / lanes, lanes + 1 + set % lanes);
		bed_down(bed, what);
	} else if (kind == SPINES) {
		for (uint32_t spine = 0; spine <= set; spine++) {
			snprintf(what, sizeof(what), "Spine%02u", 3 * spine % lanes);
			bed_down(bed, what);
		}
	} else {
		bed_random_failures(bed, &rng,
				    kind == RANDOM ? links / 100 + rng_below(&rng, links * 39 / 100) + 1 : kind + 1u);
	}
}

/* A plan at LMC 0 is far from the optimum over any LMC: because of the tables? */
static void look_closer(const struct bed *bed, struct tally *tally, const char *what, uint32_t bound, uint32_t phases)
{
	uint32_t at_home = oracle_at_home(bed->fabric);

	printf("%s: LB %u, at least %u with healthy entries at home, %u phases:", what, bound, at_home, phases);
	for (uint32_t a = 0; a < bed->fabric->nleaves; a++)
		for (uint32_t k = 0; k < bed->fabric->nlanes; k++)
			if (!fors_live(bed->fabric, a, k))
				printf(" Leaf%02u[%u]", a, bed->fabric->nslots + k + 1);
	printf("\n");
	tally->missed += at_home < phases;
}

/* Flows of the fullest cable, or servers: no plan over these tables has fewer phases. */
static uint32_t tables_bound(const struct bed *bed)
{
	const struct fors_fabric *f = bed->fabric;
	uint32_t *up = calloc(2 * (size_t)f->nleaves * f->nlanes + 1, sizeof(*up)), most = f->nservers;
	uint32_t *down = up + (size_t)f->nleaves * f->nlanes;

	if (!up)
		exit(1);
	for (uint32_t a = 0; a < f->nleaves; a++)
		for (uint32_t d = 0; d < f->nservers; d++) {
			uint32_t to = f->server[d].leaf, lane;

			if (to == a)
				continue;
			lane = fors_lane_to(f, bed->lanes, a, d, 0);
			up[a * f->nlanes + lane] += f->leaf[a].nservers;
			down[to * f->nlanes + fors_lane_down(f, bed->lanes, lane, d, 0)] += f->leaf[a].nservers;
		}
	for (uint32_t i = 0; i < 2 * f->nleaves * f->nlanes; i++)
		most = up[i] > most ? up[i] : most;
	free(up);
	return most;
}

/* What tables of one LID cannot go below: n_a ceil((P - n_a) / live uplinks of a). */
static uint32_t lump_floor(const struct fors_fabric *f)
{
	uint32_t most = 0;

	for (uint32_t a = 0; a < f->nleaves; a++) {
		uint32_t n = f->leaf[a].nservers, live = f->leaf[a].nlive;
		uint32_t least = n * ((f->nservers - n + live - 1) / live);

		most = least > most ? least : most;
	}
	return most;
}

static void run_auto(const struct bed *bed, struct tally *tally, const char *what, bool check, uint32_t lb,
		     uint32_t rounds)
{
	uint32_t floor = lump_floor(bed->fabric), least = lb > floor ? lb : floor;
	struct fors_task task = bed_task(bed);
	struct fors_schedule *schedule;
	struct fors_error error;
	double start = seconds_now(), taken, ratio;

	if (fors_plan(&task, "auto", &schedule, &error)) {
		printf("%s: %s\n", what, error.text);
		exit(1);
	}
	taken = seconds_now() - start;
	if (check)
		assert_plan(bed, schedule, what);
	ratio = (double)schedule->nphases / tables_bound(bed);
	tally->auto_sum += ratio;
	tally->auto_worst = ratio > tally->auto_worst ? ratio : tally->auto_worst;
	tally->auto_seconds += taken;
	tally->auto_slowest = taken > tally->auto_slowest ? taken : tally->auto_slowest;
	tally->fewer += schedule->nphases < rounds;
	tally->at_floor += schedule->nphases <= least;
	fors_schedule_free(schedule);
}

static void run_set(const struct bed *bed, struct tally *tally, const char *what, bool check)
{
	uint32_t bound = oracle_bound(bed->fabric);
	struct fors_task task = bed_task(bed);
	struct fors_schedule *schedule;
	struct fors_error error;
	double start = seconds_now(), taken;

	if (fors_method_rounds.plan(&task, &schedule, &error)) {
		printf("%s: %s\n", what, error.text);
		exit(1);
	}
	taken = seconds_now() - start;
	if (check)
		assert_plan(bed, schedule, what);
	tally->share[tally->count++] = (double)bound / schedule->nphases;
	if (bed->fabric->lmc == 0 && bound < LEAST * schedule->nphases)
		look_closer(bed, tally, what, bound, schedule->nphases);
	if (bed->fabric->lmc == 0)
		run_auto(bed, tally, what, check, bound, schedule->nphases);
	tally->seconds += taken;
	tally->slowest = taken > tally->slowest ? taken : tally->slowest;
	fors_schedule_free(schedule);
}

static int compare_shares(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* One line: mean, least, and what 5, 25 and 50 % of the sets stay below. */
static bool report(struct tally *tally, const char *spec, unsigned lmc, enum kind kind)
{
	uint32_t low = 0, n = tally->count;
	double sum = 0;

	qsort(tally->share, n, sizeof(*tally->share), compare_shares);
	for (uint32_t i = 0; i < n; i++) {
		sum += tally->share[i];
		low += tally->share[i] < LEAST;
	}
	printf("%-12s LMC %u %-16s %4u sets: mean %.4f least %.4f 5%% %.4f 25%% %.4f median %.4f, %u below %.2f; "
	       "%.2f ms, at most %.2f\n",
	       spec, lmc, kinds[kind].name, n, sum / n, tally->share[0], tally->share[n / 20], tally->share[n / 4],
	       tally->share[n / 2], low, LEAST, tally->seconds / n * 1e3, tally->slowest * 1e3);
	if (lmc == 0)
		printf("  auto: T / bound of the tables %.4f, worst %.4f; fewer phases than rounds %u, at max(LB, lump) %u; "
		       "%.2f ms, at most %.2f\n",
		       tally->auto_sum / n, tally->auto_worst, tally->fewer, tally->at_floor,
		       tally->auto_seconds / n * 1e3, tally->auto_slowest * 1e3);
	fflush(stdout);
	return tally->missed == 0;
}

/* All sets of one kind on one fabric at one LMC. */
static bool sweep(size_t fabric, unsigned lmc, enum kind kind, unsigned percent)
{
	struct bed *bed = bed_new(fabrics[fabric].spec, lmc);
	uint32_t lanes = bed->fabric->nlanes, leaves = bed->fabric->nleaves, step;
	uint32_t sets = kind == SINGLE ? lanes * leaves : kinds[kind].sets;
	struct tally tally = {.share = calloc(sets, sizeof(double))};
	bool good;

	step = kind == SPINES ? 1 : (lmc ? fabrics[fabric].weight * (lmc + 1) : 1) * 100 / percent;
	for (uint32_t set = 0; set < sets; set += step) {
		char what[96];

		snprintf(what, sizeof(what), "%s LMC %u, %s, set %u", fabrics[fabric].spec, lmc, kinds[kind].name, set);
		break_things(bed, kind, set, lanes, leaves);
		run_set(bed, &tally, what, leaves * lanes < 400 || set / step % 8 == 0);
	}
	good = report(&tally, fabrics[fabric].spec, lmc, kind);
	free(tally.share);
	bed_free(bed);
	return good;
}

static int percent = 100;
static const char *only_fabric; /* NULL: all */
static int only_lmc = -1;	/* -1: all */

static bool is_wanted(size_t fabric, unsigned lmc)
{
	return (!only_fabric || strcmp(only_fabric, fabrics[fabric].spec) == 0) &&
	       (only_lmc < 0 || only_lmc == (int)lmc);
}

static void tell_progress(size_t fabric, unsigned lmc)
{
	char alone[96];

	snprintf(alone, sizeof(alone), "sweep_rounds %d \"%s\" %u", percent, fabrics[fabric].spec, lmc);
	progress_tell(fabric * 3 + lmc, 3 * sizeof(fabrics) / sizeof(fabrics[0]), "fabrics and LMCs", alone);
}

static void sweep_all(void **state)
{
	bool good = true;

	(void)state;
	for (size_t fabric = 0; fabric < sizeof(fabrics) / sizeof(fabrics[0]); fabric++)
		for (unsigned lmc = 0; lmc <= 2; lmc++) {
			if (is_wanted(fabric, lmc))
				tell_progress(fabric, lmc);
			for (enum kind kind = SINGLE; is_wanted(fabric, lmc) && kind < NKINDS; kind++)
				good &= sweep(fabric, lmc, kind, (unsigned)percent);
		}
	assert_true(good);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(sweep_all)};

	if (argc > 1)
		percent = atoi(argv[1]);
	if (argc > 2)
		only_fabric = argv[2];
	if (argc > 3)
		only_lmc = atoi(argv[3]);
	if (argc > 4 || percent < 1 || percent > 100) {
		fprintf(stderr, "usage: sweep_rounds [PERCENT of the sets, 1..100 [FABRIC [LMC]]]\n");
		return 2;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
