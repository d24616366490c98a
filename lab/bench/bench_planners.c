/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bench_planners.c - planning time, time per flow and peak memory of each method; one JSON object per line.
 *
 * usage: bench_planners [--quick]
 *
 * Every measurement runs in a process of its own, so that peak memory is its own: the first plan gives
 * the memory, the fastest of the plans that fit in a second the time. The integer programme is far too slow to run as a
 * whole: some phases are sampled, each with a time limit, and the time of all phases is extrapolated and said to be so.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/planners/planner.h"
#include "core/base/random.h"
#include "core/net/tree_net.h"
#ifdef HAVE_LPSOLVE
#include "core/fabric/lids.h"
#include "core/fabric/places.h"
#include "core/net/lfts.h"
#include "core/planners/bound.h"
#include "ilp/closed_form.h"
#include "core/schedule/schedule.h"
#include "core/tables/lanes.h"
#include "core/tables/tables.h"
#include "ilp/phase.h"
#endif

struct site {
	const char *spec;
	unsigned lmc;
	const char *down;  /* what is down, separated by blanks */
	unsigned random;   /* and so many random cables */
	const char *label; /* for people */
	unsigned empty;	   /* slots left empty, spread over the leaves */
};

static const struct site sites[] = {
	{"FT(2;8,16)", 3, "", 1, "1 cable", 0},
	{"FT(2;8,16)", 3, "", 13, "10 % of the cables", 0},
	{"FT(2;5,4)", 3, "Leaf00[9] Leaf00[10] Leaf01[8] Leaf01[10] Leaf02[7] Leaf02[8] Leaf03[6] Leaf03[9]", 0,
	 "8 of 20, LP > LB", 0},
	{"FT(2;20,18)", 5, "", 1, "1 cable, 34 empty slots", 34},
	{"FT(2;20,18)", 5, "", 0, "nothing", 0},
	{"FT(2;20,18)", 5, "Leaf00[21]", 0, "1F SW0", 0},
	{"FT(2;20,18)", 5,
	 "Leaf00[21] Leaf00[22] Leaf00[23] Leaf05[24] Leaf05[25] Leaf05[26] Leaf11[27] Leaf11[28] Leaf11[29]", 0,
	 "3F SW0,5,11", 0},
	{"FT(2;20,18)", 0,
	 "Leaf00[21] Leaf00[22] Leaf00[23] Leaf05[24] Leaf05[25] Leaf05[26] Leaf11[27] Leaf11[28] Leaf11[29]", 0,
	 "3F SW0,5,11", 0},
	{"FT(2;20,18)", 5, "", 36, "10 % of the cables", 0},
	{"FT(2;20,18)", 5, "", 180, "half of the cables", 0},
	{"FT(2;16,32)", 4, "", 20, "20 cables", 0},
	{"FT(2;32,32)", 5, "", 1, "1 cable", 0},
	{"FT(2;32,32)", 5, "", 20, "20 cables", 0},
	{"FT(2;32,47)", 5, "", 1, "1 cable", 0},
	{"FT(2;32,47)", 5, "", 40, "40 cables", 0},
	{"FT(2;32,47)", 0, "", 40, "40 cables", 0},
};

/* A site as a planner sees it. */
struct scene {
	struct fors_net *intact, *net;
	struct fors_places *places;
	struct fors_participants participants;
	struct fors_fabric *fabric;
	struct fors_lfts *lfts;
	struct fors_lanes *lanes;
	struct fors_error error;
};

static void must(enum fors_err err, const struct scene *scene)
{
	if (!err)
		return;
	fprintf(stderr, "bench_planners: %s: %s\n", fors_strerror(err), scene->error.text);
	exit(1);
}

static uint32_t random_below(uint32_t n)
{
	static struct fors_xorshift random = {88172645463325252u}; /* always the same failures */

	return (uint32_t)((fors_xorshift_next(&random) >> 33) % n);
}

static void rebuild(struct scene *scene)
{
	fors_fabric_free(scene->fabric);
	scene->fabric = NULL;
	must(fors_fabric_build(scene->net, scene->places, scene->participants.guid ? &scene->participants : NULL,
			       &scene->fabric, &scene->error),
	     scene);
}

static void take_down(struct scene *scene, const struct site *site)
{
	char word[FORS_NAME_MAX + 8];
	int used = 0;

	for (const char *at = site->down; sscanf(at, " %71s%n", word, &used) == 1; at += used)
		must(fors_net_down(scene->intact, scene->net, word, &scene->error), scene);
	for (unsigned left = site->random; left > 0;) {
		uint32_t leaf = random_below(scene->fabric->nleaves), lane = random_below(scene->fabric->nlanes);

		if (!fors_live(scene->fabric, leaf, lane))
			continue;
		snprintf(word, sizeof(word), "Leaf%02u[%u]", leaf, fors_cable(scene->fabric, leaf, lane)->leaf_port);
		must(fors_net_down(scene->intact, scene->net, word, &scene->error), scene);
		rebuild(scene);
		left--;
	}
}

/* All servers but `empty` take part. */
static void populate(struct scene *scene, unsigned empty)
{
	uint32_t n = scene->fabric->nservers, keep = n - empty;

	if (!empty)
		return;
	scene->participants.guid = calloc(keep, sizeof(uint64_t));
	for (uint32_t i = 0; scene->participants.guid && i < keep; i++)
		scene->participants.guid[i] = scene->fabric->server[(uint64_t)i * n / keep].guid;
	scene->participants.count = keep;
}

static void set_up(struct scene *scene, const struct site *site)
{
	struct fors_tree_spec spec;

	memset(scene, 0, sizeof(*scene));
	must(fors_tree_spec_parse(site->spec, &spec, &scene->error), scene);
	must(fors_tree_net(&spec, &scene->intact, &scene->error), scene);
	fors_tree_spec_clear(&spec);
	scene->places = fors_places_new();
	must(fors_places_learn(scene->places, scene->intact, NULL, 0, &scene->error), scene);
	must(fors_assign_lids(scene->intact, scene->places, site->lmc, false, &scene->error), scene);
	must(fors_net_copy(scene->intact, &scene->net, &scene->error), scene);
	rebuild(scene);
	take_down(scene, site);
	populate(scene, site->empty);
	rebuild(scene);
	must(fors_tables_build(scene->fabric, &scene->lfts, &scene->error), scene);
	must(fors_lanes_read(scene->fabric, scene->lfts, &scene->lanes, &scene->error), scene);
}

static double clock_ms(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static double now_ms(void)
{
	return clock_ms(CLOCK_MONOTONIC);
}

/* Processor time of all threads: on a machine that has other work to do, this is the number to read. */
static double cpu_ms(void)
{
	return clock_ms(CLOCK_PROCESS_CPUTIME_ID);
}

/* A line of /proc/self/status, in bytes: "VmRSS" now, "VmHWM" the most since reset_peak(). */
static double memory(const char *key)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	double kib = 0;

	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, key, strlen(key)) == 0)
			kib = strtod(line + strlen(key) + 1, NULL);
	if (file)
		fclose(file);
	return 1024 * kib;
}

static void reset_peak(void)
{
	FILE *file = fopen("/proc/self/clear_refs", "w");

	if (!file)
		return;
	fputs("5", file);
	fclose(file);
}

/* What a row begins with. */
static void print_head(const struct scene *scene, const struct site *site, const char *method, unsigned threads,
		       uint32_t phases)
{
	uint32_t bound = 0;

	fors_lower_bound(scene->fabric, &bound, NULL);
	printf("{\"fabric\": \"%s\", \"servers\": %u, \"lmc\": %u, \"dead\": \"%s\", \"method\": \"%s\", \"threads\": "
	       "%u, "
	       "\"LB\": %u, \"phases\": %u, ",
	       site->spec, scene->fabric->nservers, site->lmc, site->label, method, threads, bound, phases);
}

static void measure(const struct site *site, const char *method, unsigned threads)
{
	struct fors_schedule *schedule;
	struct scene scene;
	struct fors_task task;
	double best = 1e12, best_cpu = 1e12, peak = 0, begin, flows;
	uint32_t phases = 0;

	set_up(&scene, site);
	task = (struct fors_task){.fabric = scene.fabric, .lanes = scene.lanes, .threads = threads};
	flows = (double)scene.fabric->nservers * scene.fabric->nservers;
	begin = now_ms();
	for (int run = 0; run < 20 && now_ms() < begin + 1000; run++) {
		double base = memory("VmRSS"), start, cpu;

		if (run == 0)
			reset_peak();
		start = now_ms();
		cpu = cpu_ms();
		if (fors_plan(&task, method, &schedule, &scene.error))
			return; /* it declines: no line */
		start = now_ms() - start;
		cpu = cpu_ms() - cpu;
		best_cpu = cpu < best_cpu ? cpu : best_cpu;
		best = start < best ? start : best;
		if (run == 0)
			peak = memory("VmHWM") - base;
		phases = schedule->nphases;
		fors_schedule_free(schedule);
	}
	print_head(&scene, site, method, threads, phases);
	printf("\"plan_ms\": %.3f, \"cpu_ms\": %.3f, \"ns_per_flow\": %.1f, \"peak_bytes_per_flow\": %.1f, \"note\": "
	       "\"\"}\n",
	       best, best_cpu, 1e6 * best / flows, peak / flows);
}

#ifdef HAVE_LPSOLVE
/* The flows between leaves of one phase. */
struct sample {
	struct fors_ilp_phase phase;
	uint16_t *from, *to;
	bool *allowed;
	uint8_t *lane;
};

static void read_phase(const struct scene *scene, const struct fors_schedule *schedule, uint32_t number,
		       struct sample *sample)
{
	const struct fors_fabric *fabric = scene->fabric;
	size_t n = 0;

	for (uint32_t s = 0; s < fabric->nservers; s++) {
		uint32_t d = fors_schedule_flow(schedule, s, number).dst;
		uint32_t a = fabric->server[s].leaf, b = d == FORS_IDLE ? a : fabric->server[d].leaf;

		if (a == b)
			continue;
		sample->from[n] = (uint16_t)a;
		sample->to[n] = (uint16_t)b;
		for (uint32_t k = 0; k < fabric->nlanes; k++)
			sample->allowed[n * fabric->nlanes + k] = fors_live(fabric, a, k) && fors_live(fabric, b, k);
		n++;
	}
	sample->phase =
		(struct fors_ilp_phase){fabric->nleaves, fabric->nlanes, n, sample->from, sample->to, sample->allowed};
}

/* Time the integer programme on `count` phases of the closed form's schedule, `seconds` each at most. */
static void sample_ilp(const struct site *site, unsigned count, unsigned seconds)
{
	struct fors_schedule *schedule;
	struct scene scene;
	struct fors_task task;
	struct sample sample;
	unsigned solved = 0;
	double spent = 0;

	set_up(&scene, site);
	task = (struct fors_task){.fabric = scene.fabric, .lanes = scene.lanes};
	must(fors_closed_form_schedule(&task, &schedule, &scene.error), &scene);
	sample.from = calloc(scene.fabric->nservers, sizeof(*sample.from));
	sample.to = calloc(scene.fabric->nservers, sizeof(*sample.to));
	sample.allowed = calloc((size_t)scene.fabric->nservers * scene.fabric->nlanes, sizeof(*sample.allowed));
	sample.lane = calloc(scene.fabric->nservers, 1);
	if (!sample.from || !sample.to || !sample.allowed || !sample.lane)
		must(FORS_ENOMEM, &scene);
	for (unsigned i = 0; i < count; i++) {
		double start = now_ms();

		read_phase(&scene, schedule, (uint32_t)((uint64_t)schedule->nphases * i / count), &sample);
		solved += fors_ilp_solve_phase(&sample.phase, false, seconds, NULL, NULL, sample.lane, NULL) == FORS_OK;
		spent += now_ms() - start;
	}
	print_head(&scene, site, "ilp", 1, schedule->nphases);
	printf("\"plan_ms\": %.0f, \"cpu_ms\": null, \"ns_per_flow\": %.0f, \"peak_bytes_per_flow\": null, \"note\": "
	       "\"extrapolated from %u phases, %u solved, at most %u s each\"}\n",
	       spent * schedule->nphases / count,
	       1e6 * spent * schedule->nphases / count / scene.fabric->nservers / scene.fabric->nservers, count, solved,
	       seconds);
}
#else
static void sample_ilp(const struct site *site, unsigned count, unsigned seconds)
{
}
#endif

/* Run one measurement in a process of its own: with threads 0 the integer programme, on so many phases. */
static void run_apart(const struct site *site, const char *method, unsigned threads, unsigned count, unsigned seconds)
{
	pid_t child;
	int status = 0;

	fflush(stdout);
	child = fork();
	if (child < 0)
		exit(1);
	if (child == 0) {
		if (threads)
			measure(site, method, threads);
		else
			sample_ilp(site, count, seconds);
		fflush(stdout);
		_exit(0);
	}
	if (waitpid(child, &status, 0) != child || status != 0)
		exit(1);
}

int main(int argc, char **argv)
{
	bool is_quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
	size_t n = sizeof(sites) / sizeof(sites[0]);

	for (size_t i = 0; i < n; i++) {
		run_apart(&sites[i], "closed-form", 1, 0, 0);
		run_apart(&sites[i], "rounds", 1, 0, 0);
		run_apart(&sites[i], "exact", 1, 0, 0);
	}
	for (size_t i = 0; i < n; i++)
		if (strcmp(sites[i].label, "3F SW0,5,11") == 0 && sites[i].lmc)
			run_apart(&sites[i], "ilp", 0, is_quick ? 2 : 10, is_quick ? 5 : 60);
	return 0;
}
