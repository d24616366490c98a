/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of daemon/worker/worker_jobs.c, worker_jobplan.c, jobs.c, jobs_file.c and copies_jobs.c, without OpenSM: what readers
 * have of several jobs after what. The clock is the test's own.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fabric/lids.h"
#include "core/fabric/places.h"
#include "core/fabric/places_file.h"
#include "core/net/tree_net.h"
#include "core/schedule/schedule_file.h"
#include "core/schedule/verify.h"
#include "core/status/status_json.h"
#include "daemon/base/clock.h"
#include "daemon/files/input.h"
#include "daemon/base/log.h"
#include "daemon/worker/worker.h"
#include "fake_clock.h"
#include "faults.h"
#include "jobs_bench.h"
#include "scattered_jobs.h"
#include "unit.h"

#define DAY_MS 86400000
#define MINUTE_MS 60000

#define ONE "one [exclusive]: Node00-00, Node00-01, Node01-00, Node01-01\n"
#define TWO "two [exclusive]: Node00-02, Node01-02, Node02-00, Node02-01\n"
#define WIDE "one [exclusive]: Node00-00, Node00-01, Node00-02, Node00-03, Node01-00, Node01-01, Node01-02, Node01-03\n"
#define SMALL "two: Node02-00, Node03-00\n"

/* --- tests ---------------------------------------------------------------------------------------------------- */

static int open_three_levels(void **state)
{
	return jobs_bench_open_on(state, "XGFT(3;2,2,2;1,2,2)", 2);
}

static int open_larger_bench(void **state)
{
	return jobs_bench_open_on(state, "FT(2;8,8)", 3);
}

#define CASE(name) TEST(name, jobs_bench_open, jobs_bench_close)

/*
 * Jobs begin and end by the file alone; who is not touched keeps the epoch; a day later nothing is left of who ended.
 */
CASE(come_and_go)
{
	struct bench *bench = *state;
	const struct fors_folder copies = {.parent = bench->copies};
	uint64_t one, two;

	write_jobs(bench, ONE TWO);
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	one = wait_job(bench, "one", 4, 0);
	two = wait_job(bench, "two", 4, 0);
	wait_status(bench, "\"state\": \"active\"", true);
	assert_int_equal(wait_in(copies, "one", 4, 0), one);
	write_jobs(bench, TWO "three: Node03-03\n");
	assert_true(wait_job(bench, "one", 0, one) > one);
	wait_job(bench, "three", 1, 0);
	assert_int_equal(wait_job(bench, "two", 4, 0), two);
	wait_in(copies, "one", 0, one);
	rest();					/* until the end has been noted */
	fake_clock_advance(DAY_MS - MINUTE_MS); /* which copies that are waited for do not take */
	rest();
	wait_job(bench, "one", 0, one);
	fake_clock_advance(MINUTE_MS);
	wait_job(bench, "one", NEVER, 0);
	fake_clock_advance(60 * MINUTE_MS); /* so often are copies tidied up */
	wait_in(copies, "one", NEVER, 0);
	assert_int_equal(wait_job(bench, "two", 4, 0), two);
	submit(bench, FORS_LOOK_ROUTED, NULL); /* a sweep of a fabric at rest */
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	rest();
	assert_int_equal(wait_job(bench, "two", 4, 0), two);
}

/* Who writes the jobs file in place, and is not done: more comes before each look at it. */
static struct {
	const char *path;
	atomic_int left;
} writer;

enum fors_err __real_fors_input_read(const char *path, unsigned max_mb, struct stat *info, char **text,
				     struct fors_stamps *stamps, struct fors_error *error);
enum fors_err __wrap_fors_input_read(const char *path, unsigned max_mb, struct stat *info, char **text,
				     struct fors_stamps *stamps, struct fors_error *error);

enum fors_err __wrap_fors_input_read(const char *path, unsigned max_mb, struct stat *info, char **text,
				     struct fors_stamps *stamps, struct fors_error *error)
{
	int left = atomic_load(&writer.left);
	char more[128]; /* each time another length, since a file's time may stand still for milliseconds */

	if (left > 0 && !strcmp(path, writer.path)) {
		snprintf(more, sizeof(more), ONE "# more comes %.*s\n", left, "....................");
		write_in_place(path, more);
		atomic_store(&writer.left, left - 1);
	}
	return __real_fors_input_read(path, max_mb, info, text, stamps, error);
}

/* Half of a file is a file of jobs, too: what is changed in place is believed when it rests. */
CASE(half_written)
{
	struct bench *bench = *state;
	uint64_t two;

	write_jobs(bench, ONE TWO);
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	two = wait_job(bench, "two", 4, 0);
	writer.path = bench->file;
	atomic_store(&writer.left, 20);
	write_in_place(bench->file, ONE);
	for (int look = 0; atomic_load(&writer.left) > 0 && look < 50000; look++) {
		tick();
		assert_int_equal(wait_job(bench, "two", 4, 0), two);
	}
	assert_int_equal(atomic_load(&writer.left), 0);
	write_in_place(bench->file, ONE);
	wait_job(bench, "two", 0, two);
}

/* What is no file of jobs changes nothing, and is told; so is one that is gone. Nothing gets out of the folder. */
CASE(bad_files)
{
	static const char *const bad[] = {"one: Node00-00\ntwo: Node00-00\n",
					  "one\n",
					  "../../out: Node00-00\n",
					  ".out: Node00-00\n",
					  "a/b: Node00-00\n",
					  "one: Node00-00\none: Node00-01\n"};
	struct bench *bench = *state;
	char out[128];
	uint64_t one;

	write_jobs(bench, ONE);
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	one = wait_job(bench, "one", 4, 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		write_jobs(bench, bad[i]);
		wait_status(bench, "the jobs of before stay", true);
		write_jobs(bench, ONE);
		wait_status(bench, "the jobs of before stay", false);
	}
	assert_int_equal(atomic_load(&errors_logged[FORS_F_JOBS]), sizeof(bad) / sizeof(bad[0]));
	unlink(bench->file);
	wait_status(bench, "cannot be opened", true);
	assert_int_equal(wait_job(bench, "one", 4, 0), one);
	snprintf(out, sizeof(out), "%s/0x0000000000000123/out", bench->directory);
	assert_int_equal(access(out, F_OK), -1);
	write_jobs(bench, "");
	wait_job(bench, "one", 0, one);
}

/* No job is no trouble. What cannot be written is told once, and written when it can be. */
CASE(in_the_way)
{
	struct bench *bench = *state;
	char jobs[160];

	write_jobs(bench, "# nobody computes\n");
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	wait_status(bench, "\"jobs\": []", true);
	rest();
	assert_int_equal(atomic_load(&errors_logged[FORS_F_MEMORY]), 0);

	snprintf(jobs, sizeof(jobs), "%s/%s/jobs", bench->folder.parent, bench->folder.name);
	write_in_place(jobs, "a file where the folder belongs");
	write_jobs(bench, ONE);
	for (int look = 0; look < 50000 && !atomic_load(&errors_logged[FORS_F_PUBLISH]); look++)
		tick();
	rest();
	assert_int_equal(atomic_load(&errors_logged[FORS_F_PUBLISH]), 1);
	unlink(jobs);
	write_jobs(bench, "a: Node99-00, Node99-01\n" ONE);
	wait_status(bench, "1 job has no schedule; a: ", true);
	wait_job(bench, "one", 4, 0);
}

/* Does a job's schedule name the newest of the fabric, which comes before it? */
static void names_fabric(const struct bench *bench, const char *name)
{
	struct fors_schedule *job = schedule_in(bench->folder, name), *fabric = schedule_in(bench->folder, "");

	assert_true(job && fabric);
	assert_int_equal(job->fabric_epoch, fabric->epoch);
	assert_true(job->epoch > fabric->epoch);
	fors_schedule_free(job);
	fors_schedule_free(fabric);
}

/* A server that is lost concerns its own job. */
CASE(lost_server)
{
	struct bench *bench = *state;
	uint64_t one, two;

	write_jobs(bench, ONE TWO);
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	wait_job(bench, "one", 4, 0);
	two = wait_job(bench, "two", 4, 0);
	submit(bench, FORS_LOOK_ROUTED, "Node00-00");
	submit(bench, FORS_LOOK_INSTALLED, "Node00-00");
	one = wait_job(bench, "one", 3, 0);
	wait_status(bench, "line 1: 1 of its servers not there", true);
	wait_job(bench, "two", 4, two - 1);
	names_fabric(bench, "one");
	submit(bench, FORS_LOOK_INSTALLED, "Node00-01");
	wait_job(bench, "one", 3, one);
	names_fabric(bench, "one");
}

/* No path index belongs to jobs: who would send to that one only owns nothing, and shares. */
CASE(without_an_index)
{
	static const char text[] = "one [job-index]: Node00-00, Node00-01, Node01-00, Node01-01\n";
	struct bench *bench = *state;

	write_jobs(bench, text);
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	wait_job(bench, "one", 4, 0);
	wait_status(bench, "\"exclusive\": false", true);
	wait_status(bench, "\"exclusive\": true", false);
}

/* What is not right over tables that are on their way is withdrawn before; all are planned when they are there. */
CASE(failures)
{
	struct bench *bench = *state;
	uint64_t one, two;

	write_jobs(bench, WIDE SMALL);
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	one = wait_job(bench, "one", 8, 0);
	two = wait_job(bench, "two", 2, 0);
	submit(bench, FORS_LOOK_ROUTED, "Leaf00[5]");
	one = wait_job(bench, "one", 0, one);
	assert_int_equal(wait_job(bench, "two", 2, 0), two); /* which is right as it is */
	write_jobs(bench, WIDE);
	two = wait_job(bench, "two", 0, two); /* it has ended, whatever else happens */
	rest();
	assert_int_equal(wait_job(bench, "one", 0, 0), one); /* nothing is planned over tables that are not there */
	submit(bench, FORS_LOOK_INCOMPLETE, "Leaf00[5]");
	rest();
	assert_int_equal(wait_job(bench, "one", 0, 0), one);
	submit(bench, FORS_LOOK_INSTALLED, "Leaf00[5]");
	one = wait_job(bench, "one", 8, one);
	submit(bench, FORS_LOOK_DECLINED, NULL);
	one = wait_job(bench, "one", 0, one);
	rest();
	assert_int_equal(wait_job(bench, "one", 0, 0), one); /* nor over tables of before */
	wait_status(bench, "\"state\": \"inactive\"", true);
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	one = wait_job(bench, "one", 8, one);
	bench_stop(bench); /* and the next one is a standby from the start */
	atomic_store(&mastership_now, FORS_MASTER_NO);
	jobs_bench_start(bench);
	wait_job(bench, "one", 0, one);
}

/*
 * The next opensm goes on above; without the file it withdraws all, and so it does when there is no jobs_file any more.
 */
CASE(restarts)
{
	struct bench *bench = *state;
	struct fors_look *job;
	uint64_t one;

	write_jobs(bench, ONE);
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	one = wait_job(bench, "one", 4, 0);
	bench_stop(bench);
	assert_int_equal(wait_job(bench, "one", 4, 0), one);
	fake_clock_set(-5 * DAY_MS);
	jobs_bench_start(bench);
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	one = wait_job(bench, "one", 4, one);
	bench_stop(bench);
	unlink(bench->file);
	jobs_bench_start(bench);
	submit(bench, FORS_LOOK_ROUTED, NULL);
	one = wait_job(bench, "one", 0, one);
	wait_status(bench, "no job has a schedule", true);
	write_jobs(bench, ONE);
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	one = wait_job(bench, "one", 4, one);
	bench_stop(bench);
	jobs_bench_start(bench);
	job = make_job(bench, FORS_LOOK_INSTALLED, NULL);
	job->jobs_file[0] = '\0';
	fors_worker_submit(bench->worker, job);
	wait_job(bench, "one", 0, one);
	wait_status(bench, "\"jobs\": null", true);
	fake_clock_set(5 * DAY_MS);
}

/* A schedule of another subnet manager's, in publish_dir. */
static void publish_theirs(const struct bench *bench, const char *name, uint64_t epoch)
{
	struct fors_folder copies = {.parent = (char *)bench->copies};
	struct fors_schedule *theirs = schedule_in(bench->folder, "one");
	size_t size;
	void *bytes;

	snprintf(copies.job, sizeof(copies.job), "%s", name);
	theirs->epoch = epoch;
	assert_int_equal(fors_schedule_encode(theirs, &bytes, &size, NULL), FORS_OK);
	assert_int_equal(fors_publish(&copies, "schedule", bytes, size, false, NULL), FORS_OK);
	fors_schedule_free(theirs);
	free(bytes);
}

/* In publish_dir epochs grow from one subnet manager to the next, and nothing stays that nobody stands behind. */
CASE(after_a_takeover)
{
	struct bench *bench = *state;
	const struct fors_folder copies = {.parent = bench->copies};
	const uint64_t ahead = fors_clock_unix_ms() + 80000000;

	write_jobs(bench, ONE);
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	wait_in(copies, "one", 4, 0);
	bench_stop(bench);
	publish_theirs(bench, "one", ahead);
	publish_theirs(bench, "theirs", ahead);
	jobs_bench_start(bench);
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	wait_in(copies, "one", 4, ahead);
	wait_job(bench, "one", 4, ahead);
	wait_in(copies, "theirs", 0, ahead);
}

/* Over another engine's tables each job has a plan, shared; when these change it is withdrawn at once. */
CASE(over_any_tables)
{
	struct bench *bench = *state;
	struct fors_look *job = make_job(bench, FORS_LOOK_INSTALLED, NULL);
	uint64_t one;

	write_jobs(bench, ONE "single: Node03-03\n");
	fors_fattree_free(&job->tree);
	job->fabric = NULL;
	strcpy(job->tables_by, "minhop");
	assert_int_equal(fors_look_take_given(job, NULL, NULL), FORS_OK);
	job->given->changes = fors_worker_changes(bench->worker);
	fors_look_seal(job);
	fors_worker_submit(bench->worker, job);
	one = wait_job(bench, "one", 4, 0);
	wait_status(bench, "\"over\": \"all\"", true);
	wait_job(bench, "single", 1, 0);
	fors_worker_note_change(bench->worker, "test");
	wait_job(bench, "one", 0, one);
}

/* Whichever allocation fails, once or for a while: in the end all is as it should be. */
CASE(short_of_memory)
{
	struct bench *bench = *state;
	uint64_t one = 0, two = 0;

	faults_spare_me();
	for (uint64_t n = 1; n < 3000; n += n / 8 + 1) {
		write_jobs(bench, ONE);
		submit(bench, FORS_LOOK_INSTALLED, NULL);
		one = wait_job(bench, "one", 4, 0);
		two = n > 1 ? wait_job(bench, "two", 0, two) : 0;
		wait_status(bench, "\"state\": \"planning\"", false);
		faults_arm(n, false);
		write_jobs(bench, ONE TWO);
		submit(bench, FORS_LOOK_ROUTED, n % 2 ? "Leaf00[5]" : NULL);
		submit(bench, FORS_LOOK_INSTALLED, n % 2 ? "Leaf00[5]" : NULL);
		two = wait_job(bench, "two", 4, two);
		wait_job(bench, "one", 4, 0);
		faults_off();
	}
	assert_true(one > 0);
}

/* --- early: when the switches have the tables, before the sweep has ended ------------------------------------------ */

static struct fors_look *early_job(struct bench *bench, const char *down, uint64_t number)
{
	struct fors_look *job = make_job(bench, FORS_LOOK_ROUTED, down);

	job->number = number;
	job->is_active = true;
	return job;
}

static void submit_errors(struct bench *bench, const char *down)
{
	struct fors_look *job = make_job(bench, FORS_LOOK_INCOMPLETE, down);

	strcpy(job->reason, "OpenSM met errors");
	fors_worker_submit(bench->worker, job);
}

/* Tables are on their way, and then they are in. */
static void confirm(struct bench *bench, const char *down, uint64_t number)
{
	fors_worker_submit(bench->worker, early_job(bench, down, number));
	rest();
	fors_worker_note_tables(bench->worker, number);
}

static uint64_t bring_up(struct bench *bench)
{
	write_jobs(bench, WIDE SMALL);
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	wait_job(bench, "two", 2, 0);
	return wait_job(bench, "one", 8, 0);
}

/* All jobs have new schedules before the sweep has ended, and its end changes nothing. */
CASE(a_loss_is_early)
{
	struct bench *bench = *state;
	uint64_t one = bring_up(bench), early;

	confirm(bench, "Leaf00[5]", 1);
	early = wait_job(bench, "one", 8, one);
	wait_job(bench, "two", 2, one);
	wait_status(bench, "\"state\": \"planning\"", false);
	submit(bench, FORS_LOOK_INSTALLED, "Leaf00[5]");
	rest();
	assert_int_equal(wait_job(bench, "one", 8, 0), early);
	confirm(bench, "Spine00", 2);
	wait_job(bench, "one", 8, early);
}

static void assert_withdrawn_until(struct bench *bench, const char *down, uint64_t after)
{
	rest();
	after = wait_job(bench, "one", 0, after);
	submit(bench, FORS_LOOK_INSTALLED, down);
	wait_job(bench, "one", 8, after);
}

/* Over the tables that follow from what is down. */
static void assert_right(struct bench *bench, const char *name, const char *down)
{
	struct fors_look *job = make_job(bench, FORS_LOOK_INSTALLED, down);
	struct fors_schedule *schedule = schedule_in(bench->folder, name);
	struct fors_verdict verdict;

	assert_int_equal(fors_verify(job->net, job->lfts, schedule, NULL, NULL, &verdict, NULL), FORS_OK);
	assert_true(verdict.is_good);
	fors_schedule_free(schedule);
	fors_look_free(job);
}

/* Tables were on their way, and others came. */
CASE(others_than_expected)
{
	struct bench *bench = *state;
	uint64_t one = bring_up(bench);

	fors_worker_submit(bench->worker, early_job(bench, "Leaf00[6]", 1));
	rest();
	submit(bench, FORS_LOOK_INSTALLED, "Leaf00[5]");
	wait_job(bench, "one", 8, one);
	assert_right(bench, "one", "Leaf00[5]");
}

/* What is not there yet, what is new, what may not be active, and what was changed in the file since. */
CASE(what_is_not_early)
{
	struct bench *bench = *state;
	uint64_t one = bring_up(bench);
	struct fors_look *job;

	fors_worker_submit(bench->worker, early_job(bench, "Leaf00[5]", 1));
	assert_withdrawn_until(bench, "Leaf00[5]", one);
	job = early_job(bench, "Leaf00[6]", 2);
	job->is_active = false;
	fors_worker_submit(bench->worker, job);
	rest();
	fors_worker_note_tables(bench->worker, 2);
	assert_withdrawn_until(bench, "Leaf00[6]", one);
	confirm(bench, "Leaf00[7]", 3); /* and another one is back */
	assert_withdrawn_until(bench, "Leaf00[7]", one);
	fors_worker_submit(bench->worker, early_job(bench, "Spine00", 4));
	rest();
	write_jobs(bench, WIDE);
	rest();
	fors_worker_note_tables(bench->worker, 4);
	assert_withdrawn_until(bench, "Spine00", one);
	wait_job(bench, "two", 0, 0);
}

/* Errors that come out at the end: what was early goes, and the next ones wait for a sweep that meets none. */
CASE(early_and_then_errors)
{
	struct bench *bench = *state;
	uint64_t one = bring_up(bench);

	confirm(bench, "Leaf00[5]", 1);
	one = wait_job(bench, "one", 8, one);
	submit_errors(bench, "Leaf00[5]");
	one = wait_job(bench, "one", 0, one);
	confirm(bench, "Leaf00[5]", 2);
	assert_withdrawn_until(bench, "Leaf00[5]", one - 1);
	wait_job(bench, "two", 2, one);
}

/* Memory ends anywhere between tables on their way and their confirmation. */
CASE(early_and_short_of_memory)
{
	struct bench *bench = *state;
	uint64_t one = bring_up(bench);
	const char *down = NULL;

	faults_spare_me();
	for (uint64_t n = 1; n < 3000; n += n / 6 + 1) {
		down = down ? NULL : "Leaf00[5]";

		faults_arm(n, false);
		confirm(bench, down, n);
		submit(bench, FORS_LOOK_INSTALLED, down);
		one = wait_job(bench, "one", 8, one);
		wait_job(bench, "two", 2, 0);
		wait_status(bench, "\"state\": \"planning\"", false);
		faults_off();
		let_work(); /* what comes late must not be taken for what comes of the next round */
	}
}

/* A job starts among scattered ones, and lanes are shared out in haste; when nothing more happens once again, at leisure. */
TEST(haste_is_made_up_for, open_larger_bench, jobs_bench_close)
{
	struct bench *bench = *state;
	uint32_t phases;

	write_jobs(bench, EXCLUSIVE_THREE);
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	wait_job(bench, "j0", 16, 0);
	write_jobs(bench, EXCLUSIVE_THREE EXCLUSIVE_FOURTH);
	phases = wait_faster(bench, "j3", UINT32_MAX);
	wait_faster(bench, "j3", phases);
}

#define FIRST "first [exclusive]: Node00-00, Node02-00\n"
#define SECOND "second [exclusive]: Node00-01, Node01-00, Node02-01\n"
#define AFTER_FIRST "first [exclusive]: Node01-00, Node03-00\n"
#define AFTER_SECOND "second [exclusive]: Node01-01, Node02-01\n"
#define THIRD "third [exclusive]: Node03-00, Node03-01\n"

/*
 * With a path index for each way of three levels jobs own lanes and rungs: over the same cables who runs keeps plan and epoch when
 * others come and go that need none of its cables, and after a failure it is planned anew.
 */
TEST(three_levels, open_three_levels, jobs_bench_close)
{
	struct bench *bench = *state;
	uint64_t first, second;

	write_jobs(bench, FIRST SECOND);
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	first = wait_job(bench, "first", 2, 0);
	second = wait_job(bench, "second", 3, 0);
	wait_status(bench, "\"over\": \"own\"", true);
	wait_status(bench, "\"over\": \"all\"", false);
	write_jobs(bench, FIRST SECOND THIRD);
	wait_job(bench, "third", 2, 0);
	wait_status(bench, "\"over\": \"all\"", false);
	write_jobs(bench, FIRST SECOND);
	wait_job(bench, "third", 0, 0);
	assert_int_equal(wait_job(bench, "first", 2, 0), first);
	assert_int_equal(wait_job(bench, "second", 3, 0), second);
	submit(bench, FORS_LOOK_ROUTED, "Leaf00[3]");
	submit(bench, FORS_LOOK_INSTALLED, "Leaf00[3]");
	assert_true(wait_job(bench, "first", 2, first) > first);
}

/* The fabric without a node. */
static struct fors_net *net_without(const struct fors_net *net, uint32_t gone)
{
	struct fors_net *less = fors_net_new();
	uint32_t index;

	for (uint32_t i = 0; i < net->nnodes; i++)
		if (i != gone)
			assert_int_equal(fors_net_add_node(less, net->node[i].type, net->node[i].nports,
							   net->node[i].guid, net->node[i].id, net->node[i].desc,
							   &index, NULL),
					 FORS_OK);
	for (uint32_t i = 0; i < net->nnodes; i++)
		for (unsigned p = 0; i != gone && p <= net->node[i].nports; p++) {
			struct fors_port *to = fors_net_port(less, i - (i > gone), p);

			*to = *fors_net_port(net, i, p);
			if (to->peer == gone)
				to->peer = FORS_NONE;
			else if (to->peer != FORS_NONE)
				to->peer -= to->peer > gone;
		}
	assert_int_equal(fors_net_index(less, NULL), FORS_OK);
	return less;
}

/* The net without the servers of a leaf, which takes the place of the given one. */
static struct fors_net *empty_leaf(struct fors_net *net, const char *name)
{
	uint32_t leaf;
	unsigned port;

	assert_int_equal(fors_net_find(net, name, &leaf, &port, NULL), FORS_OK);
	for (unsigned p = 1; p <= net->node[leaf].nports; p++) {
		uint32_t peer = fors_net_port(net, leaf, p)->peer;
		struct fors_net *less;

		if (peer == FORS_NONE || net->node[peer].type == FORS_SWITCH)
			continue;
		less = net_without(net, peer);
		fors_net_free(net);
		net = less;
		leaf -= leaf > peer;
	}
	return net;
}

/* Places without the leaf, and places that know it and miss it. */
static struct fors_places *learn_both(const struct fors_net *intact, struct fors_net *less,
				      struct fors_places **missing)
{
	struct fors_places *without = fors_places_new();

	*missing = fors_places_new();
	assert_int_equal(fors_places_learn_tree(without, less, NULL, 0, NULL, NULL), FORS_OK);
	assert_int_equal(fors_places_learn_tree(*missing, intact, NULL, 0, NULL, NULL), FORS_OK);
	assert_int_equal(fors_places_learn_tree(*missing, less, NULL, 0, NULL, NULL), FORS_OK);
	return without;
}

/*
 * A leaf without servers that is not there comes to be known, as by a reference fabric: cables and tables stay, and leaves have other numbers. So
 * lanes that jobs had are not compared with those that they get; sanitizers see it when they are, beyond the last leaf.
 */
TEST(known_leaf, open_three_levels, jobs_bench_close)
{
	struct bench *bench = *state;
	struct fors_net *intact = empty_leaf(bench->intact, "Leaf00");
	struct fors_places *missing;
	struct fors_look *look;
	uint32_t leaf;
	unsigned port;
	uint64_t basis;

	assert_int_equal(fors_net_find(intact, "Leaf00", &leaf, &port, NULL), FORS_OK);
	bench->intact = net_without(intact, leaf);
	fors_places_free(bench->places);
	bench->places = learn_both(intact, bench->intact, &missing);
	fors_net_free(intact);
	write_jobs(bench, AFTER_FIRST);
	look = make_job(bench, FORS_LOOK_INSTALLED, NULL);
	basis = fors_look_basis(look);
	fors_worker_submit(bench->worker, look);
	wait_job(bench, "first", 2, 0);
	fors_places_free(bench->places);
	bench->places = missing;
	look = make_job(bench, FORS_LOOK_INSTALLED, NULL);
	assert_true(fors_look_basis(look) == basis);
	fors_worker_submit(bench->worker, look);
	let_work();
	write_jobs(bench, AFTER_FIRST AFTER_SECOND);
	wait_job(bench, "second", 2, 0);
	wait_job(bench, "first", 2, 0);
	wait_status(bench, "\"over\": \"all\"", false);
}
