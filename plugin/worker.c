/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The idea: a mailbox with room for one job, and a thread that looks into it.
 *
 *	engine (OpenSM's thread) --- ROUTED ---> plan and verify, while OpenSM still sends tables
 *	                         --- SETTLED --> verify over what the switches hold, unless
 *	                                         that is byte for byte the same; publish
 *	                         --- DECLINED -> withdraw
 *
 * Each job carries a copy of all that it speaks of, so a job that overtakes another
 * makes the older one superfluous: the mailbox simply forgets it, and the plan in
 * progress is broken off when the newer job shows another fabric.
 *
 * What a plan depends on (fabric, tables, method) is summed up in a key. A job
 * with the key of what is published changes nothing, so a sweep of an unchanged fabric
 * leaves no trace. When the key differs, the published schedule is
 * first checked against the new tables: it stays while it is still right (entries
 * on living home lanes never move, so it often is), else it is withdrawn at once.
 *
 * A plan may take minutes (method ilp). The planners ask every few milliseconds whether to go on, and the
 * worker uses these moments to keep watch: the heart beats, and a plan ends when mastership is lost.
 *
 * Memory may run out anywhere. Then the job is put aside and tried again every second, until it
 * is done or a newer one comes: what readers see may be late, but it does not stay wrong.
 */
#include "config.h"

#include "worker.h"

#include <errno.h>
#ifdef HAVE_MALLOC_TRIM
#include <malloc.h>
#endif
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/net/lfts.h"
#include "core/schedule/schedule.h"
#include "board.h"
#include "core/planners/outcome.h"
#include "core/schedule/schedule_file.h"
#include "core/status/status.h"
#include "core/schedule/verify.h"
#include "clock.h"
#include "log.h"
#include "thread.h"

#define SWEEP_AGAIN_MS 20000

/* A plan (or why there is none) and what it was made for. */
struct prepared {
	uint64_t key;		 /* 0: nothing prepared */
	struct fors_job *ground; /* over whose net and tables the plan was proven ahead, or NULL; owned */
	struct fors_outcome outcome;
};

/* About the plan that is published: what it was made for, and numbers for the status. */
struct figures {
	uint64_t epoch;	      /* of the schedule; 0: none */
	uint64_t fingerprint; /* of the fabric */
	char method[16];      /* of fors.conf */
	unsigned ilp_seconds;
	double plan_ms;
	int64_t lower_bound, lmc_needed;
};

struct fors_worker {
	struct fors_worker_setup setup;
	pthread_t thread;
	pthread_mutex_t mutex; /* guards `mail`, `places` and `stop`, is held for moments only */
	pthread_cond_t wake;
	struct fors_job *mail; /* the newest job, or NULL; owned */
	char *places;	       /* the newest kept order, to be written, or NULL; owned */
	size_t places_size;
	bool stop;
	/* all below: the worker's thread only */
	const struct fors_job *job; /* in work */
	struct fors_board board;
	struct prepared prepared;
	struct figures figures;
	uint64_t settled_key;	/* of the job that decided what is published; 0: none */
	uint64_t picture;	/* what the status says about cables, as one number */
	uint64_t unsettled;	/* fingerprint of the fabric that the last sweep did not settle; 0: it did */
	uint64_t due_ms;	/* when a held cable may return, by CLOCK_MONOTONIC; 0: none is held */
	uint64_t next_look_ms;	/* when to look up from a plan again, by CLOCK_MONOTONIC */
	bool is_deposed;	/* mastership was lost while this job was in work */
	bool is_out;		/* not the master, and has said so */
	bool is_short;		/* memory ran out while this job was in work */
	bool has_complained;	/* of that */
	struct fors_job *again; /* to be tried again in a second, for want of memory, or NULL; owned */
};

struct fors_job *fors_job_new(enum fors_job_kind kind)
{
	struct fors_job *job = calloc(1, sizeof(*job));

	if (job) {
		job->kind = kind;
		job->tables_ms = -1;
	}
	return job;
}

void fors_job_free(struct fors_job *job)
{
	if (!job)
		return;
	fors_lfts_free(job->lfts);
	fors_fabric_free(job->fabric);
	fors_net_free(job->net);
	free(job);
}

/* FNV-1a, by words where there are many bytes. */
static uint64_t hash(uint64_t seed, const void *bytes, size_t size)
{
	const unsigned char *p = bytes;
	const uint64_t prime = 0x100000001b3u;

	for (; size >= sizeof(uint64_t); size -= sizeof(uint64_t), p += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, p, sizeof(word));
		seed = (seed ^ word) * prime;
		seed ^= seed >> 29;
	}
	while (size--)
		seed = (seed ^ *p++) * prime;
	return seed;
}

/* What the plan for a job depends on, as one number; never 0. */
static uint64_t key_of(const struct fors_job *job)
{
	uint64_t key = hash(0xcbf29ce484222325u, &job->fabric->fingerprint, sizeof(job->fabric->fingerprint));

	key = hash(key, job->lfts->guid, job->lfts->nswitches * sizeof(*job->lfts->guid));
	key = hash(key, job->lfts->port, (size_t)job->lfts->nswitches * job->lfts->nlids);
	key = hash(key, job->method, strlen(job->method));
	key = hash(key, &job->ilp_seconds, sizeof(job->ilp_seconds));
	return key ? key : 1;
}

/* What the status shows of the cables, and the warnings, as one number. */
static uint64_t picture_of(const struct fors_job *job)
{
	const struct fors_fabric *fabric = job->fabric;
	uint64_t picture = hash(0xcbf29ce484222325u, &fabric->held_until_ms, sizeof(fabric->held_until_ms));

	for (size_t i = 0; i < (size_t)fabric->nleaves * fabric->nlanes; i++) {
		const struct fors_cable *cable = &fabric->cable[i];
		const uint64_t seen[] = {cable->state | cable->drained << 8 | cable->is_degraded << 16,
					 cable->since_ms};

		picture = hash(picture, seen, sizeof(seen));
	}
	for (unsigned i = 0; i < fors_warnings_kept(&job->warnings); i++)
		picture = hash(picture, job->warnings.text[i], strlen(job->warnings.text[i]));
	return picture;
}

/* Does `newer` make it pointless to go on with `current`? */
static bool overtakes(const struct fors_job *newer, const struct fors_job *current)
{
	return !newer->fabric || newer->kind == FORS_JOB_DECLINED ||
	       newer->fabric->fingerprint != current->fabric->fingerprint;
}

/* First of all, and whoever is master: what a restart needs must not wait for a plan. */
static void write_places(struct fors_worker *worker)
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

/*
 * What must not wait for a plan, which may take minutes (method ilp): every tick the kept order is written, the
 * heart beats, and mastership that is lost breaks the plan off.
 */
static void look_up_from_work(struct fors_worker *worker)
{
	uint64_t now = fors_clock_ms();

	if (now < worker->next_look_ms)
		return;
	worker->next_look_ms = now + worker->setup.tick_ms;
	write_places(worker);
	worker->is_deposed = worker->setup.mastership(worker->setup.context) == FORS_MASTER_NO;
	if (!worker->is_deposed)
		fors_board_beat(&worker->board);
}

/* For planners and the verifier: asked every few milliseconds, in the worker's thread. */
static bool cancelled(void *context)
{
	struct fors_worker *worker = context;
	bool answer;

	look_up_from_work(worker);
	pthread_mutex_lock(&worker->mutex);
	answer = worker->stop || (worker->mail && overtakes(worker->mail, worker->job));
	pthread_mutex_unlock(&worker->mutex);
	return answer || worker->is_deposed;
}

/* Memory ran out: this job has to be tried again. */
static void run_short(struct fors_worker *worker)
{
	if (!worker->has_complained)
		fors_log_error(worker->setup.log, FORS_F_MEMORY,
			       "out of memory: what is published may be out of date; fors tries again every second");
	worker->has_complained = worker->is_short = true;
}

static void fill_status(struct fors_worker *worker, const struct fors_job *job, enum fors_state state,
			const char *reason, struct fors_status *status)
{
	fors_status_init(status);
	status->state = state;
	snprintf(status->reason, sizeof(status->reason), "%s", reason);
	status->tables_ms = job->tables_ms;
	status->warnings = job->warnings;
	if (job->fabric && fors_status_fabric(status, job->fabric, NULL))
		run_short(worker);
}

/* Hand a status to the board, and a schedule, which is the board's then (NULL: it stays); the status is used up. */
static void post(struct fors_worker *worker, struct fors_schedule *schedule, struct fors_status *status)
{
	if (!fors_board_post(&worker->board, schedule, status))
		run_short(worker);
	fors_status_clear(status);
}

/* A new status about the schedule that is published already. */
static void repost(struct fors_worker *worker, const struct fors_job *job, enum fors_state state, const char *reason)
{
	struct fors_status status;

	fill_status(worker, job, state, reason, &status);
	if (worker->figures.epoch && worker->board.schedule && worker->figures.epoch == worker->board.schedule->epoch) {
		status.plan_ms = worker->figures.plan_ms;
		status.lower_bound = worker->figures.lower_bound;
		status.lmc_needed = worker->figures.lmc_needed;
	}
	post(worker, NULL, &status);
	worker->picture = picture_of(job);
}

/* Do readers know that there is no schedule, and this state? */
static bool is_said(const struct fors_board *board, enum fors_state state)
{
	return board->is_posted && board->schedule && !board->schedule->nphases && board->state == state;
}

/* Has the withdrawal been said, with this reason and these cables? */
static bool is_withdrawn(const struct fors_worker *worker, const struct fors_job *job, enum fors_state state,
			 const char *reason)
{
	return is_said(&worker->board, state) && !strcmp(worker->board.reason, reason) &&
	       (!job->fabric || worker->picture == picture_of(job));
}

/* Is there only more to say of a schedule that is withdrawn already? Then readers need no new epoch. */
static bool is_unchanged(const struct fors_worker *worker, enum fors_state state, const char *reason)
{
	return is_said(&worker->board, state) && (state == FORS_PLANNING || !strcmp(worker->board.reason, reason));
}

/* Withdraw what is published; only the status, if that has been done already. */
static void withdraw(struct fors_worker *worker, const struct fors_job *job, enum fors_state state, const char *reason)
{
	struct fors_status status;

	if (is_withdrawn(worker, job, state, reason))
		return;
	fill_status(worker, job, state, reason, &status);
	if (state == FORS_FAILED) {
		status.lower_bound = worker->prepared.outcome.lower_bound;
		status.lmc_needed = worker->prepared.outcome.lmc_needed;
		status.plan_ms = worker->prepared.outcome.plan_ms;
	}
	if (job->fabric)
		worker->picture = picture_of(job);
	if (is_unchanged(worker, state, reason)) {
		post(worker, NULL, &status);
		return;
	}
	if (!fors_board_withdraw(&worker->board, &status))
		run_short(worker);
	fors_status_clear(&status);
}

/* Is a schedule right over the job's tables? On FORS_OK *verdict says. */
static enum fors_err check(struct fors_worker *worker, const struct fors_job *job, const struct fors_schedule *schedule,
			   struct fors_verdict *verdict)
{
	enum fors_err err = fors_verify(job->net, job->lfts, schedule, cancelled, worker, verdict, NULL);

	if (err && err != FORS_ECANCELLED)
		run_short(worker);
	return err;
}

/* The fabric is another one: does the published schedule still hold? Nothing is said when a newer job came. */
static void recheck(struct fors_worker *worker, const struct fors_job *job, const char *reason)
{
	struct fors_verdict verdict = {.is_good = false};

	if (fors_board_has_plan(&worker->board) &&
	    check(worker, job, worker->board.schedule, &verdict) == FORS_ECANCELLED)
		return;
	if (!verdict.is_good)
		withdraw(worker, job, FORS_PLANNING, reason);
	else if (worker->board.state != FORS_PLANNING || strcmp(worker->board.reason, reason) ||
		 worker->picture != picture_of(job))
		repost(worker, job, FORS_PLANNING, reason);
}

/* Why there is no new schedule yet. While OpenSM sweeps an unsettled fabric again and again it is what was said before. */
static const char *why_planning(const struct fors_worker *worker, const struct fors_job *job)
{
	if (worker->unsettled && worker->unsettled == job->fabric->fingerprint && worker->board.state == FORS_PLANNING)
		return worker->board.reason;
	return worker->board.schedule ? "the fabric has changed; a schedule for it is being planned"
				      : "a schedule is being planned";
}

static void forget_plan(struct prepared *prepared)
{
	fors_outcome_clear(&prepared->outcome);
	fors_job_free(prepared->ground);
	prepared->ground = NULL;
	prepared->key = 0;
}

static struct fors_request request_of(struct fors_worker *worker, const struct fors_job *job)
{
	return (struct fors_request){
		.task = {.fabric = job->fabric,
			 .cancelled = cancelled,
			 .context = worker,
			 .threads = worker->setup.threads,
			 .ilp_seconds = job->ilp_seconds},
		.method = job->method,
		.net = job->net,
		.lfts = job->lfts,
		.clock_ms = fors_clock_exact_ms,
	};
}

/* Have the plan for the job, or the reason why there is none, in worker->prepared. False: cancelled, or no memory. */
static bool prepare(struct fors_worker *worker, const struct fors_job *job, uint64_t key)
{
	struct prepared *prepared = &worker->prepared;
	struct fors_request request = request_of(worker, job);
	enum fors_err err;

	if (prepared->key == key)
		return true;
	forget_plan(prepared);
	err = fors_outcome_plan(&request, &prepared->outcome, NULL);
	if (err == FORS_ENOMEM)
		run_short(worker);
	if (!err)
		prepared->key = key;
	return !err;
}

/* Is the plan right over the job's tables? On FORS_OK the outcome says. */
static enum fors_err prove(struct fors_worker *worker, const struct fors_job *job)
{
	struct fors_request request = request_of(worker, job);
	enum fors_err err = fors_outcome_prove(&request, &worker->prepared.outcome, NULL);

	if (err && err != FORS_ECANCELLED)
		run_short(worker);
	return err;
}

/* Check the plan over the tables that the switches will hold soon; the job is kept when it is right. */
static void check_ahead(struct fors_worker *worker, struct fors_job *job)
{
	struct prepared *prepared = &worker->prepared;

	if (prepared->outcome.plan && !prepared->ground && !prove(worker, job) && prepared->outcome.is_proven)
		prepared->ground = job;
}

/* Do two jobs show the same cables and tables, byte for byte? */
static bool is_same_ground(const struct fors_job *a, const struct fors_job *b)
{
	if (a->net->nnodes != b->net->nnodes || a->net->nports != b->net->nports ||
	    a->lfts->nswitches != b->lfts->nswitches || a->lfts->nlids != b->lfts->nlids)
		return false;
	for (uint32_t n = 0; n < a->net->nnodes; n++) {
		if (a->net->node[n].guid != b->net->node[n].guid)
			return false;
	}
	return !memcmp(a->net->port, b->net->port, a->net->nports * sizeof(*a->net->port)) &&
	       !memcmp(a->lfts->guid, b->lfts->guid, a->lfts->nswitches * sizeof(*a->lfts->guid)) &&
	       !memcmp(a->lfts->port, b->lfts->port, (size_t)a->lfts->nswitches * a->lfts->nlids);
}

/* Is the plan right over what the switches hold? */
static enum fors_err check_settled(struct fors_worker *worker, const struct fors_job *job)
{
	const struct prepared *prepared = &worker->prepared;

	if (prepared->outcome.is_proven && prepared->ground && is_same_ground(prepared->ground, job))
		return FORS_OK;
	return prove(worker, job);
}

static void note_figures(struct fors_worker *worker, const struct fors_job *job)
{
	const struct fors_outcome *outcome = &worker->prepared.outcome;

	worker->figures = (struct figures){.epoch = worker->board.schedule ? worker->board.schedule->epoch : 0,
					   .fingerprint = job->fabric->fingerprint,
					   .ilp_seconds = job->ilp_seconds,
					   .plan_ms = outcome->plan_ms,
					   .lower_bound = outcome->lower_bound,
					   .lmc_needed = outcome->lmc_needed};
	memcpy(worker->figures.method, job->method, sizeof(job->method));
	worker->picture = picture_of(job);
}

/* The board takes the plan over; it is not kept here. */
static void publish(struct fors_worker *worker, const struct fors_job *job)
{
	struct fors_outcome *outcome = &worker->prepared.outcome;
	struct fors_status status;

	fill_status(worker, job, FORS_ACTIVE, "", &status);
	status.plan_ms = outcome->plan_ms;
	status.lower_bound = outcome->lower_bound;
	status.lmc_needed = outcome->lmc_needed;
	post(worker, fors_outcome_take(outcome), &status);
	if (!worker->is_short) /* else the board may not have taken it */
		note_figures(worker, job);
	forget_plan(&worker->prepared);
}

/* The switches hold the job's tables: publish the plan, or say why there is none. */
static void settle(struct fors_worker *worker, const struct fors_job *job, uint64_t key)
{
	const struct fors_outcome *outcome = &worker->prepared.outcome;

	if (!prepare(worker, job, key)) {
		if (worker->is_short)
			recheck(worker, job, "out of memory; fors tries again every second");
		return;
	}
	if (!outcome->plan) {
		fors_log_error(worker->setup.log, FORS_F_NOPLAN, "%s", outcome->error.text);
		withdraw(worker, job, FORS_FAILED, outcome->error.text);
		worker->settled_key = key;
		return;
	}
	if (check_settled(worker, job)) /* cancelled: a newer job comes; out of memory: this one will come again */
		return;
	if (outcome->is_proven) {
		publish(worker, job);
	} else {
		fors_log_error(worker->setup.log, FORS_F_VERIFY, "%s", outcome->verdict.text);
		withdraw(worker, job, FORS_FAILED, "the plan did not pass its check against the tables; this is a bug");
	}
	worker->settled_key = key;
}

/* Has a job with this key already decided what is published? */
static bool is_settled(const struct fors_worker *worker, uint64_t key)
{
	return worker->settled_key == key && (worker->board.state == FORS_ACTIVE || worker->board.state == FORS_FAILED);
}

/*
 * Was the published schedule planned for just this fabric, and is it right over these tables too? So it
 * is when a held cable came back or went: tables changed, but no flow of the plan used them.
 */
static bool is_kept(struct fors_worker *worker, const struct fors_job *job)
{
	const struct figures *figures = &worker->figures;
	struct fors_verdict verdict;

	return fors_board_has_plan(&worker->board) && figures->epoch == worker->board.schedule->epoch &&
	       figures->fingerprint == job->fabric->fingerprint && !strcmp(figures->method, job->method) &&
	       figures->ilp_seconds == job->ilp_seconds && !check(worker, job, worker->board.schedule, &verdict) &&
	       verdict.is_good;
}

/* What is published stays; the status may have to say something else about the cables. */
static void stay(struct fors_worker *worker, const struct fors_job *job, enum fors_state state, const char *reason)
{
	char text[FORS_ERROR_TEXT];

	if (job->kind != FORS_JOB_SETTLED || (worker->board.state == state && worker->picture == picture_of(job)))
		return;
	snprintf(text, sizeof(text), "%s", reason); /* which may be the board's own */
	repost(worker, job, state, text);
}

static void handle_fabric(struct fors_worker *worker, struct fors_job *job)
{
	uint64_t key = key_of(job);
	char reason[FORS_ERROR_TEXT];

	if (job->kind != FORS_JOB_ROUTED)
		worker->unsettled = job->kind == FORS_JOB_UNSETTLED ? job->fabric->fingerprint : 0;
	if (job->kind == FORS_JOB_UNSETTLED) {
		recheck(worker, job, job->reason);
		return;
	}
	if (is_settled(worker, key)) {
		stay(worker, job, worker->board.state, worker->board.reason);
		return;
	}
	if (is_kept(worker, job)) {
		stay(worker, job, FORS_ACTIVE, "");
		worker->settled_key = job->kind == FORS_JOB_SETTLED ? key : worker->settled_key;
		return;
	}
	if (job->kind == FORS_JOB_SETTLED) {
		settle(worker, job, key);
		return;
	}
	snprintf(reason, sizeof(reason), "%s", why_planning(worker, job));
	recheck(worker, job, reason);
	if (prepare(worker, job, key))
		check_ahead(worker, job);
}

static void handle_job(struct fors_worker *worker, struct fors_job *job)
{
	if (worker->setup.mastership(worker->setup.context) == FORS_MASTER_NO)
		return; /* watch_mastership() says so */
	worker->job = job;
	worker->is_deposed = false;
	if (job->kind == FORS_JOB_DECLINED || !job->fabric)
		withdraw(worker, job, FORS_INACTIVE, job->reason);
	else
		handle_fabric(worker, job);
	if (job->fabric)
		worker->due_ms = job->due_ms;
	worker->job = NULL;
}

/* A plan takes memory for moments: give it back, so that opensm does not keep the most that any plan has taken. */
static void give_back_memory(void)
{
#ifdef HAVE_MALLOC_TRIM
	malloc_trim(0);
#endif
}

/* Takes the job. */
static void handle(struct fors_worker *worker, struct fors_job *job)
{
	worker->is_short = false;
	handle_job(worker, job);
	if (worker->is_short) {
		if (worker->prepared.ground == job)
			worker->prepared.ground = NULL;
		worker->settled_key = 0;
		worker->again = job;
		return;
	}
	worker->has_complained = false;
	if (job != worker->prepared.ground)
		fors_job_free(job);
	give_back_memory();
}

/* The job to work on, if any: the newest one, else the one that was put aside. */
static struct fors_job *choose(struct fors_worker *worker, struct fors_job *newest)
{
	struct fors_job *aside = worker->again;

	worker->again = NULL;
	if (!newest)
		return aside;
	fors_job_free(aside);
	return newest;
}

/* Have the engine look again when a held cable may return; and again, should the sweep not come about. */
static void watch_held_cables(struct fors_worker *worker)
{
	uint64_t now = fors_clock_ms();

	if (!worker->due_ms || now < worker->due_ms || !worker->setup.sweep || worker->is_out)
		return;
	worker->due_ms = now + SWEEP_AGAIN_MS;
	worker->setup.sweep(worker->setup.context);
}

/* In publish_dir the epoch has to grow from one subnet manager to the next, whatever their clocks say. */
static void watch_epochs(struct fors_worker *worker)
{
	if (!worker->setup.outbox || worker->is_out)
		return;
	if (fors_board_exceed(&worker->board, fors_outbox_seen(worker->setup.outbox)) && worker->board.schedule &&
	    worker->figures.epoch)
		worker->figures.epoch = worker->board.schedule->epoch;
}

/* A master that hands over gets no event: only looking helps. */
static void watch_mastership(struct fors_worker *worker)
{
	static const struct fors_job nothing = {.kind = FORS_JOB_DECLINED, .tables_ms = -1};
	enum fors_mastership mastership = worker->setup.mastership(worker->setup.context);

	worker->is_short = false;
	worker->board.is_guest = mastership == FORS_MASTER_NO;
	if (mastership == FORS_MASTER_NO && !worker->is_out)
		withdraw(worker, &nothing, FORS_INACTIVE, "this subnet manager is not the master");
	worker->is_out = mastership == FORS_MASTER_NO && !worker->is_short;
}

/* Wait for a job, a second at most. False: the worker shall end. */
static bool wait_for_mail(struct fors_worker *worker, struct fors_job **job)
{
	uint64_t until = fors_clock_ms() + worker->setup.tick_ms;
	bool go_on;

	pthread_mutex_lock(&worker->mutex);
	while (!worker->mail && !worker->places && !worker->stop && fors_clock_ms() < until)
		fors_clock_wait(&worker->wake, &worker->mutex, until);
	*job = worker->mail;
	worker->mail = NULL;
	go_on = !worker->stop;
	pthread_mutex_unlock(&worker->mutex);
	return go_on;
}

/* What readers shall know when nobody is on watch any more. The schedule stays: the switches still hold its tables. */
static void say_goodbye(struct fors_worker *worker)
{
	struct fors_status status;

	fors_status_init(&status);
	status.state = FORS_INACTIVE;
	snprintf(status.reason, sizeof(status.reason), "opensm has ended; failures are not repaired");
	post(worker, NULL, &status);
}

static void *run(void *context)
{
	struct fors_worker *worker = context;
	struct fors_job *job;

	fors_board_open(&worker->board, worker->setup.log, worker->setup.folder, worker->setup.outbox);
	while (wait_for_mail(worker, &job)) {
		write_places(worker);
		job = choose(worker, job);
		if (job)
			handle(worker, job);
		watch_mastership(worker);
		watch_held_cables(worker);
		watch_epochs(worker);
		fors_board_retry(&worker->board);
		if (!worker->is_out)
			fors_board_beat(&worker->board);
	}
	fors_job_free(choose(worker, job));
	write_places(worker);
	if (!worker->is_out)
		say_goodbye(worker);
	forget_plan(&worker->prepared);
	fors_board_close(&worker->board);
	return NULL;
}

static void free_worker(struct fors_worker *worker)
{
	fors_job_free(worker->mail);
	free(worker->places);
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
	if (!made->setup.threads)
		made->setup.threads = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? 2 : 1;
	if (!made->setup.tick_ms)
		made->setup.tick_ms = 1000;
	forget_plan(&made->prepared);
	pthread_mutex_init(&made->mutex, NULL);
	fors_clock_cond(&made->wake);
	failed = fors_thread_start(&made->thread, run, made);
	if (failed) {
		free_worker(made);
		return fors_fail(error, FORS_ENOMEM, "no thread for planning: %s", strerror(failed));
	}
	*worker = made;
	return FORS_OK;
}

void fors_worker_submit(struct fors_worker *worker, struct fors_job *job)
{
	struct fors_job *old;

	pthread_mutex_lock(&worker->mutex);
	old = worker->mail;
	worker->mail = job;
	pthread_cond_signal(&worker->wake);
	pthread_mutex_unlock(&worker->mutex);
	fors_job_free(old);
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

void fors_worker_stop(struct fors_worker *worker)
{
	if (!worker)
		return;
	pthread_mutex_lock(&worker->mutex);
	worker->stop = true;
	pthread_cond_signal(&worker->wake);
	pthread_mutex_unlock(&worker->mutex);
	pthread_join(worker->thread, NULL);
	free_worker(worker);
}
