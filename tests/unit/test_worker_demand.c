/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of daemon/worker/worker_demand.c, worker_demand_one.c and worker_jobdemand.c, without OpenSM: what readers have of demands after what. The clock is
 * the test's own.
 */
#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/demand/answer.h"
#include "core/schedule/schedule.h"
#include "daemon/base/io_thread.h"
#include "daemon/base/log.h"
#include "daemon/files/input.h"
#include "daemon/worker/worker.h"
#include "daemon/worker/worker_jobdemand.h"
#include "fake_clock.h"
#include "faults.h"
#include "jobs_bench.h"
#include "unit.h"

#define DAY_MS 86400000
#define MINUTE_MS 60000
#define CUT "Leaf00[5]"

#define ONE "one [exclusive, demand=events]: Node00-00, Node00-01, Node01-00, Node01-01\n"
#define TWO "two [demand=rows]: Node00-02, Node01-02, Node02-00, Node02-01\n"
#define ONE_PLAIN "one [exclusive]: Node00-00, Node00-01, Node01-00, Node01-01\n"
#define PLAIN "two: Node00-02, Node01-02, Node02-00, Node02-01\n"

/* Three senders and one receiver: three phases; and two senders, where two of its hosts are no servers of the job. */
#define EVENTS "role Node00-00,Node00-01,Node01-01 send\nrole Node01-00 receive\n"
#define FEWER "role Node00-0[0-1],Node03-00,Nobody send\nrole Node01-00 receive\n"
#define ROWS "group row Node00-02,Node01-02\n"

/* ---- a newer look while a plan is being made ---- */

static _Atomic(struct bench *) interrupt; /* whose look comes then; NULL: none */
static atomic_int asked, cancelled;
static atomic_bool is_wrong; /* each plan, as its proof finds */

enum fors_err __real_fors_demand_answer(const struct fors_demand_task *task, struct fors_schedule **schedule,
					struct fors_demand_report *report, struct fors_error *error);
enum fors_err __wrap_fors_demand_answer(const struct fors_demand_task *task, struct fors_schedule **schedule,
					struct fors_demand_report *report, struct fors_error *error);

enum fors_err __wrap_fors_demand_answer(const struct fors_demand_task *task, struct fors_schedule **schedule,
					struct fors_demand_report *report, struct fors_error *error)
{
	struct bench *bench = atomic_exchange(&interrupt, NULL);
	enum fors_err err;

	atomic_fetch_add(&asked, 1);
	if (bench)
		submit(bench, FORS_LOOK_ROUTED, CUT);
	if (atomic_load(&is_wrong))
		return fors_fail(error, FORS_ENOPLAN, "the plan is wrong");
	err = __real_fors_demand_answer(task, schedule, report, error);
	atomic_fetch_add(&cancelled, err == FORS_ECANCELLED);
	return err;
}

/* ---- a file system that hangs ---- */

static atomic_bool hangs, is_at_rest;  /* at rest: no file has changed */
static _Atomic(const char *) far_away; /* paths of files on it contain this */

bool __real_fors_stamps_hold(const struct fors_stamps *stamps);
bool __wrap_fors_stamps_hold(const struct fors_stamps *stamps);

bool __wrap_fors_stamps_hold(const struct fors_stamps *stamps)
{
	if (!atomic_load(&is_at_rest) || !strstr(stamps->file[0].path, atomic_load(&far_away)))
		return __real_fors_stamps_hold(stamps);
	fors_io_begin("/far/away");
	while (atomic_load(&hangs))
		usleep(1000);
	fors_io_end();
	return true;
}

/* ---- files ---- */

/* As who writes it should; NULL: it is removed. */
static void write_demand(const char *path, const char *text)
{
	char other[192];

	if (!text) {
		assert_int_equal(unlink(path), 0);
		return;
	}
	snprintf(other, sizeof(other), "%s.new", path);
	write_in_place(other, text);
	assert_int_equal(rename(other, path), 0);
}

/* The demand of this name of jobs. */
static void write_named(const struct bench *bench, const char *name, const char *text)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s.demand", bench->demands, name);
	write_demand(path, text);
}

static int open_jobs(void **state)
{
	int err = jobs_bench_open(state);
	struct bench *bench = *state;

	atomic_store(&far_away, ".demand");
	if (!err)
		snprintf(bench->demands, sizeof(bench->demands), "%s/demands", bench->directory);
	return err || mkdir(bench->demands, 0755);
}

static int open_fabric(void **state)
{
	int err = jobs_bench_open(state);
	struct bench *bench = *state;

	if (!err)
		snprintf(bench->demand, sizeof(bench->demand), "%s/events.demand", bench->directory);
	bench->file[0] = '\0';
	return err;
}

#define OF_THE_FABRIC(name) TEST(name, open_fabric, jobs_bench_close)

/* ---- the fabric's ---- */

OF_THE_FABRIC(the_fabrics)
{
	struct bench *bench = *state;
	const struct fors_folder copies = {.parent = bench->copies};
	uint64_t epoch;

	submit(bench, FORS_LOOK_INSTALLED, NULL);
	wait_status(bench, "\"demand\": \"events\"", true); /* without a file */
	write_demand(bench->demand, EVENTS);
	epoch = wait_job(bench, "+events", 3, 0);
	wait_in(copies, "+events", 3, 0);
	wait_status(bench, "\"demand_phases\": 3", true);
	write_demand(bench->demand, "Node00-00 many\n"); /* no demand */
	wait_status(bench, "events.demand:1: ", true);
	write_demand(bench->demand, NULL);
	rest();
	assert_int_equal(wait_job(bench, "+events", 3, 0), epoch);
	submit(bench, FORS_LOOK_ROUTED, CUT);
	wait_job(bench, "+events", 0, epoch); /* at once, without a proof */
	submit(bench, FORS_LOOK_INSTALLED, CUT);
	epoch = wait_job(bench, "+events", 3, epoch);
	write_demand(bench->demand, FEWER);
	epoch = wait_job(bench, "+events", 3, epoch); /* Node03-00 sends, too */
	wait_status(bench, "Nobody", true);
	atomic_store(&mastership_now, FORS_MASTER_NO);
	epoch = wait_job(bench, "+events", 0, epoch);
	atomic_store(&mastership_now, FORS_MASTER_YES);
	submit(bench, FORS_LOOK_INSTALLED, CUT);
	epoch = wait_job(bench, "+events", 3, epoch);
	bench->demand[0] = '\0'; /* fors.conf names it no more */
	submit(bench, FORS_LOOK_INSTALLED, CUT);
	wait_job(bench, "+events", 0, epoch);
}

/* What another worker left under another name is withdrawn. */
OF_THE_FABRIC(left_of_another)
{
	struct bench *bench = *state;
	uint64_t epoch;

	write_demand(bench->demand, EVENTS);
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	epoch = wait_job(bench, "+events", 3, 0);
	bench_stop(bench);
	snprintf(bench->demand, sizeof(bench->demand), "%s/rows.demand", bench->directory);
	write_demand(bench->demand, ROWS);
	jobs_bench_start(bench);
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	wait_job(bench, "+events", 0, epoch);
	wait_job(bench, "+rows", 1, 0);
}

/* A newer look breaks a plan off; the demand is planned over what comes after it. */
OF_THE_FABRIC(broken_off)
{
	struct bench *bench = *state;
	int before = atomic_load(&cancelled);
	uint64_t epoch;

	atomic_store(&interrupt, bench);
	write_demand(bench->demand, EVENTS);
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	while (atomic_load(&interrupt))
		tick();
	let_work();
	assert_int_equal(atomic_load(&cancelled), before + 1);
	wait_job(bench, "+events", NEVER, 0); /* the tables are on their way */
	submit(bench, FORS_LOOK_INSTALLED, CUT);
	epoch = wait_job(bench, "+events", 3, 0);
	before = atomic_load(&asked);
	submit(bench, FORS_LOOK_INSTALLED, CUT); /* a sweep of a fabric at rest */
	let_work();
	assert_int_equal(atomic_load(&asked), before);
	assert_int_equal(wait_job(bench, "+events", 3, 0), epoch);
}

/* A plan that is wrong takes the place of none: there is no schedule until another text, or another fabric. */
OF_THE_FABRIC(wrong_plans)
{
	struct bench *bench = *state;
	uint64_t epoch;

	write_demand(bench->demand, EVENTS);
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	epoch = wait_job(bench, "+events", 3, 0);
	atomic_store(&is_wrong, true);
	write_demand(bench->demand, FEWER);
	epoch = wait_job(bench, "+events", 0, epoch);
	wait_status(bench, "the plan is wrong", true);
	atomic_store(&is_wrong, false);
	let_work();
	assert_int_equal(wait_job(bench, "+events", 0, 0), epoch);
	write_demand(bench->demand, EVENTS);
	wait_job(bench, "+events", 3, epoch);
	wait_status(bench, "the plan is wrong", false);
}

/* ---- those of jobs ---- */

/* Both jobs have their demands; the epochs of these. */
static void bring_up(struct bench *bench, uint64_t *one, uint64_t *two)
{
	write_named(bench, "events", EVENTS);
	write_named(bench, "rows", ROWS);
	write_jobs(bench, ONE TWO);
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	wait_job(bench, "one", 4, 0);
	*one = wait_job(bench, "=one", 3, 0);
	*two = wait_job(bench, "=two", 1, 0);
}

#define OF_JOBS(name) TEST(name, open_jobs, jobs_bench_close)

/* Whatever becomes of the file of a demand concerns its job alone. */
OF_JOBS(files_of_jobs)
{
	struct bench *bench = *state;
	const struct fors_folder copies = {.parent = bench->copies};
	uint64_t one, two, job;

	bring_up(bench, &one, &two);
	job = wait_job(bench, "one", 4, 0);
	assert_int_equal(wait_in(copies, "=one", 3, 0), one);
	wait_status(bench, "\"demand_phases\": 3", true);
	write_named(bench, "events", "role Node00-00 listen\n");
	wait_status(bench, "events.demand:1: ", true);
	assert_int_equal(wait_job(bench, "=one", 3, 0), one);
	write_named(bench, "events", FEWER);
	one = wait_job(bench, "=one", 2, one);
	wait_status(bench, "2 hosts are no server of this job and left out: Nobody, Node03-00", true);
	write_named(bench, "events", NULL);
	one = wait_job(bench, "=one", 0, one);
	wait_status(bench, "\"demand_phases\": null", true);
	write_named(bench, "events", EVENTS);
	one = wait_job(bench, "=one", 3, one);
	assert_int_equal(wait_job(bench, "one", 4, 0), job);
	assert_int_equal(wait_job(bench, "=two", 1, 0), two);
	wait_status(bench, "\"demand\": \"events\"", true);
	write_jobs(bench, ONE_PLAIN TWO);
	wait_job(bench, "=one", 0, one);
	wait_status(bench, "\"demand\": \"events\"", false);
}

/* What is no file that could be read is told, and gives no demand; nothing waits for it. */
OF_JOBS(odd_files)
{
	struct bench *bench = *state;
	char path[160], moved[160];
	uint64_t one, two;

	bring_up(bench, &one, &two);
	snprintf(path, sizeof(path), "%s/events.demand", bench->demands);
	snprintf(moved, sizeof(moved), "%s.old", bench->demands);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0644), 0);
	wait_status(bench, "events.demand: not a regular file", true);
	one = wait_job(bench, "=one", 0, one);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("events.demand", path), 0);
	wait_status(bench, "events.demand: cannot be opened: ", true);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("rows.demand", path), 0); /* which names no host of this job */
	wait_status(bench, "cannot be opened: ", false);
	wait_job(bench, "=one", 0, 0);
	assert_int_equal(truncate(path, 17 << 20), 0);
	wait_status(bench, "more than 16 MB are not read", true);
	two = wait_job(bench, "=two", 0, two);
	assert_int_equal(rename(bench->demands, moved), 0);
	wait_status(bench, "No such file or directory", true);
	assert_int_equal(mkdir(bench->demands, 0755), 0);
	write_named(bench, "events", EVENTS);
	write_named(bench, "rows", ROWS);
	wait_job(bench, "=one", 3, one);
	wait_job(bench, "=two", 1, two);
}

/* Jobs end, and name their demands no more; a day later nothing is left. */
OF_JOBS(jobs_end)
{
	struct bench *bench = *state;
	const struct fors_folder copies = {.parent = bench->copies};
	uint64_t one, two;

	bring_up(bench, &one, &two);
	write_jobs(bench, PLAIN);
	one = wait_job(bench, "=one", 0, one);
	wait_job(bench, "=two", 0, two);
	wait_status(bench, "\"demand\": \"rows\"", false);
	wait_in(copies, "=one", 0, 0);
	rest();
	fake_clock_advance(DAY_MS + MINUTE_MS);
	wait_job(bench, "one", NEVER, 0);
	wait_job(bench, "=one", NEVER, 0);
	fake_clock_advance(60 * MINUTE_MS); /* so often are copies tidied up */
	wait_in(copies, "one", NEVER, 0);
	wait_job(bench, "two", 4, 0);
	write_jobs(bench, ONE PLAIN);
	wait_job(bench, "=one", 3, one);
}

/* Of cables between switches that flows of the schedule go over, each as often, those that are not on the way of any flow of `like`; or NULL: that are `wanted`. */
static uint32_t count_cables(const struct fors_schedule *schedule, const struct fors_schedule *like,
			     const struct fors_way_hop *wanted)
{
	struct fors_way_hop hop[8];
	uint32_t n = 0;

	for (uint32_t s = 0; s < schedule->nservers; s++)
		for (uint32_t t = 0; t < schedule->nphases; t++) {
			struct fors_cell cell = fors_schedule_flow(schedule, s, t);
			uint32_t way = cell.dst == FORS_IDLE ? FORS_NONE : fors_schedule_way(schedule, s, cell);
			uint32_t nhops = fors_waylist_get(schedule->ways, way, hop, 8);

			for (uint32_t h = 0; h + 1 < nhops; h++)
				n += like ? !count_cables(like, NULL, &hop[h])
					  : hop[h].guid == wanted->guid && hop[h].port == wanted->port;
		}
	return n;
}

/* With each new schedule of the job its demand is planned anew, over the cables of that. */
OF_JOBS(over_the_cables_of_the_job)
{
	struct bench *bench = *state;
	struct fors_schedule *job, *demand;
	uint64_t one, two;

	bring_up(bench, &one, &two);
	for (int round = 0; round < 2; round++) {
		job = schedule_in(bench->folder, "one");
		demand = schedule_in(bench->folder, "=one");
		assert_non_null(job);
		assert_non_null(demand);
		assert_string_equal(demand->name, "one");
		assert_int_equal(count_cables(demand, job, NULL), 0);
		fors_schedule_free(job);
		fors_schedule_free(demand);
		if (round)
			break;
		submit(bench, FORS_LOOK_ROUTED, CUT);
		wait_job(bench, "=two", 0, two);
		one = wait_job(bench, "=one", 0, one);
		submit(bench, FORS_LOOK_INSTALLED, CUT);
		wait_job(bench, "=two", 1, two);
		wait_job(bench, "=one", 3, one);
	}
}

/* Not the master, or without the folder: nobody has a demand; another worker begins anew. */
OF_JOBS(who_comes_after)
{
	struct bench *bench = *state;
	uint64_t one, two;

	bring_up(bench, &one, &two);
	bench_stop(bench);
	jobs_bench_start(bench);
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	one = wait_job(bench, "=one", 3, one);
	atomic_store(&mastership_now, FORS_MASTER_NO);
	one = wait_job(bench, "=one", 0, one);
	atomic_store(&mastership_now, FORS_MASTER_YES);
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	one = wait_job(bench, "=one", 3, one);
	bench->demands[0] = '\0';
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	wait_job(bench, "=one", 0, one);
	wait_status(bench, "demand_dir is not set", true);
}

static int open_many(void **state)
{
	int err = jobs_bench_open_on(state, "FT(2;9,9)", 0);
	struct bench *bench = *state;

	if (!err)
		snprintf(bench->demands, sizeof(bench->demands), "%s/demands", bench->directory);
	return err || mkdir(bench->demands, 0755);
}

/* Each demand has a thread that looks at its file: there are so many, and no more. */
TEST(too_many, open_many, jobs_bench_close)
{
	struct bench *bench = *state;
	char text[8192] = "a [demand=rows]: Node00-00, Node01-00\n", *end = text + strlen(text);

	for (int n = 1; n <= FORS_JOBDEMANDS_MAX; n++)
		end += sprintf(end, "j%d [demand=none]: Node%02d-%02d\n", n, n / 8, 1 + n % 8);
	write_named(bench, "rows", "group row Node00-00,Node01-00\n");
	write_jobs(bench, text);
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	wait_job(bench, "=a", 1, 0);
	wait_status(bench, "1 job has no schedule for its demand: there are 64 at most", true);
	wait_status(bench, "; and 62 more", true);
}

/* Files that did not answer for a while, and are what they were: nothing is wrong any more. */
OF_JOBS(files_that_hang)
{
	struct bench *bench = *state;
	uint64_t one, two;

	bring_up(bench, &one, &two);
	rest();
	atomic_store(&hangs, true);
	atomic_store(&is_at_rest, true);
	wait_status(bench, "/far/away: has not answered since", true);
	atomic_store(&hangs, false);
	wait_status(bench, "/far/away: has not answered since", false);
	atomic_store(&is_at_rest, false);
	assert_int_equal(wait_job(bench, "=one", 3, 0), one);
	assert_int_equal(wait_job(bench, "=two", 1, 0), two);
}

static unsigned count_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	unsigned n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* Jobs come and go while the files of their demands hang: who looked at those of jobs that have ended is there for the next ones. */
OF_JOBS(jobs_end_while_files_hang)
{
	struct bench *bench = *state;
	uint64_t one, two;
	unsigned before;

	bring_up(bench, &one, &two);
	rest();
	before = count_threads();
	atomic_store(&hangs, true);
	atomic_store(&is_at_rest, true);
	wait_status(bench, "/far/away: has not answered since", true);
	for (int round = 0; round < 4; round++) {
		write_jobs(bench, PLAIN);
		wait_status(bench, "\"demand\": \"rows\"", false);
		write_jobs(bench, ONE TWO);
		wait_status(bench, "\"demand\": \"rows\"", true);
	}
	assert_true(count_threads() <= before);
	atomic_store(&hangs, false);
	atomic_store(&is_at_rest, false);
	wait_job(bench, "=one", 3, one);
	wait_job(bench, "=two", 1, two);
}

static void begin_hanging(struct bench *bench, const char *files)
{
	rest();
	atomic_store(&far_away, files);
	atomic_store(&hangs, true);
	atomic_store(&is_at_rest, true);
	wait_status(bench, "/far/away: has not answered since", true);
}

static void end_hanging(void)
{
	atomic_store(&hangs, false);
	atomic_store(&is_at_rest, false);
}

/* One file hangs: who looked at it is not there for those of other jobs. */
OF_JOBS(one_file_hangs)
{
	struct bench *bench = *state;
	uint64_t one, two;

	bring_up(bench, &one, &two);
	begin_hanging(bench, "events.demand");
	write_jobs(bench, PLAIN);
	wait_job(bench, "=one", 0, one);
	two = wait_job(bench, "=two", 0, two);
	write_jobs(bench, ONE TWO);
	wait_job(bench, "=two", 1, two);
	end_hanging();
	wait_job(bench, "=one", 3, one);
}

/* The files hang, and fors.conf names another folder: those in it are read. */
OF_JOBS(another_folder)
{
	struct bench *bench = *state;
	uint64_t one, two;

	bring_up(bench, &one, &two);
	begin_hanging(bench, "/demands/");
	snprintf(bench->demands, sizeof(bench->demands), "%s/others", bench->directory);
	assert_int_equal(mkdir(bench->demands, 0755), 0);
	write_named(bench, "events", FEWER);
	write_named(bench, "rows", ROWS);
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	wait_job(bench, "=one", 2, one);
	wait_job(bench, "=two", 1, two);
	end_hanging();
}

/* The same of the jobs file. */
OF_JOBS(another_jobs_file)
{
	struct bench *bench = *state;
	uint64_t one, two;

	bring_up(bench, &one, &two);
	begin_hanging(bench, "/jobs");
	snprintf(bench->file, sizeof(bench->file), "%s/others", bench->directory);
	write_jobs(bench, PLAIN);
	submit(bench, FORS_LOOK_INSTALLED, NULL);
	wait_job(bench, "one", 0, 0);
	wait_status(bench, "/far/away: has not answered since", false);
	end_hanging();
}

/* Whichever allocation fails, in the end all is as it should be. */
OF_JOBS(short_of_memory)
{
	struct bench *bench = *state;
	uint64_t one, two;

	faults_spare_me();
	bring_up(bench, &one, &two);
	for (uint64_t n = 1; n < 3000; n += n / 6 + 1) {
		const char *down = n % 2 ? CUT : NULL;

		faults_arm(n, false);
		write_named(bench, "events", n % 2 ? EVENTS : FEWER);
		submit(bench, FORS_LOOK_ROUTED, down);
		submit(bench, FORS_LOOK_INSTALLED, down);
		wait_job(bench, "=one", n % 2 ? 3 : 2, 0);
		wait_job(bench, "=two", 1, 0);
		wait_job(bench, "one", 4, 0);
		faults_off();
		let_work();
	}
}
