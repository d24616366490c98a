/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* test_job.c - plugin/job.c and plugin/digest.c: what makes a job another one, for plans, readers, and who waits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/digest.h"
#include "plugin/job.h"
#include "support.h"

/* A job of the bed as it is; of its own is only what fors_job_free() frees with it: nothing. */
static struct fors_job job_of(struct bed *bed)
{
	return (struct fors_job){.net = bed->net, .fabric = bed->fabric, .lfts = bed->lfts, .method = "auto"};
}

/* A plan is made for a fabric, its tables, a method and its time. */
static void what_a_plan_depends_on(void **state)
{
	struct bed *bed = bed_new("FT(2;3,3)", 2);
	struct fors_job job = job_of(bed);
	uint64_t before = fors_job_basis(&job);

	assert_true(fors_job_basis(&job) == before);
	for (size_t at = 0; at < (size_t)bed->lfts->nswitches * bed->lfts->nlids; at += 7) {
		bed->lfts->port[at] ^= 1;
		assert_true(fors_job_basis(&job) != before);
		bed->lfts->port[at] ^= 1;
	}
	bed->lfts->guid[5]++;
	assert_true(fors_job_basis(&job) != before);
	bed->lfts->guid[5]--;
	bed->fabric->fingerprint++;
	assert_true(fors_job_basis(&job) != before);
	bed->fabric->fingerprint--;
	job.ilp_seconds++;
	assert_true(fors_job_basis(&job) != before);
	job.ilp_seconds--;
	strcpy(job.method, "exact");
	assert_true(fors_job_basis(&job) != before);
	bed_free(bed);
}

/* Each cable and each warning is shown. */
static void what_readers_see(void **state)
{
	struct bed *bed = bed_new("FT(2;3,3)", 2);
	struct fors_job job = job_of(bed);
	uint64_t before = fors_job_view(&job);

	for (uint32_t i = 0; i < 9; i++) {
		bed->fabric->cable[i].since_ms++;
		assert_true(fors_job_view(&job) != before);
		bed->fabric->cable[i].since_ms--;
		bed->fabric->cable[i].drained = FORS_DRAIN_HELD;
		assert_true(fors_job_view(&job) != before);
		bed->fabric->cable[i].drained = FORS_DRAIN_NOT;
	}
	assert_true(fors_job_view(&job) == before);
	fors_warn(&job.warnings, "one");
	fors_warn(&job.warnings, "two");
	before = fors_job_view(&job);
	strcpy(job.warnings.text[1], "three");
	assert_true(fors_job_view(&job) != before);
	strcpy(job.warnings.text[1], "two");
	assert_true(fors_job_view(&job) == before);
	strcpy(job.warnings.text[0], "onet"); /* the same letters, cut elsewhere */
	strcpy(job.warnings.text[1], "wo");
	assert_true(fors_job_view(&job) != before);
	bed_free(bed);
}

static void who_overtakes_whom(void **state)
{
	struct bed *bed = bed_new("FT(2;3,3)", 2), *other = bed_new("FT(2;3,3)", 2);
	struct fors_job job = job_of(bed), same = job_of(bed), newer = job_of(other), empty = {.fabric = NULL};

	bed_down(other, "Leaf00[4]");
	newer = job_of(other);
	assert_false(fors_job_overtakes(&same, &job));
	assert_true(fors_job_overtakes(&newer, &job));
	assert_true(fors_job_overtakes(&empty, &job));
	same.kind = FORS_JOB_DECLINED;
	assert_true(fors_job_overtakes(&same, &job));
	assert_true(fors_job_same_tables(&same, &job));
	assert_false(fors_job_same_tables(&newer, &job));
	bed_free(bed);
	bed_free(other);
}

static void digests(void **state)
{
	uint64_t seen = FORS_DIGEST_EMPTY, one = fors_digest_text(FORS_DIGEST_EMPTY, "one");

	assert_true(fors_digest_changed(&seen, one));
	assert_false(fors_digest_changed(&seen, one));
	assert_true(fors_digest_changed(&seen, FORS_DIGEST_EMPTY));
	assert_true(fors_digest_text(one, "two") != fors_digest_text(FORS_DIGEST_EMPTY, "onetwo"));
	assert_true(fors_digest_text(one, "two") !=
		    fors_digest_text(fors_digest_text(FORS_DIGEST_EMPTY, "onet"), "wo"));
	assert_true(fors_text_changed(NULL, "a") && fors_text_changed("a", NULL) && fors_text_changed("a", "b"));
	assert_false(fors_text_changed(NULL, NULL) || fors_text_changed("a", "a"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_plan_depends_on),
		cmocka_unit_test(what_readers_see),
		cmocka_unit_test(who_overtakes_whom),
		cmocka_unit_test(digests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
