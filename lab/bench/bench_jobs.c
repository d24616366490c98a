/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bench_jobs.c - what a change of jobs costs on three levels: lanes and rungs shared out anew, and the plans of jobs that have begun or
 * got others; one JSON object per line.
 *
 * usage: bench_jobs SPEC FOLDER [--quick]
 *
 * FOLDER has moments of a queue, 0001.jobs and on, as `fors jobs --replay` writes them for the tree of SPEC. Of each moment the plugin's
 * steps are taken, on one path index, with no limit of steps and with some. What it does at leisure, later, is not.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/fabric/fattree.h"
#include "core/fabric/lids.h"
#include "core/fabric/pods.h"
#include "core/jobs/running.h"
#include "core/net/tree_net.h"
#include "core/planners/jobplan_over.h"
#include "core/planners/pods/route.h"

#define MOST_TEXT 1000000
#define PART 24 /* of the usual work has the search for lanes where jobs run already, as in daemon/worker */

static const uint64_t limits[] = {0, 20000000, 5000000, 1000000}; /* steps of a plan; 0: as the plugin does */

struct tree {
	struct fors_net *net;
	struct fors_pods *pods;
	struct fors_pods_route *route;
	struct fors_floors floors;
};

/* The jobs of a moment. */
struct moment {
	struct fors_joblist list;
	struct fors_holdings held;
	struct fors_schedule **plan; /* per job, owned; NULL: none */
	enum fors_jobplan_lanes *whose;
	int64_t *alone; /* per job: no plan of it alone has fewer phases */
};

struct tally {
	unsigned changes, jobs, plans; /* plans: made anew at changes */
	double ms, worst_ms, lanes_ms, worst_lanes_ms, speed;
};

static void must(enum fors_err err, const struct fors_error *error)
{
	if (!err)
		return;
	fprintf(stderr, "bench_jobs: %s\n", error->text);
	exit(1);
}

static void *room_for(size_t count, size_t size)
{
	void *made = calloc(count + 1, size);

	if (!made) {
		fprintf(stderr, "bench_jobs: out of memory\n");
		exit(1);
	}
	return made;
}

/* Processor time. */
static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void make_tree(const char *text, struct tree *tree)
{
	struct fors_tree_spec spec = {0};
	struct fors_error error = {0};
	struct fors_fattree fattree;

	must(fors_tree_spec_parse(text, &spec, &error), &error);
	must(fors_tree_net(&spec, &tree->net, &error), &error);
	fors_tree_spec_clear(&spec);
	must(fors_assign_lids(tree->net, NULL, 1, false, &error), &error);
	must(fors_pods_build(tree->net, tree->net, NULL, 0, &tree->pods, &error), &error);
	must(fors_pods_route_make(tree->pods, FORS_PODS_ROUTE_EFFORT, &tree->route, &error), &error);
	fattree = fors_fattree_of_pods(tree->pods);
	must(fors_floors_make(&fattree, &tree->floors, &error), &error);
}

/* False: there is no such moment. All jobs have entries of their own. */
static bool read_moment(const struct tree *tree, const char *folder, unsigned number, struct moment *moment)
{
	char path[4096], *text;
	struct fors_error error = {0};
	size_t size;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%04u.jobs", folder, number);
	file = fopen(path, "r");
	if (!file)
		return false;
	text = room_for(MOST_TEXT, 1);
	size = fread(text, 1, MOST_TEXT, file);
	fclose(file);
	must(fors_joblist_read(text, size, path, tree->floors.floor[0], &moment->list, &error), &error);
	free(text);
	for (uint32_t j = 0; j < moment->list.count; j++)
		moment->list.job[j].is_exclusive = moment->list.job[j].has_index = true;
	moment->plan = room_for(moment->list.count, sizeof(struct fors_schedule *));
	moment->alone = room_for(moment->list.count, sizeof(int64_t));
	moment->whose = room_for(moment->list.count, sizeof(enum fors_jobplan_lanes));
	return true;
}

static void clear_moment(struct moment *moment)
{
	for (uint32_t j = 0; j < moment->list.count; j++)
		fors_schedule_free(moment->plan[j]);
	free(moment->plan);
	free(moment->whose);
	free(moment->alone);
	fors_holdings_clear(&moment->held);
	fors_joblist_clear(&moment->list);
}

/* Lanes and rungs for the jobs of a moment, who runs since `before` with what he had. */
static void share_out(const struct tree *tree, const struct moment *before, const uint32_t *was_of, struct moment *now)
{
	const struct fors_floors *floors = &tree->floors;
	struct fors_holdings had = {0};
	struct fors_error error = {0};
	unsigned part = before ? PART : 1;
	struct fors_holdings_task task = {
		.floors = floors, .list = &now->list, .has_exclusive = true, .owners_work = FORS_OWNERS_WORK / part};

	if (before)
		must(fors_holdings_again(floors, &before->held, floors, was_of, now->list.count, &had, &error), &error);
	if (had.nfloors)
		must(fors_holdings_narrow(floors, &now->list, &had, &error), &error);
	task.before = had.nfloors ? &had : NULL;
	must(fors_holdings_find(&task, &now->held, &error), &error);
	if (had.nfloors)
		fors_holdings_clear(&had);
}

static bool has_same_ways(const struct tree *tree, const struct moment *before, uint32_t was, const struct moment *now,
			  uint32_t j)
{
	return before->plan[was] && before->whose[was] == FORS_OVER_OWN && before->held.bound[was] &&
	       now->held.bound[j] &&
	       fors_holdings_same_ways(&tree->floors, &before->list.job[was], &before->held, &now->list.job[j],
				       &now->held);
}

static bool may_stay(const struct tree *tree, const struct moment *before, uint32_t was, const struct moment *now,
		     uint32_t j)
{
	bool may = before->plan[was], is_best = may && before->plan[was]->nphases == before->alone[was];

	for (uint32_t f = 0; may && f < tree->floors.count; f++) {
		struct fors_jobview then = {&before->list, &before->held.owners[f]},
				    is = {&now->list, &now->held.owners[f]};

		may = fors_jobplan_may_stay(tree->floors.floor[f], then, was, is, j, before->whose[was], is_best);
	}
	return may;
}

/* Takes over the schedules that stay. */
static struct fors_jobkept *keep(const struct tree *tree, struct moment *before, const uint32_t *was_of,
				 struct moment *now)
{
	struct fors_jobkept *kept = room_for(now->list.count, sizeof(*kept));

	for (uint32_t j = 0; before && j < now->list.count; j++) {
		uint32_t was = was_of[j];

		if (was == FORS_NO_JOB ||
		    (!has_same_ways(tree, before, was, now, j) && !may_stay(tree, before, was, now, j)))
			continue;
		now->plan[j] = before->plan[was];
		now->whose[j] = before->whose[was];
		now->alone[j] = before->alone[was];
		before->plan[was] = NULL;
		kept[j] = (struct fors_jobkept){.plan = now->plan[j], .whose = now->whose[j]};
	}
	return kept;
}

static void plan(const struct tree *tree, const struct fors_jobkept *kept, uint64_t steps, struct moment *now)
{
	struct fors_lfts *lfts = fors_lfts_copy(tree->route->lfts);
	const struct fors_jobfloors lanes = {&tree->floors, &now->held, 1};
	const struct fors_request request = {
		.task = {.limits = {.steps = steps}}, .net = tree->net, .lfts = lfts, .haste = FORS_QUICK};
	struct fors_error error = {0};
	struct fors_jobplans plans = {0};

	must(lfts ? FORS_OK : fors_fail_memory(&error), &error);
	fors_holdings_apply(&tree->floors, &now->held, 1, lfts);
	must(fors_jobplans_floors(&request, &lanes, &now->list, kept, &plans, &error), &error);
	for (uint32_t j = 0; j < now->list.count; j++) {
		if (plans.job[j].is_kept)
			continue;
		fors_schedule_free(now->plan[j]); /* it was to stay, and is not right any more */
		now->plan[j] = plans.job[j].plan;
		now->whose[j] = plans.job[j].whose;
		now->alone[j] = plans.job[j].alone_bound;
		plans.job[j].plan = NULL;
	}
	fors_jobplans_clear(&plans);
	fors_lfts_free(lfts);
}

static void count(const struct moment *now, const struct fors_jobkept *kept, double lanes_ms, double all_ms,
		  bool is_change, struct tally *tally)
{
	for (uint32_t j = 0; j < now->list.count; j++)
		tally->speed += now->plan[j] ? (double)now->list.job[j].count / now->plan[j]->nphases : 0;
	tally->jobs += now->list.count;
	if (!is_change)
		return;
	tally->changes++;
	for (uint32_t j = 0; j < now->list.count; j++)
		tally->plans += !kept[j].plan;
	tally->ms += all_ms;
	tally->lanes_ms += lanes_ms;
	tally->worst_ms = all_ms > tally->worst_ms ? all_ms : tally->worst_ms;
	tally->worst_lanes_ms = lanes_ms > tally->worst_lanes_ms ? lanes_ms : tally->worst_lanes_ms;
}

static void change(const struct tree *tree, struct moment *before, uint64_t steps, struct moment *now,
		   struct tally *tally)
{
	uint32_t *was_of = room_for(now->list.count, sizeof(*was_of));
	struct fors_error error = {0};
	struct fors_jobkept *kept;
	double start = now_ms(), shared;

	if (before)
		must(fors_jobs_match(&before->list, &now->list, was_of, &error), &error);
	share_out(tree, before, was_of, now);
	shared = now_ms();
	kept = keep(tree, before, was_of, now);
	plan(tree, kept, steps, now);
	count(now, kept, shared - start, now_ms() - start, before, tally);
	free(kept);
	free(was_of);
}

static void all_moments(const struct tree *tree, const char *folder, uint64_t steps, unsigned most, struct tally *tally)
{
	struct moment before = {0}, now = {0};
	bool has_before = false;

	for (unsigned number = 1; number <= most && read_moment(tree, folder, number, &now); number++) {
		change(tree, has_before ? &before : NULL, steps, &now, tally);
		if (has_before)
			clear_moment(&before);
		before = now;
		now = (struct moment){0};
		has_before = true;
	}
	if (has_before)
		clear_moment(&before);
}

static void print(const char *spec, uint64_t steps, const struct tally *t)
{
	double n = t->changes ? t->changes : 1;

	printf("{\"fabric\": \"%s\", \"plan_steps\": %llu, \"changes\": %u, \"plans\": %.2f, \"lanes_ms\": %.2f, \"worst_lanes_ms\": %.2f, "
	       "\"ms\": %.2f, \"worst_ms\": %.2f, \"speed\": %.4f}\n",
	       spec, (unsigned long long)steps / 1000000, t->changes, t->plans / n, t->lanes_ms / n, t->worst_lanes_ms,
	       t->ms / n, t->worst_ms, t->jobs ? t->speed / t->jobs : 0);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	bool is_quick = argc > 3 && !strcmp(argv[3], "--quick");
	struct tree tree = {0};

	if (argc < 3) {
		fprintf(stderr, "usage: bench_jobs SPEC FOLDER [--quick]\n");
		return 2;
	}
	make_tree(argv[1], &tree);
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct tally tally = {0};

		all_moments(&tree, argv[2], limits[i], is_quick ? 4 : 9999, &tally);
		print(argv[1], limits[i], &tally);
	}
	fors_floors_clear(&tree.floors);
	fors_pods_route_free(tree.route);
	fors_pods_free(tree.pods);
	fors_net_free(tree.net);
	return 0;
}
