/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sweep_flows.c - how near to the bound of the tables is method flows, on networks of all kinds?
 *
 * usage: sweep_flows [-v] [PERCENT [FAMILY]]   (of the instances, 100 when left out; only families whose name contains
 * that, or one network: "TORUS(8x8x8;2) dor", with up to 1,100 servers)
 *
 * An instance is a made-up network (fat-trees of two and three levels, tori, hypercubes, Dragonflies, random graphs; 64 to 512
 * servers), perhaps with dead cables or empty places, and tables for it (lab/model/routers/). Switches and servers are numbered as
 * they come, or shuffled. T is held against max(P, flows of the fullest cable), both counted here from net and
 * tables; and every plan is walked flow by flow through the tables, by code that shares nothing with the planner: a
 * server is sent to by every other one once, a cable has one flow in a phase, a switch no more than servers.
 *
 * Exit 1: a plan is wrong, or a family is worse than what doc/planners-flows.md promises (with all instances only).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/random.h"
#include "core/net/spec.h"
#include "core/planners/flows/strategy.h"
#include "lab/model/routers/model_tables.h"
#include "tests/sweep/progress.h"
#include "tests/sweep/world.h"

#define NKINDS 13 /* of networks, see run_all() */
#define MOST_INSTANCES 700

enum kind { TREE, RANDOM, GRID }; /* what is promised: 1.06, 1.06, 1.15 */

struct tally {
	double ratio[MOST_INSTANCES], seconds[MOST_INSTANCES];
	uint32_t n;
};

struct sweep {
	unsigned percent;
	const char *filter;
	bool is_loud, is_wrong;
	uint64_t seen; /* instances, run or not */
	struct tally family, all, grids, others, shuffled, shuffled_family;
};

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now); /* other programs do not count */
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void note(struct tally *tally, double ratio, double seconds)
{
	tally->ratio[tally->n] = ratio;
	tally->seconds[tally->n++] = seconds;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double mean(const double *x, uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += x[i];
	return n ? sum / n : 0;
}

static void print_row(const char *name, struct tally *t)
{
	if (!t->n)
		return;
	qsort(t->ratio, t->n, sizeof(*t->ratio), compare);
	qsort(t->seconds, t->n, sizeof(*t->seconds), compare);
	printf("| %-32s | %3u | %.4f | %.3f | %.3f | %.3f | %.2f |\n", name, t->n, mean(t->ratio, t->n),
	       t->ratio[(t->n * 9 - 1) / 10], t->ratio[t->n - 1], mean(t->seconds, t->n), t->seconds[t->n - 1]);
	fflush(stdout);
}

/* Pack one world as it is numbered, check, count. */
static double run(struct sweep *sweep, struct world *world, const char *what, double *seconds)
{
	const struct fors_flows_asked asked = {0};
	struct fors_flows_problem problem;
	struct fors_flows_packing *packing;
	struct fors_error error;
	uint32_t bound = world_bound(world), phases;
	double start;

	world_problem(world, &problem);
	start = seconds_now();
	if (fors_flows_pack_problem(&problem, &asked, &packing, &error)) {
		printf("%s: %s\n", what, error.text);
		exit(1);
	}
	*seconds = seconds_now() - start;
	phases = packing->nphases;
	if (!world_check(world, packing, what) || phases < bound)
		sweep->is_wrong = true;
	fors_flows_packing_free(packing);
	fors_flows_problem_clear(&problem);
	if (sweep->is_loud)
		printf("%-60s P %u bound %u T %u %.4f %.2f s\n", what, world->nservers, bound, phases,
		       (double)phases / bound, *seconds);
	return (double)phases / bound;
}

static bool is_chosen(struct sweep *sweep)
{
	uint64_t before = sweep->seen * sweep->percent / 100;

	return ++sweep->seen * sweep->percent / 100 > before;
}

/* One instance; shuffled too if asked. */
static void instance(struct sweep *sweep, const struct world_wish *wish, enum kind kind, bool is_shuffled)
{
	struct world world;
	char what[160];
	double seconds, ratio;

	if (!is_chosen(sweep) || !world_make(&world, wish))
		return;
	world_name(wish, what, sizeof(what));
	ratio = run(sweep, &world, what, &seconds);
	note(&sweep->family, ratio, seconds);
	note(&sweep->all, ratio, seconds);
	note(kind == GRID ? &sweep->grids : &sweep->others, ratio, seconds);
	if (is_shuffled) {
		world_shuffle(&world, 1);
		strcat(what, " shuffled");
		ratio = run(sweep, &world, what, &seconds);
		note(&sweep->shuffled, ratio, seconds);
		note(&sweep->shuffled_family, ratio, seconds);
	}
	world_clear(&world);
}

static bool begin(struct sweep *sweep, const char *name)
{
	sweep->family.n = sweep->shuffled_family.n = 0;
	return strstr(name, sweep->filter);
}

static void end(struct sweep *sweep, const char *name)
{
	char text[64];

	print_row(name, &sweep->family);
	snprintf(text, sizeof(text), "%s, shuffled", name);
	print_row(text, &sweep->shuffled_family);
}

/* ---- families ---- */

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static const char *const ft2[] = {"FT(2;8,8)",
				  "FT(2;8,16)",
				  "FT(2;12,12)",
				  "FT(2;20,18)",
				  "FT(2;16,16)",
				  "FT(2;16,32)",
				  "FT(2;6,12;servers=12)",
				  "FT(2;4,16;servers=12)",
				  "FT(2;9,18;servers=18)",
				  "FT(2;5,10;servers=13)",
				  "FT(2;8,24;servers=16)",
				  "FT(2;7,11;servers=9)",
				  "FT(2;6,9;cables=2)",
				  "FT(2;10,20;servers=8)",
				  "FT(2;18,20;servers=25)",
				  "FT(2;12,36;servers=14)"};
static const char *const ft3[] = {
	"XGFT(3;4,4,4;1,4,4)",	"XGFT(3;4,4,8;1,4,4)",	"XGFT(3;6,6,6;1,6,6)",	     "XGFT(3;8,4,4;1,4,4)",
	"XGFT(3;5,5,10;1,5,5)", "XGFT(3;8,8,8;1,8,8)",	"XGFT(3;8,8,4;1,4,4)",	     "XGFT(3;6,3,6;1,6,3)",
	"XGFT(3;4,6,8;1,2,4)",	"XGFT(3;9,3,5;1,3,3)",	"XGFT(3;4,8,8;1,4,8)",	     "XGFT(3;7,5,6;1,7,5)",
	"XGFT(3;3,6,12;1,3,6)", "XGFT(3;10,5,8;1,5,5)", "PGFT(3;4,4,8;1,2,4;1,2,1)", "XGFT(3;6,8,8;1,6,8)"};

static void trees(struct sweep *sweep, const char *name, const char *const *spec, size_t count)
{
	if (!begin(sweep, name))
		return;
	for (size_t i = 0; i < count; i++)
		instance(sweep, &(struct world_wish){.spec = spec[i], .tables = "d-mod-k"}, TREE, true);
	end(sweep, name);
}

static void dead_trees(struct sweep *sweep, const char *name, const char *const *spec, size_t count, size_t most)
{
	static const unsigned dead[] = {1, 3, 10};

	if (!begin(sweep, name))
		return;
	for (size_t i = 0; i < count && most; i++)
		for (unsigned k = 0; k < COUNT(dead) && most; k++, most--)
			instance(sweep,
				 &(struct world_wish){
					 .spec = spec[i], .tables = i % 2 ? "sssp" : "shortest", .dead = dead[k]},
				 TREE, false);
	end(sweep, name);
}

static void tori2(struct sweep *sweep)
{
	static const struct {
		const char *spec, *tables;
	} list[] = {{"TORUS(8x8;1)", "dor"},	  {"TORUS(8x8;2)", "dor"},	{"TORUS(8x8;4)", "dor"},
		    {"TORUS(8x8;8)", "dor"},	  {"TORUS(6x6;2)", "dor"},	{"TORUS(6x6;4)", "dor"},
		    {"TORUS(5x7;3)", "dor"},	  {"TORUS(4x4;16)", "dor"},	{"TORUS(10x10;1)", "dor"},
		    {"TORUS(12x12;1)", "dor"},	  {"TORUS(16x16;1)", "dor"},	{"TORUS(16x16;2)", "dor"},
		    {"TORUS(16x4;4)", "dor"},	  {"TORUS(8x8;2)", "shortest"}, {"TORUS(8x8;4)", "sssp"},
		    {"TORUS(6x10;3)", "up-down"}, {"TORUS(9x9;2)", "shortest"}, {"TORUS(12x8;2)", "sssp"},
		    {"TORUS(7x7;5)", "up-down"},  {"TORUS(16x8;3)", "shortest"}};

	if (!begin(sweep, "torus 2-D"))
		return;
	for (size_t i = 0; i < COUNT(list); i++)
		instance(sweep, &(struct world_wish){.spec = list[i].spec, .tables = list[i].tables}, GRID, i < 13);
	end(sweep, "torus 2-D");
}

static void tori3(struct sweep *sweep)
{
	static const struct {
		const char *spec, *tables;
	} list[] = {{"TORUS(4x4x4;1)", "dor"},	    {"TORUS(4x4x4;2)", "dor"},	{"TORUS(4x4x4;4)", "dor"},
		    {"TORUS(4x4x4;8)", "dor"},	    {"TORUS(6x6x6;1)", "dor"},	{"TORUS(6x6x6;2)", "dor"},
		    {"TORUS(8x8x4;1)", "dor"},	    {"TORUS(8x8x8;1)", "dor"},	{"TORUS(5x5x5;2)", "dor"},
		    {"TORUS(4x4x4;3)", "shortest"}, {"TORUS(5x5x5;3)", "sssp"}, {"TORUS(6x6x6;2)", "up-down"},
		    {"TORUS(4x6x8;2)", "shortest"}, {"TORUS(4x4x8;4)", "sssp"}, {"TORUS(3x3x3;6)", "up-down"},
		    {"TORUS(3x5x7;2)", "shortest"}};

	if (!begin(sweep, "torus 3-D"))
		return;
	for (size_t i = 0; i < COUNT(list); i++)
		instance(sweep, &(struct world_wish){.spec = list[i].spec, .tables = list[i].tables}, GRID, i < 9);
	end(sweep, "torus 3-D");
}

static void dead_grids(struct sweep *sweep)
{
	static const char *const spec[] = {"TORUS(8x8;2)",   "TORUS(4x4x4;4)", "CUBE(6;4)",
					   "TORUS(6x6x6;1)", "CUBE(7;2)",      "TORUS(10x10;3)"};
	static const char *const tables[] = {"shortest", "sssp", "up-down"};

	if (!begin(sweep, "torus, cube with dead cables"))
		return;
	for (size_t i = 0; i < COUNT(spec); i++)
		for (unsigned k = 0; k < 3; k++)
			instance(
				sweep,
				&(struct world_wish){.spec = spec[i], .tables = tables[(i + k) % 3], .dead = 1 + 4 * k},
				GRID, false);
	end(sweep, "torus, cube with dead cables");
}

static void cubes(struct sweep *sweep)
{
	static const char *const tables[] = {"dor", "shortest", "sssp", "up-down"};

	if (!begin(sweep, "hypercube"))
		return;
	for (unsigned dims = 4; dims <= 8; dims++)
		for (unsigned n = 1; n <= 16; n *= 2)
			for (unsigned k = 0; k < 4; k++) {
				char spec[32];

				if ((n << dims) < 64 || (n << dims) > 512 || (k && (dims + n) % 3 != k - 1))
					continue;
				snprintf(spec, sizeof(spec), "CUBE(%u;%u)", dims, n);
				instance(sweep, &(struct world_wish){.spec = spec, .tables = tables[k]}, GRID, k == 0);
			}
	end(sweep, "hypercube");
}

static void list_of(struct sweep *sweep, const char *name, const char *const *spec, size_t count)
{
	static const char *const tables[] = {"shortest", "sssp", "up-down"};

	if (!begin(sweep, name))
		return;
	for (size_t i = 0; i < count; i++)
		for (unsigned k = 0; k < 3; k++)
			instance(sweep, &(struct world_wish){.spec = spec[i], .tables = tables[k]}, RANDOM, false);
	end(sweep, name);
}

static void random_graphs(struct sweep *sweep)
{
	static const unsigned size[][3] = {{16, 4, 8}, {32, 5, 4},  {32, 6, 8},	  {64, 6, 4},
					   {50, 8, 6}, {64, 10, 6}, {100, 6, 3},  {128, 12, 4},
					   {24, 3, 5}, {80, 20, 6}, {40, 12, 10}, {200, 8, 2}};
	static const char *const tables[] = {"shortest", "sssp", "up-down"};

	if (!begin(sweep, "random regular"))
		return;
	for (size_t i = 0; i < COUNT(size); i++)
		for (unsigned k = 0; k < 3; k++) {
			char spec[48];

			snprintf(spec, sizeof(spec), "RRG(%u,%u,%u;%u)", size[i][0], size[i][1], size[i][2], k + 1);
			instance(sweep, &(struct world_wish){.spec = spec, .tables = tables[k]}, RANDOM, false);
		}
	end(sweep, "random regular");
}

static void uneven(struct sweep *sweep)
{
	static const struct {
		const char *spec;
		enum kind kind;
	} list[] = {{"FT(2;20,18)", TREE},	     {"FT(2;8,16;servers=12)", TREE},
		    {"FT(2;16,24)", TREE},	     {"XGFT(3;6,6,6;1,6,6)", TREE},
		    {"XGFT(3;8,4,8;1,4,4)", TREE},   {"TORUS(8x8;4)", GRID},
		    {"TORUS(4x4x4;5)", GRID},	     {"CUBE(6;4)", GRID},
		    {"DRAGONFLY(6,3,12;4)", RANDOM}, {"DFPLUS(4,4,4,8;8)", RANDOM},
		    {"RRG(40,8,8;5)", RANDOM},	     {"RRG(64,12,5;6)", RANDOM}};
	static const char *const tables[] = {"shortest", "sssp", "up-down"};
	static const unsigned empty[] = {15, 50};

	if (!begin(sweep, "uneven"))
		return;
	for (size_t i = 0; i < COUNT(list); i++)
		for (unsigned k = 0; k < 3; k++)
			for (unsigned e = 0; e < COUNT(empty); e++)
				instance(sweep,
					 &(struct world_wish){
						 .spec = list[i].spec, .tables = tables[k], .empty = empty[e]},
					 list[i].kind, false);
	end(sweep, "uneven");
}

/* Fullest cable and P within 10 %: nothing has slack. Whatever of these lists is so. */
static void tight(struct sweep *sweep)
{
	static const char *const tables[] = {"shortest", "sssp", "dor", "up-down"};
	static const char *const format[] = {"TORUS(4x4;%u)",
					     "TORUS(5x5;%u)",
					     "TORUS(6x6;%u)",
					     "TORUS(4x4x4;%u)",
					     "TORUS(5x5x5;%u)",
					     "TORUS(3x3x3x3;%u)",
					     "TORUS(4x4x6;%u)",
					     "CUBE(4;%u)",
					     "CUBE(5;%u)",
					     "CUBE(6;%u)",
					     "CUBE(7;%u)",
					     "DRAGONFLY(4,2,9;%u)",
					     "DRAGONFLY(6,3,8;%u)",
					     "DRAGONFLY(8,4,8;%u)",
					     "DFPLUS(4,4,4,5;%u)",
					     "DFPLUS(3,3,6,7;%u)",
					     "DFPLUS(6,6,6,4;%u)",
					     "RRG(16,5,%u;1)",
					     "RRG(20,6,%u;2)",
					     "RRG(32,8,%u;3)",
					     "RRG(40,10,%u;4)",
					     "RRG(64,12,%u;5)",
					     "RRG(64,16,%u;6)",
					     "RRG(100,16,%u;7)",
					     "RRG(128,16,%u;8)",
					     "RRG(90,24,%u;9)",
					     "RRG(48,20,%u;10)",
					     "FT(2;8,16;servers=%u)",
					     "FT(2;16,12;servers=%u)",
					     "FT(2;12,20;servers=%u)",
					     "XGFT(3;%u,6,6;1,6,6)",
					     "XGFT(3;%u,4,8;1,4,4)"};

	if (!begin(sweep, "tight"))
		return;
	for (size_t i = 0; i < COUNT(format); i++)
		for (unsigned n = 1; n <= 20; n++)
			for (unsigned k = 0; k < 4; k++) {
				enum kind kind = i < 11 ? GRID : i < 27 ? RANDOM : TREE;
				char spec[64];

				snprintf(spec, sizeof(spec), format[i], n);
				if (k == 2 && kind != GRID)
					continue;
				if (world_is_tight(spec, tables[k]))
					instance(sweep, &(struct world_wish){.spec = spec, .tables = tables[k]}, kind,
						 true);
			}
	end(sweep, "tight");
}

/* FAMILY is "SPEC TABLES [DEAD]": that alone. */
static void one(struct sweep *sweep)
{
	char spec[64], tables[16];
	unsigned dead = 0;

	if (sscanf(sweep->filter, "%63s %15s %u", spec, tables, &dead) >= 2)
		instance(sweep, &(struct world_wish){.spec = spec, .tables = tables, .dead = dead, .most = 1100}, GRID,
			 true);
}

/* Kinds of networks that are done, of all. */
static void tell_progress(unsigned done)
{
	progress_tell(done, NKINDS, "kinds of networks", "sweep_flows 100 NAME, a part of the name of a row");
}

static void run_all(struct sweep *sweep)
{
	static const char *const dragonfly[] = {"DRAGONFLY(4,2,9;2)",  "DRAGONFLY(4,2,9;4)", "DRAGONFLY(4,2,5;8)",
						"DRAGONFLY(6,3,19;2)", "DRAGONFLY(8,4,8;4)", "DRAGONFLY(8,4,16;4)",
						"DRAGONFLY(5,2,11;6)"};
	static const char *const dfplus[] = {"DFPLUS(4,4,4,5;8)", "DFPLUS(4,2,4,9;4)", "DFPLUS(8,8,4,4;8)",
					     "DFPLUS(6,6,3,7;6)"};

	tell_progress(0);
	trees(sweep, "FT 2 levels", ft2, COUNT(ft2));
	tell_progress(1);
	dead_trees(sweep, "FT 2 levels, dead cables", ft2, COUNT(ft2), 36);
	tell_progress(2);
	trees(sweep, "FT 3 levels", ft3, COUNT(ft3));
	tell_progress(3);
	dead_trees(sweep, "FT 3 levels, dead cables", ft3, COUNT(ft3), 24);
	tell_progress(4);
	tori2(sweep);
	tell_progress(5);
	tori3(sweep);
	tell_progress(6);
	dead_grids(sweep);
	tell_progress(7);
	cubes(sweep);
	tell_progress(8);
	list_of(sweep, "Dragonfly", dragonfly, COUNT(dragonfly));
	tell_progress(9);
	list_of(sweep, "Dragonfly+", dfplus, COUNT(dfplus));
	tell_progress(10);
	random_graphs(sweep);
	tell_progress(11);
	uneven(sweep);
	tell_progress(12);
	tight(sweep);
}

static bool is_above(const char *name, const struct tally *t, double mean_of, double p90, double worst)
{
	bool is = t->n &&
		  (mean(t->ratio, t->n) > mean_of || t->ratio[(t->n * 9 - 1) / 10] > p90 || t->ratio[t->n - 1] > worst);

	if (is)
		printf("%s: worse than promised\n", name);
	return is;
}

int main(int argc, char **argv)
{
	static struct sweep sweep = {.percent = 100, .filter = ""};
	int at = 1;
	bool is_bad;

	if (at < argc && !strcmp(argv[at], "-v")) {
		sweep.is_loud = true;
		at++;
	}
	if (at < argc)
		sweep.percent = (unsigned)atoi(argv[at++]);
	if (at < argc)
		sweep.filter = argv[at];
	printf("| %-32s | n | T / bound, mean | 90 %% | worst | s, mean | most |\n|---|---|---|---|---|---|---|\n", "");
	if (strchr(sweep.filter, '('))
		one(&sweep);
	else
		run_all(&sweep);
	print_row("all", &sweep.all);
	print_row("tori and cubes", &sweep.grids);
	print_row("all others", &sweep.others);
	print_row("shuffled", &sweep.shuffled);
	is_bad = is_above("all", &sweep.all, 1.01, 1.03, 1.15);
	is_bad |= is_above("trees, Dragonflies, random graphs", &sweep.others, 2, 2, 1.06);
	is_bad |= is_above("shuffled", &sweep.shuffled, 2, 2, 1.15);
	return sweep.is_wrong || is_bad;
}
