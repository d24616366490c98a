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
 *   spine, leaf it reaches:  down, over the home lane, its cable number or what stands in (level.c)
 *   spine, leaf it lost:     LIDs at home here keep the dead port (no loop in mixed
 *                            states, right again when the cable returns); others go
 *                            down to a leaf that sends them up their home lane, or
 *                            keep the dead port where that lane is dead too, or the entries vary, or may
 *                            leave their homes (level_search.c), or no leaf may turn them (turns.c)
 *   the same, where packets  begin at the spine (CAs, a subnet manager), or lead to a subnet manager, or come from a
 *                            leaf that has no spine in common with the LID's: a detour
 *                            over a leaf where the spine may turn, else none (detours.c)
 *   spine, drained cable:    down over it: what is on its way arrives, and the spine itself is heard
 *   leaf, no common spine:   up to a spine that has a detour
 *   extra LIDs:              switches, CAs on spines, all on stubs: extra.c
 *
 * Every path between leaves that have a spine in common goes up, then down. The others, and those that start at a
 * spine, may go down and up again, but only at leaves where turns.c allows it, so that no packets
 * can wait for each other in a circle. check.h looks whether all of this is true of what was filled in.
 *
 * While OpenSM sends changed blocks, switches hold a mixture of old tables and new ones. In any mixture, after cables
 * or switches died (or after they returned):
 *
 *   - Home-healthy entries are the same before and after, at the leaf and at the spine: such flows keep their path. (Not so
 *     with one LID and parallel cables where a link would be too full: level_search.c. No spine sends anything to a leaf that
 *     is not its own there, so nothing goes round; a flow may change its path while packets of it are on their way.)
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
 * home was here (subnet managers; all LIDs on spines with CAs; switch LIDs; LIDs of a leaf that has no spine in common
 * with another one). All leaves that it could ask sent these LIDs up to it before, so every way out is a loop until the
 * leaf it asks has its new block too. (2) Parallel cables: an entry that moves to a spine where the cable down for it has
 * died finds its dead port until the spine has the new block with the cable that stands in. (3) One sweep that sees
 * failures and recoveries together: a spine's old detour and the new entry of the leaf at its end may point at each
 * other.
 * tests/unit/test_consistency.c tries mixtures of all kinds but those of (3), which is an argument.
 */
#include "tables.h"

#include <stdlib.h>
#include <string.h>

#include "core/net/lfts.h"
#include "filler.h"
#include "home.h"
#include "level.h"

/* --- servers -------------------------------------------------------------- */

static uint32_t nindices(const struct fors_slot *slot)
{
	return slot->lid ? fors_home_nindices(slot->lmc) : 0;
}

static void fill_own_servers(const struct fors_filler *w, uint32_t a)
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

static void fill_slot(const struct fors_filler *w, uint8_t *row, uint32_t b, uint32_t s, const struct circle *circle)
{
	const struct fors_slot *slot = fors_slot(w->f, b, s);

	memcpy(row + slot->lid, circle->byte + fors_home_lane(w->f, b, s, 0), nindices(slot));
}

/* Entries of leaf a for the servers of leaf b; port[lane] is a's port of each lane. */
static void fill_up(const struct fors_filler *w, uint32_t a, uint32_t b, const uint8_t *port)
{
	uint32_t nlanes = w->f->nlanes, copy = FORS_NONE;
	struct circle way;

	for (uint32_t s = 0; nlanes && s < w->f->nslots; s++) {
		const struct fors_slot *slot = fors_slot(w->f, b, s);

		if (!slot->lmc) {
			if (slot->lid)
				w->leaf_row[a][slot->lid] = port[fors_level_base_up(w->level, a, b, s)];
			continue;
		}
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
static uint8_t last_resort(const struct fors_filler *w, uint32_t a, uint32_t b)
{
	for (uint32_t k = 0; k < w->f->nlanes; k++)
		if (fors_passable(w->f, a, k) && fors_gets_to(w, b, w->f->lane[k].spine, FORS_ALSO_DRAINED))
			return (uint8_t)k;
	return FORS_NO_LANE;
}

static void fill_leaf(const struct fors_filler *w, uint32_t a)
{
	uint8_t port[256];

	memset(port, FORS_NO_PATH, sizeof(port));
	for (uint32_t k = 0; k < w->f->nlanes; k++)
		port[k] = fors_up_port(w, a, k);
	for (uint32_t b = 0; b < w->f->nleaves; b++)
		if (a == b) {
			fill_own_servers(w, a);
		} else {
			port[FORS_NO_LANE] = fors_up_port(w, a, last_resort(w, a, b));
			fill_up(w, a, b, port);
		}
}

/* Entries of a spine for the servers of a leaf that it reaches; port[cable] is the way down for each home lane. */
static void fill_down(const struct fors_filler *w, uint32_t spine, uint32_t b)
{
	struct circle port;

	for (uint32_t home = 0; home < w->f->nlanes; home++)
		port.byte[home] = fors_down_port(w, b, fors_level_down(w->level, w->f, spine, b, home));
	unroll(&port, w->f->nlanes);
	for (uint32_t s = 0; s < w->f->nslots; s++)
		fill_slot(w, w->spine_row[spine], b, s, &port);
}

/*
 * The dead ports of a spine that led to leaf b, by the number of the home lane's cable: the one that had this number,
 * else another one; FORS_NO_PATH where there never was any.
 */
static void find_dead_ports(const struct fors_fabric *f, uint32_t spine, uint32_t b, uint8_t port[FORS_MAX_LANES])
{
	uint8_t other = FORS_NO_PATH;

	for (uint32_t k = 0; k < f->nlanes; k++)
		if (f->lane[k].spine == spine && fors_cable(f, b, k)->spine_port)
			other = fors_cable(f, b, k)->spine_port;
	memset(port, other, FORS_MAX_LANES);
	for (uint32_t k = 0; other != FORS_NO_PATH && k < f->nlanes; k++)
		if (f->lane[k].spine == spine && fors_cable(f, b, k)->spine_port)
			port[f->lane[k].cable] = fors_cable(f, b, k)->spine_port;
}

/* A spine's entry for LIDs of a leaf that it lost, by their home lane; see the head of this file. */
static uint8_t lost_port(const struct fors_filler *w, uint32_t spine, uint32_t b, uint32_t home, const uint8_t *dead)
{
	const struct fors_fabric *f = w->f;
	uint32_t turn;

	if (f->lane[home].spine == spine || !fors_live(f, b, home) || w->level->is_free)
		return dead[f->lane[home].cable];
	turn = fors_turns_leaf(w->turns, spine, f->lane[home].spine);
	if (turn == FORS_NONE || turn == b || !fors_live(f, turn, home) ||
	    !fors_gets_to(w, turn, spine, FORS_ALSO_DRAINED))
		return dead[f->lane[home].cable];
	return fors_port_to(w, spine, turn);
}

static void fill_lost(const struct fors_filler *w, uint32_t spine, uint32_t b)
{
	uint8_t dead[FORS_MAX_LANES];
	struct circle port;

	find_dead_ports(w->f, spine, b, dead);
	for (uint32_t home = 0; home < w->f->nlanes; home++)
		port.byte[home] = lost_port(w, spine, b, home, dead);
	unroll(&port, w->f->nlanes);
	for (uint32_t s = 0; s < w->f->nslots; s++) {
		const struct fors_slot *slot = fors_slot(w->f, b, s);

		fill_slot(w, w->spine_row[spine], b, s, &port);
		if (slot->is_varied && slot->lid && !slot->lmc)
			w->spine_row[spine][slot->lid] = dead[w->f->lane[slot->home].cable];
	}
}

/* Entries of a spine whose cables to a leaf are drained: down, over the home lane's own cable if it is here. */
static void fill_drained(const struct fors_filler *w, uint32_t spine, uint32_t b)
{
	const struct fors_fabric *f = w->f;
	struct circle port;

	for (uint32_t home = 0; home < f->nlanes; home++) {
		bool is_own = f->lane[home].spine == spine && fors_passable(f, b, home);

		port.byte[home] = fors_down_port(w, b, is_own ? home : fors_turns_lane(w->turns, b, spine));
	}
	unroll(&port, f->nlanes);
	for (uint32_t s = 0; s < f->nslots; s++)
		fill_slot(w, w->spine_row[spine], b, s, &port);
}

static void fill_spine(const struct fors_filler *w, uint32_t spine)
{
	for (uint32_t b = 0; b < w->f->nleaves; b++)
		if (fors_gets_to(w, b, spine, FORS_LIVE_ONLY))
			fill_down(w, spine, b);
		else if (fors_gets_to(w, b, spine, FORS_ALSO_DRAINED))
			fill_drained(w, spine, b);
		else
			fill_lost(w, spine, b);
}

/* --- detours to servers --------------------------------------------------- */

/* What is special about a leaf that not all spines reach. */
struct torn {
	bool is_lost;  /* a living spine has no cable to it */
	bool is_asked; /* and packets begin at one of these */
	bool is_apart; /* a leaf of its island has no spine in common with it, so packets may come to any of these */
};

static struct torn look_at_leaf(const struct fors_filler *w, uint32_t b)
{
	struct torn torn = {false, false, false};

	for (uint32_t k = 0; k < w->f->nspines; k++)
		if (w->spine_row[k] && !fors_gets_to(w, b, k, FORS_ALSO_DRAINED)) {
			torn.is_lost = true;
			torn.is_asked |= w->is_asked[k];
		}
	for (uint32_t a = 0; torn.is_lost && a < w->f->nleaves; a++)
		torn.is_apart |= a != b && w->leaf_row[a] && w->turns->island[a] == w->turns->island[b] &&
				 w->turns->island[b] != FORS_NONE && last_resort(w, a, b) == FORS_NO_LANE;
	return torn;
}

/* The ways to one LID: those of its home, and detours for the others. */
static void find_detours(const struct fors_filler *w, uint32_t b, uint32_t slot, uint32_t index)
{
	struct fors_target target = {b, FORS_NONE};

	fors_detours_begin(w, target);
	for (uint32_t a = 0; a < w->f->nleaves; a++) {
		if (a == b || !w->leaf_row[a])
			continue;
		w->detours.up[a] = fors_level_up(w->level, a, b, slot, index);
		if (w->detours.up[a] == FORS_NO_LANE)
			w->detours.up[a] = last_resort(w, a, b);
	}
	fors_detours_complete(w, target);
}

/* Spines that lost the leaf: those that are asked have a detour or no path; others without one keep what they had. */
static void fill_detours(const struct fors_filler *w, uint32_t b, uint32_t lid, const struct torn *torn, bool is_sm)
{
	for (uint32_t a = 0; torn->is_apart && a < w->f->nleaves; a++)
		if (a != b && w->leaf_row[a])
			w->leaf_row[a][lid] = fors_up_port(w, a, w->detours.up[a]);
	for (uint32_t k = 0; k < w->f->nspines; k++) {
		uint8_t port;

		if (!w->spine_row[k] || fors_gets_to(w, b, k, FORS_ALSO_DRAINED))
			continue;
		port = fors_port_to(w, k, w->detours.down[k]);
		if (is_sm || w->is_asked[k] || (torn->is_apart && port != FORS_NO_PATH))
			w->spine_row[k][lid] = port;
	}
}

static void fill_torn(const struct fors_filler *w, uint32_t b)
{
	struct torn torn = look_at_leaf(w, b);

	for (uint32_t s = 0; torn.is_lost && s < w->f->nslots; s++) {
		const struct fors_slot *slot = fors_slot(w->f, b, s);

		if (!torn.is_asked && !torn.is_apart && !slot->is_sm)
			continue;
		for (uint32_t i = 0; i < nindices(slot); i++) {
			find_detours(w, b, s, i);
			fill_detours(w, b, slot->lid + i, &torn, slot->is_sm);
		}
	}
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

/* Do packets for hosts begin at the switch, or runs a subnet manager there? */
static bool is_asked(const struct fors_net *net, uint32_t node)
{
	for (unsigned p = 1; node != FORS_NONE && p <= net->node[node].nports; p++)
		if (fors_sends(net, fors_net_port(net, node, p)->peer))
			return true;
	return node != FORS_NONE && fors_net_port(net, node, 0)->is_sm;
}

static void find_rows(const struct fors_filler *w)
{
	const struct fors_fabric *f = w->f;

	for (uint32_t a = 0; a < f->nleaves; a++)
		w->leaf_row[a] = fors_lfts_row_at(w->lfts, f->leaf[a].guid);
	for (uint32_t k = 0; k < f->nspines; k++) {
		w->spine_row[k] = fors_lfts_row_at(w->lfts, f->spine[k].guid);
		w->is_asked[k] = is_asked(f->net, f->spine[k].node);
	}
}

static void fill(const struct fors_filler *w)
{
	const struct fors_fabric *f = w->f;

	find_rows(w);
	for (uint32_t a = 0; a < f->nleaves; a++)
		if (w->leaf_row[a])
			fill_leaf(w, a);
	for (uint32_t k = 0; f->nlanes && k < f->nspines; k++)
		if (w->spine_row[k])
			fill_spine(w, k);
	for (uint32_t b = 0; b < f->nleaves; b++)
		fill_torn(w, b);
	fors_fill_extra(w);
}

static bool allocate(struct fors_filler *w)
{
	w->leaf_row = calloc((size_t)w->f->nleaves + 1, sizeof(*w->leaf_row));
	w->spine_row = calloc((size_t)w->f->nspines + 1, sizeof(*w->spine_row));
	w->is_asked = calloc((size_t)w->f->nspines + 1, sizeof(*w->is_asked));
	w->detours.up = calloc((size_t)w->f->nleaves + 1, sizeof(*w->detours.up));
	w->detours.down = calloc((size_t)w->f->nspines + 1, sizeof(*w->detours.down));
	return w->lfts && w->leaf_row && w->spine_row && w->is_asked && w->detours.up && w->detours.down;
}

static void release(struct fors_filler *w)
{
	free(w->leaf_row);
	free(w->spine_row);
	free(w->is_asked);
	free(w->detours.up);
	free(w->detours.down);
}

enum fors_err fors_tables_build(const struct fors_fabric *fabric, struct fors_lfts **lfts, struct fors_error *error)
{
	struct fors_filler w = {.f = fabric, .lfts = make_rows(fabric->net)};
	struct fors_level *level = NULL;
	struct fors_turns *turns = NULL;
	enum fors_err err = allocate(&w) ? FORS_OK : fors_fail_memory(error);

	if (!err)
		err = fors_turns_build(fabric, &turns, error);
	if (!err)
		err = fors_level_build(fabric, &level, error);
	w.level = level;
	w.turns = turns;
	if (!err)
		fill(&w);
	fors_level_free(level);
	fors_turns_free(turns);
	release(&w);
	if (err)
		fors_lfts_free(w.lfts);
	else
		*lfts = w.lfts;
	return err;
}

/* --- entries of leaves that somebody else has moved ----------------------- */

/* The ways to a LID of leaf b that the tables have and that go straight down from the spine; then detours for the others. */
static void find_ways_anew(const struct fors_filler *w, uint32_t b, uint32_t lid)
{
	struct fors_target target = {b, FORS_NONE};

	fors_detours_begin(w, target);
	for (uint32_t a = 0; a < w->f->nleaves; a++) {
		uint32_t lane =
			a != b && w->leaf_row[a] ? fors_lane_at(w->f, a, FORS_NONE, w->leaf_row[a][lid]) : FORS_NONE;

		if (lane != FORS_NONE && fors_passable(w->f, a, lane) &&
		    fors_gets_to(w, b, w->f->lane[lane].spine, FORS_ALSO_DRAINED))
			w->detours.up[a] = (uint8_t)lane;
	}
	fors_detours_complete(w, target);
}

/* Is there another switch behind the port of the spine? */
static bool leads_on(const struct fors_filler *w, uint32_t spine, uint8_t port)
{
	const struct fors_net *net = w->f->net;
	uint32_t node = w->f->spine[spine].node;

	return node != FORS_NONE && port && port <= net->node[node].nports &&
	       fors_peer_switch(net, node, port) != FORS_NONE;
}

static bool is_gone_up_to(const struct fors_filler *w, uint32_t spine)
{
	for (uint32_t a = 0; a < w->f->nleaves; a++)
		if (w->detours.up[a] != FORS_NO_LANE && w->f->lane[w->detours.up[a]].spine == spine)
			return true;
	return false;
}

/*
 * Spines without a cable to leaf b: a detour where a packet may come, and no living way where none does. What they had
 * may end at a leaf that sends the LID elsewhere now, where no turn is allowed.
 */
static void mend_lid(const struct fors_filler *w, uint32_t b, uint32_t lid, bool is_sm)
{
	find_ways_anew(w, b, lid);
	for (uint32_t a = 0; a < w->f->nleaves; a++)
		if (a != b && w->leaf_row[a])
			w->leaf_row[a][lid] = fors_up_port(w, a, w->detours.up[a]);
	for (uint32_t k = 0; k < w->f->nspines; k++) {
		uint8_t *row = w->spine_row[k];

		if (!row || fors_gets_to(w, b, k, FORS_ALSO_DRAINED))
			continue;
		if (is_sm || w->is_asked[k] || is_gone_up_to(w, k))
			row[lid] = fors_port_to(w, k, w->detours.down[k]);
		else if (leads_on(w, k, row[lid]))
			row[lid] = FORS_NO_PATH;
	}
}

/* Has a spine without a cable to leaf b a way for the LID that goes on? */
static bool has_detour(const struct fors_filler *w, uint32_t b, uint32_t lid)
{
	for (uint32_t k = 0; k < w->f->nspines; k++)
		if (w->spine_row[k] && !fors_gets_to(w, b, k, FORS_ALSO_DRAINED) &&
		    leads_on(w, k, w->spine_row[k][lid]))
			return true;
	return false;
}

static void mend_leaf(const struct fors_filler *w, uint32_t b, const bool *is_moved, uint32_t index)
{
	const struct fors_leaf *leaf = &w->f->leaf[b];
	struct torn torn = look_at_leaf(w, b);

	for (uint32_t d = leaf->first_server; torn.is_lost && d < leaf->first_server + leaf->nservers; d++) {
		const struct fors_slot *slot = fors_slot(w->f, b, w->f->server[d].slot);
		uint32_t lid = slot->lid + index;

		if (is_moved[d] && index < nindices(slot) && lid < w->lfts->nlids &&
		    (torn.is_asked || torn.is_apart || slot->is_sm || has_detour(w, b, lid)))
			mend_lid(w, b, lid, slot->is_sm);
	}
}

enum fors_err fors_tables_mend(const struct fors_fabric *fabric, const bool *is_moved, uint32_t index,
			       struct fors_lfts *lfts, struct fors_error *error)
{
	struct fors_filler w = {.f = fabric, .lfts = lfts};
	struct fors_turns *turns = NULL;
	enum fors_err err = allocate(&w) ? FORS_OK : fors_fail_memory(error);

	if (!err)
		err = fors_turns_build(fabric, &turns, error);
	w.turns = turns;
	if (!err)
		find_rows(&w);
	for (uint32_t b = 0; !err && b < fabric->nleaves; b++)
		mend_leaf(&w, b, is_moved, index);
	fors_turns_free(turns);
	release(&w);
	return err;
}
