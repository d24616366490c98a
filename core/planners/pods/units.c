/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * units.c - a round for each unit of a three-level tree, and the lanes of those that have none at home.
 *
 * Units are lumps of as many flows as a leaf has servers, so the occupancy and the search of method flows
 * (core/planners/flows/) pack them: the problem has a token for each unit, and a phase for each round. All units whose
 * way is at home go into the rounds of the closed form. What is left may take any lane of its leaf, since a leaf's
 * entry for a server is one unit's own; further on it has to follow the entries of mids and tops. It is searched for
 * with as many rounds as the lower bound asks for, once more after entries of mids, too, were relieved, in small trees (in
 * haste where switches choose ways down), then with a few rounds more. Where nothing is left over nobody else moves. In haste
 * rounds are given up where single flows can do with fewer phases.
 */
#include "units.h"

#include <stdlib.h>
#include <string.h>

#include "bound.h"
#include "core/planners/flows/search.h"
#include "relieve.h"

#define MOST_MORE 16	      /* rounds more than the bound asks for */
#define LATER 4		      /* a part of the effort, with more rounds */
#define LEAST_BUDGET 32000000 /* words of masks: in small trees there is time to look longer */
#define LEAST_IN_HASTE 300000 /* the same for who is kept waiting: a millisecond or two */
#define FIRST_LOOK 8	      /* a part of it before entries are relieved */
#define HOPELESS 40	      /* more than such a part waits: a search does not help soon */
#define MOST_UNITS 16384      /* single flows of so many are planned in a fraction of a second */
#define QUICK_UNITS 4096      /* so many are searched for in a millisecond or two */
#define NEAR 128	      /* single flows need so small a part more than the fullest link, at most */
#define PATIENCE 8 /* a receiver whose lane died has one unit for each leaf to find room for, one after another */

#define MOST_TAIL 4

/* The links from a switch on to a slot: all leaves of a mid's pod have them in common, and all pods those from a top on. */
struct tail {
	uint32_t of, n; /* of: the slot, plus 1, of a top's its row, plus 1; 0: none. n: 0, it does not arrive */
	uint32_t link[MOST_TAIL];
};

#define MOST_TAILS 32768 /* remembered at a time: what a cache has room for */

struct work {
	struct fors_pods_ways *ways;
	const struct fors_pods *pods;
	const struct fors_pods_groups *groups;
	struct fors_pods_units *units;
	bool is_uneven; /* cables differ in what they carry: else all count as one flow, for tables are the same then */
	bool *is_loose; /* [leaf * nslots + slot]: it was not at home */
	uint32_t *leaf; /* of the problem's switches */
	uint32_t *slot; /* of the problem's destinations */
	uint8_t *live;	/* [switch * lanes + lane]: the leaf's port, 0: none that lives */
	uint32_t *hop;	/* per switch of the problem: where the leaf's ports begin among the hops of the ways */
	struct tail *tail; /* [mid * ntails + slot % ntails]: of the slot that was asked for last there */
	uint32_t ntails;   /* a power of two */
	struct tail *end;  /* [slot]: from the top that was asked for last there */
	struct fors_flows_problem problem;
};

void fors_pods_units_clear(struct fors_pods_units *units)
{
	free(units->round);
	*units = (struct fors_pods_units){0};
}

/* ---- the problem ---- */

/* Has it servers' places, and a cable? */
static bool takes_part(const struct work *w, uint32_t a)
{
	bool lives = false;

	for (uint32_t lane = 0; lane < w->ways->lanes->nlanes; lane++)
		lives |= fors_pods_lanes_live(w->ways->lanes, a, lane);
	return lives && w->pods->leaf[a].nslots;
}

/* The leaves and slots that take part; false: the leaves differ. */
static bool list_members(struct work *w)
{
	struct fors_flows_problem *p = &w->problem;

	for (uint32_t a = 0; a < w->pods->nleaves; a++) {
		const struct fors_pods_switch *leaf = &w->pods->leaf[a];

		if (!takes_part(w, a))
			continue;
		w->leaf[p->nswitches] = a;
		p->senders[p->nswitches] = leaf->nslots;
		p->first[p->nswitches++] = p->ndests;
		for (uint32_t i = 0; i < leaf->nslots; i++) {
			p->home[p->ndests] = p->nswitches - 1;
			w->slot[p->ndests++] = leaf->first + i;
		}
		if (leaf->nslots != p->senders[0])
			return false;
	}
	p->first[p->nswitches] = p->ndests;
	return p->nswitches;
}

/* What was worked out of ways: their entries change. */
static void forget_tails(struct work *w)
{
	for (size_t i = 0; i < (size_t)w->pods->nmids * w->ntails; i++)
		w->tail[i].of = 0;
	for (uint32_t slot = 0; slot < w->pods->nslots; slot++)
		w->end[slot].of = 0;
}

static bool allocate_members(struct work *w)
{
	struct fors_flows_problem *p = &w->problem;
	const struct fors_pods *pods = w->pods;

	w->leaf = calloc(pods->nleaves + (size_t)1, sizeof(*w->leaf));
	w->slot = calloc(pods->nslots + (size_t)1, sizeof(*w->slot));
	p->senders = calloc(pods->nleaves + (size_t)1, sizeof(*p->senders));
	p->first = calloc(pods->nleaves + (size_t)2, sizeof(*p->first));
	p->home = calloc(pods->nslots + (size_t)1, sizeof(*p->home));
	return w->leaf && w->slot && p->senders && p->first && p->home;
}

/* What links_of() looks up. */
static bool allocate_links(struct work *w)
{
	const struct fors_pods_lanes *l = w->ways->lanes;

	w->ntails = 1;
	while (w->ntails < w->pods->nslots && 2 * w->ntails * (uint64_t)w->pods->nmids <= MOST_TAILS)
		w->ntails *= 2;
	w->tail = calloc((size_t)w->pods->nmids * w->ntails + 1, sizeof(*w->tail));
	w->end = calloc(w->pods->nslots + (size_t)1, sizeof(*w->end));
	w->live = malloc((size_t)w->problem.nswitches * l->nlanes + 1);
	w->hop = malloc((w->problem.nswitches + (size_t)1) * sizeof(*w->hop));
	if (!w->tail || !w->end || !w->live || !w->hop)
		return false;
	for (uint32_t s = 0; s < w->problem.nswitches; s++) {
		uint32_t a = w->leaf[s];

		w->hop[s] = w->pods->known->node[w->pods->leaf[a].node].first_port;
		for (uint32_t lane = 0; lane < l->nlanes; lane++)
			w->live[s * l->nlanes + lane] =
				fors_pods_lanes_live(l, a, lane) ? l->leaf_port[(size_t)a * l->nlanes + lane] : 0;
	}
	return true;
}

/* Units are asked for by their switch and destination in the problem. */
static uint8_t *entry_of(const struct work *w, uint32_t s, uint32_t d)
{
	return &w->ways->leaf[(size_t)w->leaf[s] * w->ways->ncolumns + w->slot[d]];
}

static bool is_loose(const struct work *w, uint32_t s, uint32_t d)
{
	return w->is_loose[(size_t)w->leaf[s] * w->pods->nslots + w->slot[d]];
}

/* The port of alternative `path` of a unit; 0: none, or none but its own. */
static inline uint8_t port_of(const struct work *w, uint32_t s, uint32_t d, uint32_t path)
{
	const struct fors_pods_lanes *l = w->ways->lanes;
	uint32_t lane = l->home_lane[w->slot[d]] + path;

	if (!path)
		return *entry_of(w, s, d);
	return w->live[s * l->nlanes + (lane < l->nlanes ? lane : lane - l->nlanes)];
}

/* The links from a switch above leaves on, by its row. */
static const struct tail *end_of(const struct work *w, uint32_t row, uint32_t slot)
{
	const struct fors_pods *pods = w->pods;
	struct tail *end = &w->end[slot];
	uint32_t mid = row - pods->nleaves;

	if (end->of == row + 1)
		return end;
	end->of = row + 1;
	end->n = fors_pods_ways_links(w->ways,
				      mid < pods->nmids ? pods->mid[mid].node : pods->top[mid - pods->nmids].node,
				      w->ways->leaf[(size_t)row * w->ways->ncolumns + slot], slot, end->link);
	return end;
}

/* The links from a mid on. */
static void find_tail(const struct work *w, uint32_t mid, uint32_t slot, struct tail *tail)
{
	const struct fors_pods *pods = w->pods;
	uint8_t port = w->ways->mid[(size_t)mid * w->ways->ncolumns + slot];
	const struct fors_pods_hop *hop = &w->ways->hop[pods->known->node[pods->mid[mid].node].first_port + port];
	const struct tail *end;

	tail->n = 0;
	if (!port)
		return;
	tail->link[0] = hop->link;
	if (hop->row == pods->slot[slot].leaf)
		tail->n = 1;
	if (hop->row < pods->nleaves)
		return;
	end = end_of(w, hop->row, slot);
	memcpy(tail->link + 1, end->link, (MOST_TAIL - 1) * sizeof(*end->link));
	tail->n = end->n && end->n < MOST_TAIL ? end->n + 1 : 0;
}

static const struct tail *tail_of(const struct work *w, uint32_t mid, uint32_t slot)
{
	struct tail *tail = &w->tail[(size_t)mid * w->ntails + (slot & (w->ntails - 1))];

	if (tail->of != slot + 1) {
		tail->of = slot + 1;
		find_tail(w, mid, slot, tail);
	}
	return tail;
}

/* The links of a way (struct fors_flows_problem): what the tables of mids and tops make of the leaf's port. */
static uint32_t links_of(const void *context, uint32_t s, uint32_t d, uint32_t path, uint32_t *link)
{
	const struct work *w = context;
	const struct fors_pods_hop *hop;
	const struct tail *tail;
	uint8_t port;

	if (w->problem.home[d] == s)
		return path ? FORS_FLOWS_NONE : 0;
	port = port_of(w, s, d, path);
	if (!port)
		return FORS_FLOWS_NONE;
	hop = &w->ways->hop[w->hop[s] + port];
	tail = tail_of(w, hop->row - w->pods->nleaves, w->slot[d]);
	link[0] = hop->link;
	for (uint32_t i = 0; i < tail->n; i++)
		link[i + 1] = tail->link[i];
	return tail->n ? tail->n + 1 : FORS_FLOWS_NONE;
}

/* How many alternatives there are, and whether every unit has its first one. */
static bool choose_paths(struct work *w)
{
	struct fors_flows_problem *p = &w->problem;
	uint32_t most = UINT32_MAX / fors_flows_units(p), lanes = w->ways->lanes->nlanes;

	p->links_of = links_of;
	p->context = w;
	p->nlinks = w->ways->nlinks;
	p->npaths = lanes < most ? lanes : most;
	for (uint32_t s = 0; s < p->nswitches; s++)
		for (uint32_t d = 0; d < p->ndests; d++)
			if (p->home[d] != s && !*entry_of(w, s, d))
				return false;
	return true;
}

/* What links carry, where they differ; false: out of memory. */
static bool find_capacities(struct work *w)
{
	const struct fors_net *known = w->pods->known;
	uint8_t *capacity = w->is_uneven ? malloc(w->problem.nlinks + (size_t)1) : NULL;

	if (!w->is_uneven)
		return true;
	for (uint32_t node = 0; capacity && node < known->nnodes; node++)
		for (unsigned port = 1; w->pods->level[node] && port <= known->node[node].nports; port++) {
			uint32_t i = known->node[node].first_port + port;

			if (w->ways->hop[i].row != FORS_NONE)
				capacity[w->ways->hop[i].link] = w->pods->capacity[i];
		}
	if (capacity)
		fors_flows_take_capacities(&w->problem, capacity);
	return capacity;
}

/* ---- rounds ---- */

/* A unit at home into its round, if it may and can. */
static bool place_home(const struct work *w, struct fors_flows_packing *packing, uint32_t s, uint32_t d)
{
	uint32_t round = fors_pods_groups_round(w->groups, w->leaf[s], w->slot[d]);

	return !is_loose(w, s, d) && round < packing->nphases && fors_flows_put_if_free(packing, s, d, 0, round);
}

/* The end of the switches of one pod from `first` on, where they stand beside each other. */
static uint32_t end_of_pod(const struct work *w, uint32_t first)
{
	uint32_t end = first + 1, pod = w->pods->leaf[w->leaf[first]].pod;

	while (end < w->problem.nswitches && w->pods->leaf[w->leaf[end]].pod == pod)
		end++;
	return end;
}

static int by_key(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/*
 * Every unit at home into its round; the others wait, in the order of their destinations. Pod by pod, since what its leaves
 * send to a server goes over the same links from their middle switch on, in rounds that stand beside each other in the occupancy.
 */
static void place_homes(const struct work *w, struct fors_flows_packing *packing)
{
	const struct fors_flows_problem *p = &w->problem;
	uint32_t *waiting = packing->waiting, n = 0;

	for (uint32_t first = 0, end; first < p->nswitches; first = end) {
		end = end_of_pod(w, first);
		for (uint32_t d = 0; d < p->ndests; d++)
			for (uint32_t s = first; s < end; s++)
				if (!place_home(w, packing, s, d))
					waiting[n++] = d * p->nswitches + s;
	}
	qsort(waiting, n, sizeof(*waiting), by_key);
	for (uint32_t i = 0; i < n; i++)
		waiting[i] = waiting[i] % p->nswitches * p->ndests + waiting[i] / p->nswitches;
	packing->nwaiting = n;
}

/* A search for all that waits, and for more rounds until there is room. */
static enum fors_err search_all(struct fors_flows_packing **packing, uint64_t budget, struct fors_error *error)
{
	enum fors_err err = fors_flows_search(*packing, budget, NULL, NULL, error);

	for (uint32_t more = 1; !err && more <= MOST_MORE && (*packing)->nwaiting; more *= 2) {
		err = fors_flows_packing_add(packing, (*packing)->nphases + (more + 1) / 2, error);
		if (!err)
			err = fors_flows_search(*packing, budget / LATER, NULL, NULL, error);
	}
	return err;
}

/* Homes in so many rounds, all else waiting. */
static enum fors_err begin(struct work *w, uint32_t nrounds, struct fors_flows_packing **packing,
			   struct fors_error *error)
{
	enum fors_err err = fors_flows_packing_new(&w->problem, nrounds, packing, error);

	if (err)
		return err;
	forget_tails(w);
	place_homes(w, *packing);
	(*packing)->patience = PATIENCE;
	(*packing)->counts_tokens = true;
	(*packing)->nways = 2;
	return FORS_OK;
}

static void set_tables(struct work *w, const uint8_t *tables)
{
	memcpy(w->ways->leaf, tables, fors_pods_ways_size(w->ways));
	forget_tails(w);
}

/*
 * Another beginning, for what a search left waiting: units choose their lanes only, and what mids chose for those that
 * lost their way may be too much for some rungs whatever leaves do. So entries move off links that are too full first.
 */
static enum fors_err search_relieved(struct work *w, uint64_t budget, bool in_haste,
				     struct fors_flows_packing **packing, struct fors_error *error)
{
	uint32_t most = (*packing)->nphases * w->problem.lump;
	uint8_t *before = malloc(fors_pods_ways_size(w->ways) + 1);
	struct fors_flows_packing *other = NULL;
	enum fors_err err;

	if (!before)
		return fors_fail_memory(error);
	memcpy(before, w->ways->leaf, fors_pods_ways_size(w->ways));
	err = fors_pods_relieve(w->ways, most, in_haste, NULL, error);
	if (!err)
		err = begin(w, (*packing)->nphases, &other, error);
	if (!err)
		err = fors_flows_search(other, budget, NULL, NULL, error);
	if (!err && other->nwaiting < (*packing)->nwaiting) {
		fors_flows_packing_free(*packing);
		*packing = other;
	} else {
		set_tables(w, before);
		fors_flows_packing_free(other);
	}
	free(before);
	return err;
}

/* Have middle switches or tops a choice of ways down? */
static bool chooses_down(const struct fors_pods_lanes *lanes)
{
	return fors_pods_lanes_tops_choose(lanes) || lanes->nlanes > lanes->pods->nplanes;
}

/* Is it small enough for a plan of single flows? */
static bool is_small(const struct work *w)
{
	return fors_flows_units(&w->problem) <= MOST_UNITS;
}

/* Do so many wait that a search takes long, and single flows may do? */
static bool is_hopeless(const struct work *w, const struct fors_flows_packing *packing)
{
	uint32_t units = fors_flows_units(&w->problem);

	return packing->nwaiting > units / HOPELESS && units > QUICK_UNITS && is_small(w);
}

/* With this many rounds, or more. */
static enum fors_err pack(struct work *w, uint32_t nrounds, uint32_t effort, struct fors_flows_packing **packing,
			  struct fors_error *error)
{
	uint64_t budget = (uint64_t)effort * fors_flows_units(&w->problem);
	bool is_patient = effort >= FORS_PODS_UNITS_PATIENT && budget < LEAST_BUDGET;
	enum fors_err err = begin(w, nrounds, packing, error);

	budget = is_patient ? LEAST_BUDGET : budget > LEAST_IN_HASTE ? budget : LEAST_IN_HASTE;
	if (!err && (is_patient || chooses_down(w->ways->lanes))) {
		err = fors_flows_search(*packing, budget / FIRST_LOOK, NULL, NULL, error);
		if (!err && !is_patient && is_hopeless(w, *packing))
			return FORS_OK;
		if (!err && (*packing)->nwaiting)
			err = search_relieved(w, budget, !is_patient, packing, error);
	}
	return err ? err : search_all(packing, budget, error);
}

/* The round of a unit, and its lane where that is not its first. */
static void take_way(const struct work *w, uint32_t way, uint32_t round)
{
	const struct fors_flows_problem *p = &w->problem;
	uint32_t unit = fors_flows_unit(p, way), s = fors_flows_switch(p, unit), d = unit - s * p->ndests,
		 path = way - unit * p->npaths;

	w->units->round[(size_t)w->leaf[s] * w->pods->nslots + w->slot[d]] = (uint16_t)round;
	if (path && p->home[d] != s)
		*entry_of(w, s, d) = port_of(w, s, d, path);
}

/* Rounds and lanes as they were found, leaf by leaf. */
static enum fors_err take(const struct work *w, const struct fors_flows_packing *packing, struct fors_error *error)
{
	size_t size = (size_t)w->pods->nleaves * w->pods->nslots;

	w->units->round = malloc((size + 1) * sizeof(*w->units->round));
	if (!w->units->round)
		return fors_fail_memory(error);
	memset(w->units->round, 0xFF, size * sizeof(*w->units->round));
	w->units->nrounds = packing->nphases;
	w->units->nleft = packing->nwaiting;
	for (uint32_t s = 0; s < w->problem.nswitches; s++)
		for (uint32_t t = 0; t < packing->nphases; t++) {
			uint32_t nseats;
			const uint32_t *seat = fors_flows_seats(packing, s, t, &nseats);

			for (uint32_t i = 0; i < nseats; i++)
				take_way(w, seat[i], t);
		}
	return FORS_OK;
}

/* ---- the whole ---- */

static enum fors_err level(struct work *w, struct fors_error *error)
{
	const struct fors_pods *pods = w->pods;

	w->is_loose = calloc((size_t)pods->nleaves * pods->nslots + 1, sizeof(*w->is_loose));
	if (!w->is_loose)
		return fors_fail_memory(error);
	for (uint32_t a = 0; a < pods->nleaves; a++)
		for (uint32_t s = 0; s < pods->nslots; s++)
			w->is_loose[(size_t)a * pods->nslots + s] =
				!w->ways->leaf[(size_t)a * w->ways->ncolumns + s] && pods->slot[s].leaf != a;
	return fors_pods_ways_level(w->ways, error);
}

static enum fors_err find_bound(struct work *w, struct fors_error *error)
{
	uint32_t *servers = calloc(w->pods->nleaves + (size_t)1, sizeof(*servers));
	enum fors_err err;

	if (!servers)
		return fors_fail_memory(error);
	for (uint32_t a = 0; a < w->pods->nleaves; a++)
		servers[a] = takes_part(w, a) ? w->pods->leaf[a].nslots : 0;
	err = fors_pods_bound(w->ways->lanes, servers, w->is_uneven ? w->pods->capacity : NULL, &w->units->bound,
			      error);
	free(servers);
	return err;
}

/* Is everything at home, in as many rounds as the bound asks for, or a few more? */
static bool is_closed_form(const struct work *w, uint32_t nrounds)
{
	if (nrounds > w->groups->nrounds)
		return false;
	for (uint32_t s = 0; s < w->problem.nswitches; s++)
		for (uint32_t d = 0; d < w->problem.ndests; d++)
			if (is_loose(w, s, d))
				return false;
	return true;
}

/* The rounds that all have at home, which needs no packing. */
static enum fors_err take_closed_form(const struct work *w, uint32_t nrounds, struct fors_error *error)
{
	const struct fors_pods *pods = w->pods;

	w->units->round = malloc(((size_t)pods->nleaves * pods->nslots + 1) * sizeof(*w->units->round));
	if (!w->units->round)
		return fors_fail_memory(error);
	for (uint32_t a = 0; a < pods->nleaves; a++)
		for (uint32_t slot = 0; slot < pods->nslots; slot++)
			w->units->round[(size_t)a * pods->nslots + slot] =
				(uint16_t)fors_pods_groups_round(w->groups, a, slot);
	w->units->nrounds = nrounds;
	w->units->length = w->problem.senders[0];
	return FORS_OK;
}

/*
 * A search did not end with as many rounds as the bound asks for. Entries move until no link carries more than that, or as
 * far as they can. A plan of single flows over them is shorter, mostly: who is kept waiting waits for tables, not for
 * the plan. *done: so it is, and there are no rounds.
 */
static enum fors_err do_without_rounds(struct work *w, uint32_t most, bool in_haste,
				       const struct fors_flows_packing *packing, bool *done, struct fors_error *error)
{
	uint8_t *before = malloc(fors_pods_ways_size(w->ways) + 1);
	uint32_t fullest;
	enum fors_err err;

	if (!before)
		return fors_fail_memory(error);
	memcpy(before, w->ways->leaf, fors_pods_ways_size(w->ways));
	err = fors_pods_relieve(w->ways, most, in_haste, &fullest, error);
	*done = !err && (packing->nwaiting || fullest + fullest / NEAR < packing->nphases * w->problem.lump);
	if (!*done)
		set_tables(w, before);
	free(before);
	return err;
}

/* Rounds, as few as the bound asks for; or tables for single flows, *done; or more rounds. */
static enum fors_err find_rounds(struct work *w, uint32_t nrounds, uint32_t effort, bool *done,
				 struct fors_flows_packing **packing, struct fors_error *error)
{
	enum fors_err err = pack(w, nrounds, effort, packing, error);

	*done = false;
	if (!err)
		err = take(w, *packing, error);
	if (err || (!(*packing)->nwaiting && (*packing)->nphases <= nrounds) || !is_small(w))
		return err;
	return do_without_rounds(w, nrounds * w->problem.lump, effort < FORS_PODS_UNITS_PATIENT, *packing, done, error);
}

static enum fors_err pack_units(struct work *w, uint32_t effort, struct fors_error *error)
{
	uint32_t length = w->problem.senders[0], nrounds;
	struct fors_flows_packing *packing = NULL;
	bool done = false;
	enum fors_err err;

	if (w->units->bound == UINT32_MAX || !w->groups)
		return FORS_OK;
	nrounds = (w->units->bound + length - 1) / length;
	if (nrounds < w->groups->npods * w->groups->m2)
		nrounds = w->groups->npods * w->groups->m2; /* a dead leaf is no reason to leave home */
	if (nrounds + MOST_MORE >= FORS_PODS_UNITS_NONE)
		return FORS_OK;
	if (!w->is_uneven && is_closed_form(w, nrounds))
		return take_closed_form(w, w->groups->nrounds, error);
	if (!effort)
		return FORS_OK;
	if (!choose_paths(w))
		return FORS_OK;
	if (!allocate_links(w) || !find_capacities(w))
		return fors_fail_memory(error);
	w->problem.lump = length;
	err = find_rounds(w, nrounds, effort, &done, &packing, error);
	if (!err && !done)
		w->units->length = length;
	if (!err && done) {
		free(w->units->round);
		w->units->round = NULL;
		w->units->nrounds = w->units->nleft = 0;
	}
	fors_flows_packing_free(packing);
	return err;
}

enum fors_err fors_pods_units_pack(struct fors_pods_ways *ways, const struct fors_pods_groups *groups, uint32_t effort,
				   struct fors_pods_units *units, struct fors_error *error)
{
	struct work w = {.ways = ways,
			 .pods = ways->lanes->pods,
			 .groups = groups,
			 .units = units,
			 .is_uneven = fors_pods_is_uneven(ways->lanes->pods)};
	enum fors_err err;

	*units = (struct fors_pods_units){0};
	err = level(&w, error);
	if (!err)
		err = find_bound(&w, error);
	if (!err && !groups)
		err = fors_pods_relieve(ways, units->bound, false, NULL, error);
	if (!err && !allocate_members(&w))
		err = fors_fail_memory(error);
	if (!err && list_members(&w))
		err = pack_units(&w, effort, error);
	free(w.is_loose);
	free(w.leaf);
	free(w.slot);
	free(w.live);
	free(w.hop);
	free(w.tail);
	free(w.end);
	fors_flows_problem_clear(&w.problem);
	if (err)
		fors_pods_units_clear(units);
	return err;
}
