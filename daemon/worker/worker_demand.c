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
#include <string.h>

#include "daemon/base/clock.h"
#include "daemon/base/log.h"

#define CHANGED "the fabric has changed; a schedule for it is being planned"
#define PLANNING "a schedule is being planned"
#define NOT_MASTER "this subnet manager is not the master"
#define NOT_NAMED "demand_file in fors.conf does not have this name"

/* The fabric's status, with what is new of the demand. */
static void tell(struct fors_worker *worker, const struct fors_look *look)
{
	struct fors_worker_demand *demand = &worker->demand;
	char reason[FORS_ERROR_TEXT];

	snprintf(reason, sizeof(reason), "%s", worker->publisher.reason);
	fors_worker_publish_status(worker, look, worker->publisher.state, reason);
	demand->is_told = !worker->is_short;
}

/* ---- looks ---- */

/* fors.conf names another file, or none. */
static void take_file(struct fors_worker *worker, const char *file)
{
	struct fors_worker_demand *demand = &worker->demand;

	if (!strcmp(demand->file, file))
		return;
	if (*demand->file)
		fors_worker_withdraw_demand(worker, demand,
					    *file ? "demand_file is another one in fors.conf"
						  : "demand_file is not set in fors.conf");
	fors_worker_forget_demand(demand);
	demand->is_told = false;
	if (!*file || !fors_demandname(file, demand->name))
		return;
	snprintf(demand->file, sizeof(demand->file), "%s", file);
	snprintf(demand->reason, sizeof(demand->reason), "%s", PLANNING);
	if (!fors_jobpublisher_take(demand->publisher, demand->name))
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
		fors_worker_withdraw_demand(worker, demand, look->reason);
		return;
	}
	basis = fors_look_basis(look);
	if ((basis != demand->planned || look->withdrawal) && fors_worker_demand_has_plan(demand))
		fors_worker_withdraw_demand(worker, demand, CHANGED);
	demand->is_blocked = basis != demand->basis || !demand->look || look->withdrawal;
}

void fors_worker_adopt_demand(struct fors_worker *worker, struct fors_look *look)
{
	struct fors_worker_demand *demand = &worker->demand;

	if (look->kind != FORS_LOOK_INSTALLED || look->withdrawal || worker->is_short)
		return;
	if (!*demand->file) {
		if (!demand->is_told && worker->publisher.has_status)
			tell(worker, look); /* that there is none any more */
		return;
	}
	if (fors_look_basis(look) != demand->tried)
		demand->is_pending = demand->text.at;
	if (fors_look_basis(look) != demand->basis)
		fors_worker_renew_demand(demand); /* over another fabric it may be good */
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
	fors_worker_withdraw_demand(worker, demand, FORS_WORKER_CHANGED);
}

void fors_worker_leave_demand(struct fors_worker *worker)
{
	struct fors_worker_demand *demand = &worker->demand;

	if (*demand->file)
		fors_worker_withdraw_demand(worker, demand, NOT_MASTER);
	fors_worker_forget_demand(demand);
	if (!fors_jobpublisher_load(demand->publisher) ||
	    !fors_jobpublisher_withdraw_all(demand->publisher, FORS_JOB_IS_WITHDRAWN, NOT_MASTER))
		fors_worker_run_short(worker);
}

/* ---- plans ---- */

/* The fabric's schedule, if it is over the tables of the look. */
static const struct fors_schedule *uniform_of(const struct fors_worker *worker)
{
	const struct fors_worker_published *published = &worker->published;
	const struct fors_publisher *publisher = &worker->publisher;
	bool is_ours = fors_publisher_has_plan(publisher) && published->epoch == publisher->schedule->epoch &&
		       published->fingerprint == fors_look_fingerprint(worker->demand.look);

	return is_ours ? publisher->schedule : NULL;
}

static void plan_pending(struct fors_worker *worker)
{
	struct fors_worker_demand *demand = &worker->demand;
	const struct fors_worker_site site = {.uniform = uniform_of(worker)};

	if (demand->is_blocked || fors_worker_is_stale(worker, demand->look))
		return;
	worker->look = demand->look;
	worker->lost_mastership = false;
	fors_worker_plan_demand(worker, demand, &site);
	worker->look = NULL;
	fors_worker_heed_tables(worker);
}

/* What an earlier opensm left of other demands is withdrawn; a day later the publisher removes it. */
static void end_others(struct fors_worker *worker)
{
	struct fors_worker_demand *demand = &worker->demand;
	bool is_good = fors_jobpublisher_load(demand->publisher);

	for (size_t i = 0; i < demand->publisher->count; i++) {
		struct fors_jobpublisher_item *item = demand->publisher->item[i];

		item->is_listed = !strcmp(item->told.name, demand->name);
		if (!item->is_listed && fors_jobpublisher_has_plan(item))
			is_good =
				fors_jobpublisher_withdraw(demand->publisher, item, FORS_JOB_IS_WITHDRAWN, NOT_NAMED) &&
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
		fors_worker_look_at_demand(worker, demand);
		if (demand->next.at || demand->is_pending)
			plan_pending(worker);
	}
	if (is_master)
		end_others(worker);
	if (!fors_jobpublisher_tend(demand->publisher, is_master, &is_new))
		fors_worker_run_short(worker);
	if (*demand->file && demand->look && !demand->is_blocked && !worker->is_standby &&
	    (is_new || !demand->is_told) && worker->publisher.has_status)
		tell(worker, demand->look);
}

/* ---- the rest ---- */

void fors_worker_fill_demand(const struct fors_worker *worker, struct fors_status *status)
{
	const struct fors_worker_demand *demand = &worker->demand;
	const struct fors_jobpublisher_item *item = fors_jobpublisher_find(demand->publisher, demand->name);

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
	struct fors_worker_demand *demand = &worker->demand;

	demand->publisher = &worker->demand_publisher;
	fors_jobpublisher_open(demand->publisher, &worker->publisher);
	demand->publisher->kind = FORS_KIND_DEMAND;
	demand->is_told = true;
}

void fors_worker_demand_close(struct fors_worker *worker)
{
	struct fors_worker_demand *demand = &worker->demand;

	fors_worker_forget_demand(demand);
	fors_jobs_file_stop(demand->reader);
	fors_jobpublisher_close(demand->publisher);
}
