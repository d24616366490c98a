/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_entries.c - table entries for jobs: one LID for each server, over the lanes that its job owns.
 *
 * A checker of its own walks every flow of every job over the tables: from the sender's leaf, hop by hop, to the port of
 * the LID. It counts what each port sends, so it knows which job uses which link, and what the fullest carries.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fabric/places.h"
#include "core/jobs/entries.h"
#include "core/jobs/holdings.h"
#include "core/planners/jobplan.h"
#include "core/planners/jobplan_index.h"
#include "core/tables/check.h"
#include "scattered_jobs.h"
#include "job_plans.h"
#include "support.h"

struct made {
	struct fors_joblist list;
	struct fors_owners owners;
	struct fors_entries entries;
	struct fors_lfts *lfts; /* of the bed, with the entries */
	uint32_t index;
};

static struct made make(const struct bed *bed, const char *text, uint32_t index, const struct fors_entries *before,
			const uint32_t *owners_before)
{
	struct made made = {.index = index, .lfts = fors_lfts_copy(bed->lfts)};
	struct fors_owners_task lanes = {
		.fabric = bed->fabric, .list = &made.list, .before = owners_before, .work = FORS_OWNERS_WORK / 20};
	struct fors_entries_task task = {.fabric = bed->fabric, .list = &made.list, .before = before};
	struct fors_error error;

	assert_non_null(made.lfts);
	if (fors_joblist_read(text, strlen(text), "jobs", bed->fabric, &made.list, &error) ||
	    fors_owners_find(&lanes, &made.owners, &error) ||
	    fors_entries_find(&task, &made.owners, &made.entries, &error))
		fail_msg("%s", error.text);
	fors_entries_apply(bed->fabric, &made.entries, index, made.lfts);
	return made;
}

static void clear(struct made *made)
{
	fors_entries_clear(&made->entries);
	fors_owners_clear(&made->owners);
	fors_joblist_clear(&made->list);
	fors_lfts_free(made->lfts);
}

/* ---- the checker ---- */

struct walk {
	const struct bed *bed;
	const struct made *made;
	uint32_t *used_by; /* per port of the net */
	uint32_t *flows;   /* the same, of the job that is walked */
};

/* A flow of job `number` through the tables: up, down, and there. */
static void walk_flow(struct walk *w, uint32_t number, const struct fors_server *from, const struct fors_server *to)
{
	const struct fors_net *net = w->bed->net;
	uint32_t node = w->bed->fabric->leaf[from->leaf].node, lid = to->lid + w->made->index, nhops = 0;

	while (net->node[node].type == FORS_SWITCH) {
		uint32_t row = fors_lfts_row(w->made->lfts, net->node[node].guid);
		uint8_t port = fors_lfts_port(w->made->lfts, row, lid);
		uint32_t link = net->node[node].first_port + port;

		assert_true(port != FORS_NO_PATH && nhops++ < 4);
		node = fors_net_port(net, node, port)->peer;
		assert_true(node != FORS_NONE);
		if (net->node[node].type != FORS_SWITCH)
			break;
		assert_true(w->used_by[link] == FORS_NO_JOB || w->used_by[link] == number);
		w->used_by[link] = number;
		w->flows[link]++;
	}
	assert_int_equal(net->node[node].guid, net->node[to->node].guid);
	assert_int_equal(nhops, from->leaf == to->leaf ? 1 : 3);
}

/* All flows of a job that has entries; what its fullest link carries is its bound. */
static void walk_job(struct walk *w, uint32_t number)
{
	const struct fors_jobentry *job = &w->made->list.job[number];
	const struct fors_server *server = w->bed->fabric->server;
	uint32_t most = job->count;

	memset(w->flows, 0, w->bed->net->nports * sizeof(*w->flows));
	for (uint32_t i = 0; i < job->count; i++)
		for (uint32_t k = 0; k < job->count; k++)
			if (i != k)
				walk_flow(w, number, &server[job->server[i]], &server[job->server[k]]);
	for (uint32_t i = 0; i < w->bed->net->nports; i++)
		most = w->flows[i] > most ? w->flows[i] : most;
	assert_int_equal(w->made->entries.bound[number], most);
}

/* Nothing but entries of these LIDs may be other than it was. */
static void assert_others_stay(const struct bed *bed, const struct made *made)
{
	bool *is_ours = calloc(bed->lfts->nlids + (size_t)1, sizeof(*is_ours));

	for (uint32_t j = 0; j < made->list.count; j++)
		for (uint32_t i = 0; made->entries.bound[j] && i < made->list.job[j].count; i++)
			is_ours[bed->fabric->server[made->list.job[j].server[i]].lid + made->index] = true;
	for (uint32_t row = 0; row < bed->lfts->nswitches; row++)
		for (uint32_t lid = 0; lid < bed->lfts->nlids; lid++)
			if (!is_ours[lid])
				assert_int_equal(fors_lfts_port(made->lfts, row, lid),
						 fors_lfts_port(bed->lfts, row, lid));
	free(is_ours);
}

/* Apart, over lanes that they own, and as good as said; and the tables are what tables have to be. How many jobs have entries. */
static uint32_t judge(const struct bed *bed, const struct made *made)
{
	struct walk w = {.bed = bed,
			 .made = made,
			 .used_by = malloc((bed->net->nports + 1) * sizeof(*w.used_by)),
			 .flows = malloc((bed->net->nports + 1) * sizeof(*w.flows))};
	struct fors_error error;
	uint32_t n = 0;

	for (uint32_t i = 0; i < bed->net->nports; i++)
		w.used_by[i] = FORS_NO_JOB;
	for (uint32_t j = 0; j < made->list.count; j++)
		if (made->entries.bound[j]) {
			walk_job(&w, j);
			n++;
		}
	for (uint32_t a = 0; a < bed->fabric->nleaves; a++)
		for (uint32_t k = 0; k < bed->fabric->nlanes; k++) {
			const struct fors_cable *cable = fors_cable(bed->fabric, a, k);
			uint32_t node = bed->fabric->leaf[a].node, who;

			if (!cable->leaf_port || node == FORS_NONE)
				continue;
			who = w.used_by[bed->net->node[node].first_port + cable->leaf_port];
			assert_true(who == FORS_NO_JOB || fors_owner(&made->owners, a, k) == who);
		}
	assert_others_stay(bed, made);
	if (fors_tables_check(bed->fabric, made->lfts, NULL, NULL, &error))
		fail_msg("%s", error.text);
	free(w.used_by);
	free(w.flows);
	return n;
}

/* ---- jobs to try ---- */

/* All servers for so many jobs with this mark: one block after the other, or anywhere. */
static char *any_jobs(const struct bed *bed, struct rng *rng, uint32_t njobs, bool is_spread, const char *mark)
{
	const struct fors_fabric *fabric = bed->fabric;
	char *text = calloc(fabric->nservers + (size_t)2 * njobs, 64), *end = text;
	uint32_t *job = calloc(fabric->nservers + (size_t)1, sizeof(*job));

	for (uint32_t s = 0; s < fabric->nservers; s++)
		job[s] = !is_spread ? s * njobs / fabric->nservers : s < njobs ? s : rng_below(rng, njobs);
	for (uint32_t j = 0; j < njobs; j++) {
		end += sprintf(end, "job%u [%s]:", j, mark);
		for (uint32_t s = 0; s < fabric->nservers; s++)
			if (job[s] == j)
				end += sprintf(end, " 0x%llx,", (unsigned long long)fabric->server[s].guid);
		end += sprintf(end, "\n");
	}
	free(job);
	return text;
}

/* Blocks of leaves: every job at full speed over one LID for each server. */
TEST(blocks_at_full_speed)
{
	struct bed *bed = bed_new("FT(2;8,8)", 1);
	struct rng rng = {1};
	char *text = any_jobs(bed, &rng, 3, false, "job-index");
	struct made made = make(bed, text, 1, NULL, NULL);

	assert_int_equal(judge(bed, &made), 3);
	for (uint32_t j = 0; j < 3; j++)
		assert_int_equal(made.entries.bound[j], made.list.job[j].count);
	clear(&made);
	free(text);
	bed_free(bed);
}

/* Anywhere, on fabrics of many kinds, with cuts, over the last path index: apart, arriving, others untouched. */
TEST(jobs_anywhere)
{
	static const struct {
		const char *spec;
		unsigned lmc;
	} kind[] = {{"FT(2;8,8)", 1},
		    {"FT(2;8,8)", 2},
		    {"FT(2;8,8)", 0},
		    {"FT(2;4,6;servers=6;cables=2)", 1},
		    {"FT(2;6,5;servers=9;cables=3)", 0},
		    {"FT(2;5,7;servers=3;empty=1/2)", 1}};
	uint32_t nserved = 0;
	struct rng rng = {7};

	for (size_t i = 0; i < sizeof(kind) / sizeof(kind[0]); i++) {
		struct bed *bed = bed_new(kind[i].spec, kind[i].lmc);

		for (uint32_t ndown = 0; ndown < 8; ndown += 2) {
			char *text = any_jobs(bed, &rng, 1 + ndown / 2, true, "job-index");
			struct made made;

			bed_restore(bed);
			bed_random_failures(bed, &rng, ndown);
			made = make(bed, text, (1u << kind[i].lmc) - 1, NULL, NULL);
			nserved += judge(bed, &made);
			clear(&made);
			free(text);
		}
		bed_free(bed);
	}
	assert_in_range(nserved, 40, 60);
}

/* Who gets entries: the mark, more leaves than one; exclusive jobs where that is asked for; never those that share. */
/* What the job's entries from `leaf` (up) or to its servers there load lane `lane` with. */
static uint32_t row_of(const struct bed *bed, const struct made *made, uint32_t number, uint32_t leaf, uint32_t lane,
		       bool is_up)
{
	const struct fors_jobentry *job = &made->list.job[number];
	const struct fors_server *server = bed->fabric->server;
	uint32_t sum = 0;

	for (uint32_t i = 0; i < job->count; i++)
		for (uint32_t d = 0; d < job->count; d++) {
			uint32_t from = server[job->server[i]].leaf, to = server[job->server[d]].leaf;

			sum += from != to && (is_up ? from : to) == leaf &&
			       made->entries.up[(size_t)from * bed->fabric->nservers + job->server[d]] == lane;
		}
	return sum;
}

/* So many entries of the job could go to another of its lanes, and rows would be more level, and none over-full. */
static uint32_t count_uneven(const struct bed *bed, const struct made *made, uint32_t number)
{
	const struct fors_jobentry *job = &made->list.job[number];
	const struct fors_server *server = bed->fabric->server;
	uint32_t n = 0, count = 0;

	for (uint32_t i = 0; i < job->count; i++)
		for (uint32_t d = 0; d < job->count; d++) {
			uint32_t a = server[job->server[i]].leaf, b = server[job->server[d]].leaf,
				 was = made->entries.up[(size_t)a * bed->fabric->nservers + job->server[d]];

			if (a == b || (i && a == server[job->server[i - 1]].leaf))
				continue;
			count = 0;
			for (uint32_t k = 0; k < job->count; k++)
				count += server[job->server[k]].leaf == a;
			for (uint32_t lane = 0; lane < bed->fabric->nlanes; lane++) {
				uint32_t up, down;

				if (lane == was || fors_owner(&made->owners, a, lane) != number ||
				    fors_owner(&made->owners, b, lane) != number)
					continue;
				up = row_of(bed, made, number, a, lane, true) + count;
				down = row_of(bed, made, number, b, lane, false) + count;
				n += up <= job->count && down <= job->count &&
				     up + down < row_of(bed, made, number, a, was, true) +
							 row_of(bed, made, number, b, was, false);
			}
		}
	return n;
}

/* Where the search has ended, rows are as level as single entries can make them, and the fullest is what it was. */
TEST(rows_are_level)
{
	struct rng rng = {8};

	for (int round = 0; round < 6; round++) {
		struct bed *bed = bed_new("FT(2;6,6)", 1);
		char *text = any_jobs(bed, &rng, 2 + round % 3, true, "job-index");
		struct made made = make(bed, text, 1, NULL, NULL);

		judge(bed, &made);
		for (uint32_t j = 0; j < made.list.count; j++)
			if (made.entries.bound[j])
				assert_int_equal(count_uneven(bed, &made, j), 0);
		clear(&made);
		free(text);
		bed_free(bed);
	}
}

TEST(who_gets_entries)
{
	static const char text[] = "index [job-index]: Node00-00, Node01-00\nown [exclusive]: Node00-01, Node01-01\n"
				   "leaf [job-index]: Node02-00, Node02-01\nshares: Node00-02, Node03-00\n";
	struct bed *bed = bed_new("FT(2;4,4)", 1);
	struct made made = make(bed, text, 1, NULL, NULL);
	struct fors_entries_task task = {.fabric = bed->fabric, .list = &made.list, .has_exclusive = true};

	assert_true(made.list.job[0].has_index && made.list.job[0].is_exclusive && !made.list.job[1].has_index);
	assert_int_equal(judge(bed, &made), 1);
	assert_int_equal(made.entries.bound[0], 2);
	assert_true(fors_entries_wanted(&task, 0) && fors_entries_wanted(&task, 1));
	assert_false(fors_entries_wanted(&task, 2) || fors_entries_wanted(&task, 3));
	clear(&made);
	bed_free(bed);
}

/* Two leaves without a spine in common: no entries for that job, and none of its half made ones in the tables. */
TEST(cut_off)
{
	static const char text[] =
		"torn [job-index]: Node00-00, Node01-00, Node02-00\nwell [job-index]: Node02-01, Node03-01\n";
	struct bed *bed = bed_new("FT(2;2,4)", 1);
	struct made made;

	bed_down(bed, "Leaf00[3] Leaf01[4]");
	made = make(bed, text, 1, NULL, NULL);
	assert_int_equal(judge(bed, &made), 1);
	assert_int_equal(made.entries.bound[0], 0);
	clear(&made);
	bed_free(bed);
}

/* A job that runs keeps lanes and entries when others end and begin; its table is the same to the byte. */
TEST(running_jobs_stay)
{
	struct bed *bed = bed_new("FT(2;8,8)", 1);
	struct rng rng = {3};
	char *text = any_jobs(bed, &rng, 4, true, "job-index"), *less = strdup(text), *line = strstr(less, "job0");
	struct made first = make(bed, text, 1, NULL, NULL), second;
	uint32_t *before = malloc((size_t)first.owners.nleaves * first.owners.nlanes * sizeof(*before));
	struct fors_entries again;
	struct fors_error error;

	memmove(line, strchr(line, '\n') + 1, strlen(strchr(line, '\n')));
	for (uint32_t i = 0; i < first.owners.nleaves * first.owners.nlanes; i++)
		before[i] = first.owners.job[i] == FORS_NO_JOB || !first.owners.job[i] ? FORS_NO_JOB
										       : first.owners.job[i] - 1;
	assert_int_equal(fors_entries_again(bed->fabric, &first.entries, bed->fabric, &again, &error), FORS_OK);
	assert_memory_equal(again.up, first.entries.up, (size_t)again.nleaves * again.nservers);
	second = make(bed, less, 1, &again, before);
	assert_int_equal(judge(bed, &second), 3);
	for (uint32_t j = 0; j < 3; j++) {
		bool is_same = true;

		for (uint32_t i = 0; i < second.owners.nleaves * second.owners.nlanes; i++)
			is_same &= before[i] != j || second.owners.job[i] == j;
		for (uint32_t i = 0; is_same && i < second.list.job[j].count; i++)
			for (uint32_t a = 0; a < again.nleaves; a++) {
				size_t at = (size_t)a * again.nservers + second.list.job[j].server[i];

				assert_int_equal(second.entries.up[at], first.entries.up[at]);
			}
		assert_true(second.entries.bound[j] <= first.entries.bound[j + 1]);
	}
	fors_entries_clear(&again);
	clear(&first);
	clear(&second);
	free(before);
	free(text);
	free(less);
	bed_free(bed);
}

/* Twice the same bytes; and in the numbers of a fabric in which a server has gone, the entries of the others. */
TEST(same_again)
{
	struct bed *bed = bed_new("FT(2;5,6)", 1);
	struct rng rng = {11};
	char *text = any_jobs(bed, &rng, 3, true, "job-index");
	struct made one = make(bed, text, 1, NULL, NULL), two = make(bed, text, 1, NULL, NULL);
	struct fors_fabric *then;
	struct fors_entries again;
	struct fors_error error;

	assert_memory_equal(one.lfts->port, two.lfts->port, (size_t)one.lfts->nswitches * one.lfts->nlids);
	assert_int_equal(fors_fabric_copy(bed->fabric, bed->intact, &then, &error), FORS_OK);
	bed_random_participants(bed, &rng, bed->fabric->nservers - 1);
	assert_int_equal(fors_entries_again(then, &one.entries, bed->fabric, &again, &error), FORS_OK);
	for (uint32_t d = 0, was = 0; d < bed->fabric->nservers; d++, was++) {
		while (then->server[was].guid != bed->fabric->server[d].guid)
			was++;
		for (uint32_t a = 0; a < again.nleaves; a++)
			assert_int_equal(again.up[(size_t)a * again.nservers + d],
					 one.entries.up[(size_t)a * then->nservers + was]);
	}
	fors_entries_clear(&again);
	fors_fabric_free(then);
	clear(&one);
	clear(&two);
	free(text);
	bed_free(bed);
}

/* With these entries all arrives, and nothing can wait for itself; who has all of its entries has a bound there. */
static void assert_arriving(const struct bed *bed, const struct fors_entries *entries)
{
	struct fors_lfts *lfts = fors_lfts_copy(bed->lfts);
	struct fors_error error;

	assert_non_null(lfts);
	fors_entries_apply(bed->fabric, entries, 1, lfts);
	if (fors_tables_check(bed->fabric, lfts, NULL, NULL, &error))
		fail_msg("%s", error.text);
	fors_lfts_free(lfts);
}

/* Who has all entries in these tables, and has a bound: the same. */
static void assert_held(const struct bed *bed, const struct made *made, const struct fors_lfts *lfts, bool is_expected)
{
	const struct fors_jobindex index = {.index = made->index, .entries = &made->entries};
	bool *is_held = calloc(made->list.count + (size_t)1, sizeof(*is_held));

	assert_int_equal(fors_entries_held(bed->fabric, &made->list, &index, lfts, is_held, NULL), FORS_OK);
	for (uint32_t j = 0; j < made->list.count; j++)
		assert_int_equal(is_held[j], is_expected && made->entries.bound[j]);
	free(is_held);
}

/* A cable under a running job is cut: what is left of its entries is right at once, and all jobs find entries again. */
TEST(a_cut_under_a_job)
{
	static const char text[] = "one [job-index]: Node00-00, Node00-01, Node01-00, Node01-01\n"
				   "beside [job-index]: Node00-02, Node00-03, Node01-02, Node01-03\n"
				   "two [job-index]: Node02-00, Node02-01, Node03-00, Node03-01\n"
				   "others: Node02-02, Node02-03, Node03-02\n";
	struct bed *bed = bed_new("FT(2;4,4)", 1);
	struct made first = make(bed, text, 1, NULL, NULL), second;
	struct fors_entries again;
	struct fors_error error;

	assert_held(bed, &first, bed->lfts, false);
	assert_true(fors_entries_alike(&first.entries, &first.entries));
	bed_down(bed, "Leaf00[5]");
	assert_int_equal(fors_entries_again(bed->fabric, &first.entries, bed->fabric, &again, &error), FORS_OK);
	fors_entries_prune(bed->fabric, &again);
	assert_arriving(bed, &again);
	second = make(bed, text, 1, &again, first.owners.job);
	assert_false(fors_entries_alike(&again, &second.entries));
	assert_held(bed, &second, second.lfts, true);
	assert_int_equal(judge(bed, &second), 3);
	fors_entries_clear(&again);
	clear(&first);
	clear(&second);
	bed_free(bed);
}

/*
 * A leaf of none of the job's servers reaches one by a detour only, over a spine that has lost the server's leaf: it
 * stays.
 */
TEST(a_detour_stays)
{
	static const char text[] = "one [job-index]: Node00-00, Node00-01, Node01-00, Node01-01\n";
	struct bed *bed = bed_new("FT(2;2,4)", 1);
	struct made made;

	bed_participants(bed, "0/0 0/1 1/0 1/1 2/0 2/1");
	bed_down(bed, "Leaf00[3] Leaf03[4]"); /* Leaf03 has Spine00 only, which has no cable to Leaf00 */
	made = make(bed, text, 1, NULL, NULL);
	assert_int_equal(judge(bed, &made), 1);
	clear(&made);
	bed_free(bed);
}

/*
 * Cables die one after the other: what is left of the entries is right each time, whatever else is dead, and so are
 * those that are found anew; only tables that have them hold them.
 */
TEST(cuts_anywhere)
{
	static const char *const spec[] = {"FT(2;5,6)", "FT(2;3,4;servers=5)", "FT(2;2,5;cables=2)"};

	for (uint32_t seed = 1; seed <= 24; seed++) {
		struct bed *bed = bed_new(spec[seed % 3], 1);
		struct rng rng = {seed};
		char *text = any_jobs(bed, &rng, 2 + seed % 3, seed % 2, "job-index");
		struct made made = make(bed, text, 1, NULL, NULL), next;
		struct fors_entries again;

		for (int ndown = 0; ndown < 6; ndown++) {
			assert_held(bed, &made, made.lfts, true);
			bed_random_failures(bed, &rng, 1);
			assert_int_equal(fors_entries_again(bed->fabric, &made.entries, bed->fabric, &again, NULL),
					 FORS_OK);
			fors_entries_prune(bed->fabric, &again);
			assert_arriving(bed, &again);
			next = make(bed, text, 1, &again, made.owners.job);
			judge(bed, &next);
			fors_entries_clear(&again);
			clear(&made);
			made = next;
		}
		clear(&made);
		free(text);
		bed_free(bed);
	}
}

/* ---- plans over the index ---- */

static enum fors_err make_tables(const struct bed *bed, const struct fors_joblist *list, struct fors_jobtables *tables,
				 struct fors_error *error)
{
	const struct fors_fattree tree = fors_fattree_of_fabric(bed->fabric);
	struct fors_floors floors;
	enum fors_err err = fors_floors_make(&tree, &floors, error);

	if (err)
		return err;
	err = fors_jobtables_make(&tree, &floors, list, bed->lfts, tables, error);
	fors_floors_clear(&floors);
	return err;
}

static void assert_on_index(const struct fors_schedule *plan, uint32_t index)
{
	for (uint32_t s = 0; s < plan->nservers; s++)
		for (uint32_t t = 0; t < plan->nphases; t++) {
			struct fors_cell cell = fors_schedule_flow(plan, s, t);

			assert_true(cell.dst == FORS_IDLE || cell.path == index);
		}
}

/* Plans over the index alone, at the bound of the entries or a little above, none of them meeting another. */
TEST(plans_over_the_index)
{
	struct bed *bed = bed_new("FT(2;8,8)", 1);
	struct rng rng = {5};
	char *text = any_jobs(bed, &rng, 3, true, "job-index");
	struct fors_joblist list;
	struct fors_jobtables tables;
	struct fors_jobplans plans;
	struct fors_error error;

	if (fors_joblist_read(text, strlen(text), "jobs", bed->fabric, &list, &error) ||
	    make_tables(bed, &list, &tables, &error))
		fail_msg("%s", error.text);
	struct fors_jobindex index = {tables.index, &tables.holdings.entries[0]};
	struct fors_request request = {.task = {.fabric = bed->fabric}, .net = bed->net, .lfts = tables.lfts};

	if (plan_jobs(&request, &list, &tables.holdings.owners[0], &index, NULL, &plans, &error))
		fail_msg("%s", error.text);
	assert_int_equal(tables.index, 1);
	assert_int_equal(plans.nmeetings, 0);
	for (uint32_t j = 0; j < plans.count; j++) {
		const struct fors_schedule *plan = plans.job[j].plan;

		assert_int_equal(plans.job[j].index, 1);
		assert_int_equal(plans.job[j].whose, FORS_OVER_OWN);
		assert_in_range(plan->nphases, tables.holdings.bound[j], tables.holdings.bound[j] * 11 / 10);
		assert_int_equal(plan->server[0].lid, bed->fabric->server[list.job[j].server[0]].lid);
		assert_int_equal(plan->server[0].lmc, 1);
		assert_on_index(plan, 1);
	}
	fors_jobplans_clear(&plans);
	fors_jobtables_clear(&tables);
	fors_joblist_clear(&list);
	free(text);
	bed_free(bed);
}

/* A job that has no entries sends to the index all the same: its plan says so, and that it shares. One LID: no index. */
TEST(plans_without_entries)
{
	static const char text[] =
		"single [job-index]: Node03-00, Node03-01\ntorn [job-index]: Node00-00, Node01-00, Node02-00\n"
		"wide [job-index]: Node00-01, Node01-01, Node02-01\nother [job-index]: Node00-02, Node01-02\n";
	struct bed *bed = bed_new("FT(2;3,4)", 1), *poor = bed_new("FT(2;3,4)", 0);
	struct fors_joblist list;
	struct fors_jobtables tables;
	struct fors_jobplans plans;
	struct fors_error error;

	bed_down(bed, "Leaf00[4] Leaf00[5]"); /* one lane left there, for three jobs */
	if (fors_joblist_read(text, strlen(text), "jobs", bed->fabric, &list, &error) ||
	    make_tables(bed, &list, &tables, &error))
		fail_msg("%s", error.text);
	struct fors_jobindex index = {tables.index, &tables.holdings.entries[0]};
	struct fors_request request = {.task = {.fabric = bed->fabric}, .net = bed->net, .lfts = tables.lfts};

	if (plan_jobs(&request, &list, &tables.holdings.owners[0], &index, NULL, &plans, &error))
		fail_msg("%s", error.text);
	assert_int_equal(
		(tables.holdings.bound[1] > 0) + (tables.holdings.bound[2] > 0) + (tables.holdings.bound[3] > 0), 1);
	for (uint32_t j = 0; j < plans.count; j++) {
		assert_int_equal(plans.job[j].index, 1);
		assert_int_equal(plans.job[j].whose, !j || tables.holdings.bound[j] ? FORS_OVER_OWN : FORS_OVER_ALL);
		assert_on_index(plans.job[j].plan, 1);
	}
	fors_jobplans_clear(&plans);
	fors_jobtables_clear(&tables);
	assert_int_equal(make_tables(poor, &list, &tables, &error), FORS_ELMC);
	fors_joblist_clear(&list);
	bed_free(bed);
	bed_free(poor);
}

/*
 * A job that promised nothing of the index has lost one of its entries, and is planned over all lanes: with a path index for
 * each lane, too, no entry of the index is at home only because its lane lives. Method exact may decline then; what it makes
 * is right.
 */
TEST(plans_over_what_was_moved)
{
	static const char *const method[] = {"auto", "exact"};
	struct rng rng = {6};

	for (int i = 0; i < 8; i++) {
		struct bed *bed = bed_new(i % 2 ? "FT(2;4,4)" : "FT(2;4,5;servers=3)", 2);
		char *text = any_jobs(bed, &rng, 1 + (uint32_t)i / 4, true, "job-index");
		struct made made = make(bed, text, 3, NULL, NULL);
		struct fors_jobindex index = {3, &made.entries};
		struct fors_request request = {.task = {.fabric = bed->fabric}, .net = bed->net, .lfts = made.lfts};
		struct fors_jobplans plans;
		struct fors_error error;

		fors_limit_method(&request.task.limits, method[i / 2 % 2]);
		made.entries.bound[0] = 0;
		made.list.job[0].has_index = made.list.job[0].is_exclusive = false;
		if (plan_jobs(&request, &made.list, &made.owners, &index, NULL, &plans, &error))
			fail_msg("%s", error.text);
		if (!plans.job[0].plan && (!(i / 2 % 2) || !strstr(plans.job[0].error.text, "no lane in common")))
			fail_msg("%d: %s", i, plans.job[0].error.text);
		fors_jobplans_clear(&plans);
		clear(&made);
		free(text);
		bed_free(bed);
	}
}

/*
 * Spine02 has no cable to Leaf00 and never had one; hosts are on it, or on none. What it had for LIDs of Leaf00 went over
 * a leaf whose entry is the job's now. The tables stay what tables have to be.
 */
TEST(detours_follow)
{
	static const char text[] = "a [job-index]: Node00-00, Node00-01, Node01-00, Node02-00, Node03-01, Node04-00\n"
				   "b [job-index]: Node00-02, Node01-01, Node02-02, Node04-01\n";
	static const char *const cut[] = {"Leaf00[6]", "Leaf00[6] Leaf01[5]", "Leaf00[6] Leaf03[4] Leaf04[5]"};

	for (int i = 0; i < 18; i++) {
		struct bed *bed = bed_new("FT(2;4,5;servers=3)", (unsigned)i % 2);
		struct made made;
		struct fors_error error;
		char word[FORS_NAME_MAX + 8];
		int used = 0;

		for (const char *at = cut[i / 2 % 3]; sscanf(at, " %71s%n", word, &used) == 1; at += used)
			assert_int_equal(fors_net_down(bed->intact, bed->intact, word, &error), FORS_OK);
		fors_places_free(bed->places);
		bed->places = fors_places_new();
		assert_int_equal(fors_places_learn(bed->places, bed->intact, NULL, 0, &error), FORS_OK);
		for (uint32_t node = 0; i / 6 && node < bed->intact->nnodes; node++)
			fors_net_port(bed->intact, node, 0)->is_sm =
				!strcmp(bed->intact->node[node].desc, i / 6 == 1 ? "Spine02" : "Leaf02");
		bed_restore(bed);
		made = make(bed, text, (1u << i % 2) - 1, NULL, NULL);
		fors_lfts_free(made.lfts);
		made.lfts = fors_lfts_copy(bed->lfts);
		assert_int_equal(fors_jobtables_write(bed->fabric, &made.entries, made.index, made.lfts, &error),
				 FORS_OK);
		assert_int_equal(judge(bed, &made), 2);
		clear(&made);
		bed_free(bed);
	}
}

/* ---- a longer search ---- */

/* Jobs after such a part of the search, with lanes and entries of `before`, or NULL, for a start. */
static struct made search_on(const struct bed *bed, const char *text, const struct made *before, uint64_t part,
			     bool may_move)
{
	struct made made = {.index = 1};
	struct fors_owners_task lanes = {.fabric = bed->fabric,
					 .list = &made.list,
					 .before = before ? before->owners.job : NULL,
					 .may_move = may_move,
					 .work = FORS_OWNERS_WORK / 2 / part};
	struct fors_entries_task task = {.fabric = bed->fabric,
					 .list = &made.list,
					 .before = before ? &before->entries : NULL,
					 .may_move = may_move};

	assert_int_equal(fors_joblist_read(text, strlen(text), "jobs", bed->fabric, &made.list, NULL), FORS_OK);
	assert_int_equal(fors_owners_find(&lanes, &made.owners, NULL), FORS_OK);
	assert_int_equal(fors_entries_find(&task, &made.owners, &made.entries, NULL), FORS_OK);
	return made;
}

/* On the one floor that there is. */
static struct fors_holdings held(struct made *made)
{
	return (struct fors_holdings){
		.nfloors = 1, .owners = &made->owners, .entries = &made->entries, .bound = made->entries.bound};
}

/* Does what the second has pay for those who have what the first has? */
static bool pays(const struct bed *bed, struct made *then, struct made *now)
{
	const struct fors_holdings first = held(then), second = held(now);
	const struct fors_floors floors = {.count = 1, .floor = (const struct fors_fabric *[]){bed->fabric}};

	return fors_holdings_pay(&floors, &then->list, false, &first, &second);
}

static uint64_t lost(struct made *made)
{
	const struct fors_holdings all = held(made);

	return fors_holdings_lost(&made->list, false, &all);
}

/* Does a change that takes spare lanes from jobs, and no entry from any, pay as soon as it gains anything? */
static bool spare_lanes_are_free(const struct bed *bed, const struct made *three, struct made *had)
{
	struct made now = search_on(bed, SCATTERED_THREE SCATTERED_FOURTH, three, 12, false);
	struct fors_holdings holdings = held(&now);
	const struct fors_floors floors = {.count = 1, .floor = (const struct fors_fabric *[]){bed->fabric}};
	uint32_t lanes = 0;
	bool is_paid;

	assert_int_equal(fors_holdings_narrow(&floors, &now.list, &holdings, NULL), FORS_OK);
	for (uint32_t i = 0; i < now.owners.nleaves * now.owners.nlanes; i++)
		lanes += now.owners.job[i] != had->owners.job[i];
	assert_in_range(lanes, 1, 64);
	assert_false(pays(bed, had, &now));
	now.entries.bound[3]--;
	is_paid = pays(bed, had, &now);
	clear(&now);
	return is_paid;
}

/* Those that run move for the one that starts when asked to; a change is weighed by what it moves. */
TEST(who_moves_for_others)
{
	struct bed *bed = bed_new("FT(2;8,8)", 1);
	const char *all = SCATTERED_THREE SCATTERED_FOURTH;
	struct made three = search_on(bed, SCATTERED_THREE, NULL, 1, false),
		    brief = search_on(bed, all, &three, 12, false), stays = search_on(bed, all, &brief, 1, false),
		    moves = search_on(bed, all, &brief, 1, true);

	assert_int_equal(lost(&three), 0);
	assert_true(lost(&brief) >= 1000 * (brief.entries.bound[3] - 16) / 16);
	assert_true(lost(&stays) <= lost(&brief));
	assert_true(lost(&moves) + 4 * FORS_EPOCH_COST < lost(&brief));
	assert_true(pays(bed, &brief, &moves));
	assert_false(pays(bed, &moves, &brief));
	assert_false(pays(bed, &brief, &brief));
	assert_true(spare_lanes_are_free(bed, &three, &brief));
	moves.entries.bound[3] = brief.entries.bound[3] - 2; /* 125 thousandths, for four epochs */
	for (unsigned j = 0; j < 3; j++)
		moves.entries.bound[j] = brief.entries.bound[j] = 16;
	assert_false(pays(bed, &brief, &moves));
	brief.entries.bound[3] = 0; /* it has no entries */
	assert_int_equal(lost(&brief), 2000);
	clear(&three);
	clear(&brief);
	clear(&stays);
	clear(&moves);
	bed_free(bed);
}
