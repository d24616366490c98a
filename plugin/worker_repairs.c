/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What to mend first. The worker asks when it has said its last word on a fabric: there is a plan, or fors has
 * declined because leaves have no spine in common. It looks every tick whether there is an answer, and never waits for
 * one. The answer belongs to a basis: each status that is published about the same has it in it.
 */
#include "worker_inside.h"

#include "log.h"

/* What a question about this job is called: of a declined one there are no tables, and no plan. */
static uint64_t basis_of(const struct fors_job *job)
{
	return job->kind == FORS_JOB_DECLINED ? fors_job_tree(job) : fors_job_basis(job);
}

/* Has another fabric been seen meanwhile? */
static bool is_old(struct fors_worker *worker, const struct fors_job *job)
{
	const struct fors_job *mail;
	bool is_old;

	pthread_mutex_lock(&worker->mutex);
	mail = worker->mail;
	is_old = worker->stop ||
		 (mail && fors_job_has_tables(mail) && fors_job_fingerprint(mail) != fors_job_fingerprint(job));
	pthread_mutex_unlock(&worker->mutex);
	return is_old;
}

/* Do readers know what there is to know of the job? */
static bool is_last_word(const struct fors_worker *worker, const struct fors_job *job, uint64_t basis)
{
	if (job->kind == FORS_JOB_DECLINED)
		return worker->board.state == FORS_INACTIVE;
	return worker->board.state == FORS_ACTIVE && worker->decided == basis && fors_board_has_plan(&worker->board);
}

void fors_worker_seek_advice(struct fors_worker *worker, const struct fors_job *job)
{
	uint64_t basis;

	if (!worker->setup.advisor || !fors_job_tree(job) || is_old(worker, job))
		return;
	basis = basis_of(job);
	if (!is_last_word(worker, job, basis) || (worker->gains.is_known && worker->advised == basis))
		return;
	worker->gains = (struct fors_gains){.is_known = false};
	worker->advised = basis;
	worker->advised_in = worker->board.state;
	fors_advisor_ask(worker->setup.advisor, job,
			 worker->board.state == FORS_ACTIVE ? worker->board.schedule->nphases : 0, basis);
}

void fors_worker_fill_advice(const struct fors_worker *worker, const struct fors_job *job, struct fors_status *status)
{
	if (worker->gains.is_known && status->state == worker->advised_in && fors_job_tree(job) &&
	    basis_of(job) == worker->advised)
		status->repairs = worker->gains;
}

void fors_worker_take_advice(struct fors_worker *worker)
{
	struct fors_gains gains;
	uint64_t basis;

	if (!worker->setup.advisor || !fors_advisor_take(worker->setup.advisor, &gains, &basis))
		return;
	if (basis != worker->advised || worker->board.state != worker->advised_in || worker->is_standby ||
	    (worker->board.state == FORS_ACTIVE && basis != worker->decided))
		return;
	worker->gains = gains;
	if (fors_board_advise(&worker->board, &gains))
		return;
	worker->advised = 0;
	fors_log_error(
		worker->setup.log, FORS_F_MEMORY,
		"out of memory: the status does not name repairs; they are looked for again after the next sweep");
}
