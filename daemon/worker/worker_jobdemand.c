/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Demands of jobs. Which there are is said by the jobs that were planned last (jobs.set). The jobs' own schedules come first: a demand is planned in the
 * tick, when they are out, and is broken off by any newer look.
 */
#include "worker_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/clock.h"
#include "daemon/base/log.h"

#define CHANGED "the fabric has changed; a schedule for it is being planned"
#define ANOTHER "the job has another schedule; one for its demand is being planned"
#define JOB_WITHOUT "the job has no schedule"
#define ENDED "this job has ended, or has this demand no more"
#define NO_FOLDER "demand_dir is not set in fors.conf"
#define TICK_MS 1000 /* so long demands are planned for in a tick, and one more */

void fors_worker_jobdemands_open(struct fors_worker *worker)
{
	fors_jobpublisher_open(&worker->job_demands.publisher, &worker->publisher);
	worker->job_demands.publisher.kind = FORS_KIND_JOBDEMAND;
}

/* Its reader, which may hang, is kept for others: each demand has one thread, and those that hang serve the next demands with the same file. */
static void spare_reader(struct fors_worker_jobdemands *all, struct fors_worker_demand *demand)
{
	if (demand->reader && all->nspare < FORS_JOBDEMANDS_MAX)
		all->spare[all->nspare++] = demand->reader;
	else
		fors_jobs_file_stop(demand->reader);
	demand->reader = NULL;
}

/* One that does not hang, or hangs for this very file; NULL: there is none. */
static struct fors_jobs_file *take_spare(struct fors_worker_jobdemands *all, const char *file)
{
	for (uint32_t i = 0; i < all->nspare; i++) {
		struct fors_jobs_file *reader = all->spare[i];

		if (!fors_jobs_file_is_free(reader, file))
			continue;
		all->spare[i] = all->spare[--all->nspare];
		return reader;
	}
	return NULL;
}

static void free_demand(struct fors_worker_jobdemands *all, struct fors_worker_demand *demand)
{
	fors_worker_forget_demand(demand);
	spare_reader(all, demand);
	free(demand);
}

/* Their files may all be on a file system that hangs: they are waited for together. */
static void free_all(struct fors_worker_jobdemands *all)
{
	for (uint32_t i = 0; i < all->count; i++)
		fors_jobs_file_dismiss(all->demand[i]->reader);
	for (uint32_t i = 0; i < all->nspare; i++)
		fors_jobs_file_dismiss(all->spare[i]);
	for (; all->count; all->count--)
		free_demand(all, all->demand[all->count - 1]);
	for (; all->nspare; all->nspare--)
		fors_jobs_file_stop(all->spare[all->nspare - 1]);
}

void fors_worker_jobdemands_close(struct fors_worker *worker)
{
	struct fors_worker_jobdemands *all = &worker->job_demands;

	free_all(all);
	fors_jobpublisher_close(&all->publisher);
}

static const char *job_of(const struct fors_worker_demand *demand)
{
	return demand->name + 1;
}

/* ---- the job ---- */

/* What is told of the job, with its schedule; NULL: out of memory. */
static struct fors_jobpublisher_item *item_of(struct fors_worker *worker, const struct fors_worker_demand *demand)
{
	return fors_jobpublisher_have(&worker->jobs.publisher, job_of(demand));
}

/* Over what its demand goes. */
static struct fors_demand_part part_of(const struct fors_jobpublisher_item *job)
{
	return fors_demand_part_of(job->schedule, job->whose == FORS_OVER_ALL, job->told.path_index);
}

/*
 * What a demand of the job is planned for: the look, the schedule of the job, and whether its cables are all that there are; 0: there is none. A job that
 * comes to own lanes may keep its schedule, epoch and all.
 */
static uint64_t basis_of(const struct fors_worker *worker, const struct fors_jobpublisher_item *job)
{
	uint64_t basis =
		worker->jobs.set.basis ^ (2 * job->epoch + part_of(job).is_held) * UINT64_C(0x9E3779B97F4A7C15);

	if (!worker->jobs.set.look || !fors_jobpublisher_has_plan(job))
		return 0;
	return basis ? basis : 1;
}

void fors_worker_check_jobdemands(struct fors_worker *worker)
{
	struct fors_worker_jobdemands *all = &worker->job_demands;

	for (uint32_t i = 0; i < all->count; i++) {
		struct fors_worker_demand *demand = all->demand[i];
		const struct fors_jobpublisher_item *job = item_of(worker, demand);
		uint64_t basis = job ? basis_of(worker, job) : 0;

		if (basis != demand->planned && fors_worker_demand_has_plan(demand))
			fors_worker_withdraw_demand(worker, demand, basis ? ANOTHER : JOB_WITHOUT);
	}
}

/* What an earlier opensm left, too. */
static void withdraw_all(struct fors_worker *worker, const char *reason)
{
	struct fors_worker_jobdemands *all = &worker->job_demands;

	for (uint32_t i = 0; i < all->count; i++)
		fors_worker_withdraw_demand(worker, all->demand[i], reason);
	if (!fors_jobpublisher_load(&all->publisher) ||
	    !fors_jobpublisher_withdraw_all(&all->publisher, FORS_JOB_IS_WITHDRAWN, reason))
		fors_worker_run_short(worker);
}

void fors_worker_heed_jobdemands(struct fors_worker *worker, const struct fors_look *look)
{
	bool has_tables = look->kind != FORS_LOOK_DECLINED && fors_look_has_tables(look);

	if (!*look->jobs_file || !*look->demand_dir)
		fors_worker_leave_jobdemands(worker, *look->jobs_file ? NO_FOLDER : ENDED);
	else if (!has_tables)
		withdraw_all(worker, look->reason);
	else if (look->withdrawal || !worker->jobs.set.look || fors_look_basis(look) != worker->jobs.set.basis)
		withdraw_all(worker, CHANGED);
}

void fors_worker_leave_jobdemands(struct fors_worker *worker, const char *reason)
{
	withdraw_all(worker, reason);
	free_all(&worker->job_demands);
}

/* ---- which there are ---- */

static struct fors_worker_demand *find(const struct fors_worker_jobdemands *all, const char *job)
{
	for (uint32_t i = 0; i < all->count; i++)
		if (!strcmp(job_of(all->demand[i]), job))
			return all->demand[i];
	return NULL;
}

/* The path of the file. False: it is too long. */
static bool file_of(const struct fors_look *look, const char *demand, char file[FORS_CONF_LINE_MAX])
{
	int n = snprintf(file, FORS_CONF_LINE_MAX, "%s/%s.demand", look->demand_dir, demand);

	return n > 0 && (unsigned)n < FORS_CONF_LINE_MAX;
}

/* A demand of this job, without a file so far. False: out of memory. */
static bool add(struct fors_worker_jobdemands *all, const char *job, struct fors_worker_demand **demand)
{
	struct fors_worker_demand *made = calloc(1, sizeof(*made));

	if (!made || !fors_jobfolder(job, FORS_KIND_JOBDEMAND, made->name) ||
	    !fors_jobpublisher_take(&all->publisher, made->name)) {
		free(made);
		return false;
	}
	made->publisher = &all->publisher;
	all->demand[all->count++] = *demand = made;
	return true;
}

/* The job has this file for a demand: another one than before is read anew. */
static void take_file(struct fors_worker *worker, struct fors_worker_demand *demand, const char *file)
{
	char name[sizeof(demand->name)];

	if (!strcmp(demand->file, file))
		return;
	if (*demand->file)
		fors_worker_withdraw_demand(worker, demand, "the job has another demand");
	memcpy(name, demand->name, sizeof(name));
	fors_worker_forget_demand(demand);
	memcpy(demand->name, name, sizeof(name));
	spare_reader(&worker->job_demands, demand);
	demand->reader = take_spare(&worker->job_demands, file);
	snprintf(demand->file, sizeof(demand->file), "%s", file);
	snprintf(demand->reason, sizeof(demand->reason), "%s", FORS_DEMAND_PLANNING);
	demand->is_told = false;
}

/* A job that runs names a demand. */
static void have(struct fors_worker *worker, const struct fors_jobentry *job)
{
	struct fors_worker_jobdemands *all = &worker->job_demands;
	struct fors_worker_demand *demand = find(all, job->name);
	char file[FORS_CONF_LINE_MAX];

	if ((!demand && all->count == FORS_JOBDEMANDS_MAX) || !file_of(worker->jobs.set.look, job->demand, file)) {
		all->left_out++;
		return;
	}
	if (!demand && !add(all, job->name, &demand)) {
		fors_worker_run_short(worker);
		return;
	}
	demand->is_named = true;
	take_file(worker, demand, file);
}

/* Those that no job names any more have ended. */
static void drop_others(struct fors_worker *worker)
{
	struct fors_worker_jobdemands *all = &worker->job_demands;
	uint32_t left = 0;

	for (uint32_t i = 0; i < all->count; i++) {
		struct fors_worker_demand *demand = all->demand[i];

		if (demand->is_named) {
			all->demand[left++] = demand;
			continue;
		}
		fors_worker_withdraw_demand(worker, demand, ENDED);
		free_demand(all, demand);
		worker->jobs.is_told = false;
	}
	all->count = left;
}

/* By the jobs that are planned for. */
static void list(struct fors_worker *worker)
{
	struct fors_worker_jobdemands *all = &worker->job_demands;
	const struct fors_joblist *jobs = &worker->jobs.set.list;

	all->left_out = 0;
	for (uint32_t i = 0; i < all->count; i++)
		all->demand[i]->is_named = false;
	for (uint32_t j = 0; j < jobs->count; j++)
		if (*jobs->job[j].demand && *worker->jobs.set.look->demand_dir)
			have(worker, &jobs->job[j]);
	if (!worker->is_short)
		drop_others(worker);
}

/* What an earlier opensm left of others is withdrawn; a day later the publisher removes it. */
static void end_others(struct fors_worker *worker)
{
	struct fors_jobpublishers *publisher = &worker->job_demands.publisher;
	bool is_good = fors_jobpublisher_load(publisher);

	for (size_t i = 0; i < publisher->count; i++) {
		struct fors_jobpublisher_item *item = publisher->item[i];

		item->is_listed = find(&worker->job_demands, item->told.name + 1);
		if (!item->is_listed && fors_jobpublisher_has_plan(item))
			is_good = fors_jobpublisher_withdraw(publisher, item, FORS_JOB_IS_WITHDRAWN, ENDED) && is_good;
	}
	if (!is_good)
		fors_worker_run_short(worker);
}

/* ---- plans ---- */

/* Over the part of the job; the worker has its look. */
static void plan_on_part(struct fors_worker *worker, struct fors_worker_demand *demand,
			 const struct fors_jobpublisher_item *job)
{
	const struct fors_worker_site site = {.part = part_of(job)};

	fors_worker_plan_demand(worker, demand, &site);
}

/* Is there something to plan, and a job to plan it for? */
static bool is_due(struct fors_worker *worker, struct fors_worker_demand *demand,
		   const struct fors_jobpublisher_item *job)
{
	uint64_t basis = basis_of(worker, job);

	if (!basis) {
		if (strcmp(demand->reason, JOB_WITHOUT) != 0 && !*demand->trouble)
			fors_worker_withdraw_demand(worker, demand, JOB_WITHOUT);
		return false;
	}
	if (basis != demand->basis)
		fors_worker_renew_demand(demand);
	if (basis != demand->tried)
		demand->is_pending = demand->text.at;
	demand->basis = basis;
	return demand->next.at || demand->is_pending;
}

static void look_after(struct fors_worker *worker, struct fors_worker_demand *demand)
{
	const struct fors_jobpublisher_item *job = item_of(worker, demand);

	fors_worker_look_at_demand(worker, demand);
	if (!job)
		fors_worker_run_short(worker);
	else if (is_due(worker, demand, job))
		plan_on_part(worker, demand, job);
}

/* All of them, as many as a tick has time for; the next tick begins with the others. */
static void plan_pending(struct fors_worker *worker)
{
	struct fors_worker_jobdemands *all = &worker->job_demands;
	uint64_t until = fors_clock_ms() + TICK_MS;

	if (worker->jobs.is_blocked || fors_worker_is_stale(worker, worker->jobs.set.look))
		return;
	worker->look = worker->jobs.set.look;
	worker->lost_mastership = false;
	for (uint32_t n = all->count; n && !worker->is_short && !fors_worker_cancelled(worker); n--) {
		look_after(worker, all->demand[all->next++ % all->count]);
		if (fors_clock_ms() > until)
			break;
	}
	worker->look = NULL;
	fors_worker_heed_tables(worker);
}

/* ---- the status ---- */

static void tell_job(struct fors_worker *worker, const char *name, const char *named,
		     const struct fors_worker_demand *demand)
{
	struct fors_jobpublisher_item *job = fors_jobpublisher_have(&worker->jobs.publisher, name);
	const struct fors_jobpublisher_item *item = NULL;
	char before[sizeof(job->told.demand_reason)];

	if (!job)
		return;
	memcpy(before, job->told.demand_reason, sizeof(before));
	if (demand && demand->planned)
		item = fors_jobpublisher_find(demand->publisher, demand->name);
	snprintf(job->told.demand, sizeof(job->told.demand), "%s", named);
	snprintf(job->told.demand_reason, sizeof(job->told.demand_reason), "%s",
		 !demand	    ? worker->job_demands.left_out ? "there are too many demands of jobs" : NO_FOLDER
		 : *demand->trouble ? demand->trouble
		 : *demand->reason  ? demand->reason
				    : demand->remark);
	worker->jobs.is_told = worker->jobs.is_told && !strcmp(before, job->told.demand_reason);
	job->told.demand_epoch = item ? (int64_t)item->epoch : FORS_UNKNOWN;
	job->told.demand_phases = item ? item->told.phases : FORS_UNKNOWN;
	job->told.demand_over_bound = item ? demand->over_bound : FORS_UNKNOWN;
}

/* What is told of each job of its demand. */
static void tell_jobs(struct fors_worker *worker)
{
	struct fors_worker_jobdemands *all = &worker->job_demands;
	const struct fors_joblist *jobs = &worker->jobs.set.list;

	for (size_t i = 0; i < worker->jobs.publisher.count; i++)
		worker->jobs.publisher.item[i]->told.demand[0] = '\0';
	for (uint32_t j = 0; j < jobs->count; j++)
		if (*jobs->job[j].demand)
			tell_job(worker, jobs->job[j].name, jobs->job[j].demand, find(all, jobs->job[j].name));
	for (uint32_t i = 0; i < all->count; i++) {
		worker->jobs.is_told = worker->jobs.is_told && all->demand[i]->is_told;
		all->demand[i]->is_told = true;
	}
}

/* The first file that is wrong, and how many more there are: what is told of each job says the rest. */
static void warn_of_files(const struct fors_worker_jobdemands *all, struct fors_warnings *warnings)
{
	const struct fors_worker_demand *first = NULL;
	char others[48] = "";
	uint32_t n = 0;

	for (uint32_t i = 0; i < all->count; i++)
		if (*all->demand[i]->trouble && !n++)
			first = all->demand[i];
	if (n > 1)
		snprintf(others, sizeof(others), "; and %" PRIu32 " more", n - 1);
	if (n)
		fors_warn(warnings, "demand of job %s: %s%s%s", job_of(first), first->trouble,
			  first->text.at ? "; the demand of before stays" : "; it has no schedule", others);
}

void fors_worker_fill_jobdemands(const struct fors_worker *worker, struct fors_status *status)
{
	const struct fors_worker_jobdemands *all = &worker->job_demands;

	if (all->left_out)
		fors_warn(&status->warnings, "%" PRIu32 " %s no schedule for %s: there are %u at most", all->left_out,
			  all->left_out > 1 ? "jobs have" : "job has",
			  all->left_out > 1 ? "their demands" : "its demand", FORS_JOBDEMANDS_MAX);
	warn_of_files(all, &status->warnings);
}

/* ---- every tick ---- */

void fors_worker_watch_jobdemands(struct fors_worker *worker)
{
	struct fors_worker_jobs *jobs = &worker->jobs;
	bool is_new = false, is_master = jobs->has_spoken && !worker->is_standby;
	bool has_jobs = is_master && *jobs->file && jobs->set.look && jobs->set.is_planned;

	if (has_jobs) {
		list(worker);
		fors_worker_check_jobdemands(worker);
		plan_pending(worker);
		end_others(worker);
		tell_jobs(worker);
	}
	if (!fors_jobpublisher_tend(&worker->job_demands.publisher, is_master, &is_new))
		fors_worker_run_short(worker);
	jobs->is_told = jobs->is_told && !is_new;
}
