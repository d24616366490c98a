/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How long a failover took, step by step: told with the schedule that it ends with, as far as it is known then, and once
 * more when the rest is known - copies, publish_command, the end of the sweep - or has not come in a while.
 *
 * It begins with the sweep that found the loss, even where that one met errors and a later one led to the schedule.
 */
#include "worker_inside.h"

#include "daemon/base/clock.h"

#define PATIENCE_MS 10000 /* how long the last steps are waited for */

void fors_worker_note_loss(struct fors_worker *worker, uint64_t number)
{
	struct fors_worker_failover *failover = &worker->failover;
	struct fors_steps_of steps;
	double begin;

	if (!fors_mail_steps(&worker->mail, number, &steps))
		return;
	begin = fors_steps_begin(&steps);
	if (begin <= 0)
		return; /* fors was loaded in the midst of it */
	failover->lost_in = steps.number;
	if (failover->lost_ms <= 0)
		failover->lost_ms = begin;
}

void fors_worker_forget_loss(struct fors_worker *worker)
{
	worker->failover.lost_in = 0;
	worker->failover.lost_ms = 0;
}

static void set(struct fors_worker_failover *failover, enum fors_step step, double at)
{
	if (at > 0)
		failover->record.ms[step] = at > failover->began_ms ? at - failover->began_ms : 0;
}

/* What is known of the failover by now. */
static void look(struct fors_worker *worker)
{
	struct fors_worker_failover *failover = &worker->failover;
	struct fors_copier_report *out = &failover->out;
	struct fors_steps_of steps;

	if (fors_mail_steps(&worker->mail, failover->number, &steps))
		for (unsigned i = 0; i < FORS_NSTEPS; i++)
			set(failover, (enum fors_step)i, steps.at[i]);
	if (!worker->setup.copier || failover->record.epoch < 0)
		return;
	fors_copier_read(worker->setup.copier, out);
	set(failover, FORS_STEP_COPIED, out->copied >= (uint64_t)failover->record.epoch ? out->copied_ms : 0);
	set(failover, FORS_STEP_COMMAND, out->ran_epoch >= (uint64_t)failover->record.epoch ? out->ran_ms : 0);
}

static bool is_whole(const struct fors_worker_failover *failover)
{
	const double *ms = failover->record.ms;

	return ms[FORS_STEP_UP] >= 0 && (!failover->out.has_dir || ms[FORS_STEP_COPIED] >= 0) &&
	       (!failover->out.has_command || ms[FORS_STEP_COMMAND] >= 0);
}

/* No more is waited for. */
static void close_record(struct fors_worker *worker)
{
	worker->failover.is_open = false;
	fors_failovers_add(&worker->publisher.counts.failovers, &worker->failover.record);
	if (!fors_publisher_measure(&worker->publisher, &worker->failover.record))
		fors_worker_run_short(worker);
}

double fors_worker_open_failover(struct fors_worker *worker)
{
	struct fors_worker_failover *failover = &worker->failover;

	if (!failover->lost_in)
		return 0;
	if (failover->is_open) /* the one before will not be whole any more */
		fors_failovers_add(&worker->publisher.counts.failovers, &failover->record);
	fors_failover_init(&failover->record);
	failover->is_open = false;
	failover->number = failover->lost_in;
	failover->began_ms = failover->lost_ms;
	failover->record.began_ms =
		(int64_t)((double)fors_clock_unix_ms() - (fors_clock_exact_ms() - failover->began_ms));
	look(worker);
	set(failover, FORS_STEP_PLANNED, worker->plan.proven_ms);
	return failover->began_ms;
}

void fors_worker_keep_failover(struct fors_worker *worker, const struct fors_failover *told)
{
	struct fors_worker_failover *failover = &worker->failover;

	fors_worker_forget_loss(worker);
	failover->record = *told;
	failover->is_open = told->epoch >= 0;
	failover->until_ms = fors_clock_ms() + PATIENCE_MS;
}

void fors_worker_watch_failover(struct fors_worker *worker)
{
	struct fors_worker_failover *failover = &worker->failover;

	if (!failover->is_open)
		return;
	look(worker);
	if (is_whole(failover) || fors_clock_ms() >= failover->until_ms)
		close_record(worker);
}
