/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of plugin/worker*.c and daemon/publisher/publisher.c, without OpenSM: what is published after which job. The log
 * is a stub, fors_plan() can be made slow, wrong or absent (linked with --wrap), and the clock is the test's own.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fabric/lids.h"
#include "core/fabric/places.h"
#include "core/net/lfts.h"
#include "core/planners/planner.h"
#include "core/schedule/schedule.h"
#include "core/schedule/schedule_file.h"
#include "core/status/status.h"
#include "core/status/status_json.h"
#include "core/net/tree_net.h"
#include "core/schedule/verify.h"
#include "daemon/publisher/publisher.h"
#include "daemon/base/clock.h"
#include "daemon/files/epoch.h"
#include "daemon/base/log.h"
#include "daemon/worker/worker.h"
#include "fake_clock.h"
#include "faults.h"
#include "worker_bench.h"
#include "unit.h"

#define MANY 100000 /* so many of them, before it is given up */

enum fors_err __real_fors_plan(const struct fors_task *task, const char *name, struct fors_schedule **schedule,
			       struct fors_error *error);
enum fors_err __wrap_fors_plan(const struct fors_task *task, const char *name, struct fors_schedule **schedule,
			       struct fors_error *error);

enum fors_err __real_fors_verify_used(const struct fors_net *net, const struct fors_lfts *lfts,
				      const struct fors_schedule *schedule, unsigned threads,
				      bool (*cancelled)(void *context), void *context, struct fors_verdict *verdict,
				      bool *is_used, struct fors_error *error);
enum fors_err __wrap_fors_verify_used(const struct fors_net *net, const struct fors_lfts *lfts,
				      const struct fors_schedule *schedule, unsigned threads,
				      bool (*cancelled)(void *context), void *context, struct fors_verdict *verdict,
				      bool *is_used, struct fors_error *error);

enum fors_err __real_fors_verify_holds(const struct fors_net *net, const struct fors_lfts *lfts,
				       const struct fors_schedule *schedule, unsigned threads,
				       bool (*cancelled)(void *context), void *context, bool *is_right,
				       struct fors_error *error);
enum fors_err __wrap_fors_verify_holds(const struct fors_net *net, const struct fors_lfts *lfts,
				       const struct fors_schedule *schedule, unsigned threads,
				       bool (*cancelled)(void *context), void *context, bool *is_right,
				       struct fors_error *error);

static _Atomic enum { PLAN_WELL, PLAN_UNTIL_CANCELLED, PLAN_WRONG, PLAN_NOT } how_to_plan;
static atomic_int plans, proofs, cancelled_plans;
static atomic_int polls;		 /* asks of a plan that is made for long */
static atomic_int proofs_without_memory; /* so many of the next */

/*
 * What happens when the worker asks for the n-th time whether to go on: it finds another job in the mailbox, or, without
 * one, tables that have changed.
 */
static struct {
	_Atomic int64_t left; /* asks until then; 0: nothing happens */
	struct fors_worker *_Atomic worker;
	struct fors_look *_Atomic job, *_Atomic next; /* one that replaces the other in the mailbox; NULL: none does */
	bool (*cancelled)(void *context);	      /* the worker's own answer */
	void *context;
} asking;

static bool count_ask(void *context)
{
	if (atomic_load(&asking.left) > 0 && atomic_fetch_sub(&asking.left, 1) == 1) {
		struct fors_look *job = atomic_exchange(&asking.job, NULL), *next = atomic_exchange(&asking.next, NULL);

		if (job)
			fors_worker_submit(atomic_load(&asking.worker), job);
		else
			fors_worker_note_change(atomic_load(&asking.worker), "test");
		if (next)
			fors_worker_submit(atomic_load(&asking.worker), next);
	}
	return asking.cancelled(asking.context);
}

enum fors_err __wrap_fors_plan(const struct fors_task *task, const char *name, struct fors_schedule **schedule,
			       struct fors_error *error)
{
	enum fors_err err;

	if (atomic_fetch_add(&plans, 1) == 0 && how_to_plan == PLAN_UNTIL_CANCELLED) {
		while (!task->cancelled(task->context)) {
			atomic_fetch_add(&polls, 1);
			usleep(1000);
		}
		atomic_fetch_add(&cancelled_plans, 1);
		return fors_fail(error, FORS_ECANCELLED, "cancelled");
	}
	if (how_to_plan == PLAN_NOT)
		return fors_fail(error, FORS_ELMC, "needs lmc 2");
	struct fors_task asked = *task;

	asking.cancelled = task->cancelled;
	asking.context = task->context;
	asked.cancelled = count_ask;
	err = __real_fors_plan(&asked, atomic_load(&asking.left) ? "auto" : "closed-form", schedule, error);
	if (!err && how_to_plan == PLAN_WRONG)
		(*schedule)->cell[0] = (*schedule)->cell[(*schedule)->nphases];
	return err;
}

/* Either proof: it counts, and may lack memory. */
static enum fors_err begin_proof(bool (*cancelled)(void *context), void *context, struct fors_error *error)
{
	atomic_fetch_add(&proofs, 1);
	if (atomic_load(&proofs_without_memory) > 0 && atomic_fetch_sub(&proofs_without_memory, 1) > 0)
		return fors_fail_memory(error);
	asking.cancelled = cancelled;
	asking.context = context;
	return FORS_OK;
}

enum fors_err __wrap_fors_verify_used(const struct fors_net *net, const struct fors_lfts *lfts,
				      const struct fors_schedule *schedule, unsigned threads,
				      bool (*cancelled)(void *context), void *context, struct fors_verdict *verdict,
				      bool *is_used, struct fors_error *error)
{
	return begin_proof(cancelled, context, error) ? FORS_ENOMEM
						      : __real_fors_verify_used(net, lfts, schedule, threads, count_ask,
										NULL, verdict, is_used, error);
}

enum fors_err __wrap_fors_verify_holds(const struct fors_net *net, const struct fors_lfts *lfts,
				       const struct fors_schedule *schedule, unsigned threads,
				       bool (*cancelled)(void *context), void *context, bool *is_right,
				       struct fors_error *error)
{
	return begin_proof(cancelled, context, error)
		       ? FORS_ENOMEM
		       : __real_fors_verify_holds(net, lfts, schedule, threads, count_ask, NULL, is_right, error);
}

/* Heavy sweeps that the worker asked for. */
static atomic_int sweeps;

static void sweep(void *context)
{
	atomic_fetch_add(&sweeps, 1);
}

/* How it looks at the fabric. */
static struct {
	atomic_bool is_off;
	atomic_uint interval_ms, asked;
} eyes;

static void looking(void *context, struct fors_looking *now)
{
	*now = (struct fors_looking){atomic_load(&eyes.is_off), atomic_load(&eyes.interval_ms),
				     atomic_load(&eyes.asked)};
}

/* A job that comes when the worker has begun with another one. */
static struct fors_look *_Atomic late;

static enum fors_mastership submit_late(void *context)
{
	struct fors_look *job = atomic_exchange(&late, NULL);

	if (job)
		fors_worker_submit(atomic_load(&asking.worker), job);
	return mastership(context);
}

static void start_worker(struct bench *bench)
{
	const struct fors_worker_setup setup = {
		.folder = &bench->folder,
		.copier = bench->copier,
		.source = {.mastership = submit_late, .looking = looking, .sweep = sweep},
		.tick_ms = TICK_MS};

	assert_int_equal(fors_worker_start(&setup, &bench->worker, NULL), FORS_OK);
}

static int open_bench(void **state)
{
	struct bench *bench = bench_new("FT(2;3,3)");

	how_to_plan = PLAN_WELL;
	atomic_store(&plans, 0);
	atomic_store(&proofs, 0);
	atomic_store(&cancelled_plans, 0);
	atomic_store(&sweeps, 0);
	atomic_store(&eyes.is_off, false);
	atomic_store(&eyes.interval_ms, 0);
	if (!bench)
		return -1;
	start_worker(bench);
	*state = bench;
	return 0;
}

static int close_bench(void **state)
{
	return bench_free(*state);
}

/* The same tables as another engine's, as they were after so many changes. */
static struct fors_look *make_over(struct bench *bench, enum fors_look_kind kind, const char *down, uint64_t changes)
{
	struct fors_look *job = make_job(bench, kind, down);

	fors_fattree_free(&job->tree);
	job->fabric = NULL;
	strcpy(job->tables_by, "minhop");
	assert_int_equal(fors_look_take_given(job, NULL, NULL), FORS_OK);
	job->given->changes = changes;
	strcpy(job->reason, "errors");
	fors_look_seal(job);
	return job;
}

static void submit_over(struct bench *bench, enum fors_look_kind kind, const char *down, uint64_t changes)
{
	fors_worker_submit(bench->worker, make_over(bench, kind, down, changes));
}

static struct fors_look *declined_job(const char *reason)
{
	struct fors_look *job = fors_look_new(FORS_LOOK_DECLINED);

	snprintf(job->reason, sizeof(job->reason), "%s", reason);
	return job;
}

static void decline(struct bench *bench, const char *reason)
{
	fors_worker_submit(bench->worker, declined_job(reason));
}

/* Until the worker is through with what it was given. */
static void wait_idle(void)
{
	uint64_t before = fake_clock_waits();

	for (int look = 0; look < MANY && fake_clock_waits() == before; look++)
		usleep(LOOK_US);
	assert_true(fake_clock_waits() > before);
}

/* The same, and it has looked around twice since: what has not happened by now will not happen. */
static void rest(void)
{
	for (int i = 0; i < 3; i++) {
		wait_idle();
		fake_clock_advance(TICK_MS);
	}
	wait_idle();
}

/* The published schedule, or NULL. The caller frees it. */
static struct fors_schedule *published(const struct bench *bench)
{
	struct fors_schedule *schedule = NULL;
	void *bytes = NULL;
	size_t size;

	assert_int_equal(fors_published(&bench->folder, "schedule", 1 << 20, &bytes, &size, NULL), FORS_OK);
	if (bytes)
		assert_int_equal(fors_schedule_decode(bytes, size, "schedule", &schedule, NULL), FORS_OK);
	free(bytes);
	return schedule;
}

static bool read_status(const struct bench *bench, struct fors_status *status)
{
	void *bytes = NULL;
	size_t size;
	char text[8192];

	assert_int_equal(fors_published(&bench->folder, "status.json", sizeof(text) - 1, &bytes, &size, NULL), FORS_OK);
	if (!bytes)
		return false;
	memcpy(text, bytes, size);
	text[size] = '\0';
	free(bytes);
	fors_status_init(status);
	assert_int_equal(fors_status_parse(text, "status.json", status, NULL), FORS_OK);
	return true;
}

/* Wait for a state with an epoch of at least `epoch`; its epoch. */
static int64_t wait_state(const struct bench *bench, enum fors_state state, int64_t epoch)
{
	for (int look = 0; look < MANY; look++) {
		struct fors_status status;
		int64_t found;

		if (read_status(bench, &status)) {
			found = status.epoch;
			fors_status_clear(&status);
			if (status.state == state && found >= epoch)
				return found;
		}
		tick();
	}
	fail_msg("no state %d with epoch >= %lld", state, (long long)epoch);
	return 0;
}

static void assert_published(const struct bench *bench, int64_t epoch, uint32_t nphases)
{
	struct fors_schedule *schedule = published(bench);

	assert_non_null(schedule);
	assert_int_equal(schedule->epoch, epoch);
	assert_int_equal(schedule->nphases, nphases);
	assert_int_equal(schedule->reason[0] != '\0', nphases == 0);
	fors_schedule_free(schedule);
}

static void installed_job_is_published(void **state)
{
	int64_t epoch, before = (int64_t)fors_clock_unix_ms();

	submit(*state, FORS_LOOK_ROUTED, NULL);
	submit(*state, FORS_LOOK_INSTALLED, NULL);
	epoch = wait_state(*state, FORS_ACTIVE, 0);
	assert_true(epoch >= before);
	assert_published(*state, epoch, 9);
}

/* What was written in haste is forced to the disk when nothing else is to be done, not only at the end. */
static void files_are_synced_when_it_is_quiet(void **state)
{
	atomic_store(&status_synced, 0);
	submit(*state, FORS_LOOK_INSTALLED, NULL);
	wait_state(*state, FORS_ACTIVE, 0);
	for (int look = 0; look < 50000 && !atomic_load(&status_synced); look++)
		tick();
	assert_true(atomic_load(&status_synced) > 0);
}

static void routed_job_alone_is_not(void **state)
{
	struct fors_schedule *schedule;

	submit(*state, FORS_LOOK_ROUTED, NULL);
	wait_state(*state, FORS_PLANNING, 0);
	rest();
	schedule = published(*state);
	assert_int_equal(schedule->nphases, 0);
	fors_schedule_free(schedule);
}

static void same_fabric_leaves_no_trace(void **state)
{
	struct bench *bench = *state;
	struct stat before, after;
	char path[160];
	int64_t epoch;

	submit(bench, FORS_LOOK_INSTALLED, NULL);
	epoch = wait_state(bench, FORS_ACTIVE, 0);
	snprintf(path, sizeof(path), "%s/%s/status.json", bench->directory, bench->folder.name);
	assert_int_equal(stat(path, &before), 0);
	submit(bench, FORS_LOOK_ROUTED, NULL);
	rest();
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	rest();
	assert_int_equal(stat(path, &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_int_equal(atomic_load(&plans), 1);
	assert_published(bench, epoch, 9);
}

static void cut_cable_withdraws_and_returns(void **state)
{
	int64_t first, second;

	submit(*state, FORS_LOOK_INSTALLED, NULL);
	first = wait_state(*state, FORS_ACTIVE, 0);
	submit(*state, FORS_LOOK_ROUTED, "Leaf00[4]");
	second = wait_state(*state, FORS_PLANNING, first + 1);
	assert_published(*state, second, 0);
	submit(*state, FORS_LOOK_INSTALLED, "Leaf00[4]");
	second = wait_state(*state, FORS_ACTIVE, second + 1);
	assert_published(*state, second, 9);	  /* f = 1: max(P, ceil(3 * 6 / 2)) */
	assert_int_equal(atomic_load(&plans), 2); /* the installed job found the plan ready */
}

static void errors_of_opensm_publish_nothing(void **state)
{
	struct fors_look *job;
	int64_t epoch;

	submit(*state, FORS_LOOK_INSTALLED, NULL);
	epoch = wait_state(*state, FORS_ACTIVE, 0);
	job = make_job(*state, FORS_LOOK_INCOMPLETE, NULL);
	strcpy(job->reason, "OpenSM met errors");
	fors_worker_submit(((struct bench *)*state)->worker, job);
	wait_state(*state, FORS_PLANNING, epoch);
	assert_published(*state, epoch, 9); /* still right over the tables */
	submit(*state, FORS_LOOK_INSTALLED, NULL);
	assert_int_equal(wait_state(*state, FORS_ACTIVE, epoch), epoch);
}

/* OpenSM sweeps again and again over a switch that does not take its tables: that is published once. */
static void errors_that_stay_are_published_once(void **state)
{
	struct bench *bench = *state;
	struct stat first, last;
	struct fors_look *job;
	char path[256];

	snprintf(path, sizeof(path), "%s/%s/status.json", bench->directory, bench->folder.name);
	submit(*state, FORS_LOOK_INSTALLED, NULL);
	wait_state(*state, FORS_ACTIVE, 0);
	for (unsigned sweep = 0; sweep < 3; sweep++) {
		submit(*state, FORS_LOOK_ROUTED, "Leaf00[4]");
		rest();
		job = make_job(*state, FORS_LOOK_INCOMPLETE, "Leaf00[4]");
		strcpy(job->reason, "OpenSM met errors");
		fors_worker_submit(bench->worker, job);
		rest();
		assert_int_equal(stat(path, sweep ? &last : &first), 0);
	}
	assert_int_equal(first.st_ino, last.st_ino);
	submit(*state, FORS_LOOK_INSTALLED, "Leaf00[4]");
	wait_state(*state, FORS_ACTIVE, 0);
	submit(*state, FORS_LOOK_ROUTED, "Leaf00[5]");
	wait_state(*state, FORS_PLANNING, 0);
}

static uint64_t heartbeat_of(const struct bench *bench)
{
	char path[160];
	FILE *file;
	uint64_t beat = 0;

	snprintf(path, sizeof(path), "%s/%s/heartbeat", bench->directory, bench->folder.name);
	file = fopen(path, "r");
	if (file && fscanf(file, "%" SCNu64, &beat) != 1)
		beat = 0;
	if (file)
		fclose(file);
	return beat;
}

/* Nobody stands behind a schedule that the newest one cannot replace: the heart stops. */
static void no_heartbeat_beside_an_old_schedule(void **state)
{
	struct bench *bench = *state;
	char path[256];
	uint64_t before;

	submit(*state, FORS_LOOK_INSTALLED, NULL);
	wait_state(*state, FORS_ACTIVE, 0);
	while (!heartbeat_of(bench))
		tick();
	snprintf(path, sizeof(path), "%s/%s/.schedule.new", bench->directory, bench->folder.name);
	assert_int_equal(mkdir(path, 0755), 0);
	before = heartbeat_of(bench);
	submit(*state, FORS_LOOK_INSTALLED, "Leaf00[4]");
	rest();
	fake_clock_advance(60000);
	rest();
	assert_int_equal(heartbeat_of(bench), before);
	assert_int_equal(rmdir(path), 0);
	for (int look = 0; look < MANY && heartbeat_of(bench) == before; look++)
		tick();
	assert_true(heartbeat_of(bench) > before);
}

/* Let time go by; does the heart beat? */
static bool beats(struct bench *bench, uint64_t ms)
{
	uint64_t before;

	fake_clock_advance(ms);
	rest();
	before = heartbeat_of(bench);
	fake_clock_advance(5000);
	rest();
	return heartbeat_of(bench) > before;
}

/* When a held cable may return a sweep is asked for, and again after a while, should it not come about. */
static void held_cables_ask_for_a_sweep(void **state)
{
	struct fors_look *job = make_job(*state, FORS_LOOK_INSTALLED, NULL);

	job->due_ms = fors_clock_ms() + 3600000;
	fors_worker_submit(((struct bench *)*state)->worker, job);
	wait_state(*state, FORS_ACTIVE, 0);
	rest();
	assert_int_equal(atomic_load(&sweeps), 0);
	fake_clock_advance(3600000);
	rest();
	assert_int_equal(atomic_load(&sweeps), 1);
	fake_clock_advance(20000);
	rest();
	assert_int_equal(atomic_load(&sweeps), 2);
	submit(*state, FORS_LOOK_INSTALLED, NULL); /* none is held any more */
	rest();
	fake_clock_advance(40000);
	rest();
	assert_int_equal(atomic_load(&sweeps), 2);
}

/* A quiet fabric is not a stopped one, but a sweep that does not end is: after a minute, or ten times the last one. */
static void the_heart_stops_with_the_sweeps(void **state)
{
	struct bench *bench = *state;

	submit(bench, FORS_LOOK_INSTALLED, NULL);
	wait_state(bench, FORS_ACTIVE, 0);
	assert_true(beats(bench, 10000000));
	fors_worker_note_sweep(bench->worker, FORS_SWEEP_BEGINS);
	assert_true(beats(bench, 50000));
	assert_false(beats(bench, 10000));
	assert_int_equal(errors_logged[FORS_F_SWEEP], 1);
	assert_false(beats(bench, 1000000));
	fors_worker_note_sweep(bench->worker, FORS_SWEEP_ENDS);
	assert_true(beats(bench, 0));
	fors_worker_note_sweep(bench->worker, FORS_SWEEP_BEGINS);
	fake_clock_advance(10000);
	fors_worker_note_sweep(bench->worker, FORS_SWEEP_ENDS);
	fors_worker_note_sweep(bench->worker, FORS_SWEEP_BEGINS);
	assert_true(beats(bench, 90000));
	assert_false(beats(bench, 10000));
	fors_worker_note_sweep(bench->worker, FORS_SWEEP_BROKEN_OFF);
	assert_true(beats(bench, 1000000));
	assert_int_equal(errors_logged[FORS_F_SWEEP], 2);
	fors_worker_note_sweep(bench->worker, FORS_SWEEP_ENDS); /* how long it took nobody knows */
	fors_worker_note_sweep(bench->worker, FORS_SWEEP_BEGINS);
	assert_false(beats(bench, 110000));
	assert_int_equal(errors_logged[FORS_F_SWEEP], 3);
}

/* Heavy sweeps begin, one after the other, and none ends. With the first that does all is as it was. */
static void sweeps_that_fail_are_told(void **state)
{
	struct bench *bench = *state;
	struct fors_status status;
	int64_t epoch, began;

	submit(bench, FORS_LOOK_INSTALLED, NULL);
	epoch = wait_state(bench, FORS_ACTIVE, 0);
	began = (int64_t)fors_clock_unix_ms();
	fors_worker_note_sweep(bench->worker, FORS_SWEEP_BEGINS);
	atomic_fetch_add(&eyes.asked, 1); /* what it asks says nothing before it ends */
	assert_true(beats(bench, 5000));
	fors_worker_note_sweep(bench->worker, FORS_SWEEP_BEGINS);
	wait_state(bench, FORS_INACTIVE, 0);
	assert_true(read_status(bench, &status) && status.known_until_ms <= began);
	fors_status_clear(&status);
	assert_false(beats(bench, 5000));
	assert_int_equal(errors_logged[FORS_F_SWEEP], 1);
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	assert_int_equal(wait_state(bench, FORS_ACTIVE, 0), epoch);
	fors_worker_note_sweep(bench->worker, FORS_SWEEP_ENDS);
	assert_true(beats(bench, 5000));
	fors_worker_note_sweep(bench->worker, FORS_SWEEP_BEGINS);
	fors_worker_note_sweep(bench->worker, FORS_SWEEP_BROKEN_OFF);
	assert_true(beats(bench, 5000));
	atomic_store(&mastership_now, FORS_MASTER_UNDECIDED);
	wait_state(bench, FORS_INACTIVE, 0);
	rest();
	assert_int_equal(errors_logged[FORS_F_SWEEP], 2);
}

/* Where fors declines a sweep may end without another word. */
static void a_sweep_that_is_declined_has_not_failed(void **state)
{
	struct bench *bench = *state;

	for (unsigned i = 0; i < 2; i++) {
		fors_worker_note_sweep(bench->worker, FORS_SWEEP_BEGINS);
		assert_true(!i || beats(bench, 5000));
		submit(bench, FORS_LOOK_DECLINED, NULL);
		wait_state(bench, FORS_INACTIVE, 0);
		assert_true(beats(bench, 5000));
	}
	assert_int_equal(errors_logged[FORS_F_SWEEP], 0);
}

/* Light sweeps are seen by what they ask, heavy ones by their end; and none are made where they are switched off. */
static void who_does_not_look_is_told(void **state)
{
	struct bench *bench = *state;

	atomic_store(&eyes.interval_ms, 10000);
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	wait_state(bench, FORS_ACTIVE, 0);
	for (unsigned i = 0; i < 6; i++) {
		if (i < 4)
			atomic_fetch_add(&eyes.asked, 1);
		else
			fors_worker_note_sweep(bench->worker, FORS_SWEEP_ENDS);
		assert_true(beats(bench, 6000));
	}
	assert_false(beats(bench, 13000));
	wait_state(bench, FORS_INACTIVE, 0);
	assert_int_equal(errors_logged[FORS_F_SWEEP], 1);
	assert_int_equal(atomic_load(&sweeps), 0);
	atomic_fetch_add(&eyes.asked, 1);
	assert_true(beats(bench, 0));
	assert_int_equal(atomic_load(&sweeps), 1);
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	wait_state(bench, FORS_ACTIVE, 0);
	fors_worker_note_sweep(bench->worker, FORS_SWEEP_BEGINS);
	atomic_store(&eyes.is_off, true);
	assert_true(beats(bench, 5000));
	fors_worker_note_sweep(bench->worker, FORS_SWEEP_ENDS);
	assert_false(beats(bench, 5000));
	assert_int_equal(errors_logged[FORS_F_SWEEP], 2);
}

static void newer_fabric_overtakes(void **state)
{
	how_to_plan = PLAN_UNTIL_CANCELLED;
	submit(*state, FORS_LOOK_INSTALLED, NULL);
	while (!atomic_load(&plans))
		usleep(1000);
	submit(*state, FORS_LOOK_INSTALLED, "Leaf01[5]");
	wait_state(*state, FORS_ACTIVE, 0);
	assert_int_equal(atomic_load(&cancelled_plans), 1);
	assert_int_equal(atomic_load(&plans), 2);
}

static void stop_breaks_a_plan_off(void **state)
{
	struct bench *bench = *state;

	how_to_plan = PLAN_UNTIL_CANCELLED;
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	while (!atomic_load(&plans))
		usleep(1000);
	fors_worker_stop(bench->worker);
	bench->worker = NULL;
	assert_int_equal(atomic_load(&cancelled_plans), 1);
}

static void declined_withdraws(void **state)
{
	int64_t epoch;

	submit(*state, FORS_LOOK_INSTALLED, NULL);
	epoch = wait_state(*state, FORS_ACTIVE, 0);
	decline(*state, "not a tree");
	epoch = wait_state(*state, FORS_INACTIVE, epoch + 1);
	assert_published(*state, epoch, 0);
	decline(*state, "not a tree");
	rest();
	assert_published(*state, epoch, 0); /* published once */
	submit(*state, FORS_LOOK_INSTALLED, NULL);
	epoch = wait_state(*state, FORS_ACTIVE, epoch + 1);
	assert_published(*state, epoch, 9);
}

static size_t wait_dead_links(const struct bench *bench, size_t wanted)
{
	size_t count = 0;

	for (int look = 0; look < MANY && count != wanted; look++) {
		struct fors_status status;

		tick();
		if (read_status(bench, &status)) {
			count = status.dead_links.count;
			fors_status_clear(&status);
		}
	}
	return count;
}

/* The reason is the same, but what is broken is not: the status has to say so, and readers need no new epoch. */
static void declined_again_shows_what_broke_since(void **state)
{
	struct fors_look *job;
	int64_t epoch = 0;

	for (int i = 0; i < 2; i++) {
		job = make_job(*state, FORS_LOOK_DECLINED, i ? "Leaf00[4]" : NULL);
		strcpy(job->reason, "no way");
		fors_worker_submit(((struct bench *)*state)->worker, job);
		epoch = wait_state(*state, FORS_INACTIVE, epoch);
		assert_int_equal(wait_dead_links(*state, (size_t)i), i);
	}
	assert_published(*state, epoch, 0);
}

static void lost_mastership_withdraws(void **state)
{
	int64_t epoch;
	int nplans;

	submit(*state, FORS_LOOK_INSTALLED, NULL);
	epoch = wait_state(*state, FORS_ACTIVE, 0);
	atomic_store(&mastership_now, FORS_MASTER_NO);
	epoch = wait_state(*state, FORS_INACTIVE, epoch + 1);
	assert_published(*state, epoch, 0);
	nplans = atomic_load(&plans);
	submit(*state, FORS_LOOK_INSTALLED, "Leaf00[4]");
	rest();
	assert_published(*state, epoch, 0);
	assert_int_equal(atomic_load(&plans), nplans); /* who is not the master plans for nobody */
}

static void no_plan_is_a_failure(void **state)
{
	struct fors_status status;
	int64_t epoch;

	how_to_plan = PLAN_NOT;
	submit(*state, FORS_LOOK_INSTALLED, NULL);
	epoch = wait_state(*state, FORS_FAILED, 0);
	assert_published(*state, epoch, 0);
	assert_true(read_status(*state, &status));
	assert_string_equal(status.reason, "needs lmc 2");
	fors_status_clear(&status);
	submit(*state, FORS_LOOK_INSTALLED, NULL);
	rest();
	assert_int_equal(atomic_load(&plans), 1);
	assert_int_equal(atomic_load(&errors_logged[FORS_F_NOPLAN]), 1);
}

static void wrong_plan_is_not_published(void **state)
{
	how_to_plan = PLAN_WRONG;
	submit(*state, FORS_LOOK_INSTALLED, NULL);
	assert_published(*state, wait_state(*state, FORS_FAILED, 0), 0);
	assert_int_equal(atomic_load(&errors_logged[FORS_F_VERIFY]), 1);
}

/* The same schedule over the same tables: published again, with an epoch above what another SM may have published. */
static void restart_raises_the_epoch(void **state)
{
	struct bench *bench = *state;
	int64_t epoch;

	submit(bench, FORS_LOOK_INSTALLED, NULL);
	epoch = wait_state(bench, FORS_ACTIVE, 0);
	fors_worker_stop(bench->worker);
	wait_state(bench, FORS_INACTIVE, epoch);
	assert_published(bench, epoch, 9);
	start_worker(bench);
	submit(bench, FORS_LOOK_ROUTED, NULL);
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	assert_published(bench, wait_state(bench, FORS_ACTIVE, epoch + 1), 9);
}

/* A schedule is out, and a plan for another fabric takes its time. Returns the epoch that readers see. */
static int64_t plan_for_long(struct bench *bench)
{
	int64_t epoch;

	submit(bench, FORS_LOOK_INSTALLED, NULL);
	epoch = wait_state(bench, FORS_ACTIVE, 0);
	atomic_store(&plans, 0);
	how_to_plan = PLAN_UNTIL_CANCELLED;
	submit(bench, FORS_LOOK_INSTALLED, "Leaf01[5]");
	while (!atomic_load(&plans))
		usleep(1000);
	return epoch;
}

static void the_heart_beats_while_a_plan_is_made(void **state)
{
	struct bench *bench = *state;
	uint64_t beat;

	plan_for_long(bench);
	beat = heartbeat_of(bench);
	fake_clock_advance(3600000);
	for (int look = 0; look < MANY && heartbeat_of(bench) < beat + 3500000; look++)
		tick();
	assert_true(heartbeat_of(bench) >= beat + 3500000);
	assert_int_equal(atomic_load(&cancelled_plans), 0);
}

static void lost_mastership_breaks_a_plan_off(void **state)
{
	int64_t epoch = plan_for_long(*state);

	atomic_store(&mastership_now, FORS_MASTER_NO);
	assert_published(*state, wait_state(*state, FORS_INACTIVE, epoch + 1), 0);
	assert_int_equal(atomic_load(&cancelled_plans), 1);
}

/* The epoch grows all the same, and the heartbeat goes on with the new time at once. */
static void clock_steps_back(void **state)
{
	struct bench *bench = *state;
	int64_t epoch;
	uint64_t beat = 0;

	submit(bench, FORS_LOOK_INSTALLED, NULL);
	epoch = wait_state(bench, FORS_ACTIVE, 0);
	for (int look = 0; look < MANY && !beat; look++, tick())
		beat = heartbeat_of(bench);
	assert_true(beat > 0);
	fake_clock_set(-86400000);
	for (int look = 0; look < MANY && heartbeat_of(bench) >= beat; look++)
		tick();
	assert_true(heartbeat_of(bench) < beat - 80000000);
	decline(bench, "not a tree");
	assert_true(wait_state(bench, FORS_INACTIVE, epoch + 1) > epoch);
	fake_clock_set(86400000);
}

static void folder_that_comes_late_is_filled(void **state)
{
	struct bench *bench = *state;
	FILE *obstacle;
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", bench->directory, bench->folder.name);
	obstacle = fopen(path, "w");
	assert_non_null(obstacle);
	fclose(obstacle);
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	while (!atomic_load(&errors_logged[FORS_F_PUBLISH]))
		usleep(1000);
	assert_int_equal(remove(path), 0);
	assert_published(bench, wait_state(bench, FORS_ACTIVE, 0), 9);
	assert_int_equal(atomic_load(&errors_logged[FORS_F_PUBLISH]), 1);
}

/* ---- nothing unproven ---- */

/* A job of the intact fabric in whose tables nothing goes anywhere. */
static struct fors_look *job_without_ways(struct bench *bench, enum fors_look_kind kind)
{
	struct fors_look *job = make_job(bench, kind, NULL);

	strcpy(job->reason, "OpenSM met errors"); /* for who asks */
	memset(job->lfts->port, FORS_NO_PATH, (size_t)job->lfts->nswitches * job->lfts->nlids);
	return job;
}

/* A job of the intact fabric whose tables differ in what nobody uses: LID 0. */
static struct fors_look *job_with_other_tables(struct bench *bench, enum fors_look_kind kind)
{
	struct fors_look *job = make_job(bench, kind, NULL);

	job->lfts->port[0] ^= 1;
	return job;
}

/* A proof over the tables that were sent holds for just these tables, when the switches have them. */
static void a_proof_holds_for_the_same_tables_only(void **state)
{
	struct bench *bench = *state;

	submit(bench, FORS_LOOK_ROUTED, NULL);
	wait_idle();
	assert_int_equal(atomic_load(&proofs), 1);
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	wait_state(bench, FORS_ACTIVE, 0);
	assert_int_equal(atomic_load(&proofs), 1);

	decline(bench, "another engine");
	wait_state(bench, FORS_INACTIVE, 0);
	submit(bench, FORS_LOOK_ROUTED, NULL);
	wait_idle();
	assert_int_equal(atomic_load(&proofs), 2);
	fors_worker_submit(bench->worker, job_with_other_tables(bench, FORS_LOOK_INSTALLED));
	wait_state(bench, FORS_ACTIVE, 0);
	assert_int_equal(atomic_load(&proofs), 3);
}

/* The same cables, but the switches do not hold what was sent. */
static void a_plan_is_not_published_over_other_tables(void **state)
{
	struct bench *bench = *state;

	submit(bench, FORS_LOOK_ROUTED, NULL);
	wait_idle();
	fors_worker_submit(bench->worker, job_without_ways(bench, FORS_LOOK_INSTALLED));
	assert_published(bench, wait_state(bench, FORS_FAILED, 0), 0);
}

/* The same cables as in the published schedule, other tables: it is proven again, and stays only if it is right. */
static void a_published_schedule_is_proven_again(void **state)
{
	static const enum fors_look_kind kind[] = {FORS_LOOK_ROUTED, FORS_LOOK_INSTALLED, FORS_LOOK_INCOMPLETE};
	struct bench *bench = *state;
	int64_t epoch;

	for (size_t i = 0; i < sizeof(kind) / sizeof(kind[0]); i++) {
		int before;

		submit(bench, FORS_LOOK_INSTALLED, NULL);
		epoch = wait_state(bench, FORS_ACTIVE, 0);
		before = atomic_load(&proofs);
		fors_worker_submit(bench->worker, job_with_other_tables(bench, kind[i]));
		wait_idle();
		assert_published(bench, epoch, 9);
		assert_int_equal(atomic_load(&proofs), before + 1);

		fors_worker_submit(bench->worker, job_without_ways(bench, kind[i]));
		wait_idle();
		epoch = wait_state(bench, kind[i] == FORS_LOOK_INSTALLED ? FORS_FAILED : FORS_PLANNING, epoch + 1);
		assert_published(bench, epoch, 0);
	}
}

/* Whatever may differ between two looks at a fabric makes them two. */
static void jobs_are_the_same_byte_for_byte(void **state)
{
	struct fors_look *a = make_job(*state, FORS_LOOK_ROUTED, NULL), *b = make_job(*state, FORS_LOOK_ROUTED, NULL);
	struct fors_lfts *lfts = b->lfts;
	unsigned char *bytes[] = {
		lfts->port,
		lfts->port + (size_t)lfts->nswitches * lfts->nlids - 1,
		(unsigned char *)&lfts->guid[lfts->nswitches - 1],
	};
	uint64_t basis = fors_look_basis(a);

	assert_true(fors_look_same_tables(a, b));
	assert_true(fors_look_basis(b) == basis);
	for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		*bytes[i] ^= 1;
		assert_false(fors_look_same_tables(a, b));
		assert_true(fors_look_basis(b) != basis);
		*bytes[i] ^= 1;
	}
	b->net->port[b->net->nports - 1].peer ^= 1; /* of cables the fabric's fingerprint speaks, not these */
	assert_false(fors_look_same_tables(a, b));
	b->net->port[b->net->nports - 1].peer ^= 1;
	b->net->node[0].guid ^= 1;
	assert_false(fors_look_same_tables(a, b));
	b->net->node[0].guid ^= 1;
	b->limits.seconds++;
	assert_true(fors_look_basis(b) != basis);
	b->limits.seconds--;
	fors_limit_method(&b->limits, "exact");
	assert_true(fors_look_basis(b) != basis);
	fors_look_free(a);
	fors_look_free(b);
}

/* ---- another subnet manager's epochs ---- */

static void publisher_exceeds_an_epoch(void **state)
{
	struct bench *bench = *state;
	struct fors_publisher publisher;
	struct fors_status status;
	uint64_t epoch;

	fors_worker_stop(bench->worker);
	bench->worker = NULL;
	fors_publisher_open(&publisher, NULL, &bench->folder, NULL);
	assert_false(fors_publisher_exceed(&publisher, 1)); /* nothing to publish yet */
	fors_status_init(&status);
	strcpy(status.reason, "one");
	assert_true(fors_publisher_withdraw(&publisher, &status));
	fors_status_clear(&status);
	epoch = publisher.schedule->epoch;
	assert_true(fors_publisher_exceed(&publisher, epoch)); /* one's own */
	assert_true(fors_publisher_exceed(&publisher, epoch - 1));
	assert_published(bench, (int64_t)epoch, 0);
	epoch += 1000000000; /* days ahead of this host's clock */
	assert_true(fors_publisher_exceed(&publisher, epoch));
	assert_published(bench, (int64_t)epoch + 2, 0);
	assert_true(read_status(bench, &status));
	assert_int_equal(status.epoch, epoch + 2);
	strcpy(status.reason, "another");
	assert_true(fors_publisher_withdraw(&publisher, &status));
	fors_status_clear(&status);
	assert_published(bench, (int64_t)epoch + 4, 0); /* and so does what comes next */
	fors_publisher_close(&publisher);
}

/* A schedule of another subnet manager's. */
static void publish_theirs(const struct fors_folder *folder, uint64_t epoch)
{
	struct fors_schedule *theirs;
	size_t size;
	void *bytes;

	assert_int_equal(fors_schedule_withdrawn(epoch, "another manager's", &theirs, NULL), FORS_OK);
	assert_int_equal(fors_schedule_encode(theirs, &bytes, &size, NULL), FORS_OK);
	assert_int_equal(fors_publish(folder, "schedule", bytes, size, false, NULL), FORS_OK);
	fors_schedule_free(theirs);
	free(bytes);
}

static void epoch_ahead_in_publish_dir_is_exceeded(void **state)
{
	struct bench *bench = *state;
	char dir[80];
	const struct fors_copier_request request = {.dir = dir};
	const struct fors_folder copies = {.parent = dir};
	const struct bench there = {.folder = copies};
	struct fors_schedule *copy = NULL;
	const uint64_t ahead = fors_clock_unix_ms() + 80000000; /* less than a day */
	uint64_t epoch;
	int before;

	snprintf(dir, sizeof(dir), "%s/copies", bench->directory);
	assert_int_equal(mkdir(dir, 0755), 0);
	publish_theirs(&copies, ahead);
	fors_worker_stop(bench->worker);
	assert_int_equal(fors_copier_start(NULL, &bench->folder, &bench->copier, NULL), FORS_OK);
	assert_int_equal(fors_copier_set(bench->copier, &request, NULL), FORS_OK);
	start_worker(bench);
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	epoch = (uint64_t)wait_state(bench, FORS_ACTIVE, (int64_t)ahead + 1);
	assert_published(bench, (int64_t)epoch, 9);
	for (int look = 0; look < MANY && (!copy || copy->epoch != epoch); look++) {
		fors_schedule_free(copy);
		tick();
		copy = published(&there);
	}
	assert_int_equal(copy->epoch, epoch);
	assert_int_equal(copy->nphases, 9);
	fors_schedule_free(copy);
	before = atomic_load(&proofs);
	fors_worker_submit(bench->worker, job_with_other_tables(bench, FORS_LOOK_INSTALLED));
	for (int look = 0; look < MANY && atomic_load(&proofs) == before; look++)
		tick();
	rest();
	assert_published(bench, (int64_t)epoch, 9);
	assert_int_equal(atomic_load(&plans), 1); /* what is published is still what this worker planned */
}

/* ---- what an earlier opensm left ---- */

#define LIMIT ((uint64_t)1 << 52)

/* Put a file into the state folder as it might lie there. */
static void leave(const struct bench *bench, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void leave(const struct bench *bench, const char *name, const char *format, ...)
{
	char text[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	assert_int_equal(fors_publish(&bench->folder, name, text, strlen(text), false, NULL), FORS_OK);
}

/* Schedule, status.json and heartbeat with these epochs, none reserved; 0: it is damaged. */
static void leave_all(const struct bench *bench, uint64_t schedule, uint64_t status, uint64_t heartbeat)
{
	if (schedule)
		publish_theirs(&bench->folder, schedule);
	else
		leave(bench, "schedule", "FORSschd");
	if (status)
		leave(bench, "status.json", "{\"state\": \"active\", \"epoch\": %" PRIu64 "}", status);
	else
		leave(bench, "status.json", "{");
	assert_int_equal(fors_publish_remove(&bench->folder, "epoch", NULL), FORS_OK);
	leave(bench, "heartbeat", heartbeat ? "1700000000000 %" PRIu64 "\n" : "-%" PRIu64, heartbeat);
}

static uint64_t last_reserve; /* while the last one of those was there */

/* What a publisher that begins with these files publishes first; `errors` of them are named as damaged or absurd. */
static uint64_t begin(const struct bench *bench, int errors)
{
	struct fors_publisher publisher;
	struct fors_status status;
	uint64_t epoch;

	atomic_store(&errors_logged[FORS_F_OLDFILE], 0);
	fors_publisher_open(&publisher, NULL, &bench->folder, NULL);
	assert_int_equal(atomic_load(&errors_logged[FORS_F_OLDFILE]), errors);
	fors_status_init(&status);
	strcpy(status.reason, "one");
	assert_true(fors_publisher_withdraw(&publisher, &status));
	fors_status_clear(&status);
	epoch = publisher.schedule->epoch;
	assert_published(bench, (int64_t)epoch, 0);
	assert_true(read_status(bench, &status));
	assert_int_equal(status.epoch, epoch);
	fors_status_clear(&status);
	last_reserve = publisher.reserved;
	fake_clock_advance(5000);
	fors_publisher_beat(&publisher);
	fors_publisher_close(&publisher);
	assert_int_equal(atomic_load(&errors_logged[FORS_F_OLDFILE]), errors);
	fors_publisher_open(&publisher, NULL, &bench->folder, NULL); /* and all is healed */
	assert_int_equal(atomic_load(&errors_logged[FORS_F_OLDFILE]), errors);
	assert_int_equal(publisher.last_epoch, epoch);
	fors_publisher_close(&publisher);
	return epoch;
}

static struct bench *without_worker(void **state)
{
	struct bench *bench = *state;

	fors_worker_stop(bench->worker);
	bench->worker = NULL;
	return bench;
}

/* Nothing is believed: the epoch is the clock's. */
static void assert_clock_again(const struct bench *bench, int errors)
{
	const uint64_t now = fors_clock_unix_ms();

	assert_int_equal(begin(bench, errors), now);
}

/* Whichever of the three has the highest epoch, and whatever is damaged beside it. */
static void highest_of_three_counts(void **state)
{
	struct bench *bench = without_worker(state);
	const uint64_t high = fors_clock_unix_ms() + 3600000, low = high - 1000;

	for (int who = 0; who < 3; who++) {
		leave_all(bench, who == 0 ? high : low, who == 1 ? high : low, who == 2 ? high : low);
		assert_int_equal(begin(bench, 0), high + 2);
		leave_all(bench, who == 0 ? high : 0, who == 1 ? high : 0, who == 2 ? high : 0);
		assert_int_equal(begin(bench, 2), high + 2);
	}
	leave_all(bench, 0, 0, 0);
	assert_clock_again(bench, 3);
}

/* The file `epoch`, 0: there is none. */
static uint64_t reserved(const struct bench *bench)
{
	uint64_t epoch = 0;
	bool is_this_boot;

	assert_int_equal(fors_epoch_of_reserve(&bench->folder, &epoch, &is_this_boot, NULL), FORS_OK);
	return epoch;
}

/*
 * The machine crashes: the disk has files of some time ago, and the number that was reserved before readers saw an epoch.
 * Even with the clock behind the next one is larger than any that they saw; and crash after crash it is not farther ahead.
 */
static void epochs_survive_a_crash(void **state)
{
	struct bench *bench = without_worker(state);
	const uint64_t now = fors_clock_unix_ms();
	uint64_t seen, ahead = 0;

	leave_all(bench, now - 5000, now - 5000, now - 5000);
	seen = begin(bench, 0);
	assert_int_equal(seen, now);
	assert_int_equal(reserved(bench), seen); /* that one has ended as it should */
	fake_clock_set(-3600000);
	for (int crash = 0; crash < 20; crash++) {
		uint64_t next;

		leave_all(bench, now - 5000, now - 5000, now - 5000);
		leave(bench, "epoch", "%" PRIu64 "\n", crash ? ahead : seen);
		next = begin(bench, 0);
		assert_true(next > seen);
		ahead = last_reserve;
		assert_true(ahead >= next && ahead <= now + 20 * 1002);
		seen = next;
	}
	fake_clock_set(3600000);
	leave(bench, "epoch", "%s\n", "-17");
	begin(bench, 1);
}

/*
 * Only opensm was killed: its files say how far it had come, and nothing is skipped. Who takes over then goes by a clock.
 * Unless the schedule is no good: it may have been the only one that knew.
 */
static void a_kill_skips_no_epoch(void **state)
{
	struct bench *bench = without_worker(state);
	const uint64_t now = fors_clock_unix_ms();
	char text[FORS_RESERVE_LENGTH + 1];

	for (int schedule = 0; schedule < 2; schedule++) {
		leave_all(bench, schedule ? now - 5 : 0, now - 5, now - 5);
		fors_epoch_reserve_text(now + 100000, text);
		leave(bench, "epoch", "%s", text);
		if (schedule)
			assert_true(begin(bench, 0) < now + 100000);
		else
			assert_int_equal(begin(bench, 1), now + 100002);
	}
	leave_all(bench, now - 5, now - 5, now - 5);
	leave(bench, "epoch", "%s", text);
	fake_clock_reboot();
	assert_int_equal(begin(bench, 0), now + 100002);
}

/* On a host that boots in 1970 there is no clock to go by. */
static void epochs_grow_in_1970(void **state)
{
	struct bench *bench = without_worker(state);
	const uint64_t now = fors_clock_unix_ms();

	fake_clock_set(-(int64_t)now);
	for (int who = 0; who < 3; who++) {
		leave_all(bench, who == 0 ? now : 0, who == 1 ? now : 0, who == 2 ? now : 0);
		assert_int_equal(begin(bench, 2), now + 2);
	}
	fake_clock_set((int64_t)now);
}

/* Whatever the clock says, what is intact is believed below the limit; and not above. */
static void belief_ends_at_the_limit(void **state)
{
	struct bench *bench = without_worker(state);

	leave_all(bench, LIMIT - 3, 1, 1);
	assert_int_equal(begin(bench, 0), LIMIT - 1);
	leave_all(bench, LIMIT, LIMIT, LIMIT);
	assert_clock_again(bench, 3);
}

/* What 43652b9 wrote after it had believed 2^63 + 15, and what came of 2^64 - 1. */
static void poisoned_folder_heals(void **state)
{
	struct bench *bench = without_worker(state);
	const uint64_t absurd = ((uint64_t)1 << 63) + 16;

	leave_all(bench, absurd, 1, absurd);
	leave(bench, "status.json", "{\"state\": \"active\", \"epoch\": null}");
	assert_clock_again(bench, 2);
	leave_all(bench, UINT64_MAX, 1, UINT64_MAX);
	assert_clock_again(bench, 2);
	publish_theirs(&bench->folder, 0);
	leave(bench, "heartbeat", "1700000000000 0\n");
	leave(bench, "status.json", "{\"state\": \"active\", \"epoch\": null}");
	assert_clock_again(bench, 0);
}

/* A schedule of which readers have seen a later one is not taken up again, and neither is an absurd one. */
static void old_schedule_is_not_inherited(void **state)
{
	struct bench *bench = without_worker(state);
	const uint64_t now = fors_clock_unix_ms();
	const struct {
		uint64_t schedule, heartbeat;
		bool is_inherited;
	} cases[] = {{now, now, true}, {now, now - 1, true}, {now, now + 1, false}, {LIMIT, now, false}};
	struct fors_publisher publisher;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		leave_all(bench, cases[i].schedule, 1, cases[i].heartbeat);
		fors_publisher_open(&publisher, NULL, &bench->folder, NULL);
		assert_int_equal(publisher.schedule != NULL, cases[i].is_inherited);
		assert_int_equal(publisher.is_inherited, cases[i].is_inherited);
		fors_publisher_close(&publisher);
	}
}

/* Memory runs out while the files are read, or while an epoch is exceeded: it is late, and no epoch falls. */
static void memory_runs_out_over_old_files(void **state)
{
	struct bench *bench = without_worker(state);
	const uint64_t high = fors_clock_unix_ms() + 3600000;
	struct fors_status status;
	struct fors_publisher publisher;
	bool has_failed = true;

	for (uint64_t n = 1; has_failed; n++) {
		leave_all(bench, high + n % 3, high + (n + 1) % 3, high + (n + 2) % 3);
		faults_arm(n, false);
		fors_publisher_open(&publisher, NULL, &bench->folder, NULL);
		has_failed = faults_off();
		fors_status_init(&status);
		strcpy(status.reason, "late");
		assert_true(fors_publisher_withdraw(&publisher, &status));
		fors_status_clear(&status);
		assert_published(bench, (int64_t)high + 4, 0);
		fors_publisher_close(&publisher);
	}
	assert_int_equal(atomic_load(&errors_logged[FORS_F_OLDFILE]), 0);
}

/* Memory runs out while an epoch is exceeded, and the clock steps back: what was written is never undone. */
static void memory_runs_out_over_their_epoch(void **state)
{
	struct bench *bench = without_worker(state);
	struct fors_status status;
	struct fors_publisher publisher;
	bool has_failed = true;

	fors_publisher_open(&publisher, NULL, &bench->folder, NULL);
	fors_status_init(&status);
	strcpy(status.reason, "one");
	assert_true(fors_publisher_withdraw(&publisher, &status));
	fors_status_clear(&status);
	for (uint64_t n = 1; has_failed; n++) {
		const uint64_t theirs = publisher.last_epoch + 1;
		uint64_t epoch;

		fake_clock_advance(100000);
		faults_arm(n, false);
		fors_publisher_exceed(&publisher, theirs);
		has_failed = faults_off();
		fors_publisher_retry(&publisher);
		epoch = publisher.schedule->epoch;
		assert_published(bench, (int64_t)epoch, 0);
		fake_clock_set(-90000);
		assert_true(fors_publisher_exceed(&publisher, theirs));
		assert_true(publisher.schedule->epoch >= epoch && publisher.schedule->epoch > theirs);
		assert_published(bench, (int64_t)publisher.schedule->epoch, 0);
		assert_true(read_status(bench, &status));
		assert_int_equal(status.epoch, publisher.schedule->epoch);
		fors_status_clear(&status);
		fake_clock_set(90000);
	}
	fors_publisher_close(&publisher);
}

/* ---- a newer job at each step ---- */

/*
 * While the worker deals with a healthy fabric, `newer` comes at its n-th ask. False: it did not ask so often, and `newer`
 * is freed.
 */
static bool overtake(struct bench *bench, uint64_t n, struct fors_look *newer)
{
	struct fors_look *unused;

	atomic_store(&asking.worker, bench->worker);
	atomic_store(&asking.job, newer);
	atomic_store(&asking.left, (int64_t)n);
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	wait_idle();
	atomic_store(&asking.left, 0);
	unused = atomic_exchange(&asking.job, NULL);
	fors_look_free(unused);
	return !unused;
}

/* Wait until the plan of a fabric is out. */
static void wait_plan(struct bench *bench, uint64_t fingerprint)
{
	for (int look = 0; look < MANY; look++) {
		struct fors_schedule *schedule = published(bench);
		bool is_there = schedule && schedule->nphases && schedule->fingerprint == fingerprint;

		fors_schedule_free(schedule);
		if (is_there)
			return;
		tick();
	}
	fail_msg("the newer job was lost");
}

static uint64_t ask_after(uint64_t n)
{
	return n < 40 ? n + 1 : n + n / 4;
}

static void newer_fabric_at_each_ask(void **state)
{
	bool is_overtaken = true;
	uint64_t n;

	for (n = 1; is_overtaken; n = ask_after(n)) {
		struct fors_look *newer = make_job(*state, FORS_LOOK_INSTALLED, "Leaf00[4]");
		uint64_t fingerprint = newer->fabric->fingerprint;
		int64_t epoch;

		decline(*state, "not a tree");
		epoch = wait_state(*state, FORS_INACTIVE, 0);
		is_overtaken = overtake(*state, n, newer);
		if (is_overtaken)
			wait_plan(*state, fingerprint);
		wait_state(*state, FORS_ACTIVE, epoch + 1);
	}
	assert_true(n > 2);
}

static void declined_at_each_ask(void **state)
{
	int64_t epoch = 0;
	uint64_t n = 1;

	while (overtake(*state, n, declined_job(n % 2 ? "odd" : "even"))) {
		epoch = wait_state(*state, FORS_INACTIVE, epoch + 1);
		assert_published(*state, epoch, 0);
		n = n < 40 ? n + 1 : n + n / 4 + !(n / 4 % 2); /* odd and even by turns: each reason is new */
	}
	assert_true(n > 1);
}

/* ---- over tables that another engine made ---- */

/* The newest status, of which the caller frees nothing. */
static struct fors_status status_now(const struct bench *bench)
{
	struct fors_status status;

	assert_true(read_status(bench, &status));
	fors_status_clear(&status);
	return status;
}

static void over_tables_of_others(void **state)
{
	struct bench *bench = *state;
	struct fors_status status;
	int64_t epoch;

	submit_over(bench, FORS_LOOK_INSTALLED, NULL, 0);
	epoch = wait_state(bench, FORS_ACTIVE, 0);
	status = status_now(bench);
	assert_string_equal(status.tables_by, "minhop");
	assert_string_equal(status.method, "flows");
	assert_int_equal(status.servers, 9);
	assert_int_equal(status.leaves, FORS_UNKNOWN);
	assert_int_equal(status.phases, status.lower_bound);
	submit_over(bench, FORS_LOOK_INSTALLED, NULL, 0);
	rest();
	assert_int_equal(status_now(bench).epoch, epoch);
	assert_int_equal(status_now(bench).state, FORS_ACTIVE);
}

/* Withdrawn at once; a job of before is of no use; one of afterwards is, though the tables are the same again. */
static void changed_tables_withdraw(void **state)
{
	struct bench *bench = *state;
	int64_t epoch;

	submit_over(bench, FORS_LOOK_INSTALLED, NULL, 0);
	epoch = wait_state(bench, FORS_ACTIVE, 0);
	fors_worker_note_change(bench->worker, "test");
	epoch = wait_state(bench, FORS_PLANNING, epoch + 1);
	assert_published(bench, epoch, 0);
	assert_string_equal(status_now(bench).tables_by, "minhop");
	submit_over(bench, FORS_LOOK_INSTALLED, "Leaf00[4]", 0);
	rest();
	assert_published(bench, epoch, 0);
	submit_over(bench, FORS_LOOK_INSTALLED, NULL, 1);
	assert_true(wait_state(bench, FORS_ACTIVE, epoch + 1) > epoch);
}

static void changes_are_nothing_to_tables_of_fors(void **state)
{
	struct bench *bench = *state;
	int64_t epoch;

	submit(bench, FORS_LOOK_INSTALLED, NULL);
	epoch = wait_state(bench, FORS_ACTIVE, 0);
	fors_worker_note_change(bench->worker, "test");
	rest();
	assert_int_equal(status_now(bench).epoch, epoch);
	assert_int_equal(status_now(bench).state, FORS_ACTIVE);
}

/* From the tables of fors to those of another engine and back. */
static void who_routes_may_change(void **state)
{
	struct bench *bench = *state;
	int64_t epoch;

	submit(bench, FORS_LOOK_INSTALLED, NULL);
	epoch = wait_state(bench, FORS_ACTIVE, 0);
	decline(bench, "no tree");
	epoch = wait_state(bench, FORS_INACTIVE, epoch + 1);
	submit_over(bench, FORS_LOOK_INSTALLED, "Leaf00[4]", 0);
	epoch = wait_state(bench, FORS_ACTIVE, epoch + 1);
	fors_worker_note_change(bench->worker, "test");
	submit(bench, FORS_LOOK_ROUTED, NULL);
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	epoch = wait_state(bench, FORS_ACTIVE, epoch + 1);
	assert_int_equal(status_now(bench).leaves, 3);
	fors_worker_note_change(bench->worker, "test");
	rest();
	assert_int_equal(status_now(bench).epoch, epoch);
}

/* Tables change when a proof or a plan asks for the n-th time whether to go on: nothing of them is ever published. */
static void tables_change_at_each_ask(void **state)
{
	struct bench *bench = *state;
	uint64_t changes = 0;
	int64_t epoch;

	submit_over(bench, FORS_LOOK_INSTALLED, NULL, changes);
	epoch = wait_state(bench, FORS_ACTIVE, 0);
	atomic_store(&asking.worker, bench->worker);
	for (uint64_t n = 1;; n++) {
		bool is_changed;

		atomic_store(&asking.left, (int64_t)n);
		submit_over(bench, FORS_LOOK_INSTALLED, "Leaf00[4]", changes);
		rest();
		is_changed = atomic_exchange(&asking.left, 0) <= 0;
		changes += is_changed;
		if (!is_changed)
			break;
		epoch = wait_state(bench, FORS_PLANNING, epoch);
		assert_published(bench, epoch, 0);
		submit_over(bench, FORS_LOOK_INSTALLED, NULL, changes);
		epoch = wait_state(bench, FORS_ACTIVE, epoch + 1);
	}
	assert_true(changes > 1);
	wait_state(bench, FORS_ACTIVE, epoch);
}

/* The same when fors routes again, and looks whether what is published over the other engine's tables still holds. */
static void tables_change_at_each_ask_of_another_job(void **state)
{
	struct bench *bench = *state;
	uint64_t changes = 0;
	int64_t epoch = 0;

	atomic_store(&asking.worker, bench->worker);
	for (uint64_t n = 1; n < 40; n++) {
		submit_over(bench, FORS_LOOK_INSTALLED, NULL, changes);
		epoch = wait_state(bench, FORS_ACTIVE, epoch + 1);
		rest();
		atomic_store(&asking.left, (int64_t)n);
		submit(bench, FORS_LOOK_ROUTED, "Leaf00[4]");
		rest();
		changes += atomic_exchange(&asking.left, 0) <= 0;
		submit(bench, FORS_LOOK_INSTALLED, "Leaf00[4]");
		epoch = wait_state(bench, FORS_ACTIVE, epoch + 1);
		assert_int_equal(status_now(bench).leaves, 3);
		rest();
	}
	assert_true(changes > 1);
}

static void tables_with_a_hole(void **state)
{
	struct bench *bench = *state;
	struct fors_look *job = make_over(bench, FORS_LOOK_INSTALLED, NULL, 0);

	memset(job->lfts->port, FORS_NO_PATH, job->lfts->nlids);
	fors_look_seal(job);
	fors_worker_submit(bench->worker, job);
	assert_published(bench, wait_state(bench, FORS_FAILED, 0), 0);
	assert_non_null(strstr(status_now(bench).reason, "Node"));
	assert_int_equal(atomic_load(&errors_logged[FORS_F_NOPLAN]), 1);
}

/* The sweep met errors: what holds over the tables as they are stays, what does not is withdrawn. */
static void errors_over_tables_of_others(void **state)
{
	struct bench *bench = *state;
	int64_t epoch;

	submit_over(bench, FORS_LOOK_INSTALLED, NULL, 0);
	epoch = wait_state(bench, FORS_ACTIVE, 0);
	submit_over(bench, FORS_LOOK_INCOMPLETE, NULL, 0);
	rest();
	assert_int_equal(status_now(bench).epoch, epoch);
	submit_over(bench, FORS_LOOK_INCOMPLETE, "Leaf00[4]", 0);
	assert_published(bench, wait_state(bench, FORS_PLANNING, epoch + 1), 0);
}

/* Nobody knows over which tables an earlier opensm planned. */
static void changed_tables_withdraw_what_was_inherited(void **state)
{
	struct bench *bench = *state;
	int64_t epoch;

	submit_over(bench, FORS_LOOK_INSTALLED, NULL, 0);
	epoch = wait_state(bench, FORS_ACTIVE, 0);
	fors_worker_stop(bench->worker);
	start_worker(bench);
	rest();
	assert_published(bench, epoch, status_now(bench).phases > 0 ? (uint32_t)status_now(bench).phases : 0);
	fors_worker_note_change(bench->worker, "test");
	assert_published(bench, wait_state(bench, FORS_PLANNING, epoch + 1), 0);
}

/* ---- memory runs out in the worker ---- */

/* A job, and what has to come of it. */
struct step {
	enum fors_look_kind kind;
	const char *down;
	enum fors_state state;
	uint32_t nphases;
	bool is_foreign; /* another engine's tables */
};

/* The epoch after the step. It always grows: each step changes what is published. */
static int64_t take_step(struct bench *bench, const struct step *step, int64_t epoch)
{
	if (step->kind == FORS_LOOK_DECLINED)
		decline(bench, "not a tree");
	else if (step->is_foreign)
		submit_over(bench, step->kind, step->down, 0);
	else
		submit(bench, step->kind, step->down);
	return wait_state(bench, step->state, epoch + 1);
}

/*
 * The n-th allocation of the worker fails, for a while (is_lasting) all after it too: the step comes to its end all
 * the same. False: none failed, n was too large.
 */
static bool step_with_fault(struct bench *bench, const struct step *step, uint64_t n, bool is_lasting, int64_t *epoch)
{
	bool has_failed;

	faults_arm(n, is_lasting);
	if (is_lasting) {
		submit(bench, FORS_LOOK_ROUTED, "Leaf02[6]");
		rest(); /* in which it tries again, and again in vain */
		faults_off();
	}
	*epoch = take_step(bench, step, *epoch);
	has_failed = faults_off();
	assert_published(bench, *epoch, step->nphases);
	return has_failed;
}

static void try_step(struct bench *bench, const struct step *before, const struct step *step, bool is_lasting)
{
	int64_t epoch = 0;

	for (uint64_t n = 1;; n += n < 24 ? 1 : n / 4) {
		epoch = take_step(bench, before, epoch);
		if (!step_with_fault(bench, step, n, is_lasting, &epoch))
			break;
	}
	assert_true(atomic_load(&errors_logged[FORS_F_MEMORY]) > 0);
}

static const struct step gone = {FORS_LOOK_DECLINED, NULL, FORS_INACTIVE, 0, false};
static const struct step healthy = {FORS_LOOK_INSTALLED, NULL, FORS_ACTIVE, 9, false};
static const struct step cut = {FORS_LOOK_INSTALLED, "Leaf00[4]", FORS_ACTIVE, 9, false};

static void memory_runs_out_once(void **state)
{
	faults_spare_me();
	try_step(*state, &gone, &healthy, false);
	try_step(*state, &healthy, &cut, false);
	try_step(*state, &healthy, &gone, false);
}

static const struct step foreign = {FORS_LOOK_INSTALLED, NULL, FORS_ACTIVE, 9, true};

static void memory_runs_out_over_tables_of_others(void **state)
{
	faults_spare_me();
	try_step(*state, &gone, &foreign, false);
	try_step(*state, &foreign, &healthy, false);
}

/* The withdrawal is tried again until it is out. */
static void memory_runs_out_while_tables_change(void **state)
{
	struct bench *bench = *state;
	int64_t epoch = 0;
	bool has_failed = true;

	faults_spare_me();
	for (uint64_t n = 1, changes = 0; has_failed; n++) {
		submit_over(bench, FORS_LOOK_INSTALLED, NULL, changes++);
		epoch = wait_state(bench, FORS_ACTIVE, epoch + 1);
		faults_arm(n, false);
		fors_worker_note_change(bench->worker, "test");
		epoch = wait_state(bench, FORS_PLANNING, epoch + 1);
		has_failed = faults_off();
		assert_published(bench, epoch, 0);
	}
}

static void memory_runs_out_for_a_while(void **state)
{
	faults_spare_me();
	try_step(*state, &gone, &healthy, true);
	try_step(*state, &healthy, &gone, true);
}

/* No worker without memory or threads, and nothing lost. */
static void no_worker_without_memory(void **state)
{
	struct bench *bench = without_worker(state); /* which allocates now and then */
	const struct fors_worker_setup setup = {.folder = &bench->folder, .source = {.mastership = mastership}};
	struct fors_worker *worker = NULL;
	struct fors_error error;
	int64_t live = faults_live();

	faults_arm(1, false);
	assert_int_equal(fors_worker_start(&setup, &worker, &error), FORS_ENOMEM);
	faults_off();
	faults_arm_threads(1);
	assert_int_equal(fors_worker_start(&setup, &worker, &error), FORS_ENOMEM);
	assert_non_null(strstr(error.text, "thread"));
	faults_arm_threads(0);
	faults_arm(1, false);
	assert_null(fors_look_new(FORS_LOOK_INSTALLED));
	faults_off();
	assert_null(worker);
	assert_int_equal(faults_live(), live);
}

/* ---- duties, the end, and what is freed ---- */

static void wait_polls(int n)
{
	const int before = atomic_load(&polls);

	for (int look = 0; look < MANY && atomic_load(&polls) < before + n; look++)
		usleep(LOOK_US);
	assert_true(atomic_load(&polls) >= before + n);
}

/* A plan asks every few milliseconds whether to go on; who is the master is asked once in a tick. */
static void duties_are_seen_to_once_in_a_tick(void **state)
{
	int asked;

	plan_for_long(*state);
	wait_polls(2); /* one of them saw to the duties, and the clock stands still */
	asked = atomic_load(&mastership_asked);
	wait_polls(5);
	assert_int_equal(atomic_load(&mastership_asked), asked);
	fake_clock_advance(TICK_MS);
	wait_polls(2);
	assert_int_equal(atomic_load(&mastership_asked), asked + 1);
}

/* A withdrawal is seen at once; the status follows when the plan is made, or takes longer than a moment. */
static void a_withdrawal_does_not_wait_for_its_status(void **state)
{
	struct bench *bench = *state;
	struct fors_schedule *schedule;
	struct fors_status status;
	int64_t first;

	submit(bench, FORS_LOOK_INSTALLED, NULL);
	first = wait_state(bench, FORS_ACTIVE, 0);
	atomic_store(&plans, 0);
	how_to_plan = PLAN_UNTIL_CANCELLED;
	submit(bench, FORS_LOOK_ROUTED, "Leaf00[4]");
	wait_polls(2);
	schedule = published(bench);
	assert_int_equal(schedule->nphases, 0);
	assert_true((int64_t)schedule->epoch > first);
	assert_true(read_status(bench, &status));
	assert_true(status.state == FORS_ACTIVE && status.epoch == first);
	fors_status_clear(&status);
	fake_clock_advance(50);
	wait_polls(2);
	assert_true(read_status(bench, &status));
	assert_true(status.state == FORS_PLANNING && status.epoch == (int64_t)schedule->epoch);
	fors_status_clear(&status);
	fors_schedule_free(schedule);
}

/* The new master's files are in the same folder: who is not the master says nothing more there, not even at the end. */
static void a_standby_ends_without_a_word(void **state)
{
	struct bench *bench = *state;
	struct fors_status status;
	int64_t epoch;

	submit(bench, FORS_LOOK_INSTALLED, NULL);
	epoch = wait_state(bench, FORS_ACTIVE, 0);
	atomic_store(&mastership_now, FORS_MASTER_NO);
	wait_state(bench, FORS_INACTIVE, epoch + 1);
	rest();
	without_worker(state);
	assert_true(read_status(bench, &status));
	assert_string_equal(status.reason, "this subnet manager is not the master");
	fors_status_clear(&status);
}

/* The proof of what is published runs out of memory: that is said, and the job is tried again. */
static void a_proof_without_memory_is_tried_again(void **state)
{
	struct bench *bench = *state;
	int64_t epoch;
	int before;

	submit(bench, FORS_LOOK_INSTALLED, NULL);
	epoch = wait_state(bench, FORS_ACTIVE, 0);
	rest();
	before = atomic_load(&proofs);
	atomic_store(&proofs_without_memory, 1);
	fors_worker_submit(bench->worker, job_with_other_tables(bench, FORS_LOOK_INCOMPLETE));
	wait_state(bench, FORS_PLANNING, epoch + 1);
	rest();
	assert_int_equal(atomic_load(&proofs_without_memory), 0);
	assert_int_equal(atomic_load(&proofs), before + 1); /* withdrawn: nothing is left to be proven */
	assert_int_equal(atomic_load(&errors_logged[FORS_F_MEMORY]), 1);
}

/* Memory is short when mastership is lost: what is published is withdrawn later. */
static void mastership_lost_without_memory(void **state)
{
	struct bench *bench = *state;
	int64_t epoch;

	faults_spare_me();
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	epoch = wait_state(bench, FORS_ACTIVE, 0);
	rest();
	faults_arm(1, true);
	atomic_store(&mastership_now, FORS_MASTER_NO);
	rest();
	assert_published(bench, epoch, 9);
	assert_true(faults_off());
	assert_published(bench, wait_state(bench, FORS_INACTIVE, epoch + 1), 0);
}

/* A worker with a job to be tried again, for want of memory, that a newer one supersedes. */
static void supersede(struct bench *bench)
{
	start_worker(bench);
	rest();
	faults_arm(1, true);
	submit(bench, FORS_LOOK_INSTALLED, "Leaf00[4]");
	rest();
	decline(bench, "another engine"); /* while memory is still short, so the older one cannot have been done */
	rest();
	assert_true(faults_off());
	wait_state(bench, FORS_INACTIVE, 0);
	fors_worker_stop(bench->worker);
	bench->worker = NULL;
}

static void superseded_jobs_are_freed(void **state)
{
	struct bench *bench = without_worker(state);
	int64_t live;

	faults_spare_me();
	supersede(bench); /* what is allocated once for all is there from now on */
	live = faults_live();
	supersede(bench);
	assert_int_equal(faults_live(), live);
}

/* A status with a dead link is published, and exceeds an epoch. */
static void exceed(struct bench *bench)
{
	struct fors_look *job = make_job(bench, FORS_LOOK_INSTALLED, "Leaf00[4]");
	struct fors_status status;
	struct fors_publisher publisher;

	fors_publisher_open(&publisher, NULL, &bench->folder, NULL);
	fors_status_init(&status);
	assert_int_equal(fors_status_tree(&status, &job->tree, NULL), FORS_OK);
	assert_int_equal(status.dead_links.count, 1);
	strcpy(status.reason, "one");
	assert_true(fors_publisher_withdraw(&publisher, &status));
	fors_status_clear(&status);
	assert_true(fors_publisher_exceed(&publisher, publisher.schedule->epoch + 5));
	fors_publisher_close(&publisher);
	fors_look_free(job);
}

static void exceeding_loses_nothing(void **state)
{
	struct bench *bench = without_worker(state);
	int64_t live;

	exceed(bench);
	live = faults_live();
	exceed(bench);
	assert_int_equal(faults_live(), live);
	assert_false(faults_leaked());
}

/* While the worker makes a plan, of two things that are handed in the first is superfluous. */
static void hand_in_twice(struct bench *bench)
{
	start_worker(bench);
	atomic_store(&plans, 0);
	how_to_plan = PLAN_UNTIL_CANCELLED;
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	wait_polls(2); /* duties are not due again before the clock moves */
	for (int i = 0; i < 2; i++) {
		submit(bench, FORS_LOOK_INSTALLED, NULL); /* does not overtake its like */
		fors_worker_keep(bench->worker, strdup("places"), 6);
	}
	fors_worker_stop(bench->worker);
	bench->worker = NULL;
}

static void what_nobody_takes_is_freed(void **state)
{
	struct bench *bench = without_worker(state);
	int64_t live;

	hand_in_twice(bench);
	live = faults_live();
	hand_in_twice(bench);
	assert_int_equal(faults_live(), live);
}

/* A plan was broken off since mastership was lost; it is back before the duties are due again. */
static void mastership_comes_back_at_once(void **state)
{
	struct bench *bench = *state;
	const int64_t epoch = plan_for_long(bench);

	wait_polls(2);
	atomic_store(&mastership_now, FORS_MASTER_NO);
	fake_clock_advance(TICK_MS);
	for (int look = 0; look < MANY && !atomic_load(&cancelled_plans); look++)
		usleep(LOOK_US);
	wait_idle();
	atomic_store(&mastership_now, FORS_MASTER_YES);
	submit(bench, FORS_LOOK_INSTALLED, "Leaf01[5]");
	wait_idle();
	assert_published(bench, wait_state(bench, FORS_ACTIVE, epoch + 1), 9);
	assert_int_equal(atomic_load(&cancelled_plans), 1);
}

/* What the engine says of a sweep is in the status. */
static void times_and_warnings_are_shown(void **state)
{
	struct bench *bench = *state;
	struct fors_look *job = make_job(bench, FORS_LOOK_INSTALLED, NULL);
	struct fors_status status;

	job->tables_ms = 12.5;
	fors_warn(&job->warnings, "look here");
	fors_worker_submit(bench->worker, job);
	wait_state(bench, FORS_ACTIVE, 0);
	assert_true(read_status(bench, &status));
	assert_true(status.tables_ms > 12 && status.tables_ms < 13);
	assert_int_equal(status.warnings.count, 1);
	assert_string_equal(status.warnings.text[0], "look here");
	fors_status_clear(&status);
}

/* The status, which is there. */
static struct fors_status status_of(struct bench *bench)
{
	struct fors_status status;

	assert_true(read_status(bench, &status));
	fors_status_clear(&status);
	return status;
}

/* There is no schedule, as before: why there is none may change, and no reader has to look at another epoch. */
static void another_reason_is_no_epoch(void **state)
{
	struct bench *bench = *state;
	struct fors_look *job = job_without_ways(bench, FORS_LOOK_INCOMPLETE);
	int64_t epoch;

	fors_worker_submit(bench->worker, job_without_ways(bench, FORS_LOOK_INCOMPLETE));
	epoch = wait_state(bench, FORS_PLANNING, 0);
	strcpy(job->reason, "other errors");
	fors_worker_submit(bench->worker, job);
	rest();
	assert_string_equal(status_of(bench).reason, "other errors");
	assert_int_equal(status_of(bench).epoch, epoch);
}

/* The numbers of a plan go with its schedule: they are not those of one that was withdrawn. */
static void numbers_of_a_plan_go_with_it(void **state)
{
	struct bench *bench = *state;
	struct fors_look *job = make_job(bench, FORS_LOOK_INSTALLED, "Leaf00[4]");
	int64_t epoch;

	submit(bench, FORS_LOOK_INSTALLED, NULL);
	epoch = wait_state(bench, FORS_ACTIVE, 0);
	assert_int_equal(status_of(bench).lower_bound, 9);
	how_to_plan = PLAN_NOT;
	submit(bench, FORS_LOOK_INSTALLED, "Leaf00[4]");
	wait_state(bench, FORS_FAILED, epoch + 1);
	fors_warn(&job->warnings, "look here");
	fors_worker_submit(bench->worker, job);
	rest();
	assert_int_equal(status_of(bench).warnings.count, 1);
	assert_int_equal(status_of(bench).lower_bound, FORS_UNKNOWN);
	assert_int_equal(status_of(bench).state, FORS_FAILED);
}

/* ---- early: when the switches have the tables, before the sweep has ended ---- */

/* Tables on their way, and the word that they are in. Fabric: what the sweep before ended with, less what is down. */
static struct fors_look *early_job(struct bench *bench, const char *down, uint64_t number)
{
	struct fors_look *job = make_job(bench, FORS_LOOK_ROUTED, down);

	job->number = number;
	job->is_active = true;
	return job;
}

static void confirm(struct bench *bench, struct fors_look *job, uint64_t number)
{
	fors_worker_submit(bench->worker, job);
	rest();
	fors_worker_note_tables(bench->worker, number);
	rest();
}

static int64_t bring_up(struct bench *bench)
{
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	return wait_state(bench, FORS_ACTIVE, 0);
}

static void assert_state(const struct bench *bench, enum fors_state state)
{
	struct fors_status status;

	assert_true(read_status(bench, &status));
	assert_int_equal(status.state, state);
	fors_status_clear(&status);
}

static struct fors_look *job_with_errors(struct bench *bench, const char *down)
{
	struct fors_look *job = make_job(bench, FORS_LOOK_INCOMPLETE, down);

	strcpy(job->reason, "OpenSM met errors");
	return job;
}

/* After a loss the plan is out when its tables are in; the end of the sweep finds nothing to do. */
static void a_loss_is_published_early(void **state)
{
	struct bench *bench = *state;
	int64_t first = bring_up(bench), second;

	fors_worker_submit(bench->worker, early_job(bench, "Leaf00[4]", 7));
	fors_worker_note_tables(bench->worker, 7); /* perhaps while it plans */
	second = wait_state(bench, FORS_ACTIVE, first + 1);
	assert_published(bench, second, 9);
	submit(bench, FORS_LOOK_INSTALLED, "Leaf00[4]");
	rest();
	assert_state(bench, FORS_ACTIVE);
	assert_published(bench, second, 9);
	assert_int_equal(atomic_load(&plans), 2);
	confirm(bench, early_job(bench, "Spine00", 8), 8); /* from there on */
	wait_state(bench, FORS_ACTIVE, second + 1);
}

static uint64_t fingerprint_of(const struct bench *bench)
{
	struct fors_schedule *schedule = published(bench);
	uint64_t fingerprint = schedule->fingerprint;

	fors_schedule_free(schedule);
	return fingerprint;
}

/* A plan waits for the switches' word; what overtakes it is published in its place. */
static void a_plan_that_waits_is_overtaken(void **state)
{
	struct bench *bench = *state;
	int64_t first = bring_up(bench), second;
	uint64_t intact = fingerprint_of(bench);

	fors_worker_submit(bench->worker, early_job(bench, "Leaf00[4]", 7));
	rest();
	fors_worker_submit(bench->worker, early_job(bench, "Leaf00[5]", 8));
	rest();
	fors_worker_note_tables(bench->worker, 8);
	second = wait_state(bench, FORS_ACTIVE, first + 1);
	assert_published(bench, second, 9);
	fors_worker_submit(bench->worker, early_job(bench, "Spine00", 9));
	rest();
	submit(bench, FORS_LOOK_INSTALLED, NULL); /* what is published then is of this one */
	wait_state(bench, FORS_ACTIVE, second + 1);
	rest();
	assert_true(fingerprint_of(bench) == intact);
}

static struct fors_failover failover_of(const struct bench *bench)
{
	struct fors_status status;
	struct fors_failover failover;

	assert_true(read_status(bench, &status));
	failover = status.failover;
	fors_status_clear(&status);
	return failover;
}

static void assert_file_has(const struct bench *bench, const char *name, const char *text)
{
	void *bytes = NULL;
	size_t size;

	assert_int_equal(fors_published(&bench->folder, name, 1 << 20, &bytes, &size, NULL), FORS_OK);
	assert_non_null(bytes);
	if (!strstr(bytes, text))
		fail_msg("%s has no %s", name, text);
	free(bytes);
}

/* How often the history has a text. */
static int count_in_history(const struct bench *bench, const char *text)
{
	void *bytes = NULL;
	size_t size;
	int count = 0;

	assert_int_equal(fors_published(&bench->folder, "history", 1 << 20, &bytes, &size, NULL), FORS_OK);
	assert_non_null(bytes);
	for (const char *at = bytes; (at = strstr(at, text)); at++)
		count++;
	free(bytes);
	return count;
}

/* A step of OpenSM's, so many milliseconds from now; when that is. */
static double step(struct bench *bench, uint64_t ms, enum fors_step which)
{
	fake_clock_advance(ms);
	fors_worker_note_step(bench->worker, which, fors_clock_exact_ms());
	return fors_clock_exact_ms();
}

/* Times of what was seen, 0 for what was not; they count from the first. */
static void assert_steps(const struct bench *bench, int64_t epoch, const double at[FORS_NSTEPS], double begin)
{
	struct fors_failover failover = failover_of(bench);

	assert_int_equal(failover.epoch, epoch);
	for (int i = 0; i < FORS_NSTEPS; i++)
		if (failover.ms[i] != (at[i] > 0 ? at[i] - begin : -1))
			fail_msg("%s is %f, not %f", fors_step_name((enum fors_step)i), failover.ms[i], at[i] - begin);
}

#define COUNTED(step, n) ",step=\"" step "\"} " n "\n"

/* One record: what is known when the schedule is out, and in the end the rest; counted once. */
static void a_failover_is_measured(void **state)
{
	struct bench *bench = *state;
	int64_t first = bring_up(bench), second;
	struct fors_look *job = early_job(bench, "Leaf00[4]", 7);
	double at[FORS_NSTEPS] = {0};

	assert_int_equal(failover_of(bench).epoch, FORS_UNKNOWN); /* nothing was lost */
	at[FORS_STEP_TRAP] = step(bench, 100, FORS_STEP_TRAP);
	at[FORS_STEP_SWEEP] = step(bench, 1, FORS_STEP_SWEEP);
	step(bench, 1, FORS_STEP_TRAP); /* of the other end of the cable */
	at[FORS_STEP_DISCOVERED] = step(bench, 2, FORS_STEP_DISCOVERED);
	fake_clock_advance(6);
	job->tables_ms = 1;
	at[FORS_STEP_PLANNED] = at[FORS_STEP_FILLED] = fors_clock_exact_ms();
	at[FORS_STEP_ASKED] = at[FORS_STEP_FILLED] - 1;
	fors_worker_submit(bench->worker, job);
	rest();
	at[FORS_STEP_FIRST_BLOCK] = step(bench, 5, FORS_STEP_FIRST_BLOCK);
	at[FORS_STEP_LAST_BLOCK] = step(bench, 6, FORS_STEP_LAST_BLOCK);
	at[FORS_STEP_PUBLISHED] = at[FORS_STEP_CONFIRMED] = step(bench, 7, FORS_STEP_CONFIRMED);
	fors_worker_note_tables(bench->worker, 7);
	wait_idle();
	second = wait_state(bench, FORS_ACTIVE, first + 1);
	assert_steps(bench, second, at, at[FORS_STEP_TRAP]);
	at[FORS_STEP_UP] = step(bench, 8, FORS_STEP_UP);
	submit(bench, FORS_LOOK_INSTALLED, "Leaf00[4]");
	rest();
	assert_steps(bench, second, at, at[FORS_STEP_TRAP]);
	assert_file_has(bench, "metrics.prom", COUNTED("published", "1"));
	assert_file_has(bench, "metrics.prom", COUNTED("copied", "0"));
	assert_file_has(bench, "history", "readers had the schedule after ");
	step(bench, 100, FORS_STEP_SWEEP); /* a cable is back: that is no failover, and the record stays */
	confirm(bench, early_job(bench, NULL, 8), 8);
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	wait_state(bench, FORS_ACTIVE, second + 1);
	rest();
	assert_steps(bench, second, at, at[FORS_STEP_TRAP]);
	assert_file_has(bench, "metrics.prom", COUNTED("published", "1"));
}

/* The worker was busy, and has only the end of the sweep left to see: that is a failover all the same. */
static void a_failover_that_was_missed(void **state)
{
	struct bench *bench = *state;
	int64_t first = bring_up(bench), second;
	struct fors_look *installed = make_job(bench, FORS_LOOK_INSTALLED, "Leaf00[4]");

	step(bench, 100, FORS_STEP_SWEEP);
	installed->number = 7;
	atomic_store(&asking.worker, bench->worker);
	atomic_store(&asking.job, early_job(bench, "Leaf00[4]", 7));
	atomic_store(&asking.next, installed);
	atomic_store(&asking.left, 1);
	submit(bench, FORS_LOOK_INSTALLED, "Leaf00[5]");
	second = wait_state(bench, FORS_ACTIVE, first + 1);
	assert_int_equal(failover_of(bench).epoch, second);
	assert_true(failover_of(bench).ms[FORS_STEP_SWEEP] >= 0);
}

/* The sweep that found the loss met errors: the failover began with it all the same. Its end may never be seen. */
static void a_failover_of_two_sweeps(void **state)
{
	struct bench *bench = *state;
	int64_t first = bring_up(bench), second;
	double begin, at[FORS_NSTEPS] = {0};

	begin = step(bench, 100, FORS_STEP_SWEEP);
	fors_worker_submit(bench->worker, early_job(bench, "Leaf00[4]", 1));
	at[FORS_STEP_PLANNED] = begin;
	rest();
	step(bench, 5, FORS_STEP_UP);
	fors_worker_submit(bench->worker, job_with_errors(bench, "Leaf00[4]"));
	rest();
	at[FORS_STEP_SWEEP] = step(bench, 10, FORS_STEP_SWEEP);
	at[FORS_STEP_FILLED] = at[FORS_STEP_PLANNED] = fors_clock_exact_ms();
	fors_worker_submit(bench->worker, early_job(bench, "Leaf00[4]", 2));
	rest();
	at[FORS_STEP_PUBLISHED] = fors_clock_exact_ms();
	submit(bench, FORS_LOOK_INSTALLED, "Leaf00[4]");
	wait_idle();
	second = wait_state(bench, FORS_ACTIVE, first + 1);
	assert_steps(bench, second, at, begin);
	rest();
	assert_file_has(bench, "metrics.prom", COUNTED("published", "0"));
	fake_clock_advance(10000);
	rest();
	assert_file_has(bench, "metrics.prom", COUNTED("published", "1"));
	assert_file_has(bench, "metrics.prom", COUNTED("up", "0"));
}

/* No word, one of other tables, one for tables that the sweep made over ports that are down, or of a fabric unknown. */
static void what_is_not_published_early(void **state)
{
	struct bench *bench = *state;
	struct fors_look *job;

	confirm(bench, early_job(bench, NULL, 1), 1);
	assert_state(bench, FORS_PLANNING); /* nothing was up before */
	bring_up(bench);
	confirm(bench, early_job(bench, "Leaf00[4]", 2), 1);
	assert_state(bench, FORS_PLANNING);
	job = early_job(bench, "Leaf00[5]", 3);
	job->is_active = false;
	confirm(bench, job, 3);
	assert_state(bench, FORS_PLANNING);
	how_to_plan = PLAN_WRONG;
	confirm(bench, early_job(bench, "Leaf00[6]", 4), 4);
	assert_state(bench, FORS_PLANNING);
	how_to_plan = PLAN_WELL;
	submit(bench, FORS_LOOK_INSTALLED, "Leaf00[4]");
	wait_state(bench, FORS_ACTIVE, 0);
	confirm(bench, early_job(bench, NULL, 5), 5); /* a cable is back */
	assert_state(bench, FORS_PLANNING);
	confirm(bench, early_job(bench, "Spine00", 6), 6);
	assert_state(bench, FORS_ACTIVE); /* none is back after all: what was up is what counts */
}

static void another_lid_waits(void **state)
{
	struct bench *bench = *state;
	struct fors_look *job = early_job(bench, "Leaf00[4]", 1);

	bring_up(bench);
	fors_net_port(job->net, fors_net_find_guid(job->net, job->fabric->leaf[0].guid), 0)->lid += 40;
	confirm(bench, job, 1);
	assert_state(bench, FORS_PLANNING);
}

/* Errors that come out at the end: what was early goes, and the next one waits until a sweep meets none. */
static void early_and_then_errors(void **state)
{
	struct bench *bench = *state;
	int64_t epoch = bring_up(bench);

	confirm(bench, early_job(bench, "Leaf00[4]", 1), 1);
	epoch = wait_state(bench, FORS_ACTIVE, epoch + 1);
	fors_worker_submit(bench->worker, job_with_errors(bench, "Leaf00[4]"));
	epoch = wait_state(bench, FORS_PLANNING, epoch + 1);
	assert_published(bench, epoch, 0);
	confirm(bench, early_job(bench, "Leaf00[4]", 2), 2);
	assert_published(bench, epoch, 0);
	fors_worker_submit(bench->worker, job_with_errors(bench, "Leaf00[4]"));
	rest();
	assert_published(bench, epoch, 0);
	submit(bench, FORS_LOOK_INSTALLED, "Leaf00[4]");
	epoch = wait_state(bench, FORS_ACTIVE, epoch + 1);
	confirm(bench, early_job(bench, "Spine00", 3), 3);
	epoch = wait_state(bench, FORS_ACTIVE, epoch + 1);
	submit(bench, FORS_LOOK_INSTALLED, "Spine00");
	rest();
	fors_worker_submit(bench->worker, job_with_errors(bench, "Spine00")); /* of a later sweep: it is still right */
	rest();
	assert_published(bench, epoch, 9);
}

static void early_and_then_declined(void **state)
{
	struct bench *bench = *state;
	int64_t epoch = bring_up(bench);

	confirm(bench, early_job(bench, "Leaf00[4]", 1), 1);
	epoch = wait_state(bench, FORS_ACTIVE, epoch + 1);
	decline(bench, "the fabric is routed by 'minhop'");
	epoch = wait_state(bench, FORS_INACTIVE, epoch + 1);
	assert_published(bench, epoch, 0);
	confirm(bench, early_job(bench, "Leaf00[5]", 2), 2); /* what was done meanwhile nobody knows */
	assert_state(bench, FORS_PLANNING);
}

/* The worker was busy, and reads that the tables are in only after what came of the next sweep. */
static void the_word_comes_after_what_followed(void **state)
{
	struct bench *bench = *state;
	int64_t epoch = bring_up(bench);

	fors_worker_submit(bench->worker, early_job(bench, "Leaf00[4]", 1));
	rest();
	decline(bench, "two leaves have no common spine");
	epoch = wait_state(bench, FORS_INACTIVE, epoch + 1);
	fors_worker_note_tables(bench->worker, 1);
	rest();
	assert_state(bench, FORS_INACTIVE);
	assert_published(bench, epoch, 0);
	submit(bench, FORS_LOOK_INSTALLED, "Leaf00[4]");
	epoch = wait_state(bench, FORS_ACTIVE, epoch + 1);
	fors_worker_submit(bench->worker, early_job(bench, "Spine00", 2));
	rest();
	fors_worker_submit(bench->worker, job_with_errors(bench, "Spine00"));
	rest();
	fors_worker_note_tables(bench->worker, 2);
	rest();
	assert_state(bench, FORS_PLANNING);
}

/* The plan is ready when its tables are in, but tables of others are on their way already: nobody shall follow it. */
static void what_overtakes_a_plan_that_is_ready(void **state)
{
	struct bench *bench = *state;
	int64_t epoch = bring_up(bench);
	struct fors_look *job = make_job(bench, FORS_LOOK_DECLINED, NULL);

	strcpy(job->reason, "the fabric is routed by 'minhop'");
	fors_worker_submit(bench->worker, early_job(bench, "Leaf00[4]", 1));
	rest();
	atomic_store(&asking.worker, bench->worker);
	atomic_store(&late, job);
	submit(bench, FORS_LOOK_INSTALLED, "Leaf00[4]");
	wait_state(bench, FORS_INACTIVE, epoch + 1);
	rest();
	assert_int_equal(count_in_history(bench, "closed-form"), 1);
}

static void mastership_lost_and_early(void **state)
{
	struct bench *bench = *state;
	int64_t epoch = bring_up(bench);

	fors_worker_submit(bench->worker, early_job(bench, "Leaf00[4]", 1));
	wait_state(bench, FORS_PLANNING, 0);
	rest();
	atomic_store(&mastership_now, FORS_MASTER_UNDECIDED);
	fors_worker_note_tables(bench->worker, 1);
	rest();
	assert_state(bench, FORS_PLANNING);
	atomic_store(&mastership_now, FORS_MASTER_YES);
	confirm(bench, early_job(bench, "Leaf00[4]", 2), 2); /* the same tables once more */
	epoch = wait_state(bench, FORS_ACTIVE, epoch + 1);
	atomic_store(&mastership_now, FORS_MASTER_NO);
	epoch = wait_state(bench, FORS_INACTIVE, epoch + 1);
	assert_published(bench, epoch, 0);
	atomic_store(&mastership_now, FORS_MASTER_YES);
	rest();
	confirm(bench, early_job(bench, "Leaf00[5]", 3), 3);
	assert_state(bench, FORS_PLANNING);
}

#define ON_A_BENCH(test) cmocka_unit_test_setup_teardown(test, open_bench, close_bench)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_A_BENCH(installed_job_is_published),
		ON_A_BENCH(files_are_synced_when_it_is_quiet),
		ON_A_BENCH(routed_job_alone_is_not),
		ON_A_BENCH(same_fabric_leaves_no_trace),
		ON_A_BENCH(cut_cable_withdraws_and_returns),
		ON_A_BENCH(errors_of_opensm_publish_nothing),
		ON_A_BENCH(errors_that_stay_are_published_once),
		ON_A_BENCH(no_heartbeat_beside_an_old_schedule),
		ON_A_BENCH(held_cables_ask_for_a_sweep),
		ON_A_BENCH(the_heart_stops_with_the_sweeps),
		ON_A_BENCH(sweeps_that_fail_are_told),
		ON_A_BENCH(a_sweep_that_is_declined_has_not_failed),
		ON_A_BENCH(who_does_not_look_is_told),
		ON_A_BENCH(newer_fabric_overtakes),
		ON_A_BENCH(stop_breaks_a_plan_off),
		ON_A_BENCH(declined_withdraws),
		ON_A_BENCH(declined_again_shows_what_broke_since),
		ON_A_BENCH(lost_mastership_withdraws),
		ON_A_BENCH(lost_mastership_breaks_a_plan_off),
		ON_A_BENCH(the_heart_beats_while_a_plan_is_made),
		ON_A_BENCH(no_plan_is_a_failure),
		ON_A_BENCH(wrong_plan_is_not_published),
		ON_A_BENCH(restart_raises_the_epoch),
		ON_A_BENCH(clock_steps_back),
		ON_A_BENCH(folder_that_comes_late_is_filled),
		ON_A_BENCH(a_proof_holds_for_the_same_tables_only),
		ON_A_BENCH(a_plan_is_not_published_over_other_tables),
		ON_A_BENCH(a_published_schedule_is_proven_again),
		ON_A_BENCH(jobs_are_the_same_byte_for_byte),
		ON_A_BENCH(publisher_exceeds_an_epoch),
		ON_A_BENCH(epoch_ahead_in_publish_dir_is_exceeded),
		ON_A_BENCH(highest_of_three_counts),
		ON_A_BENCH(epochs_survive_a_crash),
		ON_A_BENCH(a_kill_skips_no_epoch),
		ON_A_BENCH(epochs_grow_in_1970),
		ON_A_BENCH(belief_ends_at_the_limit),
		ON_A_BENCH(poisoned_folder_heals),
		ON_A_BENCH(old_schedule_is_not_inherited),
		ON_A_BENCH(memory_runs_out_over_old_files),
		ON_A_BENCH(memory_runs_out_over_their_epoch),
		ON_A_BENCH(newer_fabric_at_each_ask),
		ON_A_BENCH(declined_at_each_ask),
		ON_A_BENCH(over_tables_of_others),
		ON_A_BENCH(changed_tables_withdraw),
		ON_A_BENCH(changes_are_nothing_to_tables_of_fors),
		ON_A_BENCH(who_routes_may_change),
		ON_A_BENCH(tables_change_at_each_ask),
		ON_A_BENCH(tables_change_at_each_ask_of_another_job),
		ON_A_BENCH(tables_with_a_hole),
		ON_A_BENCH(errors_over_tables_of_others),
		ON_A_BENCH(changed_tables_withdraw_what_was_inherited),
		ON_A_BENCH(no_worker_without_memory),
		ON_A_BENCH(memory_runs_out_once),
		ON_A_BENCH(memory_runs_out_for_a_while),
		ON_A_BENCH(duties_are_seen_to_once_in_a_tick),
		ON_A_BENCH(a_withdrawal_does_not_wait_for_its_status),
		ON_A_BENCH(a_standby_ends_without_a_word),
		ON_A_BENCH(a_proof_without_memory_is_tried_again),
		ON_A_BENCH(mastership_lost_without_memory),
		ON_A_BENCH(superseded_jobs_are_freed),
		ON_A_BENCH(exceeding_loses_nothing),
		ON_A_BENCH(what_nobody_takes_is_freed),
		ON_A_BENCH(mastership_comes_back_at_once),
		ON_A_BENCH(times_and_warnings_are_shown),
		ON_A_BENCH(another_reason_is_no_epoch),
		ON_A_BENCH(numbers_of_a_plan_go_with_it),
		ON_A_BENCH(memory_runs_out_over_tables_of_others),
		ON_A_BENCH(memory_runs_out_while_tables_change),
		ON_A_BENCH(a_loss_is_published_early),
		ON_A_BENCH(a_plan_that_waits_is_overtaken),
		ON_A_BENCH(what_is_not_published_early),
		ON_A_BENCH(a_failover_is_measured),
		ON_A_BENCH(a_failover_of_two_sweeps),
		ON_A_BENCH(a_failover_that_was_missed),
		ON_A_BENCH(another_lid_waits),
		ON_A_BENCH(early_and_then_errors),
		ON_A_BENCH(early_and_then_declined),
		ON_A_BENCH(the_word_comes_after_what_followed),
		ON_A_BENCH(what_overtakes_a_plan_that_is_ready),
		ON_A_BENCH(mastership_lost_and_early),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
