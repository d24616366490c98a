/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sweep_jobs.c - several jobs on trees whose leaves lack cables to some spines, as many of them as wanted.
 *
 * usage: sweep_jobs [FABRICS [SEED [FIRST]]]   (60 of them, seed 1; from number FIRST on)
 *
 * A tree has leaves of very different size, no to four parallel cables for each pair of leaf and spine, ports and GUIDs in any order, here and
 * there hosts or a subnet manager on a spine; jobs of all marks; no path index for jobs, one at LMC 1 and more, or the base
 * LIDs at LMC 0. Then cables are cut, one after the other, while the jobs have their entries, and entries are searched
 * anew. What must hold each time, by code that reads net and tables only:
 *
 *      the tables are what tables have to be (judge.h): everything arrives that can, nothing goes round, nothing waits in a circle
 *      a job has a plan, or two of its leaves have no living spine in common and the reason names such a leaf
 *      a plan is walked flow by flow: each server sends to each other one once, each phase has one flow in a cable
 *      no two jobs over lanes of their own use the same cable in the same direction
 *      the ways that a named schedule tells are those of the tables
 *
 * Exit 1: something of that does not hold; the numbers of the fabric and of the cut are said.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fabric/lids.h"
#include "core/fabric/places.h"
#include "core/jobs/entries.h"
#include "core/planners/jobplan.h"
#include "core/planners/jobplan_index.h"
#include "core/schedule/lane_ways.h"
#include "core/tables/check.h"
#include "core/tables/home.h"
#include "tests/sweep/progress.h"
#include "tests/unit/job_plans.h"
#include "tests/unit/judge.h"
#include "tests/unit/support.h"

#define PORTS 120
#define MOST_CUTS 6
#define MOST_HOPS 32 /* switches of a way: detours of the tables are ways, too */
#define WORK_PART 20 /* of the searches: what is right does not depend on how long they search */

/* What came out of all. */
struct tally {
	uint32_t fabrics, declined, rounds, jobs, own, indexed, free, all, apart;
};

static struct tally tally;
static uint32_t fabric_number, cut_number;

#define FAIL(...) fault(__VA_ARGS__)
static void __attribute__((format(printf, 1, 2), noreturn)) fault(const char *format, ...)
{
	va_list args;

	printf("fabric %u, cut %u: ", fabric_number, cut_number);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	exit(1);
}

static void must(enum fors_err err, const struct fors_error *error, const char *what)
{
	if (err)
		FAIL("%s: %s", what, error->text);
}

/* ---- a tree ---- */

static uint32_t add(struct fors_net *net, enum fors_node_type type, unsigned nports, uint64_t guid, const char *name)
{
	struct fors_error error;
	char id[32];
	uint32_t node;

	snprintf(id, sizeof(id), "%c-%016llx", type == FORS_SWITCH ? 'S' : 'H', (unsigned long long)guid);
	must(fors_net_add_node(net, type, nports, guid, id, name, &node, &error), &error, name);
	return node;
}

static unsigned free_port(const struct fors_net *net, uint32_t node, struct rng *rng)
{
	unsigned port;

	do
		port = 1 + rng_below(rng, net->node[node].nports);
	while (fors_net_port(net, node, port)->peer != FORS_NONE);
	return port;
}

static void plug(struct fors_net *net, uint32_t a, uint32_t b, struct rng *rng)
{
	struct fors_error error;

	must(fors_net_connect(net, a, free_port(net, a, rng), b, free_port(net, b, rng), &error), &error, "a cable");
}

static void add_hosts(struct fors_net *net, uint32_t on, uint32_t count, struct rng *rng)
{
	for (uint32_t i = 0; i < count; i++) {
		char name[24];
		uint32_t host;

		snprintf(name, sizeof(name), "Host%04u", net->nnodes);
		host = add(net, FORS_CA, 1, 0x10000000 + 16 * (uint64_t)net->nnodes, name);
		fors_net_port(net, host, 1)->guid = net->node[host].guid + 1;
		plug(net, host, on, rng);
	}
}

/* Numbers of cables between `most` and none, the latter with a chance of `missing` per cent. */
static void add_cables(struct fors_net *net, uint32_t nleaves, uint32_t nspines, struct rng *rng)
{
	static const uint32_t missing[] = {0, 10, 30, 50};
	uint32_t most = 1 + rng_below(rng, 4), part = missing[rng_below(rng, 4)];

	for (uint32_t a = 0; a < nleaves; a++)
		for (uint32_t k = 0; k < nspines; k++) {
			uint32_t n = rng_below(rng, 100) < part ? 0 : 1 + rng_below(rng, most);

			while (n--)
				plug(net, a, nleaves + k, rng);
		}
}

static struct fors_net *make_net(struct rng *rng)
{
	uint32_t nleaves = 2 + rng_below(rng, 9), nspines = 1 + rng_below(rng, 9), most = 1 + rng_below(rng, 8);
	struct fors_net *net = fors_net_new();

	for (uint32_t i = 0; i < nleaves + nspines; i++) {
		uint64_t guid = (uint64_t)(0x1000 + rng_below(rng, 0x1000)) << 8 | i;
		char name[24];

		snprintf(name, sizeof(name), i < nleaves ? "Leaf%02u" : "Spine%02u", i < nleaves ? i : i - nleaves);
		add(net, FORS_SWITCH, PORTS, guid, name);
	}
	add_cables(net, nleaves, nspines, rng);
	for (uint32_t a = 0; a < nleaves; a++)
		add_hosts(net, a, rng_below(rng, 4) ? 1 + rng_below(rng, most) : rng_below(rng, 12), rng);
	if (!rng_below(rng, 4))
		add_hosts(net, nleaves + rng_below(rng, nspines), 1, rng);
	if (!rng_below(rng, 3))
		fors_net_port(net, rng_below(rng, nleaves + nspines), 0)->is_sm = true;
	return net;
}

/* NULL: it is no tree to fors. */
static struct bed *make_bed(struct rng *rng, unsigned *lmc)
{
	struct bed *bed = calloc(1, sizeof(*bed));
	struct fors_error error;

	bed->intact = make_net(rng);
	bed->places = fors_places_new();
	*lmc = rng_below(rng, 4);
	must(fors_net_index(bed->intact, &error), &error, "index");
	if (fors_places_learn(bed->places, bed->intact, NULL, 0, &error) ||
	    fors_assign_lids(bed->intact, bed->places, *lmc, false, &error)) {
		bed_free(bed);
		return NULL;
	}
	bed_restore(bed);
	return bed;
}

/* A random cable between a leaf and a spine that lives. False: there is none. */
static bool cut_one(struct bed *bed, struct rng *rng)
{
	const struct fors_fabric *f = bed->fabric;
	uint32_t n = f->nleaves * f->nlanes, at = n ? rng_below(rng, n) : 0;

	for (uint32_t i = 0; i < n; i++, at = (at + 1) % n) {
		uint32_t a = at / f->nlanes;
		char name[FORS_NAME_MAX + 8];

		if (!fors_live(f, a, at % f->nlanes))
			continue;
		snprintf(name, sizeof(name), "%s[%u]", bed->net->node[f->leaf[a].node].desc,
			 fors_cable(f, a, at % f->nlanes)->leaf_port);
		bed_down(bed, name);
		return true;
	}
	return false;
}

/* Jobs of all marks; some servers have none. */
static char *any_jobs(const struct fors_fabric *f, struct rng *rng)
{
	static const char *const mark[] = {"", " [exclusive]", " [job-index]", " [job-index]"};
	uint32_t njobs = 1 + rng_below(rng, 10);
	char *text = calloc(f->nservers + (size_t)2 * njobs + 1, 64), *end = text;
	uint32_t *job = calloc(f->nservers + (size_t)1, sizeof(*job));
	bool is_spread = rng_below(rng, 2);

	for (uint32_t s = 0; s < f->nservers; s++)
		job[s] = is_spread ? rng_below(rng, njobs + 1) : s * (njobs + 1) / f->nservers;
	for (uint32_t j = 0; j < njobs; j++) {
		bool is_first = true;

		for (uint32_t s = 0; s < f->nservers; s++)
			if (job[s] == j) {
				if (is_first)
					end += sprintf(end, "job%u%s:", j, mark[rng_below(rng, 4)]);
				end += sprintf(end, "%s 0x%llx", is_first ? "" : ",",
					       (unsigned long long)f->server[s].guid);
				is_first = false;
			}
		end += is_first ? 0 : sprintf(end, "\n");
	}
	free(job);
	return text;
}

/* ---- the judge of plans ---- */

struct court {
	const struct fors_net *net;
	const struct fors_lfts *lfts;
	uint32_t *used_by; /* per out port of the net: job over its own lanes, or FORS_NO_JOB */
	uint32_t *stamp;   /* per out port of the net: one more than the phase in which it had a flow of the job last */
};

struct way {
	uint64_t guid[MOST_HOPS];
	uint8_t port[MOST_HOPS];
	uint32_t link[MOST_HOPS];
	uint32_t n; /* switches */
};

static uint32_t switch_of(const struct fors_net *net, uint32_t host)
{
	for (unsigned p = 1; p <= net->node[host].nports; p++)
		if (fors_net_port(net, host, p)->peer != FORS_NONE)
			return fors_net_port(net, host, p)->peer;
	return FORS_NONE;
}

static uint32_t find_port(const struct fors_net *net, uint64_t guid)
{
	for (uint32_t node = 0; node < net->nnodes; node++)
		for (unsigned p = 1; net->node[node].type == FORS_CA && p <= net->node[node].nports; p++)
			if (fors_net_port(net, node, p)->guid == guid)
				return node;
	FAIL("server 0x%llx is in no net", (unsigned long long)guid);
}

static struct way follow(const struct court *c, uint32_t from, uint32_t to, uint32_t lid)
{
	uint32_t node = switch_of(c->net, from);
	struct way way = {.n = 0};

	while (node != to) {
		uint32_t row = node == FORS_NONE ? FORS_NONE : fors_lfts_row(c->lfts, c->net->node[node].guid);
		uint8_t port = row == FORS_NONE ? FORS_NO_PATH : fors_lfts_port(c->lfts, row, lid);

		if (way.n == MOST_HOPS || port == FORS_NO_PATH || !port)
			FAIL("from %s to LID %u of %s: no way", c->net->node[from].desc, lid, c->net->node[to].desc);
		way.guid[way.n] = c->net->node[node].guid;
		way.port[way.n] = port;
		way.link[way.n++] = c->net->node[node].first_port + port;
		node = fors_net_port(c->net, node, port)->peer;
	}
	return way;
}

/* Does the named schedule tell the flow's way as it is? */
static void check_told(const struct fors_schedule *plan, uint32_t s, struct fors_cell cell, const struct way *way)
{
	struct fors_way_hop hop[MOST_HOPS];
	uint32_t n = fors_waylist_get(
		plan->ways, fors_waylist_find(plan->ways, plan->server[s].leaf, cell.dst, cell.path), hop, MOST_HOPS);

	if (n != way->n)
		FAIL("a way of %u switches is told as %u", way->n, n);
	for (uint32_t i = 0; i < n; i++)
		if (hop[i].guid != way->guid[i] || (i + 1 < n && hop[i].port != way->port[i]))
			FAIL("a way is told as another one");
}

static void check_flow(const struct court *c, const struct fors_schedule *plan, uint32_t s, uint32_t phase, bool is_own,
		       uint32_t job)
{
	struct fors_cell cell = fors_schedule_flow(plan, s, phase);
	struct way way = follow(c, find_port(c->net, plan->server[s].guid),
				find_port(c->net, plan->server[cell.dst].guid), plan->server[cell.dst].lid + cell.path);

	check_told(plan, s, cell, &way);
	for (uint32_t i = 0; i < way.n; i++) {
		if (c->stamp[way.link[i]] == phase + 1)
			FAIL("two flows in a cable in phase %u", phase);
		c->stamp[way.link[i]] = phase + 1;
		if (!is_own || i + 1 == way.n)
			continue;
		if (c->used_by[way.link[i]] != FORS_NO_JOB && c->used_by[way.link[i]] != job)
			FAIL("jobs %u and %u meet in a cable", job, c->used_by[way.link[i]]);
		c->used_by[way.link[i]] = job;
	}
}

static void walk_plan(const struct court *c, const struct fors_schedule *plan, bool is_own, uint32_t job)
{
	uint32_t n = plan->nservers;
	bool *is_sent = calloc((size_t)n * n + 1, sizeof(*is_sent));
	uint64_t nflows = 0;

	memset(c->stamp, 0, c->net->nports * sizeof(*c->stamp));
	for (uint32_t phase = 0; phase < plan->nphases; phase++)
		for (uint32_t s = 0; s < n; s++) {
			uint32_t dst = fors_schedule_flow(plan, s, phase).dst;

			if (dst == FORS_IDLE)
				continue;
			if (dst == s || is_sent[(size_t)s * n + dst])
				FAIL("server %u sends to %u twice, or to itself", s, dst);
			is_sent[(size_t)s * n + dst] = true;
			nflows++;
			check_flow(c, plan, s, phase, is_own, job);
		}
	if (nflows != (uint64_t)n * (n - 1))
		FAIL("%llu flows of %u servers", (unsigned long long)nflows, n);
	free(is_sent);
}

/* Have both switches a cable to the same other one? */
static bool have_common(const struct fors_net *net, uint32_t a, uint32_t b)
{
	for (unsigned p = 1; p <= net->node[a].nports; p++)
		for (unsigned q = 1; q <= net->node[b].nports; q++)
			if (fors_peer_switch(net, a, p) != FORS_NONE &&
			    fors_peer_switch(net, a, p) == fors_peer_switch(net, b, q))
				return true;
	return false;
}

/* No plan is right where two leaves of the job have no spine in common, and the reason names such a leaf. */
static void check_reason(const struct bed *bed, const struct fors_jobentry *job, const char *text)
{
	const struct fors_fabric *f = bed->fabric;

	for (uint32_t i = 0; i < job->count; i++)
		for (uint32_t k = 0; k < i; k++) {
			uint32_t a = switch_of(bed->net, f->server[job->server[i]].node),
				 b = switch_of(bed->net, f->server[job->server[k]].node);

			if (a != b && !have_common(bed->net, a, b) && strstr(text, bed->net->node[a].desc) &&
			    strstr(text, bed->net->node[b].desc)) {
				tally.apart++;
				return;
			}
		}
	FAIL("job %s (%s, %u servers on %u leaves; LMC %u, %u lanes) has no plan: %s", job->name,
	     job->has_index	 ? "job-index"
	     : job->is_exclusive ? "exclusive"
				 : "shares",
	     job->count, job->nleaves, f->lmc, f->nlanes, text);
}

static void count(const struct fors_jobplan *made)
{
	tally.jobs++;
	tally.own += made->plan && made->whose == FORS_OVER_OWN;
	tally.free += made->plan && made->whose == FORS_OVER_FREE;
	tally.all += made->plan && made->whose == FORS_OVER_ALL;
	tally.indexed += made->plan && made->index >= 0;
}

static void judge_plans(const struct bed *bed, const struct fors_lfts *lfts, const struct fors_joblist *list,
			struct fors_jobplans *plans)
{
	struct court c = {.net = bed->net,
			  .lfts = lfts,
			  .used_by = malloc((bed->net->nports + 1) * sizeof(*c.used_by)),
			  .stamp = malloc((bed->net->nports + 1) * sizeof(*c.stamp))};
	struct fors_error error;

	memset(c.used_by, 0xFF, bed->net->nports * sizeof(*c.used_by)); /* FORS_NO_JOB */
	if (plans->nmeetings)
		FAIL("%s", plans->meeting);
	for (uint32_t j = 0; j < plans->count; j++) {
		struct fors_jobplan *made = &plans->job[j];

		count(made);
		if (!made->plan) {
			check_reason(bed, &list->job[j], made->error.text);
			continue;
		}
		must(fors_schedule_name(made->plan, bed->fabric, lfts, list->job[j].name, &error), &error,
		     list->job[j].name);
		walk_plan(&c, made->plan, made->whose == FORS_OVER_OWN, j);
	}
	free(c.used_by);
	free(c.stamp);
}

static void judge_lfts(const struct bed *bed, const struct fors_lfts *lfts)
{
	struct judgement verdict = judge_tables(bed->fabric, lfts);
	struct fors_error error;

	must(fors_tables_check(bed->fabric, lfts, NULL, NULL, &error), &error, "tables");
	if (verdict.needless || verdict.dropped || verdict.wrong || verdict.has_loop)
		FAIL("tables: %s%s", verdict.text, verdict.has_loop ? ", a credit loop" : "");
}

/* ---- jobs with entries, as the subnet manager has them ---- */

struct claim {
	struct fors_fabric *fabric; /* that it was made for */
	struct fors_owners owners;
	struct fors_entries entries;
};

static void drop_claim(struct claim *claim)
{
	fors_fabric_free(claim->fabric);
	fors_owners_clear(&claim->owners);
	fors_entries_clear(&claim->entries);
	*claim = (struct claim){.fabric = NULL};
}

/* Lanes and entries for the fabric; what the old claim has stays where it can. */
static struct claim seek(const struct bed *bed, const struct fors_joblist *list, const struct claim *old)
{
	struct claim made = {.fabric = NULL};
	struct fors_entries before = {.up = NULL};
	struct fors_entries_task task = {.fabric = bed->fabric,
					 .list = list,
					 .has_exclusive = !fors_home_has_all(bed->fabric->nlanes, bed->fabric->lmc)};
	struct fors_owners_task lanes = {.fabric = bed->fabric,
					 .list = list,
					 .before = old ? old->owners.job : NULL,
					 .work = FORS_OWNERS_WORK / WORK_PART};
	struct fors_error error;

	if (old)
		must(fors_entries_again(old->fabric, &old->entries, bed->fabric, &before, &error), &error, "again");
	task.before = before.up ? &before : NULL;
	must(fors_owners_find(&lanes, &made.owners, &error), &error, "owners");
	must(fors_entries_find(&task, &made.owners, &made.entries, &error), &error, "entries");
	must(fors_fabric_copy(bed->fabric, NULL, &made.fabric, &error), &error, "copy");
	fors_entries_clear(&before);
	return made;
}

/* Who has all entries in the tables of this moment; nobody's lanes are dead ones. */
static void grant(const struct bed *bed, const struct fors_joblist *list, const struct fors_jobindex *index,
		  const struct fors_lfts *lfts, struct fors_entries *now, struct fors_owners *owners)
{
	bool *is_held = calloc(list->count + (size_t)1, sizeof(*is_held));
	struct fors_error error;

	now->njobs = list->count;
	now->bound = calloc(list->count + (size_t)1, sizeof(*now->bound));
	must(fors_entries_held(bed->fabric, list, index, lfts, is_held, &error), &error, "held");
	for (uint32_t j = 0; j < list->count; j++)
		now->bound[j] = is_held[j] ? list->job[j].count : 0;
	for (size_t i = 0; i < (size_t)bed->fabric->nleaves * bed->fabric->nlanes; i++)
		if (bed->fabric->cable[i].state != FORS_CABLE_LIVE)
			owners->job[i] = FORS_NO_JOB;
	free(is_held);
}

static struct fors_request request_of(const struct bed *bed, const struct fors_lfts *lfts)
{
	return (struct fors_request){.task = {.fabric = bed->fabric, .threads = 1}, .net = bed->net, .lfts = lfts};
}

/* What the claim is in the tables of this moment, and the plans over them. */
static void try_claim(const struct bed *bed, const struct fors_joblist *list, struct claim *claim, uint32_t number)
{
	struct fors_lfts *lfts = fors_lfts_copy(bed->lfts);
	struct fors_request request = request_of(bed, lfts);
	struct fors_entries now;
	const struct fors_jobindex index = {number, &now};
	struct fors_jobplans plans;
	struct fors_error error;

	must(fors_entries_again(claim->fabric, &claim->entries, bed->fabric, &now, &error), &error, "again");
	fors_entries_prune(bed->fabric, &now);
	must(fors_jobtables_write(bed->fabric, &now, number, lfts, &error), &error, "entries");
	judge_lfts(bed, lfts);
	grant(bed, list, &index, lfts, &now, &claim->owners);
	must(plan_jobs(&request, list, &claim->owners, &index, NULL, &plans, &error), &error, "plans");
	judge_plans(bed, lfts, list, &plans);
	fors_jobplans_clear(&plans);
	fors_entries_clear(&now);
	fors_lfts_free(lfts);
	tally.rounds++;
}

/* Entries, cuts under them, entries anew after each. */
static void with_entries(struct bed *bed, const struct fors_joblist *list, uint32_t number, struct rng *rng)
{
	struct claim claim = seek(bed, list, NULL);

	try_claim(bed, list, &claim, number);
	for (cut_number = 1; cut_number <= MOST_CUTS && cut_one(bed, rng); cut_number++) {
		struct claim next;

		try_claim(bed, list, &claim, number);
		if (rng_below(rng, 2))
			continue; /* another cable dies first */
		next = seek(bed, list, &claim);
		drop_claim(&claim);
		claim = next;
		try_claim(bed, list, &claim, number);
	}
	drop_claim(&claim);
}

/* No path index is the jobs'. */
static void without_entries(struct bed *bed, const struct fors_joblist *list, struct rng *rng)
{
	for (cut_number = 0; cut_number <= MOST_CUTS && (!cut_number || cut_one(bed, rng)); cut_number++) {
		struct fors_request request = request_of(bed, bed->lfts);
		struct fors_owners_task task = {
			.fabric = bed->fabric, .list = list, .work = FORS_OWNERS_WORK / WORK_PART};
		struct fors_owners owners;
		struct fors_jobplans plans;
		struct fors_error error;

		must(fors_owners_find(&task, &owners, &error), &error, "owners");
		must(plan_jobs(&request, list, &owners, NULL, NULL, &plans, &error), &error, "plans");
		judge_plans(bed, bed->lfts, list, &plans);
		fors_jobplans_clear(&plans);
		fors_owners_clear(&owners);
		tally.rounds++;
	}
}

static void run(uint64_t seed)
{
	struct rng rng = {seed};
	unsigned lmc;
	struct bed *bed = make_bed(&rng, &lmc);
	struct fors_joblist list;
	struct fors_error error;
	char *text;

	cut_number = 0;
	if (!bed) {
		tally.declined++;
		return;
	}
	text = any_jobs(bed->fabric, &rng);
	must(fors_joblist_read(text, strlen(text), "jobs", bed->fabric, &list, &error), &error, "jobs");
	if (rng_below(&rng, 4))
		with_entries(bed, &list, (1u << lmc) - 1, &rng);
	else
		without_entries(bed, &list, &rng);
	fors_joblist_clear(&list);
	free(text);
	bed_free(bed);
	tally.fabrics++;
}

static uint32_t nfabrics = 60;
static uint64_t seed = 1;
static uint32_t first;

static void sweep(void **unused)
{
	for (fabric_number = first; fabric_number < first + nfabrics; fabric_number++) {
		progress_tell(fabric_number - first, nfabrics, "fabrics", "sweep_jobs 1 SEED and its number");
		run((seed << 32) + fabric_number);
	}
	printf("%u fabrics, %u no trees; %u times tables and plans: %u jobs, %u over their own lanes, %u over those and free "
	       "ones, %u over all (%u over one path index), %u without a plan whose leaves have no spine in common\n",
	       tally.fabrics, tally.declined, tally.rounds, tally.jobs, tally.own, tally.free, tally.all, tally.indexed,
	       tally.apart);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(sweep)};

	if (argc > 1)
		nfabrics = (uint32_t)strtoul(argv[1], NULL, 10);
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 10);
	if (argc > 3)
		first = (uint32_t)strtoul(argv[3], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
