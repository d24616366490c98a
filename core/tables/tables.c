/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tables.c - the linear forwarding tables: every entry at home, unless its way died.
 *
 * Each server place has a home lane by its rank (core/fabric/places_rank.c), and path index i is at home i lanes further
 * (home.h): base LIDs are routed D-mod-K over the ranks, and every path index is D-mod-K again. An entry
 * whose home lane lives at both ends is at home, always. The others are displaced, and at one LID per port what leaves
 * have beyond a multiple of the lanes varies: level_build.c says where to. What is left is to write down:
 *
 *   leaf, own servers:       the server's port
 *   leaf, others' servers:   the port of the lane that level_build.c chose
 *   spine, leaf it reaches:  down, over the home lane's cable number or the next live one
 *   spine, leaf it lost:     LIDs at home here keep the dead port (no loop in mixed
 *                            states, right again when the cable returns); others go
 *                            down to a leaf that sends them up their home lane, or
 *                            keep the dead port where that lane is dead too, or the entries vary
 *   spine, drained cable:    down over it: what is on its way arrives, and the spine itself is heard
 *   odd LIDs:                switches, and CAs on spines: minimum hops, over drained cables where there
 *                            is nothing else
 *
 * Every leaf-to-leaf path goes up, then down. Paths that start at a spine may go
 * down, up, down; they all turn at the first leaf in order that can, so that no
 * two of them can wait for each other in a circle.
 *
 * While OpenSM sends changed blocks, switches hold a mixture of old tables and new ones. In any mixture, after cables
 * or switches died (or after they returned):
 *
 *   - Home-healthy entries are the same before and after, at the leaf and at the spine: such flows keep their path.
 *   - Nothing between servers goes round in circles. A packet comes down to a leaf that is not its own only from a
 *     spine that lost the LID's leaf, and only to a leaf whose entry is at home on another spine, before and after (if
 *     it died now, it lived before; if it returns now, the spine's old entry was chosen among leaves at home then).
 *   - What arrived over cables that live still arrives. A displaced entry that moves to spine k finds k's old entry for
 *     the LID: down the living cable, or, if that cable has just returned, its port, which k has kept.
 *
 * In any mixture of the tables before and after homes were ranked afresh, which is done only while nothing is dead:
 *
 *   - Every leaf entry, old or new, for a server elsewhere goes up to a spine with a cable to the server's leaf, and every
 *     entry of such a spine for it, old or new, goes down a cable to that leaf. So each path goes up, then down, and
 *     arrives: nothing is lost and no loop is closed. But a flow may change its path while packets of it are on
 *     their way, and those behind may overtake them.
 *
 * Not so, for the moment between two blocks: (1) LIDs that a spine has to reach although it lost their leaf and their
 * home was here (subnet managers; all LIDs on spines with CAs; switch LIDs). All leaves that it could ask sent these
 * LIDs up to it before, so every way out is a loop until the leaf it asks has its new block too. (2) Parallel cables:
 * an entry that moves to a spine whose cable of that number has died finds its dead port until the spine has the new
 * block with the cable that stands in. (3) One sweep that sees failures and recoveries together: a spine's old detour
 * and the new entry of the leaf at its end may point at each other.
 * tests/unit/test_consistency.c tries mixtures of all kinds but those of (3), which is an argument.
 */
#include "tables.h"

#include <stdlib.h>
#include <string.h>

#include "core/net/lfts.h"
#include "home.h"
#include "level.h"

/* --- the work of one call ------------------------------------------------- */

struct filler {
	const struct fors_fabric *f;
	const struct fors_level *level;
	struct fors_lfts *lfts;
	uint8_t **leaf_row;  /* per leaf: its LFT, NULL when it is dead */
	uint8_t **spine_row; /* per spine likewise */
	bool *has_cas;	     /* per spine: CAs are plugged in there */
	uint32_t *turn;	     /* nspines x nspines: first leaf that gets to both, FORS_NONE */
};

/* Has the leaf a live cable to the spine? */
static bool reaches(const struct fors_fabric *f, uint32_t leaf, uint32_t spine)
{
	for (uint32_t k = 0; k < f->nlanes; k++)
		if (f->lane[k].spine == spine && fors_live(f, leaf, k))
			return true;
	return false;
}

/* The first live lane of a leaf to a spine, else the first drained one, or FORS_NO_LANE. */
static uint32_t lane_to_spine(const struct fors_fabric *f, uint32_t leaf, uint32_t spine)
{
	uint32_t drained = FORS_NO_LANE;

	for (uint32_t k = 0; k < f->nlanes; k++) {
		if (f->lane[k].spine != spine || !fors_passable(f, leaf, k))
			continue;
		if (fors_live(f, leaf, k))
			return k;
		if (drained == FORS_NO_LANE)
			drained = k;
	}
	return drained;
}

/* Which cables count; all, where live ones give no way. */
enum strictness { LIVE_ONLY, ALSO_DRAINED, NEVER };

static bool gets_to(const struct fors_fabric *f, uint32_t leaf, uint32_t spine, enum strictness how)
{
	return how == LIVE_ONLY ? reaches(f, leaf, spine) : lane_to_spine(f, leaf, spine) != FORS_NO_LANE;
}

static bool carries(const struct fors_fabric *f, uint32_t leaf, uint32_t lane, enum strictness how)
{
	return how == LIVE_ONLY ? fors_live(f, leaf, lane) : fors_passable(f, leaf, lane);
}

static uint8_t up_port(const struct fors_fabric *f, uint32_t leaf, uint32_t lane)
{
	return lane == FORS_NO_LANE ? FORS_NO_PATH : fors_cable(f, leaf, lane)->leaf_port;
}

static uint8_t down_port(const struct fors_fabric *f, uint32_t leaf, uint32_t lane)
{
	return lane == FORS_NO_LANE ? FORS_NO_PATH : fors_cable(f, leaf, lane)->spine_port;
}

static void find_turn(const struct filler *w, uint32_t from, uint32_t to)
{
	uint32_t *turn = &w->turn[(size_t)from * w->f->nspines + to];

	*turn = FORS_NONE;
	for (enum strictness how = LIVE_ONLY; how < NEVER; how++)
		for (uint32_t a = 0; a < w->f->nleaves && *turn == FORS_NONE; a++)
			if (gets_to(w->f, a, from, how) && gets_to(w->f, a, to, how))
				*turn = a;
}

static void find_turns(const struct filler *w)
{
	for (uint32_t from = 0; from < w->f->nspines; from++)
		for (uint32_t to = 0; to < w->f->nspines; to++)
			find_turn(w, from, to);
}

/* --- servers -------------------------------------------------------------- */

static uint32_t nindices(const struct fors_slot *slot)
{
	return slot->lid ? fors_home_nindices(slot->lmc) : 0;
}

static void fill_own_servers(const struct filler *w, uint32_t a)
{
	for (uint32_t s = 0; s < w->f->nslots; s++) {
		const struct fors_slot *slot = fors_slot(w->f, a, s);

		memset(w->leaf_row[a] + slot->lid, slot->leaf_port, nindices(slot));
	}
}

/*
 * What to write for each home lane, unrolled beyond a full turn: the 2^LMC LIDs of a slot have
 * home lanes that follow each other in a circle, so from anywhere they are one copy.
 */
struct circle {
	uint8_t byte[FORS_MAX_LANES + (1 << FORS_MAX_LMC)];
};

static void unroll(struct circle *circle, uint32_t nlanes)
{
	for (uint32_t i = 0; i < 1 << FORS_MAX_LMC; i++)
		circle->byte[nlanes + i] = circle->byte[i];
}

static void fill_slot(const struct filler *w, uint8_t *row, uint32_t b, uint32_t s, const struct circle *circle)
{
	const struct fors_slot *slot = fors_slot(w->f, b, s);

	memcpy(row + slot->lid, circle->byte + fors_home_lane(w->f, b, s, 0), nindices(slot));
}

/* Entries of leaf a for the servers of leaf b; port[lane] is a's port of each lane. */
static void fill_up(const struct filler *w, uint32_t a, uint32_t b, const uint8_t *port)
{
	uint32_t nlanes = w->f->nlanes, copy = FORS_NONE;
	struct circle way;

	for (uint32_t s = 0; nlanes && s < w->f->nslots; s++) {
		const struct fors_slot *slot = fors_slot(w->f, b, s);

		/* Once round the circle, for this slot and those after it with the same copy. */
		for (uint32_t i = 0; copy != slot->copy && i < nlanes; i++)
			way.byte[fors_home_lane(w->f, b, s, i)] = port[fors_level_up(w->level, a, b, s, i)];
		if (copy != slot->copy)
			unroll(&way, nlanes);
		copy = slot->copy;
		fill_slot(w, w->leaf_row[a], b, s, &way);
	}
}

/* The way from leaf a to a leaf with which it has no live spine in common: over drained cables, if at all. */
static uint32_t last_resort(const struct filler *w, uint32_t a, uint32_t b)
{
	for (uint32_t k = 0; k < w->f->nlanes; k++)
		if (fors_passable(w->f, a, k) && gets_to(w->f, b, w->f->lane[k].spine, ALSO_DRAINED))
			return k;
	return FORS_NO_LANE;
}

static void fill_leaf(const struct filler *w, uint32_t a)
{
	uint8_t port[256];

	memset(port, FORS_NO_PATH, sizeof(port));
	for (uint32_t k = 0; k < w->f->nlanes; k++)
		port[k] = up_port(w->f, a, k);
	for (uint32_t b = 0; b < w->f->nleaves; b++)
		if (a == b) {
			fill_own_servers(w, a);
		} else {
			port[FORS_NO_LANE] = up_port(w->f, a, last_resort(w, a, b));
			fill_up(w, a, b, port);
		}
}

/* Entries of a spine for the servers of a leaf that it reaches; port[cable] is the way down for each home lane. */
static void fill_down(const struct filler *w, uint32_t spine, uint32_t b)
{
	struct circle port;

	for (uint32_t home = 0; home < w->f->nlanes; home++)
		port.byte[home] = down_port(w->f, b, fors_level_down(w->level, w->f, spine, b, home));
	unroll(&port, w->f->nlanes);
	for (uint32_t s = 0; s < w->f->nslots; s++)
		fill_slot(w, w->spine_row[spine], b, s, &port);
}

/* The first leaf (never b itself) from which a LID of leaf b goes on, up to another spine; its port, or none. */
static uint8_t detour(const struct filler *w, uint32_t spine, uint32_t b, uint32_t slot, uint32_t index)
{
	for (enum strictness how = LIVE_ONLY; how < NEVER; how++)
		for (uint32_t a = 0; a < w->f->nleaves; a++)
			if (a != b && gets_to(w->f, a, spine, how) &&
			    fors_level_up(w->level, a, b, slot, index) != FORS_NO_LANE)
				return down_port(w->f, a, lane_to_spine(w->f, a, spine));
	return FORS_NO_PATH;
}

/* The dead port of a spine that led to leaf b, of the home lane's cable number if it had one such. */
static uint8_t dead_port(const struct fors_fabric *f, uint32_t spine, uint32_t b, uint32_t home)
{
	uint8_t port = FORS_NO_PATH;

	for (uint32_t k = f->nlanes; k-- > 0;)
		if (f->lane[k].spine == spine && fors_cable(f, b, k)->spine_port &&
		    (port == FORS_NO_PATH || f->lane[k].cable == f->lane[home].cable))
			port = fors_cable(f, b, k)->spine_port;
	return port;
}

/* A spine's entry for LIDs of a leaf that it lost, by their home lane; see the head of this file. */
static uint8_t lost_port(const struct filler *w, uint32_t spine, uint32_t b, uint32_t home)
{
	const struct fors_fabric *f = w->f;

	if (f->lane[home].spine == spine || !fors_live(f, b, home))
		return dead_port(f, spine, b, home);
	for (enum strictness how = LIVE_ONLY; how < NEVER; how++)
		for (uint32_t turn = 0; turn < f->nleaves; turn++)
			if (turn != b && fors_live(f, turn, home) && gets_to(f, turn, spine, how))
				return down_port(f, turn, lane_to_spine(f, turn, spine));
	return dead_port(f, spine, b, home);
}

static void fill_lost(const struct filler *w, uint32_t spine, uint32_t b)
{
	struct circle port;

	for (uint32_t home = 0; home < w->f->nlanes; home++)
		port.byte[home] = lost_port(w, spine, b, home);
	unroll(&port, w->f->nlanes);
	for (uint32_t s = 0; s < w->f->nslots; s++) {
		const struct fors_slot *slot = fors_slot(w->f, b, s);

		if (!w->has_cas[spine] && !slot->is_sm) {
			fill_slot(w, w->spine_row[spine], b, s, &port);
			if (slot->is_varied && slot->lid && !slot->lmc)
				w->spine_row[spine][slot->lid] = dead_port(w->f, spine, b, slot->home);
			continue;
		}
		for (uint32_t i = 0; i < nindices(slot); i++)
			w->spine_row[spine][slot->lid + i] = detour(w, spine, b, s, i);
	}
}

/* Entries of a spine whose cables to a leaf are drained: down, over the home lane's own cable if it is here. */
static void fill_drained(const struct filler *w, uint32_t spine, uint32_t b)
{
	const struct fors_fabric *f = w->f;
	struct circle port;

	for (uint32_t home = 0; home < f->nlanes; home++) {
		bool is_own = f->lane[home].spine == spine && fors_passable(f, b, home);

		port.byte[home] = down_port(f, b, is_own ? home : lane_to_spine(f, b, spine));
	}
	unroll(&port, f->nlanes);
	for (uint32_t s = 0; s < f->nslots; s++)
		fill_slot(w, w->spine_row[spine], b, s, &port);
}

static void fill_spine(const struct filler *w, uint32_t spine)
{
	for (uint32_t b = 0; b < w->f->nleaves; b++)
		if (reaches(w->f, b, spine))
			fill_down(w, spine, b);
		else if (gets_to(w->f, b, spine, ALSO_DRAINED))
			fill_drained(w, spine, b);
		else
			fill_lost(w, spine, b);
}

/* --- odd LIDs: switches, and CAs on spines -------------------------------- */

/* Where a LID range ends that is not behind a server slot. */
struct odd {
	uint32_t lid, count;
	uint32_t leaf, spine; /* the switch it is on; the other one is FORS_NONE */
	uint8_t port;	      /* its port there, 0: the switch itself */
};

/* The ways of all spines to something on leaf b: down, or over the leaf where they turn. */
static uint8_t spine_to_leaf(const struct filler *w, uint32_t spine, const struct odd *odd)
{
	uint32_t lane = lane_to_spine(w->f, odd->leaf, spine);

	if (lane != FORS_NO_LANE)
		return down_port(w->f, odd->leaf, lane);
	for (enum strictness how = LIVE_ONLY; how < NEVER; how++)
		for (uint32_t a = 0; a < w->f->nleaves; a++)
			for (uint32_t k = 0; gets_to(w->f, a, spine, how) && k < w->f->nlanes; k++)
				if (carries(w->f, a, k, how) && gets_to(w->f, odd->leaf, w->f->lane[k].spine, how))
					return down_port(w->f, a, lane_to_spine(w->f, a, spine));
	return FORS_NO_PATH;
}

/* The way of leaf a to something on leaf b: the first common spine, each target starting at another lane. */
static uint8_t leaf_to_leaf(const struct filler *w, uint32_t a, const struct odd *odd)
{
	for (enum strictness how = LIVE_ONLY; how < NEVER; how++)
		for (uint32_t i = 0; i < w->f->nlanes; i++) {
			uint32_t k = (odd->leaf + i) % w->f->nlanes;

			if (carries(w->f, a, k, how) && gets_to(w->f, odd->leaf, w->f->lane[k].spine, how))
				return up_port(w->f, a, k);
		}
	return FORS_NO_PATH;
}

static uint8_t spine_to_spine(const struct filler *w, uint32_t spine, const struct odd *odd)
{
	uint32_t turn = w->turn[(size_t)spine * w->f->nspines + odd->spine];

	return turn == FORS_NONE ? FORS_NO_PATH : down_port(w->f, turn, lane_to_spine(w->f, turn, spine));
}

/* The way of leaf a to something on a spine: straight up, or over a spine that turns at a leaf. */
static uint8_t leaf_to_spine(const struct filler *w, uint32_t a, const struct odd *odd)
{
	uint32_t lane = lane_to_spine(w->f, a, odd->spine);

	for (uint32_t k = 0; lane == FORS_NO_LANE && k < w->f->nlanes; k++)
		if (fors_passable(w->f, a, k) &&
		    w->turn[(size_t)w->f->lane[k].spine * w->f->nspines + odd->spine] != FORS_NONE)
			lane = k;
	return up_port(w->f, a, lane);
}

static void fill_odd(const struct filler *w, const struct odd *odd)
{
	for (uint32_t a = 0; a < w->f->nleaves; a++) {
		if (!w->leaf_row[a])
			continue;
		memset(w->leaf_row[a] + odd->lid,
		       a == odd->leaf		? odd->port
		       : odd->leaf != FORS_NONE ? leaf_to_leaf(w, a, odd)
						: leaf_to_spine(w, a, odd),
		       odd->count);
	}
	for (uint32_t k = 0; k < w->f->nspines; k++) {
		if (!w->spine_row[k])
			continue;
		memset(w->spine_row[k] + odd->lid,
		       k == odd->spine		? odd->port
		       : odd->leaf != FORS_NONE ? spine_to_leaf(w, k, odd)
						: spine_to_spine(w, k, odd),
		       odd->count);
	}
}

static void fill_switch(const struct filler *w, uint32_t node, uint32_t leaf, uint32_t spine)
{
	const struct fors_net *net = w->f->net;
	const struct fors_port *own = fors_net_port(net, node, 0);

	if (own->lid)
		fill_odd(w, &(struct odd){own->lid, 1u << own->lmc, leaf, spine, 0});
	for (unsigned p = 1; leaf == FORS_NONE && p <= net->node[node].nports; p++) {
		const struct fors_port *here = fors_net_port(net, node, p), *there;

		if (here->peer == FORS_NONE || net->node[here->peer].type == FORS_SWITCH)
			continue;
		there = fors_net_port(net, here->peer, here->peer_port);
		if (there->lid)
			fill_odd(w, &(struct odd){there->lid, 1u << there->lmc, leaf, spine, (uint8_t)p});
	}
}

static void fill_odds(const struct filler *w)
{
	for (uint32_t a = 0; a < w->f->nleaves; a++)
		if (w->leaf_row[a])
			fill_switch(w, w->f->leaf[a].node, a, FORS_NONE);
	for (uint32_t k = 0; k < w->f->nspines; k++)
		if (w->spine_row[k])
			fill_switch(w, w->f->spine[k].node, FORS_NONE, k);
}

/* --- all together --------------------------------------------------------- */

/* Tables of all living switches, rows by GUID. */
static struct fors_lfts *make_rows(const struct fors_net *net)
{
	struct fors_lfts *lfts;
	uint32_t nswitches = 0;

	for (uint32_t node = 0; node < net->nnodes; node++)
		nswitches += net->node[node].type == FORS_SWITCH;
	lfts = fors_lfts_new(nswitches, fors_net_lid_end(net));
	if (!lfts)
		return NULL;
	nswitches = 0;
	for (uint32_t i = 0; i < net->nnodes; i++)
		if (net->node[net->by_guid[i]].type == FORS_SWITCH)
			lfts->guid[nswitches++] = net->node[net->by_guid[i]].guid;
	return lfts;
}

static uint8_t *row_of(const struct fors_lfts *lfts, uint64_t guid)
{
	uint32_t row = fors_lfts_row(lfts, guid);

	return row == FORS_NONE ? NULL : lfts->port + (size_t)row * lfts->nlids;
}

static bool has_end_nodes(const struct fors_net *net, uint32_t node)
{
	for (unsigned p = 1; node != FORS_NONE && p <= net->node[node].nports; p++) {
		uint32_t peer = fors_net_port(net, node, p)->peer;

		if (peer != FORS_NONE && net->node[peer].type != FORS_SWITCH)
			return true;
	}
	return false;
}

static void fill(const struct filler *w)
{
	const struct fors_fabric *f = w->f;

	for (uint32_t a = 0; a < f->nleaves; a++)
		w->leaf_row[a] = row_of(w->lfts, f->leaf[a].guid);
	for (uint32_t k = 0; k < f->nspines; k++) {
		w->spine_row[k] = row_of(w->lfts, f->spine[k].guid);
		w->has_cas[k] = has_end_nodes(f->net, f->spine[k].node);
	}
	find_turns(w);
	for (uint32_t a = 0; a < f->nleaves; a++)
		if (w->leaf_row[a])
			fill_leaf(w, a);
	for (uint32_t k = 0; f->nlanes && k < f->nspines; k++)
		if (w->spine_row[k])
			fill_spine(w, k);
	fill_odds(w);
}

enum fors_err fors_tables_build(const struct fors_fabric *fabric, struct fors_lfts **lfts, struct fors_error *error)
{
	struct filler w = {.f = fabric, .lfts = make_rows(fabric->net)};
	struct fors_level *level = NULL;
	enum fors_err err = FORS_OK;

	w.leaf_row = calloc((size_t)fabric->nleaves + 1, sizeof(*w.leaf_row));
	w.spine_row = calloc((size_t)fabric->nspines + 1, sizeof(*w.spine_row));
	w.has_cas = calloc((size_t)fabric->nspines + 1, sizeof(*w.has_cas));
	w.turn = calloc((size_t)fabric->nspines * fabric->nspines + 1, sizeof(*w.turn));
	if (!w.lfts || !w.leaf_row || !w.spine_row || !w.has_cas || !w.turn)
		err = fors_fail_memory(error);
	else
		err = fors_level_build(fabric, &level, error);
	w.level = level;
	if (!err)
		fill(&w);
	fors_level_free(level);
	free(w.leaf_row);
	free(w.spine_row);
	free(w.has_cas);
	free(w.turn);
	if (err)
		fors_lfts_free(w.lfts);
	else
		*lfts = w.lfts;
	return err;
}
