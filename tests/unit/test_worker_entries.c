/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of daemon/worker/worker_entries.c and claim.c, without OpenSM: when a sweep is asked for, and what readers have of jobs
 * before and after their table entries are in the switches. The test makes the sweeps: as the engine does it takes
 * along what is claimed.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/unknown.h"
#include "core/planners/routing.h"
#include "core/schedule/verify.h"
#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "daemon/worker/worker_jobs.h"
#include "fake_clock.h"
#include "faults.h"
#include "jobs_bench.h"
#include "scattered_jobs.h"
#include "unit.h"

#define INDEX 3 /* at LMC 2 */
#define EVERY_MS 10000
#define WAIT_MS 60000
#define TICKS_FOR(ms) ((ms) / TICK_MS + 10)

#define ONE "one [job-index]: Node00-00, Node00-01, Node01-00, Node01-01\n"
#define TWO "two [job-index]: Node00-02, Node00-03, Node01-02, Node01-03\n"
#define FAR "far [job-index]: Node02-00, Node03-00\n"
#define SHARES "shares: Node02-02, Node03-02\n"
#define ON_THEIR_WAY "its table entries are on their way"

/* A job as the engine makes it with job_index = yes: with what is claimed. */
static struct fors_look *make_indexed(struct bench *bench, enum fors_look_kind kind, const char *down)
{
	struct fors_look *job = make_job(bench, kind, down);

	job->job_index = true;
	assert_int_equal(fors_look_be_shared(job, NULL), FORS_OK);
	job->claim = fors_worker_claim(bench->worker);
	if (job->claim)
		assert_int_equal(fors_claim_write(job->claim, &job->floors, job->lfts, NULL), FORS_OK);
	assert_int_equal(fors_routing_check(&job->tree, job->lfts, NULL, NULL), FORS_OK);
	fors_routing_free(NULL, job->rounds);
	job->rounds = NULL;
	if (job->given)
		fors_look_seal(job);
	return job;
}

/* A sweep, from tables on their way to its end. */
static void sweep(struct bench *bench, const char *down)
{
	fors_worker_submit(bench->worker, make_indexed(bench, FORS_LOOK_ROUTED, down));
	let_work();
	fors_worker_submit(bench->worker, make_indexed(bench, FORS_LOOK_INSTALLED, down));
	let_work();
}

/* Where many ticks do not bring them the clock goes slowly: a long search takes its time. */
static void look_for_sweeps(int count)
{
	for (int look = 0; look < 500000 && atomic_load(&sweeps_asked) < count; look++)
		if (look < 5000 || look % 64 == 0)
			tick();
		else
			usleep(LOOK_US);
}

static void wait_sweeps(int count)
{
	look_for_sweeps(count);
	assert_int_equal(atomic_load(&sweeps_asked), count);
}

static void let_pass(uint64_t ms)
{
	for (uint64_t i = 0; i < TICKS_FOR(ms); i++)
		tick();
}

/* It goes over the index alone, and is right over the tables of the job, which is freed. */
static void assert_on_index_over(struct bench *bench, const char *name, struct fors_look *job)
{
	struct fors_schedule *schedule = schedule_in(bench->folder, name);
	struct fors_verdict verdict;

	for (uint32_t s = 0; s < schedule->nservers; s++)
		for (uint32_t t = 0; t < schedule->nphases; t++) {
			struct fors_cell cell = fors_schedule_flow(schedule, s, t);

			assert_true(cell.dst == FORS_IDLE || cell.path == INDEX);
		}
	assert_int_equal(fors_verify(job->net, job->lfts, schedule, NULL, NULL, &verdict, NULL), FORS_OK);
	assert_true(verdict.is_good);
	fors_schedule_free(schedule);
	fors_look_free(job);
}

static void assert_on_index(struct bench *bench, const char *name, const char *down)
{
	assert_on_index_over(bench, name, make_indexed(bench, FORS_LOOK_INSTALLED, down));
}

static int open_bench(void **state)
{
	atomic_store(&sweeps_asked, 0);
	return jobs_bench_open(state);
}

static int open_larger_bench(void **state)
{
	atomic_store(&sweeps_asked, 0);
	return jobs_bench_open_on(state, "FT(2;8,8)", 2);
}

/* One job that sends to the index has its entries, and its schedule. */
static uint64_t bring_up(struct bench *bench, const char *text)
{
	write_jobs(bench, text);
	fors_worker_submit(bench->worker, make_indexed(bench, FORS_LOOK_INSTALLED, NULL));
	wait_sweeps(1);
	sweep(bench, NULL);
	return wait_job(bench, "one", 4, 0);
}

/* --- tests ---------------------------------------------------------------------------------------------------- */

#define CASE(name) TEST(name, open_bench, jobs_bench_close)

/* Tables before schedules: who shares is planned at once, a job of the index when its entries are there. */
CASE(tables_before_schedules)
{
	struct bench *bench = *state;

	write_jobs(bench, ONE SHARES);
	fors_worker_submit(bench->worker, make_indexed(bench, FORS_LOOK_INSTALLED, NULL));
	wait_sweeps(1);
	wait_job(bench, "shares", 2, 0);
	wait_status(bench, ON_THEIR_WAY, true);
	wait_status(bench, "\"state\": \"planning\"", true);
	let_pass(EVERY_MS / 2);
	assert_null(schedule_in(bench->folder, "one"));
	assert_int_equal(atomic_load(&sweeps_asked), 1);
	sweep(bench, NULL);
	wait_job(bench, "one", 4, 0);
	wait_status(bench, "\"state\": \"active\"", true);
	wait_status(bench, "\"path_index\": 3", true);
	wait_status(bench, ON_THEIR_WAY, false);
	wait_status(bench, "shared", false); /* of a job that wants no index nothing is told */
	assert_on_index(bench, "one", NULL);
	let_pass(2 * EVERY_MS);
	assert_int_equal(atomic_load(&sweeps_asked), 1);
}

/*
 * Others come and go, who runs is not touched; a sweep every ten seconds at most; a sweep for anything else takes them
 * along.
 */
CASE(others_come_and_go)
{
	struct bench *bench = *state;
	uint64_t before = fors_clock_ms(), one = bring_up(bench, ONE TWO), two = wait_job(bench, "two", 4, 0);
	struct fors_claim *claim;
	int asked;

	write_jobs(bench, ONE TWO FAR);
	wait_status(bench, "\"name\": \"far\"", true);
	for (; fors_clock_ms() + TICK_MS < before + EVERY_MS; tick())
		assert_int_equal(atomic_load(&sweeps_asked), 1);
	wait_sweeps(2);
	sweep(bench, NULL);
	wait_job(bench, "far", 2, 0);
	assert_int_equal(wait_job(bench, "one", 4, 0), one);
	assert_int_equal(wait_job(bench, "two", 4, 0), two);
	write_jobs(bench, ONE FAR);
	wait_job(bench, "two", 0, two);
	let_work();
	sweep(bench, NULL);
	claim = fors_worker_claim(bench->worker);
	assert_int_equal(claim->list.count, 2);
	fors_claim_drop(claim);
	assert_int_equal(wait_job(bench, "one", 4, 0), one);
	asked = atomic_load(&sweeps_asked); /* the entries are given back */
	let_pass(2 * EVERY_MS);
	assert_int_equal(atomic_load(&sweeps_asked), asked);
	write_jobs(bench, SHARES);
	wait_sweeps(asked + 1);
	sweep(bench, NULL);
	asked = atomic_load(&sweeps_asked);
	let_pass(2 * EVERY_MS);
	assert_int_equal(atomic_load(&sweeps_asked), asked);
}

/* A larger job takes the place of one that has ended: who runs beside it keeps its lanes and its schedule. */
CASE(who_runs_stays)
{
	static const char big[] = "big [job-index]: Node00-02, Node00-03, Node01-02, Node01-03, Node02-00, Node02-01, "
				  "Node03-00, Node03-01\n" ONE;
	struct bench *bench = *state;
	uint64_t one = bring_up(bench, ONE TWO);

	write_jobs(bench, big);
	wait_job(bench, "two", 0, 0);
	wait_sweeps(2);
	sweep(bench, NULL);
	wait_job(bench, "big", 8, 0);
	assert_int_equal(wait_job(bench, "one", 4, 0), one);
}

/* Servers change jobs that keep their names: nobody's plan goes over entries that were made for another job. */
CASE(jobs_of_other_servers)
{
	static const char before[] = "one [job-index]: Node00-00, Node01-00\nfar [job-index]: Node00-01, Node01-01\n"
				     "two [job-index]: Node00-02, Node00-03, Node01-02, Node01-03\n";
	static const char after[] = "one [job-index]: Node00-02, Node01-02\nfar [job-index]: Node00-03, Node01-03\n";
	struct bench *bench = *state;
	uint64_t one;

	write_jobs(bench, before);
	fors_worker_submit(bench->worker, make_indexed(bench, FORS_LOOK_INSTALLED, "Spine00")); /* a lane for each */
	wait_sweeps(1);
	sweep(bench, "Spine00");
	one = wait_job(bench, "one", 2, 0);
	wait_job(bench, "far", 2, 0);
	write_jobs(bench, after);
	wait_job(bench, "one", 2, one);
	wait_sweeps(2);
	sweep(bench, "Spine00");
	wait_status(bench, "\"state\": \"planning\"", false);
	wait_status(bench, "\"over\": \"all\"", false);
	assert_on_index(bench, "one", "Spine00");
	assert_on_index(bench, "far", "Spine00");
	assert_int_equal(atomic_load(&errors_logged[FORS_F_VERIFY]), 0);
}

/* A job that shares begins: no entry is another one, and no sweep is asked for. */
CASE(nothing_new)
{
	struct bench *bench = *state;
	uint64_t one = bring_up(bench, ONE);

	write_jobs(bench, ONE SHARES);
	wait_job(bench, "shares", 2, 0);
	wait_status(bench, "\"state\": \"planning\"", false);
	let_pass(2 * EVERY_MS);
	assert_int_equal(atomic_load(&sweeps_asked), 1);
	assert_int_equal(wait_job(bench, "one", 4, 0), one);
}

/* A cable with an entry dies: a plan over what the tables have in its place at once, then over entries of its own. */
CASE(a_cut)
{
	struct bench *bench = *state;
	struct fors_look *job;
	uint64_t one = bring_up(bench, ONE TWO), again;
	char down[32] = "";

	job = make_indexed(bench, FORS_LOOK_INSTALLED, NULL);
	for (uint32_t lane = 0; lane < job->fabric->nlanes && !*down; lane++)
		if (job->claim->holdings.entries[0].up[job->fabric->nservers - 1] !=
			    lane && /* a lane that job one sends by from leaf 0 */
		    job->claim->holdings.entries[0].up[job->fabric->leaf[1].first_server] == lane)
			snprintf(down, sizeof(down), "Leaf00[%u]", fors_cable(job->fabric, 0, lane)->leaf_port);
	fors_look_free(job);
	assert_true(*down);
	let_pass(EVERY_MS);
	sweep(bench, down);
	again = wait_job(bench, "one", 4, one);
	wait_sweeps(2);
	sweep(bench, down);
	wait_status(bench, "\"state\": \"planning\"", false);
	wait_status(bench, "shared", false);
	wait_job(bench, "one", 4, again - 1);
	assert_on_index(bench, "one", down);
	wait_job(bench, "two", 4, 0);
	assert_on_index(bench, "two", down);
}

/* Tables that would be wrong with them: the jobs share, that is said, and nobody asks for sweeps. */
CASE(refused)
{
	struct bench *bench = *state;
	struct fors_look *job;

	write_jobs(bench, ONE);
	fors_worker_submit(bench->worker, make_indexed(bench, FORS_LOOK_INSTALLED, NULL));
	wait_sweeps(1);
	job = make_job(bench, FORS_LOOK_INSTALLED, NULL);
	job->job_index = true;
	assert_int_equal(fors_look_be_shared(job, NULL), FORS_OK);
	job->refused = 1;
	fors_worker_submit(bench->worker, job);
	wait_job(bench, "one", 4, 0);
	wait_status(bench, "the tables would have been wrong with them", true);
	wait_status(bench, "\"over\": \"all\"", true);
	assert_on_index_over(bench, "one", make_job(bench, FORS_LOOK_INSTALLED, NULL));
	let_pass(2 * EVERY_MS);
	assert_int_equal(atomic_load(&sweeps_asked), 1);
}

/* The sweep does not come: asked for again and again; after a minute the job has a schedule all the same. */
CASE(no_sweep_comes)
{
	struct bench *bench = *state;
	uint64_t before = fors_clock_ms();

	write_jobs(bench, ONE);
	fors_worker_submit(bench->worker, make_indexed(bench, FORS_LOOK_INSTALLED, NULL));
	wait_status(bench, ON_THEIR_WAY, true);
	for (; fors_clock_ms() + TICK_MS < before + WAIT_MS; tick())
		assert_null(schedule_in(bench->folder, "one"));
	wait_job(bench, "one", 4, 0);
	wait_status(bench, "shared until its table entries are in the switches", true);
	assert_in_range(atomic_load(&sweeps_asked), 2, 1 + (fors_clock_ms() - before) / EVERY_MS);
}

/* A job that no lanes of its own connect shares, and its line says why; nobody waits for it. */
CASE(without_entries)
{
	static const char text[] = "one [job-index]: Node00-00, Node01-00, Node02-00\n"
				   "two [job-index]: Node00-01, Node01-01, Node02-01\n"
				   "three [job-index]: Node00-02, Node01-02, Node02-02\n"
				   "four [job-index]: Node00-03, Node01-03, Node02-03\n";
	struct bench *bench = *state;

	write_jobs(bench, text);
	fors_worker_submit(bench->worker,
			   make_indexed(bench, FORS_LOOK_INSTALLED, "Spine00")); /* three lanes are left */
	wait_sweeps(1);
	sweep(bench, "Spine00");
	wait_status(bench, "two of its leaves have no lane for it in common", true);
	wait_status(bench, "\"state\": \"planning\"", false);
	for (const char *name = "one\0two\0three\0four\0"; *name; name += strlen(name) + 1)
		wait_job(bench, name, 3, 0);
}

/*
 * Who is not the master claims nothing, nor who has no jobs file any more; and where there is no such index it is said.
 */
CASE(no_claim)
{
	struct bench *bench = *state;
	uint64_t one = bring_up(bench, ONE);
	struct fors_look *job;

	atomic_store(&mastership_now, FORS_MASTER_NO);
	wait_job(bench, "one", 0, one);
	let_work();
	assert_null(fors_worker_claim(bench->worker));
	atomic_store(&mastership_now, FORS_MASTER_YES);
	fors_worker_submit(bench->worker, make_indexed(bench, FORS_LOOK_INSTALLED, NULL));
	wait_sweeps(2);
	sweep(bench, NULL);
	one = wait_job(bench, "one", 4, one);
	for (unsigned looks = 0; looks < 2; looks++) { /* which is logged once */
		job = make_job(bench, FORS_LOOK_INSTALLED, NULL);
		job->job_routes = true;
		assert_int_equal(fors_look_be_shared(job, NULL), FORS_OK);
		fors_worker_submit(bench->worker, job);
		let_work();
	}
	wait_status(bench, "job_routes = owned is for LMC 0", true);
	wait_status(bench, "\"exclusive\": false", true);
	assert_int_equal(atomic_load(&errors_logged[FORS_F_INDEX]), 1);
	let_work();
	assert_null(fors_worker_claim(bench->worker));
	fors_worker_submit(bench->worker, make_indexed(bench, FORS_LOOK_INSTALLED, NULL));
	wait_status(bench, "job_routes", false);
}

/*
 * Entries are claimed for so many jobs; and swept in. Until the job has so many phases after this epoch, which it is
 * given again.
 */
static uint64_t see_through(struct bench *bench, uint32_t njobs, const char *name, uint32_t phases, uint64_t after)
{
	bool is_there = false;

	for (int look = 0; look < 50000 && !is_there; look++) {
		struct fors_claim *claim = fors_worker_claim(bench->worker);

		is_there = claim && claim->list.count == njobs;
		fors_claim_drop(claim);
		tick();
	}
	assert_true(is_there);
	sweep(bench, NULL);
	after = wait_job(bench, name, phases, after);
	wait_status(bench, "\"state\": \"planning\"", false);
	return after;
}

/* Whichever allocation fails: in the end all is as it should be. */
CASE(short_of_memory)
{
	struct bench *bench = *state;
	uint64_t one, two = 0;

	faults_spare_me();
	one = bring_up(bench, ONE);
	for (uint64_t n = 1; n < 3000; n += n / 4 + 1) {
		faults_arm(n, false);
		write_jobs(bench, ONE TWO);
		two = see_through(bench, 2, "two", 4, two);
		faults_off();
		wait_status(bench, "shared", false);
		assert_on_index(bench, "two", NULL);
		write_jobs(bench, ONE);
		two = see_through(bench, 1, "two", 0, two);
		assert_on_index(bench, "one", NULL);
	}
	assert_true(wait_job(bench, "one", 4, 0) >= one);
}

/* The last path index is the jobs', with one LID for each server that one, if fors.conf says so; else none, and why. */
CASE(which_index)
{
	static const struct {
		bool job_index, job_routes;
		uint8_t lmc;
		int64_t index;
		bool has_why;
	} cases[] = {{true, false, 2, 3, false},
		     {false, false, 2, FORS_UNKNOWN, false},
		     {false, true, 2, FORS_UNKNOWN, true},
		     {true, true, 2, 3, false},
		     {true, false, 0, FORS_UNKNOWN, true},
		     {false, true, 0, 0, false},
		     {true, true, 0, 0, false},
		     {false, false, 0, FORS_UNKNOWN, false}};
	struct fors_look *job = make_job(*state, FORS_LOOK_INSTALLED, NULL);
	unsigned lmc = job->fabric->lmc;

	assert_int_equal(fors_look_be_shared(job, NULL), FORS_OK);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		job->job_index = cases[i].job_index;
		job->job_routes = cases[i].job_routes;
		job->fabric->lmc = cases[i].lmc;
		assert_int_equal(fors_worker_job_index(job), cases[i].index);
		assert_int_equal(fors_worker_why_no_index(job) != NULL, cases[i].has_why);
	}
	job->fabric->lmc = lmc;
	fors_floors_clear(&job->floors); /* as where planes share tops */
	job->job_index = true;
	assert_int_equal(fors_worker_job_index(job), FORS_UNKNOWN);
	assert_non_null(fors_worker_why_no_index(job));
	fors_look_free(job);
}

/* Wait until one more sweep has been asked for than `before`, and make it. */
static void sweep_when_asked(struct bench *bench, int before)
{
	look_for_sweeps(before + 1);
	assert_true(atomic_load(&sweeps_asked) > before);
	sweep(bench, NULL);
}

/* What starts is found lanes for in haste; when things have calmed down, once, at leisure, and others move for it. */
TEST(haste_is_made_up_for, open_larger_bench, jobs_bench_close)
{
	struct bench *bench = *state;
	uint32_t phases;
	int asked;

	write_jobs(bench, SCATTERED_THREE);
	fors_worker_submit(bench->worker, make_indexed(bench, FORS_LOOK_INSTALLED, NULL));
	sweep_when_asked(bench, 0);
	wait_job(bench, "j2", 16, 0);
	asked = atomic_load(&sweeps_asked);
	write_jobs(bench, SCATTERED_THREE SCATTERED_FOURTH);
	sweep_when_asked(bench, asked);
	phases = wait_faster(bench, "j3", NEVER);
	assert_true(phases > 20);
	asked = atomic_load(&sweeps_asked);
	sweep_when_asked(bench, asked);
	wait_faster(bench, "j3", phases - 4);
	wait_status(bench, "\"state\": \"active\"", true);
	for (int j = 0; j < 4; j++)
		assert_on_index(bench, (const char *[]){"j0", "j1", "j2", "j3"}[j], NULL);
	asked = atomic_load(&sweeps_asked);
	let_pass(5 * EVERY_MS);
	assert_int_equal(atomic_load(&sweeps_asked), asked);
}

/* ---- three levels ---- */

#define HIGH_ONE "one [job-index]: Node00-00, Node02-00\n"
#define HIGH_TWO "two [job-index]: Node00-01, Node01-00, Node02-01\n"
#define HIGH_FAR "far [job-index]: Node01-01, Node03-00\n"

static int open_three_levels(void **state)
{
	atomic_store(&sweeps_asked, 0);
	return jobs_bench_open_on(state, "XGFT(3;2,2,2;1,2,2)", 2);
}

/* Lanes and rungs are claimed, found in the tables, kept while others come, lost with a cable, and claimed anew. */
TEST(on_three_levels, open_three_levels, jobs_bench_close)
{
	struct bench *bench = *state;
	uint64_t one, two;

	write_jobs(bench, HIGH_ONE HIGH_TWO SHARES);
	fors_worker_submit(bench->worker, make_indexed(bench, FORS_LOOK_INSTALLED, NULL));
	wait_status(bench, ON_THEIR_WAY, true);
	wait_status(bench, "\"expected_phases\": 3", true);
	sweep_when_asked(bench, 0);
	wait_status(bench, "\"expected_phases\": 3", false);
	one = wait_job(bench, "one", 2, 0);
	two = wait_job(bench, "two", 3, 0);
	assert_on_index(bench, "one", NULL);
	assert_on_index(bench, "two", NULL);
	wait_status(bench, "\"over\": \"all\"", false);
	write_jobs(bench, HIGH_ONE HIGH_TWO HIGH_FAR);
	sweep_when_asked(bench, atomic_load(&sweeps_asked));
	wait_job(bench, "far", 2, 0);
	assert_on_index(bench, "far", NULL);
	assert_int_equal(wait_job(bench, "one", 2, 0), one);
	assert_int_equal(wait_job(bench, "two", 3, 0), two);
	for (unsigned port = 3; port < 5; port++) { /* one of them is a lane of job two */
		char down[32];

		snprintf(down, sizeof(down), "Leaf00[%u]", port);
		sweep(bench, down);
		wait_status(bench, "\"active\"", true);
		look_for_sweeps(atomic_load(&sweeps_asked) + 1);
		sweep(bench, down);
		let_pass(EVERY_MS);
		wait_faster(bench, "one", NEVER);
		assert_on_index(bench, "one", down);
		assert_on_index(bench, "two", down);
	}
}

/* Two jobs that began one after the other, and so have other lanes than if both were new: another worker gives them the same. */
static void stay_over_a_restart(struct bench *bench, const char *first, const char *both, uint32_t phases)
{
	struct fors_look *before, *after;

	write_jobs(bench, first);
	fors_worker_submit(bench->worker, make_indexed(bench, FORS_LOOK_INSTALLED, NULL));
	sweep_when_asked(bench, 0);
	wait_job(bench, "two", phases, 0);
	write_jobs(bench, both);
	sweep_when_asked(bench, atomic_load(&sweeps_asked));
	wait_faster(bench, "one", NEVER);
	before = make_indexed(bench, FORS_LOOK_INSTALLED, NULL);
	bench_stop(bench);
	atomic_store(&sweeps_asked, 0);
	jobs_bench_start(bench);
	sweep(bench, NULL);
	for (int i = 0; i < 2; i++) {
		let_pass(EVERY_MS);
		sweep(bench, NULL);
	}
	wait_faster(bench, "one", NEVER);
	after = make_indexed(bench, FORS_LOOK_INSTALLED, NULL);
	assert_non_null(after->claim);
	assert_int_equal(after->claim->list.count, 2);
	assert_true(fors_look_same_tables(before, after));
	fors_look_free(before);
	fors_look_free(after);
}

CASE(a_restart)
{
	stay_over_a_restart(*state, TWO, ONE TWO, 4);
}

TEST(a_restart_on_three_levels, open_three_levels, jobs_bench_close)
{
	stay_over_a_restart(*state, HIGH_TWO, HIGH_ONE HIGH_TWO, 3);
}

/* The same bench before another fabric. */
static void replace_fabric(struct bench *bench, const char *spec)
{
	struct bench *other = bench_new_lmc(spec, 2);
	struct fors_net *net = bench->intact;
	struct fors_places *places = bench->places;

	bench->intact = other->intact;
	bench->places = other->places;
	other->intact = net;
	other->places = places;
	bench_free(other);
}

/* A claim of three levels meets a tree of two, and one with more planes, and the other way round. */
TEST(trees_of_other_heights, open_three_levels, jobs_bench_close)
{
	static const char *const specs[] = {"FT(2;4,4)", "XGFT(3;2,2,2;1,3,2)", "XGFT(3;2,2,2;1,2,2)",
					    "XGFT(3;2,2,3;1,2,2)", "FT(2;5,4)"};
	struct bench *bench = *state;

	write_jobs(bench, HIGH_ONE HIGH_TWO);
	fors_worker_submit(bench->worker, make_indexed(bench, FORS_LOOK_INSTALLED, NULL));
	sweep_when_asked(bench, 0);
	wait_job(bench, "one", 2, 0);
	for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
		int asked = atomic_load(&sweeps_asked);

		replace_fabric(bench, specs[i]);
		sweep(bench, NULL);
		sweep_when_asked(bench, asked);
		wait_job(bench, "one", 2, 0);
		wait_job(bench, "two", 3, 0);
		assert_on_index(bench, "two", NULL);
	}
}
