/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One demand, the fabric's or that of a job: its file, its text, its plan. A wrong file leaves what there is; one that is gone ends the demand of a job.
 */
#include "worker_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/demand/answer.h"
#include "daemon/base/log.h"

/* ---- texts ---- */

static void drop_text(struct fors_worker_text *text)
{
	free(text->at);
	*text = (struct fors_worker_text){NULL, 0};
}

static bool is_same(const struct fors_worker_text *text, const char *at, size_t size)
{
	return text->at && text->size == size && !memcmp(text->at, at, size);
}

static void drop_texts(struct fors_worker_demand *demand)
{
	drop_text(&demand->text);
	drop_text(&demand->next);
	drop_text(&demand->refused);
	demand->is_pending = false;
}

/* `from` takes the place of `to`. */
static void move_text(struct fors_worker_text *from, struct fors_worker_text *to)
{
	drop_text(to);
	*to = *from;
	*from = (struct fors_worker_text){NULL, 0};
}

/* ---- what is published ---- */

static struct fors_jobpublisher_item *item_of(struct fors_worker_demand *demand)
{
	return *demand->name ? fors_jobpublisher_have(demand->publisher, demand->name) : NULL;
}

void fors_worker_withdraw_demand(struct fors_worker *worker, struct fors_worker_demand *demand, const char *reason)
{
	struct fors_jobpublisher_item *item = item_of(demand);

	demand->planned = demand->tried = 0;
	if (strncmp(demand->reason, reason, sizeof(demand->reason) - 1) != 0)
		demand->is_told = false;
	snprintf(demand->reason, sizeof(demand->reason), "%s", reason);
	if (*demand->name &&
	    (!item || !fors_jobpublisher_withdraw(demand->publisher, item, FORS_JOB_IS_WITHDRAWN, reason)))
		fors_worker_run_short(worker);
}

bool fors_worker_demand_has_plan(struct fors_worker_demand *demand)
{
	const struct fors_jobpublisher_item *item = item_of(demand);

	return item && fors_jobpublisher_has_plan(item);
}

/* Something is wrong with the file: said in the log once, in the status as long as it lasts. */
static void complain(struct fors_worker *worker, struct fors_worker_demand *demand, const char *why)
{
	if (!strncmp(demand->trouble, why, sizeof(demand->trouble) - 1))
		return;
	snprintf(demand->trouble, sizeof(demand->trouble), "%s", why);
	fors_log_error(worker->setup.log, FORS_F_DEMAND, "%s%s", why,
		       demand->text.at ? "; the demand of before stays" : "");
	demand->is_told = false;
}

static void relent(struct fors_worker *worker, struct fors_worker_demand *demand)
{
	if (!*demand->trouble)
		return;
	fors_log_info(worker->setup.log, "the demand file is good again");
	demand->trouble[0] = '\0';
	demand->is_told = false;
}

void fors_worker_forget_demand(struct fors_worker_demand *demand)
{
	drop_texts(demand);
	demand->trouble[0] = demand->remark[0] = demand->reason[0] = demand->name[0] = demand->file[0] = '\0';
	fors_look_free(demand->look);
	demand->look = NULL;
	if (demand->reader)
		fors_jobs_file_forget(demand->reader);
}

/* ---- plans ---- */

static uint8_t level(void *context, uint32_t src_lid, uint32_t dst_lid)
{
	const struct fors_worker *worker = context;

	return fors_levels_find(worker->look->given->levels, src_lid, dst_lid);
}

static const char *kind_of(const struct fors_worker_demand *demand)
{
	return demand->publisher->kind == FORS_KIND_JOBDEMAND ? "demand of job" : "demand";
}

/* Takes the schedule. FORS_OK: published, or why not is said. FORS_ENOMEM: to be tried again. */
static enum fors_err publish(struct fors_worker *worker, struct fors_worker_demand *demand,
			     struct fors_schedule *schedule, const struct fors_demand_report *report)
{
	struct fors_jobpublisher_item *item = item_of(demand);
	struct fors_error error;
	enum fors_err err;

	if (!item) {
		fors_schedule_free(schedule);
		return FORS_ENOMEM;
	}
	snprintf(schedule->name, sizeof(schedule->name), "%s", demand->name + 1);
	schedule->fabric_epoch = worker->publisher.schedule ? worker->publisher.schedule->epoch : 0;
	err = fors_jobpublisher_publish(demand->publisher, item, schedule, &error);
	if (err == FORS_ENOMEM)
		return err;
	demand->is_pending = demand->is_told = false;
	if (err) {
		fors_worker_withdraw_demand(worker, demand, error.text);
		demand->tried = demand->basis;
		return FORS_OK;
	}
	demand->planned = demand->tried = demand->basis;
	demand->over_bound = report->over_bound;
	demand->reason[0] = '\0';
	snprintf(demand->remark, sizeof(demand->remark), "%.250s",
		 report->warnings.count ? report->warnings.text[0] : "");
	fors_log_info(worker->setup.log, "%s %s: %u messages in %u phases, %.3f of the bound", kind_of(demand),
		      demand->name + 1, report->messages, report->nphases, report->over_bound);
	return FORS_OK;
}

/* FORS_OK: published, or why not is said. FORS_EINPUT: the text is no good; FORS_ECANCELLED, FORS_ENOMEM: to be tried again. */
static enum fors_err plan(struct fors_worker *worker, struct fors_worker_demand *demand,
			  const struct fors_worker_site *site, const struct fors_worker_text *text,
			  struct fors_error *error)
{
	const struct fors_look *look = worker->look;
	const struct fors_demand_task task = {.net = look->net,
					      .lfts = look->lfts,
					      .text = text->at,
					      .size = text->size,
					      .name = demand->file,
					      .uniform = site->uniform,
					      .phase_cost = FORS_DEMAND_PHASE_COST,
					      .cancelled = fors_worker_cancelled,
					      .sl = look->given && look->given->levels ? level : NULL,
					      .context = worker,
					      .limits = look->limits,
					      .part = site->part,
					      .names = site->part.job ? worker->jobs.names.book : NULL};
	struct fors_demand_report report;
	struct fors_schedule *schedule;
	enum fors_err err;

	worker->is_proving = worker->jobs.is_busy = true; /* schedules are being read: they have to stay */
	err = fors_demand_answer(&task, &schedule, &report, error);
	worker->is_proving = worker->jobs.is_busy = false;
	if (!err && fors_worker_cancelled(worker)) {
		fors_schedule_free(schedule);
		return FORS_ECANCELLED;
	}
	if (!err)
		err = publish(worker, demand, schedule, &report);
	if (!err || err == FORS_EINPUT || err == FORS_ECANCELLED || err == FORS_ENOMEM)
		return err;
	demand->is_pending = false;
	fors_worker_withdraw_demand(worker, demand, error->text);
	demand->tried = demand->basis;
	fors_log_error(worker->setup.log, FORS_F_DEMAND, "%s %s: %s", kind_of(demand), demand->name + 1, error->text);
	return FORS_OK;
}

/* The newest text; one that is no good leaves that of before. */
static enum fors_err plan_next(struct fors_worker *worker, struct fors_worker_demand *demand,
			       const struct fors_worker_site *site, struct fors_error *error)
{
	enum fors_err err = plan(worker, demand, site, &demand->next, error);

	if (err == FORS_EINPUT) {
		complain(worker, demand, error->text);
		move_text(&demand->next, &demand->refused);
		if (!demand->text.at)
			fors_worker_withdraw_demand(worker, demand, error->text);
	} else if (!err) {
		move_text(&demand->next, &demand->text);
		drop_text(&demand->refused);
		relent(worker, demand);
	}
	return err;
}

enum fors_err fors_worker_plan_demand(struct fors_worker *worker, struct fors_worker_demand *demand,
				      const struct fors_worker_site *site)
{
	struct fors_error error = {0};
	enum fors_err err = FORS_OK;

	if (demand->next.at)
		err = plan_next(worker, demand, site, &error);
	if ((!err || err == FORS_EINPUT) && demand->is_pending && demand->text.at) {
		err = plan(worker, demand, site, &demand->text, &error);
		if (err == FORS_EINPUT) {
			demand->is_pending = false;
			fors_worker_withdraw_demand(worker, demand, error.text);
			demand->tried = demand->basis;
		}
	}
	if (err == FORS_ENOMEM)
		fors_worker_run_short(worker);
	return err;
}

void fors_worker_renew_demand(struct fors_worker_demand *demand)
{
	if (demand->refused.at && !demand->next.at)
		move_text(&demand->refused, &demand->next);
}

/* ---- the file ---- */

static void take_text(struct fors_worker *worker, struct fors_worker_demand *demand, char *at, size_t size)
{
	struct fors_worker_text text = {at, size};

	if (is_same(&demand->text, at, size)) {
		drop_text(&demand->next);
		drop_text(&demand->refused);
		drop_text(&text);
		relent(worker, demand);
	} else if (is_same(&demand->refused, at, size) || is_same(&demand->next, at, size)) {
		drop_text(&text);
	} else {
		move_text(&text, &demand->next);
	}
}

/* The file cannot be read. */
static void lose(struct fors_worker *worker, struct fors_worker_demand *demand, const char *why)
{
	complain(worker, demand, why);
	if (!demand->text.at)
		fors_worker_withdraw_demand(worker, demand, why);
}

void fors_worker_look_at_demand(struct fors_worker *worker, struct fors_worker_demand *demand)
{
	struct fors_error error;
	char *text;
	size_t size;

	if (fors_jobs_file_have(&demand->reader, demand->file, NULL)) {
		fors_worker_run_short(worker);
		return;
	}
	switch (fors_jobs_file_look(demand->reader, demand->file, &text, &size, &error)) {
	case FORS_JOBS_SAME:
		break;
	case FORS_JOBS_NEW:
		take_text(worker, demand, text, size);
		break;
	case FORS_JOBS_BAD:
		if (demand->publisher->kind == FORS_KIND_JOBDEMAND)
			drop_texts(demand);
		lose(worker, demand, error.text);
		break;
	case FORS_JOBS_LATE:
		lose(worker, demand, error.text);
		break;
	}
}
