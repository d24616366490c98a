/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * paper_model.c - measurements for the tables and figures of Mollah et al.; one JSON object per line.
 *
 *      paper_model run SPEC PATTERN PROBLEMS THREADS ALGORITHM...
 *              Time to solve PROBLEMS random problems, by each of opt, dmk, pf, lp, gen in turn: the mean of two
 *              instances, repeated, turn by turn, until a quarter of a second has gone into each, at least three times for the quick ones; the
 *              shortest counts, since other programs run too. Drawing the patterns is not counted, finding the paths is. `difference` is the largest one between a rate and opt's (not for dmk).
 *      paper_model lfti SPEC ROUTING SAMPLES THREADS [quick]
 *              The table of throughput indices, and the seconds that it took as a whole, by the clock and of the processors.
 *      paper_model blocks N STEPS
 *              N blocks whose cables are for traffic of skew STEP / STEPS, and traffic of another skew: throughput by direct ways and by all ways of
 *              two hops at most (linear programs; TAGO's figure 2). Skew is that of one pair.
 *      paper_model carry N
 *              N blocks; from standard input the N * N cables between them, then the N * N of a traffic matrix: throughput by the same ways.
 *
 * Exit code 3: lp_solve is not built in.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/parallel.h"
#include "core/net/tree_spec.h"
#include "lab/model/optimum/concurrent.h"
#include "lab/model/optimum/lfti.h"
#include "lab/model/optimum/optimum.h"
#include "lab/model/routers/router.h"
#include "lab/model/trees/tree_graph.h"
#include "lab/model/routers/tree_router.h"
#include "lab/model/optimum/shares.h"
#include "lab/model/graph/maxmin.h"
#include "lab/model/optimum/generic.h"

#define INSTANCES 2
#define ENOUGH 0.25 /* seconds */
#define MOST 10.    /* seconds after which there are no three turns */

static double now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void check(enum fors_err err, const struct fors_error *error)
{
	if (!err)
		return;
	fprintf(stderr, "paper_model: %s\n", error->text);
	exit(err == FORS_ENOTAPPL ? 3 : 2);
}

static void *need(void *memory)
{
	if (!memory) {
		fprintf(stderr, "paper_model: out of memory\n");
		exit(2);
	}
	return memory;
}

struct problem {
	uint32_t n, *src, *dst;
	double *rate, *best; /* of the algorithm at hand; of opt */
};

struct world {
	struct fors_tree tree;
	struct fors_graph *graph;
	struct fors_cuts *cuts;
	unsigned threads, nproblems; /* of one instance */
	struct problem *problem;     /* INSTANCES * nproblems */
};

static struct problem draw(const struct world *world, const char *pattern_name, uint64_t seed)
{
	struct fors_pattern_options options = {.seed = seed, .is_random_map = false};
	struct fors_pattern *pattern;
	struct fors_error error;
	struct problem p = {0};
	size_t n;

	check(fors_pattern_new(pattern_name, world->tree.servers, &options, &pattern, &error), &error);
	n = fors_pattern_npairs(pattern, 0) + 1;
	p.src = need(malloc(n * sizeof(*p.src)));
	p.dst = need(malloc(n * sizeof(*p.dst)));
	p.rate = need(malloc(n * sizeof(*p.rate)));
	p.best = need(malloc(n * sizeof(*p.best)));
	for (size_t i = 0; i + 1 < n; i++) {
		struct fors_pair pair = fors_pattern_pair(pattern, 0, i);

		if (pair.dst == FORS_NONE || pair.dst == pair.src)
			continue;
		p.src[p.n] = pair.src;
		p.dst[p.n++] = pair.dst;
	}
	fors_pattern_free(pattern);
	return p;
}

static void problem_free(struct problem *p)
{
	free(p->src);
	free(p->dst);
	free(p->rate);
	free(p->best);
}

/* --- the algorithms --- */

static enum fors_err solve_opt(const struct world *world, struct problem *p, struct fors_error *error)
{
	return fors_cuts_optimum(world->cuts, p->src, p->dst, p->n, world->nproblems > 1 ? 1 : world->threads, p->rate,
				 error);
}

static enum fors_err solve_dmk(const struct world *world, struct problem *p, struct fors_error *error)
{
	struct fors_flows flows = {0};
	uint32_t path[2 * FORS_TREE_LEVELS];
	enum fors_err err = FORS_OK;

	for (uint32_t f = 0; f < p->n && !err; f++) {
		unsigned n = fors_tree_route(&world->tree, FORS_ROUTE_DMODK, 0, p->src[f], p->dst[f], path);

		err = fors_flows_add(&flows, p->src[f], p->dst[f], path, n, error);
	}
	if (!err)
		err = fors_maxmin(world->graph, &flows, p->rate, error);
	fors_flows_clear(&flows);
	return err;
}

static enum fors_err solve_shares(const struct world *world, struct problem *p, enum fors_fill_step step,
				  struct fors_error *error)
{
	struct fors_shares shares;
	enum fors_err err = fors_shares_of(world->graph, p->src, p->dst, p->n, &shares, error);

	if (err)
		return err;
	err = fors_shares_rates(world->graph, &shares, step, p->rate, error);
	fors_shares_clear(&shares);
	return err;
}

static enum fors_err solve_pf(const struct world *world, struct problem *p, struct fors_error *error)
{
	return solve_shares(world, p, FORS_STEP_SEARCH, error);
}

static enum fors_err solve_lp(const struct world *world, struct problem *p, struct fors_error *error)
{
	return solve_shares(world, p, FORS_STEP_LP, error);
}

static enum fors_err solve_gen(const struct world *world, struct problem *p, struct fors_error *error)
{
	return fors_generic_rates(world->graph, p->src, p->dst, p->n, true, p->rate, error);
}

static struct algorithm {
	const char *name;
	enum fors_err (*solve)(const struct world *world, struct problem *p, struct fors_error *error);
	double seconds, best,
		best_cpu; /* of all turns; of the shortest, and of the processor in the one that needed least */
	double all_cpu;	  /* of all turns */
	double difference;
	unsigned repeats;
	bool is_wanted;
} algorithms[] = {
	{.name = "opt", .solve = solve_opt}, {.name = "dmk", .solve = solve_dmk}, {.name = "pf", .solve = solve_pf},
	{.name = "lp", .solve = solve_lp},   {.name = "gen", .solve = solve_gen},
};

#define NALGORITHMS (sizeof(algorithms) / sizeof(*algorithms))

/* --- run --- */

struct turn {
	const struct world *world;
	const struct algorithm *algorithm;
};

static enum fors_err solve_one(void *context, uint32_t worker, uint32_t item, struct fors_error *error)
{
	struct turn *turn = context;

	return turn->algorithm->solve(turn->world, &turn->world->problem[item], error);
}

/* One turn of an algorithm over all problems: several go to several threads, a single one to all. */
static void take_turn(const struct world *world, struct algorithm *algorithm)
{
	struct turn turn = {world, algorithm};
	struct fors_error error;
	double start = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);

	if (world->nproblems > 1)
		check(fors_parallel(world->threads, INSTANCES * world->nproblems, solve_one, &turn, &error), &error);
	else
		for (unsigned i = 0; i < INSTANCES; i++)
			check(solve_one(&turn, 0, i, &error), &error);
	start = now(CLOCK_MONOTONIC) - start;
	cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	if (!algorithm->repeats || start < algorithm->best)
		algorithm->best = start;
	if (!algorithm->repeats || cpu < algorithm->best_cpu)
		algorithm->best_cpu = cpu;
	algorithm->seconds += start;
	algorithm->all_cpu += cpu;
	algorithm->repeats++;
}

/*
 * Seconds of the processor of a turn. Some machines, when busy, count them in steps of 10 ms, so the one that needed
 * least may have needed none: then it is the mean, and when that is none, seconds.
 */
static double cpu_of(const struct algorithm *a)
{
	if (a->best_cpu > 0)
		return a->best_cpu;
	return a->all_cpu > 0 ? a->all_cpu / a->repeats : a->best;
}

static void compare(const struct world *world, struct algorithm *algorithm)
{
	for (unsigned i = 0; i < INSTANCES * world->nproblems; i++)
		for (uint32_t f = 0; f < world->problem[i].n; f++)
			algorithm->difference = fmax(algorithm->difference,
						     fabs(world->problem[i].rate[f] - world->problem[i].best[f]));
}

static int compare_rates(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Different rates of a problem: the rounds of algorithms that go by rounds. */
static unsigned rounds_of(struct problem *p)
{
	unsigned count = 0;

	memcpy(p->rate, p->best, p->n * sizeof(*p->rate));
	qsort(p->rate, p->n, sizeof(*p->rate), compare_rates);
	for (uint32_t f = 0; f < p->n; f++)
		count += f == 0 || p->rate[f] > p->rate[f - 1] * (1 + 1e-9);
	return count;
}

/* Rounds times what a round looks at: flows with all their links (PF), links (LP). For extrapolation. */
static void count_work(const struct world *world, double *pf, double *lp, double *rounds)
{
	*pf = *lp = *rounds = 0;
	for (unsigned i = 0; i < INSTANCES * world->nproblems; i++) {
		struct problem *p = &world->problem[i];
		double count = rounds_of(p), entries = 0;

		for (uint32_t f = 0; f < p->n; f++)
			for (unsigned k = 0; k < fors_tree_meet(&world->tree, p->src[f], p->dst[f]); k++)
				entries += 2.0 * world->tree.roots[k + 1] * world->tree.p[k];
		*rounds += count / INSTANCES;
		*pf += (count + 1) * entries / INSTANCES;
		*lp += count * world->graph->nlinks / INSTANCES;
	}
}

static void print_runs(const struct world *world, const char *spec, const char *pattern)
{
	double pf, lp, rounds;

	count_work(world, &pf, &lp, &rounds);
	for (size_t i = 0; i < NALGORITHMS; i++) {
		const struct algorithm *a = &algorithms[i];

		if (a->is_wanted)
			printf("{\"fabric\": \"%s\", \"servers\": %u, \"pattern\": \"%s\", \"problems\": %u, \"flows\": %u, "
			       "\"algorithm\": \"%s\", \"threads\": %u, \"seconds\": %.9f, \"cpu_seconds\": %.9f, \"difference\": %.3g, "
			       "\"rounds\": %.1f, \"work_pf\": %.6g, \"work_lp\": %.6g}\n",
			       spec, world->tree.servers, pattern, world->nproblems, world->problem[0].n, a->name,
			       world->threads, a->best / INSTANCES, cpu_of(a) / INSTANCES, a->difference, rounds, pf,
			       lp);
	}
}

static bool is_enough(const struct algorithm *algorithm)
{
	return algorithm->seconds > ENOUGH && (algorithm->repeats >= 3 || algorithm->seconds > MOST);
}

static void measure(struct world *world)
{
	struct algorithm *opt = &algorithms[0];
	bool is_more = true;

	take_turn(world, opt);
	for (unsigned i = 0; i < INSTANCES * world->nproblems; i++)
		memcpy(world->problem[i].best, world->problem[i].rate, world->problem[i].n * sizeof(double));
	opt->seconds = opt->all_cpu = opt->repeats = 0; /* that was to warm up */
	while (is_more) {
		is_more = false;
		for (size_t i = 0; i < NALGORITHMS; i++) {
			if (!algorithms[i].is_wanted || is_enough(&algorithms[i]))
				continue;
			take_turn(world, &algorithms[i]);
			if (algorithms[i].solve != solve_dmk)
				compare(world, &algorithms[i]);
			is_more = true;
		}
	}
}

static void world_new(const char *text, struct world *world)
{
	struct fors_tree_spec spec;
	struct fors_error error;

	check(fors_tree_spec_parse(text, &spec, &error), &error);
	world->tree = spec.tree;
	fors_tree_spec_clear(&spec);
	check(fors_tree_graph(&world->tree, &world->graph, &error), &error);
	check(fors_cuts_of_tree(&world->tree, &world->cuts, &error), &error);
}

static void world_free(struct world *world)
{
	for (unsigned i = 0; world->problem && i < INSTANCES * world->nproblems; i++)
		problem_free(&world->problem[i]);
	free(world->problem);
	fors_graph_free(world->graph);
	fors_cuts_free(world->cuts);
}

static int run(int argc, char **argv)
{
	struct world world = {.nproblems = (unsigned)atoi(argv[4]), .threads = (unsigned)atoi(argv[5])};

	world_new(argv[2], &world);
	world.problem = need(calloc(INSTANCES * world.nproblems, sizeof(*world.problem)));
	for (unsigned i = 0; i < INSTANCES * world.nproblems; i++)
		world.problem[i] = draw(&world, argv[3], i + 1);
	for (int a = 6; a < argc; a++)
		for (size_t i = 0; i < NALGORITHMS; i++)
			algorithms[i].is_wanted |= strcmp(argv[a], algorithms[i].name) == 0;
	measure(&world);
	print_runs(&world, argv[2], argv[3]);
	world_free(&world);
	return 0;
}

/* --- lfti --- */

static int lfti(int argc, char **argv)
{
	struct fors_lfti_options options = {.samples = (unsigned)atoi(argv[4]),
					    .seed = 1,
					    .threads = (unsigned)atoi(argv[5]),
					    .is_quick = argc > 6};
	struct fors_lfti_row row[FORS_LFTI_ROWS];
	struct fors_tree_paths paths = {0};
	struct fors_router router;
	struct world world = {0};
	struct fors_error error;
	double start = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID), wall;

	world_new(argv[2], &world);
	check(fors_tree_routing_parse(argv[3], &paths.routing, &error), &error);
	paths.tree = &world.tree;
	paths.graph = world.graph;
	router = fors_tree_router(&paths);
	check(fors_lfti(&router, world.cuts, &options, row, &error), &error);
	wall = now(CLOCK_MONOTONIC) - start;
	cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	for (int i = 0; i < FORS_LFTI_ROWS; i++)
		printf("{\"fabric\": \"%s\", \"servers\": %u, \"routing\": \"%s\", \"pattern\": \"%s\", \"map\": \"%s\", \"flows\": %llu, "
		       "\"samples\": %u, \"routed\": %.9f, \"optimum\": %.9f, \"routed_s\": %.6f, \"optimum_s\": %.6f, \"total_s\": %.3f, \"cpu_s\": %.3f}\n",
		       argv[2], world.tree.servers, argv[3], row[i].pattern, row[i].is_random_map ? "random" : "direct",
		       (unsigned long long)row[i].nflows, options.samples, row[i].routed, row[i].optimum,
		       row[i].routed_s, row[i].optimum_s, wall, cpu);
	world_free(&world);
	return 0;
}

/* --- blocks --- */

/* d of the traffic is from block 0 to block 1, the rest is of all pairs alike; 1 in sum. */
static void skewed(uint32_t n, double d, double *traffic)
{
	for (uint32_t i = 0; i < n * n; i++)
		traffic[i] = i / n == i % n ? 0 : (1 - d) / (n * (n - 1));
	traffic[1] += d;
}

/* What the blocks send, or get, at most. */
static double fullest(uint32_t n, const double *traffic)
{
	double most = 0;

	for (uint32_t i = 0; i < n; i++) {
		double out = 0, in = 0;

		for (uint32_t j = 0; j < n; j++) {
			out += traffic[i * n + j];
			in += traffic[j * n + i];
		}
		most = fmax(most, fmax(out, in));
	}
	return most;
}

static int blocks(char **argv)
{
	uint32_t n = (uint32_t)atoi(argv[2]);
	int steps = atoi(argv[3]);
	double *traffic = need(calloc((size_t)n * n, sizeof(*traffic)));
	double *cables = need(calloc((size_t)n * n, sizeof(*cables)));
	struct fors_error error;

	for (int dt = 0; dt <= steps; dt++)
		for (int dc = 0; dc <= steps; dc++) {
			struct fors_concurrent problem = {n, traffic, cables, true};
			double direct, all, full;

			skewed(n, (double)dt / steps, cables);
			skewed(n, (double)dc / steps, traffic);
			full = fullest(n, cables);
			for (uint32_t i = 0; i < n * n; i++)
				cables[i] /= full;
			check(fors_concurrent_flow(&problem, &direct, NULL, &error), &error);
			problem.is_direct = false;
			check(fors_concurrent_flow(&problem, &all, NULL, &error), &error);
			printf("{\"blocks\": %u, \"dt\": %.3f, \"dc\": %.3f, \"direct\": %.9f, \"all\": %.9f}\n", n,
			       (double)dt / steps, (double)dc / steps, direct, all);
		}
	free(traffic);
	free(cables);
	return 0;
}

/* --- carry --- */

static double *read_matrix(uint32_t n)
{
	double *matrix = need(calloc((size_t)n * n, sizeof(*matrix)));

	for (uint32_t i = 0; i < n * n; i++)
		if (scanf("%lf", &matrix[i]) != 1) {
			fprintf(stderr, "paper_model: carry reads 2 * %u * %u numbers\n", n, n);
			exit(2);
		}
	return matrix;
}

static int carry(uint32_t n)
{
	double *cables = read_matrix(n), *traffic = read_matrix(n), direct, all;
	struct fors_concurrent problem = {n, traffic, cables, true};
	struct fors_error error;

	check(fors_concurrent_flow(&problem, &direct, NULL, &error), &error);
	problem.is_direct = false;
	check(fors_concurrent_flow(&problem, &all, NULL, &error), &error);
	printf("{\"blocks\": %u, \"direct\": %.9f, \"all\": %.9f}\n", n, direct, all);
	free(cables);
	free(traffic);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "blocks") == 0 && atoi(argv[2]) > 1 && atoi(argv[3]) > 0)
		return blocks(argv);
	if (argc == 3 && strcmp(argv[1], "carry") == 0 && atoi(argv[2]) > 1)
		return carry((uint32_t)atoi(argv[2]));
	if (argc > 6 && strcmp(argv[1], "run") == 0 && atoi(argv[4]) > 0)
		return run(argc, argv);
	if (argc > 5 && strcmp(argv[1], "lfti") == 0 && atoi(argv[4]) > 0)
		return lfti(argc, argv);
	fprintf(stderr,
		"usage: paper_model run SPEC PATTERN PROBLEMS THREADS ALGORITHM... | lfti SPEC ROUTING SAMPLES THREADS [quick] | "
		"blocks N STEPS | carry N\n");
	return 2;
}
