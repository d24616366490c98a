/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_jobs.c - several jobs at once: the list, the owners of lanes, the plans side by side.
 *
 * What isolation means is asked of the tables here, by a walk of the test's own: two jobs over their own lanes never send a
 * flow into the same cable, in whatever phases.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fabric/fabric.h"
#include "core/jobs/owners.h"
#include "core/planners/jobplan.h"
#include "job_plans.h"
#include "support.h"

static struct fors_joblist read_list(const struct bed *bed, const char *text)
{
	struct fors_joblist list;
	struct fors_error error;

	if (fors_joblist_read(text, strlen(text), "jobs", bed->fabric, &list, &error))
		fail_msg("%s", error.text);
	return list;
}

static void assert_refused(const struct bed *bed, const char *text, const char *wanted)
{
	struct fors_joblist list = {NULL, 77};
	struct fors_error error = {0};

	assert_int_equal(fors_joblist_read(text, strlen(text), "jobs", bed->fabric, &list, &error), FORS_EINPUT);
	if (!strstr(error.text, wanted))
		fail_msg("\"%s\" is not in \"%s\"", wanted, error.text);
	assert_int_equal(list.count, 77);
}

TEST(lists)
{
	struct bed *bed = bed_new("FT(2;4,4)", 2);
	struct fors_joblist list =
		read_list(bed, "# nothing\n a-1.x [exclusive] : Node01-02 ,Node00-03,\n\nb: Node03-00\n"
			       "c [shared]: Node03-01, Node03-01 # twice is once\n"
			       "d [ demand=rows.2 , job-index ]: Node03-02\ne [demand=rows.2]: Node03-03\n");

	assert_int_equal(list.count, 5);
	assert_string_equal(list.job[3].demand, "rows.2");
	assert_true(list.job[3].has_index && list.job[3].is_exclusive && !list.job[4].is_exclusive);
	assert_true(!strcmp(list.job[4].demand, "rows.2") && !*list.job[2].demand);
	assert_string_equal(list.job[0].name, "a-1.x");
	assert_true(list.job[0].is_exclusive && !list.job[1].is_exclusive && !list.job[2].is_exclusive);
	assert_int_equal(list.job[0].count, 2);
	assert_int_equal(list.job[0].nleaves, 2);
	assert_int_equal(list.job[0].server[0], 3);
	assert_int_equal(list.job[0].server[1], 6);
	assert_int_equal(list.job[1].line, 4);
	assert_int_equal(list.job[2].count, 1);
	fors_joblist_clear(&list);
	list = read_list(bed, "");
	assert_int_equal(list.count, 0);
	bed_free(bed);
}

TEST(bad_lists)
{
	struct bed *bed = bed_new("FT(2;4,4)", 2);
	char longest[80];

	assert_refused(bed, "a: Node00-00\nb: Node01-00, Node00-00\n",
		       "jobs:2: \"Node00-00\" works for job \"a\" of line 1");
	assert_refused(bed, "a: Node00-00\nb: Node00-01\na: Node00-02\n", "jobs:3: job \"a\" is that of line 1");
	assert_refused(bed, "a: Node09-00\n", "jobs:1: there is no node \"Node09-00\"");
	assert_refused(bed, "a: Spine00\n", "no server that takes part");
	assert_refused(bed, "a: \n", "has no server");
	assert_refused(bed, "a [fast]: Node00-00\n", "[fast]");
	assert_refused(bed, "a [shared, exclusive]: Node00-00\n", "[exclusive]");
	assert_refused(bed, "a [demand=x, demand=y]: Node00-00\n", "two demands");
	assert_refused(bed, "a [demand=/etc/shadow]: Node00-00\n", "no name of a demand");
	assert_refused(bed, "a [demand=..]: Node00-00\n", "no name of a demand");
	assert_refused(bed, "a Node00-00\n", "is expected");
	assert_refused(bed, "[exclusive]: Node00-00\n", "without a name");
	assert_refused(bed, "../a: Node00-00\n", "no name of a job");
	assert_refused(bed, "a/b: Node00-00\n", "no name of a job");
	assert_refused(bed, ".a: Node00-00\n", "no name of a job");
	assert_refused(bed, "a\x1b: Node00-00\n", "no name of a job");
	snprintf(longest, sizeof(longest), "%064d: Node00-00\n", 0);
	assert_refused(bed, longest, "no name of a job");
	bed_free(bed);
}

/* All servers for so many exclusive jobs: one block after the other, or anywhere. */
static char *any_jobs(const struct bed *bed, struct rng *rng, uint32_t njobs, bool is_spread)
{
	const struct fors_fabric *fabric = bed->fabric;
	char *text = calloc(fabric->nservers + (size_t)njobs, 64), *end = text;
	uint32_t *job = calloc(fabric->nservers, sizeof(*job));

	for (uint32_t s = 0; s < fabric->nservers; s++)
		job[s] = !is_spread ? s * njobs / fabric->nservers : s < njobs ? s : rng_below(rng, njobs);
	for (uint32_t j = 0; j < njobs; j++) {
		end += sprintf(end, "job%u [exclusive]:", j);
		for (uint32_t s = 0; s < fabric->nservers; s++)
			if (job[s] == j)
				end += sprintf(end, " 0x%llx,", (unsigned long long)fabric->server[s].guid);
		end += sprintf(end, "\n");
	}
	free(job);
	return text;
}

/* Every owned lane lives, and belongs to a job with servers at that leaf and at another. */
static void assert_owners(const struct bed *bed, const struct fors_joblist *list, const struct fors_owners *owners)
{
	for (uint32_t a = 0; a < owners->nleaves; a++)
		for (uint32_t k = 0; k < owners->nlanes; k++) {
			uint32_t j = fors_owner(owners, a, k);
			bool is_there = false;

			if (j == FORS_NO_JOB)
				continue;
			assert_true(j < list->count && list->job[j].is_exclusive && list->job[j].nleaves > 1);
			assert_true(fors_live(bed->fabric, a, k));
			for (uint32_t i = 0; i < list->job[j].count; i++)
				is_there |= bed->fabric->server[list->job[j].server[i]].leaf == a;
			assert_true(is_there);
		}
}

/* The ports that the plan's flows are sent by between switches, by the tables; each once. */
static void walk_plan(const struct bed *bed, const struct fors_schedule *plan, uint32_t number, uint32_t *used_by)
{
	for (uint32_t t = 0; t < plan->nphases; t++)
		for (uint32_t s = 0; s < plan->nservers; s++) {
			struct fors_cell cell = fors_schedule_flow(plan, s, t);
			uint32_t node = FORS_NONE;

			if (cell.dst == FORS_IDLE || plan->server[cell.dst].leaf == plan->server[s].leaf)
				continue;
			node = bed->fabric->leaf[plan->server[s].leaf].node;
			while (bed->net->node[node].type == FORS_SWITCH) {
				uint8_t port =
					fors_lfts_port(bed->lfts, fors_lfts_row(bed->lfts, bed->net->node[node].guid),
						       plan->server[cell.dst].lid + (uint32_t)cell.path);
				uint32_t index = bed->net->node[node].first_port + port;

				assert_true(used_by[index] == FORS_NO_JOB || used_by[index] == number);
				used_by[index] = number;
				node = fors_net_port(bed->net, node, port)->peer;
			}
		}
}

struct outcome {
	struct fors_joblist list;
	struct fors_owners owners;
	struct fors_jobplans plans;
};

static struct outcome run(const struct bed *bed, const char *text, const uint32_t *before)
{
	struct outcome out = {.list = read_list(bed, text)};
	struct fors_owners_task task = {
		.fabric = bed->fabric, .list = &out.list, .before = before, .work = FORS_OWNERS_WORK / 50};
	struct fors_request request = {.task = {.fabric = bed->fabric}, .net = bed->net, .lfts = bed->lfts};
	struct fors_error error;

	if (fors_owners_find(&task, &out.owners, &error) ||
	    plan_jobs(&request, &out.list, &out.owners, NULL, NULL, &out.plans, &error))
		fail_msg("%s", error.text);
	assert_owners(bed, &out.list, &out.owners);
	return out;
}

static void clear(struct outcome *out)
{
	fors_jobplans_clear(&out->plans);
	fors_owners_clear(&out->owners);
	fors_joblist_clear(&out->list);
}

static uint32_t count_over(const struct outcome *out, enum fors_jobplan_lanes whose)
{
	uint32_t n = 0;

	for (uint32_t j = 0; j < out->list.count; j++)
		n += out->plans.job[j].plan && out->plans.job[j].whose == whose;
	return n;
}

static void assert_isolated(const struct bed *bed, const struct outcome *out)
{
	uint32_t *used_by = malloc((bed->net->nports + 1) * sizeof(*used_by));

	for (uint32_t i = 0; i < bed->net->nports; i++)
		used_by[i] = FORS_NO_JOB;
	for (uint32_t j = 0; j < out->list.count; j++)
		if (out->plans.job[j].plan && out->plans.job[j].whose == FORS_OVER_OWN)
			walk_plan(bed, out->plans.job[j].plan, j, used_by);
	assert_int_equal(out->plans.nmeetings, 0);
	free(used_by);
}

/* Blocks of leaves: every job at full speed over its own lanes, healthy and with dead cables. */
TEST(jobs_side_by_side)
{
	static const char *const down[] = {"", "Leaf00[9]", "Leaf02[10] Leaf05[12] Leaf07[16]"};
	struct bed *bed = bed_new("FT(2;8,8)", 3);
	struct rng rng = {1};

	for (size_t i = 0; i < sizeof(down) / sizeof(down[0]); i++) {
		char *text = any_jobs(bed, &rng, 3, false);
		struct outcome out;

		bed_restore(bed);
		bed_down(bed, down[i]);
		out = run(bed, text, NULL);
		assert_isolated(bed, &out);
		assert_int_equal(count_over(&out, FORS_OVER_OWN), 3);
		for (uint32_t j = 0; !i && j < 3; j++)
			assert_int_equal(out.plans.job[j].plan->nphases, out.list.job[j].count);
		clear(&out);
		free(text);
	}
	bed_free(bed);
}

/* Anywhere, on fabrics of any kind: whatever is planned over own lanes is apart, and each job has some plan. */
TEST(jobs_anywhere)
{
	static const char *const spec[] = {"FT(2;8,8)", "FT(2;4,6;servers=6;cables=2)",
					   "FT(2;5,7;servers=3;empty=1/2)"};
	struct rng rng = {7};

	for (size_t i = 0; i < sizeof(spec) / sizeof(spec[0]); i++) {
		struct bed *bed = bed_new(spec[i], 3);

		for (uint32_t njobs = 1; njobs < 6; njobs++) {
			char *text = any_jobs(bed, &rng, njobs, true);
			struct outcome out = run(bed, text, NULL);

			assert_isolated(bed, &out);
			for (uint32_t j = 0; j < njobs; j++)
				assert_non_null(out.plans.job[j].plan);
			clear(&out);
			free(text);
		}
		bed_free(bed);
	}
}

/* A running job keeps its lanes when another one ends, and when one comes that is content with what is left. */
TEST(owners_stay)
{
	static const char two[] = "a [exclusive]: Node00-00, Node00-01, Node01-00, Node01-01\n"
				  "b [exclusive]: Node00-02, Node01-02, Node02-00\n";
	static const char one[] = "b [exclusive]: Node00-02, Node01-02, Node02-00\n";
	struct bed *bed = bed_new("FT(2;4,4)", 2);
	struct outcome first = run(bed, two, NULL), then;
	uint32_t before[16], kept = 0;

	for (uint32_t i = 0; i < 16; i++)
		before[i] = first.owners.job[i] == 1 ? 0 : FORS_NO_JOB;
	then = run(bed, one, before);
	for (uint32_t i = 0; i < 16; i++) {
		if (before[i] == 0)
			assert_int_equal(then.owners.job[i], 0);
		kept += before[i] == 0;
	}
	assert_true(kept > 2);
	assert_int_equal(then.plans.job[0].plan->nphases, 3);
	clear(&first);
	clear(&then);
	bed_free(bed);
}

/* Without a path index for each lane there may be no plan over own lanes: then over all, and it is told. */
TEST(short_lmc)
{
	struct bed *bed = bed_new("FT(2;8,8)", 0);
	struct rng rng = {3};
	char *text = any_jobs(bed, &rng, 3, true);
	struct outcome out = run(bed, text, NULL);

	assert_isolated(bed, &out);
	assert_true(count_over(&out, FORS_OVER_ALL) > 0);
	assert_int_equal(count_over(&out, FORS_OVER_ALL) + count_over(&out, FORS_OVER_OWN) +
				 count_over(&out, FORS_OVER_FREE),
			 3);
	clear(&out);
	free(text);
	bed_free(bed);
}

/* Jobs that share: over what nobody owns; one that is alone at its leaf needs no lane. */
TEST(shared_jobs)
{
	struct bed *bed = bed_new("FT(2;4,4)", 2);
	struct outcome out = run(bed,
				 "own [exclusive]: Node00-00, Node00-01, Node01-00, Node01-01\n"
				 "shared: Node00-02, Node00-03, Node01-02, Node01-03\n"
				 "inside [exclusive]: Node03-00, Node03-01\n",
				 NULL);

	assert_isolated(bed, &out);
	assert_int_equal(out.plans.job[0].whose, FORS_OVER_OWN);
	assert_int_equal(out.plans.job[1].whose, FORS_OVER_FREE);
	assert_int_equal(out.plans.job[0].plan->nphases, 4);
	assert_int_equal(out.plans.job[1].plan->nphases, 4);
	assert_int_equal(out.plans.job[1].nlanes, 0);
	assert_int_equal(out.plans.job[2].nlanes, 0);
	assert_int_equal(out.plans.job[2].plan->nphases, 2);
	clear(&out);
	bed_free(bed);
}

TEST(the_same_again)
{
	struct bed *bed = bed_new("FT(2;8,8)", 3);
	struct rng rng = {11};
	char *text = any_jobs(bed, &rng, 4, true);
	struct outcome one = run(bed, text, NULL), two = run(bed, text, NULL);

	assert_memory_equal(one.owners.job, two.owners.job, 64 * sizeof(*one.owners.job));
	clear(&one);
	clear(&two);
	free(text);
	bed_free(bed);
}

/* The subset is what fors_fabric_build() makes of the same participants, lanes aside. */
TEST(subsets)
{
	struct bed *bed = bed_new("FT(2;4,4;servers=3)", 2);
	const uint32_t server[] = {1, 2, 4, 9};
	bool is_allowed[16];
	struct fors_fabric *subset;

	for (uint32_t i = 0; i < 16; i++)
		is_allowed[i] = i % 4 != 2;
	assert_int_equal(fors_fabric_subset(bed->fabric, server, 4, is_allowed, &subset, NULL), FORS_OK);
	assert_int_equal(subset->nservers, 4);
	assert_int_equal(subset->max_servers, 2);
	assert_int_equal(subset->leaf[0].nservers + subset->leaf[1].nservers * 10 + subset->leaf[3].nservers * 100,
			 112);
	assert_int_equal(subset->leaf[3].first_server, 3);
	assert_int_equal(subset->leaf[0].nlive, 3);
	assert_int_equal(subset->server[1].rank, 1);
	assert_int_equal(fors_slot(subset, 0, 0)->server, FORS_NONE);
	assert_false(fors_live(subset, 2, 2));
	assert_true(subset->fingerprint != bed->fabric->fingerprint);
	fors_fabric_free(subset);
	bed_free(bed);
}
