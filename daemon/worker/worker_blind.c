/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Does anybody look at the fabric? What is published holds until something changes there, and who does not look does
 * not see it change. So this is told as the end of the program is: the schedule stays, the heartbeat stops, and in a
 * publish_dir nothing is written over what another subnet manager has put there since.
 *
 * A quiet OpenSM sweeps every sweep_interval, and tells nobody as long as it finds nothing new: only its count of
 * requests grows. Heavy sweeps begin with a word and end with one. One that fails ends without a word - its port is
 * down, the fabric does not answer - and the next one begins (where fors declines there is a look); with its port down it also goes
 * back to discovering. Before a sweep has failed, a running one is looking, however long it takes; but for one that hangs.
 */
#include "worker_inside.h"

#include <stdio.h>
#include <string.h>

#include "daemon/base/clock.h"
#include "daemon/base/log.h"

#define SWEEP_MAX_MS 60000 /* no heavy sweep hangs before, nor before it took SWEEP_FACTOR times the last one */
#define SWEEP_FACTOR 10

static bool hangs(const struct fors_mail_sweeps *sweeps)
{
	uint64_t allowed = SWEEP_FACTOR * sweeps->last_ms;

	if (allowed < SWEEP_MAX_MS)
		allowed = SWEEP_MAX_MS;
	return sweeps->since && fors_clock_ms() > sweeps->since + allowed;
}

/* When it was seen last that somebody looks, by fors_clock_ms(). What is asked in a heavy sweep says nothing before that ends. */
static uint64_t last_looked(struct fors_worker *worker, const struct fors_mail_sweeps *sweeps, uint64_t asked)
{
	if (asked != worker->asked && !sweeps->is_open)
		worker->asked_ms = fors_clock_ms();
	worker->asked = asked;
	return worker->asked_ms > sweeps->ended_ms ? worker->asked_ms : sweeps->ended_ms;
}

/* Two intervals without a look, less what the worker's own tick and the publication take. */
static bool is_late(const struct fors_looking *now, uint64_t looked_ms)
{
	uint64_t allowed = now->interval_ms / 4 * 7;

	if (allowed < now->interval_ms + 1000)
		allowed = now->interval_ms + 1000;
	return now->interval_ms && fors_clock_ms() > looked_ms + allowed;
}

/* The same as fors_worker_why_blind(), with the time when somebody looked last. */
static const char *find_why(struct fors_worker *worker, uint64_t *looked_ms)
{
	struct fors_mail_sweeps sweeps = fors_mail_sweeps(&worker->mail);
	struct fors_looking now = {.is_off = false};
	bool is_broken_off = sweeps.is_open && !sweeps.since;

	if (worker->setup.source.looking)
		worker->setup.source.looking(worker->setup.source.context, &now);
	*looked_ms = last_looked(worker, &sweeps, now.asked);
	if (!worker->is_master && (is_broken_off || sweeps.has_failed))
		return "opensm has broken off a sweep, and is not the master any more (is its port up, its cable alive?)";
	if (sweeps.has_failed)
		return "opensm's sweeps fail: see its log";
	if (hangs(&sweeps))
		return "a heavy sweep of OpenSM does not end: see its log, and its threads";
	if (now.is_off && !sweeps.is_open)
		return "opensm's sweeps are switched off: type sweep on at its console";
	if (is_late(&now, *looked_ms) && !sweeps.is_open)
		return "opensm has not swept for two sweep intervals: see its log, and its threads";
	return NULL;
}

const char *fors_worker_why_blind(struct fors_worker *worker)
{
	uint64_t looked_ms;

	return find_why(worker, &looked_ms);
}

/* Somebody looks again. That tells nothing new of the fabric before a heavy sweep ends, and one is asked for. */
static void see_again(struct fors_worker *worker)
{
	worker->is_blind = worker->publisher.is_guest = false;
	fors_log_info(worker->setup.log, "OpenSM sweeps again; the heartbeat goes on");
	if (!strncmp(worker->publisher.reason, FORS_REASON_BLIND, strlen(FORS_REASON_BLIND)))
		worker->due_ms = fors_clock_ms();
}

void fors_worker_watch_looks(struct fors_worker *worker)
{
	uint64_t looked_ms;
	const char *why = find_why(worker, &looked_ms);
	char reason[FORS_ERROR_TEXT];

	if (!why && worker->is_blind)
		see_again(worker);
	if (!why || worker->is_blind || worker->is_standby || !worker->publisher.has_status)
		return;
	worker->publisher.is_guest = true;
	snprintf(reason, sizeof(reason), FORS_REASON_BLIND "%s", why);
	fors_worker_publish_blind(worker, looked_ms, reason);
	worker->is_blind = !worker->is_short;
	if (worker->is_blind)
		fors_log_error(worker->setup.log, FORS_F_SWEEP, "%s; failures are not repaired, the heartbeat stops",
			       reason);
}
