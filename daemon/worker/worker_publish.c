/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What readers are told. A new epoch costs each of them something, so there is one only when the schedule is another:
 * whatever else is new (a cable, a warning, a state) is a new status beside the schedule that they have.
 */
#include "worker_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/schedule/schedule_file.h"
#include "daemon/base/clock.h"

/* What a look says of the fabric, in a status that the caller clears. */
static void fill_status(struct fors_worker *worker, const struct fors_look *look, enum fors_state state,
			const char *reason, struct fors_status *status)
{
	fors_status_init(status);
	status->state = state;
	snprintf(status->reason, sizeof(status->reason), "%s", reason);
	status->tables_ms = look->tables_ms;
	snprintf(status->tables_by, sizeof(status->tables_by), "%s", look->tables_by);
	status->check_ms = look->check_ms;
	status->warnings = look->warnings;
	status->failover = worker->failover.record;
	fors_status_slow(status, &look->slow);
	memcpy(worker->told_by, look->tables_by, sizeof(worker->told_by));
	fors_worker_fill_advice(worker, look, status);
	if (look->tree.kind && (fors_status_tree(status, &look->tree, NULL) ||
				fors_status_flaps(status, &look->tree, look->flap, look->nflaps, NULL)))
		fors_worker_run_short(worker);
	if (look->net)
		fors_others_text(look->net, status->not_hosts);
	fors_worker_fill_jobs(worker, status);
	fors_worker_fill_demand(worker, status);
	fors_worker_fill_jobdemands(worker, status);
}

/*
 * What slow links cost the schedule that the status speaks of, over the look's tables. Links that cost a flow its speed are
 * rare, and nothing is walked where there is none.
 */
static void fill_pace(struct fors_worker *worker, const struct fors_look *look, const struct fors_schedule *schedule,
		      struct fors_status *status)
{
	struct fors_pace pace;
	enum fors_err err;

	if (!schedule || !schedule->nphases || !look->net || !look->lfts)
		return;
	err = fors_pace_of(look->net, look->lfts, schedule, NULL, &pace, NULL);
	if (err)
		fors_worker_run_short(worker);
	else
		fors_status_pace(status, &pace);
}

/* Hand a status to the publisher, and a schedule, which is the publisher's then (NULL: it stays); the status is used up. */
static void publish(struct fors_worker *worker, struct fors_schedule *schedule, struct fors_status *status)
{
	if (!fors_publisher_publish(&worker->publisher, schedule, status))
		fors_worker_run_short(worker);
	fors_status_clear(status);
}

/* The plan in hand, with this status, which is used up; should it end a failover the status tells of that. */
static void publish_failover(struct fors_worker *worker, struct fors_status *status)
{
	struct fors_publisher *publisher = &worker->publisher;

	publisher->failover_ms = fors_worker_open_failover(worker);
	if (publisher->failover_ms > 0)
		status->failover = worker->failover.record;
	if (!fors_publisher_publish(publisher, fors_outcome_take(&worker->plan.outcome), status))
		fors_worker_run_short(worker);
	else if (publisher->failover_ms > 0)
		fors_worker_keep_failover(worker, &status->failover);
	publisher->failover_ms = 0;
	fors_status_clear(status);
}

/* What came of planning; there may be a shorter plan, for more memory than a plan may take. */
static void fill_outcome(const struct fors_look *look, const struct fors_outcome *outcome, struct fors_status *status)
{
	uint64_t wanted = outcome->wanted_bytes;

	status->plan_ms = outcome->plan_ms;
	status->lower_bound = outcome->lower_bound;
	status->lump_bound = outcome->lump_bound;
	status->tables_bound = outcome->tables_bound;
	status->lmc_needed = outcome->lmc_needed;
	if (wanted)
		fors_warn(&status->warnings,
			  "plan_memory: a plan of single flows may have fewer phases, but would take some %" PRIu64
			  " MiB, and the limit is %" PRIu64 ": this one is in whole units",
			  wanted >> 20, look->limits.bytes >> 20);
}

/* Remember what the schedule that was just published was planned for. */
static void note_published(struct fors_worker *worker, const struct fors_look *look)
{
	worker->published = (struct fors_worker_published){
		.epoch = worker->publisher.schedule ? worker->publisher.schedule->epoch : 0,
		.fingerprint = fors_look_fingerprint(look),
		.is_foreign = fors_look_is_foreign(look),
		.changes = look->given ? look->given->changes : 0,
		.limits = look->limits,
		.outcome = worker->plan.outcome};
	worker->published.outcome.plan = NULL;
	memcpy(worker->published.tables_by, look->tables_by, sizeof(look->tables_by));
	worker->view = fors_look_view(look);
}

void fors_worker_publish_plan(struct fors_worker *worker, const struct fors_look *look)
{
	struct fors_outcome *outcome = &worker->plan.outcome;
	struct fors_status status;

	fill_status(worker, look, FORS_ACTIVE, "", &status);
	fill_outcome(look, outcome, &status);
	if (fors_look_is_foreign(look))
		status.servers = outcome->plan->nservers; /* there is no fabric to count them in */
	fill_pace(worker, look, outcome->plan, &status);
	publish_failover(worker, &status);
	if (!worker->is_short) /* else the publisher may not have taken it */
		note_published(worker, look);
	fors_worker_forget_plan(worker);
}

void fors_worker_publish_status(struct fors_worker *worker, const struct fors_look *look, enum fors_state state,
				const char *reason)
{
	const struct fors_worker_published *published = &worker->published;
	const struct fors_schedule *schedule = worker->publisher.schedule;
	struct fors_status status;

	fill_status(worker, look, state, reason, &status);
	if (published->epoch && schedule && published->epoch == schedule->epoch) {
		fill_outcome(look, &published->outcome, &status);
		if (fors_look_is_foreign(look) && published->is_foreign)
			status.servers = schedule->nservers;
		fill_pace(worker, look, schedule, &status);
	}
	publish(worker, NULL, &status);
	worker->view = fors_look_view(look);
}

/* Do readers have a withdrawn schedule, with a status of this state beside it? */
static bool is_withdrawn(const struct fors_publisher *publisher, enum fors_state state)
{
	return publisher->has_status && publisher->schedule && !publisher->schedule->nphases &&
	       publisher->state == state;
}

/* The same, for this reason: the reason of planning may change without an epoch. */
static bool is_withdrawn_for(const struct fors_publisher *publisher, enum fors_state state, const char *reason)
{
	return is_withdrawn(publisher, state) && (state == FORS_PLANNING || !strcmp(publisher->reason, reason));
}

/* Would the withdrawal tell readers nothing that they do not know? */
static bool is_known(const struct fors_worker *worker, const struct fors_look *look, enum fors_state state,
		     const char *reason)
{
	return is_withdrawn(&worker->publisher, state) && !strcmp(worker->publisher.reason, reason) &&
	       (!fors_look_has_tables(look) || worker->view == fors_look_view(look));
}

/* Who routes in place of fors is known only when the sweep is over, and all else is told by then. */
static void tell_who_routes(struct fors_worker *worker, const struct fors_look *look)
{
	if (!*look->tables_by || !strcmp(look->tables_by, worker->told_by))
		return;
	if (fors_publisher_route(&worker->publisher, look->tables_by))
		memcpy(worker->told_by, look->tables_by, sizeof(worker->told_by));
}

void fors_worker_withdraw(struct fors_worker *worker, const struct fors_look *look, enum fors_state state,
			  const char *reason)
{
	struct fors_status status;

	if (is_known(worker, look, state, reason)) {
		tell_who_routes(worker, look);
		return;
	}
	fill_status(worker, look, state, reason, &status);
	if (state == FORS_FAILED)
		fill_outcome(look, &worker->plan.outcome, &status);
	if (fors_look_has_tables(look))
		worker->view = fors_look_view(look);
	if (is_withdrawn_for(&worker->publisher, state, reason)) {
		publish(worker, NULL, &status);
		return;
	}
	if (!fors_publisher_withdraw(&worker->publisher, &status))
		fors_worker_run_short(worker);
	fors_status_clear(&status);
}

/* Do readers know that this fabric has no schedule of its own? */
static bool is_fabric_known(const struct fors_publisher *publisher, uint64_t fingerprint)
{
	return publisher->schedule && !publisher->is_inherited && !publisher->schedule->nphases &&
	       publisher->schedule->fingerprint == fingerprint;
}

void fors_worker_publish_jobs(struct fors_worker *worker, const struct fors_look *look, enum fors_state state,
			      const char *reason)
{
	struct fors_schedule *nothing = NULL;
	struct fors_status status;

	if (!is_fabric_known(&worker->publisher, fors_look_fingerprint(look))) {
		if (fors_schedule_withdrawn(0, "jobs: each job has a schedule of its own, in jobs/NAME", &nothing,
					    NULL)) {
			fors_worker_run_short(worker);
			return;
		}
		nothing->fingerprint = fors_look_fingerprint(look);
	}
	fill_status(worker, look, state, reason, &status);
	publish(worker, nothing, &status);
	worker->view = fors_look_view(look);
}

/* The last word for now. */
static void publish_last(struct fors_worker *worker, uint64_t known_until_ms, const char *reason)
{
	struct fors_status status;

	if (!fors_publisher_recall(&worker->publisher, &status)) {
		fors_status_init(&status);
		fors_worker_fill_jobs(worker, &status);
	}
	fors_status_end(&status, (int64_t)known_until_ms);
	snprintf(status.reason, sizeof(status.reason), "%s", reason);
	publish(worker, NULL, &status);
}

void fors_worker_publish_blind(struct fors_worker *worker, uint64_t since, const char *reason)
{
	publish_last(worker, fors_clock_unix_ms() - (fors_clock_ms() - since), reason);
}

void fors_worker_publish_end(struct fors_worker *worker)
{
	char reason[FORS_ERROR_TEXT];

	snprintf(reason, sizeof(reason), "%s" FORS_REASON_ENDED,
		 worker->setup.source.program ? worker->setup.source.program : "opensm");
	publish_last(worker, fors_clock_unix_ms(), reason);
}
