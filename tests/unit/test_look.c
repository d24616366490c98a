/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* test_look.c - daemon/look/look.c and daemon/base/digest.c: what makes a look another one, for plans, readers, and who waits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/digest.h"
#include "core/schedule/schedule.h"
#include "daemon/look/look.h"
#include "faults.h"
#include "support.h"

/* A job of the bed as it is; of its own is only what fors_look_free() frees with it: nothing. */
static struct fors_look job_of(struct bed *bed)
{
	return (struct fors_look){
		.net = bed->net, .tree = fors_fattree_of_fabric(bed->fabric), .fabric = bed->fabric, .lfts = bed->lfts};
}

/* A plan is made for a fabric, its tables, a method and its time. */
TEST(what_a_plan_depends_on)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;3,3)", 2);
	struct fors_look job = job_of(bed);
	uint64_t before = fors_look_basis(&job);

	assert_true(fors_look_basis(&job) == before);
	for (size_t at = 0; at < (size_t)bed->lfts->nswitches * bed->lfts->nlids; at += 7) {
		bed->lfts->port[at] ^= 1;
		assert_true(fors_look_basis(&job) != before);
		bed->lfts->port[at] ^= 1;
	}
	bed->lfts->guid[5]++;
	assert_true(fors_look_basis(&job) != before);
	bed->lfts->guid[5]--;
	bed->fabric->fingerprint++;
	assert_true(fors_look_basis(&job) != before);
	bed->fabric->fingerprint--;
	job.limits.seconds++;
	assert_true(fors_look_basis(&job) != before);
	job.limits.seconds--;
	fors_limit_method(&job.limits, "exact");
	assert_true(fors_look_basis(&job) != before);
	fors_limit_method(&job.limits, "");
	job.limits.steps++;
	assert_true(fors_look_basis(&job) != before);
}

/* The bed's net and tables as another engine's; the bed goes on owning them. */
static struct fors_look *over_of(struct bed *bed, const struct fors_participants *participants)
{
	struct fors_look *job = fors_look_new(FORS_LOOK_INSTALLED);

	job->net = bed->net;
	job->lfts = bed->lfts;
	strcpy(job->tables_by, "minhop");
	assert_int_equal(fors_look_take_given(job, participants, NULL), FORS_OK);
	fors_look_seal(job);
	return job;
}

static void free_given(struct fors_look *job)
{
	job->net = NULL;
	job->lfts = NULL;
	fors_look_free(job);
}

/* Its basis, once more. */
static uint64_t reseal(struct fors_look *job)
{
	fors_look_seal(job);
	return fors_look_basis(job);
}

/* Over another engine's: cables, LIDs, tables, who takes part, levels, whose they are; nothing else of a port. */
TEST(what_a_plan_over_others_depends_on)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;3,3)", 1);
	uint64_t guid[] = {1, 2, 3};
	const struct fors_participants participants = {guid, 3};
	struct fors_look *job = over_of(bed, &participants), *all = over_of(bed, NULL);
	uint64_t before = reseal(job);

	assert_true(before != reseal(all));
	assert_true(fors_look_overtakes(all, job) && fors_look_overtakes(job, all));
	assert_false(fors_look_overtakes(job, job));
	bed->net->port[9].is_sm ^= true;
	bed->net->port[9].is_degraded ^= true;
	fors_limit_method(&job->limits, "exact");
	assert_true(reseal(job) == before);
	guid[0] = 7;
	assert_true(reseal(job) == before); /* a copy */
	job->given->participants.guid[0] = 7;
	assert_true(reseal(job) != before);
	job->given->participants.guid[0] = 1;
	bed->net->port[9].lid++;
	assert_true(reseal(job) != before);
	bed->net->port[9].lid--;
	bed->net->port[9].lmc++; /* a plan may take path indices that were not there */
	assert_true(reseal(job) != before);
	bed->net->port[9].lmc--;
	bed->lfts->port[40] ^= 1;
	assert_true(reseal(job) != before);
	bed->lfts->port[40] ^= 1;
	assert_true(reseal(job) == before);
	strcpy(job->tables_by, "updn");
	assert_true(reseal(job) != before);
	strcpy(job->tables_by, "minhop");
	assert_int_equal(fors_levels_new(bed->net, NULL, true, &job->given->levels, NULL), FORS_OK);
	before = reseal(job);
	job->given->levels->sl[5] = 1;
	assert_true(reseal(job) != before);
	free_given(job);
	free_given(all);
}

/* Of each server to each LID, by any LID of the server; unknown where there is none. */
TEST(levels)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;3,3)", 1);
	const struct fors_port *port[2] = {NULL, NULL};
	uint64_t guid[2];
	const struct fors_participants two = {guid, 2};
	struct fors_levels *levels = NULL;
	int64_t live;

	for (uint32_t i = 0, n = 0; i < bed->net->nports && n < 2; i++)
		if (bed->net->port[i].guid && bed->net->port[i].lmc)
			port[n++] = &bed->net->port[i];
	guid[0] = port[1]->guid;
	guid[1] = port[0]->guid;
	live = faults_live();
	assert_int_equal(fors_levels_new(bed->net, NULL, true, &levels, NULL), FORS_OK);
	assert_int_equal(levels->nservers, 9);
	assert_int_equal(levels->nlids, 18);
	fors_levels_free(levels);
	assert_int_equal(faults_live(), live);
	assert_int_equal(fors_levels_new(bed->net, &two, true, &levels, NULL), FORS_OK);
	assert_int_equal(levels->nservers, 2);
	for (unsigned i = 0; i < 8; i++)
		levels->sl[i] = (uint8_t)i;
	for (unsigned own = 0; own < 2; own++) {
		assert_int_equal(fors_levels_find(levels, port[0]->lid + own, port[1]->lid), 2);
		assert_int_equal(fors_levels_find(levels, port[0]->lid + own, port[1]->lid + 1u), 3);
		assert_int_equal(fors_levels_find(levels, port[1]->lid + own, port[0]->lid), 4);
	}
	assert_int_equal(fors_levels_find(levels, port[0]->lid, port[1]->lid + 2u), FORS_NO_SL);
	assert_int_equal(fors_levels_find(levels, 60000, port[1]->lid), FORS_NO_SL);
	assert_int_equal(fors_levels_find(NULL, port[0]->lid, port[1]->lid), FORS_NO_SL);
	fors_levels_free(levels);
	assert_int_equal(fors_levels_new(bed->net, NULL, false, &levels, NULL), FORS_OK);
	levels->all = 3;
	assert_int_equal(fors_levels_find(levels, port[0]->lid, port[1]->lid), 3);
	fors_levels_free(levels);
}

/* 2,048 servers can be asked for at LMC 1, not at LMC 2: then nobody is asked. */
TEST(too_many_paths)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;1,32;servers=64)", 2);
	struct fors_levels *levels = NULL;
	struct fors_error error;

	assert_int_equal(fors_levels_new(bed->net, NULL, true, &levels, &error), FORS_ELIMIT);
	assert_non_null(strstr(error.text, "16777216 paths"));
	assert_null(levels);
}

/* Each cable and each warning is shown. */
TEST(what_readers_see)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;3,3)", 2);
	struct fors_look job = job_of(bed);
	uint64_t before = fors_look_view(&job);

	for (uint32_t i = 0; i < 9; i++) {
		bed->fabric->cable[i].since_ms++;
		assert_true(fors_look_view(&job) != before);
		bed->fabric->cable[i].since_ms--;
		bed->fabric->cable[i].drained = FORS_DRAIN_HELD;
		assert_true(fors_look_view(&job) != before);
		bed->fabric->cable[i].drained = FORS_DRAIN_NOT;
	}
	assert_true(fors_look_view(&job) == before);
	fors_warn(&job.warnings, "one");
	fors_warn(&job.warnings, "two");
	before = fors_look_view(&job);
	strcpy(job.warnings.text[1], "three");
	assert_true(fors_look_view(&job) != before);
	strcpy(job.warnings.text[1], "two");
	assert_true(fors_look_view(&job) == before);
	strcpy(job.warnings.text[0], "onet"); /* the same letters, cut elsewhere */
	strcpy(job.warnings.text[1], "wo");
	assert_true(fors_look_view(&job) != before);
}

TEST(who_overtakes_whom)
{
	struct bed *bed = bed_new("FT(2;3,3)", 2), *other = bed_new("FT(2;3,3)", 2);
	struct fors_look job = job_of(bed), same = job_of(bed), newer = job_of(other), empty = {.fabric = NULL};
	struct fors_claim claim = {.holders = 1};

	bed_down(other, "Leaf00[4]");
	newer = job_of(other);
	assert_false(fors_look_overtakes(&same, &job));
	assert_true(fors_look_overtakes(&newer, &job));
	assert_true(fors_look_overtakes(&empty, &job));
	same.claim = &claim; /* other tables are on their way */
	assert_true(fors_look_overtakes(&same, &job));
	job.claim = &claim;
	assert_false(fors_look_overtakes(&same, &job));
	same.kind = FORS_LOOK_DECLINED;
	assert_true(fors_look_overtakes(&same, &job));
	assert_true(fors_look_same_tables(&same, &job));
	assert_false(fors_look_same_tables(&newer, &job));
	bed_free(bed);
	bed_free(other);
}

TEST(digests)
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
