/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * advice.c - placements for a job that is about to start, and what each would do to it and to its neighbours: see advice.h.
 */
#include "advice.h"

#include <stdlib.h>
#include <string.h>

#define ONE 1000	 /* time of a job at full speed */
#define SHARED (3 * ONE) /* of one that has no lanes of its own though it wants some */

struct adviser {
	const struct fors_advice_task *task;
	const struct fors_fabric *fabric; /* floor 0 */
	bool *is_busy;			  /* per server that is the first of its host */
	uint32_t *nfree, *nbusy;	  /* hosts per leaf */
	uint32_t *leaf;			  /* room: an order of leaves */
	bool *is_taken;			  /* likewise: by the placement that is being made */
	struct fors_joblist list;	  /* the running jobs, and the new one as the last; borrowed but for that one */
	uint32_t *with;			  /* room: per job of the list */
	struct fors_advice best;
	uint64_t least; /* what the best costs; UINT64_MAX: there is none */
	struct fors_error *error;
};

static uint32_t pod_of(const struct adviser *a, uint32_t leaf)
{
	return a->task->floors->pod ? a->task->floors->pod[leaf] : 0;
}

static uint32_t count_pods(const struct adviser *a)
{
	return a->fabric->nleaves ? pod_of(a, a->fabric->nleaves - 1) + 1 : 0;
}

/* ---- what a placement costs ---- */

/* By how much a job is slower than at full speed. */
static uint64_t loss_of(const struct fors_jobentry *job, uint32_t bound)
{
	if (!job->is_exclusive || job->nleaves < 2)
		return 0;
	return (bound ? (uint64_t)ONE * bound / job->count : SHARED) - ONE;
}

/* The phases of all jobs of a list, at least, in bound[]. */
static enum fors_err ask(const struct adviser *a, const struct fors_joblist *list, uint32_t *bound)
{
	const struct fors_holdings_task task = {.floors = a->task->floors,
						.list = list,
						.has_exclusive = true,
						.owners_work = a->task->work,
						.entries_work = a->task->work / 2,
						.cancelled = a->task->cancelled,
						.context = a->task->context};
	struct fors_holdings holdings;
	enum fors_err err = fors_holdings_find(&task, &holdings, a->error);

	if (err)
		return err;
	for (uint32_t j = 0; j < list->count; j++)
		bound[j] = list->job[j].nleaves > 1 ? holdings.bound[j] : list->job[j].count;
	fors_holdings_clear(&holdings);
	return FORS_OK;
}

static void count_places(const struct adviser *a, const struct fors_jobentry *job, uint32_t *nleaves, uint32_t *npods)
{
	uint32_t leaf = FORS_NONE, pod = FORS_NONE;

	*nleaves = *npods = 0;
	for (uint32_t i = 0; i < job->count; i++) {
		uint32_t at = a->fabric->server[job->server[i]].leaf;

		*nleaves += at != leaf;
		*npods += pod_of(a, at) != pod;
		leaf = at;
		pod = pod_of(a, at);
	}
}

/* It is the best so far. */
static void take(struct adviser *a, uint64_t cost)
{
	const struct fors_jobentry *job = &a->list.job[a->list.count - 1];
	struct fors_advice *best = &a->best;

	a->least = cost;
	memcpy(best->server, job->server, job->count * sizeof(*best->server));
	memcpy(best->with, a->with, a->task->list->count * sizeof(*best->with));
	count_places(a, job, &best->nleaves, &best->npods);
	best->count = job->count;
	best->bound = a->with[a->list.count - 1];
	best->nslowed = 0;
	for (uint32_t j = 0; j < a->task->list->count; j++)
		best->nslowed += loss_of(&a->list.job[j], a->with[j]) > loss_of(&a->list.job[j], best->before[j]);
}

/* Weigh the placement that is_taken[] has, if it is one. */
static enum fors_err weigh(struct adviser *a)
{
	struct fors_jobentry *job = &a->list.job[a->list.count - 1];
	const uint32_t *host = a->task->host;
	uint64_t cost = 0;
	uint32_t npods, nhosts = 0;
	enum fors_err err;

	job->count = 0;
	for (uint32_t s = 0; s < a->fabric->nservers; s++) {
		if (host[s] == FORS_NONE || !a->is_taken[host[s]])
			continue;
		job->server[job->count++] = s;
		nhosts += host[s] == s;
	}
	if (nhosts != a->task->wanted)
		return FORS_OK;
	count_places(a, job, &job->nleaves, &npods);
	err = ask(a, &a->list, a->with);
	for (uint32_t j = 0; !err && j < a->list.count; j++)
		cost += loss_of(&a->list.job[j], a->with[j]);
	if (!err && cost < a->least)
		take(a, cost);
	return err;
}

/* ---- placements ---- */

/* Is it the first server of a host? */
static bool is_first(const struct adviser *a, uint32_t s)
{
	return a->task->host[s] == s;
}

/* At most `most` of the free hosts of a leaf; how many. */
static uint32_t fill(struct adviser *a, uint32_t leaf, uint32_t most)
{
	const struct fors_leaf *at = &a->fabric->leaf[leaf];
	uint32_t n = 0;

	for (uint32_t s = at->first_server; s < at->first_server + at->nservers && n < most; s++)
		if (is_first(a, s) && !a->is_busy[s]) {
			a->is_taken[s] = true;
			n++;
		}
	return n;
}

/* Is leaf `one` to be taken before `other`? Whole ones first, if so wanted. */
static bool is_before(const struct adviser *a, uint32_t one, uint32_t other, bool by_whole)
{
	if (by_whole && !a->nbusy[one] != !a->nbusy[other])
		return !a->nbusy[one];
	return a->nfree[one] > a->nfree[other];
}

/* Leaves of one pod (FORS_NONE: of all) from leaf[from] on, in order; how many there are then. */
static uint32_t list_leaves(struct adviser *a, uint32_t pod, bool by_whole, uint32_t from)
{
	uint32_t n = from;

	for (uint32_t leaf = 0; leaf < a->fabric->nleaves; leaf++) {
		uint32_t place = n;

		if (!a->nfree[leaf] || (pod != FORS_NONE && pod_of(a, leaf) != pod))
			continue;
		for (; place > from && is_before(a, leaf, a->leaf[place - 1], by_whole); place--)
			a->leaf[place] = a->leaf[place - 1];
		a->leaf[place] = leaf;
		n++;
	}
	return n;
}

/* Of n leaves in order, all free servers; the last leaf is the one that the rest fits best. */
static enum fors_err fill_leaves(struct adviser *a, uint32_t n)
{
	uint32_t left = a->task->wanted;

	memset(a->is_taken, 0, a->fabric->nservers * sizeof(*a->is_taken));
	for (uint32_t i = 0; i < n && left; i++) {
		uint32_t leaf = a->leaf[i];

		for (uint32_t k = i + 1; k < n && a->nfree[leaf] > left; k++)
			if (a->nfree[a->leaf[k]] >= left && a->nfree[a->leaf[k]] < a->nfree[leaf])
				leaf = a->leaf[k];
		left -= fill(a, leaf, left);
	}
	return weigh(a);
}

/* Of n leaves in order, so many servers of each that has as many. */
static enum fors_err fill_some(struct adviser *a, uint32_t n, uint32_t each)
{
	uint32_t left = a->task->wanted;

	memset(a->is_taken, 0, a->fabric->nservers * sizeof(*a->is_taken));
	for (uint32_t i = 0; i < n && left; i++)
		if (a->nfree[a->leaf[i]] >= each)
			left -= fill(a, a->leaf[i], each);
	return left ? FORS_OK : weigh(a);
}

/* The same with as many servers on each leaf, for each number that divides those wanted. */
static enum fors_err fill_evenly(struct adviser *a, uint32_t n)
{
	enum fors_err err = FORS_OK;

	for (uint32_t each = a->fabric->max_servers; !err && each && a->least; each--)
		if (a->task->wanted % each == 0)
			err = fill_some(a, n, each);
	return err;
}

static enum fors_err try_leaf(struct adviser *a)
{
	uint32_t best = FORS_NONE;

	for (uint32_t leaf = 0; leaf < a->fabric->nleaves; leaf++)
		if (a->nfree[leaf] >= a->task->wanted && (best == FORS_NONE || a->nfree[leaf] < a->nfree[best]))
			best = leaf;
	a->leaf[0] = best;
	return best == FORS_NONE ? FORS_OK : fill_leaves(a, 1);
}

static uint32_t free_in(const struct adviser *a, uint32_t pod)
{
	uint32_t sum = 0;

	for (uint32_t leaf = 0; leaf < a->fabric->nleaves; leaf++)
		sum += pod_of(a, leaf) == pod ? a->nfree[leaf] : 0;
	return sum;
}

/* Does pod `one` come before `other`, by free servers, the most first or the least? */
static bool is_pod_before(const struct adviser *a, uint32_t one, uint32_t other, bool most_first)
{
	uint32_t here = free_in(a, one), there = free_in(a, other);

	if (here == there)
		return one < other;
	return most_first ? here > there : here < there;
}

/* The pod that comes after `last` in this order (FORS_NONE: the first one); FORS_NONE: that was all. */
static uint32_t next_pod(const struct adviser *a, uint32_t last, bool most_first)
{
	uint32_t npods = count_pods(a), best = FORS_NONE;

	for (uint32_t pod = 0; pod < npods; pod++)
		if ((last == FORS_NONE || is_pod_before(a, last, pod, most_first)) &&
		    (best == FORS_NONE || is_pod_before(a, pod, best, most_first)))
			best = pod;
	return best;
}

/* Pods that have enough, the one with least first. */
static enum fors_err try_pods(struct adviser *a)
{
	enum fors_err err = FORS_OK;
	uint32_t pod = next_pod(a, FORS_NONE, false);

	for (; !err && pod != FORS_NONE && a->least; pod = next_pod(a, pod, false)) {
		if (free_in(a, pod) < a->task->wanted)
			continue;
		for (int by_whole = 1; !err && a->least && by_whole >= 0; by_whole--)
			err = fill_leaves(a, list_leaves(a, pod, by_whole, 0));
		if (!err && a->least)
			err = fill_evenly(a, list_leaves(a, pod, true, 0));
	}
	return err;
}

/* Over all pods: one after the other, or as if there were none. */
static enum fors_err try_all(struct adviser *a)
{
	uint32_t n = 0;
	enum fors_err err;

	for (uint32_t pod = next_pod(a, FORS_NONE, true); pod != FORS_NONE; pod = next_pod(a, pod, true))
		n = list_leaves(a, pod, true, n);
	err = fill_leaves(a, n);
	for (int by_whole = 1; !err && a->least && by_whole >= 0; by_whole--)
		err = fill_leaves(a, list_leaves(a, FORS_NONE, by_whole, 0));
	if (!err && a->least)
		err = fill_evenly(a, list_leaves(a, FORS_NONE, true, 0));
	return err;
}

/* ---- all of it ---- */

static bool alloc(struct adviser *a)
{
	const struct fors_joblist *list = a->task->list;
	size_t nservers = a->fabric->nservers + (size_t)1, nleaves = a->fabric->nleaves + (size_t)1,
	       njobs = list->count + (size_t)1;

	a->is_busy = calloc(nservers, sizeof(*a->is_busy));
	a->is_taken = calloc(nservers, sizeof(*a->is_taken));
	a->nfree = calloc(nleaves, sizeof(*a->nfree));
	a->nbusy = calloc(nleaves, sizeof(*a->nbusy));
	a->leaf = calloc(nleaves, sizeof(*a->leaf));
	a->with = calloc(njobs, sizeof(*a->with));
	a->list.job = calloc(njobs, sizeof(*a->list.job));
	a->best.server = calloc(nservers, sizeof(*a->best.server));
	a->best.before = calloc(njobs, sizeof(*a->best.before));
	a->best.with = calloc(njobs, sizeof(*a->best.with));
	if (!a->is_busy || !a->is_taken || !a->nfree || !a->nbusy || !a->leaf || !a->with || !a->list.job ||
	    !a->best.server || !a->best.before || !a->best.with)
		return false;
	if (list->count)
		memcpy(a->list.job, list->job, list->count * sizeof(*list->job));
	a->list.job[list->count] = (struct fors_jobentry){
		.is_exclusive = true, .has_index = true, .server = calloc(nservers, sizeof(uint32_t))};
	return a->list.job[list->count].server;
}

static uint32_t count_free(struct adviser *a)
{
	const struct fors_joblist *list = a->task->list;
	uint32_t n = 0;

	for (uint32_t j = 0; j < list->count; j++)
		for (uint32_t i = 0; i < list->job[j].count; i++) {
			uint32_t host = a->task->host[list->job[j].server[i]];

			if (host != FORS_NONE)
				a->is_busy[host] = true;
		}
	for (uint32_t s = 0; s < a->fabric->nservers; s++) {
		uint32_t leaf = a->fabric->server[s].leaf;

		if (!is_first(a, s))
			continue;
		a->nbusy[leaf] += a->is_busy[s];
		a->nfree[leaf] += !a->is_busy[s];
		n += !a->is_busy[s];
	}
	return n;
}

static enum fors_err search(struct adviser *a)
{
	enum fors_err err = ask(a, a->task->list, a->best.before);

	a->list.count = a->task->list->count + 1;
	if (!err)
		err = try_leaf(a);
	if (!err && a->least)
		err = try_pods(a);
	return err || !a->least ? err : try_all(a);
}

static void release(struct adviser *a)
{
	free(a->is_busy);
	free(a->is_taken);
	free(a->nfree);
	free(a->nbusy);
	free(a->leaf);
	free(a->with);
	if (a->list.job)
		free(a->list.job[a->task->list->count].server);
	free(a->list.job);
}

enum fors_err fors_advice_find(const struct fors_advice_task *task, struct fors_advice *advice,
			       struct fors_error *error)
{
	struct adviser a = {.task = task, .fabric = task->floors->floor[0], .least = UINT64_MAX, .error = error};
	enum fors_err err = alloc(&a) ? FORS_OK : fors_fail_memory(error);
	uint32_t nfree = err ? 0 : count_free(&a);

	if (!err && nfree < task->wanted)
		err = fors_fail(error, FORS_ENOPLAN, "%u hosts of %u servers are free, and %u are wanted", nfree,
				a.fabric->nservers, task->wanted);
	if (!err)
		err = search(&a);
	release(&a);
	if (err)
		fors_advice_clear(&a.best);
	else
		*advice = a.best;
	return err;
}

void fors_advice_clear(struct fors_advice *advice)
{
	free(advice->server);
	free(advice->before);
	free(advice->with);
	*advice = (struct fors_advice){0};
}
