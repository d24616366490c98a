/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of what runs on while jobs come and go: core/jobs/running.h, fors_joblist_read_known(), and of core/planners
 * what stays (jobplan.h), goes over any tables (jobplan_over.h), gets a name (core/schedule/lane_ways.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/unknown.h"
#include "core/fabric/places.h"
#include "core/jobs/running.h"
#include "core/planners/jobplan_left.h"
#include "core/planners/jobplan_over.h"
#include "core/schedule/lane_ways.h"
#include "core/schedule/schedule_file.h"
#include "core/schedule/verify.h"
#include "data.h"
#include "job_plans.h"
#include "support.h"

#define ONE "one [exclusive]: Node00-00, Node00-01, Node01-00, Node01-01\n"
#define TWO "two [exclusive]: Node00-02, Node01-02, Node02-00\n"

struct outcome {
	struct fors_joblist list;
	struct fors_owners owners;
	struct fors_jobplans plans;
};

static const struct fors_jobknown nothing_besides;

static struct fors_joblist read_present(const struct fors_fabric *fabric, const char *text)
{
	struct fors_joblist list;
	struct fors_error error;

	if (fors_joblist_read_known(text, strlen(text), "jobs", fabric, &nothing_besides, &list, &error))
		fail_msg("%s", error.text);
	return list;
}

static struct outcome run(const struct bed *bed, const char *text, const uint32_t *before,
			  const struct fors_jobkept *kept)
{
	struct outcome out = {.list = read_present(bed->fabric, text)};
	const struct fors_owners_task task = {
		.fabric = bed->fabric, .list = &out.list, .before = before, .work = FORS_OWNERS_WORK / 50};
	const struct fors_request request = {.task = {.fabric = bed->fabric}, .net = bed->net, .lfts = bed->lfts};

	assert_int_equal(fors_owners_find(&task, &out.owners, NULL), FORS_OK);
	assert_int_equal(plan_jobs(&request, &out.list, &out.owners, NULL, kept, &out.plans, NULL), FORS_OK);
	assert_int_equal(out.plans.nmeetings, 0);
	return out;
}

static void clear(struct outcome *out)
{
	fors_jobplans_clear(&out->plans);
	fors_owners_clear(&out->owners);
	fors_joblist_clear(&out->list);
}

/* --- texts ---------------------------------------------------------------------------------------------------- */

/* What is not there concerns its own job only; what is no file of jobs is none all the same. */
TEST(lost_servers)
{
	static const char *const bad[] = {"a: Node00-00\nb: Node00-00\n",
					  "a: Node00-00\na: Node00-01\n",
					  "../a: Node00-00\n",
					  "a\n",
					  "a/b: Node00-00\n",
					  "a [odd]: Node00-00\n",
					  "a:\n"};
	struct bed *bed = bed_new("FT(2;4,4)", 2);
	struct fors_joblist list = read_present(
		bed->fabric, "here: Node00-00\nsome: Node01-00, Nobody, Spine00, Node01-01\nlost: Node77-00\n");
	struct fors_error error;

	assert_int_equal(list.count, 3);
	assert_int_equal(list.job[0].nmissing, 0);
	assert_int_equal(list.job[1].count, 2);
	assert_int_equal(list.job[1].nmissing, 2);
	assert_string_equal(list.job[1].missing, "Nobody");
	assert_int_equal(list.job[2].count, 0);
	assert_int_equal(list.job[2].nmissing, 1);
	fors_joblist_clear(&list);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(fors_joblist_read_known(bad[i], strlen(bad[i]), "jobs", bed->fabric, &nothing_besides,
							 &list, &error),
				 FORS_EINPUT);
	bed_free(bed);
}

/* A job without servers has no plan, and takes no lane; one of a single server has one phase. */
TEST(small_jobs)
{
	struct bed *bed = bed_new("FT(2;4,4)", 2);
	struct outcome out = run(bed, "none [exclusive]: Nobody\nsingle [exclusive]: Node03-03\n" ONE, NULL, NULL);

	assert_null(out.plans.job[0].plan);
	data_contains(out.plans.job[0].error.text, "none of its servers");
	assert_int_equal(out.plans.job[1].plan->nphases, 1);
	assert_int_equal(out.plans.job[2].whose, FORS_OVER_OWN);
	clear(&out);
	bed_free(bed);
}

/* --- again ---------------------------------------------------------------------------------------------------- */

/* Lanes go to the new numbers of their jobs; on another fabric nobody knows whose they were. */
TEST(lanes_of_before)
{
	struct bed *bed = bed_new("FT(2;4,4)", 2), *other = bed_new("FT(2;4,3)", 2), *same = bed_new("FT(2;4,4)", 2);
	struct outcome first = run(bed, ONE TWO, NULL, NULL);
	struct fors_lane lane;
	struct fors_joblist now = read_present(bed->fabric, "new: Node03-03\n" TWO);
	uint32_t was_of[2], *before;

	assert_int_equal(fors_jobs_match(&first.list, &now, was_of, NULL), FORS_OK);
	assert_int_equal(was_of[0], FORS_NO_JOB);
	assert_int_equal(was_of[1], 1);
	assert_int_equal(fors_owners_carried(bed->fabric, &first.owners, bed->fabric, was_of, 2, &before, NULL),
			 FORS_OK);
	for (size_t i = 0; i < 16; i++)
		assert_int_equal(before[i], first.owners.job[i] == 1 ? 1 : FORS_NO_JOB);
	free(before);
	assert_int_equal(fors_owners_carried(bed->fabric, &first.owners, other->fabric, was_of, 2, &before, NULL),
			 FORS_OK);
	assert_null(before);
	lane = same->fabric->lane[0]; /* the same spines, and lanes that lead to others of them */
	same->fabric->lane[0] = same->fabric->lane[1];
	same->fabric->lane[1] = lane;
	assert_int_equal(fors_owners_carried(bed->fabric, &first.owners, same->fabric, was_of, 2, &before, NULL),
			 FORS_OK);
	assert_null(before);
	fors_joblist_clear(&now);
	clear(&first);
	bed_free(bed);
	bed_free(other);
	bed_free(same);
}

/*
 * What an earlier subnet manager left says whose the lanes were: those that each job's plan goes over, and no other. Jobs
 * that share have none.
 */
TEST(lanes_of_what_was_left)
{
	static const char text[] =
		"a [exclusive]: Node00-00, Node00-01, Node01-00, Node02-01\n"
		"b [exclusive]: Node00-02, Node01-01, Node01-02, Node03-00\nc: Node02-02, Node03-02\n";
	static const char *const spec[] = {"FT(2;4,4)", "FT(2;2,4;servers=4;cables=2)"};

	for (int i = 0; i < 2; i++) {
		struct bed *bed = bed_new(spec[i], 2);
		struct outcome out = run(bed, text, NULL, NULL);
		const struct fors_schedule *left[3];
		const struct fors_floors floors = {.count = 1, .floor = (const struct fors_fabric *[]){bed->fabric}};
		struct fors_holdings before;
		uint32_t n = 0;

		for (uint32_t j = 0; j < 3; j++) {
			assert_int_equal(fors_schedule_name(out.plans.job[j].plan, bed->fabric, bed->lfts, "x", NULL),
					 FORS_OK);
			left[j] = out.plans.job[j].plan;
		}
		assert_int_equal(fors_jobplans_left(&floors, &out.list, left, FORS_UNKNOWN, &before, NULL), FORS_OK);
		for (uint32_t k = 0; k < bed->fabric->nleaves * bed->fabric->nlanes; k++) {
			uint32_t who = before.owners[0].job[k];

			n += who != FORS_NO_JOB;
			assert_true(who == FORS_NO_JOB || who == out.owners.job[k]);
		}
		assert_true(n >= 6);
		left[0] = left[1] = left[2] = NULL;
		fors_holdings_clear(&before);
		assert_int_equal(fors_jobplans_left(&floors, &out.list, left, FORS_UNKNOWN, &before, NULL), FORS_OK);
		for (uint32_t k = 0; k < bed->fabric->nleaves * bed->fabric->nlanes; k++)
			assert_int_equal(before.owners[0].job[k], FORS_NO_JOB);
		fors_holdings_clear(&before);
		clear(&out);
		bed_free(bed);
	}
}

/*
 * Two hosts have traded places since the schedule was made. A leaf sent up to one of them that is its own now: it goes up to
 * nobody of its own, else packets would come back for ever, whoever says so.
 */
TEST(hosts_have_moved)
{
	struct bed *bed = bed_new("FT(2;4,4)", 2);
	struct outcome out = run(bed, ONE, NULL, NULL);
	const struct fors_schedule *left[] = {out.plans.job[0].plan};
	static const uint32_t moved[] = {0, 4, 5, 6};
	const struct fors_fabric *floor = bed->fabric;
	const struct fors_floors floors = {.count = 1, .floor = &floor};
	struct fors_server *one = &bed->fabric->server[1], *other = &bed->fabric->server[6];
	struct fors_holdings before;
	struct fors_entries *entries;
	uint64_t guid = one->guid;

	assert_int_equal(fors_schedule_name(out.plans.job[0].plan, bed->fabric, bed->lfts, "x", NULL), FORS_OK);
	assert_int_equal(one->leaf, 0);
	assert_int_equal(other->leaf, 1);
	one->guid = other->guid;
	other->guid = guid;
	memcpy(out.list.job[0].server, moved, sizeof(moved));
	assert_int_equal(fors_jobplans_left(&floors, &out.list, left, FORS_UNKNOWN, &before, NULL), FORS_OK);
	entries = &before.entries[0];
	assert_false(fors_entries_are_none(entries)); /* of those that stayed */
	for (uint32_t d = 0; d < floor->nservers; d++)
		assert_int_equal(entries->up[floor->server[d].leaf * floor->nservers + d], FORS_NO_LANE);
	assert_int_equal(entries->up[6], FORS_NO_LANE); /* nor does the other leaf know it there */
	assert_int_not_equal(entries->up[4], FORS_NO_LANE);
	entries->up[floor->server[4].leaf * floor->nservers + 4] = entries->up[4];
	fors_holdings_prune(&floors, &before);
	assert_int_not_equal(entries->up[4], FORS_NO_LANE);
	assert_int_equal(entries->up[floor->server[4].leaf * floor->nservers + 4], FORS_NO_LANE);
	fors_holdings_clear(&before);
	clear(&out);
	bed_free(bed);
}

/* Who keeps servers and lanes keeps the schedule; who lost a lane does not, nor who could use one more. */
TEST(who_stays)
{
	struct bed *bed = bed_new("FT(2;4,4)", 2);
	struct outcome out = run(bed, ONE TWO, NULL, NULL), same = run(bed, TWO ONE, NULL, NULL);
	struct fors_jobview first = {&out.list, &out.owners}, second = {&out.list, &same.owners};
	uint32_t *lane = NULL;

	memcpy(same.owners.job, out.owners.job, 16 * sizeof(*same.owners.job));
	assert_true(fors_jobplan_may_stay(bed->fabric, first, 0, second, 0, FORS_OVER_OWN, false));
	for (size_t i = 0; i < 8 && !lane; i++) /* of the leaves where both are */
		if (same.owners.job[i] == 1)
			lane = &same.owners.job[i];
	assert_non_null(lane);
	*lane = 0; /* from job 1 to job 0 */
	assert_false(fors_jobplan_may_stay(bed->fabric, first, 1, second, 1, FORS_OVER_OWN, true));
	assert_true(fors_jobplan_may_stay(bed->fabric, first, 0, second, 0, FORS_OVER_OWN, true));
	assert_false(fors_jobplan_may_stay(bed->fabric, first, 0, second, 0, FORS_OVER_OWN, false));
	assert_false(fors_jobplan_may_stay(bed->fabric, first, 0, second, 0, FORS_OVER_ALL,
					   true)); /* it asked for its own */
	assert_false(fors_jobplan_may_stay(bed->fabric, first, 0, first, 1, FORS_OVER_OWN, true)); /* other servers */
	clear(&out);
	clear(&same);
	bed_free(bed);
}

/* What is kept is not planned again, and counts when others are looked at: two that meet are told. */
TEST(kept_plans)
{
	struct bed *bed = bed_new("FT(2;4,4)", 2);
	struct outcome out = run(bed, ONE TWO, NULL, NULL);
	struct fors_jobkept kept[2] = {{.plan = out.plans.job[0].plan, .whose = FORS_OVER_OWN},
				       {.whose = FORS_OVER_OWN}};
	struct outcome then = run(bed, ONE TWO, out.owners.job, kept);
	bool is_right[3];

	assert_true(then.plans.job[0].is_kept && !then.plans.job[0].plan);
	assert_true(!then.plans.job[1].is_kept && then.plans.job[1].plan);
	clear(&then);

	const struct fors_jobkept all[3] = {{.plan = out.plans.job[0].plan, .whose = FORS_OVER_OWN},
					    {.plan = out.plans.job[1].plan, .whose = FORS_OVER_OWN},
					    {.plan = out.plans.job[0].plan, .whose = FORS_OVER_OWN}};

	assert_int_equal(fors_jobplans_right(bed->net, bed->lfts, all, 3, NULL, NULL, is_right, NULL), FORS_OK);
	assert_true(is_right[0] && is_right[1] && !is_right[2]);
	bed_down(bed, "Leaf00"); /* both have servers there */
	assert_int_equal(fors_jobplans_right(bed->net, bed->lfts, all, 3, NULL, NULL, is_right, NULL), FORS_OK);
	assert_false(is_right[0] || is_right[1] || is_right[2]);
	clear(&out);
	bed_free(bed);
}

/* --- names ---------------------------------------------------------------------------------------------------- */

/* With a name it is of version 2, goes through its bytes, and is right over the same tables, way by way. */
TEST(named_plans)
{
	static const char *const spec[] = {"FT(2;4,4)", "FT(2;2,4;servers=4;cables=2)", "FT(2;4,4;servers=3)"};

	for (size_t i = 0; i < sizeof(spec) / sizeof(spec[0]); i++)
		for (unsigned lmc = 0; lmc < 3; lmc++) {
			struct bed *bed = bed_new(spec[i], lmc);
			struct outcome out =
				run(bed, "a: Node00-00, Node00-01, Node01-00, Node02-01, Node03-02\n", NULL, NULL);
			struct fors_schedule *plan = out.plans.job[0].plan, *read;
			struct fors_verdict verdict;
			void *bytes;
			size_t size;

			assert_int_equal(fors_schedule_name(plan, bed->fabric, bed->lfts, "a", NULL), FORS_OK);
			assert_int_equal(fors_schedule_version(plan), 2);
			plan->epoch = 7;
			assert_int_equal(fors_schedule_encode(plan, &bytes, &size, NULL), FORS_OK);
			assert_int_equal(fors_schedule_decode(bytes, size, "a", &read, NULL), FORS_OK);
			assert_string_equal(read->name, "a");
			assert_int_equal(fors_verify(bed->net, bed->lfts, read, NULL, NULL, &verdict, NULL), FORS_OK);
			if (!verdict.is_good)
				fail_msg("%s: %s", spec[i], verdict.text);
			bed_down(bed, "Spine00");
			assert_int_equal(fors_verify(bed->net, bed->lfts, read, NULL, NULL, &verdict, NULL), FORS_OK);
			assert_false(verdict.is_good);
			fors_schedule_free(read);
			free(bytes);
			clear(&out);
			bed_free(bed);
		}
}

/*
 * A flow comes down by the cable that the spine's table says, which need not have the number of the one that it went up by:
 * of two cables the one of that number is dead, or the leaf never had a second.
 */
TEST(named_over_one_of_two)
{
	for (int i = 0; i < 6; i++) {
		struct bed *bed = bed_new("FT(2;2,4;servers=4;cables=2)", (unsigned)i / 2);
		struct fors_schedule *plan;
		struct fors_verdict verdict;
		struct outcome out;

		if (i % 2) { /* it never was there */
			struct fors_error error;

			assert_int_equal(fors_net_down(bed->intact, bed->intact, "Leaf01[6]", &error), FORS_OK);
			fors_places_free(bed->places);
			bed->places = fors_places_new();
			assert_int_equal(fors_places_learn(bed->places, bed->intact, NULL, 0, &error), FORS_OK);
			bed_restore(bed);
		} else {
			bed_down(bed, "Leaf01[6]");
		}
		out = run(bed, "a: Node00-00, Node00-01, Node01-00, Node01-02, Node02-01, Node03-02\n", NULL, NULL);
		plan = out.plans.job[0].plan;
		assert_int_equal(fors_schedule_name(plan, bed->fabric, bed->lfts, "a", NULL), FORS_OK);
		assert_int_equal(fors_verify(bed->net, bed->lfts, plan, NULL, NULL, &verdict, NULL), FORS_OK);
		if (!verdict.is_good)
			fail_msg("%d: %s", i, verdict.text);
		clear(&out);
		bed_free(bed);
	}
}

/* Tables that are not those of the plan: said, and the plan is what it was. */
TEST(named_over_other_tables)
{
	struct bed *bed = bed_new("FT(2;4,4)", 0);
	struct outcome out = run(bed, "a: Node00-00, Node01-00, Node02-01\n", NULL, NULL);
	struct fors_schedule *plan = out.plans.job[0].plan;
	struct fors_lfts *none = fors_lfts_new(0, 1);
	struct fors_error error;

	assert_int_equal(fors_schedule_name(plan, bed->fabric, none, "a", &error), FORS_EINPUT);
	assert_non_null(strstr(error.text, "has no way to LID"));
	assert_null(plan->ways);
	assert_int_equal(fors_schedule_version(plan), 1);
	assert_int_equal(fors_schedule_name(plan, bed->fabric, bed->lfts, "a", &error), FORS_OK);
	fors_lfts_free(none);
	clear(&out);
	bed_free(bed);
}

/* A withdrawn schedule may say whose it was. */
TEST(named_withdrawals)
{
	struct fors_schedule *nothing, *read;
	void *bytes;
	size_t size;

	assert_int_equal(fors_schedule_withdrawn(5, "it has ended", &nothing, NULL), FORS_OK);
	strcpy(nothing->name, "4711");
	nothing->fingerprint = 99;
	assert_int_equal(fors_schedule_encode(nothing, &bytes, &size, NULL), FORS_OK);
	assert_int_equal(fors_schedule_decode(bytes, size, "4711", &read, NULL), FORS_OK);
	assert_string_equal(read->name, "4711");
	assert_string_equal(read->reason, "it has ended");
	assert_int_equal(read->fingerprint, 99);
	fors_schedule_free(read);
	fors_schedule_free(nothing);
	free(bytes);
}

/* --- any tables ----------------------------------------------------------------------------------------------- */

/* Over tables of anybody: seats are all servers, or those that take part; each job has a plan for itself. */
TEST(over_any_tables)
{
	struct bed *bed = bed_new("FT(2;4,4)", 0);
	uint64_t two[2] = {bed->fabric->server[5].guid, bed->fabric->server[2].guid};
	const struct fors_participants them = {two, 2};
	const struct fors_request task = {.net = bed->net, .lfts = bed->lfts};
	struct fors_jobplans plans;
	struct fors_joblist list;
	struct fors_fabric *seats;
	struct fors_verdict verdict;

	assert_int_equal(fors_jobs_seats(bed->net, &them, &seats, NULL), FORS_OK);
	assert_int_equal(seats->nservers, 2);
	fors_fabric_free(seats);
	assert_int_equal(fors_jobs_seats(bed->net, NULL, &seats, NULL), FORS_OK);
	assert_int_equal(seats->nservers, bed->fabric->nservers);
	list = read_present(seats, ONE "lost: Nobody\nsingle: Node03-03\n");
	assert_int_equal(list.job[0].nleaves, 2);
	assert_int_equal(fors_jobplans_over(&task, seats, &list, NULL, &plans, NULL), FORS_OK);
	assert_int_equal(plans.job[0].whose, FORS_OVER_ALL);
	assert_int_equal(plans.job[0].plan->nservers, 4);
	assert_int_equal(fors_verify(bed->net, bed->lfts, plans.job[0].plan, NULL, NULL, &verdict, NULL), FORS_OK);
	assert_true(verdict.is_good);
	assert_null(plans.job[1].plan);
	assert_int_equal(plans.job[2].plan->nphases, 1);
	fors_jobplans_clear(&plans);
	fors_joblist_clear(&list);
	fors_fabric_free(seats);
	bed_free(bed);
}

/* A new plan that meets one that was kept, of a job that goes over lanes which are not its own any more. */
TEST(plans_that_meet)
{
	static const char beside[] = "beside [exclusive]: Node00-02, Node00-03, Node01-02, Node01-03\n";
	struct bed *bed = bed_new("FT(2;4,4)", 2);
	char text[2][512];
	struct outcome then, now;
	const struct fors_request request = {.task = {.fabric = bed->fabric}, .net = bed->net, .lfts = bed->lfts};
	struct fors_jobkept kept[2] = {{.whose = FORS_OVER_OWN}};
	struct fors_jobplans plans;

	snprintf(text[0], sizeof(text[0]), "%s%s", beside, ONE);
	snprintf(text[1], sizeof(text[1]), "%s%s", ONE, beside);
	then = run(bed, text[0], NULL, NULL);
	now = run(bed, text[1], NULL, NULL);
	kept[0].plan = then.plans.job[1].plan;
	assert_int_equal(plan_jobs(&request, &now.list, &now.owners, NULL, kept, &plans, NULL), FORS_OK);
	assert_true(plans.nmeetings > 0);
	data_contains(plans.meeting, "is used by job \"one\" and by job \"beside\"");
	fors_jobplans_clear(&plans);
	kept[0].whose = FORS_OVER_ALL; /* who says that it shares may meet others */
	assert_int_equal(plan_jobs(&request, &now.list, &now.owners, NULL, kept, &plans, NULL), FORS_OK);
	assert_int_equal(plans.nmeetings, 0);
	fors_jobplans_clear(&plans);
	clear(&then);
	clear(&now);
	bed_free(bed);
}
