/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What to mend first. The worker asks when it has said its last word on a fabric, and looks every tick whether there
 * is an answer; it never waits for one. The answer belongs to a basis: as long as a status is published for that basis
 * it has the answer in it.
 */
#include "worker_inside.h"

/* Is there something newer to do? */
static bool has_mail(struct fors_worker *worker)
{
	bool has;

	pthread_mutex_lock(&worker->mutex);
	has = worker->mail || worker->stop;
	pthread_mutex_unlock(&worker->mutex);
	return has;
}

void fors_worker_seek_advice(struct fors_worker *worker, const struct fors_job *job, uint64_t basis)
{
	const struct fors_board *board = &worker->board;

	if (!worker->setup.advisor || !job->fabric || (worker->gains.is_known && worker->advised == basis) ||
	    worker->decided != basis || board->state != FORS_ACTIVE || !fors_board_has_plan(board) || has_mail(worker))
		return;
	worker->gains = (struct fors_gains){.is_known = false};
	worker->advised = basis;
	fors_advisor_ask(worker->setup.advisor, job, board->schedule->nphases, basis);
}

void fors_worker_take_advice(struct fors_worker *worker)
{
	struct fors_gains gains;
	uint64_t basis;

	if (!worker->setup.advisor || !fors_advisor_take(worker->setup.advisor, &gains, &basis))
		return;
	if (basis != worker->advised || basis != worker->decided || worker->board.state != FORS_ACTIVE)
		return;
	worker->gains = gains;
	if (!fors_board_advise(&worker->board, &gains))
		worker->advised = 0; /* out of memory: the next look at the fabric asks again */
}
