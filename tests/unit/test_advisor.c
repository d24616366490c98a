/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of daemon/worker/advisor.c: who asks gets the best repairs, once; a newer question or another fabric breaks off what
 * is being worked out, at once. Planning a repair can be made to last until it is cancelled (linked with --wrap).
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

#include "core/planners/mended.h"
#include "daemon/worker/advisor.h"
#include "daemon/base/log.h"

#define LOOK_US 1000
#define MANY 20000

enum fors_err __real_fors_phases_mended(const struct fors_task *task, struct fors_fattree tree,
					const struct fors_repair *repair, uint32_t phases_now, uint32_t *phases,
					struct fors_error *error);
enum fors_err __wrap_fors_phases_mended(const struct fors_task *task, struct fors_fattree tree,
					const struct fors_repair *repair, uint32_t phases_now, uint32_t *phases,
					struct fors_error *error);

static atomic_bool is_slow, is_short; /* of memory */
static atomic_int begun, broken_off, logged;
static char asked_method[16];

enum fors_err __wrap_fors_phases_mended(const struct fors_task *task, struct fors_fattree tree,
					const struct fors_repair *repair, uint32_t phases_now, uint32_t *phases,
					struct fors_error *error)
{
	snprintf(asked_method, sizeof(asked_method), "%s", fors_method_of(&task->limits));
	atomic_fetch_add(&begun, 1);
	if (atomic_load(&is_short))
		return fors_fail_memory(error);
	while (atomic_load(&is_slow)) {
		if (task->cancelled(task->context)) {
			atomic_fetch_add(&broken_off, 1);
			return FORS_ECANCELLED;
		}
		usleep(LOOK_US);
	}
	return __real_fors_phases_mended(task, tree, repair, phases_now, phases, error);
}

void fors_log_error(struct fors_log *log, enum fors_code code, const char *format, ...)
{
	assert_int_equal(code, FORS_F_MEMORY);
	atomic_fetch_add(&logged, 1);
}

struct bench {
	struct fors_advisor *advisor;
	struct bed *bed;
};

static int open_bench(void **state)
{
	struct bench *bench = calloc(1, sizeof(*bench));

	atomic_store(&is_slow, false);
	atomic_store(&begun, 0);
	atomic_store(&broken_off, 0);
	atomic_store(&is_short, false);
	atomic_store(&logged, 0);
	bench->bed = bed_new("FT(2;6,4)", 3);
	*state = bench;
	return fors_advisor_start(NULL, &bench->advisor, NULL);
}

static int close_bench(void **state)
{
	struct bench *bench FREED(free) = *state;

	fors_advisor_stop(bench->advisor);
	bed_free(bench->bed);
	return 0;
}

/* A job that shows the bed; it borrows what it shows. */
static struct fors_look job_of(const struct bed *bed)
{
	return (struct fors_look){.kind = FORS_LOOK_INSTALLED,
				  .net = bed->net,
				  .tree = fors_fattree_of_fabric(bed->fabric),
				  .fabric = bed->fabric,
				  .lfts = bed->lfts};
}

static void ask(struct bench *bench, const char *down, uint32_t phases, uint64_t basis)
{
	struct fors_look job;

	bed_restore(bench->bed);
	bed_down(bench->bed, down);
	job = job_of(bench->bed);
	fors_advisor_ask(bench->advisor, &job, phases, basis);
}

static void look(struct bench *bench, const char *down)
{
	struct fors_look job;

	bed_restore(bench->bed);
	bed_down(bench->bed, down);
	job = job_of(bench->bed);
	fors_advisor_look(bench->advisor, &job);
}

static void wait_answer(struct bench *bench, struct fors_gains *gains, uint64_t wanted)
{
	uint64_t basis = 0;

	for (int i = 0; i < MANY; i++) {
		if (fors_advisor_take(bench->advisor, gains, &basis)) {
			assert_int_equal(basis, wanted);
			assert_true(gains->is_known);
			return;
		}
		usleep(LOOK_US);
	}
	fail_msg("no answer");
}

static void wait_for(atomic_int *count, int wanted)
{
	for (int i = 0; i < MANY && atomic_load(count) < wanted; i++)
		usleep(LOOK_US);
	assert_true(atomic_load(count) >= wanted);
}

#define CASE(f) TEST(f, open_bench, close_bench)

/* Leaf01 has two uplinks for its 6 servers, Leaf02 three: only Leaf01's help, and either is as good. */
CASE(the_best_come_first)
{
	struct bench *bench = *state;
	struct fors_gains gains;
	uint64_t basis;

	ask(bench, "Leaf01[7] Leaf01[8] Leaf01[9] Leaf01[10] Leaf02[7] Leaf02[8] Leaf02[9]", 54, 77);
	wait_answer(bench, &gains, 77);
	assert_int_equal(gains.count, 4);
	assert_int_equal(gains.untried, 0);
	for (uint32_t i = 0; i < gains.count; i++) {
		assert_string_equal(gains.gain[i].link.a, "Leaf01");
		assert_int_equal(gains.gain[i].link.a_port, 7 + i);
		assert_int_equal(gains.gain[i].phases, 36);
	}
	assert_false(fors_advisor_take(bench->advisor, &gains, &basis));
}

CASE(nobody_waits_for_an_answer)
{
	struct bench *bench = *state;
	struct fors_gains gains;
	uint64_t basis;

	atomic_store(&is_slow, true);
	ask(bench, "Leaf01[7] Leaf01[8]", 54, 1);
	wait_for(&begun, 1);
	assert_false(fors_advisor_take(bench->advisor, &gains, &basis));
	look(bench, "Leaf01[7] Leaf01[8]"); /* the same fabric, as a sweep of it shows */
	ask(bench, "Leaf01[7] Leaf01[8]", 54, 1);
	usleep(20 * LOOK_US);
	assert_int_equal(atomic_load(&broken_off), 0);
	assert_int_equal(atomic_load(&begun), 1);
	atomic_store(&is_slow, false);
	wait_answer(bench, &gains, 1);
}

CASE(another_fabric_breaks_it_off)
{
	struct bench *bench = *state;
	struct fors_gains gains;
	uint64_t basis;

	atomic_store(&is_slow, true);
	ask(bench, "Leaf01[7] Leaf01[8]", 54, 1);
	wait_for(&begun, 1);
	look(bench, "Leaf01[7]");
	wait_for(&broken_off, 1);
	atomic_store(&is_slow, false);
	usleep(20 * LOOK_US);
	assert_int_equal(atomic_load(&begun), 1); /* no repair is tried after that */
	assert_false(fors_advisor_take(bench->advisor, &gains, &basis));
	ask(bench, "Leaf01[7] Leaf01[8]", 54, 1); /* it is back: the same question is a new one */
	wait_answer(bench, &gains, 1);
	assert_int_equal(gains.count, 2);
}

CASE(a_newer_question_breaks_it_off)
{
	struct bench *bench = *state;
	struct fors_gains gains;

	atomic_store(&is_slow, true);
	ask(bench, "Leaf01[7] Leaf01[8]", 54, 1);
	wait_for(&begun, 1);
	ask(bench, "Leaf02[7] Leaf02[8]", 54, 2);
	wait_for(&broken_off, 1);
	atomic_store(&is_slow, false);
	wait_answer(bench, &gains, 2);
	assert_string_equal(gains.gain[0].link.a, "Leaf02");
}

/* It came while readers had no schedule; when they have the same one again it is of use. */
CASE(what_was_taken_is_asked_once_more)
{
	struct bench *bench = *state;
	struct fors_gains gains;

	ask(bench, "Leaf01[7] Leaf01[8]", 54, 1);
	wait_answer(bench, &gains, 1);
	look(bench, "Leaf01[7] Leaf01[8]");
	gains.is_known = false;
	ask(bench, "Leaf01[7] Leaf01[8]", 54, 1);
	wait_answer(bench, &gains, 1);
	assert_int_equal(gains.count, 2);
}

CASE(who_stops_does_not_wait)
{
	struct bench *bench = *state;

	atomic_store(&is_slow, true);
	ask(bench, "Leaf01[7] Leaf01[8]", 54, 1);
	wait_for(&begun, 1);
	fors_advisor_stop(bench->advisor);
	bench->advisor = NULL;
	assert_int_equal(atomic_load(&broken_off), 1);
}

CASE(it_does_not_wait_for_the_integer_program)
{
	struct bench *bench = *state;
	struct fors_gains gains;
	struct fors_look job;

	bed_down(bench->bed, "Leaf01[7] Leaf01[8]");
	job = job_of(bench->bed);
	fors_limit_method(&job.limits, "ilp");
	fors_advisor_ask(bench->advisor, &job, 54, 5);
	wait_answer(bench, &gains, 5);
	assert_string_equal(asked_method, "auto");
}

/* Not "untried", which is for want of time. */
CASE(who_lacks_memory_says_so_and_may_be_asked_again)
{
	struct bench *bench = *state;
	struct fors_gains gains;
	uint64_t basis;

	atomic_store(&is_short, true);
	ask(bench, "Leaf01[7] Leaf01[8]", 54, 1);
	wait_for(&logged, 1);
	assert_int_equal(atomic_load(&begun), 1);
	assert_false(fors_advisor_take(bench->advisor, &gains, &basis));
	atomic_store(&is_short, false);
	ask(bench, "Leaf01[7] Leaf01[8]", 54, 1);
	wait_answer(bench, &gains, 1);
	assert_int_equal(gains.untried, 0);
	assert_int_equal(atomic_load(&logged), 1);
}
