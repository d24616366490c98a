/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The demand of fors.conf.
 *
 * The fabric's own schedule comes first, whatever the demand asks for: a plan for the demand begins when nothing else is to be done, in the tick, and
 * is broken off by any newer look. When tables change the demand's schedule is withdrawn at once, without a proof: programs follow the fabric's for the
 * moment, and a plan for a demand takes about a second. A wrong file leaves what there is.
 */
#include "worker_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/demand/answer.h"
#include "keeper/base/clock.h"
#include "keeper/base/log.h"

#define CHANGED "the fabric has changed; a schedule for it is being planned"
#define PLANNING "a schedule is being planned"
#define NOT_MASTER "this subnet manager is not the master"
#define NOT_NAMED "demand_file in fors.conf does not have this name"

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

/* `from` takes the place of `to`. */
static void move_text(struct fors_worker_text *from, struct fors_worker_text *to)
{
	drop_text(to);
	*to = *from;
	*from = (struct fors_worker_text){NULL, 0};
}

/* ---- what is published ---- */

static struct fors_jobboard_item *item_of(struct fors_worker_demand *demand)
{
	return *demand->name ? fors_jobboard_have(&demand->board, demand->name) : NULL;
}

static void withdraw(struct fors_worker *worker, const char *reason)
{
	struct fors_worker_demand *demand = &worker->demand;
	struct fors_jobboard_item *item = item_of(demand);

	demand->planned = demand->tried = 0;
	if (strncmp(demand->reason, reason, sizeof(demand->reason) - 1) != 0)
		demand->is_told = false;
	snprintf(demand->reason, sizeof(demand->reason), "%s", reason);
	if (*demand->name && (!item || !fors_jobboard_withdraw(&demand->board, item, FORS_JOB_IS_WITHDRAWN, reason)))
		fors_worker_run_short(worker);
}

/* Have readers a schedule, perhaps one that an earlier opensm left? */
static bool has_plan(struct fors_worker_demand *demand)
{
	const struct fors_jobboard_item *item = item_of(demand);

	return item && fors_jobboard_has_plan(item);
}

/* Something is wrong with the file: said in the log once, in the status as long as it lasts. */
static void complain(struct fors_worker *worker, const char *why)
{
	struct fors_worker_demand *demand = &worker->demand;

	if (!strncmp(demand->trouble, why, sizeof(demand->trouble) - 1))
		return;
	snprintf(demand->trouble, sizeof(demand->trouble), "%s", why);
	fors_log_error(worker->setup.log, FORS_F_DEMAND, "%s%s", why,
		       demand->text.at ? "; the demand of before stays" : "");
	demand->is_told = false;
}

static void relent(struct fors_worker *worker)
{
	struct fors_worker_demand *demand = &worker->demand;

	if (!*demand->trouble)
		return;
	fors_log_info(worker->setup.log, "the demand file is good again");
	demand->trouble[0] = '\0';
	demand->is_told = false;
}

/* The fabric's status, with what is new of the demand. */
static void tell(struct fors_worker *worker, const struct fors_look *look)
{
	struct fors_worker_demand *demand = &worker->demand;
	char reason[FORS_ERROR_TEXT];

	snprintf(reason, sizeof(reason), "%s", worker->board.reason);
	fors_worker_publish_status(worker, look, worker->board.state, reason);
	demand->is_told = !worker->is_short;
}

/* ---- looks ---- */

static void forget(struct fors_worker_demand *demand)
{
	drop_text(&demand->text);
	drop_text(&demand->next);
	drop_text(&demand->refused);
	demand->trouble[0] = demand->remark[0] = demand->reason[0] = demand->name[0] = demand->file[0] = '\0';
	demand->is_pending = false;
	fors_look_free(demand->look);
	demand->look = NULL;
	if (demand->reader)
		fors_jobs_file_forget(demand->reader);
}

/* fors.conf names another file, or none. */
static void take_file(struct fors_worker *worker, const char *file)
{
	struct fors_worker_demand *demand = &worker->demand;

	if (!strcmp(demand->file, file))
		return;
	if (*demand->file)
		withdraw(worker,
			 *file ? "demand_file is another one in fors.conf" : "demand_file is not set in fors.conf");
	forget(demand);
	demand->is_told = false;
	if (!*file || !fors_demandname(file, demand->name))
		return;
	snprintf(demand->file, sizeof(demand->file), "%s", file);
	snprintf(demand->reason, sizeof(demand->reason), "%s", PLANNING);
	if (!fors_jobboard_take(&demand->board, demand->name))
		fors_worker_run_short(worker);
}

void fors_worker_heed_demand(struct fors_worker *worker, const struct fors_look *look)
{
	struct fors_worker_demand *demand = &worker->demand;
	uint64_t basis;

	take_file(worker, look->demand_file);
	demand->is_named = true;
	if (!*demand->file)
		return;
	if (look->kind == FORS_LOOK_DECLINED || !fors_look_has_tables(look)) {
		demand->is_blocked = true;
		withdraw(worker, look->reason);
		return;
	}
	basis = fors_look_basis(look);
	if ((basis != demand->planned || look->withdrawal) && has_plan(demand))
		withdraw(worker, CHANGED);
	demand->is_blocked = basis != demand->basis || !demand->look || look->withdrawal;
}

void fors_worker_adopt_demand(struct fors_worker *worker, struct fors_look *look)
{
	struct fors_worker_demand *demand = &worker->demand;

	if (look->kind != FORS_LOOK_INSTALLED || look->withdrawal || worker->is_short)
		return;
	if (!*demand->file) {
		if (!demand->is_told && worker->board.has_status)
			tell(worker, look); /* that there is none any more */
		return;
	}
	if (fors_look_basis(look) != demand->tried)
		demand->is_pending = demand->text.at;
	if (fors_look_basis(look) != demand->basis && demand->refused.at && !demand->next.at)
		move_text(&demand->refused, &demand->next); /* over another fabric it may be good */
	if (demand->look != look)
		fors_look_free(demand->look);
	demand->look = look;
	demand->basis = fors_look_basis(look);
	demand->is_blocked = false;
}

void fors_worker_outdate_demand(struct fors_worker *worker, uint64_t changes)
{
	struct fors_worker_demand *demand = &worker->demand;
	const struct fors_look *look = demand->look;

	if (!look || !fors_look_is_foreign(look) || look->given->changes == changes || demand->is_blocked)
		return;
	demand->is_blocked = true;
	withdraw(worker, FORS_WORKER_CHANGED);
}

void fors_worker_leave_demand(struct fors_worker *worker)
{
	struct fors_worker_demand *demand = &worker->demand;

	if (*demand->file)
		withdraw(worker, NOT_MASTER);
	forget(demand);
	if (!fors_jobboard_load(&demand->board) ||
	    !fors_jobboard_withdraw_all(&demand->board, FORS_JOB_IS_WITHDRAWN, NOT_MASTER))
		fors_worker_run_short(worker);
}

/* ---- plans ---- */

static uint8_t level(void *context, uint32_t src_lid, uint32_t dst_lid)
{
	const struct fors_worker *worker = context;

	return fors_levels_find(worker->demand.look->given->levels, src_lid, dst_lid);
}

/* The fabric's schedule, if it is over the tables of the look. */
static const struct fors_schedule *uniform_of(const struct fors_worker *worker)
{
	const struct fors_worker_published *published = &worker->published;
	const struct fors_board *board = &worker->board;
	bool is_ours = fors_board_has_plan(board) && published->epoch == board->schedule->epoch &&
		       published->fingerprint == fors_look_fingerprint(worker->demand.look);

	return is_ours ? board->schedule : NULL;
}

/* Takes the schedule. FORS_OK: published, or why not is said. FORS_ENOMEM: to be tried again. */
static enum fors_err publish(struct fors_worker *worker, struct fors_schedule *schedule,
			     const struct fors_demand_report *report)
{
	struct fors_worker_demand *demand = &worker->demand;
	struct fors_jobboard_item *item = item_of(demand);
	struct fors_error error;
	enum fors_err err;

	if (!item) {
		fors_schedule_free(schedule);
		return FORS_ENOMEM;
	}
	snprintf(schedule->name, sizeof(schedule->name), "%s", demand->name + 1);
	schedule->fabric_epoch = worker->board.schedule ? worker->board.schedule->epoch : 0;
	err = fors_jobboard_publish(&demand->board, item, schedule, &error);
	if (err == FORS_ENOMEM)
		return err;
	demand->is_pending = demand->is_told = false;
	if (err) {
		withdraw(worker, error.text);
		demand->tried = demand->basis;
		return FORS_OK;
	}
	demand->planned = demand->tried = demand->basis;
	demand->over_bound = report->over_bound;
	demand->reason[0] = '\0';
	snprintf(demand->remark, sizeof(demand->remark), "%.250s",
		 report->warnings.count ? report->warnings.text[0] : "");
	fors_log_info(worker->setup.log, "demand %s: %u messages in %u phases, %.3f of the bound", demand->name + 1,
		      report->messages, report->nphases, report->over_bound);
	return FORS_OK;
}

/* FORS_OK: published, or why not is said. FORS_EINPUT: the text is no good; FORS_ECANCELLED, FORS_ENOMEM: to be tried again. */
static enum fors_err plan(struct fors_worker *worker, const struct fors_worker_text *text, struct fors_error *error)
{
	struct fors_worker_demand *demand = &worker->demand;
	const struct fors_look *look = demand->look;
	const struct fors_demand_task task = {.net = look->net,
					      .lfts = look->lfts,
					      .text = text->at,
					      .size = text->size,
					      .name = demand->file,
					      .uniform = uniform_of(worker),
					      .phase_cost = FORS_DEMAND_PHASE_COST,
					      .cancelled = fors_worker_cancelled,
					      .sl = look->given && look->given->levels ? level : NULL,
					      .context = worker,
					      .limits = look->limits};
	struct fors_demand_report report;
	struct fors_schedule *schedule;
	enum fors_err err;

	worker->is_proving = true; /* the fabric's schedule is being read: it has to stay */
	err = fors_demand_answer(&task, &schedule, &report, error);
	worker->is_proving = false;
	if (!err && fors_worker_cancelled(worker)) {
		fors_schedule_free(schedule);
		return FORS_ECANCELLED;
	}
	if (!err)
		err = publish(worker, schedule, &report);
	if (!err || err == FORS_EINPUT || err == FORS_ECANCELLED || err == FORS_ENOMEM)
		return err;
	demand->is_pending = false;
	withdraw(worker, error->text);
	demand->tried = demand->basis;
	fors_log_error(worker->setup.log, FORS_F_DEMAND, "demand %s: %s", demand->name + 1, error->text);
	return FORS_OK;
}

/* The newest text; one that is no good leaves that of before. */
static enum fors_err plan_next(struct fors_worker *worker, struct fors_error *error)
{
	struct fors_worker_demand *demand = &worker->demand;
	enum fors_err err = plan(worker, &demand->next, error);

	if (err == FORS_EINPUT) {
		complain(worker, error->text);
		move_text(&demand->next, &demand->refused);
		if (!demand->text.at)
			withdraw(worker, error->text);
	} else if (!err) {
		move_text(&demand->next, &demand->text);
		drop_text(&demand->refused);
		relent(worker);
	}
	return err;
}

static void plan_pending(struct fors_worker *worker)
{
	struct fors_worker_demand *demand = &worker->demand;
	struct fors_error error = {0};
	enum fors_err err = FORS_OK;

	if (demand->is_blocked || fors_worker_is_stale(worker, demand->look))
		return;
	worker->look = demand->look;
	worker->lost_mastership = false;
	if (demand->next.at)
		err = plan_next(worker, &error);
	if ((!err || err == FORS_EINPUT) && demand->is_pending && demand->text.at) {
		err = plan(worker, &demand->text, &error);
		if (err == FORS_EINPUT) {
			demand->is_pending = false;
			withdraw(worker, error.text);
			demand->tried = demand->basis;
		}
	}
	worker->look = NULL;
	if (err == FORS_ENOMEM)
		fors_worker_run_short(worker);
	fors_worker_heed_tables(worker);
}

/* ---- the file ---- */

static void take_text(struct fors_worker *worker, char *at, size_t size)
{
	struct fors_worker_demand *demand = &worker->demand;
	struct fors_worker_text text = {at, size};

	if (is_same(&demand->text, at, size)) {
		drop_text(&demand->next);
		drop_text(&demand->refused);
		drop_text(&text);
		relent(worker);
	} else if (is_same(&demand->refused, at, size) || is_same(&demand->next, at, size)) {
		drop_text(&text);
	} else {
		move_text(&text, &demand->next);
	}
}

static void look_at_file(struct fors_worker *worker)
{
	struct fors_worker_demand *demand = &worker->demand;
	struct fors_error error;
	char *text;
	size_t size;

	if (!demand->reader && fors_jobs_file_start(&demand->reader, NULL)) {
		fors_worker_run_short(worker);
		return;
	}
	switch (fors_jobs_file_look(demand->reader, demand->file, &text, &size, &error)) {
	case FORS_JOBS_SAME:
		break;
	case FORS_JOBS_NEW:
		take_text(worker, text, size);
		break;
	case FORS_JOBS_BAD:
	case FORS_JOBS_LATE:
		complain(worker, error.text);
		if (!demand->text.at)
			withdraw(worker, error.text);
		break;
	}
}

/* What an earlier opensm left of other demands is withdrawn; a day later the board removes it. */
static void end_others(struct fors_worker *worker)
{
	struct fors_worker_demand *demand = &worker->demand;
	bool is_good = fors_jobboard_load(&demand->board);

	for (size_t i = 0; i < demand->board.count; i++) {
		struct fors_jobboard_item *item = demand->board.item[i];

		item->is_listed = !strcmp(item->told.name, demand->name);
		if (!item->is_listed && fors_jobboard_has_plan(item))
			is_good = fors_jobboard_withdraw(&demand->board, item, FORS_JOB_IS_WITHDRAWN, NOT_NAMED) &&
				  is_good;
	}
	if (!is_good)
		fors_worker_run_short(worker);
}

void fors_worker_watch_demand(struct fors_worker *worker)
{
	struct fors_worker_demand *demand = &worker->demand;
	bool is_new = false, is_master = demand->is_named && !worker->is_standby;

	if (*demand->file && demand->look && !worker->is_standby) {
		look_at_file(worker);
		if (demand->next.at || demand->is_pending)
			plan_pending(worker);
	}
	if (is_master)
		end_others(worker);
	if (!fors_jobboard_tend(&demand->board, is_master, &is_new))
		fors_worker_run_short(worker);
	if (*demand->file && demand->look && !demand->is_blocked && !worker->is_standby &&
	    (is_new || !demand->is_told) && worker->board.has_status)
		tell(worker, demand->look);
}

/* ---- the rest ---- */

void fors_worker_fill_demand(const struct fors_worker *worker, struct fors_status *status)
{
	const struct fors_worker_demand *demand = &worker->demand;
	const struct fors_jobboard_item *item = NULL;

	for (size_t i = 0; i < demand->board.count; i++)
		if (!strcmp(demand->board.item[i]->told.name, demand->name))
			item = demand->board.item[i];
	if (!*demand->file)
		return;
	snprintf(status->demand, sizeof(status->demand), "%s", demand->name + 1);
	snprintf(status->demand_reason, sizeof(status->demand_reason), "%s", demand->reason);
	if (item && demand->planned) {
		status->demand_epoch = (int64_t)item->epoch;
		status->demand_phases = item->told.phases;
		status->demand_over_bound = demand->over_bound;
	}
	if (*demand->trouble)
		fors_warn(&status->warnings, "%s%s", demand->trouble,
			  demand->text.at ? "; the demand of before stays" : "; it has no schedule");
	if (*demand->remark && demand->planned)
		fors_warn(&status->warnings, "demand %s: %s", demand->name + 1, demand->remark);
}

void fors_worker_demand_open(struct fors_worker *worker)
{
	fors_jobboard_open(&worker->demand.board, &worker->board);
	worker->demand.board.is_demand = worker->demand.is_told = true;
}

void fors_worker_demand_close(struct fors_worker *worker)
{
	struct fors_worker_demand *demand = &worker->demand;

	forget(demand);
	fors_jobs_file_stop(demand->reader);
	fors_jobboard_close(&demand->board);
}
