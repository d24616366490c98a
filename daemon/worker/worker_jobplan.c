/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Plans for several jobs: the text in force is read over a look, lanes are shared out, the jobs that are touched are
 * planned, and what comes of it is published.
 *
 * A job is touched when its servers are others, or the lanes that it may use, or when it has no schedule; over another
 * look all are. Nothing is published before all plans are there: whose lanes are whose is decided for all of them
 * together.
 */
#include "worker_inside.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/unknown.h"
#include "core/jobs/running.h"
#include "core/planners/jobplan_left.h"
#include "core/planners/jobplan_over.h"
#include "core/schedule/lane_ways.h"
#include "daemon/base/clock.h"
#include "daemon/base/log.h"

/*
 * Of the search for owners. Jobs wait for it, those that start, and all after a failure: a twentieth of a second, a
 * tenth. With scattered jobs the rest would find more: it is made up for when nothing has happened for a while.
 */
#define CHANGE_PART 12
#define SWEEP_PART 5

/* What is needed while jobs are planned; set is the new one, which is not in force yet. */
struct fors_worker_planning {
	struct fors_worker *worker;
	struct fors_worker_jobset set;
	bool is_at_leisure;		/* nobody waits: the whole search for owners, for jobs that all have a plan */
	uint32_t *was_of;		/* per job of the set: its number in the set in force, or FORS_NO_JOB */
	struct fors_jobkept *kept;	/* per job of the set */
	struct fors_worker_grant grant; /* where a path index belongs to jobs */
	struct fors_jobplans plans;
	struct fors_error error;
};

void fors_worker_clear_jobset(struct fors_worker_jobset *set)
{
	fors_joblist_clear(&set->list);
	fors_holdings_clear(&set->holdings);
	fors_floors_clear(&set->floors);
	fors_fabric_free(set->seats);
	fors_look_free(set->look);
	*set = (struct fors_worker_jobset){.look = NULL};
}

/* No path index belongs to jobs here: a job that would send to it only goes the way of those that share. */
static void share_index_jobs(const struct fors_joblist *list)
{
	for (uint32_t j = 0; j < list->count; j++)
		if (list->job[j].has_index)
			list->job[j].has_index = list->job[j].is_exclusive = false;
}

const struct fors_fabric *fors_worker_jobset_seats(const struct fors_worker_jobset *set)
{
	return set->floors.count ? set->floors.floor[0] : set->seats;
}

/* Who may be in a job: in a tree the servers of floor 0; where no lane can be somebody's all that there are. */
static enum fors_err take_seats(struct fors_worker_jobset *set, struct fors_error *error)
{
	const struct fors_look *look = set->look;
	enum fors_err err = FORS_ENOTAPPL;

	if (look->tree.kind)
		err = fors_floors_make(&look->tree, &set->floors, error);
	if (err != FORS_ENOTAPPL)
		return err;
	if (error)
		*error = (struct fors_error){.code = FORS_OK};
	return fors_jobs_seats(look->net, look->given->has_participants ? &look->given->participants : NULL,
			       &set->seats, error);
}

/* Its floors go on when the look does not. */
static enum fors_err let_floors_go(struct fors_worker_jobset *set, struct fors_error *error)
{
	struct fors_floors copy;
	enum fors_err err = fors_floors_copy(&set->floors, &copy, error);

	if (err)
		return err;
	fors_floors_clear(&set->floors);
	set->floors = copy;
	return FORS_OK;
}

enum fors_err fors_worker_read_jobset(const struct fors_worker *worker, struct fors_worker_jobset *set,
				      struct fors_error *error)
{
	const struct fors_worker_jobs *jobs = &worker->jobs;
	enum fors_err err = take_seats(set, error);

	if (!err)
		err = fors_worker_read_jobs(worker, jobs->text, jobs->size, fors_worker_jobset_seats(set), &set->list,
					    error);
	if (!err && fors_worker_job_index(set->look) < 0)
		share_index_jobs(&set->list);
	return err;
}

/* --- what stays ----------------------------------------------------------------------------------------------- */

static enum fors_err match(struct fors_worker_planning *p)
{
	const struct fors_joblist *list = &p->set.list;

	p->was_of = malloc((list->count + (size_t)1) * sizeof(*p->was_of));
	p->kept = calloc(list->count + (size_t)1, sizeof(*p->kept));
	if (!p->was_of || !p->kept)
		return fors_fail_memory(&p->error);
	return fors_jobs_match(&p->worker->jobs.set.list, list, p->was_of, &p->error);
}

/* Per job of the set the schedule that an earlier opensm left, or NULL; the caller frees the array. NULL: no memory. */
static const struct fors_schedule **list_left(struct fors_worker_planning *p)
{
	const struct fors_joblist *list = &p->set.list;
	const struct fors_schedule **left = calloc(list->count + (size_t)1, sizeof(*left));

	for (uint32_t j = 0; left && j < list->count; j++) {
		const struct fors_jobpublisher_item *item =
			fors_jobpublisher_have(&p->worker->jobs.publisher, list->job[j].name);

		if (!item) {
			free(left);
			return NULL;
		}
		if (item->is_inherited && fors_jobpublisher_has_plan(item))
			left[j] = item->schedule;
	}
	return left;
}

/* The first plans of this opensm: jobs that run keep the lanes that their schedules go over, which an earlier one left. */
static enum fors_err find_left(struct fors_worker_planning *p, struct fors_holdings *before)
{
	const struct fors_schedule **left = list_left(p);
	enum fors_err err =
		left ? fors_jobplans_left(&p->set.floors, &p->set.list, left, FORS_UNKNOWN, before, &p->error)
		     : fors_fail_memory(&p->error);

	free(left);
	return err;
}

static enum fors_err find_holdings(struct fors_worker_planning *p)
{
	const struct fors_worker_jobset *old = &p->worker->jobs.set;
	uint64_t part = p->is_at_leisure ? 1 : p->set.look == old->look ? CHANGE_PART : SWEEP_PART;
	struct fors_holdings before = {0};
	struct fors_holdings_task task = {.floors = &p->set.floors,
					  .list = &p->set.list,
					  .is_owners_only = true,
					  .has_exclusive = true,
					  .owners_work = FORS_OWNERS_WORK / part,
					  .may_move = p->is_at_leisure,
					  .cancelled = fors_worker_cancelled,
					  .context = p->worker};
	enum fors_err err = FORS_OK;

	p->set.is_brief = !p->is_at_leisure;
	if (old->is_planned && old->floors.count && (!p->set.look->jobs_move || p->is_at_leisure))
		err = fors_holdings_again(&old->floors, &old->holdings, &p->set.floors, p->was_of, p->set.list.count,
					  &before, &p->error);
	else if (!old->is_planned && !p->set.look->jobs_move)
		err = find_left(p, &before);
	task.before = before.nfloors ? &before : NULL;
	if (!err)
		err = fors_holdings_find(&task, &p->set.holdings, &p->error);
	fors_holdings_clear(&before);
	return err;
}

/* Where a path index belongs to jobs lanes are shared out with its entries, and not for each plan. */
static enum fors_err have_owners(struct fors_worker_planning *p)
{
	enum fors_err err;

	if (fors_worker_job_index(p->set.look) < 0)
		return find_holdings(p);
	err = fors_worker_grant(p->worker, p->set.look, &p->set.list, &p->set.holdings, &p->grant, &p->error);
	p->set.claimed = p->grant.claimed;
	p->set.nwaiting = p->grant.nwaiting;
	for (uint32_t j = 0; !err && j < p->set.list.count; j++)
		p->kept[j].is_waiting = p->grant.waits[j];
	return err;
}

/* Has it entries of its own now, and its plan is one of before that? */
static bool has_come_by_entries(const struct fors_worker_planning *p, uint32_t j,
				const struct fors_jobpublisher_item *item)
{
	return p->grant.index >= 0 && p->grant.is_held[j] && item->whose != FORS_OVER_OWN;
}

/* May it go on with its plan, by the lanes that it had and has, on all floors? */
static bool may_stay(const struct fors_worker_planning *p, uint32_t j, const struct fors_jobpublisher_item *item)
{
	const struct fors_worker_jobset *old = &p->worker->jobs.set;
	bool is_best = item->told.phases == item->told.alone_bound, may = true;
	const struct fors_owners nobody = {0};
	struct fors_jobview first = {&old->list, &nobody}, second = {&p->set.list, &nobody};

	if (!p->set.floors.count)
		return fors_jobplan_may_stay(fors_worker_jobset_seats(&p->set), first, p->was_of[j], second, j,
					     item->whose, is_best);
	for (uint32_t f = 0; may && f < p->set.floors.count; f++) {
		first.owners = &old->holdings.owners[f];
		second.owners = &p->set.holdings.owners[f];
		may = fors_jobplan_may_stay(p->set.floors.floor[f], first, p->was_of[j], second, j, item->whose,
					    is_best);
	}
	return may;
}

/*
 * Over the path index of jobs: has it the very entries that its plan goes over? Then nothing else counts, neither
 * lanes that it owns besides nor what the tables say of others.
 */
static bool has_same_ways(const struct fors_worker_planning *p, uint32_t j, const struct fors_jobpublisher_item *item)
{
	const struct fors_worker_jobset *old = &p->worker->jobs.set;
	uint32_t was = p->was_of[j];

	return p->grant.index >= 0 && p->set.floors.count && fors_floors_same(&old->floors, &p->set.floors) &&
	       item->whose == FORS_OVER_OWN && item->told.path_index == p->grant.index && p->grant.is_held[j] &&
	       old->holdings.bound && old->holdings.bound[was] &&
	       fors_holdings_same_ways(&p->set.floors, &old->list.job[was], &old->holdings, &p->set.list.job[j],
				       &p->set.holdings);
}

/* May the job go on as it is? `is_same`: fabric and tables are what they were. */
static bool goes_on(const struct fors_worker_planning *p, uint32_t j, const struct fors_jobpublisher_item *item,
		    bool is_same)
{
	if (p->was_of[j] == FORS_NO_JOB || !fors_jobpublisher_has_plan(item) || item->is_inherited ||
	    p->kept[j].is_waiting)
		return false;
	return has_same_ways(p, j, item) || (is_same && !has_come_by_entries(p, j, item) && may_stay(p, j, item));
}

/*
 * Have leaves and lanes the numbers that they had? Over the same tables and cables a tree of three levels is another one when a
 * dead switch is forgotten, or a reference fabric knows more.
 */
static bool are_numbers_same(const struct fors_floors *then, const struct fors_floors *now)
{
	bool are_same = then->count == now->count;

	for (uint32_t f = 0; are_same && f < now->count; f++)
		are_same = fors_entries_same_lanes(then->floor[f], now->floor[f]);
	return are_same;
}

/* Jobs that go on with what they have. False: out of memory. */
static bool keep(struct fors_worker_planning *p)
{
	struct fors_worker_jobs *jobs = &p->worker->jobs;
	const struct fors_worker_jobset *old = &jobs->set;

	if (!old->is_planned || !are_numbers_same(&old->floors, &p->set.floors))
		return true;
	for (uint32_t j = 0; j < p->set.list.count; j++) {
		const struct fors_jobpublisher_item *item =
			fors_jobpublisher_have(&jobs->publisher, p->set.list.job[j].name);

		if (!item)
			return false;
		if (!goes_on(p, j, item, old->basis == p->set.basis))
			continue;
		p->kept[j] = (struct fors_jobkept){.plan = item->schedule, .whose = item->whose};
	}
	return true;
}

/* --- planning ------------------------------------------------------------------------------------------------- */

static enum fors_err plan(struct fors_worker_planning *p)
{
	const struct fors_look *look = p->set.look;
	struct fors_request request = fors_worker_request(p->worker, look);
	const struct fors_jobfloors lanes = {&p->set.floors, &p->set.holdings, p->grant.index};

	request.task.has_moved = look->claim;
	request.haste = look->fabric ? FORS_ONE_OF_MANY : FORS_QUICK; /* a job waits for its plan */
	if (p->set.floors.count)
		return fors_jobplans_floors(&request, &lanes, &p->set.list, p->kept, &p->plans, &p->error);
	return fors_jobplans_over(&request, p->set.seats, &p->set.list, p->kept, &p->plans, &p->error);
}

static enum fors_err make_plans(struct fors_worker_planning *p)
{
	enum fors_err err = match(p);

	if (!err && p->set.floors.count)
		err = have_owners(p);
	if (!err && !keep(p))
		err = fors_fail_memory(&p->error);
	return err ? err : plan(p);
}

/* --- publishing ----------------------------------------------------------------------------------------------- */

/* Cut to the room there is. */
static __attribute__((format(printf, 3, 4))) void say(char *text, size_t size, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, size, format, arguments);
	va_end(arguments);
}

/* Members of its line that are not there, or whose names others have too, if any. */
static void tell_members(const struct fors_jobentry *job, const char *what, char *text, size_t size)
{
	const char *mark = *what ? "; " : "", *more = job->nmissing > 1 ? ", ..." : "";

	if (job->nmissing)
		say(text, size, "line %u: %u of its servers not there, or taking no part: %.40s%s%s%s%s%s%s", job->line,
		    job->nmissing, job->missing, *job->why ? " (" : "", job->why, *job->why ? ")" : "", more, mark,
		    what);
	else if (job->ndoubts)
		say(text, size, "line %u: %.40s: %s%s%s", job->line, job->doubtful, job->doubt, mark, what);
	else
		say(text, size, "%s", what);
}

void fors_worker_renew_reasons(struct fors_worker *worker, const struct fors_joblist *list)
{
	for (uint32_t j = 0; j < list->count; j++) {
		struct fors_jobpublisher_item *item =
			fors_jobpublisher_have(&worker->jobs.publisher, list->job[j].name);
		char reason[sizeof(item->told.reason)];

		if (!item || item->told.state != FORS_JOB_IS_PLANNED)
			continue;
		tell_members(&list->job[j], item->shared, reason, sizeof(reason));
		item->told.missing = list->job[j].nmissing;
		worker->jobs.is_told = worker->jobs.is_told && !strcmp(reason, item->told.reason);
		memcpy(item->told.reason, reason, sizeof(reason));
	}
}

/* Why the plan of a job that sends to one path index goes over lanes of others; empty: it does not. */
static const char *why_shared(const struct fors_worker_planning *p, uint32_t j)
{
	const struct fors_jobentry *job = &p->set.list.job[j];

	if (p->grant.index < 0 || !job->has_index || p->plans.job[j].whose == FORS_OVER_OWN)
		return "";
	if (p->grant.is_refused)
		return "shared, without table entries: the tables would have been wrong with them; this is a bug";
	return p->grant.is_settled ? "shared, without table entries: two of its leaves have no lane for it in common"
				   : "shared until its table entries are in the switches";
}

/* What the entries that are on their way will allow a job that waits for them. */
static int64_t expected_phases(const struct fors_worker_planning *p, uint32_t j)
{
	const struct fors_claim *wanted = p->worker->jobs.wanted;

	if (!p->kept[j].is_waiting || !wanted)
		return FORS_UNKNOWN;
	for (uint32_t i = 0; i < wanted->list.count; i++)
		if (!strcmp(wanted->list.job[i].name, p->set.list.job[j].name))
			return wanted->holdings.bound[i] ? (int64_t)wanted->holdings.bound[i] : FORS_UNKNOWN;
	return FORS_UNKNOWN;
}

static void tell_job(const struct fors_worker_planning *p, uint32_t j, struct fors_jobpublisher_item *item)
{
	const struct fors_jobentry *job = &p->set.list.job[j];
	const struct fors_jobplan *made = &p->plans.job[j];

	item->is_listed = true;
	item->told.is_exclusive = job->is_exclusive;
	item->told.has_index = job->has_index;
	item->told.servers = job->count;
	item->told.missing = job->nmissing;
	item->told.leaves = job->nleaves;
	item->told.lanes = p->set.floors.count ? (int64_t)made->nlanes : FORS_UNKNOWN;
	item->told.expected_phases = expected_phases(p, j);
	if (made->is_kept)
		return;
	item->told.lower_bound = made->lower_bound;
	item->told.alone_bound = made->alone_bound;
}

/* The plan, which is taken. False: out of memory. */
static bool publish_plan(struct fors_worker_planning *p, uint32_t j, struct fors_jobpublisher_item *item,
			 struct fors_error *error)
{
	struct fors_jobplan *made = &p->plans.job[j];
	struct fors_schedule *plan = made->plan;
	enum fors_err err =
		fors_schedule_name(plan, p->set.look->fabric, p->set.look->lfts, p->set.list.job[j].name, error);

	made->plan = NULL;
	plan->fabric_epoch = p->worker->publisher.schedule ? p->worker->publisher.schedule->epoch : 0;
	if (err)
		fors_schedule_free(plan);
	else
		err = fors_jobpublisher_publish(&p->worker->jobs.publisher, item, plan, error);
	if (!err) {
		item->whose = made->whose;
		item->told.state = FORS_JOB_IS_PLANNED;
		snprintf(item->told.whose, sizeof(item->told.whose), "%s", fors_jobplan_over(made->whose));
		item->told.phases = (int64_t)item->schedule->nphases;
		item->told.path_index = made->index;
		item->shared = why_shared(p, j);
		tell_members(&p->set.list.job[j], item->shared, item->told.reason, sizeof(item->told.reason));
	}
	return err != FORS_ENOMEM;
}

/* False: out of memory. */
static bool publish_job(struct fors_worker_planning *p, uint32_t j)
{
	struct fors_jobpublishers *publisher = &p->worker->jobs.publisher;
	struct fors_jobpublisher_item *item = fors_jobpublisher_have(publisher, p->set.list.job[j].name);
	struct fors_error error = {.code = FORS_OK};
	char why[sizeof(item->told.reason)];

	if (!item)
		return false;
	tell_job(p, j, item);
	if (p->plans.job[j].is_kept) {
		item->shared = why_shared(p, j);
		tell_members(&p->set.list.job[j], item->shared, item->told.reason, sizeof(item->told.reason));
		return true;
	}
	if (p->plans.job[j].plan && !publish_plan(p, j, item, &error))
		return false;
	if (!p->plans.job[j].plan && !error.code && p->plans.job[j].error.code)
		error = p->plans.job[j].error;
	if (!error.code)
		return true;
	tell_members(&p->set.list.job[j], error.text, why, sizeof(why));
	return fors_jobpublisher_withdraw(publisher, item,
					  p->kept[j].is_waiting ? FORS_JOB_IS_WITHDRAWN : FORS_JOB_HAS_NONE, why);
}

/* What is not listed has ended. False: out of memory. */
static bool publish_all(struct fors_worker_planning *p)
{
	bool is_good = fors_worker_end_jobs(p->worker, &p->set.list);

	for (uint32_t j = 0; j < p->set.list.count && is_good; j++)
		is_good = publish_job(p, j);
	return is_good;
}

/* --- all in one ----------------------------------------------------------------------------------------------- */

/* Two jobs that own their lanes meet in a cable: a fault of fors, and nothing of it gets out. */
static bool is_meeting(struct fors_worker_planning *p)
{
	if (!p->plans.nmeetings)
		return false;
	fors_log_error(p->worker->setup.log, FORS_F_VERIFY, "%s", p->plans.meeting);
	snprintf(p->worker->jobs.trouble, sizeof(p->worker->jobs.trouble),
		 "the plans of two jobs meet in a cable; this is a bug: %.200s", p->plans.meeting);
	return true;
}

/* The plans are there. False: out of memory. */
static bool take_effect(struct fors_worker_planning *p)
{
	struct fors_worker_jobs *jobs = &p->worker->jobs;

	if (is_meeting(p)) {
		jobs->is_pending = false;
		return fors_jobpublisher_withdraw_all(&jobs->publisher, FORS_JOB_HAS_NONE, jobs->trouble);
	}
	if (!publish_all(p)) {
		jobs->set.is_planned = false; /* some have what belongs to other lanes: all are planned again */
		jobs->is_pending = true;
		return false;
	}
	if (p->set.look == jobs->set.look)
		jobs->set.look = NULL; /* which goes on */
	fors_worker_clear_jobset(&jobs->set);
	jobs->set = p->set;
	jobs->set.is_planned = true;
	fors_worker_note_unstuck(p->worker);
	fors_worker_tell_names(p->worker, &jobs->set.list);
	if (!fors_worker_note_members(p->worker, &jobs->set.list, fors_worker_jobset_seats(&jobs->set)))
		fors_worker_run_short(p->worker);
	jobs->set.planned_ms = fors_clock_ms();
	p->set = (struct fors_worker_jobset){.look = NULL};
	jobs->is_pending = false;
	return true;
}

static enum fors_err plan_all(struct fors_worker_planning *p)
{
	enum fors_err err;

	p->set.basis = fors_look_basis(p->set.look);
	p->worker->jobs.is_busy = true;
	err = fors_worker_read_jobset(p->worker, &p->set, &p->error);
	if (!err)
		err = make_plans(p);
	if (!err)
		err = let_floors_go(&p->set, &p->error);
	p->worker->jobs.is_busy = false;
	return err;
}

/* The look is not ours, if it was not adopted. */
static void clear_planning(struct fors_worker_planning *p)
{
	p->set.look = NULL;
	fors_worker_clear_jobset(&p->set);
	fors_jobplans_clear(&p->plans);
	fors_worker_clear_grant(&p->grant);
	free(p->was_of);
	free(p->kept);
}

static bool plan_now(struct fors_worker *worker, struct fors_look *look, bool is_at_leisure)
{
	struct fors_worker_planning p = {.worker = worker,
					 .set = {.look = look},
					 .is_at_leisure = is_at_leisure,
					 .grant = {.index = FORS_UNKNOWN}};
	enum fors_err err = plan_all(&p);
	bool is_good = !err && take_effect(&p);

	if (err == FORS_ENOMEM || (!err && !is_good))
		fors_worker_run_short(worker);
	else if (err && err != FORS_ECANCELLED)
		fors_worker_note_stuck(worker, p.error.text);
	clear_planning(&p);
	return is_good;
}

bool fors_worker_plan_jobs(struct fors_worker *worker, struct fors_look *look)
{
	return plan_now(worker, look ? look : worker->jobs.set.look, false);
}

/* --- at leisure ----------------------------------------------------------------------------------------------- */

/* Is a job with lanes of its own slower than it would be alone? */
static bool has_slow_job(const struct fors_jobpublishers *publisher)
{
	for (size_t i = 0; i < publisher->count; i++) {
		const struct fors_jobpublisher_item *item = publisher->item[i];

		if (item->is_listed && item->told.is_exclusive && item->told.state == FORS_JOB_IS_PLANNED &&
		    item->told.alone_bound >= 0 && item->told.phases > item->told.alone_bound)
			return true;
	}
	return false;
}

void fors_worker_plan_at_leisure(struct fors_worker *worker)
{
	struct fors_worker_jobs *jobs = &worker->jobs;

	if (jobs->is_pending || jobs->is_blocked || !jobs->text || !jobs->set.is_planned || !jobs->set.is_brief ||
	    fors_clock_ms() < jobs->set.planned_ms + FORS_LEISURE_AFTER_MS || !has_slow_job(&jobs->publisher))
		return;
	jobs->set.planned_ms = fors_clock_ms(); /* should it be broken off */
	worker->look = jobs->set.look;
	worker->lost_mastership = false;
	plan_now(worker, jobs->set.look, true);
	worker->look = NULL;
	jobs->is_told = false;
}

/* --- ahead ---------------------------------------------------------------------------------------------------- */

void fors_worker_forget_jobs_ahead(struct fors_worker *worker)
{
	struct fors_worker_planning *p = worker->jobs.ahead;

	worker->jobs.ahead = NULL;
	worker->jobs.is_safe = false;
	if (!p)
		return;
	fors_look_free(p->set.look);
	clear_planning(p);
	free(p);
}

const struct fors_look *fors_worker_jobs_ahead(const struct fors_worker *worker)
{
	return worker->jobs.ahead ? worker->jobs.ahead->set.look : NULL;
}

/* For the next sweep with the same tables. */
static void renew_look(struct fors_worker_planning *p, struct fors_look *look)
{
	fors_look_free(p->set.look);
	p->set.look = look;
}

bool fors_worker_plan_jobs_ahead(struct fors_worker *worker, struct fors_look *look)
{
	struct fors_worker_jobs *jobs = &worker->jobs;
	struct fors_worker_planning *p;
	enum fors_err err;

	if (jobs->ahead && jobs->ahead->set.basis == fors_look_basis(look)) {
		renew_look(jobs->ahead, look);
		return true;
	}
	fors_worker_forget_jobs_ahead(worker);
	p = calloc(1, sizeof(*p));
	if (p)
		*p = (struct fors_worker_planning){
			.worker = worker, .set = {.look = look}, .grant = {.index = FORS_UNKNOWN}};
	err = p ? plan_all(p) : FORS_ENOMEM;
	if (err == FORS_ENOMEM)
		fors_worker_run_short(worker);
	if (!err && !worker->is_short) {
		jobs->ahead = p;
		return true;
	}
	if (p)
		clear_planning(p);
	free(p);
	return false;
}

bool fors_worker_take_jobs_ahead(struct fors_worker *worker, struct fors_look *look)
{
	struct fors_worker_planning *p = worker->jobs.ahead;
	bool is_good;

	if (!p)
		return false;
	worker->jobs.ahead = NULL;
	if (look)
		renew_look(p, look);
	is_good = take_effect(p);
	if (!is_good)
		fors_worker_run_short(worker);
	if (!look)
		fors_look_free(p->set.look); /* unless it was adopted */
	clear_planning(p);
	free(p);
	return is_good;
}
