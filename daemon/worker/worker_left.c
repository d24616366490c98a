/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Table entries of jobs that an earlier opensm left, as their schedules tell them.
 *
 * The first tables of an opensm have no entries of jobs, and schedules over these entries are withdrawn. But what the
 * schedules say is a claim (claim.h): wanted before the jobs file has been read, and where the first search begins. So jobs
 * that run on get the lanes and entries that they had.
 */
#include "worker_inside.h"

#include <stdlib.h>
#include <string.h>

#include "core/planners/jobplan_left.h"

struct left {
	struct fors_joblist list;
	const struct fors_schedule **plan; /* per job, borrowed */
};

static bool is_left(const struct fors_jobpublisher_item *item)
{
	return item->is_inherited && fors_jobpublisher_has_plan(item) && item->schedule->ways;
}

static bool is_in(const struct fors_schedule *plan, uint64_t guid)
{
	uint32_t s = 0;

	while (s < plan->nservers && plan->server[s].guid != guid)
		s++;
	return s < plan->nservers;
}

/* The job of a schedule, on these servers. False: out of memory. */
static bool add_job(struct left *left, const struct fors_jobpublisher_item *item, const struct fors_fabric *f)
{
	struct fors_jobentry *job = &left->list.job[left->list.count];

	job->server = malloc((item->schedule->nservers + (size_t)1) * sizeof(*job->server));
	if (!job->server)
		return false;
	left->plan[left->list.count++] = item->schedule;
	memcpy(job->name, item->told.name, sizeof(job->name));
	job->is_exclusive = job->has_index = true;
	for (uint32_t s = 0; s < f->nservers && job->count < item->schedule->nservers; s++) {
		if (!is_in(item->schedule, f->server[s].guid))
			continue;
		job->nleaves += !job->count || f->server[job->server[job->count - 1]].leaf != f->server[s].leaf;
		job->server[job->count++] = s;
	}
	return true;
}

static bool list_left(const struct fors_jobpublishers *publisher, const struct fors_fabric *f, struct left *left)
{
	bool is_good;

	left->list.job = calloc(publisher->count + 1, sizeof(*left->list.job));
	left->plan = calloc(publisher->count + 1, sizeof(*left->plan));
	is_good = left->list.job && left->plan;
	for (size_t i = 0; is_good && i < publisher->count; i++)
		is_good = !is_left(publisher->item[i]) || add_job(left, publisher->item[i], f);
	return is_good;
}

/* What they had, as a claim that is no search's: its basis is nobody's. */
static enum fors_err make_claim(const struct fors_look *look, struct left *left, struct fors_claim **claim)
{
	int64_t index = fors_worker_job_index(look);
	enum fors_err err = fors_claim_new(&look->floors, claim, NULL);

	if (err)
		return err;
	(*claim)->index = (uint32_t)index;
	err = fors_jobplans_left(&look->floors, &left->list, left->plan, index, &(*claim)->holdings, NULL);
	if (err)
		return err;
	(*claim)->holdings.bound = calloc(left->list.count + (size_t)1, sizeof(*(*claim)->holdings.bound));
	(*claim)->list = left->list; /* which is its own now */
	left->list = (struct fors_joblist){NULL, 0};
	return (*claim)->holdings.bound ? FORS_OK : FORS_ENOMEM;
}

void fors_worker_inherit_entries(struct fors_worker *worker, const struct fors_look *look)
{
	struct fors_worker_jobs *jobs = &worker->jobs;
	struct left left = {0};
	struct fors_claim *claim = NULL;

	if (jobs->wanted || look->jobs_move || fors_worker_job_index(look) < 0)
		return;
	if (!list_left(&jobs->publisher, look->floors.floor[0], &left) ||
	    (left.list.count && make_claim(look, &left, &claim)))
		fors_worker_run_short(worker);
	else if (claim)
		fors_worker_want(worker, claim);
	if (claim && jobs->wanted != claim)
		fors_claim_drop(claim);
	fors_joblist_clear(&left.list);
	free(left.plan);
}
