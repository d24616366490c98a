/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The idea: a mailbox with room for one look, and a thread that looks into it.
 *
 * Each look carries a copy of all that it speaks of, so a look that overtakes another
 * makes the older one superfluous: the mailbox simply forgets it, and the plan in
 * progress is broken off when the newer look shows another fabric. worker_look.c says what comes of a look.
 *
 * Memory may run out anywhere. Then the look is tried again every second, until it
 * is done or a newer one comes: what readers see may be late, but it does not stay wrong.
 */
#include "config.h"

#include "worker_inside.h"

#ifdef HAVE_MALLOC_TRIM
#include <malloc.h>
#endif
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "keeper/base/clock.h"
#include "keeper/base/log.h"

#define LAST_MS 3000 /* what one write may take when opensm ends */

void fors_worker_run_short(struct fors_worker *worker)
{
	if (!worker->has_complained)
		fors_log_error(worker->setup.log, FORS_F_MEMORY,
			       "out of memory: what is published may be out of date; fors tries again every second");
	worker->has_complained = worker->is_short = true;
}

bool fors_worker_cancelled(void *context)
{
	struct fors_worker *worker = context;
	bool is_superfluous;

	fors_worker_see_to_duties(worker);
	pthread_mutex_lock(&worker->mutex);
	is_superfluous = worker->stop || (worker->mail && fors_look_overtakes(worker->mail, worker->look));
	pthread_mutex_unlock(&worker->mutex);
	return is_superfluous || worker->lost_mastership || fors_worker_is_stale(worker, worker->look) ||
	       (worker->is_proving && fors_worker_is_outdated(worker));
}

/* A plan takes memory for moments: give it back, so that opensm does not keep the most that any plan has taken. */
static void give_back_memory(void)
{
#ifdef HAVE_MALLOC_TRIM
	malloc_trim(0);
#endif
}

/* Takes the look. */
static void handle(struct fors_worker *worker, struct fors_look *look)
{
	worker->is_short = false;
	fors_worker_do(worker, look);
	if (worker->is_short && worker->jobs.set.look != look) {
		if (worker->plan.ahead == look)
			worker->plan.ahead = NULL;
		worker->decided = 0;
		worker->retry = look;
		return;
	}
	worker->has_complained = false;
	if (look != worker->plan.ahead && look != worker->jobs.set.look && look != fors_worker_jobs_ahead(worker))
		fors_look_free(look);
}

/* The look to work on, if any: the newest one, else the one to be tried again. */
static struct fors_look *choose(struct fors_worker *worker, struct fors_look *newest)
{
	struct fors_look *retry = worker->retry;

	worker->retry = NULL;
	if (!newest)
		return retry;
	fors_look_free(retry);
	return newest;
}

/* Wait for a look, a tick at most. False: the worker shall end. */
static bool wait_for_mail(struct fors_worker *worker, struct fors_look **look)
{
	uint64_t until = fors_clock_ms() + worker->setup.tick_ms;
	bool go_on;

	pthread_mutex_lock(&worker->mutex);
	while (!worker->mail && !worker->places && !worker->confirmed && !worker->stop && !worker->changed_ms &&
	       fors_clock_ms() < until)
		fors_clock_wait(&worker->wake, &worker->mutex, until);
	*look = worker->mail;
	worker->is_idle = !worker->mail && !worker->places && !worker->confirmed && !worker->changed_ms;
	worker->mail = NULL;
	go_on = !worker->stop;
	pthread_mutex_unlock(&worker->mutex);
	return go_on;
}

static void settle(struct fors_worker *worker)
{
	fors_board_sync(&worker->board);
	fors_jobboard_sync(&worker->jobs.board);
}

static void run(void *context)
{
	struct fors_worker *worker = context;
	struct fors_look *look;

	fors_board_open(&worker->board, worker->setup.log, &worker->folder, worker->setup.outbox);
	worker->board.counts.opensm = worker->setup.opensm;
	fors_worker_jobs_open(worker);
	while (wait_for_mail(worker, &look)) {
		fors_worker_heed_tables(worker);
		fors_worker_write_places(worker);
		look = choose(worker, look);
		if (look)
			handle(worker, look);
		fors_worker_publish_early(worker);
		if (look)
			give_back_memory(); /* which readers need not wait for */
		fors_worker_tend(worker);
		if (worker->is_idle)
			settle(worker); /* nobody waits: now it may take as long as disks do */
	}
	fors_look_free(choose(worker, look));
	fors_worker_write_places(worker);
	if (!worker->is_standby)
		fors_worker_publish_end(worker);
	fors_worker_forget_plan(worker);
	fors_net_free(worker->up);
	fors_worker_jobs_close(worker);
	fors_board_close(&worker->board);
}

static void free_worker(struct fors_worker *worker)
{
	fors_folder_clear(&worker->folder);
	fors_look_free(worker->mail);
	free(worker->places);
	fors_namebook_free(worker->reference_names);
	free(worker->forget);
	fors_claim_drop(worker->claim);
	pthread_cond_destroy(&worker->wake);
	pthread_mutex_destroy(&worker->mutex);
	free(worker);
}

enum fors_err fors_worker_start(const struct fors_worker_setup *setup, struct fors_worker **worker,
				struct fors_error *error)
{
	struct fors_worker *made = calloc(1, sizeof(*made));
	int failed;

	if (!made)
		return fors_fail_memory(error);
	made->setup = *setup;
	made->folder = *setup->folder;
	made->folder.parent = strdup(setup->folder->parent);
	if (!made->folder.parent) {
		free(made);
		return fors_fail_memory(error);
	}
	if (!made->setup.threads)
		made->setup.threads = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? 2 : 1;
	if (!made->setup.tick_ms)
		made->setup.tick_ms = 1000;
	fors_outcome_init(&made->plan.outcome);
	fors_failover_init(&made->failover.record);
	pthread_mutex_init(&made->mutex, NULL);
	fors_clock_cond(&made->wake);
	failed = fors_io_thread_start(&made->io, run, made);
	if (failed) {
		free_worker(made);
		return fors_fail(error, FORS_ENOMEM, "no thread for planning: %s", strerror(failed));
	}
	*worker = made;
	return FORS_OK;
}

/*
 * fors has declined, which is told with all that is known of the fabric; when the sweep is over another look says who
 * routes in its place, and nothing else. Should the first one still wait, it takes that over.
 */
static bool says_who_routes(const struct fors_look *look, const struct fors_look *waiting)
{
	return waiting && waiting->kind == FORS_LOOK_DECLINED && waiting->tree.kind &&
	       look->kind == FORS_LOOK_DECLINED && !look->net && !strcmp(look->reason, waiting->reason);
}

void fors_worker_submit(struct fors_worker *worker, struct fors_look *look)
{
	double now = fors_clock_exact_ms();
	struct fors_look *old;

	if (worker->setup.advisor)
		fors_advisor_look(worker->setup.advisor, look);
	pthread_mutex_lock(&worker->mutex);
	old = worker->mail;
	if (says_who_routes(look, old)) {
		memcpy(old->tables_by, look->tables_by, sizeof(old->tables_by));
		old = look;
	} else {
		fors_look_inherit(look, old);
		worker->mail = look;
	}
	worker->declines += look->kind == FORS_LOOK_DECLINED;
	if (look->kind == FORS_LOOK_ROUTED)
		fors_steps_note_filled(&worker->steps, look->number, now, look->tables_ms);
	pthread_cond_signal(&worker->wake);
	pthread_mutex_unlock(&worker->mutex);
	fors_look_free(old);
}

void fors_worker_note_tables(struct fors_worker *worker, uint64_t number)
{
	pthread_mutex_lock(&worker->mutex);
	worker->confirmed = number;
	pthread_cond_signal(&worker->wake);
	pthread_mutex_unlock(&worker->mutex);
}

void fors_worker_note_step(struct fors_worker *worker, enum fors_step step, double at)
{
	pthread_mutex_lock(&worker->mutex);
	fors_steps_note(&worker->steps, step, at);
	pthread_mutex_unlock(&worker->mutex);
}

void fors_worker_keep(struct fors_worker *worker, char *text, size_t size)
{
	char *old;

	pthread_mutex_lock(&worker->mutex);
	old = worker->places;
	worker->places = text;
	worker->places_size = size;
	pthread_cond_signal(&worker->wake);
	pthread_mutex_unlock(&worker->mutex);
	free(old);
}

void fors_worker_refer(struct fors_worker *worker, struct fors_namebook *names)
{
	struct fors_namebook *old;

	pthread_mutex_lock(&worker->mutex);
	old = worker->reference_names;
	worker->reference_names = names;
	pthread_mutex_unlock(&worker->mutex);
	fors_namebook_free(old);
}

void fors_worker_forget_names(struct fors_worker *worker, const uint64_t *guid, size_t count)
{
	uint64_t *more;

	pthread_mutex_lock(&worker->mutex);
	more = realloc(worker->forget, (worker->nforget + count) * sizeof(*more));
	if (more) {
		memcpy(more + worker->nforget, guid, count * sizeof(*more));
		worker->forget = more;
		worker->nforget += count;
	}
	pthread_mutex_unlock(&worker->mutex);
	if (!more)
		fors_log_error(worker->setup.log, FORS_F_MEMORY, "out of memory: nothing is forgotten; ask again");
}

uint64_t fors_worker_withdrawn(const struct fors_worker *worker)
{
	return __atomic_load_n(&worker->withdrawn, __ATOMIC_ACQUIRE);
}

void fors_worker_note_change(struct fors_worker *worker, const char *how)
{
	pthread_mutex_lock(&worker->mutex);
	worker->changes++;
	if (!worker->changed_ms) {
		worker->changed_ms = fors_clock_exact_ms();
		worker->changed_how = how;
	}
	pthread_cond_signal(&worker->wake);
	pthread_mutex_unlock(&worker->mutex);
}

uint64_t fors_worker_changes(struct fors_worker *worker)
{
	uint64_t changes;

	pthread_mutex_lock(&worker->mutex);
	changes = worker->changes;
	pthread_mutex_unlock(&worker->mutex);
	return changes;
}

void fors_worker_note_sweep(struct fors_worker *worker, enum fors_sweep sweep)
{
	uint64_t now = fors_clock_ms();

	pthread_mutex_lock(&worker->mutex);
	worker->sweeps += sweep == FORS_SWEEP_ENDS;
	if (sweep == FORS_SWEEP_ENDS && worker->sweep_since)
		worker->sweep_ms = now - worker->sweep_since;
	worker->sweep_since = sweep == FORS_SWEEP_BEGINS ? now : 0;
	pthread_mutex_unlock(&worker->mutex);
}

void fors_worker_stop(struct fors_worker *worker)
{
	struct fors_log *log;

	if (!worker)
		return;
	log = worker->setup.log;
	pthread_mutex_lock(&worker->mutex);
	worker->stop = true;
	pthread_cond_signal(&worker->wake);
	pthread_mutex_unlock(&worker->mutex);
	if (fors_io_thread_end(worker->io, LAST_MS))
		free_worker(worker);
	else
		fors_log_error(log, FORS_F_HANGS,
			       "the state folder does not answer; opensm ends without having said so there");
}
