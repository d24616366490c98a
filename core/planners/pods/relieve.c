/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * relieve.c - entries moved from links that carry more than the lower bound.
 *
 * Where leaves differ, or have more servers than lanes, homes are lumps: two servers of a leaf on one lane, for all
 * who send. But each leaf, and each mid, chooses for itself. So: take one of the fullest links, look at a dozen entries
 * that send over it (a leaf's, with the flows of its servers; a mid's, with those of all leaves that use it for that
 * server; a top's that has several cables to a pod, with those of all mids that use it; a mid's that has several cables
 * to the leaf, with all that comes down by it), and at all ports they could have instead, and do what lowers the sum of
 * squares of what links carry above the bound the most. What was moved stays for some steps (tabu), so that it may first
 * become worse. The best that was seen is kept. Effort is counted in links looked at; random numbers start from a
 * constant.
 *
 * Where tops choose, an entry may move and its flows come back to the link further on, which costs nothing and helps nobody:
 * such moves are always at hand, and a search may make no others. In haste they are no longer taken when some steps found
 * nothing better: something has to leave the link, even if it costs.
 *
 * Any of these entries sends up, or, a top's, to a mid that goes down itself: as before, so that the rule of up, then
 * down holds for old and new entries in any mixture.
 */
#include "relieve.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"

#define TABU_LEAST 4
#define TABU_SPREAD 8
#define LOOKS_PER_ENTRY 300 /* links looked at, and */
#define LOOKS 1000000
#define HASTE 3	      /* the part of that for who is kept waiting */
#define QUOTA 12      /* entries looked at in a step, from any on */
#define MOST_VAIN 400 /* steps without anything better */
#define SOME_VAIN 40  /* in haste, after so many of these a move takes flows off the link, or costs less */

struct move {
	uint32_t row, column; /* of the tables: leaves, then mids, then tops */
	uint8_t port;
	int64_t cost; /* what it adds, mostly less than 0 */
};

struct relief {
	struct fors_pods_ways *ways;
	const struct fors_pods_lanes *lanes;
	const struct fors_pods *pods;
	uint32_t most;
	bool is_uneven;	      /* cables differ in what they carry in a phase */
	int64_t *load;	      /* per link: flows */
	uint32_t *link_node;  /* per link: the node of known that sends, */
	uint8_t *link_port;   /* and its port */
	uint32_t *tabu;	      /* [row * nslots + slot]: the step until which it stays */
	bool in_haste;	      /* somebody waits */
	bool any_choice;      /* of tops */
	bool *has_choice;     /* per top: it has several cables to a pod */
	uint8_t *best;	      /* the tables when they were best */
	uint32_t *fullest;    /* links above the bound, to choose from */
	uint32_t stuck;	      /* the link that has to be left; FORS_NONE: none has to */
	uint32_t step, quota; /* quota: entries that are still looked at in this step */
	uint64_t work;
	struct fors_random random;
};

/* ---- what a row sends ---- */

static uint32_t first_top(const struct relief *r)
{
	return r->pods->nleaves + r->pods->nmids;
}

static uint32_t node_of(const struct relief *r, uint32_t row)
{
	if (row < r->pods->nleaves)
		return r->pods->leaf[row].node;
	return row < first_top(r) ? r->pods->mid[row - r->pods->nleaves].node : r->pods->top[row - first_top(r)].node;
}

static uint8_t *entry_of(const struct relief *r, uint32_t row, uint32_t slot)
{
	return &r->ways->leaf[(size_t)row * r->ways->ncolumns + slot];
}

/* Does what leaf a sends to a slot come to this mid on its way up, or to this top? */
static bool uses(const struct relief *r, uint32_t a, uint32_t row, uint32_t slot)
{
	uint8_t port = *entry_of(r, a, slot);
	const struct fors_pods_hop *hop = &r->ways->hop[r->pods->known->node[r->pods->leaf[a].node].first_port + port];

	if (!port || hop->row == row)
		return port;
	port = row >= first_top(r) ? *entry_of(r, hop->row, slot) : 0;
	return port && r->ways->hop[hop->first + port].row == row;
}

/* Is it a mid above the slot's own leaf? */
static bool is_above(const struct relief *r, uint32_t row, uint32_t slot)
{
	return row >= r->pods->nleaves && row < first_top(r) &&
	       r->pods->mid[row - r->pods->nleaves].pod == r->pods->leaf[r->pods->slot[slot].leaf].pod;
}

/* Flows that come down to a slot by a mid above its leaf. */
static int64_t flows_down(const struct relief *r, uint32_t row, uint32_t slot)
{
	uint8_t port = *entry_of(r, row, slot);
	uint32_t link = r->ways->hop[r->pods->known->node[node_of(r, row)].first_port + port].link, way[4];
	int64_t flows = 0;

	for (uint32_t a = 0; port && a < r->pods->nleaves; a++) {
		uint32_t node = r->pods->leaf[a].node,
			 n = fors_pods_ways_links(r->ways, node, *entry_of(r, a, slot), slot, way);

		if (a != r->pods->slot[slot].leaf && n && way[n - 1] == link)
			flows += r->pods->leaf[a].nslots;
	}
	return flows;
}

/* Flows that an entry decides about. */
static int64_t flows_of(const struct relief *r, uint32_t row, uint32_t slot)
{
	int64_t flows = 0;

	if (row < r->pods->nleaves)
		return r->pods->leaf[row].nslots;
	if (is_above(r, row, slot))
		return flows_down(r, row, slot);
	for (uint32_t a = 0; a < r->pods->nleaves; a++)
		if (uses(r, a, row, slot))
			flows += r->pods->leaf[a].nslots;
	return flows;
}

/* So much a link may have. */
static int64_t cap_of(const struct relief *r, uint32_t link)
{
	const struct fors_node *node = &r->pods->known->node[r->link_node[link]];

	return r->most * (r->is_uneven ? r->pods->capacity[node->first_port + r->link_port[link]] : 1);
}

static int64_t cost_of(const struct relief *r, uint32_t link, int64_t load)
{
	int64_t over = load - cap_of(r, link);

	return over > 0 ? over * over : 0;
}

/* Add `flows`, which may be negative, to the links of an entry; what it costs. */
static int64_t add(struct relief *r, uint32_t row, uint32_t slot, uint8_t port, int64_t flows)
{
	uint32_t link[4], n = fors_pods_ways_links(r->ways, node_of(r, row), port, slot, link);
	int64_t cost = 0;

	for (uint32_t i = 0; i < n; i++) {
		cost += cost_of(r, link[i], r->load[link[i]] + flows) - cost_of(r, link[i], r->load[link[i]]);
		r->load[link[i]] += flows;
	}
	r->work += 4;
	return cost;
}

/* ---- alternatives ---- */

/* Does this port of known lead to a mid of a pod? */
static bool leads_to_pod(const struct relief *r, uint32_t port, uint32_t pod)
{
	uint32_t row = r->ways->hop[port].row;

	return row != FORS_NONE && row >= r->pods->nleaves && row < first_top(r) &&
	       r->pods->mid[row - r->pods->nleaves].pod == pod;
}

/* Try another port of an entry whose flows are taken off. */
static void try_port(struct relief *r, uint32_t row, uint32_t slot, uint8_t port, int64_t flows, int64_t base,
		     struct move *best)
{
	uint32_t link[4], n = fors_pods_ways_links(r->ways, node_of(r, row), port, slot, link);
	int64_t cost = base;
	bool leaves = true;

	r->work += 4;
	for (uint32_t i = 0; i < n; i++) {
		cost += cost_of(r, link[i], r->load[link[i]] + flows) - cost_of(r, link[i], r->load[link[i]]);
		leaves &= link[i] != r->stuck;
	}
	if (n && cost < best->cost && (leaves || cost < 0))
		*best = (struct move){row, slot, port, cost};
}

static void try_leaf(struct relief *r, uint32_t a, uint32_t slot, int64_t flows, int64_t base, struct move *best)
{
	const struct fors_pods_lanes *l = r->lanes;
	const uint8_t *port = l->leaf_port + (size_t)a * l->nlanes;

	for (uint32_t lane = 0; lane < l->nlanes; lane++)
		if (fors_pods_lanes_live(l, a, lane) && port[lane] != *entry_of(r, a, slot))
			try_port(r, a, slot, port[lane], flows, base, best);
}

/* May a top send on to a slot over this port: does it lead to a mid that goes down to the leaf itself? */
static bool is_way_down(const struct relief *r, uint32_t node, unsigned port, uint32_t slot)
{
	uint32_t link[4];

	return leads_to_pod(r, r->pods->known->node[node].first_port + port,
			    r->pods->leaf[r->pods->slot[slot].leaf].pod) &&
	       fors_pods_live(r->pods, node, port) &&
	       fors_pods_ways_links(r->ways, node, (uint8_t)port, slot, link) == 2;
}

static void try_mid(struct relief *r, uint32_t row, uint32_t slot, int64_t flows, int64_t base, struct move *best)
{
	const struct fors_pods_lanes *l = r->lanes;
	uint32_t m = row - r->pods->nleaves;
	const uint8_t *port = l->mid_port + (size_t)m * l->nrungs;

	for (uint32_t i = 0; i < l->rungs[r->pods->mid[m].plane]; i++)
		if (fors_pods_lanes_rung_live(l, m, i) && port[i] != *entry_of(r, row, slot))
			try_port(r, row, slot, port[i], flows, base, best);
}

/* Only mids that go down to the leaf themselves: who turns up again would send back to the top. */
static void try_top(struct relief *r, uint32_t row, uint32_t slot, int64_t flows, int64_t base, struct move *best)
{
	uint32_t node = node_of(r, row);

	for (unsigned port = 1; port <= r->pods->known->node[node].nports; port++)
		if (port != *entry_of(r, row, slot) && is_way_down(r, node, port, slot))
			try_port(r, row, slot, (uint8_t)port, flows, base, best);
}

/* Another cable to the leaf itself. */
static void try_down(struct relief *r, uint32_t row, uint32_t slot, int64_t flows, int64_t base, struct move *best)
{
	uint32_t node = node_of(r, row), leaf = r->pods->leaf[r->pods->slot[slot].leaf].node;

	for (unsigned port = 1; port <= r->pods->known->node[node].nports; port++)
		if (port != *entry_of(r, row, slot) && fors_pods_peer(r->pods, node, port) == leaf &&
		    fors_pods_live(r->pods, node, port))
			try_port(r, row, slot, (uint8_t)port, flows, base, best);
}

/* All other ports of an entry. */
static void consider(struct relief *r, uint32_t row, uint32_t slot, struct move *best)
{
	uint8_t port = *entry_of(r, row, slot);
	int64_t flows, base;

	if (!r->quota || r->tabu[(size_t)row * r->pods->nslots + slot] > r->step)
		return;
	if (row >= first_top(r) && !r->has_choice[row - first_top(r)])
		return;
	flows = flows_of(r, row, slot);
	if (flows ||
	    !(r->any_choice || is_above(r, row, slot))) /* where tops choose, or cables down, most send nothing */
		r->quota--;
	if (!flows)
		return;
	r->work += (r->any_choice && row >= r->pods->nleaves) || is_above(r, row, slot) ? r->pods->nleaves : 0;
	base = add(r, row, slot, port, -flows);
	if (row < r->pods->nleaves)
		try_leaf(r, row, slot, flows, base, best);
	else if (is_above(r, row, slot))
		try_down(r, row, slot, flows, base, best);
	else if (row < first_top(r))
		try_mid(r, row, slot, flows, base, best);
	else
		try_top(r, row, slot, flows, base, best);
	add(r, row, slot, port, flows);
}

/* ---- who sends over a link ---- */

static void consider_mid(struct relief *r, uint32_t m, uint32_t slot, struct move *best)
{
	consider(r, r->pods->nleaves + m, slot, best);
	for (uint32_t a = 0; a < r->pods->nleaves; a++)
		if (uses(r, a, r->pods->nleaves + m, slot))
			consider(r, a, slot, best);
}

/* The slot after this one, going round. */
static uint32_t after(const struct relief *r, uint32_t slot)
{
	return slot + 1 < r->pods->nslots ? slot + 1 : 0;
}

static void look_at_leaf(struct relief *r, uint32_t a, uint8_t port, struct move *best)
{
	uint32_t slot = fors_random_below(&r->random, r->pods->nslots);

	for (uint32_t i = 0; r->quota && i < r->pods->nslots; i++, slot = after(r, slot))
		if (*entry_of(r, a, slot) == port)
			consider(r, a, slot, best);
}

/* A mid's port up: what it sends there. */
static void look_at_mid_up(struct relief *r, uint32_t m, uint8_t port, struct move *best)
{
	uint32_t slot = fors_random_below(&r->random, r->pods->nslots);

	for (uint32_t i = 0; r->quota && i < r->pods->nslots; i++, slot = after(r, slot))
		if (r->ways->mid[(size_t)m * r->ways->ncolumns + slot] == port)
			consider_mid(r, m, slot, best);
}

/* What tops send to servers of a leaf by a mid's port down. */
static void look_at_tops(struct relief *r, uint32_t link, const struct fors_pods_switch *leaf, struct move *best)
{
	uint32_t first = r->any_choice ? fors_random_below(&r->random, r->pods->ntops) : 0;

	for (uint32_t i = 0; r->any_choice && r->quota > QUOTA / 2 && i < r->pods->ntops; i++)
		for (uint32_t slot = leaf->first; slot < leaf->first + leaf->nslots; slot++) {
			uint32_t row = first_top(r) + (first + i) % r->pods->ntops, way[4],
				 n = fors_pods_ways_links(r->ways, node_of(r, row), *entry_of(r, row, slot), slot, way);

			if (n && way[n - 1] == link && r->quota > QUOTA / 2)
				consider(r, row, slot, best);
		}
}

/* A mid that has several cables to leaves: servers for which it may take another one. */
static void look_at_cables(struct relief *r, uint32_t m, uint8_t port, const struct fors_pods_switch *leaf,
			   struct move *best)
{
	if (r->lanes->nlanes == r->pods->nplanes)
		return;
	for (uint32_t slot = leaf->first; slot < leaf->first + leaf->nslots; slot++)
		if (r->quota > QUOTA / 2 && *entry_of(r, r->pods->nleaves + m, slot) == port)
			consider(r, r->pods->nleaves + m, slot, best);
}

/* A mid's port down to leaf b: everything that comes that way. */
static void look_at_mid_down(struct relief *r, uint32_t link, uint32_t b, struct move *best)
{
	const struct fors_pods_switch *leaf = &r->pods->leaf[b];

	uint32_t first = fors_random_below(&r->random, r->pods->nleaves);

	look_at_cables(r, r->pods->number[r->link_node[link]], r->link_port[link], leaf, best);
	look_at_tops(r, link, leaf, best);
	for (uint32_t i = 0; r->quota && i < r->pods->nleaves; i++)
		for (uint32_t slot = leaf->first; slot < leaf->first + leaf->nslots; slot++) {
			uint32_t a = (first + i) % r->pods->nleaves, way[4],
				 n = fors_pods_ways_links(r->ways, r->pods->leaf[a].node, *entry_of(r, a, slot), slot,
							  way);

			if (n && way[n - 1] == link)
				consider(r, a, slot, best);
		}
}

/* A top's port down: what mids send to that top for who is below. */
static void look_at_top(struct relief *r, uint32_t t, uint8_t port, struct move *best)
{
	const struct fors_pods *pods = r->pods;
	uint32_t slot = fors_random_below(&r->random, pods->nslots);

	for (uint32_t i = 0; r->quota && i < pods->nslots; i++, slot = after(r, slot)) {
		if (r->ways->top[(size_t)t * r->ways->ncolumns + slot] != port)
			continue;
		consider(r, first_top(r) + t, slot, best);
		for (uint32_t m = 0; m < pods->nmids; m++) {
			uint8_t up = r->ways->mid[(size_t)m * r->ways->ncolumns + slot];

			if (up && r->ways->hop[pods->known->node[pods->mid[m].node].first_port + up].row ==
					  pods->nleaves + pods->nmids + t)
				consider_mid(r, m, slot, best);
		}
	}
}

static struct move best_move(struct relief *r, uint32_t link)
{
	struct move best = {FORS_NONE, 0, 0, INT64_MAX};
	uint32_t node = r->link_node[link], number = r->pods->number[node];
	uint8_t port = r->link_port[link];

	if (r->pods->level[node] == FORS_PODS_LEAF) {
		look_at_leaf(r, number, port, &best);
	} else if (r->pods->level[node] == FORS_PODS_TOP) {
		look_at_top(r, number, port, &best);
	} else {
		uint32_t peer = fors_pods_peer(r->pods, node, port);

		if (r->pods->level[peer] == FORS_PODS_TOP)
			look_at_mid_up(r, number, port, &best);
		else
			look_at_mid_down(r, link, r->pods->number[peer], &best);
	}
	return best;
}

/* ---- the search ---- */

/* One of the fullest links, any; FORS_NONE: none is above the bound. *cost: of all. */
static uint32_t pick_link(struct relief *r, int64_t *cost)
{
	int64_t most = 0;
	uint32_t n = 0;

	*cost = 0;
	for (uint32_t i = 0; i < r->ways->nlinks; i++) {
		int64_t over = r->load[i] - cap_of(r, i);

		*cost += cost_of(r, i, r->load[i]);
		if (over > most) {
			most = over;
			n = 0;
		}
		if (over == most && most > 0)
			r->fullest[n++] = i;
	}
	r->work += r->ways->nlinks;
	return n ? r->fullest[fors_random_below(&r->random, n)] : FORS_NONE;
}

static void apply(struct relief *r, const struct move *move)
{
	int64_t flows = flows_of(r, move->row, move->column);
	uint8_t *entry = entry_of(r, move->row, move->column);

	add(r, move->row, move->column, *entry, -flows);
	*entry = move->port;
	add(r, move->row, move->column, *entry, flows);
	r->tabu[(size_t)move->row * r->pods->nslots + move->column] =
		r->step + TABU_LEAST + fors_random_below(&r->random, TABU_SPREAD);
}

static void search(struct relief *r, uint64_t budget)
{
	size_t size = ((size_t)first_top(r) + r->pods->ntops) * r->ways->ncolumns;
	int64_t least = INT64_MAX, cost;
	uint32_t vain = 0;

	for (;;) {
		uint32_t link = pick_link(r, &cost);
		struct move move;

		if (cost < least) {
			least = cost;
			vain = 0;
			memcpy(r->best, r->ways->leaf, size);
		}
		if (link == FORS_NONE || vain++ == MOST_VAIN || r->work > budget)
			break;
		r->step++;
		r->quota = QUOTA;
		r->stuck = r->in_haste && vain > SOME_VAIN ? link : FORS_NONE;
		move = best_move(r, link);
		if (move.row != FORS_NONE)
			apply(r, &move);
	}
	memcpy(r->ways->leaf, r->best, size);
}

static void count(struct relief *r)
{
	memset(r->load, 0, r->ways->nlinks * sizeof(*r->load));
	for (uint32_t a = 0; a < r->pods->nleaves; a++)
		for (uint32_t slot = 0; slot < r->pods->nslots; slot++)
			if (r->pods->slot[slot].leaf != a)
				add(r, a, slot, *entry_of(r, a, slot), r->pods->leaf[a].nslots);
}

static void list_links(struct relief *r)
{
	const struct fors_net *known = r->pods->known;

	for (uint32_t node = 0; node < known->nnodes; node++)
		for (unsigned port = 1; r->pods->level[node] && port <= known->node[node].nports; port++) {
			const struct fors_pods_hop *hop = &r->ways->hop[known->node[node].first_port + port];

			if (hop->row == FORS_NONE)
				continue;
			r->link_node[hop->link] = node;
			r->link_port[hop->link] = (uint8_t)port;
		}
}

/* Which tops have several cables to a pod? */
static void find_choices(struct relief *r)
{
	const struct fors_net *known = r->pods->known;

	for (uint32_t t = 0; t < r->pods->ntops; t++) {
		const struct fors_node *node = &known->node[r->pods->top[t].node];

		for (uint32_t pod = 0; !r->has_choice[t] && pod < r->pods->npods; pod++) {
			uint32_t n = 0;

			for (unsigned port = 1; port <= node->nports; port++)
				n += leads_to_pod(r, node->first_port + port, pod);
			r->has_choice[t] = n > 1;
		}
		r->any_choice |= r->has_choice[t];
	}
}

static bool allocate(struct relief *r)
{
	size_t links = r->ways->nlinks + (size_t)1, rows = (size_t)first_top(r) + r->pods->ntops;

	r->load = calloc(links, sizeof(*r->load));
	r->link_node = calloc(links, sizeof(*r->link_node));
	r->link_port = calloc(links, sizeof(*r->link_port));
	r->fullest = calloc(links, sizeof(*r->fullest));
	r->tabu = calloc(rows * r->pods->nslots + 1, sizeof(*r->tabu));
	r->has_choice = calloc(r->pods->ntops + (size_t)1, sizeof(*r->has_choice));
	r->best = malloc(rows * r->ways->ncolumns + 1);
	return r->load && r->link_node && r->link_port && r->fullest && r->tabu && r->has_choice && r->best;
}

/* The phases of the fullest link, at least `most`. */
static uint32_t fullest(const struct relief *r)
{
	int64_t load = r->most;

	for (uint32_t i = 0; r->most && i < r->ways->nlinks; i++) {
		int64_t capacity = cap_of(r, i) / r->most, phases = (r->load[i] + capacity - 1) / capacity;

		load = phases > load ? phases : load;
	}
	return (uint32_t)load;
}

enum fors_err fors_pods_relieve(struct fors_pods_ways *ways, uint32_t most, bool in_haste, uint32_t *carries,
				struct fors_error *error)
{
	struct relief r = {
		.ways = ways, .lanes = ways->lanes, .pods = ways->lanes->pods, .most = most, .in_haste = in_haste};
	uint64_t entries = (uint64_t)r.pods->nleaves * r.pods->nslots, looks = LOOKS_PER_ENTRY * entries + LOOKS;
	bool good;

	if (carries)
		*carries = most;
	if (most == UINT32_MAX)
		return FORS_OK;
	good = allocate(&r);
	r.is_uneven = fors_pods_is_uneven(r.pods);
	if (good) {
		list_links(&r);
		find_choices(&r);
		count(&r);
		search(&r, in_haste ? looks / HASTE : looks);
		count(&r);
		if (carries)
			*carries = fullest(&r);
	}
	free(r.load);
	free(r.link_node);
	free(r.link_port);
	free(r.fullest);
	free(r.tabu);
	free(r.has_choice);
	free(r.best);
	return good ? FORS_OK : fors_fail_memory(error);
}
