/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Several jobs, each with a schedule of its own (jobs_file in fors.conf).
 *
 *	ROUTED		tables are on their way: what is not right over them is withdrawn, then all jobs are planned. These plans
 *			are published when the switches have the tables, where that is safe (worker_early.c)
 *	INSTALLED	the switches hold them: else they are published now, or made now, over what the switches hold
 *	INCOMPLETE	the sweep met errors, another follows: keep what is right
 *	the file	is looked at every tick; what it changes is planned over what the switches hold
 *
 * The fabric's own schedule is withdrawn all the time, and its epoch is that of the fabric: jobs name it. What is wrong
 * with the file leaves the jobs as they are: they run, and somebody mends the file. Only when there never was a good
 * one since this subnet manager became the master is nothing known of the jobs, and they are withdrawn.
 */
#include "worker_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/jobs/running.h"
#include "daemon/base/clock.h"
#include "daemon/base/log.h"

#define ENDED "this job has ended: it is not in the jobs file any more"
#define CHANGED "the fabric has changed; a schedule for it is being planned"

void fors_worker_jobs_open(struct fors_worker *worker)
{
	fors_jobpublisher_open(&worker->jobs.publisher, &worker->publisher);
}

static void forget_text(struct fors_worker_jobs *jobs)
{
	free(jobs->text);
	free(jobs->refused);
	jobs->text = jobs->refused = NULL;
	jobs->trouble[0] = jobs->names.doubt[0] = '\0';
	jobs->is_pending = jobs->is_stuck = false;
	if (jobs->reader)
		fors_jobs_file_forget(jobs->reader);
}

void fors_worker_jobs_close(struct fors_worker *worker)
{
	struct fors_worker_jobs *jobs = &worker->jobs;

	fors_worker_forget_jobs_ahead(worker);
	forget_text(jobs);
	fors_jobs_file_stop(jobs->reader);
	fors_worker_want_no_entries(worker);
	fors_worker_clear_jobset(&jobs->set);
	fors_worker_write_names(worker);
	fors_worker_close_names(&jobs->names);
	fors_jobpublisher_close(&jobs->publisher);
}

/* --- the file --------------------------------------------------------------------------------------------------- */

/* Something is wrong with the file: said in the log once, in the status as long as it lasts. */
static void complain(struct fors_worker *worker, const char *why)
{
	struct fors_worker_jobs *jobs = &worker->jobs;

	if (!strncmp(jobs->trouble, why, sizeof(jobs->trouble) - 1))
		return;
	if (!*jobs->trouble)
		jobs->trouble_ms = fors_clock_unix_ms();
	snprintf(jobs->trouble, sizeof(jobs->trouble), "%s", why);
	fors_log_error(worker->setup.log, FORS_F_JOBS, "%s%s", why, jobs->text ? "; the jobs of before stay" : "");
	jobs->is_told = false;
}

static void relent(struct fors_worker *worker)
{
	struct fors_worker_jobs *jobs = &worker->jobs;

	if (!*jobs->trouble)
		return;
	fors_log_info(worker->setup.log, "the jobs file is good again");
	jobs->trouble[0] = '\0';
	jobs->is_told = false;
}

void fors_worker_note_stuck(struct fors_worker *worker, const char *why)
{
	struct fors_worker_jobs *jobs = &worker->jobs;

	fors_worker_forget_jobs_ahead(worker);
	jobs->is_pending = false;
	jobs->is_stuck = true;
	complain(worker, why);
}

void fors_worker_note_unstuck(struct fors_worker *worker)
{
	if (worker->jobs.is_stuck)
		relent(worker);
	worker->jobs.is_stuck = false;
}

bool fors_worker_end_jobs(struct fors_worker *worker, const struct fors_joblist *list)
{
	struct fors_jobpublishers *publisher = &worker->jobs.publisher;
	bool is_good = true;

	for (size_t i = 0; i < publisher->count; i++)
		publisher->item[i]->is_listed = false;
	for (uint32_t j = 0; j < list->count; j++) {
		struct fors_jobpublisher_item *item = fors_jobpublisher_have(publisher, list->job[j].name);

		is_good = is_good && item;
		if (item)
			item->is_listed = true;
	}
	for (size_t i = 0; i < publisher->count && is_good; i++)
		if (!publisher->item[i]->is_listed)
			is_good =
				fors_jobpublisher_withdraw(publisher, publisher->item[i], FORS_JOB_IS_WITHDRAWN, ENDED);
	return is_good;
}

/* Is it a file of jobs, on the fabric of this look? What has ended is withdrawn at once. False: no, or no memory. */
static bool accept(struct fors_worker *worker, const struct fors_look *site, const char *text, size_t size)
{
	struct fors_joblist list = {NULL, 0};
	struct fors_fabric *seats = NULL;
	struct fors_error error;
	enum fors_err err = FORS_OK;

	if (!site->fabric)
		err = fors_jobs_seats(site->net, site->given->has_participants ? &site->given->participants : NULL,
				      &seats, &error);
	if (!err)
		err = fors_worker_read_jobs(worker, text, size, site->fabric ? site->fabric : seats, &list, &error);
	if (err == FORS_ENOMEM || (!err && !fors_worker_end_jobs(worker, &list)))
		fors_worker_run_short(worker);
	else if (err)
		complain(worker, error.text);
	fors_joblist_clear(&list);
	fors_fabric_free(seats);
	return !err;
}

static bool is_text(const char *old, size_t old_size, const char *text, size_t size)
{
	return old && old_size == size && !memcmp(old, text, size);
}

/* A text was read, and is taken: is it another one? */
static void take_text(struct fors_worker *worker, const struct fors_look *site, char *text, size_t size)
{
	struct fors_worker_jobs *jobs = &worker->jobs;

	if (is_text(jobs->text, jobs->size, text, size)) {
		relent(worker);
	} else if (is_text(jobs->refused, jobs->refused ? strlen(jobs->refused) : 0, text, size)) {
		free(text);
		return;
	} else if (accept(worker, site, text, size)) {
		fors_worker_forget_jobs_ahead(worker);
		free(jobs->text);
		jobs->text = text;
		jobs->size = size;
		jobs->is_pending = true;
		jobs->is_told = false;
		relent(worker);
		text = NULL;
	} else if (!worker->is_short) {
		free(jobs->refused);
		jobs->refused = text;
		return;
	} else {
		fors_jobs_file_forget(jobs->reader); /* it is read again */
	}
	free(text);
	free(jobs->refused);
	jobs->refused = NULL;
}

/* There is no text: nobody knows which jobs there are. */
static void withdraw_unknown(struct fors_worker *worker)
{
	struct fors_worker_jobs *jobs = &worker->jobs;
	char why[sizeof(jobs->trouble) + 64];

	snprintf(why, sizeof(why), "no jobs are known: %.100s", jobs->trouble);
	if (!fors_jobpublisher_withdraw_all(&jobs->publisher, FORS_JOB_IS_WITHDRAWN, why))
		fors_worker_run_short(worker);
}

/* See what the file says; `site` shows who could be in a job. */
static void look_at_file(struct fors_worker *worker, const struct fors_look *site)
{
	struct fors_worker_jobs *jobs = &worker->jobs;
	struct fors_error error;
	char *text;
	size_t size;

	if (fors_jobs_file_have(&jobs->reader, jobs->file, NULL)) {
		fors_worker_run_short(worker);
		return;
	}
	switch (fors_jobs_file_look(jobs->reader, jobs->file, &text, &size, &error)) {
	case FORS_JOBS_SAME:
		break;
	case FORS_JOBS_NEW:
		take_text(worker, site, text, size);
		break;
	case FORS_JOBS_BAD:
	case FORS_JOBS_LATE:
		complain(worker, error.text);
		break;
	}
	if (!jobs->text && *jobs->trouble)
		withdraw_unknown(worker);
}

/* --- the status ------------------------------------------------------------------------------------------------- */

static void warn_of_file(const struct fors_worker_jobs *jobs, struct fors_warnings *warnings)
{
	time_t at = (time_t)(jobs->trouble_ms / 1000);
	struct tm parts;
	char since[40];

	if (!*jobs->trouble || !gmtime_r(&at, &parts) ||
	    !strftime(since, sizeof(since), "%Y-%m-%d %H:%M:%S UTC", &parts))
		return;
	fors_warn(warnings, "%.220s; since %s %s", jobs->trouble, since,
		  jobs->text ? "the jobs of before stay" : "no job has a schedule");
}

static void warn_of_jobs(const struct fors_jobpublishers *publisher, struct fors_warnings *warnings)
{
	const struct fors_jobpublisher_item *first = NULL;
	size_t n = 0;

	for (size_t i = 0; i < publisher->count; i++)
		if (publisher->item[i]->is_listed && publisher->item[i]->told.state == FORS_JOB_HAS_NONE && !n++)
			first = publisher->item[i];
	if (n)
		fors_warn(warnings, "%zu job%s no schedule; %s: %.220s", n, n > 1 ? "s have" : " has", first->told.name,
			  first->told.reason);
}

void fors_worker_fill_jobs(struct fors_worker *worker, struct fors_status *status)
{
	struct fors_worker_jobs *jobs = &worker->jobs;

	if (!*jobs->file)
		return;
	warn_of_file(jobs, &status->warnings);
	if (*jobs->names.doubt)
		fors_warn(&status->warnings, "%s", jobs->names.doubt);
	if (jobs->no_index)
		fors_warn(&status->warnings, "%s", jobs->no_index);
	warn_of_jobs(&jobs->publisher, &status->warnings);
	if (!fors_jobpublisher_tell(&jobs->publisher, &status->jobs))
		fors_worker_run_short(worker);
}

/* Say how things stand over this look. */
static void tell(struct fors_worker *worker, const struct fors_look *look)
{
	struct fors_worker_jobs *jobs = &worker->jobs;
	char reason[FORS_ERROR_TEXT];

	if (!jobs->text) {
		snprintf(reason, sizeof(reason), "jobs: no job has a schedule: %.300s",
			 *jobs->trouble ? jobs->trouble : "the jobs file has not been read yet");
		fors_worker_publish_jobs(worker, look, *jobs->trouble ? FORS_FAILED : FORS_PLANNING, reason);
	} else if (look->kind == FORS_LOOK_INCOMPLETE) {
		snprintf(reason, sizeof(reason), "jobs: %.300s", look->reason);
		fors_worker_publish_jobs(worker, look, FORS_PLANNING, reason);
	} else if (jobs->is_pending || jobs->is_blocked) {
		fors_worker_publish_jobs(worker, look, FORS_PLANNING, "jobs: schedules are being planned");
	} else if (jobs->set.nwaiting) {
		fors_worker_publish_jobs(
			worker, look, FORS_PLANNING,
			"jobs: table entries of jobs are on their way to the switches; schedules follow");
	} else {
		fors_worker_publish_jobs(worker, look, FORS_ACTIVE, "jobs: each job has a schedule of its own");
	}
	jobs->is_told = !worker->is_short;
}

/* --- looks ------------------------------------------------------------------------------------------------------ */

/* Withdraw what is not right over the tables of a look. False: broken off, or no memory. */
static bool keep_right(struct fors_worker *worker, const struct fors_look *look)
{
	struct fors_worker_jobs *jobs = &worker->jobs;
	struct fors_jobpublishers *publisher = &jobs->publisher;
	struct fors_jobkept *kept = calloc(publisher->count + 1, sizeof(*kept));
	bool *is_right = calloc(publisher->count + 1, sizeof(*is_right));
	enum fors_err err = kept && is_right ? FORS_OK : FORS_ENOMEM;

	for (size_t i = 0; !err && i < publisher->count; i++)
		if (fors_jobpublisher_has_plan(publisher->item[i]))
			kept[i] = (struct fors_jobkept){.plan = publisher->item[i]->schedule,
							.whose = publisher->item[i]->whose};
	jobs->is_busy = true;
	if (!err)
		err = fors_jobplans_right(look->net, look->lfts, kept, (uint32_t)publisher->count,
					  fors_worker_cancelled, worker, is_right, NULL);
	jobs->is_busy = false;
	for (size_t i = 0; !err && i < publisher->count; i++) {
		if (!kept[i].plan || is_right[i])
			continue;
		jobs->is_pending |= jobs->text != NULL;
		jobs->is_told = false;
		if (!fors_jobpublisher_withdraw(publisher, publisher->item[i], FORS_JOB_IS_WITHDRAWN, CHANGED))
			err = FORS_ENOMEM;
	}
	free(kept);
	free(is_right);
	if (err && err != FORS_ECANCELLED)
		fors_worker_run_short(worker);
	return !err;
}

/* This look becomes that of the set, without plans. */
static void adopt(struct fors_worker_jobs *jobs, struct fors_look *look, uint64_t basis)
{
	bool is_same = jobs->set.look && jobs->set.basis == basis;

	if (is_same) { /* list and owners speak of it as well */
		fors_look_free(jobs->set.look);
	} else {
		fors_worker_clear_jobset(&jobs->set);
		jobs->is_pending = jobs->text;
	}
	jobs->set.look = look;
	jobs->set.basis = basis;
}

static void set_blocked(struct fors_worker_jobs *jobs, bool is_blocked)
{
	jobs->is_told = jobs->is_told && jobs->is_blocked == is_blocked;
	jobs->is_blocked = is_blocked;
}

/* On another fabric a text that was refused may be good. */
static void judge_anew(struct fors_worker_jobs *jobs)
{
	if (jobs->refused)
		fors_jobs_file_forget(jobs->reader);
	free(jobs->refused);
	jobs->refused = NULL;
}

/* The switches hold the tables of the look. */
static void decide(struct fors_worker *worker, struct fors_look *look, uint64_t basis)
{
	struct fors_worker_jobs *jobs = &worker->jobs;
	bool is_same = jobs->set.look && jobs->set.basis == basis, is_good = true;

	set_blocked(jobs, !is_same);
	if (!is_same)
		judge_anew(jobs);
	if (jobs->text && (jobs->is_pending || !is_same)) {
		tell(worker, look); /* whose epoch they name */
		if (!fors_worker_take_jobs_ahead(worker, look) && !worker->is_short)
			is_good = fors_worker_plan_jobs(worker, look);
		jobs->is_told = false;
		if (jobs->set.look == look)
			set_blocked(jobs, false);
		if (worker->is_short || is_good || !jobs->is_stuck) /* done; or broken off, and another job comes */
			return;
	}
	jobs->is_told = jobs->is_told && worker->view == fors_look_view(look);
	if (worker->is_short)
		return;
	adopt(jobs, look, basis);
	jobs->is_pending = jobs->is_pending && !jobs->is_stuck;
	set_blocked(jobs, false);
}

/* Whatever comes next: no job has a schedule. The fabric's own is not touched. False: out of memory. */
static bool withdraw(struct fors_worker *worker, const char *reason)
{
	struct fors_worker_jobs *jobs = &worker->jobs;
	bool is_done = fors_jobpublisher_load(&jobs->publisher) &&
		       fors_jobpublisher_withdraw_all(&jobs->publisher, FORS_JOB_IS_WITHDRAWN, reason);

	if (!is_done)
		fors_worker_run_short(worker);
	fors_worker_forget_jobs_ahead(worker);
	jobs->is_pending = jobs->text;
	jobs->is_told = false;
	return is_done;
}

/* Homes are about to be ranked: no reader shall follow a schedule over tables that are on their way out. */
static void make_way(struct fors_worker *worker, const struct fors_look *look)
{
	worker->jobs.is_blocked = true;
	withdraw(worker, "homes are ranked afresh, for servers that came late; a schedule follows");
	fors_worker_publish_jobs(worker, look, FORS_PLANNING,
				 "jobs: homes are ranked afresh, for servers that came late; schedules follow");
	if (!worker->is_short && fors_publisher_is_seen(&worker->publisher))
		__atomic_store_n(&worker->withdrawn, look->withdrawal, __ATOMIC_RELEASE);
}

/*
 * fors.conf wants a path index for jobs, and there can be none: said in the log once, in the status as long as it
 * lasts.
 */
static void note_index(struct fors_worker *worker, const struct fors_look *look)
{
	struct fors_worker_jobs *jobs = &worker->jobs;
	const char *why = fors_worker_why_no_index(look);

	if (jobs->no_index == why)
		return;
	jobs->no_index = why;
	jobs->is_told = false;
	if (why)
		fors_log_error(worker->setup.log, FORS_F_INDEX, "%s", why);
}

static void note_settings(struct fors_worker *worker, const struct fors_look *look)
{
	struct fors_worker_jobs *jobs = &worker->jobs;

	if (strcmp(jobs->file, look->jobs_file) != 0) {
		memcpy(jobs->file, look->jobs_file, sizeof(jobs->file));
		fors_worker_forget_jobs_ahead(worker);
		forget_text(jobs);
	}
	note_index(worker, look);
	worker->decided = worker->advice.basis = 0;
	fors_worker_forget_plan(worker);
	fors_worker_forget_loss(worker);
	jobs->has_spoken = true;
}

/* Tables are on their way: see to plans over them. */
static void plan_ahead(struct fors_worker *worker, struct fors_look *look, uint64_t basis)
{
	struct fors_worker_jobs *jobs = &worker->jobs;

	if (!jobs->text || (jobs->set.look && jobs->set.basis == basis) || !fors_worker_plan_jobs_ahead(worker, look))
		return;
	jobs->is_safe = fors_worker_is_safe(worker, look, NULL);
}

/* What is ahead, unless it is what these tables are for, comes to nothing; so does what came out too early. */
static bool see_to_ahead(struct fors_worker *worker, const struct fors_look *look, uint64_t basis, bool was_early)
{
	const struct fors_look *ahead = fors_worker_jobs_ahead(worker);

	if (ahead && fors_look_basis(ahead) != basis)
		fors_worker_forget_jobs_ahead(worker);
	if (was_early && look->kind == FORS_LOOK_INCOMPLETE)
		return withdraw(worker, look->reason);
	return true;
}

/* The jobs that were planned for, with the names as they are in a look that shows the same else: is somebody else meant? */
static enum fors_err compare_names(struct fors_worker *worker, struct fors_look *look)
{
	struct fors_worker_jobset *set = &worker->jobs.set, now = {.look = look};
	enum fors_err err = fors_worker_read_jobset(worker, &now, NULL);

	if (!err) {
		fors_worker_tell_names(worker, &now.list);
		if (fors_joblist_same(&set->list, fors_worker_jobset_seats(set), &now.list,
				      fors_worker_jobset_seats(&now)))
			fors_worker_renew_reasons(worker, &now.list);
		else
			worker->jobs.is_pending = true;
	}
	now.look = NULL; /* the caller's */
	fors_worker_clear_jobset(&now);
	return err;
}

/* Learn names, and see whether they mean others than the jobs were planned with. False: no memory. */
static bool see_to_names(struct fors_worker *worker, struct fors_look *look, uint64_t basis)
{
	struct fors_worker_jobs *jobs = &worker->jobs;
	bool is_good = fors_worker_learn_names(worker, look);

	if (is_good && jobs->names.is_open && look->kind == FORS_LOOK_INSTALLED) {
		if (jobs->text && jobs->set.is_planned && jobs->set.basis == basis)
			is_good = compare_names(worker, look) != FORS_ENOMEM;
		jobs->names.is_open = !is_good;
	}
	if (!is_good)
		fors_worker_run_short(worker);
	return is_good;
}

void fors_worker_do_jobs(struct fors_worker *worker, struct fors_look *look, bool was_early)
{
	struct fors_worker_jobs *jobs = &worker->jobs;
	uint64_t basis = fors_look_basis(look);

	note_settings(worker, look);
	if (!fors_jobpublisher_load(&jobs->publisher)) {
		fors_worker_run_short(worker);
		return;
	}
	if (!see_to_names(worker, look, basis))
		return;
	look_at_file(worker, look);
	fors_worker_inherit_entries(worker, look);
	if (!see_to_ahead(worker, look, basis, was_early))
		return;
	if (look->withdrawal && look->kind == FORS_LOOK_INSTALLED) {
		make_way(worker, look);
		return;
	}
	if ((!jobs->set.look || jobs->set.basis != basis || jobs->is_blocked) && !keep_right(worker, look))
		return;
	if (look->kind == FORS_LOOK_INSTALLED)
		decide(worker, look, basis);
	else
		set_blocked(jobs, jobs->is_blocked || look->kind == FORS_LOOK_INCOMPLETE || !jobs->set.look ||
					  jobs->set.basis != basis);
	if (!worker->is_short && !jobs->is_told)
		tell(worker, look);
	if (look->kind == FORS_LOOK_ROUTED && !worker->is_short)
		plan_ahead(worker, look, basis);
}

bool fors_worker_publish_jobs_early(struct fors_worker *worker)
{
	if (!fors_worker_take_jobs_ahead(worker, NULL))
		return false;
	set_blocked(&worker->jobs, false);
	worker->jobs.is_told = false;
	return true;
}

/* --- without a look ----------------------------------------------------------------------------------------------- */

void fors_worker_decline_jobs(struct fors_worker *worker, const char *reason)
{
	withdraw(worker, reason);
	worker->jobs.is_blocked = true;
	worker->jobs.is_told = true; /* by who declines */
}

void fors_worker_drop_jobs(struct fors_worker *worker)
{
	struct fors_worker_jobs *jobs = &worker->jobs;

	jobs->has_spoken = true;
	if (!*jobs->file && jobs->publisher.has_loaded)
		return;
	withdraw(worker, "jobs_file is not set in fors.conf");
	fors_worker_want_no_entries(worker);
	fors_worker_clear_jobset(&jobs->set);
	forget_text(jobs);
	jobs->file[0] = '\0';
}

void fors_worker_leave_jobs(struct fors_worker *worker)
{
	struct fors_worker_jobs *jobs = &worker->jobs;

	withdraw(worker, "this subnet manager is not the master");
	fors_worker_want_no_entries(worker);
	fors_worker_clear_jobset(&jobs->set);
	forget_text(jobs);
	jobs->has_spoken = false;
	jobs->is_blocked = true;
}

void fors_worker_outdate_jobs(struct fors_worker *worker, uint64_t changes)
{
	struct fors_worker_jobs *jobs = &worker->jobs;
	const struct fors_look *look = jobs->set.look;

	if (!look || !fors_look_is_foreign(look) || look->given->changes == changes || jobs->is_blocked ||
	    jobs->is_busy)
		return;						  /* who is busy is broken off, then this comes again */
	jobs->is_blocked = withdraw(worker, FORS_WORKER_CHANGED); /* else again, with the next tick */
}

/* The text is another, and the switches hold what the look shows. */
static void plan_pending(struct fors_worker *worker)
{
	struct fors_worker_jobs *jobs = &worker->jobs;

	if (!jobs->is_pending || jobs->is_blocked || !jobs->text)
		return;
	worker->look = jobs->set.look;
	worker->lost_mastership = false;
	fors_worker_plan_jobs(worker, NULL);
	worker->look = NULL;
	jobs->is_told = false;
}

void fors_worker_watch_jobs(struct fors_worker *worker)
{
	struct fors_worker_jobs *jobs = &worker->jobs;
	bool is_new = false, is_master = jobs->has_spoken && !worker->is_standby;

	if (is_master && *jobs->file && jobs->set.look) {
		look_at_file(worker, jobs->set.look);
		fors_worker_seek_entries(worker);
		plan_pending(worker);
		fors_worker_plan_at_leisure(worker);
	}
	fors_worker_write_names(worker);
	if (!fors_jobpublisher_tend(&jobs->publisher, is_master, &is_new))
		fors_worker_run_short(worker);
	if (is_master && *jobs->file && jobs->set.look && (is_new || !jobs->is_told) && !worker->is_short)
		tell(worker, jobs->set.look);
}
