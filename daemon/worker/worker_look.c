/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What comes of one look.
 *
 *	ROUTED		tables are on their way: does the published schedule hold over them? Plan and prove meanwhile
 *	INSTALLED	the switches hold them: decide. Publish the plan, or that there is none
 *	INCOMPLETE	the sweep met errors, another follows: keep what is right, publish nothing new
 *	DECLINED	withdraw
 *
 * Over another engine's tables there is INSTALLED and INCOMPLETE only: the tables are looked at when they are in the
 * switches. Should they change before the plan is out the look is stale, and nothing comes of it.
 *
 * A look with the basis that was decided changes nothing, so a sweep of an unchanged fabric leaves no trace. With
 * another basis the published schedule is first proven over the new tables: it stays while it is still right
 * (entries on living home lanes never move, so it often is), else it is withdrawn at once. Nothing unproven stays with
 * readers.
 */
#include "worker_inside.h"

#include <stdio.h>
#include <string.h>

#include "daemon/base/clock.h"
#include "daemon/base/log.h"

#define SHORT_MS 50 /* a plan that takes longer waits for the status to be written */

/* Keep the published schedule while it is right over the look's tables, else withdraw it; not when a newer look came. */
static void keep_or_withdraw(struct fors_worker *worker, const struct fors_look *look, const char *reason)
{
	bool is_right = false;

	if (fors_publisher_has_plan(&worker->publisher) &&
	    fors_worker_prove_published(worker, look, &is_right) == FORS_ECANCELLED)
		return;
	if (!is_right)
		fors_worker_withdraw(worker, look, FORS_PLANNING, reason);
	else if (worker->publisher.state != FORS_PLANNING || strcmp(worker->publisher.reason, reason) ||
		 worker->view != fors_look_view(look))
		fors_worker_publish_status(worker, look, FORS_PLANNING, reason);
}

/* Why there is no new schedule yet. While OpenSM sweeps a fabric with errors again and again the reason stays. */
static const char *why_planning(const struct fors_worker *worker, const struct fors_look *look)
{
	if (worker->incomplete && worker->incomplete == fors_look_fingerprint(look) &&
	    worker->publisher.state == FORS_PLANNING)
		return worker->publisher.reason;
	if (fors_look_is_foreign(look) && worker->publisher.state == FORS_PLANNING &&
	    !strcmp(worker->publisher.reason, FORS_WORKER_CHANGED))
		return worker->publisher.reason; /* no news, for a moment */
	if (fors_look_is_foreign(look))
		return "a schedule over the tables of another routing engine is being planned";
	return worker->publisher.schedule ? "the fabric has changed; a schedule for it is being planned"
					  : "a schedule is being planned";
}

/* There is no plan that readers may have: say why, to the log too. */
static void fail(struct fors_worker *worker, const struct fors_look *look, enum fors_code code, const char *why,
		 const char *reason)
{
	fors_log_error(worker->setup.log, code, "%s", why);
	fors_worker_withdraw(worker, look, FORS_FAILED, reason);
}

/* Why there is no plan: with the setting that is to blame, where one may be. */
static void fail_without_plan(struct fors_worker *worker, const struct fors_look *look)
{
	const char *why = worker->plan.outcome.error.text;
	char reason[FORS_ERROR_TEXT];

	if (look->fabric && !look->fabric->nservers && look->chosen_by)
		snprintf(reason, sizeof(reason), "%s leaves nobody: %.400s", look->chosen_by, why);
	else if (strcmp(fors_method_of(&look->limits), "auto") != 0)
		snprintf(reason, sizeof(reason), "method = %s (fors.conf): %.400s", look->limits.method, why);
	else
		snprintf(reason, sizeof(reason), "%s", why);
	fail(worker, look, FORS_F_NOPLAN, why, reason);
}

/* The switches hold the look's tables: publish the plan, or why there is none. */
static void decide(struct fors_worker *worker, const struct fors_look *look, uint64_t basis)
{
	const struct fors_outcome *outcome = &worker->plan.outcome;

	if (!fors_worker_make_plan(worker, look, basis)) {
		if (worker->is_short)
			keep_or_withdraw(worker, look, "out of memory; fors tries again every second");
		return;
	}
	if (!outcome->plan) {
		fail_without_plan(worker, look);
	} else {
		if (fors_worker_prove_installed(worker, look) || fors_worker_cancelled(worker))
			return; /* cancelled: a newer look comes; out of memory: this one will come again */
		if (outcome->is_proven)
			fors_worker_publish_plan(worker, look);
		else
			fail(worker, look, FORS_F_VERIFY, outcome->verdict.text,
			     "the plan did not pass its check against the tables; this is a bug");
	}
	worker->decided = basis;
}

/* Is what is published the last word on this basis? */
static bool is_decided(const struct fors_worker *worker, uint64_t basis)
{
	return worker->decided == basis &&
	       (worker->publisher.state == FORS_ACTIVE || worker->publisher.state == FORS_FAILED);
}

/* Is all that limits a plan as it was, but for the memory, of which only too little counts? */
static bool limits_stay(const struct fors_worker_published *published, const struct fors_look *look)
{
	struct fors_plan_limits now = look->limits;

	now.bytes = published->limits.bytes;
	return !memcmp(&now, &published->limits, sizeof(now));
}

/* Is there memory now for what there was none for when it was planned? */
static bool may_be_shorter(const struct fors_worker_published *published, const struct fors_look *look)
{
	return published->outcome.wanted_bytes && published->outcome.wanted_bytes <= look->limits.bytes;
}

/*
 * Was the published schedule planned for just this fabric, and is it right over these tables too? So it
 * is when a held cable came back or went: tables changed, but no flow of the plan used them.
 */
static bool is_still_right(struct fors_worker *worker, const struct fors_look *look)
{
	const struct fors_worker_published *published = &worker->published;
	bool is_right = false;

	return !look->given && !published->is_foreign && fors_publisher_has_plan(&worker->publisher) &&
	       published->epoch == worker->publisher.schedule->epoch &&
	       published->fingerprint == look->fabric->fingerprint && limits_stay(published, look) &&
	       !may_be_shorter(published, look) && !fors_worker_prove_published(worker, look, &is_right) && is_right;
}

/* The schedule stays; the status may have to say something else of the cables. */
static void refresh_status(struct fors_worker *worker, const struct fors_look *look, enum fors_state state,
			   const char *reason)
{
	char text[FORS_ERROR_TEXT];

	if (look->kind != FORS_LOOK_INSTALLED ||
	    (worker->publisher.state == state && worker->view == fors_look_view(look)))
		return;
	snprintf(text, sizeof(text), "%s", reason); /* which may be the publisher's own */
	fors_worker_publish_status(worker, look, state, text);
}

/* Tables are on their way to the switches: what is published is looked after first, then the plan is made. */
static void plan_ahead(struct fors_worker *worker, struct fors_look *look, uint64_t basis)
{
	char reason[FORS_ERROR_TEXT];

	snprintf(reason, sizeof(reason), "%s", why_planning(worker, look));
	worker->publisher.is_hasty = true; /* readers see a withdrawal at once, whoever reads the status in a moment */
	worker->duties_ms = fors_clock_ms() + SHORT_MS;
	keep_or_withdraw(worker, look, reason);
	worker->publisher.is_hasty = false;
	if (!fors_worker_make_plan(worker, look, basis))
		return;
	fors_worker_prove_ahead(worker, look);
	fors_worker_judge_haste(worker);
}

/* Homes are about to be ranked: no reader shall follow a schedule over tables that are on their way out. */
static void make_way(struct fors_worker *worker, const struct fors_look *look)
{
	fors_worker_withdraw(worker, look, FORS_PLANNING,
			     "homes are ranked afresh, for servers that came late; a schedule follows");
	if (!worker->is_short && fors_publisher_is_seen(&worker->publisher))
		__atomic_store_n(&worker->withdrawn, look->withdrawal, __ATOMIC_RELEASE);
}

/*
 * The switches hold tables that another engine made. Nobody said before that they would change, so what is published is
 * looked after now, before the plan is made.
 */
static void decide_over(struct fors_worker *worker, const struct fors_look *look, uint64_t basis)
{
	char reason[FORS_ERROR_TEXT];

	snprintf(reason, sizeof(reason), "%s", why_planning(worker, look));
	keep_or_withdraw(worker, look, reason);
	decide(worker, look, basis);
}

/* What a look with tables says of its sweep. Was what is published early in that? */
static bool note_sweep(struct fors_worker *worker, const struct fors_look *look)
{
	bool was_early = worker->is_early;

	worker->is_early &= look->kind == FORS_LOOK_ROUTED;
	if (look->kind == FORS_LOOK_INSTALLED) {
		/* What was routed in this sweep may never have been seen here: it came too fast. */
		if (look->number && !was_early && !worker->failover.lost_in && fors_worker_has_lost(worker, look))
			fors_worker_note_loss(worker, look->number);
		fors_worker_note_up(worker, fors_look_is_foreign(look) ? NULL : look);
	}
	if (look->kind != FORS_LOOK_ROUTED)
		worker->incomplete = look->kind == FORS_LOOK_INCOMPLETE ? fors_look_fingerprint(look) : 0;
	return was_early;
}

static void do_tables(struct fors_worker *worker, struct fors_look *look, bool was_early)
{
	uint64_t basis = fors_look_basis(look);

	if (look->withdrawal && look->kind == FORS_LOOK_INSTALLED) {
		make_way(worker, look);
	} else if (look->kind == FORS_LOOK_INCOMPLETE && was_early) {
		fors_worker_withdraw(worker, look, FORS_PLANNING, look->reason); /* it should have waited */
	} else if (look->kind == FORS_LOOK_INCOMPLETE) {
		keep_or_withdraw(worker, look, look->reason);
	} else if (is_decided(worker, basis)) {
		refresh_status(worker, look, worker->publisher.state, worker->publisher.reason);
	} else if (is_still_right(worker, look)) {
		refresh_status(worker, look, FORS_ACTIVE, "");
		worker->decided = look->kind == FORS_LOOK_INSTALLED ? basis : worker->decided;
	} else if (fors_look_is_foreign(look)) {
		decide_over(worker, look, basis);
	} else if (look->kind == FORS_LOOK_INSTALLED) {
		decide(worker, look, basis);
	} else {
		plan_ahead(worker, look, basis);
	}
	if (look->kind == FORS_LOOK_INSTALLED) {
		fors_worker_forget_loss(worker);
		fors_worker_seek_advice(worker, look);
	}
}

static void do_declined(struct fors_worker *worker, struct fors_look *look)
{
	fors_worker_withdraw(worker, look, FORS_INACTIVE, look->reason);
	if (look->fabric && look->fabric->unreachable_pairs)
		fors_worker_seek_advice(worker, look);
}

void fors_worker_do(struct fors_worker *worker, struct fors_look *look)
{
	/* Only what these tables let follow may be early: the word that others are in may come to be read after them. */
	worker->plan.is_safe = worker->jobs.is_safe = false;
	if (worker->setup.source.mastership(worker->setup.source.context) == FORS_MASTER_NO)
		return; /* which is published by fors_worker_tend() */
	fors_worker_watch_looks(worker);
	worker->look = look;
	memcpy(worker->publisher.fabric_name, look->fabric_name, sizeof(look->fabric_name));
	worker->lost_mastership = false;
	fors_worker_heed_demand(worker, look);
	fors_worker_heed_jobdemands(worker, look);
	if (!*look->jobs_file)
		fors_worker_drop_jobs(worker);
	else if (look->kind == FORS_LOOK_DECLINED || !fors_look_has_tables(look))
		fors_worker_decline_jobs(worker, look->reason);
	if (look->kind == FORS_LOOK_DECLINED || !fors_look_has_tables(look)) {
		worker->is_early = false;
		fors_worker_note_up(worker, NULL);
		do_declined(worker, look);
	} else if (*look->jobs_file && !fors_worker_is_stale(worker, look)) {
		fors_worker_do_jobs(worker, look, note_sweep(worker, look));
		fors_worker_check_jobdemands(worker);
	} else if (!fors_worker_is_stale(worker, look)) {
		do_tables(worker, look, note_sweep(worker, look));
	} /* else another one comes when they are settled */
	if (fors_look_has_tables(look) && !fors_worker_is_stale(worker, look))
		fors_worker_adopt_demand(worker, look);
	if (fors_look_has_tables(look))
		worker->due_ms = look->due_ms;
	worker->look = NULL;
}
