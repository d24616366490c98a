/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables that another engine made (schedule_over = any).
 *
 * fors does not write them, so it cannot know beforehand when they change: OpenSM says so (LFT_CHANGE) when a switch
 * has confirmed the first new block. From then on two flows of a phase may meet, and what is published is withdrawn
 * before anything else is done, a plan broken off for it. How long that took is in the log, and where the time went,
 * for who finds it long: until the worker came to it, and writing the files. A new plan is made when the sweep is
 * complete.
 *
 * Draining, held cables and path indices for each lane are what fors does with tables of its own. Here there is a plan
 * over the tables as they are, or none.
 */
#include "worker_inside.h"

#include <stdio.h>
#include <string.h>

#include "daemon/base/clock.h"
#include "daemon/base/log.h"

bool fors_worker_is_stale(struct fors_worker *worker, const struct fors_look *look)
{
	return look && fors_look_is_foreign(look) && fors_worker_changes(worker) != look->given->changes;
}

/* Is what readers have over tables that may have changed? What an earlier opensm left may be over any. */
static bool is_outdated(const struct fors_worker *worker, uint64_t changes)
{
	const struct fors_publisher *publisher = &worker->publisher;
	const struct fors_worker_published *published = &worker->published;

	if (!fors_publisher_has_plan(publisher))
		return worker->outdated.since_ms &&
		       publisher->state == FORS_ACTIVE; /* there was no memory for the status */
	if (publisher->is_inherited)
		return changes > 0;
	return published->is_foreign && published->epoch == publisher->schedule->epoch && published->changes != changes;
}

bool fors_worker_is_outdated(struct fors_worker *worker)
{
	return is_outdated(worker, fors_worker_changes(worker));
}

/* When readers could see it, and what came before and after: the log names the cause, should it have taken long. */
static void tell(struct fors_worker *worker, double start)
{
	double noted = worker->outdated.since_ms, seen = worker->publisher.seen_ms, now = fors_clock_exact_ms();

	if (!fors_publisher_is_seen(&worker->publisher)) {
		fors_log_error(
			worker->setup.log, FORS_F_PUBLISH,
			"the tables of '%s' change (%s), and readers cannot be told: the withdrawal of their schedule is not written",
			worker->published.tables_by, worker->outdated.how);
		return;
	}
	if (seen < start)
		seen = now;
	fors_log_info(
		worker->setup.log,
		"the tables of '%s' change (%s): schedule withdrawn after %.2f ms (noticed after %.2f ms, written in %.2f ms), status in %.1f ms",
		worker->published.tables_by, worker->outdated.how, seen - noted, start - noted, seen - start,
		now - noted);
}

static void withdraw(struct fors_worker *worker)
{
	struct fors_look nothing = {.kind = FORS_LOOK_DECLINED, .tables_ms = -1, .check_ms = -1};
	double start = fors_clock_exact_ms();

	snprintf(nothing.tables_by, sizeof(nothing.tables_by), "%s", worker->published.tables_by);
	fors_worker_withdraw(worker, &nothing, FORS_PLANNING, FORS_WORKER_CHANGED);
	if (fors_publisher_has_plan(&worker->publisher) || worker->publisher.state == FORS_ACTIVE)
		return; /* out of memory: the next tick tries again */
	tell(worker, start);
	worker->outdated.since_ms = 0;
}

void fors_worker_heed_tables(struct fors_worker *worker)
{
	struct fors_mail_changes changes;

	if (worker->is_proving)
		return; /* the proof is broken off, then this comes again */
	changes = fors_mail_take_changes(&worker->mail);
	if (changes.noted_ms && !worker->outdated.since_ms)
		worker->outdated.how = changes.how;
	fors_worker_outdate_jobs(worker, changes.count);
	fors_worker_outdate_demand(worker, changes.count);
	fors_worker_check_jobdemands(worker);
	if (!is_outdated(worker, changes.count)) {
		worker->outdated.since_ms = 0;
		return;
	}
	if (!worker->outdated.since_ms)
		worker->outdated.since_ms = changes.noted_ms ? changes.noted_ms : fors_clock_exact_ms();
	withdraw(worker);
}
