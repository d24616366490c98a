/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lanes and entries of jobs in trees of three levels: what doc/jobs.md calls necessary holds for every plan, and full speed is
 * found for all ways to give whole leaves of a tiny tree to jobs.
 */
#include <stdlib.h>
#include <string.h>

#include "pods_world.h"

#include "core/fabric/fattree.h"
#include "core/jobs/entries.h"
#include "core/jobs/running.h"
#include "core/planners/jobplan_index.h"
#include "core/planners/jobplan_over.h"
#include "core/planners/routing.h"
#include "core/schedule/schedule.h"
#include "core/schedule/verify.h"

struct site {
	struct world w;
	struct fors_fattree tree;
	struct fors_floors floors;
};

static void site_new_of(struct site *s, const char *spec, unsigned lmc, const char *dead)
{
	struct fors_error error = {0};
	char text[128], *at = NULL;

	s->w = (struct world){.known = net_of(spec, lmc)};
	must(fors_net_copy(s->w.known, &s->w.now, &error), &error);
	snprintf(text, sizeof(text), "%s", dead);
	for (char *what = strtok_r(text, " ", &at); what; what = strtok_r(NULL, " ", &at))
		take_down(&s->w, what);
	look(&s->w);
	make_tables(&s->w, 0);
	s->tree = fors_fattree_of_pods(s->w.pods);
	must(fors_floors_make(&s->tree, &s->floors, &error), &error);
}

static void site_new(struct site *s, const char *spec, const char *dead)
{
	site_new_of(s, spec, 1, dead);
}

static void site_free(struct site *s)
{
	fors_floors_clear(&s->floors);
	world_free(&s->w);
}

/* ---- jobs ---- */

/* who[leaf]: the job that has all servers of a leaf of floor 0, 0: none. The caller frees it. */
static struct fors_joblist leaves_of(const struct fors_floors *floors, const unsigned *who, unsigned njobs)
{
	const struct fors_fabric *f = floors->floor[0];
	struct fors_joblist list = {.job = calloc(njobs, sizeof(*list.job)), .count = njobs};

	for (unsigned j = 0; j < njobs; j++) {
		struct fors_jobentry *job = &list.job[j];

		*job = (struct fors_jobentry){
			.is_exclusive = true, .has_index = true, .server = calloc(f->nservers, sizeof(uint32_t))};
		snprintf(job->name, sizeof(job->name), "j%u", j);
		for (uint32_t s = 0; s < f->nservers; s++)
			if (who[f->server[s].leaf] == j + 1)
				job->server[job->count++] = s;
		for (uint32_t a = 0; a < f->nleaves; a++)
			job->nleaves += who[a] == j + 1;
	}
	return list;
}

static void seat(const struct fors_floors *floors, struct fors_jobentry *job, uint32_t server)
{
	const struct fors_fabric *f = floors->floor[0];

	if (!job->count || f->server[job->server[job->count - 1]].leaf != f->server[server].leaf)
		job->nleaves++;
	job->server[job->count++] = server;
}

/* Each server goes to any of the jobs, or to none. */
static struct fors_joblist anywhere(const struct fors_floors *floors, struct fors_random *random, unsigned njobs)
{
	const struct fors_fabric *f = floors->floor[0];
	unsigned *none = calloc(f->nleaves, sizeof(*none));
	struct fors_joblist list = leaves_of(floors, none, njobs);

	for (uint32_t s = 0; s < f->nservers; s++)
		seat(floors, &list.job[fors_random_below(random, njobs + 1) % njobs], s);
	free(none);
	return list;
}

/* ---- what is necessary ---- */

/* Servers of the job on the leaves of one leaf, or pod, of a floor. */
static uint32_t servers_at(const struct fors_fabric *floor, const struct fors_jobentry *job, uint32_t leaf)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < job->count; i++)
		n += floor->server[job->server[i]].leaf == leaf;
	return n;
}

static uint32_t owned_at(const struct fors_owners *owners, uint32_t leaf, uint32_t job)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < owners->nlanes; k++)
		n += fors_owner(owners, leaf, k) == job;
	return n;
}

/* Cuts around each leaf and each pod of the job: T lanes >= n (P - n). */
static uint32_t necessary(const struct fors_floors *floors, const struct fors_holdings *h,
			  const struct fors_joblist *list, uint32_t j)
{
	const struct fors_jobentry *job = &list->job[j];
	uint32_t bound = job->count, npods = floors->floor[1]->nleaves;

	for (uint32_t a = 0; a < floors->floor[0]->nleaves; a++) {
		uint32_t n = servers_at(floors->floor[0], job, a), lanes = owned_at(&h->owners[0], a, j);

		if (n && n < job->count)
			bound = (n * (job->count - n) + lanes - 1) / lanes > bound
					? (n * (job->count - n) + lanes - 1) / lanes
					: bound;
	}
	for (uint32_t p = 0; p < npods; p++) {
		uint32_t n = servers_at(floors->floor[1], job, p), rungs = 0;

		for (uint32_t f = 1; f < floors->count; f++)
			rungs += owned_at(&h->owners[f], p, j);
		if (n && n < job->count)
			bound = (n * (job->count - n) + rungs - 1) / rungs > bound
					? (n * (job->count - n) + rungs - 1) / rungs
					: bound;
	}
	return bound;
}

/* ---- one case ---- */

/* Every way of the job, through the tables; whose cables it goes over: a bit for each job, the last one for nobody's. */
static uint64_t cables_of(const struct site *s, const struct fors_jobtables *tables, const struct fors_joblist *list,
			  uint32_t j)
{
	uint64_t whose = 0;
	const struct fors_net *net = s->w.now;
	const struct fors_fabric *f = s->floors.floor[0];
	const struct fors_jobentry *job = &list->job[j];
	uint32_t *owner = malloc(net->nports * sizeof(*owner));

	fors_holdings_ports(&s->floors, &tables->holdings, owner);
	for (uint32_t i = 0; i < job->count; i++)
		for (uint32_t d = 0; d < job->count; d++) {
			const struct fors_server *to = &f->server[job->server[d]];
			uint32_t node = f->leaf[f->server[job->server[i]].leaf].node;

			for (int hops = 0; node != f->leaf[to->leaf].node; hops++) {
				uint32_t row = fors_lfts_row(tables->lfts, net->node[node].guid);
				uint8_t port = fors_lfts_port(tables->lfts, row, to->lid + tables->index);

				assert_true(hops < 5 && port && port <= net->node[node].nports);
				whose |= UINT64_C(1) << (owner[net->node[node].first_port + port] & 63);
				node = fors_net_port(net, node, port)->peer;
			}
		}
	free(owner);
	return whose;
}

/* They go over its own cables only. */
static void walk_job(const struct site *s, const struct fors_jobtables *tables, const struct fors_joblist *list,
		     uint32_t j)
{
	assert_int_equal(cables_of(s, tables, list, j) & ~(UINT64_C(1) << j), 0);
}

/* Of a job without a bound no floor has an entry. */
static void has_nothing(const struct fors_holdings *holdings, const struct fors_jobentry *job)
{
	for (uint32_t f = 0; f < holdings->nfloors; f++) {
		const struct fors_entries *entries = &holdings->entries[f];

		for (uint32_t i = 0; i < job->count; i++) {
			for (uint32_t a = 0; a < entries->nleaves; a++)
				assert_int_equal(entries->up[(size_t)a * entries->nservers + job->server[i]],
						 FORS_NO_LANE);
			for (uint32_t k = 0; k < entries->nspines; k++)
				assert_int_equal(entries->down[(size_t)k * entries->nservers + job->server[i]],
						 FORS_NO_LANE);
		}
	}
}

/* Who does not find entries on all floors has none on any. */
static void share_out(const struct site *s, const struct fors_joblist *list)
{
	const struct fors_holdings_task task = {
		.floors = &s->floors, .list = list, .has_exclusive = true, .owners_work = FORS_OWNERS_WORK / 100};
	struct fors_holdings holdings;
	struct fors_error error;

	must(fors_holdings_find(&task, &holdings, &error), &error);
	for (uint32_t j = 0; j < list->count; j++)
		if (!holdings.bound[j])
			has_nothing(&holdings, &list->job[j]);
	fors_holdings_clear(&holdings);
}

/* Share out, check, plan; how many jobs are at full speed by the bound of their entries. */
static uint32_t judge_jobs(const struct site *s, const struct fors_joblist *list, bool is_planned)
{
	struct fors_error error = {0};
	struct fors_jobtables tables;
	struct fors_jobplans plans = {0};
	uint32_t nfull = 0;

	must(fors_jobtables_make(&s->tree, &s->floors, list, s->w.route->lfts, &tables, &error), &error);
	const struct fors_jobfloors lanes = {&s->floors, &tables.holdings, tables.index};
	const struct fors_request task = {.net = s->w.now, .lfts = tables.lfts};

	if (is_planned)
		must(fors_jobplans_floors(&task, &lanes, list, NULL, &plans, &error), &error);
	assert_int_equal(plans.nmeetings, 0);
	for (uint32_t j = 0; j < list->count; j++) {
		uint32_t bound = tables.holdings.bound[j];

		nfull += list->job[j].nleaves < 2 || bound == list->job[j].count;
		if (!bound)
			continue;
		walk_job(s, &tables, list, j);
		assert_true(bound >= necessary(&s->floors, &tables.holdings, list, j));
		assert_true(!is_planned || plans.job[j].plan->nphases >= bound);
		assert_true(!is_planned || plans.job[j].whose == FORS_OVER_OWN);
	}
	fors_jobplans_clear(&plans);
	fors_jobtables_clear(&tables);
	return nfull;
}

/* Servers anywhere, nothing dead, and a cable of each kind. */
TEST(test_necessary)
{
	static const char *const specs[] = {"XGFT(3;2,2,2;1,2,2)", "XGFT(3;2,2,3;1,2,2)", "XGFT(3;3,2,2;1,3,2)",
					    "PGFT(3;2,2,2;1,1,1;1,2,2)"};
	struct fors_random random = {7};

	for (unsigned i = 0; i < 8; i++) {
		struct site s;

		site_new(&s, specs[i / 2], i % 2 ? i == 5 ? "Leaf00[5] Mid2-01[3]" : "Leaf00[4] Mid2-01[3]" : "");
		for (int draw = 0; draw < 6; draw++) {
			struct fors_joblist list = anywhere(&s.floors, &random, 2 + draw % 2);

			share_out(&s, &list);
			judge_jobs(&s, &list, draw < 4);
			fors_joblist_clear(&list);
		}
		site_free(&s);
	}
}

/* A middle switch that has lost all its tops is no lane of its leaves, though their cables to it live. */
TEST(test_mids_without_tops)
{
	const struct fors_fabric *f;
	struct site s;

	site_new(&s, "XGFT(3;2,2,2;1,2,2)", "Mid2-01[3] Mid2-01[4]");
	f = s.floors.floor[0];
	for (uint32_t a = 0; a < f->nleaves; a++)
		assert_int_equal(f->leaf[a].nlive, fors_floors_pod(&s.floors, a) ? 2 : 1);
	site_free(&s);
}

/* ---- what is sufficient ---- */

/* All ways to give whole leaves to so many jobs: in how many of them is each at full speed? */
static unsigned try_whole(const struct site *s, unsigned njobs)
{
	uint32_t nleaves = s->floors.floor[0]->nleaves;
	unsigned who[8] = {0}, ncases = 1, nfull = 0;

	for (uint32_t a = 0; a < nleaves; a++)
		ncases *= njobs + 1;
	for (unsigned number = 0; number < ncases; number++) {
		struct fors_joblist list;
		unsigned left = number;

		for (uint32_t a = 0; a < nleaves; a++, left /= njobs + 1)
			who[a] = left % (njobs + 1);
		list = leaves_of(&s->floors, who, njobs);
		nfull += judge_jobs(s, &list, false) == njobs;
		fors_joblist_clear(&list);
	}
	return nfull;
}

/*
 * Three jobs of a leaf in each of two pods, each pair of them in one pod: in a plane only two of them find tops that
 * they have in both pods, and two planes are enough for the three.
 */
TEST(test_whole_leaves)
{
	struct site s;

	site_new(&s, "XGFT(3;2,2,3;1,2,2)", "");
	assert_int_equal(try_whole(&s, 2), 729);
	assert_in_range(try_whole(&s, 3), 4040, 4096);
	site_free(&s);
}

/* ---- parts of leaves ---- */

/* Two jobs in a tree of 2 pods of 2 leaves, as many planes as servers at a leaf, and 2 tops in each. */
struct split {
	unsigned planes; /* and servers at a leaf */
	struct part {
		unsigned all, n[4]; /* servers, at each leaf */
		unsigned lanes[4];  /* at each leaf, planes by bits */
		unsigned rungs[6];  /* at each pod * planes + plane, tops by bits */
	} job[2];
};

static unsigned ncables(unsigned mask)
{
	return (unsigned)__builtin_popcount(mask);
}

/* In one phase for each server: what a leaf sends to those with which it has only planes of a set in common goes over these. */
static bool is_possible_at(const struct part *job, unsigned a, unsigned set)
{
	unsigned n = 0;

	for (unsigned b = 0; b < 4; b++)
		n += b != a && !(job->lanes[a] & job->lanes[b] & ~set) ? job->n[b] : 0;
	return job->n[a] * n <= ncables(set) * job->all;
}

static bool is_possible_below(const struct part *job, unsigned planes)
{
	for (unsigned a = 0; a < 4; a++)
		for (unsigned set = 0; set < 1U << planes; set++)
			if (!(set & ~job->lanes[a]) && !is_possible_at(job, a, set))
				return false;
	return true;
}

/* Between two leaves of different pods: a plane with a top that both pods have. */
static bool has_way(const struct part *job, unsigned planes, unsigned a, unsigned b)
{
	for (unsigned j = 0; j < planes; j++)
		if (job->lanes[a] & job->lanes[b] & 1U << j && job->rungs[j] & job->rungs[planes + j])
			return true;
	return !job->n[a] || !job->n[b];
}

static bool is_possible_above(const struct part *job, unsigned planes)
{
	unsigned below = job->n[0] + job->n[1], rungs[2] = {0, 0};

	for (unsigned j = 0; j < 2 * planes; j++)
		rungs[j / planes] += ncables(job->rungs[j]);
	for (unsigned p = 0; p < 2; p++)
		if (below * (job->all - below) > rungs[p] * job->all)
			return false;
	return has_way(job, planes, 0, 2) && has_way(job, planes, 0, 3) && has_way(job, planes, 1, 2) &&
	       has_way(job, planes, 1, 3);
}

static bool could_share_rungs(struct split *s)
{
	for (unsigned rungs = 0; rungs < 1U << 4 * s->planes; rungs++) {
		for (unsigned i = 0; i < 2 * s->planes; i++) {
			s->job[0].rungs[i] = rungs >> 2 * i & 3;
			s->job[1].rungs[i] = 3 & ~s->job[0].rungs[i];
		}
		if (is_possible_above(&s->job[0], s->planes) && is_possible_above(&s->job[1], s->planes))
			return true;
	}
	return false;
}

/* Is there any way to share out all cables that meets what is necessary for full speed of both jobs? All are tried. */
static bool could_share(struct split *s)
{
	unsigned every = (1U << s->planes) - 1;

	for (unsigned lanes = 0; lanes < 1U << 4 * s->planes; lanes++) {
		for (unsigned a = 0; a < 4; a++) {
			s->job[0].lanes[a] = lanes >> s->planes * a & every;
			s->job[1].lanes[a] = every & ~s->job[0].lanes[a];
		}
		if (is_possible_below(&s->job[0], s->planes) && is_possible_below(&s->job[1], s->planes) &&
		    could_share_rungs(s))
			return true;
	}
	return false;
}

/* The first servers of each leaf are of the first job, the last ones of the second. */
static struct fors_joblist parts_of(const struct fors_floors *floors, const struct split *s)
{
	const struct fors_fabric *f = floors->floor[0];
	unsigned none[4] = {0};
	struct fors_joblist list = leaves_of(floors, none, 2);

	for (uint32_t i = 0; i < f->nservers; i++) {
		unsigned a = f->server[i].leaf, at = i % s->planes;
		bool is_second = at >= s->planes - s->job[1].n[a];

		if (is_second || at < s->job[0].n[a])
			list.job[is_second].server[list.job[is_second].count++] = i;
	}
	for (unsigned a = 0; a < 4; a++)
		for (unsigned j = 0; j < 2; j++)
			list.job[j].nleaves += s->job[j].n[a] > 0;
	return list;
}

/* The split of a number, by digits. Is there one, and is it the one that stands for all orders of leaves and pods? */
static bool read_split(struct split *s, unsigned number)
{
	unsigned base = s->planes + 1, leaf[4];
	bool fits = true;

	s->job[0].all = s->job[1].all = 0;
	for (unsigned a = 0; a < 4; a++, number /= base * base) {
		leaf[a] = number % (base * base);
		s->job[0].all += s->job[0].n[a] = leaf[a] % base;
		s->job[1].all += s->job[1].n[a] = leaf[a] / base;
		fits &= s->job[0].n[a] + s->job[1].n[a] <= s->planes;
	}
	return fits && s->job[0].all && s->job[1].all && leaf[0] >= leaf[1] && leaf[2] >= leaf[3] &&
	       (leaf[0] > leaf[2] || (leaf[0] == leaf[2] && leaf[1] >= leaf[3]));
}

/* The next one from this number on, which goes on behind it. False: there was none. */
static bool next_split(struct split *s, unsigned *number)
{
	unsigned base = (s->planes + 1) * (s->planes + 1);

	while (*number < base * base * base * base)
		if (read_split(s, (*number)++))
			return true;
	return false;
}

/* All parts of leaves: what is found meets what is necessary, and is nearly all that does. */
TEST(test_parts)
{
	static const struct {
		const char *spec;
		unsigned total, could, found;
	} cases[] = {{"XGFT(3;2,2,2;1,2,2)", 190, 188, 188}, {"XGFT(3;3,2,2;1,3,2)", 1431, 1413, 1402}};

	for (unsigned i = 0; i < 2; i++) {
		struct site site;
		struct split s = {.planes = 2 + i};
		unsigned number = 0, could = 0, found = 0, total = 0;

		site_new(&site, cases[i].spec, "");
		for (; next_split(&s, &number); total++) {
			struct fors_joblist list = parts_of(&site.floors, &s);
			bool can = could_share(&s), has = judge_jobs(&site, &list, false) == 2;

			assert_true(can || !has);
			could += can;
			found += has;
			fors_joblist_clear(&list);
		}
		assert_int_equal(total, cases[i].total);
		assert_int_equal(could, cases[i].could);
		assert_in_range(found, cases[i].found, could);
		site_free(&site);
	}
}

/* ---- at random, with room ---- */

/* So many jobs of so many servers, each on any servers that are free. */
static struct fors_joblist scattered(const struct fors_floors *floors, uint64_t seed, const uint32_t *sizes,
				     unsigned njobs)
{
	uint32_t nservers = floors->floor[0]->nservers, *order = calloc(nservers, sizeof(*order));
	struct fors_random random = {seed};
	uint32_t *first = order;
	unsigned *none = calloc(floors->floor[0]->nleaves, sizeof(*none));
	struct fors_joblist list = leaves_of(floors, none, njobs);

	fors_random_order(&random, order, nservers);
	for (unsigned j = 0; j < njobs; first += sizes[j++])
		for (uint32_t s = 0; s < nservers; s++)
			for (uint32_t i = 0; i < sizes[j]; i++)
				if (first[i] == s)
					seat(floors, &list.job[j], s);
	free(order);
	free(none);
	return list;
}

/* Seven jobs of 8 to 32 servers on 144 of 288: each has lanes and entries for its full speed, though leaves have servers of three jobs. */
TEST(test_scattered)
{
	static const uint32_t sizes[] = {8, 16, 16, 24, 24, 24, 32};
	unsigned nfull = 0;
	struct site s;

	site_new(&s, "XGFT(3;6,6,8;1,6,6)", "");
	for (uint64_t seed = 1; seed <= 10; seed++) {
		struct fors_joblist list = scattered(&s.floors, seed, sizes, 7);
		struct fors_holdings_task task = {
			.floors = &s.floors, .list = &list, .has_exclusive = true, .owners_work = FORS_OWNERS_WORK};
		struct fors_holdings holdings;

		must(fors_holdings_find(&task, &holdings, NULL), NULL);
		for (uint32_t j = 0; j < list.count; j++)
			nfull += holdings.bound[j] == list.job[j].count;
		fors_holdings_clear(&holdings);
		fors_joblist_clear(&list);
	}
	assert_in_range(nfull, 65, 70);
	site_free(&s);
}

/* ---- none ---- */

/* A board belongs to both planes, and of those named as tops two have no cable: there are more than the planes have together. */
TEST(test_shared_top)
{
	struct world w = director_new("XGFT(3;2,2,2;1,2,2)", 4, 2, 1);
	uint64_t roots[5] = {0xB000};
	struct fors_fattree tree;
	struct fors_floors floors;
	struct fors_error error = {0};
	size_t nroots = 1;

	for (uint32_t n = 0; n < w.known->nnodes; n++)
		if (!strncmp(w.known->node[n].desc, "Spine", 5))
			roots[nroots++] = w.known->node[n].guid;
	must(fors_pods_build(w.known, w.known, roots, nroots, &w.pods, &error), &error);
	tree = fors_fattree_of_pods(w.pods);
	assert_int_equal(w.pods->ntops, 5);
	assert_int_equal(fors_floors_make(&tree, &floors, &error), FORS_ENOTAPPL);
	world_free(&w);
}

/* ---- again ---- */

/* Owners and entries are the same on all floors. */
static void assert_alike(const struct fors_holdings *one, const struct fors_holdings *other)
{
	assert_int_equal(one->nfloors, other->nfloors);
	for (uint32_t f = 0; f < one->nfloors; f++) {
		const struct fors_owners *owners = &one->owners[f];

		assert_true(fors_entries_alike(&one->entries[f], &other->entries[f]));
		assert_memory_equal(owners->job, other->owners[f].job,
				    (size_t)owners->nleaves * owners->nlanes * sizeof(*owners->job));
	}
}

/* What jobs have is the same on the same tree looked at again, for every server of them; and it stays when nothing has changed. */
TEST(test_again)
{
	struct site s;
	struct fors_random random = {3};
	static const uint32_t same[] = {0, 1};

	site_new(&s, "XGFT(3;2,2,3;1,2,2)", "");
	for (int draw = 0; draw < 20; draw++) {
		struct fors_joblist list = anywhere(&s.floors, &random, 2);
		struct fors_holdings first, again, second;
		struct fors_holdings_task task = {.floors = &s.floors, .list = &list, .owners_work = FORS_OWNERS_WORK};

		must(fors_holdings_find(&task, &first, NULL), NULL);
		must(fors_holdings_again(&s.floors, &first, &s.floors, same, list.count, &again, NULL), NULL);
		assert_alike(&first, &again);
		task.before = &again;
		must(fors_holdings_find(&task, &second, NULL), NULL);
		assert_true(first.bound[0] && first.bound[1]);
		assert_alike(&first, &second);
		fors_holdings_clear(&first);
		fors_holdings_clear(&again);
		fors_holdings_clear(&second);
		fors_joblist_clear(&list);
	}
	site_free(&s);
}

/* A tree, and what three jobs have there. */
struct moment {
	struct site s;
	struct fors_jobtables tables;
};

static void moment_free(struct moment *m)
{
	site_free(&m->s);
	fors_jobtables_clear(&m->tables);
}

/* Share out beside what was carried over (`then` is NULL: nobody runs) and walk; how many jobs have entries. */
static unsigned go_on(const struct moment *then, struct moment *now, uint64_t seed)
{
	static const uint32_t was_of[] = {0, FORS_NO_JOB, 2};
	struct fors_random random = {seed};
	struct fors_joblist list = anywhere(&now->s.floors, &random, 3);
	struct fors_holdings before = {0};
	struct fors_holdings_task task = {
		.floors = &now->s.floors, .list = &list, .may_move = seed % 2, .owners_work = FORS_OWNERS_WORK / 24};
	unsigned nheld = 0;

	if (then)
		must(fors_holdings_again(&then->s.floors, &then->tables.holdings, &now->s.floors, was_of, list.count,
					 &before, NULL),
		     NULL);
	assert_int_equal(before.nfloors, then ? now->s.floors.count : 0);
	task.before = then ? &before : NULL;
	must(fors_holdings_find(&task, &now->tables.holdings, NULL), NULL);
	now->tables.lfts = fors_lfts_copy(now->s.w.route->lfts);
	now->tables.index = 1;
	fors_holdings_apply(&now->s.floors, &now->tables.holdings, 1, now->tables.lfts);
	assert_int_equal(fors_routing_check(&now->s.tree, now->tables.lfts, NULL, NULL), FORS_OK);
	for (uint32_t j = 0; j < list.count; j++)
		if (now->tables.holdings.bound[j]) {
			walk_job(&now->s, &now->tables, &list, j);
			nheld++;
		}
	fors_holdings_clear(&before);
	fors_joblist_clear(&list);
	return nheld;
}

/* Over failures, and their ends, jobs that run on and one that is new have right ways, over cables of their own only. */
TEST(test_failures)
{
	static const char *const dead[] = {"", "Leaf00[4]", "Leaf00[4] Mid2-01[3]", "Mid2-02", "Spine01 Leaf03[3]", ""};
	unsigned nheld = 0;

	for (uint64_t seed = 0; seed < 6; seed++) {
		struct moment then = {0};

		for (unsigned i = 0; i < sizeof(dead) / sizeof(*dead); i++) {
			struct moment now = {0};

			site_new(&now.s, "XGFT(3;3,2,3;1,2,2)", dead[i]);
			nheld += go_on(i ? &then : NULL, &now, seed);
			moment_free(&then);
			then = now;
		}
		moment_free(&then);
	}
	assert_true(nheld > 50);
}

/* Up to three random cables between switches, or now and then a switch above the leaves, as a text for site_new(). */
static void draw_dead(const struct fors_net *net, struct fors_random *random, char text[128])
{
	size_t used = 0;

	*text = '\0';
	for (uint64_t n = fors_random_below(random, 4); n;) {
		uint32_t node = (uint32_t)fors_random_below(random, net->nnodes);
		unsigned port = 1 + (unsigned)fors_random_below(random, net->node[node].nports);
		uint32_t peer = fors_net_port(net, node, port)->peer;

		if (net->node[node].type != FORS_SWITCH || peer == FORS_NONE || net->node[peer].type != FORS_SWITCH)
			continue;
		if (strncmp(net->node[node].desc, "Leaf", 4) != 0 && !fors_random_below(random, 4))
			used += (size_t)snprintf(text + used, 128 - used, "%s ", net->node[node].desc);
		else
			used += (size_t)snprintf(text + used, 128 - used, "%s[%u] ", net->node[node].desc, port);
		n--;
	}
}

/* What was found for a tree as it was, written into tables of what has become of it: right, whatever has died or come back. */
static void assert_left(const struct moment *then, const struct moment *now, const char *dead)
{
	const struct fors_floors *floors = &now->s.floors;
	struct fors_holdings left;
	struct fors_lfts *lfts = fors_lfts_copy(now->s.w.route->lfts);
	struct fors_error error = {0};

	must(fors_holdings_entries_again(&then->s.floors, &then->tables.holdings, floors, &left, NULL), NULL);
	assert_int_equal(left.nfloors, floors->count);
	fors_holdings_prune(floors, &left);
	must(fors_jobtables_apply(floors, &left, 1, lfts, NULL), NULL);
	if (fors_routing_check(&now->s.tree, lfts, NULL, &error))
		fail_msg("with '%s' dead: %s", dead, error.text);
	fors_lfts_free(lfts);
	fors_holdings_clear(&left);
}

TEST(test_left)
{
	static const char *const spec[] = {"XGFT(3;3,2,3;1,2,2)", "XGFT(3;2,3,2;1,3,2)", "XGFT(3;2,2,3;1,2,2)"};
	struct fors_random random = {7};
	char dead[128];

	for (uint64_t i = 0; i < 90; i++) {
		struct moment then = {0}, now = {0};

		site_new(&then.s, spec[i % 3], "");
		go_on(NULL, &then, i);
		draw_dead(then.s.w.known, &random, dead);
		site_new(&now.s, spec[i % 3], dead);
		assert_left(&then, &now, dead);
		go_on(&then, &now, i);
		moment_free(&then);
		memset(&then, 0, sizeof(then));
		site_new(&then.s, spec[i % 3], "");
		assert_left(&now, &then, "nothing");
		moment_free(&then);
		moment_free(&now);
	}
}

/* ---- jobs begin and end ---- */

#define SLOTS 4

/* A tree with a job in each slot: who has which server, and which generation of the slot's jobs that is. */
struct queue {
	struct site s;
	struct fors_random random;
	uint32_t who[64], generation[SLOTS];
	struct fors_joblist list;
	struct fors_jobtables tables;
	struct fors_schedule *plan[SLOTS];
};

static struct fors_joblist list_slots(const struct queue *q)
{
	const struct fors_fabric *f = q->s.floors.floor[0];
	struct fors_joblist list = {.job = calloc(SLOTS, sizeof(*list.job)), .count = SLOTS};

	for (uint32_t j = 0; j < SLOTS; j++) {
		struct fors_jobentry *job = &list.job[j];

		*job = (struct fors_jobentry){
			.is_exclusive = true, .has_index = true, .server = calloc(f->nservers, sizeof(uint32_t))};
		snprintf(job->name, sizeof(job->name), "j%u-%u", j, q->generation[j]);
		for (uint32_t s = 0; s < f->nservers; s++) {
			if (q->who[s] != j)
				continue;
			if (!job->count || f->server[job->server[job->count - 1]].leaf != f->server[s].leaf)
				job->nleaves++;
			job->server[job->count++] = s;
		}
	}
	return list;
}

/* The job of a slot ends, and another one begins on some of the servers that are free. */
static void change_slot(struct queue *q, uint32_t slot)
{
	for (uint32_t s = 0; s < q->s.floors.floor[0]->nservers; s++) {
		if (q->who[s] == slot)
			q->who[s] = FORS_NO_JOB;
		if (q->who[s] == FORS_NO_JOB && fors_random_below(&q->random, 4))
			q->who[s] = slot;
	}
	q->generation[slot]++;
}

static void share_slots(struct queue *q, const struct fors_joblist *list, const uint32_t *was_of,
			struct fors_jobtables *tables)
{
	const struct fors_floors *floors = &q->s.floors;
	struct fors_holdings before = {0};
	struct fors_holdings_task task = {.floors = floors, .list = list, .owners_work = FORS_OWNERS_WORK / 24};

	must(fors_holdings_again(floors, &q->tables.holdings, floors, was_of, SLOTS, &before, NULL), NULL);
	if (before.nfloors)
		must(fors_holdings_narrow(floors, list, &before, NULL), NULL);
	task.before = before.nfloors ? &before : NULL;
	must(fors_holdings_find(&task, &tables->holdings, NULL), NULL);
	tables->index = 1;
	tables->lfts = fors_lfts_copy(q->s.w.route->lfts);
	fors_holdings_apply(floors, &tables->holdings, 1, tables->lfts);
	assert_int_equal(fors_routing_check(&q->s.tree, tables->lfts, NULL, NULL), FORS_OK);
	fors_holdings_clear(&before);
}

/* Plans of the jobs that have other ways than before, beside those that go on; how many do. */
static unsigned plan_slots(struct queue *q, const struct fors_joblist *list, const uint32_t *was_of,
			   const struct fors_jobtables *tables)
{
	const struct fors_jobfloors lanes = {&q->s.floors, &tables->holdings, 1};
	const struct fors_request task = {.net = q->s.w.now, .lfts = tables->lfts};
	struct fors_jobkept kept[SLOTS] = {0};
	struct fors_jobplans plans = {0};
	unsigned nkept = 0;

	for (uint32_t j = 0; j < SLOTS; j++)
		if (was_of[j] != FORS_NO_JOB && q->plan[j] && q->tables.holdings.bound[j] &&
		    tables->holdings.bound[j] &&
		    fors_holdings_same_ways(&q->s.floors, &q->list.job[j], &q->tables.holdings, &list->job[j],
					    &tables->holdings))
			kept[j] = (struct fors_jobkept){.plan = q->plan[j], .whose = FORS_OVER_OWN};
	must(fors_jobplans_floors(&task, &lanes, list, kept, &plans, NULL), NULL);
	assert_int_equal(plans.nmeetings, 0);
	for (uint32_t j = 0; j < SLOTS; j++) {
		assert_int_equal(plans.job[j].is_kept, kept[j].plan != NULL);
		nkept += plans.job[j].is_kept;
		if (tables->holdings.bound[j])
			walk_job(&q->s, tables, list, j);
		if (plans.job[j].is_kept)
			continue;
		fors_schedule_free(q->plan[j]);
		q->plan[j] = plans.job[j].plan;
		plans.job[j].plan = NULL;
		assert_true(q->plan[j] || !list->job[j].count);
	}
	fors_jobplans_clear(&plans);
	return nkept;
}

/* One job ends, another begins; how many of the others go on with their plans. */
static unsigned step(struct queue *q, uint32_t slot)
{
	uint32_t was_of[SLOTS];
	struct fors_jobtables tables = {0};
	struct fors_joblist list;
	unsigned nkept;

	change_slot(q, slot);
	list = list_slots(q);
	must(fors_jobs_match(&q->list, &list, was_of, NULL), NULL);
	share_slots(q, &list, was_of, &tables);
	nkept = plan_slots(q, &list, was_of, &tables);
	fors_jobtables_clear(&q->tables);
	fors_joblist_clear(&q->list);
	q->tables = tables;
	q->list = list;
	return nkept;
}

/* Plans over tables that have lost their entries are not right, and do not stay; the others are. */
static void assert_judged(const struct queue *q)
{
	const struct fors_jobfloors lanes = {&q->s.floors, &q->tables.holdings, 1};
	const struct fors_request task = {.net = q->s.w.now, .lfts = q->s.w.route->lfts};
	struct fors_jobkept kept[SLOTS] = {0};
	struct fors_jobplans plans = {0};
	unsigned nwrong = 0;

	for (uint32_t j = 0; j < SLOTS; j++)
		if (q->tables.holdings.bound[j])
			kept[j] = (struct fors_jobkept){.plan = q->plan[j], .whose = FORS_OVER_OWN};
	must(fors_jobplans_floors(&task, &lanes, &q->list, kept, &plans, NULL), NULL);
	for (uint32_t j = 0; j < SLOTS; j++) {
		assert_true(plans.job[j].is_kept || plans.job[j].plan || !q->list.job[j].count);
		nwrong += kept[j].plan && !plans.job[j].is_kept;
	}
	assert_true(nwrong > 0);
	fors_jobplans_clear(&plans);
}

/*
 * Jobs begin and end, anywhere, beside dead cables: ways over own cables only, tables without loops, and whose ways stay goes on
 * with its plan, which is right over the new tables.
 */
TEST(test_queue)
{
	static const char *const dead[] = {"", "Leaf00[4] Mid2-01[4]", "Spine01 Leaf03[5]"};
	unsigned nkept = 0;

	for (uint64_t seed = 0; seed < 6; seed++) {
		struct queue q = {.random = {seed}};

		site_new(&q.s, "XGFT(3;3,3,4;1,3,3)", dead[seed % 3]);
		memset(q.who, 0xFF, sizeof(q.who)); /* FORS_NO_JOB */
		for (uint32_t i = 0; i < 24; i++)
			nkept += step(&q, i < SLOTS ? i : fors_random_below(&q.random, SLOTS));
		assert_judged(&q);
		for (uint32_t j = 0; j < SLOTS; j++)
			fors_schedule_free(q.plan[j]);
		fors_jobtables_clear(&q.tables);
		fors_joblist_clear(&q.list);
		site_free(&q.s);
	}
	assert_true(nkept > 50);
}
