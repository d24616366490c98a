/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * entries_tables.c - the entries of jobs in the tables of a fabric.
 *
 * Each way that they make goes up one living cable and down another, so it adds no wait to those that any table of a
 * two-level tree has. What is to be seen to are spines that have lost a server's leaf: fors gives them a detour, down
 * to a leaf that sends the LID up its home lane (core/tables/tables.c), and a leaf of the job does not any more. So
 * they get none, but keep the dead port, as where entries vary anyway; detours stay only where packets begin (CAs, a
 * subnet manager on the spine) and where a leaf needs them. Those, and the ones of spines that never had a cable to the
 * leaf, are found anew for where the leaf sends the LID now (fors_tables_mend()), and core/tables/check.h judges all of it.
 */
#include <stdlib.h>
#include <string.h>

#include "entries.h"

struct writer {
	const struct fors_fabric *fabric;
	const struct fors_entries *entries;
	struct fors_lfts *lfts;
	uint32_t index;
};

static void write_leaf(const struct writer *w, uint32_t leaf)
{
	uint8_t *row = fors_lfts_row_at(w->lfts, w->fabric->leaf[leaf].guid);

	for (uint32_t d = 0; row && d < w->entries->nservers; d++) {
		uint8_t lane = w->entries->up[(size_t)leaf * w->entries->nservers + d];
		uint32_t lid = lane == FORS_NO_LANE ? 0 : fors_server_lid(w->fabric, d, w->index, w->lfts->nlids);

		if (lid)
			row[lid] = fors_cable(w->fabric, leaf, lane)->leaf_port;
	}
}

/* Do packets begin at the spine? */
static bool is_asked(const struct fors_fabric *fabric, uint32_t spine)
{
	const struct fors_net *net = fabric->net;
	uint32_t node = fabric->spine[spine].node;

	for (unsigned p = 1; p <= net->node[node].nports; p++)
		if (fors_sends(net, fors_net_port(net, node, p)->peer))
			return true;
	return fors_net_port(net, node, 0)->is_sm;
}

/* The port of the spine that led to the leaf; FORS_NO_PATH where one still does, or none ever did. */
static uint8_t dead_port(const struct fors_fabric *fabric, uint32_t spine, uint32_t leaf)
{
	uint8_t port = FORS_NO_PATH;

	for (uint32_t k = 0; k < fabric->nlanes; k++) {
		if (fabric->lane[k].spine != spine || !fors_cable(fabric, leaf, k)->spine_port)
			continue;
		if (fors_passable(fabric, leaf, k))
			return FORS_NO_PATH;
		if (port == FORS_NO_PATH)
			port = fors_cable(fabric, leaf, k)->spine_port;
	}
	return port;
}

/* Does a leaf send the LID up to the spine? Then its detour is needed. */
static bool is_on_way(const struct writer *w, uint32_t spine, uint32_t lid)
{
	const struct fors_fabric *f = w->fabric;

	for (uint32_t k = 0; k < f->nlanes; k++)
		for (uint32_t a = 0; f->lane[k].spine == spine && a < f->nleaves; a++) {
			const uint8_t *row = fors_passable(f, a, k) ? fors_lfts_row_at(w->lfts, f->leaf[a].guid) : NULL;

			if (row && row[lid] == fors_cable(f, a, k)->leaf_port)
				return true;
		}
	return false;
}

static bool has_lane(const uint8_t *lane, uint32_t nrows, uint32_t nservers, uint32_t server)
{
	for (uint32_t row = 0; row < nrows; row++)
		if (lane[(size_t)row * nservers + server] != FORS_NO_LANE)
			return true;
	return false;
}

static bool is_led(const struct fors_entries *entries, uint32_t server)
{
	return has_lane(entries->down, entries->nspines, entries->nservers, server);
}

bool fors_entries_lead(const struct fors_entries *entries, uint32_t server)
{
	return is_led(entries, server) || has_lane(entries->up, entries->nleaves, entries->nservers, server);
}

static void write_spines(const struct writer *w, uint32_t d)
{
	const struct fors_fabric *f = w->fabric;
	uint32_t lid = is_led(w->entries, d) ? fors_server_lid(w->fabric, d, w->index, w->lfts->nlids) : 0,
		 leaf = f->server[d].leaf;

	for (uint32_t k = 0; lid && k < f->nspines; k++) {
		uint8_t *row = fors_lfts_row_at(w->lfts, f->spine[k].guid),
			lane = w->entries->down[(size_t)k * f->nservers + d];
		uint8_t port = row && lane == FORS_NO_LANE ? dead_port(f, k, leaf) : FORS_NO_PATH;

		if (row && lane != FORS_NO_LANE)
			row[lid] = fors_cable(f, leaf, lane)->spine_port;
		else if (port != FORS_NO_PATH && !fors_slot(f, leaf, f->server[d].slot)->is_sm && !is_asked(f, k) &&
			 !is_on_way(w, k, lid))
			row[lid] = port;
	}
}

void fors_entries_apply(const struct fors_fabric *fabric, const struct fors_entries *entries, uint32_t index,
			struct fors_lfts *lfts)
{
	const struct writer w = {fabric, entries, lfts, index};

	for (uint32_t leaf = 0; leaf < entries->nleaves; leaf++)
		write_leaf(&w, leaf);
	for (uint32_t d = 0; d < entries->nservers; d++)
		write_spines(&w, d);
}

/* ---- again ---- */

bool fors_entries_same_lanes(const struct fors_fabric *then, const struct fors_fabric *now)
{
	if (then->nleaves != now->nleaves || then->nspines != now->nspines || then->nlanes != now->nlanes)
		return false;
	for (uint32_t a = 0; a < now->nleaves; a++)
		if (then->leaf[a].guid != now->leaf[a].guid)
			return false;
	for (uint32_t k = 0; k < now->nspines; k++)
		if (then->spine[k].guid != now->spine[k].guid)
			return false;
	return !memcmp(then->lane, now->lane, now->nlanes * sizeof(*now->lane));
}

/*
 * Which server of the leaf, or pod, it was, FORS_NONE: none there; looked for from `from` on. Slots of three levels are
 * numbered anew when a server is seen for the first time, so they tell nothing.
 */
static uint32_t server_then(const struct fors_fabric *then, const struct fors_server *server, uint32_t from)
{
	const struct fors_leaf *leaf = &then->leaf[server->leaf];

	for (uint32_t i = 0; i < leaf->nservers; i++) {
		uint32_t was = leaf->first_server + (from + i) % leaf->nservers;

		if (then->server[was].guid == server->guid)
			return was;
	}
	return FORS_NONE;
}

/* Row by row, the column of each server that there was, at its new number. */
static void carry_over(const struct fors_fabric *then, const uint8_t *from, const struct fors_fabric *now, uint8_t *to,
		       uint32_t nrows)
{
	memset(to, FORS_NO_LANE, (size_t)nrows * now->nservers);
	for (uint32_t d = 0; d < now->nservers; d++) {
		uint32_t was = server_then(then, &now->server[d], now->server[d].rank);

		for (uint32_t row = 0; was != FORS_NONE && row < nrows; row++)
			to[(size_t)row * now->nservers + d] = from[(size_t)row * then->nservers + was];
	}
}

enum fors_err fors_entries_again(const struct fors_fabric *then, const struct fors_entries *entries,
				 const struct fors_fabric *now, struct fors_entries *again, struct fors_error *error)
{
	struct fors_entries made = {.nleaves = now->nleaves, .nspines = now->nspines, .nservers = now->nservers};

	*again = (struct fors_entries){0};
	if (!entries->up || !fors_entries_same_lanes(then, now))
		return FORS_OK;
	made.up = malloc((size_t)now->nleaves * now->nservers + 1);
	made.down = malloc((size_t)now->nspines * now->nservers + 1);
	if (!made.up || !made.down) {
		fors_entries_clear(&made);
		return fors_fail_memory(error);
	}
	carry_over(then, entries->up, now, made.up, now->nleaves);
	carry_over(then, entries->down, now, made.down, now->nspines);
	*again = made;
	return FORS_OK;
}
