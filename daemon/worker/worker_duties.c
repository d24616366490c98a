/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the worker looks after whether or not there are looks. A plan may take minutes (method ilp), and the
 * planners ask every few milliseconds whether to go on: the worker uses these moments for its duties.
 */
#include "worker_inside.h"

#include "daemon/base/clock.h"

#define SWEEP_AGAIN_MS 20000

/* Whoever is master: what a restart needs must not wait for a plan. */
void fors_worker_write_places(struct fors_worker *worker)
{
	size_t size;
	char *text = fors_mail_take_places(&worker->mail, &size);

	if (text)
		fors_publisher_keep(&worker->publisher, text, size);
}

/* Somebody stands behind what is published: the master, who looks at the fabric. */
static void beat(struct fors_worker *worker)
{
	struct fors_mail_sweeps sweeps = fors_mail_sweeps(&worker->mail);

	worker->publisher.counts.sweeps = sweeps.ended;
	worker->publisher.counts.declines = sweeps.declines;
	if (worker->is_master && !fors_worker_why_blind(worker) &&
	    !__atomic_load_n(&worker->is_unattended, __ATOMIC_ACQUIRE))
		fors_publisher_beat(&worker->publisher);
}

/* Is it the master? As it is now. */
static enum fors_mastership ask_mastership(struct fors_worker *worker)
{
	enum fors_mastership mastership = worker->setup.source.mastership(worker->setup.source.context);

	worker->is_master = mastership == FORS_MASTER_YES;
	return mastership;
}

void fors_worker_see_to_duties(struct fors_worker *worker)
{
	uint64_t now = fors_clock_ms();

	fors_worker_heed_tables(worker);
	if (now < worker->duties_ms)
		return;
	worker->duties_ms = now + worker->setup.tick_ms;
	fors_worker_write_places(worker);
	fors_publisher_retry(&worker->publisher);
	worker->lost_mastership = ask_mastership(worker) == FORS_MASTER_NO;
	beat(worker);
}

void fors_worker_give_up(struct fors_worker *worker, const char *reason)
{
	static const struct fors_look nothing = {.kind = FORS_LOOK_DECLINED, .tables_ms = -1, .check_ms = -1};

	fors_worker_leave_jobs(worker);
	fors_worker_leave_demand(worker);
	fors_worker_leave_jobdemands(worker, reason);
	fors_worker_withdraw(worker, &nothing, FORS_INACTIVE, reason);
}

/* A master that hands over gets no event: only looking helps. */
static void watch_mastership(struct fors_worker *worker)
{
	enum fors_mastership mastership = ask_mastership(worker);

	worker->is_short = false;
	worker->is_blind &= mastership != FORS_MASTER_NO;
	worker->publisher.is_guest = mastership == FORS_MASTER_NO || worker->is_blind;
	if (mastership == FORS_MASTER_NO && !worker->is_standby)
		fors_worker_give_up(worker, FORS_REASON_STANDBY);
	if (mastership == FORS_MASTER_NO) {
		worker->is_early = false;
		fors_worker_note_up(worker, NULL); /* another one changes the fabric now */
	}
	worker->is_standby = mastership == FORS_MASTER_NO && !worker->is_short;
}

/* Have the source look again when a held cable may return; and again, should the sweep not come about. */
static void watch_held_cables(struct fors_worker *worker)
{
	uint64_t now = fors_clock_ms();

	if (!worker->due_ms || now < worker->due_ms || !worker->setup.source.sweep || worker->is_standby)
		return;
	worker->due_ms = now + SWEEP_AGAIN_MS;
	worker->setup.source.sweep(worker->setup.source.context);
}

/* In publish_dir the epoch has to grow from one subnet manager to the next, whatever their clocks say. */
static void watch_epochs(struct fors_worker *worker)
{
	struct fors_publisher *publisher = &worker->publisher;
	struct fors_copier_report report;

	if (!worker->setup.copier || worker->is_standby)
		return;
	fors_copier_read(worker->setup.copier, &report);
	if (fors_publisher_exceed(publisher, report.seen) && publisher->schedule && worker->published.epoch)
		worker->published.epoch = publisher->schedule->epoch;
}

void fors_worker_tend(struct fors_worker *worker)
{
	watch_mastership(worker);
	fors_worker_watch_looks(worker);
	fors_worker_heed_tables(worker);
	watch_held_cables(worker);
	watch_epochs(worker);
	fors_worker_take_advice(worker);
	fors_worker_watch_failover(worker);
	fors_worker_watch_jobs(worker);
	fors_worker_watch_jobdemands(worker);
	fors_worker_watch_demand(worker);
	fors_publisher_retry(&worker->publisher);
	beat(worker);
}
