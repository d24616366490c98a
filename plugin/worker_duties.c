/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the worker looks after whether or not there are jobs. A plan may take minutes (method ilp), and the
 * planners ask every few milliseconds whether to go on: the worker uses these moments for its duties.
 */
#include "worker_inside.h"

#include "clock.h"

#define SWEEP_AGAIN_MS 20000

/* Whoever is master: what a restart needs must not wait for a plan. */
void fors_worker_write_places(struct fors_worker *worker)
{
	char *text;
	size_t size;

	pthread_mutex_lock(&worker->mutex);
	text = worker->places;
	size = worker->places_size;
	worker->places = NULL;
	pthread_mutex_unlock(&worker->mutex);
	if (text)
		fors_board_keep(&worker->board, text, size);
}

void fors_worker_see_to_duties(struct fors_worker *worker)
{
	uint64_t now = fors_clock_ms();

	if (now < worker->duties_ms)
		return;
	worker->duties_ms = now + worker->setup.tick_ms;
	fors_worker_write_places(worker);
	worker->lost_mastership = worker->setup.mastership(worker->setup.context) == FORS_MASTER_NO;
	if (!worker->lost_mastership)
		fors_board_beat(&worker->board);
}

/* A master that hands over gets no event: only looking helps. */
static void watch_mastership(struct fors_worker *worker)
{
	static const struct fors_job nothing = {.kind = FORS_JOB_DECLINED, .tables_ms = -1};
	enum fors_mastership mastership = worker->setup.mastership(worker->setup.context);

	worker->is_short = false;
	worker->board.is_guest = mastership == FORS_MASTER_NO;
	if (mastership == FORS_MASTER_NO && !worker->is_standby)
		fors_worker_withdraw(worker, &nothing, FORS_INACTIVE, "this subnet manager is not the master");
	worker->is_standby = mastership == FORS_MASTER_NO && !worker->is_short;
}

/* Have the engine look again when a held cable may return; and again, should the sweep not come about. */
static void watch_held_cables(struct fors_worker *worker)
{
	uint64_t now = fors_clock_ms();

	if (!worker->due_ms || now < worker->due_ms || !worker->setup.sweep || worker->is_standby)
		return;
	worker->due_ms = now + SWEEP_AGAIN_MS;
	worker->setup.sweep(worker->setup.context);
}

/* In publish_dir the epoch has to grow from one subnet manager to the next, whatever their clocks say. */
static void watch_epochs(struct fors_worker *worker)
{
	struct fors_board *board = &worker->board;

	if (!worker->setup.outbox || worker->is_standby)
		return;
	if (fors_board_exceed(board, fors_outbox_seen(worker->setup.outbox)) && board->schedule &&
	    worker->published.epoch)
		worker->published.epoch = board->schedule->epoch;
}

void fors_worker_watch(struct fors_worker *worker)
{
	watch_mastership(worker);
	watch_held_cables(worker);
	watch_epochs(worker);
	fors_board_retry(&worker->board);
	if (!worker->is_standby)
		fors_board_beat(&worker->board);
}
