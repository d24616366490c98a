/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The idea: a mailbox with room for one look (worker_mail.c), and a thread that looks into it.
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

#include "daemon/base/clock.h"
#include "daemon/base/log.h"

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

	fors_worker_see_to_duties(worker);
	return fors_mail_overtakes(&worker->mail, worker->look) || worker->lost_mastership ||
	       fors_worker_is_stale(worker, worker->look) || (worker->is_proving && fors_worker_is_outdated(worker));
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
	if (worker->is_short && worker->jobs.set.look != look && worker->demand.look != look) {
		if (worker->plan.ahead == look)
			worker->plan.ahead = NULL;
		worker->decided = 0;
		worker->retry = look;
		return;
	}
	worker->has_complained = false;
	if (look != worker->plan.ahead && look != worker->jobs.set.look && look != worker->demand.look &&
	    look != fors_worker_jobs_ahead(worker))
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

static void sync_files(struct fors_worker *worker)
{
	fors_publisher_sync(&worker->publisher);
	fors_jobpublisher_sync(&worker->jobs.publisher);
	fors_jobpublisher_sync(&worker->demand_publisher);
	fors_jobpublisher_sync(&worker->job_demands.publisher);
}

static void run(void *context)
{
	struct fors_worker *worker = context;
	struct fors_look *look;

	fors_publisher_open(&worker->publisher, worker->setup.log, &worker->folder, worker->setup.copier);
	worker->publisher.counts.opensm = worker->setup.source.version;
	fors_worker_jobs_open(worker);
	fors_worker_demand_open(worker);
	fors_worker_jobdemands_open(worker);
	while (fors_mail_wait(&worker->mail, worker->setup.tick_ms, &look, &worker->is_idle)) {
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
			sync_files(worker); /* nobody waits: now it may take as long as disks do */
	}
	fors_look_free(choose(worker, look));
	fors_worker_write_places(worker);
	worker->publisher.counts.has_left = __atomic_load_n(&worker->is_leaving, __ATOMIC_ACQUIRE);
	if (worker->publisher.counts.has_left)
		fors_worker_give_up(worker, FORS_REASON_LEFT);
	else if (!worker->is_standby)
		fors_worker_publish_end(worker);
	fors_worker_forget_plan(worker);
	fors_net_free(worker->up);
	fors_worker_jobdemands_close(worker);
	fors_worker_demand_close(worker);
	fors_worker_jobs_close(worker);
	fors_publisher_close(&worker->publisher);
}

static void free_worker(struct fors_worker *worker)
{
	fors_folder_clear(&worker->folder);
	fors_mail_close(&worker->mail);
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
	fors_mail_open(&made->mail);
	failed = fors_io_thread_start(&made->io, run, made);
	if (failed) {
		free_worker(made);
		return fors_fail(error, FORS_ENOMEM, "no thread for planning: %s", strerror(failed));
	}
	*worker = made;
	return FORS_OK;
}

uint64_t fors_worker_withdrawn(const struct fors_worker *worker)
{
	return __atomic_load_n(&worker->withdrawn, __ATOMIC_ACQUIRE);
}

void fors_worker_note_attended(struct fors_worker *worker, bool is_attended)
{
	__atomic_store_n(&worker->is_unattended, !is_attended, __ATOMIC_RELEASE);
}

void fors_worker_note_leaving(struct fors_worker *worker)
{
	__atomic_store_n(&worker->is_leaving, true, __ATOMIC_RELEASE);
}

void fors_worker_stop(struct fors_worker *worker)
{
	const char *source;
	struct fors_log *log;

	if (!worker)
		return;
	log = worker->setup.log;
	source = worker->setup.source.program ? worker->setup.source.program : "opensm";
	fors_mail_stop(&worker->mail);
	if (fors_io_thread_end(worker->io, LAST_MS))
		free_worker(worker);
	else
		fors_log_error(log, FORS_F_HANGS,
			       "the state folder does not answer; %s ends without having said so there", source);
}
