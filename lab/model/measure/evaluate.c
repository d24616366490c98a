/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * evaluate.c - loads and rates of a pattern, phase by phase.
 *
 * Phases know nothing of one another, so they are the rounds of a parallel loop. Each worker has its own flows,
 * counters and first problems; what they found is added up afterwards. Counts and maxima do not care for the order;
 * sums of rates are made in order of the phases, from what each phase wrote down. So the result is the same on any
 * number of threads.
 *
 * A phase: ask the router for all paths, count the flows of each link, take the largest count; then the max-min
 * fair rates of the same flows. Counters of links are cleared by walking the same paths again, because a phase of
 * a few flows should not cost a pass over all links.
 */
#include "evaluate.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/parallel.h"
#include "lab/model/graph/maxmin.h"
#include "lab/model/routers/router.h"

/* What a worker found, in the smallest phase so far. */
struct finding {
	uint32_t phase; /* FORS_NONE: nothing */
	struct fors_pair pair;
};

struct worker {
	struct fors_flows flows;
	uint32_t *path;	      /* room for one */
	uint32_t *load;	      /* per link, this phase; 0 between phases */
	uint32_t *link_load;  /* per link, the worst phase */
	uint64_t *link_flows; /* per link, all phases */
	double *rate;	      /* per flow of a phase */
	uint32_t rate_room;
	uint64_t ways[FORS_NWAYS], ndetours, rate_bins[FORS_RATE_BINS];
	struct finding problem, detour;
};

/* What a phase leaves behind beside its load and its sum of rates. */
struct phase_rates {
	double min;
	double time;	/* as long as its fullest link needs */
	uint32_t least; /* flows of the busiest server's cable */
	uint32_t nflows;
};

struct job {
	const struct fors_router *router;
	const struct fors_pattern *pattern;
	struct fors_evaluation *result;
	struct phase_rates *phase;
	struct worker worker[FORS_MAX_THREADS];
	unsigned nworkers;
	bool wants_rates;
	bool is_uneven; /* some capacities are not 1 */
};

/* ---- one phase ---- */

static void found(struct finding *finding, uint32_t phase, struct fors_pair pair)
{
	if (finding->phase == FORS_NONE || phase < finding->phase)
		*finding = (struct finding){phase, pair};
}

static enum fors_err add_flow(const struct job *job, struct worker *w, uint32_t phase, struct fors_pair pair,
			      struct fors_error *error)
{
	const struct fors_router *router = job->router;
	uint32_t nlinks = 0;
	enum fors_way way = router->route(router->context, pair, w->path, &nlinks);

	w->ways[way]++;
	if (way != FORS_WAY_GOOD) {
		found(&w->problem, phase, pair);
		nlinks = 0;
	} else if (router->shortest && nlinks > router->shortest(router->context, pair.src, pair.dst)) {
		w->ndetours++;
		found(&w->detour, phase, pair);
	}
	return fors_flows_add(&w->flows, pair.src, pair.dst, w->path, nlinks, error);
}

static enum fors_err collect(const struct job *job, struct worker *w, uint32_t phase, struct fors_error *error)
{
	size_t n = fors_pattern_npairs(job->pattern, phase);
	enum fors_err err = FORS_OK;

	fors_flows_empty(&w->flows);
	for (size_t i = 0; i < n && !err; i++) {
		struct fors_pair pair = fors_pattern_pair(job->pattern, phase, i);

		if (pair.dst != FORS_NONE && pair.dst != pair.src)
			err = add_flow(job, w, phase, pair, error);
	}
	return err;
}

/* Flows on the fullest of the servers' own cables. */
static uint32_t busiest_server(const struct worker *w)
{
	uint32_t most = 0;

	for (uint32_t f = 0; f < w->flows.nflows; f++) {
		size_t first = w->flows.first[f], end = w->flows.first[f + 1];

		if (first < end && w->load[w->flows.link[first]] > most)
			most = w->load[w->flows.link[first]];
		if (first < end && w->load[w->flows.link[end - 1]] > most)
			most = w->load[w->flows.link[end - 1]];
	}
	return most;
}

/* The largest load over capacity; where all are equal that is `most`, the largest load. */
static double time_of(const struct job *job, const struct worker *w, uint32_t most)
{
	size_t nlinks = w->flows.nflows ? w->flows.first[w->flows.nflows] : 0;
	double time = job->is_uneven ? 0 : most;

	for (size_t i = 0; job->is_uneven && i < nlinks; i++) {
		uint32_t link = w->flows.link[i];
		double own = w->load[link] / job->router->graph->capacity[link];

		time = own > time ? own : time;
	}
	return time > 1 ? time : 1;
}

/* Keep what this phase did to its links, and clear the counters. */
static void keep_loads(struct worker *w)
{
	size_t nlinks = w->flows.nflows ? w->flows.first[w->flows.nflows] : 0;

	for (size_t i = 0; i < nlinks; i++) {
		uint32_t link = w->flows.link[i];

		w->link_flows[link] += w->load[link];
		if (w->load[link] > w->link_load[link])
			w->link_load[link] = w->load[link];
		w->load[link] = 0;
	}
}

/* Rates at the border of two bins belong to the lower one, in spite of rounding. */
static void count_rates(struct worker *w)
{
	for (uint32_t f = 0; f < w->flows.nflows; f++) {
		int bin = (int)(w->rate[f] * FORS_RATE_BINS - 1e-9);

		w->rate_bins[bin < FORS_RATE_BINS ? bin : FORS_RATE_BINS - 1]++;
	}
}

static enum fors_err rate(const struct job *job, struct worker *w, uint32_t phase, struct fors_error *error)
{
	struct fors_rates sum;
	enum fors_err err;

	if (w->flows.nflows > w->rate_room) {
		free(w->rate);
		w->rate = malloc(w->flows.nflows * sizeof(*w->rate));
		w->rate_room = w->rate ? w->flows.nflows : 0;
		if (!w->rate)
			return fors_fail_memory(error);
	}
	if (!w->flows.nflows)
		return FORS_OK;
	err = fors_maxmin(job->router->graph, &w->flows, w->rate, error);
	if (err)
		return err;
	count_rates(w);
	sum = fors_rates_of(w->rate, w->flows.nflows);
	job->phase[phase].min = sum.min;
	job->result->phase_rate[phase] = sum.aggregate;
	return FORS_OK;
}

static enum fors_err do_phase(void *context, uint32_t worker, uint32_t phase, struct fors_error *error)
{
	struct job *job = context;
	struct worker *w = &job->worker[worker];
	enum fors_err err = collect(job, w, phase, error);

	if (err)
		return err;
	job->result->phase_load[phase] = fors_loads_add(&w->flows, w->load);
	job->phase[phase].time = time_of(job, w, job->result->phase_load[phase]);
	job->phase[phase].least = busiest_server(w);
	job->result->phase_time[phase] = job->phase[phase].time;
	job->result->phase_least[phase] = job->phase[phase].least;
	keep_loads(w);
	job->phase[phase].nflows = w->flows.nflows;
	return !job->wants_rates ? FORS_OK : rate(job, w, phase, error);
}

/* ---- before and after ---- */

static bool worker_alloc(struct worker *w, const struct fors_router *router)
{
	size_t n = router->graph->nlinks + (size_t)1;

	w->path = malloc((router->max_links + (size_t)1) * sizeof(*w->path));
	w->load = calloc(n, sizeof(*w->load));
	w->link_load = calloc(n, sizeof(*w->link_load));
	w->link_flows = calloc(n, sizeof(*w->link_flows));
	w->problem.phase = w->detour.phase = FORS_NONE;
	return w->path && w->load && w->link_load && w->link_flows;
}

static void worker_free(struct worker *w)
{
	fors_flows_clear(&w->flows);
	free(w->path);
	free(w->load);
	free(w->link_load);
	free(w->link_flows);
	free(w->rate);
}

static bool result_alloc(struct job *job)
{
	struct fors_evaluation *r = calloc(1, sizeof(*r));

	job->result = r;
	if (!r)
		return false;
	r->nservers = job->router->graph->nservers;
	r->nlinks = job->router->graph->nlinks;
	r->nphases = fors_pattern_nphases(job->pattern);
	r->phase_load = calloc(r->nphases + (size_t)1, sizeof(*r->phase_load));
	r->phase_time = calloc(r->nphases + (size_t)1, sizeof(*r->phase_time));
	r->phase_least = calloc(r->nphases + (size_t)1, sizeof(*r->phase_least));
	r->phase_rate = calloc(r->nphases + (size_t)1, sizeof(*r->phase_rate));
	r->link_load = calloc(r->nlinks + (size_t)1, sizeof(*r->link_load));
	r->link_flows = calloc(r->nlinks + (size_t)1, sizeof(*r->link_flows));
	job->phase = calloc(r->nphases + (size_t)1, sizeof(*job->phase));
	return r->phase_load && r->phase_time && r->phase_least && r->phase_rate && r->link_load && r->link_flows &&
	       job->phase;
}

static enum fors_err job_alloc(struct job *job, struct fors_error *error)
{
	if (!result_alloc(job))
		return fors_fail_memory(error);
	for (unsigned i = 0; i < job->nworkers; i++)
		if (!worker_alloc(&job->worker[i], job->router))
			return fors_fail_memory(error);
	return FORS_OK;
}

static void add_links(struct fors_evaluation *r, const struct worker *w)
{
	for (uint32_t l = 0; l < r->nlinks; l++) {
		r->link_flows[l] += w->link_flows[l];
		if (w->link_load[l] > r->link_load[l])
			r->link_load[l] = w->link_load[l];
	}
}

/* The finding of the smallest phase, in words. */
static void tell_first(const struct job *job, const struct finding *(*get)(const struct worker *), char *text,
		       size_t room)
{
	const struct finding *first = NULL;
	size_t used;

	for (unsigned i = 0; i < job->nworkers; i++) {
		const struct finding *one = get(&job->worker[i]);

		if (one->phase != FORS_NONE && (!first || one->phase < first->phase))
			first = one;
	}
	if (!first)
		return;
	used = (size_t)snprintf(text, room, "phase %u: ", first->phase);
	if (job->router->tell)
		job->router->tell(job->router->context, first->pair, text + used, room - used);
	else
		snprintf(text + used, room - used, "server %u -> server %u", first->pair.src, first->pair.dst);
}

static const struct finding *problem_of(const struct worker *w)
{
	return &w->problem;
}

static const struct finding *detour_of(const struct worker *w)
{
	return &w->detour;
}

/*
 * What is left of full speed. The exchange of P servers is at full speed in P phases, each server's own turn among them;
 * another pattern when it takes no longer than the servers' own cables need: never longer than its phases, one by one. In a
 * schedule with sizes a phase counts as it is long.
 */
static void find_share(struct job *job)
{
	struct fors_evaluation *r = job->result;
	double in_step = 0, busiest = r->nservers;

	for (uint32_t p = 0; p < r->nphases; p++) {
		r->time += job->phase[p].time * fors_pattern_weight(job->pattern, p);
		in_step += job->phase[p].least > 1 ? job->phase[p].least : 1;
	}
	for (uint32_t l = 0; l < r->nlinks; l++)
		if (r->link_flows[l] > busiest && (job->router->graph->is_terminal[job->router->graph->from[l]] ||
						   job->router->graph->is_terminal[job->router->graph->to[l]]))
			busiest = (double)r->link_flows[l];
	r->least_time = in_step < busiest ? in_step : busiest;
	if (fors_pattern_has_sizes(job->pattern))
		r->least_time = fors_pattern_busiest(job->pattern);
	r->sync_throughput = r->nbroken ? -1 : r->time > 0 ? r->least_time / r->time : 0;
}

static void add_phases(struct job *job)
{
	struct fors_evaluation *r = job->result;
	double sum = 0;
	uint32_t busy = 0;

	for (uint32_t p = 0; p < r->nphases; p++) {
		uint32_t load = r->phase_load[p];

		r->length += load ? load : 1;
		if (load > r->max_link_load)
			r->max_link_load = load;
		if (!job->phase[p].nflows)
			continue;
		if (!busy++ || job->phase[p].min < r->rates.min)
			r->rates.min = job->phase[p].min;
		sum += r->phase_rate[p];
	}
	r->rates.mean = r->nflows ? sum / (double)r->nflows : 0;
	r->rates.aggregate = busy ? sum / busy : 0;
	r->rates.nflows = r->nflows > UINT32_MAX ? UINT32_MAX : (uint32_t)r->nflows;
	find_share(job);
}

static void add_up(struct job *job)
{
	struct fors_evaluation *r = job->result;

	for (unsigned i = 0; i < job->nworkers; i++) {
		add_links(r, &job->worker[i]);
		r->ndetours += job->worker[i].ndetours;
		for (int way = 0; way < FORS_NWAYS; way++)
			r->ways[way] += job->worker[i].ways[way];
		for (int bin = 0; bin < FORS_RATE_BINS; bin++)
			r->rate_bins[bin] += job->worker[i].rate_bins[bin];
	}
	for (int way = 0; way < FORS_NWAYS; way++)
		r->nflows += r->ways[way];
	r->nbroken = r->nflows - r->ways[FORS_WAY_GOOD];
	tell_first(job, problem_of, r->problem, sizeof(r->problem));
	tell_first(job, detour_of, r->detour, sizeof(r->detour));
	add_phases(job);
}

enum fors_err fors_evaluate(const struct fors_router *router, const struct fors_pattern *pattern, bool wants_rates,
			    unsigned threads, struct fors_evaluation **evaluation, struct fors_error *error)
{
	struct job job = {.router = router, .pattern = pattern, .wants_rates = wants_rates};
	enum fors_err err;

	for (uint32_t l = 0; l < router->graph->nlinks; l++)
		job.is_uneven |= router->graph->capacity[l] != 1;
	job.nworkers = threads > FORS_MAX_THREADS ? FORS_MAX_THREADS : threads ? threads : 1;
	err = job_alloc(&job, error);
	if (!err)
		err = fors_parallel(job.nworkers, job.result->nphases, do_phase, &job, error);
	if (!err)
		add_up(&job);
	for (unsigned i = 0; i < job.nworkers; i++)
		worker_free(&job.worker[i]);
	free(job.phase);
	if (err) {
		fors_evaluation_free(job.result);
		return err;
	}
	*evaluation = job.result;
	return FORS_OK;
}

void fors_evaluation_free(struct fors_evaluation *evaluation)
{
	if (!evaluation)
		return;
	free(evaluation->phase_load);
	free(evaluation->phase_time);
	free(evaluation->phase_least);
	free(evaluation->phase_rate);
	free(evaluation->link_load);
	free(evaluation->link_flows);
	free(evaluation);
}
