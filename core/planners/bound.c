/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bound.c - the lower bound LB on the number of phases.
 *
 * Take a leaf a and a set Q of spines. The flows from a to those leaves that a can reach
 * over spines in Q only have to climb a's live cables to Q, in a phase as many on each as
 * its capacity: T >= flows / capacity. LB is the largest of these numbers, over all a and Q, and at least
 * the number of servers P, because a server sends once per phase. (What comes down to a leaf
 * is what goes up, mirrored, and gives the same numbers.)
 *
 * For one leaf the best Q is found by flows (max-flow min-cut): with T phases the flows of a
 * must fit on its cables, at most T times its capacity on each. If they do not, the spines and leaves that an unplaced
 * flow can get at by moving others are a Q and its flows, and the next T to try is their ratio. Each step
 * finds a tighter Q, so this ends, in practice after one or two.
 *
 * Leaves b that reach a over the same spines count as one: most do.
 */
#include "bound.h"

#include <stdlib.h>
#include <string.h>

#define WORDS ((FORS_MAX_LANES + 63) / 64)

/* The leaves that share a set of spines with the leaf in hand. */
struct leaf_class {
	uint64_t spines[WORDS];
	uint64_t flows;
	uint64_t placed;
	bool is_seen;
};

/* The flows of one leaf on its uplinks. */
struct climb {
	uint32_t nspines, nleaves, nclasses;
	struct leaf_class *class;
	uint64_t (*live)[WORDS]; /* per leaf: its live spines */
	uint32_t *cables;	 /* from the leaf to each spine: capacity of the cables that live */
	uint64_t *load;		 /* flows on each spine */
	uint64_t *flow;		 /* nclasses x nspines: flows of the class over the spine */
	bool *is_seen;		 /* spines, in the search */
	uint32_t *queue;	 /* of classes and (from nleaves on) spines */
	uint32_t *from;		 /* who found it: for classes a spine, for spines (at nleaves + s) a class */
	uint32_t leaf;		 /* whose Q gave the bound, FORS_NONE: the number of servers did */
	bool *is_cut;		 /* spines of that Q */
};

static void climb_free(struct climb *climb)
{
	free(climb->class);
	free(climb->live);
	free(climb->cables);
	free(climb->load);
	free(climb->flow);
	free(climb->is_seen);
	free(climb->queue);
	free(climb->from);
	free(climb->is_cut);
}

static bool climb_alloc(struct climb *climb, uint32_t nleaves, uint32_t nspines)
{
	size_t n = (size_t)nleaves + nspines + 1;

	*climb = (struct climb){.nspines = nspines, .nleaves = nleaves, .leaf = FORS_NONE};
	climb->class = calloc(n, sizeof(*climb->class));
	climb->live = calloc(n, sizeof(*climb->live));
	climb->cables = calloc(n, sizeof(*climb->cables));
	climb->load = calloc(n, sizeof(*climb->load));
	climb->flow = calloc((size_t)nleaves * nspines + 1, sizeof(*climb->flow));
	climb->is_seen = calloc(n, sizeof(*climb->is_seen));
	climb->queue = calloc(n, sizeof(*climb->queue));
	climb->from = calloc(n, sizeof(*climb->from));
	climb->is_cut = calloc(n, sizeof(*climb->is_cut));
	if (climb->class && climb->live && climb->cables && climb->load && climb->flow && climb->is_seen &&
	    climb->queue && climb->from && climb->is_cut)
		return true;
	climb_free(climb);
	return false;
}

static void find_live(struct climb *climb, const struct fors_fabric *fabric)
{
	for (uint32_t leaf = 0; leaf < fabric->nleaves; leaf++) {
		for (uint32_t lane = 0; lane < fabric->nlanes; lane++) {
			uint32_t spine = fabric->lane[lane].spine;

			if (fors_live(fabric, leaf, lane))
				climb->live[leaf][spine / 64] |= UINT64_C(1) << (spine % 64);
		}
	}
}

/* Count `flows` in the class of leaves that share `spines`. */
static void add_to_class(struct climb *climb, const uint64_t *spines, uint64_t flows)
{
	struct leaf_class *at = climb->class;
	struct leaf_class *end = at + climb->nclasses;

	while (at < end && memcmp(at->spines, spines, sizeof(at->spines)) != 0)
		at++;
	if (at == end) {
		memset(at, 0, sizeof(*at));
		memcpy(at->spines, spines, sizeof(at->spines));
		climb->nclasses++;
	}
	at->flows += flows;
}

/* The uplinks of leaf a, and where its flows may climb. */
static void look_from(struct climb *climb, const struct fors_fabric *fabric, uint32_t a)
{
	climb->nclasses = 0;
	memset(climb->cables, 0, climb->nspines * sizeof(*climb->cables));
	for (uint32_t lane = 0; lane < fabric->nlanes; lane++)
		climb->cables[fabric->lane[lane].spine] += fors_capacity(fabric, a, lane);
	for (uint32_t b = 0; b < fabric->nleaves; b++) {
		uint64_t spines[WORDS], flows = (uint64_t)fabric->leaf[a].nservers * fabric->leaf[b].nservers;

		if (a == b || !flows)
			continue;
		for (int w = 0; w < WORDS; w++)
			spines[w] = climb->live[a][w] & climb->live[b][w];
		add_to_class(climb, spines, flows);
	}
}

static inline bool reaches(const struct leaf_class *class, uint32_t spine)
{
	return class->spines[spine / 64] >> (spine % 64) & 1;
}

static inline uint64_t *flow_of(struct climb *climb, uint32_t c, uint32_t spine)
{
	return &climb->flow[(size_t)c * climb->nspines + spine];
}

/* Place what fits without moving anything. */
static void place_plainly(struct climb *climb, uint64_t phases)
{
	memset(climb->load, 0, climb->nspines * sizeof(*climb->load));
	memset(climb->flow, 0, (size_t)climb->nclasses * climb->nspines * sizeof(*climb->flow));
	for (uint32_t c = 0; c < climb->nclasses; c++) {
		struct leaf_class *class = &climb->class[c];

		class->placed = 0;
		for (uint32_t s = 0; s < climb->nspines && class->placed < class->flows; s++) {
			uint64_t room = climb->cables[s] * phases - climb->load[s], want = class->flows - class->placed;
			uint64_t put = !reaches(class, s) ? 0 : room < want ? room : want;

			*flow_of(climb, c, s) += put;
			climb->load[s] += put;
			class->placed += put;
		}
	}
}

/* A spine with room that class `c` gets at by moving others, or FORS_NONE; is_seen and from tell the way. */
static uint32_t find_room(struct climb *climb, uint32_t c, uint64_t phases)
{
	uint32_t head = 0, tail = 0;

	for (uint32_t i = 0; i < climb->nclasses; i++)
		climb->class[i].is_seen = i == c;
	memset(climb->is_seen, 0, climb->nspines * sizeof(*climb->is_seen));
	climb->queue[tail++] = c;
	while (head < tail) {
		uint32_t at = climb->queue[head++];

		for (uint32_t s = 0; at < climb->nleaves && s < climb->nspines; s++) {
			if (climb->is_seen[s] || !reaches(&climb->class[at], s))
				continue;
			climb->is_seen[s] = true;
			climb->from[climb->nleaves + s] = at;
			climb->queue[tail++] = climb->nleaves + s;
			if (climb->load[s] < climb->cables[s] * phases)
				return s;
		}
		for (uint32_t i = 0; at >= climb->nleaves && i < climb->nclasses; i++) {
			if (climb->class[i].is_seen || !*flow_of(climb, i, at - climb->nleaves))
				continue;
			climb->class[i].is_seen = true;
			climb->from[i] = at - climb->nleaves;
			climb->queue[tail++] = i;
		}
	}
	return FORS_NONE;
}

/* Move flows along the way that find_room() found from class c to spine s. */
static void push_along(struct climb *climb, uint32_t c, uint32_t s, uint64_t phases)
{
	uint64_t amount = climb->cables[s] * phases - climb->load[s],
		 want = climb->class[c].flows - climb->class[c].placed;
	uint32_t spine = s, class;

	amount = amount < want ? amount : want;
	while ((class = climb->from[climb->nleaves + spine]) != c) {
		spine = climb->from[class];
		if (*flow_of(climb, class, spine) < amount)
			amount = *flow_of(climb, class, spine);
	}
	climb->load[s] += amount;
	climb->class[c].placed += amount;
	for (spine = s; (class = climb->from[climb->nleaves + spine]) != c; spine = climb->from[class]) {
		*flow_of(climb, class, spine) += amount;
		*flow_of(climb, class, climb->from[class]) -= amount;
	}
	*flow_of(climb, c, spine) += amount;
}

/* The ratio of the Q that the last, failed search marked. */
static uint64_t ratio_seen(const struct climb *climb)
{
	uint64_t flows = 0, cables = 0;

	for (uint32_t i = 0; i < climb->nclasses; i++)
		flows += climb->class[i].is_seen ? climb->class[i].flows : 0;
	for (uint32_t s = 0; s < climb->nspines; s++)
		cables += climb->is_seen[s] ? climb->cables[s] : 0;
	return cables ? (flows + cables - 1) / cables : 0;
}

/* `phases` if the flows of the leaf fit into them, else a larger number that they need at least. */
static uint64_t fit(struct climb *climb, uint64_t phases)
{
	place_plainly(climb, phases);
	for (uint32_t c = 0; c < climb->nclasses; c++) {
		while (climb->class[c].placed < climb->class[c].flows) {
			uint32_t s = find_room(climb, c, phases);

			if (s == FORS_NONE)
				return ratio_seen(climb);
			push_along(climb, c, s, phases);
		}
	}
	return phases;
}

/* What the flows of leaf a ask for, at least `phases`. */
static uint64_t bound_leaf(struct climb *climb, const struct fors_fabric *fabric, uint32_t a, uint64_t phases)
{
	uint64_t next;

	look_from(climb, fabric, a);
	while ((next = fit(climb, phases)) > phases) {
		phases = next;
		climb->leaf = a;
		memcpy(climb->is_cut, climb->is_seen, climb->nspines * sizeof(*climb->is_cut));
	}
	return phases;
}

/* LB; whose Q it is the climb says. */
static uint32_t bound_leaves(struct climb *climb, const struct fors_fabric *fabric)
{
	uint64_t phases = fabric->nservers;

	find_live(climb, fabric);
	for (uint32_t a = 0; a < fabric->nleaves; a++)
		phases = bound_leaf(climb, fabric, a, phases);
	return phases > UINT32_MAX ? UINT32_MAX : (uint32_t)phases;
}

enum fors_err fors_lower_bound(const struct fors_fabric *fabric, uint32_t *bound, struct fors_error *error)
{
	struct climb climb;

	if (!climb_alloc(&climb, fabric->nleaves, fabric->nspines))
		return fors_fail_memory(error);
	*bound = bound_leaves(&climb, fabric);
	climb_free(&climb);
	return FORS_OK;
}

/* The cables of a leaf to its Q. */
static enum fors_err list_cut(const struct climb *climb, const struct fors_fabric *fabric, struct fors_witness *witness,
			      struct fors_error *error)
{
	const struct fors_leaf *leaf = &fabric->leaf[climb->leaf];
	enum fors_err err = FORS_OK;

	for (uint32_t lane = 0; !err && lane < fabric->nlanes; lane++)
		if (climb->is_cut[fabric->lane[lane].spine] && fors_live(fabric, climb->leaf, lane))
			err = fors_witness_add(witness, leaf->guid, fors_cable(fabric, climb->leaf, lane)->leaf_port, 1,
					       error);
	return err;
}

enum fors_err fors_lower_bound_witness(const struct fors_fabric *fabric, struct fors_witness *witness,
				       struct fors_error *error)
{
	struct climb climb;
	enum fors_err err = FORS_OK;

	if (!climb_alloc(&climb, fabric->nleaves, fabric->nspines))
		return fors_fail_memory(error);
	witness->bound = bound_leaves(&climb, fabric);
	witness->by = climb.leaf == FORS_NONE ? FORS_BY_PORT : FORS_BY_CUT;
	if (climb.leaf != FORS_NONE)
		err = list_cut(&climb, fabric, witness, error);
	climb_free(&climb);
	if (err)
		fors_witness_clear(witness);
	return err;
}

/* ---- one LID for each server ---- */

static void count_cables(const struct fors_fabric *fabric, uint32_t leaf, uint32_t cables[FORS_MAX_LANES])
{
	memset(cables, 0, FORS_MAX_LANES * sizeof(*cables));
	for (uint32_t lane = 0; lane < fabric->nlanes; lane++)
		cables[fabric->lane[lane].spine] += fors_live(fabric, leaf, lane);
}

/* The only spine that two leaves have in common; FORS_NONE: there are several, or none. */
static uint32_t only_spine(const struct fors_fabric *fabric, const uint32_t *cables, uint32_t other)
{
	uint32_t only = FORS_NONE;

	for (uint32_t lane = 0; lane < fabric->nlanes; lane++) {
		uint32_t spine = fabric->lane[lane].spine;

		if (!cables[spine] || !fors_live(fabric, other, lane) || only == spine)
			continue;
		if (only != FORS_NONE)
			return FORS_NONE;
		only = spine;
	}
	return only;
}

/*
 * Phases for so many lumps of `size` flows, each over one cable of a leaf (to `spine`, FORS_NONE: any), at least `phases`. In T
 * phases a cable of capacity k carries floor(k T / size) of them.
 */
static uint64_t fit_lumps(const struct fors_fabric *fabric, uint32_t leaf, uint32_t spine, uint64_t lumps,
			  uint64_t size, uint64_t phases)
{
	uint64_t sum = 0, room;

	for (uint32_t lane = 0; lane < fabric->nlanes; lane++)
		if (spine == FORS_NONE || fabric->lane[lane].spine == spine)
			sum += fors_capacity(fabric, leaf, lane);
	if (!sum || !size)
		return phases;
	if (lumps * size / sum > phases) /* no fewer: that many if they could be cut */
		phases = lumps * size / sum;
	for (;; phases++) {
		room = 0;
		for (uint32_t lane = 0; lane < fabric->nlanes; lane++)
			if (spine == FORS_NONE || fabric->lane[lane].spine == spine)
				room += fors_capacity(fabric, leaf, lane) * phases / size;
		if (room >= lumps)
			return phases;
	}
}

/* A bound of `phases`, if it is more than the witness has. */
static void take(struct fors_witness *witness, uint64_t phases, enum fors_argument by, const struct fors_leaf *leaf,
		 const struct fors_spine *above)
{
	if (phases > witness->bound)
		*witness = (struct fors_witness){
			.by = by, .bound = phases, .switch_of = {leaf->guid, above ? above->guid : 0}};
}

/*
 * What a leaf and those that have a single spine in common with it need over their cables to that spine. The spine
 * sends all of that to a server of the leaf over one cable, so some cable has the lumps of ceil(n / cables) servers.
 * What the leaf sends to a server goes over one cable up, in the same way.
 */
static void take_single(const struct fors_fabric *fabric, uint32_t leaf, struct fors_witness *witness)
{
	uint32_t cables[FORS_MAX_LANES];
	uint64_t others[FORS_MAX_LANES] = {0}, own = fabric->leaf[leaf].nservers;

	if (fabric->nspines > FORS_MAX_LANES) /* most without a cable, as a list of roots may name them */
		return;
	count_cables(fabric, leaf, cables);
	for (uint32_t a = 0; a < fabric->nleaves; a++) {
		uint32_t spine = a == leaf ? FORS_NONE : only_spine(fabric, cables, a);

		if (spine != FORS_NONE)
			others[spine] += fabric->leaf[a].nservers;
	}
	for (uint32_t spine = 0; spine < fabric->nspines; spine++) {
		const struct fors_leaf *to = &fabric->leaf[leaf];
		uint64_t flows = others[spine];

		if (!flows)
			continue;
		take(witness, fit_lumps(fabric, leaf, spine, own, flows, witness->bound), FORS_BY_LAST, to,
		     &fabric->spine[spine]);
		take(witness, fit_lumps(fabric, leaf, spine, flows, own, witness->bound), FORS_BY_LAST, to,
		     &fabric->spine[spine]);
	}
}

void fors_lump_witness(const struct fors_fabric *fabric, struct fors_witness *witness)
{
	*witness = (struct fors_witness){.by = FORS_BY_PORT, .bound = fabric->nservers};
	for (uint32_t a = 0; a < fabric->nleaves; a++) {
		uint64_t own = fabric->leaf[a].nservers;

		if (own)
			take(witness, fit_lumps(fabric, a, FORS_NONE, fabric->nservers - own, own, witness->bound),
			     FORS_BY_LUMP, &fabric->leaf[a], NULL);
		take_single(fabric, a, witness);
	}
}

/* Servers of a leaf that take part. */
static uint64_t players_of(const struct fors_fattree *tree, uint32_t leaf)
{
	uint32_t count, first = tree->kind->slots(tree, leaf, &count);
	struct fors_fattree_slot stand;
	uint64_t n = 0;

	for (uint32_t i = first; i < first + count; i++)
		n += tree->kind->slot(tree, i, &stand) && stand.plays;
	return n;
}

/* Lumps of `size` flows that the cables of a leaf carry in so many phases. */
static uint64_t room_above(const struct fors_fattree *tree, uint32_t leaf, uint64_t size, uint64_t phases)
{
	uint32_t count, first = tree->kind->above(tree, leaf, &count);
	struct fors_fattree_cable cable;
	uint64_t room = 0;

	for (uint32_t i = first; i < first + count; i++)
		if (tree->kind->get(tree, i, &cable) && cable.low == leaf && cable.state == FORS_CABLE_LIVE)
			room += cable.capacity * phases / size;
	return room;
}

void fors_lump_leaves(const struct fors_fattree *tree, struct fors_witness *witness)
{
	struct fors_fattree_sum sum = fors_fattree_sum(tree);

	if (sum.lmc)
		return;
	*witness = (struct fors_witness){.by = FORS_BY_PORT, .bound = sum.servers};
	for (uint32_t a = 0; a < tree->nleaves; a++) {
		uint64_t own = players_of(tree, a), lumps = sum.servers - own, phases = witness->bound;

		if (!own || !lumps)
			continue;
		if (!room_above(tree, a, own, own)) {
			*witness = (struct fors_witness){0};
			return;
		}
		while (room_above(tree, a, own, phases) < lumps)
			phases++;
		if (phases > witness->bound)
			*witness = (struct fors_witness){
				.by = FORS_BY_LUMP, .bound = phases, .switch_of = {tree->kind->at(tree, a).guid}};
	}
}

uint64_t fors_lump_bound(const struct fors_fabric *fabric)
{
	struct fors_witness witness;

	fors_lump_witness(fabric, &witness);
	return witness.bound;
}
